// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of Intel's report.py: the baseline is 1.00, the other kernel a percentage without its
 * sign, both with a standard deviation in percent. Positive is better, also for times.
 *
 *	netperf
 *	=======
 *	case            	load    	baseline(std%)	compare%( std%)
 *	TCP_RR          	224-threads	 1.00 (  4.63)	+687.45 (  3.77)
 *
 * and of its sibling, whose columns are metrics of one kernel:
 *
 *	schedstat_parse.py -f netperf_vanilla.log
 *	case	        load	    se_eff%	    dom_eff%
 *	TCP_RR	   28 threads	     99.978	      18.535
 *
 * There are no absolute values, so nothing can be recomputed: a row has to be whole.
 */
#include "parsers/tables/tables.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

enum { MAX_COLUMNS = 16, MAX_LINES = 4, MAX_LINE = 400, MAX_LABEL = 8, CONTEXT = 16, RECENT = 16 };

struct column {
	const char *name; /* "compare" of "compare%( std%)" */
	bool percent, std;
};

struct cell {
	struct table_cell c;
	bool sign; /* printed with + or - */
};

struct header {
	struct column columns[MAX_COLUMNS];
	size_t n;
	bool load;	  /* there is a second label */
	size_t line, end; /* index of its first line, and after its last */
};

struct row {
	const char *label, *name, *load; /* "TCP_RR 56-threads", "TCP_RR", "56-threads" or NULL */
	struct cell cells[MAX_COLUMNS];
	int line;
};

struct reader {
	const struct table_source *src;
	struct header header;
	ARRAY_OF(struct row) rows;  /* under the header */
	size_t gap;		    /* first line after the table above */
	const char *baseline;	    /* a release that prose names, or NULL */
	const char *base, *compare; /* of the last command that named them */
	size_t last_metrics;	    /* index + 1 of the last table of metrics; 0: none */
};

/* ---- header ---- */

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.s, word, s.len);
}

/* "compare%( std%)": up to a blank outside parentheses. */
static bool next_column(struct span *rest, struct span *column)
{
	int depth = 0;
	size_t i;

	span_skip_blanks(rest);
	for (i = 0; i < rest->len && (rest->s[i] != ' ' || depth > 0); i++)
		depth += (rest->s[i] == '(') - (rest->s[i] == ')');
	*column = (struct span){rest->s, i};
	span_skip(rest, i);
	return i > 0;
}

static bool add_columns(struct arena *a, struct span rest, struct header *h)
{
	struct span s;

	while (next_column(&rest, &s)) {
		struct column c = {0};
		const char *open = memchr(s.s, '(', s.len);
		size_t n = open ? (size_t)(open - s.s) : s.len;

		if (h->n == MAX_COLUMNS || !n || !isalnum((unsigned char)s.s[0]))
			return false;
		c.std = open && span_find(s, "std");
		c.percent = s.s[n - 1] == '%';
		n -= c.percent && n > 1;
		c.name = arena_strndup(a, s.s, n);
		h->columns[h->n++] = c;
	}
	return true;
}

static bool is_baseline(const struct column *c)
{
	return !c->percent && !strncasecmp(c->name, "base", 4);
}

/* A part of a header that was wrapped: nothing but "name%( std%)". */
static bool is_rest(struct span s)
{
	struct span column;
	bool any = false;

	while (next_column(&s, &column)) {
		if (!memchr(column.s, '%', column.len) || !isalpha((unsigned char)column.s[0]))
			return false;
		any = true;
	}
	return any;
}

static bool read_header(struct reader *rd, size_t i, struct header *h)
{
	static const char *const loads[] = {"load", "threads", "groups", "clients", "workers"};
	struct span rest = rd->src->text->lines[i].text, word, at;
	size_t k, percents = 0;

	*h = (struct header){.line = i, .end = i + 1};
	if (rest.len > MAX_LINE || !span_next_word(&rest, &word) || !is_word(word, "case"))
		return false;
	at = rest;
	if (!span_next_word(&at, &word))
		return false;
	for (k = 0; k < ARRAY_SIZE(loads); k++)
		h->load |= is_word(word, loads[k]);
	if (!add_columns(rd->src->a, h->load ? at : rest, h))
		return false;
	while (h->end < rd->src->text->n && h->end < i + 3 &&
	       is_rest(rd->src->text->lines[h->end].text))
		if (!add_columns(rd->src->a, rd->src->text->lines[h->end++].text, h))
			return false;
	for (k = 0; k < h->n; k++)
		percents += h->columns[k].percent || h->columns[k].std;
	return percents && (h->load || is_baseline(&h->columns[0]));
}

