// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics of a comparison: cells -> changes, tests, corrections, verdicts. */
#include <math.h>
#include <string.h>

#include "reports/build.h"

/* of the changes that so many units are said to show */
#define POWER 0.8

double comparison_orient(enum direction d, double change)
{
	if (d == DIR_HIGHER)
		return change;
	/* of times: how much faster, 1/(1+c) - 1, so that means of ratios are symmetric */
	if (d == DIR_LOWER)
		return change > -1 ? 1 / (1 + change) - 1 : INFINITY;
	return NAN;
}

const struct cmp_overall *comparison_overall(const struct comparison *c, const char *benchmark,
					     size_t variant)
{
	size_t i;

	for (i = 0; i < c->n_overall; i++)
		if (c->overall[i].variant == (int)variant &&
		    !strcmp(c->overall[i].benchmark, benchmark))
			return &c->overall[i];
	return NULL;
}

const char *comparison_limit(const struct comparison *c)
{
	if (c->counting)
		return arena_printf(c->arena,
				    "instructions on one emulated CPU (%.*s -icount), not times: path "
				    "length; no caches, no contention, no placement",
				    (int)strcspn(c->counting, "(,") -
					    (c->counting[strcspn(c->counting, "(,")] == '('),
				    c->counting);
	return !strcmp(c->backend, "qemu") && strcmp(c->accelerator, "kvm")
		       ? "measured in QEMU without KVM: compare ratios, not absolute figures"
		       : NULL;
}

const char *comparison_metric_name(const struct cmp_row *r)
{
	const char *dot = strchr(r->metric, '.');

	return dot && dot[1] && !r->foreign ? dot + 1 : r->metric;
}

bool comparison_is_difference(const struct cmp_cell *cell)
{
	return !cell->test.on_log && !isnan(cell->test.shift);
}

static void cell_describe(struct cmp_cell *cell, enum mean_kind kind)
{
	if (!cell->values)
		return;
	cell->mean = stats_mean(kind, cell->values, (size_t)cell->n);
	/* the harmonic mean refuses zero and negative values */
	if (isnan(cell->mean))
		cell->mean = stats_mean(MEAN_AMEAN, cell->values, (size_t)cell->n);
	cell->has_mean = true;
	cell->stddev = stats_stddev(cell->values, (size_t)cell->n);
	cell->cv = cell->mean > 0 ? cell->stddev / cell->mean : NAN;
}

static bool cell_has_result(const struct cmp_cell *cell)
{
	return cell->has_mean || !isnan(cell->source_better);
}

static enum verdict cell_absence(const struct cmp_cell *cell)
{
	return cell->failed ? VERDICT_FAILED : VERDICT_MISSING;
}

static const double *block_value(const struct cmp_cell *cell, int block)
{
	const double *found = NULL;
	int i;

	for (i = 0; i < cell->n; i++) {
		if (cell->blocks[i] != block)
			continue;
		/* a count that was made twice is one count */
		if (found && *found != cell->values[i])
			return NULL;
		found = &cell->values[i];
	}
	return found;
}

static void cell_count_rounds(struct cmp_cell *cell, const struct cmp_cell *base)
{
	int i;

	for (i = 0; i < cell->n; i++) {
		const double *mine = block_value(cell, cell->blocks[i]);
		const double *other = block_value(base, cell->blocks[i]);

		if (!mine || !other)
			continue;
		cell->rounds++;
		cell->rounds_lower += *mine < *other;
	}
}

static bool cell_is_tested(const struct cmp_cell *cell)
{
	return strcmp(cell->test.test, "none") != 0;
}

/* Where one side is too small for any test: does it lie where the other's next run would? */
static void cell_predict(struct cmp_cell *cell, const struct cmp_cell *base, double level)
{
	const struct cmp_cell *big = cell->n >= base->n ? cell : base;

	if (cell_is_tested(cell) || MIN(cell->n, base->n) > 2 || big->n < 3)
		return;
	cell->prediction = stats_prediction(big->values, (size_t)big->n, level);
	cell->has_prediction = !isnan(cell->prediction.low);
}

