/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only room that knows SQL. SQLite in WAL mode with foreign keys; one struct db per open
 * database. Every function returns 0 or a negative errno and fills the error object; ids are
 * database row ids, campaign ids are their names. Row structs are plain data in the caller's arena.
 * Columns are described in schema.sql.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/str.h"
#include "stats/stats.h"

struct db;

/*
 * DB_SCRATCH is DB_MEMORY for results that are read once: raw outputs and the series of runs are
 * not kept (what is added is accepted, and none is there).
 */
enum db_mode { DB_READ, DB_WRITE, DB_MEMORY, DB_SCRATCH };

/*
 * Path by the design's rule: `given` (--db), $KDELTA_DB, ./kdelta.db if it exists, else
 * $XDG_DATA_HOME/kdelta/kdelta.db.
 */
char *db_path(struct arena *a, const char *given);
/* Opens, creating and migrating for DB_WRITE; DB_READ of a missing file is -ENOENT with a hint. */
int db_open(const char *path, enum db_mode mode, struct db **db, struct err *e);
/* Whether it is a DB_SCRATCH: then no hash of a source is needed, nothing is found again. */
bool db_is_scratch(const struct db *db);
void db_close(struct db *db);
void db_close_ptr(struct db **db);
#define _cleanup_db_ _cleanup_(db_close_ptr)

/*
 * Transactions nest by counting. After an inner rollback or a failed statement the outermost
 * db_commit rolls everything back and returns -ECANCELED.
 */
int db_begin(struct db *db, struct err *e);
int db_commit(struct db *db, struct err *e);
void db_rollback(struct db *db);

/*
 * Until db_end_read() all queries see one state of the database, whatever others write meanwhile, and
 * nothing may be written. *begun is for db_end_read(): false within a transaction that goes on.
 */
int db_begin_read(struct db *db, bool *begun, struct err *e);
void db_end_read(struct db *db, bool begun);

/* ---- writing ---- */

struct db_machine {
	const char *fingerprint, *name, *description;
};
/* Finds by fingerprint or inserts; fills an empty description. */
int db_put_machine(struct db *db, const struct db_machine *m, int64_t *id, struct err *e);

struct db_kernel {
	int64_t id;
	const char *identity, *release, *version, *build_id, *image_sha256, *source, *commit;
};
/* Finds by identity or inserts; fills empty columns of a known kernel, never overwrites. */
int db_put_kernel(struct db *db, const struct db_kernel *k, int64_t *id, struct err *e);
/* build-id seen at the first boot of an image; -EEXIST if another one is stored already. */
int db_set_build_id(struct db *db, int64_t kernel_id, const char *build_id, const char *release,
		    struct err *e);

/* settings: JSON text. identity: see the design. kernel_id 0: none known. */
int db_put_variant(struct db *db, const char *identity, int64_t kernel_id, const char *settings,
		   int64_t *id, struct err *e);

struct db_campaign {
	const char *id, *name, *kind, *unit, *backend, *accelerator, *config, *config_path, *source;
	const char *tool_version;		  /* NULL: this one */
	int64_t created, ended, seed, machine_id; /* ended, machine_id 0: NULL */
	int repeat;
};
/*
 * Gives the campaign its id "name-YYYYMMDD-n" (into c->id, arena; the day is UTC, what a shell or
 * an operand would stumble over in the name is '-' in the id) and inserts it.
 */
int db_add_campaign(struct db *db, struct arena *a, struct db_campaign *c, struct err *e);
int db_set_campaign(struct db *db, const struct db_campaign *c, struct err *e); /* all but the id */
/* With all that is of it alone: runs, boots, raw outputs, facts. */
int db_remove_campaign(struct db *db, const char *campaign, struct err *e);
int db_add_campaign_variant(struct db *db, const char *campaign, int64_t variant, int position,
			    const char *name, const char *description, bool baseline,
			    struct err *e);

