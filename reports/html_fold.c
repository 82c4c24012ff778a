// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a row of a table holds when it is opened: how its verdict was made, every value in the order
 * it was measured, with its run and raw output, older values, the exact command.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html.h"

/* ---- how the verdict was made ---- */

static const struct {
	const char *test, *words;
} tests[] = {
	{"mw", "exact rank test"},
	{"sr", "exact signed-rank test of pairs"},
	{"modt", "moderated t-test"},
	{"welch", "Welch's t-test of the published figures"},
	{"det", "seed by seed"},
};

static const char *test_words(const char *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].test, test))
			return tests[i].words;
	return "not tested";
}

static void add_power(struct html *h, const struct cmp_cell *cell)
{
	const char *units = view_unit_word(h->c, true), *side = view_a_side(h->c);

	if (!isnan(cell->detectable))
		html_addf(h, "; so many %s can show %.2g%% (80%% power)", units,
			  100 * cell->detectable);
	if (cell->runs_needed > 50)
		html_addf(h, "; more than 50 %s%s would settle it", units, side);
	else if (cell->runs_needed)
		html_addf(h, "; %d %s%s would settle it", cell->runs_needed, units, side);
}

/* "B: +1.00% better; [..]; exact rank test, p = 0.008, corrected 0.016" */
static void add_reason(struct html *h, const struct view_row *r, size_t column, int decimals)
{
	const struct cmp_cell *cell = view_cell(h->c, r, column);
	const char *change = html_change(h, r->row, cell);

	html_addf(h, "<li><b>%s</b>: ", view_column_name(h->c, h->a, column));
	if (*change) {
		strbuf_adds(h->out, "change ");
		html_text(h, change);
		strbuf_adds(h->out, cell->published ? " as published, " : ", ");
	}
	html_text(h, html_look(h, cell).word);
	if (strcmp(cell->test.test, "none"))
		html_addf(h, "; %s ", test_words(cell->test.test));
	html_text(h, html_interval_text(h, r->row, cell));
	if (cell->outside && cell->test.on_log && isfinite(cell->test.shift))
		html_addf(h, "; the change lies outside its interval, so the shift %s decides",
			  text_percent(h->a, cell->test.shift, "%"));
	if (!isnan(cell->test.p))
		html_addf(h, ", p = %s", text_p(h->a, cell->test.p));
	if (!isnan(cell->p_adjusted))
		html_addf(h, ", corrected for all rows %s", text_p(h->a, cell->p_adjusted));
	if (cell->has_prediction)
		html_addf(h, "; the next %s of the bigger side would lie in %s..%s (%g%%)",
			  view_unit_word(h->c, false),
			  text_number(h->a, cell->prediction.low, decimals),
			  text_number(h->a, cell->prediction.high, decimals), 100 * h->c->level);
	if (cell->rounds)
		html_addf(h, "; lower in %d of %d blocks", cell->rounds_lower, cell->rounds);
	add_power(h, cell);
	strbuf_adds(h->out, ".</li>\n");
}

static void add_reasons(struct html *h, const struct view_row *r, int decimals)
{
	size_t k;

	strbuf_adds(h->out, "<ul>\n");
	for (k = 1; k < view_columns(h->c); k++)
		add_reason(h, r, k, decimals);
	strbuf_adds(h->out, "</ul>\n");
}

/* ---- the runs of a value ---- */

static int run_compare(const void *x, const void *y)
{
	const struct cmp_run *a = *(const struct cmp_run *const *)x;
	const struct cmp_run *b = *(const struct cmp_run *const *)y;

	if (a->variant != b->variant)
		return a->variant - b->variant;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->order - b->order;
}

static bool run_is_good(const struct cmp_run *r)
{
	return !strcmp(r->outcome, "ok");
}

