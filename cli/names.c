// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/names.h"

int names_load(struct db *db, struct arena *a, const char *campaign, struct names *names,
	       struct err *e)
{
	int r = db_get_variants(db, a, campaign, &names->variants, &names->n_variants, e);

	return r ? r : db_get_cases(db, a, campaign, &names->cases, &names->n_cases, e);
}

const struct db_variant *names_variant(const struct names *names, int64_t id)
{
	static const struct db_variant none;
	size_t i;

	for (i = 0; i < names->n_variants; i++)
		if (names->variants[i].id == id)
			return &names->variants[i];
	return &none;
}

const struct db_case *names_case(const struct names *names, int64_t id)
{
	static const struct db_case none;
	size_t i;

	for (i = 0; i < names->n_cases; i++)
		if (names->cases[i].id == id)
			return &names->cases[i];
	return &none;
}
