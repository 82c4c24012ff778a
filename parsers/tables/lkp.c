// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of LKP, the 0-day robot's `lkp ncompare`:
 *
 *	=========================================================================================
 *	compiler/cpufreq_governor/tbox_group/test/testcase:
 *	  gcc-12/performance/lkp-ivb-2ep2/brk_test/aim9
 *	commit:
 *	  fc21959f74 ("mm: abstract vma_expand() to use vma_merge_struct")
 *	  cacded5e42 ("mm: avoid using vma_merge() for new VMAs")
 *
 *	fc21959f74bc1138 cacded5e42b9609b07b22d80c10
 *	---------------- ---------------------------
 *	         %stddev     %change         %stddev
 *	             \          |                \
 *	   1322908            -5.0%    1256536        aim9.brk_test.ops_per_sec
 *
 * and of its older form of 2013 and 2014, one header per metric, the test behind each row and the
 * metric behind their sum:
 *
 *	      v3.13-rc3       eabb1f89905a0c809d13
 *	---------------  -------------------------
 *	     50307 ~ 1%      -1.5%      49549 ~ 0%  lkp-ib03/micro/ebizzy/400%-5-30
 *	     50307           -1.5%      49549       TOTAL ebizzy.throughput
 *
 * Changes are new / old - 1, whatever is better. The modern form leaves out deviations of 2 % and
 * less. Every row has the metrics of any suite, so each names its own.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "parsers/tables/lkp.h"

/* ---- rows of a finished table ---- */

/* The number of cells most rows have. */
static size_t count_cells(const struct lkp_block *b)
{
	size_t counts[65] = {0}, best = 0, i;
	const struct lkp_row *row;

	array_for_each (row, &b->rows)
		if (!row->damage && row->cells.n < ARRAY_SIZE(counts))
			counts[row->cells.n]++;
	for (i = 1; i < ARRAY_SIZE(counts); i++)
		if (counts[i] && counts[i] >= counts[best])
			best = i;
	return best;
}

/* "lkp-ib03/micro/ebizzy/400%-5-30": a machine before anything that is a suite's metric. */
static bool is_path(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && !memchr(name, '.', (size_t)(slash - name));
}

static bool is_old_form(const struct lkp_block *b)
{
	const struct lkp_row *row;

	array_for_each (row, &b->rows)
		if (row->total || row->tilde || is_path(row->name))
			return true;
	return false;
}

/* What is wrong with a row, or NULL; *change: how its percentages run. */
static const char *row_problem(struct lkp_reader *rd, const struct table *t,
			       const struct lkp_row *row, enum row_change *change)
{
	const char *why = NULL;
	bool checked = false;
	size_t i;

	if (row->damage)
		return row->damage;
	if (row->cells.n != t->n_variants)
		return arena_printf(rd->src->a, "%zu of %zu values", row->cells.n, t->n_variants);
	for (i = 1; !why && i < row->cells.n; i++)
		why = lkp_check_cell(rd->src->a, &row->cells.items[0], &row->cells.items[i],
				     &checked);
	*change = checked ? CHANGE_RAW : CHANGE_UNKNOWN;
	return why;
}

/* "aim7" of "aim7.jobs-per-min" */
static struct span suite_of(const char *metric)
{
	return (struct span){metric, strcspn(metric, ".")};
}

bool table_lkp_headline(const char *benchmark, const char *metric)
{
	struct span suite = suite_of(metric);
	const char *rest = metric + suite.len + (metric[suite.len] == '.');

	return span_is(suite, benchmark) && *rest && strncmp(rest, "time.", 5) &&
	       !strstr(rest, "stddev") && !strstr(rest, "std_dev");
}

static bool is_headline(const struct lkp_reader *rd, const char *benchmark, const char *metric)
{
	struct span suite = suite_of(metric);

	if (!benchmark || !span_is(suite, benchmark))
		return false;
	if (lkp_claims_of(rd, suite))
		return lkp_claim_find(rd, metric) != NULL;
	return table_lkp_headline(benchmark, metric);
}

static bool has_detail(const struct lkp_block *b)
{
	const struct lkp_row *row;

	array_for_each (row, &b->rows)
		if (!row->total && is_path(row->name))
			return true;
	return false;
}

