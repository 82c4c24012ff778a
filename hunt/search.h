/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring what a bisection wants to know next. */
#ifndef HUNT_SEARCH_H
#define HUNT_SEARCH_H

#include "hunt/answer.h"

struct search_options {
	int runs;	/* most of this call, confirmation not counted; 0: no end */
	double seconds; /* the same */
	bool alignment; /* the culprits are measured with aligned functions too */
};

struct search_report {
	int runs;
	bool interrupted, spent; /* by a signal; the budget is used up */
};

/*
 * Measures until there is an answer (ans->state), the budget is used up or a signal comes. -EBUSY:
 * another kdelta measures. Every run is stored before the next is chosen: to be called again after
 * anything.
 */
int search_run(struct bisect *b, const struct search_options *opt, struct search_report *report,
	       struct answer *ans);

enum step_answer { STEP_GOOD = 0, STEP_BAD = 1, STEP_CANNOT_TELL = 125 };
/*
 * Whether the commit that is checked out (HEAD of the repository) is good or bad, for `git bisect
 * run`: measured until the probability of either reaches the confidence, at most twenty times.
 * -ENOENT: it is not in the range; -ERANGE: the ends do not differ.
 */
int search_step(struct bisect *b, enum step_answer *answer);

#endif
