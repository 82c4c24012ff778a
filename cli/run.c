// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta run: plan, execute, store. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/look.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "core/file.h"
#include "core/num.h"
#include "exchange/bundle.h"
#include "runner/backend.h"
#include "runner/run.h"
#include "targets/lab.h"

static const struct cli_option run_options_table[] = {
	{"resume", 0, "[ID]", "go on with an unfinished campaign (the newest of that name, or ID)"},
	{"until-sure", 0, NULL, "planned looks at 5, 10 and 20 units a side; settled rows stop"},
	{"add", 0, "N",
	 "N further units a side for the newest campaign of that name (or --resume=ID)"},
	{"budget", 0, "TIME", "end after 90m or 2h; what is odd or undecided comes first"},
	{"recalibrate", 0, NULL, "measure `auto` parameters anew, not as in the last campaign"},
	{"reboot", 0, NULL, "backend host-reboot: restart this machine for every boot of the plan"},
	{"observe-check", 0, NULL, "measure what the monitors cost: the first variant without and with"},
	{"icount", 0, NULL, "count instructions in guests of one emulated CPU; no times"},
	{"one", 0, "CELL", "only this cell of the plan, from 1; exit 75 under another kernel"},
	{"bundle", 0, "FILE", "--one: where the campaign so far is, and goes; no database is used"},
	{"build-id", 0, "HEX", "--one: what the running kernel must have"},
	{"campaign", 0, "NAME", "name of the campaign, in place of the file's"},
	{"seed", 0, "N", "seed of the order of blocks; drawn and stored if not given"},
	CLI_OPTIONS_END,
};

/*
 * The campaign file: the operand, --config, ./kdelta.yaml; with --resume ID the one it was begun
 * with. `--resume ID` gives the ID as an operand, which is no file then.
 */
static int find_config(struct cli *c, const char **path, const char **id)
{
	_cleanup_db_ struct db *db = NULL;
	struct db_campaign row;
	int r;

	*id = cli_value(c, "resume");
	*path = c->config;
	if (c->n_operands > 1)
		return cli_usage(c, "run takes one campaign file");
	if (c->n_operands && (!cli_has(c, "resume") || *id || file_exists(c->operands[0])))
		*path = c->operands[0];
	else if (c->n_operands)
		*id = c->operands[0];
	if (*path || !*id) {
		*path = *path ? *path : "kdelta.yaml";
		return 0;
	}
	r = cli_open_db(c, DB_READ, &db);
	if (!r)
		r = db_find_campaign(db, c->a, *id, &row, c->e);
	if (!r)
		*path = row.config_path;
	return r;
}

static int read_config(struct cli *c, const char *path, struct catalog **cat,
		       struct campaign_config **config)
{
	long seed = 0;
	int r = cli_int(c, "seed", 1, 999999999, &seed);

	if (!r)
		r = catalog_load(c->a, path_folder(c->a, path), cat, c->e);
	if (!r)
		r = campaign_read(c->a, path, *cat, config, c->e);
	if (!r && cli_has(c, "icount"))
		r = campaign_count(c->a, *config, *cat,
				   c->quiet ? progress_note_quiet : progress_note, c->e);
	if (!r && cli_has(c, "observe-check"))
		r = campaign_observe(c->a, *config, c->e);
	if (r)
		return r;
	if (seed)
		(*config)->seed = (uint64_t)seed;
	if (cli_has(c, "campaign"))
		(*config)->name = cli_value(c, "campaign");
	return 0;
}

/* ---- the end ---- */

static void tell_times(const struct cli *c, const struct run_report *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "time: entering and leaving variants ");
	num_add_duration(&sb, r->boot_seconds);
	strbuf_adds(&sb, ", runs ");
	num_add_duration(&sb, r->run_seconds);
	strbuf_adds(&sb, ", the rest ");
	num_add_duration(&sb, r->rest_seconds);
	cli_note(c, "%s", strbuf_str(&sb));
}

/* The line that goes on with a campaign: options that made it another one than the file's stay. */
static const char *line_again(const struct cli *c, const char *path, const char *campaign)
{
	return arena_printf(c->a, "kdelta run %s%s%s --resume=%s", path,
			    cli_has(c, "icount") ? " --icount" : "",
			    cli_has(c, "observe-check") ? " --observe-check" : "", campaign);
}

static int tell_end(const struct cli *c, const char *path, const struct campaign_config *config,
		    const struct run_report *r)
{
	const char *const *missing;

	array_for_each (missing, &r->missing)
		cli_warn(c, "not measured: %s", *missing);
	if (!r->campaign) {
		cli_note(c, "interrupted before anything was measured");
		return EXIT_INTERRUPTED;
	}
	if (r->interrupted) {
		cli_note(c, "interrupted; to go on: %s", line_again(c, path, r->campaign));
		return EXIT_INTERRUPTED;
	}
	tell_times(c, r);
	if (r->stop)
		cli_note(c, "%s: %s", r->campaign, r->stop);
	cli_note(c, "%s: %d of %d runs done%s%s%s", r->campaign, r->done, r->runs,
		 r->failed ? arena_printf(c->a, ", %d failed", r->failed) : "",
		 r->dropped ? arena_printf(c->a, ", %d left out", r->dropped) : "",
		 r->skipped ? arena_printf(c->a, ", %d skipped", r->skipped) : "");
	if (r->left && r->next_variant) {
		cli_note(c, "%d runs left: boot the kernel of '%s' and type %s", r->left,
			 r->next_variant,
			 cli_has(c, "add") ? line_again(c, path, r->campaign)
					   : "the same line again");
		return EXIT_DONE;
	}
	if (config->n_variants > 1)
		cli_note(c, "now: kdelta compare");
	return r->failed || r->skipped ? EXIT_FAILED : EXIT_DONE;
}

