/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This machine and its running kernel, from /proc and /sys only, so that a small guest can play a
 * machine too. Tests play one with a folder, $KDELTA_MACHINE, that has such files.
 */
#ifndef MACHINE_HOST_H
#define MACHINE_HOST_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"
#include "db/db.h"

struct running_kernel {
	const char *release;  /* uname -r */
	const char *version;  /* uname -v */
	const char *build_id; /* of /sys/kernel/notes, "" if there is none */
	const char *boot_id, *clocksource, *cmdline;
};
void machine_read_kernel(struct arena *a, struct running_kernel *k);

/*
 * fingerprint: hash of processor model, number of CPUs and NUMA nodes, memory in GiB, product name
 * and host name; what must be equal for two runs to be comparable.
 */
void machine_read(struct arena *a, struct db_machine *m);

/* CPUs online; from a CPU list file of /sys, at least 1. */
int machine_cpus(void);
/* CPU list of a NUMA node ("0-3,8-11"), NULL if there is no such node. */
char *machine_node_cpus(struct arena *a, int node);

/* How many CPUs a list "0-3,8" names, and the highest; -1: not a CPU list. */
int cpulist_count(const char *list, int *highest);

#endif
