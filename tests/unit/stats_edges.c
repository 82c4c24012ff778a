// SPDX-License-Identifier: GPL-2.0-or-later
/* Means, spread, ranks and corrections on empty, single, equal, huge, tiny and missing values. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/stats.h"

#define OF(f, ...) f((const double[]){__VA_ARGS__}, ARRAY_SIZE(((double[]){__VA_ARGS__})))

static void assert_close(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static void test_means(void **state)
{
	(void)state;
	assert_close(OF(stats_amean, 1, 2, 6), 3);
	assert_close(OF(stats_hmean, 1, 2, 4), 12.0 / 7);
	assert_close(OF(stats_gmean, 1, 2, 4), 2);
	assert_close(OF(stats_median, 9, 1, 5), 5);
	assert_close(OF(stats_median, 9, 1, 5, 4), 4.5);
	assert_close(OF(stats_stddev, 2, 4, 4, 4, 5, 5, 7, 9), sqrt(32.0 / 7));
	assert_true(stats_mean(MEAN_HMEAN, (double[]){1, 2, 4}, 3) == OF(stats_hmean, 1, 2, 4));
}

static void test_empty_and_single(void **state)
{
	(void)state;
	for (enum mean_kind k = MEAN_AMEAN; k <= MEAN_MEDIAN; k++) {
		assert_true(isnan(stats_mean(k, NULL, 0)));
		assert_close(stats_mean(k, (double[]){7.5}, 1), 7.5);
	}
	assert_true(isnan(stats_stddev(NULL, 0)));
	assert_true(isnan(OF(stats_stddev, 3)));
}

/* fisher.test() of R */
static void test_rates(void **state)
{
	static const struct {
		int x, nx, y, ny;
		double p;
	} known[] = {
		{3, 3, 0, 5, 0.0178571428571429},
		{0, 5, 4, 5, 0.0476190476190476},
		{1, 10, 5, 10, 0.140866873065015},
		{0, 5, 0, 5, 1},
		{2, 30, 9, 40, 0.10025239727628},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		assert_close(stats_fisher(known[i].x, known[i].nx, known[i].y, known[i].ny),
			     known[i].p);
		assert_close(stats_fisher(known[i].y, known[i].ny, known[i].x, known[i].nx),
			     known[i].p);
	}
	assert_true(isnan(stats_fisher(0, 0, 1, 5)));
	assert_true(isnan(stats_fisher(6, 5, 1, 5)));
	assert_true(isnan(stats_fisher(-1, 5, 1, 5)));
}

static void test_refused_values(void **state)
{
	(void)state;
	assert_true(isnan(OF(stats_hmean, 1, 0, 2)));
	assert_true(isnan(OF(stats_hmean, 1, -1, 2)));
	assert_true(isnan(OF(stats_gmean, 1, 0, 2)));
	assert_true(isnan(OF(stats_gmean, 1, -1, 2)));
	assert_close(OF(stats_amean, 1, -1, 3), 1);
	for (enum mean_kind k = MEAN_AMEAN; k <= MEAN_MEDIAN; k++)
		assert_true(isnan(stats_mean(k, (double[]){1, NAN, 2}, 3)));
	assert_true(isnan(OF(stats_stddev, 1, NAN, 2)));
}

static void test_equal_values(void **state)
{
	(void)state;
	/* A mean of equal values is that value and has no spread, also where 3 * 0.1 rounds. */
	assert_true(OF(stats_amean, 0.1, 0.1, 0.1) == 0.1);
	assert_true(OF(stats_stddev, 0.1, 0.1, 0.1) == 0);
	assert_close(OF(stats_hmean, 0.1, 0.1, 0.1), 0.1);
	assert_close(OF(stats_gmean, 0.1, 0.1, 0.1), 0.1);
}

static void test_range(void **state)
{
	const double huge = DBL_MAX, tiny = DBL_MIN;

	(void)state;
	assert_close(OF(stats_amean, huge, huge), huge);
	assert_close(OF(stats_median, huge, huge), huge);
	assert_close(OF(stats_gmean, huge, huge), huge);
	assert_close(OF(stats_hmean, tiny, tiny), tiny);
	assert_close(OF(stats_gmean, tiny, huge), sqrt(tiny) * sqrt(huge));
	assert_close(OF(stats_stddev, huge / 2, -huge / 2), huge / sqrt(2));
	assert_close(OF(stats_stddev, 1e-300, 3e-300), sqrt(2) * 1e-300);
}

