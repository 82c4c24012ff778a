// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Our own mails (`-o mail`) back into tables: what --values and --runs print gives the values, and
 * of what only stands as a change, the change is all there is.
 */
#include "parsers/tables/own.h"

#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/tables/block.h"
#include "parsers/tables/mmtests_rows.h"

/* ---- test cases ---- */

void own_param_add(struct own_params *p, const char *name, const char *value, bool shown)
{
	*ARRAY_PUSH(&p->list) = (struct table_param){name, value, shown};
}

void own_params_take(struct own_params *p, const struct table_param **out, size_t *n)
{
	struct table_param *list = arena_alloc_array(p->a, p->list.n + 1, sizeof(*list));

	if (p->list.n)
		memcpy(list, p->list.items, p->list.n * sizeof(*list));
	*out = list;
	*n = p->list.n;
	ARRAY_FREE(&p->list);
}

/* "mode=process", "numa 0&1": as reports print a parameter */
static void add_words(struct own_params *p, struct span s)
{
	static const char *const places[] = {"numa", "node", "cpu", "socket"};
	const char *equals = memchr(s.s, '=', s.len), *blank = memchr(s.s, ' ', s.len);
	size_t i;

	if (equals && equals > s.s && (!blank || equals < blank)) {
		own_param_add(p, arena_strndup(p->a, s.s, (size_t)(equals - s.s)),
			  arena_strndup(p->a, equals + 1, s.len - (size_t)(equals + 1 - s.s)), true);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(places) && !span_starts(s, places[i]); i++)
		;
	own_param_add(p, i < ARRAY_SIZE(places) ? "bind" : "section", arena_strndup(p->a, s.s, s.len), true);
}

void own_params_words(struct own_params *p, const char *s, const char *separator)
{
	const char *end;

	for (; *s; s = *end ? end + strlen(separator) : end) {
		end = strstr(s, separator);
		end = end ? end : s + strlen(s);
		if (end > s)
			add_words(p, (struct span){s, (size_t)(end - s)});
	}
}

/* ---- what a row is about ---- */

struct subject {
	const char *metric, *unit, *mean;
	enum row_better better;
	const struct own_metric *known; /* NULL: the facts have no such metric */
	const struct table_param *params;
	size_t n_params;
};

static const char *row_unit(const struct own_table *t, const struct own_metric *known)
{
	if (known)
		return *known->unit ? known->unit : NULL;
	return t->unit && *t->unit ? t->unit : NULL;
}

/* Rows without an axis are metrics, or test cases told by their names. */
static void find_subject(struct own_report *rp, const struct own_table *t,
			 const struct own_row *row, struct subject *s)
{
	struct own_params p = {.a = rp->a};
	const struct own_metric *of_label = own_metric_find(&rp->facts, t->benchmark, row->label);
	bool is_metric = !*t->axis && (of_label || !*t->metric || !strcmp(row->label, t->metric));

	*s = (struct subject){.metric = is_metric ? row->label : t->metric};
	s->known = own_metric_find(&rp->facts, t->benchmark, s->metric);
	s->unit = row_unit(t, s->known);
	s->mean = s->known ? s->known->mean : NULL;
	s->better = s->known ? s->known->better : BETTER_UNKNOWN;
	if (*t->axis)
		own_param_add(&p, t->axis, row->label, true);
	else if (!is_metric)
		own_params_words(&p, row->label, "/");
	own_params_words(&p, t->where, ", ");
	/* no parameters are none too; those of a build stand in its command */
	if (p.list.n || strcmp(t->benchmark, "kernbench"))
		own_params_take(&p, &s->params, &s->n_params);
}

const char *own_command(const struct own_facts *f, const char *benchmark)
{
	size_t i;

	if (f->commands.n != f->benchmarks.n)
		return NULL;
	for (i = 0; i < f->benchmarks.n; i++)
		if (!strcmp(f->benchmarks.items[i], benchmark))
			return f->commands.items[i];
	return NULL;
}

/* ---- tables ---- */

struct emit {
	struct own_report *rp;
	const struct table_options *opt;
	struct table_set *set;
	const char **names;
};

static void new_table(const struct emit *em, struct table *t, const struct own_table *of)
{
	const struct own_facts *f = &em->rp->facts;

	*t = (struct table){
		.family = "kdelta",
		.section = *of->where ? of->where : NULL,
		.benchmark = of->benchmark,
		.axis_name = *of->axis ? of->axis : NULL,
		.command = own_command(f, of->benchmark),
		.sign = SIGN_RAW,
		.deviation = of->spread ? DEV_CV : DEV_NONE,
		.variants = em->names,
		.descriptions = f->descriptions,
		.commits = f->has_commits ? f->commits : NULL,
		.n_variants = f->n,
		.line = of->line,
	};
}

