// SPDX-License-Identifier: GPL-2.0-or-later
/* Is everything that was stored still there and consistent; and a copy for when it is not. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "db/sql.h"

/* Statements whose rows are findings, one text each. */
static const char *const check_queries[] = {
	"SELECT 'file: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check != "
	"'ok'",

	"SELECT 'table ' || \"table\" || ', row ' || ifnull(rowid, '?') ||"
	" ': refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check",

	"SELECT 'run ' || r.id || ' of ' || r.campaign_id || ': stored but never parsed"
	" (`kdelta db reparse ' || r.campaign_id || '`)' FROM runs r WHERE r.outcome = 'stored'",

	"SELECT 'cell ' || c.seq || ' of ' || c.campaign_id || ': done without a good run'"
	" FROM cells c WHERE c.state = 'done' AND NOT EXISTS (SELECT 1 FROM runs r"
	" WHERE r.cell_id = c.id AND r.outcome IN ('ok', 'suspect'))",

	"SELECT 'campaign ' || c.id || ': ended with ' || count(*) || ' planned cells'"
	" FROM campaigns c JOIN cells x ON x.campaign_id = c.id AND x.state = 'planned'"
	" WHERE c.ended IS NOT NULL GROUP BY c.id",

	"SELECT 'run ' || r.id || ' of ' || r.campaign_id || ': has samples although it is '"
	" || r.outcome FROM runs r WHERE r.outcome IN ('stored', 'partial', 'error')"
	" AND EXISTS (SELECT 1 FROM samples s WHERE s.run_id = r.id)",
};

static const struct sql_shape raw_id_shape = {
	.size = sizeof(int64_t),
	.fields = {{.column = "id", .letter = 'l', .offset = 0}},
};

typedef ARRAY_OF(const char *) findings_t;

static int check_query(struct db *db, struct arena *a, const char *query, findings_t *found,
		       struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_start(db, e, query, "");
	int r;

	if (!stmt)
		return db->error;
	while ((r = sql_step(db, stmt, e)) > 0)
		*ARRAY_PUSH(found) = arena_strdup(a, (const char *)sqlite3_column_text(stmt, 0));
	return r;
}

static int check_raws(struct db *db, struct arena *a, findings_t *found, struct err *e)
{
	size_t i, n;
	int64_t *ids;
	int r = sql_list(db, a, &raw_id_shape, &ids, &n, e,
			 "FROM raws WHERE NOT " RAW_IS_PRUNED("") " ORDER BY id", "");

	for (i = 0; i < n && !r; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		_cleanup_err_ struct err bad = ERR_INIT;

		if (db_read_raw(db, ids[i], &text, &bad))
			*ARRAY_PUSH(found) = arena_strdup(a, err_text(&bad));
	}
	return r;
}

int db_check(struct db *db, struct arena *a, const char ***findings, size_t *n, struct err *e)
{
	findings_t found = {NULL, 0, 0};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(check_queries) && !r; i++)
		r = check_query(db, a, check_queries[i], &found, e);
	if (!r)
		r = check_raws(db, a, &found, e);
	*findings = arena_copy(a, found.items, found.n, sizeof(*found.items));
	*n = found.n;
	ARRAY_FREE(&found);
	return r;
}

static int copy_all(struct db *db, struct db *copy, struct err *e)
{
	sqlite3_backup *b = sqlite3_backup_init(copy->handle, "main", db->handle, "main");

	if (!b)
		return sql_error(copy, e);
	sqlite3_backup_step(b, -1);
	return sqlite3_backup_finish(b) ? sql_error(copy, e) : 0;
}

static int copy_into(struct db *db, const char *path, struct err *e)
{
	_cleanup_db_ struct db *copy = mem_zalloc(sizeof(*copy));

	copy->path = mem_strdup(path);
	if (sqlite3_open_v2(path, &copy->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return sql_error(copy, e);
	return copy_all(db, copy, e);
}

/* The copy gets its name when it is whole; what a killed one left is removed first. */
int db_backup(struct db *db, const char *path, struct err *e)
{
	_cleanup_free_ char *part = mem_printf("%s.new~", path);
	_cleanup_free_ char *journal = mem_printf("%s-journal", part);
	int r;

	if (file_exists(path))
		return err_add(e, -EEXIST, "%s exists already", path);
	unlink(part);
	unlink(journal);
	r = copy_into(db, part, e);
	if (!r && rename(part, path))
		r = err_add_errno(e, "cannot move %s to %s", part, path);
	if (r)
		unlink(part);
	return r;
}
