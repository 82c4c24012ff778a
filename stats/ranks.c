// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rank test and its interval. The null distribution is our own: libRmath's pwilcox() keeps
 * global memory that grows with the cube of n, knows no ties, and rebuilt for each call costs more
 * than the rest of a comparison. The root finder is our own because neither libm nor libRmath
 * has one, and because the answer must be R's.
 *
 * Everything is counted in U of y against x: pairs with y > x, and half of those with y == x;
 * doubled ("u2"), it is an integer also with mid-ranks.
 */
#include "stats/stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "stats/internal.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

/* The largest sample for which the exact distribution is used. */
enum { EXACT_MAX = 50 };

/* Two ascending samples; y is the one that shifts. */
struct samples {
	const double *x, *y;
	size_t nx, ny;
};

struct ranking {
	size_t u2;
	double ties; /* sum of t^3 - t over groups of t equal values; 0: no ties */
};

/*
 * Ranks y - shift among x. With rank2 also the doubled mid-ranks of all nx + ny values, ascending.
 */
static struct ranking rank_samples(const struct samples *s, double shift, size_t *rank2)
{
	struct ranking r = {0, 0};
	size_t i = 0, j = 0;

	while (i < s->nx || j < s->ny) {
		size_t below_x = i, below = i + j, equal_x, equal;
		double v;

		if (j == s->ny || (i < s->nx && s->x[i] < s->y[j] - shift))
			v = s->x[i++];
		else
			v = s->y[j++] - shift;
		while (i < s->nx && s->x[i] == v)
			i++;
		while (j < s->ny && s->y[j] - shift == v)
			j++;
		equal_x = i - below_x;
		equal = i + j - below;
		r.u2 += (equal - equal_x) * (2 * below_x + equal_x);
		r.ties += (double)equal * equal * equal - equal;
		for (size_t k = below; rank2 && k < i + j; k++)
			rank2[k] = 2 * below + equal + 1;
	}
	return r;
}

/* Null distribution of U: cells 0 to last for U = 0 to last / step. */
struct null {
	double *count; /* of assignments, as doubles: up to C(100, 50) */
	double total;
	size_t last;
	size_t step; /* 1 without ties, 2 (u2) with ties */
};

static void null_release(struct null *d)
{
	mem_free_ptr(&d->count);
}

/*
 * Without ties: the coefficients of the Gaussian binomial prod (1 - q^(n+i)) / (1 - q^i), i = 1 to
 * m, in place. Only the lower half is computed, where coefficients rise and cancellation is
 * harmless; the upper half mirrors it.
 */
static void null_fill_untied(struct null *d, size_t m, size_t n)
{
	size_t half = d->last / 2;

	d->count[0] = 1;
	for (size_t i = 1; i <= m; i++) {
		for (size_t k = half; k + 1 > n + i; k--)
			d->count[k] -= d->count[k - n - i];
		for (size_t k = i; k <= half; k++)
			d->count[k] += d->count[k - i];
	}
	for (size_t k = 0; k <= half; k++)
		d->count[d->last - k] = d->count[k];
}

/*
 * With ties: choose m of the total values one by one, in ascending order. Row j counts the choices
 * of j values by their doubled rank sum less that of the j lowest ranks; row m, moved to U, is the
 * distribution of the chosen.
 */
static void null_fill_tied(struct null *d, const size_t *rank2, size_t m, size_t total)
{
	size_t width = d->last + 1, lowest;
	_cleanup_free_ double *rows = mem_zalloc((m + 1) * width * sizeof(*rows));
	_cleanup_free_ size_t *sum = mem_zalloc((total + 1) * sizeof(*sum)); /* of lowest ranks */

	for (size_t i = 0; i < total; i++)
		sum[i + 1] = sum[i] + rank2[i];
	rows[0] = 1;
	for (size_t i = 0; i < total; i++) {
		/* rows from which the values left cannot reach row m are of no use */
		size_t first = m + i + 1 > total ? m + i + 1 - total : 1;

		for (size_t j = MIN(i + 1, m); j >= MAX(first, (size_t)1); j--) {
			/* The highest j - 1 of the i values so far bound what row j - 1 holds. */
			size_t last = sum[i] - sum[i - j + 1] - sum[j - 1];
			const double *from = rows + (j - 1) * width;
			double *to = rows + j * width + rank2[i] - rank2[j - 1];

			for (size_t k = 0; k <= last; k++)
				to[k] += from[k];
		}
	}
	lowest = sum[m] - m * (m + 1);
	for (size_t k = lowest; k < width; k++)
		d->count[k] = rows[m * width + k - lowest];
}

