/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a line of perf stat says of one counter; the grammar stands in perf_stat.c. */
#ifndef PARSERS_PERF_STAT_H
#define PARSERS_PERF_STAT_H

#include "parsers/scan.h"

struct perf_reading {
	struct span time; /* of -I, seconds; empty: none */
	struct span value, unit, event;
	bool none;  /* <not counted>, <not supported> */
	bool exact; /* never grouped by thousands */
};

enum perf_line { PERF_NO_COUNTER, PERF_COUNTER, PERF_CUT, PERF_BAD_NUMBER };

/* "1.000123456" of -I: always nine decimals, never grouped */
bool perf_is_time(struct span w);
/* "CPU0", "S0-D0-C1", "N1", "D0": what a line of -A or --per-socket counts */
bool perf_is_label(struct span w);
bool perf_is_event(struct span w);
/* An event that makes a line a counter also where the header is missing. */
bool perf_is_known(struct span event);

/* A line of -j. */
enum perf_line perf_read_json(struct span line, bool cut, struct perf_reading *r);
/* A line of -x; *separator is 0 until it is known. */
enum perf_line perf_read_csv(struct span line, bool cut, char *separator, struct perf_reading *r);
/* For the recogniser: whether a line of -x holds a known event. */
bool perf_is_csv(struct span line);

#endif
