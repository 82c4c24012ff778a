/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks as described by configs/benchmarks/NAME.yaml: how to run one, how to read it, what
 * its metrics mean. A user adds one with a YAML file beside the campaign (benchmarks/NAME.yaml) or
 * in $XDG_CONFIG_HOME/kdelta/benchmarks/, without C.
 */
#ifndef CAMPAIGN_CATALOG_H
#define CAMPAIGN_CATALOG_H

#include <stdbool.h>

#include "campaign/metrics.h"
#include "core/err.h"
#include "core/mem.h"
#include "db/db.h"
#include "parsers/parser.h"
#include "stats/stats.h"

enum param_type { PARAM_COUNT, PARAM_DURATION, PARAM_WORD, PARAM_TEXT };

struct bench_param {
	const char *name;
	enum param_type type;	       /* count: an integer, may be written "100%" of the CPUs */
	const char *default_value;     /* NULL: must be given */
	const char *const *words;      /* of PARAM_WORD, NULL-terminated */
	const char *const **word_args; /* arguments each word stands for, NULL-terminated lists */
	const char *const *args;       /* "{}" is the value; NULL-terminated */
	const char *description;
	const char *only_param, *only_word; /* exists only where that parameter has that word */
	double min;			    /* least number or seconds */
	/* The output names it: output parameter `check` must be the value x check_factor. */
	const char *check; /* NULL: the output says nothing */
	double check_factor;
	bool is_auto;		   /* takes the word `auto` (hackbench loops) */
	double calibrate;	   /* seconds one run should last when auto */
	double counting;	   /* the work of auto where instructions are counted; 0: none */
	const char *constant_with; /* value x that parameter stays the same over cases, or NULL */
};

struct bench_metric {
	const char *name; /* without the benchmark; '*' allowed, first match from the top */
	/* "" where not said: campaign/metrics.h fills them */
	const char *unit, *description, *reason, *topic;
	enum direction direction; /* unknown: filled too */
	enum mean_kind mean_kind;
	bool has_mean;
	const char *role;    /* headline, counter, diagnostic */
	const char *pattern; /* POSIX extended regex with one group, for parser `pattern` */
};

struct bench_def {
	const char *name, *description, *file;
	const char *program;		/* looked up in PATH, then among our helpers */
	const char *package, *upstream; /* where to get it */
	const char *stand_in; /* benchmark that takes its place where it is absent, or NULL */
	/* name of a C parser, "pattern", or "clock": real, user and sys as the runner measured them
	 */
	const char *parser;
	const char *complete; /* regex that must match for parser `pattern`, or NULL */
	/* Fixed arguments before and after those of the parameters; "{name}" is a parameter's
	 * value. */
	const char *const *args;
	const char *const *args_after;
	const char *const *env;
	const char *const *server; /* argv of a server, or NULL */
	int port;		   /* the server listens on */
	/* Expressions over parameters, see catalog_evaluate; NULL: unknown */
	const char *expected; /* seconds of one run: "time*1.2+2" */
	const char *nofile;   /* open files it needs: "groups*fds*2+200" */
	bool fixed_work;
	bool build; /* kernbench: needs a source tree (source, config) */
	struct bench_param *params;
	size_t n_params;
	struct bench_metric *metrics;
	size_t n_metrics;
};

struct catalog;
/*
 * Reads all descriptions: shipped ones, the user's, and benchmarks/ in extra_dir (the folder of
 * the campaign file, may be NULL). A name that stands twice is an error. Errors name
 * file:line:column, all of them together.
 */
int catalog_load(struct arena *a, const char *extra_dir, struct catalog **out, struct err *e);
const struct bench_def *catalog_find(const struct catalog *c, const char *name);
const char *const *catalog_names(const struct catalog *c); /* sorted, NULL-terminated */
/*
 * Meaning of "tbench.throughput": from the benchmark's own description, and where that is silent
 * from metrics.yaml; direction unknown, role counter if absent in both. In another unit than the
 * description has it is another metric, named with its unit ("netperf.throughput_KBytes/s").
 */
void catalog_metric(const struct catalog *c, const char *benchmark, const char *metric,
		    const char *unit, struct db_metric *out);

/* The same of a full name: "tbench.throughput", "softirqs.SCHED". */
void catalog_describe_metric(const struct catalog *c, const char *name, struct db_metric *out);

/* Whether runs last a set time, so that what they consume follows the work they get done. */
bool catalog_is_time_bound(const struct catalog *c, const char *benchmark);
const struct metric_set *catalog_metrics(const struct catalog *c);
/* What a benchmark, or this test case of it, does; "" where nobody said. */
const char *catalog_describe(const struct catalog *c, const char *benchmark, const char *test_case);

/*
 * A benchmark that is any command at all: parser "clock", metrics real, user and sys. For commands
 * recorded without a description.
 */
const struct bench_def *catalog_clock(struct arena *a, const char *name);

/*
 * Value of a sum of products of numbers and names ("groups*fds*2+200", no brackets). lookup gives
 * the value of a name, false for an unknown one.
 */
typedef bool (*catalog_lookup)(const void *data, struct span name, double *value);
bool catalog_evaluate(const char *expression, catalog_lookup lookup, const void *data,
		      double *value);

/* The parser of a benchmark: its C parser, or one over its patterns. Not for parser "clock". */
int catalog_parse(struct arena *a, const struct bench_def *def, const struct parse_input *in,
		  struct parse_result **out, struct err *e);

#endif
