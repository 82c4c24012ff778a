// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta import: mailed tables and raw outputs into the database. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "exchange/import.h"
#include "net/lore.h"
#include "net/net.h"
#include "runner/input.h"

/* ---- what was understood, as JSON ---- */

static json_t *json_text(const char *s)
{
	json_t *text = s ? json_string(s) : json_null();

	return text ? text : json_string("(not UTF-8)"); /* a file's name may be anything */
}

static json_t *json_number(bool has, double v)
{
	return has ? json_real(v) : json_null();
}

static json_t *json_cell(const struct table *t, size_t i, const struct table_cell *cell)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:i}", "variant",
			 json_text(t->variants[i]), "value",
			 json_number(cell->has_value, cell->value), "change",
			 json_number(cell->has_change, cell->change), "deviation",
			 json_number(cell->has_deviation, cell->deviation), "n",
			 cell->has_n ? json_integer(cell->n) : json_null(), "mark", cell->mark,
			 "line", cell->line);
}

static json_t *json_row(const struct table *t, const struct table_row *row)
{
	json_t *cells = json_array();
	size_t i;

	for (i = 0; i < t->n_variants; i++)
		if (table_cell_is_there(&row->cells[i]))
			json_array_append_new(cells, json_cell(t, i, &row->cells[i]));
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:s, s:o, s:i, s:i, s:i, s:o}", "key", json_text(row->key),
		"statistic", json_text(row->statistic), "axis", json_text(row->axis), "metric",
		json_text(row->full_metric ? row->full_metric : row->metric), "change_unit",
		row->points ? "points" : "percent", "unit", json_text(row->unit), "run", row->run,
		"index", row->index, "line", row->line, "cells", cells);
}

/* Of the first row whose metric is ours or whose direction the text states; null: not known. */
static json_t *json_direction(const struct catalog *cat, const struct table *t)
{
	const struct table_row *row;
	struct db_metric m;

	array_for_each (row, &t->rows) {
		if (row->better)
			return json_string(row->better == BETTER_HIGHER ? "higher" : "lower");
		if (!t->benchmark || !row->metric)
			continue;
		catalog_metric(cat, t->benchmark, row->metric, row->unit, &m);
		if (m.direction != DIR_UNKNOWN)
			return json_string(direction_name(m.direction));
	}
	return json_null();
}

static json_t *json_table(const struct catalog *cat, const struct table *t)
{
	static const char *const signs[] = {
		[SIGN_NONE] = "none",
		[SIGN_RAW] = "raw",
		[SIGN_BETTER_POSITIVE] = "better",
	};
	static const char *const deviations[] = {
		[DEV_NONE] = "none", [DEV_STDDEV] = "stddev",	      [DEV_PERCENT] = "percent",
		[DEV_CV] = "cv",     [DEV_STDERR_PERCENT] = "stderr", [DEV_HIDDEN] = "hidden",
		[DEV_FRACTION] = "fraction",
	};
	json_t *variants = json_array(), *rows = json_array();
	const struct table_row *row;
	size_t i;

	for (i = 0; i < t->n_variants; i++)
		json_array_append_new(variants,
				      json_pack("{s:o, s:o}", "name", json_text(t->variants[i]),
						"description", json_text(t->descriptions[i])));
	array_for_each (row, &t->rows)
		json_array_append_new(rows, json_row(t, row));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "family",
			 json_text(t->family), "benchmark", json_text(t->benchmark), "section",
			 json_text(t->section), "axis_name", json_text(t->axis_name), "unit",
			 json_text(t->unit), "direction", json_direction(cat, t), "sign",
			 signs[t->sign], "deviation", deviations[t->deviation], "baseline",
			 json_text(t->delta_only ? "-" : t->variants[t->baseline]), "command",
			 json_text(t->command), "variants", variants, "rows", rows);
}

static json_t *json_lines(const struct table_warning *items, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:i, s:o}", "line", items[i].line, "text",
						      json_text(items[i].text)));
	return list;
}