/* ---- rows ---- */

/* "+687.45 (  3.77)", "1.00", "+1262.06%", "+29.06 (  3.31)*" */
static bool take_cell(struct arena *a, struct span *rest, struct cell *out)
{
	struct span s = *rest;
	size_t n;
	int decimals;
	double v;

	*out = (struct cell){0};
	span_skip_blanks(&s);
	n = table_scan_number(s, &v, &decimals);
	if (!n || (n < s.len && !strchr(" %(*", s.s[n])))
		return false;
	out->sign = s.s[0] == '+' || s.s[0] == '-';
	out->c.value = v;
	out->c.value_text = arena_strndup(a, s.s, n);
	span_skip(&s, n);
	if (s.len && s.s[0] == '%')
		span_skip(&s, 1);
	*rest = s;
	span_skip_blanks(&s);
	if (s.len && s.s[0] == '(') {
		span_skip(&s, 1);
		span_skip_blanks(&s);
		n = table_scan_number(s, &out->c.deviation, &decimals);
		if (!n || out->c.deviation < 0)
			return false;
		span_skip(&s, n);
		if (s.len && s.s[0] == '%')
			span_skip(&s, 1);
		span_skip_blanks(&s);
		if (!s.len || s.s[0] != ')')
			return false;
		span_skip(&s, 1);
		out->c.has_deviation = true;
		*rest = s;
	}
	out->c.mark = rest->len && rest->s[0] == '*';
	span_skip(rest, out->c.mark);
	return !rest->len || rest->s[0] == ' ';
}

/* The cells from s to its end: how many; MAX_COLUMNS + 1 where something else follows them. */
static size_t take_cells(struct arena *a, struct span s, struct cell *cells)
{
	size_t n = 0;

	while (n < MAX_COLUMNS && take_cell(a, &s, &cells[n]))
		n++;
	span_skip_blanks(&s);
	if (s.len && s.s[0] != '<' && s.s[0] != '#')
		return MAX_COLUMNS + 1;
	return n;
}

/* "TCP_RR    28 threads": wide gaps part them, else the first blank. */
static void split_label(struct arena *a, struct span s, bool load, struct row *row)
{
	const char *gap = span_find(s, "  ");
	const char *cut = gap ? gap : memchr(s.s, ' ', s.len);

	row->label = span_join_words(a, s);
	row->name = row->label;
	if (!load || !cut)
		return;
	row->name = span_join_words(a, (struct span){s.s, (size_t)(cut - s.s)});
	row->load = span_join_words(a, (struct span){cut, s.len - (size_t)(cut - s.s)});
}

/* A label of some words, then exactly as many cells as there are columns. */
static bool scan_row(struct reader *rd, struct span line, struct row *row)
{
	struct span rest = line, word;
	size_t words;

	if (!span_next_word(&rest, &word) || !isalnum((unsigned char)word.s[0]))
		return false;
	line = (struct span){word.s, line.len - (size_t)(word.s - line.s)};
	for (words = 1; words <= MAX_LABEL && span_next_word(&rest, &word); words++) {
		struct span cells = {word.s, line.len - (size_t)(word.s - line.s)};

		if (take_cells(rd->src->a, cells, row->cells) != rd->header.n)
			continue;
		split_label(rd->src->a, span_trim((struct span){line.s, line.len - cells.len}),
			    rd->header.load, row);
		return true;
	}
	return false;
}

static bool continues(struct span s)
{
	return s.len && (isdigit((unsigned char)s.s[0]) || strchr("+-().", s.s[0]));
}

static bool read_row(struct reader *rd, size_t i, struct row *row, size_t *end)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct table_line *line = &rd->src->text->lines[i];
	bool found;

	*row = (struct row){.line = line->line};
	*end = i + 1;
	if (line->text.len > MAX_LINE)
		return false;
	found = scan_row(rd, line->text, row);
	strbuf_add(&sb, line->text.s, line->text.len);
	while (!found && *end < rd->src->text->n && *end < i + MAX_LINES) {
		struct span next = span_trim(rd->src->text->lines[*end].text);

		if (!continues(next) || next.len > MAX_LINE)
			break;
		strbuf_addc(&sb, ' ');
		strbuf_add(&sb, next.s, next.len);
		++*end;
		found = scan_row(rd, (struct span){strbuf_str(&sb), sb.len}, row);
	}
	if (!found)
		*end = i + 1;
	return found;
}

