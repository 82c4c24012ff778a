// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/levels.h"

#include <math.h>
#include <string.h>

#include "stats/internal.h"

enum { N_SIGMA = 7, N_DRIFT = 5, N_LEVEL = 16, REFITS = 4 };
/* Log weights so far below the largest are nothing; before, and with, the prior of the effect. */
enum { NEGLIGIBLE = 50, NEGLECTED = 32 };
/* Half-widths of the grids, in standard deviations of what they hold. */
static const double reach_axis = 3, reach_level = 4.3;

/* A slice of the grid: one sigma and one drift. */
struct slice {
	double sigma, drift, log_prior;
	double middle[N_SIDES], step[N_SIDES]; /* of the levels, log */
};

/* What one split and slice say. */
struct cell {
	double log_weight, mean[N_SIDES], var[N_SIDES];
};

struct product {
	double v[N_LEVEL];
	double log; /* of what v was divided by */
	double sum; /* of v */
};

void levels_init(struct levels *l, const struct posterior_options *o)
{
	*l = (struct levels){ .o = o };
}

void levels_release(struct levels *l)
{
	mem_free_ptr(&l->slices);
	ARRAY_FREE(&l->table);
	ARRAY_FREE(&l->scale);
}

void levels_reset(struct levels *l)
{
	l->n_units = l->n_sites = 0;
	l->table.n = l->scale.n = 0;
}

static size_t n_slices(const struct levels *l)
{
	return l->n_sigmas * l->n_drifts;
}

static double grid_point(const struct axis *a, size_t i, size_t n)
{
	return n < 2 ? a->middle : a->middle + a->half * (2 * (double)i / (double)(n - 1) - 1);
}

/* Cauchy on the drift over the session in sigmas; log-normal on sigma. */
static double slice_prior(const struct levels *l, const struct slice *s)
{
	double off = (log(s->sigma) - log(l->o->sigma_guess)) / l->o->sigma_factor;
	double total = s->drift * l->span / s->sigma;

	if (l->o->known)
		return 0;
	return -off * off / 2 + (l->n_drifts > 1 ? -log1p(total * total) - log(s->sigma) : 0);
}

static struct slice make_slice(const struct levels *l, size_t i)
{
	struct slice s = {
		.sigma = exp(grid_point(&l->sigma, i / l->n_drifts, l->n_sigmas)),
		.drift = grid_point(&l->drift, i % l->n_drifts, l->n_drifts),
	};

	/* a level and the drift are known together, at the mean time of the runs */
	for (int side = 0; side < N_SIDES; side++) {
		s.middle[side] = l->level[side].middle - (s.drift - l->drift.middle) * l->mean_time;
		s.step[side] = s.sigma * l->level[side].half * 2 / (N_LEVEL - 1);
	}
	s.log_prior = slice_prior(l, &s);
	return s;
}

static double *table_at(struct levels *l, size_t site, size_t slice, int side)
{
	return l->table.items + ((site * n_slices(l) + slice) * N_SIDES + (size_t)side) * N_LEVEL;
}

static double *scale_at(struct levels *l, size_t site, size_t slice, int side)
{
	return l->scale.items + (site * n_slices(l) + slice) * N_SIDES + (size_t)side;
}

static void add_site(struct levels *l)
{
	size_t k;

	for (k = 0; k < n_slices(l) * N_SIDES; k++)
		*ARRAY_PUSH(&l->scale) = 0;
	for (k = 0; k < n_slices(l) * N_SIDES * N_LEVEL; k++)
		*ARRAY_PUSH(&l->table) = 1;
	l->n_sites++;
}

/*
 * Standard deviation of a unit: boots keep what runs of one boot do not have, so that the mean of
 * r runs has the variance sigma^2 - within (1 - 1/r).
 */
static double unit_sigma(const struct levels *l, const struct unit *u, double sigma)
{
	double kept = 1 - fmin(1, l->within / (sigma * sigma)) * (1 - 1 / u->runs);

	return sigma * sqrt(kept);
}

/*
 * exp(-a z^2) over that of the z nearest 0, which is number k of equidistant ones and itself `z`;
 * outwards from there by the ratio of neighbours, which changes by a constant factor.
 */
