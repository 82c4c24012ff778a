/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel sources from packages and tarballs, fetched and unpacked once into the cache. */
#ifndef KERNELS_SOURCE_TREE_H
#define KERNELS_SOURCE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/step.h"

struct source_tree {
	const char *dir;      /* with the kernel's Makefile; never changed by anybody */
	const char *version;  /* "6.1.192-3"; of a tarball the first 16 digits of its hash */
	const char *identity; /* "deb linux-source-6.1 6.1.192-3", "sha256 0123..." */
};

struct source_tarball {
	const char *const *urls; /* files or addresses in the order they are tried, NULL at the end */
	const char *sha256;	 /* NULL: of a file, as it is */
	int64_t size;		 /* bytes, 0: not known */
	double stall;		 /* seconds without progress that end a try, 0: 30 */
};

/*
 * A package such as linux-source-6.1 (or NAME=VERSION), whose tarball is taken out; a package that
 * is there already is not looked for anew. The tree stays until the program ends.
 */
int source_tree_deb(struct step *s, const char *package, struct source_tree *t);

/*
 * -ENOENT: a file that is not there and has no mirror. -EBADMSG: a wrong checksum or size. What a
 * broken download left is kept, and the next call goes on with it.
 */
int source_tree_tarball(struct step *s, const struct source_tarball *tarball,
			struct source_tree *t);

/* The same without fetching: false where it is not in the cache yet. */
bool source_tree_is_there(struct arena *a, const char *package, const char *sha256,
			  struct source_tree *t);

#endif
