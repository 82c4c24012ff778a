// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row of an LKP table, from however many lines it was wrapped to. A value and its deviation,
 * then a change, a value and its deviation for each other kernel, then the metric:
 *
 *	      1.58 +-  2%     +71.0%       2.70 +-  2%     +26.9%       2.01 +- 2%
 *	+32.5%       2.09 +-  6%  reaim.std_dev_percent
 *	     49.85 +-  2%     -14.7       35.17 +-  2%  mpstat.cpu.all.idle%
 *	           :20          30%           6:20    dmesg.RIP:check_flush_dependency
 *	     50307 ~ 1%      -1.5%      49549 ~ 0%  lkp-ib03/micro/ebizzy/400%-5-30
 *
 * LKP prints the sign of plus and minus as one character, which mail turns into anything. A change
 * without '%' is a difference: of percentages in points.
 */
#include "parsers/tables/lkp_rows.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/num.h"

enum {
	MAX_LINES = 12,	 /* a row was wrapped to */
	MAX_LINE = 1000, /* characters of a wrapped line */
	MAX_CELLS = 32,
	MAX_MARK = 8, /* bytes of what became of a plus-minus sign */
};

/* SCAN_MORE: the text ends where more has to come. */
enum scan { SCAN_OK, SCAN_NONE, SCAN_MORE };

static bool is_digit(struct span s, size_t i)
{
	return i < s.len && isdigit((unsigned char)s.s[i]);
}

/* Bytes of "1.234e+10" or "53" at the start of s, without a sign; *unit: of its last digit. */
static size_t figure_length(struct span s, double *unit)
{
	size_t i = 0, k;
	double exponent = 0;
	int places = 0;

	while (is_digit(s, i) || (i && i < s.len && s.s[i] == ',' && is_digit(s, i + 1)))
		i++;
	if (i && i < s.len && s.s[i] == '.' && is_digit(s, i + 1))
		for (i++; is_digit(s, i); i++)
			places++;
	if (i && i < s.len && (s.s[i] == 'e' || s.s[i] == 'E')) {
		k = i + 1 + (i + 1 < s.len && strchr("+-", s.s[i + 1]));
		if (is_digit(s, k)) {
			while (is_digit(s, k))
				k++;
			if (!num_parse((struct span){s.s + i + 1 + (s.s[i + 1] == '+'),
						     k - i - 1 - (s.s[i + 1] == '+')},
				       &exponent))
				return 0;
			i = k;
		}
	}
	*unit = pow(10, exponent - places);
	return i;
}

/* Takes a figure off *s; *text: as printed without commas (may be NULL). */
static bool take_figure(struct arena *a, struct span *s, double *value, double *unit,
			const char **text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool negative = s->len && s->s[0] == '-';
	struct span digits = {s->s + negative, s->len - negative};
	size_t n = figure_length(digits, unit), i;

	if (!n)
		return false;
	for (i = 0; i < n + negative; i++)
		if (s->s[i] != ',')
			strbuf_addc(&sb, s->s[i]);
	if (!num_parse((struct span){strbuf_str(&sb), sb.len}, value))
		return false;
	if (text)
		*text = arena_strndup(a, strbuf_str(&sb), sb.len);
	span_skip(s, n + negative);
	return true;
}

/* ":5", "3:5": failures of runs. */
static bool take_fails(struct arena *a, struct span *s, struct lkp_cell *cell)
{
	size_t first = 0, n;
	int64_t fails = 0, runs;

	while (is_digit(*s, first))
		first++;
	for (n = first + 1; is_digit(*s, n);)
		n++;
	if (first >= s->len || s->s[first] != ':' || n == first + 1 ||
	    (n < s->len && s->s[n] != ' '))
		return false;
	if ((first && !num_parse_int((struct span){s->s, first}, &fails)) ||
	    !num_parse_int((struct span){s->s + first + 1, n - first - 1}, &runs) || runs < 1 ||
	    fails > runs || runs > 1000000)
		return false;
	cell->fails = cell->c.has_value = cell->c.has_n = true;
	cell->c.value = cell->low = cell->high = (double)fails;
	cell->c.n = (int)runs;
	cell->c.value_text = arena_strndup(a, s->s, n);
	span_skip(s, n);
	return true;
}

