// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta list: what the database holds. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/names.h"
#include "cli/page.h"
#include "core/num.h"

struct list_kind {
	const char *name;
	const char *const *columns;
	bool of_campaign; /* takes a campaign operand */
	/* campaign: NULL unless given */
	int (*fill)(struct cli *c, struct db *db, const char *campaign, struct page_table *t);
};

static const char *const campaign_columns[] = {
	"campaign", "kind",  "created", "ended", "backend", "#variants", "#cases",
	"#planned", "#done", "#boots",	"#runs", "#ok",	    NULL};

static int list_campaigns(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_campaign *list;
	struct db_total *total;
	size_t i, n, n_total;
	int r = db_get_campaigns(db, c->a, &list, &n, c->e);

	(void)campaign;
	if (!r)
		r = db_get_totals(db, c->a, NULL, &total, &n_total, c->e);
	for (i = 0; !r && i < MIN(n, n_total); i++) {
		page_cell(t, list[i].id);
		page_cell(t, list[i].kind);
		page_cell(t, num_iso_time(c->a, list[i].created));
		page_cell(t, list[i].ended ? num_iso_time(c->a, list[i].ended) : NULL);
		page_cell(t, arena_printf(c->a, "%s%s%s", list[i].backend,
					  *list[i].accelerator ? "/" : "", list[i].accelerator));
		page_cell_number(t, total[i].variants);
		page_cell_number(t, total[i].cases);
		page_cell_number(t, total[i].cells);
		page_cell_number(t, total[i].done);
		page_cell_number(t, total[i].boots);
		page_cell_number(t, total[i].runs);
		page_cell_number(t, total[i].ok);
	}
	return r;
}

static const char *const run_columns[] = {"#run",    "#block", "#attempt", "variant", "test_case",
					  "outcome", "error",  "#elapsed", "started", NULL};

static int list_runs(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_campaign camp;
	struct names names;
	struct db_run *runs;
	size_t i, n;
	int r = db_find_campaign(db, c->a, campaign, &camp, c->e);

	if (!r)
		r = names_load(db, c->a, camp.id, &names, c->e);
	if (!r)
		r = db_get_runs(db, c->a, camp.id, &runs, &n, c->e);
	for (i = 0; !r && i < n; i++) {
		page_cell_number(t, (double)runs[i].id);
		page_cell_number(t, runs[i].block);
		page_cell_number(t, runs[i].attempt);
		page_cell(t, names_variant(&names, runs[i].variant_id)->name);
		page_cell(t, names_case(&names, runs[i].case_id)->name);
		page_cell(t, runs[i].outcome);
		page_cell(t, runs[i].error);
		page_cell_number(t, runs[i].elapsed);
		page_cell(t, num_iso_time(c->a, runs[i].started));
	}
	return r;
}

static const char *const variant_columns[] = {"campaign", "variant",	 "?baseline",
					      "kernel",	  "build_id",	 "commit",
					      "identity", "description", NULL};

static int list_variants(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_campaign camp = {.id = NULL};
	struct db_variant *list;
	size_t i, n;
	int r = campaign ? db_find_campaign(db, c->a, campaign, &camp, c->e) : 0;

	if (!r)
		r = db_get_variants(db, c->a, camp.id, &list, &n, c->e);
	for (i = 0; !r && i < n; i++) {
		page_cell(t, list[i].campaign);
		page_cell(t, list[i].name);
		page_cell_flag(t, list[i].baseline);
		page_cell(t, list[i].kernel.release);
		page_cell(t, list[i].kernel.build_id);
		page_cell(t, list[i].kernel.commit);
		page_cell(t, list[i].identity);
		page_cell(t, list[i].description);
	}
	return r;
}

static const char *const metric_columns[] = {"metric", "unit",	      "direction", "mean",
					     "role",   "description", NULL};

static int list_metrics(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_metric *list;
	size_t i, n;
	int r = db_get_metrics(db, c->a, &list, &n, c->e);

	(void)campaign;
	for (i = 0; !r && i < n; i++) {
		page_cell(t, list[i].name);
		page_cell(t, list[i].unit);
		page_cell(t, direction_name(list[i].direction));
		page_cell(t, mean_kind_name(list[i].mean_kind));
		page_cell(t, list[i].role);
		page_cell(t, list[i].description);
	}
	return r;
}

static const char *const kernel_columns[] = {"#kernel", "release", "build_id", "commit",
					     "version", "source",  NULL};

static int list_kernels(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_kernel *list;
	size_t i, n;
	int r = db_get_kernels(db, c->a, &list, &n, c->e);

	(void)campaign;
	for (i = 0; !r && i < n; i++) {
		page_cell_number(t, (double)list[i].id);
		page_cell(t, list[i].release);
		page_cell(t, list[i].build_id);
		page_cell(t, list[i].commit);
		page_cell(t, list[i].version);
		page_cell(t, list[i].source);
	}
	return r;
}

static const char *const machine_columns[] = {"machine", "fingerprint", "description", NULL};

static int list_machines(struct cli *c, struct db *db, const char *campaign, struct page_table *t)
{
	struct db_machine *list;
	size_t i, n;
	int r = db_get_machines(db, c->a, &list, &n, c->e);

	(void)campaign;
	for (i = 0; !r && i < n; i++) {
		page_cell(t, list[i].name);
		page_cell(t, list[i].fingerprint);
		page_cell(t, list[i].description);
	}
	return r;
}

static const struct list_kind kinds[] = {
	{"campaigns", campaign_columns, false, list_campaigns},
	{"runs", run_columns, true, list_runs},
	{"variants", variant_columns, true, list_variants},
	{"metrics", metric_columns, false, list_metrics},
	{"kernels", kernel_columns, false, list_kernels},
	{"machines", machine_columns, false, list_machines},
};

static const struct list_kind *find_kind(struct cli *c, const char *name)
{
	const char *names[ARRAY_SIZE(kinds) + 1] = {NULL};
	const char *near;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
		names[i] = kinds[i].name;
	}
	cli_usage(c, "list shows campaigns, runs, variants, metrics, kernels or machines, not '%s'",
		  name);
	near = str_suggest(name, names);
	if (near)
		err_hint(c->e, "did you mean 'kdelta list %s'?", near);
	return NULL;
}

static int run_list(struct cli *c)
{
	const struct list_kind *kind = c->n_operands ? find_kind(c, c->operands[0]) : &kinds[0];
	_cleanup_db_ struct db *db = NULL;
	const char *campaign = c->n_operands > 1 ? c->operands[1] : NULL;
	struct page *page;
	int r;

	if (!kind)
		return -EINVAL;
	if (c->n_operands > 2 || (campaign && !kind->of_campaign))
		return cli_usage(c, "list %s: one operand too many: '%s'", kind->name,
				 c->operands[c->n_operands - 1]);
	r = cli_open_db(c, DB_READ, &db);
	if (r)
		return r;
	page = page_new(c->a, arena_printf(c->a, "kdelta.list.%s/1", kind->name));
	r = kind->fill(c, db, campaign, page_table(page, kind->name, kind->columns));
	return r ? r : page_print(c, page);
}

static const struct command list = {
	.name = "list",
	.usage = "[campaigns|runs|variants|metrics|kernels|machines] [CAMPAIGN]",
	.group = "keep",
	.summary = "what the database holds",
	.help = "Without operands: the campaigns, newest first. Runs are those of one campaign\n"
		"(the newest unless named), variants of all unless one is named.",
	.examples = "kdelta list\n"
		    "kdelta list runs quickstart\n"
		    "kdelta list metrics --json",
	.run = run_list,
};
REGISTER(command, list);