static json_t *json_raw(const struct import_content *content)
{
	const struct parse_run *run;
	json_t *runs;

	if (!content->def)
		return json_null();
	runs = json_array();
	array_for_each (run, &content->raw->runs)
		json_array_append_new(runs, json_pack("{s:s, s:o, s:o}", "outcome",
						      outcome_name(run->outcome), "error",
						      json_text(run->error), "message",
						      json_text(run->message)));
	return json_pack("{s:s, s:s, s:o}", "benchmark", content->def->name, "outcome",
			 outcome_name(content->raw->outcome), "runs", runs);
}

static json_t *json_content(const struct catalog *cat, const char *file,
			    const struct import_content *content)
{
	const struct table_set *set = &content->set;
	json_t *tables = json_array(), *facts = json_object();
	const struct table_fact *f;
	const struct table *t;

	array_for_each (t, &set->tables)
		json_array_append_new(tables, json_table(cat, t));
	array_for_each (f, &set->facts)
		json_object_set_new(facts, f->key, json_text(f->value));
	return json_pack("{s:s, s:o, s:o, s:o, s:O?, s:o, s:o, s:o}", "schema", "kdelta.import/1",
			 "file", json_text(file), "tables", tables, "raw", json_raw(content),
			 "report", content->exported, "warnings",
			 json_lines(set->warnings.items, set->warnings.n), "refused",
			 json_lines(set->refused.items, set->refused.n), "facts", facts);
}

static void print_json(json_t *root)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	json_add_lines(&out, root, 15);
	cli_print(&out);
}

/* ---- for people ---- */

static void print_content(struct arena *a, const char *file,
			  const struct import_content *content)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct table *t;

	file = cli_clean(a, file);
	if (content->def)
		strbuf_addf(&out, "%s: raw output of %s, %zu run%s\n", file, content->def->name,
			    content->raw->runs.n, content->raw->runs.n == 1 ? "" : "s");
	if (content->exported)
		strbuf_addf(&out, "%s: report of kdelta, %zu variants, %zu test cases\n", file,
			    json_array_size(json_object_get(content->exported, "variants")),
			    json_array_size(json_object_get(content->exported, "tests")));
	array_for_each (t, &content->set.tables)
		strbuf_addf(&out, "%s:%d: %s table%s%s%s%s, %zu variants (baseline %s), %zu rows\n",
			    file, t->line, t->family, t->benchmark ? " of " : "",
			    t->benchmark ? t->benchmark : "", t->section ? ", " : "",
			    t->section ? t->section : "", t->n_variants, t->variants[t->baseline],
			    t->rows.n);
	cli_print(&out);
}

/* Warnings, and refused rows as what they are: errors at a line. Returns the exit code. */
static int tell_about_lines(struct cli *c, const char *file, const struct table_set *set)
{
	const struct table_warning *w;

	array_for_each (w, &set->warnings)
		cli_warn(c, "%s:%d: %s", file, w->line, w->text);
	array_for_each (w, &set->refused) {
		err_add(c->e, -EINVAL, "%s", w->text);
		err_at(c->e, file, w->line, 0);
	}
	if (!set->refused.n)
		return EXIT_DONE;
	cli_print_errors(c->e);
	return EXIT_FAILED;
}

static void add_missing(struct strbuf *sb, const struct table_set *set)
{
	static const char *const facts[] = {"machine", "command", "commit"};
	const struct table_fact *f;
	bool runs = true;
	size_t i;

	for (i = 0; i < set->tables.n; i++)
		runs &= set->tables.items[i].rows.items[0].run > 0;
	strbuf_adds(sb, runs ? "" : " runs,");
	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		bool stated = false;

		array_for_each (f, &set->facts)
			stated |= !strcmp(f->key, facts[i]);
		if (!stated)
			strbuf_addf(sb, " %s,", facts[i]);
	}
	if (sb->len)
		sb->buf[--sb->len] = '\0';
}

