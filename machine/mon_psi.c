// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/pressure/cpu, memory, io and irq; the totals are microseconds
 *
 *	some avg10=0.00 avg60=0.12 avg300=0.08 total=1203311
 *	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
 */
#include "machine/monitor.h"

#include <string.h>

static void read_psi(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line, key, word, name = span_of(strrchr(f->path, '/') + 1);
	double v;

	while (span_next_line(&text, &line, NULL)) {
		if (!span_next_word(&line, &key))
			continue;
		while (span_next_word(&line, &word)) {
			if (!span_starts(word, "total="))
				continue;
			span_skip(&word, strlen("total="));
			if (monitor_number(&word, &v))
				monitor_add(s, MONITOR_STALL, "psi", name, key, v);
		}
	}
}

static const struct monitor psi = {
	.name = "psi",
	.summary = "share of time in which tasks waited for CPU, memory or I/O",
	.standard = true,
	.paths = (const char *const[]){"/proc/pressure/*", NULL},
	.read = read_psi,
};
REGISTER(monitor, psi);
