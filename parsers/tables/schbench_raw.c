// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What schbench prints, one variant below the other or side by side:
 *
 *	5.4.0-rc1 (last good kernel)		Latency percentiles (usec):
 *	Latency percentiles (usec)			      base	base+patch
 *	     50.0th: 180 (502 samples)		50.0000th:	 9		 9
 *	     *99.0th: 338 (41 samples)		*99.0000th:	27		24
 *	     min=25, max=1185
 *
 * The star marks the headline percentile, the samples are those of one run: every block is a single
 * run. Percentages in brackets are new / old - 1.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { MAX_SIDES = 16 };

struct value {
	const char *key;    /* "*99.0th", "min" */
	const char *metric; /* "latency.p99" */
	const char *unit, *section;
	struct block_cell cell;
	size_t side;
};

/* What the title above the percentiles says they are. */
struct kind {
	const char *title, *section, *metric, *unit;
};

static const struct kind kinds[] = {
	{"Wakeup Latenc", "Wakeup Latencies", "wakeup", "us"},
	{"Request Latenc", "Request Latencies", "request", "us"},
	{"RPS perc", "RPS", "rps", "req/s"},
	{"Latency perc", NULL, "latency", "us"},
};

struct reader {
	const struct table_source *src;
	const struct kind *kind;
	const char *key; /* of the row being read, or NULL */
	const char *row_key;
	size_t side, sides; /* values of the row so far; most of any row */
	ARRAY_OF(struct value) values;
	size_t rows;
};

/* "99.0th:", "*99.0000th": the percentile without needless zeros, NULL for another word. */
static const char *percentile(struct arena *a, struct span word)
{
	size_t n = 0, end;

	if (word.len && word.s[word.len - 1] == ':')
		word.len--;
	if (word.len < 3 || word.s[word.len - 2] != 't' || word.s[word.len - 1] != 'h')
		return NULL;
	word.len -= 2;
	if (word.s[0] == '*')
		word.s++, word.len--;
	while (n < word.len && (isdigit((unsigned char)word.s[n]) || word.s[n] == '.'))
		n++;
	if (!n || n != word.len || !isdigit((unsigned char)word.s[0]))
		return NULL;
	end = n;
	if (memchr(word.s, '.', n)) {
		while (end > 1 && word.s[end - 1] == '0')
			end--;
		end -= word.s[end - 1] == '.';
	}
	return arena_printf(a, "p%.*s", (int)end, word.s);
}

static const struct kind *title_of(struct span line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_find(line, kinds[i].title))
			return &kinds[i];
	return NULL;
}

static void add_value(struct reader *rd, struct span number, double value, int line)
{
	const struct kind *k = rd->kind ? rd->kind : &kinds[3];
	struct value *v = ARRAY_PUSH(&rd->values);

	*v = (struct value){.key = rd->row_key,
			    .unit = k->unit,
			    .section = k->section,
			    .side = rd->side++,
			    .cell.c = block_value(rd->src->a, number, value, line)};
	v->metric = arena_printf(rd->src->a, "%s.%s", k->metric, rd->key);
	rd->sides = MAX(rd->sides, rd->side);
}

static void start_row(struct reader *rd, const char *key, const char *row_key)
{
	/* the same label again on a line is the next column */
	if (!rd->row_key || strcmp(rd->row_key, row_key)) {
		rd->side = 0;
		rd->rows++;
	}
	rd->key = key;
	rd->row_key = row_key;
}

/* "min=0," "max=10007" */
static bool take_extreme(struct reader *rd, struct span word, int line)
{
	struct span number;
	double value;
	int decimals;
	bool min = span_starts(word, "min=");

	if (!min && !span_starts(word, "max="))
		return false;
	number = (struct span){word.s + 4, word.len - 4};
	if (number.len && number.s[number.len - 1] == ',')
		number.len--;
	if (!block_number(number, &value, &decimals))
		return false;
	/* min and max alternate, so that their columns are counted apart */
	rd->key = rd->row_key = min ? "min" : "max";
	rd->side = 0;
	if (rd->values.n && !strcmp(rd->values.items[rd->values.n - 1].key, min ? "max" : "min") &&
	    rd->values.n > 1 && !strcmp(rd->values.items[rd->values.n - 2].key, rd->row_key) &&
	    rd->values.items[rd->values.n - 2].cell.c.line == line)
		rd->side = rd->values.items[rd->values.n - 2].side + 1;
	add_value(rd, number, value, line);
	return true;
}