static enum scan scan_value(struct arena *a, struct span *s, struct lkp_cell *cell)
{
	double unit;

	span_skip_blanks(s);
	if (!s->len)
		return SCAN_MORE;
	if (take_fails(a, s, cell))
		return SCAN_OK;
	if (!take_figure(a, s, &cell->c.value, &unit, &cell->c.value_text))
		return SCAN_NONE;
	/* a figure ends at a blank or at a sign of deviation, not in "5.17-rc1" or "12%" */
	if (s->len && (isalnum((unsigned char)s->s[0]) || strchr("%/.:-_()", s->s[0])))
		return SCAN_NONE;
	cell->c.has_value = true;
	cell->low = cell->c.value - unit / 2;
	/* LKP cuts large values to integers */
	cell->high = cell->c.value + (strpbrk(cell->c.value_text, ".e") ? unit / 2 : unit);
	return SCAN_OK;
}

/* Bytes of a plus-minus sign, or of what a charset made of it; 0: nothing like it. */
static size_t mark_length(struct span s)
{
	size_t n = 0;

	if (s.len >= 2 && s.s[0] == '+' && s.s[1] == '-')
		return 2;
	if (s.len >= 3 && !memcmp(s.s, "+/-", 3))
		return 3;
	while (n < s.len && n < MAX_MARK && ((unsigned char)s.s[n] >= 0x80 || s.s[n] == '?'))
		n++;
	return n ? n : s.len && s.s[0] == '~';
}

/* "+-  2%" after a value; also "2%" alone, since a change always has a sign. */
static enum scan scan_deviation(struct span *s, struct lkp_cell *cell, bool *tilde)
{
	struct span at = *s;
	double unit;
	size_t mark;

	span_skip_blanks(&at);
	mark = mark_length(at);
	*tilde |= mark && at.s[0] == '~';
	span_skip(&at, mark);
	span_skip_blanks(&at);
	if (!at.len)
		return mark ? SCAN_MORE : SCAN_NONE;
	if (at.s[0] == '-' || !take_figure(NULL, &at, &cell->c.deviation, &unit, NULL))
		return SCAN_NONE;
	if (mark && !at.len)
		return SCAN_MORE;
	if (!at.len || at.s[0] != '%' || (at.len > 1 && at.s[1] != ' '))
		return SCAN_NONE;
	span_skip(&at, 1);
	cell->c.has_deviation = true;
	*s = at;
	return SCAN_OK;
}

/* "+Inf%", "nan", "new": published, but no number. */
static size_t no_number(struct span s)
{
	static const char *const words[] = {"inf", "nan", "new", "gone", "\xe2\x88\x9e"};
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		n = strlen(words[i]);
		if (s.len < n || strncasecmp(s.s, words[i], n))
			continue;
		n += n < s.len && s.s[n] == '%';
		if (n == s.len || s.s[n] == ' ')
			return n;
	}
	return 0;
}

/* "+71.0%", "+ 12%", "-14.7"; without a sign only among failures ("60%"). */
static enum scan scan_change(struct span *s, bool fails, struct lkp_cell *cell)
{
	struct span at = *s;
	bool sign, negative;
	double unit;

	span_skip_blanks(&at);
	if (!at.len)
		return SCAN_MORE;
	sign = at.s[0] == '+' || at.s[0] == '-';
	negative = at.s[0] == '-';
	span_skip(&at, sign);
	span_skip_blanks(&at);
	if (!at.len)
		return SCAN_MORE;
	if (no_number(at)) {
		span_skip(&at, no_number(at));
		*s = at;
		return SCAN_OK;
	}
	if ((!sign && !fails) || at.s[0] == '-' ||
	    !take_figure(NULL, &at, &cell->c.change, &unit, NULL))
		return SCAN_NONE;
	if (at.len > 1 && at.s[0] == ' ' && at.s[1] == '%')
		span_skip(&at, 1);
	cell->points = !at.len || at.s[0] != '%';
	if (cell->points && fails)
		return SCAN_NONE;
	span_skip(&at, !cell->points);
	if (at.len && at.s[0] != ' ')
		return SCAN_NONE;
	if (negative)
		cell->c.change = -cell->c.change;
	cell->c.has_change = true;
	cell->change_half = unit / 2;
	*s = at;
	return SCAN_OK;
}

