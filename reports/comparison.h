/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison: the one model that every report renders. Built from database and statistics by
 * comparison_build(); a report never queries the database and never computes a statistic.
 * Everything lives in one arena. Percentages are fractions here (-0.335), printed by the formats.
 * Change is new / base - 1 everywhere; direction and verdict carry the meaning.
 */
#ifndef REPORTS_COMPARISON_H
#define REPORTS_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/registry.h"
#include "core/str.h"
#include "db/db.h"
#include "stats/stats.h"

/* Blocks of the second of several joined campaigns are this much larger, and so on. */
#define CMP_BLOCK_STRIDE 1000000

struct cmp_variant {
	const char *id;		 /* letter: "A", "B", ..., "Z", "AA"; the baseline first */
	const char *name;	 /* name, or name@id where names are equal and identities are not */
	const char *description; /* legend text, "" if none */
	const char *release, *build_id, *commit, *source; /* "" where unknown */
	const char *settings; /* what differs besides the kernel, for people; "" if nothing */
	int64_t db_id;
};

struct cmp_cell {
	int variant; /* index */
	int n;	     /* units; 0: none or not stated */
	int failed;  /* failed runs of this case and variant */
	int suspect;
	int runs;	   /* all runs of them, failed ones too; 0: not stated */
	const char *error; /* class of the newest failure, or NULL */
	bool has_mean;
	double mean;
	const char *mean_text; /* as published, or NULL */
	double stddev, cv;     /* NAN: not known */
	bool cv_hidden;	       /* the source leaves out what is 2 % or less */
	const double *values;  /* in block order; NULL for summaries */
	const int *blocks;     /* the block of each value */
	/* against the baseline cell of the same row; the baseline itself has none */
	bool has_change;
	double change; /* published one where there is one, else new / base - 1 */
	bool published;
	double source_better; /* percentage of the source oriented so that + is better; NAN: none */
	bool source_mark;     /* the source marked it */
	bool paired; /* the test is that of pairs */
	struct stats_lag lag; /* of the log ratios of the pairs in their order; NAN */
	struct test_result test;
	double p_adjusted;
	double threshold;     /* the comparison's, or the learnt noise floor where that is larger */
	double block_p;	      /* of exchanges within blocks; NAN: too few or too many blocks */
	int family;	      /* p-values corrected together; 0: none */
	enum verdict verdict; /* VERDICT_UNSURE with test "none" where nothing was tested */
	bool small;
	bool multiplicity; /* interval without 0 that the correction did not accept: note (m) */
	bool outside;	   /* change outside its own interval: the shift decides */
	int runs_needed; /* units a side that would settle `unsure`; 0 unknown, 51: more than 50 */
	struct interval
		prediction; /* of one more unit of the bigger side where no test is possible */
	bool has_prediction;
	double detectable; /* smallest relative change that so many units show at 80 % power; NAN */
	int runs_threshold, runs_double; /* a side to detect threshold and twice it; 0 unknown */
	int rounds, rounds_lower; /* blocks with one value of both; in how many this one is lower */
	/* other views of the change (rates.c); NAN where they say nothing */
	double points;	   /* new - old of a share in percent */
	double difference; /* new - old in the unit, where the base allows no percentage */
	double per_second; /* change per second of run, of what adds up over the run */
	double per_work;   /* change per piece of work done, of the same */
	double energy;	   /* joules over the run, of a power; of the baseline too */
	double in_sd;	   /* the change in deviations of one run, at least */
	bool follows_work; /* less is better for the same work only, and it was not the same */
	/* what the change says against the direction: the verdict, untested the mere figures */
	enum verdict reads;
	/* runs in which it happened or which failed, of how many; of the baseline too */
	int events, event_runs;
	double event_p;	 /* Fisher's exact test against the baseline's */
	int events_more; /* it shows a difference: 1 more, -1 fewer, 0 no */
};