static struct stats_summary cell_summary(const struct cmp_cell *cell)
{
	return (struct stats_summary){cell->mean, cell->stddev, (size_t)cell->n};
}

/* Values of the blocks that both have once, in the order of the base; returns how many. */
static size_t cell_pairs(const struct comparison *c, const struct cmp_cell *cell,
			 const struct cmp_cell *base, double **x, double **y)
{
	size_t n = 0;
	int i;

	*x = arena_alloc_array(c->arena, (size_t)base->n, sizeof(**x));
	*y = arena_alloc_array(c->arena, (size_t)base->n, sizeof(**y));
	for (i = 0; i < base->n; i++) {
		const double *mine = block_value(cell, base->blocks[i]);

		if (!mine || block_value(base, base->blocks[i]) != &base->values[i])
			continue;
		(*x)[n] = base->values[i];
		(*y)[n++] = *mine;
	}
	return n;
}

static struct test_result cell_test_seeds(const struct comparison *c, const struct cmp_row *row,
					  const struct cmp_cell *cell, const struct cmp_cell *base)
{
	double *x, *y;
	size_t n = cell_pairs(c, cell, base, &x, &y);

	return stats_test_seeds(row->mean_kind, x, y, n,
				fmax(row->seed_floor, stats_seed_noise(x, y, n)), c->threshold,
				c->level);
}

/* Whether the order within blocks could be chance; only --why shows it. */
static void cell_test_blocks(const struct comparison *c, struct cmp_cell *cell,
			     const struct cmp_cell *base)
{
	double *x, *y;
	size_t n, i;

	if (!c->explained || !cell->values || !base->values)
		return;
	n = cell_pairs(c, cell, base, &x, &y);
	for (i = 0; i < n; i++)
		x[i] = cell->test.on_log ? log(y[i] / x[i]) : y[i] - x[i];
	cell->block_p = stats_block_permutation(x, n);
}

/* Flip mode: the test is of the pairs, and so is the change where the baseline has others too. */
static void cell_test_pairs(const struct comparison *c, const struct cmp_row *row,
			    struct cmp_cell *cell, const struct cmp_cell *base,
			    const struct stats_prior *prior)
{
	double *x, *y;
	size_t n = cell_pairs(c, cell, base, &x, &y), i;

	cell->paired = true;
	cell->test = stats_test_paired(row->mean_kind, x, y, n, &prior->log, c->level);
	if (cell->test.on_log && (size_t)base->n != n && isfinite(cell->test.change)) {
		cell->change = cell->test.change;
		cell->has_change = true;
	}
	for (i = 0; i < n; i++)
		x[i] = cell->test.on_log ? log(y[i] / x[i]) : y[i] - x[i];
	cell->lag = stats_lag1(x, n);
}

static void cell_test(const struct comparison *c, const struct cmp_row *row, struct cmp_cell *cell,
		      const struct cmp_cell *base, const struct stats_prior *prior,
		      struct stats_nulls *nulls)
{
	const struct stats_summary x = cell_summary(base), y = cell_summary(cell);

	if (row->deterministic && cell->values && base->values)
		cell->test = cell_test_seeds(c, row, cell, base);
	else if (c->paired && cell->values && base->values)
		cell_test_pairs(c, row, cell, base, prior);
	else if (cell->values && base->values)
		cell->test = stats_test(row->mean_kind, base->values, x.n, cell->values, y.n, prior,
					c->level, nulls);
	else
		cell->test = stats_test_summaries(&x, &y, prior, c->level);
}

/* What so many units can show. */
static void cell_plan(const struct comparison *c, struct cmp_cell *cell,
		      const struct cmp_cell *base)
{
	double sd = cell->test.pooled_sd, alpha = 1 - c->level;

	if (isnan(sd))
		return;
	cell->detectable = stats_detectable(sd, (size_t)MIN(cell->n, base->n), POWER, alpha);
	cell->runs_threshold = stats_runs_to_detect(sd, c->threshold, POWER, alpha);
	cell->runs_double = stats_runs_to_detect(sd, 2 * c->threshold, POWER, alpha);
}

