// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakebench: how long a woken task waits before it runs, and what that does to requests.
 *
 * Written from the description of what schbench measures, for machines that have no schbench; its
 * figures stand under their own name and are never compared with schbench's. Message threads hand
 * out requests: each one wakes the workers that wait in its queue. A worker notes how long it took
 * from the wake-up to its first instruction (wakeup latency), does a fixed piece of work (products
 * of matrices that fill a given piece of cache), and notes the time from the wake-up to the end of
 * the work (request latency). Requests finished per second are counted from outside.
 *
 * The output has the block layout of schbench, on stdout, after one line of our own:
 *
 *	wakebench version 1 message_threads=1 workers=2 runtime=5 operations=1 footprint=64
 *	Wakeup Latencies percentiles (usec) runtime 5 (s) (2210 total samples)
 *		  50.0th: 12         (1105 samples)
 *		* 99.0th: 4012       (199 samples)
 *		  min=3, max=8080
 *	average rps: 442.00
 */
#include <errno.h>
#include <getopt.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Log-linear buckets: exact below 256, then 256 steps per power of two (0.4 %), up to 2^31. */
enum { STEP_BITS = 8, STEPS = 1 << STEP_BITS, BUCKETS = (32 - STEP_BITS) * STEPS + STEPS };

struct histogram {
	uint64_t count[BUCKETS];
	uint64_t total;
	uint64_t min, max;
};

static unsigned bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < STEPS)
		return (unsigned)v;
	if (v > UINT32_MAX / 2)
		v = UINT32_MAX / 2;
	shift = 63 - (unsigned)__builtin_clzll(v) - STEP_BITS;
	return (shift + 1) * STEPS + (unsigned)(v >> shift) - STEPS;
}

/* Largest value of a bucket, so that a percentile is never understated. */
static uint64_t bucket_value(unsigned b)
{
	unsigned shift;

	if (b < STEPS)
		return b;
	shift = b / STEPS - 1;
	return ((uint64_t)(b % STEPS + STEPS + 1) << shift) - 1;
}