/* What differs between the variants' boots besides kernel and settings. */
struct cmp_difference {
	const char *key;     /* "cpufreq.governor" */
	const char *title;   /* "frequency governor" */
	const char **values; /* of each variant; "a (3 of 5 boots), b (2)" where its boots differ */
	const char **told;   /* the same for people: of long lists only what is not in all */
};

/* What one variant did against the baseline in a test case. */
struct cmp_work {
	const struct cmp_row *rate, *elapsed; /* NULL: not measured */
	const char *unit;		      /* of the work: "jobs" of jobs/min; "" */
	const char *time_unit;		      /* "min" */
	double base, other;		      /* rate x time; NAN: cannot be told */
	double change;			      /* of the work, NAN */
	double longer;			      /* change of the elapsed time, NAN */
	bool same;			      /* the work, within the threshold */
	bool by_design; /* the benchmark's headline is its time for a fixed piece of work */
	/* rows by what they read; votes are those of headlines */
	int votes_better, votes_worse, votes_open, votes;
	int better, worse, depend, counters;
	int failed_more; /* failed runs show a difference: 1 more, -1 fewer, 0 no */
	double fail_p;	 /* Fisher's exact test of them; NAN: none failed on either side */
};

/* One execution of a test case, good or not, in the order they were made. */
struct cmp_run {
	int64_t id;  /* `kdelta show ID --raw STREAM` prints what it wrote */
	int variant; /* index */
	int block;   /* as in cmp_cell.blocks */
	int order;   /* 1: the first run of its campaign */
	int attempt;
	int64_t boot;					 /* 0: not known */
	const char *started;				 /* ISO time; "" where nobody said */
	double elapsed;					 /* seconds; NAN: not known */
	const char *outcome, *error, *message, *command; /* "" where there is none */
};

struct cmp_row {
	const char *metric; /* "tbench.throughput" */
	const char *unit, *description;
	bool events; /* values are runs in which something happened */
	enum direction direction;
	enum mean_kind mean_kind;
	bool foreign; /* of another suite than the benchmark: "softirqs.SCHED" of aim7 */
	bool headline;
	bool shown; /* headline, or a counter that stands beside them (user and sys of a build) */
	int64_t db_id;
	struct cmp_cell *cells;		/* one per variant, baseline first */
	struct cmp_cell *contrasts;	/* one per contrast of the comparison */
	struct stats_prior history;	/* of the variance, from older campaigns of the machine */
	/* their values, one group per campaign and variant; of flip mode ratios of pairs */
	const struct stats_group *past;
	size_t n_past;
	const char *topic, *reason; /* heading it stands under; why that direction; "" unknown */
	bool deterministic;	    /* units are seeds, compared pair by pair */
	int broken; /* flip mode: values left out because their pair lacks the other half */
	/* Learnt from kernels measured under two names: for one unit a side (NAN: too few pairs),
	 * and the largest difference between units of one seed. */
	double floor, seed_floor;
	int arm_pairs;
};

struct cmp_param {
	const char *name, *value;
};

struct cmp_test {
	const char *benchmark; /* "tbench" */
	const char *name;      /* "tbench/clients=64/bind=node0" */
	const char *description, *command;
	struct cmp_param *swept; /* the swept parameters, in order */
	size_t n_swept;
	struct cmp_param *fixed; /* the others, in the order of their names */
	size_t n_fixed;
	struct cmp_row *rows; /* headlines first, then counters */
	size_t n_rows;
	struct cmp_work *works; /* one per variant */
	struct cmp_run *runs;	/* of all variants, by order */
	size_t n_runs;
	int64_t db_id;
};

/* A heading of rows that belong together. */
struct cmp_topic {
	const char *name;
	const char *remark;    /* how to read its rows; "" */
	const char *otherwise; /* the same where the work was not the same; "" as remark */
};

/* A change that words of the source give a metric, such as the subject of a mail. */
struct cmp_stated {
	const char *metric, *text; /* "+17.9%" */
	double change;
	enum direction direction;
};

