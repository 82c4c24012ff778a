// SPDX-License-Identifier: GPL-2.0-or-later
/* The posterior of a bisection: against enumeration and plain integration, and by simulation. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/dag.h"
#include "stats/posterior.h"
#include "tests/random.h"

enum { MAX = 64 };

/* A graph with merges, octopuses and edges told twice; the last commit has all others in it. */
struct graph {
	size_t n, first[MAX + 1], parents[MAX * 4];
	bool has[MAX][MAX]; /* has[t][c]: t is c or descends from it */
};

static size_t below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

static void make_graph(struct graph *g, size_t n)
{
	bool child[MAX] = { false };
	size_t links = 0, i, k;

	*g = (struct graph){ .n = n };
	for (i = 0; i < n; i++) {
		g->first[i] = links;
		for (k = i && uniform() < 0.9 ? 1 + below(3) : 0; k > 0; k--)
			g->parents[links++] = i - 1 - below(MIN(i, 5));
		for (k = 0; i == n - 1 && k < i; k++)
			if (!child[k])
				g->parents[links++] = k;
		g->has[i][i] = true;
		for (k = g->first[i]; k < links; k++) {
			child[g->parents[k]] = true;
			for (size_t c = 0; c < n; c++)
				g->has[i][c] |= g->has[g->parents[k]][c];
		}
	}
	g->first[n] = links;
}

static void test_dag(void **state)
{
	struct graph g;
	double w[MAX], up[MAX], down[MAX];

	(void)state;
	rng = 3;
	for (int trial = 0; trial < 300; trial++) {
		struct dag d;

		make_graph(&g, 1 + below(MAX));
		assert_true(dag_init(&d, g.n, g.first, g.parents));
		for (size_t i = 0; i < g.n; i++)
			w[i] = (double)below(1000);
		dag_sum_ancestors(&d, w, up);
		dag_sum_descendants(&d, w, down);
		for (size_t i = 0; i < g.n; i++) {
			uint64_t set[DAG_WORDS(MAX)] = { 0 };
			double above = 0, under = 0;

			dag_ancestors(&d, i, set);
			for (size_t k = 0; k < g.n; k++) {
				assert_int_equal(dag_has(set, k), g.has[i][k]);
				above += g.has[i][k] ? w[k] : 0;
				under += g.has[k][i] ? w[k] : 0;
			}
			assert_true(up[i] == above && down[i] == under);
		}
		dag_release(&d);
	}
}

static double log_density(double z, double outliers, double width)
{
	return log((1 - outliers) * exp(-z * z / 2) +
		   outliers / width * exp(-z * z / (2 * width * width)));
}

/* Known levels are a sum over culprits, whatever the graph. */
static void test_enumeration(void **state)
{
	struct graph g;

	(void)state;
	rng = 5;
	for (int trial = 0; trial < 100; trial++) {
		double weight[MAX + 1], prior[MAX], total = 0, sum = 0, bad;
		struct posterior_options o = { POSTERIOR_DEFAULTS, .known = true, .good = 1,
					       .bad = 1.5, .sigma = 0.5, .prior = prior };
		_cleanup_posterior_ struct posterior *p = NULL;
		size_t i, t, culprit;

		make_graph(&g, 1 + below(MAX));
		o.n = g.n;
		o.first = g.first;
		o.parents = g.parents;
		o.outliers = trial % 2 ? 0.05 : 0;
		for (i = 0; i < g.n; i++)
			sum += prior[i] = trial % 3 ? uniform() : 1;
		for (i = 0; i <= g.n; i++)
			weight[i] = i < g.n ? log(prior[i] / sum * (1 - o.none)) : log(o.none);
		p = posterior_new(&o);
		culprit = below(g.n);
		for (int run = 0; run < 40; run++) {
			double y;

			t = run % 8 ? below(g.n) : POSTERIOR_GOOD;
			bad = t != POSTERIOR_GOOD && g.has[t][culprit];
			y = 1 + 0.5 * (normal() + bad);
			assert_int_equal(posterior_add(p, t, y, 0, run), 0);
			for (i = 0; i <= g.n; i++) {
				bad = i < g.n && t != POSTERIOR_GOOD && g.has[t][i];
				weight[i] += log_density((y - 1) / 0.5 - bad, o.outliers, 10);
			}
		}
		for (i = 0; i <= g.n; i++)
			total += weight[i] = exp(weight[i]);
		assert_true(fabs(posterior_none(p) - weight[g.n] / total) < 1e-9);
		for (t = 0; t < g.n; t++) {
			assert_true(fabs(posterior_of(p, t) - weight[t] / total) < 1e-9);
			for (bad = 0, i = 0; i < g.n; i++)
				bad += g.has[t][i] ? weight[i] / total : 0;
			assert_true(fabs(posterior_bad(p, t) - bad) < 1e-9);
		}
	}
}

