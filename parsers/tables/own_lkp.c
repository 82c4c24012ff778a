// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Our own reports of all metrics (`-o lkp`) back into tables. Rows are told by their words, so that
 * quotes, wraps and lost blanks do not matter; a name may stand on lines of its own:
 *
 *	B against A: 1123456789 against 0123456789
 *
 *	==============================================================================
 *	groups/testcase:
 *	  4/hackbench
 *	test     hackbench/groups=4 (machine box1): what it does
 *
 *	A fail:n B fail:n      p  reads   what failed (p: Fisher's exact test)
 *	     0:5      4:5  0.048  worse   dmesg.WARNING:at_x
 *	   A, n=5                B, n=5
 *	    value  sd  change     value  sd want reads   metric
 *	Headline
 *	   9.9895 0.2   +0.2%    10.008 0.5 less unsure  hackbench.time
 *	                 (n = 5 of A, 4 of B)
 *	  -11.948   - +40.24d    28.296 2.7 less worse
 *	        sched_debug.cfs_rq:/.load_avg.stddev
 */
#include "parsers/tables/own.h"

#include <ctype.h>
#include <string.h>

#include "core/num.h"
#include "parsers/tables/block.h"

/* Longest piece of a name on a line of its own. */
enum { NAME_WIDTH = 70, MOST_WORDS = 24 };

struct lkp_test {
	const char *name, *benchmark;
	const struct table_param *params;
	size_t n_params;
	ARRAY_OF(struct table_row) rows;
	bool spread;
};

struct lkp_report {
	const struct table_source *src;
	struct own_facts facts;
	ARRAY_OF(struct lkp_test) tests;
	size_t test;	 /* the one of the rows at hand */
	size_t variant;	 /* likewise */
	int n[2];	 /* runs of most rows of a table: of A, of the variant; 0: not stated */
	bool headline;	 /* rows at hand stand under this topic */
	long last;	 /* index of the row read last, -1: none */
};

/* ---- words of some lines ---- */

struct lkp_words {
	struct span w[MOST_WORDS];
	size_t line[MOST_WORDS], n;
};

static void gather(const struct table_text *text, size_t i, size_t to, struct lkp_words *out)
{
	struct span rest, word;

	for (out->n = 0; i < to && out->n < MOST_WORDS; i++) {
		rest = text->lines[i].text;
		while (out->n < MOST_WORDS && span_next_word(&rest, &word)) {
			out->line[out->n] = i;
			out->w[out->n++] = word;
		}
	}
}

static bool is_one_of(struct span s, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n && !span_is(s, words[i]); i++)
		;
	return i < n;
}

/* ---- figures ---- */

static bool take_value(struct arena *a, struct span s, struct table_cell *c)
{
	double v;

	if (span_is(s, "-"))
		return true;
	if (!num_parse(s, &v))
		return false;
	c->has_value = true;
	c->value = v;
	c->value_text = arena_strndup(a, s.s, s.len);
	return true;
}

static bool take_deviation(struct span s, struct table_cell *c)
{
	c->unknown_deviation = span_is(s, "-");
	if (c->unknown_deviation || span_is(s, "<=2"))
		return true;
	c->has_deviation = num_parse(s, &c->deviation);
	return c->has_deviation;
}

/* "+17.9%", "x47.41", "+0.61p" (*points), "+40.24d", "new", "gone", "-" */
static bool take_change(struct span s, struct table_cell *c, bool *points)
{
	char last = s.len ? s.s[s.len - 1] : '\0';
	struct span number = s;
	double v;

	if (span_is(s, "-") || span_is(s, "new") || span_is(s, "gone"))
		return true;
	if (s.s[0] == 'x') {
		span_skip(&number, 1);
		if (!num_parse(number, &v))
			return false;
		own_set_change(c, 100 * (v - 1), 0);
		return true;
	}
	if (!memchr("%pd", last, 3))
		return false;
	number.len--;
	if (number.len && number.s[0] == '+')
		span_skip(&number, 1);
	if (!num_parse(number, &v))
		return false;
	if (last == 'd')
		return true;
	*points = last == 'p';
	own_set_change(c, v, 0);
	return true;
}

