// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of numbers of our own mails, one between blank lines. Columns are told by words, not
 * by places, so that lost blanks do not matter:
 *
 *	tbench, numa 0&1
 *	clients   A, MB/s        B      C/B   cv
 *	     64  15952.50   -1.08%  -33.50*  0.4%
 *
 *	          A, s           B, s
 *	          mean   cv      mean   cv  change       range, %  verdict
 *	real    78.240 1.4%    77.414 2.4%  -1.06%  [-3.70,+1.32]  unsure
 *
 *	values   tbench, Hmean of throughput, MB/s
 *	clients  where            A         B
 *	     64  numa 0&1  15952.50  15780.41
 *
 *	runs, seconds, in the order listed
 *	real A   79.510   77.303
 */
#include "parsers/tables/own.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/num.h"

/* ---- tables and rows of the report ---- */

struct title {
	const char *benchmark, *metric, *where;
	bool counters;
};

static const char *known_benchmark(const struct own_report *rp, const char *s)
{
	const char *best = NULL;
	size_t i;

	for (i = 0; i < rp->facts.benchmarks.n; i++) {
		const char *name = rp->facts.benchmarks.items[i];
		size_t len = strlen(name);

		if (str_starts(s, name) && (!s[len] || s[len] == ' ' || s[len] == ',') &&
		    (!best || len > strlen(best)))
			best = name;
	}
	return best ? best : arena_strndup(rp->a, s, strcspn(s, " ,;"));
}

/* "tbench max_latency counters, numa 0&1" */
static void read_title(struct own_report *rp, const char *s, struct title *t)
{
	const struct own_metric *only;
	const char *comma;

	t->benchmark = known_benchmark(rp, s);
	t->where = t->metric = "";
	t->counters = false;
	s += strlen(t->benchmark);
	if (*s == ' ') {
		comma = strstr(++s, ", ");
		t->metric = comma ? arena_strndup(rp->a, s, (size_t)(comma - s)) : s;
		s = comma ? comma : s + strlen(s);
		if (!strcmp(t->metric, "counters")) {
			t->counters = true;
			t->metric = "";
		} else if (str_ends(t->metric, " counters")) {
			t->counters = true;
			t->metric = arena_strndup(rp->a, t->metric, strlen(t->metric) - 9);
		}
	}
	if (str_starts(s, ", "))
		t->where = s + 2;
	only = own_metric_find(&rp->facts, t->benchmark, t->metric);
	if (only && !t->counters)
		t->metric = only->name;
}

static struct own_table *table_get(struct own_report *rp, const struct title *title, int line)
{
	struct own_table *t;
	size_t i, k;

	for (k = 0; k < rp->tables.n; k++) {
		i = (rp->at + k) % rp->tables.n;
		t = &rp->tables.items[i];
		if (!strcmp(t->benchmark, title->benchmark) && !strcmp(t->metric, title->metric) &&
		    !strcmp(t->where, title->where) && t->counters == title->counters) {
			rp->at = i;
			return t;
		}
	}
	rp->at = rp->tables.n;
	t = ARRAY_PUSH(&rp->tables);
	*t = (struct own_table){.benchmark = title->benchmark,
				.metric = title->metric,
				.where = title->where,
				.axis = "",
				.counters = title->counters,
				.line = line};
	return t;
}

/* "real, s" of a table of several units is the row "real". */
static const char *plain_label(const struct own_report *rp, const struct own_table *t,
			       const char *label)
{
	const char *comma = strstr(label, ", ");

	if (!comma || *t->axis || *t->metric)
		return label;
	while (strstr(comma + 2, ", "))
		comma = strstr(comma + 2, ", ");
	return arena_strndup(rp->a, label, (size_t)(comma - label));
}

static struct own_row *row_get(struct own_report *rp, struct own_table *t, const char *label,
			       int line)
{
	struct own_row *row;
	size_t i, k;

	label = plain_label(rp, t, label);
	for (k = 0; k < t->rows.n; k++) {
		i = (t->at + k) % t->rows.n;
		if (!strcmp(t->rows.items[i].label, label)) {
			t->at = i + 1;
			return &t->rows.items[i];
		}
	}
	row = ARRAY_PUSH(&t->rows);
	*row = (struct own_row){.label = label, .line = line};
	row->cells = arena_alloc_array(rp->a, rp->facts.n, sizeof(*row->cells));
	t->at = t->rows.n;
	return row;
}

