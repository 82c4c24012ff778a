// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kdelta demo: a comparison from recorded data. examples/demo holds one folder of raw outputs per
 * variant, in the order of their names; `machine` there says where they were recorded.
 */
#include <errno.h>

#include "cli/output.h"
#include "core/file.h"
#include "exchange/import.h"
#include "reports/comparison.h"

/* In a source tree, or installed. */
static const char *demo_folder(struct arena *a)
{
	const char *tree = path_share(a, "examples/demo");

	return file_is_dir(tree) ? tree : path_share(a, "demo");
}

static int demo_group(struct cli *c, const char *dir, const char *name, struct import_group *g)
{
	char **names;
	const char **files;
	size_t n, i;
	int r = file_list(c->a, arena_printf(c->a, "%s/%s", dir, name), NULL, &names, &n, c->e);

	if (r)
		return r;
	files = arena_alloc_array(c->a, n, sizeof(*files));
	for (i = 0; i < n; i++)
		files[i] = arena_printf(c->a, "%s/%s/%s", dir, name, names[i]);
	*g = (struct import_group){name, files, n};
	return 0;
}

static int demo_groups(struct cli *c, const char *dir, struct import_group **groups, size_t *n)
{
	char **names;
	size_t all, i;
	int r = file_list(c->a, dir, NULL, &names, &all, c->e);

	if (r)
		return r;
	*n = 0;
	*groups = arena_alloc_array(c->a, all, sizeof(**groups));
	for (i = 0; !r && i < all; i++)
		if (file_is_dir(arena_printf(c->a, "%s/%s", dir, names[i])))
			r = demo_group(c, dir, names[i], &(*groups)[(*n)++]);
	return r;
}

static int demo_import(struct cli *c, struct db *db, const char *dir)
{
	const struct import_options opt = {.campaign = "demo"};
	_cleanup_strbuf_ struct strbuf machine = STRBUF_INIT;
	struct import_report report = {0};
	struct import_group *groups;
	struct catalog *cat;
	size_t n;
	int r = catalog_load(c->a, NULL, &cat, c->e);

	if (!r)
		r = demo_groups(c, dir, &groups, &n);
	if (!r)
		r = import_groups(db, c->a, cat, groups, n, &opt, &report, c->e);
	if (r)
		return r;
	if (file_read_line(arena_printf(c->a, "%s/machine", dir), &machine))
		return 0;
	return db_set_fact(db, "campaign", report.campaign, "machine", strbuf_str(&machine), c->e);
}

static int demo_run(struct cli *c)
{
	const char *dir = demo_folder(c->a);
	_cleanup_db_ struct db *db = NULL;
	int r;

	if (!file_is_dir(dir)) {
		err_add(c->e, -ENOENT, "the recorded data are missing: %s", dir);
		err_hint(c->e, "install kdelta, or set KDELTA_SHARE to its source tree");
		return -ENOENT;
	}
	r = db_open(NULL, DB_MEMORY, &db, c->e);
	if (!r)
		r = demo_import(c, db, dir);
	return r ? r : output_show(c, db, NULL);
}

static const struct command command_demo = {
	.name = "demo",
	.usage = "",
	.group = "compare",
	.summary = "a comparison from recorded data, at once",
	.help = "Reads raw outputs that come with kdelta and prints what `kdelta compare` makes of "
		"them.\n"
		"`make demo` measures two real kernels.",
	.examples = "kdelta demo\n",
	.run = demo_run,
};
REGISTER(command, command_demo);
