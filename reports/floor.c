// SPDX-License-Identifier: GPL-2.0-or-later
/* What metrics do on this machine where nothing changed, learnt from kernels measured under two
 * names. */
#include <math.h>

#include "reports/build.h"

static bool same_row(const struct db_unit *x, const struct db_unit *y)
{
	return x->case_id == y->case_id && x->metric_id == y->metric_id &&
	       x->campaign == y->campaign;
}

/* The units of one variant within those of one case, metric and campaign. */
static struct stats_group side_of(const struct builder *b, const struct db_unit *u, size_t n,
				  int64_t variant, const int **blocks)
{
	double *values = arena_alloc_array(b->a, n, sizeof(*values));
	int *at = arena_alloc_array(b->a, n, sizeof(*at));
	struct stats_group side = {values, 0};
	size_t i;

	for (i = 0; i < n; i++) {
		if (u[i].variant_id != variant)
			continue;
		at[side.n] = u[i].block;
		values[side.n++] = u[i].value;
	}
	*blocks = at;
	return side;
}

static struct floor *floor_of(struct builder *b, int64_t metric)
{
	struct floor *f;

	array_for_each (f, &b->floors)
		if (f->metric == metric)
			return f;
	f = ARRAY_PUSH(&b->floors);
	*f = (struct floor){.metric = metric};
	return f;
}

/* Both arms of one case and metric. */
static void add_pair(struct builder *b, const struct db_unit *u, size_t n, const struct db_arm *arm)
{
	const int *xb, *yb;
	struct stats_group x = side_of(b, u, n, arm->original, &xb);
	struct stats_group y = side_of(b, u, n, arm->again, &yb);
	struct floor *f;
	size_t i, k;

	if (!x.n || !y.n)
		return;
	f = floor_of(b, u->metric_id);
	*ARRAY_PUSH(&f->pairs) = (struct stats_arm_pair){
		stats_amean(y.x, y.n) / stats_amean(x.x, x.n) - 1, MIN(x.n, y.n)};
	for (i = 0; i < x.n; i++)
		for (k = 0; k < y.n; k++)
			if (xb[i] == yb[k] && x.x[i] > 0)
				f->largest = fmax(f->largest, fabs(y.x[k] / x.x[i] - 1));
}

int build_floors(struct builder *b)
{
	const char *campaign = b->campaigns[0].id;
	struct db_arm *arms;
	struct db_unit *u;
	struct floor *f;
	size_t n_arms, n, i, k, to;
	int r = db_get_arms(b->db, b->a, campaign, &arms, &n_arms, b->e);

	if (r || !n_arms)
		return r;
	r = db_get_arm_units(b->db, b->a, campaign, &u, &n, b->e);
	for (i = 0; !r && i < n; i = to) {
		for (to = i; to < n && same_row(&u[to], &u[i]); to++)
			;
		for (k = 0; k < n_arms; k++)
			if (arms[k].campaign == u[i].campaign)
				add_pair(b, &u[i], to - i, &arms[k]);
	}
	array_for_each (f, &b->floors)
		f->unit = stats_noise_floor(f->pairs.items, f->pairs.n);
	return r;
}

void floor_take(const struct builder *b, struct cmp_row *row)
{
	const struct floor *f;

	row->floor = NAN;
	row->seed_floor = STATS_SEED_FLOOR;
	array_for_each (f, &b->floors) {
		if (f->metric != row->db_id)
			continue;
		row->floor = f->unit;
		row->arm_pairs = (int)f->pairs.n;
		/* the same image under the same seed is always equal: that tells nothing */
		row->seed_floor = fmax(f->largest, STATS_SEED_FLOOR);
	}
}