/* rank2: doubled mid-ranks of all values; counts the smaller sample's U and turns it into y's. */
static struct null null_new(const struct samples *s, const size_t *rank2, bool tied)
{
	size_t m = MIN(s->nx, s->ny), n = MAX(s->nx, s->ny);
	struct null d = {.step = tied ? 2 : 1};

	d.last = d.step * m * n;
	d.count = mem_zalloc((d.last + 1) * sizeof(*d.count));
	if (tied)
		null_fill_tied(&d, rank2, m, m + n);
	else
		null_fill_untied(&d, m, n);
	for (size_t k = 0; s->nx < s->ny && k < d.last - k; k++) {
		double swap = d.count[k];

		d.count[k] = d.count[d.last - k];
		d.count[d.last - k] = swap;
	}
	for (size_t k = 0; k <= d.last; k++)
		d.total += d.count[k];
	return d;
}

struct stats_nulls {
	struct null untied[EXACT_MAX + 1][EXACT_MAX + 1]; /* by size of x and y */
	struct null tied;				  /* of the last ranks seen */
	size_t *rank2, nx, ny;				  /* these ranks */
};

struct stats_nulls *stats_nulls_new(void)
{
	return mem_zalloc(sizeof(struct stats_nulls));
}

void stats_nulls_free(struct stats_nulls **nulls)
{
	struct stats_nulls *c = *nulls;

	for (size_t i = 0; c && i < ARRAY_SIZE(c->untied); i++)
		for (size_t j = 0; j < ARRAY_SIZE(c->untied[i]); j++)
			null_release(&c->untied[i][j]);
	if (c) {
		null_release(&c->tied);
		mem_free_ptr(&c->rank2);
	}
	mem_free_ptr(nulls);
}

/* The distribution for these ranks, from the cache or made now. */
static const struct null *nulls_get(struct stats_nulls *c, const struct samples *s,
				    const size_t *rank2, bool tied)
{
	size_t n = s->nx + s->ny;

	if (!tied) {
		if (!c->untied[s->nx][s->ny].count)
			c->untied[s->nx][s->ny] = null_new(s, rank2, false);
		return &c->untied[s->nx][s->ny];
	}
	if (c->nx != s->nx || c->ny != s->ny || memcmp(c->rank2, rank2, n * sizeof(*rank2))) {
		null_release(&c->tied);
		c->tied = null_new(s, rank2, true);
		c->rank2 = mem_realloc_array(c->rank2, n, sizeof(*rank2));
		memcpy(c->rank2, rank2, n * sizeof(*rank2));
		c->nx = s->nx;
		c->ny = s->ny;
	}
	return &c->tied;
}

/* P(U is as far from its mean as u or farther). */
static double null_two_sided(const struct null *d, size_t u)
{
	size_t tail = MIN(u, d->last - u);
	double sum = 0;

	if (2 * tail == d->last)
		return 1;
	for (size_t k = 0; k <= tail; k++)
		sum += d->count[k] + d->count[d->last - k];
	return sum / d->total;
}

/*
 * Smallest u with P(U <= u) >= p, and P(U < u). R's qwilcox(), without ties, has a slack for
 * rounding, and qperm() of exactRankTests, with ties, has none.
 */
static size_t null_quantile(const struct null *d, double p, double *below)
{
	double slack = d->step == 1 ? 10 * DBL_EPSILON : 0;
	double limit = (p - slack) * d->total, sum = 0;
	size_t u = 0;

	while (u < d->last && sum + d->count[u] < limit)
		sum += d->count[u++];
	*below = sum / d->total;
	return u;
}

