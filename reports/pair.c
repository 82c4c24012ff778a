// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of two measured variants: means with their spread side by side, the change with its
 * range, the verdict in a word.
 *
 *	            A              B
 *	       mean s   cv    mean s   cv  change       range, %  verdict
 *	real   78.240 1.4%    77.414 2.4%  -1.06%  [-3.70,+1.32]  unsure
 *
 * Where a side has too few values for any test, the range in which the bigger side's next value
 * would lie takes the place of the spread.
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* Rows of a table that get a line of reasons each; more are told together. */
#define FEW_REASONS 4

/* More runs than anybody makes; the size of what can be seen says more than their number. */
#define RUNS_OF_A_LIFE 1000

bool layout_is_pair(const struct comparison *c)
{
	return c->n_variants == 2 && c->has_n && !c->has_published && !c->n_contrasts;
}

enum pair_column { COL_LABEL, COL_A, COL_CV_A, COL_B, COL_CV_B, COL_CHANGE, COL_RANGE, COL_WORD };

struct pair {
	const struct view *v;
	const struct view_table *table;
	int decimals, most_decimals;
	bool predict; /* every row has a prediction instead of a test */
	bool units, cv, range,
		other; /* what there is room for; the head of the report names units too */
	int gap;
};

/* n of a variant in a table; -1 where the rows differ. */
static int table_n(const struct view_table *t, size_t variant)
{
	int n = t->rows[0].row->cells[variant].n;
	size_t i;

	for (i = 1; i < t->n; i++)
		if (t->rows[i].row->cells[variant].n != n)
			return -1;
	return n;
}

static bool table_predicts(const struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!t->rows[i].row->cells[1].has_prediction)
			return false;
	return true;
}

/* Whose next value the prediction is about. */
static const char *predicted_side(const struct view_table *t)
{
	return t->rows[0].row->cells[1].n > t->rows[0].row->cells[0].n ? "B" : "A";
}

static const char *side_name(const struct pair *p, struct arena *a, size_t variant)
{
	const char *id = p->v->c->variants[variant].id;
	int n = table_n(p->table, variant);

	if (p->predict)
		return n > 0 ? arena_printf(a, "%s, n=%d", id, n) : id;
	if (!p->table->unit || !*p->table->unit || strlen(p->table->unit) > p->v->label)
		return id;
	return arena_printf(a, "%s, %s", id, text_ascii(a, p->table->unit));
}

static void pair_header(const struct pair *p, struct grid *g)
{
	struct grid_cell *cells = grid_row(g);
	size_t sides = p->other ? 2 : 1, i;

	if (!p->predict) {
		for (i = 0; i < sides; i++)
			cells[i ? COL_B : COL_A].text = side_name(p, g->a, i);
		cells = grid_row(g);
	}
	cells[COL_LABEL].text = layout_axis(p->v, p->table);
	cells[COL_LABEL].left = isnan(p->table->rows[0].axis);
	for (i = 0; i < sides; i++)
		cells[i ? COL_B : COL_A].text = p->predict ? side_name(p, g->a, i) : "mean";
	if (p->cv)
		cells[COL_CV_A].text = cells[COL_CV_B].text = "cv";
	cells[COL_CHANGE].text = "change";
	if (p->predict)
		cells[COL_RANGE].text =
			arena_printf(g->a, "next %s of %s, %g%%", view_unit_word(p->v->c, false),
				     predicted_side(p->table), 100 * p->v->c->level);
	else if (p->range)
		cells[COL_RANGE].text = "range, %";
	cells[COL_WORD] = (struct grid_cell){"verdict", true, false, COLOR_NONE};
}

/* A bound of the range in percent, no finer than a wide range deserves. */
static const char *bound_text(struct arena *a, double bound)
{
	double size = fabs(bound);

	return size < 0.1 ? text_percent(a, bound, "")
			  : arena_printf(a, "%+.*f", size < 1 ? 1 : 0, 100 * bound);
}

