// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables: the baseline in its unit, the others as value, change and verdict; a row opens below. */
#include <math.h>
#include <string.h>

#include "reports/html.h"

/* Once for the whole table, or for each row where units differ. */
static void take_decimals(const struct html *h, struct html_part *p, const struct view_row *r)
{
	struct view_table some = *p->table;

	if (r) {
		some.rows = (struct view_row *)r;
		some.n = 1;
	}
	p->means = view_decimals(&h->v, &some);
	p->values = view_value_decimals(&h->v, &some);
}

/* "cv 0.4% n 5" */
static void add_count(struct html *h, const struct cmp_cell *cell)
{
	if (!isnan(cell->cv))
		html_addf(h, " cv&nbsp;%s", text_share(h->a, cell->cv));
	if (cell->n)
		html_addf(h, " n&nbsp;%d", cell->n);
}

static const char *absence(const struct html *h, const struct cmp_cell *cell)
{
	if (cell->failed && cell->error)
		return arena_printf(h->a, "failed: %s", cell->error);
	return cell->failed ? "failed" : "no value";
}

static void base_cell(struct html *h, const struct view_row *r, int decimals)
{
	const struct cmp_cell *cell = &r->row->cells[0];
	const char *mean = view_mean(h->a, cell, decimals);

	strbuf_adds(h->out, mean ? "<td class=\"num\">" : "<td class=\"num none\">");
	html_text(h, mean ? mean : absence(h, cell));
	strbuf_adds(h->out, "<small>");
	add_count(h, cell);
	strbuf_adds(h->out, "</small></td>");
}

/* Where a change cannot be told: because the baseline is nothing, or there is no baseline. */
static const char *no_change(const struct html *h, const struct view_row *r, size_t column)
{
	const struct cmp_cell *base = &r->row->cells[0];

	if (column >= h->c->n_variants || !base->has_mean)
		return "";
	if (r->row->cells[column].has_mean && !(base->mean > 0))
		return base->mean < 0 ? "no ratio: the baseline is negative"
				      : "no ratio: the baseline is 0";
	return "";
}

static void other_cell(struct html *h, const struct view_row *r, size_t column, int decimals)
{
	const struct cmp_cell *cell = view_cell(h->c, r, column);
	const struct html_look look = html_look(h, cell);
	const char *mean = view_mean(h->a, cell, decimals);
	const char *change = html_change(h, r->row, cell);

	html_addf(h, "<td class=\"num %s\">", look.shape);
	html_shape(h, look.shape);
	strbuf_addc(h->out, ' ');
	html_text(h, *change ? change : no_change(h, r, column));
	strbuf_adds(h->out, " <b>");
	html_text(h, look.word);
	strbuf_adds(h->out, "</b><small>");
	if (mean)
		html_text(h, mean);
	strbuf_addc(h->out, ' ');
	html_text(h, html_interval_text(h, r->row, cell));
	add_count(h, cell);
	strbuf_adds(h->out, "</small></td>");
}

static void add_row(struct html *h, struct html_part *p, const struct view_row *r)
{
	size_t k;

	if (!p->table->unit)
		take_decimals(h, p, r);
	strbuf_adds(h->out, "<tr><th scope=\"row\">");
	html_text(h, r->label);
	if (!p->table->unit && *r->row->unit) {
		strbuf_adds(h->out, " <small>");
		html_text(h, view_unit(r->row->unit));
		strbuf_adds(h->out, "</small>");
	}
	strbuf_adds(h->out, "</th>");
	base_cell(h, r, p->means);
	for (k = 1; k < p->columns; k++)
		other_cell(h, r, k, p->means);
	html_addf(h, "</tr>\n<tr class=\"fold\"><td colspan=\"%zu\"><details><summary>",
		  p->columns + 1);
	html_text(h, r->label);
	strbuf_adds(h->out, r->test->n_runs ? ": every run</summary>\n" : ": more</summary>\n");
	html_fold(h, p, r);
	strbuf_adds(h->out, "</details></td></tr>\n");
}

static void gmean_row(struct html *h, const struct html_part *p, const char *label, size_t from,
		      size_t to)
{
	size_t k;

	strbuf_adds(h->out, "<tr class=\"sum\"><th scope=\"row\">");
	html_text(h, label);
	strbuf_adds(h->out, "</th><td></td>");
	for (k = 1; k < p->columns; k++) {
		double g = view_gmean(h->c, p->table, k, from, to);

		html_addf(h, "<td class=\"num\">%s</td>",
			  isfinite(g) ? text_percent(h->a, g, "%") : "");
	}
	strbuf_adds(h->out, "</tr>\n");
}

static void sum_rows(struct html *h, const struct html_part *p)
{
	const struct view_table *t = p->table;

	if (!t->metric || t->n < 3)
		return;
	gmean_row(h, p, "geometric mean", 0, t->n);
	if (!t->split)
		return;
	gmean_row(h, p, view_range(h->a, t, 0, t->split), 0, t->split);
	gmean_row(h, p, view_range(h->a, t, t->split, t->n), t->split, t->n);
}

static void table_head(struct html *h, const struct html_part *p, const char *title)
{
	const struct view_table *t = p->table;
	size_t k;

	strbuf_adds(h->out, "<h3>");
	html_text(h, title);
	strbuf_adds(h->out, "</h3>\n");
	if (t->metric) {
		html_addf(h, "<p>%s", view_direction(t->metric->direction));
		if (*t->metric->description) {
			strbuf_adds(h->out, "; ");
			html_text(h, t->metric->description);
		}
		strbuf_adds(h->out, "</p>\n");
	}
	strbuf_adds(h->out, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"");
	html_text(h, title);
	strbuf_adds(h->out, "\">\n<table class=\"rows\">\n<thead><tr><th scope=\"col\">");
	html_text(h, *t->axis ? t->axis : t->metric ? "test case" : "metric");
	strbuf_adds(h->out, "</th>");
	for (k = 0; k < p->columns; k++) {
		html_addf(h, "<th scope=\"col\" class=\"num\">%s", view_column_name(h->c, h->a, k));
		if (!k && t->unit && *t->unit) {
			strbuf_adds(h->out, ", ");
			html_text(h, view_unit(t->unit));
		}
		strbuf_adds(h->out, "</th>");
	}
	strbuf_adds(h->out, "</tr></thead>\n<tbody>\n");
}

static void add_table(struct html *h, const struct view_table *t)
{
	struct html_part p = {.table = t, .columns = view_columns(h->c)};
	size_t i;

	if (t->unit)
		take_decimals(h, &p, NULL);
	table_head(h, &p, layout_title(&h->v, t, ""));
	for (i = 0; i < t->n; i++)
		add_row(h, &p, &t->rows[i]);
	sum_rows(h, &p);
	strbuf_adds(h->out, "</tbody>\n</table>\n</div>\n");
}

void html_tables(struct html *h)
{
	size_t i;

	for (i = 0; i < h->v.n; i++)
		add_table(h, &h->v.tables[i]);
}
