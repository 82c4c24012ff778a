// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other views of the changes of a comparison. A counter that adds up over a run follows its length
 * and the work done; a power makes sense as energy for that work; failed runs are a rate.
 */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "reports/build.h"

/* Level of the exact test of failure rates. */
#define RATE_ALPHA 0.05

/* Whether text is one of a NULL-terminated list. */
static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static bool cell_has_change_of(const struct cmp_cell *cell, const struct cmp_cell *base)
{
	return cell->has_mean && base->has_mean && base->mean > 0;
}

/* ---- the same work? ---- */

/* Wall time of the whole run. */
static bool row_is_elapsed(const struct cmp_row *r)
{
	static const char *const names[] = {
		"time.elapsed_time", "elapsed_time", "elapsed", "real", "time", "total_time", NULL};

	return !strcmp(r->unit, "s") && is_one_of(comparison_metric_name(r), names);
}

/* "jobs/min": work per time, both parts into the arena. */
static bool row_is_rate(struct arena *a, const struct cmp_row *r, struct cmp_work *w)
{
	const char *slash = strrchr(r->unit, '/');

	if (!r->headline || r->direction != DIR_HIGHER || !slash || slash == r->unit ||
	    (strcmp(slash, "/s") && strcmp(slash, "/min")))
		return false;
	w->unit = arena_strndup(a, r->unit, (size_t)(slash - r->unit));
	w->time_unit = slash + 1;
	return true;
}

static double work_of(const struct cmp_work *w, size_t variant)
{
	const struct cmp_cell *rate = &w->rate->cells[variant];
	const struct cmp_cell *time = &w->elapsed->cells[variant];

	if (!rate->has_mean || !time->has_mean)
		return NAN;
	return rate->mean * time->mean / (strcmp(w->time_unit, "min") ? 1 : 60);
}

static void find_work(const struct comparison *c, struct cmp_test *t, size_t variant)
{
	struct cmp_work *w = &t->works[variant];
	size_t r;

	*w = (struct cmp_work){.unit = "", .time_unit = ""};
	w->base = w->other = w->change = w->longer = w->fail_p = NAN;
	for (r = 0; r < t->n_rows; r++) {
		if (!w->elapsed && row_is_elapsed(&t->rows[r]))
			w->elapsed = &t->rows[r];
		if (!w->rate && row_is_rate(c->arena, &t->rows[r], w))
			w->rate = &t->rows[r];
	}
	if (w->elapsed && cell_has_change_of(&w->elapsed->cells[variant], &w->elapsed->cells[0]))
		w->longer = w->elapsed->cells[variant].mean / w->elapsed->cells[0].mean - 1;
	if (w->elapsed && w->elapsed->headline && w->elapsed->direction == DIR_LOWER)
		w->same = w->by_design = true;
	if (!w->elapsed || !w->rate)
		return;
	w->base = work_of(w, 0);
	w->other = work_of(w, variant);
	if (w->base > 0 && isfinite(w->other))
		w->change = w->other / w->base - 1;
	w->same = fabs(w->change) < c->threshold;
}

/* ---- single cells ---- */

/* A counter that adds up over the run, and of which neither more nor less is better by itself. */
static bool row_adds_up(const struct cmp_row *r)
{
	static const char *const units[] = {"count", "pages", "us", "blocks", "s", NULL};

	return r->direction == DIR_DEPENDS && is_one_of(r->unit, units);
}

/*
 * Deviation of the log of one value. Published percentages are whole: half of one is added, so
 * that the change is at least so many.
 */
static double log_deviation(const struct cmp_cell *cell)
{
	double percent = 100 * cell->cv;

	if (cell->values || fabs(percent - round(percent)) > 1e-6)
		return cell->cv;
	return cell->cv + 0.005;
}

static double change_in_sd(const struct cmp_cell *cell, const struct cmp_cell *base)
{
	double d = hypot(log_deviation(cell), log_deviation(base));

	if (!(cell->mean > 0) || !(d > 0))
		return NAN;
	return fabs(log(cell->mean / base->mean)) / d;
}

