// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mailed tables and raw outputs -> campaigns of kind `import`. Everything is made from what the
 * text says: a cell is a summary, or a sample where the text lists single runs; what is not stated
 * stays empty.
 */
#include "runner/import.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/file.h"
#include "core/num.h"
#include "runner/campaign.h"
#include "runner/store.h"

/* One import being written. */
struct import {
	struct db *db;
	struct arena *a;
	const struct catalog *cat;
	const struct import_options *opt;
	struct import_report *report;
	struct err *e;
	int64_t now;
	void *seen; /* tree of struct key */
	struct db_campaign campaign;
	int n_cases, n_variants;
};

/* ---- what was met before in this campaign ---- */

struct key {
	int64_t case_id, metric_id, variant_id;
	int count;
};

static int key_compare(const void *x, const void *y)
{
	const struct key *v = x, *w = y;

	if (v->case_id != w->case_id)
		return v->case_id < w->case_id ? -1 : 1;
	if (v->metric_id != w->metric_id)
		return v->metric_id < w->metric_id ? -1 : 1;
	return (v->variant_id > w->variant_id) - (v->variant_id < w->variant_id);
}

/* How often these three were asked for before. */
static int seen_before(struct import *im, int64_t case_id, int64_t metric_id, int64_t variant_id)
{
	struct key *key = arena_alloc(im->a, sizeof(*key)), **node;

	*key = (struct key){case_id, metric_id, variant_id, 0};
	node = tsearch(key, &im->seen, key_compare);
	if (!node)
		abort();
	return (*node)->count++;
}

static void keep_key(void *key)
{
	(void)key; /* it lives in the arena */
}

static void forget_seen(struct import *im)
{
	tdestroy(im->seen, keep_key);
	im->seen = NULL;
}

/* ---- campaigns ---- */

