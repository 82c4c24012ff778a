// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of a campaign: a seed gives the same plan everywhere and for ever. */
#include "runner/campaign.h"

#include <stdlib.h>

#include "core/random.h"

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
