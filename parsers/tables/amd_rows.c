// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row after the other, from however many lines it was wrapped to; also several on one line:
 *
 *	 8-groups:	   4.80 (0.00 pct)	   5.22 (-8.75 pct)	*
 *	 8-groups:	   4.91 (0.00 pct)	   5.01 (-2.03 pct)	[Verification Run]
 */
#include "parsers/tables/amd_rows.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

struct reader {
	const struct amd_style *style;
	const struct table_source *src;
	size_t gap; /* first line after the last table */
	struct block_context context;
	/* of the last table, for the next one without a header */
	const char **variants, **descriptions;
	size_t n_variants;
	/* where reading stands: in line `at`, what is left of it */
	size_t at;
	struct span rest;
};

enum amd_scan amd_scan_number(struct span *s, double *value, int *decimals)
{
	size_t len;

	span_skip_blanks(s);
	len = table_scan_number(*s, value, decimals);
	if (!len)
		return s->len ? AMD_NONE : AMD_CUT;
	span_skip(s, len);
	return AMD_CELL;
}

enum amd_scan amd_scan_value(struct span *s, struct block_cell *out, struct span *text, char *next)
{
	enum amd_scan scan;
	int decimals;

	*out = (struct block_cell){0};
	span_skip_blanks(s);
	*text = *s;
	scan = amd_scan_number(s, &out->c.value, &decimals);
	if (scan != AMD_CELL)
		return scan;
	text->len -= s->len;
	*next = span_next_char(s);
	return AMD_CELL;
}

struct span amd_drop_label(struct span line)
{
	static const char *const labels[] = {"test",   "case",	   "clients", "client",
					     "groups", "workers",  "threads", "kernel",
					     "load",   "instances"};
	struct span rest = line, word;
	size_t i;

	if (!span_next_word(&rest, &word))
		return line;
	for (i = 0; i < 2; i++) {
		if (word.s[word.len - 1] == ':')
			return rest;
		if (!span_next_word(&(struct span){rest.s, rest.len}, &word))
			break;
		if (i == 0 && word.s[word.len - 1] == ':' && (size_t)(word.s - line.s) < 24) {
			span_next_word(&rest, &word);
			return rest;
		}
	}
	rest = line;
	span_next_word(&rest, &word);
	if (word.s[0] == '#')
		word.s++, word.len--;
	for (i = 0; i < ARRAY_SIZE(labels); i++)
		if (word.len == strlen(labels[i]) && !strncasecmp(word.s, labels[i], word.len))
			return rest;
	return line;
}

/* ---- rows ---- */

static const struct table_line *line_at(const struct reader *rd, size_t i)
{
	return &rd->src->text->lines[i];
}

/* Cells off *rest into the row; false: something else than the end of the text stopped it. */
static bool take_cells(struct reader *rd, struct span *rest, int line, struct block_row *row)
{
	struct block_cell cell;
	enum amd_scan scan;

	while ((scan = rd->style->scan(rd->src->a, rest, &cell)) == AMD_CELL) {
		cell.c.line = line;
		*ARRAY_PUSH(&row->cells) = cell;
		span_skip_blanks(rest);
		while (rest->len && rest->s[0] == '*') {
			row->cells.items[row->cells.n - 1].c.mark = true;
			rest->s++;
			rest->len--;
			span_skip_blanks(rest);
		}
	}
	return scan == AMD_CUT || !rest->len;
}

enum { CUT_CELL = 200, CUT_REST = 1000 }; /* longest text and next line that make a cell */

/* Whether the text from `s` on, with the next line's behind it, begins with a cell. */
static bool cell_follows(struct reader *rd, struct span s, size_t next)
{
	struct block_cell cell;
	enum amd_scan scan = rd->style->scan(rd->src->a, &(struct span){s.s, s.len}, &cell);
	char joined[1 + CUT_CELL + CUT_REST]; /* asked of every line: no memory for each */
	struct span more;

	if (scan != AMD_CUT || next >= rd->src->text->n)
		return scan == AMD_CELL;
	more = line_at(rd, next)->text;
	if (s.len > CUT_CELL || more.len > CUT_REST)
		return false;
	memcpy(joined, s.s, s.len);
	joined[s.len] = ' ';
	memcpy(joined + s.len + 1, more.s, more.len);
	more = (struct span){joined, s.len + 1 + more.len};
	return rd->style->scan(rd->src->a, &more, &cell) == AMD_CELL;
}

