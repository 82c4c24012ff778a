// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of means with a column of their deviation behind each, often normalised to the baseline:
 *
 *	threads       baseline-avg    %std    patch-avg       %std
 *	96            1               0.83    1.23            3.27
 *
 * Names may have blanks where gaps or equal numbers of words tell them apart. Values are what is
 * printed; nothing says which way is better.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MAX_SIDES = 16, MAX_WORDS = 64 };

struct header {
	const char *names[MAX_SIDES];
	const char *label;
	enum deviation_kind kind;
	size_t n, end; /* end: the line after it */
};

/* "%std", "std%", "(std%)", "stddev": the kind of deviation, DEV_NONE for any other word. */
static enum deviation_kind deviation_word(struct span word)
{
	static const struct {
		const char *word;
		enum deviation_kind kind;
	} words[] = {
		{"%std", DEV_PERCENT},	  {"std%", DEV_PERCENT},   {"%stddev", DEV_PERCENT},
		{"stddev%", DEV_PERCENT}, {"%stdev", DEV_PERCENT}, {"stdev%", DEV_PERCENT},
		{"stddev", DEV_STDDEV},	  {"stdev", DEV_STDDEV},   {"std", DEV_STDDEV},
		{"cv", DEV_CV},		  {"cv%", DEV_CV},	   {"%cv", DEV_CV},
	};
	size_t i;

	if (word.len > 2 && word.s[0] == '(' && word.s[word.len - 1] == ')') {
		word.s++;
		word.len -= 2;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (word.len == strlen(words[i].word) &&
		    !strncasecmp(word.s, words[i].word, word.len))
			return words[i].kind;
	return DEV_NONE;
}

/* Words [from, to) as one name; a wide gap before the last part ends the label of the rows. */
static const char *name_of(struct arena *a, const struct span *words, size_t from, size_t to)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = from; i < to; i++)
		strbuf_addf(&sb, "%s%.*s", i > from ? " " : "", (int)words[i].len, words[i].s);
	return arena_strndup(a, strbuf_str(&sb), sb.len);
}

/* Words of lines [i, i + 3) up to the last deviation; false: no such header starts here. */
static bool read_header(struct arena *a, const struct table_text *text, size_t i, struct header *h)
{
	struct span words[MAX_WORDS];
	size_t ends[MAX_SIDES], n = 0, lines, last = 0, per, k;

	*h = (struct header){0};
	for (lines = 0; lines < 4 && i + lines < text->n; lines++) {
		struct span rest = text->lines[i + lines].text, word;
		double value;
		int decimals;

		if (lines && !rest.len)
			break;
		if (lines && span_next_word(&(struct span){rest.s, rest.len}, &word) &&
		    block_number(word, &value, &decimals))
			break;
		while (n < MAX_WORDS && span_next_word(&rest, &word)) {
			enum deviation_kind kind = deviation_word(word);

			words[n++] = word;
			if (kind == DEV_NONE)
				continue;
			if (h->n == MAX_SIDES || (h->n && kind != h->kind) || last == n - 1)
				return false;
			h->kind = kind;
			ends[h->n++] = n - 1;
			last = n;
			h->end = i + lines + 1;
		}
		if (!h->n || n == MAX_WORDS)
			return false;
	}
	if (h->n < 2 || last != n)
		return false;
	per = ends[1] - ends[0] - 1;
	for (k = 1; k < h->n; k++) {
		h->names[k] = name_of(a, words, ends[k - 1] + 1, ends[k]);
		per = MIN(per, ends[k] - ends[k - 1] - 1);
	}
	/* what stands before the first name is the label of the rows; at least one word is the name
	 */
	per = MAX(MIN(per, ends[0] > 1 ? ends[0] - 1 : ends[0]), (size_t)1);
	h->names[0] = name_of(a, words, ends[0] - per, ends[0]);
	h->label = name_of(a, words, 0, ends[0] - per);
	return true;
}

/* Numbers of a row from line i on, wrapped or not: 2 n of them behind the key. */
static bool read_row(struct arena *a, const struct table_text *text, size_t *i, size_t n,
		     struct block_row *row)
{
	struct span rest = text->lines[*i].text, word, last = {NULL, 0};
	const char *start;
	struct table_cell numbers[2 * MAX_SIDES + 1];
	size_t have = 0, key_words = 0, at = *i, k;
	double value;
	int decimals;