/* "dir/02 table.txt" -> "02-table": a campaign's or variant's name without blanks. */
static char *name_of_file(struct arena *a, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *dot = strrchr(base, '.');
	char *name, *p;

	if (!strcmp(path, "-"))
		return arena_strdup(a, "stdin");
	name = arena_strndup(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			*p = '-';
	return *name ? name : arena_strdup(a, "import");
}

static int add_campaign(struct import *im, const char *file, const char *sha256, int repeat)
{
	int r;

	forget_seen(im);
	im->n_cases = im->n_variants = 0;
	im->campaign = (struct db_campaign){
		.name = im->opt->campaign ? im->opt->campaign : name_of_file(im->a, file),
		.kind = "import",
		.unit = "run",
		.source = strcmp(file, "-") ? file : "standard input",
		.created = im->now,
		.ended = im->now,
		.repeat = repeat,
	};
	r = db_add_campaign(im->db, im->a, &im->campaign, im->e);
	if (r)
		return r;
	if (!im->report->campaigns++)
		im->report->campaign = im->campaign.id;
	return db_set_fact(im->db, "campaign", im->campaign.id, "source_sha256", sha256, im->e);
}

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

/* ---- variants ---- */

/* "5.17-rc1", "v6.9", "5.11.0-rc7-00002-ge0756cfc7d7c": what uname -r could say. */
static bool is_release(const char *s)
{
	const char *p = s + (*s == 'v');
	size_t digits = strspn(p, "0123456789");

	return digits && digits <= 2 && p[digits] == '.' && isdigit((unsigned char)p[digits + 1]) &&
	       !p[strspn(p, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_+")];
}

static char *hash_words(struct arena *a, const char *kind, const char *name, const char *detail)
{
	char *text = arena_printf(a, "%s\n%s\n%s\n", kind, name, detail), hex[65];

	data_sha256(text, strlen(text), hex);
	return arena_strndup(a, hex, 16);
}

struct variant_words {
	const char *name, *description;
	const char *release, *commit; /* "" where the text names none */
	bool baseline;
};

/* The identity is that of the words, so that one table from two mails has the same variants. */
static int put_variant(struct import *im, const struct variant_words *w, int64_t *id)
{
	struct db_kernel kernel = {
		.release = w->release,
		.version = "",
		.build_id = "",
		.image_sha256 = "",
		.source = "",
		.commit = w->commit,
	};
	int64_t kernel_id = 0;
	int r = 0;

	if (*w->release || *w->commit) {
		kernel.identity = hash_words(im->a, "import kernel", w->release, w->commit);
		r = db_put_kernel(im->db, &kernel, &kernel_id, im->e);
	}
	if (!r)
		r = db_put_variant(
			im->db,
			hash_words(im->a, "import", w->name, *w->release ? w->release : w->commit),
			kernel_id, "{}", id, im->e);
	if (r || seen_before(im, -1, -1, *id))
		return r;
	return db_add_campaign_variant(im->db, im->campaign.id, *id, im->n_variants++, w->name,
				       w->description, w->baseline, im->e);
}

static const char *fact_of(const struct table_set *set, const char *key)
{
	const struct table_fact *f;

	array_for_each (f, &set->facts)
		if (!strcmp(f->key, key))
			return f->value;
	return "";
}

static int put_variants(struct import *im, const struct table_set *set, const struct table *t,
			int64_t *ids)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < t->n_variants; i++) {
		const char *text = t->descriptions[i] ? t->descriptions[i] : "";
		const char *commit = fact_of(set, "commit");
		struct variant_words w = {t->variants[i], text, "", "", (int)i == t->baseline};

		if (is_release(w.name)) {
			w.release = w.name;
		} else if (is_release(text)) {
			w.release = text;
			w.description = "";
		} else if (w.baseline && is_release(commit)) {
			w.release = commit;
		} else if (w.baseline) {
			w.commit = commit;
		}
		r = put_variant(im, &w, &ids[i]);
	}
	return r;
}

/* ---- test cases ---- */

enum { MAX_PARAMS = 8 };

struct case_words {
	const char *benchmark, *command, *description;
	struct param_value params[MAX_PARAMS]; /* value as stored */
	size_t n;
};

static void add_param(struct case_words *c, const char *name, const char *value)
{
	if (c->n < MAX_PARAMS)
		c->params[c->n++] = (struct param_value){name, value, true};
}

/* A value as part of a name: "numa 0&1" -> "numa0&1", "SNC on" -> "SNC-on". */
static void add_name_value(struct strbuf *sb, const struct param_value *p)
{
	const char *s;

	for (s = p->value; *s; s++) {
		if (*s == ' ' && strcmp(p->name, "bind"))
			strbuf_addc(sb, '-');
		else if (*s != ' ')
			strbuf_addc(sb, *s == '/' ? '_' : *s);
	}
}

static int put_case(struct import *im, const struct case_words *c, int64_t *id)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct param_value identity[MAX_PARAMS + 1];
	json_t *params = json_object(), *swept = json_array();
	_cleanup_free_ char *params_text = NULL, *swept_text = NULL;
	struct db_case row = {.benchmark = c->benchmark, .description = c->description};
	size_t i;
	int r;

	strbuf_adds(&name, c->benchmark);
	for (i = 0; i < c->n; i++) {
		const struct param_value *p = &c->params[i];

		json_object_set_new(params, p->name, json_string(p->value));
		json_array_append_new(swept, json_string(p->name));
		strbuf_addf(&name, "/%s=", p->name);
		add_name_value(&name, p);
		identity[i] = *p;
	}
	identity[i] = (struct param_value){"command", c->command, false};
	params_text = json_dumps(params, JSON_COMPACT);
	swept_text = json_dumps(swept, JSON_COMPACT);
	json_decref(params);
	json_decref(swept);
	row.identity = case_identity(im->a, c->benchmark, identity, c->n + (*c->command != '\0'));
	row.name = strbuf_str(&name);
	row.params = params_text;
	row.swept = swept_text;
	row.command = c->command;
	r = db_put_case(im->db, &row, id, im->e);
	if (r || seen_before(im, *id, -1, -1))
		return r;
	return db_add_campaign_case(im->db, im->campaign.id, *id, im->n_cases++, 0, im->e);
}

/* Takes a known first part off *section ("process-pipes SNC on" -> "SNC on"). */
static bool take_word(const char **section, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*section, word, len) || ((*section)[len] && (*section)[len] != ' '))
		return false;
	*section += len + ((*section)[len] == ' ');
	return true;
}