/* Splits "1-groups:   4.63 (0.00 pct)" into the key and where its cells begin. */
static bool find_label(struct reader *rd, struct span *cells, const char **key)
{
	struct span rest = rd->rest, word, label;
	const char *end = rest.s + rest.len;
	size_t words;

	for (words = 0; words <= 8 && span_next_word(&rest, &word); words++) {
		*cells = (struct span){word.s, (size_t)(end - word.s)};
		if (!isdigit((unsigned char)word.s[0]) && word.s[0] != '-')
			continue;
		if (cell_follows(rd, *cells, rd->at + 1))
			break;
	}
	if (!span_next_word(&(struct span){cells->s, cells->len}, &word) || words > 8)
		return false;
	if (!cell_follows(rd, *cells, rd->at + 1))
		return false;
	label = span_trim((struct span){rd->rest.s, (size_t)(cells->s - rd->rest.s)});
	while (label.len && label.s[label.len - 1] == ':')
		label.len--;
	*key = label.len ? span_join_words(rd->src->a, label) : NULL;
	return true;
}

/* A line that is a key alone ("1-groups:"), whose cells were wrapped to the next one. */
static bool lone_key(struct reader *rd)
{
	struct span line = span_trim(rd->rest), word, rest = line, next;

	if (line.len > 32 || rd->at + 1 >= rd->src->text->n || !span_next_word(&rest, &word) ||
	    span_trim(rest).len)
		return false;
	if (line.s[line.len - 1] != ':' && !isdigit((unsigned char)line.s[0]))
		return false;
	next = span_trim(line_at(rd, rd->at + 1)->text);
	return next.len && cell_follows(rd, next, rd->at + 2);
}

static void next_line(struct reader *rd)
{
	rd->src->used[rd->at] = true;
	rd->at++;
	rd->rest = rd->at < rd->src->text->n ? line_at(rd, rd->at)->text : (struct span){NULL, 0};
}

/* Joins the next line to what is left, if it goes on with cells. */
static bool continue_row(struct reader *rd, struct block_row *row)
{
	struct span next, joined;
	size_t before = row->cells.n;
	bool open;

	if (rd->at + 1 >= rd->src->text->n)
		return false;
	next = line_at(rd, rd->at + 1)->text;
	span_skip_blanks(&next);
	if (!next.len || isalpha((unsigned char)next.s[0]))
		return false;
	joined = span_of(arena_printf(rd->src->a, "%.*s %.*s", (int)rd->rest.len, rd->rest.s,
				      (int)next.len, next.s));
	open = take_cells(rd, &joined, line_at(rd, rd->at + 1)->line, row);
	if (row->cells.n == before)
		return false;
	next_line(rd);
	rd->rest = joined;
	return open;
}

/* "[Verification Run]", on the row's line or alone on the next, becomes part of the key. */
static void take_remark(struct reader *rd, struct block_row *row)
{
	struct span s = span_trim(rd->rest);

	if (!s.len && rd->at + 1 < rd->src->text->n) {
		struct span next = span_trim(line_at(rd, rd->at + 1)->text);

		if (next.len > 2 && next.s[0] == '[' && isalpha((unsigned char)next.s[1]) &&
		    next.s[next.len - 1] == ']') {
			next_line(rd);
			s = next;
		} else if (span_is(next, "*")) {
			next_line(rd);
			row->cells.items[row->cells.n - 1].c.mark = true;
			rd->rest.len = 0;
		}
	}
	if (s.len > 2 && s.s[0] == '[' && isalpha((unsigned char)s.s[1])) {
		const char *end = memchr(s.s, ']', s.len);

		if (end) {
			row->key = arena_printf(rd->src->a, "%s %.*s", row->key,
						(int)(end + 1 - s.s), s.s);
			rd->rest.len -= (size_t)(end + 1 - rd->rest.s);
			rd->rest.s = end + 1;
		}
	}
}

/* What stands behind the cells: another row, a remark, or the rest of a damaged one. */
static void take_rest(struct reader *rd, struct block_row *row)
{
	struct span cells, s;
	const char *key;

	take_remark(rd, row);
	s = span_trim(rd->rest);
	if (s.len && find_label(rd, &cells, &key) && key) {
		rd->rest = s;
		return; /* flattened: the next row */
	}
	if (s.len && (isdigit((unsigned char)s.s[0]) || strchr("([-+", s.s[0])))
		row->bad = arena_printf(rd->src->a, "%zu cells and a rest, \"%.*s\"", row->cells.n,
					(int)MIN(s.len, (size_t)20), s.s);
	next_line(rd);
}