/* A change within what the same kernel shows against itself is not large. */
static double cell_threshold(const struct comparison *c, const struct cmp_row *row,
			     const struct cmp_cell *cell, const struct cmp_cell *base)
{
	int n = MIN(cell->n, base->n);

	return n > 0 && !isnan(row->floor) && !row->deterministic
		       ? fmax(c->threshold, row->floor / sqrt(n))
		       : c->threshold;
}

/* Where there is no ratio, the change is what the test says of it. */
static void cell_take_difference(struct cmp_cell *cell, const struct cmp_cell *base)
{
	if (!comparison_is_difference(cell))
		return;
	cell->has_change = cell->published;
	/* the harmonic mean of a zero is not defined; the one that is printed is */
	if (isnan(cell->test.change))
		cell->test.change = cell->mean - base->mean;
}

/* Change and test of a cell against another of its row. */
static void cell_compare(const struct comparison *c, const struct cmp_row *row,
			 struct cmp_cell *cell, const struct cmp_cell *base,
			 const struct stats_prior *prior, struct stats_nulls *nulls)
{
	cell->test = stats_untested(c->level);
	cell->p_adjusted = cell->detectable = cell->block_p = NAN;
	cell->lag = (struct stats_lag){NAN, NAN};
	cell->threshold = cell_threshold(c, row, cell, base);
	if (!cell_has_result(cell) || !cell_has_result(base)) {
		cell->verdict = cell_absence(cell_has_result(cell) ? base : cell);
		return;
	}
	cell->verdict = VERDICT_UNSURE;
	if (!cell->published && cell->has_mean && base->has_mean && base->mean > 0) {
		cell->change = cell->mean / base->mean - 1;
		cell->has_change = isfinite(cell->change);
	}
	if (!cell->has_mean || !base->has_mean)
		return;
	cell_test(c, row, cell, base, prior, nulls);
	cell_test_blocks(c, cell, base);
	cell_take_difference(cell, base);
	cell_plan(c, cell, base);
	if (cell->values && base->values) {
		cell_count_rounds(cell, base);
		cell_predict(cell, base, c->level);
	}
}

static void cell_judge(const struct comparison *c, const struct cmp_row *row, struct cmp_cell *cell,
		       const struct cmp_cell *base)
{
	struct test_result *t = &cell->test;
	int n = MIN(cell->n, base->n);

	if (cell_is_tested(cell)) {
		t->p_adjusted = cell->p_adjusted;
		cell->verdict =
			stats_verdict(t, row->direction, cell->threshold, c->q, &cell->small);
		cell->outside = cell->has_change && t->on_log &&
				(cell->change < t->low || cell->change > t->high);
		cell->multiplicity = cell->family && cell->verdict == VERDICT_UNSURE &&
				     (t->low > 0 || t->high < 0);
	}
	if (cell->verdict != VERDICT_UNSURE || isnan(t->pooled_sd) || !n || !cell->values)
		return;
	cell->runs_needed = stats_runs_to_settle(t->pooled_sd, cell->change, cell->threshold);
	if (cell->runs_needed)
		cell->runs_needed =
			MIN(51, MAX(cell->runs_needed,
				    MAX(cell->paired ? (int)STATS_PAIRS_MIN : (int)STATS_TEST_MIN,
					n + 1)));
}

/* Families: 0 headlines and what stands beside them, 1 counters, 2 the contrasts asked for. */
static bool row_in_family(const struct cmp_row *row, int family)
{
	return family == 2 || row->shown == (family == 0);
}

typedef void (*cell_fn)(struct comparison *c, struct cmp_row *row, struct cmp_cell *cell,
			const struct cmp_cell *base, void *data);