static const char *range_text(const struct pair *p, struct arena *a, const struct cmp_row *row,
			      const struct cmp_cell *cell)
{
	int decimals = MAX(0, p->decimals - 1);

	if (p->predict)
		return arena_printf(a, "%s..%s", text_number(a, cell->prediction.low, decimals),
				    text_number(a, cell->prediction.high, decimals));
	if (!isfinite(cell->test.low) || !isfinite(cell->test.high))
		return "-";
	if (comparison_is_difference(cell))
		return arena_printf(a, "[%+.4g,%+.4g] %s", cell->test.low, cell->test.high,
				    text_ascii(a, row->unit));
	return arena_printf(a, "[%s,%s]", bound_text(a, cell->test.low),
			    bound_text(a, cell->test.high));
}

static const char *verdict_text(struct arena *a, const struct cmp_row *row)
{
	const struct cmp_cell *cell = &row->cells[1];
	const char *class = cell->error ? cell->error : row->cells[0].error;

	if (cell->verdict == VERDICT_FAILED && class)
		return arena_printf(a, "failed (%.20s)", text_ascii(a, class));
	return arena_printf(a, "%s%s%s", cell->small ? "small " : "", verdict_name(cell->verdict),
			    cell->multiplicity ? " (m)" : "");
}

static const char *pair_label(const struct pair *p, struct arena *a, const struct view_row *r)
{
	if (p->table->unit || !p->units || !*r->row->unit)
		return r->label;
	return arena_printf(a, "%s, %s", r->label, text_ascii(a, view_unit(r->row->unit)));
}

static void pair_row(const struct pair *p, struct grid *g, const struct view_row *r)
{
	const struct cmp_cell *cell = &r->row->cells[1];
	struct grid_cell *cells = layout_label(p->v, g, grid_row(g), pair_label(p, g->a, r),
					       isnan(p->table->rows[0].axis));
	int decimals = p->table->unit ? p->decimals : -1;
	size_t sides = p->other ? 2 : 1, i;

	if (decimals < 0) {
		struct view_table one = *p->table;

		one.rows = (struct view_row *)r;
		one.n = 1;
		decimals = view_decimals(p->v, &one);
	}
	decimals = MIN(decimals, p->most_decimals);
	for (i = 0; i < sides; i++) {
		const char *mean = view_mean(g->a, &r->row->cells[i], decimals);

		cells[i ? COL_B : COL_A].text = mean ? mean : "-";
		if (p->cv)
			cells[i ? COL_CV_B : COL_CV_A].text = text_share(g->a, r->row->cells[i].cv);
	}
	grid_set(&cells[COL_CHANGE], view_change(g->a, r->row, cell, "%"), view_color(cell));
	if (p->range)
		cells[COL_RANGE].text = range_text(p, g->a, r->row, cell);
	cells[COL_WORD] =
		(struct grid_cell){verdict_text(g->a, r->row), true, false, view_color(cell)};
}

static void pair_gmean(const struct pair *p, struct grid *g, const char *label, size_t from,
		       size_t to)
{
	struct grid_cell *cells = grid_row(g);

	cells[COL_LABEL] = (struct grid_cell){label, true, true, COLOR_NONE};
	cells[COL_CHANGE].text =
		text_percent(g->a, view_gmean(p->v->c, p->table, 1, from, to), "%");
}

static void pair_fill(const struct pair *p, struct grid *g, struct arena *a)
{
	const struct view_table *t = p->table;
	size_t i;

	grid_init(g, a, COL_WORD + 1);
	for (i = COL_A; i <= COL_WORD; i++)
		g->gap[i] = p->gap;
	g->gap[COL_CV_A] = g->gap[COL_CV_B] = p->cv ? 1 : 0;
	g->gap[COL_RANGE] = p->range ? p->gap : 0;
	g->gap[COL_B] = p->other ? p->gap : 0;
	pair_header(p, g);
	for (i = 0; i < t->n; i++)
		pair_row(p, g, &t->rows[i]);
	if (!t->metric || t->n < 3)
		return;
	pair_gmean(p, g, "geomean", 0, t->n);
	if (!t->split)
		return;
	pair_gmean(p, g, arena_printf(a, "  %s", view_range(a, t, 0, t->split)), 0, t->split);
	pair_gmean(p, g, arena_printf(a, "  %s", view_range(a, t, t->split, t->n)), t->split, t->n);
}

/* ---- reasons ---- */

static const char *runs_text(struct arena *a, int n)
{
	return n > 50 ? ">50" : arena_printf(a, "%d", n);
}

