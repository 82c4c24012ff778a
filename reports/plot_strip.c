// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The change strip: every row of the report with its change and interval, a line at 0 and the
 * threshold as a band. Filled: a real change; open: same, unsure or untested.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/panel.h"

struct strip {
	struct plot *p;
	struct panel *n;
	ARRAY_OF(const char *) labels; /* from the top */
	int slots;		       /* of the list, so far */
	int columns;		       /* drawn beside each other in a row */
	int no_ratio;
	bool directions; /* headings say which direction is better */
};

static bool is_real(const struct cmp_cell *cell)
{
	return cell->verdict == VERDICT_BETTER || cell->verdict == VERDICT_WORSE ||
	       cell->verdict == VERDICT_CHANGED;
}

/* Columns share the slot of a row, the first on top. */
static double place(const struct strip *s, int row, size_t column)
{
	if (s->columns < 2)
		return row;
	if (plot_is_text(s->p))
		return row + (double)column - 1;
	return row + 0.7 * (((double)column - 1) / (s->columns - 1) - 0.5);
}

static void strip_heading(struct strip *s, const struct view_table *t)
{
	const char *better = "";

	if (s->slots)
		s->slots++;
	if (t->metric)
		better = arena_printf(s->p->a, ": %s", view_direction(t->metric->direction));
	panel_label(s->p, s->n,
		    arena_printf(s->p->a, "%s%s", plot_title(s->p, t, t->metric), better),
		    arena_printf(s->p->a, "graph 0.01, first %d left%s", s->slots,
				 plot_is_text(s->p) ? "" : plot_font(s->p, 13, "#222222")));
	s->slots++;
}

static const char *row_label(struct strip *s, const struct view_table *t, const struct view_row *r)
{
	if (*t->axis)
		return arena_printf(s->p->a, "%s=%s", t->axis, r->label);
	if (t->metric || (r->row->direction != DIR_HIGHER && r->row->direction != DIR_LOWER))
		return r->label;
	return arena_printf(s->p->a, "%s (%s)", r->label, direction_name(r->row->direction));
}

/* Where there is no change a word stands at the edge, never a point at 0. */
static void cell_word(struct strip *s, const struct cmp_cell *cell, size_t column, double y)
{
	const char *word = cell->verdict == VERDICT_FAILED ? "failed"
			   : cell->n || cell->has_mean	   ? "no ratio"
							   : "no run";

	s->no_ratio += cell->n || cell->has_mean;
	panel_label(
		s->p, s->n,
		arena_printf(s->p->a, "%s %s", view_column_name(s->p->c, s->p->a, column), word),
		arena_printf(s->p->a, "graph 0.99, first %g right%s", y,
			     plot_is_text(s->p) ? "" : plot_font(s->p, 11, plot_color(column))));
}

static void strip_rows(struct strip *s)
{
	struct plot *p = s->p;
	_cleanup_strbuf_ struct strbuf tics = STRBUF_INIT;
	size_t i, k;

	for (i = 0; i < p->view.n; i++) {
		const struct view_table *t = &p->view.tables[i];

		if (!plot_wants_table(p, t))
			continue;
		strip_heading(s, t);
		for (k = 0; k < t->n; k++) {
			const struct view_row *r = &t->rows[k];
			int tall = plot_is_text(p) ? s->columns : 1;

			if (!plot_wants(p, r->test, r->row))
				continue;
			strbuf_addf(&tics, "%s%s %d", tics.len ? ", " : "",
				    plot_tic(p, row_label(s, t, r)), s->slots);
			s->slots += tall;
		}
	}
	panel_set(s->n, "ytics (%s)", strbuf_str(&tics));
	if (plot_is_text(p))
		panel_set(s->n, "tmargin 0\nset bmargin 3");
	panel_set(s->n, "yrange [%d:-1]", s->slots);
}

