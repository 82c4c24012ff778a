/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the nights say of one metric of one test case: nothing, a suspicion that wants one more run,
 * a change that was confirmed, one that is over. The whole history is replayed each time, so that
 * no state is kept beside the measurements. Pure.
 */
#ifndef STATS_NIGHTS_H
#define STATS_NIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/stats.h"

enum {
	NIGHTS_LEVEL = 30, /* newest nights of a level that are its mean and spread */
	NIGHTS_SPREAD = 10, /* degrees of freedom from which spread between nights counts */
	NIGHTS_LAG = 6, /* nights that a baseline is older than the night's kernel, where it can be */
	NIGHTS_EXTRA = 2, /* runs of an extra run, in those of a night */
	NIGHTS_COURSE = 10, /* nights from which a line is told from a step */
};
/*
 * Chosen by simulation (tests/bench/nights.c): 100 metrics that do not change, 365 nights of five
 * runs, give at most two false alerts a year; steps of twice the deviation of one run are confirmed
 * within three nights in at least 90 %. Where nights differ by half that deviation it is 8 and 70 %.
 */
#define NIGHTS_SUSPECT 0.005 /* two-sided, of one night outside the prediction interval */
#define NIGHTS_DRIFT 0.0005 /* the same of the mean of several */
#define NIGHTS_CONFIRM 0.002 /* one-sided, of the extra run */
#define NIGHTS_BESIDE 0.01 /* the same against the baseline of that night */
/* A spread that is smaller, as of metrics that repeat exactly, is taken as this; of the level. */
#define NIGHTS_LEAST 0.0005

/* Units on the scale of logs (or as they are, where a value is not positive). */
struct night_arm {
	double middle, squares; /* median; sum of squared deviations from the mean */
	size_t n;		/* 0: not measured */
};
/* The median, since two runs of five may go astray. */
struct night_arm night_arm_of(const double *x, size_t n);

struct night {
	struct night_arm kernel, base, extra; /* the night's; its baseline; the extra run's */
	/* Night in which the baseline's kernel was the night's; -1: in none of these. */
	long base_night;
	bool environment; /* facts of the machine are not those of the night before */
};

enum night_event {
	NIGHT_QUIET,
	NIGHT_SUSPECT,	   /* outside its level: one extra run decides */
	NIGHT_DISMISSED,   /* the extra run did not show it */
	NIGHT_CHANGED,	   /* confirmed: a step */
	NIGHT_DRIFTED,	   /* confirmed, and a line describes the nights better than a step */
	NIGHT_FIXED,	   /* a confirmed step back to where the level was before it got worse */
	/*
	 * The baseline moved as much: the machine, not the kernel. Where no fact of it changed, three
	 * nights on end.
	 */
	NIGHT_ENVIRONMENT,
};
/* "quiet", "suspect", ... */
const char *night_event_name(enum night_event ev);

struct night_state {
	enum night_event event;
	size_t since;	      /* first night of the new level */
	double before, after; /* levels, on the scale of the nights */
	double p;
	bool worse, better; /* of the change; neither where the direction does not say */
	/* After this night: a change for the worse goes on. */
	bool open;
	size_t open_since;
};

struct nights_options {
	enum direction direction;
	double threshold; /* a smaller change is none; on the scale of the nights */
	bool on_log;
};

/* One state for each of n nights, oldest first. */
void stats_nights(const struct night *nights, size_t n, const struct nights_options *opt,
		  struct night_state *states);

#endif
