// SPDX-License-Identifier: GPL-2.0-or-later
/* What metrics mean: the shipped descriptions, those of a user, and how fast names are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "campaign/catalog.h"
#include "core/file.h"

struct fixture {
	struct arena *a;
	struct catalog *cat;
	const struct metric_set *set;
};

static int setup(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct fixture *f = mem_zalloc(sizeof(*f));

	/* descriptions of the machine's own user are none of ours */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	f->a = arena_new();
	*state = f;
	if (catalog_load(f->a, NULL, &f->cat, &e)) {
		fprintf(stderr, "%s\n", err_text(&e));
		return -1;
	}
	f->set = catalog_metrics(f->cat);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	mem_free_ptr(&f);
	return 0;
}

/* The meaning of a full name, as an import stores it. */
static struct db_metric meaning(struct fixture *f, const char *name)
{
	const char *dot = strchr(name, '.');
	struct db_metric m;

	catalog_metric(f->cat, arena_strndup(f->a, name, (size_t)(dot - name)), dot + 1, NULL, &m);
	return m;
}

static void every_metric_is_described(void **state)
{
	struct fixture *f = *state;
	const struct metric_def *m;
	size_t n, i, topics;

	m = metrics_all(f->set, &n);
	assert_true(n > 400);
	for (i = 0; i < n; i++) {
		if (!*m[i].unit || !*m[i].description || !*m[i].reason || !m[i].topic)
			fail_msg("%s:%d: %s lacks its unit, description, reason or topic",
				 m[i].file, m[i].line, m[i].pattern);
		if (strlen(m[i].description) > 120 || strlen(m[i].reason) > 140)
			fail_msg("%s:%d: %s takes more than a line", m[i].file, m[i].line,
				 m[i].pattern);
		/* none is hidden by an earlier one */
		if (metrics_find(f->set, m[i].pattern) != &m[i])
			fail_msg("%s:%d: %s is never reached, %s is", m[i].file, m[i].line,
				 m[i].pattern, metrics_find(f->set, m[i].pattern)->pattern);
	}
	metrics_topics(f->set, &topics);
	assert_true(topics >= 10);
}

static void counters_belong_to_any_benchmark(void **state)
{
	struct fixture *f = *state;
	struct db_metric m = meaning(f, "aim7.softirqs.SCHED");

	assert_int_equal(m.direction, DIR_DEPENDS);
	assert_string_equal(m.topic, "Kernel activity");
	assert_string_equal(m.role, "counter");
	/* before the patterns for all else of a benchmark */
	assert_int_equal(meaning(f, "reaim.cpuidle.C1-IVT.time").direction, DIR_DEPENDS);
	assert_int_equal(meaning(f, "reaim.nothing_known").direction, DIR_UNKNOWN);
	assert_string_equal(meaning(f, "aim7.jobs-per-min").role, "headline");
	assert_true(meaning(f, "tbench.kinsn").deterministic);
	assert_string_equal(meaning(f, "nobody.knows.this").description, "");
}

static void fixed_time_is_told_from_fixed_work(void **state)
{
	struct fixture *f = *state;
	struct db_metric m;

	/* listed by name */
	assert_int_equal(meaning(f, "tbench.time.system_time").direction, DIR_DEPENDS);
	assert_string_equal(meaning(f, "tbench.time.system_time").unit, "s");
	assert_int_equal(meaning(f, "hackbench.time.system_time").direction, DIR_LOWER);
	/* by what their descriptions say */
	assert_int_equal(meaning(f, "kernbench.time.voluntary_context_switches").direction,
			 DIR_LOWER);
	assert_int_equal(meaning(f, "vm-scalability.time.system_time").direction, DIR_LOWER);
	assert_true(catalog_is_time_bound(f->cat, "tbench"));
	assert_true(catalog_is_time_bound(f->cat, "reaim"));
	assert_false(catalog_is_time_bound(f->cat, "aim7"));
	assert_false(catalog_is_time_bound(f->cat, "nobody"));
	m = meaning(f, "aim7.time.elapsed_time");
	assert_int_equal(m.direction, DIR_LOWER);
	assert_string_not_equal(m.reason, "");
}

/* Loads with a metrics.yaml (and a benchmark) of a user in a folder of its own. */
static struct catalog *load_user(struct fixture *f, const char *metrics, const char *bench,
				 struct err *e)
{
	char dir[] = "/tmp/kdelta-metrics.XXXXXX";
	struct catalog *cat = NULL;
	_cleanup_err_ struct err other = ERR_INIT;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(file_write_atomic(arena_printf(f->a, "%s/metrics.yaml", dir), metrics,
					   strlen(metrics), e),
			 0);
	if (bench) {
		file_make_dirs(arena_printf(f->a, "%s/benchmarks", dir), e);
		file_write_atomic(arena_printf(f->a, "%s/benchmarks/spin.yaml", dir), bench,
				  strlen(bench), e);
	}
	catalog_load(f->a, dir, &cat, e);
	file_remove_tree(dir, &other);
	return cat;
}

