// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of nobody's tool, read when no other family took their lines, and only where a name says
 * which column is the baseline:
 *
 *	schbench -m2 -F128	w/patch	tip/6.7-rc7	         baseline     sis_current
 *	Wakeup (usec): 99.0th:	3028	95		SET      115 ms       116 ms
 *
 *	w/o patch: w/ patch: 1228.6 1254.9 1231.4 1265.7
 *
 *	Test 1: dd-ing 250MB from /dev/zero:
 *	        1024:  53.2s
 *	        8192:  54.6s
 *
 * A table is imported whole or refused whole.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MAX_VALUES = 16, MAX_WORDS = 48 };

struct reader {
	const struct table_source *src;
	size_t gap;
};

struct value {
	struct span number, unit;
	double value;
};

/* A line "KEY VALUE...": values at its end, last first. */
struct line_values {
	struct value at[MAX_VALUES];
	size_t n;
	struct span before[MAX_VALUES]; /* the line up to that value */
};

static bool is_unit(struct span s)
{
	static const char *const units[] = {"s",     "ms",   "us",	"ns",	"sec",	"usec",
					    "msec",  "%",    "MB/s",	"GB/s", "KB/s", "ops/s",
					    "req/s", "secs", "seconds", "MiB/s"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (span_is(s, units[i]))
			return true;
	return false;
}

/* "53.2s", "100.00%", "115" */
static bool read_value(struct span word, struct value *v)
{
	int decimals;
	size_t n = word.len ? table_scan_number(word, &v->value, &decimals) : 0;

	if (!n || word.s[0] == '+' || (word.s[0] == '-' && n != word.len))
		return false;
	v->number = (struct span){word.s, n};
	v->unit = (struct span){word.s + n, word.len - n};
	return !v->unit.len || is_unit(v->unit);
}

static size_t split_words(struct span line, struct span *words)
{
	size_t n = 0;

	while (n < MAX_WORDS && span_next_word(&line, &words[n]))
		n++;
	return n < MAX_WORDS ? n : 0;
}

static void values_of(struct span line, struct line_values *out)
{
	struct span words[MAX_WORDS];
	size_t n = split_words(line, words);

	out->n = 0;
	while (n > 1 && out->n < MAX_VALUES) {
		struct value *v = &out->at[out->n];
		struct span unit = {NULL, 0};

		if (is_unit(words[n - 1]) && n > 2)
			unit = words[--n];
		if (!read_value(words[n - 1], v) || (unit.s && v->unit.len))
			return;
		if (unit.s)
			v->unit = unit;
		n--;
		out->before[out->n++] = (struct span){
			words[0].s, (size_t)(words[n - 1].s + words[n - 1].len - words[0].s)};
	}
}

/* ---- columns ---- */

/* Pieces of a header between wide gaps, or its words. */
static size_t split_header(struct span line, bool wide, struct span *pieces)
{
	size_t n = 0, i = 0, end;

	if (!wide)
		return split_words(line, pieces);
	while (i < line.len && n < MAX_WORDS) {
		while (i < line.len && line.s[i] == ' ')
			i++;
		for (end = i; end < line.len && !(line.s[end] == ' ' && end + 1 < line.len &&
						  line.s[end + 1] == ' ');)
			end++;
		if (end > i)
			pieces[n++] = (struct span){line.s + i, end - i};
		i = end;
	}
	return n < MAX_WORDS ? n : 0;
}

static bool is_name(struct span s)
{
	double value;
	int decimals;
	size_t i, blanks = 0;

	for (i = 0; i < s.len; i++)
		blanks += s.s[i] == ' ';
	return s.len && s.len <= 48 && blanks <= 3 && !span_find(s, " -") &&
	       !strchr(":.,;-", s.s[s.len - 1]) && s.s[0] != '-' && s.s[0] != '(' &&
	       !block_number(s, &value, &decimals);
}

/* The last n pieces name columns, one of them the baseline; names are in the arena. */
static bool name_columns(struct reader *rd, const struct span *pieces, size_t count, size_t n,
			 const char **names)
{
	size_t i, k;

	if (n > count)
		return false;
	for (i = 0; i < n; i++) {
		if (!is_name(pieces[count - n + i]))
			return false;
		names[i] = span_join_words(rd->src->a, pieces[count - n + i]);
		for (k = 0; k < i; k++)
			if (!strcmp(names[k], names[i]))
				return false;
	}
	return table_baseline_by_name(names, n) >= 0;
}

/* "Wakeup (usec): 99.0th" of schbench, "-g 10" of hackbench: metrics of ours. */
static void name_row(struct arena *a, struct table *t, struct table_row *row)
{
	static const struct {
		const char *start, *metric;
		enum row_better better;
	} rows[] = {{"Wakeup", "wakeup", BETTER_LOWER},
		    {"Request", "request", BETTER_LOWER},
		    {"RPS", "rps", BETTER_HIGHER}};
	const char *th = strstr(row->key, "th"), *p = th;
	size_t i;

	if (str_equal(t->benchmark, "hackbench") && str_starts(row->key, "-g ")) {
		row->metric = "time";
		row->axis = row->key + 3;
		row->unit = row->unit ? row->unit : "s";
		row->better = BETTER_LOWER;
		t->axis_name = "groups";
	}
	while (p && p > row->key && (isdigit((unsigned char)p[-1]) || p[-1] == '.'))
		p--;
	for (i = 0; th && p < th && str_equal(t->benchmark, "schbench") && i < ARRAY_SIZE(rows);
	     i++) {
		if (!str_starts(row->key, rows[i].start))
			continue;
		while (th > p + 1 && th[-1] == '0' && memchr(p, '.', (size_t)(th - p)))
			th--;
		th -= th[-1] == '.';
		row->metric = arena_printf(a, "%s.p%.*s", rows[i].metric, (int)(th - p), p);
		row->better = rows[i].better;
		row->unit = rows[i].better == BETTER_LOWER ? "us" : "req/s";
		row->axis = NULL;
	}
	if (str_equal(t->benchmark, "specjbb") && strstr(row->key, "jOPS"))
		row->better = BETTER_HIGHER;
}

/* "Wakeup  (usec): 99.0th" -> "usec" */
static const char *unit_in_key(struct arena *a, const char *key)
{
	static const char *const units[] = {"(usec)", "(us)", "(ms)", "(s)", "(ns)", "(count)"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (strstr(key, units[i]))
			return arena_strndup(a, units[i] + 1, strlen(units[i]) - 2);
	return NULL;
}

static bool add_row(struct reader *rd, struct table *t, const struct line_values *v, int line)
{
	struct table_row row = {.line = line};
	struct span key = v->before[t->n_variants - 1], unit = v->at[0].unit;
	size_t i;

	while (key.len && strchr(":= |", key.s[key.len - 1]))
		key.len--;
	if (!key.len)
		return false;
	row.key = row.axis = span_join_words(rd->src->a, key);
	row.unit = unit.len ? arena_strndup(rd->src->a, unit.s, unit.len)
			    : unit_in_key(rd->src->a, row.key);
	row.cells = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*row.cells));
	for (i = 0; i < t->n_variants; i++) {
		const struct value *c = &v->at[t->n_variants - 1 - i];

		if (c->unit.len != unit.len || (unit.len && memcmp(c->unit.s, unit.s, unit.len)))
			return false; /* two units in a row */
		row.cells[i] = block_value(rd->src->a, c->number, c->value, line);
	}
	name_row(rd->src->a, t, &row);
	if (!row.metric) {
		row.full_metric =
			block_metric(rd->src->a, t->benchmark ? t->benchmark : "free-form", "value",
				     row.unit, row.better);
		row.headline = true;
	}
	if (!t->unit)
		t->unit = row.unit;
	*ARRAY_PUSH(&t->rows) = row;
	return true;
}

