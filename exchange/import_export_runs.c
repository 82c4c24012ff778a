// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runs of a report that is read back: as the report lists them, in their order, or made from
 * the places of its values. All metrics of one place are samples of one run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/num.h"
#include "exchange/import_export.h"

/* Block of the k-th value of a cell, and its place among the values of the block. */
void export_place(const json_t *cell, size_t k, int *block, int *nth)
{
	const json_t *blocks = json_object_get(cell, "blocks");
	json_int_t b = json_integer_value(json_array_get(blocks, k));

	*nth = k && *block == (int)b ? *nth + 1 : 0;
	*block = json_is_array(blocks) ? (int)b : (int)k + 1;
}

static int plan_values(struct restore *r, size_t test, size_t variant, const json_t *row,
		       const json_t *cell, void *data)
{
	const json_t *values = json_object_get(cell, "values");
	const json_t *blocks = json_object_get(cell, "blocks");
	size_t k, n = json_array_size(values);
	int block = 0, nth = 0;

	(void)data;
	if (blocks && json_array_size(blocks) != n)
		return export_complain(r, "not as many blocks as values",
				       export_text(row, "metric"));
	for (k = 0; k < n; k++) {
		if (!json_is_number(json_array_get(values, k)))
			return export_complain(r, "a value that is no number",
					       export_text(row, "metric"));
		export_place(cell, k, &block, &nth);
		*ARRAY_PUSH(&r->runs) = (struct planned_run){
			.cell = test * r->n_variants + variant, .block = block, .nth = nth};
	}
	return 0;
}

/* By place; those of one place by order. */
static int place_compare(const void *x, const void *y)
{
	const struct planned_run *a = x, *b = y;

	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->nth > b->nth) - (a->nth < b->nth);
}

