// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o csv, RFC 4180: a line for each cell, and below it in long form one for each of its values,
 * which has block and value instead of figures. Empty fields for what is not known. Changes, cv and
 * ranges are fractions, change = new / base - 1. What holds for the whole report stands in further
 * columns where it applies: order (pairs of flip mode), counting (instructions, not times), differs
 * (what differs besides the kernel). exchange/export_csv.c reads it back.
 */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "reports/comparison.h"

static void csv_text(struct strbuf *sb, const char *s)
{
	const char *p;

	if (!strpbrk(s, ",\"\r\n")) {
		strbuf_adds(sb, s);
		return;
	}
	strbuf_addc(sb, '"');
	for (p = s; *p; p++) {
		if (*p == '"')
			strbuf_addc(sb, '"');
		strbuf_addc(sb, *p);
	}
	strbuf_addc(sb, '"');
}

static void csv_number(struct strbuf *sb, double v)
{
	strbuf_addc(sb, ',');
	if (isfinite(v))
		num_add_exact(sb, v);
}

static void csv_integer(struct strbuf *sb, int v)
{
	strbuf_addc(sb, ',');
	if (v)
		strbuf_addf(sb, "%d", v);
}

/* What the lines of a cell share, without a comma at the end. */
static void csv_place(const struct comparison *c, const struct cmp_test *t, const struct cmp_row *r,
		      const struct cmp_cell *cell, struct strbuf *out)
{
	const char *const texts[] = {
		t->benchmark,
		t->name,
		r->metric,
		r->unit,
		direction_name(r->direction),
		mean_kind_name(r->mean_kind),
		r->headline ? "headline" : "counter",
		c->variants[cell->variant].id,
		c->variants[cell->variant].name,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		if (i)
			strbuf_addc(out, ',');
		csv_text(out, texts[i]);
	}
}

static void csv_figures(const struct cmp_cell *cell, struct strbuf *out)
{
	/* the columns are shares */
	bool share = !comparison_is_difference(cell);
	const double numbers[] = {
		cell->has_mean ? cell->mean : NAN,
		cell->stddev,
		cell->cv,
		cell->has_change ? cell->change : NAN,
		share ? cell->test.shift : NAN,
		share ? cell->test.low : NAN,
		share ? cell->test.high : NAN,
		cell->test.p,
		cell->p_adjusted,
	};
	size_t i;

	csv_integer(out, cell->n);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		csv_number(out, numbers[i]);
	strbuf_addf(out, ",%s,%s,%s", cell->test.test,
		    cell->variant || cell->verdict != VERDICT_SAME ? verdict_name(cell->verdict)
								   : "",
		    cell->small ? "small" : "");
	csv_integer(out, cell->runs_needed);
	strbuf_addf(out, ",%d,%d,", cell->failed, cell->suspect);
	csv_text(out, cell->error ? cell->error : "");
	strbuf_adds(out, cell->published ? ",published" : ",");
}

/* "frequency governor: A performance, B powersave; ..."; NULL: nothing. */
static const char *differences_text(const struct comparison *c)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i, k;

	for (i = 0; i < c->n_differences; i++) {
		strbuf_addf(&sb, "%s%s:", i ? "; " : "", c->differences[i].title);
		for (k = 0; k < c->n_variants; k++)
			strbuf_addf(&sb, "%s %s %s", k ? "," : "", c->variants[k].id,
				    c->differences[i].told[k]);
	}
	return c->n_differences ? arena_strdup(c->arena, strbuf_str(&sb)) : NULL;
}

/* The end of every line: names in the first, then the same texts in all. */
struct csv_tail {
	struct strbuf names, texts;
};

static void tail_add(struct csv_tail *tail, const char *name, const char *text)
{
	if (!text)
		return;
	strbuf_addf(&tail->names, ",%s", name);
	strbuf_addc(&tail->texts, ',');
	csv_text(&tail->texts, text);
}

/* Empty fields between a place and its block and value. */
#define N_FIGURES 18

static void csv_lines(const struct comparison *c, const struct cmp_test *t, const struct cmp_row *r,
		      const struct cmp_cell *cell, const char *tail, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;
	int i;

	csv_place(c, t, r, cell, &place);
	for (i = 0; i < N_FIGURES; i++)
		strbuf_addc(&place, ',');
	csv_place(c, t, r, cell, out);
	csv_figures(cell, out);
	strbuf_addf(out, ",,%s\r\n", tail);
	for (i = 0; cell->values && i < cell->n; i++) {
		strbuf_add(out, place.buf, place.len);
		strbuf_addf(out, ",%d", cell->blocks[i]);
		csv_number(out, cell->values[i]);
		strbuf_addf(out, "%s\r\n", tail);
	}
}

static int csv_render(const struct comparison *c, const struct report_options *opt,
		      struct strbuf *out, struct err *e)
{
	struct csv_tail tail = {STRBUF_INIT, STRBUF_INIT};
	size_t t, r, i;

	(void)opt;
	(void)e;
	strbuf_adds(out, "benchmark,case,metric,unit,direction,mean_kind,role,variant,name,n,mean,"
			 "stddev,cv,change,shift,ci_low,ci_high,p,p_adj,test,verdict,small,"
			 "runs_needed,failed,suspect,error,published,block,value");
	tail_add(&tail, "order", c->paired ? comparison_pairs_text(c, c->arena) : NULL);
	tail_add(&tail, "counting", c->counting ? comparison_limit(c) : NULL);
	tail_add(&tail, "differs", differences_text(c));
	strbuf_addf(out, "%s\r\n", strbuf_str(&tail.names));
	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 0; i < c->n_variants; i++)
				csv_lines(c, &c->tests[t], &c->tests[t].rows[r],
					  &c->tests[t].rows[r].cells[i], strbuf_str(&tail.texts),
					  out);
	strbuf_release(&tail.names);
	strbuf_release(&tail.texts);
	return 0;
}

static const struct report_format csv = {
	.name = "csv",
	.summary = "one line per test case, metric and variant, then one per value",
	.render = csv_render,
};
REGISTER(report_format, csv);
