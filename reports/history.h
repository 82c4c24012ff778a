/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One metric over time: a line for each test case and machine, a point for each kernel measured,
 * and the steps and trends in it (stats/change_point.h). Built once from the database; text, JSON
 * and pictures render it.
 */
#ifndef REPORTS_HISTORY_H
#define REPORTS_HISTORY_H

#include "db/db.h"
#include "reports/text.h"
#include "stats/change_point.h"

/* What one kernel gave in one campaign. */
struct history_point {
	const char *campaign, *variant, *release, *commit;
	int64_t when;  /* the campaign began */
	double *values; /* of its units, n of them */
	size_t n;
	double mean; /* of the metric's kind */
};

struct history_step {
	size_t at;	      /* the first point of the new level */
	double before, after; /* means of the levels beside it, in the metric's unit */
	double change;	      /* after / before - 1; a difference where logs are not defined */
	double p;
	bool exact; /* the exact segmentation has a step there too, or next to it */
};

/* Between two steps a line fits better than a level (BIC), and Mann and Kendall agree. */
struct history_trend {
	size_t from, to; /* points, the last included */
	double change;	 /* over that time by Theil and Sen, as of a step */
	double p;
};

struct history_line {
	const char *test_case, *machine;
	struct history_point *points;
	size_t n;
	struct history_step *steps;
	size_t n_steps;
	size_t since; /* first point of the level that lasts */
	double level; /* mean of that level */
	struct history_trend *trends; /* of levels that are none */
	size_t n_trends;
	bool on_log; /* changes are ratios */
};

struct history {
	const char *metric, *unit;
	enum direction direction;
	struct history_line *lines;
	size_t n_lines;
};

struct history_options {
	const char *test_case; /* NULL: all */
	const char *variant;   /* only kernels under this name; NULL: the newest of each campaign */
	int64_t machine;       /* 0: all */
	int64_t since;	       /* Unix seconds; 0: from the first */
};

/*
 * -ENOENT where nothing of that name was measured. A campaign's baseline and second arms are no
 * points of their own where it has other variants, unless opt->variant names them.
 */
int history_read(struct db *db, struct arena *a, const char *metric,
		 const struct history_options *opt, struct history **out, struct err *e);

/* All headline metrics, by name; none is no error. */
int history_read_all(struct db *db, struct arena *a, const struct history_options *opt,
		     struct history **list, size_t *n, struct err *e);

/* For terminals and mails: a plot of characters, the steps below. width: columns. */
void history_text(const struct history *h, struct arena *a, int width, bool color,
		  struct strbuf *out);
/* "kdelta.history/1" */
void history_json(const struct history *h, struct strbuf *out);

/* "2026-11-30" */
const char *history_day(struct arena *a, int64_t when);
/* "-2.99%", or a difference in the metric's unit where the line is not on logs. */
const char *history_change(struct arena *a, const struct history *h, const struct history_line *l,
			   double change);
/* "6.12.0-rc3 (1f2a3b4c5d6e)" */
const char *history_kernel(struct arena *a, const struct history_point *p);
/* "worse", "better", or "changed" where the metric does not say which way is good. */
const char *history_word(const struct history *h, double change);

/*
 * Pictures for pages, as SVG elements without anything from elsewhere: points, the level between
 * steps, a rule where it changes. chart: with axes and ranges of the units; spark: a word's size.
 */
void history_chart(const struct history *h, const struct history_line *l, struct arena *a,
		   struct strbuf *out);
void history_spark(const struct history_line *l, struct strbuf *out);

#endif
