// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Campaign files. Everything is read before anything is refused, so that all errors of a file are
 * told at once. A list is an axis of the test cases, even one of a single value.
 */
#include "campaign/campaign_reader.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/backends.h"
#include "core/file.h"
#include "core/num.h"
#include "machine/host.h"

enum { MAX_CASES = 10000 };

/* One parameter, or the binding (param NULL), with all values it takes. */
struct axis {
	const struct bench_param *param;
	const char *name;
	const char **values;
	size_t n;
	bool swept;
};

static const char *const campaign_keys[] = {
	"campaign", "description", "order", "repeat",	"runs_per_boot", "backend", "seed",
	"memory",   "cpus",	   "numa",  "variants", "benchmarks", "monitors", "target",
	"counting", "slurm",   "nightly", NULL,
};
static const char *const counting_words[] = {"time", "instructions", NULL};
static const char *const source_keys[] = {"deb", "git", "tarball", NULL};

void reader_suggest(struct err *e, const char *word, const char *const *words)
{
	const char *near = str_suggest(word, words);

	if (near)
		err_hint(e, "did you mean '%s'?", near);
}

const char *reader_path(struct reader *r, const char *path)
{
	const char *folder = path_folder(r->a, r->c->file);
	char whole[PATH_MAX];

	if (*path == '/')
		return path;
	/* the programs that get it (git, make, QEMU) run in folders of their own */
	if (realpath(folder, whole))
		folder = strcmp(whole, "/") ? whole : "";
	return arena_printf(r->a, "%s/%s", folder, path);
}

bool reader_is_word(const char *s, const char *more)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	for (; *s; s++)
		if (!strchr(plain, *s) && !strchr(more, *s))
			return false;
	return true;
}

/* A count may be a share of the CPUs: it stays as written until the binding is known. */
static const char *canonical_count(struct reader *r, const struct bench_param *p,
				   const struct yaml_node *n)
{
	struct span text = span_of(n->text);
	int64_t v;
	double share;

	if (p->is_auto && !strcmp(n->text, "auto"))
		return "auto";
	if (str_ends(n->text, "%")) {
		text.len--;
		if (num_parse(text, &share) && share > 0 && share <= 10000)
			return n->text;
	} else if (num_parse_int(text, &v) && (double)v >= p->min && v <= 1000000000) {
		return arena_printf(r->a, "%lld", (long long)v);
	}
	yaml_error(n, r->e,
		   "'%s' takes a whole number from %g, or a share of the CPUs such as 100%%%s",
		   p->name, p->min, p->is_auto ? ", or auto" : "");
	return NULL;
}

static const char *canonical_duration(struct reader *r, const struct bench_param *p,
				      const struct yaml_node *n)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	double seconds;

	if (!num_parse_duration(n->text, &seconds) || seconds < p->min || seconds <= 0) {
		yaml_error(n, r->e, "'%s' takes a time such as 5s or 2m", p->name);
		if (p->min > 0)
			err_hint(r->e, "at least %gs", p->min);
		return NULL;
	}
	num_add_exact(&sb, seconds);
	strbuf_addc(&sb, 's');
	return arena_strdup(r->a, strbuf_str(&sb));
}

/* {deb: linux-source-6.1} becomes "deb:linux-source-6.1". */
static const char *canonical_source(struct reader *r, const struct yaml_node *n)
{
	const struct yaml_pair *p = n->kind == YAML_MAPPING && n->n == 1 ? n->pairs : NULL;
	size_t i;

	for (i = 0; p && source_keys[i]; i++) {
		const char *value = p->value->text;

		if (strcmp(source_keys[i], p->key) || p->value->kind != YAML_SCALAR || !*value ||
		    *value == '-')
			continue;
		return arena_printf(r->a, "%s:%s", p->key, i ? reader_path(r, value) : value);
	}
	yaml_error(n, r->e, "'source' takes {deb: PACKAGE}, {git: PATH} or {tarball: PATH}");
	return NULL;
}

static const char *canonical_value(struct reader *r, const struct bench_def *bench,
				   const struct bench_param *p, const struct yaml_node *n)
{
	size_t i;

	if (bench->build && !strcmp(p->name, "source"))
		return canonical_source(r, n);
	if (n->kind != YAML_SCALAR || !*n->text) {
		yaml_error(n, r->e, "'%s' takes a value or a list of values", p->name);
		return NULL;
	}
	switch (p->type) {
	case PARAM_COUNT:
		return canonical_count(r, p, n);
	case PARAM_DURATION:
		return canonical_duration(r, p, n);
	case PARAM_WORD:
		for (i = 0; p->words[i]; i++)
			if (!strcmp(p->words[i], n->text))
				return p->words[i];
		yaml_error(n, r->e, "'%s' cannot be '%s'", p->name, n->text);
		reader_suggest(r->e, n->text, p->words);
		return NULL;
	default:
		if (*n->text != '-' && !strchr(n->text, '\n'))
			return n->text;
		yaml_error(n, r->e, "'%s' takes text on one line without a leading '-'", p->name);
		return NULL;
	}
}