/* Verdict of one benchmark for one variant. */
struct cmp_overall {
	const char *benchmark;
	int variant;
	enum verdict verdict;
	double gmean;	  /* geometric mean of headline ratios - 1, oriented: + is better; NAN */
	double low, high; /* its interval, NAN if none */
	int better, worse, same, unsure, missing, failed,
		rows;	   /* better, worse: not the small ones */
	int small;	   /* rows better or worse, but by less than the threshold */
	int ahead, behind; /* rows with an oriented change above and below 0, tested or not */
	const struct cmp_test *worst_test; /* of the oriented change; NULL if no row */
	const struct cmp_row *worst_row;
	double worst_change; /* as printed (not oriented) */
};

/* One further question: variant `top` against `bottom` (--contrast D/E). */
struct cmp_contrast {
	int top, bottom; /* variant indexes */
};

struct comparison {
	struct comparison *next; /* the same question on another machine; NULL: none */
	struct arena *arena;
	const char **campaigns;
	size_t n_campaigns;
	const char *kind; /* run, record, import */
	const char *backend, *accelerator;
	const char *counting; /* instructions, not times: what they depend on; NULL: times */
	const char *unit;     /* "boot" or "run" */
	const char *machine; /* description, "" unknown */
	const char *source;  /* of an import: where the numbers are from */
	const char *created; /* ISO time */
	int repeat;
	bool paired; /* flip mode: values of one block are pairs measured one right after the other */
	int boots;   /* of flip mode, in which the pairs were measured; 0: not known */
	int done, planned;	      /* cells; planned 0: nothing was planned */
	struct cmp_variant *variants; /* baseline first */
	size_t n_variants;
	struct cmp_contrast *contrasts;
	size_t n_contrasts;
	struct cmp_test *tests;
	size_t n_tests;
	struct cmp_overall *overall; /* per benchmark and other variant */
	size_t n_overall;
	struct cmp_difference *differences; /* by key */
	size_t n_differences;
	const char **warnings;
	size_t n_warnings;
	const char *
		*missing; /* facts a reader needs and nobody stated: "runs", "spread", "commit" */
	size_t n_missing;
	const struct cmp_topic *topics; /* in their order */
	size_t n_topics;
	struct cmp_stated *stated;
	size_t n_stated;
	const char *subject;	/* of an imported mail, "" */
	bool tested;		/* false: no row could be tested at all (summaries) */
	bool has_n, has_spread; /* any cell states them */
	bool has_published;	/* changes are those of the source */
	bool has_source_marks;
	bool own_baseline;  /* the baseline is the campaign's */
	const char *stored; /* verdicts kept in the database, as a digest; NULL: none */
	double threshold, q, level;
	bool explained;	   /* what only --why shows is computed too */
	bool has_floor;	   /* a learnt noise floor is the threshold of some shown cell */
	const char *stop;  /* why a campaign with looks or a budget ended; NULL */
	const char *looks; /* planned looks of the campaign, in words; NULL: one look at the end */
};

struct comparison_options {
	const char *baseline;	   /* name, id or letter; NULL: first */
	const char *const *others; /* names to keep, NULL: all */
	size_t n_others;
	const char *const *contrasts; /* "D/E" by letter or name */
	size_t n_contrasts;
	double threshold; /* fraction, default 0.01 */
	bool explain;	  /* --why will be asked for */
	double q, level;  /* of the correction and the intervals; 0: 0.05 and 0.95 */
	bool counters;	  /* rows of role counter too */
	const struct cmp_topic *topics;
	size_t n_topics;
	/* of a metric that only words of the source name; NULL: unknown */
	enum direction (*direction_of)(void *data, const char *metric);
	void *direction_data;
	bool alone; /* a single variant will do: its values are wanted */
};

/*
 * Builds the comparison of one campaign, or of several joined by variant identity within one
 * machine (refused with the reason otherwise). -ENOENT where there is nothing to compare.
 */
int comparison_build(struct db *db, struct arena *a, const char *const *campaigns,
		     size_t n_campaigns, const struct comparison_options *opt,
		     struct comparison **out, struct err *e);

/*
 * The same for campaigns of several machines: one comparison for each, chained by `next`; a
 * campaign whose machine is not known stands alone. With variants named (baseline, others) as
 * above.
 */
