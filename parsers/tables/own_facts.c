// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The facts of our own mails. Each starts with a key and is continued below its text, but for the
 * legend by no word that is a key or a variant's letter, so that lost blanks do not matter:
 *
 *	metric   tbench throughput, MB/s, higher is better; Hmean, n = 5 boots
 *	change   kernel / A - 1 of the means; + is better
 *	A        5.17-rc1          vanilla, the baseline
 *	B        "rc1 + overload"  A + the overload patch
 *	machine  4 CPUs, one node
 *	command  tbench -t 60 1 127.0.0.1 (and the same with the other clients)
 */
#include "parsers/tables/own.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "stats/stats.h"

char *own_join(struct arena *a, const struct table_text *text, size_t from, size_t to)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, word;

	for (; from < to; from++) {
		rest = text->lines[from].text;
		while (span_next_word(&rest, &word)) {
			if (sb.len)
				strbuf_addc(&sb, ' ');
			strbuf_add(&sb, word.s, word.len);
		}
	}
	return arena_strdup(a, strbuf_str(&sb));
}

const char *own_unit(struct arena *a, struct span printed)
{
	return span_is(printed, "seconds") ? "s" : arena_strndup(a, printed.s, printed.len);
}

int own_id(const struct own_facts *f, struct span word)
{
	size_t value = 0, i;

	for (i = 0; i < word.len && i < 4; i++) {
		if (word.s[i] < 'A' || word.s[i] > 'Z')
			return -1;
		value = value * 26 + (size_t)(word.s[i] - 'A' + 1);
	}
	return i && i == word.len && value <= f->n ? (int)value - 1 : -1;
}

const struct own_metric *own_metric_find(const struct own_facts *f, const char *benchmark,
					 const char *name)
{
	const struct own_metric *m, *only = NULL;
	size_t n = 0;

	array_for_each (m, &f->metrics) {
		if (strcmp(m->benchmark, benchmark))
			continue;
		if (!strcmp(m->name, name))
			return m;
		only = m;
		n++;
	}
	return !*name && n == 1 ? only : NULL;
}

void own_facts_release(struct own_facts *f)
{
	ARRAY_FREE(&f->metrics);
	ARRAY_FREE(&f->benchmarks);
	ARRAY_FREE(&f->commands);
}

/* ---- metric lines ---- */

static const struct {
	const char *words;
	enum row_better better;
} directions[] = {
	{"higher is better", BETTER_HIGHER},
	{"lower is better", BETTER_LOWER},
	{"neither direction is better", BETTER_UNKNOWN},
	{"which direction is better depends on the load", BETTER_UNKNOWN},
	{"which direction is better is not known", BETTER_UNKNOWN},
};

