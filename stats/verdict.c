// SPDX-License-Identifier: GPL-2.0-or-later
/* One row of a comparison: the test, then the two questions "is it real?" and "is it large?". */
#include "stats/stats.h"

#include <math.h>
#include <strings.h>

#include "core/mem.h"
#include "stats/internal.h"

static const char *const direction_names[] = {
	[DIR_HIGHER] = "higher",   [DIR_LOWER] = "lower",     [DIR_NEUTRAL] = "neutral",
	[DIR_DEPENDS] = "depends", [DIR_UNKNOWN] = "unknown",
};

static const char *const verdict_names[] = {
	[VERDICT_BETTER] = "better",
	[VERDICT_WORSE] = "worse",
	[VERDICT_SAME] = "same",
	[VERDICT_UNSURE] = "unsure",
	[VERDICT_CHANGED] = "changed",
	[VERDICT_MISSING] = "missing",
	[VERDICT_FAILED] = "failed",
	[VERDICT_MIXED] = "mixed",
	[VERDICT_INCOMPLETE] = "incomplete",
};

const char *direction_name(enum direction d)
{
	return direction_names[d];
}

bool direction_parse(const char *name, enum direction *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(direction_names); i++) {
		if (strcasecmp(name, direction_names[i]) == 0) {
			*d = i;
			return true;
		}
	}
	return false;
}

const char *verdict_name(enum verdict v)
{
	return verdict_names[v];
}

static const char *const method_names[] = {
	[STATS_NONE] = "none",
	[STATS_RANKS] = "mw",
	[STATS_MODERATED] = "modt",
	[STATS_WELCH] = "welch",
	[STATS_SIGNED_RANKS] = "sr",
};

enum stats_method stats_choose(size_t n, const struct stats_variance *prior)
{
	if (n >= STATS_PRIOR_BELOW)
		return STATS_RANKS;
	if (n >= 2 && prior->df > 0)
		return STATS_MODERATED;
	return n >= STATS_TEST_MIN ? STATS_RANKS : STATS_NONE;
}

struct test_result stats_untested(double level)
{
	return (struct test_result){
		.test = method_names[STATS_NONE],
		.change = NAN,
		.shift = NAN,
		.low = NAN,
		.high = NAN,
		.level = level,
		.p = NAN,
		.p_adjusted = NAN,
		.welch_p = NAN,
		.rank_p = NAN,
		.pooled_sd = NAN,
		.scale = 1,
	};
}

/* A t-test decides, and gives the interval. */
static void take_t(struct test_result *t, enum stats_method method, const struct t_test *result)
{
	double half = stats_t_half_width(result, t->level);

	if (isnan(result->p))
		return;
	t->test = method_names[method];
	t->p = result->p;
	t->low = result->difference - half;
	t->high = result->difference + half;
}

static void take_moderated(struct test_result *t, const struct moments *x, const struct moments *y,
			   const struct stats_variance *prior)
{
	struct stats_variance used = {prior->value,
				      stats_prior_refuted(x, y, prior) ? 0 : prior->df};
	struct t_test result = stats_t_moderated(x, y, &used);

	take_t(t, STATS_MODERATED, &result);
	if (!isnan(t->p))
		t->prior = used;
}

void stats_take_paired(struct test_result *t, const struct moments *d,
		       const struct stats_variance *prior)
{
	const struct moments nothing = {0, 0, 1};
	struct stats_variance used = {prior->value,
				      stats_prior_refuted(&nothing, d, prior) ? 0 : prior->df};
	struct t_test result = stats_t_paired(d, &used);

	take_t(t, STATS_MODERATED, &result);
	if (!isnan(t->p))
		t->prior = used;
}

void stats_take_ranks(struct test_result *t, enum stats_method method, const struct interval *shift)
{
	t->p = t->rank_p;
	if (isnan(t->p))
		return;
	t->test = method_names[method];
	t->low = shift->low;
	t->high = shift->high;
}

void stats_finish(struct test_result *t)
{
	t->p_adjusted = t->p;
	if (!t->on_log)
		return;
	t->shift = expm1(t->shift);
	t->low = expm1(t->low);
	t->high = expm1(t->high);
}

static const struct stats_variance *prior_of_scale(const struct stats_prior *prior, bool on_log)
{
	static const struct stats_variance unknown = {NAN, 0};

	if (!prior)
		return &unknown;
	return on_log ? &prior->log : &prior->raw;
}

