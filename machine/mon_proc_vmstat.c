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
	struct span line, key;
	double v;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		if (!span_next_word(&line, &key) || !monitor_number(&line, &v))
			continue;
		monitor_add(s, span_starts(key, "nr_") ? MONITOR_GAUGE : MONITOR_COUNTER,
			    "proc-vmstat", key, (struct span){"", 0}, v);
	}
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
