// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/yaml.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "core/file.h"
#include "core/num.h"
#include "core/str.h"

enum { YAML_DEPTH = 64 };

struct yaml_reader {
	struct arena *a;
	const char *file;
	yaml_parser_t parser;
	yaml_event_t event; /* current one, owned */
	struct err *e;
};

static int yaml_fail(struct yaml_reader *r, yaml_mark_t at, const char *what)
{
	int code = err_add(r->e, -EINVAL, "%s", what);

	err_at(r->e, r->file, (int)at.line + 1, (int)at.column + 1);
	return code;
}

static int yaml_advance(struct yaml_reader *r)
{
	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->parser, &r->event))
		return 0;
	memset(&r->event, 0, sizeof(r->event));
	return yaml_fail(r, r->parser.problem_mark,
			 r->parser.problem ? r->parser.problem : "not YAML");
}

static struct yaml_node *yaml_new_node(struct yaml_reader *r, enum yaml_kind kind)
{
	struct yaml_node *n = arena_alloc(r->a, sizeof(*n));

	n->kind = kind;
	n->file = r->file;
	n->line = (int)r->event.start_mark.line + 1;
	n->column = (int)r->event.start_mark.column + 1;
	return n;
}

static int yaml_read_node(struct yaml_reader *r, int depth, struct yaml_node **out);

