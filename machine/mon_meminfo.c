// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/meminfo, in KiB (HugePages_*: pages)
 *
 *	MemFree:        22931212 kB
 *	HugePages_Total:       0
 */
#include "machine/monitor.h"

static void read_meminfo(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span key;
	double v;

	(void)f;
	while (monitor_next_pair(&text, &key, &v))
		monitor_add(s, MONITOR_GAUGE, "meminfo", key, MONITOR_NO_TAIL, v);
}

static const struct monitor meminfo = {
	.name = "meminfo",
	.summary = "memory by use",
	.standard = true,
	.sampled = true,
	.paths = (const char *const[]){"/proc/meminfo", NULL},
	.read = read_meminfo,
};
REGISTER(monitor, meminfo);
