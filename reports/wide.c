// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of three and more variants (or of published figures): the baseline in its unit, the
 * others as change with one mark each, figures over the rows below.
 *
 *	clients   A, MB/s        B        C      C/B   cv
 *	     64  15952.50   -1.08%  -33.50*  +11.30! 0.4%
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* A table as far as the width goes: the baseline, then columns [from, to). */
struct part {
	const struct view *v;
	const struct view_table *table;
	size_t from, to;
	int decimals;
	bool cv; /* a last column with the largest spread of the row */
};

/* Columns of "15952.50" and "+11.61%" */
#define LEAST_MEAN   8
#define LEAST_CHANGE 7

char layout_mark(const struct cmp_cell *cell)
{
	if (!cell->has_change && !comparison_is_difference(cell) &&
	    cell->verdict != VERDICT_CHANGED)
		return '.';
	switch (cell->verdict) {
	case VERDICT_BETTER:
		return cell->small ? 's' : '*';
	case VERDICT_WORSE:
		return cell->small ? 's' : '!';
	case VERDICT_SAME:
		return '=';
	case VERDICT_CHANGED:
		return 'c';
	case VERDICT_MISSING:
	case VERDICT_FAILED:
		return '.';
	default:
		return '?';
	}
}

const char *layout_title(const struct view *v, const struct view_table *t, const char *after)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, t->benchmark);
	if (view_is_one_of_many(v, t))
		strbuf_addf(&sb, " %s", text_ascii(v->a, comparison_metric_name(t->metric)));
	if (!t->shown)
		strbuf_adds(&sb, " counters");
	if (*t->where)
		strbuf_addf(&sb, ", %s", t->where);
	strbuf_adds(&sb, after);
	return arena_strdup(v->a, strbuf_str(&sb));
}

struct grid_cell *layout_label(const struct view *v, struct grid *g, struct grid_cell *cells,
			       const char *label, bool left)
{
	size_t len = strlen(label);

	if (len <= v->label) {
		cells[0].text = label;
		cells[0].left = left;
		return cells;
	}
	/* the words go above their row, cut where a line ends */
	for (; len; len = strlen(label)) {
		size_t take = MIN(len, (size_t)v->width);

		cells[0] = (struct grid_cell){arena_strndup(g->a, label, take), true, true,
					      COLOR_NONE};
		label += take;
		cells = grid_row(g);
	}
	return cells;
}

const char *layout_axis(const struct view *v, const struct view_table *t)
{
	return arena_strndup(v->a, t->axis, MIN(strlen(t->axis), v->label));
}

static size_t part_columns(const struct part *p)
{
	return 2 + (p->to - p->from) + p->cv;
}

static const char *row_label(const struct part *p, const struct view_row *r)
{
	if (p->table->unit)
		return r->label;
	return arena_printf(p->v->a, "%s%s%s", r->label, *r->row->unit ? ", " : "",
			    text_ascii(p->v->a, view_unit(r->row->unit)));
}

static void part_header(const struct part *p, struct grid *g)
{
	struct grid_cell *cells = grid_row(g);
	size_t i, n = 0;

	cells[n].left = isnan(p->table->rows[0].axis);
	cells[n++].text = layout_axis(p->v, p->table);
	cells[n++].text = p->table->unit && *p->table->unit && strlen(p->table->unit) < p->v->label
				  ? arena_printf(g->a, "A, %s", text_ascii(g->a, p->table->unit))
				  : "A";
	for (i = p->from; i < p->to; i++)
		cells[n++].text = view_column_name(p->v->c, g->a, i);
	if (p->cv)
		cells[n].text = "cv";
}

static const char *cell_text(const struct part *p, const struct cmp_row *row,
			     const struct cmp_cell *cell)
{
	char mark[2] = {layout_mark(cell), '\0'};

	if (cell->verdict == VERDICT_FAILED)
		return "failed.";
	if (comparison_is_difference(cell) && !cell->has_change)
		return arena_printf(p->v->a, "%s%s", view_change(p->v->a, row, cell, ""),
				    p->v->c->tested ? mark : "");
	if (!cell->has_change)
		return cell->has_mean ? arena_printf(p->v->a, "-%c", p->v->c->tested ? '?' : ' ')
				      : ".";
	return text_percent(p->v->a, cell->change, p->v->c->tested ? mark : "%");
}

