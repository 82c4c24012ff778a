// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uperf 1.0: a line for each transaction of the profile, rewritten while it runs, their sum, and a
 * comparison of what both sides counted:
 *
 *	Starting 16 threads running profile:netperf ...   0.00 seconds
 *	Txn1          0 /   1.00(s) =            0          16op/s
 *	Txn2    19.55GB /  30.23(s) =     5.56Gb/s       84742op/s
 *	-------------------------------------------------------------------------------
 *	Total   19.55GB /  32.33(s) =     5.20Gb/s       79250op/s
 *
 *	Txn                Count         avg         cpu         max         min		-t
 *	-------------------------------------------------------------------------------
 *	Txn2             2562100     12.31us      0.00ns      4.11ms      5.02us
 *
 *	Run Statistics
 *	Hostname            Time       Data   Throughput   Operations      Errors
 *	-------------------------------------------------------------------------------
 *	192.168.1.2       32.33s    19.55GB     5.20Gb/s      2562100        0.00
 *	master            32.33s    19.55GB     5.20Gb/s      2562103        0.00
 *
 * Bits go by powers of 1000. "-X" of old prints "Total 20019.20 MB in 32.33 secs = 5194.61 Mbps or
 * 79250.00 ops".
 */
#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason uperf_reasons[] = {
	{"Usage:", "uperf", "usage_error"},
	{"Too many open files", NULL, "resource_limit_fd"},
	{"Cannot allocate memory", NULL, "resource_limit_mem"},
	{"Resource temporarily unavailable", NULL, "resource_limit_proc"},
	{"Error opening profile", NULL, "loadfile"},
	{"error parsing profile", NULL, "loadfile"},
	{"Error parsing", NULL, "loadfile"},
	{"Cannot connect", NULL, "server_unreachable"},
	{"Connection refused", NULL, "server_unreachable"},
	{"Cannot resolve", NULL, "server_unreachable"},
	{"Name or service not known", NULL, "server_unreachable"},
	{"Connection reset by peer", NULL, "server_lost"},
	{"Broken pipe", NULL, "server_lost"},
	{"bind", "Address already in use", "port_in_use"},
	SCAN_REASONS_END,
};

struct uperf {
	struct scan s;
	bool statistics, averages; /* in the table at the end, in one of averages */
};

/* The end of "5.20Gb/s" or "12.31us" after its figure. */
static struct span split_figure(struct span word, struct span *figure)
{
	size_t n = 0;

	while (n < word.len && (isdigit((unsigned char)word.s[n]) || strchr(".+-", word.s[n])))
		n++;
	*figure = (struct span){word.s, n};
	return (struct span){word.s + n, word.len - n};
}

/* "5.20Gb/s": bits per second; "0" is nothing at all */
static const char *read_bits(const struct scan *s, struct span word, double *v)
{
	static const char prefixes[] = "KMGTPE";
	struct span figure, unit = split_figure(word, &figure);
	const char *error = scan_figure(s, figure, "bit/s", 0, v), *prefix;

	if (error)
		return error;
	prefix = unit.len ? strchr(prefixes, *unit.s) : NULL;
	if (prefix)
		unit.s++, unit.len--;
	if (unit.len ? !span_is(unit, "b/s") : *v != 0)
		return s->cut ? "truncated" : "unexpected_unit";
	for (; prefix && prefix >= prefixes; prefix--)
		*v *= 1000;
	return *v > 1e18 ? "out_of_range" : NULL;
}

/* "12.31us" in microseconds */
static bool read_time(const struct scan *s, struct span word, double *v)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
	struct span figure, unit = split_figure(word, &figure);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (span_is(unit, units[i].unit) && !scan_figure(s, figure, "us", 0, v)) {
			*v *= units[i].factor;
			return *v <= 1e13;
		}
	return false;
}

static void add_rates(struct uperf *u, const char *error, double bits, struct span ops)
{
	struct scan *s = &u->s;
	struct span figure, unit = split_figure(ops, &figure);
	double operations = 0;

	if (!error && ops.len) {
		error = scan_figure(s, figure, "ops/s", 0, &operations);
		if (!error && !span_starts(unit, "op"))
			error = s->cut ? "truncated" : "unexpected_unit";
	}
	if (!error && bits == 0 && operations == 0)
		error = "zero_result";
	if (error) {
		scan_error(s, error);
		return;
	}
	/* a profile that only connects moves no data */
	if (bits > 0)
		scan_value(s, ROLE_RESULT, "bit/s", bits, "bps");
	if (ops.len)
		scan_value(s, ROLE_RESULT, "ops/s", operations, "ops");
	s->figure = true;
}