static int said_compare(const void *x, const void *y)
{
	const struct planned_run *a = x, *b = y;

	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Runs of one place that are no good are told apart by a negative number. */
static void plan_failed(struct restore *r, size_t cell, const json_t *said, const char *outcome,
			const char *error)
{
	*ARRAY_PUSH(&r->runs) = (struct planned_run){
		.cell = cell,
		.block = export_integer(said, "block"),
		.nth = -1 - (int)r->runs.n,
		.order = export_integer(said, "order"),
		.said = said,
		.outcome = outcome,
		.error = *error ? error : NULL,
	};
}

static int plan_listed(struct restore *r, size_t test, const json_t *list)
{
	const json_t *run;
	size_t i;

	json_array_foreach(list, i, run)
	{
		const char *outcome = export_text(run, "outcome");
		int v = export_variant(r, run);
		size_t cell = test * r->n_variants + (size_t)v;

		if (v < 0)
			return export_complain(r, "a run of no variant",
					       export_text(run, "variant"));
		if (!strcmp(outcome, "ok"))
			*ARRAY_PUSH(&r->said) =
				(struct planned_run){.cell = cell,
						     .block = export_integer(run, "block"),
						     .order = export_integer(run, "order"),
						     .said = run};
		else
			plan_failed(r, cell, run,
				    strcmp(outcome, "suspect") && strcmp(outcome, "partial")
					    ? "error"
					    : outcome,
				    export_text(run, "error"));
	}
	return 0;
}

/* Where no runs are listed, their numbers stand in every cell of the test case. */
static int plan_counts(struct restore *r, size_t test, size_t variant, const json_t *row,
		       const json_t *cell, void *data)
{
	int failed = MIN(export_integer(cell, "failed"), 10000);
	int suspect = MIN(export_integer(cell, "suspect"), 10000);

	(void)row;
	(void)data;
	while (failed-- > 0)
		plan_failed(r, test * r->n_variants + variant, NULL, "error",
			    export_text(cell, "error"));
	while (suspect-- > 0)
		plan_failed(r, test * r->n_variants + variant, NULL, "suspect", "");
	return 0;
}

int export_plan_runs(struct restore *r, size_t test, const json_t *o)
{
	const json_t *row, *rows = json_object_get(o, "rows"), *runs = json_object_get(o, "runs");
	size_t i;
	int rc = runs ? plan_listed(r, test, runs)
		      : export_each_cell(r, test, json_array_get(rows, 0), plan_counts, NULL);

	json_array_foreach(rows, i, row) if (!rc) rc =
		export_each_cell(r, test, row, plan_values, NULL);
	return rc;
}

/* One run for each place; what is said of the good ones goes to their places. */
static void plan_join(struct restore *r)
{
	struct planned_run *run, *out = r->runs.items;

	if (r->said.n)
		qsort(r->said.items, r->said.n, sizeof(*r->said.items), said_compare);
	array_for_each (run, &r->said)
		if (run > r->said.items && run->cell == run[-1].cell && run->block == run[-1].block)
			run->nth = run[-1].nth + 1;
	if (r->runs.n)
		qsort(r->runs.items, r->runs.n, sizeof(*r->runs.items), place_compare);
	array_for_each (run, &r->runs) {
		const struct planned_run *said;

		if (out > r->runs.items && !place_compare(run, out - 1))
			continue;
		said = r->said.n && !run->said ? bsearch(run, r->said.items, r->said.n,
							 sizeof(*said), place_compare)
					       : NULL;
		*out = *run;
		if (said) {
			out->said = said->said;
			out->order = said->order;
		}
		out++;
	}
	r->runs.n = (size_t)(out - r->runs.items);
}

/* ISO time in UTC; 0 where it is none. */
static int64_t time_of(const char *iso)
{
	struct tm tm = {0};
	const char *end = *iso ? strptime(iso, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? (int64_t)timegm(&tm) : 0;
}

static int put_run(struct restore *r, struct planned_run *p)
{
	const json_t *test = json_array_get(r->tests, p->cell / r->n_variants);
	int64_t started = time_of(export_text(p->said, "started"));
	const char *message = export_text(p->said, "message"),
		   *command = export_text(p->said, "command");
	double elapsed = export_number(p->said, "elapsed");
	struct db_run run = {
		.variant_id = r->variants[p->cell % r->n_variants],
		.case_id = r->cases[p->cell / r->n_variants],
		.campaign = r->im->campaign.id,
		.started = started ? started : r->im->now,
		.outcome = p->outcome ? p->outcome : "ok",
		.error = p->error,
		.message = *message ? message : NULL,
		.command = *command ? command : export_text(test, "command"),
		.parser = "",
		.block = p->block,
		.attempt = MAX(1, export_integer(p->said, "attempt")),
		.exit_status = -1,
		.elapsed = isnan(elapsed) ? 0 : elapsed,
		.user_time = NAN,
		.sys_time = NAN,
		.max_rss = -1,
		.voluntary = -1,
		.involuntary = -1,
	};

	r->im->report->runs++;
	return db_add_run(r->im->db, &run, &p->id, r->im->e);
}

/* Of two runs the one that was made first; those of no known order by blocks, at the end. */
static int order_compare(const void *x, const void *y)
{
	const struct planned_run *a = *(const struct planned_run *const *)x;
	const struct planned_run *b = *(const struct planned_run *const *)y;

	if (!a->order != !b->order)
		return a->order ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return place_compare(a, b);
}

int export_put_runs(struct restore *r)
{
	struct planned_run **order;
	size_t i;
	int rc = 0;

	plan_join(r);
	order = arena_alloc_array(r->im->a, r->runs.n, sizeof(*order));
	for (i = 0; i < r->runs.n; i++)
		order[i] = &r->runs.items[i];
	if (r->runs.n)
		qsort(order, r->runs.n, sizeof(struct planned_run *), order_compare);
	for (i = 0; !rc && i < r->runs.n; i++)
		rc = put_run(r, order[i]);
	return rc;
}

int64_t export_run_at(const struct restore *r, const struct planned_run *place)
{
	const struct planned_run *run =
		bsearch(place, r->runs.items, r->runs.n, sizeof(*run), place_compare);

	return run->id;
}