/* The figures of a row from its first seven words on; words taken, 0: it is no row. */
static size_t take_figures(struct arena *a, const struct lkp_words *w, struct table_row *row,
			   struct table_cell *base, struct table_cell *cell)
{
	static const char *const wants[] = {"more", "less", "dep", "any", "?"};
	static const char *const reads[] = {"better",  "worse",	  "same",   "unsure",
					    "changed", "missing", "failed", "incomplete"};

	if (w->n < 7 || !take_value(a, w->w[0], base) || !take_deviation(w->w[1], base) ||
	    !take_change(w->w[2], cell, &row->points) || !take_value(a, w->w[3], cell) ||
	    !take_deviation(w->w[4], cell) || !is_one_of(w->w[5], wants, ARRAY_SIZE(wants)) ||
	    !is_one_of(w->w[6], reads, ARRAY_SIZE(reads)))
		return 0;
	row->better = span_is(w->w[5], "more")	 ? BETTER_HIGHER
		      : span_is(w->w[5], "less") ? BETTER_LOWER
						 : BETTER_UNKNOWN;
	cell->mark = span_is(w->w[6], "better") || span_is(w->w[6], "worse") ||
		     span_is(w->w[6], "changed");
	return w->n > 7 && span_is(w->w[7], "s") ? 8 : 7;
}

/* What is left of a row: its first four figures. */
static bool is_remnant(struct arena *a, const struct lkp_words *w)
{
	struct table_cell spare = {0};
	bool points;
	double v;

	return w->n > 3 && take_value(a, w->w[0], &spare) && take_deviation(w->w[1], &spare) &&
	       take_change(w->w[2], &spare, &points) && num_parse(w->w[3], &v);
}

/* ---- names ---- */

/* The only word of a line that is no figure. */
static bool lone_word(const struct table_text *text, size_t i, size_t to, struct span *word)
{
	struct span rest, next;
	double v;

	if (i >= to)
		return false;
	rest = text->lines[i].text;
	return span_next_word(&rest, word) && !span_next_word(&rest, &next) && !num_parse(*word, &v);
}

/*
 * The name behind the words taken, on their line or below it, where its parts end with a dot or
 * fill the line. *end: the line after it. NULL: there is none.
 */
static const char *take_name(struct arena *a, const struct table_text *text,
			     const struct lkp_words *w, size_t taken, size_t to, size_t *end)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t line = w->line[taken - 1], i;
	struct span word;

	for (i = taken; i < w->n && w->line[i] == line; i++)
		strbuf_addf(&sb, "%s%.*s", sb.len ? " " : "", (int)w->w[i].len, w->w[i].s);
	*end = line + 1;
	if (sb.len)
		return arena_strdup(a, strbuf_str(&sb));
	while (lone_word(text, *end, to, &word)) {
		strbuf_add(&sb, word.s, word.len);
		++*end;
		if (word.s[word.len - 1] != '.' && word.len != NAME_WIDTH)
			break;
	}
	return sb.len ? arena_strdup(a, strbuf_str(&sb)) : NULL;
}

/* ---- rows ---- */

/* The row that has no cell of the variant yet; those of the baseline stand in every block. */
static struct table_row *row_get(struct lkp_report *rp, const struct table_row *like)
{
	struct lkp_test *t = &rp->tests.items[rp->test];
	struct table_row *row;

	array_for_each (row, &t->rows)
		if (!strcmp(row->key, like->key) && row->kind == like->kind &&
		    !row->cells[rp->variant].line) {
			rp->last = row - t->rows.items;
			return row;
		}
	rp->last = (long)t->rows.n;
	row = ARRAY_PUSH(&t->rows);
	*row = *like;
	row->cells = arena_alloc_array(rp->src->a, rp->facts.n, sizeof(*row->cells));
	return row;
}

static void refuse(struct lkp_report *rp, size_t i, const char *name, const char *why)
{
	tables_refuse(rp->src->a, rp->src->set, rp->src->text->lines[i].line,
		      "row \"%s\" refused: %s", name, why);
}

