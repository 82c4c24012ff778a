// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine of the monitors: opens, reads, keeps what was read, writes the log. */
#include "machine/monitor.h"

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
	MAX_SLOTS = 32768,   /* names; what comes after them is counted only */
	MAX_FILES = 65536,   /* 1024 CPUs with 10 idle states and two files each are 20480 */
	MAX_OPEN = 4096,     /* descriptors kept; further files are opened for each reading */
	OTHERS_OPEN = 1024,  /* descriptors left to the rest of the program */
	MAX_NAME = 160,	     /* bytes */
	FIRST_BUFFER = 65536,
	MAX_BUFFER = 16 << 20, /* of one file; an endless one is cut and left out */
	CPU_SET_CPUS = 4096,
};

#define CLOCK_STEP 0.01 /* seconds; less may be that the two clocks are not read at once */

const char *const monitor_kind_names[] = {"counter", "rate",  "share", "stall", "gauge",
					  "level",   "value", "event", NULL};

struct slot {
	char *name;
	uint64_t hash;
	enum monitor_kind kind;
	unsigned int epoch;   /* snapshot that the two below are of */
	double value;
	double parts;	      /* how many values were added up in it */
	bool has_first;
	double first, last;   /* of the first and the last snapshot */
	double n, sum, min, max; /* over the samples */
};

struct file {
	const struct monitor *ops;
	struct monitor_file public;
	int fd;	    /* -1: opened for each reading */
	off_t from; /* of a log: where it ended before the run */
	bool broken;
	int *slots; /* of the values in the order they came last time */
	size_t n_slots, alloc;
};

struct monitor_sink {
	struct monitors *m;
	struct file *file;
	size_t at; /* number of the value within the file */
};

struct monitors {
	struct arena *a;
	const char *root;
	double interval;
	cpu_set_t *cpus; /* the thread may use; NULL: all */
	ARRAY_OF(const struct monitor *) used;
	ARRAY_OF(struct file) files;
	int first_fd, end_fd; /* range that descriptors are kept in, all of them above others' */
	struct slot *slots;
	size_t n_slots, alloc;
	int *table; /* hash table of slot indexes, -1: free; a power of two */
	size_t table_size;
	size_t lost; /* values without a slot */
	unsigned int epoch;
	bool first;	/* the snapshot going on is that before the run */
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

/* ---- values ---- */

bool monitor_number(struct span *s, double *v)
{
	uint64_t n = 0;
	size_t i;

	span_skip_blanks(s);
	for (i = 0; i < s->len && s->s[i] >= '0' && s->s[i] <= '9'; i++) {
		if (n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(s->s[i] - '0');
	}
	if (!i)
		return false;
	span_skip(s, i);
	*v = (double)n;
	return true;
}

/* Appends a part of a name, of printable characters only. */
static size_t join(char *name, size_t len, struct span part)
{
	size_t i;

	if (part.len && len && len < MAX_NAME)
		name[len++] = '.';
	for (i = 0; i < part.len && len < MAX_NAME; i++)
		name[len++] = part.s[i] > ' ' && part.s[i] < 0x7f ? part.s[i] : '_';
	return len;
}

static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	while (len--)
		h = (h ^ (unsigned char)*name++) * 0x100000001b3u;
	return h;
}

static void table_put(struct monitors *m, int index)
{
	size_t at = (size_t)m->slots[index].hash & (m->table_size - 1);

	while (m->table[at] >= 0)
		at = (at + 1) & (m->table_size - 1);
	m->table[at] = index;
}

static void table_grow(struct monitors *m)
{
	size_t i;

	m->table_size = m->table_size ? 2 * m->table_size : 1024;
	m->table = mem_realloc_array(m->table, m->table_size, sizeof(*m->table));
	for (i = 0; i < m->table_size; i++)
		m->table[i] = -1;
	for (i = 0; i < m->n_slots; i++)
		table_put(m, (int)i);
}

static bool slot_is(const struct slot *s, const char *name, size_t len)
{
	return !strncmp(s->name, name, len) && !s->name[len];
}

/* The slot of a name, a new one where there is none; -1: there are too many. */
static int slot_find(struct monitors *m, enum monitor_kind kind, const char *name, size_t len)
{
	uint64_t hash = hash_of(name, len);
	size_t at;
	struct slot *s;

	if (2 * (m->n_slots + 1) > m->table_size)
		table_grow(m);
	for (at = (size_t)hash & (m->table_size - 1); m->table[at] >= 0;
	     at = (at + 1) & (m->table_size - 1))
		if (m->slots[m->table[at]].hash == hash &&
		    slot_is(&m->slots[m->table[at]], name, len))
			return m->table[at];
	if (m->n_slots >= MAX_SLOTS)
		return -1;
	m->slots = mem_array_grow(m->slots, m->n_slots, &m->alloc, sizeof(*m->slots));
	s = &m->slots[m->n_slots++];
	*s = (struct slot){.name = mem_strndup(name, len), .hash = hash, .kind = kind};
	m->table[at] = (int)(m->n_slots - 1);
	return m->table[at];
}

/* Values come in the same order at every reading, so the slot is mostly where it was. */
static int slot_of(struct monitor_sink *s, enum monitor_kind kind, const char *name, size_t len)
{
	struct monitors *m = s->m;
	struct file *f = s->file;
	size_t at = s->at++;
	int index;

	if (!f)
		return slot_find(m, kind, name, len);
	if (at < f->n_slots && f->slots[at] >= 0 && slot_is(&m->slots[f->slots[at]], name, len))
		return f->slots[at];
	index = slot_find(m, kind, name, len);
	if (at < f->n_slots) {
		f->slots[at] = index;
	} else if (at < MAX_SLOTS) {
		f->slots = mem_array_grow(f->slots, f->n_slots, &f->alloc, sizeof(*f->slots));
		f->slots[f->n_slots++] = index;
	}
	return index;
}

void monitor_add(struct monitor_sink *s, enum monitor_kind kind, const char *head,
		 struct span middle, struct span tail, double v)
{
	struct monitors *m = s->m;
	char name[MAX_NAME + 1];
	struct slot *slot;
	size_t len;
	int index;

