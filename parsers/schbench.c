// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schbench, all forms since 2016. Until 2021 a block is one section:
 *
 *	Latency percentiles (usec)
 *		50.0000th: 96
 *		*99.0000th: 37056
 *		min=0, max=37051
 *
 * since 2020 with "runtime 3 (s) (33 total samples)" in the first line and "(17 samples)" in the
 * others, repeated every interval and at the end. Since April 2023 a block is three sections
 * (one in pipe mode), and a closing line tells that the run was finished:
 *
 *	Wakeup Latencies percentiles (usec) runtime 6 (s) (247 total samples)
 *		  50.0th: 3132       (71 samples)
 *		* 99.0th: 39872      (21 samples)
 *		  min=3, max=54720
 *	Request Latencies percentiles (usec) runtime 6 (s) (247 total samples)
 *	RPS percentiles (requests) runtime 6 (s) (7 total samples)
 *	sched delay: message 4448 (usec) worker 9408 (usec)
 *	current rps: 72.99
 *	average rps: 41.17			or	final rps goal was 50
 *	avg worker transfer: 105497.69 ops/sec 412.10MB/s
 *
 * Blocks are cumulative, so the last one is the result. -j writes JSON, in 2025 nested
 * ("schbench": {"wakeup_latency": {"percentiles": {"50.0": 62}}}), later flat
 * ("int": {"wakeup_latency_pct50.0": 62, "wakeup_latency_min": 3, "runtime": 3}).
 */
#include "parsers/schbench.h"

#include <jansson.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason schbench_reasons[] = {
	{"invalid option", NULL, "usage_error"},
	{"unrecognized option", NULL, "usage_error"},
	{"requires an argument", NULL, "usage_error"},
	{"^schbench usage:", NULL, "usage_error"},
	{"^usage: wakebench", NULL, "usage_error"},
	{"takes a whole number", "wakebench", "usage_error"},
	{"wakebench: unexpected", NULL, "usage_error"},
	{"Error Extra arguments", NULL, "usage_error"},
	{"Unknown pin mode", NULL, "usage_error"},
	{"failed to parse cpuset", NULL, "usage_error"},
	{"unable to open json file", NULL, "output_path"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"from pthread_create", NULL, "resource_limit_proc"},
	{"cannot create a thread", NULL, "resource_limit_proc"},
	{"unable to allocate", NULL, "resource_limit_mem"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	SCAN_REASONS_END,
};

enum { OPTION_RUNTIME };
static const struct scan_option schbench_options[] = {
	{'r', "runtime"}, {'m', NULL}, {'t', NULL}, {'i', NULL}, {'w', NULL}, {0, NULL},
};

enum { LATENCY, WAKEUP, REQUEST, RPS, SECTIONS };
static const struct {
	const char *title, *json, *metric, *label, *unit;
} sections[SECTIONS] = {
	[LATENCY] = {"Latency percentiles (%w%*", "", "latency", "usec", "us"},
	[WAKEUP] = {"Wakeup Latencies percentiles (%w%*", "wakeup_latency", "wakeup", "usec", "us"},
	[REQUEST] = {"Request Latencies percentiles (%w%*", "request_latency", "request", "usec",
		     "us"},
	[RPS] = {"RPS percentiles (%w%*", "rps", "rps", "requests", "req/s"},
};

struct section {
	bool begun, complete;
	bool has_runtime; /* and samples */
	struct span runtime;
	double samples, min, max;
	struct {
		double percent, value;
	} list[20]; /* schbench knows no more */
	size_t n;
	const char *error;
	struct span error_line;
};

struct block {
	struct section section[SECTIONS];
};

struct series {
	ARRAY_OF(double) t;
	ARRAY_OF(double) v;
};

struct schbench {
	struct scan s;
	bool wakebench, mine;	 /* which one is asked for; the run is of that one */
	struct block now, last;	 /* the one being read, the last complete one */
	struct section *section; /* being read, or NULL */
	size_t blocks;
	bool closed; /* the closing line is there */
	struct span average, goal, rps, p95, p99, transfer, bytes, delay[2];
	struct series rate, tail; /* current rps and p99 of each block, over its runtime */
};

static bool block_begun(const struct block *b)
{
	return b->section[LATENCY].begun || b->section[WAKEUP].begun || b->section[REQUEST].begun ||
	       b->section[RPS].begun;
}