/* One or two lines on stderr; returns the exit code. */
static int tell_report(struct cli *c, const char *file, const struct import_report *r)
{
	_cleanup_strbuf_ struct strbuf missing = STRBUF_INIT;
	size_t i;

	if (r->known) {
		cli_note(c,
			 "%s was imported before as campaign %s; nothing changed (--again imports "
			 "it "
			 "once more)",
			 file, r->campaign);
		return EXIT_DONE;
	}
	for (i = 0; i < r->n_notes; i++)
		cli_warn(c, "%s", r->notes[i]);
	if (r->exported) {
		cli_note(c,
			 "campaign %s: a report of kdelta, %d variants, %d test cases, %d rows, "
			 "%d runs",
			 r->campaign, r->variants, r->cases, r->rows, r->runs);
		return EXIT_DONE;
	}
	if (r->tree) {
		cli_note(c,
			 "%s %s: %s, %d variants, %d test cases, %d runs, %d without a result",
			 c->dry_run ? "would be campaign" : "campaign", r->campaign, r->tree,
			 r->variants, r->cases, r->runs, r->refused);
		return r->refused ? EXIT_FAILED : EXIT_DONE;
	}
	if (!r->set) {
		cli_note(c, "campaign %s: %d run%s of %s, %d without a result", r->campaign,
			 r->runs, r->runs == 1 ? "" : "s", r->benchmark, r->refused);
		return r->refused ? EXIT_FAILED : EXIT_DONE;
	}
	cli_note(c, "campaign %s%s: %d table%s, %d rows, %d cells, %d refused", r->campaign,
		 r->campaigns > 1 ? " and following, one for each set of variants" : "", r->tables,
		 r->tables == 1 ? "" : "s", r->rows, r->cells, r->refused);
	add_missing(&missing, r->set);
	if (missing.len)
		cli_note(c, "not stated in the text:%s", strbuf_str(&missing));
	return tell_about_lines(c, file, r->set);
}

/* ---- operands ---- */

struct importer {
	struct cli *c;
	const struct catalog *cat;
	struct import_options opt;
	struct net_options net;
	const char *lore;
	bool json;
};

static int show_text(struct importer *im, const char *file, struct span text)
{
	struct import_content *content = arena_alloc(im->c->a, sizeof(*content));
	int r = import_read(im->c->a, im->cat, file, text, &im->opt, content, im->c->e);

	if (!r && im->json)
		print_json(json_content(im->cat, file, content));
	else if (!r)
		print_content(im->c->a, file, content);
	import_content_release(content);
	return r ? cli_failure(r) : tell_about_lines(im->c, file, &content->set);
}

static int import_span(struct importer *im, struct db *db, const char *file, struct span text)
{
	struct import_report report;
	int r;

	if (im->c->dry_run)
		return show_text(im, file, text);
	r = import_text(db, im->c->a, im->cat, file, text, &im->opt, &report, im->c->e);
	return r ? cli_failure(r) : tell_report(im->c, file, &report);
}

static int import_file(struct importer *im, struct db *db, const char *file)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = input_read(file, &text, im->c->e);

	return r ? cli_failure(r)
		 : import_span(im, db, file, (struct span){strbuf_str(&text), text.len});
}

static int import_address(struct importer *im, struct db *db, const char *operand, const char *url)
{
	struct cli *c = im->c;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool html = false;
	int r;

	if (strcmp(url, operand))
		cli_note(c, "fetching %s", url);
	r = net_get(url, &im->net, &text, &html, c->e);
	if (!r)
		r = input_unpack(url, &text, c->e);
	if (r)
		return r;
	if (html)
		cli_warn(c, "%s is a web page: the address of its raw text reads better", url);
	return import_span(im, db, url, (struct span){strbuf_str(&text), text.len});
}

static int import_operand(struct importer *im, struct db *db, const char *operand)
{
	const char *url = lore_raw_address(im->c->a, operand, im->lore);

	if (url && !file_exists(operand))
		return import_address(im, db, operand, url);
	return import_file(im, db, operand);
}

/* Paths of what a folder holds, folders or files; names with a dot in front are not meant. */
static int list_folder(struct cli *c, const char *dir, bool folders, const char ***paths, size_t *n)
{
	char **names;
	size_t all, i;
	int r = file_list(c->a, dir, NULL, &names, &all, c->e);

	if (r)
		return cli_failure(r);
	*paths = arena_alloc_array(c->a, all + 1, sizeof(**paths));
	for (i = *n = 0; i < all; i++) {
		(*paths)[*n] = arena_printf(c->a, "%s/%s", dir, names[i]);
		*n += names[i][0] != '.' && file_is_dir((*paths)[*n]) == folders;
	}
	return 0;
}

static int import_files(struct importer *im, struct db *db, const char *const *files, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && !r; i++)
		r = import_file(im, db, files[i]);
	return r;
}

