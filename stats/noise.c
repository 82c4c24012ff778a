// SPDX-License-Identifier: GPL-2.0-or-later
/* What a metric does without any change: its noise floor, and metrics that differ by seed only. */
#include "stats/stats.h"

#include <math.h>

#include "core/mem.h"
#include "stats/internal.h"

/* As quantile(type = 7) of R, of n ascending values. */
static double quantile_sorted(const double *v, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t low = (size_t)at;

	if (low + 1 >= n)
		return v[n - 1];
	return v[low] + (at - (double)low) * (v[low + 1] - v[low]);
}

double stats_noise_floor(const struct stats_arm_pair *pairs, size_t n)
{
	_cleanup_free_ double *scaled = mem_realloc_array(NULL, n + 1, sizeof(*scaled));
	size_t i, used = 0;

	for (i = 0; i < n; i++)
		if (isfinite(pairs[i].change) && pairs[i].n)
			scaled[used++] = fabs(pairs[i].change) * sqrt((double)pairs[i].n);
	if (used < STATS_ARMS_MIN)
		return NAN;
	stats_sort(scaled, used);
	return quantile_sorted(scaled, used, 0.95);
}

double stats_seed_noise(const double *x, const double *y, size_t n)
{
	_cleanup_free_ double *d = mem_realloc_array(NULL, n + 1, sizeof(*d));
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(x[i] > 0) || !(y[i] > 0))
			return 0;
		d[i] = y[i] / x[i] - 1;
	}
	return n < 2 ? 0 : 2 * 1.2533 * stats_stddev(d, n) / sqrt((double)n);
}

struct test_result stats_test_seeds(enum mean_kind kind, const double *x, const double *y, size_t n,
				    double floor, double threshold, double level)
{
	_cleanup_free_ double *d = mem_realloc_array(NULL, 2 * n + 1, sizeof(*d));
	struct test_result t = stats_untested(level);
	double base = stats_mean(kind, x, n), new = stats_mean(kind, y, n);
	bool one_sign, equal;
	size_t i;

	t.on_log = stats_take_scale(x, n, true, d) && stats_take_scale(y, n, true, d);
	if (!n || !stats_all_finite(x, n) || !stats_all_finite(y, n))
		return t;
	t.scale = t.on_log ? 1 : fabs(stats_amean(x, n));
	t.change = t.on_log ? new / base - 1 : new - base;
	for (i = 0; i < n; i++)
		d[i] = t.on_log ? y[i] / x[i] - 1 : y[i] - x[i];
	stats_sort(d, n);
	one_sign = d[0] > 0 || d[n - 1] < 0;
	equal = d[0] == 0 && d[n - 1] == 0;
	t.test = "det";
	t.shift = stats_median_sorted(d, n);
	t.real = one_sign &&
		 fabs(t.shift) >
			 t.scale * (n >= STATS_SEEDS_MIN ? floor : fmax(threshold, 3 * floor));
	/* a few seeds bound nothing, unless they agree to the last digit */
	if (n >= STATS_SEEDS_MIN || equal) {
		t.low = d[0];
		t.high = d[n - 1];
	}
	return t;
}
