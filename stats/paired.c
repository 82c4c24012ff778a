// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of values measured one right after the other: what drifts, and what one boot adds, is in
 * both and cancels in their difference. The null distribution is our own: libRmath's psignrank()
 * keeps global memory and knows no ties.
 */
#include "stats/stats.h"

#include <float.h>
#include <math.h>

#include "core/mem.h"
#include "stats/internal.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

/* The most pairs for which the exact distribution is used. */
enum { EXACT_MAX = 200 };

/* Doubled mid-ranks of the absolute values of the differences that are not 0. */
struct signs {
	size_t *rank2;
	size_t n, plus2; /* plus2: sum of the ranks of the positive ones */
	double ties;	 /* sum of t^3 - t over groups of t equal absolute values */
};

/*
 * Absolute values that only rounding tells apart are equal: logs of ratios have no exact ties.
 * slack: 0 where the differences are as they were measured.
 */
static void signs_rank(struct signs *s, const double *d, size_t n, double slack)
{
	_cleanup_free_ double *size = mem_realloc_array(NULL, n + 1, sizeof(*size));
	size_t i, end, at;

	*s = (struct signs){.rank2 = mem_realloc_array(NULL, n + 1, sizeof(*s->rank2))};
	for (i = 0; i < n; i++)
		if (fabs(d[i]) > slack)
			size[s->n++] = fabs(d[i]);
	stats_sort(size, s->n);
	for (i = 0; i < s->n; i = end) {
		double t;

		for (end = i + 1; end < s->n && size[end] - size[i] <= slack;)
			end++;
		t = (double)(end - i);
		s->ties += t * t * t - t;
		for (at = i; at < end; at++)
			s->rank2[at] = i + end + 1;
	}
	for (i = 0; i < n; i++) {
		if (!(d[i] > slack))
			continue;
		for (at = 0; at + 1 < s->n && size[at] != d[i];)
			at++;
		s->plus2 += s->rank2[at];
	}
}

/* How many of the 2^n choices of signs give each sum of positive ranks, 0 to last. */
static double *count_sums(const size_t *rank, size_t n, size_t *last)
{
	double *count;
	size_t i, k, used = 0;

	*last = 0;
	for (i = 0; i < n; i++)
		*last += rank[i];
	count = mem_zalloc((*last + 1) * sizeof(*count));
	count[0] = 1;
	for (i = 0; i < n; i++) {
		used += rank[i];
		for (k = used; k >= rank[i]; k--)
			count[k] += count[k - rank[i]];
	}
	return count;
}

/* Without ties and zeros wilcox.test(exact = TRUE), with them the same over the given ranks. */
static double exact_p(const struct signs *s)
{
	_cleanup_free_ double *count = NULL;
	size_t last, tail, k;
	double sum = 0;

	count = count_sums(s->rank2, s->n, &last);
	tail = MIN(s->plus2, last - s->plus2);
	if (2 * tail == last)
		return 1;
	for (k = 0; k <= tail; k++)
		sum += 2 * count[k];
	return fmin(1, ldexp(sum, -(int)s->n));
}

/* As wilcox.test(exact = FALSE): corrected for ties and continuity. */
static double normal_p(const struct signs *s)
{
	double n = (double)s->n, z = (double)s->plus2 / 2 - n * (n + 1) / 4;
	double sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - s->ties / 48);

	if (z != 0)
		z -= copysign(0.5, z);
	return fmin(1, 2 * pnorm(fabs(z) / sigma, 0, 1, 0, 0));
}

/*
 * How many of the smallest Walsh averages lie below the interval, at least 1: qsignrank() with its
 * slack for rounding; 0: not even the widest interval reaches the level. *outside: the probability
 * on one side.
 */
static size_t interval_rank(size_t n, double level, double *outside)
{
	double limit = (1 - level) / 2, below = 0, total = ldexp(1, (int)n);
	_cleanup_free_ size_t *rank = NULL;
	_cleanup_free_ double *count = NULL;
	size_t last, u = 0, i;

	if (n > EXACT_MAX) {
		double m = (double)n, sigma = sqrt(m * (m + 1) * (2 * m + 1) / 24);

		*outside = limit;
		return (size_t)floor(m * (m + 1) / 4 - qnorm(limit, 0, 1, 0, 0) * sigma);
	}
	rank = mem_realloc_array(NULL, n, sizeof(*rank));
	for (i = 0; i < n; i++)
		rank[i] = i + 1;
	count = count_sums(rank, n, &last);
	while (u < last && below + count[u] < (limit - 10 * DBL_EPSILON) * total)
		below += count[u++];
	if (!u)
		below = count[u++];
	*outside = below / total;
	return *outside > limit + 10 * DBL_EPSILON ? 0 : u;
}

