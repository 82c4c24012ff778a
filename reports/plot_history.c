// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of the comparison over all campaigns that compare with it (its machine, backend and
 * kind of unit): every unit, and the median of each kernel in each campaign, in UTC.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/panel.h"

/* What one kernel gave in one campaign. */
struct past {
	const struct cmp_test *test;
	const struct cmp_row *row;
	int variant; /* index in the comparison, -1: another kernel */
	int64_t when;
	const double *values;
	size_t n;
	double median;
};

struct history {
	struct past *items;
	size_t n, alloc;
	size_t campaigns;
};

/* ---- database -> history ---- */

static bool find_row(const struct comparison *c, const struct db_unit *u, struct past *out)
{
	size_t t, r;

	for (t = 0; t < c->n_tests; t++) {
		if (c->tests[t].db_id != u->case_id)
			continue;
		for (r = 0; r < c->tests[t].n_rows; r++) {
			if (c->tests[t].rows[r].db_id != u->metric_id)
				continue;
			out->test = &c->tests[t];
			out->row = &c->tests[t].rows[r];
			return true;
		}
	}
	return false;
}

static bool same_group(const struct db_unit *x, const struct db_unit *y)
{
	return x->case_id == y->case_id && x->metric_id == y->metric_id &&
	       x->variant_id == y->variant_id;
}

static int read_campaign(struct db *db, const struct comparison *c, const struct db_campaign *camp,
			 struct history *h, struct err *e)
{
	struct db_unit *u;
	size_t n, i, to, k;
	bool any = false;
	int r = db_get_units(db, c->arena, camp->id, &u, &n, e);

	for (i = 0; !r && i < n; i = to) {
		struct past past = {.when = camp->created};
		double *values;

		for (to = i; to < n && same_group(&u[to], &u[i]); to++)
			;
		if (!find_row(c, &u[i], &past))
			continue;
		values = arena_alloc_array(c->arena, to - i, sizeof(*values));
		for (k = i; k < to; k++)
			values[k - i] = u[k].value;
		past.variant = comparison_variant_of(c, u[i].variant_id);
		past.values = values;
		past.n = to - i;
		past.median = stats_median(values, past.n);
		*ARRAY_PUSH(h) = past;
		any = true;
	}
	h->campaigns += any;
	return r;
}

static bool compares(const struct db_campaign *x, const struct db_campaign *y)
{
	return x->machine_id == y->machine_id && str_equal(x->backend, y->backend) &&
	       str_equal(x->accelerator, y->accelerator) && str_equal(x->unit, y->unit);
}

static int past_compare(const void *x, const void *y)
{
	const struct past *a = x, *b = y;

	return (a->when > b->when) - (a->when < b->when);
}

static int history_read(struct db *db, const struct comparison *c, const struct plot_options *opt,
			void **data, struct err *e)
{
	struct history h = {NULL, 0, 0, 0}, *kept;
	struct db_campaign home, *list;
	size_t n, i;
	int r = db_find_campaign(db, c->arena, c->campaigns[0], &home, e);

	(void)opt;
	if (!r)
		r = db_get_campaigns(db, c->arena, &list, &n, e);
	for (i = 0; !r && i < n; i++)
		if (compares(&list[i], &home))
			r = read_campaign(db, c, &list[i], &h, e);
	if (h.n)
		qsort(h.items, h.n, sizeof(*h.items), past_compare);
	kept = arena_copy(c->arena, &h, 1, sizeof(h));
	kept->items = arena_copy(c->arena, h.items, h.n, sizeof(*h.items));
	ARRAY_FREE(&h);
	*data = kept;
	return r;
}

/* ---- history -> panels ---- */

static const char *other_style(struct plot *p, bool median)
{
	if (plot_is_text(p))
		return median ? "pt 'O'" : "pt 'o'";
	return median ? "pt 7 ps 0.8 lc rgb '#888888'" : "pt 6 ps 0.5 lc rgb '#bbbbbb'";
}

static void draw_kernel(struct plot *p, struct panel *n, const struct history *h,
			const struct cmp_row *row, int variant)
{
	_cleanup_strbuf_ struct strbuf units = STRBUF_INIT, medians = STRBUF_INIT;
	const struct past *past;
	size_t i;

	array_for_each (past, h) {
		if (past->row != row || past->variant != variant)
			continue;
		for (i = 0; i < past->n; i++) {
			strbuf_addf(&units, "%" PRId64, past->when);
			plot_number(&units, past->values[i]);
			strbuf_addc(&units, '\n');
		}
		strbuf_addf(&medians, "%" PRId64, past->when);
		plot_number(&medians, past->median);
		strbuf_addc(&medians, '\n');
	}
	if (!units.len)
		return;
	panel_draw(p, n, &units, "using 1:2 with points",
		   variant < 0 ? other_style(p, false) : plot_style(p, (size_t)variant, false));
	panel_draw(p, n, &medians, variant < 0 ? "using 1:2 with points" : plot_curve(p),
		   variant < 0 ? other_style(p, true) : plot_style(p, (size_t)variant, true));
	if (variant < 0)
		p->others = true;
	else
		plot_key(p, (size_t)variant);
}

/* Dates below the campaigns themselves, as many as have room. */
static void draw_times(struct plot *p, struct panel *n, const struct history *h,
		       const struct cmp_row *row)
{
	_cleanup_strbuf_ struct strbuf tics = STRBUF_INIT;
	size_t most = plot_is_text(p) ? (size_t)p->opt->width / 20 : 5;
	int64_t first = h->items[0].when, last = h->items[h->n - 1].when, before = INT64_MIN;
	int64_t gap = (last - first) / (int64_t)most;
	const struct past *past;

	array_for_each (past, h) {
		if (past->row != row || (before != INT64_MIN && past->when - before <= gap))
			continue;
		strbuf_addf(&tics, "%s%" PRId64, tics.len ? ", " : "", past->when);
		before = past->when;
	}
	panel_set(n, "xtics time format '%s' (%s)",
		  last - first < 4 * 86400 ? "%d %b %H:%M" : "%d %b %Y", strbuf_str(&tics));
}

static void draw_row(struct plot *p, const struct history *h, const struct cmp_test *t,
		     const struct cmp_row *row)
{
	struct panel *n =
		panel_new(p, arena_printf(p->a, "%s %s", t->name, comparison_metric_name(row)));
	int i;

	if (!n)
		return;
	draw_times(p, n, h, row);
	panel_set(n, "offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05");
	n->ylabel = plot_axis_words(p, row->unit, row->direction);
	for (i = -1; i < (int)p->c->n_variants; i++)
		draw_kernel(p, n, h, row, i);
	panel_drop_empty(p);
}

static void history_draw(struct plot *p)
{
	const struct history *h = p->data;
	const struct comparison *c = p->c;
	size_t t, r;

	if (h->campaigns < 2)
		return;
	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			if (plot_wants(p, &c->tests[t], &c->tests[t].rows[r]))
				draw_row(p, h, &c->tests[t], &c->tests[t].rows[r]);
	plot_note(p,
		  "%zu campaigns of this machine, by the day they began (UTC). %s: every %s; %s: "
		  "the median of a kernel in a campaign.",
		  h->campaigns, plot_is_text(p) ? "Small letters" : "Open",
		  view_unit_word(c, false), plot_is_text(p) ? "capital" : "filled");
}

static const struct plot_kind history = {
	.name = "history",
	.summary = "every row over all campaigns that compare with this one",
	.read = history_read,
	.draw = history_draw,
	.nothing = "only one campaign of this machine has these rows",
};
REGISTER(plot_kind, history);
