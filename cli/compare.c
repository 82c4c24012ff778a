// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta compare: which variants, from where, in which formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/file.h"
#include "core/num.h"
#include "reports/comparison.h"
#include "runner/import.h"

static const struct cli_option compare_options[] = {
	{"output", 'o', "FORMAT[=FILE]",
	 "mail, term, mmtests, csv or json; repeatable (default: term on a terminal, else mail)"},
	{"campaign", 'c', "ID", "campaign: id, unique prefix, or name (newest); repeatable"},
	{"base", 'b', "NAME", "variant to compare with (default: the campaign's baseline)"},
	{"threshold", 't', "SHARE", "least change that counts as large (default 1%)"},
	{"contrast", 0, "D/E", "one more column: D against E, by letter or name; repeatable"},
	{"values", 0, NULL, "print the means of every variant too"},
	{"runs", 0, NULL, "print every single value too"},
	{"why", 0, "ROW", "how verdicts were made: part of a case or metric, or all (mail, term)"},
	{"split", 0, "N", "summarise rows below N and from N on (default: found from the load)"},
	{"counters", 0, NULL, "all metrics, not the headlines alone"},
	{"check", 0, NULL, "exit 3 on a regression, 4 where it cannot be told"},
	CLI_OPTIONS_END,
};

struct output {
	const struct report_format *format;
	const char *file; /* NULL: stdout */
};

struct compare {
	struct cli *c;
	bool memory; /* the operands were files */
	struct db *db;
	ARRAY_OF(struct output) outputs;
	ARRAY_OF(const char *) campaigns;
	ARRAY_OF(const char *) variants; /* names or identities, the baseline first */
	ARRAY_OF(const char *) contrasts;
	struct comparison_options build;
	struct report_options report;
};

/* ---- options ---- */

static int add_output(struct compare *k, const char *text)
{
	const char *eq = strchr(text, '='), *near;
	const char *name = eq ? arena_strndup(k->c->a, text, (size_t)(eq - text)) : text;
	size_t n = (size_t)(__stop_reg_report_format - __start_reg_report_format), i = 0;
	const char **names = arena_alloc_array(k->c->a, n + 1, sizeof(*names));
	const struct report_format *const *p;
	struct output *o = ARRAY_PUSH(&k->outputs);

	o->format = report_format_find(name);
	o->file = eq ? eq + 1 : NULL;
	if (o->file && !*o->file)
		return cli_usage(k->c, "-o %s: no file name after '='", text);
	if (o->format)
		return 0;
	registry_for_each (report_format, p)
		names[i++] = (*p)->name;
	near = str_suggest(name, names);
	cli_usage(k->c, "unknown format '%s'", name);
	if (near)
		err_hint(k->c->e, "did you mean '%s'?", near);
	return -EINVAL;
}

static int read_outputs(struct compare *k)
{
	const char *text;
	size_t i;
	int r = 0;

	for (i = 0; !r && (text = cli_value_at(k->c, "output", i)); i++)
		r = add_output(k, text);
	if (r || k->outputs.n)
		return r;
	return add_output(k, k->c->json ? "json" : cli_columns() ? "term" : "mail");
}

