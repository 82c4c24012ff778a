// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of a bisection as JSON and as the command line that gives them. */
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "hunt/bisect.h"

enum kind { TEXT, FLAG, SHARE, COUNT };

static const struct {
	const char *name; /* of the option, and of the key */
	enum kind kind;
	size_t offset;
} fields[] = {
#define FIELD(name, kind, member) {name, kind, offsetof(struct bisect_options, member)}
	FIELD("repo", TEXT, repo),
	FIELD("good", TEXT, good),
	FIELD("bad", TEXT, bad),
	FIELD("config", TEXT, config),
	FIELD("metric", TEXT, metric),
	FIELD("case", TEXT, test_case),
	FIELD("path", TEXT, path),
	FIELD("fixup", TEXT, fixup),
	FIELD("first-parent", FLAG, first_parent),
	FIELD("threshold", SHARE, threshold),
	FIELD("confidence", SHARE, confidence),
	FIELD("end-runs", COUNT, end_runs),
};

static void *member(const struct bisect_options *opt, size_t i)
{
	return (char *)(uintptr_t)opt + fields[i].offset;
}

char *bisect_options_text(struct arena *a, const struct bisect_options *opt)
{
	json_t *root = json_object();
	char *text, *copy;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *s = fields[i].kind == TEXT ? *(const char **)member(opt, i) : NULL;

		if (fields[i].kind == FLAG)
			json_object_set_new(root, fields[i].name,
					    json_boolean(*(bool *)member(opt, i)));
		else if (fields[i].kind == SHARE)
			json_object_set_new(root, fields[i].name,
					    json_real(*(double *)member(opt, i)));
		else if (fields[i].kind == COUNT)
			json_object_set_new(root, fields[i].name,
					    json_integer(*(int *)member(opt, i)));
		else if (s)
			json_object_set_new(root, fields[i].name, json_string(s));
	}
	text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12));
	copy = arena_strdup(a, text);
	free(text);
	json_decref(root);
	return copy;
}

int bisect_options_read(struct arena *a, const char *text, struct bisect_options *opt,
			struct err *e)
{
	json_error_t where;
	json_t *root = json_loads(text, 0, &where);
	size_t i;

	*opt = (struct bisect_options){
		.threshold = 0.03, .confidence = 0.95, .end_runs = BISECT_END_RUNS};
	if (!json_is_object(root)) {
		json_decref(root);
		return err_add(e, -EINVAL, "these are no options of a bisection: %s", text);
	}
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const json_t *v = json_object_get(root, fields[i].name);

		if (fields[i].kind == TEXT)
			*(const char **)member(opt, i) = arena_strdup(a, json_string_value(v));
		else if (fields[i].kind == FLAG)
			*(bool *)member(opt, i) = json_is_true(v);
		else if (fields[i].kind == COUNT && json_is_integer(v))
			*(int *)member(opt, i) = (int)json_integer_value(v);
		else if (fields[i].kind == SHARE && json_is_number(v))
			*(double *)member(opt, i) = json_number_value(v);
	}
	json_decref(root);
	if (opt->good && opt->bad && opt->config && opt->metric && opt->test_case &&
	    opt->threshold > 0 && opt->confidence > 0.5 && opt->confidence < 1 &&
	    opt->end_runs >= BISECT_END_RUNS)
		return 0;
	return err_add(e, -EINVAL, "these options of a bisection are not whole: %s", text);
}

char *bisect_command(const struct bisect *b, const struct bisect_options *opt)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	strbuf_adds(&sb, "kdelta bisect start");
	if (b->row.name && strcmp(b->row.name, BISECT_NAME)) {
		strbuf_adds(&sb, " --name ");
		str_quote_shell(&sb, b->row.name);
	}
	if (!opt->repo)
		strbuf_adds(&sb, " --variants");
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const void *m = member(opt, i);

		if (fields[i].kind == FLAG && *(const bool *)m) {
			strbuf_addf(&sb, " --%s", fields[i].name);
		} else if (fields[i].kind == SHARE) {
			strbuf_addf(&sb, " --%s %g%%", fields[i].name, 100 * *(const double *)m);
		} else if (fields[i].kind == COUNT && *(const int *)m != BISECT_END_RUNS) {
			strbuf_addf(&sb, " --%s %d", fields[i].name, *(const int *)m);
		} else if (fields[i].kind == TEXT && *(const char *const *)m) {
			strbuf_addf(&sb, " --%s ", fields[i].name);
			str_quote_shell(&sb, *(const char *const *)m);
		}
	}
	return arena_strdup(b->a, strbuf_str(&sb));
}
