// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/num.h"
#include "machine/monitor.h"
#include "runner/count.h"

#define SERVER_PATIENCE 30.0 /* seconds until a started server must accept; a guest may be slow */
#define SERVER_GRACE	2.0
#define SERVER_OUTPUT	(1u << 20) /* bytes kept */
#define JOB_TEXT_MAX	(1u << 20)
#define LIST_MAX	4096 /* words of a command */

static const char *const job_errors[] = {"port_in_use",	  "not_found",	 "prepare_failed",
					 "server_failed", "server_lost", "no_count",
					 NULL};

static const char *job_error_find(struct span word)
{
	const char *const *p;

	for (p = job_errors; *p; p++) {
		if (span_is(word, *p))
			return *p;
	}
	return NULL;
}

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
	struct proc_child child;
	char *path; /* file its output goes to */
};

static char *server_output_file(struct err *e)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_printf("%s/kdelta-server.XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		err_add_errno(e, "cannot create %s", path);
		free(path);
		return NULL;
	}
	close(fd);
	return path;
}

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

	while (!proc_poll(&s->child, NULL) && !proc_interrupted()) {
		if (proc_port_open(s->job->port))
			return true;
		if (num_monotonic() > until)
			return false;
		usleep(10000);
	}
	return false;
}

static int server_start(struct server *s, struct job_result *r, struct err *e)
{
	const struct job *job = s->job;
	struct proc_spec spec = spec_of(job, job->server);
	_cleanup_strbuf_ struct strbuf who = STRBUF_INIT;
	struct err why = ERR_INIT;

	if (job->port && proc_port_open(job->port)) {
		add_listener(&who, job->port);
		result_fail(r, "port_in_use", "port %d, which %s needs, is taken%s", job->port,
			    job->server[0], strbuf_str(&who));
		return 0;
	}
	s->path = server_output_file(e);
	if (!s->path)
		return -EIO;
	if (proc_start(&spec, s->path, s->path, &s->child, &why)) {
		result_fail(r, "server_failed", "%s", err_text(&why));
		err_release(&why);
		return 0;
	}
	if (job->port && !server_wait(s)) {
		if (proc_interrupted())
			r->proc.interrupted = true;
		else if (proc_poll(&s->child, NULL))
			result_fail(r, "server_failed", "%s ended at once", job->server[0]);
		else
			result_fail(r, "server_failed", "%s did not accept on port %d in %.0f s",
				    job->server[0], job->port, SERVER_PATIENCE);
	}
	return 0;
}

