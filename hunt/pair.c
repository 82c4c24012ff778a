// SPDX-License-Identifier: GPL-2.0-or-later
/* Fresh runs of two candidates side by side: an ordinary campaign, compared as any other. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "hunt/answer.h"
#include "hunt/named.h"

enum { PAIR_REPEAT = 5 };

static const char *const words[] = {"confirm", "revert", "align"};

/* "wakeup-bisect3-confirm-1a2b3c4d5e6f": the same whenever it is asked for. */
static char *pair_name(const struct bisect *b, enum pair_kind kind, const struct cause *c)
{
	return arena_printf(b->a, "%s%lld-%s-%s", b->config->name, (long long)b->row.id,
			    words[kind], b->range.items[c->culprit].name);
}

static struct variant_config with_recipe(struct bisect *b, const struct variant_config *v,
					 const struct kernel_recipe *recipe, const char *what)
{
	struct variant_config changed = *v;

	if (v->source)
		changed.source = recipe;
	else
		changed.recipe = recipe;
	changed.name = arena_printf(b->a, "%s-%s", v->name, what);
	changed.kernel_text = arena_printf(b->a, "%s %s", v->kernel_text, what);
	return changed;
}

/* The diff that takes the culprit out of the bad end; it stays, as the campaign's input. */
static char *revert_file(struct bisect *b, const struct cause *c)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	const struct candidate *bad = &b->range.items[b->range.n - 1];
	char *file;

	if (file_make_dirs(path_data(b->a, "reverts"), &ignored))
		return NULL;
	file = path_data(b->a, arena_printf(b->a, "reverts/%s-on-%s.patch",
					    b->range.items[c->culprit].name, bad->name));
	return git_revert(&b->git, b->range.items[c->culprit].id, bad->id, file) ? NULL : file;
}

static struct variant_config reverted(struct bisect *b, const char *file)
{
	const struct variant_config *bad = &b->config->variants[b->range.n - 1];
	const struct kernel_recipe *from = variant_recipe(bad);
	struct kernel_recipe *recipe = arena_copy(b->a, from, 1, sizeof(*recipe));
	struct kernel_patch *patches =
		arena_alloc_array(b->a, from->n_patches + 1, sizeof(*patches));

	if (from->n_patches)
		memcpy(patches, from->patches, from->n_patches * sizeof(*patches));
	patches[recipe->n_patches++].text = file;
	recipe->patches = patches;
	return with_recipe(b, bad, recipe, "reverted");
}

static struct variant_config aligned(struct bisect *b, size_t candidate)
{
	const struct variant_config *v = &b->config->variants[candidate];
	struct kernel_recipe *recipe = arena_copy(b->a, variant_recipe(v), 1, sizeof(*recipe));

	recipe->cflags = recipe->cflags ? arena_printf(b->a, "%s -falign-functions=64",
						       recipe->cflags)
					: "-falign-functions=64";
	return with_recipe(b, v, recipe, "aligned");
}

bool pair_is_possible(struct bisect *b, enum pair_kind kind, const struct cause *c)
{
	if (kind == PAIR_CONFIRM)
		return true;
	if (!b->opt.repo || (kind == PAIR_ALIGNMENT && !b->config->variants->recipe))
		return false;
	/* a culprit that is the bad end itself: its parent is the end without it */
	return kind != PAIR_REVERT ||
	       (c->culprit != b->range.n - 1 && c->n_group == 1 && revert_file(b, c));
}

static struct campaign_config pair_config(struct bisect *b, enum pair_kind kind,
					  const struct cause *c)
{
	struct campaign_config config = *b->config;
	struct variant_config *v = arena_alloc_array(b->a, 2, sizeof(*v));

	v[0] = b->config->variants[kind == PAIR_REVERT ? b->range.n - 1 : c->parent];
	v[1] = b->config->variants[c->culprit];
	if (kind == PAIR_REVERT) {
		v[1] = reverted(b, revert_file(b, c));
	} else if (kind == PAIR_ALIGNMENT) {
		v[0] = aligned(b, c->parent);
		v[1] = aligned(b, c->culprit);
	}
	config.name = pair_name(b, kind, c);
	config.variants = v;
	config.n_variants = 2;
	config.repeat = PAIR_REPEAT;
	config.auto_repeat = config.auto_runs = false;
	return config;
}

int pair_run(struct bisect *b, enum pair_kind kind, const struct cause *c, bool *interrupted)
{
	struct campaign_config config = pair_config(b, kind, c);

	return named_run(b->db, b->a, b->cat, &config, b->note, interrupted, b->e);
}

/* With counters only where the metric is one. */
static int compare(struct bisect *b, const char *campaign, struct pair *pair)
{
	struct comparison_options opt = {.threshold = 0.01, .explain = true};
	struct comparison *model;
	size_t i;
	int r = 0, pass;

	for (pass = 0; !r && pass < 2 && !pair->cell; pass++) {
		opt.counters = pass > 0;
		r = comparison_build(b->db, b->a, &campaign, 1, &opt, &model, b->e);
		pair->model = r ? NULL : model;
		for (i = 0; !r && model->n_tests && i < model->tests->n_rows; i++)
			if (!strcmp(model->tests->rows[i].metric, b->opt.metric))
				pair->cell = &model->tests->rows[i].cells[1];
	}
	pair->is_real = pair->cell && (pair->cell->verdict == VERDICT_BETTER ||
				       pair->cell->verdict == VERDICT_WORSE ||
				       pair->cell->verdict == VERDICT_CHANGED);
	return r;
}

int pair_read(struct bisect *b, enum pair_kind kind, const struct cause *c, struct pair *pair)
{
	_cleanup_err_ struct err none = ERR_INIT;
	struct err *e = b->e;
	const struct db_campaign *row;
	int r = named_find(b->db, b->a, pair_name(b, kind, c), &row, b->e);

	*pair = (struct pair){0};
	if (r || !row || !row->ended)
		return r;
	pair->campaign = row->id;
	b->e = &none; /* all its runs failed: there is nothing to compare */
	r = compare(b, row->id, pair);
	b->e = e;
	return r == -ENOENT ? 0 : r ? err_add(e, r, "%s", err_text(&none)) : 0;
}
