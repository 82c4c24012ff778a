// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated campaigns, fixed seed: how often unchanged kernels are marked, and how often a real
 * change is found. The limits are those of the design, not fitted to the outcome.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/stats.h"
#include "tests/random.h"

enum noise { NORMAL, OUTLIERS, BIMODAL };
enum { N_MAX = 10, ROWS = 20 };

/* One run of a benchmark that gives about 1000, with 1 % of noise */
static double run(enum noise noise, double shift)
{
	double z = normal();

	if (noise == OUTLIERS && uniform() < 0.05)
		z *= 10;
	if (noise == BIMODAL && uniform() < 0.3)
		z += 5;
	return 1000 * exp(0.01 * (z + shift));
}

/* shift in units of the run-to-run deviation */
static struct test_result measure(enum noise noise, size_t n, double shift)
{
	double x[N_MAX], y[N_MAX];

	for (size_t i = 0; i < n; i++) {
		x[i] = run(noise, 0);
		y[i] = run(noise, shift);
	}
	return stats_test(MEAN_HMEAN, x, n, y, n, NULL, 0.95, NULL);
}

static bool is_marked(const struct test_result *t)
{
	bool small;
	enum verdict v = stats_verdict(t, DIR_HIGHER, 0.01, 0.05, &small);

	return v == VERDICT_BETTER || v == VERDICT_WORSE;
}

static double marked_rows(enum noise noise, size_t n, double shift, int rounds)
{
	int marked = 0;

	rng = 20260217;
	for (int i = 0; i < rounds; i++) {
		struct test_result t = measure(noise, n, shift);

		marked += is_marked(&t);
	}
	return (double)marked / rounds;
}

static void test_false_alarms(void **state)
{
	const size_t sizes[] = {5, 10};

	(void)state;
	for (enum noise noise = NORMAL; noise <= BIMODAL; noise++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			double rate = marked_rows(noise, sizes[i], 0, 20000);

			print_message("noise %d, n = %zu: %.2f %% marked\n", noise, sizes[i],
				      100 * rate);
			assert_true(rate <= 0.06);
			/* A test that never marks anything would pass too. */
			assert_true(rate >= 0.02);
		}
	}
}

/* The design's table: 68 % of changes of two standard deviations are found with 5 runs a side. */
static void test_power(void **state)
{
	double rate = marked_rows(NORMAL, 5, 2, 20000);

	(void)state;
	print_message("2 sigma, n = 5: %.1f %% found\n", 100 * rate);
	assert_true(fabs(rate - 0.68) < 0.015);
}

static bool table_has_mark(enum noise noise, size_t n)
{
	struct test_result row[ROWS];
	double p[ROWS];
	bool any = false;

	for (int i = 0; i < ROWS; i++) {
		row[i] = measure(noise, n, 0);
		p[i] = row[i].p;
	}
	stats_benjamini_hochberg(p, ROWS, p);
	for (int i = 0; i < ROWS; i++) {
		row[i].p_adjusted = p[i];
		any |= is_marked(&row[i]);
	}
	return any;
}

/* "If nothing had changed, any mark at all appears in at most 5 % of such tables." */
static void test_families(void **state)
{
	const size_t sizes[] = {5, 10};
	const int tables = 5000;

	(void)state;
	rng = 20260218;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int marked = 0;

		for (int t = 0; t < tables; t++)
			marked += table_has_mark(NORMAL, sizes[i]);
		print_message("%d rows, n = %zu: %.2f %% of tables have a mark\n", ROWS, sizes[i],
			      100.0 * marked / tables);
		assert_true(marked <= 0.05 * tables);
	}
}

/*
 * Flip mode on a machine that drifts: pairs keep the promise where the level of both sides wanders,
 * and their interval is narrower than that of the same values without their pairing.
 */
static void test_pairs(void **state)
{
	enum { PAIRS = 20, ROUNDS = 10000 };
	int marked = 0, covered = 0, narrower = 0, found = 0, found_unpaired = 0;
	double x[PAIRS], y[PAIRS];

	(void)state;
	rng = 20260220;
	for (int i = 0; i < ROUNDS; i++) {
		struct test_result pairs, apart;

		drifting_pairs(x, y, PAIRS, 10, 0);
		pairs = stats_test_paired(MEAN_AMEAN, x, y, PAIRS, NULL, 0.95);
		apart = stats_test(MEAN_AMEAN, x, PAIRS, y, PAIRS, NULL, 0.95, NULL);
		marked += pairs.p <= 0.05;
		covered += pairs.low <= 0 && pairs.high >= 0;
		narrower += pairs.high - pairs.low < apart.high - apart.low;
		drifting_pairs(x, y, PAIRS, 10, 1.5);
		found += stats_test_paired(MEAN_AMEAN, x, y, PAIRS, NULL, 0.95).p <= 0.05;
		found_unpaired +=
			stats_test(MEAN_AMEAN, x, PAIRS, y, PAIRS, NULL, 0.95, NULL).p <= 0.05;
	}
	print_message("%d pairs under drift: %.2f %% marked, %.2f %% covered, interval narrower in "
		      "%.1f %%; 1.5 sigma found in %.1f %%, unpaired %.1f %%\n",
		      PAIRS, 100.0 * marked / ROUNDS, 100.0 * covered / ROUNDS,
		      100.0 * narrower / ROUNDS, 100.0 * found / ROUNDS,
		      100.0 * found_unpaired / ROUNDS);
	assert_true(marked <= 0.055 * ROUNDS && marked >= 0.03 * ROUNDS);
	assert_true(covered >= 0.945 * ROUNDS);
	assert_true(narrower >= 0.95 * ROUNDS);
	assert_true(found >= 0.8 * ROUNDS && found_unpaired <= 0.5 * ROUNDS);
}

/* Independent values seldom show a lag, alike neighbours do. */
static void test_lag(void **state)
{
	enum { N = 30, ROUNDS = 10000 };
	int false_alarms = 0, found = 0;
	double x[N];

	(void)state;
	rng = 20260221;
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < N; k++)
			x[k] = normal();
		false_alarms += stats_lag1(x, N).p <= 0.01;
		for (int k = 1; k < N; k++)
			x[k] += 0.7 * x[k - 1];
		found += stats_lag1(x, N).p <= 0.01;
	}
	print_message("lag said of %.2f %% of independent values, of %.1f %% with 0.7\n",
		      100.0 * false_alarms / ROUNDS, 100.0 * found / ROUNDS);
	assert_true(false_alarms <= 0.015 * ROUNDS);
	assert_true(found >= 0.75 * ROUNDS);
	assert_true(isnan(stats_lag1(x, 7).r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_lag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