/* Standardised U at a shift, as wilcox.test() computes it for large samples. */
static double normal_score(const struct samples *s, double shift, bool correct)
{
	struct ranking r = rank_samples(s, shift, NULL);
	double nx = s->nx, ny = s->ny, n = nx + ny;
	double z = r.u2 / 2.0 - nx * ny / 2;
	double sigma = sqrt((nx * ny / 12) * ((n + 1) - r.ties / (n * (n - 1))));

	if (correct && z != 0)
		z -= copysign(0.5, z);
	return z / sigma;
}

/*
 * The shift in [a, b] at which the score passes zq: Brent's zeroin with the steps of R's uniroot().
 * The score is a step function with flat pieces; only the same steps end at the same point of one.
 */
static double score_root(const struct samples *s, double a, double b, double zq, bool correct)
{
	double fa = normal_score(s, a, correct) - zq, fb = normal_score(s, b, correct) - zq;
	double c = a, fc = fa;

	if (fa <= 0)
		return a;
	if (fb >= 0)
		return b;
	for (int i = 0; i < 1000; i++) {
		double last_step = b - a, tolerance, step;

		if (fabs(fc) < fabs(fb)) {
			a = b, b = c, c = a;
			fa = fb, fb = fc, fc = fa;
		}
		tolerance = 2 * DBL_EPSILON * fabs(b) + 1e-12 / 2;
		step = (c - b) / 2;
		if (fabs(step) <= tolerance || fb == 0)
			break;
		if (fabs(last_step) >= tolerance && fabs(fa) > fabs(fb)) {
			double cb = c - b, t1, t2, p, q;

			if (a == c) {
				t1 = fb / fa;
				p = cb * t1;
				q = 1 - t1;
			} else {
				q = fa / fc, t1 = fb / fc, t2 = fb / fa;
				p = t2 * (cb * q * (q - t1) - (b - a) * (t1 - 1));
				q = (q - 1) * (t1 - 1) * (t2 - 1);
			}
			if (p > 0)
				q = -q;
			else
				p = -p;
			if (p < 0.75 * cb * q - fabs(tolerance * q) / 2 &&
			    p < fabs(last_step * q / 2))
				step = p / q;
		}
		if (fabs(step) < tolerance)
			step = step > 0 ? tolerance : -tolerance;
		a = b, fa = fb;
		b += step;
		fb = normal_score(s, b, correct) - zq;
		if ((fb > 0 && fc > 0) || (fb < 0 && fc < 0))
			c = a, fc = fa;
	}
	return b;
}

static bool is_testable(const double *x, size_t nx, const double *y, size_t ny)
{
	return nx > 0 && ny > 0 && stats_all_finite(x, nx) && stats_all_finite(y, ny);
}

/*
 * Bounds with ties: the lowest and highest difference at which y, moved by it, has a U within the
 * quantiles. Differences that only rounding tells apart count as equal.
 */
static void tied_bounds(const struct samples *s, const double *diff, size_t n, size_t u_low,
			size_t u_high, struct interval *r)
{
	double top = fmax(fabs(s->x[0]), fabs(s->x[s->nx - 1]));
	double slack = 8 * DBL_EPSILON * fmax(top, fmax(fabs(s->y[0]), fabs(s->y[s->ny - 1])));
	size_t end;

	r->low = diff[0];
	r->high = diff[n - 1];
	for (size_t i = 0; i < n; i = end) {
		size_t u2;

		for (end = i + 1; end < n && diff[end] - diff[i] <= slack;)
			end++;
		u2 = 2 * (n - end) + (end - i);
		if (u2 > u_high)
			r->low = diff[i];
		if (u2 <= u_low) {
			r->high = diff[i];
			break;
		}
	}
}

static void exact_interval(const struct samples *s, const struct null *d, const double *diff,
			   struct interval *r)
{
	size_t n = s->nx * s->ny, u_low, u_high;
	double alpha = 1 - r->level, below, below_high;

