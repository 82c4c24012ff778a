// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What UnixBench prints, and what people make of it:
 *
 *	w/o
 *	System Benchmarks Partial Index              BASELINE RESULT INDEX
 *	Shell Scripts (1 concurrent)                     42.4 5481.0 1292.7
 *	========
 *	System Benchmarks Index Score (Partial Only)                 1292.7
 *
 *	Testcase                                  Base    with patch
 *	System Benchmarks Index Values            INDEX     INDEX
 *	Execl Throughput                         1296.5     941.1
 *
 *	Benchmark                        Delta(%): (+ is better)
 *	Execl Throughput                      +1.9356
 *
 * BASELINE is a reference machine and no variant. All of it is better when higher.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_SIDES = 16 };

/* A line "KEY numbers": its test and what stands behind. */
struct row {
	const char *key;
	struct span numbers[MAX_SIDES + 1];
	double values[MAX_SIDES + 1];
	int decimals[MAX_SIDES + 1];
	size_t n;
	struct span unit; /* behind the only number ("lpm") */
	bool percent;
	bool is_score; /* the total */
};

struct reader {
	const struct table_source *src;
	struct block_series series;
	struct grid grid;
	size_t gap;
};

static const struct {
	const char *start, *unit;
} tests[] = {
	{"Dhrystone", "lps"},		{"Double-Precision", "MWIPS"}, {"Execl", "lps"},
	{"File Copy", "KBps"},		{"File Read", "KBps"},	       {"File Write", "KBps"},
	{"Pipe Throughput", "lps"},	{"Pipe-based", "lps"},	       {"Process Creation", "lps"},
	{"Shell Scripts", "lpm"},	{"System Call", "lps"},	       {"Graphics", NULL},
	{"System Benchmarks", "index"},
};

/* Which of the tests a line begins with, -1: none. */
static int test_of(struct span line)
{
	size_t i;

	line = span_trim(line);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (line.len >= strlen(tests[i].start) &&
		    !strncasecmp(line.s, tests[i].start, strlen(tests[i].start)))
			return (int)i;
	return -1;
}

/* A number with a "%" behind it or not. */
static bool number_word(struct span word, double *value, int *decimals, bool *percent)
{
	*percent = word.len > 1 && word.s[word.len - 1] == '%';
	word.len -= *percent;
	return block_number(word, value, decimals);
}

/* The numbers at the end of a line; the key is what stands before them. */
static bool read_line(struct arena *a, struct span line, struct row *row)
{
	struct span words[64], rest = line, word;
	size_t n = 0, first, i;
	bool percent;

	*row = (struct row){NULL};
	if (test_of(line) < 0)
		return false;
	while (span_next_word(&rest, &word)) {
		if (n == ARRAY_SIZE(words))
			return false;
		words[n++] = word;
	}
	/* "80765.5 lpm   (60.0 s, 1 samples)" */
	if (memchr(line.s, ',', line.len) && n >= 6 && span_starts(words[n - 1], "samples)")) {
		for (i = n - 1; i > 0 && words[i].s[0] != '('; i--)
			;
		if (i < 3)
			return false;
		n = i;
		row->unit = words[--n];
	}
	for (first = n; first > 1 && row->n < MAX_SIDES; first--) {
		double value;
		int decimals;

		if (!number_word(words[first - 1], &value, &decimals, &percent))
			break;
		row->percent |= percent;
		row->n++;
	}
	if (!row->n)
		return false;
	for (i = 0; i < row->n; i++) {
		row->numbers[i] = words[first + i];
		number_word(words[first + i], &row->values[i], &row->decimals[i], &percent);
		row->numbers[i].len -= percent;
	}
	line.s = words[0].s;
	line.len = (size_t)(words[first - 1].s + words[first - 1].len - line.s);
	while (line.len && line.s[line.len - 1] == ':')
		line.len--;
	row->key = span_join_words(a, line);
	row->is_score = span_starts(line, "System Benchmarks Index Score");
	return true;
}

/*
 * The row at line i, joined with the next line where it was wrapped; *end: the line after it. Test
 * names have numbers of their own ("Dhrystone 2 using ..."), which are not at the end.
 */
