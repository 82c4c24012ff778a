// SPDX-License-Identifier: GPL-2.0-or-later
/* Nights of one metric: every way from one state to the next, and how often they are wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/mem.h"
#include "tests/nights.h"

enum { N = 40 };

static const struct nights_options lower = {DIR_LOWER, 0.01, true};

/* Five runs about a level that spread by 1 %, the same in every night but for a small wave. */
static struct night_arm arm(double level, int night, size_t n)
{
	static const double spread[] = {-0.012, -0.006, 0, 0.006, 0.012};
	double x[2 * NIGHT_RUNS];

	for (size_t i = 0; i < n; i++)
		x[i] = level + 0.003 * sin(2.4 * night) + spread[i % ARRAY_SIZE(spread)];
	return night_arm_of(x, n);
}

/* Nights of level[i] and baselines of base[i]; extra runs show the same as the night. */
static void fill(struct night *nights, const double *level, const double *base, int n)
{
	for (int i = 0; i < n; i++)
		nights[i] = (struct night){.kernel = arm(level[i], i, 5),
					   .base = arm(base[i], i, 10),
					   .extra = arm(level[i], i, 10),
					   .base_night = -1};
}

/* "qqqsq...": the events' first letters; a capital where a regression is open. */
static const char *course(const struct night *nights, int n, enum direction dir)
{
	static char text[N + 1];
	struct nights_options opt = lower;
	struct night_state s[N];

	opt.direction = dir;
	stats_nights(nights, (size_t)n, &opt, s);
	for (int i = 0; i < n; i++)
		text[i] = (char)(night_event_name(s[i].event)[0] - (s[i].open ? 'a' - 'A' : 0));
	text[n] = '\0';
	return text;
}

static void test_regression(void **state)
{
	double level[12] = {[5] = 0.05, 0.05, 0.05}, base[12] = {0};
	struct night nights[12];
	struct night_state s[12];

	(void)state;
	fill(nights, level, base, 12);
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqCQQfqqq");
	assert_string_equal(course(nights, 12, DIR_HIGHER), "qqqqqcqqCQQQ");
	assert_string_equal(course(nights, 12, DIR_UNKNOWN), "qqqqqcqqcqqq");
	stats_nights(nights, 12, &lower, s);
	assert_true(s[5].worse && s[5].since == 5 && s[7].open_since == 5);
	assert_true(fabs(s[5].after - s[5].before - 0.05) < 0.006);
	/* too small to be told */
	for (int i = 0; i < 12; i++)
		level[i] /= 6;
	fill(nights, level, base, 12);
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqqqqqqqq");
}

static void test_extra_run(void **state)
{
	double level[8] = {[5] = 0.05}, base[8] = {0};
	struct night nights[8];

	(void)state;
	fill(nights, level, base, 8);
	nights[5].extra.n = 0;
	assert_string_equal(course(nights, 8, DIR_LOWER), "qqqqqsqq");
	nights[5].extra = arm(0, 5, 10);
	assert_string_equal(course(nights, 8, DIR_LOWER), "qqqqqdqq");
	/* the other way, it is no confirmation either */
	nights[5].extra = arm(-0.05, 5, 10);
	assert_string_equal(course(nights, 8, DIR_LOWER), "qqqqqdqq");
}

static void test_second_night(void **state)
{
	double level[3] = {0, 0.2, 0}, base[3] = {0};
	struct night nights[3];

	(void)state;
	fill(nights, level, base, 3);
	assert_string_equal(course(nights, 3, DIR_LOWER), "qCf");
	assert_string_equal(course(nights, 1, DIR_LOWER), "q");
	/* nights that were missed, or failed, count for nothing */
	nights[1] = (struct night){.base_night = -1};
	assert_string_equal(course(nights, 3, DIR_LOWER), "qqq");
}

static void test_environment(void **state)
{
	double level[12], base[12];
	struct night nights[12];

	(void)state;
	for (int i = 0; i < 12; i++)
		level[i] = base[i] = i >= 6 ? 0.05 : 0;
	fill(nights, level, base, 12);
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqqqqeqqq");
	nights[6].environment = true;
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqqeqqqqq");
	/* another environment, and a kernel that changed beside a baseline that did not */
	for (int i = 0; i < 12; i++)
		nights[i].base = arm(0, i, 10);
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqqCQQQQQ");
	/* a baseline that is as new as the change says nothing */
	for (int i = 6; i < 12; i++) {
		nights[i].base = arm(0.05, i, 10);
		nights[i].base_night = i;
	}
	nights[6].environment = false;
	assert_string_equal(course(nights, 12, DIR_LOWER), "qqqqqqCQQQQQ");
}

static void test_drift(void **state)
{
	double level[N], base[N] = {0};
	struct night nights[N];

	(void)state;
	for (int i = 0; i < N; i++)
		level[i] = 0.002 * i;
	fill(nights, level, base, N);
	assert_non_null(strchr(course(nights, N, DIR_LOWER), 'D'));
	assert_null(strchr(course(nights, N, DIR_LOWER), 'C'));
}

/* Metrics that repeat exactly, one value a night. */
static void test_exact(void **state)
{
	struct night nights[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		double x = i >= 20 ? 5.02 : 5;

		nights[i] = (struct night){.kernel = night_arm_of(&x, 1),
					   .extra = night_arm_of(&x, 1),
					   .base_night = -1};
	}
	assert_string_equal(course(nights, N, DIR_LOWER) + 18, "qqCQQQQQQQQQQQQQQQQQQQ");
}

static void test_rates(void **state)
{
	struct year y = {0};
	struct year_result quiet = {0}, steps = {0};

	(void)state;
	rng = 42;
	for (int i = 0; i < 100; i++)
		simulate_year(&y, &quiet);
	y.step = 2;
	for (int i = 0; i < 20; i++)
		simulate_year(&y, &steps);
	assert_in_range(quiet.alerts, 0, 2);
	assert_in_range(quiet.extras, 1, 365);
	assert_true(steps.steps == 120 && steps.in_time >= 108);
	assert_in_range(median_delay(&steps), 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regression),  cmocka_unit_test(test_extra_run),
		cmocka_unit_test(test_second_night), cmocka_unit_test(test_environment),
		cmocka_unit_test(test_drift),	    cmocka_unit_test(test_exact),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
