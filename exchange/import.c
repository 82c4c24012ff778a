// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mailed tables and raw outputs -> campaigns of kind `import`. Everything is made from what the
 * text says: a cell is a summary, or a sample where the text lists single runs; what is not stated
 * stays empty.
 */
#include "exchange/import.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "core/num.h"
#include "exchange/export.h"
#include "exchange/import_write.h"
#include "runner/input.h"
#include "runner/store.h"

/* ---- raw outputs ---- */

static bool has_param(const struct import_case *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->params[i].name, name))
			return true;
	return false;
}

/*
 * What is known of the test case beforehand (given, or NULL), and what the output says of its
 * parameters, under the names of the benchmark's description.
 */
static void raw_case(struct arena *a, const struct bench_def *def, const struct parse_run *run,
		     const struct import_case *given, struct import_case *c)
{
	const struct parse_param *p;
	size_t i;

	*c = given ? *given : (struct import_case){0};
	c->benchmark = def->name;
	c->command = "";
	c->description = def->description;
	for (i = 0; i < def->n_params; i++) {
		const struct bench_param *param = &def->params[i];
		const char *wanted = param->check ? param->check : param->name;

		array_for_each (p, &run->params) {
			double v;

			if (strcmp(p->name, wanted) || has_param(c, param->name))
				continue;
			if (param->check && param->check_factor > 1 &&
			    num_parse(span_of(p->text), &v))
				import_param(c, param->name,
					     arena_printf(a, "%g", v / param->check_factor));
			else
				import_param(c, param->name, p->text);
		}
	}
}

static void note_outcome(struct import *im, const char *file, enum outcome outcome,
			 const char *error, const char *message)
{
	if (outcome == OUTCOME_OK)
		return;
	im->report->refused += outcome != OUTCOME_SUSPECT;
	im->report->notes[im->report->n_notes++] =
		arena_printf(im->a, "%s: %s%s%s%s%s", file, outcome_name(outcome), error ? " " : "",
			     error ? error : "", message ? ": " : "", message ? message : "");
}

/* One of several runs in a text: its values are written from what was read. */
static int add_parsed_run(struct import *im, const struct bench_def *def,
			  const struct parse_run *parsed, struct db_run *run)
{
	const struct parse_value *v;
	struct db_metric m;
	int r;

	run->outcome = outcome_name(parsed->outcome);
	run->error = parsed->error;
	run->message = parsed->message;
	r = db_add_run(im->db, run, &run->id, im->e);
	if (parsed->outcome != OUTCOME_OK && parsed->outcome != OUTCOME_SUSPECT)
		return r;
	array_for_each (v, &parsed->values) {
		if (r || v->is_null)
			continue;
		catalog_metric(im->cat, def->name, v->metric, v->unit, &m);
		if (v->role == ROLE_DIAGNOSTIC)
			m.role = "diagnostic";
		r = db_put_metric(im->db, &m, &m.id, im->e);
		if (!r)
			r = db_add_sample(im->db, run->id, m.id, v->value, im->e);
	}
	return r;
}

int import_raw(struct import *im, const char *file, struct span text,
	       const struct import_content *content, int64_t variant,
	       const struct import_case *given)
{
	const struct parse_run *parsed;
	bool alone = content->raw->runs.n == 1;
	int r = 0;

	if (!alone)
		r = db_add_raw(im->db, 0, "source", file, text, NULL, im->e);
	array_for_each (parsed, &content->raw->runs) {
		struct db_run run = import_run(im, variant, content->def->name);
		struct import_case c;

		if (r)
			break;
		raw_case(im->a, content->def, parsed, given, &c);
		r = import_case(im, &c, &run.case_id);
		if (r)
			break;
		/* how many of this case and variant there are already */
		run.block = import_seen(im, run.case_id, -2, variant) + 1;
		im->report->runs++;
		if (alone)
			r = store_run(im->db, im->a, im->cat, content->def, &run,
				      &(struct run_output){.out = text, .parsed = content->raw},
				      given ? given->params : NULL, given ? given->n : 0, im->e);
		else
			r = add_parsed_run(im, content->def, parsed, &run);
		note_outcome(im, file, parsed->outcome, parsed->error, parsed->message);
	}
	return r;
}

/* ---- reading ---- */

enum { LOG_LEAST = 256 << 10, LOG_HEAD = 4096 }; /* bytes */

static int parse_as(struct arena *a, const struct catalog *cat, const char *name, struct span text,
		    struct import_content *content, struct err *e)
{
	struct parse_input in = {.text = text, .exit_status = -1};

	content->def = catalog_find(cat, name);
	if (!content->def)
		return err_add(e, -EINVAL, "unknown benchmark '%s'", name);
	return catalog_parse(a, content->def, &in, &content->raw, e);
}

/* A list of times with one name above it is more likely a log than a comparison. */
static bool is_comparison(const struct table_set *set)
{
	const struct table *t;

	array_for_each (t, &set->tables)
		if (t->n_variants > 1 || t->delta_only)
			return true;
	return false;
}

