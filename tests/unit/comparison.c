// SPDX-License-Identifier: GPL-2.0-or-later
/* The builder: database in memory -> comparison. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/comparison.h"

static struct arena *a;
static struct db *db;
static struct err e;
static struct comparison_options opt;
static int64_t machine;

#define ok(call) check_ok((call), #call, __LINE__)
static void check_ok(int r, const char *call, int line)
{
	if (r)
		fail_msg("line %d: %s = %d: %s", line, call, r, err_text(&e));
}

#define near(x, y, by)                                                                             \
	do {                                                                                       \
		if (!(fabs((x) - (y)) <= (by)))                                                    \
			fail_msg("line %d: %s is %.9g, not %.9g", __LINE__, #x, (double)(x),       \
				 (double)(y));                                                     \
	} while (0)

static int setup(void **state)
{
	const struct db_machine m = {"f1", "box", "4 CPUs"};

	(void)state;
	a = arena_new();
	opt = (struct comparison_options){.threshold = 0.01};
	ok(db_open(NULL, DB_MEMORY, &db, &e));
	ok(db_put_machine(db, &m, &machine, &e));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	db_close(db);
	arena_free(a);
	err_release(&e);
	return 0;
}

/* ---- a campaign by hand ---- */

static const char *add_campaign(const char *name, const char *kind, int64_t on)
{
	struct db_campaign c = {
		.name = name,
		.kind = kind,
		.unit = "run",
		.backend = "host",
		.created = 1796000000,
		.machine_id = on,
		.repeat = 5,
	};

	ok(db_add_campaign(db, a, &c, &e));
	return c.id;
}

static int64_t add_variant(const char *campaign, int position, const char *name,
			   const char *identity, bool baseline)
{
	int64_t id;

	ok(db_put_variant(db, identity, 0, "{\"cmdline\":\"nosmt\",\"sysctl\":{\"a.b\":\"1\"}}",
			  &id, &e));
	ok(db_add_campaign_variant(db, campaign, id, position, name, "", baseline, &e));
	return id;
}

static int64_t add_case(const char *campaign, const char *benchmark, int clients)
{
	struct db_case k = {
		.benchmark = benchmark,
		.name = arena_printf(a, "%s/clients=%d", benchmark, clients),
		.params = arena_printf(a, "{\"clients\": %d, \"time\": \"5\"}", clients),
		.swept = "[\"clients\"]",
	};
	int64_t id;

	k.identity = k.name;
	ok(db_put_case(db, &k, &id, &e));
	ok(db_add_campaign_case(db, campaign, id, clients, 1, &e));
	return id;
}

static int64_t add_metric(const char *name, enum direction d, enum mean_kind kind, const char *role)
{
	struct db_metric m = {
		.name = name, .unit = "s", .direction = d, .mean_kind = kind, .role = role};
	int64_t id;

	ok(db_put_metric(db, &m, &id, &e));
	return id;
}

static int64_t add_run(const char *campaign, int64_t variant, int64_t test, int block,
		       const char *outcome, const char *error)
{
	struct db_run r = {
		.campaign = campaign,
		.variant_id = variant,
		.case_id = test,
		.block = block,
		.attempt = 1,
		.started = 1796000000 + block,
		.outcome = outcome,
		.error = error,
		.command = "",
		.parser = "",
		.exit_status = -1,
	};
	int64_t id;

	ok(db_add_run(db, &r, &id, &e));
	return id;
}

static void add_values(const char *campaign, int64_t variant, int64_t test, int64_t metric,
		       const double *x, int n)
{
	int i;

	for (i = 0; i < n; i++)
		ok(db_add_sample(db, add_run(campaign, variant, test, i + 1, "ok", NULL), metric,
				 x[i], &e));
}

static struct comparison *build(const char *campaign)
{
	struct comparison *c;

	ok(comparison_build(db, a, &campaign, 1, &opt, &c, &e));
	return c;
}

static void refused(const char *const *campaigns, size_t n, int code, const char *text)
{
	struct comparison *c;

	assert_int_equal(comparison_build(db, a, campaigns, n, &opt, &c, &e), code);
	if (!strstr(err_text(&e), text))
		fail_msg("\"%s\" does not say \"%s\"", err_text(&e), text);
	err_release(&e);
}

/* ---- 7 kernel builds a side (STATISTICS.md section 10) ---- */

