// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps and trends of a history. */
#include "stats/change_point.h"

#define MATHLIB_STANDALONE 1
#include <Rmath.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "stats/internal.h"

/* Splits are proposed at this many times the p that they need in the end. */
#define WEAKER 10

/* Ascending places of steps; ends[0] is 0 and ends[n + 1] the number of values. */
struct places {
	const double *x;
	size_t *ends;
	size_t n;
};

/* Student's t-test between the segments beside step i (from 0). */
static struct stats_step test_step(const double *x, size_t from, size_t at, size_t to)
{
	struct moments l = stats_moments(x + from, at - from), r = stats_moments(x + at, to - at);
	struct t_test t = stats_t_moderated(&l, &r, &(struct stats_variance){0, 0});
	struct stats_step step = {at, (double)l.mean, (double)r.mean, t.p};

	/* levels without any spread: different is different */
	if (isnan(t.p))
		step.p = l.mean == r.mean ? 1 : 0;
	return step;
}

static struct stats_step step_of(const struct places *s, size_t i)
{
	return test_step(s->x, s->ends[i], s->ends[i + 1], s->ends[i + 2]);
}

static double distances(const double *x, size_t from, size_t to, double v)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += fabs(x[i] - v);
	return sum;
}

/*
 * The split of n values that are farthest apart as distributions: largest
 * lr / (l + r) * (2 mean|X - Y| - mean|X - X'| - mean|Y - Y'|). 0: too few for any.
 */
static size_t best_split(const double *x, size_t n)
{
	double left = 0, right = 0, across = 0, best = -INFINITY;
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		right += distances(x, i + 1, n, x[i]);
	for (size_t l = 1; l + STEPS_SEGMENT <= n; l++) {
		/* value l - 1 goes from the right side to the left one */
		double to_left = distances(x, 0, l - 1, x[l - 1]),
		       to_right = distances(x, l, n, x[l - 1]), r = (double)(n - l), q;

		left += to_left;
		right -= to_right;
		across += to_right - to_left;
		if (l < STEPS_SEGMENT)
			continue;
		q = (double)l * r / (double)n *
		    (2 * across / ((double)l * r) - 2 * left / ((double)l * (double)(l - 1)) -
		     2 * right / (r * (r - 1)));
		if (q > best) {
			best = q;
			at = l;
		}
	}
	return at;
}

static void add_place(struct places *s, size_t at)
{
	size_t i = s->n + 1;

	for (s->ends[i + 1] = s->ends[i]; s->ends[i - 1] > at; i--)
		s->ends[i] = s->ends[i - 1];
	s->ends[i] = at;
	s->n++;
}

static void split(struct places *s, size_t from, size_t to, double p)
{
	size_t at = best_split(s->x + from, to - from);

	if (!at || !(test_step(s->x, from, from + at, to).p <= p))
		return;
	add_place(s, from + at);
	split(s, from, from + at, p);
	split(s, from + at, to, p);
}

/* Takes the weakest step away until all have p. */
static void merge(struct places *s, double p)
{
	while (s->n) {
		size_t weakest = 0;
		double worst = -1;

		for (size_t i = 0; i < s->n; i++) {
			double own = step_of(s, i).p;

			if (own > worst) {
				worst = own;
				weakest = i;
			}
		}
		if (worst <= p)
			return;
		memmove(s->ends + weakest + 1, s->ends + weakest + 2,
			(s->n - weakest) * sizeof(*s->ends));
		s->n--;
	}
}

size_t stats_steps(const double *x, size_t n, double p, struct stats_step *steps, size_t max)
{
	_cleanup_free_ size_t *ends = NULL;
	struct places s = {.x = x};
	size_t from = 0, i;

	if (n < 2 * STEPS_SEGMENT || !stats_all_finite(x, n))
		return 0;
	ends = mem_realloc_array(NULL, n / STEPS_SEGMENT + 2, sizeof(*ends));
	s.ends = ends;
	ends[0] = 0;
	ends[1] = n;
	for (;;) {
		size_t to = MIN(from + STEPS_WINDOW, n);

		split(&s, from, to, WEAKER * p);
		if (to == n)
			break;
		/* what lies near its end is seen better by the next window */
		while (s.n && s.ends[s.n] > to - STEPS_WINDOW / 4) {
			s.ends[s.n] = s.ends[s.n + 1];
			s.n--;
		}
		from = MAX(from + STEPS_WINDOW / 2, s.n ? s.ends[s.n] : 0);
		if (s.n && from < s.ends[s.n] + STEPS_SEGMENT)
			from = s.ends[s.n];
	}
	merge(&s, p);
	for (i = 0; i < MIN(s.n, max); i++)
		steps[i] = step_of(&s, i);
	return s.n;
}

/* Variance of one value where the level seldom changes: from differences of neighbours. */
static double neighbour_variance(const double *x, size_t n)
{
	_cleanup_free_ double *d = mem_realloc_array(NULL, n, sizeof(*d));
	double sd;

	for (size_t i = 0; i + 1 < n; i++)
		d[i] = fabs(x[i + 1] - x[i]);
	stats_sort(d, n - 1);
	sd = stats_median_sorted(d, n - 1) / (qnorm(0.75, 0, 1, 1, 0) * M_SQRT2);
	return sd * sd;
}

