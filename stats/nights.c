// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/nights.h"

#include <math.h>

/* libRmath takes names such as `sexp` for itself */
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "core/mem.h"
#include "stats/change_point.h"

enum { NIGHTS_WITHIN = 10 }; /* nights whose runs say how much runs of one night spread */

/* Only nights that were measured are counted here: the k-th of them is night seen[k]. */
struct replay {
	const struct night *nights;
	const struct nights_options *opt;
	double *x;     /* their values, as the level takes them */
	size_t *seen, *level; /* level: the first of the level that it belongs to */
	size_t n;
	struct night_state *now; /* of the last one */
	double good; /* the level before it got worse */
	int moved;   /* nights on end, up to the last one, in which the baseline moved as much */
};

/* How far the newest nights are from the level before them. */
struct distance {
	size_t from;		/* the first of them */
	double level, difference;
	double variance, df;	/* of one night's mean */
	double within, within_df; /* of medians of runs, for one run */
	bool young;		/* how much nights spread is not known yet */
	double se, p;
	size_t history;		/* nights of the level */
};

const char *night_event_name(enum night_event ev)
{
	static const char *const names[] = {"quiet",   "suspect", "dismissed",	"changed",
					    "drifted", "fixed",	  "environment"};

	return names[ev];
}

struct night_arm night_arm_of(const double *x, size_t n)
{
	struct night_arm arm = {.middle = n ? stats_median(x, n) : 0, .n = n};
	double mean = stats_amean(x, n);

	for (size_t i = 0; i < n; i++)
		arm.squares += (x[i] - mean) * (x[i] - mean);
	return arm;
}

/*
 * The variance of one run that would give an arm its squares in half of all cases; the median of
 * chi-squared by Wilson and Hilferty (1931).
 */
static size_t add_arm(const struct night_arm *arm, double *variances, double *df)
{
	double k = (double)arm->n - 1, root = 1 - 2 / (9 * k);

	if (arm->n < 2)
		return 0;
	*variances = arm->squares / (k * root * root * root);
	*df += k;
	return 1;
}

/*
 * Of runs about the mean of their arm, up to the last night. The median of the arms: one run in
 * fifty that goes astray makes a mean of them half as large again, and medians of runs do not follow.
 */
static double spread_within(const struct replay *r, double *df)
{
	double variances[2 * NIGHTS_WITHIN];
	size_t n = 0;

	*df = 0;
	for (size_t k = r->n > NIGHTS_WITHIN ? r->n - NIGHTS_WITHIN : 0; k < r->n; k++) {
		const struct night *night = &r->nights[r->seen[k]];

		n += add_arm(&night->kernel, &variances[n], df);
		n += add_arm(&night->base, &variances[n], df);
	}
	*df /= n > 2 ? 2 : 1; /* what a median knows less than a mean */
	return n ? stats_median(variances, n) : 0;
}

/* Of nights before `end` about their level. */
static double spread_between(const struct replay *r, size_t end, double *df)
{
	size_t k = end > NIGHTS_LEVEL ? end - NIGHTS_LEVEL : 0, to;
	double squares = 0;

	for (*df = 0; k < end; k = to) {
		double mean;

		for (to = k; to < end && r->level[to] == r->level[k]; to++)
			;
		mean = stats_amean(r->x + k, to - k);
		for (size_t i = k; i < to; i++)
			squares += (r->x[i] - mean) * (r->x[i] - mean);
		*df += (double)(to - k) - 1;
	}
	return *df > 0 ? squares / *df : 0;
}

/* Of nights once there are enough of them, before that of runs; df 0: nothing is known. */
static void measure_spread(const struct replay *r, struct distance *d)
{
	double least = NIGHTS_LEAST * (r->opt->on_log ? 1 : fabs(d->level)), between_df;
	double between = spread_between(r, d->from, &between_df);
	double runs = (double)r->nights[r->seen[r->n - 1]].kernel.n;
	d->within = fmax(M_PI_2 * spread_within(r, &d->within_df), least * least);
	d->young = between_df < (d->within_df > 0 ? NIGHTS_SPREAD : NIGHTS_SPREAD / 2);
	d->variance = fmax(d->young ? d->within / runs : between, least * least);
	d->df = d->young ? d->within_df : between_df;
}

