// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "db/sql.h"

/* 2026-01-31T12:00:00Z */
#define NOON 1769860800

static struct arena *a;
static struct err e;
static char *dir, *path;
static struct db *db;

#define ok(call) check_ok((call), #call, __LINE__)
static void check_ok(int r, const char *call, int line)
{
	if (r)
		fail_msg("line %d: %s = %d: %s", line, call, r, err_text(&e));
}

/* The call fails with this code and says this. */
#define refused(call, code, text)                                                                  \
	do {                                                                                       \
		assert_int_equal((call), (code));                                                  \
		said(text);                                                                        \
	} while (0)
static void said(const char *text)
{
	if (!strstr(err_text(&e), text))
		fail_msg("\"%s\" does not say \"%s\"", err_text(&e), text);
	err_release(&e);
}

static int setup(void **state)
{
	char template[] = "/tmp/kdelta-db-XXXXXX";

	(void)state;
	a = arena_new();
	dir = arena_strdup(a, mkdtemp(template));
	path = arena_printf(a, "%s/k.db", dir);
	unsetenv("KDELTA_DB");
	return db_open(path, DB_WRITE, &db, &e);
}

static int teardown(void **state)
{
	(void)state;
	db_close_ptr(&db);
	file_remove_tree(dir, &e);
	err_release(&e);
	arena_free(a);
	return 0;
}

/* A raw statement on the file, as a stranger or a fault would do it. */
static void meddle(const char *sql)
{
	sqlite3 *raw;

	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	sqlite3_busy_timeout(raw, 10000);
	assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(raw);
}

static int64_t number(const char *sql)
{
	int64_t v = -1;

	assert_true(sql_value(db, &e, &v, sql, "") >= 0);
	return v;
}

struct world {
	struct db_campaign c;
	int64_t kernel, variant[2], cases[2], metric;
};

/* A campaign of two variants and two test cases. */
static struct world make_world(const char *unit)
{
	struct world w = {.c = {.name = "quick", .kind = "run", .unit = unit, .created = NOON}};
	const struct db_kernel k = {.identity = "k1", .release = "6.1.0"};
	const struct db_metric m = {.name = "tbench.throughput",
				    .unit = "MB/s",
				    .direction = DIR_HIGHER,
				    .mean_kind = MEAN_HMEAN,
				    .role = "headline"};
	int i;

	ok(db_put_kernel(db, &k, &w.kernel, &e));
	ok(db_put_metric(db, &m, &w.metric, &e));
	ok(db_add_campaign(db, a, &w.c, &e));
	for (i = 0; i < 2; i++) {
		const char *id = arena_printf(a, "v%d", i);
		const struct db_case tc = {.identity = arena_printf(a, "c%d", i),
					   .benchmark = "tbench",
					   .name = arena_printf(a, "tbench/clients=%d", i + 1)};

		ok(db_put_variant(db, id, i ? 0 : w.kernel, "{\"cmdline\":\"quiet\"}",
				  &w.variant[i], &e));
		ok(db_add_campaign_variant(db, w.c.id, w.variant[i], i, id, "words", i == 0, &e));
		ok(db_put_case(db, &tc, &w.cases[i], &e));
		ok(db_add_campaign_case(db, w.c.id, w.cases[i], i, 5.5, &e));
	}
	return w;
}

static int64_t make_run(const struct world *w, int variant, int64_t boot, int block, double value)
{
	const struct db_run run = {.campaign = w->c.id,
				   .variant_id = w->variant[variant],
				   .case_id = w->cases[0],
				   .boot_id = boot,
				   .block = block,
				   .attempt = 1,
				   .started = NOON,
				   .outcome = isnan(value) ? "error" : "ok",
				   .exit_status = -1};
	int64_t id = 0;

	ok(db_add_run(db, &run, &id, &e));
	if (!isnan(value))
		ok(db_add_sample(db, id, w->metric, value, &e));
	return id;
}

static int64_t make_boot(const struct world *w, int variant, int block)
{
	const struct db_boot boot = {.campaign = w->c.id,
				     .variant_id = w->variant[variant],
				     .block = block,
				     .started = NOON,
				     .outcome = "ok"};
	int64_t id = 0;

	ok(db_add_boot(db, &boot, &id, &e));
	return id;
}

static void test_path(void **state)
{
	char *old = getcwd(NULL, 0);

	(void)state;
	assert_int_equal(chdir(dir), 0);
	setenv("XDG_DATA_HOME", dir, 1);
	assert_string_equal(db_path(a, NULL), arena_printf(a, "%s/kdelta/kdelta.db", dir));
	ok(file_write_atomic("kdelta.db", "", 0, &e));
	assert_string_equal(db_path(a, NULL), "kdelta.db");
	setenv("KDELTA_DB", "/x/y", 1);
	assert_string_equal(db_path(a, NULL), "/x/y");
	assert_string_equal(db_path(a, "z"), "z");
	unsetenv("XDG_DATA_HOME");
	assert_int_equal(chdir(old), 0);
	free(old);
}

/* The folder of our own data is made; a folder that somebody mistyped is not. */
static void test_path_folders(void **state)
{
	struct db *other;
	char *deep;

	(void)state;
	setenv("XDG_DATA_HOME", arena_printf(a, "%s/a/b", dir), 1);
	deep = path_data(a, "kdelta.db");
	ok(db_open(deep, DB_WRITE, &other, &e));
	db_close(other);
	unsetenv("XDG_DATA_HOME");
	refused(db_open(arena_printf(a, "%s/no/k.db", dir), DB_WRITE, &other, &e), -ENOENT,
		"there is no folder");
	refused(db_open(dir, DB_WRITE, &other, &e), -EISDIR, "is a folder");
}

