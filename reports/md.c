// SPDX-License-Identifier: GPL-2.0-or-later
/* -o md: Markdown with GitHub's tables, for issues and merge requests. */
#include <math.h>
#include <string.h>

#include "reports/layout.h"

struct md {
	const struct view *v;
	struct strbuf *out;
};

/* Everything that Markdown or HTML could take for its own is escaped. */
static void add_span(struct strbuf *sb, struct span s)
{
	size_t i;

	for (i = 0; i < s.len; i++) {
		if (s.s[i] == '<')
			strbuf_adds(sb, "&lt;");
		else if (s.s[i] == '&')
			strbuf_adds(sb, "&amp;");
		else if (s.s[i] && strchr("\\`*_[]#|~>", s.s[i]))
			strbuf_addf(sb, "\\%c", s.s[i]);
		else
			strbuf_addc(sb, s.s[i]);
	}
}

static void add_escaped(struct strbuf *sb, const char *s)
{
	add_span(sb, span_of(s));
}

static void add_field(const struct md *m, const char *text)
{
	strbuf_adds(m->out, " | ");
	add_escaped(m->out, text);
}

/* "+1.04% [0.61, 1.44] better"; what fails or stands alone by its word */
static void add_change(const struct md *m, const struct view_row *r, const struct cmp_cell *cell,
		       int decimals)
{
	bool bold = cell->verdict == VERDICT_WORSE && !cell->small;
	bool changed = cell->has_change || comparison_is_difference(cell);
	const char *mean = view_mean(m->v->a, cell, decimals);
	const char *range = view_interval(m->v->a, cell);

	if (!changed)
		add_field(m, mean ? mean : "");
	else
		add_field(m, view_change(m->v->a, r->row, cell, "%"));
	if (changed && *range)
		strbuf_addf(m->out, " \\[%s\\]", range);
	if (!changed || strcmp(cell->test.test, "none"))
		strbuf_addf(m->out, "%s%s%s%s%s", changed || mean ? " " : "", bold ? "**" : "",
			    cell->small ? "small " : "", verdict_name(cell->verdict),
			    bold ? "**" : "");
}

static void add_row(const struct md *m, const struct view_row *r, int decimals)
{
	const struct cmp_cell *base = &r->row->cells[0];
	const char *mean = view_mean(m->v->a, base, decimals);
	size_t k;

	strbuf_adds(m->out, "| ");
	add_escaped(m->out, r->label);
	add_field(m, mean ? mean : verdict_name(base->verdict));
	strbuf_addf(m->out, " | %s", text_share(m->v->a, base->cv));
	for (k = 1; k < view_columns(m->v->c); k++)
		add_change(m, r, view_cell(m->v->c, r, k), decimals);
	strbuf_adds(m->out, " |\n");
}

static void add_table(const struct md *m, const struct view_table *t)
{
	int decimals = view_decimals(m->v, t);
	size_t k;

	strbuf_adds(m->out, "\n### ");
	add_escaped(m->out, layout_title(m->v, t, ""));
	strbuf_adds(m->out, "\n\n| ");
	add_escaped(m->out, layout_axis(m->v, t));
	add_field(m,
		  t->unit ? arena_printf(m->v->a, "A, %s", text_ascii(m->v->a, view_unit(t->unit)))
			  : "A");
	strbuf_adds(m->out, " | cv");
	for (k = 1; k < view_columns(m->v->c); k++)
		add_field(m, view_column_name(m->v->c, m->v->a, k));
	strbuf_adds(m->out, " |\n|---|--:|--:");
	for (k = 1; k < view_columns(m->v->c); k++)
		strbuf_adds(m->out, "|--:");
	strbuf_adds(m->out, "|\n");
	for (k = 0; k < t->n; k++)
		add_row(m, &t->rows[k], decimals);
}

/* The blocks that other text formats print, one list item for each key. */
static void add_facts(const struct md *m)
{
	_cleanup_strbuf_ struct strbuf facts = STRBUF_INIT;
	struct text t = {m->v->a, &facts, 1 << 20, false};
	struct span rest, line;

	facts_print(&t, m->v);
	rest = span_of(strbuf_str(&facts));
	while (span_next_line(&rest, &line, NULL)) {
		size_t key = MIN(line.len, (size_t)TEXT_KEY);
		struct span head = span_trim((struct span){line.s, key});
		struct span words = span_trim((struct span){line.s + key, line.len - key});

		if (!line.len)
			continue;
		strbuf_adds(m->out, head.len ? "- **" : "  - ");
		add_span(m->out, head);
		strbuf_adds(m->out, head.len ? "** " : "");
		add_span(m->out, words);
		strbuf_addc(m->out, '\n');
	}
}

static int md_render(const struct comparison *c, const struct report_options *opt,
		     struct strbuf *out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	struct text t = {c->arena, &words, 1 << 20, false};
	struct view v;
	struct md m = {&v, out};
	struct span rest, line;
	size_t i;

	(void)e;
	view_init(&v, c, c->arena, opt->split);
	v.label = 1 << 10;
	v.words = true;
	words_print(&t, &v);
	rest = span_of(strbuf_str(&words));
	while (span_next_line(&rest, &line, NULL)) {
		add_span(out, line);
		strbuf_adds(out, rest.len ? "  \n" : "\n\n");
	}
	add_facts(&m);
	for (i = 0; i < v.n; i++)
		add_table(&m, &v.tables[i]);
	return 0;
}

static const struct report_format md = {
	.name = "md",
	.summary = "Markdown with tables",
	.blocks = true,
	.render = md_render,
};
REGISTER(report_format, md);
