/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the kernel with a column for each CPU: /proc/softirqs, /proc/interrupts. */
#ifndef MACHINE_PERCPU_H
#define MACHINE_PERCPU_H

#include "machine/monitor.h"

struct percpu_table {
	struct span rest;
	struct span header; /* "CPU0 CPU1 CPU4": the CPUs that are online */
	size_t cpus;
};

void percpu_begin(struct percpu_table *t, struct span text);
/* The next row: "TIMER" and what stands behind its colon. */
bool percpu_next(struct percpu_table *t, struct span *name, struct span *rest);
/*
 * Adds a row's sum over the CPUs as "head.name", each: also "head.CPU0.name". *rest is left behind
 * the last number.
 */
void percpu_add(struct monitor_sink *s, const struct percpu_table *t, const char *head,
		struct span name, struct span rest, bool each);
/* Sum of a row; *rest is left behind its last number. Returns how many numbers there were. */
size_t percpu_sum(const struct percpu_table *t, struct span *rest, double *sum);
/* Adds every CPU of a row as "head.CPU0.name". */
void percpu_add_each(struct monitor_sink *s, const struct percpu_table *t, const char *head,
		     struct span name, struct span rest);

#endif
