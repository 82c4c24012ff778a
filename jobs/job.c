// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/num.h"
#include "jobs/beside.h"
#include "jobs/count.h"
#include "machine/monitor.h"

#define SERVER_PATIENCE 30.0 /* seconds until a started server must accept; a guest may be slow */
#define SERVER_GRACE	2.0

static void result_fail(struct job_result *r, const char *error, const char *fmt, ...)
	_printf_(3, 4);
static void result_fail(struct job_result *r, const char *error, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	free(r->message);
	r->error = job_error_find(span_of(error));
	r->message = strbuf_take(&sb);
}

/*
 * Inode of the socket that listens on a port, 0 if none is found. A line of /proc/net/tcp:
 *   0: 0100007F:1B5B 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 31337 1 ...
 */
static int64_t listener_inode(const char *path, int port)
{
	_cleanup_free_ char *wanted = mem_printf(":%04X", (unsigned int)port), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t alloc = 0;
	int64_t inode = 0;

	while (f && !inode && getline(&line, &alloc, f) > 0) {
		struct span rest = span_of(line), word[10];
		size_t n = 0;

		while (n < ARRAY_SIZE(word) && span_next_word(&rest, &word[n]))
			n++;
		if (n == ARRAY_SIZE(word) && span_is(word[3], "0A") && word[1].len > 5 &&
		    !memcmp(word[1].s + word[1].len - 5, wanted, 5))
			num_parse_int(word[9], &inode);
	}
	if (f)
		fclose(f);
	return inode;
}

static bool process_holds(const char *pid, const char *socket)
{
	_cleanup_free_ char *dir = mem_printf("/proc/%s/fd", pid);
	DIR *d = opendir(dir);
	struct dirent *de;
	bool found = false;

	while (d && !found && (de = readdir(d))) {
		char target[64];
		ssize_t n = readlinkat(dirfd(d), de->d_name, target, sizeof(target) - 1);

		if (n > 0) {
			target[n] = '\0';
			found = !strcmp(target, socket);
		}
	}
	if (d)
		closedir(d);
	return found;
}

/* Adds " by tbench_srv (pid 17)" if /proc tells who listens on the port. */
static void add_listener(struct strbuf *sb, int port)
{
	int64_t inode = listener_inode("/proc/net/tcp", port);
	_cleanup_free_ char *socket = NULL;
	DIR *d = opendir("/proc");
	struct dirent *de;

	if (!inode)
		inode = listener_inode("/proc/net/tcp6", port);
	socket = mem_printf("socket:[%lld]", (long long)inode);
	while (inode && d && (de = readdir(d))) {
		_cleanup_free_ char *path = mem_printf("/proc/%s/comm", de->d_name);
		char name[32] = "";
		int64_t pid;
		FILE *f;

		if (!num_parse_int(span_of(de->d_name), &pid) || !process_holds(de->d_name, socket))
			continue;
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		if (f)
			fclose(f);
		strbuf_addf(sb, " by %s (pid %lld)", name, (long long)pid);
		break;
	}
	if (d)
		closedir(d);
}

struct server {
	const struct job *job;
	struct beside program;
};

static struct proc_spec spec_of(const struct job *job, const char *const *argv)
{
	return (struct proc_spec){.argv = argv,
				  .env = job->env,
				  .dir = job->dir,
				  .cpus = job->cpus,
				  .policy = job->policy,
				  .nice = job->nice,
				  .deadline = job->deadline,
				  .nofile = job->nofile};
}

/* Waits until the server accepts connections; false if it never will. */
static bool server_wait(struct server *s)
{
	double until = num_monotonic() + SERVER_PATIENCE;

	while (!proc_poll(&s->program.child, NULL) && !proc_interrupted()) {
		if (proc_port_open(s->job->port))
			return true;
		if (num_monotonic() > until)
			return false;
		usleep(10000);
	}
	return false;
}

static void server_start(struct server *s, struct job_result *r)
{
	const struct job *job = s->job;
	struct proc_spec spec = spec_of(job, job->server);
	_cleanup_strbuf_ struct strbuf who = STRBUF_INIT;
	struct err why = ERR_INIT;

	if (job->port && proc_port_open(job->port)) {
		add_listener(&who, job->port);
		result_fail(r, "port_in_use", "port %d, which %s needs, is taken%s", job->port,
			    job->server[0], strbuf_str(&who));
		return;
	}
	if (beside_start(&spec, &s->program, &why)) {
		result_fail(r, "server_failed", "%s", err_text(&why));
		err_release(&why);
		return;
	}
	if (job->port && !server_wait(s)) {
		if (proc_interrupted())
			r->proc.interrupted = true;
		else if (proc_poll(&s->program.child, NULL))
			result_fail(r, "server_failed", "%s ended at once", job->server[0]);
		else
			result_fail(r, "server_failed", "%s did not accept on port %d in %.0f s",
				    job->server[0], job->port, SERVER_PATIENCE);
	}
}

