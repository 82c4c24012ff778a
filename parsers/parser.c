// SPDX-License-Identifier: GPL-2.0-or-later
#include "parsers/parser.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

#include "parsers/scan.h"

const char *outcome_name(enum outcome o)
{
	static const char *const names[] = {
		[OUTCOME_OK] = "ok",
		[OUTCOME_PARTIAL] = "partial",
		[OUTCOME_SUSPECT] = "suspect",
		[OUTCOME_ERROR] = "error",
	};

	return names[o];
}

const struct parser *parser_find(const char *name)
{
	const struct parser *const *p;

	registry_for_each (parser, p)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

/* Length of the UTF-8 character at s, 0 if it is none (overlong and surrogates included). */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	size_t n = *s < 0x80   ? 1
		   : *s < 0xc2 ? 0
		   : *s < 0xe0 ? 2
		   : *s < 0xf0 ? 3
		   : *s < 0xf5 ? 4
			       : 0;
	size_t i;

	if (!n || n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/*
 * Length of a terminal's escape sequence: "\033[1;32m" and other CSI sequences, titles
 * "\033]0;...\007", two-character ones. Never longer than its line.
 */
static size_t escape_length(const unsigned char *s, size_t len)
{
	size_t i = 2;

	if (len < 2 || s[1] == '\n')
		return 1;
	if (s[1] == '[') {
		while (i < len && s[i] >= 0x20 && s[i] < 0x40)
			i++;
		return i < len && s[i] >= 0x40 && s[i] < 0x7f ? i + 1 : i;
	}
	if (s[1] == ']') {
		while (i < len && s[i] != '\n' && s[i] != '\a')
			i++;
		return i < len && s[i] == '\a' ? i + 1 : i;
	}
	return 2;
}

static bool is_utf16_or_32(struct span t)
{
	return t.len >= 2 && (!memcmp(t.s, "\xff\xfe", 2) || !memcmp(t.s, "\xfe\xff", 2) ||
			      (t.len >= 4 && !memcmp(t.s, "\0\0\xfe\xff", 4)));
}

/* How many of the bytes in front are printed as they are: blanks and printing ASCII, eight a time.
 */
static size_t plain_length(const unsigned char *s, const unsigned char *end)
{
	const uint64_t ones = 0x0101010101010101, high = ones * 0x80;
	const unsigned char *p = s;
	uint64_t w;

	for (; end - p >= 8; p += 8) {
		memcpy(&w, p, 8);
		/* a byte below ' ', above '~' (DEL is the only one without its high bit) */
		if (((w - ones * ' ') | (w + ones) | w) & high)
			break;
	}
	return (size_t)(p - s);
}

/*
 * The text as a benchmark meant it: without byte order mark, colour codes, NULs and other control
 * characters, lines ending in "\n", valid UTF-8. odd counts the bytes that are not text.
 */
static struct span parser_clean(struct arena *a, struct span text, size_t *odd)
{
	const unsigned char *s = (const unsigned char *)text.s, *end = s + text.len, *start;
	char *out, *p;
	size_t n;

	*odd = 0;
	if (text.len >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3;
	/* most texts are clean, and large ones cost more to copy than to read */
	for (start = s; s < end; s += n) {
		n = plain_length(s, end);
		if (!n && ((*s >= ' ' && *s < 0x7f) || *s == '\n' || *s == '\t'))
			n = 1;
		if (!n)
			break;
	}
	if (s == end)
		return (struct span){(const char *)start, (size_t)(end - start)};
	out = arena_alloc(a, (size_t)(end - start) + 1);
	p = out + (s - start);
	memcpy(out, start, (size_t)(s - start));
	for (; s < end; s += n) {
		n = plain_length(s, end);
		if (n) {
			memcpy(p, s, n);
			p += n;
			continue;
		}
		n = 1;
		if (*s == 033) {
			n = escape_length(s, (size_t)(end - s));
		} else if (*s == '\r') {
			/* alone it rewrites a line of the terminal: each version is a line here */
			if (s + 1 == end || (s[1] != '\n' && s[1] != '\r'))
				*p++ = '\n';
		} else if (*s == '\v' || *s == '\f') {
			*p++ = ' ';
		} else if ((*s < 0x20 && *s != '\n' && *s != '\t') || *s == 0x7f) {
			++*odd;
		} else if ((n = utf8_length(s, (size_t)(end - s)))) {
			memcpy(p, s, n);
			p += n;
		} else {
			n = 1;
			++*odd;
			*p++ = '?';
		}
	}
	return (struct span){out, (size_t)(p - out)};
}

static const struct {
	const char *error, *message;
} parser_messages[] = {
	{"binary", "the input is not text, or not in UTF-8"},
	{"command_not_found", "the program was not found (exit status 127)"},
	{"crashed", "the benchmark was ended by a signal"},
	{"empty", "there is no output"},
	{"hang", "the deadline came before the result"},
	{"interrupted", "the benchmark was stopped by SIGINT or SIGTERM"},
	{"killed", "the benchmark was killed by SIGKILL"},
	{"no_result", "the output holds no result of this benchmark"},
	{"truncated", "the output breaks off before the result"},
};

static void run_fail(struct parse_run *run, const char *error)
{
	size_t i;

	run->outcome = OUTCOME_ERROR;
	run->error = error;
	run->values.n = run->series.n = 0;
	for (i = 0; i < ARRAY_SIZE(parser_messages); i++)
		if (!strcmp(error, parser_messages[i].error))
			run->message = parser_messages[i].message;
}

/* The class of a run's end, NULL if it ended by itself. */
static const char *end_class(const struct parse_input *in)
{
	switch (in->signal) {
	case 0:
		return in->exit_status == 124	? "hang"
		       : in->exit_status == 127 ? "command_not_found"
						: NULL;
	case SIGINT:
	case SIGTERM:
		return "interrupted";
	case SIGKILL:
		return "killed";
	}
	return "crashed";
}

/* Exit status and signal are those of the last run of the text. */
static void judge_last(struct arena *a, const struct parser *p, const struct parse_input *in,
		       struct parse_run *run)
{
	const char *end = end_class(in);

	if (run->outcome == OUTCOME_ERROR) {
		if (run->error)
			return;
		if (!end && !span_trim(in->text).len)
			end = "empty";
		if (!end && in->text.s[in->text.len - 1] != '\n')
			end = "truncated";
		run_fail(run, end ? end : "no_result");
	} else if (p->keeps_blocks && (in->signal || in->exit_status == 124)) {
		run->outcome = OUTCOME_PARTIAL;
		run->message =
			"the run was ended from outside; the values are those of its last block";
	} else if (in->signal) {
		run_fail(run, end);
	} else if (in->exit_status > 0 && run->outcome == OUTCOME_OK) {
		run->outcome = OUTCOME_SUSPECT;
		run->message = arena_printf(a, "the output is complete, but the exit status is %d",
					    in->exit_status);
	}
}

static void join_runs(struct arena *a, struct parse_result *result)
{
	const struct parse_run *run, *first_error = NULL, *first_bad = NULL;
	size_t counts[OUTCOME_ERROR + 1] = {0};

	array_for_each (run, &result->runs) {
		counts[run->outcome]++;
		if (run->outcome == OUTCOME_ERROR && !first_error)
			first_error = run;
		if (run->outcome != OUTCOME_OK && !first_bad)
			first_bad = run;
	}
	if (!first_bad)
		return;
	if (counts[OUTCOME_ERROR] == result->runs.n)
		result->outcome = OUTCOME_ERROR;
	else if (counts[OUTCOME_SUSPECT] == result->runs.n)
		result->outcome = OUTCOME_SUSPECT;
	else
		result->outcome = OUTCOME_PARTIAL;
	if (result->outcome == OUTCOME_ERROR)
		result->error = first_error->error;
	result->message =
		result->runs.n == 1
			? first_bad->message
			: arena_printf(a, "%zu of %zu runs are ok; run %zu: %s", counts[OUTCOME_OK],
				       result->runs.n, (size_t)(first_bad - result->runs.items) + 1,
				       first_bad->message);
}

/* Results before diagnostics, each in the order of the text. */
static void sort_values(struct arena *a, struct parse_run *run)
{
	struct parse_value *sorted = arena_alloc_array(a, run->values.n, sizeof(*sorted));
	const struct parse_value *v;
	size_t n = 0, pass;

	for (pass = 0; pass < 2; pass++)
		array_for_each (v, &run->values)
			if ((v->role == ROLE_DIAGNOSTIC) == (pass == 1))
				sorted[n++] = *v;
	run->values.items = sorted;
	run->values.alloc = n;
}

struct parse_result *parser_run(struct arena *a, const struct parser *p,
				const struct parse_input *input)
{
	struct parse_result *result = arena_alloc(a, sizeof(*result));
	struct parse_input in = *input;
	struct parse_run *run;
	size_t odd;

	result->benchmark = p->name;
	/* a shell's way to tell a signal */
	if (!in.signal && in.exit_status > 128 && in.exit_status < 128 + SIGRTMAX) {
		in.signal = in.exit_status - 128;
		in.exit_status = -1;
	}
	in.text = parser_clean(a, input->text, &odd);
	if (is_utf16_or_32(input->text) || odd > input->text.len / 20) {
		run_fail(SCAN_PUSH(a, &result->runs), "binary");
	} else {
		p->parse(a, &in, result);
		if (!result->runs.n)
			SCAN_PUSH(a, &result->runs)->outcome = OUTCOME_ERROR;
		array_for_each (run, &result->runs)
			if (run != result->runs.items + result->runs.n - 1 &&
			    run->outcome == OUTCOME_ERROR && !run->error)
				run_fail(run, "no_result");
		judge_last(a, p, &in, run - 1);
		array_for_each (run, &result->runs)
			sort_values(a, run);
	}
	join_runs(a, result);
	return result;
}

const struct parser *parser_recognise(struct span text)
{
	const struct parser *const *p, *best = NULL;
	int certainty = 49;

	registry_for_each (parser, p) {
		int c = (*p)->recognise(text);

		if (c > certainty) {
			certainty = c;
			best = *p;
		}
	}
	return best;
}

struct span parser_unquote(struct arena *a, struct span text)
{
	const char *s = text.s, *end = text.s + text.len;
	char *out = arena_alloc(a, text.len + 1), *p = out;

	while (s < end) {
		const char *mark = s, *line;
		size_t n;

		/* "> ", ">>", "> > "; one blank after the last mark belongs to it */
		for (line = s; mark < end && (*mark == '>' || *mark == ' '); mark++)
			if (*mark == '>')
				line = mark + 1;
		if (line > s && line < end && *line == ' ')
			line++;
		s = memchr(line, '\n', (size_t)(end - line));
		s = s ? s + 1 : end;
		n = (size_t)(s - line);
		memcpy(p, line, n);
		p += n;
	}
	return (struct span){out, (size_t)(p - out)};
}
