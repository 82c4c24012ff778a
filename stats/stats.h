/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in, numbers out. No I/O, no state, no allocation that outlives a call. Distribution
 * functions come from libRmath (standalone R mathlib); ranks, intervals and corrections are ours.
 * Where a quantity cannot be computed the result is NAN and, if it matters, -EDOM.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Arithmetic mean; NAN for n = 0. */
double stats_amean(const double *x, size_t n);
/* Harmonic mean; NAN for n = 0 or if any value is zero or negative. */
double stats_hmean(const double *x, size_t n);
/* Geometric mean; NAN for n = 0 or if any value is zero or negative. */
double stats_gmean(const double *x, size_t n);
double stats_median(const double *x, size_t n);
/* Sample standard deviation (n - 1); NAN for n < 2. */
double stats_stddev(const double *x, size_t n);

enum mean_kind { MEAN_AMEAN, MEAN_HMEAN, MEAN_GMEAN, MEAN_MEDIAN };
double stats_mean(enum mean_kind kind, const double *x, size_t n);
/* "Amean", "Hmean", "Gmean", "Median" */
const char *mean_kind_name(enum mean_kind kind);
/* Returns false for an unknown name (case is ignored). */
bool mean_kind_parse(const char *name, enum mean_kind *kind);

/*
 * A prior that the values' own variance exceeds with this probability (F-test) is put aside: an
 * outlier among three values would else be taken for a change.
 */
#define STATS_PRIOR_REFUTED 0.001

enum {
	/* Units a side from which the rank test is made; fewer are never tested without a prior. */
	STATS_TEST_MIN = 5,
	/* Units a side below which a prior decides; from here on ranks are as good. */
	STATS_PRIOR_BELOW = 10,
	/* Degrees of freedom of a history, or rows of a family: fewer make no prior. */
	STATS_PRIOR_MIN = 10,
};

/*
 * Exact two-sided Mann-Whitney p-value of x (nx values) against y (ny): wilcox.test(exact = TRUE)
 * of R without ties, the exact permutation distribution of the mid-rank sum with ties (as
 * wilcox.exact of exactRankTests); above 50 in the larger sample the normal approximation with
 * tie and continuity correction (as wilcox.test). NAN if either is empty or a value not finite.
 */
double stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny);

struct interval {
	double low, high; /* -INFINITY / INFINITY where n is too small for the level */
	double level;	  /* level asked for, e.g. 0.95 */
	/*
	 * Coverage reached: at least level where exact, level itself where approximate. With
	 * infinite bounds the most that a finite interval could reach, e.g. 0.9 for 3 v 3.
	 */
	double achieved;
	double estimate; /* Hodges-Lehmann shift, the mean or the share */
};

/*
 * Hodges-Lehmann shift of y against x (median of the differences y_j - x_i) and its confidence
 * interval by inverting the exact rank test (wilcox.test(y, x, conf.int=TRUE) of R without ties;
 * with ties the permutation distribution of the given data, as wilcox.exact of exactRankTests).
 * Above 50 in the larger sample shift and interval are the roots that wilcox.test(exact = FALSE,
 * tol.root = 1e-12) finds. On log values the caller gets log ratios. NAN if either sample is
 * empty, a value or difference not finite, or level not within (0, 1).
 */
struct interval stats_hodges_lehmann(const double *x, size_t nx, const double *y, size_t ny,
				     double level);

/*
 * Null distributions of the exact rank test, for the caller to keep over many tests: one for each
 * pair of sizes without ties, and the last one with ties. stats_nulls_free sets *nulls to NULL.
 */
struct stats_nulls;
struct stats_nulls *stats_nulls_new(void);
void stats_nulls_free(struct stats_nulls **nulls);
#define _cleanup_nulls_ _cleanup_(stats_nulls_free)

/* Both of the above at once, at the price of one; nulls NULL: nothing is kept. */
void stats_rank_test(const double *x, size_t nx, const double *y, size_t ny, double level,
		     struct stats_nulls *nulls, double *p, struct interval *shift);

/* Welch's t-test, two-sided p (t.test); NAN if a side has fewer than 2 values, or no spread. */
double stats_welch(const double *x, size_t nx, const double *y, size_t ny);

/*
 * Fisher's exact test, two-sided p (fisher.test of R): x events in nx runs against y in ny. NAN
 * where a side has no run or a count is none of it.
 */
