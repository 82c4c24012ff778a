// SPDX-License-Identifier: GPL-2.0-or-later
/* What selftest measured: for people, and as JSON. */
#include <string.h>

#include "core/json.h"
#include "reports/selftest.h"

/* A name longer than this stands on a line of its own, above its figures. */
#define NAME_MAX_WIDTH 20

/* ---- words ---- */

static const char *percent(struct arena *a, double share)
{
	return arena_printf(a, "%.1f%%", 100 * share);
}

/* "2.1..8.8%" */
static const char *range(struct arena *a, const struct selftest_rate *r)
{
	return arena_printf(a, "%.1f..%.1f%%", 100 * r->low, 100 * r->high);
}

static const char *verdict_word(const struct selftest_rate *r)
{
	static const char *const words[] = {
		[SELFTEST_NONE] = "",
		[SELFTEST_CONSISTENT] = "ok",
		[SELFTEST_FEWER] = "fewer",
		[SELFTEST_MORE] = "HIGH",
	};

	return words[r->verdict];
}

static enum text_color verdict_color(const struct selftest_rate *r)
{
	return r->verdict == SELFTEST_MORE ? COLOR_RED : COLOR_NONE;
}

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

static void print_verdict(const struct selftest *s, struct text *t)
{
	bool arms = !s->all.random.tests || (s->all.arms.verdict == SELFTEST_MORE &&
					     s->all.random.verdict != SELFTEST_MORE);
	const struct selftest_rate *r = arms ? &s->all.arms : &s->all.random;
	static const char *const words[] = {
		[SELFTEST_CONSISTENT] = "AS PROMISED",
		[SELFTEST_FEWER] = "FEWER THAN PROMISED",
		[SELFTEST_MORE] = "TOO MANY",
	};
	static const char *const against[] = {
		[SELFTEST_CONSISTENT] = "consistent with",
		[SELFTEST_FEWER] = "below",
		[SELFTEST_MORE] = "above",
	};
	const char *of = arms ? "pairs of second arms" : "random splits";

	text_block(t, NULL,
		   "False alarms: %s. Where nothing differs, %s of %d %s are marked before "
		   "correction, 95%% interval %s: %s the nominal %g%% (up to %g%% with few runs).",
		   words[r->verdict], percent(t->a, r->rate), r->tests, of, range(t->a, r),
		   against[r->verdict], 100 * s->nominal, 100 * SELFTEST_MOST);
}

static void print_too_many(const struct selftest *s, struct text *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].random.verdict == SELFTEST_MORE)
			strbuf_addf(&sb, "%s%s", sb.len ? ", " : "",
				    text_ascii(t->a, s->metrics[i].metric));
	if (sb.len)
		text_block(t, NULL,
			   "Too many in: %s. Runs that spread more than older campaigns let "
			   "expect, or a few far off: take 10 runs a side there.",
			   strbuf_str(&sb));
	if (s->all.arms.verdict == SELFTEST_MORE)
		text_block(t, NULL,
			   "One kernel under two names differs too often: something else changes "
			   "between their runs, such as a drift of the machine.");
}

static void print_method(const struct selftest *s, struct text *t)
{
	text_block(t, "method",
		   "units of %d variant%s of %d campaign%s, each split at random into halves %d "
		   "time%s (seed %llu) and compared as two kernels are",
		   s->variants, plural(s->variants), s->campaigns, plural(s->campaigns),
		   s->options.splits, plural(s->options.splits),
		   (unsigned long long)s->options.seed);
	text_block(t, "cells", "sets of values that share none; units: values of one cell. ok: as "
				 "promised; HIGH: more false alarms than promised");
	text_block(t, "rate",
		   "share of tests with p <= %g; range: its 95%% binomial interval "
		   "(Clopper-Pearson). Splits of the same values depend on each other, so the "
		   "range counts as many tests as the spread between cells is worth, at least "
		   "one a cell",
		   s->nominal);
}

/* ---- tables ---- */

static void add_head(struct grid *g, bool units, const char *cells)
{
	struct grid_cell *head = grid_row(g);
	size_t k;

	for (k = 1; k < g->columns; k++)
		g->gap[k] = 1;
	k = 0;
	head[k++] = (struct grid_cell){"metric", true, false, COLOR_NONE};
	head[k++].text = cells;
	if (units)
		head[k++].text = "units";
	head[k++].text = "tests";
	head[k++].text = "marked";
	head[k++].text = "rate";
	head[k++].text = "range";
	head[k] = (struct grid_cell){"", true, false, COLOR_NONE};
}

static const char *units_text(struct arena *a, const struct selftest_metric *m)
{
	return m->units_low == m->units_high
		       ? arena_printf(a, "%d", m->units_high)
		       : arena_printf(a, "%d-%d", m->units_low, m->units_high);
}

static void add_rate(struct grid *g, const char *name, const struct selftest_metric *m,
		     const struct selftest_rate *r, bool units)
{
	struct grid_cell *cells = grid_row(g);
	size_t k = 0;

	if (!r->tests)
		return;
	cells[k] = (struct grid_cell){name, true, false, COLOR_NONE};
	if (strlen(name) > NAME_MAX_WIDTH) {
		cells[k].over = true;
		cells = grid_row(g);
	}
	cells[++k].text = arena_printf(g->a, "%d", r->cells);
	if (units)
		cells[++k].text = m->units_high ? units_text(g->a, m) : NULL;
	cells[++k].text = arena_printf(g->a, "%d", r->tests);
	cells[++k].text = arena_printf(g->a, "%d", r->marked);
	cells[++k].text = percent(g->a, r->rate);
	cells[++k].text = range(g->a, r);
	cells[++k] = (struct grid_cell){verdict_word(r), true, false, verdict_color(r)};
}

