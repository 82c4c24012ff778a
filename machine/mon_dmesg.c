// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's log during a run. A record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg of the
 * kernel):
 *
 *	4,1203,81230112,-;WARNING: CPU: 1 PID: 812 at kernel/sched/fair.c:3210
 *
 * A run in which such a message appeared was no clean measurement.
 */
#include "machine/monitor.h"

#include <string.h>

static const struct {
	const char *text, *name;
} patterns[] = {
	{"Kernel panic", "Kernel_panic"},
	{"Oops", "Oops"},
	{"BUG: soft lockup", "soft_lockup"},
	{"hard LOCKUP", "hard_lockup"},
	{"BUG: workqueue lockup", "workqueue_lockup"},
	{"BUG:", "BUG"},
	{"WARNING:", "WARNING"},
	{"blocked for more than", "hung_task"},
	{"detected stalls on CPUs", "rcu_stall"},
	{"self-detected stall", "rcu_stall"},
	{"Out of memory", "out_of_memory"},
	{"page allocation failure", "page_allocation_failure"},
	{"Machine check events logged", "machine_check"},
	{"Hardware Error", "hardware_error"},
	{"clocksource: Marking", "clocksource_unstable"},
	{"sched: RT throttling activated", "rt_throttling"},
	{"temperature above threshold", "thermal_throttling"},
	{"perf: interrupt took too long", "perf_interrupt_too_long"},
	{"segfault at", "segfault"},
};

static void read_dmesg(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line;
	size_t i;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		const char *semicolon = memchr(line.s, ';', line.len);

		/* Lines that begin with a blank are properties of the record before. */
		if (!semicolon || *line.s == ' ')
			continue;
		span_skip(&line, (size_t)(semicolon - line.s) + 1);
		for (i = 0; i < ARRAY_SIZE(patterns); i++) {
			if (!span_find(line, patterns[i].text))
				continue;
			monitor_add(s, MONITOR_EVENT, "dmesg", span_of(patterns[i].name),
				    MONITOR_NO_TAIL, 1);
			break;
		}
	}
}

static const struct monitor dmesg = {
	.name = "dmesg",
	.summary = "warnings, lockups and stalls that the kernel reported",
	.standard = true,
	.is_log = true,
	.paths = (const char *const[]){"/dev/kmsg", NULL},
	.read = read_dmesg,
};
REGISTER(monitor, dmesg);
