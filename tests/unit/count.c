// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports of kdelta-count, the seeds of guests, campaigns that count. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "campaign/campaign.h"
#include "jobs/count.h"
#include "stats/stats.h"

#define WHOLE                                                                                      \
	"kdelta-count 1\ntsc 27877099\nns 27877010\nvoluntary 1522\ninvoluntary 13\n"              \
	"busy_ns 27319470\n"

static int parse(const char *text, struct count *c)
{
	_cleanup_err_ struct err e = ERR_INIT;

	return count_parse(span_of(text), c, &e);
}

static void test_report(void **state)
{
	struct count c;

	(void)state;
	assert_int_equal(parse(WHOLE, &c), 0);
	assert_true(c.tsc == 27877099 && c.ns == 27877010);
	assert_true(c.voluntary == 1522 && c.involuntary == 13);
	assert_float_equal(c.idle, 0.02, 1e-5);
	/* a kernel without /proc/schedstat */
	assert_int_equal(parse("kdelta-count 1\ntsc 5\nns 5\nvoluntary 0\ninvoluntary 0\n", &c), 0);
	assert_true(isnan(c.idle));
}

static void test_damage(void **state)
{
	static const char *const broken[] = {
		"",
		"kdelta-count 2\ntsc 5\nns 5\nvoluntary 0\ninvoluntary 0\n",
		"kdelta-count 1\ntsc 5\nns 5\nvoluntary 0\n",
		"kdelta-count 1\ntsc 5x\nns 5\nvoluntary 0\ninvoluntary 0\n",
		"kdelta-count 1\ntsc 0\nns 5\nvoluntary 0\ninvoluntary 0\n",
		"kdelta-count 1\ntsc -1\nns 5\nvoluntary 0\ninvoluntary 0\n",
	};
	struct count c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(broken); i++)
		assert_int_equal(parse(broken[i], &c), -EBADMSG);
}

static void test_wrap(void **state)
{
	static const char *const argv[] = {"hackbench", "-p", NULL};
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *file, *const *wrapped = count_wrap(a, argv, &file);

	(void)state;
	assert_string_equal(wrapped[0], "kdelta-count");
	assert_string_equal(wrapped[1], file);
	assert_string_equal(wrapped[2], "hackbench");
	assert_string_equal(wrapped[3], "-p");
	assert_null(wrapped[4]);
	assert_false(count_take(file, &text));
}

/* The same for every variant of a block, another one in the next block, repeated for ever. */
static void test_seeds(void **state)
{
	struct campaign_config one = {.seed = 1}, other = {.seed = 2};
	int block;

	(void)state;
	for (block = 1; block < 50; block++) {
		assert_true(campaign_guest_seed(&one, block) > 0);
		assert_true(campaign_guest_seed(&one, block) == campaign_guest_seed(&one, block));
		assert_true(campaign_guest_seed(&one, block) !=
			    campaign_guest_seed(&one, block + 1));
		assert_true(campaign_guest_seed(&one, block) !=
			    campaign_guest_seed(&other, block));
	}
}

/* Pairs that differ at random hide a small change; pairs that differ alike hide nothing. */
static void test_noise(void **state)
{
	static const double wide[] = {80, 100, 120, 100}, narrow[] = {100, 100, 100, 100};
	static const double shifted[] = {88, 110, 132, 110};

	(void)state;
	assert_true(stats_seed_noise(narrow, wide, 4) > 0.2);
	assert_float_equal(stats_seed_noise(wide, shifted, 4), 0, 1e-9);
	assert_float_equal(stats_seed_noise(wide, wide, 1), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_wrap),   cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
