// SPDX-License-Identifier: GPL-2.0-or-later
/* Test cases and variants of a campaign: names, identities, commands, jobs. */
#include "campaign/campaign.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "jobs/job.h"

enum { IDENTITY_LENGTH = 16 };

static char *short_hash(struct arena *a, const struct strbuf *text)
{
	char hex[65];

	data_sha256(strbuf_str(text), text->len, hex);
	return arena_strndup(a, hex, IDENTITY_LENGTH);
}

const char *case_param(const struct test_case *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_params; i++)
		if (!strcmp(c->params[i].name, name))
			return c->params[i].value;
	return NULL;
}

char *case_identity(struct arena *a, const char *benchmark, const struct param_value *params,
		    size_t n)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t i;

	strbuf_addf(&text, "%s\n", benchmark);
	for (i = 0; i < n; i++)
		strbuf_addf(&text, "%s=%s\n", params[i].name, params[i].value);
	return short_hash(a, &text);
}

void case_finish(struct arena *a, struct test_case *c)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t i;

	strbuf_adds(&name, c->bench->name);
	for (i = 0; i < c->n_params; i++)
		if (c->params[i].swept)
			strbuf_addf(&name, "/%s=%s", c->params[i].name, c->params[i].value);
	c->name = arena_strdup(a, strbuf_str(&name));
	c->identity = case_identity(a, c->bench->name, c->params, c->n_params);
}

void case_set_param(struct arena *a, struct test_case *c, const char *name, const char *value)
{
	struct param_value *params;
	size_t i;

	for (i = 0; i < c->n_params && strcmp(c->params[i].name, name); i++)
		;
	if (i == c->n_params) {
		params = arena_alloc_array(a, c->n_params + 1, sizeof(*params));
		if (c->n_params)
			memcpy(params, c->params, c->n_params * sizeof(*params));
		params[c->n_params++].name = name;
		c->params = params;
	}
	c->params[i].value = value;
	case_finish(a, c);
}

static char *json_take_text(struct arena *a, json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT), *copy = arena_strdup(a, text);

	free(text);
	json_decref(j);
	return copy;
}

char *case_params_json(struct arena *a, const struct test_case *c)
{
	json_t *j = json_object();
	size_t i;

	for (i = 0; i < c->n_params; i++)
		json_object_set_new(j, c->params[i].name, json_string(c->params[i].value));
	return json_take_text(a, j);
}

char *case_swept_json(struct arena *a, const struct test_case *c)
{
	json_t *j = json_array();
	size_t i;

	for (i = 0; i < c->n_params; i++)
		if (c->params[i].swept)
			json_array_append_new(j, json_string(c->params[i].name));
	return json_take_text(a, j);
}

char *case_describe(struct arena *a, const struct test_case *c)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	strbuf_adds(&sb, c->bench->description);
	for (i = 0; i < c->n_params; i++)
		strbuf_addf(&sb, "%s %s %s", i ? "," : ":", c->params[i].name, c->params[i].value);
	return arena_strdup(a, strbuf_str(&sb));
}

/* Values for expressions: seconds of a duration, numbers as they are. */
static bool case_number(const void *data, struct span name, double *value)
{
	const struct test_case *c = data;
	size_t i;

	for (i = 0; i < c->n_params; i++)
		if (span_is(name, c->params[i].name))
			return num_parse(span_of(c->params[i].value), value) ||
			       num_parse_duration(c->params[i].value, value);
	return false;
}

/* What a placeholder stands for: a duration is given in bare seconds. */
static const char *argument_value(const struct test_case *c, const char *name)
{
	size_t i, len;

	for (i = 0; i < c->bench->n_params; i++) {
		const struct bench_param *p = &c->bench->params[i];
		const char *value = case_param(c, name);

		if (strcmp(p->name, name) || !value)
			continue;
		len = strlen(value);
		return p->type == PARAM_DURATION && len ? mem_strndup(value, len - 1)
							: mem_strdup(value);
	}
	return NULL;
}

struct argument_list {
	struct arena *a;
	ARRAY_OF(const char *) list;
};

static void add_argument(struct argument_list *l, const char *arg)
{
	*ARRAY_PUSH(&l->list) = arg;
}

/* Ends the list and moves it to the arena. */
static const char *const *take_arguments(struct argument_list *l)
{
	const char *const *argv;

	add_argument(l, NULL);
	argv = arena_copy(l->a, l->list.items, l->list.n, sizeof(*l->list.items));
	ARRAY_FREE(&l->list);
	return argv;
}

