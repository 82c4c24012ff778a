// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Monitors that are programs, one process for a run; what they print is read by
 * parsers/monitor_output.c. One interval that never ends by itself: they sleep all the time.
 */
#include "machine/monitor.h"

static const struct monitor turbostat = {
	.name = "turbostat",
	.summary = "clocks, idle states, temperature and power as the processor counts them",
	.program = (const char *const[]){"turbostat", "--quiet", "--Summary", "--interval", "86400",
					 NULL},
	.package = "linux-cpupower",
};
REGISTER(monitor, turbostat);

/* Not more hardware events than most processors count at once. */
#define EVENTS                                                                           \
	"cpu-cycles,instructions,branch-instructions,branch-misses,cache-references,"    \
	"cache-misses,context-switches,cpu-migrations,page-faults"

static const struct monitor perf_stat = {
	.name = "perf-stat",
	.summary = "events of all CPUs as perf stat counts them: instructions, cycles, misses",
	.program = (const char *const[]){"perf", "stat", "-a", "-e", EVENTS, NULL},
	.package = "linux-perf",
};
REGISTER(monitor, perf_stat);