static enum row_better row_better(const struct own_report *rp, const struct own_table *t,
				  const struct own_row *row)
{
	const struct own_metric *m =
		own_metric_find(&rp->facts, t->benchmark, *t->metric ? t->metric : row->label);

	return m ? m->better : BETTER_UNKNOWN;
}

/* "A, MB/s B, MB/s" above the header of a pair; *unit stays where it has none. */
static bool pair_sides(struct own_report *rp, size_t i, const char **unit)
{
	struct own_words w;
	size_t k;

	if (!own_split(rp->text->lines[i].text, &w) ||
	    (!span_is(w.w[0], "A") && !span_is(w.w[0], "A,")))
		return false;
	for (k = 1; k < w.n && !span_is(w.w[k], "B") && !span_is(w.w[k], "B,"); k++)
		;
	if (w.w[0].len == 2 && k > 1)
		*unit = own_unit(rp->a, span_of(own_words_join(rp->a, &w, 1, k)));
	return true;
}

/* ---- rows ---- */

/* Styles print what is better upwards; percent of new / old - 1. */
static void turn(struct own_report *rp, const struct own_head *h, struct own_table *t,
		 const struct own_row *row, const double *x, int line)
{
	bool lower = row_better(rp, t, row) == BETTER_LOWER;
	size_t i;

	for (i = 0; i < h->n; i++) {
		struct table_cell *c = &row->cells[h->columns[i]];
		double change;

		if (isnan(x[i]))
			continue;
		if (h->kind == OWN_HEAD_BLOCK)
			change = lower ? -x[i] : x[i];
		else if (x[i] > 0)
			/* three digits of a ratio are tenths of a percent */
			change = round(1000 * ((lower ? 1 / x[i] : x[i]) - 1)) / 10;
		else
			continue;
		own_set_change(c, change, line);
		t->spread |= c->has_deviation;
	}
}

static void merge(struct own_table *t, struct own_row *row, const struct table_cell *cells,
		  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct table_cell *from = &cells[i];
		struct table_cell *to = &row->cells[i];

		if (from->has_value || from->has_change || from->has_deviation) {
			bool had = to->has_value && !from->has_value;
			struct table_cell kept = *to;

			*to = *from;
			if (had) {
				to->has_value = true;
				to->value = kept.value;
				to->value_text = kept.value_text;
			}
			t->spread |= to->has_deviation;
		}
	}
}

/* "fewer boots: 2 B n = 4, 8 A n = 3" */
static void read_counts(struct own_report *rp, struct own_table *t, const char *s)
{
	const char *n_at, *end;
	double n;

	for (s = strchr(s, ':'); s && s[1] == ' '; s = *end == ',' ? end : NULL) {
		struct own_row *row;
		const char *id;
		int variant;

		s += 2;
		n_at = strstr(s, " n = ");
		if (!n_at)
			return;
		end = n_at + 5 + strspn(n_at + 5, "0123456789");
		for (id = n_at; id > s && id[-1] != ' '; id--)
			;
		variant = own_id(&rp->facts, (struct span){id, (size_t)(n_at - id)});
		if (id == s || variant < 0 ||
		    !num_parse((struct span){n_at + 5, (size_t)(end - n_at - 5)}, &n) || n < 1 ||
		    n > 1e6)
			return;
		row = row_get(rp, t, arena_strndup(rp->a, s, (size_t)(id - 1 - s)), t->line);
		row->cells[variant].has_n = true;
		row->cells[variant].n = (int)n;
	}
}

static size_t count_numbers(const struct own_words *w)
{
	size_t i, n = 0;
	double v;

	for (i = 0; i < w->n; i++) {
		struct span s = w->w[i];

		if (s.len && strchr("%*!=?", s.s[s.len - 1]))
			s.len--;
		if (s.len && s.s[0] == '+')
			s.s++, s.len--;
		n += num_parse(s, &v);
	}
	return n;
}

