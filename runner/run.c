// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/run.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "kernels/kernel.h"
#include "kernels/source.h"
#include "machine/host.h"
#include "machine/monitor.h"
#include "runner/resume_unit.h"
#include "runner/session.h"

uint64_t run_draw_seed(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = (uint64_t)time(NULL);
	return v % 999999999 + 1;
}

uint64_t run_seed(const struct campaign_config *c)
{
	return c->seed ? c->seed : c->counting ? 1 : run_draw_seed();
}

static void run_note(struct session *s, const char *text)
{
	if (s->opt->note)
		s->opt->note(text);
}

static const char *known_build_id(void *data, const char *image_sha256)
{
	struct session *s = data;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct db_kernel *list;
	size_t n, i;

	if (db_get_kernels(s->db, s->a, &list, &n, &ignored))
		return NULL;
	for (i = 0; i < n; i++)
		if (*list[i].build_id && !strcmp(list[i].image_sha256, image_sha256))
			return list[i].build_id;
	return NULL;
}

int session_find_kernel(struct session *s, size_t variant)
{
	const struct variant_config *config = &s->c->variants[variant];
	struct session_variant *v = &s->variants[variant];
	int ret = s->backend.ops->find_kernel(&s->backend, (int)variant, &v->kernel, s->e);

	v->identity = variant_identity(s->a, config, or_empty(v->kernel.identity));
	v->original = variant_original_identity(s->a, config, or_empty(v->kernel.identity));
	return ret;
}

static int find_kernels(struct session *s)
{
	size_t i, before = s->e->list.n, without = 0;
	int ret = kernel_check(s->a, s->c, s->e), one;

	if (ret)
		return ret;
	s->variants = arena_alloc_array(s->a, s->c->n_variants, sizeof(*s->variants));
	for (i = 0; i < s->c->n_variants; i++) {
		struct session_variant *v = &s->variants[i];

		one = session_find_kernel(s, i);
		if (one == -EINTR)
			return one;
		if (one)
			ret = one;
		if (v->kernel.error) {
			without++;
			run_note(s, arena_printf(s->a, "no kernel for '%s', the others go on: %s",
						 s->c->variants[i].name, v->kernel.message));
		}
	}
	if (!ret && without == s->c->n_variants)
		ret = err_add(s->e, -EIO, "no variant has a kernel; the first: %s",
			      s->variants[0].kernel.message);
	return s->e->list.n > before && !ret ? -EINVAL : ret;
}

static bool has_programs(struct backend *b, const struct test_case *c)
{
	return b->ops->has_program(b, c->program) &&
	       (!c->bench->server || b->ops->has_program(b, c->bench->server[0]));
}

/* Benchmarks that are not installed are named; the others run. */
static void find_programs(struct session *s)
{
	const char **known;
	size_t i;

	s->cases = arena_alloc_array(s->a, s->c->n_cases, sizeof(*s->cases));
	for (i = 0; i < s->c->n_cases; i++) {
		const struct test_case *c = &s->c->cases[i];
		const char *missing = case_missing(s->a, c);
		struct backend *b = &s->backend;

		if (b->ops->has_program ? has_programs(b, c) : case_program_path(s->a, c) != NULL)
			continue;
		s->cases[i].missing = true;
		array_for_each (known, &s->report->missing)
			if (!strcmp(*known, missing))
				break;
		if (known < s->report->missing.items + s->report->missing.n)
			continue;
		*ARRAY_PUSH(&s->report->missing) = missing;
		run_note(s, missing);
	}
}

/* Monitors whose program is not there; in guests it is that of this machine. */
static void find_watchers(struct session *s)
{
	const struct monitor *const *m = monitor_programs(s->a, s->c->monitors);
	struct backend *b = &s->backend;

	for (; *m; m++) {
		const char *program = (*m)->program[0];

		if (b->ops->has_program ? b->ops->has_program(b, program)
					: path_program(s->a, program) != NULL)
			continue;
		run_note(s, arena_printf(s->a, "no figures of %s: it is not installed (apt-get "
					 "install %s)", (*m)->name, (*m)->package));
	}
}

