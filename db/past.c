// SPDX-License-Identifier: GPL-2.0-or-later
/* One metric over all campaigns. */
#include "db/sql.h"

static const struct sql_shape past_shape = {
	.size = sizeof(struct db_past),
	.fields =
		{
			SQL_FIELD(struct db_past, campaign, "c.id", 't'),
			SQL_FIELD(struct db_past, created, "c.created", 'l'),
			SQL_FIELD(struct db_past, machine_id, "ifnull(c.machine_id, 0)", 'l'),
			SQL_FIELD(struct db_past, case_id, "r.case_id", 'l'),
			SQL_FIELD(struct db_past, metric_id, "m.id", 'l'),
			SQL_FIELD(struct db_past, variant_id, "r.variant_id", 'l'),
			SQL_FIELD(struct db_past, test_case, "t.name", 't'),
			SQL_FIELD(struct db_past, variant, "cv.name", 't'),
			SQL_FIELD(struct db_past, baseline, "cv.baseline", 'b'),
			SQL_FIELD(struct db_past, again,
				  "json_extract(v.settings, '$.same_as') IS NOT NULL", 'b'),
			SQL_FIELD(struct db_past, release, "ifnull(k.release, '')", 't'),
			SQL_FIELD(struct db_past, commit, "ifnull(k.commit_id, '')", 't'),
			SQL_FIELD(struct db_past, value, "avg(s.value)", 'd'),
		},
};

int db_get_past(struct db *db, struct arena *a, const char *metric, const char *test_case,
		int64_t machine, struct db_past **list, size_t *n, struct err *e)
{
	/* CROSS JOIN keeps the order: samples have no index by metric alone */
	return sql_list(db, a, &past_shape, list, n, e,
			"FROM metrics m CROSS JOIN campaigns c CROSS JOIN runs r"
			" ON r.campaign_id = c.id AND r.outcome = 'ok'"
			" AND (?2 IS NULL OR r.case_id IN (SELECT id FROM test_cases WHERE name = ?2))"
			" CROSS JOIN samples s ON s.run_id = r.id AND s.metric_id = m.id"
			" JOIN test_cases t ON t.id = r.case_id"
			" JOIN campaign_variants cv ON cv.campaign_id = c.id"
			" AND cv.variant_id = r.variant_id"
			" JOIN variants v ON v.id = r.variant_id LEFT JOIN kernels k ON k.id = v.kernel_id"
			" WHERE (m.name = ?1 OR (?1 IS NULL AND m.role = 'headline'))"
			" AND (?3 IS NULL OR c.machine_id = ?3)"
			" GROUP BY m.id, c.rowid, r.case_id, r.variant_id,"
			" CASE WHEN c.unit = 'boot' AND r.boot_id IS NOT NULL THEN -r.boot_id"
			" ELSE r.id END"
			" ORDER BY m.name, t.name, r.case_id, c.machine_id, c.created, c.rowid, cv.position,"
			" min(r.block), min(r.id)",
			"ssk", metric, test_case, machine);
}
