// SPDX-License-Identifier: GPL-2.0-or-later
/* What a nightly tells of a database; a short one of the years of tests/bench/nightly.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/year.h"

static void test_half_a_year(void **state)
{
	static struct year y = {.nights = 180, .quiet = 30, .steps = 10, .trends = 4, .step = 2,
				.slope = 0.05, .moves = 112, .missed = 0.05, .outliers = 0.02};
	static struct year_found found;

	(void)state;
	rng = 2;
	year_run(&y, &found);
	assert_in_range(found.alerts, 0, 1);
	assert_in_range(found.steps, 20, 30);
	/* 92 % in many years, see `make bench`: of 25 steps chance takes a few */
	assert_true(found.in_time >= 0.8 * found.steps);
	assert_true(found.moved >= 42);
	assert_int_equal(found.moved_steps, 0);
	assert_true(found.drifts > 4 * found.drift_steps);
}

/* Without a change nothing is told. */
static void test_silence(void **state)
{
	static struct year y = {.nights = 60, .quiet = 20, .moves = 1000};
	static struct year_found found;

	(void)state;
	rng = 3;
	year_run(&y, &found);
	assert_int_equal(found.alerts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_a_year),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