/* The baseline of several variants comes first: --base, or a name such as vanilla. */
static int order_groups(struct importer *im, struct import_group *groups, size_t n)
{
	struct cli *c = im->c;
	const char **names = arena_alloc_array(c->a, n + 1, sizeof(*names));
	const char *base = im->opt.tables.baseline;
	struct import_group first;
	size_t i;
	int at = -1;

	for (i = 0; i < n; i++) {
		names[i] = groups[i].variant;
		if (base && !strcmp(names[i], base))
			at = (int)i;
	}
	if (base && at < 0)
		return cli_usage(c, "--base %s: there is no such folder", base);
	if (!base)
		at = table_baseline_by_name(names, n);
	for (i = (size_t)MAX(at, 0); i > 0; i--) {
		first = groups[i];
		groups[i] = groups[i - 1];
		groups[i - 1] = first;
	}
	return 0;
}

/* A folder of folders is one campaign, named after it; each of its folders is a variant. */
static int import_variants(struct importer *im, struct db *db, const char *dir,
			   const char *const *folders, size_t n)
{
	struct cli *c = im->c;
	struct import_group *groups = arena_alloc_array(c->a, n, sizeof(*groups));
	struct import_options opt = im->opt;
	struct import_report report;
	const char **files;
	size_t i;
	int r = 0;

	if (opt.variant)
		return cli_usage(c, "--variant: %s has a folder for each variant", dir);
	for (i = 0; !r && i < n; i++) {
		groups[i].variant = path_name(c->a, folders[i]);
		r = list_folder(c, folders[i], false, &files, &groups[i].n_files);
		groups[i].files = files;
		if (!r && c->dry_run)
			r = import_files(im, db, files, groups[i].n_files);
	}
	if (!r)
		r = order_groups(im, groups, n);
	if (r || c->dry_run)
		return r;
	opt.campaign = path_name(c->a, dir);
	r = import_groups(db, c->a, im->cat, groups, n, &opt, &report, c->e);
	return r ? cli_failure(r) : tell_report(c, dir, &report);
}

/* A tree of another tool; with -n into a database that is gone afterwards. */
static int import_result_tree(struct importer *im, struct db *db, const char *dir)
{
	struct cli *c = im->c;
	_cleanup_db_ struct db *scratch = NULL;
	struct import_report report;
	int r = 0;

	if (im->opt.variant)
		return cli_usage(c, "--variant: %s names its kernels itself", dir);
	if (im->json)
		return cli_usage(c, "-o json shows single files; %s is a result tree", dir);
	if (c->dry_run)
		r = db_open(":memory:", DB_MEMORY, &scratch, c->e);
	if (!r)
		r = import_tree(db ? db : scratch, c->a, im->cat, dir, &im->opt, &report, c->e);
	return r ? cli_failure(r) : tell_report(c, dir, &report);
}

/*
 * The result tree of another tool; a folder of raw outputs, which is one variant, named after it or
 * by --variant; or a folder of such folders.
 */
static int import_folder(struct importer *im, struct db *db, const char *dir)
{
	struct cli *c = im->c;
	struct import_group group;
	struct import_report report;
	const char **paths;
	size_t n, n_folders;
	int r;

	if (!im->opt.as && import_tree_kind(c->a, dir))
		return import_result_tree(im, db, dir);
	r = list_folder(c, dir, false, &paths, &n);
	if (r)
		return r;
	if (!n) {
		r = list_folder(c, dir, true, &paths, &n_folders);
		if (r || n_folders)
			return r ? r : import_variants(im, db, dir, paths, n_folders);
	}
	if (c->dry_run)
		return import_files(im, db, paths, n);
	group = (struct import_group){im->opt.variant ? im->opt.variant : path_name(c->a, dir),
				      paths, n};
	r = import_groups(db, c->a, im->cat, &group, 1, &im->opt, &report, c->e);
	return r ? cli_failure(r) : tell_report(c, dir, &report);
}