/* "(-71%)" or "(41 samples)" behind a value; takes its words off *rest. */
static bool take_parenthesis(struct reader *rd, struct span word, struct span *rest)
{
	struct block_cell *cell;
	const char *close;
	struct span inside;
	double value;
	int decimals;
	size_t n;

	if (!rd->values.n || word.s[0] != '(')
		return false;
	cell = &rd->values.items[rd->values.n - 1].cell;
	inside = (struct span){word.s + 1, (size_t)(rest->s + rest->len - word.s) - 1};
	close = memchr(inside.s, ')', inside.len);
	if (!close)
		return false;
	rest->len = (size_t)(rest->s + rest->len - close) - 1;
	rest->s = close + 1;
	inside = span_trim((struct span){inside.s, (size_t)(close - inside.s)});
	n = table_scan_number(inside, &value, &decimals);
	if (!n)
		return false;
	inside = span_trim((struct span){inside.s + n, inside.len - n});
	if (span_starts(inside, "sample")) {
		cell->c.has_n = value >= 1 && value < 2e9;
		cell->c.n = cell->c.has_n ? (int)value : 0;
		return true;
	}
	if (!span_is(inside, "%"))
		return false;
	cell->c.has_change = true;
	cell->c.change = value;
	cell->change_decimals = decimals;
	return true;
}

/* Words of a line that belong to an output; false: others stand there too, and nothing was taken.
 */
static bool read_line(struct reader *rd, struct span rest, int line)
{
	size_t values = rd->values.n, rows = rd->rows;
	bool star = false, header = false;
	struct span word;
	double value;
	int decimals;

	rd->row_key = rd->key = NULL;
	while (span_next_word(&rest, &word)) {
		const char *p = percentile(rd->src->a, word);

		if (p) {
			size_t n = word.len - (word.s[word.len - 1] == ':');

			start_row(rd, p,
				  arena_printf(rd->src->a, "%s%.*s", star ? "*" : "", (int)n,
					       word.s));
			star = header = false;
			continue;
		}
		if (span_is(word, "*") && !rd->key) {
			star = true;
			continue;
		}
		if (span_is(word, "*")) {
			star = true; /* of the next label on the line */
			continue;
		}
		if (take_extreme(rd, word, line))
			continue;
		if (rd->key && block_number(word, &value, &decimals) && value >= 0) {
			add_value(rd, word, value, line);
			continue;
		}
		if (rd->key && rd->side && take_parenthesis(rd, word, &rest))
			continue;
		if (rd->side && (span_starts(word, "<-") || span_starts(word, "->")))
			continue;
		/* the title, with the first rows behind it where the text was flattened */
		if (!rd->key && (header || title_of((struct span){word.s, word.len + rest.len}))) {
			if (!header)
				rd->kind = title_of((struct span){word.s, word.len + rest.len});
			header = true;
			continue;
		}
		rd->values.n = values;
		rd->rows = rows;
		return false;
	}
	return rd->values.n > values || header;
}

/* "average rps: 422.23": the only line of its kind. */
static bool read_average(struct reader *rd, struct span line, int number)
{
	struct span rest = span_trim(line);
	double value;
	int decimals;
	struct value *v;

	if (!span_starts(rest, "average rps:"))
		return false;
	rest = span_trim((struct span){rest.s + 12, rest.len - 12});
	if (!block_number(rest, &value, &decimals) || value < 0)
		return false;
	v = ARRAY_PUSH(&rd->values);
	*v = (struct value){.key = "average rps",
			    .metric = "average_rps",
			    .unit = "req/s",
			    .section = "RPS",
			    .cell.c = block_value(rd->src->a, rest, value, number)};
	return true;
}