/* hackbench-process-pipes is mode and transport, "numa 0&1" a binding, all else a section. */
static void add_section(struct case_words *c, const char *section)
{
	static const struct {
		const char *word, *mode, *ipc;
	} modes[] = {
		{"process-pipes", "process", "pipe"}, {"process-sockets", "process", "socket"},
		{"thread-pipes", "thread", "pipe"},   {"thread-sockets", "thread", "socket"},
		{"threads-pipes", "thread", "pipe"},  {"threads-sockets", "thread", "socket"},
	};
	static const char *const places[] = {"numa", "node", "cpu", "socket"};
	size_t i;

	for (i = 0; section && i < ARRAY_SIZE(modes); i++) {
		if (strcmp(c->benchmark, "hackbench") || !take_word(&section, modes[i].word))
			continue;
		add_param(c, "mode", modes[i].mode);
		add_param(c, "ipc", modes[i].ipc);
	}
	if (!section || !*section)
		return;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (!strncasecmp(section, places[i], strlen(places[i]))) {
			add_param(c, "bind", section);
			return;
		}
	}
	add_param(c, "section", section);
}

/* The number at the end of "elsp-8" or "99.0th-qrtle-239"; the whole where there is none. */
static const char *axis_value(const char *axis)
{
	const char *end = axis + strlen(axis);

	while (end > axis && isdigit((unsigned char)end[-1]))
		end--;
	return *end && (end == axis || end[-1] == '-') ? end : axis;
}

/* "make Image -j100" -> "100", or NULL */
static const char *jobs_of(struct arena *a, const char *command)
{
	const char *p = strstr(command, "-j");
	size_t n;

	if (!p)
		return NULL;
	p += 2 + strspn(p + 2, " ");
	n = strspn(p, "0123456789");
	return n ? arena_strndup(a, p, n) : NULL;
}

static int put_table_case(struct import *im, const struct table *t, const struct table_row *row,
			  int64_t *id)
{
	struct case_words c = {
		.benchmark = t->benchmark ? t->benchmark : t->family,
		.command = t->command ? t->command : "",
		.description = "",
	};
	const char *jobs =
		row->run && !strcmp(c.benchmark, "kernbench") ? jobs_of(im->a, c.command) : NULL;

	if (t->axis_name && row->kind != ROW_OTHER && row->axis)
		add_param(&c, t->axis_name, axis_value(row->axis));
	else if (row->kind != ROW_OTHER && row->axis && !row->metric)
		add_param(&c, "key", row->axis);
	if (jobs)
		add_param(&c, "jobs", jobs);
	add_section(&c, t->section);
	return put_case(im, &c, id);
}

/* ---- cells ---- */

static char *lower(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s), *p;

	for (p = copy; *p; p++)
		*p = *p == ' ' ? '_' : (char)tolower((unsigned char)*p);
	return copy;
}

/* A metric of ours keeps its meaning; rows of unknown benchmarks are their own headlines. */
static int put_table_metric(struct import *im, const struct table *t, const struct table_row *row,
			    struct db_metric *m)
{
	const char *benchmark = t->benchmark ? t->benchmark : t->family;
	const char *statistic = lower(im->a, row->statistic ? row->statistic : "value");
	const char *metric = row->metric ? row->metric : statistic;

	if (row->kind == ROW_OTHER)
		metric = arena_printf(im->a, "%s.%s", statistic,
				      lower(im->a, row->axis ? row->axis : ""));
	catalog_metric(im->cat, benchmark, metric, row->unit, m);
	if (row->metric && (row->kind == ROW_EXTREME || row->kind == ROW_DEVIATION))
		m->name = arena_printf(im->a, "%s.%s", m->name, statistic);
	if (row->kind == ROW_EXTREME || row->kind == ROW_DEVIATION)
		m->role = "diagnostic";
	else if (row->kind == ROW_VALUE && m->direction == DIR_UNKNOWN)
		m->role = "headline";
	if (row->kind == ROW_DEVIATION)
		m->direction = DIR_LOWER;
	if (m->direction == DIR_UNKNOWN && row->statistic)
		mean_kind_parse(row->statistic, &m->mean_kind);
	return db_put_metric(im->db, m, &m->id, im->e);
}

/* Deviation rows by key, so that a value finds its own in any table size. */
struct deviations {
	const struct table_row **rows;
	bool *taken;
	size_t n;
};

