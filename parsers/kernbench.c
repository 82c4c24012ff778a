// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The times of a kernel build (or of any command), below whatever the build printed:
 *
 *	real	0m10.519s		bash and other shells ("real	0m 1.02s": busybox)
 *	user	0m2.237s
 *	sys	0m2.387s
 *
 *	real 15.81			time -p, also of GNU time; or all three in one line, as
 *posted
 *
 *	2.92user 3.12system 0:13.28elapsed 45%CPU (0avgtext+0avgdata 57896maxresident)k
 *	760inputs+1272outputs (10major+101232minor)pagefaults 0swaps
 *
 *		Elapsed (wall clock) time (h:mm:ss or m:ss): 0:06.69	GNU time -v
 *
 * and the shapes that the command line gives with TIMEFORMAT= (bash) or time -f (GNU time), which
 * nothing but the command line explains. A failed build prints its times all the same.
 */
#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/scan.h"

static const struct scan_reason kernbench_reasons[] = {
	{"=Command terminated by signal 9", NULL, "killed"},
	{"=Command terminated by signal 15", NULL, "interrupted"},
	{"=Command terminated by signal 2", NULL, "interrupted"},
	{"^Command terminated by signal ", NULL, "crashed"},
	{": *** ", "] Terminated", "interrupted"},
	{": *** ", "] Interrupt", "interrupted"},
	{"time: cannot run ", NULL, "command_not_found"},
	{"make: command not found", NULL, "command_not_found"},
	{": *** ", NULL, "build_failed"},
	{"ninja: build stopped", NULL, "build_failed"},
	{"^Command exited with non-zero status ", NULL, "build_failed"},
	{NULL, NULL, NULL},
};

enum { REAL, USER, SYS, CPU, MAXRSS, MAJOR, MINOR, VOLUNTARY, INVOLUNTARY, FIELDS, NO_FIELD = -1 };
static const struct {
	const char *metric, *unit;
	const char *label; /* of GNU time -v, NULL: printed elsewhere in a form of its own */
} fields[FIELDS] = {
	[REAL] = {"real", "s", "Elapsed (wall clock) time (h:mm:ss or m:ss): "},
	[USER] = {"user", "s", "User time (seconds): "},
	[SYS] = {"sys", "s", "System time (seconds): "},
	[CPU] = {"cpu", "%", "Percent of CPU this job got: "},
	[MAXRSS] = {"maxrss", "kB", "Maximum resident set size (kbytes): "},
	[MAJOR] = {"major_faults", "count", "Major (requiring I/O) page faults: "},
	[MINOR] = {"minor_faults", "count", "Minor (reclaiming a frame) page faults: "},
	[VOLUNTARY] = {"voluntary_ctxsw", "count", "Voluntary context switches: "},
	[INVOLUNTARY] = {"involuntary_ctxsw", "count", "Involuntary context switches: "},
};
#define BIT(field) (1u << (field))
#define TIMES	   (BIT(REAL) | BIT(USER) | BIT(SYS))

/* One character, or one value, of a format of the command line. */
struct item {
	char literal; /* 0: a value */
	int field;    /* NO_FIELD: read and forgotten */
	int decimals;
};

struct format_line {
	ARRAY_OF(struct item) items;
};

struct kernbench {
	struct scan s;
	unsigned has, want;		     /* fields of the run, and those its form promises */
	ARRAY_OF(struct format_line) format; /* empty: none was given */
	struct span *values;		     /* of a line, by item of its format */
	unsigned promised;		     /* fields of the whole format */
	size_t at;			     /* line of the format that comes next */
};

static void end_run(struct kernbench *k)
{
	struct scan *s = &k->s;

	s->figure = k->has && ((k->has & BIT(REAL)) || !(k->want & BIT(REAL)));
	if (s->figure && (k->want & ~k->has))
		s->partial = "the times are cut";
	scan_end_run(s);
	k->has = k->want = 0;
}

/* A field that comes again begins the next run. */
static void begin_field(struct kernbench *k, int field, unsigned want)
{
	if (k->has & BIT(field))
		end_run(k);
	scan_run(&k->s);
	k->want |= want;
}

/* A cut figure is no figure; "?" stands for a share of no time at all. */
static void take(struct kernbench *k, int field, unsigned want, struct span word, int decimals)
{
	const char *error;
	double v;

	begin_field(k, field, want);
	if (field == CPU && word.len && word.s[word.len - 1] == '%')
		word.len--;
	if (field <= SYS)
		error = scan_duration(&k->s, word, decimals, &v);
	else
		error = scan_figure(&k->s, word, fields[field].unit, decimals, &v);
	if (field == CPU && span_is(word, "?")) {
		k->has |= BIT(CPU);
	} else if (!error && field == REAL && v == 0) {
		scan_error(&k->s, "zero_result");
	} else if (!error) {
		k->has |= BIT(field);
		scan_value(&k->s, ROLE_RESULT, fields[field].unit, v, "%s", fields[field].metric);
	} else if (strcmp(error, "truncated")) {
		scan_error(&k->s, error);
	}
}

