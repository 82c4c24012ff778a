// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/search.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "runner/grow.h"

enum { MOST_STEPS = 20 }; /* runs of one commit in `bisect step` */

struct search {
	struct bisect *b;
	const struct search_options *opt;
	struct search_report *report;
	struct grow *grow; /* NULL: closed */
	double began;
	bool good; /* the last run gave a value */
};

static void tell(const struct search *s, const char *text)
{
	if (s->b->note)
		s->b->note(text);
}

/* What others measured of the range is evidence too, once it has entered. */
static int adopt(struct search *s)
{
	struct bisect *b = s->b;
	struct db_foreign *list;
	size_t n, i;
	int r = db_get_foreign(b->db, b->a, b->row.campaign, &list, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		long at = range_find(&b->range, list[i].commit);

		if (at >= 0)
			r = grow_adopt(s->grow, (size_t)at, list[i].identity, b->e);
	}
	return r;
}

static int open_grow(struct search *s)
{
	struct bisect *b = s->b;
	int r;

	if (s->grow)
		return 0;
	r = grow_open(b->db, b->a, b->cat, b->config, b->row.campaign, b->note, &s->grow, b->e);
	if (r)
		return r;
	if (!b->row.campaign) {
		b->row.campaign = grow_campaign(s->grow);
		r = db_set_bisection(b->db, &b->row, b->e);
	}
	return r ? r : adopt(s);
}

static void close_grow(struct search *s)
{
	grow_close(s->grow);
	s->grow = NULL;
}

/* "run 17: 1f2a3b4c5d6e tbench.throughput 123.4; most likely 77aabbccddee 61 %" */
static void tell_run(struct search *s, const struct answer *ans)
{
	struct bisect *b = s->b;
	const struct evidence_run *last = ans->ev.runs.items + ans->ev.runs.n - 1;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t *set, n;
	double share;

	strbuf_addf(&sb, "run %d: %s %s %.6g", ans->ev.planned,
		    b->range.items[last->candidate].name, b->opt.metric, last->value);
	if (ans->posterior) {
		share = answer_set(b, ans, 0, &set, &n);
		strbuf_addf(&sb, "; most likely %s %.0f %%", b->range.items[*set].name,
			    100 * share);
	} else {
		strbuf_addf(&sb, "; ends: good n %d, bad n %d", ans->ev.n[0],
			    ans->ev.n[b->range.n - 1]);
	}
	tell(s, strbuf_str(&sb));
}

static int measure(struct search *s, size_t candidate, bool entered)
{
	struct grow_run run;
	int r = open_grow(s);

	if (!r)
		r = grow_measure(s->grow, candidate, &run, s->b->e);
	if (r)
		return r;
	s->report->runs++;
	s->good = run.good;
	if (!run.good)
		tell(s, arena_printf(s->b->a, "%s gives no value: %s",
				     s->b->range.items[candidate].name, run.message));
	return evidence_add_costs(s->b, entered ? 0 : run.build_seconds, run.run_seconds);
}

static bool is_spent(const struct search *s)
{
	return (s->opt->runs && s->report->runs >= s->opt->runs) ||
	       (s->opt->seconds > 0 && num_monotonic() - s->began >= s->opt->seconds);
}

static int run_pair(struct search *s, enum pair_kind kind, const struct cause *c)
{
	static const char *const what[] = {"fresh boots of it and its parent",
					   "the bad end with it reverted",
					   "both again with aligned functions"};

	close_grow(s);
	tell(s, arena_printf(s->b->a, "%s: %s", s->b->range.items[c->culprit].name, what[kind]));
	return pair_run(s->b, kind, c, &s->report->interrupted);
}

/* What is still to be measured of a culprit that is confirmed. *done: nothing. */
static int measure_rest(struct search *s, const struct answer *ans, bool *done)
{
	const struct cause *c;

	*done = true;
	array_for_each (c, &ans->causes) {
		if (!c->pairs[PAIR_REVERT].campaign &&
		    pair_is_possible(s->b, PAIR_REVERT, c)) {
			*done = false;
			return run_pair(s, PAIR_REVERT, c);
		}
		if (s->opt->alignment && !c->pairs[PAIR_ALIGNMENT].campaign &&
		    pair_is_possible(s->b, PAIR_ALIGNMENT, c)) {
			*done = false;
			return run_pair(s, PAIR_ALIGNMENT, c);
		}
	}
	return 0;
}

