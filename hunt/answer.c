// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/answer.h"

#include <errno.h>

#include <math.h>
#include <string.h>

enum { MOST_CAUSES = 4 };

/* ---- the posterior ---- */

/* The range without the good end, in compressed rows. */
static void set_parents(struct bisect *b, struct posterior_options *o)
{
	size_t *first = arena_alloc_array(b->a, b->range.n, sizeof(*first)), *parents, n = 0, i, k;

	for (i = 1; i < b->range.n; i++)
		n += b->range.items[i].n_parents;
	parents = arena_alloc_array(b->a, n + 1, sizeof(*parents));
	for (n = 0, i = 1; i < b->range.n; i++) {
		for (k = 0; k < b->range.items[i].n_parents; k++)
			if (b->range.items[i].parents[k])
				parents[n++] = b->range.items[i].parents[k] - 1;
		first[i] = n;
	}
	o->first = first;
	o->parents = parents;
}

static size_t to_posterior(size_t candidate)
{
	return candidate ? candidate - 1 : POSTERIOR_GOOD;
}

static struct posterior *make_posterior(struct bisect *b, const struct answer *ans)
{
	struct posterior_options o = {
		POSTERIOR_DEFAULTS,
		.n = b->range.n - 1,
		.threshold = log1p(b->opt.threshold) / 2,
	};
	double *prior = arena_alloc_array(b->a, b->range.n, sizeof(*prior));
	struct posterior_cause *causes =
		arena_alloc_array(b->a, ans->causes.n + 1, sizeof(*causes));
	const struct evidence_run *run;
	const struct cause *c;
	struct posterior *p;
	double began = NAN;
	size_t i;

	set_parents(b, &o);
	for (i = 1; i < b->range.n; i++)
		prior[i - 1] = b->range.items[i].weight;
	array_for_each (c, &ans->causes) {
		causes[o.n_causes++] =
			(struct posterior_cause){to_posterior(c->culprit), c->effect};
		prior[c->culprit - 1] = 0;
	}
	o.prior = prior;
	o.causes = causes;
	p = posterior_new(&o);
	if (!p)
		return NULL;
	array_for_each (run, &ans->ev.runs) {
		if (run->own && isnan(began))
			began = (double)run->started;
		posterior_add(p, to_posterior(run->candidate), run->log, (uint64_t)run->boot,
			      run->own ? (double)run->started - began : NAN);
	}
	for (i = 1; i < b->range.n; i++)
		if (ans->ev.skipped[i])
			posterior_skip(p, i - 1);
	return p;
}

double answer_share(const struct answer *ans, size_t i)
{
	return i && ans->posterior ? posterior_of(ans->posterior, i - 1) : 0;
}

double answer_set(const struct bisect *b, const struct answer *ans, double level, size_t **set,
		  size_t *n)
{
	double share;
	size_t i;

	*set = arena_alloc_array(ans->a, b->range.n, sizeof(**set));
	share = posterior_set(ans->posterior, level, *set, n);
	for (i = 0; i < *n; i++)
		(*set)[i]++;
	return share;
}

/* ---- causes ---- */

static bool is_in(const size_t *set, size_t n, size_t candidate)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (set[i] == candidate)
			return true;
	return false;
}

/*
 * The culprit is the member of the group that was seen to be bad, which all the others are part of;
 * its parent the nearest ancestor outside.
 */
static void set_suspect(struct bisect *b, struct answer *ans, size_t *group, size_t n, double share)
{
	struct cause *c = &ans->suspect;
	size_t i;

	*c = (struct cause){.culprit = *group, .group = group, .n_group = n, .share = share};
	for (i = 0; i < n; i++)
		if (!ans->ev.skipped[group[i]])
			c->culprit = group[i];
	c->parent = b->range.items[c->culprit].parents[0];
	while (c->parent && (is_in(group, n, c->parent) || ans->ev.skipped[c->parent]))
		c->parent = b->range.items[c->parent].parents[0];
}

static int read_pairs(struct bisect *b, struct cause *c)
{
	enum pair_kind kind;
	int r = 0;

	for (kind = PAIR_CONFIRM; !r && kind <= PAIR_ALIGNMENT; kind++)
		r = pair_read(b, kind, c, &c->pairs[kind]);
	return r;
}