/* Checks a change against the values; what they give anyway is not published twice. */
static bool settle_change(struct lkp_report *rp, size_t i, const struct table_row *row,
			  const struct table_cell *base, struct table_cell *cell)
{
	if (!cell->has_change || !base->has_value || !cell->has_value)
		return true;
	if (!strchr(base->value_text, 'e') && !strchr(cell->value_text, 'e') && !row->points &&
	    cell->change < 999 && base->value > 0 &&
	    !(block_change_fits(base, cell, 1) & FITS_RAW)) {
		refuse(rp, i, row->key,
		       arena_printf(rp->src->a, "%s for %s is %.1f%%, but %+.1f%% is printed",
				    cell->value_text, base->value_text,
				    100 * (cell->value / base->value - 1), cell->change));
		return false;
	}
	if (!rp->facts.published)
		cell->has_change = false;
	return true;
}

static void settle_cell(const struct lkp_report *rp, struct table_cell *c, int line, int n)
{
	c->line = line;
	c->mark &= rp->facts.tested;
	if (!table_cell_is_there(c) || c->has_n || n <= 0)
		return;
	c->has_n = true;
	c->n = n;
}

static const struct own_metric *metric_of(const struct lkp_report *rp, const char *benchmark,
					  const char *name)
{
	size_t len = strlen(benchmark);
	const struct own_metric *m;

	array_for_each (m, &rp->facts.metrics)
		if (!strcmp(m->benchmark, benchmark) &&
		    (!strcmp(m->name, name) ||
		     (str_starts(name, benchmark) && name[len] == '.' &&
		      !strcmp(m->name, name + len + 1))))
			return m;
	return NULL;
}

static void add_row(struct lkp_report *rp, size_t i, struct table_row *like,
		    struct table_cell *base, struct table_cell *cell)
{
	struct lkp_test *t = &rp->tests.items[rp->test];
	const struct own_metric *m = metric_of(rp, t->benchmark, like->key);
	int line = rp->src->text->lines[i].line;
	struct table_row *row;

	if (!settle_change(rp, i, like, base, cell))
		return;
	like->points &= cell->has_change;
	like->full_metric = like->key;
	like->params = t->params;
	like->n_params = t->n_params;
	like->benchmark = t->benchmark;
	like->line = line;
	if (m) {
		like->unit = *m->unit ? m->unit : NULL;
		like->statistic = m->mean;
		if (m->better)
			like->better = m->better;
	}
	like->headline = rp->headline && like->kind == ROW_VALUE;
	row = row_get(rp, like);
	row->points |= like->points;
	row->orientation = cell->has_change ? CHANGE_RAW : row->orientation;
	settle_cell(rp, base, line, rp->n[0]);
	settle_cell(rp, cell, line, rp->n[1]);
	t->spread |= base->has_deviation || cell->has_deviation;
	if (!table_cell_is_there(&row->cells[0]))
		row->cells[0] = *base;
	row->cells[rp->variant] = *cell;
}

/* "0:5" or "-" */
static bool take_fails(struct span s, struct table_cell *c)
{
	const char *colon = memchr(s.s, ':', s.len);
	int64_t fails, runs;

	if (span_is(s, "-"))
		return true;
	if (!colon || !num_parse_int((struct span){s.s, (size_t)(colon - s.s)}, &fails) ||
	    !num_parse_int((struct span){colon + 1, s.len - (size_t)(colon + 1 - s.s)}, &runs) ||
	    fails < 0 || fails > runs || runs < 1 || runs > 1000000)
		return false;
	c->has_value = c->has_n = true;
	c->value = (double)fails;
	c->n = (int)runs;
	return true;
}

/* "0:5 4:5 0.048 worse dmesg.WARNING:at_x"; failed runs ("runs of hackbench: hang") are no metric */
static bool read_fails(struct lkp_report *rp, size_t i, size_t to, size_t *end)
{
	static const char *const reads[] = {"worse", "better", "unsure"};
	struct table_row row = {.kind = ROW_FAILS};
	struct table_cell base = {0}, cell = {0};
	struct lkp_words w;
	double p;

	gather(rp->src->text, i, to, &w);
	if (w.n < 5 || !take_fails(w.w[0], &base) || !take_fails(w.w[1], &cell) ||
	    (!base.has_value && !cell.has_value) ||
	    (!span_is(w.w[2], "-") && !num_parse(w.w[2], &p)) ||
	    !is_one_of(w.w[3], reads, ARRAY_SIZE(reads)))
		return false;
	row.key = take_name(rp->src->a, rp->src->text, &w, 4, to, end);
	if (!row.key)
		return false;
	cell.mark = !span_is(w.w[3], "unsure");
	if (!str_starts(row.key, "runs of "))
		add_row(rp, i, &row, &base, &cell);
	return true;
}

