// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/named.h"

#include <errno.h>
#include <string.h>

int named_find(struct db *db, struct arena *a, const char *name, const struct db_campaign **found,
	       struct err *e)
{
	struct db_campaign *list;
	size_t n, i;
	int r = db_get_campaigns(db, a, &list, &n, e);

	*found = NULL;
	for (i = 0; !r && i < n && !*found; i++)
		if (!strcmp(list[i].name, name))
			*found = &list[i];
	return r;
}

int named_run(struct db *db, struct arena *a, const struct catalog *cat,
	      struct campaign_config *config, void (*note)(const char *text), bool *interrupted,
	      struct err *e)
{
	struct run_options opt = {.note = note};
	struct run_report report = {0};
	const struct db_campaign *row;
	int r = named_find(db, a, config->name, &row, e);

	if (!r && (!row || !row->ended)) {
		opt.resume = row != NULL;
		r = run_campaign(db, a, cat, config, &opt, &report, e);
	}
	*interrupted = report.interrupted;
	ARRAY_FREE(&report.missing);
	return r;
}

int template_check(const struct campaign_config *c, const char *repo, struct err *e)
{
	if (c->n_variants == 1 && variant_recipe(c->variants) && variant_recipe(c->variants)->repo)
		return 0;
	err_add(e, -EINVAL, "%s must have one variant, whose kernel or source is git", c->file);
	err_hint(e, "e.g. variants: [{name: template, kernel: {git: {repo: %s, ref: HEAD}}}]; each "
		    "commit takes the place of ref",
		 repo);
	return -EINVAL;
}

struct variant_config template_variant(struct arena *a, const struct variant_config *template,
				       const struct template_at *at)
{
	struct kernel_recipe *recipe = arena_copy(a, variant_recipe(template), 1, sizeof(*recipe));
	struct variant_config v = *template;

	recipe->repo = at->repo;
	recipe->ref = at->hash;
	recipe->remote = false;
	recipe->fixup = at->fixup;
	if (template->source)
		v.source = recipe;
	else
		v.recipe = recipe;
	v.name = at->name;
	v.description = at->subject;
	v.commit = at->hash;
	v.kernel_text = arena_printf(a, "%s %s", template->kernel_text, at->hash);
	return v;
}