static const double real_a[] = {79.510, 77.303, 79.583, 77.819, 76.763, 78.551, 78.154};
static const double real_b[] = {77.644, 75.855, 78.918, 80.329, 77.773, 74.943, 76.439};
static const double sys_a[] = {278.198, 280.094, 280.696, 281.371, 281.297, 281.392, 280.364};
static const double sys_b[] = {275.827, 275.868, 280.161, 276.706, 276.989, 278.670, 279.424};

static const char *add_builds(void)
{
	const char *c = add_campaign("builds", "import", machine);
	/* the baseline stands second, as in the mail */
	int64_t with = add_variant(c, 1, "w/ patch", "1111aaaa", false);
	int64_t without = add_variant(c, 0, "w/o patch", "2222bbbb", true);
	int64_t k = add_case(c, "kernbench", 100);
	int64_t real = add_metric("kernbench.real", DIR_LOWER, MEAN_AMEAN, "headline");
	int64_t sys = add_metric("kernbench.sys", DIR_LOWER, MEAN_AMEAN, "counter");

	add_values(c, without, k, real, real_a, 7);
	add_values(c, with, k, real, real_b, 7);
	add_values(c, without, k, sys, sys_a, 7);
	add_values(c, with, k, sys, sys_b, 7);
	return c;
}

static void test_builds(void **state)
{
	struct comparison *c = build(add_builds());
	const struct cmp_row *real = &c->tests[0].rows[0], *sys = &c->tests[0].rows[1];

	(void)state;
	assert_string_equal(c->variants[0].name, "w/o patch");
	assert_string_equal(c->variants[0].id, "A");
	assert_string_equal(c->variants[0].settings, "cmdline nosmt; sysctl a.b=1");
	assert_int_equal(c->tests[0].n_rows, 2);
	assert_true(real->headline && real->shown && !sys->headline && sys->shown);
	assert_int_equal(real->cells[1].n, 7);
	near(real->cells[0].mean, 78.240, 0.0005);
	near(real->cells[1].change, -0.0106, 0.00005);
	near(real->cells[1].test.low, -0.0370, 0.00005);
	near(real->cells[1].test.high, 0.0132, 0.00005);
	assert_int_equal(real->cells[1].verdict, VERDICT_UNSURE);
	near(real->cells[1].detectable, 0.029, 0.0005);
	assert_int_equal(real->cells[1].runs_threshold, 59);
	assert_int_equal(real->cells[1].runs_double, 15);
	near(sys->cells[1].change, -0.0101, 0.00005);
	near(sys->cells[1].test.low, -0.0167, 0.00005);
	near(sys->cells[1].test.high, -0.0040, 0.00005);
	near(sys->cells[1].test.p, 0.007, 0.0005);
	near(sys->cells[1].p_adjusted, 2 * sys->cells[1].test.p, 1e-12);
	assert_int_equal(sys->cells[1].verdict, VERDICT_BETTER);
	assert_false(sys->cells[1].small);
	assert_int_equal(sys->cells[1].rounds, 7);
	assert_int_equal(sys->cells[1].rounds_lower, 7);
	/* counters never vote */
	assert_int_equal(c->n_overall, 1);
	assert_int_equal(c->overall[0].rows, 1);
	assert_int_equal(c->overall[0].verdict, VERDICT_UNSURE);
	assert_int_equal(comparison_check(c), VERDICT_UNSURE);
	assert_true(c->tested && c->has_n && c->has_spread && !c->has_published);
}

static void test_baseline_turned(void **state)
{
	struct comparison *c;

	(void)state;
	opt.baseline = "w/ patch";
	c = build(add_builds());
	assert_string_equal(c->variants[0].name, "w/ patch");
	assert_false(c->own_baseline);
	near(c->tests[0].rows[1].cells[1].change, 1 / (1 - 0.010065) - 1, 0.00005);
	assert_int_equal(c->tests[0].rows[1].cells[1].verdict, VERDICT_WORSE);
	assert_true(comparison_is_stored(c)); /* nothing to keep */
	opt.baseline = "w/ patc";
	refused(&c->campaigns[0], 1, -EINVAL, "no variant 'w/ patc'");
}

static void test_threshold(void **state)
{
	struct comparison *c;

	(void)state;
	opt.threshold = 0.02;
	c = build(add_builds());
	assert_int_equal(c->tests[0].rows[1].cells[1].verdict, VERDICT_BETTER);
	assert_true(c->tests[0].rows[1].cells[1].small);
	assert_int_equal(c->overall[0].better, 0);
}

