/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of building a kernel share: source, patches, tree. */
#ifndef KERNELS_KERNEL_BUILD_H
#define KERNELS_KERNEL_BUILD_H

#include "kernels/kernel.h"
#include "kernels/source_tree.h"
#include "kernels/step.h"

/* One diff: a file, or one message of a mailbox. */
struct build_patch {
	const char *name; /* for people: "series.mbox, \"sched: do less\"" */
	const char *file; /* the diff alone */
	const char *sha256;
	bool reverse;
};

struct build_config;

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
	const struct build_config *config; /* of a kernel, once its key is known */
	ARRAY_OF(struct build_patch) patches;
};

/* What is made of a source: a kernel, a program. */
struct build_ops {
	/* Hash of all that goes into it; source and patches are known. */
	int (*set_key)(struct build *b, const char **key);
	/* Whether it lies whole in build_product(); fills k. */
	bool (*is_there)(struct build *b, const char *key, struct kernel_found *k);
	/* Makes it of b->tree. -EIO: it cannot be built. */
	int (*make)(struct build *b, const char *key);
};

struct build build_begin(const struct kernel_request *r, const struct kernel_recipe *recipe);
/* "kernels/built-KEY" in the cache. */
const char *build_product(const struct build *b, const char *key);
/*
 * Finds it in the cache, or fetches the source and makes it, with the recipe's fixup only where it
 * cannot be built without. k: identity, source, commit and unit are set also where it fails.
 */
int build_find(struct build *b, const struct build_ops *ops, struct kernel_found *k);
/* The folder for make to work in: its product and log; renamed to build_product() at its end. */
int build_open_product(struct build *b, const char *key, const char **work);
int build_keep_product(struct build *b, const char *key, const char *work, const char *stamp);
/* Makes what failed (ret) one message with the log's first error, and keeps the log. */
int build_explain(struct build *b, int ret, const struct err *why, struct err *e);
/* Lines "patch -R 0123..." of a key. */
void build_add_patches(const struct build *b, struct strbuf *sb);

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