static void server_stop(struct server *s, struct strbuf *output)
{
	char buf[4096];
	size_t n;
	FILE *f;

	proc_stop(&s->child, SERVER_GRACE, NULL);
	if (!s->path)
		return;
	f = fopen(s->path, "re");
	while (f && output->len < SERVER_OUTPUT && (n = fread(buf, 1, sizeof(buf), f)))
		strbuf_add(output, buf, n);
	if (f)
		fclose(f);
	unlink(s->path);
	free(s->path);
	s->path = NULL;
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
	return proc_poll(&s->child, NULL);
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

static int run_argv(const struct job *job, struct server *s, struct job_result *r, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct proc_spec spec = spec_of(job, job->argv);
	struct monitors *m = NULL;
	const char *report = NULL;
	int code;

	if (job->count)
		spec.argv = count_wrap(a, job->argv, &report);
	if (job->server) {
		spec.watch = server_watch;
		spec.watch_data = s;
	}
	code = open_monitors(job, &m, e);
	if (code)
		return code;
	if (m)
		monitors_begin(m);
	code = proc_run(&spec, &r->proc, e);
	if (m)
		monitors_end(m, &r->proc.usage, r->proc.elapsed, &r->monitors);
	monitors_close(m);
	if (report && !count_take(report, &r->count) && !code && !r->proc.interrupted &&
	    !r->proc.timed_out)
		result_fail(r, "no_count", "%s left no count", spec.argv[0]);
	if (code || r->proc.interrupted)
		return code;
	if (!r->proc.started)
		result_fail(r, "not_found", "%s: %s", job->argv[0],
			    r->proc.start_errno == ENOENT ? "no such program"
							  : strerror(r->proc.start_errno));
	else if (job->server && proc_poll(&s->child, NULL))
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
	struct server s = {.job = job, .child = {.out_fd = -1, .err_fd = -1}};
	int r = 0;

	memset(result, 0, sizeof(*result));
	result->proc.exit_status = -1;
	if (job->server)
		r = server_start(&s, result, e);
	if (!r && !result->error && !result->proc.interrupted && job->prepare)
		r = run_prepare(job, result, e);
	if (!r && !result->error && !result->proc.interrupted && job->drop_caches)
		drop_caches(result);
	if (!r && !result->error && !result->proc.interrupted)
		r = run_argv(job, &s, result, e);
	if (job->server)
		server_stop(&s, &result->server_output);
	return r;
}

void job_result_release(struct job_result *r)
{
	proc_result_release(&r->proc);
	strbuf_release(&r->server_output);
	strbuf_release(&r->monitors);
	strbuf_release(&r->count);
	free(r->message);
	r->message = NULL;
}

/* ---- text form: one table each drives both ways ---- */

enum field_kind {
	FIELD_TEXT,  /* const char *, NULL: absent */
	FIELD_OWNED, /* char * of malloc */
	FIELD_WORD,  /* one of job_errors */
	FIELD_LIST,  /* NULL-terminated list of texts, one record each */
	FIELD_BYTES, /* struct strbuf */
	FIELD_BOOL,
	FIELD_INT,
	FIELD_LONG,
	FIELD_U64,
	FIELD_SECONDS, /* double */
	FIELD_TIME,    /* struct timeval, as microseconds */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
};

static const struct field job_fields[] = {
	{"argv", FIELD_LIST, offsetof(struct job, argv)},
	{"env", FIELD_LIST, offsetof(struct job, env)},
	{"dir", FIELD_TEXT, offsetof(struct job, dir)},
	{"cpus", FIELD_TEXT, offsetof(struct job, cpus)},
	{"server", FIELD_LIST, offsetof(struct job, server)},
	{"port", FIELD_INT, offsetof(struct job, port)},
	{"prepare", FIELD_LIST, offsetof(struct job, prepare)},
	{"drop_caches", FIELD_BOOL, offsetof(struct job, drop_caches)},
	{"policy", FIELD_TEXT, offsetof(struct job, policy)},
	{"nice", FIELD_INT, offsetof(struct job, nice)},
	{"count", FIELD_BOOL, offsetof(struct job, count)},
	{"deadline", FIELD_SECONDS, offsetof(struct job, deadline)},
	{"nofile", FIELD_U64, offsetof(struct job, nofile)},
	{"monitors", FIELD_LIST, offsetof(struct job, monitors)},
	{"monitor_interval", FIELD_SECONDS, offsetof(struct job, monitor_interval)},
	{"monitor_per_cpu", FIELD_BOOL, offsetof(struct job, monitor_per_cpu)},
};

static const struct field result_fields[] = {
	{"error", FIELD_WORD, offsetof(struct job_result, error)},
	{"message", FIELD_OWNED, offsetof(struct job_result, message)},
	{"started", FIELD_BOOL, offsetof(struct job_result, proc.started)},
	{"start_errno", FIELD_INT, offsetof(struct job_result, proc.start_errno)},
	{"exit_status", FIELD_INT, offsetof(struct job_result, proc.exit_status)},
	{"signal", FIELD_INT, offsetof(struct job_result, proc.signal)},
	{"timed_out", FIELD_BOOL, offsetof(struct job_result, proc.timed_out)},
	{"interrupted", FIELD_BOOL, offsetof(struct job_result, proc.interrupted)},
	{"output_full", FIELD_BOOL, offsetof(struct job_result, proc.output_full)},
	{"leftovers", FIELD_INT, offsetof(struct job_result, proc.leftovers)},
	{"elapsed", FIELD_SECONDS, offsetof(struct job_result, proc.elapsed)},
	{"user", FIELD_TIME, offsetof(struct job_result, proc.usage.ru_utime)},
	{"sys", FIELD_TIME, offsetof(struct job_result, proc.usage.ru_stime)},
	{"maxrss", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_maxrss)},
	{"minflt", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_minflt)},
	{"majflt", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_majflt)},
	{"inblock", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_inblock)},
	{"oublock", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_oublock)},
	{"nvcsw", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_nvcsw)},
	{"nivcsw", FIELD_LONG, offsetof(struct job_result, proc.usage.ru_nivcsw)},
	{"stdout", FIELD_BYTES, offsetof(struct job_result, proc.out)},
	{"stderr", FIELD_BYTES, offsetof(struct job_result, proc.err)},
	{"server_output", FIELD_BYTES, offsetof(struct job_result, server_output)},
	{"monitors", FIELD_BYTES, offsetof(struct job_result, monitors)},
	{"count", FIELD_BYTES, offsetof(struct job_result, count)},
};