/* The good runs of a test by variant, block and order; NULL ends the list. */
static const struct cmp_run **sorted_runs(struct html *h, const struct cmp_test *t)
{
	size_t i, n = 0;

	if (h->sorted_test == t)
		return h->sorted;
	h->sorted_test = t;
	h->sorted = arena_alloc_array(h->a, t->n_runs + 1, sizeof(*h->sorted));
	for (i = 0; i < t->n_runs; i++)
		if (run_is_good(&t->runs[i]))
			h->sorted[n++] = &t->runs[i];
	if (n)
		qsort(h->sorted, n, sizeof(*h->sorted), run_compare);
	h->sorted[n] = NULL;
	return h->sorted;
}

/* A value with the runs it is made of. */
struct unit {
	const struct cmp_run *const *runs;
	size_t n_runs;
	int variant, block, order;
	double value;
};

static int unit_compare(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->variant - b->variant;
}

/* Values of one block, runs of the same: one each, or all runs behind every value. */
static const struct cmp_run **block_units(const struct cmp_cell *cell, int from, int to,
					  const struct cmp_run **runs, struct unit *out)
{
	size_t n = 0, i;

	while (*runs && (*runs)->variant == cell->variant && (*runs)->block < cell->blocks[from])
		runs++;
	while (runs[n] && runs[n]->variant == cell->variant && runs[n]->block == cell->blocks[from])
		n++;
	for (i = 0; i < (size_t)(to - from); i++) {
		bool each = n == (size_t)(to - from);

		out[i] = (struct unit){
			.runs = each ? runs + i : runs,
			.n_runs = each ? 1 : n,
			.variant = cell->variant,
			.block = cell->blocks[from],
			.order = n ? runs[each ? i : 0]->order : 0,
			.value = cell->values[(size_t)from + i],
		};
	}
	return runs + n;
}

/* All values of a row, by the order of their runs. */
static struct unit *row_units(struct html *h, const struct view_row *r, size_t *n)
{
	const struct cmp_run **runs = sorted_runs(h, r->test);
	struct unit *units;
	size_t k, all = 0;
	int from, to;

	for (k = 0; k < h->c->n_variants; k++)
		all += r->row->cells[k].values ? (size_t)r->row->cells[k].n : 0;
	units = arena_alloc_array(h->a, all + 1, sizeof(*units));
	for (*n = 0, k = 0; k < h->c->n_variants; k++) {
		const struct cmp_cell *cell = &r->row->cells[k];

		while (*runs && (*runs)->variant < (int)k)
			runs++;
		for (from = 0; cell->values && from < cell->n; from = to) {
			for (to = from; to < cell->n && cell->blocks[to] == cell->blocks[from];)
				to++;
			runs = block_units(cell, from, to, runs, units + *n);
			*n += (size_t)(to - from);
		}
	}
	if (*n)
		qsort(units, *n, sizeof(*units), unit_compare);
	return units;
}

/* ---- the picture of the values in their order ---- */

enum { PICTURE_HEIGHT = 80, PICTURE_EDGE = 8 };

/* Marks of the kernels: one shape for each of the first few, then again. */
static void add_dot(struct html *h, int variant, double x, double y)
{
	html_addf(h, "<use href=\"#dot%d\" x=\"%.1f%%\" y=\"%.0f\"/>", variant % HTML_DOTS, x, y);
}

static void add_dot_legend(struct html *h)
{
	size_t i;

	strbuf_adds(h->out, "<p class=\"legend\">");
	for (i = 0; i < h->c->n_variants; i++)
		html_addf(h,
			  "<span><svg width=\"16\" height=\"16\" viewBox=\"-8 -8 16 16\" "
			  "aria-hidden=\"true\"><use href=\"#dot%zu\"/></svg> %s</span> ",
			  i % HTML_DOTS, h->c->variants[i].id);
	strbuf_adds(h->out, "in the order of the runs</p>\n");
}

