/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A campaign as a text that every database writes alike: one row a line, a JSON array that begins
 * with the kind of row. Rows of other tables are named by what is the same everywhere (identity,
 * fingerprint, name); boots, runs and cells by their place in the campaign, from 0:
 *
 *	["metric","tbench.throughput","MB/s","higher","hmean","headline","...","","",0]
 *	["campaign","nightly-20261130-1","nightly","run",1796070697,...]
 *	["sample",0,"tbench.throughput",416.8]
 *
 * Verdicts are not in it: a comparison computes them. Raw outputs are named by their SHA-256.
 */
#ifndef DB_BUNDLE_H
#define DB_BUNDLE_H

#include "db/db.h"

/*
 * Appends the campaign's text. uid: hash of what a campaign had when it began (id, time, seed,
 * source, machine), the same in every database. e also for -ENOENT.
 */
int db_dump_campaign(struct db *db, const char *campaign, struct strbuf *text, char uid[65],
		     struct err *e);

enum db_merged {
	DB_MERGED_NEW,	    /* it was not there */
	DB_MERGED_SAME,	    /* all of it was */
	DB_MERGED_GROWN,    /* what was there is a part of it, which took its place */
	DB_MERGED_OLDER,    /* it is a part of what is there */
	DB_MERGED_CONFLICT, /* runs differ: nothing was changed */
};

/* The content of a raw output by its hash; 1: it was pruned where it comes from; else an error. */
typedef int (*db_raw_source)(void *data, const char *sha256, struct strbuf *out, struct err *e);

/*
 * Adds a campaign from its text, in a transaction. *id (arena): its id here: where another campaign
 * has that already "ID@MACHINE". What two databases say of a kernel, variant, test case or machine
 * is joined to the same words, in whichever order they come. file: for messages, with the line.
 * -EINVAL: no such text, or a metric that has another unit or direction here.
 */
int db_load_campaign(struct db *db, struct arena *a, const char *file, struct span text,
		     db_raw_source raw, void *data, enum db_merged *merged, const char **id,
		     struct err *e);

/* A raw output of no run whose text is gone, for db_raw_of_database. */
int db_add_pruned_raw(struct db *db, const char *sha256, struct err *e);

/* A db_raw_source whose data is a struct db. */
int db_raw_of_database(void *data, const char *sha256, struct strbuf *out, struct err *e);

#endif
