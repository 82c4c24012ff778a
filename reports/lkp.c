// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o lkp: a report in the manner of the kernel test robot, with what its readers ask for: which
 * direction is better, what a metric means, how sure it is, and whether it is a win. 78 columns.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "reports/lkp.h"

/* ---- the verdict ---- */

/* The commit that is judged, or the name of the variant. */
static const char *variant_text(const struct lkp *k, size_t variant)
{
	const struct cmp_variant *v = &k->c->variants[variant];

	if (*v->commit)
		return arena_printf(k->a, "%.12s", text_ascii(k->a, v->commit));
	return *v->name == '#' ? v->id : text_ascii(k->a, v->name);
}

struct tally {
	int better, worse, open, votes, c_better, c_worse, c_depend, counters;
	const struct cmp_test *failed; /* the first with more failures */
};

static struct tally tally_of(const struct lkp *k, const char *benchmark)
{
	struct tally s = {0};
	size_t t;

	for (t = 0; t < k->c->n_tests; t++) {
		const struct cmp_test *test = &k->c->tests[t];
		const struct cmp_work *w = &test->works[k->variant];

		if (strcmp(test->benchmark, benchmark))
			continue;
		s.better += w->votes_better;
		s.worse += w->votes_worse;
		s.open += w->votes_open;
		s.votes += w->votes;
		s.c_better += w->better;
		s.c_worse += w->worse;
		s.c_depend += w->depend;
		s.counters += w->counters;
		if (!s.failed && w->failed_more > 0)
			s.failed = test;
	}
	return s;
}

/* Tested: the overall verdict. Untested: what the headlines read. */
static const char *verdict_text(const struct lkp *k, const char *benchmark, const struct tally *s)
{
	const struct cmp_overall *o = comparison_overall(k->c, benchmark, k->variant);

	if (k->c->tested && o)
		return verdict_name(o->verdict);
	if (o && (o->verdict == VERDICT_INCOMPLETE))
		return "incomplete";
	if (s->better && s->worse)
		return "mixed";
	if (!s->votes || (s->open && !s->better && !s->worse))
		return "undecided";
	return s->better ? "win" : s->worse ? "loss" : "same";
}

/* Of few headlines each, of many how many. */
static void add_headlines(const struct lkp *k, const char *benchmark, const struct tally *s,
			  struct strbuf *sb)
{
	_cleanup_strbuf_ struct strbuf other = STRBUF_INIT;
	struct lkp quiet = *k; /* its marks are not those of the tables */
	const char *sep = " ";
	size_t t, r;

	if (s->votes > 3) {
		strbuf_addf(sb, " %d of %d headline rows better, %d worse.", s->better, s->votes,
			    s->worse);
		return;
	}
	for (t = 0; t < k->c->n_tests; t++) {
		const struct cmp_test *test = &k->c->tests[t];

		for (r = 0; r < test->n_rows && !strcmp(test->benchmark, benchmark); r++) {
			const struct cmp_row *row = &test->rows[r];
			const struct cmp_cell *cell = &row->cells[k->variant];

			if (!row->headline)
				continue;
			strbuf_addf(sb, "%s%s %s (%s; %s)", sep, text_ascii(k->a, row->metric),
				    lkp_change(&quiet, &row->cells[0], cell),
				    lkp_reads(&quiet, cell), view_direction(row->direction));
			sep = ", ";
		}
	}
	if (s->votes)
		strbuf_addc(sb, '.');
}

static void add_stated(const struct lkp *k, struct strbuf *sb)
{
	bool mixed = false, better = false, worse = false;
	size_t i;

	if (!k->c->n_stated)
		return;
	for (i = 0; i < k->c->n_stated; i++) {
		double o = comparison_orient(k->c->stated[i].direction, k->c->stated[i].change);

		better |= o > 0;
		worse |= o < 0;
	}
	mixed = better && worse;
	strbuf_addf(sb, ": %s", mixed ? "MIXED. The source states" : "the source states");
	for (i = 0; i < k->c->n_stated; i++) {
		const struct cmp_stated *s = &k->c->stated[i];
		double o = comparison_orient(s->direction, s->change);

		strbuf_addf(sb, "%s %s %s (%s)", i ? "," : "", text_ascii(k->a, s->metric),
			    text_ascii(k->a, s->text),
			    o > 0   ? "better"
			    : o < 0 ? "worse"
				    : "which way is better is not known");
	}
	strbuf_adds(sb, ".");
}

static bool is_first_of_benchmark(const struct comparison *c, size_t test)
{
	size_t i;

	for (i = 0; i < test; i++)
		if (!strcmp(c->tests[i].benchmark, c->tests[test].benchmark))
			return false;
	return true;
}

