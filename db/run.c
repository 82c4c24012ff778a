// SPDX-License-Identifier: GPL-2.0-or-later
/* Boots and runs, their samples and series, imported summaries, and the units made of them. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "db/sql.h"

static const struct sql_shape boot_shape = {
	.table = "boots",
	.size = sizeof(struct db_boot),
	.fields =
		{
			SQL_FIELD(struct db_boot, id, "id", 'K'),
			SQL_FIELD(struct db_boot, campaign, "campaign_id", 's'),
			SQL_FIELD(struct db_boot, variant_id, "variant_id", 'l'),
			SQL_FIELD(struct db_boot, machine_id, "machine_id", 'k'),
			SQL_FIELD(struct db_boot, block, "block", 'i'),
			SQL_FIELD(struct db_boot, boot_id, "boot_id", 't'),
			SQL_FIELD(struct db_boot, started, "started", 'l'),
			SQL_FIELD(struct db_boot, seconds, "seconds", 'p'),
			SQL_FIELD(struct db_boot, outcome, "outcome", 't'),
			SQL_FIELD(struct db_boot, reason, "reason", 't'),
			SQL_FIELD(struct db_boot, release, "release", 't'),
			SQL_FIELD(struct db_boot, build_id, "build_id", 't'),
			SQL_FIELD(struct db_boot, clocksource, "clocksource", 't'),
			SQL_FIELD(struct db_boot, console_id, "console_id", 'k'),
		},
};

/* An outcome nobody stated yet is the table's default. */
static struct db_boot boot_row(const struct db_boot *b)
{
	struct db_boot row = *b;

	if (!row.outcome)
		row.outcome = "open";
	return row;
}

int db_add_boot(struct db *db, const struct db_boot *b, int64_t *id, struct err *e)
{
	struct db_boot row = boot_row(b);

	return sql_insert(db, &boot_shape, &row, id, e);
}

int db_set_boot(struct db *db, const struct db_boot *b, struct err *e)
{
	struct db_boot row = boot_row(b);

	return sql_update(db, &boot_shape, &row, e);
}

int db_get_boots(struct db *db, struct arena *a, const char *campaign, struct db_boot **list,
		 size_t *n, struct err *e)
{
	return sql_list(db, a, &boot_shape, list, n, e,
			"FROM boots WHERE campaign_id = ? ORDER BY id", "s", campaign);
}

int db_get_boot(struct db *db, struct arena *a, int64_t id, struct db_boot *boot, struct err *e)
{
	int r = sql_get(db, a, &boot_shape, boot, e, "FROM boots WHERE id = ?", "l", id);

	if (!r)
		return err_add(e, -ENOENT, "%s: there is no boot %" PRId64, db->path, id);
	return MIN(r, 0);
}

static const struct sql_shape run_shape = {
	.table = "runs",
	.size = sizeof(struct db_run),
	.fields =
		{
			SQL_FIELD(struct db_run, id, "id", 'K'),
			SQL_FIELD(struct db_run, campaign, "campaign_id", 's'),
			SQL_FIELD(struct db_run, variant_id, "variant_id", 'l'),
			SQL_FIELD(struct db_run, case_id, "case_id", 'l'),
			SQL_FIELD(struct db_run, cell_id, "cell_id", 'k'),
			SQL_FIELD(struct db_run, boot_id, "boot_id", 'k'),
			SQL_FIELD(struct db_run, machine_id, "machine_id", 'k'),
			SQL_FIELD(struct db_run, block, "block", 'i'),
			SQL_FIELD(struct db_run, attempt, "attempt", 'i'),
			SQL_FIELD(struct db_run, started, "started", 'l'),
			SQL_FIELD(struct db_run, outcome, "outcome", 't'),
			SQL_FIELD(struct db_run, error, "error", 's'),
			SQL_FIELD(struct db_run, message, "message", 's'),
			SQL_FIELD(struct db_run, command, "command", 't'),
			SQL_FIELD(struct db_run, parser, "parser", 't'),
			SQL_FIELD(struct db_run, exit_status, "exit_status", 'm'),
			SQL_FIELD(struct db_run, signal, "signal", 'o'),
			SQL_FIELD(struct db_run, elapsed, "elapsed", 'p'),
			SQL_FIELD(struct db_run, user_time, "user_time", 'n'),
			SQL_FIELD(struct db_run, sys_time, "sys_time", 'n'),
			SQL_FIELD(struct db_run, max_rss, "max_rss", 'M'),
			SQL_FIELD(struct db_run, voluntary, "voluntary", 'M'),
			SQL_FIELD(struct db_run, involuntary, "involuntary", 'M'),
			SQL_FIELD(struct db_run, leftovers, "leftovers", 'i'),
		},
};

