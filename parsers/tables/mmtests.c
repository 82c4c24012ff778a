// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of MMTests' compare-mmtests.pl:
 *
 *	                          5.13.0-rc2             5.13.0-rc2
 *	                             vanilla     sched-avgidle-v1r5
 *	Hmean     1        445.02 (   0.00%)      451.36 *   1.42%*
 *	Stddev    1         17.36 (   0.00%)       32.37 ( -86.49%)
 *	Duration User       39766.24    47802.92
 *
 * A cell is a value and its percentage, in stars where the tool calls it significant. Better is
 * always positive: for rates value / base - 1, for times and deviations 1 - value / base. A row is
 * complete when it has as many cells as there are columns, however many lines it was wrapped to.
 */
#include "parsers/tables/mmtests_own.h"
#include "parsers/tables/mmtests_rows.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Keys of rows that have a metric of ours; statistic: the one that is the compared value. */
struct known_key {
	const char *benchmark, *statistic, *prefix, *metric, *unit, *axis;
};

static const struct known_key known_keys[] = {
	{"tbench", "Hmean", "", "throughput", "MB/s", "clients"},
	{"hackbench", "Amean", "", "time", "s", "groups"},
	{"kernbench", "Amean", "elsp-", "real", "s", "jobs"},
	{"kernbench", "Amean", "syst-", "sys", "s", "jobs"},
	{"kernbench", "Amean", "user-", "user", "s", "jobs"},
	{"schbench", "Lat", "20.0th-qrtle-", "rps.p20", "req/s", "threads"},
	{"schbench", "Lat", "50.0th-qrtle-", "wakeup.p50", "us", "threads"},
	{"schbench", "Lat", "75.0th-qrtle-", "wakeup.p75", "us", "threads"},
	{"schbench", "Lat", "90.0th-qrtle-", "wakeup.p90", "us", "threads"},
	{"schbench", "Lat", "95.0th-qrtle-", "wakeup.p95", "us", "threads"},
	{"schbench", "Lat", "99.0th-qrtle-", "wakeup.p99", "us", "threads"},
	{"schbench", "Lat", "99.5th-qrtle-", "wakeup.p99.5", "us", "threads"},
	{"schbench", "Lat", "99.9th-qrtle-", "wakeup.p99.9", "us", "threads"},
	{"stream", "MB/sec", "copy", "copy", "MB/s", NULL},
	{"stream", "MB/sec", "scale", "scale", "MB/s", NULL},
	{"stream", "MB/sec", "add", "add", "MB/s", NULL},
	{"stream", "MB/sec", "triad", "triad", "MB/s", NULL},
};

struct reader {
	const struct table_source *src;
	size_t gap; /* first line after the last table */
	/* of the last table, for the next one under the same header or title */
	const struct table *last; /* a copy, not the growing array's */
	const char *title;	  /* section without the part in parentheses */
	struct mmtests_own own;
	const struct mmtests_title *ours; /* of this table; NULL: not of our own report */
};

/* ---- blocks: rows under one header ---- */

/* The number of cells most rows have; of equally many the larger one. */
static size_t count_columns(const row_array *rows)
{
	size_t counts[65] = {0}, best = 0, i;
	const struct row *row;

	array_for_each (row, rows)
		if (row->cells.n < ARRAY_SIZE(counts))
			counts[row->cells.n]++;
	for (i = 1; i < ARRAY_SIZE(counts); i++)
		if (counts[i] && counts[i] >= counts[best])
			best = i;
	return best;
}

/* The column whose percentages are 0.00 in most rows; -1 where there is none. */
static int zero_column(const row_array *rows, size_t n)
{
	size_t best = 0, zeros, checked, i;
	const struct row *row;
	int column = -1;

	for (i = 0; i < n; i++) {
		zeros = checked = 0;
		array_for_each (row, rows) {
			if (row->cells.n != n || row->plain)
				continue;
			checked++;
			zeros += row->cells.items[i].c.has_change &&
				 row->cells.items[i].c.change == 0;
		}
		if (zeros * 2 > checked && zeros > best) {
			best = zeros;
			column = (int)i;
		}
	}
	return column;
}

static bool is_ours(const row_array *rows, size_t n)
{
	const struct row *row;

	array_for_each (row, rows)
		if (row->known)
			return true;
	return zero_column(rows, n) >= 0;
}

