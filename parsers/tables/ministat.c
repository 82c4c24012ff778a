// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ministat prints; the symbols are the variants, the legend names them:
 *
 *	x without_patch
 *	* with_patch
 *	    N           Min           Max        Median           Avg        Stddev
 *	x 500        348872        362236        354712     354745.69      2711.827
 *	* 500        349422        361452        353942      354215.4     2576.9258
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MAX_SIDES = 8, COLUMNS = 6 };
static const char symbols[] = "x+*%#@O";
static const char *const columns[] = {"N", "Min", "Max", "Median", "Avg", "Stddev"};

struct side {
	char symbol;
	const char *name;
	struct span text[COLUMNS];
	double value[COLUMNS];
	int line;
};

static bool is_header(struct span line)
{
	struct span word;
	size_t n = 0;

	while (n < COLUMNS && span_next_word(&line, &word) && span_is(word, columns[n]))
		n++;
	return n == COLUMNS && !span_trim(line).len;
}

/* "x 500 348872 ..." */
static bool read_side(struct span line, struct side *s)
{
	struct span word, rest = line;
	size_t n;
	int decimals;

	if (!span_next_word(&rest, &word) || word.len != 1 || !strchr(symbols, word.s[0]))
		return false;
	s->symbol = word.s[0];
	for (n = 0; n < COLUMNS && span_next_word(&rest, &s->text[n]); n++)
		if (!block_number(s->text[n], &s->value[n], &decimals))
			return false;
	return n == COLUMNS && !span_trim(rest).len;
}

/* Why the figures of a side cannot be right, or NULL. */
static const char *fault_of(const struct side *s)
{
	double n = s->value[0], min = s->value[1], max = s->value[2];

	if (n < 1 || n != floor(n) || n > 1e9)
		return "N is no number of runs";
	if (min > max || s->value[3] < min || s->value[3] > max || s->value[4] < min ||
	    s->value[4] > max)
		return "median or average lie outside Min and Max";
	return s->value[5] < 0 || (n > 1 && s->value[5] > max - min)
		       ? "a deviation larger than the range"
		       : NULL;
}

/* "x without_patch" above the header; *top: the first line of the legend. */
static const char *legend_name(struct arena *a, const struct table_text *text, size_t header,
			       size_t lowest, char symbol, size_t *top)
{
	size_t i;

	for (i = header; i > lowest && header - i < 16;) {
		struct span rest = span_trim(text->lines[--i].text), word;

		if (!span_next_word(&rest, &word) || word.len != 1 || word.s[0] != symbol)
			continue;
		rest = span_trim(rest);
		if (!rest.len || rest.len > 80)
			continue;
		*top = MIN(*top, i);
		return span_join_words(a, rest);
	}
	return NULL;
}

/* The title's paragraph: "context_switch2 across CPU0 CPU8 (Different big-cores). We observe" */
static const char *title_of(struct arena *a, const struct table_text *text, size_t top,
			    size_t lowest, enum row_better *better, bool *used)
{
	size_t i = top, first;
	struct span s;
	const char *end;

	while (i > lowest &&
	       (!text->lines[i - 1].text.len || table_is_separator(text->lines[i - 1].text)))
		i--;
	for (first = i; first > lowest && text->lines[first - 1].text.len && i - first < 4; first--)
		if (block_better_in(text->lines[first - 1].text))
			*better = block_better_in(text->lines[first - 1].text);
	if (first == i)
		return NULL;
	used[first] = true;
	s = span_trim(text->lines[first].text);
	end = span_find(s, ". ");
	if (end)
		s.len = (size_t)(end - s.s);
	while (s.len && strchr(".: ", s.s[s.len - 1]))
		s.len--;
	return s.len && s.len <= 120 ? block_section(a, s) : NULL;
}