/* A line among the rows that was one: a label, and somewhere a figure. */
static const char *damaged_row(struct reader *rd, size_t i)
{
	struct span rest = rd->src->text->lines[i].text, word;
	struct cell cell;
	size_t words = 0;
	const char *start;

	if (!span_next_word(&rest, &word) || !isalnum((unsigned char)word.s[0]))
		return NULL;
	for (start = word.s; words < MAX_LABEL && span_next_word(&rest, &word); words++) {
		struct span at = {word.s, rest.len + (size_t)(rest.s - word.s)};

		if (take_cell(rd->src->a, &at, &cell) &&
		    (cell.c.has_deviation || !strcmp(cell.c.value_text, "1.00") || cell.sign))
			return span_join_words(rd->src->a,
					       (struct span){start, (size_t)(word.s - start)});
	}
	return NULL;
}

/* ---- what stands above a table ---- */

struct context {
	const char *title, *benchmark;
	const char *base, *compare; /* "report.py -b 5.19.0+ -c 5.19.0-skip" */
	const char *log;	    /* "schedstat_parse.py -f netperf_vanilla.log" */
};

static void take_option(struct arena *a, struct span line, const char *option, const char **value)
{
	struct span word;

	while (!*value && span_next_word(&line, &word))
		if (span_is(word, option) && span_next_word(&line, &word) && word.s[0] != '-')
			*value = arena_strndup(a, word.s, word.len);
}

static bool is_rule(struct span s)
{
	return table_is_separator(s) && memchr(s.s, '=', s.len);
}

/* "netperf" above "=======", "[hackbench pipe]". */
static bool is_title(const struct reader *rd, size_t i, size_t top)
{
	struct span s = span_trim(rd->src->text->lines[i].text);

	if (!s.len || s.len > 60 || table_is_separator(s))
		return false;
	return (i + 1 < top && is_rule(rd->src->text->lines[i + 1].text)) ||
	       (s.s[0] == '[' && s.s[s.len - 1] == ']');
}

static const char *first_word(struct arena *a, struct span s)
{
	size_t n = 0;

	while (s.len && s.s[0] == '[')
		span_skip(&s, 1);
	while (n < s.len && (isalnum((unsigned char)s.s[n]) || strchr("-_.", s.s[n])))
		n++;
	return n ? arena_strndup(a, s.s, n) : NULL;
}

static void find_context(struct reader *rd, size_t top, struct context *c)
{
	size_t i, seen = 0;

	*c = (struct context){0};
	for (i = top; i > rd->gap && seen < CONTEXT; seen++) {
		struct span line = rd->src->text->lines[--i].text;

		take_option(rd->src->a, line, "-b", &c->base);
		take_option(rd->src->a, line, "-c", &c->compare);
		if (span_find(line, ".log"))
			take_option(rd->src->a, line, "-f", &c->log);
		if (!c->title && is_title(rd, i, top)) {
			c->title = span_join_words(rd->src->a, span_trim(line));
			rd->src->used[i] = true;
			c->benchmark = table_benchmark_in(line, NULL);
			if (!c->benchmark)
				c->benchmark = first_word(rd->src->a, span_trim(line));
		}
		if (!c->benchmark)
			c->benchmark = table_benchmark_in(line, NULL);
		if (!c->benchmark && span_find(line, "report.py"))
			take_option(rd->src->a, line, "-t", &c->benchmark);
	}
	if (c->base && c->compare) {
		rd->base = c->base;
		rd->compare = c->compare;
	}
}

/* Cases that only one benchmark has. */
static const char *benchmark_of_case(const char *name)
{
	static const struct {
		const char *prefix, *benchmark;
	} cases[] = {{"TCP_", "netperf"},
		     {"UDP_", "netperf"},
		     {"SCTP_", "netperf"},
		     {"loopback", "tbench"},
		     {"tbench", "tbench"},
		     {"process-pipe", "hackbench"},
		     {"process-sockets", "hackbench"},
		     {"threads-pipe", "hackbench"},
		     {"threads-sockets", "hackbench"},
		     {"context_switch", "will-it-scale"}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strncmp(name, cases[i].prefix, strlen(cases[i].prefix)))
			return cases[i].benchmark;
	return NULL;
}

