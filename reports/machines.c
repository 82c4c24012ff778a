// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One question asked on several machines: their figures are never pooled, each has a comparison of
 * its own and a block of the report, below one line that says how far they agree.
 *
 *	2 machines agree in 2 of 3 rows: sys better (-1.01%, -1.15%); ...
 */
#include <errno.h>
#include <string.h>

#include "reports/layout.h"

/* ---- building ---- */

/* Campaigns of one machine; imports that do not state it are each on a machine of their own. */
static bool is_together(const struct db_campaign *x, const struct db_campaign *y)
{
	return x->machine_id && x->machine_id == y->machine_id;
}

int comparison_build_machines(struct db *db, struct arena *a, const char *const *names, size_t n,
			      const struct comparison_options *opt, struct comparison **out,
			      struct err *e)
{
	struct db_campaign *all = arena_alloc_array(a, n + 1, sizeof(*all));
	const char **ids = arena_alloc_array(a, n + 1, sizeof(*ids));
	bool *taken = arena_alloc_array(a, n + 1, sizeof(*taken));
	struct comparison **next = out;
	size_t i, k, together;
	int r = 0;

	/* variants by name are those of one campaign or of campaigns joined */
	if (n < 2 || opt->baseline || opt->n_others)
		return comparison_build(db, a, names, n, opt, out, e);
	for (i = 0; !r && i < n; i++)
		r = db_find_campaign(db, a, names[i], &all[i], e);
	for (i = 0; !r && i < n; i++) {
		if (taken[i])
			continue;
		for (k = i, together = 0; k < n; k++) {
			if (k != i && (taken[k] || (!is_together(&all[i], &all[k]) &&
						    strcmp(all[i].id, all[k].id))))
				continue;
			taken[k] = true;
			ids[together++] = all[k].id;
		}
		r = comparison_build(db, a, ids, together, opt, next, e);
		if (!r)
			next = &(*next)->next;
	}
	return r;
}

/* ---- agreement ---- */

/* The only test case of a benchmark, NULL where there are several. */
static const struct cmp_test *only_test(const struct comparison *c, const char *benchmark)
{
	const struct cmp_test *only = NULL;
	size_t t;

	for (t = 0; t < c->n_tests; t++) {
		if (strcmp(c->tests[t].benchmark, benchmark))
			continue;
		if (only)
			return NULL;
		only = &c->tests[t];
	}
	return only;
}

/*
 * The test case of another machine that asks the same: by name, or as the only one of its benchmark
 * on both (machines of other sizes are measured with other numbers of jobs). NULL: none.
 */
static const struct cmp_test *test_like(const struct comparison *first, const struct cmp_test *mine,
					const struct comparison *c)
{
	size_t t;

	for (t = 0; t < c->n_tests; t++)
		if (!strcmp(mine->name, c->tests[t].name))
			return &c->tests[t];
	return only_test(first, mine->benchmark) == mine ? only_test(c, mine->benchmark) : NULL;
}

/* Row number `at` of a test case as a rule, as both list the same metrics. */
static const struct cmp_row *row_like(const struct cmp_test *other, const char *metric, size_t at)
{
	size_t r;

	if (other && at < other->n_rows && !strcmp(other->rows[at].metric, metric))
		return &other->rows[at];
	for (r = 0; other && r < other->n_rows; r++)
		if (!strcmp(other->rows[r].metric, metric))
			return &other->rows[r];
	return NULL;
}

struct agreement {
	const struct comparison *first;
	const struct cmp_row **others; /* of the row at hand, one per further machine */
	int machines;
	int rows, same; /* rows that all machines have; those that read the same everywhere */
	struct strbuf agree, differ;
	int n_agree, n_differ;
};

/* Rows named one by one on each side of the sentence. */
#define NAMED 4

static const char *reading(struct arena *a, const struct cmp_cell *cell)
{
	return cell->has_change ? text_percent(a, cell->change, "%") : verdict_name(cell->verdict);
}

