/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What run.c, resume.c and calibrate.c share of a campaign in progress. */
#ifndef RUNNER_SESSION_H
#define RUNNER_SESSION_H

#include "runner/backend.h"
#include "runner/run.h"

struct session_variant {
	struct kernel_found kernel;
	const char *identity;
	const char *original; /* of a second arm: the identity it is the same as; NULL: none */
	int64_t id, kernel_id;
};

struct session_case {
	int64_t id;
	const char *command;
	bool missing;	 /* its program is not installed */
	bool cut;	 /* does not fit into the budget, while that is worked out */
	double priority; /* under a budget: higher ones come first */
};

struct session {
	struct db *db;
	struct arena *a;
	const struct catalog *cat;
	struct campaign_config *c;
	const struct run_options *opt;
	struct run_report *report;
	struct err *e;
	struct backend backend;
	bool slow; /* guests are emulated */
	bool grows; /* grow.h: variants and cells enter one by one */
	struct db_campaign row;
	struct session_variant *variants;
	struct session_case *cases;
	struct db_cell *cells; /* in order of execution */
	size_t n_cells;
	ARRAY_OF(struct db_fact) calibrated; /* to be stored with the campaign */
	const char *design;		     /* of the fact: NULL, "until-sure", "budget" */
	bool until_sure;
	bool was_flip;	      /* of the fact */
	const char *stop;     /* of the fact, or NULL */
	int added;	      /* units a side after the campaign was finished */
	int runs_per_boot;    /* of the fact; 0: none */
	double budget;	      /* seconds, 0: none */
	struct run_row *rows; /* as judged last, by test case and variant */
	size_t n_rows;
	double began;	      /* monotonic */
	double earlier_rest;  /* seconds of earlier parts of a resumed campaign */
	double expected_done; /* seconds expected of the runs measured in this part */
	double measured;      /* and what they took */
	double entering;      /* seconds spent entering and leaving, in this part */
	int visits;	      /* in this part */
};

static inline const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* Index in the config of a cell's test case and variant. */
static inline size_t session_case_index(const struct session *s, const struct db_cell *cell)
{
	size_t i = 0;

	while (s->cases[i].id != cell->case_id)
		i++;
	return i;
}

static inline size_t session_variant_index(const struct session *s, const struct db_cell *cell)
{
	size_t i = 0;

	while (s->variants[i].id != cell->variant_id)
		i++;
	return i;
}

/* Whether any cell of a block (0: of all) is so. */
static inline bool session_has(const struct session *s, int block,
			       bool (*is)(const struct db_cell *cell))
{
	size_t i;

	for (i = 0; i < s->n_cells; i++)
		if ((!block || s->cells[i].block == block) && is(&s->cells[i]))
			return true;
	return false;
}

#define ORDER_FLIP "flip" /* value of the fact `order`; without it blocks */

enum { MAX_ATTEMPTS = 2 }; /* a failed run is tried once more */

/* The settings of a variant as the database has them. */
static inline char *session_settings(const struct session *s, size_t variant)
{
	return variant_settings_json(s->a, &s->c->variants[variant], s->variants[variant].original);
}

/* Prepares the backend; what is left of it is s->backend.ops->release()'s. */
int session_open_backend(struct session *s);
/* Finds the kernel of one variant, and its identity. */
int session_find_kernel(struct session *s, size_t variant);
/* Programs, expected times and sources of the test cases. */
int session_prepare_cases(struct session *s);
int session_check_machine(struct session *s);
/* Enters a variant into the campaign, and its kernel into the database. */
int session_add_variant(struct session *s, size_t variant);
/* Calibrates, then writes the whole campaign with its plan at once, or nothing; reads the cells. */
int session_create(struct session *s);
/* What was found of a variant's kernel; fills what an unlucky earlier part left empty. */
int session_put_kernel(struct session *s, size_t variant);
/* Plans further blocks; wanted NULL: of everything. To be called in a transaction. */
typedef bool (*session_want_fn)(const struct session *s, size_t variant, size_t test);
int session_add_blocks(struct session *s, int blocks, session_want_fn wanted);
/* Calls fn in a transaction and reads the cells anew. */
int session_in_transaction(struct session *s, int (*fn)(struct session *s, int arg), int arg);
/* A fact of the campaign; value NULL: removed. */
int session_set_fact(struct session *s, const char *key, const char *value);

/* ---- looks ---- */

/* Design, stop, units added, budget: what the facts say. */
int session_read_design(struct session *s);
/* Number of the look that is due after so many blocks, 0: none. */
int session_look_after(int blocks);
/* After all that is planned was measured: judges, and plans the blocks of the next look. */
int session_look(struct session *s, bool *more);
/* A look before the end of a fixed plan: settled rows stop. After session_judge(). */
int session_settle(struct session *s, int look);
/* Makes s->rows; session_row: of a variant that is not the baseline. */
int session_judge(struct session *s);
const struct run_row *session_row(const struct session *s, size_t variant, size_t test);
int session_count_rows(const struct session *s, enum run_row_state state);
char *session_name_rows(const struct session *s, enum run_row_state state);
/* "10 boots a side" */
const char *session_units(const struct session *s, int n);
/* --add: further blocks of a finished campaign. */
int session_add_units(struct session *s);

