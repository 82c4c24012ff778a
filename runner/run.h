/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a campaign: creates or resumes it in the database, visits each variant of each block, stores
 * every run as it ends.
 */
#ifndef RUNNER_RUN_H
#define RUNNER_RUN_H

#include <stdbool.h>

#include "campaign/campaign.h"
#include "db/db.h"
#include "jobs/job.h"

/* State before a run, or after one that failed. */
struct run_progress {
	int run, runs; /* k of n of the whole campaign */
	const char *test, *variant;
	const char *failed; /* what happened; NULL: the run starts now */
	bool retried;	    /* of a failed one: it is tried once more */
	double eta;	    /* seconds until the campaign's end, from the pace so far */
	/* Estimate so far of the headline metric: n units, their mean, change against the baseline.
	 */
	const char *metric, *unit; /* metric NULL: none yet */
	int n;
	double mean, change; /* change: NAN for the baseline or without one */
};

/* A test case and a variant other than the baseline, as far as it is measured. */
enum run_row_state {
	RUN_ROW_OPEN,	 /* a headline of it is neither real nor the same yet */
	RUN_ROW_SETTLED, /* every headline of it is */
	RUN_ROW_FAILED,	 /* there is nothing to judge: no good run of it, or of the baseline */
};
struct run_row {
	int64_t case_id, variant_id;
	enum run_row_state state;
	/* absolute log ratios: distance from the rest of its row and of its column; the change */
	double odd, change;
};

enum { RUN_LOOKS = 3 };
/* Units a side at a planned look, from 1; 0: there is none. */
int run_look_units(int look);

struct run_options {
	bool resume; /* go on with resume_id, or the newest unfinished campaign of that name */
	const char *resume_id;
	bool until_sure;  /* planned looks; a row that is settled is measured no further */
	int add;	  /* units a side for the newest campaign of that name (or resume_id) */
	double budget;	  /* seconds of the whole campaign; 0: no end */
	bool reboot; /* this machine may be restarted, as often as the plan asks for */
	const char *db_path; /* that the next boot goes on with; only where `reboot` */
	/*
	 * The only cell that is run, by its number in the plan from 1, by a job on a machine that
	 * others boot; 0: all. build_id: that its kernel must have, NULL: not said.
	 */
	int one;
	const char *build_id;
	bool recalibrate; /* `auto` parameters are measured anew even where they are known */
	/*
	 * Judges what is measured so far and fills state, odd and change of the rows (all of them
	 * RUN_ROW_FAILED before). looks: at the level of planned looks. Needed for until_sure and
	 * budget.
	 */
	int (*judge)(void *data, struct db *db, const char *campaign, bool looks,
		     struct run_row *rows, size_t n, struct err *e);
	/* Both may be NULL. */
	void (*progress)(void *data, const struct run_progress *p);
	void (*note)(const char *text);
	void *data;
};

struct run_report {
	const char *campaign;		       /* id; NULL: not even begun */
	int runs, done, failed, skipped, left; /* cells of the plan */
	int dropped;			       /* cells of settled rows, or that the budget cut */
	const char *stop; /* why it stopped looking or measuring; NULL: the plan was done */
	bool interrupted, resumed;
	const char *refused; /* one: why nothing may be stored: this is not the kernel for it */
	const char *next_variant;			/* manual: the one to boot next */
	double boot_seconds, run_seconds, rest_seconds; /* over all parts of the campaign */
	ARRAY_OF(const char *) missing; /* benchmarks not installed, with where to get them */
};

/*
 * Runs until the plan is done, interrupted, or (manual) another kernel must be booted. Returns 0
 * then, with the report saying which; failed runs are no error. SIGINT and SIGTERM end it.
 */
int run_campaign(struct db *db, struct arena *a, const struct catalog *cat,
		 struct campaign_config *c, const struct run_options *opt,
		 struct run_report *report, struct err *e);

/*
 * `repeat: auto`: sets c->repeat and c->runs from the history of this machine and says why (NULL:
 * nothing was left open). db NULL: there is none. accelerator NULL: that of the newest campaign.
 */
int run_split(struct db *db, struct arena *a, struct campaign_config *c, const char *accelerator,
	      const char **why, struct err *e);

/*
 * Only one campaign measures on a machine at a time: takes the lock ($KDELTA_LOCK, else
 * /run/lock/kdelta.lock, or in /tmp), which ends with the process that holds it. Then puts back the
 * settings a crashed one left. note may be NULL. Returns the lock's descriptor, for the caller to
 * close, or -EBUSY naming the holder.
 */
int run_lock(struct arena *a, void (*note)(const char *text), struct err *e);

/*
 * Takes the lock of a file for this process, without waiting, and leaves in it who we are, "412 on
 * host: kdelta run c.yaml" (pids of a container mean nothing outside). It ends with the descriptor, so
 * neither a stale file nor a pid that lives again blocks anybody. -EBUSY: another process has it, and
 * `holder` is what it left there.
 */
int run_take_lock(int fd, const char *path, struct strbuf *holder);

/* What the runner saw of a process, as columns of a run; strings in the arena. */
void run_fill(struct arena *a, const struct job_result *result, struct db_run *run);

/* A random seed that can be typed: 1 to 999999999. */
uint64_t run_draw_seed(void);
/*
 * The campaign's seed; where none is given a drawn one, or 1 if it counts, so that a count repeats
 * tomorrow and elsewhere.
 */
uint64_t run_seed(const struct campaign_config *c);

#endif
