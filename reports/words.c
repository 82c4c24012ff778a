// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict in words: what the first lines of a report say, before any table. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* A pair of so few rows is told row by row. */
#define FEW_ROWS 4

static const char *upper(struct arena *a, const char *s)
{
	char *u = arena_strdup(a, s), *p;

	for (p = u; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return u;
}

/* Separates the parts of a sentence. */
static void add_part(struct strbuf *sb, const char *sep, const char *part)
{
	strbuf_addf(sb, "%s%s", sb->len ? sep : "", part);
}

/* ---- tables without runs ---- */

struct standing {
	bool *all_ahead, *all_behind, *mixed; /* per variant */
	size_t n_ahead, n_behind, n_mixed;
	int rows;
};

static void standing_take(struct standing *s, const struct comparison *c, const char *benchmark)
{
	size_t v;

	for (v = 1; v < c->n_variants; v++) {
		const struct cmp_overall *o = comparison_overall(c, benchmark, v);

		s->rows = MAX(s->rows, o->rows);
		if (o->ahead && o->ahead == o->rows) {
			s->all_ahead[v] = true;
			s->n_ahead++;
		} else if (o->behind && o->behind == o->rows) {
			s->all_behind[v] = true;
			s->n_behind++;
		} else {
			s->mixed[v] = true;
			s->n_mixed++;
		}
	}
}

static const char *standing_each(const struct comparison *c, struct arena *a, const char *benchmark,
				 const struct standing *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t v;

	for (v = 1; v < c->n_variants; v++) {
		const struct cmp_overall *o = comparison_overall(c, benchmark, v);

		if (!s->mixed[v])
			continue;
		if (!o->ahead && !o->behind)
			continue;
		add_part(&sb, ", ",
			 sb.len ? arena_printf(a, "%s in %d", c->variants[v].id, o->ahead)
				: arena_printf(a, "%s is ahead of A in %d of %d rows",
					       c->variants[v].id, o->ahead, o->rows));
	}
	return arena_strdup(a, strbuf_str(&sb));
}

static void words_standing(struct text *t, const struct view *v, const char *benchmark)
{
	const struct comparison *c = v->c;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct standing s = {
		.all_ahead = arena_alloc_array(v->a, c->n_variants, sizeof(bool)),
		.all_behind = arena_alloc_array(v->a, c->n_variants, sizeof(bool)),
		.mixed = arena_alloc_array(v->a, c->n_variants, sizeof(bool)),
	};
	const char *word;

	standing_take(&s, c, benchmark);
	word = s.n_ahead == c->n_variants - 1	 ? "AHEAD"
	       : s.n_behind == c->n_variants - 1 ? "BEHIND"
						 : "MIXED";
	if (s.n_ahead)
		strbuf_addf(&sb, "%s %s ahead of A in %d of %d rows",
			    view_names(c, v->a, s.all_ahead), s.n_ahead > 1 ? "are" : "is", s.rows,
			    s.rows);
	if (s.n_behind)
		strbuf_addf(&sb, "%s%s %s behind A in %d of %d rows", sb.len ? "; " : "",
			    view_names(c, v->a, s.all_behind), s.n_behind > 1 ? "are" : "is",
			    s.rows, s.rows);
	if (s.n_mixed && sb.len)
		strbuf_addf(&sb, ", %s not", view_names(c, v->a, s.mixed));
	else if (s.n_mixed)
		strbuf_adds(&sb, standing_each(c, v->a, benchmark, &s));
	if (!sb.len) {
		word = "NO ORDER";
		strbuf_adds(&sb, "Which direction is better is not known");
	}
	text_block(t, NULL, "%s: %s. %s.", text_ascii(v->a, benchmark), word, strbuf_str(&sb));
}

/* ---- tested tables ---- */

static const char *row_change(struct arena *a, const struct cmp_row *row,
			      const struct cmp_cell *cell)
{
	bool none = !cell->has_change && !comparison_is_difference(cell);

	return none ? "" : view_change(a, row, cell, "%");
}

/* "sys -1.01%" */
static const char *row_with_change(const struct view *v, const struct cmp_test *t,
				   const struct cmp_row *r, const struct cmp_cell *cell)
{
	return arena_printf(v->a, "%s %s", view_phrase(v, t, r), row_change(v->a, r, cell));
}

/* "7 runs a side can show 2.9% there, not 1%" */
static const char *row_power(const struct view *v, const struct cmp_row *r,
			     const struct cmp_cell *cell)
{
	int n = MIN(cell->n, r->cells[0].n);

	if (!(cell->detectable > v->c->threshold))
		return "";
	return arena_printf(v->a, ": %d %s%s can show %.1f%% there, not %g%%", n,
			    view_unit_word(v->c, n != 1), view_a_side(v->c), 100 * cell->detectable,
			    100 * v->c->threshold);
}

/* Rows of a pair by what is said of them, in the order of the sentence. */
static const struct row_group {
	enum verdict verdict;
	bool small;
	bool with_change;
	const char *word;
} row_groups[] = {
	{VERDICT_WORSE, false, true, ", worse"},
	{VERDICT_BETTER, false, true, ", better"},
	{VERDICT_CHANGED, false, true, ", changed"},
	{VERDICT_WORSE, true, true, ", worse but small"},
	{VERDICT_BETTER, true, true, ", better but small"},
	{VERDICT_SAME, false, false, " same"},
	{VERDICT_UNSURE, false, false, " unsure"},
	{VERDICT_FAILED, false, false, " failed"},
	{VERDICT_MISSING, false, false, " missing"},
};

/* One part of the sentence: the rows of a benchmark with one verdict. */
static void words_group(const struct view *v, const char *benchmark, const struct row_group *g,
			bool alone, struct strbuf *out)
{
	bool numbers = g->with_change || alone;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct cmp_cell *last = NULL;
	const char *power = "";
	size_t t, r;

	for (t = 0; t < v->c->n_tests; t++) {
		const struct cmp_test *test = &v->c->tests[t];

		if (strcmp(test->benchmark, benchmark))
			continue;
		for (r = 0; r < test->n_rows; r++) {
			const struct cmp_row *row = &test->rows[r];
			const struct cmp_cell *cell = &row->cells[1];

			if (!row->shown || cell->verdict != g->verdict || cell->small != g->small)
				continue;
			add_part(&sb, ", ",
				 numbers ? row_with_change(v, test, row, cell)
					 : view_phrase(v, test, row));
			power = last ? "" : row_power(v, row, cell);
			last = cell;
		}
	}
	if (!last)
		return;
	add_part(out, "; ", strbuf_str(&sb));
	if (!alone)
		strbuf_adds(out, g->word);
	if (g->verdict == VERDICT_UNSURE)
		strbuf_adds(out, power);
	if (g->verdict == VERDICT_FAILED && last->error)
		strbuf_addf(out, " (%s)", text_ascii(v->a, last->error));
}

/* Rows of a benchmark that are shown, and how many of them are unsure. */
static int shown_rows(const struct comparison *c, const char *benchmark, int *unsure)
{
	size_t t, r;
	int n = 0;

	*unsure = 0;
	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++) {
			const struct cmp_row *row = &c->tests[t].rows[r];

			if (strcmp(c->tests[t].benchmark, benchmark) || !row->shown)
				continue;
			n++;
			*unsure += row->cells[1].verdict == VERDICT_UNSURE;
		}
	}
	return n;
}

