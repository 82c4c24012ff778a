// SPDX-License-Identifier: GPL-2.0-or-later
/* What the parsers share; their formats are tested by the pairs of tests/parsers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "core/file.h"
#include "parsers/scan.h"

static const struct parse_result *parse(struct arena *a, const char *name, struct span text)
{
	struct parse_input in = {.text = text, .exit_status = -1};

	return parser_run(a, parser_find(name), &in);
}

static void test_match(void **state)
{
	struct span a, b, rest;

	(void)state;
	assert_true(scan_match(span_of("Time: 4.457"), "Time: %w%*", &a, &rest));
	assert_true(span_is(a, "4.457"));
	assert_int_equal(rest.len, 0);
	assert_true(scan_match(span_of("  2.92user 45%CPU (7k)  "), " %wuser %w%%CPU (%wk)", &a, &b,
			       &rest));
	assert_true(span_is(a, "2.92"));
	assert_true(span_is(b, "45"));
	assert_true(span_is(rest, "7"));
	assert_false(scan_match(span_of("Time:4.457"), "Time: %w", &a));
	assert_false(scan_match(span_of("Time: 4.457 s"), "Time: %w", &a));
	assert_false(scan_match(span_of("Time: "), "Time: %w", &a));
	assert_false(scan_match((struct span){NULL, 0}, "x"));
}

static const char *duration(const char *text, bool cut, double *v)
{
	struct scan s = {.line = span_of(text), .cut = cut};

	return scan_duration(&s, s.line, 2, v);
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} good[] = {
		{"16.21", 16.21},     {"0m10.519s", 10.519}, {"75m3.141s", 4503.141},
		{"1:02:03", 3723},    {"0:13.28", 13.28},    {"0m 1.02s", 1.02},
		{"1h2m3.5s", 3723.5}, {"12m", 720},
	};
	static const char *const bad[] = {"",	 "-1m-3.2s", "0m10,519s", "1m2s3s", "1s2m",
					  "nan", "0m18.0",   "16.21 9",	  "1:2m"};
	double v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_null(duration(good[i].text, false, &v));
		assert_true(v == good[i].seconds);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_string_equal(duration(bad[i], false, &v), "bad_number");
	assert_string_equal(duration("3.3", true, &v), "truncated");
	assert_null(duration("3.31", true, &v));
	assert_string_equal(duration("0m18.0", true, &v), "truncated");
	assert_string_equal(duration("99999999", false, &v), "out_of_range");
}

static void test_ask(void **state)
{
	static const struct scan_option options[] = {{'g', "groups"}, {'l', "loops"}, {0, NULL}};
	_cleanup_arena_ struct arena *a = arena_new();
	struct parse_input in = {
		.command = "cd x && /usr/bin/hackbench -Tg4 --loops '20' \"a b\" c; ls -g 9"};
	struct scan s = {.a = a, .in = &in}, twice = {.a = a, .in = &in},
		    time = {.a = a, .in = &in};

	(void)state;
	scan_ask(&s, "hackbench", options, false);
	assert_true(span_is(s.asked.option[0], "4"));
	assert_true(span_is(s.asked.option[1], "20"));
	assert_true(span_is(s.asked.operand[0], "a b"));
	assert_true(span_is(s.asked.operand[1], "c"));
	assert_null(s.asked.operand[2].s);
	in.command = "hackbench -g 1; hackbench -g 2";
	scan_ask(&twice, "hackbench", options, false);
	assert_null(twice.asked.option[0].s);
	in.command = "time make -g 3";
	scan_ask(&time, "time", options, true);
	assert_null(time.asked.option[0].s);
}

static void test_unquote(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();
	const char *quoted = "> a\n>>   b\n> > \tc\n >d\n  e > f\n>\n>";
	struct span text = parser_unquote(a, span_of(quoted));

	(void)state;
	assert_string_equal(arena_strndup(a, text.s, text.len), "a\n  b\n\tc\nd\n  e > f\n\n");
}

/* The parser that is most certain of a raw file is that of its name. */
static void test_recognise(void **state)
{
	static const struct {
		const char *file, *name;
	} cases[] = {
		{"tbench.whole", "tbench"},
		{"tbench.closing-line-only", "tbench"},
		{"dbench.version-5", "dbench"},
		{"hackbench.whole", "hackbench"},
		{"hackbench.old", "hackbench"},
		{"perf-bench.two-runs", "perf-bench"},
		{"schbench.pinned", "schbench"},
		{"schbench.old-rps", "schbench"},
		{"schbench.json-flat", "schbench"},
		{"wakebench.whole", "wakebench"},
		{"kernbench.crlf", "kernbench"},
		{"kernbench.gnu-hours", "kernbench"},
		{"kernbench.verbose-cut", "kernbench"},
		{"schbench.json-of-another", NULL},
		{"hackbench.empty-sigterm", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		_cleanup_free_ char *path = mem_printf("tests/parsers/%s.raw", cases[i].file);
		_cleanup_err_ struct err e = ERR_INIT;
		const struct parser *p;

		assert_int_equal(file_read(path, 0, &text, &e), 0);
		p = parser_recognise((struct span){strbuf_str(&text), text.len});
		assert_true(str_equal(p ? p->name : NULL, cases[i].name));
	}
}

static void test_bytes(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();
	static const char controls[] = "Time: 1.2\0"
				       "34\n";
	char noise[2000];
	size_t i;

	(void)state;
	/* one byte of 13 that is no text is more than 5 % */
	assert_string_equal(
		parse(a, "hackbench", (struct span){controls, sizeof(controls) - 1})->error,
		"binary");
	memset(noise, ' ', sizeof(noise));
	memcpy(noise,
	       "Time: 1.2\0"
	       "34\n",
	       13);
	assert_int_equal(parse(a, "hackbench", (struct span){noise, sizeof(noise)})->outcome,
			 OUTCOME_OK);
	for (i = 20; i < 121; i++)
		noise[i] = (char)0xff;
	assert_string_equal(parse(a, "hackbench", (struct span){noise, sizeof(noise)})->error,
			    "binary");
	assert_string_equal(parse(a, "hackbench", (struct span){"\xfe\xff\0T", 4})->error,
			    "binary");
	assert_string_equal(parse(a, "hackbench", (struct span){NULL, 0})->error, "empty");
}

/* CPU seconds for n copies of a text, the least of three. */
static double cost(const char *name, const char *text, size_t n)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	double least = 1e9, spent;
	int i;

	while (n--)
		strbuf_adds(&sb, text);
	for (i = 0; i < 3; i++) {
		_cleanup_arena_ struct arena *a = arena_new();
		clock_t start = clock();

		parse(a, name, (struct span){sb.buf, sb.len});
		spent = (double)(clock() - start) / CLOCKS_PER_SEC;
		least = spent < least ? spent : least;
	}
	return least;
}

/* Eight times the text must not take anything like 64 times as long. */
static void test_linear(void **state)
{
	static const char *const texts[] = {"9",      "{\"a\":\n", "> ",   "\033[",
					    "Time: ", "real 1.1 ", "th: ", "Throughput 1 MB/sec ",
					    "\n"};
	const struct parser *const *p;
	size_t i;

	(void)state;
	registry_for_each (parser, p) {
		for (i = 0; i < ARRAY_SIZE(texts); i++) {
			size_t n = 65536 / strlen(texts[i]);
			double small = cost((*p)->name, texts[i], n);

			assert_true(cost((*p)->name, texts[i], 8 * n) < 24 * small + 0.05);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),	  cmocka_unit_test(test_duration),
		cmocka_unit_test(test_ask),	  cmocka_unit_test(test_unquote),
		cmocka_unit_test(test_recognise), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