/* "5 boots", "7 runs of A and 3 of B", "4 to 5 boots": bytes taken, 0 if it is none of them. */
static size_t take_units(const char *s, int n[2])
{
	static const char *const words[] = {"boots", "boot", "runs", "run"};
	char *end;
	long low = strtol(s, &end, 10), high = low;
	const char *p = end;
	size_t i;

	if (p == s || low < 1 || low > 1000000)
		return 0;
	if (str_starts(p, " to ")) {
		high = strtol(p + 4, &end, 10);
		p = end;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (*p == ' ' && str_starts(p + 1, words[i]))
			break;
	if (i == ARRAY_SIZE(words))
		return 0;
	p += 1 + strlen(words[i]);
	n[0] = n[1] = high == low ? (int)low : 0;
	if (str_starts(p, " of A and ")) {
		long other = strtol(p + 10, &end, 10);

		if (end == p + 10 || !str_starts(end, " of B") || other < 0 || other > 1000000)
			return 0;
		n[1] = (int)other;
		p = end + 5;
	}
	return (size_t)(p - s);
}

/* "Hmean, n = 5 boots", "Hmean per row": bytes taken, 0 if it is no such thing. */
static size_t take_mean(struct arena *a, const char *s, struct own_metric *m)
{
	enum mean_kind kind;
	size_t len = strcspn(s, ", "), units;

	m->mean = arena_strndup(a, s, len);
	m->n[0] = m->n[1] = 0;
	if (!mean_kind_parse(m->mean, &kind))
		return 0;
	if (str_starts(s + len, " per row"))
		return len + 8;
	if (!str_starts(s + len, ", n = "))
		return 0;
	units = take_units(s + len + 6, m->n);
	return units ? len + 6 + units : 0;
}

/* "tbench throughput, max_latency, MB/s, higher is better" */
static bool take_names(struct arena *a, struct own_facts *f, struct span head,
		       struct own_metric *like)
{
	char *s = arena_strndup(a, head.s, head.len), *p, *name;
	const char *last = NULL;
	size_t i, len = strlen(s), n = 0;

	for (i = 0; i < ARRAY_SIZE(directions) && !str_ends(s, directions[i].words); i++)
		;
	p = strchr(s, ' ');
	if (i == ARRAY_SIZE(directions) || !p)
		return false;
	len -= strlen(directions[i].words);
	if (len < 2 || s[len - 1] != ' ' || s[len - 2] != ',' || s + len - 2 <= p)
		return false;
	s[len - 2] = *p = '\0';
	like->better = directions[i].better;
	like->benchmark = s;
	/* the last one is the unit */
	for (name = p + 1; name; name = p ? p + 2 : NULL) {
		p = strstr(name, ", ");
		if (p)
			*p = '\0';
		last = name;
		like->name = name;
		*ARRAY_PUSH(&f->metrics) = *like;
		n++;
	}
	/* a single one is no unit */
	if (n == 1)
		last = "no unit";
	else
		f->metrics.n--, n--;
	for (i = f->metrics.n - n; i < f->metrics.n; i++)
		f->metrics.items[i].unit =
			strcmp(last, "no unit") ? own_unit(a, span_of(last)) : "";
	for (i = 0; i < f->benchmarks.n && strcmp(f->benchmarks.items[i], s); i++)
		;
	if (i == f->benchmarks.n)
		*ARRAY_PUSH(&f->benchmarks) = s;
	return true;
}

static bool read_metrics(struct arena *a, struct own_facts *f, const char *s)
{
	const char *semicolon, *from = s;
	struct own_metric m;
	size_t taken;

	for (semicolon = s; (semicolon = strstr(semicolon, "; ")); semicolon += 2) {
		m = (struct own_metric){0};
		taken = take_mean(a, semicolon + 2, &m);
		if (!taken)
			continue;
		if (!take_names(a, f, (struct span){from, (size_t)(semicolon - from)}, &m))
			return false;
		from = semicolon + 2 + taken;
		if (!*from)
			return true;
		if (*from++ != ' ')
			return false;
	}
	return false;
}

/* ---- keys ---- */

struct keys {
	struct arena *a;
	const struct table_text *text;
	size_t from, to;
	bool squeezed; /* continued lines stand as far left as keys */
	size_t indent; /* of keys, where they are not squeezed */
	int depth;     /* lines of fewer quote marks were wrapped off the line above */
};

static bool has_key(const struct keys *k, size_t i, const char *key)
{
	struct span line = k->text->lines[i].text;
	size_t len = strlen(key);

	if (k->text->lines[i].depth < k->depth)
		return false;
	if (k->squeezed)
		line = span_trim(line);
	else
		span_skip(&line, MIN(k->indent, line.len));
	return line.len > len && !memcmp(line.s, key, len) && line.s[len] == ' ';
}

/* Text of the key at line i, up to line `to`. */
static char *key_text(const struct keys *k, size_t i, size_t to, const char *key)
{
	char *s = own_join(k->a, k->text, i, to);

	s += strlen(key);
	return s + (*s == ' ');
}

static size_t find_key(const struct keys *k, size_t from, const char *key)
{
	while (from < k->to && !has_key(k, from, key))
		from++;
	return from;
}

static char *letters(struct arena *a, size_t i)
{
	char buf[8], *p = buf + sizeof(buf);

	*--p = '\0';
	for (i++; i && p > buf; i = (i - 1) / 26)
		*--p = (char)('A' + (i - 1) % 26);
	return arena_strdup(a, p);
}

/* ---- legend ---- */

/* The name at the start of *s, which moves behind it: quoted where it has blanks. */
static const char *take_name(struct arena *a, const char **s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *p = *s;

	if (*p == '"') {
		for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
			strbuf_addc(&sb, *p);
			p += *p == '"';
		}
		p += *p == '"';
	} else {
		strbuf_add(&sb, p, strcspn(p, " "));
		p += sb.len;
	}
	*s = p + (*p == ' ');
	return arena_strdup(a, strbuf_str(&sb));
}

