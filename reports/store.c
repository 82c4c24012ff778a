// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts of a comparison kept for people who read the database with sqlite3. */
#include <inttypes.h>

#include "reports/comparison.h"

/* Calls fn for every cell that has a verdict and a place in the database. */
typedef int (*cell_fn)(const struct comparison *c, const struct cmp_test *t,
		       const struct cmp_row *row, const struct cmp_cell *cell, void *data);

static int each_cell(const struct comparison *c, cell_fn fn, void *data)
{
	size_t t, r, i;
	int rc = 0;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 1; !rc && c->tests[t].rows[r].db_id && i < c->n_variants; i++)
				rc = fn(c, &c->tests[t], &c->tests[t].rows[r],
					&c->tests[t].rows[r].cells[i], data);
	return rc;
}

/* FNV-1a over where and what: enough to see that something changed. */
static int digest_cell(const struct comparison *c, const struct cmp_test *t,
		       const struct cmp_row *row, const struct cmp_cell *cell, void *data)
{
	const int64_t parts[] = {
		t->db_id,
		row->db_id,
		c->variants[cell->variant].db_id,
		(int64_t)cell->verdict * 2 + cell->small,
	};
	uint64_t *h = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		*h = (*h ^ (uint64_t)parts[i]) * 0x100000001b3;
	return 0;
}

static const char *digest(const struct comparison *c)
{
	uint64_t h = 0xcbf29ce484222325;

	each_cell(c, digest_cell, &h);
	return arena_printf(c->arena, "%016" PRIx64, h);
}

bool comparison_is_stored(const struct comparison *c)
{
	return !c->own_baseline || c->n_campaigns != 1 || str_equal(c->stored, digest(c));
}

struct put {
	struct db *db;
	struct err *e;
};

static int put_cell(const struct comparison *c, const struct cmp_test *t, const struct cmp_row *row,
		    const struct cmp_cell *cell, void *data)
{
	const struct put *p = data;

	return db_put_verdict(p->db, c->campaigns[0], c->variants[cell->variant].db_id, t->db_id,
			      row->db_id, cell->verdict, cell->small, p->e);
}

int comparison_store(struct db *db, const struct comparison *c, struct err *e)
{
	struct put p = {db, e};
	int r;

	if (comparison_is_stored(c))
		return 0;
	r = db_begin(db, e);
	if (r)
		return r;
	r = db_clear_verdicts(db, c->campaigns[0], e);
	if (!r)
		r = each_cell(c, put_cell, &p);
	if (!r)
		r = db_set_fact(db, "campaign", c->campaigns[0], "verdicts", digest(c), e);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}
