// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stands around a table: titles, commands, directions, and headings of blocks.
 *
 *	~~~~~~~~~~~~~				- Baseline kernel:
 *	~ hackbench ~				$> schbench -m 20 -t 2 -r 30
 *	~~~~~~~~~~~~~				Latency percentiles (usec)
 *	o NPS1
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

static const struct block_known known[] = {
	{"tbench", "throughput", "MB/s", "clients", BETTER_HIGHER},
	{"dbench", "throughput", "MB/s", "clients", BETTER_HIGHER},
	{"hackbench", "time", "s", "groups", BETTER_LOWER},
	{"sched-messaging", "time", "s", "groups", BETTER_LOWER},
	{"schbench", "wakeup.p99", "us", "workers", BETTER_LOWER},
	{"stream", "bandwidth", "MB/s", NULL, BETTER_HIGHER},
	{"netperf", "throughput", NULL, "clients", BETTER_HIGHER},
	{"uperf", "throughput", NULL, "threads", BETTER_HIGHER},
	{"stress-ng", "time", NULL, "workers", BETTER_UNKNOWN},
	{"unixbench", "index", "index", NULL, BETTER_HIGHER},
	{"specjbb", "jops", NULL, NULL, BETTER_HIGHER},
	{"kernbench", "real", "s", "jobs", BETTER_LOWER},
	{"pgbench", "tps", "tps", "clients", BETTER_HIGHER},
	{"ebizzy", "throughput", NULL, "threads", BETTER_HIGHER},
};

const struct block_known *block_known(const char *benchmark)
{
	size_t i;

	for (i = 0; benchmark && i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].benchmark, benchmark))
			return &known[i];
	return NULL;
}

/* ---- words ---- */

bool block_number(struct span word, double *value, int *decimals)
{
	return word.len && table_scan_number(word, value, decimals) == word.len;
}

const char *block_value_text(struct arena *a, struct span number)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < number.len; i++)
		if (number.s[i] != ',' && !(i == 0 && number.s[i] == '+'))
			strbuf_addc(&sb, number.s[i]);
	return arena_strndup(a, strbuf_str(&sb), sb.len);
}

struct table_cell block_value(struct arena *a, struct span number, double value, int line)
{
	return (struct table_cell){.has_value = true,
				   .value = value,
				   .value_text = block_value_text(a, number),
				   .line = line};
}

static size_t count_words(struct span s)
{
	struct span word;
	size_t n = 0;

	while (span_next_word(&s, &word))
		n++;
	return n;
}

static bool has_word(struct span s, const char *text)
{
	struct span word;

	while (span_next_word(&s, &word)) {
		word = span_strip(word, "(),.:;[]\"");
		if (word.len == strlen(text) && !strncasecmp(word.s, text, word.len))
			return true;
	}
	return false;
}

enum row_better block_better_in(struct span line)
{
	bool better = has_word(line, "better"), higher, lower;

	if (!better)
		return BETTER_UNKNOWN;
	higher = has_word(line, "higher") || has_word(line, "more") || has_word(line, "bigger") ||
		 has_word(line, "larger") || span_find(line, "+ is better");
	lower = has_word(line, "lower") || has_word(line, "less") || has_word(line, "smaller") ||
		has_word(line, "shorter") || span_find(line, "- is better");
	if (higher == lower)
		return BETTER_UNKNOWN;
	return higher ? BETTER_HIGHER : BETTER_LOWER;
}

/* ---- titles ---- */

/* "~ hackbench ~", "== tbench ==", "o NPS1", "- Un-affined runs:", "Threads:" without the marks. */
static struct span undecorate(struct span line, bool *decorated, bool *bullet)
{
	struct span s = span_strip(span_trim(line), "~=*#| "), inner = span_trim(line);

	*decorated = s.len && s.len < inner.len;
	*bullet = s.len > 2 && strchr("o-*+>", s.s[0]) && s.s[1] == ' ';
	if (*bullet) {
		span_skip(&s, 2);
		s = span_trim(s);
	}
	return s;
}

/* Whether what is left of "(higher is better)" and the like says anything more. */
static struct span drop_remark(struct span s)
{
	const char *open = memchr(s.s, '(', s.len);