static int read_options(struct importer *im)
{
	struct cli *c = im->c;
	const char *format = cli_value(c, "output");

	im->opt.as = cli_value(c, "as");
	im->opt.variant = cli_value(c, "variant");
	im->opt.again = cli_has(c, "again");
	im->opt.tables.baseline = cli_value(c, "base");
	im->lore = cli_has(c, "lore") ? cli_value(c, "lore") : LORE_BASE;
	if (cli_net_options(c, &im->net))
		return -EINVAL;
	im->json = c->json || format;
	if (format && strcmp(format, "json"))
		return cli_usage(c, "-o takes json, not '%s'", format);
	if (im->json && !c->dry_run)
		return cli_usage(c, "-o json shows what is understood and needs -n");
	if (im->opt.as && !catalog_find(im->cat, im->opt.as)) {
		err_add(c->e, -EINVAL, "unknown benchmark '%s'", im->opt.as);
		cli_suggest(c, im->opt.as, catalog_names(im->cat));
		return -EINVAL;
	}
	return cli_list(c, "names", &im->opt.tables.names);
}

static int import_run(struct cli *c)
{
	struct importer im = {.c = c};
	_cleanup_db_ struct db *db = NULL;
	struct catalog *cat;
	int r, code = EXIT_DONE;
	size_t i;

	if (!c->n_operands)
		return cli_usage(c,
				 "import takes files, folders, addresses, or - for standard input");
	r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);
	if (r)
		return r;
	im.cat = cat;
	r = read_options(&im);
	if (!r && !c->dry_run)
		r = cli_open_db(c, DB_WRITE, &db);
	if (r)
		return r;
	for (i = 0; i < c->n_operands; i++) {
		const char *path = c->operands[i];

		r = strcmp(path, "-") && file_is_dir(path) ? import_folder(&im, db, path)
							   : import_operand(&im, db, path);
		if (r < 0)
			return r;
		code = MAX(code, r);
	}
	return code;
}

static const struct cli_option options[] = {
	{"as", 0, "BENCHMARK", "raw output of this benchmark (else recognised)"},
	{"names", 0, "A,B,...", "names of the columns, where the text has none"},
	{"base", 0, "NAME", "the baseline (else 0.00 %, then a name such as w/o or vanilla)"},
	{"variant", 0, "NAME", "name of the variant of raw outputs (else the file's or folder's)"},
	{"again", 0, NULL, "import a text that was imported before once more"},
	{"lore", 0, "URL", "archive that <ID@HOST> is looked up in (default " LORE_BASE ")"},
	{"cacert", 0, "FILE", "trust these authorities for https:// only (PEM)"},
	{"timeout", 0, "TIME", "longest wait for an address, such as 30s (default 5m)"},
	{"output", 'o', "json", "with -n: what was understood"},
	CLI_OPTIONS_END,
};

static const struct command import = {
	.name = "import",
	.usage = "FILE|FOLDER|URL|-...",
	.group = "keep",
	.summary = "raw outputs and tables from mails into the database",
	.help = "Understands mmtests tables, lists of bash times and raw benchmark outputs, plain "
		"or\n"
		"as a mail mangled them: quoted, wrapped, squeezed, encoded, a whole .eml or "
		"mbox.\n"
		"Every percentage is recomputed from its values; a row that disagrees beyond "
		"rounding\n"
		"is refused by its line, the others are stored (exit status 1).\n"
		"A folder of raw outputs is one variant; a folder of such folders is one campaign "
		"with\n"
		"a variant for each.\n"
		"Result trees: work/log of mmtests, result roots of LKP (stats.json, matrix.json); "
		"each\n"
		"kernel is a variant.\n"
		"Reports of kdelta itself (-o html, json or csv) come back with the same numbers.\n"
		"URL: http(s)://...; a message of lore.kernel.org or another public-inbox is "
		"fetched\n"
		"in its raw form, also by its Message-ID in brackets. At most 64 MB.\n"
		"Files may be packed (gzip, xz, zstd, bzip2), as mailboxes of archives are; 256 MB "
		"at most.",
	.examples =
		"  kdelta import mail.txt && kdelta compare\n"
		"  kdelta import https://lore.kernel.org/r/20220217154403.6497-1-me@example.org\n"
		"  kdelta import '<20220217154403.6497-1-me@example.org>'\n"
		"  kdelta import -n -o json mail.eml\n"
		"  kdelta import --base 5.17-vanilla mmtests/work/log\n"
		"  kdelta import --names vanilla,patched table.txt",
	.first_page = true,
	.options = options,
	.run = import_run,
};
REGISTER(command, import);
