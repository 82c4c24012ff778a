// SPDX-License-Identifier: GPL-2.0-or-later
/* Change points: against plain enumeration, on known courses, and how often they are wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/mem.h"
#include "stats/change_point.h"
#include "tests/random.h"

#define YEAR 365

/* n values about 0, sd 1, the level `height` more from each of the places on. */
static void draw(double *x, size_t n, const size_t *at, const double *height, size_t places)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = normal();
		for (size_t k = 0; k < places; k++)
			x[i] += i >= at[k] ? height[k] : 0;
	}
}

static void test_too_little(void **state)
{
	double x[] = {1, 1, 1, 9, 9}, none[] = {1, 1, 1, NAN, 9, 9, 9};
	struct stats_step s[4];
	size_t at[4];

	(void)state;
	assert_int_equal(stats_steps(x, 0, STEPS_P, s, 4), 0);
	assert_int_equal(stats_steps(x, 5, STEPS_P, s, 4), 0);
	assert_int_equal(stats_steps(none, 7, STEPS_P, s, 4), 0);
	assert_int_equal(stats_partition(none, 7, 0, 0, at, 4), 0);
	assert_int_equal(stats_course(x, x, 5).course, COURSE_FLAT);
	assert_true(isnan(stats_course(x, x, 5).bic[COURSE_FLAT]));
}

static void test_no_spread(void **state)
{
	double x[120];
	struct stats_step s[4];
	size_t at[4], i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(x); i++)
		x[i] = i < 57 ? 5 : i < 90 ? 7 : 6.5;
	assert_int_equal(stats_steps(x, ARRAY_SIZE(x), STEPS_P, s, 4), 2);
	assert_int_equal(s[0].at, 57);
	assert_int_equal(s[1].at, 90);
	assert_true(s[0].before == 5 && s[0].after == 7 && s[1].before == 7 && s[1].after == 6.5);
	assert_int_equal(stats_partition(x, ARRAY_SIZE(x), 0, 0, at, 4), 2);
	assert_int_equal(at[0], 57);
	assert_int_equal(at[1], 90);
	/* only as many as there is room for, but all are counted */
	assert_int_equal(stats_steps(x, ARRAY_SIZE(x), STEPS_P, s, 1), 2);
	assert_int_equal(stats_steps(x, 57, STEPS_P, s, 4), 0);
}

/* Three nights are enough, wherever in the windows they fall. */
static void test_places(void **state)
{
	static double x[YEAR];
	double height = 8;
	struct stats_step s[4];
	size_t more = 0;

	(void)state;
	rng = 7;
	for (size_t at = STEPS_SEGMENT; at + STEPS_SEGMENT <= 130; at++) {
		size_t n, i;

		draw(x, 130, &at, &height, 1);
		n = stats_steps(x, 130, STEPS_P, s, 4);
		for (i = 0; i < n && fabs((double)s[i].at - (double)at) > 1; i++)
			;
		assert_true(i < n && s[i].p <= STEPS_P);
		more += n - 1;
	}
	/* of some 44 years */
	print_message("%zu steps more\n", more);
	assert_in_range(more, 0, 12);
}

/* Sum of squares and penalties of the best segmentation of x[0..n), by trying all of them. */
static double least(const double *x, size_t n, double penalty)
{
	double best = INFINITY;

	for (size_t last = 0; last + STEPS_SEGMENT <= n; last++) {
		double mean = stats_amean(x + last, n - last), own = 0, rest;

		if (last && last < STEPS_SEGMENT)
			continue;
		for (size_t i = last; i < n; i++)
			own += (x[i] - mean) * (x[i] - mean);
		rest = last ? least(x, last, penalty) + penalty : 0;
		best = fmin(best, own + rest);
	}
	return best;
}

static void test_partition(void **state)
{
	size_t at[8], places[] = {5, 12};
	double x[18], height[] = {3, -2};

	(void)state;
	rng = 11;
	for (int trial = 0; trial < 40; trial++) {
		double penalty = 1 + 6 * uniform(), cost = 0;
		size_t n, from = 0;

		draw(x, ARRAY_SIZE(x), places, height, 2);
		n = stats_partition(x, ARRAY_SIZE(x), 1, penalty, at, 8);
		for (size_t i = 0; i <= n; i++) {
			size_t to = i < n ? at[i] : ARRAY_SIZE(x);
			double mean = stats_amean(x + from, to - from);

			assert_true(to >= from + STEPS_SEGMENT);
			for (size_t k = from; k < to; k++)
				cost += (x[k] - mean) * (x[k] - mean);
			from = to;
		}
		cost += penalty * (double)n;
		assert_true(fabs(cost - least(x, ARRAY_SIZE(x), penalty)) < 1e-9);
	}
}

