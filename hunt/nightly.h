/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nights: new commits of a branch are measured as they come, and told of only where something
 * changed. A night is a campaign NAME-night-HASH (a baseline, its second arm, the commit); a
 * suspicion is checked by NAME-again-HASH. What became of every metric is replayed from them
 * (stats/nights.h); stored besides are only the ignores, and which nights were told.
 */
#ifndef HUNT_NIGHTLY_H
#define HUNT_NIGHTLY_H

#include "hunt/nightly_read.h"

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

#endif
