// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The block of --why: how the verdict of a row was made, step by step.
 *
 *	tbench/clients=64 throughput, B against A: small better
 *	A        9825.44 9803.52 9877.34 ...
 *	ranks    A 1 3 4 6 9, B 2 5 7 8 10
 *	...
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

bool comparison_explains(const struct cmp_test *t, const struct cmp_row *r, const char *what)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (!strcmp(what, "all"))
		return r->headline;
	strbuf_addf(&name, "%s %s", t->name, r->metric);
	return strstr(strbuf_str(&name), what) != NULL;
}

bool comparison_has(const struct comparison *c, const char *what)
{
	size_t t, r;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			if (comparison_explains(&c->tests[t], &c->tests[t].rows[r], what))
				return true;
	return false;
}

/* One row, one variant against the baseline. */
struct why {
	const struct view *v;
	const struct cmp_test *test;
	const struct cmp_row *row;
	const struct cmp_cell *base, *cell;
	int n; /* units of the smaller side */
};

static const char *unit_change(const struct why *w, struct arena *a, double change)
{
	if (w->cell->test.on_log)
		return text_percent(a, change, "%");
	return arena_printf(a, "%+g %s", change, text_ascii(a, view_unit(w->row->unit)));
}

static void why_values(struct text *t, const struct why *w, const struct cmp_cell *cell)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int i;

	for (i = 0; cell->values && i < cell->n; i++)
		strbuf_addf(&sb, "%.9g ", cell->values[i]);
	if (!sb.len && cell->has_mean)
		strbuf_addf(&sb, "mean %s, deviation %s, n %s",
			    arena_printf(t->a, "%.9g", cell->mean),
			    isnan(cell->stddev) ? "not stated"
						: arena_printf(t->a, "%.4g", cell->stddev),
			    cell->n ? arena_printf(t->a, "%d", cell->n) : "not stated");
	strbuf_rtrim(&sb);
	text_block(t, w->v->c->variants[cell->variant].id, "%s",
		   sb.len ? strbuf_str(&sb) : "no value");
}

/* Twice the mid-rank of a value among those of both sides. */
static int rank2(const struct why *w, double x)
{
	const struct cmp_cell *const sides[] = {w->base, w->cell};
	int below = 0, equal = 0, i;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(sides); k++) {
		for (i = 0; i < sides[k]->n; i++) {
			below += sides[k]->values[i] < x;
			equal += sides[k]->values[i] == x;
		}
	}
	return 2 * below + equal + 1;
}

static void add_ranks(const struct why *w, const struct cmp_cell *cell, struct strbuf *sb)
{
	int i;

	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", w->v->c->variants[cell->variant].id);
	for (i = 0; i < cell->n; i++)
		strbuf_addf(sb, " %g", rank2(w, cell->values[i]) / 2.0);
}

/* Change of each pair, in the order they were measured. */
static void why_pairs(struct text *t, const struct why *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct cmp_cell *base = w->base, *cell = w->cell;
	int i, k;

	for (i = 0; cell->values && i < cell->n; i++) {
		for (k = 0; k < base->n && base->blocks[k] != cell->blocks[i]; k++)
			;
		if (k == base->n)
			continue;
		strbuf_addf(&sb, "%s ",
			    unit_change(w, t->a,
					cell->test.on_log ? cell->values[i] / base->values[k] - 1
							  : cell->values[i] - base->values[k]));
	}
	strbuf_rtrim(&sb);
	text_block(t, "pairs", "%s", strbuf_str(&sb));
	if (!isnan(cell->lag.r))
		text_block(t, "lag", "correlation of a pair's log ratio with the next one's %+.2f",
			   cell->lag.r);
}

static void why_ranks(struct text *t, const struct why *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (!w->base->values || !w->cell->values || isnan(w->cell->test.rank_p))
		return;
	add_ranks(w, w->base, &sb);
	add_ranks(w, w->cell, &sb);
	strbuf_addf(&sb, "; exact p = %s", text_p(t->a, w->cell->test.rank_p));
	text_block(t, "ranks", "%s", strbuf_str(&sb));
}