int session_prepare_cases(struct session *s)
{
	size_t i;
	int ret;

	find_programs(s);
	find_watchers(s);
	for (i = 0; i < s->c->n_cases; i++) {
		struct test_case *c = &s->c->cases[i];

		case_estimate(c, s->slow);
		if (!c->bench->build || s->cases[i].missing)
			continue;
		ret = source_prepare(s->a, c, s->opt->note, s->e);
		if (ret)
			return ret;
	}
	return 0;
}

/* A campaign's fact "boot": there while a machine is on its way into a kernel, or in it. */
static int keep_boot(void *data, const char *text, struct err *e)
{
	struct session *s = data;

	(void)e;
	return s->row.id ? session_set_fact(s, "boot", text) : 0;
}

static const char *kept_boot(void *data)
{
	struct session *s = data;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct db_fact *list;
	size_t n, i;

	if (!s->row.id || db_get_facts(s->db, s->a, "campaign", s->row.id, &list, &n, &ignored))
		return NULL;
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].key, "boot"))
			return list[i].value;
	return NULL;
}

int session_open_backend(struct session *s)
{
	struct campaign_config *c = s->c;
	struct backend *b = &s->backend;
	int ret;

	*b = (struct backend){.ops = backend_find(c->backend),
			      .a = s->a,
			      .config = c,
			      .may_restart = s->opt->reboot,
			      .accelerator = "",
			      .known_build_id = known_build_id,
			      .keep = keep_boot,
			      .kept = kept_boot,
			      .data = s,
			      .note = s->opt->note};
	ret = b->ops->prepare(b, s->e);
	s->slow = str_equal(b->accelerator, "tcg") || b->counting;
	return ret;
}

int session_check_machine(struct session *s)
{
	struct db_machine now, then;
	int ret = db_get_machine(s->db, s->a, s->row.machine_id, &then, s->e);

	backend_read_machine(&s->backend, &now);
	if (ret || !strcmp(now.fingerprint, then.fingerprint))
		return ret;
	err_add(s->e, -EINVAL, "%s was begun on another machine: %s, %s; this is %s, %s", s->row.id,
		then.name, then.description, now.name, now.description);
	return -EINVAL;
}

/* What is said on today's command line against how the campaign was begun. */
static int check_design(struct session *s)
{
	if (!s->opt->until_sure || s->until_sure)
		return 0;
	err_add(s->e, -EINVAL, "%s was begun without --until-sure", s->row.id);
	err_hint(s->e, "looks are planned before the first run: leave --until-sure out, or begin "
		       "another campaign");
	return -EINVAL;
}

static int resume(struct session *s)
{
	int ret = session_check_machine(s);

	if (!ret)
		ret = session_read_design(s);
	if (!ret)
		ret = check_design(s);
	if (!ret)
		ret = session_match(s);
	if (!ret)
		ret = db_get_cells(s->db, s->a, s->row.id, &s->cells, &s->n_cells, s->e);
	if (!ret)
		ret = session_reconcile(s);
	if (!ret)
		ret = session_retry_kernels(s);
	return ret || !s->opt->add ? ret : session_add_units(s);
}

/* Cells of programs that are absent are skipped; of those that came since, planned again. */
static int settle_missing(struct session *s)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->n_cells; i++) {
		struct db_cell *cell = &s->cells[i];
		size_t k = session_case_index(s, cell);
		const char *state = cell->state;

		if (session_is_dropped(cell))
			continue;
		if (s->cases[k].missing && !strcmp(state, "planned"))
			state = "skipped";
		else if (!s->cases[k].missing && !strcmp(state, "skipped"))
			state = "planned";
		if (state == cell->state)
			continue;
		cell->state = state;
		ret = db_set_cell(s->db, cell->id, state, cell->attempts,
				  s->cases[k].missing ? case_missing(s->a, &s->c->cases[k]) : "",
				  s->e);
		if (ret)
			return ret;
	}
	return ret;
}