/* "BETTER" where the rows agree on a word; a benchmark that is merely undecided has none. */
static const char *overall_word(const struct view *v, const struct cmp_overall *o)
{
	int unsure, n = shown_rows(v->c, o->benchmark, &unsure);

	if (o->verdict == VERDICT_UNSURE && unsure < n)
		return "";
	return arena_printf(v->a, "%s. ", upper(v->a, verdict_name(o->verdict)));
}

static void words_pair(struct text *t, const struct view *v, const char *benchmark)
{
	const struct cmp_overall *o = comparison_overall(v->c, benchmark, 1);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int unsure, n = shown_rows(v->c, benchmark, &unsure);
	size_t i;

	/* where all are unsure, the word has said so and the numbers are worth more */
	for (i = 0; i < ARRAY_SIZE(row_groups); i++)
		words_group(v, benchmark, &row_groups[i], n == unsure, &sb);
	text_block(t, NULL, "%s: %s%s.", text_ascii(v->a, benchmark), overall_word(v, o),
		   strbuf_str(&sb));
}

/* "better in 15, worse in 3 of 20 rows" */
static const char *overall_counts(struct arena *a, const struct cmp_overall *o)
{
	const struct {
		int n;
		const char *word;
	} counts[] = {{o->better, "better"},  {o->worse, "worse"},   {o->small, "small"},
		      {o->same, "same"},      {o->unsure, "unsure"}, {o->failed, "failed"},
		      {o->missing, "missing"}};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].n)
			add_part(&sb, ", ",
				 arena_printf(a, "%s in %d", counts[i].word, counts[i].n));
	strbuf_addf(&sb, " of %d %s", o->rows, o->rows == 1 ? "row" : "rows");
	return arena_strdup(a, strbuf_str(&sb));
}

