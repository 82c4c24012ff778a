/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bisection asks git, by its command line. The user's repository is only read. */
#ifndef HUNT_GIT_H
#define HUNT_GIT_H

#include <stdbool.h>

#include "core/err.h"
#include "core/str.h"

struct git {
	struct arena *a;
	const char *repo; /* folder */
	struct err *e;
};

/*
 * Runs `git -C REPO ARGV...` (NULL-terminated, without "git") and gives what it printed, trimmed.
 * -EIO: it failed; with quiet nothing is said then.
 */
int git_run(const struct git *g, const char *const *argv, bool quiet, const char **out);
/* -EINVAL with what to do: no repository, or a shallow one, in which ranges have holes. */
int git_check(const struct git *g);
/* The full hash of a commit; -ENOENT. */
int git_commit(const struct git *g, const char *ref, const char **hash);
/* The best common ancestor; -EINVAL: there is none. */
int git_merge_base(const struct git *g, const char *x, const char *y, const char **hash);
/* A line of somebody else's, a subject or a name: what a terminal would obey becomes '?'. */
char *git_text(struct arena *a, struct span text);
/* One such field of a commit, a format of git log such as "%s". */
int git_field(const struct git *g, const char *hash, const char *format, const char **value);
/*
 * The diff that takes a commit back out of the tree of another, as a file for `patches`; -EIO: it
 * does not apply there.
 */
int git_revert(const struct git *g, const char *hash, const char *tree, const char *file);

#endif
