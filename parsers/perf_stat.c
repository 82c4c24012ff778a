// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf stat. The text, numbers grouped by thousands in some locales, figures of -r with their
 * standard error, at times with a label in front (-A: "CPU0", --per-socket: "S0  2"):
 *
 *	 Performance counter stats for 'hackbench -g 1 -l 100' (3 runs):
 *
 *	            394.10 msec task-clock          #    0.711 CPUs utilized   ( +-  8.32% )
 *	              3154      context-switches    #    8.104 K/sec           ( +- 24.90% )
 *	   <not supported>      cycles
 *	         1,234,567      instructions        #    1.02  insn per cycle  (83.31%)
 *
 *	            0.5539 +- 0.0536 seconds time elapsed  ( +-  9.68% )
 *
 * without -r "12.944056435 seconds time elapsed", "3.081072000 seconds user", "... seconds sys".
 * Before 4.17 the unit stood behind: "394.103 task-clock (msec)". -x, (any separator), no header,
 * with -r a percentage behind the event:
 *
 *	384.19,msec,task-clock,384189895,100.00,0.620,CPUs utilized
 *	S0,2,5103,,context-switches,8.32%,384189895,100.00,13.282,K/sec
 *
 * -j, an object a line:
 *
 *	{"counter-value" : "384.189895", "unit" : "msec", "event" : "task-clock", ...}
 *
 * -I prints each of these again and again behind the seconds ("     1.000123456"; "interval"
 *: 1.0). The counts of CPUs, sockets and intervals are added up; those of the intervals are series,
 *too.
 */
#include <ctype.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "parsers/perf_stat.h"

static const struct scan_reason perf_stat_reasons[] = {
	{"^Workload failed: No such file", NULL, "command_not_found"},
	{"^Workload failed:", NULL, "command_failed"},
	{"event syntax error", NULL, "usage_error"},
	{"invalid or unsupported event", NULL, "usage_error"},
	{"Error: unknown ", NULL, "usage_error"},
	{"Error: switch ", NULL, "usage_error"},
	{"sage: perf stat", NULL, "usage_error"},
	{"Too many events are opened", NULL, "resource_limit_fd"},
	SCAN_REASONS_END,
};

struct counter {
	struct span event;
	const char *unit;
	double sum;
	bool any;     /* there is a value */
	bool missing; /* in some of the lines there is none */
	/* of -I: sums of each interval */
	ARRAY_OF(double) t;
	ARRAY_OF(double) v;
};

struct perf_stat {
	struct scan s;
	void *by_event;
	ARRAY_OF(struct counter *) counters;
	bool block;    /* between the header and the elapsed time */
	bool text;     /* the run has a header */
	bool interval; /* its counters were those of -I */
	bool elapsed, user, sys;
	char separator; /* of -x; 0: not known yet */
};

static int compare_counters(const void *x, const void *y)
{
	const struct counter *a = x, *b = y;

	if (a->event.len != b->event.len)
		return a->event.len < b->event.len ? -1 : 1;
	return memcmp(a->event.s, b->event.s, a->event.len);
}

static void keep_counter(void *counter)
{
	(void)counter; /* it lives in the arena */
}

static void forget_counters(struct perf_stat *p)
{
	tdestroy(p->by_event, keep_counter);
	p->by_event = NULL;
	p->counters.n = 0;
}

static struct counter *get_counter(struct perf_stat *p, struct span event)
{
	struct counter *c = arena_alloc(p->s.a, sizeof(*c)), **node;

	*c = (struct counter){.event = event};
	node = tsearch(c, &p->by_event, compare_counters);
	if (!node)
		abort();
	if (*node == c)
		*SCAN_PUSH(p->s.a, &p->counters) = c;
	return *node;
}

static void add_series(struct perf_stat *p, const struct counter *c)
{
	scan_series(&p->s,
		    arena_printf(p->s.a, "%.*s", (int)MIN(c->event.len, (size_t)200), c->event.s),
		    c->unit, c->t.n, c->t.items, c->v.items);
}

static void add_counters(struct perf_stat *p)
{
	struct counter *const *at;

	array_for_each (at, &p->counters) {
		const struct counter *c = *at;

		scan_value(&p->s, ROLE_RESULT, c->unit, c->sum, "%.*s",
			   (int)MIN(c->event.len, (size_t)200), c->event.s);
		p->s.run->values.items[p->s.run->values.n - 1].is_null = !c->any;
		p->s.figure |= c->any;
		if (c->any && c->missing)
			p->s.doubt = "an event was not counted all the time";
		if (c->t.n)
			add_series(p, c);
	}
}

