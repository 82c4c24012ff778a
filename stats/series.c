// SPDX-License-Identifier: GPL-2.0-or-later
/* Values in time: inside one run, for warnings; and over the blocks of a campaign. */
#include "stats/stats.h"

#define MATHLIB_STANDALONE 1
#include <Rmath.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "stats/internal.h"

/* Longer series are thinned to so many means of neighbours: every pair of values is looked at. */
#define TREND_POINTS 200
/* A trend inside a run is spoken of from this share of the median on, and this significance. */
#define SHAPE_CHANGE 0.05
#define SHAPE_P	     0.001
/* Fewer values have no shape. */
#define SHAPE_POINTS 12

/* Over groups of f equal values: sums of f(f - 1)(2f + 5), f(f - 1) and f(f - 1)(f - 2). */
struct ties {
	double whole, pairs, triples;
};

static struct ties count_ties(const double *x, size_t n)
{
	_cleanup_free_ double *v = stats_sorted(x, n);
	struct ties sum = {0, 0, 0};
	size_t i, k;

	for (i = 0; i < n; i = k) {
		double f;

		for (k = i; k < n && v[k] == v[i]; k++)
			;
		f = (double)(k - i);
		sum.whole += f * (f - 1) * (2 * f + 5);
		sum.pairs += f * (f - 1);
		sum.triples += f * (f - 1) * (f - 2);
	}
	return sum;
}

/* Variance of Kendall's S with ties on both sides. */
static double kendall_variance(const double *t, const double *x, size_t n)
{
	struct ties a = count_ties(t, n), b = count_ties(x, n);
	double k = (double)n;

	return (k * (k - 1) * (2 * k + 5) - a.whole - b.whole) / 18 +
	       a.pairs * b.pairs / (2 * k * (k - 1)) +
	       a.triples * b.triples / (9 * k * (k - 1) * (k - 2));
}

struct stats_trend stats_trend(const double *t, const double *x, size_t n)
{
	struct stats_trend trend = {NAN, NAN};
	_cleanup_free_ double *slopes = NULL;
	size_t i, k, used = 0;
	double s = 0, variance;

	if (n < 3 || !stats_all_finite(t, n) || !stats_all_finite(x, n))
		return trend;
	slopes = mem_realloc_array(NULL, n * (n - 1) / 2, sizeof(*slopes));
	for (i = 0; i < n; i++) {
		for (k = i + 1; k < n; k++) {
			s += sign(t[k] - t[i]) * sign(x[k] - x[i]);
			if (t[k] != t[i])
				slopes[used++] = (x[k] - x[i]) / (t[k] - t[i]);
		}
	}
	if (!used)
		return trend;
	stats_sort(slopes, used);
	trend.slope = stats_median_sorted(slopes, used);
	variance = kendall_variance(t, x, n);
	trend.p = s == 0 || !(variance > 0)
			  ? 1
			  : 2 * pnorm(-(fabs(s) - 1) / sqrt(variance), 0, 1, 1, 0);
	return trend;
}

/* Means of neighbours, at most TREND_POINTS of them; returns how many. */
static size_t thin(const double *t, const double *x, size_t n, double *tt, double *xx)
{
	size_t points = MIN(n, (size_t)TREND_POINTS), i;

	for (i = 0; i < points; i++) {
		size_t from = i * n / points, to = (i + 1) * n / points;

		tt[i] = stats_amean(t + from, to - from);
		xx[i] = stats_amean(x + from, to - from);
	}
	return points;
}

struct stats_shape stats_series_shape(const double *t, const double *x, size_t n)
{
	struct stats_shape shape = {.n = n, .lowest = NAN};
	double tt[TREND_POINTS], xx[TREND_POINTS], middle = stats_median(x, n), late;
	struct stats_trend trend;
	size_t i, points, quarter;

	if (n < SHAPE_POINTS || !stats_all_finite(t, n) || !stats_all_finite(x, n) || !(middle > 0))
		return shape;
	shape.lowest = INFINITY;
	for (i = 0; i < n; i++) {
		shape.lowest = fmin(shape.lowest, x[i] / middle);
		shape.stalls += x[i] < STATS_STALL * middle;
	}
	points = thin(t, x, n, tt, xx);
	quarter = points / 4;
	late = stats_median(xx + points / 2, points - points / 2);
	shape.warm_up = stats_median(xx, quarter) / late - 1;
	if (!(late > 0) || fabs(shape.warm_up) < SHAPE_CHANGE ||
	    stats_mann_whitney(xx, quarter, xx + points / 2, points - points / 2) > SHAPE_P)
		shape.warm_up = 0;
	/* what a warm-up is would else be a drift too */
	trend = stats_trend(tt + quarter, xx + quarter, points - quarter);
	shape.drift = trend.slope * (tt[points - 1] - tt[quarter]) / middle;
	if (!(fabs(shape.drift) >= SHAPE_CHANGE) || trend.p > SHAPE_P)
		shape.drift = 0;
	return shape;
}

double stats_block_permutation(const double *d, size_t n)
{
	double sum = 0, observed, limit;
	unsigned long long i, count = 0, all = 1ULL << n;
	_cleanup_free_ double *v = NULL;

	if (n < STATS_BLOCKS_MIN || n > STATS_BLOCKS_MAX || !stats_all_finite(d, n))
		return NAN;
	v = mem_realloc_array(NULL, n, sizeof(*v));
	memcpy(v, d, n * sizeof(*v));
	for (i = 0; i < n; i++)
		sum += v[i];
	observed = fabs(sum);
	/* the walk below rounds: it must not lose the assignment that was seen */
	limit = observed - 1e-9 * fmax(observed, 1e-300);
	/* every assignment of signs once, one sign changed a step (Gray code) */
	for (i = 0; i < all; i++) {
		int bit = __builtin_ctzll(i + 1);

		count += fabs(sum) >= limit;
		if (i + 1 < all) {
			sum -= 2 * v[bit];
			v[bit] = -v[bit];
		}
	}
	return (double)count / (double)all;
}

enum { LAG_VALUES = 8 };

struct stats_lag stats_lag1(const double *x, size_t n)
{
	double mean = stats_amean(x, n), k = (double)n;
	long double squares = stats_square_sum(x, n), sum = 0;
	struct stats_lag lag = {NAN, NAN};
	size_t i;

	if (n < LAG_VALUES || !stats_all_finite(x, n) || !(squares > 0))
		return lag;
	for (i = 0; i + 1 < n; i++)
		sum += (x[i] - mean) * (x[i + 1] - mean);
	lag.r = (double)(sum / squares);
	lag.p = pnorm((lag.r + 1 / k) * k * sqrt(k - 1) / (k - 2), 0, 1, 0, 0);
	return lag;
}
