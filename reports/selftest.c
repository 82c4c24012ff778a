// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits of what a database holds, judged as comparisons. */
#include "reports/selftest.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "reports/build.h"

#define LEVEL 0.95

const char *selftest_verdict_name(enum selftest_verdict v)
{
	static const char *const names[] = {
		[SELFTEST_NONE] = "too little data",
		[SELFTEST_CONSISTENT] = "consistent",
		[SELFTEST_FEWER] = "fewer",
		[SELFTEST_MORE] = "too many",
	};

	return names[v];
}

bool selftest_has_rate(const struct selftest *s)
{
	return s->all.random.tests || s->all.arms.tests;
}

/* ---- rates ---- */

/* What the splits of one cell gave. */
struct tally {
	int tests, marked;
};

static void rate_add(struct selftest_rate *r, struct tally t)
{
	double share = t.tests ? (double)t.marked / t.tests : 0;

	if (!t.tests)
		return;
	r->cells++;
	r->tests += t.tests;
	r->marked += t.marked;
	r->squares += share * share;
}

/*
 * Splits of the same values depend on each other. The binomial interval counts as many tests as
 * would have given the spread between the cells, at least one for each cell and at most all: the
 * effective sample size of Korn and Graubard, "Confidence intervals for proportions with small
 * expected number of positive counts estimated from survey data", 1998.
 */
static double rate_worth(const struct selftest_rate *r)
{
	double n = r->cells, p = r->rate, spread;

	if (r->cells < 2)
		return n;
	spread = (r->squares - n * p * p) / (n - 1) / n;
	if (!(spread > 0))
		return n;
	return fmin(fmax(p * (1 - p) / spread, n), r->tests);
}

static void rate_finish(struct selftest_rate *r, double nominal, double most)
{
	struct interval i;

	r->rate = r->low = r->high = NAN;
	if (!r->tests)
		return;
	r->rate = (double)r->marked / r->tests;
	r->worth = rate_worth(r);
	i = stats_binomial(r->rate * r->worth, r->worth, LEVEL);
	r->low = i.low;
	r->high = i.high;
	r->verdict = r->low > most	 ? SELFTEST_MORE
		     : r->high < nominal ? SELFTEST_FEWER
					 : SELFTEST_CONSISTENT;
}

/* ---- units ---- */

/* One unit of a variant: its block, and the how-manieth of that block in a cell. */
struct unit {
	int block, nth;
};

typedef ARRAY_OF(struct unit) unit_array;

static int unit_compare(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->nth > b->nth) - (a->nth < b->nth);
}

static struct unit cell_unit(const struct cmp_cell *cell, int i)
{
	struct unit u = {cell->blocks[i], 0};
	int k;

	for (k = 0; k < i; k++)
		u.nth += cell->blocks[k] == u.block;
	return u;
}

static void cell_add_units(const struct cmp_cell *cell, unit_array *units)
{
	int i;

	for (i = 0; cell->values && i < cell->n; i++) {
		struct unit u = cell_unit(cell, i);
		const struct unit *old;

		array_for_each (old, units)
			if (!unit_compare(old, &u))
				break;
		if (old == units->items + units->n)
			*ARRAY_PUSH(units) = u;
	}
}

static void variant_units(const struct comparison *c, size_t variant, unit_array *units)
{
	size_t t, r;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			cell_add_units(&c->tests[t].rows[r].cells[variant], units);
	if (units->n)
		qsort(units->items, units->n, sizeof(*units->items), unit_compare);
}

/* ---- halves ---- */

/* The values of a cell whose units are on one side. */
static void half_cell(struct arena *a, const struct cmp_cell *cell, const unit_array *units,
		      const int *side, int wanted, struct cmp_cell *out)
{
	double *values = arena_alloc_array(a, (size_t)cell->n + 1, sizeof(*values));
	int *blocks = arena_alloc_array(a, (size_t)cell->n + 1, sizeof(*blocks)), i;

	*out = (struct cmp_cell){
		.variant = wanted, .stddev = NAN, .cv = NAN, .source_better = NAN};
	for (i = 0; cell->values && i < cell->n; i++) {
		struct unit u = cell_unit(cell, i);
		const struct unit *at = bsearch(&u, units->items, units->n, sizeof(u), unit_compare);

		if (side[at - units->items] != wanted)
			continue;
		values[out->n] = cell->values[i];
		blocks[out->n++] = cell->blocks[i];
	}
	if (out->n) {
		out->values = values;
		out->blocks = blocks;
	}
}

/* An empty comparison of two variants, with the rows of c. */
static struct comparison *pair_new(const struct comparison *c, struct arena *a)
{
	struct comparison *p = arena_copy(a, c, 1, sizeof(*c));
	size_t t, r;