/* ---- failures, missing cells, few values ---- */

static void test_failed_and_missing(void **state)
{
	static const double x[] = {10, 11, 12, 10.5, 11.5};
	const char *id = add_campaign("broken", "run", machine);
	int64_t v[3], metric, k[4];
	struct comparison *c;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		v[i] = add_variant(id, (int)i, arena_printf(a, "v%zu", i),
				   arena_printf(a, "aaaa%zu", i), i == 0);
	for (i = 0; i < 4; i++)
		k[i] = add_case(id, "hackbench", (int)i + 1);
	metric = add_metric("hackbench.time", DIR_LOWER, MEAN_AMEAN, "headline");
	add_values(id, v[0], k[0], metric, x, 5);
	add_values(id, v[1], k[0], metric, x, 4);
	add_run(id, v[1], k[0], 5, "suspect", NULL);
	add_run(id, v[2], k[0], 1, "error", "panic");
	add_run(id, v[0], k[1], 1, "error", "hang"); /* fails everywhere */
	add_run(id, v[1], k[1], 1, "error", "panic");
	add_values(id, v[1], k[2], metric, x, 5); /* the baseline has none */
	c = build(id);				  /* k[3] was never run: no row */
	assert_int_equal(c->n_tests, 3);
	assert_int_equal(c->tests[0].rows[0].cells[1].n, 4);
	assert_int_equal(c->tests[0].rows[0].cells[1].suspect, 1);
	assert_int_equal(c->tests[0].rows[0].cells[1].verdict, VERDICT_UNSURE);
	assert_true(isnan(c->tests[0].rows[0].cells[1].test.p));
	assert_int_equal(c->tests[0].rows[0].cells[2].verdict, VERDICT_FAILED);
	assert_string_equal(c->tests[0].rows[0].cells[2].error, "panic");
	assert_false(c->tests[0].rows[0].cells[2].has_mean);
	assert_string_equal(c->tests[1].rows[0].metric, "hackbench.time");
	assert_int_equal(c->tests[1].rows[0].cells[0].verdict, VERDICT_FAILED);
	assert_int_equal(c->tests[2].rows[0].cells[1].verdict, VERDICT_MISSING);
	assert_int_equal(c->tests[2].rows[0].cells[2].verdict, VERDICT_MISSING);
	assert_false(c->tests[2].rows[0].cells[1].has_change);
	assert_int_equal(c->overall[0].verdict, VERDICT_INCOMPLETE);
	assert_int_equal(comparison_check(c), VERDICT_UNSURE);
	assert_true(c->n_warnings >= 4);
}

static void test_prediction(void **state)
{
	static const double clean[] = {158.574, 157.647, 157.832}, patched[] = {160.072};
	const char *id = add_campaign("few", "import", machine);
	int64_t v0 = add_variant(id, 0, "clean", "aaaa0000", true);
	int64_t v1 = add_variant(id, 1, "patched", "bbbb0000", false);
	int64_t k = add_case(id, "kernbench", 64);
	int64_t m = add_metric("kernbench.real", DIR_LOWER, MEAN_AMEAN, "headline");
	const struct cmp_cell *cell;
	struct comparison *c;

	(void)state;
	add_values(id, v0, k, m, clean, 3);
	add_values(id, v1, k, m, patched, 1);
	c = build(id);
	cell = &c->tests[0].rows[0].cells[1];
	assert_true(cell->has_prediction);
	near(cell->prediction.low, 155.58, 0.005);
	near(cell->prediction.high, 160.46, 0.005);
	assert_int_equal(cell->verdict, VERDICT_UNSURE);
	assert_true(cell->runs_needed >= 5);
	assert_false(c->tested);
}

/* ---- published summaries ---- */

static void add_summary(const char *campaign, int64_t v, int64_t k, int64_t m, double mean,
			double change, const char *sign)
{
	struct db_summary s = {
		.variant_id = v,
		.case_id = k,
		.metric_id = m,
		.has_mean = mean > 0,
		.mean = mean,
		.mean_text = mean > 0 ? arena_printf(a, "%.2f", mean) : "",
		.mean_kind = "",
		.deviation_kind = "",
		.has_change = true,
		.change = change,
		.change_sign = sign,
	};

	ok(db_add_summary(db, campaign, &s, &e));
}