static double section_percentile(const struct section *s, double percent)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->list[i].percent == percent)
			return s->list[i].value;
	return -1;
}

/* Without a closing line a block of one section is whole only in pipe mode, which has a p20. */
static bool block_complete(const struct schbench *b)
{
	const struct section *s = b->now.section;

	if (s[LATENCY].complete)
		return true;
	if (!s[WAKEUP].complete || s[REQUEST].begun != s[REQUEST].complete ||
	    s[RPS].begun != s[RPS].complete)
		return false;
	return b->closed || (s[REQUEST].complete && s[RPS].complete) ||
	       section_percentile(&s[WAKEUP], 20) >= 0;
}

static void series_add(struct arena *a, struct series *series, struct span t, double v)
{
	double seconds;

	if (!num_parse(t, &seconds) || v < 0)
		return;
	*SCAN_PUSH(a, &series->t) = seconds;
	*SCAN_PUSH(a, &series->v) = v;
}

static void end_block(struct schbench *b)
{
	const struct section *main_section =
		&b->now.section[b->now.section[LATENCY].begun ? LATENCY : WAKEUP];

	if (block_complete(b)) {
		b->last = b->now;
		b->blocks++;
		series_add(b->s.a, &b->tail, main_section->runtime,
			   section_percentile(main_section, 99));
	}
	memset(&b->now, 0, sizeof(b->now));
	b->section = NULL;
}

static bool section_decreases(const struct section *s)
{
	size_t i;

	for (i = 1; i < s->n; i++)
		if (s->list[i].value < s->list[i - 1].value)
			return true;
	return false;
}

static void section_values(struct schbench *b, int which)
{
	const struct section *c = &b->last.section[which];
	const char *metric = sections[which].metric, *unit = sections[which].unit;
	size_t i;

	if (!c->complete)
		return;
	if (c->has_runtime) {
		scan_param(&b->s, c->runtime, "%s.runtime", metric);
		scan_value(&b->s, ROLE_DIAGNOSTIC, "count", c->samples, "%s.samples", metric);
		if (!c->samples)
			b->s.doubt = "a block was made of no sample";
	}
	for (i = 0; i < c->n; i++)
		scan_value(&b->s, ROLE_RESULT, unit, c->list[i].value, "%s.p%g", metric,
			   c->list[i].percent);
	scan_value(&b->s, ROLE_RESULT, unit, c->min, "%s.min", metric);
	scan_value(&b->s, ROLE_RESULT, unit, c->max, "%s.max", metric);
	if (section_decreases(c))
		b->s.doubt = "percentiles decrease";
}

/* A figure of a line of its own, which is gone by now. */
static void add_figure(struct schbench *b, struct span figure, enum value_role role,
		       const char *unit, double scale, const char *metric)
{
	const char *error;
	double v;

	if (!figure.s)
		return;
	error = scan_figure(&b->s, figure, unit, 0, &v);
	if (error)
		scan_error_of(&b->s, error, figure);
	else
		scan_value(&b->s, role, unit, v * scale, "%s", metric);
}

/* "412.10MB/s", with powers of 1024 */
static void add_bytes(struct schbench *b)
{
	static const struct {
		const char *unit;
		double scale;
	} units[] = {{"KB/s", 1.0 / 1024},
		     {"MB/s", 1},
		     {"GB/s", 1024},
		     {"TB/s", 1048576},
		     {"B/s", 1.0 / 1048576}};
	size_t i, n;

	for (i = 0; b->bytes.s && i < ARRAY_SIZE(units); i++) {
		n = strlen(units[i].unit);
		if (b->bytes.len > n && !memcmp(b->bytes.s + b->bytes.len - n, units[i].unit, n)) {
			add_figure(b, (struct span){b->bytes.s, b->bytes.len - n}, ROLE_RESULT,
				   "MB/s", units[i].scale, "transfer_bytes");
			return;
		}
	}
}

