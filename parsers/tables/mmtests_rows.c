// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row of an mmtests table, from however many lines it was wrapped to - also within a cell:
 *
 *	Hmean     64     15952.50 (   0.00%)    15780.41 *
 *	-1.08%*   10608.36 * -33.50%*
 */
#include "parsers/tables/mmtests_rows.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct statistic statistics[] = {
	{"Hmean", ROW_VALUE, CHANGE_RAW, false},
	{"Amean", ROW_VALUE, CHANGE_INVERTED, false},
	{"Gmean", ROW_VALUE, CHANGE_UNKNOWN, false},
	{"MB/sec", ROW_VALUE, CHANGE_RAW, false},
	{"Lat", ROW_VALUE, CHANGE_INVERTED, false},
	{"Ops", ROW_VALUE, CHANGE_UNKNOWN, true},
	{"Stddev", ROW_DEVIATION, CHANGE_INVERTED, false},
	{"CoeffVar", ROW_DEVIATION, CHANGE_INVERTED, false},
	{"Min", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"Max*", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"BHmean*", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"BAmean*", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"1st-qrtle", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"2nd-qrtle", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"3rd-qrtle", ROW_EXTREME, CHANGE_UNKNOWN, false},
	{"Duration", ROW_OTHER, CHANGE_UNKNOWN, true},
};
static const struct statistic unknown_statistic = {"", ROW_VALUE, CHANGE_UNKNOWN, false};

/* ---- cells ---- */

enum { MAX_PART = 3 };

enum scan { SCAN_CELL, SCAN_CUT, SCAN_NONE };

static char *value_text(struct arena *a, struct span s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < s.len; i++)
		if (s.s[i] != ',')
			strbuf_addc(&sb, s.s[i]);
	return arena_strndup(a, strbuf_str(&sb), sb.len);
}

/* "( nan%)" and "(-Inf%)": printed, but nothing to check. */
static size_t scan_not_a_number(struct span s)
{
	size_t sign = s.len && (s.s[0] == '-' || s.s[0] == '+');

	if (s.len < sign + 3)
		return 0;
	return !strncasecmp(s.s + sign, "nan", 3) || !strncasecmp(s.s + sign, "inf", 3) ? sign + 3
											: 0;
}

/* "-" and "failed" of our own reports: nothing was measured, or it gave no value. */
static size_t scan_missing(struct span s)
{
	struct span word = {NULL, 0};

	span_next_word(&s, &word);
	return span_is(word, "-") || span_is(word, "failed") ? word.len : 0;
}

/* "  -0.62%*" after the '*' or '(' it must close; of our own reports also "       -)", none. */
static enum scan scan_percentage(struct span *s, char open, struct cell *out)
{
	size_t len;
	char close;

	span_skip_blanks(s);
	if (!s->len || (s->len == 1 && strchr("+-", s->s[0])))
		return SCAN_CUT;
	if (*s->s == '-' && strchr(" )", s->s[1])) {
		span_skip(s, 1);
		return span_next_char(s) == ')' && open == '(' ? SCAN_CELL : SCAN_NONE;
	}
	len = table_scan_number(*s, &out->c.change, &out->change_decimals);
	out->c.has_change = len != 0;
	if (!len)
		len = scan_not_a_number(*s);
	if (!len)
		return SCAN_NONE;
	span_skip(s, len);
	if (!s->len || (s->len == 1 && s->s[0] == '.'))
		return SCAN_CUT;
	if (*s->s != '%')
		return SCAN_NONE;
	span_skip(s, 1);
	close = span_next_char(s);
	if (!close)
		return SCAN_CUT;
	return close == (open == '(' ? ')' : '*') ? SCAN_CELL : SCAN_NONE;
}

/*
 * Takes "318.03 *  -0.62%*" off *rest; SCAN_CUT: the text ends within what could be a cell. Our own
 * reports also have "- (   1.20%)", "318.03 (       -)", "-" and "failed".
 */
static enum scan scan_cell(struct arena *a, struct span *rest, struct cell *out)
{
	struct span s = *rest, after, value;
	enum scan scan;
	size_t len;
	char open;

	*out = (struct cell){0};
	span_skip_blanks(&s);
	len = table_scan_number(s, &out->c.value, &out->value_decimals);
	out->c.has_value = len != 0;
	if (!len)
		len = scan_missing(s);
	if (!len)
		return SCAN_NONE;
	value = (struct span){s.s, len};
	span_skip(&s, len);
	after = s;
	open = span_next_char(&s);
	if (!open)
		return SCAN_CUT;
	if (open == '(' || open == '*') {
		scan = scan_percentage(&s, open, out);
		if (scan != SCAN_CELL)
			return scan;
		out->c.mark = open == '*';
		after = s;
	} else if (out->c.has_value) {
		return SCAN_NONE;
	}
	if (out->c.has_value)
		out->c.value_text = value_text(a, value);
	*rest = after;
	return SCAN_CELL;
}

/* ---- rows ---- */

static const struct statistic *find_statistic(struct span word)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(statistics); i++) {
		len = strcspn(statistics[i].word, "*");
		if (word.len >= len && !memcmp(word.s, statistics[i].word, len) &&
		    (word.len == len || statistics[i].word[len] == '*'))
			return &statistics[i];
	}
	return NULL;
}

/* Cells off *rest; false: something else follows them. *rest is what is left. */
static bool take_cells(struct arena *a, struct span *rest, int line, struct row *row)
{
	struct cell cell;
	enum scan scan;

	while ((scan = scan_cell(a, rest, &cell)) == SCAN_CELL) {
		cell.c.line = line;
		*ARRAY_PUSH(&row->cells) = cell;
	}
	span_skip_blanks(rest);
	return scan == SCAN_CUT || !rest->len;
}

