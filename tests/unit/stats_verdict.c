// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts on published measurements and at the edges of the three words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/stats.h"

/* Equal when printed with so many decimals, as a table prints them. */
#define assert_printed(value, decimals, text)                                                      \
	do {                                                                                       \
		char buf_[64];                                                                     \
		snprintf(buf_, sizeof(buf_), "%.*f", decimals, value);                             \
		assert_string_equal(buf_, text);                                                   \
	} while (0)

#define TEST(x, y) stats_test(MEAN_AMEAN, x, ARRAY_SIZE(x), y, ARRAY_SIZE(y), NULL, 0.95, NULL)

/* Kernel builds, seconds: 7 without and 7 with the patch. */
static const double real_a[] = {79.510, 77.303, 79.583, 77.819, 76.763, 78.551, 78.154};
static const double real_b[] = {77.644, 75.855, 78.918, 80.329, 77.773, 74.943, 76.439};
static const double user_a[] = {1934.133, 1934.128, 1933.205, 1931.753,
				1935.607, 1938.521, 1934.540};
static const double user_b[] = {1932.074, 1927.700, 1933.352, 1927.255,
				1939.912, 1934.549, 1932.864};
static const double sys_a[] = {278.198, 280.094, 280.696, 281.371, 281.297, 281.392, 280.364};
static const double sys_b[] = {275.827, 275.868, 280.161, 276.706, 276.989, 278.670, 279.424};

static void check_build(const struct test_result *t, const char *change, const char *low,
			const char *high, const char *shift, enum verdict want)
{
	bool small = true;

	assert_string_equal(t->test, "mw");
	assert_true(t->on_log);
	assert_printed(100 * t->change, 2, change);
	assert_printed(100 * t->low, 2, low);
	assert_printed(100 * t->high, 2, high);
	assert_printed(100 * t->shift, 2, shift);
	assert_int_equal(stats_verdict(t, DIR_LOWER, 0.01, 0.05, &small), want);
	assert_false(small);
}

static void test_kernel_builds(void **state)
{
	struct test_result real = TEST(real_a, real_b), user = TEST(user_a, user_b);
	struct test_result sys = TEST(sys_a, sys_b);

	(void)state;
	check_build(&real, "-1.06", "-3.70", "1.32", "-1.12", VERDICT_UNSURE);
	check_build(&user, "-0.10", "-0.33", "0.07", "-0.09", VERDICT_SAME);
	check_build(&sys, "-1.01", "-1.67", "-0.40", "-0.97", VERDICT_BETTER);
	assert_printed(real.p, 2, "0.32");
	assert_printed(sys.p, 3, "0.007");
	/* "7 runs a side can show 2.9% there", "1% takes 59 runs a side, 2% 15 (80% power)" */
	assert_printed(100 * stats_detectable(real.pooled_sd, 7, 0.8, 0.05), 1, "2.9");
	assert_int_equal(stats_runs_to_detect(real.pooled_sd, 0.01, 0.8, 0.05), 59);
	assert_int_equal(stats_runs_to_detect(real.pooled_sd, -0.02, 0.8, 0.05), 15);
}

static void check_prediction(const double *x, size_t n, const char *low, const char *high)
{
	struct interval i = stats_prediction(x, n, 0.95);

	assert_printed(i.low, 2, low);
	assert_printed(i.high, 2, high);
	assert_true(i.estimate == stats_amean(x, n));
}

/* One build with the patch against three without: no test, only "is it unusual?" */
static void test_prediction(void **state)
{
	const double before[] = {158.574, 157.647, 157.832}, after[] = {160.072};
	const double user[] = {2778.387, 2794.171, 2794.910}, sys[] = {368.724, 371.993, 372.013};
	struct test_result t = TEST(before, after);
	bool small;

	(void)state;
	check_prediction(before, 3, "155.58", "160.46");
	check_prediction(user, 3, "2742.78", "2835.53");
	check_prediction(sys, 3, "361.50", "380.32");
	assert_string_equal(t.test, "none");
	assert_true(isnan(t.p) && isnan(t.low) && isnan(t.high) && isnan(t.welch_p));
	assert_printed(100 * t.change, 2, "1.30");
	assert_printed(t.pooled_sd, 4, "0.0031");
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_UNSURE);
	assert_true(isnan(stats_prediction(before, 1, 0.95).low));
	assert_true(isnan(stats_prediction(before, 3, 1).low));
}

