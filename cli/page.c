// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/page.h"

#include <ctype.h>
#include <errno.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* Width of the names of fields in text */
#define PAGE_LABEL 16

struct page_value {
	const char *text; /* NULL: a number, or nothing */
	double number;	  /* NAN: none */
};

struct page_field {
	const char *name;
	struct page_value value;
	bool block;
	struct page_field *next;
};

struct page_row {
	struct page_value *cells;
	struct page_row *next;
};

struct page_table {
	struct arena *a;
	const char *name;
	const char *const *columns;
	size_t n_columns, at; /* at: next cell of the last row */
	struct page_row *first, **last, *row;
	struct page_table *next;
};

struct page {
	struct arena *a;
	const char *schema;
	struct page_field *fields, **last_field;
	struct page_table *tables, **last_table;
};

struct page *page_new(struct arena *a, const char *schema)
{
	struct page *p = arena_alloc(a, sizeof(*p));

	p->a = a;
	p->schema = schema;
	p->last_field = &p->fields;
	p->last_table = &p->tables;
	return p;
}

static struct page_value page_value(const char *text, double number)
{
	return (struct page_value){text && *text ? text : NULL, number};
}

static struct page_field *page_add(struct page *p, const char *name, const char *text,
				   double number)
{
	struct page_field *f = arena_alloc(p->a, sizeof(*f));

	f->name = name;
	f->value = page_value(text, number);
	*p->last_field = f;
	p->last_field = &f->next;
	return f;
}

void page_text(struct page *p, const char *name, const char *value)
{
	page_add(p, name, value, NAN);
}

void page_number(struct page *p, const char *name, double value)
{
	page_add(p, name, NULL, value);
}

void page_block(struct page *p, const char *name, const char *value)
{
	page_add(p, name, value, NAN)->block = true;
}

struct page_table *page_table(struct page *p, const char *name, const char *const *columns)
{
	struct page_table *t = arena_alloc(p->a, sizeof(*t));

	t->a = p->a;
	t->name = name;
	t->columns = columns;
	while (columns[t->n_columns])
		t->n_columns++;
	t->last = &t->first;
	*p->last_table = t;
	p->last_table = &t->next;
	return t;
}

static void page_add_cell(struct page_table *t, struct page_value value)
{
	if (!t->at) {
		t->row = arena_alloc(t->a, sizeof(*t->row));
		t->row->cells = arena_alloc_array(t->a, t->n_columns, sizeof(*t->row->cells));
		*t->last = t->row;
		t->last = &t->row->next;
	}
	t->row->cells[t->at] = value;
	t->at = (t->at + 1) % t->n_columns;
}

void page_cell(struct page_table *t, const char *value)
{
	page_add_cell(t, page_value(value, NAN));
}

void page_cell_flag(struct page_table *t, bool value)
{
	page_cell(t, value ? "yes" : "no");
}

void page_cell_number(struct page_table *t, double value)
{
	page_add_cell(t, page_value(NULL, value));
}

/* "#value" -> "value" */
static const char *column_name(const char *column)
{
	return column + (*column == '#' || *column == '?');
}

static bool is_integer(double v)
{
	return v == trunc(v) && fabs(v) < 1e15;
}

static const char *value_string(struct arena *a, const struct page_value *v)
{
	if (v->text)
		return v->text;
	if (isnan(v->number))
		return NULL;
	return is_integer(v->number) ? arena_printf(a, "%.0f", v->number)
				     : arena_printf(a, "%.6g", v->number);
}

/* Names of files and words of programs may be anything; JSON is UTF-8. */
static json_t *text_json(const char *text)
{
	_cleanup_free_ char *copy = NULL;
	json_t *json = json_string(text);
	char *s;

	if (json)
		return json;
	copy = mem_strdup(text);
	for (s = copy; *s; s++)
		if ((unsigned char)*s >= 0x80)
			*s = '?';
	return json_string(copy);
}

static json_t *value_json(const struct page_value *v)
{
	if (v->text)
		return text_json(v->text);
	if (isnan(v->number))
		return json_null();
	return is_integer(v->number) ? json_integer((json_int_t)v->number) : json_real(v->number);
}

static json_t *cell_json(const char *column, const struct page_value *v)
{
	return *column == '?' && v->text ? json_boolean(!strcmp(v->text, "yes")) : value_json(v);
}