static void closing_values(struct schbench *b)
{
	double message, worker;

	add_figure(b, b->average, ROLE_RESULT, "req/s", 1, "average_rps");
	add_figure(b, b->rps, ROLE_RESULT, "req/s", 1, "rps");
	add_figure(b, b->p95, ROLE_RESULT, "%", 1, "p95_over_cputime");
	add_figure(b, b->p99, ROLE_RESULT, "%", 1, "p99_over_cputime");
	add_figure(b, b->goal, ROLE_DIAGNOSTIC, "req/s", 1, "final_rps_goal");
	add_figure(b, b->transfer, ROLE_RESULT, "ops/s", 1, "transfer_ops");
	add_bytes(b);
	/* a kernel without schedstats has no delays and prints 0 */
	if (b->delay[0].s && num_parse(b->delay[0], &message) && num_parse(b->delay[1], &worker) &&
	    message + worker > 0) {
		scan_value(&b->s, ROLE_RESULT, "us", message, "sched_delay_message");
		scan_value(&b->s, ROLE_RESULT, "us", worker, "sched_delay_worker");
	}
}

static bool all_zero(const struct parse_run *run)
{
	const struct parse_value *v;

	array_for_each (v, &run->values)
		if (v->role == ROLE_RESULT && v->value != 0)
			return false;
	return true;
}

/* Only a closing line tells that a run was finished; the old form has none. */
static void judge_end(struct schbench *b)
{
	const struct section *old = &b->last.section[LATENCY];
	double want, got;

	if (!old->complete && !b->closed)
		b->s.partial = "the closing line is missing: the run may be unfinished";
	if (old->complete && num_parse(b->s.asked.option[OPTION_RUNTIME], &want) &&
	    num_parse(old->runtime, &got) && got < want)
		b->s.partial = "the last block comes before the end of the runtime asked for";
}

static void end_run(struct schbench *b)
{
	struct scan *s = &b->s;
	double goal;
	int i;

	if (block_begun(&b->now))
		end_block(b);
	if (s->run && b->blocks) {
		s->figure = true;
		scan_value(s, ROLE_DIAGNOSTIC, "count", (double)b->blocks, "blocks");
		for (i = 0; i < SECTIONS; i++) {
			section_values(b, i);
			if (b->last.section[i].error)
				scan_error_of(s, b->last.section[i].error,
					      b->last.section[i].error_line);
		}
		closing_values(b);
		if (b->goal.s && num_parse(b->goal, &goal) && !goal)
			s->doubt = "auto-rps ended at a goal of 0 requests";
		judge_end(b);
		if (all_zero(s->run))
			scan_error_of(s, "zero_result",
				      s->reason ? s->reason_line : span_of("0 for all figures"));
		if (b->rate.t.n)
			scan_series(s, "rps", "req/s", b->rate.t.n, b->rate.t.items,
				    b->rate.v.items);
		if (b->tail.t.n)
			scan_series(
				s, b->last.section[LATENCY].complete ? "latency.p99" : "wakeup.p99",
				"us", b->tail.t.n, b->tail.t.items, b->tail.v.items);
	}
	scan_end_run(s);
	*b = (struct schbench){.s = *s, .wakebench = b->wakebench, .mine = !b->wakebench};
}

/*
 * Whether a block that begins here belongs to another run than the one before. The old form has no
 * closing line, but its blocks are cumulative; the block of the last second may come twice.
 */
static bool begins_run(const struct schbench *b, int which, const struct section *begun)
{
	const struct section *before = &b->last.section[LATENCY];
	double t, t0;

	if (!b->blocks)
		return false;
	if (b->closed || (which == LATENCY) != before->complete)
		return true;
	if (which != LATENCY)
		return false;
	if (!begun->has_runtime || !before->has_runtime)
		return true;
	if (!num_parse(begun->runtime, &t) || !num_parse(before->runtime, &t0))
		return true;
	if (t != t0)
		return t < t0;
	return b->blocks == 1 &&
	       (begun->samples < before->samples || begun->samples > before->samples * 1.1 + 2);
}

static bool read_title(struct schbench *b)
{
	struct span unit, more, samples;
	struct section begun = {.begun = true};
	int which;

	for (which = 0; which < SECTIONS; which++)
		if (scan_match(b->s.line, sections[which].title, &unit, &more))
			break;
	if (which == SECTIONS)
		return false;
	begun.has_runtime =
		scan_match(more, " runtime %w (s) (%w total samples)", &begun.runtime, &samples) &&
		num_parse(samples, &begun.samples) && begun.samples >= 0;
	if (!span_starts(unit, sections[which].label) ||
	    unit.len != strlen(sections[which].label) + 1) {
		begun.error = "unexpected_unit";
		begun.error_line = b->s.line;
	}
	if (block_begun(&b->now) &&
	    (which <= WAKEUP || b->now.section[which].begun || b->now.section[LATENCY].begun))
		end_block(b);
	if (!block_begun(&b->now) && begins_run(b, which, &begun))
		end_run(b);
	scan_run(&b->s);
	b->section = &b->now.section[which];
	*b->section = begun;
	return true;
}

