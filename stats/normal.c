// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rests on normal theory: Welch's test, the prediction interval, and how many runs a change
 * takes. libRmath prints a warning to stdout on an argument out of its domain, so every argument
 * is checked before it gets there.
 */
#include "stats/stats.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "core/mem.h"
#include "stats/internal.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

double stats_welch(const double *x, size_t nx, const double *y, size_t ny)
{
	long double vx, vy, se;
	double mx, my, df;

	if (nx < 2 || ny < 2 || !stats_all_finite(x, nx) || !stats_all_finite(y, ny))
		return NAN;
	mx = stats_amean(x, nx);
	my = stats_amean(y, ny);
	vx = stats_square_sum(x, nx) / (nx - 1) / nx;
	vy = stats_square_sum(y, ny) / (ny - 1) / ny;
	se = sqrtl(vx + vy);
	/* As t.test(): below this the spread is rounding, not data. */
	if (se == 0 || se < 10 * DBL_EPSILON * fmax(fabs(mx), fabs(my)))
		return NAN;
	df = (double)((vx + vy) * (vx + vy) / (vx * vx / (nx - 1) + vy * vy / (ny - 1)));
	return 2 * pt(-fabs((double)(((long double)my - mx) / se)), df, 1, 0);
}

struct interval stats_prediction(const double *x, size_t n, double level)
{
	struct interval r = {NAN, NAN, level, NAN, NAN};
	double half;

	if (n < 2 || !(level > 0 && level < 1) || !stats_all_finite(x, n))
		return r;
	half = qt((1 - level) / 2, n - 1, 0, 0) * stats_stddev(x, n) * sqrt(1 + 1.0 / n);
	r.estimate = stats_amean(x, n);
	r.low = r.estimate - half;
	r.high = r.estimate + half;
	r.achieved = level;
	return r;
}

double stats_pooled_log_sd(const double *x, size_t nx, const double *y, size_t ny)
{
	_cleanup_free_ double *logs = mem_realloc_array(NULL, nx + ny, sizeof(*logs));
	size_t df = (nx ? nx - 1 : 0) + (ny ? ny - 1 : 0);

	for (size_t i = 0; i < nx + ny; i++) {
		double v = i < nx ? x[i] : y[i - nx];

		if (!(v > 0 && isfinite(v)))
			return NAN;
		logs[i] = log(v);
	}
	if (df == 0)
		return NAN;
	return (double)sqrtl((stats_square_sum(logs, nx) + stats_square_sum(logs + nx, ny)) / df);
}

/*
 * Values a side until z * s * sqrt(2/n) <= width, at least as many as a test takes, at most most.
 */
static int runs_for_width(double z, double s, double width, int most)
{
	double ratio = z * s / width;

	if (s == 0)
		return STATS_TEST_MIN;
	if (!(2 * ratio * ratio < most))
		return most;
	return MAX(STATS_TEST_MIN, (int)ceil(2 * ratio * ratio));
}

int stats_runs_to_settle(double s, double change, double threshold)
{
	if (!isfinite(s) || s < 0)
		return 0;
	return runs_for_width(qnorm(0.975, 0, 1, 1, 0), s, fmax(threshold, fabs(change)) / 2, 51);
}

/* Sum of the normal quantiles of a two-sided test at alpha that finds a change with this power. */
static double detection_z(double power, double alpha)
{
	if (!(power > 0 && power < 1 && alpha > 0 && alpha < 1))
		return NAN;
	return qnorm(alpha / 2, 0, 1, 0, 0) + qnorm(power, 0, 1, 1, 0);
}

double stats_detectable(double s, size_t n, double power, double alpha)
{
	return n ? detection_z(power, alpha) * s * sqrt(2.0 / n) : NAN;
}

int stats_runs_to_detect(double s, double change, double power, double alpha)
{
	double z = detection_z(power, alpha);

	if (!isfinite(s) || s < 0 || isnan(z) || !isfinite(change))
		return 0;
	return runs_for_width(z, s, fabs(change), INT_MAX);
}
