/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of -o lkp: lkp.c says the verdict and explains the columns, lkp_tables.c prints the rows. */
#ifndef REPORTS_LKP_H
#define REPORTS_LKP_H

#include "reports/layout.h"

enum { LKP_WIDTH = 78 };

struct lkp {
	const struct comparison *c;
	const struct report_options *opt;
	struct arena *a;
	struct text *t;
	struct view view;
	size_t variant; /* the one against the baseline */
	bool whole_sd;	/* all deviations are whole percentages, as published */
	bool points, difference, gone, small; /* marks in use */
	const char *published; /* percentages that the source prints where these have points */
	int n_published;
};

/* "+17.9%", "+0.61p", "new"; sets the marks. */
const char *lkp_change(struct lkp *k, const struct cmp_cell *base, const struct cmp_cell *cell);
/* "better s" */
const char *lkp_reads(struct lkp *k, const struct cmp_cell *cell);
/* "aim7.jobs-per-min": in full, as `kdelta explain` and `history` take it. */
const char *lkp_metric(struct arena *a, const struct cmp_row *row);

/* "aim7/test=page_test (machine box1): what it does" */
const char *lkp_test(const struct lkp *k, const struct cmp_test *test);
/* Whether totals may be compared: the line `checked`. */
void lkp_print_checked(const struct lkp *k, const struct cmp_test *test);
/* Failures and rows of a test case; with several of them its axes as heading. */
void lkp_print_test(struct lkp *k, const struct cmp_test *test);

#endif