/* The exit status is that of the measured command: of the last run of the text. */
static void judge_status(struct perf_stat *p)
{
	int status = p->s.in->exit_status;

	if (!p->s.figure || status <= 0 || status == 124 || p->s.error)
		return;
	p->s.error = status == 127 ? "command_not_found" : "command_failed";
	p->s.error_message =
		arena_printf(p->s.a, "the measured command failed with exit status %d", status);
}

static void end_run(struct perf_stat *p, bool last)
{
	if (p->s.run) {
		/* the text ends with the elapsed time */
		if (p->text && !p->elapsed && p->s.cut)
			p->counters.n = 0;
		else if (p->text && !p->elapsed)
			p->s.partial = "the elapsed time is missing";
		else if (p->user && !p->sys)
			p->s.partial = "the last lines are cut";
		add_counters(p);
		if (last)
			judge_status(p);
		scan_end_run(&p->s);
	}
	forget_counters(p);
	p->block = p->text = p->interval = p->elapsed = p->user = p->sys = false;
}

/* " Performance counter stats for 'make -j2' (3 runs):" */
static bool read_header(struct perf_stat *p)
{
	struct span what = span_trim(p->s.line), runs;
	const char *tail;

	if (!span_starts(what, "Performance counter stats for "))
		return false;
	span_skip(&what, strlen("Performance counter stats for "));
	if (p->interval && !p->text)
		p->counters.n = 0; /* --summary: the sums follow */
	else if (p->text || p->counters.n)
		end_run(p, false);
	forget_counters(p);
	p->interval = false;
	p->block = p->text = true;
	scan_run(&p->s);
	tail = memrchr(what.s, '(', what.len);
	if (tail && scan_match((struct span){tail, (size_t)(what.s + what.len - tail)},
			       "(%w runs):", &runs)) {
		scan_param(&p->s, runs, "runs");
		what.len = (size_t)(tail - what.s);
	}
	what = span_trim(what);
	if (what.len && what.s[what.len - 1] == ':')
		what.len--;
	if (what.len > 2 && *what.s == '\'' && what.s[what.len - 1] == '\'') {
		what.s++;
		what.len -= 2;
	}
	what.len = MIN(what.len, (size_t)200);
	scan_param(&p->s, what, "command");
	return true;
}

/* A figure of perf's own seconds: never grouped. */
static void add_seconds(struct perf_stat *p, struct span figure, const char *metric)
{
	p->s.figure |= scan_result(&p->s, figure, metric, "s", ANY_DECIMALS,
				   strcmp(metric, "elapsed") != 0);
}

/* "9.68%" of "( +-  9.68% )", wherever it stands in the rest of the line */
static void add_percent(struct perf_stat *p, struct span rest, const char *metric)
{
	struct span word;
	double v;

	if (!scan_after(&rest, "( +-") || !span_next_word(&rest, &word) || word.len < 2 ||
	    word.s[word.len - 1] != '%')
		return;
	word.len--;
	if (!scan_figure(&p->s, word, "%", 0, &v))
		scan_value(&p->s, ROLE_DIAGNOSTIC, "%", v, "%s_stderr_pct", metric);
}

/* "      12.944056435 seconds time elapsed", also its standard error */
static bool read_seconds(struct perf_stat *p)
{
	static const struct {
		const char *words, *metric;
	} kinds[] = {{"time elapsed", "elapsed"}, {"user", "user"}, {"sys", "sys"}};
	bool *const seen[] = {&p->elapsed, &p->user, &p->sys};
	struct span line = span_trim(p->s.line), figure, error = {NULL, 0}, rest;
	size_t i;
	double v;

	if (!scan_match(line, "%w +- %w seconds %*", &figure, &error, &rest) &&
	    !scan_match(line, "%w seconds %*", &figure, &rest))
		return false;
	if (!scan_is_figure(figure))
		return false;
	for (i = 0; i < ARRAY_SIZE(kinds) && !span_starts(rest, kinds[i].words); i++)
		;
	/* "12.944056435 seconds time ela" */
	if (i == ARRAY_SIZE(kinds) && p->s.cut && p->block && rest.len &&
	    !memcmp(rest.s, kinds[0].words, MIN(rest.len, strlen(kinds[0].words)))) {
		i = 0;
		p->s.partial = "the last lines are cut";
	}
	if (i == ARRAY_SIZE(kinds) || (i > 0 && !p->elapsed))
		return false;
	if (*seen[i]) /* two runs without a header */
		end_run(p, false);
	scan_run(&p->s);
	*seen[i] = true;
	p->block = false;
	add_seconds(p, figure, kinds[i].metric);
	if (error.s && !scan_figure(&p->s, error, "s", 0, &v))
		scan_value(&p->s, ROLE_DIAGNOSTIC, "s", v, "%s_stderr", kinds[i].metric);
	add_percent(p, rest, kinds[i].metric);
	return true;
}