static bool read_row(struct lkp_report *rp, size_t i, size_t to, size_t *end)
{
	struct table_row row = {.kind = ROW_VALUE};
	struct table_cell base = {0}, cell = {0};
	struct lkp_words w;
	size_t taken;

	gather(rp->src->text, i, to, &w);
	taken = take_figures(rp->src->a, &w, &row, &base, &cell);
	if (!taken && !is_remnant(rp->src->a, &w))
		return false;
	row.key = taken ? take_name(rp->src->a, rp->src->text, &w, taken, to, end) : NULL;
	if (!row.key) {
		*end = taken ? w.line[taken - 1] + 1 : i + 1;
		refuse(rp, i, own_join(rp->src->a, rp->src->text, i, i + 1),
		       taken ? "its metric is not there" : "its cells cannot be read");
		return true;
	}
	add_row(rp, i, &row, &base, &cell);
	return true;
}

/* "A, n=5": the id and the number */
static bool take_head(const struct lkp_report *rp, struct span first, struct span next, int id,
		      int *n)
{
	int64_t v;

	*n = 0;
	if (own_id(&rp->facts, first) == id)
		return true;
	if (first.len < 2 || first.s[first.len - 1] != ',' ||
	    own_id(&rp->facts, (struct span){first.s, first.len - 1}) != id ||
	    !span_starts(next, "n=") ||
	    !num_parse_int((struct span){next.s + 2, next.len - 2}, &v) || v < 1 || v > 1000000)
		return false;
	*n = (int)v;
	return true;
}

/* "A, n=5 B, n=5", "A B" */
static bool read_heads(struct lkp_report *rp, size_t i)
{
	static const struct span none = {"", 0};
	struct lkp_words w;
	int n[2];
	size_t k;

	gather(rp->src->text, i, i + 1, &w);
	if (w.n < 2 || !take_head(rp, w.w[0], w.w[1], 0, &n[0]))
		return false;
	k = 1 + (n[0] > 0);
	if (k >= w.n || !take_head(rp, w.w[k], k + 1 < w.n ? w.w[k + 1] : none, (int)rp->variant,
				   &n[1]) ||
	    k + 1 + (n[1] > 0) != w.n)
		return false;
	memcpy(rp->n, n, sizeof(n));
	return true;
}

/* "(n = 5 of A, 4 of B)": of the row above */
static bool read_n(struct lkp_report *rp, size_t i)
{
	const char *s = own_join(rp->src->a, rp->src->text, i, i + 1), *comma = strchr(s, ',');
	struct table_row *row;
	size_t side;

	if (!str_starts(s, "(n = ") || !comma || rp->last < 0)
		return false;
	row = &rp->tests.items[rp->test].rows.items[rp->last];
	for (side = 0; side < 2; side++) {
		const char *number = side ? comma + 2 : s + 5;
		struct table_cell *c = &row->cells[side ? rp->variant : 0];
		int64_t n;

		if (!num_parse_int((struct span){number, strspn(number, "0123456789")}, &n) ||
		    n < 0 || n > 1000000)
			return false;
		c->has_n = n > 0 && table_cell_is_there(c);
		c->n = c->has_n ? (int)n : 0;
	}
	return true;
}

/* ---- test cases ---- */

/* Up to the next separator; *s moves behind it. */
static const char *next_part(struct arena *a, const char **s, const char *separator)
{
	const char *end = strstr(*s, separator), *part;

	end = end ? end : *s + strlen(*s);
	part = arena_strndup(a, *s, (size_t)(end - *s));
	*s = end + (*end ? strlen(separator) : 0);
	return part;
}

static void split_param(struct own_params *p, const char *part, char by, bool shown)
{
	const char *at = strchr(part, by);

	own_param_add(p, at ? arena_strndup(p->a, part, (size_t)(at - part)) : "test",
		      at ? at + 1 : part, shown);
}

