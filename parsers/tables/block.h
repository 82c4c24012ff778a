/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the families share whose tables people put together by hand: titles and headings around
 * them, rows of published percentages, and outputs listed one block after the other.
 */
#ifndef PARSERS_TABLES_BLOCK_H
#define PARSERS_TABLES_BLOCK_H

#include "parsers/tables/tables.h"

/* ---- around a table (context.c) ---- */

struct block_context {
	const char *section, *benchmark, *command, *unit, *statistic;
	enum row_better better; /* as the text states it */
	bool normalised;
	bool positive_better; /* "% improvement" */
};

/*
 * What lines [from, to) say about the table below them: the nearest title is the section; the
 * benchmark and the command of *c stay where none is named. Titles are marked as used.
 */
void block_context(struct arena *a, const struct table_text *text, bool *used, size_t from,
		   size_t to, struct block_context *c);

/* "(higher the better)", "Interpretation: Lower is better", "+ is better" */
enum row_better block_better_in(struct span line);

/* The title without the benchmark and filling words, NULL if nothing is left. */
const char *block_section(struct arena *a, struct span title);

/* A command as a shell session or an indented line shows it; *command gets it without its prompt. */
bool block_is_command(struct span line, struct span *command);

/*
 * The variant in force at each line where a shell session switches a feature or a sysctl ("echo
 * NO_FAIR_SLEEPERS > .../features"), NULL before the first; NULL instead of the array: no session.
 */
const char **block_sessions(struct arena *a, const struct table_text *text);

struct block_heading {
	const char *name, *description; /* NULL: none */
	const char *command;		/* in lines [from, first), NULL: none */
};
/*
 * The heading of the block whose first line is `first`, looking up to line `from`: "w/o:",
 * "- Baseline kernel:", "5.4.0-rc1 (last good kernel)". Lines of commands and data are passed over.
 */
void block_heading(struct arena *a, const struct table_text *text, bool *used, size_t from,
		   size_t first, const char *const *sessions, struct block_heading *h);

/* The blocks of a text in a row, each of one variant. */
struct block_series {
	struct arena *a;
	const struct table_text *text;
	bool *used;
	const struct table_options *opt;
	const char **sessions;
	size_t gap; /* first line after the last block; callers move it */
	struct block_heading seen[64], last;
	size_t n;
	int nameless_line; /* of the first block without a name, 0: none */
	size_t blocks;
};
/*
 * Heading of the block at line `first`: its own, else that of the block before; the command in
 * force likewise. --names go to the headings in the order of the text. False: it has no name.
 */
bool block_series_next(struct block_series *s, size_t first, struct block_heading *h);

/* What a benchmark's figures are: metric of ours, unit, direction, name of the axis. */
struct block_known {
	const char *benchmark, *metric, *unit, *axis;
	enum row_better better;
};
/* By benchmark, else NULL. */
const struct block_known *block_known(const char *benchmark);

/* "KBps" -> "kbps", "context_switch2 (Big)" -> "context-switch2-big" */
char *block_slug(struct arena *a, const char *s);
/*
 * Name of a metric that is none of ours: "free-form.value-ms". The unit and the direction are part
 * of it, since a metric's meaning never changes under its name; unit may be NULL.
 */
char *block_metric(struct arena *a, const char *suite, const char *what, const char *unit,
		   enum row_better better);

/* Error for columns or blocks without names. */
int block_nameless(const struct table_text *text, int line, size_t n,
		   const struct table_options *opt, struct err *e);

/* ---- rows of values with published percentages (percent.c) ---- */

struct block_cell {
	struct table_cell c;
	int change_decimals;
};

struct block_row {
	const char *key;
	const char *bad; /* why it cannot be trusted, or NULL */
	const char *remark;
	int line;
	ARRAY_OF(struct block_cell) cells;
};
typedef ARRAY_OF(struct block_row) block_rows;

void block_rows_free(block_rows *rows);

enum { FITS_RAW = 1, FITS_INVERTED = 2 };
/*
 * Which way a printed percentage agrees with the printed values, each of which stands for an
 * interval of half a unit of its last digit on both sides.
 */
int block_change_fits(const struct table_cell *base, const struct table_cell *cell,
		      int change_decimals);

/* The number of cells most rows have; of equally many the larger one. */
size_t block_columns(const block_rows *rows);
/* The column whose percentages are 0.00 in most rows of n cells; -1 where there is none. */
int block_zero_column(const block_rows *rows, size_t n);

/*
 * Rows into t, whose variants and baseline are set; each is checked, and what disagrees goes to
 * set->refused. Rows of one kind of key run one way: `wanted`, or that of most of them.
 */
void block_check_rows(struct arena *a, struct table_set *set, struct table *t,
		      const block_rows *rows, enum row_change wanted);

/* Metric, axis, unit and direction of all rows from the benchmark and what the text says. */
void block_name_rows(struct arena *a, struct table_set *set, struct table *t,
		     const struct block_context *c);

/* ---- outputs one after the other: cells arrive in any order (grid.c) ---- */

struct grid_entry;
struct grid {
	struct arena *a;
	ARRAY_OF(struct grid_entry) entries;
};

/*
 * One cell: its row is found by section and command (both may be NULL) and the row's key. `row` is
 * copied.
 */
void grid_add(struct grid *g, const char *section, const struct block_heading *h,
	      const struct table_row *row, const struct table_cell *cell);
/*
 * Tables of at least `least` variants, one per section and command in the order of the text, into
 * the set; commands that differ with the variant only, or not at all, make no tables of their own.
 * The
 * N-th cell of a row and variant is row index N, or with `runs` the N-th single run. Frees the grid.
 * `common` has what all of them have: family, benchmark, command.
 */
void grid_finish(struct grid *g, struct table_set *set, size_t least, bool runs,
		 const struct table *common);

/* ---- names of columns (stacked.c), beside table_names_find ---- */

/* Parts of names in lines below each other; only for headers of more than two lines or with gaps. */
bool table_names_stacked(struct arena *a, const struct table_text *text, size_t first,
			 size_t lowest, size_t n, struct table_names *out);
/* Exactly n words directly above the rows, in one line or wrapped: whatever they look like. */
bool table_names_words(struct arena *a, const struct table_text *text, size_t first,
		       size_t lowest, size_t n, struct table_names *out);

/* ---- words ---- */

/* The word is one number from its first to its last character. */
bool block_number(struct span word, double *value, int *decimals);
/* As printed, without thousands separators. */
const char *block_value_text(struct arena *a, struct span number);
/* A cell that has the number as its value. */
struct table_cell block_value(struct arena *a, struct span number, double value, int line);

#endif
