// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory by node and by cache of the slab allocator.
 */
#include "machine/monitor.h"

#include <string.h>

/* "/sys/devices/system/node/node1/numastat" -> "node1" */
static const char *node_label(struct arena *a, const char *root, const char *path)
{
	const char *node = path + strlen("/sys/devices/system/node/");

	(void)root;
	return arena_strndup(a, node, strcspn(node, "/"));
}

/* "numa_hit 1203311" */
static void read_numastat(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span key;
	double v;

	while (monitor_next_pair(&text, &key, &v))
		monitor_add(s, MONITOR_COUNTER, "numa-numastat", span_of(f->label), key, v);
}

static const struct monitor numastat = {
	.name = "numastat",
	.summary = "pages allocated on the node asked for and elsewhere",
	.standard = true,
	.paths = (const char *const[]){"/sys/devices/system/node/node[0-9]*/numastat", NULL},
	.label = node_label,
	.read = read_numastat,
};
REGISTER(monitor, numastat);

/*
 * /proc/slabinfo, version 2.1
 *
 *	# name <active_objs> <num_objs> <objsize> ... : tunables ... : slabdata <active_slabs> <num_slabs> ...
 *	kmalloc-64   4992   5120   64   64    1 : tunables    0    0    0 : slabdata     80     80      0
 */
static void read_slabinfo(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct span line, name, word;
	double active, objects, active_slabs, slabs;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		if (!span_next_word(&line, &name) || !monitor_number(&line, &active) ||
		    !monitor_number(&line, &objects))
			continue;
		monitor_add(s, MONITOR_GAUGE, "slabinfo", name, span_of("active_objs"), active);
		monitor_add(s, MONITOR_GAUGE, "slabinfo", name, span_of("num_objs"), objects);
		while (span_next_word(&line, &word) && !span_is(word, "slabdata"))
			;
		if (!monitor_number(&line, &active_slabs) || !monitor_number(&line, &slabs))
			continue;
		monitor_add(s, MONITOR_GAUGE, "slabinfo", name, span_of("active_slabs"),
			    active_slabs);
		monitor_add(s, MONITOR_GAUGE, "slabinfo", name, span_of("num_slabs"), slabs);
	}
}

static const struct monitor slabinfo = {
	.name = "slabinfo",
	.summary = "objects of every slab cache (root only)",
	.sampled = true,
	.paths = (const char *const[]){"/proc/slabinfo", NULL},
	.read = read_slabinfo,
};
REGISTER(monitor, slabinfo);
