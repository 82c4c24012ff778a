// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts of a comparison kept for people who read the database with sqlite3. */
#include <string.h>

#include "reports/comparison.h"

static const char *stored_verdict(const struct db_view *list, size_t n, const char *variant,
				  const char *test, const char *metric)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].variant, variant) && !strcmp(list[i].test_case, test) &&
		    !strcmp(list[i].metric, metric))
			return list[i].verdict;
	return NULL;
}

static bool verdict_is_stored(const struct cmp_cell *cell, const char *stored)
{
	size_t len = strlen(verdict_name(cell->verdict));

	return stored && !strncmp(stored, verdict_name(cell->verdict), len) &&
	       !strcmp(stored + len, cell->small ? " small" : "");
}

int comparison_store(struct db *db, const struct comparison *c, struct err *e)
{
	struct db_view *list;
	size_t n, t, r, i;
	int rc;

	if (!c->own_baseline || c->n_campaigns != 1)
		return 0;
	rc = db_get_view(db, c->arena, c->campaigns[0], NULL, &list, &n, e);
	if (!rc)
		rc = db_begin(db, e);
	if (rc)
		return rc;
	for (t = 0; t < c->n_tests; t++) {
		const struct cmp_test *test = &c->tests[t];

		for (r = 0; r < test->n_rows; r++) {
			const struct cmp_row *row = &test->rows[r];

			for (i = 1; !rc && row->db_id && i < c->n_variants; i++) {
				const struct cmp_cell *cell = &row->cells[i];

				if (verdict_is_stored(cell,
						      stored_verdict(list, n, c->variants[i].name,
								     test->name, row->metric)))
					continue;
				rc = db_put_verdict(db, c->campaigns[0], c->variants[i].db_id,
						    test->db_id, row->db_id, cell->verdict,
						    cell->small, e);
			}
		}
	}
	if (!rc)
		return db_commit(db, e);
	db_rollback(db);
	return rc;
}
