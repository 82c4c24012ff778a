/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine is set to, besides its kernel: whatever could explain a difference between two
 * runs. Read anew in every boot, below a root (machine/rooted.h).
 */
#ifndef MACHINE_FACTS_H
#define MACHINE_FACTS_H

#include "core/mem.h"

struct machine_fact {
	const char *key;   /* "cpufreq.governor" */
	const char *value; /* one line, never empty */
};

/*
 * The facts that this machine has, in the order of their table; n of them. root: "" on a machine.
 * dir: work folder, whose file system is named; NULL: none.
 */
struct machine_fact *machine_read_facts(struct arena *a, const char *root, const char *dir,
					size_t *n);

/* "CPU microcode" of "cpu.microcode", for people; the key itself where nobody said. */
const char *machine_fact_title(struct arena *a, const char *key);

/* What the keys begin with where they are stored as facts of a boot. */
#define MACHINE_FACT_PREFIX "env."

#endif
