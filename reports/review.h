/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A posted table read as a careful maintainer would: what is stated and what is not, whether the
 * printed changes follow from the printed values, which cells stand apart, what spread the claims
 * need, what the marks are worth. The figures come from the tables as read (lines, refused rows)
 * and from the comparisons of their in-memory import; the words are made of the figures alone.
 */
#ifndef REPORTS_REVIEW_H
#define REPORTS_REVIEW_H

#include "parsers/tables/tables.h"
#include "reports/comparison.h"
#include "reports/text.h"

/* What a reader needs to know. Known: not in the text, but the metric or the kernel's name says. */
enum review_state { REVIEW_MISSING, REVIEW_KNOWN, REVIEW_STATED };
enum { REVIEW_DIRECTION, REVIEW_RUNS, REVIEW_DEVIATION, REVIEW_BASE, REVIEW_MACHINE, REVIEW_COMMAND,
       REVIEW_FACTS };
struct review_fact {
	enum review_state state;
	const char *text; /* what is stated, or what is missing of it; "" */
};

/* Printed changes against those of the printed values, in points of percent. */
struct review_arithmetic {
	int checked, unchecked; /* cells with a printed change; unchecked: without both values */
	bool on_reading;	/* changes of our own reports, which are not kept beside values */
	double largest;		/* difference of a checked cell; NAN: none */
	int largest_line;
	double slack; /* median of what the printed digits leave open; NAN */
	const struct table_warning *refused;
	size_t n_refused;
};

/* row: far from the other variants of its row; else from the other changes of its column. */
struct review_lone {
	bool row;
	const char *variant, *where, *mean; /* mean NULL: not printed */
	double change;			    /* NAN: the baseline */
	double low, high;		    /* the others: means in the row, changes in the column */
};

/* Runs a side that the spreads are given for. */
enum { REVIEW_SIDES = 3 };
extern const int review_sides[REVIEW_SIDES]; /* 3, 5, 10 */

/* The claims of one table; magnitudes as fractions. */
struct review_spread {
	const char *name;
	int changes, marked;
	double typical, smallest; /* median, and least marked; NAN: no mark */
	/* Largest deviation of single runs, as a share of the mean, that still shows them. */
	double typical_cv[REVIEW_SIDES], smallest_cv[REVIEW_SIDES];
	int with_cv; /* changes whose both sides state a deviation, or list runs */
	bool tested; /* all of them are, with the runs there were */
	double cv_low, cv_median, cv_high;
	int seen[REVIEW_SIDES]; /* of with_cv: seen with so many runs a side */
};

struct review_marks {
	int changes, marked; /* of the source */
	double smallest;     /* marked; NAN */
	const char *where;
	int tested, held, lost, more; /* marks that hold or not; unmarked cells that hold */
	const char *lost_where;	      /* one that does not hold */
	const char *more_where;	      /* one that holds without a mark */
	bool unfounded;		      /* marks without n and deviation */
};

/* Of single runs. */
struct review_run {
	const char *where, *variant, *base;
	int n, n_base;
	const struct cmp_cell *cell;
};

struct review {
	struct arena *a;
	const char *file;
	int tables, rows, benchmarks;
	const char *names; /* of the benchmarks, "tbench, hackbench" */
	struct review_fact facts[REVIEW_FACTS];
	struct review_arithmetic sums;
	ARRAY_OF(struct review_lone) lones;
	ARRAY_OF(struct review_spread) spreads;
	struct review_marks marks;
	ARRAY_OF(struct review_run) runs;
	double q;	   /* of the correction */
	const char *tests; /* of single runs, in words; "" */
	bool wide; /* some table has rows and columns enough for lone cells */
};

/* Everything but what the comparisons know. The set must outlive the review. */
void review_init(struct review *rv, struct arena *a, const char *file, const struct table_set *set);
/* Adds what one comparison (of each set of variants) knows. It must outlive the review. */
void review_add(struct review *rv, const struct comparison *c);
void review_release(struct review *rv);
#define _cleanup_review_ _cleanup_(review_release)

/* For people, t->width columns of ASCII; as JSON, schema kdelta.review/1. */
void review_print(const struct review *rv, struct text *t);
void review_add_json(const struct review *rv, struct strbuf *out);

#endif
