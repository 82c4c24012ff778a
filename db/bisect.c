// SPDX-License-Identifier: GPL-2.0-or-later
/* Bisections: what was asked and decided by hand; all else follows from the runs. */
#include <errno.h>

#include "db/sql.h"

static const struct sql_shape bisection_shape = {
	.table = "bisections",
	.size = sizeof(struct db_bisection),
	.fields =
		{
			SQL_FIELD(struct db_bisection, id, "id", 'K'),
			SQL_FIELD(struct db_bisection, name, "name", 's'),
			SQL_FIELD(struct db_bisection, campaign, "campaign_id", 's'),
			SQL_FIELD(struct db_bisection, options, "options", 's'),
			SQL_FIELD(struct db_bisection, decisions, "decisions", 't'),
			SQL_FIELD(struct db_bisection, created, "created", 'l'),
			SQL_FIELD(struct db_bisection, ended, "ended", 'k'),
		},
};

#define OPEN_ONE "FROM bisections WHERE name = ? AND ended IS NULL"

int db_add_bisection(struct db *db, struct db_bisection *b, struct err *e)
{
	int64_t id;
	int r = db_begin(db, e);

	if (r)
		return r;
	r = sql_value(db, e, &id, "SELECT id " OPEN_ONE, "s", b->name);
	if (r > 0)
		r = err_add(e, -EEXIST, "a bisection '%s' goes on already", b->name);
	else if (!r)
		r = sql_insert(db, &bisection_shape, b, &b->id, e);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}

int db_set_bisection(struct db *db, const struct db_bisection *b, struct err *e)
{
	return sql_update(db, &bisection_shape, b, e);
}

int db_find_bisection(struct db *db, struct arena *a, const char *name, struct db_bisection *b,
		      struct err *e)
{
	int r = sql_get(db, a, &bisection_shape, b, e, OPEN_ONE, "s", name);

	return r > 0 ? 0 : r ? r : err_add(e, -ENOENT, "no bisection '%s' goes on", name);
}

/* Campaigns that measured what campaign ?1 measures, as it does: c of own. */
#define LIKE_OWN                                                                                   \
	" FROM campaigns own JOIN campaign_cases k ON k.campaign_id = own.id"                      \
	" JOIN campaigns c ON c.machine_id = own.machine_id AND c.backend = own.backend"           \
	"  AND c.accelerator = own.accelerator"                                                    \
	"  AND ifnull((SELECT value FROM facts WHERE scope = 'campaign' AND scope_id = c.id"       \
	"   AND key = 'counting'), '') = ifnull((SELECT value FROM facts WHERE scope = 'campaign'" \
	"   AND scope_id = own.id AND key = 'counting'), '')"                                      \
	" JOIN runs r ON r.campaign_id = c.id AND r.case_id = k.case_id AND r.outcome = 'ok'"

static const struct sql_shape evidence_shape = {
	.size = sizeof(struct db_evidence),
	.fields =
		{
			SQL_FIELD(struct db_evidence, variant_id, "r.variant_id", 'l'),
			SQL_FIELD(struct db_evidence, run, "r.id", 'l'),
			SQL_FIELD(struct db_evidence, boot_id, "r.boot_id", 'k'),
			SQL_FIELD(struct db_evidence, started, "r.started", 'l'),
			SQL_FIELD(struct db_evidence, own, "c.id = own.id", 'b'),
			SQL_FIELD(struct db_evidence, value, "s.value", 'd'),
		},
};

int db_get_evidence(struct db *db, struct arena *a, const char *campaign, const char *metric,
		    struct db_evidence **list, size_t *n, struct err *e)
{
	return sql_list(db, a, &evidence_shape, list, n, e,
			LIKE_OWN " JOIN samples s ON s.run_id = r.id"
				 " JOIN metrics m ON m.id = s.metric_id AND m.name = ?2"
				 " WHERE own.id = ?1 AND r.variant_id IN (SELECT variant_id"
				 "  FROM campaign_variants WHERE campaign_id = ?1)"
				 " ORDER BY r.started, r.id",
			"ss", campaign, metric);
}

static const struct sql_shape foreign_shape = {
	.size = sizeof(struct db_foreign),
	.fields =
		{
			SQL_FIELD(struct db_foreign, variant_id, "DISTINCT v.id", 'l'),
			SQL_FIELD(struct db_foreign, identity, "v.identity", 's'),
			SQL_FIELD(struct db_foreign, commit, "l.commit_id", 's'),
		},
};

int db_get_foreign(struct db *db, struct arena *a, const char *campaign, struct db_foreign **list,
		   size_t *n, struct err *e)
{
	return sql_list(db, a, &foreign_shape, list, n, e,
			LIKE_OWN " JOIN variants v ON v.id = r.variant_id"
				 " JOIN kernels l ON l.id = v.kernel_id AND l.commit_id <> ''"
				 " WHERE own.id = ?1 AND v.id NOT IN (SELECT variant_id"
				 "  FROM campaign_variants WHERE campaign_id = ?1) ORDER BY v.id",
			"s", campaign);
}