bool lkp_is_name(struct span word)
{
	bool letter = false, joint = false;
	size_t i;

	if (word.len < 3 || span_find(word, "://"))
		return false;
	for (i = 0; i < word.len; i++) {
		letter |= isalpha((unsigned char)word.s[i]) != 0;
		joint |= i && i + 1 < word.len && (word.s[i] == '.' || word.s[i] == '/') &&
			 isgraph((unsigned char)word.s[i + 1]) && word.s[i + 1] != ')';
	}
	return letter && joint && isalnum((unsigned char)word.s[0]) &&
	       !strchr(".,;:?!", word.s[word.len - 1]);
}

static bool is_any_name(struct span word)
{
	size_t i;

	for (i = 0; i < word.len; i++)
		if (isalpha((unsigned char)word.s[i]))
			return isalnum((unsigned char)word.s[0]) || strchr("_[<%", word.s[0]);
	return false;
}

/* What ends a row: its name, and what somebody wrote behind it. */
static enum scan scan_name(struct arena *a, struct span s, bool strict, struct lkp_row *row)
{
	struct span word;

	if (!span_next_word(&s, &word))
		return SCAN_MORE;
	row->total = span_is(word, "TOTAL");
	if (row->total && !span_next_word(&s, &word))
		return SCAN_MORE;
	if (!lkp_is_name(word) && !((strict || row->total) && is_any_name(word)))
		return SCAN_NONE;
	row->name = arena_strndup(a, word.s, word.len);
	s = span_trim(s);
	row->rest = arena_strndup(a, s.s, s.len);
	return SCAN_OK;
}

/* The whole row in one span. On SCAN_NONE row->damage says what was expected. */
static enum scan scan_row(struct arena *a, struct span s, bool strict, struct lkp_row *row)
{
	struct lkp_cell cell;
	enum scan scan;

	row->cells.n = 0;
	row->plain = true;
	for (;;) {
		bool fails = row->cells.n && row->cells.items[0].fails;

		cell = (struct lkp_cell){.c = {.line = row->line}};
		if (row->cells.n) {
			scan = scan_change(&s, fails, &cell);
			if (scan == SCAN_MORE)
				return scan;
			if (scan == SCAN_NONE) {
				row->damage = "no change where one is expected";
				return scan_name(a, s, strict, row);
			}
			row->plain &= cell.points;
		}
		row->damage = "no value where one is expected";
		scan = scan_value(a, &s, &cell);
		if (scan != SCAN_OK)
			return scan;
		if (!cell.fails && scan_deviation(&s, &cell, &row->tilde) == SCAN_MORE)
			return SCAN_MORE;
		row->plain &= !cell.c.has_deviation && !cell.fails;
		if (row->cells.n == MAX_CELLS || (row->cells.n && cell.fails != fails))
			return SCAN_NONE;
		*ARRAY_PUSH(&row->cells) = cell;
	}
}

/* The first word from s on that could be the row's name; "" if none. */
static struct span find_name(struct span s)
{
	struct span word;

	while (span_next_word(&s, &word))
		if (lkp_is_name(word) && !isdigit((unsigned char)word.s[0]))
			return word;
	return (struct span){"", 0};
}

/* Numbers at the start of a line. */
static size_t leading_numbers(struct span s)
{
	struct span word;
	double v;
	size_t n = 0;
	int decimals;

	while (span_next_word(&s, &word) && table_scan_number(word, &v, &decimals) == word.len)
		n++;
	return n;
}

static bool is_second(struct span s, struct span name)
{
	struct span word;

	return span_next_word(&s, &word) && span_next_word(&s, &word) && word.s == name.s;
}

/*
 * A line that is no row: of a damaged one that is told from prose by its deviations and changes,
 * or below a header by numbers before a name.
 */
static bool is_damaged(struct arena *a, struct span s, bool strict, struct lkp_row *row)
{
	struct span name = find_name(s);
	size_t numbers = leading_numbers(s);
	struct lkp_cell *cell;
	bool signs = false;

	array_for_each (cell, &row->cells)
		signs |= cell->c.has_deviation || cell->fails || cell->c.has_change;
	if (!strict && (!signs || !name.len))
		return false;
	if (strict && !signs && (!name.len || !numbers || (numbers == 1 && !is_second(s, name))))
		return false;
	row->name = name.len ? arena_strndup(a, name.s, name.len) : "";
	row->rest = "";
	return true;
}