static void test_rank_edges(void **state)
{
	const double x[] = {1, 2, 3, 4, 5}, bad[] = {1, NAN, 3, 4, 5};
	const double same[] = {7, 7, 7, 7, 7}, far[] = {1e300, 2e300, 3e300, 4e300, 5e300};
	struct interval i;

	(void)state;
	assert_true(isnan(stats_mann_whitney(x, 5, NULL, 0)));
	assert_true(isnan(stats_mann_whitney(NULL, 0, x, 5)));
	assert_true(isnan(stats_mann_whitney(x, 5, bad, 5)));
	assert_true(isnan(stats_mann_whitney(x, 5, (double[]){INFINITY}, 1)));
	assert_true(stats_mann_whitney(x, 1, x, 1) == 1);
	assert_true(stats_mann_whitney(same, 5, same, 5) == 1);
	assert_true(stats_mann_whitney(x, 5, x, 5) == 1);
	assert_close(stats_mann_whitney(x, 5, far, 5), 2.0 / 252);

	i = stats_hodges_lehmann(same, 5, same, 5, 0.95);
	assert_true(i.low == 0 && i.high == 0 && i.estimate == 0);
	i = stats_hodges_lehmann(x, 1, far, 1, 0.95);
	assert_true(isinf(i.low) && isinf(i.high) && i.achieved == 0);
	assert_close(i.estimate, 1e300);
	i = stats_hodges_lehmann(x, 5, bad, 5, 0.95);
	assert_true(isnan(i.low) && isnan(i.high) && isnan(i.estimate));
	i = stats_hodges_lehmann(x, 5, x, 5, 1);
	assert_true(isnan(i.low) && isnan(i.estimate));
	/* differences beyond the range of a double */
	i = stats_hodges_lehmann((const double[]){-DBL_MAX}, 1, (const double[]){DBL_MAX}, 1, 0.5);
	assert_true(isnan(i.low) && isnan(i.estimate));
	i = stats_hodges_lehmann(x, 5, NULL, 0, 0.95);
	assert_true(isnan(i.low) && isnan(i.estimate));
}

/* Above 50 values the normal approximation: nothing but ties must not divide by zero. */
static void test_many_equal(void **state)
{
	double x[60], y[60];
	struct interval i;

	(void)state;
	for (int k = 0; k < 60; k++) {
		x[k] = 3;
		y[k] = 5;
	}
	assert_true(stats_mann_whitney(x, 60, x, 60) == 1);
	assert_true(stats_mann_whitney(x, 60, y, 60) < 1e-20);
	i = stats_hodges_lehmann(x, 60, y, 60, 0.95);
	assert_true(i.low == 2 && i.high == 2 && i.estimate == 2);
	x[0] = -DBL_MAX;
	y[0] = DBL_MAX;
	i = stats_hodges_lehmann(x, 60, y, 60, 0.95);
	assert_true(isnan(i.low) && isnan(i.high) && isnan(i.estimate));
}

/* Every way to choose 4 of 9 values with ties, counted one by one. */
static void test_brute_force(void **state)
{
	const double v[] = {1, 2, 2, 2, 3, 4, 4, 6, 6};
	const int rank2[] = {2, 6, 6, 6, 10, 13, 13, 17, 17};
	int total = 0, centre = 4 * (9 + 1);

	(void)state;
	for (unsigned mask = 0; mask < 1u << 9; mask++)
		total += __builtin_popcount(mask) == 4;
	for (unsigned chosen = 0; chosen < 1u << 9; chosen++) {
		double x[9], y[9];
		size_t nx = 0, ny = 0;
		int sum = 0, as_far = 0;

		if (__builtin_popcount(chosen) != 4)
			continue;
		for (int k = 0; k < 9; k++) {
			if (chosen >> k & 1) {
				x[nx++] = v[k];
				sum += rank2[k];
			} else {
				y[ny++] = v[k];
			}
		}
		for (unsigned mask = 0; mask < 1u << 9; mask++) {
			int other = 0;

			for (int k = 0; k < 9; k++)
				other += mask >> k & 1 ? rank2[k] : 0;
			as_far += __builtin_popcount(mask) == 4 &&
				  abs(other - centre) >= abs(sum - centre);
		}
		assert_close(stats_mann_whitney(x, nx, y, ny), (double)as_far / total);
	}
}

