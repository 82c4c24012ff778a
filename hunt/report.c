// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "hunt/text.h"
#include "reports/html.h"

static const char *percent(struct text *t, double log_ratio)
{
	return text_percent(t->a, expm1(log_ratio), "%");
}

/* "the ends do not differ by 3%", or more runs are needed to say so. */
static char *refusal(const struct bisect *b, const struct answer *ans)
{
	const struct test_result *t = &ans->ends;
	int n = stats_runs_to_detect(t->pooled_sd, b->opt.threshold, 0.8, 0.05);
	bool within = fmax(fabs(t->low), fabs(t->high)) < b->opt.threshold;
	const char *interval = arena_printf(ans->a, "%+.2f%% [%+.2f, %+.2f]", 100 * t->change,
					    100 * t->low, 100 * t->high);

	if (within)
		return arena_printf(ans->a, "the ends do not differ by %g%%: %s; nothing to bisect",
				    100 * b->opt.threshold, interval);
	return arena_printf(ans->a,
			    "%d runs of each end do not show that they differ by %g%%: %s%s",
			    b->opt.end_runs, 100 * b->opt.threshold, interval,
			    n <= b->opt.end_runs
				    ? ""
				    : arena_printf(ans->a,
						   "; about %d would: a quieter machine, or `kdelta "
						   "bisect reset` and start with --end-runs %d",
						   n, n));
}

static char *suspect(const struct bisect *b, const struct answer *ans, const char *words)
{
	const struct candidate *c = &b->range.items[ans->suspect.culprit];

	return arena_printf(ans->a, "%s %s (%.1f%%): %s", c->name,
			    text_ascii(ans->a, c->subject), 100 * ans->suspect.share, words);
}

static char *found(const struct bisect *b, const struct answer *ans)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct cause *c;

	strbuf_addf(&sb, "%s %+.1f%%:", b->opt.metric,
		    100 * (ans->causes.n > 1 ? ans->ends.change : expm1(ans->causes.items->effect)));
	array_for_each (c, &ans->causes) {
		if (c > ans->causes.items)
			strbuf_adds(&sb, "; and");
		strbuf_addf(&sb, " %s", b->range.items[c->culprit].name);
		if (ans->causes.n > 1)
			strbuf_addf(&sb, " %+.1f%%", 100 * expm1(c->effect));
		strbuf_addf(&sb, " %s", text_ascii(ans->a, b->range.items[c->culprit].subject));
	}
	return arena_strdup(ans->a, strbuf_str(&sb));
}

char *bisect_subject(const struct bisect *b, const struct answer *ans)
{
	size_t last = b->range.n - 1;

	switch (ans->state) {
	case ANSWER_OPEN:
		return arena_strdup(ans->a, "open: kdelta bisect run goes on");
	case ANSWER_ENDS_FAILED:
		return arena_printf(ans->a, "the %s end cannot be measured: %s",
				    ans->ev.skipped[0] ? "good" : "bad",
				    ans->ev.skipped[0] ? ans->ev.skipped[0]
						       : ans->ev.skipped[last]);
	case ANSWER_ENDS_SAME:
		return refusal(b, ans);
	case ANSWER_NONE:
		return arena_strdup(ans->a, "no candidate of the range did it: the ends are at one "
					    "level, or what differs is no candidate");
	case ANSWER_STUCK:
		return arena_strdup(ans->a, "no further run can tell the rest apart");
	case ANSWER_SUSPECT:
		return suspect(b, ans, "to be confirmed");
	case ANSWER_REFUTED:
		return suspect(b, ans, "fresh runs of it and its parent do not show it");
	case ANSWER_FOUND:
		return found(b, ans);
	}
	return NULL;
}

/* ---- the mail ---- */

static void add_effect(const struct bisect *b, const struct cause *c, struct text *t)
{
	double p = c->pairs[PAIR_CONFIRM].cell->test.p;

	text_block(t, "effect", "%s %s [%s, %s]%s", b->opt.metric, percent(t, c->effect),
		   percent(t, c->low), percent(t, c->high),
		   b->direction == DIR_LOWER || b->direction == DIR_HIGHER
			   ? arena_printf(t->a, ", %s is better", direction_name(b->direction))
			   : "");
	text_block(t, "sure", "%.1f%%; the fresh boots of it and its parent show it alone%s",
		   100 * c->share,
		   isnan(p) ? "" : arena_printf(t->a, " (p = %s)", text_p(t->a, p)));
}