/* The next thing to do; *done: there is none. */
static int advance(struct search *s, struct answer *ans, bool *done)
{
	*done = false;
	if (ans->state == ANSWER_SUSPECT)
		return run_pair(s, PAIR_CONFIRM, &ans->suspect);
	if (ans->state == ANSWER_FOUND)
		return measure_rest(s, ans, done);
	*done = ans->state != ANSWER_OPEN;
	if (!*done)
		s->report->spent = *done = is_spent(s);
	return *done ? 0 : measure(s, ans->next, ans->ev.entered[ans->next]);
}

int search_run(struct bisect *b, const struct search_options *opt, struct search_report *report,
	       struct answer *ans)
{
	struct search s = {b, opt, report, NULL, num_monotonic(), false};
	bool done = false;
	int r = b->row.campaign ? open_grow(&s) : 0, before = 0;

	*report = (struct search_report){0};
	*ans = (struct answer){.rest = NAN};
	while (!r && !done && !report->interrupted) {
		answer_release(ans);
		r = answer_read(b, ans);
		if (!r && report->runs > before && s.good)
			tell_run(&s, ans);
		before = report->runs;
		if (!r)
			r = advance(&s, ans, &done);
	}
	close_grow(&s);
	if (r == -EINTR)
		report->interrupted = true;
	return r == -EINTR ? 0 : r;
}

/* ---- one step of git bisect ---- */

/* The line good, candidate, bad: which of the latter two began it. */
static double share_bad(const struct bisect *b, const struct answer *ans, size_t candidate)
{
	const struct posterior_options o = {POSTERIOR_DEFAULTS, .n = 2};
	_cleanup_posterior_ struct posterior *p = posterior_new(&o);
	const struct evidence_run *run;
	size_t last = b->range.n - 1;

	array_for_each (run, &ans->ev.runs)
		if (!run->candidate || run->candidate == candidate || run->candidate == last)
			posterior_add(p, !run->candidate ? POSTERIOR_GOOD : run->candidate == last,
				      run->log, (uint64_t)run->boot, NAN);
	return posterior_of(p, 0) / (posterior_of(p, 0) + posterior_of(p, 1));
}

static int take_step(struct search *s, size_t candidate, enum step_answer *answer, bool *done)
{
	struct bisect *b = s->b;
	_cleanup_answer_ struct answer ans;
	enum ends_state ends;
	struct test_result test;
	size_t next = candidate;
	double share;
	int r = answer_read(b, &ans);

	*done = true;
	*answer = STEP_CANNOT_TELL;
	if (r)
		return r;
	ends = evidence_ends(b, &ans.ev, &next, &test);
	if (ends == ENDS_SAME || ans.state == ANSWER_ENDS_FAILED)
		return err_add(b->e, -ERANGE, "the ends of the range do not differ, or cannot be "
			       "measured: see `kdelta bisect status`");
	if (ends == ENDS_DIFFER) {
		if (!candidate || candidate == b->range.n - 1) {
			*answer = candidate ? STEP_BAD : STEP_GOOD;
			return 0;
		}
		share = ans.ev.n[candidate] ? share_bad(b, &ans, candidate) : 0.5;
		if (ans.ev.skipped[candidate])
			return 0;
		if (share >= b->opt.confidence || share <= 1 - b->opt.confidence) {
			*answer = share > 0.5 ? STEP_BAD : STEP_GOOD;
			return 0;
		}
		if (ans.ev.n[candidate] >= MOST_STEPS)
			return 0;
		next = candidate;
	}
	*done = false;
	return measure(s, next, ans.ev.entered[next]);
}

int search_step(struct bisect *b, enum step_answer *answer)
{
	static const struct search_options none;
	struct search_report report = {0};
	struct search s = {b, &none, &report, NULL, num_monotonic(), false};
	const char *head;
	bool done = false;
	long i = -1;
	int r = b->opt.repo ? git_commit(&b->git, "HEAD", &head) : -EINVAL;

	if (r == -EINVAL)
		return err_add(b->e, r, "`bisect step` is for commits");
	if (!r)
		i = range_find(&b->range, head);
	if (!r && i < 0)
		r = err_add(b->e, -ENOENT, "HEAD of %s, %.12s, is not in the range", b->opt.repo,
			    head);
	while (!r && !done)
		r = take_step(&s, (size_t)i, answer, &done);
	close_grow(&s);
	return r;
}
