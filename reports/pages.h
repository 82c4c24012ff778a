/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of a database as a folder of pages that need no server and no script: an index with
 * what is worse or better since when, every headline metric as a spark, one row a campaign; a page
 * for each line of history. Where there is a script, tables can be filtered and sorted.
 */
#ifndef REPORTS_PAGES_H
#define REPORTS_PAGES_H

#include "db/db.h"

struct pages_options {
	const char *title;
	int64_t now; /* Unix seconds, for the foot of the index */
	/* Whether the folder has this file ("report/ID.html"), to be linked; may be NULL. */
	bool (*has)(void *data, const char *name);
	/* A page: its name in the folder, and its text. */
	int (*emit)(void *data, const char *name, const struct strbuf *text, struct err *e);
	void *data;
};

/* -ENOENT where nothing was measured. */
int pages_write(struct db *db, struct arena *a, const struct pages_options *opt, struct err *e);

#endif