/* The points of one column: with or without an interval, real or not. */
static void strip_points(struct strip *s, size_t column, bool real, bool interval)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	struct plot *p = s->p;
	size_t i, k;
	int row = 0;

	for (i = 0; i < p->view.n; i++) {
		const struct view_table *t = &p->view.tables[i];

		if (!plot_wants_table(p, t))
			continue;
		row += row ? 2 : 1;
		for (k = 0; k < t->n; k++) {
			const struct cmp_cell *cell = view_cell(p->c, &t->rows[k], column);
			double y = place(s, row, column);

			if (!plot_wants(p, t->rows[k].test, t->rows[k].row))
				continue;
			row += plot_is_text(p) ? s->columns : 1;
			if (!plot_has_change(cell)) {
				if (!real && !interval)
					cell_word(s, cell, column, y);
				continue;
			}
			if (is_real(cell) != real || plot_has_interval(cell) != interval)
				continue;
			plot_number(&lines, 100 * cell->change);
			plot_number(&lines, y);
			if (interval) {
				plot_number(&lines, 100 * cell->test.low);
				plot_number(&lines, 100 * cell->test.high);
			}
			strbuf_addc(&lines, '\n');
		}
	}
	panel_draw(p, s->n, &lines,
		   interval ? "using 1:2:3:4 with xerrorbars" : "using 1:2 with points",
		   plot_style(p, column, real));
}

static enum direction one_direction(struct plot *p, bool *mixed)
{
	enum direction d = DIR_UNKNOWN;
	bool any = false;
	size_t t, r;

	for (t = 0; t < p->c->n_tests; t++) {
		for (r = 0; r < p->c->tests[t].n_rows; r++) {
			const struct cmp_row *row = &p->c->tests[t].rows[r];

			if (!plot_wants(p, &p->c->tests[t], row))
				continue;
			*mixed |= any && row->direction != d;
			d = row->direction;
			any = true;
		}
	}
	return d;
}

static void strip_notes(struct strip *s)
{
	struct plot *p = s->p;
	const struct comparison *c = p->c;

	if (!c->tested) {
		plot_note(p, "Nothing was tested: the source states too little. Change is new / A "
			     "- 1.");
		return;
	}
	plot_note(p,
		  "%s: a real change; %s: same or unsure. Change is new / A - 1, the bar its %g %% "
		  "interval (%s)%s.",
		  plot_is_text(p) ? "Capital letter" : "Filled", plot_is_text(p) ? "small" : "open",
		  100 * c->level, view_tests_text(c, p->a),
		  plot_is_text(p) ? ""
				  : arena_printf(p->a, ", the band +-%g %%", 100 * c->threshold));
	if (s->no_ratio)
		plot_note(p, "no ratio: values of zero or below; see kdelta compare.");
}

static void strip_draw(struct plot *p)
{
	struct strip s = {.p = p, .columns = (int)view_columns(p->c) - 1};
	bool mixed = false;
	enum direction d = one_direction(p, &mixed);
	size_t i;

	if (s.columns < 1)
		return;
	s.n = panel_new(p, NULL);
	strip_rows(&s);
	s.n->rows = plot_is_text(p) ? s.slots : s.slots * (s.columns > 2 ? s.columns / 2 + 1 : 2);
	s.n->xlabel = arena_printf(
		p->a, "change against A%s, %%; %s",
		p->c->n_variants > 2 ? arena_printf(p->a, " %.20s", p->c->variants[0].name) : "",
		mixed ? "headings tell the better direction" : view_direction(d));
	panel_zero(p, s.n, 'x', 100 * p->c->threshold);
	for (i = 1; i < view_columns(p->c); i++) {
		strip_points(&s, i, true, true);
		strip_points(&s, i, true, false);
		strip_points(&s, i, false, true);
		strip_points(&s, i, false, false);
		plot_key(p, i);
	}
	strip_notes(&s);
	panel_drop_empty(p);
}

static bool strip_fits(const struct comparison *c)
{
	return c->n_variants > 1;
}

static const struct plot_kind strip = {
	.name = "strip",
	.summary = "every row's change with its interval, beside 0 and the threshold",
	.rank = 1,
	.fits = strip_fits,
	.draw = strip_draw,
	.nothing = "no row has a change in percent",
};
REGISTER(plot_kind, strip);
