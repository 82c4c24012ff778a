// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"

static int add_output(struct cli *c, struct outputs *outputs, const char *text)
{
	const char *eq = strchr(text, '=');
	const char *name = eq ? arena_strndup(c->a, text, (size_t)(eq - text)) : text;
	size_t n = (size_t)(__stop_reg_report_format - __start_reg_report_format), i = 0;
	const char **names = arena_alloc_array(c->a, n + 1, sizeof(*names));
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	const struct report_format *const *p;
	struct output *o = ARRAY_PUSH(&outputs->list);

	o->format = report_format_find(name);
	o->file = eq ? eq + 1 : NULL;
	if (o->file && !*o->file)
		return cli_usage(c, "-o %s: no file name after '='", text);
	if (o->format)
		return 0;
	registry_for_each (report_format, p) {
		names[i++] = (*p)->name;
		strbuf_addf(&all, "%s%s", all.len ? ", " : "", (*p)->name);
	}
	cli_usage(c, "unknown format '%s'; there are: %s", name, strbuf_str(&all));
	cli_suggest(c, name, names);
	return -EINVAL;
}

int outputs_read(struct cli *c, struct outputs *o, const char *standard)
{
	const char *text;
	size_t i;
	int r = 0;

	for (i = 0; !r && (text = cli_value_at(c, "output", i)); i++)
		r = add_output(c, o, text);
	if (r || o->list.n)
		return r;
	return add_output(c, o, c->json ? "json" : standard);
}

/* Verdicts of a finished campaign are kept; a database that cannot be written is no error. */
static void store_verdicts(const struct selection *k, const struct comparison *cmp)
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

int outputs_write(const struct outputs *outputs, struct selection *what,
		  const struct comparison *cmp)
{
	struct cli *c = what->c;
	const struct output *o;
	int r = 0;

	what->report.width = cli_columns();
	what->report.color = cli_colors(c);
	array_for_each (o, &outputs->list) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct report_options opt = what->report;

		/* only the terminal's own format is fitted to it */
		if (o->file || strcmp(o->format->name, "term"))
			opt.width = 0;
		opt.color &= !o->file;
		r = report_render(o->format, cmp, &opt, &out, c->e);
		if (!r && o->file)
			r = file_write_atomic(o->file, strbuf_str(&out), out.len, c->e);
		else if (!r)
			cli_page(c, &out);
		if (r)
			return r;
	}
	for (; cmp; cmp = cmp->next)
		store_verdicts(what, cmp);
	return 0;
}

void outputs_release(struct outputs *o)
{
	ARRAY_FREE(&o->list);
}

int output_show(struct cli *c, struct db *db, const char *campaign)
{
	const struct comparison_options opt = {.threshold = 0.01};
	const struct report_options report = {.width = cli_columns(), .color = cli_colors(c)};
	const struct report_format *format = report_format_find(c->json		? "json"
								: cli_columns() ? "term"
										: "mail");
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct comparison *cmp;
	int r = comparison_build(db, c->a, campaign ? &campaign : NULL, campaign ? 1 : 0, &opt, &cmp,
				 c->e);

	if (!r)
		r = format->render(cmp, &report, &out, c->e);
	if (!r)
		cli_page(c, &out);
	return r;
}
