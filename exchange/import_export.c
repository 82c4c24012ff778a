// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report that holds its numbers -> a campaign: samples where it has values, summaries where it
 * has none, failed runs as such. What verdicts rested on besides (older campaigns, noise floors)
 * stays as the fact "grounds", so that the same verdicts come out.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "exchange/export.h"
#include "exchange/import_export.h"

int export_complain(struct restore *r, const char *what, const char *where)
{
	err_add(r->im->e, -EINVAL, "%s%s%s", what, *where ? ": " : "", where);
	err_at(r->im->e, r->file, 0, 0);
	return -EINVAL;
}

const char *export_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* NAN where there is no number. */
double export_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

int export_integer(const json_t *o, const char *key)
{
	double v = export_number(o, key);

	return v > -1e9 && v < 1e9 ? (int)v : 0;
}

/* ---- campaign and variants ---- */

/* "report.html, campaign old-20261130-1 of 2026-11-30": where the numbers were before. */
static const char *source_text(struct restore *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *slash = strrchr(r->file, '/');
	const json_t *campaign;
	size_t i;

	strbuf_adds(&sb, slash ? slash + 1 : r->file);
	json_array_foreach(json_object_get(r->root, "campaigns"), i,
			   campaign) if (json_is_string(campaign))
		strbuf_addf(&sb, "%s %s", i ? "," : ", campaign", json_string_value(campaign));
	if (*export_text(r->root, "created"))
		strbuf_addf(&sb, " of %.10s", export_text(r->root, "created"));
	if (export_integer(r->root, "done") < export_integer(r->root, "planned"))
		strbuf_addf(&sb, ", unfinished: %d of %d runs", export_integer(r->root, "done"),
			    export_integer(r->root, "planned"));
	return arena_strdup(r->im->a, strbuf_str(&sb));
}

static int put_campaign(struct restore *r, const char *sha256)
{
	struct import *im = r->im;
	const json_t *machine = json_object_get(r->root, "machine");
	int rc = import_campaign(im, r->file, sha256, export_integer(r->root, "repeat"));

	if (rc)
		return rc;
	im->campaign.source = source_text(r);
	im->campaign.unit = strcmp(export_text(r->root, "unit"), "boot") ? "run" : "boot";
	im->campaign.backend = export_text(machine, "backend");
	im->campaign.accelerator = export_text(machine, "accelerator");
	rc = db_set_campaign(im->db, &im->campaign, im->e);
	if (!rc && !strcmp(export_text(r->root, "order"), "flip"))
		rc = db_set_fact(im->db, "campaign", im->campaign.id, "order", "flip", im->e);
	if (!rc && *export_text(machine, "description"))
		rc = db_set_fact(im->db, "campaign", im->campaign.id, "machine",
				 export_text(machine, "description"), im->e);
	return rc;
}

/* "cmdline nosmt; sysctl kernel.x=1" -> {"cmdline": "nosmt", ...}, as it prints the same again */
static const char *settings_json(struct restore *r, const char *text)
{
	_cleanup_free_ char *json = NULL;
	json_t *o = json_object();

	while (*text) {
		const char *end = strstr(text, "; ");
		size_t len = end ? (size_t)(end - text) : strlen(text), key = strcspn(text, " ");

		if (key + 1 < len)
			json_object_set_new(o, arena_strndup(r->im->a, text, key),
					    json_stringn(text + key + 1, len - key - 1));
		text += len + (end ? 2 : 0);
	}
	json = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return json ? arena_strdup(r->im->a, json) : "{}";
}

static int find_variant(const struct restore *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->n_variants; i++)
		if (!strcmp(r->ids[i], id))
			return (int)i;
	return -1;
}

static int put_variants(struct restore *r)
{
	const json_t *list = json_object_get(r->root, "variants"), *v;
	const char *baseline = export_text(r->root, "baseline");
	size_t i, n = json_array_size(list);
	int rc = n ? 0 : export_complain(r, "there are no variants", "");

	r->ids = arena_alloc_array(r->im->a, n, sizeof(*r->ids));
	r->variants = arena_alloc_array(r->im->a, n, sizeof(*r->variants));
	json_array_foreach(list, i, v)
	{
		struct import_variant_words w = {
			.name = export_text(v, "name"),
			.description = export_text(v, "description"),
			.release = export_text(v, "kernel"),
			.commit = export_text(v, "commit"),
			.build_id = export_text(v, "build_id"),
			.source = export_text(v, "source"),
			.settings = settings_json(r, export_text(v, "settings")),
		};
		const char *id = export_text(v, "id");
		int before = r->im->n_variants;

		w.baseline = *baseline ? !strcmp(id, baseline) : !i;
		if (rc)
			break;
		if (!*w.name || !*id || find_variant(r, id) >= 0)
			return export_complain(r, "a variant without name or id of its own",
					       w.name);
		r->ids[r->n_variants] = id;
		rc = import_variant(r->im, &w, &r->variants[r->n_variants]);
		if (!rc && before == r->im->n_variants)
			return export_complain(r, "two variants are the same", w.name);
		r->n_variants++;
	}
	return rc;
}

