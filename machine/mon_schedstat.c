// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/schedstat, versions 15 to 17 (Documentation/scheduler/sched-stats.rst of the kernel)
 *
 *	version 15
 *	cpu0 0 0 0 0 0 0 81230112 4402133 90122
 *	domain0 03 120 118 ...
 *
 * A CPU's nine figures; run_delay is nanoseconds that runnable tasks waited. Times are made
 * milliseconds. Domains: the last figures, which all versions end with, are wake-ups.
 */
#include "machine/monitor.h"

static const struct {
	const char *name;
	double factor;
} cpu_fields[] = {
	{"yld_count", 1},  {NULL, 0},	      {"sched_count", 1},
	{"sched_goidle", 1}, {"ttwu_count", 1}, {"ttwu_local", 1},
	{"rq_cpu_time", 1e-6}, {"run_delay", 1e-6}, {"pcount", 1},
};

static void read_cpu(struct monitor_sink *s, struct span rest)
{
	double v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cpu_fields) && monitor_number(&rest, &v); i++)
		if (cpu_fields[i].name)
			monitor_add(s, MONITOR_COUNTER, "schedstat", span_of(cpu_fields[i].name),
				    MONITOR_NO_TAIL, v * cpu_fields[i].factor);
}

/* ... ttwu_wake_remote ttwu_move_affine ttwu_move_balance */
static void read_domain(struct monitor_sink *s, struct span domain, struct span rest)
{
	static const char *const names[] = {"ttwu_wake_remote", "ttwu_move_affine",
					    "ttwu_move_balance"};
	double last[ARRAY_SIZE(names)] = {0}, v;
	size_t n = 0, i;
	struct span mask;

	if (!span_next_word(&rest, &mask))
		return;
	while (monitor_number(&rest, &v))
		last[n++ % ARRAY_SIZE(last)] = v;
	for (i = 0; n >= 36 && i < ARRAY_SIZE(names); i++)
		monitor_add(s, MONITOR_COUNTER, "schedstat", domain, span_of(names[i]),
			    last[(n + i) % ARRAY_SIZE(last)]);
}

static void read_schedstat(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line, key;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		if (!span_next_word(&line, &key))
			continue;
		if (span_starts(key, "cpu"))
			read_cpu(s, line);
		else if (span_starts(key, "domain"))
			read_domain(s, key, line);
	}
}

static const struct monitor schedstat = {
	.name = "schedstat",
	.summary = "schedules, wake-ups and waiting of runnable tasks",
	.standard = true,
	.paths = (const char *const[]){"/proc/schedstat", NULL},
	.read = read_schedstat,
};
REGISTER(monitor, schedstat);