/*
 * The output of a benchmark that begins as such, and is far too long to have been mailed: looking for
 * tables of all families in it takes ten times as long as reading it.
 */
static const struct parser *parser_of_log(const struct catalog *cat, struct span text)
{
	const struct parser *p;

	if (text.len < LOG_LEAST)
		return NULL;
	p = parser_recognise((struct span){text.s, LOG_HEAD});
	return p && catalog_find(cat, p->name) ? p : NULL;
}

void import_content_release(struct import_content *content)
{
	json_decref(content->exported);
	content->exported = NULL;
}

int import_read(struct arena *a, const struct catalog *cat, const char *file, struct span text,
		const struct import_options *opt, struct import_content *content, struct err *e)
{
	const char *shown = strcmp(file, "-") ? file : "standard input";
	const struct parser *parser;
	int r;

	*content = (struct import_content){0};
	if (opt->as)
		return parse_as(a, cat, opt->as, text, content, e);
	if (export_recognise(text))
		return export_read(a, shown, text, &content->exported, e);
	parser = parser_of_log(cat, text);
	if (parser)
		return parse_as(a, cat, parser->name, text, content, e);
	r = tables_read(a, shown, text, &opt->tables, &content->set, e);
	if (!r && is_comparison(&content->set))
		return 0;
	parser = parser_recognise(text);
	if (!parser || !catalog_find(cat, parser->name))
		return r;
	err_release(e);
	return parse_as(a, cat, parser->name, text, content, e);
}

/* ---- the two entries ---- */

/* The campaign that holds a text of this hash already, or NULL in *id. */
static int find_known(struct db *db, struct arena *a, const char *sha256, const char **id,
		      struct err *e)
{
	struct db_campaign *list;
	struct db_fact *facts;
	size_t n, n_facts, i, k;
	int r = db_get_campaigns(db, a, &list, &n, e);

	*id = NULL;
	for (i = 0; !r && i < n && !*id; i++) {
		if (strcmp(list[i].kind, "import"))
			continue;
		r = db_get_facts(db, a, "campaign", list[i].id, &facts, &n_facts, e);
		for (k = 0; !r && k < n_facts; k++)
			if (!strcmp(facts[k].key, "source_sha256") &&
			    !strcmp(facts[k].value, sha256))
				*id = list[i].id;
	}
	return r;
}

int import_begin(struct import *im, const char *sha256)
{
	const char *known = NULL;
	int r = db_begin(im->db, im->e);

	if (r || im->opt->again || !sha256)
		return r;
	r = find_known(im->db, im->a, sha256, &known, im->e);
	if (r || known)
		db_rollback(im->db);
	im->report->campaign = known;
	im->report->known = known != NULL;
	return r;
}

int import_finish(struct import *im, int r)
{
	import_forget(im);
	if (!r)
		return db_commit(im->db, im->e);
	db_rollback(im->db);
	return r;
}

struct import import_start(struct db *db, struct arena *a, const struct catalog *cat,
			   const struct import_options *opt, struct import_report *report,
			   struct err *e)
{
	*report = (struct import_report){0};
	return (struct import){
		.db = db,
		.a = a,
		.cat = cat,
		.opt = opt,
		.report = report,
		.e = e,
		.now = time(NULL),
	};
}

/* A text that is understood into the database, in one transaction. */
static int import_content(struct import *im, const char *file, struct span text,
			  const struct import_content *content)
{
	char hex[65], *sha256 = NULL;
	int64_t variant;
	int r;

	if (!db_is_scratch(im->db))
		data_sha256(text.s, text.len, sha256 = hex);
	r = import_begin(im, sha256);
	if (r || im->report->known)
		return r;
	if (content->def) {
		struct import_variant_words w = import_words(
			im->opt->variant ? im->opt->variant : import_name(im->a, file));

		w.baseline = true;
		im->report->benchmark = content->def->name;
		im->report->notes =
			arena_alloc_array(im->a, content->raw->runs.n, sizeof(*im->report->notes));
		r = import_campaign(im, file, sha256, (int)content->raw->runs.n);
		if (!r)
			r = import_variant(im, &w, &variant);
		if (!r)
			r = import_raw(im, file, text, content, variant, NULL);
	} else if (content->exported) {
		im->report->exported = true;
		r = db_add_raw(im->db, 0, "source", file, text, NULL, im->e);
		if (!r)
			r = import_export(im, file, sha256, content->exported);
	} else {
		im->report->set = &content->set;
		im->report->refused = (int)content->set.refused.n;
		r = db_add_raw(im->db, 0, "source", file, text, NULL, im->e);
		if (!r)
			r = import_tables(im, file, sha256, &content->set);
	}
	return import_finish(im, r);
}

int import_text(struct db *db, struct arena *a, const struct catalog *cat, const char *file,
		struct span text, const struct import_options *opt, struct import_report *report,
		struct err *e)
{
	struct import im = import_start(db, a, cat, opt, report, e);
	struct import_content *content = arena_alloc(a, sizeof(*content));
	int r = import_read(a, cat, file, text, opt, content, e);