	p->arena = a;
	p->variants = arena_alloc_array(a, 2, sizeof(*p->variants));
	p->n_variants = 2;
	p->contrasts = NULL;
	p->overall = NULL;
	p->n_contrasts = p->n_overall = 0;
	p->tested = p->has_n = p->has_spread = p->has_published = false;
	p->tests = arena_copy(a, c->tests, c->n_tests, sizeof(*c->tests));
	for (t = 0; t < p->n_tests; t++) {
		struct cmp_test *test = &p->tests[t];

		test->rows = arena_copy(a, test->rows, test->n_rows, sizeof(*test->rows));
		for (r = 0; r < test->n_rows; r++) {
			test->rows[r].cells = arena_alloc_array(a, 2, sizeof(struct cmp_cell));
			test->rows[r].contrasts = NULL;
		}
	}
	return p;
}

static struct comparison *halves(const struct comparison *c, struct arena *a, size_t variant,
				 const unit_array *units, const int *side)
{
	struct comparison *p = pair_new(c, a);
	size_t t, r;
	int k;

	for (t = 0; t < p->n_tests; t++)
		for (r = 0; r < p->tests[t].n_rows; r++)
			for (k = 0; k < 2; k++)
				half_cell(a, &c->tests[t].rows[r].cells[variant], units, side, k,
					  &p->tests[t].rows[r].cells[k]);
	comparison_judge(p);
	return p;
}

/* Two variants of c as they are. */
static struct comparison *arms(const struct comparison *c, struct arena *a, size_t x, size_t y)
{
	struct comparison *p = pair_new(c, a);
	size_t t, r;

	for (t = 0; t < p->n_tests; t++) {
		for (r = 0; r < p->tests[t].n_rows; r++) {
			struct cmp_row *row = &p->tests[t].rows[r];

			row->cells[0] = c->tests[t].rows[r].cells[x];
			row->cells[1] = c->tests[t].rows[r].cells[y];
			row->cells[0].variant = 0;
			row->cells[1].variant = 1;
		}
	}
	comparison_judge(p);
	return p;
}

/* ---- counting ---- */

struct measurement {
	struct selftest *s;
	struct arena *a;
	ARRAY_OF(struct selftest_metric) metrics;
};

static struct selftest_metric *metric_of(struct measurement *m, const char *name)
{
	struct selftest_metric *k;

	array_for_each (k, &m->metrics)
		if (!strcmp(k->metric, name))
			return k;
	k = ARRAY_PUSH(&m->metrics);
	k->metric = arena_strdup(m->a, name);
	return k;
}

/* Adds what one judged pair says to a tally for each row and one for the table. */
static void count_pair(const struct comparison *p, struct tally *rows, struct tally *table)
{
	bool tested = false, marked = false;
	size_t t, r, n = 0;

	for (t = 0; t < p->n_tests; t++) {
		for (r = 0; r < p->tests[t].n_rows; r++, n++) {
			const struct cmp_row *row = &p->tests[t].rows[r];
			const struct cmp_cell *cell = &row->cells[1];

			if (isnan(cell->test.p))
				continue;
			rows[n].tests++;
			rows[n].marked += cell->test.p <= p->q;
			tested |= row->shown;
			marked |= row->shown && cell->p_adjusted <= p->q;
		}
	}
	table->tests += tested;
	table->marked += marked;
}

static size_t row_count(const struct comparison *c)
{
	size_t t, n = 0;

	for (t = 0; t < c->n_tests; t++)
		n += c->tests[t].n_rows;
	return n;
}

enum kind { RANDOM, ORDERED, ARMS };

static struct selftest_rate *rate_of(struct selftest_metric *m, enum kind kind)
{
	return kind == RANDOM ? &m->random : kind == ORDERED ? &m->ordered : &m->arms;
}

static void metric_add(struct selftest_metric *m, enum kind kind, struct tally t, int units)
{
	rate_add(rate_of(m, kind), t);
	if (!t.tests || !units)
		return;
	m->units_low = m->units_low ? MIN(m->units_low, units) : units;
	m->units_high = MAX(m->units_high, units);
}

/* Tallies of the rows of c to their metrics; variant -1: of no single one. Any test? */
static bool add_tallies(struct measurement *m, const struct comparison *c, int variant,
			enum kind kind, const struct tally *rows, struct tally table)
{
	size_t t, r, n = 0;
	bool any = false;

	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++, n++) {
			const struct cmp_row *row = &c->tests[t].rows[r];
			int units = variant < 0 ? 0 : row->cells[variant].n;

			m->s->most_units = MAX(m->s->most_units, units);
			any |= rows[n].tests > 0;
			if (rows[n].tests)
				metric_add(metric_of(m, row->metric), kind, rows[n], units);
			metric_add(&m->s->all, kind, rows[n], units);
		}
	}
	rate_add(rate_of(&m->s->tables, kind), table);
	return any;
}

/* ---- one campaign ---- */

/* FNV-1a: the splits of a variant follow from the seed and its names, not from where it lies. */
static uint64_t hash_words(uint64_t hash, const char *s)
{
	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
	return hash * 0x100000001b3u;
}

