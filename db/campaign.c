// SPDX-License-Identifier: GPL-2.0-or-later
/* Campaigns: their variants, test cases, planned cells, verdicts and facts. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "db/sql.h"

static const struct sql_shape campaign_shape = {
	.table = "campaigns",
	.size = sizeof(struct db_campaign),
	.fields =
		{
			SQL_FIELD(struct db_campaign, id, "id", 's'),
			SQL_FIELD(struct db_campaign, name, "name", 't'),
			SQL_FIELD(struct db_campaign, kind, "kind", 't'),
			SQL_FIELD(struct db_campaign, created, "created", 'l'),
			SQL_FIELD(struct db_campaign, ended, "ended", 'k'),
			SQL_FIELD(struct db_campaign, unit, "unit", 't'),
			SQL_FIELD(struct db_campaign, backend, "backend", 't'),
			SQL_FIELD(struct db_campaign, accelerator, "accelerator", 't'),
			SQL_FIELD(struct db_campaign, repeat, "repeat", 'i'),
			SQL_FIELD(struct db_campaign, seed, "seed", 'l'),
			SQL_FIELD(struct db_campaign, config, "config", 't'),
			SQL_FIELD(struct db_campaign, config_path, "config_path", 't'),
			SQL_FIELD(struct db_campaign, machine_id, "machine_id", 'k'),
			SQL_FIELD(struct db_campaign, source, "source", 't'),
			SQL_FIELD(struct db_campaign, tool_version, "tool_version", 't'),
		},
};

/* "quick start", 2026-01-31 -> "quick-start-20260131-" */
static char *campaign_stem(struct arena *a, const char *name, int64_t created)
{
	time_t t = (time_t)created;
	char day[16], *stem, *s;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(day, sizeof(day), "%Y%m%d", &tm);
	stem = arena_printf(a, "%s-%s-", name, day);
	for (s = stem; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+-", *s))
			*s = '-';
	return stem;
}

static int insert_campaign(struct db *db, struct arena *a, struct db_campaign *c, struct err *e)
{
	char *stem = campaign_stem(a, c->name, c->created);
	int64_t number = 0;
	int r = sql_value(db, e, &number,
			  "SELECT ifnull(max(CAST(substr(id, length(?1) + 1) AS INTEGER)), 0) + 1"
			  " FROM campaigns WHERE substr(id, 1, length(?1)) = ?1",
			  "s", stem);

	if (r < 0)
		return r;
	c->id = arena_printf(a, "%s%" PRId64, stem, number);
	if (!c->tool_version)
		c->tool_version = KDELTA_VERSION;
	return sql_insert(db, &campaign_shape, c, NULL, e);
}

int db_add_campaign(struct db *db, struct arena *a, struct db_campaign *c, struct err *e)
{
	/* the number is read and taken under one lock */
	int r = db_begin(db, e);

	if (r)
		return r;
	r = insert_campaign(db, a, c, e);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}

int db_set_campaign(struct db *db, const struct db_campaign *c, struct err *e)
{
	struct db_campaign row = *c;

	if (!row.tool_version)
		row.tool_version = KDELTA_VERSION;
	return sql_update(db, &campaign_shape, &row, e);
}

int db_add_campaign_variant(struct db *db, const char *campaign, int64_t variant, int position,
			    const char *name, const char *description, bool baseline, struct err *e)
{
	return sql_run(db, e,
		       "INSERT INTO campaign_variants(campaign_id, variant_id, position, name,"
		       " description, baseline) VALUES (?, ?, ?, ?, ?, ?)",
		       "slittb", campaign, variant, position, name, description, (int)baseline);
}

int db_add_campaign_case(struct db *db, const char *campaign, int64_t case_id, int position,
			 double expected, struct err *e)
{
	return sql_run(db, e,
		       "INSERT INTO campaign_cases(campaign_id, case_id, position, expected)"
		       " VALUES (?, ?, ?, ?)",
		       "slid", campaign, case_id, position, expected);
}

static const struct sql_shape cell_shape = {
	.size = sizeof(struct db_cell),
	.fields =
		{
			SQL_FIELD(struct db_cell, id, "id", 'K'),
			SQL_FIELD(struct db_cell, variant_id, "variant_id", 'l'),
			SQL_FIELD(struct db_cell, case_id, "case_id", 'l'),
			SQL_FIELD(struct db_cell, seq, "seq", 'i'),
			SQL_FIELD(struct db_cell, block, "block", 'i'),
			SQL_FIELD(struct db_cell, attempts, "attempts", 'i'),
			SQL_FIELD(struct db_cell, state, "state", 't'),
			SQL_FIELD(struct db_cell, reason, "reason", 't'),
		},
};

int db_add_cell(struct db *db, const char *campaign, const struct db_cell *c, struct err *e)
{
	return sql_run(db, e,
		       "INSERT INTO cells(campaign_id, seq, block, variant_id, case_id, state,"
		       " attempts, reason) VALUES (?, ?, ?, ?, ?, ifnull(?, 'planned'), ?, ?)",
		       "siillsit", campaign, c->seq, c->block, c->variant_id, c->case_id, c->state,
		       c->attempts, c->reason);
}

int db_get_cells(struct db *db, struct arena *a, const char *campaign, struct db_cell **cells,
		 size_t *n, struct err *e)
{
	return sql_list(db, a, &cell_shape, cells, n, e,
			"FROM cells WHERE campaign_id = ? ORDER BY seq", "s", campaign);
}

int db_set_cell(struct db *db, int64_t id, const char *state, int attempts, const char *reason,
		struct err *e)
{
	return sql_run(db, e,
		       "UPDATE cells SET state = ?2, attempts = ?3, reason = ?4 WHERE id = ?1",
		       "lsit", id, state, attempts, reason);
}

#define GOOD_RUN                                                                                   \
	"EXISTS (SELECT 1 FROM runs r WHERE r.cell_id = cells.id"                                  \
	" AND r.outcome IN ('ok', 'suspect'))"

int db_settle_cells(struct db *db, const char *campaign, struct err *e)
{
	int r = sql_run(db, e,
			"UPDATE cells SET state = 'done', reason = ''"
			" WHERE campaign_id = ? AND state != 'done' AND " GOOD_RUN,
			"s", campaign);

	if (r)
		return r;
	return sql_run(
		db, e,
		"UPDATE cells SET state = 'failed', reason = ifnull((SELECT error FROM runs r"
		" WHERE r.cell_id = cells.id ORDER BY r.id DESC LIMIT 1), '')"
		" WHERE campaign_id = ? AND state = 'done' AND NOT " GOOD_RUN,
		"s", campaign);
}

int db_put_verdict(struct db *db, const char *campaign, int64_t variant, int64_t case_id,
		   int64_t metric, enum verdict v, bool small, struct err *e)
{
	_cleanup_free_ char *word = mem_printf("%s%s", verdict_name(v), small ? " small" : "");

	return sql_run(db, e,
		       "INSERT INTO verdicts(campaign_id, variant_id, case_id, metric_id, verdict)"
		       " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
		       " verdict = excluded.verdict WHERE verdict != excluded.verdict",
		       "sllls", campaign, variant, case_id, metric, word);
}

static const struct sql_shape verdict_shape = {
	.size = sizeof(struct db_verdict),
	.fields =
		{
			SQL_FIELD(struct db_verdict, case_id, "case_id", 'l'),
			SQL_FIELD(struct db_verdict, metric_id, "metric_id", 'l'),
			SQL_FIELD(struct db_verdict, variant_id, "variant_id", 'l'),
			SQL_FIELD(struct db_verdict, verdict, "verdict", 't'),
		},
};

int db_get_verdicts(struct db *db, struct arena *a, const char *campaign, struct db_verdict **list,
		    size_t *n, struct err *e)
{
	return sql_list(db, a, &verdict_shape, list, n, e,
			"FROM verdicts WHERE campaign_id = ?"
			" ORDER BY case_id, metric_id, variant_id",
			"s", campaign);
}

int db_clear_verdicts(struct db *db, const char *campaign, struct err *e)
{
	return sql_run(db, e, "DELETE FROM verdicts WHERE campaign_id = ?", "s", campaign);
}

int db_set_fact(struct db *db, const char *scope, const char *scope_id, const char *key,
		const char *value, struct err *e)
{
	return sql_run(db, e,
		       "INSERT OR REPLACE INTO facts(scope, scope_id, key, value)"
		       " VALUES (?, ?, ?, ?)",
		       "ssst", scope, scope_id, key, value);
}

int db_remove_fact(struct db *db, const char *scope, const char *scope_id, const char *key,
		   struct err *e)
{
	return sql_run(db, e, "DELETE FROM facts WHERE scope = ? AND scope_id = ? AND key = ?",
		       "sss", scope, scope_id, key);
}

static const struct sql_shape fact_shape = {
	.size = sizeof(struct db_fact),
	.fields =
		{
			SQL_FIELD(struct db_fact, scope, "scope", 't'),
			SQL_FIELD(struct db_fact, scope_id, "scope_id", 't'),
			SQL_FIELD(struct db_fact, key, "key", 't'),
			SQL_FIELD(struct db_fact, value, "value", 't'),
		},
};

int db_get_facts(struct db *db, struct arena *a, const char *scope, const char *scope_id,
		 struct db_fact **list, size_t *n, struct err *e)
{
	if (!scope_id)
		return sql_list(db, a, &fact_shape, list, n, e,
				"FROM facts WHERE scope = ? ORDER BY scope_id, key", "s", scope);
	return sql_list(db, a, &fact_shape, list, n, e,
			"FROM facts WHERE scope = ? AND scope_id = ? ORDER BY key", "ss", scope,
			scope_id);
}

#define NEWEST " ORDER BY created DESC, rowid DESC"

int db_get_campaigns(struct db *db, struct arena *a, struct db_campaign **list, size_t *n,
		     struct err *e)
{
	return sql_list(db, a, &campaign_shape, list, n, e, "FROM campaigns" NEWEST, "");
}

/* At most this many campaigns are named in a message */
#define CAMPAIGNS_NAMED 5

static char *campaign_ids(struct arena *a, const struct db_campaign *list, size_t n)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < n && i < CAMPAIGNS_NAMED; i++)
		strbuf_addf(&sb, "%s%s", i ? ", " : "", list[i].id);
	if (n > i)
		strbuf_addf(&sb, " and %zu more", n - i);
	return arena_strdup(a, strbuf_str(&sb));
}

