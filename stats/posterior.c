// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/posterior.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "core/random.h"
#include "stats/dag.h"
#include "stats/levels.h"

/* Runs that share what it cost to have their commit ready. */
static const double setup_shared = 5;

enum { ENDS_FIRST = 1 }; /* runs of each end before anything else */
/* What is learnt of a level serves all later runs: by simulation at d = 1, 2 and 4. */
static const double end_worth = 1.5;

/* A commit that has run. */
struct site {
	size_t commit;
	uint64_t *ancestors; /* NULL for the good end */
};

struct posterior {
	struct posterior_options o;
	struct dag dag;
	double *prior; /* of each commit, the sum 1 - none; then none */
	unsigned char *skipped;

	ARRAY_OF(struct site) sites;
	struct units units;
	double begin; /* time of the first run of the session */

	/* Commits that the same sites tell bad are one class; "none" is the class of commit n. */
	size_t *class_of, n_classes;
	struct split *splits; /* in the order that levels.h asks for */
	size_t *split_of;     /* of each class */
	struct arena *arena;  /* of both */

	bool is_computed, is_grouped;
	double *of, *bad; /* the answer; of[n]: none */
	size_t *group;	  /* the first of the commits that no run can separate */
	struct levels levels;
};

static bool take_prior(struct posterior *p, const struct posterior_options *o)
{
	double sum = 0;
	size_t i;

	p->prior = mem_realloc_array(NULL, o->n + 1, sizeof(*p->prior));
	for (i = 0; i < o->n; i++) {
		p->prior[i] = o->prior ? o->prior[i] : 1;
		for (size_t k = 0; k < o->n_causes; k++)
			if (o->causes[k].commit == i)
				p->prior[i] = 0;
		sum += p->prior[i];
	}
	for (i = 0; i < o->n; i++)
		p->prior[i] *= (1 - o->none) / sum;
	p->prior[o->n] = o->none;
	return sum > 0 && isfinite(sum);
}

struct posterior *posterior_new(const struct posterior_options *o)
{
	struct posterior *p = mem_zalloc(sizeof(*p));

	p->o = *o;
	p->begin = NAN;
	if (!dag_init(&p->dag, o->n, o->first, o->parents) || !take_prior(p, o)) {
		posterior_free(&p);
		return NULL;
	}
	p->o.causes = mem_realloc_array(NULL, o->n_causes + 1, sizeof(*o->causes));
	if (o->n_causes)
		memcpy((void *)p->o.causes, o->causes, o->n_causes * sizeof(*o->causes));
	p->skipped = mem_zalloc(o->n);
	p->class_of = mem_zalloc((o->n + 1) * sizeof(*p->class_of));
	p->n_classes = 1;
	p->of = mem_zalloc((o->n + 1) * sizeof(*p->of));
	p->bad = mem_zalloc(o->n * sizeof(*p->bad));
	p->group = mem_zalloc(o->n * sizeof(*p->group));
	levels_init(&p->levels, &p->o);
	return p;
}

void posterior_free(struct posterior **pp)
{
	struct posterior *p = *pp;
	struct site *s;

	*pp = NULL;
	if (!p)
		return;
	array_for_each(s, &p->sites)
		free(s->ancestors);
	ARRAY_FREE(&p->sites);
	ARRAY_FREE(&p->units.list);
	levels_release(&p->levels);
	dag_release(&p->dag);
	arena_free(p->arena);
	free((void *)p->o.causes);
	free(p->prior);
	free(p->skipped);
	free(p->class_of);
	free(p->of);
	free(p->bad);
	free(p->group);
	free(p);
}

/* Splits every class into those that are ancestors of a new site and those that are not. */
static void refine_classes(struct posterior *p, const uint64_t *ancestors)
{
	_cleanup_free_ size_t *to = mem_realloc_array(NULL, 2 * p->n_classes, sizeof(*to));
	size_t n = 0, i;

	for (i = 0; i < 2 * p->n_classes; i++)
		to[i] = SIZE_MAX;
	for (i = 0; i <= p->o.n; i++) {
		size_t *c = &to[2 * p->class_of[i] + (i < p->o.n && dag_has(ancestors, i))];

		if (*c == SIZE_MAX)
			*c = n++;
		p->class_of[i] = *c;
	}
	p->n_classes = n;
}