	rest = span_trim(rest);
	start = rest.s;
	if (!span_next_word(&rest, &word))
		return false;
	*row = (struct block_row){.line = text->lines[at].line};
	last = word;
	for (;;) {
		while (span_next_word(&rest, &word)) {
			if (!block_number(word, &value, &decimals)) {
				if (have || ++key_words > 4)
					return false;
				last = word;
				continue;
			}
			if (have == 2 * n)
				return false;
			numbers[have++] = block_value(a, word, value, text->lines[at].line);
		}
		if (have == 2 * n || at + 1 >= text->n || !text->lines[at + 1].text.len || !have)
			break;
		/* wrapped: numbers alone, and not more than are missing */
		rest = text->lines[at + 1].text;
		for (k = 0; span_next_word(&rest, &word) && block_number(word, &value, &decimals);)
			k++;
		if (span_trim(rest).len || !k || k > 2 * n - have || (have == 0 && k == 2 * n))
			break;
		rest = text->lines[++at].text;
	}
	if (!have)
		return false;
	row->key = span_join_words(a, (struct span){start, (size_t)(last.s + last.len - start)});
	if (have != 2 * n)
		row->bad = arena_printf(a, "%zu of %zu numbers", have, 2 * n);
	for (k = 0; k + 1 < have; k += 2) {
		struct block_cell *cell = ARRAY_PUSH(&row->cells);

		*cell = (struct block_cell){.c = numbers[k]};
		cell->c.has_deviation = true;
		cell->c.deviation = numbers[k + 1].value;
		if (cell->c.deviation < 0)
			row->bad = "a deviation below 0";
	}
	*i = at + 1;
	return true;
}

/* The column that is 1 in every row. */
static int column_of_ones(const struct table *t)
{
	const struct table_row *row;
	size_t i, ones;

	for (i = 0; i < t->n_variants; i++) {
		ones = 0;
		array_for_each (row, &t->rows)
			ones += row->cells[i].value == 1;
		if (ones == t->rows.n)
			return (int)i;
	}
	return -1;
}

static const char *axis_of(struct arena *a, const char *label)
{
	const char *end = label + strcspn(label, " :");

	return *label && isalpha((unsigned char)*label) && end - label > 3
		       ? arena_strndup(a, label, (size_t)(end - label))
		       : NULL;
}

static int make_table(struct arena *a, const struct table_text *text, bool *used, size_t from,
		      size_t first, struct header *h, const block_rows *rows,
		      const struct table_options *opt, struct table_set *set, struct err *e)
{
	struct table t = {.family = "norm-std", .deviation = h->kind, .n_variants = h->n};
	struct block_context c = {0};
	size_t i, k, given = 0;

	t.line = rows->items[0].line;
	t.variants = arena_copy(a, h->names, h->n, sizeof(*h->names));
	t.descriptions = arena_alloc_array(a, h->n, sizeof(*t.descriptions));
	if (opt && opt->names) {
		while (opt->names[given])
			given++;
		if (given != h->n)
			return block_nameless(text, t.line, h->n, opt, e);
		for (i = 0; i < h->n; i++)
			t.variants[i] = opt->names[i];
	}
	for (i = 0; i < h->n; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(t.variants[i], t.variants[k]))
				return block_nameless(text, t.line, h->n, opt, e);
	block_context(a, text, used, from, first, &c);
	t.baseline = -1;
	block_check_rows(a, set, &t, rows, CHANGE_UNKNOWN);
	if (!t.rows.n)
		return 0;
	t.baseline = column_of_ones(&t);
	table_index_repeats(&t);
	c.normalised |= t.baseline >= 0;
	block_name_rows(a, set, &t, &c);
	for (i = 0; i < t.rows.n && axis_of(a, h->label); i++) {
		t.axis_name = axis_of(a, h->label);
		t.rows.items[i].axis = t.rows.items[i].key;
	}
	*ARRAY_PUSH(&set->tables) = t;
	return 0;
}

/* The next row, past one line of remark or nothing between two of them. */
static bool read_next(const struct table_source *src, size_t *at, size_t n, bool inside,
		      struct block_row *row)
{
	size_t next = *at + 1;
	struct header h;

	if (*at < src->text->n && read_row(src->a, src->text, at, n, row))
		return true;
	if (!inside || next >= src->text->n || read_header(src->a, src->text, *at, &h) ||
	    !read_row(src->a, src->text, &next, n, row))
		return false;
	*at = next;
	return true;
}

static int norm_std_read(const struct table_source *src)
{
	size_t i = 0, gap = 0, top, at;
	struct header h;
	int r = 0;

	while (!r && i < src->text->n) {
		block_rows rows = {NULL, 0, 0};
		struct block_row row;

		top = i++;
		if (src->used[top] || !read_header(src->a, src->text, top, &h))
			continue;
		for (at = h.end;
		     at < src->text->n && (!src->text->lines[at].text.len ||
					   table_is_separator(src->text->lines[at].text));)
			at++;
		while (read_next(src, &at, h.n, rows.n > 0, &row))
			*ARRAY_PUSH(&rows) = row;
		if (rows.n) {
			r = make_table(src->a, src->text, src->used, gap, top, &h, &rows, src->opt,
				       src->set, src->e);
			memset(src->used + top, true, at - top);
			gap = i = at;
		}
		block_rows_free(&rows);
	}
	return r;
}

static const struct table_family norm_std = {
	.name = "norm-std",
	.read = norm_std_read,
};
REGISTER(table_family, norm_std);
