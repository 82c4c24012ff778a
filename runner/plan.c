// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of a campaign. Random numbers are splitmix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014), so that a seed gives the same plan everywhere and
 * for ever.
 */
#include "runner/campaign.h"

#include <stdlib.h>

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Uniform below n: draws that would favour small results are thrown away. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do
		v = random_next(state);
	while (v >= limit);
	return v % n;
}

static void random_shuffle(uint64_t *state, int *list, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t k = random_below(state, i);
		int swap = list[i - 1];

		list[i - 1] = list[k];
		list[k] = swap;
	}
}

/*
 * Two variants: as many blocks begin with one as with the other; of an odd number of blocks the
 * last one is drawn. first[b] is the variant that block b begins with.
 */
static void plan_pairs(uint64_t *state, int *first, int blocks)
{
	int b;

	for (b = 0; b < blocks; b++)
		first[b] = b % 2;
	if (blocks % 2)
		first[blocks - 1] = (int)random_below(state, 2);
	random_shuffle(state, first, (size_t)blocks);
}

struct plan_cell *plan_make(struct arena *a, const struct campaign_config *c, size_t *n)
{
	struct plan_cell *cells = arena_alloc_array(
		a, (size_t)c->repeat * c->n_variants * c->n_cases, sizeof(*cells));
	int *order = arena_alloc_array(a, c->n_variants, sizeof(*order));
	int *first = arena_alloc_array(a, (size_t)c->repeat, sizeof(*first));
	uint64_t state = c->seed;
	size_t i, t;
	int b;

	*n = 0;
	for (i = 0; i < c->n_variants; i++)
		order[i] = (int)i;
	if (c->n_variants == 2)
		plan_pairs(&state, first, c->repeat);
	for (b = 0; b < c->repeat; b++) {
		if (c->n_variants == 2) {
			order[0] = first[b];
			order[1] = !first[b];
		} else {
			random_shuffle(&state, order, c->n_variants);
		}
		for (i = 0; i < c->n_variants; i++)
			for (t = 0; t < c->n_cases; t++)
				cells[(*n)++] = (struct plan_cell){b + 1, order[i], (int)t};
	}
	return cells;
}