/* Lines of one block from i on; *end: the line after the last. */
static void read_block(struct reader *rd, size_t i, size_t *end)
{
	const struct kind *before;

	rd->values.n = rd->rows = rd->sides = 0;
	rd->kind = NULL;
	for (*end = i; i < rd->src->text->n; i++) {
		const struct table_line *line = &rd->src->text->lines[i];
		struct span joined = line->text;
		size_t lines = 1;

		if (!joined.len)
			continue;
		before = title_of(joined);
		/* another output of the same kind begins a block of its own */
		if (before && rd->values.n &&
		    (before == rd->kind || before == &kinds[0] || before == &kinds[3]))
			return;
		if (memrchr(joined.s, '(', joined.len) > memrchr(joined.s, ')', joined.len) &&
		    i + 1 < rd->src->text->n && joined.len < 300) {
			const struct span *next = &rd->src->text->lines[i + 1].text;

			joined = span_of(arena_printf(rd->src->a, "%.*s %.*s", (int)joined.len,
						      joined.s, (int)MIN(next->len, (size_t)300),
						      next->s));
			lines = 2;
		}
		if (!read_line(rd, joined, line->line) && !read_average(rd, joined, line->line))
			return;
		i += lines - 1;
		*end = i + 1;
	}
}

/* A percentage in brackets is against the same row of the block before. */
static bool check_change(struct reader *rd, const struct value *v, const struct table_cell *base)
{
	struct block_cell cell = v->cell;

	if (!cell.c.has_change || !base ||
	    block_change_fits(base, &cell.c, cell.change_decimals) & FITS_RAW)
		return true;
	tables_refuse(rd->src->a, rd->src->set, cell.c.line,
		      "row \"%s\" refused: %s for %s is %.2f%%, but %.*f%% is printed", v->key,
		      cell.c.value_text, base->value_text,
		      base->value > 0 ? 100 * (cell.c.value / base->value - 1) : 0,
		      cell.change_decimals, cell.c.change);
	return false;
}

/* The same row of the first side or the first block. */
static const struct table_cell *base_of(const struct value *first, size_t n, const struct value *v)
{
	size_t i;

	for (i = 0; i < n && i < 200; i++)
		if (first[i].side == 0 && !strcmp(first[i].key, v->key) &&
		    str_equal(first[i].section, v->section))
			return &first[i].cell.c;
	return NULL;
}

struct first_block {
	const struct value *values;
	size_t n;
};

static void add_values(struct reader *rd, struct grid *g, const struct block_heading *sides,
		       size_t n_sides, struct first_block *first)
{
	static const struct table_param none;
	const struct value *v;

	if (!first->n) {
		first->n = rd->values.n;
		first->values = arena_copy(rd->src->a, rd->values.items, rd->values.n,
					   sizeof(*rd->values.items));
	}
	array_for_each (v, &rd->values) {
		struct table_row row = {.key = v->key,
					.axis = v->key,
					.metric = v->metric,
					.unit = v->unit,
					.params = &none,
					.line = v->cell.c.line};

		if (v->side < n_sides && check_change(rd, v, base_of(first->values, first->n, v)))
			grid_add(g, v->section, &sides[v->side], &row, &v->cell.c);
	}
}

/* Every row of columns has as many values; one that has fewer is refused. */
static void drop_short_rows(struct reader *rd)
{
	size_t i, from, to, kept = 0;

	for (from = 0; from < rd->values.n; from = to) {
		bool extreme = !strcmp(rd->values.items[from].key, "min") ||
			       !strcmp(rd->values.items[from].key, "max");

		for (to = from + 1; to < rd->values.n && !extreme &&
				    !strcmp(rd->values.items[to].key, rd->values.items[from].key);)
			to++;
		if (!extreme && to - from != rd->sides) {
			tables_refuse(rd->src->a, rd->src->set, rd->values.items[from].cell.c.line,
				      "row \"%s\" refused: %zu of %zu cells",
				      rd->values.items[from].key, to - from, rd->sides);
			continue;
		}
		for (i = from; i < to; i++)
			rd->values.items[kept++] = rd->values.items[i];
	}
	rd->values.n = kept;
}

