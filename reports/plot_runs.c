// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every unit's value: one panel per table of the report. Values stand from left to right in the
 * order of their blocks, so that a drift shows; a bar is the mean, with the interval of the change
 * against A. Several rows in a panel share the scale "against A's mean"; one alone has its unit.
 */
#include <math.h>
#include <string.h>

#include "reports/panel.h"

struct runs {
	struct plot *p;
	struct panel *n;
	bool relative;
};

/* What a value is on the panel's axis; NAN: it has no place there. */
static double scaled(const struct runs *s, const struct cmp_row *row, double v)
{
	const struct cmp_cell *base = &row->cells[0];

	if (!s->relative)
		return v;
	return base->has_mean && base->mean > 0 ? 100 * (v / base->mean - 1) : NAN;
}

/* Rows stand at 1, 2, ..., their variants beside each other; a row alone: its variants do. */
static double place(const struct runs *s, size_t at, size_t variant)
{
	size_t n = s->p->c->n_variants;

	if (!s->relative)
		return 1 + (double)variant;
	return (double)at + 0.8 * (((double)variant + 0.5) / (double)n - 0.5);
}

static double width_of(const struct runs *s)
{
	return s->relative ? 0.8 / (double)s->p->c->n_variants * 0.7 : 0.5;
}

static void add_values(struct runs *s, const struct cmp_row *row, const struct cmp_cell *cell,
		       double x, struct strbuf *lines)
{
	double step = cell->n > 1 ? width_of(s) / (cell->n - 1) : 0;
	int i;

	for (i = 0; cell->values && i < cell->n; i++) {
		double y = scaled(s, row, cell->values[i]);

		if (!isfinite(y))
			continue;
		plot_number(lines, x + step * (i - (cell->n - 1) / 2.0));
		plot_number(lines, y);
		strbuf_addc(lines, '\n');
	}
}

static void add_mean(struct runs *s, const struct cmp_row *row, const struct cmp_cell *cell,
		     double x, struct strbuf *lines)
{
	double y = cell->has_mean ? scaled(s, row, cell->mean) : NAN;

	if (!isfinite(y))
		return;
	plot_number(lines, x);
	plot_number(lines, y);
	plot_number(lines, width_of(s) / 2 + 0.02);
	strbuf_addc(lines, '\n');
}

/* The interval of the change, put on the scale of the panel. */
static void add_interval(struct runs *s, const struct cmp_row *row, const struct cmp_cell *cell,
			 double x, struct strbuf *lines)
{
	const struct cmp_cell *base = &row->cells[0];
	const struct test_result *t = &cell->test;
	double mean, low, high;

	if (!cell->variant || !cell->has_mean || !base->has_mean || !isfinite(t->low) ||
	    !isfinite(t->high))
		return;
	mean = scaled(s, row, cell->mean);
	low = scaled(s, row, t->on_log ? base->mean * (1 + t->low) : base->mean + t->low);
	high = scaled(s, row, t->on_log ? base->mean * (1 + t->high) : base->mean + t->high);
	if (!isfinite(mean) || !isfinite(low) || !isfinite(high))
		return;
	plot_number(lines, x);
	plot_number(lines, mean);
	plot_number(lines, low);
	plot_number(lines, high);
	strbuf_addc(lines, '\n');
}

typedef void (*add_fn)(struct runs *s, const struct cmp_row *row, const struct cmp_cell *cell,
		       double x, struct strbuf *lines);

static void draw_each(struct runs *s, const struct view_table *t, size_t variant, add_fn add,
		      const char *how, const char *style)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	size_t i, at = 0;

	for (i = 0; i < t->n; i++)
		if (plot_wants(s->p, t->rows[i].test, t->rows[i].row))
			add(s, t->rows[i].row, &t->rows[i].row->cells[variant],
			    place(s, ++at, variant), &lines);
	panel_draw(s->p, s->n, &lines, how, style);
}

static void draw_variant(struct runs *s, const struct view_table *t, size_t variant)
{
	struct plot *p = s->p;
	const char *color = plot_color(variant);

	if (plot_is_text(p)) {
		draw_each(s, t, variant, add_values, "using 1:2 with points",
			  plot_style(p, variant, false));
		draw_each(s, t, variant, add_mean, "using 1:2 with points",
			  plot_style(p, variant, true));
		return;
	}
	/* vectors: an error bar leaves a hole where its point would be */
	draw_each(s, t, variant, add_interval, "using 1:3:(0):($4-$3) with vectors nohead",
		  arena_printf(p->a, "lw 1.5 lc rgb '%s'", color));
	draw_each(s, t, variant, add_mean, "using ($1-$3):2:(2*$3):(0) with vectors nohead",
		  arena_printf(p->a, "lw 3 lc rgb '%s'", color));
	draw_each(s, t, variant, add_values, "using 1:2 with points",
		  plot_style(p, variant, false));
}

