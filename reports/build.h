/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the builder: build.c reads the campaigns and orders the variants, rows.c makes test
 * cases, rows and cells, judge.c fills in the statistics, notes.c the facts and warnings.
 */
#ifndef REPORTS_BUILD_H
#define REPORTS_BUILD_H

#include "reports/comparison.h"

/* One value or one published summary of a cell. */
struct item {
	int64_t test, metric, variant; /* db ids */
	int block;		       /* unique over joined campaigns */
	double value;
	const struct db_summary *summary; /* NULL: a value */
};

/* Of a metric, from kernels measured under two names on this machine. */
struct floor {
	int64_t metric;
	ARRAY_OF(struct stats_arm_pair) pairs;
	double unit;	/* noise floor for one unit a side; NAN below ten pairs */
	double largest; /* relative difference between units of one block (seed) */
	bool told;	/* a note speaks of it */
};

/* A run as stored, beside its test case. */
struct execution {
	int64_t test, variant; /* db ids */
	struct cmp_run run;
};

struct builder {
	struct db *db;
	struct arena *a;
	const struct comparison_options *opt;
	struct err *e;
	struct comparison *c;
	struct db_campaign *campaigns;
	ARRAY_OF(struct db_variant) variants;
	ARRAY_OF(struct db_case) cases;
	struct db_metric *metrics;
	size_t n_metrics;
	ARRAY_OF(struct item) items;
	struct db_unit *history; /* sorted by case, metric, campaign, variant */
	size_t n_history;
	ARRAY_OF(struct db_count) counts;
	ARRAY_OF(struct execution) executions;
	ARRAY_OF(struct floor) floors;
	ARRAY_OF(struct db_run_fact) run_facts; /* what the seconds of runs looked like */
	ARRAY_OF(struct db_boot_fact) boot_facts; /* by campaign, key, variant */
	ARRAY_OF(struct db_fact) facts;
	ARRAY_OF(const char *) boots; /* of flip mode: boot ids */
	struct json_t *grounds; /* of a campaign read back from a report; NULL */
	ARRAY_OF(const char *) warnings;
	ARRAY_OF(const char *) missing;
	int repeated; /* cells the source states more than once */
};

/* Learns noise floors; before the rows. floor_take: what a row's metric has. */
int build_floors(struct builder *b);
void floor_take(const struct builder *b, struct cmp_row *row);

/*
 * What the verdicts of a campaign that was read back from a report rested on: grounds_read finds it
 * among the facts, the others give a row and the comparison theirs.
 */
void grounds_read(struct builder *b);
void grounds_release(struct builder *b);
void grounds_take(const struct builder *b, const struct cmp_test *t, struct cmp_row *row);
void grounds_take_level(const struct builder *b);

/* What differs between the boots of the variants; reads a campaign, then compares all. */
int environment_read(struct builder *b, const char *campaign);
void environment_compare(struct builder *b);

/* Reads the runs of a campaign, the number-th of the joined ones; sorts; gives a test its own. */
int executions_read(struct builder *b, const struct db_campaign *camp, int number);

/* adjust.c: one more row where a line through the seeds holds; there is room for it. */
void adjust_counts(struct builder *b, struct cmp_test *t);

/* join.c: why a further campaign cannot stand beside the first in one table; *why NULL: it can. */
int join_refusal(struct builder *b, const struct db_campaign *camp, const char **why);
/* What the blocks of the number-th campaign are moved by. */
int join_offset(const struct builder *b, int number);
/* -EINVAL where variants ran on different clock sources. */
int join_check_clocks(struct builder *b);
void executions_sort(struct builder *b);
void executions_take(struct builder *b, struct cmp_test *t);

/* Sorts the items and makes tests, rows and cells of them. */
void build_tests(struct builder *b);

/* What the campaign and its machine say; before judging. */
int build_facts(struct builder *b);
/* Facts a reader needs and nobody stated; what to beware of. Both after judging. */
void note_missing(struct builder *b);
void note_warnings(struct builder *b);

/*
 * Other views of changes, after judging: points, per second and per work, energy, rates of
 * failure, whether both sides did the same work; what the source states in words.
 */
void build_rates(struct builder *b);

/*
 * Expects tests, rows and cells with values, n, published figures and failures. Fills means,
 * changes, tests, verdicts (STATISTICS.md sections 3 to 6), overall verdicts and the flags
 * tested, has_n, has_spread, has_published.
 */
void comparison_judge(struct comparison *c);

#endif