static void family_each(struct comparison *c, int family, cell_fn fn, void *data)
{
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++) {
			struct cmp_row *row = &c->tests[t].rows[r];

			if (!row_in_family(row, family))
				continue;
			for (i = 1; family < 2 && i < c->n_variants; i++)
				fn(c, row, &row->cells[i], &row->cells[0], data);
			for (i = 0; family == 2 && i < c->n_contrasts; i++)
				fn(c, row, &row->contrasts[i], &row->cells[c->contrasts[i].bottom],
				   data);
		}
	}
}

struct family {
	struct stats_variance prior; /* of log values, from all rows */
	double *p;
	size_t n;
	int tested;
	struct stats_nulls *nulls;
};

/* The variance of the log ratios of pairs about their mean, over all variants. */
static struct stats_variance row_pair_variance(const struct comparison *c,
					       const struct cmp_row *row)
{
	struct stats_group *groups = arena_alloc_array(c->arena, c->n_variants, sizeof(*groups));
	size_t i, k, n = 0;
	double *x, *y;

	for (i = 1; row->cells[0].values && i < c->n_variants; i++) {
		if (!row->cells[i].values)
			continue;
		groups[n].n = cell_pairs(c, &row->cells[i], &row->cells[0], &x, &y);
		for (k = 0; k < groups[n].n; k++)
			y[k] = x[k] > 0 ? y[k] / x[k] : NAN;
		groups[n++].x = y;
	}
	return stats_pooled_variance(groups, n, true);
}

/* The variance about the mean of each variant, over all of them. */
static struct stats_variance row_variance(const struct comparison *c, const struct cmp_row *row)
{
	struct stats_group *groups = arena_alloc_array(c->arena, c->n_variants, sizeof(*groups));
	double squares = 0, df = 0;
	size_t i, n = 0;

	if (c->paired)
		return row_pair_variance(c, row);
	for (i = 0; i < c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->values)
			groups[n++] = (struct stats_group){cell->values, (size_t)cell->n};
		else if (cell->n > 1 && !isnan(cell->cv))
			squares += (cell->n - 1) * cell->cv * cell->cv, df += cell->n - 1;
	}
	return n ? stats_pooled_variance(groups, n, true)
		 : (struct stats_variance){squares / df, df};
}

static struct stats_variance family_prior(const struct comparison *c, int family, size_t n_rows)
{
	struct stats_variance *rows = arena_alloc_array(c->arena, n_rows, sizeof(*rows));
	size_t t, r, n = 0;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			if (row_in_family(&c->tests[t].rows[r], family))
				rows[n++] = row_variance(c, &c->tests[t].rows[r]);
	return stats_prior_of_family(rows, n);
}

static void family_compare(struct comparison *c, struct cmp_row *row, struct cmp_cell *cell,
			   const struct cmp_cell *base, void *data)
{
	struct family *f = data;
	struct stats_prior prior = row->history;

	if (!(prior.log.df > 0))
		prior.log = f->prior;
	cell_compare(c, row, cell, base, &prior, f->nulls);
	f->p[f->n++] = cell->test.p;
	f->tested += !isnan(cell->test.p);
	c->tested |= cell_is_tested(cell);
}

static void family_judge(struct comparison *c, struct cmp_row *row, struct cmp_cell *cell,
			 const struct cmp_cell *base, void *data)
{
	struct family *f = data;

	cell->p_adjusted = f->p[f->n++];
	cell->family = isnan(cell->test.p) ? 0 : f->tested;
	cell_judge(c, row, cell, base);
}

static void judge_family(struct comparison *c, int family, size_t n_rows)
{
	size_t columns = family == 2 ? c->n_contrasts : c->n_variants;
	struct family f = {
		.prior = family_prior(c, family, n_rows),
		.p = arena_alloc_array(c->arena, n_rows * columns + 1, sizeof(double)),
		.nulls = stats_nulls_new(),
	};

	family_each(c, family, family_compare, &f);
	stats_benjamini_hochberg(f.p, f.n, f.p);
	f.n = 0;
	family_each(c, family, family_judge, &f);
	stats_nulls_free(&f.nulls);
}