/* "The baseline is v6.2-rc6 tip:sched/core, on top of" -> "v6.2-rc6"; NULL: nothing like it. */
static const char *baseline_in_prose(struct arena *a, const struct table_text *text)
{
	struct span rest, word;
	const char *at;
	size_t i;

	for (i = 0; i < text->n; i++) {
		at = span_find(text->lines[i].text, "aseline is ");
		if (!at)
			continue;
		rest = text->lines[i].text;
		span_skip(&rest, (size_t)(at - rest.s) + strlen("aseline is "));
		if (!span_next_word(&rest, &word))
			continue;
		while (word.len && strchr(".,;:", word.s[word.len - 1]))
			word.len--;
		if (word.len > 2 && memchr(word.s, '.', word.len) &&
		    isdigit((unsigned char)word.s[word.s[0] == 'v']))
			return arena_strndup(a, word.s, word.len);
	}
	return NULL;
}

/* "baseline: net-next c639a708a0b8" above the table */
static const char *describe(const struct reader *rd, const char *name, size_t top)
{
	const struct table_legend_entry *e;
	const char *found = NULL;

	array_for_each (e, &rd->src->legend->entries)
		if (e->first < top && !strcasecmp(e->name, name))
			found = e->text;
	return found;
}

/* ---- tables ---- */

/* The column at 1.00; -1: there is none, so the columns are metrics. */
static int baseline_column(const struct reader *rd)
{
	const struct row *row;
	size_t i;

	for (i = 0; i < rd->header.n; i++) {
		size_t ones = 0;

		if (rd->header.columns[i].percent)
			continue;
		if (is_baseline(&rd->header.columns[i]))
			return (int)i;
		array_for_each (row, &rd->rows)
			ones += !row->cells[i].sign && row->cells[i].c.value == 1;
		if (ones == rd->rows.n && rd->header.n > 1)
			return (int)i;
	}
	return -1;
}

static void add_params(struct reader *rd, const struct row *row, int number, struct table_row *out)
{
	struct table_param *p = arena_alloc_array(rd->src->a, 3, sizeof(*p));

	out->params = p;
	p[out->n_params++] = (struct table_param){"case", row->name, true};
	if (row->load)
		p[out->n_params++] = (struct table_param){"load", row->load, true};
	if (number > 1)
		p[out->n_params++] =
			(struct table_param){"table", arena_printf(rd->src->a, "%d", number), true};
}

/* Why a row is no comparison, or NULL; its cells become what they are. */
static const char *settle_cells(struct reader *rd, const struct row *row, int base,
				struct table_cell *cells)
{
	size_t i;

	for (i = 0; i < rd->header.n; i++) {
		const struct column *column = &rd->header.columns[i];
		const struct cell *in = &row->cells[i];

		cells[i] = in->c;
		cells[i].line = row->line;
		if (column->std && !in->c.has_deviation)
			return arena_printf(rd->src->a, "%s has no deviation", column->name);
		if ((int)i == base || !column->percent) {
			if ((int)i == base && (in->sign || in->c.value != 1))
				return arena_printf(rd->src->a, "%s is %s, not 1.00", column->name,
						    in->c.value_text);
			cells[i].has_value = true;
			continue;
		}
		if (!in->sign && in->c.value != 0)
			return arena_printf(rd->src->a, "%s has no sign: %s", column->name,
					    in->c.value_text);
		cells[i].change = in->c.value;
		cells[i].has_change = true;
		cells[i].value = 0;
		cells[i].value_text = NULL;
	}
	return NULL;
}

/* How many tables of these cases there are with this one: a second needs a name of its own. */
static int count_alike(const struct reader *rd, const struct table *t, const char *key)
{
	size_t i, n = rd->src->set->tables.n;
	int number = 1;

	for (i = n > RECENT ? n - RECENT : 0; i < n; i++) {
		const struct table *other = &rd->src->set->tables.items[i];

		number += !strcmp(other->family, t->family) &&
			  str_equal(other->benchmark, t->benchmark) && other->rows.n &&
			  !strcmp(other->rows.items[0].key, key);
	}
	return number;
}

