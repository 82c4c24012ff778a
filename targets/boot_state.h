/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a machine is on its way into a variant's kernel. Pure: events in, a state and what to do
 * out. The caller stores the state durably before it acts, so that whatever is killed (this
 * program, the target, the line between them), the next look at the target's boot id, kernel and
 * boot token tells what happened.
 *
 *	planned -> armed -> booting -> verified -> running -> collected
 *	   ^__________________|			failed(reason) from any of them
 *
 * Reasons are those of struct visit: config_error, no_boot, wrong_kernel, hang, lost.
 */
#ifndef TARGETS_BOOT_STATE_H
#define TARGETS_BOOT_STATE_H

#include <stdbool.h>

#include "core/str.h"

enum boot_step {
	BOOT_PLANNED,
	BOOT_ARMED,   /* the kernel is being made the next one to boot, once */
	BOOT_BOOTING, /* the restart was asked for */
	BOOT_VERIFIED,
	BOOT_RUNNING, /* benchmarks run */
	BOOT_COLLECTED,
	BOOT_FAILED,
};

enum boot_event {
	BOOT_SEEN,     /* connected: what the target runs */
	BOOT_REFUSED,  /* the target cannot arm or restart */
	BOOT_READY,    /* armed: about to restart; or verified: about to measure */
	BOOT_DEADLINE, /* no connection, or only the old boot, for too long */
	BOOT_BROKEN,   /* the connection was lost and did not come back */
	BOOT_END,      /* the results are stored */
};

enum boot_action {
	BOOT_DO_WAIT, /* look again */
	BOOT_DO_ARM,
	BOOT_DO_RESTART,
	BOOT_DO_MEASURE,
	BOOT_DO_LEAVE, /* nothing more: failed or collected */
};

enum { BOOT_ATTEMPTS = 2 };

/* A look at the target. token: of its kernel's command line, "" if kdelta did not boot it. */
struct boot_sight {
	const char *boot_id, *release, *version, *build_id, *token;
};

struct boot_state {
	enum boot_step step;
	int attempt; /* from 1 once armed */
	const char *token;
	/* wanted; version ("6.1.0 (...) #1 SMP ...", as in an image's header) and build_id "":
	 * not known */
	const char *release, *version, *build_id;
	const char *safe;    /* release a plain restart leads to, "": not known */
	const char *boot_id; /* before the restart; once verified that of the new boot */
	const char *reason, *message; /* of failed; "" */
};

/*
 * One event; sight is of BOOT_SEEN, which also begins a planned boot. *s is changed, its new
 * strings are in the arena. An event that cannot happen in a step changes nothing and waits.
 */
enum boot_action boot_state_step(struct boot_state *s, struct arena *a, enum boot_event event,
				 const struct boot_sight *sight);

const char *boot_step_name(enum boot_step step);
/* "key value" a line, and back: false if the text is none. */
char *boot_state_text(struct arena *a, const struct boot_state *s);
bool boot_state_read(struct arena *a, const char *text, struct boot_state *s);

#endif
