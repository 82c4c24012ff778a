// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta show: everything stored of one thing. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/names.h"
#include "cli/page.h"
#include "core/num.h"
#include "parsers/monitor_log.h"

struct shower {
	struct cli *c;
	struct db *db;
	struct arena *a;
	struct err *e;
};

static const char *when(struct arena *a, int64_t t)
{
	return t ? num_iso_time(a, t) : NULL;
}

static int show_facts(const struct shower *s, struct page *p, const char *scope, const char *id)
{
	static const char *const columns[] = {"fact", "value", NULL};
	struct page_table *t = page_table(p, "facts", columns);
	struct db_fact *facts;
	size_t i, n;
	int r = db_get_facts(s->db, s->a, scope, id, &facts, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		page_cell(t, facts[i].key);
		page_cell(t, facts[i].value);
	}
	return r;
}

/* Rows of the view `summary`, of one campaign or of one metric in all campaigns. */
static int show_values(const struct shower *s, struct page *p, const char *campaign,
		       const char *metric)
{
	static const char *const columns[] = {"campaign", "variant", "test_case", "metric",
					      "unit",	  "#n",	     "#hmean",	  "#amean",
					      "#stddev",  "#cv",     "verdict",	  NULL};
	struct page_table *t = page_table(p, "values", columns + (campaign != NULL));
	struct db_view *v;
	size_t i, n;
	int r = db_get_view(s->db, s->a, campaign, metric, &v, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		if (!campaign)
			page_cell(t, v[i].campaign);
		page_cell(t, v[i].variant);
		page_cell(t, v[i].test_case);
		page_cell(t, v[i].metric);
		page_cell(t, v[i].unit);
		page_cell_number(t, v[i].n ? v[i].n : NAN);
		page_cell_number(t, v[i].hmean);
		page_cell_number(t, v[i].amean);
		page_cell_number(t, v[i].stddev);
		page_cell_number(t, v[i].cv);
		page_cell(t, v[i].verdict);
	}
	return r;
}

static void campaign_fields(const struct shower *s, struct page *p, const struct db_campaign *camp)
{
	page_text(p, "campaign", camp->id);
	page_text(p, "name", camp->name);
	page_text(p, "kind", camp->kind);
	page_text(p, "created", when(s->a, camp->created));
	page_text(p, "ended", when(s->a, camp->ended));
	page_text(p, "unit", camp->unit);
	page_text(p, "backend", camp->backend);
	page_text(p, "accelerator", camp->accelerator);
	page_number(p, "repeat", camp->repeat ? camp->repeat : NAN);
	/* as text: 64 bits are more than a JSON reader's number keeps */
	page_text(p, "seed",
		  camp->seed ? arena_printf(s->a, "%" PRIu64, (uint64_t)camp->seed) : NULL);
	page_text(p, "source", camp->source);
	page_text(p, "config_path", camp->config_path);
	page_text(p, "tool_version", camp->tool_version);
	page_block(p, "config", camp->config);
}

/* Why an adaptive campaign ended, where people look first. */
static int campaign_stop(const struct shower *s, struct page *p, const char *id)
{
	struct db_fact *facts;
	size_t i, n;
	int r = db_get_facts(s->db, s->a, "campaign", id, &facts, &n, s->e);

	for (i = 0; !r && i < n; i++)
		if (!strcmp(facts[i].key, "stop"))
			page_text(p, "stop", facts[i].value);
	return r;
}

static int campaign_machine(const struct shower *s, struct page *p, int64_t id)
{
	struct db_machine m = {.name = NULL};
	int r = id ? db_get_machine(s->db, s->a, id, &m, s->e) : 0;

	page_text(p, "machine", m.name);
	page_text(p, "machine_description", m.description);
	return r;
}

static void campaign_names(struct page *p, const struct names *names)
{
	static const char *const variants[] = {"variant",  "?baseline",	  "kernel", "build_id",
					       "settings", "description", NULL};
	static const char *const cases[] = {"test_case", "command", "description", NULL};
	struct page_table *t = page_table(p, "variants", variants);
	size_t i;

	for (i = 0; i < names->n_variants; i++) {
		const struct db_variant *v = &names->variants[i];

		page_cell(t, v->name);
		page_cell_flag(t, v->baseline);
		page_cell(t, v->kernel.release);
		page_cell(t, v->kernel.build_id);
		page_cell(t, v->settings);
		page_cell(t, v->description);
	}
	t = page_table(p, "test_cases", cases);
	for (i = 0; i < names->n_cases; i++) {
		page_cell(t, names->cases[i].name);
		page_cell(t, names->cases[i].command);
		page_cell(t, names->cases[i].description);
	}
}

