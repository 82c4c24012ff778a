// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whatever the shape of a text, reading it takes time and memory in proportion: every parser and all
 * families of tables get texts of 256 KB made to hurt, and the fixtures of the project blown up:
 * repeated as they are, one of their lines over and over, with many more columns. Limits are of CPU
 * time, four times what 1 MB in a second comes to, and of the most memory held at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "parsers/parser.h"
#include "parsers/tables/tables.h"

enum { SIZE = 256 << 10, SMALL = SIZE / 8, LIMIT_MB = 64 };

#ifdef __SANITIZE_ADDRESS__
static const double limit = 10; /* seconds of CPU for one text */
#else
static const double limit = 1;
#endif

static size_t texts, too_slow, too_large;
static double slowest;
static char slowest_name[200];

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Highest memory of the process since it was last asked, in MB; 0 where the kernel does not say. */
static double peak_mb(void)
{
	char line[200];
	double kb = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			kb = strtod(line + 6, NULL);
	if (f)
		fclose(f);
	f = fopen("/proc/self/clear_refs", "we");
	if (f) {
		fputs("5", f);
		fclose(f);
	}
	return kb / 1024;
}

/* `reader` is NULL for tables. */
static void read_text(const struct parser *reader, struct span text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	const struct parse_input in = {.text = text, .exit_status = -1};
	struct table_set set;

	if (reader)
		parser_run(a, reader, &in);
	else
		tables_read(a, "linear", text, NULL, &set, &e);
}

static void measure(const char *what, const struct parser *reader, struct span text)
{
	const char *name = reader ? reader->name : "tables";
	double before, took, mb;

	malloc_trim(0);
	peak_mb();
	before = peak_mb(); /* what is held now */
	took = -cpu_seconds();
	read_text(reader, text);
	took += cpu_seconds();
	mb = peak_mb() - before;
	texts++;
	if (took > slowest) {
		slowest = took;
		snprintf(slowest_name, sizeof(slowest_name), "%s: %s", name, what);
	}
	if (took > limit) {
		print_message("%.2f s for %zu bytes: %s: %s\n", took, text.len, name, what);
		too_slow++;
	}
	if (mb > LIMIT_MB && limit <= 1) {
		print_message("%.0f MB for %zu bytes: %s: %s\n", mb, text.len, name, what);
		too_large++;
	}
}

static void measure_all(const char *what, struct span text)
{
	const struct parser *const *p;

	registry_for_each (parser, p)
		measure(what, *p, text);
	measure(what, NULL, text);
}

/* One repetition too many, so that no text is shorter than size. */
static void fill(struct strbuf *sb, size_t size, const void *unit, size_t len)
{
	while (sb->len < size)
		strbuf_add(sb, unit, len);
}

/* ---- texts of one thing ---- */

