// SPDX-License-Identifier: GPL-2.0-or-later
#include "parsers/tables/mmtests_own.h"
#include "parsers/tables/own.h"

#include <ctype.h>
#include <string.h>

enum {
	MAX_COLUMNS = 64,
	MAX_TITLE = 12, /* lines of title and header together, however they were wrapped */
	MAX_SENTENCE = 3,
};

/* As reports/view.c words them. */
static const struct {
	const char *words;
	enum row_better better;
	enum row_change change;
} directions[] = {
	{", higher is better.", BETTER_HIGHER, CHANGE_RAW},
	{", lower is better.", BETTER_LOWER, CHANGE_INVERTED},
	{", neither direction is better.", BETTER_UNKNOWN, CHANGE_RAW},
	{", which direction is better depends on the load.", BETTER_UNKNOWN, CHANGE_RAW},
	{", which direction is better is not known.", BETTER_UNKNOWN, CHANGE_RAW},
};

/* Lines i up to one that ends with `end`, joined; *next: the line after them. */
static const char *sentence(const struct mmtests_own *own, size_t i, size_t lines, char end,
			    size_t *next)
{
	const char *s = "";

	for (*next = i; *next < own->text->n && *next < i + lines;) {
		struct span line = span_trim(own->text->lines[*next].text);

		if (!line.len)
			return NULL;
		s = arena_printf(own->a, "%s%s%s", s, *s ? " " : "",
				 span_join_words(own->a, line));
		++*next;
		if (line.s[line.len - 1] == end)
			return s;
	}
	return NULL;
}

/* "tbench.throughput is in MB/s, higher is better." */
static bool read_metric(struct mmtests_own *own, size_t i)
{
	struct mmtests_metric m = {0};
	struct span rest = own->text->lines[i].text, name, is, in;
	const char *s, *unit, *end, *dot;
	size_t k, next;

	if (!span_next_word(&rest, &name) || !span_next_word(&rest, &is) ||
	    !span_next_word(&rest, &in) || !span_is(is, "is") || !span_is(in, "in"))
		return false;
	dot = memchr(name.s, '.', name.len);
	s = sentence(own, i, MAX_SENTENCE, '.', &next);
	if (!dot || !s)
		return false;
	unit = strstr(s, " is in ") + strlen(" is in ");
	for (k = 0; k < ARRAY_SIZE(directions); k++) {
		end = strstr(unit, directions[k].words);
		if (!end || end[strlen(directions[k].words)])
			continue;
		m.benchmark = arena_strndup(own->a, name.s, (size_t)(dot - name.s));
		m.metric = arena_strndup(own->a, dot + 1, (size_t)(name.s + name.len - dot - 1));
		m.unit = arena_strndup(own->a, unit, (size_t)(end - unit));
		if (!strcmp(m.unit, "no stated unit"))
			m.unit = NULL;
		m.better = directions[k].better;
		m.change = directions[k].change;
		*ARRAY_PUSH(&own->metrics) = m;
		return true;
	}
	return false;
}

void mmtests_own_read(struct arena *a, const struct table_text *text, struct mmtests_own *own)
{
	bool ours = false;
	size_t i;

	*own = (struct mmtests_own){.a = a, .text = text};
	for (i = 0; i < text->n; i++) {
		/* the next line may be wrapped onto this one's */
		ours |= span_find(text->lines[i].text, "Percentages against the first column") != NULL;
		if (ours)
			read_metric(own, i);
	}
}

static const char *known_benchmark(const struct mmtests_own *own, struct span word)
{
	const struct mmtests_metric *m;

	array_for_each (m, &own->metrics)
		if (span_is(word, m->benchmark))
			return m->benchmark;
	return NULL;
}

/* "wakebench average_rps running on threads=1:" from line i on */
static bool read_title(const struct mmtests_own *own, size_t i, struct mmtests_title *out)
{
	struct span rest = own->text->lines[i].text, word, metric = {NULL, 0};
	const char *s, *on;

	*out = (struct mmtests_title){.line = i};
	if (!span_next_word(&rest, &word))
		return false;
	out->benchmark = known_benchmark(own, word);
	if (!out->benchmark || !span_next_word(&rest, &word))
		return false;
	if (!span_starts(word, "running")) {
		metric = word;
		if (!span_next_word(&rest, &word))
			return false;
	}
	if (!span_is(word, "running") && !span_is(word, "running:"))
		return false;
	s = sentence(own, i, MAX_TITLE, ':', &out->header);
	if (!s)
		return false;
	if (metric.len)
		out->metric = arena_strndup(own->a, metric.s, metric.len);
	on = strstr(s, " running on ");
	if (on) {
		on += strlen(" running on ");
		out->where = arena_strndup(own->a, on, strlen(on) - 1);
	}
	return true;
}

bool mmtests_own_title(const struct mmtests_own *own, size_t first_row, size_t lowest,
		       struct mmtests_title *out)
{
	size_t i;

	for (i = first_row; own->metrics.n && i > lowest && i + MAX_TITLE > first_row;) {
		if (!span_trim(own->text->lines[--i].text).len)
			return false;
		if (read_title(own, i, out))
			return out->header <= first_row;
	}
	return false;
}

/* Whether a printed name, with '-' and the second half if any, is one of the legend. */
static bool is_printed(const char *name, struct span first, const struct span *second)
{
	size_t i = 0, k;
	char c;

	for (k = 0; k < first.len; k++, i++) {
		c = name[i] == ' ' ? '_' : name[i];
		if (!c || c != first.s[k])
			return false;
	}
	if (!second)
		return !name[i];
	if (name[i++] != '-')
		return false;
	for (k = 0; k < second->len; k++, i++) {
		c = name[i] == ' ' ? '_' : name[i];
		if (!c || c != second->s[k])
			return false;
	}
	return !name[i];
}