/* "groups=4/mode=process"; a part without '=' belongs to the value before it. */
static void name_params(struct own_params *p, const char *s)
{
	const char *whole = NULL;

	while (*s) {
		const char *part = next_part(p->a, &s, "/");

		if (whole && !strchr(part, '=')) {
			whole = arena_printf(p->a, "%s/%s", whole, part);
			continue;
		}
		if (whole)
			split_param(p, whole, '=', true);
		whole = part;
	}
	if (whole)
		split_param(p, whole, '=', true);
}

/* "machine box1, kconfig x86": each a name and a value; false: it is something else. */
static bool fixed_params(struct own_params *p, const char *s)
{
	const char *check = s, *part, *blank;

	while (*check) {
		part = next_part(p->a, &check, ", ");
		blank = strchr(part, ' ');
		if (!blank || blank == part || !blank[1])
			return false;
	}
	while (*s)
		split_param(p, next_part(p->a, &s, ", "), ' ', false);
	return true;
}

/* "clients/bind/testcase: 64/numa 0/tbench": values as they are, which a name need not keep. */
static bool axis_params(struct own_params *p, const char *axes)
{
	const char *values = strstr(axes, "testcase: "), *names = axes;
	const char *all, *v;
	size_t n = 0, m = 0;

	if (!values)
		return false;
	all = values + strlen("testcase: ");
	for (v = axes; v < values; v++)
		n += *v == '/';
	for (v = all; *v; v++)
		m += *v == '/';
	if (n != m)
		return false;
	for (v = all; n; n--) {
		const char *name = next_part(p->a, &names, "/");

		own_param_add(p, name, next_part(p->a, &v, "/"), true);
	}
	return true;
}

/* "aim7/test=page_test (machine box1): what it does"; axes may be NULL */
static void set_test(struct lkp_report *rp, const char *text, const char *axes)
{
	struct arena *a = rp->src->a;
	struct own_params fixed = {.a = a}, p = {.a = a};
	const char *name = next_part(a, &text, ": "), *open = strrchr(name, '('), *rest;
	struct table_param *param;
	struct lkp_test *t;
	size_t i;

	if (open && open > name + 1 && open[-1] == ' ' && str_ends(name, ")") &&
	    fixed_params(&fixed, arena_strndup(a, open + 1, strlen(open) - 2)))
		name = arena_strndup(a, name, (size_t)(open - 1 - name));
	rp->n[0] = rp->n[1] = 0;
	rp->last = -1;
	for (i = 0; i < rp->tests.n && strcmp(rp->tests.items[i].name, name); i++)
		;
	rp->test = i;
	if (i == rp->tests.n) {
		t = ARRAY_PUSH(&rp->tests);
		*t = (struct lkp_test){.name = name};
		rest = name;
		t->benchmark = next_part(a, &rest, "/");
		if (!axes || !axis_params(&p, axes))
			name_params(&p, rest);
		array_for_each (param, &fixed.list)
			own_param_add(&p, param->name, param->value, false);
		own_params_take(&p, &t->params, &t->n_params);
	}
	ARRAY_FREE(&fixed.list);
}

static bool first_word_is(const struct table_text *text, size_t i, const char *key)
{
	struct span rest = text->lines[i].text, word;

	return span_next_word(&rest, &word) && span_is(word, key);
}

static bool is_rule(const struct table_text *text, size_t i)
{
	struct span s = span_trim(text->lines[i].text);

	return s.len > 40 && strspn(s.s, "=") == s.len;
}

/* The axes of a test case, from the rule on; false: it is something else. */
static bool read_axes(struct lkp_report *rp, size_t from, size_t to)
{
	const struct table_text *text = rp->src->text;
	size_t test, end;

	if (!is_rule(text, from))
		return false;
	for (test = from + 1; test < to && !first_word_is(text, test, "test"); test++)
		;
	if (test == to)
		return false;
	for (end = test + 1; end < to && !first_word_is(text, end, "checked"); end++)
		;
	set_test(rp, own_join(rp->src->a, text, test, end) + strlen("test "),
		 own_join(rp->src->a, text, from + 1, test));
	return true;
}

