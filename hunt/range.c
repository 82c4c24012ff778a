// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"

#define LIGHT 0.1

struct key {
	const char *id;
	size_t index;
};

struct builder {
	const struct git *g;
	const struct range_options *opt;
	ARRAY_OF(struct candidate) items;
	ARRAY_OF(struct key) keys; /* sorted by id, once all are there */
	const char **parents;	   /* of each, hashes with blanks between */
};

static int compare_keys(const void *x, const void *y)
{
	const struct key *a = x, *b = y;

	return strcmp(a->id, b->id);
}

static bool is_documentation(struct span file)
{
	static const char *const folders[] = {"Documentation/", "doc/", "docs/", "LICENSES/",
					      "MAINTAINERS", ".mailmap", ".gitignore", "CREDITS"};
	static const char *const endings[] = {".rst", ".txt", ".md", ".1", ".5", ".8"};
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(folders); i++)
		if (span_starts(file, folders[i]))
			return true;
	for (i = 0; i < ARRAY_SIZE(endings); i++) {
		n = strlen(endings[i]);
		if (file.len > n && !memcmp(file.s + file.len - n, endings[i], n))
			return true;
	}
	return false;
}

static char *take_field(struct arena *a, struct span *line)
{
	const char *tab = memchr(line->s, '\t', line->len);
	size_t n = tab ? (size_t)(tab - line->s) : line->len;
	char *field = arena_strndup(a, line->s, n);

	span_skip(line, MIN(n + 1, line->len));
	return field;
}

/*
 * What git log says of full hashes never changes, and takes seconds where it compares the trees of
 * ten thousand commits: kept in the cache, ranges/HASH of the arguments.
 */
static int run_log(const struct git *g, const char *const *argv, const char **out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65], *path;
	size_t i;
	int ret;

	strbuf_adds(&text, g->repo);
	for (i = 0; argv[i]; i++)
		strbuf_addf(&text, "\n%s", argv[i]);
	data_sha256(text.buf, text.len, hex);
	path = path_cache(g->a, arena_printf(g->a, "ranges/%.16s", hex));
	strbuf_reset(&text);
	if (!file_read(path, 0, &text, &ignored)) {
		*out = arena_strndup(g->a, text.buf, text.len);
		return 0;
	}
	ret = git_run(g, argv, false, out);
	if (!ret && !file_make_dirs(path_folder(g->a, path), &ignored))
		file_write_atomic(path, *out, strlen(*out), &ignored);
	return ret;
}

/* "\1HASH\tPARENT PARENT\tSubject", then names of files, one a line. */
static int read_log(struct builder *b)
{
	const struct range_options *opt = b->opt;
	const char *argv[16] = {"log", "--topo-order", "--reverse", "--no-show-signature",
				"--no-renames", "--name-only", "--format=%x01%H%x09%P%x09%s"};
	ARRAY_OF(const char *) parents = {NULL, 0, 0};
	struct candidate *c = NULL;
	struct span rest, line;
	const char *out;
	size_t n = 7;
	int ret;

	if (opt->first_parent)
		argv[n++] = "--first-parent";
	if (opt->path)
		argv[n++] = "--parents";
	argv[n++] = arena_printf(b->g->a, "%s..%s", opt->good, opt->bad);
	argv[n++] = "--";
	argv[n] = opt->path;
	ret = run_log(b->g, argv, &out);
	if (ret)
		return ret;
	*ARRAY_PUSH(&parents) = "";
	for (rest = span_of(out); span_next_line(&rest, &line, NULL);) {
		if (line.len && *line.s == '\1') {
			span_skip(&line, 1);
			c = ARRAY_PUSH(&b->items);
			c->id = take_field(b->g->a, &line);
			*ARRAY_PUSH(&parents) = take_field(b->g->a, &line);
			c->subject = git_text(b->g->a, line);
			c->weight = LIGHT;
		} else if (c && line.len && !is_documentation(line)) {
			c->weight = 1;
		}
	}
	b->parents = arena_copy(b->g->a, parents.items, parents.n, sizeof(*parents.items));
	ARRAY_FREE(&parents);
	return 0;
}

static long find_key(const struct builder *b, const char *id)
{
	const struct key wanted = {id, 0};
	const struct key *found = b->keys.n ? bsearch(&wanted, b->keys.items, b->keys.n,
						      sizeof(wanted), compare_keys)
					    : NULL;

	return found ? (long)found->index : -1;
}