static void print_random(const struct selftest *s, struct text *t)
{
	_cleanup_grid_ struct grid g;
	size_t i;

	if (!s->all.random.tests)
		return;
	text_blank(t);
	grid_init(&g, t->a, 8);
	add_head(&g, true, "cells");
	for (i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].random.tests)
			add_rate(&g, text_ascii(t->a, s->metrics[i].metric), &s->metrics[i],
				 &s->metrics[i].random, true);
	if (s->n_metrics > 1)
		add_rate(&g, "all", &s->all, &s->all.random, true);
	grid_print(&g, t);
	if (s->tables.random.tests)
		text_block(t, "tables",
			   "%s of %d tables of headline rows carry any mark after correction, at "
			   "most %g%% promised (range %s, %s)",
			   percent(t->a, s->tables.random.rate), s->tables.random.tests,
			   100 * s->nominal, range(t->a, &s->tables.random),
			   verdict_word(&s->tables.random));
}

static void print_ordered(const struct selftest *s, struct text *t)
{
	const struct selftest_rate *r = &s->all.ordered;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (!r->tests)
		return;
	for (i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].ordered.verdict == SELFTEST_MORE)
			strbuf_addf(&sb, "%s%s (%d of %d)", sb.len ? ", " : "",
				    text_ascii(t->a, s->metrics[i].metric),
				    s->metrics[i].ordered.marked, s->metrics[i].ordered.tests);
	text_blank(t);
	text_block(t, "order",
		   "random halves share a drift and cannot see it. First half of the blocks "
		   "against the second: %d of %d cells marked (%s, range %s)%s%s. %s",
		   r->marked, r->tests, percent(t->a, r->rate), range(t->a, r),
		   sb.len ? ", too many in " : "", strbuf_str(&sb),
		   r->verdict == SELFTEST_MORE || sb.len
			   ? "THE MACHINE DRIFTS: kernels measured one after the other differ by that "
			     "alone, so interleave them"
			   : "No drift is seen");
}

static void print_arms(const struct selftest *s, struct text *t)
{
	_cleanup_grid_ struct grid g;
	size_t i;

	text_blank(t);
	if (!s->all.arms.tests) {
		text_block(t, "arms",
			   "no campaign has one kernel under two names (same_as), which is the real "
			   "test: its runs are interleaved like those of two kernels");
		return;
	}
	text_block(t, "arms", "one kernel under two names, measured like two kernels");
	grid_init(&g, t->a, 7);
	add_head(&g, false, "pairs");
	for (i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].arms.tests)
			add_rate(&g, text_ascii(t->a, s->metrics[i].metric), &s->metrics[i],
				 &s->metrics[i].arms, false);
	if (s->n_metrics > 1)
		add_rate(&g, "all", &s->all, &s->all.arms, false);
	grid_print(&g, t);
	text_block(t, "tables", "%d of %d tables carry any mark after correction",
		   s->tables.arms.marked, s->tables.arms.tests);
}

void selftest_print(const struct selftest *s, struct text *t)
{
	print_verdict(s, t);
	print_too_many(s, t);
	text_blank(t);
	print_method(s, t);
	print_random(s, t);
	print_ordered(s, t);
	print_arms(s, t);
}

/* ---- JSON ---- */

static json_t *json_rate(const struct selftest_rate *r)
{
	return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:s}", "cells", r->cells, "tests",
			 r->tests, "marked", r->marked, "rate", json_number_or_null(r->rate),
			 "ci_low", json_number_or_null(r->low), "ci_high",
			 json_number_or_null(r->high), "worth",
			 r->tests ? json_real(r->worth) : json_null(), "verdict",
			 selftest_verdict_name(r->verdict));
}

static json_t *json_rates(const struct selftest_metric *m)
{
	json_t *o = json_object();

	if (m->metric)
		json_object_set_new(o, "metric", json_string(m->metric));
	if (m->units_high) {
		json_object_set_new(o, "units_low", json_integer(m->units_low));
		json_object_set_new(o, "units_high", json_integer(m->units_high));
	}
	json_object_set_new(o, "random", json_rate(&m->random));
	json_object_set_new(o, "ordered", json_rate(&m->ordered));
	json_object_set_new(o, "arms", json_rate(&m->arms));
	return o;
}

void selftest_add_json(const struct selftest *s, struct strbuf *out)
{
	json_t *metrics = json_array(), *root;
	size_t i;

	for (i = 0; i < s->n_metrics; i++)
		json_array_append_new(metrics, json_rates(&s->metrics[i]));
	root = json_pack("{s:s, s:I, s:i, s:f, s:i, s:i, s:i, s:o, s:o, s:o}", "schema",
			 "kdelta.selftest/1", "seed", (json_int_t)s->options.seed, "splits",
			 s->options.splits, "nominal", s->nominal, "campaigns", s->campaigns,
			 "variants", s->variants, "most_units", s->most_units, "metrics", metrics,
			 "all", json_rates(&s->all), "tables", json_rates(&s->tables));
	json_add_lines(out, root, 17);
}
