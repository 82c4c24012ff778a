// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/proc_session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/num.h"
#include "core/str.h"

#define LEFTOVER_GRACE 0.5  /* seconds: a program's children may end a moment after it */
#define KILL_PATIENCE  10.0 /* a killed process in state D may take this long to go */
#define GUARD_PATIENCE 1.0

/* Leaders of the sessions we started and have not reaped; the guard is one of them. */
static ARRAY_OF(pid_t) children;
static int guard_fd = -1;
static pid_t guard_pid;

bool session_is_ours(pid_t pid)
{
	pid_t *p;

	array_for_each (p, &children) {
		if (*p == pid)
			return true;
	}
	return false;
}

void proc_usage_add(struct rusage *to, const struct rusage *u)
{
	timeradd(&to->ru_utime, &u->ru_utime, &to->ru_utime);
	timeradd(&to->ru_stime, &u->ru_stime, &to->ru_stime);
	to->ru_maxrss = MAX(to->ru_maxrss, u->ru_maxrss);
	to->ru_minflt += u->ru_minflt;
	to->ru_majflt += u->ru_majflt;
	to->ru_inblock += u->ru_inblock;
	to->ru_oublock += u->ru_oublock;
	to->ru_nvcsw += u->ru_nvcsw;
	to->ru_nivcsw += u->ru_nivcsw;
}

struct process {
	pid_t pid, ppid, sid;
	char state;
};

/* /proc/PID/stat: "17 (a name) S 1 17 17 0 ..."; the name may hold blanks and brackets. */
static bool process_read(int proc_fd, const char *name, struct process *p)
{
	_cleanup_free_ char *path = mem_printf("%s/stat", name);
	char buf[512], *tail;
	int64_t pid, v[3];
	struct span rest, word;
	size_t i;
	ssize_t n;
	int fd;

	if (!num_parse_int(span_of(name), &pid))
		return false;
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	tail = strrchr(buf, ')');
	if (!tail)
		return false;
	rest = span_of(tail + 1);
	if (!span_next_word(&rest, &word) || word.len != 1)
		return false;
	p->state = *word.s;
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		if (!span_next_word(&rest, &word) || !num_parse_int(word, &v[i]))
			return false;
	}
	p->pid = (pid_t)pid;
	p->ppid = (pid_t)v[0];
	p->sid = (pid_t)v[2];
	return true;
}

int session_sweep(pid_t sid, int sig, struct rusage *usage)
{
	pid_t self = getpid(), own_sid = getsid(0);
	DIR *d = opendir("/proc");
	struct dirent *de;
	int live = 0;

	if (!d)
		return 0;
	while ((de = readdir(d))) {
		struct process p;
		struct rusage u;
		bool orphan;

		if (!process_read(dirfd(d), de->d_name, &p) || p.pid == self)
			continue;
		orphan = p.ppid == self && !session_is_ours(p.pid);
		if (p.state == 'Z' || p.state == 'X') {
			if (orphan && wait4(p.pid, NULL, WNOHANG, &u) > 0 && usage)
				proc_usage_add(usage, &u);
			continue;
		}
		if (p.sid != sid && !(orphan && p.sid != own_sid && !session_is_ours(p.sid)))
			continue;
		live++;
		if (sig)
			kill(p.pid, sig);
	}
	closedir(d);
	return live;
}

static const int waited_signals[] = {SIGCHLD, SIGINT, SIGTERM};

sigset_t proc_hold_signals(void)
{
	sigset_t set, old;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(waited_signals); i++)
		sigaddset(&set, waited_signals[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	return old;
}

void proc_release_signals(const sigset_t *old)
{
	sigprocmask(SIG_SETMASK, old, NULL);
}

void proc_sleep(struct pollfd *fds, nfds_t n, double seconds)
{
	struct timespec ts;
	sigset_t mask;
	size_t i;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (i = 0; i < ARRAY_SIZE(waited_signals); i++)
		sigdelset(&mask, waited_signals[i]);
	seconds = MAX(seconds, 0.001);
	ts.tv_sec = (time_t)seconds;
	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	ppoll(fds, n, &ts, &mask);
}

/* Kills what lives of a session until nothing does. */
static void session_kill(pid_t sid, struct rusage *usage)
{
	double until = num_monotonic() + KILL_PATIENCE;

	while (session_sweep(sid, SIGKILL, usage) && num_monotonic() < until)
		proc_sleep(NULL, 0, 0.01);
}

int session_end(pid_t sid, struct rusage *usage)
{
	double until = num_monotonic() + LEFTOVER_GRACE;
	int left;

	while ((left = session_sweep(sid, 0, usage)) && num_monotonic() < until)
		proc_sleep(NULL, 0, 0.02);
	if (left)
		session_kill(sid, usage);
	return left;
}

/*
 * The guard outlives a kill -9 of the program and then kills the sessions it left behind: the
 * kernel's PR_SET_PDEATHSIG reaches a leader only, and hackbench's workers survive theirs.
 * Messages: the session's number when it starts (sent by its leader), minus that when it ended.
 */
static _Noreturn void guard_main(int fd)
{
	ARRAY_OF(pid_t) sessions = {NULL, 0, 0};
	pid_t msg, *p;
	ssize_t n;

	setsid();
	prctl(PR_SET_NAME, "kd-guard");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	dup2(fd, 0);
	close_range(1, ~0u, 0);
	children.n = 0;
	while ((n = read(0, &msg, sizeof(msg))) == sizeof(msg) || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (msg > 0) {
			*ARRAY_PUSH(&sessions) = msg;
			continue;
		}
		array_for_each (p, &sessions) {
			if (*p == -msg) {
				*p = sessions.items[--sessions.n];
				break;
			}
		}
	}
	array_for_each (p, &sessions)
		session_kill(*p, NULL);
	_exit(0);
}

/* At exit: an init that reaps late, as in containers, would show the guard as a zombie. */
static void guard_end(void)
{
	double until = num_monotonic() + GUARD_PATIENCE;

	close(guard_fd);
	while (!waitpid(guard_pid, NULL, WNOHANG) && num_monotonic() < until)
		proc_sleep(NULL, 0, 0.01);
}

/* Only interrupts ppoll(). */
static void handle_child(int sig)
{
	(void)sig;
}

/* Init of a guest needs no guard: the guest ends with it. */
void session_prepare(void)
{
	int fds[2];
	pid_t pid;

	signal(SIGCHLD, handle_child);
	if (guard_fd >= 0 || getpid() == 1 || pipe2(fds, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		guard_main(fds[0]);
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return;
	}
	guard_fd = fds[1];
	guard_pid = pid;
	*ARRAY_PUSH(&children) = pid;
	atexit(guard_end);
}

static void guard_tell(pid_t msg)
{
	/* A lost message costs tidiness after a kill -9, nothing else. */
	if (guard_fd >= 0 && write(guard_fd, &msg, sizeof(msg)) < 0)
		return;
}

void session_announce(void)
{
	guard_tell(getpid());
}

void session_add(pid_t leader)
{
	*ARRAY_PUSH(&children) = leader;
}

void session_forget(pid_t leader)
{
	pid_t *p;

	guard_tell(-leader);
	array_for_each (p, &children) {
		if (*p == leader) {
			*p = children.items[--children.n];
			return;
		}
	}
}
