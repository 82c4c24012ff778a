// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta db: care of the database. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/page.h"
#include "runner/store.h"

static int db_cmd_path(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "%s\n", db_path(c->a, c->db));
	cli_print(&out);
	return EXIT_DONE;
}

static int print_findings(struct cli *c, const char *const *findings, size_t n)
{
	static const char *const columns[] = {"finding", NULL};
	struct page *p = page_new(c->a, "kdelta.db.check/1");
	struct page_table *t = page_table(p, "findings", columns);
	size_t i;

	for (i = 0; i < n; i++)
		page_cell(t, findings[i]);
	page_print(c, p);
	return n ? EXIT_FAILED : EXIT_DONE;
}

static int db_cmd_check(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char **findings;
	size_t i, n;
	int r = cli_open_db(c, DB_READ, &db);

	if (!r)
		r = db_check(db, c->a, &findings, &n, c->e);
	if (r)
		return r;
	if (c->json)
		return print_findings(c, findings, n);
	for (i = 0; i < n; i++)
		strbuf_addf(&out, "%s\n", findings[i]);
	cli_print(&out);
	if (!n)
		cli_note(c, "%s is clean", db_path(c->a, c->db));
	return n ? EXIT_FAILED : EXIT_DONE;
}

static int db_cmd_backup(struct cli *c)
{
	_cleanup_db_ struct db *db = NULL;
	int r = cli_open_db(c, DB_READ, &db);

	if (!r)
		r = db_backup(db, c->operands[1], c->e);
	return r ? r : EXIT_DONE;
}

/* What a parser made of a run. */
struct reading {
	const char *outcome, *error;
	struct db_value *values;
	size_t n;
};

static int read_back(struct cli *c, struct db *db, const struct db_run *run, struct reading *out)
{
	out->outcome = run->outcome;
	out->error = run->error;
	return db_get_samples(db, c->a, run->id, &out->values, &out->n, c->e);
}

static const struct db_value *find_value(const struct reading *r, const char *metric)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (!strcmp(r->values[i].metric, metric))
			return &r->values[i];
	return NULL;
}

/* "run 12: tbench.throughput 337.5 -> 337.527 MB/s", one line per difference */
static bool say_changes(const struct db_run *run, const struct reading *old,
			const struct reading *new, struct strbuf *out)
{
	size_t i, start = out->len;

	if (strcmp(old->outcome, new->outcome) || !str_equal(old->error, new->error))
		strbuf_addf(out, "run %" PRId64 ": %s%s%s -> %s%s%s\n", run->id, old->outcome,
			    old->error ? " " : "", old->error ? old->error : "", new->outcome,
			    new->error ? " " : "", new->error ? new->error : "");
	for (i = 0; i < old->n; i++)
		if (!find_value(new, old->values[i].metric))
			strbuf_addf(out, "run %" PRId64 ": %s %.9g -> none\n", run->id,
				    old->values[i].metric, old->values[i].value);
	for (i = 0; i < new->n; i++) {
		const struct db_value *v = &new->values[i];
		const struct db_value *was = find_value(old, v->metric);

		if (!was)
			strbuf_addf(out, "run %" PRId64 ": %s none -> %.9g %s\n", run->id,
				    v->metric, v->value, v->unit);
		else if (was->value != v->value)
			strbuf_addf(out, "run %" PRId64 ": %s %.9g -> %.9g %s\n", run->id,
				    v->metric, was->value, v->value, v->unit);
	}
	return out->len > start;
}

struct reparsed {
	struct strbuf text; /* what changed */
	size_t runs, changed, pruned;
};

/*
 * Values that a mailed table listed were imported without an output of their own, others have lost
 * it.
 */
static int has_output(struct cli *c, struct db *db, const struct db_campaign *campaign, int64_t run,
		      struct reparsed *done, bool *yes)
{
	struct db_raw *raws;
	size_t n;
	int r = db_get_raws(db, c->a, run, &raws, &n, c->e);
	bool pruned = false;

	for (size_t i = 0; !r && i < n; i++)
		pruned |= raws[i].pruned;
	done->pruned += pruned;
	*yes = !r && !pruned && (n || strcmp(campaign->kind, "import"));
	return r;
}

static int reparse_run(struct cli *c, struct db *db, const struct catalog *cat, struct db_run *run,
		       struct reparsed *done)
{
	struct reading old, new;
	int r = read_back(c, db, run, &old);

	if (!r)
		r = store_reparse(db, c->a, cat, run, c->e);
	if (!r)
		r = read_back(c, db, run, &new);
	done->runs++;
	if (!r)
		done->changed += say_changes(run, &old, &new, &done->text);
	return r;
}

static int reparse_campaign(struct cli *c, struct db *db, const struct catalog *cat,
			    const struct db_campaign *campaign, struct reparsed *done)
{
	size_t i, n, before = done->changed, pruned = done->pruned;
	struct db_run *list;
	bool has = false;
	int r = db_get_runs(db, c->a, campaign->id, &list, &n, c->e);

	for (i = 0; !r && i < n; i++) {
		r = has_output(c, db, campaign, list[i].id, done, &has);
		if (!r && has)
			r = reparse_run(c, db, cat, &list[i], done);
	}
	if (!r && done->pruned > pruned)
		cli_note(c, "%s: %zu runs keep their values: their raw outputs were pruned",
			 campaign->id, done->pruned - pruned);
	if (!r)
		r = db_settle_cells(db, campaign->id, c->e);
	/* verdicts were computed from the old samples */
	if (!r && done->changed > before)
		r = db_clear_verdicts(db, campaign->id, c->e);
	return r;
}

