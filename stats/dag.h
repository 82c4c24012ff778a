/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A commit graph: n commits, parents before children. */
#ifndef STATS_DAG_H
#define STATS_DAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Neighbours on one side: of commit i, list[first[i]] to list[first[i + 1] - 1]. */
struct dag_links {
	size_t *first, *list;
};

struct dag {
	size_t n;
	struct dag_links parents, children;
};

/*
 * first and parents as in struct dag_links, copied; NULL, both: a line. False, and nothing to
 * release, if a parent is not before its child.
 */
bool dag_init(struct dag *d, size_t n, const size_t *first, const size_t *parents);
void dag_release(struct dag *d);

/* Words of a set of n commits, one bit each. */
#define DAG_WORDS(n) (((n) + 63) / 64)
static inline bool dag_has(const uint64_t *set, size_t commit)
{
	return set[commit / 64] >> commit % 64 & 1;
}

/* Sets the bits of a commit and its ancestors, in a set that is empty. */
void dag_ancestors(const struct dag *d, size_t commit, uint64_t *set);

/*
 * For every commit the sum of w over it and its ancestors (or descendants), each counted once.
 * Linear in n but for merges (forks), which walk back to where their sides meet.
 */
void dag_sum_ancestors(const struct dag *d, const double *w, double *sums);
void dag_sum_descendants(const struct dag *d, const double *w, double *sums);

#endif