struct db_case {
	int64_t id;
	const char *identity, *benchmark, *name, *params, *swept, *description, *command;
	double expected; /* of the campaign */
};
int db_put_case(struct db *db, const struct db_case *c, int64_t *id, struct err *e);
int db_add_campaign_case(struct db *db, const char *campaign, int64_t case_id, int position,
			 double expected, struct err *e);

struct db_cell {
	int64_t id, variant_id, case_id;
	int seq, block, attempts;
	const char *state, *reason;
};
int db_add_cell(struct db *db, const char *campaign, const struct db_cell *c, struct err *e);
int db_get_cells(struct db *db, struct arena *a, const char *campaign, struct db_cell **cells,
		 size_t *n, struct err *e);
int db_set_cell(struct db *db, int64_t id, const char *state, int attempts, const char *reason,
		struct err *e);
/* After runs were judged anew: done with a good run (ok, suspect), failed where that is gone. */
int db_settle_cells(struct db *db, const char *campaign, struct err *e);

struct db_boot {
	int64_t id, variant_id, machine_id, started, console_id;
	const char *campaign, *boot_id, *outcome, *reason, *release, *build_id, *clocksource;
	double seconds; /* not positive: NULL, which reads as NAN */
	int block;
};
int db_add_boot(struct db *db, const struct db_boot *b, int64_t *id, struct err *e);
int db_set_boot(struct db *db, const struct db_boot *b, struct err *e);

struct db_run {
	int64_t id, variant_id, case_id, cell_id, boot_id, machine_id, started;
	const char *campaign, *outcome, *error, *message, *command, *parser;
	int block, attempt;
	int exit_status, signal;    /* -1 / 0: NULL */
	double elapsed;		    /* seconds; not positive: NULL, and so are the six below */
	double user_time, sys_time; /* NAN: NULL */
	int64_t max_rss, voluntary, involuntary; /* -1: NULL */
	int leftovers;
};
int db_add_run(struct db *db, const struct db_run *r, int64_t *id, struct err *e);
int db_set_run_outcome(struct db *db, int64_t run, const char *outcome, const char *error,
		       const char *message, struct err *e);

/* Compresses and stores; run 0: NULL. */
int db_add_raw(struct db *db, int64_t run, const char *stream, const char *name, struct span data,
	       int64_t *id, struct err *e);
struct db_raw {
	int64_t id, run_id, size;
	const char *stream, *name, *sha256;
	bool pruned; /* the text is gone */
};
int db_get_raws(struct db *db, struct arena *a, int64_t run, struct db_raw **raws, size_t *n,
		struct err *e);
/* A raw output with this hash (of a run, a source, a console), with its text if any; -ENOENT. */
int db_find_raw(struct db *db, const char *sha256, int64_t *id, struct err *e);
/* Decompresses and checks size and hash. -ENODATA: it was pruned. */
int db_read_raw(struct db *db, int64_t id, struct strbuf *out, struct err *e);

struct db_metric {
	int64_t id;
	const char *name, *unit, *description;
	enum direction direction;
	enum mean_kind mean_kind;
	const char *role; /* headline, counter, diagnostic */
	const char *topic,
		*reason;    /* heading it stands under; why that direction; "" if nobody said */
	bool deterministic; /* the same seed gives the same value: compared pair by pair */
};
/*
 * Finds by name or inserts. A metric's unit and direction never change under its name: -EINVAL;
 * an empty unit or an unknown direction is no contradiction. Kind of mean, role and words follow
 * the newest one with a direction; a headline or counter stays one when it also comes as diagnostic
 * (its series).
 */
int db_put_metric(struct db *db, const struct db_metric *m, int64_t *id, struct err *e);
/* value must be finite (-EINVAL). */
int db_add_sample(struct db *db, int64_t run, int64_t metric, double value, struct err *e);
/* Points that are not finite are left out; of two at one time the later one stays. */
int db_add_series(struct db *db, int64_t run, int64_t metric, const double *t, const double *v,
		  size_t n, struct err *e);
/* Removes samples, series and facts "series.*" of a run (before it is parsed again). */
int db_clear_samples(struct db *db, int64_t run, struct err *e);

