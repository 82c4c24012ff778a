// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reaim (osdl-aim-7); each line is a run, the number of users its parameter, and the closing line a
 * run of its own where there are several:
 *
 *	REAIM Workload
 *	Times are in seconds - Child times from tms.cstime and tms.cutime
 *
 *	Num     Parent   Child   Child  Jobs per   Jobs/min/  Std_dev  Std_dev  JTI
 *	Forked  Time     SysTime UTime   Minute     Child      Time     Percent
 *	100     108.62   12.46   203.84  5689.35    56.89      4.59     4.46     95
 *	Max Jobs per Minute 5689.35
 */
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason reaim_reasons[] = {
	{"Error in Workfile", NULL, "loadfile"},
	{"Error in workfile", NULL, "loadfile"},
	{"Specify either a weighted test line", NULL, "loadfile"},
	{"^Usage: ", NULL, "usage_error"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"Resource temporarily unavailable", NULL, "resource_limit_proc"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"Child terminated by signal", NULL, "child_failed"},
	{"Failed to execute", NULL, "child_failed"},
	SCAN_REASONS_END,
};

static const struct {
	const char *metric, *unit;
} columns[] = {
	{"parent_time", "s"},
	{"child_systime", "s"},
	{"child_utime", "s"},
	{"jobs_per_min", "jobs/min"},
	{"jobs_per_min_child", "jobs/min"},
	{"std_dev_time", "s"},
	{"std_dev_percent", "%"},
	{"jti", "%"},
};
enum { JOBS = 3, JTI = 7 };

struct reaim {
	struct scan s;
	bool header;
	size_t rows; /* since the header */
};

static void read_row(struct reaim *r)
{
	struct span rest = r->s.line, word, users;
	const char *error = NULL;
	size_t i;
	double v;

	if (!span_next_word(&rest, &users) || !num_parse(users, &v))
		return;
	/* nine figures: a line with a number in front is not yet one of the table */
	word = rest;
	for (i = 0; span_next_word(&word, &(struct span){NULL, 0}); i++)
		;
	if (i < ARRAY_SIZE(columns) - 1 && !r->s.cut)
		return;
	scan_end_run(&r->s);
	scan_param(&r->s, users, "users");
	for (i = 0; !error && i < ARRAY_SIZE(columns); i++) {
		error = span_next_word(&rest, &word)
				? scan_figure(&r->s, word, columns[i].unit, i == JTI ? 0 : 2, &v)
				: "truncated";
		if (!error && i == JOBS && v == 0)
			error = "zero_result";
		if (error)
			break;
		scan_value(&r->s, ROLE_RESULT, columns[i].unit, v, "%s", columns[i].metric);
		r->s.figure |= i == JOBS;
	}
	/* a wrapped line has its last figure in the next one */
	if (error && strcmp(error, "truncated"))
		scan_error(&r->s, error);
	else if (error && (i < JTI || r->s.cut))
		r->s.partial = "the line is cut";
	r->rows++;
}

static void read_max(struct reaim *r, struct span figure)
{
	if (r->rows != 1)
		scan_end_run(&r->s);
	scan_run(&r->s);
	r->s.figure |= scan_result(&r->s, figure, "max_jobs_per_min", "jobs/min", 2, false);
	scan_end_run(&r->s);
	r->rows = 0;
}

static void reaim_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	struct reaim r = {.s = {.a = a,
				.in = in,
				.result = result,
				.reasons = reaim_reasons,
				.rest = in->text}};
	struct span figure, more;

	while (scan_line(&r.s)) {
		if (scan_match(r.s.line, " Num Parent Child Child Jobs per%*", &more)) {
			scan_end_run(&r.s);
			r.header = true;
			r.rows = 0;
		} else if (scan_match(r.s.line, " Max Jobs per Minute %w", &figure)) {
			read_max(&r, figure);
		} else if (r.header && scan_is_figure(span_trim(r.s.line))) {
			read_row(&r);
		} else {
			scan_find_reason(&r.s);
		}
	}
	scan_end_run(&r.s);
}

static int reaim_recognise(struct span text)
{
	return span_find(text, "REAIM Workload") ||
			       (span_find(text, "Forked ") && span_find(text, "SysTime") &&
				span_find(text, "UTime"))
		       ? 90
		       : 0;
}

static const struct parser reaim = {
	.name = "reaim",
	.summary = "reaim (osdl-aim-7): a run for each number of users",
	.recognise = reaim_recognise,
	.parse = reaim_parse,
};
REGISTER(parser, reaim);