static void test_published(void **state)
{
	static const struct {
		enum direction d;
		const char *sign;
		double mean, published; /* of B; A has 100.00 */
		double change;		/* ours; NAN: none */
		bool kept;
		double better; /* the source's, + is better; NAN: unknown */
	} rows[] = {
		{DIR_HIGHER, "better", 112.00, 12.01, 0.1201, true, 0.1201},
		{DIR_HIGHER, "raw", 112.00, 12.01, 0.1201, true, 0.1201},
		{DIR_LOWER, "raw", 88.00, -12.01, -0.1201, true, 0.1201},
		/* better-positive times: the change is that of the values */
		{DIR_LOWER, "better", 88.00, 12.01, -0.12, false, 0.1201},
		{DIR_LOWER, "better", 0, 12.01, -0.1201, true, 0.1201},
		/* nobody knows which way it was signed */
		{DIR_UNKNOWN, "better", 112.00, 12.01, 0.12, false, NAN},
	};
	const char *id = add_campaign("posted", "import", 0);
	int64_t v0 = add_variant(id, 0, "old", "aaaa0001", true);
	int64_t v1 = add_variant(id, 1, "new", "bbbb0001", false);
	int64_t k = add_case(id, "posted", 1);
	struct comparison *c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t m = add_metric(arena_printf(a, "posted.m%zu", i), rows[i].d, MEAN_HMEAN,
				       "headline");

		add_summary(id, v0, k, m, 100, 0, rows[i].sign);
		add_summary(id, v1, k, m, rows[i].mean, rows[i].published, rows[i].sign);
	}
	c = build(id);
	assert_int_equal(c->tests[0].n_rows, ARRAY_SIZE(rows));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cmp_cell *cell = &c->tests[0].rows[i].cells[1];

		assert_true(cell->has_change);
		near(cell->change, rows[i].change, 1e-9);
		assert_int_equal(cell->published, rows[i].kept);
		assert_int_equal(isnan(cell->source_better), isnan(rows[i].better));
		if (!isnan(rows[i].better))
			near(cell->source_better, rows[i].better, 1e-9);
		assert_int_equal(cell->verdict, VERDICT_UNSURE);
		assert_string_equal(cell->test.test, "none");
	}
	assert_false(c->tested || c->has_n || c->has_spread);
	assert_string_equal(c->missing[0], "runs");
	assert_string_equal(c->missing[1], "spread");
	assert_string_equal(c->tests[0].rows[0].cells[1].mean_text, "112.00");
}

/* Against another baseline the published percentages mean nothing. */
static void test_published_turned(void **state)
{
	const char *id = add_campaign("posted", "import", 0);
	int64_t v0 = add_variant(id, 0, "old", "aaaa0002", true);
	int64_t v1 = add_variant(id, 1, "new", "bbbb0002", false);
	int64_t k = add_case(id, "posted", 2);
	int64_t m = add_metric("posted.m", DIR_HIGHER, MEAN_HMEAN, "headline");
	struct comparison *c;

	(void)state;
	add_summary(id, v0, k, m, 100, 0, "better");
	add_summary(id, v1, k, m, 125, 25.01, "better");
	opt.baseline = "B";
	c = build(id);
	assert_string_equal(c->variants[0].name, "new");
	near(c->tests[0].rows[0].cells[1].change, -0.2, 1e-9);
	assert_false(c->tests[0].rows[0].cells[1].published);
}

/* ---- names, letters, joins, contrasts ---- */

static void test_letters(void **state)
{
	static const double x[] = {1, 2, 3};
	const char *id = add_campaign("many", "run", machine);
	int64_t k = add_case(id, "tbench", 1);
	int64_t m = add_metric("tbench.throughput", DIR_HIGHER, MEAN_HMEAN, "headline");
	static const char *const contrasts[] = {"AB/v3", "v3/AB"};
	struct comparison *c;
	int i;

	(void)state;
	for (i = 0; i < 30; i++)
		add_values(id,
			   add_variant(id, i, i == 29 ? "v3" : arena_printf(a, "v%d", i),
				       arena_printf(a, "%08x", 0xc0de0000 + i), i == 0),
			   k, m, x, 3);
	opt.contrasts = contrasts;
	opt.n_contrasts = 1;
	/* v3 twice: equal names, different identities */
	refused(&id, 1, -EINVAL, "--contrast AB/v3");
	opt.n_contrasts = 0;
	c = build(id);
	assert_string_equal(c->variants[25].id, "Z");
	assert_string_equal(c->variants[26].id, "AA");
	assert_string_equal(c->variants[27].id, "AB");
	assert_string_equal(c->variants[3].name, "v3@c0de0003");
	assert_string_equal(c->variants[29].name, "v3@c0de001d");
	assert_string_equal(c->variants[4].name, "v4");
}