static const char *upper(struct arena *a, const char *s)
{
	char *u = arena_strdup(a, s), *p;

	for (p = u; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return u;
}

static void add_failed(const struct lkp *k, const struct cmp_test *test, struct strbuf *sb)
{
	const struct cmp_cell *base = &test->rows[0].cells[0];
	const struct cmp_cell *cell = &test->rows[0].cells[k->variant];

	strbuf_addf(sb, " FAILS: %d of %d runs of %s, %d of %d of A (p = %s).", cell->failed,
		    cell->runs, text_ascii(k->a, test->name), base->failed, base->runs,
		    text_p(k->a, test->works[k->variant].fail_p));
}

static void print_verdict(const struct lkp *k)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t t;

	strbuf_addf(&sb, "%s", variant_text(k, k->variant));
	add_stated(k, &sb);
	for (t = 0; t < k->c->n_tests; t++) {
		const char *benchmark = k->c->tests[t].benchmark;
		struct tally s;

		if (!is_first_of_benchmark(k->c, t))
			continue;
		s = tally_of(k, benchmark);
		strbuf_addf(&sb, "%s%s %s.", t || k->c->n_stated ? " " : ": ",
			    text_ascii(k->a, benchmark),
			    arena_printf(k->a, k->c->tested ? "%s" : "reads as %s, not tested",
					 upper(k->a, verdict_text(k, benchmark, &s))));
		if (!s.votes)
			strbuf_adds(&sb, " None of its metrics is a headline.");
		if (s.failed)
			add_failed(k, s.failed, &sb);
		add_headlines(k, benchmark, &s, &sb);
		if (s.counters)
			strbuf_addf(&sb,
				    " Counters do not vote: of %d, %d read better, %d worse, and "
				    "%d changed where the load decides.",
				    s.counters, s.c_better, s.c_worse, s.c_depend);
	}
	text_wrap(k->t, "", 0, strbuf_str(&sb));
}

/* ---- legend ---- */

static void print_noise(const struct lkp *k)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	double low = INFINITY, high = 0;
	int n = 0, near = 0;
	size_t t, r;

	for (t = 0; t < k->c->n_tests; t++) {
		for (r = 0; r < k->c->tests[t].n_rows; r++) {
			const struct cmp_row *row = &k->c->tests[t].rows[r];
			const struct cmp_cell *cell = &row->cells[k->variant];
			double d = cell->in_sd;

			/* where runs are known, of what decides; else all there is to go by */
			if (isnan(d) || !isnan(cell->test.p) || cell->reads == VERDICT_SAME ||
			    (k->c->has_n && !row->headline))
				continue;
			if (d < 3) {
				if (near++ < 6)
					strbuf_addf(&sb, "%s%.1f %s", near > 1 ? ", " : "", d,
						    lkp_metric(k->a, row));
				continue;
			}
			n++;
			low = fmin(low, d);
			high = fmax(high, d);
		}
	}
	if (!n && !near)
		return;
	if (near > 6)
		strbuf_addf(&sb, " and %d more below 3", near - 6);
	if (n)
		strbuf_addf(&sb, "%s%d metric%s %.1f to %.1f", near ? "; the other " : "", n,
			    n == 1 ? "" : "s", low, high);
	text_block(k->t, "noise", "%s. Change in sd of one run, at least: %s",
		   k->c->has_n ? "too few runs for a test" : "no test without n", strbuf_str(&sb));
}

static bool has_hidden_sd(const struct comparison *c)
{
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 0; i < c->n_variants; i++)
				if (c->tests[t].rows[r].cells[i].cv_hidden)
					return true;
	return false;
}

static void print_columns(const struct lkp *k)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *tests = view_tests_text(k->c, k->a);
	double percent = 100 * k->c->threshold;
	bool hidden = has_hidden_sd(k->c);

	strbuf_addf(&sb, "sd = stddev / mean, %%; change = %s / A - 1%s; ",
		    k->c->n_variants > 2 ? "kernel" : k->c->variants[1].id,
		    k->c->has_published ? ", as published" : "");
	if (k->points)
		strbuf_addf(&sb, "p = points (new - old of a percentage%s%s%s); ",
			    k->published ? ", published as " : "", k->published ? k->published : "",
			    k->n_published > 4 ? ", ..." : "");
	if (k->difference)
		strbuf_adds(&sb, "d = difference (no percentage of a base below 0); ");
	if (k->gone)
		strbuf_adds(&sb, "new, gone = the other side is 0 or has none, - = no value; ");
	if (hidden)
		strbuf_adds(&sb, "<=2 = the source prints no sd of 2 % or less; ");
	strbuf_adds(&sb, "want = the direction that is better: more, less, dep (depends on the "
			 "load), any (neither), ? (unknown); reads = ");
	if (k->c->tested)
		strbuf_addf(&sb,
			    "the verdict: better, worse (%sreal by the %s, corrected over all "
			    "rows, and %g%% or more), same (range inside +-%g%%), unsure "
			    "(neither), changed (real, no direction); untested rows: the change "
			    "seen against want",
			    k->small ? "s: less than that; " : "",
			    *tests ? tests : "exact rank test", percent, percent);
	else
		strbuf_adds(&sb, "the change seen against want, not a test; unsure where single "
				 "runs are known but too few");
	text_block(k->t, "columns", "%s", strbuf_str(&sb));
}