/* ---- verifying percentages ---- */

enum { FITS_RAW = 1, FITS_INVERTED = 2 };

/*
 * Which way a printed percentage agrees with the printed values, each of which stands for an
 * interval of half a unit of its last digit on both sides.
 */
static int change_fits(const struct cell *base, const struct cell *cell)
{
	double hb = 0.5 * pow(10, -base->value_decimals);
	double hv = 0.5 * pow(10, -cell->value_decimals);
	double hp = 0.5 * pow(10, -cell->change_decimals) + 1e-9;
	double low, high;
	int fits = 0;

	if (!cell->c.has_change || !cell->c.has_value || !base->c.has_value ||
	    base->c.value - hb <= 0)
		return FITS_RAW | FITS_INVERTED;
	low = 100 * ((cell->c.value - hv) / (base->c.value + hb) - 1);
	high = 100 * ((cell->c.value + hv) / (base->c.value - hb) - 1);
	if (cell->c.value < hv)
		low = 100 * ((cell->c.value - hv) / (base->c.value - hb) - 1);
	if (cell->c.change + hp >= low && cell->c.change - hp <= high)
		fits |= FITS_RAW;
	if (-cell->c.change + hp >= low && -cell->c.change - hp <= high)
		fits |= FITS_INVERTED;
	return fits;
}

/* Both ways over a row; *worst: the first cell that agrees in neither. */
static int row_fits(const struct row *row, int base, size_t *worst)
{
	int fits = FITS_RAW | FITS_INVERTED, one;
	size_t i;

	for (i = 0; i < row->cells.n; i++) {
		one = change_fits(&row->cells.items[base], &row->cells.items[i]);
		if ((int)i == base && row->cells.items[i].c.change != 0)
			one = 0;
		if (!(fits & one)) {
			*worst = i;
			return 0;
		}
		fits &= one;
	}
	return fits;
}

/* What the values of the table say about rows that do not say it themselves (Min, BAmean-50). */
static enum row_change main_change(const row_array *rows)
{
	const struct row *row;

	array_for_each (row, rows)
		if (row->statistic->kind == ROW_VALUE && row->known)
			return row->statistic->change;
	return CHANGE_UNKNOWN;
}

/* Times whose every percentage is new / old - 1: not as the tool prints them, but consistent. */
static bool signed_raw(const row_array *rows, int base, size_t n)
{
	const struct row *row;
	bool found = false;
	size_t worst;
	int fits;

	array_for_each (row, rows) {
		if (row->plain || row->cells.n != n || row->statistic->kind != ROW_VALUE ||
		    row->statistic->change != CHANGE_INVERTED)
			continue;
		fits = row_fits(row, base, &worst);
		if (fits == FITS_INVERTED)
			return false;
		found |= fits == FITS_RAW;
	}
	return found;
}

static enum row_change settle_change(int fits, enum row_change wanted)
{
	if (wanted == CHANGE_RAW || wanted == CHANGE_INVERTED)
		return fits & (wanted == CHANGE_RAW ? FITS_RAW : FITS_INVERTED) ? wanted
										: CHANGE_UNKNOWN;
	if (fits == FITS_RAW)
		return CHANGE_RAW;
	return fits == FITS_INVERTED ? CHANGE_INVERTED : CHANGE_UNKNOWN;
}

/* ---- what stands around a table ---- */

static void drop_until(struct span *rest, const char *at)
{
	rest->len -= (size_t)(at - rest->s);
	rest->s = at;
}

/*
 * The section a title names, without the benchmark and filling words:
 * "tbench running on numa 0 &1:" -> "numa 0&1", "hackbench-process-pipes" -> "process-pipes".
 */
