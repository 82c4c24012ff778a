/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preparing a machine for the ssh backend, looking at it, and undoing it. */
#ifndef TARGETS_TARGET_SETUP_H
#define TARGETS_TARGET_SETUP_H

#include "campaign/campaign.h"

struct target_finding {
	const char *what, *value;
	const char *trouble; /* NULL: fine; else what is wrong and what to do */
};

/*
 * Copies this program's agent to the target under its own name (not if it is there), marks the
 * machine as one that may be rebooted and, where systemd runs, installs the unit that leads it back
 * to its safe kernel when nobody comes. Again: nothing changes. done: lines for people.
 */
int target_setup(struct arena *a, const struct target_config *c, struct strbuf *done,
		 struct err *e);
/* What stands in the way of measuring there: rights, kexec, disk, clock, programs. */
int target_check(struct arena *a, const struct target_config *c, const char *const *programs,
		 struct target_finding **list, size_t *n, struct err *e);
/* Removes all of it: agents, state, kernels, unit. */
int target_remove(struct arena *a, const struct target_config *c, struct strbuf *done,
		  struct err *e);

#endif
