// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta report: a comparison with all its counters, by meaning. */
#include "campaign/catalog.h"
#include "cli/output.h"

static const struct cli_option report_options[] = {
	{"output", 'o', "FORMAT[=FILE]",
	 "lkp, mail, term, html, mmtests, csv or json; repeatable (default: lkp)"},
	{"all", 'a', NULL, "rows that did not change too"},
	SELECT_OPTIONS,
	CLI_OPTIONS_END,
};

static enum direction direction_of(void *data, const char *metric)
{
	const struct catalog *cat = data;
	struct db_metric m;

	catalog_describe_metric(cat, metric, &m);
	return m.direction;
}

/* Headings and their remarks, as metrics.yaml has them. */
static int read_words(struct cli *c, struct comparison_options *build)
{
	const struct metric_topic *topics;
	struct catalog *cat;
	struct cmp_topic *list;
	size_t n, i;
	int r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);

	if (r)
		return r;
	topics = metrics_topics(catalog_metrics(cat), &n);
	list = arena_alloc_array(c->a, n, sizeof(*list));
	for (i = 0; i < n; i++)
		list[i] = (struct cmp_topic){topics[i].name, topics[i].remark, topics[i].otherwise};
	build->topics = list;
	build->n_topics = n;
	build->direction_of = direction_of;
	build->direction_data = cat;
	return 0;
}

static int report(struct selection *what, struct outputs *outputs)
{
	struct cli *c = what->c;
	struct comparison *cmp;
	int r = outputs_read(c, outputs, "lkp");

	what->build.counters = true;
	what->report.all = cli_has(c, "all");
	if (!r)
		r = read_words(c, &what->build);
	if (!r)
		r = selection_compare(what, &cmp);
	if (!r)
		r = outputs_write(outputs, what, cmp);
	return r ? r : EXIT_DONE;
}

static int report_run(struct cli *c)
{
	struct selection what = {.c = c, .machines = true};
	struct outputs outputs = {0};
	int r = report(&what, &outputs);

	selection_release(&what);
	outputs_release(&outputs);
	return r;
}

static const struct command command_report = {
	.name = "report",
	.usage = "[BASE] [OTHER...] | FILES... -- FILES...",
	.group = "compare",
	.summary = "the same with counters, test descriptions and what differs besides the kernel",
	.help = "Operands are those of compare. Rows stand by their meaning (kdelta explain "
		"METRIC); "
		"only\n"
		"what changed is printed, --all prints the rest. Counters do not vote: the "
		"headline\n"
		"metrics decide.",
	.examples = "kdelta report\n"
		    "kdelta report 6.1 6.12 -o lkp=report.txt\n"
		    "kdelta import mail.txt && kdelta report --all\n",
	.options = report_options,
	.run = report_run,
};
REGISTER(command, command_report);
