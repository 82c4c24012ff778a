// SPDX-License-Identifier: GPL-2.0-or-later
/* Operands and options -> one comparison, for every command that renders one. */
#include "cli/select.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "exchange/import.h"
#include "runner/input.h"

/* ---- options ---- */

static int read_style(struct cli *c, enum report_style *style)
{
	static const char *const names[] = {
		[STYLE_TABLE] = "table", [STYLE_NORM] = "norm", [STYLE_BLOCK] = "block", NULL};
	const char *name = cli_value(c, "style"), *near;
	size_t i;

	if (!name)
		return 0;
	for (i = 0; names[i]; i++) {
		if (strcmp(names[i], name))
			continue;
		*style = (enum report_style)i;
		return 0;
	}
	near = str_suggest(name, names);
	return cli_usage(c, "no style '%s': table, norm or block%s%s%s", name,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_options(struct selection *k)
{
	struct cli *c = k->c;
	const char *text;
	long split = 0;
	size_t i;
	int r;

	k->build.threshold = 0.01;
	k->build.baseline = cli_value(c, "base");
	k->build.counters |= cli_has(c, "counters");
	k->report.values = cli_has(c, "values");
	k->report.runs = cli_has(c, "runs");
	k->report.why = cli_value(c, "why");
	k->build.explain = k->report.why != NULL;
	for (i = 0; (text = cli_value_at(c, "contrast", i)); i++)
		*ARRAY_PUSH(&k->contrasts) = text;
	for (i = 0; (text = cli_value_at(c, "campaign", i)); i++)
		*ARRAY_PUSH(&k->campaigns) = text;
	r = cli_fraction(c, "threshold", &k->build.threshold);
	if (!r)
		r = cli_int(c, "split", 1, 1000000000, &split);
	k->report.split = (double)split;
	return r ? r : read_style(c, &k->report.style);
}

/* ---- operands: variants and campaigns of the database ---- */

static const struct db_variant *variant_of(const struct db_variant *list, size_t n,
					   const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static bool campaign_exists(struct selection *k, const char *what, struct db_campaign *camp)
{
	_cleanup_err_ struct err quiet = ERR_INIT;

	return !db_find_campaign(k->db, k->c->a, what, camp, &quiet);
}

static void add_campaign(struct selection *k, const char *id)
{
	const char **p;

	array_for_each (p, &k->campaigns)
		if (!strcmp(*p, id))
			return;
	*ARRAY_PUSH(&k->campaigns) = id;
}

/* "quickstart/6.12": a variant of that campaign; names of variants may hold a '/' too. */
static int take_qualified(struct selection *k, const char *operand, bool *taken)
{
	const char *slash;

	for (slash = strchr(operand, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *left = arena_strndup(k->c->a, operand, (size_t)(slash - operand));
		const struct db_variant *v;
		struct db_variant *list;
		struct db_campaign camp;
		size_t n;
		int r;

		if (!campaign_exists(k, left, &camp))
			continue;
		r = db_get_variants(k->db, k->c->a, camp.id, &list, &n, k->c->e);
		if (r)
			return r;
		v = variant_of(list, n, slash + 1);
		if (!v)
			continue;
		add_campaign(k, camp.id);
		*ARRAY_PUSH(&k->variants) = v->identity;
		*taken = true;
		return 0;
	}
	return 0;
}

/* A variant of the campaign at hand, campaign/variant, or a campaign, in this order. */
static int take_operand(struct selection *k, const char *operand, const struct db_campaign *home,
			const struct db_variant *list, size_t n)
{
	struct db_campaign camp;
	bool taken = false;
	int r;

	if (variant_of(list, n, operand)) {
		add_campaign(k, home->id);
		*ARRAY_PUSH(&k->variants) = operand;
		return 0;
	}
	r = take_qualified(k, operand, &taken);
	if (r || taken)
		return r;
	if (campaign_exists(k, operand, &camp)) {
		add_campaign(k, camp.id);
		return 0;
	}
	err_add(k->c->e, -EINVAL, "'%s' is no variant of campaign %s, no campaign and no file",
		operand, home->id);
	err_hint(k->c->e, "`kdelta list` shows the campaigns, `kdelta show %s` its variants",
		 home->id);
	return -EINVAL;
}

static int take_operands(struct selection *k)
{
	struct cli *c = k->c;
	struct db_variant *list;
	struct db_campaign home;
	size_t i, n;
	int r;

	if (!c->n_operands)
		return 0;
	r = db_find_campaign(k->db, c->a, k->campaigns.n ? k->campaigns.items[0] : NULL, &home,
			     c->e);
	if (!r)
		r = db_get_variants(k->db, c->a, home.id, &list, &n, c->e);
	for (i = 0; !r && i < c->n_operands; i++)
		r = take_operand(k, c->operands[i], &home, list, n);
	if (r || !k->variants.n)
		return r;
	if (!k->build.baseline)
		k->build.baseline = k->variants.items[0];
	/* one variant named: it against all others */
	if (k->variants.n > 1) {
		k->build.others = k->variants.items;
		k->build.n_others = k->variants.n;
	}
	return 0;
}

/* ---- operands: files and folders of raw output ---- */

static bool operands_are_files(const struct cli *c)
{
	size_t i;

	if (c->has_dashes)
		return true;
	for (i = 0; i < c->n_operands; i++)
		if (!file_exists(c->operands[i]))
			return false;
	return c->n_operands > 0;
}

typedef ARRAY_OF(const char *) file_array;

static int add_files(struct cli *c, const char *operand, file_array *files)
{
	char **names;
	size_t n, i;
	int r;

	if (!file_is_dir(operand)) {
		*ARRAY_PUSH(files) = operand;
		return 0;
	}
	r = file_list(c->a, operand, NULL, &names, &n, c->e);
	for (i = 0; !r && i < n; i++) {
		const char *path = arena_printf(c->a, "%s/%s", operand, names[i]);

		if (!file_is_dir(path))
			*ARRAY_PUSH(files) = path;
	}
	if (!r && !n)
		r = err_add(c->e, -ENOENT, "%s holds no file", operand);
	return r;
}

/* The last part of a path without its end: "old/a.log" -> "a", "old/" -> "old". */
static const char *path_stem(struct arena *a, const char *path)
{
	const char *name = path_name(a, path), *dot = strrchr(name, '.');

	return dot && dot > name && !file_is_dir(path)
		       ? arena_strndup(a, name, (size_t)(dot - name))
		       : name;
}

/* Files of one group are called after the folder they share, a single one after itself. */
static const char *group_name(struct cli *c, const char *const *operands, size_t n)
{
	const char *slash = strrchr(operands[0], '/');
	size_t len = slash ? (size_t)(slash - operands[0]) : 0, i;

	if (n == 1)
		return path_stem(c->a, operands[0]);
	for (i = 1; i < n; i++)
		if (!len || strncmp(operands[i], operands[0], len + 1) ||
		    strchr(operands[i] + len + 1, '/'))
			return path_stem(c->a, operands[0]);
	return len ? path_stem(c->a, arena_strndup(c->a, operands[0], len))
		   : path_stem(c->a, operands[0]);
}

static int add_group(struct selection *k, struct import_group *g, const char *const *operands,
		     size_t n)
{
	file_array files = {NULL, 0, 0};
	size_t i;
	int r = 0;

	for (i = 0; !r && i < n; i++)
		r = add_files(k->c, operands[i], &files);
	if (!r && !files.n)
		r = cli_usage(k->c, "no file on one side of --");
	if (!r) {
		g->variant = group_name(k->c, operands, n);
		g->files = arena_copy(k->c->a, files.items, files.n, sizeof(char *));
		g->n_files = files.n;
	}
	ARRAY_FREE(&files);
	return r;
}

/* Groups of one name get the path as typed. */
static void distinguish_groups(struct import_group *g, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++)
			if (!strcmp(g[i].variant, g[j].variant)) {
				g[i].variant = g[i].files[0];
				g[j].variant = g[j].files[0];
			}
}

static int read_groups(struct selection *k, struct import_group *groups, size_t *n)
{
	struct cli *c = k->c;
	size_t i;
	int r = 0;

	if (c->has_dashes) {
		if (!c->dashes || c->dashes == c->n_operands)
			return cli_usage(c, "files are expected before and after --");
		*n = 2;
		r = add_group(k, &groups[0], c->operands, c->dashes);
		if (!r)
			r = add_group(k, &groups[1], c->operands + c->dashes,
				      c->n_operands - c->dashes);
	} else {
		*n = c->n_operands;
		for (i = 0; !r && i < *n; i++)
			r = add_group(k, &groups[i], &c->operands[i], 1);
	}
	if (!r)
		distinguish_groups(groups, *n);
	return r;
}

/* One file alone is a text with several variants in it: a mail. */
static int import_single(struct selection *k, const struct catalog *cat, const char *file,
			 struct import_report *report)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct import_options opt = {0};
	int r = input_read(file, &text, k->c->e);

	opt.tables.baseline = k->build.baseline;
	return r ? r
		 : import_text(k->db, k->c->a, cat, file,
			       (struct span){strbuf_str(&text), text.len}, &opt, report, k->c->e);
}

static int import_files(struct selection *k)
{
	struct cli *c = k->c;
	struct import_group *groups;
	struct import_options opt = {0};
	struct import_report report = {0};
	struct catalog *cat;
	size_t n = 0, i;
	int r;

	k->memory = true;
	r = db_open(NULL, k->series ? DB_MEMORY : DB_SCRATCH, &k->db, c->e);
	if (!r)
		r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);
	if (r)
		return r;
	if (!c->has_dashes && c->n_operands == 1 && !file_is_dir(c->operands[0])) {
		r = import_single(k, cat, c->operands[0], &report);
	} else {
		groups = arena_alloc_array(c->a, c->n_operands, sizeof(*groups));
		r = read_groups(k, groups, &n);
		opt.campaign = "files";
		if (!r)
			r = import_groups(k->db, c->a, cat, groups, n, &opt, &report, c->e);
	}
	for (i = 0; i < report.n_notes; i++)
		cli_warn(c, "%s", report.notes[i]);
	return r;
}

/* ---- the comparison ---- */

int selection_check_row(struct cli *c, const struct comparison *cmp, const char *option,
			const char *what, const char *more)
{
	if (!what || comparison_has(cmp, what))
		return 0;
	err_add(c->e, -EINVAL, "--%s %s: no such row", option, what);
	err_hint(c->e, "rows are \"%s %s\" and so on; a part is enough%s", cmp->tests[0].name,
		 cmp->tests[0].rows[0].metric, more);
	return -EINVAL;
}

int selection_compare(struct selection *k, struct comparison **cmp)
{
	struct cli *c = k->c;
	int r = read_options(k);

	if (r)
		return r;
	if (operands_are_files(c)) {
		r = import_files(k);
	} else {
		r = cli_open_db(c, DB_READ, &k->db);
		if (!r)
			r = take_operands(k);
	}
	if (r)
		return r;
	k->build.contrasts = k->contrasts.items;
	k->build.n_contrasts = k->contrasts.n;
	r = (k->machines ? comparison_build_machines : comparison_build)(
		k->db, c->a, k->campaigns.items, k->campaigns.n, &k->build, cmp, c->e);
	return r ? r
		 : selection_check_row(c, *cmp, "why", k->report.why,
				       ", all means every headline");
}

void selection_release(struct selection *k)
{
	db_close(k->db);
	ARRAY_FREE(&k->campaigns);
	ARRAY_FREE(&k->variants);
	ARRAY_FREE(&k->contrasts);
}
