// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "reports/history.h"
#include "reports/html.h"

#define PAGE_FILE(name, file)                                                                      \
	__asm__(".pushsection .rodata\n" #name ":\n"                                               \
		".incbin \"" file "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char name[] __attribute__((visibility("hidden")))
PAGE_FILE(pages_css, "reports/pages.css");
PAGE_FILE(pages_js, "reports/pages.js");

struct pages {
	struct db *db;
	struct arena *a;
	const struct pages_options *opt;
	struct history *list;
	size_t n;
	struct err *e;
};

/* One line of a history, where it is spoken of. */
struct entry {
	const struct history *h;
	const struct history_line *l;
};

/* The file of a line: the same for the same metric, case and machine. */
static const char *page_of(struct arena *a, const struct entry *en)
{
	const char *key = arena_printf(a, "%s\n%s\n%s", en->h->metric, en->l->test_case,
				       en->l->machine);
	char hex[65];

	data_sha256(key, strlen(key), hex);
	return arena_printf(a, "metric-%.12s.html", hex);
}

static const char *line_title(struct arena *a, const struct entry *en)
{
	return arena_printf(a, "%s, %s%s%s", en->h->metric, en->l->test_case,
			    *en->l->machine ? " on " : "", en->l->machine);
}

static void add_link(struct html *h, const char *href, const char *text)
{
	html_addf(h, "<a href=\"%s\">", href);
	html_name(h, text);
	strbuf_adds(h->out, "</a>");
}

/* The campaign, linked to its report where the folder has that. */
static void add_campaign(const struct pages *p, struct html *h, const char *campaign)
{
	const char *report = arena_printf(p->a, "report/%s.html", campaign);

	if (p->opt->has && p->opt->has(p->opt->data, report))
		add_link(h, report, campaign);
	else
		html_name(h, campaign);
}

/* Below this a step is told last: it may be one of those that come by chance. */
#define SMALL 0.01

static bool is_small(const struct entry *en, double change)
{
	return en->l->on_log && change < SMALL && change > -SMALL;
}

/* Two cells: how much, and whether that is good. */
static void add_change(const struct pages *p, struct html *h, const struct entry *en, double change)
{
	const char *word = history_word(en->h, change);

	strbuf_adds(h->out, "<td class=\"num\">");
	html_text(h, history_change(p->a, en->h, en->l, change));
	html_addf(h, "</td><td class=\"%s\">%s%s</td>", word, is_small(en, change) ? "small " : "",
		  word);
}

static void open_table(struct html *h, const char *const *columns, size_t n)
{
	strbuf_adds(h->out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"list\"><thead><tr>");
	for (size_t i = 0; i < n; i++)
		html_addf(h, "<th scope=\"col\"%s>%s</th>", *columns[i] == '#' ? " class=\"num\"" : "",
			  columns[i] + (*columns[i] == '#'));
	strbuf_adds(h->out, "</tr></thead><tbody>\n");
}

static void close_table(struct html *h)
{
	strbuf_adds(h->out, "</tbody></table></div>\n");
}

static void open_page(struct html *h, const char *title)
{
	html_open(h, title, pages_css, true);
	strbuf_adds(h->out, "<main>\n<h1>");
	html_text(h, title);
	strbuf_adds(h->out, "</h1>\n");
}

static int close_page(const struct pages *p, struct html *h, const char *name)
{
	strbuf_adds(h->out, "</main>\n<script>");
	strbuf_adds(h->out, pages_js);
	strbuf_adds(h->out, "</script>\n</body>\n</html>\n");
	return p->opt->emit(p->opt->data, name, h->out, p->e);
}

/* ---- the page of a line ---- */

static void tell_steps(const struct pages *p, struct html *h, const struct entry *en)
{
	static const char *const columns[] = {"since", "#change", "verdict", "kernel",
					       "before it", "campaign"};
	const struct history_line *l = en->l;

	strbuf_adds(h->out, "<h2>Steps</h2>\n");
	if (!l->n_steps) {
		strbuf_adds(h->out, "<p>None.</p>\n");
		return;
	}
	open_table(h, columns, ARRAY_SIZE(columns));
	for (size_t i = l->n_steps; i-- > 0;) {
		const struct history_step *s = &l->steps[i];

		html_addf(h, "<tr><td class=\"day\">%s</td>", history_day(p->a, l->points[s->at].when));
		add_change(p, h, en, s->change);
		strbuf_adds(h->out, "<td>");
		html_name(h, history_kernel(p->a, &l->points[s->at]));
		strbuf_adds(h->out, "</td><td>");
		html_name(h, history_kernel(p->a, &l->points[s->at - 1]));
		strbuf_adds(h->out, "</td><td>");
		add_campaign(p, h, l->points[s->at].campaign);
		strbuf_adds(h->out, "</td></tr>\n");
	}
	close_table(h);
}

static void tell_trends(const struct pages *p, struct html *h, const struct entry *en)
{
	for (size_t i = 0; i < en->l->n_trends; i++) {
		const struct history_trend *t = &en->l->trends[i];

		html_addf(h, "<p>A trend from %s to %s: ", history_day(p->a, en->l->points[t->from].when),
			  history_day(p->a, en->l->points[t->to].when));
		html_text(h, history_change(p->a, en->h, en->l, t->change));
		html_addf(h, ", %s.</p>\n", history_word(en->h, t->change));
	}
}

static void tell_points(const struct pages *p, struct html *h, const struct history_line *l)
{
	static const char *const columns[] = {"day", "kernel", "#mean", "#n", "campaign"};

	strbuf_adds(h->out, "<h2>Kernels</h2>\n");
	open_table(h, columns, ARRAY_SIZE(columns));
	for (size_t i = l->n; i-- > 0;) {
		const struct history_point *pt = &l->points[i];

		html_addf(h, "<tr><td class=\"day\">%s</td><td>", history_day(p->a, pt->when));
		html_name(h, history_kernel(p->a, pt));
		html_addf(h, "</td><td class=\"num\">%.6g</td><td class=\"num\">%zu</td><td>",
			  pt->mean, pt->n);
		add_campaign(p, h, pt->campaign);
		strbuf_adds(h->out, "</td></tr>\n");
	}
	close_table(h);
}

static int write_line(const struct pages *p, const struct entry *en)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct html h = {.a = p->a, .out = &out};

	open_page(&h, line_title(p->a, en));
	html_addf(&h, "<p>%s; now %.6g ",
		  en->h->direction == DIR_HIGHER  ? "Higher is better"
		  : en->h->direction == DIR_LOWER ? "Lower is better"
						  : "Neither direction is better by itself",
		  en->l->level);
	html_text(&h, en->h->unit);
	html_addf(&h,
		  ", the level since %s. A dot is the mean of a kernel, the rule through it reaches "
		  "from its least to its largest value; levels change at the dashed rules.</p>\n"
		  "<p><a href=\"index.html\">All metrics</a></p>\n"
		  "<div class=\"scroll\" tabindex=\"0\">\n",
		  history_day(p->a, en->l->points[en->l->since].when));
	history_chart(en->h, en->l, p->a, &out);
	strbuf_adds(&out, "</div>\n");
	tell_steps(p, &h, en);
	tell_trends(p, &h, en);
	tell_points(p, &h, en->l);
	return close_page(p, &h, page_of(p->a, en));
}