static struct table_row *new_row(const struct emit *em, struct table *t, const struct own_table *of,
				 const struct own_row *row, const struct subject *s)
{
	struct table_row *out = ARRAY_PUSH(&t->rows);

	*out = (struct table_row){
		.key = *of->where ? arena_printf(em->rp->a, "%s %s", row->label, of->where)
				  : row->label,
		.statistic = s->mean,
		.axis = row->label,
		.metric = s->metric,
		.better = s->better,
		.params = s->params,
		.n_params = s->n_params,
		.unit = s->unit,
		.line = row->line,
	};
	if (!t->unit)
		t->unit = s->unit;
	out->cells = arena_alloc_array(em->rp->a, em->rp->facts.n, sizeof(*out->cells));
	return out;
}

/* Checks a published change against the values; what they give anyway is not published twice. */
static bool settle_change(const struct emit *em, const struct own_row *row, size_t i)
{
	const struct own_facts *f = &em->rp->facts;
	const struct table_cell *base = &row->cells[0];
	struct table_cell *cell = &row->cells[i];

	if (!i || !cell->has_change || !base->has_value || !cell->has_value)
		return true;
	/* of styles' rounded ratios */
	if (f->style != OWN_TABLE || strchr(cell->value_text, 'e') ||
	    strchr(base->value_text, 'e')) {
		cell->has_change = false;
		return true;
	}
	if (!(block_change_fits(base, cell, 2) & FITS_RAW)) {
		tables_refuse(
			em->rp->a, em->set, cell->line,
			"row \"%s\" refused: %s for %s of %s is %.2f%%, but %+.2f%% is printed",
			row->label, cell->value_text, base->value_text, f->ids[i],
			100 * (cell->value / base->value - 1), cell->change);
		return false;
	}
	if (!f->published)
		cell->has_change = false;
	return true;
}

static void settle_n(const struct own_metric *known, struct table_cell *cell, size_t i)
{
	int n = known ? known->n[i > 0] : 0;

	if (!table_cell_is_there(cell) || cell->has_n)
		return;
	cell->has_n = n > 0;
	cell->n = n;
}

static void emit_summary(const struct emit *em, struct table *t, const struct own_table *of,
			 const struct own_row *row)
{
	struct table_row *out;
	struct subject s;
	bool change = false;
	size_t i, there = 0;

	for (i = 0; i < em->rp->facts.n; i++) {
		if (!settle_change(em, row, i))
			return;
		change |= row->cells[i].has_change;
		there += table_cell_is_there(&row->cells[i]);
	}
	if (!there)
		return;
	find_subject(em->rp, of, row, &s);
	out = new_row(em, t, of, row, &s);
	out->orientation = change ? CHANGE_RAW : CHANGE_UNKNOWN;
	for (i = 0; i < em->rp->facts.n; i++) {
		out->cells[i] = row->cells[i];
		if (!out->cells[i].line)
			out->cells[i].line = row->line;
		settle_n(s.known, &out->cells[i], i);
	}
}

/* The N-th value of each variant is its N-th run. */
static void emit_run(const struct emit *em, struct table *t, const struct own_table *of,
		     const struct own_row *row, const struct subject *s, size_t run)
{
	struct table_row *out = new_row(em, t, of, row, s);
	size_t i;

	out->run = (int)run + 1;
	out->key = arena_printf(em->rp->a, "run %zu %s", run + 1, out->key);
	for (i = 0; i < em->rp->facts.n; i++) {
		const char *text = run < row->values[i].n ? row->values[i].items[run] : NULL;
		double v;

		if (!text || !num_parse(span_of(text), &v))
			continue;
		out->cells[i] = block_value(em->rp->a, span_of(text), v, row->line);
	}
}

static size_t count_runs(const struct emit *em, const struct own_row *row)
{
	size_t i, n = 0;

	for (i = 0; row->values && i < em->rp->facts.n; i++)
		n = MAX(n, row->values[i].n);
	return n;
}

/* Metrics of one case stand beside each other in a run. */
static void emit_runs(const struct emit *em, struct own_table *of)
{
	size_t run, runs = 0, i;
	struct subject *subjects = arena_alloc_array(em->rp->a, of->rows.n, sizeof(*subjects));
	struct table t;
	bool metrics;

	new_table(em, &t, of);
	t.sign = SIGN_NONE;
	t.deviation = DEV_NONE;
	for (i = 0; i < of->rows.n; i++) {
		find_subject(em->rp, of, &of->rows.items[i], &subjects[i]);
		runs = MAX(runs, count_runs(em, &of->rows.items[i]));
	}
	metrics = !*of->axis && (!*of->metric || of->rows.n == 1);
	if (metrics) {
		for (run = 0; run < runs; run++)
			for (i = 0; i < of->rows.n; i++)
				if (run < count_runs(em, &of->rows.items[i])) {
					subjects[i].params = subjects[0].params;
					emit_run(em, &t, of, &of->rows.items[i], &subjects[i], run);
				}
	} else {
		for (i = 0; i < of->rows.n; i++)
			for (run = 0; run < count_runs(em, &of->rows.items[i]); run++)
				emit_run(em, &t, of, &of->rows.items[i], &subjects[i], run);
	}
	if (!t.rows.n)
		return;
	table_index_repeats(&t);
	*ARRAY_PUSH(&em->set->tables) = t;
}

