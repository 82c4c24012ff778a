// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests, intervals, priors and Benjamini-Hochberg against R, recorded by r-oracle.R. */
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

static void check_variance(struct stats_variance got, struct span *rest, int line)
{
	double value = take_number(rest);

	check(got.value / value, 1, "share of the variance R says", line);
	check(got.df, take_number(rest), "degrees of freedom", line);
	assert_int_equal(rest->len, 0);
}

static void check_family(struct span rest, int line)
{
	struct list s2 = take_list(&rest), df = take_list(&rest);
	struct stats_variance rows[VALUES_MAX];

	assert_int_equal(s2.n, df.n);
	for (size_t i = 0; i < s2.n; i++)
		rows[i] = (struct stats_variance){s2.v[i], df.v[i]};
	check_variance(stats_prior_of_family(rows, s2.n), &rest, line);
}

static void check_history(struct span rest, int line)
{
	bool on_log = span_is(take(&rest, '\t'), "log");
	struct list x = take_list(&rest), size = take_list(&rest);
	struct stats_group groups[VALUES_MAX];
	const double *at = x.v;

	for (size_t i = 0; i < size.n; i++) {
		groups[i] = (struct stats_group){at, (size_t)size.v[i]};
		at += groups[i].n;
	}
	check_variance(stats_prior_of_history(groups, size.n, on_log), &rest, line);
}

static void check_result(const struct test_result *t, struct span *rest, int line)
{
	check(t->p, take_number(rest), "p", line);
	check(log1p(t->low), take_number(rest), "low bound", line);
	check(log1p(t->high), take_number(rest), "high bound", line);
	assert_int_equal(rest->len, 0);
}

static struct stats_prior take_prior(struct span *rest)
{
	double value = take_number(rest);

	return (struct stats_prior){.log = {value, take_number(rest)}};
}

static void check_modt(struct span rest, int line)
{
	struct list x = take_list(&rest), y = take_list(&rest);
	struct stats_prior prior = take_prior(&rest);
	struct test_result t = stats_test(MEAN_GMEAN, x.v, x.n, y.v, y.n, &prior, 0.95, NULL);

	assert_string_equal(t.test, "modt");
	check_result(&t, &rest, line);
}

static void check_pair(struct span rest, int line)
{
	struct span ties = take(&rest, '\t');
	struct list x = take_list(&rest), y = take_list(&rest), back = x;
	struct interval i, other;
	double p, q;

	assert_true(span_is(ties, "tied") || span_is(ties, "untied"));
	assert_int_equal(x.n, y.n);
	for (size_t k = 0; k < x.n; k++) {
		y.v[k] -= x.v[k];
		back.v[k] = -y.v[k];
	}
	stats_signed_rank(y.v, y.n, 0.95, &p, &i);
	stats_signed_rank(back.v, back.n, 0.95, &q, &other);
	check(p, take_number(&rest), "p", line);
	check(q, p, "p the other way round", line);
	check(i.estimate, take_number(&rest), "shift", line);
	check(i.low, take_number(&rest), "low bound, 95 %", line);
	check(i.high, take_number(&rest), "high bound, 95 %", line);
	check(-other.high, i.low, "bound the other way round", line);
	assert_true(isinf(i.low) ? i.achieved < 0.95 : i.achieved >= 0.95 - 1e-12);
	stats_signed_rank(y.v, y.n, 0.979, &p, &i);
	check(i.low, take_number(&rest), "low bound, 97.9 %", line);
	check(i.high, take_number(&rest), "high bound, 97.9 %", line);
	/* the first pair moved so that x is 0: the raw scale, and the same differences */
	for (size_t k = 0; k < x.n; k++)
		y.v[k] += x.v[k];
	y.v[0] -= x.v[0];
	x.v[0] = 0;
	check(stats_test_paired(MEAN_AMEAN, x.v, y.v, x.n, NULL, 0.95).welch_p, take_number(&rest),
	      "Student's p", line);
	assert_int_equal(rest.len, 0);
}

static void check_pairmodt(struct span rest, int line)
{
	struct list x = take_list(&rest), y = take_list(&rest);
	struct stats_prior prior = take_prior(&rest);
	struct test_result t =
		stats_test_paired(MEAN_GMEAN, x.v, y.v, x.n, &prior.log, 0.95);

	assert_string_equal(t.test, "modt");
	check_result(&t, &rest, line);
}

static struct stats_summary take_summary(struct span *rest)
{
	double mean = take_number(rest), stddev = take_number(rest);

	return (struct stats_summary){mean, stddev, (size_t)take_number(rest)};
}

static void check_summary(struct span rest, int line)
{
	struct stats_summary x = take_summary(&rest), y = take_summary(&rest);
	struct stats_prior prior = take_prior(&rest);
	struct test_result t = stats_test_summaries(&x, &y, &prior, 0.95);

	assert_string_equal(t.test, prior.log.df > 0 ? "modt" : "welch");
	check_result(&t, &rest, line);
}

static void check_binomial(struct span rest, int line)
{
	double k = take_number(&rest), n = take_number(&rest), level = take_number(&rest);
	struct interval i = stats_binomial(k, n, level);

	check(i.low, take_number(&rest), "low bound", line);
	check(i.high, take_number(&rest), "high bound", line);
	assert_int_equal(rest.len, 0);
}

static const struct {
	const char *name;
	void (*check)(struct span rest, int line);
	int least; /* lines of the kind */
} kinds[] = {
	{"rank", check_rank, 400},	{"bh", check_bh, 20},	  {"family", check_family, 40},
	{"history", check_history, 20}, {"modt", check_modt, 30}, {"summary", check_summary, 20},
	{"binomial", check_binomial, 20}, {"pair", check_pair, 200},  {"pairmodt", check_pairmodt, 30},
};

static void test_golden(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	int n = 0, seen[ARRAY_SIZE(kinds)] = {0};
	struct span rest, line;

	(void)state;
	if (file_read(GOLDEN, 0, &text, &e) < 0)
		fail_msg("%s", err_text(&e));
	rest = (struct span){text.buf, text.len};
	while (span_next_line(&rest, &line, NULL)) {
		struct span kind = take(&line, '\t');
		size_t k = 0;

		n++;
		while (k < ARRAY_SIZE(kinds) && !span_is(kind, kinds[k].name))
			k++;
		if (k == ARRAY_SIZE(kinds))
			fail_msg(GOLDEN ":%d: unknown kind %.*s", n, (int)kind.len, kind.s);
		kinds[k].check(line, n);
		seen[k]++;
	}
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		assert_true(seen[k] >= kinds[k].least);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
