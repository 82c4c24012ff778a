// SPDX-License-Identifier: GPL-2.0-or-later
#include "campaign/metrics.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/str.h"
#include "core/yaml.h"

const char *const metric_directions[] = {"higher", "lower", "neutral", "depends", "unknown", NULL};
const char *const metric_means[] = {"amean", "hmean", "gmean", "median", NULL};
const char *const metric_roles[] = {"headline", "counter", "diagnostic", NULL};

/*
 * Patterns whose text up to the first dot is the same, in the order of the files. One whose first
 * part holds a '*' belongs to the family "".
 */
struct family {
	struct span name;
	const uint16_t *items; /* indexes into defs */
	size_t n;
};

struct metric_set {
	struct arena *a;
	ARRAY_OF(struct metric_topic) topics;
	ARRAY_OF(struct metric_bench) benches;
	ARRAY_OF(struct metric_def) defs;
	ARRAY_OF(const char *) def_topics; /* names, until all files are read */
	struct span *tails;		   /* of each pattern, what stands behind its last star */
	struct family *families;	   /* sorted by name */
	size_t n_families;
	const char *time_bound;
};

enum { MOST_METRICS = UINT16_MAX };

static const char *const file_keys[] = {"topics", "benchmarks", "metrics", "time_bound", NULL};
static const char *const topic_keys[] = {"remark", "otherwise", "moves", NULL};
static const char *const bench_keys[] = {"work", "description", NULL};
static const char *const metric_keys[] = {"unit",  "direction",	    "time_bound",  "mean",
					  "role",  "topic",	    "description", "reason",
					  "moves", "deterministic", NULL};
static const char *const work_words[] = {"fixed", "time", NULL};

/* ---- reading ---- */

static void read_topic(struct metric_set *s, const struct yaml_pair *p, struct err *e)
{
	struct metric_topic *t;

	if (p->value->kind != YAML_MAPPING) {
		yaml_error(p->value, e, "a topic takes a mapping such as {remark: less is better}");
		return;
	}
	yaml_check_keys(p->value, topic_keys, e);
	array_for_each (t, &s->topics)
		if (!strcmp(t->name, p->key))
			return;
	t = ARRAY_PUSH(&s->topics);
	*t = (struct metric_topic){p->key, "", "", ""};
	yaml_get_string(p->value, "remark", &t->remark, e);
	yaml_get_string(p->value, "otherwise", &t->otherwise, e);
	yaml_get_string(p->value, "moves", &t->moves, e);
}

static void read_bench(struct metric_set *s, const struct yaml_pair *p, struct err *e)
{
	struct metric_bench *b = ARRAY_PUSH(&s->benches);
	int work;

	*b = (struct metric_bench){.pattern = p->key, .description = ""};
	if (p->value->kind != YAML_MAPPING) {
		yaml_error(p->value, e, "a benchmark takes a mapping such as {work: fixed}");
		return;
	}
	yaml_check_keys(p->value, bench_keys, e);
	yaml_get_string(p->value, "description", &b->description, e);
	work = yaml_get_word(p->value, "work", work_words, -1, e);
	b->fixed_work = work == 0;
	b->time_bound = work == 1;
}

static void read_metric(struct metric_set *s, const struct yaml_pair *p, struct err *e)
{
	struct metric_def *m;
	const char *topic = NULL;

	if (p->value->kind != YAML_MAPPING) {
		yaml_error(p->value, e, "the metric '%s' takes a mapping", p->key);
		return;
	}
	if (s->defs.n == MOST_METRICS) {
		yaml_error(p->value, e, "more than %d metrics are described", (int)MOST_METRICS);
		return;
	}
	yaml_check_keys(p->value, metric_keys, e);
	m = ARRAY_PUSH(&s->defs);
	*m = (struct metric_def){.pattern = p->key,
				 .unit = "",
				 .description = "",
				 .reason = "",
				 .moves = "",
				 .file = p->value->file,
				 .line = p->line};
	yaml_get_string(p->value, "unit", &m->unit, e);
	yaml_get_string(p->value, "description", &m->description, e);
	yaml_get_string(p->value, "reason", &m->reason, e);
	yaml_get_string(p->value, "moves", &m->moves, e);
	yaml_get_string(p->value, "topic", &topic, e);
	yaml_get_bool(p->value, "deterministic", &m->deterministic, e);
	m->direction = (enum direction)yaml_get_word(p->value, "direction", metric_directions,
						     DIR_UNKNOWN, e);
	m->time_bound = (enum direction)yaml_get_word(p->value, "time_bound", metric_directions,
						      (int)m->direction, e);
	m->mean_kind = (enum mean_kind)yaml_get_word(p->value, "mean", metric_means, MEAN_AMEAN, e);
	m->role = metric_roles[yaml_get_word(p->value, "role", metric_roles, 1, e)];
	*ARRAY_PUSH(&s->def_topics) = topic;
}

