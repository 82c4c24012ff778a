/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw output -> database: stored first, parsed after; shared by run, record, import and reparse. */
#ifndef RUNNER_STORE_H
#define RUNNER_STORE_H

#include "campaign/campaign.h"
#include "campaign/catalog.h"
#include "db/db.h"
#include "jobs/job.h"
#include "parsers/parser.h"

/* What a run left, kept as it is; empty streams are not stored. */
struct run_output {
	struct span out, err;
	struct span monitors; /* log of machine/monitor.h */
	struct span count;    /* report of kdelta-count (jobs/count.h) */
	/* What a parser made of the text already, with the same exit status; NULL: nothing yet. */
	struct parse_result *parsed;
};

static inline struct run_output run_output_of(const struct job_result *r)
{
	return (struct run_output){
		.out = {strbuf_str(&r->proc.out), r->proc.out.len},
		.err = {strbuf_str(&r->proc.err), r->proc.err.len},
		.monitors = {strbuf_str(&r->monitors), r->monitors.len},
		.count = {strbuf_str(&r->count), r->count.len},
	};
}

/*
 * Stores a run and its raw streams in one transaction with outcome 'stored', then parses and
 * writes samples in a second one (of ok and suspect runs). run->id is set; the final outcome,
 * class and message go into *run. run->error set by the caller means that there was no run at all
 * (not_found, server_failed ...): it is stored as it is. A deadline that passed is exit status 124.
 * params: what was asked for; where the output says something else the run is suspect.
 * Of a run that was counted the counts are the only samples: its clock was none.
 */
int store_run(struct db *db, struct arena *a, const struct catalog *cat,
	      const struct bench_def *def, struct db_run *run, const struct run_output *output,
	      const struct param_value *params, size_t n_params, struct err *e);

/* Parses the stored raw output of a run again with today's parser. */
int store_reparse(struct db *db, struct arena *a, const struct catalog *cat, struct db_run *run,
		  struct err *e);

#endif