/* Index of the variant of a cell or run, or -1. */
int export_variant(const struct restore *r, const json_t *o)
{
	return find_variant(r, export_text(o, "variant"));
}

/* ---- test cases ---- */

static const char *benchmark_of(struct restore *r, const json_t *test)
{
	const char *name = export_text(test, "case");

	return *export_text(test, "benchmark") ? export_text(test, "benchmark")
					       : arena_strndup(r->im->a, name, strcspn(name, "/"));
}

static void add_params(struct import_case *c, const json_t *list, bool swept)
{
	const json_t *p;
	size_t i;

	json_array_foreach(list, i, p)
	{
		const char *name = json_string_value(json_array_get(p, 0));
		const char *value = json_string_value(json_array_get(p, 1));

		if (name && value && swept)
			import_param(c, name, value);
		else if (name && value)
			import_fixed_param(c, name, value);
	}
}

static int put_case(struct restore *r, const json_t *test, int64_t *id)
{
	struct import_case c = {
		.benchmark = benchmark_of(r, test),
		.command = export_text(test, "command"),
		.description = export_text(test, "description"),
		.name = export_text(test, "case"),
	};
	json_t *of_name = NULL;
	int rc;

	if (!*c.name || !*c.benchmark)
		return export_complain(r, "a test case without a name", "");
	if (!json_object_get(test, "swept"))
		of_name = export_swept_of_name(c.name);
	add_params(&c, of_name ? of_name : json_object_get(test, "swept"), true);
	add_params(&c, json_object_get(test, "fixed"), false);
	rc = import_case(r->im, &c, id);
	json_decref(of_name);
	return rc;
}

/* ---- metrics and values ---- */

int export_each_cell(struct restore *r, size_t test, const json_t *row, export_cell_fn fn,
		     void *data)
{
	const json_t *cell;
	size_t i;
	int rc = 0;

	json_array_foreach(json_object_get(row, "cells"), i, cell)
	{
		int v = export_variant(r, cell);

		if (v < 0)
			return export_complain(r, "a cell of no variant",
					       export_text(row, "metric"));
		rc = fn(r, test, (size_t)v, row, cell, data);
		if (rc)
			break;
	}
	return rc;
}

/* As the report says it; our own table adds its words. */
static int put_metric(struct restore *r, const json_t *row, struct db_metric *m)
{
	const char *name = export_text(row, "metric"), *role = export_text(row, "role");
	enum direction direction;

	if (!*name)
		return export_complain(r, "a row without a metric", "");
	catalog_describe_metric(r->im->cat, name, m);
	m->name = name;
	m->unit = export_text(row, "unit");
	if (direction_parse(export_text(row, "direction"), &direction) && direction != DIR_UNKNOWN)
		m->direction = direction;
	mean_kind_parse(export_text(row, "mean_kind"), &m->mean_kind);
	m->role = strcmp(role, "headline") ? "counter" : "headline";
	m->deterministic = json_is_true(json_object_get(row, "deterministic"));
	if (*export_text(row, "description"))
		m->description = export_text(row, "description");
	return db_put_metric(r->im->db, m, &m->id, r->im->e);
}

static int put_values(struct restore *r, size_t cell, const json_t *o, const struct db_metric *m)
{
	const json_t *values = json_object_get(o, "values"), *value;
	struct planned_run key = {.cell = cell};
	size_t k;
	int rc = 0;

	json_array_foreach(values, k, value)
	{
		export_place(o, k, &key.block, &key.nth);
		if (!rc)
			rc = db_add_sample(r->im->db, export_run_at(r, &key), m->id,
					   json_number_value(value), r->im->e);
	}
	return rc;
}

