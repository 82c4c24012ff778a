// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf bench, collection sched (and others that print the same lines):
 *
 *	# Running 'sched/messaging' benchmark:
 *	# 20 sender and receiver processes per group
 *	# 2 groups == 80 processes run
 *
 *	     Total time: 4.454 [sec]
 *
 *	# Running 'sched/pipe' benchmark:
 *	# Executed 1000000 pipe operations between two processes
 *
 *	     Total time: 53.887 [sec]
 *
 *	      53.887419 usecs/op
 *	          18557 ops/sec
 *
 * `perf bench sched all` is one run whose headers read "# Running sched/pipe benchmark...": its
 * metrics are messaging.total_time, pipe.total_time and so on. With `-f simple` each benchmark
 * prints nothing but its seconds ("2.101"); only the command line tells what they are.
 */
#include <string.h>

#include "parsers/scan.h"

static const struct scan_reason perf_reasons[] = {
	{"Unknown format descriptor", NULL, "usage_error"},
	{"Unknown collection", NULL, "usage_error"},
	{"Unknown benchmark", NULL, "usage_error"},
	{"List of available benchmarks", NULL, "usage_error"},
	{"List of all available benchmark", NULL, "usage_error"},
	{"Error: unknown ", NULL, "usage_error"},
	{"Error: switch ", NULL, "usage_error"},
	{"Usage: ", "perf bench", "usage_error"},
	{"usage: perf bench", NULL, "usage_error"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"fork", "Resource temporarily unavailable", "resource_limit_proc"},
	{"pthread_create", NULL, "resource_limit_proc"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"SENDER: ", NULL, "child_failed"},
	{"CLIENT: ", NULL, "child_failed"},
	{"SERVER: ", NULL, "child_failed"},
	{"perf: Reading for readyfds", NULL, "child_failed"},
	SCAN_REASONS_END,
};

enum { OPTION_FORMAT, OPTION_GROUPS };
static const struct scan_option perf_options[] = {
	{'f', "format"}, {'g', "group"},  {'l', "nr_loops"},
	{'l', "loop"},	 {'r', "repeat"}, {0, NULL},
};

enum { SEEN_TIME = 1, SEEN_USEC = 2, SEEN_OPS = 4 };

struct perf {
	struct scan s;
	const char *prefix; /* "messaging." in a run of all benchmarks, else "" */
	const char *first;  /* prefix that began the run of all, else NULL */
	bool simple;
	unsigned seen;	 /* figures of the section */
	bool operations; /* it prints usecs/op and ops/sec, too */
};

/* A section without its last lines makes the run partial, one without a time as well. */
static void perf_end_section(struct perf *p)
{
	if (p->s.run && p->operations && !(p->seen & SEEN_OPS))
		p->s.partial = "the last lines are missing";
	else if (p->s.run && *p->prefix && !(p->seen & SEEN_TIME))
		p->s.partial = "the last benchmark has no time";
	p->operations = false;
	p->seen = 0;
	p->prefix = "";
}

static void perf_end_run(struct perf *p)
{
	perf_end_section(p);
	if (p->s.run && p->s.figure)
		scan_expect(&p->s, p->s.asked.option[OPTION_GROUPS], 1, "groups");
	scan_end_run(&p->s);
	p->first = NULL;
}

static void perf_mode(struct perf *p, struct span tasks)
{
	scan_param(&p->s, span_of(span_starts(tasks, "thread") ? "thread" : "process"), "%smode",
		   p->prefix);
}

/* The header of one benchmark of `all`; the first one coming again begins the next run. */
static void perf_begin_of_all(struct perf *p, struct span bench)
{
	const char *slash = memchr(bench.s, '/', bench.len), *prefix;

	if (slash) {
		bench.len -= (size_t)(slash + 1 - bench.s);
		bench.s = slash + 1;
	}
	prefix = arena_printf(p->s.a, "%.*s.", (int)MIN(bench.len, (size_t)60), bench.s);
	if (p->first && strcmp(prefix, p->first)) {
		perf_end_section(p);
	} else {
		perf_end_run(p);
		p->first = prefix;
	}
	scan_run(&p->s);
	p->prefix = prefix;
}