static void judge_row_means(struct comparison *c, struct cmp_row *row)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++) {
		struct cmp_cell *cell = &row->cells[i];

		cell_describe(cell, row->mean_kind);
		c->has_n |= cell->n > 0;
		c->has_spread |= !isnan(cell->cv);
		c->has_published |= cell->published;
		c->has_source_marks |= cell->source_mark;
		cell->test = stats_untested(c->level);
		cell->p_adjusted = cell->detectable = cell->block_p = NAN;
		cell->lag = (struct stats_lag){NAN, NAN};
		cell->threshold = c->threshold;
		cell->verdict = cell_has_result(cell) ? VERDICT_SAME : cell_absence(cell);
	}
	for (i = 0; i < c->n_contrasts; i++) {
		struct cmp_cell *cell = &row->contrasts[i];

		*cell = row->cells[c->contrasts[i].top];
		cell->published = cell->has_change = false;
		cell->change = 0;
	}
}

/* ---- overall ---- */

struct overall_sum {
	struct cmp_overall *o;
	double *logs;		/* mean oriented log ratio of each test case */
	size_t n_cases, n_logs; /* n_logs: rows that went into them */
	double low, high;	/* hull of the oriented intervals of the rows */
	bool open;		/* a row without an interval */
};

static void overall_count(struct cmp_overall *o, const struct cmp_cell *cell)
{
	o->rows++;
	switch (cell->verdict) {
	case VERDICT_BETTER:
		cell->small ? o->small++ : o->better++;
		break;
	case VERDICT_WORSE:
		cell->small ? o->small++ : o->worse++;
		break;
	case VERDICT_SAME:
		o->same++;
		break;
	case VERDICT_MISSING:
		o->missing++;
		break;
	case VERDICT_FAILED:
		o->failed++;
		break;
	default:
		o->unsure++;
	}
}

static void overall_add_row(struct overall_sum *s, const struct cmp_test *t,
			    const struct cmp_row *row, double *log_sum, int *n)
{
	const struct cmp_cell *cell = &row->cells[s->o->variant];
	double oriented, a, b;

	overall_count(s->o, cell);
	if (!cell->has_change)
		return;
	oriented = comparison_orient(row->direction, cell->change);
	if (!isfinite(oriented) || oriented <= -1)
		return;
	if (cell->has_mean && row->cells[0].has_mean && row->cells[0].mean > 0)
		*log_sum += log1p(
			comparison_orient(row->direction, cell->mean / row->cells[0].mean - 1));
	else
		*log_sum += log1p(oriented);
	++*n;
	s->n_logs++;
	s->o->ahead += oriented > 0;
	s->o->behind += oriented < 0;
	if (!s->o->worst_row ||
	    oriented < comparison_orient(s->o->worst_row->direction, s->o->worst_change)) {
		s->o->worst_test = t;
		s->o->worst_row = row;
		s->o->worst_change = cell->change;
	}
	a = comparison_orient(row->direction, cell->test.low);
	b = comparison_orient(row->direction, cell->test.high);
	if (isnan(a) || isnan(b)) {
		s->open = true;
		return;
	}
	s->low = fmin(s->low, fmin(a, b));
	s->high = fmax(s->high, fmax(a, b));
}

/*
 * t interval of the mean over test cases; a prediction interval is wider by sqrt(n + 1).
 */
static void overall_interval(const struct comparison *c, struct overall_sum *s)
{
	struct cmp_overall *o = s->o;

	o->low = o->high = NAN;
	if (!c->tested || !s->n_cases)
		return;
	if (s->n_cases >= 3) {
		struct interval p = stats_prediction(s->logs, s->n_cases, c->level);
		double half = (p.high - p.low) / 2 / sqrt((double)s->n_cases + 1);

		o->low = expm1(log1p(o->gmean) - half);
		o->high = expm1(log1p(o->gmean) + half);
	} else if (!s->open) {
		o->low = s->low;
		o->high = s->high;
	}
}