typedef void (*read_fn)(struct metric_set *s, const struct yaml_pair *p, struct err *e);

static void read_section(struct metric_set *s, struct yaml_node *root, const char *key, read_fn fn,
			 struct err *e)
{
	struct yaml_node *n = yaml_get(root, key);
	size_t i;

	if (!n)
		return;
	if (n->kind != YAML_MAPPING) {
		yaml_error(n, e, "'%s' takes a mapping", key);
		return;
	}
	for (i = 0; i < n->n; i++)
		fn(s, &n->pairs[i], e);
}

static void read_file(struct metric_set *s, const char *file, struct err *e)
{
	struct yaml_node *root;

	if (!file_exists(file))
		return;
	root = yaml_parse_file(s->a, file, e);
	if (!root)
		return;
	if (root->kind != YAML_MAPPING) {
		yaml_error(root, e, "a description of metrics is a mapping");
		return;
	}
	yaml_check_keys(root, file_keys, e);
	if (!s->time_bound)
		yaml_get_string(root, "time_bound", &s->time_bound, e);
	read_section(s, root, "topics", read_topic, e);
	read_section(s, root, "benchmarks", read_bench, e);
	read_section(s, root, "metrics", read_metric, e);
}

/* ---- the index ---- */

/* "softirqs." of "softirqs.SCHED"; empty where there is no dot, or a '*' before it. */
static struct span family_of(const char *name)
{
	const char *dot = strchr(name, '.');
	struct span head = {name, dot ? (size_t)(dot - name) + 1 : 0};

	if (memchr(head.s, '*', head.len))
		head.len = 0;
	return head;
}

static int span_order(struct span x, struct span y)
{
	int r = memcmp(x.s, y.s, MIN(x.len, y.len));

	return r ? r : (x.len > y.len) - (x.len < y.len);
}

static int family_order(const void *x, const void *y)
{
	return span_order(((const struct family *)x)->name, ((const struct family *)y)->name);
}

static const struct family *family_find(const struct metric_set *s, struct span name)
{
	const struct family key = {.name = name};

	return s->n_families ? bsearch(&key, s->families, s->n_families, sizeof(key), family_order)
			     : NULL;
}

static void make_index(struct metric_set *s)
{
	uint16_t *items = arena_alloc_array(s->a, s->defs.n, sizeof(*items));
	struct family *known, one;
	size_t i, k, at = 0;

	s->tails = arena_alloc_array(s->a, s->defs.n, sizeof(*s->tails));
	s->families = arena_alloc_array(s->a, s->defs.n + 1, sizeof(*s->families));
	for (i = 0; i < s->defs.n; i++) {
		const char *star = strrchr(s->defs.items[i].pattern, '*');

		s->tails[i] = span_of(star ? star + 1 : "");
		one = (struct family){.name = family_of(s->defs.items[i].pattern)};
		for (k = 0; k < s->n_families; k++)
			if (!span_order(s->families[k].name, one.name))
				break;
		s->families[k] = k < s->n_families ? s->families[k] : one;
		s->families[k].n++;
		s->n_families = MAX(s->n_families, k + 1);
	}
	for (k = 0; k < s->n_families; k++) {
		known = &s->families[k];
		known->items = &items[at];
		for (i = 0; i < s->defs.n; i++)
			if (!span_order(family_of(s->defs.items[i].pattern), known->name))
				items[at++] = (uint16_t)i;
	}
	if (s->n_families)
		qsort(s->families, s->n_families, sizeof(*s->families), family_order);
}

/* The first of the family at or after `from` that matches, below `limit`. */
static size_t family_match(const struct metric_set *s, const struct family *f, struct span name,
			   size_t from, size_t limit)
{
	size_t i;

	for (i = 0; f && i < f->n && f->items[i] < limit; i++) {
		size_t item = f->items[i];
		struct span tail = s->tails[item];

		/* the end first: a star in front would be tried at every place */
		if (item >= from && tail.len <= name.len &&
		    !memcmp(name.s + name.len - tail.len, tail.s, tail.len) &&
		    str_glob(s->defs.items[item].pattern + f->name.len, name.s + f->name.len))
			return item;
	}
	return limit;
}

/* The first definition at or after `from` of a name or of its part behind the first dot. */
static size_t find_from(const struct metric_set *s, const char *name, size_t from)
{
	const struct family *any = family_find(s, (struct span){"", 0});
	const char *dot = strchr(name, '.');
	size_t best = s->defs.n;

	for (; name; name = name < dot ? dot + 1 : NULL) {
		struct span head = family_of(name), whole = span_of(name);

		if (head.len)
			best = family_match(s, family_find(s, head), whole, from, best);
		best = family_match(s, any, whole, from, best);
	}
	return best;
}

