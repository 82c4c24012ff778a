// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/monitor_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"

enum {
	MAX_SLOTS = 32768, /* names; what comes after them is counted only */
	MAX_NAME = 160,	   /* bytes */
};

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

bool monitor_next_pair(struct span *text, struct span *key, double *v)
{
	struct span line;

	while (span_next_line(text, &line, NULL)) {
		if (!span_next_word(&line, key) || !monitor_number(&line, v))
			continue;
		key->len -= key->s[key->len - 1] == ':';
		return true;
	}
	return false;
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

static void table_put(struct monitor_values *m, int index)
{
	size_t at = (size_t)m->slots[index].hash & (m->table_size - 1);

	while (m->table[at] >= 0)
		at = (at + 1) & (m->table_size - 1);
	m->table[at] = index;
}

static void table_grow(struct monitor_values *m)
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
static int slot_find(struct monitor_values *m, enum monitor_kind kind, const char *name, size_t len)
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
	struct monitor_values *m = s->values;
	struct monitor_order *o = s->order;
	size_t at = s->at++;
	int index;

	if (!o)
		return slot_find(m, kind, name, len);
	if (at < o->n && o->slots[at] >= 0 && slot_is(&m->slots[o->slots[at]], name, len))
		return o->slots[at];
	index = slot_find(m, kind, name, len);
	if (at < o->n) {
		o->slots[at] = index;
	} else if (at < MAX_SLOTS) {
		o->slots = mem_array_grow(o->slots, o->n, &o->alloc, sizeof(*o->slots));
		o->slots[o->n++] = index;
	}
	return index;
}

void monitor_add(struct monitor_sink *s, enum monitor_kind kind, const char *head,
		 struct span middle, struct span tail, double v)
{
	struct monitor_values *m = s->values;
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

void monitor_values_begin(struct monitor_values *m, bool first)
{
	m->epoch++;
	m->first = first;
}

void monitor_values_settle(struct monitor_values *m)
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

void monitor_values_log(const struct monitor_values *m, struct strbuf *log)
{
	size_t i;

	for (i = 0; i < m->n_slots; i++) {
		const struct slot *s = &m->slots[i];

		/* What came up or went away during the run has no difference, rather than zero. */
		if (s->n > 0 &&
		    (!is_difference(s->kind) || (s->has_first && s->epoch == m->epoch)))
			log_slot(log, s);
	}
}

void monitor_values_release(struct monitor_values *m)
{
	size_t i;

	for (i = 0; i < m->n_slots; i++)
		free(m->slots[i].name);
	free(m->slots);
	free(m->table);
}
