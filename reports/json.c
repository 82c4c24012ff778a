// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o json: the whole model, schema kdelta.compare/1. Fractions, not percentages; null for what
 * cannot be computed; the same fields that the text formats print.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "reports/comparison.h"
#include "reports/text.h"

/* Names that are no UTF-8 are escaped, as in the mail. */
static json_t *json_text(const struct comparison *c, const char *s)
{
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	return j ? j : json_string(text_ascii(c->arena, s));
}

static json_t *json_texts(const struct comparison *c, const char *const *list, size_t n)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(out, json_text(c, list[i]));
	return out;
}

static json_t *json_variants(const struct comparison *c)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < c->n_variants; i++) {
		const struct cmp_variant *v = &c->variants[i];

		json_array_append_new(
			out,
			json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", json_text(c, v->id),
				  "name", json_text(c, v->name), "kernel", json_text(c, v->release),
				  "build_id", json_text(c, v->build_id), "commit",
				  json_text(c, v->commit), "source", json_text(c, v->source),
				  "description", json_text(c, v->description), "settings",
				  json_text(c, v->settings)));
	}
	return out;
}

static json_t *json_values(const struct cmp_cell *cell)
{
	json_t *out = json_array();
	int i;

	for (i = 0; cell->values && i < cell->n; i++)
		json_array_append_new(out, json_number_or_null(cell->values[i]));
	return out;
}

/* Blocks tell which values were measured side by side. */
static json_t *json_blocks(const struct cmp_cell *cell)
{
	json_t *out = json_array();
	int i;

	for (i = 0; cell->values && i < cell->n; i++)
		json_array_append_new(out, json_integer(cell->blocks[i]));
	return out;
}

/* Views that only some rows have: their keys are there where they say something. */
static void json_views(json_t *o, const struct cmp_cell *cell)
{
	const struct {
		const char *key;
		double value;
	} views[] = {
		{"points", cell->points},     {"per_second", cell->per_second},
		{"per_work", cell->per_work}, {"energy", cell->energy},
		{"events_p", cell->event_p},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++)
		if (isfinite(views[i].value))
			json_object_set_new(o, views[i].key, json_number_or_null(views[i].value));
	if (cell->event_runs)
		json_object_set_new(
			o, "events",
			json_pack("{s:i, s:i}", "runs", cell->event_runs, "with", cell->events));
}

/* The work of both sides and how often their runs failed, of each variant that says so. */
static json_t *json_works(const struct comparison *c, const struct cmp_test *t)
{
	json_t *out = json_array();
	size_t i;

	for (i = 1; i < c->n_variants; i++) {
		const struct cmp_work *w = &t->works[i];
		bool known = isfinite(w->change) || w->by_design;

		if (!known && isnan(w->fail_p))
			continue;
		json_array_append_new(
			out, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "variant",
				       c->variants[i].id, "unit", json_text(c, w->unit), "base",
				       json_number_or_null(w->base), "other",
				       json_number_or_null(w->other), "change",
				       json_number_or_null(w->change), "same",
				       known ? json_boolean(w->same) : json_null(),
				       "elapsed_change", json_number_or_null(w->longer),
				       "failures_p", json_number_or_null(w->fail_p)));
	}
	return out;
}