/* ---- a table of mmtests' below the report that says the same ---- */

static bool stands_below(struct own_report *rp, size_t from, const struct own_table *t)
{
	const struct table_cell *base;
	bool found = false;
	size_t i, end;

	if (!t->rows.n || !t->rows.items[0].cells[0].has_value)
		return false;
	base = &t->rows.items[0].cells[0];
	for (i = from; i < rp->text->n && !found; i++) {
		struct row row = {0};

		if (!rp->text->lines[i].text.len ||
		    !mmtests_read_row(rp->a, rp->text, i, &row, &end))
			continue;
		found = row.known && row.cells.n == rp->facts.n &&
			row.cells.items[0].c.value_text && base->value_text &&
			!strcmp(row.cells.items[0].c.value_text, base->value_text) &&
			str_ends(row.key, t->rows.items[0].label);
		ARRAY_FREE(&row.cells);
	}
	return found;
}

const char **own_variants(struct arena *a, const struct own_facts *f,
			  const struct table_options *opt)
{
	size_t n = 0;

	while (opt && opt->names && opt->names[n])
		n++;
	return n == f->n ? arena_copy(a, opt->names, n, sizeof(*opt->names)) : f->names;
}

void own_emit(struct own_report *rp, const struct table_options *opt, struct table_set *set)
{
	struct emit em = {rp, opt, set, own_variants(rp->a, &rp->facts, opt)};
	struct own_table *of;
	struct own_row *row;
	struct table t;

	array_for_each (of, &rp->tables) {
		new_table(&em, &t, of);
		array_for_each (row, &of->rows) {
			if (count_runs(&em, row))
				continue;
			if (row->bad)
				tables_refuse(rp->a, set, row->line, "row \"%s\" refused: %s",
					      row->label, row->bad);
			else
				emit_summary(&em, &t, of, row);
		}
		if (t.rows.n) {
			table_index_repeats(&t);
			*ARRAY_PUSH(&set->tables) = t;
		}
		if (of->rows.n)
			emit_runs(&em, of);
	}
}

/* ---- the family ---- */

/* Drops the tables that mmtests' reader will find with every figure. */
static void leave_to_mmtests(struct own_report *rp, size_t from)
{
	size_t i, k, n = 0;

	for (i = 0; i < rp->tables.n; i++) {
		struct own_table *t = &rp->tables.items[i];

		if (!stands_below(rp, from, t)) {
			rp->tables.items[n++] = *t;
			continue;
		}
		for (k = 0; k < t->rows.n; k++) {
			size_t v;

			for (v = 0; t->rows.items[k].values && v < rp->facts.n; v++)
				ARRAY_FREE(&t->rows.items[k].values[v]);
		}
		ARRAY_FREE(&t->rows);
	}
	rp->tables.n = n;
}

/* Blocks from line i to the next report or the end of the text. */
static size_t read_report(struct own_report *rp, size_t i, bool *used)
{
	const struct table_line *lines = rp->text->lines;
	size_t to, k;

	for (; i < rp->text->n; i = to) {
		to = i + 1;
		if (!lines[i].text.len)
			continue;
		if (span_starts(span_trim(lines[i].text), "metric ") ||
		    own_lkp_starts(rp->text, i))
			break;
		while (to < rp->text->n && lines[to].text.len && lines[to].depth == lines[i].depth)
			to++;
		if (own_block_read(rp, i, to))
			for (k = i; k < to; k++)
				used[k] = true;
	}
	return i;
}

static int own_read(const struct table_source *src)
{
	size_t i, k, end, last;

	for (i = 0; i < src->text->n; i = end) {
		struct own_report rp = {.a = src->a, .text = src->text};

		end = i + 1;
		if (own_lkp_read(src, i, &end))
			continue;
		if (!own_facts_read(src->a, src->text, i, &rp.facts, src->set, &last))
			continue;
		for (k = i; k < last; k++)
			src->used[k] = true;
		end = read_report(&rp, last, src->used);
		leave_to_mmtests(&rp, last);
		own_emit(&rp, src->opt, src->set);
		own_report_release(&rp);
	}
	return 0;
}

static const struct table_family own = {
	.name = "kdelta",
	.first = true,
	.read = own_read,
};
REGISTER(table_family, own);
