// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o cover: the paragraph for a cover letter. "No notable change" is never said: a row that reads
 * the same says what could still be hidden in it, an undecided one what would have been seen.
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* Rows named one by one; of more than that only the worse ones are. */
#define NAMED_ROWS 4

struct cover {
	const struct view *v;
	const struct comparison *c;
	struct arena *a;
	struct strbuf *out;
	const char *benchmark;
};

static bool is_mine(const struct cover *k, const struct view_table *t)
{
	return t->shown && !strcmp(t->benchmark, text_ascii(k->a, k->benchmark));
}

static const char *variant_text(const struct cover *k, size_t i)
{
	return text_ascii(k->a, k->c->variants[i].name);
}

/* "1 to 512 clients" of all tables of the benchmark; "" where the axis is no number */
static const char *axis_text(const struct cover *k)
{
	double low = INFINITY, high = -INFINITY;
	const char *axis = "";
	size_t i, r;

	for (i = 0; i < k->v->n; i++) {
		const struct view_table *t = &k->v->tables[i];

		for (r = 0; is_mine(k, t) && r < t->n; r++) {
			if (isnan(t->rows[r].axis))
				return "";
			axis = t->axis;
			low = fmin(low, t->rows[r].axis);
			high = fmax(high, t->rows[r].axis);
		}
	}
	return low < high ? arena_printf(k->a, ", %g to %g %s", low, high, axis) : "";
}

/* Unit and direction that all rows of the benchmark share; *kind too where they have one metric. */
struct common {
	const char *unit;
	enum direction direction;
	const struct cmp_row *metric;
	bool one_unit, one_direction, one_metric;
};

static struct common common_of(const struct cover *k)
{
	struct common all = {NULL, DIR_UNKNOWN, NULL, true, true, true};
	size_t i, r;

	for (i = 0; i < k->v->n; i++) {
		const struct view_table *t = &k->v->tables[i];

		for (r = 0; is_mine(k, t) && r < t->n; r++) {
			const struct cmp_row *row = t->rows[r].row;

			if (!all.metric) {
				all.metric = row;
				all.unit = row->unit;
				all.direction = row->direction;
			}
			all.one_unit &= !strcmp(all.unit, row->unit);
			all.one_direction &= all.direction == row->direction;
			all.one_metric &= !strcmp(all.metric->metric, row->metric);
		}
	}
	return all;
}

/* "tbench (Hmean MB/s, higher is better, 1 to 512 clients) against 5.17-rc1: " */
static void add_opening(const struct cover *k)
{
	struct common all = common_of(k);
	const char *units = k->c->has_n ? view_units_text(k->c, k->a) : "";

	strbuf_addf(k->out, "%s (", text_ascii(k->a, k->benchmark));
	if (all.one_metric && all.metric)
		strbuf_addf(k->out, "%s ", mean_kind_name(all.metric->mean_kind));
	strbuf_addf(k->out, "%s, %s%s%s%s%s) against %s: ",
		    all.one_unit && all.metric ? text_ascii(k->a, view_unit(all.unit))
					       : "each row in its own unit",
		    all.one_direction ? view_direction(all.direction) : "each in its own direction",
		    axis_text(k), *units ? ", " : "", units,
		    *units && !strstr(units, " of ") ? view_a_side(k->c) : "", variant_text(k, 0));
}

/* " on numa 0&1" where the benchmark has tables of several places */
static const char *where_text(const struct cover *k, const struct view_table *t)
{
	return *t->where ? arena_printf(k->a, " on %s", t->where) : "";
}

/* "geometric mean +11.20% on numa 0&1 and +8.67% on numa 0 only" */
static void add_gmeans(const struct cover *k, size_t column)
{
	size_t i, n = 0;

	for (i = 0; i < k->v->n; i++) {
		const struct view_table *t = &k->v->tables[i];
		double g = view_gmean(k->c, t, column, 0, t->n);

		if (!is_mine(k, t) || !t->metric || t->n < 2 || isnan(g))
			continue;
		strbuf_addf(k->out, "%s%s%s", n++ ? ", " : ", geometric mean ",
			    text_percent(k->a, g, "%"), where_text(k, t));
	}
}

