/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent on a target: a machine that a controller measures on, over frames (jobs/frame.h) on
 * stdin and stdout of one ssh channel. It begins with `hello` (facts, "key value" a line); then it
 * answers one request after another with `ok` and a body, or `failed` and why:
 *
 *	lock	owner, pid, nonce, lease, force ("key value" a line); `busy` and the holder if it is
 *		another's; ok with a note, "" if there is nothing to tell
 *	unlock	puts settings back and gives the lock away
 *	put	"NAME\n" and the bytes of a kernel or initrd
 *	list	-> "NAME BYTES" a line; remove NAME
 *	kernel	RELEASE -> image, sha256, initrd of a kernel installed in /boot
 *	programs	a name a line -> those that are not in PATH
 *	arm	method, image, initrd, cmdline: the next restart boots this, once. Taken back by
 *		disarm, unlock, another controller's lock and a line that ends before a restart
 *	restart	"kexec" or "reboot"
 *	set	settings -> what could not be set
 *	job	"ID\n" and a job (jobs/job.h), started apart from this connection
 *	wait	ID -> `result` with its result, `running`, or `lost` when its process is gone
 *	forget	ID: its result has arrived; stop ID: end it
 *	pstore	-> what kernels left there, and removes it
 *
 * Everything but hello, list, kernel, programs and pstore needs the lock. Files lie in the state
 * folder: jobs/ID.result (written, synced, renamed), restore.journal, lock, safe, armed.
 */
#ifndef GUEST_TARGET_H
#define GUEST_TARGET_H

#include <stdint.h>

#include "core/err.h"
#include "core/str.h"

/* Says which kernel kdelta booted: "kdelta.boot=TOKEN" on the command line. */
#define TARGET_TOKEN "kdelta.boot="

struct target {
	struct arena *a; /* of one request */
	const char *state, *kernels; /* folders */
	int lock_fd; /* held while this agent serves the lock's owner; -1: not */
	char *nonce; /* of the owner */
	int64_t lease; /* seconds the lock outlives its connection */
};

/* Serves stdin and stdout until the controller hangs up; returns an exit status. */
int target_serve(const char *state, const char *kernels);

/*
 * Under a kernel that kdelta booted: restarts into the safe one unless a controller comes within
 * seconds. For a unit at boot; returns at once under any other kernel.
 */
int target_guard(const char *state, const char *seconds);

/*
 * Requests: NULL with an error added, or the type of the reply whose body was added to out.
 */
typedef const char *(*target_fn)(struct target *t, struct span body, struct strbuf *out,
				 struct err *e);
const char *target_put(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_list(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_remove(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_kernel(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_arm(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_disarm(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_restart(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_pstore(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_job(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_wait(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_forget(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_stop(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_lock(struct target *t, struct span body, struct strbuf *out, struct err *e);
const char *target_unlock(struct target *t, struct span body, struct strbuf *out, struct err *e);
/* What is armed in this boot and was not restarted into is taken back; 0: nothing is. */
int target_take_back(struct target *t, struct err *e);
/* Stops and removes the jobs of other controllers than the lock's owner. */
void target_clear_jobs(struct target *t);
/* The controller hung up: the lease of its lock begins now. */
void target_hang_up(struct target *t);
/* The restart goes on as planned: the lock outlives it. */
void target_extend(struct target *t);

/* Value of a line "key value", "" if there is none. */
char *target_value(struct target *t, struct span text, const char *key);
/* A name without folders that begins with a letter or digit; NULL with an error. */
char *target_name(struct target *t, struct span text, struct err *e);
char *target_path(struct target *t, const char *name, const char *ending);

#endif
