/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which commit changed a metric, from noisy runs: the probability of every commit of a range, and
 * the commit whose run would tell most. Values are logs, so that effects are log ratios. A commit
 * is bad if it is the culprit or descends from it; that nothing in the range is the culprit (both
 * ends at one level) is a hypothesis of its own. Nothing is read or kept outside the object.
 *
 * The likelihood is a contaminated normal around two levels. The levels, the spread and a drift
 * linear in time are integrated out on a grid, so that nothing is taken for known that is not
 * (STATISTICS.md section 9). The unit is the boot: several runs of one boot count as their mean,
 * with the variance that boots keep.
 */
#ifndef STATS_POSTERIOR_H
#define STATS_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In place of a commit: the good end, which has none of the candidates in it. */
#define POSTERIOR_GOOD SIZE_MAX

/* A culprit known already: its effect is taken off every run that has it. */
struct posterior_cause {
	size_t commit;
	double effect; /* log ratio */
};

struct posterior_options {
	/* Candidates, as of `git rev-list good..bad`, parents first; the last is the bad end. */
	size_t n;
	/*
	 * Parents among the candidates: of commit i, parents[first[i]] up to, and without,
	 * parents[first[i + 1]]. NULL, both: each commit is the parent of the next.
	 */
	const size_t *first, *parents;
	const double *prior; /* n weights, not negative; NULL: equal */
	double none;	     /* prior probability that no candidate is the culprit */

	/* Levels (logs) and spread known: no ends are run and nothing is integrated. */
	bool known;
	double good, bad, sigma;

	double outliers, width; /* share of runs that are outliers; their spread in sigmas */
	/* What the spread of a run is like before any run, and the log of what it may be off by. */
	double sigma_guess, sigma_factor;
	/*
	 * The least effect, |log ratio|, that is looked for; 0: any, and then no number of runs that
	 * anybody makes tells that there is no culprit rather than one of a small effect.
	 */
	double threshold;
	int sign;	  /* of an effect beyond the threshold, where known: 1 or -1; 0: unknown */
	bool drift;	  /* the machine drifts, linear in time */
	/* One run in so many is of an end, even where others tell more; 0: none is asked for. */
	unsigned end_every;
	const struct posterior_cause *causes;
	size_t n_causes;
};

/* The shipped default: all terms on. */
#define POSTERIOR_DEFAULTS                                                                         \
	.none = 0.15, .outliers = 0.05, .width = 10, .sigma_guess = 0.01, .sigma_factor = 1.5,     \
	.drift = true, .end_every = 20

struct posterior;

/* Everything is copied. NULL if the options make no sense: no candidates, parents not before. */
struct posterior *posterior_new(const struct posterior_options *o);
void posterior_free(struct posterior **p);
#define _cleanup_posterior_ _cleanup_(posterior_free)

/*
 * A run: of a candidate or of POSTERIOR_GOOD, the log of its value, its boot (0: a boot of its own;
 * equal numbers with one commit are one boot) and its time in any unit, or NAN for a stored run of
 * another day, which no drift of this session touches. -EINVAL, and nothing added, for a value
 * that is not finite or a commit that is no candidate.
 */
int posterior_add(struct posterior *p, size_t commit, double value, uint64_t boot, double time);

/* This candidate cannot be built or booted: it is never chosen again. */
void posterior_skip(struct posterior *p, size_t commit);

/* What is believed now; computed when asked for after a change. */
double posterior_of(struct posterior *p, size_t commit);  /* the commit is the culprit */
double posterior_bad(struct posterior *p, size_t commit); /* the commit is bad */
double posterior_none(struct posterior *p);		  /* no candidate is the culprit */

/*
 * The smallest set of candidates that holds `level`, most probable first, written to commits (room
 * for all n, or NULL); all candidates if they do not hold it together. Candidates that no run can
 * separate because of skips come in or stay out together; level 0 gives the most probable of these
 * groups, which is a single commit where nothing was skipped. Sets *n and returns its probability.
 */
double posterior_set(struct posterior *p, double level, size_t *commits, size_t *n);

struct posterior_effect {
	double effect, low, high; /* bad over good, log ratio, and its interval */
	double good, bad;	  /* levels, log */
	double sigma;		  /* spread of one boot, log */
};
/* Provided that there is a culprit. NAN before both ends have run. */
struct posterior_effect posterior_effect(struct posterior *p, double level);

/*
 * The commit to run next, or POSTERIOR_GOOD: the largest expected information about the culprit
 * per cost. Ends come first, and again whenever their levels are what is to be known, about every
 * fifth run. setup[i]: what it costs to have candidate i ready, beyond a boot and a run (its build;
 * 0 once built); NULL: nothing. run: what a boot and a run cost, in the same unit. False if no run
 * can tell more: what is left cannot be separated.
 */
bool posterior_next(struct posterior *p, const double *setup, double run, size_t *commit);

/*
 * Runs that are expected until one group holds `level`; a rough figure for people. NAN before both
 * ends have run.
 */
double posterior_runs_to_go(struct posterior *p, double level);

#endif
