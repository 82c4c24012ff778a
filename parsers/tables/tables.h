/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in mails -> cells. Pure: no I/O, no state. One file per family, registered with
 * REGISTER(table_family, name). The text is undone first (transfer encoding, quote marks, wraps,
 * squeezed blanks) by tables_read.
 */
#ifndef PARSERS_TABLES_H
#define PARSERS_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/registry.h"
#include "core/str.h"

enum deviation_kind { DEV_NONE, DEV_STDDEV, DEV_PERCENT, DEV_CV, DEV_STDERR_PERCENT, DEV_HIDDEN };
/* How a published percentage is signed: not there, new/old - 1, or better is always positive. */
enum change_sign { SIGN_NONE, SIGN_RAW, SIGN_BETTER_POSITIVE };

struct table_cell {
	bool has_value, has_change, has_deviation, has_n;
	double value; /* in the table's unit */
	const char *value_text; /* as printed, without thousands separators */
	double change; /* percent, as printed */
	double deviation;
	int n;
	bool mark; /* a star or the like */
	const double *samples; /* single runs where the text lists them, in its order */
	size_t n_samples;
	int line; /* of the user's text, 1-based */
};

struct table_row {
	const char *key; /* "Hmean 64", "run 1 real": as in the index */
	const char *statistic; /* "Hmean", "Amean", "Stddev", ... or NULL */
	const char *axis; /* "64", "elsp-8": the key without the statistic */
	const char *metric; /* our metric without the benchmark ("throughput", "real"), or NULL */
	int index; /* 0; 1, 2, ... for repeated keys */
	struct table_cell *cells; /* one per variant of the table */
	int line;
};

struct table {
	const char *family;
	const char *section; /* "numa 0&1", normalised; NULL if none */
	const char *benchmark; /* "tbench", "kernbench", ... or NULL when the text does not say */
	const char *axis_name; /* "clients", "groups", or NULL */
	const char *unit; /* NULL: not stated and not known */
	const char *command; /* stated command lines joined by "; ", or NULL */
	enum change_sign sign;
	enum deviation_kind deviation;
	const char **variants; /* names, in the order of columns */
	const char **descriptions; /* from a legend "name: text"; entries may be NULL */
	size_t n_variants;
	int baseline; /* index into variants, by the rule of the design */
	bool baseline_guessed; /* no rule matched: first column, warned about */
	ARRAY_OF(struct table_row) rows;
	int line; /* of its first row */
};

struct table_warning {
	int line;
	const char *text;
};

/* Facts around the tables: what a reader needs to know, taken from the text or absent. */
struct table_fact {
	const char *key; /* "machine", "command", "commit", "date", "posting" */
	const char *value;
};

struct table_set {
	ARRAY_OF(struct table) tables;
	ARRAY_OF(struct table_warning) warnings;
	ARRAY_OF(struct table_fact) facts;
};

/* One line of the undone text with where it came from. */
struct table_line {
	struct span text; /* NUL-terminated too */
	int line; /* in the user's file */
	int depth; /* of quote marks removed */
	bool has_end; /* false: the last line of a text cut in mid-line */
};

struct table_text {
	const char *file; /* for messages */
	struct table_line *lines;
	size_t n;
};

struct table_options {
	const char *const *names; /* --names, NULL-terminated, or NULL */
	const char *baseline; /* --base, or NULL */
};

struct table_family {
	const char *name; /* "mmtests" */
	/*
	 * Reads all tables of this family, adding to set; lines taken are marked in used[].
	 * Returns 0, or -EINVAL with errors naming file and line for rows that cannot be trusted.
	 */
	int (*read)(struct arena *a, const struct table_text *text, bool *used,
		    const struct table_options *opt, struct table_set *set, struct err *e);
};

REGISTRY(table_family);

/*
 * Reads every table in a text. Rows whose published percentage disagrees with its values beyond
 * rounding are refused by line number. No table found: -ENOENT with an error.
 */
int tables_read(struct arena *a, const char *file, struct span text,
		const struct table_options *opt, struct table_set *set, struct err *e);

/* Shared by families. Column that the design's rule makes the baseline; -1 if none matches. */
int table_baseline_by_name(const char *const *names, size_t n);

#endif
