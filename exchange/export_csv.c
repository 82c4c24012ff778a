// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The long form of -o csv: a line for each cell with its figures, and below it a line for each
 * value, which has block and value instead.
 *
 *	benchmark,case,metric,...,variant,name,n,mean,...,block,value
 *	tbench,tbench/clients=1,tbench.throughput,...,A,6.1,5,300.12,...,,
 *	tbench,tbench/clients=1,tbench.throughput,...,A,6.1,,,...,1,300.02
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "exchange/export.h"

enum column {
	BENCHMARK,
	CASE,
	METRIC,
	UNIT,
	DIRECTION,
	MEAN_KIND,
	ROLE,
	VARIANT,
	NAME,
	N,
	MEAN,
	STDDEV,
	CHANGE,
	PUBLISHED,
	FAILED,
	SUSPECT,
	ERROR,
	BLOCK,
	VALUE,
	N_COLUMNS
};
static const char *const column_names[N_COLUMNS] = {
	[BENCHMARK] = "benchmark", [CASE] = "case",
	[METRIC] = "metric",	   [UNIT] = "unit",
	[DIRECTION] = "direction", [MEAN_KIND] = "mean_kind",
	[ROLE] = "role",	   [VARIANT] = "variant",
	[NAME] = "name",	   [N] = "n",
	[MEAN] = "mean",	   [STDDEV] = "stddev",
	[CHANGE] = "change",	   [PUBLISHED] = "published",
	[FAILED] = "failed",	   [SUSPECT] = "suspect",
	[ERROR] = "error",	   [BLOCK] = "block",
	[VALUE] = "value",
};

#define MAX_FIELDS 64

struct csv {
	struct arena *a;
	const char *file;
	struct err *e;
	struct span rest;
	int line;	   /* of the record at hand */
	int lines;	   /* read so far */
	int at[N_COLUMNS]; /* field of each column */
	const char *fields[MAX_FIELDS];
	int n_fields;
	json_t *root, *tests; /* tests: by name, then rows by metric, then cells by variant */
};

bool export_is_csv(struct span text)
{
	return span_starts(text, "benchmark,case,metric,");
}

static int complain(struct csv *c, const char *what)
{
	err_add(c->e, -EINVAL, "%s", what);
	err_at(c->e, c->file, c->line, 0);
	return -EINVAL;
}

/* One field off the text; what ends it: ',' or '\n', 0 at the end of the text, -1 if it is none. */
static int take_field(struct csv *c, const char **field)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool quoted = c->rest.len && *c->rest.s == '"';
	size_t i = quoted;
	char end = 0;

	for (; i < c->rest.len; i++) {
		char ch = c->rest.s[i];

		if (quoted && ch == '"') {
			if (i + 1 >= c->rest.len || c->rest.s[i + 1] != '"') {
				quoted = false;
				continue;
			}
			i++;
		} else if (!quoted && ch == '\r') {
			continue;
		} else if (!quoted && (ch == ',' || ch == '\n')) {
			end = ch;
			break;
		}
		c->lines += ch == '\n';
		strbuf_addc(&sb, ch);
	}
	c->lines += end == '\n';
	i = MIN(i + 1, c->rest.len);
	c->rest.s += i;
	c->rest.len -= i;
	*field = arena_strdup(c->a, strbuf_str(&sb));
	return quoted || memchr(strbuf_str(&sb), 0, sb.len) ? -1 : end;
}

/* 1: a record; 0: the end */
static int take_record(struct csv *c)
{
	int end = ',';

	if (!c->rest.len)
		return 0;
	c->line = c->lines + 1;
	for (c->n_fields = 0; end == ','; c->n_fields++) {
		if (c->n_fields == MAX_FIELDS)
			return complain(c, "more fields than a report has");
		end = take_field(c, &c->fields[c->n_fields]);
		if (end < 0)
			return complain(c, "a field without end, or with a NUL character");
	}
	return 1;
}

/* Of the header; -1: there is none of this name. */
static int column_of(const struct csv *c, const char *name)
{
	int i;

	for (i = 0; i < c->n_fields; i++)
		if (!strcmp(c->fields[i], name))
			return i;
	return -1;
}

static int take_header(struct csv *c)
{
	int r = take_record(c), k;

	for (k = 0; r > 0 && k < N_COLUMNS; k++) {
		c->at[k] = column_of(c, column_names[k]);
		if (c->at[k] < 0) {
			complain(c, arena_printf(c->a, "there is no column '%s'", column_names[k]));
			err_hint(c->e, "a report of an older kdelta has no single values; -o json "
				       "reads back");
			return -EINVAL;
		}
	}
	return MIN(r, 0);
}

static const char *field(const struct csv *c, enum column k)
{
	return c->at[k] < c->n_fields ? c->fields[c->at[k]] : "";
}

/* A number, or null where the field is empty; NULL if it is none. */
static json_t *number(const struct csv *c, enum column k)
{
	const char *s = field(c, k);
	int64_t i;
	double v;

	if (!*s)
		return json_null();
	if (num_parse_int(span_of(s), &i))
		return json_integer(i);
	return num_parse(span_of(s), &v) ? json_real(v) : NULL;
}