size_t stats_partition(const double *x, size_t n, double variance, double penalty, size_t *at,
		       size_t max)
{
	_cleanup_free_ double *cost = NULL, *sum = NULL, *squares = NULL;
	_cleanup_free_ size_t *last = NULL;
	size_t end, found = 0, i;
	double mean;

	if (n < 2 * STEPS_SEGMENT || !stats_all_finite(x, n))
		return 0;
	if (!(variance > 0))
		variance = neighbour_variance(x, n);
	/* less is rounding */
	variance = fmax(variance, 1e-12 * (double)stats_square_sum(x, n));
	penalty = variance * (penalty > 0 ? penalty : 3 * log((double)n));
	cost = mem_realloc_array(NULL, n + 1, sizeof(*cost));
	sum = mem_realloc_array(NULL, n + 1, sizeof(*sum));
	squares = mem_realloc_array(NULL, n + 1, sizeof(*squares));
	last = mem_realloc_array(NULL, n + 1, sizeof(*last));
	mean = stats_amean(x, n);
	sum[0] = squares[0] = 0;
	cost[0] = -penalty;
	for (end = 1; end <= n; end++) {
		double v = x[end - 1] - mean;

		sum[end] = sum[end - 1] + v;
		squares[end] = squares[end - 1] + v * v;
		cost[end] = INFINITY;
		last[end] = 0;
		for (i = 0; i + STEPS_SEGMENT <= end; i++) {
			double s = sum[end] - sum[i],
			       own = squares[end] - squares[i] - s * s / (double)(end - i);

			if (cost[i] + own + penalty < cost[end]) {
				cost[end] = cost[i] + own + penalty;
				last[end] = i;
			}
		}
	}
	for (end = last[n]; end; end = last[end])
		found++;
	for (end = last[n], i = found; end; end = last[end]) {
		if (--i < max)
			at[i] = end;
	}
	return found;
}

/* k parameters besides the variance. */
static double bic(double squares, size_t n, int k)
{
	return (double)n * log(fmax(squares / (double)n, DBL_MIN)) + (k + 1) * log((double)n);
}

/* Sum of squares about the best two levels; *at: where the second begins. */
static double step_squares(const double *x, size_t n, size_t *at)
{
	long double best = INFINITY;

	for (size_t i = STEPS_SEGMENT; i + STEPS_SEGMENT <= n; i++) {
		long double own = stats_square_sum(x, i) + stats_square_sum(x + i, n - i);

		if (own < best) {
			best = own;
			*at = i;
		}
	}
	return (double)best;
}

/* Sum of squares about the least-squares line. */
static double line_squares(const double *t, const double *x, size_t n)
{
	double mt = stats_amean(t, n), mx = stats_amean(x, n), tx = 0, tt = 0;

	for (size_t i = 0; i < n; i++) {
		tx += (t[i] - mt) * (x[i] - mx);
		tt += (t[i] - mt) * (t[i] - mt);
	}
	return tt > 0 ? fmax((double)stats_square_sum(x, n) - tx * tx / tt, 0) : NAN;
}

struct stats_course_fit stats_course(const double *t, const double *x, size_t n)
{
	struct stats_course_fit fit = {COURSE_FLAT, 0, 0, {NAN, NAN, NAN}};
	size_t at = 0;

	if (n < 2 * STEPS_SEGMENT || !stats_all_finite(t, n) || !stats_all_finite(x, n))
		return fit;
	fit.bic[COURSE_FLAT] = bic((double)stats_square_sum(x, n), n, 1);
	/* the place is a parameter too */
	fit.bic[COURSE_STEP] = bic(step_squares(x, n, &at), n, 3);
	fit.bic[COURSE_TREND] = bic(line_squares(t, x, n), n, 2);
	for (int c = COURSE_STEP; c <= COURSE_TREND; c++) {
		if (fit.bic[c] < fit.bic[fit.course])
			fit.course = (enum stats_course)c;
	}
	if (fit.course == COURSE_STEP) {
		fit.at = at;
		fit.change = stats_amean(x + at, n - at) - stats_amean(x, at);
	} else if (fit.course == COURSE_TREND) {
		fit.change = stats_trend(t, x, n).slope * (t[n - 1] - t[0]);
	}
	return fit;
}

bool stats_is_trend(const double *t, const double *x, size_t n, const size_t *at, size_t steps)
{
	long double squares = 0;
	size_t from = 0;

	if (!steps || n < 2 * STEPS_SEGMENT)
		return false;
	for (size_t i = 0; i <= steps; i++) {
		size_t to = i < steps ? at[i] : n;

		squares += stats_square_sum(x + from, to - from);
		from = to;
	}
	return bic(line_squares(t, x, n), n, 2) < bic((double)squares, n, 1 + 2 * (int)steps);
}
