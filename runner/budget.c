// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --budget: before each block an estimate from the pace so far says what of it still fits. The rows
 * that stand alone or are undecided come first; what is cut stays in the plan with its reason.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "runner/session.h"

/* From here on a row that stands alone comes before all that are merely undecided. */
#define LONE_LEAST 0.10

static bool is_cut_cell(const struct db_cell *cell)
{
	return !strcmp(cell->state, "skipped") && str_starts(cell->reason, BUDGET_REASON);
}

bool session_is_dropped(const struct db_cell *cell)
{
	return is_cut_cell(cell) ||
	       (!strcmp(cell->state, "skipped") && str_starts(cell->reason, SETTLED_REASON));
}

bool session_is_cut(const struct session *s)
{
	return session_has(s, 0, is_cut_cell);
}

int session_check_budget(struct session *s)
{
	double block = s->slow ? SLOW_VISIT_SECONDS : 0;
	size_t i;

	for (i = 0; i < s->c->n_cases; i++)
		block += s->cases[i].missing ? 0 : s->c->cases[i].expected * s->c->runs;
	block *= (double)s->c->n_variants;
	if (!(s->opt->budget > 0) || block <= s->opt->budget)
		return 0;
	err_add(s->e, -EINVAL,
		"a budget of %s is too short: one block, every variant once, takes about %s",
		num_duration(s->a, s->opt->budget), num_duration(s->a, block));
	err_hint(s->e,
		 "give more time, leave out test cases, or say in %s how long a run really "
		 "takes (expected: 2s)",
		 s->c->file);
	return -EINVAL;
}

/* A further budget of a campaign that was cut: what was left out is planned again. */
static int plan_again(struct session *s, int unused)
{
	size_t i;
	int ret = 0;

	(void)unused;
	for (i = 0; !ret && i < s->n_cells; i++)
		if (is_cut_cell(&s->cells[i]))
			ret = db_set_cell(s->db, s->cells[i].id, "planned", s->cells[i].attempts,
					  "", s->e);
	s->stop = NULL;
	s->row.ended = 0;
	if (!ret)
		ret = session_set_fact(s, "stop", NULL);
	return ret ? ret : db_set_campaign(s->db, &s->row, s->e);
}

int session_set_budget(struct session *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool more = s->opt->budget > s->budget;
	int ret;

	if (!(s->opt->budget > 0))
		return 0;
	s->budget = s->opt->budget;
	num_add_exact(&sb, s->budget);
	strbuf_addc(&sb, 's');
	ret = session_set_fact(s, "budget", strbuf_str(&sb));
	return ret || !more || !session_is_cut(s) ? ret : session_in_transaction(s, plan_again, 0);
}

/* ---- what comes first ---- */

static double row_priority(const struct run_row *row)
{
	if (row->state == RUN_ROW_FAILED)
		return -2;
	if (row->odd >= LONE_LEAST)
		return 1000 + row->odd;
	/* between looks nothing is settled for good: it only comes last */
	return row->state == RUN_ROW_OPEN ? row->change : -1;
}

static void set_priorities(struct session *s)
{
	size_t t, v;

	for (t = 0; t < s->c->n_cases; t++) {
		s->cases[t].priority = -2;
		for (v = 1; v < s->c->n_variants; v++)
			s->cases[t].priority =
				fmax(s->cases[t].priority, row_priority(session_row(s, v, t)));
	}
}

void session_order_cells(const struct session *s, struct visit_cells cells)
{
	size_t i, k;

	if (!(s->budget > 0))
		return;
	for (i = 1; i < cells.n; i++) {
		struct db_cell *cell = cells.items[i];
		double priority = s->cases[session_case_index(s, cell)].priority;

		for (k = i;
		     k && s->cases[session_case_index(s, cells.items[k - 1])].priority < priority;
		     k--)
			cells.items[k] = cells.items[k - 1];
		cells.items[k] = cell;
	}
}

/* ---- what fits ---- */

static bool is_begun_cell(const struct db_cell *cell)
{
	return cell->attempts || !strcmp(cell->state, "done");
}

