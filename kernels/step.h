/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps of a preparation: programs that fetch, unpack, configure and build. */
#ifndef KERNELS_STEP_H
#define KERNELS_STEP_H

#include "core/err.h"

struct step {
	struct arena *a;
	struct err *e;
	void (*note)(const char *text); /* may be NULL */
	const char *const *env;		/* added to the environment, NULL-terminated, or NULL */
	const char *input;		/* text for its stdin, or NULL */
	const char *log;		/* file that takes the output, or NULL */
	double deadline;		/* seconds, 0: an hour */
	const char *out;		/* what the last program printed, trimmed; unless there is a log */
	const char *said;		/* the end of what it said on stderr, or of the log */
};

void step_note(const struct step *s, const char *fmt, ...) _printf_(2, 3);

/*
 * Runs argv (NULL-terminated) in dir (or NULL). A make of ours is no part of a make that started
 * us. -ENOENT: not installed; -EINTR: a signal, without a message; -EIO: it failed, and the message
 * ends with what it said.
 */
int step_run(struct step *s, const char *dir, const char *const *argv);

#endif