static int read_options(struct compare *k)
{
	struct cli *c = k->c;
	const char *text;
	long split = 0;
	size_t i;
	int r = read_outputs(k);

	k->build.threshold = 0.01;
	k->build.baseline = cli_value(c, "base");
	k->build.counters = cli_has(c, "counters");
	k->report.width = cli_columns();
	k->report.color = cli_colors(c);
	k->report.values = cli_has(c, "values");
	k->report.runs = cli_has(c, "runs");
	k->report.why = cli_value(c, "why");
	for (i = 0; (text = cli_value_at(c, "contrast", i)); i++)
		*ARRAY_PUSH(&k->contrasts) = text;
	for (i = 0; (text = cli_value_at(c, "campaign", i)); i++)
		*ARRAY_PUSH(&k->campaigns) = text;
	if (!r)
		r = cli_fraction(c, "threshold", &k->build.threshold);
	if (!r)
		r = cli_int(c, "split", 1, 1000000000, &split);
	k->report.split = (double)split;
	return r;
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

static bool campaign_exists(struct compare *k, const char *what, struct db_campaign *camp)
{
	_cleanup_err_ struct err quiet = ERR_INIT;

	return !db_find_campaign(k->db, k->c->a, what, camp, &quiet);
}

static void add_campaign(struct compare *k, const char *id)
{
	const char **p;

	array_for_each (p, &k->campaigns)
		if (!strcmp(*p, id))
			return;
	*ARRAY_PUSH(&k->campaigns) = id;
}

/* "quickstart/6.12": a variant of that campaign; names of variants may hold a '/' too. */
static int take_qualified(struct compare *k, const char *operand, bool *taken)
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
static int take_operand(struct compare *k, const char *operand, const struct db_campaign *home,
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

static int take_operands(struct compare *k)
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
	size_t len = strlen(path);
	const char *start, *dot;

	while (len > 1 && path[len - 1] == '/')
		len--;
	path = arena_strndup(a, path, len);
	start = strrchr(path, '/');
	start = start && start[1] ? start + 1 : path;
	dot = strrchr(start, '.');
	return dot && dot > start && !file_is_dir(path)
		       ? arena_strndup(a, start, (size_t)(dot - start))
		       : start;
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

static int add_group(struct compare *k, struct import_group *g, const char *const *operands,
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

static int read_groups(struct compare *k, struct import_group *groups, size_t *n)
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
static int import_single(struct compare *k, const struct catalog *cat, const char *file,
			 struct import_report *report)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct import_options opt = {0};
	int r = file_read(file, 0, &text, k->c->e);

	opt.tables.baseline = k->build.baseline;
	return r ? r
		 : import_text(k->db, k->c->a, cat, file,
			       (struct span){strbuf_str(&text), text.len}, &opt, report, k->c->e);
}

static int import_files(struct compare *k)
{
	struct cli *c = k->c;
	struct import_group *groups;
	struct import_options opt = {0};
	struct import_report report = {0};
	struct catalog *cat;
	size_t n = 0, i;
	int r;

	k->memory = true;
	r = db_open(NULL, DB_MEMORY, &k->db, c->e);
	if (!r)
		r = catalog_load(c->a, NULL, &cat, c->e);
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

/* ---- the report ---- */

static int check_why(struct compare *k, const struct comparison *cmp)
{
	const char *what = k->report.why;

	if (!what || comparison_has(cmp, what))
		return 0;
	err_add(k->c->e, -EINVAL, "--why %s: no such row", what);
	err_hint(k->c->e,
		 "rows are \"%s %s\" and so on; a part is enough, all means every headline",
		 cmp->tests[0].name, cmp->tests[0].rows[0].metric);
	return -EINVAL;
}

static int write_outputs(struct compare *k, const struct comparison *cmp)
{
	const struct output *o;
	int r = 0;

	array_for_each (o, &k->outputs) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct report_options opt = k->report;

		/* only the terminal's own format is fitted to it */
		if (o->file || strcmp(o->format->name, "term"))
			opt.width = 0;
		opt.color &= !o->file;
		r = o->format->render(cmp, &opt, &out, k->c->e);
		if (!r && o->file)
			r = file_write_atomic(o->file, strbuf_str(&out), out.len, k->c->e);
		else if (!r)
			cli_print(&out);
		if (r)
			break;
	}
	return r;
}

/* Verdicts of a finished campaign are kept; a database that cannot be written is no error. */
static void store_verdicts(struct compare *k, const struct comparison *cmp)
{
	_cleanup_err_ struct err quiet = ERR_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char *path = db_path(k->c->a, k->c->db);

	if (k->memory || k->build.n_others || comparison_is_stored(cmp) ||
	    cmp->done < cmp->planned || access(path, W_OK))
		return;
	if (!db_open(path, DB_WRITE, &db, &quiet))
		comparison_store(db, cmp, &quiet);
}

static int check_code(const struct comparison *cmp)
{
	switch (comparison_check(cmp)) {
	case VERDICT_WORSE:
		return EXIT_REGRESSION;
	case VERDICT_UNSURE:
		return EXIT_CANNOT_TELL;
	default:
		return EXIT_DONE;
	}
}

static int compare(struct compare *k)
{
	struct cli *c = k->c;
	struct comparison *cmp;
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
	r = comparison_build(k->db, c->a, k->campaigns.items, k->campaigns.n, &k->build, &cmp,
			     c->e);
	if (!r)
		r = check_why(k, cmp);
	if (!r)
		r = write_outputs(k, cmp);
	if (r)
		return r;
	store_verdicts(k, cmp);
	return cli_has(c, "check") ? check_code(cmp) : EXIT_DONE;
}

static int compare_run(struct cli *c)
{
	struct compare k = {.c = c};
	int r = compare(&k);

	db_close(k.db);
	ARRAY_FREE(&k.outputs);
	ARRAY_FREE(&k.campaigns);
	ARRAY_FREE(&k.variants);
	ARRAY_FREE(&k.contrasts);
	return r;
}

static const struct command command_compare = {
	.name = "compare",
	.usage = "[BASE] [OTHER...] | FILES... -- FILES...",
	.group = "compare",
	.summary = "headline metrics of two or more variants, with verdicts",
	.help = "Operands are variants of the newest campaign (or of --campaign), "
		"campaign/variant, or\n"
		"campaigns of one machine. Without any: the newest campaign, its first variant as "
		"the\n"
		"baseline. Files and folders of raw output need no database: those before -- are "
		"the\n"
		"baseline; options stand before them. Works half-way through a campaign.",
	.examples = "kdelta compare\n"
		    "kdelta compare 6.1 6.12 -o mail\n"
		    "kdelta compare old/*.log -- new/*.log\n"
		    "kdelta compare --contrast D/E --values -o json=result.json -o mail\n",
	.first_page = true,
	.options = compare_options,
	.run = compare_run,
};
REGISTER(command, command_compare);