static int deviation_compare(const void *x, const void *y)
{
	const struct table_row *v = *(const struct table_row *const *)x;
	const struct table_row *w = *(const struct table_row *const *)y;
	int r = strcmp(v->axis ? v->axis : "", w->axis ? w->axis : "");

	if (r)
		return r;
	if (v->index != w->index)
		return v->index < w->index ? -1 : 1;
	return -strcmp(v->statistic, w->statistic); /* Stddev before CoeffVar */
}

static struct deviations find_deviations(struct arena *a, const struct table *t)
{
	struct deviations d = {0};
	const struct table_row *row;

	d.rows = arena_alloc_array(a, t->rows.n, sizeof(*d.rows));
	d.taken = arena_alloc_array(a, t->rows.n, sizeof(*d.taken));
	array_for_each (row, &t->rows)
		if (row->kind == ROW_DEVIATION)
			d.rows[d.n++] = row;
	if (d.n)
		qsort(d.rows, d.n, sizeof(*d.rows), deviation_compare);
	return d;
}

/* The Stddev row of a value, else its CoeffVar row, else NULL; marks all of them as taken. */
static const struct table_row *deviation_of(struct deviations *d, const struct table_row *row)
{
	struct table_row first = *row;
	const struct table_row *wanted = &first;
	size_t lo = 0, hi = d->n, i;

	first.statistic = "~"; /* sorts before every statistic */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (deviation_compare(&d->rows[mid], &wanted) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (i = lo; i < d->n; i++) {
		if (strcmp(d->rows[i]->axis ? d->rows[i]->axis : "", row->axis ? row->axis : "") ||
		    d->rows[i]->index != row->index)
			break;
		d->taken[i] = true;
	}
	return i > lo ? d->rows[lo] : NULL;
}

/*
 * A published percentage is kept where its sign agrees with the metric's direction; rows that the
 * source signs the other way round (rates as if they were latencies) are computed from the values.
 */
static bool change_is_usable(const struct table *t, const struct table_row *row,
			     const struct db_metric *m)
{
	if (t->sign == SIGN_RAW)
		return row->orientation != CHANGE_INVERTED;
	return !(m->direction == DIR_HIGHER && row->orientation == CHANGE_INVERTED) &&
	       !(m->direction == DIR_LOWER && row->orientation == CHANGE_RAW);
}

static int add_summary(struct import *im, const struct table *t, const struct table_row *row,
		       const struct table_row *deviation, size_t i, int64_t variant,
		       int64_t case_id, const struct db_metric *m)
{
	const struct table_cell *cell = &row->cells[i];
	struct db_summary s = {
		.variant_id = variant,
		.case_id = case_id,
		.metric_id = m->id,
		.idx = seen_before(im, case_id, m->id, variant),
		.n = cell->has_n ? cell->n : 0,
		.line = cell->line,
		.has_mean = cell->has_value,
		.has_change = cell->has_change && change_is_usable(t, row, m),
		.mark = cell->mark,
		.mean = cell->value,
		.change = cell->change,
		.mean_text = cell->value_text ? cell->value_text : "",
		.mean_kind = "",
		.deviation_kind = "",
		.change_sign = t->sign == SIGN_RAW ? "raw" : "better",
	};
	enum mean_kind kind;

	if (row->statistic && mean_kind_parse(row->statistic, &kind))
		s.mean_kind = lower(im->a, row->statistic);
	if (deviation) {
		s.has_deviation = deviation->cells[i].has_value;
		s.deviation = deviation->cells[i].value;
		s.deviation_kind = strcmp(deviation->statistic, "Stddev") ? "cv" : "stddev";
	}
	return db_add_summary(im->db, im->campaign.id, &s, im->e);
}

static int add_summaries(struct import *im, const struct table *t, const struct table_row *row,
			 struct deviations *d, const int64_t *variants)
{
	const struct table_row *deviation = NULL;
	struct db_metric m;
	int64_t case_id;
	size_t i;
	int r = put_table_case(im, t, row, &case_id);

	if (!r)
		r = put_table_metric(im, t, row, &m);
	if (row->kind == ROW_VALUE)
		deviation = deviation_of(d, row);
	for (i = 0; !r && i < t->n_variants; i++) {
		if (!row->cells[i].has_value)
			continue;
		im->report->cells++;
		r = add_summary(im, t, row, deviation, i, variants[i], case_id, &m);
	}
	return r;
}

/* Single runs: the rows of run N of one variant are one run, N its round. */
static int add_listed_run(struct import *im, const struct table *t, size_t from, size_t to,
			  size_t variant, int64_t variant_id)
{
	struct db_run run = {
		.variant_id = variant_id,
		.campaign = im->campaign.id,
		.started = im->now,
		.outcome = "ok",
		.command = t->command ? t->command : "",
		.parser = "",
		.block = t->rows.items[from].run,
		.attempt = 1,
		.exit_status = -1,
	};
	struct db_metric m;
	int r = 0;

	for (; !r && from < to; from++) {
		const struct table_row *row = &t->rows.items[from];

		if (!row->cells[variant].has_value)
			continue;
		im->report->cells++;
		if (!run.id) {
			im->report->runs++;
			r = put_table_case(im, t, row, &run.case_id);
			if (!r)
				r = db_add_run(im->db, &run, &run.id, im->e);
		}
		if (!r)
			r = put_table_metric(im, t, row, &m);
		if (!r)
			r = db_add_sample(im->db, run.id, m.id, row->cells[variant].value, im->e);
	}
	return r;
}

static int add_listed_runs(struct import *im, const struct table *t, const int64_t *variants)
{
	size_t from, to, i;
	int r = 0;

	for (from = 0; from < t->rows.n; from = to) {
		for (to = from; to < t->rows.n && t->rows.items[to].run == t->rows.items[from].run;)
			to++;
		for (i = 0; !r && i < t->n_variants; i++)
			r = add_listed_run(im, t, from, to, i, variants[i]);
	}
	return r;
}

static int add_table(struct import *im, const struct table_set *set, const struct table *t)
{
	int64_t *variants = arena_alloc_array(im->a, t->n_variants, sizeof(*variants));
	struct deviations d = find_deviations(im->a, t);
	const struct table_row *row;
	size_t i;
	int r = put_variants(im, set, t, variants);

	im->report->tables++;
	im->report->rows += (int)t->rows.n;
	if (!r && t->rows.n && t->rows.items[0].run)
		return add_listed_runs(im, t, variants);
	array_for_each (row, &t->rows)
		if (!r && row->kind != ROW_DEVIATION)
			r = add_summaries(im, t, row, &d, variants);
	for (i = 0; !r && i < d.n; i++)
		if (!d.taken[i])
			r = add_summaries(im, t, d.rows[i], &d, variants);
	return r;
}

static bool same_variants(const struct table *x, const struct table *y)
{
	size_t i;

	for (i = 0; i < x->n_variants && x->n_variants == y->n_variants; i++)
		if (strcmp(x->variants[i], y->variants[i]))
			return false;
	return x->n_variants == y->n_variants && x->baseline == y->baseline;
}

static int add_facts(struct import *im, const struct table_set *set)
{
	const struct table_fact *f;
	int r = 0;

	array_for_each (f, &set->facts)
		if (!r)
			r = db_set_fact(im->db, "campaign", im->campaign.id, f->key, f->value,
					im->e);
	return r;
}

/* Tables that compare the same variants are one campaign. */
static int add_tables(struct import *im, const char *file, const char *sha256,
		      const struct table_set *set)
{
	bool *done = arena_alloc_array(im->a, set->tables.n, sizeof(*done));
	size_t i, k;
	int r = 0;

	for (i = 0; !r && i < set->tables.n; i++) {
		const struct table *first = &set->tables.items[i];
		int repeat = first->rows.n ? first->rows.items[first->rows.n - 1].run : 0;

		if (done[i])
			continue;
		r = add_campaign(im, file, sha256, repeat);
		for (k = i; !r && k < set->tables.n; k++) {
			if (done[k] || !same_variants(first, &set->tables.items[k]))
				continue;
			done[k] = true;
			r = add_table(im, set, &set->tables.items[k]);
		}
		if (!r)
			r = add_facts(im, set);
	}
	return r;
}

/* ---- raw outputs ---- */

/* What the output says of its parameters, under the names of the benchmark's description. */
static void raw_case(struct arena *a, const struct bench_def *def, const struct parse_run *run,
		     struct case_words *c)
{
	const struct parse_param *p;
	size_t i;

	*c = (struct case_words){
		.benchmark = def->name, .command = "", .description = def->description};
	for (i = 0; i < def->n_params; i++) {
		const struct bench_param *param = &def->params[i];
		const char *wanted = param->check ? param->check : param->name;

		array_for_each (p, &run->params) {
			double v;

			if (strcmp(p->name, wanted))
				continue;
			if (param->check && param->check_factor > 1 &&
			    num_parse(span_of(p->text), &v))
				add_param(c, param->name,
					  arena_printf(a, "%g", v / param->check_factor));
			else
				add_param(c, param->name, p->text);
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

/* The runs of one raw output; block: how many of this case and variant there are already. */
static int add_raw(struct import *im, const char *file, struct span text,
		   const struct import_content *content, int64_t variant)
{
	const struct parse_run *parsed;
	bool alone = content->raw->runs.n == 1;
	int r = 0;

	if (!alone)
		r = db_add_raw(im->db, 0, "source", file, text, NULL, im->e);
	array_for_each (parsed, &content->raw->runs) {
		struct db_run run = {
			.variant_id = variant,
			.campaign = im->campaign.id,
			.started = im->now,
			.command = "",
			.parser = content->def->name,
			.attempt = 1,
			.exit_status = -1,
		};
		struct case_words c;

		if (r)
			break;
		raw_case(im->a, content->def, parsed, &c);
		r = put_case(im, &c, &run.case_id);
		if (r)
			break;
		run.block = seen_before(im, run.case_id, -2, variant) + 1;
		im->report->runs++;
		if (alone)
			r = store_run(im->db, im->a, im->cat, content->def, &run, text,
				      (struct span){"", 0}, NULL, 0, im->e);
		else
			r = add_parsed_run(im, content->def, parsed, &run);
		note_outcome(im, file, parsed->outcome, parsed->error, parsed->message);
	}
	return r;
}

/* ---- reading ---- */

static int unknown_benchmark(struct arena *a, const struct catalog *cat, const char *name,
			     struct err *e)
{
	const char *near = str_suggest(name, catalog_names(cat));

	(void)a;
	err_add(e, -EINVAL, "no benchmark is called '%s'", name);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	return -EINVAL;
}

static int parse_as(struct arena *a, const struct catalog *cat, const char *name, struct span text,
		    struct import_content *content, struct err *e)
{
	struct parse_input in = {.text = text, .exit_status = -1};

	content->def = catalog_find(cat, name);
	if (!content->def)
		return unknown_benchmark(a, cat, name, e);
	return catalog_parse(a, content->def, &in, &content->raw, e);
}

/* A list of times with one name above it is more likely a log than a comparison. */
static bool is_comparison(const struct table_set *set)
{
	const struct table *t;

	array_for_each (t, &set->tables)
		if (t->n_variants > 1)
			return true;
	return false;
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

static int begin(struct import *im, const char *sha256)
{
	const char *known = NULL;
	int r = db_begin(im->db, im->e);

	if (r || im->opt->again)
		return r;
	r = find_known(im->db, im->a, sha256, &known, im->e);
	if (r || known)
		db_rollback(im->db);
	im->report->campaign = known;
	im->report->known = known != NULL;
	return r;
}

static int finish(struct import *im, int r)
{
	forget_seen(im);
	if (!r)
		return db_commit(im->db, im->e);
	db_rollback(im->db);
	return r;
}

int import_text(struct db *db, struct arena *a, const struct catalog *cat, const char *file,
		struct span text, const struct import_options *opt, struct import_report *report,
		struct err *e)
{
	struct import im = {
		.db = db,
		.a = a,
		.cat = cat,
		.opt = opt,
		.report = report,
		.e = e,
		.now = time(NULL),
	};
	struct import_content *content = arena_alloc(a, sizeof(*content));
	char sha256[65];
	int64_t variant;
	int r;

	*report = (struct import_report){0};
	r = import_read(a, cat, file, text, opt, content, e);
	if (r)
		return r;
	data_sha256(text.s, text.len, sha256);
	r = begin(&im, sha256);
	if (r || report->known)
		return r;
	if (content->def) {
		struct variant_words w = {"", "", "", "", true};

		w.name = opt->variant ? opt->variant : name_of_file(a, file);
		report->benchmark = content->def->name;
		report->notes = arena_alloc_array(a, content->raw->runs.n, sizeof(*report->notes));
		r = add_campaign(&im, file, sha256, (int)content->raw->runs.n);
		if (!r)
			r = put_variant(&im, &w, &variant);
		if (!r)
			r = add_raw(&im, file, text, content, variant);
	} else {
		report->set = &content->set;
		report->refused = (int)content->set.refused.n;
		r = db_add_raw(db, 0, "source", file, text, NULL, e);
		if (!r)
			r = add_tables(&im, file, sha256, &content->set);
	}
	return finish(&im, r);
}

/* A file of a group, read and understood. */
struct raw_file {
	const char *path;
	size_t group;
	struct strbuf text;
	struct import_content content;
};

static int read_raw_file(struct arena *a, const struct catalog *cat,
			 const struct import_options *opt, struct raw_file *f, struct err *e)
{
	struct span text;
	int r = file_read(f->path, 0, &f->text, e);

	if (r)
		return r;
	text = (struct span){strbuf_str(&f->text), f->text.len};
	r = import_read(a, cat, f->path, text, opt, &f->content, e);
	if (r || f->content.def)
		return r;
	err_add(e, -EINVAL, "a table, where raw output is expected");
	err_at(e, f->path, 0, 0);
	err_hint(e, "import it by itself: kdelta import %s", f->path);
	return -EINVAL;
}

static int add_groups(struct import *im, const struct import_group *groups, size_t n_groups,
		      struct raw_file *files, size_t n, const char *sha256)
{
	int64_t *variants = arena_alloc_array(im->a, n_groups, sizeof(*variants));
	size_t i;
	int r = add_campaign(im, n_groups == 1 ? groups[0].variant : files[0].path, sha256, 0);

	for (i = 0; !r && i < n_groups; i++) {
		struct variant_words w = {groups[i].variant, "", "", "", i == 0};

		r = put_variant(im, &w, &variants[i]);
	}
	for (i = 0; !r && i < n; i++) {
		struct span text = {strbuf_str(&files[i].text), files[i].text.len};

		im->report->benchmark = files[i].content.def->name;
		r = add_raw(im, files[i].path, text, &files[i].content, variants[files[i].group]);
	}
	return r;
}

/* One hash over the hashes of the files and the names of their variants. */
static void hash_groups(const struct import_group *groups, const struct raw_file *files, size_t n,
			char hex[65])
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	size_t i;

	for (i = 0; i < n; i++) {
		data_sha256(strbuf_str(&files[i].text), files[i].text.len, hex);
		strbuf_addf(&all, "%s %s\n", hex, groups[files[i].group].variant);
	}
	data_sha256(strbuf_str(&all), all.len, hex);
}

int import_groups(struct db *db, struct arena *a, const struct catalog *cat,
		  const struct import_group *groups, size_t n_groups,
		  const struct import_options *opt, struct import_report *report, struct err *e)
{
	struct import im = {
		.db = db,
		.a = a,
		.cat = cat,
		.opt = opt,
		.report = report,
		.e = e,
		.now = time(NULL),
	};
	struct raw_file *files;
	char sha256[65];
	size_t n = 0, i, k, runs = 0;
	int r = 0;

	*report = (struct import_report){0};
	for (i = 0; i < n_groups; i++)
		n += groups[i].n_files;
	if (!n)
		return err_add(e, -ENOENT, "no file to import");
	files = arena_alloc_array(a, n, sizeof(*files));
	for (i = n = 0; i < n_groups; i++)
		for (k = 0; k < groups[i].n_files; k++)
			files[n++] = (struct raw_file){.path = groups[i].files[k], .group = i};
	for (i = 0; !r && i < n; i++) {
		r = read_raw_file(a, cat, opt, &files[i], e);
		runs += r ? 0 : files[i].content.raw->runs.n;
	}
	if (!r) {
		hash_groups(groups, files, n, sha256);
		r = begin(&im, sha256);
	}
	if (!r && !report->known) {
		report->notes = arena_alloc_array(a, runs, sizeof(*report->notes));
		r = finish(&im, add_groups(&im, groups, n_groups, files, n, sha256));
	}
	for (i = 0; i < n; i++)
		strbuf_release(&files[i].text);
	return r;
}