static size_t site_of(struct posterior *p, size_t commit)
{
	struct site *s;

	array_for_each(s, &p->sites)
		if (s->commit == commit)
			return (size_t)(s - p->sites.items);
	s = ARRAY_PUSH(&p->sites);
	s->commit = commit;
	p->units.n_sites = p->sites.n;
	if (commit != POSTERIOR_GOOD) {
		s->ancestors = mem_zalloc(DAG_WORDS(p->o.n) * sizeof(*s->ancestors));
		dag_ancestors(&p->dag, commit, s->ancestors);
		refine_classes(p, s->ancestors);
	}
	arena_free(p->arena);
	p->arena = NULL;
	return p->sites.n - 1;
}

static bool site_is_bad(const struct posterior *p, size_t site, size_t culprit)
{
	const uint64_t *ancestors = p->sites.items[site].ancestors;

	return ancestors && culprit < p->o.n && dag_has(ancestors, culprit);
}

/* The boot of this commit that a run belongs to; NULL: a new one. */
static struct unit *find_boot(struct posterior *p, size_t site, uint64_t boot)
{
	struct unit *u;

	array_for_each(u, &p->units.list)
		if (boot && u->boot == boot && u->site == site)
			return u;
	return NULL;
}

int posterior_add(struct posterior *p, size_t commit, double value, uint64_t boot, double time)
{
	bool stored = !isfinite(time);
	struct unit *u;
	size_t site, k;
	double off;

	if (!isfinite(value) || (commit >= p->o.n && commit != POSTERIOR_GOOD))
		return -EINVAL;
	site = site_of(p, commit);
	for (k = 0; k < p->o.n_causes; k++)
		if (site_is_bad(p, site, p->o.causes[k].commit))
			value -= p->o.causes[k].effect;
	if (!stored && isnan(p->begin))
		p->begin = time;
	u = find_boot(p, site, boot);
	if (u)
		levels_reset(&p->levels);
	else
		u = ARRAY_PUSH(&p->units.list);
	u->site = site;
	u->boot = boot;
	u->stored = stored;
	u->runs++;
	off = value - u->value;
	u->value += off / u->runs;
	u->squares += off * (value - u->value);
	u->time += ((stored ? 0 : time - p->begin) - u->time) / u->runs;
	p->is_computed = false;
	return 0;
}

void posterior_skip(struct posterior *p, size_t commit)
{
	if (commit < p->o.n)
		p->skipped[commit] = 1;
	p->is_grouped = false;
}

/* A class on the way to its split: which sites it tells bad, as a row of bits. */
struct row {
	size_t class, commit, size;
	uint64_t *bad;
	double prior;
};

static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->size < y->size ? -1 : x->size > y->size;
}

static bool is_subset(const struct row *a, const struct row *b, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (a->bad[i] & ~b->bad[i])
			return false;
	return true;
}

/* The sites of one side of row i that are not among those of row from. */
static struct split_part part_between(const struct posterior *p, const struct row *rows, size_t i,
				      size_t from, bool bad)
{
	size_t n = p->sites.n, k;
	struct split_part part = {
		.from = from,
		.sites = arena_alloc_array(p->arena, n + 1, sizeof(*part.sites)),
		.empty = bad ? !rows[i].size : rows[i].size == n,
	};

	for (k = 0; k < n; k++)
		if (dag_has(rows[i].bad, k) == bad &&
		    (from == SPLIT_NONE || dag_has(rows[from].bad, k) != bad))
			part.sites[part.n++] = k;
	return part;
}

