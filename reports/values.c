// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The block of --values: means of every variant, for calculators and to be read back.
 *
 *	clients  where            A         B
 *	     64  numa 0&1  15952.50  15780.41
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* Tables of one metric stand in one block, told apart by a column; long words need a heading. */
static bool tables_join(const struct view *v, const struct view_table *x,
			const struct view_table *y)
{
	if (x == y)
		return x->shown;
	return x->shown && y->shown && x->metric && y->metric &&
	       !strcmp(x->benchmark, y->benchmark) &&
	       !strcmp(x->metric->metric, y->metric->metric) && strlen(x->where) <= v->label &&
	       strlen(y->where) <= v->label;
}

/* Of a block that starts with table `first`: the baseline and others [from, to). */
struct block {
	const struct view *v;
	const struct view_table *first;
	bool where; /* has the column */
	size_t from, to;
};

static bool block_has_where(const struct view *v, const struct view_table *first)
{
	size_t i;

	for (i = 0; strlen(first->where) <= v->label && i < v->n; i++)
		if (tables_join(v, first, &v->tables[i]) && *v->tables[i].where)
			return true;
	return false;
}

static void block_table(const struct block *b, struct grid *g, const struct view_table *t)
{
	int decimals = view_decimals(b->v, t);
	size_t i, k, n;

	for (i = 0; i < t->n; i++) {
		struct grid_cell *cells = layout_label(b->v, g, grid_row(g), t->rows[i].label,
						       isnan(t->rows[i].axis));

		if (b->where)
			cells[1] = (struct grid_cell){t->where, true, false, COLOR_NONE};
		for (k = b->from, n = 1 + b->where; k < b->to; k++) {
			const char *mean = view_mean(g->a, &t->rows[i].row->cells[k], decimals);

			cells[n++].text = mean ? mean : ".";
		}
	}
}

static void block_fill(const struct block *b, struct grid *g)
{
	struct grid_cell *cells;
	size_t i, n = 1;

	grid_init(g, b->v->a, 1 + b->where + b->to - b->from);
	cells = grid_row(g);
	cells[0].text = layout_axis(b->v, b->first);
	if (b->where)
		cells[n++] = (struct grid_cell){"where", true, false, COLOR_NONE};
	for (i = b->from; i < b->to; i++)
		cells[n++].text = b->v->c->variants[i].id;
	for (i = 0; i < b->v->n; i++)
		if (tables_join(b->v, b->first, &b->v->tables[i]))
			block_table(b, g, &b->v->tables[i]);
}

static void block_title(const struct block *b, struct text *t)
{
	const struct view_table *first = b->first;
	const struct cmp_row *row = first->metric ? first->metric : first->rows[0].row;

	text_block(t, "values", "%s%s%s, %s of %s%s%s", first->benchmark,
		   !b->where && *first->where ? ", " : "", b->where ? "" : first->where,
		   mean_kind_name(row->mean_kind),
		   first->metric ? text_ascii(t->a, comparison_metric_name(row)) : "each metric",
		   first->unit && *first->unit ? ", " : "",
		   first->unit ? text_ascii(t->a, first->unit) : "");
}

static void block_print(struct text *t, struct block *b)
{
	while (b->from < b->v->c->n_variants) {
		_cleanup_grid_ struct grid g;

		b->to = b->v->c->n_variants;
		block_fill(b, &g);
		while (grid_width(&g) > t->width && b->to > b->from + 1) {
			b->to--;
			grid_release(&g);
			block_fill(b, &g);
		}
		block_title(b, t);
		grid_print(&g, t);
		text_blank(t);
		b->from = b->to;
	}
}

static bool is_first(const struct view *v, size_t table)
{
	size_t i;

	for (i = 0; i < table; i++)
		if (tables_join(v, &v->tables[i], &v->tables[table]))
			return false;
	return v->tables[table].shown;
}

void values_print(struct text *t, const struct view *v)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		struct block b = {.v = v, .first = &v->tables[i]};

		if (!is_first(v, i))
			continue;
		b.where = block_has_where(v, b.first);
		block_print(t, &b);
	}
}
