// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --style norm and --style block: the two layouts that posted tables know besides mmtests', both
 * with more than one half of what a reader needs. Better is always upwards here, and they say so.
 *
 *	threads      A  %std       B  %std
 *	     96  1.000  0.83  1.230* 3.27
 *
 *	Test          : hackbench
 *	Units         : seconds, normalised to A
 *	Interpretation: lower is better; pct imp: + is better
 *	Statistic     : Amean of 5 runs
 *	groups       A [pct imp](CV)          B [pct imp](CV)
 *	     1    1.00 [  0.00]( 2.08)     0.98 [  2.29]( 3.19)*
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

struct style {
	struct text *t;
	const struct view *v;
	size_t columns; /* of variants beside the baseline that one table has room for */
	bool block;
};

/* new / base: of a published table without means from its percentage; NAN if neither is known */
static double ratio_of(const struct cmp_row *row, const struct cmp_cell *cell)
{
	const struct cmp_cell *base = &row->cells[0];

	if (cell->has_mean && base->has_mean && base->mean > 0)
		return cell->mean / base->mean;
	return cell->has_change ? 1 + cell->change : NAN;
}

/* The published percentage where there is one, else ours; + is better, as far as that is known. */
static double improvement_of(const struct cmp_row *row, const struct cmp_cell *cell)
{
	double ratio = ratio_of(row, cell);

	if (!cell->variant)
		return 0;
	if (!isnan(cell->source_better))
		return cell->source_better;
	return row->direction == DIR_LOWER ? 1 - ratio : ratio - 1;
}

static const char *mark_of(const struct style *s, const struct cmp_cell *cell)
{
	return s->v->c->tested && cell->variant ? arena_printf(s->v->a, "%c", layout_mark(cell))
						: "";
}

static const char *spread_text(struct arena *a, const struct cmp_cell *cell)
{
	return isnan(cell->cv) ? "-" : arena_printf(a, "%.2f", 100 * cell->cv);
}

/* Ratio so that above 1.00 is better, NULL if there is none; a row without a direction keeps new /
 * base. */
static const char *norm_text(const struct style *s, const struct cmp_row *row,
			     const struct cmp_cell *cell)
{
	double ratio = ratio_of(row, cell);

	if (row->direction == DIR_LOWER)
		ratio = 1 / ratio;
	return isfinite(ratio) ? arena_printf(s->v->a, "%.3f", ratio) : NULL;
}

static void norm_cells(const struct style *s, const struct view_row *r, const struct cmp_cell *cell,
		       struct grid_cell *at)
{
	const char *mark = mark_of(s, cell), *ratio = norm_text(s, r->row, cell);

	at[0].text = ratio ? arena_printf(s->v->a, "%s%s", ratio, mark) : *mark ? mark : "-";
	if (cell->has_mean || cell->has_change)
		at[1].text = spread_text(s->v->a, cell);
}

static void block_cells(const struct style *s, const struct view_row *r,
			const struct cmp_cell *cell, struct grid_cell *at)
{
	double ratio = ratio_of(r->row, cell), better = improvement_of(r->row, cell);

	if (!isfinite(ratio)) {
		at[0].text = *mark_of(s, cell) ? mark_of(s, cell) : "-";
		return;
	}
	at[0].text = arena_printf(s->v->a, "%.2f", ratio);
	at[1].text = arena_printf(s->v->a, "[%6.2f](%5s)%s", 100 * better,
				  spread_text(s->v->a, cell), mark_of(s, cell));
}

/* Statistic of all rows: "Hmean of 5 boots". */
static const char *statistic_text(const struct style *s, const struct view_table *t)
{
	const char *kind = mean_kind_name(t->rows[0].row->mean_kind);
	const char *units = view_units_text(s->v->c, s->v->a);
	size_t i;

	for (i = 1; i < t->n; i++)
		if (t->rows[i].row->mean_kind != t->rows[0].row->mean_kind)
			kind = "mean of each row's kind";
	return *units ? arena_printf(s->v->a, "%s of %s", kind, units)
		      : arena_printf(s->v->a, "%s, runs not stated", kind);
}

