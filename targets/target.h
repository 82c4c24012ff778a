/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that is booted into each variant's kernel and measured by its agent (guest/target.h),
 * which a program (ssh) leads to.
 */
#ifndef TARGETS_TARGET_H
#define TARGETS_TARGET_H

#include "runner/backend.h"
#include "runner/link.h"
#include "targets/boot_state.h"

struct target_kernel {
	struct kernel_found found;
	const char *image_name, *initrd_name; /* of what is copied there; NULL: nothing */
	const char *image, *initrd; /* on the target, installed there; NULL: not yet, "": none */
	const char *failed; /* message: it did not boot, and is not tried again */
};

struct target {
	struct backend *b;
	const struct target_config *c;
	bool local; /* it is this machine: a restart ends us, too */
	const char *const *argv; /* of the program that leads to the agent */
	struct link link;
	const char *nonce; /* of our lock; part of job ids and boot tokens */
	struct target_kernel *kernels; /* of the variants */
	struct boot_state state;
	int visits, jobs;
	const char *arrived; /* id of the job whose result may be forgotten there, or NULL */
	int64_t console_at; /* bytes of the console's file when the visit began */
};

/* ---- target.c: the connection ---- */

/* Connects, takes the lock, checks what can be checked before a boot; fills b->machine. */
int target_prepare(struct target *t, struct err *e);
/* Connects (anew) and takes our lock again; -EKEYREJECTED, -EACCES, -EBUSY: waiting is no use. */
int target_connect(struct target *t, double seconds, struct err *e);
/* The same, again and again for so many seconds (at most its boot deadline), while it boots. */
int target_reach(struct target *t, double seconds, struct err *e);
bool target_has_program(struct backend *b, const char *program);
void target_release(struct backend *b);
/* The error of ssh in words of ours, with what to do. */
void target_explain(struct err *e, const struct target_config *c, int *code);
/* "ssh", options, host, "--", agent of this version, folders. */
const char *const *target_ssh_argv(struct arena *a, const struct target_config *c,
				   const char *const *command);
/* The agent's place on a target, with the hash of this program's agent in its name. */
int target_agent_path(struct arena *a, const struct target_config *c, const char **path,
		      struct err *e);
/* Folder that kernels are put into. */
const char *target_kernel_folder(struct arena *a, const struct target_config *c);

void target_fail(struct target *t, struct visit *v, const char *error, const char *fmt, ...)
	_printf_(4, 5);
struct boot_sight target_sight(struct target *t);

/* ---- target_boot.c: into a kernel ---- */

int target_find_kernel(struct backend *b, int variant, struct kernel_found *k, struct err *e);
bool target_goes_on(struct backend *b, int variant, int block);
int target_boot(struct backend *b, struct visit *v, struct err *e);
/* Stores the state, before what it says is done. */
int target_keep(struct target *t, const struct visit *v, struct err *e);
/* Sysctls, features and knobs of v->variant in the place of those before; v->error: they cannot. */
int target_apply(struct target *t, struct visit *v, struct err *e);
/* Adds what the target's kernels left in pstore, and what its console said, to the visit. */
void target_add_console(struct target *t, struct visit *v);

/* ---- target_run.c ---- */

int target_run(struct backend *b, struct visit *v, const struct job *job,
	       struct job_result *result, struct err *e);
int target_flip(struct backend *b, struct visit *v, struct err *e);
int target_collect(struct backend *b, struct visit *v, struct err *e);

#endif