static void name_failures(struct runs *s, const struct view_table *t)
{
	struct plot *p = s->p;
	size_t i, k, at = 0;

	for (i = 0; i < t->n; i++) {
		if (!plot_wants(p, t->rows[i].test, t->rows[i].row))
			continue;
		at++;
		for (k = 0; k < p->c->n_variants; k++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];

			if (cell->has_mean || cell->n)
				continue;
			panel_label(p, s->n,
				    arena_printf(p->a, "%s %s", p->c->variants[k].id,
						 cell->failed ? "failed" : "no run"),
				    arena_printf(p->a, "first %g, graph 0.04 %s", place(s, at, k),
						 plot_is_text(p)
							 ? "center"
							 : arena_printf(p->a, "rotate by 90 left%s",
									plot_font(p, 11,
										  plot_color(k)))));
		}
	}
}

static void draw_axes(struct runs *s, const struct view_table *t, size_t rows)
{
	struct plot *p = s->p;
	const char **labels =
		arena_alloc_array(p->a, MAX(rows, p->c->n_variants) + 1, sizeof(*labels));
	size_t i, n = 0, last = s->relative ? rows : p->c->n_variants;

	for (i = 0; i < t->n; i++) {
		const struct view_row *r = &t->rows[i];

		if (!plot_wants(p, r->test, r->row))
			continue;
		labels[n++] = r->label;
	}
	if (!s->relative)
		for (i = 0; i < p->c->n_variants; i++)
			labels[i] = p->c->variants[i].id;
	panel_tics(p, s->n, 'x', labels, last);
	panel_set(s->n, "xrange [0.5:%g]", (double)last + 0.5);
	if (s->relative)
		panel_zero(p, s->n, 'y', 100 * p->c->threshold);
}

/* The only wanted row of a table, or NULL where there are several. */
static const struct view_row *only_row(const struct plot *p, const struct view_table *t, size_t *n)
{
	const struct view_row *found = NULL;
	size_t i;

	for (*n = i = 0; i < t->n; i++) {
		if (!plot_wants(p, t->rows[i].test, t->rows[i].row))
			continue;
		found = &t->rows[i];
		++*n;
	}
	return *n == 1 ? found : NULL;
}

/* "lower is better: wakeup.p99, request.p99; higher is better: average_rps" of rows of metrics */
static const char *directions_text(const struct plot *p, const struct view_table *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	enum direction d;
	size_t i;

	for (d = DIR_HIGHER; d <= DIR_UNKNOWN; d++) {
		bool any = false;

		for (i = 0; i < t->n; i++) {
			const struct view_row *r = &t->rows[i];

			if (r->row->direction != d || !plot_wants(p, r->test, r->row))
				continue;
			if (any)
				strbuf_adds(&sb, ", ");
			else
				strbuf_addf(&sb, "%s%s: ", sb.len ? "; " : "", view_direction(d));
			strbuf_adds(&sb, r->label);
			any = true;
		}
	}
	return arena_strdup(p->a, strbuf_str(&sb));
}

static void runs_table(struct plot *p, const struct view_table *t)
{
	struct runs s = {.p = p};
	size_t rows, k;
	const struct view_row *only = only_row(p, t, &rows);
	const struct cmp_row *one = only ? only->row : t->metric;
	const char *better = one ? plot_axis_words(p, "", one->direction) : "";

	s.n = panel_new(p, plot_title(p, t, one));
	if (!s.n)
		return;
	s.relative = !only;
	if (only)
		s.n->ylabel = plot_axis_words(p, only->row->unit, only->row->direction);
	else
		s.n->ylabel =
			arena_printf(p->a, "%% against mean of A%s%s", *better ? "; " : "", better);
	if (only && *t->axis)
		s.n->xlabel = arena_printf(p->a, "%s=%s", t->axis, only->label);
	else if (!only)
		s.n->xlabel = one ? t->axis : directions_text(p, t);
	draw_axes(&s, t, rows);
	for (k = 0; k < p->c->n_variants; k++) {
		draw_variant(&s, t, k);
		plot_key(p, k);
	}
	name_failures(&s, t);
	panel_drop_empty(p);
}

static void runs_draw(struct plot *p)
{
	const struct comparison *c = p->c;
	size_t i;

	for (i = 0; i < p->view.n; i++)
		if (plot_wants_table(p, &p->view.tables[i]))
			runs_table(p, &p->view.tables[i]);
	if (p->panels.n <= 3 && c->n_variants > 2)
		p->columns = 1;
	if (plot_is_text(p))
		plot_note(p,
			  "Small letters: every %s in the order of blocks, from the left; capital: "
			  "the mean (or median, by the metric).",
			  view_unit_word(c, false));
	else
		plot_note(p,
			  "Open: every %s in the order of blocks, from the left; bar: the mean (or "
			  "median, by the metric)%s.",
			  view_unit_word(c, false),
			  c->tested ? arena_printf(c->arena,
						   "; upright: the %g %% interval of the change "
						   "against A",
						   100 * c->level)
				    : "");
}

static bool runs_fits(const struct comparison *c)
{
	size_t t, r;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			if (c->tests[t].rows[r].shown && c->tests[t].rows[r].cells[0].values)
				return true;
	return false;
}

static const struct plot_kind runs = {
	.name = "runs",
	.summary = "every unit's value, with means and intervals",
	.rank = 2,
	.fits = runs_fits,
	.draw = runs_draw,
	.nothing = "no row has a value",
};
REGISTER(plot_kind, runs);