/* unixbench: three a side are too few to decide, however far apart. */
static void test_three_a_side(void **state)
{
	const double x[] = {1228.6, 1231.4, 1226.1}, y[] = {1254.9, 1265.7, 1266.1};
	struct test_result t = TEST(x, y);
	struct interval i = stats_hodges_lehmann(x, 3, y, 3, 0.95);
	bool small;

	(void)state;
	assert_string_equal(t.test, "none");
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_UNSURE);
	assert_int_equal(stats_runs_to_settle(t.pooled_sd, t.change, 0.01), 5);
	assert_printed(stats_mann_whitney(x, 3, y, 3), 2, "0.10");
	assert_printed(t.welch_p, 3, "0.005");
	assert_true(isinf(i.low) && isinf(i.high));
	assert_printed(i.achieved, 2, "0.90");
	i = stats_hodges_lehmann(x, 3, y, 3, 0.90);
	assert_true(isfinite(i.low) && isfinite(i.high));
	assert_printed(i.achieved, 2, "0.90");
}

/* A tested row of the log scale, fractions. */
static struct test_result row(double p, double change, double low, double high, double shift)
{
	return (struct test_result){
		.test = "mw",
		.change = change,
		.shift = shift,
		.low = low,
		.high = high,
		.level = 0.95,
		.p = p,
		.p_adjusted = p,
		.scale = 1,
		.on_log = true,
	};
}

static void test_words(void **state)
{
	static const struct {
		double p, change, low, high, shift;
		enum direction dir;
		enum verdict want;
		bool small;
	} cases[] = {
		{0.01, 0.02, 0.01, 0.03, 0.02, DIR_HIGHER, VERDICT_BETTER, false},
		{0.01, 0.02, 0.01, 0.03, 0.02, DIR_LOWER, VERDICT_WORSE, false},
		{0.01, -0.02, -0.03, -0.01, -0.02, DIR_HIGHER, VERDICT_WORSE, false},
		{0.01, -0.02, -0.03, -0.01, -0.02, DIR_LOWER, VERDICT_BETTER, false},
		{0.01, 0.01, 0.005, 0.02, 0.01, DIR_HIGHER, VERDICT_BETTER, false},
		{0.05, 0.02, 0.01, 0.03, 0.02, DIR_HIGHER, VERDICT_BETTER, false},
		/* real but not large, also where the interval lies inside the threshold */
		{0.01, 0.009, 0.002, 0.02, 0.009, DIR_HIGHER, VERDICT_BETTER, true},
		{0.01, 0.005, 0.002, 0.008, 0.005, DIR_LOWER, VERDICT_WORSE, true},
		/* not real */
		{0.3, 0.002, -0.005, 0.009, 0.002, DIR_HIGHER, VERDICT_SAME, false},
		{0.3, 0.002, -0.005, 0.011, 0.002, DIR_HIGHER, VERDICT_UNSURE, false},
		{0.3, 0.002, -0.011, 0.005, 0.002, DIR_HIGHER, VERDICT_UNSURE, false},
		{0.06, 0.02, 0.01, 0.03, 0.02, DIR_HIGHER, VERDICT_UNSURE, false},
		{1, 0, 0, 0, 0, DIR_HIGHER, VERDICT_SAME, false},
		/* no better or worse without a direction */
		{0.01, 0.02, 0.01, 0.03, 0.02, DIR_NEUTRAL, VERDICT_CHANGED, false},
		{0.01, 0.02, 0.01, 0.03, 0.02, DIR_DEPENDS, VERDICT_CHANGED, false},
		{0.01, 0.005, 0.002, 0.02, 0.005, DIR_UNKNOWN, VERDICT_CHANGED, true},
		{0.3, 0.002, -0.005, 0.009, 0.002, DIR_UNKNOWN, VERDICT_SAME, false},
		/* an outlier moved the mean out of the interval: the shift decides size and sign */
		{0.01, 0.05, 0.002, 0.008, 0.005, DIR_HIGHER, VERDICT_BETTER, true},
		{0.01, 0.001, -0.04, -0.02, -0.03, DIR_HIGHER, VERDICT_WORSE, false},
		/* no mean, no test */
		{0.01, NAN, 0.01, 0.03, 0.02, DIR_HIGHER, VERDICT_BETTER, false},
		{NAN, 0.5, NAN, NAN, 0.5, DIR_HIGHER, VERDICT_UNSURE, false},
		{0.01, NAN, NAN, NAN, NAN, DIR_HIGHER, VERDICT_UNSURE, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct test_result t = row(cases[i].p, cases[i].change, cases[i].low, cases[i].high,
					   cases[i].shift);
		bool small;
		enum verdict v = stats_verdict(&t, cases[i].dir, 0.01, 0.05, &small);

		if (v != cases[i].want || small != cases[i].small)
			fail_msg("case %zu: %s%s", i, verdict_name(v), small ? ", small" : "");
	}
}

/* One stalled run moves the mean by +3 %, while every other run is 2 % faster. */
static void test_outlier(void **state)
{
	const double x[] = {100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 100.7};
	const double y[] = {98, 98.1, 98.2, 98.3, 98.4, 98.5, 98.6, 140};
	struct test_result t = TEST(x, y);
	bool small;

	(void)state;
	assert_true(t.change > 0.03 && t.change > t.high);
	assert_printed(100 * stats_deciding_change(&t), 1, "-2.0");
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_BETTER);
	assert_false(small);
}

