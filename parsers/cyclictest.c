// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cyclictest of rt-tests. A line for each thread, microseconds (nanoseconds with -N), printed once
 * with -q, else rewritten on the terminal all the time (the last one of a thread counts):
 *
 *	# /dev/cpu_dma_latency set to 0us
 *	T: 0 ( 8704) P:80 I:1000 C:   2000 Min:     28 Act:  214 Avg:  532 Max:   32415
 *
 * -h and -H: a histogram with a column for each thread (-H: and one for all), then
 *
 *	# Total: 000000008 000000012
 *	# Min Latencies: 00031 00029
 *	# Avg Latencies: 00351 00320
 *	# Max Latencies: 16994 10412
 *	# Histogram Overflows: 00992 00988
 *
 * --json=FILE: "thread": {"0": {"histogram": {"31": 1}, "cycles": 500, "min": 48, "max": 20827,
 * "avg": 386.76, ...}}; read where the text beside it says nothing of the run.
 *
 * min, avg, max and the percentiles are those of all threads together, thread0.max and so on those
 * of one. The mean of all is weighted by the cycles.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason cyclictest_reasons[] = {
	{"invalid option", "cyclictest", "usage_error"},
	{"unrecognized option", "cyclictest", "usage_error"},
	{"requires an argument", "cyclictest", "usage_error"},
	{"^cyclictest <options>", NULL, "usage_error"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"failed to create thread", NULL, "resource_limit_proc"},
	{"pthread_create", NULL, "resource_limit_proc"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"error allocating", NULL, "resource_limit_mem"},
	{"Failed to open '", NULL, "output_path"},
	{"unable to open histogram file", NULL, "output_path"},
	SCAN_REASONS_END,
};

enum { OPTION_LOOPS };
static const struct scan_option cyclictest_options[] = {
	{'l', "loops"},
	{0, NULL},
};

enum { MAX_THREADS = 8192, MAX_WIDTH = 8 };

struct thread {
	struct span pid;
	double cycles, min, avg, max, overflows;
	bool measured, counted; /* min, avg, max are there; cycles are */
};

/* So many wake-ups within so many microseconds. */
struct bucket {
	double latency, count;
};

struct cyclictest {
	struct scan s;
	const char *unit;
	ARRAY_OF(struct thread) threads;
	ARRAY_OF(struct bucket) buckets;
	ARRAY_OF(double) counts; /* of a row of the histogram */
	bool in_histogram, lines, overflows, idle;
};

static struct thread *get_thread(struct cyclictest *c, size_t i)
{
	while (c->threads.n <= i)
		*SCAN_PUSH(c->s.a, &c->threads) = (struct thread){0};
	return &c->threads.items[i];
}

/* Latency that a share of all wake-ups kept within; false: it lies beyond the histogram. */
static bool percentile(const struct cyclictest *c, double share, double all, double *latency)
{
	const struct bucket *b;
	double sum = 0;

	array_for_each (b, &c->buckets) {
		sum += b->count;
		if (sum >= share * all) {
			*latency = b->latency;
			return true;
		}
	}
	return false;
}

static void add_percentiles(struct cyclictest *c, double overflows)
{
	static const struct {
		const char *metric;
		double share;
	} percentiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
	const struct bucket *b;
	double all = overflows, v;
	size_t i;

	array_for_each (b, &c->buckets)
		all += b->count;
	/* "p99" of 50 wake-ups would be their maximum */
	for (i = 0; i < ARRAY_SIZE(percentiles); i++)
		if (all * (1 - percentiles[i].share) >= 1 &&
		    percentile(c, percentiles[i].share, all, &v))
			scan_value(&c->s, ROLE_RESULT, c->unit, v, "%s", percentiles[i].metric);
}

