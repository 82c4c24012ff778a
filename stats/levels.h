/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the posterior that knows values: evidence for each way of splitting the sites that
 * have run into good and bad ones, with good level, bad level, spread and drift integrated out on a
 * grid that follows their posterior. Only stats/posterior.c includes it.
 */
#ifndef STATS_LEVELS_H
#define STATS_LEVELS_H

#include "core/mem.h"
#include "stats/posterior.h"

enum side { SIDE_GOOD, SIDE_BAD, N_SIDES };

/* One boot: the mean of its runs. A site is a commit that has run, numbered from 0. */
struct unit {
	size_t site;
	uint64_t boot;
	double value;	/* log, effects of known causes taken off */
	double time;	/* since the session began; 0 and stored for runs of another day */
	bool stored;
	double runs;	/* averaged in value */
	double squares; /* of their deviations from it */
};
struct units {
	ARRAY_OF(struct unit) list;
	size_t n_sites;
};

/*
 * Sites of one side that a split has more than another one, from which its product of likelihoods
 * is begun; from: SPLIT_NONE for a product begun with nothing.
 */
#define SPLIT_NONE SIZE_MAX
struct split_part {
	size_t from, n;
	size_t *sites;
	bool empty; /* the side has no site at all */
};
/* Sorted by bad sites: SIDE_BAD is begun from an earlier split, SIDE_GOOD from a later one. */
struct split {
	struct split_part part[N_SIDES];
	double prior;
	/* Computed: its posterior, and what a run of each side is expected to give now. */
	double posterior, mean[N_SIDES], var[N_SIDES];
};

/* What is known of the levels if there is a culprit; logs, NAN what no run has told of. */
struct effect {
	double mean, se; /* of bad over good */
	double level[N_SIDES], sigma;
};

/* Where a parameter lies: the middle and half-width of its grid. */
struct axis {
	double middle, half;
};

struct levels {
	const struct posterior_options *o;
	struct axis sigma, drift, level[N_SIDES]; /* log sigma; a time unit; sigmas from middle */
	size_t n_sigmas, n_drifts;
	struct slice *slices; /* each sigma with each drift */
	double most;	      /* the largest log weight so far */
	double mean_time, now, span, within; /* within: variance of runs of one boot */
	/* Likelihood over its most, by site, slice, side and level; log of that most. */
	ARRAY_OF(double) table;
	ARRAY_OF(double) scale;
	size_t n_units, n_sites; /* that table holds */
	bool ready;
	struct effect effect;
};

/* o stays the caller's and must outlive l. */
void levels_init(struct levels *l, const struct posterior_options *o);
void levels_release(struct levels *l);

/* Forget the table: a unit already counted has changed. */
void levels_reset(struct levels *l);

/* Fills split->posterior of every split, their sum 1, and l->effect. Needs a unit and a split. */
void levels_compute(struct levels *l, const struct units *u, struct split *splits, size_t n);

#endif
