// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o junit: one test case for each headline row and variant, as CI servers read it. Worse is a
 * failure, a failed or missing result an error, undecided is skipped with the reason.
 */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* XML 1.0 has no control characters, not even escaped ones. */
static void add_escaped(struct strbuf *sb, const char *s)
{
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '<')
			strbuf_adds(sb, "&lt;");
		else if (ch == '>')
			strbuf_adds(sb, "&gt;");
		else if (ch == '&')
			strbuf_adds(sb, "&amp;");
		else if (ch == '"')
			strbuf_adds(sb, "&quot;");
		else
			strbuf_addc(sb, ch < ' ' ? ' ' : (char)ch);
	}
}

struct junit {
	const struct comparison *c;
	struct strbuf *out;
	int tests, failures, errors, skipped;
};

static void add_attribute(struct junit *j, const char *name, const char *value)
{
	strbuf_addf(j->out, " %s=\"", name);
	add_escaped(j->out, text_ascii(j->c->arena, value));
	strbuf_addc(j->out, '"');
}

/* "-33.50% [-35.10, -31.80]: 10608.36 for 15952.50 MB/s" */
static const char *message_of(const struct junit *j, const struct cmp_row *row,
			      const struct cmp_cell *cell)
{
	struct arena *a = j->c->arena;
	const struct cmp_cell *base = &row->cells[0];
	const char *change = cell->has_change ? text_percent(a, cell->change, "%") : "";
	const char *range = "", *means = "";

	if (cell->test.on_log && *view_interval(a, cell))
		range = arena_printf(a, " [%s]", view_interval(a, cell));
	if (cell->has_mean && base->has_mean)
		means = arena_printf(a, ": %.9g for %.9g %s", cell->mean, base->mean,
				     view_unit(row->unit));
	if (cell->error)
		return arena_printf(a, "%s: %s", verdict_name(cell->verdict), cell->error);
	return arena_printf(a, "%s%s %s%s%s", cell->small ? "small " : "",
			    verdict_name(cell->verdict), change, range, means);
}

static void add_case(struct junit *j, const struct cmp_test *t, const struct cmp_row *row,
		     const struct cmp_cell *cell)
{
	const struct cmp_variant *base = &j->c->variants[0], *v = &j->c->variants[cell->variant];
	const char *message = message_of(j, row, cell), *child = NULL;

	j->tests++;
	if (cell->verdict == VERDICT_WORSE && !cell->small)
		child = "failure", j->failures++;
	else if (cell->verdict == VERDICT_MISSING || cell->verdict == VERDICT_FAILED)
		child = "error", j->errors++;
	else if (cell->verdict == VERDICT_UNSURE)
		child = "skipped", j->skipped++;
	strbuf_adds(j->out, "    <testcase");
	add_attribute(j, "classname", t->name);
	add_attribute(
		j, "name",
		arena_printf(j->c->arena, "%s: %s against %s", row->metric, v->name, base->name));
	if (child) {
		strbuf_addf(j->out, "><%s", child);
		add_attribute(j, "message", message);
		if (strcmp(child, "skipped"))
			add_attribute(j, "type", verdict_name(cell->verdict));
		strbuf_adds(j->out, "/></testcase>\n");
		return;
	}
	strbuf_adds(j->out, "><system-out>");
	add_escaped(j->out, text_ascii(j->c->arena, message));
	strbuf_adds(j->out, "</system-out></testcase>\n");
}

static void add_property(struct junit *j, const char *name, const char *value)
{
	strbuf_adds(j->out, "      <property");
	add_attribute(j, "name", name);
	add_attribute(j, "value", value);
	strbuf_adds(j->out, "/>\n");
}

/* What kind of figures these are, and what differs besides the kernel. */
static void add_properties(struct junit *j)
{
	const struct comparison *c = j->c;
	size_t i, k;

	if (!c->counting && !c->paired && !c->n_differences)
		return;
	strbuf_adds(j->out, "    <properties>\n");
	if (c->counting)
		add_property(j, "counting", comparison_limit(c));
	if (c->paired)
		add_property(j, "order", comparison_pairs_text(c, c->arena));
	for (i = 0; i < c->n_differences; i++)
		for (k = 0; k < c->n_variants; k++)
			add_property(j,
				     arena_printf(c->arena, "%s of %s", c->differences[i].title,
						  c->variants[k].name),
				     c->differences[i].values[k]);
	strbuf_adds(j->out, "    </properties>\n");
}

static void add_suite(struct junit *j, const char *benchmark, struct strbuf *suites)
{
	_cleanup_strbuf_ struct strbuf cases = STRBUF_INIT;
	size_t t, r, k;

	j->out = &cases;
	j->tests = j->failures = j->errors = j->skipped = 0;
	for (t = 0; t < j->c->n_tests; t++)
		for (r = 0; r < j->c->tests[t].n_rows; r++)
			for (k = 1; k < j->c->n_variants; k++)
				if (!strcmp(j->c->tests[t].benchmark, benchmark) &&
				    j->c->tests[t].rows[r].shown)
					add_case(j, &j->c->tests[t], &j->c->tests[t].rows[r],
						 &j->c->tests[t].rows[r].cells[k]);
	j->out = suites;
	strbuf_adds(suites, "  <testsuite");
	add_attribute(j, "name", benchmark);
	add_attribute(j, "timestamp", j->c->created);
	strbuf_addf(suites, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
		    j->tests, j->failures, j->errors, j->skipped);
	add_properties(j);
	strbuf_adds(suites, strbuf_str(&cases));
	strbuf_adds(suites, "  </testsuite>\n");
}

static int junit_render(const struct comparison *c, const struct report_options *opt,
			struct strbuf *out, struct err *e)
{
	struct junit j = {.c = c, .out = out};
	size_t i;

	(void)e;
	(void)opt;
	strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (i = 0; i < c->n_overall; i++)
		if (!i || strcmp(c->overall[i].benchmark, c->overall[i - 1].benchmark))
			add_suite(&j, c->overall[i].benchmark, out);
	strbuf_adds(out, "</testsuites>\n");
	return 0;
}

static const struct report_format junit = {
	.name = "junit",
	.summary = "XML for CI servers",
	.render = junit_render,
};
REGISTER(report_format, junit);
