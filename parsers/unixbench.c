// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UnixBench (byte-unixbench 5 and 6), a section for each number of parallel copies:
 *
 *	8 CPUs in system; running 1 parallel copy of tests
 *
 *	Dhrystone 2 using register variables       42416203.1 lps   (10.0 s, 7 samples)
 *	Pipe Throughput                               85338.9 lps   (10.0 s, 7 samples)
 *
 *	System Benchmarks Index Values               BASELINE       RESULT    INDEX
 *	Dhrystone 2 using register variables         116700.0   42416203.1   3634.6
 *	                                                                   ========
 *	System Benchmarks Index Score                                        1504.3
 *
 * "Partial Index" and "Index Score (Partial Only)" where not all tests of the index ran: that is
 * another figure. Each section is a run. Metrics have the names of the tests on Run's command line.
 */
#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason unixbench_reasons[] = {
	{"Run: unknown benchmark", NULL, "usage_error"},
	{"Run: unknown option", NULL, "usage_error"},
	{"Run: unrecognized", NULL, "usage_error"},
	{"Can't take log of 0", NULL, "zero_result"},
	{"fork() failed", NULL, "resource_limit_proc"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"^Run: ", "; aborting", "child_failed"},
	{"; aborting", NULL, "child_failed"},
	SCAN_REASONS_END,
};

static const struct {
	const char *label, *metric, *unit; /* unit: of the index table, which has none */
} tests[] = {
	{"Dhrystone 2 using register variables", "dhry2reg", "lps"},
	{"Double-Precision Whetstone", "whetstone-double", "MWIPS"},
	{"System Call Overhead", "syscall", "lps"},
	{"Pipe-based Context Switching", "context1", "lps"},
	{"Pipe Throughput", "pipe", "lps"},
	{"Process Creation", "spawn", "lps"},
	{"Execl Throughput", "execl", "lps"},
	{"File Write 1024 bufsize 2000 maxblocks", "fstime-w", "KBps"},
	{"File Read 1024 bufsize 2000 maxblocks", "fstime-r", "KBps"},
	{"File Copy 1024 bufsize 2000 maxblocks", "fstime", "KBps"},
	{"File Write 256 bufsize 500 maxblocks", "fsbuffer-w", "KBps"},
	{"File Read 256 bufsize 500 maxblocks", "fsbuffer-r", "KBps"},
	{"File Copy 256 bufsize 500 maxblocks", "fsbuffer", "KBps"},
	{"File Write 4096 bufsize 8000 maxblocks", "fsdisk-w", "KBps"},
	{"File Read 4096 bufsize 8000 maxblocks", "fsdisk-r", "KBps"},
	{"File Copy 4096 bufsize 8000 maxblocks", "fsdisk", "KBps"},
	{"Shell Scripts (1 concurrent)", "shell1", "lpm"},
	{"Shell Scripts (8 concurrent)", "shell8", "lpm"},
	{"Shell Scripts (16 concurrent)", "shell16", "lpm"},
	{"Arithoh", "arithoh", "lps"},
	{"Arithmetic Test (short)", "short", "lps"},
	{"Arithmetic Test (int)", "int", "lps"},
	{"Arithmetic Test (long)", "long", "lps"},
	{"Arithmetic Test (float)", "float", "lps"},
	{"Arithmetic Test (double)", "double", "lps"},
	{"Recursion Test -- Tower of Hanoi", "hanoi", "lps"},
	{"Dc: sqrt(2) to 99 decimal places", "dc", "lpm"},
	{"Grep a large file (system's grep)", "grep", "lpm"},
	{"Exec System Call Overhead", "sysexec", "lps"},
	{"2D graphics: rectangles", "2d-rects", "score"},
	{"2D graphics: lines", "2d-lines", "score"},
	{"2D graphics: circles", "2d-circle", "score"},
	{"2D graphics: ellipses", "2d-ellipse", "score"},
	{"2D graphics: polygons", "2d-shapes", "score"},
	{"2D graphics: aa polygons", "2d-aashapes", "score"},
	{"2D graphics: complex polygons", "2d-polys", "score"},
	{"2D graphics: text", "2d-text", "score"},
	{"2D graphics: images and blits", "2d-blit", "score"},
	{"2D graphics: windows", "2d-window", "score"},
	{"3D graphics: gears", "ubgears", "fps"},
};

struct unixbench {
	struct scan s;
	bool details; /* the section has the lines of the tests */
	bool table;   /* in the index table */
	bool index;   /* its last line was there, or there is none to come */
};

static void end_run(struct unixbench *u)
{
	if (u->s.run && u->s.figure && !u->index)
		u->s.partial = "the index is missing";
	scan_end_run(&u->s);
	u->details = u->table = u->index = false;
}

/* The name of a test; of one that is not known its words: "C Compiler Throughput (cc)" */
static const char *test_metric(struct arena *a, struct span label, const char **unit)
{
	char *name, *p;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (span_is(label, tests[i].label)) {
			*unit = tests[i].unit;
			return tests[i].metric;
		}
	}
	if (span_starts(label, "C Compiler Throughput"))
		return "C";
	name = p = arena_alloc(a, MIN(label.len, (size_t)60) + 1);
	for (i = 0; i < label.len && n < 60; i++)
		if (isalnum((unsigned char)label.s[i]))
			name[n++] = (char)tolower((unsigned char)label.s[i]);
		else if (n && name[n - 1] != '-')
			name[n++] = '-';
	while (n && name[n - 1] == '-')
		n--;
	name[n] = '\0';
	return n ? p : "test";
}

