/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw outputs and mailed tables -> a campaign of kind `import`. The text is stored first, as raw
 * output of stream "source".
 */
#ifndef RUNNER_IMPORT_H
#define RUNNER_IMPORT_H

#include "db/db.h"
#include "parsers/tables/tables.h"
#include "runner/catalog.h"

struct import_options {
	const char *as; /* --as BENCHMARK: raw output of this benchmark; NULL: recognise */
	const char *variant; /* name of the variant of raw outputs; NULL: from the file name */
	struct table_options tables;
	const char *campaign; /* name of the campaign; NULL: from the file name */
};

struct import_group {
	const char *variant; /* name */
	const char *const *files; /* paths, "-" for stdin */
	size_t n_files;
};

struct import_report {
	const char *campaign;
	int tables, rows, cells, runs, refused;
	ARRAY_OF(struct table_warning) warnings;
	const struct table_set *set; /* of a table import, NULL otherwise */
};

/* One text: tables or raw output, by its content. */
int import_text(struct db *db, struct arena *a, const struct catalog *cat, const char *file,
		struct span text, const struct import_options *opt, struct import_report *report,
		struct err *e);

/* Raw outputs of several variants into one campaign (`compare old/A.log -- new/B.log`). */
int import_groups(struct db *db, struct arena *a, const struct catalog *cat,
		  const struct import_group *groups, size_t n_groups,
		  const struct import_options *opt, struct import_report *report, struct err *e);

#endif
