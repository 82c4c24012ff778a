// SPDX-License-Identifier: GPL-2.0-or-later
/* Means and spread. Sums are long double: neither huge nor tiny values overflow on the way. */
#include "stats/stats.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "stats/internal.h"

bool stats_all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

bool stats_take_scale(const double *x, size_t n, bool on_log, double *to)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]) || (on_log && !(x[i] > 0)))
			return false;
		to[i] = on_log ? log(x[i]) : x[i];
	}
	return true;
}

void stats_sort(double *v, size_t n)
{
	size_t gap = 1;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap > 0; gap /= 3) {
		for (size_t i = gap; i < n; i++) {
			double moved = v[i];
			size_t j = i;

			for (; j >= gap && v[j - gap] > moved; j -= gap)
				v[j] = v[j - gap];
			v[j] = moved;
		}
	}
}

double *stats_sorted(const double *x, size_t n)
{
	double *v = mem_realloc_array(NULL, n, sizeof(*v));

	memcpy(v, x, n * sizeof(*v));
	stats_sort(v, n);
	return v;
}

double stats_median_sorted(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

static long double mean_of(const double *x, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : (long double)NAN;
}

long double stats_square_sum(const double *x, size_t n)
{
	long double mean = mean_of(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double stats_amean(const double *x, size_t n)
{
	return (double)mean_of(x, n);
}

double stats_hmean(const double *x, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return NAN;
		sum += 1 / (long double)x[i];
	}
	return n ? (double)(n / sum) : NAN;
}

double stats_gmean(const double *x, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return NAN;
		sum += logl(x[i]);
	}
	return n ? (double)expl(sum / n) : NAN;
}

double stats_median(const double *x, size_t n)
{
	_cleanup_free_ double *v = NULL;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (isnan(x[i]))
			return NAN;
	v = stats_sorted(x, n);
	return stats_median_sorted(v, n);
}

double stats_stddev(const double *x, size_t n)
{
	return n < 2 ? NAN : (double)sqrtl(stats_square_sum(x, n) / (n - 1));
}

static const struct {
	const char *name;
	double (*of)(const double *x, size_t n);
} mean_kinds[] = {
	[MEAN_AMEAN] = {"Amean", stats_amean},
	[MEAN_HMEAN] = {"Hmean", stats_hmean},
	[MEAN_GMEAN] = {"Gmean", stats_gmean},
	[MEAN_MEDIAN] = {"Median", stats_median},
};

double stats_mean(enum mean_kind kind, const double *x, size_t n)
{
	return mean_kinds[kind].of(x, n);
}

const char *mean_kind_name(enum mean_kind kind)
{
	return mean_kinds[kind].name;
}

bool mean_kind_parse(const char *name, enum mean_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(mean_kinds); i++) {
		if (strcasecmp(name, mean_kinds[i].name) == 0) {
			*kind = i;
			return true;
		}
	}
	return false;
}
