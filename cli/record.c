// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta record: measure a command under the running kernel, without a campaign file. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "core/num.h"
#include "runner/record.h"

static const struct cli_option record_options_table[] = {
	{"repeat", 'r', "N", "number of runs (default 5)"},
	{"deadline", 0, "TIME", "a run that takes longer hangs (default: from the first run)"},
	{"new", 0, NULL, "begin a new campaign even if this command was recorded before"},
	CLI_OPTIONS_END,
};

/* NAME, then the command: after "--" or as the other operands. */
static int read_operands(struct cli *c, struct record_options *opt)
{
	const char **argv;
	size_t n;

	if (!c->n_operands || (c->has_dashes && c->dashes != 1))
		return cli_usage(c, "record takes a name and a command: record NAME -- COMMAND");
	opt->name = c->operands[0];
	n = c->n_operands - 1;
	if (!n)
		return cli_usage(c, "the command to record is missing");
	if (!*opt->name || strchr(opt->name, '/') || strlen(opt->name) > 60)
		return cli_usage(c, "a variant's name has 1 to 60 characters and no '/'");
	argv = arena_alloc_array(c->a, n + 1, sizeof(*argv));
	memcpy(argv, c->operands + 1, n * sizeof(*argv));
	opt->argv = argv;
	return 0;
}

static void tell_end(const struct cli *c, const struct record_options *opt,
		     const struct record_report *r)
{
	cli_note(c, "%s: %d of %d runs of '%s' are good (%s)", r->campaign, r->good, r->runs,
		 opt->name, r->benchmark);
	if (r->warning)
		cli_warn(c, "%s", r->warning);
	if (r->other)
		cli_note(c, "now: kdelta compare %s %s", r->other, opt->name);
	else
		cli_note(c, "boot the next kernel, record again under another name, then: kdelta "
			    "compare");
}

static int run_record(struct cli *c)
{
	struct record_options opt = {
		.progress = progress_show,
		.note = c->quiet ? progress_note_quiet : progress_note,
		.fresh = cli_has(c, "new"),
		.data = c,
	};
	struct record_report report = {0};
	const char *deadline = cli_value(c, "deadline");
	_cleanup_db_ struct db *db = NULL;
	struct catalog *cat;
	long repeat = 5;
	int r = read_operands(c, &opt);

	if (!r)
		r = cli_int(c, "repeat", 1, 10000, &repeat);
	if (!r && deadline && !num_parse_duration(deadline, &opt.deadline))
		r = cli_usage(c, "--deadline takes a time such as 90s or 5m, not '%s'", deadline);
	if (!r)
		r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);
	if (!r)
		r = cli_open_db(c, DB_WRITE, &db);
	if (r)
		return r;
	opt.repeat = (int)repeat;
	r = record_command(db, c->a, cat, &opt, &report, c->e);
	progress_end();
	if (r)
		return r;
	if (report.campaign)
		tell_end(c, &opt, &report);
	if (report.interrupted)
		return EXIT_INTERRUPTED;
	return report.good == report.runs ? EXIT_DONE : EXIT_FAILED;
}

static const struct command record_command_entry = {
	.name = "record",
	.usage = "NAME -- COMMAND...",
	.group = "measure",
	.summary = "measure a command under the running kernel, without a campaign file",
	.help = "Runs COMMAND several times and stores outputs and results under the variant NAME. "
		"Boot\n"
		"the next kernel, record the same command under another name, and compare. The\n"
		"benchmark is recognised by the program's name or by what it prints; of any other\n"
		"command the real, user and sys times are taken.\n",
	.examples = "kdelta record old -r 5 -- hackbench -l 10000\n"
		    "kdelta record new -r 5 -- hackbench -l 10000\n"
		    "kdelta compare old new\n",
	.raw_operands = true,
	.options = record_options_table,
	.run = run_record,
};
REGISTER(command, record_command_entry);