	if (open && block_better_in((struct span){open, s.len - (size_t)(open - s.s)}))
		s.len = (size_t)(open - s.s);
	return span_strip(span_trim(s), ": .");
}

const char *block_section(struct arena *a, struct span title)
{
	static const char *const filling[] = {"running", "run", "on",  "for",
					      "with",	 "of",	"the", "-"};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span bench, word, rest = drop_remark(title);
	size_t i;

	table_benchmark_in(rest, &bench);
	while (span_next_word(&rest, &word)) {
		const char *dash = memchr(word.s, '-', word.len);

		if (word.s == bench.s && (!dash || word.len < strlen("stress-ng-x")))
			continue;
		if (word.s == bench.s) {
			word.len -= (size_t)(dash + 1 - word.s);
			word.s = dash + 1;
		}
		for (i = 0; !sb.len && i < ARRAY_SIZE(filling); i++)
			if (word.len == strlen(filling[i]) &&
			    !strncasecmp(word.s, filling[i], word.len))
				break;
		if (!sb.len && i < ARRAY_SIZE(filling))
			continue;
		if (sb.len)
			strbuf_addc(&sb, ' ');
		strbuf_add(&sb, word.s, word.len);
	}
	rest = span_strip((struct span){strbuf_str(&sb), sb.len}, ": ,");
	if (table_is_parenthesis(rest))
		rest = span_strip(rest, "()");
	return rest.len ? arena_strndup(a, rest.s, rest.len) : NULL;
}

/* "Units : Normalized time" -> the text after the label, len 0 if the line is not that. */
static struct span labelled(struct span line, const char *label)
{
	size_t n = strlen(label);
	const char *colon;
	struct span none = {NULL, 0}, s = span_trim(line);

	if (s.len <= n || strncasecmp(s.s, label, n))
		return none;
	colon = memchr(s.s + n, ':', s.len - n);
	if (!colon || span_trim((struct span){s.s + n, (size_t)(colon - s.s) - n}).len)
		return none;
	return span_trim((struct span){colon + 1, s.len - (size_t)(colon + 1 - s.s)});
}

static const char *unit_in(struct arena *a, struct span line)
{
	static const char *const units[] = {"MB/s", "MB/sec", "ns", "us",   "usec", "msec",
					    "ms",   "sec",    "s",  "KB/s", "GB/s", "seconds"};
	struct span word, before = {NULL, 0};
	size_t i;

	for (; span_next_word(&line, &word); before = word) {
		bool inside = word.s[0] == '(' || word.s[0] == '[';

		word = span_strip(word, "()[],.:");
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (span_is(word, units[i]) &&
			    (inside || strlen(units[i]) > 2 || span_is(before, "in")))
				return arena_strdup(a,
						    !strcmp(units[i], "seconds") ? "s" : units[i]);
	}
	return NULL;
}

static bool is_normalised(struct span line)
{
	return has_word(line, "normalized") || has_word(line, "normalised");
}

/* Facts that a line of the context states by a label; true: it is no title then. */
static bool labelled_line(struct arena *a, struct span line, struct block_context *c)
{
	static const char *const commands[] = {"cmdline", "command", "cmd", "command line"};
	static const char *const tests[] = {"test", "benchmark", "workload"};
	struct span value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		value = labelled(line, commands[i]);
		if (value.len)
			c->command = span_join_words(a, value);
		if (value.len && table_benchmark_in(value, NULL))
			c->benchmark = table_benchmark_in(value, NULL);
		if (value.len)
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		value = labelled(line, tests[i]);
		if (!value.len)
			continue;
		c->benchmark = table_benchmark_in(value, NULL);
		if (!c->benchmark && count_words(value) == 1)
			c->benchmark = span_join_words(a, value);
		c->section = block_section(a, value);
		if (!c->section)
			c->section = c->benchmark;
		return true;
	}
	value = labelled(line, "units");
	if (!value.len)
		value = labelled(line, "unit");
	if (value.len) {
		c->normalised = is_normalised(value);
		c->unit = unit_in(a, value);
		if (!c->unit && !c->normalised)
			c->unit = span_join_words(a, value);
		return true;
	}
	value = labelled(line, "statistic");
	if (value.len)
		c->statistic = span_join_words(a, value);
	else
		value = labelled(line, "result format");
	if (value.len && !c->unit)
		c->unit = unit_in(a, value);
	if (!value.len)
		value = labelled(line, "interpretation");
	if (value.len && block_better_in(value))
		c->better = block_better_in(value);
	return value.len != 0;
}

