// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/num.h"
#include "core/proc_session.h"

#define TERM_GRACE     2.0 /* seconds from TERM to KILL */
#define DRAIN_PATIENCE 1.0 /* for the last output after everything was killed */
#define OUTPUT_MAX     (64u << 20)
#define CPU_MAX	       65536

static volatile sig_atomic_t stop_signal;

static void handle_stop(int sig)
{
	stop_signal = sig;
}

void proc_init(void)
{
	struct sigaction sa = {.sa_handler = handle_stop};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

int proc_interrupted(void)
{
	return stop_signal;
}

/* "0-3,8" into a set of *size bytes, freed by the caller with CPU_FREE. */
static int cpu_list_parse(const char *list, cpu_set_t **set, size_t *size, struct err *e)
{
	struct span rest = span_of(list);
	int64_t from, to;
	bool more;

	*size = CPU_ALLOC_SIZE(CPU_MAX);
	*set = CPU_ALLOC(CPU_MAX);
	CPU_ZERO_S(*size, *set);
	while (num_next_range(&rest, &from, &to, &more) && to < CPU_MAX) {
		for (; from <= to; from++)
			CPU_SET_S((size_t)from, *size, *set);
		if (!more)
			return 0;
	}
	CPU_FREE(*set);
	*set = NULL;
	err_add(e, -EINVAL, "\"%s\" is not a CPU list", list);
	err_hint(e, "write it like 0-3,8");
	return -EINVAL;
}

enum spawn_step { STEP_SESSION, STEP_DIR, STEP_CPUS, STEP_POLICY, STEP_EXEC };
static const char *const step_names[] = {
	[STEP_SESSION] = "start a session for",
	[STEP_DIR] = "enter the folder of",
	[STEP_CPUS] = "bind to the CPUs of",
	[STEP_POLICY] = "set the scheduling policy of",
	[STEP_EXEC] = "execute",
};

struct spawn_error {
	enum spawn_step step;
	int code;
};

bool proc_policy_parse(const char *text, int *policy, int *priority)
{
	static const struct {
		const char *name;
		int policy;
		bool real_time;
	} policies[] = {
		{"other", SCHED_OTHER, false}, {"batch", SCHED_BATCH, false},
		{"idle", SCHED_IDLE, false},   {"fifo", SCHED_FIFO, true},
		{"rr", SCHED_RR, true},
	};
	const char *colon = strchr(text, ':');
	struct span name = {text, colon ? (size_t)(colon - text) : strlen(text)};
	int64_t v = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		if (span_is(name, policies[i].name))
			break;
	if (i == ARRAY_SIZE(policies) || policies[i].real_time != (colon != NULL))
		return false;
	if (colon && (!num_parse_int(span_of(colon + 1), &v) || v < 1 || v > 99))
		return false;
	*policy = policies[i].policy;
	*priority = (int)v;
	return true;
}

/* In the child; nice first, as it has no effect under every policy. */
static bool set_policy(const struct proc_spec *spec)
{
	struct sched_param param = {0};
	int policy;

	if (spec->nice && setpriority(PRIO_PROCESS, 0, spec->nice))
		return false;
	if (!spec->policy)
		return true;
	if (!proc_policy_parse(spec->policy, &policy, &param.sched_priority)) {
		errno = EINVAL;
		return false;
	}
	return !sched_setscheduler(0, policy, &param);
}

static void raise_nofile(uint64_t want)
{
	struct rlimit rl;

	if (!want || getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= want)
		return;
	rl.rlim_cur = want;
	if (rl.rlim_max < want) {
		struct rlimit more = {want, want};

		if (!setrlimit(RLIMIT_NOFILE, &more))
			return;
		rl.rlim_cur = rl.rlim_max;
	}
	setrlimit(RLIMIT_NOFILE, &rl);
}

static void child_signals(void)
{
	static const int reset[] = {SIGINT, SIGQUIT, SIGTERM, SIGCHLD, SIGPIPE};
	sigset_t none;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reset); i++)
		signal(reset[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: everything up to exec; returns only on failure. */
static struct spawn_error child_exec(const struct proc_spec *spec, const int fds[3],
				     const cpu_set_t *cpus, size_t cpus_size, pid_t parent)
{
	const char *const *env;
	int i;

	child_signals();
	if (setsid() < 0)
		return (struct spawn_error){STEP_SESSION, errno};
	session_announce();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return (struct spawn_error){STEP_SESSION, ESRCH};
	for (i = 0; i < 3; i++) {
		if (dup2(fds[i], i) < 0)
			return (struct spawn_error){STEP_SESSION, errno};
	}
	if (spec->dir && chdir(spec->dir))
		return (struct spawn_error){STEP_DIR, errno};
	if (cpus && sched_setaffinity(0, cpus_size, cpus))
		return (struct spawn_error){STEP_CPUS, errno};
	raise_nofile(spec->nofile);
	if (!set_policy(spec))
		return (struct spawn_error){STEP_POLICY, errno};
	for (env = spec->env; env && *env; env++)
		putenv(mem_strdup(*env));
	setenv("LC_ALL", "C", 1);
	execvp(spec->argv[0], (char *const *)(uintptr_t)spec->argv);
	return (struct spawn_error){STEP_EXEC, errno};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
#define _cleanup_fd_ _cleanup_(close_fd)

/* The child's answer: nothing once exec succeeded (the pipe closes with it). */
static bool spawn_failed(int fd, struct spawn_error *se)
{
	ssize_t n;

	do
		n = read(fd, se, sizeof(*se));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*se);
}

/* Descriptors above 2, so that dup2() in the child cannot run over one of them. */
static int fd_raise(int fd)
{
	int high;

	if (fd > 2 || fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high;
}

static int make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fds[0] = fd_raise(fds[0]);
	fds[1] = fd_raise(fds[1]);
	return fds[0] < 0 || fds[1] < 0 ? -EMFILE : 0;
}

static int open_input(const char *text)
{
	size_t len;
	int fd;

	if (!text)
		return fd_raise(open("/dev/null", O_RDONLY | O_CLOEXEC));
	fd = fd_raise(memfd_create("input", MFD_CLOEXEC));
	len = strlen(text);
	if (fd >= 0 && (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Starts the program with the given stdout and stderr. *pid is set when it runs; *start_errno
 * when there is no such program. Everything else is an error.
 */
static int spawn(const struct proc_spec *spec, int out_fd, int err_fd, pid_t *pid, int *start_errno,
		 struct err *e)
{
	_cleanup_fd_ int in_fd = -1, told = -1, tell = -1;
	cpu_set_t *cpus = NULL;
	size_t cpus_size = 0;
	struct spawn_error se;
	pid_t parent = getpid();
	int pipe_fds[2];

	*pid = 0;
	*start_errno = 0;
	if (spec->cpus && cpu_list_parse(spec->cpus, &cpus, &cpus_size, e))
		return -EINVAL;
	session_prepare();
	in_fd = open_input(spec->input);
	if (in_fd < 0 || make_pipe(pipe_fds)) {
		CPU_FREE(cpus);
		return err_add_errno(e, "cannot prepare to start %s", spec->argv[0]);
	}
	told = pipe_fds[0];
	tell = pipe_fds[1];
	*pid = fork();
	if (!*pid) {
		if (spec->line_fd > 0)
			in_fd = out_fd = spec->line_fd;
		se = child_exec(spec, (int[]){in_fd, out_fd, err_fd}, cpus, cpus_size, parent);
		_exit(write(tell, &se, sizeof(se)) == sizeof(se) ? 127 : 126);
	}
	CPU_FREE(cpus);
	close_fd(&tell);
	if (*pid < 0) {
		*pid = 0;
		return err_add_errno(e, "cannot start %s", spec->argv[0]);
	}
	session_add(*pid);
	if (!spawn_failed(told, &se))
		return 0;
	waitpid(*pid, NULL, 0);
	session_forget(*pid);
	*pid = 0;
	if (se.step == STEP_EXEC) {
		*start_errno = se.code;
		return 0;
	}
	errno = se.code;
	return err_add_errno(e, "cannot %s %s", step_names[se.step], spec->argv[0]);
}

/* Ended: true. The leader stays a zombie, so that its number stays its own. */
static bool leader_ended(pid_t pid, int *status)
{
	siginfo_t si = {.si_pid = 0};

	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) || !si.si_pid)
		return false;
	if (status)
		*status = si.si_code == CLD_EXITED ? W_EXITCODE(si.si_status, 0)
						   : W_EXITCODE(0, si.si_status);
	return true;
}

/* Reaps orphans that died while a run goes on; cheap, unlike a sweep of /proc. */
static void reap_orphans(struct rusage *usage)
{
	siginfo_t si;
	struct rusage u;

	for (;;) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) || !si.si_pid)
			return;
		if (session_is_ours(si.si_pid))
			return; /* hides those behind it, until the sweep at the end */
		if (wait4(si.si_pid, NULL, WNOHANG, &u) > 0)
			proc_usage_add(usage, &u);
	}
}