static void test_open_settings(void **state)
{
	(void)state;
	assert_int_equal(number("PRAGMA application_id"), 0x6b64656c);
	assert_int_equal(number("PRAGMA user_version"), db_n_steps);
	assert_int_equal(number("PRAGMA foreign_keys"), 1);
	assert_int_equal(number("PRAGMA synchronous"), 2);
	assert_int_equal(number("SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
	assert_int_equal(number("SELECT count(*) FROM pragma_table_list WHERE type = 'table'"
				" AND schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite_%'"),
			 0);
}

static void test_open_read(void **state)
{
	char *missing = arena_printf(a, "%s/missing.db", dir);
	struct world w = make_world("run");
	struct db_campaign c;
	struct db *r;

	(void)state;
	refused(db_open(missing, DB_READ, &r, &e), -ENOENT, "missing.db");
	assert_false(file_exists(missing));
	ok(db_open(path, DB_READ, &r, &e));
	ok(db_find_campaign(r, a, NULL, &c, &e));
	assert_string_equal(c.id, w.c.id);
	refused(db_add_campaign(r, a, &c, &e), -EROFS, "read-only");
	db_close(r);
}

static void test_open_memory(void **state)
{
	struct db *m;
	int64_t id;

	(void)state;
	ok(db_open(NULL, DB_MEMORY, &m, &e));
	ok(db_put_variant(m, "v", 0, "{}", &id, &e));
	assert_int_equal(id, 1);
	db_close(m);
}

static void test_open_strangers(void **state)
{
	char *text = arena_printf(a, "%s/text", dir);
	const char *words = "throughput 1 MB/sec  1 clients  1 procs  max_latency=1 ms\n";
	struct db *other;

	(void)state;
	ok(file_write_atomic(text, words, strlen(words), &e));
	refused(db_open(text, DB_WRITE, &other, &e), -EBADMSG, "not a database");
	refused(db_open(text, DB_READ, &other, &e), -EBADMSG, "not a database");
	path = arena_printf(a, "%s/other.db", dir);
	meddle("CREATE TABLE bookmarks(url TEXT)");
	refused(db_open(path, DB_WRITE, &other, &e), -EBADMSG, "another program");
	refused(db_open(path, DB_READ, &other, &e), -EBADMSG, "another program");
	meddle("INSERT INTO bookmarks VALUES ('untouched')");
}

/* A database of the version before takes the new kind, and keeps its campaigns. */
static void test_migrate_bisections(void **state)
{
	struct db_bisection b = {.name = "x", .options = "{}", .created = NOON}, got;
	struct db_campaign c = {.name = "q", .kind = "bisect", .unit = "run", .created = NOON};

	(void)state;
	ok(db_add_campaign(db, a, &c, &e));
	b.campaign = c.id;
	ok(db_add_bisection(db, &b, &e));
	refused(db_add_bisection(db, &(struct db_bisection){.name = "x", .options = "{}"}, &e),
		-EEXIST, "goes on already");
	ok(db_find_bisection(db, a, "x", &got, &e));
	assert_string_equal(got.campaign, c.id);
	got.ended = NOON;
	ok(db_set_bisection(db, &got, &e));
	refused(db_find_bisection(db, a, "x", &got, &e), -ENOENT, "no bisection 'x'");
	ok(db_add_bisection(db, &b, &e));
	assert_int_equal(number("SELECT count(*) FROM bisections"), 2);
	assert_int_equal(number("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static void test_migrate(void **state)
{
	const char *steps[16];
	struct world w = make_world("run");
	int n = db_n_steps;
	struct db_campaign c;
	struct db *r;

	(void)state;
	assert_in_range(n, 2, ARRAY_SIZE(steps) - 2);
	memcpy(steps, db_steps, (size_t)n * sizeof(*steps));
	steps[n] = "ALTER TABLE machines ADD COLUMN site TEXT";
	steps[n + 1] = "CREATE TABLE half(x); INSERT INTO nowhere VALUES (1)";
	ok(db_migrate(db, steps, n + 1, &e));
	assert_int_equal(number("PRAGMA user_version"), n + 1);
	assert_int_equal(number("SELECT count(site) FROM machines"), 0);
	ok(db_find_campaign(db, a, w.c.id, &c, &e));
	/* a step that fails leaves nothing of itself */
	refused(db_migrate(db, steps, n + 2, &e), -EIO, "nowhere");
	assert_int_equal(number("PRAGMA user_version"), n + 1);
	assert_int_equal(number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
	/* and what this program does not know it does not touch */
	refused(db_open(path, DB_WRITE, &r, &e), -EPROTO, arena_printf(a, "format %d", n + 1));
	refused(db_open(path, DB_READ, &r, &e), -EPROTO, arena_printf(a, "knows up to %d", n));
}

/* An empty file is version 0; a reader has it migrated. */
static void test_migrate_from_zero(void **state)
{
	struct db_campaign *list;
	struct db *r;
	size_t n;

	(void)state;
	path = arena_printf(a, "%s/empty.db", dir);
	ok(file_write_atomic(path, "", 0, &e));
	ok(db_open(path, DB_READ, &r, &e));
	ok(db_get_campaigns(r, a, &list, &n, &e));
	assert_int_equal(n, 0);
	refused(db_find_campaign(r, a, "x", &(struct db_campaign){0}, &e), -ENOENT, "no campaign");
	db_close(r);
}

static void test_transactions(void **state)
{
	int64_t id;

	(void)state;
	ok(db_begin(db, &e));
	ok(db_begin(db, &e));
	ok(db_put_variant(db, "kept", 0, NULL, &id, &e));
	ok(db_commit(db, &e));
	ok(db_commit(db, &e));
	assert_int_equal(number("SELECT count(*) FROM variants"), 1);

	ok(db_begin(db, &e));
	ok(db_put_variant(db, "lost", 0, NULL, &id, &e));
	ok(db_begin(db, &e));
	db_rollback(db);
	refused(db_commit(db, &e), -ECANCELED, "nothing was stored");
	assert_int_equal(number("SELECT count(*) FROM variants"), 1);

	/* a failed statement dooms the transaction even if its caller forgets */
	ok(db_begin(db, &e));
	ok(db_put_variant(db, "lost", 0, NULL, &id, &e));
	refused(db_add_sample(db, 99, 99, 1, &e), -EINVAL, "refuses");
	refused(db_commit(db, &e), -ECANCELED, "nothing was stored");
	assert_int_equal(number("SELECT count(*) FROM variants"), 1);

	ok(db_begin(db, &e));
	ok(db_put_variant(db, "lost", 0, NULL, &id, &e));
	db_rollback(db);
	db_rollback(db);
	assert_int_equal(number("SELECT count(*) FROM variants"), 1);
}

static void test_machine_kernel(void **state)
{
	const struct db_machine m = {.fingerprint = "f", .name = "box"};
	const struct db_machine again = {.fingerprint = "f", .name = "x", .description = "2 CPUs"};
	struct db_kernel k = {.identity = "i", .release = "6.1.0", .source = "deb linux"}, *list;
	int64_t id, second;
	struct db_machine got, *all;
	size_t n;

	(void)state;
	ok(db_put_machine(db, &m, &id, &e));
	ok(db_put_machine(db, &again, &second, &e));
	assert_int_equal(id, second);
	ok(db_get_machine(db, a, id, &got, &e));
	assert_string_equal(got.name, "box");
	assert_string_equal(got.description, "2 CPUs");
	refused(db_get_machine(db, a, 7, &got, &e), -ENOENT, "machine 7");
	ok(db_get_machines(db, a, &all, &n, &e));
	assert_int_equal(n, 1);

	ok(db_put_kernel(db, &k, &id, &e));
	k.release = "never";
	k.commit = "abc";
	ok(db_put_kernel(db, &k, &second, &e));
	assert_int_equal(id, second);
	ok(db_set_build_id(db, id, "b1", "never", &e));
	ok(db_set_build_id(db, id, "b1", "never", &e));
	refused(db_set_build_id(db, id, "b2", "6.1.0", &e), -EEXIST, "b2");
	refused(db_set_build_id(db, 77, "b2", "6.1.0", &e), -ENOENT, "kernel 77");
	ok(db_get_kernels(db, a, &list, &n, &e));
	assert_int_equal(n, 1);
	assert_int_equal(list->id, id);
	assert_string_equal(list->release, "6.1.0");
	assert_string_equal(list->commit, "abc");
	assert_string_equal(list->source, "deb linux");
	assert_string_equal(list->build_id, "b1");
	assert_string_equal(list->version, "");
}

static void test_variants_cases(void **state)
{
	struct world w = make_world("run");
	struct db_variant *v;
	struct db_case *c;
	size_t n;

	(void)state;
	ok(db_get_variants(db, a, w.c.id, &v, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(v[0].id, w.variant[0]);
	assert_string_equal(v[0].name, "v0");
	assert_string_equal(v[0].campaign, w.c.id);
	assert_string_equal(v[0].description, "words");
	assert_string_equal(v[0].identity, "v0");
	assert_string_equal(v[0].settings, "{\"cmdline\":\"quiet\"}");
	assert_string_equal(v[0].kernel.release, "6.1.0");
	assert_true(v[0].baseline);
	assert_int_equal(v[0].kernel.id, w.kernel);
	assert_false(v[1].baseline);
	assert_int_equal(v[1].position, 1);
	assert_int_equal(v[1].kernel.id, 0);
	assert_string_equal(v[1].kernel.release, "");
	ok(db_get_variants(db, a, NULL, &v, &n, &e));
	assert_int_equal(n, 2);
	ok(db_get_cases(db, a, w.c.id, &c, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(c[1].id, w.cases[1]);
	assert_string_equal(c[1].identity, "c1");
	assert_string_equal(c[1].benchmark, "tbench");
	assert_string_equal(c[1].name, "tbench/clients=2");
	assert_string_equal(c[1].params, "{}");
	assert_string_equal(c[1].swept, "[]");
	assert_true(c[1].expected == 5.5);
}

static void test_metric_meaning(void **state)
{
	struct db_metric m = {.name = "x.y", .direction = DIR_UNKNOWN, .role = "counter"}, *list;
	int64_t id, again;
	size_t n;

	(void)state;
	ok(db_put_metric(db, &m, &id, &e));
	/* what was not stated may be stated later */
	m = (struct db_metric){.name = "x.y",
			       .unit = "ms",
			       .direction = DIR_LOWER,
			       .role = "headline",
			       .mean_kind = MEAN_GMEAN,
			       .description = "words"};
	ok(db_put_metric(db, &m, &again, &e));
	assert_int_equal(id, again);
	/* its series does not make a headline a diagnostic */
	m = (struct db_metric){.name = "x.y",
			       .unit = "ms",
			       .direction = DIR_LOWER,
			       .role = "diagnostic",
			       .mean_kind = MEAN_GMEAN};
	ok(db_put_metric(db, &m, &again, &e));
	/* and what was stated stays, also when the next one does not say */
	m = (struct db_metric){.name = "x.y", .direction = DIR_UNKNOWN, .role = "counter"};
	ok(db_put_metric(db, &m, &again, &e));
	ok(db_get_metrics(db, a, &list, &n, &e));
	assert_int_equal(n, 1);
	assert_string_equal(list->unit, "ms");
	assert_int_equal(list->direction, DIR_LOWER);
	assert_int_equal(list->mean_kind, MEAN_GMEAN);
	assert_string_equal(list->role, "headline");
	assert_string_equal(list->description, "words");

	m = (struct db_metric){
		.name = "x.y", .unit = "s", .direction = DIR_LOWER, .role = "counter"};
	refused(db_put_metric(db, &m, &again, &e), -EINVAL, "'ms'");
	m = (struct db_metric){
		.name = "x.y", .unit = "ms", .direction = DIR_HIGHER, .role = "counter"};
	refused(db_put_metric(db, &m, &again, &e), -EINVAL, "direction lower");
}

static void test_campaign_rows(void **state)
{
	const struct db_machine m = {.fingerprint = "f", .name = "box"};
	struct db_campaign c = {.name = "quick start/1",
				.kind = "record",
				.unit = "boot",
				.created = NOON,
				.backend = "qemu",
				.accelerator = "tcg",
				.config = "campaign: x\n",
				.config_path = "x.yaml",
				.source = "here",
				.seed = INT64_MAX,
				.repeat = 5};
	struct db_campaign second = c, got;

	(void)state;
	ok(db_put_machine(db, &m, &c.machine_id, &e));
	ok(db_add_campaign(db, a, &c, &e));
	assert_string_equal(c.id, "quick-start-1-20260131-1");
	ok(db_add_campaign(db, a, &second, &e));
	assert_string_equal(second.id, "quick-start-1-20260131-2");
	c.ended = NOON + 5;
	c.repeat = 6;
	ok(db_set_campaign(db, &c, &e));
	ok(db_find_campaign(db, a, c.id, &got, &e));
	assert_string_equal(got.name, "quick start/1");
	assert_string_equal(got.kind, "record");
	assert_string_equal(got.unit, "boot");
	assert_string_equal(got.backend, "qemu");
	assert_string_equal(got.accelerator, "tcg");
	assert_string_equal(got.config, "campaign: x\n");
	assert_string_equal(got.config_path, "x.yaml");
	assert_string_equal(got.source, "here");
	assert_string_equal(got.tool_version, KDELTA_VERSION);
	assert_int_equal(got.created, NOON);
	assert_int_equal(got.ended, NOON + 5);
	assert_int_equal(got.seed, INT64_MAX);
	assert_int_equal(got.machine_id, c.machine_id);
	assert_int_equal(got.repeat, 6);
	ok(db_find_campaign(db, a, second.id, &got, &e));
	assert_int_equal(got.ended, 0);
	assert_int_equal(number("SELECT count(*) FROM campaigns WHERE ended IS NULL"), 1);
	got.id = "none";
	refused(db_set_campaign(db, &got, &e), -ENOENT, "no such row");
	second.kind = "guess";
	refused(db_add_campaign(db, a, &second, &e), -EINVAL, "kind");
}

static void test_find_campaign(void **state)
{
	static const char *const names[] = {"alpha", "beta", "alpha", "al"};
	struct db_campaign c = {.kind = "run", .unit = "run"}, got;
	size_t i, n;
	struct db_campaign *list;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		c.name = names[i];
		c.created = NOON + (int64_t)i;
		ok(db_add_campaign(db, a, &c, &e));
	}
	ok(db_find_campaign(db, a, NULL, &got, &e));
	assert_string_equal(got.id, "al-20260131-1");
	ok(db_find_campaign(db, a, "alpha", &got, &e));
	assert_string_equal(got.id, "alpha-20260131-2");
	ok(db_find_campaign(db, a, "alpha-20260131-1", &got, &e));
	assert_string_equal(got.id, "alpha-20260131-1");
	ok(db_find_campaign(db, a, "b", &got, &e));
	assert_string_equal(got.id, "beta-20260131-1");
	ok(db_find_campaign(db, a, "al", &got, &e)); /* a name before a prefix */
	assert_string_equal(got.id, "al-20260131-1");
	assert_int_equal(db_find_campaign(db, a, "alp", &got, &e), -ENOTUNIQ);
	assert_string_equal(e.list.items[0].hint, "give one of alpha-20260131-2, alpha-20260131-1");
	said("'alp' begins the names of 2 campaigns");
	assert_int_equal(db_find_campaign(db, a, "gamma", &got, &e), -ENOENT);
	assert_non_null(strstr(e.list.items[0].hint, "there are: al-20260131-1, alpha-20260131-2"));
	said("there is no campaign 'gamma'");
	refused(db_find_campaign(db, a, "", &got, &e), -ENOENT, "there is no campaign");
	/* letters that LIKE and GLOB would take for patterns */
	refused(db_find_campaign(db, a, "a*", &got, &e), -ENOENT, "'a*'");
	refused(db_find_campaign(db, a, "_l%", &got, &e), -ENOENT, "'_l%'");
	ok(db_get_campaigns(db, a, &list, &n, &e));
	assert_int_equal(n, 4);
	assert_string_equal(list[3].id, "alpha-20260131-1");
}

static void test_cells_totals(void **state)
{
	struct world w = make_world("run");
	struct db_cell c = {.block = 1, .variant_id = w.variant[1], .case_id = w.cases[0]}, *list;
	struct db_total *t;
	size_t n;

	(void)state;
	for (c.seq = 2; c.seq > 0; c.seq--)
		ok(db_add_cell(db, w.c.id, &c, &e));
	ok(db_get_cells(db, a, w.c.id, &list, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(list[0].seq, 1);
	assert_string_equal(list[0].state, "planned");
	ok(db_set_cell(db, list[0].id, "failed", 2, "panic", &e));
	ok(db_set_cell(db, list[1].id, "done", 1, NULL, &e));
	ok(db_get_cells(db, a, w.c.id, &list, &n, &e));
	assert_string_equal(list[0].state, "failed");
	assert_string_equal(list[0].reason, "panic");
	assert_int_equal(list[0].attempts, 2);
	assert_int_equal(list[0].block, 1);
	assert_int_equal(list[0].variant_id, w.variant[1]);
	assert_int_equal(list[0].case_id, w.cases[0]);
	assert_string_equal(list[1].reason, "");
	refused(db_set_cell(db, list[0].id, "nearly", 1, NULL, &e), -EINVAL, "state");
	make_run(&w, 0, 0, 1, 5);
	make_run(&w, 0, 0, 1, NAN);
	ok(db_get_totals(db, a, NULL, &t, &n, &e));
	assert_int_equal(n, 1);
	assert_string_equal(t->campaign, w.c.id);
	assert_int_equal(t->variants, 2);
	assert_int_equal(t->cases, 2);
	assert_int_equal(t->cells, 2);
	assert_int_equal(t->done, 1);
	assert_int_equal(t->runs, 2);
	assert_int_equal(t->ok, 1);
	assert_int_equal(t->boots, 0);
}

static void test_settle_cells(void **state)
{
	struct world w = make_world("run");
	struct db_cell c = {.block = 1, .variant_id = w.variant[0], .case_id = w.cases[0]}, *list;
	struct db_run run = {.campaign = w.c.id,
			     .variant_id = w.variant[0],
			     .case_id = w.cases[0],
			     .started = NOON};
	static const char *const outcomes[] = {"error", "suspect"}, *const states[] = {"done",
										       "planned"};
	size_t n;

	(void)state;
	for (c.seq = 0; c.seq < 2; c.seq++) {
		ok(db_add_cell(db, w.c.id, &c, &e));
		ok(db_get_cells(db, a, w.c.id, &list, &n, &e));
		run.cell_id = list[c.seq].id;
		run.outcome = outcomes[c.seq];
		run.error = c.seq ? NULL : "panic";
		ok(db_add_run(db, &run, &run.id, &e));
		ok(db_set_cell(db, run.cell_id, states[c.seq], 1, "", &e));
	}
	ok(db_settle_cells(db, w.c.id, &e));
	ok(db_get_cells(db, a, w.c.id, &list, &n, &e));
	assert_string_equal(list[0].state, "failed");
	assert_string_equal(list[0].reason, "panic");
	assert_string_equal(list[1].state, "done");
}

static void test_boots_runs(void **state)
{
	struct world w = make_world("boot");
	struct db_boot b = {
		.campaign = w.c.id, .variant_id = w.variant[0], .block = 3, .started = 9};
	struct db_run r = {.campaign = w.c.id,
			   .variant_id = w.variant[0],
			   .case_id = w.cases[1],
			   .block = 3,
			   .attempt = 2,
			   .started = 10,
			   .command = "tbench 2",
			   .parser = "tbench",
			   .exit_status = 0,
			   .elapsed = 5.25,
			   .user_time = 0,
			   .sys_time = NAN,
			   .max_rss = 1024,
			   .voluntary = 0,
			   .involuntary = -1,
			   .leftovers = 1};
	struct db_boot *boots, boot;
	struct db_run *runs, run;
	size_t n;

	(void)state;
	ok(db_add_boot(db, &b, &b.id, &e));
	ok(db_get_boot(db, a, b.id, &boot, &e));
	assert_string_equal(boot.outcome, "open");
	assert_true(isnan(boot.seconds));
	b.outcome = "ok";
	b.seconds = 4.5;
	b.boot_id = "uuid";
	b.release = "6.1.0";
	b.build_id = "b1";
	b.clocksource = "tsc";
	b.reason = "none";
	ok(db_set_boot(db, &b, &e));
	ok(db_get_boots(db, a, w.c.id, &boots, &n, &e));
	assert_int_equal(n, 1);
	assert_true(boots->seconds == 4.5);
	assert_string_equal(boots->outcome, "ok");
	assert_string_equal(boots->boot_id, "uuid");
	assert_string_equal(boots->release, "6.1.0");
	assert_string_equal(boots->build_id, "b1");
	assert_string_equal(boots->clocksource, "tsc");
	assert_string_equal(boots->reason, "none");
	assert_string_equal(boots->campaign, w.c.id);
	assert_int_equal(boots->block, 3);
	assert_int_equal(boots->started, 9);
	refused(db_get_boot(db, a, 99, &boot, &e), -ENOENT, "boot 99");

	r.boot_id = b.id;
	ok(db_add_run(db, &r, &r.id, &e));
	ok(db_get_run(db, a, r.id, &run, &e));
	assert_string_equal(run.outcome, "stored");
	assert_null(run.error);
	assert_string_equal(run.command, "tbench 2");
	assert_string_equal(run.parser, "tbench");
	assert_string_equal(run.campaign, w.c.id);
	assert_int_equal(run.variant_id, w.variant[0]);
	assert_int_equal(run.case_id, w.cases[1]);
	assert_int_equal(run.boot_id, b.id);
	assert_int_equal(run.cell_id, 0);
	assert_int_equal(run.attempt, 2);
	assert_int_equal(run.block, 3);
	assert_int_equal(run.started, 10);
	assert_int_equal(run.exit_status, 0);
	assert_int_equal(run.signal, 0);
	assert_true(run.elapsed == 5.25 && run.user_time == 0 && isnan(run.sys_time));
	assert_int_equal(run.max_rss, 1024);
	assert_int_equal(run.voluntary, 0);
	assert_int_equal(run.involuntary, -1);
	assert_int_equal(run.leftovers, 1);
	refused(db_get_run(db, a, 99, &run, &e), -ENOENT, "run 99");

	/* never started: nothing of it is a zero */
	r = (struct db_run){.campaign = w.c.id,
			    .variant_id = w.variant[0],
			    .case_id = w.cases[0],
			    .exit_status = -1,
			    .signal = 9,
			    .outcome = "error",
			    .error = "not_found"};
	ok(db_add_run(db, &r, &r.id, &e));
	ok(db_set_run_outcome(db, r.id, "error", "interrupted", "words", &e));
	ok(db_get_runs(db, a, w.c.id, &runs, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(runs[1].exit_status, -1);
	assert_int_equal(runs[1].signal, 9);
	assert_true(isnan(runs[1].elapsed) && isnan(runs[1].user_time));
	assert_string_equal(runs[1].error, "interrupted");
	assert_string_equal(runs[1].message, "words");
	assert_int_equal(number("SELECT count(*) FROM runs WHERE exit_status IS NULL"
				" AND elapsed IS NULL AND user_time IS NULL AND max_rss IS NULL"
				" AND voluntary IS NULL AND boot_id IS NULL"),
			 1);
}

static void test_samples_series_facts(void **state)
{
	struct world w = make_world("run");
	const double t[] = {1, 2, 2, 3}, v[] = {10, 20, 21, INFINITY};
	int64_t run = make_run(&w, 0, 0, 1, 337.527);
	struct db_value *list;
	struct db_fact *facts;
	size_t n;

	(void)state;
	refused(db_add_sample(db, run, w.metric, NAN, &e), -EINVAL, "number");
	refused(db_add_sample(db, run, w.metric, 1, &e), -EINVAL, "UNIQUE");
	ok(db_add_series(db, run, w.metric, t, v, 4, &e));
	ok(db_get_samples(db, a, run, &list, &n, &e));
	assert_int_equal(n, 1);
	assert_string_equal(list->metric, "tbench.throughput");
	assert_string_equal(list->unit, "MB/s");
	assert_string_equal(list->role, "headline");
	assert_true(list->value == 337.527);
	ok(db_get_series(db, a, run, &list, &n, &e));
	assert_int_equal(n, 2);
	assert_true(list[1].t == 2 && list[1].value == 21);
	ok(db_clear_samples(db, run, &e));
	ok(db_get_samples(db, a, run, &list, &n, &e));
	assert_int_equal(n, 0);
	assert_null(list);
	ok(db_get_series(db, a, run, &list, &n, &e));
	assert_int_equal(n, 0);

	ok(db_set_fact(db, "campaign", w.c.id, "governor", "powersave", &e));
	ok(db_set_fact(db, "campaign", w.c.id, "governor", "performance", &e));
	ok(db_set_fact(db, "campaign", "other", "cmdline", NULL, &e));
	ok(db_get_facts(db, a, "campaign", w.c.id, &facts, &n, &e));
	assert_int_equal(n, 1);
	assert_string_equal(facts->scope, "campaign");
	assert_string_equal(facts->scope_id, w.c.id);
	assert_string_equal(facts->key, "governor");
	assert_string_equal(facts->value, "performance");
	ok(db_get_facts(db, a, "campaign", NULL, &facts, &n, &e));
	assert_int_equal(n, 2);
	refused(db_set_fact(db, "planet", "x", "y", "z", &e), -EINVAL, "scope");
	ok(db_remove_fact(db, "campaign", w.c.id, "cmdline", &e));
	ok(db_remove_fact(db, "campaign", w.c.id, "governor", &e));
	ok(db_get_facts(db, a, "campaign", NULL, &facts, &n, &e));
	assert_int_equal(n, 1);
}

static void test_raws(void **state)
{
	struct world w = make_world("run");
	int64_t run = make_run(&w, 0, 0, 1, 1);
	size_t big = 10 << 20, i, n;
	char *data = mem_alloc(big);
	struct strbuf out = STRBUF_INIT;
	struct db_raw *raws;
	int64_t id, again;

	(void)state;
	for (i = 0; i < big; i++)
		data[i] = (char)(i * i >> 7);
	const struct span texts[] = {{"a\0b\0", 4}, {NULL, 0}, {"", 0}, {data, big}};

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		ok(db_add_raw(db, run, "stdout", i ? NULL : "a.log", texts[i], &id, &e));
		strbuf_reset(&out);
		ok(db_read_raw(db, id, &out, &e));
		assert_int_equal(out.len, texts[i].len);
		if (out.len)
			assert_memory_equal(out.buf, texts[i].s, out.len);
	}
	ok(db_add_raw(db, 0, "source", NULL, span_of("text"), &id, &e));
	ok(db_get_raws(db, a, run, &raws, &n, &e));
	assert_int_equal(n, 4);
	assert_string_equal(raws[0].stream, "stdout");
	assert_string_equal(raws[0].name, "a.log");
	assert_string_equal(raws[1].name, "");
	assert_string_equal(raws[1].sha256,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_int_equal(raws[3].size, big);
	assert_int_equal(raws[3].run_id, run);
	refused(db_read_raw(db, 99, &out, &e), -ENOENT, "raw output 99");
	ok(db_find_raw(db, "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1",
		       &again, &e));
	assert_int_equal(again, id);
	refused(db_find_raw(db, "f00", &again, &e), -ENOENT, "no raw output with");
	strbuf_release(&out);
	free(data);
}

static void test_summaries(void **state)
{
	struct world w = make_world("run");
	struct db_summary s = {.variant_id = w.variant[0],
			       .case_id = w.cases[0],
			       .metric_id = w.metric,
			       .has_mean = true,
			       .mean = 357.15,
			       .mean_text = "357.15",
			       .mean_kind = "hmean",
			       .has_deviation = true,
			       .deviation = 2,
			       .deviation_kind = "percent",
			       .n = 7,
			       .line = 12};
	struct db_summary bare = {.variant_id = w.variant[1],
				  .case_id = w.cases[0],
				  .metric_id = w.metric,
				  .has_change = true,
				  .change = -33.5,
				  .change_sign = "better",
				  .mark = true};
	struct db_summary *list;
	struct db_view *view;
	size_t n;

	(void)state;
	ok(db_add_summary(db, w.c.id, &s, &e));
	ok(db_add_summary(db, w.c.id, &bare, &e));
	ok(db_get_summaries(db, a, w.c.id, &list, &n, &e));
	assert_int_equal(n, 2);
	assert_true(list[0].has_mean && list[0].mean == 357.15 && list[0].n == 7);
	assert_true(list[0].has_deviation && list[0].deviation == 2 && !list[0].has_change);
	assert_string_equal(list[0].mean_text, "357.15");
	assert_string_equal(list[0].mean_kind, "hmean");
	assert_string_equal(list[0].deviation_kind, "percent");
	assert_int_equal(list[0].line, 12);
	assert_true(!list[1].has_mean && !list[1].has_deviation && list[1].n == 0);
	assert_true(list[1].has_change && list[1].change == -33.5 && list[1].mark);
	assert_string_equal(list[1].change_sign, "better");
	ok(db_get_view(db, a, w.c.id, NULL, &view, &n, &e));
	assert_int_equal(n, 2);
	assert_true(view[0].hmean == 357.15 && isnan(view[0].amean) && view[0].n == 7);
	assert_float_equal(view[0].stddev, 7.143, 1e-12);
	assert_float_equal(view[0].cv, 0.02, 1e-15);
	assert_true(isnan(view[1].hmean) && isnan(view[1].amean) && isnan(view[1].stddev));
	assert_int_equal(view[1].n, 0);
}

/* A boot with two runs is one value; two boots of a block are two; without a boot, the run is. */
static void test_units_by_boot(void **state)
{
	struct world w = make_world("boot");
	int64_t late = make_boot(&w, 0, 2), first = make_boot(&w, 0, 1), again;
	struct db_unit *u;
	size_t n;

	(void)state;
	make_run(&w, 0, late, 2, 300);
	make_run(&w, 0, first, 1, 100);
	make_run(&w, 0, first, 1, 102);
	make_run(&w, 0, first, 1, NAN);
	again = make_boot(&w, 0, 1);
	make_run(&w, 0, again, 1, 200);
	make_run(&w, 1, 0, 1, 7);
	make_run(&w, 1, 0, 1, 8);
	ok(db_get_units(db, a, w.c.id, &u, &n, &e));
	assert_int_equal(n, 5);
	assert_true(u[0].value == 101 && u[0].block == 1);
	assert_true(u[1].value == 200 && u[1].block == 1);
	assert_true(u[2].value == 300 && u[2].block == 2);
	assert_true(u[3].value == 7 && u[4].value == 8);
	assert_int_equal(u[0].variant_id, w.variant[0]);
	assert_int_equal(u[3].variant_id, w.variant[1]);
	assert_int_equal(u[0].metric_id, w.metric);
	assert_int_equal(u[0].case_id, w.cases[0]);
	/* the view says the same */
	assert_int_equal(number("SELECT count(*) FROM units"), 5);
	assert_int_equal(number("SELECT sum(value) FROM units"), 101 + 200 + 300 + 7 + 8);
}

static void test_units_by_run(void **state)
{
	struct world w = make_world("run");
	int64_t boot = make_boot(&w, 0, 0);
	struct db_unit *u;
	size_t n;

	(void)state;
	make_run(&w, 0, boot, 2, 2);
	make_run(&w, 0, boot, 1, 1);
	ok(db_get_units(db, a, w.c.id, &u, &n, &e));
	assert_int_equal(n, 2);
	assert_true(u[0].value == 1 && u[1].value == 2);
	assert_int_equal(number("SELECT count(*) FROM units"), 2);
}

static void test_summary_view(void **state)
{
	struct world w = make_world("run");
	const double x[] = {100, 110, 120, 130};
	struct db_verdict *verdicts;
	struct db_view *v;
	size_t i, n;
	int before;

	(void)state;
	for (i = 0; i < 4; i++)
		make_run(&w, 0, 0, (int)i, x[i]);
	make_run(&w, 1, 0, 1, 0); /* no harmonic mean of zero */
	ok(db_put_verdict(db, w.c.id, w.variant[1], w.cases[0], w.metric, VERDICT_WORSE, true, &e));
	ok(db_get_view(db, a, w.c.id, "tbench.throughput", &v, &n, &e));
	assert_int_equal(n, 2);
	assert_string_equal(v[0].campaign, w.c.id);
	assert_string_equal(v[0].variant, "v0");
	assert_string_equal(v[0].test_case, "tbench/clients=1");
	assert_string_equal(v[0].metric, "tbench.throughput");
	assert_string_equal(v[0].unit, "MB/s");
	assert_int_equal(v[0].direction, DIR_HIGHER);
	assert_int_equal(v[0].n, 4);
	assert_float_equal(v[0].hmean, stats_hmean(x, 4), 1e-12);
	assert_float_equal(v[0].amean, stats_amean(x, 4), 1e-12);
	assert_float_equal(v[0].stddev, stats_stddev(x, 4), 1e-12);
	assert_float_equal(v[0].cv, stats_stddev(x, 4) / stats_amean(x, 4), 1e-15);
	assert_null(v[0].verdict);
	assert_int_equal(v[1].n, 1);
	assert_true(isnan(v[1].hmean) && v[1].amean == 0 && isnan(v[1].stddev) && isnan(v[1].cv));
	assert_string_equal(v[1].verdict, "worse small");
	ok(db_put_verdict(db, w.c.id, w.variant[1], w.cases[0], w.metric, VERDICT_SAME, false, &e));
	ok(db_get_view(db, a, NULL, "tbench.throughput", &v, &n, &e));
	assert_string_equal(v[1].verdict, "same");
	ok(db_get_verdicts(db, a, w.c.id, &verdicts, &n, &e));
	assert_int_equal(n, 1);
	assert_int_equal(verdicts->variant_id, w.variant[1]);
	assert_int_equal(verdicts->case_id, w.cases[0]);
	assert_int_equal(verdicts->metric_id, w.metric);
	assert_string_equal(verdicts->verdict, "same");
	before = sqlite3_total_changes(db->handle);
	ok(db_put_verdict(db, w.c.id, w.variant[1], w.cases[0], w.metric, VERDICT_SAME, false, &e));
	assert_int_equal(sqlite3_total_changes(db->handle), before);
	ok(db_clear_verdicts(db, w.c.id, &e));
	ok(db_get_view(db, a, NULL, NULL, &v, &n, &e));
	assert_int_equal(n, 2);
	assert_null(v[1].verdict);
	ok(db_get_view(db, a, NULL, "none", &v, &n, &e));
	assert_int_equal(n, 0);
}

/* The spread of values that differ in the ninth digit survives the arithmetic of SQL. */
static void test_summary_precision(void **state)
{
	struct world w = make_world("run");
	const double x[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
	struct db_view *v;
	size_t i, n;

	(void)state;
	for (i = 0; i < 3; i++)
		make_run(&w, 0, 0, (int)i, x[i]);
	ok(db_get_view(db, a, w.c.id, NULL, &v, &n, &e));
	assert_float_equal(v->stddev, 1, 1e-9);
}

static void test_counts(void **state)
{
	struct world w = make_world("run");
	struct db_count *c;
	int64_t id;
	size_t n;

	(void)state;
	make_run(&w, 0, 0, 1, 1);
	id = make_run(&w, 0, 0, 1, NAN);
	ok(db_set_run_outcome(db, id, "error", "panic", NULL, &e));
	id = make_run(&w, 0, 0, 1, NAN);
	ok(db_set_run_outcome(db, id, "partial", "truncated", NULL, &e));
	id = make_run(&w, 1, 0, 1, NAN);
	ok(db_set_run_outcome(db, id, "suspect", "header", NULL, &e));
	ok(db_get_counts(db, a, w.c.id, &c, &n, &e));
	assert_int_equal(n, 2);
	assert_int_equal(c[0].case_id, w.cases[0]);
	assert_int_equal(c[0].variant_id, w.variant[0]);
	assert_true(c[0].ok == 1 && c[0].failed == 2 && c[0].suspect == 0);
	assert_string_equal(c[0].last_error, "truncated");
	assert_true(c[1].ok == 0 && c[1].failed == 0 && c[1].suspect == 1);
	assert_null(c[1].last_error);
}

static void assert_finding(const char *text)
{
	const char **found;
	size_t n;

	ok(db_check(db, a, &found, &n, &e));
	if (!text) {
		assert_int_equal(n, 0);
		return;
	}
	assert_int_equal(n, 1);
	if (!strstr(found[0], text))
		fail_msg("\"%s\" does not say \"%s\"", found[0], text);
}

static void test_check(void **state)
{
	static const struct {
		const char *harm, *mend, *finding;
	} faults[] = {
		{"UPDATE runs SET outcome = 'stored' WHERE id = 2",
		 "UPDATE runs SET outcome = 'error' WHERE id = 2", "never parsed"},
		{"UPDATE cells SET state = 'done'", "UPDATE cells SET state = 'planned'",
		 "done without a good run"},
		{"UPDATE campaigns SET ended = 5", "UPDATE campaigns SET ended = NULL",
		 "ended with 1 planned"},
		{"INSERT INTO samples VALUES (2, 1, 5)", "DELETE FROM samples WHERE run_id = 2",
		 "has samples although it is error"},
		{"PRAGMA foreign_keys = OFF; UPDATE runs SET boot_id = 99",
		 "UPDATE runs SET boot_id = NULL", NULL},
		{"UPDATE raws SET sha256 = 'x' || sha256",
		 "UPDATE raws SET sha256 = substr(sha256, 2)", "SHA-256"},
		{"UPDATE raws SET size = size + 1", "UPDATE raws SET size = size - 1", "size"},
		{"CREATE TABLE keep AS SELECT data FROM raws;"
		 "UPDATE raws SET data = substr(data, 1, length(data) - 1)",
		 "UPDATE raws SET data = (SELECT data FROM keep); DROP TABLE keep", "damaged"},
		{"UPDATE raws SET data = x''", "DELETE FROM raws",
		 "raw output 1 (stdout of run 1)"},
	};
	struct world w = make_world("run");
	const struct db_cell cell = {
		.seq = 1, .block = 1, .variant_id = w.variant[0], .case_id = w.cases[0]};
	int64_t run = make_run(&w, 0, 0, 1, 1);
	const char **found;
	size_t i, n;

	(void)state;
	make_run(&w, 0, 0, 1, NAN);
	ok(db_add_cell(db, w.c.id, &cell, &e));
	ok(db_add_raw(db, run, "stdout", NULL, span_of("Throughput 1 MB/sec\n"), NULL, &e));
	assert_finding(NULL);
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		meddle(faults[i].harm);
		if (faults[i].finding) {
			assert_finding(faults[i].finding);
		} else { /* one per row */
			ok(db_check(db, a, &found, &n, &e));
			assert_int_equal(n, 2);
			assert_non_null(strstr(found[0], "refers to a row of boots"));
		}
		meddle(faults[i].mend);
		assert_finding(NULL);
	}
}

/* Old texts go, and only those; what they were is known, and a lost text is no pruned one. */
static void test_prune(void **state)
{
	struct world w = make_world("run");
	struct strbuf out = STRBUF_INIT;
	struct db_pruned done;
	struct db_raw *raws;
	int64_t run = make_run(&w, 0, 0, 1, 7), runs, id;
	size_t n;

	(void)state;
	ok(db_add_raw(db, run, "stdout", NULL, span_of("Throughput 1 MB/sec\n"), &id, &e));
	ok(db_prune(db, 1000, "", false, &done, &e)); /* not ended */
	assert_int_equal(done.texts, 0);
	meddle("UPDATE campaigns SET ended = 900");
	ok(db_prune(db, 900, "", false, &done, &e));
	assert_int_equal(done.texts, 0);
	ok(db_prune(db, 1000, "another", false, &done, &e));
	assert_int_equal(done.texts, 0);
	meddle("UPDATE runs SET outcome = 'stored'");
	ok(db_prune(db, 1000, "", false, &done, &e));
	assert_int_equal(done.texts, 0);
	meddle("UPDATE runs SET outcome = 'ok'");
	ok(db_prune(db, 1000, "", true, &done, &e));
	assert_int_equal(done.texts, 1);
	assert_true(done.bytes > 9);
	ok(db_read_raw(db, id, &out, &e));
	ok(db_count_pruned(db, w.c.id, &runs, &e));
	assert_int_equal(runs, 0);
	ok(db_prune(db, 1000, w.c.name, false, &done, &e));
	assert_int_equal(done.texts, 1);
	refused(db_read_raw(db, id, &out, &e), -ENODATA, "given up");
	ok(db_get_raws(db, a, run, &raws, &n, &e));
	assert_int_equal(n, 1);
	assert_true(raws[0].pruned && raws[0].size == 20 && strlen(raws[0].sha256) == 64);
	ok(db_count_pruned(db, w.c.id, &runs, &e));
	assert_int_equal(runs, 1);
	assert_finding(NULL);
	ok(db_prune(db, 1000, "", false, &done, &e));
	assert_int_equal(done.texts, 0);
	strbuf_release(&out);
}

/* Pages overwritten in the file: found by db_check, whether as rows or as an error. */
static void test_check_broken_page(void **state)
{
	struct world w = make_world("run");
	char junk[4096];
	const char **found;
	size_t i, n = 0;
	FILE *f;
	int r;

	(void)state;
	ok(db_begin(db, &e));
	for (i = 0; i < 2000; i++)
		ok(db_set_fact(db, "campaign", w.c.id, arena_printf(a, "key%zu", i), "value", &e));
	ok(db_commit(db, &e));
	db_close_ptr(&db);
	f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	assert_int_equal(fseek(f, ftell(f) - 8 * 4096, SEEK_SET), 0);
	memset(junk, 0x5a, sizeof(junk));
	assert_int_equal(fwrite(junk, sizeof(junk), 1, f), 1);
	fclose(f);
	ok(db_open(path, DB_READ, &db, &e));
	r = db_check(db, a, &found, &n, &e);
	assert_true(r == -EBADMSG || (!r && n));
}

static void test_backup(void **state)
{
	struct world w = make_world("run");
	char *copy = arena_printf(a, "%s/copy.db", dir);
	struct db_campaign c;
	struct db *b;

	(void)state;
	ok(db_backup(db, copy, &e));
	refused(db_backup(db, copy, &e), -EEXIST, "copy.db");
	ok(db_open(copy, DB_READ, &b, &e));
	ok(db_find_campaign(b, a, NULL, &c, &e));
	assert_string_equal(c.id, w.c.id);
	db_close(b);
	refused(db_backup(db, arena_printf(a, "%s/no/copy.db", dir), &e), -EACCES, "copy.db");
}

/* Adds one to the same row n times, each time reading before writing. */
static void count_up(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		int64_t v = 0;

		ok(db_begin(db, &e));
		assert_true(sql_value(db, &e, &v, "SELECT CAST(value AS INTEGER) FROM facts", "") >=
			    0);
		ok(db_set_fact(db, "machine", "m", "count", arena_printf(a, "%" PRId64, v + 1),
			       &e));
		ok(db_commit(db, &e));
	}
}

static void test_two_writers(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	db_close_ptr(&db);
	/* from a file that neither has created */
	path = arena_printf(a, "%s/fresh.db", dir);
	pid = fork();
	assert_true(pid >= 0);
	ok(db_open(path, DB_WRITE, &db, &e));
	count_up(100);
	if (!pid) {
		db_close(db);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(number("SELECT CAST(value AS INTEGER) FROM facts"), 200);
}

/* A reader sees the state of its statement and never waits for a writer. */
static void test_reader_beside_writer(void **state)
{
	struct db_campaign *list;
	struct db *r;
	bool begun;
	size_t n;

	(void)state;
	make_world("run");
	ok(db_open(path, DB_READ, &r, &e));
	ok(db_begin(db, &e));
	make_world("run");
	ok(db_get_campaigns(r, a, &list, &n, &e));
	assert_int_equal(n, 1);
	ok(db_commit(db, &e));
	ok(db_get_campaigns(r, a, &list, &n, &e));
	assert_int_equal(n, 2);
	/* several queries of one state */
	ok(db_begin_read(r, &begun, &e));
	assert_true(begun);
	ok(db_get_campaigns(r, a, &list, &n, &e));
	make_world("run");
	ok(db_get_campaigns(r, a, &list, &n, &e));
	assert_int_equal(n, 2);
	db_end_read(r, begun);
	ok(db_get_campaigns(r, a, &list, &n, &e));
	assert_int_equal(n, 3);
	ok(db_begin(db, &e));
	ok(db_begin_read(db, &begun, &e));
	assert_false(begun);
	db_end_read(db, begun);
	ok(db_commit(db, &e));
	db_close(r);
}

/* A file from somebody else may hold triggers: they would run with whatever is stored. */
static void test_triggers(void **state)
{
	struct db *r;

	(void)state;
	make_world("run");
	meddle("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM samples; END");
	refused(db_open(path, DB_WRITE, &r, &e), -EBADMSG, "triggers");
	refused(db_open(path, DB_READ, &r, &e), -EBADMSG, "triggers");
}

/* A small file system of our own, gone with this process. */
static void mount_small(const char *at, const char *options)
{
	if (geteuid() || unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mkdir(at, 0755) || mount("kdelta", at, "tmpfs", 0, options))
		skip();
}

static void test_full_disk(void **state)
{
	char *small = arena_printf(a, "%s/small", dir), *noise = mem_alloc(1 << 20);
	struct world w;
	size_t i, before;
	struct db *r;
	int64_t run, id;
	int code = 0;

	(void)state;
	db_close_ptr(&db);
	for (i = 0; i < 1 << 20; i++)
		noise[i] = (char)(random() >> 7);
	mount_small(small, "size=1m");
	path = arena_printf(a, "%s/k.db", small);
	ok(db_open(path, DB_WRITE, &db, &e));
	w = make_world("run");
	run = make_run(&w, 0, 0, 1, 1);
	for (i = 0; i < 40 && !code; i++)
		code = db_add_raw(db, run, "stdout", NULL, (struct span){noise, 64 << 10}, &id, &e);
	assert_int_equal(code, -ENOSPC);
	said("no space left");
	/* what was committed before is whole, and small things can be read at once */
	before = (size_t)number("SELECT count(*) FROM raws");
	assert_int_equal(before, i - 1);
	assert_finding(NULL);
	/* and in a transaction the full disk undoes all of it */
	ok(db_begin(db, &e));
	while (!(code = db_add_raw(db, run, "both", NULL, (struct span){noise, 64 << 10}, &id, &e)))
		;
	assert_int_equal(code, -ENOSPC);
	err_release(&e);
	refused(db_commit(db, &e), -ECANCELED, "nothing was stored");
	assert_int_equal(number("SELECT count(*) FROM raws"), (int)before);
	db_close_ptr(&db);
	ok(db_open(path, DB_READ, &r, &e));
	db_close(r);
	/* a first start on a full disk */
	for (i = 0; i < 1 << 20; i += 4096)
		if (file_write_atomic(arena_printf(a, "%s/fill%zu", small, i), noise, 4096, &e))
			break;
	err_release(&e);
	refused(db_open(arena_printf(a, "%s/new.db", small), DB_WRITE, &r, &e), -ENOSPC,
		"no space");
	umount(small);
	free(noise);
}

static void check_read_only(const char *file)
{
	struct db_campaign c;
	struct db *r;

	assert_int_equal(db_open(file, DB_WRITE, &r, &e) < 0, 1);
	said("cannot write the database");
	ok(db_open(file, DB_READ, &r, &e));
	ok(db_find_campaign(r, a, NULL, &c, &e));
	assert_string_equal(c.name, "quick");
	db_close(r);
}

/* A database on a read-only file system can be read; '?', '%' and '#' in its path are letters. */
static void test_read_only_folder(void **state)
{
	char *small = arena_printf(a, "%s/read?only%%41#", dir);

	(void)state;
	db_close_ptr(&db);
	mount_small(small, "size=2m");
	path = arena_printf(a, "%s/k.db", small);
	ok(db_open(path, DB_WRITE, &db, &e));
	make_world("run");
	db_close_ptr(&db);
	assert_int_equal(mount("kdelta", small, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
	check_read_only(path);
	umount(small);
}

/* The same by permissions; in a process of its own, since root gives up its rights for good. */
static void test_read_only_permissions(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	make_world("run");
	db_close_ptr(&db);
	assert_int_equal(chmod(dir, 0555), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!geteuid() && setuid(65534))
			_exit(1);
		check_read_only(path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(dir, 0755), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_path),
		TEST(test_path_folders),
		TEST(test_open_settings),
		TEST(test_open_read),
		TEST(test_open_memory),
		TEST(test_open_strangers),
		TEST(test_migrate_bisections),
		TEST(test_migrate),
		TEST(test_migrate_from_zero),
		TEST(test_transactions),
		TEST(test_machine_kernel),
		TEST(test_variants_cases),
		TEST(test_metric_meaning),
		TEST(test_campaign_rows),
		TEST(test_find_campaign),
		TEST(test_cells_totals),
		TEST(test_settle_cells),
		TEST(test_boots_runs),
		TEST(test_samples_series_facts),
		TEST(test_raws),
		TEST(test_summaries),
		TEST(test_units_by_boot),
		TEST(test_units_by_run),
		TEST(test_summary_view),
		TEST(test_summary_precision),
		TEST(test_counts),
		TEST(test_check),
		TEST(test_prune),
		TEST(test_check_broken_page),
		TEST(test_backup),
		TEST(test_two_writers),
		TEST(test_reader_beside_writer),
		TEST(test_triggers),
		TEST(test_full_disk),
		TEST(test_read_only_folder),
		TEST(test_read_only_permissions),
	};

	return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