/* Numbers off *rest, with nothing between them. */
static bool take_numbers(struct arena *a, struct span rest, int line, struct row *row)
{
	struct cell cell;
	struct span word;
	size_t before = row->cells.n;

	while (span_next_word(&rest, &word)) {
		cell = (struct cell){.c = {.has_value = true, .line = line}};
		if (table_scan_number(word, &cell.c.value, &cell.value_decimals) != word.len) {
			row->cells.n = before;
			return false;
		}
		cell.c.value_text = value_text(a, word);
		*ARRAY_PUSH(&row->cells) = cell;
	}
	return row->cells.n > before;
}

static const char *tidy_key(struct arena *a, const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf key = STRBUF_INIT;
	struct span rest = {from, (size_t)(to - from)}, word;

	while (span_next_word(&rest, &word)) {
		if (key.len)
			strbuf_addc(&key, ' ');
		strbuf_add(&key, word.s, word.len);
	}
	return arena_strndup(a, strbuf_str(&key), key.len);
}

/* Splits "Hmean 64 15952.50 (" into the key and where its cells begin. */
static bool find_label(struct arena *a, struct span line, struct row *row, struct span *cells)
{
	struct span rest = line, word, number = {NULL, 0}, probe;
	const char *start, *end = line.s + line.len;
	size_t words;
	struct cell cell;
	enum scan scan = SCAN_NONE;

	if (!span_next_word(&rest, &word) || !isalnum((unsigned char)word.s[0]))
		return false;
	start = word.s;
	row->statistic = find_statistic(word);
	row->known = row->statistic != NULL;
	if (!row->known)
		row->statistic = &unknown_statistic;
	if (!row->known && !isalpha((unsigned char)*start))
		return false;
	for (words = 1; words <= 6 && scan == SCAN_NONE && span_next_word(&rest, &word); words++) {
		*cells = (struct span){word.s, (size_t)(end - word.s)};
		probe = *cells;
		scan = scan_cell(a, &probe, &cell);
		/* elsewhere they are words */
		if (scan != SCAN_NONE && !cell.c.has_value && (!row->known || words < 2))
			scan = SCAN_NONE;
		if (!number.s && words > 1 &&
		    table_scan_number(word, &cell.c.value, &cell.value_decimals) == word.len)
			number = *cells;
	}
	if (scan == SCAN_CUT && !row->known)
		return false;
	/* "Hmean 64" and nothing more: 64 is the key, the cells stand on the next line */
	if (scan == SCAN_CUT && words == 2 && cells->len == word.len)
		*cells = (struct span){end, 0};
	row->plain = scan != SCAN_CELL && row->statistic->plain && number.s;
	if (row->plain)
		*cells = number;
	else if (scan == SCAN_NONE)
		return false;
	row->key = tidy_key(a, start, cells->s);
	return true;
}

/*
 * A wrapped part: cells from its first to its last character, after what was cut off before.
 * Returns its lines, 0 if it is none; one that was wrapped twice has some without a whole cell:
 *
 *	549.996 (
 *	-13.89%)
 */
static size_t continue_row(struct arena *a, const struct table_text *text, struct span *rest,
			   size_t i, struct row *row)
{
	size_t before = row->cells.n, lines;
	struct span joined = *rest;

	for (lines = 1; lines <= MAX_PART && i < text->n; lines++, i++) {
		const struct table_line *line = &text->lines[i];
		struct span next = line->text;

		span_skip_blanks(&next);
		if (!next.len || (isalpha((unsigned char)next.s[0]) && !scan_missing(next)))
			break;
		if (row->plain)
			return take_numbers(a, next, line->line, row);
		joined = span_of(arena_printf(a, "%.*s %.*s", (int)joined.len, joined.s,
					      (int)next.len, next.s));
		if (!take_cells(a, &joined, line->line, row))
			break;
		if (row->cells.n > before) {
			*rest = joined;
			return lines;
		}
	}
	row->cells.n = before;
	return 0;
}

static const char *first_word(struct arena *a, struct span s)
{
	size_t n = 0;

	while (n < s.len && n < 20 && isgraph((unsigned char)s.s[n]))
		n++;
	return arena_strndup(a, s.s, n);
}

bool mmtests_read_row(struct arena *a, const struct table_text *text, size_t i, struct row *row,
		      size_t *end)
{
	const struct table_line *line = &text->lines[i];
	struct span rest;
	size_t lines;
	bool open;

	*row = (struct row){.line = line->line};
	if (!find_label(a, line->text, row, &rest))
		return false;
	*end = i + 1;
	open = row->plain ? take_numbers(a, rest, line->line, row)
			  : take_cells(a, &rest, line->line, row);
	while (open && (lines = continue_row(a, text, &rest, *end, row)))
		*end += lines;
	if (!row->plain && rest.len && scan_missing(rest) == rest.len) {
		*ARRAY_PUSH(&row->cells) = (struct cell){.c = {.line = text->lines[*end - 1].line}};
		rest.len = 0;
	}
	if (!row->plain && rest.len && (isdigit((unsigned char)rest.s[0]) || rest.s[0] == '-'))
		row->cut = first_word(a, rest);
	if (row->cells.n > 1 || (row->cells.n && row->known && row->cells.items[0].c.has_value))
		return true;
	ARRAY_FREE(&row->cells);
	return false;
}