/* A row that cannot be read must not vanish. */
static void note_unread(struct own_report *rp, struct own_table *t, size_t i)
{
	struct own_words w;
	struct own_row *row;

	if (!own_split(rp->text->lines[i].text, &w) || count_numbers(&w) < 2)
		return;
	row = row_get(rp, t, own_words_join(rp->a, &w, 0, 1), rp->text->lines[i].line);
	row->bad = "its cells cannot be read";
}

static void read_rows(struct own_report *rp, const struct own_head *h, struct own_table *t,
		      size_t from, size_t to)
{
	struct table_cell *cells;
	const char *label = NULL; /* on a line of its own */
	double x[OWN_MAX_COLUMNS];
	size_t i, above = 0;
	struct own_words w;

	for (i = from; i < to; i++) {
		struct own_line r = {NULL, 0};
		struct own_row *row;
		int line = rp->text->lines[i].line;
		bool read;

		if (!own_split(rp->text->lines[i].text, &w)) {
			label = NULL;
			continue;
		}
		if (span_is(w.w[0], "geomean") || span_is(w.w[0], "why"))
			break;
		if (span_is(w.w[0], "note")) {
			if (h->kind == OWN_HEAD_PAIR)
				read_counts(rp, t, own_join(rp->a, rp->text, i, to));
			break;
		}
		cells = arena_alloc_array(rp->a, rp->facts.n, sizeof(*cells));
		r.cells = cells;
		read = own_line_read(rp, h, &w, line, &r, x);
		if (read && (r.label || label)) {
			if (label && r.label)
				note_unread(rp, t, above);
			row = row_get(rp, t,
				      r.label ? own_words_join(rp->a, &w, 0, r.label) : label,
				      line);
			merge(t, row, cells, rp->facts.n);
			if (h->kind == OWN_HEAD_NORM || h->kind == OWN_HEAD_BLOCK)
				turn(rp, h, t, row, x, line);
			label = NULL;
			continue;
		}
		if (label)
			note_unread(rp, t, above);
		label = own_words_join(rp->a, &w, 0, w.n);
		above = i;
	}
	if (label)
		note_unread(rp, t, above);
}

/* ---- blocks ---- */

/* "Test          : tbench throughput, numa 0&1" up to "Units" */
static const char *block_title(struct own_report *rp, const char *s)
{
	const char *units = strstr(s, " Units : ");

	if (!str_starts(s, "Test : ") || !units)
		return NULL;
	return arena_strndup(rp->a, s + 7, (size_t)(units - s - 7));
}

/* "tbench (B to F)" is a part of the table of tbench. */
static const char *without_part(struct own_report *rp, const char *s)
{
	const char *part = strrchr(s, '(');
	struct span id;

	if (!part || part == s || part[-1] != ' ' || s[strlen(s) - 1] != ')')
		return s;
	id = (struct span){part + 1, strcspn(part + 1, " /)")};
	return own_id(&rp->facts, id) < 0 ? s : arena_strndup(rp->a, s, (size_t)(part - 1 - s));
}

static bool read_table(struct own_report *rp, size_t from, size_t to)
{
	struct own_table *t;
	const char *unit = NULL, *s;
	struct title title;
	struct own_head h, below;
	size_t at, top;

	for (at = from; at < to && !own_head_read(rp, at, &h); at++)
		;
	if (at == to)
		return false;
	/* "A B" above the header of a pair */
	if (at + 1 < to && h.kind == OWN_HEAD_WIDE && own_head_read(rp, at + 1, &below) &&
	    below.kind == OWN_HEAD_PAIR) {
		h = below;
		at++;
	}
	top = at;
	if (h.kind == OWN_HEAD_PAIR && at > from && pair_sides(rp, at - 1, &unit))
		top--;
	s = own_join(rp->a, rp->text, from, top);
	if (h.kind == OWN_HEAD_BLOCK && *s)
		s = block_title(rp, s);
	else if (h.kind == OWN_HEAD_NORM && strstr(s, "; "))
		s = arena_strndup(rp->a, s, (size_t)(strstr(s, "; ") - s));
	if (!s || (!*s && h.kind == OWN_HEAD_WIDE))
		return false;
	if (!*s && rp->tables.n && h.kind != OWN_HEAD_PAIR) {
		t = &rp->tables.items[rp->at];
	} else {
		if (h.kind == OWN_HEAD_WIDE)
			s = without_part(rp, s);
		if (!*s)
			s = rp->facts.benchmarks.items[0];
		read_title(rp, s, &title);
		t = table_get(rp, &title, rp->text->lines[at].line);
	}
	t->axis = h.axis;
	t->unit = h.unit ? h.unit : unit ? unit : t->unit;
	read_rows(rp, &h, t, at + 1, to);
	return true;
}