static int add_commit(struct bisect *b, const struct cause *c, struct text *t)
{
	const struct candidate *k = &b->range.items[c->culprit];
	const char *author = "";
	size_t i;
	int r = b->opt.repo ? git_field(&b->git, k->id, "%an <%ae>, %ad", &author) : 0;

	if (r)
		return r;
	text_block(t, b->opt.repo ? "commit" : "variant", "%s", k->id);
	text_block(t, "", "%s", text_ascii(t->a, k->subject));
	if (*author)
		text_block(t, "author", "%s", text_ascii(t->a, author));
	for (i = 0; i < c->n_group; i++)
		if (c->group[i] != c->culprit)
			text_block(t, "or", "%s %s (cannot be measured: not told apart)",
				   b->range.items[c->group[i]].name,
				   text_ascii(t->a, b->range.items[c->group[i]].subject));
	return 0;
}

static void add_pair(const struct cause *c, enum pair_kind kind, const char *key, const char *what,
		     struct text *t)
{
	const struct pair *p = &c->pairs[kind];

	if (!p->campaign)
		return;
	if (!p->cell)
		text_block(t, key, "%s cannot be measured (%s)", what, p->campaign);
	else
		text_block(t, key, "%s: %s [%s, %s], %s", what,
			   text_percent(t->a, p->cell->test.shift, "%"),
			   text_percent(t->a, p->cell->test.low, "%"),
			   text_percent(t->a, p->cell->test.high, "%"),
			   verdict_name(p->cell->verdict));
}

static void add_others(const struct bisect *b, const struct answer *ans, struct text *t)
{
	size_t *set, n, i, shown = 0;

	answer_set(b, ans, 0.9999, &set, &n);
	for (i = 0; i < n && shown < 3; i++) {
		const struct candidate *k = &b->range.items[set[i]];

		if (set[i] == ans->suspect.culprit || answer_share(ans, set[i]) < 0.0005)
			continue;
		text_block(t, shown++ ? "" : "next", "%.1f%% %s %s", 100 * answer_share(ans, set[i]),
			   k->name, text_ascii(t->a, k->subject));
	}
	text_block(t, shown ? "" : "next", "%.1f%% that none of the range did it",
		   100 * posterior_none(ans->posterior));
}

static void add_search(const struct bisect *b, const struct answer *ans, struct text *t)
{
	size_t i, last = b->range.n - 1;
	int skipped = 0;

	for (i = 0; i <= last; i++)
		skipped += ans->ev.skipped[i] != NULL;
	text_block(t, "range", "%s to %s, %zu candidates%s; %d runs, %d candidates cannot be measured",
		   b->range.items[0].name, b->range.items[last].name, last,
		   b->opt.path ? arena_printf(t->a, " that touch %s", b->opt.path) : "",
		   ans->ev.planned, skipped);
	text_block(t, "ends", "%s [%s, %s] (n %d and %d)",
		   text_percent(t->a, ans->ends.change, "%"),
		   text_percent(t->a, ans->ends.low, "%"),
		   text_percent(t->a, ans->ends.high, "%"), ans->ev.n[0], ans->ev.n[last]);
	if (isfinite(ans->rest))
		text_block(t, "rest", "%s is what the ends differ by beyond that: %s",
			   percent(t, ans->rest),
			   ans->rest_is_real ? "more causes are likely"
					     : "noise, or less than was looked for");
}

/* Trailers stand inside the text, indented: to be copied by who agrees. */
static void add_trailers(const struct bisect *b, const struct answer *ans, struct text *t)
{
	const struct cause *c;

	if (!b->opt.repo)
		return;
	text_blank(t);
	strbuf_adds(t->out, "If you agree, these lines say it to the tools:\n");
	array_for_each (c, &ans->causes) {
		const struct candidate *k = &b->range.items[c->culprit];

		strbuf_addf(t->out, "    Fixes: %s (\"%s\")\n", k->name,
			    text_ascii(t->a, k->subject));
		strbuf_addf(t->out, "    #regzbot introduced: %s\n", k->name);
	}
}