	if (!r)
		r = import_content(&im, file, text, content);
	import_content_release(content);
	return r;
}

/* Raw output; a table or report of our own is refused. */
static int read_raw_file(struct arena *a, const struct import *im, const char *path,
			 struct strbuf *text, struct import_content *content)
{
	int r = input_read(path, text, im->e);

	if (!r)
		r = import_read(a, im->cat, path, (struct span){strbuf_str(text), text->len},
				im->opt, content, im->e);
	if (r || content->def)
		return r;
	err_add(im->e, -EINVAL, "a %s, where raw output is expected",
		content->exported ? "report of kdelta" : "table");
	err_at(im->e, path, 0, 0);
	err_hint(im->e, "import it by itself: kdelta import %s", path);
	return -EINVAL;
}

/* Room for n more notes. */
static void notes_room(struct import *im, size_t n)
{
	struct import_report *report = im->report;
	const char **more;

	if (report->n_notes + n <= im->notes_room)
		return;
	im->notes_room = 2 * (report->n_notes + n);
	more = arena_alloc_array(im->a, im->notes_room, sizeof(*more));
	if (report->n_notes)
		memcpy(more, report->notes, report->n_notes * sizeof(*more));
	report->notes = more;
}

/*
 * One file of a group: read, understood, written and let go, so that memory is that of one log and
 * not of all. Its hash and the name of its variant are added to hashes, unless nothing is kept.
 */
static int add_file(struct import *im, const char *path, const char *name, int64_t variant,
		    struct strbuf *hashes)
{
	_cleanup_arena_ struct arena *scratch = arena_new();
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_content_ struct import_content content = {0};
	char hex[65];
	int r = read_raw_file(scratch, im, path, &text, &content);

	if (r)
		return r;
	if (!db_is_scratch(im->db)) {
		data_sha256(strbuf_str(&text), text.len, hex);
		strbuf_addf(hashes, "%s %s\n", hex, name);
	}
	notes_room(im, content.raw->runs.n);
	im->report->benchmark = content.def->name;
	return import_raw(im, path, (struct span){strbuf_str(&text), text.len}, &content, variant,
			  NULL);
}

/* "15 files of old, 15 files of new": the first path alone would not say what was compared. */
static const char *groups_source(struct arena *a, const struct import_group *groups, size_t n)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < n; i++)
		strbuf_addf(&sb, "%s%zu %s of %s", i ? ", " : "", groups[i].n_files,
			    groups[i].n_files == 1 ? "file" : "files", groups[i].variant);
	return arena_strdup(a, strbuf_str(&sb));
}

static const char *first_file(const struct import_group *groups, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (groups[i].n_files)
			return groups[i].files[0];
	return NULL;
}

static int add_groups(struct import *im, const struct import_group *groups, size_t n_groups,
		      struct strbuf *hashes)
{
	int64_t *variants = arena_alloc_array(im->a, n_groups, sizeof(*variants));
	size_t i, k;
	int r = import_campaign(
		im, n_groups == 1 ? groups[0].variant : first_file(groups, n_groups), NULL, 0);

	if (!r) {
		im->campaign.source = groups_source(im->a, groups, n_groups);
		r = db_set_campaign(im->db, &im->campaign, im->e);
	}
	for (i = 0; !r && i < n_groups; i++) {
		struct import_variant_words w = import_words(groups[i].variant);

		w.baseline = i == 0;
		r = import_variant(im, &w, &variants[i]);
	}
	for (i = 0; i < n_groups; i++)
		for (k = 0; !r && k < groups[i].n_files; k++)
			r = add_file(im, groups[i].files[k], groups[i].variant, variants[i],
				     hashes);
	return r;
}

/* The hash of all files is known when all are read: what was imported before is taken back. */
static int finish_groups(struct import *im, const struct strbuf *hashes)
{
	const char *known = NULL;
	char sha256[65];
	int r = 0;

	if (db_is_scratch(im->db))
		return import_finish(im, 0);
	data_sha256(strbuf_str(hashes), hashes->len, sha256);
	if (!im->opt->again)
		r = find_known(im->db, im->a, sha256, &known, im->e);
	if (known) {
		import_forget(im);
		db_rollback(im->db);
		*im->report = (struct import_report){.campaign = known, .known = true};
		return 0;
	}
	if (!r)
		r = db_set_fact(im->db, "campaign", im->campaign.id, "source_sha256", sha256,
				im->e);
	return import_finish(im, r);
}

int import_groups(struct db *db, struct arena *a, const struct catalog *cat,
		  const struct import_group *groups, size_t n_groups,
		  const struct import_options *opt, struct import_report *report, struct err *e)
{
	struct import im = import_start(db, a, cat, opt, report, e);
	_cleanup_strbuf_ struct strbuf hashes = STRBUF_INIT;
	int r;

	if (!first_file(groups, n_groups))
		return err_add(e, -ENOENT, "no file to import");
	r = db_begin(db, e);
	if (r)
		return r;
	r = add_groups(&im, groups, n_groups, &hashes);
	return r ? import_finish(&im, r) : finish_groups(&im, &hashes);
}