static int campaign_boots(const struct shower *s, struct page *p, const char *campaign,
			  const struct names *names)
{
	static const char *const columns[] = {"#boot",	 "#block",  "variant",
					      "outcome", "release", "#seconds",
					      "started", "reason",  NULL};
	struct page_table *t = page_table(p, "boots", columns);
	struct db_boot *boots;
	size_t i, n;
	int r = db_get_boots(s->db, s->a, campaign, &boots, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		page_cell_number(t, (double)boots[i].id);
		page_cell_number(t, boots[i].block);
		page_cell(t, names_variant(names, boots[i].variant_id)->name);
		page_cell(t, boots[i].outcome);
		page_cell(t, boots[i].release);
		page_cell_number(t, boots[i].seconds);
		page_cell(t, when(s->a, boots[i].started));
		page_cell(t, boots[i].reason);
	}
	return r;
}

static int campaign_owed(const struct shower *s, struct page *p, const char *campaign,
			 const struct names *names)
{
	static const char *const columns[] = {"#cell", "#block",    "variant", "test_case",
					      "state", "#attempts", "reason",  NULL};
	struct page_table *t = page_table(p, "cells_not_done", columns);
	struct db_cell *cells;
	size_t i, n;
	int r = db_get_cells(s->db, s->a, campaign, &cells, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		if (!strcmp(cells[i].state, "done"))
			continue;
		page_cell_number(t, cells[i].seq);
		page_cell_number(t, cells[i].block);
		page_cell(t, names_variant(names, cells[i].variant_id)->name);
		page_cell(t, names_case(names, cells[i].case_id)->name);
		page_cell(t, cells[i].state);
		page_cell_number(t, cells[i].attempts);
		page_cell(t, cells[i].reason);
	}
	return r;
}

static int show_campaign(const struct shower *s, const struct db_campaign *camp)
{
	struct page *p = page_new(s->a, "kdelta.show.campaign/1");
	struct names names;
	int r = names_load(s->db, s->a, camp->id, &names, s->e);

	if (r)
		return r;
	campaign_fields(s, p, camp);
	r = campaign_stop(s, p, camp->id);
	campaign_names(p, &names);
	if (!r)
		r = campaign_machine(s, p, camp->machine_id);
	if (!r)
		r = campaign_owed(s, p, camp->id, &names);
	if (!r)
		r = campaign_boots(s, p, camp->id, &names);
	if (!r)
		r = show_values(s, p, camp->id, NULL);
	if (!r)
		r = show_facts(s, p, "campaign", camp->id);
	return r ? r : page_print(s->c, p);
}

static void run_fields(const struct shower *s, struct page *p, const struct db_run *run,
		       const struct names *names)
{
	page_number(p, "run", (double)run->id);
	page_text(p, "campaign", run->campaign);
	page_text(p, "variant", names_variant(names, run->variant_id)->name);
	page_text(p, "test_case", names_case(names, run->case_id)->name);
	page_number(p, "block", run->block);
	page_number(p, "attempt", run->attempt);
	page_number(p, "boot", run->boot_id ? (double)run->boot_id : NAN);
	page_text(p, "started", when(s->a, run->started));
	page_text(p, "outcome", run->outcome);
	page_text(p, "error", run->error);
	page_text(p, "message", run->message);
	page_text(p, "command", run->command);
	page_text(p, "parser", run->parser);
	page_number(p, "exit_status", run->exit_status >= 0 ? run->exit_status : NAN);
	page_number(p, "signal", run->signal ? run->signal : NAN);
	page_number(p, "elapsed", run->elapsed);
	page_number(p, "user_time", run->user_time);
	page_number(p, "sys_time", run->sys_time);
	page_number(p, "max_rss", run->max_rss >= 0 ? (double)run->max_rss : NAN);
	page_number(p, "voluntary", run->voluntary >= 0 ? (double)run->voluntary : NAN);
	page_number(p, "involuntary", run->involuntary >= 0 ? (double)run->involuntary : NAN);
	page_number(p, "leftovers", run->leftovers);
}