	if (!isfinite(v) || v < 0)
		return;
	len = join(name, 0, span_of(head));
	len = join(name, len, middle);
	len = join(name, len, tail);
	index = slot_of(s, kind, name, len);
	if (index < 0) {
		m->lost++;
		return;
	}
	slot = &m->slots[index];
	if (slot->epoch != m->epoch)
		slot->value = slot->parts = 0;
	slot->epoch = m->epoch;
	slot->value += v;
	slot->parts++;
}

/* The snapshot is whole: each value is a sample, the first one of a counter where it began. */
static void settle(struct monitors *m)
{
	size_t i;

	for (i = 0; i < m->n_slots; i++) {
		struct slot *s = &m->slots[i];
		double v = s->kind == MONITOR_LEVEL && s->parts > 0 ? s->value / s->parts : s->value;

		if (s->epoch != m->epoch)
			continue;
		if (m->first) {
			s->first = v;
			s->has_first = true;
		}
		s->last = v;
		s->min = s->n > 0 ? MIN(s->min, v) : v;
		s->max = s->n > 0 ? MAX(s->max, v) : v;
		s->sum += v;
		s->n++;
	}
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
	struct monitor_sink sink = {m, f, 0};
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

	m->epoch++;
	m->first = what == READ_FIRST;
	array_for_each (f, &m->files) {
		if (f->broken || (what == READ_TICK && !f->ops->sampled) ||
		    (what != READ_LAST && f->ops->is_log))
			continue;
		read_file(m, f);
	}
	if (what != READ_LAST)
		settle(m);
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

static int compare_words(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *const *names_of(struct arena *a, bool standard)
{
	size_t n = (size_t)(__stop_reg_monitor - __start_reg_monitor), i = 0;
	const char **names = arena_alloc_array(a, n + 1, sizeof(*names));
	const struct monitor *const *p;

	registry_for_each (monitor, p)
		if (!standard || (*p)->standard)
			names[i++] = (*p)->name;
	qsort(names, i, sizeof(*names), compare_words);
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

/* ---- the log ---- */

static void log_number(struct strbuf *log, double v)
{
	strbuf_addc(log, ' ');
	num_add_exact(log, v);
}

static bool is_difference(enum monitor_kind kind)
{
	return kind <= MONITOR_STALL;
}

static void log_slot(struct strbuf *log, const struct slot *s)
{
	strbuf_addf(log, "%s %s", monitor_kind_names[s->kind], s->name);
	switch (s->kind) {
	case MONITOR_COUNTER:
	case MONITOR_RATE:
	case MONITOR_SHARE:
	case MONITOR_STALL:
		log_number(log, s->first);
		log_number(log, s->last);
		break;
	case MONITOR_GAUGE:
	case MONITOR_LEVEL:
		log_number(log, s->n);
		log_number(log, s->sum / s->n);
		log_number(log, s->min);
		log_number(log, s->max);
		break;
	case MONITOR_VALUE:
	case MONITOR_EVENT:
		log_number(log, s->last);
		break;
	}
	strbuf_addc(log, '\n');
}

void monitors_end(struct monitors *m, const struct rusage *usage, double elapsed,
		  struct strbuf *log)
{
	struct monitor_sink sink = {m, NULL, 0};
	double seconds = num_monotonic() - m->began, step = fabs(wall_ahead() - m->clock);
	const struct monitor **ops;
	char **text;
	size_t i;

	stop_thread(m);
	snapshot(m, READ_LAST);
	array_for_each (ops, &m->used)
		if (usage && (*ops)->usage)
			(*ops)->usage(&sink, usage, elapsed > 0 ? elapsed : seconds);
	if (step > CLOCK_STEP)
		monitor_add(&sink, MONITOR_EVENT, "time.clock_step", span_of(""), span_of(""), step);
	settle(m);
	strbuf_adds(log, "kdelta-monitors 1\nelapsed");
	log_number(log, seconds);
	strbuf_adds(log, "\nself");
	log_number(log, m->cpu);
	strbuf_addc(log, '\n');
	for (i = 0; i < m->n_slots; i++) {
		const struct slot *s = &m->slots[i];

		/* What came up or went away during the run has no difference, rather than zero. */
		if (s->n > 0 &&
		    (!is_difference(s->kind) || (s->has_first && s->epoch == m->epoch)))
			log_slot(log, s);
	}
	if (m->lost)
		note(m, "%zu values left out: too many names", m->lost);
	array_for_each (text, &m->notes)
		strbuf_addf(log, "note %s\n", *text);
}

void monitors_close(struct monitors *m)
{
	struct file *f;
	size_t i;

	if (!m)
		return;
	stop_thread(m);
	array_for_each (f, &m->files) {
		if (f->fd >= 0)
			close(f->fd);
		free(f->slots);
	}
	for (i = 0; i < m->n_slots; i++)
		free(m->slots[i].name);
	free(m->slots);
	free(m->table);
	free(m->buffer);
	ARRAY_FREE(&m->files);
	ARRAY_FREE(&m->used);
	ARRAY_FREE(&m->notes);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	arena_free(m->a);
	free(m);
}
