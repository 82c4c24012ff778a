// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of a variance beforehand: from older campaigns, or from the other rows of a family
 * by the empirical Bayes method of Smyth 2004, as fitFDist() of limma computes it.
 */
#include "stats/stats.h"

#include <math.h>

#include "core/mem.h"
#include "stats/internal.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

static const struct stats_variance unknown = {NAN, 0};

/*
 * Values less the mean of their group, for the caller to free; groups of one value have none. NULL
 * where a value is not finite or has no logarithm.
 */
static double *residuals(const struct stats_group *g, size_t n_groups, bool on_log, size_t *n,
			 size_t *df)
{
	size_t total = 0;
	double *r;

	for (size_t i = 0; i < n_groups; i++)
		total += g[i].n;
	r = mem_realloc_array(NULL, total + 1, sizeof(*r));
	*n = *df = 0;
	for (size_t i = 0; i < n_groups; i++) {
		double *of = r + *n, mean;

		if (!stats_take_scale(g[i].x, g[i].n, on_log, of)) {
			mem_free_ptr(&r);
			return NULL;
		}
		if (g[i].n < 2)
			continue;
		mean = stats_amean(of, g[i].n);
		for (size_t k = 0; k < g[i].n; k++)
			of[k] -= mean;
		*n += g[i].n;
		*df += g[i].n - 1;
	}
	return r;
}

static struct stats_variance variance_of(const double *r, size_t n, size_t df)
{
	long double sum = 0;

	if (!r || !df)
		return unknown;
	for (size_t i = 0; i < n; i++)
		sum += (long double)r[i] * r[i];
	return (struct stats_variance){(double)(sum / df), (double)df};
}

struct stats_variance stats_pooled_variance(const struct stats_group *g, size_t n, bool on_log)
{
	size_t n_values, df;
	_cleanup_free_ double *r = residuals(g, n, on_log, &n_values, &df);

	return variance_of(r, n_values, df);
}

/* Median absolute deviation about the median, in units of the normal's standard deviation. */
static double mad(double *r, size_t n)
{
	double centre;

	stats_sort(r, n);
	centre = stats_median_sorted(r, n);
	for (size_t i = 0; i < n; i++)
		r[i] = fabs(r[i] - centre);
	stats_sort(r, n);
	return 1.4826 * stats_median_sorted(r, n);
}

struct stats_variance stats_prior_of_history(const struct stats_group *g, size_t n, bool on_log)
{
	size_t n_values, df;
	_cleanup_free_ double *r = residuals(g, n, on_log, &n_values, &df);
	struct stats_variance v = variance_of(r, n_values, df);
	double robust;

	if (v.df < STATS_PRIOR_MIN)
		return unknown;
	robust = mad(r, n_values);
	v.value = fmax(v.value, robust * robust);
	return v;
}

/* The y with trigamma(y) = x > 0: Newton's method on 1 / trigamma, which is convex. */
static double trigamma_inverse(double x)
{
	double y = 0.5 + 1 / x;

	if (x > 1e7)
		return 1 / sqrt(x);
	if (x < 1e-6)
		return 1 / x;
	for (int i = 0; i < 50; i++) {
		double tri = trigamma(y), step = tri * (1 - tri / x) / tetragamma(y);

		y += step;
		if (-step / y < 1e-8)
			break;
	}
	return y;
}

/* A variance of 0 has no log: limma lifts it to this share of the median. */
#define LEAST_SHARE 1e-5

struct stats_variance stats_prior_of_family(const struct stats_variance *rows, size_t n)
{
	_cleanup_free_ double *s2 = mem_realloc_array(NULL, n + 1, sizeof(*s2));
	_cleanup_free_ double *e = mem_realloc_array(NULL, n + 1, sizeof(*e));
	_cleanup_free_ double *df = mem_realloc_array(NULL, n + 1, sizeof(*df));
	double least, spread, expected = 0, pooled_df = 0, d0;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(rows[i].df > 0 && isfinite(rows[i].value)))
			continue;
		s2[m] = rows[i].value;
		df[m++] = rows[i].df;
	}
	if (m < STATS_PRIOR_MIN)
		return unknown;
	least = LEAST_SHARE * stats_median(s2, m);
	if (!(least > 0))
		return unknown;
	for (size_t i = 0; i < m; i++) {
		s2[i] = fmax(s2[i], least);
		e[i] = log(s2[i]) - digamma(df[i] / 2) + log(df[i] / 2);
		expected += trigamma(df[i] / 2) / m;
		pooled_df += df[i];
	}
	spread = (double)(stats_square_sum(e, m) / (m - 1)) - expected;
	/* the rows differ no more than by chance: they have one variance */
	if (!(spread > 0))
		return (struct stats_variance){stats_amean(s2, m), pooled_df};
	d0 = 2 * trigamma_inverse(spread);
	return (struct stats_variance){
		exp(stats_amean(e, m) + digamma(d0 / 2) - log(d0 / 2)),
		fmin(d0, pooled_df),
	};
}