static void add_values(struct cyclictest *c)
{
	struct scan *s = &c->s;
	double min = 0, max = 0, sum = 0, weights = 0, overflows = 0;
	const struct thread *t;
	size_t i = 0, n = 0;

	array_for_each (t, &c->threads) {
		double weight = t->counted ? t->cycles : 1;

		if (!t->measured)
			continue;
		min = n && min < t->min ? min : t->min;
		max = n && max > t->max ? max : t->max;
		sum += t->avg * weight;
		weights += weight;
		overflows += t->overflows;
		n++;
	}
	if (!n)
		return;
	if (max == 0 || !isfinite(sum / weights) || !isfinite(overflows)) {
		scan_error(s, max == 0 ? "zero_result" : "out_of_range");
		return;
	}
	s->figure = true;
	scan_value(s, ROLE_RESULT, c->unit, min, "min");
	scan_value(s, ROLE_RESULT, c->unit, sum / weights, "avg");
	scan_value(s, ROLE_RESULT, c->unit, max, "max");
	if (c->buckets.n)
		add_percentiles(c, overflows);
	if (c->overflows)
		scan_value(s, ROLE_RESULT, "count", overflows, "overflows");
	array_for_each (t, &c->threads) {
		i = (size_t)(t - c->threads.items);
		if (t->counted)
			scan_value(s, ROLE_DIAGNOSTIC, "count", t->cycles, "thread%zu.cycles", i);
		if (!t->measured || (n == 1 && !c->lines))
			continue;
		scan_value(s, ROLE_RESULT, c->unit, t->min, "thread%zu.min", i);
		scan_value(s, ROLE_RESULT, c->unit, t->avg, "thread%zu.avg", i);
		scan_value(s, ROLE_RESULT, c->unit, t->max, "thread%zu.max", i);
	}
}

static void check_loops(struct cyclictest *c)
{
	struct span asked = c->s.asked.option[OPTION_LOOPS];
	const struct thread *t;
	double most = 0, want;

	array_for_each (t, &c->threads)
		most = t->counted && t->cycles > most ? t->cycles : most;
	if (most && asked.s && num_parse(asked, &want) && most < want)
		c->s.doubt = arena_printf(c->s.a, "%.0f cycles, but the command line asks for %.0f",
					  most, want);
}

static void end_run(struct cyclictest *c)
{
	if (c->s.run) {
		add_values(c);
		if (c->s.figure) {
			scan_param(&c->s, span_of(arena_printf(c->s.a, "%zu", c->threads.n)),
				   "threads");
			if (c->idle)
				c->s.doubt = "a thread was never woken";
			check_loops(c);
		} else if (c->idle) {
			scan_error(&c->s, "zero_result");
		}
		scan_end_run(&c->s);
	}
	c->threads.n = c->buckets.n = 0;
	c->in_histogram = c->lines = c->overflows = c->idle = false;
}

/* The word behind a label. */
static bool take_field(struct span *rest, const char *label, struct span *word)
{
	return scan_after(rest, label) && span_next_word(rest, word);
}

/* "T:10 (12345) P:80 I:10000 C:  10000 Min:      6 Act:   15 Avg:   20 Max:      42" */
static bool read_thread(struct cyclictest *c)
{
	enum { CYCLES, MIN, AVG, MAX, FIELDS };
	static const char *const labels[] = {" C:", " Min:", " Avg:", " Max:"};
	struct span rest = c->s.line, index, pid, word;
	double v[FIELDS] = {0};
	struct thread *t;
	int64_t i;
	size_t f;

	/* a pid that comes back with fewer cycles is another run, too */
	if (!span_starts(span_trim(rest), "T:") || !take_field(&rest, "T:", &index) ||
	    !num_parse_int(index, &i) || i < 0 || i >= MAX_THREADS || !take_field(&rest, "(", &pid))
		return false;
	for (f = 0; f < FIELDS; f++) {
		const char *error = "truncated";

		if (take_field(&rest, labels[f], &word))
			error = scan_figure(&c->s, word, c->unit, 0, &v[f]);
		else if (!c->s.cut)
			return false;
		/* Max is printed at least eight wide: a shorter one at a cut is cut, too */
		if (!error && f == MAX && c->s.cut && rest.len == 0 &&
		    word.s + word.len - (span_find(c->s.line, "Max:") + 4) < MAX_WIDTH)
			error = "truncated";
		if (error && !strcmp(error, "truncated")) {
			scan_run(&c->s);
			c->s.partial = "the line of the last thread is cut";
			return true;
		}
		if (error) {
			scan_error(&c->s, error);
			return true;
		}
	}
	t = get_thread(c, (size_t)i);
	if ((t->counted && v[CYCLES] < t->cycles) ||
	    (t->pid.s && (pid.len != t->pid.len || memcmp(pid.s, t->pid.s, pid.len)))) {
		end_run(c);
		t = get_thread(c, (size_t)i);
	}
	scan_run(&c->s);
	c->lines = true;
	c->idle |= v[CYCLES] == 0;
	*t = (struct thread){.pid = pid,
			     .cycles = v[CYCLES],
			     .counted = true,
			     .min = v[MIN],
			     .avg = v[AVG],
			     .max = v[MAX],
			     .measured = v[CYCLES] > 0,
			     .overflows = t->overflows};
	return true;
}

