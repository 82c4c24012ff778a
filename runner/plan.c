// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of a campaign: a seed gives the same plan everywhere and for ever. */
#include "campaign/campaign.h"

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

/* The orders of all blocks: those of block b at order[b * n_variants]. */
static void draw_orders(uint64_t *state, const struct campaign_config *c, int *order, int *first,
			int blocks, int lead)
{
	size_t n = c->n_variants, i;
	int b;

	if (n == 2)
		plan_pairs(state, first, blocks, lead);
	for (b = 0; b < blocks; b++) {
		/* every shuffle goes on from the order before */
		for (i = 0; i < n; i++)
			order[(size_t)b * n + i] = b ? order[(size_t)(b - 1) * n + i] : (int)i;
		if (n != 2) {
			random_shuffle(state, &order[(size_t)b * n], n);
			continue;
		}
		order[2 * b] = first[b];
		order[2 * b + 1] = !first[b];
	}
}

static void plan_blocks(uint64_t *state, const struct campaign_config *c, struct plan_cell *cells,
			int *order, int *first, int blocks, int lead)
{
	size_t i, t;
	int b, run;

	draw_orders(state, c, order, first, blocks, lead);
	for (b = 0; b < blocks; b++)
		for (i = 0; i < c->n_variants; i++)
			for (run = 0; run < c->runs; run++)
				for (t = 0; t < c->n_cases; t++)
					*cells++ = (struct plan_cell){
						b, order[(size_t)b * c->n_variants + i], (int)t};
}

/* The tuples of a test case stand in different blocks. */
static void plan_tuples(uint64_t *state, const struct campaign_config *c, struct plan_cell *cells,
			int *order, int *first, int blocks, const int *lead)
{
	size_t n = c->n_variants, t, i;
	int b;

	for (t = 0; t < c->n_cases; t++) {
		draw_orders(state, c, order, first, blocks, lead ? lead[t] : 0);
		for (b = 0; b < blocks; b++)
			for (i = 0; i < n; i++)
				cells[((size_t)b * c->n_cases + t) * n + i] = (struct plan_cell){
					b, order[(size_t)b * n + i], (int)t};
	}
}

struct plan_cell *plan_add(struct arena *a, const struct campaign_config *c, int from, int blocks,
			   const int *lead, size_t *n)
{
	size_t visits = (size_t)blocks * c->n_variants, i;
	struct plan_cell *cells = arena_alloc_array(
		a, visits * c->n_cases * (size_t)c->runs, sizeof(*cells));
	int *order = arena_alloc_array(a, visits, sizeof(*order));
	int *first = arena_alloc_array(a, (size_t)blocks, sizeof(*first));
	/* the first blocks have the seed itself; an odd factor keeps later ones apart */
	uint64_t state = c->seed + (uint64_t)(from - 1) * 0x2545f4914f6cdd1du;

	*n = visits * c->n_cases * (size_t)c->runs;
	if (c->flip)
		plan_tuples(&state, c, cells, order, first, blocks, lead);
	else
		plan_blocks(&state, c, cells, order, first, blocks, lead ? *lead : 0);
	for (i = 0; i < *n; i++)
		cells[i].block += from;
	return cells;
}

struct plan_cell *plan_make(struct arena *a, const struct campaign_config *c, size_t *n)
{
	return plan_add(a, c, 1, c->repeat, NULL, n);
}

int64_t campaign_guest_seed(const struct campaign_config *c, int block)
{
	/* apart from the draws of the order: those use the seed itself */
	uint64_t state = ~c->seed + (uint64_t)block * 0x2545f4914f6cdd1du;

	return (int64_t)(random_next(&state) >> 33) + 1;
}