/* Three commits in a line, twelve runs, nothing known: integrated the plain way. */
static const struct {
	size_t commit;
	double value;
} twelve[] = {
	{ POSTERIOR_GOOD, 0.004 }, { 2, 0.031 },  { POSTERIOR_GOOD, -0.013 }, { 2, 0.012 },
	{ 1, 0.022 },		   { 0, 0.001 },  { 0, 0.017 },		      { 1, 0.029 },
	{ POSTERIOR_GOOD, 0.009 }, { 2, 0.013 },  { 0, -0.005 },	      { 1, 0.094 },
};

static double effect_prior(double delta, double sigma)
{
	static const double scales[] = { 0.25, 0.5, 1, 2, 4, 8 };
	double sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(scales); i++)
		sum += exp(-delta * delta / (2 * pow(scales[i] * sigma, 2))) /
		       (scales[i] * sigma * sqrt(2 * M_PI) * ARRAY_SIZE(scales));
	return sum;
}

/* weight[c]: culprit c, weight[3]: none; of one sigma. */
static void integrate(double sigma, double weight[4])
{
	enum { POINTS = 241 };
	static double good[POINTS][4], bad[POINTS][4];
	double low = -0.06, step = 0.0006;

	for (int i = 0; i < POINTS; i++)
		for (size_t c = 0; c < 4; c++) {
			good[i][c] = bad[i][c] = 0;
			for (size_t r = 0; r < ARRAY_SIZE(twelve); r++) {
				size_t at = twelve[r].commit;
				bool is_bad = at != POSTERIOR_GOOD && at >= c && c < 3;
				double z = (twelve[r].value - low - step * i) / sigma;

				*(is_bad ? &bad[i][c] : &good[i][c]) +=
					log_density(z, 0.05, 10) - log(sigma);
			}
			good[i][c] = exp(good[i][c]);
			bad[i][c] = exp(bad[i][c]);
		}
	for (int i = 0; i < POINTS; i++) {
		weight[3] += good[i][3] * step;
		for (int k = 0; k < POINTS; k++)
			for (size_t c = 0; c < 3; c++)
				weight[c] += good[i][c] * bad[k][c] * step * step *
					     effect_prior(step * (k - i), sigma);
	}
}

static void test_integration(void **state)
{
	struct posterior_options o = { POSTERIOR_DEFAULTS, .n = 3 };
	_cleanup_posterior_ struct posterior *p = posterior_new(&o);
	double weight[4] = { 0 }, total = 0;

	(void)state;
	for (double at = log(0.002); at < log(0.1); at += 0.1) {
		double of_sigma[4] = { 0 }, off = (at - log(0.01)) / 1.5;

		integrate(exp(at), of_sigma);
		for (int c = 0; c < 4; c++)
			weight[c] += of_sigma[c] * exp(-off * off / 2) * (c < 3 ? 0.85 / 3 : 0.15);
	}
	for (int c = 0; c < 4; c++)
		total += weight[c];
	for (size_t r = 0; r < ARRAY_SIZE(twelve); r++)
		posterior_add(p, twelve[r].commit, twelve[r].value, 0, NAN);
	for (size_t c = 0; c < 4; c++) {
		double got = c < 3 ? posterior_of(p, c) : posterior_none(p);

		if (fabs(got - weight[c] / total) > 0.02)
			fail_msg("culprit %zu: %.4f is not %.4f", c, got, weight[c] / total);
	}
}