static int yaml_read_sequence(struct yaml_reader *r, int depth, struct yaml_node *node)
{
	ARRAY_OF(struct yaml_node *) items = {NULL, 0, 0};
	int ret;

	while (!(ret = yaml_advance(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
		ret = yaml_read_node(r, depth + 1, ARRAY_PUSH(&items));
		if (ret)
			break;
	}
	node->items = arena_copy(r->a, items.items, items.n, sizeof(*items.items));
	node->n = items.n;
	ARRAY_FREE(&items);
	return ret;
}

static int yaml_read_pair(struct yaml_reader *r, int depth, struct yaml_pair *pair)
{
	yaml_mark_t at = r->event.start_mark;
	int ret;

	if (r->event.type != YAML_SCALAR_EVENT)
		return yaml_fail(r, at, "a key must be a plain word");
	pair->key = arena_strdup(r->a, (const char *)r->event.data.scalar.value);
	pair->line = (int)at.line + 1;
	pair->column = (int)at.column + 1;
	ret = yaml_advance(r);
	return ret ? ret : yaml_read_node(r, depth + 1, &pair->value);
}

static int yaml_read_mapping(struct yaml_reader *r, int depth, struct yaml_node *node)
{
	ARRAY_OF(struct yaml_pair) pairs = {NULL, 0, 0};
	size_t i;
	int ret;

	while (!(ret = yaml_advance(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
		struct yaml_pair pair = {0};

		ret = yaml_read_pair(r, depth, &pair);
		if (ret)
			break;
		for (i = 0; i < pairs.n; i++) {
			if (strcmp(pairs.items[i].key, pair.key))
				continue;
			ret = err_add(r->e, -EINVAL, "the key '%s' stands twice", pair.key);
			err_hint(r->e, "it stands first in line %d; remove one",
				 pairs.items[i].line);
			err_at(r->e, r->file, pair.line, pair.column);
			break;
		}
		if (ret)
			break;
		*ARRAY_PUSH(&pairs) = pair;
	}
	node->pairs = arena_copy(r->a, pairs.items, pairs.n, sizeof(*pairs.items));
	node->n = pairs.n;
	ARRAY_FREE(&pairs);
	return ret;
}

static int yaml_read_node(struct yaml_reader *r, int depth, struct yaml_node **out)
{
	yaml_mark_t at = r->event.start_mark;

	if (depth > YAML_DEPTH)
		return yaml_fail(r, at, "nested too deeply");
	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		*out = yaml_new_node(r, YAML_SCALAR);
		(*out)->text = arena_strndup(r->a, (const char *)r->event.data.scalar.value,
					     r->event.data.scalar.length);
		(*out)->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		if (strlen((*out)->text) != r->event.data.scalar.length)
			return yaml_fail(r, at, "a value holds a NUL character");
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		*out = yaml_new_node(r, YAML_SEQUENCE);
		return yaml_read_sequence(r, depth, *out);
	case YAML_MAPPING_START_EVENT:
		*out = yaml_new_node(r, YAML_MAPPING);
		return yaml_read_mapping(r, depth, *out);
	case YAML_ALIAS_EVENT:
		return yaml_fail(r, at, "anchors and aliases (&, *) are not supported here");
	default:
		return yaml_fail(r, at, "unexpected end of the document");
	}
}

static int yaml_read_document(struct yaml_reader *r, struct yaml_node **out)
{
	int ret = yaml_advance(r); /* stream start */

	if (ret || (ret = yaml_advance(r)))
		return ret;
	if (r->event.type == YAML_STREAM_END_EVENT)
		return yaml_fail(r, r->event.start_mark, "the file is empty");
	ret = yaml_advance(r);
	if (!ret)
		ret = yaml_read_node(r, 0, out);
	if (ret || (ret = yaml_advance(r)) || (ret = yaml_advance(r))) /* document end, next */
		return ret;
	if (r->event.type != YAML_STREAM_END_EVENT)
		return yaml_fail(r, r->event.start_mark, "a second document in one file");
	return 0;
}

struct yaml_node *yaml_parse(struct arena *a, const char *file, const char *text, size_t len,
			     struct err *e)
{
	struct yaml_reader r = {.a = a, .file = arena_strdup(a, file), .e = e};
	struct yaml_node *root = NULL;

	if (!yaml_parser_initialize(&r.parser)) {
		err_add(e, -ENOMEM, "cannot start the YAML reader");
		return NULL;
	}
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	if (yaml_read_document(&r, &root))
		root = NULL;
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	return root;
}

struct yaml_node *yaml_parse_file(struct arena *a, const char *path, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (file_read(path, 16 << 20, &text, e))
		return NULL;
	return yaml_parse(a, path, strbuf_str(&text), text.len, e);
}

struct yaml_node *yaml_get(struct yaml_node *map, const char *key)
{
	size_t i;

	if (!map || map->kind != YAML_MAPPING)
		return NULL;
	for (i = 0; i < map->n; i++)
		if (!strcmp(map->pairs[i].key, key))
			return map->pairs[i].value;
	return NULL;
}

int yaml_check_keys(struct yaml_node *map, const char *const *known, struct err *e)
{
	int ret = 0;
	size_t i, k;

	for (i = 0; map->kind == YAML_MAPPING && i < map->n; i++) {
		const struct yaml_pair *p = &map->pairs[i];
		const char *near;

		for (k = 0; known[k] && strcmp(known[k], p->key); k++)
			;
		if (known[k])
			continue;
		ret = err_add(e, -EINVAL, "unknown key '%s'", p->key);
		near = str_suggest(p->key, known);
		if (near)
			err_hint(e, "did you mean '%s'?", near);
		err_at(e, map->file, p->line, p->column);
	}
	return ret;
}

int yaml_error(const struct yaml_node *node, struct err *e, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	err_add(e, -EINVAL, "%s", strbuf_str(&sb));
	err_at(e, node->file, node->line, node->column);
	return -EINVAL;
}

int yaml_get_string(struct yaml_node *map, const char *key, const char **out, struct err *e)
{
	struct yaml_node *n = yaml_get(map, key);

	if (!n)
		return 0;
	if (n->kind != YAML_SCALAR)
		return yaml_error(n, e, "'%s' takes one value", key);
	*out = n->text;
	return 0;
}

int yaml_get_int(struct yaml_node *map, const char *key, int64_t min, int64_t max, int64_t *out,
		 struct err *e)
{
	struct yaml_node *n = yaml_get(map, key);
	int64_t v;

	if (!n)
		return 0;
	if (n->kind != YAML_SCALAR || !num_parse_int(span_of(n->text), &v) || v < min || v > max)
		return yaml_error(n, e, "'%s' takes a whole number from %lld to %lld", key,
				  (long long)min, (long long)max);
	*out = v;
	return 0;
}

int yaml_get_bool(struct yaml_node *map, const char *key, bool *out, struct err *e)
{
	struct yaml_node *n = yaml_get(map, key);

	if (!n)
		return 0;
	if (n->kind == YAML_SCALAR && (!strcmp(n->text, "true") || !strcmp(n->text, "yes")))
		*out = true;
	else if (n->kind == YAML_SCALAR && (!strcmp(n->text, "false") || !strcmp(n->text, "no")))
		*out = false;
	else
		return yaml_error(n, e, "'%s' takes yes or no", key);
	return 0;
}

int yaml_get_word(struct yaml_node *map, const char *key, const char *const *words, int fallback,
		  struct err *e)
{
	struct yaml_node *n = yaml_get(map, key);
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	int i;

	if (!n)
		return fallback;
	for (i = 0; words[i]; i++) {
		if (n->kind == YAML_SCALAR && !strcmp(words[i], n->text))
			return i;
		strbuf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	yaml_error(n, e, "'%s' takes one of: %s", key, strbuf_str(&all));
	return fallback;
}

int yaml_get_duration(struct yaml_node *map, const char *key, double *seconds, struct err *e)
{
	struct yaml_node *n = yaml_get(map, key);

	if (!n)
		return 0;
	if (n->kind != YAML_SCALAR || !num_parse_duration(n->text, seconds))
		return yaml_error(n, e, "'%s' takes a time such as 5s, 2m or 250ms", key);
	return 0;
}

int yaml_get_list(struct arena *a, struct yaml_node *map, const char *key, const char ***out,
		  size_t *n, struct err *e)
{
	struct yaml_node *node = yaml_get(map, key);
	size_t i, count;

	*out = NULL;
	*n = 0;
	if (!node)
		return 0;
	if (node->kind == YAML_MAPPING)
		return yaml_error(node, e, "'%s' takes a list of values", key);
	count = node->kind == YAML_SCALAR ? 1 : node->n;
	*out = arena_alloc_array(a, count + 1, sizeof(**out));
	if (node->kind == YAML_SCALAR) {
		(*out)[0] = node->text;
	} else {
		for (i = 0; i < count; i++) {
			if (node->items[i]->kind != YAML_SCALAR)
				return yaml_error(node->items[i], e,
						  "'%s' takes plain values, no lists in it", key);
			(*out)[i] = node->items[i]->text;
		}
	}
	*n = count;
	return 0;
}
