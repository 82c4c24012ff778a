// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta explain: what a metric, a benchmark or a key of a campaign file is. */
#include <errno.h>
#include <string.h>

#include "campaign/catalog.h"
#include "cli/cli.h"
#include "cli/keys.h"
#include "core/file.h"
#include "core/json.h"
#include "reports/text.h"
#include "reports/view.h"

#define CONFIG "config:"

struct explainer {
	struct cli *c;
	const struct catalog *cat;
	json_t *entries;
};

/* "" is nothing known. */
static json_t *json_text(const char *s)
{
	return s && *s ? json_string(s) : json_null();
}

static void set_text(json_t *o, const char *key, const char *s)
{
	json_object_set_new(o, key, json_text(s));
}

/* ---- metrics ---- */

static const char *mean_text(struct arena *a, enum mean_kind kind)
{
	static const char *const words[] = {
		[MEAN_AMEAN] = "arithmetic mean",
		[MEAN_HMEAN] = "harmonic mean, as rates need it",
		[MEAN_GMEAN] = "geometric mean",
		[MEAN_MEDIAN] = "median",
	};

	return arena_printf(a, "%s (%s)", words[kind], mean_kind_name(kind));
}

/* The entry of a benchmark's own description that names the metric, or NULL. */
static const struct bench_metric *own_metric(const struct bench_def *def, const char *metric)
{
	size_t i;

	for (i = 0; def && i < def->n_metrics; i++)
		if (str_glob(def->metrics[i].name, metric))
			return &def->metrics[i];
	return NULL;
}

static const char *moves_text(const struct metric_def *g)
{
	if (g && *g->moves)
		return g->moves;
	return g && g->topic ? g->topic->moves : "";
}

/* Where it stands: in the benchmark's own file, in one of patterns, or in both. */
static const char *metric_source(struct arena *a, const char *own, const struct metric_def *g)
{
	const char *pattern = g ? arena_printf(a, "%s:%d", g->file, g->line) : "";

	return own ? arena_printf(a, "%s%s%s", own, g ? ", " : "", pattern) : pattern;
}

static json_t *metric_entry(struct explainer *x, const char *name)
{
	struct arena *a = x->c->a;
	const char *dot = strchr(name, '.');
	const char *benchmark = arena_strndup(a, name, dot ? (size_t)(dot - name) : 0);
	const struct bench_def *def = catalog_find(x->cat, benchmark);
	const struct metric_def *g = dot ? metrics_find(catalog_metrics(x->cat), name) : NULL;
	const struct bench_metric *own = dot ? own_metric(def, dot + 1) : NULL;
	struct db_metric m;
	json_t *o;

	if (!g && !own)
		return NULL;
	catalog_describe_metric(x->cat, name, &m);
	o = json_object();
	set_text(o, "kind", "metric");
	set_text(o, "name", name);
	set_text(o, "description", m.description);
	set_text(o, "unit", *m.unit ? m.unit : g ? g->unit : "");
	set_text(o, "direction", direction_name(m.direction));
	set_text(o, "reason", m.reason);
	set_text(o, "mean_kind", mean_kind_name(m.mean_kind));
	set_text(o, "role", m.role);
	set_text(o, "topic", m.topic);
	set_text(o, "remark", g && g->topic ? g->topic->remark : "");
	set_text(o, "moves", moves_text(g));
	json_object_set_new(o, "deterministic", json_boolean(m.deterministic));
	json_object_set_new(o, "time_bound",
			    json_boolean(catalog_is_time_bound(x->cat, benchmark)));
	set_text(o, "pattern", g ? g->pattern : NULL);
	set_text(o, "source", metric_source(a, own ? def->file : NULL, g));
	/* for people only */
	set_text(o, "+better",
		 arena_printf(a, "%s%s%s", view_direction(m.direction), *m.reason ? ": " : "",
			      m.reason));
	set_text(o, "+mean", mean_text(a, m.mean_kind));
	set_text(o, "+topic",
		 g && g->topic && *g->topic->remark
			 ? arena_printf(a, "%s: %s", m.topic, g->topic->remark)
			 : m.topic);
	return o;
}

/* ---- benchmarks ---- */