/* What is known of a variant: "6.1.0, commit 0123456789ab, the baseline" */
static void read_variant(struct arena *a, struct own_facts *f, size_t i, const char *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *end;
	size_t k;

	f->names[i] = take_name(a, &s);
	s += str_starts(s, "- ") ? 2 : 0;
	for (k = 0; k < i && strcmp(f->names[k], f->names[i]); k++)
		;
	if (k < i || !*f->names[i])
		f->names[i] = arena_printf(a, "%s (%s)", f->names[i], f->ids[i]);
	for (; *s; s = *end ? end + 2 : end) {
		end = strstr(s, ", ");
		end = end ? end : s + strlen(s);
		if (!i && !*end && !strcmp(s, "the baseline"))
			break;
		if (str_starts(s, "commit ") && !f->commits[i]) {
			f->commits[i] = arena_strndup(a, s + 7, (size_t)(end - s - 7));
			f->has_commits = true;
			continue;
		}
		strbuf_addf(&sb, "%s%.*s", sb.len ? ", " : "", (int)(end - s), s);
	}
	f->descriptions[i] = sb.len ? arena_strdup(a, strbuf_str(&sb)) : NULL;
}

/* "A - 1 of the means", "A and 3 of B": a line that continues a formula or a number of runs */
static bool is_formula(const struct keys *k, size_t i)
{
	struct span rest = span_trim(k->text->lines[i].text), word, next;

	span_next_word(&rest, &word);
	if (!span_next_word(&rest, &word))
		return true;
	return span_is(word, "-") || span_is(word, "/") || span_is(word, "is") ||
	       (span_is(word, "and") && span_next_word(&rest, &next) &&
		isdigit((unsigned char)next.s[0]));
}

static const char *const late_keys[] = {"differs", "machine", "command", "missing", "marks",
					"columns", "noise",   "source",  "stopped", "note"};

static size_t late_line(const struct keys *k, size_t from, size_t least, size_t *which)
{
	size_t i;

	for (; from < k->to; from++)
		for (i = least; i < ARRAY_SIZE(late_keys); i++)
			if (has_key(k, from, late_keys[i])) {
				*which = i;
				return from;
			}
	return from;
}

static bool read_legend(const struct keys *k, struct own_facts *f, size_t first, size_t *end)
{
	size_t n = 0, most = k->to - first + 1, i, which, line, *lines;

	lines = arena_alloc_array(k->a, most, sizeof(*lines));
	for (line = first; line < k->to && n < most; line = find_key(k, line + 1, letters(k->a, n)))
		lines[n++] = line;
	if (n < 2)
		return false;
	*end = late_line(k, lines[n - 1] + 1, 0, &which);
	f->n = n;
	f->ids = arena_alloc_array(k->a, n, sizeof(*f->ids));
	f->names = arena_alloc_array(k->a, n, sizeof(*f->names));
	f->descriptions = arena_alloc_array(k->a, n, sizeof(*f->descriptions));
	f->commits = arena_alloc_array(k->a, n, sizeof(*f->commits));
	for (i = 0; i < n; i++) {
		f->ids[i] = letters(k->a, i);
		read_variant(k->a, f, i,
			     key_text(k, lines[i], i + 1 < n ? lines[i + 1] : *end, f->ids[i]));
	}
	return true;
}

static void read_late(const struct keys *k, struct own_facts *f, size_t line, struct table_set *set)
{
	size_t which = 0, next_which = 0, next;

	for (line = late_line(k, line, 0, &which); line < k->to; line = next, which = next_which) {
		next = late_line(k, line + 1, which, &next_which);
		if (!strcmp(late_keys[which], "machine"))
			tables_fact(k->a, set, "machine",
				    span_of(key_text(k, line, next, "machine")));
		else if (!strcmp(late_keys[which], "command"))
			*ARRAY_PUSH(&f->commands) = key_text(k, line, next, "command");
	}
}