/* What the ends differ by beyond the causes, with an interval that both shares of noise are in. */
static void set_rest(struct bisect *b, struct answer *ans)
{
	size_t last = b->range.n - 1, most = ans->ev.runs.n, n, m, i;
	double *good = arena_alloc_array(b->a, most + 1, sizeof(*good));
	double *bad = arena_alloc_array(b->a, most + 1, sizeof(*bad)), width;
	const struct cause *c;
	struct interval shift;

	n = evidence_values(&ans->ev, 0, good, most);
	m = evidence_values(&ans->ev, last, bad, most);
	for (i = 0; i < n; i++)
		good[i] = log(good[i]);
	for (i = 0; i < m; i++)
		bad[i] = log(bad[i]);
	/* of four chances to see a further cause that is none */
	shift = stats_hodges_lehmann(good, n, bad, m, 0.99);
	ans->rest = shift.estimate;
	width = pow((shift.high - shift.low) / 2, 2);
	array_for_each (c, &ans->causes) {
		ans->rest -= c->effect;
		width += pow((c->high - c->low) / 2, 2);
	}
	ans->rest_is_real = fabs(ans->rest) > sqrt(width) &&
			    fabs(ans->rest) >= log1p(b->opt.threshold) / 2;
}

/* ---- judging ---- */

/* One search with the causes known so far. *more: a further cause was confirmed. */
static int judge(struct bisect *b, struct answer *ans, bool *more)
{
	struct cause *c = &ans->suspect;
	size_t *group, n, next;
	double share, *setup;
	int r;

	*more = false;
	posterior_free(&ans->posterior);
	ans->posterior = make_posterior(b, ans);
	if (!ans->posterior)
		return err_add(b->e, -EINVAL, "the range makes no sense to the statistics");
	share = answer_set(b, ans, 0, &group, &n);
	if (share < b->opt.confidence) {
		setup = arena_alloc_array(b->a, b->range.n, sizeof(*setup));
		for (next = 1; next < b->range.n; next++)
			setup[next - 1] = ans->ev.entered[next] || isnan(ans->ev.build_seconds)
						  ? 0
						  : ans->ev.build_seconds;
		ans->state = posterior_none(ans->posterior) >= b->opt.confidence ? ANSWER_NONE
			     : posterior_next(ans->posterior, setup,
					      isnan(ans->ev.run_seconds) ? 1 : ans->ev.run_seconds,
					      &next)
				     ? ANSWER_OPEN
				     : ANSWER_STUCK;
		ans->next = next == POSTERIOR_GOOD ? 0 : next + 1;
		/* a rest that nobody caused is no reason to take the causes back */
		if (ans->causes.n && ans->state != ANSWER_OPEN)
			ans->state = ANSWER_FOUND;
		return 0;
	}
	set_suspect(b, ans, group, n, share);
	r = read_pairs(b, c);
	ans->state = !c->pairs[PAIR_CONFIRM].campaign ? ANSWER_SUSPECT
		     : ans->causes.n		      ? ANSWER_FOUND
						      : ANSWER_REFUTED;
	if (r || !c->pairs[PAIR_CONFIRM].is_real)
		return r;
	c->effect = log1p(c->pairs[PAIR_CONFIRM].cell->test.shift);
	c->low = log1p(c->pairs[PAIR_CONFIRM].cell->test.low);
	c->high = log1p(c->pairs[PAIR_CONFIRM].cell->test.high);
	*ARRAY_PUSH(&ans->causes) = *c;
	set_rest(b, ans);
	ans->state = ANSWER_FOUND;
	*more = ans->rest_is_real && ans->causes.n < MOST_CAUSES;
	return 0;
}

static int read_all(struct bisect *b, struct answer *ans)
{
	enum ends_state ends;
	bool more = true;
	int r = evidence_read(b, &ans->ev);

	if (r)
		return r;
	ends = evidence_ends(b, &ans->ev, &ans->next, &ans->ends);
	if (ans->ev.skipped[0] || ans->ev.skipped[b->range.n - 1])
		ans->state = ANSWER_ENDS_FAILED;
	else if (ends != ENDS_DIFFER)
		ans->state = ends == ENDS_SAME ? ANSWER_ENDS_SAME : ANSWER_OPEN;
	else
		while (!r && more)
			r = judge(b, ans, &more);
	return r;
}

int answer_read(struct bisect *b, struct answer *ans)
{
	struct bisect own = *b;

	*ans = (struct answer){.rest = NAN, .a = arena_new()};
	own.a = own.git.a = ans->a;
	return read_all(&own, ans);
}

void answer_release(struct answer *ans)
{
	posterior_free(&ans->posterior);
	ARRAY_FREE(&ans->causes);
	evidence_release(&ans->ev);
	arena_free_ptr(&ans->a);
}