double stats_fisher(int x, int nx, int y, int ny);

/*
 * Benjamini-Hochberg adjusted p-values (p.adjust(method = "BH")); NAN entries are left out of the
 * family and stay NAN. p and adjusted may be the same array.
 */
void stats_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* Prediction interval (level, e.g. 0.95) of one further value, normal theory; NAN for n < 2. */
struct interval stats_prediction(const double *x, size_t n, double level);

/*
 * Clopper-Pearson interval of a share of k in n trials (binom.test); either may be a fraction,
 * where dependent trials are worth fewer. NAN where there is none.
 */
struct interval stats_binomial(double k, double n, double level);

/*
 * Values per side needed so that the half-width z * s * sqrt(2/n) of the 95 % interval is at most
 * max(threshold, |change|) / 2; s = standard deviation of log values pooled over both sides.
 * At least STATS_TEST_MIN; 0 if s is unknown (NAN), 51 for "more than 50".
 */
int stats_runs_to_settle(double s, double change, double threshold);

/*
 * Smallest relative change detectable with n values a side at the given power (0.8) and two-sided
 * level alpha (0.05): (z(1 - alpha/2) + z(power)) * s * sqrt(2/n), normal quantiles, s as above.
 * It does not ask whether n values are tested at all. NAN if it cannot be computed.
 */
double stats_detectable(double s, size_t n, double power, double alpha);
/*
 * The same solved for n: values a side needed to detect `change` (a fraction, either sign). At
 * least STATS_TEST_MIN, at most INT_MAX (also for change 0); 0 if it cannot be computed.
 */
int stats_runs_to_detect(double s, double change, double power, double alpha);
/* And solved for s: the largest deviation at which n values a side still show `change`; NAN. */
double stats_spread_to_detect(double change, size_t n, double power, double alpha);

/* An estimate of the variance of one value, on the log scale or in the metric's unit squared. */
struct stats_variance {
	double value;
	double df; /* degrees of freedom it is worth; 0: nothing is known */
};

struct stats_group {
	const double *x;
	size_t n;
};

/*
 * Pooled variance of values about the mean of their group. Nothing is known (df 0) where no group
 * has two values, a value is not finite, or on the log scale one is not positive.
 */
struct stats_variance stats_pooled_variance(const struct stats_group *g, size_t n, bool on_log);

/* What is known of a row's variance beforehand, on either scale. */
struct stats_prior {
	struct stats_variance log, raw;
};

/*
 * A prior for the variance of a metric from older values of one machine, grouped by campaign and
 * variant so that old changes do not count: max(pooled deviation, MAD)^2, worth sum(n_i - 1)
 * degrees of freedom; unknown below STATS_PRIOR_MIN of them.
 */
struct stats_variance stats_prior_of_history(const struct stats_group *g, size_t n, bool on_log);
/*
 * The prior of a family of rows from their own variances (unknown ones are left out), as fitFDist()
 * of limma; worth no more than all rows together. Unknown below STATS_PRIOR_MIN rows, or where
 * half of them have no spread.
 */
struct stats_variance stats_prior_of_family(const struct stats_variance *rows, size_t n);

/* Spread of values in groups (boots): within a group and between their means. */
struct stats_components {
	double within, between;	      /* variances; NAN where they cannot be computed */
	double within_df, between_df; /* of the two mean squares */
};
/*
 * One-way analysis of variance with groups of unequal size (method of moments, as in Searle,
 * Casella and McCulloch, "Variance Components", chapter 3). `between` may come out negative: pool
 * it first, then take 0. NAN below two groups, or where none has two values.
 */
struct stats_components stats_variance_components(const struct stats_group *g, size_t n);

/*
 * Runs per boot that give a mean of the least variance for the time spent:
 * sqrt((boot cost / run cost) * (run variance / boot variance)), rounded up; costs in seconds, a
 * boot's without its runs. 1 to STATS_RUNS_MAX (also where boots add nothing); 0 if it cannot be
 * computed.
 */
enum { STATS_RUNS_MAX = 10 };
int stats_runs_per_boot(double boot_cost, double run_cost, double run_variance,
			double boot_variance);

/* The same kernel measured under two names: the change seen, n units on the smaller side. */
struct stats_arm_pair {
	double change; /* a fraction, either sign; NAN: not known, left out */
	size_t n;
};
/*
 * Noise floor of a metric for one unit a side: 95th percentile (quantile(type = 7) of R) of
 * |change| sqrt(n) over pairs of arms; divide by sqrt(n) for n units. NAN below STATS_ARMS_MIN.
 */