/* The last line of what a failed program said, for messages. */
static struct span last_line(const struct proc_result *p)
{
	const struct strbuf *sb = p->err.len ? &p->err : &p->out;
	struct span s = span_trim((struct span){sb->buf, sb->len});
	const char *nl = s.len ? memrchr(s.s, '\n', s.len) : NULL;

	return nl ? (struct span){nl + 1, s.len - (size_t)(nl + 1 - s.s)} : s;
}

static int run_prepare(const struct job *job, struct job_result *r, struct err *e)
{
	struct proc_spec spec = spec_of(job, job->prepare);
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct proc_result p;
	int code;

	/* what is measured has the policy, not what comes before */
	spec.policy = NULL;
	spec.nice = 0;
	code = proc_run(&spec, &p, e);
	if (!code && p.interrupted) {
		r->proc.interrupted = true;
	} else if (!code && (!p.started || p.exit_status != 0)) {
		struct span said = last_line(&p);

		proc_describe(&p, &how);
		result_fail(r, "prepare_failed", "%s: %s%s%.*s", job->prepare[0], how.buf,
			    said.len ? ": " : "", (int)MIN(said.len, 500), said.s);
	}
	proc_result_release(&p);
	return code;
}

static void drop_caches(struct job_result *r)
{
	int fd;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3\n", 2) != 2)
		result_fail(r, "prepare_failed", "cannot drop the page cache: %s%s",
			    strerror(errno), geteuid() ? " (it needs root)" : "");
	if (fd >= 0)
		close(fd);
}

static bool server_watch(void *data, const struct strbuf *out, const struct strbuf *err)
{
	struct server *s = data;

	(void)out, (void)err;
	return proc_poll(&s->program.child, NULL);
}

static int open_monitors(const struct job *job, struct monitors **m, struct err *e)
{
	const struct monitor_options opt = {
		.names = job->monitors,
		.interval = job->monitor_interval,
		.per_cpu = job->monitor_per_cpu,
		.cpus = job->cpus,
	};

	return job->monitors ? monitors_open(&opt, m, e) : 0;
}

/* The program, watched from just before to just after it. */
static int run_watched(const struct job *job, const struct proc_spec *spec, struct job_result *r,
		       struct err *e)
{
	struct monitors *m = NULL;
	struct watchers w;
	int code = open_monitors(job, &m, e);

	if (code)
		return code;
	watchers_start(job->monitors, &w);
	if (m)
		monitors_begin(m);
	code = proc_run(spec, &r->proc, e);
	watchers_ask(&w);
	if (m)
		monitors_end(m, &r->proc.usage, r->proc.elapsed, &r->monitors);
	monitors_close(m);
	watchers_stop(&w, &r->monitors);
	return code;
}

static int run_argv(const struct job *job, struct server *s, struct job_result *r, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct proc_spec spec = spec_of(job, job->argv);
	const char *report = NULL;
	int code;

	if (job->count)
		spec.argv = count_wrap(a, job->argv, &report);
	if (job->server) {
		spec.watch = server_watch;
		spec.watch_data = s;
	}
	code = run_watched(job, &spec, r, e);
	if (report && !count_take(report, &r->count) && !code && !r->proc.interrupted &&
	    !r->proc.timed_out)
		result_fail(r, "no_count", "%s left no count", spec.argv[0]);
	if (code || r->proc.interrupted)
		return code;
	if (!r->proc.started)
		result_fail(r, "not_found", "%s: %s", job->argv[0],
			    r->proc.start_errno == ENOENT ? "no such program"
							  : strerror(r->proc.start_errno));
	else if (job->server && proc_poll(&s->program.child, NULL))
		result_fail(r, "server_lost", "%s ended during the run", job->server[0]);
	return 0;
}

static const char *const *command_without_path(struct arena *a, const char *const *argv)
{
	const char **copy, *slash;
	size_t n = 0;

	if (!argv)
		return NULL;
	while (argv[n])
		n++;
	copy = arena_copy(a, argv, n + 1, sizeof(*argv));
	slash = strrchr(copy[0], '/');
	if (slash)
		copy[0] = slash + 1;
	return copy;
}

struct job job_without_paths(struct arena *a, const struct job *job)
{
	struct job copy = *job;

	copy.argv = command_without_path(a, job->argv);
	copy.server = command_without_path(a, job->server);
	copy.prepare = command_without_path(a, job->prepare);
	return copy;
}

int job_run(const struct job *job, struct job_result *result, struct err *e)
{
	struct server s = {.job = job, .program = BESIDE_INIT};
	int r = 0;

	memset(result, 0, sizeof(*result));
	result->proc.exit_status = -1;
	if (job->server)
		server_start(&s, result);
	if (!r && !result->error && !result->proc.interrupted && job->prepare)
		r = run_prepare(job, result, e);
	if (!r && !result->error && !result->proc.interrupted && job->drop_caches)
		drop_caches(result);
	if (!r && !result->error && !result->proc.interrupted)
		r = run_argv(job, &s, result, e);
	if (job->server)
		beside_stop(&s.program, SERVER_GRACE, &result->server_output);
	return r;
}