/* The prior of a moderated test: from where, how wide, worth how much. */
static const char *prior_text(const struct why *w, struct arena *a)
{
	const struct test_result *t = &w->cell->test;
	const struct stats_variance *old = t->on_log ? &w->row->history.log : &w->row->history.raw;
	const char *from =
		old->df > 0 ? "older campaigns of this machine" : "the rows of this table";
	const char *deviation;

	if (!(t->prior.df > 0))
		return arena_printf(a,
				    "(h): the values spread more than %s allow (F-test, p < %g), "
				    "so their own deviation alone counts",
				    from, STATS_PRIOR_REFUTED);
	deviation = t->on_log ? arena_printf(a, "%.2g%%", 100 * sqrt(t->prior.value))
			      : arena_printf(a, "%.4g %s", sqrt(t->prior.value),
					     text_ascii(a, view_unit(w->row->unit)));
	return arena_printf(a, "(h): deviation %s from %s, worth %.3g degrees of freedom",
			    deviation, from, t->prior.df);
}

static void why_test(struct text *t, const struct why *w)
{
	const char *test = w->cell->test.test,
		   *scale = w->cell->test.on_log ? "log values" : "raw values";

	if (!strcmp(test, "modt"))
		text_block(t, "test", "moderated t on %s %s",
			   w->cell->paired ? "log ratios of pairs" : scale, prior_text(w, t->a));
	else if (!strcmp(test, "sr"))
		text_block(t, "test", "exact signed ranks of the pairs' %s: %s",
			   w->cell->test.on_log ? "log ratios" : "differences",
			   w->n >= STATS_PRIOR_BELOW
				   ? arena_printf(t->a, "n is %d or more", STATS_PRIOR_BELOW)
				   : "no prior for the variance");
	else if (!strcmp(test, "mw"))
		text_block(t, "test", "exact Mann-Whitney on %s: %s", scale,
			   w->n >= STATS_PRIOR_BELOW
				   ? arena_printf(t->a, "n is %d or more", STATS_PRIOR_BELOW)
				   : "no prior for the variance");
	else if (!strcmp(test, "welch"))
		text_block(t, "test", "Welch's t on %s, from means and deviations", scale);
	else if (!strcmp(test, "det"))
		text_block(t, "test",
			   "deterministic: by seed, real %s; the same kernel differs by up to %g%% "
			   "(%s)",
			   w->n >= STATS_SEEDS_MIN
				   ? "if all differences have one sign and their median exceeds "
				     "the noise floor"
				   : "beyond the threshold and three times the noise floor",
			   100 * w->row->seed_floor, w->row->arm_pairs ? "seen here" : "assumed");
	else if (!w->n)
		text_block(t, "test", "none: n is not stated");
	else
		text_block(t, "test", "none: n = %d%s", w->n,
			   w->n < (w->cell->paired ? (int)STATS_PAIRS_MIN : (int)STATS_TEST_MIN)
				   ? " is too few without a prior for the variance"
						 : "");
}

static void why_change(struct text *t, const struct why *w)
{
	const struct cmp_cell *cell = w->cell;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (cell->has_change)
		strbuf_addf(&sb, "%s of the means%s", text_percent(t->a, cell->change, "%"),
			    cell->published ? " (published)" : "");
	else if (!isnan(cell->test.change))
		strbuf_addf(&sb, "%s of the means", unit_change(w, t->a, cell->test.change));
	if (cell->values && !isnan(cell->test.shift))
		strbuf_addf(&sb, "%sshift %s", sb.len ? "; " : "",
			    unit_change(w, t->a, cell->test.shift));
	if (!isnan(cell->test.low) && !strcmp(cell->test.test, "det"))
		strbuf_addf(&sb, "; by seed %s to %s", unit_change(w, t->a, cell->test.low),
			    unit_change(w, t->a, cell->test.high));
	else if (!isnan(cell->test.low))
		strbuf_addf(&sb, "; %g%% interval %s to %s", 100 * cell->test.level,
			    unit_change(w, t->a, cell->test.low),
			    unit_change(w, t->a, cell->test.high));
	if (sb.len)
		text_block(t, "change", "%s", strbuf_str(&sb));
	if (cell->has_prediction)
		text_block(t, "predict",
			   "the next value of the bigger side lies in %.9g to %.9g (%g%%)",
			   cell->prediction.low, cell->prediction.high,
			   100 * cell->prediction.level);
}

