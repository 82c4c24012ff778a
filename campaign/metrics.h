/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What metrics mean, by patterns over their names: configs/metrics.yaml, before it the user's
 * $XDG_CONFIG_HOME/kdelta/metrics.yaml, before that metrics.yaml beside the campaign. The first
 * pattern that matches wins. One file:
 *
 *	topics:
 *	  Idle and power: {remark: less idle is good where there is work, moves: the load}
 *	benchmarks:
 *	  "aim7*": {work: fixed, description: simulated users that touch pages}
 *	metrics:
 *	  "cpuidle.*.time": {unit: us, direction: depends, topic: Idle and power,
 *	                     description: time in one idle state, reason: good or bad by the load}
 *
 * Further keys of a metric: mean, role (headline, counter, diagnostic), moves, deterministic, and
 * time_bound: its direction where a benchmark runs for a fixed time and not for fixed work.
 */
#ifndef CAMPAIGN_METRICS_H
#define CAMPAIGN_METRICS_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"
#include "stats/stats.h"

struct metric_topic {
	const char *name;   /* heading of reports */
	const char *remark; /* how to read its rows; "" */
	/* the same where the work of both sides was not the same; "" as remark */
	const char *otherwise;
	const char *moves; /* what makes such metrics change; "" */
};

struct metric_def {
	const char *pattern; /* of "tbench.throughput" or "softirqs.SCHED" */
	const char *unit;    /* "mixed" where it differs within the pattern; "" unknown */
	const char *description, *reason, *moves; /* "" where nobody said */
	enum direction direction, time_bound;	  /* time_bound: of benchmarks of a fixed time */
	enum mean_kind mean_kind;
	const char *role;
	bool deterministic;
	const struct metric_topic *topic; /* or NULL */
	const char *file;
	int line;
};

/* A benchmark that only posted tables know, or some of its test cases. */
struct metric_bench {
	const char *pattern; /* of "aim7" or of a test case "aim7/test=page_test" */
	const char *description;
	bool fixed_work, time_bound; /* neither: not said */
};

/* Words that YAML files use, in the order of the enumerations; NULL-terminated. */
extern const char *const metric_directions[], *const metric_means[], *const metric_roles[];

struct metric_set;
/*
 * Reads the files; extra_dir: folder of the campaign, may be NULL. Errors name file:line:column,
 * all of them together; a pattern that an earlier one of its file always hides is one.
 */
int metrics_load(struct arena *a, const char *extra_dir, struct metric_set **out, struct err *e);

/*
 * The first definition of "benchmark.metric", or of what stands behind the first dot, as the
 * counters of any benchmark: "aim7.softirqs.SCHED". NULL: nobody described it.
 */
const struct metric_def *metrics_find(const struct metric_set *s, const char *name);
/* Its unit; where it is mixed, that of the next pattern which matches and says one. "" unknown. */
const char *metrics_unit(const struct metric_set *s, const struct metric_def *m, const char *name);
/* What is said of a benchmark or of a test case of it, or NULL. */
const struct metric_bench *metrics_bench(const struct metric_set *s, const char *name);

/* In the order of reports. */
const struct metric_topic *metrics_topics(const struct metric_set *s, size_t *n);
const struct metric_def *metrics_all(const struct metric_set *s, size_t *n);
const struct metric_bench *metrics_benches(const struct metric_set *s, size_t *n);
/* Why a direction follows the work where the time is fixed: one sentence for all of them. */
const char *metrics_time_bound(const struct metric_set *s);

#endif
