// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics that a nightly keeps quiet about until a day. */
#include <errno.h>

#include "db/sql.h"

static const struct sql_shape ignore_shape = {
	.size = sizeof(struct db_ignore),
	.fields =
		{
			SQL_FIELD(struct db_ignore, metric, "metric", 's'),
			SQL_FIELD(struct db_ignore, test_case, "test_case", 't'),
			SQL_FIELD(struct db_ignore, until, "until", 'l'),
			SQL_FIELD(struct db_ignore, reason, "reason", 's'),
		},
};

int db_put_ignore(struct db *db, const struct db_ignore *i, struct err *e)
{
	return sql_run(db, e,
		       "INSERT OR REPLACE INTO ignores(metric, test_case, until, reason)"
		       " VALUES (?, ?, ?, ?)",
		       "stls", i->metric, i->test_case, i->until, i->reason);
}

int db_remove_ignore(struct db *db, const char *metric, const char *test_case, struct err *e)
{
	int64_t found;
	int r = sql_value(db, e, &found,
			  "SELECT count(*) FROM ignores WHERE metric = ? AND test_case = ?", "st",
			  metric, test_case);

	if (r < 0)
		return r;
	if (!found)
		return err_add(e, -ENOENT, "%s%s%s is not ignored", metric,
			       test_case ? " in " : "", test_case ? test_case : "");
	return sql_run(db, e, "DELETE FROM ignores WHERE metric = ? AND test_case = ?", "st",
		       metric, test_case);
}

int db_get_ignores(struct db *db, struct arena *a, struct db_ignore **list, size_t *n,
		   struct err *e)
{
	return sql_list(db, a, &ignore_shape, list, n, e, "FROM ignores ORDER BY metric, test_case",
			"");
}
