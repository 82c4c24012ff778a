// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flip mode: variants that differ by run-time settings only are measured inside one boot. A tuple
 * is one run of a test case under each variant, one right after the other. It counts as a whole: a
 * half of one that a failure or a kill left alone is measured anew with the rest.
 */
#include <string.h>

#include "runner/session.h"

/* Why a good run of a broken tuple does not count. */
#define HALF_REASON "half of a pair whose other half was not measured; both were measured anew"

static bool in_tuple(const struct db_cell *cell, int block, int64_t test)
{
	return cell->block == block && cell->case_id == test;
}

static bool is_planned(const struct db_cell *cell)
{
	return !strcmp(cell->state, "planned");
}

static size_t count_state(const struct session *s, int block, int64_t test, const char *state)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_cells; i++)
		n += in_tuple(&s->cells[i], block, test) && !strcmp(s->cells[i].state, state);
	return n;
}

/* The run stays, with its reason, and the cell is planned again. */
static int replan_cell(struct session *s, struct db_cell *cell, const struct db_run *runs, size_t n)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++)
		if (runs[i].cell_id == cell->id && !strcmp(runs[i].outcome, "ok"))
			ret = db_set_run_outcome(s->db, runs[i].id, "suspect", NULL, HALF_REASON,
						 s->e);
	cell->state = "planned";
	return ret ? ret
		   : db_set_cell(s->db, cell->id, cell->state, cell->attempts, "", s->e);
}

static int mend_tuple(struct session *s, int block, int64_t test)
{
	struct db_run *runs;
	size_t n, i;
	int ret = db_get_runs(s->db, s->a, s->row.id, &runs, &n, s->e);

	for (i = 0; !ret && i < s->n_cells; i++)
		if (in_tuple(&s->cells[i], block, test) && !strcmp(s->cells[i].state, "done"))
			ret = replan_cell(s, &s->cells[i], runs, n);
	return ret;
}

static bool is_broken(const struct session *s, int block, int64_t test)
{
	return count_state(s, block, test, "planned") && count_state(s, block, test, "done");
}

/* What a kill or Ctrl-C left half done. */
static int mend_all(struct session *s, int unused)
{
	size_t i;
	int ret = 0;

	(void)unused;
	for (i = 0; !ret && i < s->n_cells; i++)
		if (is_planned(&s->cells[i]) &&
		    is_broken(s, s->cells[i].block, s->cells[i].case_id))
			ret = mend_tuple(s, s->cells[i].block, s->cells[i].case_id);
	return ret;
}

/* One run of every variant that is planned, until all are settled or the visit breaks. */
static int run_tuple(struct session *s, struct open_visit *o, int block, int64_t test)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && !o->v.error && !proc_interrupted() && i < s->n_cells; i++) {
		struct db_cell *cell = &s->cells[i];

		if (!in_tuple(cell, block, test) || !is_planned(cell))
			continue;
		o->v.variant = (int)session_variant_index(s, cell);
		ret = s->backend.ops->flip(&s->backend, &o->v, s->e);
		if (!ret && !proc_interrupted())
			ret = session_run_cell(s, o, cell);
	}
	if (ret || proc_interrupted() || !is_broken(s, block, test))
		return ret;
	return mend_tuple(s, block, test);
}

static int run_block(struct session *s, struct open_visit *o, int block)
{
	size_t t;
	int ret = 0;

	for (t = 0; !ret && t < s->c->n_cases; t++)
		while (!ret && !o->v.error && !proc_interrupted() &&
		       count_state(s, block, s->cases[t].id, "planned"))
			ret = run_tuple(s, o, block, s->cases[t].id);
	return ret;
}

static int first_planned_block(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->n_cells; i++)
		if (is_planned(&s->cells[i]))
			return s->cells[i].block;
	return 0;
}

/* An error that no other boot cures fails all that is left. */
static int fail_rest(struct session *s, struct open_visit *o)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells; i++)
		if (is_planned(&s->cells[i]))
			ret = session_run_cell(s, o, &s->cells[i]);
	return ret;
}

/* One boot that could not even be entered is one attempt of the first tuple. */
static int fail_first(struct session *s, struct open_visit *o, int block)
{
	int64_t test = 0;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells; i++) {
		if (!is_planned(&s->cells[i]) || s->cells[i].block != block)
			continue;
		test = test ? test : s->cells[i].case_id;
		if (s->cells[i].case_id == test)
			ret = session_run_cell(s, o, &s->cells[i]);
	}
	return ret;
}

/* One boot, and as many tuples as it may have. */
static int flip_visit(struct session *s, int block)
{
	struct open_visit o;
	int ret = session_open(s, block, 0, NULL, &o), tuples = 0, asked = block;

	if (ret)
		return ret;
	if (o.v.error && !o.v.permanent)
		ret = fail_first(s, &o, block);
	for (; !ret && !o.v.error && block && !proc_interrupted(); block = first_planned_block(s)) {
		if (s->c->tuples && tuples++ == s->c->tuples)
			break;
		/* for the first block this was asked before the boot */
		if (block != asked)
			ret = session_budget_block(s, block);
		if (!ret)
			ret = run_block(s, &o, block);
	}
	if (!ret && o.v.error && o.v.permanent && !proc_interrupted())
		ret = fail_rest(s, &o);
	return session_close(s, &o, ret);
}

int session_flip(struct session *s)
{
	int ret = session_in_transaction(s, mend_all, 0), block;

	while (!ret && !proc_interrupted()) {
		block = first_planned_block(s);
		if (block)
			ret = session_budget_block(s, block);
		block = first_planned_block(s);
		if (!block || ret)
			break;
		if (s->backend.ops->is_running && !s->backend.ops->is_running(&s->backend, 0))
			break;
		ret = flip_visit(s, block);
	}
	return ret;
}
