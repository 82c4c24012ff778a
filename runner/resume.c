// SPDX-License-Identifier: GPL-2.0-or-later
/* Going on with a campaign: finding it, comparing it with today's config, settling loose ends. */
#include <errno.h>
#include <string.h>

#include "core/num.h"
#include "jobs/count.h"
#include "runner/session.h"
#include "runner/store.h"

/* An unfinished one of that name; further units are for the newest, which says if it is not. */
static bool is_wanted(const struct db_campaign *row, const struct session *s)
{
	return !strcmp(row->kind, "run") && (s->opt->add || !row->ended) &&
	       !strcmp(row->name, s->c->name);
}

static int find_row(struct session *s, bool must, bool *found)
{
	struct db_campaign *list;
	size_t n, i;
	int ret;

	*found = false;
	if (s->opt->resume_id) {
		ret = db_find_campaign(s->db, s->a, s->opt->resume_id, &s->row, s->e);
		*found = !ret;
		return ret;
	}
	ret = db_get_campaigns(s->db, s->a, &list, &n, s->e);
	for (i = 0; !ret && i < n; i++) {
		if (is_wanted(&list[i], s)) {
			s->row = list[i];
			*found = true;
			return 0;
		}
	}
	if (ret || !must)
		return ret;
	if (s->opt->add)
		return err_add(s->e, -ENOENT, "no campaign '%s' was measured yet", s->c->name);
	err_add(s->e, -ENOENT, "no campaign '%s' waits to be resumed", s->c->name);
	err_hint(s->e, "`kdelta list` shows what is stored; leave --resume out to begin");
	return -ENOENT;
}

/* The product stored by an earlier part of the campaign. */
static int set_stored_auto(struct session *s, const struct bench_def *bench,
			   const struct bench_param *p)
{
	const char *key = session_auto_key(s, bench, p);
	struct db_fact *facts;
	double product;
	size_t n, i;
	int ret = db_get_facts(s->db, s->a, "campaign", s->row.id, &facts, &n, s->e);

	for (i = 0; !ret && i < n; i++)
		if (!strcmp(facts[i].key, key) && num_parse(span_of(facts[i].value), &product))
			session_set_auto(s, bench, p, product);
	return ret;
}

int session_find(struct session *s, bool must, bool *found)
{
	int ret = find_row(s, must, found);

	if (ret || !*found)
		return ret;
	if (strcmp(s->row.kind, s->grows ? "bisect" : "run"))
		return err_add(s->e, -EINVAL, "%s was not made by `kdelta %s`", s->row.id,
			       s->grows ? "bisect" : "run");
	s->c->seed = s->c->seed ? s->c->seed : (uint64_t)s->row.seed;
	return session_for_each_auto(s, set_stored_auto);
}

static void differs(struct session *s, const char *what, const char *then, const char *now)
{
	err_add(s->e, -EINVAL, "%s has changed since %s was begun: %s, now %s", what, s->row.id,
		then, now);
}

static const char *number_text(struct session *s, long long v)
{
	return arena_printf(s->a, "%lld", v);
}

static int match_variants(struct session *s)
{
	struct db_variant *list;
	size_t n, i;
	int ret = db_get_variants(s->db, s->a, s->row.id, &list, &n, s->e);

	if (ret)
		return ret;
	if (n != s->c->n_variants)
		differs(s, "the number of variants", number_text(s, (long long)n),
			number_text(s, (long long)s->c->n_variants));
	for (i = 0; i < n && i < s->c->n_variants; i++) {
		struct session_variant *v = &s->variants[i];

		v->id = list[i].id;
		v->kernel_id = list[i].kernel.id;
		if (strcmp(list[i].name, s->c->variants[i].name))
			differs(s, arena_printf(s->a, "variant %zu", i + 1), list[i].name,
				s->c->variants[i].name);
		else if (strcmp(list[i].identity, v->identity))
			differs(s, arena_printf(s->a, "the variant '%s'", list[i].name),
				arena_printf(s->a, "%s %s", list[i].kernel.release,
					     list[i].settings),
				arena_printf(s->a, "%s %s", v->kernel.release,
					     session_settings(s, i)));
	}
	return 0;
}

static int match_cases(struct session *s)
{
	struct db_case *list;
	size_t n, i;
	int ret = db_get_cases(s->db, s->a, s->row.id, &list, &n, s->e);

	if (ret)
		return ret;
	if (n != s->c->n_cases)
		differs(s, "the number of test cases", number_text(s, (long long)n),
			number_text(s, (long long)s->c->n_cases));
	for (i = 0; i < n && i < s->c->n_cases; i++) {
		const struct test_case *c = &s->c->cases[i];

		s->cases[i].id = list[i].id;
		if (strcmp(list[i].identity, c->identity))
			differs(s, arena_printf(s->a, "test case %zu", i + 1),
				arena_printf(s->a, "%s %s", list[i].name, list[i].params),
				arena_printf(s->a, "%s %s", c->name, case_params_json(s->a, c)));
	}
	return 0;
}

/* How many blocks there are is the looks' decision where those are planned. */
static void match_plan(struct session *s)
{
	int blocks = s->row.repeat - s->added, runs = MAX(s->runs_per_boot, 1);

	if (s->c->auto_runs)
		s->c->runs = runs;
	if (!s->c->auto_repeat && !s->until_sure && blocks != s->c->repeat)
		differs(s, "repeat", number_text(s, blocks), number_text(s, s->c->repeat));
	if (runs != s->c->runs)
		differs(s, "runs_per_boot", number_text(s, runs), number_text(s, s->c->runs));
}

