// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine of the monitors: opens, reads, keeps what was read, writes the log. */
#include "machine/monitor_values.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/num.h"
#include "machine/rooted.h"

enum {
	MAX_FILES = 65536,   /* 1024 CPUs with 10 idle states and two files each are 20480 */
	MAX_OPEN = 4096,     /* descriptors kept; further files are opened for each reading */
	OTHERS_OPEN = 1024,  /* descriptors left to the rest of the program */
	FIRST_BUFFER = 65536,
	MAX_BUFFER = 16 << 20, /* of one file; an endless one is cut and left out */
	CPU_SET_CPUS = 4096,
};

#define CLOCK_STEP 0.01 /* seconds; less may be that the two clocks are not read at once */

struct file {
	const struct monitor *ops;
	struct monitor_file public;
	int fd;	    /* -1: opened for each reading */
	off_t from; /* of a log: where it ended before the run */
	bool broken;
	struct monitor_order order;
};

struct monitors {
	struct arena *a;
	const char *root;
	double interval;
	cpu_set_t *cpus; /* the thread may use; NULL: all */
	ARRAY_OF(const struct monitor *) used;
	ARRAY_OF(struct file) files;
	int first_fd, end_fd; /* range that descriptors are kept in, all of them above others' */
	struct monitor_values values;
	char *buffer;
	size_t buffer_size;
	ARRAY_OF(char *) notes;
	double began, cpu; /* seconds; cpu: spent so far */
	double clock;	   /* by how much the wall clock is ahead of the monotonic one */
	pthread_t thread;
	bool running, stop;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

static double thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Both clocks are slewed alike: only setting the wall clock changes how far it is ahead. */
static double wall_ahead(void)
{
	struct timespec t;
	double mono = num_monotonic();

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9 - mono;
}

/* ---- files ---- */

static void note(struct monitors *m, const char *fmt, ...) _printf_(2, 3);
static void note(struct monitors *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*ARRAY_PUSH(&m->notes) = arena_vprintf(m->a, fmt, ap);
	va_end(ap);
}

/*
 * Reads a file from a place to its end into the buffer; -EFBIG: it has none. A record of the
 * kernel's log that was overwritten meanwhile is -EPIPE, and the next one follows.
 */
static ssize_t read_all(struct monitors *m, int fd, const struct monitor *ops, off_t from)
{
	size_t len = 0;
	ssize_t n;

	for (;;) {
		if (len == m->buffer_size) {
			if (m->buffer_size >= MAX_BUFFER)
				return -EFBIG;
			m->buffer_size *= 2;
			m->buffer = mem_realloc_array(m->buffer, m->buffer_size, 1);
		}
		n = ops->is_log ? read(fd, m->buffer + len, m->buffer_size - len)
				: pread(fd, m->buffer + len, m->buffer_size - len,
					from + (off_t)len);
		if (n > 0)
			len += (size_t)n;
		if (n == 0 || (n > 0 && ops->is_short) || (n < 0 && errno == EAGAIN))
			return (ssize_t)len;
		if (n < 0 && errno != EINTR && !(ops->is_log && errno == EPIPE))
			return -errno;
	}
}

static void read_file(struct monitors *m, struct file *f)
{
	struct monitor_sink sink = {&m->values, &f->order, 0};
	int fd = f->fd >= 0 ? f->fd : rooted_open(m->root, f->public.path, false);
	ssize_t n;

	n = fd < 0 ? fd : read_all(m, fd, f->ops, f->from);
	if (f->fd < 0 && fd >= 0)
		close(fd);
	if (n >= 0) {
		f->ops->read(&sink, &f->public, (struct span){m->buffer, (size_t)n});
		return;
	}
	/* A CPU taken offline takes its files along; what never ends is not asked again. */
	f->broken = n == -EFBIG;
	if (f->broken)
		note(m, "%s: more than %d MiB, left out", f->public.path, MAX_BUFFER >> 20);
}

/* what: all files, those sampled at every tick, or the logs and all the rest at the end */
enum reading { READ_FIRST, READ_TICK, READ_LAST };

static void snapshot(struct monitors *m, enum reading what)
{
	double before = thread_cpu();
	struct file *f;

	monitor_values_begin(&m->values, what == READ_FIRST);
	array_for_each (f, &m->files) {
		if (f->broken || (what == READ_TICK && !f->ops->sampled) ||
		    (what != READ_LAST && f->ops->is_log))
			continue;
		read_file(m, f);
	}
	if (what != READ_LAST)
		monitor_values_settle(&m->values);
	m->cpu += thread_cpu() - before;
}

/*
 * Descriptors stay open above what the rest of the program needs. The limit is raised only while
 * they are opened, since benchmarks inherit it; what is open above it stays so.
 */
static void raise_limit(struct monitors *m, struct rlimit *old)
{
	struct rlimit more;

	getrlimit(RLIMIT_NOFILE, old);
	more = *old;
	m->first_fd = (int)MIN(old->rlim_cur, OTHERS_OPEN);
	m->end_fd = (int)MIN(old->rlim_max, (rlim_t)m->first_fd + MAX_OPEN);
	more.rlim_cur = MAX(old->rlim_cur, (rlim_t)m->end_fd);
	if (setrlimit(RLIMIT_NOFILE, &more))
		m->end_fd = m->first_fd;
}

/* Keeps a descriptor open; -1: there is no room, it is opened for each reading. */
static int keep_open(struct monitors *m, int fd)
{
	int high = m->first_fd < m->end_fd ? fcntl(fd, F_DUPFD_CLOEXEC, m->first_fd) : -1;

	if (high >= 0)
		m->first_fd = high + 1;
	close(fd);
	return high;
}

static void add_file(struct monitors *m, const struct monitor *ops, const char *path)
{
	struct file f = {.ops = ops, .fd = -1, .public = {.path = path, .label = ""}};
	int fd;

	if (ops->label && !(f.public.label = ops->label(m->a, m->root, path)))
		return;
	fd = rooted_open(m->root, path, ops->is_log);
	if (fd < 0) {
		note(m, "%s: %s", path, fd == -EINVAL ? "not a file" : strerror(-fd));
		return;
	}
	if (ops->is_log)
		f.from = lseek(fd, 0, SEEK_END);
	f.fd = ops->is_log ? fd : keep_open(m, fd);
	*ARRAY_PUSH(&m->files) = f;
}

static void find_files(struct monitors *m, const struct monitor *ops, const char *pattern)
{
	size_t n, i;
	char **paths = rooted_glob(m->a, m->root, pattern, MAX_FILES - m->files.n, &n);

	for (i = 0; i < n; i++)
		add_file(m, ops, paths[i]);
	if (!n)
		note(m, "%s: %s is not there", ops->name, pattern);
}

/* ---- the set ---- */

const struct monitor *monitor_find(const char *name)
{
	const struct monitor *const *p;

	registry_for_each (monitor, p)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

static const char *const *names_of(struct arena *a, bool standard)
{
	size_t n = (size_t)(__stop_reg_monitor - __start_reg_monitor), i = 0;
	const char **names = arena_alloc_array(a, n + 1, sizeof(*names));
	const struct monitor *const *p;

	registry_for_each (monitor, p)
		if (!standard || (*p)->standard)
			names[i++] = (*p)->name;
	qsort(names, i, sizeof(*names), str_compare);
	return names;
}

const char *const *monitor_names(struct arena *a)
{
	return names_of(a, false);
}

const char *const *monitor_standard(struct arena *a)
{
	return names_of(a, true);
}

const struct monitor *const *monitor_programs(struct arena *a, const char *const *names)
{
	const struct monitor **list, *m;
	size_t n = 0;

	while (names && names[n])
		n++;
	list = arena_alloc_array(a, n + 1, sizeof(*list));
	for (n = 0; names && *names; names++) {
		m = monitor_find(*names);
		if (m && m->program)
			list[n++] = m;
	}
	return list;
}

static int choose(struct monitors *m, const char *const *names, struct err *e)
{
	const char *near;

	if (!names)
		names = monitor_standard(m->a);
	for (; *names; names++) {
		const struct monitor *ops = monitor_find(*names);

		if (ops) {
			*ARRAY_PUSH(&m->used) = ops;
			continue;
		}
		err_add(e, -EINVAL, "there is no monitor '%s'", *names);
		near = str_suggest(*names, monitor_names(m->a));
		if (near)
			err_hint(e, "did you mean '%s'?", near);
		return -EINVAL;
	}
	return 0;
}

/* The CPUs this process may use less those of the run; NULL where none is left. */
static cpu_set_t *spare_cpus(struct arena *a, const char *cpus)
{
	size_t size = CPU_ALLOC_SIZE(CPU_SET_CPUS);
	cpu_set_t *set = arena_alloc(a, size);
	struct span rest = span_of(cpus);
	int64_t first, last;

	if (sched_getaffinity(0, size, set))
		return NULL;
	while (rest.len) {
		if (!num_next_range(&rest, &first, &last, NULL))
			return NULL;
		for (; first <= last && first < CPU_SET_CPUS; first++)
			CPU_CLR_S((size_t)first, size, set);
	}
	return CPU_COUNT_S(size, set) ? set : NULL;
}

int monitors_open(const struct monitor_options *opt, struct monitors **out, struct err *e)
{
	struct monitors *m = mem_zalloc(sizeof(*m));
	const struct monitor **ops;
	const char *const *path;
	struct rlimit limit;
	struct file *f;
	int ret;

	m->a = arena_new();
	m->root = arena_strdup(m->a, opt->root ? opt->root : "");
	m->interval = opt->interval > 0 ? opt->interval : 1;
	m->buffer_size = FIRST_BUFFER;
	m->buffer = mem_alloc(m->buffer_size);
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->wake, NULL);
	ret = choose(m, opt->names, e);
	if (ret) {
		monitors_close(m);
		return ret;
	}
	if (opt->cpus)
		m->cpus = spare_cpus(m->a, opt->cpus);
	raise_limit(m, &limit);
	array_for_each (ops, &m->used)
		for (path = (*ops)->paths; path && *path; path++)
			find_files(m, *ops, *path);
	setrlimit(RLIMIT_NOFILE, &limit);
	array_for_each (f, &m->files)
		f->public.per_cpu = opt->per_cpu;
	*out = m;
	return 0;
}

void monitors_sample(struct monitors *m)
{
	snapshot(m, READ_TICK);
}

/* Ticks at whole multiples of the interval from the beginning, whatever a sample takes. */
static void *sample_on(void *data)
{
	struct monitors *m = data;
	struct timespec until;
	bool stop = false;

	if (m->cpus)
		sched_setaffinity(0, CPU_ALLOC_SIZE(CPU_SET_CPUS), m->cpus);
	clock_gettime(CLOCK_MONOTONIC, &until);
	while (!stop) {
		until.tv_sec += (time_t)m->interval;
		until.tv_nsec += (long)(fmod(m->interval, 1) * 1e9);
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_mutex_lock(&m->lock);
		while (!m->stop && pthread_cond_clockwait(&m->wake, &m->lock, CLOCK_MONOTONIC,
							  &until) != ETIMEDOUT)
			;
		stop = m->stop;
		pthread_mutex_unlock(&m->lock);
		if (!stop)
			snapshot(m, READ_TICK);
	}
	return NULL;
}

static bool has_sampled(const struct monitors *m)
{
	const struct file *f;

	array_for_each (f, &m->files)
		if (f->ops->sampled)
			return true;
	return false;
}

void monitors_begin(struct monitors *m)
{
	sigset_t all, old;

	snapshot(m, READ_FIRST);
	m->began = num_monotonic();
	m->clock = wall_ahead();
	m->stop = false;
	if (!has_sampled(m))
		return;
	/* Signals are for the thread that runs the benchmark. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	m->running = !pthread_create(&m->thread, NULL, sample_on, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!m->running)
		note(m, "no thread could be started: states were read before and after only");
}

static void stop_thread(struct monitors *m)
{
	if (!m->running)
		return;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	m->running = false;
}

void monitors_end(struct monitors *m, const struct rusage *usage, double elapsed,
		  struct strbuf *log)
{
	struct monitor_sink sink = {&m->values, NULL, 0};
	double seconds = num_monotonic() - m->began, step = fabs(wall_ahead() - m->clock);
	const struct monitor **ops;
	char **text;

	stop_thread(m);
	snapshot(m, READ_LAST);
	array_for_each (ops, &m->used)
		if (usage && (*ops)->usage)
			(*ops)->usage(&sink, usage, elapsed > 0 ? elapsed : seconds);
	if (step > CLOCK_STEP)
		monitor_add(&sink, MONITOR_EVENT, "time", span_of("clock_step"), MONITOR_NO_TAIL,
			    step);
	monitor_values_settle(&m->values);
	strbuf_adds(log, "kdelta-monitors 1\nelapsed ");
	num_add_exact(log, seconds);
	strbuf_adds(log, "\nself ");
	num_add_exact(log, m->cpu);
	strbuf_addc(log, '\n');
	monitor_values_log(&m->values, log);
	if (m->values.lost)
		note(m, "%zu values left out: too many names", m->values.lost);
	array_for_each (text, &m->notes)
		strbuf_addf(log, "note %s\n", *text);
}

void monitors_close(struct monitors *m)
{
	struct file *f;

	if (!m)
		return;
	stop_thread(m);
	array_for_each (f, &m->files) {
		if (f->fd >= 0)
			close(f->fd);
		free(f->order.slots);
	}
	monitor_values_release(&m->values);
	free(m->buffer);
	ARRAY_FREE(&m->files);
	ARRAY_FREE(&m->used);
	ARRAY_FREE(&m->notes);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	arena_free(m->a);
	free(m);
}
