// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings, numbers, YAML, files: what every other room stands on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/err.h"
#include "core/file.h"
#include "core/num.h"
#include "core/str.h"
#include "core/yaml.h"

static void test_num_parse_takes_only_plain_numbers(void **state)
{
	static const char *const good[] = {"0", "12", "-3.5", "+4", "1.2e+06", ".5", "5.", "1E3"};
	static const double values[] = {0, 12, -3.5, 4, 1.2e6, .5, 5, 1000};
	static const char *const bad[] = {"",	  " 1", "1 ",  "1,5", "nan",  "inf",
					  "0x10", "1e", "1e+", "--1", "1.2.", "1e999",
					  ".",	  "-",	"12a", "1 2"};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		double v = -1;

		assert_true(num_parse(span_of(good[i]), &v));
		assert_true(v == values[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		double v = 7;

		assert_false(num_parse(span_of(bad[i]), &v));
		assert_true(v == 7);
	}
}

static void test_num_parse_long_numbers(void **state)
{
	char digits[700];
	double v;

	(void)state;
	memset(digits, '9', sizeof(digits));
	assert_false(num_parse((struct span){digits, sizeof(digits)}, &v));
	assert_true(num_parse((struct span){digits, 300}, &v));
	assert_true(v > 9e299 && v <= 1e300);
}

/* Plain decimals have a short way: it must round as strtod() does. */
static void test_num_parse_rounds_like_strtod(void **state)
{
	enum { TEXTS = 300000 };
	uint64_t x = 88172645463325252;
	char text[24];
	int i;

	(void)state;
	for (i = 0; i < TEXTS; i++) {
		size_t len = 0, digits, point, k;
		double v = 7, want;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64 */
		digits = 1 + x % 18;		  /* above 15: the long way */
		point = (x >> 8) % (digits + 3);  /* above digits: none */
		if ((x >> 16) % 4 == 0)
			text[len++] = '-';
		for (k = 0; k <= digits; k++) {
			if (k == point)
				text[len++] = '.';
			if (k < digits)
				text[len++] = (char)('0' + (x >> (20 + 2 * k)) % 10);
		}
		text[len] = '\0';
		want = strtod(text, NULL);
		assert_true(num_parse((struct span){text, len}, &v));
		if (memcmp(&v, &want, sizeof(v)))
			fail_msg("%s: %.17g is not %.17g", text, v, want);
	}
}

static void test_units(void **state)
{
	double s;
	int64_t b;

	(void)state;
	assert_true(num_parse_duration("5", &s) && s == 5);
	assert_true(num_parse_duration("250ms", &s) && s == 0.25);
	assert_true(num_parse_duration("2m", &s) && s == 120);
	assert_true(num_parse_duration("1.5h", &s) && s == 5400);
	assert_true(num_parse_duration("90days", &s) && s == 90 * 86400);
	assert_false(num_parse_duration("5 s", &s));
	assert_false(num_parse_duration("-5s", &s));
	assert_false(num_parse_duration("s", &s));
	assert_false(num_parse_duration("5x", &s));
	assert_true(num_parse_size("512M", &b) && b == 512 << 20);
	assert_true(num_parse_size("64k", &b) && b == 65536);
	assert_true(num_parse_size("2GiB", &b) && b == 2LL << 30);
	assert_true(num_parse_size("100", &b) && b == 100);
	assert_false(num_parse_size("5X", &b));
	assert_false(num_parse_size("1e9T", &b));
}

static void check_exact(double v, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	num_add_exact(&sb, v);
	assert_string_equal(strbuf_str(&sb), text);
}

static void test_exact_numbers(void **state)
{
	(void)state;
	check_exact(0.1, "0.1");
	check_exact(337.527, "337.527");
	check_exact(1.0 / 3, "0.3333333333333333");
	check_exact(15952.50, "15952.5");
}

static void test_lines(void **state)
{
	struct span rest = span_of("one\r\ntwo\n\nthree"), line;
	bool complete;

	(void)state;
	assert_true(span_next_line(&rest, &line, &complete) && span_is(line, "one") && complete);
	assert_true(span_next_line(&rest, &line, &complete) && span_is(line, "two"));
	assert_true(span_next_line(&rest, &line, &complete) && span_is(line, ""));
	assert_true(span_next_line(&rest, &line, &complete) && span_is(line, "three") && !complete);
	assert_false(span_next_line(&rest, &line, &complete));
}

static void test_glob_and_suggest(void **state)
{
	static const char *const words[] = {"tbench", "hackbench", "schbench", NULL};

	(void)state;
	assert_true(str_glob("wakeup.p*", "wakeup.p99.9"));
	assert_true(str_glob("*.time.*", "tbench.time.elapsed"));
	assert_false(str_glob("wakeup.p*", "request.p99"));
	assert_false(str_glob("a*b", "a"));
	assert_true(str_glob("*", ""));
	assert_string_equal(str_suggest("tbnech", words), "tbench");
	assert_string_equal(str_suggest("hackbenhc", words), "hackbench");
	assert_null(str_suggest("kernbuild", words));
}

static void test_quote(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	str_quote_shell(&sb, "plain-1.2");
	strbuf_addc(&sb, ' ');
	str_quote_shell(&sb, "it's $HOME");
	strbuf_addc(&sb, ' ');
	str_quote_shell(&sb, "");
	assert_string_equal(strbuf_str(&sb), "plain-1.2 'it'\\''s $HOME' ''");
}

static void check_yaml_error(const char *text, const char *message, int line, int column)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;

	assert_null(yaml_parse(a, "f.yaml", text, strlen(text), &e));
	assert_int_equal(e.list.n, 1);
	assert_non_null(strstr(err_text(&e), message));
	assert_string_equal(e.list.items[0].file, "f.yaml");
	assert_int_equal(e.list.items[0].line, line);
	assert_int_equal(e.list.items[0].column, column);
}