/* A value that is given, or the default where the key is absent. Returns false if it lacks. */
static bool read_axis(struct reader *r, const struct bench_def *bench, struct yaml_node *entry,
		      struct yaml_node *map, const struct bench_param *p, struct axis *axis)
{
	struct yaml_node *given = yaml_get(map, p->name), standard = {0}, *one;
	size_t i, n;

	axis->param = p;
	axis->name = p->name;
	if (!given) {
		if (!p->default_value) {
			yaml_error(entry, r->e, "%s lacks '%s'%s%s", bench->name, p->name,
				   p->description ? ": " : "",
				   p->description ? p->description : "");
			return false;
		}
		standard = *entry;
		standard.kind = YAML_SCALAR;
		standard.text = p->default_value;
		given = &standard;
	}
	axis->swept = given->kind == YAML_SEQUENCE;
	n = axis->swept ? given->n : 1;
	axis->values = arena_alloc_array(r->a, n + 1, sizeof(*axis->values));
	for (i = 0; i < n; i++) {
		one = axis->swept ? given->items[i] : given;
		axis->values[axis->n] = canonical_value(r, bench, p, one);
		axis->n += axis->values[axis->n] != NULL;
	}
	if (axis->swept && !n)
		yaml_error(given, r->e, "'%s' is an empty list", p->name);
	return axis->n == n && n;
}

static bool read_bind(struct reader *r, struct yaml_node *map, struct axis *axis)
{
	struct yaml_node *given = yaml_get(map, "bind");
	const char **list;
	size_t n, i, before = r->e->list.n;

	axis->name = "bind";
	if (!given || yaml_get_list(r->a, map, "bind", &list, &n, r->e))
		return !given;
	axis->swept = given->kind == YAML_SEQUENCE;
	axis->values = list;
	axis->n = n;
	for (i = 0; i < n; i++) {
		/* "cpus 0-3" without its blank, as in names */
		if (str_starts(list[i], "cpus "))
			list[i] = arena_printf(r->a, "cpus%s",
					       list[i] + strspn(list[i] + 4, " ") + 4);
		reader_bind_cpus(r, axis->swept ? given->items[i] : given, list[i]);
	}
	return r->e->list.n == before;
}

/* Shares of CPUs become numbers now that the binding is known. */
static const char *settle_count(struct reader *r, const char *value, int cpus)
{
	double share;

	if (!str_ends(value, "%") || !num_parse((struct span){value, strlen(value) - 1}, &share))
		return value;
	return arena_printf(r->a, "%d", (int)fmax(1, floor(cpus * share / 100 + 0.5)));
}

static void set_build(struct test_case *c)
{
	const char *source = case_param(c, "source");

	c->config = case_param(c, "config");
	c->target = case_param(c, "target");
	c->drop_caches = str_equal(case_param(c, "drop_caches"), "yes");
	if (str_starts(source, "deb:"))
		c->source_deb = source + 4;
	else if (str_starts(source, "git:"))
		c->source_git = source + 4;
	else
		c->source_tarball = source + strlen("tarball:");
}

/* The axes of one entry, and what all its cases share. */
struct entry {
	const struct bench_def *bench;
	const struct yaml_node *node;
	struct axis *axes; /* one for each parameter, then bind */
	size_t n_axes;
	const char *program;
	double deadline, expected;
	int index;
};