/* "-j{}" and "{clients}" with their values put in; own: the parameter that "{}" means. */
static void add_template(struct argument_list *l, const struct test_case *c, const char *own,
			 const char *const *args)
{
	for (; args && *args; args++) {
		const char *open = strchr(*args, '{'), *close = open ? strchr(open, '}') : NULL;
		_cleanup_free_ char *name = NULL;
		_cleanup_free_ const char *value = NULL;

		if (close && close > open + 1)
			name = mem_strndup(open + 1, (size_t)(close - open - 1));
		else if (close && own)
			name = mem_strdup(own);
		if (name)
			value = argument_value(c, name);
		add_argument(l, value ? arena_printf(l->a, "%.*s%s%s", (int)(open - *args), *args,
						     value, close + 1)
				      : *args);
	}
}

static void add_param(struct argument_list *l, const struct test_case *c,
		      const struct bench_param *p)
{
	const char *value = case_param(c, p->name);
	size_t i;

	if (!value)
		return;
	add_template(l, c, p->name, p->args);
	for (i = 0; p->words && p->words[i]; i++)
		if (!strcmp(p->words[i], value))
			add_template(l, c, p->name, p->word_args[i]);
}

static void add_words(struct argument_list *l, const char *text)
{
	struct span rest = span_of(text), word;

	while (span_next_word(&rest, &word))
		add_argument(l, arena_strndup(l->a, word.s, word.len));
}

/* make -s -C SOURCE O=BUILD, the beginning of every call of the kernel's Makefile. */
static void add_make(struct argument_list *l, const struct test_case *c, const char *program)
{
	add_argument(l, program);
	add_argument(l, "-s");
	if (!c->source_dir)
		return;
	add_argument(l, "-C");
	add_argument(l, c->source_dir);
	add_argument(l, arena_printf(l->a, "O=%s", c->build_dir));
}

static const char *const *case_arguments(struct arena *a, const struct test_case *c,
					 const char *program)
{
	struct argument_list l = {.a = a};
	size_t i;

	if (c->bench->build)
		add_make(&l, c, program);
	else
		add_argument(&l, program);
	add_template(&l, c, NULL, c->bench->args);
	for (i = 0; i < c->bench->n_params; i++)
		add_param(&l, c, &c->bench->params[i]);
	add_template(&l, c, NULL, c->bench->args_after);
	if (c->bench->build)
		add_words(&l, c->target);
	return take_arguments(&l);
}

static void add_quoted(struct strbuf *sb, const char *const *argv)
{
	for (; *argv; argv++) {
		str_quote_shell(sb, *argv);
		if (argv[1])
			strbuf_addc(sb, ' ');
	}
}

char *case_command(struct arena *a, const struct test_case *c)
{
	const char *slash = strrchr(c->program, '/');
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct test_case plain = *c;

	plain.source_dir = NULL; /* folders of the cache say nothing to a reader */
	if (c->bench->server) {
		add_quoted(&sb, c->bench->server);
		strbuf_adds(&sb, " & ");
	}
	if (c->cpus)
		strbuf_addf(&sb, "taskset -c %s ", c->cpus);
	add_quoted(&sb, case_arguments(a, &plain, slash ? slash + 1 : c->program));
	return arena_strdup(a, strbuf_str(&sb));
}

char *case_program_path(struct arena *a, const struct test_case *c)
{
	char *path = path_program(a, c->program);

	return path || strchr(c->program, '/') ? path
					       : path_program(a, path_libexec(a, c->program));
}

char *case_missing(struct arena *a, const struct test_case *c)
{
	const struct bench_def *b = c->bench;

	if (c->program == b->program && b->package)
		return arena_printf(a, "%s is not installed: apt-get install %s", b->name,
				    b->package);
	if (c->program == b->program && b->upstream)
		return arena_printf(a, "%s is not installed; it comes from %s", b->name,
				    b->upstream);
	return arena_printf(a, "%s: there is no program %s", b->name, c->program);
}

double case_deadline(const struct test_case *c, bool slow)
{
	/* Fixed work takes as long as the machine lets it; a fixed time only starts and ends late.
	 */
	double factor = (c->bench->fixed_work ? 10 : 3) * (slow ? 2 : 1);

	return c->deadline > 0 ? c->deadline : c->expected * factor + (slow ? 90 : 30);
}

/*
 * bash's `time` prints the times; the command itself is never part of the shell's text. What an
 * enclosing make or the user's TIMEFORMAT would change is set here.
 */
static void case_build_job(struct arena *a, const struct test_case *c, const char *program,
			   bool in_guest, struct job *job)
{
	static const char *const env[] = {
		"MAKEFLAGS=",
		"MAKELEVEL=",
		"KBUILD_OUTPUT=",
		"TIMEFORMAT=\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS",
		NULL,
	};
	struct argument_list timed = {.a = a}, clean = {.a = a};
	const char *const *argv;

	if (in_guest) {
		add_argument(&timed, "chroot");
		add_argument(&timed, JOB_HOST_ROOT);
	}
	add_argument(&timed, "bash");
	add_argument(&timed, "-c");
	add_argument(&timed, "time \"$@\"");
	add_argument(&timed, "kdelta");
	for (argv = job->argv; *argv; argv++)
		add_argument(&timed, *argv);
	job->argv = take_arguments(&timed);
	job->env = env;
	job->drop_caches = c->drop_caches;
	if (in_guest)
		return; /* which begins with what was configured, every time (qemu.c) */
	add_make(&clean, c, program);
	add_argument(&clean, arena_printf(a, "-j%s", case_param(c, "jobs")));
	add_argument(&clean, "clean");
	job->prepare = take_arguments(&clean);
}