static const char *section_of(struct arena *a, struct span title)
{
	static const char *const filling[] = {"running", "run",	 "on", "results",
					      "for",	 "with", "of", "the"};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span bench, word, rest = span_strip(title, ": ");
	size_t i;

	table_benchmark_in(title, &bench);
	while (span_next_word(&rest, &word)) {
		if (word.s == bench.s) {
			const char *dash = memchr(word.s, '-', word.len);

			if (!dash)
				continue;
			drop_until(&word, dash + 1);
		}
		for (i = 0; !sb.len && i < ARRAY_SIZE(filling); i++)
			if (word.len == strlen(filling[i]) &&
			    !strncasecmp(word.s, filling[i], word.len))
				break;
		if (!sb.len && i < ARRAY_SIZE(filling))
			continue;
		if (sb.len && word.s[0] != '&' && sb.buf[sb.len - 1] != '&')
			strbuf_addc(&sb, ' ');
		strbuf_add(&sb, word.s, word.len);
	}
	rest = (struct span){strbuf_str(&sb), sb.len};
	if (table_is_parenthesis(rest))
		rest = span_strip(rest, "()");
	rest = span_strip(rest, ": ");
	return rest.len ? arena_strndup(a, rest.s, rest.len) : NULL;
}

/* A title is short; without a benchmark's name it needs a colon, or a paragraph of its own. */
static bool is_title(struct span line, bool alone)
{
	struct span rest = line, word, bench;
	bool digit = false;
	size_t words = 0, i;

	for (i = 0; i < line.len; i++)
		digit |= isdigit((unsigned char)line.s[i]) != 0;
	while (span_next_word(&rest, &word)) {
		words++;
		if (span_starts(word, "--"))
			return false; /* a command */
	}
	if (!line.len || line.s[line.len - 1] == '.' || !words)
		return false;
	/* "On Mon, 4 Mar 2024, A. Body wrote:" above a quote */
	if (line.len > 6 && !strncmp(line.s + line.len - 6, "wrote:", 6))
		return false;
	if (table_benchmark_in(line, &bench) && bench.len)
		return words <= 8 && line.len <= 80;
	if (!alone && line.s[line.len - 1] != ':')
		return false;
	return isalnum((unsigned char)line.s[0]) && (words <= 3 || (digit && words <= 8));
}

struct context {
	const char *section, *benchmark, *title;
	bool empty; /* nothing stands between the last table and this one but sections */
};

static bool blank_or_mark(struct span line)
{
	return !line.len || table_is_separator(line);
}

/* Looks up from the header (line top) to the last table; sections may stand below the header. */
static void find_context(struct reader *rd, size_t first_row, size_t top, struct context *c)
{
	const struct table_line *lines = rd->src->text->lines;
	const char *inner = NULL;
	struct span title = {NULL, 0};
	int depth = lines[first_row].depth;
	size_t i, seen = 0;

	*c = (struct context){.empty = true};
	for (i = first_row; i > top || (top == first_row && i > rd->gap);) {
		struct span line = lines[--i].text;

		if (table_is_parenthesis(line)) {
			inner = inner ? inner : section_of(rd->src->a, line);
			rd->src->used[i] = true;
		} else if (!blank_or_mark(line) && i < top) {
			break;
		}
	}
	for (i = top; i > rd->gap && seen < 12;) {
		struct span line = lines[--i].text;
		bool alone = i == rd->gap || blank_or_mark(lines[i - 1].text);

		if (blank_or_mark(line) || lines[i].depth != depth || table_is_parenthesis(line))
			continue;
		c->empty = false;
		if (!c->benchmark)
			c->benchmark = table_benchmark_in(line, NULL);
		if (!title.s && is_title(line, alone && !seen)) {
			title = line;
			rd->src->used[i] = true;
			if (table_benchmark_in(line, NULL))
				c->benchmark = table_benchmark_in(line, NULL);
		}
		seen++;
	}
	if (title.s)
		c->title = section_of(rd->src->a, title);
	else if (c->empty && top == first_row)
		c->title = rd->title;
	if (c->title && inner)
		c->section = arena_printf(rd->src->a, "%s %s", c->title, inner);
	else
		c->section = inner ? inner : c->title;
}

/* Some keys belong to one benchmark only. */
static const char *benchmark_of_rows(const row_array *rows)
{
	const struct row *row;

	array_for_each (row, rows) {
		if (!strcmp(row->statistic->word, "MB/sec"))
			return "stream";
		if (!strcmp(row->statistic->word, "Lat") && strstr(row->key, "-qrtle"))
			return "schbench";
		if (strstr(row->key, " elsp-") || strstr(row->key, " syst-"))
			return "kernbench";
	}
	return NULL;
}

static bool all_plain(const row_array *rows)
{
	const struct row *row;

	array_for_each (row, rows)
		if (!row->plain)
			return false;
	return true;
}