static bool read_row(const struct reader *rd, size_t i, struct row *row, size_t *end)
{
	struct span line = rd->src->text->lines[i].text, next, word;
	bool percent, ok;
	double value;
	int decimals;

	*end = i + 1;
	if (test_of(line) < 0)
		return false;
	ok = read_line(rd->src->a, line, row);
	if (i + 1 >= rd->src->text->n || line.len > 200)
		return ok;
	next = rd->src->text->lines[i + 1].text;
	if (next.len > 200 || !span_next_word(&(struct span){next.s, next.len}, &word))
		return ok;
	/* what follows are numbers or the end of a parenthesis alone */
	if (!(number_word(word, &value, &decimals, &percent) || span_starts(word, "samples)")) ||
	    (ok && !span_starts(word, "samples)") && row->is_score))
		return ok;
	for (struct span rest = next; span_next_word(&rest, &word);)
		if (!number_word(word, &value, &decimals, &percent) &&
		    !span_starts(word, "samples)"))
			return ok;
	line = span_of(arena_printf(rd->src->a, "%.*s %.*s", (int)line.len, line.s, (int)next.len,
				    next.s));
	if (!read_line(rd->src->a, line, row))
		return ok && read_line(rd->src->a, rd->src->text->lines[i].text, row);
	*end = i + 2;
	return true;
}

static struct table_row row_of(struct reader *rd, const struct row *row, const char *column,
			       int line)
{
	bool score = row->is_score, index = score || !strcmp(column, "INDEX");
	struct table_row out = {
		.key = score || !*column ? row->key
					 : arena_printf(rd->src->a, "%s %s", row->key, column),
		.full_metric = index ? "unixbench.index" : "unixbench.result",
		.headline = true,
		.better = BETTER_HIGHER,
		.line = line,
	};
	struct table_param *p = arena_alloc_array(rd->src->a, 1, sizeof(*p));
	int test = test_of(span_of(row->key));

	*p = (struct table_param){"test", score ? "score" : block_slug(rd->src->a, row->key), true};
	out.axis = out.key;
	out.params = p;
	out.n_params = 1;
	out.benchmark = "unixbench";
	if (!index && test >= 0 && tests[test].unit)
		out.full_metric = arena_printf(rd->src->a, "unixbench.%s",
					       block_slug(rd->src->a, tests[test].unit));
	out.unit = index ? "index" : test >= 0 ? tests[test].unit : NULL;
	return out;
}

/* ---- one output after the other ---- */

static bool is_index_header(struct span line)
{
	return span_find(line, "BASELINE") && span_find(line, "RESULT") && span_find(line, "INDEX");
}

/* INDEX is RESULT / BASELINE * 10. */
static bool index_agrees(const struct row *row)
{
	double reference = row->values[0], result = row->values[1], index = row->values[2];

	return reference > 0 &&
	       fabs(result / reference * 10 - index) <=
		       0.06 + 0.01 * fabs(index) * 0.05 / reference + 0.51 / reference;
}

static void add(struct reader *rd, const struct block_heading *h, const struct row *row,
		const char *column, size_t at, int line)
{
	struct table_row out = row_of(rd, row, column, line);
	struct table_cell cell = block_value(rd->src->a, row->numbers[at], row->values[at], line);

	grid_add(&rd->grid, NULL, h, &out, &cell);
}

/* Lines of one output from i on: its rows with three numbers, its score; *end: after the last. */
static void read_output(struct reader *rd, size_t i, size_t *end)
{
	struct block_heading h;
	struct row row;
	size_t next, rows = 0;
	bool named = block_series_next(&rd->series, i, &h), header = false;

	for (*end = i; i < rd->src->text->n; i = next) {
		const struct table_line *line = &rd->src->text->lines[i];

		next = i + 1;
		if (!line->text.len || table_is_separator(line->text))
			continue;
		if (is_index_header(line->text)) {
			if (header)
				break;
			header = true;
			*end = next;
			continue;
		}
		if (!read_row(rd, i, &row, &next))
			break;
		*end = next;
		rows++;
		if (!named || (row.n == 1 && row.unit.s))
			continue; /* repeated in the table below */
		if (row.is_score && row.n == 1) {
			add(rd, &h, &row, "", 0, line->line);
			i = *end;
			break;
		}
		if (row.n != 3) {
			tables_refuse(rd->src->a, rd->src->set, line->line,
				      "row \"%s\" refused: %zu of 3 numbers", row.key, row.n);
			continue;
		}
		if (!index_agrees(&row)) {
			tables_refuse(rd->src->a, rd->src->set, line->line,
				      "row \"%s\" refused: %.*f for a BASELINE of %.*f is an INDEX "
				      "of %.1f, but %.*f is printed",
				      row.key, row.decimals[1], row.values[1], row.decimals[0],
				      row.values[0], 10 * row.values[1] / row.values[0],
				      row.decimals[2], row.values[2]);
			continue;
		}
		add(rd, &h, &row, "RESULT", 1, line->line);
		add(rd, &h, &row, "INDEX", 2, line->line);
	}
	rd->series.gap = *end;
}