/* "uperf throughput: netperf workload, r/w size = 90": a title however long it goes on. */
static const char *leading_benchmark(struct span s)
{
	const char *colon = memchr(s.s, ':', s.len), *comma = memchr(s.s, ',', s.len);
	struct span word, rest = s;

	if (!colon || (comma && comma < colon) || !span_next_word(&rest, &word))
		return NULL;
	s.len = (size_t)(colon - s.s);
	return count_words(s) <= 5 ? table_benchmark_in(word, NULL) : NULL;
}

/* A line short enough and set off enough to be a title. */
static bool is_title(struct span s, bool marked, bool alone)
{
	size_t words = count_words(s);
	struct span word;

	if (!words || s.len > 90 || words > 10 || strchr(".,;", s.s[s.len - 1]))
		return false;
	if (words > 5 && memchr(s.s, ',', s.len))
		return false;
	if (!isalnum((unsigned char)s.s[0]) && s.s[0] != '(')
		return false;
	if (span_starts(s, "Kernel version") || span_starts(s, "kernel version"))
		return false;
	if (span_find(s, " - ") || (span_find(s, ": ") && !block_better_in(s)))
		return false; /* a legend */
	if (marked || s.s[s.len - 1] == ':' || block_better_in(s))
		return true;
	return words <= 8 && (table_benchmark_in(s, &word) || (alone && words <= 3));
}

static bool is_blank(struct span line)
{
	return !line.len || table_is_separator(line);
}

void block_context(struct arena *a, const struct table_text *text, bool *used, size_t from,
		   size_t to, struct block_context *c)
{
	const char *benchmark = c->benchmark, *command = c->command, *named;
	size_t i;

	*c = (struct block_context){.benchmark = benchmark};
	if (to > from + 40)
		from = to - 40;
	for (i = from; i < to; i++) {
		struct span line = text->lines[i].text, title, cmd;
		bool decorated, bullet, alone;

		if (used[i] || is_blank(line))
			continue;
		if (block_better_in(line))
			c->better = block_better_in(line);
		c->positive_better |=
			span_find(line, "mprovement") && memchr(line.s, '%', line.len);
		title = undecorate(line, &decorated, &bullet);
		if (labelled_line(a, title, c))
			continue;
		named = leading_benchmark(title);
		if (named)
			c->benchmark = named;
		else
			named = table_benchmark_in(line, NULL);
		if (block_is_command(line, &cmd)) {
			c->command = span_join_words(a, cmd);
			c->benchmark = named ? named : c->benchmark;
			continue;
		}
		if (named && unit_in(a, line))
			c->unit = unit_in(a, line);
		alone = i + 1 >= to || is_blank(text->lines[i + 1].text);
		if (!title.len || !is_title(title, decorated || bullet, alone))
			continue; /* prose may name what it likes */
		c->benchmark = named ? named : c->benchmark;
		used[i] = true;
		/* a benchmark's title is the section until a nearer one says more */
		if (block_section(a, title) || decorated)
			c->section = block_section(a, title);
	}
	if (!c->command && c->benchmark == benchmark)
		c->command = command;
}

/* ---- commands and sessions ---- */

/* "-c 1 context1", "stat -r 10 ./x", "5 > /proc/...": not the rest of a sentence. */
static bool looks_like_arguments(struct span s)
{
	return !strchr(":.)", s.s[s.len - 1]) &&
	       (s.s[0] == '-' || span_find(s, " -") || memchr(s.s, '/', s.len) ||
		isdigit((unsigned char)s.s[0]) || count_words(s) == 1);
}