static void histogram_add(struct histogram *h, uint64_t v)
{
	h->count[bucket_of(v)]++;
	if (!h->total++ || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

static void histogram_merge(struct histogram *to, const struct histogram *from)
{
	unsigned b;

	if (!from->total)
		return;
	for (b = 0; b < BUCKETS; b++)
		to->count[b] += from->count[b];
	if (!to->total || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->total += from->total;
}

struct settings {
	long message_threads, workers, runtime, warmup, operations, footprint_kb;
};

struct queue;

struct worker {
	struct queue *queue;
	struct worker *next_idle;
	_Atomic uint32_t awake;	   /* futex: 1 while there is work */
	_Atomic uint64_t woken_at; /* ns; when the message thread made it runnable */
	_Atomic uint64_t requests;
	float *matrix; /* three square matrices of `side` */
	size_t side;
	struct histogram wakeup, request;
	pthread_t thread;
};

/* One message thread and its idle workers (a stack; only the message thread pops). */
struct queue {
	_Atomic(struct worker *) idle;
	_Atomic uint32_t signal; /* futex: counts arrivals */
	struct worker *workers;
	pthread_t thread;
};

static struct settings set = {
	.message_threads = 1,
	.workers = 2,
	.runtime = 5,
	.warmup = 0,
	.operations = 1,
	.footprint_kb = 64,
};
static _Atomic bool measuring, stopping;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* One product of two matrices: the work of a request, the same number of steps every time. */
static void multiply(struct worker *w)
{
	size_t n = w->side, i, j, k;
	const float *a = w->matrix, *b = a + n * n;
	float *c = w->matrix + 2 * n * n;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			float sum = 0;

			for (k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
	}
	/* The result is used, so that no compiler drops the work. */
	__asm__ volatile("" : : "r"(c) : "memory");
}

static void worker_join_idle(struct worker *w)
{
	struct queue *q = w->queue;
	struct worker *head = atomic_load(&q->idle);

	atomic_store(&w->awake, 0);
	do
		w->next_idle = head;
	while (!atomic_compare_exchange_weak(&q->idle, &head, w));
	atomic_fetch_add(&q->signal, 1);
	futex_wake(&q->signal);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	long i;

	for (;;) {
		uint64_t woken, running;

		worker_join_idle(w);
		while (!atomic_load(&w->awake))
			futex_wait(&w->awake, 0);
		running = now_ns();
		if (atomic_load(&stopping))
			return NULL;
		woken = atomic_load(&w->woken_at);
		for (i = 0; i < set.operations; i++)
			multiply(w);
		if (!atomic_load(&measuring))
			continue;
		histogram_add(&w->wakeup, (running - woken) / 1000);
		histogram_add(&w->request, (now_ns() - woken) / 1000);
		atomic_fetch_add(&w->requests, 1);
	}
}

static void queue_wake_all(struct queue *q)
{
	struct worker *w = atomic_exchange(&q->idle, NULL), *next;

	for (; w; w = next) {
		next = w->next_idle;
		atomic_store(&w->woken_at, now_ns());
		atomic_store(&w->awake, 1);
		futex_wake(&w->awake);
	}
}

static void *message_main(void *arg)
{
	struct queue *q = arg;

	while (!atomic_load(&stopping)) {
		uint32_t seen = atomic_load(&q->signal);

		queue_wake_all(q);
		if (!atomic_load(&q->idle) && !atomic_load(&stopping))
			futex_wait(&q->signal, seen);
	}
	return NULL;
}

static void *alloc_or_die(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "wakebench: unable to allocate memory: %s\n", strerror(errno));
		exit(1);
	}
	return p;
}

static void start_thread(pthread_t *t, void *(*main_of)(void *), void *arg)
{
	int r = pthread_create(t, NULL, main_of, arg);

	if (r) {
		fprintf(stderr, "wakebench: cannot create a thread: %s\n", strerror(r));
		exit(1);
	}
}

static void fill_matrices(struct worker *w)
{
	size_t i, n = 1;

	while ((n + 1) * (n + 1) * 3 * sizeof(float) <= (size_t)set.footprint_kb * 1024)
		n++;
	w->side = n;
	w->matrix = alloc_or_die(3 * n * n, sizeof(float));
	for (i = 0; i < 2 * n * n; i++)
		w->matrix[i] = (float)(i % 97) / 97;
}

static struct queue *start_all(void)
{
	struct queue *queues = alloc_or_die((size_t)set.message_threads, sizeof(*queues));
	long m, t;

	for (m = 0; m < set.message_threads; m++) {
		queues[m].workers = alloc_or_die((size_t)set.workers, sizeof(struct worker));
		for (t = 0; t < set.workers; t++) {
			queues[m].workers[t].queue = &queues[m];
			fill_matrices(&queues[m].workers[t]);
		}
	}
	for (m = 0; m < set.message_threads; m++) {
		start_thread(&queues[m].thread, message_main, &queues[m]);
		for (t = 0; t < set.workers; t++)
			start_thread(&queues[m].workers[t].thread, worker_main,
				     &queues[m].workers[t]);
	}
	return queues;
}

static uint64_t count_requests(const struct queue *queues)
{
	uint64_t sum = 0;
	long m, t;

	for (m = 0; m < set.message_threads; m++)
		for (t = 0; t < set.workers; t++)
			sum += atomic_load(&queues[m].workers[t].requests);
	return sum;
}

static void stop_all(struct queue *queues)
{
	long m, t;

	atomic_store(&stopping, true);
	for (m = 0; m < set.message_threads; m++) {
		struct queue *q = &queues[m];

		atomic_fetch_add(&q->signal, 1);
		futex_wake(&q->signal);
		pthread_join(q->thread, NULL);
		for (t = 0; t < set.workers; t++) {
			atomic_store(&q->workers[t].awake, 1);
			futex_wake(&q->workers[t].awake);
		}
	}
}

/*
 * A worker that finishes its request after stop_all set `awake` clears the flag when it queues
 * again and would sleep for ever: wake the queues until every worker has left.
 */
static void join_workers(struct queue *queues)
{
	long m, t;

	for (m = 0; m < set.message_threads; m++) {
		for (t = 0; t < set.workers; t++) {
			struct timespec until;

			do {
				queue_wake_all(&queues[m]);
				clock_gettime(CLOCK_REALTIME, &until);
				until.tv_nsec += 10000000;
				if (until.tv_nsec >= 1000000000) {
					until.tv_nsec -= 1000000000;
					until.tv_sec++;
				}
			} while (pthread_timedjoin_np(queues[m].workers[t].thread, NULL, &until));
		}
	}
}

struct percentile {
	double percent;
	bool headline;
};
static const struct percentile latency_percentiles[] = {
	{50, false}, {90, false}, {99, true}, {99.9, false}};
static const struct percentile rps_percentiles[] = {{20, false}, {50, true}, {90, false}};

static void print_block(const char *title, const struct histogram *h, const struct percentile *list,
			size_t n)
{
	uint64_t seen = 0, before = 0;
	unsigned b = 0;
	size_t i;

	printf("%s runtime %ld (s) (%llu total samples)\n", title, set.runtime,
	       (unsigned long long)h->total);
	for (i = 0; i < n; i++) {
		double want = (double)h->total * list[i].percent / 100;
		uint64_t value;

		while (b < BUCKETS && (double)seen < want)
			seen += h->count[b++];
		value = b ? bucket_value(b - 1) : 0;
		if (value > h->max)
			value = h->max;
		printf("\t%c %.1fth: %-10llu (%llu samples)\n", list[i].headline ? '*' : ' ',
		       list[i].percent, (unsigned long long)value,
		       (unsigned long long)(seen - before));
		before = seen;
	}
	printf("\t  min=%llu, max=%llu\n", (unsigned long long)h->min, (unsigned long long)h->max);
}

static void report(const struct queue *queues, const struct histogram *rps, double seconds)
{
	struct histogram *wakeup = alloc_or_die(1, sizeof(*wakeup));
	struct histogram *request = alloc_or_die(1, sizeof(*request));
	long m, t;

	for (m = 0; m < set.message_threads; m++) {
		for (t = 0; t < set.workers; t++) {
			histogram_merge(wakeup, &queues[m].workers[t].wakeup);
			histogram_merge(request, &queues[m].workers[t].request);
		}
	}
	if (!wakeup->total) {
		fprintf(stderr, "wakebench: no request was finished in %ld s\n", set.runtime);
		exit(1);
	}
	print_block("Wakeup Latencies percentiles (usec)", wakeup, latency_percentiles,
		    sizeof(latency_percentiles) / sizeof(*latency_percentiles));
	print_block("Request Latencies percentiles (usec)", request, latency_percentiles,
		    sizeof(latency_percentiles) / sizeof(*latency_percentiles));
	print_block("RPS percentiles (requests)", rps, rps_percentiles,
		    sizeof(rps_percentiles) / sizeof(*rps_percentiles));
	printf("average rps: %.2f\n", (double)request->total / seconds);
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void usage(FILE *to)
{
	fputs("usage: wakebench [-m MESSAGE_THREADS] [-t WORKERS] [-r SECONDS] [-w WARMUP]\n"
	      "                 [-n OPERATIONS] [-F KILOBYTES]\n"
	      "Measures wakeup latency, request latency and requests per second.\n"
	      "  -m N  message threads (1)\n"
	      "  -t N  workers of each message thread (2)\n"
	      "  -r N  seconds measured (5)\n"
	      "  -w N  seconds before that (0)\n"
	      "  -n N  matrix products of a request (1)\n"
	      "  -F N  kilobytes of cache that the matrices of a worker fill (64)\n",
	      to);
}

static long parse_number(const char *text, char option, long min)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || *end || end == text || v < min || v > 1000000) {
		fprintf(stderr,
			"wakebench: -%c takes a whole number from %ld to 1000000, not '%s'\n",
			option, min, text);
		exit(2);
	}
	return v;
}