/* Where a value is zero or negative there is no log: differences, the threshold of the base. */
static void test_raw_scale(void **state)
{
	const double x[] = {0, 1, 2, 3, 4}, y[] = {10, 11, 12, 13, 14};
	const double zero[] = {0, 0, 0, 0, 0};
	struct test_result t = TEST(x, y), h;
	bool small;

	(void)state;
	assert_false(t.on_log);
	assert_true(t.change == 10 && t.shift == 10 && t.scale == 2);
	assert_true(t.low > 0 && t.high < 20 && isnan(t.pooled_sd));
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_WORSE);
	assert_false(small);
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 6, 0.05, &small), VERDICT_WORSE);
	assert_true(small);

	t = TEST(zero, y);
	assert_true(t.change == 12);
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_BETTER);
	t = TEST(zero, zero);
	assert_true(t.change == 0 && t.p == 1 && isnan(t.welch_p));
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_SAME);

	/* The harmonic mean refuses the zero; the shift still decides. */
	h = stats_test(MEAN_HMEAN, x, 5, y, 5, NULL, 0.95, NULL);
	assert_true(isnan(h.change) && h.shift == 10);
	assert_int_equal(stats_verdict(&h, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_BETTER);
}

static void test_missing_values(void **state)
{
	const double x[] = {1, 2, 3, 4, 5}, bad[] = {1, 2, NAN, 4, 5};
	struct test_result t = TEST(x, bad);
	bool small;

	(void)state;
	assert_string_equal(t.test, "none");
	assert_true(isnan(t.change) && isnan(t.shift) && isnan(t.p) && isnan(t.low));
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_UNSURE);
	t = stats_test(MEAN_AMEAN, x, 5, NULL, 0, NULL, 0.95, NULL);
	assert_string_equal(t.test, "none");
	assert_true(isnan(t.change) && isnan(t.shift));
	t = stats_test(MEAN_AMEAN, NULL, 0, NULL, 0, NULL, 0.95, NULL);
	assert_true(isnan(t.change) && isnan(t.pooled_sd));
}

static void test_runs(void **state)
{
	(void)state;
	/* 2 * (1.96 * 0.01 / 0.01)^2 = 7.7; the larger of change and threshold is halved */
	assert_int_equal(stats_runs_to_settle(0.01, 0.02, 0.01), 8);
	assert_int_equal(stats_runs_to_settle(0.01, -0.001, 0.02), 8);
	assert_int_equal(stats_runs_to_settle(0.01, NAN, 0.02), 8);
	assert_int_equal(stats_runs_to_settle(0.0254, 0, 0.02), 50);
	assert_int_equal(stats_runs_to_settle(0.0257, 0, 0.02), 51);
	assert_int_equal(stats_runs_to_settle(1, 0, 0), 51);
	assert_int_equal(stats_runs_to_settle(0, 0, 0.01), 5);
	assert_int_equal(stats_runs_to_settle(NAN, 0.1, 0.01), 0);
	assert_int_equal(stats_runs_to_detect(NAN, 0.01, 0.8, 0.05), 0);
	assert_int_equal(stats_runs_to_detect(0.01, 0.01, 1.5, 0.05), 0);
	assert_int_equal(stats_runs_to_detect(0.01, 0.01, 0.8, 0.05), 16);
	assert_int_equal(stats_runs_to_detect(1e-9, 0.01, 0.8, 0.05), 5);
	assert_true(stats_runs_to_detect(0.01, 0, 0.8, 0.05) == INT32_MAX);
	assert_true(isnan(stats_detectable(0.01, 0, 0.8, 0.05)));
	/* 0.10 / (2.8016 sqrt(2/10)) */
	assert_printed(100 * stats_spread_to_detect(-0.10, 10, 0.8, 0.05), 2, "7.98");
	assert_true(isnan(stats_spread_to_detect(0.1, 0, 0.8, 0.05)));
	assert_true(isnan(stats_detectable(NAN, 5, 0.8, 0.05)));
}