/* Counts made in part with another QEMU, or in part as times, would be no series. */
static int match_counting(struct session *s)
{
	const char *then = "", *now = or_empty(s->backend.counting);
	struct db_fact *facts;
	size_t n, i;
	int ret = db_get_facts(s->db, s->a, "campaign", s->row.id, &facts, &n, s->e);

	for (i = 0; !ret && i < n; i++)
		if (!strcmp(facts[i].key, COUNT_FACT))
			then = facts[i].value;
	if (ret || !strcmp(then, now))
		return ret;
	if (!*then || !*now)
		differs(s, "what is measured", *then ? "instructions (--icount)" : "times",
			*now ? "instructions (--icount)" : "times");
	else
		differs(s, "the guest that counts", then, now);
	return 0;
}

static int match_backend(struct session *s)
{
	if (strcmp(s->row.backend, s->backend.ops->name))
		differs(s, "the backend", s->row.backend, s->backend.ops->name);
	return match_counting(s);
}

int session_match_grown(struct session *s)
{
	size_t before = s->e->list.n, n, i;
	struct db_variant *list;
	int ret = match_backend(s);

	if (!ret)
		ret = match_cases(s);
	if (!ret)
		ret = db_get_variants(s->db, s->a, s->row.id, &list, &n, s->e);
	for (i = 0; !ret && i < n; i++)
		s->variants[list[i].position] = (struct session_variant){
			.id = list[i].id,
			.kernel_id = list[i].kernel.id,
			.identity = list[i].identity,
		};
	return ret || s->e->list.n == before ? ret : -EINVAL;
}

int session_match(struct session *s)
{
	size_t before = s->e->list.n;
	int ret = match_backend(s);

	if (ret)
		return ret;
	if (s->was_flip != s->c->flip)
		differs(s, "order", s->was_flip ? ORDER_FLIP : "blocks",
			s->c->flip ? ORDER_FLIP : "blocks");
	match_plan(s);
	if ((uint64_t)s->row.seed != s->c->seed)
		differs(s, "the seed", number_text(s, s->row.seed),
			number_text(s, (long long)s->c->seed));
	ret = match_variants(s);
	if (!ret)
		ret = match_cases(s);
	if (ret || s->e->list.n == before)
		return ret;
	err_hint(s->e, "begin a campaign of another name for it: kdelta run --campaign NAME %s",
		 s->c->file);
	return -EINVAL;
}

int session_retry_kernels(struct session *s)
{
	bool told = false;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells; i++) {
		struct db_cell *cell = &s->cells[i];
		size_t variant = session_variant_index(s, cell);

		if (strcmp(cell->state, "failed") || !str_starts(cell->reason, "no_kernel") ||
		    s->variants[variant].kernel.error)
			continue;
		if (!told && s->opt->note)
			s->opt->note("a kernel that was missing is there now: its runs are planned "
				     "again");
		told = true;
		ret = session_put_kernel(s, variant);
		cell->state = "planned";
		if (!ret)
			ret = db_set_cell(s->db, cell->id, cell->state, cell->attempts, "", s->e);
	}
	return ret;
}

static struct db_cell *find_cell(struct session *s, int64_t id)
{
	size_t i;

	for (i = 0; i < s->n_cells; i++)
		if (s->cells[i].id == id)
			return &s->cells[i];
	return NULL;
}

/* A cell is behind its run where the kill came between the two writes. */
static int settle_run(struct session *s, struct db_run *run)
{
	struct db_cell *cell = find_cell(s, run->cell_id);
	bool good;
	int ret = 0;

	if (!strcmp(run->outcome, "stored"))
		ret = store_reparse(s->db, s->a, s->cat, run, s->e);
	if (ret || !cell || strcmp(cell->state, "planned"))
		return ret;
	good = !strcmp(run->outcome, "ok") || !strcmp(run->outcome, "suspect");
	/* a good one may be planned again too, as half of a pair */
	if (run->attempt <= cell->attempts)
		return 0;
	cell->attempts = run->attempt;
	cell->state = good ? "done" : run->attempt >= 2 ? "failed" : "planned";
	return db_set_cell(s->db, cell->id, cell->state, cell->attempts,
			   good || !run->error ? "" : run->error, s->e);
}

/*
 * A boot of an earlier part: one whose visit goes on stays open; a kernel that did not boot is not
 * tried again by itself.
 */
static int settle_boot(struct session *s, struct db_boot *boot)
{
	size_t i = 0;

	while (i < s->c->n_variants && s->variants[i].id != boot->variant_id)
		i++;
	if (i < s->c->n_variants && s->backend.ops->reboots && !strcmp(boot->outcome, "no_boot")) {
		s->variants[i].kernel.error = "no_boot";
		s->variants[i].kernel.message =
			arena_printf(s->a, "%s; not tried again", boot->reason);
	}
	if (strcmp(boot->outcome, "open") ||
	    (i < s->c->n_variants && session_goes_on(s, boot->block, i)))
		return 0;
	boot->outcome = "interrupted";
	boot->reason = "kdelta ended during this visit";
	return db_set_boot(s->db, boot, s->e);
}

int session_reconcile(struct session *s)
{
	struct db_run *runs;
	struct db_boot *boots;
	size_t n, i;
	int ret = db_get_runs(s->db, s->a, s->row.id, &runs, &n, s->e);

	for (i = 0; !ret && i < n; i++)
		ret = settle_run(s, &runs[i]);
	if (!ret)
		ret = db_get_boots(s->db, s->a, s->row.id, &boots, &n, s->e);
	for (i = 0; !ret && i < n; i++)
		ret = settle_boot(s, &boots[i]);
	return ret;
}