/* "rc1+cls (E) is ahead in 20 of 20 rows, geometric mean ...; worst -8.49% at ..." */
static void add_standing(const struct cover *k, size_t variant)
{
	const struct cmp_overall *o = comparison_overall(k->c, k->benchmark, variant);

	strbuf_addf(k->out, "%s (%s) ", variant_text(k, variant), k->c->variants[variant].id);
	if (!o->worst_row) {
		strbuf_adds(k->out, "has no row whose better direction is known");
		return;
	}
	strbuf_addf(k->out, "is ahead in %d of %d rows", o->ahead, o->rows);
	add_gmeans(k, variant);
	if (comparison_orient(o->worst_row->direction, o->worst_change) < 0)
		strbuf_addf(k->out, ", worst %s at %s", text_percent(k->a, o->worst_change, "%"),
			    view_phrase(k->v, o->worst_test, o->worst_row));
}

/* ---- tested rows ---- */

/* What could be hidden in a row that reads the same: the far end of its range. */
static double hidden(const struct cmp_cell *cell)
{
	return fmax(fabs(cell->test.low), fabs(cell->test.high));
}

/* "sys -1.01% [-1.67, -0.40] (better)" */
static void add_row(const struct cover *k, const struct cmp_test *t, const struct cmp_row *row,
		    const struct cmp_cell *cell)
{
	const char *name = view_phrase(k->v, t, row);
	const char *change = view_change(k->a, row, cell, "%"), *range = view_interval(k->a, cell);

	switch (cell->verdict) {
	case VERDICT_SAME:
		strbuf_addf(k->out, "%s the same (no change beyond %s could be hidden)", name,
			    comparison_is_difference(cell)
				    ? view_difference(k->a, row, hidden(cell))
				    : arena_printf(k->a, "%.2g%%", 100 * hidden(cell)));
		break;
	case VERDICT_UNSURE:
		strbuf_addf(k->out, "%s %s undecided", name, change);
		if (cell->detectable > 0)
			strbuf_addf(k->out,
				    " (a change of %.2g%% would have been seen with 80%% power)",
				    100 * cell->detectable);
		break;
	case VERDICT_MISSING:
	case VERDICT_FAILED:
		strbuf_addf(k->out, "%s %s", name, verdict_name(cell->verdict));
		break;
	default:
		strbuf_addf(k->out, "%s %s %s%s%s(%s%s)", name, change, *range ? "[" : "", range,
			    *range ? "] " : "", cell->small ? "small, " : "",
			    verdict_name(cell->verdict));
	}
}

/* Calls for each row that counts in the verdict of the benchmark. */
typedef void (*row_fn)(const struct cover *k, const struct cmp_test *t, const struct cmp_row *row,
		       const struct cmp_cell *cell, void *data);

static void each_row(const struct cover *k, size_t variant, row_fn fn, void *data)
{
	size_t t, r;

	for (t = 0; t < k->c->n_tests; t++)
		for (r = 0; r < k->c->tests[t].n_rows; r++)
			if (!strcmp(k->c->tests[t].benchmark, k->benchmark) &&
			    k->c->tests[t].rows[r].shown)
				fn(k, &k->c->tests[t], &k->c->tests[t].rows[r],
				   &k->c->tests[t].rows[r].cells[variant], data);
}

static void add_each(const struct cover *k, const struct cmp_test *t, const struct cmp_row *row,
		     const struct cmp_cell *cell, void *data)
{
	int *n = data;

	if ((*n)++)
		strbuf_adds(k->out, ", ");
	add_row(k, t, row, cell);
}