/* Whether an output begins at line i: its header, or result lines that lead to one. */
static bool output_begins(const struct reader *rd, size_t i)
{
	size_t k;

	for (k = i; k < rd->src->text->n && k < i + 30; k++) {
		struct span line = rd->src->text->lines[k].text;
		struct row row;
		size_t end;

		if (is_index_header(line))
			return true;
		if (!line.len && k > i)
			continue;
		if (!read_row(rd, k, &row, &end) || !row.unit.s)
			return false;
		k = end - 1;
	}
	return false;
}

/* ---- columns ---- */

static bool is_index_line(struct span line)
{
	struct span word, rest = line;
	size_t n = 0;

	while (span_next_word(&rest, &word))
		n += span_is(word, "INDEX") || span_is(word, "RESULT");
	return n > 1 && !span_find(line, "BASELINE");
}

/* Names of n columns above line `first`: the line with "INDEX INDEX" names none. */
static bool column_names(struct reader *rd, size_t first, size_t n, struct table_names *names)
{
	struct table_legend legend = {{NULL, 0, 0}};
	struct table_text copy = *rd->src->text;
	size_t top = first, lowest = first > rd->gap + 12 ? first - 12 : rd->gap, i;
	struct span rest, word;
	bool found;

	while (top > lowest && (!rd->src->text->lines[top - 1].text.len ||
				table_is_separator(rd->src->text->lines[top - 1].text) ||
				is_index_line(rd->src->text->lines[top - 1].text)))
		top--;
	if (top == lowest)
		return rd->src->opt && rd->src->opt->names &&
		       table_names_find(rd->src->a, rd->src->text, first, lowest, n, &legend, NULL,
					rd->src->opt, names);
	/* the label of the rows is one word, or what a wide gap ends */
	copy.lines = arena_copy(rd->src->a, rd->src->text->lines, top + 1, sizeof(*copy.lines));
	rest = copy.lines[top - 1].text;
	if (span_next_word(&rest, &word) &&
	    (!strncasecmp(word.s, "test", 4) || !strncasecmp(word.s, "benchmark", 9) ||
	     word.s[word.len - 1] == ':')) {
		if (span_starts(span_trim(rest), "case ") || span_starts(span_trim(rest), "name "))
			span_next_word(&rest, &word);
		copy.lines[top - 1].text = rest;
	}
	copy.n = top + 1;
	found = table_names_find(rd->src->a, &copy, top, lowest, n, &legend, NULL, rd->src->opt,
				 names) ||
		(!(rd->src->opt && rd->src->opt->names) &&
		 table_names_words(rd->src->a, &copy, top, lowest, n, names));
	ARRAY_FREE(&legend.entries);
	for (i = 0; found && i < n; i++)
		found = names->names[i] != NULL;
	return found;
}

static enum row_better header_better(const struct reader *rd, size_t first)
{
	size_t i;

	for (i = first; i > rd->gap && first - i < 6; i--)
		if (block_better_in(rd->src->text->lines[i - 1].text))
			return block_better_in(rd->src->text->lines[i - 1].text);
	return BETTER_UNKNOWN;
}

/* "Delta(%)": the header above says that the only column is a change. */
static const char *delta_name(struct reader *rd, size_t first)
{
	static const char *const words[] = {"delta", "change", "diff", "improvement", "gain"};
	size_t i, k;

	for (i = first; i > rd->gap && first - i < 5; i--) {
		struct span rest = rd->src->text->lines[i - 1].text, word;

		while (span_next_word(&rest, &word))
			for (k = 0; k < ARRAY_SIZE(words); k++)
				if (word.len >= strlen(words[k]) &&
				    !strncasecmp(word.s, words[k], strlen(words[k]))) {
					while (word.s[word.len - 1] == ':')
						word.len--;
					return arena_strndup(rd->src->a, word.s, word.len);
				}
	}
	return NULL;
}

static int nameless_columns(struct reader *rd, size_t first, size_t n)
{
	return block_nameless(rd->src->text, rd->src->text->lines[first].line, n, rd->src->opt,
			      rd->src->e);
}