static enum verdict overall_verdict(const struct comparison *c, const struct cmp_overall *o)
{
	if (o->missing || o->failed)
		return VERDICT_INCOMPLETE;
	if (o->better && o->worse)
		return VERDICT_MIXED;
	if (o->worse)
		return VERDICT_WORSE;
	if (o->better && o->low > 0)
		return VERDICT_BETTER;
	if (!o->better && !o->unsure && o->rows)
		return VERDICT_SAME;
	if (!o->better && o->low > -c->threshold && o->high < c->threshold)
		return VERDICT_SAME;
	return VERDICT_UNSURE;
}

/* Headlines decide; a benchmark without any is judged by what is shown of it. */
static bool has_headline(const struct comparison *c, const char *benchmark)
{
	size_t t, r;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			if (!strcmp(c->tests[t].benchmark, benchmark) &&
			    c->tests[t].rows[r].headline)
				return true;
	return false;
}

static void judge_overall(struct comparison *c, struct cmp_overall *o)
{
	bool headline = has_headline(c, o->benchmark);
	struct overall_sum s = {.o = o, .low = INFINITY, .high = -INFINITY};
	size_t t, r;

	s.logs = arena_alloc_array(c->arena, c->n_tests + 1, sizeof(double));
	for (t = 0; t < c->n_tests; t++) {
		const struct cmp_test *test = &c->tests[t];
		double sum = 0;
		int n = 0;

		if (strcmp(test->benchmark, o->benchmark))
			continue;
		for (r = 0; r < test->n_rows; r++)
			if (headline ? test->rows[r].headline : test->rows[r].shown)
				overall_add_row(&s, test, &test->rows[r], &sum, &n);
		if (n)
			s.logs[s.n_cases++] = sum / n;
	}
	o->gmean = s.n_cases ? expm1(stats_amean(s.logs, s.n_cases)) : NAN;
	overall_interval(c, &s);
	o->verdict = overall_verdict(c, o);
}

static bool benchmark_is_new(const struct comparison *c, size_t test)
{
	size_t i;

	for (i = 0; i < test; i++)
		if (!strcmp(c->tests[i].benchmark, c->tests[test].benchmark))
			return false;
	return true;
}

static void judge_benchmarks(struct comparison *c)
{
	size_t t, v;

	c->overall =
		arena_alloc_array(c->arena, c->n_tests * c->n_variants + 1, sizeof(*c->overall));
	for (t = 0; t < c->n_tests; t++) {
		if (!benchmark_is_new(c, t))
			continue;
		for (v = 1; v < c->n_variants; v++) {
			struct cmp_overall *o = &c->overall[c->n_overall++];

			o->benchmark = c->tests[t].benchmark;
			o->variant = (int)v;
			judge_overall(c, o);
		}
	}
}

static enum verdict check_machine(const struct comparison *c)
{
	enum verdict v = VERDICT_SAME;
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++) {
			const struct cmp_row *row = &c->tests[t].rows[r];

			for (i = 1; row->headline && i < c->n_variants; i++) {
				const struct cmp_cell *cell = &row->cells[i];

				if (cell->verdict == VERDICT_WORSE && !cell->small)
					return VERDICT_WORSE;
				if (cell->verdict == VERDICT_UNSURE ||
				    cell->verdict == VERDICT_MISSING ||
				    cell->verdict == VERDICT_FAILED)
					v = VERDICT_UNSURE;
			}
		}
	}
	return v;
}

enum verdict comparison_check(const struct comparison *c)
{
	enum verdict v = VERDICT_SAME;

	for (; c && v != VERDICT_WORSE; c = c->next) {
		enum verdict one = check_machine(c);

		v = one == VERDICT_SAME ? v : one;
	}
	return v;
}

void comparison_judge(struct comparison *c)
{
	size_t t, r, n = 0;
	int family;

	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++)
			judge_row_means(c, &c->tests[t].rows[r]);
		n += c->tests[t].n_rows;
	}
	for (family = 0; family < 3; family++)
		judge_family(c, family, n);
	judge_benchmarks(c);
}