/* What the header has before its names: a label, or the command that was run. */
static void take_label(struct reader *rd, const struct span *pieces, size_t label,
		       struct block_context *c)
{
	struct span s, command;

	if (!label)
		return;
	s = (struct span){pieces[0].s,
			  (size_t)(pieces[label - 1].s + pieces[label - 1].len - pieces[0].s)};
	if (!block_is_command(s, &command))
		return;
	c->command = span_join_words(rd->src->a, command);
	if (table_benchmark_in(s, NULL))
		c->benchmark = table_benchmark_in(s, NULL);
}

/* Rows from line `first` on belong to the header's n names, or the table is refused. */
static void read_rows(struct reader *rd, struct table *t, size_t first, size_t *end)
{
	struct line_values v;
	size_t i;

	for (i = first; i < rd->src->text->n; i++) {
		const struct table_line *line = &rd->src->text->lines[i];

		if (!line->text.len || rd->src->used[i])
			break;
		values_of(line->text, &v);
		if (!v.n)
			break;
		*end = i + 1;
		if (v.n >= t->n_variants && add_row(rd, t, &v, line->line))
			continue;
		tables_refuse(rd->src->a, rd->src->set, line->line,
			      "table refused: this row does not have one value for each of the "
			      "%zu columns",
			      t->n_variants);
		ARRAY_FREE(&t->rows);
		return;
	}
}