static void add_picture(struct html *h, const struct unit *units, size_t n, int decimals)
{
	double low = INFINITY, high = -INFINITY, span;
	size_t i;

	for (i = 0; i < n; i++) {
		low = fmin(low, units[i].value);
		high = fmax(high, units[i].value);
	}
	span = high > low ? high - low : 1;
	html_addf(h,
		  "<svg class=\"order\" height=\"%d\" role=\"img\" aria-label=\"values in the "
		  "order of the runs, from %s to %s\">",
		  PICTURE_HEIGHT + 2 * PICTURE_EDGE, text_number(h->a, low, decimals),
		  text_number(h->a, high, decimals));
	for (i = 0; i < n; i++)
		add_dot(h, units[i].variant, 4 + 92 * ((double)i + 0.5) / (double)n,
			PICTURE_EDGE + PICTURE_HEIGHT * (1 - (units[i].value - low) / span));
	strbuf_adds(h->out, "</svg>\n");
	add_dot_legend(h);
}

/* ---- every run ---- */

static void add_runs_of(struct html *h, const struct unit *u)
{
	size_t i;

	for (i = 0; i < u->n_runs; i++)
		html_addf(h, "%s%" PRId64, i ? ", " : "", u->runs[i]->id);
}

/* "2026-11-30T14:31:33Z" -> "2026-11-30 14:31:33" */
static const char *plain_time(struct html *h, const char *iso)
{
	char *copy = arena_strdup(h->a, iso), *t = strchr(copy, 'T');

	if (t)
		*t = ' ';
	if (str_ends(copy, "Z"))
		copy[strlen(copy) - 1] = '\0';
	return copy;
}

static void unit_line(struct html *h, const struct unit *u, int decimals, bool when)
{
	const struct cmp_run *first = u->n_runs ? u->runs[0] : NULL;

	strbuf_adds(h->out, "<tr><td class=\"num\">");
	if (u->order)
		html_addf(h, "%d", u->order);
	html_addf(h, "</td><td>%s</td><td class=\"num\">%d</td><td class=\"num\">%s</td>",
		  h->c->variants[u->variant].id, u->block % CMP_BLOCK_STRIDE,
		  text_number(h->a, u->value, decimals));
	if (when)
		html_addf(h, "<td>%s</td>", first ? plain_time(h, first->started) : "");
	strbuf_adds(h->out, "<td class=\"num\">");
	add_runs_of(h, u);
	strbuf_adds(h->out, "</td></tr>\n");
}

static void failed_line(struct html *h, const struct cmp_run *r, bool when)
{
	html_addf(h,
		  "<tr class=\"failed\"><td class=\"num\">%d</td><td>%s</td>"
		  "<td class=\"num\">%d</td><td>",
		  r->order, h->c->variants[r->variant].id, r->block % CMP_BLOCK_STRIDE);
	html_text(h, r->outcome);
	html_addf(h, "%s", *r->error ? ": " : "");
	html_text(h, r->error);
	if (*r->message) {
		strbuf_adds(h->out, "<br><small>");
		html_text(h, r->message);
		strbuf_adds(h->out, "</small>");
	}
	strbuf_adds(h->out, "</td>");
	if (when)
		html_addf(h, "<td>%s</td>", plain_time(h, r->started));
	html_addf(h, "<td class=\"num\">%" PRId64 "</td></tr>\n", r->id);
}

static bool any_started(const struct cmp_test *t)
{
	size_t i;

	for (i = 0; i < t->n_runs; i++)
		if (*t->runs[i].started)
			return true;
	return false;
}

