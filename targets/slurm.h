/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kdelta asks of Slurm, by its commands: sbatch, squeue, sinfo, scancel (slurm-wlm 22.05). */
#ifndef TARGETS_SLURM_H
#define TARGETS_SLURM_H

#include "campaign/campaign.h"

/*
 * Runs one of its commands; *out (may be NULL) is what it printed, trimmed, "" where it failed: then
 * e has what it said.
 */
int slurm_ask(struct arena *a, const char *const *argv, const char **out, struct err *e);
/* Words of a NULL-terminated list with commas between them, as its commands take lists. */
char *slurm_join(struct arena *a, const char *const *words);

/* Cells of one visit on one node. */
struct slurm_job {
	const char *name, *node;
	const char *feature; /* of the node, which makes Slurm boot it: see lab_setup.h */
	const char *cells;   /* "4,5,6": the tasks of the array, one after the other */
	bool reboot;	     /* although the node says that it has the feature */
	const char *log;     /* file, with %a for the cell */
	const char *script;
};
/* Puts it into the queue; e has what sbatch said. */
int slurm_submit(struct arena *a, const struct slurm_config *c, const struct slurm_job *job,
		 struct err *e);

/* A node and the jobs of its name. */
struct slurm_sight {
	bool queued; /* waiting, booting or running */
	bool held;   /* one that Slurm will not start by itself */
	bool down;   /* the node is down, drained or does not answer */
};
/* jobs: a name for each of c->nodes; sight: likewise. */
int slurm_look(struct arena *a, const struct slurm_config *c, const char *const *jobs,
	       struct slurm_sight *sight, struct err *e);
/* Takes the jobs of a name out of the queue, running ones too. */
int slurm_cancel(struct arena *a, const char *name, struct err *e);

#endif