static int name_columns(struct reader *rd, struct table *t, int base)
{
	size_t i, given = 0;

	t->variants = arena_alloc_array(rd->src->a, t->n_variants + 1, sizeof(*t->variants));
	t->descriptions =
		arena_alloc_array(rd->src->a, t->n_variants + 1, sizeof(*t->descriptions));
	while (rd->src->opt && rd->src->opt->names && rd->src->opt->names[given])
		given++;
	if (given && given != t->n_variants)
		return table_names_missing(rd->src->text->file, t, rd->src->opt, rd->src->e);
	for (i = 0; i < t->n_variants; i++) {
		const char *name = rd->header.columns[i].name;
		size_t k, same = 0;

		for (k = 0; k < i; k++)
			same += !strcmp(rd->header.columns[k].name, name);
		if (same)
			name = arena_printf(rd->src->a, "%s #%zu", name, same + 1);
		t->variants[i] = given ? rd->src->opt->names[i] : name;
		t->descriptions[i] = describe(rd, name, rd->header.line);
		if (t->n_variants != 2 || t->descriptions[i])
			continue;
		t->descriptions[i] = (int)i == base ? rd->base : rd->compare;
		if ((int)i == base && !rd->base)
			t->descriptions[i] = rd->baseline;
	}
	return 0;
}

static bool has_percent(const struct header *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->columns[i].percent)
			return true;
	return false;
}

static int compare_table(struct reader *rd, struct table *t, int base)
{
	const struct row *row;
	int number = count_alike(rd, t, rd->rows.items[0].label), r;

	t->n_variants = rd->header.n;
	t->sign = has_percent(&rd->header) ? SIGN_BETTER_POSITIVE : SIGN_NONE;
	t->deviation = rd->header.columns[base].std ? DEV_PERCENT : DEV_NONE;
	t->unit = "ratio";
	t->baseline = base;
	r = name_columns(rd, t, base);
	if (r)
		return r;
	array_for_each (row, &rd->rows) {
		struct table_row out = {
			.key = row->label,
			.axis = row->load,
			.full_metric = arena_printf(rd->src->a, "%s.%s",
						    t->benchmark ? t->benchmark : t->family,
						    t->sign ? "relative" : "ratio"),
			.headline = true,
			/* the tool turns every percentage, but not a ratio of values */
			.better = t->sign ? BETTER_HIGHER : BETTER_UNKNOWN,
			.unit = t->unit,
			.line = row->line,
		};
		const char *why;

		out.cells = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*out.cells));
		why = settle_cells(rd, row, base, out.cells);
		if (why) {
			tables_refuse(rd->src->a, rd->src->set, row->line, "row \"%s\" refused: %s",
				      row->label, why);
			continue;
		}
		add_params(rd, row, number, &out);
		*ARRAY_PUSH(&t->rows) = out;
	}
	return 0;
}

/* "netperf_vanilla.log" -> "vanilla"; *benchmark gets "netperf" where nothing else names it. */
static const char *variant_of_log(struct arena *a, const char *log, const char **benchmark)
{
	const char *base = strrchr(log, '/') ? strrchr(log, '/') + 1 : log;
	const char *dot = strrchr(base, '.'), *cut = strchr(base, '_');
	size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);

	if (!cut || cut == base || cut + 1 >= base + n)
		return arena_strndup(a, base, n);
	*benchmark = arena_strndup(a, base, (size_t)(cut - base));
	return arena_strndup(a, cut + 1, n - (size_t)(cut + 1 - base));
}

static const char *metric_variant(struct reader *rd, struct table *t, const struct context *c)
{
	const char *name = rd->src->opt && rd->src->opt->names ? rd->src->opt->names[0] : NULL,
		   *log = NULL;

	if (c->log)
		log = variant_of_log(rd->src->a, c->log, &t->benchmark);
	if (name || log)
		return name ? name : log;
	tables_warn(rd->src->a, rd->src->set, t->line,
		    "nothing names the kernel: it is called #1 (--names)");
	return "#1";
}

static void metric_table(struct reader *rd, struct table *t, const struct context *c)
{
	const struct row *row;
	size_t i;

	t->n_variants = 1;
	t->baseline = -1;
	t->variants = arena_alloc_array(rd->src->a, 2, sizeof(*t->variants));
	t->descriptions = arena_alloc_array(rd->src->a, 2, sizeof(*t->descriptions));
	t->variants[0] = metric_variant(rd, t, c);
	array_for_each (row, &rd->rows) {
		for (i = 0; i < rd->header.n; i++) {
			const struct column *column = &rd->header.columns[i];
			const char *unit = column->percent ? "%" : NULL;
			struct table_row out = {
				.key = arena_printf(rd->src->a, "%s %s%s", row->label, column->name,
						    unit ? unit : ""),
				.axis = row->load,
				.full_metric = arena_printf(rd->src->a, "%s.%s%s",
							    t->benchmark ? t->benchmark : t->family,
							    column->name, unit ? unit : ""),
				.headline = true,
				.unit = unit,
				.line = row->line,
			};

			add_params(rd, row, 1, &out);
			out.cells = arena_alloc_array(rd->src->a, 1, sizeof(*out.cells));
			out.cells[0] = row->cells[i].c;
			out.cells[0].has_value = true;
			out.cells[0].line = row->line;
			*ARRAY_PUSH(&t->rows) = out;
		}
	}
	t->unit = t->rows.items[0].unit;
}