enum { STATS_ARMS_MIN = 10 };
double stats_noise_floor(const struct stats_arm_pair *pairs, size_t n);

/* Theil-Sen slope of x over t, and the two-sided p of Kendall's S (Mann-Kendall, ties on both
 * sides, normal approximation with continuity correction). NAN for n < 3 or values not finite. */
struct stats_trend {
	double slope, p;
};
struct stats_trend stats_trend(const double *t, const double *x, size_t n);

/*
 * What the rates x at times t (seconds) inside one run look like, for warnings only. Trends are 0
 * unless they are both large (5 % of the median) and significant (p < 0.001).
 */
#define STATS_STALL 0.5
struct stats_shape {
	size_t n, stalls; /* values; those below STATS_STALL of the median */
	double lowest;	  /* smallest value / median; NAN below 12 values */
	double warm_up;	  /* median of the first quarter / median of the second half - 1 */
	double drift;	  /* Theil-Sen slope after the first quarter, over its length / median */
};
struct stats_shape stats_series_shape(const double *t, const double *x, size_t n);

/*
 * Exact two-sided p of the sum of n differences within blocks when the two values of any block may
 * be exchanged. NAN outside STATS_BLOCKS_MIN..MAX: below, p cannot be small; above, it takes long.
 */
enum { STATS_BLOCKS_MIN = 8, STATS_BLOCKS_MAX = 20 };
double stats_block_permutation(const double *d, size_t n);

enum direction { DIR_HIGHER, DIR_LOWER, DIR_NEUTRAL, DIR_DEPENDS, DIR_UNKNOWN };
const char *direction_name(enum direction d); /* "higher", ... */
bool direction_parse(const char *name, enum direction *d);

enum verdict {
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_SAME,
	VERDICT_UNSURE,
	VERDICT_CHANGED,
	VERDICT_MISSING,
	VERDICT_FAILED,
	VERDICT_MIXED,
	VERDICT_INCOMPLETE,
};
const char *verdict_name(enum verdict v);

/*
 * Everything one row of a comparison needs, in the two questions of the design (real? large?).
 * On the log scale change, shift, low and high are ratios - 1. On the raw scale, taken when a value
 * is zero or negative, they are differences in the metric's unit.
 */
struct test_result {
	const char *test; /* "mw", "sr" (of pairs), "modt", "welch" (of summaries), "det", "none" */
	double change;	  /* of the means, new against base; NAN if a mean is not defined */
	double shift;	  /* Hodges-Lehmann, of summaries the change; NAN if a side is empty */
	double low, high; /* of the shift, of a t-test of the mean; NAN where nothing is tested */
	double level;
	double p;	   /* NAN: not tested */
	double p_adjusted; /* p of a family of one, until the caller corrects it */
	double welch_p;	   /* cross-checks on the same scale; NAN; of pairs Student's t of them */
	double rank_p;	   /* exact Mann-Whitney or signed ranks, whatever decides */
	double pooled_sd;  /* of log values; NAN if not computable */
	double scale; /* a threshold of 1 % is 0.01 of this: 1, on the raw scale |Amean(base)| */
	bool on_log;  /* false: raw scale */
	bool real;    /* of "det", which has no p */
	struct stats_variance prior; /* of a moderated test; df 0: put aside, or another test */
};

/*
 * At each of three looks (5, 10, 20 units a side): the two-sided level of the Pocock constant 2.308
 * and the interval that belongs to it; 4.5 to 5 % false alarms over all of them.
 */
#define STATS_LOOKS_Q	  0.021
#define STATS_LOOKS_LEVEL 0.979

enum stats_method {
	STATS_NONE,
	STATS_RANKS,
	STATS_MODERATED,
	STATS_WELCH,
	STATS_SIGNED_RANKS,
};

/*
 * How n units on the smaller side are tested; prior unknown: none. Never asks the data.
 * From STATS_PRIOR_BELOW on ranks; below a moderated t-test with a prior (from 2 units on), without
 * one ranks from STATS_TEST_MIN on and nothing below.
 */
enum stats_method stats_choose(size_t n, const struct stats_variance *prior);

