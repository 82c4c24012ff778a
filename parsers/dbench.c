// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dbench and tbench, versions 3 to 5:
 *
 *	dbench version 4.00 - Copyright Andrew Tridgell 1999-2004
 *
 *	Running for 10 seconds with load '/usr/share/dbench/client.txt' and minimum warmup 2 secs
 *	2 of 2 processes prepared for launch   0 sec
 *	releasing clients
 *	   2     18868   233.66 MB/sec  warmup   1 sec  latency 9.736 ms
 *	   2     84394   339.55 MB/sec  execute   1 sec  latency 14.676 ms
 *	   2  cleanup  10 sec
 *
 *	 Operation      Count    AvgLat    MaxLat
 *	 ----------------------------------------
 *	 NTCreateX     110080     0.028     9.163
 *
 *	Throughput 337.527 MB/sec (sync open)  2 clients  2 procs  max_latency=109.483 ms
 *
 * MB/sec of a per-second line is the mean since the measured part began (the clock restarts at its
 * first line); the closing figure repeats the last of them. dbench 5 --machine-readable:
 *
 *	@W@2@9012@140.02@1@9.817@
 *	@R@2@28772@142.85@1@23.572@
 *	:Flush:1100:5.091:37.047:
 *	;142.85;2;2;157.932;
 *
 * Version 3 ends its lines before "latency" and its closing line after "procs".
 */
#include "parsers/dbench.h"

#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason dbench_reasons[] = {
	{"You need to specify NPROCS", NULL, "usage_error"},
	{"^Invalid option", NULL, "usage_error"},
	{"^Usage: ", NULL, "usage_error"},
	{"Unknown backend", NULL, "usage_error"},
	{"you must be kidding", NULL, "usage_error"},
	{"error opening '", NULL, "loadfile"},
	{"listen failed", NULL, "port_in_use"},
	{"bind failed", NULL, "port_in_use"},
	{"Address already in use", NULL, "port_in_use"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"Resource temporarily unavailable", NULL, "resource_limit_proc"},
	{"fork failed", NULL, "resource_limit_proc"},
	{"shared memory", NULL, "resource_limit_mem"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"failed to connect to", NULL, "server_unreachable"},
	{"unknown host", NULL, "server_unreachable"},
	{"Connection refused", NULL, "server_unreachable"},
	{"Connection reset by peer", NULL, "server_lost"},
	{"Broken pipe", NULL, "server_lost"},
	{"error reading header", NULL, "server_lost"},
	{"Child failed with status", NULL, "child_failed"},
	{"failed at line", NULL, "child_failed"},
	{"failed to start", NULL, "child_failed"},
	{"FAILED TO START", NULL, "child_failed"},
	{"was not found", "handle", "child_failed"},
	SCAN_REASONS_END,
};

enum { OPTION_PER_PROCESS };
static const struct scan_option dbench_options[] = {
	{0, "clients-per-process"}, {'t', "timelimit"},	  {'c', "loadfile"}, {'D', "directory"},
	{'T', "tcp-options"},	    {'R', "target-rate"}, {'B', "backend"},  {0, NULL},
};

struct dbench {
	struct scan s;
	struct span version;
	bool header, table, totals_done, closing;
	struct span launched, active; /* "2" of "2 of 2 processes", of the per-second lines */
	size_t warmup_lines, execute_lines;
	double seconds, mean; /* of the per-second line before, to undo the running mean */
	/* of all runs of the text; those of this one begin at first */
	ARRAY_OF(double) t;
	ARRAY_OF(double) rate;
	ARRAY_OF(double) latency; /* ms; not of every second */
	size_t first, first_latency;
};

static bool differ(struct span asked, struct span got)
{
	int64_t a, b;

	return asked.s && got.s && num_parse_int(asked, &a) && num_parse_int(got, &b) && a != b;
}

static void dbench_end_run(struct dbench *d)
{
	struct scan *s = &d->s;
	size_t n;

	if (s->run && (d->header || d->execute_lines)) {
		scan_value(s, ROLE_DIAGNOSTIC, "count", (double)d->execute_lines,
			   "persecond_execute_lines");
		scan_value(s, ROLE_DIAGNOSTIC, "count", (double)d->warmup_lines,
			   "persecond_warmup_lines");
	}
	n = d->t.n - d->first;
	if (s->run && n) {
		const double *t = d->t.items + d->first;

		scan_series(s, "throughput", "MB/s", n, t, d->rate.items + d->first);
		if (d->latency.n - d->first_latency == n)
			scan_series(s, "latency", "ms", n, t, d->latency.items + d->first_latency);
	}
	scan_end_run(s);
	*d = (struct dbench){.s = *s,
			     .t = {d->t.items, d->t.n, d->t.alloc},
			     .rate = {d->rate.items, d->rate.n, d->rate.alloc},
			     .latency = {d->latency.items, d->latency.n, d->latency.alloc},
			     .first = d->t.n,
			     .first_latency = d->latency.n};
}