/* Rows are sorted by size; what a product can be begun from is the nearest one that fits. */
static void link_splits(struct posterior *p, const struct row *rows, size_t words)
{
	size_t n = p->n_classes, i, k;

	for (i = 0; i < n; i++) {
		size_t below = SPLIT_NONE, above = SPLIT_NONE;

		for (k = i; k-- > 0 && below == SPLIT_NONE;)
			if (is_subset(&rows[k], &rows[i], words))
				below = k;
		for (k = i + 1; k < n && above == SPLIT_NONE; k++)
			if (is_subset(&rows[i], &rows[k], words))
				above = k;
		p->splits[i] = (struct split){
			.prior = rows[i].prior,
			.part[SIDE_BAD] = part_between(p, rows, i, below, true),
			.part[SIDE_GOOD] = part_between(p, rows, i, above, false),
		};
		p->split_of[rows[i].class] = i;
	}
}

static void make_splits(struct posterior *p)
{
	size_t n = p->n_classes, words = DAG_WORDS(p->sites.n), i, k;
	_cleanup_free_ struct row *rows = mem_zalloc(n * sizeof(*rows));
	_cleanup_free_ uint64_t *bits = mem_zalloc(n * words * sizeof(*bits));

	p->arena = arena_new();
	p->splits = arena_alloc_array(p->arena, n, sizeof(*p->splits));
	p->split_of = arena_alloc_array(p->arena, n, sizeof(*p->split_of));
	for (i = 0; i <= p->o.n; i++) {
		rows[p->class_of[i]].commit = i;
		rows[p->class_of[i]].prior += p->prior[i];
	}
	for (i = 0; i < n; i++) {
		rows[i].class = i;
		rows[i].bad = bits + i * words;
		for (k = 0; k < p->sites.n; k++)
			if (site_is_bad(p, k, rows[i].commit)) {
				rows[i].bad[k / 64] |= 1ull << k % 64;
				rows[i].size++;
			}
	}
	qsort(rows, n, sizeof(*rows), by_size);
	link_splits(p, rows, words);
}

static void compute(struct posterior *p)
{
	size_t i;

	if (p->is_computed)
		return;
	p->is_computed = true;
	memcpy(p->of, p->prior, (p->o.n + 1) * sizeof(*p->of));
	if (p->units.list.n) {
		if (!p->arena)
			make_splits(p);
		levels_compute(&p->levels, &p->units, p->splits, p->n_classes);
		for (i = 0; i <= p->o.n; i++) {
			const struct split *s = &p->splits[p->split_of[p->class_of[i]]];

			p->of[i] = s->prior > 0 ? s->posterior * p->prior[i] / s->prior : 0;
		}
	}
	dag_sum_ancestors(&p->dag, p->of, p->bad);
}

double posterior_of(struct posterior *p, size_t commit)
{
	compute(p);
	return p->of[commit];
}

double posterior_bad(struct posterior *p, size_t commit)
{
	compute(p);
	return commit == POSTERIOR_GOOD ? 0 : p->bad[commit];
}

double posterior_none(struct posterior *p)
{
	compute(p);
	return p->of[p->o.n];
}

struct ranked {
	double key;
	size_t commit;
};

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->commit < y->commit ? -1 : x->commit > y->commit;
}

/*
 * Culprits with the same descendants that can run give the same likelihood for ever. Sets of
 * descendants are told apart by sums of random numbers of 32 bits, exact in a double.
 */
static void make_groups(struct posterior *p)
{
	size_t n = p->o.n, i;
	_cleanup_free_ double *w = mem_realloc_array(NULL, n, sizeof(*w));
	_cleanup_free_ double *sums = mem_realloc_array(NULL, n, sizeof(*sums));
	_cleanup_free_ struct ranked *r = mem_realloc_array(NULL, n, sizeof(*r));
	uint64_t state = 1;

	if (p->is_grouped)
		return;
	p->is_grouped = true;
	for (i = 0; i < n; i++)
		w[i] = p->skipped[i] ? 0 : (double)(random_next(&state) >> 32);
	dag_sum_descendants(&p->dag, w, sums);
	for (i = 0; i < n; i++)
		r[i] = (struct ranked){ sums[i], i };
	qsort(r, n, sizeof(*r), by_key);
	for (i = 0; i < n; i++)
		p->group[r[i].commit] = i && r[i].key == r[i - 1].key ? p->group[r[i - 1].commit]
								       : r[i].commit;
}