static bool read_all(struct keys *k, struct own_facts *f, struct table_set *set)
{
	static const char *const rules[] = {"change", "norm", "block"};
	size_t rule = k->to, i, at, end;

	for (i = 0; i < ARRAY_SIZE(rules) && rule == k->to; i++) {
		rule = find_key(k, k->from + 1, rules[i]);
		f->style = (enum own_style)i;
	}
	at = rule;
	do
		at = find_key(k, at + 1, "A");
	while (at < k->to && is_formula(k, at));
	if (rule >= k->to || at >= k->to ||
	    !read_metrics(k->a, f, key_text(k, k->from, rule, "metric")))
		return false;
	f->published = f->style == OWN_TABLE &&
		       strstr(own_join(k->a, k->text, rule, at), "1 as published");
	if (!read_legend(k, f, at, &end))
		return false;
	read_late(k, f, end, set);
	return true;
}

bool own_facts_read(struct arena *a, const struct table_text *text, size_t i, struct own_facts *f,
		    struct table_set *set, size_t *end)
{
	struct keys k = {.a = a, .text = text, .from = i, .to = i, .squeezed = true};
	struct span line = text->lines[i].text;

	*f = (struct own_facts){0};
	if (!has_key(&k, i, "metric"))
		return false;
	k.squeezed = !span_starts(line, "metric  ");
	while (k.to < text->n && text->lines[k.to].text.len &&
	       text->lines[k.to].depth == text->lines[i].depth) {
		/* one blank is left of those before continued lines, but for quotes */
		k.squeezed &= text->lines[k.to].text.s[0] != ' ' || line.s[0] == ' ';
		k.to++;
	}
	*end = k.to;
	if (read_all(&k, f, set))
		return true;
	own_facts_release(f);
	return false;
}

/* ---- -o lkp ---- */

/*
 *	metric   aim7 jobs-per-min, jobs/min, higher is better; Hmean, n = 5 boots
 *	test     aim7/test=page_test
 *	A        old  6.1.0, the baseline
 *	B        new  6.2.0
 *	columns  sd = stddev / mean, %; change = B / A - 1; reads = the verdict: better, ...
 */
static bool is_columns(struct span line)
{
	static const char *const words[] = {"columns", "sd", "=", "stddev", "/", "mean,"};
	struct span word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!span_next_word(&line, &word) || !span_is(word, words[i]))
			return false;
	return true;
}

static size_t columns_line(const struct table_text *text, size_t i)
{
	while (i < text->n && text->lines[i].text.len && !is_columns(text->lines[i].text))
		i++;
	return i;
}

bool own_lkp_starts(const struct table_text *text, size_t i)
{
	i = columns_line(text, i);
	return i < text->n && text->lines[i].text.len;
}

static bool read_lkp(struct keys *k, struct own_facts *f, size_t columns, struct table_set *set)
{
	size_t metric = find_key(k, k->from, "metric"), test, at = k->from, end;
	const char *words = key_text(k, columns, k->to, "columns");

	for (at = find_key(k, at, "A"); at < columns && is_formula(k, at);)
		at = find_key(k, at + 1, "A");
	if (at >= columns || !read_legend(k, f, at, &end))
		return false;
	test = find_key(k, k->from, "test");
	if (metric < at)
		read_metrics(k->a, f, key_text(k, metric, MIN(test, at), "metric"));
	end = MIN(find_key(k, k->from, "checked"), at);
	if (test < end)
		f->test = key_text(k, test, end, "test");
	f->style = OWN_LKP;
	f->published = strstr(words, " - 1, as published") != NULL;
	f->tested = strstr(words, "reads = the verdict") != NULL;
	f->hidden = strstr(words, "<=2 = ") != NULL;
	read_late(k, f, at + 1, set);
	return true;
}

bool own_facts_read_lkp(struct arena *a, const struct table_text *text, size_t i,
			struct own_facts *f, struct table_set *set, size_t *end)
{
	size_t columns = columns_line(text, i);
	struct keys k = {.a = a, .text = text, .from = i, .to = i};
	struct span line;

	*f = (struct own_facts){0};
	if (columns >= text->n || !text->lines[columns].text.len)
		return false;
	line = text->lines[columns].text;
	k.squeezed = !span_find(line, "columns  ");
	k.indent = strspn(line.s, " ");
	k.depth = text->lines[columns].depth;
	while (k.to < text->n && text->lines[k.to].text.len)
		k.to++;
	*end = k.to;
	if (read_lkp(&k, f, columns, set))
		return true;
	own_facts_release(f);
	return false;
}