/* "Total   19.55GB /  32.33(s) =     5.20Gb/s       79250op/s" */
static bool read_total(struct uperf *u)
{
	struct span rest = span_trim(u->s.line), word, ops = {"", 0}, figure, data, more;
	const char *error;
	double bits, megabits;

	if (scan_match(rest, "Total %w MB in %w secs = %w Mbps or %w ops", &data, &more, &figure,
		       &ops)) {
		error = scan_figure(&u->s, figure, "MB/s", 0, &megabits);
		if (u->s.figure)
			scan_end_run(&u->s);
		scan_run(&u->s);
		scan_param(&u->s, more, "runtime");
		add_rates(u, error, megabits * 1e6,
			  (struct span){
				  arena_printf(u->s.a, "%.*sop/s", (int)MIN(ops.len, 40u), ops.s),
				  MIN(ops.len, (size_t)40) + 4});
		return true;
	}
	if (!span_starts(rest, "Total"))
		return false;
	if (!scan_after(&rest, "(s) = "))
		return false;
	if (u->s.figure)
		scan_end_run(&u->s);
	scan_run(&u->s);
	if (!span_next_word(&rest, &word))
		return true;
	error = read_bits(&u->s, word, &bits);
	span_next_word(&rest, &ops);
	/* the rate of operations always follows, but where nothing was done */
	if (!error && !ops.len && u->s.cut)
		error = "truncated";
	add_rates(u, error, bits, ops);
	return true;
}

/* "master            32.33s    19.55GB     5.20Gb/s      2562103        0.00" */
static bool read_statistics(struct uperf *u)
{
	struct span rest = u->s.line, host, time, data, bits, count, errors;
	double v, failed;

	if (!u->statistics || !span_next_word(&rest, &host) || !span_is(host, "master") ||
	    !span_next_word(&rest, &time) || !span_next_word(&rest, &data) ||
	    !span_next_word(&rest, &bits) || !span_next_word(&rest, &count))
		return false;
	if (!u->s.figure) {
		const char *error = read_bits(&u->s, bits, &v);

		add_rates(u, error, v, span_of(""));
	}
	if (span_next_word(&rest, &errors) && num_parse(errors, &failed) && failed > 0)
		u->s.doubt = arena_printf(u->s.a, "%g %% of the operations failed", failed);
	return true;
}

/* "Txn2             2562100     12.31us      0.00ns      4.11ms      5.02us" */
static bool read_average(struct uperf *u)
{
	struct span rest = u->s.line, name, count, avg, cpu, max, more;
	double a, m;

	if (!u->averages || !span_next_word(&rest, &name) || !span_next_word(&rest, &count) ||
	    !span_next_word(&rest, &avg) || !span_next_word(&rest, &cpu) ||
	    !span_next_word(&rest, &max) || !span_next_word(&rest, &more) ||
	    !read_time(&u->s, avg, &a) || !read_time(&u->s, max, &m))
		return false;
	if (name.len > 40 || !isalpha((unsigned char)*name.s))
		return true;
	scan_value(&u->s, ROLE_RESULT, "us", a, "%.*s.avg", (int)name.len, name.s);
	scan_value(&u->s, ROLE_RESULT, "us", m, "%.*s.max", (int)name.len, name.s);
	return true;
}

static void read_line(struct uperf *u)
{
	struct span n, kind, profile, more;

	if (scan_match(u->s.line, "Starting %w %w running profile:%w%*", &n, &kind, &profile,
		       &more)) {
		scan_end_run(&u->s);
		u->statistics = u->averages = false;
		scan_param(&u->s, profile, "profile");
		scan_param(&u->s, n, "%s", span_starts(kind, "thread") ? "threads" : "processes");
	} else if (span_starts(u->s.line, "Run Statistics")) {
		u->statistics = true;
		u->averages = false;
	} else if (scan_match(u->s.line, "%w Count avg cpu max min%*", &n, &more)) {
		scan_run(&u->s);
		u->averages = true;
	} else if (span_find(u->s.line, "WARNING: Errors detected during run") && u->s.run) {
		u->s.doubt = "errors were detected during the run";
	} else if (!read_total(u) && !read_statistics(u) && !read_average(u)) {
		scan_find_reason(&u->s);
	}
}

static void uperf_parse(struct arena *a, const struct parse_input *in, struct parse_result *result)
{
	struct uperf u = {.s = {.a = a,
				.in = in,
				.result = result,
				.reasons = uperf_reasons,
				.rest = in->text}};

	while (scan_line(&u.s))
		read_line(&u);
	scan_end_run(&u.s);
}

static int uperf_recognise(struct span text)
{
	return span_find(text, " running profile:") || (span_find(text, "Run Statistics") &&
							span_find(text, "Throughput   Operations"))
		       ? 90
		       : 0;
}

static const struct parser uperf = {
	.name = "uperf",
	.summary = "uperf: the line Total, averages of -t and -f",
	.recognise = uperf_recognise,
	.parse = uperf_parse,
};
REGISTER(parser, uperf);