/* Groups by their probability, the largest first; returns how many. first: the rest in any order. */
static size_t rank_groups(struct posterior *p, struct ranked *r, bool first)
{
	size_t n = p->o.n, used = 0, i;
	struct ranked top;

	for (i = 0; i < n; i++)
		r[i] = (struct ranked){ 0, i };
	for (i = 0; i < n; i++)
		r[p->group[i]].key += p->of[i];
	for (i = 0; i < n; i++)
		if (p->group[i] == i)
			r[used++] = r[i];
	if (!first)
		qsort(r, used, sizeof(*r), by_key);
	for (i = 1; i < used && first; i++)
		if (r[i].key > r->key) {
			top = r[i];
			r[i] = *r;
			*r = top;
		}
	return used;
}

double posterior_set(struct posterior *p, double level, size_t *commits, size_t *n)
{
	_cleanup_free_ struct ranked *r = mem_realloc_array(NULL, p->o.n, sizeof(*r));
	size_t groups, i, c;
	double sum = 0;

	compute(p);
	make_groups(p);
	groups = rank_groups(p, r, !(level > 0));
	*n = 0;
	for (i = 0; i < groups && (!i || sum < level); i++) {
		sum += r[i].key;
		for (c = r[i].commit; c < p->o.n; c++)
			if (p->group[c] == r[i].commit) {
				if (commits)
					commits[*n] = c;
				++*n;
			}
	}
	return sum;
}

struct posterior_effect posterior_effect(struct posterior *p, double level)
{
	const struct effect *e = &p->levels.effect;
	double half;

	compute(p);
	if (!p->units.list.n)
		return (struct posterior_effect){ NAN, NAN, NAN, NAN, NAN, NAN };
	half = e->se * qnorm((1 + level) / 2, 0, 1, 1, 0);
	return (struct posterior_effect){
		.effect = e->mean,
		.low = e->mean - half,
		.high = e->mean + half,
		.good = e->level[SIDE_GOOD],
		.bad = e->level[SIDE_BAD],
		.sigma = e->sigma,
	};
}

/* What a run would give under some culprits, and their probability together. */
struct guess {
	double w, mean, var, norm; /* norm: log of the density's top */
};

/* Information, in nats, of a value of which each guess has its own normal distribution. */
static double information(struct guess *g, size_t n)
{
	enum { POINTS = 48 };
	double low = INFINITY, high = -INFINITY, total = 0, info = 0;
	size_t i, k;

	for (i = 0; i < n; i++) {
		low = fmin(low, g[i].mean - 4 * sqrt(g[i].var));
		high = fmax(high, g[i].mean + 4 * sqrt(g[i].var));
		total += g[i].w;
		g[i].norm = -log(2 * M_PI * g[i].var) / 2;
	}
	for (k = 0; k < POINTS; k++) {
		double y = low + (high - low) * ((double)k + 0.5) / POINTS, mix = 0, self = 0;

		for (i = 0; i < n; i++) {
			double off = y - g[i].mean;
			double log_f = g[i].norm - off * off / (2 * g[i].var);
			double f = g[i].w / total * exp(log_f);

			mix += f;
			self += f * log_f;
		}
		info += mix > 0 ? self - mix * log(mix) : 0;
	}
	return info * (high - low) / POINTS;
}

/*
 * What one run of a commit is expected to tell of the culprit. A run of an end tells something as
 * long as the levels depend on who the culprit is.
 */
static double information_of(struct posterior *p, size_t commit)
{
	_cleanup_free_ struct guess *g = mem_zalloc(2 * p->n_classes * sizeof(*g));
	_cleanup_free_ uint64_t *ancestors = mem_zalloc(DAG_WORDS(p->o.n) * sizeof(*ancestors));
	size_t used = 0, i;

	if (commit != POSTERIOR_GOOD)
		dag_ancestors(&p->dag, commit, ancestors);
	for (i = 0; i <= p->o.n; i++) {
		bool bad = i < p->o.n && dag_has(ancestors, i);

		g[2 * p->split_of[p->class_of[i]] + bad].w += p->of[i];
	}
	for (i = 0; i < 2 * p->n_classes; i++) {
		const struct split *s = &p->splits[i / 2];

		if (g[i].w > 1e-4 && isfinite(s->mean[i % 2]))
			g[used++] = (struct guess){ g[i].w, s->mean[i % 2], s->var[i % 2], 0 };
	}
	return information(g, used);
}