/* Ends the session of a leader that has ended, and reaps it. Returns the live leftovers. */
static int leader_reap(pid_t pid, int *status, struct rusage *usage)
{
	struct rusage u;
	int left = session_end(pid, usage);

	while (wait4(pid, status, 0, &u) < 0 && errno == EINTR)
		;
	proc_usage_add(usage, &u);
	session_forget(pid);
	return left;
}

struct stream {
	int fd;
	struct strbuf *out;
};

/* Reads what there is; beyond max bytes it is thrown away. */
static void stream_read(struct stream *s, size_t max, bool *full)
{
	char buf[65536];
	ssize_t n;
	int rounds;

	for (rounds = 0; rounds < 16 && s->fd >= 0; rounds++) {
		n = read(s->fd, buf, sizeof(buf));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close_fd(&s->fd);
			return;
		}
		if (s->out->len + (size_t)n > max)
			*full = true;
		strbuf_add(s->out, buf, MIN((size_t)n, max - s->out->len));
	}
}

struct run {
	const struct proc_spec *spec;
	struct proc_result *r;
	struct stream streams[2];
	pid_t pid;
	double start, next_watch;
	double kill_at; /* 0: nothing was asked to end yet */
};

static void run_pump(struct run *run, double seconds)
{
	size_t max = run->spec->max_output ? run->spec->max_output : OUTPUT_MAX;
	struct pollfd fds[2];
	nfds_t n = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (run->streams[i].fd >= 0)
			fds[n++] = (struct pollfd){run->streams[i].fd, POLLIN, 0};
	}
	proc_sleep(fds, n, seconds);
	for (i = 0; i < 2; i++)
		stream_read(&run->streams[i], max, &run->r->output_full);
}

