// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "core/num.h"
#include "hunt/text.h"

enum { BAR = 60, LISTED = 5 };

static const char *const state_words[] = {
	[ANSWER_OPEN] = "open",		    [ANSWER_ENDS_FAILED] = "ends-failed",
	[ANSWER_ENDS_SAME] = "ends-same",   [ANSWER_NONE] = "none",
	[ANSWER_STUCK] = "stuck",	    [ANSWER_SUSPECT] = "suspect",
	[ANSWER_REFUTED] = "refuted",	    [ANSWER_FOUND] = "found",
};

void bisect_bar(const struct bisect *b, const struct answer *ans, int width, struct strbuf *out)
{
	static const struct {
		double above;
		char sign;
	} signs[] = {{0.5, '#'}, {0.2, '*'}, {0.05, '+'}, {0.01, ':'}, {-1, '.'}};
	size_t n = b->range.n - 1, bins = MIN(n, (size_t)width), bin, i, k;

	for (bin = 0; bin < bins; bin++) {
		bool skipped = true;
		double share = 0;

		for (i = bin * n / bins; i < (bin + 1) * n / bins; i++) {
			share += answer_share(ans, i + 1);
			skipped &= ans->ev.skipped[i + 1] != NULL;
		}
		for (k = 0; share <= signs[k].above; k++)
			;
		strbuf_addc(out, skipped && share < 0.01 ? 'x' : signs[k].sign);
	}
}

/* "good 103.2 (n 7), bad 98.1 (n 6): -4.9% [-6.1%, -3.8%]" */
static void add_ends(const struct bisect *b, const struct answer *ans, struct text *t)
{
	size_t last = b->range.n - 1, i;
	double sum[2] = {0, 0};
	const char *change = "not compared yet";

	for (i = 0; i < ans->ev.runs.n; i++) {
		const struct evidence_run *run = &ans->ev.runs.items[i];

		if (!run->candidate || run->candidate == last)
			sum[run->candidate == last] += run->value;
	}
	if (isfinite(ans->ends.change))
		change = arena_printf(t->a, "%s [%s, %s]", text_percent(t->a, ans->ends.change, "%"),
				      text_percent(t->a, ans->ends.low, "%"),
				      text_percent(t->a, ans->ends.high, "%"));
	text_block(t, "ends", "good %s %s (n %d), bad %s %s (n %d): %s", b->range.items->name,
		   ans->ev.n[0] ? arena_printf(t->a, "%.5g", sum[0] / ans->ev.n[0]) : "-",
		   ans->ev.n[0], b->range.items[last].name,
		   ans->ev.n[last] ? arena_printf(t->a, "%.5g", sum[1] / ans->ev.n[last]) : "-",
		   ans->ev.n[last], change);
	if (b->direction != DIR_HIGHER && b->direction != DIR_LOWER)
		return;
	if (ans->state != ANSWER_ENDS_SAME && ans->ends.p <= STATS_LOOKS_Q &&
	    (ans->ends.change > 0) == (b->direction == DIR_HIGHER))
		text_block(t, "",
			   "the bad end is the better one (%s is better): the answer is what "
			   "improved it; for a regression swap good and bad, with ends where the "
			   "older one is better",
			   direction_name(b->direction));
}

static void add_runs(const struct bisect *b, const struct answer *ans, struct text *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int skipped = 0, measured = 0, stored = 0;
	const struct evidence_run *run;
	double go;
	size_t i;

	for (i = 0; i < b->range.n; i++) {
		skipped += ans->ev.skipped[i] != NULL;
		measured += ans->ev.n[i] > 0;
	}
	array_for_each (run, &ans->ev.runs)
		stored += !run->own;
	strbuf_addf(&sb, "%d of %d candidates", ans->ev.planned, measured);
	if (stored)
		strbuf_addf(&sb, ", %d more from other campaigns", stored);
	if (skipped)
		strbuf_addf(&sb, "; %d skipped", skipped);
	if (ans->state == ANSWER_OPEN && ans->posterior) {
		go = posterior_runs_to_go(ans->posterior, b->opt.confidence);
		if (isfinite(go)) {
			strbuf_addf(&sb, "; about %.0f to go", fmax(1, go));
			if (isfinite(ans->ev.run_seconds)) {
				strbuf_adds(&sb, ", some ");
				num_add_duration(&sb, go * ans->ev.run_seconds);
				strbuf_adds(&sb, " without builds");
			}
		}
	}
	text_block(t, "runs", "%s", strbuf_str(&sb));
}

static void add_candidate(const struct bisect *b, const struct answer *ans, size_t i,
			  struct text *t)
{
	const struct candidate *c = &b->range.items[i];

	text_wrap(t,
		  arena_printf(t->a, "%5.1f %%  %s  n %-2d ", 100 * answer_share(ans, i), c->name,
			       ans->ev.n[i]),
		  TEXT_KEY + 22,
		  text_ascii(t->a, ans->ev.skipped[i]
					   ? arena_printf(t->a, "%s (skipped)", c->subject)
					   : c->subject));
}