/* Options of the command line into those of the campaign. */
static int read_options(struct cli *c, struct run_options *opt)
{
	const char *budget = cli_value(c, "budget");
	long add = 0;
	long one = 0;
	int r = cli_int(c, "add", 1, 1000, &add);

	if (!r)
		r = cli_int(c, "one", 1, 1000000, &one);
	if (r)
		return r;
	opt->one = (int)one;
	opt->add = (int)add;
	opt->until_sure = cli_has(c, "until-sure");
	opt->recalibrate = cli_has(c, "recalibrate");
	opt->reboot = cli_has(c, "reboot");
	opt->db_path = db_path(c->a, c->db);
	if (budget && (!num_parse_duration(budget, &opt->budget) || opt->budget <= 0))
		return cli_usage(c, "--budget takes a time such as 90m or 2h, not '%s'", budget);
	if (add && opt->until_sure)
		return cli_usage(c, "--add is for a finished campaign, --until-sure for a new one");
	if (add && budget)
		return cli_usage(c, "--add says how much is measured; --budget cannot cut it");
	return 0;
}

static int check_looks(struct cli *c, const struct campaign_config *config,
		       const struct run_options *opt)
{
	if (!opt->until_sure || config->n_variants > 1)
		return 0;
	err_add(c->e, -EINVAL, "--until-sure compares, and %s has one variant only", config->file);
	err_hint(c->e, "add another variant, or leave --until-sure out");
	return -EINVAL;
}

/* ---- a lab, and a job in it ---- */

/* The campaign so far from the bundle, one more cell, and back: a job that dies leaves no trace. */
static int run_one(struct cli *c, struct catalog *cat, struct campaign_config *config,
		   struct run_options *opt)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	bundle_results results = {NULL, 0, 0};
	const char *bundle = cli_value(c, "bundle");
	struct run_report report = {0};
	_cleanup_db_ struct db *db = NULL;
	int r;

	if (!bundle || !config->seed)
		return cli_usage(c, "--one needs --bundle FILE and --seed N");
	opt->build_id = cli_value(c, "build-id");
	r = db_open(NULL, DB_MEMORY, &db, c->e);
	if (!r && file_exists(bundle))
		r = bundle_merge(db, c->a, bundle, &results, c->e);
	if (results.n) {
		opt->resume = true;
		opt->resume_id = results.items[0].campaign;
	}
	ARRAY_FREE(&results);
	if (!r)
		r = run_campaign(db, c->a, cat, config, opt, &report, c->e);
	ARRAY_FREE(&report.missing);
	if (r || report.interrupted)
		return r ? r : EXIT_INTERRUPTED;
	if (report.refused) {
		cli_warn(c, LAB_REFUSED "%s", report.refused);
		return LAB_EXIT_REQUEUE;
	}
	r = bundle_pack(db, &report.campaign, 1, &file, c->e);
	return r ? r : file_write_atomic(bundle, file.buf, file.len, c->e);
}

static int run_lab(struct cli *c, const char *path, struct campaign_config *config,
		   const struct run_options *opt)
{
	_cleanup_free_ char *full = realpath(path, NULL), *self = realpath("/proc/self/exe", NULL);
	const struct lab_options lab = {.resume = opt->resume, .config = full, .note = opt->note};
	_cleanup_strbuf_ struct strbuf now = STRBUF_INIT;
	struct lab_report report = {0};
	_cleanup_db_ struct db *db = NULL;
	const char **name;
	size_t n;
	int r;

	if (opt->until_sure || opt->add || opt->budget)
		return cli_usage(c, "--until-sure, --add and --budget are not for backend slurm");
	if (!config->slurm.program)
		config->slurm.program = self;
	r = cli_open_db(c, DB_WRITE, &db);
	if (!r)
		r = lab_run(db, c->a, config, &lab, &report, c->e);
	array_for_each (name, &report.campaigns)
		strbuf_addf(&now, " -c %s", *name);
	n = report.campaigns.n;
	ARRAY_FREE(&report.campaigns);
	if (r)
		return r;
	cli_note(c, "%d of %d runs done on %zu nodes%s", report.done, report.runs,
		 n,
		 report.failed ? arena_printf(c->a, ", %d failed", report.failed) : "");
	if (report.interrupted)
		cli_note(c, "interrupted; jobs in the queue go on; to go on: kdelta run %s --resume",
			 path);
	else if (now.len && config->n_variants > 1)
		cli_note(c, "now: kdelta compare%s", strbuf_str(&now));
	return report.interrupted ? EXIT_INTERRUPTED : report.failed ? EXIT_FAILED : EXIT_DONE;
}