/* The test follows from n and prior alone. */
static void test_choice(void **state)
{
	const struct stats_variance prior = {0.0001, 10}, none = {NAN, 0};

	(void)state;
	for (size_t n = 0; n < 60; n++) {
		enum stats_method with = n < 2	  ? STATS_NONE
					 : n < 10 ? STATS_MODERATED
						  : STATS_RANKS;
		enum stats_method without = n < 5 ? STATS_NONE : STATS_RANKS;

		assert_int_equal(stats_choose(n, &prior), with);
		assert_int_equal(stats_choose(n, &none), without);
	}
}

/* Two units a side with a prior; and what is left where there is no spread at all. */
static void test_moderated(void **state)
{
	const double x[] = {100, 101}, y[] = {110, 111}, same[] = {100, 100, 100, 100, 100};
	const double zero[] = {0, 1}, more[] = {10, 11}, other[] = {101, 101, 101, 101, 101};
	const struct stats_prior prior = {.log = {0.0001, 18}, .raw = {1, 18}};
	const struct stats_prior still = {.log = {0, 18}};
	struct test_result t = stats_test(MEAN_AMEAN, x, 2, y, 2, &prior, 0.95, NULL);
	bool small;

	(void)state;
	assert_string_equal(t.test, "modt");
	assert_true(t.prior.df == 18 && t.low > 0 && t.low < t.change && t.change < t.high);
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_BETTER);
	t = stats_test(MEAN_AMEAN, x, 1, y, 2, &prior, 0.95, NULL);
	assert_string_equal(t.test, "none");

	/* raw scale: a difference, and a prior of that scale */
	t = stats_test(MEAN_AMEAN, zero, 2, more, 2, &prior, 0.95, NULL);
	assert_string_equal(t.test, "modt");
	assert_true(!t.on_log && t.change == 10 && t.low > 5 && t.high < 15);

	/* equal values: the prior alone is the spread */
	t = stats_test(MEAN_AMEAN, same, 5, same, 5, &prior, 0.95, NULL);
	assert_true(t.p == 1 && t.low < 0 && t.high > 0 && fabs(t.low) < 0.02);
	/* no spread anywhere: ranks, and below 5 nothing */
	t = stats_test(MEAN_AMEAN, same, 5, other, 5, &still, 0.95, NULL);
	assert_string_equal(t.test, "mw");
	assert_true(t.prior.df == 0);
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_WORSE);
	t = stats_test(MEAN_AMEAN, same, 4, other, 4, &still, 0.95, NULL);
	assert_string_equal(t.test, "none");
	assert_true(isnan(t.p) && isnan(t.low) && isnan(t.high));

	for (size_t i = 0; i < 3; i++) {
		const double bad[] = {110, (const double[]){NAN, INFINITY, -INFINITY}[i]};

		t = stats_test(MEAN_AMEAN, x, 2, bad, 2, &prior, 0.95, NULL);
		assert_string_equal(t.test, "none");
		assert_true(isnan(t.p) && isnan(t.low) && isnan(t.high) && t.prior.df == 0);
		assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_UNSURE);
	}
}

/* One stalled run of three: the values spread more than the history says, so it is put aside. */
static void test_prior_refuted(void **state)
{
	const double x[] = {100, 100.5, 101}, y[] = {100.2, 100.6, 112};
	const struct stats_prior prior = {.log = {0.00002, 16}};
	struct test_result t = stats_test(MEAN_AMEAN, x, 3, y, 3, &prior, 0.95, NULL);
	bool small;

	(void)state;
	assert_string_equal(t.test, "modt");
	assert_true(t.prior.df == 0 && t.prior.value == 0.00002);
	assert_true(t.p > 0.3 && t.low < 0 && t.high > 0);
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_UNSURE);
}

