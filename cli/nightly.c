// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta nightly: measure what is new, tell what changed. */
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "hunt/nightly.h"

static int tell_end(const struct cli *c, const struct nightly_report *r)
{
	if (r->interrupted) {
		cli_note(c, "interrupted; the same call goes on");
		return EXIT_INTERRUPTED;
	}
	if (r->spent)
		cli_note(c, "the budget is used up; the same call goes on");
	return r->worse ? EXIT_REGRESSION : r->undecided ? EXIT_CANNOT_TELL : EXIT_DONE;
}

/* -o junit=FILE takes the place of what the campaign file says. */
static int read_outputs(struct cli *c, struct nightly_options *o)
{
	static const char *const formats[] = {"junit", "openmetrics", "kcidb", NULL};
	const char **files[] = {&o->junit, &o->openmetrics, &o->kcidb}, *text;
	size_t i, k;

	for (i = 0; (text = cli_value_at(c, "output", i)); i++) {
		const char *file = strchr(text, '=');

		for (k = 0; formats[k] && !(file && span_is((struct span){text, (size_t)(file - text)},
							    formats[k]));
		     k++)
			;
		if (!formats[k])
			return cli_usage(c, "-o takes junit=FILE, openmetrics=FILE or kcidb=FILE, "
					    "not '%s'", text);
		*files[k] = file + 1;
	}
	return 0;
}

static const struct cli_option options[] = {
	{"output", 'o', "FORMAT=FILE", "junit, openmetrics or kcidb of the last night; repeatable"},
	CLI_OPTIONS_END,
};

static int nightly_command_run(struct cli *c)
{
	_cleanup_db_ struct db *db = NULL;
	struct nightly n = {.a = c->a, .e = c->e,
			    .note = c->verbose ? progress_note : progress_note_quiet};
	struct nightly_report report;
	int r;

	if (c->n_operands != 1)
		return cli_usage(c, "nightly takes one campaign file with a `nightly:` mapping");
	r = nightly_open(&n, c->operands[0]);
	if (!r)
		r = read_outputs(c, &n.opt);
	if (!r)
		r = cli_open_db(c, DB_WRITE, &db);
	n.db = db;
	if (!r)
		r = nightly_run(&n, &report);
	progress_end();
	return r ? r : tell_end(c, &report);
}

static const struct command command_nightly = {
	.name = "nightly",
	.usage = "CONFIG",
	.group = "hunt",
	.summary = "measure new commits of a branch, tell only what changed",
	.help = "CONFIG is a campaign file with one variant, whose kernel or source is git, and a\n"
		"mapping `nightly:` with repo, branch, every (commit, tag or day), baseline, budget,\n"
		"threshold (1%), mail (to, from, smtp, eml), webhook (an address that gets JSON),\n"
		"bisect (true: names the commit where several are new), keep (raw 90 days, samples\n"
		"for ever), disk (50G of database and cache), junit, openmetrics and kcidb (files;\n"
		"-o junit=FILE says the same).\n"
		"For cron: each call fetches, measures the commits that are new beside a baseline and\n"
		"its second arm, and compares with the nights before. What lies outside its\n"
		"prediction interval is measured once more; only what that confirms is told, once, in\n"
		"one mail for what changed in the same night, and again when it is over. A night in\n"
		"which the baseline moved as much is the machine's doing. After a kill the same call\n"
		"goes on. -v says what is done.\n"
		"\n"
		"Exit: 0 nothing got worse, 3 something did, 4 a night gave no value or no answer.\n",
	.examples = "kdelta nightly linux-nightly.yaml\n"
		    "0 1 * * * kdelta nightly -q /srv/ci/linux-nightly.yaml",
	.options = options,
	.run = nightly_command_run,
};
REGISTER(command, command_nightly);
