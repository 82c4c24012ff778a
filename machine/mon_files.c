// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Monitors of files that hold one figure each: idle states, clocks, energy, temperatures; and the
 * load.
 */
#include "machine/monitor.h"

#include <string.h>

#include "core/num.h"
#include "machine/rooted.h"

/* First line of the file beside another one: of ".../state1/time" that of ".../state1/name". */
static const char *beside(struct arena *a, const char *root, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return rooted_line(a, root, arena_printf(a, "%.*s/%s", (int)(slash - path), path, name));
}

static void add(struct monitor_sink *s, enum monitor_kind kind, const char *head,
		const char *middle, const char *tail, double v)
{
	monitor_add(s, kind, head, span_of(middle), span_of(tail), v);
}

/* ---- cpuidle: microseconds in a state, entries into it, over all CPUs ---- */

static const char *idle_label(struct arena *a, const char *root, const char *path)
{
	return beside(a, root, path, "name");
}

static void read_idle(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	double v;

	if (monitor_number(&text, &v))
		add(s, MONITOR_COUNTER, "cpuidle", f->label, strrchr(f->path, '/') + 1, v);
}

static const struct monitor cpuidle = {
	.name = "cpuidle",
	.summary = "time in idle states and how often they were entered",
	.standard = true,
	.is_short = true,
	.paths =
		(const char *const[]){
			"/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/time",
			"/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/usage",
			NULL,
		},
	.label = idle_label,
	.read = read_idle,
};
REGISTER(monitor, cpuidle);

/* ---- cpufreq: kHz, as MHz ---- */

static void read_freq(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	double v;

	(void)f;
	if (monitor_number(&text, &v))
		add(s, MONITOR_LEVEL, "cpufreq", "avg_MHz", "", v / 1000);
}

static const struct monitor cpufreq = {
	.name = "cpufreq",
	.summary = "clock of the CPUs as the driver tells it",
	.standard = true,
	.sampled = true,
	.is_short = true,
	.paths =
		(const char *const[]){
			"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq",
			NULL,
		},
	.read = read_freq,
};
REGISTER(monitor, cpufreq);

/* ---- powercap: energy of RAPL zones, microjoules ---- */

static const char *zone_label(struct arena *a, const char *root, const char *path)
{
	return beside(a, root, path, "name");
}

/*
 * The counter wraps at max_energy_range_uj, a package's after some hours at least; a run over a
 * wrap has no figure, since its difference is negative.
 */
static void read_energy(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	double v;

	if (monitor_number(&text, &v))
		add(s, MONITOR_COUNTER, "powercap", f->label, "joules", v / 1e6);
}

static const struct monitor powercap = {
	.name = "powercap",
	.summary = "energy used, where the processor tells it (RAPL)",
	.standard = true,
	.is_short = true,
	.paths = (const char *const[]){"/sys/class/powercap/*/energy_uj", NULL},
	.label = zone_label,
	.read = read_energy,
};
REGISTER(monitor, powercap);

/* ---- thermal: millidegrees; how often clocks were throttled ---- */

static const char *thermal_label(struct arena *a, const char *root, const char *path)
{
	const char *type;

	if (strstr(path, "/thermal_throttle/"))
		return strrchr(path, '/') + 1;
	type = beside(a, root, path, "type");
	return type ? type : "zone";
}

static void read_thermal(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	double v;

	if (!monitor_number(&text, &v))
		return;
	if (strstr(f->path, "/thermal_throttle/"))
		add(s, MONITOR_COUNTER, "thermal", f->label, "", v);
	else
		add(s, MONITOR_LEVEL, "thermal", f->label, "celsius", v / 1000);
}

static const struct monitor thermal = {
	.name = "thermal",
	.summary = "temperatures, and how often clocks were throttled by them",
	.standard = true,
	.sampled = true,
	.is_short = true,
	.paths =
		(const char *const[]){
			"/sys/class/thermal/thermal_zone*/temp",
			"/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count",
			NULL,
		},
	.label = thermal_label,
	.read = read_thermal,
};
REGISTER(monitor, thermal);

/* ---- loadavg: "0.20 0.18 0.12 1/80 11206" ---- */

static void read_loadavg(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	static const char *const names[] = {"1min", "5min", "15min"};
	struct span word;
	double v;
	size_t i;

	(void)f;
	for (i = 0; i < ARRAY_SIZE(names) && span_next_word(&text, &word); i++)
		if (num_parse(word, &v))
			add(s, MONITOR_GAUGE, "loadavg", names[i], "", v);
}

static const struct monitor loadavg = {
	.name = "loadavg",
	.summary = "the load averages",
	.standard = true,
	.sampled = true,
	.paths = (const char *const[]){"/proc/loadavg", NULL},
	.read = read_loadavg,
};
REGISTER(monitor, loadavg);
