/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A campaign that grows: of many variants (commits) only those enter it that are measured, and
 * every run is wanted only once those before are known. Rows, raw outputs and failures are stored
 * as for any campaign; its kind is "bisect".
 */
#ifndef RUNNER_GROW_H
#define RUNNER_GROW_H

#include "runner/run.h"

struct grow;

/* What became of a run; strings in the arena. */
struct grow_run {
	bool good;
	bool broken;	     /* cannot be built or booted: another try makes no sense */
	const char *message; /* why it is not good */
	double build_seconds, run_seconds; /* finding or building; boot and run */
};

/*
 * Opens the campaign of that id, or begins one (id NULL) with the name of c, which has one test
 * case. Holds the lock of the machine until grow_close(). What changed since it was begun (test
 * case, backend, machine) is -EINVAL. c->seed is the campaign's afterwards.
 */
int grow_open(struct db *db, struct arena *a, const struct catalog *cat, struct campaign_config *c,
	      const char *id, void (*note)(const char *text), struct grow **g, struct err *e);
const char *grow_campaign(const struct grow *g);
/*
 * Builds variant i of the config if need be, enters it and measures it in a boot of its own; a run
 * that fails is tried once more. -EINTR: a signal, nothing half is counted. -ENOSPC: a build failed
 * on a full disk, which says nothing about the variant. -ESTALE: it is built in another way than
 * when it entered (compiler, running kernel).
 */
int grow_measure(struct grow *g, size_t variant, struct grow_run *run, struct err *e);
/*
 * Enters variant i without measuring it if its identity is this one, so that runs of other campaigns
 * count for it. Nothing is built.
 */
int grow_adopt(struct grow *g, size_t variant, const char *identity, struct err *e);
/* g may be NULL. */
void grow_close(struct grow *g);
static inline void grow_close_ptr(struct grow **g)
{
	grow_close(*g);
}
#define _cleanup_grow_ _cleanup_(grow_close_ptr)

#endif
