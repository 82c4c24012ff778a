/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in, numbers out. No I/O, no state, no allocation that outlives a call. Distribution
 * functions come from libRmath (standalone R mathlib); ranks, intervals and corrections are ours.
 * Where a quantity cannot be computed the result is NAN and, if it matters, -EDOM.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Arithmetic mean; NAN for n = 0. */
double stats_amean(const double *x, size_t n);
/* Harmonic mean; NAN for n = 0 or if any value is zero or negative. */
double stats_hmean(const double *x, size_t n);
/* Geometric mean; NAN for n = 0 or if any value is zero or negative. */
double stats_gmean(const double *x, size_t n);
double stats_median(const double *x, size_t n);
/* Sample standard deviation (n - 1); NAN for n < 2. */
double stats_stddev(const double *x, size_t n);

enum mean_kind { MEAN_AMEAN, MEAN_HMEAN, MEAN_GMEAN, MEAN_MEDIAN };
double stats_mean(enum mean_kind kind, const double *x, size_t n);
/* "Amean", "Hmean", "Gmean", "Median" */
const char *mean_kind_name(enum mean_kind kind);
/* Returns false for an unknown name (case is ignored). */
bool mean_kind_parse(const char *name, enum mean_kind *kind);

/*
 * Exact two-sided Mann-Whitney p-value of x (nx values) against y (ny). Without ties from
 * pwilcox, with ties by the exact permutation distribution of the mid-rank sum; above 50 in the
 * larger sample the normal approximation with tie and continuity correction (as wilcox.test).
 * NAN if either is empty.
 */
double stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny);

struct interval {
	double low, high; /* -INFINITY / INFINITY where n is too small for the level */
	double level; /* level asked for, e.g. 0.95 */
	double achieved; /* coverage reached by an exact interval */
	double estimate; /* Hodges-Lehmann: median of all differences y - x */
};

/*
 * Hodges-Lehmann shift of y against x (median of the differences y_j - x_i) and its confidence
 * interval by inverting the exact rank test (wilcox.test(y, x, conf.int=TRUE) of R without ties;
 * with ties the permutation distribution of the given data). On log values the caller gets log ratios.
 */
struct interval stats_hodges_lehmann(const double *x, size_t nx, const double *y, size_t ny,
				     double level);

/* Welch's t-test, two-sided p; NAN if a side has fewer than 2 values or no spread at all. */
double stats_welch(const double *x, size_t nx, const double *y, size_t ny);

/*
 * Benjamini-Hochberg adjusted p-values (p.adjust(method = "BH")); NAN entries are left out of the
 * family and stay NAN. p and adjusted may be the same array.
 */
void stats_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* 95 % (level) prediction interval of one further value, normal theory, n >= 2. */
struct interval stats_prediction(const double *x, size_t n, double level);

/*
 * Values per side needed so that the half-width z * s * sqrt(2/n) of the interval is at most
 * max(threshold, |change|) / 2; s = standard deviation of log values pooled over both sides.
 * Returns 0 if s is unknown (NAN), 51 for "more than 50".
 */
int stats_runs_to_settle(double s, double change, double threshold);

/*
 * Smallest relative change detectable with n values a side at the given power (0.8) and level
 * (0.05), two-sided t; s as above. And the values a side needed to detect `change`.
 */
double stats_detectable(double s, size_t n, double power, double alpha);
int stats_runs_to_detect(double s, double change, double power, double alpha);
/* Standard deviation of the log values pooled over two samples about their own means; NAN if
 * a value is not positive or no degree of freedom is left. */
double stats_pooled_log_sd(const double *x, size_t nx, const double *y, size_t ny);

enum direction { DIR_HIGHER, DIR_LOWER, DIR_NEUTRAL, DIR_DEPENDS, DIR_UNKNOWN };
const char *direction_name(enum direction d); /* "higher", ... */
bool direction_parse(const char *name, enum direction *d);

enum verdict {
	VERDICT_BETTER, VERDICT_WORSE, VERDICT_SAME, VERDICT_UNSURE, VERDICT_CHANGED,
	VERDICT_MISSING, VERDICT_FAILED, VERDICT_MIXED, VERDICT_INCOMPLETE,
};
const char *verdict_name(enum verdict v);

/* Everything one row of a comparison needs, in the two questions of the design (real? large?). */
struct test_result {
	const char *test; /* "mw" or "none" */
	double change; /* mean(y) / mean(x) - 1; NAN if the base is zero or negative */
	double shift; /* Hodges-Lehmann as a ratio - 1 (exp of the log shift) */
	double low, high; /* interval of the ratio - 1; NAN if not computable */
	double level;
	double p; /* NAN: not tested */
	double p_adjusted; /* set by the caller after the correction */
	double welch_p;
	double pooled_sd; /* of log values */
	bool on_log; /* false: raw scale because a value was zero or negative; change is a difference */
};

/* Test of y (new) against x (base): exact Mann-Whitney from 5 values a side, none below. */
struct test_result stats_test(enum mean_kind kind, const double *x, size_t nx, const double *y,
			      size_t ny, double level);
/*
 * The verdict of a tested row: real if p_adjusted <= q, large if |change| >= threshold (or the
 * shift where the change lies outside its own interval). *small is set for real but not large.
 */
enum verdict stats_verdict(const struct test_result *t, enum direction dir, double threshold,
			   double q, bool *small);

#endif