/* ---- what is asked for ---- */

const struct metric_def *metrics_find(const struct metric_set *s, const char *name)
{
	size_t i = find_from(s, name, 0);

	return i < s->defs.n ? &s->defs.items[i] : NULL;
}

const char *metrics_unit(const struct metric_set *s, const struct metric_def *m, const char *name)
{
	size_t i = (size_t)(m - s->defs.items);

	while (i < s->defs.n && !strcmp(s->defs.items[i].unit, "mixed"))
		i = find_from(s, name, i + 1);
	return i < s->defs.n ? s->defs.items[i].unit : "";
}

const struct metric_bench *metrics_bench(const struct metric_set *s, const char *name)
{
	const struct metric_bench *b;

	array_for_each (b, &s->benches)
		if (str_glob(b->pattern, name))
			return b;
	return NULL;
}

const struct metric_topic *metrics_topics(const struct metric_set *s, size_t *n)
{
	*n = s->topics.n;
	return s->topics.items;
}

const struct metric_def *metrics_all(const struct metric_set *s, size_t *n)
{
	*n = s->defs.n;
	return s->defs.items;
}

const struct metric_bench *metrics_benches(const struct metric_set *s, size_t *n)
{
	*n = s->benches.n;
	return s->benches.items;
}

const char *metrics_time_bound(const struct metric_set *s)
{
	return s->time_bound ? s->time_bound : "";
}

/* ---- checks ---- */

static void metric_error(const struct metric_def *m, struct err *e, const char *what,
			 const char *name)
{
	err_add(e, -EINVAL, "the metric '%s' %s '%s'", m->pattern, what, name);
	err_at(e, m->file, m->line, 0);
}

static void find_topics(struct metric_set *s, struct err *e)
{
	const char **names = arena_alloc_array(s->a, s->topics.n + 1, sizeof(*names)), *near;
	size_t i, k;

	for (k = 0; k < s->topics.n; k++)
		names[k] = s->topics.items[k].name;
	for (i = 0; i < s->defs.n; i++) {
		const char *name = s->def_topics.items[i];

		if (!name)
			continue;
		for (k = 0; names[k] && strcmp(names[k], name); k++)
			;
		if (names[k]) {
			s->defs.items[i].topic = &s->topics.items[k];
			continue;
		}
		metric_error(&s->defs.items[i], e, "stands under an unknown topic", name);
		near = str_suggest(name, names);
		if (near)
			err_hint(e, "did you mean '%s'?", near);
		else
			err_hint(e, "describe it under `topics:`, or take another one");
	}
}

/*
 * A pattern matches all that another one does if it matches the other's text with its stars as
 * they stand: no literal of it is a star.
 */
static void find_hidden(const struct metric_set *s, struct err *e)
{
	size_t i, k;

	for (i = 0; i < s->defs.n; i++) {
		const struct metric_def *m = &s->defs.items[i], *first;

		k = find_from(s, m->pattern, 0);
		first = &s->defs.items[k];
		if (k < i && !strcmp(first->file, m->file) && str_glob(first->pattern, m->pattern))
			metric_error(m, e, "is never reached: an earlier line matches, that of",
				     first->pattern);
	}
}

#define TAKE(set, list)                                                                            \
	do {                                                                                       \
		void *items = (set)->list.items;                                                   \
		(set)->list.items =                                                                \
			arena_copy((set)->a, items, (set)->list.n, sizeof(*(set)->list.items));    \
		mem_free_ptr(&items);                                                              \
	} while (0)

int metrics_load(struct arena *a, const char *extra_dir, struct metric_set **out, struct err *e)
{
	struct metric_set *s = arena_alloc(a, sizeof(*s));
	const char *shipped = path_share(a, "configs/metrics.yaml");
	const char *own = path_config(a, "metrics.yaml"), *extra = NULL;
	size_t before = e->list.n;

	s->a = a;
	if (extra_dir)
		extra = arena_printf(a, "%s/metrics.yaml", extra_dir);
	if (extra && !file_is_same(extra, own) && !file_is_same(extra, shipped))
		read_file(s, extra, e);
	read_file(s, own, e);
	read_file(s, shipped, e);
	TAKE(s, topics);
	TAKE(s, benches);
	TAKE(s, defs);
	make_index(s);
	find_topics(s, e);
	find_hidden(s, e);
	ARRAY_FREE(&s->def_topics);
	*out = s;
	return e->list.n > before ? -EINVAL : 0;
}