/* How many columns, at most `most`, the end of a header names; 0: none. Of single words all but one
 * do. */
static size_t find_names(struct reader *rd, struct span line, bool wide, size_t most,
			 struct span *pieces, size_t *count, const char **names)
{
	size_t n;

	*count = split_header(line, wide, pieces);
	for (n = MIN(most, *count); n > 1; n--)
		if (name_columns(rd, pieces, *count, n, names))
			return wide || *count <= n + 1 ? n : 0;
	return 0;
}

/* A header at line i with rows below it; *end: the line after the table. */
static bool read_columns(struct reader *rd, size_t i, size_t *end)
{
	struct span pieces[MAX_WORDS];
	const char *names[MAX_VALUES];
	struct table t = {.family = "free-form", .sign = SIGN_NONE, .baseline = -1};
	struct block_context c = {NULL};
	struct line_values v, next;
	size_t count = 0, n, first = i + 1, least;

	while (first < rd->src->text->n && first < i + 3 &&
	       (!rd->src->text->lines[first].text.len ||
		table_is_separator(rd->src->text->lines[first].text)))
		first++;
	if (first >= rd->src->text->n || rd->src->used[first])
		return false;
	values_of(rd->src->text->lines[first].text, &v);
	values_of(rd->src->text->lines[i].text, &next);
	if (v.n < 2 || next.n)
		return false;
	least = v.n;
	if (first + 1 < rd->src->text->n) {
		values_of(rd->src->text->lines[first + 1].text, &next);
		least = next.n > 1 ? MIN(least, next.n) : least;
	}
	n = find_names(rd, rd->src->text->lines[i].text, true, least, pieces, &count, names);
	if (!n)
		n = find_names(rd, rd->src->text->lines[i].text, false, least, pieces, &count,
			       names);
	if (!n)
		return false;
	t.n_variants = n;
	t.variants = arena_copy(rd->src->a, names, n, sizeof(*names));
	t.descriptions = arena_alloc_array(rd->src->a, n, sizeof(*t.descriptions));
	t.line = rd->src->text->lines[first].line;
	block_context(rd->src->a, rd->src->text, rd->src->used, rd->gap, i, &c);
	c.command = NULL;
	take_label(rd, pieces, count - n, &c);
	t.benchmark = c.benchmark;
	t.section = c.section;
	t.command = c.command;
	read_rows(rd, &t, first, end);
	memset(rd->src->used + i, true, *end - i);
	if (!t.rows.n)
		return true;
	table_index_repeats(&t);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
	return true;
}

/* ---- "w/o patch: w/ patch: 1 2 3 4" ---- */