/* Takes the lines that continue the row at line i, one after the other, until it is whole. */
static enum scan scan_lines(struct arena *a, const struct table_text *text, size_t i, bool strict,
			    struct lkp_row *row, size_t *end)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	enum scan scan = scan_row(a, text->lines[i].text, strict, row);
	struct span next;

	*end = i + 1;
	while (scan == SCAN_MORE && row->cells.n && *end < text->n && *end < i + MAX_LINES) {
		next = span_trim(text->lines[*end].text);
		if (!next.len || next.len > MAX_LINE ||
		    text->lines[*end].depth != text->lines[i].depth)
			break;
		if (!sb.len)
			strbuf_add(&sb, text->lines[i].text.s, text->lines[i].text.len);
		strbuf_addc(&sb, ' ');
		strbuf_add(&sb, next.s, next.len);
		++*end;
		scan = scan_row(a, (struct span){strbuf_str(&sb), sb.len}, strict, row);
	}
	if (scan == SCAN_MORE)
		row->damage = "it ends without a name";
	if (scan == SCAN_OK && row->cells.n < 2)
		scan = SCAN_NONE;
	return scan;
}

bool lkp_read_row(struct arena *a, const struct table_text *text, size_t i, bool strict,
		  struct lkp_row *row, size_t *end)
{
	struct span line = text->lines[i].text, s = line;

	*row = (struct lkp_row){.line = text->lines[i].line};
	span_skip_blanks(&s);
	if (!s.len || !(isdigit((unsigned char)s.s[0]) ||
			((s.s[0] == ':' || s.s[0] == '-') && is_digit(s, 1))))
		return false;
	switch (scan_lines(a, text, i, strict, row, end)) {
	case SCAN_OK:
		if (row->plain && !strict)
			break;
		row->damage = NULL;
		return true;
	default:
		*end = i + 1;
		if (is_damaged(a, line, strict, row))
			return true;
	}
	ARRAY_FREE(&row->cells);
	return false;
}

/* ---- does a change follow from the values? ---- */

/* LKP takes both shares from the larger number of runs, so these differ where the runs do. */
static const char *check_fails(struct arena *a, const struct lkp_cell *base,
			       const struct lkp_cell *cell)
{
	double shares = 100 * (cell->c.value / cell->c.n - base->c.value / base->c.n);
	double runs = 100 * (cell->c.value - base->c.value) / MAX(cell->c.n, base->c.n);
	double half = cell->change_half * 2 + 1e-6;

	if (fabs(fabs(cell->c.change) - fabs(shares)) <= half ||
	    fabs(fabs(cell->c.change) - fabs(runs)) <= half)
		return NULL;
	return arena_printf(a, "%s to %s is %+.0f points, but %g%% is printed", base->c.value_text,
			    cell->c.value_text, shares, cell->c.change);
}

const char *lkp_check_cell(struct arena *a, const struct lkp_cell *base,
			   const struct lkp_cell *cell, bool *checked)
{
	double slack = cell->change_half + 1e-9 * (1 + fabs(cell->c.change)), low, high;

	if (!cell->c.has_change)
		return NULL;
	if (cell->fails)
		return check_fails(a, base, cell);
	if (cell->points) {
		if (cell->c.change + slack >= cell->low - base->high &&
		    cell->c.change - slack <= cell->high - base->low)
			return NULL;
		return arena_printf(a, "%s - %s is %+.2f, but %+g is printed", cell->c.value_text,
				    base->c.value_text, cell->c.value - base->c.value,
				    cell->c.change);
	}
	if (base->low <= 0)
		return NULL;
	low = 100 * (cell->low / (cell->low < 0 ? base->low : base->high) - 1);
	high = 100 * (cell->high / (cell->high < 0 ? base->high : base->low) - 1);
	*checked = true;
	if (cell->c.change + slack >= low && cell->c.change - slack <= high)
		return NULL;
	return arena_printf(a, "%s for %s is %+.2f%%, but %+g%% is printed", cell->c.value_text,
			    base->c.value_text, 100 * (cell->c.value / base->c.value - 1),
			    cell->c.change);
}