static void test_contrast(void **state)
{
	static const double x[] = {10, 10.01, 10.02, 10.03, 10.04};
	static const double y[] = {20, 20.1, 20.2, 20.3, 20.4};
	static const char *const contrasts[] = {"C/B"};
	const char *id = add_campaign("contrast", "run", machine);
	int64_t k = add_case(id, "tbench", 1);
	int64_t m = add_metric("tbench.throughput", DIR_HIGHER, MEAN_HMEAN, "headline");
	struct comparison *plain, *c;
	const struct cmp_row *row;

	(void)state;
	add_values(id, add_variant(id, 0, "a", "0000000a", true), k, m, x, 5);
	add_values(id, add_variant(id, 1, "b", "0000000b", false), k, m, x, 5);
	add_values(id, add_variant(id, 2, "c", "0000000c", false), k, m, y, 5);
	plain = build(id);
	opt.contrasts = contrasts;
	opt.n_contrasts = 1;
	c = build(id);
	row = &c->tests[0].rows[0];
	near(row->contrasts[0].change, row->cells[2].mean / row->cells[1].mean - 1, 1e-12);
	assert_int_equal(row->contrasts[0].verdict, VERDICT_BETTER);
	/* a further question changes no verdict */
	near(row->cells[2].p_adjusted, plain->tests[0].rows[0].cells[2].p_adjusted, 1e-15);
	assert_int_equal(c->overall[0].verdict, VERDICT_SAME);
	assert_int_equal(c->overall[1].verdict, VERDICT_BETTER);
	assert_int_equal(comparison_check(c), VERDICT_SAME);
}

static void test_joined(void **state)
{
	static const double x[] = {10, 11, 12};
	const struct db_machine other = {"f2", "other", ""};
	const char *ids[2], *apart[2];
	int64_t m, far, i, k, shared, odd;
	struct comparison *c;

	(void)state;
	m = add_metric("tbench.throughput", DIR_HIGHER, MEAN_HMEAN, "headline");
	ok(db_put_machine(db, &other, &far, &e));
	for (i = 0; i < 2; i++) {
		ids[i] = add_campaign(i ? "second" : "first", "run", machine);
		shared = add_variant(ids[i], 0, "base", "5ba5e000", true);
		odd = add_variant(ids[i], 1, "new", i ? "0dd00001" : "0dd00000", false);
		k = add_case(ids[i], "tbench", 1);
		add_values(ids[i], shared, k, m, x, 3);
		add_values(ids[i], odd, k, m, x, 3);
	}
	ok(comparison_build(db, a, ids, 2, &opt, &c, &e));
	assert_int_equal(c->n_variants, 3);
	assert_int_equal(c->tests[0].rows[0].cells[0].n, 6);
	assert_string_equal(c->variants[1].name, "new@0dd00000");
	assert_string_equal(c->variants[2].name, "new@0dd00001");
	assert_non_null(strstr(c->warnings[0], "not interleaved"));
	apart[0] = ids[0];
	apart[1] = add_campaign("third", "run", far);
	refused(apart, 2, -EINVAL, "different machines");
	apart[1] = add_campaign("fourth", "import", 0);
	refused(apart, 2, -EINVAL, "not known");
	refused(&apart[1], 1, -ENOENT, "nothing to compare");
}

/* ---- verdicts kept for the view ---- */

static void test_stored(void **state)
{
	const char *id = add_builds();
	struct comparison *c = build(id);
	struct db_view *list;
	size_t n, i, found = 0;

	(void)state;
	assert_false(comparison_is_stored(c));
	ok(comparison_store(db, c, &e));
	assert_true(comparison_is_stored(build(id)));
	ok(db_get_view(db, a, id, NULL, &list, &n, &e));
	for (i = 0; i < n; i++) {
		if (!list[i].verdict)
			continue;
		found++;
		assert_string_equal(list[i].variant, "w/ patch");
		assert_string_equal(list[i].verdict,
				    strcmp(list[i].metric, "kernbench.sys") ? "unsure" : "better");
	}
	assert_int_equal(found, 2);
	opt.threshold = 0.02;
	assert_false(comparison_is_stored(build(id)));
}