/* "B against A: 1123456789 against 0123456789" */
static bool read_against(struct lkp_report *rp, size_t i)
{
	struct lkp_words w;
	int id;

	gather(rp->src->text, i, i + 1, &w);
	if (w.n < 4 || !span_is(w.w[1], "against") || !span_is(w.w[2], "A:"))
		return false;
	id = own_id(&rp->facts, w.w[0]);
	if (id < 1)
		return false;
	rp->variant = (size_t)id;
	return true;
}

/* ---- the report ---- */

/* Lines [from, to) between empty ones; false: none of ours. */
static bool read_block(struct lkp_report *rp, size_t from, size_t to)
{
	const struct table_text *text = rp->src->text;
	size_t i, end;
	bool ours = false;

	if (read_against(rp, from) || read_axes(rp, from, to))
		return true;
	if (first_word_is(text, from, "Verdict"))
		return true;
	rp->headline = false;
	for (i = from; i < to; i = end) {
		end = i + 1;
		if (!rp->tests.n)
			return false;
		if (read_fails(rp, i, to, &end) || read_row(rp, i, to, &end) || read_heads(rp, i) ||
		    read_n(rp, i)) {
			ours = true;
			continue;
		}
		rp->headline = first_word_is(text, i, "Headline") ||
			       first_word_is(text, i, "Headline:");
	}
	return ours || first_word_is(text, from, "not");
}

static void emit(struct lkp_report *rp)
{
	const struct own_facts *f = &rp->facts;
	const char **names = own_variants(rp->src->a, f, rp->src->opt);
	struct lkp_test *test;

	array_for_each (test, &rp->tests) {
		struct table t = {
			.family = "kdelta",
			.section = strchr(test->name, '/') ? strchr(test->name, '/') + 1 : NULL,
			.benchmark = test->benchmark,
			.command = own_command(f, test->benchmark),
			.sign = SIGN_RAW,
			.deviation = f->hidden ? DEV_HIDDEN : test->spread ? DEV_CV : DEV_NONE,
			.variants = names,
			.descriptions = f->descriptions,
			.commits = f->has_commits ? f->commits : NULL,
			.n_variants = f->n,
		};

		if (!test->rows.n)
			continue;
		memcpy(&t.rows, &test->rows, sizeof(t.rows));
		memset(&test->rows, 0, sizeof(test->rows));
		t.line = t.rows.items[0].line;
		t.unit = t.rows.items[0].unit;
		table_index_repeats(&t);
		*ARRAY_PUSH(&rp->src->set->tables) = t;
	}
}

static void mark_used(const struct lkp_report *rp, size_t from, size_t to)
{
	for (; from < to; from++)
		rp->src->used[from] = true;
}

/* The verdict stands above the facts; other readers see figures in it. */
static void mark_verdict(const struct lkp_report *rp, size_t facts)
{
	const struct table_line *lines = rp->src->text->lines;
	size_t to = facts, from;

	while (to && !lines[to - 1].text.len)
		to--;
	for (from = to; from && lines[from - 1].text.len; from--)
		;
	mark_used(rp, from, to);
}

bool own_lkp_read(const struct table_source *src, size_t i, size_t *end)
{
	const struct table_text *text = src->text;
	struct lkp_report rp = {.src = src, .variant = 1, .last = -1};
	struct lkp_test *test;
	size_t to;

	if ((i && text->lines[i - 1].text.len) ||
	    !own_facts_read_lkp(src->a, text, i, &rp.facts, src->set, end))
		return false;
	mark_verdict(&rp, i);
	mark_used(&rp, i, *end);
	if (rp.facts.test)
		set_test(&rp, rp.facts.test, NULL);
	for (i = *end; i < text->n; i = to) {
		to = i + 1;
		if (!text->lines[i].text.len)
			continue;
		if (own_lkp_starts(text, i) || first_word_is(text, i, "metric"))
			break;
		while (to < text->n && text->lines[to].text.len)
			to++;
		if (read_block(&rp, i, to))
			mark_used(&rp, i, to);
	}
	*end = i;
	emit(&rp);
	array_for_each (test, &rp.tests)
		ARRAY_FREE(&test->rows);
	ARRAY_FREE(&rp.tests);
	own_facts_release(&rp.facts);
	return true;
}
