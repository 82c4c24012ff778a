// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rests on normal theory: the t-tests, the prediction interval, and how many runs a change
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

struct moments stats_moments(const double *x, size_t n)
{
	return (struct moments){
		stats_all_finite(x, n) ? (long double)stats_amean(x, n) : (long double)NAN,
		stats_square_sum(x, n),
		n,
	};
}

static struct t_test t_test(const struct moments *x, const struct moments *y, double se, double df)
{
	struct t_test t = {(double)(y->mean - x->mean), se, df, NAN};
	double size = fmax(fabs((double)x->mean), fabs((double)y->mean));

	/* As t.test(): below this the spread is rounding, not data. */
	if (df > 0 && se > 0 && isfinite(t.difference) && !(se < 10 * DBL_EPSILON * size))
		t.p = 2 * pt(-fabs((double)((y->mean - x->mean) / se)), df, 1, 0);
	return t;
}

struct t_test stats_t_welch(const struct moments *x, const struct moments *y)
{
	long double vx, vy;

	if (x->n < 2 || y->n < 2)
		return (struct t_test){NAN, NAN, NAN, NAN};
	vx = x->squares / (x->n - 1) / x->n;
	vy = y->squares / (y->n - 1) / y->n;
	return t_test(
		x, y, (double)sqrtl(vx + vy),
		(double)((vx + vy) * (vx + vy) / (vx * vx / (x->n - 1) + vy * vy / (y->n - 1))));
}

bool stats_prior_refuted(const struct moments *x, const struct moments *y,
			 const struct stats_variance *prior)
{
	double df = (double)(x->n + y->n - 2);
	double f = (double)((x->squares + y->squares) / df / prior->value);

	return f > 1 && (isinf(f) || pf(f, df, prior->df, 0, 0) < STATS_PRIOR_REFUTED);
}

struct t_test stats_t_moderated(const struct moments *x, const struct moments *y,
				const struct stats_variance *prior)
{
	double prior_df = prior->df > 0 ? prior->df : 0, df = prior_df + x->n + y->n - 2;
	double sum = (double)(x->squares + y->squares) + (prior_df ? prior_df * prior->value : 0);

	return t_test(x, y, sqrt(sum / df * (1.0 / x->n + 1.0 / y->n)), df);
}

struct t_test stats_t_paired(const struct moments *d, const struct stats_variance *prior)
{
	const struct moments nothing = {0, 0, 1};
	double prior_df = prior->df > 0 ? prior->df : 0, df = prior_df + (double)d->n - 1;
	double sum = (double)d->squares + (prior_df ? prior_df * prior->value : 0);

	return d->n ? t_test(&nothing, d, sqrt(sum / df / (double)d->n), df)
		    : (struct t_test){NAN, NAN, NAN, NAN};
}

double stats_t_half_width(const struct t_test *t, double level)
{
	return t->df > 0 && isfinite(t->se) ? qt((1 - level) / 2, t->df, 0, 0) * t->se : NAN;
}

double stats_welch(const double *x, size_t nx, const double *y, size_t ny)
{
	struct moments mx = stats_moments(x, nx), my = stats_moments(y, ny);

	return stats_t_welch(&mx, &my).p;
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

double stats_spread_to_detect(double change, size_t n, double power, double alpha)
{
	return fabs(change) / stats_detectable(1, n, power, alpha);
}
