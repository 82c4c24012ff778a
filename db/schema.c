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

const char *const db_steps[] = {db_schema_sql, step_metric_words, step_raw_hashes};
const int db_n_steps = ARRAY_SIZE(db_steps);