static void test_welch(void **state)
{
	const double x[] = {1, 2, 3}, same[] = {5, 5, 5}, bad[] = {1, NAN};
	const double tiny_x[] = {1e-200, 2e-200, 3e-200}, tiny_y[] = {4e-200, 5e-200, 7e-200};
	const double y[] = {4, 5, 7};

	(void)state;
	assert_true(isnan(stats_welch(x, 3, x, 1)));
	assert_true(isnan(stats_welch(x, 1, x, 3)));
	assert_true(isnan(stats_welch(same, 3, same, 3)));
	assert_true(isnan(stats_welch(x, 3, bad, 2)));
	assert_true(stats_welch(x, 3, x, 3) == 1);
	assert_true(stats_welch(x, 3, same, 3) < 0.05);
	assert_close(stats_welch(tiny_x, 3, tiny_y, 3), stats_welch(x, 3, y, 3));
}

static void test_pooled_variance(void **state)
{
	const double x[] = {1, 10, 100}, y[] = {5, 5}, bad[] = {1, 0}, nan[] = {1, NAN};
	const struct stats_group both[] = {{x, 3}, {y, 2}}, single[] = {{x, 3}, {y, 1}};
	const struct stats_group zero[] = {{x, 3}, {bad, 2}}, missing[] = {{x, 3}, {nan, 2}};
	struct stats_variance v = stats_pooled_variance(both, 2, true);

	(void)state;
	assert_close(v.value, 2 * M_LN10 * M_LN10 / 3);
	assert_close(v.df, 3);
	assert_close(stats_pooled_variance(single, 2, true).value, M_LN10 * M_LN10);
	assert_close(stats_pooled_variance(single, 2, true).df, 2);
	assert_true(stats_pooled_variance(single + 1, 1, true).df == 0);
	assert_true(stats_pooled_variance(NULL, 0, true).df == 0);
	assert_true(stats_pooled_variance(zero, 2, true).df == 0);
	assert_true(isnan(stats_pooled_variance(zero, 2, true).value));
	assert_close(stats_pooled_variance(zero, 2, false).df, 3);
	assert_true(stats_pooled_variance(missing, 2, false).df == 0);
}

/* Rows that were not tested are no members of the family. */
static void test_bh_missing(void **state)
{
	double p[] = {0.01, NAN, 0.04, 0.03, NAN}, adjusted[5];

	(void)state;
	stats_benjamini_hochberg(p, 5, adjusted);
	assert_close(adjusted[0], 0.03);
	assert_true(isnan(adjusted[1]) && isnan(adjusted[4]));
	assert_close(adjusted[2], 0.04);
	assert_close(adjusted[3], 0.04);
	stats_benjamini_hochberg(NULL, 0, NULL);
}

/* By hand: two groups of two, of two and one; equal means leave less than nothing between. */
static void test_components(void **state)
{
	const double x[] = {1, 3}, y[] = {5, 7}, z[] = {0, 4};
	struct stats_group g[] = {{x, 2}, {y, 2}, {z, 2}};
	struct stats_components c = stats_variance_components(g, 2);

	(void)state;
	assert_close(c.within, 2);
	assert_close(c.between, 7);
	assert_true(c.within_df == 2 && c.between_df == 1);
	g[1].n = 1;
	c = stats_variance_components(g, 2);
	assert_close(c.within, 2);
	assert_close(c.between, 3);
	g[1] = g[2];
	assert_close(stats_variance_components(g, 2).between, -2.5);
	assert_true(isnan(stats_variance_components(g, 1).within));
	g[0].n = g[1].n = 1;
	assert_true(isnan(stats_variance_components(g, 2).within));
}

static void test_runs_per_boot(void **state)
{
	(void)state;
	assert_int_equal(stats_runs_per_boot(8, 2, 4, 4), 2);
	assert_int_equal(stats_runs_per_boot(9, 2, 4, 4), 3);
	assert_int_equal(stats_runs_per_boot(8, 2, 1, 100), 1);
	assert_int_equal(stats_runs_per_boot(8, 2, 1, 0), STATS_RUNS_MAX);
	assert_int_equal(stats_runs_per_boot(0, 2, 1, 0), 1);
	assert_int_equal(stats_runs_per_boot(8, 2, 0, 0), 1);
	assert_int_equal(stats_runs_per_boot(8, 0, 1, 1), 0);
	assert_int_equal(stats_runs_per_boot(8, 2, NAN, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means),	       cmocka_unit_test(test_empty_and_single),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_refused_values), cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_range),	       cmocka_unit_test(test_rank_edges),
		cmocka_unit_test(test_many_equal),     cmocka_unit_test(test_brute_force),
		cmocka_unit_test(test_welch),	       cmocka_unit_test(test_pooled_variance),
		cmocka_unit_test(test_bh_missing),     cmocka_unit_test(test_components),
		cmocka_unit_test(test_runs_per_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