/* The object under a key, made if it is not there yet. */
static json_t *child(json_t *parent, const char *key, bool *is_new)
{
	json_t *o = json_object_get(parent, key);

	*is_new = !o;
	if (!o) {
		o = json_object();
		if (json_object_set_new(parent, key, o))
			o = NULL;
	}
	return o;
}

static bool set_text(json_t *o, const struct csv *c, enum column k)
{
	return !json_object_set_new(o, column_names[k], json_string(field(c, k)));
}

static bool set_number(json_t *o, const struct csv *c, enum column k)
{
	return !json_object_set_new(o, column_names[k], number(c, k));
}

static int take_variant(struct csv *c)
{
	json_t *list = json_object_get(c->root, "variants"), *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		if (strcmp(json_string_value(json_object_get(v, "id")), field(c, VARIANT)))
			continue;
		return strcmp(json_string_value(json_object_get(v, "name")), field(c, NAME))
			       ? complain(c, "one variant under two names")
			       : 0;
	}
	v = json_pack("{s:s,s:s}", "id", field(c, VARIANT), "name", field(c, NAME));
	if (!v)
		return complain(c, "a name that is no UTF-8");
	json_array_append_new(list, v);
	return 0;
}

static int new_cell(struct csv *c, json_t *cell)
{
	static const enum column numbers[] = {N, MEAN, STDDEV, CHANGE, FAILED, SUSPECT};
	bool ok = set_text(cell, c, VARIANT);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		ok &= set_number(cell, c, numbers[i]);
	if (*field(c, ERROR))
		ok &= set_text(cell, c, ERROR);
	json_object_set_new(cell, "published", json_boolean(*field(c, PUBLISHED)));
	json_object_set_new(cell, "values", json_array());
	json_object_set_new(cell, "blocks", json_array());
	return ok ? 0 : complain(c, "a field that is no number, or no UTF-8");
}

static int take_line(struct csv *c)
{
	bool is_new, ok;
	json_t *test, *rows, *row, *cell, *value, *block;

	test = child(c->tests, field(c, CASE), &is_new);
	ok = test && (!is_new || (set_text(test, c, CASE) && set_text(test, c, BENCHMARK)));
	rows = ok ? child(test, "by metric", &is_new) : NULL;
	row = rows ? child(rows, field(c, METRIC), &is_new) : NULL;
	ok = row && (!is_new || (set_text(row, c, METRIC) && set_text(row, c, UNIT) &&
				 set_text(row, c, DIRECTION) && set_text(row, c, MEAN_KIND) &&
				 set_text(row, c, ROLE)));
	rows = ok ? child(row, "by variant", &is_new) : NULL;
	cell = rows ? child(rows, field(c, VARIANT), &is_new) : NULL;
	if (!cell)
		return complain(c, "a field that is no UTF-8");
	if (is_new)
		return *field(c, VALUE) ? complain(c, "a value before the line of its cell")
					: new_cell(c, cell);
	value = number(c, VALUE);
	block = number(c, BLOCK);
	ok = json_is_number(value) && json_is_integer(block);
	json_array_append_new(json_object_get(cell, "values"), value);
	json_array_append_new(json_object_get(cell, "blocks"), block);
	return ok ? 0 : complain(c, "a cell that was there before, and no value with its block");
}

/* Objects by name become the lists of the document. */
static json_t *list_of(json_t *parent, const char *key)
{
	json_t *list = json_array(), *o;
	const char *name;

	json_object_foreach(json_object_get(parent, key), name, o) json_array_append(list, o);
	json_object_del(parent, key);
	return list;
}

static void finish(struct csv *c)
{
	json_t *test, *row, *variants = json_object_get(c->root, "variants");
	size_t i, k;

	json_object_set_new(c->root, "tests", json_array());
	json_object_set(c->root, "by case", c->tests);
	json_object_set_new(c->root, "tests", list_of(c->root, "by case"));
	json_array_foreach(json_object_get(c->root, "tests"), i, test)
	{
		json_object_set_new(test, "rows", list_of(test, "by metric"));
		json_array_foreach(json_object_get(test, "rows"), k, row)
			json_object_set_new(row, "cells", list_of(row, "by variant"));
	}
	if (json_array_size(variants))
		json_object_set(c->root, "baseline",
				json_object_get(json_array_get(variants, 0), "id"));
}

int export_read_csv(struct arena *a, const char *file, struct span text, json_t **root,
		    struct err *e)
{
	struct csv c = {.a = a, .file = file, .e = e, .rest = text};
	int r = take_header(&c);

	if (r)
		return r;
	c.tests = json_object();
	c.root = json_pack("{s:s,s:[]}", "schema", "kdelta.compare/1", "variants");
	/* only pairs have this column */
	if (column_of(&c, "order") >= 0)
		json_object_set_new(c.root, "order", json_string("flip"));
	while (!r && (r = take_record(&c)) > 0) {
		r = take_variant(&c);
		if (!r)
			r = take_line(&c);
	}
	if (!r)
		finish(&c);
	json_decref(c.tests);
	if (r)
		json_decref(c.root);
	else
		*root = c.root;
	return r;
}
