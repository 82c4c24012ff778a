// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: facts around the numbers, what nobody stated, warnings. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "reports/build.h"

static const char *fact_value(const struct builder *b, const char *key)
{
	const struct db_fact *f;

	array_for_each (f, &b->facts)
		if (str_equal(f->key, key) && f->value && *f->value)
			return f->value;
	return NULL;
}

/* A campaign that was looked at more than once is judged at the level of each look. */
static void take_level(struct builder *b)
{
	const struct comparison_options *opt = b->opt;
	const char *design = fact_value(b, "design"), *added = fact_value(b, "added");
	bool looks = added || design; /* a budget that chose rows by what it saw is one */

	if (looks)
		b->c->looks = str_equal(design, "until-sure") ? "planned looks at 5, 10 and 20"
							      : "several looks";
	b->c->q = opt->q > 0 ? opt->q : looks ? STATS_LOOKS_Q : 0.05;
	b->c->level = opt->level > 0 ? opt->level : looks ? STATS_LOOKS_LEVEL : 0.95;
	grounds_take_level(b);
	b->c->stop = fact_value(b, "stop");
	if (added)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a,
			"%s %s%s were added after a look: judged at %g%%, and a mark that "
			"only came with them is weaker than its p says",
			added,
			b->c->paired				    ? "pairs"
			: str_equal(b->campaigns[0].unit, "boot") ? "boots"
								  : "runs",
			b->c->paired ? "" : " a side", 100 * STATS_LOOKS_Q);
}

int build_facts(struct builder *b)
{
	struct comparison *c = b->c;
	const struct db_campaign *camp = &b->campaigns[0];
	const char *machine = fact_value(b, "machine"), *date = fact_value(b, "date");
	const char *posting = fact_value(b, "posting");
	struct db_machine m = {NULL, NULL, NULL};
	int r = 0;

	if (camp->machine_id)
		r = db_get_machine(b->db, b->a, camp->machine_id, &m, b->e);
	if (r)
		return r;
	take_level(b);
	c->stored = fact_value(b, "verdicts");
	c->kind = camp->kind;
	c->backend = camp->backend ? camp->backend : "";
	c->accelerator = camp->accelerator ? camp->accelerator : "";
	c->counting = fact_value(b, "counting");
	c->unit = camp->unit;
	c->repeat = camp->repeat;
	c->created = num_iso_time(b->a, camp->created);
	c->machine = machine ? machine : "";
	if (m.description && *m.description)
		c->machine = m.description;
	else if (m.name && *m.name && !machine)
		c->machine = m.name;
	c->source = camp->source ? camp->source : "";
	if (date)
		c->source = arena_printf(b->a, "%s, mail of %s", c->source, date);
	if (posting)
		c->source = arena_printf(b->a, "%s, %s", c->source, posting);
	return 0;
}

void note_missing(struct builder *b)
{
	const struct comparison *c = b->c;
	bool commit = true, command = false, values = false;
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		commit &= *c->variants[i].commit || *c->variants[i].build_id ||
			  *c->variants[i].release;
	for (i = 0; i < c->n_tests; i++) {
		command |= *c->tests[i].command != '\0';
		values |= c->tests[i].rows[0].cells[0].values != NULL;
	}
	if (!c->has_n)
		*ARRAY_PUSH(&b->missing) = "runs";
	if (!c->has_spread)
		*ARRAY_PUSH(&b->missing) = "spread";
	if (!commit)
		*ARRAY_PUSH(&b->missing) = "commit";
	if (!*c->machine)
		*ARRAY_PUSH(&b->missing) = "machine";
	if (!command)
		*ARRAY_PUSH(&b->missing) = "command";
	if (values && str_equal(c->kind, "import") && !b->grounds)
		*ARRAY_PUSH(&b->missing) = "order of the runs (a drift would not show)";
	b->c->missing = arena_copy(b->a, b->missing.items, b->missing.n, sizeof(char *));
	b->c->n_missing = b->missing.n;
}

static void warn_cell(struct builder *b, const struct cmp_test *t, const struct cmp_cell *cell)
{
	const char *id = b->c->variants[cell->variant].id;

	if (cell->suspect)
		*ARRAY_PUSH(&b->warnings) =
			arena_printf(b->a, "%s: %d suspect %s of %s left out", t->name,
				     cell->suspect, cell->suspect == 1 ? "run" : "runs", id);
	if (cell->failed)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%s: %d %s of %s failed%s%s, %d good", t->name, cell->failed,
			cell->failed == 1 ? "run" : "runs", id, cell->error ? ": " : "",
			cell->error ? cell->error : "", cell->n);
}

