// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Benchmark descriptions. A complete one for a program that prints "score 12.5":
 *
 *	benchmark: spin
 *	description: turns of a loop in a second
 *	program: ./spin.sh
 *	parser: pattern
 *	complete: ^finished$
 *	expected: time+1
 *	params:
 *	  time: {type: duration, default: 2s, args: [-t, "{}"]}
 *	metrics:
 *	  score: {unit: turns/s, direction: higher, mean: hmean, role: headline,
 *	          pattern: "^score ([0-9.]+)$", description: turns of the loop in a second}
 */
#include "campaign/catalog.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "core/yaml.h"

struct catalog {
	struct arena *a;
	struct metric_set *metrics;
	ARRAY_OF(struct bench_def *) defs; /* items in the arena once loaded, sorted by name */
	const char **names;
};

struct reader {
	struct arena *a;
	struct err *e;
	struct bench_def *def;
};

static const char *const bench_keys[] = {
	"benchmark", "description", "program",	  "package", "upstream", "stand_in", "parser",
	"complete",  "args",	    "args_after", "env",     "server",	 "port",     "expected",
	"nofile",    "fixed_work",  "build",	  "params",  "metrics",	 NULL,
};
static const char *const param_keys[] = {
	"type", "default", "words",	   "args", "description", "only",
	"min",	"check",   "check_factor", "auto", NULL,
};
static const char *const metric_keys[] = {
	"unit", "direction", "mean", "role", "description", "reason", "topic", "pattern", NULL,
};
static const char *const auto_keys[] = {"target", "constant_with", "counting", NULL};

static const char *const type_words[] = {"count", "duration", "word", "text", NULL};

static const char *const *read_list(struct reader *r, struct yaml_node *map, const char *key)
{
	const char **list = NULL;
	size_t n;

	yaml_get_list(r->a, map, key, &list, &n, r->e);
	return list;
}

static double read_number(struct reader *r, struct yaml_node *map, const char *key, double fallback)
{
	struct yaml_node *n = yaml_get(map, key);
	double v = fallback;

	if (n && (n->kind != YAML_SCALAR || !num_parse(span_of(n->text), &v)))
		yaml_error(n, r->e, "'%s' takes a number", key);
	return v;
}

/* words: {process: [-P], thread: [-T]} */
static void read_words(struct reader *r, struct yaml_node *map, struct bench_param *p)
{
	struct yaml_node *n = yaml_get(map, "words");
	const char **words, *const **args;
	size_t i;

	if (!n)
		return;
	if (n->kind != YAML_MAPPING || !n->n) {
		yaml_error(n, r->e, "'words' takes a mapping from each word to its arguments");
		return;
	}
	words = arena_alloc_array(r->a, n->n + 1, sizeof(*words));
	args = arena_alloc_array(r->a, n->n + 1, sizeof(*args));
	for (i = 0; i < n->n; i++) {
		words[i] = n->pairs[i].key;
		args[i] = read_list(r, n, words[i]);
	}
	p->words = words;
	p->word_args = args;
	p->type = PARAM_WORD;
}

/* auto: {target: 4s, constant_with: groups} */
static void read_auto(struct reader *r, struct yaml_node *map, struct bench_param *p)
{
	struct yaml_node *n = yaml_get(map, "auto");

	if (!n)
		return;
	if (n->kind != YAML_MAPPING) {
		yaml_error(n, r->e, "'auto' takes a mapping such as {target: 4s}");
		return;
	}
	yaml_check_keys(n, auto_keys, r->e);
	p->is_auto = true;
	p->calibrate = 4;
	yaml_get_duration(n, "target", &p->calibrate, r->e);
	yaml_get_string(n, "constant_with", &p->constant_with, r->e);
	p->counting = read_number(r, n, "counting", 0);
}

/* only: {bench: messaging} */
static void read_only(struct reader *r, struct yaml_node *map, struct bench_param *p)
{
	struct yaml_node *n = yaml_get(map, "only");

	if (!n)
		return;
	if (n->kind != YAML_MAPPING || n->n != 1 || n->pairs[0].value->kind != YAML_SCALAR) {
		yaml_error(n, r->e, "'only' takes one parameter and its word");
		return;
	}
	p->only_param = n->pairs[0].key;
	p->only_word = n->pairs[0].value->text;
}