/* The newest `window` nights against the level before them; false: too near, or too little known. */
static bool measure_distance(const struct replay *r, size_t window, struct distance *d)
{
	size_t begin = r->level[r->n - 1], first;

	if (r->n < begin + window + (window > 1 ? STEPS_SEGMENT : 1))
		return false;
	d->from = r->n - window;
	first = MAX(begin, d->from > NIGHTS_LEVEL ? d->from - NIGHTS_LEVEL : 0);
	d->history = d->from - first;
	d->level = stats_amean(r->x + first, d->history);
	d->difference = stats_amean(r->x + d->from, window) - d->level;
	if (fabs(d->difference) < r->opt->threshold)
		return false;
	measure_spread(r, d);
	d->se = sqrt(d->variance * (1 / (double)window + 1 / (double)d->history));
	if (d->df <= 0 || (d->young && window > 1) || fabs(d->difference) <= 2 * d->se)
		return false;
	d->p = 2 * pt(-fabs(d->difference) / d->se, d->df, 1, 0);
	return true;
}

/* The most telling window whose mean is outside, where one is. */
static bool is_outside(const struct replay *r, struct distance *out)
{
	static const size_t windows[] = {1, 3, 6, 12};
	struct distance d;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		if (!measure_distance(r, windows[i], &d) ||
		    d.p > (windows[i] > 1 ? NIGHTS_DRIFT : NIGHTS_SUSPECT) ||
		    (any && d.p >= out->p))
			continue;
		*out = d;
		any = true;
		/* another machine tonight is no change of the nights before */
		if (r->nights[r->seen[r->n - 1]].environment)
			break;
	}
	return any;
}

/* A night that is told apart counts for its level only as far as the interval reaches. */
static void clamp_last(struct replay *r, const struct distance *d)
{
	double most = d->se * qt(1 - NIGHTS_SUSPECT / 2, d->df, 1, 0);

	if (d->from == r->n - 1 && fabs(d->difference) > most)
		r->x[d->from] = d->level + copysign(most, d->difference);
}

static size_t count_seen(const struct replay *r, size_t night)
{
	size_t k = r->n;

	while (k && r->seen[k - 1] >= night)
		k--;
	return k;
}

/* What the baseline's kernel is known for: its own level, or what it gave beside this one. */
static double base_expected(const struct replay *r, const struct distance *d,
			    const struct night *night)
{
	size_t k, n = 0;
	double sum = 0;

	if (night->base_night >= 0) {
		size_t level = r->level[count_seen(r, (size_t)night->base_night)];

		for (k = level; k < d->from && r->level[k] == level; k++, n++)
			sum += r->x[k];
	} else {
		for (k = d->from - d->history; k < d->from; k++) {
			const struct night_arm *base = &r->nights[r->seen[k]].base;

			sum += base->n ? base->middle : 0;
			n += base->n > 0;
		}
	}
	return n ? sum / (double)n : d->level;
}

/*
 * Whether the baseline is half as far from where it belongs, at least. It says nothing if it became
 * the baseline after the change.
 */
static bool has_base_moved(const struct replay *r, const struct distance *d,
			   const struct night *night)
{
	if (!night->base.n)
		return night->environment;
	if (night->base_night >= (long)r->seen[d->from])
		return false;
	return (night->base.middle - base_expected(r, d, night)) * copysign(1, d->difference) >=
	       fabs(d->difference) / 2;
}

/* The extra run against the level, also by what the baseline of the same night says of it. */
static bool is_confirmed(const struct replay *r, const struct distance *d,
			 const struct night *night)
{
	const struct night_arm *extra = &night->extra, *base = &night->base;
	double sign = copysign(1, d->difference), per_run = 1 / (double)extra->n;
	double distance = (extra->middle - d->level) * sign;
	double se = sqrt(d->variance *
			 ((double)night->kernel.n * per_run + 1 / (double)d->history));

	if (distance < r->opt->threshold / 2 || pt(-distance / se, d->df, 1, 0) > NIGHTS_CONFIRM)
		return false;
	if (!base->n || d->within_df <= 0 || night->base_night >= (long)r->seen[d->from])
		return true;
	distance = (extra->middle - d->level - base->middle + base_expected(r, d, night)) * sign;
	se = sqrt(d->within * (per_run + 1 / (double)base->n));
	return pt(-distance / se, d->within_df, 1, 0) <=
	       (d->young ? NIGHTS_CONFIRM : NIGHTS_BESIDE);
}

