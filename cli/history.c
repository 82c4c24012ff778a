// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta history: one metric over all campaigns. */
#include <string.h>

#include "cli/cli.h"
#include "reports/history.h"

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

static int history_run(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char *format = cli_value(c, "output"), *machine = cli_value(c, "machine");
	struct history_options opt = {.test_case = cli_value(c, "case"),
				      .variant = cli_value(c, "variant")};
	struct history *h;
	int r;

	if (c->n_operands != 1)
		return cli_usage(c, "history takes one metric, such as tbench.throughput");
	if (format && strcmp(format, "json") && strcmp(format, "term"))
		return cli_usage(c, "-o takes term or json, not '%s' (pictures: `kdelta plot "
				    "history`)",
				 format);
	r = cli_open_db(c, DB_READ, &db);
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
	CLI_OPTIONS_END,
};

static const struct command history = {
	.name = "history",
	.usage = "METRIC",
	.group = "hunt",
	.summary = "one metric over all campaigns, with its steps and trend",
	.help = "A line for each test case and machine; a point for each kernel of each campaign, "
		"without\n"
		"baselines and second arms. Steps: E-divisive means with a t-test (p 0.001), checked\n"
		"against the exact segmentation; a trend since the last step where a line fits "
		"better\n"
		"than a level or a step (BIC) and Mann-Kendall agrees.",
	.examples = "kdelta history tbench.throughput\n"
		    "kdelta history hackbench.time --case hackbench/groups=4 --variant base\n"
		    "kdelta history tbench.throughput -o json | jq '.lines[].steps'",
	.options = options,
	.run = history_run,
};
REGISTER(command, history);