/* "lkp-ib03/micro/ebizzy/400%-5-30": machine, group of tests, suite, parameters. */
static void split_path(struct arena *a, const char *path, const char **benchmark,
		       const struct table_param **params, size_t *n)
{
	struct table_param *list = arena_alloc_array(a, 3, sizeof(*list));
	const char *part[4] = {path}, *end;
	size_t parts = 1, suite;

	for (end = path; parts < 4 && (end = strchr(end, '/')); parts++)
		part[parts] = ++end;
	suite = parts == 4 ? 2 : 1;
	*n = 0;
	*params = list;
	if (parts < 3) {
		list[(*n)++] = (struct table_param){"test", path, true};
		return;
	}
	*benchmark = arena_strndup(a, part[suite], strcspn(part[suite], "/"));
	list[(*n)++] = (struct table_param){"test", part[suite + 1], true};
	list[(*n)++] = (struct table_param){
		"machine", arena_strndup(a, part[0], strcspn(part[0], "/")), false};
	if (suite == 2)
		list[(*n)++] = (struct table_param){
			"group", arena_strndup(a, part[1], strcspn(part[1], "/")), false};
}

/* The metric of detail rows is that of the sum below them. */
static const char *total_metric(const struct lkp_block *b)
{
	const struct lkp_row *row;

	array_for_each (row, &b->rows)
		if (row->total)
			return row->name;
	return NULL;
}

static void add_row(struct lkp_reader *rd, const struct lkp_block *b, struct table *t,
		    const struct lkp_row *row, enum row_change change)
{
	struct table_row *out = ARRAY_PUSH(&t->rows);
	bool detail = !row->total && is_path(row->name);
	size_t i;

	*out = (struct table_row){
		.key = row->total && b->detailed ? arena_printf(rd->src->a, "TOTAL %s", row->name)
						 : row->name,
		.full_metric = detail ? total_metric(b) : row->name,
		.params = b->params,
		.n_params = b->n_params,
		.better = row->better,
		.orientation = change,
		.line = row->line,
		.kind = row->total && b->detailed ? ROW_TOTAL : ROW_VALUE,
	};
	if (detail)
		split_path(rd->src->a, row->name, &out->benchmark, &out->params, &out->n_params);
	if (detail && !out->full_metric)
		out->full_metric = arena_printf(rd->src->a, "%s.value",
						out->benchmark ? out->benchmark : "lkp");
	if (row->cells.items[0].fails)
		out->kind = ROW_FAILS;
	out->headline =
		is_headline(rd, out->benchmark ? out->benchmark : t->benchmark, out->full_metric);
	out->cells = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*out->cells));
	for (i = 0; i < t->n_variants; i++) {
		out->cells[i] = row->cells.items[i].c;
		out->points |= row->cells.items[i].points || row->cells.items[i].fails;
	}
}

static enum deviation_kind deviation_kind(const struct lkp_block *b, bool old)
{
	const struct lkp_row *row;
	const struct lkp_cell *cell;
	bool any = b->percents;

	array_for_each (row, &b->rows)
		array_for_each (cell, &row->cells)
			any |= cell->c.has_deviation;
	return !any ? DEV_NONE : old ? DEV_PERCENT : DEV_HIDDEN;
}

/* ---- which benchmark ---- */