/* Whether the run has to end, now that it is `now`. */
static bool run_must_stop(struct run *run, double now)
{
	const struct proc_spec *spec = run->spec;
	struct proc_result *r = run->r;

	if (spec->deadline > 0 && now - run->start >= spec->deadline)
		r->timed_out = true;
	if (proc_interrupted() && !spec->to_the_end)
		r->interrupted = true;
	if (r->timed_out || r->interrupted || r->output_full)
		return true;
	if (!spec->watch || now < run->next_watch)
		return false;
	run->next_watch = now + 0.1;
	return spec->watch(spec->watch_data, &r->out, &r->err);
}

/* Until the leader has ended, by itself or by us. */
static void run_wait(struct run *run)
{
	while (!leader_ended(run->pid, NULL)) {
		double now = num_monotonic(), pause = 1;

		if (run->spec->watch)
			pause = 0.1;
		if (!run->kill_at && run_must_stop(run, now)) {
			kill(-run->pid, SIGTERM);
			run->kill_at = now + TERM_GRACE;
		}
		if (run->kill_at && now >= run->kill_at) {
			session_sweep(run->pid, SIGKILL, &run->r->usage);
			run->kill_at = now + TERM_GRACE;
		}
		if (run->kill_at)
			pause = MIN(pause, run->kill_at - now);
		else if (run->spec->deadline > 0)
			pause = MIN(pause, run->start + run->spec->deadline - now);
		run_pump(run, pause);
		reap_orphans(&run->r->usage);
	}
}

static void run_finish(struct run *run)
{
	struct proc_result *r = run->r;
	double until;
	int status = 0;

	r->elapsed = num_monotonic() - run->start;
	r->leftovers = leader_reap(run->pid, &status, &r->usage);
	r->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	until = num_monotonic() + DRAIN_PATIENCE;
	while ((run->streams[0].fd >= 0 || run->streams[1].fd >= 0) && num_monotonic() < until)
		run_pump(run, 0.02);
}