/*
 * Test of y (new) against x (base) as stats_choose() says, none where a value is not finite; on
 * log values unless one is zero or negative. prior NULL: none. Ranks stand in (or nothing) where
 * neither values nor prior have any spread. nulls as for stats_rank_test().
 */
struct test_result stats_test(enum mean_kind kind, const double *x, size_t nx, const double *y,
			      size_t ny, const struct stats_prior *prior, double level,
			      struct stats_nulls *nulls);

/*
 * Exact two-sided p of Wilcoxon's signed ranks of n differences against 0, and the Hodges-Lehmann
 * estimate (median of the Walsh averages) with its interval: wilcox.test(exact = TRUE, conf.int =
 * TRUE) of R. Zeros are left out of the p, and equal absolute values have mid-ranks, with the exact
 * distribution of the ranks given (as wilcox.exact of exactRankTests); the interval is that of
 * untied values over all of them, which with ties covers at least as often as it says. Above 200
 * pairs the normal approximation. NAN for n = 0 or where a value is not finite.
 */
void stats_signed_rank(const double *d, size_t n, double level, double *p, struct interval *shift);

/* Pairs from which signed ranks are tested without a prior: five cannot go below p = 0.06. */
enum { STATS_PAIRS_MIN = 6 };
/* How n pairs are tested; the rule of stats_choose() with signed ranks from STATS_PAIRS_MIN on. */
enum stats_method stats_choose_paired(size_t n, const struct stats_variance *prior);

/*
 * Test of y[i] (new) against x[i] (base), measured one right after the other, n pairs: of the log
 * ratios, or of the differences where a value is zero or negative. prior: of the variance of one
 * log ratio; NULL: none. pooled_sd is that of the log ratios over sqrt(2), so that the numbers of
 * runs needed hold for pairs.
 */
struct test_result stats_test_paired(enum mean_kind kind, const double *x, const double *y,
				     size_t n, const struct stats_variance *prior, double level);

/*
 * Lag-1 autocorrelation of values in their order, and the p that independent ones show one so large
 * (one-sided, normal approximation: mean -1/n, variance (n-2)^2 / (n^2 (n-1))). NAN below 8 values
 * or without spread.
 */
struct stats_lag {
	double r, p;
};
struct stats_lag stats_lag1(const double *x, size_t n);

struct stats_summary {
	double mean, stddev; /* NAN: not stated */
	size_t n;	     /* 0: not stated */
};
/*
 * The same where only means, sample deviations and n are known: Welch's t-test stands for ranks.
 * None where a side does not state them.
 */
struct test_result stats_test_summaries(const struct stats_summary *x,
					const struct stats_summary *y,
					const struct stats_prior *prior, double level);
/*
 * Metrics that repeat exactly under one seed: x[i] (base) and y[i] (new) share a seed, n of them.
 * floor: largest relative difference without a change; threshold as for stats_verdict(). From
 * STATS_SEEDS_MIN seeds on real if all differences have one sign and |median| > floor, below that
 * only if |median| > max(threshold, 3 floor). shift is the median of the differences; low and high
 * are the smallest and the largest, NAN for fewer seeds (unless all are equal).
 */
enum { STATS_SEEDS_MIN = 4 };
#define STATS_SEED_FLOOR 0.002 /* where no pair of arms showed one */
/*
 * What a median of n differences by seed does where nothing changed: twice its standard error,
 * 2 * 1.2533 * sd / sqrt(n), as a share. A kernel built differently is scheduled differently under
 * the same seed; where that makes pairs differ at random, this says by how much.
 */
double stats_seed_noise(const double *x, const double *y, size_t n);
struct test_result stats_test_seeds(enum mean_kind kind, const double *x, const double *y, size_t n,
				    double floor, double threshold, double level);
/* The result where nothing is tested. */
struct test_result stats_untested(double level);
/* The change (or where it decides the shift, see stats_verdict()) that says "large". */
double stats_deciding_change(const struct test_result *t);
/*
 * The verdict of a tested row: real if p_adjusted <= q (of "det" as it says itself), large if
 * |change| >= threshold (a fraction; the shift in place of the change where that lies outside its
 * own interval). Real: better or worse, `changed` where dir does not say which; *small is set where
 * it is not large. Not real: same if the interval lies wholly inside +-threshold, else unsure. Not
 * tested: unsure.
 */
enum verdict stats_verdict(const struct test_result *t, enum direction dir, double threshold,
			   double q, bool *small);

#endif