static void add_candidates(const struct bisect *b, const struct answer *ans, struct text *t)
{
	size_t *set, n, i;

	answer_set(b, ans, 0.999, &set, &n);
	for (i = 0; i < n && i < LISTED; i++)
		add_candidate(b, ans, set[i], t);
	text_block(t, "", "%s%.1f %% that no commit of the range did it",
		   n > LISTED ? arena_printf(t->a, "and %zu more; ", n - LISTED) : "",
		   100 * posterior_none(ans->posterior));
}

void bisect_status(const struct bisect *b, const struct answer *ans, struct text *t)
{
	_cleanup_strbuf_ struct strbuf bar = STRBUF_INIT;
	const struct cause *c;

	text_block(t, "what", "%s of %s, %zu candidates, threshold %g%%, confidence %g%%",
		   b->opt.metric, b->opt.test_case, b->range.n - 1, 100 * b->opt.threshold,
		   100 * b->opt.confidence);
	add_ends(b, ans, t);
	add_runs(b, ans, t);
	array_for_each (c, &ans->causes)
		text_block(t, "found", "%s %s: %s", b->range.items[c->culprit].name,
			   text_percent(t->a, expm1(c->effect), "%"),
			   b->range.items[c->culprit].subject);
	text_block(t, "state", "%s", bisect_subject(b, ans));
	if (!ans->posterior)
		return;
	bisect_bar(b, ans, BAR, &bar);
	text_blank(t);
	strbuf_addf(t->out, "good |%s| bad\n", strbuf_str(&bar));
	text_blank(t);
	add_candidates(b, ans, t);
}

/* ---- JSON ---- */

/* null: not measured, or not to be compared. */
static json_t *pair_json(const struct pair *p)
{
	return !p->cell ? json_null()
			: json_pack("{s:s, s:f, s:f, s:f, s:s}", "campaign", p->campaign, "change",
				    p->cell->test.shift, "ci_low", p->cell->test.low, "ci_high",
				    p->cell->test.high, "verdict", verdict_name(p->cell->verdict));
}

void bisect_json(const struct bisect *b, const struct answer *ans, struct strbuf *out)
{
	json_t *root = json_object(), *list = json_array(), *causes = json_array();
	const struct cause *c;
	size_t i;

	json_object_set_new(root, "schema", json_string("kdelta.bisect/1"));
	json_object_set_new(root, "state", json_string(state_words[ans->state]));
	json_object_set_new(root, "metric", json_string(b->opt.metric));
	json_object_set_new(root, "case", json_string(b->opt.test_case));
	json_object_set_new(root, "campaign",
			    b->row.campaign ? json_string(b->row.campaign) : json_null());
	json_object_set_new(root, "runs", json_integer(ans->ev.planned));
	json_object_set_new(root, "change", json_number_or_null(ans->ends.change));
	json_object_set_new(root, "none",
			    json_number_or_null(ans->posterior ? posterior_none(ans->posterior)
							       : NAN));
	for (i = 0; i < b->range.n; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:i, s:o, s:o}", "id", b->range.items[i].id,
				  "subject", text_ascii(ans->a, b->range.items[i].subject), "n",
				  ans->ev.n[i], "share",
				  json_number_or_null(ans->posterior ? answer_share(ans, i) : NAN),
				  "skipped",
				  ans->ev.skipped[i] ? json_string(ans->ev.skipped[i])
						     : json_null()));
	array_for_each (c, &ans->causes)
		json_array_append_new(
			causes, json_pack("{s:s, s:f, s:f, s:f, s:f, s:i, s:o, s:o}", "id",
					  b->range.items[c->culprit].id, "share", c->share,
					  "change", expm1(c->effect), "ci_low", expm1(c->low),
					  "ci_high", expm1(c->high), "group", (int)c->n_group,
					  "revert", pair_json(&c->pairs[PAIR_REVERT]), "aligned",
					  pair_json(&c->pairs[PAIR_ALIGNMENT])));
	json_object_set_new(root, "causes", causes);
	json_object_set_new(root, "candidates", list);
	json_add_lines(out, root, 12);
}

/* ---- log ---- */

int bisect_log(struct bisect *b, const struct answer *ans, struct strbuf *out)
{
	const struct evidence_run *run;

	strbuf_addf(out, "# %s\nstart %s %s\n%s", bisect_command(b, &b->opt), b->row.name,
		    b->row.options, b->row.decisions);
	array_for_each (run, &ans->ev.runs)
		strbuf_addf(out, "# run %lld %s %s %.8g%s\n", (long long)run->id,
			    b->range.items[run->candidate].name, num_iso_time(b->a, run->started),
			    run->value, run->own ? "" : " (another campaign)");
	strbuf_addf(out, "# %s\n", bisect_subject(b, ans));
	return 0;
}
