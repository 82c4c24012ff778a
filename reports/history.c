// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> history. */
#include "reports/history.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/num.h"

/* Half of the distance in points at which two methods mean the same step. */
#define NEAR 1

struct reading {
	struct arena *a;
	const struct history_options *opt;
	enum mean_kind kind;
	const struct db_past *past; /* units of one test case on one machine, in their order */
	size_t n;
};

/* ---- points ---- */

static bool same_point(const struct db_past *x, const struct db_past *y)
{
	return x->variant_id == y->variant_id && !strcmp(x->campaign, y->campaign);
}

static bool is_other(const struct db_past *u, const char *campaign)
{
	return !u->baseline && !u->again && !strcmp(u->campaign, campaign);
}

/* A campaign whose only kernel is its baseline is about that one. Its units stand together. */
static bool has_other(const struct reading *r, size_t i)
{
	const char *campaign = r->past[i].campaign;
	size_t k;

	for (k = i; k < r->n && !strcmp(r->past[k].campaign, campaign); k++)
		if (is_other(&r->past[k], campaign))
			return true;
	for (k = i; k-- > 0 && !strcmp(r->past[k].campaign, campaign);)
		if (is_other(&r->past[k], campaign))
			return true;
	return false;
}

static bool is_wanted(const struct reading *r, size_t i)
{
	const struct db_past *u = &r->past[i];

	if (u->created < r->opt->since)
		return false;
	if (r->opt->variant)
		return !strcmp(u->variant, r->opt->variant);
	return !u->again && (!u->baseline || !has_other(r, i));
}

static void take_points(const struct reading *r, struct history_line *l)
{
	ARRAY_OF(struct history_point) points = {NULL, 0, 0};
	size_t i, to, k;

	for (i = 0; i < r->n; i = to) {
		const struct db_past *u = &r->past[i];
		struct history_point *p;

		for (to = i; to < r->n && same_point(&r->past[to], u); to++)
			;
		if (!is_wanted(r, i))
			continue;
		p = ARRAY_PUSH(&points);
		*p = (struct history_point){.campaign = u->campaign, .variant = u->variant,
					    .release = u->release, .commit = u->commit,
					    .when = u->created, .n = to - i};
		p->values = arena_alloc_array(r->a, p->n, sizeof(*p->values));
		for (k = i; k < to; k++)
			p->values[k - i] = r->past[k].value;
		p->mean = stats_mean(r->kind, p->values, p->n);
		if (isnan(p->mean))
			p->mean = stats_amean(p->values, p->n);
	}
	l->points = arena_copy(r->a, points.items, points.n, sizeof(*points.items));
	l->n = points.n;
	ARRAY_FREE(&points);
}

/* ---- steps and trend ---- */

/* Means by time, logs where all are positive. */
static double *take_means(struct arena *a, struct history_line *l)
{
	double *x = arena_alloc_array(a, l->n + 1, sizeof(*x));
	size_t i;

	l->on_log = true;
	for (i = 0; i < l->n; i++)
		l->on_log &= l->points[i].mean > 0;
	for (i = 0; i < l->n; i++)
		x[i] = l->on_log ? log(l->points[i].mean) : l->points[i].mean;
	return x;
}

static double back(const struct history_line *l, double v)
{
	return l->on_log ? exp(v) : v;
}

static double as_change(const struct history_line *l, double difference)
{
	return l->on_log ? expm1(difference) : difference;
}

static bool is_near(size_t at, const size_t *others, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at + NEAR >= others[i] && others[i] + NEAR >= at)
			return true;
	return false;
}