/* "D and E BETTER" of all variants with that verdict, with what their rows say. */
static void words_verdict_group(const struct view *v, const char *benchmark, enum verdict verdict,
				struct strbuf *out)
{
	const struct comparison *c = v->c;
	bool *set = arena_alloc_array(v->a, c->n_variants, sizeof(*set));
	const char *word = upper(v->a, verdict_name(verdict));
	const struct cmp_overall *one = NULL;
	size_t i, n = 0;

	for (i = 1; i < c->n_variants; i++) {
		const struct cmp_overall *o = comparison_overall(c, benchmark, i);

		if (o->verdict != verdict)
			continue;
		set[i] = true;
		one = o;
		n++;
		if (verdict == VERDICT_INCOMPLETE)
			add_part(out, "; ",
				 arena_printf(v->a, "%s %s (%s)", c->variants[i].id, word,
					      overall_counts(v->a, o)));
	}
	if (!n || verdict == VERDICT_INCOMPLETE)
		return;
	add_part(out, "; ", arena_printf(v->a, "%s %s", view_names(c, v->a, set), word));
	if (n == 1)
		strbuf_addf(out, " (%s)", overall_counts(v->a, one));
}

static void words_many(struct text *t, const struct view *v, const char *benchmark)
{
	static const enum verdict order[] = {VERDICT_WORSE, VERDICT_MIXED,  VERDICT_BETTER,
					     VERDICT_SAME,  VERDICT_UNSURE, VERDICT_INCOMPLETE};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		words_verdict_group(v, benchmark, order[i], &sb);
	text_block(t, NULL, "%s against A: %s.", text_ascii(v->a, benchmark), strbuf_str(&sb));
}

/* ---- the worst cell, the contrasts, what was not tested ---- */

/* "Worst: C, 64 clients, numa 0&1: -33.50% (10608.36 for 15952.50)." */
static void words_cell(struct text *t, const struct view *v, const char *head,
		       const struct cmp_test *test, const struct cmp_row *row, int variant)
{
	const struct cmp_cell *cell = &row->cells[variant], *base = &row->cells[0];
	int decimals = view_row_decimals(v, row);

	text_block(t, NULL, "%s: %s, %s: %s%s.", head, v->c->variants[variant].id,
		   view_phrase(v, test, row), text_percent(v->a, cell->change, "%"),
		   cell->has_mean && base->has_mean
			   ? arena_printf(v->a, " (%s for %s)", view_mean(v->a, cell, decimals),
					  view_mean(v->a, base, decimals))
			   : "");
}

static void words_worst(struct text *t, const struct view *v, const char *benchmark)
{
	const struct cmp_overall *worst = NULL;
	double least = 0, o;
	size_t i;

	for (i = 1; i < v->c->n_variants; i++) {
		const struct cmp_overall *each = comparison_overall(v->c, benchmark, i);

		if (!each->worst_row || (v->c->tested && !each->worse))
			continue;
		o = comparison_orient(each->worst_row->direction, each->worst_change);
		if (o < least) {
			least = o;
			worst = each;
		}
	}
	if (worst)
		words_cell(t, v, "Worst", worst->worst_test, worst->worst_row, worst->variant);
}