/* ---- tables ---- */

static void name_row(struct reader *rd, const char *benchmark, const struct row *row,
		     struct table_row *out, const char **axis_name)
{
	const char *axis;
	size_t i;

	out->key = row->key;
	out->kind = row->statistic->kind;
	out->line = row->line;
	out->axis = out->key;
	if (!row->known)
		return;
	axis = strchr(out->key, ' ');
	out->statistic =
		axis ? arena_strndup(rd->src->a, out->key, (size_t)(axis - out->key)) : out->key;
	out->axis = axis ? axis + 1 : NULL;
	if (out->kind == ROW_OTHER)
		out->unit = "s"; /* Duration User|System|Elapsed */
	else if (!strcmp(out->statistic, "MB/sec"))
		out->unit = "MB/sec";
	for (i = 0; benchmark && out->axis && i < ARRAY_SIZE(known_keys); i++) {
		const struct known_key *k = &known_keys[i];

		if (strcmp(k->benchmark, benchmark) ||
		    strncmp(out->axis, k->prefix, strlen(k->prefix)) || out->kind == ROW_OTHER)
			continue;
		if (out->kind == ROW_VALUE && strcmp(out->statistic, k->statistic))
			continue;
		out->metric = k->metric;
		if (strcmp(out->statistic, "CoeffVar"))
			out->unit = out->unit ? out->unit : k->unit;
		*axis_name = k->axis;
		return;
	}
}

static const struct mmtests_metric *own_metric(const struct reader *rd, const struct row *row)
{
	const char *axis = strchr(row->key, ' ');

	return rd->ours ? mmtests_own_metric(&rd->own, rd->ours, axis ? axis + 1 : NULL) : NULL;
}

/* Our own reports say the metric and its unit; what a word of the axis means they do not. */
static void name_own_row(const struct reader *rd, const struct row *row, struct table_row *out,
			 const char **axis_name)
{
	const struct mmtests_metric *m = own_metric(rd, row);

	if (!m)
		return;
	out->metric = m->metric;
	out->unit = m->unit;
	out->better = m->better;
	mmtests_own_params(&rd->own, rd->ours, m, *axis_name, out->axis, &out->params,
			   &out->n_params);
	if (out->axis && !isdigit((unsigned char)*out->axis))
		*axis_name = NULL;
}

static void add_row(struct reader *rd, struct table *t, const struct row *row,
		    enum row_change change)
{
	struct table_row *out = ARRAY_PUSH(&t->rows);
	size_t i;

	name_row(rd, t->benchmark, row, out, &t->axis_name);
	name_own_row(rd, row, out, &t->axis_name);
	out->orientation = row->plain ? CHANGE_UNKNOWN : change;
	out->cells = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*out->cells));
	for (i = 0; i < t->n_variants; i++)
		out->cells[i] = row->cells.items[i].c;
	if (!t->unit && out->kind != ROW_DEVIATION)
		t->unit = out->unit;
}

static double recomputed(const struct row *row, int base, size_t i, enum row_change change)
{
	double raw = 100 * (row->cells.items[i].c.value / row->cells.items[base].c.value - 1);

	return change == CHANGE_INVERTED ? -raw : raw;
}

static void refuse_change(struct reader *rd, const struct table *t, const struct row *row,
			  enum row_change wanted, size_t worst)
{
	const struct cell *cell = &row->cells.items[worst];

	tables_refuse(
		rd->src->a, rd->src->set, cell->c.line,
		"row \"%s\" refused: %s, %s for %s is %.2f%%, but %.*f%% is printed", row->key,
		t->variants[worst], cell->c.value_text, row->cells.items[t->baseline].c.value_text,
		recomputed(row, t->baseline, worst, wanted), cell->change_decimals, cell->c.change);
}

/* First cell whose percentage does not run the wanted way. */
static size_t first_against(const struct row *row, int base, enum row_change wanted)
{
	int bit = wanted == CHANGE_INVERTED ? FITS_INVERTED : FITS_RAW;
	size_t i;

	for (i = 0; i < row->cells.n; i++)
		if (!(change_fits(&row->cells.items[base], &row->cells.items[i]) & bit))
			return i;
	return 0;
}

/* A row whose figures agree, or one line that says why it is left out. */
static void check_row(struct reader *rd, struct table *t, const struct row *row,
		      enum row_change wanted)
{
	enum row_change change;
	size_t worst = 0;
	int fits;