static json_t *param_entry(const struct bench_param *p)
{
	json_t *o = json_object();

	set_text(o, "name", p->name);
	set_text(o, "default", p->default_value);
	set_text(o, "description", p->description);
	return o;
}

static void add_described(struct explainer *x, json_t *o, const struct bench_def *def)
{
	json_t *params = json_array(), *headlines = json_array(), *metrics = json_array();
	size_t i;

	set_text(o, "description", def->description);
	set_text(o, "program", def->program);
	set_text(o, "package", def->package);
	set_text(o, "upstream", def->upstream);
	set_text(o, "work", def->fixed_work ? "fixed" : "time");
	set_text(o, "source", def->file);
	for (i = 0; i < def->n_params; i++)
		json_array_append_new(params, param_entry(&def->params[i]));
	for (i = 0; i < def->n_metrics; i++) {
		json_t *name = json_string(
			arena_printf(x->c->a, "%s.%s", def->name, def->metrics[i].name));

		json_array_append(metrics, name);
		if (!strcmp(def->metrics[i].role, "headline"))
			json_array_append(headlines, name);
		json_decref(name);
	}
	json_object_set_new(o, "parameters", params);
	json_object_set_new(o, "headlines", headlines);
	json_object_set_new(o, "metrics", metrics);
}

/* Known from posted tables only: what its patterns say. */
static void add_posted(struct explainer *x, json_t *o, const struct metric_bench *b,
		       const char *name)
{
	const char *prefix = arena_printf(x->c->a, "%s.", name);
	json_t *headlines = json_array(), *metrics = json_array();
	const struct metric_def *m;
	size_t n, i;

	m = metrics_all(catalog_metrics(x->cat), &n);
	for (i = 0; i < n; i++) {
		if (!str_starts(m[i].pattern, prefix))
			continue;
		json_array_append_new(metrics, json_string(m[i].pattern));
		if (!strcmp(m[i].role, "headline"))
			json_array_append_new(headlines, json_string(m[i].pattern));
	}
	set_text(o, "description", b->description);
	set_text(o, "work", b->fixed_work ? "fixed" : b->time_bound ? "time" : NULL);
	json_object_set_new(o, "headlines", headlines);
	json_object_set_new(o, "metrics", metrics);
}

static json_t *bench_entry(struct explainer *x, const char *name)
{
	const struct bench_def *def = catalog_find(x->cat, name);
	const struct metric_bench *b = metrics_bench(catalog_metrics(x->cat), name);
	json_t *o;

	if (!def && (!b || strchr(name, '.')))
		return NULL;
	o = json_object();
	set_text(o, "kind", "benchmark");
	set_text(o, "name", name);
	if (def)
		add_described(x, o, def);
	else
		add_posted(x, o, b, name);
	set_text(o, "+work",
		 str_equal(json_string_value(json_object_get(o, "work")), "fixed")
			 ? "fixed: done when it is done, so less CPU time and fewer switches "
			   "are better"
		 : str_equal(json_string_value(json_object_get(o, "work")), "time")
			 ? "for a set time: CPU time and switches follow what gets done"
			 : NULL);
	return o;
}

/* ---- keys of a campaign file ---- */

/* The whole path, or its last part. */
static bool key_is(const struct config_key *k, const char *name)
{
	const char *last = strrchr(k->path, '.');

	return !strcmp(k->path, name) || (last && !strcmp(last + 1, name));
}

static json_t *key_entry(const char *name, const char *type, const char *fallback, const char *text,
			 const char *example)
{
	json_t *o = json_object();

	set_text(o, "kind", "key");
	set_text(o, "name", name);
	set_text(o, "description", text);
	set_text(o, "type", type);
	set_text(o, "default", fallback);
	set_text(o, "example", example);
	return o;
}

static const char *param_type(const struct explainer *x, const struct bench_param *p)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	switch (p->type) {
	case PARAM_COUNT:
		return p->is_auto ? "whole number, a share of the CPUs such as 50%, or auto"
				  : "whole number, or a share of the CPUs such as 50%";
	case PARAM_DURATION:
		return "time such as 30s or 2m";
	case PARAM_TEXT:
		return "text";
	case PARAM_WORD:
		break;
	}
	for (i = 0; p->words[i]; i++)
		strbuf_addf(&sb, "%s%s", i ? ", " : "", p->words[i]);
	return arena_strdup(x->c->a, strbuf_str(&sb));
}

