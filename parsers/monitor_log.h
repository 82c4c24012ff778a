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
 */
#ifndef PARSERS_MONITOR_LOG_H
#define PARSERS_MONITOR_LOG_H

#include "parsers/parser.h"

/*
 * Fills run->values, and run->message with the notes, if there are any. A counter that went down,
 * and a share of nothing, have no value. Units are left empty: the catalog knows them.
 * monitors.cpu: per cent of one CPU that the monitors took themselves. Outcome error where the text
 * is no such log, partial where it ends early.
 */
void monitor_log_parse(struct arena *a, struct span text, struct parse_run *run);

#endif