static int add_cause(struct bisect *b, const struct cause *c, struct text *t)
{
	int r = add_commit(b, c, t);

	if (r)
		return r;
	add_effect(b, c, t);
	add_pair(c, PAIR_REVERT, "revert", "taking it out of the bad end", t);
	add_pair(c, PAIR_ALIGNMENT, "aligned", "with functions aligned to 64 bytes", t);
	if (b->config->variants->recipe && !c->pairs[PAIR_ALIGNMENT].campaign)
		text_block(t, "layout",
			   "not ruled out: where functions lie moves benchmarks too; `kdelta "
			   "bisect run --alignment` builds both with 64-byte alignment");
	text_blank(t);
	return 0;
}

/* The comparison of each culprit with its parent, as `compare` prints it. */
static int add_tables(const struct answer *ans, struct strbuf *out, struct err *e)
{
	const struct report_format *mail = report_format_find("mail");
	const struct report_options opt = {.values = true};
	const struct cause *c;
	int r = 0;

	array_for_each (c, &ans->causes) {
		strbuf_addc(out, '\n');
		if (!r)
			r = mail->render(c->pairs[PAIR_CONFIRM].model, &opt, out, e);
	}
	return r;
}

int bisect_mail(struct bisect *b, const struct answer *ans, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;
	struct text t = {ans->a, &report, 71, false};
	const struct cause *c;
	int r = 0;

	text_wrap(&t, "", 0, bisect_subject(b, ans));
	text_blank(&t);
	if (ans->state != ANSWER_FOUND) {
		bisect_status(b, ans, &t);
		mail_guard(strbuf_str(&report), out);
		return 0;
	}
	array_for_each (c, &ans->causes)
		if (!r)
			r = add_cause(b, c, &t);
	if (r)
		return r;
	add_others(b, ans, &t);
	add_search(b, ans, &t);
	text_block(&t, "again", "%s; kdelta bisect run", bisect_command(b, &b->opt));
	r = add_tables(ans, &report, b->e);
	add_trailers(b, ans, &t);
	if (!r)
		mail_guard(strbuf_str(&report), out);
	return r;
}

/* ---- the page ---- */

static void add_model(struct html *h, const struct comparison *c)
{
	h->c = c;
	h->sorted_test = NULL;
	view_init(&h->v, c, h->a, 0);
	h->v.width = h->v.label = 80;
	html_tables(h);
}

int bisect_html(struct bisect *b, const struct answer *ans, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf mail = STRBUF_INIT, bar = STRBUF_INIT;
	struct html h = {.a = ans->a, .out = out};
	const char *subject = bisect_subject(b, ans);
	const struct cause *c;
	int r = bisect_mail(b, ans, &mail), kind;

	if (r)
		return r;
	html_open(&h, subject, NULL, false);
	strbuf_adds(out, "<main>\n<header>\n<h1>");
	html_text(&h, subject);
	strbuf_adds(out, "</h1>\n</header>\n");
	if (ans->posterior) {
		bisect_bar(b, ans, 100, &bar);
		strbuf_adds(out, "<section>\n<h2>Where it is</h2>\n<pre>good |");
		html_text(&h, strbuf_str(&bar));
		strbuf_adds(out, "| bad</pre>\n</section>\n");
	}
	array_for_each (c, &ans->causes) {
		for (kind = PAIR_CONFIRM; kind <= PAIR_ALIGNMENT; kind++) {
			if (!c->pairs[kind].model)
				continue;
			strbuf_adds(out, "<section>\n<h2>");
			html_text(&h, c->pairs[kind].campaign);
			strbuf_adds(out, "</h2>\n");
			add_model(&h, c->pairs[kind].model);
			strbuf_adds(out, "</section>\n");
		}
	}
	strbuf_adds(out, "<section>\n<h2>As a mail</h2>\n<pre class=\"mail\" tabindex=\"0\">\n");
	html_text(&h, strbuf_str(&mail));
	strbuf_adds(out, "</pre>\n</section>\n</main>\n</body>\n</html>\n");
	return 0;
}