/* "clients" or "tbench.clients": a parameter of each benchmark that has it. */
static void add_params(struct explainer *x, const char *name)
{
	const char *const *bench = catalog_names(x->cat);
	size_t i;

	for (; *bench; bench++) {
		const struct bench_def *def = catalog_find(x->cat, *bench);

		for (i = 0; i < def->n_params; i++) {
			const struct bench_param *p = &def->params[i];
			const char *full = arena_printf(x->c->a, "%s.%s", def->name, p->name);

			if (strcmp(p->name, name) && strcmp(full, name))
				continue;
			json_array_append_new(
				x->entries, key_entry(arena_printf(x->c->a, "benchmarks.%s", full),
						      param_type(x, p),
						      p->default_value ? p->default_value
								       : "none, it must be there",
						      p->description, NULL));
		}
	}
}

static bool add_keys(struct explainer *x, const char *name)
{
	size_t before = json_array_size(x->entries), i;

	for (i = 0; i < n_config_keys; i++)
		if (key_is(&config_keys[i], name))
			json_array_append_new(
				x->entries, key_entry(config_keys[i].path, config_keys[i].type,
						      config_keys[i].fallback, config_keys[i].text,
						      config_keys[i].example));
	add_params(x, name);
	return json_array_size(x->entries) > before;
}

/* ---- unknown words ---- */

typedef ARRAY_OF(const char *) word_array;

static void add_words(struct explainer *x, word_array *words)
{
	const char *const *bench = catalog_names(x->cat);
	const struct metric_def *m;
	size_t n, i;

	for (; *bench; bench++) {
		const struct bench_def *def = catalog_find(x->cat, *bench);

		*ARRAY_PUSH(words) = *bench;
		for (i = 0; i < def->n_metrics; i++)
			*ARRAY_PUSH(words) =
				arena_printf(x->c->a, "%s.%s", *bench, def->metrics[i].name);
	}
	m = metrics_all(catalog_metrics(x->cat), &n);
	for (i = 0; i < n; i++)
		*ARRAY_PUSH(words) = m[i].pattern;
	for (i = 0; i < n_config_keys; i++)
		*ARRAY_PUSH(words) = arena_printf(x->c->a, CONFIG "%s", config_keys[i].path);
	*ARRAY_PUSH(words) = NULL;
}

/* Metrics that end in ".WORD", at most four: "throughput" is one of several benchmarks. */
static const char *same_end(struct explainer *x, const char *name, const word_array *words)
{
	const char *end = arena_printf(x->c->a, ".%s", name);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char **w, *last = "";
	int n = 0;

	for (w = words->items; *w && n < 4; w++) {
		if (!str_ends(*w, end) || !strcmp(*w, last))
			continue;
		strbuf_addf(&sb, "%s%s", n++ ? ", " : "", *w);
		last = *w;
	}
	return n ? arena_strdup(x->c->a, strbuf_str(&sb)) : NULL;
}

static int unknown(struct explainer *x, const char *name)
{
	word_array words = {NULL, 0, 0};
	const char *near;

	add_words(x, &words);
	err_add(x->c->e, -EINVAL, "'%s' is no metric, benchmark or config:KEY that is described",
		name);
	near = same_end(x, name, &words);
	if (!near)
		near = str_suggest(name, words.items);
	if (near)
		err_hint(x->c->e, "did you mean '%s'?", near);
	else
		err_hint(x->c->e, "describe your own metrics in metrics.yaml beside kdelta.yaml");
	ARRAY_FREE(&words);
	return -EINVAL;
}

/* ---- output ---- */