static void section_error(struct schbench *b, const char *error)
{
	if (b->section->error)
		return;
	b->section->error = error;
	b->section->error_line = b->s.line;
}

/* "	* 99.0th: 39872      (21 samples)" */
static bool read_percentile(struct schbench *b)
{
	struct section *c = b->section;
	struct span rest = span_trim(b->s.line), label, word;
	const char *error;
	double percent, v;

	if (!c || c->complete)
		return false;
	while (rest.len && (*rest.s == '*' || *rest.s == ' '))
		rest.s++, rest.len--;
	if (!span_next_word(&rest, &label) || label.len < 4 ||
	    memcmp(label.s + label.len - 3, "th:", 3) || b->s.cut)
		return false;
	label.len -= 3;
	error = num_parse(label, &percent) && percent >= 0 && percent <= 100 ? NULL : "bad_number";
	if (!error)
		error = span_next_word(&rest, &word)
				? scan_figure(&b->s, word,
					      sections[b->section - b->now.section].unit, 0, &v)
				: "bad_number";
	if (error) {
		section_error(b, error);
	} else if (c->n < ARRAY_SIZE(c->list)) {
		c->list[c->n].percent = percent;
		c->list[c->n++].value = v;
	}
	return true;
}

/* "	  min=3, max=54720" ends a section; cut, it is whole if max reaches the percentiles */
static bool read_bounds(struct schbench *b)
{
	struct section *c = b->section;
	struct span min, max;
	const char *unit, *error;

	if (!c || c->complete || !scan_match(b->s.line, " min=%w, max=%w", &min, &max))
		return false;
	unit = sections[c - b->now.section].unit;
	error = scan_figure(&b->s, min, unit, 0, &c->min);
	if (!error)
		error = scan_figure(&b->s, max, unit, 0, &c->max);
	if (b->s.cut && (error || (c->n && c->max < c->list[c->n - 1].value * 0.99)))
		return true;
	if (error)
		section_error(b, error);
	c->complete = true;
	b->section = NULL;
	return true;
}

/* The end of a line of a finished run; a figure that may be cut does not count. */
static bool read_closing(struct schbench *b)
{
	struct span v, w;
	bool whole = !b->s.cut;

	if (scan_match(b->s.line, "average rps: %w", &v)) {
		/* always two decimals */
		if (whole || (v.len > 3 && v.s[v.len - 3] == '.'))
			b->average = v;
	} else if (scan_match(b->s.line, "final rps goal was %w", &v)) {
		if (whole)
			b->goal = v;
	} else if (scan_match(b->s.line, "avg worker transfer: %w ops/sec %w", &v, &w)) {
		if (whole || span_find(w, "B/s"))
			b->transfer = v, b->bytes = w;
	} else {
		return false;
	}
	b->closed = b->average.s || b->goal.s || b->transfer.s;
	if (block_begun(&b->now))
		end_block(b);
	return true;
}

static bool read_extra(struct schbench *b)
{
	struct span v, w, x, y, z;
	double rps;

	if (scan_match(b->s.line, "current rps: %w", &v)) {
		if (block_begun(&b->now))
			end_block(b);
		if (num_parse(v, &rps))
			series_add(b->s.a, &b->rate, b->last.section[WAKEUP].runtime, rps);
		return true;
	}
	if (scan_match(b->s.line, "sched delay: message %w (usec) worker %w (usec)", &v, &w)) {
		if (b->closed) {
			b->delay[0] = v;
			b->delay[1] = w;
		}
		return true;
	}
	if (scan_match(b->s.line,
		       "rps: %w p95 (usec) %w p99 (usec) %w p95/cputime %w%% p99/cputime %w%%", &v,
		       &w, &x, &y, &z)) {
		b->rps = v;
		b->p95 = y;
		b->p99 = z;
		return true;
	}
	return false;
}

/* "wakebench version 1 message_threads=1 workers=2 runtime=5" */
static void read_wakebench_line(struct schbench *b)
{
	struct span rest = b->s.line, word;
	const char *eq;

	end_run(b);
	b->mine = b->wakebench;
	scan_run(&b->s);
	while (b->mine && span_next_word(&rest, &word)) {
		eq = memchr(word.s, '=', word.len);
		if (eq)
			scan_param(&b->s,
				   (struct span){eq + 1, word.len - (size_t)(eq + 1 - word.s)},
				   "%.*s", (int)MIN((size_t)(eq - word.s), (size_t)60), word.s);
	}
}

