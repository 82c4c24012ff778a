// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: test cases, their rows, the values and history of each cell. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build.h"

static int item_compare(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->test != b->test)
		return a->test < b->test ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->variant != b->variant)
		return a->variant < b->variant ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* First item at or after a key; items are sorted. */
static const struct item *items_from(const struct builder *b, int64_t test, int64_t metric,
				     int64_t variant)
{
	struct item key = {.test = test, .metric = metric, .variant = variant, .block = -1};
	size_t low = 0, high = b->items.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (item_compare(&b->items.items[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return b->items.items + low;
}

/*
 * The published percentage as new/old - 1: printed so, or where the direction tells how it was
 * signed; `better` always keeps it with + for better. Points are no percentage: the change of such
 * a row comes from its values.
 */
static void cell_take_change(struct cmp_cell *cell, const struct db_summary *s, enum direction d)
{
	double p = s->change / 100;
	bool raw = str_equal(s->change_sign, "raw");

	if (str_equal(s->change_sign, "points"))
		return;
	if (d != DIR_HIGHER && d != DIR_LOWER) {
		cell->change = p;
		cell->has_change = cell->published = raw;
		return;
	}
	cell->source_better = raw && d == DIR_LOWER ? -p : p;
	/* a better-positive percentage of times is -(new/old - 1): ours comes from the values */
	if (!raw && d == DIR_LOWER && s->has_mean)
		return;
	cell->change = !raw && d == DIR_LOWER ? -p : p;
	cell->has_change = cell->published = true;
}

static void cell_take_summary(struct builder *b, struct cmp_cell *cell, struct cmp_row *row,
			      const struct db_summary *s)
{
	cell->n = s->n;
	cell->has_mean = s->has_mean;
	cell->mean = s->mean;
	cell->mean_text = s->mean_text && *s->mean_text ? s->mean_text : NULL;
	cell->source_mark = s->mark;
	cell->cv_hidden = str_equal(s->deviation_kind, "hidden");
	if (s->mean_kind && *s->mean_kind)
		mean_kind_parse(s->mean_kind, &row->mean_kind);
	if (s->has_deviation && str_equal(s->deviation_kind, "stddev"))
		cell->stddev = s->deviation;
	else if (s->has_deviation &&
		 (str_equal(s->deviation_kind, "percent") || str_equal(s->deviation_kind, "cv")))
		cell->stddev = s->has_mean ? s->deviation / 100 * s->mean : NAN;
	if (s->has_mean && s->mean > 0)
		cell->cv = cell->stddev / s->mean;
	else if (s->has_deviation && !s->has_mean && str_equal(s->deviation_kind, "percent"))
		cell->cv = s->deviation / 100;
	if (s->has_change && b->c->own_baseline && cell->variant > 0)
		cell_take_change(cell, s, row->direction);
}

static void cell_take_values(struct builder *b, struct cmp_cell *cell, const struct item *it,
			     size_t n)
{
	double *values = arena_alloc_array(b->a, n, sizeof(*values));
	int *blocks = arena_alloc_array(b->a, n, sizeof(*blocks));
	size_t i;

	for (i = 0; i < n; i++) {
		values[i] = it[i].value;
		blocks[i] = it[i].block;
	}
	cell->values = values;
	cell->blocks = blocks;
	cell->n = (int)n;
}

static void cell_take_counts(struct builder *b, struct cmp_cell *cell, int64_t test,
			     int64_t variant)
{
	const struct db_count *k;

	array_for_each (k, &b->counts) {
		if (k->case_id != test || k->variant_id != variant)
			continue;
		cell->failed += k->failed;
		cell->suspect += k->suspect;
		cell->runs += k->ok + k->suspect + k->failed;
		if (k->last_error)
			cell->error = k->last_error;
	}
}

static void build_cell(struct builder *b, struct cmp_cell *cell, struct cmp_row *row, int64_t test,
		       int64_t metric)
{
	int64_t variant = b->c->variants[cell->variant].db_id;
	const struct item *it = items_from(b, test, metric, variant);
	const struct item *end = items_from(b, test, metric, variant + 1);

	cell->stddev = cell->cv = cell->source_better = NAN;
	if (it < end && it->summary)
		cell_take_summary(b, cell, row, it->summary);
	else if (it < end)
		cell_take_values(b, cell, it, (size_t)(end - it));
	cell_take_counts(b, cell, test, variant);
}

/* How many values of a block a cell has. */
static int block_count(const struct cmp_cell *cell, int block)
{
	int i, n = 0;

	for (i = 0; i < cell->n; i++)
		n += cell->blocks[i] == block;
	return n;
}

/* Flip mode: keeps the values that have one partner among the other cells. Returns how many. */
static int cell_keep_pairs(struct arena *a, const struct cmp_cell *cell,
			   const struct cmp_cell *others, size_t n_others, struct cmp_cell *kept)
{
	double *values = arena_alloc_array(a, (size_t)cell->n + 1, sizeof(*values));
	int *blocks = arena_alloc_array(a, (size_t)cell->n + 1, sizeof(*blocks)), n = 0, i;
	size_t k;

	for (i = 0; i < cell->n; i++) {
		bool paired = false;

		for (k = 0; k < n_others; k++)
			paired |= block_count(&others[k], cell->blocks[i]) == 1;
		if (!paired || block_count(cell, cell->blocks[i]) != 1)
			continue;
		values[n] = cell->values[i];
		blocks[n++] = cell->blocks[i];
	}
	*kept = *cell;
	kept->values = n ? values : NULL;
	kept->blocks = blocks;
	kept->n = n;
	return cell->n - n;
}

/* A half without its other is no value: pairs are with the baseline. */
static void row_keep_pairs(struct builder *b, struct cmp_row *row)
{
	size_t n = b->c->n_variants, i;
	struct cmp_cell *kept = arena_alloc_array(b->a, n, sizeof(*kept));

	if (!row->cells[0].values || n < 2)
		return;
	row->broken += cell_keep_pairs(b->a, &row->cells[0], &row->cells[1], n - 1, &kept[0]);
	for (i = 1; i < n; i++)
		row->broken += cell_keep_pairs(b->a, &row->cells[i], &row->cells[0], 1, &kept[i]);
	memcpy(row->cells, kept, n * sizeof(*kept));
}

static void build_cells(struct builder *b, struct cmp_row *row, int64_t test, int64_t metric)
{
	size_t i;

	row->cells = arena_alloc_array(b->a, b->c->n_variants, sizeof(*row->cells));
	row->contrasts = arena_alloc_array(b->a, b->c->n_contrasts, sizeof(*row->contrasts));
	for (i = 0; i < b->c->n_variants; i++) {
		row->cells[i].variant = (int)i;
		build_cell(b, &row->cells[i], row, test, metric);
	}
	if (b->c->paired)
		row_keep_pairs(b, row);
}

static bool row_is_empty(const struct builder *b, const struct cmp_row *row)
{
	size_t i;

	for (i = 0; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->n || cell->has_mean || cell->has_change || cell->failed)
			return false;
	}
	return true;
}

/* ---- history ---- */

static int unit_compare(const struct db_unit *u, int64_t test, int64_t metric)
{
	if (u->case_id != test)
		return u->case_id < test ? -1 : 1;
	return (u->metric_id > metric) - (u->metric_id < metric);
}

/* First old value at or after a case and metric. */
static size_t history_from(const struct builder *b, int64_t test, int64_t metric)
{
	size_t low = 0, high = b->n_history;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (unit_compare(&b->history[mid], test, metric) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Ratios of the pairs of older campaigns, one group per campaign and variant: to the variant of the
 * lowest id, whichever was the baseline, as the spread of a log ratio has no sign.
 */
static void build_pair_history(struct builder *b, struct cmp_row *row, const struct db_unit *u,
			       size_t n)
{
	struct stats_group *groups = arena_alloc_array(b->a, n, sizeof(*groups));
	double *ratios = arena_alloc_array(b->a, n, sizeof(*ratios));
	const struct db_unit *last = NULL;
	size_t n_groups = 0, used = 0, from = 0, i, k;

	for (i = 0; i < n; i++) {
		if (i && u[i].campaign != u[i - 1].campaign)
			from = i;
		if (u[i].variant_id == u[from].variant_id)
			continue;
		for (k = from; u[k].variant_id == u[from].variant_id; k++)
			if (u[k].block == u[i].block)
				break;
		if (u[k].variant_id != u[from].variant_id || !(u[k].value > 0))
			continue;
		if (!last || u[i].variant_id != last->variant_id ||
		    u[i].campaign != last->campaign)
			groups[n_groups++] = (struct stats_group){&ratios[used], 0};
		ratios[used++] = u[i].value / u[k].value;
		groups[n_groups - 1].n++;
		last = &u[i];
	}
	row->past = groups;
	row->n_past = n_groups;
	row->history.log = stats_prior_of_history(groups, n_groups, true);
	row->history.raw = (struct stats_variance){NAN, 0};
}

/* The old values of a row, one group per campaign and variant. */
static void build_history(struct builder *b, struct cmp_row *row, int64_t test, int64_t metric)
{
	size_t start = history_from(b, test, metric), n = history_from(b, test, metric + 1) - start;
	struct stats_group *groups = arena_alloc_array(b->a, n, sizeof(*groups));
	double *values = arena_alloc_array(b->a, n, sizeof(*values));
	const struct db_unit *u = b->history + start;
	size_t n_groups = 0, i;

	if (b->c->paired) {
		build_pair_history(b, row, u, n);
		return;
	}
	for (i = 0; i < n; i++) {
		values[i] = u[i].value;
		if (!i || u[i].campaign != u[i - 1].campaign ||
		    u[i].variant_id != u[i - 1].variant_id)
			groups[n_groups++] = (struct stats_group){&values[i], 0};
		groups[n_groups - 1].n++;
	}
	row->past = groups;
	row->n_past = n_groups;
	row->history.log = stats_prior_of_history(groups, n_groups, true);
	row->history.raw = stats_prior_of_history(groups, n_groups, false);
}

/* ---- tests ---- */

static const char *params_value(struct arena *a, const json_t *params, const char *name)
{
	const json_t *v = json_object_get(params, name);

	if (json_is_string(v))
		return arena_strdup(a, json_string_value(v));
	if (json_is_integer(v))
		return arena_printf(a, "%lld", (long long)json_integer_value(v));
	return json_is_real(v) ? arena_printf(a, "%g", json_real_value(v)) : "";
}

static void build_params(struct builder *b, struct cmp_test *t, const struct db_case *k)
{
	json_t *params = json_loads(k->params, 0, NULL), *swept = json_loads(k->swept, 0, NULL);
	const json_t *name, *value;
	const char *key;
	size_t i;

	t->swept = arena_alloc_array(b->a, json_array_size(swept), sizeof(*t->swept));
	json_array_foreach(swept, i, name)
	{
		struct cmp_param *p;

		if (!json_is_string(name))
			continue;
		p = &t->swept[t->n_swept++];
		p->name = arena_strdup(b->a, json_string_value(name));
		p->value = params_value(b->a, params, p->name);
		json_object_del(params, p->name);
	}
	t->fixed = arena_alloc_array(b->a, json_object_size(params), sizeof(*t->fixed));
	json_object_foreach(params, key, value) if (json_is_string(value)) t->fixed[t->n_fixed++] =
		(struct cmp_param){arena_strdup(b->a, key),
				   arena_strdup(b->a, json_string_value(value))};
	json_decref(params);
	json_decref(swept);
}

static const struct db_metric *metric_by_id(const struct builder *b, int64_t id)
{
	size_t i;

	for (i = 0; i < b->n_metrics; i++)
		if (b->metrics[i].id == id)
			return &b->metrics[i];
	return NULL;
}

/* Counters that a benchmark's headline cannot be read without. */
static bool row_is_shown(const struct db_metric *m)
{
	static const char *const beside[] = {"kernbench.user", "kernbench.sys", "*.kinsn_switches"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(beside); i++)
		if (str_glob(beside[i], m->name))
			return true;
	return str_equal(m->role, "headline");
}

enum { PASS_HEADLINES, PASS_BESIDE, PASS_COUNTERS, N_PASSES };

static size_t row_pass(const struct db_metric *m)
{
	if (str_equal(m->role, "headline"))
		return PASS_HEADLINES;
	return row_is_shown(m) ? PASS_BESIDE : PASS_COUNTERS;
}

static bool is_foreign(const char *metric, const char *benchmark)
{
	size_t n = strlen(benchmark);

	return strncmp(metric, benchmark, n) || metric[n] != '.';
}

static void add_row(struct builder *b, struct cmp_test *t, const struct db_metric *m)
{
	struct cmp_row *row = &t->rows[t->n_rows];

	*row = (struct cmp_row){
		.metric = m->name,
		.unit = m->unit ? m->unit : "",
		.description = m->description ? m->description : "",
		.events = str_equal(m->unit, "runs"),
		.direction = m->direction,
		.mean_kind = m->mean_kind,
		.foreign = is_foreign(m->name, t->benchmark),
		.headline = str_equal(m->role, "headline"),
		.shown = row_is_shown(m),
		.topic = m->topic ? m->topic : "",
		.reason = m->reason ? m->reason : "",
		.deterministic = m->deterministic,
		.db_id = m->id,
	};
	floor_take(b, row);
	build_cells(b, row, t->db_id, m->id);
	if (row_is_empty(b, row))
		return;
	build_history(b, row, t->db_id, m->id);
	grounds_take(b, t, row);
	t->n_rows++;
}

/*
 * Metrics of a case, in the order they were stored. A case where every run failed has none: it
 * takes the headlines of its benchmark, so that the failure is a row and not a silence.
 */
static size_t case_metrics(const struct builder *b, const struct cmp_test *t,
			   const struct db_metric **list)
{
	const struct item *it = items_from(b, t->db_id, INT64_MIN, INT64_MIN);
	const struct item *end = items_from(b, t->db_id + 1, INT64_MIN, INT64_MIN);
	size_t n = 0, i, len = strlen(t->benchmark);

	for (; it < end; it = items_from(b, t->db_id, it->metric + 1, INT64_MIN))
		if ((list[n] = metric_by_id(b, it->metric)))
			n++;
	for (i = 0; !n && i < b->n_metrics; i++)
		if (!strncmp(b->metrics[i].name, t->benchmark, len) &&
		    b->metrics[i].name[len] == '.' && str_equal(b->metrics[i].role, "headline"))
			list[n++] = &b->metrics[i];
	return n;
}

static void build_rows(struct builder *b, struct cmp_test *t)
{
	const struct db_metric **list;
	struct db_metric nothing = {
		.name = t->benchmark, .direction = DIR_UNKNOWN, .role = "headline"};
	size_t n, i, pass;

	list = arena_alloc_array(b->a, b->n_metrics + 1, sizeof(struct db_metric *));
	n = case_metrics(b, t, list);
	t->rows = arena_alloc_array(b->a, n + 2, sizeof(*t->rows));
	for (pass = 0; pass < (b->opt->counters ? N_PASSES : PASS_COUNTERS); pass++)
		for (i = 0; i < n; i++)
			if (row_pass(list[i]) == pass)
				add_row(b, t, list[i]);
	/* a posted table of metrics that nobody described: what is there is what is meant */
	if (!t->n_rows) {
		for (i = 0; i < n; i++)
			add_row(b, t, list[i]);
		for (i = 0; i < t->n_rows; i++)
			t->rows[i].shown = true;
	}
	adjust_counts(b, t);
	/* failed before any metric of this benchmark was ever stored */
	if (!n)
		add_row(b, t, arena_copy(b->a, &nothing, 1, sizeof(nothing)));
}

void build_tests(struct builder *b)
{
	struct comparison *c = b->c;
	const struct db_case *k;

	if (b->items.n)
		qsort(b->items.items, b->items.n, sizeof(*b->items.items), item_compare);
	executions_sort(b);
	c->tests = arena_alloc_array(b->a, b->cases.n, sizeof(*c->tests));
	array_for_each (k, &b->cases) {
		struct cmp_test *t = &c->tests[c->n_tests];

		*t = (struct cmp_test){
			.benchmark = k->benchmark,
			.name = k->name,
			.description = k->description ? k->description : "",
			.command = k->command ? k->command : "",
			.db_id = k->id,
		};
		build_params(b, t, k);
		build_rows(b, t);
		executions_take(b, t);
		if (t->n_rows)
			c->n_tests++;
	}
}