/* Published deviations are whole percentages everywhere. */
static bool has_whole_sd(const struct comparison *c)
{
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 0; i < c->n_variants; i++) {
				double p = 100 * c->tests[t].rows[r].cells[i].cv;

				if (!isnan(p) && fabs(p - round(p)) > 1e-6)
					return false;
			}
	return true;
}

/* ---- the report ---- */

/* What the same work took: costs that changed for better or worse, at most five. */
static void add_costs(const struct lkp *k, const struct cmp_test *test, struct strbuf *sb)
{
	struct lkp quiet = *k;
	int n = 0;
	size_t r;

	for (r = 0; test->works[k->variant].same && r < test->n_rows && n < 5; r++) {
		const struct cmp_row *row = &test->rows[r];
		const struct cmp_cell *cell = &row->cells[k->variant];

		if (row->headline || row->direction != DIR_LOWER || row->events ||
		    !cell->has_change ||
		    (cell->reads != VERDICT_BETTER && cell->reads != VERDICT_WORSE))
			continue;
		strbuf_addf(sb, "%s%s %s",
			    n++ ? ", " : ". For the same work: ", lkp_metric(k->a, row),
			    lkp_change(&quiet, &row->cells[0], cell));
	}
}

static void print_closing(const struct lkp *k)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t t;

	for (t = 0; t < k->c->n_tests; t++) {
		const struct cmp_test *test = &k->c->tests[t];
		struct tally s;

		if (!is_first_of_benchmark(k->c, t))
			continue;
		s = tally_of(k, test->benchmark);
		strbuf_addf(&sb, "%s%s: %s%s", sb.len ? "; " : "",
			    text_ascii(k->a, test->benchmark), verdict_text(k, test->benchmark, &s),
			    k->c->tested ? "" : ", not tested");
		if (s.failed)
			strbuf_adds(&sb, ", and more runs fail");
		add_costs(k, test, &sb);
	}
	if (k->c->n_stated > 1)
		strbuf_adds(&sb, ". What the source states of other tests is not in its tables");
	text_block(k->t, "Verdict", "%s.", strbuf_str(&sb));
}

static void print_against(struct lkp *k)
{
	size_t t;

	if (k->c->n_variants > 2) {
		text_blank(k->t);
		text_wrap(k->t, "", 0,
			  arena_printf(k->a, "%s against %s: %s against %s",
				       k->c->variants[k->variant].id, k->c->variants[0].id,
				       variant_text(k, k->variant), variant_text(k, 0)));
	}
	for (t = 0; t < k->c->n_tests; t++)
		lkp_print_test(k, &k->c->tests[t]);
	text_blank(k->t);
	print_closing(k);
}

static int lkp_render(const struct comparison *c, const struct report_options *opt,
		      struct strbuf *out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf top = STRBUF_INIT, tables = STRBUF_INIT;
	/* one column is kept for the guard */
	struct text head = {c->arena, &top, LKP_WIDTH - 1, false};
	struct text body = {c->arena, &tables, LKP_WIDTH - 1, false};
	struct lkp k = {.c = c, .opt = opt, .a = c->arena, .t = &head};

	(void)e;
	k.whole_sd = has_whole_sd(c);
	view_init(&k.view, c, c->arena, 0);
	if (c->counting) {
		text_block(&head, NULL, "%s.", comparison_limit(c));
		text_blank(&head);
	}
	for (k.variant = 1; k.variant < c->n_variants; k.variant++)
		print_verdict(&k);
	text_blank(&head);
	/* the tables first: they say which marks the legend has to explain */
	k.t = &body;
	for (k.variant = 1; k.variant < c->n_variants; k.variant++)
		print_against(&k);
	k.t = &head;
	k.variant = 1;
	facts_metrics(&head, &k.view, true);
	if (c->n_tests == 1) {
		text_block(&head, "test", "%s", lkp_test(&k, &c->tests[0]));
		lkp_print_checked(&k, &c->tests[0]);
	}
	facts_sides(&head, &k.view);
	print_columns(&k);
	if (c->n_variants == 2)
		print_noise(&k);
	facts_origin(&head, &k.view);
	strbuf_add(&top, strbuf_str(&tables), tables.len);
	mail_guard(strbuf_str(&top), out);
	return 0;
}

static const struct report_format lkp = {
	.name = "lkp",
	.summary = "all metrics by meaning, as the kernel test robot has them: 78 columns",
	.blocks = true,
	.render = lkp_render,
};
REGISTER(report_format, lkp);
