// SPDX-License-Identifier: GPL-2.0-or-later
/* Noise floors, metrics compared seed by seed, trends and shapes of series. Values are R's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/stats.h"
#include "tests/random.h"

static void assert_close(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static void test_floor(void **state)
{
	struct stats_arm_pair p[] = {
		{.01, 5}, {-.02, 5},  {.005, 5},  {.013, 10}, {-.004, 10}, {.0021, 5},
		{.03, 3}, {-.008, 5}, {.0077, 5}, {.011, 10}, {-.0152, 5},
	};
	size_t n = ARRAY_SIZE(p);

	(void)state;
	assert_close(stats_noise_floor(p, n), 0.048341441888531053);
	assert_true(isnan(stats_noise_floor(p, STATS_ARMS_MIN - 1)));
	assert_true(isnan(stats_noise_floor(NULL, 0)));
	/* what is not known is no pair */
	p[0].change = NAN;
	p[1].n = 0;
	assert_true(isnan(stats_noise_floor(p, n)));
}

static struct test_result seeds(const double *y, size_t n)
{
	static const double x[] = {100, 200, 300, 400, 500};

	return stats_test_seeds(MEAN_AMEAN, x, y, n, 0.002, 0.01, 0.95);
}

static void test_seeds(void **state)
{
	struct test_result t;
	bool small;

	(void)state;
	/* one pair: only beyond the threshold and three times the floor */
	t = seeds((double[]){100.9}, 1);
	assert_false(t.real);
	assert_true(isnan(t.p) && isnan(t.low));
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_UNSURE);
	t = seeds((double[]){101.1}, 1);
	assert_int_equal(stats_verdict(&t, DIR_LOWER, 0.01, 0.05, &small), VERDICT_WORSE);
	assert_false(small);
	/* four: one sign and the median beyond the floor */
	t = seeds((double[]){100.3, 200.5, 300.9, 401.6}, 4);
	assert_true(t.real);
	assert_close(t.shift, 0.003);
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_BETTER);
	assert_true(small);
	t = seeds((double[]){100.3, 200.6, 300.9, 399.9}, 4);
	assert_false(t.real);
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_SAME);
	t = seeds((double[]){100.1, 200.2, 300.3, 400.4}, 4);
	assert_false(t.real);
	/* equal to the last digit */
	t = seeds((double[]){100, 200}, 2);
	assert_true(t.low == 0 && t.high == 0);
	assert_int_equal(stats_verdict(&t, DIR_HIGHER, 0.01, 0.05, &small), VERDICT_SAME);
	/* nothing to compare, and a value that is none */
	assert_string_equal(seeds(NULL, 0).test, "none");
	assert_string_equal(seeds((double[]){NAN}, 1).test, "none");
	/* zero has no ratio: the difference itself */
	t = seeds((double[]){0, 200, 300, 400}, 4);
	assert_false(t.on_log);
	assert_close(t.low, -100);
}

static void test_trend(void **state)
{
	static const double x[] = {5.1, 4.8, 5.0, 4.7, 4.9, 4.6, 4.6, 4.4, 4.5, 4.1};
	static const double t[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const double blocks[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
	static const double flat[10];
	struct stats_trend r = stats_trend(t, x, 10);

	(void)state;
	assert_close(r.p, 0.0016717283964848011);
	assert_close(r.slope, -0.0875);
	r = stats_trend(blocks, x, 10);
	assert_close(r.p, 0.0059811590147613751);
	assert_close(r.slope, -0.15833333333333327);
	assert_true(stats_trend(t, flat, 10).p == 1);
	assert_true(isnan(stats_trend(flat, x, 10).p));
	assert_true(isnan(stats_trend(t, x, 2).p));
}

static void test_permutation(void **state)
{
	static const double d[] = {.3, -.1, .5, .2, .4, -.05, .6, .15};
	double equal[20] = {0};

	(void)state;
	assert_close(stats_block_permutation(d, 8), 0.0390625);
	assert_true(isnan(stats_block_permutation(d, 7)));
	assert_true(stats_block_permutation(equal, 20) == 1);
	for (int i = 0; i < 20; i++)
		equal[i] = 0.1;
	assert_close(stats_block_permutation(equal, 20), 2.0 / (1 << 20));
}

enum { SECONDS = 60 };

/* Rates of 60 seconds with 2 % noise of their own. */
static void fill(double *t, double *v)
{
	for (int i = 0; i < SECONDS; i++) {
		t[i] = i + 1;
		v[i] = 400 * (1 + 0.02 * normal());
	}
}

static void test_shape(void **state)
{
	double t[SECONDS], v[SECONDS];
	struct stats_shape s;

	(void)state;
	rng = 7;
	fill(t, v);
	s = stats_series_shape(t, v, SECONDS);
	assert_true(s.stalls == 0 && s.warm_up == 0 && s.drift == 0 && s.lowest > 0.9);

	v[20] = 3;
	v[21] = 0;
	s = stats_series_shape(t, v, SECONDS);
	assert_true(s.stalls == 2 && s.lowest == 0 && s.warm_up == 0 && s.drift == 0);

	fill(t, v);
	for (int i = 0; i < SECONDS / 4; i++)
		v[i] *= 0.8;
	s = stats_series_shape(t, v, SECONDS);
	assert_true(s.warm_up < -0.15 && s.warm_up > -0.25 && s.drift == 0 && s.stalls == 0);

	fill(t, v);
	for (int i = 0; i < SECONDS; i++)
		v[i] *= 1 - 0.003 * i;
	s = stats_series_shape(t, v, SECONDS);
	assert_true(s.drift < -0.1 && s.drift > -0.2);

	assert_true(isnan(stats_series_shape(t, v, 5).lowest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floor), cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_trend), cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