static void read_param(struct reader *r, const struct yaml_pair *pair, struct bench_param *p)
{
	struct yaml_node *map = pair->value;

	p->name = pair->key;
	if (map->kind != YAML_MAPPING) {
		yaml_error(map, r->e, "the parameter '%s' takes a mapping", p->name);
		return;
	}
	yaml_check_keys(map, param_keys, r->e);
	p->type = (enum param_type)yaml_get_word(map, "type", type_words, PARAM_TEXT,
						     r->e);
	p->args = read_list(r, map, "args");
	read_words(r, map, p);
	if (p->type == PARAM_WORD && !p->words)
		yaml_error(map, r->e, "the parameter '%s' lacks its words", p->name);
	yaml_get_string(map, "default", &p->default_value, r->e);
	yaml_get_string(map, "description", &p->description, r->e);
	yaml_get_string(map, "check", &p->check, r->e);
	p->check_factor = read_number(r, map, "check_factor", 1);
	p->min = read_number(r, map, "min", p->type == PARAM_COUNT ? 1 : 0);
	read_auto(r, map, p);
	read_only(r, map, p);
}

static void regex_error(const struct yaml_node *n, struct err *e, int code, const regex_t *re)
{
	char why[200];

	regerror(code, re, why, sizeof(why));
	yaml_error(n, e, "not a POSIX extended regular expression: %s", why);
}

/* A regex with at least `groups` groups, checked here so that a run never meets a broken one. */
static const char *read_regex(struct reader *r, struct yaml_node *map, const char *key,
			      size_t groups)
{
	struct yaml_node *n = yaml_get(map, key);
	regex_t re;
	int code;

	if (!n)
		return NULL;
	if (n->kind != YAML_SCALAR) {
		yaml_error(n, r->e, "'%s' takes one regular expression", key);
		return NULL;
	}
	code = regcomp(&re, n->text, REG_EXTENDED | REG_NEWLINE);
	if (code) {
		regex_error(n, r->e, code, &re);
		return NULL;
	}
	if (re.re_nsub < groups)
		yaml_error(n, r->e, "'%s' needs a group around the number: ([0-9.]+)", key);
	regfree(&re);
	return n->text;
}

static void read_metric(struct reader *r, const struct yaml_pair *pair, struct bench_metric *m)
{
	struct yaml_node *map = pair->value;
	int mean;

	m->name = pair->key;
	if (map->kind != YAML_MAPPING) {
		yaml_error(map, r->e, "the metric '%s' takes a mapping", m->name);
		return;
	}
	yaml_check_keys(map, metric_keys, r->e);
	m->unit = "";
	yaml_get_string(map, "unit", &m->unit, r->e);
	m->description = m->reason = m->topic = "";
	yaml_get_string(map, "description", &m->description, r->e);
	yaml_get_string(map, "topic", &m->topic, r->e);
	yaml_get_string(map, "reason", &m->reason, r->e);
	m->direction = (enum direction)yaml_get_word(map, "direction", metric_directions,
						     DIR_UNKNOWN, r->e);
	mean = yaml_get_word(map, "mean", metric_means, -1, r->e);
	m->mean_kind = mean < 0 ? MEAN_AMEAN : (enum mean_kind)mean;
	m->has_mean = mean >= 0;
	m->role = metric_roles[yaml_get_word(map, "role", metric_roles, 1, r->e)];
	m->pattern = read_regex(r, map, "pattern", 1);
	if (!strcmp(r->def->parser, "pattern") && !m->pattern)
		yaml_error(map, r->e, "the metric '%s' lacks its pattern", m->name);
}

/* Length of mapping `key`, 0 where it is absent; an error where it is no mapping. */
static size_t read_mapping(struct reader *r, struct yaml_node *map, const char *key,
			   struct yaml_pair **pairs)
{
	struct yaml_node *n = yaml_get(map, key);

	if (!n)
		return 0;
	if (n->kind != YAML_MAPPING) {
		yaml_error(n, r->e, "'%s' takes a mapping", key);
		return 0;
	}
	*pairs = n->pairs;
	return n->n;
}

static bool param_exists(const struct bench_def *def, struct span name)
{
	size_t i;

	for (i = 0; i < def->n_params; i++)
		if (span_is(name, def->params[i].name))
			return true;
	return false;
}

static bool any_param(const void *data, struct span name, double *value)
{
	*value = 1;
	return param_exists(data, name);
}