static void add_case(struct reader *r, const struct entry *en, const size_t *at)
{
	const struct axis *bind = &en->axes[en->n_axes - 1];
	struct test_case c = {.bench = en->bench,
			      .entry = en->index,
			      .program = en->program,
			      .deadline = en->deadline,
			      .stated = en->expected};
	int cpus = r->cpus, highest;
	size_t i, k;

	if (bind->n) {
		c.bind = bind->values[at[en->n_axes - 1]];
		c.cpus = reader_bind_cpus(r, en->node, c.bind);
		cpus = cpulist_count(c.cpus, &highest);
	}
	c.params = arena_alloc_array(r->a, en->n_axes, sizeof(*c.params));
	for (i = 0; i < en->n_axes; i++) {
		const struct axis *x = &en->axes[i];
		const struct bench_param *p = x->param;

		if (!x->n ||
		    (p && p->only_param && !str_equal(case_param(&c, p->only_param), p->only_word)))
			continue;
		c.params[c.n_params++] = (struct param_value){
			x->name, settle_count(r, x->values[at[i]], cpus), x->swept};
	}
	if (en->bench->build)
		set_build(&c);
	case_estimate(&c, false);
	case_finish(r->a, &c);
	/* Axes that a word switches off, or shares that round alike, give the same case again. */
	for (k = 0; k < r->cases.n; k++)
		if (!strcmp(r->cases.items[k].identity, c.identity) &&
		    r->cases.items[k].entry == c.entry)
			return;
	*ARRAY_PUSH(&r->cases) = c;
}

/* The product of all axes, the last one turning fastest. */
static void add_product(struct reader *r, const struct entry *en)
{
	size_t *at = arena_alloc_array(r->a, en->n_axes, sizeof(*at)), i, total = 1;

	for (i = 0; i < en->n_axes; i++) {
		total *= MAX(en->axes[i].n, (size_t)1);
		if (total > MAX_CASES) {
			yaml_error(en->node, r->e, "more than %d test cases", MAX_CASES);
			return;
		}
	}
	while (total--) {
		add_case(r, en, at);
		for (i = en->n_axes; i-- > 0;) {
			if (++at[i] < en->axes[i].n)
				break;
			at[i] = 0;
		}
	}
}

/* Keys an entry may have: the parameters and those of every benchmark. */
static const char *const *entry_keys(struct reader *r, const struct bench_def *bench)
{
	static const char *const common[] = {"bind", "program", "deadline", "expected"};
	const char **keys =
		arena_alloc_array(r->a, bench->n_params + ARRAY_SIZE(common) + 1, sizeof(*keys));
	size_t i;

	for (i = 0; i < bench->n_params; i++)
		keys[i] = bench->params[i].name;
	memcpy(keys + i, common, sizeof(common));
	return keys;
}

/*
 * Where a benchmark is absent and another one takes its place, that one runs, under its own name.
 */
static const struct bench_def *stand_in(struct reader *r, const struct bench_def *bench,
					const struct yaml_node *map)
{
	struct test_case probe = {.bench = bench, .program = bench->program};
	const struct bench_def *other;

	if (!bench->stand_in || r->target ||
	    (map->kind == YAML_MAPPING && yaml_get((void *)map, "program")) ||
	    case_program_path(r->a, &probe))
		return bench;
	other = catalog_find(r->cat, bench->stand_in);
	return other ? other : bench;
}

/* - tbench: {clients: [1, 2], time: 5s}, or the bare name for all defaults */
static void read_entry(struct reader *r, struct yaml_node *item, int index)
{
	const char *name = item->kind == YAML_SCALAR			? item->text
			   : item->kind == YAML_MAPPING && item->n == 1 ? item->pairs[0].key
									: NULL;
	struct yaml_node *map = item->kind == YAML_MAPPING && item->n ? item->pairs[0].value : item;
	struct entry en = {.index = index, .node = item};
	bool ok = true;
	size_t i;

	if (!name) {
		yaml_error(item, r->e, "a benchmark is written as NAME: {parameters}");
		return;
	}
	en.bench = catalog_find(r->cat, name);
	if (!en.bench) {
		yaml_error(item, r->e, "unknown benchmark '%s'", name);
		reader_suggest(r->e, name, catalog_names(r->cat));
		return;
	}
	if (map->kind == YAML_SEQUENCE || (map->kind == YAML_SCALAR && map != item && *map->text)) {
		yaml_error(map, r->e, "'%s' takes a mapping of parameters", name);
		return;
	}
	if (en.bench->build && r->target) {
		yaml_error(item, r->e, "%s needs a source tree, which targets do not have", name);
		err_hint(r->e, "put it into a campaign of its own with backend: host, manual or qemu");
	}
	if (r->c->counting && campaign_uncounted(en.bench)) {
		yaml_error(item, r->e, "%s %s", name, campaign_uncounted(en.bench));
		err_hint(r->e, "count instructions of a fixed piece of work: pipepong, hackbench");
	}
	en.bench = stand_in(r, en.bench, map);
	yaml_check_keys(map, entry_keys(r, en.bench), r->e);
	en.program = en.bench->program;
	yaml_get_string(map, "program", &en.program, r->e);
	if (en.program != en.bench->program && strchr(en.program, '/'))
		en.program = reader_path(r, en.program);
	ok &= !yaml_get_duration(map, "deadline", &en.deadline, r->e);
	ok &= !yaml_get_duration(map, "expected", &en.expected, r->e);
	en.n_axes = en.bench->n_params + 1;
	en.axes = arena_alloc_array(r->a, en.n_axes, sizeof(*en.axes));
	for (i = 0; i < en.bench->n_params; i++)
		ok &= read_axis(r, en.bench, item, map, &en.bench->params[i], &en.axes[i]);
	ok &= read_bind(r, map, &en.axes[i]);
	if (ok)
		add_product(r, &en);
}