int db_add_run(struct db *db, const struct db_run *r, int64_t *id, struct err *e)
{
	struct db_run row = *r;

	if (!row.outcome)
		row.outcome = "stored";
	if (!(row.elapsed > 0)) { /* nobody measured it: its zeros are no measurements */
		row.user_time = row.sys_time = NAN;
		row.max_rss = row.voluntary = row.involuntary = -1;
	}
	return sql_insert(db, &run_shape, &row, id, e);
}

int db_set_run_outcome(struct db *db, int64_t run, const char *outcome, const char *error,
		       const char *message, struct err *e)
{
	return sql_run(db, e,
		       "UPDATE runs SET outcome = ?2, error = ?3, message = ?4 WHERE id = ?1",
		       "lsss", run, outcome, error, message);
}

int db_get_runs(struct db *db, struct arena *a, const char *campaign, struct db_run **list,
		size_t *n, struct err *e)
{
	return sql_list(db, a, &run_shape, list, n, e,
			"FROM runs WHERE campaign_id = ? ORDER BY id", "s", campaign);
}

int db_get_run(struct db *db, struct arena *a, int64_t id, struct db_run *run, struct err *e)
{
	int r = sql_get(db, a, &run_shape, run, e, "FROM runs WHERE id = ?", "l", id);

	if (!r)
		return err_add(e, -ENOENT, "%s: there is no run %" PRId64, db->path, id);
	return MIN(r, 0);
}

int db_add_sample(struct db *db, int64_t run, int64_t metric, double value, struct err *e)
{
	if (!isfinite(value))
		return err_add(e, -EINVAL, "a sample must be a number: run %" PRId64, run);
	return sql_run(db, e, "INSERT INTO samples(run_id, metric_id, value) VALUES (?, ?, ?)",
		       "lld", run, metric, value);
}

int db_add_series(struct db *db, int64_t run, int64_t metric, const double *t, const double *v,
		  size_t n, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; !db->scratch && i < n && !r; i++)
		if (isfinite(t[i]) && isfinite(v[i]))
			r = sql_run(db, e,
				    "INSERT OR REPLACE INTO series(run_id, metric_id, t, value)"
				    " VALUES (?, ?, ?, ?)",
				    "lldd", run, metric, t[i], v[i]);
	return r;
}

int db_clear_samples(struct db *db, int64_t run, struct err *e)
{
	int r = sql_run(db, e, "DELETE FROM samples WHERE run_id = ?", "l", run);

	if (!r)
		r = sql_run(db, e, "DELETE FROM series WHERE run_id = ?", "l", run);
	if (!r)
		r = sql_run(db, e,
			    "DELETE FROM facts WHERE scope = 'run' AND scope_id = CAST(? AS TEXT)"
			    " AND key GLOB 'series.*'",
			    "l", run);
	return r;
}

static const struct sql_shape sample_shape = {
	.size = sizeof(struct db_value),
	.fields =
		{
			SQL_FIELD(struct db_value, metric, "m.name", 't'),
			SQL_FIELD(struct db_value, unit, "m.unit", 't'),
			SQL_FIELD(struct db_value, role, "m.role", 't'),
			SQL_FIELD(struct db_value, value, "s.value", 'd'),
		},
};

int db_get_samples(struct db *db, struct arena *a, int64_t run, struct db_value **list, size_t *n,
		   struct err *e)
{
	return sql_list(db, a, &sample_shape, list, n, e,
			"FROM samples s JOIN metrics m ON m.id = s.metric_id WHERE s.run_id = ?"
			" ORDER BY m.name",
			"l", run);
}

