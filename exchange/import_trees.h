/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of import_tree: the files of a result tree, and its two kinds. A kind first reads and
 * understands everything, with an error where a file is broken, then writes what it found.
 */
#ifndef EXCHANGE_IMPORT_TREES_H
#define EXCHANGE_IMPORT_TREES_H

#include "exchange/import_write.h"

struct tree_entry {
	const char *path;	  /* to open it */
	const char *rel;	  /* below the root, with `parts` */
	const char *const *parts; /* components of rel, n of them */
	size_t n;
	bool folder;
};

struct tree {
	struct import *im;
	const char *root; /* as the user names it */
	const char *real; /* without links; NULL where it cannot be told */
	/* In version order of rel, so that iter-10 follows iter-9. No links, no hidden names. */
	ARRAY_OF(struct tree_entry) entries;
	ARRAY_OF(const char *) unread; /* rel of files that nothing reads */
	ARRAY_OF(const char *) notes; /* a handful, whatever the size of the tree */
	struct strbuf hashes; /* of all that was read */
	size_t links;	      /* that were not followed */
	size_t runs;	      /* found so far: room for their notes */
};

struct tree_kind {
	const char *name;
	bool (*is)(const struct tree *t);
	/* *data: what was found; written by write() inside the transaction. */
	int (*read)(struct tree *t, void **data);
	int (*write)(struct tree *t, void *data);
	void (*release)(void *data);
};
extern const struct tree_kind tree_mmtests, tree_lkp;

bool tree_is_named(const struct tree_entry *en, const char *plain);
/* Reads a file, unpacked where it is packed, and hashes it. */
int tree_read(struct tree *t, const struct tree_entry *en, struct strbuf *out);
void tree_unread(struct tree *t, const struct tree_entry *en);
/*
 * Puts variants into the campaign, ids[] in the order of w. The baseline: --base, else a name such
 * as vanilla, else the first with a note that says so. The baseline comes first.
 */
int tree_variants(struct tree *t, struct import_variant_words *w, size_t n, int64_t *ids);

#endif
