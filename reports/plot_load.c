// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures against the load: clients, groups, whatever number the rows of a table run along. On the
 * left as measured, on the right the change against A, which the left one is too coarse for.
 */
#include <math.h>

#include "reports/panel.h"

static bool has_load(const struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (isnan(t->rows[i].axis))
			return false;
	return t->n > 1 && t->metric && *t->axis;
}

static void load_axis(struct panel *n, const struct view_table *t)
{
	_cleanup_strbuf_ struct strbuf tics = STRBUF_INIT;
	double low = t->rows[0].axis, high = t->rows[t->n - 1].axis;
	size_t i;

	for (i = 0; i < t->n; i++)
		strbuf_addf(&tics, "%s%g", i ? ", " : "", t->rows[i].axis);
	n->xlabel = t->axis;
	if (low > 0) {
		panel_set(n, "logscale x 2");
		panel_set(n, "xrange [%g:%g]", low / 1.3, high * 1.3);
	} else {
		panel_set(n, "xrange [%g:%g]", low - 0.04 * (high - low),
			  high + 0.04 * (high - low));
	}
	panel_set(n, "xtics (%s)", strbuf_str(&tics));
}

/* Points of one load stand a little apart, so that their bars can be told. */
static double apart(const struct plot *p, const struct view_row *r, size_t column, bool log_axis)
{
	size_t n = view_columns(p->c);
	double step = ((double)column - (double)n / 2) / (double)n;

	return log_axis ? r->axis * exp2(0.3 * step) : r->axis;
}

static void add_point(struct plot *p, const struct view_table *t, const struct view_row *r,
		      size_t column, bool interval, struct strbuf *lines)
{
	const struct cmp_cell *cell = view_cell(p->c, r, column);

	if (!plot_wants(p, r->test, r->row) || !plot_has_change(cell) ||
	    (interval && !plot_has_interval(cell)))
		return;
	plot_number(lines, apart(p, r, column, t->rows[0].axis > 0));
	plot_number(lines, 100 * cell->change);
	if (interval) {
		plot_number(lines, 100 * cell->test.low);
		plot_number(lines, 100 * cell->test.high);
	}
	strbuf_addc(lines, '\n');
}

static void draw_changes(struct plot *p, struct panel *n, const struct view_table *t)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	size_t i, k;

	for (k = 1; k < view_columns(p->c); k++) {
		for (i = 0; i < t->n; i++)
			add_point(p, t, &t->rows[i], k, true, &lines);
		if (!plot_is_text(p))
			panel_draw(p, n, &lines, "using 1:2:3:4 with yerrorbars",
				   arena_printf(p->a, "pt 0 lc rgb '%s'", plot_color(k)));
		strbuf_reset(&lines);
		for (i = 0; i < t->n; i++)
			add_point(p, t, &t->rows[i], k, false, &lines);
		panel_draw(p, n, &lines, plot_curve(p), plot_style(p, k, true));
		plot_key(p, k);
	}
}

static void draw_figures(struct plot *p, struct panel *n, const struct view_table *t)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	double low = INFINITY, high = -INFINITY;
	size_t i, k;

	for (k = 0; k < p->c->n_variants; k++) {
		for (i = 0; i < t->n; i++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];

			if (!cell->has_mean || !plot_wants(p, t->rows[i].test, t->rows[i].row))
				continue;
			low = fmin(low, cell->mean);
			high = fmax(high, cell->mean);
			plot_number(&lines, t->rows[i].axis);
			plot_number(&lines, cell->mean);
			strbuf_addc(&lines, '\n');
		}
		panel_draw(p, n, &lines, plot_curve(p), plot_style(p, k, true));
		plot_key(p, k);
	}
	panel_scale(n, low, high);
}

static void load_table(struct plot *p, const struct view_table *t)
{
	const char *title = plot_title(p, t, t->metric);
	struct panel *n = panel_new(p, title);

	if (!n)
		return;
	n->ylabel = plot_axis_words(p, t->metric->unit, t->metric->direction);
	load_axis(n, t);
	draw_figures(p, n, t);
	if (panel_drop_empty(p))
		return;
	n = panel_new(p, title);
	if (!n)
		return;
	n->ylabel = arena_printf(p->a, "change against A, %%; %s",
				 plot_axis_words(p, "", t->metric->direction));
	load_axis(n, t);
	panel_zero(p, n, 'y', 100 * p->c->threshold);
	draw_changes(p, n, t);
	panel_drop_empty(p);
}

static void load_draw(struct plot *p)
{
	const struct comparison *c = p->c;
	size_t i;

	for (i = 0; i < p->view.n; i++)
		if (has_load(&p->view.tables[i]) && plot_wants_table(p, &p->view.tables[i]))
			load_table(p, &p->view.tables[i]);
	p->columns = 2;
	if (c->n_variants < 2)
		return;
	if (!c->tested)
		plot_note(p, "Nothing was tested: the source states too little. Change is new / A "
			     "- 1.");
	else if (!plot_is_text(p))
		plot_note(
			p,
			"Change is new / A - 1, the bar its %g %% interval (%s), the band +-%g %%.",
			100 * c->level, view_tests_text(c, p->a), 100 * c->threshold);
}

/* Three loads make a curve. */
static bool load_fits(const struct comparison *c)
{
	struct view v;
	size_t i;

	view_init(&v, c, c->arena, 0);
	for (i = 0; i < v.n; i++)
		if (v.tables[i].shown && v.tables[i].n > 2 && has_load(&v.tables[i]))
			return true;
	return false;
}

static const struct plot_kind load = {
	.name = "load",
	.summary = "figures and changes against clients, groups and their like",
	.rank = 4,
	.fits = load_fits,
	.draw = load_draw,
	.nothing = "no test case has a swept number to run along",
};
REGISTER(plot_kind, load);