static bool perf_header(struct perf *p)
{
	struct scan *s = &p->s;
	struct span bench, n, groups, tasks, more;

	if (scan_match(s->line, "# Running '%w' benchmark:", &bench)) {
		perf_end_run(p);
		scan_param(s, bench, "bench");
	} else if (scan_match(s->line, "# Running %w benchmark...", &bench)) {
		perf_begin_of_all(p, bench);
	} else if (scan_match(s->line, "# %w groups == %w %w run", &groups, &n, &tasks)) {
		scan_param(s, groups, "%sgroups", p->prefix);
		scan_param(s, n, "%stasks", p->prefix);
		perf_mode(p, tasks);
	} else if (scan_match(s->line, "# Executed %w%*", &n, &more)) {
		scan_run(s);
		p->operations = true;
		if (scan_match(more, " pipe operations between two %w", &tasks))
			perf_mode(p, tasks);
	} else {
		return false;
	}
	return true;
}

static void perf_time(struct perf *p, struct span figure, struct span unit)
{
	struct scan *s = &p->s;
	const char *error;
	double v;

	if ((p->seen & SEEN_TIME) && !p->first)
		perf_end_run(p);
	error = scan_figure(s, figure, "s", 3, &v);
	if (!error && (scan_has_digit(unit) || (p->seen & SEEN_TIME)))
		error = "bad_number";
	if (!error && !p->simple && !span_is(span_trim(unit), "[sec]"))
		error = s->cut ? "truncated" : "unexpected_unit";
	if (!error && v == 0)
		error = "zero_result";
	p->seen |= SEEN_TIME;
	if (error) {
		scan_error(s, error);
		return;
	}
	scan_value(s, ROLE_RESULT, "s", v, "%stotal_time", p->prefix);
	s->figure = true;
}

/* "      53.887419 usecs/op", "          18,557 ops/sec": newer versions group the digits */
static void perf_operation(struct perf *p, struct span figure, unsigned which)
{
	static const char *const metrics[] = {
		[SEEN_USEC] = "usec_per_op", [SEEN_OPS] = "ops_per_sec"};
	const char *unit = which == SEEN_USEC ? "us/op" : "ops/s";
	struct scan *s = &p->s;
	char *digits = arena_alloc(s->a, figure.len + 1);
	const char *error;
	size_t i, n = 0;
	double v;

	if (!(p->seen & SEEN_TIME) || (p->seen & which))
		return;
	p->seen |= which;
	for (i = 0; i < figure.len; i++)
		if (figure.s[i] != ',' || which == SEEN_USEC)
			digits[n++] = figure.s[i];
	error = scan_figure(s, (struct span){digits, n}, unit, 0, &v);
	if (error)
		scan_error(s, error);
	else
		scan_value(s, ROLE_RESULT, unit, v, "%s%s", p->prefix, metrics[which]);
}

static void perf_line(struct perf *p)
{
	struct scan *s = &p->s;
	struct span figure, unit;

	if (perf_header(p))
		return;
	if (scan_match(s->line, " Total time: %w%*", &figure, &unit)) {
		perf_time(p, figure, unit);
	} else if (scan_match(s->line, " %w usecs/op", &figure)) {
		perf_operation(p, figure, SEEN_USEC);
	} else if (scan_match(s->line, " %w ops/sec", &figure)) {
		perf_operation(p, figure, SEEN_OPS);
	} else if (!scan_find_reason(s) && p->simple && scan_match(s->line, " %w", &figure) &&
		   scan_is_figure(figure)) {
		perf_time(p, figure, span_of(""));
	}
}

static void perf_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	struct perf p = {.s = {.a = a,
			       .in = in,
			       .result = result,
			       .reasons = perf_reasons,
			       .rest = in->text},
			 .prefix = ""};

	scan_ask(&p.s, "perf", perf_options, false);
	p.simple = span_is(p.s.asked.operand[0], "bench") &&
		   span_is(p.s.asked.option[OPTION_FORMAT], "simple");
	while (scan_line(&p.s))
		perf_line(&p);
	perf_end_run(&p);
}

static int perf_recognise(struct span text)
{
	struct span line, bench;

	while (span_next_line(&text, &line, NULL))
		if (scan_match(line, "# Running '%w' benchmark:", &bench) ||
		    scan_match(line, "# Running %w benchmark...", &bench))
			return 95;
	return 0;
}

static const struct parser perf_bench = {
	.name = "perf-bench",
	.summary = "perf bench sched messaging, pipe, all; -f simple with --command",
	.recognise = perf_recognise,
	.parse = perf_parse,
};
REGISTER(parser, perf_bench);
