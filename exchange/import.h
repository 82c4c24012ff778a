/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw outputs, mailed tables and reports of kdelta itself -> a campaign of kind `import`. The text
 * is stored first, as raw output of stream "source".
 */
#ifndef EXCHANGE_IMPORT_H
#define EXCHANGE_IMPORT_H

#include <stdbool.h>

#include "campaign/catalog.h"
#include "db/db.h"
#include "parsers/tables/tables.h"

struct import_options {
	const char *as;	     /* --as BENCHMARK: raw output of this benchmark; NULL: recognise */
	const char *variant; /* name of the variant of raw outputs; NULL: from the file name */
	struct table_options tables;
	const char *campaign; /* name of the campaign; NULL: from the file name */
	bool again;	      /* also when the same text was imported before */
};

struct import_group {
	const char *variant;	  /* name */
	const char *const *files; /* paths, "-" for stdin */
	size_t n_files;
};

struct import_report {
	/* The first campaign made, or the one that holds the same text already (then known is set).
	 */
	const char *campaign;
	bool known;
	int campaigns; /* tables with different variants are campaigns of their own */
	int tables, rows, cells, runs;
	int variants, cases;	     /* of a report of our own */
	int refused;		     /* rows that cannot be trusted, runs that gave no result */
	const struct table_set *set; /* of a table import, NULL otherwise */
	const char *benchmark;	     /* of raw outputs, NULL otherwise */
	const char *tree;	     /* kind of a result tree, NULL otherwise */
	bool exported;		     /* it was a report of our own */
	/*
	 * Of raw outputs: what was wrong with a run, "FILE: outcome: message" (in the arena); of
	 * trees also what was not read.
	 */
	const char **notes;
	size_t n_notes;
};

/*
 * What a text is: its tables (set), the raw output of a benchmark (raw), or a report of kdelta that
 * holds its numbers (exported, a document of exchange/export.h).
 */
struct import_content {
	struct table_set set;
	const struct bench_def *def; /* of a raw output; NULL: tables */
	struct parse_result *raw;
	struct json_t *exported;
};
void import_content_release(struct import_content *content);
#define _cleanup_content_ _cleanup_(import_content_release)

/*
 * Reads a text without storing it; the caller releases the content. Raw output where opt->as says
 * so or no table is found and a parser recognises it. -ENOENT: neither; -EINVAL: tables that cannot
 * be understood.
 */
int import_read(struct arena *a, const struct catalog *cat, const char *file, struct span text,
		const struct import_options *opt, struct import_content *content, struct err *e);

/*
 * One text into the database: tables or raw output, by its content. The same text again (by its
 * SHA-256) changes nothing unless opt->again. All or nothing: one transaction.
 */
int import_text(struct db *db, struct arena *a, const struct catalog *cat, const char *file,
		struct span text, const struct import_options *opt, struct import_report *report,
		struct err *e);

/* Raw outputs of several variants into one campaign (`compare old/A.log -- new/B.log`). */
int import_groups(struct db *db, struct arena *a, const struct catalog *cat,
		  const struct import_group *groups, size_t n_groups,
		  const struct import_options *opt, struct import_report *report, struct err *e);

/*
 * Result trees of other tools (exchange/import_trees.h): "mmtests tree", "LKP result root", or NULL
 * where a folder is neither. By the names of what is in it.
 */
const char *import_tree_kind(struct arena *a, const char *dir);
/*
 * All of a tree into one campaign, each kernel a variant; -EINVAL: it is no tree. A broken file is
 * an error, and nothing is imported; files that nothing reads are a note. The same tree again, by
 * the hashes of what was read, changes nothing unless opt->again.
 */
int import_tree(struct db *db, struct arena *a, const struct catalog *cat, const char *dir,
		const struct import_options *opt, struct import_report *report, struct err *e);

#endif
