/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bisection on numbers: which candidate (commit, package, setting) changed a metric. What was asked
 * is a row of the database, what was measured a campaign that grows; everything else - levels,
 * probabilities, who is skipped, what is confirmed - is computed anew from the stored runs, so that
 * it can be killed at any moment.
 */
#ifndef HUNT_BISECT_H
#define HUNT_BISECT_H

#include "campaign/campaign.h"
#include "db/db.h"
#include "hunt/range.h"
#include "stats/posterior.h"

#define BISECT_NAME "bisect" /* of a bisection that was given none */
#define BISECT_END_RUNS 20

/* What `bisect start` takes; stored as JSON. Strings in the arena. */
struct bisect_options {
	const char *repo;      /* folder; NULL: candidates are the variants of the config */
	const char *good, *bad; /* full hashes, names of variants */
	const char *config;    /* campaign file, full path */
	const char *metric, *test_case;
	const char *path, *fixup; /* NULL: none */
	bool first_parent;
	double threshold, confidence; /* fractions */
	int end_runs; /* of each end, at most, until the ends are told apart */
};

struct bisect {
	struct db *db;
	struct arena *a;
	struct err *e;
	void (*note)(const char *text);
	struct db_bisection row;
	struct bisect_options opt;
	struct git git;
	struct range range;
	struct catalog *cat;
	struct campaign_config *config; /* its variants are the candidates, its case the one */
	enum direction direction;	/* of the metric */
};

/*
 * Checks what is asked for, completes it (metric and case where only one is possible, merge base
 * for a good end that is no ancestor) and stores it. -EINVAL with what to do; -EEXIST: one of that
 * name goes on.
 */
int bisect_start(struct bisect *b, const char *name, struct bisect_options *opt);
/* Reads the one of that name back, with its candidates. -ENOENT. */
int bisect_open(struct bisect *b, const char *name);
/* Appends a decision ("skip HASH") for one candidate; -ENOENT: not of the range. */
int bisect_skip(struct bisect *b, const char *id);
/* Ends it; what was measured stays. */
int bisect_reset(struct bisect *b);
/* The command that starts the same again. */
char *bisect_command(const struct bisect *b, const struct bisect_options *opt);

/* Options as JSON text, and back (-EINVAL). */
char *bisect_options_text(struct arena *a, const struct bisect_options *opt);
int bisect_options_read(struct arena *a, const char *text, struct bisect_options *opt,
			struct err *e);

#endif