/* A machine on which bisections are simulated: effect and spreads in units of sigma. */
struct world {
	size_t n;
	double d, outliers, boot, drift; /* drift: a run */
	int runs;			 /* a boot */
	bool no_culprit, untold_boots;
};

struct outcome {
	double runs, right, wrong, none; /* shares, but for runs */
};

static const double sigma = 0.02;

/* Until something holds 95 %, or 3000 runs. */
static void bisect(const struct world *w, const struct posterior_options *o, struct outcome *out)
{
	_cleanup_posterior_ struct posterior *p = posterior_new(o);
	size_t culprit = w->no_culprit ? SIZE_MAX : below(w->n), commit, set[1024], n;
	int boot;

	for (boot = 1; boot < 3000; boot++) {
		double level;

		assert_true(posterior_next(p, NULL, 1, &commit));
		level = w->boot * normal() + w->drift * boot;
		level += commit != POSTERIOR_GOOD && commit >= culprit ? w->d : 0;
		for (int r = 0; r < w->runs; r++) {
			double z = normal() * (uniform() < w->outliers ? 10 : 1);

			posterior_add(p, commit, sigma * (level + z),
				      w->untold_boots ? 0 : (uint64_t)boot, boot);
		}
		if (posterior_none(p) >= 0.95)
			break;
		if (posterior_set(p, 0, set, &n) < 0.95)
			continue;
		*(set[0] == culprit ? &out->right : &out->wrong) += 1;
		out->runs += boot;
		return;
	}
	out->none++;
	out->runs += boot;
}

static struct outcome simulate(const struct world *w, struct posterior_options o, int trials)
{
	struct outcome out = { 0 };

	o.n = w->n;
	rng = 17;
	for (int i = 0; i < trials; i++)
		bisect(w, &o, &out);
	out.runs /= trials;
	out.right /= trials;
	out.wrong /= trials;
	out.none /= trials;
	return out;
}

/* Of n trials with the stated probability so few are right in one of a thousand. */
static double at_least(double share, int trials)
{
	return share - 3.1 * sqrt(share * (1 - share) / trials);
}

static struct posterior_options known(double d, double spread)
{
	return (struct posterior_options){ .known = true, .bad = d * sigma,
					   .sigma = spread * sigma };
}

static void test_outliers(void **state)
{
	struct world w = { .n = 1024, .d = 1, .outliers = 0.05, .runs = 1 };
	struct posterior_options o = known(1, 1);
	struct outcome out;

	(void)state;
	/* a normal likelihood claims 95 % and is right in two of five */
	out = simulate(&w, o, 200);
	assert_true(out.right < 0.5);
	o.outliers = 0.05;
	o.width = 10;
	out = simulate(&w, o, 200);
	assert_true(out.right > at_least(0.95, 200) && out.runs < 80);
}

static void test_boots(void **state)
{
	struct world w = { .n = 1024, .d = 1, .boot = 1, .runs = 4 };
	struct posterior_options o = known(1, 1);
	struct outcome out;

	(void)state;
	/* runs of a boot are not independent: taken as that, nearly every answer is wrong */
	w.untold_boots = true;
	out = simulate(&w, o, 200);
	assert_true(out.right < 0.3);
	w.untold_boots = false;
	o = known(1, sqrt(2));
	out = simulate(&w, o, 200);
	assert_true(out.right > at_least(0.95, 200));
}