static int run_run(struct cli *c)
{
	struct run_options opt = {
		.resume = cli_has(c, "resume"),
		.judge = look_judge,
		.progress = progress_show,
		.note = c->quiet ? progress_note_quiet : progress_note,
		.data = c,
	};
	struct run_report report = {0};
	struct campaign_config *config;
	_cleanup_db_ struct db *db = NULL;
	struct catalog *cat;
	const char *path;
	bool reboots;
	int r = read_options(c, &opt);

	if (!r)
		r = find_config(c, &path, &opt.resume_id);
	if (!r)
		r = read_config(c, path, &cat, &config);
	if (!r)
		r = check_looks(c, config, &opt);
	if (r)
		return r;
	reboots = backend_find(config->backend)->reboots;
	if (opt.reboot && !reboots)
		return cli_usage(c, "--reboot is for the backend host-reboot; %s has %s",
				 config->file, config->backend);
	if (c->dry_run && !strcmp(config->backend, "slurm"))
		cli_note(c, "every node measures this plan, in an order of its own");
	if (c->dry_run)
		return plan_show(c, config, &opt);
	if (opt.one)
		return run_one(c, cat, config, &opt);
	if (!strcmp(config->backend, "slurm"))
		return run_lab(c, path, config, &opt);
	if (reboots && !opt.reboot) {
		r = plan_show(c, config, &opt);
		cli_warn(c, "nothing was done: --reboot lets kdelta restart this machine");
		return r ? r : EXIT_USAGE;
	}
	if (strcmp(config->backend, "ssh") && !config->counting)
		doctor_note(c); /* this machine is measured, or holds the guests */
	r = cli_open_db(c, DB_WRITE, &db);
	if (!r)
		r = run_campaign(db, c->a, cat, config, &opt, &report, c->e);
	progress_end();
	if (!r)
		r = tell_end(c, path, config, &report);
	if (r == EXIT_DONE && cli_has(c, "observe-check"))
		r = output_show(c, db, report.campaign);
	ARRAY_FREE(&report.missing);
	return r;
}

static const struct command run_command_entry = {
	.name = "run",
	.usage = "[CONFIG]",
	.group = "measure",
	.summary = "measure the variants of a campaign file and store every run",
	.help = "Plans the campaign (randomised blocks, order from a stored seed), visits each "
		"variant in\n"
		"each block, and stores every run as it ends. A run that fails is tried once more "
		"at\n"
		"the end of its block; both attempts are kept, and the campaign goes on.\n"
		"\n"
		"CONFIG is a YAML file (`kdelta init` writes one); default kdelta.yaml. Backends:\n"
		"host (this kernel; variants differ by sysctls, scheduler features, environment),\n"
		"manual (you boot each kernel; type the same line again after every boot),\n"
		"qemu (boots each variant's kernel in a guest), ssh (boots another machine\n"
		"into each variant: `kdelta target`) and host-reboot (boots this one, only with\n"
		"--reboot; kdelta-resume.service goes on after each restart) and slurm (the nodes\n"
		"of a cluster: `kdelta lab`; its jobs call --one). Kernels\n"
		"come from images, Debian packages, or a source that is built (git, a tarball, a\n"
		"package) with patches and a configuration: see kdelta-campaign(5).\n"
		"\n"
		"--until-sure looks at 5, 10 and 20 units a side (boots, or runs of the host "
		"backend),\n"
		"each time at q = 0.021, so that all looks together raise 5 % false alarms: a row "
		"that\n"
		"is real, or the same, is measured no further. Stopping when a result looks good "
		"has no\n"
		"such guarantee; neither has --add, which the report calls an unplanned look. "
		"--budget\n"
		"asks before each block whether it still fits; an odd or undecided row comes "
		"first.\n"
		"What was decided is stored: `kdelta show CAMPAIGN`.\n"
		"\n"
		"--observe-check measures what watching costs: the first variant without and with "
		"the\n"
		"campaign's monitors, 20 pairs in one boot, and prints the comparison (campaign\n"
		"NAME-observe).\n"
		"\n"
		"--icount (or counting: instructions in the file) gives guests a clock that "
		"counts their\n"
		"instructions: the same kernel, command and seed give the same count to the last "
		"digit,\n"
		"however busy the machine is. It is path length on one emulated CPU, without "
		"caches,\n"
		"contention and placement, and never compared with times.\n"
		"\n"
		"After Ctrl-C, a crash or a power loss --resume goes on where it stopped. "
		"Settings\n"
		"that were changed are put back, after a crash at the next start.\n",
	.examples = "kdelta run configs/quickstart.yaml -n\n"
		    "kdelta run configs/quickstart.yaml\n"
		    "kdelta run configs/quickstart.yaml --resume\n",
	.first_page = true,
	.options = run_options_table,
	.run = run_run,
};
REGISTER(command, run_command_entry);