static void a_user_adds_and_overrides(void **state)
{
	static const char metrics[] =
		"topics:\n"
		"  Mine: {remark: my own}\n"
		"metrics:\n"
		"  softirqs.SCHED: {unit: count, direction: lower, topic: Mine, "
		"reason: I say so}\n"
		"  \"spin.extra*\": {unit: x, direction: higher, topic: Mine, description: "
		"extra}\n";
	static const char bench[] =
		"benchmark: spin\n"
		"description: turns\n"
		"parser: pattern\n"
		"metrics:\n"
		"  score: {unit: t/s, direction: higher, pattern: \"^score ([0-9]+)\"}\n"
		"  extra.one: {direction: lower, pattern: \"^extra ([0-9]+)\"}\n";
	_cleanup_err_ struct err e = ERR_INIT;
	struct fixture *f = *state, mine = *f;
	struct db_metric m;

	mine.cat = load_user(f, metrics, bench, &e);
	assert_string_equal(err_text(&e), "");
	m = meaning(&mine, "softirqs.SCHED");
	assert_int_equal(m.direction, DIR_LOWER);
	assert_string_equal(m.topic, "Mine");
	/* the benchmark's own word wins, and takes no reason that holds for another direction */
	m = meaning(&mine, "spin.extra.one");
	assert_int_equal(m.direction, DIR_LOWER);
	assert_string_equal(m.unit, "x");
	assert_string_equal(m.description, "extra");
	assert_string_equal(m.reason, "");
	/* not said to be fixed work: what it uses depends on what it gets done */
	m = meaning(&mine, "spin.time.system_time");
	assert_int_equal(m.direction, DIR_DEPENDS);
	assert_string_equal(m.reason, metrics_time_bound(f->set));
	assert_int_equal(meaning(&mine, "spin.time.elapsed_time").direction, DIR_NEUTRAL);
}

static void errors_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"metrics: {a.b: {direction: up}}", "'direction' takes one of: higher"},
		{"metrics: {a.b: {topic: Memori}}", "unknown topic 'Memori'"},
		{"metrics: {a.b: {colour: red}}", "colour"},
		{"metrics: {\"a.*\": {unit: s}, a.b: {unit: s}}", "never reached"},
		{"metrics: [a]", "takes a mapping"},
		{"benchmarks: {x: {work: often}}", "'work' takes one of: fixed, time"},
		{"topic: {}", "topic"},
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_err_ struct err e = ERR_INIT;

		load_user(f, bad[i].text, NULL, &e);
		assert_int_equal(e.list.n, 1);
		if (!strstr(err_text(&e), bad[i].error))
			fail_msg("'%s' gives '%s'", bad[i].text, err_text(&e));
		assert_non_null(e.list.items[0].file);
		assert_int_equal(e.list.items[0].line, 1);
	}
}

/* CPU time, so that other work of the machine does not count; sanitizers are slow. */
static void many_names_are_found_fast(void **state)
{
	enum { NAMES = 20000 };
	struct fixture *f = *state;
	const struct metric_def *m;
	char **names = arena_alloc_array(f->a, NAMES, sizeof(*names));
	const char *san = getenv("SAN");
	clock_t start;
	double ms;
	size_t n, i, found = 0;

	m = metrics_all(f->set, &n);
	for (i = 0; i < NAMES; i++) {
		const char *p = m[i % n].pattern, *star = strchr(p, '*');

		names[i] = arena_printf(f->a, "%s%.*s%zu%s", i % 2 ? "aim7." : "",
					star ? (int)(star - p) : (int)strlen(p), p, i,
					star ? star + 1 : "");
	}
	start = clock();
	for (i = 0; i < NAMES; i++)
		found += metrics_find(f->set, names[i]) != NULL;
	ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
	print_message("%d names against %zu patterns: %.1f ms\n", NAMES, n, ms);
	assert_true(found > NAMES / 3);
	assert_true(ms < (san && *san == '1' ? 1000 : 50));
}

/* The table that the descriptions were made from. */
static void the_table_agrees(void **state)
{
	struct fixture *f = *state;
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *path = "../shared/metric-directions.tsv";
	struct span rest, line;
	int rows = 0, bad = 0;

	if (access(path, R_OK)) {
		print_message("no %s here\n", path);
		skip();
	}
	assert_int_equal(file_read(path, 0, &text, &e), 0);
	rest = (struct span){strbuf_str(&text), text.len};
	while (span_next_line(&rest, &line, NULL)) {
		char *pattern, *unit, *direction, *p, *save = NULL;
		_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
		const struct metric_def *g;
		struct db_metric m;

		if (!line.len || *line.s == '#')
			continue;
		p = arena_strndup(f->a, line.s, line.len);
		pattern = strtok_r(p, "\t", &save);
		unit = strtok_r(NULL, "\t", &save);
		direction = strtok_r(NULL, "\t", &save);
		for (p = pattern; *p; p++)
			strbuf_addc(&name, *p == '*' ? '7' : *p);
		m = meaning(f, strbuf_str(&name));
		g = metrics_find(f->set, strbuf_str(&name));
		assert_non_null(g);
		rows++;
		if (strcmp(direction_name(m.direction), direction) || strcmp(g->unit, unit) ||
		    (*m.unit && strcmp(unit, "mixed") && strcmp(m.unit, unit))) {
			print_message("%s: %s %s, the table says %s %s\n", strbuf_str(&name),
				      m.unit, direction_name(m.direction), unit, direction);
			bad++;
		}
	}
	print_message("%d rows\n", rows);
	assert_true(rows > 300);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_is_described),
		cmocka_unit_test(counters_belong_to_any_benchmark),
		cmocka_unit_test(fixed_time_is_told_from_fixed_work),
		cmocka_unit_test(a_user_adds_and_overrides),
		cmocka_unit_test(errors_are_named),
		cmocka_unit_test(many_names_are_found_fast),
		cmocka_unit_test(the_table_agrees),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