static void test_defaults(void **state)
{
	static const struct world worlds[] = {
		{ .n = 1024, .d = 4, .runs = 1 },
		{ .n = 1024, .d = 4, .outliers = 0.05, .runs = 1 },
		{ .n = 1024, .d = 4, .drift = 0.1, .runs = 1 },
		{ .n = 64, .d = -2, .boot = 0.5, .runs = 2 },
	};
	struct posterior_options o = { POSTERIOR_DEFAULTS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(worlds); i++) {
		struct outcome out = simulate(&worlds[i], o, 60);

		if (out.right < at_least(0.95, 60))
			fail_msg("world %zu: %.3f right after %.1f runs", i, out.right, out.runs);
		assert_true(out.runs < 60);
	}
}

static void test_no_culprit(void **state)
{
	struct world w = { .n = 64, .d = 2, .runs = 1, .no_culprit = true };
	struct posterior_options o = { POSTERIOR_DEFAULTS, .threshold = 2 * sigma };
	struct outcome out = simulate(&w, o, 60);

	(void)state;
	assert_true(out.none > at_least(0.95, 60));
	assert_true(out.runs < 20);
}

/* Runs of a candidate and the good end at their levels, as often as told. */
static void feed(struct posterior *p, size_t commit, double level, int runs)
{
	static const double noise[] = { 0.3, -0.9, 1.2, -0.4, 0.1, -1.1, 0.8, 0 };

	for (int i = 0; i < runs; i++)
		assert_int_equal(posterior_add(p, commit, level + 0.01 * noise[i % 8], 0, i), 0);
}

static void test_skips(void **state)
{
	struct posterior_options o = { POSTERIOR_DEFAULTS, .n = 20 };
	_cleanup_posterior_ struct posterior *p = posterior_new(&o);
	size_t set[20], n, commit;
	bool in[20] = { false };

	(void)state;
	for (size_t i = 8; i < 12; i++)
		posterior_skip(p, i);
	feed(p, POSTERIOR_GOOD, 1, 16);
	feed(p, 7, 1, 16);
	feed(p, 12, 1.1, 16);
	feed(p, 19, 1.1, 16);
	/* 12 is the first that runs: whether it or a skipped one did it no run can tell */
	assert_true(posterior_set(p, 0.95, set, &n) > 0.99);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		in[set[i]] = true;
	for (size_t i = 8; i <= 12; i++) {
		assert_true(in[i]);
		assert_true(fabs(posterior_of(p, i) - posterior_of(p, 12)) < 1e-12);
	}
	assert_true(posterior_runs_to_go(p, 0.95) == 0);
	/* a skipped commit is never asked for, whatever else is */
	if (posterior_next(p, NULL, 1, &commit))
		assert_true(commit < 8 || commit > 11);
}

/* On a graph: commits are together exactly when the same ones that can run descend from them. */
static void test_skips_on_graphs(void **state)
{
	struct graph g;

	(void)state;
	rng = 11;
	for (int trial = 0; trial < 100; trial++) {
		struct posterior_options o = { POSTERIOR_DEFAULTS };
		_cleanup_posterior_ struct posterior *p = NULL;
		bool skipped[MAX];
		size_t set[MAX], n, best = 0;

		make_graph(&g, 1 + below(MAX));
		o.n = g.n;
		o.first = g.first;
		o.parents = g.parents;
		p = posterior_new(&o);
		for (size_t i = 0; i < g.n; i++)
			if ((skipped[i] = uniform() < 0.4))
				posterior_skip(p, i);
		posterior_set(p, 0, set, &n);
		best = set[0];
		for (size_t i = 0; i < g.n; i++) {
			bool same = true, told = false;

			for (size_t t = 0; t < g.n; t++)
				same &= skipped[t] || g.has[t][i] == g.has[t][best];
			for (size_t k = 0; k < n; k++)
				told |= set[k] == i;
			assert_int_equal(same, told);
		}
	}
}