static void test_summaries(void **state)
{
	const struct stats_summary x = {100, 1, 10}, y = {103, 1, 10}, few = {103, 1, 4};
	const struct stats_summary no_n = {103, 1, 0}, no_sd = {103, NAN, 10}, single = {103, 1, 1};
	const struct stats_summary negative = {-103, 1, 10}, still = {103, 0, 10};
	const struct stats_prior prior = {.log = {0.0001, 18}};
	struct test_result t = stats_test_summaries(&x, &y, NULL, 0.95);
	const struct stats_summary *unknown[] = {&no_n, &no_sd, &single};
	bool small;

	(void)state;
	assert_string_equal(t.test, "welch");
	assert_printed(100 * t.change, 1, "3.0");
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_BETTER);
	t = stats_test_summaries(&x, &few, NULL, 0.95);
	assert_string_equal(t.test, "none");
	t = stats_test_summaries(&x, &few, &prior, 0.95);
	assert_string_equal(t.test, "modt");
	t = stats_test_summaries(&x, &negative, NULL, 0.95);
	assert_true(!t.on_log && t.change == -203 && t.p < 1e-9);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		t = stats_test_summaries(&x, unknown[i], &prior, 0.95);
		assert_string_equal(t.test, "none");
		assert_true(isnan(t.p) && isnan(t.low) && isnan(t.pooled_sd));
	}
	t = stats_test_summaries(&still, &still, NULL, 0.95);
	assert_string_equal(t.test, "none");
}

static void test_priors(void **state)
{
	double x[12], zero[12] = {0};
	struct stats_variance rows[12], v;

	(void)state;
	for (int i = 0; i < 12; i++) {
		x[i] = 100 + i % 3;
		rows[i] = (struct stats_variance){0.0001, 8};
	}
	assert_true(stats_prior_of_history(&(struct stats_group){x, 11}, 1, true).df == 10);
	assert_true(stats_prior_of_history(&(struct stats_group){x, 10}, 1, true).df == 0);
	assert_true(stats_prior_of_history(NULL, 0, true).df == 0);
	assert_true(stats_prior_of_history(&(struct stats_group){zero, 12}, 1, true).df == 0);
	v = stats_prior_of_history(&(struct stats_group){zero, 12}, 1, false);
	assert_true(v.value == 0 && v.df == 11);

	/* no more spread among the rows than chance gives: one variance, known as all rows know it
	 */
	v = stats_prior_of_family(rows, 10);
	assert_printed(1e4 * v.value, 6, "1.000000");
	assert_true(v.df == 80);
	assert_true(stats_prior_of_family(rows, 9).df == 0);
	for (int i = 0; i < 3; i++)
		rows[i] = (struct stats_variance){NAN, 0};
	assert_true(stats_prior_of_family(rows, 12).df == 0);
	for (int i = 0; i < 12; i++)
		rows[i] = (struct stats_variance){i < 6 ? 0 : 1, 8};
	assert_true(stats_prior_of_family(rows, 11).df == 0);
}

static void test_names(void **state)
{
	enum direction d = DIR_UNKNOWN;
	enum mean_kind k = MEAN_AMEAN;

	(void)state;
	for (enum direction i = DIR_HIGHER; i <= DIR_UNKNOWN; i++) {
		assert_true(direction_parse(direction_name(i), &d));
		assert_int_equal(d, i);
	}
	assert_false(direction_parse("up", &d));
	for (enum mean_kind i = MEAN_AMEAN; i <= MEAN_MEDIAN; i++) {
		assert_true(mean_kind_parse(mean_kind_name(i), &k));
		assert_int_equal(k, i);
	}
	assert_true(mean_kind_parse("hmean", &k));
	assert_int_equal(k, MEAN_HMEAN);
	assert_false(mean_kind_parse("mode", &k));
	assert_string_equal(verdict_name(VERDICT_BETTER), "better");
	assert_string_equal(verdict_name(VERDICT_INCOMPLETE), "incomplete");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_builds),  cmocka_unit_test(test_prediction),
		cmocka_unit_test(test_three_a_side),   cmocka_unit_test(test_words),
		cmocka_unit_test(test_outlier),	       cmocka_unit_test(test_raw_scale),
		cmocka_unit_test(test_missing_values), cmocka_unit_test(test_runs),
		cmocka_unit_test(test_choice),	       cmocka_unit_test(test_moderated),
		cmocka_unit_test(test_prior_refuted),  cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_priors),	       cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