static void find_steps(struct arena *a, struct history_line *l, const double *x)
{
	size_t most = l->n / STEPS_SEGMENT + 1, n_exact;
	struct stats_step *steps = arena_alloc_array(a, most, sizeof(*steps));
	size_t *exact = arena_alloc_array(a, most, sizeof(*exact));

	l->n_steps = stats_steps(x, l->n, STEPS_P, steps, most);
	n_exact = stats_partition(x, l->n, 0, 0, exact, most);
	l->steps = arena_alloc_array(a, most, sizeof(*l->steps));
	for (size_t i = 0; i < l->n_steps; i++)
		l->steps[i] = (struct history_step){
			.at = steps[i].at,
			.before = back(l, steps[i].before),
			.after = back(l, steps[i].after),
			.change = as_change(l, steps[i].after - steps[i].before),
			.p = steps[i].p,
			.exact = is_near(steps[i].at, exact, n_exact),
		};
}

static size_t end_of(const struct history_line *l, size_t step)
{
	return step + 1 < l->n_steps ? l->steps[step + 1].at : l->n;
}

/* Steps one way, one after the other, that a line describes better, are none. */
static void drop_drift(struct arena *a, struct history_line *l, const double *t, const double *x)
{
	struct history_step *kept = arena_alloc_array(a, l->n_steps + 1, sizeof(*kept));
	size_t *at = arena_alloc_array(a, l->n_steps + 1, sizeof(*at)), n = 0, i, to;

	for (i = 0; i < l->n_steps; i = to) {
		size_t from = i ? l->steps[i - 1].at : 0;

		for (to = i; to < l->n_steps &&
			     (l->steps[to].change > 0) == (l->steps[i].change > 0);
		     to++)
			at[to - i] = l->steps[to].at - from;
		if (stats_is_trend(t + from, x + from, end_of(l, to - 1) - from, at, to - i))
			continue;
		memcpy(kept + n, l->steps + i, (to - i) * sizeof(*kept));
		n += to - i;
	}
	l->steps = kept;
	l->n_steps = n;
}

static void find_trends(struct arena *a, struct history_line *l, const double *t, const double *x)
{
	size_t from = 0, to, i;

	l->trends = arena_alloc_array(a, l->n_steps + 1, sizeof(*l->trends));
	for (i = 0; i <= l->n_steps; i++, from = to) {
		struct stats_course_fit fit;
		double p;

		to = i < l->n_steps ? l->steps[i].at : l->n;
		fit = stats_course(t + from, x + from, to - from);
		if (fit.course != COURSE_TREND)
			continue;
		p = stats_trend(t + from, x + from, to - from).p;
		if (p <= STEPS_P)
			l->trends[l->n_trends++] = (struct history_trend){
				from, to - 1, as_change(l, fit.change), p};
	}
}

static void judge(struct arena *a, struct history_line *l)
{
	double *x = take_means(a, l), *t = arena_alloc_array(a, l->n + 1, sizeof(*t));

	for (size_t i = 0; i < l->n; i++)
		t[i] = (double)(l->points[i].when - l->points[0].when);
	find_steps(a, l, x);
	drop_drift(a, l, t, x);
	find_trends(a, l, t, x);
	l->since = l->n_steps ? l->steps[l->n_steps - 1].at : 0;
	l->level = back(l, stats_amean(x + l->since, l->n - l->since));
}

/* ---- all of it ---- */

static int find_metric(struct db *db, struct arena *a, const char *name, struct db_metric *out,
		       struct err *e)
{
	struct db_metric *list;
	const char **names;
	const char *near;
	size_t n, i;
	int r = db_get_metrics(db, a, &list, &n, e);

	if (r)
		return r;
	names = arena_alloc_array(a, n + 1, sizeof(*names));
	for (i = 0; i < n; i++) {
		names[i] = list[i].name;
		if (strcmp(list[i].name, name))
			continue;
		*out = list[i];
		return 0;
	}
	near = str_suggest(name, names);
	err_add(e, -ENOENT, "nothing of a metric '%s' is stored", name);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	return -ENOENT;
}

static const char *machine_name(struct db *db, struct arena *a, int64_t id)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct db_machine m;

	return id && !db_get_machine(db, a, id, &m, &ignored) ? m.name : "";
}