bool block_is_command(struct span line, struct span *command)
{
	static const char *const programs[] = {
		"perf",	 "make",      "time",	   "taskset", "numactl",
		"./Run", "schbench",  "hackbench", "tbench",  "echo",
		"sudo",	 "stress-ng", "netperf",   "sysctl",  "./schbench",
	};
	struct span s = span_trim(line), rest, word;
	const char *p;
	size_t i;
	bool prompt = false;

	rest = s;
	if (!span_next_word(&rest, &word))
		return false;
	/* "$ ", "$> ", "root@host:~/bench# ", "kepler:~/tip> " */
	p = word.s + word.len - 1;
	if (strchr("$#>%", *p) && rest.len && *rest.s == ' ' &&
	    (word.len == 1 ? *p != '>' && *p != '%' && (*p != '#' || s.len > 2)
			   : span_is(word, "$>") || memchr(word.s, ':', word.len) ||
				     memchr(word.s, '@', word.len))) {
		s = span_trim(rest);
		prompt = true;
	}
	*command = s;
	rest = s;
	if (!span_next_word(&rest, &word) || strchr("-+#", word.s[0]))
		return false;
	rest = span_trim(rest);
	for (i = 0; i < ARRAY_SIZE(programs); i++)
		if (span_is(word, programs[i]) && !prompt)
			return rest.len && looks_like_arguments(rest);
	return prompt && (word.s[0] == '.' || word.s[0] == '/' || s.s != span_trim(line).s) &&
	       isgraph((unsigned char)word.s[0]) && (prompt && line.s[0] != '#');
}

/* "echo NO_X > /debug/sched/features" -> "NO_X"; "echo 0 > /proc/sys/kernel/y" -> "y=0" */
static const char *switched(struct arena *a, struct span line)
{
	struct span command, word, value, rest, path;
	const char *slash;

	if (!block_is_command(line, &command))
		return NULL;
	rest = command;
	span_next_word(&rest, &word);
	if (span_is(word, "sudo"))
		span_next_word(&rest, &word);
	if (span_is(word, "sysctl") && span_find(rest, "=")) {
		while (span_next_word(&rest, &word))
			if (memchr(word.s, '=', word.len))
				return arena_strndup(a, word.s, word.len);
	}
	if (!span_is(word, "echo") || !span_next_word(&rest, &value) ||
	    !span_next_word(&rest, &word) || !span_is(word, ">") || !span_next_word(&rest, &path))
		return NULL;
	slash = memrchr(path.s, '/', path.len);
	if (!slash || span_find(path, "drop_caches"))
		return NULL;
	if (span_find(path, "features"))
		return arena_strndup(a, value.s, value.len);
	slash++;
	return arena_printf(a, "%.*s=%.*s", (int)(path.s + path.len - slash), slash, (int)value.len,
			    value.s);
}

const char **block_sessions(struct arena *a, const struct table_text *text)
{
	const char **at = arena_alloc_array(a, text->n + 1, sizeof(*at)), *now = NULL, *next;
	bool several = false;
	size_t i;

	for (i = 0; i < text->n; i++) {
		next = memmem(text->lines[i].text.s, text->lines[i].text.len, " > ", 3) ||
				       span_find(text->lines[i].text, "sysctl")
			       ? switched(a, text->lines[i].text)
			       : NULL;
		several |= next && now && strcmp(next, now);
		if (next)
			now = next;
		at[i] = now;
	}
	return several ? at : NULL;
}

/* ---- headings ---- */

/* Lines that belong to an output, not to what the poster wrote about it. */
static bool is_data(struct span line)
{
	struct span rest = line, word;
	double value;
	int decimals;

	if (!span_next_word(&rest, &word))
		return true;
	if (span_find(line, "percentiles") || span_find(line, "Performance counter") ||
	    span_find(line, "th:") || span_find(line, "min=") || span_find(line, "time elapsed") ||
	    span_find(line, "BASELINE") || span_find(line, "^C") || span_find(line, "samples)"))
		return true;
	if (span_is(word, "real") || span_is(word, "user") || span_is(word, "sys"))
		return true;
	return block_number(word, &value, &decimals) && rest.len;
}