/* Names before colons at the start of *rest, taken off it; 0: there are no two of them. */
static size_t names_by_colon(struct arena *a, struct span *rest, const char **names)
{
	struct span left = *rest, name;
	size_t n = 0;

	while (n < MAX_VALUES) {
		const char *colon = memchr(left.s, ':', left.len);
		struct value v;
		struct span word;

		if (!colon)
			break;
		name = span_trim((struct span){left.s, (size_t)(colon - left.s)});
		if (!span_next_word(&(struct span){name.s, name.len}, &word) || !is_name(name) ||
		    (n && read_value(word, &v)))
			break;
		names[n++] = span_join_words(a, name);
		left.len -= (size_t)(colon + 1 - left.s);
		left.s = colon + 1;
	}
	*rest = left;
	return n >= 2 && table_baseline_by_name(names, n) >= 0 ? n : 0;
}

/* The words of a line are all values; they are added. */
static bool only_values(struct span line, struct value *values, size_t *n, size_t most)
{
	struct span word;
	size_t have = *n;

	while (span_next_word(&line, &word)) {
		if (have == most || !read_value(word, &values[have]))
			return false;
		have++;
	}
	if (have == *n)
		return false;
	*n = have;
	return true;
}

static bool read_listed(struct reader *rd, size_t i, size_t *end)
{
	enum { MOST = 256 };
	struct value values[MOST];
	int lines[MOST];
	const char *names[MAX_VALUES];
	struct span rest = rd->src->text->lines[i].text;
	struct table t = {.family = "free-form", .sign = SIGN_NONE, .baseline = -1};
	struct block_context c = {NULL};
	size_t n = names_by_colon(rd->src->a, &rest, names), have = 0, before, k, next = i + 1;

	if (!n)
		return false;
	if (span_trim(rest).len && !only_values(rest, values, &have, MOST))
		return false;
	for (k = 0; k < have; k++)
		lines[k] = rd->src->text->lines[i].line;
	for (before = have; next < rd->src->text->n && !rd->src->used[next] &&
			    only_values(rd->src->text->lines[next].text, values, &have, MOST);
	     next++, before = have)
		for (k = before; k < have; k++)
			lines[k] = rd->src->text->lines[next].line;
	if (!have)
		return false;
	*end = next;
	if (have % n) {
		tables_refuse(rd->src->a, rd->src->set, lines[have - 1],
			      "table refused: %zu values for %zu columns", have, n);
		return true;
	}
	block_context(rd->src->a, rd->src->text, rd->src->used, rd->gap, i, &c);
	for (k = i; !c.benchmark && k > rd->gap && i - k < 4; k--)
		c.benchmark = table_benchmark_in(rd->src->text->lines[k - 1].text, NULL);
	t.benchmark = c.benchmark;
	if (str_equal(c.benchmark, "unixbench"))
		t.family = "unixbench";
	t.section = c.section;
	t.n_variants = n;
	t.variants = arena_copy(rd->src->a, names, n, sizeof(*names));
	t.descriptions = arena_alloc_array(rd->src->a, n, sizeof(*t.descriptions));
	t.line = lines[0];
	for (k = 0; k < have; k++) {
		struct table_row *row;

		if (k % n == 0) {
			row = ARRAY_PUSH(&t.rows);
			*row = (struct table_row){.run = (int)(k / n) + 1, .line = lines[k]};
			row->key = arena_printf(rd->src->a, "run %zu", k / n + 1);
			row->cells = arena_alloc_array(rd->src->a, n, sizeof(*row->cells));
			if (!strcmp(t.family, "unixbench")) {
				row->full_metric = "unixbench.index";
				row->unit = t.unit = "index";
				row->better = BETTER_HIGHER;
				row->headline = true;
			}
		}
		row = &t.rows.items[t.rows.n - 1];
		if (!t.unit && values[k].unit.len)
			t.unit = arena_strndup(rd->src->a, values[k].unit.s, values[k].unit.len);
		row->unit = t.unit;
		row->cells[k % n] =
			block_value(rd->src->a, values[k].number, values[k].value, lines[k]);
	}
	memset(rd->src->used + i, true, next - i);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
	return true;
}

/* ---- variants as rows ---- */