static int no_campaign(struct db *db, struct arena *a, const char *what, struct err *e)
{
	struct db_campaign *list;
	size_t n;
	int r = db_get_campaigns(db, a, &list, &n, e);

	if (r)
		return r;
	if (!n) {
		err_add(e, 0, "%s holds no campaign yet", db->path);
		err_hint(e, "`kdelta run`, `record` or `import` make one");
	} else {
		err_add(e, 0, "there is no campaign '%s' in %s", what, db->path);
		err_hint(e, "there are: %s", campaign_ids(a, list, n));
	}
	return -ENOENT;
}

int db_find_campaign(struct db *db, struct arena *a, const char *what, struct db_campaign *c,
		     struct err *e)
{
	struct db_campaign *list;
	size_t n;
	int r;

	/* the id itself comes first, then the newest of that name */
	r = sql_get(db, a, &campaign_shape, c, e,
		    "FROM campaigns WHERE ?1 IS NULL OR id = ?1 OR name = ?1"
		    " ORDER BY id = ?1 DESC, created DESC, rowid DESC LIMIT 1",
		    "s", what);
	if (r)
		return MIN(r, 0);
	r = sql_list(db, a, &campaign_shape, &list, &n, e,
		     "FROM campaigns WHERE substr(id, 1, length(?1)) = ?1" NEWEST, "s", what);
	if (r)
		return r;
	if (!n || !*what)
		return no_campaign(db, a, what ? what : "", e);
	if (n > 1) {
		err_add(e, 0, "'%s' begins the names of %zu campaigns", what, n);
		err_hint(e, "give one of %s", campaign_ids(a, list, n));
		return -ENOTUNIQ;
	}
	*c = *list;
	return 0;
}

