// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta compare: which variants, from where, in which formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/select.h"
#include "core/file.h"

static const struct cli_option compare_options[] = {
	{"output", 'o', "FORMAT[=FILE]",
	 "mail, term, mmtests, csv or json; repeatable (default: term on a terminal, else mail)"},
	SELECT_OPTIONS,
	{"check", 0, NULL, "exit 3 on a regression, 4 where it cannot be told"},
	CLI_OPTIONS_END,
};

struct output {
	const struct report_format *format;
	const char *file; /* NULL: stdout */
};

struct compare {
	struct cli *c;
	ARRAY_OF(struct output) outputs;
	struct selection what;
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

/* ---- the report ---- */

static int write_outputs(struct compare *k, const struct comparison *cmp)
{
	const struct output *o;
	int r = 0;

	array_for_each (o, &k->outputs) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct report_options opt = k->what.report;

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

	if (k->what.memory || k->what.build.n_others || comparison_is_stored(cmp) ||
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
	struct comparison *cmp;
	int r = read_outputs(k);

	if (!r)
		r = selection_compare(&k->what, &cmp);
	k->what.report.width = cli_columns();
	k->what.report.color = cli_colors(k->c);
	if (!r)
		r = write_outputs(k, cmp);
	if (r)
		return r;
	store_verdicts(k, cmp);
	return cli_has(k->c, "check") ? check_code(cmp) : EXIT_DONE;
}

static int compare_run(struct cli *c)
{
	struct compare k = {.c = c, .what.c = c};
	int r = compare(&k);

	selection_release(&k.what);
	ARRAY_FREE(&k.outputs);
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