static int run_samples(const struct shower *s, struct page *p, int64_t run)
{
	static const char *const columns[] = {"metric", "#value", "unit", "role", NULL};
	struct page_table *t = page_table(p, "samples", columns);
	struct db_value *v;
	size_t i, n;
	int r = db_get_samples(s->db, s->a, run, &v, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		page_cell(t, v[i].metric);
		page_cell_number(t, v[i].value);
		page_cell(t, v[i].unit);
		page_cell(t, v[i].role);
	}
	return r;
}

static int run_series(const struct shower *s, struct page *p, int64_t run)
{
	static const char *const columns[] = {"metric", "#t", "#value", "unit", NULL};
	struct page_table *t = page_table(p, "series", columns);
	struct db_value *v;
	size_t i, n;
	int r = db_get_series(s->db, s->a, run, &v, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		page_cell(t, v[i].metric);
		page_cell_number(t, v[i].t);
		page_cell_number(t, v[i].value);
		page_cell(t, v[i].unit);
	}
	return r;
}

static int run_raws(const struct shower *s, struct page *p, int64_t run)
{
	static const char *const columns[] = {"stream", "name", "#size", "sha256", "?pruned", NULL};
	struct page_table *t = page_table(p, "raw", columns);
	struct db_raw *raws;
	size_t i, n;
	int r = db_get_raws(s->db, s->a, run, &raws, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		page_cell(t, raws[i].stream);
		page_cell(t, raws[i].name);
		page_cell_number(t, (double)raws[i].size);
		page_cell(t, raws[i].sha256);
		page_cell_flag(t, raws[i].pruned);
	}
	return r;
}

/* What the monitors could not read, or the machine does not count. */
static int run_gaps(const struct shower *s, struct page *p, int64_t run)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	struct parse_run read = {.message = NULL};
	struct db_raw *raws;
	size_t i, n;
	int r = db_get_raws(s->db, s->a, run, &raws, &n, s->e);

	for (i = 0; !r && i < n; i++)
		if (!strcmp(raws[i].stream, "monitors") && !raws[i].pruned)
			r = db_read_raw(s->db, raws[i].id, &log, s->e);
	if (!r && log.len)
		monitor_log_parse(s->a, (struct span){log.buf, log.len}, &read);
	page_text(p, "not_watched", read.message);
	return r;
}

static int show_run(const struct shower *s, const struct db_run *run)
{
	struct page *p = page_new(s->a, "kdelta.show.run/1");
	struct names names;
	int r = names_load(s->db, s->a, run->campaign, &names, s->e);

	if (r)
		return r;
	run_fields(s, p, run, &names);
	r = run_gaps(s, p, run->id);
	if (!r)
		r = run_samples(s, p, run->id);
	if (!r)
		r = run_raws(s, p, run->id);
	if (!r)
		r = run_series(s, p, run->id);
	if (!r)
		r = show_facts(s, p, "run", arena_printf(s->a, "%" PRId64, run->id));
	return r ? r : page_print(s->c, p);
}

static int show_boot(const struct shower *s, const struct db_boot *b)
{
	struct page *p = page_new(s->a, "kdelta.show.boot/1");
	struct names names;
	int r = names_load(s->db, s->a, b->campaign, &names, s->e);

	if (r)
		return r;
	page_number(p, "boot", (double)b->id);
	page_text(p, "campaign", b->campaign);
	page_text(p, "variant", names_variant(&names, b->variant_id)->name);
	page_number(p, "block", b->block);
	page_text(p, "started", when(s->a, b->started));
	page_number(p, "seconds", b->seconds);
	page_text(p, "outcome", b->outcome);
	page_text(p, "reason", b->reason);
	page_text(p, "release", b->release);
	page_text(p, "build_id", b->build_id);
	page_text(p, "boot_id", b->boot_id);
	page_text(p, "clocksource", b->clocksource);
	page_text(p, "console", b->console_id ? "stored: --console prints it" : NULL);
	r = show_facts(s, p, "boot", arena_printf(s->a, "%" PRId64, b->id));
	return r ? r : page_print(s->c, p);
}

