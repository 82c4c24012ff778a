// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables -> summaries, and samples where the text lists single runs. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange/import_write.h"

/* ---- variants ---- */

/* "5.17-rc1", "v6.9", "5.11.0-rc7-00002-ge0756cfc7d7c": what uname -r could say. */
static bool is_release(const char *s)
{
	const char *p = s + (*s == 'v');
	size_t digits = strspn(p, "0123456789");

	return digits && digits <= 2 && p[digits] == '.' && isdigit((unsigned char)p[digits + 1]) &&
	       !p[strspn(p, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_+")];
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
		struct import_variant_words w = import_words(t->variants[i]);

		w.description = text;
		w.baseline = (int)i == t->baseline;
		if (t->commits) {
			w.commit = t->commits[i] ? t->commits[i] : "";
			w.release = is_release(w.name) ? w.name : "";
		} else if (is_release(w.name)) {
			w.release = w.name;
		} else if (is_release(text)) {
			w.release = text;
			w.description = "";
		} else if (w.baseline && is_release(commit)) {
			w.release = commit;
		} else if (w.baseline) {
			w.commit = commit;
		}
		r = import_variant(im, &w, &ids[i]);
	}
	return r;
}

/* ---- test cases ---- */

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
void import_section(struct import_case *c, const char *section)
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
		import_param(c, "mode", modes[i].mode);
		import_param(c, "ipc", modes[i].ipc);
	}
	/* "Test : hackbench" is the benchmark itself */
	if (!section || !*section || !strcasecmp(section, c->benchmark))
		return;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (!strncasecmp(section, places[i], strlen(places[i]))) {
			import_param(c, "bind", section);
			return;
		}
	}
	import_param(c, "section", section);
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

static const char *benchmark_of(const struct table *t, const struct table_row *row)
{
	if (row->benchmark)
		return row->benchmark;
	return t->benchmark ? t->benchmark : t->family;
}

static void add_params(struct import_case *c, const struct table_row *row)
{
	size_t i;

	for (i = 0; i < row->n_params; i++) {
		const struct table_param *p = &row->params[i];

		if (p->shown)
			import_param(c, p->name, p->value);
		else
			import_fixed_param(c, p->name, p->value);
	}
}

static int put_table_case(struct import *im, const struct table *t, const struct table_row *row,
			  int64_t *id)
{
	struct import_case c = {
		.benchmark = benchmark_of(t, row),
		.command = t->command ? t->command : "",
		.description = "",
	};
	const char *jobs =
		row->run && !row->params && !strcmp(c.benchmark, "kernbench")
			? jobs_of(im->a, c.command)
			: NULL;

	if (row->params)
		add_params(&c, row);
	else if (t->axis_name && row->kind != ROW_OTHER && row->axis)
		import_param(&c, t->axis_name, axis_value(row->axis));
	else if (row->kind != ROW_OTHER && row->axis && !row->metric)
		import_param(&c, "key", row->axis);
	if (jobs)
		import_param(&c, "jobs", jobs);
	if (!row->params)
		import_section(&c, t->section);
	return import_case(im, &c, id);
}

/* ---- cells ---- */

static char *lower(struct arena *a, const char *s)
{
	char *copy = arena_strdup(a, s), *p;

	for (p = copy; *p; p++)
		*p = *p == ' ' ? '_' : (char)tolower((unsigned char)*p);
	return copy;
}

void import_headline(struct db_metric *m)
{
	if (strcmp(m->role, "diagnostic") && m->direction != DIR_DEPENDS &&
	    m->direction != DIR_NEUTRAL)
		m->role = "headline";
}

/* "softirqs.SCHED", whatever the test: what our table says of it, else what the text does. */
static int put_full_metric(struct import *im, const struct table_row *row, struct db_metric *m)
{
	const char *dot = strchr(row->full_metric, '.');
	const char *suite = row->full_metric, *rest = "value";

	if (dot && dot[1]) {
		suite = arena_strndup(im->a, row->full_metric,
				      (size_t)(dot - row->full_metric));
		rest = dot + 1;
	}
	catalog_metric(im->cat, suite, rest, row->unit, m);
	if (m->direction == DIR_UNKNOWN && row->better)
		m->direction = row->better == BETTER_HIGHER ? DIR_HIGHER : DIR_LOWER;
	if (row->headline)
		import_headline(m);
	return db_put_metric(im->db, m, &m->id, im->e);
}

/* A metric of ours keeps its meaning; rows of unknown benchmarks are their own headlines. */
static int put_table_metric(struct import *im, const struct table *t, const struct table_row *row,
			    struct db_metric *m)
{
	const char *benchmark = benchmark_of(t, row);
	const char *statistic = lower(im->a, row->statistic ? row->statistic : "value");
	const char *metric = row->metric ? row->metric : statistic;

