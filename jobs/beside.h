/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs beside a benchmark: its server, and the monitors that are programs. */
#ifndef JOBS_BESIDE_H
#define JOBS_BESIDE_H

#include "core/err.h"
#include "core/proc.h"

struct monitor;

struct beside {
	struct proc_child child;
	int output; /* file in memory that takes its output; -1: none */
};

#define BESIDE_INIT                                    \
	{                                              \
		.child = {.out_fd = -1, .err_fd = -1}, \
		.output = -1,                          \
	}

/* 0 or -errno with a message; beside_stop() is needed either way. */
int beside_start(const struct proc_spec *spec, struct beside *b, struct err *e);
/* Stops it (TERM, after grace seconds KILL) and appends what it printed, at most 1 MiB. */
void beside_stop(struct beside *b, double grace, struct strbuf *output);

struct watcher {
	const struct monitor *monitor;
	struct beside program;
};

/* Of one run; there are few programs among the monitors (machine/mon_programs.c). */
struct watchers {
	struct watcher list[8];
	size_t n;
	struct strbuf notes; /* lines for the log: what could not be started */
};

/*
 * Starts those of the named monitors (NULL-terminated, or NULL) that are programs, and waits until
 * they rest, so that their start is no part of the run.
 */
void watchers_start(const char *const *names, struct watchers *w);
/* The run is over: asks them for their figures. */
void watchers_ask(struct watchers *w);
/*
 * Stops them and appends notes and what they printed to the log of the monitors; the numbers are
 * bytes that follow, and seconds of CPU time that the program took:
 *
 *	output perf-stat 812 0.031
 */
void watchers_stop(struct watchers *w, struct strbuf *log);

#endif