static double cost_of(const struct posterior *p, size_t commit, const double *setup, double run)
{
	return run + (setup && commit < p->o.n ? setup[commit] / setup_shared : 0);
}

/*
 * The candidate that halves the posterior best for its cost: what tells most where the levels are
 * known, and within noise of it where they are not. False if none tells anything.
 */
static bool best_candidate(const struct posterior *p, const double *setup, double run,
			   size_t *commit)
{
	double best = 0, gain;
	size_t i;

	for (i = 0; i < p->o.n; i++) {
		gain = p->bad[i] * (1 - p->bad[i]);
		if (p->skipped[i] || gain < 1e-9)
			continue;
		gain /= cost_of(p, i, setup, run);
		if (gain > best) {
			best = gain;
			*commit = i;
		}
	}
	return best > 0;
}

static size_t count_runs(const struct posterior *p, size_t commit)
{
	const struct unit *u;
	size_t n = 0;

	array_for_each(u, &p->units.list)
		n += p->sites.items[u->site].commit == commit;
	return n;
}

/* The end that has run less, if it is the turn of one. */
static bool end_is_due(const struct posterior *p, size_t *commit)
{
	size_t last = p->o.n - 1, good = count_runs(p, POSTERIOR_GOOD);
	size_t bad = p->skipped[last] ? good : count_runs(p, last);

	if (MIN(good, bad) >= ENDS_FIRST && (good + bad) * p->o.end_every > p->units.list.n)
		return false;
	*commit = bad < good ? last : POSTERIOR_GOOD;
	return true;
}

bool posterior_next(struct posterior *p, const double *setup, double run, size_t *commit)
{
	size_t ends[N_SIDES] = { POSTERIOR_GOOD, p->o.n - 1 };
	bool any, asks_ends = !p->o.known && p->o.end_every;
	double gain, most;

	if (asks_ends && end_is_due(p, commit))
		return true;
	compute(p);
	any = best_candidate(p, setup, run, commit);
	if (!any || !asks_ends)
		return any;
	most = information_of(p, *commit) / cost_of(p, *commit, setup, run);
	for (int side = 0; side < N_SIDES; side++) {
		if (side == SIDE_BAD && p->skipped[ends[side]])
			continue;
		gain = end_worth * information_of(p, ends[side]) /
		       cost_of(p, ends[side], setup, run);
		if (gain > most) {
			most = gain;
			*commit = ends[side];
		}
	}
	return true;
}

/* (effect / sigma)^2; not taken for less than could be seen. */
static double effect_squared(const struct posterior *p)
{
	const struct effect *e = &p->levels.effect;

	if (p->o.known)
		return pow((p->o.bad - p->o.good) / p->o.sigma, 2);
	return fmax(e->mean * e->mean, e->se * e->se / 4) / (e->sigma * e->sigma);
}

double posterior_runs_to_go(struct posterior *p, double level)
{
	_cleanup_free_ struct ranked *r = mem_realloc_array(NULL, p->o.n, sizeof(*r));
	double entropy = 0;
	size_t groups, i;

	compute(p);
	make_groups(p);
	groups = rank_groups(p, r, false);
	for (i = 0; i < groups; i++)
		entropy -= r[i].key > 0 ? r[i].key * log2(r[i].key) : 0;
	if (r[0].key >= level)
		return 0;
	if (!p->units.list.n || !isfinite(effect_squared(p)))
		return NAN;
	/* over what a run tells of a commit that is bad or good with equal probability, in bits */
	return fmax(1, entropy / (1 - exp(-effect_squared(p) / (8 * M_LN2))));
}
