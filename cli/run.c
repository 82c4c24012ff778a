// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta run: plan, execute, store. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "core/file.h"
#include "core/num.h"
#include "runner/backend.h"
#include "runner/run.h"

static const struct cli_option run_options_table[] = {
	{"resume", 0, "[ID]", "go on with an unfinished campaign (the newest of that name, or ID)"},
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
	if (r)
		return r;
	if (seed)
		(*config)->seed = (uint64_t)seed;
	if (cli_has(c, "campaign"))
		(*config)->name = cli_value(c, "campaign");
	return 0;
}

/* ---- the plan ---- */

static void add_variant(struct strbuf *sb, const struct variant_config *v)
{
	const char *const *f;
	size_t i;

	strbuf_addf(sb, "  %s:", v->name);
	if (v->same_as)
		strbuf_addf(sb, " the same as %s, measured a second time:", v->same_as);
	if (v->deb)
		strbuf_addf(sb, " package %s", v->deb);
	else if (v->image)
		strbuf_addf(sb, " image %s", v->image);
	else if (v->release)
		strbuf_addf(sb, " release %s", v->release);
	else
		strbuf_adds(sb, " the running kernel");
	if (v->cmdline)
		strbuf_addf(sb, ", cmdline %s", v->cmdline);
	for (i = 0; i < v->n_sysctls; i++)
		strbuf_addf(sb, ", %s=%s", v->sysctls[i].name, v->sysctls[i].value);
	for (f = v->features; f && *f; f++)
		strbuf_addf(sb, ", %s", *f);
	for (i = 0; i < v->n_env; i++)
		strbuf_addf(sb, ", env %s=%s", v->env[i].name, v->env[i].value);
	strbuf_addc(sb, '\n');
}

static void add_case(struct cli *c, struct strbuf *sb, const struct test_case *t, size_t number)
{
	strbuf_addf(sb, "  %zu. %s, about ", number, t->name);
	num_add_duration(sb, t->expected);
	strbuf_addf(sb, "\n     %s\n", case_command(c->a, t));
	if (!case_program_path(c->a, t))
		strbuf_addf(sb, "     skipped: %s\n", case_missing(c->a, t));
}

static void add_order(struct cli *c, struct strbuf *sb, const struct campaign_config *config)
{
	size_t n, i;
	struct plan_cell *plan = plan_make(c->a, config, &n);

	for (i = 0; i < n; i += config->n_cases) {
		if (!i || plan[i].block != plan[i - 1].block)
			strbuf_addf(sb, "%s  block %d:", i ? "\n" : "", plan[i].block);
		else
			strbuf_addc(sb, ',');
		strbuf_addf(sb, " %s", config->variants[plan[i].variant].name);
	}
	strbuf_addc(sb, '\n');
}

/* Seconds of one boot of a small guest without KVM; with it a fraction. */
enum { BOOT_SECONDS = 8 };

static int show_plan(struct cli *c, struct campaign_config *config)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool boots = !strcmp(backend_find(config->backend)->unit, "boot");
	size_t i, visits = (size_t)config->repeat * config->n_variants;
	double runs = 0, booting = !strcmp(config->backend, "qemu") ? BOOT_SECONDS : 0;
	bool drawn = !config->seed;

	if (drawn)
		config->seed = run_draw_seed();
	strbuf_addf(&sb, "campaign %s, backend %s: %zu variants x %zu test cases x %d = %zu runs",
		    config->name, config->backend, config->n_variants, config->n_cases,
		    config->repeat, visits * config->n_cases);
	if (boots)
		strbuf_addf(&sb, " in %zu boots", visits);
	strbuf_adds(&sb, "\n\nvariants, the first is the baseline:\n");
	for (i = 0; i < config->n_variants; i++)
		add_variant(&sb, &config->variants[i]);
	strbuf_adds(&sb, "\ntest cases, in the order of every visit:\n");
	for (i = 0; i < config->n_cases; i++) {
		add_case(c, &sb, &config->cases[i], i + 1);
		runs += config->cases[i].expected;
	}
	strbuf_addf(&sb, "\norder of visits, seed %llu%s:\n", (unsigned long long)config->seed,
		    drawn ? " (drawn now; --seed keeps it)" : "");
	add_order(c, &sb, config);
	strbuf_adds(&sb, "\nexpected time: about ");
	num_add_duration(&sb, (double)visits * (runs + booting));
	if (booting > 0) {
		strbuf_adds(&sb, ", of which boots ");
		num_add_duration(&sb, (double)visits * booting);
	}
	strbuf_adds(&sb, "; preparation not counted\n");
	cli_print(&sb);
	return EXIT_DONE;
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
		cli_note(c, "interrupted; to go on: kdelta run %s --resume=%s", path, r->campaign);
		return EXIT_INTERRUPTED;
	}
	tell_times(c, r);
	cli_note(c, "%s: %d of %d runs done%s%s", r->campaign, r->done, r->runs,
		 r->failed ? arena_printf(c->a, ", %d failed", r->failed) : "",
		 r->skipped ? arena_printf(c->a, ", %d skipped", r->skipped) : "");
	if (r->left && r->next_variant) {
		cli_note(c, "%d runs left: boot the kernel of '%s' and type the same line again",
			 r->left, r->next_variant);
		return EXIT_DONE;
	}
	if (config->n_variants > 1)
		cli_note(c, "now: kdelta compare");
	return r->failed || r->skipped ? EXIT_FAILED : EXIT_DONE;
}

static int run_run(struct cli *c)
{
	struct run_options opt = {
		.resume = cli_has(c, "resume"),
		.progress = progress_show,
		.note = c->quiet ? progress_note_quiet : progress_note,
		.data = c,
	};
	struct run_report report = {0};
	struct campaign_config *config;
	_cleanup_db_ struct db *db = NULL;
	struct catalog *cat;
	const char *path;
	int r = find_config(c, &path, &opt.resume_id);

	if (!r)
		r = read_config(c, path, &cat, &config);
	if (r)
		return r;
	if (c->dry_run)
		return show_plan(c, config);
	r = cli_open_db(c, DB_WRITE, &db);
	if (!r)
		r = run_campaign(db, c->a, cat, config, &opt, &report, c->e);
	progress_end();
	if (!r)
		r = tell_end(c, path, config, &report);
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
		"manual (you boot each kernel; type the same line again after every boot), and\n"
		"qemu (boots each variant's kernel in a guest).\n"
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