static const struct table_legend_entry *find_entry(const struct table_legend *legend,
						   struct span first, const struct span *second)
{
	const struct table_legend_entry *e;

	array_for_each (e, &legend->entries)
		if (is_printed(e->name, first, second))
			return e;
	return NULL;
}

/* Columns of second halves that still stand below the ends of the first ones. */
static bool halves_below(struct span above, struct span below, const struct span *words, size_t n,
			 const struct span *halves, size_t n_halves, const struct span **second)
{
	size_t i, k = 0;

	for (i = 0; i < n && k < n_halves; i++)
		if (words[i].s + words[i].len - above.s == halves[k].s + halves[k].len - below.s)
			second[i] = &halves[k++];
	return k == n_halves;
}

/* Our legend has all names in the order of the columns. */
static bool match_legend(const struct table_legend *legend, const struct span *words, size_t n,
			 const struct span *halves, size_t n_halves, const struct span **second)
{
	const struct table_legend_entry *e = legend->entries.items;
	size_t from, i, k;

	for (from = 0; from + n <= legend->entries.n; from++) {
		for (i = k = 0; i < n; i++) {
			second[i] = NULL;
			if (is_printed(e[from + i].name, words[i], NULL))
				continue;
			if (k == n_halves || !is_printed(e[from + i].name, words[i], &halves[k]))
				break;
			second[i] = &halves[k++];
		}
		if (i == n && k == n_halves)
			return true;
	}
	return false;
}

static bool begins_entry(const struct table_legend *legend, size_t line)
{
	const struct table_legend_entry *e;

	array_for_each (e, &legend->entries)
		if (e->first == line)
			return true;
	return false;
}

/* What the legend says, wrapped however often: our legend ends at a blank line. */
static const char *describe(const struct mmtests_own *own, const struct table_legend *legend,
			    const struct table_legend_entry *e)
{
	const char *text = e->text;
	size_t i;

	for (i = e->last + 1; i < own->text->n && i < e->first + MAX_TITLE; i++) {
		struct span line = span_trim(own->text->lines[i].text);

		if (!line.len || begins_entry(legend, i))
			break;
		text = arena_printf(own->a, "%s %s", text, span_join_words(own->a, line));
	}
	return strcmp(text, "not described") && strcmp(text, "the baseline") ? text : NULL;
}

bool mmtests_own_names(const struct mmtests_own *own, const struct mmtests_title *title,
		       size_t first_row, size_t n, const struct table_legend *legend,
		       struct table_names *out)
{
	const struct span *second[MAX_COLUMNS] = {NULL};
	const struct table_legend_entry *e;
	struct span words[2 * MAX_COLUMNS], rest;
	size_t i, found = 0;

	for (i = title->header; i < first_row; i++) {
		rest = own->text->lines[i].text;
		while (found < ARRAY_SIZE(words) && span_next_word(&rest, &words[found]))
			found++;
	}
	if (!n || n > MAX_COLUMNS || found < n || found > 2 * n)
		return false;
	if (!match_legend(legend, words, n, words + n, found - n, second)) {
		memset(second, 0, sizeof(second));
		for (i = 0; i < n && found == 2 * n; i++)
			second[i] = &words[n + i];
		if (found != n && found != 2 * n &&
		    (first_row != title->header + 2 ||
		     !halves_below(own->text->lines[title->header].text,
				   own->text->lines[title->header + 1].text, words, n, words + n,
				   found - n, second)))
			return false;
	}
	out->top = title->header;
	out->names = arena_alloc_array(own->a, n, sizeof(*out->names));
	out->descriptions = arena_alloc_array(own->a, n, sizeof(*out->descriptions));
	for (i = 0; i < n; i++) {
		e = find_entry(legend, words[i], second[i]);
		out->names[i] = arena_printf(own->a, "%.*s%s%.*s", (int)words[i].len, words[i].s,
					     second[i] ? "-" : "",
					     second[i] ? (int)second[i]->len : 0,
					     second[i] ? second[i]->s : "");
		out->names[i] = e ? e->name : out->names[i];
		out->descriptions[i] = e ? describe(own, legend, e) : NULL;
	}
	return true;
}

const struct mmtests_metric *mmtests_own_metric(const struct mmtests_own *own,
						const struct mmtests_title *title, const char *axis)
{
	const struct mmtests_metric *m, *only = NULL;
	const char *wanted = title->metric ? title->metric : axis;
	size_t n = 0;

	array_for_each (m, &own->metrics) {
		if (strcmp(m->benchmark, title->benchmark))
			continue;
		only = m;
		n++;
		if (wanted && !strcmp(m->metric, wanted))
			return m;
	}
	return n == 1 && !title->metric ? only : NULL;
}

void mmtests_own_params(const struct mmtests_own *own, const struct mmtests_title *title,
			const struct mmtests_metric *m, const char *axis_name, const char *axis,
			const struct table_param **params, size_t *n)
{
	struct own_params p = {.a = own->a};

	if (axis && strcmp(axis, m->metric)) {
		if (isdigit((unsigned char)*axis))
			own_param_add(&p, axis_name ? axis_name : "key", axis, true);
		else
			own_params_words(&p, axis, "/");
	}
	own_params_words(&p, title->where ? title->where : "", ", ");
	own_params_take(&p, params, n);
}
