// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The schema as text inside the program. A change after a release is one more step here: SQL that
 * brings a database of the version before to the next, never an edit of a step that was released.
 */
#include "db/sql.h"

__asm__(".pushsection .rodata\n"
	"db_schema_sql:\n"
	".incbin \"db/schema.sql\"\n"
	".byte 0\n"
	".popsection\n");
extern const char db_schema_sql[] __attribute__((visibility("hidden")));

/* What reports say of a metric besides its name, and whether its runs differ only by their seed. */
static const char step_metric_words[] =
	"ALTER TABLE metrics ADD COLUMN topic TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE metrics ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE metrics ADD COLUMN deterministic INTEGER NOT NULL DEFAULT 0;";

/* Raw outputs are found by what they are when campaigns come from other databases. */
static const char step_raw_hashes[] = "CREATE INDEX raws_by_sha256 ON raws(sha256);";

/*
 * Bisections, and campaigns made by them. Options are JSON, decisions lines ("skip 1f2a..."). Of one
 * name only one goes on. (SQLite cannot alter a CHECK; new words of it leave what is stored valid,
 * see "Making Other Kinds Of Table Schema Changes" in its documentation.)
 */
static const char step_bisections[] =
	"CREATE TABLE bisections (id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	" campaign_id TEXT REFERENCES campaigns(id) ON DELETE SET NULL, options TEXT NOT NULL,"
	" decisions TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL, ended INTEGER) STRICT;"
	"CREATE UNIQUE INDEX bisections_by_name ON bisections(name) WHERE ended IS NULL;"
	"PRAGMA writable_schema = ON;"
	"UPDATE sqlite_schema SET sql = replace(sql, ' ''import'')', ' ''import'', ''bisect'')')"
	" WHERE type = 'table' AND name = 'campaigns';"
	"PRAGMA writable_schema = RESET;";

/* What nightlies keep quiet about; test_case '' is every one. until: Unix seconds. */
static const char step_ignores[] =
	"CREATE TABLE ignores (metric TEXT NOT NULL, test_case TEXT NOT NULL DEFAULT '',"
	" until INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (metric, test_case))"
	" STRICT, WITHOUT ROWID;";

/* What compares with a campaign are the newest ones of its machine. */
static const char step_machine_index[] =
	"CREATE INDEX campaigns_by_machine ON campaigns(machine_id, created);";

const char *const db_steps[] = {db_schema_sql, step_metric_words, step_raw_hashes,
				step_bisections, step_ignores, step_machine_index};
const int db_n_steps = ARRAY_SIZE(db_steps);