/* Cells of a block and variant that are due: those never tried, or those to be tried again. */
static struct visit_cells due_cells(struct session *s, int block, int64_t variant, bool again)
{
	struct visit_cells list = {arena_alloc_array(s->a, s->n_cells, sizeof(*list.items)), 0};
	size_t i;

	for (i = 0; i < s->n_cells; i++) {
		struct db_cell *c = &s->cells[i];

		if (c->block == block && c->variant_id == variant && !strcmp(c->state, "planned") &&
		    (c->attempts > 0) == again)
			list.items[list.n++] = c;
	}
	session_order_cells(s, list);
	return list;
}

/* Two arms of one variant: what they share would hide how boots differ. */
static bool are_arms(const struct session *s, const struct session_variant *x, int64_t other)
{
	const struct session_variant *y = s->variants;

	while (y->id != other)
		y++;
	return str_equal(x->original ? x->original : x->identity,
			 y->original ? y->original : y->identity);
}

/* In the order of the plan, whatever order the cells are run in. */
static bool is_first_due(struct visit_cells due, const struct db_cell *cell)
{
	bool due_itself = false;
	size_t i;

	for (i = 0; i < due.n; i++) {
		if (due.items[i]->seq < cell->seq)
			return false;
		due_itself |= due.items[i] == cell;
	}
	return due_itself;
}

int session_may_visit(struct session *s, int block, size_t variant, bool *may)
{
	struct running_kernel k;
	struct db_boot *boots;
	size_t n, i;
	int ret;

	*may = true;
	if (!s->backend.ops->is_running || s->variants[variant].kernel.error)
		return 0;
	*may = s->backend.ops->is_running(&s->backend, (int)variant);
	if (!*may)
		return 0;
	machine_read_kernel(s->a, &k);
	ret = db_get_boots(s->db, s->a, s->row.id, &boots, &n, s->e);
	for (i = 0; !ret && i < n; i++)
		if (!strcmp(boots[i].boot_id, k.boot_id) &&
		    (boots[i].block != block || boots[i].variant_id != s->variants[variant].id) &&
		    are_arms(s, &s->variants[variant], boots[i].variant_id))
			*may = false;
	return ret;
}

/* Visits in the order of the plan: first what was never tried, then what failed. */
static int run_block(struct session *s, int block, bool again)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells && !proc_interrupted(); i++) {
		const struct db_cell *first = &s->cells[i];
		size_t variant = session_variant_index(s, first);
		struct visit_cells due;
		bool may;

		if (first->block != block || strcmp(first->state, "planned"))
			continue;
		due = due_cells(s, block, first->variant_id, again);
		if (!is_first_due(due, first))
			continue;
		ret = session_may_visit(s, block, variant, &may);
		if (!ret && may)
			ret = session_visit(s, block, variant, due);
	}
	return ret;
}

static void count_cells(struct session *s)
{
	struct run_report *r = s->report;
	size_t i;

	r->runs = (int)s->n_cells;
	for (i = 0; i < s->n_cells; i++) {
		const struct db_cell *c = &s->cells[i];

		r->done += !strcmp(c->state, "done");
		r->failed += !strcmp(c->state, "failed");
		if (session_is_dropped(c))
			r->dropped++;
		else
			r->skipped += !strcmp(c->state, "skipped");
		if (strcmp(c->state, "planned"))
			continue;
		if (!r->left++)
			r->next_variant = s->c->variants[session_variant_index(s, c)].name;
	}
}

static int finish(struct session *s)
{
	int ret = session_set_times(s);

	count_cells(s);
	if (!ret && !s->report->left)
		ret = session_end_budget(s);
	s->report->stop = s->stop;
	if (ret || s->report->left || s->row.ended)
		return ret;
	s->row.ended = time(NULL);
	return db_set_campaign(s->db, &s->row, s->e);
}

static bool is_planned_cell(const struct db_cell *cell)
{
	return !strcmp(cell->state, "planned");
}

