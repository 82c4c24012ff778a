// SPDX-License-Identifier: GPL-2.0-or-later
#include "parsers/monitor_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"

enum { MAX_SHARES = 64 };

/* Values of a group "vmstat.cpu" whose shares are not known before the last of it is read. */
struct share {
	const char *name;
	double difference;
};

struct reader {
	struct arena *a;
	struct parse_run *run;
	struct span rest;
	double elapsed; /* NAN: not said yet */
	struct share shares[MAX_SHARES];
	size_t n_shares;
};

void monitor_log_add(struct parse_run *run, const char *name, double v)
{
	struct parse_value *value;

	if (!isfinite(v))
		return;
	value = ARRAY_PUSH(&run->values);
	*value = (struct parse_value){.metric = name, .value = v, .unit = ""};
}

/* "1200 1900": their difference; NAN: none, or the counter went down. */
static double difference(struct span *rest)
{
	struct span word[2];
	double before, after;

	if (!span_next_word(rest, &word[0]) || !span_next_word(rest, &word[1]) ||
	    !num_parse(word[0], &before) || !num_parse(word[1], &after) || after < before)
		return NAN;
	return after - before;
}

static double number(struct span *rest)
{
	struct span word;
	double v;

	return span_next_word(rest, &word) && num_parse(word, &v) ? v : NAN;
}

static size_t group_length(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

static double group_sum(const struct share *shares, size_t n, const struct share *of)
{
	size_t len = group_length(of->name), i;
	double sum = 0;

	for (i = 0; i < n; i++)
		if (group_length(shares[i].name) == len && !strncmp(shares[i].name, of->name, len))
			sum += shares[i].difference;
	return sum;
}

static void add_shares(struct reader *r)
{
	const struct share *shares = r->shares;
	size_t i;

	for (i = 0; i < r->n_shares; i++) {
		double sum = group_sum(shares, r->n_shares, &shares[i]);

		monitor_log_add(r->run, shares[i].name,
				sum > 0 ? 100 * shares[i].difference / sum : NAN);
	}
}

static void read_value(struct reader *r, struct span kind, const char *name, struct span rest)
{
	if (span_is(kind, "counter")) {
		monitor_log_add(r->run, name, difference(&rest));
	} else if (span_is(kind, "rate")) {
		monitor_log_add(r->run, name, difference(&rest) / r->elapsed);
	} else if (span_is(kind, "stall")) {
		monitor_log_add(r->run, name, difference(&rest) / 1e4 / r->elapsed);
	} else if (span_is(kind, "value") || span_is(kind, "event")) {
		monitor_log_add(r->run, name, number(&rest));
	} else if (span_is(kind, "gauge") || span_is(kind, "level")) {
		number(&rest); /* how many samples */
		monitor_log_add(r->run, name, number(&rest));
	}
}

void monitor_log_note(struct arena *a, struct parse_run *run, struct span text)
{
	text = span_trim(text);
	run->message = arena_printf(a, "%s%s%.*s", run->message ? run->message : "",
				    run->message ? "; " : "", (int)MIN(text.len, (size_t)200),
				    text.s);
}

/* "perf-stat 812 0.031", then that many bytes and a line's end. */
static void read_output(struct reader *r, struct span line)
{
	struct span name, word;
	int64_t len;

	if (!span_next_word(&line, &name) || !span_next_word(&line, &word) ||
	    !num_parse_int(word, &len) || len < 0 || (uint64_t)len >= r->rest.len) {
		r->rest.len = 0;
		r->run->outcome = OUTCOME_PARTIAL;
		return;
	}
	monitor_log_add(r->run,
			arena_printf(r->a, "monitors.cpu.%.*s", (int)name.len, name.s),
			100 * number(&line) / r->elapsed);
	monitor_output_parse(r->a, name, (struct span){r->rest.s, (size_t)len}, r->run);
	span_skip(&r->rest, (size_t)len + 1);
}

static void read_share(struct reader *r, const char *name, struct span rest)
{
	double v = difference(&rest);

	if (isfinite(v) && r->n_shares < MAX_SHARES)
		r->shares[r->n_shares++] = (struct share){name, v};
}

static void read_line(struct reader *r, struct span line)
{
	struct span kind, word;
	const char *name;
	double v;

	if (!span_next_word(&line, &kind))
		return;
	if (span_is(kind, "note")) {
		monitor_log_note(r->a, r->run, line);
	} else if (span_is(kind, "output")) {
		read_output(r, line);
	} else if (span_is(kind, "elapsed")) {
		v = number(&line);
		r->elapsed = v > 0 ? v : NAN;
	} else if (span_is(kind, "self")) {
		monitor_log_add(r->run, "monitors.cpu", 100 * number(&line) / r->elapsed);
	} else if (span_next_word(&line, &word)) {
		name = arena_strndup(r->a, word.s, word.len);
		if (span_is(kind, "share"))
			read_share(r, name, line);
		else
			read_value(r, kind, name, line);
	}
}

void monitor_log_parse(struct arena *a, struct span text, struct parse_run *run)
{
	struct reader r = {.a = a, .run = run, .elapsed = NAN, .rest = text};
	struct parse_value *items;
	bool complete = false;
	struct span line;

	*run = (struct parse_run){.outcome = OUTCOME_OK};
	if (!span_next_line(&r.rest, &line, NULL) || !span_is(line, "kdelta-monitors 1")) {
		run->outcome = OUTCOME_ERROR;
		run->error = "damaged";
		run->message = "this is no log of monitors";
		return;
	}
	while (span_next_line(&r.rest, &line, &complete) && complete)
		read_line(&r, line);
	if (!complete && line.len)
		run->outcome = OUTCOME_PARTIAL;
	add_shares(&r);
	items = run->values.items;
	run->values.items = arena_copy(a, items, run->values.n, sizeof(*items));
	free(items);
}

const char *monitor_log_doubt(struct arena *a, const struct parse_run *run)
{
	static const struct {
		const char *metric; /* a pattern */
		double above;
		const char *words, *unit;
	} doubts[] = {
		{"vmstat.cpu.st", 2, "taken by the hypervisor", "% of CPU time"},
		{"proc-vmstat.pswpin", 0, "swapped in during the run", "pages"},
		{"proc-vmstat.pswpout", 0, "swapped out during the run", "pages"},
		{"thermal.*_throttle_count", 0, "clocks throttled by heat", "times"},
		{"time.clock_step", 0, "the clock was set during the run", "s"},
		{"dmesg.clocksource_unstable", 0, "the kernel gave up its clock source", "messages"},
		{"dmesg.*", 0, "the kernel reported trouble", "messages"},
	};
	const struct parse_value *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(doubts); i++)
		array_for_each (v, &run->values)
			if (str_glob(doubts[i].metric, v->metric) && v->value > doubts[i].above)
				return arena_printf(a, "%s (%s): %.4g %s", doubts[i].words,
						    v->metric, v->value, doubts[i].unit);
	return NULL;
}
