/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the monitors read: values by name, of one snapshot after the other. */
#ifndef MACHINE_MONITOR_VALUES_H
#define MACHINE_MONITOR_VALUES_H

#include "machine/monitor.h"

struct slot;

struct monitor_values {
	struct slot *slots;
	size_t n_slots, alloc;
	int *table; /* hash table of slot indexes, -1: free; a power of two */
	size_t table_size;
	size_t lost; /* values without a slot */
	unsigned int epoch;
	bool first; /* the snapshot going on is that before the run */
};

/* Slots of the values of one file, in the order they came last time; nothing to begin with. */
struct monitor_order {
	int *slots;
	size_t n, alloc;
};

struct monitor_sink {
	struct monitor_values *values;
	struct monitor_order *order; /* NULL: the values are no file's */
	size_t at;		     /* number of the value within the file */
};

/* A snapshot begins, that before the run or another one. */
void monitor_values_begin(struct monitor_values *m, bool first);
/* It is whole: each value is a sample, the first one of a counter where it began. */
void monitor_values_settle(struct monitor_values *m);
/* Appends a line for each name, of differences only where both ends are known. */
void monitor_values_log(const struct monitor_values *m, struct strbuf *log);
void monitor_values_release(struct monitor_values *m);

#endif
