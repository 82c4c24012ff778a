// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "runner/machine.h"
#include "runner/session.h"
#include "runner/settings.h"
#include "runner/source.h"
#include "runner/store.h"

enum { MAX_ATTEMPTS = 2 };

uint64_t run_draw_seed(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = (uint64_t)time(NULL);
	return v % 999999999 + 1;
}

static int lock_open(const char **path)
{
	static const char *const places[] = {"/run/lock/kdelta.lock", "/tmp/kdelta.lock"};
	const char *given = getenv("KDELTA_LOCK");
	int fd = -1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places) && fd < 0; i++) {
		*path = given && *given ? given : places[i];
		fd = open(*path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0 && errno == EACCES) /* another user's */
			fd = open(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd;
}

/* The kernel drops the lock with its holder, so a stale file never blocks anybody. */
int run_lock(struct arena *a, void (*note)(const char *text), struct err *e)
{
	_cleanup_strbuf_ struct strbuf holder = STRBUF_INIT;
	const char *path;
	int fd = lock_open(&path), n, ret;

	if (fd < 0)
		return err_add_errno(e, "cannot open the lock %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		file_read_line(path, &holder);
		close(fd);
		err_add(e, -EBUSY, "another kdelta is measuring on this machine (pid %s)",
			strbuf_str(&holder));
		err_hint(e, "two at a time would disturb each other: wait for it, or stop it");
		return -EBUSY;
	}
	if (!ftruncate(fd, 0))
		dprintf(fd, "%d\n", (int)getpid());
	ret = settings_restore(a, &n, e);
	if (ret) {
		close(fd);
		return ret;
	}
	if (n && note)
		note(arena_printf(a, "put back %d setting%s that a run left behind when it ended",
				  n, n == 1 ? "" : "s"));
	return fd;
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

static const char *text(const char *s)
{
	return s ? s : "";
}

static int find_kernels(struct session *s)
{
	size_t i, before = s->e->list.n;
	int ret = 0, one;

	s->variants = arena_alloc_array(s->a, s->c->n_variants, sizeof(*s->variants));
	for (i = 0; i < s->c->n_variants; i++) {
		struct session_variant *v = &s->variants[i];

		one = s->backend.ops->find_kernel(&s->backend, (int)i, &v->kernel, s->e);
		if (one == -EINTR)
			return one;
		if (one)
			ret = one;
		v->identity = variant_identity(s->a, &s->c->variants[i], text(v->kernel.identity));
	}
	return s->e->list.n > before && !ret ? -EINVAL : ret;
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

		if (case_program_path(s->a, c))
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

static int prepare_cases(struct session *s)
{
	size_t i;
	int ret;

	find_programs(s);
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

static int open_backend(struct session *s)
{
	struct campaign_config *c = s->c;
	struct backend *b = &s->backend;
	int ret;

	*b = (struct backend){.ops = backend_find(c->backend),
			      .a = s->a,
			      .config = c,
			      .accelerator = "",
			      .known_build_id = known_build_id,
			      .data = s,
			      .note = s->opt->note};
	ret = b->ops->open(b, s->e);
	s->slow = str_equal(b->accelerator, "tcg");
	return ret;
}

static int add_kernel_and_variant(struct session *s, size_t i)
{
	const struct variant_config *config = &s->c->variants[i];
	struct session_variant *v = &s->variants[i];
	const struct kernel_found *k = &v->kernel;
	const struct db_kernel kernel = {
		.identity = text(k->identity),
		.release = text(k->release),
		.version = text(k->version),
		.build_id = text(k->build_id),
		.image_sha256 = text(k->image_sha256),
		.source = text(k->source),
		.commit = text(config->commit),
	};
	int ret = db_put_kernel(s->db, &kernel, &v->kernel_id, s->e);

	if (!ret)
		ret = db_put_variant(s->db, v->identity, v->kernel_id,
				     variant_settings_json(s->a, config), &v->id, s->e);
	if (!ret)
		ret = db_add_campaign_variant(s->db, s->row.id, v->id, (int)i, config->name,
					      text(config->description), i == 0, s->e);
	return ret;
}

static int add_case(struct session *s, size_t i)
{
	const struct test_case *c = &s->c->cases[i];
	const struct db_case row = {
		.identity = c->identity,
		.benchmark = c->bench->name,
		.name = c->name,
		.params = case_params_json(s->a, c),
		.swept = case_swept_json(s->a, c),
		.description = case_describe(s->a, c),
		.command = case_command(s->a, c),
		.expected = c->expected,
	};
	int ret = db_put_case(s->db, &row, &s->cases[i].id, s->e);

	return ret ? ret
		   : db_add_campaign_case(s->db, s->row.id, s->cases[i].id, (int)i, c->expected,
					  s->e);
}

static int add_cells(struct session *s)
{
	struct plan_cell *plan;
	size_t n, i;
	int ret = 0;

	plan = plan_make(s->a, s->c, &n);
	for (i = 0; !ret && i < n; i++) {
		const struct db_cell cell = {
			.seq = (int)i + 1,
			.block = plan[i].block,
			.variant_id = s->variants[plan[i].variant].id,
			.case_id = s->cases[plan[i].test].id,
			.state = "planned",
			.reason = "",
		};

		ret = db_add_cell(s->db, s->row.id, &cell, s->e);
	}
	return ret;
}

static int add_facts(struct session *s)
{
	const struct db_fact *calibrated;
	struct db_fact *facts;
	size_t n, i;
	int ret = 0;

	array_for_each (calibrated, &s->calibrated)
		if (!ret)
			ret = db_set_fact(s->db, "campaign", s->row.id, calibrated->key,
					  calibrated->value, s->e);
	facts = machine_facts(s->a, &n);
	for (i = 0; !ret && i < n; i++)
		ret = db_set_fact(s->db, "campaign", s->row.id, facts[i].key, facts[i].value, s->e);
	for (i = 0; !ret && i < s->c->n_cases; i++)
		if (s->c->cases[i].build_dir)
			ret = db_set_fact(s->db, "campaign", s->row.id, "compiler",
					  source_compiler(s->a), s->e);
	return ret;
}

/* The whole campaign with its plan appears in the database at once, or not at all. */
static int create_rows(struct session *s)
{
	_cleanup_free_ char *path = realpath(s->c->file, NULL);
	struct db_machine machine;
	size_t i;
	int ret;

	s->c->seed = s->c->seed ? s->c->seed : run_draw_seed();
	s->row = (struct db_campaign){
		.name = s->c->name,
		.kind = "run",
		.unit = s->backend.ops->unit,
		.backend = s->backend.ops->name,
		.accelerator = text(s->backend.accelerator),
		.config = s->c->text,
		.config_path = path ? arena_strdup(s->a, path) : s->c->file,
		.source = "",
		.created = time(NULL),
		.seed = (int64_t)s->c->seed,
		.repeat = s->c->repeat,
	};
	machine_read(s->a, &machine);
	ret = db_put_machine(s->db, &machine, &s->row.machine_id, s->e);
	if (!ret)
		ret = db_add_campaign(s->db, s->a, &s->row, s->e);
	for (i = 0; !ret && i < s->c->n_variants; i++)
		ret = add_kernel_and_variant(s, i);
	for (i = 0; !ret && i < s->c->n_cases; i++)
		ret = add_case(s, i);
	if (!ret)
		ret = add_cells(s);
	return ret ? ret : add_facts(s);
}

static int create(struct session *s)
{
	int ret = session_calibrate(s);

	if (!ret)
		ret = db_begin(s->db, s->e);
	if (ret)
		return ret;
	ret = create_rows(s);
	if (ret) {
		db_rollback(s->db);
		return ret;
	}
	return db_commit(s->db, s->e);
}

static int check_machine(struct session *s)
{
	struct db_machine now, then;
	int ret = db_get_machine(s->db, s->a, s->row.machine_id, &then, s->e);

	machine_read(s->a, &now);
	if (ret || !strcmp(now.fingerprint, then.fingerprint))
		return ret;
	err_add(s->e, -EINVAL, "%s was begun on another machine: %s, %s; this is %s, %s", s->row.id,
		then.name, then.description, now.name, now.description);
	return -EINVAL;
}

static int resume(struct session *s)
{
	int ret = check_machine(s);

	if (!ret)
		ret = session_match(s);
	if (!ret)
		ret = db_get_cells(s->db, s->a, s->row.id, &s->cells, &s->n_cells, s->e);
	return ret ? ret : session_reconcile(s);
}

/* Cells of programs that are absent are skipped; of those that came since, planned again. */
static int settle_missing(struct session *s)
{
	size_t i, k;
	int ret = 0;

	for (i = 0; i < s->n_cells; i++) {
		struct db_cell *cell = &s->cells[i];
		const char *state = cell->state;

		for (k = 0; s->cases[k].id != cell->case_id; k++)
			;
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

static size_t case_of(const struct session *s, const struct db_cell *cell)
{
	size_t i = 0;

	while (s->cases[i].id != cell->case_id)
		i++;
	return i;
}

static size_t variant_of(const struct session *s, const struct db_cell *cell)
{
	size_t i = 0;

	while (s->variants[i].id != cell->variant_id)
		i++;
	return i;
}

/* ---- progress ---- */

/* Mean over the units of a variant so far; *n 0: none. */
static double mean_so_far(struct arena *a, const struct db_unit *units, size_t n_units,
			  const struct db_metric *m, int64_t case_id, int64_t variant, int *n)
{
	double *values = arena_alloc_array(a, n_units + 1, sizeof(*values));
	size_t i, k = 0;

	for (i = 0; i < n_units; i++)
		if (units[i].case_id == case_id && units[i].metric_id == m->id &&
		    units[i].variant_id == variant)
			values[k++] = units[i].value;
	*n = (int)k;
	return stats_mean(m->mean_kind, values, k);
}

/* The first headline metric of the benchmark that has values. */
static void estimate(struct session *s, struct arena *a, const struct db_cell *cell,
		     struct run_progress *p)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	const char *bench = s->c->cases[case_of(s, cell)].bench->name;
	struct db_metric *metrics;
	struct db_unit *units;
	size_t n_metrics, n_units, i;

	if (db_get_metrics(s->db, a, &metrics, &n_metrics, &ignored) ||
	    db_get_units(s->db, a, s->row.id, &units, &n_units, &ignored))
		return;
	for (i = 0; i < n_metrics && !p->metric; i++) {
		const struct db_metric *m = &metrics[i];
		int base_n;
		double base;

		if (strcmp(m->role, "headline") || !str_starts(m->name, bench) ||
		    m->name[strlen(bench)] != '.')
			continue;
		p->mean = mean_so_far(a, units, n_units, m, cell->case_id, cell->variant_id, &p->n);
		base = mean_so_far(a, units, n_units, m, cell->case_id, s->variants[0].id, &base_n);
		if (!p->n)
			continue;
		p->metric = m->name + strlen(bench) + 1;
		p->unit = m->unit;
		if (base_n && cell->variant_id != s->variants[0].id)
			p->change = p->mean / base - 1;
	}
}

/* Expected seconds of what is left, corrected by the pace so far, and the visits still to come. */
static double time_left(const struct session *s)
{
	double left = 0, pace = s->expected_done > 0 ? s->measured / s->expected_done : 1;
	double visit = s->visits ? s->entering / s->visits : s->slow ? 8 : 0;
	int visits = 0, block = 0;
	int64_t variant = 0;
	size_t i;

	for (i = 0; i < s->n_cells; i++) {
		const struct db_cell *cell = &s->cells[i];

		if (strcmp(cell->state, "planned"))
			continue;
		left += s->c->cases[case_of(s, cell)].expected;
		if (cell->block != block || cell->variant_id != variant)
			visits++;
		block = cell->block;
		variant = cell->variant_id;
	}
	return left * pace + visits * visit;
}

static void tell(struct session *s, const struct db_cell *cell, const char *failed, bool retried)
{
	struct run_progress p = {
		.runs = (int)s->n_cells,
		.run = 1,
		.test = s->c->cases[case_of(s, cell)].name,
		.variant = s->c->variants[variant_of(s, cell)].name,
		.failed = failed,
		.retried = retried,
		.change = NAN,
		.eta = time_left(s),
	};
	_cleanup_arena_ struct arena *scratch = arena_new();
	size_t i;

	if (!s->opt->progress)
		return;
	for (i = 0; i < s->n_cells; i++)
		p.run += strcmp(s->cells[i].state, "planned") != 0;
	p.run -= failed && !retried; /* it counts as run already */
	if (!failed)
		estimate(s, scratch, cell, &p);
	s->opt->progress(s->opt->data, &p);
}

/* ---- one run ---- */

static const char *const *join_env(struct arena *a, const char *const *fixed,
				   const struct variant_config *v)
{
	ARRAY_OF(const char *) env = {NULL, 0, 0};
	const char *const *all;
	size_t i;

	for (; fixed && *fixed; fixed++)
		*ARRAY_PUSH(&env) = *fixed;
	for (i = 0; i < v->n_env; i++)
		*ARRAY_PUSH(&env) = arena_printf(a, "%s=%s", v->env[i].name, v->env[i].value);
	*ARRAY_PUSH(&env) = NULL;
	all = arena_copy(a, env.items, env.n, sizeof(*env.items));
	ARRAY_FREE(&env);
	return all;
}

int session_run_job(struct session *s, struct visit *v, const struct test_case *c,
		    struct job_result *result)
{
	struct job job;

	case_job(s->a, c, s->backend.ops->local, s->slow, &job);
	job.env = join_env(s->a, job.env, &s->c->variants[v->variant]);
	return s->backend.ops->run(&s->backend, v, &job, result, s->e);
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void run_fill(struct arena *a, const struct job_result *result, struct db_run *run)
{
	const struct proc_result *p = &result->proc;

	run->exit_status = p->timed_out ? 124 : p->signal ? -1 : p->exit_status;
	run->signal = p->timed_out ? 0 : p->signal;
	run->elapsed = p->elapsed;
	run->user_time = seconds_of(p->usage.ru_utime);
	run->sys_time = seconds_of(p->usage.ru_stime);
	run->max_rss = p->usage.ru_maxrss;
	run->voluntary = p->usage.ru_nvcsw;
	run->involuntary = p->usage.ru_nivcsw;
	run->leftovers = p->leftovers;
	run->error = result->error;
	run->message = arena_strdup(a, result->message);
	if (!run->error && p->timed_out) {
		run->error = "hang";
		run->message = arena_printf(a, "no result after %.0f s, its deadline", p->elapsed);
	} else if (!run->error && p->output_full) {
		run->error = "output_full";
		run->message = "the benchmark printed more than is kept";
	} else if (!run->error && !p->started) {
		run->error = "not_found";
		run->message = arena_printf(a, "cannot start it: %s", strerror(p->start_errno));
	}
	if (!p->started)
		run->exit_status = -1;
}

static bool is_good(const struct db_run *run)
{
	return !strcmp(run->outcome, "ok") || !strcmp(run->outcome, "suspect");
}

/* Errors that a second try cannot cure. */
static bool is_permanent(const char *error)
{
	static const char *const kinds[] = {"not_found", "usage_error",	 "command_not_found",
					    "loadfile",	 "config_error", NULL};
	size_t i;

	for (i = 0; error && kinds[i]; i++)
		if (!strcmp(error, kinds[i]))
			return true;
	return false;
}

/* Takes over what became of a run: done, failed, or planned once more. */
static int settle_cell(struct session *s, struct db_cell *cell, const struct db_run *run,
		       bool permanent)
{
	const char *error = run->error ? run->error : run->outcome;
	const char *why = run->message ? arena_printf(s->a, "%s: %s", error, run->message) : error;
	bool again;

	cell->attempts++;
	again = !permanent && !is_permanent(run->error) && cell->attempts < MAX_ATTEMPTS;
	cell->state = is_good(run) ? "done" : again ? "planned" : "failed";
	cell->reason = is_good(run) && !run->message ? "" : why;
	if (!is_good(run))
		tell(s, cell, why, again);
	return db_set_cell(s->db, cell->id, cell->state, cell->attempts, cell->reason, s->e);
}

static int store_result(struct session *s, const struct visit *v, int64_t boot,
			struct db_cell *cell, const struct job_result *result, int64_t started)
{
	size_t i = case_of(s, cell);
	const struct test_case *c = &s->c->cases[i];
	struct db_run run = {
		.campaign = s->row.id,
		.variant_id = cell->variant_id,
		.case_id = cell->case_id,
		.cell_id = cell->id,
		.boot_id = boot,
		.machine_id = s->row.machine_id,
		.started = started,
		.command = case_command(s->a, c),
		.block = cell->block,
		.attempt = cell->attempts + 1,
	};
	_cleanup_arena_ struct arena *scratch = arena_new();
	int ret;

	run_fill(scratch, result, &run);
	if (v->error) {
		run.error = v->error;
		run.message = v->message;
	}
	ret = store_run(s->db, scratch, s->cat, c->bench, &run,
			(struct span){strbuf_str(&result->proc.out), result->proc.out.len},
			(struct span){strbuf_str(&result->proc.err), result->proc.err.len},
			c->params, c->n_params, s->e);
	return ret ? ret : settle_cell(s, cell, &run, v->error && v->permanent);
}

/* A cell whose visit broke before or during it: a failed run without any output. */
static int fail_cell(struct session *s, const struct visit *v, int64_t boot, struct db_cell *cell)
{
	struct job_result nothing = {.proc = {.exit_status = -1}};

	return store_result(s, v, boot, cell, &nothing, time(NULL));
}

static int run_cell(struct session *s, struct visit *v, int64_t boot, struct db_cell *cell)
{
	const struct test_case *c = &s->c->cases[case_of(s, cell)];
	struct job_result result = {0};
	int64_t started = time(NULL);
	double begin = num_monotonic(), took;
	int ret;

	tell(s, cell, NULL, false);
	ret = session_run_job(s, v, c, &result);
	took = num_monotonic() - begin;
	s->report->run_seconds += took;
	if (!ret && !result.proc.interrupted && !proc_interrupted()) {
		s->measured += took;
		s->expected_done += c->expected;
		ret = store_result(s, v, boot, cell, &result, started);
	}
	job_result_release(&result);
	return ret;
}

/* ---- one visit ---- */

struct visit_cells {
	struct db_cell **items;
	size_t n;
};

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
	return list;
}

/* The build-id of an image's first boot holds ever after. */
static int check_build_id(struct session *s, struct visit *v)
{
	_cleanup_err_ struct err why = ERR_INIT;
	int ret;

	if (v->error || !v->build_id || !*v->build_id)
		return 0;
	ret = db_set_build_id(s->db, s->variants[v->variant].kernel_id, v->build_id,
			      text(v->release), &why);
	if (ret == -EEXIST) {
		v->error = "wrong_kernel";
		v->message = arena_strdup(s->a, err_text(&why));
		return 0;
	}
	return ret ? err_add(s->e, ret, "%s", err_text(&why)) : 0;
}

static int enter(struct session *s, struct visit *v, struct db_boot *boot)
{
	double begin = num_monotonic();
	int ret = s->backend.ops->enter(&s->backend, v, s->e);

	if (!ret)
		ret = check_build_id(s, v);
	s->entering += num_monotonic() - begin;
	s->report->boot_seconds += num_monotonic() - begin;
	boot->boot_id = text(v->boot_id);
	boot->release = text(v->release);
	boot->build_id = text(v->build_id);
	boot->clocksource = text(v->clocksource);
	boot->seconds = v->seconds;
	return ret ? ret : db_set_boot(s->db, boot, s->e);
}

static int run_cells(struct session *s, struct visit *v, int64_t boot, struct visit_cells cells)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < cells.n && !proc_interrupted(); i++)
		ret = v->error ? fail_cell(s, v, boot, cells.items[i])
			       : run_cell(s, v, boot, cells.items[i]);
	return ret;
}

static int set_boot_facts(struct session *s, const struct visit *v, int64_t boot)
{
	const char *id = arena_printf(s->a, "%lld", (long long)boot);
	const struct fact *f;
	int ret = 0;

	if (v->cmdline)
		ret = db_set_fact(s->db, "boot", id, "cmdline", v->cmdline, s->e);
	array_for_each (f, &v->facts)
		if (!ret)
			ret = db_set_fact(s->db, "boot", id, f->key, f->value, s->e);
	return ret;
}

static int set_seconds(struct session *s, const char *what, double seconds)
{
	return db_set_fact(s->db, "campaign", s->row.id, arena_printf(s->a, "time_split.%s", what),
			   arena_printf(s->a, "%.3f", seconds), s->e);
}

static void update_rest(struct session *s)
{
	double here = s->entering + s->measured;

	s->report->rest_seconds = s->earlier_rest + num_monotonic() - s->began - here;
}

static int set_time_split(struct session *s)
{
	int ret;

	update_rest(s);
	ret = set_seconds(s, "boot", s->report->boot_seconds);
	if (!ret)
		ret = set_seconds(s, "run", s->report->run_seconds);
	return ret ? ret : set_seconds(s, "rest", s->report->rest_seconds);
}

/* How the visit ended, its console and facts, in one transaction. */
static int close_boot(struct session *s, struct visit *v, struct db_boot *boot)
{
	const struct span console = {strbuf_str(&v->console), v->console.len};
	int ret = db_begin(s->db, s->e);

	if (ret)
		return ret;
	boot->outcome = v->error ? v->error : proc_interrupted() ? "interrupted" : "ok";
	boot->reason = v->error ? text(v->message) : "";
	if (console.len)
		ret = db_add_raw(s->db, 0, "console", "", console, &boot->console_id, s->e);
	if (!ret)
		ret = db_set_boot(s->db, boot, s->e);
	if (!ret)
		ret = set_boot_facts(s, v, boot->id);
	if (!ret)
		ret = set_time_split(s);
	if (ret) {
		db_rollback(s->db);
		return ret;
	}
	return db_commit(s->db, s->e);
}

static int run_visit(struct session *s, int block, size_t variant, struct visit_cells cells)
{
	struct visit v = {.variant = (int)variant, .block = block};
	struct db_boot boot = {
		.campaign = s->row.id,
		.variant_id = s->variants[variant].id,
		.machine_id = s->row.machine_id,
		.started = time(NULL),
		.block = block,
	};
	double begin;
	int ret = db_add_boot(s->db, &boot, &boot.id, s->e), left;

	if (ret)
		return ret;
	ret = enter(s, &v, &boot);
	if (!ret)
		ret = run_cells(s, &v, boot.id, cells);
	begin = num_monotonic();
	left = s->backend.ops->leave(&s->backend, &v, s->e);
	s->entering += num_monotonic() - begin;
	s->report->boot_seconds += num_monotonic() - begin;
	s->visits++;
	if (!ret)
		ret = left;
	if (!ret)
		ret = close_boot(s, &v, &boot);
	strbuf_release(&v.console);
	ARRAY_FREE(&v.facts);
	return ret;
}

/* ---- the plan ---- */

/*
 * Whether a variant may be visited for a block now. Where people reboot by hand only the running
 * one may, and a boot that has served one block serves no other.
 */
static int may_visit(struct session *s, int block, size_t variant, bool *may)
{
	struct running_kernel k;
	struct db_boot *boots;
	size_t n, i;
	int ret;

	*may = true;
	if (!s->backend.ops->is_running)
		return 0;
	*may = s->backend.ops->is_running(&s->backend, (int)variant);
	if (!*may)
		return 0;
	machine_read_kernel(s->a, &k);
	ret = db_get_boots(s->db, s->a, s->row.id, &boots, &n, s->e);
	for (i = 0; !ret && i < n; i++)
		if (!strcmp(boots[i].boot_id, k.boot_id) && boots[i].block != block &&
		    boots[i].variant_id == s->variants[variant].id)
			*may = false;
	return ret;
}

/* Visits in the order of the plan: first what was never tried, then what failed. */
static int run_block(struct session *s, int block, bool again)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->n_cells && !proc_interrupted(); i++) {
		struct db_cell *first = &s->cells[i];
		size_t variant = variant_of(s, first);
		struct visit_cells due;
		bool may;

		if (first->block != block || strcmp(first->state, "planned"))
			continue;
		due = due_cells(s, block, first->variant_id, again);
		if (!due.n || due.items[0] != first)
			continue;
		ret = may_visit(s, block, variant, &may);
		if (!ret && may)
			ret = run_visit(s, block, variant, due);
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
		r->skipped += !strcmp(c->state, "skipped");
		if (strcmp(c->state, "planned"))
			continue;
		if (!r->left++)
			r->next_variant = s->c->variants[variant_of(s, c)].name;
	}
}

static int finish(struct session *s)
{
	int ret = set_time_split(s);

	count_cells(s);
	if (ret || s->report->left || s->row.ended)
		return ret;
	s->row.ended = time(NULL);
	return db_set_campaign(s->db, &s->row, s->e);
}

/* Seconds that earlier parts of the campaign took. */
static int read_time_split(struct session *s)
{
	struct db_fact *facts;
	size_t n, i;
	int ret = db_get_facts(s->db, s->a, "campaign", s->row.id, &facts, &n, s->e);

	for (i = 0; !ret && i < n; i++) {
		struct span value = span_of(facts[i].value);

		if (!strcmp(facts[i].key, "time_split.boot"))
			num_parse(value, &s->report->boot_seconds);
		else if (!strcmp(facts[i].key, "time_split.run"))
			num_parse(value, &s->report->run_seconds);
		else if (!strcmp(facts[i].key, "time_split.rest"))
			num_parse(value, &s->earlier_rest);
	}
	return ret;
}

static int measure(struct session *s)
{
	int ret = 0, block, pass;

	s->report->campaign = s->row.id;
	for (block = 1; block <= s->c->repeat; block++)
		for (pass = 0; !ret && pass < MAX_ATTEMPTS && !proc_interrupted(); pass++)
			ret = run_block(s, block, pass > 0);
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

/* Reads or makes the rows; then s->cells is the plan as far as it has come. */
static int begin(struct session *s)
{
	/* Booting by hand is resuming: the same command line goes on after every boot. */
	bool found = false, by_hand = s->backend.ops->is_running != NULL;
	int ret = 0;

	if (s->opt->resume || by_hand)
		ret = session_find(s, s->opt->resume, &found);
	if (ret)
		return ret;
	s->report->resumed = found;
	ret = found ? resume(s) : check_running(s);
	if (!ret && !found)
		ret = create(s);
	if (!ret && !found)
		ret = db_get_cells(s->db, s->a, s->row.id, &s->cells, &s->n_cells, s->e);
	if (!ret)
		ret = read_time_split(s);
	return ret ? ret : settle_missing(s);
}

static int run_opened(struct session *s)
{
	int ret = find_kernels(s);

	if (!ret)
		ret = prepare_cases(s);
	if (!ret)
		ret = begin(s);
	if (!ret)
		ret = measure(s);
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
	ret = open_backend(&s);
	if (!ret) {
		ret = run_opened(&s);
		s.backend.ops->close(&s.backend);
	}
	report->interrupted = proc_interrupted() != 0;
	ARRAY_FREE(&s.calibrated);
	close(lock);
	return ret == -EINTR ? 0 : ret;
}