/* Length of a mark between thousands at s, 0: none. A narrow blank counts, a plain one does not. */
static size_t group_mark(const char *s, const char *end)
{
	static const char *const marks[] = {",", "'", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf"};
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		n = strlen(marks[i]);
		if ((size_t)(end - s) > n && !memcmp(s, marks[i], n))
			return n;
	}
	return 0;
}

/*
 * "1,234,567.89" without its marks; false if they do not part thousands ("0,554" is a decimal
 * comma).
 */
static bool ungroup(struct perf_stat *p, struct span *w)
{
	const char *s = w->s, *end = w->s + w->len;
	char *out = arena_alloc(p->s.a, w->len + 1);
	size_t n = 0, digits = 0, mark;
	bool grouped = false;

	for (; s < end && *s != '.'; s++) {
		mark = group_mark(s, end);
		if (mark) {
			if (grouped ? digits != 3 : digits < 1 || digits > 3 || *w->s == '0')
				return false;
			grouped = true;
			digits = 0;
			s += mark;
		}
		digits++;
		out[n++] = *s;
	}
	if (grouped && digits != 3)
		return false;
	memcpy(out + n, s, (size_t)(end - s));
	if (grouped)
		*w = (struct span){out, n + (size_t)(end - s)};
	return true;
}

static const char *unit_of(struct perf_stat *p, const struct perf_reading *r)
{
	if (r->unit.len)
		return arena_printf(p->s.a, "%.*s", (int)MIN(r->unit.len, (size_t)40), r->unit.s);
	return span_starts(r->event, "task-clock") || span_starts(r->event, "cpu-clock") ? "msec"
											 : "count";
}

static void take(struct perf_stat *p, struct perf_reading *r)
{
	struct counter *c;
	double t = 0, v = 0;
	const char *error = NULL;

	/* counters behind the closing lines are those of the next run */
	if (p->elapsed)
		end_run(p, false);
	scan_run(&p->s);
	c = get_counter(p, r->event);
	if (!c->unit)
		c->unit = unit_of(p, r);
	if (r->none) {
		/* in an interval it is the command that did not run */
		c->missing |= !r->time.len;
		return;
	}
	if (!r->exact && !ungroup(p, &r->value))
		error = "bad_number";
	if (!error)
		error = scan_figure(&p->s, r->value, "", 0, &v);
	if (error) {
		scan_error(&p->s, error);
		return;
	}
	c->any = true;
	c->sum += v;
	if (!isfinite(c->sum)) {
		scan_error(&p->s, "out_of_range");
		return;
	}
	if (!r->time.len || !num_parse(r->time, &t))
		return;
	p->interval = true;
	if (c->t.n && c->t.items[c->t.n - 1] == t) {
		c->v.items[c->v.n - 1] += v;
	} else {
		*SCAN_PUSH(p->s.a, &c->t) = t;
		*SCAN_PUSH(p->s.a, &c->v) = v;
	}
}

/* Value and what stands for it; a value may be cut by the end of the text. */
static bool take_value(struct span *rest, struct perf_reading *r)
{
	struct span word;

	if (!span_next_word(rest, &r->value))
		return false;
	if (!span_is(r->value, "<not"))
		return scan_is_figure(r->value);
	r->none = true;
	return span_next_word(rest, &word) &&
	       (span_is(word, "supported>") || span_is(word, "counted>"));
}