	u_low = null_quantile(d, alpha / 2, &below);
	if (d->step == 2) {
		u_high = null_quantile(d, 1 - alpha / 2, &below_high);
		tied_bounds(s, diff, n, u_low, u_high, r);
		r->achieved = below_high + d->count[u_high] / d->total - below;
		return;
	}
	if (u_low == 0)
		below = d->count[u_low++] / d->total;
	r->low = diff[u_low - 1];
	r->high = diff[n - u_low];
	r->achieved = 1 - 2 * below;
}

/* d: NULL where the normal approximation stands for it. */
static void take_shift(const struct samples *s, const struct null *d, struct interval *r)
{
	double lowest = s->y[0] - s->x[s->nx - 1], highest = s->y[s->ny - 1] - s->x[0], z;
	_cleanup_free_ double *diff = NULL;
	bool attainable;

	if (!isfinite(highest - lowest))
		return;
	r->low = -INFINITY;
	r->high = INFINITY;
	r->achieved = 1 - 2 / choose(s->nx + s->ny, MIN(s->nx, s->ny));
	attainable = r->achieved > r->level - 10 * DBL_EPSILON;
	if (d) {
		diff = mem_realloc_array(NULL, s->nx * s->ny, sizeof(*diff));
		for (size_t k = 0; k < s->nx * s->ny; k++)
			diff[k] = s->y[k % s->ny] - s->x[k / s->ny];
		stats_sort(diff, s->nx * s->ny);
		r->estimate = stats_median_sorted(diff, s->nx * s->ny);
		if (attainable)
			exact_interval(s, d, diff, r);
		return;
	}
	z = qnorm((1 - r->level) / 2, 0, 1, 0, 0);
	r->estimate = score_root(s, lowest, highest, 0, false);
	if (attainable) {
		r->low = score_root(s, lowest, highest, z, true);
		r->high = score_root(s, lowest, highest, -z, true);
		r->achieved = r->level;
	}
}

static double take_p(const struct samples *s, const struct null *d, size_t u2)
{
	double z;

	if (d)
		return null_two_sided(d, d->step == 2 ? u2 : u2 / 2);
	z = fabs(normal_score(s, 0, true));
	return isnan(z) ? 1 : 2 * pnorm(z, 0, 1, 0, 0);
}

void stats_rank_test(const double *x, size_t nx, const double *y, size_t ny, double level,
		     struct stats_nulls *nulls, double *p, struct interval *shift)
{
	_cleanup_(null_release) struct null own = {0};
	_cleanup_free_ double *sx = NULL, *sy = NULL;
	_cleanup_free_ size_t *rank2 = NULL;
	const struct null *d = NULL;
	struct ranking r = {0, 0};
	struct samples s;

	*p = NAN;
	*shift = (struct interval){NAN, NAN, level, NAN, NAN};
	if (!is_testable(x, nx, y, ny))
		return;
	s = (struct samples){sx = stats_sorted(x, nx), sy = stats_sorted(y, ny), nx, ny};
	if (MAX(nx, ny) <= EXACT_MAX) {
		rank2 = mem_realloc_array(NULL, nx + ny, sizeof(*rank2));
		r = rank_samples(&s, 0, rank2);
		if (!nulls)
			own = null_new(&s, rank2, r.ties > 0);
		d = nulls ? nulls_get(nulls, &s, rank2, r.ties > 0) : &own;
	}
	*p = take_p(&s, d, r.u2);
	if (level > 0 && level < 1)
		take_shift(&s, d, shift);
}

double stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny)
{
	struct interval shift;
	double p;

	stats_rank_test(x, nx, y, ny, NAN, NULL, &p, &shift);
	return p;
}

struct interval stats_hodges_lehmann(const double *x, size_t nx, const double *y, size_t ny,
				     double level)
{
	struct interval shift;
	double p;

	stats_rank_test(x, nx, y, ny, level, NULL, &p, &shift);
	return shift;
}
