// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw texts that are given up, and the space they took. */
#include <errno.h>
#include <sqlite3.h>

#include "db/sql.h"

/* Ids of the raws of ?2-campaigns that ended before ?1; there is nothing to gain of empty ones. */
#define OLD_RAWS                                                                                   \
	"SELECT w.id FROM campaigns c JOIN runs r ON r.campaign_id = c.id AND r.outcome != 'stored'" \
	" JOIN raws w ON w.run_id = r.id" OLD_CAMPAIGNS                                            \
	" UNION SELECT w.id FROM campaigns c JOIN boots b ON b.campaign_id = c.id"                 \
	" JOIN raws w ON w.id = b.console_id" OLD_CAMPAIGNS
#define OLD_CAMPAIGNS                                                                              \
	" WHERE c.ended < ?1 AND substr(c.name, 1, length(?2)) = ?2 AND w.size > 0"                 \
	" AND NOT " RAW_IS_PRUNED("w.")

static int count(struct db *db, int64_t before, const char *prefix, struct db_pruned *done,
		 struct err *e)
{
	static const struct sql_shape shape = {
		.size = sizeof(*done),
		.fields = {SQL_FIELD(struct db_pruned, texts, "count(*)", 'l'),
			   SQL_FIELD(struct db_pruned, bytes, "ifnull(sum(length(data)), 0)", 'l')},
	};

	return MIN(sql_get(db, NULL, &shape, done, e, "FROM raws WHERE id IN (" OLD_RAWS ")", "ls",
			   before, prefix), 0);
}

int db_prune(struct db *db, int64_t before, const char *prefix, bool dry, struct db_pruned *done,
	     struct err *e)
{
	int r = db_begin(db, e);

	if (r)
		return r;
	r = count(db, before, prefix, done, e);
	if (!r && !dry && done->texts)
		r = sql_run(db, e,
			    "UPDATE raws SET data = " RAW_PRUNED " WHERE id IN (" OLD_RAWS ")", "ls",
			    before, prefix);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}

int db_vacuum(struct db *db, struct err *e)
{
	return sql_run(db, e, "VACUUM", "");
}

int db_get_size(struct db *db, struct db_size *size, struct err *e)
{
	static const struct sql_shape shape = {
		.size = sizeof(*size),
		.fields = {SQL_FIELD(struct db_size, bytes, "page_count * page_size", 'l'),
			   SQL_FIELD(struct db_size, free, "freelist_count * page_size", 'l')},
	};

	return MIN(sql_get(db, NULL, &shape, size, e,
			   "FROM pragma_page_count, pragma_page_size, pragma_freelist_count", ""), 0);
}

int db_count_pruned(struct db *db, const char *campaign, int64_t *runs, struct err *e)
{
	return MIN(sql_value(db, e, runs,
			     "SELECT count(DISTINCT r.id) FROM runs r JOIN raws w ON w.run_id = r.id"
			     " WHERE r.campaign_id = ? AND " RAW_IS_PRUNED("w."), "s", campaign), 0);
}
