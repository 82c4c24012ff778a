/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a comparison is laid out for reading, shared by the text formats: which rows stand together
 * in a table, their labels, and the few figures over several rows (geometric means, the worst
 * row, the lone cell, where high load begins).
 */
#ifndef REPORTS_VIEW_H
#define REPORTS_VIEW_H

#include "reports/comparison.h"
#include "reports/text.h"

struct view_row {
	const struct cmp_test *test;
	const struct cmp_row *row;
	const char *label; /* value of the axis, or the metric */
	double axis;	   /* NAN unless the axis is numeric */
};

/* Rows that belong under one heading: one benchmark, and one metric or one test case. */
struct view_table {
	const char *benchmark;	      /* as printed */
	const char *where;	      /* parameters that all rows share, "numa 0&1"; "" */
	const char *axis;	      /* name of the swept parameter of the rows, "" for metrics */
	const struct cmp_row *metric; /* the one metric of all rows; NULL: rows are metrics */
	const char *unit;	      /* of all rows; NULL if they differ */
	bool shown;		      /* not counters */
	struct view_row *rows;
	size_t n;
	size_t split; /* first row of the high load; 0: no split */
};

struct view_shape; /* of a benchmark: its axis, how many cases and metrics */

struct view {
	const struct comparison *c;
	struct arena *a;
	struct view_table *tables;
	size_t n;
	struct view_shape *shapes;
	size_t n_shapes;
	size_t width; /* columns there are */
	size_t label; /* longest label of a row that stands beside its cells */
	enum report_style style;
	bool words; /* verdicts are words, not marks */
};

/* split: axis value that starts the high load; 0: found from the first table of a benchmark. */
void view_init(struct view *v, const struct comparison *c, struct arena *a, double split);

/* Columns of a row: variants, then contrasts. */
size_t view_columns(const struct comparison *c);
const struct cmp_cell *view_cell(const struct comparison *c, const struct view_row *r,
				 size_t column);
const char *view_column_name(const struct comparison *c, struct arena *a, size_t column);

/* Whether the benchmark has tables of other metrics too. */
bool view_is_one_of_many(const struct view *v, const struct view_table *t);

/* "64 clients, numa 0&1", with the metric where the benchmark has several. */
const char *view_phrase(const struct view *v, const struct cmp_test *t, const struct cmp_row *r);

/* Geometric mean of the ratios - 1 of rows [from, to) of a column; NAN if none has a change. */
double view_gmean(const struct comparison *c, const struct view_table *t, size_t column,
		  size_t from, size_t to);
/* Row of the most adverse change of a column, or -1. */
int view_worst(const struct comparison *c, const struct view_table *t, size_t column);
/* "1-32" of rows [from, to) */
const char *view_range(struct arena *a, const struct view_table *t, size_t from, size_t to);

/*
 * A cell of an untested table far from the other variants of its row and from what its own column
 * shows elsewhere. Returns false if there is none.
 */
struct view_lone {
	const struct view_table *table;
	size_t row;
	int variant;
	double low, high; /* cells of the others in that row */
	double distance;  /* from its row and column, as a log ratio */
};
bool view_find_lone(const struct view *v, struct view_lone *lone);
/* The next one: the farthest of those nearer than `below`. */
bool view_next_lone(const struct view *v, double below, struct view_lone *lone);

/*
 * Decimals for the means of a table: those of the values within seven digits, at least five
 * digits of the smallest, and more where the printed change would not be the ratio of the printed
 * means.
 */
int view_decimals(const struct view *v, const struct view_table *t);
/* Of the table that a row stands in. */
int view_row_decimals(const struct view *v, const struct cmp_row *row);
/* Decimals that show every single value of a table as it was measured, at most 6. */
int view_value_decimals(const struct view *v, const struct view_table *t);
/* The mean as published or with so many decimals; NULL if there is none. */
const char *view_mean(struct arena *a, const struct cmp_cell *cell, int decimals);

/*
 * "+1.04%" with a suffix for the sign; "+10 MB/s" of a difference; "-" where there is no change.
 */
const char *view_change(struct arena *a, const struct cmp_row *row, const struct cmp_cell *cell,
			const char *suffix);
/*
 * Both ends of the interval of a change: "-1.67, -0.40" in percent, of a difference in the metric's
 * unit; "" where there is none.
 */
const char *view_interval(struct arena *a, const struct cmp_cell *cell);
/* A difference in the metric's unit. */
const char *view_difference(struct arena *a, const struct cmp_row *row, double v);

enum text_color view_color(const struct cmp_cell *cell);
/* "MB/s", "seconds" */
const char *view_unit(const char *unit);
/* "higher is better" */
const char *view_direction(enum direction d);
/* "A", "A and B", "A, B and C" of the variants whose flag is set. */
const char *view_names(const struct comparison *c, struct arena *a, const bool *set);
/* "boots" or "run": what n counts */
const char *view_unit_word(const struct comparison *c, bool plural);
/* " a side" of units that each side has, "" of pairs */
const char *view_a_side(const struct comparison *c);
/* Smallest and largest n over the cells that have one. */
void view_units_range(const struct comparison *c, int *low, int *high);
/* By what the shown rows were tested: "exact rank test", "exact rank test or moderated t-test" */
const char *view_tests_text(const struct comparison *c, struct arena *a);
/* "7 runs", "3 runs of A and 1 of B", "4 to 5 boots"; "" where nobody said. */
const char *view_units_text(const struct comparison *c, struct arena *a);

#endif
