/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of bundle.h: the rows there are, which both directions go by. */
#ifndef DB_BUNDLE_ROWS_H
#define DB_BUNDLE_ROWS_H

#include <stdbool.h>

#include "db/sql.h"

/*
 * One kind of row. columns: words "NAME", "NAME:HOW" by how it is written and read:
 *	I		the campaign's id: written only by the campaign itself
 *	M K V T m	of machines, kernels, variants, test cases, metrics: their key
 *	b c r w		the row's own id, not written: rows that others refer to (boots, cells,
 *			runs, raws)
 *	B C R W		a reference to one of them, by its place
 *	D		the packed raw output, not written
 * rows: WHERE and ORDER BY of table x, ?1 is the campaign. key: of tables that campaigns share;
 * there `join` says how a row meets one with its key, NULL: the greater of both values, by column.
 */
struct bundle_kind {
	const char *name, *table, *columns, *rows, *key, *join;
};
extern const struct bundle_kind bundle_kinds[];
extern const size_t bundle_n_kinds;

struct bundle_column {
	struct span name;
	char how; /* '=': as it is */
};
enum { BUNDLE_COLUMNS = 26 };
/* Room for BUNDLE_COLUMNS; returns how many. */
size_t bundle_read_columns(const struct bundle_kind *k, struct bundle_column *c);

bool bundle_is_own_id(char how);
bool bundle_is_place(char how);
/* Whether a line has this column. */
bool bundle_is_written(const struct bundle_kind *k, char how);
/* "machines" and "fingerprint" of 'M'; false: of no such table. */
bool bundle_dictionary(char how, const char **table, const char **key);

/* Ids of the rows that are referred to by place, in the order of their lines. */
typedef ARRAY_OF(int64_t) bundle_ids;
struct bundle_places {
	bundle_ids of[4];
};
bundle_ids *bundle_places_of(struct bundle_places *p, char how);
void bundle_places_release(struct bundle_places *p);
#define _cleanup_places_ _cleanup_(bundle_places_release)

/* What a campaign had when it began, of campaigns c: one text, the same in every database. */
#define BUNDLE_BIRTH                                                                               \
	"ifnull((SELECT value FROM facts WHERE scope = 'campaign' AND scope_id = c.id"             \
	" AND key = 'origin.id'), c.id) || char(10) || c.created || char(10) || c.seed"            \
	" || char(10) || c.source || char(10)"                                                     \
	" || ifnull((SELECT fingerprint FROM machines WHERE id = c.machine_id), '')"

#endif