static const char *direction_text(const struct view_table *t)
{
	size_t i;

	for (i = 1; i < t->n; i++)
		if (t->rows[i].row->direction != t->rows[0].row->direction)
			return "each row in its own direction";
	return view_direction(t->rows[0].row->direction);
}

static void block_head(const struct style *s, const struct view_table *t)
{
	struct text *x = s->t;

	text_wrap(x, "Test          :", 16,
		  arena_printf(s->v->a, "%s%s%s%s%s", t->benchmark, t->metric ? " " : "",
			       t->metric ? text_ascii(s->v->a, comparison_metric_name(t->metric))
					 : "",
			       *t->where ? ", " : "", t->where));
	text_wrap(x, "Units         :", 16,
		  arena_printf(s->v->a, "%s, normalised to A in each row",
			       t->unit ? view_unit(t->unit) : "each row in its own"));
	text_wrap(x, "Interpretation:", 16,
		  arena_printf(s->v->a, "%s; pct imp: + is better", direction_text(t)));
	text_wrap(x, "Statistic     :", 16, statistic_text(s, t));
}

static void norm_head(const struct style *s, const struct view_table *t)
{
	text_wrap(s->t, "", 0,
		  arena_printf(s->v->a, "%s; %s, %s", layout_title(s->v, t, ""), direction_text(t),
			       statistic_text(s, t)));
}

/* One table: the baseline and the variants [from, to). */
static void table_print(const struct style *s, const struct view_table *t, size_t from, size_t to)
{
	_cleanup_grid_ struct grid g;
	struct grid_cell *cells;
	size_t i, k;

	grid_init(&g, s->v->a, 1 + 2 * (1 + to - from));
	for (k = 0; k < 1 + to - from; k++)
		g.gap[2 + 2 * k] = 1;
	cells = grid_row(&g);
	cells[0].text = layout_axis(s->v, t);
	for (k = 0; k < 1 + to - from; k++) {
		const char *id = s->v->c->variants[k ? from + k - 1 : 0].id;

		cells[1 + 2 * k].text = id;
		cells[2 + 2 * k].text = s->block ? "[pct imp](CV)" : "%std";
	}
	for (i = 0; i < t->n; i++) {
		const struct view_row *r = &t->rows[i];

		cells = grid_row(&g);
		cells = layout_label(s->v, &g, cells, r->label, isnan(r->axis));
		for (k = 0; k < 1 + to - from; k++) {
			const struct cmp_cell *cell = &r->row->cells[k ? from + k - 1 : 0];

			(s->block ? block_cells : norm_cells)(s, r, cell, &cells[1 + 2 * k]);
		}
	}
	grid_print(&g, s->t);
}

static void style_table(const struct style *s, const struct view_table *t, bool later)
{
	size_t from;

	if (later)
		text_blank(s->t);
	(s->block ? block_head : norm_head)(s, t);
	for (from = 1; from < s->v->c->n_variants; from += s->columns) {
		if (from > 1)
			text_blank(s->t);
		table_print(s, t, from, MIN(s->v->c->n_variants, from + s->columns));
	}
}

void style_print(struct text *t, const struct view *v)
{
	/* a variant takes "1.000* 10.00" or "1.00 [-100.00](10.00)*" and a gap */
	size_t cell = v->style == STYLE_BLOCK ? 25 : 15;
	size_t room = (size_t)t->width - MIN(v->label, (size_t)t->width / 3);
	struct style s = {t, v, MAX(room / cell, (size_t)2) - 1, v->style == STYLE_BLOCK};
	size_t i;

	for (i = 0; i < v->n; i++)
		style_table(&s, &v->tables[i], i > 0);
	text_blank(t);
}