static void test_repeated(void **state)
{
	static const struct {
		const char *head, *unit, *tail;
	} shapes[] = {
		{"", "\n", ""},
		{"", "1", ""},
		{"", "1", "\n"},
		{"", "1.5 ", "\n"},
		{"", "1.5\n", ""},
		{"", "1.5\t", "\n"},
		{"", "a", "\n"},
		{"", "a ", "\n"},
		{"", "a\n", ""},
		{"", " ", "x\n"},
		{"", " \n", ""},
		{"", "\t", "x\n"},
		{"", "\t\n", ""},
		{"", "x\t", "y\n"},
		{"", "|", "\n"},
		{"", "| ", "\n"},
		{"", "|\n", ""},
		{"", "1|", "\n"},
		{"", ">", "x\n"},
		{"", "> ", "x\n"},
		{"", ">\n", ""},
		{"", "> > x\n", ""},
		{"", "> x ", "\n"},
		{"", "=\n", ""},
		{"", "=", "\n"},
		{"", "=3D", "\n"},
		{"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=\n", ""},
		{"", "%", "\n"},
		{"", "1%", "\n"},
		{"", "0.00% ", "\n"},
		{"", "(", "\n"},
		{"", "( 0.00%) ", "\n"},
		{"", "1.00 ( 0.00%) ", "\n"},
		{"", "1.00 ( 0.00%)\n", ""},
		{"", "1.00 (0.00) ", "\n"},
		{"", "+-1% ", "\n"},
		{"", "\xc2\xb1 1% ", "\n"},
		{"", "1 \xc2\xb1 2%\n", ""},
		{"", ",", "\n"},
		{"", "a,", "\n"},
		{"", "1,", "\n"},
		{"", "1,000", "\n"},
		{"", "a,1\n", ""},
		{"", "-", "\n"},
		{"", "-\n", ""},
		{"", "---- ", "\n"},
		{"", "=== \n", ""},
		{"", ":", "\n"},
		{"", "a: 1\n", ""},
		{"", "a: ", "\n"},
		{"", "a=1 ", "\n"},
		{"", "\"", "\n"},
		{"", "\"\n", ""},
		{"", "'", "\n"},
		{"", "\\", "\n"},
		{"", "{", "\n"},
		{"", "{\n", ""},
		{"", "[", "\n"},
		{"", "[1,", "\n"},
		{"", "{\"a\":", "\n"},
		{"", "{\"a\":1}\n", ""},
		{"", "\033[", "\n"},
		{"", "\033[0m", "\n"},
		{"", "\033]0;", "\n"},
		{"", "\r", "\n"},
		{"", "\r\n", ""},
		{"", "\xc2", "\n"},
		{"", "\xff", "\n"},
		{"", "\xef\xbb\xbf", "\n"},
		{"", "\xc2\xa0", "x\n"},
		{"", "1e", "\n"},
		{"", "1e9 ", "\n"},
		{"", "0.", "\n"},
		{"", "-1 ", "\n"},
		{"", "nan ", "\n"},
		{"", "1m2.3s ", "\n"},
		{"", "base patched\n1 2 +100%\n", ""},
		{"", "run 1\nrun 2\n", ""},
		{"From: a\nTo: b\n", "X: y\n", "\n1\n"},
		{"From: a\nTo: b\n", " y\n", "\n1\n"},
		{"From: a\nTo: ", "y", "\n\n1\n"},
		{"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n", "1\n"},
		{"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n\n1\n", ""},
		{"From: a\nTo: b\n", "Content-Type: multipart/mixed; boundary=b\n\n--b\n", "1\n"},
		{"From: a\nTo: b\n", "Content-Type: message/rfc822\n\n", "1\n"},
		{"From: a\nTo: b\nContent-Transfer-Encoding: base64\n\n", "QUFB", "\n"},
		{"From: a\nTo: b\nContent-Transfer-Encoding: base64\n\n", "CgoK", "\n"},
		{"From: a\nTo: b\nContent-Transfer-Encoding: quoted-printable\n\n", "=\n", "\n"},
		{"From: a\nTo: b\nContent-Type: text/plain; format=flowed\n\n", "a \n", ""},
		{"From: a\nTo: b\nContent-Type: text/plain; format=flowed\n\n",
		 "aaaaaaaaa aaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaaaaa \n", ""},
		{"From: a\nTo: b\nContent-Type: text/html\n\n", "<td>", "\n"},
		{"", "From a\n", ""},
		{"", "From a\n\n", ""},
		{"", "From a b\nFrom: a\nTo: b\n\n1\n\n", ""},
		{"<html>", "<", "\n"},
		{"<html>", "<pre>", "x\n"},
		{"<html>", "<pre>x\n", ""},
		{"<html><table>", "<tr>", "\n"},
		{"<html><table>", "<tr><td>1<td>2", "\n"},
		{"<html><table><tr>", "<td>1.5", "\n"},
		{"<html><table>", "<table><tr><td>1\n", "\n"},
		{"<html><table>\n", "<tr><td>base</td><td>1.5</td><td>2.5</td></tr>\n", "</table>\n"},
		{"<html>", "<br>", "\n"},
		{"<html>", "&", "\n"},
		{"<html>", "&#1", "\n"},
		{"<html>", "&nbsp;", "x\n"},
		{"<html><", "a", "\n"},
		{"<html>", "</", "\n"},
		{"<html>", "<style>", "\n"},
		{"<html>", "<!--", "\n"},
	};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char what[100];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		strbuf_reset(&sb);
		strbuf_adds(&sb, shapes[i].head);
		fill(&sb, SIZE, shapes[i].unit, strlen(shapes[i].unit));
		strbuf_adds(&sb, shapes[i].tail);
		snprintf(what, sizeof(what), "%.40s|%.40s|%s", shapes[i].head, shapes[i].unit,
			 shapes[i].tail);
		measure_all(what, (struct span){sb.buf, sb.len});
	}
	strbuf_reset(&sb);
	fill(&sb, SIZE, "\0", 1);
	measure_all("NULs", (struct span){sb.buf, sb.len});
	strbuf_reset(&sb);
	for (i = 1; sb.len < SIZE; i++) {
		strbuf_pad(&sb, sb.len + i);
		memset(sb.buf + sb.len - i, '>', i);
		strbuf_adds(&sb, "x\n");
	}
	measure_all("ever more quote marks", (struct span){sb.buf, sb.len});
}