/* ", Hmean of throughput, MB/s": the last mean in the title of values */
static const char *mean_in(const char *s)
{
	static const char *const means[] = {", Amean of ", ", Hmean of ", ", Gmean of ",
					    ", Median of "};
	const char *last = NULL, *p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(means); i++)
		for (p = s; (p = strstr(p, means[i])); p++)
			last = !last || p > last ? p : last;
	return last;
}

/* The table whose words stand at the end of the row's label, which loses them. */
static struct own_table *table_of_row(struct own_report *rp, struct title *title, bool where,
				      const struct own_words *w, size_t *label, int line)
{
	const char *words = own_words_join(rp->a, w, 0, *label), *best = NULL;
	size_t i, len;

	if (!where)
		return table_get(rp, title, line);
	for (i = 0; i < rp->tables.n; i++) {
		const char *known = rp->tables.items[i].where;

		len = strlen(known);
		if (len && !strcmp(rp->tables.items[i].benchmark, title->benchmark) &&
		    str_ends(words, known) && strlen(words) > len &&
		    words[strlen(words) - len - 1] == ' ' && (!best || len > strlen(best)))
			best = known;
	}
	if (!best)
		best = *label > 1 ? own_words_join(rp->a, w, 1, *label) : "";
	for (i = *label; *best && i; i--)
		if (strlen(own_words_join(rp->a, w, i - 1, *label)) > strlen(best))
			break;
	*label = i;
	title->where = best;
	return table_get(rp, title, line);
}

static void values_row(struct own_report *rp, const struct own_head *h, struct title *title,
		       bool where, size_t i, const char **label)
{
	int line = rp->text->lines[i].line;
	struct own_table *t;
	struct own_row *row;
	struct own_words w;
	size_t k, n;
	double v;

	if (!own_split(rp->text->lines[i].text, &w))
		return;
	for (k = 0; k < h->n && k < w.n; k++)
		if (!span_is(w.w[w.n - 1 - k], ".") && !num_parse(w.w[w.n - 1 - k], &v))
			break;
	if (k < h->n || (w.n == h->n && !*label)) {
		*label = own_words_join(rp->a, &w, 0, w.n);
		return;
	}
	n = w.n - h->n;
	t = table_of_row(rp, title, where, &w, &n, line);
	if (!*t->axis)
		t->axis = h->axis;
	if (!t->unit)
		t->unit = h->unit;
	row = row_get(rp, t, n ? own_words_join(rp->a, &w, 0, n) : *label ? *label : "", line);
	for (k = 0; k < h->n; k++)
		own_set_value(rp, &row->cells[h->columns[k]], w.w[w.n - h->n + k], line);
	*label = NULL;
}

static bool read_values(struct own_report *rp, size_t from, size_t to)
{
	const char *s = NULL, *of, *comma, *label = NULL;
	struct title title = {"", "", "", false};
	struct own_head h = {0};
	struct own_words w;
	bool where = false;
	size_t i, k;

	for (i = from + 1; i < to && !h.n; i++) {
		if (!own_split(rp->text->lines[i].text, &w))
			return false;
		for (k = 0; k < w.n && !h.n; k++)
			if (!own_columns_read(rp, &w, k, &h))
				h.n = 0;
		if (!h.n)
			continue;
		k--;
		where = k && span_is(w.w[k - 1], "where");
		h.axis = own_words_join(rp->a, &w, 0, k - where);
		s = own_join(rp->a, rp->text, from, i) + strlen("values ");
	}
	of = h.n ? mean_in(s) : NULL;
	if (!of)
		return false;
	title.benchmark = known_benchmark(rp, s);
	if (str_starts(s + strlen(title.benchmark), ", ") && s + strlen(title.benchmark) < of) {
		const char *start = s + strlen(title.benchmark) + 2;

		title.where = arena_strndup(rp->a, start, (size_t)(of - start));
	}
	of = strstr(of, " of ") + 4;
	comma = strstr(of, ", ");
	title.metric = comma ? arena_strndup(rp->a, of, (size_t)(comma - of)) : of;
	if (!strcmp(title.metric, "each metric"))
		title.metric = "";
	if (comma)
		h.unit = own_unit(rp->a, span_of(comma + 2));
	for (; i < to; i++)
		values_row(rp, &h, &title, where, i, &label);
	return true;
}