static void record_add(struct strbuf *out, const char *key, const void *data, size_t len)
{
	strbuf_addf(out, "%s %zu\n", key, len);
	strbuf_add(out, data, len);
	strbuf_addc(out, '\n');
}

static void record_add_text(struct strbuf *out, const char *key, const char *text)
{
	if (text)
		record_add(out, key, text, strlen(text));
}

static void record_add_int(struct strbuf *out, const char *key, int64_t v)
{
	_cleanup_free_ char *text = mem_printf("%lld", (long long)v);

	record_add_text(out, key, text);
}

static void field_encode(const struct field *f, const void *object, struct strbuf *out)
{
	const void *p = (const char *)object + f->offset;
	_cleanup_strbuf_ struct strbuf number = STRBUF_INIT;
	const char *const *item;

	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_OWNED:
	case FIELD_WORD:
		record_add_text(out, f->key, *(const char *const *)p);
		break;
	case FIELD_LIST:
		for (item = *(const char *const *const *)p; item && *item; item++)
			record_add_text(out, f->key, *item);
		break;
	case FIELD_BYTES:
		record_add(out, f->key, strbuf_str(p), ((const struct strbuf *)p)->len);
		break;
	case FIELD_BOOL:
		record_add_int(out, f->key, *(const bool *)p);
		break;
	case FIELD_INT:
		record_add_int(out, f->key, *(const int *)p);
		break;
	case FIELD_LONG:
		record_add_int(out, f->key, *(const long *)p);
		break;
	case FIELD_U64:
		record_add_int(out, f->key, (int64_t)MIN(*(const uint64_t *)p, INT64_MAX));
		break;
	case FIELD_SECONDS:
		num_add_exact(&number, *(const double *)p);
		record_add_text(out, f->key, number.buf);
		break;
	case FIELD_TIME:
		record_add_int(out, f->key,
			       ((const struct timeval *)p)->tv_sec * (int64_t)1000000 +
				       ((const struct timeval *)p)->tv_usec);
		break;
	}
}

static void fields_encode(const struct field *fields, size_t n, const void *object,
			  struct strbuf *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		field_encode(&fields[i], object, out);
	record_add(out, "end", "", 0);
}

/* Appends to an arena list that is grown at every power of two; false if it is too long. */
static bool list_append(struct arena *a, const char *const **list, const char *text)
{
	size_t n = 0;
	const char **grown;

	while (*list && (*list)[n])
		n++;
	if (n >= LIST_MAX)
		return false;
	if (!(n & (n + 1))) {
		grown = arena_alloc_array(a, 2 * n + 2, sizeof(*grown));
		if (n)
			memcpy(grown, *list, n * sizeof(*grown));
		*list = grown;
	}
	((const char **)(uintptr_t)*list)[n] = text;
	return true;
}

static bool parse_range(struct span value, int64_t min, int64_t max, int64_t *v)
{
	return num_parse_int(value, v) && *v >= min && *v <= max;
}

