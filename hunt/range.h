/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The candidates between a good and a bad end: commits of a range, or variants in their order. */
#ifndef HUNT_RANGE_H
#define HUNT_RANGE_H

#include <stddef.h>

#include "hunt/git.h"

struct candidate {
	const char *id;	     /* full hash; name of a variant */
	const char *name;    /* for people: 12 digits */
	const char *subject; /* "" where there is none */
	double weight;	     /* prior, relative; 0: cannot be it */
	size_t *parents;     /* indexes, all smaller than its own */
	size_t n_parents;
};

struct range {
	struct candidate *items; /* in topological order; the first is the good end, the last the
				    bad one */
	size_t n;
};

struct range_options {
	const char *good, *bad; /* full hashes; good is an ancestor of bad */
	const char *path;	/* only commits that touch it, NULL: all */
	bool first_parent;
};

/*
 * Commits that bad has and good has not. Those that touch nothing but documentation, and merges
 * without changes of their own, weigh a tenth. -EINVAL: there is none.
 */
int range_read(const struct git *g, const struct range_options *opt, struct range *range);
/* A line of n candidates, named as given. */
void range_line(struct arena *a, const char *const *names, const char *const *subjects, size_t n,
		struct range *range);
/* Index of a candidate by its id, or the beginning of a hash; -1. */
long range_find(const struct range *r, const char *id);

#endif