static const struct sql_shape total_shape = {
	.size = sizeof(struct db_total),
	.fields =
		{
			SQL_FIELD(struct db_total, campaign, "c.id", 't'),
			SQL_FIELD(struct db_total, variants,
				  "(SELECT count(*) FROM campaign_variants x WHERE x.campaign_id = "
				  "c.id)",
				  'i'),
			SQL_FIELD(struct db_total, cases,
				  "(SELECT count(*) FROM campaign_cases x WHERE x.campaign_id = "
				  "c.id)",
				  'i'),
			SQL_FIELD(struct db_total, cells,
				  "(SELECT count(*) FROM cells x WHERE x.campaign_id = c.id)", 'i'),
			SQL_FIELD(struct db_total, done,
				  "(SELECT count(*) FROM cells x WHERE x.campaign_id = c.id"
				  " AND x.state = 'done')",
				  'i'),
			SQL_FIELD(struct db_total, boots,
				  "(SELECT count(*) FROM boots x WHERE x.campaign_id = c.id)", 'i'),
			SQL_FIELD(struct db_total, runs,
				  "(SELECT count(*) FROM runs x WHERE x.campaign_id = c.id)", 'i'),
			SQL_FIELD(struct db_total, ok,
				  "(SELECT count(*) FROM runs x WHERE x.campaign_id = c.id"
				  " AND x.outcome = 'ok')",
				  'i'),
		},
};

int db_get_totals(struct db *db, struct arena *a, const char *campaign, struct db_total **list,
		  size_t *n, struct err *e)
{
	return sql_list(db, a, &total_shape, list, n, e,
			"FROM campaigns c WHERE ?1 IS NULL OR c.id = ?1"
			" ORDER BY c.created DESC, c.rowid DESC",
			"s", campaign);
}

int db_remove_campaign(struct db *db, const char *campaign, struct err *e)
{
	/* facts refer by text, and consoles are rows that boots refer to */
	static const char *const steps[] = {
		"DELETE FROM facts WHERE scope = 'run' AND scope_id IN"
		" (SELECT CAST(id AS TEXT) FROM runs WHERE campaign_id = ?)",
		"DELETE FROM facts WHERE scope = 'boot' AND scope_id IN"
		" (SELECT CAST(id AS TEXT) FROM boots WHERE campaign_id = ?)",
		"DELETE FROM facts WHERE scope = 'campaign' AND scope_id = ?",
		"DELETE FROM raws WHERE id IN (SELECT console_id FROM boots WHERE campaign_id = ?)",
		"DELETE FROM campaigns WHERE id = ?",
	};
	int r = db_begin(db, e);

	if (r)
		return r;
	r = sql_run(db, e, "PRAGMA defer_foreign_keys = ON", "");
	for (size_t i = 0; i < ARRAY_SIZE(steps) && !r; i++)
		r = sql_run(db, e, steps[i], "s", campaign);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}
