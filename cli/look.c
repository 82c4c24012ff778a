// SPDX-License-Identifier: GPL-2.0-or-later
/* A look at a campaign in progress, through the comparison that its report is made of. */
#include "cli/look.h"

#include <errno.h>
#include <math.h>

#include "reports/comparison.h"

static double log_change(const struct cmp_row *row, size_t variant)
{
	const struct cmp_cell *cell = &row->cells[variant];

	if (!variant)
		return row->cells[0].has_mean ? 0 : NAN;
	return cell->has_change && cell->change > -1 ? log1p(cell->change) : NAN;
}

/* Distance of x from the median of others; NAN: there is none. */
static double distance(double x, const double *others, size_t n)
{
	return n ? fabs(x - stats_median(others, n)) : NAN;
}

/*
 * How far a change stands alone: from the other variants of its row and from the same metric of
 * other test cases, whichever is nearer (what the reports call a lone cell). others: room for a
 * number of each variant and of each test case.
 */
static double stands_alone(const struct comparison *c, const struct cmp_row *row, size_t variant,
			   double *others)
{
	double x = log_change(row, variant), in_row, in_column, v;
	size_t i, r, n = 0;

	for (i = 0; i < c->n_variants; i++) {
		v = log_change(row, i);
		if (i != variant && !isnan(v))
			others[n++] = v;
	}
	in_row = distance(x, others, n);
	for (i = n = 0; i < c->n_tests; i++) {
		for (r = 0; r < c->tests[i].n_rows; r++) {
			const struct cmp_row *other = &c->tests[i].rows[r];

			v = log_change(other, variant);
			if (other != row && other->db_id == row->db_id && !isnan(v))
				others[n++] = v;
		}
	}
	in_column = distance(x, others, n);
	/* fmin() takes the number where the other is none */
	return isnan(x) ? 0 : fmin(in_row, in_column);
}

/* Headlines decide; a test case without any is judged by what is shown of it. */
static bool row_decides(const struct cmp_test *t, const struct cmp_row *row)
{
	return row->headline || (!t->rows[0].headline && row->shown);
}

static enum run_row_state cell_state(const struct cmp_cell *cell)
{
	switch (cell->verdict) {
	case VERDICT_UNSURE:
		return RUN_ROW_OPEN;
	case VERDICT_MISSING:
	case VERDICT_FAILED:
		return RUN_ROW_FAILED;
	default:
		return RUN_ROW_SETTLED;
	}
}

static void judge_row(const struct comparison *c, const struct cmp_test *t, size_t variant,
		      double *others, struct run_row *out)
{
	bool open = false, settled = false;
	size_t r;

	for (r = 0; r < t->n_rows; r++) {
		const struct cmp_row *row = &t->rows[r];
		enum run_row_state state = cell_state(&row->cells[variant]);
		double change = log_change(row, variant);

		if (!row_decides(t, row))
			continue;
		open |= state == RUN_ROW_OPEN;
		settled |= state == RUN_ROW_SETTLED;
		out->change = fmax(out->change, isnan(change) ? 0 : fabs(change));
		out->odd = fmax(out->odd, stands_alone(c, row, variant, others));
	}
	out->state = open ? RUN_ROW_OPEN : settled ? RUN_ROW_SETTLED : RUN_ROW_FAILED;
}

static const struct cmp_test *find_test(const struct comparison *c, int64_t id)
{
	size_t i;

	for (i = 0; i < c->n_tests; i++)
		if (c->tests[i].db_id == id)
			return &c->tests[i];
	return NULL;
}

int look_judge(void *data, struct db *db, const char *campaign, bool looks, struct run_row *rows,
	       size_t n, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err why = ERR_INIT;
	const struct comparison_options opt = {
		.threshold = 0.01,
		.q = looks ? STATS_LOOKS_Q : 0,
		.level = looks ? STATS_LOOKS_LEVEL : 0,
	};
	struct comparison *c;
	double *others;
	size_t i;
	int r = comparison_build(db, a, &campaign, 1, &opt, &c, &why);

	(void)data;
	if (r == -ENOENT) /* no good run yet */
		return 0;
	if (r)
		return err_add(e, r, "%s", err_text(&why));
	others = arena_alloc_array(a, c->n_tests + c->n_variants, sizeof(*others));
	for (i = 0; i < n; i++) {
		const struct cmp_test *t = find_test(c, rows[i].case_id);
		int v = comparison_variant_of(c, rows[i].variant_id);

		if (t && t->n_rows && v >= 0)
			judge_row(c, t, (size_t)v, others, &rows[i]);
	}
	return 0;
}
