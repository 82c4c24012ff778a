/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of the monitors (machine/monitor.h) -> counters of a run:
 *
 *	kdelta-monitors 1
 *	elapsed 5.0123
 *	self 0.0042
 *	counter softirqs.SCHED 1200 1900
 *	share vmstat.cpu.us 812 900
 *	gauge meminfo.MemFree 5 498372 498100 498600
 *	note /proc/slabinfo: Permission denied
 *	output perf-stat 812 0.031	812 bytes that perf printed follow; it took 0.031 s of CPU time
 */
#ifndef PARSERS_MONITOR_LOG_H
#define PARSERS_MONITOR_LOG_H

#include "parsers/parser.h"

/*
 * Fills run->values, and run->message with the notes, if there are any. A counter that went down,
 * and a share of nothing, have no value. Units are left empty: the catalog knows them.
 * monitors.cpu: per cent of one CPU that the monitors took themselves, monitors.cpu.perf-stat: that
 * a program did. Outcome error where the text
 * is no such log, partial where it ends early.
 */
void monitor_log_parse(struct arena *a, struct span text, struct parse_run *run);

/*
 * What makes a run no clean measurement: time taken by a hypervisor, swapping, throttling, a clock
 * that was set, warnings of the kernel; NULL: nothing.
 */
const char *monitor_log_doubt(struct arena *a, const struct parse_run *run);

/* Adds a value unless it is not finite; the name is not copied. */
void monitor_log_add(struct parse_run *run, const char *name, double v);
/* Adds to run->message. */
void monitor_log_note(struct arena *a, struct parse_run *run, struct span text);
/*
 * What a program beside the run printed (machine/mon_programs.c) -> turbostat.Busy%,
 * perf-stat.ps.instructions, perf-stat.overall.ipc ...; a note of what it could not count, or said
 * instead.
 */
void monitor_output_parse(struct arena *a, struct span program, struct span text,
			  struct parse_run *run);

#endif