static int label_field(struct span word)
{
	int f;

	for (f = REAL; f <= SYS; f++)
		if (span_is(word, fields[f].metric))
			return f;
	return NO_FIELD;
}

/* "real 2m38.574s user 46m18.387s sys 6m8.724s", or one of them: label, then words of a figure */
static bool read_labels(struct kernbench *k, bool take_them)
{
	struct span rest = k->s.line, word, value = {NULL, 0};
	int field = NO_FIELD, next;

	while (span_next_word(&rest, &word)) {
		next = label_field(word);
		if (next == NO_FIELD && (field == NO_FIELD || !scan_is_figure(word)))
			return false;
		if (next == NO_FIELD) {
			value.s = value.s ? value.s : word.s;
			value.len = (size_t)(word.s + word.len - value.s);
			continue;
		}
		if (field != NO_FIELD && !value.s)
			return false;
		if (field != NO_FIELD && take_them)
			take(k, field, TIMES, value, 2);
		field = next;
		value.s = NULL;
	}
	if (!value.s)
		return false;
	if (take_them)
		take(k, field, TIMES, value, 2);
	return true;
}

static bool read_gnu_default(struct kernbench *k)
{
	const unsigned want = TIMES | BIT(CPU) | BIT(MAXRSS) | BIT(MAJOR) | BIT(MINOR);
	struct span user, sys, real, more, cpu, text, data, rss, major, minor;

	if (scan_match(k->s.line, "%wuser %wsystem %welapsed%*", &user, &sys, &real, &more)) {
		take(k, REAL, want, real, 0);
		take(k, USER, want, user, 2);
		take(k, SYS, want, sys, 2);
		if (scan_match(more, " %w%%CPU (%wavgtext+%wavgdata %wmaxresident)k", &cpu, &text,
			       &data, &rss)) {
			take(k, CPU, want, cpu, 0);
			take(k, MAXRSS, want, rss, 0);
		}
		return true;
	}
	if (!scan_match(k->s.line, "%winputs+%woutputs (%wmajor+%wminor)pagefaults%*", &text, &data,
			&major, &minor, &more))
		return false;
	take(k, MAJOR, want, major, 0);
	take(k, MINOR, want, minor, 0);
	return true;
}

static bool read_gnu_verbose(struct kernbench *k)
{
	const struct span line = span_trim(k->s.line);
	struct span status;
	int f;

	if (scan_match(line, "Exit status: %w", &status) && k->s.run) {
		if (!span_is(status, "0"))
			scan_error(&k->s, "build_failed");
		return true;
	}
	for (f = 0; f < FIELDS; f++) {
		size_t n = strlen(fields[f].label);

		if (!span_starts(line, fields[f].label))
			continue;
		take(k, f, BIT(FIELDS) - 1, (struct span){line.s + n, line.len - n},
		     f == USER || f == SYS ? 2 : ANY_DECIMALS);
		return true;
	}
	return false;
}

struct directive {
	char letter;
	int field, decimals;
};

/* Of GNU time -f; %x, %C and others are read and forgotten. */
static const struct directive gnu_directives[] = {
	{'e', REAL, 2},
	{'E', REAL, ANY_DECIMALS},
	{'U', USER, 2},
	{'S', SYS, 2},
	{'P', CPU, ANY_DECIMALS},
	{'M', MAXRSS, ANY_DECIMALS},
	{'F', MAJOR, ANY_DECIMALS},
	{'R', MINOR, ANY_DECIMALS},
	{'w', VOLUNTARY, ANY_DECIMALS},
	{'c', INVOLUNTARY, ANY_DECIMALS},
	{0, NO_FIELD, 0},
};

/* Of bash's TIMEFORMAT; "%2lR": two decimals, with minutes. */
static const struct directive bash_directives[] = {
	{'R', REAL, 3}, {'U', USER, 3}, {'S', SYS, 3}, {'P', CPU, 2}, {0, NO_FIELD, 0},
};

static struct item read_directive(struct kernbench *k, const char **p, const char *end, bool gnu)
{
	const struct directive *d = gnu ? gnu_directives : bash_directives;
	int decimals = 3;

	if (!gnu && *p < end && isdigit((unsigned char)**p))
		decimals = *(*p)++ - '0';
	if (!gnu && *p < end && **p == 'l')
		(*p)++;
	if (*p == end)
		return (struct item){0, NO_FIELD, 0};
	if (**p == '%')
		return (struct item){*(*p)++, NO_FIELD, 0};
	while (d->letter && d->letter != **p)
		d++;
	(*p)++;
	if (d->field != NO_FIELD)
		k->promised |= BIT(d->field);
	return (struct item){0, d->field, MIN(decimals, d->decimals)};
}

