/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Campaigns between machines: a tar packed by zstd, the same bytes for the same campaigns.
 *
 *	kdelta.bundle		"kdelta.bundle/1"
 *	campaigns/UID.jsonl	see db/bundle.h
 *	raw/SHA256		raw outputs as they were printed, each once
 *	pruned/SHA256		empty: one whose text was given up (db_prune)
 */
#ifndef EXCHANGE_BUNDLE_H
#define EXCHANGE_BUNDLE_H

#include "db/bundle.h"

/* Appends the bundle of campaigns (ids, n of them) of a database to `file`. */
int bundle_pack(struct db *db, const char *const *ids, size_t n, struct strbuf *file,
		struct err *e);

/* What became of one campaign. */
struct bundle_result {
	const char *from;     /* file */
	const char *campaign; /* id here */
	enum db_merged merged;
};
typedef ARRAY_OF(struct bundle_result) bundle_results;

/*
 * Adds all campaigns of a bundle, or of another database, to db; one result each, also of those
 * before an error. Strings in the arena. Nothing is unpacked into files.
 */
int bundle_merge(struct db *db, struct arena *a, const char *path, bundle_results *results,
		 struct err *e);
/* The same of a bundle in memory; name: for messages. */
int bundle_merge_text(struct db *db, struct arena *a, const char *name, struct span file,
		      bundle_results *results, struct err *e);

#endif