static const struct sql_shape series_shape = {
	.size = sizeof(struct db_value),
	.fields =
		{
			SQL_FIELD(struct db_value, metric, "m.name", 't'),
			SQL_FIELD(struct db_value, unit, "m.unit", 't'),
			SQL_FIELD(struct db_value, role, "m.role", 't'),
			SQL_FIELD(struct db_value, t, "s.t", 'd'),
			SQL_FIELD(struct db_value, value, "s.value", 'd'),
		},
};

int db_get_series(struct db *db, struct arena *a, int64_t run, struct db_value **list, size_t *n,
		  struct err *e)
{
	return sql_list(db, a, &series_shape, list, n, e,
			"FROM series s JOIN metrics m ON m.id = s.metric_id WHERE s.run_id = ?"
			" ORDER BY m.name, s.t",
			"l", run);
}

static const struct sql_shape summary_shape = {
	.size = sizeof(struct db_summary),
	.fields =
		{
			SQL_FIELD(struct db_summary, variant_id, "s.variant_id", 'l'),
			SQL_FIELD(struct db_summary, case_id, "s.case_id", 'l'),
			SQL_FIELD(struct db_summary, metric_id, "s.metric_id", 'l'),
			SQL_FIELD(struct db_summary, idx, "s.idx", 'i'),
			SQL_FIELD(struct db_summary, has_mean, "s.mean IS NOT NULL", 'b'),
			SQL_FIELD(struct db_summary, mean, "s.mean", 'n'),
			SQL_FIELD(struct db_summary, mean_text, "s.mean_text", 't'),
			SQL_FIELD(struct db_summary, mean_kind, "s.mean_kind", 't'),
			SQL_FIELD(struct db_summary, has_deviation, "s.deviation IS NOT NULL", 'b'),
			SQL_FIELD(struct db_summary, deviation, "s.deviation", 'n'),
			SQL_FIELD(struct db_summary, deviation_kind, "s.deviation_kind", 't'),
			SQL_FIELD(struct db_summary, n, "s.n", 'o'),
			SQL_FIELD(struct db_summary, has_change, "s.change IS NOT NULL", 'b'),
			SQL_FIELD(struct db_summary, change, "s.change", 'n'),
			SQL_FIELD(struct db_summary, change_sign, "s.change_sign", 't'),
			SQL_FIELD(struct db_summary, mark, "s.mark", 'b'),
			SQL_FIELD(struct db_summary, line, "s.line", 'i'),
		},
};

int db_add_summary(struct db *db, const char *campaign, const struct db_summary *s, struct err *e)
{
	return sql_run(db, e,
		       "INSERT INTO summaries(campaign_id, variant_id, case_id, metric_id, idx,"
		       " mean, mean_text, mean_kind, deviation, deviation_kind, n, change,"
		       " change_sign, mark, line)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		       "slllinttntontbi", campaign, s->variant_id, s->case_id, s->metric_id, s->idx,
		       s->has_mean ? s->mean : NAN, s->mean_text, s->mean_kind,
		       s->has_deviation ? s->deviation : NAN, s->deviation_kind, s->n,
		       s->has_change ? s->change : NAN, s->change_sign, (int)s->mark, s->line);
}

int db_get_summaries(struct db *db, struct arena *a, const char *campaign, struct db_summary **list,
		     size_t *n, struct err *e)
{
	return sql_list(db, a, &summary_shape, list, n, e,
			"FROM summaries s WHERE s.campaign_id = ?"
			" ORDER BY s.case_id, s.metric_id, s.variant_id, s.idx",
			"s", campaign);
}

/* A unit being averaged; the view `units` of the schema says the same in SQL, of all roles. */
struct unit_sample {
	struct db_unit unit;
	int64_t key;
};

static const struct sql_shape unit_shape = {
	.size = sizeof(struct unit_sample),
	.fields =
		{
			SQL_FIELD(struct unit_sample, unit.case_id, "r.case_id", 'l'),
			SQL_FIELD(struct unit_sample, unit.metric_id, "s.metric_id", 'l'),
			SQL_FIELD(struct unit_sample, unit.variant_id, "r.variant_id", 'l'),
			SQL_FIELD(struct unit_sample, unit.campaign, "c.rowid", 'l'),
			SQL_FIELD(struct unit_sample, unit.block, "r.block", 'i'),
			SQL_FIELD(struct unit_sample, key,
				  "CASE WHEN c.unit = 'boot' AND r.boot_id IS NOT NULL THEN "
				  "-r.boot_id"
				  " ELSE r.id END",
				  'l'),
			SQL_FIELD(struct unit_sample, unit.value, "s.value", 'd'),
		},
};