static void test_yaml_errors_have_positions(void **state)
{
	(void)state;
	check_yaml_error("a: 1\nb: 2\na: 3\n", "stands twice", 3, 1);
	check_yaml_error("a: &x 1\nb: *x\n", "aliases", 2, 4);
	check_yaml_error("a: [1, 2\n", "", 2, 1);
	check_yaml_error("", "empty", 1, 1);
	check_yaml_error("a: 1\n---\nb: 2\n", "second document", 2, 1);
	check_yaml_error("? [x]\n: 1\n", "key must be", 1, 3);
}

static void test_yaml_depth_is_bounded(void **state)
{
	char deep[400];

	(void)state;
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	check_yaml_error(deep, "deep", 1, 66);
}

static void test_yaml_typed_access(void **state)
{
	static const char text[] =
		"name: x\nn: 7\nlist: [a, b]\none: z\ntime: 5s\nnamed: yes\nmap: {k: v}\n";
	static const char *const known[] = {"name", "n", "list", "one", "time", "map", NULL};
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	struct yaml_node *root = yaml_parse(a, "f.yaml", text, strlen(text), &e);
	const char *s = NULL, **list;
	int64_t n = 0;
	double t = 0;
	bool on = false;
	size_t count;

	(void)state;
	assert_non_null(root);
	assert_int_equal(yaml_get_string(root, "name", &s, &e), 0);
	assert_string_equal(s, "x");
	assert_int_equal(yaml_get_int(root, "n", 1, 9, &n, &e), 0);
	assert_int_equal(n, 7);
	assert_int_equal(yaml_get_list(a, root, "list", &list, &count, &e), 0);
	assert_int_equal(count, 2);
	assert_string_equal(list[1], "b");
	assert_int_equal(yaml_get_list(a, root, "one", &list, &count, &e), 0);
	assert_int_equal(count, 1);
	assert_int_equal(yaml_get_duration(root, "time", &t, &e), 0);
	assert_true(t == 5);
	assert_int_equal(yaml_get_bool(root, "named", &on, &e), 0);
	assert_true(on);
	assert_int_equal(yaml_get_string(root, "absent", &s, &e), 0);
	assert_string_equal(s, "x");
	assert_int_equal(e.list.n, 0);
	/* Every fault is reported, each with its place. */
	assert_int_equal(yaml_get_int(root, "n", 8, 9, &n, &e), -EINVAL);
	assert_int_equal(yaml_get_string(root, "map", &s, &e), -EINVAL);
	assert_int_equal(yaml_check_keys(root, known, &e), -EINVAL);
	assert_int_equal(e.list.n, 3);
	assert_int_equal(e.list.items[0].line, 2);
	assert_int_equal(e.list.items[0].column, 4);
	assert_string_equal(e.list.items[2].message, "unknown key 'named'");
	assert_string_equal(e.list.items[2].hint, "did you mean 'name'?");
	assert_int_equal(e.list.items[2].line, 6);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/kdelta-core-XXXXXX";
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char hex[65], *path, *deep, **names;
	size_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = arena_printf(a, "%s/a", dir);
	deep = arena_printf(a, "%s/x/y/z", dir);
	assert_int_equal(file_write_atomic(path, "abc", 3, &e), 0);
	assert_int_equal(file_write_atomic(path, "abcd\n", 5, &e), 0);
	assert_int_equal(file_read(path, 0, &sb, &e), 0);
	assert_string_equal(strbuf_str(&sb), "abcd\n");
	assert_int_equal(file_read(path, 3, &sb, &e), -EFBIG);
	assert_int_equal(file_sha256(path, hex, &e), 0);
	assert_int_equal(file_make_dirs(deep, &e), 0);
	assert_int_equal(file_make_dirs(deep, &e), 0);
	assert_true(file_make_dirs(arena_printf(a, "%s/b", path), &e) < 0);
	assert_int_equal(file_list(a, dir, NULL, &names, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "x");
	/* A link inside a tree is removed, what it points to stays. */
	assert_int_equal(symlink(path, arena_printf(a, "%s/link", deep)), 0);
	assert_int_equal(file_remove_tree(arena_printf(a, "%s/x", dir), &e), 0);
	assert_true(file_exists(path));
	assert_int_equal(file_remove_tree(dir, &e), 0);
	assert_false(file_exists(dir));
	data_sha256("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* What a killed writer left is taken over; nothing is written where a link leads, nor in the place
 * of a device. */
static void test_replacing(void **state)
{
	char dir[] = "/tmp/kdelta-core-XXXXXX";
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *path, *part, *other;
	struct stat st;
	char **names;
	size_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = arena_printf(a, "%s/a", dir);
	part = arena_printf(a, "%s/a.new~", dir);
	other = arena_printf(a, "%s/other", dir);
	assert_int_equal(file_write_atomic(part, "a long and old part", 19, &e), 0);
	assert_int_equal(file_write_atomic(path, "new", 3, &e), 0);
	assert_int_equal(file_read(path, 0, &sb, &e), 0);
	assert_string_equal(strbuf_str(&sb), "new");
	assert_int_equal(file_list(a, dir, NULL, &names, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(file_write_atomic(other, "kept", 4, &e), 0);
	assert_int_equal(symlink(other, part), 0);
	assert_int_equal(file_write_atomic(path, "newer", 5, &e), -ELOOP);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(link(other, part), 0);
	assert_int_equal(file_write_atomic(path, "newer", 5, &e), -EEXIST);
	strbuf_reset(&sb);
	assert_int_equal(file_read(other, 0, &sb, &e), 0);
	assert_string_equal(strbuf_str(&sb), "kept");
	assert_int_equal(file_write_atomic("/dev/null", "x", 1, &e), 0);
	assert_true(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
	assert_int_equal(file_write_atomic("/dev/full", "x", 1, &e), -ENOSPC);
	assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void test_errors_keep_all(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;

	(void)state;
	assert_string_equal(err_text(&e), "");
	assert_int_equal(err_add(&e, -EINVAL, "first %d", 1), -EINVAL);
	errno = ENOENT;
	assert_int_equal(err_add_errno(&e, "cannot open %s", "x"), -ENOENT);
	err_hint(&e, "do %s", "this");
	err_at(&e, "f", 3, 4);
	assert_int_equal(e.list.n, 2);
	assert_string_equal(err_text(&e), "first 1");
	assert_string_equal(e.list.items[1].message, "cannot open x: No such file or directory");
	assert_string_equal(e.list.items[1].hint, "do this");
	assert_int_equal(e.list.items[1].line, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_num_parse_takes_only_plain_numbers),
		cmocka_unit_test(test_num_parse_long_numbers),
		cmocka_unit_test(test_num_parse_rounds_like_strtod),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_exact_numbers),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_glob_and_suggest),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_yaml_errors_have_positions),
		cmocka_unit_test(test_yaml_depth_is_bounded),
		cmocka_unit_test(test_yaml_typed_access),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_replacing),
		cmocka_unit_test(test_errors_keep_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