static int put_summary(struct restore *r, size_t cell, const json_t *row, const json_t *o,
		       const struct db_metric *m)
{
	double mean = export_number(o, "mean"), stddev = export_number(o, "stddev");
	double cv = export_number(o, "cv"), change = export_number(o, "change");
	double better = export_number(o, "source_better");
	bool published = json_is_true(json_object_get(o, "published")) && !isnan(change);
	struct db_summary s = {
		.variant_id = r->variants[cell % r->n_variants],
		.case_id = r->cases[cell / r->n_variants],
		.metric_id = m->id,
		.n = MAX(0, export_integer(o, "n")),
		.has_mean = !isnan(mean),
		.has_deviation = !isnan(stddev) || !isnan(cv),
		.has_change = published || !isnan(better),
		.mark = json_is_true(json_object_get(o, "source_mark")),
		.mean = isnan(mean) ? 0 : mean,
		.deviation = !isnan(stddev) ? stddev
			     : isnan(cv)    ? 0
					    : 100 * cv,
		.deviation_kind = !isnan(stddev) ? "stddev"
				  : isnan(cv)	 ? ""
						 : "percent",
		.mean_text = export_text(o, "mean_text"),
		.mean_kind = export_text(row, "mean_kind"),
		.change_sign = published ? "raw" : "better",
	};

	if (!s.n && !s.has_mean && !s.has_change)
		return 0;
	if (json_is_true(json_object_get(o, "cv_hidden")))
		s.deviation_kind = "hidden";
	if (s.has_change) /* 0.1 times 100 is no 10 */
		s.change = round((published ? 100 * change : better) * 1e9) / 1e9;
	s.idx = import_seen(r->im, s.case_id, s.metric_id, s.variant_id);
	return db_add_summary(r->im->db, r->im->campaign.id, &s, r->im->e);
}

static int put_cell(struct restore *r, size_t test, size_t variant, const json_t *row,
		    const json_t *cell, void *data)
{
	size_t place = test * r->n_variants + variant;
	const struct db_metric *m = data;

	r->im->report->cells++;
	if (json_array_size(json_object_get(cell, "values")))
		return put_values(r, place, cell, m);
	return put_summary(r, place, row, cell, m);
}

/* What the verdicts of a row rest on besides its values. */
static void keep_grounds(struct restore *r, const json_t *test, const json_t *row)
{
	static const char *const keys[] = {"prior_log", "prior_raw", "floor", "seed_floor"};
	json_t *rows = json_object_get(r->grounds, "rows"), *of_test, *of_row = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_object_get(row, keys[i]))
			json_object_set(of_row, keys[i], json_object_get(row, keys[i]));
	of_test = json_object_get(rows, export_text(test, "case"));
	if (!of_test && json_object_size(of_row)) {
		of_test = json_object();
		json_object_set_new(rows, export_text(test, "case"), of_test);
	}
	if (json_object_size(of_row))
		json_object_set(of_test, export_text(row, "metric"), of_row);
	json_decref(of_row);
}

static int put_rows(struct restore *r, size_t test, const json_t *o)
{
	const json_t *row;
	struct db_metric m;
	size_t i;
	int rc = 0;

	json_array_foreach(json_object_get(o, "rows"), i, row)
	{
		rc = put_metric(r, row, &m);
		if (!rc && import_seen(r->im, r->cases[test], m.id, -3))
			rc = export_complain(r, "a row that is there twice", m.name);
		if (!rc)
			rc = export_each_cell(r, test, row, put_cell, &m);
		if (rc)
			break;
		keep_grounds(r, o, row);
		r->im->report->rows++;
	}
	return rc;
}

static int put_grounds(struct restore *r)
{
	static const char *const keys[] = {"q", "level"};
	_cleanup_free_ char *text = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_is_number(json_object_get(r->root, keys[i])))
			json_object_set(r->grounds, keys[i], json_object_get(r->root, keys[i]));
	text = json_dumps(r->grounds, JSON_COMPACT | JSON_REAL_PRECISION(17));
	return db_set_fact(r->im->db, "campaign", r->im->campaign.id, "grounds", text ? text : "",
			   r->im->e);
}

static int put_tests(struct restore *r)
{
	const json_t *test;
	size_t i;
	int rc = 0;

	json_array_foreach(r->tests, i, test)
	{
		if (!rc)
			rc = put_case(r, test, &r->cases[i]);
		if (!rc && import_seen(r->im, r->cases[i], -4, -4))
			rc = export_complain(r, "a test case that is there twice",
					     export_text(test, "case"));
		if (!rc)
			rc = export_plan_runs(r, i, test);
	}
	if (rc)
		return rc;
	rc = export_put_runs(r);
	json_array_foreach(r->tests, i, test) if (!rc) rc = put_rows(r, i, test);
	return rc;
}

int import_export(struct import *im, const char *file, const char *sha256, const json_t *root)
{
	struct restore r = {.im = im, .file = file, .root = root};
	int rc;

	r.tests = json_object_get(root, "tests");
	r.n_tests = json_array_size(r.tests);
	r.cases = arena_alloc_array(im->a, r.n_tests, sizeof(*r.cases));
	r.grounds = json_pack("{s:{}}", "rows");
	rc = r.n_tests ? put_campaign(&r, sha256)
		       : export_complain(&r, "there is no test case", "");
	if (!rc)
		rc = put_variants(&r);
	if (!rc)
		rc = put_tests(&r);
	if (!rc)
		rc = put_grounds(&r);
	ARRAY_FREE(&r.runs);
	ARRAY_FREE(&r.said);
	json_decref(r.grounds);
	im->report->cases = (int)r.n_tests;
	im->report->variants = (int)r.n_variants;
	return rc;
}
