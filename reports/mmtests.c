// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o mmtests: the layout that readers of mmtests know, as wide as it needs:
 *
 *	                           5.17                    rc1
 *	                            rc1                  patch
 *	Hmean     1        320.01 (   0.00%)      318.03 *  -0.62%*
 *
 * Percentages are better-positive as there (and said so, which the original does not): published
 * ones as they were published. A missing cell is blank and never a zero.
 */
#include <math.h>
#include <string.h>

#include "reports/view.h"

/* "%12.2f (%7.2f%%)" */
#define CELL_WIDTH 23
/* Longer names are called by their letter in the header; the legend has them in full. */
#define NAME_MAX_HALF 30

struct mm {
	const struct comparison *c;
	const struct view *v;
	struct strbuf *out;
	int stat, op; /* widths of the first two columns */
	int column;   /* width of a variant's column */
};

/* The two lines of a name: before and after its first '-'; one word each. */
static const char *name_half(const struct mm *m, size_t variant, int half)
{
	char *name =
		arena_strdup(m->c->arena, text_ascii(m->c->arena, m->c->variants[variant].name));
	char *dash = strchr(name + (*name != '\0'), '-'), *p;

	for (p = name; *p; p++)
		if (*p == ' ')
			*p = '_';
	if (!dash || !dash[1])
		return half ? "" : name;
	*dash = '\0';
	return half ? dash + 1 : name;
}

static bool name_is_long(const struct mm *m, size_t variant)
{
	return strlen(name_half(m, variant, 0)) > NAME_MAX_HALF ||
	       strlen(name_half(m, variant, 1)) > NAME_MAX_HALF;
}

static const char *header_half(const struct mm *m, size_t variant, int half)
{
	if (!name_is_long(m, variant))
		return name_half(m, variant, half);
	return half ? "" : m->c->variants[variant].id;
}

static const char *operation(const struct mm *m, const struct view_table *t,
			     const struct view_row *r)
{
	char *s = arena_strdup(m->c->arena, r->label), *p;

	if (t->metric && !*t->axis && !*t->where)
		s = arena_strdup(m->c->arena, comparison_metric_name(r->row));
	for (p = s; *p; p++)
		if (*p == ' ')
			*p = '_';
	return s;
}

/* The source's percentage where it has one, else ours, better positive; NAN if none. */
static double better_change(const struct cmp_row *row, const struct cmp_cell *cell)
{
	if (!isnan(cell->source_better))
		return cell->source_better;
	if (!cell->has_change)
		return NAN;
	/* as mmtests: 100*new/base - 100, or 100 - 100*new/base where lower is better */
	return row->direction == DIR_LOWER ? -cell->change : cell->change;
}

static bool cell_is_starred(const struct mm *m, const struct cmp_cell *cell)
{
	if (!m->c->tested)
		return cell->source_mark;
	return cell->verdict == VERDICT_BETTER || cell->verdict == VERDICT_WORSE ||
	       cell->verdict == VERDICT_CHANGED;
}

static const char *percent_text(const struct mm *m, const struct cmp_row *row,
				const struct cmp_cell *cell)
{
	double change = cell->variant ? better_change(row, cell) : 0;
	bool star = cell->variant && cell_is_starred(m, cell);

	if (isnan(change))
		return arena_printf(m->c->arena, "(%8s)", "-");
	if (fabs(change) < 0.00005)
		change = 0;
	return arena_printf(m->c->arena, "%s%7.2f%%%s", star ? "*" : "(", 100 * change,
			    star ? "*" : ")");
}

static void add_cell(const struct mm *m, const struct cmp_row *row, const struct cmp_cell *cell,
		     int decimals)
{
	const char *mean = view_mean(m->c->arena, cell, decimals), *both;

	if (!mean && !cell->has_change)
		both = arena_printf(m->c->arena, "%12s %9s",
				    cell->verdict == VERDICT_FAILED ? "failed" : "-", "");
	else
		both = arena_printf(m->c->arena, "%12s %s", mean ? mean : "-",
				    percent_text(m, row, cell));
	strbuf_addf(m->out, "%*s", m->column, both);
}

static void add_header(const struct mm *m)
{
	size_t i;
	int half;

	for (half = 0; half < 2; half++) {
		strbuf_addf(m->out, "%*s", m->stat + m->op + 1, "");
		for (i = 0; i < m->c->n_variants; i++)
			strbuf_addf(m->out, "%*s", m->column, header_half(m, i, half));
		strbuf_rtrim(m->out);
		strbuf_addc(m->out, '\n');
	}
}

