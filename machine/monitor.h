/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own counters beside a run, from /proc and /sys. A file registers what it can read;
 * the engine (monitors.c) opens everything once (up to 4096 files, in descriptors above those that
 * the rest of the program may use), reads it before and after the run, and samples
 * what is a state (loads, free memory, temperatures) once a second in one thread of its own. It
 * allocates nothing while a run goes on, and says how much CPU it took.
 *
 * The text that monitors_end() writes is the raw output of the monitors; monitor_log.h reads it:
 *
 *	kdelta-monitors 1
 *	elapsed 5.0123
 *	self 0.0042
 *	counter softirqs.SCHED 1200 1900
 *	gauge meminfo.MemFree 5 498372 498100 498600
 *
 * Everything is read below a root, so that tests run on recorded trees. This room knows core/ only:
 * the agent in a guest is linked with it.
 */
#ifndef MACHINE_MONITOR_H
#define MACHINE_MONITOR_H

#include <sys/resource.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/registry.h"
#include "core/str.h"

/* How the values of a monitor become one figure of the run. */
enum monitor_kind {
	MONITOR_COUNTER, /* after - before */
	MONITOR_RATE,	 /* the same by seconds */
	MONITOR_SHARE,	 /* per cent of the sum over its group: "vmstat.cpu.us" of "vmstat.cpu" */
	MONITOR_STALL,	 /* microseconds that passed, as per cent of the elapsed time */
	MONITOR_GAUGE,	 /* mean of what was sampled; over several files their sum */
	MONITOR_LEVEL,	 /* the same, but over several files their mean: a clock, a temperature */
	MONITOR_VALUE,	 /* of the whole run, known at its end */
	MONITOR_EVENT,	 /* how often it happened; not even named where it did not */
};
/* "counter", "rate", ... in the order of the enumeration; NULL-terminated. */
extern const char *const monitor_kind_names[];

struct monitor_sink; /* where values go */

/* One file below the root, as the monitor's pattern matched it. */
struct monitor_file {
	const char *path;     /* without the root: "/sys/devices/system/node/node0/numastat" */
	const char *label;    /* what monitor->label made of it, or "" */
	bool per_cpu;	      /* the user wants every CPU named */
};

struct monitor {
	const char *name; /* "softirqs", the first word of its metrics */
	const char *summary; /* one line for `kdelta explain` and the manual */
	bool standard; /* on unless a campaign says otherwise */
	bool sampled; /* at every tick, not only before and after */
	bool is_log;  /* read once, at the end: what was added since the beginning */
	bool is_short; /* its files hold a figure each, all of which one read(2) has */
	/* Paths from "/"; each may be a pattern of glob(7). NULL-terminated. */
	const char *const *paths;
	/*
	 * NULL, or a name for a file that was found, e.g. of the idle state whose file it is.
	 * root: what the path stands below. NULL: the file is not wanted.
	 */
	const char *(*label)(struct arena *a, const char *root, const char *path);
	/* Calls monitor_add() for each value. Must bear any bytes; called for every sample. */
	void (*read)(struct monitor_sink *s, const struct monitor_file *f, struct span text);
	/*
	 * NULL, or the command of a program that watches until SIGINT and then prints its figures;
	 * runner/ starts it, and its package is named where it is missing.
	 */
	const char *const *program;
	const char *package;
	/* NULL, or called once, at the end, with what the run's processes used. */
	void (*usage)(struct monitor_sink *s, const struct rusage *u, double elapsed);
};

REGISTRY(monitor);

/*
 * A value of one snapshot. name: parts of the metric's name, joined with dots where they are not
 * empty; of values with one name in one snapshot the sum is kept. Values that are negative or not
 * finite are left out.
 */
#define MONITOR_NO_TAIL ((struct span){"", 0})
void monitor_add(struct monitor_sink *s, enum monitor_kind kind, const char *head,
		 struct span middle, struct span tail, double v);

/* Takes an unsigned number off *s, after blanks; false if there is none. Overflow: none. */
bool monitor_number(struct span *s, double *v);

/* Takes the next line "key number" or "key: number" off *text; lines that are none are left out. */
bool monitor_next_pair(struct span *text, struct span *key, double *v);

struct monitor_options {
	const char *root;	  /* "" on a real machine */
	const char *const *names; /* NULL-terminated; NULL: the standard ones */
	double interval;	  /* seconds between samples; 0: 1 */
	bool per_cpu;		  /* softirqs and interrupts also by CPU */
	const char *cpus;	  /* CPU list of the run: the thread keeps off it where it can */
};

struct monitors;

/*
 * Opens what there is; a file that is absent or may not be read is left out and said in the log.
 * -EINVAL: a name that no monitor has, with a suggestion.
 */
int monitors_open(const struct monitor_options *opt, struct monitors **m, struct err *e);
/* First snapshot; starts the thread. */
void monitors_begin(struct monitors *m);
/* One sample of everything, as a tick of the thread takes of what is sampled. For tests. */
void monitors_sample(struct monitors *m);
/*
 * Last snapshot; stops the thread; appends the log. usage (may be NULL): of the run's processes,
 * becomes time.*; elapsed: seconds of the run, <= 0: since monitors_begin().
 */
void monitors_end(struct monitors *m, const struct rusage *usage, double elapsed,
		  struct strbuf *log);
void monitors_close(struct monitors *m);

/* Names of all monitors, or of the standard ones, sorted, NULL-terminated. */
const char *const *monitor_names(struct arena *a);
const char *const *monitor_standard(struct arena *a);
const struct monitor *monitor_find(const char *name);
/* Those of the names (NULL-terminated, or NULL) that are programs, NULL-terminated. */
const struct monitor *const *monitor_programs(struct arena *a, const char *const *names);

#endif