static bool is_same_unit(const struct unit_sample *x, const struct unit_sample *y)
{
	return x->key == y->key && x->unit.metric_id == y->unit.metric_id &&
	       x->unit.case_id == y->unit.case_id && x->unit.variant_id == y->unit.variant_id;
}

/*
 * Averaged here and not by GROUP BY, which takes SQLite three times as long. A boot lies in one
 * block, so the samples of a unit stand together.
 */
static int average_units(struct db *db, struct arena *a, sqlite3_stmt *stmt, struct db_unit **list,
			 size_t *n, struct err *e)
{
	ARRAY_OF(struct db_unit) units = {NULL, 0, 0};
	struct unit_sample last = {.key = 0}, next;
	double members = 0;
	int r;

	while ((r = sql_row(db, stmt, &unit_shape, a, &next, e)) > 0) {
		if (!members || !is_same_unit(&last, &next)) {
			*ARRAY_PUSH(&units) = next.unit;
			last = next;
			members = 1;
			continue;
		}
		/* the mean so far moves towards the new member */
		members++;
		units.items[units.n - 1].value +=
			(next.unit.value - units.items[units.n - 1].value) / members;
	}
	*list = arena_copy(a, units.items, units.n, sizeof(*units.items));
	*n = units.n;
	ARRAY_FREE(&units);
	return r;
}

/* CROSS JOIN keeps the order: beside a GROUP BY SQLite would begin with all runs there are. */
#define UNIT_SAMPLES                                                                               \
	" CROSS JOIN runs r ON r.campaign_id = c.id AND r.outcome = 'ok'"                          \
	" CROSS JOIN samples s ON s.run_id = r.id"                                                 \
	" JOIN metrics m ON m.id = s.metric_id AND m.role != 'diagnostic'"
#define UNIT_ORDER                                                                                 \
	" ORDER BY r.case_id, s.metric_id, c.rowid, r.variant_id, r.block,"                        \
	" ifnull(r.boot_id, r.id), r.id"

int db_get_units(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		 size_t *n, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_select(
		db, &unit_shape, e, "FROM campaigns c" UNIT_SAMPLES " WHERE c.id = ?" UNIT_ORDER,
		"s", campaign);

	*n = 0;
	return stmt ? average_units(db, a, stmt, list, n, e) : db->error;
}

int db_get_headline_units(struct db *db, struct arena *a, const char *campaign,
			  struct db_unit **list, size_t *n, struct err *e)
{
	/* CROSS JOIN keeps the order: of a run's hundreds of samples only those are looked up */
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_select(
		db, &unit_shape, e,
		"FROM campaigns c CROSS JOIN metrics m ON m.role = 'headline'"
		" CROSS JOIN runs r ON r.campaign_id = c.id AND r.outcome = 'ok'"
		" CROSS JOIN samples s ON s.run_id = r.id AND s.metric_id = m.id"
		" WHERE c.id = ?" UNIT_ORDER,
		"s", campaign);

	*n = 0;
	return stmt ? average_units(db, a, stmt, list, n, e) : db->error;
}

/* Pairs of flip mode (fact order) and blocks of whole runs have nothing to say of each other. */
#define SAME_ORDER                                                                                 \
	" AND EXISTS (SELECT 1 FROM facts f WHERE f.scope = 'campaign' AND f.scope_id = o.id"      \
	" AND f.key = 'order' AND f.value = 'flip') = EXISTS (SELECT 1 FROM facts f"               \
	" WHERE f.scope = 'campaign' AND f.scope_id = now.id AND f.key = 'order'"                  \
	" AND f.value = 'flip')"