static void warn_means(struct builder *b, const struct cmp_row *row)
{
	size_t i;
	int k;

	for (i = 0; row->mean_kind != MEAN_AMEAN && i < b->c->n_variants; i++) {
		for (k = 0; row->cells[i].values && k < row->cells[i].n; k++) {
			if (row->cells[i].values[k] > 0)
				continue;
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a, "%s of %s has a value of %g: its mean is arithmetic",
				row->metric, b->c->variants[i].id, row->cells[i].values[k]);
			break;
		}
	}
}

/* An outlier that moved the mean out of its range. */
static void warn_outside(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	size_t i;

	for (i = 1; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->outside)
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a,
				"%s %s of %s: outliers moved the mean to %+.2f%%; by the ranks "
				"the shift is %+.2f%%",
				t->name, comparison_metric_name(row), b->c->variants[i].id,
				100 * cell->change, 100 * cell->test.shift);
	}
}

/* Below this p of independent pairs their likeness is spoken of. */
#define LAG_P 0.01

/* Neighbours that are alike count for less than so many pairs. */
static void warn_lag(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	size_t i;

	for (i = 1; row->shown && i < b->c->n_variants; i++)
		if (row->cells[i].lag.p <= LAG_P)
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a,
				"%s %s of %s: consecutive pairs are alike (lag-1 correlation of "
				"their log ratios %+.2f), so that the range may be too narrow",
				t->name, comparison_metric_name(row), b->c->variants[i].id,
				row->cells[i].lag.r);
}

/* What pairs say, and what they do not. */
static void warn_pairs(struct builder *b)
{
	const struct comparison *c = b->c;
	size_t t;

	if (!c->paired)
		return;
	*ARRAY_PUSH(&b->warnings) = arena_printf(
		b->a, "%s: the result holds for %s; boot-to-boot effects are not sampled%s",
		comparison_pairs_text(c, b->a), c->boots > 1 ? "these boots" : "this boot",
		c->boots > 1 ? " beyond them" : "");
	for (t = 0; t < c->n_tests; t++)
		if (c->tests[t].rows[0].broken)
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a, "%s: %d %s without the other half of the pair left out",
				c->tests[t].name, c->tests[t].rows[0].broken,
				c->tests[t].rows[0].broken == 1 ? "value" : "values");
}

/* The cross-check says otherwise, and not by a hair. */
static void warn_welch(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	double q = b->c->q;
	size_t i;

	for (i = 1; row->shown && i < b->c->n_variants; i++) {
		const struct test_result *r = &row->cells[i].test;

		if (!row->cells[i].family || !strcmp(r->test, "welch") ||
		    !(fmin(r->p, r->welch_p) <= q && fmax(r->p, r->welch_p) > 2 * q))
			continue;
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a,
			"%s %s of %s: p = %.2g, but %s t gives %.2g: an outlier, or two modes",
			t->name, comparison_metric_name(row), b->c->variants[i].id, r->p,
			b->c->paired ? "Student's" : "Welch's", r->welch_p);
	}
}

/* A drift is looked for from STATS_BLOCKS_MIN blocks on, and said at this p of Kendall's test. */
#define DRIFT_P 0.001

/* Values relative to the mean of their variant over the blocks: what all variants do in time. */
static void warn_drift(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	double *at, *x, first = INFINITY, last = -INFINITY;
	struct stats_trend trend;
	size_t n = 0, i, used = 0;
	int k;

	for (i = 0; i < b->c->n_variants; i++)
		if (row->cells[i].values && row->cells[i].mean > 0)
			n += (size_t)row->cells[i].n;
	if (!row->shown || b->c->n_campaigns > 1)
		return;
	at = arena_alloc_array(b->a, n, sizeof(*at));
	x = arena_alloc_array(b->a, n, sizeof(*x));
	for (i = 0; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		for (k = 0; cell->values && cell->mean > 0 && k < cell->n; k++) {
			at[used] = cell->blocks[k];
			x[used++] = cell->values[k] / cell->mean;
			first = fmin(first, cell->blocks[k]);
			last = fmax(last, cell->blocks[k]);
		}
	}
	trend = stats_trend(at, x, used);
	if (last - first + 1 >= STATS_BLOCKS_MIN && trend.p <= DRIFT_P)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a,
			"%s %s: all variants drift by %+.1f%% from the first to the last block%s",
			t->name, comparison_metric_name(row), 100 * trend.slope * (last - first),
			b->c->paired ? " (pairs cancel it)"
			: str_equal(b->c->kind, "run")
				? " (the order is balanced: it widens the ranges only)"
				: "");
}

