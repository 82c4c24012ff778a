// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks at a campaign in progress (STATISTICS.md section 7). --until-sure plans them at 5, 10 and
 * 20 units a side, each judged at the level that keeps the false alarms of all three at 5 %: a row
 * that is settled is measured no further. What a look found is stored together with the blocks it
 * asks for, so that a kill leaves a look undone or done, never half.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/num.h"
#include "runner/session.h"

static const int looks[] = {5, 10, 20};

int run_look_units(int look)
{
	return look >= 1 && look <= (int)ARRAY_SIZE(looks) ? looks[look - 1] : 0;
}

int session_look_after(int blocks)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(looks); i++)
		if (looks[i] == blocks)
			return (int)i + 1;
	return 0;
}

int session_set_fact(struct session *s, const char *key, const char *value)
{
	return value ? db_set_fact(s->db, "campaign", s->row.id, key, value, s->e)
		     : db_remove_fact(s->db, "campaign", s->row.id, key, s->e);
}

int session_read_design(struct session *s)
{
	struct db_fact *facts;
	size_t n, i;
	int ret = db_get_facts(s->db, s->a, "campaign", s->row.id, &facts, &n, s->e);

	for (i = 0; !ret && i < n; i++) {
		const char *key = facts[i].key, *value = facts[i].value;
		int64_t number = 0;

		num_parse_int(span_of(value), &number);
		if (!strcmp(key, "design"))
			s->design = value;
		else if (!strcmp(key, "order"))
			s->was_flip = !strcmp(value, ORDER_FLIP);
		else if (!strcmp(key, "stop"))
			s->stop = value;
		else if (!strcmp(key, "added"))
			s->added = (int)number;
		else if (!strcmp(key, "runs_per_boot"))
			s->runs_per_boot = (int)number;
		else if (!strcmp(key, "budget"))
			num_parse_duration(value, &s->budget);
	}
	s->until_sure = str_equal(s->design, "until-sure");
	return ret;
}

/* ---- rows ---- */

const struct run_row *session_row(const struct session *s, size_t variant, size_t test)
{
	return &s->rows[test * (s->c->n_variants - 1) + variant - 1];
}

int session_judge(struct session *s)
{
	size_t v, t, n = 0;

	s->n_rows = s->c->n_cases * (s->c->n_variants - 1);
	s->rows = arena_alloc_array(s->a, s->n_rows, sizeof(*s->rows));
	for (t = 0; t < s->c->n_cases; t++)
		for (v = 1; v < s->c->n_variants; v++)
			s->rows[n++] = (struct run_row){.case_id = s->cases[t].id,
							.variant_id = s->variants[v].id,
							.state = RUN_ROW_FAILED};
	return s->opt->judge(s->opt->data, s->db, s->row.id, s->design != NULL, s->rows, s->n_rows,
			     s->e);
}

int session_count_rows(const struct session *s, enum run_row_state state)
{
	size_t i;
	int n = 0;

	for (i = 0; i < s->n_rows; i++)
		n += s->rows[i].state == state;
	return n;
}

/* "hackbench/groups=4, tbench/clients=1 [new] and 3 more" */
char *session_name_rows(const struct session *s, enum run_row_state state)
{
	enum { NAMED = 3 };
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;
	int n = 0;

	for (i = 0; i < s->n_rows; i++) {
		size_t others = s->c->n_variants - 1;

		if (s->rows[i].state != state || ++n > NAMED)
			continue;
		strbuf_addf(&sb, "%s%s", n > 1 ? ", " : "", s->c->cases[i / others].name);
		if (others > 1)
			strbuf_addf(&sb, " [%s]", s->c->variants[i % others + 1].name);
	}
	if (n > NAMED)
		strbuf_addf(&sb, " and %d more", n - NAMED);
	return arena_strdup(s->a, strbuf_str(&sb));
}

/* A test case goes on with the baseline and every variant whose row of it is not settled. */
static bool is_open(const struct session *s, size_t variant, size_t test)
{
	size_t v;
	bool any = false;

	if (variant)
		return session_row(s, variant, test)->state == RUN_ROW_OPEN;
	for (v = 1; v < s->c->n_variants; v++)
		any |= session_row(s, v, test)->state == RUN_ROW_OPEN;
	return any;
}

/* ---- looks ---- */

const char *session_units(const struct session *s, int n)
{
	if (s->c->flip)
		return arena_printf(s->a, "%d pair%s", n, n == 1 ? "" : "s");
	return arena_printf(s->a, "%d %s%s a side", n, s->row.unit, n == 1 ? "" : "s");
}

