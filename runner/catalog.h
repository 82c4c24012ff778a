/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks as described by configs/benchmarks/NAME.yaml: how to run one, how to read it, what
 * its metrics mean. A user adds one with a YAML file beside the campaign (benchmarks/NAME.yaml) or
 * in $XDG_CONFIG_HOME/kdelta/benchmarks/, without C.
 */
#ifndef RUNNER_CATALOG_H
#define RUNNER_CATALOG_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"
#include "db/db.h"
#include "parsers/parser.h"
#include "stats/stats.h"

enum param_type { PARAM_COUNT, PARAM_DURATION, PARAM_WORD, PARAM_TEXT };

struct bench_param {
	const char *name;
	enum param_type type; /* count: an integer, may be written "100%" of the CPUs */
	const char *default_value; /* NULL: must be given */
	const char *const *words; /* of PARAM_WORD, NULL-terminated */
	const char *const **word_args; /* arguments each word stands for, NULL-terminated lists */
	const char *const *args; /* "{}" is the value; NULL-terminated */
	const char *description;
	bool is_auto; /* takes the word `auto` (hackbench loops) */
	double calibrate; /* seconds one run should last when auto */
};

struct bench_metric {
	const char *name; /* without the benchmark; '*' allowed */
	const char *unit, *description;
	enum direction direction;
	enum mean_kind mean_kind;
	const char *role; /* headline, counter, diagnostic */
	const char *pattern; /* POSIX extended regex with one group, for parser `pattern` */
};

struct bench_def {
	const char *name, *description, *file;
	const char *program; /* looked up in PATH, then among our helpers */
	const char *package, *upstream; /* where to get it */
	const char *stand_in; /* benchmark that takes its place where it is absent, or NULL */
	const char *parser; /* name of a C parser, or "pattern" */
	const char *complete; /* regex that must match for parser `pattern`, or NULL */
	const char *const *args; /* fixed arguments before those of the parameters */
	const char *const *args_after; /* and after them */
	const char *const *env;
	const char *const *server; /* argv of a server, or NULL */
	int port; /* the server listens on */
	const char *expected; /* seconds: number or the name of a duration parameter, "time+2" */
	const char *nofile; /* "groups*fds*2+200" terms: see catalog.c, or NULL */
	bool fixed_work;
	bool build; /* kernbench: needs a source tree (source, config) */
	struct bench_param *params;
	size_t n_params;
	struct bench_metric *metrics;
	size_t n_metrics;
};

struct catalog;
/* Reads all descriptions; extra_dir (of the campaign) may be NULL. Errors name file:line:column. */
int catalog_load(struct arena *a, const char *extra_dir, struct catalog **out, struct err *e);
const struct bench_def *catalog_find(const struct catalog *c, const char *name);
const char *const *catalog_names(const struct catalog *c); /* sorted, NULL-terminated */
/* Meaning of "tbench.throughput": from the benchmark's description; direction unknown, role counter if absent. */
void catalog_metric(const struct catalog *c, const char *benchmark, const char *metric,
		    const char *unit, struct db_metric *out);

/* The parser of a benchmark: its C parser, or one over its patterns. */
int catalog_parse(struct arena *a, const struct bench_def *def, const struct parse_input *in,
		  struct parse_result **out, struct err *e);

#endif
