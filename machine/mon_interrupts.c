// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/interrupts: a column for each CPU, then what it is
 *
 *	           CPU0       CPU1
 *	 24:         12          7   PCI-MSI 1048576-edge      eth0
 *	LOC:     358111     361002   Local timer interrupts
 *	ERR:          0
 *
 * Names are those of LKP: interrupts.LOC:Local_timer_interrupts,
 * interrupts.24:PCI-MSI.1048576-edge.eth0
 */
#include "machine/monitor.h"

#include <string.h>

#include "machine/percpu.h"

/* "24" and "PCI-MSI 1048576-edge      eth0" joined as above; at most size bytes. */
static size_t make_name(char *out, size_t size, struct span irq, struct span words)
{
	const char blank = irq.len && irq.s[0] >= '0' && irq.s[0] <= '9' ? '.' : '_';
	struct span word;
	size_t len = MIN(irq.len, size), n;

	memcpy(out, irq.s, len);
	while (span_next_word(&words, &word)) {
		if (len < size)
			out[len] = len == irq.len ? ':' : blank;
		len += len < size;
		n = MIN(word.len, size - len);
		memcpy(out + len, word.s, n);
		len += n;
	}
	return len;
}

static void read_interrupts(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct percpu_table t;
	struct span irq, rest;

	percpu_begin(&t, text);
	while (percpu_next(&t, &irq, &rest)) {
		struct span words = rest, name;
		char buf[128];
		double sum;

		if (!percpu_sum(&t, &words, &sum))
			continue;
		name = (struct span){buf, make_name(buf, sizeof(buf), irq, words)};
		monitor_add(s, MONITOR_COUNTER, "interrupts", name, MONITOR_NO_TAIL, sum);
		if (f->per_cpu)
			percpu_add_each(s, &t, "interrupts", name, rest);
	}
}

static const struct monitor interrupts = {
	.name = "interrupts",
	.summary = "interrupts by source",
	.standard = true,
	.paths = (const char *const[]){"/proc/interrupts", NULL},
	.read = read_interrupts,
};
REGISTER(monitor, interrupts);
