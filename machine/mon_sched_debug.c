// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler's own state, /sys/kernel/debug/sched/debug (until 5.13 /proc/sched_debug): of the
 * CPUs and of their root queues the average, least, largest and standard deviation, as LKP has it.
 * A long file that the kernel writes with interrupts off, so only on request.
 *
 *	cpu#0, 2100.000 MHz
 *	  .nr_running                    : 2
 *	  .avg_idle                      : 812034
 *	cfs_rq[0]:/
 *	  .min_vruntime                  : 81230.112443
 */
#include "machine/monitor.h"

#include <math.h>
#include <string.h>

#include "core/num.h"

enum { FIELDS = 64 };

struct field {
	struct span name;
	double n, sum, squares, min, max;
};

struct section {
	const char *head;
	struct field fields[FIELDS];
	size_t n;
};

static void count(struct section *sec, struct span name, double v)
{
	struct field *f = sec->fields;

	while (f < sec->fields + sec->n &&
	       (f->name.len != name.len || memcmp(f->name.s, name.s, name.len)))
		f++;
	if (f == sec->fields + FIELDS)
		return;
	if (f == sec->fields + sec->n) {
		*f = (struct field){.name = name, .min = v, .max = v};
		sec->n++;
	}
	f->n++;
	f->sum += v;
	f->squares += v * v;
	f->min = MIN(f->min, v);
	f->max = MAX(f->max, v);
}

static void add_section(struct monitor_sink *s, const struct section *sec)
{
	size_t i;

	for (i = 0; i < sec->n; i++) {
		const struct field *f = &sec->fields[i];
		double mean = f->sum / f->n;
		const struct {
			const char *name;
			double v;
		} figures[] = {
			{"avg", mean},
			{"min", f->min},
			{"max", f->max},
			{"stddev", sqrt(MAX(0, f->squares / f->n - mean * mean))},
		};
		size_t k;

		for (k = 0; k < ARRAY_SIZE(figures); k++)
			monitor_add(s, MONITOR_GAUGE, sec->head, f->name, span_of(figures[k].name),
				    figures[k].v);
	}
}

static void read_sched_debug(struct monitor_sink *s, const struct monitor_file *f, struct span text)
{
	struct section cpu = {.head = "sched_debug.cpu"}, queue = {.head = "sched_debug.cfs_rq:/"};
	struct section *now = NULL;
	struct span line, word, value;
	double v;

	(void)f;
	while (span_next_line(&text, &line, NULL)) {
		if (span_starts(line, "cpu#")) {
			now = &cpu;
		} else if (span_starts(line, "cfs_rq[")) {
			/* "cfs_rq[0]:/" is the root, "cfs_rq[0]:/user.slice" is not */
			now = line.s[line.len - 1] == '/' ? &queue : NULL;
		} else if (line.len && *line.s != ' ') {
			now = NULL;
		} else if (now && span_next_word(&line, &word) && *word.s == '.' &&
			   span_next_word(&line, &value) && span_is(value, ":")) {
			span_skip(&word, 1);
			if (num_parse(span_trim(line), &v))
				count(now, word, v);
		}
	}
	add_section(s, &cpu);
	add_section(s, &queue);
}

static const struct monitor sched_debug = {
	.name = "sched_debug",
	.summary = "queues and load of the scheduler (root only)",
	.sampled = true,
	.paths = (const char *const[]){"/sys/kernel/debug/sched/debug", "/proc/sched_debug", NULL},
	.read = read_sched_debug,
};
REGISTER(monitor, sched_debug);