static int run_blocks(struct session *s)
{
	int ret = 0, block, pass;

	for (block = 1; !ret && block <= s->row.repeat; block++) {
		if (!session_has(s, block, is_planned_cell) || proc_interrupted())
			continue;
		ret = session_budget_block(s, block);
		for (pass = 0; !ret && pass < MAX_ATTEMPTS && !proc_interrupted(); pass++)
			ret = run_block(s, block, pass > 0);
	}
	return ret;
}

/* What is planned, then as much as the look at it asks for. */
static int measure(struct session *s)
{
	bool more = true;
	int ret = session_set_budget(s);

	s->report->campaign = s->row.id;
	if (!ret && s->backend.ops->reboots)
		ret = resume_unit_arm(s->a, s->row.id, s->opt->db_path, s->e);
	while (!ret && more) {
		more = false;
		ret = s->c->flip ? session_flip(s) : run_blocks(s);
		if (!ret && !proc_interrupted() && !session_has(s, 0, is_planned_cell))
			ret = session_look(s, &more);
	}
	return ret;
}

/* Nothing is begun under a kernel that no variant names. */
static int check_running(struct session *s)
{
	struct running_kernel k;
	size_t i;

	for (i = 0; s->backend.ops->is_running && i < s->c->n_variants; i++)
		if (s->backend.ops->is_running(&s->backend, (int)i))
			return 0;
	if (!i)
		return 0;
	machine_read_kernel(s->a, &k);
	err_add(s->e, -ENXIO, "the running kernel %s (%s) is that of no variant", k.release,
		k.version);
	err_hint(s->e, "boot the kernel of '%s' and type the same line again",
		 s->c->variants[0].name);
	return -ENXIO;
}

static int split_runs(struct session *s)
{
	const char *why;
	int ret = run_split(s->db, s->a, s->c, or_empty(s->backend.accelerator), &why, s->e);

	if (!ret && why)
		run_note(s, arena_printf(s->a, "%d boots of %d run%s: %s", s->c->repeat, s->c->runs,
					 s->c->runs == 1 ? "" : "s", why));
	return ret;
}

/* Reads or makes the rows; then s->cells is the plan as far as it has come. */
static int begin(struct session *s)
{
	/* Booting by hand is resuming: the same command line goes on after every boot. */
	bool found = false, by_hand = s->backend.ops->is_running != NULL;
	int ret = 0;

	if (s->opt->resume || s->opt->add || by_hand)
		ret = session_find(s, s->opt->resume || s->opt->add, &found);
	if (ret)
		return ret;
	s->report->resumed = found;
	ret = found ? resume(s) : check_running(s);
	if (!ret && !found)
		ret = split_runs(s);
	if (!ret && !found)
		ret = session_create(s);
	if (!ret)
		ret = session_read_times(s);
	return ret ? ret : settle_missing(s);
}

static int run_opened(struct session *s)
{
	int ret = find_kernels(s);

	if (!ret && s->opt->one)
		ret = session_check_one(s);
	if (ret || s->report->refused)
		return ret;
	ret = session_prepare_cases(s);
	if (!ret)
		ret = begin(s);
	if (!ret)
		ret = s->opt->one ? session_run_one(s) : measure(s);
	return ret ? ret : finish(s);
}

int run_campaign(struct db *db, struct arena *a, const struct catalog *cat,
		 struct campaign_config *c, const struct run_options *opt,
		 struct run_report *report, struct err *e)
{
	struct session s = {.db = db,
			    .a = a,
			    .cat = cat,
			    .c = c,
			    .opt = opt,
			    .report = report,
			    .e = e,
			    .began = num_monotonic()};
	int lock, ret;

	proc_init();
	lock = run_lock(a, opt->note, e);
	if (lock < 0)
		return lock;
	ret = session_open_backend(&s);
	if (!ret) {
		ret = run_opened(&s);
		s.backend.ops->release(&s.backend);
	}
	report->interrupted = proc_interrupted() != 0;
	ARRAY_FREE(&s.calibrated);
	close(lock);
	return ret == -EINTR ? 0 : ret;
}
