// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hyperfine. --export-json, each of "times" a run (seconds; the parameter `command` tells the
 * commands of a file apart):
 *
 *	{"results": [{"command": "make -j4", "mean": 10.52, "stddev": 0.12, "median": 10.5,
 *	  "user": 32.1, "system": 4.2, "min": 10.3, "max": 10.8, "times": [10.3, 10.5, 10.8],
 *	  "memory_usage_byte": [10400, 10384, 10400], "exit_codes": [0, 0, 0],
 *	  "parameters": {"threads": "4"}}]}
 *
 * user and system are means of all runs: of a command with one run they are results, else they
 * stand in its first run as diagnostics. Or what it prints, where there is no JSON: the mean is
 * all that is known, one value.
 *
 *	Benchmark 1: make -j4
 *	  Time (mean ± σ):     10.520 s ±  0.120 s    [User: 32.100 s, System: 4.200 s]
 *	  Range (min … max):   10.300 s … 10.800 s    3 runs
 */
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason hyperfine_reasons[] = {
	{"Command terminated with non-zero exit code", NULL, "command_failed"},
	{"Command terminated with signal", NULL, "command_failed"},
	{"Failed to run command", NULL, "command_not_found"},
	{"unexpected argument", NULL, "usage_error"},
	{"required arguments were not provided", NULL, "usage_error"},
	{"wasn't expected, or isn't valid", NULL, "usage_error"},
	SCAN_REASONS_END,
};

static void add_seconds(struct scan *s, json_t *number, enum value_role role, const char *metric)
{
	double v = json_number_value(number);

	if (!json_is_number(number))
		return;
	if (v < 0 || v > 1e7) {
		scan_error_of(s, v < 0 ? "bad_number" : "out_of_range", span_of(metric));
		return;
	}
	scan_value(s, role, "s", v, "%s", metric);
}

static void add_params(struct scan *s, json_t *result)
{
	json_t *command = json_object_get(result, "command"), *value;
	const char *name;

	if (json_is_string(command))
		scan_param(s, span_of(json_string_value(command)), "command");
	json_object_foreach(json_object_get(result, "parameters"), name,
			    value) if (json_is_string(value) && *name)
		scan_param(s, span_of(json_string_value(value)), "%s", name);
}

/* null is a command that a signal ended */
static bool has_failed(json_t *codes, size_t i)
{
	json_t *code = json_array_get(codes, i);

	return code && (!json_is_integer(code) || json_integer_value(code));
}

static void json_run(struct scan *s, json_t *result, json_t *time, size_t i, size_t n)
{
	json_t *memory = json_array_get(json_object_get(result, "memory_usage_byte"), i);
	enum value_role role = n == 1 ? ROLE_RESULT : ROLE_DIAGNOSTIC;

	scan_run(s);
	add_params(s, result);
	add_seconds(s, time, ROLE_RESULT, "time");
	s->figure = s->run->values.n > 0;
	if (s->figure && json_number_value(time) == 0)
		scan_error_of(s, "zero_result", span_of("a time of 0"));
	if (has_failed(json_object_get(result, "exit_codes"), i))
		scan_error_of(s, "command_failed", span_of("the command failed (exit_codes)"));
	if (json_is_number(memory) && json_number_value(memory) > 0)
		scan_value(s, ROLE_RESULT, "bytes", json_number_value(memory), "memory");
	if (!i) {
		add_seconds(s, json_object_get(result, "user"), role, "user");
		add_seconds(s, json_object_get(result, "system"), role, "system");
	}
	scan_end_run(s);
}

static void json_results(struct scan *s, json_t *root)
{
	json_t *result, *times, *time;
	size_t i, k;

	json_array_foreach(json_object_get(root, "results"), i, result)
	{
		times = json_object_get(result, "times");
		if (!json_array_size(times) && json_is_number(json_object_get(result, "mean")))
			json_run(s, result, json_object_get(result, "mean"), 0, 1);
		json_array_foreach(times, k, time)
			json_run(s, result, time, k, json_array_size(times));
	}
}

/* "10.520 s", "102.1 ms", "850.2 µs" */
static const char *text_seconds(struct scan *s, struct span figure, struct span unit, double *v)
{
	static const struct {
		const char *unit;
		double parts; /* in a second */
	} units[] = {{"s", 1}, {"ms", 1e3}, {"µs", 1e6}, {"us", 1e6}};
	const char *error = scan_figure(s, figure, "s", ANY_DECIMALS, v);
	size_t i;

	while (unit.len && strchr(",]", unit.s[unit.len - 1]))
		unit.len--;
	for (i = 0; i < ARRAY_SIZE(units) && !span_is(unit, units[i].unit); i++)
		;
	if (error || i == ARRAY_SIZE(units))
		return error ? error : s->cut ? "truncated" : "unexpected_unit";
	*v /= units[i].parts;
	return *v == 0 ? "zero_result" : NULL;
}

static void text_value(struct scan *s, struct span rest, const char *label, const char *metric)
{
	struct span figure, unit;
	const char *error;
	double v;

	if (!scan_after(&rest, label) || !span_next_word(&rest, &figure) ||
	    !span_next_word(&rest, &unit))
		return;
	error = text_seconds(s, figure, unit, &v);
	if (!error)
		scan_value(s, ROLE_RESULT, "s", v, "%s", metric);
	else if (!strcmp(metric, "time"))
		scan_error(s, error);
	s->figure |= !error && !strcmp(metric, "time");
}

static void read_line(struct scan *s)
{
	struct span number, command;

	if (scan_match(s->line, "Benchmark %w: %*", &number, &command) ||
	    scan_match(s->line, "Benchmark #%w: %*", &number, &command)) {
		scan_end_run(s);
		scan_param(s, span_trim(command), "command");
	} else if (span_starts(span_trim(s->line), "Time (mean") ||
		   span_starts(span_trim(s->line), "Time (abs")) {
		if (s->figure)
			scan_end_run(s);
		scan_run(s);
		text_value(s, s->line, "):", "time");
		text_value(s, s->line, "[User:", "user");
		text_value(s, s->line, "System:", "system");
	} else {
		scan_find_reason(s);
	}
}

static void hyperfine_parse(struct arena *a, const struct parse_input *in,
			    struct parse_result *result)
{
	struct scan s = {
		.a = a, .in = in, .result = result, .reasons = hyperfine_reasons, .rest = in->text};
	struct parse_result text = *result;
	ARRAY_OF(json_t *) json = {NULL, 0, 0};
	json_t *object;
	size_t i;

	s.result = &text;
	while (s.rest.len) {
		object = scan_json(&s);
		if (object)
			*SCAN_PUSH(a, &json) = object;
		else if (scan_line(&s))
			read_line(&s);
	}
	scan_end_run(&s);
	/* beside JSON the text says nothing more */
	s.result = result;
	for (i = 0; i < json.n; i++) {
		json_results(&s, json.items[i]);
		json_decref(json.items[i]);
	}
	if (!result->runs.n)
		result->runs = text.runs;
}

static int hyperfine_recognise(struct span text)
{
	if (span_find(text, "\"results\"") && span_find(text, "\"command\"") &&
	    span_find(text, "\"mean\"") && span_find(text, "\"stddev\""))
		return 95;
	return span_find(text, "  Time (mean \xc2\xb1 \xcf\x83):") ? 95 : 0;
}

static const struct parser hyperfine = {
	.name = "hyperfine",
	.summary = "hyperfine --export-json (each time a run), or its text",
	.recognise = hyperfine_recognise,
	.parse = hyperfine_parse,
};
REGISTER(parser, hyperfine);
