// SPDX-License-Identifier: GPL-2.0-or-later
/* One visit to a variant: entered, its cells run and stored, left. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/num.h"
#include "machine/host.h"
#include "runner/session.h"
#include "runner/store.h"

static const char *const *join_env(struct arena *a, const char *const *fixed,
				   const struct variant_config *v, const char *folder)
{
	ARRAY_OF(const char *) env = {NULL, 0, 0};
	const char *const *all;
	size_t i;

	for (; fixed && *fixed; fixed++)
		*ARRAY_PUSH(&env) = *fixed;
	for (i = 0; i < v->n_env; i++)
		*ARRAY_PUSH(&env) = arena_printf(a, "%s=%s", v->env[i].name, v->env[i].value);
	if (folder)
		*ARRAY_PUSH(&env) = arena_printf(a, "KDELTA_SOURCE=%s", folder);
	*ARRAY_PUSH(&env) = NULL;
	all = arena_copy(a, env.items, env.n, sizeof(*env.items));
	ARRAY_FREE(&env);
	return all;
}

static struct job make_job(struct session *s, int variant, const struct test_case *c)
{
	const struct variant_config *config = &s->c->variants[variant];
	struct job job;

	case_job(s->a, c, s->backend.ops->local, s->slow, &job);
	job.env = join_env(s->a, job.env, config, s->variants[variant].kernel.folder);
	job.policy = config->policy;
	job.nice = config->nice;
	job.count = s->c->counting;
	/* what reads counters in the guest would be counted */
	job.monitors = job.count || config->unwatched ? NULL : s->c->monitors;
	job.monitor_interval = s->c->monitor_interval;
	job.monitor_per_cpu = s->c->monitor_per_cpu;
	return job;
}

int session_run_job(struct session *s, struct visit *v, const struct test_case *c,
		    struct job_result *result)
{
	struct job job = make_job(s, v->variant, c);

	return s->backend.ops->run(&s->backend, v, &job, result, s->e);
}

void run_fill(struct arena *a, const struct job_result *result, struct db_run *run)
{
	const struct proc_result *p = &result->proc;

	run->exit_status = p->timed_out ? 124 : p->signal ? -1 : p->exit_status;
	run->signal = p->timed_out ? 0 : p->signal;
	run->elapsed = p->elapsed;
	run->user_time = proc_seconds(p->usage.ru_utime);
	run->sys_time = proc_seconds(p->usage.ru_stime);
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
		session_tell(s, cell, why, again);
	return db_set_cell(s->db, cell->id, cell->state, cell->attempts, cell->reason, s->e);
}

static int store_result(struct session *s, const struct visit *v, int64_t boot,
			struct db_cell *cell, const struct job_result *result, int64_t started)
{
	size_t i = session_case_index(s, cell);
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
	const struct run_output output = run_output_of(result);
	_cleanup_arena_ struct arena *scratch = arena_new();
	int ret;

	run_fill(scratch, result, &run);
	if (v->error) {
		run.error = v->error;
		run.message = v->message;
	}
	ret = store_run(s->db, scratch, s->cat, c->bench, &run, &output, c->params, c->n_params,
			s->e);
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
	const struct test_case *c = &s->c->cases[session_case_index(s, cell)];
	struct job_result result = {0};
	int64_t started = time(NULL);
	double begin = num_monotonic(), took;
	int ret;

