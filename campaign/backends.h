/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of places that a campaign file can name; what they do is for runner/backend.h to say. */
#ifndef CAMPAIGN_BACKENDS_H
#define CAMPAIGN_BACKENDS_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/registry.h"

struct visit;
struct job;
struct job_result;
struct kernel_found;
struct backend;

struct backend_ops {
	const char *name; /* "qemu" */
	const char *unit; /* "boot" or "run": what statistics count */
	bool local;	  /* runs happen on this machine, with its programs and paths */
	bool reboots;	  /* this machine is restarted: only with b->may_restart */
	/* Checks needs and prepares (download, unpack, initramfs). known_build_id: what the
	 * database has for a kernel, by image hash (may return NULL). */
	int (*prepare)(struct backend *b, struct err *e);
	/* NULL: programs lie on this machine. Whether the machine measured has this one in PATH. */
	bool (*has_program)(struct backend *b, const char *program);
	/* Finds the kernel of a variant; permanent errors name an alternative. */
	int (*find_kernel)(struct backend *b, int variant, struct kernel_found *k, struct err *e);
	/*
	 * NULL, or whether the variant can be booted into now without a reboot by hand (manual). One
	 * boot then gives one block only.
	 */
	bool (*is_running)(struct backend *b, int variant);
	/*
	 * NULL, or whether an earlier kdelta ended while the machine was on its way into this visit,
	 * which boot() goes on with.
	 */
	bool (*goes_on)(struct backend *b, int variant, int block);
	/* Returns 0 with v->error set when the variant could not be booted. */
	int (*boot)(struct backend *b, struct visit *v, struct err *e);
	/*
	 * Flip mode, in a visit that goes on: the settings of v->variant in the place of those
	 * before. Returns 0 with v->error set when they cannot be. NULL: it cannot.
	 */
	int (*flip)(struct backend *b, struct visit *v, struct err *e);
	/* Returns 0 with result->error set when the visit broke; then v->error is set too. */
	int (*run)(struct backend *b, struct visit *v, const struct job *job,
		   struct job_result *result, struct err *e);
	int (*collect)(struct backend *b, struct visit *v, struct err *e);
	void (*release)(struct backend *b);
};

REGISTRY(backend_ops);

const struct backend_ops *backend_find(const char *name);
/* Sorted, NULL-terminated. */
const char *const *backend_names(struct arena *a);

#endif