struct test_result stats_test(enum mean_kind kind, const double *x, size_t nx, const double *y,
			      size_t ny, const struct stats_prior *prior, double level,
			      struct stats_nulls *nulls)
{
	_cleanup_free_ double *logs = mem_realloc_array(NULL, nx + ny + 1, sizeof(*logs));
	double base = stats_mean(kind, x, nx), new = stats_mean(kind, y, ny);
	struct test_result t = stats_untested(level);
	const struct stats_variance *known;
	enum stats_method method;
	struct moments mx, my;
	struct interval shift;

	t.on_log = stats_take_scale(x, nx, true, logs) && stats_take_scale(y, ny, true, logs + nx);
	known = prior_of_scale(prior, t.on_log);
	method = stats_choose(MIN(nx, ny), known);
	t.change = t.on_log ? new / base - 1 : new - base;
	t.scale = t.on_log ? 1 : fabs(stats_amean(x, nx));
	if (t.on_log) {
		x = logs;
		y = logs + nx;
	}
	mx = stats_moments(x, nx);
	my = stats_moments(y, ny);
	if (t.on_log && nx + ny > 2)
		t.pooled_sd = sqrt((double)((mx.squares + my.squares) /
					    (MAX(nx, (size_t)1) + MAX(ny, (size_t)1) - 2)));
	stats_rank_test(x, nx, y, ny, level, nulls, &t.rank_p, &shift);
	t.shift = shift.estimate;
	t.welch_p = stats_t_welch(&mx, &my).p;
	if (method == STATS_MODERATED)
		take_moderated(&t, &mx, &my, known);
	/* ranks also where not even the prior has a spread: that leaves a t-test without an answer
	 */
	if (method == STATS_RANKS || (isnan(t.p) && MIN(nx, ny) >= STATS_TEST_MIN))
		stats_take_ranks(&t, STATS_RANKS, &shift);
	stats_finish(&t);
	return t;
}

/* On the log scale by the delta method: the deviation of a log is the relative deviation. */
static struct moments summary_moments(const struct stats_summary *s, bool on_log)
{
	double deviation = on_log ? s->stddev / s->mean : s->stddev;

	return (struct moments){
		on_log ? logl(s->mean) : (long double)s->mean,
		(long double)deviation * deviation * (s->n - 1),
		s->n,
	};
}

struct test_result stats_test_summaries(const struct stats_summary *x,
					const struct stats_summary *y,
					const struct stats_prior *prior, double level)
{
	struct test_result t = stats_untested(level);
	const struct stats_variance *known;
	enum stats_method method;
	struct moments mx, my;
	struct t_test welch;

	t.on_log = x->mean > 0 && y->mean > 0;
	known = prior_of_scale(prior, t.on_log);
	method = stats_choose(MIN(x->n, y->n), known);
	t.change = t.on_log ? y->mean / x->mean - 1 : y->mean - x->mean;
	t.scale = t.on_log ? 1 : fabs(x->mean);
	if (x->n < 2 || y->n < 2 || !(x->stddev >= 0) || !(y->stddev >= 0))
		return t;
	mx = summary_moments(x, t.on_log);
	my = summary_moments(y, t.on_log);
	if (t.on_log)
		t.pooled_sd = sqrt((double)((mx.squares + my.squares) / (double)(x->n + y->n - 2)));
	welch = stats_t_welch(&mx, &my);
	t.welch_p = welch.p;
	t.shift = welch.difference;
	if (method == STATS_MODERATED)
		take_moderated(&t, &mx, &my, known);
	else if (method == STATS_RANKS)
		take_t(&t, STATS_WELCH, &welch);
	stats_finish(&t);
	return t;
}

double stats_deciding_change(const struct test_result *t)
{
	/* The mean is not defined for the harmonic mean of a zero. */
	bool outside = isnan(t->change) || t->change < t->low || t->change > t->high;

	return outside ? t->shift : t->change;
}

static enum verdict verdict_word(enum direction dir, double change)
{
	if (dir == DIR_HIGHER)
		return change > 0 ? VERDICT_BETTER : VERDICT_WORSE;
	if (dir == DIR_LOWER)
		return change < 0 ? VERDICT_BETTER : VERDICT_WORSE;
	return VERDICT_CHANGED;
}

enum verdict stats_verdict(const struct test_result *t, enum direction dir, double threshold,
			   double q, bool *small)
{
	double limit = threshold * t->scale, change = stats_deciding_change(t);

	*small = false;
	if ((t->real || t->p_adjusted <= q) && fabs(change) > 0) {
		*small = fabs(change) < limit;
		return verdict_word(dir, change);
	}
	if (t->low >= -limit && t->high <= limit)
		return VERDICT_SAME;
	return VERDICT_UNSURE;
}
