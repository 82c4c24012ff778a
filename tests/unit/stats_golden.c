// SPDX-License-Identifier: GPL-2.0-or-later
/* Rank test, interval, Welch and Benjamini-Hochberg against R, recorded by r-oracle.R. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/num.h"
#include "stats/stats.h"

#define GOLDEN "tests/unit/stats_golden.tsv"

enum { VALUES_MAX = 64 };

struct list {
	double v[VALUES_MAX];
	size_t n;
};

/* Takes what stands before the separator off *rest. */
static struct span take(struct span *rest, char separator)
{
	const char *end = memchr(rest->s, separator, rest->len);
	struct span head = {rest->s, end ? (size_t)(end - rest->s) : rest->len};
	size_t used = head.len + (end != NULL);

	*rest = (struct span){rest->s + used, rest->len - used};
	return head;
}

static double number(struct span s)
{
	double v = NAN;

	if (span_is(s, "Inf"))
		return INFINITY;
	if (span_is(s, "-Inf"))
		return -INFINITY;
	if (!num_parse(s, &v) && !span_is(s, "NaN"))
		fail_msg("not a number: %.*s", (int)s.len, s.s);
	return v;
}

static double take_number(struct span *line)
{
	return number(take(line, '\t'));
}

static struct list take_list(struct span *line)
{
	struct span field = take(line, '\t');
	struct list l = {.n = 0};

	while (field.len > 0) {
		assert_true(l.n < VALUES_MAX);
		l.v[l.n++] = number(take(&field, ','));
	}
	return l;
}

/* To 1e-9, relative for large values; infinite and missing values exactly. */
static void check(double got, double want, const char *what, int line)
{
	if (isnan(want) ? isnan(got) : got == want)
		return;
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg(GOLDEN ":%d: %s is %.17g, R says %.17g", line, what, got, want);
}

static void check_rank(struct span rest, int line)
{
	struct span ties = take(&rest, '\t');
	struct list x = take_list(&rest), y = take_list(&rest);
	struct interval i = stats_hodges_lehmann(x.v, x.n, y.v, y.n, 0.95);
	bool exact = MAX(x.n, y.n) <= 50;

	assert_true(span_is(ties, "tied") || span_is(ties, "untied"));
	check(stats_mann_whitney(x.v, x.n, y.v, y.n), take_number(&rest), "p", line);
	check(stats_mann_whitney(y.v, y.n, x.v, x.n), stats_mann_whitney(x.v, x.n, y.v, y.n),
	      "p the other way round", line);
	check(i.estimate, take_number(&rest), "shift", line);
	check(i.low, take_number(&rest), "low bound, 95 %", line);
	check(i.high, take_number(&rest), "high bound, 95 %", line);
	if (exact && span_is(ties, "untied"))
		assert_true(isinf(i.low) ? i.achieved < 0.95 : i.achieved >= 0.95 - 1e-12);
	i = stats_hodges_lehmann(x.v, x.n, y.v, y.n, 0.979);
	check(i.low, take_number(&rest), "low bound, 97.9 %", line);
	check(i.high, take_number(&rest), "high bound, 97.9 %", line);
	check(stats_welch(x.v, x.n, y.v, y.n), take_number(&rest), "Welch's p", line);
	assert_int_equal(rest.len, 0);
}

static void check_bh(struct span rest, int line)
{
	struct list p = take_list(&rest), want = take_list(&rest), got = p;

	assert_int_equal(p.n, want.n);
	stats_benjamini_hochberg(p.v, p.n, got.v);
	for (size_t i = 0; i < p.n; i++)
		check(got.v[i], want.v[i], "adjusted p", line);
	stats_benjamini_hochberg(p.v, p.n, p.v);
	assert_memory_equal(p.v, got.v, p.n * sizeof(p.v[0]));
}

static void test_golden(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct span rest, line;
	int n = 0, ranks = 0, families = 0;

	(void)state;
	if (file_read(GOLDEN, 0, &text, &e) < 0)
		fail_msg("%s", err_text(&e));
	rest = (struct span){text.buf, text.len};
	while (span_next_line(&rest, &line, NULL)) {
		struct span kind = take(&line, '\t');

		n++;
		if (span_is(kind, "rank")) {
			check_rank(line, n);
			ranks++;
		} else if (span_is(kind, "bh")) {
			check_bh(line, n);
			families++;
		} else {
			fail_msg(GOLDEN ":%d: unknown kind %.*s", n, (int)kind.len, kind.s);
		}
	}
	assert_true(ranks >= 200);
	assert_true(families >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