static bool split_variant(struct measurement *m, const struct comparison *c, size_t variant)
{
	size_t n = row_count(c), i;
	struct tally *rows = arena_alloc_array(c->arena, n + 1, sizeof(*rows)), table = {0, 0};
	uint64_t state = hash_words(m->s->options.seed, c->campaigns[0]);
	unit_array units = {NULL, 0, 0};
	bool any;
	int *side, k;

	state = hash_words(state, c->variants[variant].name);
	variant_units(c, variant, &units);
	side = arena_alloc_array(c->arena, units.n + 1, sizeof(*side));
	for (i = 0; i < units.n; i++)
		side[i] = i >= units.n / 2;
	for (k = 0; k <= m->s->options.splits; k++) {
		_cleanup_arena_ struct arena *a = arena_new();

		if (k)
			random_shuffle(&state, side, units.n);
		count_pair(halves(c, a, variant, &units, side), rows, &table);
		if (k)
			continue;
		/* the first split is the one in order */
		add_tallies(m, c, (int)variant, ORDERED, rows, table);
		memset(rows, 0, n * sizeof(*rows));
		table = (struct tally){0, 0};
	}
	any = add_tallies(m, c, (int)variant, RANDOM, rows, table);
	m->s->variants += any;
	ARRAY_FREE(&units);
	return any;
}

/* The identity that a second arm names as its original, or NULL. */
static char *original_of(struct arena *a, const char *settings)
{
	json_t *root = settings ? json_loads(settings, 0, NULL) : NULL;
	char *same = arena_strdup(a, json_string_value(json_object_get(root, "same_as")));

	json_decref(root);
	return same;
}

static const struct db_variant *variant_by(const struct db_variant *list, size_t n, int64_t id,
					   const char *identity)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (identity ? str_equal(list[i].identity, identity) : list[i].id == id)
			return &list[i];
	return NULL;
}

static bool compare_arms(struct measurement *m, const struct comparison *c, size_t x, size_t y)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct tally *rows = arena_alloc_array(a, row_count(c) + 1, sizeof(*rows)), table = {0, 0};

	count_pair(arms(c, a, x, y), rows, &table);
	return add_tallies(m, c, -1, ARMS, rows, table);
}

/* Variants that are another one of the campaign under a second name. */
static int measure_arms(struct measurement *m, struct db *db, const struct comparison *c,
			bool *any, struct err *e)
{
	struct db_variant *list;
	size_t n, i, k;
	int r = db_get_variants(db, c->arena, c->campaigns[0], &list, &n, e);

	for (i = 0; !r && i < c->n_variants; i++) {
		const struct db_variant *v = variant_by(list, n, c->variants[i].db_id, NULL);
		const char *same = v ? original_of(c->arena, v->settings) : NULL;
		const struct db_variant *first = same ? variant_by(list, n, 0, same) : NULL;

		for (k = 0; first && k < c->n_variants; k++)
			if (c->variants[k].db_id == first->id)
				*any |= compare_arms(m, c, k, i);
	}
	return r;
}

static int measure_campaign(struct measurement *m, struct db *db, const char *campaign,
			    struct err *e)
{
	const struct comparison_options opt = {
		.threshold = 0.01, .counters = m->s->options.counters, .alone = true};
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err nothing = ERR_INIT;
	struct comparison *c;
	bool any = false;
	size_t i;
	int r = comparison_build(db, a, &campaign, 1, &opt, &c, &nothing);

	if (r == -ENOENT)
		return 0;
	if (r)
		return err_add(e, r, "%s: %s", campaign, err_text(&nothing));
	m->s->nominal = c->q;
	for (i = 0; i < c->n_variants; i++)
		any |= split_variant(m, c, i);
	r = measure_arms(m, db, c, &any, e);
	m->s->campaigns += any;
	return r;
}

/* ---- all ---- */

static int metric_compare(const void *x, const void *y)
{
	const struct selftest_metric *a = x, *b = y;

	return strcmp(a->metric, b->metric);
}

static void metric_finish(struct selftest_metric *m, double nominal)
{
	rate_finish(&m->random, nominal, SELFTEST_MOST);
	rate_finish(&m->arms, nominal, SELFTEST_MOST);
	/* a drift is what random halves do not have */
	rate_finish(&m->ordered, nominal, fmax(SELFTEST_MOST, m->random.tests ? m->random.high : 0));
}

int selftest_measure(struct db *db, struct arena *a, const struct selftest_options *opt,
		     struct selftest **out, struct err *e)
{
	struct selftest *s = arena_alloc(a, sizeof(*s));
	struct measurement m = {.s = s, .a = a};
	struct db_campaign *list;
	size_t n, i;
	int r = db_get_campaigns(db, a, &list, &n, e);

	s->options = *opt;
	s->nominal = 0.05;
	for (i = 0; !r && i < n; i++)
		r = measure_campaign(&m, db, list[i].id, e);
	if (m.metrics.n)
		qsort(m.metrics.items, m.metrics.n, sizeof(*m.metrics.items), metric_compare);
	s->metrics = arena_copy(a, m.metrics.items, m.metrics.n, sizeof(*m.metrics.items));
	s->n_metrics = m.metrics.n;
	ARRAY_FREE(&m.metrics);
	for (i = 0; i < s->n_metrics; i++)
		metric_finish(&s->metrics[i], s->nominal);
	metric_finish(&s->all, s->nominal);
	metric_finish(&s->tables, s->nominal);
	*out = s;
	return r;
}
