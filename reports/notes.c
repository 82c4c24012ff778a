// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: facts around the numbers, what nobody stated, warnings. */
#include <errno.h>

#include "core/num.h"
#include "reports/build.h"

static const char *fact_value(const struct builder *b, const char *key)
{
	const struct db_fact *f;

	array_for_each (f, &b->facts)
		if (str_equal(f->key, key) && f->value && *f->value)
			return f->value;
	return NULL;
}

int build_facts(struct builder *b)
{
	struct comparison *c = b->c;
	const struct db_campaign *camp = &b->campaigns[0];
	const char *machine = fact_value(b, "machine"), *date = fact_value(b, "date");
	const char *posting = fact_value(b, "posting");
	struct db_machine m = {NULL, NULL, NULL};
	int r = 0;

	if (camp->machine_id)
		r = db_get_machine(b->db, b->a, camp->machine_id, &m, b->e);
	if (r)
		return r;
	c->stored = fact_value(b, "verdicts");
	c->kind = camp->kind;
	c->backend = camp->backend ? camp->backend : "";
	c->accelerator = camp->accelerator ? camp->accelerator : "";
	c->unit = camp->unit;
	c->repeat = camp->repeat;
	c->created = num_iso_time(b->a, camp->created);
	c->machine = machine ? machine : "";
	if (m.description && *m.description)
		c->machine = m.description;
	else if (m.name && *m.name && !machine)
		c->machine = m.name;
	c->source = camp->source ? camp->source : "";
	if (date)
		c->source = arena_printf(b->a, "%s, mail of %s", c->source, date);
	if (posting)
		c->source = arena_printf(b->a, "%s, %s", c->source, posting);
	return 0;
}

void note_missing(struct builder *b)
{
	const struct comparison *c = b->c;
	bool commit = true, command = false, values = false;
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		commit &= *c->variants[i].commit || *c->variants[i].build_id ||
			  *c->variants[i].release;
	for (i = 0; i < c->n_tests; i++) {
		command |= *c->tests[i].command != '\0';
		values |= c->tests[i].rows[0].cells[0].values != NULL;
	}
	if (!c->has_n)
		*ARRAY_PUSH(&b->missing) = "runs";
	if (!c->has_spread)
		*ARRAY_PUSH(&b->missing) = "spread";
	if (!commit)
		*ARRAY_PUSH(&b->missing) = "commit";
	if (!*c->machine)
		*ARRAY_PUSH(&b->missing) = "machine";
	if (!command)
		*ARRAY_PUSH(&b->missing) = "command";
	if (values && str_equal(c->kind, "import"))
		*ARRAY_PUSH(&b->missing) = "order of the runs (a drift would not show)";
	b->c->missing = arena_copy(b->a, b->missing.items, b->missing.n, sizeof(char *));
	b->c->n_missing = b->missing.n;
}

static void warn_cell(struct builder *b, const struct cmp_test *t, const struct cmp_cell *cell)
{
	const char *id = b->c->variants[cell->variant].id;

	if (cell->suspect)
		*ARRAY_PUSH(&b->warnings) =
			arena_printf(b->a, "%s: %d suspect %s of %s left out", t->name,
				     cell->suspect, cell->suspect == 1 ? "run" : "runs", id);
	if (cell->failed)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%s: %d %s of %s failed%s%s, %d good", t->name, cell->failed,
			cell->failed == 1 ? "run" : "runs", id, cell->error ? ": " : "",
			cell->error ? cell->error : "", cell->n);
}

static void warn_means(struct builder *b, const struct cmp_row *row)
{
	size_t i;
	int k;

	for (i = 0; row->mean_kind != MEAN_AMEAN && i < b->c->n_variants; i++) {
		for (k = 0; row->cells[i].values && k < row->cells[i].n; k++) {
			if (row->cells[i].values[k] > 0)
				continue;
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a, "%s of %s has a value of %g: its mean is arithmetic",
				row->metric, b->c->variants[i].id, row->cells[i].values[k]);
			break;
		}
	}
}

/* An outlier that moved the mean out of its range. */
static void warn_outside(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	size_t i;

	for (i = 1; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->outside)
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a,
				"%s %s of %s: outliers moved the mean to %+.2f%%; by the ranks "
				"the shift is %+.2f%%",
				t->name, comparison_metric_name(row), b->c->variants[i].id,
				100 * cell->change, 100 * cell->test.shift);
	}
}

void note_warnings(struct builder *b)
{
	struct comparison *c = b->c;
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++) {
		for (i = 0; i < c->n_variants; i++)
			warn_cell(b, &c->tests[t], &c->tests[t].rows[0].cells[i]);
		for (r = 0; r < c->tests[t].n_rows; r++) {
			warn_means(b, &c->tests[t].rows[r]);
			warn_outside(b, &c->tests[t], &c->tests[t].rows[r]);
		}
	}
	if (c->n_campaigns > 1)
		*ARRAY_PUSH(&b->warnings) = "joined campaigns: their runs were not interleaved, "
					    "so a drift between them looks like a change";
	if (b->repeated)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%d repeated cells of the source are not shown", b->repeated);
	c->warnings = arena_copy(b->a, b->warnings.items, b->warnings.n, sizeof(char *));
	c->n_warnings = b->warnings.n;
}