static void fill_bell(double v[N_LEVEL], double a, double z, double step, int k)
{
	double near = exp(-a * step * step), tilt = exp(2 * a * step * z), change = near * near;

	v[k] = 1;
	for (int way = -1; way <= 1; way += 2) {
		double ratio = way > 0 ? near * tilt : near / tilt;

		for (int i = k + way; i >= 0 && i < N_LEVEL; i += way) {
			v[i] = v[i - way] * ratio;
			ratio *= change;
		}
	}
}

/* Multiplies the likelihood of a unit into its site, and the most of it into the scale. */
static void add_unit_side(struct levels *l, const struct unit *u, size_t slice, int side)
{
	const struct slice *s = &l->slices[slice];
	double share = l->o->outliers, width = share > 0 ? l->o->width : 1;
	double wide = 0.5 / (width * width), narrow = 0.5 - wide, most = 0;
	double *v = table_at(l, u->site, slice, side), sigma = unit_sigma(l, u, s->sigma);
	double z = (u->value - s->drift * u->time - s->middle[side]) / sigma;
	double step = s->step[side] / sigma, mid = (N_LEVEL - 1) / 2.0;
	double outlier[N_LEVEL], other[N_LEVEL];
	int k = step > 0 ? (int)(fmin(fmax(z / step + mid, 0), N_LEVEL - 1) + 0.5) : 0, i;

	/* the wide bell of outliers, times what the narrow one of all others has over it */
	z -= step * (k - mid);
	fill_bell(outlier, wide, z, step, k);
	fill_bell(other, narrow, z, step, k);
	narrow = (1 - share) * exp(-narrow * z * z);
	for (i = 0; i < N_LEVEL; i++) {
		v[i] *= outlier[i] * (narrow * other[i] + (share > 0 ? share / width : 0));
		most = MAX(most, v[i]);
	}
	for (i = 0; i < N_LEVEL; i++)
		v[i] *= 1 / most;
	*scale_at(l, u->site, slice, side) += log(most / sigma) - wide * z * z;
}

static void add_unit(struct levels *l, const struct unit *u)
{
	while (l->n_sites <= u->site)
		add_site(l);
	for (size_t k = 0; k < n_slices(l); k++)
		for (int side = 0; side < N_SIDES; side++)
			add_unit_side(l, u, k, side);
}

/* What the runs say before any split is weighed: sums of deviations from the mean of each site. */
static void pool_sites(const struct units *u, double *squares, double *df)
{
	_cleanup_free_ double *sum = mem_zalloc(u->n_sites * sizeof(*sum));
	_cleanup_free_ double *n = mem_zalloc(u->n_sites * sizeof(*n));
	const struct unit *x;

	array_for_each(x, &u->list) {
		sum[x->site] += x->value;
		n[x->site]++;
	}
	*squares = 0;
	*df = (double)(u->list.n - u->n_sites);
	array_for_each(x, &u->list)
		*squares += pow(x->value - sum[x->site] / n[x->site], 2);
}

/* The first grid: wide, from the spread within sites and the first and last site's median. */
static void first_axes(struct levels *l, const struct units *u, const size_t end[N_SIDES])
{
	double squares, df, precision = 1 / (l->o->sigma_factor * l->o->sigma_factor), n;
	const struct unit *x;

	pool_sites(u, &squares, &df);
	l->sigma.middle = log(l->o->sigma_guess) * precision;
	if (df > 0 && squares > 0)
		l->sigma.middle += log(squares / df) * df;
	else
		df = 0;
	l->sigma.middle /= precision + 2 * df;
	l->sigma.half = reach_axis / sqrt(precision + 2 * df);
	l->drift = (struct axis){ 0, l->span > 0 ? 2 * exp(l->sigma.middle) / l->span : 1 };
	for (int side = 0; side < N_SIDES; side++) {
		l->level[side].middle = n = 0;
		array_for_each(x, &u->list)
			if (x->site == end[side] || end[side] == SPLIT_NONE) {
				l->level[side].middle += x->value;
				n++;
			}
		l->level[side].middle /= n;
		l->level[side].half = reach_level * 1.5 / sqrt(n);
	}
}

