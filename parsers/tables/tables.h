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

/*
 * DEV_HIDDEN: percent of the mean, and a cell without one has 2 % or less, not 0 (LKP).
 * DEV_FRACTION: a coefficient of variation as a fraction of the mean; DEV_CV: in percent.
 */
enum deviation_kind {
	DEV_NONE,
	DEV_STDDEV,
	DEV_PERCENT,
	DEV_CV,
	DEV_STDERR_PERCENT,
	DEV_HIDDEN,
	DEV_FRACTION,
};
/* How a published percentage is signed: not there, new/old - 1, or better is always positive. */
enum change_sign { SIGN_NONE, SIGN_RAW, SIGN_BETTER_POSITIVE };

/* Which way is better, where the text says so. */
enum row_better { BETTER_UNKNOWN, BETTER_HIGHER, BETTER_LOWER };

/* A parameter of a test case; shown: part of the case's name. */
struct table_param {
	const char *name, *value;
	bool shown;
};

/* A cell with neither value nor change is not there. */
struct table_cell {
	bool has_value, has_change, has_deviation, has_n;
	bool unknown_deviation; /* among DEV_HIDDEN: not even known to be small */
	double value;		/* in the table's unit */
	const char *value_text; /* as printed, without thousands separators */
	double change;		/* percent (or points, see the row), as printed */
	double deviation;
	int n;
	bool mark; /* a star or the like */
	int line;  /* of the user's text, 1-based */
};

/*
 * What a row says: the compared value, a deviation of it, its extremes, something of its own, in
 * how many of n runs something happened ("3:5": value 3, n 5), or a sum over rows above it.
 */
enum row_kind { ROW_VALUE, ROW_DEVIATION, ROW_EXTREME, ROW_OTHER, ROW_FAILS, ROW_TOTAL };
/* Percentages are new/old - 1, 1 - new/old, or nothing shows which (no percentage, all zero). */
enum row_change { CHANGE_UNKNOWN, CHANGE_RAW, CHANGE_INVERTED };

static inline bool table_cell_is_there(const struct table_cell *cell)
{
	return cell->has_value || cell->has_change;
}

struct table_row {
	const char *key;       /* "Hmean 64", "run 1 real": as in the index */
	const char *statistic; /* "Hmean", "Amean", "Stddev", ... or NULL */
	const char *axis;      /* "64", "elsp-8": the key without the statistic */
	const char *metric; /* our metric without the benchmark ("throughput", "real"), or NULL */
	/* "softirqs.SCHED": complete with the suite that measured it, instead of `metric`; or NULL
	 */
	const char *full_metric;
	bool headline; /* the full_metric is what its benchmark is about, as the text has it */
	enum row_better better; /* as the text states it */
	/* Complete parameters of the test case, instead of those the axis gives; NULL: those. */
	const struct table_param *params;
	size_t n_params;
	const char *benchmark; /* of this row's test case where it is not the table's, or NULL */
	const char *unit;      /* of this row's values, NULL: not stated and not known */
	int run;	       /* 0: a summary; N: the N-th single run listed ("run 3 real") */
	enum row_kind kind;
	/* Which way the published percentages run, proved from the printed values. */
	enum row_change orientation;
	bool points;		  /* changes are new - old, not percentages */
	int index;		  /* 0; 1, 2, ... for repeated keys */
	struct table_cell *cells; /* one per variant of the table */
	int line;
};

struct table {
	const char *family;
	const char *section;   /* "numa 0&1", normalised; NULL if none */
	const char *benchmark; /* "tbench", "kernbench", ... or NULL when the text does not say */
	const char *axis_name; /* "clients", "groups", or NULL */
	const char *unit;      /* of its first row, NULL: not stated and not known */
	const char *command;   /* stated command lines joined by "; ", or NULL */
	enum change_sign sign;
	enum deviation_kind deviation;
	const char **variants;	   /* names, in the order of columns */
	const char **descriptions; /* from a legend "name: text"; entries may be NULL */
	const char **commits; /* hash of each, entries may be NULL; NULL: the text lists none */
	size_t n_variants;
	int baseline;	       /* index into variants, by the rule of the design */
	bool baseline_guessed; /* no rule matched: first column, warned about */
	/* The only column is a change against something that has no column: baseline is -1. */
	bool delta_only;
	ARRAY_OF(struct table_row) rows;
	int line; /* of its first row */
};

struct table_warning {
	int line;
	const char *text;
};

/* Facts around the tables: what a reader needs to know, taken from the text or absent. */
struct table_fact {
	/* "machine", "command", "commit", "date", "posting", "subject"; "stated.METRIC": the change
	 * that words of the text (a subject) give a metric, "+17.9%" */
	const char *key;
	const char *value;
};

struct table_set {
	ARRAY_OF(struct table) tables;
	ARRAY_OF(struct table_warning) warnings;
	/* Rows left out because they cannot be trusted, with the reason: never values. */
	ARRAY_OF(struct table_warning) refused;
	ARRAY_OF(struct table_fact) facts;
};

/* One line of the undone text with where it came from. */
struct table_line {
	struct span text; /* NUL-terminated too */
	int line;	  /* in the user's file */
	int depth;	  /* of quote marks removed */
	bool has_end;	  /* false: the last line of a text cut in mid-line */
};

struct table_text {
	const char *file; /* for messages */
	struct table_line *lines;
	size_t n;
};