static int show_variant(const struct shower *s, const struct db_variant *list, size_t n,
			const char *name)
{
	static const char *const columns[] = {"campaign", "?baseline",	 "identity", "kernel",
					      "version",  "build_id",	 "commit",   "source",
					      "settings", "description", NULL};
	struct page *p = page_new(s->a, "kdelta.show.variant/1");
	struct page_table *t;
	size_t i;

	page_text(p, "variant", name);
	t = page_table(p, "campaigns", columns);
	for (i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) && strcmp(list[i].identity, name))
			continue;
		page_cell(t, list[i].campaign);
		page_cell_flag(t, list[i].baseline);
		page_cell(t, list[i].identity);
		page_cell(t, list[i].kernel.release);
		page_cell(t, list[i].kernel.version);
		page_cell(t, list[i].kernel.build_id);
		page_cell(t, list[i].kernel.commit);
		page_cell(t, list[i].kernel.source);
		page_cell(t, list[i].settings);
		page_cell(t, list[i].description);
	}
	return page_print(s->c, p);
}

static int show_metric(const struct shower *s, const struct db_metric *m)
{
	struct page *p = page_new(s->a, "kdelta.show.metric/1");
	int r;

	page_text(p, "metric", m->name);
	page_text(p, "unit", m->unit);
	page_text(p, "direction", direction_name(m->direction));
	page_text(p, "mean", mean_kind_name(m->mean_kind));
	page_text(p, "role", m->role);
	page_text(p, "description", m->description);
	r = show_values(s, p, NULL, m->name);
	return r ? r : page_print(s->c, p);
}

/* The bytes as they were, nothing added. */
static int print_raw(const struct shower *s, int64_t id)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = db_read_raw(s->db, id, &text, s->e);

	if (r)
		return r;
	cli_print(&text);
	return EXIT_DONE;
}

static int print_stream(const struct shower *s, int64_t run, const char *stream)
{
	_cleanup_strbuf_ struct strbuf found = STRBUF_INIT;
	struct db_raw *raws;
	size_t i, n;
	int r = db_get_raws(s->db, s->a, run, &raws, &n, s->e);

	if (r)
		return r;
	for (i = 0; i < n; i++) {
		if (!strcmp(raws[i].stream, stream))
			return print_raw(s, raws[i].id);
		strbuf_addf(&found, "%s%s", i ? ", " : "", raws[i].stream);
	}
	err_add(s->e, 0, "run %" PRId64 " has no raw output '%s'", run, stream);
	err_hint(s->e, n ? "it has: %s" : "it has none%s", strbuf_str(&found));
	return -ENOENT;
}

static int print_console(const struct shower *s, const struct db_boot *b)
{
	if (!b->console_id)
		return err_add(s->e, -ENOENT, "boot %" PRId64 " has no console log", b->id);
	return print_raw(s, b->console_id);
}

/* A number as lists print it: "07" begins the name of a campaign. */
static bool is_run(const char *what, int64_t *id)
{
	return *what != '0' && num_parse_int(span_of(what), id);
}

/* 1: not a number, so something else is meant */
static int try_run(const struct shower *s, const char *what)
{
	const char *stream = cli_value(s->c, "raw");
	struct db_boot boot;
	struct db_run run;
	int64_t id;
	int r;

	if (!is_run(what, &id))
		return 1;
	r = db_get_run(s->db, s->a, id, &run, s->e);
	if (r)
		return r;
	if (stream)
		return print_stream(s, id, stream);
	if (!cli_has(s->c, "console"))
		return show_run(s, &run);
	if (!run.boot_id)
		return err_add(s->e, -ENOENT, "run %" PRId64 " belongs to no boot", id);
	r = db_get_boot(s->db, s->a, run.boot_id, &boot, s->e);
	return r ? r : print_console(s, &boot);
}

/* "boot/7" */
static int try_boot(const struct shower *s, const char *what)
{
	struct db_boot boot;
	int64_t id;
	int r;

	if (!str_starts(what, "boot/") || !num_parse_int(span_of(what + strlen("boot/")), &id))
		return 1;
	r = db_get_boot(s->db, s->a, id, &boot, s->e);
	if (r)
		return r;
	return cli_has(s->c, "console") ? print_console(s, &boot) : show_boot(s, &boot);
}