static bool is_drift(const struct replay *r, const struct distance *d)
{
	size_t from = d->from - d->history, n = r->n - from, at = d->history;
	_cleanup_free_ double *t = mem_realloc_array(NULL, n, sizeof(*t));

	for (size_t i = 0; i < n; i++)
		t[i] = (double)r->seen[from + i];
	return n >= NIGHTS_COURSE && stats_is_trend(t, r->x + from, n, &at, 1);
}

/* From here on the nights since d->from are a level of their own. */
static void begin_level(struct replay *r, const struct distance *d, enum night_event ev)
{
	struct night_state *s = r->now;

	s->event = ev;
	for (size_t k = d->from; k < r->n; k++)
		r->level[k] = d->from;
	s->after = stats_amean(r->x + d->from, r->n - d->from);
}

static void take_change(struct replay *r, const struct distance *d)
{
	struct night_state *s = r->now;
	double sign = r->opt->direction == DIR_LOWER ? -1 : 1;

	begin_level(r, d, is_drift(r, d) ? NIGHT_DRIFTED : NIGHT_CHANGED);
	if (s->worse && !s->open) {
		s->open = true;
		s->open_since = s->since;
		r->good = d->level;
	} else if (s->better && s->open &&
		   sign * (s->after - r->good) >= -fmax(r->opt->threshold, 2 * d->se)) {
		s->open = false;
		s->event = NIGHT_FIXED;
	}
}

static void describe(struct replay *r, const struct distance *d)
{
	enum direction dir = r->opt->direction;
	struct night_state *s = r->now;
	bool up = d->difference > 0, known = dir == DIR_HIGHER || dir == DIR_LOWER;

	s->since = r->seen[d->from];
	s->before = d->level;
	s->after = d->level + d->difference;
	s->p = d->p;
	s->better = known && up == (dir == DIR_HIGHER);
	s->worse = known && !s->better;
}

/* The baseline moved as well: at once with another environment, else when it lasts. */
static void take_environment(struct replay *r, const struct distance *d, const struct night *night)
{
	double kernel = (double)night->kernel.n, base = (double)night->base.n, moved = d->difference;

	if (!night->environment && ++r->moved < STEPS_SEGMENT) {
		clamp_last(r, d);
		return;
	}
	if (base > 0 && d->from == r->n - 1) /* both say by how much */
		moved = (kernel * moved + base * (night->base.middle - base_expected(r, d, night))) /
			(kernel + base);
	begin_level(r, d, NIGHT_ENVIRONMENT);
	r->moved = 0;
	/* what older kernels would give now */
	for (size_t k = 0; k < d->from; k++)
		r->x[k] += moved;
	if (r->now->open)
		r->good += moved;
}

static void take_night(struct replay *r, const struct night *night)
{
	const struct night_arm *extra = &night->extra;
	double n = (double)night->kernel.n, more = (double)extra->n;
	struct distance d;

	r->level[r->n] = r->n ? r->level[r->n - 1] : 0;
	r->x[r->n++] = night->kernel.middle;
	if (!is_outside(r, &d)) {
		r->moved = 0;
		return;
	}
	describe(r, &d);
	if (has_base_moved(r, &d, night)) {
		take_environment(r, &d, night);
		return;
	}
	r->moved = 0;
	if (!extra->n || !is_confirmed(r, &d, night)) {
		r->now->event = extra->n ? NIGHT_DISMISSED : NIGHT_SUSPECT;
		clamp_last(r, &d);
		return;
	}
	r->x[r->n - 1] = (n * night->kernel.middle + more * extra->middle) / (n + more);
	take_change(r, &d);
}

void stats_nights(const struct night *nights, size_t n, const struct nights_options *opt,
		  struct night_state *states)
{
	_cleanup_free_ double *x = mem_realloc_array(NULL, n + 1, sizeof(*x));
	_cleanup_free_ size_t *seen = mem_realloc_array(NULL, n + 1, sizeof(*seen));
	_cleanup_free_ size_t *level = mem_realloc_array(NULL, n + 1, sizeof(*level));
	struct replay r = {.nights = nights, .opt = opt, .x = x, .seen = seen, .level = level};

	for (size_t i = 0; i < n; i++) {
		states[i] = (struct night_state){NIGHT_QUIET, .since = i};
		if (i) {
			states[i].open = states[i - 1].open;
			states[i].open_since = states[i - 1].open_since;
		}
		r.now = &states[i];
		seen[r.n] = i;
		if (nights[i].kernel.n)
			take_night(&r, &nights[i]);
	}
}