/* ---- the index ---- */

static int rank_of(const struct entry *en)
{
	double change = en->l->steps[en->l->n_steps - 1].change;
	const char *word = history_word(en->h, change);

	return is_small(en, change) ? 3 : *word == 'w' ? 0 : *word == 'b' ? 1 : 2;
}

static int worse_first(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	const struct history_step *s = &a->l->steps[a->l->n_steps - 1];
	const struct history_step *t = &b->l->steps[b->l->n_steps - 1];
	int d = rank_of(a) - rank_of(b);
	int64_t u = a->l->points[s->at].when, v = b->l->points[t->at].when;

	return d ? d : (u < v) - (u > v);
}

/* What is not on the level it was on before: the last step of each line. */
static void tell_open(const struct pages *p, struct html *h)
{
	static const char *const columns[] = {"metric", "#change", "verdict", "since", "range"};
	ARRAY_OF(struct entry) open = {NULL, 0, 0};
	const struct entry *en;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->list[i].n_lines; k++)
			if (p->list[i].lines[k].n_steps)
				*ARRAY_PUSH(&open) = (struct entry){&p->list[i], &p->list[i].lines[k]};
	strbuf_adds(h->out, "<h2>Changes that last</h2>\n");
	if (!open.n) {
		strbuf_adds(h->out, "<p>None.</p>\n");
		return;
	}
	qsort(open.items, open.n, sizeof(*open.items), worse_first);
	open_table(h, columns, ARRAY_SIZE(columns));
	array_for_each(en, &open) {
		const struct history_step *s = &en->l->steps[en->l->n_steps - 1];

		strbuf_adds(h->out, "<tr><td>");
		add_link(h, page_of(p->a, en), line_title(p->a, en));
		strbuf_adds(h->out, "</td>");
		add_change(p, h, en, s->change);
		html_addf(h, "<td class=\"day\">%s</td><td>", history_day(p->a, en->l->points[s->at].when));
		html_name(h, history_kernel(p->a, &en->l->points[s->at - 1]));
		strbuf_adds(h->out, " to ");
		html_name(h, history_kernel(p->a, &en->l->points[s->at]));
		strbuf_adds(h->out, "</td></tr>\n");
	}
	close_table(h);
	ARRAY_FREE(&open);
}

