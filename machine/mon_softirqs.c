// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/softirqs: a column for each CPU
 *
 *	                    CPU0       CPU1
 *	          HI:          0          0
 *	       TIMER:     123456     120001
 */
#include "machine/monitor.h"

#include <string.h>

#include "machine/percpu.h"

static void read_softirqs(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct percpu_table t;
	struct span name, rest;

	percpu_begin(&t, text);
	while (percpu_next(&t, &name, &rest))
		percpu_add(s, &t, "softirqs", name, rest, f->per_cpu);
}

static const struct monitor softirqs = {
	.name = "softirqs",
	.summary = "soft interrupts by kind",
	.standard = true,
	.paths = (const char *const[]){"/proc/softirqs", NULL},
	.read = read_softirqs,
};
REGISTER(monitor, softirqs);