static void check_expression(struct reader *r, struct yaml_node *root, const char *key,
			     const char *expression)
{
	double v;

	if (expression && !catalog_evaluate(expression, any_param, r->def, &v))
		yaml_error(
			yaml_get(root, key), r->e,
			"'%s' takes a sum of products of numbers and parameters such as time*1.2+2",
			key);
}

/* "{clients}" in a list must name a parameter. */
static void check_places(struct reader *r, struct yaml_node *root, const char *key,
			 const char *const *args)
{
	for (; args && *args; args++) {
		size_t n = strlen(*args);

		if (n > 2 && **args == '{' && (*args)[n - 1] == '}' &&
		    !param_exists(r->def, (struct span){*args + 1, n - 2}))
			yaml_error(yaml_get(root, key), r->e, "%s names no parameter", *args);
	}
}

/* A relative program with a slash lies beside the description. */
static const char *read_program(struct reader *r, struct yaml_node *root, const char *file)
{
	const char *program = r->def->name, *slash = strrchr(file, '/');

	yaml_get_string(root, "program", &program, r->e);
	if (!strchr(program, '/') || *program == '/' || !slash)
		return program;
	return arena_printf(r->a, "%.*s/%s", (int)(slash - file), file, program);
}

static void read_bench(struct reader *r, struct yaml_node *root, const char *file)
{
	struct bench_def *def = r->def;
	struct yaml_pair *pairs = NULL;
	int64_t port = 0;
	size_t i;

	yaml_check_keys(root, bench_keys, r->e);
	yaml_get_string(root, "benchmark", &def->name, r->e);
	if (!def->name || !*def->name || strpbrk(def->name, "/. \t\n=")) {
		yaml_error(root, r->e,
			   "'benchmark' must be a name without blanks, '/', '.' and '='");
		return;
	}
	def->file = file;
	def->description = "";
	def->parser = "pattern";
	yaml_get_string(root, "description", &def->description, r->e);
	def->program = read_program(r, root, file);
	yaml_get_string(root, "package", &def->package, r->e);
	yaml_get_string(root, "upstream", &def->upstream, r->e);
	yaml_get_string(root, "stand_in", &def->stand_in, r->e);
	yaml_get_string(root, "parser", &def->parser, r->e);
	yaml_get_string(root, "expected", &def->expected, r->e);
	yaml_get_string(root, "nofile", &def->nofile, r->e);
	yaml_get_int(root, "port", 1, 65535, &port, r->e);
	def->port = (int)port;
	yaml_get_bool(root, "fixed_work", &def->fixed_work, r->e);
	yaml_get_bool(root, "build", &def->build, r->e);
	def->complete = read_regex(r, root, "complete", 0);
	def->args = read_list(r, root, "args");
	def->args_after = read_list(r, root, "args_after");
	def->env = read_list(r, root, "env");
	def->server = read_list(r, root, "server");
	def->n_params = read_mapping(r, root, "params", &pairs);
	def->params = arena_alloc_array(r->a, def->n_params + 1, sizeof(*def->params));
	for (i = 0; i < def->n_params; i++)
		read_param(r, &pairs[i], &def->params[i]);
	def->n_metrics = read_mapping(r, root, "metrics", &pairs);
	def->metrics = arena_alloc_array(r->a, def->n_metrics + 1, sizeof(*def->metrics));
	for (i = 0; i < def->n_metrics; i++)
		read_metric(r, &pairs[i], &def->metrics[i]);
	check_expression(r, root, "expected", def->expected);
	check_expression(r, root, "nofile", def->nofile);
	check_places(r, root, "args", def->args);
	check_places(r, root, "args_after", def->args_after);
	if (strcmp(def->parser, "pattern") && strcmp(def->parser, "clock") &&
	    !parser_find(def->parser))
		yaml_error(yaml_get(root, "parser"), r->e, "there is no parser '%s'", def->parser);
}

static void catalog_add_file(struct catalog *c, const char *file, struct err *e)
{
	struct yaml_node *root = yaml_parse_file(c->a, file, e);
	struct reader r = {.a = c->a, .e = e};
	const struct bench_def *known;

	if (!root)
		return;
	if (root->kind != YAML_MAPPING) {
		yaml_error(root, e, "a benchmark's description is a mapping");
		return;
	}
	r.def = arena_alloc(c->a, sizeof(*r.def));
	read_bench(&r, root, file);
	known = r.def->name ? catalog_find(c, r.def->name) : NULL;
	if (known) {
		yaml_error(root, e, "the benchmark '%s' exists already", known->name);
		err_hint(e,
			 "it is described in %s; metrics never change their meaning under a name",
			 known->file);
		return;
	}
	*ARRAY_PUSH(&c->defs) = r.def;
}