static void cell_views(const struct cmp_row *row, struct cmp_cell *cell,
		       const struct cmp_cell *base, const struct cmp_work *w)
{
	bool share = !strcmp(row->unit, "%");

	if (!cell->has_mean || !base->has_mean)
		return;
	/* "CPUs used times 100" is a percentage too, but no share */
	if (share && fabs(cell->mean) <= 100 && fabs(base->mean) <= 100)
		cell->points = cell->mean - base->mean;
	else if (!cell->has_change)
		cell->difference = cell->mean - base->mean;
	if (!cell_has_change_of(cell, base))
		return;
	cell->in_sd = change_in_sd(cell, base);
	if (!row_adds_up(row))
		return;
	if (w->longer > -1)
		cell->per_second = cell->mean / base->mean / (1 + w->longer) - 1;
	if (w->change > -1)
		cell->per_work = cell->mean / base->mean / (1 + w->change) - 1;
}

static void cell_energy(const struct cmp_row *row, struct cmp_cell *cell, const struct cmp_work *w,
			size_t variant)
{
	const struct cmp_cell *time = w->elapsed ? &w->elapsed->cells[variant] : NULL;

	if (!strcmp(row->unit, "W") && time && time->has_mean && cell->has_mean)
		cell->energy = cell->mean * time->mean;
}

/* ---- rates ---- */

static void cell_events(const struct cmp_row *row, struct cmp_cell *cell)
{
	double sum = 0;
	int i;

	if (!row->events || !cell->has_mean)
		return;
	for (i = 0; cell->values && i < cell->n; i++)
		sum += cell->values[i] > 0;
	/* a source's figure is the share of runs */
	cell->events = (int)lround(cell->values ? sum : cell->mean * cell->n);
	cell->event_runs = cell->n;
}

static double rate(int events, int runs)
{
	return runs > 0 ? (double)events / runs : 0;
}

/* 1: more on the other side, -1: fewer, 0: the test does not show a difference. */
static int rate_moved(double p, int old, int old_runs, int new, int new_runs)
{
	if (!(p <= RATE_ALPHA))
		return 0;
	return rate(new, new_runs) > rate(old, old_runs) ? 1 : -1;
}

static void test_failures(struct cmp_test *t, size_t variant)
{
	const struct cmp_cell *base, *cell;
	struct cmp_work *w = &t->works[variant];

	if (!t->n_rows)
		return;
	base = &t->rows[0].cells[0];
	cell = &t->rows[0].cells[variant];
	if (!base->failed && !cell->failed)
		return;
	w->fail_p = stats_fisher(base->failed, base->runs, cell->failed, cell->runs);
	w->failed_more =
		rate_moved(w->fail_p, base->failed, base->runs, cell->failed, cell->runs);
}

static void test_events(struct cmp_cell *cell, const struct cmp_cell *base)
{
	cell->event_p = stats_fisher(base->events, base->event_runs, cell->events, cell->event_runs);
	cell->events_more = rate_moved(cell->event_p, base->events, base->event_runs, cell->events,
				       cell->event_runs);
}

/* ---- what the rows say ---- */

static enum verdict untested_reads(const struct comparison *c, const struct cmp_row *row,
				   const struct cmp_cell *cell)
{
	double change = cell->has_change ? cell->change : cell->difference;
	bool lower = row->direction == DIR_LOWER;

	if (isnan(change))
		return cell->points > 0 || cell->points < 0 ? VERDICT_CHANGED : VERDICT_SAME;
	if (cell->has_change ? fabs(change) < c->threshold : change == 0)
		return VERDICT_SAME;
	if ((!lower && row->direction != DIR_HIGHER) || cell->follows_work)
		return VERDICT_CHANGED;
	return (change < 0) == lower ? VERDICT_BETTER : VERDICT_WORSE;
}

static void cell_reads(const struct comparison *c, const struct cmp_row *row, struct cmp_cell *cell,
		       struct cmp_work *w)
{
	bool cost = row->direction == DIR_LOWER && !row->headline && !row->events &&
		    str_starts(row->topic, "Cost");