/* A year of unchanged nights, and one with two steps: how many are found by either method. */
static void test_rates(void **state)
{
	enum { YEARS = 100 };
	static double x[YEAR];
	size_t at[20], places[] = {100, 240}, hits = 0, alarms = 0, crossed = 0, agree = 0;
	double height[] = {4.5, -3};
	struct stats_step s[20];

	(void)state;
	rng = 3;
	for (int year = 0; year < YEARS; year++) {
		size_t n;

		draw(x, YEAR, NULL, NULL, 0);
		alarms += stats_steps(x, YEAR, STEPS_P, s, 20);
		crossed += stats_partition(x, YEAR, 0, 0, at, 20);
		draw(x, YEAR, places, height, 2);
		n = stats_steps(x, YEAR, STEPS_P, s, 20);
		for (size_t i = 0; i < MIN(n, (size_t)20); i++)
			hits += fabs((double)s[i].at - 100) <= 1 || fabs((double)s[i].at - 240) <= 1;
		agree += n == 2 && stats_partition(x, YEAR, 0, 0, at, 20) == 2;
	}
	print_message("unchanged: %zu steps in %d years, %zu by partition; found %zu of %d; both %zu\n",
		      alarms, YEARS, crossed, hits, 2 * YEARS, agree);
	assert_in_range(hits, 2 * YEARS * 95 / 100, 2 * YEARS);
	assert_in_range(alarms, 0, YEARS / 2);
	assert_in_range(crossed, 0, YEARS / 10);
	assert_in_range(agree, YEARS * 3 / 4, YEARS);
}

static void test_course(void **state)
{
	double t[60], x[60];
	struct stats_course_fit f;
	int right[3] = {0};

	(void)state;
	rng = 5;
	for (int trial = 0; trial < 100; trial++) {
		for (int kind = COURSE_FLAT; kind <= COURSE_TREND; kind++) {
			for (size_t i = 0; i < 60; i++) {
				t[i] = (double)i;
				x[i] = normal() + (kind == COURSE_STEP	  ? 3.0 * (i >= 22)
						   : kind == COURSE_TREND ? 0.08 * t[i]
									  : 0);
			}
			f = stats_course(t, x, 60);
			right[kind] += (int)f.course == kind;
			if (kind == COURSE_TREND && f.course == COURSE_TREND)
				assert_true(fabs(f.change - 0.08 * 59) < 2.5);
			if (kind == COURSE_STEP && f.course == COURSE_STEP) {
				assert_in_range(f.at, 17, 27);
				assert_true(fabs(f.change - 3) < 1.2);
			}
		}
	}
	print_message("flat %d, step %d, trend %d of 100\n", right[0], right[1], right[2]);
	assert_in_range(right[COURSE_FLAT], 85, 100);
	assert_in_range(right[COURSE_STEP], 95, 100);
	assert_in_range(right[COURSE_TREND], 95, 100);
}

/* A drift that was cut into steps is known again, and real steps one way are not taken for one. */
static void test_trend_in_steps(void **state)
{
	size_t places[] = {30, 60}, at[20];
	double t[90], x[90], height[] = {3, 3};
	struct stats_step s[20];
	int drifts = 0, kept = 0;

	(void)state;
	rng = 9;
	for (int trial = 0; trial < 100; trial++) {
		size_t n, i;

		draw(x, 90, NULL, NULL, 0);
		for (i = 0; i < 90; i++) {
			t[i] = (double)i;
			x[i] += 0.08 * t[i];
		}
		n = stats_steps(x, 90, STEPS_P, s, 20);
		for (i = 0; i < n; i++)
			at[i] = s[i].at;
		drifts += stats_is_trend(t, x, 90, at, n);
		draw(x, 90, places, height, 2);
		kept += !stats_is_trend(t, x, 90, places, 2);
	}
	print_message("drift known %d, steps kept %d of 100\n", drifts, kept);
	assert_in_range(drifts, 95, 100);
	assert_in_range(kept, 95, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_little), cmocka_unit_test(test_no_spread),
		cmocka_unit_test(test_places),	   cmocka_unit_test(test_partition),
		cmocka_unit_test(test_rates),	   cmocka_unit_test(test_course),
		cmocka_unit_test(test_trend_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