/* Marks the test cases that do not fit into the seconds left, the least urgent first. */
static void choose_cases(struct session *s, int block, double left)
{
	size_t i, k, best;

	for (i = 0; i < s->c->n_cases; i++)
		s->cases[i].cut = true;
	for (i = 0; i < s->c->n_cases; i++) {
		best = s->c->n_cases;
		for (k = 0; k < s->c->n_cases; k++)
			if (s->cases[k].cut && (best == s->c->n_cases ||
						s->cases[k].priority > s->cases[best].priority))
				best = k;
		s->cases[best].cut = false;
		if (session_estimate(s, block) <= left)
			continue;
		s->cases[best].cut = true;
		return;
	}
}

/* Whether a test case of the block was not marked. */
static bool is_kept(const struct session *s, int block)
{
	size_t i;

	for (i = 0; i < s->n_cells; i++)
		if (s->cells[i].block == block && !strcmp(s->cells[i].state, "planned") &&
		    !s->cases[session_case_index(s, &s->cells[i])].cut)
			return true;
	return false;
}

/* Where nothing of a block fits, nothing of the later ones does. */
static int cut_cells(struct session *s, int block)
{
	const char *why =
		arena_printf(s->a, BUDGET_REASON " of %s used", num_duration(s->a, s->budget));
	bool kept = is_kept(s, block), begun = false;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells; i++) {
		const struct db_cell *cell = &s->cells[i];

		if (!i || cell->block != s->cells[i - 1].block)
			begun = session_has(s, cell->block, is_begun_cell);
		if (cell->block < block || (kept && cell->block > block) || begun ||
		    strcmp(cell->state, "planned"))
			continue;
		if (!kept || s->cases[session_case_index(s, cell)].cut)
			ret = db_set_cell(s->db, cell->id, "skipped", cell->attempts, why, s->e);
	}
	if (ret || s->design || !kept)
		return ret;
	/* the data said what is measured further: judged as after a look */
	s->design = "budget";
	return session_set_fact(s, "design", s->design);
}

static int cut_block(struct session *s, int block)
{
	size_t i;
	int ret;

	choose_cases(s, block, s->budget - session_seconds(s));
	ret = session_in_transaction(s, cut_cells, block);
	for (i = 0; i < s->c->n_cases; i++)
		s->cases[i].cut = false;
	return ret;
}

/* Without --until-sure the rows that a planned look finds settled stop all the same. */
static int interim_look(struct session *s, int block)
{
	int look = session_look_after(block - 1), ret = 0;

	if (!look || s->until_sure)
		return 0;
	if (!s->design) {
		s->design = "budget";
		ret = session_set_fact(s, "design", s->design);
		/* the rows were judged, but not at the level of looks */
		if (!ret)
			ret = session_judge(s);
	}
	return ret ? ret : session_settle(s, look);
}

int session_budget_block(struct session *s, int block)
{
	int ret;

	if (!(s->budget > 0) || s->added)
		return 0;
	if (block > 1 && s->c->n_variants > 1) {
		ret = session_judge(s);
		if (ret)
			return ret;
		set_priorities(s);
	}
	if (session_has(s, block, is_begun_cell))
		return 0;
	ret = block > 1 && s->c->n_variants > 1 ? interim_look(s, block) : 0;
	if (ret || session_estimate(s, block) <= s->budget - session_seconds(s))
		return ret;
	return cut_block(s, block);
}

/* ---- the end ---- */

static bool is_measured_cell(const struct db_cell *cell)
{
	return !strcmp(cell->state, "done") || !strcmp(cell->state, "failed");
}

int session_end_budget(struct session *s)
{
	int block, whole = 0, part = 0, blocks = s->row.repeat, open = 0, ret = 0;

	if (s->stop || s->added || !session_is_cut(s))
		return 0;
	for (block = 1; block <= s->row.repeat; block++) {
		if (!session_has(s, block, is_cut_cell))
			whole++;
		else
			part += session_has(s, block, is_measured_cell);
	}
	if (s->until_sure)
		blocks = run_look_units(RUN_LOOKS);
	if (s->c->n_variants > 1)
		ret = session_judge(s);
	if (ret)
		return ret;
	open = session_count_rows(s, RUN_ROW_OPEN);
	s->stop = arena_printf(s->a,
			       "budget of %s used: %d of %d blocks measured%s, %d %s unsure%s%s",
			       num_duration(s->a, s->budget), whole, blocks,
			       part ? arena_printf(s->a, " (and %d in part)", part) : "", open,
			       open == 1 ? "row" : "rows", open ? ": " : "",
			       open ? session_name_rows(s, RUN_ROW_OPEN) : "");
	return session_set_fact(s, "stop", s->stop);
}