/* A parent outside the range is the good end: what lies before it is taken for good. */
static void link_parents(struct builder *b, size_t i)
{
	struct candidate *c = &b->items.items[i];
	struct span rest = span_of(b->parents[i]), word;

	c->parents = arena_alloc_array(b->g->a, strlen(b->parents[i]) / 40 + 1,
				       sizeof(*c->parents));
	while (span_next_word(&rest, &word)) {
		long parent = find_key(b, arena_strndup(b->g->a, word.s, word.len));

		c->parents[c->n_parents++] = parent < 0 ? 0 : (size_t)parent;
		if (b->opt->first_parent)
			break;
	}
	if (!c->n_parents)
		c->parents[c->n_parents++] = 0;
}

/* A bad end that the path leaves out: it has what all the others have, and is not it. */
static void add_bad_end(struct builder *b)
{
	bool *has_child = arena_alloc_array(b->g->a, b->items.n, sizeof(*has_child));
	struct candidate *c;
	size_t i, k, n = b->items.n;

	for (i = 0; i < n; i++)
		for (k = 0; k < b->items.items[i].n_parents; k++)
			has_child[b->items.items[i].parents[k]] = true;
	c = ARRAY_PUSH(&b->items);
	c->id = b->opt->bad;
	c->parents = arena_alloc_array(b->g->a, n, sizeof(*c->parents));
	for (i = 0; i < n; i++)
		if (!has_child[i])
			c->parents[c->n_parents++] = i;
}

static int finish(struct builder *b, struct range *range)
{
	struct arena *a = b->g->a;
	size_t i;
	int ret = 0;

	for (i = 0; i < b->items.n; i++)
		*ARRAY_PUSH(&b->keys) = (struct key){b->items.items[i].id, i};
	qsort(b->keys.items, b->keys.n, sizeof(*b->keys.items), compare_keys);
	for (i = 1; i < b->items.n; i++)
		link_parents(b, i);
	if (find_key(b, b->opt->bad) < 0) {
		add_bad_end(b);
		ret = git_field(b->g, b->opt->bad, "%s",
				&b->items.items[b->items.n - 1].subject);
	}
	for (i = 0; i < b->items.n; i++)
		b->items.items[i].name = arena_strndup(a, b->items.items[i].id, 12);
	range->n = b->items.n;
	range->items = arena_copy(a, b->items.items, b->items.n, sizeof(*b->items.items));
	return ret;
}

int range_read(const struct git *g, const struct range_options *opt, struct range *range)
{
	struct builder b = {.g = g, .opt = opt};
	struct candidate *good = ARRAY_PUSH(&b.items);
	const char *subject;
	int ret = git_field(g, opt->good, "%s", &subject);

	*good = (struct candidate){.id = opt->good, .subject = subject};
	if (!ret)
		ret = read_log(&b);
	if (!ret && b.items.n == 1) {
		ret = err_add(g->e, -EINVAL, "there is no commit between %.12s and %.12s%s%s",
			      opt->good, opt->bad, opt->path ? " that touches " : "",
			      opt->path ? opt->path : "");
	}
	if (!ret)
		ret = finish(&b, range);
	ARRAY_FREE(&b.items);
	ARRAY_FREE(&b.keys);
	return ret;
}

void range_line(struct arena *a, const char *const *names, const char *const *subjects, size_t n,
		struct range *range)
{
	size_t i;

	range->n = n;
	range->items = arena_alloc_array(a, n, sizeof(*range->items));
	for (i = 0; i < n; i++) {
		struct candidate *c = &range->items[i];

		c->id = c->name = names[i];
		c->subject = subjects[i];
		c->weight = i ? 1 : 0;
		c->parents = arena_alloc(a, sizeof(*c->parents));
		c->n_parents = i ? 1 : 0;
		*c->parents = i ? i - 1 : 0;
	}
}

long range_find(const struct range *r, const char *id)
{
	size_t i, n = strlen(id);

	for (i = 0; i < r->n; i++)
		if (!strcmp(r->items[i].id, id) || (n >= 7 && !strncmp(r->items[i].id, id, n)))
			return (long)i;
	return -1;
}
