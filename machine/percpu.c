// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/percpu.h"

#include <string.h>

void percpu_begin(struct percpu_table *t, struct span text)
{
	struct span words, word;

	*t = (struct percpu_table){.rest = text};
	if (!span_next_line(&t->rest, &t->header, NULL))
		return;
	words = t->header;
	while (span_next_word(&words, &word))
		t->cpus += span_starts(word, "CPU");
}

bool percpu_next(struct percpu_table *t, struct span *name, struct span *rest)
{
	struct span line;

	while (span_next_line(&t->rest, &line, NULL)) {
		const char *colon = memchr(line.s, ':', MIN(line.len, 64));

		if (!colon)
			continue;
		*name = span_trim((struct span){line.s, (size_t)(colon - line.s)});
		*rest = line;
		span_skip(rest, (size_t)(colon - line.s) + 1);
		if (name->len)
			return true;
	}
	return false;
}

size_t percpu_sum(const struct percpu_table *t, struct span *rest, double *sum)
{
	double v;
	size_t n = 0;

	*sum = 0;
	while (n < t->cpus && monitor_number(rest, &v)) {
		*sum += v;
		n++;
	}
	return n;
}

void percpu_add_each(struct monitor_sink *s, const struct percpu_table *t, const char *head,
		     struct span name, struct span rest)
{
	struct span header = t->header, cpu;
	double v;

	while (span_next_word(&header, &cpu) && monitor_number(&rest, &v))
		monitor_add(s, MONITOR_COUNTER, head, cpu, name, v);
}

void percpu_add(struct monitor_sink *s, const struct percpu_table *t, const char *head,
		struct span name, struct span rest, bool each)
{
	struct span numbers = rest;
	double sum;

	if (percpu_sum(t, &numbers, &sum))
		monitor_add(s, MONITOR_COUNTER, head, name, MONITOR_NO_TAIL, sum);
	if (each)
		percpu_add_each(s, t, head, name, rest);
}