	if (row->cells.n != t->n_variants || row->cut) {
		tables_refuse(rd->src->a, rd->src->set, row->line,
			      "row \"%s\" refused: %zu of %zu cells%s%s%s", row->key, row->cells.n,
			      t->n_variants, row->cut ? " and a rest, \"" : "",
			      row->cut ? row->cut : "", row->cut ? "\"" : "");
		return;
	}
	if (row->plain || t->baseline < 0) {
		add_row(rd, t, row, CHANGE_UNKNOWN);
		return;
	}
	fits = row_fits(row, t->baseline, &worst);
	change = settle_change(fits, wanted);
	if (fits && wanted != CHANGE_UNKNOWN && change == CHANGE_UNKNOWN) {
		worst = first_against(row, t->baseline, wanted);
		fits = 0;
	}
	if (!fits) {
		refuse_change(rd, t, row, wanted, worst);
		return;
	}
	add_row(rd, t, row, change);
}

/* The columns' names: found, or those of the table above where nothing else stands between. */
static int name_columns(struct reader *rd, struct table *t, size_t first, struct context *c)
{
	struct table_names names;
	size_t i;

	*c = (struct context){.empty = true};
	if (rd->ours) {
		c->benchmark = rd->ours->benchmark;
		c->section = c->title = rd->ours->where;
		for (i = rd->ours->line; i < rd->ours->header; i++)
			rd->src->used[i] = true;
	}
	if (rd->ours && !(rd->src->opt && rd->src->opt->names) &&
	    mmtests_own_names(&rd->own, rd->ours, first, t->n_variants, rd->src->legend, &names)) {
		t->variants = names.names;
		t->descriptions = names.descriptions;
		return 0;
	}
	if (table_names_find(rd->src->a, rd->src->text, first, rd->gap, t->n_variants,
			     rd->src->legend, rd->last, rd->src->opt, &names)) {
		if (!rd->ours)
			find_context(rd, first, names.top, c);
		t->variants = names.names;
		t->descriptions = names.descriptions;
		return 0;
	}
	if (!rd->ours)
		find_context(rd, first, first, c);
	if (!rd->last || rd->last->n_variants != t->n_variants ||
	    (rd->src->opt && rd->src->opt->names))
		return t->n_variants > 1 ? table_names_missing(rd->src->text->file, t, rd->src->opt,
							       rd->src->e)
					 : -ENOENT;
	t->variants = rd->last->variants;
	t->descriptions = rd->last->descriptions;
	if (!c->empty)
		tables_warn(rd->src->a, rd->src->set, t->line,
			    "no header: names of the columns are those of the table above");
	return 0;
}

static bool same_variants(const struct table *x, const struct table *y)
{
	size_t i;

	if (!x || x->n_variants != y->n_variants)
		return false;
	for (i = 0; i < x->n_variants; i++)
		if (strcmp(x->variants[i], y->variants[i]))
			return false;
	return true;
}

static void warn_rates(struct reader *rd, const struct table *t)
{
	const struct table_row *row;

	array_for_each (row, &t->rows) {
		if (!row->metric || strcmp(row->metric, "rps.p20") ||
		    row->orientation != CHANGE_INVERTED)
			continue;
		tables_warn(rd->src->a, rd->src->set, row->line,
			    "rows \"Lat 20.0th\" are requests per second (higher is better), but "
			    "signed as if they were latencies: imported as printed");
		return;
	}
}

static void check_rows(struct reader *rd, struct table *t, const row_array *rows)
{
	enum row_change values = main_change(rows), wanted;
	bool raw = t->baseline >= 0 && !rd->ours &&
		   signed_raw(rows, t->baseline, t->n_variants);
	const struct row *row;

	if (raw)
		tables_warn(
			rd->src->a, rd->src->set, t->line,
			"percentages of times are new / old - 1 here, not positive where better");
	array_for_each (row, rows) {
		wanted = row->statistic->change;
		if (row->statistic->kind == ROW_EXTREME)
			wanted = values;
		if (own_metric(rd, row))
			wanted = own_metric(rd, row)->change;
		check_row(rd, t, row, raw ? CHANGE_RAW : wanted);
	}
	t->sign = t->baseline < 0 ? SIGN_NONE : raw ? SIGN_RAW : SIGN_BETTER_POSITIVE;
}

