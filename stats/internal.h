/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of stats/ share; nobody else includes it. */
#ifndef STATS_INTERNAL_H
#define STATS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/stats.h"

/* False if any of the n values is NAN or infinite. */
bool stats_all_finite(const double *x, size_t n);

/*
 * Ascending copy of n finite values, to be freed by the caller. Shell's sort: the samples are
 * small and the calls many, and qsort() costs six times as much through its callback.
 */
double *stats_sorted(const double *x, size_t n);
/* The same in place. */
void stats_sort(double *v, size_t n);

/* Median of n ascending values, n > 0. */
double stats_median_sorted(const double *v, size_t n);

/* n values or their logs to `to`; false, with to undefined, where one is not finite or has none. */
bool stats_take_scale(const double *x, size_t n, bool on_log, double *to);

/* Sum of squared deviations from the mean; 0 for n = 0. */
long double stats_square_sum(const double *x, size_t n);

/* What a t-test knows of a sample. */
struct moments {
	long double mean, squares; /* squares: sum of squared deviations from the mean */
	size_t n;
};
struct moments stats_moments(const double *x, size_t n);

/* A difference of two means and how well it is known. */
struct t_test {
	double difference; /* y - x */
	double se, df;	   /* standard error and its degrees of freedom */
	double p;	   /* two-sided; NAN where the spread is none, or only rounding */
};
/* Variances apart, as t.test(). */
struct t_test stats_t_welch(const struct moments *x, const struct moments *y);
/* Whether the values spread more than a prior allows. */
bool stats_prior_refuted(const struct moments *x, const struct moments *y,
			 const struct stats_variance *prior);
/* One variance, drawn to the prior by its degrees of freedom; Student's without a prior. */
struct t_test stats_t_moderated(const struct moments *x, const struct moments *y,
				const struct stats_variance *prior);
/* The mean of n differences against 0, one variance, drawn to the prior as above. */
struct t_test stats_t_paired(const struct moments *d, const struct stats_variance *prior);
/* Half-width of the interval of the difference. */
double stats_t_half_width(const struct t_test *t, double level);

/* A test decides, and gives the interval; nothing where it has no answer. */
void stats_take_paired(struct test_result *t, const struct moments *d,
		       const struct stats_variance *prior);
void stats_take_ranks(struct test_result *t, enum stats_method method,
		      const struct interval *shift);
/* From the scale of the test to changes. */
void stats_finish(struct test_result *t);

#endif