/*
 * Room for as many seconds as lines like this one can follow, at once: what is not used costs no
 * memory, what has to grow costs it twice.
 */
static void dbench_room(struct dbench *d)
{
	size_t n = d->s.rest.len / (d->s.line.len + 1) + 1;

	d->t.items = arena_alloc_array(d->s.a, n, sizeof(*d->t.items));
	d->rate.items = arena_alloc_array(d->s.a, n, sizeof(*d->rate.items));
	d->latency.items = arena_alloc_array(d->s.a, n, sizeof(*d->latency.items));
	d->t.alloc = d->rate.alloc = d->latency.alloc = n;
}

/* One second of the measured part; v is the mean of all t seconds so far. */
static void dbench_second(struct dbench *d, struct span clients, struct span v, struct span t,
			  struct span latency)
{
	struct arena *a = d->s.a;
	double seconds, mean, ms, rate;

	if (scan_figure(&d->s, t, "s", 0, &seconds) || scan_figure(&d->s, v, "MB/s", 0, &mean) ||
	    seconds <= d->seconds)
		return;
	if (!d->t.alloc)
		dbench_room(d);
	d->execute_lines++;
	d->active = clients;
	rate = (seconds * mean - d->seconds * d->mean) / (seconds - d->seconds);
	*SCAN_PUSH(a, &d->t) = seconds;
	*SCAN_PUSH(a, &d->rate) = MAX(rate, 0); /* the means are rounded */
	if (!scan_figure(&d->s, latency, "ms", 0, &ms))
		*SCAN_PUSH(a, &d->latency) = ms;
	d->seconds = seconds;
	d->mean = mean;
}

/* Takes the lines that are most of a log. */
static bool dbench_per_second(struct dbench *d)
{
	struct span n, lines, v, part, t, latency, more;

	if (scan_match(d->s.line, " %w %w %w MB/sec %w %w sec%*", &n, &lines, &v, &part, &t,
		       &more)) {
		if (span_is(part, "warmup")) {
			d->warmup_lines++;
			return true;
		}
		if (!span_is(part, "execute"))
			return false;
		if (!scan_match(more, " latency %w ms", &latency))
			latency = more;
		dbench_second(d, n, v, t, latency);
		return true;
	}
	if (scan_match(d->s.line, "@R@%w@%w@%w@%w@%w@", &n, &lines, &v, &t, &latency)) {
		dbench_second(d, n, v, t, latency);
		return true;
	}
	if (scan_match(d->s.line, "@W@%w@%w@%w@%w@%w@", &n, &lines, &v, &t, &latency)) {
		d->warmup_lines++;
		return true;
	}
	/* of each client and pass of the load file, in mmtests: more lines than all others */
	return scan_match(d->s.line, " %w completed in %w ms", &n, &t);
}

static bool is_operation(struct span name)
{
	size_t i;

	for (i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.s[i]) && name.s[i] != '_')
			return false;
	return true;
}

/* " ReadX         172588     0.030    20.807" or ":ReadX:24341:0.007:17.464:" */
static void dbench_operation(struct dbench *d)
{
	struct span name, word[3];
	double v[3];
	size_t i;

	if (!scan_match(d->s.line, " %w %w %w %w", &name, &word[0], &word[1], &word[2]) &&
	    !scan_match(d->s.line, ":%w:%w:%w:%w:", &name, &word[0], &word[1], &word[2]))
		return;
	if (d->s.cut || !is_operation(name))
		return;
	for (i = 0; i < 3; i++)
		if (!num_parse(word[i], &v[i]) || v[i] < 0)
			return;
	scan_value(&d->s, ROLE_DIAGNOSTIC, "count", v[0], "op.%.*s.count", (int)name.len, name.s);
	scan_value(&d->s, ROLE_DIAGNOSTIC, "ms", v[1], "op.%.*s.avg_latency", (int)name.len,
		   name.s);
	scan_value(&d->s, ROLE_DIAGNOSTIC, "ms", v[2], "op.%.*s.max_latency", (int)name.len,
		   name.s);
}

static void dbench_doubt(struct dbench *d, struct span clients, struct span procs)
{
	struct scan *s = &d->s;
	struct span asked = s->asked.operand[0];
	int64_t per_process = 1;

	if (differ(d->active, clients) || differ(d->launched, procs))
		s->doubt = "the closing line contradicts the number of clients that were launched";
	if (s->asked.option[OPTION_PER_PROCESS].s)
		num_parse_int(s->asked.option[OPTION_PER_PROCESS], &per_process);
	scan_expect(s, asked, 1, "procs");
	if (per_process > 0 && per_process < 100000)
		scan_expect(s, asked, (int)per_process, "clients");
}