/* One campaign or all, in one transaction: an error leaves everything as it was. */
static int reparse_all(struct cli *c, struct db *db, const struct catalog *cat,
		       struct reparsed *done)
{
	struct db_campaign one, *list = &one;
	size_t i, n = 1;
	int r = c->n_operands > 1 ? db_find_campaign(db, c->a, c->operands[1], &one, c->e)
				  : db_get_campaigns(db, c->a, &list, &n, c->e);

	if (!r)
		r = db_begin(db, c->e);
	if (r)
		return r;
	for (i = 0; !r && i < n; i++)
		r = reparse_campaign(c, db, cat, &list[i], done);
	if (!r && !c->dry_run)
		return db_commit(db, c->e);
	db_rollback(db);
	return r;
}

static int db_cmd_reparse(struct cli *c)
{
	_cleanup_db_ struct db *db = NULL;
	struct reparsed done = {.text = STRBUF_INIT};
	struct catalog *cat;
	int r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);

	if (!r)
		r = cli_open_db(c, DB_WRITE, &db);
	if (!r)
		r = reparse_all(c, db, cat, &done);
	if (!r) {
		cli_print(&done.text);
		cli_note(c, "%zu runs read again, %zu %s", done.runs, done.changed,
			 c->dry_run ? "would change" : "changed");
	}
	strbuf_release(&done.text);
	return r ? r : EXIT_DONE;
}

static int prune(struct cli *c, struct db *db, double older)
{
	struct db_pruned done;
	struct db_size size;
	int r = db_prune(db, (int64_t)time(NULL) - (int64_t)older, "", c->dry_run, &done, c->e);

	if (!r && cli_has(c, "vacuum") && !c->dry_run)
		r = db_vacuum(db, c->e);
	if (!r)
		r = db_get_size(db, &size, c->e);
	if (r)
		return r;
	cli_note(c, "%" PRId64 " raw outputs (%.1f MB) %s; of the database's %.1f MB %.1f MB are free",
		 done.texts, (double)done.bytes / 1e6, c->dry_run ? "would go" : "are gone",
		 (double)size.bytes / 1e6, (double)size.free / 1e6);
	return EXIT_DONE;
}

static int db_cmd_prune(struct cli *c)
{
	_cleanup_db_ struct db *db = NULL;
	double older = 90 * 86400.0;
	int r = cli_seconds(c, "raw-older", &older);

	if (!r)
		r = cli_open_db(c, DB_WRITE, &db);
	return r ? r : prune(c, db, older);
}

static const struct {
	const char *name;
	size_t least, most; /* operands besides the name */
	int (*run)(struct cli *c);
} actions[] = {
	{"backup", 1, 1, db_cmd_backup},
	{"check", 0, 0, db_cmd_check},
	{"path", 0, 0, db_cmd_path},
	{"prune", 0, 0, db_cmd_prune},
	{"reparse", 0, 1, db_cmd_reparse},
};

static int run_db(struct cli *c)
{
	size_t i;

	for (i = 0; c->n_operands && i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->operands[0]))
			continue;
		if (c->n_operands - 1 < actions[i].least || c->n_operands - 1 > actions[i].most)
			return cli_usage(c, "db %s: wrong number of operands", actions[i].name);
		return actions[i].run(c);
	}
	return cli_usage(c, "db takes one of backup FILE, check, path, prune, reparse [CAMPAIGN]");
}

static const struct cli_option options[] = {
	{"raw-older", 0, "TIME", "of prune: since the campaign ended (90d)"},
	{"vacuum", 0, NULL, "of prune: shrink the file as well"},
	CLI_OPTIONS_END,
};

static const struct command db_command = {
	.name = "db",
	.usage = "check | reparse [CAMPAIGN] | prune | path | backup FILE",
	.group = "keep",
	.summary = "check, re-read, shrink, locate or copy the database",
	.help = "check    integrity, references, hashes of raw outputs, plan against runs; exit 1 "
		"and\n"
		"         one line per finding if anything is wrong\n"
		"reparse  read the stored raw outputs again with today's parsers and say what "
		"changed\n"
		"prune    raw outputs and consoles of campaigns that ended long ago go; values, sizes\n"
		"         and hashes stay. -n says how many. The space is filled anew before the file\n"
		"         grows; --vacuum gives it back at once, which writes the whole file and needs\n"
		"         its size on the disk meanwhile\n"
		"path     the database that would be used\n"
		"backup   a whole copy, also while others write\n"
		"\n"
		"The view `summary` is stable, for reading with sqlite3: campaign, variant, "
		"test_case,\n"
		"metric, unit, direction, n, hmean, amean, stddev (n - 1), cv (a fraction), "
		"verdict\n"
		"against the campaign's baseline. NULL: not known, or not computable",
	.examples = "kdelta db check\n"
		    "kdelta db backup /backup/kdelta.db\n"
		    "kdelta db prune --raw-older 365d\n"
		    "sqlite3 $(kdelta db path) 'SELECT * FROM summary'",
	.options = options,
	.run = run_db,
};
REGISTER(command, db_command);
