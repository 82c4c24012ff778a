// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hackbench of rt-tests:
 *
 *	Running in process mode with 2 groups using 40 file descriptors each (== 80 tasks)
 *	Each sender will pass 1000 messages of 100 bytes
 *	Time: 4.457
 *
 * and the older one of LTP and autotest:
 *
 *	Running with 10*40 (== 400) tasks.
 *	Time: 0.527
 *
 * Seconds, always with three decimals. It prints a plausible time also after it was interrupted,
 * and runs its defaults when it does not understand its operands, both with exit status 0.
 */
#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason hackbench_reasons[] = {
	{"requires an integer", NULL, "usage_error"},
	{"invalid option", "hackbench", "usage_error"},
	{"unrecognized option", "hackbench", "usage_error"},
	{"requires an argument", "hackbench", "usage_error"},
	{"^Usage:", NULL, "usage_error"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"fork() (error:", NULL, "resource_limit_proc"},
	{"fork()", "Resource temporarily unavailable", "resource_limit_proc"},
	{"pthread_create", NULL, "resource_limit_proc"},
	{"Creating workers", NULL, "resource_limit_proc"},
	{" caught, longjmp'ing out", NULL, "interrupted"},
	{"No measurements available", NULL, "interrupted"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"^SENDER:", NULL, "child_failed"},
	{"^RECEIVER:", NULL, "child_failed"},
	{"^CLIENT:", NULL, "child_failed"},
	{"(error: ", NULL, "child_failed"},
	SCAN_REASONS_END,
};

enum { OPTION_GROUPS, OPTION_LOOPS, OPTION_FDS, OPTION_SIZE };
static const struct scan_option hackbench_options[] = {
	{'g', "groups"}, {'l', "loops"}, {'f', "fds"}, {'s', "datasize"}, {0, NULL},
};

static void hackbench_doubt(struct scan *s)
{
	const struct scan_asked *asked = &s->asked;
	double groups, fds, tasks;

	if (scan_param_number(s, "groups", &groups) &&
	    scan_param_number(s, "fds_per_group", &fds) && scan_param_number(s, "tasks", &tasks) &&
	    groups * fds != tasks)
		s->doubt = "groups times file descriptors is not the number of tasks";
	scan_expect(s, asked->option[OPTION_GROUPS], 1, "groups");
	scan_expect(s, asked->option[OPTION_LOOPS], 1, "messages");
	scan_expect(s, asked->option[OPTION_FDS], 2, "fds_per_group");
	scan_expect(s, asked->option[OPTION_SIZE], 1, "datasize");
	/* "hackbench 10 process 200" of old */
	scan_expect(s, asked->operand[0], 1, "groups");
	scan_expect(s, asked->operand[2], 1, "messages");
}

static void hackbench_time(struct scan *s, struct span figure, struct span more)
{
	const char *error;
	double v;

	error = scan_figure(s, figure, "s", 3, &v);
	if (!error && v == 0)
		error = "zero_result";
	if (!error && span_trim(more).len)
		error = scan_has_digit(more) ? "bad_number" : "unexpected_unit";
	if (error) {
		scan_error(s, error);
		return;
	}
	s->figure = true;
	scan_value(s, ROLE_RESULT, "s", v, "time");
}

static void hackbench_end_run(struct scan *s)
{
	if (s->run && s->figure)
		hackbench_doubt(s);
	scan_end_run(s);
}

/* Both forms of the line that begins a run. */
static bool hackbench_header(struct scan *s)
{
	struct span mode = {NULL, 0}, groups, fds, tasks;

	if (!scan_match(s->line,
			"Running in %w mode with %w groups using %w file descriptors each "
			"(== %w tasks)",
			&mode, &groups, &fds, &tasks) &&
	    !scan_match(s->line, "Running with %w*%w (== %w) tasks.", &groups, &fds, &tasks))
		return false;
	hackbench_end_run(s);
	if (span_starts(s->line, "Running in"))
		scan_param(s, span_of(span_starts(mode, "thread") ? "thread" : "process"), "mode");
	scan_param(s, groups, "groups");
	scan_param(s, fds, "fds_per_group");
	scan_param(s, tasks, "tasks");
	return true;
}

static void hackbench_line(struct scan *s)
{
	struct span messages, size, figure, more;

	if (hackbench_header(s))
		return;
	if (scan_match(s->line, "Each sender will pass %w messages of %w bytes", &messages,
		       &size)) {
		scan_param(s, messages, "messages");
		scan_param(s, size, "datasize");
	} else if (scan_match(s->line, "Time: %w%*", &figure, &more)) {
		if (s->run && (s->figure || s->error))
			hackbench_end_run(s);
		hackbench_time(s, figure, more);
	} else {
		/* an error of the next run, which got no further */
		if (s->run && s->figure && span_starts(s->line, "hackbench: "))
			hackbench_end_run(s);
		scan_find_reason(s);
	}
}

static void hackbench_parse(struct arena *a, const struct parse_input *in,
			    struct parse_result *result)
{
	struct scan s = {
		.a = a, .in = in, .result = result, .reasons = hackbench_reasons, .rest = in->text};

	scan_ask(&s, "hackbench", hackbench_options, false);
	while (scan_line(&s))
		hackbench_line(&s);
	hackbench_end_run(&s);
}

static int hackbench_recognise(struct span text)
{
	struct span line, a, b, more;

	while (span_next_line(&text, &line, NULL)) {
		if (scan_match(line, "Running in %w mode with %w groups using%*", &a, &b, &more) ||
		    scan_match(line, "Running with %w (== %w tasks.", &a, &b))
			return 95;
	}
	return 0;
}

static const struct parser hackbench = {
	.name = "hackbench",
	.summary = "hackbench (rt-tests, LTP)",
	.recognise = hackbench_recognise,
	.parse = hackbench_parse,
};
REGISTER(parser, hackbench);
