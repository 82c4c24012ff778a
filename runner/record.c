// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/record.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "machine/facts.h"
#include "machine/host.h"
#include "machine/monitor.h"
#include "parsers/parser.h"
#include "runner/backend.h"
#include "runner/store.h"

enum { FIRST_DEADLINE = 3600 };

struct recording {
	struct db *db;
	struct arena *a;
	const struct catalog *cat;
	const struct record_options *opt;
	struct record_report *report;
	struct err *e;
	struct running_kernel kernel;
	struct test_case test;
	struct db_campaign row;
	int64_t variant, case_id, boot;
	int block; /* of the variant's last run */
	double deadline;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *command_text(struct arena *a, const char *const *argv)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (; *argv; argv++) {
		str_quote_shell(&sb, *argv);
		if (argv[1])
			strbuf_addc(&sb, ' ');
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/* A benchmark's name from a program's: no blanks and dots, which metric names are built with. */
static char *plain_name(struct arena *a, const char *program)
{
	char *name = arena_strdup(a, base_name(program)), *s;

	for (s = name; *s; s++)
		if (strchr("/. \t\n=", *s))
			*s = '-';
	return name;
}

/* By the program's name, else by the look of the output, else a command that is timed. */
static const struct bench_def *find_bench(struct recording *r, const struct proc_result *p)
{
	const struct bench_def *def = catalog_find(r->cat, base_name(r->opt->argv[0]));
	_cleanup_strbuf_ struct strbuf both = STRBUF_INIT;
	const struct parser *parser;

	if (def)
		return def;
	strbuf_add(&both, strbuf_str(&p->out), p->out.len);
	strbuf_add(&both, strbuf_str(&p->err), p->err.len);
	parser = parser_recognise((struct span){strbuf_str(&both), both.len});
	def = parser ? catalog_find(r->cat, parser->name) : NULL;
	return def ? def : catalog_clock(r->a, plain_name(r->a, r->opt->argv[0]));
}

static void make_case(struct recording *r, const struct bench_def *bench)
{
	struct param_value *params = arena_alloc(r->a, sizeof(*params));

	*params = (struct param_value){"command", command_text(r->a, r->opt->argv), false};
	r->test = (struct test_case){
		.bench = bench, .program = r->opt->argv[0], .params = params, .n_params = 1};
	case_finish(r->a, &r->test);
	r->report->benchmark = bench->name;
}

/* A server of the benchmark is started where none of the user's listens already. */
static void make_job(struct recording *r, struct job *job)
{
	const struct bench_def *known = catalog_find(r->cat, base_name(r->opt->argv[0]));

	*job = (struct job){.argv = r->opt->argv,
			    .deadline = r->deadline,
			    .monitors = monitor_standard(r->a)};
	if (known && known->server && !proc_port_open(known->port)) {
		job->server = known->server;
		job->port = known->port;
	}
}

/* The newest recording of this command on this machine; false: there is none. */
static int find_campaign(struct recording *r, int64_t machine, bool *found)
{
	struct db_campaign *list;
	struct db_case *cases;
	size_t n, i, k, n_cases;
	int ret = db_get_campaigns(r->db, r->a, &list, &n, r->e);

	*found = false;
	for (i = 0; !ret && i < n && !r->opt->fresh; i++) {
		if (strcmp(list[i].kind, "record") || list[i].machine_id != machine ||
		    strcmp(list[i].name, r->test.bench->name))
			continue;
		ret = db_get_cases(r->db, r->a, list[i].id, &cases, &n_cases, r->e);
		for (k = 0; !ret && k < n_cases; k++) {
			if (strcmp(cases[k].identity, r->test.identity))
				continue;
			r->row = list[i];
			r->case_id = cases[k].id;
			*found = true;
			return 0;
		}
	}
	return ret;
}

static int add_campaign(struct recording *r, int64_t machine)
{
	const struct db_case row = {
		.identity = r->test.identity,
		.benchmark = r->test.bench->name,
		.name = r->test.name,
		.params = case_params_json(r->a, &r->test),
		.swept = "[]",
		.description = r->test.bench->description,
		.command = r->test.params[0].value,
	};
	int ret;

	r->row = (struct db_campaign){
		.name = r->test.bench->name,
		.kind = "record",
		.unit = "run",
		.backend = "host",
		.accelerator = "",
		.config = "",
		.config_path = "",
		.source = "",
		.created = time(NULL),
		.machine_id = machine,
	};
	ret = db_add_campaign(r->db, r->a, &r->row, r->e);
	if (!ret)
		ret = db_put_case(r->db, &row, &r->case_id, r->e);
	return ret ? ret : db_add_campaign_case(r->db, r->row.id, r->case_id, 0, 0, r->e);
}

static char *hash16(struct arena *a, const char *text)
{
	char hex[65];

	data_sha256(text, strlen(text), hex);
	return arena_strndup(a, hex, 16);
}

static int add_variant(struct recording *r, const char *identity, size_t position)
{
	const struct db_kernel kernel = {
		.identity = hash16(r->a, arena_printf(r->a, "%s\n%s\n%s\n", r->kernel.build_id,
						      r->kernel.release, r->kernel.version)),
		.release = r->kernel.release,
		.version = r->kernel.version,
		.build_id = r->kernel.build_id,
		.image_sha256 = "",
		.source = "running",
		.commit = "",
	};
	const struct variant_config none = {.cmdline = r->kernel.cmdline};
	int64_t id;
	int ret = db_put_kernel(r->db, &kernel, &id, r->e);

	if (!ret)
		ret = db_put_variant(r->db, identity, id, variant_settings_json(r->a, &none, NULL),
				     &r->variant, r->e);
	return ret ? ret
		   : db_add_campaign_variant(r->db, r->row.id, r->variant, (int)position,
					     r->opt->name, "", position == 0, r->e);
}

/*
 * The variant of this name: known, with the same kernel, or new. What a user changed by hand is
 * not seen here, so a second name for the same kernel is a variant of its own, with a warning.
 */
static int put_variant(struct recording *r)
{
	const struct variant_config none = {.cmdline = r->kernel.cmdline};
	char *pure = variant_identity(r->a, &none,
				      arena_printf(r->a, "%s %s %s", r->kernel.build_id,
						   r->kernel.release, r->kernel.version));
	char *marked = hash16(r->a, arena_printf(r->a, "%s\n%s", pure, r->opt->name));
	const char *twin = NULL;
	struct db_variant *list;
	size_t n, i;
	int ret = db_get_variants(r->db, r->a, r->row.id, &list, &n, r->e);

	for (i = 0; !ret && i < n; i++) {
		bool same = !strcmp(list[i].identity, pure) || !strcmp(list[i].identity, marked);

		if (strcmp(list[i].name, r->opt->name)) {
			r->report->other = list[i].name;
			twin = !strcmp(list[i].identity, pure) ? list[i].name : twin;
			continue;
		}
		r->variant = list[i].id;
		if (same)
			continue;
		err_add(r->e, -EINVAL, "'%s' was recorded under the kernel %s (%s); this is %s",
			r->opt->name, list[i].kernel.release, list[i].kernel.version,
			r->kernel.release);
		err_hint(r->e, "record it under another name, or begin anew with --new");
		return -EINVAL;
	}
	if (ret || r->variant)
		return ret;
	if (twin)
		r->report->warning = arena_printf(
			r->a,
			"'%s' and '%s' run the same kernel: what differs is known to you only",
			twin, r->opt->name);
	return add_variant(r, twin ? marked : pure, n);
}

/* One row for each boot and variant; the blocks go on where the variant's last run stopped. */
static int put_boot(struct recording *r, int64_t machine)
{
	struct db_boot *boots;
	struct db_run *runs;
	size_t n, i;
	int ret = db_get_runs(r->db, r->a, r->row.id, &runs, &n, r->e);

	for (i = 0; !ret && i < n; i++)
		if (runs[i].variant_id == r->variant)
			r->block = MAX(r->block, runs[i].block);
	if (!ret)
		ret = db_get_boots(r->db, r->a, r->row.id, &boots, &n, r->e);
	for (i = 0; !ret && i < n; i++)
		if (boots[i].variant_id == r->variant &&
		    !strcmp(boots[i].boot_id, r->kernel.boot_id))
			r->boot = boots[i].id;
	if (!ret && !r->boot) {
		const struct db_boot boot = {
			.campaign = r->row.id,
			.variant_id = r->variant,
			.machine_id = machine,
			.block = r->block + 1,
			.boot_id = r->kernel.boot_id,
			.started = time(NULL),
			.outcome = "ok",
			.reason = "",
			.release = r->kernel.release,
			.build_id = r->kernel.build_id,
			.clocksource = r->kernel.clocksource,
		};

		ret = db_add_boot(r->db, &boot, &r->boot, r->e);
	}
	return ret;
}

static int put_facts(struct recording *r, const struct machine_fact *facts, size_t n)
{
	const char *boot = arena_printf(r->a, "%lld", (long long)r->boot);
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = db_set_fact(r->db, "boot", boot,
				  arena_printf(r->a, MACHINE_FACT_PREFIX "%s", facts[i].key),
				  facts[i].value, r->e);
	return ret;
}

static int put_rows(struct recording *r)
{
	struct db_machine machine;
	struct machine_fact *facts;
	size_t n;
	int64_t id;
	bool found;
	int ret;

	machine_read(r->a, &machine);
	ret = db_put_machine(r->db, &machine, &id, r->e);
	if (!ret)
		ret = find_campaign(r, id, &found);
	if (!ret && !found)
		ret = add_campaign(r, id);
	if (!ret)
		ret = put_variant(r);
	if (!ret)
		ret = put_boot(r, id);
	facts = machine_read_facts(r->a, "", ".", &n);
	if (!ret)
		ret = put_facts(r, facts, n);
	facts = program_facts(r->a, &r->test, 1, &n);
	return ret ? ret : put_facts(r, facts, n);
}

static int begin(struct recording *r)
{
	int ret = db_begin(r->db, r->e);

	if (!ret)
		ret = put_rows(r);
	if (ret) {
		db_rollback(r->db);
		return ret;
	}
	return db_commit(r->db, r->e);
}

static int store_one(struct recording *r, const struct job_result *result, int64_t started)
{
	struct db_run run = {
		.campaign = r->row.id,
		.variant_id = r->variant,
		.case_id = r->case_id,
		.boot_id = r->boot,
		.machine_id = r->row.machine_id,
		.started = started,
		.command = r->test.params[0].value,
		.block = ++r->block,
		.attempt = 1,
	};
	const struct run_output output = run_output_of(result);
	_cleanup_arena_ struct arena *scratch = arena_new();
	int ret;

	run_fill(scratch, result, &run);
	ret = store_run(r->db, scratch, r->cat, r->test.bench, &run, &output, NULL, 0, r->e);
	if (ret)
		return ret;
	r->report->runs++;
	if (!strcmp(run.outcome, "ok")) {
		r->report->good++;
	} else if (r->opt->progress) {
		const struct run_progress p = {
			.run = r->report->runs,
			.runs = r->opt->repeat,
			.test = r->test.name,
			.variant = r->opt->name,
			.failed = arena_printf(r->a, "%s: %s", run.error ? run.error : run.outcome,
					       run.message ? run.message : "no reason given"),
			.change = NAN,
		};

		r->opt->progress(r->opt->data, &p);
	}
	return 0;
}

static int record_one(struct recording *r, int i)
{
	const struct run_progress p = {
		.run = i + 1,
		.runs = r->opt->repeat,
		.test = r->test.name ? r->test.name : base_name(r->opt->argv[0]),
		.variant = r->opt->name,
		.change = NAN,
		.eta = i ? (r->opt->repeat - i) * r->test.expected : NAN,
	};
	struct job_result result = {0};
	int64_t started = time(NULL);
	struct job job;
	int ret;

	make_job(r, &job);
	if (r->opt->progress)
		r->opt->progress(r->opt->data, &p);
	ret = job_run(&job, &result, r->e);
	if (!ret && !result.proc.interrupted && !proc_interrupted()) {
		if (!i) {
			make_case(r, find_bench(r, &result.proc));
			r->test.expected = result.proc.elapsed;
			ret = begin(r);
			if (r->opt->deadline <= 0)
				r->deadline = 60 + 10 * result.proc.elapsed;
		}
		if (!ret)
			ret = store_one(r, &result, started);
	}
	job_result_release(&result);
	return ret;
}

/* Boots of the variant with the fewest. */
static int least_boots(struct recording *r, int *least, int *most_runs)
{
	struct db_variant *variants;
	struct db_boot *boots;
	struct db_run *runs;
	size_t n_variants, n_boots, n_runs, i, k;
	int ret = db_get_variants(r->db, r->a, r->row.id, &variants, &n_variants, r->e);

	if (!ret)
		ret = db_get_boots(r->db, r->a, r->row.id, &boots, &n_boots, r->e);
	if (!ret)
		ret = db_get_runs(r->db, r->a, r->row.id, &runs, &n_runs, r->e);
	if (ret)
		return ret;
	*least = (int)n_boots;
	*most_runs = 0;
	for (i = 0; i < n_variants; i++) {
		int n = 0, count = 0;

		for (k = 0; k < n_boots; k++)
			n += boots[k].variant_id == variants[i].id;
		for (k = 0; k < n_runs; k++)
			count += runs[k].variant_id == variants[i].id;
		*least = MIN(*least, n);
		*most_runs = MAX(*most_runs, count);
	}
	return 0;
}

static int finish(struct recording *r)
{
	int least, runs, ret = least_boots(r, &least, &runs);

	if (ret)
		return ret;
	r->row.unit = least >= 2 ? "boot" : "run";
	r->row.repeat = runs;
	r->row.ended = time(NULL);
	if (least < 2 && r->report->other && !r->report->warning)
		r->report->warning =
			"one boot of each kernel: how much boots of one kernel differ is "
			"unknown; record each in a second boot";
	if (r->report->warning)
		ret = db_set_fact(r->db, "campaign", r->row.id, "warning", r->report->warning,
				  r->e);
	return ret ? ret : db_set_campaign(r->db, &r->row, r->e);
}

int record_command(struct db *db, struct arena *a, const struct catalog *cat,
		   const struct record_options *opt, struct record_report *report, struct err *e)
{
	struct recording r = {.db = db,
			      .a = a,
			      .cat = cat,
			      .opt = opt,
			      .report = report,
			      .e = e,
			      .deadline = opt->deadline > 0 ? opt->deadline : FIRST_DEADLINE};
	int lock, i, ret = 0;

	if (!path_program(a, opt->argv[0]))
		return err_add(e, -ENOENT, "there is no program %s", opt->argv[0]);
	proc_init();
	lock = run_lock(a, opt->note, e);
	if (lock < 0)
		return lock;
	machine_read_kernel(a, &r.kernel);
	for (i = 0; !ret && i < opt->repeat && !proc_interrupted(); i++)
		ret = record_one(&r, i);
	report->campaign = r.row.id;
	if (!ret && r.row.id)
		ret = finish(&r);
	report->interrupted = proc_interrupted() != 0;
	close(lock);
	return ret;
}
