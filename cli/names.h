/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the rows that other rows point at. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "db/db.h"

/* Variants and test cases of one campaign. */
struct names {
	struct db_variant *variants;
	struct db_case *cases;
	size_t n_variants, n_cases;
};

int names_load(struct db *db, struct arena *a, const char *campaign, struct names *names,
	       struct err *e);
/* Never NULL; all fields are NULL or 0 for a row that is not of the campaign. */
const struct db_variant *names_variant(const struct names *names, int64_t id);
const struct db_case *names_case(const struct names *names, int64_t id);

#endif