/* Once for each metric: what it does without any change. */
static void warn_floor(struct builder *b, const struct cmp_row *row)
{
	double largest = 0;
	struct floor *f;
	size_t i;

	for (i = 1; row->shown && i < b->c->n_variants; i++)
		largest = fmax(largest, row->cells[i].threshold);
	if (!(largest > b->c->threshold))
		return;
	b->c->has_floor = true;
	array_for_each (f, &b->floors) {
		if (f->metric != row->db_id || f->told)
			continue;
		f->told = true;
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a,
			"%s: here the same kernel differs from itself by up to %.2g%% (%d pairs): "
			"a change below that is marked small",
			row->metric, 100 * largest, row->arm_pairs);
	}
}

static const struct {
	const char *key, *words;
} series_words[] = {
	{"series.stalls.", "stalled: seconds below half of the run's median"},
	{"series.warm_up.", "began off its later level by 5% or more: the warm-up was too short"},
	{"series.drift.", "drifted by 5% or more inside the run"},
};

static const struct cmp_test *test_of(const struct builder *b, int64_t id)
{
	size_t i;

	for (i = 0; i < b->c->n_tests; i++)
		if (b->c->tests[i].db_id == id)
			return &b->c->tests[i];
	return NULL;
}

/* End of the facts of one test case and variant, which stand together from `from` on. */
static size_t same_cell_end(const struct builder *b, size_t from)
{
	const struct db_run_fact *first = &b->run_facts.items[from];
	size_t to = from;

	while (to < b->run_facts.n && b->run_facts.items[to].case_id == first->case_id &&
	       b->run_facts.items[to].variant_id == first->variant_id)
		to++;
	return to;
}

/* "tbench/clients=64: 2 runs of B stalled: ...": one line for each kind, case and variant. */
static void warn_series(struct builder *b)
{
	size_t kind, from, to, i;

	for (kind = 0; kind < ARRAY_SIZE(series_words); kind++) {
		for (from = 0; from < b->run_facts.n; from = to) {
			const struct db_run_fact *f = &b->run_facts.items[from];
			const struct cmp_test *t = test_of(b, f->case_id);
			int v = comparison_variant_of(b->c, f->variant_id), runs = 0;

			to = same_cell_end(b, from);
			for (i = from; i < to; i++)
				runs += str_starts(b->run_facts.items[i].key,
						   series_words[kind].key);
			if (runs && t && v >= 0)
				*ARRAY_PUSH(&b->warnings) = arena_printf(
					b->a, "%s: %d %s of %s %s", t->name, runs,
					runs == 1 ? "run" : "runs", b->c->variants[v].id,
					series_words[kind].words);
		}
	}
}

void note_warnings(struct builder *b)
{
	struct comparison *c = b->c;
	size_t t, r, i;

	warn_pairs(b);
	for (t = 0; t < c->n_tests; t++) {
		for (i = 0; i < c->n_variants; i++)
			warn_cell(b, &c->tests[t], &c->tests[t].rows[0].cells[i]);
		for (r = 0; r < c->tests[t].n_rows; r++) {
			warn_means(b, &c->tests[t].rows[r]);
			warn_outside(b, &c->tests[t], &c->tests[t].rows[r]);
			warn_welch(b, &c->tests[t], &c->tests[t].rows[r]);
			warn_lag(b, &c->tests[t], &c->tests[t].rows[r]);
			warn_drift(b, &c->tests[t], &c->tests[t].rows[r]);
			warn_floor(b, &c->tests[t].rows[r]);
		}
	}
	warn_series(b);
	if (c->n_campaigns > 1)
		*ARRAY_PUSH(&b->warnings) = "joined campaigns: their runs were not interleaved, "
					    "so a drift between them looks like a change";
	if (b->repeated)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%d repeated cells of the source are not shown", b->repeated);
	c->warnings = arena_copy(b->a, b->warnings.items, b->warnings.n, sizeof(char *));
	c->n_warnings = b->warnings.n;
}