/* "; in all 7 listed rounds B is lower than A" */
static void reason_rounds(const struct cmp_cell *cell, bool listed, struct strbuf *sb)
{
	int low = cell->rounds_lower, n = cell->rounds;
	bool lower = 2 * low >= n;
	int most = lower ? low : n - low;

	if (n < 3 || 3 * most < 2 * n)
		return;
	strbuf_addf(sb, "; in ");
	if (most == n)
		strbuf_addf(sb, "all %d", n);
	else
		strbuf_addf(sb, "%d of %d", most, n);
	strbuf_addf(sb, " %s B is %s than A", listed ? "listed rounds" : "blocks",
		    lower ? "lower" : "higher");
}

static void reason_row(struct text *t, const struct pair *p, const struct view_row *r,
		       const char *key)
{
	const struct comparison *c = p->v->c;
	const struct cmp_cell *cell = &r->row->cells[1];
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s%s: p = %s",
		    *p->table->axis ? arena_printf(t->a, "%s ", p->table->axis) : "", r->label,
		    text_p(t->a, cell->test.p));
	if (cell->multiplicity)
		strbuf_addf(&sb, " alone, %s among all rows", text_p(t->a, cell->p_adjusted));
	if (cell->verdict == VERDICT_UNSURE && cell->runs_threshold > RUNS_OF_A_LIFE)
		strbuf_addf(&sb, "; too noisy for %g%%: %.2g%% can be seen here (80%% power)",
			    100 * c->threshold, 100 * cell->detectable);
	else if (cell->verdict == VERDICT_UNSURE &&
		 cell->runs_threshold > MIN(cell->n, r->row->cells[0].n))
		strbuf_addf(&sb, "; %g%% takes %d %s%s, %g%% %d (80%% power)",
			    100 * c->threshold, cell->runs_threshold, view_unit_word(c, true),
			    view_a_side(c),
			    200 * c->threshold, cell->runs_double);
	else if (cell->verdict == VERDICT_UNSURE && cell->runs_needed)
		strbuf_addf(&sb, "; %s %s%s would settle it",
			    runs_text(t->a, cell->runs_needed), view_unit_word(c, true),
			    view_a_side(c));
	else
		reason_rounds(cell, !strcmp(c->kind, "import"), &sb);
	text_block(t, key, "%s", strbuf_str(&sb));
}

static bool row_has_reason(const struct cmp_cell *cell)
{
	return !isnan(cell->test.p) &&
	       (cell->verdict != VERDICT_SAME || cell->outside || cell->multiplicity);
}

/* Many rows: what it would take to settle the unsure ones. */
static void reasons_together(struct text *t, const struct pair *p, const char *key)
{
	int low = 0, high = 0, n = 0;
	size_t i;

	for (i = 0; i < p->table->n; i++) {
		const struct cmp_cell *cell = &p->table->rows[i].row->cells[1];

		if (cell->verdict != VERDICT_UNSURE || !cell->runs_needed)
			continue;
		low = low ? MIN(low, cell->runs_needed) : cell->runs_needed;
		high = MAX(high, cell->runs_needed);
		n++;
	}
	if (n)
		text_block(t, key, "%d unsure %s: %s%s%s %s%s would settle %s", n,
			   n == 1 ? "row" : "rows", runs_text(t->a, low), low < high ? " to " : "",
			   low < high ? runs_text(t->a, high) : "", view_unit_word(p->v->c, true),
			   view_a_side(p->v->c),
			   n == 1 ? "it" : "them");
}

static const struct cmp_cell *row_named(const struct view_table *t, const char *label)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->rows[i].label, label))
			return &t->rows[i].row->cells[0];
	return NULL;
}

/* A build that leaves CPUs idle says little about the kernel's speed. */
static void reason_busy(struct text *t, const struct pair *p, const char *key)
{
	const struct cmp_cell *real = row_named(p->table, "real");
	const struct cmp_cell *user = row_named(p->table, "user");
	const struct cmp_cell *sys = row_named(p->table, "sys");

	if (!real || !user || !sys || !real->has_mean || !(real->mean > 0))
		return;
	text_block(t, key,
		   "%.*f CPUs busy ((user+sys)/real): where there are many more, real is a "
		   "weak probe",
		   (user->mean + sys->mean) / real->mean < 10 ? 1 : 0,
		   (user->mean + sys->mean) / real->mean);
}