/* "64 A 9864.318 9784.277": words before the variant are the label, numbers follow. */
static int runs_variant(const struct own_report *rp, const struct own_words *w, size_t *at)
{
	size_t i = w->n;
	double v;

	while (i && num_parse(w->w[i - 1], &v))
		i--;
	*at = i;
	return i && i < w->n ? own_id(&rp->facts, w->w[i - 1]) : -1;
}

static void runs_add(struct own_report *rp, struct own_row *row, int variant,
		     const struct own_words *w, size_t from)
{
	if (!row->values)
		row->values = arena_alloc_array(rp->a, rp->facts.n, sizeof(*row->values));
	for (; from < w->n; from++)
		*ARRAY_PUSH(&row->values[variant]) =
			arena_strndup(rp->a, w->w[from].s, w->w[from].len);
}

static bool read_runs(struct own_report *rp, size_t from, size_t to)
{
	const char *s = "", *runs = NULL, *p, *label = NULL;
	struct own_table *t;
	struct own_row *row = NULL;
	struct own_words w;
	struct title title;
	size_t i, at;
	int variant = -1, next;

	for (i = from; i < to; i++) {
		s = own_join(rp->a, rp->text, from, i + 1);
		if (str_ends(s, "in the order of the blocks") || str_ends(s, "in the order listed"))
			break;
		if (i - from > 16)
			return false;
	}
	if (i == to)
		return false;
	for (p = s; (p = strstr(p, "runs, ")); p++)
		if (p == s || p[-1] == ' ')
			runs = p;
	if (!runs)
		return false;
	if (runs == s && rp->tables.n) {
		t = &rp->tables.items[rp->at];
	} else {
		read_title(rp,
			   runs == s ? rp->facts.benchmarks.items[0]
				     : arena_strndup(rp->a, s, (size_t)(runs - 1 - s)),
			   &title);
		t = table_get(rp, &title, rp->text->lines[i].line);
	}
	p = strstr(runs + 6, ", in the order");
	if (p && !t->unit)
		t->unit = own_unit(rp->a, (struct span){runs + 6, (size_t)(p - runs - 6)});
	for (i++; i < to; i++) {
		if (!own_split(rp->text->lines[i].text, &w))
			continue;
		next = runs_variant(rp, &w, &at);
		if (next >= 0) {
			variant = next;
			if (at > 1)
				label = own_words_join(rp->a, &w, 0, at - 1);
			row = label ? row_get(rp, t, label, rp->text->lines[i].line) : NULL;
			if (row)
				runs_add(rp, row, variant, &w, at);
		} else if (!at && row) {
			runs_add(rp, row, variant, &w, 0);
		} else {
			label = own_words_join(rp->a, &w, 0, w.n);
			row = NULL;
		}
	}
	return true;
}

bool own_block_read(struct own_report *rp, size_t from, size_t to)
{
	struct own_words w;

	if (!own_split(rp->text->lines[from].text, &w))
		return false;
	if (span_is(w.w[0], "values") && read_values(rp, from, to))
		return true;
	return read_runs(rp, from, to) || read_table(rp, from, to);
}

void own_report_release(struct own_report *rp)
{
	struct own_table *t;
	struct own_row *row;
	size_t i;

	array_for_each (t, &rp->tables) {
		array_for_each (row, &t->rows)
			for (i = 0; row->values && i < rp->facts.n; i++)
				ARRAY_FREE(&row->values[i]);
		ARRAY_FREE(&t->rows);
	}
	ARRAY_FREE(&rp->tables);
	own_facts_release(&rp->facts);
}