/* ---- budget ---- */

/* How the reasons of cells begin that are skipped by decision. */
#define BUDGET_REASON  "budget"
#define SETTLED_REASON "settled"
bool session_is_dropped(const struct db_cell *cell);
/* Whether the budget cut any cell. */
bool session_is_cut(const struct session *s);
/* Refuses a budget that not even one block fits into. */
int session_check_budget(struct session *s);
/* Stores the budget; what an earlier one cut is planned again. */
int session_set_budget(struct session *s);
/* Before a block: what comes first, and what of it fits. */
int session_budget_block(struct session *s, int block);
/* What was cut, as fact `stop`. */
int session_end_budget(struct session *s);

struct visit_cells {
	struct db_cell **items;
	size_t n;
};
/* Under a budget: cells of the most urgent test cases first. */
void session_order_cells(const struct session *s, struct visit_cells cells);
/* Enters a variant, runs and stores the cells, leaves. Failures are stored, not returned. */
int session_visit(struct session *s, int block, size_t variant, struct visit_cells cells);
/* The parts of it: a visit that is open takes cells until it is closed (ret: what happened). */
struct open_visit {
	struct visit v;
	struct db_boot boot;
};
int session_open(struct session *s, int block, size_t variant, const struct job *first,
		 struct open_visit *o);
/* Whether an earlier part of the campaign ended on its way into this visit. */
bool session_goes_on(struct session *s, int block, size_t variant);
/* Runs and stores one cell, under the visit's error a failed one without any output. */
int session_run_cell(struct session *s, struct open_visit *o, struct db_cell *cell);
int session_close(struct session *s, struct open_visit *o, int ret);
/*
 * Whether a variant may be visited for a block now. Where others boot only the running one may, and
 * a boot that has served one block serves no other, nor another arm.
 */
int session_may_visit(struct session *s, int block, size_t variant, bool *may);
/* `run --one`: sets report->refused where the running kernel is not that of the cell. */
int session_check_one(struct session *s);
/* Runs and stores it; report->refused likewise. A cell that is done is left so. */
int session_run_one(struct session *s);
/* Flip mode: all that is planned, one tuple after the other, in as few boots as possible. */
int session_flip(struct session *s);

/* Progress: before a run (failed NULL), or that it failed and whether it is tried again. */
void session_tell(struct session *s, const struct db_cell *cell, const char *failed, bool retried);
/* Seconds expected of what is planned in a block (0: all), leaving out cases that are cut. */
double session_estimate(const struct session *s, int block);
/* Seconds that the campaign has taken, all parts of it. */
double session_seconds(struct session *s);
/* Of one visit where guests are emulated, until one was made. */
#define SLOW_VISIT_SECONDS 8.0
/* Facts time_split.boot, .run and .rest: seconds over all parts of the campaign. */
int session_set_times(struct session *s);
int session_read_times(struct session *s);

/*
 * One job in a visit: benchmark and variant environment joined. The result is the caller's to
 * release.
 */
int session_run_job(struct session *s, struct visit *v, const struct test_case *c,
		    struct job_result *result);

/* Sets every `auto` parameter to product / the parameter it is constant with. */
void session_set_auto(struct session *s, const struct bench_def *bench, const struct bench_param *p,
		      double product);
/* Calls fn for each benchmark of the campaign with an auto parameter still open. */
typedef int (*session_auto_fn)(struct session *s, const struct bench_def *bench,
			       const struct bench_param *p);
int session_for_each_auto(struct session *s, session_auto_fn fn);
/* Measures how much work makes a run last as long as wanted; products go to s->calibrated. */
int session_calibrate(struct session *s);
/* Key of the fact that keeps a product: "calibration.hackbench.loops". */
char *session_auto_key(struct session *s, const struct bench_def *bench,
		       const struct bench_param *p);

/*
 * Finds the campaign to go on with (into s->row) and applies what it calibrated. *found: there is
 * one. must: without one it is an error.
 */
int session_find(struct session *s, bool must, bool *found);
/* Refuses where the config of today is not the one begun with; sets the ids of variants, cases. */
int session_match(struct session *s);
/* The same of one that grows, as far as it has come. */
int session_match_grown(struct session *s);
/* Cells that failed for want of a kernel, which is there now, are planned again. */
int session_retry_kernels(struct session *s);
/* Settles what a kill left: runs stored but not parsed, cells behind their runs, open boots. */
int session_reconcile(struct session *s);

#endif
