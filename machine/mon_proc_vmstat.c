// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/vmstat: states begin with "nr_", all others are counted up
 *
 *	nr_free_pages 5742210
 *	pgfault 48211031
 */
#include "machine/monitor.h"

static void read_proc_vmstat(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span key;
	double v;

	(void)f;
	while (monitor_next_pair(&text, &key, &v))
		monitor_add(s, span_starts(key, "nr_") ? MONITOR_GAUGE : MONITOR_COUNTER,
			    "proc-vmstat", key, MONITOR_NO_TAIL, v);
}

static const struct monitor proc_vmstat = {
	.name = "proc-vmstat",
	.summary = "events and states of the memory management",
	.standard = true,
	.sampled = true,
	.paths = (const char *const[]){"/proc/vmstat", NULL},
	.read = read_proc_vmstat,
};
REGISTER(monitor, proc_vmstat);
