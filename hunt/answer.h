/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a bisection is: all of it follows from the database. */
#ifndef HUNT_ANSWER_H
#define HUNT_ANSWER_H

#include "hunt/evidence.h"
#include "reports/comparison.h"

/* Two candidates, measured afresh by a campaign of its own. */
enum pair_kind {
	PAIR_CONFIRM,	/* a culprit against its parent */
	PAIR_REVERT,	/* the bad end with the culprit taken out against the bad end */
	PAIR_ALIGNMENT, /* as the first, functions aligned to 64 bytes */
};

struct pair {
	const char *campaign;		/* NULL: not measured yet */
	const struct comparison *model; /* NULL: it cannot be compared (failed runs) */
	const struct cmp_cell *cell;	/* of the metric, the second against the first; or NULL */
	bool is_real;			/* a change beyond chance */
};

struct cause {
	size_t culprit, parent; /* candidates; the parent is the nearest that can be measured */
	const size_t *group;	/* candidates that no run can tell from the culprit; itself too */
	size_t n_group;
	double share;	      /* probability of the group when it was announced */
	double effect;	      /* log ratio, of the pair */
	double low, high;     /* its interval */
	struct pair pairs[3]; /* by kind */
};

enum answer_state {
	ANSWER_OPEN,	    /* more runs are needed */
	ANSWER_ENDS_FAILED, /* an end cannot be measured */
	ANSWER_ENDS_SAME,   /* the ends do not differ by the threshold */
	ANSWER_NONE,	    /* nothing in the range is the culprit */
	ANSWER_STUCK,	    /* no run can tell more, and nothing reaches the confidence */
	ANSWER_SUSPECT,	    /* suspect reaches the confidence: to be confirmed */
	ANSWER_REFUTED,	    /* it did, and its fresh runs do not show it */
	ANSWER_FOUND,	    /* all of the change is explained */
};

struct answer {
	struct arena *a; /* of all in it */
	enum answer_state state;
	struct evidence ev;
	struct posterior *posterior; /* NULL before the ends differ */
	struct test_result ends;
	size_t next; /* to be measured, of ANSWER_OPEN */
	struct cause suspect;
	ARRAY_OF(struct cause) causes; /* confirmed, in the order they were found */
	double rest; /* log ratio of the ends that the causes leave; NAN without a cause */
	bool rest_is_real;
};

/* Reads the evidence and judges it; to be released also where it fails. */
int answer_read(struct bisect *b, struct answer *ans);
void answer_release(struct answer *ans);
#define _cleanup_answer_ _cleanup_(answer_release)
/* Probability that candidate i is the (next) culprit; 0 for the good end. */
double answer_share(const struct answer *ans, size_t i);
/* The smallest set that holds a level; indexes into the range. */
double answer_set(const struct bisect *b, const struct answer *ans, double level, size_t **set,
		  size_t *n);

/* Reads what the campaign of a pair says, as far as it is there. */
int pair_read(struct bisect *b, enum pair_kind kind, const struct cause *c, struct pair *pair);
/* Measures it: 5 + 5 boots in blocks of random order; resumes. *interrupted. */
int pair_run(struct bisect *b, enum pair_kind kind, const struct cause *c, bool *interrupted);
/* Whether this kind of pair can be made: functions of programs cannot be aligned, for one. */
bool pair_is_possible(struct bisect *b, enum pair_kind kind, const struct cause *c);

#endif