static void add_units(struct html *h, const struct html_part *p, const struct view_row *r)
{
	int decimals = p->values;
	bool when = any_started(r->test), imported = !strcmp(h->c->kind, "import");
	size_t n, i, failed = 0;
	struct unit *units = row_units(h, r, &n);

	for (i = 0; i < r->test->n_runs; i++)
		failed += !run_is_good(&r->test->runs[i]);
	if (!n && !failed)
		return;
	if (n > 1)
		add_picture(h, units, n, decimals);
	html_addf(
		h,
		"<table class=\"runs\">\n<thead><tr><th scope=\"col\">order</th>"
		"<th scope=\"col\">kernel</th><th scope=\"col\">block</th>"
		"<th scope=\"col\">value</th>%s<th scope=\"col\">run</th></tr></thead>\n<tbody>\n",
		when ? "<th scope=\"col\">started</th>" : "");
	for (i = 0; i < n; i++)
		unit_line(h, &units[i], decimals, when);
	for (i = 0; i < r->test->n_runs; i++)
		if (!run_is_good(&r->test->runs[i]))
			failed_line(h, &r->test->runs[i], when);
	strbuf_adds(h->out, "</tbody>\n</table>\n");
	if (r->test->n_runs)
		html_addf(h,
			  "<p><code>kdelta show %" PRId64 "%s</code> prints %s run %" PRId64
			  ", and so on, with the database it was measured into.</p>\n",
			  r->test->runs[0].id, imported ? "" : " --raw stdout",
			  imported ? "what is stored of" : "the raw output of",
			  r->test->runs[0].id);
}

/* Of counters: the values alone; their runs are told by the rows of the headlines. */
static void add_values(struct html *h, const struct html_part *p, const struct view_row *r)
{
	int decimals = p->values, j;
	size_t k;

	strbuf_adds(h->out, "<ul>\n");
	for (k = 0; k < h->c->n_variants; k++) {
		const struct cmp_cell *cell = &r->row->cells[k];

		if (!cell->values)
			continue;
		html_addf(h, "<li><b>%s</b> by block:", h->c->variants[k].id);
		for (j = 0; j < cell->n; j++)
			html_addf(h, " %s", text_number(h->a, cell->values[j], decimals));
		strbuf_adds(h->out, "</li>\n");
	}
	strbuf_adds(h->out, "</ul>\n");
}

/* ---- around them ---- */

static void add_history(struct html *h, const struct html_part *p, const struct cmp_row *row)
{
	int decimals = p->values;
	size_t i, k;

	if (!row->n_past)
		return;
	html_addf(h,
		  "<p>Older campaigns of this machine, %s each line, oldest first:</p>\n<pre>",
		  h->c->paired ? "the ratios of the pairs of one variant" : "a kernel");
	for (i = 0; i < row->n_past; i++)
		for (k = 0; k < row->past[i].n; k++)
			html_addf(h, "%s%c", text_number(h->a, row->past[i].x[k], decimals),
				  k + 1 < row->past[i].n ? ' ' : '\n');
	strbuf_adds(h->out, "</pre>\n");
}

static void add_command(struct html *h, const struct cmp_test *t)
{
	const struct cmp_run *run = t->n_runs ? &t->runs[0] : NULL;

	if (*t->description) {
		strbuf_adds(h->out, "<p>");
		html_name(h, t->description);
		strbuf_adds(h->out, "</p>\n");
	}
	if (!*t->command && (!run || !*run->command)) {
		strbuf_adds(h->out, "<p>The command is not stated.</p>\n");
		return;
	}
	strbuf_adds(h->out, "<pre>");
	html_text(h, *t->command ? t->command : run->command);
	strbuf_adds(h->out, "</pre>\n");
	if (!run || !*run->command || !*t->command || !strcmp(run->command, t->command))
		return;
	strbuf_adds(h->out, "<p>as run:</p>\n<pre>");
	html_text(h, run->command);
	strbuf_adds(h->out, "</pre>\n");
}

void html_fold(struct html *h, const struct html_part *p, const struct view_row *r)
{
	add_reasons(h, r, p->means);
	if (!p->table->shown) {
		add_values(h, p, r);
		return;
	}
	add_units(h, p, r);
	add_history(h, p, r->row);
	add_command(h, r->test);
}