static const struct {
	const char *key, *label;
} lines[] = {
	{"unit", "unit"},
	{"+better", "better"},
	{"+mean", "mean"},
	{"role", "role"},
	{"+topic", "topic"},
	{"moves", "moves it"},
	{"+work", "work"},
	{"program", "program"},
	{"package", "package"},
	{"upstream", "from"},
	{"type", "takes"},
	{"default", "default"},
	{"headlines", "decided by"},
	{"parameters", "takes"},
	{"metrics", "prints"},
	{"example", "example"},
	{"pattern", "pattern"},
	{"source", "said in"},
};

/* A text, a list of texts, or a list of parameters as one line. */
static const char *value_text(struct arena *a, const json_t *value)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const json_t *v;
	size_t i;

	if (json_is_string(value))
		return json_string_value(value);
	json_array_foreach(value, i, v)
	{
		const json_t *name = json_is_object(v) ? json_object_get(v, "name") : v;
		const char *std = json_string_value(json_object_get(v, "default"));

		strbuf_addf(&sb, "%s%s", i ? ", " : "", json_string_value(name));
		if (std)
			strbuf_addf(&sb, " (%s)", std);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

static void print_entry(struct text *t, const json_t *o)
{
	enum { INDENT = 14 };
	const char *description = json_string_value(json_object_get(o, "description"));
	size_t i;

	text_wrap(t, "", 0,
		  arena_printf(t->a, "%s%s%s", json_string_value(json_object_get(o, "name")),
			       description ? ": " : "", description ? description : ""));
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *value = value_text(t->a, json_object_get(o, lines[i].key));

		if (value && *value)
			text_wrap(t, arena_printf(t->a, "  %s", lines[i].label), INDENT, value);
	}
}

/* What is for people only is no part of the JSON. */
static void drop_words(json_t *entries)
{
	static const char *const keys[] = {"+better", "+mean", "+topic", "+work"};
	json_t *o;
	size_t i, k;

	json_array_foreach(entries, i, o) for (k = 0; k < ARRAY_SIZE(keys); k++)
		json_object_del(o, keys[k]);
}

static void print_entries(struct explainer *x)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct text t = {x->c->a, &out, 80, false};
	int columns = cli_columns();
	const json_t *o;
	json_t *root;
	size_t i;

	if (x->c->json) {
		drop_words(x->entries);
		root = json_pack("{s:s, s:O}", "schema", "kdelta.explain/1", "entries", x->entries);
		json_add_lines(&out, root, 15);
	} else {
		if (columns)
			t.width = MAX(MIN(columns, 100), 40);
		json_array_foreach(x->entries, i, o)
		{
			if (i)
				text_blank(&t);
			print_entry(&t, o);
		}
	}
	cli_page(x->c, &out);
}

static int explain(struct explainer *x, const char *name)
{
	json_t *o;

	if (str_starts(name, CONFIG))
		return add_keys(x, name + strlen(CONFIG)) ? 0 : unknown(x, name);
	o = bench_entry(x, name);
	if (!o)
		o = metric_entry(x, name);
	if (!o)
		return unknown(x, name);
	json_array_append_new(x->entries, o);
	return 0;
}

static int explain_run(struct cli *c)
{
	struct explainer x = {.c = c};
	struct catalog *cat;
	size_t i;
	int r;

	if (!c->n_operands)
		return cli_usage(c, "explain takes a metric, a benchmark or config:KEY");
	r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);
	if (r)
		return r;
	x.cat = cat;
	x.entries = json_array();
	for (i = 0; i < c->n_operands; i++) {
		int one = explain(&x, c->operands[i]);

		r = r ? r : one;
	}
	if (json_array_size(x.entries))
		print_entries(&x);
	json_decref(x.entries);
	return r;
}

static const struct command command_explain = {
	.name = "explain",
	.usage = "METRIC|BENCHMARK|config:KEY...",
	.group = "compare",
	.summary = "what it is, unit, which direction is better and why, what moves it",
	.help = "Metrics are described by configs/metrics.yaml and by the benchmarks' own files. "
		"A\n"
		"metrics.yaml beside kdelta.yaml, or in $XDG_CONFIG_HOME/kdelta/, is read before "
		"them.",
	.examples = "kdelta explain softirqs.SCHED\n"
		    "kdelta explain hackbench hackbench.time\n"
		    "kdelta explain config:repeat\n",
	.run = explain_run,
};
REGISTER(command, command_explain);