static void tell_metrics(const struct pages *p, struct html *h)
{
	static const char *const columns[] = {"metric", "course", "#level", "since"};

	strbuf_adds(h->out, "<h2>Metrics</h2>\n");
	open_table(h, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->list[i].n_lines; k++) {
			struct entry en = {&p->list[i], &p->list[i].lines[k]};

			strbuf_adds(h->out, "<tr><td>");
			add_link(h, page_of(p->a, &en), line_title(p->a, &en));
			strbuf_adds(h->out, "</td><td>");
			history_spark(en.l, h->out);
			html_addf(h, "</td><td class=\"num\">%.6g ", en.l->level);
			html_text(h, en.h->unit);
			html_addf(h, "</td><td class=\"day\">%s</td></tr>\n",
				  history_day(p->a, en.l->points[en.l->since].when));
		}
	}
	close_table(h);
}

/* Rows of a campaign's verdicts by word: "2 worse, 10 same". */
static int verdict_text(const struct pages *p, const char *campaign, const char **out)
{
	static const char *const words[] = {"worse",   "better",  "worse small", "better small",
					    "changed", "failed",  "missing",	 "unsure",
					    "same"};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct db_verdict *list;
	size_t n, i, w;
	int r = db_get_verdicts(p->db, p->a, campaign, &list, &n, p->e);

	for (w = 0; !r && w < ARRAY_SIZE(words); w++) {
		int count = 0;

		for (i = 0; i < n; i++)
			count += !strcmp(list[i].verdict, words[w]);
		if (count)
			strbuf_addf(&sb, "%s%d %s", sb.len ? ", " : "", count, words[w]);
	}
	*out = arena_strdup(p->a, strbuf_str(&sb));
	return r;
}

static int tell_campaigns(const struct pages *p, struct html *h)
{
	static const char *const columns[] = {"day", "campaign", "rows", "#runs", "#failed"};
	struct db_campaign *list;
	struct db_total *totals;
	size_t n = 0, n_totals, i;
	int r = db_get_campaigns(p->db, p->a, &list, &n, p->e);

	if (!r)
		r = db_get_totals(p->db, p->a, NULL, &totals, &n_totals, p->e);
	strbuf_adds(h->out, "<h2>Campaigns</h2>\n");
	open_table(h, columns, ARRAY_SIZE(columns));
	for (i = 0; !r && i < n; i++) {
		const char *words = "";

		r = verdict_text(p, list[i].id, &words);
		html_addf(h, "<tr><td class=\"day\">%s</td><td>", history_day(p->a, list[i].created));
		add_campaign(p, h, list[i].id);
		html_addf(h, "</td><td>%s</td><td class=\"num\">%d</td><td class=\"num\">%d</td></tr>\n",
			  words, totals[i].runs, totals[i].runs - totals[i].ok);
	}
	close_table(h);
	return r;
}

static int write_index(const struct pages *p)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct html h = {.a = p->a, .out = &out};
	int r;

	open_page(&h, p->opt->title);
	tell_open(p, &h);
	tell_metrics(p, &h);
	r = tell_campaigns(p, &h);
	html_addf(&h, "<p><small>Written by kdelta " KDELTA_VERSION ", %s. Steps: E-divisive means "
		      "with a t-test at p = 0.001, at least %d kernels a level.</small></p>\n",
		  num_iso_time(p->a, p->opt->now), STEPS_SEGMENT);
	return r ? r : close_page(p, &h, "index.html");
}

int pages_write(struct db *db, struct arena *a, const struct pages_options *opt, struct err *e)
{
	static const struct history_options all;
	struct pages p = {.db = db, .a = a, .opt = opt, .e = e};
	int r = history_read_all(db, a, &all, &p.list, &p.n, e);

	if (!r && !p.n) {
		r = err_add(e, -ENOENT, "there is no good run of any headline metric");
		err_hint(e, "`kdelta list` shows what is stored");
	}
	for (size_t i = 0; i < p.n && !r; i++)
		for (size_t k = 0; k < p.list[i].n_lines && !r; k++)
			r = write_line(&p, &(struct entry){&p.list[i], &p.list[i].lines[k]});
	return r ? r : write_index(&p);
}