static json_t *table_json(const struct page_table *t)
{
	json_t *rows = json_array();
	const struct page_row *row;
	size_t i;

	for (row = t->first; row; row = row->next) {
		json_t *object = json_object();

		for (i = 0; i < t->n_columns; i++)
			json_object_set_new(object, column_name(t->columns[i]),
					    cell_json(t->columns[i], &row->cells[i]));
		json_array_append_new(rows, object);
	}
	return rows;
}

static void page_json(const struct page *p, struct strbuf *out)
{
	json_t *root = json_object();
	const struct page_table *t;
	const struct page_field *f;

	json_object_set_new(root, "schema", json_string(p->schema));
	for (f = p->fields; f; f = f->next)
		json_object_set_new(root, f->name, value_json(&f->value));
	for (t = p->tables; t; t = t->next)
		json_object_set_new(root, t->name, table_json(t));
	json_add_lines(out, root, 15);
}

/* "build_id" -> "build id", in capitals for the head of a column */
static const char *label(struct arena *a, const char *name, bool capitals)
{
	char *s = arena_strdup(a, name), *p;

	for (p = s; *p; p++)
		*p = *p == '_'	? (capitals ? '-' : ' ')
		     : capitals ? (char)toupper((unsigned char)*p)
				: *p;
	return s;
}

static void text_fields(const struct page *p, bool blocks, struct strbuf *out)
{
	const struct page_field *f;

	for (f = p->fields; f; f = f->next) {
		const char *value = value_string(p->a, &f->value);
		size_t start = out->len;

		if (!value || f->block != blocks)
			continue;
		strbuf_addf(out, "%s%s:", blocks ? "\n" : "", label(p->a, f->name, false));
		if (!blocks)
			strbuf_pad(out, start + PAGE_LABEL);
		strbuf_addf(out, "%c%s", blocks ? '\n' : ' ', value);
		if (!str_ends(value, "\n"))
			strbuf_addc(out, '\n');
	}
}

static void scols_fill(const struct page_table *t, struct libscols_table *scols)
{
	const struct page_row *row;
	size_t i;

	for (i = 0; i < t->n_columns; i++) {
		bool last_text = i + 1 == t->n_columns && *t->columns[i] != '#';
		int flags = *t->columns[i] == '#' ? SCOLS_FL_RIGHT : last_text ? SCOLS_FL_TRUNC : 0;

		scols_table_new_column(scols, label(t->a, column_name(t->columns[i]), true), 0,
				       flags);
	}
	for (row = t->first; row; row = row->next) {
		struct libscols_line *line = scols_table_new_line(scols, NULL);

		for (i = 0; i < t->n_columns; i++) {
			const char *s = value_string(t->a, &row->cells[i]);

			scols_line_set_data(line, i, s ? s : "-");
		}
	}
}

/* On a terminal the last column gives way to its width; on a pipe nothing is cut. */
static void text_table(const struct page_table *t, struct strbuf *out)
{
	struct libscols_table *scols = scols_new_table();
	int width = cli_columns();
	struct span rest, line;
	char *text = NULL;

	if (!scols)
		abort();
	scols_table_set_termforce(scols, width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (width)
		scols_table_set_termwidth(scols, (size_t)width);
	scols_fill(t, scols);
	if (scols_print_table_to_string(scols, &text) || !text)
		abort();
	rest = span_of(text);
	while (span_next_line(&rest, &line, NULL)) {
		strbuf_add(out, line.s, line.len);
		strbuf_rtrim(out);
		strbuf_addc(out, '\n');
	}
	free(text);
	scols_unref_table(scols);
}

static void page_plain(const struct page *p, struct strbuf *out)
{
	const struct page_table *t;

	text_fields(p, false, out);
	for (t = p->tables; t; t = t->next) {
		if (!t->first)
			continue;
		if (p->fields)
			strbuf_addf(out, "\n%s:\n", label(p->a, t->name, false));
		text_table(t, out);
	}
	text_fields(p, true, out);
}

int page_print(struct cli *c, const struct page *p)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (c->json)
		page_json(p, &out);
	else
		page_plain(p, &out);
	cli_page(c, &out);
	return EXIT_DONE;
}
