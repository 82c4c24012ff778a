// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/noise.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "stats/stats.h"

#define RUN_SECONDS 0.2

enum { CELLS = 4 << 20, STRIDE = 1000003 }; /* 32 MiB: more than most caches; a prime */

const size_t noise_sides[NOISE_SIDES] = {5, 10, 20};

struct bench {
	struct arena *a;
	struct err *e;
	uint64_t *cells;
	uint64_t sink; /* so that no loop is optimised away */
};

/* A work does n steps and tells their seconds. */
struct work {
	const char *name;
	int (*run)(struct bench *b, uint64_t n, double *seconds);
	uint64_t first; /* steps to begin with */
};

static int run_cpu(struct bench *b, uint64_t n, double *seconds)
{
	double begin = num_monotonic();
	uint64_t x = b->sink | 1;

	for (; n; n--) { /* xorshift64: each step needs the one before */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	b->sink = x;
	*seconds = num_monotonic() - begin;
	return 0;
}

static int run_memory(struct bench *b, uint64_t n, double *seconds)
{
	double begin = num_monotonic();
	uint64_t at = 0;

	for (; n; n--) { /* the next place depends on what was read */
		b->cells[at]++;
		at = (at + STRIDE + (b->cells[at] & 1)) % CELLS;
	}
	b->sink += at;
	*seconds = num_monotonic() - begin;
	return 0;
}

/* Prints "time: 0.123456789 s". */
static int run_wakeups(struct bench *b, uint64_t n, double *seconds)
{
	const char *const argv[] = {path_libexec(b->a, "pipepong"), "-n",
				    arena_printf(b->a, "%llu", (unsigned long long)n), NULL};
	struct proc_result p;
	const char *time = NULL;
	struct span rest, word;
	int r = proc_run(&(struct proc_spec){.argv = argv, .deadline = 60}, &p, b->e);

	if (r)
		return r;
	if (p.interrupted)
		r = -EINTR;
	else if (!p.started)
		r = err_add(b->e, -ENOENT, "cannot start %s: make builds it", argv[0]);
	else
		time = strstr(strbuf_str(&p.out), "\ntime: ");
	rest = span_of(time ? time + strlen("\ntime: ") : "");
	if (!r && (!span_next_word(&rest, &word) || !num_parse(word, seconds)))
		r = err_add(b->e, -EIO, "%s printed no time", argv[0]);
	proc_result_release(&p);
	return r;
}

static const struct work works[] = {
	{"CPU", run_cpu, 1 << 20},
	{"memory", run_memory, 1 << 18},
	{"wake-ups", run_wakeups, 1 << 10},
};

/* Steps that take about RUN_SECONDS: doubled until a quarter of it, then in proportion. */
static int calibrate(struct bench *b, const struct work *w, uint64_t *n)
{
	double seconds = 0;
	int r = 0;

	for (*n = w->first; !r && seconds < RUN_SECONDS / 4 && *n < UINT64_C(1) << 40; *n *= 2)
		r = w->run(b, *n, &seconds);
	*n /= 2;
	if (!r && seconds > 0)
		*n = MAX((uint64_t)((double)*n * RUN_SECONDS / seconds), UINT64_C(1));
	return r;
}

static struct noise judge(struct arena *a, const char *work, const double *x, size_t n)
{
	double *logs = arena_alloc_array(a, n + 1, sizeof(*logs)), most = 0, s;
	struct noise noise = {.work = work, .runs = n, .mean = stats_amean(x, n)};
	size_t i;

	for (i = 0; i < n; i++) {
		logs[i] = log(x[i]);
		most = fmax(most, x[i]);
	}
	noise.cv = stats_stddev(x, n) / noise.mean;
	noise.slowest = most / noise.mean - 1;
	s = stats_stddev(logs, n);
	for (i = 0; i < NOISE_SIDES; i++)
		noise.detectable[i] = stats_detectable(s, noise_sides[i], 0.8, 0.05);
	return noise;
}

/* In turns until the time is over: n times of each work, one behind the other in x. */
static int take_turns(struct bench *b, const uint64_t *steps, double end, double *x, size_t most,
		      size_t *n)
{
	size_t i;
	int r = 0;

	for (*n = 0; *n < 2 || (*n < most && num_monotonic() < end); ++*n)
		for (i = 0; i < ARRAY_SIZE(works); i++) {
			if (!r && proc_interrupted())
				r = -EINTR;
			if (!r)
				r = works[i].run(b, steps[i], &x[i * most + *n]);
			if (r)
				return r;
		}
	return 0;
}

int noise_measure(struct arena *a, double seconds, struct noise **list, size_t *n, struct err *e)
{
	size_t most = (size_t)(seconds / RUN_SECONDS) + 2, runs, i;
	double *x = arena_alloc_array(a, most * ARRAY_SIZE(works), sizeof(*x));
	double end = num_monotonic() + seconds;
	_cleanup_free_ uint64_t *cells = mem_zalloc(CELLS * sizeof(*cells));
	struct bench b = {.a = a, .e = e, .cells = cells};
	uint64_t steps[ARRAY_SIZE(works)];
	int r = 0;

	proc_init();
	for (i = 0; !r && i < ARRAY_SIZE(works); i++)
		r = calibrate(&b, &works[i], &steps[i]);
	if (!r)
		r = take_turns(&b, steps, end, x, most, &runs);
	if (r)
		return r;
	*n = ARRAY_SIZE(works);
	*list = arena_alloc_array(a, *n, sizeof(**list));
	for (i = 0; i < *n; i++)
		(*list)[i] = judge(a, works[i].name, x + i * most, runs);
	return 0;
}