	cell->follows_work = cost && !isnan(w->change) && !w->same;
	cell->reads = cell->verdict;
	/* of published figures there is nothing else to say; our own runs were too few */
	if (cell->verdict == VERDICT_UNSURE && isnan(cell->test.p) && !cell->values &&
	    (cell->has_mean || cell->has_change))
		cell->reads = untested_reads(c, row, cell);
	else if (cell->follows_work &&
		 (cell->verdict == VERDICT_BETTER || cell->verdict == VERDICT_WORSE))
		cell->reads = VERDICT_CHANGED;
	w->votes += row->headline;
	w->votes_better += row->headline && cell->reads == VERDICT_BETTER;
	w->votes_worse += row->headline && cell->reads == VERDICT_WORSE;
	w->votes_open +=
		row->headline && (cell->reads == VERDICT_CHANGED || cell->reads == VERDICT_UNSURE);
	w->counters += !row->headline;
	w->better += !row->headline && cell->reads == VERDICT_BETTER;
	w->worse += !row->headline && cell->reads == VERDICT_WORSE;
	w->depend += !row->headline && cell->reads == VERDICT_CHANGED;
}

static void cell_clear(struct cmp_cell *cell)
{
	cell->points = cell->difference = cell->per_second = cell->per_work = NAN;
	cell->energy = cell->in_sd = cell->event_p = NAN;
	cell->reads = cell->verdict;
}

static void test_rates(const struct comparison *c, struct cmp_test *t)
{
	size_t v, r;

	for (r = 0; r < t->n_rows; r++)
		for (v = 0; v < c->n_contrasts; v++)
			cell_clear(&t->rows[r].contrasts[v]);
	t->works = arena_alloc_array(c->arena, c->n_variants, sizeof(*t->works));
	for (v = 0; v < c->n_variants; v++) {
		find_work(c, t, v);
		test_failures(t, v);
		for (r = 0; r < t->n_rows; r++) {
			struct cmp_cell *cell = &t->rows[r].cells[v], *base = &t->rows[r].cells[0];

			cell_clear(cell);
			cell_events(&t->rows[r], cell);
			cell_energy(&t->rows[r], cell, &t->works[v], v);
			if (v)
				cell_views(&t->rows[r], cell, base, &t->works[v]);
			if (v && t->rows[r].events)
				test_events(cell, base);
			if (v)
				cell_reads(c, &t->rows[r], cell, &t->works[v]);
		}
	}
}

/* ---- what the source says in words ---- */

static enum direction metric_direction(const struct builder *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n_metrics; i++)
		if (!strcmp(b->metrics[i].name, name))
			return b->metrics[i].direction;
	return b->opt->direction_of ? b->opt->direction_of(b->opt->direction_data, name)
				    : DIR_UNKNOWN;
}

/* "stated.aim7.jobs-per-min" = "+17.9%" */
static void build_stated(struct builder *b)
{
	static const char prefix[] = "stated.";
	struct comparison *c = b->c;
	const struct db_fact *f;

	c->subject = "";
	c->stated = arena_alloc_array(b->a, b->facts.n, sizeof(*c->stated));
	array_for_each (f, &b->facts) {
		struct span number = span_of(f->value);
		double percent;

		if (!strcmp(f->key, "subject"))
			c->subject = f->value;
		if (!str_starts(f->key, prefix) || !str_ends(f->value, "%"))
			continue;
		number.len--;
		if (number.len && *number.s == '+')
			number = (struct span){number.s + 1, number.len - 1};
		if (!num_parse(number, &percent))
			continue;
		c->stated[c->n_stated++] =
			(struct cmp_stated){f->key + strlen(prefix), f->value, percent / 100,
					    metric_direction(b, f->key + strlen(prefix))};
	}
}

void build_rates(struct builder *b)
{
	struct comparison *c = b->c;
	size_t t;

	c->topics = b->opt->topics;
	c->n_topics = b->opt->n_topics;
	for (t = 0; t < c->n_tests; t++)
		test_rates(c, &c->tests[t]);
	build_stated(b);
}