int comparison_build_machines(struct db *db, struct arena *a, const char *const *campaigns,
			      size_t n_campaigns, const struct comparison_options *opt,
			      struct comparison **out, struct err *e);

/*
 * What limits every figure of it, one sentence without a full stop: "measured in QEMU without KVM:
 * compare ratios, not absolute figures"; NULL: nothing.
 */
const char *comparison_limit(const struct comparison *c);

/* Verdict of a benchmark for a variant; NULL if there is none. */
const struct cmp_overall *comparison_overall(const struct comparison *c, const char *benchmark,
					     size_t variant);
/* Index of the variant with this id in the database, -1 if it is not compared. */
int comparison_variant_of(const struct comparison *c, int64_t db_id);

/* Flip mode: "pairs within one boot (flip)", "pairs within 3 boots (flip)"; else "". */
const char *comparison_pairs_text(const struct comparison *c, struct arena *a);

/* Oriented change: + is better; NAN where the direction does not say. */
double comparison_orient(enum direction d, double change);

/*
 * What --check says (STATISTICS.md section 4), over all machines: VERDICT_WORSE, VERDICT_UNSURE or
 * VERDICT_SAME.
 */
enum verdict comparison_check(const struct comparison *c);

/*
 * Keeps the verdicts of one campaign for the view `summary`; a fact of the campaign says which are
 * kept. comparison_is_stored: these are kept already, or they are not the campaign's own (another
 * baseline, several campaigns).
 */
int comparison_store(struct db *db, const struct comparison *c, struct err *e);
bool comparison_is_stored(const struct comparison *c);

/*
 * Values of zero or below have no ratio: change, shift and interval of such a cell's test are
 * differences in the metric's unit, and the cell has no change.
 */
bool comparison_is_difference(const struct cmp_cell *cell);

/* "throughput" of "tbench.throughput"; the whole where it is foreign. */
const char *comparison_metric_name(const struct cmp_row *r);

/* Layouts of the tables of a mail: ours, everything as a ratio to 1.00, blocks that describe
 * themselves. */
enum report_style { STYLE_TABLE, STYLE_NORM, STYLE_BLOCK };

struct report_options {
	enum report_style style;
	int width; /* 0: the format's own (mail 72) */
	bool color, values, runs;
	bool all;	 /* rows that did not change too (lkp) */
	double split;	 /* --split N: axis value that starts the high load; 0: automatic */
	const char *why; /* rows to explain, as comparison_explains() takes them; NULL: none */
};

/*
 * Whether `--why what` means a row: part of "CASE METRIC", as "clients=64 tbench.thr"; "all" means
 * every headline. comparison_has: any row.
 */
bool comparison_explains(const struct cmp_test *t, const struct cmp_row *r, const char *what);
bool comparison_has(const struct comparison *c, const char *what);

struct report_format {
	const char *name;    /* "mail" */
	const char *summary; /* for --help */
	bool blocks;	     /* several machines may stand below each other */
	/* Appends the whole report to out. */
	int (*render)(const struct comparison *c, const struct report_options *opt,
		      struct strbuf *out, struct err *e);
};

/* The verdict in one line, for the subject of a mail: "[kdelta] 6.12 against 6.1: tbench: ..." */
char *report_subject(const struct comparison *c, struct arena *a);
/* The same for a report that was written before: its first sentence. */
char *report_subject_of_text(struct span report, struct arena *a);

/*
 * The whole model as kdelta.compare/1, on lines of its own or compact: what -o json prints, and
 * what -o html holds for programs.
 */
int report_json(const struct comparison *c, bool compact, struct strbuf *out, struct err *e);

REGISTRY(report_format);
const struct report_format *report_format_find(const char *name);
/* Renders one machine, or several below a line that says how far they agree (-EINVAL where the
 * format holds one). */
int report_render(const struct report_format *format, const struct comparison *c,
		  const struct report_options *opt, struct strbuf *out, struct err *e);

#endif