/* "1024:  53.2s" */
static bool read_pair(struct span line, struct span *name, struct value *v)
{
	const char *colon = memrchr(line.s, ':', line.len);
	struct span words[MAX_WORDS], rest;
	size_t n;

	if (!colon || colon == line.s)
		return false;
	*name = span_trim((struct span){line.s, (size_t)(colon - line.s)});
	rest = (struct span){colon + 1, line.len - (size_t)(colon + 1 - line.s)};
	n = split_words(rest, words);
	if (!n || n > 2 || !name->len || name->len > 32 || memchr(name->s, ':', name->len) ||
	    !read_value(words[0], v))
		return false;
	if (n == 2 && (v->unit.len || !is_unit(words[1])))
		return false;
	if (n == 2)
		v->unit = words[1];
	return v->unit.len && v->unit.s[0] != '%';
}

static bool same_span(struct span x, struct span y)
{
	return x.len == y.len && !memcmp(x.s, y.s, x.len);
}

/* "Test 1: dd-ing 250MB from /dev/zero:" -> "dd-ing 250MB from /dev/zero" */
static const char *pair_title(struct arena *a, struct span line)
{
	struct span word, rest = line;

	line = span_trim(line);
	if (line.len < 4 || line.s[line.len - 1] != ':' || line.len > 100)
		return NULL;
	if (span_next_word(&rest, &word) && (span_is(word, "Test") || span_is(word, "test")) &&
	    span_next_word(&rest, &word) && word.s[word.len - 1] == ':' && span_trim(rest).len)
		line = span_trim(rest);
	line.len--;
	return span_join_words(a, line);
}

/* All of them make one table: titles are rows, the names below them variants. */
static void read_pairs(struct reader *rd)
{
	struct table common = {.family = "free-form", .sign = SIGN_NONE, .baseline = -1};
	struct grid g = {.a = rd->src->a};
	struct span name, unit = {NULL, 0};
	size_t i, k, title;
	struct value v;

	for (i = 0; i < rd->src->text->n; i = k) {
		const char *key = rd->src->used[i]
					  ? NULL
					  : pair_title(rd->src->a, rd->src->text->lines[i].text);

		title = k = i + 1;
		if (!key)
			continue;
		while (k < rd->src->text->n && !rd->src->text->lines[k].text.len && k < i + 3)
			title = ++k;
		while (k < rd->src->text->n && !rd->src->used[k] &&
		       read_pair(rd->src->text->lines[k].text, &name, &v) &&
		       (!unit.s || same_span(unit, v.unit))) {
			unit = v.unit;
			k++;
		}
		if (k < title + 2) {
			if (!g.entries.n)
				unit.s = NULL;
			k = i + 1;
			continue;
		}
		for (; title < k; title++) {
			int line = rd->src->text->lines[title].line;
			struct block_heading h = {NULL, NULL, NULL};
			struct table_row row = {.key = key, .axis = key, .line = line};
			struct table_cell cell;

			read_pair(rd->src->text->lines[title].text, &name, &v);
			h.name = span_join_words(rd->src->a, name);
			row.unit = arena_strndup(rd->src->a, v.unit.s, v.unit.len);
			row.full_metric = block_metric(rd->src->a, "free-form", "value", row.unit,
						       BETTER_UNKNOWN);
			row.headline = true;
			cell = block_value(rd->src->a, v.number, v.value, line);
			grid_add(&g, NULL, &h, &row, &cell);
			rd->src->used[title] = true;
		}
	}
	grid_finish(&g, rd->src->set, 2, false, &common);
}

static int free_form_read(const struct table_source *src)
{
	struct reader rd = {
		.src = src,
	};
	size_t i, end;

	for (i = 0; i < src->text->n; i = end) {
		end = i + 1;
		if (src->used[i] || !src->text->lines[i].text.len ||
		    src->text->lines[i].text.len > 400)
			continue;
		if (read_listed(&rd, i, &end) || read_columns(&rd, i, &end))
			rd.gap = end;
	}
	if (!src->set->tables.n && !src->set->refused.n)
		read_pairs(&rd);
	return 0;
}

static const struct table_family free_form = {
	.name = "free-form",
	.last = true,
	.read = free_form_read,
};
REGISTER(table_family, free_form);