	if (row->full_metric)
		return put_full_metric(im, row, m);
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
	else if (m->direction == DIR_UNKNOWN && row->better)
		m->direction = row->better == BETTER_HIGHER ? DIR_HIGHER : DIR_LOWER;
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

/* The deviation printed with a cell. */
static void take_deviation(const struct table *t, const struct table_cell *cell,
			   struct db_summary *s)
{
	static const char *const kinds[] = {
		[DEV_NONE] = "",   [DEV_STDDEV] = "stddev", [DEV_PERCENT] = "percent",
		[DEV_CV] = "cv",   [DEV_STDERR_PERCENT] = "stderr_percent",
		[DEV_HIDDEN] = "percent", [DEV_FRACTION] = "cv",
	};

	s->has_deviation = cell->has_deviation;
	s->deviation = cell->deviation * (t->deviation == DEV_FRACTION ? 100 : 1);
	if (cell->has_deviation)
		s->deviation_kind = kinds[t->deviation];
	else if (t->deviation == DEV_HIDDEN && !cell->unknown_deviation)
		s->deviation_kind = "hidden";
}

/* A change from nothing has no percentage, whatever a source prints ("+1.2e+107%"). */
static bool change_is_sane(const struct table *t, const struct table_row *row, size_t i)
{
	const struct table_cell *base = &row->cells[t->baseline];

	return !base->has_value || base->value != 0 || row->points ||
	       fabs(row->cells[i].change) < 1e6;
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
		.idx = import_seen(im, case_id, m->id, variant),
		.n = cell->has_n ? cell->n : 0,
		.line = cell->line,
		.has_mean = cell->has_value,
		.has_change = cell->has_change && change_is_usable(t, row, m) &&
			      change_is_sane(t, row, i),
		.mark = cell->mark,
		.mean = cell->value,
		.change = cell->change,
		.mean_text = cell->value_text ? cell->value_text : "",
		.mean_kind = "",
		.deviation_kind = "",
		.change_sign = row->points		? "points"
			       : t->sign == SIGN_RAW ? "raw"
						     : "better",
	};
	enum mean_kind kind;

	take_deviation(t, cell, &s);
	if (row->kind == ROW_FAILS)
		s.mean = cell->value / cell->n;
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
	int r;

	/* a sum over tests is no test; they stand above it */
	if (row->kind == ROW_TOTAL)
		return 0;
	r = put_table_case(im, t, row, &case_id);
	if (!r)
		r = put_table_metric(im, t, row, &m);
	if (row->kind == ROW_VALUE)
		deviation = deviation_of(d, row);
	for (i = 0; !r && i < t->n_variants; i++) {
		if (!table_cell_is_there(&row->cells[i]))
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
	struct db_run run = import_run(im, variant_id, "");
	struct db_metric m;
	int r = 0;

	run.command = t->command ? t->command : "";
	run.block = t->rows.items[from].run;
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

/* Rows of one case share its parameters. */
static bool same_run(const struct table_row *x, const struct table_row *y)
{
	return x->run == y->run && x->params == y->params;
}

static int add_listed_runs(struct import *im, const struct table *t, const int64_t *variants)
{
	size_t from, to, i;
	int r = 0;

	for (from = 0; from < t->rows.n; from = to) {
		for (to = from; to < t->rows.n && same_run(&t->rows.items[to], &t->rows.items[from]);)
			to++;
		for (i = 0; !r && i < t->n_variants; i++)
			r = add_listed_run(im, t, from, to, i, variants[i]);
	}
	return r;
}

/* A column of changes alone gets the variant that they are against, without values. */
static const struct table *with_baseline(struct arena *a, const struct table *t)
{
	struct table *full = arena_copy(a, t, 1, sizeof(*t));
	size_t n = t->n_variants + 1, i, k;

	full->n_variants = n;
	full->baseline = 0;
	full->variants = arena_alloc_array(a, n, sizeof(*full->variants));
	full->descriptions = arena_alloc_array(a, n, sizeof(*full->descriptions));
	full->variants[0] = "baseline";
	full->descriptions[0] = "not shown by the source";
	full->rows.items = arena_copy(a, t->rows.items, t->rows.n, sizeof(*t->rows.items));
	for (i = 1; i < n; i++)
		full->variants[i] = t->variants[i - 1];
	for (k = 0; k < t->rows.n; k++) {
		struct table_row *row = &full->rows.items[k];

		row->cells = arena_alloc_array(a, n, sizeof(*row->cells));
		for (i = 1; i < n; i++)
			row->cells[i] = t->rows.items[k].cells[i - 1];
	}
	return full;
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

int import_tables(struct import *im, const char *file, const char *sha256,
		  const struct table_set *set)
{
	bool *done = arena_alloc_array(im->a, set->tables.n, sizeof(*done));
	size_t i, k;
	int r = 0;

	for (i = 0; !r && i < set->tables.n; i++) {
		const struct table *first = &set->tables.items[i], *t;
		int repeat = first->rows.n ? first->rows.items[first->rows.n - 1].run : 0;

		if (done[i])
			continue;
		r = import_campaign(im, file, sha256, repeat);
		for (k = i; !r && k < set->tables.n; k++) {
			if (done[k] || !same_variants(first, &set->tables.items[k]))
				continue;
			done[k] = true;
			t = &set->tables.items[k];
			r = add_table(im, set, t->delta_only ? with_baseline(im->a, t) : t);
		}
		if (!r)
			r = add_facts(im, set);
	}
	return r;
}
