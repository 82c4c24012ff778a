// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jobs apart from the connection that asked for them: a process of its own session runs the job
 * and writes its result, synced, under the job's id; it holds ID.run locked as long as it lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "guest/target.h"
#include "jobs/job.h"

#define WAIT_SECONDS  10.0 /* of one `wait`; the controller asks again */
#define STOP_PATIENCE 15.0
#define RESULT_BYTES  (1u << 20) /* that must be free when a job begins */

static char *job_path(struct target *t, const char *id, const char *ending)
{
	return arena_printf(t->a, "%s/jobs/%s%s", t->state, id, ending);
}

/* Whether the process of a job lives; its pid (may be NULL). */
static bool job_lives(struct target *t, const char *id, pid_t *pid)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *path = job_path(t, id, ".run");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool lives = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB);
	int64_t v = 0;

	if (fd >= 0)
		close(fd);
	if (pid && lives && !file_read_line(path, &sb) && num_parse_int(span_of(strbuf_str(&sb)), &v))
		*pid = (pid_t)v;
	return lives;
}

static void write_result(struct target *t, const char *id, const struct job_result *result,
			 const char *failed, struct err *e)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const char *path = job_path(t, id, ".result");

	if (failed)
		strbuf_addf(&out, "failed %s", failed);
	else
		job_result_encode(result, &out);
	file_write_atomic(path, out.buf, out.len, e);
}

/* In the process of the job. */
static _Noreturn void run_apart(struct target *t, const char *id, const struct job *job, int run_fd)
{
	_cleanup_err_ struct err e = ERR_INIT, full = ERR_INIT, ignored = ERR_INIT;
	struct job_result result = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	setsid();
	for (i = 0; i < 3; i++)
		dup2(null, i);
	if (t->lock_fd >= 0)
		close(t->lock_fd);
	dprintf(run_fd, "%d\n", (int)getpid());
	if (job_run(job, &result, &e))
		write_result(t, id, NULL, err_text(&e), &full);
	else
		write_result(t, id, &result, NULL, &full);
	/* A full disk holds this one line, or nothing: then the job is `lost`. */
	if (full.list.n)
		write_result(t, id, NULL,
			     arena_printf(t->a, "the result was not kept: %s", err_text(&full)),
			     &ignored);
	_exit(0);
}

const char *target_job(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	struct span head;
	struct job job;
	struct statvfs v;
	const char *id;
	int fd;
	pid_t pid;

	(void)out;
	if (!span_next_line(&body, &head, NULL) || !(id = target_name(t, head, e)) ||
	    job_decode(t->a, body, &job, e))
		return NULL;
	/* Asked for again after a lost connection: it runs, or it has run. */
	if (job_lives(t, id, NULL) || file_exists(job_path(t, id, ".result")))
		return "ok";
	if (!statvfs(t->state, &v) && (uint64_t)v.f_bavail * v.f_frsize < RESULT_BYTES) {
		err_add(e, -ENOSPC, "the disk is full: no room for results in %s", t->state);
		return NULL;
	}
	fd = open(job_path(t, id, ".run"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		err_add_errno(e, "cannot make %s", job_path(t, id, ".run"));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	pid = fork();
	if (!pid)
		run_apart(t, id, &job, fd);
	close(fd);
	if (pid < 0) {
		err_add_errno(e, "cannot start a process for the job");
		return NULL;
	}
	return "ok";
}

static const char *take_result(struct target *t, const char *path, struct strbuf *out,
			       struct err *e)
{
	(void)t;
	if (file_read(path, 0, out, e))
		return NULL;
	if (out->len > 7 && !memcmp(out->buf, "failed ", 7)) {
		err_add(e, -EIO, "%s", out->buf + 7);
		return NULL;
	}
	return "result";
}

const char *target_wait(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	double until = num_monotonic() + WAIT_SECONDS;
	const char *id = target_name(t, body, e), *path;
	struct pollfd hang_up = {STDIN_FILENO, POLLIN, 0};

	if (!id)
		return NULL;
	path = job_path(t, id, ".result");
	for (;;) {
		bool lives = job_lives(t, id, NULL);

		if (file_exists(path))
			return take_result(t, path, out, e);
		if (!lives)
			return "lost";
		/* Also ends when the controller hangs up or asks for something else. */
		if (num_monotonic() >= until || poll(&hang_up, 1, 200) > 0)
			return "running";
	}
}

const char *target_forget(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	const char *id = target_name(t, body, e);

	(void)out;
	if (!id)
		return NULL;
	unlink(job_path(t, id, ".result"));
	unlink(job_path(t, id, ".run"));
	return "ok";
}

static void stop_job(struct target *t, const char *id)
{
	double until = num_monotonic() + STOP_PATIENCE;
	pid_t pid = 0;

	while (job_lives(t, id, &pid) && num_monotonic() < until) {
		if (pid > 1)
			kill(pid, SIGTERM);
		usleep(100000);
	}
	unlink(job_path(t, id, ".result"));
	unlink(job_path(t, id, ".run"));
}

const char *target_stop(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	const char *id = target_name(t, body, e);

	(void)out;
	if (!id)
		return NULL;
	stop_job(t, id);
	return "ok";
}

void target_clear_jobs(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char **names;
	size_t n, i;

	if (file_list(t->a, target_path(t, "jobs", ""), "*.run", &names, &n, &ignored))
		return;
	for (i = 0; i < n; i++)
		if (!str_starts(names[i], t->nonce))
			stop_job(t, arena_strndup(t->a, names[i], strlen(names[i]) - 4));
}