/* Numbers of a field; false if the value is none or out of its range. */
static bool number_decode(enum field_kind kind, void *p, struct span value)
{
	int64_t v;

	switch (kind) {
	case FIELD_BOOL:
		return parse_range(value, 0, 1, &v) && (*(bool *)p = v, true);
	case FIELD_INT:
		return parse_range(value, INT_MIN, INT_MAX, &v) && (*(int *)p = (int)v, true);
	case FIELD_LONG:
		return parse_range(value, LONG_MIN, LONG_MAX, &v) && (*(long *)p = v, true);
	case FIELD_U64:
		return parse_range(value, 0, INT64_MAX, &v) && (*(uint64_t *)p = (uint64_t)v, true);
	case FIELD_SECONDS:
		return num_parse(value, p) && *(double *)p >= 0;
	case FIELD_TIME:
		if (!parse_range(value, 0, INT64_MAX, &v))
			return false;
		*(struct timeval *)p = (struct timeval){v / 1000000, v % 1000000};
		return true;
	default:
		return false;
	}
}

static bool field_decode(const struct field *f, void *object, struct arena *a, struct span value)
{
	void *p = (char *)object + f->offset;
	const char **word = p;

	switch (f->kind) {
	case FIELD_BYTES:
		strbuf_reset(p);
		strbuf_add(p, value.s, value.len);
		return true;
	case FIELD_WORD:
		*word = job_error_find(value);
		return *word != NULL;
	case FIELD_TEXT:
	case FIELD_LIST:
	case FIELD_OWNED:
		if (memchr(value.s, '\0', value.len))
			return false;
		if (f->kind == FIELD_LIST)
			return list_append(a, p, arena_strndup(a, value.s, value.len));
		if (f->kind == FIELD_TEXT) {
			*word = arena_strndup(a, value.s, value.len);
		} else {
			free(*(char **)p);
			*(char **)p = mem_strndup(value.s, value.len);
		}
		return true;
	default:
		return number_decode(f->kind, p, value);
	}
}

/* Takes "key length\nbytes\n" off *rest. */
static bool record_next(struct span *rest, struct span *key, struct span *value)
{
	struct span line, number;
	bool complete;
	int64_t len;

	if (!span_next_line(rest, &line, &complete) || !complete)
		return false;
	if (!span_next_word(&line, key) || !span_next_word(&line, &number))
		return false;
	if (!num_parse_int(number, &len) || len < 0 || (uint64_t)len >= rest->len ||
	    rest->s[len] != '\n')
		return false;
	*value = (struct span){rest->s, (size_t)len};
	rest->s += len + 1;
	rest->len -= (size_t)len + 1;
	return true;
}

static int fields_decode(const struct field *fields, size_t n, struct span text, void *object,
			 struct arena *a, struct err *e)
{
	struct span rest = text, key, value;
	size_t i;

	while (record_next(&rest, &key, &value)) {
		if (span_is(key, "end") && !value.len && !rest.len)
			return 0;
		for (i = 0; i < n && !span_is(key, fields[i].key); i++)
			;
		if (i == n || !field_decode(&fields[i], object, a, value))
			break;
	}
	return err_add(e, -EBADMSG, "damaged message: %zu of %zu bytes make sense",
		       text.len - rest.len, text.len);
}

void job_encode(const struct job *job, struct strbuf *out)
{
	fields_encode(job_fields, ARRAY_SIZE(job_fields), job, out);
}

int job_decode(struct arena *a, struct span text, struct job *job, struct err *e)
{
	int r;

	memset(job, 0, sizeof(*job));
	if (text.len > JOB_TEXT_MAX)
		return err_add(e, -E2BIG, "a job of %zu bytes is too large", text.len);
	r = fields_decode(job_fields, ARRAY_SIZE(job_fields), text, job, a, e);
	if (!r && !job->argv)
		r = err_add(e, -EBADMSG, "damaged message: a job without a command");
	return r;
}

void job_result_encode(const struct job_result *r, struct strbuf *out)
{
	fields_encode(result_fields, ARRAY_SIZE(result_fields), r, out);
}

int job_result_decode(struct span text, struct job_result *r, struct err *e)
{
	int code;

	memset(r, 0, sizeof(*r));
	code = fields_decode(result_fields, ARRAY_SIZE(result_fields), text, r, NULL, e);
	if (code) {
		job_result_release(r);
		memset(r, 0, sizeof(*r));
	}
	return code;
}