static void dbench_result(struct dbench *d, struct span figure, struct span clients,
			  struct span procs, struct span latency)
{
	struct scan *s = &d->s;
	const char *error;
	double v, ms;

	error = scan_figure(s, figure, "MB/s", 0, &v);
	if (!error && latency.s)
		error = scan_figure(s, latency, "ms", 3, &ms);
	if (!error && v == 0)
		error = "zero_result";
	if (error) {
		scan_error(s, error);
		return;
	}
	s->figure = true;
	scan_value(s, ROLE_RESULT, "MB/s", v, "throughput");
	if (latency.s)
		scan_value(s, ROLE_RESULT, "ms", ms, "max_latency");
	if (clients.s)
		scan_param(s, clients, "clients");
	if (procs.s)
		scan_param(s, procs, "procs");
	dbench_doubt(d, clients, procs);
}

/* After the figure and its unit; a part that is missing leaves the run partial. */
static void dbench_closing(struct dbench *d, struct span figure, struct span rest)
{
	static const struct span none = {NULL, 0};
	struct span clients = none, procs = none, latency = none, word, before = none;
	bool old = d->version.s && *d->version.s < '4';

	while (span_next_word(&rest, &word)) {
		if (span_is(word, "clients"))
			clients = before;
		else if (span_is(word, "procs"))
			procs = before;
		else if (span_is(word, "ms") && span_starts(before, "max_latency="))
			latency = (struct span){before.s + 12, before.len - 12};
		before = word;
	}
	if (!latency.s && !old)
		d->s.partial = "the closing line is cut";
	dbench_result(d, figure, clients, procs, latency);
}

static bool dbench_throughput(struct dbench *d)
{
	struct scan *s = &d->s;
	struct span figure, unit, rest, clients, procs, latency;
	const char *error;
	double v;

	if (scan_match(s->line, ";%w;%w;%w;%w;", &figure, &clients, &procs, &latency)) {
		if (d->closing)
			dbench_end_run(d);
		dbench_result(d, figure, clients, procs, latency);
	} else if (scan_match(s->line, "Throughput %w%*", &figure, &rest)) {
		if (d->closing)
			dbench_end_run(d);
		error = scan_figure(s, figure, "MB/s", 0, &v);
		if (error && strcmp(error, "truncated"))
			scan_error(s, error);
		else if (span_find(rest, "Throughput") ||
			 scan_match(rest, " %w MB/sec%*", &unit, &unit))
			scan_error(s, "bad_number");
		else if (span_next_word(&rest, &unit) && span_is(unit, "MB/sec"))
			dbench_closing(d, figure, rest);
		else
			scan_error(s, s->cut ? "truncated" : "unexpected_unit");
	} else {
		return false;
	}
	d->closing = true;
	return true;
}

static void dbench_line(struct dbench *d)
{
	struct scan *s = &d->s;
	struct span word, more;

	if (dbench_per_second(d))
		return;
	if (scan_match(s->line, "dbench version %w%*", &word, &more)) {
		dbench_end_run(d);
		scan_run(s);
		d->version = word;
		d->header = true;
	} else if (scan_match(s->line, "Running for %w seconds with load%*", &word, &more)) {
		if (d->closing)
			dbench_end_run(d);
		scan_run(s);
		d->header = true;
	} else if (scan_match(s->line, "%w of %w processes prepared for launch%*", &more, &word,
			      &more)) {
		scan_run(s);
		d->launched = word;
	} else if (scan_match(s->line, " Operation Count AvgLat MaxLat")) {
		d->table = !d->totals_done;
	} else if (span_starts(s->line, "Per client results:")) {
		d->totals_done = true;
		d->table = false;
	} else if (!dbench_throughput(d) && !scan_find_reason(s) && d->table) {
		dbench_operation(d);
	}
}

void dbench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	struct dbench d = {.s = {.a = a,
				 .in = in,
				 .result = result,
				 .reasons = dbench_reasons,
				 .rest = in->text}};

	scan_ask(&d.s, result->benchmark, dbench_options, false);
	while (scan_line(&d.s))
		dbench_line(&d);
	dbench_end_run(&d);
}

int dbench_recognise(struct span text, const char *version)
{
	struct span line, word, more;

	while (span_next_line(&text, &line, NULL)) {
		if (scan_match(line, "dbench version %w%*", &word, &more))
			return span_starts(word, version) ? 95 : 80;
		if (scan_match(line, "Throughput %w MB/sec%*", &word, &more))
			return 60;
	}
	return 0;
}

static int recognise(struct span text)
{
	return dbench_recognise(text, "5.");
}

static const struct parser dbench = {
	.name = "dbench",
	.summary = "dbench 3 to 5 (file system)",
	.recognise = recognise,
	.parse = dbench_parse,
};
REGISTER(parser, dbench);