/* A name may be of any kind: campaigns go first, whole names before the prefix of an id. */
static int try_names(const struct shower *s, const char *what)
{
	struct db_campaign *campaigns;
	struct db_variant *variants;
	struct db_metric *metrics;
	size_t i, n, n_variants, n_metrics;
	int r;

	if (cli_has(s->c, "raw")) /* of a campaign */
		return 1;
	r = db_get_campaigns(s->db, s->a, &campaigns, &n, s->e);
	for (i = 0; !r && i < n; i++)
		if (!strcmp(campaigns[i].id, what) || !strcmp(campaigns[i].name, what))
			return 1;
	if (!r)
		r = db_get_metrics(s->db, s->a, &metrics, &n_metrics, s->e);
	for (i = 0; !r && i < n_metrics; i++)
		if (!strcmp(metrics[i].name, what))
			return show_metric(s, &metrics[i]);
	if (!r)
		r = db_get_variants(s->db, s->a, NULL, &variants, &n_variants, s->e);
	for (i = 0; !r && i < n_variants; i++)
		if (!strcmp(variants[i].name, what) || !strcmp(variants[i].identity, what))
			return show_variant(s, variants, n_variants, what);
	return r ? r : 1;
}

/* The text that a campaign was imported from. */
static int print_source(const struct shower *s, const char *campaign)
{
	struct db_fact *facts;
	size_t i, n;
	int64_t id;
	int r = db_get_facts(s->db, s->a, "campaign", campaign, &facts, &n, s->e);

	for (i = 0; !r && i < n; i++) {
		if (strcmp(facts[i].key, "source_sha256"))
			continue;
		r = db_find_raw(s->db, facts[i].value, &id, s->e);
		return r ? r : print_raw(s, id);
	}
	return r ? r : err_add(s->e, -ENOENT, "%s was not imported from a text", campaign);
}

static int try_campaign(const struct shower *s, const char *what)
{
	struct db_campaign camp;
	int r = db_find_campaign(s->db, s->a, what, &camp, s->e);

	if (r == -ENOENT && *what)
		err_hint(s->e, "nor is it a run, boot/ID, variant or metric; see `kdelta list`");
	if (r)
		return r;
	return cli_has(s->c, "raw") ? print_source(s, camp.id) : show_campaign(s, &camp);
}

/* Which things have raw outputs (of which streams) and console logs. */
static int check_options(struct cli *c, const char *what)
{
	const char *stream = cli_value(c, "raw");
	bool boot = str_starts(what, "boot/");
	int64_t id;

	if (is_run(what, &id))
		return 0;
	if (cli_has(c, "console") && !boot)
		return cli_usage(c, "--console needs the number of a run, or boot/ID");
	if (stream && (boot || strcmp(stream, "source")))
		return cli_usage(
			c, "--raw needs the number of a run; a campaign has only --raw source");
	return 0;
}

static int run_show(struct cli *c)
{
	static int (*const tries[])(const struct shower *,
				    const char *) = {try_run, try_boot, try_names, try_campaign};
	_cleanup_db_ struct db *db = NULL;
	struct shower s = {.c = c, .a = c->a, .e = c->e};
	size_t i;
	int r;

	if (c->n_operands != 1)
		return cli_usage(c, "show takes one campaign, run, boot/ID, variant or metric");
	r = check_options(c, c->operands[0]);
	if (r)
		return r;
	r = cli_open_db(c, DB_READ, &db);
	if (r)
		return r;
	s.db = db;
	for (i = 0, r = 1; i < ARRAY_SIZE(tries) && r == 1; i++)
		r = tries[i](&s, c->operands[0]);
	return r;
}

static const struct cli_option options[] = {
	{"raw", 0, "STREAM", "the stored output itself, byte by byte: stdout, stderr, source"},
	{"console", 0, NULL, "the console log of the boot"},
	CLI_OPTIONS_END,
};

static const struct command show = {
	.name = "show",
	.usage = "CAMPAIGN|RUN|boot/ID|VARIANT|METRIC",
	.group = "keep",
	.summary = "everything stored of one campaign, run, boot, variant or metric",
	.help = "Runs are numbered as `kdelta list runs` shows them, boots as `kdelta show "
		"CAMPAIGN`\n"
		"does.",
	.examples = "kdelta show quickstart\n"
		    "kdelta show 12 --raw stdout\n"
		    "kdelta show boot/3 --console\n"
		    "kdelta show tbench.throughput --json",
	.options = options,
	.run = run_show,
};
REGISTER(command, show);
