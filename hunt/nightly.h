/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nights: new commits of a branch are measured as they come, and told of only where something
 * changed. A night is a campaign NAME-night-HASH (a baseline, its second arm, the commit); a
 * suspicion is checked by NAME-again-HASH. What became of every metric is replayed from them
 * (stats/nights.h); stored besides are only the ignores, and which nights were told.
 */
#ifndef HUNT_NIGHTLY_H
#define HUNT_NIGHTLY_H

#include "db/db.h"
#include "hunt/git.h"
#include "runner/campaign.h"
#include "stats/nights.h"

/* `nightly:` of a campaign file. */
struct nightly_options {
	const char *repo, *branch;
	const char *baseline; /* NULL: a commit that was quiet, NIGHTS_LAG nights older */
	enum nightly_every { EVERY_COMMIT, EVERY_TAG, EVERY_DAY } every;
	double budget;	  /* seconds after which no further commit is begun; 0: none */
	double threshold; /* smaller changes are none */
	bool bisect;	  /* what got worse over several commits */
	const char **to;
	size_t n_to;
	const char *from, *smtp, *eml; /* eml: folder for messages */
	const char *junit, *openmetrics, *kcidb, *webhook; /* files, an address; NULL: none */
};

struct nightly_night {
	const struct db_campaign *campaign;
	const struct db_campaign *again; /* ended; NULL: no extra run */
	const char *commit, *base; /* full hashes, "" */
	bool environment;
	bool told, bisected;
};

/* A headline of a test case over all nights; n of the nights each. */
struct nightly_row {
	int64_t case_id;
	const char *test_case;
	struct db_metric metric;
	bool on_log;
	struct night *nights;
	struct night_state *states;
	const char *ignored; /* the reason, while it is */
};

struct nightly {
	struct db *db;
	struct arena *a;
	struct err *e;
	void (*note)(const char *text);
	struct catalog *cat;
	struct campaign_config *config;
	struct nightly_options opt;
	struct git git;
	struct nightly_night *nights; /* oldest first */
	size_t n_nights;
	struct nightly_row *rows;
	size_t n_rows;
};

struct nightly_report {
	int measured;	 /* nights of this call */
	int worse;	 /* rows that were found worse in it */
	int undecided;	 /* suspicions that no extra run could settle, nights without a value */
	bool interrupted, spent;
};

/* Reads the campaign file; -EINVAL with its places. db, a, e and note are set before. */
int nightly_open(struct nightly *n, const char *path);
/* Updates the repository, measures what is new, tells what changed. -EBUSY: another one does. */
int nightly_run(struct nightly *n, struct nightly_report *report);

/* ---- its parts ---- */

/* `nightly:` of n->config into n->opt. */
int nightly_read_options(struct nightly *n);
/* All nights and rows, judged. */
int nightly_judge(struct nightly *n);
/* Whether the row asks for an extra run in night i. */
static inline bool nightly_is_suspect(const struct nightly_row *row, size_t i)
{
	return row->states[i].event == NIGHT_SUSPECT;
}
/* Whether night i changed something that is to be told of this row. */
static inline bool nightly_is_news(const struct nightly_row *row, size_t i)
{
	return !row->ignored && row->states[i].event >= NIGHT_CHANGED;
}
/* Mail and webhook for nights that were not told yet; files. */
int nightly_tell(struct nightly *n);
/* The mean of a night as it is printed, from the scale of the row. */
double nightly_value(const struct nightly_row *row, double x);
/* after / before - 1; a difference where the row is not on logs. */
double nightly_change(const struct nightly_row *row, const struct night_state *s);
/* "NAME-night-": what campaigns of nights begin with. */
char *nightly_prefix(const struct nightly *n, const char *what);

#endif