static int catalog_add_dir(struct catalog *c, const char *dir, struct err *e)
{
	char **files;
	size_t n, i;
	int ret;

	if (!file_is_dir(dir))
		return 0;
	ret = file_list(c->a, dir, "*.yaml", &files, &n, e);
	for (i = 0; i < n; i++)
		catalog_add_file(c, arena_printf(c->a, "%s/%s", dir, files[i]), e);
	return ret;
}

static int compare_defs(const void *x, const void *y)
{
	const struct bench_def *const *a = x, *const *b = y;

	return strcmp((*a)->name, (*b)->name);
}

/* Moves the list into the arena, sorted, and makes the list of names. */
static void catalog_finish(struct catalog *c)
{
	struct bench_def **defs;
	size_t i;

	if (c->defs.n)
		qsort(c->defs.items, c->defs.n, sizeof(*c->defs.items), compare_defs);
	defs = arena_copy(c->a, c->defs.items, c->defs.n, sizeof(*defs));
	c->names = arena_alloc_array(c->a, c->defs.n + 1, sizeof(*c->names));
	for (i = 0; i < c->defs.n; i++)
		c->names[i] = defs[i]->name;
	mem_free_ptr(&c->defs.items);
	c->defs.items = defs;
}

int catalog_load(struct arena *a, const char *extra_dir, struct catalog **out, struct err *e)
{
	struct catalog *c = arena_alloc(a, sizeof(*c));
	const char *shipped = path_share(a, "configs/benchmarks");
	const char *own = path_config(a, "benchmarks"), *extra = NULL;
	size_t before = e->list.n;

	c->a = a;
	if (!file_is_dir(shipped)) {
		err_add(e, -ENOENT, "the benchmark descriptions are missing: %s", shipped);
		err_hint(e,
			 "install kdelta, or set KDELTA_SHARE to the folder that holds configs/");
		return -ENOENT;
	}
	catalog_add_dir(c, shipped, e);
	catalog_add_dir(c, own, e);
	if (extra_dir)
		extra = arena_printf(a, "%s/benchmarks", extra_dir);
	if (extra && !file_is_same(extra, shipped) && !file_is_same(extra, own))
		catalog_add_dir(c, extra, e);
	catalog_finish(c);
	metrics_load(a, extra_dir, &c->metrics, e);
	*out = c;
	return e->list.n > before ? -EINVAL : 0;
}

const struct bench_def *catalog_find(const struct catalog *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->defs.n; i++)
		if (c->defs.items[i]->name && !strcmp(c->defs.items[i]->name, name))
			return c->defs.items[i];
	return NULL;
}

const char *const *catalog_names(const struct catalog *c)
{
	return c->names;
}

static const struct bench_metric *find_metric(const struct bench_def *def, const char *name)
{
	size_t i;

	for (i = 0; def && i < def->n_metrics; i++)
		if (str_glob(def->metrics[i].name, name))
			return &def->metrics[i];
	return NULL;
}

const struct metric_set *catalog_metrics(const struct catalog *c)
{
	return c->metrics;
}

bool catalog_is_time_bound(const struct catalog *c, const char *benchmark)
{
	const struct bench_def *def = catalog_find(c, benchmark);
	const struct metric_bench *b = metrics_bench(c->metrics, benchmark);

	return def ? !def->fixed_work : b && b->time_bound;
}

const char *catalog_describe(const struct catalog *c, const char *benchmark, const char *test_case)
{
	const struct bench_def *def = catalog_find(c, benchmark);
	const struct metric_bench *b = metrics_bench(c->metrics, test_case);

	/* words for this very test case say more than those for all of a benchmark */
	if (b && (!def || strchr(b->pattern, '/')))
		return b->description;
	return def ? def->description : "";
}

