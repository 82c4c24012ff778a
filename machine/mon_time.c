// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the processes of the run used, under the names of GNU time as LKP has them.
 */
#include "machine/monitor.h"

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void add_usage(struct monitor_sink *s, const struct rusage *u, double elapsed)
{
	const double user = seconds_of(u->ru_utime), sys = seconds_of(u->ru_stime);
	const struct {
		const char *name;
		double value;
	} values[] = {
		{"elapsed_time", elapsed},
		{"user_time", user},
		{"system_time", sys},
		{"percent_of_cpu_this_job_got", elapsed > 0 ? 100 * (user + sys) / elapsed : -1},
		{"voluntary_context_switches", (double)u->ru_nvcsw},
		{"involuntary_context_switches", (double)u->ru_nivcsw},
		{"minor_page_faults", (double)u->ru_minflt},
		{"major_page_faults", (double)u->ru_majflt},
		{"maximum_resident_set_size", (double)u->ru_maxrss},
		{"file_system_inputs", (double)u->ru_inblock},
		{"file_system_outputs", (double)u->ru_oublock},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		monitor_add(s, MONITOR_VALUE, "time", span_of(values[i].name), MONITOR_NO_TAIL,
			    values[i].value);
}

static const struct monitor time_monitor = {
	.name = "time",
	.summary = "time, context switches and faults of the run's processes",
	.standard = true,
	.usage = add_usage,
};
REGISTER(monitor, time_monitor);
