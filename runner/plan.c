// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of a campaign: a seed gives the same plan everywhere and for ever. */
#include "runner/campaign.h"

#include <stdlib.h>

#include "core/random.h"

/*
 * Two variants: as many blocks begin with one as with the other; of an odd number of blocks the
 * last one makes up for a lead, or is drawn. first[b] is the variant that block b begins with.
 */
static void plan_pairs(uint64_t *state, int *first, int blocks, int lead)
{
	int b;

	for (b = 0; b < blocks; b++)
		first[b] = b % 2;
	if (blocks % 2)
		first[blocks - 1] = lead ? lead > 0 : (int)random_below(state, 2);
	random_shuffle(state, first, (size_t)blocks);
}

struct plan_cell *plan_add(struct arena *a, const struct campaign_config *c, int from, int blocks,
			   int lead, size_t *n)
{
	struct plan_cell *cells = arena_alloc_array(
		a, (size_t)blocks * c->n_variants * c->n_cases * (size_t)c->runs, sizeof(*cells));
	int *order = arena_alloc_array(a, c->n_variants, sizeof(*order));
	int *first = arena_alloc_array(a, (size_t)blocks, sizeof(*first));
	/* the first blocks have the seed itself; an odd factor keeps later ones apart */
	uint64_t state = c->seed + (uint64_t)(from - 1) * 0x2545f4914f6cdd1du;
	size_t i, t;
	int b, run;

	*n = 0;
	for (i = 0; i < c->n_variants; i++)
		order[i] = (int)i;
	if (c->n_variants == 2)
		plan_pairs(&state, first, blocks, lead);
	for (b = 0; b < blocks; b++) {
		if (c->n_variants == 2) {
			order[0] = first[b];
			order[1] = !first[b];
		} else {
			random_shuffle(&state, order, c->n_variants);
		}
		for (i = 0; i < c->n_variants; i++)
			for (run = 0; run < c->runs; run++)
				for (t = 0; t < c->n_cases; t++)
					cells[(*n)++] =
						(struct plan_cell){from + b, order[i], (int)t};
	}
	return cells;
}

struct plan_cell *plan_make(struct arena *a, const struct campaign_config *c, size_t *n)
{
	return plan_add(a, c, 1, c->repeat, 0, n);
}

int64_t campaign_guest_seed(const struct campaign_config *c, int block)
{
	/* apart from the draws of the order: those use the seed itself */
	uint64_t state = ~c->seed + (uint64_t)block * 0x2545f4914f6cdd1du;

	return (int64_t)(random_next(&state) >> 33) + 1;
}