static void read_format(struct kernbench *k, struct span format, bool gnu)
{
	struct arena *a = k->s.a;
	const char *p = format.s, *end = format.s + format.len;
	struct format_line *line = SCAN_PUSH(a, &k->format);

	while (p < end) {
		char c = *p++;

		if (c == '\\' && p < end && (*p == 'n' || *p == 't' || *p == '\\'))
			c = *p == 'n' ? '\n' : *p == 't' ? '\t' : '\\', p++;
		if (c == '\n' && line->items.n)
			line = SCAN_PUSH(a, &k->format);
		else if (c == '%')
			*SCAN_PUSH(a, &line->items) = read_directive(k, &p, end, gnu);
		else if (c != '\n')
			SCAN_PUSH(a, &line->items)->literal = c;
	}
	if (!line->items.n)
		k->format.n--;
}

/* The value at p ends at the literal that follows it in the format, or at a blank. */
static struct span item_value(const char *p, const char *end, const struct item *next)
{
	struct span v = {p, 0};

	while (p + v.len < end && !strchr(" \t", p[v.len]) && (!next || p[v.len] != next->literal))
		v.len++;
	return v;
}

/* values[] gets what stands for each item; false if the line has another shape. */
static bool match_format(const struct format_line *f, struct span line, struct span *values)
{
	const char *p = line.s, *end = line.s + line.len;
	size_t i;

	for (i = 0; i < f->items.n; i++) {
		const struct item *item = &f->items.items[i];

		if (item->literal) {
			if (p == end || *p++ != item->literal)
				return false;
			continue;
		}
		values[i] = item_value(p, end, i + 1 < f->items.n ? item + 1 : NULL);
		if (item->field != NO_FIELD && !scan_is_figure(values[i]) &&
		    !span_is(values[i], "?%"))
			return false;
		p += values[i].len;
	}
	return p == end && f->items.n;
}

static bool read_formatted(struct kernbench *k)
{
	const struct format_line *f = NULL;
	const struct item *item;
	size_t try;

	if (!k->format.n)
		return false;
	/* the line that comes next, else the first */
	for (try = 0; try < 2; try++, k->at = 0) {
		f = &k->format.items[k->at];
		if (match_format(f, k->s.line, k->values))
			break;
	}
	if (try == 2)
		return false;
	array_for_each (item, &f->items)
		if (!item->literal && item->field != NO_FIELD)
			take(k, item->field, k->promised, k->values[item - f->items.items],
			     item->decimals);
	k->at = (k->at + 1) % k->format.n;
	return true;
}

/* The format of the command line, if it gives one. */
static void find_format(struct kernbench *k)
{
	static const struct scan_option options[] = {{'f', "format"}, {'o', "output"}, {0, NULL}};
	static const char variable[] = "TIMEFORMAT=";
	const struct format_line *f;
	struct span *words = NULL;
	size_t n = 0, i, longest = 0;

	scan_ask(&k->s, "time", options, true);
	if (k->s.asked.option[0].s)
		read_format(k, k->s.asked.option[0], true);
	else if (k->s.in->command)
		words = scan_split(k->s.a, k->s.in->command, &n);
	for (i = 0; i < n && !k->format.n; i++)
		if (words[i].s && span_starts(words[i], variable))
			read_format(k,
				    (struct span){words[i].s + strlen(variable),
						  words[i].len - strlen(variable)},
				    false);
	array_for_each (f, &k->format)
		longest = MAX(longest, f->items.n);
	k->values = arena_alloc_array(k->s.a, longest, sizeof(*k->values));
}

static void read_line(struct kernbench *k)
{
	if (read_formatted(k) || read_gnu_default(k) || read_gnu_verbose(k))
		return;
	if (read_labels(k, false)) {
		read_labels(k, true);
		return;
	}
	/* a reason below whole times belongs to the next build */
	if (k->has && !(k->want & ~k->has) && scan_names_reason(&k->s))
		end_run(k);
	scan_find_reason(&k->s);
}

/* The last build: times that were printed do not make it a good one. */
static void judge_status(struct kernbench *k)
{
	int status = k->s.in->exit_status;

	if (status <= 0 || (status == 124 && !k->has) || k->s.error)
		return;
	scan_error(&k->s, status == 127 ? "command_not_found" : "build_failed");
	k->s.error_message = arena_printf(k->s.a, "the build ended with exit status %d", status);
}

static void kernbench_parse(struct arena *a, const struct parse_input *in,
			    struct parse_result *result)
{
	struct kernbench k = {.s = {.a = a,
				    .in = in,
				    .result = result,
				    .reasons = kernbench_reasons,
				    .rest = in->text}};

	find_format(&k);
	while (scan_line(&k.s))
		read_line(&k);
	judge_status(&k);
	end_run(&k);
}

static int kernbench_recognise(struct span text)
{
	struct kernbench k = {.s = {.rest = text}};
	struct span user, sys, real, more;

	while (scan_line(&k.s)) {
		if (read_labels(&k, false) || span_find(k.s.line, "Command being timed: "))
			return 60;
		if (scan_match(k.s.line, "%wuser %wsystem %welapsed%*", &user, &sys, &real, &more))
			return 60;
	}
	return 0;
}

static const struct parser kernbench = {
	.name = "kernbench",
	.summary = "times of a kernel build: bash, POSIX, GNU time; formats with --command",
	.recognise = kernbench_recognise,
	.parse = kernbench_parse,
};
REGISTER(parser, kernbench);