struct db_summary {
	int64_t variant_id, case_id, metric_id;
	int idx, n, line; /* n 0: not stated */
	bool has_mean, has_deviation, has_change, mark;
	double mean, deviation, change;
	const char *mean_text, *mean_kind, *deviation_kind, *change_sign;
};
int db_add_summary(struct db *db, const char *campaign, const struct db_summary *s, struct err *e);

/*
 * The `verdict` of the view `summary`: computed by a comparison, kept for people with sqlite3.
 * Writes nothing where the same is stored.
 */
int db_put_verdict(struct db *db, const char *campaign, int64_t variant, int64_t case_id,
		   int64_t metric, enum verdict v, bool small, struct err *e);
int db_clear_verdicts(struct db *db, const char *campaign, struct err *e);

/* Replaces an older value of the key. */
int db_set_fact(struct db *db, const char *scope, const char *scope_id, const char *key,
		const char *value, struct err *e);
int db_remove_fact(struct db *db, const char *scope, const char *scope_id, const char *key,
		   struct err *e);

/* ---- reading ---- */

/*
 * Id, name (newest of that name), or unique prefix of an id; NULL: the newest. -ENOENT with what
 * there is, -ENOTUNIQ with the candidates.
 */
int db_find_campaign(struct db *db, struct arena *a, const char *what, struct db_campaign *c,
		     struct err *e);
int db_get_campaigns(struct db *db, struct arena *a, struct db_campaign **list, size_t *n,
		     struct err *e);
/* What a campaign holds, for lists; cells of imports: none. */
struct db_total {
	const char *campaign;
	int variants, cases, cells, done, boots, runs, ok;
};
/* campaign NULL: of all, in the order of db_get_campaigns (newest first). */
int db_get_totals(struct db *db, struct arena *a, const char *campaign, struct db_total **list,
		  size_t *n, struct err *e);
int db_get_machine(struct db *db, struct arena *a, int64_t id, struct db_machine *m, struct err *e);
int db_get_machines(struct db *db, struct arena *a, struct db_machine **list, size_t *n,
		    struct err *e);
int db_get_kernels(struct db *db, struct arena *a, struct db_kernel **list, size_t *n,
		   struct err *e);

struct db_variant {
	int64_t id;
	const char *campaign, *name, *description, *identity, *settings;
	int position;
	bool baseline;
	struct db_kernel kernel;
};
/* In the order of the config; campaign NULL: of all campaigns. */
int db_get_variants(struct db *db, struct arena *a, const char *campaign, struct db_variant **list,
		    size_t *n, struct err *e);
int db_get_cases(struct db *db, struct arena *a, const char *campaign, struct db_case **list,
		 size_t *n, struct err *e);
int db_get_metrics(struct db *db, struct arena *a, struct db_metric **list, size_t *n,
		   struct err *e);
/* Sorted by case, metric, variant. */
struct db_verdict {
	int64_t case_id, metric_id, variant_id;
	const char *verdict; /* as in the table verdicts: "worse", "better small" */
};
int db_get_verdicts(struct db *db, struct arena *a, const char *campaign, struct db_verdict **list,
		    size_t *n, struct err *e);
struct db_fact {
	const char *scope, *scope_id, *key, *value;
};
/* Values of the facts of a campaign's boots whose key starts with `prefix`, by variant. */
struct db_boot_fact {
	int64_t variant_id;
	const char *key, *value;
	int boots; /* with this value */
};
int db_get_boot_facts(struct db *db, struct arena *a, const char *campaign, const char *prefix,
		      struct db_boot_fact **list, size_t *n, struct err *e);
/* Facts of the good runs of a campaign whose key starts with `prefix`, by case, variant, run. */
struct db_run_fact {
	int64_t case_id, variant_id, run;
	const char *key, *value;
};
int db_get_run_facts(struct db *db, struct arena *a, const char *campaign, const char *prefix,
		     struct db_run_fact **list, size_t *n, struct err *e);