static const char *rows_word(int n)
{
	return n == 1 ? "row" : "rows";
}

/* Why there is no further look, or NULL. */
static const char *end_of_looks(const struct session *s, int look)
{
	int open = session_count_rows(s, RUN_ROW_OPEN), failed, blocks = s->row.repeat;
	const char *end;

	if (open && run_look_units(look + 1))
		return NULL;
	end = open ? arena_printf(s->a, "%s reached, %d %s still unsure: %s",
				  session_units(s, blocks), open, rows_word(open),
				  session_name_rows(s, RUN_ROW_OPEN))
		   : arena_printf(s->a, "every headline row is settled after look %d (%s)", look,
				  session_units(s, blocks));
	failed = session_count_rows(s, RUN_ROW_FAILED);
	if (!failed)
		return end;
	return arena_printf(s->a, "%s; %d %s could not be measured: %s", end, failed,
			    rows_word(failed), session_name_rows(s, RUN_ROW_FAILED));
}

static int store_look(struct session *s, int look)
{
	int open = session_count_rows(s, RUN_ROW_OPEN);
	const char *text = arena_printf(
		s->a, "%s, %s: %d of %zu rows settled%s%s", session_units(s, run_look_units(look)),
		num_iso_time(s->a, time(NULL)), session_count_rows(s, RUN_ROW_SETTLED), s->n_rows,
		open ? ", open: " : "", open ? session_name_rows(s, RUN_ROW_OPEN) : "");

	if (s->opt->note)
		s->opt->note(arena_printf(s->a, "look %d, %s", look, text));
	return session_set_fact(s, arena_printf(s->a, "look.%d", look), text);
}

static int take_look(struct session *s, int look)
{
	int ret = store_look(s, look);

	s->stop = end_of_looks(s, look);
	if (!ret && s->stop)
		return session_set_fact(s, "stop", s->stop);
	return ret ? ret : session_add_blocks(s, run_look_units(look + 1) - s->row.repeat, is_open);
}

int session_in_transaction(struct session *s, int (*fn)(struct session *s, int arg), int arg)
{
	int ret = db_begin(s->db, s->e);

	if (ret)
		return ret;
	ret = fn(s, arg);
	if (ret) {
		db_rollback(s->db);
		return ret;
	}
	ret = db_commit(s->db, s->e);
	return ret ? ret : db_get_cells(s->db, s->a, s->row.id, &s->cells, &s->n_cells, s->e);
}

int session_look(struct session *s, bool *more)
{
	int look = session_look_after(s->row.repeat), ret;

	*more = false;
	if (!s->until_sure || s->stop || s->added || !look || session_is_cut(s))
		return 0;
	ret = session_judge(s);
	if (!ret)
		ret = session_in_transaction(s, take_look, look);
	*more = !ret && !s->stop;
	return ret;
}

/* Rows settled by now stop; without --until-sure that changes how the campaign is judged. */
static int settle_rows(struct session *s, int look)
{
	const char *why = arena_printf(s->a, SETTLED_REASON " at look %d", look);
	int ret = store_look(s, look);
	size_t i;

	for (i = 0; !ret && i < s->n_cells; i++) {
		const struct db_cell *cell = &s->cells[i];

		if (cell->block <= run_look_units(look) || strcmp(cell->state, "planned") ||
		    is_open(s, session_variant_index(s, cell), session_case_index(s, cell)))
			continue;
		ret = db_set_cell(s->db, cell->id, "skipped", cell->attempts, why, s->e);
	}
	return ret;
}

int session_settle(struct session *s, int look)
{
	return session_in_transaction(s, settle_rows, look);
}

/* ---- further units ---- */

static int plan_units(struct session *s, int blocks)
{
	int ret = session_add_blocks(s, blocks, NULL);

	s->added += blocks;
	s->row.ended = 0;
	if (!ret)
		ret = session_set_fact(s, "added", arena_printf(s->a, "%d", s->added));
	return ret ? ret : db_set_campaign(s->db, &s->row, s->e);
}

int session_add_units(struct session *s)
{
	if (!s->row.ended) {
		err_add(s->e, -EINVAL, "%s is not finished: --add is for a campaign that is",
			s->row.id);
		err_hint(s->e, "finish it first: kdelta run %s --resume=%s", s->c->file, s->row.id);
		return -EINVAL;
	}
	return session_in_transaction(s, plan_units, s->opt->add);
}
