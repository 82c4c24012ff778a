/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the database knows of a bisection's candidates, and what follows from it. */
#ifndef HUNT_EVIDENCE_H
#define HUNT_EVIDENCE_H

#include "hunt/bisect.h"

struct evidence_run {
	size_t candidate;
	int64_t id, boot, started; /* boot 0: the run is its own unit */
	bool own;		   /* measured by this bisection's search */
	double value, log;
};

struct evidence {
	ARRAY_OF(struct evidence_run) runs; /* oldest first */
	int *n;			/* good runs of each candidate */
	int *failed;		/* runs that failed for good, of each */
	bool *entered;		/* built before, most likely still in the cache */
	const char **skipped;	/* why it cannot be measured; NULL: it can */
	int planned;		/* runs asked for so far, failed ones too */
	/* what one takes on average, seconds; NAN: not known yet */
	double build_seconds, run_seconds;
};

/* Empty before anything was measured. -EDOM: a value is zero or negative. */
int evidence_read(struct bisect *b, struct evidence *ev);
void evidence_release(struct evidence *ev);
#define _cleanup_evidence_ _cleanup_(evidence_release)

/* Adds to what runs and builds took, as a fact of the campaign. */
int evidence_add_costs(struct bisect *b, double build_seconds, double run_seconds);

/* Values (logs) of the first `most` runs at a candidate; returns how many. */
size_t evidence_values(const struct evidence *ev, size_t candidate, double *values, size_t most);

enum ends_state {
	ENDS_OPEN,   /* more runs of both are needed */
	ENDS_DIFFER, /* by the threshold at least */
	ENDS_SAME,   /* refused */
};
/*
 * Whether the ends differ, at planned looks of 5, 10 and 20 runs a side. next: the end to measure
 * while open. test: of the last look, as far as there was one.
 */
enum ends_state evidence_ends(const struct bisect *b, const struct evidence *ev, size_t *next,
			      struct test_result *test);

#endif