static void add_worse(const struct cover *k, const struct cmp_test *t, const struct cmp_row *row,
		      const struct cmp_cell *cell, void *data)
{
	int *n = data;

	if (cell->verdict != VERDICT_WORSE || cell->small)
		return;
	if ((*n)++ >= NAMED_ROWS)
		return;
	strbuf_adds(k->out, ", ");
	add_row(k, t, row, cell);
}

struct limits {
	double same, unsure; /* largest of what could be hidden */
	int n_same, n_unsure, n_changed;
};

static void take_limits(const struct cover *k, const struct cmp_test *t, const struct cmp_row *row,
			const struct cmp_cell *cell, void *data)
{
	struct limits *l = data;

	(void)k, (void)t, (void)row;
	l->n_changed += cell->verdict == VERDICT_CHANGED;
	if (!cell->test.on_log || isnan(cell->test.low))
		return;
	if (cell->verdict == VERDICT_SAME) {
		l->same = fmax(l->same, hidden(cell));
		l->n_same++;
	} else if (cell->verdict == VERDICT_UNSURE) {
		l->unsure = fmax(l->unsure, hidden(cell));
		l->n_unsure++;
	}
}

static void add_counts(const struct cover *k, const struct cmp_overall *o)
{
	struct limits l = {0, 0, 0, 0, 0};
	int n = 0;

	strbuf_addf(k->out, "better in %d, worse in %d of %d rows", o->better, o->worse, o->rows);
	if (o->small)
		strbuf_addf(k->out, ", real but small in %d", o->small);
	if (isfinite(o->gmean) && isfinite(o->low))
		strbuf_addf(k->out, ", geometric mean %s [%s, %s] (+ is better)",
			    text_percent(k->a, o->gmean, "%"), text_percent(k->a, o->low, ""),
			    text_percent(k->a, o->high, ""));
	each_row(k, (size_t)o->variant, add_worse, &n);
	if (n > NAMED_ROWS)
		strbuf_addf(k->out, " and %d more worse", n - NAMED_ROWS);
	each_row(k, (size_t)o->variant, take_limits, &l);
	if (l.n_changed)
		strbuf_addf(k->out, ", changed in %d whose better direction is not known",
			    l.n_changed);
	if (l.n_same)
		strbuf_addf(k->out,
			    ", the same in %d (no change beyond %.2g%% could be hidden there)",
			    l.n_same, 100 * l.same);
	if (l.n_unsure)
		strbuf_addf(k->out, ", undecided in %d (up to %.2g%% could be hidden there)",
			    l.n_unsure, 100 * l.unsure);
	if (o->missing || o->failed)
		strbuf_addf(k->out, ", %d failed and %d missing", o->failed, o->missing);
}

static void add_verdict(const struct cover *k, size_t variant)
{
	const struct cmp_overall *o = comparison_overall(k->c, k->benchmark, variant);
	int n = 0;

	strbuf_addf(k->out, "%s (%s) ", variant_text(k, variant), k->c->variants[variant].id);
	if (o->rows > NAMED_ROWS)
		add_counts(k, o);
	else
		each_row(k, variant, add_each, &n);
}

/* ---- contrasts and what is not known ---- */

/* "D against E: ahead in 12 of 20 rows, from -2.11% (...) to +8.62% (...)" */
static void add_contrast(const struct cover *k, size_t contrast)
{
	const struct cmp_contrast *pair = &k->c->contrasts[contrast];
	double low = INFINITY, high = -INFINITY;
	const char *at_low = "", *at_high = "";
	size_t i, r, column = k->c->n_variants + contrast;
	int ahead = 0, n = 0;

	for (i = 0; i < k->v->n; i++) {
		const struct view_table *t = &k->v->tables[i];

		for (r = 0; is_mine(k, t) && r < t->n; r++) {
			const struct cmp_cell *cell = view_cell(k->c, &t->rows[r], column);
			const char *name;

			if (!cell->has_change)
				continue;
			n++;
			ahead += comparison_orient(t->rows[r].row->direction, cell->change) > 0;
			name = view_phrase(k->v, t->rows[r].test, t->rows[r].row);
			if (cell->change < low)
				low = cell->change, at_low = name;
			if (cell->change > high)
				high = cell->change, at_high = name;
		}
	}
	if (n)
		strbuf_addf(k->out,
			    " %s against %s: ahead in %d of %d rows, from %s (%s) to %s (%s).",
			    k->c->variants[pair->top].id, k->c->variants[pair->bottom].id, ahead, n,
			    text_percent(k->a, low, "%"), at_low, text_percent(k->a, high, "%"),
			    at_high);
}

