/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this user's kdelta knows of its targets: a file for each below $XDG_DATA_HOME, written at
 * every contact and every try, so that a look at it needs no network.
 */
#ifndef TARGETS_TARGET_KNOWN_H
#define TARGETS_TARGET_KNOWN_H

#include <stdint.h>

#include "campaign/campaign.h"

struct target_known {
	const char *target; /* "root@lab1", "root@lab1:2222" */
	/* "free", "measuring" (we hold its lock), "busy" (somebody else does), "unreachable" */
	const char *state;
	const char *kernel; /* release it ran at the last contact, "": none yet */
	const char *owner;  /* of its lock, "ada@desk, pid 4711"; "": nobody */
	const char *reason; /* of unreachable, else "" */
	int64_t contact;    /* Unix time of the last answer, 0: none yet */
	int64_t tried;	    /* Unix time of the last try */
};

/*
 * Keeps how a try ended; kernel NULL: as before. A contact is what is not unreachable. What cannot
 * be written is not kept: nothing depends on it.
 */
void target_known_keep(struct arena *a, const struct target_config *c, struct target_known seen);
/* The target was given up (`target remove`). */
void target_known_forget(struct arena *a, const struct target_config *c);
/* Sorted by name. */
int target_known_list(struct arena *a, struct target_known **list, size_t *n, struct err *e);

#endif