/* "# Min Latencies: 00031 00029" */
static bool read_row(struct cyclictest *c)
{
	enum { MIN, AVG, MAX, OVERFLOWS, ROWS };
	static const char *const rows[] = {"# Min Latencies:", "# Avg Latencies:",
					   "# Max Latencies:", "# Histogram Overflows:"};
	struct span rest, word;
	const char *error;
	size_t row, i;
	double v;

	for (row = 0; row < ROWS && !span_starts(c->s.line, rows[row]); row++)
		;
	if (row == ROWS)
		return false;
	scan_run(&c->s);
	rest = c->s.line;
	span_skip(&rest, strlen(rows[row]));
	for (i = 0; i < MAX_THREADS && span_next_word(&rest, &word); i++) {
		/* -H: behind the threads stands the column of all */
		if (row != MIN && i >= c->threads.n)
			break;
		error = scan_figure(&c->s, word, row == OVERFLOWS ? "us" : c->unit, 0, &v);
		if (!error && c->s.cut && !rest.len && word.len < 5)
			error = "truncated";
		if (error) {
			scan_error(&c->s, error);
			return true;
		}
		if (row == MIN)
			get_thread(c, i)->min = v;
		else if (row == AVG)
			c->threads.items[i].avg = v;
		else if (row == MAX)
			c->threads.items[i].max = v;
		else
			c->threads.items[i].overflows = v;
		c->threads.items[i].measured |= row == MAX;
	}
	c->overflows |= row == OVERFLOWS && i;
	return true;
}

/* "000031 000001	000002": microseconds, then a count for each thread (-H: and of all) */
static void read_bucket(struct cyclictest *c)
{
	struct span rest = c->s.line, word;
	struct bucket b = {0, 0};
	double v;
	bool first = true;

	c->counts.n = 0;
	while (span_next_word(&rest, &word)) {
		if (!num_parse(word, &v) || v < 0)
			return;
		if (first)
			b.latency = v;
		else
			*SCAN_PUSH(c->s.a, &c->counts) = v;
		first = false;
	}
	/* the column of all alone says everything; whether it is there, the rows below tell */
	for (size_t i = 0; i < c->counts.n; i++)
		b.count += c->counts.items[i];
	if (c->counts.n)
		*SCAN_PUSH(c->s.a, &c->buckets) = b;
}

/* -H counted each wake-up twice: "# Total:" has one column more than there are threads. */
static void halve_buckets(struct cyclictest *c, size_t columns)
{
	struct bucket *b;

	if (columns == c->threads.n + 1 && columns > 1)
		array_for_each (b, &c->buckets)
			b->count /= 2;
}

static void read_line(struct cyclictest *c)
{
	struct span line = c->s.line;

	if (span_starts(line, "# /dev/cpu_dma_latency")) {
		if (c->threads.n || c->buckets.n)
			end_run(c);
	} else if (span_starts(line, "# Histogram") && span_is(span_trim(line), "# Histogram")) {
		if (c->buckets.n)
			end_run(c);
		scan_run(&c->s);
		c->in_histogram = true;
	} else if (c->in_histogram && line.len && isdigit((unsigned char)*line.s)) {
		read_bucket(c);
	} else if (read_row(c)) {
		if (c->in_histogram && span_starts(line, "# Min"))
			halve_buckets(c, c->counts.n);
		c->in_histogram &= !span_starts(line, "# Min");
	} else if (!read_thread(c)) {
		scan_find_reason(&c->s);
	}
}