int db_get_history(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		   size_t *n, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_select(
		db, &unit_shape, e,
		"FROM (SELECT o.rowid, o.id, o.unit FROM campaigns now"
		" JOIN campaigns o ON o.machine_id = now.machine_id AND o.unit = now.unit"
		" AND o.backend = now.backend AND o.accelerator = now.accelerator"
		" AND (o.created, o.rowid) < (now.created, now.rowid)" SAME_ORDER
		" WHERE now.id = ?1 AND EXISTS (SELECT 1 FROM campaign_cases old"
		" JOIN campaign_cases mine ON mine.case_id = old.case_id"
		" WHERE old.campaign_id = o.id AND mine.campaign_id = ?1)"
		" ORDER BY o.created DESC, o.rowid DESC LIMIT ?2) c" UNIT_SAMPLES
		" WHERE r.case_id IN (SELECT case_id FROM campaign_cases WHERE campaign_id = "
		"?1)" UNIT_ORDER,
		"si", campaign, (int)DB_HISTORY);

	*n = 0;
	return stmt ? average_units(db, a, stmt, list, n, e) : db->error;
}

/* Pairs of arms of the campaigns that compare with ?1. */
#define ARM_PAIRS                                                                                  \
	"FROM (SELECT o.rowid, o.id, o.unit FROM campaigns now"                                    \
	" JOIN campaigns o ON o.machine_id = now.machine_id AND o.unit = now.unit"                 \
	" AND o.backend = now.backend AND o.accelerator = now.accelerator"                         \
	" AND o.created <= now.created" SAME_ORDER " WHERE now.id = ?1 AND EXISTS"                 \
	" (SELECT 1 FROM campaign_variants cv JOIN variants v ON v.id = cv.variant_id"             \
	" WHERE cv.campaign_id = o.id AND json_extract(v.settings, '$.same_as') IS NOT NULL)"      \
	" ORDER BY o.created DESC, o.rowid DESC LIMIT ?2) c"                                       \
	" JOIN campaign_variants ca ON ca.campaign_id = c.id"                                      \
	" JOIN variants again ON again.id = ca.variant_id"                                         \
	" JOIN variants original ON original.identity = json_extract(again.settings, '$.same_as')" \
	" JOIN campaign_variants co ON co.campaign_id = c.id AND co.variant_id = original.id"

int db_get_arms(struct db *db, struct arena *a, const char *campaign, struct db_arm **list,
		size_t *n, struct err *e)
{
	static const struct sql_shape shape = {
		.size = sizeof(struct db_arm),
		.fields =
			{
				SQL_FIELD(struct db_arm, campaign, "c.rowid", 'l'),
				SQL_FIELD(struct db_arm, original, "original.id", 'l'),
				SQL_FIELD(struct db_arm, again, "again.id", 'l'),
			},
	};

	return sql_list(db, a, &shape, list, n, e, ARM_PAIRS, "si", campaign, (int)DB_ARMS);
}

int db_get_arm_units(struct db *db, struct arena *a, const char *campaign, struct db_unit **list,
		     size_t *n, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt =
		sql_select(db, &unit_shape, e,
			   ARM_PAIRS UNIT_SAMPLES " WHERE r.variant_id IN (original.id, again.id)"
						  " GROUP BY r.id, s.metric_id" UNIT_ORDER,
			   "si", campaign, (int)DB_ARMS);

	*n = 0;
	return stmt ? average_units(db, a, stmt, list, n, e) : db->error;
}

int db_get_boot_facts(struct db *db, struct arena *a, const char *campaign, const char *prefix,
		      struct db_boot_fact **list, size_t *n, struct err *e)
{
	static const struct sql_shape shape = {
		.size = sizeof(struct db_boot_fact),
		.fields =
			{
				SQL_FIELD(struct db_boot_fact, variant_id, "b.variant_id", 'l'),
				SQL_FIELD(struct db_boot_fact, key, "f.key", 't'),
				SQL_FIELD(struct db_boot_fact, value, "f.value", 't'),
				SQL_FIELD(struct db_boot_fact, boots, "count(*)", 'i'),
			},
	};