	session_tell(s, cell, NULL, false);
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

/* The build-id of an image's first boot holds ever after. */
static int check_build_id(struct session *s, struct visit *v)
{
	_cleanup_err_ struct err why = ERR_INIT;
	int ret;

	if (v->error || !v->build_id || !*v->build_id)
		return 0;
	ret = db_set_build_id(s->db, s->variants[v->variant].kernel_id, v->build_id,
			      or_empty(v->release), &why);
	if (ret == -EEXIST) {
		v->error = "wrong_kernel";
		v->message = arena_strdup(s->a, err_text(&why));
		return 0;
	}
	return ret ? err_add(s->e, ret, "%s", err_text(&why)) : 0;
}

static int enter(struct session *s, struct visit *v, struct db_boot *boot)
{
	const struct kernel_found *k = &s->variants[v->variant].kernel;
	double begin = num_monotonic();
	int ret = 0;

	if (k->error) {
		v->error = k->error;
		v->message = k->message;
		v->permanent = true;
	} else {
		ret = s->backend.ops->boot(&s->backend, v, s->e);
	}
	if (!ret)
		ret = check_build_id(s, v);
	s->entering += num_monotonic() - begin;
	s->report->boot_seconds += num_monotonic() - begin;
	boot->boot_id = or_empty(v->boot_id);
	boot->release = or_empty(v->release);
	boot->build_id = or_empty(v->build_id);
	boot->clocksource = or_empty(v->clocksource);
	boot->seconds = v->seconds;
	return ret ? ret : db_set_boot(s->db, boot, s->e);
}

int session_run_cell(struct session *s, struct open_visit *o, struct db_cell *cell)
{
	return o->v.error ? fail_cell(s, &o->v, o->boot.id, cell)
			  : run_cell(s, &o->v, o->boot.id, cell);
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

/* How the visit ended, its console and facts, in one transaction. */
static int close_boot(struct session *s, struct visit *v, struct db_boot *boot)
{
	const struct span console = {strbuf_str(&v->console), v->console.len};
	int ret = db_begin(s->db, s->e);

	if (ret)
		return ret;
	boot->outcome = v->error	      ? v->error
			: !proc_interrupted() ? "ok"
			: session_goes_on(s, v->block, (size_t)v->variant) ? "open"
									   : "interrupted";
	boot->reason = v->error ? or_empty(v->message) : "";
	if (console.len)
		ret = db_add_raw(s->db, 0, "console", "", console, &boot->console_id, s->e);
	if (!ret)
		ret = db_set_boot(s->db, boot, s->e);
	if (!ret)
		ret = set_boot_facts(s, v, boot->id);
	if (!ret)
		ret = session_set_times(s);
	if (ret) {
		db_rollback(s->db);
		return ret;
	}
	return db_commit(s->db, s->e);
}

bool session_goes_on(struct session *s, int block, size_t variant)
{
	return s->backend.ops->goes_on &&
	       s->backend.ops->goes_on(&s->backend, (int)variant, block);
}

/*
 * A row of its own, or that of the part of the campaign that was on its way into this visit, or that
 * measured another cell in this boot.
 */
static int begin_boot(struct session *s, struct open_visit *o)
{
	struct running_kernel now = {.boot_id = ""};
	struct db_boot *boots;
	size_t n, i;
	int ret;

	if (s->opt->one)
		machine_read_kernel(s->a, &now);
	else if (!session_goes_on(s, o->v.block, (size_t)o->v.variant))
		return db_add_boot(s->db, &o->boot, &o->boot.id, s->e);
	ret = db_get_boots(s->db, s->a, s->row.id, &boots, &n, s->e);
	for (i = 0; !ret && i < n; i++) {
		if (strcmp(s->opt->one ? boots[i].boot_id : boots[i].outcome,
			   s->opt->one ? now.boot_id : "open") ||
		    boots[i].block != o->boot.block || boots[i].variant_id != o->boot.variant_id)
			continue;
		o->boot = boots[i];
		return 0;
	}
	return ret ? ret : db_add_boot(s->db, &o->boot, &o->boot.id, s->e);
}

int session_open(struct session *s, int block, size_t variant, const struct job *first,
		 struct open_visit *o)
{
	int ret;

	*o = (struct open_visit){
		.v = {.variant = (int)variant, .block = block},
		.boot =
			{
				.campaign = s->row.id,
				.variant_id = s->variants[variant].id,
				.machine_id = s->row.machine_id,
				.started = time(NULL),
				.block = block,
			},
	};
	ret = begin_boot(s, o);
	if (ret)
		return ret;
	o->v.first = first;
	ret = enter(s, &o->v, &o->boot);
	return ret ? session_close(s, o, ret) : 0;
}

int session_close(struct session *s, struct open_visit *o, int ret)
{
	double begin = num_monotonic();
	int left = s->backend.ops->collect(&s->backend, &o->v, s->e);

	s->entering += num_monotonic() - begin;
	s->report->boot_seconds += num_monotonic() - begin;
	s->visits++;
	if (!ret)
		ret = left;
	if (!ret)
		ret = close_boot(s, &o->v, &o->boot);
	strbuf_release(&o->v.console);
	ARRAY_FREE(&o->v.facts);
	return ret;
}

int session_visit(struct session *s, int block, size_t variant, struct visit_cells cells)
{
	struct open_visit o;
	struct job first;
	size_t i;
	int ret;

	if (cells.n)
		first = make_job(s, (int)variant,
				 &s->c->cases[session_case_index(s, cells.items[0])]);
	ret = session_open(s, block, variant, cells.n ? &first : NULL, &o);
	if (ret)
		return ret;
	for (i = 0; !ret && i < cells.n && !proc_interrupted(); i++)
		ret = session_run_cell(s, &o, cells.items[i]);
	return session_close(s, &o, ret);
}