static bool read_row(struct reader *rd, struct block_row *row)
{
	struct span cells;
	const char *key;
	bool open;

	if (rd->at >= rd->src->text->n || !rd->rest.len)
		return false;
	*row = (struct block_row){.line = line_at(rd, rd->at)->line};
	if (lone_key(rd)) {
		struct span label = span_trim(rd->rest);

		label.len -= label.s[label.len - 1] == ':';
		key = span_join_words(rd->src->a, label);
		next_line(rd);
		span_skip_blanks(&rd->rest);
		cells = rd->rest;
	} else if (!find_label(rd, &cells, &key)) {
		return false;
	}
	row->key = key ? key : "";
	row->bad = key && *key ? NULL : "nothing stands before its cells";
	rd->rest = cells;
	open = take_cells(rd, &rd->rest, line_at(rd, rd->at)->line, row);
	while (open && continue_row(rd, row))
		;
	if (!row->cells.n) {
		ARRAY_FREE(&row->cells);
		return false;
	}
	take_rest(rd, row);
	return true;
}

/* Rows from here on, with blank lines between them. */
static void read_block(struct reader *rd, block_rows *rows, size_t *end)
{
	struct block_row row;
	size_t i;

	while (read_row(rd, &row)) {
		*ARRAY_PUSH(rows) = row;
		*end = rd->at;
		for (i = rd->at; i < rd->src->text->n && !line_at(rd, i)->text.len; i++)
			;
		if (i != rd->at) {
			rd->at = i;
			rd->rest = i < rd->src->text->n ? line_at(rd, i)->text
							: (struct span){NULL, 0};
		}
	}
}

/* ---- tables ---- */

static bool only_bad(const block_rows *rows)
{
	const struct block_row *row;

	array_for_each (row, rows)
		if (row->cells.n > 1)
			return false;
	return true;
}

static void copy_marks(block_rows *rows, int baseline)
{
	struct block_row *row;
	size_t i;

	/* "look here" behind a row is about all that is compared in it */
	array_for_each (row, rows) {
		if (!row->cells.n || !row->cells.items[row->cells.n - 1].c.mark)
			continue;
		for (i = 0; i < row->cells.n; i++)
			row->cells.items[i].c.mark = (int)i != baseline;
	}
}

static int make_table(struct reader *rd, block_rows *rows, size_t first, size_t end)
{
	struct table t = {.family = rd->style->family, .line = rows->items[0].line};
	struct table_names names;
	struct block_context c = rd->context;
	bool named;

	if (only_bad(rows))
		return 0;
	t.n_variants = block_columns(rows);
	named = rd->style->names(rd->src->a, rd->src->text, first, rd->gap, t.n_variants,
				 rd->src->legend, rd->src->opt, &names);
	block_context(rd->src->a, rd->src->text, rd->src->used, rd->gap, named ? names.top : first,
		      &c);
	if (named) {
		t.variants = names.names;
		t.descriptions = names.descriptions;
	} else if (rd->n_variants == t.n_variants && !(rd->src->opt && rd->src->opt->names)) {
		t.variants = rd->variants;
		t.descriptions = rd->descriptions;
		tables_warn(rd->src->a, rd->src->set, t.line,
			    "no header: names of the columns are those of the table above");
	} else {
		return block_nameless(rd->src->text, t.line, t.n_variants, rd->src->opt,
				      rd->src->e);
	}
	memset(rd->src->used + (named ? names.top : first), true,
	       end - (named ? names.top : first));
	t.baseline = block_zero_column(rows, t.n_variants);
	if (t.baseline < 0) {
		err_add(rd->src->e, -EINVAL, "no column of the table stands at 0.00 pct");
		err_at(rd->src->e, rd->src->text->file, t.line, 0);
		err_hint(rd->src->e,
			 "the percentages cannot be checked; is part of the table missing?");
		return -EINVAL;
	}
	copy_marks(rows, t.baseline);
	block_check_rows(rd->src->a, rd->src->set, &t, rows,
			 rd->style->wanted ? rd->style->wanted(&c) : CHANGE_UNKNOWN);
	rd->context = c;
	rd->variants = t.variants;
	rd->descriptions = t.descriptions;
	rd->n_variants = t.n_variants;
	if (!t.rows.n)
		return 0;
	table_index_repeats(&t);
	rd->style->finish(rd->src->a, rd->src->set, &t, &c);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
	return 0;
}

int amd_read(const struct amd_style *style, const struct table_source *src)
{
	struct reader rd = {
		.style = style,
		.src = src,
	};
	size_t first, end;
	int r = 0;

	while (!r && rd.at < src->text->n) {
		block_rows rows = {NULL, 0, 0};

		rd.rest = line_at(&rd, rd.at)->text;
		first = end = rd.at;
		read_block(&rd, &rows, &end);
		if (rows.n) {
			r = make_table(&rd, &rows, first, end);
			rd.gap = end;
		}
		rd.at = MAX(end, first + 1);
		block_rows_free(&rows);
	}
	return r;
}
