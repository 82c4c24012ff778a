// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta run -n: what would be measured, in which order, for how long. */
#include "cli/plan.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "kernels/kernel.h"
#include "runner/backend.h"

static void add_variant(struct arena *a, struct strbuf *sb, const struct campaign_config *config,
			const struct variant_config *v)
{
	const struct kernel_options options = {.boots_vmlinux = !strcmp(config->backend, "qemu")};
	const char *const *f;
	size_t i;

	strbuf_addf(sb, "  %s:", v->name);
	if (v->same_as)
		strbuf_addf(sb, " the same as %s, measured a second time:", v->same_as);
	strbuf_addf(sb, " %s", kernel_describe(a, v, &options));
	if (v->cmdline)
		strbuf_addf(sb, ", cmdline %s", v->cmdline);
	for (i = 0; i < v->n_sysctls; i++)
		strbuf_addf(sb, ", %s=%s", v->sysctls[i].name, v->sysctls[i].value);
	for (f = v->features; f && *f; f++)
		strbuf_addf(sb, ", %s", *f);
	for (i = 0; i < v->n_knobs; i++)
		strbuf_addf(sb, ", %s=%s", v->knobs[i].name, v->knobs[i].value);
	if (v->policy)
		strbuf_addf(sb, ", policy %s", v->policy);
	if (v->nice)
		strbuf_addf(sb, ", nice %d", v->nice);
	if (v->unwatched)
		strbuf_adds(sb, ", monitors none");
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

/* "  pair 1: new base, base new": a tuple of each test case. */
static void add_tuples(struct strbuf *sb, const struct campaign_config *config,
		       const struct plan_cell *plan, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!i || plan[i].block != plan[i - 1].block)
			strbuf_addf(sb, "%s  pair %d:", i ? "\n" : "", plan[i].block);
		else if (plan[i].test != plan[i - 1].test)
			strbuf_addc(sb, ',');
		strbuf_addf(sb, " %s", config->variants[plan[i].variant].name);
	}
	strbuf_addc(sb, '\n');
}

static void add_order(struct cli *c, struct strbuf *sb, const struct campaign_config *config)
{
	size_t n, i;
	struct plan_cell *plan = plan_make(c->a, config, &n);

	if (config->flip) {
		add_tuples(sb, config, plan, n);
		return;
	}
	for (i = 0; i < n; i += config->n_cases * (size_t)config->runs) {
		if (!i || plan[i].block != plan[i - 1].block)
			strbuf_addf(sb, "%s  block %d:", i ? "\n" : "", plan[i].block);
		else
			strbuf_addc(sb, ',');
		strbuf_addf(sb, " %s", config->variants[plan[i].variant].name);
	}
	strbuf_addc(sb, '\n');
}

/* Seconds of one boot of a small guest without KVM; with it a fraction. */
enum { BOOT_SECONDS = 8, COUNTING_BOOT_SECONDS = 12 };

/* What the history of this machine says; a database that is not there yet has none. */
static int read_split(struct cli *c, struct campaign_config *config, const char **why)
{
	_cleanup_db_ struct db *db = NULL;
	int r = 0;

	*why = NULL;
	if (config->auto_repeat && file_exists(db_path(c->a, c->db)))
		r = cli_open_db(c, DB_READ, &db);
	return r ? r : run_split(db, c->a, config, NULL, why, c->e);
}

/* Blocks that look, stop or are split by rule rather than by the file. */
static void add_design(struct strbuf *sb, const struct campaign_config *config,
		       const struct run_options *opt, const char *split)
{
	const char *unit = config->flip ? "pair" : backend_find(config->backend)->unit;

	if (opt->until_sure)
		strbuf_addf(sb,
			    "\nlooks at %d, %d and %d %ss%s, each at q = %g and the %g %% "
			    "interval: rows that are\nsettled stop; below is the plan to the first "
			    "look\n",
			    run_look_units(1), run_look_units(2), run_look_units(3), unit,
			    config->flip ? "" : " a side",
			    STATS_LOOKS_Q, 100 * STATS_LOOKS_LEVEL);
	if (opt->budget > 0) {
		strbuf_adds(sb, "\nbudget: ");
		num_add_duration(sb, opt->budget);
		strbuf_adds(sb,
			    ", asked before each block; what is odd or undecided comes first\n");
	}
	if (config->counting)
		strbuf_adds(sb,
			    "\ncounts instructions on one emulated CPU: path length, no times; each "
			    "block is another\nseed, each run has a boot of its own\n");
	if (backend_find(config->backend)->reboots)
		strbuf_addf(sb,
			    "\nwith --reboot this machine is restarted %zu times by %s, at least, "
			    "and once more into its\nown kernel\n",
			    (size_t)config->repeat * config->n_variants, config->target.method);
	if (split)
		strbuf_addf(sb, "\nrepeat: auto makes %d %ss of %d run%s each: %s\n",
			    config->repeat, unit, config->runs, config->runs == 1 ? "" : "s",
			    split);
}