/* What the patterns say, for the fields that the benchmark's own description leaves open. */
static void fill_metric(const struct catalog *c, const char *benchmark, struct db_metric *out,
			bool has_mean)
{
	const struct metric_def *g = metrics_find(c->metrics, out->name);
	enum direction direction;
	const char *unit;

	if (!g)
		return;
	direction = catalog_is_time_bound(c, benchmark) ? g->time_bound : g->direction;
	unit = metrics_unit(c->metrics, g, out->name);
	if (!*out->unit && strcmp(unit, "mixed"))
		out->unit = unit;
	if (!*out->description)
		out->description = g->description;
	if (out->direction == DIR_UNKNOWN)
		out->direction = direction;
	/* a reason holds for its direction only */
	if (!*out->reason && out->direction == direction)
		out->reason = direction == g->direction ? g->reason
							 : metrics_time_bound(c->metrics);
	if (!*out->topic && g->topic)
		out->topic = g->topic->name;
	if (!has_mean)
		out->mean_kind = g->mean_kind;
	if (!out->role)
		out->role = g->role;
	out->deterministic = g->deterministic;
}

void catalog_metric(const struct catalog *c, const char *benchmark, const char *metric,
		    const char *unit, struct db_metric *out)
{
	static const struct bench_metric nothing = {
		.unit = "", .description = "", .reason = "", .topic = "", .direction = DIR_UNKNOWN};
	const struct bench_def *def = catalog_find(c, benchmark);
	const struct bench_metric *m;
	bool other;

	m = find_metric(def ? def : catalog_clock(c->a, benchmark), metric);
	if (!m)
		m = &nothing;
	other = unit && *m->unit && strcmp(m->unit, "mixed") && strcmp(m->unit, unit);
	*out = (struct db_metric){
		.name = arena_printf(c->a, "%s.%s%s%s", benchmark, metric, other ? "_" : "",
				     other ? unit : ""),
		.unit = unit ? unit : m->unit,
		.description = m->description,
		.reason = m->reason,
		.topic = m->topic,
		.direction = m->direction,
		.mean_kind = m->mean_kind,
		.role = m->role,
	};
	fill_metric(c, benchmark, out, m->has_mean);
	if (!out->role)
		out->role = "counter";
}

void catalog_describe_metric(const struct catalog *c, const char *name, struct db_metric *out)
{
	const char *dot = strchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name);

	catalog_metric(c, arena_strndup(c->a, name, n), dot ? dot + 1 : "", NULL, out);
	out->name = name;
}

const struct bench_def *catalog_clock(struct arena *a, const char *name)
{
	static struct bench_metric metrics[] = {
		{.name = "real",
		 .unit = "s",
		 .direction = DIR_LOWER,
		 .role = "headline",
		 .description = "wall seconds of the command",
		 .reason = "",
		 .topic = ""},
		{.name = "user",
		 .unit = "s",
		 .direction = DIR_LOWER,
		 .role = "counter",
		 .description = "user CPU seconds of the command",
		 .reason = "",
		 .topic = ""},
		{.name = "sys",
		 .unit = "s",
		 .direction = DIR_LOWER,
		 .role = "counter",
		 .description = "kernel CPU seconds of the command",
		 .reason = "",
		 .topic = ""},
	};
	struct bench_def *def = arena_alloc(a, sizeof(*def));

	*def = (struct bench_def){
		.name = name,
		.description = "a command, timed",
		.program = name,
		.parser = "clock",
		.fixed_work = true,
		.metrics = metrics,
		.n_metrics = ARRAY_SIZE(metrics),
	};
	return def;
}

/* Takes the part up to the separator off *rest; *more: a separator stood behind it. */
static struct span next_part(struct span *rest, char separator, bool *more)
{
	const char *end = memchr(rest->s, separator, rest->len);
	struct span part = {rest->s, end ? (size_t)(end - rest->s) : rest->len};

	*more = end != NULL;
	rest->s += part.len + *more;
	rest->len -= part.len + *more;
	return span_trim(part);
}

bool catalog_evaluate(const char *expression, catalog_lookup lookup, const void *data,
		      double *value)
{
	struct span sum = span_of(expression);
	bool more_terms = true, more_factors;
	double total = 0;

	while (more_terms) {
		struct span product = next_part(&sum, '+', &more_terms);
		double term = 1;

		do {
			struct span name = next_part(&product, '*', &more_factors);
			double factor;

			if (!num_parse(name, &factor) && !lookup(data, name, &factor))
				return false;
			term *= factor;
		} while (more_factors);
		total += term;
	}
	*value = total;
	return true;
}
