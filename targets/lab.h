/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A campaign on the nodes of a cluster that Slurm runs. Every node measures the whole plan, in an
 * order of its own drawn from the campaign's seed, as a campaign NAME-NODE: machines are never mixed
 * in one comparison. A visit (block, variant) is a job array whose tasks are `kdelta run --one
 * CELL`; one is in the queue for a node at a time, so that a cell that is tried again stays in its
 * block.
 *
 * It stands beside the backends because their visits are entered, measured and stored by one
 * process, one after the other; here each node has its own, and this program only reads what they
 * left in a folder that all see:
 *
 *	FOLDER/NAME/seed		of the campaign
 *	FOLDER/NAME/NODE.tar.zst	the node's campaign so far (bundle.h), written by its jobs
 *	FOLDER/NAME/NODE.CELL.log	what the last job of a cell said
 *	FOLDER/NAME/NODE.CELL.exit	and how it ended
 *
 * (FOLDER/NAME-SEED once all is done.)
 * So this program may be killed anywhere: the queue and the folder say how far everything is.
 */
#ifndef TARGETS_LAB_H
#define TARGETS_LAB_H

#include "campaign/campaign.h"
#include "db/db.h"

/* Exit of `run --one` under a kernel that is not the cell's; EX_TEMPFAIL, Slurm's RequeueExit. */
enum { LAB_EXIT_REQUEUE = 75 };
#define LAB_REFUSED "nothing was measured: "

struct lab_options {
	bool resume;			/* go on with FOLDER/NAME; otherwise it must not be there */
	const char *config;		/* the campaign file, by a path that the nodes know, too */
	void (*note)(const char *text); /* a line for people; may be NULL */
};

struct lab_report {
	int runs, done, failed;	      /* cells of all nodes */
	bool interrupted;	      /* jobs go on; so does a later lab_run() */
	ARRAY_OF(const char *) campaigns; /* names, of nodes that measured anything */
};

/*
 * Runs until every cell of every node is done or failed with its reason. A cell is failed after
 * c->slurm.attempts jobs that stored nothing, all cells of a variant after as many jobs in a row
 * that met another kernel, and all of a node that was down for c->slurm.boot_deadline.
 */
int lab_run(struct db *db, struct arena *a, struct campaign_config *c,
	    const struct lab_options *opt, struct lab_report *report, struct err *e);

#endif