/* is_base: the baseline's own cell, which has no change and no verdict. */
static json_t *json_cell(const struct comparison *c, const struct cmp_row *row,
			 const struct cmp_cell *cell, const char *variant, bool is_base)
{
	const struct test_result *t = &cell->test;
	json_t *o = json_object();

	json_object_set_new(o, "variant", json_string(variant));
	json_object_set_new(o, "metric", json_text(c, row->metric));
	json_object_set_new(o, "n", cell->n ? json_integer(cell->n) : json_null());
	json_object_set_new(o, "mean", json_number_or_null(cell->has_mean ? cell->mean : NAN));
	json_object_set_new(o, "stddev", json_number_or_null(cell->stddev));
	json_object_set_new(o, "cv", json_number_or_null(cell->cv));
	if (cell->mean_text)
		json_object_set_new(o, "mean_text", json_text(c, cell->mean_text));
	json_object_set_new(o, "values", json_values(cell));
	json_object_set_new(o, "blocks", json_blocks(cell));
	json_object_set_new(o, "change",
			    json_number_or_null(cell->has_change		 ? cell->change
						: comparison_is_difference(cell) ? t->change
										 : NAN));
	if (comparison_is_difference(cell))
		json_object_set_new(o, "scale", json_string("difference"));
	json_object_set_new(o, "published", json_boolean(cell->published));
	if (!isnan(cell->source_better))
		json_object_set_new(o, "source_better", json_real(cell->source_better));
	json_object_set_new(o, "shift", json_number_or_null(t->shift));
	json_object_set_new(o, "ci_low", json_number_or_null(t->low));
	json_object_set_new(o, "ci_high", json_number_or_null(t->high));
	json_object_set_new(o, "ci_level", json_number_or_null(isnan(t->p) ? NAN : t->level));
	json_object_set_new(o, "p", json_number_or_null(t->p));
	json_object_set_new(o, "p_adj", json_number_or_null(cell->p_adjusted));
	json_object_set_new(o, "test", json_text(c, t->test));
	if (cell->paired)
		json_object_set_new(o, "paired", json_true());
	if (!isnan(cell->lag.r))
		json_object_set_new(o, "lag", json_real(cell->lag.r));
	json_object_set_new(o, "verdict",
			    is_base && cell->verdict == VERDICT_SAME
				    ? json_null()
				    : json_text(c, verdict_name(cell->verdict)));
	json_object_set_new(o, "small", json_boolean(cell->small));
	json_object_set_new(o, "runs_needed",
			    cell->runs_needed ? json_integer(cell->runs_needed) : json_null());
	json_object_set_new(o, "detectable", json_number_or_null(cell->detectable));
	json_object_set_new(o, "prediction_low",
			    json_number_or_null(cell->has_prediction ? cell->prediction.low : NAN));
	json_object_set_new(
		o, "prediction_high",
		json_number_or_null(cell->has_prediction ? cell->prediction.high : NAN));
	json_object_set_new(o, "failed", json_integer(cell->failed));
	json_object_set_new(o, "suspect", json_integer(cell->suspect));
	json_object_set_new(o, "error", json_text(c, cell->error));
	json_object_set_new(o, "source_mark", json_boolean(cell->source_mark));
	json_views(o, cell);
	if (cell->cv_hidden)
		json_object_set_new(o, "cv_hidden", json_true());
	return o;
}

/* A variance known beforehand: what it is, and how many degrees of freedom it is worth. */
static json_t *json_variance(const struct stats_variance *v)
{
	return json_pack("{s:f,s:f}", "value", v->value, "df", v->df);
}

/* What verdicts of this row rest on besides its values. */
static void json_row_grounds(json_t *o, const struct cmp_row *row)
{
	if (row->deterministic)
		json_object_set_new(o, "deterministic", json_true());
	if (row->history.log.df > 0)
		json_object_set_new(o, "prior_log", json_variance(&row->history.log));
	if (row->history.raw.df > 0)
		json_object_set_new(o, "prior_raw", json_variance(&row->history.raw));
	if (!isnan(row->floor))
		json_object_set_new(o, "floor", json_real(row->floor));
	if (row->deterministic && !isnan(row->seed_floor))
		json_object_set_new(o, "seed_floor", json_real(row->seed_floor));
}