/* scope_id NULL: of all. */
int db_get_facts(struct db *db, struct arena *a, const char *scope, const char *scope_id,
		 struct db_fact **list, size_t *n, struct err *e);
int db_get_boots(struct db *db, struct arena *a, const char *campaign, struct db_boot **list,
		 size_t *n, struct err *e);
/* All runs of a campaign, oldest first. */
int db_get_runs(struct db *db, struct arena *a, const char *campaign, struct db_run **list,
		size_t *n, struct err *e);
/* One row by its id; -ENOENT. */
int db_get_boot(struct db *db, struct arena *a, int64_t id, struct db_boot *boot, struct err *e);
int db_get_run(struct db *db, struct arena *a, int64_t id, struct db_run *run, struct err *e);

/* Samples of a run, by metric name; and its series, by metric and time. */
struct db_value {
	const char *metric, *unit, *role;
	double t; /* seconds; of series only */
	double value;
};
int db_get_samples(struct db *db, struct arena *a, int64_t run, struct db_value **list, size_t *n,
		   struct err *e);
int db_get_series(struct db *db, struct arena *a, int64_t run, struct db_value **list, size_t *n,
		  struct err *e);

/*
 * The values a comparison is made of: one per unit (boots averaged over their runs, or runs),
 * in the order of blocks; only runs with outcome ok, no metrics of role diagnostic. Sorted by
 * case, metric, variant, block.
 */
struct db_unit {
	int64_t case_id, metric_id, variant_id;
	int64_t campaign; /* a number of its own in the database */
	int block;
	double value;
};
int db_get_units(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		 size_t *n, struct err *e);
/* Those of headlines only: a small part, for who reads hundreds of campaigns. */
int db_get_headline_units(struct db *db, struct arena *a, const char *campaign,
			  struct db_unit **list, size_t *n, struct err *e);
/*
 * The same of older campaigns with the cases of this one, as far as they compare with it: measured
 * on its machine, with its backend and its kind of unit. The newest DB_HISTORY of them: of two
 * variants and two units they still have ten degrees of freedom. Sorted by case, metric, campaign,
 * variant, block.
 */
enum { DB_HISTORY = 6 };
int db_get_history(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		   size_t *n, struct err *e);
/*
 * The same kernel under two names in one campaign (arms, variants with "same_as"), of the campaigns
 * that compare with this one, itself included: the newest DB_ARMS of them.
 */
enum { DB_ARMS = 30 };
struct db_arm {
	int64_t campaign;	 /* a number of its own in the database */
	int64_t original, again; /* variants */
};
int db_get_arms(struct db *db, struct arena *a, const char *campaign, struct db_arm **list,
		size_t *n, struct err *e);
/* The units of those arms; sorted by case, metric, campaign, variant, block. */
int db_get_arm_units(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		     size_t *n, struct err *e);
/*
 * One metric (by name), or all headlines (NULL), over all campaigns: a row a unit, by metric, test
 * case, machine and time. test_case NULL, machine 0: all of them.
 */
struct db_past {
	const char *campaign;
	int64_t created, machine_id, case_id, metric_id, variant_id;
	const char *test_case, *variant, *release, *commit;
	bool baseline, again; /* of the campaign; a second arm of another variant */
	double value;
};
int db_get_past(struct db *db, struct arena *a, const char *metric, const char *test_case,
		int64_t machine, struct db_past **list, size_t *n, struct err *e);
int db_get_summaries(struct db *db, struct arena *a, const char *campaign, struct db_summary **list,
		     size_t *n, struct err *e);

/* Rows of the view `summary`; NULL: of any campaign, of any metric. */
struct db_view {
	const char *campaign, *variant, *test_case, *metric, *unit;
	const char *verdict; /* NULL: not computed */
	enum direction direction;
	int n;				 /* 0: not stated */
	double hmean, amean, stddev, cv; /* NAN: none */
};
int db_get_view(struct db *db, struct arena *a, const char *campaign, const char *metric,
		struct db_view **list, size_t *n, struct err *e);

