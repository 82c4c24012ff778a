/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a program so that nothing of it is lost or left behind: own session, deadline, group
 * kill, orphans reaped (the caller is a child subreaper), stdout and stderr apart.
 * Only runner/ and guest/ include this header.
 */
#ifndef CORE_PROC_H
#define CORE_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/err.h"
#include "core/str.h"

struct proc_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const *env; /* "NAME=value" added to the environment, NULL-terminated, or NULL */
	const char *dir; /* working folder, or NULL */
	double deadline; /* seconds until the group gets TERM, then KILL 2 s later; 0: none */
	uint64_t nofile; /* RLIMIT_NOFILE wanted (soft and hard raised as far as allowed); 0: as is */
	const char *cpus; /* CPU list "0-3,8" the program is bound to, or NULL */
	const char *policy; /* scheduling policy as proc_policy_parse() reads it; NULL: as ours */
	int nice; /* nice value; 0: as ours */
	const char *input; /* text for stdin; NULL: /dev/null */
	int line_fd; /* of proc_start: a socket that becomes stdin and stdout; 0: none */
	bool to_the_end; /* also after proc_interrupted(): it puts something back */
	size_t max_output; /* bytes kept of each stream, 0: 64 MiB; more is an error of the run */
	/* Called about every 100 ms with what was printed so far; may be NULL. Return true to stop. */
	bool (*watch)(void *data, const struct strbuf *out, const struct strbuf *err);
	void *watch_data;
};

struct proc_result {
	bool started; /* false: not_found or start_errno say why */
	int start_errno; /* ENOENT: no such program; EINTR: interrupted before */
	int exit_status; /* -1 if ended by a signal */
	int signal; /* 0 if it exited */
	bool timed_out; /* the deadline passed */
	bool interrupted; /* proc_interrupted() became true */
	bool output_full; /* more than max_output bytes */
	int leftovers; /* live processes of the session after the leader ended (then killed) */
	double elapsed; /* seconds, monotonic */
	struct rusage usage; /* of the leader and all it waited for, plus reaped leftovers */
	struct strbuf out, err;
};

/*
 * Runs to the end. LC_ALL=C is always set. Returns 0 when the program was started or could not be
 * found (see result), a negative errno when our own machinery failed.
 */
int proc_run(const struct proc_spec *spec, struct proc_result *result, struct err *e);
void proc_result_release(struct proc_result *r);

/* A program that runs beside others (a server, QEMU): started, watched, stopped. */
struct proc_child {
	pid_t pid; /* 0: none */
	int out_fd, err_fd; /* non-blocking read ends, -1 if sent elsewhere (out_path, line_fd) */
	struct rusage usage; /* set by proc_stop, as in proc_result */
};
/* out_path/err_path: file to append to, or NULL for a pipe. */
int proc_start(const struct proc_spec *spec, const char *out_path, const char *err_path,
	       struct proc_child *child, struct err *e);
/* Not ended: false. Ended: true, *status (may be NULL) as of waitpid; proc_stop still has to reap. */
bool proc_poll(struct proc_child *child, int *status);
/*
 * Needed once for every started child, also one that ended by itself: TERM to the group, KILL
 * after grace seconds; reaps, closes the pipes, returns the number of live leftovers (killed).
 */
int proc_stop(struct proc_child *child, double grace, int *status);

/*
 * Once per program: become child subreaper; SIGINT and SIGTERM set a flag that ends the run in
 * progress instead of the program. What was started dies even if this program is killed by
 * SIGKILL: a small guard process, forked at the first start, sees to it.
 */
void proc_init(void);
/* The signal that asked us to stop, or 0. */
int proc_interrupted(void);

/*
 * "other", "batch", "idle", "fifo:PRIO" or "rr:PRIO" (1 to 99) as for sched_setscheduler(2);
 * false: it is none.
 */
bool proc_policy_parse(const char *text, int *policy, int *priority);

/* Of a struct rusage, in seconds. */
static inline double proc_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Whether something listens on 127.0.0.1:port. */
bool proc_port_open(int port);

/* Exit status, signal and outcome as one phrase: "exit 1", "killed by SIGTERM", "deadline". */
void proc_describe(const struct proc_result *r, struct strbuf *out);

#endif