/* "CPU0   1,234.56 msec task-clock   # ...": false if the line is none of these */
static bool read_counter(struct perf_stat *p)
{
	struct span rest = p->s.line, word, more;
	struct perf_reading r = {.exact = false};
	const char *hash = memchr(rest.s, '#', rest.len);
	bool label = false;

	if (hash && hash > rest.s && isspace((unsigned char)hash[-1]))
		rest.len = (size_t)(hash - rest.s);
	more = rest;
	if (span_next_word(&more, &word) && perf_is_time(word)) {
		r.time = word;
		rest = more;
	}
	if (span_next_word(&more, &word) && perf_is_time(word) && !r.time.len)
		return false;
	more = rest;
	if (span_next_word(&more, &word) && !scan_is_figure(word) && !span_is(word, "<not")) {
		/* a label, or the name and number of a thread */
		if (!perf_is_label(word) && !(p->block && memchr(word.s, '-', word.len)))
			return false;
		label = true;
		rest = more;
		/* "S0   2   1,234 cycles": the number of CPUs comes first */
		if (span_next_word(&more, &word) && take_value(&more, &r))
			span_next_word(&rest, &word);
		r = (struct perf_reading){.time = r.time};
	}
	if (!take_value(&rest, &r) || !span_next_word(&rest, &r.event))
		return false;
	more = rest;
	if (span_next_word(&more, &word) && *word.s != '(') {
		r.unit = r.event;
		r.event = word;
		rest = more;
	} else if (word.len && span_is(word, "(msec)")) {
		r.unit = span_of("msec");
		rest = more;
	}
	if (span_next_word(&rest, &word) && *word.s != '(')
		return false;
	if (!perf_is_event(r.event) ||
	    (!p->block && !r.time.len && !label && !perf_is_known(r.event)))
		return false;
	take(p, &r);
	return true;
}

/* A line of -j or -x. */
static bool read_fields(struct perf_stat *p)
{
	struct perf_reading r;
	enum perf_line kind = perf_read_json(p->s.line, p->s.cut, &r);

	if (kind == PERF_NO_COUNTER)
		kind = perf_read_csv(p->s.line, p->s.cut, &p->separator, &r);
	if (kind == PERF_COUNTER) {
		take(p, &r);
	} else if (kind == PERF_CUT) {
		scan_run(&p->s);
		p->s.partial = "the last line is cut";
	} else if (kind == PERF_BAD_NUMBER) {
		scan_error(&p->s, "bad_number");
	}
	return kind != PERF_NO_COUNTER;
}

/* "hackbench: Killed": what perf prints of a command that a signal ended */
static bool read_signal(struct perf_stat *p)
{
	static const char *const signals[] = {
		"Killed",    "Terminated", "Segmentation fault",  "Aborted",
		"Interrupt", "Bus error",  "Illegal instruction", "Floating point exception"};
	struct span command, what;
	size_t i;

	if (!scan_match(p->s.line, "%w: %*", &command, &what))
		return false;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (span_is(span_trim(what), signals[i]))
			break;
	if (i == ARRAY_SIZE(signals))
		return false;
	if (p->elapsed)
		end_run(p, false);
	scan_error(&p->s, "command_failed");
	return true;
}

static void perf_stat_parse(struct arena *a, const struct parse_input *in,
			    struct parse_result *result)
{
	struct perf_stat p = {.s = {.a = a,
				    .in = in,
				    .result = result,
				    .reasons = perf_stat_reasons,
				    .rest = in->text}};

	while (scan_line(&p.s)) {
		if (!read_header(&p) && !read_seconds(&p) && !read_counter(&p) &&
		    !read_fields(&p) && !read_signal(&p))
			scan_find_reason(&p.s);
	}
	end_run(&p, true);
}

static int perf_stat_recognise(struct span text)
{
	static const char *const signs[] = {
		"Performance counter stats for ",
		" seconds time elapsed",
		"\"counter-value\" : ",
		"counts unit events",
	};
	struct span line;
	size_t i;

	/* it wraps another benchmark, whose own output stands beside it */
	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if (span_find(text, signs[i]))
			return 97;
	while (span_next_line(&text, &line, NULL))
		if (perf_is_csv(line))
			return 96;
	return 0;
}

static const struct parser perf_stat = {
	.name = "perf-stat",
	.summary = "perf stat: text, -x, -j, -r, -I",
	.recognise = perf_stat_recognise,
	.parse = perf_stat_parse,
};
REGISTER(parser, perf_stat);