/* Sites of the likeliest ends: the first of the split that has most good and most bad sites. */
static void find_ends(const struct split *splits, size_t n, size_t end[N_SIDES])
{
	const struct split_part *good = &splits[n - 1].part[SIDE_GOOD];
	const struct split_part *bad = &splits[0].part[SIDE_BAD];

	end[SIDE_GOOD] = good->n ? good->sites[0] : SPLIT_NONE;
	end[SIDE_BAD] = SPLIT_NONE;
	for (size_t i = 0; i < n && !bad->n; i++)
		bad = &splits[i].part[SIDE_BAD];
	if (bad->n)
		end[SIDE_BAD] = bad->sites[0];
}

static void take_times(struct levels *l, const struct units *u)
{
	double low = INFINITY, high = -INFINITY, squares = 0, df = 0;
	const struct unit *x;

	l->mean_time = 0;
	array_for_each(x, &u->list) {
		l->mean_time += x->time / (double)u->list.n;
		squares += x->squares;
		df += x->runs - 1;
		if (!x->stored) {
			l->now = x->time;
			low = fmin(low, x->time);
			high = fmax(high, x->time);
		}
	}
	l->span = high > low ? high - low : 0;
	l->within = df > 0 ? squares / df : 0;
}

static void set_known(struct levels *l)
{
	l->n_sigmas = l->n_drifts = 1;
	l->sigma.middle = log(l->o->sigma);
	l->level[SIDE_GOOD].middle = l->o->good;
	l->level[SIDE_BAD].middle = l->o->bad;
}

static void prepare(struct levels *l, const struct units *u, const struct split *splits, size_t n)
{
	size_t end[N_SIDES], drifts;

	take_times(l, u);
	drifts = l->o->drift && !l->o->known && l->span > 0 ? N_DRIFT : 1;
	if (l->ready && drifts == l->n_drifts)
		return;
	levels_reset(l);
	l->ready = true;
	if (l->o->known) {
		set_known(l);
		return;
	}
	l->n_sigmas = N_SIGMA;
	l->n_drifts = drifts;
	find_ends(splits, n, end);
	first_axes(l, u, end);
}