static void pair_reasons(struct text *t, const struct pair *p)
{
	const struct view_table *table = p->table;
	size_t start = t->out->len, i, n = 0;
	const char *key = "why";

	for (i = 0; i < table->n; i++)
		n += row_has_reason(&table->rows[i].row->cells[1]);
	text_blank(t);
	for (i = 0; i < table->n && n <= FEW_REASONS; i++) {
		if (!row_has_reason(&table->rows[i].row->cells[1]))
			continue;
		reason_row(t, p, &table->rows[i], key);
		key = "";
	}
	if (n > FEW_REASONS)
		reasons_together(t, p, key);
	if (t->out->len > start + 1)
		key = "";
	reason_busy(t, p, key);
	if (t->out->len == start + 1) {
		t->out->len = start;
		t->out->buf[start] = '\0';
	}
}

/* What a value inside or outside the range of the other side's next one means. */
static void pair_prediction(struct text *t, const struct pair *p)
{
	const char *big = predicted_side(p->table), *small = *big == 'A' ? "B" : "A";
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	size_t i;

	for (i = 0; i < p->table->n; i++) {
		const struct cmp_row *row = p->table->rows[i].row;
		double mean = row->cells[*small == 'B'].mean;

		if (mean < row->cells[1].prediction.low || mean > row->cells[1].prediction.high)
			strbuf_addf(&out, "%s%s", out.len ? ", " : "", p->table->rows[i].label);
	}
	if (out.len)
		text_block(t, NULL,
			   "%s lies outside the range of %s in %s%s%s: worth a test, 5 runs "
			   "of each, interleaved.",
			   small, big, p->table->axis, *p->table->axis ? " " : "",
			   strbuf_str(&out));
	else
		text_block(t, NULL,
			   "%s inside the range of %s decides nothing: interleave 5 runs of each.",
			   small, big);
}

/* Cells that have fewer values than the others; those without any say so themselves. */
static void pair_counts(struct text *t, const struct pair *p)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int most = 0;
	size_t i, k;

	for (i = 0; i < p->table->n; i++)
		for (k = 0; k < 2; k++)
			most = MAX(most, p->table->rows[i].row->cells[k].n);
	for (i = 0; i < p->table->n && !p->predict; i++) {
		for (k = 0; k < 2; k++) {
			int n = p->table->rows[i].row->cells[k].n;

			if (n && n < most)
				strbuf_addf(&sb, "%s%s %s n = %d", sb.len ? ", " : "",
					    p->table->rows[i].label, p->v->c->variants[k].id, n);
		}
	}
	if (sb.len)
		text_block(t, "note", "fewer %s: %s", view_unit_word(p->v->c, true),
			   strbuf_str(&sb));
}

static void pair_table(struct text *t, const struct view *v, const struct view_table *table)
{
	struct pair p = {
		.v = v,
		.table = table,
		.decimals = view_decimals(v, table),
		.most_decimals = 15,
		.predict = table_predicts(table),
		.units = true,
		.range = true,
		.other = true,
		.gap = 2,
	};
	_cleanup_grid_ struct grid g;
	size_t i;

	p.cv = !p.predict;
	if (v->n > 1 || *table->where)
		text_wrap(t, "", 0, layout_title(v, table, ""));
	pair_fill(&p, &g, t->a);
	for (i = 0; i < 6 && grid_width(&g) > t->width; i++) {
		/* goes where there is no room for all: air, units, spread, range, digits, B */
		p.gap = 1;
		p.units &= i < 1;
		p.cv &= i < 2;
		p.range &= i < 3;
		p.most_decimals = i < 4 ? p.most_decimals : 1;
		p.other &= i < 5;
		grid_release(&g);
		pair_fill(&p, &g, t->a);
	}
	grid_print(&g, t);
	pair_counts(t, &p);
	if (p.predict)
		pair_prediction(t, &p);
	else
		pair_reasons(t, &p);
	text_blank(t);
}

void pair_print(struct text *t, const struct view *v, const struct report_options *opt)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		pair_table(t, v, &v->tables[i]);
	if (opt->runs)
		runs_print(t, v);
}