static int make_table(struct reader *rd, const row_array *rows, size_t first)
{
	struct table t = {.family = "mmtests", .line = rows->items[0].line};
	struct mmtests_title ours;
	struct context c;
	int r;

	t.n_variants = count_columns(rows);
	if (!is_ours(rows, t.n_variants))
		return 0;
	rd->ours = mmtests_own_title(&rd->own, first, rd->gap, &ours) ? &ours : NULL;
	r = name_columns(rd, &t, first, &c);
	if (r)
		return r == -ENOENT ? 0 : r;
	t.section = c.section;
	t.benchmark = rd->ours ? c.benchmark : benchmark_of_rows(rows);
	if (!t.benchmark)
		t.benchmark = c.benchmark;
	if (!t.benchmark && rd->last && c.empty && (all_plain(rows) || c.title == rd->title))
		t.benchmark = rd->last->benchmark;
	t.baseline = zero_column(rows, t.n_variants);
	if (t.baseline < 0 && !all_plain(rows)) {
		err_add(rd->src->e, -EINVAL, "no column of the table stands at 0.00%%");
		err_at(rd->src->e, rd->src->text->file, t.line, 0);
		err_hint(rd->src->e,
			 "the percentages cannot be checked; is part of the table missing?");
		return -EINVAL;
	}
	if (t.baseline < 0 && same_variants(rd->last, &t))
		t.baseline = rd->last->baseline;
	check_rows(rd, &t, rows);
	rd->title = c.title;
	if (t.rows.n) {
		table_index_repeats(&t);
		warn_rates(rd, &t);
		rd->last = arena_copy(rd->src->a, &t, 1, sizeof(t));
		*ARRAY_PUSH(&rd->src->set->tables) = t;
	}
	return 0;
}

/* "(SNC off)" after a table, and no rows after it. */
static void warn_empty_section(struct reader *rd, size_t i)
{
	struct row row = {0};
	size_t next, end;

	if (i >= rd->src->text->n || !table_is_parenthesis(rd->src->text->lines[i].text))
		return;
	for (next = i + 1; next < rd->src->text->n && !rd->src->text->lines[next].text.len;)
		next++;
	if (next < rd->src->text->n &&
	    mmtests_read_row(rd->src->a, rd->src->text, next, &row, &end))
		ARRAY_FREE(&row.cells);
	else
		tables_warn(rd->src->a, rd->src->set, rd->src->text->lines[i].line,
			    "section \"%s\" is empty",
			    section_of(rd->src->a, rd->src->text->lines[i].text));
}

/* Reads all rows from line i on, with blank lines between them; *end: the line after the last. */
static void read_block(struct reader *rd, size_t i, row_array *rows, size_t *end)
{
	struct row row;
	size_t next = i;

	while (next < rd->src->text->n &&
	       mmtests_read_row(rd->src->a, rd->src->text, next, &row, end)) {
		*ARRAY_PUSH(rows) = row;
		for (; next < *end; next++)
			rd->src->used[next] = true;
		while (next < rd->src->text->n && !rd->src->text->lines[next].text.len)
			next++;
	}
}

static void free_rows(row_array *rows)
{
	struct row *row;

	array_for_each (row, rows)
		ARRAY_FREE(&row->cells);
	ARRAY_FREE(rows);
}

static int mmtests_read(const struct table_source *src)
{
	struct reader rd = {
		.src = src,
	};
	size_t i = 0, end;
	int r = 0;

	mmtests_own_read(src->a, src->text, &rd.own);
	while (!r && i < src->text->n) {
		row_array rows = {NULL, 0, 0};

		end = i;
		read_block(&rd, i, &rows, &end);
		if (rows.n) {
			r = make_table(&rd, &rows, i);
			rd.gap = end;
			for (i = end; i < src->text->n && !src->text->lines[i].text.len;)
				i++;
			if (!r)
				warn_empty_section(&rd, i);
		} else {
			i++;
		}
		free_rows(&rows);
	}
	ARRAY_FREE(&rd.own.metrics);
	return r;
}

static const struct table_family mmtests = {
	.name = "mmtests",
	.read = mmtests_read,
};
REGISTER(table_family, mmtests);
