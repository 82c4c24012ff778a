// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta history: one metric over all campaigns. */
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "core/file.h"
#include "reports/history.h"
#include "reports/pages.h"

enum { MAIL_COLUMNS = 72 };

static int find_machine(struct cli *c, struct db *db, const char *name, int64_t *id)
{
	struct db_campaign *list;
	struct db_machine m;
	size_t n, i;
	int r = db_get_campaigns(db, c->a, &list, &n, c->e);

	for (i = 0; !r && i < n; i++) {
		if (!list[i].machine_id)
			continue;
		r = db_get_machine(db, c->a, list[i].machine_id, &m, c->e);
		if (!r && strcmp(m.name, name))
			continue;
		*id = list[i].machine_id;
		return r;
	}
	return r ? r : cli_usage(c, "no campaign is of a machine '%s'", name);
}

/* ---- pages ---- */

struct folder {
	struct cli *c;
	const char *path;
	size_t pages;
};

static bool has_file(void *data, const char *name)
{
	struct folder *f = data;

	return file_exists(arena_printf(f->c->a, "%s/%s", f->path, name));
}

static int write_page(void *data, const char *name, const struct strbuf *text, struct err *e)
{
	struct folder *f = data;

	f->pages++;
	return file_write_atomic(arena_printf(f->c->a, "%s/%s", f->path, name), text->buf,
				 text->len, e);
}

static int write_pages(struct cli *c, struct db *db, const char *path)
{
	struct folder f = {c, path, 0};
	struct pages_options opt = {.title = "kdelta: history", .now = time(NULL),
				    .has = has_file, .emit = write_page, .data = &f};
	int r = file_make_dirs(path, c->e);

	if (!r)
		r = pages_write(db, c->a, &opt, c->e);
	if (r)
		return r;
	cli_note(c, "%s/index.html: %zu pages", path, f.pages);
	return EXIT_DONE;
}

static int history_run(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char *pages = cli_value(c, "pages"), *format = cli_value(c, "output");
	const char *machine = cli_value(c, "machine");
	struct history_options opt = {.test_case = cli_value(c, "case"),
				      .variant = cli_value(c, "variant")};
	struct history *h;
	int r;

	if (c->n_operands != (pages ? 0 : 1))
		return cli_usage(c, "history takes one metric, such as tbench.throughput (or none, with "
				    "--pages)");
	if (format && strcmp(format, "json") && strcmp(format, "term"))
		return cli_usage(c, "-o takes term or json, not '%s' (pictures: `kdelta plot "
				    "history`)",
				 format);
	r = cli_open_db(c, DB_READ, &db);
	if (!r && pages)
		return write_pages(c, db, pages);
	if (!r && machine)
		r = find_machine(c, db, machine, &opt.machine);
	if (!r)
		r = history_read(db, c->a, c->operands[0], &opt, &h, c->e);
	if (r)
		return r;
	if (c->json || str_equal(format, "json")) {
		history_json(h, &out);
		cli_print(&out);
		return EXIT_DONE;
	}
	history_text(h, c->a, cli_columns() ? cli_columns() : MAIL_COLUMNS, cli_colors(c), &out);
	cli_page(c, &out);
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	{"case", 0, "CASE", "this test case only, such as tbench/clients=64"},
	{"variant", 0, "NAME", "only kernels under this name (a baseline: what the machine did)"},
	{"machine", 0, "NAME", "this machine only"},
	{"output", 'o', "FORMAT", "term (default) or json"},
	{"pages", 0, "DIR", "all headline metrics as a folder of pages, with an index"},
	CLI_OPTIONS_END,
};

static const struct command history = {
	.name = "history",
	.usage = "METRIC | --pages DIR",
	.group = "hunt",
	.summary = "one metric over all campaigns, with its steps and trend",
	.help = "A line for each test case and machine; a point for each kernel of each campaign, "
		"without\n"
		"baselines and second arms. Steps: E-divisive means with a t-test (p 0.001), checked\n"
		"against the exact segmentation; a trend since the last step where a line fits "
		"better\n"
		"than a level or a step (BIC) and Mann-Kendall agrees.\n"
		"The pages of --pages need no server; an index has what changed and since when. "
		"Reports\n"
		"in DIR/report/CAMPAIGN.html are linked.",
	.examples = "kdelta history tbench.throughput\n"
		    "kdelta history hackbench.time --case hackbench/groups=4 --variant base\n"
		    "kdelta history --pages ~/public_html/nightly\n"
		    "kdelta history tbench.throughput -o json | jq '.lines[].steps'",
	.options = options,
	.run = history_run,
};
REGISTER(command, history);