static double row_cv(const struct view *v, const struct cmp_row *row)
{
	double cv = NAN;
	size_t i;

	for (i = 0; i < v->c->n_variants; i++)
		cv = fmax(cv, row->cells[i].cv);
	return cv;
}

static void part_row(const struct part *p, struct grid *g, const struct view_row *r)
{
	const char *label = row_label(p, r), *mean;
	struct grid_cell *cells = grid_row(g);
	size_t i, n = 0;

	cells = layout_label(p->v, g, cells, label, isnan(p->table->rows[0].axis));
	n++;
	mean = view_mean(g->a, &r->row->cells[0], p->decimals);
	cells[n++].text = mean ? mean : r->row->cells[0].failed ? "failed" : ".";
	for (i = p->from; i < p->to; i++) {
		const struct cmp_cell *cell = view_cell(p->v->c, r, i);

		grid_set(&cells[n++], cell_text(p, r->row, cell), view_color(cell));
	}
	if (p->cv)
		cells[n].text = text_share(g->a, row_cv(p->v, r->row));
}

static void part_gmean(const struct part *p, struct grid *g, const char *label, size_t from,
		       size_t to)
{
	struct grid_cell *cells = grid_row(g);
	size_t i, n = 2;

	cells[0] = (struct grid_cell){label, true, true, COLOR_NONE};
	for (i = p->from; i < p->to; i++)
		cells[n++].text =
			text_percent(g->a, view_gmean(p->v->c, p->table, i, from, to), "%");
}

static void part_worst(const struct part *p, struct grid *g)
{
	struct grid_cell *worst = grid_row(g), *at = grid_row(g);
	size_t i, n = 2;

	worst[0] = (struct grid_cell){"worst row", true, true, COLOR_NONE};
	at[0] = (struct grid_cell){arena_printf(g->a, "  at %s", p->table->axis), true, true,
				   COLOR_NONE};
	for (i = p->from; i < p->to; i++, n++) {
		int row = view_worst(p->v->c, p->table, i);

		if (row < 0)
			continue;
		worst[n].text = text_percent(
			g->a, view_cell(p->v->c, &p->table->rows[row], i)->change, "%");
		at[n].text = p->table->rows[row].label;
	}
}

static bool table_labels_fit(const struct view *v, const struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strlen(t->rows[i].label) > v->label)
			return false;
	return strlen(t->axis) <= v->label;
}

static bool has_worst(const struct view_table *t)
{
	return t->metric->direction == DIR_HIGHER || t->metric->direction == DIR_LOWER;
}

static void part_summary(const struct part *p, struct grid *g)
{
	const struct view_table *t = p->table;

	if (!t->metric || t->n < 3)
		return;
	part_gmean(p, g, "geomean", 0, t->n);
	if (t->split) {
		part_gmean(p, g, arena_printf(g->a, "  %s", view_range(g->a, t, 0, t->split)), 0,
			   t->split);
		part_gmean(p, g, arena_printf(g->a, "  %s", view_range(g->a, t, t->split, t->n)),
			   t->split, t->n);
	}
	if (has_worst(t) && table_labels_fit(p->v, t))
		part_worst(p, g);
}

static void part_fill(const struct part *p, struct grid *g, struct arena *a)
{
	size_t i;

	grid_init(g, a, part_columns(p));
	/* tables of one report should stand under each other */
	g->least[1] = LEAST_MEAN;
	for (i = 2; i < part_columns(p) - p->cv; i++)
		g->least[i] = LEAST_CHANGE;
	if (p->cv)
		g->gap[part_columns(p) - 1] = 1;
	part_header(p, g);
	for (i = 0; i < p->table->n; i++)
		part_row(p, g, &p->table->rows[i]);
	part_summary(p, g);
}

/* Means over fewer rows than there are cannot be set beside the others without a word. */
static void part_note_gaps(const struct part *p, struct text *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i, k;

	for (i = p->from; p->table->metric && p->table->n >= 3 && i < p->to; i++) {
		size_t n = 0;

		for (k = 0; k < p->table->n; k++)
			n += view_cell(p->v->c, &p->table->rows[k], i)->has_change;
		if (n < p->table->n)
			strbuf_addf(&sb, "%s%s %zu", sb.len ? ", " : "",
				    view_column_name(p->v->c, t->a, i), n);
	}
	if (sb.len)
		text_block(t, "note", "rows in the geomean, of %zu: %s", p->table->n,
			   strbuf_str(&sb));
}

