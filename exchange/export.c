// SPDX-License-Identifier: GPL-2.0-or-later
#include "exchange/export.h"

#include <errno.h>
#include <string.h>

#define SCHEMA	"kdelta.compare/1"
#define FAMILY	"kdelta.compare/"
#define ELEMENT "<script type=\"application/json\" id=\"kdelta-compare\">"

/* A document of another program may begin with a brace too; ours names itself within a page. */
#define SCHEMA_WITHIN 4096

static struct span skip_blanks(struct span text)
{
	while (text.len && strchr(" \t\r\n", *text.s)) {
		text.s++;
		text.len--;
	}
	return text;
}

static bool is_json(struct span text)
{
	text = skip_blanks(text);
	if (!text.len || *text.s != '{')
		return false;
	text.len = MIN(text.len, (size_t)SCHEMA_WITHIN);
	return span_find(text, "\"" FAMILY) != NULL;
}

static bool is_page(struct span text)
{
	struct span start = skip_blanks(text);

	return start.len && *start.s == '<' && span_find(text, ELEMENT);
}

bool export_recognise(struct span text)
{
	return is_json(text) || is_page(text) || export_is_csv(text);
}

static int count_lines(const char *from, const char *to)
{
	int n = 0;

	for (; from < to; from++)
		n += *from == '\n';
	return n;
}

/* line: of the text in its file, counted from 0 */
static int load(const char *file, struct span text, int line, json_t **root, struct err *e)
{
	json_error_t why;
	const char *schema;

	*root = json_loadb(text.s, text.len, 0, &why);
	if (!*root) {
		err_add(e, -EINVAL, "no valid JSON: %s", why.text);
		err_at(e, file, line + why.line, why.line > 1 || !line ? why.column : 0);
		return -EINVAL;
	}
	schema = json_string_value(json_object_get(*root, "schema"));
	if (schema && !strcmp(schema, SCHEMA))
		return 0;
	err_add(e, -EINVAL, "schema %s, where " SCHEMA " is expected", schema ? schema : "missing");
	err_at(e, file, 0, 0);
	if (schema && str_starts(schema, FAMILY))
		err_hint(e, "it was made by another version of kdelta");
	json_decref(*root);
	*root = NULL;
	return -EINVAL;
}

static int load_page(const char *file, struct span text, json_t **root, struct err *e)
{
	const char *at = span_find(text, ELEMENT) + strlen(ELEMENT);
	struct span rest = {at, text.len - (size_t)(at - text.s)};
	const char *end = span_find(rest, "</script>");

	if (!end) {
		err_add(e, -EINVAL, "the page ends within its data");
		err_at(e, file, 0, 0);
		return -EINVAL;
	}
	rest.len = (size_t)(end - at);
	return load(file, rest, count_lines(text.s, at), root, e);
}

int export_read(struct arena *a, const char *file, struct span text, json_t **root, struct err *e)
{
	*root = NULL;
	if (is_json(text))
		return load(file, text, 0, root, e);
	return is_page(text) ? load_page(file, text, root, e)
			     : export_read_csv(a, file, text, root, e);
}

json_t *export_swept_of_name(const char *name)
{
	json_t *list = json_array();
	const char *part = strchr(name, '/');

	while (part) {
		const char *next = strchr(part + 1, '/');
		size_t len = next ? (size_t)(next - part - 1) : strlen(part + 1);
		const char *eq = memchr(part + 1, '=', len);

		if (eq)
			json_array_append_new(list, json_pack("[s%,s%]", part + 1,
							      (size_t)(eq - part - 1), eq + 1,
							      (size_t)(part + 1 + len - eq - 1)));
		part = next;
	}
	return list;
}