static bool same_keys(const struct table *x, const struct table *y)
{
	size_t i;

	if (x->rows.n != y->rows.n || !str_equal(x->benchmark, y->benchmark))
		return false;
	for (i = 0; i < x->rows.n; i++)
		if (strcmp(x->rows.items[i].key, y->rows.items[i].key))
			return false;
	return true;
}

/* The same metrics of another kernel are a column more of the table above. */
static bool join_tables(struct reader *rd, const struct table *t)
{
	struct table *to;
	size_t i, n;

	if (!rd->last_metrics)
		return false;
	to = &rd->src->set->tables.items[rd->last_metrics - 1];
	n = to->n_variants;
	if (n >= MAX_COLUMNS || !same_keys(to, t))
		return false;
	for (i = 0; i < n; i++)
		if (!strcmp(to->variants[i], t->variants[0]))
			return false;
	to->variants = memcpy(arena_alloc_array(rd->src->a, n + 2, sizeof(*to->variants)),
			      to->variants, n * sizeof(*to->variants));
	to->variants[n] = t->variants[0];
	to->descriptions = arena_alloc_array(rd->src->a, n + 2, sizeof(*to->descriptions));
	for (i = 0; i < t->rows.n; i++) {
		struct table_row *row = &to->rows.items[i];
		struct table_cell *cells = arena_alloc_array(rd->src->a, n + 1, sizeof(*cells));

		memcpy(cells, row->cells, n * sizeof(*cells));
		cells[n] = t->rows.items[i].cells[0];
		row->cells = cells;
	}
	to->n_variants++;
	return true;
}

static int finish(struct reader *rd)
{
	struct table t = {.family = "intel-base-compare"};
	struct context c;
	int base, r = 0;

	if (!rd->rows.n)
		return 0;
	find_context(rd, rd->header.line, &c);
	t.line = rd->rows.items[0].line;
	t.benchmark = c.benchmark;
	if (!t.benchmark)
		t.benchmark = benchmark_of_case(rd->rows.items[0].name);
	t.section = c.title;
	base = baseline_column(rd);
	if (base >= 0)
		r = compare_table(rd, &t, base);
	else
		metric_table(rd, &t, &c);
	rd->rows.n = 0;
	if (r || !t.rows.n || (base < 0 && join_tables(rd, &t))) {
		ARRAY_FREE(&t.rows);
		return r;
	}
	table_index_repeats(&t);
	*ARRAY_PUSH(&rd->src->set->tables) = t;
	if (base < 0)
		rd->last_metrics = rd->src->set->tables.n;
	return 0;
}

static int read_lines(struct reader *rd)
{
	struct header header;
	struct row row;
	size_t i, end, after = 0; /* the line after the last row or header */
	const char *damaged;
	int r = 0;

	for (i = 0; !r && i < rd->src->text->n; i++) {
		if (!rd->src->text->lines[i].text.len)
			continue;
		if (read_header(rd, i, &header)) {
			r = finish(rd);
			if (after)
				rd->gap = after;
			rd->header = header;
			end = header.end;
		} else if (!rd->header.n) {
			continue;
		} else if (read_row(rd, i, &row, &end)) {
			*ARRAY_PUSH(&rd->rows) = row;
		} else {
			damaged = i == after ? damaged_row(rd, i) : NULL;
			if (!damaged)
				continue;
			tables_refuse(rd->src->a, rd->src->set, rd->src->text->lines[i].line,
				      "row \"%s\" refused: not %zu cells", damaged, rd->header.n);
			end = i + 1;
		}
		for (; i < end; i++)
			rd->src->used[i] = true;
		after = end;
		i = end - 1;
	}
	return r ? r : finish(rd);
}

static int intel_read(const struct table_source *src)
{
	struct reader rd = {
		.src = src,
	};
	int r;

	rd.baseline = baseline_in_prose(src->a, src->text);
	r = read_lines(&rd);
	ARRAY_FREE(&rd.rows);
	return r;
}

static const struct table_family intel = {
	.name = "intel",
	.read = intel_read,
};
REGISTER(table_family, intel);
