/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instruction counts of a run (guest/count.c): the command it is wrapped in, and what its report
 * says. The report is a raw stream of its own ("count") beside the output, so that it can be read
 * again.
 */
#ifndef JOBS_COUNT_H
#define JOBS_COUNT_H

#include "core/err.h"
#include "core/mem.h"
#include "core/str.h"

/* The accelerator of campaigns that count; never compared with any other. */
#define COUNT_ACCELERATOR "icount"

/* Fact of such a campaign: all that its counts depend on besides kernel, command and seed. */
#define COUNT_FACT "counting"

/* Share of a count that may be time in which nothing ran; above it a run is suspect. */
#define COUNT_IDLE_MAX 0.05

struct count {
	int64_t tsc, ns; /* of the guest: instructions under -icount shift=0 */
	int64_t voluntary, involuntary; /* context switches of the command and its children */
	double idle; /* share of the time in which no task ran, 0 to 1; NAN: not known */
};

/*
 * "kdelta-count FILE argv...": an arena list; *file is the report's path, of an empty file that
 * nobody else can write to. count_take() removes it.
 */
const char *const *count_wrap(struct arena *a, const char *const *argv, const char **file);
/* Moves the report into text; false if there is none. */
bool count_take(const char *file, struct strbuf *text);
/* -EBADMSG: damaged, or of another version. */
int count_parse(struct span text, struct count *c, struct err *e);

#endif
