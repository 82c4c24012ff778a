// SPDX-License-Identifier: GPL-2.0-or-later
#include "parsers/scan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/num.h"

void *scan_grow(struct arena *a, void *items, size_t n, size_t *alloc, size_t size)
{
	void *more;

	if (n < *alloc)
		return items;
	*alloc = n ? n * 2 : 4;
	more = arena_alloc_array(a, *alloc, size);
	if (n)
		memcpy(more, items, n * size);
	return more;
}

bool scan_line(struct scan *s)
{
	bool complete;

	if (!span_next_line(&s->rest, &s->line, &complete))
		return false;
	s->cut = !complete;
	return true;
}

json_t *scan_json(struct scan *s)
{
	enum { BROKEN_JSON = 8 };
	json_error_t e;
	json_t *root;

	if (s->broken_json >= BROKEN_JSON || !s->rest.len || *s->rest.s != '{')
		return NULL;
	root = json_loadb(s->rest.s, s->rest.len, JSON_DISABLE_EOF_CHECK, &e);
	if (!root) {
		s->broken_json++;
		return NULL;
	}
	s->rest.s += e.position;
	s->rest.len -= (size_t)e.position;
	return root;
}

struct parse_run *scan_run(struct scan *s)
{
	if (!s->run)
		s->run = SCAN_PUSH(s->a, &s->result->runs);
	return s->run;
}

/* What a person reads of a line: at most so many bytes, whole characters, no blanks around. */
static const char *scan_quote(struct scan *s, struct span line)
{
	enum { LONGEST = 120 };
	size_t n;

	line = span_trim(line);
	n = MIN(line.len, (size_t)LONGEST);
	while (n && n < line.len && ((unsigned char)line.s[n] & 0xc0) == 0x80)
		n--;
	return arena_printf(s->a, "the output says: %.*s%s", (int)n, n ? line.s : "",
			    n < line.len ? "..." : "");
}

static void scan_fail(struct parse_run *run, const char *error, const char *message)
{
	run->outcome = OUTCOME_ERROR;
	run->error = error;
	run->message = message;
	run->values.n = 0;
	run->series.n = 0;
}

void scan_end_run(struct scan *s)
{
	const struct scan_reason *r = s->reason;

	if (!s->run)
		return;
	/* Without memory a benchmark may still finish: then the figure is only doubtful. */
	if (r && s->figure && (s->blocks || !strcmp(r->error, "resource_limit_mem"))) {
		s->doubt = scan_quote(s, s->reason_line);
		r = NULL;
	}
	if (r)
		scan_fail(s->run, r->error, scan_quote(s, s->reason_line));
	else if (s->error)
		scan_fail(s->run, s->error, s->error_message);
	else if (!s->figure)
		scan_fail(s->run, NULL, NULL);
	else
		s->run->outcome = s->partial ? OUTCOME_PARTIAL
				  : s->doubt ? OUTCOME_SUSPECT
					     : OUTCOME_OK;
	if (s->run->outcome != OUTCOME_ERROR)
		s->run->message = s->partial ? s->partial : s->doubt;
	s->run = NULL;
	s->reason = NULL;
	s->error = s->partial = s->doubt = NULL;
	s->figure = false;
}

static bool reason_matches(const struct scan_reason *r, struct span line)
{
	if (*r->text == '^'   ? !span_starts(line, r->text + 1)
	    : *r->text == '=' ? !span_is(line, r->text + 1)
			      : !span_find(line, r->text))
		return false;
	return !r->also || span_find(line, r->also);
}

/*
 * Most texts name none: one search of a good part of the text, from the current line on, saves
 * those of its lines. Lines that a parser knows are never asked for here: long stretches of them
 * are not searched at all.
 */
static void find_named(struct scan *s)
{
	enum { PART = 64 << 10 };
	const char *end = s->rest.s + s->rest.len;
	struct span part = {s->line.s, (size_t)(end - s->line.s)};
	const struct scan_reason *r;

	part.len = MIN(part.len, MAX(s->line.len, (size_t)PART));
	s->named = 0;
	s->named_end = part.s + part.len;
	for (r = s->reasons; r->text; r++)
		if (span_find(part, r->text + (*r->text == '^' || *r->text == '=')))
			s->named |= 1u << (r - s->reasons);
}