/* Two entries may give cases of one name: then every parameter that differs is part of it. */
static void part_names(struct reader *r, const struct yaml_node *list)
{
	struct test_case *a, *b;
	size_t i;

	array_for_each (a, &r->cases) {
		for (b = r->cases.items; b < a; b++) {
			if (!strcmp(a->identity, b->identity)) {
				yaml_error(list->items[a->entry], r->e,
					   "the test case %s stands twice", a->name);
				continue;
			}
			if (strcmp(a->name, b->name))
				continue;
			for (i = 0; i < a->n_params && i < b->n_params; i++)
				if (strcmp(a->params[i].value, b->params[i].value))
					a->params[i].swept = b->params[i].swept = true;
			case_finish(r->a, a);
			case_finish(r->a, b);
		}
	}
}

static void read_benchmarks(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(root, "benchmarks");
	size_t i;

	if (!list && r->c->counting)
		return;
	if (!list || list->kind != YAML_SEQUENCE || !list->n) {
		yaml_error(list ? list : root, r->e, "'benchmarks' takes a list of benchmarks");
		err_hint(r->e, "e.g. benchmarks: [tbench: {clients: [1, 2], time: 60s}]");
		return;
	}
	for (i = 0; i < list->n; i++)
		read_entry(r, list->items[i], (int)i);
	part_names(r, list);
}