struct table_options {
	const char *const *names; /* --names, NULL-terminated, or NULL */
	const char *baseline;	  /* --base, or NULL */
	const char *family;	  /* the only one asked, for tests; NULL: all */
};

/* Lines "name: text" that explain the columns of the tables below them. */
struct table_legend_entry {
	const char *name, *text; /* wrapped text joined, one blank between words */
	size_t first, last;	 /* lines, as indexes */
};
struct table_legend {
	ARRAY_OF(struct table_legend_entry) entries;
};

/* What every family reads, and where to. */
struct table_source {
	struct arena *a;
	const struct table_text *text;
	bool *used; /* of lines: somebody's table */
	const struct table_options *opt;
	struct table_set *set;
	struct err *e;
	const struct table_legend *legend; /* of what the first families left; they have none */
};

struct table_family {
	const char *name; /* "mmtests" */
	bool first;	  /* asked before all others, who do not see the lines it took */
	bool last;	  /* asked after all others, for lines that none of them took */
	/*
	 * Reads all tables of this family, adding to set; lines taken are marked in used[]. Rows
	 * that cannot be trusted go to set->refused. Returns 0 (also where there is no such table),
	 * or -EINVAL with an error naming file and line for a table that cannot be understood.
	 */
	int (*read)(const struct table_source *src);
};

REGISTRY(table_family);

/*
 * Reads every table in a text: a plain paste, a mail or an mbox. Rows whose published percentage
 * disagrees with its values beyond rounding are refused by line number. No table found: -ENOENT
 * with an error; a table without names of its columns, or one that no row of can be trusted:
 * -EINVAL. Everything lives in the arena (do not free the arrays). Time is linear in the text.
 */
int tables_read(struct arena *a, const char *file, struct span text,
		const struct table_options *opt, struct table_set *set, struct err *e);

/* ---- shared by families ---- */

/*
 * Undoes what mail did, in this order: mbox and MIME structure (text/plain, else text/html),
 * transfer encoding (quoted-printable, base64; recognised in a paste without headers too), charset
 * (Latin-1 and UTF-8 blanks, dashes and quotes become ASCII), tabs, quote marks at any depth. Date,
 * Message-ID and Subject of the first message go to *set as facts.
 */
void tables_undo(struct arena *a, const char *file, struct span text, struct table_text *out,
		 struct table_set *set);

/*
 * The quoted lines, with their marks, of a paste that was joined to one line; 0: it was not. Soft
 * breaks joined within it are undone.
 */
bool table_is_flattened(struct span line);
size_t table_unflatten(struct arena *a, struct span line, struct span **parts);

/* Facts that stand in prose around the tables: machine, command, commit. */
void tables_facts(struct arena *a, const struct table_text *text, const bool *used,
		  struct table_set *set);

void tables_warn(struct arena *a, struct table_set *set, int line, const char *fmt, ...)
	_printf_(4, 5);
void tables_refuse(struct arena *a, struct table_set *set, int line, const char *fmt, ...)
	_printf_(4, 5);

/* Adds a fact, trimmed, unless there is one of that key already or the value is empty. */
void tables_fact(struct arena *a, struct table_set *set, const char *key, struct span value);

/* Numbers the repeats of a key: 0, 1, 2, ... */
void table_index_repeats(struct table *t);

/* Column that the design's rule makes the baseline, or --base; -1 if none matches. */
int table_baseline_by_name(const char *const *names, size_t n);

/*
 * Whether a metric of LKP ("aim7.jobs-per-min") is a figure that its benchmark is about, rather
 * than what it used up on the way (aim7.time.*, softirqs.*).
 */
bool table_lkp_headline(const char *benchmark, const char *metric);

/* A decimal number at the start of s ("1,234.50", "-3"): bytes taken, 0 if there is none. */
size_t table_scan_number(struct span s, double *value, int *decimals);

void table_legend_read(struct arena *a, const struct table_text *text, struct table_legend *legend);

/* Names of a table's columns and the header lines [top, ...) they stand in; top = first_row: none.
 */
struct table_names {
	const char **names, **descriptions; /* n each; descriptions may be NULL */
	size_t top;
};
/*
 * Names of the n columns of the rows that start at line first_row, looking up to line `lowest`:
 * --names; else names of the legend that make up the header lines exactly, also where the header
 * was wrapped or its blanks were lost; else those of the table above (may be NULL) in the same way;
 * else wide gaps of the header; else its words, where they look like names of kernels; else a
 * legend of exactly n lines above. The line next to the rows wins over the one above it, which then
 * describes. False: nothing names the columns.
 */
bool table_names_find(struct arena *a, const struct table_text *text, size_t first_row,
		      size_t lowest, size_t n, const struct table_legend *legend,
		      const struct table *above, const struct table_options *opt,
		      struct table_names *out);

/* The error of a table whose columns nothing names, or --names in another number: -EINVAL. */
int table_names_missing(const char *file, const struct table *t, const struct table_options *opt,
			struct err *e);

/* Whether two names differ by blanks and case only. */
bool table_same_words(const char *x, const char *y);

/* A line of nothing but "-", "=", "*", "_" and blanks. */
bool table_is_separator(struct span line);
/* "(SNC on)": a short line in parentheses. */
bool table_is_parenthesis(struct span line);

/* The benchmark a line names ("tbench", "hackbench-process-pipes", "a kernel build"), or NULL if
 * none or several. *word (may be NULL) gets the word that names it. */
const char *table_benchmark_in(struct span line, struct span *word);

#endif