static void parse_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "m:t:r:w:n:F:h")) != -1) {
		switch (o) {
		case 'm':
			set.message_threads = parse_number(optarg, 'm', 1);
			break;
		case 't':
			set.workers = parse_number(optarg, 't', 1);
			break;
		case 'r':
			set.runtime = parse_number(optarg, 'r', 1);
			break;
		case 'w':
			set.warmup = parse_number(optarg, 'w', 0);
			break;
		case 'n':
			set.operations = parse_number(optarg, 'n', 1);
			break;
		case 'F':
			set.footprint_kb = parse_number(optarg, 'F', 1);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "wakebench: unexpected '%s'\n", argv[optind]);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct histogram *rps;
	struct queue *queues;
	uint64_t start, last = 0;
	double seconds;
	long s;

	parse_options(argc, argv);
	printf("wakebench version 1 message_threads=%ld workers=%ld runtime=%ld operations=%ld "
	       "footprint=%ld\n",
	       set.message_threads, set.workers, set.runtime, set.operations, set.footprint_kb);
	fflush(stdout);
	rps = alloc_or_die(1, sizeof(*rps));
	queues = start_all();
	sleep_until(now_ns() + (uint64_t)set.warmup * 1000000000u);
	atomic_store(&measuring, true);
	start = now_ns();
	for (s = 1; s <= set.runtime; s++) {
		uint64_t all;

		sleep_until(start + (uint64_t)s * 1000000000u);
		all = count_requests(queues);
		histogram_add(rps, all - last);
		last = all;
	}
	atomic_store(&measuring, false);
	seconds = (double)(now_ns() - start) / 1e9;
	stop_all(queues);
	join_workers(queues);
	report(queues, rps, seconds);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "wakebench: cannot write the result: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