static json_t *json_row(const struct comparison *c, const struct cmp_row *row)
{
	json_t *o = json_object(), *cells = json_array(), *contrasts = json_array();
	size_t i;

	json_object_set_new(o, "metric", json_text(c, row->metric));
	json_object_set_new(o, "unit", json_text(c, row->unit));
	json_object_set_new(o, "direction", json_text(c, direction_name(row->direction)));
	json_object_set_new(o, "mean_kind", json_text(c, mean_kind_name(row->mean_kind)));
	json_object_set_new(o, "role", json_string(row->headline ? "headline" : "counter"));
	json_object_set_new(o, "description", json_text(c, row->description));
	json_row_grounds(o, row);
	if (*row->topic)
		json_object_set_new(o, "topic", json_text(c, row->topic));
	for (i = 0; i < c->n_variants; i++)
		json_array_append_new(cells,
				      json_cell(c, row, &row->cells[i], c->variants[i].id, i == 0));
	json_object_set_new(o, "cells", cells);
	for (i = 0; i < c->n_contrasts; i++) {
		const char *name =
			arena_printf(c->arena, "%s/%s", c->variants[c->contrasts[i].top].id,
				     c->variants[c->contrasts[i].bottom].id);

		json_array_append_new(contrasts,
				      json_cell(c, row, &row->contrasts[i], name, false));
	}
	if (c->n_contrasts)
		json_object_set(o, "contrasts", contrasts);
	json_decref(contrasts);
	return o;
}

static json_t *json_runs(const struct comparison *c, const struct cmp_test *t)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < t->n_runs; i++) {
		const struct cmp_run *r = &t->runs[i];
		json_t *o = json_object();

		json_object_set_new(o, "run", json_integer(r->id));
		json_object_set_new(o, "variant", json_text(c, c->variants[r->variant].id));
		json_object_set_new(o, "order", json_integer(r->order));
		json_object_set_new(o, "block", json_integer(r->block));
		json_object_set_new(o, "attempt", json_integer(r->attempt));
		json_object_set_new(o, "boot", r->boot ? json_integer(r->boot) : json_null());
		json_object_set_new(o, "started",
				    *r->started ? json_text(c, r->started) : json_null());
		json_object_set_new(o, "elapsed", json_number_or_null(r->elapsed));
		json_object_set_new(o, "outcome", json_text(c, r->outcome));
		if (*r->error)
			json_object_set_new(o, "error", json_text(c, r->error));
		if (*r->message)
			json_object_set_new(o, "message", json_text(c, r->message));
		if (*r->command && strcmp(r->command, t->command))
			json_object_set_new(o, "command", json_text(c, r->command));
		json_array_append_new(out, o);
	}
	return out;
}

/* Parameters of a test case: those in its name, in its order, or the others. */
static json_t *json_params(const struct comparison *c, const struct cmp_param *list, size_t n)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(out, json_pack("[o,o]", json_text(c, list[i].name),
						     json_text(c, list[i].value)));
	return out;
}

static json_t *json_tests(const struct comparison *c)
{
	json_t *out = json_array();
	size_t i, r;

	for (i = 0; i < c->n_tests; i++) {
		const struct cmp_test *t = &c->tests[i];
		json_t *o = json_object(), *rows = json_array(), *works;

		json_object_set_new(o, "case", json_text(c, t->name));
		json_object_set_new(o, "description", json_text(c, t->description));
		json_object_set_new(o, "command", json_text(c, t->command));
		json_object_set_new(o, "benchmark", json_text(c, t->benchmark));
		json_object_set_new(o, "swept", json_params(c, t->swept, t->n_swept));
		json_object_set_new(o, "fixed", json_params(c, t->fixed, t->n_fixed));
		for (r = 0; r < t->n_rows; r++)
			json_array_append_new(rows, json_row(c, &t->rows[r]));
		json_object_set_new(o, "rows", rows);
		json_object_set_new(o, "runs", json_runs(c, t));
		works = json_works(c, t);
		if (json_array_size(works))
			json_object_set(o, "works", works);
		json_decref(works);
		json_array_append_new(out, o);
	}
	return out;
}

static json_t *json_overall(const struct comparison *c)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < c->n_overall; i++) {
		const struct cmp_overall *v = &c->overall[i];
		json_t *o = json_object();

		json_object_set_new(o, "benchmark", json_text(c, v->benchmark));
		json_object_set_new(o, "variant", json_text(c, c->variants[v->variant].id));
		json_object_set_new(o, "verdict", json_text(c, verdict_name(v->verdict)));
		json_object_set_new(o, "gmean_better", json_number_or_null(v->gmean));
		json_object_set_new(o, "ci_low", json_number_or_null(v->low));
		json_object_set_new(o, "ci_high", json_number_or_null(v->high));
		json_object_update_new(o, json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "rows",
						    v->rows, "better", v->better, "worse", v->worse,
						    "small", v->small, "same", v->same, "unsure",
						    v->unsure, "missing", v->missing, "failed",
						    v->failed));
		if (v->worst_row)
			json_object_set_new(o, "worst",
					    json_pack("{s:o,s:o,s:o}", "case",
						      json_text(c, v->worst_test->name), "metric",
						      json_text(c, v->worst_row->metric), "change",
						      json_number_or_null(v->worst_change)));
		json_array_append_new(out, o);
	}
	return out;
}