/* Suites that watch a test, rather than being one. */
static bool is_monitor(struct span suite)
{
	static const char *const names[] = {
		"boot-time",   "boot-timings",	"buddyinfo",	 "cpuidle",	"diskstats",
		"dmesg",       "interrupts",	"iostat",	 "kmsg",	"last_state",
		"latency",     "latency_stats", "lock_stat",	 "meminfo",	"mpstat",
		"nfsstat",     "numa-meminfo",	"numa-numastat", "numa-vmstat", "pagetypeinfo",
		"perf-c2c",    "perf-profile",	"perf-sched",	 "perf-stat",	"pmeter",
		"proc-vmstat", "psi",		"sched_debug",	 "slabinfo",	"softirqs",
		"stderr",      "time",		"turbostat",	 "uptime",	"vmstat",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (span_is(suite, names[i]))
			return true;
	return false;
}

static const char *benchmark_of_rows(struct arena *a, const struct lkp_block *b)
{
	const struct lkp_row *row;

	array_for_each (row, &b->rows) {
		struct span suite = suite_of(row->name);

		if (!row->damage && suite.len && !is_path(row->name) && !is_monitor(suite) &&
		    row->name[suite.len] == '.')
			return arena_strndup(a, suite.s, suite.len);
	}
	return NULL;
}

static void find_test(struct lkp_reader *rd, struct lkp_block *b, struct table *t)
{
	const struct lkp_context *c = &b->context;
	struct table_param *none = arena_alloc_array(rd->src->a, 1, sizeof(*none));

	b->params = none;
	b->n_params = 0;
	if (b->detailed)
		return; /* each row names its own */
	t->section = c->section;
	if (c->n_axes) {
		b->params = c->axes;
		b->n_params = c->n_axes;
		t->benchmark = c->benchmark;
	} else if (c->section && is_path(c->section)) {
		split_path(rd->src->a, c->section, &t->benchmark, &b->params, &b->n_params);
	}
	/* an axis line without names says neither where the suite stands, nor what else is what */
	if (c->nameless) {
		*none = (struct table_param){"axes", c->section, false};
		b->params = none;
		b->n_params = 1;
		t->benchmark = NULL;
	}
	if (!t->benchmark)
		t->benchmark = benchmark_of_rows(rd->src->a, b);
	if (!t->benchmark)
		t->benchmark = rd->testcase;
}

/* ---- tables ---- */

static void check_rows(struct lkp_reader *rd, const struct lkp_block *b, struct table *t)
{
	const struct lkp_row *row;

	array_for_each (row, &b->rows) {
		enum row_change change = CHANGE_UNKNOWN;
		const char *why = row_problem(rd, t, row, &change);

		if (why)
			tables_refuse(rd->src->a, rd->src->set, row->line, "row \"%s\" refused: %s",
				      *row->name ? row->name : "?", why);
		else
			add_row(rd, b, t, row, change);
	}
}

int lkp_finish(struct lkp_reader *rd)
{
	struct lkp_block *b = &rd->block;
	struct table t = {.sign = SIGN_RAW};
	bool old;
	int r;

	if (!b->rows.n)
		return 0;
	old = is_old_form(b);
	b->detailed = has_detail(b);
	t.family = old ? "lkp-2014" : "lkp-modern";
	t.line = b->rows.items[0].line;
	t.n_variants = b->context.columns >= 2 ? b->context.columns : count_cells(b);
	t.deviation = deviation_kind(b, old);
	if (t.n_variants < 2) {
		check_rows(rd, b, &t);
		goto out;
	}
	r = lkp_names(rd, &t);
	if (r)
		return r;
	find_test(rd, b, &t);
	check_rows(rd, b, &t);
	if (!t.rows.n)
		goto out;
	if (!t.benchmark)
		t.benchmark = t.rows.items[0].benchmark;
	table_index_repeats(&t);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
out:
	lkp_drop_rows(b);
	return 0;
}

void lkp_drop_rows(struct lkp_block *b)
{
	struct lkp_row *row;

	array_for_each (row, &b->rows)
		ARRAY_FREE(&row->cells);
	ARRAY_FREE(&b->rows);
	b->remarked = 0;
}

/* ---- the text ---- */

/* A row that begins a table of its own under the same header. */
static bool begins_table(const struct lkp_reader *rd, const struct lkp_row *row, bool apart)
{
	const struct lkp_block *b = &rd->block;
	const struct lkp_row *last;

	if (!b->rows.n)
		return false;
	last = &b->rows.items[b->rows.n - 1];
	/* tests of the next metric behind the sum of the last one */
	if (last->total && !row->total && !row->damage && is_path(row->name))
		return true;
	return apart && !b->context.columns && !row->damage && !last->damage &&
	       row->cells.n != last->cells.n;
}

static int add_to_block(struct lkp_reader *rd, const struct lkp_row *row, size_t i, size_t end)
{
	struct lkp_block *b = &rd->block;
	int r = 0;

	if (begins_table(rd, row, i > rd->gap)) {
		r = lkp_finish(rd);
		lkp_drop_rows(b);
	}
	if (!b->rows.n) {
		b->first = i;
		b->lowest = rd->gap;
	}
	*ARRAY_PUSH(&b->rows) = *row;
	b->context.has_rows = true;
	lkp_apply_remark(b, span_of(row->rest));
	for (; i < end; i++)
		rd->src->used[i] = true;
	rd->gap = end;
	return r;
}

static int read_lines(struct lkp_reader *rd)
{
	struct lkp_row row;
	size_t i, end;
	int r = 0;

	for (i = 0; !r && i < rd->src->text->n; i++) {
		if (!rd->src->text->lines[i].text.len || lkp_read_header(rd, &i, &r))
			continue;
		if (lkp_read_row(rd->src->a, rd->src->text, i, rd->block.context.strict, &row,
				 &end)) {
			r = add_to_block(rd, &row, i, end);
			i = end - 1;
			continue;
		}
		lkp_read_words(rd, i);
		lkp_apply_remark(&rd->block, rd->src->text->lines[i].text);
	}
	return r ? r : lkp_finish(rd);
}

static int lkp_read(const struct table_source *src)
{
	struct lkp_reader rd = {
		.src = src,
	};
	int r;

	lkp_read_subject(&rd);
	r = read_lines(&rd);
	if (!r && src->set->tables.n)
		lkp_check_claims(&rd);
	lkp_drop_rows(&rd.block);
	ARRAY_FREE(&rd.block.context.commits);
	ARRAY_FREE(&rd.claims);
	return r;
}

static const struct table_family lkp = {
	.name = "lkp",
	.read = lkp_read,
};
REGISTER(table_family, lkp);