/* The file's name without folder and ending. */
static const char *name_from_file(struct reader *r)
{
	const char *slash = strrchr(r->c->file, '/'), *base = slash ? slash + 1 : r->c->file;
	const char *dot = strrchr(base, '.');

	return arena_strndup(r->a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* Tuples of a boot, and how many there are; every run of them is a run of its own. */
static void read_flip(struct reader *r, struct yaml_node *root, int64_t *repeat, int64_t *runs)
{
	static const char *const orders[] = {"blocks", "flip", NULL};
	struct campaign_config *c = r->c;
	const struct backend_ops *ops = backend_find(c->backend);

	c->flip = yaml_get_word(root, "order", orders, 0, r->e) == 1;
	if (!c->flip)
		return;
	if (ops && !ops->flip) {
		yaml_error(yaml_get(root, "order"), r->e,
			   "the %s backend cannot switch settings inside a boot", c->backend);
		err_hint(r->e, "leave 'order' out, or use another backend");
	}
	if (c->counting) {
		yaml_error(yaml_get(root, "order"), r->e,
			   "counts do not drift: they have a boot for every run");
		err_hint(r->e, "leave 'order: flip' or 'counting' out");
	}
	if (!yaml_get(root, "repeat"))
		*repeat = FLIP_REPEAT;
	if (c->auto_repeat) {
		yaml_error(yaml_get(root, "repeat"), r->e, "with order: flip 'repeat' is a number");
		err_hint(r->e, "it counts the pairs; --until-sure stops when they are enough");
	}
	c->auto_repeat = c->auto_runs = false;
	c->tuples = yaml_get(root, "runs_per_boot") ? (int)*runs : 0;
	*runs = 1;
}

static void read_numa(struct reader *r, struct yaml_node *root, int64_t cpus)
{
	const struct yaml_node *at = yaml_get(root, "numa");
	int64_t nodes = 0;

	if (!at || yaml_get_int(root, "numa", 1, 64, &nodes, r->e))
		return;
	r->c->numa = (int)nodes;
	if (strcmp(r->c->backend, "qemu")) {
		yaml_error(at, r->e, "'numa' splits guests: it is for the backend qemu");
	} else if (nodes > cpus) {
		yaml_error(at, r->e, "%d nodes need as many CPUs: 'cpus' is %d", (int)nodes,
			   (int)cpus);
		err_hint(r->e, "write cpus: %d", (int)nodes * 2);
	}
}

static void read_head(struct reader *r, struct yaml_node *root)
{
	struct campaign_config *c = r->c;
	struct yaml_node *node = yaml_get(root, "repeat");
	int64_t repeat = 5, runs = 1, seed = 0, cpus = 1;

	c->name = name_from_file(r);
	yaml_get_string(root, "campaign", &c->name, r->e);
	if (!*c->name || *c->name == '-' || !reader_is_word(c->name, "._+-"))
		yaml_error(yaml_get(root, "campaign") ? yaml_get(root, "campaign") : root, r->e,
			   "a campaign's name has letters, digits, '.', '_', '+' and '-' only");
	c->backend = "host";
	yaml_get_string(root, "backend", &c->backend, r->e);
	if (!backend_find(c->backend)) {
		yaml_error(yaml_get(root, "backend"), r->e, "unknown backend '%s'", c->backend);
		reader_suggest(r->e, c->backend, backend_names(r->a));
	}
	c->counting = yaml_get_word(root, "counting", counting_words, 0, r->e) == 1;
	c->auto_repeat = node && node->kind == YAML_SCALAR && !strcmp(node->text, "auto");
	c->auto_runs = c->auto_repeat && !yaml_get(root, "runs_per_boot");
	if (!c->auto_repeat)
		yaml_get_int(root, "repeat", 1, 10000, &repeat, r->e);
	yaml_get_int(root, "runs_per_boot", 1, 1000, &runs, r->e);
	if (runs > 1 && !strcmp(c->backend, "host")) {
		yaml_error(yaml_get(root, "runs_per_boot"), r->e,
			   "'runs_per_boot' is for backends that boot");
		err_hint(r->e, "here every run is a unit: raise 'repeat'");
	} else if (runs > 1 && c->counting) {
		yaml_error(yaml_get(root, "runs_per_boot"), r->e,
			   "'runs_per_boot' means nothing to counts: every run has its own boot");
		err_hint(r->e, "raise 'repeat': each further one is another seed");
	}
	read_flip(r, root, &repeat, &runs);
	c->runs = (int)runs;
	yaml_get_int(root, "seed", 1, INT64_MAX, &seed, r->e);
	yaml_get_int(root, "cpus", 1, 4096, &cpus, r->e);
	read_numa(r, root, cpus);
	c->repeat = (int)repeat;
	c->seed = (uint64_t)seed;
	c->cpus = (int)cpus;
	yaml_get_string(root, "memory", &c->memory, r->e);
	r->guest = !strcmp(c->backend, "qemu");
	r->target = !strcmp(c->backend, "ssh");
	r->reboots = !strcmp(c->backend, "host-reboot");
	/* Of a target nothing is known yet but what the file says. */
	r->cpus = r->guest || r->target ? c->cpus : machine_cpus();
}

bool campaign_builds(const struct campaign_config *c)
{
	size_t i;

	for (i = 0; i < c->n_cases; i++)
		if (c->cases[i].bench->build)
			return true;
	return false;
}

int campaign_parse(struct arena *a, const char *path, const char *text, size_t len,
		   const struct catalog *cat, struct campaign_config **out, struct err *e)
{
	struct campaign_config *c = arena_alloc(a, sizeof(*c));
	struct reader r = {.a = a, .e = e, .cat = cat, .c = c};
	struct yaml_node *root = yaml_parse(a, path, text, len, e);
	size_t before = e->list.n;

	if (!root)
		return -EINVAL;
	if (root->kind != YAML_MAPPING)
		return yaml_error(root, e, "a campaign file is a mapping");
	c->file = arena_strdup(a, path);
	c->text = arena_strndup(a, text, len);
	yaml_check_keys(root, campaign_keys, e);
	read_head(&r, root);
	reader_read_target(&r, root);
	reader_read_variants(&r, root);
	reader_read_slurm(&r, root);
	reader_read_monitors(&r, root);
	read_benchmarks(&r, root);
	c->cases = arena_copy(a, r.cases.items, r.cases.n, sizeof(*c->cases));
	c->n_cases = r.cases.n;
	ARRAY_FREE(&r.cases);
	if (!c->memory)
		c->memory = campaign_builds(c) ? "2G" : "512M";
	*out = c;
	if (e->list.n > before)
		return -EINVAL;
	return c->counting ? campaign_count(a, c, cat, NULL, e) : 0;
}

int campaign_read(struct arena *a, const char *path, const struct catalog *cat,
		  struct campaign_config **out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int ret = file_read(path, 16 << 20, &text, e);

	if (ret) {
		err_hint(e, "`kdelta init` writes a campaign file for this machine");
		return ret;
	}
	return campaign_parse(a, path, strbuf_str(&text), text.len, cat, out, e);
}