static void add_table(struct mm *m, const struct view_table *t)
{
	bool many = view_is_one_of_many(m->v, t);
	int decimals = MAX(2, view_decimals(m->v, t));
	size_t i, k;

	m->op = 4;
	for (i = 0; i < t->n; i++)
		m->op = MAX(m->op, (int)strlen(operation(m, t, &t->rows[i])));
	strbuf_addf(m->out, "%s%s%s running%s%s:\n", t->benchmark, many ? " " : "",
		    many ? text_ascii(m->c->arena, comparison_metric_name(t->metric)) : "",
		    *t->where ? " on " : "", t->where);
	add_header(m);
	for (i = 0; i < t->n; i++) {
		const struct cmp_row *row = t->rows[i].row;

		strbuf_addf(m->out, "%-*s %-*s", m->stat, mean_kind_name(row->mean_kind), m->op,
			    operation(m, t, &t->rows[i]));
		for (k = 0; k < m->c->n_variants; k++)
			add_cell(m, row, &row->cells[k], decimals);
		strbuf_rtrim(m->out);
		strbuf_addc(m->out, '\n');
	}
	strbuf_addc(m->out, '\n');
}

static bool metric_is_new(const struct mm *m, size_t table, size_t row)
{
	const char *metric = m->v->tables[table].rows[row].row->metric;
	size_t i, k;

	for (i = 0; i <= table; i++)
		for (k = 0; k < (i < table ? m->v->tables[i].n : row); k++)
			if (!strcmp(m->v->tables[i].rows[k].row->metric, metric))
				return false;
	return true;
}

/* One line for each metric in the tables. */
static void add_directions(const struct mm *m)
{
	size_t i, k;

	for (i = 0; i < m->v->n; i++) {
		for (k = 0; k < m->v->tables[i].n; k++) {
			const struct cmp_row *row = m->v->tables[i].rows[k].row;

			if (metric_is_new(m, i, k))
				strbuf_addf(m->out, "%s is in %s, %s.\n",
					    text_ascii(m->c->arena, row->metric),
					    *row->unit ? text_ascii(m->c->arena, row->unit)
						       : "no stated unit",
					    view_direction(row->direction));
		}
	}
}

/* What the original never says: sign, star, runs, direction and unit. */
static void add_conventions(const struct mm *m)
{
	const struct comparison *c = m->c;
	int low, high;

	view_units_range(c, &low, &high);
	if (c->counting)
		strbuf_addf(m->out, "Counted, not timed: %s.\n", comparison_limit(c));
	strbuf_adds(m->out, "Percentages against the first column, positive is better.\n");
	if (c->tested)
		strbuf_addf(m->out, "* is a real change (%s, 5%% per table); n = %d",
			    view_tests_text(c, c->arena), low);
	else
		strbuf_addf(m->out, "Nothing was tested%s",
			    c->has_source_marks ? ", * is the mark of the source" : "");
	if (c->tested && high > low)
		strbuf_addf(m->out, " to %d", high);
	strbuf_adds(m->out, ".\n");
	add_directions(m);
	strbuf_addc(m->out, '\n');
}

static void add_legend(const struct mm *m)
{
	const struct comparison *c = m->c;
	bool any = false;
	size_t i;

	for (i = 0; i < c->n_variants; i++) {
		any |= *c->variants[i].description != '\0';
		any |= strchr(c->variants[i].name, ' ') != NULL || name_is_long(m, i);
	}
	for (i = 0; any && i < c->n_variants; i++)
		strbuf_addf(m->out, "%s: %s%s%s\n",
			    name_is_long(m, i) ? c->variants[i].id
					       : text_ascii(c->arena, c->variants[i].name),
			    name_is_long(m, i) ? text_ascii(c->arena, c->variants[i].name) : "",
			    name_is_long(m, i) ? ", " : "",
			    *c->variants[i].description
				    ? text_ascii(c->arena, c->variants[i].description)
			    : i ? "not described"
				: "the baseline");
	if (any)
		strbuf_addc(m->out, '\n');
}

static int mmtests_render(const struct comparison *c, const struct report_options *opt,
			  struct strbuf *out, struct err *e)
{
	struct view v;
	struct mm m = {c, &v, out, 9, 4, CELL_WIDTH};
	size_t i;

	(void)e;
	view_init(&v, c, c->arena, opt->split);
	for (i = 0; i < c->n_variants; i++) {
		m.column = MAX(m.column, (int)strlen(header_half(&m, i, 0)) + 2);
		m.column = MAX(m.column, (int)strlen(header_half(&m, i, 1)) + 2);
	}
	add_conventions(&m);
	add_legend(&m);
	for (i = 0; i < v.n; i++)
		add_table(&m, &v.tables[i]);
	strbuf_rtrim(out);
	strbuf_addc(out, '\n');
	return 0;
}

static const struct report_format mmtests = {
	.name = "mmtests",
	.summary = "the table of mmtests, better positive",
	.render = mmtests_render,
};
REGISTER(report_format, mmtests);