static int set_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int proc_run(const struct proc_spec *spec, struct proc_result *result, struct err *e)
{
	_cleanup_fd_ int out_write = -1, err_write = -1;
	struct run run = {.spec = spec, .r = result, .streams = {{.fd = -1}, {.fd = -1}}};
	int out_pipe[2], err_pipe[2], r;
	sigset_t old;

	memset(result, 0, sizeof(*result));
	result->exit_status = -1;
	if (proc_interrupted() && !spec->to_the_end) {
		result->interrupted = true;
		result->start_errno = EINTR;
		return 0;
	}
	if (make_pipe(out_pipe))
		return err_add_errno(e, "cannot make a pipe");
	run.streams[0] = (struct stream){out_pipe[0], &result->out};
	out_write = out_pipe[1];
	r = make_pipe(err_pipe);
	if (r) {
		close_fd(&run.streams[0].fd);
		return err_add_errno(e, "cannot make a pipe");
	}
	run.streams[1] = (struct stream){err_pipe[0], &result->err};
	err_write = err_pipe[1];
	set_nonblocking(out_pipe[0]);
	set_nonblocking(err_pipe[0]);

	old = proc_hold_signals();
	run.start = num_monotonic();
	r = spawn(spec, out_write, err_write, &run.pid, &result->start_errno, e);
	close_fd(&out_write);
	close_fd(&err_write);
	if (run.pid) {
		result->started = true;
		run_wait(&run);
		run_finish(&run);
	}
	proc_release_signals(&old);
	close_fd(&run.streams[0].fd);
	close_fd(&run.streams[1].fd);
	return r;
}

void proc_result_release(struct proc_result *r)
{
	strbuf_release(&r->out);
	strbuf_release(&r->err);
}

/* Either a file to append to, or a pipe whose read end goes to *read_fd. */
static int open_output(const char *path, int *read_fd, int *write_fd, struct err *e)
{
	int fds[2];

	if (path) {
		*write_fd = fd_raise(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
		return *write_fd < 0 ? err_add_errno(e, "cannot open %s", path) : 0;
	}
	if (make_pipe(fds))
		return err_add_errno(e, "cannot make a pipe");
	set_nonblocking(fds[0]);
	*read_fd = fds[0];
	*write_fd = fds[1];
	return 0;
}

int proc_start(const struct proc_spec *spec, const char *out_path, const char *err_path,
	       struct proc_child *child, struct err *e)
{
	_cleanup_fd_ int out_fd = -1, err_fd = -1;
	int r = 0, start_errno = 0;

	*child = (struct proc_child){.out_fd = -1, .err_fd = -1};
	if (!spec->line_fd)
		r = open_output(out_path, &child->out_fd, &out_fd, e);
	if (!r)
		r = open_output(err_path, &child->err_fd, &err_fd, e);
	if (!r)
		r = spawn(spec, out_fd, err_fd, &child->pid, &start_errno, e);
	if (!r && start_errno) {
		errno = start_errno;
		r = err_add_errno(e, "cannot start %s", spec->argv[0]);
	}
	if (r) {
		close_fd(&child->out_fd);
		close_fd(&child->err_fd);
	}
	return r;
}

bool proc_poll(struct proc_child *child, int *status)
{
	return !child->pid || leader_ended(child->pid, status);
}

int proc_stop(struct proc_child *child, double grace, int *status)
{
	double until = num_monotonic() + grace;
	int left = 0, st = 0;
	sigset_t old;

	if (child->pid) {
		old = proc_hold_signals();
		if (!leader_ended(child->pid, NULL))
			kill(-child->pid, SIGTERM);
		while (!leader_ended(child->pid, NULL) && num_monotonic() < until)
			proc_sleep(NULL, 0, MIN(0.1, grace));
		while (!leader_ended(child->pid, NULL)) {
			session_sweep(child->pid, SIGKILL, &child->usage);
			proc_sleep(NULL, 0, 0.1);
		}
		left = leader_reap(child->pid, &st, &child->usage);
		proc_release_signals(&old);
		child->pid = 0;
		if (status)
			*status = st;
	}
	close_fd(&child->out_fd);
	close_fd(&child->err_fd);
	return left;
}

bool proc_port_open(int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd pfd = {fd, POLLOUT, 0};
	int code = 0;
	socklen_t len = sizeof(code);

	if (fd < 0)
		return false;
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return true;
	if (errno != EINPROGRESS)
		return false;
	/* A listener whose queue is full answers nothing: still one that has the port. */
	if (poll(&pfd, 1, 1000) <= 0)
		return true;
	return !getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) && !code;
}

void proc_describe(const struct proc_result *r, struct strbuf *out)
{
	const char *name;

	if (r->interrupted)
		strbuf_adds(out, "interrupted");
	else if (!r->started)
		strbuf_addf(out, "not started: %s", strerror(r->start_errno));
	else if (r->timed_out)
		strbuf_adds(out, "deadline");
	else if (r->output_full)
		strbuf_adds(out, "too much output");
	else if (!r->signal)
		strbuf_addf(out, "exit %d", r->exit_status);
	else if ((name = sigabbrev_np(r->signal)))
		strbuf_addf(out, "killed by SIG%s", name);
	else
		strbuf_addf(out, "killed by signal %d", r->signal);
}
