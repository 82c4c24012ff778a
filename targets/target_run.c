// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A job on a target. It runs apart from the connection, and its result waits there until we say
 * that it has arrived: a line that breaks in the middle costs nothing but time.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/num.h"
#include "targets/target.h"

#define ASK_SECONDS	 60.0
#define RUN_GRACE	 60.0  /* after the deadline that the agent enforces */
#define RECONNECT	 180.0 /* seconds in which a lost connection must come back */
#define RECONNECT_PAUSE	 1000000
#define FETCH_SECONDS	 600.0

static bool is_line_error(int code)
{
	return code == -ENOTCONN || code == -ETIMEDOUT;
}

/* A panic in the middle of a run is told by what the kernel left behind. */
static void judge_loss(struct target *t, struct visit *v)
{
	struct span console;
	const char *p;

	if (t->link.open)
		target_add_console(t, v);
	console = (struct span){strbuf_str(&v->console), v->console.len};
	p = span_find(console, "Kernel panic - not syncing");
	if (p)
		target_fail(t, v, "panic", "%s",
			    arena_strndup(t->b->a, p, strcspn(p, "\r\n")));
	target_fail(t, v, t->state.reason, "%s", t->state.message);
}

/* Connects again and looks what the target runs; 0 with v->error set where it is another boot. */
static int reconnect(struct target *t, struct visit *v, struct err *e)
{
	double until = num_monotonic() + RECONNECT;
	struct boot_sight sight;

	for (;;) {
		_cleanup_err_ struct err why = ERR_INIT;
		int ret = target_connect(t, ASK_SECONDS, &why);

		if (!ret)
			break;
		if (ret == -EINTR || proc_interrupted())
			return -EINTR;
		if (!is_line_error(ret))
			return err_add(e, ret, "%s", err_text(&why));
		if (num_monotonic() > until) {
			boot_state_step(&t->state, t->b->a, BOOT_BROKEN, NULL);
			judge_loss(t, v);
			return target_keep(t, v, e);
		}
		usleep(RECONNECT_PAUSE);
	}
	sight = target_sight(t);
	if (boot_state_step(&t->state, t->b->a, BOOT_SEEN, &sight) == BOOT_DO_MEASURE)
		return 0;
	judge_loss(t, v);
	return target_keep(t, v, e);
}

/* Starts the job and waits for it over any number of connections. */
static int run_over_lines(struct target *t, struct visit *v, const char *id, struct span text,
			  double deadline, struct job_result *result, struct err *e)
{
	double until = deadline > 0 ? num_monotonic() + deadline + RUN_GRACE : 0;
	bool started = false;

	while (!v->error) {
		_cleanup_err_ struct err why = ERR_INIT;
		struct span type, body;
		int ret;

		if (!t->link.open) {
			ret = reconnect(t, v, e);
			if (ret || v->error)
				return ret;
		}
		ret = started ? link_ask(&t->link, "wait", span_of(id), FETCH_SECONDS, &type, &body,
					 &why)
			      : link_ask(&t->link, "job", text, ASK_SECONDS, &type, &body, &why);
		if (ret == -EINTR)
			return ret;
		if (is_line_error(ret))
			continue;
		if (ret) {
			target_fail(t, v, started ? "truncated" : "config_error", "%s",
				    err_text(&why));
		} else if (!started) {
			started = true;
		} else if (span_is(type, "result")) {
			if (job_result_decode(body, result, &why))
				target_fail(t, v, "truncated", "%s", err_text(&why));
			return 0;
		} else if (span_is(type, "lost")) {
			target_fail(t, v, "lost",
				    "the job's process on the target ended without a result");
		} else if (until > 0 && num_monotonic() > until) {
			target_fail(t, v, "hang", "no result long after the deadline");
			link_tell(&t->link, "stop", id, ASK_SECONDS, &why);
		}
	}
	return 0;
}

/* The result of the job before is stored by now. */
static void forget_arrived(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;

	if (t->arrived && t->link.open)
		link_tell(&t->link, "forget", t->arrived, ASK_SECONDS, &ignored);
	t->arrived = NULL;
}

int target_run(struct backend *b, struct visit *v, const struct job *job,
	       struct job_result *result, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_arena_ struct arena *a = arena_new();
	struct target *t = b->priv;
	const struct job there = t->local ? *job : job_without_paths(a, job);
	const char *id = arena_printf(a, "%s-%d", t->nonce, ++t->jobs);
	double deadline = job->deadline * (job->prepare ? 2 : 1);
	int ret = 0;

	*result = (struct job_result){.proc.exit_status = -1};
	forget_arrived(t);
	strbuf_addf(&text, "%s\n", id);
	if (!v->error && t->state.step == BOOT_RUNNING) {
		job_encode(&there, &text);
		ret = run_over_lines(t, v, id, (struct span){text.buf, text.len}, deadline, result,
				     e);
	}
	if (ret == -EINTR || proc_interrupted()) {
		if (t->link.open)
			guest_send(&t->link.line, "stop", id, strlen(id));
		result->proc.interrupted = true;
		return 0;
	}
	if (ret)
		return ret;
	if (!v->error)
		t->arrived = arena_strdup(b->a, id);
	if (v->error) {
		job_result_release(result);
		*result = (struct job_result){.proc.exit_status = -1};
		result->error = v->error;
		result->message = mem_strdup(v->message);
	}
	return 0;
}

int target_flip(struct backend *b, struct visit *v, struct err *e)
{
	struct target *t = b->priv;
	int ret = -ENOTCONN;

	while (is_line_error(ret) && !v->error) {
		_cleanup_err_ struct err why = ERR_INIT;

		ret = t->link.open ? 0 : reconnect(t, v, e);
		if (ret || v->error)
			break;
		ret = target_apply(t, v, &why);
		if (ret && ret != -EINTR && !is_line_error(ret))
			target_fail(t, v, "config_error", "%s", err_text(&why));
	}
	return ret == -EINTR || v->error ? 0 : ret;
}

int target_collect(struct backend *b, struct visit *v, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct target *t = b->priv;
	int ret;

	if (proc_interrupted()) {
		if (t->link.open)
			guest_send(&t->link.line, "restore", "", 0);
		return 0;
	}
	forget_arrived(t);
	if (!v->error && t->state.step == BOOT_RUNNING) {
		ret = t->link.open ? 0 : reconnect(t, v, e);
		if (!ret && !v->error)
			ret = link_tell(&t->link, "restore", "", ASK_SECONDS, &why);
		if (ret && !v->error)
			target_fail(t, v, is_line_error(ret) ? "lost" : "config_error", "%s",
				    err_text(&why));
	}
	target_add_console(t, v);
	boot_state_step(&t->state, b->a, BOOT_END, NULL);
	return target_keep(t, v, e);
}
