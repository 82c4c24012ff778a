// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the parts, and the block of single values that both kinds of table share. */
#include "reports/layout.h"

#include <string.h>

/* Widest of the values of a table, as text. */
static size_t values_width(const struct view *v, const struct view_table *t, int decimals)
{
	size_t i, k, width = 0;
	int j;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < v->c->n_variants; k++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];

			for (j = 0; cell->values && j < cell->n; j++)
				width = MAX(width,
					    strlen(text_number(v->a, cell->values[j], decimals)));
		}
	}
	return width;
}

/* "real A   79.510   77.303 ...", continued under the first value. */
static void runs_row(struct text *t, const struct view *v, const struct view_row *r, size_t label,
		     size_t width, int decimals)
{
	size_t i, at, per_line = MAX((size_t)1, ((size_t)t->width - label - 2) / (width + 1));
	int j;

	for (i = 0; i < v->c->n_variants; i++) {
		const struct cmp_cell *cell = &r->row->cells[i];

		if (!cell->values)
			continue;
		if (strlen(r->label) > label && !i)
			text_wrap(t, "", 0, r->label);
		at = t->out->len;
		if (strlen(r->label) <= label)
			strbuf_adds(t->out, r->label);
		strbuf_pad(t->out, at + label + 1);
		strbuf_addf(t->out, "%-2s", v->c->variants[i].id);
		for (j = 0; j < cell->n; j++) {
			if (j && (size_t)j % per_line == 0) {
				strbuf_addc(t->out, '\n');
				at = t->out->len;
				strbuf_pad(t->out, at + label + 3);
			}
			strbuf_addf(t->out, "%*s ", (int)width,
				    text_number(v->a, cell->values[j], decimals));
		}
		strbuf_rtrim(t->out);
		strbuf_addc(t->out, '\n');
	}
}

static bool table_has_values(const struct view *v, const struct view_table *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < v->c->n_variants; k++)
			if (t->rows[i].row->cells[k].values)
				return true;
	return false;
}

void runs_print(struct text *t, const struct view *v)
{
	size_t i, k, label, width;

	for (i = 0; i < v->n; i++) {
		const struct view_table *table = &v->tables[i];
		int decimals = view_value_decimals(v, table);

		if (!table_has_values(v, table))
			continue;
		width = values_width(v, table, decimals);
		for (label = 0, k = 0; k < table->n; k++)
			label = MAX(label, strlen(table->rows[k].label));
		label = MIN(label, v->label);
		text_wrap(t, "", 0,
			  arena_printf(t->a, "%s, %s%sin the order %s",
				       v->n > 1 ? layout_title(v, table, " runs") : "runs",
				       table->unit ? text_ascii(t->a, view_unit(table->unit)) : "",
				       table->unit && *table->unit ? ", " : "",
				       strcmp(v->c->kind, "import") ? "of the blocks" : "listed"));
		for (k = 0; k < table->n; k++)
			runs_row(t, v, &table->rows[k], label, width, decimals);
		text_blank(t);
	}
}

/* Tables of more counters than this show those that changed or failed, and count the rest. */
#define COUNTERS_MOST 40

static bool row_has_news(const struct comparison *c, const struct view_row *r)
{
	size_t i;

	for (i = 1; i < view_columns(c); i++) {
		const struct cmp_cell *cell = view_cell(c, r, i);

		if (cell->verdict != VERDICT_SAME && cell->verdict != VERDICT_UNSURE &&
		    !cell->small)
			return true;
	}
	return false;
}

/* Leaves them out of the tables; returns how many. */
static size_t drop_counters(struct view *v)
{
	size_t i, k, kept, dropped = 0;

	for (i = 0; i < v->n; i++) {
		struct view_table *t = &v->tables[i];

		if (t->shown || t->n <= COUNTERS_MOST)
			continue;
		for (k = kept = 0; k < t->n; k++)
			if (row_has_news(v->c, &t->rows[k]))
				t->rows[kept++] = t->rows[k];
		/* a table without rows has no layout: one stands for all */
		kept = MAX(kept, (size_t)1);
		dropped += t->n - kept;
		t->n = kept;
		t->split = 0;
	}
	return dropped;
}

/* Wider labels of rows read badly beside their numbers. */
#define LABEL_MOST 24

void layout_render(const struct comparison *c, const struct report_options *opt, struct text *t)
{
	struct view v;
	size_t dropped;

	view_init(&v, c, t->a, opt->split);
	dropped = opt->all || !c->tested ? 0 : drop_counters(&v);
	v.width = (size_t)t->width;
	v.label = MIN(v.width / 3, (size_t)LABEL_MOST);
	v.style = opt->style;
	words_print(t, &v);
	text_blank(t);
	facts_print(t, &v);
	text_blank(t);
	if (opt->style != STYLE_TABLE) {
		style_print(t, &v);
		if (opt->values)
			values_print(t, &v);
		if (opt->runs)
			runs_print(t, &v);
	} else if (layout_is_pair(c)) {
		pair_print(t, &v, opt);
	} else {
		wide_print(t, &v, opt);
		if (opt->runs)
			runs_print(t, &v);
	}
	if (dropped)
		text_block(t, "rest",
			   "%zu counters that read same, small or unsure are not shown "
			   "(-o csv has all)",
			   dropped);
	if (opt->why)
		why_print(t, &v, opt->why);
	/* one newline at the end, no blank line */
	strbuf_rtrim(t->out);
	strbuf_addc(t->out, '\n');
}