const struct scan_reason *scan_names_reason(struct scan *s)
{
	uint32_t left;

	if (!s->named_end || s->line.s + s->line.len > s->named_end)
		find_named(s);
	for (left = s->named; left; left &= left - 1) {
		const struct scan_reason *r = s->reasons + __builtin_ctz(left);

		if (reason_matches(r, s->line))
			return r;
	}
	return NULL;
}

bool scan_find_reason(struct scan *s)
{
	const struct scan_reason *r = scan_names_reason(s);

	if (!r)
		return false;
	scan_run(s);
	if (!s->reason || r < s->reason) {
		s->reason = r;
		s->reason_line = s->line;
	}
	return true;
}

void scan_error_of(struct scan *s, const char *error, struct span line)
{
	scan_run(s);
	/* what signal and exit status say weighs more than a cut: parser_run() finds it */
	if (s->error || !strcmp(error, "truncated"))
		return;
	s->error = error;
	s->error_message = scan_quote(s, line);
}

void scan_error(struct scan *s, const char *error)
{
	scan_error_of(s, error, s->line);
}

void scan_value(struct scan *s, enum value_role role, const char *unit, double v, const char *fmt,
		...)
{
	struct parse_value *value = SCAN_PUSH(s->a, &scan_run(s)->values);
	va_list ap;

	va_start(ap, fmt);
	value->metric = arena_vprintf(s->a, fmt, ap);
	va_end(ap);
	value->value = v;
	value->unit = unit;
	value->role = role;
}

void scan_param(struct scan *s, struct span text, const char *fmt, ...)
{
	struct parse_param *param = SCAN_PUSH(s->a, &scan_run(s)->params);
	va_list ap;
	double v;

	va_start(ap, fmt);
	param->name = arena_vprintf(s->a, fmt, ap);
	va_end(ap);
	param->text = arena_strndup(s->a, text.s, text.len);
	param->is_number = num_parse(text, &v);
}

bool scan_param_number(const struct scan *s, const char *name, double *v)
{
	const struct parse_param *p;

	array_for_each (p, &s->run->params)
		if (!strcmp(p->name, name))
			return num_parse(span_of(p->text), v);
	return false;
}

