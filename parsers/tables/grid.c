// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables from cells that arrive in the order of the text: outputs listed one after the other. */
#include "parsers/tables/block.h"

#include <stdlib.h>
#include <string.h>

struct grid_entry {
	const char *command, *section, *variant, *description;
	struct table_row row;
	struct table_cell cell;
	size_t seq;  /* order of arrival */
	size_t head; /* seq of the first entry of its row */
	int index;   /* the N-th cell of this row and variant */
};

void grid_add(struct grid *g, const char *section, const struct block_heading *h,
	      const struct table_row *row, const struct table_cell *cell)
{
	struct grid_entry *e = ARRAY_PUSH(&g->entries);

	*e = (struct grid_entry){.section = section ? section : "",
				 .command = h->command ? h->command : "",
				 .variant = h->name,
				 .description = h->description,
				 .row = *row,
				 .cell = *cell,
				 .seq = g->entries.n};
}

static int seq_order(size_t x, size_t y)
{
	return (x > y) - (x < y);
}

static int by_table(const struct grid_entry *v, const struct grid_entry *w)
{
	int r = strcmp(v->command, w->command);

	return r ? r : strcmp(v->section, w->section);
}

static int by_variant(const void *x, const void *y)
{
	const struct grid_entry *v = x, *w = y;
	int r = by_table(v, w);

	r = r ? r : strcmp(v->row.key, w->row.key);
	r = r ? r : strcmp(v->variant, w->variant);
	return r ? r : seq_order(v->seq, w->seq);
}

static int by_row(const void *x, const void *y)
{
	const struct grid_entry *v = x, *w = y;
	int r = by_table(v, w);

	r = r ? r : strcmp(v->row.key, w->row.key);
	r = r ? r : v->index - w->index;
	return r ? r : seq_order(v->seq, w->seq);
}

/* Runs one after the other, then rows as they first appeared. */
static int by_place(const void *x, const void *y)
{
	const struct grid_entry *v = x, *w = y;
	int r = by_table(v, w);

	r = r ? r : v->row.run - w->row.run;
	r = r ? r : seq_order(v->head, w->head);
	return r ? r : seq_order(v->seq, w->seq);
}

static bool same_row(const struct grid_entry *v, const struct grid_entry *w)
{
	return !by_table(v, w) && !strcmp(v->row.key, w->row.key);
}

static int by_command(const void *x, const void *y)
{
	const struct grid_entry *v = x, *w = y;
	int r = strcmp(v->command, w->command);

	r = r ? r : strcmp(v->variant, w->variant);
	return r ? r : seq_order(v->seq, w->seq);
}

/* Commands tell tables apart only where two variants ran the same one and another one too. */
static const char *settle_commands(struct grid *g)
{
	struct grid_entry *e = g->entries.items;
	size_t n = g->entries.n, i, commands = 1;
	bool shared = false;
	const char *only = NULL;

	qsort(e, n, sizeof(*e), by_command);
	for (i = 1; i < n; i++) {
		bool same = !strcmp(e[i].command, e[i - 1].command);

		commands += !same;
		shared |= same && strcmp(e[i].variant, e[i - 1].variant);
	}
	if (commands == 1 && *e[0].command)
		only = e[0].command;
	for (i = 0; i < n; i++)
		if (commands == 1 || !shared)
			e[i].command = "";
	return only;
}

static void number_entries(struct grid *g, bool runs)
{
	struct grid_entry *e = g->entries.items;
	size_t n = g->entries.n, i;

	qsort(e, n, sizeof(*e), by_variant);
	for (i = 1; i < n; i++)
		if (same_row(&e[i], &e[i - 1]) && !strcmp(e[i].variant, e[i - 1].variant))
			e[i].index = e[i - 1].index + 1;
	qsort(e, n, sizeof(*e), by_row);
	for (i = 0; i < n; i++) {
		bool same = i && same_row(&e[i], &e[i - 1]);

		e[i].head = same && e[i].index == e[i - 1].index ? e[i - 1].head : e[i].seq;
		e[i].row.index = runs ? 0 : e[i].index;
		e[i].row.run = runs ? e[i].index + 1 : e[i].row.run;
	}
	qsort(e, n, sizeof(*e), by_place);
}

/* Column of a variant; a new one where it is not there yet, -1 for more than fit. */
static int column_of(struct table *t, const struct grid_entry *e, size_t most)
{
	size_t i;

	for (i = 0; i < t->n_variants; i++)
		if (!strcmp(t->variants[i], e->variant))
			break;
	if (i == most)
		return -1;
	if (i == t->n_variants) {
		t->variants[i] = e->variant;
		t->n_variants++;
	}
	if (!t->descriptions[i])
		t->descriptions[i] = e->description;
	return (int)i;
}

enum { MAX_VARIANTS = 64 };

static int entry_by_seq(const void *x, const void *y)
{
	const struct grid_entry *const *v = x, *const *w = y;

	return seq_order((*v)->seq, (*w)->seq);
}

/* Variants in the order of the text, which is not that of the rows. */
static void list_variants(struct grid *g, struct table *t, size_t from, size_t to)
{
	const struct grid_entry **sorted =
		mem_realloc_array(NULL, to - from, sizeof(*sorted));
	size_t i;

	t->variants = arena_alloc_array(g->a, MAX_VARIANTS + 1, sizeof(*t->variants));
	t->descriptions = arena_alloc_array(g->a, MAX_VARIANTS + 1, sizeof(*t->descriptions));
	for (i = from; i < to; i++)
		sorted[i - from] = &g->entries.items[i];
	qsort(sorted, to - from, sizeof(*sorted), entry_by_seq);
	for (i = 0; i < to - from; i++)
		column_of(t, sorted[i], MAX_VARIANTS);
	free(sorted);
}

static void make_table(struct grid *g, struct table_set *set, size_t from, size_t to,
		       size_t least, const struct table *common)
{
	const struct grid_entry *e = g->entries.items;
	struct table t = *common;
	struct table_row *row = NULL;
	size_t i;
	int column;

	list_variants(g, &t, from, to);
	if (t.n_variants < least)
		return;
	t.section = *e[from].section ? e[from].section : NULL;
	if (*e[from].command) {
		t.command = e[from].command;
		t.section = t.section ? arena_printf(g->a, "%s %s", t.command, t.section)
				      : t.command;
	}
	t.line = e[from].row.line;
	for (i = from; i < to; i++) {
		column = column_of(&t, &e[i], MAX_VARIANTS);
		if (column < 0)
			continue;
		if (i == from || !row || e[i].head != e[i - 1].head) {
			row = ARRAY_PUSH(&t.rows);
			*row = e[i].row;
			row->cells = arena_alloc_array(g->a, t.n_variants, sizeof(*row->cells));
		}
		row->cells[column] = e[i].cell;
		if (!t.unit)
			t.unit = row->unit;
	}
	*ARRAY_PUSH(&set->tables) = t;
}

void grid_finish(struct grid *g, struct table_set *set, size_t least, bool runs,
		 const struct table *common)
{
	struct table all = *common;
	size_t from, to;

	if (g->entries.n) {
		const char *only = settle_commands(g);

		all.command = only ? only : all.command;
		number_entries(g, runs);
	}
	for (from = 0; from < g->entries.n; from = to) {
		for (to = from + 1; to < g->entries.n &&
				    !by_table(&g->entries.items[to], &g->entries.items[from]);)
			to++;
		make_table(g, set, from, to, least, &all);
	}
	ARRAY_FREE(&g->entries);
}