static void take_interval(const double *d, size_t n, struct interval *r)
{
	size_t m = n * (n + 1) / 2, i, k, at = 0, below;
	_cleanup_free_ double *walsh = mem_realloc_array(NULL, m, sizeof(*walsh));
	double outside;

	for (i = 0; i < n; i++)
		for (k = i; k < n; k++)
			walsh[at++] = d[i] / 2 + d[k] / 2;
	stats_sort(walsh, m);
	r->estimate = stats_median_sorted(walsh, m);
	r->low = -INFINITY;
	r->high = INFINITY;
	below = interval_rank(n, r->level, &outside);
	r->achieved = 1 - 2 * outside;
	if (!below)
		return;
	r->low = walsh[below - 1];
	r->high = walsh[m - below];
}

static void signed_rank(const double *d, size_t n, double slack, double level, double *p,
			struct interval *shift)
{
	struct signs s;

	*p = NAN;
	*shift = (struct interval){NAN, NAN, level, NAN, NAN};
	if (!n || !stats_all_finite(d, n))
		return;
	signs_rank(&s, d, n, slack);
	*p = !s.n ? 1 : s.n <= EXACT_MAX ? exact_p(&s) : normal_p(&s);
	mem_free_ptr(&s.rank2);
	if (level > 0 && level < 1)
		take_interval(d, n, shift);
}

void stats_signed_rank(const double *d, size_t n, double level, double *p, struct interval *shift)
{
	signed_rank(d, n, 0, level, p, shift);
}

enum stats_method stats_choose_paired(size_t n, const struct stats_variance *prior)
{
	if (n >= STATS_PRIOR_BELOW)
		return STATS_SIGNED_RANKS;
	if (n >= 2 && prior->df > 0)
		return STATS_MODERATED;
	return n >= STATS_PAIRS_MIN ? STATS_SIGNED_RANKS : STATS_NONE;
}

/* y less x, on log values where all are positive. */
static bool take_differences(const double *x, const double *y, size_t n, double *d, double *slack)
{
	_cleanup_free_ double *logs = mem_realloc_array(NULL, 2 * n + 1, sizeof(*logs));
	bool on_log = stats_take_scale(x, n, true, logs) && stats_take_scale(y, n, true, logs + n);
	double largest = 0;

	for (size_t i = 0; i < n; i++) {
		d[i] = on_log ? logs[n + i] - logs[i] : y[i] - x[i];
		largest = fmax(largest, on_log ? fmax(fabs(logs[i]), fabs(logs[n + i]))
					       : fmax(fabs(x[i]), fabs(y[i])));
	}
	*slack = 8 * DBL_EPSILON * largest;
	return on_log;
}

struct test_result stats_test_paired(enum mean_kind kind, const double *x, const double *y,
				     size_t n, const struct stats_variance *prior, double level)
{
	static const struct stats_variance unknown = {NAN, 0};
	_cleanup_free_ double *d = mem_realloc_array(NULL, n + 1, sizeof(*d));
	double base = stats_mean(kind, x, n), new = stats_mean(kind, y, n), slack;
	struct test_result t = stats_untested(level);
	const struct stats_variance *known;
	enum stats_method method;
	struct interval shift;
	struct moments m;

	t.on_log = take_differences(x, y, n, d, &slack);
	known = prior && t.on_log ? prior : &unknown;
	method = stats_choose_paired(n, known);
	t.change = t.on_log ? new / base - 1 : new - base;
	t.scale = t.on_log ? 1 : fabs(stats_amean(x, n));
	m = stats_moments(d, n);
	/* as of a difference of two means of n values each */
	if (t.on_log && n > 1)
		t.pooled_sd = sqrt((double)m.squares / (double)(n - 1) / 2);
	signed_rank(d, n, slack, level, &t.rank_p, &shift);
	t.shift = shift.estimate;
	t.welch_p = stats_t_paired(&m, &unknown).p;
	if (method == STATS_MODERATED)
		stats_take_paired(&t, &m, known);
	if (method == STATS_SIGNED_RANKS || (isnan(t.p) && n >= STATS_PAIRS_MIN))
		stats_take_ranks(&t, STATS_SIGNED_RANKS, &shift);
	stats_finish(&t);
	return t;
}