struct parse_series *scan_series(struct scan *s, const char *metric, const char *unit, size_t n,
				 const double *t, const double *v)
{
	struct parse_series *series = SCAN_PUSH(s->a, &scan_run(s)->series);

	*series = (struct parse_series){metric, unit, t, v, n};
	return series;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool scan_match(struct span line, const char *format, ...)
{
	const char *p = line.s, *end = line.s + line.len, *f;
	va_list ap;
	bool ok = true;

	while (end > p && is_blank(end[-1]))
		end--;
	va_start(ap, format);
	for (f = format; ok && *f; f++) {
		if (*f == ' ') {
			ok = f == format || (p < end && is_blank(*p));
			while (p < end && is_blank(*p))
				p++;
		} else if (*f == '%' && f[1] != '%') {
			struct span *out = va_arg(ap, struct span *);

			out->s = p;
			if (*++f == '*')
				p = end;
			else
				while (p < end && !is_blank(*p) && (*p != f[1] || p == out->s))
					p++;
			out->len = (size_t)(p - out->s);
			ok = *f == '*' || out->len;
		} else {
			f += *f == '%';
			ok = p < end && *p++ == *f;
		}
	}
	va_end(ap);
	return ok && p == end;
}

/* Above these a figure is a wrapped counter or a garbled text. */
static double scan_limit(const char *unit)
{
	static const struct {
		const char *unit;
		double limit;
	} limits[] = {{"s", 1e7}, {"ms", 1e10}, {"us", 1e13}, {"MB/s", 1e9}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		if (!strcmp(unit, limits[i].unit))
			return limits[i].limit;
	return INFINITY;
}

static int count_decimals(struct span word)
{
	const char *dot = memchr(word.s, '.', word.len);

	return dot ? (int)(word.s + word.len - dot) - 1 : 0;
}

const char *scan_figure(const struct scan *s, struct span word, const char *unit, int decimals,
			double *v)
{
	bool open = s->cut && word.s + word.len == s->line.s + s->line.len;
	char last = word.len ? word.s[word.len - 1] : '.';

	if (!num_parse(word, v))
		return open && strchr(".eE+-", last) ? "truncated" : "bad_number";
	if (signbit(*v))
		return "bad_number";
	if (open && (decimals == ANY_DECIMALS || count_decimals(word) < decimals))
		return "truncated";
	return *v > scan_limit(unit) ? "out_of_range" : NULL;
}

bool scan_result(struct scan *s, struct span word, const char *metric, const char *unit,
		 int decimals, bool zero)
{
	double v;
	const char *error = scan_figure(s, word, unit, decimals, &v);

	if (!error && v == 0 && !zero)
		error = "zero_result";
	if (error) {
		scan_error(s, error);
		return false;
	}
	scan_value(s, ROLE_RESULT, unit, v, "%s", metric);
	return true;
}

bool scan_after(struct span *rest, const char *label)
{
	const char *at = span_find(*rest, label);

	if (!at)
		return false;
	at += strlen(label);
	rest->len -= (size_t)(at - rest->s);
	rest->s = at;
	return true;
}

bool scan_is_figure(struct span w)
{
	if (w.len && (*w.s == '-' || *w.s == '+'))
		w.s++, w.len--;
	return w.len &&
	       (isdigit((unsigned char)*w.s) || span_starts(w, "nan") || span_starts(w, "inf"));
}

bool scan_has_digit(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (isdigit((unsigned char)text.s[i]))
			return true;
	return false;
}

const char *scan_duration(const struct scan *s, struct span word, int decimals, double *v)
{
	static const char units[] = "hms";
	static const double seconds[] = {3600, 60, 1};
	bool colons = memchr(word.s, ':', word.len);
	size_t next = 0; /* units come in this order, each at most once */
	double part, total = 0;

	do {
		const char *error, *unit;
		size_t n = 0;

		while (n < word.len && !strchr("hms:", word.s[n]))
			n++;
		error = scan_figure(s, (struct span){word.s, n}, "s", decimals, &part);
		if (error)
			return error;
		unit = n < word.len ? strchr(units, word.s[n]) : NULL;
		if (unit && !colons && (size_t)(unit - units) >= next) {
			next = (size_t)(unit - units) + 1;
			total += part * seconds[next - 1];
		} else if (colons && !unit) {
			total = total * 60 + part;
		} else if (n == word.len && !next) {
			total = part;
		} else {
			/* "0m18.0": the letter of the seconds is missing */
			return n == word.len && s->cut ? "truncated" : "bad_number";
		}
		n += n < word.len;
		span_skip(&word, n);
		while (word.len && is_blank(*word.s))
			word.s++, word.len--;
	} while (word.len);
	*v = total;
	return total > scan_limit("s") ? "out_of_range" : NULL;
}

/* One word of a shell command line; quotes and backslashes are removed into out. */
static size_t split_word(const char *p, char *out, size_t *len)
{
	const char *start = p;
	char quote = 0;

	*len = 0;
	for (; *p; p++) {
		if (quote && *p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (!quote && *p == '$' && p[1] == '\'') {
			continue;
		} else if (!quote && strchr(" \t\n;&|", *p)) {
			break;
		} else {
			if (*p == '\\' && p[1] && quote != '\'')
				p++;
			out[(*len)++] = *p;
		}
	}
	return (size_t)(p - start);
}

struct span *scan_split(struct arena *a, const char *command, size_t *n)
{
	ARRAY_OF(struct span) words = {NULL, 0, 0};
	char *out = arena_alloc(a, strlen(command) + 1);
	const char *p = command;
	size_t len;

	while (*p) {
		if (is_blank(*p)) {
			p++;
		} else if (strchr(";&|\n", *p)) {
			SCAN_PUSH(a, &words)->s = NULL;
			p++;
		} else {
			p += split_word(p, out, &len);
			*SCAN_PUSH(a, &words) = (struct span){out, len};
			out += len;
		}
	}
	*n = words.n;
	return words.items;
}

/* "/usr/bin/time" is "time". */
static bool is_program(struct span word, const char *program)
{
	size_t n = strlen(program);

	if (!word.s || word.len < n || memcmp(word.s + word.len - n, program, n))
		return false;
	return word.len == n || word.s[word.len - n - 1] == '/';
}

static const struct scan_option *find_option(const struct scan_option *options, struct span name)
{
	for (; options->letter || options->name; options++)
		if (options->name && span_is(name, options->name))
			return options;
	return NULL;
}

/* "--groups=4" or "--groups 4"; returns how many words it took. */
static size_t ask_long(const struct scan_option *options, const struct span *w,
		       const struct span *end, struct scan_asked *out)
{
	const char *eq = memchr(w->s, '=', w->len);
	struct span name = {w->s + 2, (eq ? (size_t)(eq - w->s) : w->len) - 2};
	const struct scan_option *o = find_option(options, name);

	if (!o)
		return 1;
	if (eq)
		out->option[o - options] = (struct span){eq + 1, w->len - (size_t)(eq + 1 - w->s)};
	else if (w + 1 < end)
		out->option[o - options] = w[1];
	return eq ? 1 : 2;
}

/* "-g4", "-g 4", "-Tg 4". */
static size_t ask_short(const struct scan_option *options, const struct span *w,
			const struct span *end, struct scan_asked *out)
{
	size_t i;

	for (i = 1; i < w->len; i++) {
		const struct scan_option *o = options;

		while ((o->letter || o->name) && o->letter != w->s[i])
			o++;
		if (!o->letter)
			continue;
		if (i + 1 < w->len)
			out->option[o - options] = (struct span){w->s + i + 1, w->len - i - 1};
		else if (w + 1 < end)
			out->option[o - options] = w[1];
		return i + 1 < w->len ? 1 : 2;
	}
	return 1;
}

static const struct span *find_call(const struct span *words, size_t n, const char *program)
{
	const struct span *w, *found = NULL;

	for (w = words; w < words + n; w++) {
		if (!is_program(*w, program))
			continue;
		if (found)
			return NULL;
		found = w;
	}
	return found;
}

void scan_ask(struct scan *s, const char *program, const struct scan_option *options,
	      bool until_operand)
{
	const struct span *words, *end, *w;
	size_t n, operands = 0;

	if (!s->in->command)
		return;
	words = scan_split(s->a, s->in->command, &n);
	w = find_call(words, n, program);
	if (!w)
		return;
	for (end = ++w; end < words + n && end->s; end++)
		;
	while (w < end) {
		if (span_starts(*w, "--") && w->len > 2) {
			w += ask_long(options, w, end, &s->asked);
		} else if (span_starts(*w, "-") && w->len > 1) {
			w += ask_short(options, w, end, &s->asked);
		} else {
			if (until_operand)
				break;
			if (operands < SCAN_OPERANDS)
				s->asked.operand[operands++] = *w;
			w++;
		}
	}
}

void scan_expect(struct scan *s, struct span asked, int times, const char *param)
{
	int64_t want;
	double got;

	if (!asked.s || !num_parse_int(asked, &want) || !scan_param_number(s, param, &got))
		return;
	if ((double)want * times != got)
		s->doubt = arena_printf(s->a, "%s is %g, but the command line asks for %lld", param,
					got, (long long)want * times);
}

bool scan_has_line(struct span text, const char *prefix)
{
	struct span line;

	while (span_next_line(&text, &line, NULL))
		if (span_starts(span_trim(line), prefix))
			return true;
	return false;
}