static void test_orient(void **state)
{
	(void)state;
	near(comparison_orient(DIR_HIGHER, -0.2), -0.2, 0);
	near(comparison_orient(DIR_LOWER, -0.2), 0.25, 1e-15);
	near(comparison_orient(DIR_LOWER, 0.25), -0.2, 1e-15);
	assert_true(isnan(comparison_orient(DIR_UNKNOWN, 0.1)));
	assert_true(isnan(comparison_orient(DIR_DEPENDS, 0.1)));
}

/* ---- flip mode ---- */

/* A machine that slows down by 40 % while B is 1 % faster in every pair. */
static const char *add_pairs(const char *name, bool flip, double wobble)
{
	const char *c = add_campaign(name, "run", machine);
	int64_t base = add_variant(c, 0, "off", "abcd0001", true);
	int64_t with = add_variant(c, 1, "on", "abcd0002", false);
	int64_t k = add_case(c, "hackbench", 7);
	int64_t time = add_metric("hackbench.time", DIR_LOWER, MEAN_AMEAN, "headline");
	double x[12], y[12];
	int i;

	for (i = 0; i < 12; i++) {
		x[i] = 10 + 0.4 * i;
		y[i] = x[i] * (0.98 + wobble * (i * 5 % 12 - 5.5));
	}
	if (flip)
		ok(db_set_fact(db, "campaign", c, "order", "flip", &e));
	add_values(c, base, k, time, x, 12);
	/* the third pair lacks its other half */
	y[2] = 50;
	add_values(c, with, k, time, y, 2);
	for (i = 3; i < 12; i++)
		ok(db_add_sample(db, add_run(c, with, k, i + 1, "ok", NULL), time, y[i], &e));
	return c;
}

static void test_pairs(void **state)
{
	const char *flip = add_pairs("flip", true, 0.001), *blocks = add_pairs("noflip", false, 0.001);
	const char *both[] = {flip, blocks};
	struct comparison *c = build(flip);
	const struct cmp_row *row = &c->tests[0].rows[0];
	const struct cmp_cell *cell = &row->cells[1];
	double width = cell->test.high - cell->test.low;

	(void)state;
	assert_true(c->paired);
	assert_true(cell->paired);
	assert_string_equal(cell->test.test, "sr");
	assert_int_equal(cell->n, 11);
	assert_int_equal(row->cells[0].n, 11);
	assert_int_equal(row->broken, 1);
	assert_int_equal(cell->verdict, VERDICT_BETTER);
	assert_true(fabs(cell->test.shift + 0.02) < 0.003);
	assert_true(fabs(cell->change - (cell->mean / row->cells[0].mean - 1)) < 1e-12);
	assert_true(cell->test.p < 0.002);
	assert_non_null(strstr(c->warnings[0], "pairs within one boot (flip): the result holds for "
					       "this boot; boot-to-boot effects are not sampled"));
	assert_non_null(strstr(c->warnings[1], "1 value without the other half of the pair"));
	c = build(blocks);
	cell = &c->tests[0].rows[0].cells[1];
	assert_false(c->paired);
	assert_string_equal(cell->test.test, "mw");
	assert_int_equal(cell->verdict, VERDICT_UNSURE);
	assert_true(cell->test.high - cell->test.low > 5 * width);
	refused(both, 2, -EINVAL, "one is of pairs (order: flip), the other of blocks");
}

/* Pairs learn from pairs, as ratios, and not from blocks. */
static void test_pair_history(void **state)
{
	struct comparison *c;
	const struct cmp_row *row;

	(void)state;
	add_pairs("flip", true, 0.001);
	add_pairs("noflip", false, 0.001);
	c = build(add_pairs("flip", true, 0.001));
	row = &c->tests[0].rows[0];
	assert_true(row->history.log.df >= 10);
	assert_true(sqrt(row->history.log.value) < 0.006);
	c = build(add_pairs("noflip", false, 0.001));
	assert_true(sqrt(c->tests[0].rows[0].history.log.value) > 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_builds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pair_history, setup, teardown),
		cmocka_unit_test_setup_teardown(test_baseline_turned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threshold, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_and_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prediction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_published, setup, teardown),
		cmocka_unit_test_setup_teardown(test_published_turned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_letters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_contrast, setup, teardown),
		cmocka_unit_test_setup_teardown(test_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_orient, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
