/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This machine's own noise: fixed pieces of work of about 0.2 s, in turns, for so many seconds, and
 * how much their times differ.
 */
#ifndef RUNNER_NOISE_H
#define RUNNER_NOISE_H

#include "core/err.h"
#include "core/mem.h"

enum { NOISE_SIDES = 3 };
extern const size_t noise_sides[NOISE_SIDES]; /* 5, 10, 20 */

struct noise {
	const char *work; /* "CPU", "memory", "wake-ups" */
	size_t runs;
	double mean;	/* seconds of one run */
	double cv;	/* standard deviation / mean; NAN below two runs */
	double slowest; /* slowest run / mean - 1 */
	/* Smallest change that so many runs a side show (stats_detectable, 80 % power, 5 %). */
	double detectable[NOISE_SIDES];
};

/* -EINTR: a signal; -ENOENT: the helper pipepong is not where it belongs. */
int noise_measure(struct arena *a, double seconds, struct noise **list, size_t *n, struct err *e);

#endif