static int compare_buckets(const void *x, const void *y)
{
	const struct bucket *a = x, *b = y;

	return (a->latency > b->latency) - (a->latency < b->latency);
}

/* One object of --json as a run. */
static void read_json(struct cyclictest *c, json_t *root)
{
	json_t *threads = json_object_get(root, "thread"), *thread, *item;
	json_t *ns = json_object_get(root, "resolution_in_ns");
	const char *name, *latency;
	int64_t i;

	if (!json_is_object(threads))
		return;
	scan_run(&c->s);
	c->lines = true;
	c->unit = json_integer_value(ns) ? "ns" : "us";
	json_object_foreach(threads, name, thread)
	{
		double max = json_number_value(json_object_get(thread, "max"));
		struct thread *t;

		if (!num_parse_int(span_of(name), &i) || i < 0 || i >= MAX_THREADS)
			continue;
		t = get_thread(c, (size_t)i);
		t->cycles = json_number_value(json_object_get(thread, "cycles"));
		t->min = json_number_value(json_object_get(thread, "min"));
		t->avg = json_number_value(json_object_get(thread, "avg"));
		t->max = max;
		t->counted = true;
		t->measured = t->cycles > 0;
		if (t->cycles < 0 || t->min < 0 || t->avg < 0 || max < 0)
			scan_error_of(&c->s, "bad_number", span_of(name));
		json_object_foreach(json_object_get(thread, "histogram"), latency, item)
		{
			struct bucket b = {0, json_number_value(item)};

			if (num_parse(span_of(latency), &b.latency) && b.count > 0)
				*SCAN_PUSH(c->s.a, &c->buckets) = b;
		}
	}
	if (c->buckets.n)
		qsort(c->buckets.items, c->buckets.n, sizeof(*c->buckets.items), compare_buckets);
	end_run(c);
}

static void cyclictest_parse(struct arena *a, const struct parse_input *in,
			     struct parse_result *result)
{
	struct cyclictest c = {.s = {.a = a,
				     .in = in,
				     .result = result,
				     .reasons = cyclictest_reasons,
				     .rest = in->text},
			       .unit = "us"};
	ARRAY_OF(json_t *) json = {NULL, 0, 0};
	json_t *object;
	bool alone;
	size_t i;

	scan_ask(&c.s, "cyclictest", cyclictest_options, false);
	if (in->command && (strstr(in->command, " -N") || strstr(in->command, " --nsecs")))
		c.unit = "ns";
	while (c.s.rest.len) {
		object = scan_json(&c.s);
		if (object)
			*SCAN_PUSH(a, &json) = object;
		else if (scan_line(&c.s))
			read_line(&c);
	}
	end_run(&c);
	alone = !result->runs.n;
	for (i = 0; i < json.n; i++) {
		if (alone)
			read_json(&c, json.items[i]);
		json_decref(json.items[i]);
	}
}

static int cyclictest_recognise(struct span text)
{
	struct span rest = text, line, a, b, more;

	if (span_find(text, "\n# Min Latencies:") && span_find(text, "\n# Max Latencies:"))
		return 92;
	if (span_find(text, "\"cmdline:\": \"cyclictest") ||
	    span_find(text, "\"cmdline\": \"cyclictest"))
		return 92;
	while (span_next_line(&rest, &line, NULL))
		if (span_find(line, "T:") && scan_match(line, "%*", &more) &&
		    span_find(line, " Min:") && span_find(line, " Max:") &&
		    span_next_word(&line, &a) && span_starts(a, "T:") && span_next_word(&line, &b))
			return 92;
	return 0;
}

static const struct parser cyclictest = {
	.name = "cyclictest",
	.summary = "cyclictest (rt-tests): lines of threads, histogram, JSON",
	.recognise = cyclictest_recognise,
	.parse = cyclictest_parse,
};
REGISTER(parser, cyclictest);