static bool heading_of(struct arena *a, struct span line, struct block_heading *h)
{
	bool decorated, bullet, colon;
	struct span s = undecorate(line, &decorated, &bullet);
	const char *open;
	size_t words;

	colon = s.len && s.s[s.len - 1] == ':';
	s = span_strip(s, ": ");
	words = count_words(s);
	if (!words || words > 8 || s.len > 90 || s.s[s.len - 1] == '.' || s.s[s.len - 1] == ',')
		return false;
	if (!colon && !decorated && !bullet && words > 5)
		return false;
	open = memchr(s.s, '(', s.len);
	if (open > s.s + 1 && s.s[s.len - 1] == ')' && open[-1] == ' ') {
		struct span text = {open + 1, s.len - (size_t)(open + 2 - s.s)};

		h->description = span_join_words(a, text);
		s.len = (size_t)(open - s.s);
	}
	s = span_trim(s);
	if (!s.len || s.len > 64 || !isgraph((unsigned char)s.s[0]))
		return false;
	h->name = span_join_words(a, s);
	return true;
}

void block_heading(struct arena *a, const struct table_text *text, bool *used, size_t from,
		   size_t first, const char *const *sessions, struct block_heading *h)
{
	const char *session = sessions ? sessions[first ? first - 1 : 0] : NULL;
	struct span command, label;
	size_t i, seen = 0;

	*h = (struct block_heading){session, NULL, NULL};
	for (i = first; i > from && seen < 16;) {
		struct span line = text->lines[--i].text;

		if (is_blank(line))
			continue;
		seen++;
		label = labelled(line, "cmd");
		if (!label.len)
			label = labelled(line, "command");
		if (label.len)
			command = label;
		if (label.len || block_is_command(line, &command)) {
			if (!h->command)
				h->command = span_join_words(a, command);
			used[i] = true;
			continue;
		}
		if (is_data(line) || h->name || used[i])
			continue;
		if (heading_of(a, line, h))
			used[i] = true;
		else if (!h->name)
			break; /* prose: what stands above it is about something else */
	}
}

char *block_slug(struct arena *a, const char *text)
{
	char *s = arena_strdup(a, text), *p, *q;

	for (p = q = s; *p; p++) {
		if (isalnum((unsigned char)*p))
			*q++ = (char)tolower((unsigned char)*p);
		else if (*p == '%')
			*q++ = 'p';
		else if (q > s && q[-1] != '-')
			*q++ = '-';
	}
	while (q > s && q[-1] == '-')
		q--;
	*q = '\0';
	return s;
}

char *block_metric(struct arena *a, const char *suite, const char *what, const char *unit,
		   enum row_better better)
{
	return arena_printf(a, "%s.%s%s%s%s", suite, what, unit ? "-" : "",
			    unit ? block_slug(a, unit) : "",
			    better == BETTER_HIGHER  ? "-higher"
			    : better == BETTER_LOWER ? "-lower"
						     : "");
}

bool block_series_next(struct block_series *s, size_t first, struct block_heading *h)
{
	struct block_heading *seen;
	size_t i, given = 0;

	while (s->opt && s->opt->names && s->opt->names[given])
		given++;
	block_heading(s->a, s->text, s->used, s->gap, first, s->sessions, h);
	s->blocks++;
	if (!h->command)
		h->command = s->last.command;
	if (!h->name && !given) {
		/* a block under the heading of the one before */
		h->name = s->last.name;
		h->description = s->last.description;
	}
	for (i = 0; h->name && i < s->n; i++)
		if (table_same_words(s->seen[i].name, h->name))
			break;
	if (!h->name)
		i = s->n;
	if (i == ARRAY_SIZE(s->seen) || (given && i >= given) || (!h->name && !given)) {
		if (!s->nameless_line)
			s->nameless_line = s->text->lines[first].line;
		return false;
	}
	if (i == s->n)
		s->seen[s->n++] = *h;
	seen = &s->seen[i];
	if (!seen->name)
		seen->name = "";
	s->last = (struct block_heading){seen->name, seen->description, h->command};
	h->name = given ? s->opt->names[i] : seen->name;
	h->description = h->description ? h->description : seen->description;
	return true;
}

int block_nameless(const struct table_text *text, int line, size_t n,
		   const struct table_options *opt, struct err *e)
{
	size_t given = 0;

	while (opt && opt->names && opt->names[given])
		given++;
	if (given)
		err_add(e, -EINVAL, "--names gives %zu names, the table has %zu variants", given,
			n);
	else
		err_add(e, -EINVAL, "nothing names the %zu columns of the table", n);
	err_at(e, text->file, line, 0);
	err_hint(e, "name them in the order of the text: --names A,B%s", n > 2 ? ",..." : "");
	return -EINVAL;
}