static int json_append(const char *data, size_t len, void *out)
{
	strbuf_add(out, data, len);
	return 0;
}

static json_t *json_differences(const struct comparison *c)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < c->n_differences; i++) {
		const struct cmp_difference *d = &c->differences[i];

		json_array_append_new(out, json_pack("{s:o,s:o,s:o}", "key", json_text(c, d->key),
						     "title", json_text(c, d->title), "values",
						     json_texts(c, d->values, c->n_variants)));
	}
	return out;
}

int report_json(const struct comparison *c, bool compact, struct strbuf *out, struct err *e)
{
	json_t *root = json_object();
	int r;

	json_object_set_new(root, "schema", json_string("kdelta.compare/1"));
	json_object_set_new(root, "campaigns", json_texts(c, c->campaigns, c->n_campaigns));
	json_object_set_new(root, "kind", json_text(c, c->kind));
	json_object_set_new(root, "created", json_text(c, c->created));
	json_object_set_new(root, "source", json_text(c, c->source));
	json_object_set_new(root, "machine",
			    json_pack("{s:o,s:o,s:o}", "description", json_text(c, c->machine),
				      "backend", json_text(c, c->backend), "accelerator",
				      json_text(c, c->accelerator)));
	if (c->counting) {
		json_object_set_new(root, "counting", json_string("instructions"));
		json_object_set_new(root, "counted_by", json_text(c, c->counting));
		json_object_set_new(root, "limit", json_text(c, comparison_limit(c)));
	}
	json_object_set_new(root, "unit", json_text(c, c->unit));
	if (c->paired) {
		json_object_set_new(root, "order", json_string("flip"));
		json_object_set_new(root, "boots", json_integer(c->boots));
		json_object_set_new(root, "pairs",
				    json_text(c, comparison_pairs_text(c, c->arena)));
	}
	json_object_set_new(root, "done", c->planned ? json_integer(c->done) : json_null());
	json_object_set_new(root, "planned", c->planned ? json_integer(c->planned) : json_null());
	json_object_set_new(root, "repeat", json_integer(c->repeat));
	json_object_set_new(root, "threshold", json_real(c->threshold));
	json_object_set_new(root, "q", json_real(c->q));
	json_object_set_new(root, "level", json_real(c->level));
	json_object_set_new(root, "baseline", json_text(c, c->variants[0].id));
	json_object_set_new(root, "variants", json_variants(c));
	json_object_set_new(root, "differences", json_differences(c));
	json_object_set_new(root, "tests", json_tests(c));
	json_object_set_new(root, "overall", json_overall(c));
	json_object_set_new(root, "missing", json_texts(c, c->missing, c->n_missing));
	json_object_set_new(root, "warnings", json_texts(c, c->warnings, c->n_warnings));
	/* 15 digits: 320.01 stays 320.01 */
	r = json_dump_callback(root, json_append, out,
			       (compact ? JSON_COMPACT : JSON_INDENT(1)) | JSON_REAL_PRECISION(15));
	json_decref(root);
	strbuf_addc(out, '\n');
	return r ? err_add(e, -ENOMEM, "cannot write JSON") : 0;
}

static int json_render(const struct comparison *c, const struct report_options *opt,
		       struct strbuf *out, struct err *e)
{
	(void)opt;
	return report_json(c, false, out, e);
}

static const struct report_format json = {
	.name = "json",
	.summary = "the whole model, schema kdelta.compare/1",
	.render = json_render,
};
REGISTER(report_format, json);