/* ---- fixtures blown up ---- */

static struct span *lines_of(struct arena *a, struct span text, size_t *n)
{
	struct span rest = text, line;
	struct span *lines;

	for (*n = 0; span_next_line(&rest, &line, NULL);)
		++*n;
	lines = arena_alloc_array(a, *n + 1, sizeof(*lines));
	for (*n = 0, rest = text; span_next_line(&rest, &line, NULL);)
		lines[(*n)++] = line;
	return lines;
}

static void add_line(struct strbuf *sb, struct span line)
{
	strbuf_add(sb, line.s, line.len);
	strbuf_addc(sb, '\n');
}

/* Its words again and again: a table with many columns. */
static void widen(struct strbuf *sb, struct span line, size_t times)
{
	struct span rest = line, word;
	size_t i;

	strbuf_add(sb, line.s, line.len);
	if (span_next_word(&rest, &word) && line.len)
		for (i = 0; i < times; i++)
			strbuf_add(sb, rest.len ? rest.s : word.s, rest.len ? rest.len : word.len);
	strbuf_addc(sb, '\n');
}

static void measure_fixture(const char *name, const struct parser *reader, struct span text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n, i, k, step, count;
	struct span *lines = lines_of(a, text, &n);
	char what[200];

	if (!n)
		return;
	fill(&sb, SIZE, text.s, text.len);
	snprintf(what, sizeof(what), "%s repeated", name);
	measure(what, reader, (struct span){sb.buf, sb.len});
	strbuf_reset(&sb);
	for (i = 0; i < n; i++)
		widen(&sb, lines[i], SIZE / (text.len + 1));
	snprintf(what, sizeof(what), "%s with many columns", name);
	measure(what, reader, (struct span){sb.buf, sb.len});
	step = 1 + n / 4;
	for (i = 0; i < n; i += step) {
		strbuf_reset(&sb);
		for (k = 0; k < n; k++) {
			add_line(&sb, lines[k]);
			for (count = 0; k == i && sb.len < SMALL; count++)
				if (count % 2)
					strbuf_addf(&sb, "%.*s%zu\n", (int)MIN(lines[k].len, 4000),
						    lines[k].s, count);
				else
					add_line(&sb, lines[k]);
		}
		snprintf(what, sizeof(what), "%s with line %zu over and over", name, i + 1);
		measure(what, reader, (struct span){sb.buf, sb.len});
	}
}

/* The parser of tests/parsers/perf-bench.01.raw, or NULL. */
static const struct parser *parser_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	const struct parser *const *p;

	registry_for_each (parser, p)
		if (str_starts(name, (*p)->name) && strchr(".-", name[strlen((*p)->name)]))
			return *p;
	return NULL;
}

static void measure_files(const char *pattern, bool tables)
{
	_cleanup_err_ struct err e = ERR_INIT;
	glob_t found;
	size_t i;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		const struct parser *reader = tables ? NULL : parser_of(path);

		assert_int_equal(file_read(path, 0, &text, &e), 0);
		if (tables || reader)
			measure_fixture(path, reader, (struct span){strbuf_str(&text), text.len});
	}
	globfree(&found);
}

static void test_tables(void **state)
{
	(void)state;
	measure_files("tests/tables/*.txt", true);
	measure_files("tests/tables/*.eml", true);
	measure_files("tests/tables/*.mbox", true);
}

static void test_parsers(void **state)
{
	(void)state;
	measure_files("tests/parsers/*.raw", false);
}

static void test_limits(void **state)
{
	(void)state;
	print_message("%zu texts; at most %.2f s of CPU (%s)\n", texts, slowest, slowest_name);
	assert_int_equal(too_slow, 0);
	assert_int_equal(too_large, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_parsers),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
