// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The figures that vmstat(8) prints, from /proc/stat
 *
 *	cpu  13011 22 4400 900112 317 0 60 0 0 0	in ticks: user nice system idle iowait irq ...
 *	intr 911312 0 9 0 ...
 *	ctxt 1832211
 *	processes 4120
 *	procs_running 2
 *	procs_blocked 0
 *
 * and from /proc/vmstat (pgpgin 312 and so on, in KiB or pages).
 */
#include "machine/monitor.h"

static void add(struct monitor_sink *s, enum monitor_kind kind, const char *head, const char *name,
		double v)
{
	monitor_add(s, kind, head, span_of(name), MONITOR_NO_TAIL, v);
}

static void read_cpu(struct monitor_sink *s, struct span rest)
{
	double t[8] = {0};
	size_t n = 0;

	while (n < ARRAY_SIZE(t) && monitor_number(&rest, &t[n]))
		n++;
	if (n < 5)
		return;
	add(s, MONITOR_SHARE, "vmstat.cpu", "us", t[0] + t[1]);
	add(s, MONITOR_SHARE, "vmstat.cpu", "sy", t[2] + t[5] + t[6]);
	add(s, MONITOR_SHARE, "vmstat.cpu", "id", t[3]);
	add(s, MONITOR_SHARE, "vmstat.cpu", "wa", t[4]);
	add(s, MONITOR_SHARE, "vmstat.cpu", "st", t[7]);
}

static const struct {
	const char *key, *head, *name;
	enum monitor_kind kind;
} keys[] = {
	{"intr", "vmstat.system", "in", MONITOR_RATE},
	{"ctxt", "vmstat.system", "cs", MONITOR_RATE},
	{"processes", "vmstat.system", "forks", MONITOR_RATE},
	{"procs_running", "vmstat.procs", "r", MONITOR_GAUGE},
	{"procs_blocked", "vmstat.procs", "b", MONITOR_GAUGE},
	{"pgpgin", "vmstat.io", "bi", MONITOR_RATE},
	{"pgpgout", "vmstat.io", "bo", MONITOR_RATE},
	{"pswpin", "vmstat.swap", "si", MONITOR_RATE},
	{"pswpout", "vmstat.swap", "so", MONITOR_RATE},
};

static void read_vmstat(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line, key;
	double v;
	size_t i;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		if (!span_next_word(&line, &key))
			continue;
		if (span_is(key, "cpu"))
			read_cpu(s, line);
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (span_is(key, keys[i].key) && monitor_number(&line, &v))
				add(s, keys[i].kind, keys[i].head, keys[i].name, v);
	}
}

static const struct monitor vmstat = {
	.name = "vmstat",
	.summary = "the columns of vmstat: CPU shares, switches, tasks, paging",
	.standard = true,
	.sampled = true,
	.paths = (const char *const[]){"/proc/stat", "/proc/vmstat", NULL},
	.read = read_vmstat,
};
REGISTER(monitor, vmstat);
