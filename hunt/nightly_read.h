/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nights of a branch and what became of every metric, read from the database. */
#ifndef HUNT_NIGHTLY_READ_H
#define HUNT_NIGHTLY_READ_H

#include "campaign/campaign.h"
#include "db/db.h"
#include "hunt/git.h"
#include "stats/nights.h"

/* `nightly:` of a campaign file. */
struct nightly_options {
	const char *repo, *branch;
	const char *baseline; /* NULL: a commit that was quiet, NIGHTS_LAG nights older */
	enum nightly_every { EVERY_COMMIT, EVERY_TAG, EVERY_DAY } every;
	double budget;	  /* seconds after which no further commit is begun; 0: none */
	double keep_raw;  /* seconds after which raw outputs go; 0: never */
	int64_t disk;	  /* bytes of database and cache with which no commit is begun; 0: none */
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
	long base_night; /* that measured base; -1: none */
	int64_t variant; /* of the commit */
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

/* `nightly:` of n->config into n->opt. */
int nightly_read_options(struct nightly *n);
/*
 * All nights, and all rows, judged by the newest NIGHTLY_MEMORY of them: what is older is as if it
 * had not been measured, so that a decision takes no longer after ten years than after two.
 */
enum { NIGHTLY_MEMORY = 730 };
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
/* The mean of a night as it is printed, from the scale of the row. */
double nightly_value(const struct nightly_row *row, double x);
/* after / before - 1; a difference where the row is not on logs. */
double nightly_change(const struct nightly_row *row, const struct night_state *s);
/* "NAME-night-": what campaigns of nights begin with. */
char *nightly_prefix(const struct nightly *n, const char *what);
/* The last night before `since` that gave the row a value; since itself where there is none. */
size_t nightly_before(const struct nightly_row *row, size_t since);
/* The night in which what is open in `night`, or was fixed by it, was found. */
size_t nightly_opened(const struct nightly_row *row, size_t night);
/* "WORSE", "FIXED", ... of news. */
const char *nightly_word(const struct nightly_row *row, size_t night);

#endif
