/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring a command under the running kernel, without a campaign file. */
#ifndef RUNNER_RECORD_H
#define RUNNER_RECORD_H

#include "campaign/catalog.h"
#include "runner/run.h"

struct record_options {
	const char *name; /* of the variant */
	int repeat;
	const char *const *argv; /* NULL-terminated */
	double deadline; /* seconds; 0: an hour for the first run, then ten times its time */
	bool fresh;	 /* begin a new campaign even if one of this command exists */
	/* May be NULL, as in struct run_options. */
	void (*progress)(void *data, const struct run_progress *p);
	void (*note)(const char *text);
	void *data;
};

struct record_report {
	const char *campaign, *benchmark; /* campaign NULL: nothing was stored */
	const char *other; /* a variant recorded before under another name, or NULL */
	int runs, good;	   /* of this recording */
	bool interrupted;
	const char *warning; /* what weakens a comparison, or NULL */
};

/*
 * Runs the command and stores each run. Recordings of one command on one machine join into one
 * campaign named after the benchmark, one variant per name. The benchmark is known by the program's
 * name or the look of its output; any other command is timed (real, user, sys).
 *
 * The unit is the run as long as some variant was recorded in one boot only (the warning says what
 * that leaves open), and the boot once each has at least two.
 */
int record_command(struct db *db, struct arena *a, const struct catalog *cat,
		   const struct record_options *opt, struct record_report *report, struct err *e);

#endif
