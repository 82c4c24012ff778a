/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of building a kernel share: source, patches, tree. */
#ifndef RUNNER_KERNEL_BUILD_H
#define RUNNER_KERNEL_BUILD_H

#include "runner/kernel.h"
#include "runner/source_tree.h"
#include "runner/step.h"

/* One diff: a file, or one message of a mailbox. */
struct build_patch {
	const char *name; /* for people: "series.mbox, \"sched: do less\"" */
	const char *file; /* the diff alone */
	const char *sha256;
	bool reverse;
};

struct build {
	const struct kernel_request *r;
	const struct kernel_recipe *recipe;
	struct step step;
	const char *unit;   /* of the cache, "build/NAME": one for each source */
	const char *dir;    /* its folder: tree/, out-HASH/, repo.git/, patches/, state */
	const char *tree;   /* the source as it is built */
	const char *commit; /* of git, else NULL */
	const char *pristine; /* tree of a package or tarball, else NULL */
	const char *source;   /* identity of the source: "git 1f2a...", "deb ...", "sha256 ..." */
	const char *label;    /* for people: "git v6.12-rc3 (1f2a3b4c5d6e) of /src/linux" */
	ARRAY_OF(struct build_patch) patches;
};

/*
 * Which source it is: commit or checksum, unit and folder. fetch: what is not here is brought (the
 * unit is locked then); else -EAGAIN tells that this takes a fetch.
 */
int kernel_source_resolve(struct build *b, bool fetch);
/* Makes b->tree the source with all patches; files that stay the same keep their time. */
int kernel_tree_prepare(struct build *b);

/*
 * Reads the patches of a recipe, splits mailboxes and fetches messages (fetch false: -EAGAIN for a
 * message that is not in the cache). -EINVAL: a file without a diff.
 */
int kernel_patches_read(struct build *b, bool fetch);

#endif