static bool table_has_cv(const struct view *v, const struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!isnan(row_cv(v, t->rows[i].row)))
			return true;
	return false;
}

/* Columns of each part, so that all parts fit and are about as wide as each other. */
static size_t part_share(struct part *p, struct text *t)
{
	size_t all = view_columns(p->v->c) - 1, fit, parts;
	int width;

	do {
		_cleanup_grid_ struct grid g;

		part_fill(p, &g, t->a);
		width = grid_width(&g);
	} while (width > t->width && --p->to > p->from + 1);
	fit = MAX(p->to - p->from, (size_t)1);
	parts = (all + fit - 1) / fit;
	return (all + parts - 1) / parts;
}

/* " (B to F)" where a table has several parts */
static const char *part_name(const struct part *p, struct arena *a)
{
	const char *first = view_column_name(p->v->c, a, p->from);

	if (p->from == 1 && p->to == view_columns(p->v->c))
		return "";
	if (p->to == p->from + 1)
		return arena_printf(a, " (%s)", first);
	return arena_printf(a, " (%s to %s)", first, view_column_name(p->v->c, a, p->to - 1));
}

static void table_print(struct text *t, const struct view *v, const struct view_table *table)
{
	struct part p = {
		v, table, 1, view_columns(v->c), view_decimals(v, table), table_has_cv(v, table)};
	size_t share = part_share(&p, t);

	for (p.from = 1; p.from < view_columns(v->c); p.from = p.to) {
		_cleanup_grid_ struct grid g;

		p.to = MIN(p.from + share, view_columns(v->c));
		part_fill(&p, &g, t->a);
		text_wrap(t, "", 0, layout_title(v, table, part_name(&p, t->a)));
		grid_print(&g, t);
		part_note_gaps(&p, t);
		text_blank(t);
	}
}

/* ---- the cell that stands alone ---- */

/* Where the same variant and axis value stands in the other tables of the benchmark. */
static void lone_elsewhere(const struct view *v, const struct view_lone *l, struct strbuf *sb)
{
	size_t i, k;

	for (i = 0; i < v->n; i++) {
		const struct view_table *t = &v->tables[i];

		if (t == l->table || strcmp(t->benchmark, l->table->benchmark) || !t->metric)
			continue;
		for (k = 0; k < t->n; k++) {
			const struct cmp_cell *cell = &t->rows[k].row->cells[l->variant];

			if (strcmp(t->rows[k].label, l->table->rows[l->row].label) ||
			    !cell->has_change)
				continue;
			strbuf_addf(sb, "; on %s %s is at %s", t->where,
				    v->c->variants[l->variant].id,
				    text_percent(v->a, cell->change, "%"));
		}
	}
}

static void lone_print(struct text *t, const struct view *v)
{
	static const char *const numbers[] = {"no", "one", "two", "three", "four", "five", "six"};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct view_lone l;
	const struct view_row *r;
	const struct cmp_cell *low = NULL, *high = NULL;
	size_t i, n = 0;

	if (v->c->tested || !view_find_lone(v, &l))
		return;
	r = &l.table->rows[l.row];
	for (i = 0; i < v->c->n_variants; i++) {
		const struct cmp_cell *cell = &r->row->cells[i];

		if (i == (size_t)l.variant || !cell->has_mean)
			continue;
		low = !low || cell->mean < low->mean ? cell : low;
		high = !high || cell->mean > high->mean ? cell : high;
		n++;
	}
	strbuf_addf(&sb, "%s, %s: the other ", v->c->variants[l.variant].id,
		    view_phrase(v, r->test, r->row));
	if (n < ARRAY_SIZE(numbers))
		strbuf_adds(&sb, numbers[n]);
	else
		strbuf_addf(&sb, "%zu", n);
	strbuf_addf(&sb, " kernels give %s to %s there", view_mean(t->a, low, 3),
		    view_mean(t->a, high, 3));
	lone_elsewhere(v, &l, &sb);
	strbuf_adds(&sb, ". One bad run and a real loss look alike: run this cell again.");
	text_block(t, "look at", "%s", strbuf_str(&sb));
	text_blank(t);
}

void wide_print(struct text *t, const struct view *v, const struct report_options *opt)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		table_print(t, v, &v->tables[i]);
	lone_print(t, v);
	if (opt->values)
		values_print(t, v);
}
