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

const char *const db_steps[] = {db_schema_sql};
const int db_n_steps = ARRAY_SIZE(db_steps);