/* A second culprit, once the first is taken off the runs that have it. */
static void test_causes(void **state)
{
	const struct posterior_cause first = { 5, 0.1 };
	struct posterior_options o = { POSTERIOR_DEFAULTS, .n = 16, .causes = &first,
				       .n_causes = 1 };
	_cleanup_posterior_ struct posterior *p = posterior_new(&o);
	size_t set[16], n;
	struct posterior_effect e;

	(void)state;
	feed(p, POSTERIOR_GOOD, 1, 16);
	feed(p, 4, 1, 16);
	feed(p, 5, 1.1, 16);
	feed(p, 10, 1.1, 16);
	feed(p, 11, 1.06, 16);
	feed(p, 15, 1.06, 16);
	assert_true(posterior_set(p, 0.95, set, &n) > 0.99);
	assert_true(n == 1 && set[0] == 11);
	assert_true(posterior_of(p, 5) == 0);
	e = posterior_effect(p, 0.95);
	assert_true(e.low < -0.04 && e.high > -0.04 && e.low > -0.055 && e.high < -0.025);
	assert_true(e.sigma > 0.006 && e.sigma < 0.012);
}

static void test_costs(void **state)
{
	struct posterior_options o = known(2, 1);
	_cleanup_posterior_ struct posterior *p = NULL;
	double setup[100];
	size_t commit;

	(void)state;
	o.n = 100;
	p = posterior_new(&o);
	for (size_t i = 0; i < 100; i++)
		setup[i] = i == 30 ? 0 : 10;
	assert_true(posterior_next(p, NULL, 1, &commit) && commit == 49);
	/* the built one tells 0.84 of what the middle does, for a fifth of its cost */
	assert_true(posterior_next(p, setup, 1, &commit) && commit == 30);
	setup[30] = 10;
	setup[98] = 0;
	assert_true(posterior_next(p, setup, 1, &commit) && commit == 49);
}

static void test_edges(void **state)
{
	struct posterior_options o = { POSTERIOR_DEFAULTS, .n = 1 };
	_cleanup_posterior_ struct posterior *p = posterior_new(&o);
	const size_t first[] = { 0, 0, 1 }, bad_parents[] = { 1 };
	struct posterior_options wrong = { POSTERIOR_DEFAULTS, .n = 2, .first = first,
					   .parents = bad_parents };
	size_t set[1], n, commit;

	(void)state;
	assert_null(posterior_new(&wrong));
	wrong.n = 0;
	assert_null(posterior_new(&wrong));
	assert_true(posterior_none(p) == 0.15 && fabs(posterior_of(p, 0) - 0.85) < 1e-12);
	assert_true(isnan(posterior_effect(p, 0.95).effect));
	assert_int_equal(posterior_add(p, 0, NAN, 0, 0), -EINVAL);
	assert_int_equal(posterior_add(p, 1, 0, 0, 0), -EINVAL);
	/* values without any spread, then one that is worlds away */
	for (int i = 0; i < 6; i++) {
		posterior_add(p, i % 2 ? 0 : POSTERIOR_GOOD, i % 2, 0, i);
		assert_true(isfinite(posterior_none(p)) && isfinite(posterior_of(p, 0)));
	}
	assert_true(posterior_of(p, 0) > 0.95);
	posterior_add(p, 0, 1e6, 0, 7);
	assert_true(posterior_of(p, 0) > 0.9);
	assert_true(isfinite(posterior_effect(p, 0.95).low));
	posterior_skip(p, 0);
	assert_true(posterior_set(p, 0.95, set, &n) > 0.9 && n == 1);
	assert_true(!posterior_next(p, NULL, 1, &commit) || commit == POSTERIOR_GOOD);
	assert_true(isfinite(posterior_runs_to_go(p, 0.999999)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dag),
		cmocka_unit_test(test_enumeration),
		cmocka_unit_test(test_integration),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_no_culprit),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_skips_on_graphs),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
