/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This machine's own files for a guest that builds: read only, by virtiofsd where it is installed
 * and we are root (then it sees a read-only view of all mounts), else by QEMU's own 9p.
 */
#ifndef RUNNER_SHARE_H
#define RUNNER_SHARE_H

#include "core/proc.h"
#include "runner/guest.h"

struct share {
	const char *kind;	    /* "virtiofs" or "9p", as guest/share.h mounts it */
	const char *const *modules; /* that a guest needs for it, NULL-terminated */
	const char *daemon;	    /* virtiofsd; NULL: none is needed */
	struct proc_child child;
	char *dir; /* private, with the daemon's socket; NULL: not started */
};

void share_choose(struct arena *a, struct share *s);
/* For one guest: sets spec->share, whose text is in the arena. share_stop() once it has ended. */
int share_start(struct arena *a, struct share *s, struct guest_spec *spec, struct err *e);
/* Nothing for a share that was not started. */
void share_stop(struct share *s);

#endif