/* Where no direction says what is worse. */
static void words_largest(struct text *t, const struct view *v, const char *benchmark)
{
	const struct cmp_test *test = NULL;
	const struct cmp_row *row = NULL;
	double most = 0;
	int variant = 0;
	size_t i, r, k;

	for (i = 0; i < v->c->n_tests; i++) {
		for (r = 0; r < v->c->tests[i].n_rows; r++) {
			for (k = 1; k < v->c->n_variants; k++) {
				const struct cmp_cell *cell = &v->c->tests[i].rows[r].cells[k];

				if (strcmp(v->c->tests[i].benchmark, benchmark) ||
				    !cell->has_change || fabs(cell->change) <= most)
					continue;
				most = fabs(cell->change);
				test = &v->c->tests[i];
				row = &test->rows[r];
				variant = (int)k;
			}
		}
	}
	if (row)
		words_cell(t, v, "Largest change", test, row, variant);
}

static bool has_order(const struct comparison *c, const char *benchmark)
{
	size_t i;

	for (i = 1; i < c->n_variants; i++)
		if (comparison_overall(c, benchmark, i)->worst_row)
			return true;
	return false;
}

static void words_contrast(struct text *t, const struct view *v, size_t k)
{
	const struct cmp_contrast *contrast = &v->c->contrasts[k];
	const struct view_table *table = &v->tables[0];
	size_t column = v->c->n_variants + k;
	const char *what = arena_printf(v->a, "%s against %s%s%s", v->c->variants[contrast->top].id,
					v->c->variants[contrast->bottom].id,
					*table->where ? ", " : "", table->where);

	if (table->split)
		text_block(
			t, NULL, "%s: %s at %s %s, %s at %s.", what,
			text_percent(v->a, view_gmean(v->c, table, column, 0, table->split), "%"),
			view_range(v->a, table, 0, table->split), table->axis,
			text_percent(v->a, view_gmean(v->c, table, column, table->split, table->n),
				     "%"),
			view_range(v->a, table, table->split, table->n));
	else
		text_block(t, NULL, "%s: geometric mean %s.", what,
			   text_percent(v->a, view_gmean(v->c, table, column, 0, table->n), "%"));
}

static void words_not_tested(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	int low, high;

	view_units_range(c, &low, &high);
	if (!c->has_n && !c->has_spread)
		text_block(t, NULL, "NOT TESTED: the source states neither runs nor spread.");
	else if (!c->has_n)
		text_block(t, NULL, "NOT TESTED: the source does not state the runs.");
	else if (!c->has_spread && strcmp(c->kind, "import") == 0 && high >= STATS_TEST_MIN)
		text_block(t, NULL, "NOT TESTED: the source states no spread.");
	else if (low >= STATS_TEST_MIN)
		text_block(t, NULL, "NOT TESTED: the single runs are not in the source.");
	else
		text_block(t, NULL, "NOT TESTED: n = %s; a verdict takes %d.",
			   view_units_text(c, t->a), STATS_TEST_MIN);
}

void words_sentence(struct text *t, const struct view *v, const char *benchmark)
{
	const struct comparison *c = v->c;
	int unsure, n = shown_rows(c, benchmark, &unsure);

	if (!n)
		text_block(t, NULL, "%s: no headline metric, so no verdict.",
			   text_ascii(v->a, benchmark));
	else if (!layout_is_pair(c) && !c->tested)
		words_standing(t, v, benchmark);
	else if (c->n_variants == 2 && n <= FEW_ROWS)
		words_pair(t, v, benchmark);
	else
		words_many(t, v, benchmark);
}

static void words_benchmark(struct text *t, const struct view *v, const char *benchmark)
{
	const struct comparison *c = v->c;
	int unsure, n = shown_rows(c, benchmark, &unsure);

	words_sentence(t, v, benchmark);
	if (!has_order(c, benchmark) && !c->tested)
		words_largest(t, v, benchmark);
	else if (!layout_is_pair(c) || n > FEW_ROWS)
		words_worst(t, v, benchmark);
}

void words_print(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	const char *limit = comparison_limit(c);
	size_t i;

	if (limit)
		text_block(t, NULL, "%s.", limit);
	if (c->done < c->planned)
		text_block(t, NULL, "UNFINISHED: %d of %d runs done; all below may still change.",
			   c->done, c->planned);
	for (i = 0; i < c->n_overall; i++)
		if (!i || strcmp(c->overall[i].benchmark, c->overall[i - 1].benchmark))
			words_benchmark(t, v, c->overall[i].benchmark);
	for (i = 0; v->n && i < c->n_contrasts; i++)
		words_contrast(t, v, i);
	if (!c->tested)
		words_not_tested(t, v);
}
