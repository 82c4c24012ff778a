// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers whose names stand in several lines, one part below the other:
 *
 *	           5.18.0-rc1               5.18.0-rc1                5.18.0-rc1
 *	       tip sched/core           tip sched/core            tip sched/core
 *	         (no pinning)                + pinning              + this-patch
 *	                                                                + pinning
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <string.h>

enum { MAX_LINES = 6, MAX_COLUMNS = 32 };

struct piece {
	size_t from, to; /* columns */
	struct span text;
};

struct pieces {
	struct piece at[MAX_COLUMNS];
	size_t n; /* MAX_COLUMNS + 1: too many */
};

/* Pieces between gaps of two blanks and more. */
static void split_wide(struct span s, struct pieces *p)
{
	size_t i = 0, end;

	p->n = 0;
	while (i < s.len) {
		while (i < s.len && s.s[i] == ' ')
			i++;
		if (i == s.len)
			return;
		for (end = i; end < s.len && !(s.s[end] == ' ' && (end + 1 == s.len ||
								   s.s[end + 1] == ' '));)
			end++;
		if (p->n == MAX_COLUMNS) {
			p->n++;
			return;
		}
		p->at[p->n++] = (struct piece){i, end, {s.s + i, end - i}};
		i = end;
	}
}

/* The column a piece stands under, by overlap; -1: none, or two. */
static int column_of(const struct pieces *columns, const struct piece *p)
{
	int found = -1;
	size_t i;

	for (i = 0; i < columns->n; i++) {
		if (p->from >= columns->at[i].to || p->to <= columns->at[i].from)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool is_release(struct span s)
{
	const char *p = s.s + (s.len && s.s[0] == 'v');

	return s.len > 2 && isdigit((unsigned char)*p) && memchr(s.s, '.', s.len);
}

static bool all_same(const struct pieces *p)
{
	size_t i;

	for (i = 1; i < p->n; i++)
		if (p->at[i].text.len != p->at[0].text.len ||
		    memcmp(p->at[i].text.s, p->at[0].text.s, p->at[0].text.len))
			return false;
	return true;
}

/* Appends the pieces of one line to the names of the columns they stand under. */
static bool add_line(struct arena *a, const struct pieces *columns, const struct pieces *line,
		     const char **names)
{
	bool taken[MAX_COLUMNS] = {false};
	size_t i;

	for (i = 0; i < line->n; i++) {
		int at = line->n == columns->n ? (int)i : column_of(columns, &line->at[i]);
		const char *text;

		if (at < 0 || taken[at])
			return false;
		taken[at] = true;
		text = span_join_words(a, line->at[i].text);
		names[at] = names[at] ? arena_printf(a, "%s %s", names[at], text) : text;
	}
	return true;
}

/* Lines directly above the rows, nearest first. */
static size_t collect(const struct table_text *text, size_t first, size_t lowest, size_t *index)
{
	size_t i = first, n = 0;

	while (i > lowest &&
	       (!text->lines[i - 1].text.len || table_is_separator(text->lines[i - 1].text)))
		i--;
	while (i > lowest && n < MAX_LINES && text->lines[i - 1].text.len &&
	       !table_is_separator(text->lines[i - 1].text))
		index[n++] = --i;
	return n;
}

static bool distinct(const char *const *names, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k <= i; k++)
			if (!names[i] || (k < i && !strcmp(names[i], names[k])))
				return false;
	return true;
}

bool table_names_stacked(struct arena *a, const struct table_text *text, size_t first,
			 size_t lowest, size_t n, struct table_names *out)
{
	struct pieces lines[MAX_LINES];
	size_t index[MAX_LINES], count = collect(text, first, lowest, index), i, full = 0;
	const struct pieces *columns = NULL;
	bool partial = false;

	if (!n || n > MAX_COLUMNS)
		return false;
	/* from the rows up: lines of n pieces, and of fewer that stand under those of another */
	for (i = 0; i < count; i++) {
		split_wide(text->lines[index[i]].text, &lines[i]);
		if (lines[i].n > n || !lines[i].n)
			break;
		if (lines[i].n < n && columns)
			break;
		partial |= lines[i].n < n;
		if (lines[i].n == n) {
			columns = columns ? columns : &lines[i];
			full++;
		}
	}
	count = i;
	/* one or two full lines are the ordinary header */
	if (!columns || (!partial && full < 3))
		return false;
	out->names = arena_alloc_array(a, n + 1, sizeof(*out->names));
	out->descriptions = arena_alloc_array(a, n + 1, sizeof(*out->descriptions));
	for (i = count; i-- > 0;) {
		bool describes = i + 1 == count && count > 1 && lines[i].n == n &&
				 all_same(&lines[i]) && is_release(lines[i].at[0].text);

		if (!add_line(a, columns, &lines[i], describes ? out->descriptions : out->names))
			return false;
	}
	out->top = index[count - 1];
	return distinct(out->names, n);
}

bool table_names_words(struct arena *a, const struct table_text *text, size_t first,
		       size_t lowest, size_t n, struct table_names *out)
{
	size_t index[MAX_LINES], count = collect(text, first, lowest, index), k, i;
	const char *joined = "";
	struct span rest, word;

	out->names = arena_alloc_array(a, n + 1, sizeof(*out->names));
	out->descriptions = arena_alloc_array(a, n + 1, sizeof(*out->descriptions));
	for (k = 0; k < count; k++) {
		struct span line = text->lines[index[k]].text;

		if (line.len > 500)
			return false;
		joined = arena_printf(a, "%.*s %s", (int)line.len, line.s, joined);
		rest = span_of(joined);
		for (i = 0; span_next_word(&rest, &word); i++)
			if (i < n)
				out->names[i] = arena_strndup(a, word.s, word.len);
		out->top = index[k];
		if (i == n)
			return distinct(out->names, n);
		if (i > n)
			return false;
	}
	return false;
}