static int add_sides(struct reader *rd, struct grid *g, struct block_series *series, size_t first,
		     size_t row, const struct table_options *opt, struct first_block *base,
		     struct err *e)
{
	struct block_heading sides[MAX_SIDES] = {{NULL, NULL, NULL}};
	struct table_legend legend = {{NULL, 0, 0}};
	struct table_names names;
	size_t i;
	bool found;

	if (rd->sides > MAX_SIDES)
		return 0;
	/* the names stand between the title and the rows, or above both */
	found = table_names_find(rd->src->a, rd->src->text, row, series->gap, rd->sides, &legend,
				 NULL, opt, &names) ||
		table_names_find(rd->src->a, rd->src->text, first, series->gap, rd->sides, &legend,
				 NULL, opt, &names) ||
		(!(opt && opt->names) &&
		 table_names_words(rd->src->a, rd->src->text, row, series->gap, rd->sides, &names));
	if (!found)
		return block_nameless(rd->src->text, rd->values.items[0].cell.c.line, rd->sides,
				      opt, e);
	for (i = 0; i < rd->sides; i++)
		sides[i].name = names.names[i];
	memset(rd->src->used + MIN(names.top, first), true, row - MIN(names.top, first));
	drop_short_rows(rd);
	add_values(rd, g, sides, rd->sides, base);
	return 0;
}

static bool is_schbench(const struct reader *rd)
{
	return rd->rows >= 3 || (rd->kind && rd->rows);
}

static int schbench_raw_read(const struct table_source *src)
{
	struct reader rd = {.src = src};
	struct block_series series = {.a = src->a,
				      .text = src->text,
				      .used = src->used,
				      .opt = src->opt,
				      .sessions = block_sessions(src->a, src->text)};
	struct grid g = {.a = src->a};
	struct first_block base = {NULL, 0};
	const struct table common = {.family = "schbench-raw",
				     .benchmark = "schbench",
				     .sign = SIGN_NONE,
				     .baseline = -1};
	struct block_heading h;
	size_t i = 0, end, row, refused;
	int r = 0;

	while (!r && i < src->text->n) {
		refused = src->set->refused.n;
		read_block(&rd, i, &end);
		if (!is_schbench(&rd) || !rd.values.n) {
			src->set->refused.n = refused;
			/* src->a title whose rows follow below the names of columns */
			if (end > i && rd.kind && !rd.values.n && end < src->text->n) {
				const struct kind *kind = rd.kind;

				for (row = end; row < src->text->n && row < end + 3; row++) {
					size_t stop;

					read_block(&rd, row, &stop);
					rd.kind = rd.kind ? rd.kind : kind;
					if (rd.rows >= 3 && rd.sides > 1)
						break;
				}
				if (row < src->text->n && row < end + 3) {
					read_block(&rd, row, &end);
					rd.kind = kind;
					r = add_sides(&rd, &g, &series, i, row, src->opt, &base,
						      src->e);
					memset(src->used + i, true, end - i);
					series.gap = end;
				}
			}
			i = MAX(end, i + 1);
			/* blank lines lead to the same line below them */
			while (i < src->text->n && !src->text->lines[i - 1].text.len &&
			       !src->text->lines[i].text.len)
				i++;
			continue;
		}
		for (row = i; row < end && title_of(src->text->lines[row].text); row++)
			;
		if (rd.sides > 1)
			r = add_sides(&rd, &g, &series, i, row, src->opt, &base, src->e);
		else if (block_series_next(&series, i, &h))
			add_values(&rd, &g, &h, 1, &base);
		memset(src->used + i, true, end - i);
		series.gap = end;
		i = end;
	}
	if (!r && series.nameless_line && series.blocks > 1)
		r = block_nameless(src->text, series.nameless_line, series.blocks, src->opt,
				   src->e);
	grid_finish(&g, src->set, 2, true, &common);
	ARRAY_FREE(&rd.values);
	return r;
}

static const struct table_family schbench_raw = {
	.name = "schbench-raw",
	.read = schbench_raw_read,
};
REGISTER(table_family, schbench_raw);