/* Rows of n columns from line `first` on. */
static int read_columns(struct reader *rd, size_t first, size_t *end)
{
	struct table t = {.family = "unixbench", .benchmark = "unixbench", .baseline = -1};
	struct table_names names = {NULL, NULL, first};
	const char *delta = NULL;
	size_t i, next, counts[MAX_SIDES + 1] = {0}, best = 0, k;
	struct row row;
	enum row_better better = header_better(rd, first);

	for (i = first; i < rd->src->text->n; i = next) {
		next = i + 1;
		if (!rd->src->text->lines[i].text.len ||
		    table_is_separator(rd->src->text->lines[i].text))
			continue;
		if (!read_row(rd, i, &row, &next))
			break;
		counts[row.n]++;
		*end = next;
	}
	for (k = 1; k <= MAX_SIDES; k++)
		if (counts[k] && counts[k] >= counts[best])
			best = k;
	if (best == 1)
		delta = delta_name(rd, first);
	if (best < 2 && !delta)
		return 0; /* a list of one variant says nothing */
	t.n_variants = best;
	t.line = rd->src->text->lines[first].line;
	if (delta) {
		t.variants = arena_alloc_array(rd->src->a, 1, sizeof(*t.variants));
		t.descriptions = arena_alloc_array(rd->src->a, 1, sizeof(*t.descriptions));
		t.variants[0] = delta;
		t.sign = better == BETTER_HIGHER ? SIGN_BETTER_POSITIVE : SIGN_RAW;
		t.delta_only = true;
	} else if (column_names(rd, first, best, &names)) {
		t.variants = names.names;
		t.descriptions = names.descriptions;
	} else {
		return nameless_columns(rd, first, best);
	}
	for (i = first; i < *end; i = next) {
		const char *column = delta ? "" : "INDEX";
		struct table_row out;
		int line = rd->src->text->lines[i].line;

		next = i + 1;
		if (!read_row(rd, i, &row, &next))
			continue;
		if (row.n != best) {
			tables_refuse(rd->src->a, rd->src->set, line,
				      "row \"%s\" refused: %zu of %zu cells", row.key, row.n, best);
			continue;
		}
		out = row_of(rd, &row, column, line);
		out.better = better ? better : out.better;
		if (delta)
			out.orientation = CHANGE_UNKNOWN;
		out.cells = arena_alloc_array(rd->src->a, best, sizeof(*out.cells));
		for (k = 0; k < best; k++) {
			out.cells[k] = block_value(rd->src->a, row.numbers[k], row.values[k], line);
			if (!delta)
				continue;
			out.cells[k].has_value = false;
			out.cells[k].has_change = true;
			out.cells[k].change = row.values[k];
			out.cells[k].value = 0;
		}
		*ARRAY_PUSH(&t.rows) = out;
	}
	if (!t.rows.n)
		return 0;
	t.unit = delta ? "%" : "index";
	table_index_repeats(&t);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
	return 0;
}

static int unixbench_read(const struct table_source *src)
{
	struct reader rd = {
		.src = src,
		.grid.a = src->a,
		.series = {.a = src->a,
			   .text = src->text,
			   .used = src->used,
			   .opt = src->opt,
			   .sessions = block_sessions(src->a, src->text)},
	};
	const struct table common = {
		.family = "unixbench", .benchmark = "unixbench", .sign = SIGN_NONE, .baseline = -1};
	size_t i = 0, end;
	struct row row;
	int r = 0;

	while (!r && i < src->text->n) {
		end = i + 1;
		if (is_index_header(src->text->lines[i].text) ||
		    (test_of(src->text->lines[i].text) >= 0 && output_begins(&rd, i))) {
			read_output(&rd, i, &end);
		} else if (test_of(src->text->lines[i].text) >= 0 &&
			   !is_index_line(src->text->lines[i].text) &&
			   read_row(&rd, i, &row, &end)) {
			r = read_columns(&rd, i, &end);
		} else {
			i++;
			continue;
		}
		memset(src->used + i, true, MAX(end, i + 1) - i);
		i = rd.gap = MAX(end, i + 1);
	}
	if (!r && rd.series.nameless_line && rd.series.blocks > 1)
		r = block_nameless(src->text, rd.series.nameless_line, rd.series.blocks, src->opt,
				   src->e);
	grid_finish(&rd.grid, src->set, 2, false, &common);
	return r;
}

static const struct table_family unixbench = {
	.name = "unixbench",
	.read = unixbench_read,
};
REGISTER(table_family, unixbench);