static void add_rows(struct arena *a, struct table *t, const struct side *sides,
		     enum row_better better)
{
	static const struct {
		int column;
		enum row_kind kind;
	} rows[] = {{1, ROW_EXTREME}, {2, ROW_EXTREME}, {3, ROW_EXTREME}, {4, ROW_VALUE}};
	/* the title says what was counted */
	const char *metric = block_metric(
		a, "ministat", t->section ? block_slug(a, t->section) : "value", NULL, better);
	size_t r, i;

	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		struct table_row *row = ARRAY_PUSH(&t->rows);
		int column = rows[r].column;

		*row = (struct table_row){.key = columns[column],
					  .statistic = column == 4 ? "Amean" : columns[column],
					  .kind = rows[r].kind,
					  .better = better,
					  .line = sides[0].line};
		row->full_metric = arena_printf(a, "%s%s%s", metric, column == 4 ? "" : ".",
						column == 4 ? "" : block_slug(a, columns[column]));
		row->headline = column == 4;
		row->cells = arena_alloc_array(a, t->n_variants, sizeof(*row->cells));
		for (i = 0; i < t->n_variants; i++) {
			struct table_cell *cell = &row->cells[i];

			*cell = block_value(a, sides[i].text[column], sides[i].value[column],
					    sides[i].line);
			cell->has_n = true;
			cell->n = (int)sides[i].value[0];
			cell->has_deviation = column == 4 && cell->n > 1;
			cell->deviation = cell->has_deviation ? sides[i].value[5] : 0;
		}
	}
}

static int read_table(struct arena *a, const struct table_text *text, bool *used, size_t header,
		      size_t gap, size_t *end, const struct table_options *opt,
		      struct table_set *set, struct err *e)
{
	struct table t = {.family = "ministat", .deviation = DEV_STDDEV, .baseline = -1};
	struct side sides[MAX_SIDES] = {{0}};
	enum row_better better = BETTER_UNKNOWN;
	size_t i, k, n = 0, given = 0, top = header;
	const char *fault = NULL;

	for (i = header + 1; i < text->n && n < MAX_SIDES; i++) {
		if (!text->lines[i].text.len)
			continue;
		if (!read_side(text->lines[i].text, &sides[n]))
			break;
		sides[n].line = text->lines[i].line;
		if (fault_of(&sides[n])) {
			fault = fault_of(&sides[n]);
			tables_refuse(a, set, sides[n].line, "\"%c\" refused: %s", sides[n].symbol,
				      fault);
		}
		*end = i + 1;
		n++;
	}
	if (n < 2 || fault)
		return 0; /* one alone compares nothing */
	while (opt && opt->names && opt->names[given])
		given++;
	t.n_variants = n;
	t.variants = arena_alloc_array(a, n, sizeof(*t.variants));
	t.descriptions = arena_alloc_array(a, n, sizeof(*t.descriptions));
	for (i = 0; i < n; i++) {
		t.variants[i] = legend_name(a, text, header, gap, sides[i].symbol, &top);
		if (given)
			t.variants[i] = given == n ? opt->names[i] : NULL;
		for (k = 0; t.variants[i] && k < i; k++)
			if (!strcmp(t.variants[i], t.variants[k]))
				t.variants[i] = NULL;
		if (!t.variants[i])
			return block_nameless(text, sides[i].line, n, opt, e);
	}
	t.line = sides[0].line;
	t.section = title_of(a, text, top, gap, &better, used);
	if (t.section)
		t.benchmark = table_benchmark_in(span_of(t.section), NULL);
	memset(used + top, true, *end - top);
	add_rows(a, &t, sides, better);
	*ARRAY_PUSH(&set->tables) = t;
	return 0;
}

static int ministat_read(const struct table_source *src)
{
	size_t i, end, gap = 0;
	int r = 0;

	for (i = 0; !r && i < src->text->n; i++) {
		if (!is_header(src->text->lines[i].text))
			continue;
		end = i + 1;
		r = read_table(src->a, src->text, src->used, i, gap, &end, src->opt, src->set,
			       src->e);
		i = end - 1;
		gap = end;
	}
	return r;
}

static const struct table_family ministat = {
	.name = "ministat",
	.read = ministat_read,
};
REGISTER(table_family, ministat);