static bool has_value(const struct unixbench *u, const char *metric)
{
	enum { LOOKED_AT = 256 }; /* there are forty tests */
	size_t i;

	for (i = 0; u->s.run && i < MIN(u->s.run->values.n, (size_t)LOOKED_AT); i++)
		if (!strcmp(u->s.run->values.items[i].metric, metric))
			return true;
	return false;
}

static void add_score(struct unixbench *u, struct span figure, const char *metric, const char *unit)
{
	u->s.figure |= scan_result(&u->s, figure, metric, unit, 1, false);
}

/* The last word of a line, which is left without it. */
static bool last_word(struct span *line, struct span *word)
{
	size_t n;

	*line = span_trim(*line);
	for (n = line->len; n && !isspace((unsigned char)line->s[n - 1]); n--)
		;
	*word = (struct span){line->s + n, line->len - n};
	line->len = n;
	return word->len && n;
}

/* "Pipe Throughput                85338.9 lps   (10.0 s, 1 samples)" */
static bool read_test(struct unixbench *u)
{
	const char *open = memrchr(u->s.line.s, '(', u->s.line.len), *metric, *unit = "";
	struct span label = u->s.line, figure, word, seconds, samples;
	double n;

	if (!open || !scan_match((struct span){open, (size_t)(label.s + label.len - open)},
				 "(%w s, %w sample%*", &seconds, &samples, &word))
		return false;
	label.len = (size_t)(open - label.s);
	if (!last_word(&label, &word) || !last_word(&label, &figure) || !scan_is_figure(figure))
		return false;
	metric = test_metric(u->s.a, span_trim(label), &unit);
	if (has_value(u, metric))
		end_run(u);
	unit = arena_printf(u->s.a, "%.*s", (int)MIN(word.len, (size_t)20), word.s);
	scan_run(&u->s);
	u->details = true;
	add_score(u, figure, metric, unit);
	if (num_parse(samples, &n) && n >= 0)
		scan_value(&u->s, ROLE_DIAGNOSTIC, "count", n, "%s.samples", metric);
	return true;
}

/* "Pipe Throughput           12440.0      85338.9     68.6": only where the lines above are absent
 */
static bool read_row(struct unixbench *u)
{
	struct span label = u->s.line, index, result, base;
	const char *metric, *unit = "score";

	if (!u->table || !last_word(&label, &index) || !last_word(&label, &result) ||
	    !last_word(&label, &base) || !scan_is_figure(result) ||
	    (!scan_is_figure(base) && !span_is(base, "---")))
		return false;
	metric = test_metric(u->s.a, span_trim(label), &unit);
	if (!u->details && !has_value(u, metric) && !u->s.cut)
		add_score(u, result, metric, unit);
	return true;
}

/* "System Benchmarks Index Score (Partial Only)                           68.6" */
static bool read_index(struct unixbench *u)
{
	struct span line = u->s.line, figure;
	const char *at = span_find(line, " Index Score");
	const char *kind = span_starts(span_trim(line), "2D ")	 ? "_2d"
			   : span_starts(span_trim(line), "3D ") ? "_3d"
								 : "";
	const char *metric;

	if (!at || !span_find(line, "Benchmarks Index Score") || !last_word(&line, &figure) ||
	    !scan_is_figure(figure))
		return false;
	metric = arena_printf(u->s.a, "index%s%s", kind,
			      span_find(line, "(Partial Only)") ? "_partial" : "");
	if (has_value(u, metric))
		end_run(u);
	add_score(u, figure, metric, "score");
	u->table = false;
	u->index = true;
	return true;
}

static void read_line(struct unixbench *u)
{
	struct span cpus, copies, more;

	if (scan_match(u->s.line, " %w CPU%*", &cpus, &more) &&
	    scan_match(more, "%w in system; running %w parallel cop%*", &cpus, &copies, &more)) {
		end_run(u);
		scan_param(&u->s, copies, "copies");
	} else if (scan_match(u->s.line, " %w CPU in system; running %w parallel cop%*", &cpus,
			      &copies, &more)) {
		end_run(u);
		scan_param(&u->s, copies, "copies");
	} else if (span_starts(u->s.line, "Benchmark Run:")) {
		end_run(u);
	} else if (span_find(u->s.line, "BASELINE") && span_find(u->s.line, "RESULT")) {
		if (u->index && span_starts(span_trim(u->s.line), "System"))
			end_run(u);
		scan_run(&u->s);
		u->table = true;
		u->index = false;
	} else if (span_starts(u->s.line, "No index results available")) {
		u->index = true;
	} else if (!read_test(u) && !read_row(u) && !read_index(u)) {
		scan_find_reason(&u->s);
	}
}

static void unixbench_parse(struct arena *a, const struct parse_input *in,
			    struct parse_result *result)
{
	struct unixbench u = {.s = {.a = a,
				    .in = in,
				    .result = result,
				    .reasons = unixbench_reasons,
				    .rest = in->text}};

	while (scan_line(&u.s))
		read_line(&u);
	end_run(&u);
}

static int unixbench_recognise(struct span text)
{
	static const char *const signs[] = {
		"BYTE UNIX Benchmarks (Version",  "System Benchmarks Index Score",
		"System Benchmarks Index Values", "System Benchmarks Partial Index",
		" parallel copy of tests",	  " parallel copies of tests",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if (span_find(text, signs[i]))
			return 90;
	return 0;
}

static const struct parser unixbench = {
	.name = "unixbench",
	.summary = "UnixBench 5 and 6: tests and index, a run for each number of copies",
	.recognise = unixbench_recognise,
	.parse = unixbench_parse,
};
REGISTER(parser, unixbench);
