// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta parse: raw benchmark output -> values on stdout, without a database. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/num.h"
#include "parsers/parser.h"
#include "runner/input.h"

static json_t *json_text(const char *s)
{
	return s ? json_string(s) : json_null();
}

/* A count stays one: 2, not 2.0. */
static json_t *json_figure(double v)
{
	return v > -1e15 && v < 1e15 && v == (double)(json_int_t)v ? json_integer((json_int_t)v)
								   : json_real(v);
}

static json_t *json_params(const struct parse_run *run)
{
	json_t *o = json_object();
	const struct parse_param *p;
	double v;

	array_for_each (p, &run->params)
		json_object_set_new(o, p->name,
				    p->is_number && num_parse(span_of(p->text), &v)
					    ? json_figure(v)
					    : json_string(p->text));
	return o;
}

static json_t *json_values(const struct parse_run *run)
{
	json_t *list = json_array();
	const struct parse_value *v;

	array_for_each (v, &run->values)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:s}", "metric", v->metric, "value",
					v->is_null ? json_null() : json_figure(v->value), "unit",
					v->is_null ? json_null() : json_string(v->unit), "role",
					v->role == ROLE_RESULT ? "result" : "diagnostic"));
	return list;
}

static json_t *json_doubles(const double *v, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_figure(v[i]));
	return list;
}

static json_t *json_series(const struct parse_run *run)
{
	json_t *list = json_array();
	const struct parse_series *s;

	array_for_each (s, &run->series)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o, s:o}", "metric", s->metric, "unit",
						s->unit, "t", json_doubles(s->t, s->n), "v",
						json_doubles(s->v, s->n)));
	return list;
}

static void add_json(struct strbuf *sb, const struct parse_result *result)
{
	json_t *runs = json_array(), *root;
	const struct parse_run *run;

	array_for_each (run, &result->runs)
		json_array_append_new(runs, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "outcome",
						      outcome_name(run->outcome), "error",
						      json_text(run->error), "message",
						      json_text(run->message), "params",
						      json_params(run), "values", json_values(run),
						      "series", json_series(run)));
	root = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "schema", "kdelta.parse/1", "benchmark",
			 result->benchmark, "outcome", outcome_name(result->outcome), "error",
			 json_text(result->error), "message", json_text(result->message), "runs",
			 runs);
	json_add_lines(sb, root, 15);
}

static void add_text_run(struct strbuf *sb, const struct parse_run *run)
{
	const struct parse_param *p;
	const struct parse_value *v;

	array_for_each (p, &run->params)
		strbuf_addf(sb, "  %-32s %s\n", p->name, p->text);
	array_for_each (v, &run->values) {
		strbuf_addf(sb, "  %-32s ", v->metric);
		if (v->is_null)
			strbuf_adds(sb, "-");
		else
			num_add_exact(sb, v->value);
		strbuf_addf(sb, " %s%s\n", v->is_null ? "" : v->unit,
			    v->role == ROLE_DIAGNOSTIC ? " (diagnostic)" : "");
	}
}

static void add_text(struct strbuf *sb, const struct parse_result *result)
{
	const struct parse_run *run;

	array_for_each (run, &result->runs) {
		strbuf_addf(sb, "%s", result->benchmark);
		if (result->runs.n > 1)
			strbuf_addf(sb, " run %zu", (size_t)(run - result->runs.items) + 1);
		strbuf_addf(sb, ": %s", outcome_name(run->outcome));
		if (run->error)
			strbuf_addf(sb, " (%s)", run->error);
		if (run->message)
			strbuf_addf(sb, ": %s", run->message);
		strbuf_addc(sb, '\n');
		add_text_run(sb, run);
	}
}

static const struct parser *find_parser(struct cli *c, const char *name)
{
	const struct parser *found = parser_find(name), *const * p;
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	size_t n = (size_t)(__stop_reg_parser - __start_reg_parser), i = 0;
	const char **names = arena_alloc_array(c->a, n + 1, sizeof(*names));

	if (found)
		return found;
	registry_for_each (parser, p) {
		names[i++] = (*p)->name;
		strbuf_addf(&all, "%s%s", all.len ? ", " : "", (*p)->name);
	}
	err_add(c->e, -EINVAL, "unknown benchmark '%s'", name);
	if (!cli_suggest(c, name, names))
		err_hint(c->e, "known are %s", strbuf_str(&all));
	return NULL;
}

static void help_parsers(struct strbuf *sb)
{
	const struct parser *const *p;

	strbuf_adds(sb, "\nBenchmarks\n");
	registry_for_each (parser, p)
		strbuf_addf(sb, "  %-24s   %s\n", (*p)->name, (*p)->summary);
}

static int parse_run(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
	struct parse_input in = {.exit_status = -1, .command = cli_value(c, "command")};
	const char *format = cli_value(c, "output");
	const struct parser *p;
	const struct parse_result *result;
	long status = -1, sig = 0;
	int r;

	if (c->n_operands != 2)
		return cli_usage(c, "parse takes a benchmark and a file (or -)");
	if (!format)
		format = c->json || !cli_columns() ? "json" : "text";
	if (strcmp(format, "json") && strcmp(format, "text"))
		return cli_usage(c, "-o takes json or text, not '%s'", format);
	p = find_parser(c, c->operands[0]);
	if (!p || cli_int(c, "exit-status", 0, 255, &status) || cli_int(c, "signal", 1, 64, &sig))
		return -EINVAL;
	r = input_read(c->operands[1], &text, c->e);
	if (r)
		return r == -EINVAL ? -EIO : r;
	in.text = (struct span){strbuf_str(&text), text.len};
	if (cli_has(c, "unquote"))
		in.text = parser_unquote(c->a, in.text);
	in.exit_status = (int)status;
	in.signal = (int)sig;
	result = parser_run(c->a, p, &in);
	if (!strcmp(format, "json"))
		add_json(&out, result);
	else
		add_text(&out, result);
	cli_print(&out);
	return result->outcome == OUTCOME_OK || result->outcome == OUTCOME_SUSPECT ? EXIT_DONE
										   : EXIT_FAILED;
}

static const struct cli_option options[] = {
	{"output", 'o', "FORMAT", "json (the default on a pipe) or text"},
	{"exit-status", 0, "N", "exit status of the benchmark (124: its deadline passed)"},
	{"signal", 0, "N", "number of the signal that ended it"},
	{"command", 0, "LINE", "command line it was started with"},
	{"unquote", 0, NULL, "remove the quote marks of a mail"},
	CLI_OPTIONS_END,
};

static const struct command parse = {
	.name = "parse",
	.usage = "BENCHMARK FILE|-",
	.group = "keep",
	.summary = "raw benchmark output to values on stdout, without a database",
	.help = "The outcome of a run is ok, partial (values of a part of it), suspect (look at "
		"it\n"
		"before you believe it) or error with a class; only ok is a sample. Exit status: 0 "
		"for\n"
		"ok and suspect, 1 for partial and error.",
	.help_list = help_parsers,
	.examples = "  kdelta parse hackbench run.log\n"
		    "  hackbench -g 4 2>&1 | kdelta parse hackbench - --command 'hackbench -g 4'",
	.options = options,
	.run = parse_run,
};
REGISTER(command, parse);