static void why_p(struct text *t, const struct why *w)
{
	const struct cmp_cell *cell = w->cell;
	double q = w->v->c->q, welch = cell->test.welch_p;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (cell->family)
		strbuf_adds(&sb, text_p(t->a, cell->test.p));
	if (cell->family > 1)
		strbuf_addf(&sb, ", corrected over %d (Benjamini-Hochberg) %s", cell->family,
			    text_p(t->a, cell->p_adjusted));
	if (cell->family)
		strbuf_addf(&sb, ": %s at %g", cell->p_adjusted <= q ? "real" : "not real", q);
	if (!isnan(welch) && strcmp(cell->test.test, "welch")) {
		strbuf_addf(&sb, "%s%s t %s", sb.len ? "; " : "",
			    cell->paired ? "Student's" : "Welch's", text_p(t->a, welch));
		if (cell->family && (welch <= q) != (cell->test.p <= q))
			strbuf_adds(&sb, ", which disagrees: an outlier, or two modes");
	}
	if (!isnan(cell->block_p))
		strbuf_addf(&sb, "%sexchanged within blocks %s", sb.len ? "; " : "",
			    text_p(t->a, cell->block_p));
	if (sb.len)
		text_block(t, "p", "%s", strbuf_str(&sb));
}

static void why_size(struct text *t, const struct why *w)
{
	const struct cmp_cell *cell = w->cell;
	const struct test_result *r = &cell->test;
	double decides = stats_deciding_change(r);

	if (!strcmp(r->test, "none") || isnan(decides))
		return;
	text_block(t, "size", "%s %s the threshold of %.3g%%%s%s", unit_change(w, t->a, decides),
		   fabs(decides) >= cell->threshold * r->scale ? "reaches" : "is below",
		   100 * cell->threshold, r->on_log ? "" : " of A's mean",
		   cell->outside ? " (the shift decides: the mean lies outside its interval)" : "");
	if (cell->threshold > w->v->c->threshold)
		text_block(t, "floor",
			   "that is the noise floor, learnt from %d pairs of one kernel under two "
			   "names, for n = %d",
			   w->row->arm_pairs, w->n);
	else if (w->row->arm_pairs && isnan(w->row->floor))
		text_block(t, "floor", "not learnt: %d of %d pairs of one kernel under two names",
			   w->row->arm_pairs, STATS_ARMS_MIN);
}

static void why_row(struct text *t, const struct why *w)
{
	const struct comparison *c = w->v->c;

	text_wrap(t, "", 0,
		  arena_printf(t->a, "%s %s, %s against %s: %s%s", text_ascii(t->a, w->test->name),
			       text_ascii(t->a, comparison_metric_name(w->row)),
			       c->variants[w->cell->variant].id, c->variants[0].id,
			       w->cell->small ? "small " : "", verdict_name(w->cell->verdict)));
	why_values(t, w, w->base);
	why_values(t, w, w->cell);
	if (w->cell->paired)
		why_pairs(t, w);
	else
		why_ranks(t, w);
	why_test(t, w);
	why_change(t, w);
	why_p(t, w);
	why_size(t, w);
	if (w->cell->runs_needed)
		text_block(t, "settle", "%s%d %s%s would settle it",
			   w->cell->runs_needed > 50 ? "more than " : "",
			   MIN(w->cell->runs_needed, 50), view_unit_word(c, true), view_a_side(c));
	text_blank(t);
}

void why_print(struct text *t, const struct view *v, const char *what)
{
	const struct comparison *c = v->c;
	size_t i, r, k;

	for (i = 0; i < c->n_tests; i++) {
		const struct cmp_test *test = &c->tests[i];

		for (r = 0; r < test->n_rows; r++) {
			const struct cmp_row *row = &test->rows[r];

			for (k = 1; comparison_explains(test, row, what) && k < c->n_variants;
			     k++) {
				struct why w = {v, test, row, &row->cells[0], &row->cells[k], 0};

				w.n = MIN(w.base->n, w.cell->n);
				why_row(t, &w);
			}
		}
	}
}