static void add_untested(const struct cover *k)
{
	struct view_lone lone;
	const char *what = !k->c->has_n && !k->c->has_spread ? "Runs and spread are"
			   : !k->c->has_n		     ? "The number of runs is"
			   : !k->c->has_spread		     ? "The spread is"
							     : NULL;

	if (what)
		strbuf_addf(k->out, " %s not stated, so nothing here is tested", what);
	else
		strbuf_addf(k->out, " %s are too few for a test", view_units_text(k->c, k->a));
	if (view_find_lone(k->v, &lone)) {
		const struct view_row *r = &lone.table->rows[lone.row];

		strbuf_addf(k->out, "; the %s cell (%s, %s) should be run again first",
			    text_percent(k->a, r->row->cells[lone.variant].change, "%"),
			    k->c->variants[lone.variant].id, view_phrase(k->v, r->test, r->row));
	}
	strbuf_addc(k->out, '.');
}

/* " Besides the kernel these differ: frequency governor (performance, powersave)." */
static void add_differences(const struct cover *k)
{
	const struct comparison *c = k->c;
	size_t i, v;

	for (i = 0; i < c->n_differences; i++) {
		strbuf_addf(k->out, "%s%s (", i ? ", " : " Besides the kernel these differ: ",
			    c->differences[i].title);
		for (v = 0; v < c->n_variants; v++)
			strbuf_addf(k->out, "%s%s", v ? ", " : "",
				    text_ascii(k->a, c->differences[i].told[v]));
		strbuf_adds(k->out, i + 1 < c->n_differences ? ")" : ").");
	}
}

static void add_benchmark(const struct cover *k)
{
	size_t i;

	add_opening(k);
	for (i = 1; i < k->c->n_variants; i++) {
		if (i > 1)
			strbuf_adds(k->out, "; ");
		if (k->c->tested)
			add_verdict(k, i);
		else
			add_standing(k, i);
	}
	strbuf_addc(k->out, '.');
	for (i = 0; i < k->c->n_contrasts; i++)
		add_contrast(k, i);
}

static int cover_render(const struct comparison *c, const struct report_options *opt,
			struct strbuf *out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;
	/* one column is kept for the guard */
	struct text t = {c->arena, &report, (opt->width ? opt->width : MAIL_WIDTH) - 1, false};
	struct view v;
	size_t i;

	(void)e;
	view_init(&v, c, c->arena, opt->split);
	if (c->counting) {
		text_block(&t, NULL, "Counted, not timed: %s.", comparison_limit(c));
		text_blank(&t);
	}
	for (i = 0; i < c->n_overall; i++) {
		_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
		struct cover k = {&v, c, c->arena, &words, c->overall[i].benchmark};
		bool last = true;
		size_t later;

		if (i && !strcmp(c->overall[i].benchmark, c->overall[i - 1].benchmark))
			continue;
		for (later = i + 1; later < c->n_overall; later++)
			last &= !strcmp(c->overall[later].benchmark, c->overall[i].benchmark);
		if (i)
			text_blank(&t);
		add_benchmark(&k);
		if (last && !c->tested)
			add_untested(&k);
		if (last)
			add_differences(&k);
		text_block(&t, NULL, "%s", strbuf_str(&words));
	}
	mail_guard(strbuf_str(&report), out);
	return 0;
}

static const struct report_format cover = {
	.name = "cover",
	.summary = "the paragraph for a cover letter",
	.blocks = true,
	.render = cover_render,
};
REGISTER(report_format, cover);