static size_t flip_boots(const struct campaign_config *config)
{
	return config->tuples ? (size_t)((config->repeat + config->tuples - 1) / config->tuples)
			      : 1;
}

static void add_time(struct strbuf *sb, const struct campaign_config *config,
		     const struct run_options *opt)
{
	double run = 0, boot = !strcmp(config->backend, "qemu") ? BOOT_SECONDS : 0, block;
	size_t i, visits = (size_t)config->repeat * config->n_variants;

	if (config->counting)
		boot = COUNTING_BOOT_SECONDS * (double)config->n_cases;
	if (config->flip) {
		visits = flip_boots(config);
		boot *= (double)visits / config->repeat / (double)config->n_variants;
	}
	for (i = 0; i < config->n_cases; i++)
		run += config->cases[i].expected * config->runs;
	block = (double)config->n_variants * (run + boot);
	strbuf_adds(sb, "\nexpected time: about ");
	num_add_duration(sb, config->repeat * block);
	if (boot > 0) {
		strbuf_adds(sb, ", of which boots ");
		num_add_duration(sb, config->repeat * (double)config->n_variants * boot);
	}
	if (opt->until_sure) {
		strbuf_adds(sb, " to the first look, at most ");
		num_add_duration(sb, run_look_units(RUN_LOOKS) * block);
	}
	strbuf_adds(sb, "; preparation not counted\n");
}

/* Units for a campaign that is there: its order goes on from the same seed. */
static int show_added(struct cli *c, const struct campaign_config *config,
		      const struct run_options *opt)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	struct db_campaign row;
	int r = cli_open_db(c, DB_READ, &db);

	if (!r)
		r = db_find_campaign(db, c->a, opt->resume_id ? opt->resume_id : config->name, &row,
				     c->e);
	if (r)
		return r;
	strbuf_addf(&sb,
		    "%s: %d %s%s a side are there, %d more would be added: %zu runs, in blocks "
		    "whose order\ngoes on from its seed; an unplanned look, and judged as one\n",
		    row.id, row.repeat, row.unit, row.repeat == 1 ? "" : "s", opt->add,
		    (size_t)opt->add * config->n_variants * config->n_cases * (size_t)config->runs);
	cli_print(&sb);
	return EXIT_DONE;
}

int plan_show(struct cli *c, struct campaign_config *config, const struct run_options *opt)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool boots = !strcmp(backend_find(config->backend)->unit, "boot");
	bool drawn = !config->seed && !config->counting;
	const char *split;
	size_t i, visits;
	int r = read_split(c, config, &split);

	if (r)
		return r;
	if (opt->add)
		return show_added(c, config, opt);
	if (opt->until_sure)
		config->repeat = run_look_units(1);
	config->seed = run_seed(config);
	visits = (size_t)config->repeat * config->n_variants;
	strbuf_addf(&sb, "campaign %s, backend %s: %zu variants x %zu test cases x %d",
		    config->name, config->backend, config->n_variants, config->n_cases,
		    config->repeat);
	if (config->runs > 1)
		strbuf_addf(&sb, " x %d", config->runs);
	strbuf_addf(&sb, " = %zu runs", visits * config->n_cases * (size_t)config->runs);
	if (config->flip)
		strbuf_addf(&sb, ", pairs within %zu boot%s (flip)", flip_boots(config),
			    flip_boots(config) == 1 ? "" : "s");
	else if (boots)
		strbuf_addf(&sb, " in %zu boots",
			    config->counting ? visits * config->n_cases : visits);
	strbuf_addc(&sb, '\n');
	add_design(&sb, config, opt, split);
	strbuf_adds(&sb, "\nvariants, the first is the baseline:\n");
	for (i = 0; i < config->n_variants; i++)
		add_variant(c->a, &sb, config, &config->variants[i]);
	strbuf_addf(&sb, "\ntest cases, in the order of every %s%s:\n",
		    config->flip ? "round" : "visit",
		    config->runs > 1 ? arena_printf(c->a, ", %d times over", config->runs) : "");
	for (i = 0; i < config->n_cases; i++)
		add_case(c, &sb, &config->cases[i], i + 1);
	strbuf_addf(&sb, "\norder of %s, seed %llu%s:\n",
		    config->flip ? "runs" : "visits", (unsigned long long)config->seed,
		    drawn ? " (drawn now; --seed keeps it)" : "");
	add_order(c, &sb, config);
	add_time(&sb, config, opt);
	cli_print(&sb);
	return EXIT_DONE;
}