static void take_cell(struct agreement *g, const struct cmp_test *test, const struct cmp_row *row,
		      size_t variant, const struct view *v)
{
	const struct cmp_cell *mine = &row->cells[variant];
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct strbuf *out;
	bool agree = true;
	int i, *n;

	strbuf_adds(&sb, reading(v->a, mine));
	for (i = 0; i < g->machines - 1; i++) {
		const struct cmp_cell *other = &g->others[i]->cells[variant];

		agree &= other->verdict == mine->verdict;
		strbuf_addf(&sb, ", %s", reading(v->a, other));
		if (other->verdict != mine->verdict)
			strbuf_addf(&sb, " %s", verdict_name(other->verdict));
	}
	g->rows++;
	g->same += agree;
	out = agree ? &g->agree : &g->differ;
	n = agree ? &g->n_agree : &g->n_differ;
	if ((*n)++ >= NAMED)
		return;
	strbuf_addf(out, "%s%s%s%s %s (%s)", out->len ? "; " : "",
		    g->first->n_variants > 2 ? g->first->variants[variant].id : "",
		    g->first->n_variants > 2 ? " " : "", view_phrase(v, test, row),
		    verdict_name(mine->verdict), strbuf_str(&sb));
}

/* The variants of a row as far as every machine has them; none where one lacks the row. */
static void take_row(struct agreement *g, const struct cmp_test *test, size_t at,
		     const struct view *v)
{
	const struct cmp_row *row = &test->rows[at];
	size_t variants = g->first->n_variants, k;
	const struct comparison *c;
	int i = 0;

	for (c = g->first->next; c; c = c->next, i++) {
		g->others[i] = row_like(test_like(g->first, test, c), row->metric, at);
		if (!g->others[i])
			return;
		variants = MIN(variants, c->n_variants);
	}
	for (k = 1; k < variants; k++)
		take_cell(g, test, row, k, v);
}

/* The line of agreement; the first machine's verdict is named first. */
static void agreement_print(struct text *t, const struct comparison *first, int machines)
{
	struct agreement g = {
		.first = first,
		.others = arena_alloc_array(t->a, (size_t)machines, sizeof(*g.others)),
		.machines = machines,
		.agree = STRBUF_INIT,
		.differ = STRBUF_INIT,
	};
	struct view v;
	size_t i, r;

	view_init(&v, first, t->a, 0);
	for (i = 0; i < first->n_tests; i++)
		for (r = 0; r < first->tests[i].n_rows; r++)
			if (first->tests[i].rows[r].shown)
				take_row(&g, &first->tests[i], r, &v);
	if (!g.rows)
		text_block(t, NULL, "%d machines, and no row that all of them have.", machines);
	else
		text_block(t, NULL, "%d machines agree in %d of %d rows%s%s%s%s%s%s.", machines,
			   g.same, g.rows, g.agree.len ? ": " : "", strbuf_str(&g.agree),
			   g.n_agree > NAMED ? "; ..." : "", g.differ.len ? ". They differ: " : "",
			   strbuf_str(&g.differ), g.n_differ > NAMED ? "; ..." : "");
	strbuf_release(&g.agree);
	strbuf_release(&g.differ);
}

int report_render(const struct report_format *format, const struct comparison *c,
		  const struct report_options *opt, struct strbuf *out, struct err *e)
{
	int width = opt->width ? opt->width : MAIL_WIDTH - 1, machines = 0, r = 0;
	struct text t = {c->arena, out, width, false};
	const struct comparison *each;
	int number = 0;

	if (!c->next)
		return format->render(c, opt, out, e);
	if (!format->blocks) {
		err_add(e, -EINVAL, "-o %s holds one machine, and %s and %s are of two",
			format->name, c->campaigns[0], c->next->campaigns[0]);
		err_hint(e, "write one file for each: --campaign %s", c->campaigns[0]);
		return -EINVAL;
	}
	for (each = c; each; each = each->next)
		machines++;
	agreement_print(&t, c, machines);
	for (each = c; !r && each; each = each->next) {
		text_blank(&t);
		text_block(&t, NULL, "machine %d of %d, %s", ++number, machines,
			   *each->machine ? text_ascii(c->arena, each->machine)
					  : each->campaigns[0]);
		text_blank(&t);
		r = format->render(each, opt, out, e);
	}
	return r;
}