/* In lanes, which do not wait for each other. */
static double sum_levels(const double v[N_LEVEL])
{
	enum { LANES = 4 };
	double lane[LANES] = { 0 };

	for (int i = 0; i < N_LEVEL; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] += v[i + k];
	return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

static void extend(struct levels *l, struct product *to, const struct product *from,
		   const struct split_part *part, size_t slice, int side)
{
	double sum;
	size_t i, k;

	if (from) {
		*to = *from;
	} else {
		to->log = 0;
		for (k = 0; k < N_LEVEL; k++)
			to->v[k] = 1;
	}
	for (i = 0; i < part->n; i++) {
		const double *v = table_at(l, part->sites[i], slice, side);

		for (k = 0; k < N_LEVEL; k++)
			to->v[k] *= v[k];
		to->log += *scale_at(l, part->sites[i], slice, side);
	}
	to->sum = sum = sum_levels(to->v);
	/* far from the limits of a double, which a product of many would reach */
	if (sum > 0 && sum < 1e-50) {
		for (k = 0; k < N_LEVEL; k++)
			to->v[k] /= sum;
		to->log += log(sum);
		to->sum = 1;
	}
}

/*
 * Prior of the difference of the levels, averaged over how well the difference is known: normal
 * bumps. Where no threshold is stated they lie around 0 with these multiples of sigma; small ones
 * among them, for a prior of large effects alone believes too early in them. Else they lie away
 * from 0, around multiples of half as much again as the threshold.
 */
static double log_effect_prior(const struct levels *l, double delta, double var, double sigma)
{
	static const double spreads[] = { 0.25, 0.5, 1, 2, 4, 8 };
	static const double middles[] = { 1.5, 3.75, 9.4, 23 };
	bool any = !(l->o->threshold > 0);
	size_t n = any ? ARRAY_SIZE(spreads) : ARRAY_SIZE(middles), i;
	double sum = 0;

	for (i = 0; i < n; i++) {
		double at = any ? 0 : middles[i] * l->o->threshold;
		double sd = any ? spreads[i] * sigma : at / 4, v = sd * sd + var, half = 0.5 / v;
		double plus = exp(-(delta - at) * (delta - at) * half), minus = plus;

		if (!any) {
			minus = l->o->sign <= 0 ? exp(-(delta + at) * (delta + at) * half) : 0;
			plus *= l->o->sign >= 0;
		}
		sum += (plus + minus) / sqrt(v);
	}
	/* never quite 0: a culprit remains to be found where the threshold was stated too large */
	return log(sum / ((!any && l->o->sign ? 1 : 2) * sqrt(2 * M_PI) * (double)n) + 1e-12);
}

/* Mean and variance of a level. */
static void take_moments(const struct product *p, const struct slice *s, int side, struct cell *c)
{
	double first[N_LEVEL], second[N_LEVEL], mean, square;

	for (int i = 0; i < N_LEVEL; i++) {
		double x = i - (N_LEVEL - 1) / 2.0;

		first[i] = p->v[i] * x;
		second[i] = first[i] * x;
	}
	mean = sum_levels(first) / p->sum;
	square = sum_levels(second) / p->sum;
	c->mean[side] = s->middle[side] + s->step[side] * mean;
	c->var[side] = s->step[side] * s->step[side] * (square - mean * mean);
}

/* Most splits are negligible, and cost one logarithm. */
static void weigh(struct levels *l, struct product *const p[N_SIDES], size_t i,
		  const struct split *split, const struct slice *s, struct cell *c)
{
	double integral = split->prior;
	int side;

	c->log_weight = s->log_prior;
	for (side = 0; side < N_SIDES; side++) {
		c->mean[side] = c->var[side] = NAN;
		if (split->part[side].empty)
			continue;
		integral *= p[side][i].sum * (s->step[side] > 0 ? s->step[side] : 1.0 / N_LEVEL);
		c->log_weight += p[side][i].log;
	}
	c->log_weight += log(integral);
	l->most = MAX(l->most, c->log_weight);
	if (!(c->log_weight >= l->most - NEGLIGIBLE)) {
		c->log_weight = -INFINITY;
		return;
	}
	for (side = 0; side < N_SIDES; side++)
		if (!split->part[side].empty)
			take_moments(&p[side][i], s, side, c);
	if (!l->o->known && !split->part[SIDE_GOOD].empty && !split->part[SIDE_BAD].empty)
		c->log_weight += log_effect_prior(l, c->mean[SIDE_BAD] - c->mean[SIDE_GOOD],
						  c->var[SIDE_BAD] + c->var[SIDE_GOOD], s->sigma);
}

static void compute_slice(struct levels *l, const struct split *splits, size_t n, size_t slice,
			  struct product *const p[N_SIDES], struct cell *cells)
{
	const struct slice *s = &l->slices[slice];
	size_t k, i;

	for (int side = 0; side < N_SIDES; side++)
		for (k = 0; k < n; k++) {
			const struct split_part *part;
			const struct product *from;

			i = side == SIDE_BAD ? k : n - 1 - k;
			part = &splits[i].part[side];
			from = part->from == SPLIT_NONE ? NULL : &p[side][part->from];
			extend(l, &p[side][i], from, part, slice, side);
		}
	for (i = 0; i < n; i++)
		weigh(l, p, i, &splits[i], s, &cells[i]);
}

/* Weighted moments of a parameter. */
struct spread {
	double w, first, second;
};

static void spread_add(struct spread *m, double w, double x, double var)
{
	if (!(w > 0) || isnan(x))
		return;
	m->w += w;
	m->first += w * x;
	m->second += w * (x * x + var);
}

static double spread_mean(const struct spread *m)
{
	return m->first / m->w;
}

static double spread_sd(const struct spread *m)
{
	return sqrt(fmax(0, m->second / m->w - pow(m->first / m->w, 2)));
}

struct belief {
	struct spread sigma, drift, level[N_SIDES], off[N_SIDES], effect;
};

static void gather(const struct levels *l, struct split *splits, size_t n, const struct cell *cells,
		   struct belief *b)
{
	_cleanup_free_ struct spread *now = mem_zalloc(n * N_SIDES * sizeof(*now));
	double most = -INFINITY, total = 0;
	size_t i, k;

	*b = (struct belief){ 0 };
	for (i = 0; i < n * n_slices(l); i++)
		most = MAX(most, cells[i].log_weight);
	for (i = 0; i < n; i++)
		splits[i].posterior = 0;
	for (k = 0; k < n_slices(l); k++) {
		const struct slice *s = &l->slices[k];
		double per_sigma = 1 / s->sigma;

		for (i = 0; i < n; i++) {
			const struct cell *c = &cells[k * n + i];
			double w;

			if (!(c->log_weight > most - NEGLECTED))
				continue;
			w = exp(c->log_weight - most);
			splits[i].posterior += w;
			total += w;
			spread_add(&b->sigma, w, log(s->sigma), 0);
			spread_add(&b->drift, w, s->drift, 0);
			for (int side = 0; side < N_SIDES; side++) {
				spread_add(&now[i * N_SIDES + (size_t)side], w,
					   c->mean[side] + s->drift * l->now,
					   c->var[side] + s->sigma * s->sigma);
				spread_add(&b->level[side], w, c->mean[side], c->var[side]);
				spread_add(&b->off[side], w,
					   (c->mean[side] - s->middle[side]) * per_sigma,
					   c->var[side] * per_sigma * per_sigma);
			}
			spread_add(&b->effect, w, c->mean[SIDE_BAD] - c->mean[SIDE_GOOD],
				   c->var[SIDE_BAD] + c->var[SIDE_GOOD]);
		}
	}
	for (i = 0; i < n; i++) {
		splits[i].posterior /= total;
		for (int side = 0; side < N_SIDES; side++) {
			const struct spread *m = &now[i * N_SIDES + (size_t)side];

			splits[i].mean[side] = spread_mean(m);
			splits[i].var[side] = pow(spread_sd(m), 2);
		}
	}
}

/* Puts a grid where its parameter is, if it is not there already. */
static bool refit_axis(struct axis *a, double mean, double sd, double reach)
{
	double had = a->half / reach;

	if (!isfinite(mean) || !(sd > 0))
		return false;
	if (fabs(mean - a->middle) < 0.6 * had && sd > 0.6 * had && sd < 1.2 * had)
		return false;
	/* a grid too narrow or beside what it should hold sees little of it */
	if (fabs(mean - a->middle) > 2 * had || sd > 1.2 * had)
		sd = 1.5 * fmax(sd, had);
	*a = (struct axis){ mean, reach * sd };
	return true;
}

static bool refit(struct levels *l, const struct belief *b)
{
	bool moved;

	if (l->o->known)
		return false;
	moved = refit_axis(&l->sigma, spread_mean(&b->sigma), spread_sd(&b->sigma), reach_axis);
	if (l->n_drifts > 1)
		moved |= refit_axis(&l->drift, spread_mean(&b->drift), spread_sd(&b->drift),
				    reach_axis);
	for (int side = 0; side < N_SIDES; side++) {
		struct axis off = { 0, l->level[side].half };

		if (!refit_axis(&off, spread_mean(&b->off[side]), spread_sd(&b->off[side]),
				reach_level))
			continue;
		moved = true;
		l->level[side].middle += off.middle * exp(l->sigma.middle);
		l->level[side].half = off.half;
	}
	return moved;
}

static void take_effect(struct levels *l, const struct belief *b)
{
	l->effect = (struct effect){
		.mean = spread_mean(&b->effect),
		.se = spread_sd(&b->effect),
		.level[SIDE_GOOD] = spread_mean(&b->level[SIDE_GOOD]),
		.level[SIDE_BAD] = spread_mean(&b->level[SIDE_BAD]),
		.sigma = exp(spread_mean(&b->sigma)),
	};
}

void levels_compute(struct levels *l, const struct units *u, struct split *splits, size_t n)
{
	_cleanup_free_ struct product *good = mem_realloc_array(NULL, n, sizeof(*good));
	_cleanup_free_ struct product *bad = mem_realloc_array(NULL, n, sizeof(*bad));
	_cleanup_free_ struct cell *cells = NULL;
	struct product *const p[N_SIDES] = { good, bad };
	struct belief b;

	prepare(l, u, splits, n);
	cells = mem_realloc_array(NULL, n * n_slices(l), sizeof(*cells));
	l->slices = mem_realloc_array(l->slices, n_slices(l), sizeof(*l->slices));
	for (int pass = 0; pass < REFITS; pass++) {
		for (size_t k = 0; k < n_slices(l); k++)
			l->slices[k] = make_slice(l, k);
		l->most = -INFINITY;
		for (; l->n_units < u->list.n; l->n_units++)
			add_unit(l, &u->list.items[l->n_units]);
		for (size_t k = 0; k < n_slices(l); k++)
			compute_slice(l, splits, n, k, p, cells + k * n);
		gather(l, splits, n, cells, &b);
		if (!refit(l, &b))
			break;
		levels_reset(l);
	}
	take_effect(l, &b);
}