static void read_line(struct schbench *b)
{
	if (span_starts(b->s.line, WAKEBENCH_LINE))
		read_wakebench_line(b);
	else if (!b->mine)
		scan_find_reason(&b->s);
	else if (!read_title(b) && !read_percentile(b) && !read_bounds(b) && !read_closing(b) &&
		 !read_extra(b))
		scan_find_reason(&b->s);
}

/* The numbers of an object, nested or flat, into the sections they name. */
static void json_read(struct schbench *b, json_t *object, int which, int depth)
{
	const char *key, *rest;
	json_t *item;
	double v, percent;
	int i, in;

	json_object_foreach(object, key, item)
	{
		in = which;
		rest = key;
		for (i = WAKEUP; i < SECTIONS; i++) {
			if (str_starts(key, sections[i].json)) {
				in = i;
				rest = key + strlen(sections[i].json);
			}
		}
		if (json_is_object(item) && depth < 8)
			json_read(b, item, in, depth + 1);
		if (!json_is_number(item))
			continue;
		v = json_number_value(item);
		if (!strcmp(key, "runtime") && v > 0)
			scan_param(&b->s, span_of(arena_printf(b->s.a, "%.15g", v)), "runtime");
		if (in < 0)
			continue;
		b->section = &b->last.section[in];
		b->section->begun = b->section->complete = true;
		if (v < 0)
			section_error(b, "bad_number");
		else if (!strcmp(rest, "min") || !strcmp(rest, "_min"))
			b->section->min = v;
		else if (!strcmp(rest, "max") || !strcmp(rest, "_max"))
			b->section->max = v;
		else if (num_parse(span_of(rest + (str_starts(rest, "_pct") ? 4 : 0)), &percent) &&
			 b->section->n < ARRAY_SIZE(b->section->list)) {
			b->section->list[b->section->n].percent = percent;
			b->section->list[b->section->n++].value = v;
		}
	}
}

/* One object of -j as a run. */
static void json_run(struct schbench *b, json_t *root)
{
	json_read(b, root, -1, 0);
	b->section = NULL;
	b->closed = true;
	b->blocks = b->last.section[WAKEUP].complete;
	scan_run(&b->s);
	end_run(b);
}

static void parse_blocks(struct arena *a, const struct parse_input *in, struct parse_result *result,
			 bool wakebench)
{
	struct schbench b = {.s = {.a = a,
				   .in = in,
				   .result = result,
				   .reasons = schbench_reasons,
				   .rest = in->text,
				   .blocks = true},
			     .wakebench = wakebench,
			     .mine = !wakebench};
	ARRAY_OF(json_t *) json = {NULL, 0, 0};
	json_t *object;
	bool alone;
	size_t i;

	scan_ask(&b.s, result->benchmark, schbench_options, false);
	while (b.s.rest.len) {
		/* beside the text of the same run the JSON says nothing more */
		object = wakebench ? NULL : scan_json(&b.s);
		if (object)
			*SCAN_PUSH(a, &json) = object;
		else if (scan_line(&b.s))
			read_line(&b);
	}
	end_run(&b);
	alone = !result->runs.n;
	for (i = 0; i < json.n; i++) {
		if (alone)
			json_run(&b, json.items[i]);
		json_decref(json.items[i]);
	}
}

void schbench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	parse_blocks(a, in, result, false);
}

void wakebench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	parse_blocks(a, in, result, true);
}

static int schbench_recognise(struct span text)
{
	struct span line, unit, more;
	bool found = false;
	int i;

	while (span_next_line(&text, &line, NULL)) {
		if (span_starts(line, WAKEBENCH_LINE))
			return 0;
		for (i = 0; i < SECTIONS; i++)
			found = found || scan_match(line, sections[i].title, &unit, &more);
		found = found || span_find(line, "\"wakeup_latency");
	}
	return found ? 90 : 0;
}

static const struct parser schbench = {
	.name = "schbench",
	.summary = "schbench, all forms since 2016, and its JSON",
	.recognise = schbench_recognise,
	.keeps_blocks = true,
	.parse = schbench_parse,
};
REGISTER(parser, schbench);