void case_job(struct arena *a, const struct test_case *c, bool local, bool slow, struct job *job)
{
	const char *slash = strrchr(c->program, '/');
	const char *program = local ? case_program_path(a, c) : slash ? slash + 1 : c->program;
	double nofile;

	if (!program)
		program = c->program;
	*job = (struct job){
		.argv = case_arguments(a, c, program),
		.env = c->bench->env,
		.cpus = c->cpus,
		.server = c->bench->server,
		.port = c->bench->port,
		.deadline = case_deadline(c, slow),
	};
	if (c->bench->nofile && catalog_evaluate(c->bench->nofile, case_number, c, &nofile))
		job->nofile = (uint64_t)nofile;
	if (c->bench->build)
		case_build_job(a, c, program, !local, job);
}

void case_estimate(struct test_case *c, bool slow)
{
	size_t i;

	c->expected = c->stated > 0 ? c->stated : 10;
	if (c->stated > 0)
		return;
	for (i = 0; i < c->bench->n_params; i++) {
		const struct bench_param *p = &c->bench->params[i];
		const char *value = case_param(c, p->name);

		if (p->is_auto && value && !strcmp(value, "auto")) {
			c->expected = p->calibrate;
			return;
		}
	}
	if (c->bench->expected)
		catalog_evaluate(c->bench->expected, case_number, c, &c->expected);
	if (slow && c->bench->fixed_work)
		c->expected *= 20;
}

static void add_settings(struct strbuf *sb, const char *kind, const struct setting *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		strbuf_addf(sb, "%s %s=%s\n", kind, s[i].name, s[i].value);
}

static char *settings_identity(struct arena *a, const struct variant_config *v, const char *kernel)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *const *f;

	strbuf_addf(&text, "kernel %s\ncmdline %s\n", kernel, v->cmdline ? v->cmdline : "");
	if (v->memory)
		strbuf_addf(&text, "memory %s\n", v->memory);
	add_settings(&text, "sysctl", v->sysctls, v->n_sysctls);
	for (f = v->features; f && *f; f++)
		strbuf_addf(&text, "feature %s\n", *f);
	add_settings(&text, "knob", v->knobs, v->n_knobs);
	add_settings(&text, "env", v->env, v->n_env);
	if (v->policy)
		strbuf_addf(&text, "policy %s\n", v->policy);
	if (v->nice)
		strbuf_addf(&text, "nice %d\n", v->nice);
	if (v->unwatched)
		strbuf_adds(&text, "monitors none\n");
	return short_hash(a, &text);
}

char *variant_original_identity(struct arena *a, const struct variant_config *v, const char *kernel)
{
	return v->same_as ? settings_identity(a, v, kernel) : NULL;
}

char *variant_identity(struct arena *a, const struct variant_config *v, const char *kernel)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *original = settings_identity(a, v, kernel);

	if (!v->same_as)
		return original;
	strbuf_addf(&text, "%s arm %s\n", original, v->name);
	return short_hash(a, &text);
}

static json_t *settings_object(const struct setting *s, size_t n)
{
	json_t *j = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(j, s[i].name, json_string(s[i].value));
	return j;
}

char *variant_settings_json(struct arena *a, const struct variant_config *v, const char *original)
{
	json_t *features = json_array(), *modules = json_array(), *root;
	const char *const *f;

	for (f = v->features; f && *f; f++)
		json_array_append_new(features, json_string(*f));
	root = json_pack("{s:s, s:s, s:o, s:o, s:o}", "cmdline", v->cmdline ? v->cmdline : "",
			 "memory", v->memory ? v->memory : "", "sysctl",
			 settings_object(v->sysctls, v->n_sysctls), "sched_features", features,
			 "env", settings_object(v->env, v->n_env));
	for (f = v->load; f && *f; f++)
		json_array_append_new(modules, json_string(*f));
	if (v->load)
		json_object_set(root, "modules", modules);
	json_decref(modules);
	if (v->n_knobs)
		json_object_set_new(root, "knobs", settings_object(v->knobs, v->n_knobs));
	if (v->policy)
		json_object_set_new(root, "policy", json_string(v->policy));
	if (v->nice)
		json_object_set_new(root, "nice",
				    json_string(arena_printf(a, "%d", v->nice)));
	if (v->unwatched)
		json_object_set_new(root, "monitors", json_string("none"));
	if (original)
		json_object_set_new(root, "same_as", json_string(original));
	return json_take_text(a, root);
}