/* The lines of one metric: n units of it. */
static struct history *build(struct db *db, struct arena *a, const struct db_metric *m,
			     const struct history_options *opt, const struct db_past *past, size_t n)
{
	struct history *h = arena_alloc(a, sizeof(*h));
	size_t i, to;

	*h = (struct history){.metric = m->name, .unit = m->unit, .direction = m->direction};
	h->lines = arena_alloc_array(a, n + 1, sizeof(*h->lines));
	for (i = 0; i < n; i = to) {
		struct history_line *l = &h->lines[h->n_lines];
		struct reading reading = {a, opt, m->mean_kind, &past[i], 0};

		for (to = i; to < n && past[to].case_id == past[i].case_id &&
			     past[to].machine_id == past[i].machine_id;
		     to++)
			reading.n++;
		take_points(&reading, l);
		if (!l->n)
			continue;
		l->test_case = past[i].test_case;
		l->machine = machine_name(db, a, past[i].machine_id);
		judge(a, l);
		h->n_lines++;
	}
	return h;
}

int history_read(struct db *db, struct arena *a, const char *metric,
		 const struct history_options *opt, struct history **out, struct err *e)
{
	struct db_metric m;
	struct db_past *past;
	size_t n;
	int r = find_metric(db, a, metric, &m, e);

	if (!r)
		r = db_get_past(db, a, metric, opt->test_case, opt->machine, &past, &n, e);
	if (r)
		return r;
	*out = build(db, a, &m, opt, past, n);
	if ((*out)->n_lines)
		return 0;
	err_add(e, -ENOENT, "there is no good run of %s%s%s%s%s", metric,
		opt->test_case ? " in " : "", opt->test_case ? opt->test_case : "",
		opt->variant ? " under the name " : "", opt->variant ? opt->variant : "");
	err_hint(e, "`kdelta list` shows what is stored");
	return -ENOENT;
}

int history_read_all(struct db *db, struct arena *a, const struct history_options *opt,
		     struct history **list, size_t *n, struct err *e)
{
	ARRAY_OF(struct history) all = {NULL, 0, 0};
	struct db_metric *metrics;
	struct db_past *past;
	size_t n_past, n_metrics, i, to, m;
	int r = db_get_metrics(db, a, &metrics, &n_metrics, e);

	if (!r)
		r = db_get_past(db, a, NULL, opt->test_case, opt->machine, &past, &n_past, e);
	for (i = 0; !r && i < n_past; i = to) {
		const struct history *h;

		for (to = i; to < n_past && past[to].metric_id == past[i].metric_id; to++)
			;
		for (m = 0; metrics[m].id != past[i].metric_id; m++)
			;
		h = build(db, a, &metrics[m], opt, past + i, to - i);
		if (h->n_lines)
			*ARRAY_PUSH(&all) = *h;
	}
	*list = arena_copy(a, all.items, all.n, sizeof(*all.items));
	*n = all.n;
	ARRAY_FREE(&all);
	return r;
}

const char *history_word(const struct history *h, double change)
{
	if (h->direction != DIR_HIGHER && h->direction != DIR_LOWER)
		return "changed";
	return (change > 0) == (h->direction == DIR_HIGHER) ? "better" : "worse";
}

const char *history_day(struct arena *a, int64_t when)
{
	return arena_strndup(a, num_iso_time(a, when), 10);
}

const char *history_change(struct arena *a, const struct history *h, const struct history_line *l,
			   double change)
{
	return l->on_log ? text_percent(a, change, "%")
			 : arena_printf(a, "%+g %s", change, h->unit);
}

const char *history_kernel(struct arena *a, const struct history_point *p)
{
	const char *name = *p->release ? p->release : p->variant;

	return *p->commit ? arena_printf(a, "%s (%.12s)", name, p->commit) : name;
}
