// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw output -> samples: by the C parser of a benchmark, or by the patterns of its description. */
#include "campaign/catalog.h"

#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <string.h>

#include "core/num.h"

static void run_fails(struct parse_run *run, const char *class, const char *message)
{
	run->outcome = OUTCOME_ERROR;
	run->error = class;
	run->message = message;
}

/* What signal and exit status say, with the classes of the corpus; false: nothing. */
static bool status_fails(struct arena *a, const struct parse_input *in, struct parse_run *run)
{
	if (in->signal) {
		run_fails(run,
			  in->signal == SIGINT || in->signal == SIGTERM ? "interrupted"
			  : in->signal == SIGKILL			? "killed"
									: "crashed",
			  arena_printf(a, "ended by signal %d", in->signal));
	} else if (in->exit_status == 124) {
		run_fails(run, "hang", "no result when the deadline came");
	} else if (in->exit_status > 0) {
		run_fails(run, "command_failed",
			  arena_printf(a, "exit status %d", in->exit_status));
	}
	return run->outcome == OUTCOME_ERROR;
}

/* The group of the last match of a pattern, or the whole match where it has no group. */
static bool last_match(const char *pattern, const char *text, struct span *found)
{
	const char *at = text;
	regmatch_t m[2];
	regex_t re;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE))
		return false;
	found->s = NULL;
	while (!regexec(&re, at, 2, m, at > text && at[-1] != '\n' ? REG_NOTBOL : 0)) {
		int g = re.re_nsub > 0 && m[1].rm_so >= 0;

		*found = (struct span){at + m[g].rm_so, (size_t)(m[g].rm_eo - m[g].rm_so)};
		at += m[0].rm_eo;
		if (m[0].rm_eo == m[0].rm_so && !*at++)
			break;
	}
	regfree(&re);
	return found->s;
}

static void parse_patterns(struct arena *a, const struct bench_def *def, const char *text,
			   struct parse_run *run)
{
	struct span found;
	size_t i;

	if (def->complete && !last_match(def->complete, text, &found)) {
		run_fails(run, "truncated", "the line that ends a complete output is missing");
		return;
	}
	for (i = 0; i < def->n_metrics; i++) {
		const struct bench_metric *m = &def->metrics[i];
		struct parse_value *v;
		double number;

		if (!last_match(m->pattern, text, &found)) {
			run_fails(run, "no_result", arena_printf(a, "no line gives %s", m->name));
			return;
		}
		if (!num_parse(found, &number) || number < 0) {
			run_fails(run, "bad_number",
				  arena_printf(a, "%s is not a number: %.*s", m->name,
					       (int)MIN(found.len, 40u), found.s));
			return;
		}
		v = ARRAY_PUSH(&run->values);
		v->metric = m->name;
		v->unit = m->unit;
		v->value = number;
	}
}

/* The arrays of a result live in the arena, so that nobody has to free them. */
static void take_values(struct arena *a, struct parse_run *run)
{
	struct parse_value *items = run->values.items;

	run->values.items = arena_copy(a, items, run->values.n, sizeof(*items));
	run->values.alloc = run->values.n;
	mem_free_ptr(&items);
}

int catalog_parse(struct arena *a, const struct bench_def *def, const struct parse_input *in,
		  struct parse_result **out, struct err *e)
{
	struct parse_result *result = arena_alloc(a, sizeof(*result));
	struct parse_run *run = arena_alloc(a, sizeof(*run));
	const struct parser *parser = parser_find(def->parser);

	if (parser) {
		*out = parser_run(a, parser, in);
		(*out)->benchmark = def->name;
		return 0;
	}
	if (strcmp(def->parser, "pattern"))
		return err_add(e, -EINVAL, "no parser reads the output of %s", def->name);
	if (!status_fails(a, in, run) && !span_trim(in->text).len)
		run_fails(run, "empty", "the command printed nothing");
	if (run->outcome != OUTCOME_ERROR)
		parse_patterns(a, def, arena_strndup(a, in->text.s, in->text.len), run);
	if (run->outcome == OUTCOME_ERROR)
		run->values.n = 0;
	take_values(a, run);
	*result = (struct parse_result){.benchmark = def->name,
					.outcome = run->outcome,
					.error = run->error,
					.message = run->message};
	result->runs.items = run;
	result->runs.n = result->runs.alloc = 1;
	*out = result;
	return 0;
}
