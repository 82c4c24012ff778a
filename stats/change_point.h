/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Change points of a history: one value per night, in their order. Pure; values are on the scale
 * the caller wants means of (logs, for changes as ratios). Where a value is not finite, or there
 * are too few, nothing is found.
 */
#ifndef STATS_CHANGE_POINT_H
#define STATS_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/stats.h"

enum {
	STEPS_SEGMENT = 3, /* values a level has at least */
	STEPS_WINDOW = 50, /* values that are looked at together, half of them anew each time */
};
#define STEPS_P 0.001 /* of the t-test between the levels beside a step */

/* The level changes before value `at`. */
struct stats_step {
	size_t at;	      /* index of the first value of the new level, from STEPS_SEGMENT on */
	double before, after; /* means of the segments on its sides */
	double p;	      /* Student's t-test of them, two-sided */
};

/*
 * Steps in x by E-divisive means (Matteson and James, JASA 109, 2014, with exponent 1): the best
 * split of a window is kept while a t-test accepts it at ten times p, then the weakest are merged
 * away until all have p, as Fleming et al., "Hunter" (ICPE 2023). At most max go to steps, in their
 * order; returns how many there are.
 */
size_t stats_steps(const double *x, size_t n, double p, struct stats_step *steps, size_t max);

/*
 * The cross-check: the segmentation of x into levels of at least STEPS_SEGMENT values with the
 * least sum of squares + penalty * variance per step, exactly (optimal partitioning, Jackson et
 * al. 2005). variance: of one value within a level, <= 0: from first differences (their median
 * absolute value, normal theory). penalty 0: 3 log n, of BIC with the place of a step counted.
 * at: indices as above, at most max; returns how many there are.
 */
size_t stats_partition(const double *x, size_t n, double variance, double penalty, size_t *at,
		       size_t max);

/* What describes x best by BIC (normal errors): one level, two, or a line. */
enum stats_course { COURSE_FLAT, COURSE_STEP, COURSE_TREND };
struct stats_course_fit {
	enum stats_course course;
	size_t at;     /* of a step */
	double change; /* the step's height, or what Theil-Sen's slope makes of the whole length */
	double bic[3]; /* by course; NAN where none can be fitted */
};
struct stats_course_fit stats_course(const double *t, const double *x, size_t n);

/*
 * Whether a line describes n values at times t better than levels that change at `at` (steps of
 * them), by BIC as above: a slow drift looks like many steps one way.
 */
bool stats_is_trend(const double *t, const double *x, size_t n, const size_t *at, size_t steps);

#endif
