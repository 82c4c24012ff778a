// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instruction counts at the baseline's number of context switches. A workload that happens to switch
 * more often under one seed runs the paths of switching more often; where that explains how seeds
 * differ, a straight line takes it out. One slope for all variants, an intercept for each (analysis
 * of covariance), so that only what differs from seed to seed within a variant decides the slope.
 */
#include <math.h>
#include <string.h>

#include "reports/build.h"

/* The line must explain so much of what seeds of one variant do, over so many degrees of freedom. */
#define FIT_SHARE 0.9
#define FIT_DF	  3

static const struct cmp_row *row_named(const struct cmp_test *t, const char *ending)
{
	size_t i;

	for (i = 0; i < t->n_rows; i++)
		if (str_ends(t->rows[i].metric, ending))
			return &t->rows[i];
	return NULL;
}

/* The same seeds in the same order on both rows. */
static bool cells_match(const struct cmp_cell *y, const struct cmp_cell *x)
{
	return y->values && x->values && y->n == x->n &&
	       !memcmp(y->blocks, x->blocks, (size_t)y->n * sizeof(*y->blocks));
}

/* Counts per switch, NAN where the line does not hold. */
static double common_slope(const struct comparison *c, const struct cmp_row *y,
			   const struct cmp_row *x)
{
	double xx = 0, xy = 0, yy = 0, df = -1;
	size_t v;
	int i;

	for (v = 0; v < c->n_variants; v++) {
		const struct cmp_cell *cy = &y->cells[v], *cx = &x->cells[v];
		double my, mx;

		if (!cells_match(cy, cx))
			continue;
		my = stats_amean(cy->values, (size_t)cy->n);
		mx = stats_amean(cx->values, (size_t)cx->n);
		for (i = 0; i < cy->n; i++) {
			xx += (cx->values[i] - mx) * (cx->values[i] - mx);
			xy += (cx->values[i] - mx) * (cy->values[i] - my);
			yy += (cy->values[i] - my) * (cy->values[i] - my);
		}
		df += cy->n - 1;
	}
	return df >= FIT_DF && xx > 0 && xy * xy >= FIT_SHARE * xx * yy ? xy / xx : NAN;
}

static void range_of(const struct cmp_cell *cell, double *low, double *high)
{
	int i;

	*low = *high = cell->values[0];
	for (i = 1; i < cell->n; i++) {
		*low = fmin(*low, cell->values[i]);
		*high = fmax(*high, cell->values[i]);
	}
}

/* Beyond the numbers of switches that both were seen with the line would be a guess. */
static bool ranges_meet(const struct cmp_cell *one, const struct cmp_cell *other)
{
	double a, b, c, d;

	range_of(one, &a, &b);
	range_of(other, &c, &d);
	return a <= d && c <= b;
}

static bool adjust_cell(struct builder *b, struct cmp_cell *cell, const struct cmp_cell *y,
			const struct cmp_cell *x, const struct cmp_cell *base, double slope)
{
	double at = stats_mean(MEAN_MEDIAN, base->values, (size_t)base->n), *values;
	int i;

	*cell = (struct cmp_cell){.variant = y->variant, .stddev = NAN, .cv = NAN,
				  .source_better = NAN};
	if (!cells_match(y, x) || !ranges_meet(x, base))
		return false;
	values = arena_alloc_array(b->a, (size_t)y->n, sizeof(*values));
	for (i = 0; i < y->n; i++)
		values[i] = y->values[i] - slope * (x->values[i] - at);
	cell->values = values;
	cell->blocks = y->blocks;
	cell->n = y->n;
	cell->runs = y->runs;
	return true;
}

/* Room for one more row is there. */
void adjust_counts(struct builder *b, struct cmp_test *t)
{
	const struct cmp_row *y = row_named(t, ".kinsn"), *x = row_named(t, ".kinsn_switches");
	struct cmp_row *row = &t->rows[t->n_rows];
	bool all = true;
	double slope;
	size_t i;

	if (!y || !x || !x->cells[0].values)
		return;
	slope = common_slope(b->c, y, x);
	if (isnan(slope))
		return;
	*row = *y;
	row->metric = arena_printf(b->a, "%s_adjusted", y->metric);
	row->description = "kinsn at the baseline's number of context switches, by the straight line "
			   "through all seeds";
	row->reason = "what differs beyond more or fewer switches is the path of each piece of work";
	row->headline = false;
	row->history = (struct stats_prior){0};
	row->past = NULL;
	row->n_past = 0;
	row->cells = arena_alloc_array(b->a, b->c->n_variants, sizeof(*row->cells));
	row->contrasts = arena_alloc_array(b->a, b->c->n_contrasts, sizeof(*row->contrasts));
	for (i = 0; i < b->c->n_variants; i++)
		all &= adjust_cell(b, &row->cells[i], &y->cells[i], &x->cells[i], &x->cells[0],
				   slope);
	row->shown = all;
	if (all || b->opt->counters)
		t->n_rows++;
}