/* Runs per variant and case by outcome (a cell without any is not listed). */
struct db_count {
	int64_t case_id, variant_id;
	int ok, suspect, failed; /* failed: partial and error */
	const char *last_error;	 /* class of the newest failure, or NULL */
};
int db_get_counts(struct db *db, struct arena *a, const char *campaign, struct db_count **list,
		  size_t *n, struct err *e);

/* ---- bisections ---- */

struct db_bisection {
	int64_t id;
	const char *name, *campaign; /* campaign NULL: nothing was measured yet */
	const char *options;	     /* JSON, see hunt/bisect.h */
	const char *decisions;	     /* lines of what was said by hand: "skip 1f2a..." */
	int64_t created, ended;	     /* ended 0: it goes on */
};
/* Sets b->id. -EEXIST: one of that name goes on. */
int db_add_bisection(struct db *db, struct db_bisection *b, struct err *e);
int db_set_bisection(struct db *db, const struct db_bisection *b, struct err *e);
/* The one of that name that goes on; -ENOENT. */
int db_find_bisection(struct db *db, struct arena *a, const char *name, struct db_bisection *b,
		      struct err *e);
/*
 * Good runs of the variants of a campaign with its test case, whatever campaign measured them: on
 * its machine, with its backend and what it counts. Oldest first.
 */
struct db_evidence {
	int64_t variant_id, run, boot_id, started;
	bool own; /* of this campaign */
	double value;
};
int db_get_evidence(struct db *db, struct arena *a, const char *campaign, const char *metric,
		    struct db_evidence **list, size_t *n, struct err *e);
/*
 * Variants that were measured where the campaign would count it, and did not enter it, of kernels or
 * programs with a commit.
 */
struct db_foreign {
	int64_t variant_id;
	const char *identity, *commit;
};
int db_get_foreign(struct db *db, struct arena *a, const char *campaign, struct db_foreign **list,
		   size_t *n, struct err *e);

/* ---- what nightlies keep quiet about ---- */

struct db_ignore {
	const char *metric, *test_case; /* test_case "": all */
	int64_t until;			/* Unix seconds */
	const char *reason;
};
/* Replaces an older one of the same metric and test case. */
int db_put_ignore(struct db *db, const struct db_ignore *i, struct err *e);
/* test_case NULL: the one for all. -ENOENT. */
int db_remove_ignore(struct db *db, const char *metric, const char *test_case, struct err *e);
int db_get_ignores(struct db *db, struct arena *a, struct db_ignore **list, size_t *n,
		   struct err *e);

/* ---- care ---- */

/*
 * The texts of runs and consoles go, of campaigns that ended before `before` (Unix seconds) and
 * whose name begins with prefix; what was read of them stays, and so do their sizes and hashes, runs
 * that were never parsed and texts of imports. dry: only counts.
 */
struct db_pruned {
	int64_t texts, bytes; /* bytes: of the database, as they were packed */
};
int db_prune(struct db *db, int64_t before, const char *prefix, bool dry, struct db_pruned *done,
	     struct err *e);
/* Gives what is free in the file back to the file system; needs as much again meanwhile. */
int db_vacuum(struct db *db, struct err *e);
/* Bytes of the database, and of those what it would fill anew before it grew. */
struct db_size {
	int64_t bytes, free;
};
int db_get_size(struct db *db, struct db_size *size, struct err *e);
/* Runs of a campaign that have lost their raw outputs to db_prune. */
int db_count_pruned(struct db *db, const char *campaign, int64_t *runs, struct err *e);

/* A whole copy of the database as of now, also while others write; path must not exist yet. */
int db_backup(struct db *db, const char *path, struct err *e);
/*
 * Integrity, foreign keys, raw hashes, cells done without a good run, runs left in 'stored',
 * ended campaigns with planned cells, samples of runs that failed.
 * Each finding is one line; n = 0 means clean.
 */
int db_check(struct db *db, struct arena *a, const char ***findings, size_t *n, struct err *e);

#endif