	return sql_list(db, a, &shape, list, n, e,
			"FROM boots b JOIN facts f ON f.scope = 'boot'"
			" AND f.scope_id = CAST(b.id AS TEXT)"
			" WHERE b.campaign_id = ?1 AND b.outcome = 'ok'"
			" AND substr(f.key, 1, length(?2)) = ?2"
			" GROUP BY f.key, b.variant_id, f.value ORDER BY f.key, b.variant_id, f.value",
			"ss", campaign, prefix);
}

int db_get_run_facts(struct db *db, struct arena *a, const char *campaign, const char *prefix,
		     struct db_run_fact **list, size_t *n, struct err *e)
{
	static const struct sql_shape shape = {
		.size = sizeof(struct db_run_fact),
		.fields =
			{
				SQL_FIELD(struct db_run_fact, case_id, "r.case_id", 'l'),
				SQL_FIELD(struct db_run_fact, variant_id, "r.variant_id", 'l'),
				SQL_FIELD(struct db_run_fact, run, "r.id", 'l'),
				SQL_FIELD(struct db_run_fact, key, "f.key", 't'),
				SQL_FIELD(struct db_run_fact, value, "f.value", 't'),
			},
	};

	return sql_list(db, a, &shape, list, n, e,
			"FROM runs r JOIN facts f ON f.scope = 'run'"
			" AND f.scope_id = CAST(r.id AS TEXT)"
			" WHERE r.campaign_id = ?1 AND r.outcome = 'ok'"
			" AND substr(f.key, 1, length(?2)) = ?2"
			" ORDER BY r.case_id, r.variant_id, r.id, f.key",
			"ss", campaign, prefix);
}

static const struct sql_shape count_shape = {
	.size = sizeof(struct db_count),
	.fields =
		{
			SQL_FIELD(struct db_count, case_id, "case_id", 'l'),
			SQL_FIELD(struct db_count, variant_id, "variant_id", 'l'),
			SQL_FIELD(struct db_count, ok, "sum(outcome = 'ok')", 'i'),
			SQL_FIELD(struct db_count, suspect, "sum(outcome = 'suspect')", 'i'),
			SQL_FIELD(struct db_count, failed, "sum(outcome IN ('partial', 'error'))",
				  'i'),
			/* `error` is that of the row of max(): SQLite's rule for a bare column */
			SQL_FIELD(struct db_count, last_error,
				  "iif(max(iif(outcome IN ('partial', 'error'), id, 0)) > 0, "
				  "error, NULL)",
				  's'),
		},
};

int db_get_counts(struct db *db, struct arena *a, const char *campaign, struct db_count **list,
		  size_t *n, struct err *e)
{
	return sql_list(db, a, &count_shape, list, n, e,
			"FROM runs WHERE campaign_id = ? AND outcome != 'stored'"
			" GROUP BY variant_id, case_id ORDER BY case_id, variant_id",
			"s", campaign);
}

static const struct sql_shape view_shape = {
	.size = sizeof(struct db_view),
	.fields =
		{
			SQL_FIELD(struct db_view, campaign, "campaign", 't'),
			SQL_FIELD(struct db_view, variant, "variant", 't'),
			SQL_FIELD(struct db_view, test_case, "test_case", 't'),
			SQL_FIELD(struct db_view, metric, "metric", 't'),
			SQL_FIELD(struct db_view, unit, "unit", 't'),
			SQL_FIELD(struct db_view, direction, "direction", 'D'),
			SQL_FIELD(struct db_view, n, "n", 'o'),
			SQL_FIELD(struct db_view, hmean, "hmean", 'n'),
			SQL_FIELD(struct db_view, amean, "amean", 'n'),
			SQL_FIELD(struct db_view, stddev, "stddev", 'n'),
			SQL_FIELD(struct db_view, cv, "cv", 'n'),
			SQL_FIELD(struct db_view, verdict, "verdict", 's'),
		},
};

int db_get_view(struct db *db, struct arena *a, const char *campaign, const char *metric,
		struct db_view **list, size_t *n, struct err *e)
{
	if (campaign)
		return sql_list(db, a, &view_shape, list, n, e,
				"FROM summary WHERE campaign = ?1 AND (?2 IS NULL OR metric = ?2)",
				"ss", campaign, metric);
	return sql_list(db, a, &view_shape, list, n, e,
			"FROM summary WHERE ?1 IS NULL OR metric = ?1", "s", metric);
}
