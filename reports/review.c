// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of a review; its words are in review_text.c. */
#include "reports/review.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/view.h"

/* Lone cells told, at most; below LONE_CELLS changes a column shows none. */
#define LONE_MOST  5
/* Metrics without a direction that are named. */
#define NAMED	   3
#define LONE_CELLS 5
/* Nearer to the others than this (of log ratios) is no reason to look, as in view.c. */
#define LONE_LEAST 0.10

const int review_sides[REVIEW_SIDES] = {3, 5, 10};

/* ---- what the text states ---- */

static void state(struct review *rv, int fact, enum review_state s, const char *text)
{
	rv->facts[fact] = (struct review_fact){s, text_ascii(rv->a, text)};
}

static void take_facts(struct review *rv, const struct table_set *set)
{
	static const struct {
		const char *key;
		int fact;
	} keys[] = {
		{"commit", REVIEW_BASE}, {"machine", REVIEW_MACHINE}, {"command", REVIEW_COMMAND}};
	const struct table_fact *f;
	size_t i;

	array_for_each (f, &set->facts)
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (!strcmp(f->key, keys[i].key))
				state(rv, keys[i].fact, REVIEW_STATED, f->value);
}

/* What of a row's cells is stated; ends is the smallest and the largest n. */
static void row_facts(struct review *rv, const struct table *t, const struct table_row *row,
		      int ends[2])
{
	size_t i;

	for (i = 0; i < t->n_variants; i++) {
		const struct table_cell *cell = &row->cells[i];

		/* of schbench's percentiles n counts the samples of one run */
		if (cell->has_n && strcmp(t->family, "schbench-raw") != 0) {
			ends[0] = ends[0] ? MIN(ends[0], cell->n) : cell->n;
			ends[1] = MAX(ends[1], cell->n);
		}
	}
	if (row->kind == ROW_DEVIATION)
		state(rv, REVIEW_DEVIATION, REVIEW_STATED, "");
	if (row->run > 1)
		state(rv, REVIEW_DEVIATION, REVIEW_STATED, "of the single runs");
	if (row->run)
		state(rv, REVIEW_RUNS, REVIEW_STATED, "single runs are listed");
}

/* *better: cleared where some row does not say which way is better. */
static void take_table(struct review *rv, const struct table *t, int ends[2], bool *better)
{
	static const char *const kinds[] = {
		[DEV_NONE] = "",
		[DEV_STDDEV] = "standard deviation",
		[DEV_PERCENT] = "in percent of the mean",
		[DEV_CV] = "coefficient of variation",
		[DEV_STDERR_PERCENT] = "standard error in percent",
		[DEV_HIDDEN] = "in percent of the mean, above 2% only",
		[DEV_FRACTION] = "as a fraction of the mean",
	};
	const struct table_row *row;

	rv->tables++;
	rv->rows += (int)t->rows.n;
	if (t->command)
		state(rv, REVIEW_COMMAND, REVIEW_STATED, t->command);
	if (t->deviation != DEV_NONE)
		state(rv, REVIEW_DEVIATION, REVIEW_STATED, kinds[t->deviation]);
	array_for_each (row, &t->rows) {
		row_facts(rv, t, row, ends);
		*better &= row->better || row->kind != ROW_VALUE;
	}
}

/* ---- arithmetic ---- */

/* Half of the last printed digit: 0.005 of "17.93", 5e+05 of "2.3e+07". */
static double half_digit(const char *text)
{
	const char *e = text ? strpbrk(text, "eE") : NULL, *dot = text ? strchr(text, '.') : NULL;
	int decimals = 0;

	while (dot && isdigit((unsigned char)dot[1 + decimals]))
		decimals++;
	return text ? 0.5 * pow(10, (e ? (double)strtol(e + 1, NULL, 10) : 0) - decimals) : 0;
}

static bool value_of(const struct table_row *row, const struct table_cell *cell, double *v)
{
	bool fails = row->kind == ROW_FAILS;

	*v = fails && cell->n ? cell->value / cell->n : cell->value;
	return cell->has_value && (!fails || cell->n > 0);
}

/* The change of the printed values that is nearest to the printed one, as the row is signed. */
static bool recompute(const struct table_row *row, const struct table_cell *base,
		      const struct table_cell *cell, double *change, double *slack)
{
	double old, new, raw;

	if (!value_of(row, base, &old) || !value_of(row, cell, &new) ||
	    (old == 0 && !row->points))
		return false;
	raw = row->points ? (row->kind == ROW_FAILS ? 100 : 1) * (new - old)
			  : 100 * (new / old - 1);
	*slack = row->points ? half_digit(cell->value_text) + half_digit(base->value_text)
			     : 100 * (half_digit(cell->value_text) / fabs(old) +
				      half_digit(base->value_text) * fabs(new) / (old * old));
	if (row->orientation == CHANGE_INVERTED ||
	    (row->orientation == CHANGE_UNKNOWN &&
	     fabs(cell->change + raw) < fabs(cell->change - raw)))
		raw = -raw;
	*change = raw;
	return true;
}

typedef ARRAY_OF(double) numbers;

static void check_row(struct review *rv, const struct table *t, const struct table_row *row,
		      numbers *slacks)
{
	struct review_arithmetic *s = &rv->sums;
	double change, slack, off;
	size_t i;

	s->on_reading |= !strcmp(t->family, "kdelta");
	for (i = 0; i < t->n_variants; i++) {
		const struct table_cell *cell = &row->cells[i];

		if (!cell->has_change || (int)i == t->baseline)
			continue;
		if (t->delta_only || t->baseline < 0 ||
		    !recompute(row, &row->cells[t->baseline], cell, &change, &slack)) {
			s->unchecked++;
			continue;
		}
		s->checked++;
		*ARRAY_PUSH(slacks) = slack;
		off = fabs(cell->change - change);
		if (!(off <= s->largest)) {
			s->largest = off;
			s->largest_line = cell->line;
		}
	}
}

void review_init(struct review *rv, struct arena *a, const char *file, const struct table_set *set)
{
	const struct table_row *row;
	const struct table *t;
	numbers slacks = {NULL, 0, 0};
	int ends[2] = {0, 0};
	bool better = true;
	size_t i;

	*rv = (struct review){.a = a, .file = file, .tests = ""};
	for (i = 0; i < REVIEW_FACTS; i++)
		state(rv, (int)i, REVIEW_MISSING, "");
	rv->sums.largest = NAN;
	rv->sums.refused = set->refused.items;
	rv->sums.n_refused = set->refused.n;
	rv->marks.smallest = NAN;
	array_for_each (t, &set->tables) {
		take_table(rv, t, ends, &better);
		array_for_each (row, &t->rows)
			check_row(rv, t, row, &slacks);
	}
	if (ends[1])
		state(rv, REVIEW_RUNS, REVIEW_STATED,
		      ends[0] == ends[1] ? arena_printf(a, "%d", ends[0])
					 : arena_printf(a, "%d to %d", ends[0], ends[1]));
	if (better && rv->rows)
		state(rv, REVIEW_DIRECTION, REVIEW_STATED, "");
	take_facts(rv, set);
	rv->sums.slack = slacks.n ? stats_median(slacks.items, slacks.n) : NAN;
	ARRAY_FREE(&slacks);
}

/* ---- what a comparison knows ---- */

/* Magnitude of what the source (or else its values) says changed; NAN: nothing. */
static double claim(const struct cmp_cell *cell)
{
	if (cell->has_change && cell->published)
		return fabs(cell->change);
	if (isfinite(cell->source_better))
		return fabs(cell->source_better);
	return cell->has_change && isfinite(cell->change) ? fabs(cell->change) : NAN;
}

static const char *phrase(const struct view *v, const struct cmp_test *t, const struct cmp_row *r)
{
	return arena_printf(v->a, "%s, %s", text_ascii(v->a, t->benchmark), view_phrase(v, t, r));
}

static void take_direction(struct review *rv, const struct comparison *c)
{
	struct review_fact *f = &rv->facts[REVIEW_DIRECTION];
	const char *last = "", *missing = f->state == REVIEW_MISSING ? f->text : "";
	size_t i, k, rows = 0, named = 0, unknown = 0;

	for (i = 0; i < c->n_tests; i++)
		for (k = 0; k < c->tests[i].n_rows; k++) {
			const struct cmp_row *r = &c->tests[i].rows[k];

			rows++;
			if (r->direction != DIR_UNKNOWN)
				continue;
			unknown++;
			if (!strcmp(last, r->metric) || named++ >= NAMED)
				continue;
			last = r->metric;
			missing = arena_printf(rv->a, "%s%s%s", missing, *missing ? ", " : "",
					       text_ascii(rv->a, last));
		}
	if (unknown)
		*f = (struct review_fact){
			REVIEW_MISSING,
			unknown == rows && named <= NAMED
				? missing
				: arena_printf(rv->a, "%s%s: %zu of %zu rows", missing,
					       named > NAMED ? ", ..." : "", unknown, rows)};
	else if (f->state == REVIEW_MISSING && !*f->text)
		*f = (struct review_fact){REVIEW_KNOWN, ""};
}

static void take_base(struct review *rv, const struct comparison *c)
{
	const struct cmp_variant *b = &c->variants[0];
	const char *s = *b->commit ? b->commit : *b->release ? b->release : b->build_id;

	if (rv->facts[REVIEW_BASE].state == REVIEW_MISSING && *s)
		state(rv, REVIEW_BASE, REVIEW_KNOWN, s);
}

static void take_name(struct review *rv, const struct comparison *c)
{
	size_t i, len;
	const char *at;

	for (i = 0; i < c->n_tests; i++) {
		const char *name = text_ascii(rv->a, c->tests[i].benchmark);

		len = strlen(name);
		for (at = rv->names; at && (at = strstr(at, name)); at += len)
			if ((at == rv->names || at[-1] == ' ') && (!at[len] || at[len] == ','))
				break;
		if (at || rv->benchmarks++ > 5)
			continue;
		rv->names = rv->names ? arena_printf(rv->a, "%s, %s", rv->names, name) : name;
	}
}

/* ---- lone cells ---- */

static void lone_rows(struct review *rv, const struct comparison *c, const struct view *v)
{
	struct view_lone l = {.distance = INFINITY};

	while (rv->lones.n < LONE_MOST && view_next_lone(v, l.distance, &l)) {
		const struct view_row *r = &l.table->rows[l.row];
		const struct cmp_cell *cell = &r->row->cells[l.variant];

		/* a column of different metrics says nothing of any of them */
		if (!l.table->metric)
			continue;
		*ARRAY_PUSH(&rv->lones) = (struct review_lone){
			true,
			text_ascii(rv->a, c->variants[l.variant].name),
			phrase(v, r->test, r->row),
			view_mean(rv->a, cell, 3),
			cell->has_change ? cell->change : NAN,
			l.low,
			l.high};
	}
}

struct change {
	double log;
	size_t row;
};

static int change_compare(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return (a->log > b->log) - (a->log < b->log);
}

/* One end of a column farther from the rest than the rest is wide. */
static void lone_column(struct review *rv, const struct comparison *c, const struct view *v,
			const struct view_table *t, size_t variant)
{
	struct change *x = arena_alloc_array(rv->a, t->n, sizeof(*x));
	size_t n = 0, i, at;

	for (i = 0; i < t->n; i++) {
		const struct cmp_cell *cell = &t->rows[i].row->cells[variant];

		if (cell->has_change && cell->change > -1)
			x[n++] = (struct change){log1p(cell->change), i};
	}
	if (n < LONE_CELLS)
		return;
	rv->wide = true;
	qsort(x, n, sizeof(*x), change_compare);
	for (at = 0; at < n && rv->lones.n < LONE_MOST; at += n - 1) {
		const struct change *low = &x[at ? 0 : 1], *high = &x[at ? n - 2 : n - 1];
		double gap = at ? x[at].log - high->log : low->log - x[at].log;
		const struct view_row *r = &t->rows[x[at].row];
		const struct cmp_cell *cell = &r->row->cells[variant];

		if (gap > LONE_LEAST && gap > high->log - low->log)
			*ARRAY_PUSH(&rv->lones) = (struct review_lone){
				false,
				text_ascii(rv->a, c->variants[variant].name),
				phrase(v, r->test, r->row),
				view_mean(rv->a, cell, 3),
				cell->change,
				expm1(low->log),
				expm1(high->log)};
	}
}

/* ---- spread ---- */

static void spread_take_cv(struct review_spread *s, double change, double base_cv, double cv,
			   numbers *cvs)
{
	double pooled = sqrt((base_cv * base_cv + cv * cv) / 2);
	size_t k;

	if (!isfinite(pooled))
		return;
	*ARRAY_PUSH(cvs) = base_cv;
	*ARRAY_PUSH(cvs) = cv;
	s->with_cv++;
	for (k = 0; k < REVIEW_SIDES; k++)
		s->seen[k] += change > 0 &&
			      change >= stats_detectable(pooled, (size_t)review_sides[k], 0.8, 0.05);
}

static void spread_limits(struct review_spread *s, const numbers *changes, const numbers *cvs)
{
	size_t k;

	s->typical = stats_median(changes->items, changes->n);
	for (k = 0; k < REVIEW_SIDES; k++) {
		size_t n = (size_t)review_sides[k];

		s->typical_cv[k] = stats_spread_to_detect(s->typical, n, 0.8, 0.05);
		s->smallest_cv[k] = stats_spread_to_detect(s->smallest, n, 0.8, 0.05);
	}
	s->cv_median = cvs->n ? stats_median(cvs->items, cvs->n) : NAN;
	s->cv_low = s->cv_high = s->cv_median;
	for (k = 0; k < cvs->n; k++) {
		s->cv_low = fmin(s->cv_low, cvs->items[k]);
		s->cv_high = fmax(s->cv_high, cvs->items[k]);
	}
}

static void take_spread(struct review *rv, const struct comparison *c, const struct view *v,
			const struct view_table *t)
{
	struct review_spread s = {.smallest = NAN, .tested = true};
	numbers changes = {NULL, 0, 0}, cvs = {NULL, 0, 0};
	size_t i, k;

	for (i = 0; i < t->n; i++)
		for (k = 1; k < c->n_variants; k++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];
			double change = claim(cell);

			if (isnan(change))
				continue;
			*ARRAY_PUSH(&changes) = change;
			s.marked += cell->source_mark;
			s.tested &= strcmp(cell->test.test, "none") != 0;
			if (cell->source_mark)
				s.smallest = fmin(s.smallest, change);
			spread_take_cv(&s, change, t->rows[i].row->cells[0].cv, cell->cv, &cvs);
		}
	if (changes.n) {
		s.changes = (int)changes.n;
		s.name = t->metric && view_is_one_of_many(v, t)
				 ? arena_printf(rv->a, "%s %s", t->benchmark,
						text_ascii(rv->a, comparison_metric_name(t->metric)))
				 : t->benchmark;
		if (*t->where)
			s.name = arena_printf(rv->a, "%s, %s", s.name, t->where);
		spread_limits(&s, &changes, &cvs);
		*ARRAY_PUSH(&rv->spreads) = s;
	}
	ARRAY_FREE(&changes);
	ARRAY_FREE(&cvs);
}

/* ---- marks and single runs ---- */

static void take_mark(struct review *rv, const struct comparison *c, const struct view *v,
		      const struct cmp_test *t, const struct cmp_row *r, const struct cmp_cell *cell)
{
	struct review_marks *m = &rv->marks;
	double change = claim(cell);
	bool real;

	if (isnan(change))
		return;
	m->changes++;
	m->marked += cell->source_mark;
	if (cell->source_mark && !(m->smallest <= change)) {
		m->smallest = change;
		m->where = phrase(v, t, r);
	}
	if (cell->values || !strcmp(cell->test.test, "none"))
		return;
	m->tested++;
	real = cell->p_adjusted <= c->q;
	m->held += cell->source_mark && real;
	if (!cell->source_mark && real && !m->more++)
		m->more_where = phrase(v, t, r);
	if (cell->source_mark && !real && !m->lost++)
		m->lost_where = phrase(v, t, r);
}

static void take_run(struct review *rv, const struct comparison *c, const struct view *v,
		     const struct cmp_test *t, const struct cmp_row *r, const struct cmp_cell *cell)
{
	const struct cmp_cell *base = &r->cells[0];

	if (!r->shown || !cell->values || !base->values)
		return;
	*ARRAY_PUSH(&rv->runs) = (struct review_run){
		phrase(v, t, r), text_ascii(rv->a, c->variants[cell->variant].name),
		text_ascii(rv->a, c->variants[0].name), cell->n, base->n, cell};
}

void review_add(struct review *rv, const struct comparison *c)
{
	struct view v;
	bool shown = false;
	size_t i, k, n, runs = rv->runs.n;

	view_init(&v, c, rv->a, 0);
	take_direction(rv, c);
	take_base(rv, c);
	take_name(rv, c);
	rv->q = c->q;
	lone_rows(rv, c, &v);
	for (i = 0; i < v.n; i++)
		shown |= v.tables[i].shown;
	for (i = 0; i < v.n; i++) {
		rv->wide |= c->n_variants >= 4 && v.tables[i].n >= 4 && v.tables[i].metric;
		for (k = 1; c->n_variants < 4 && v.tables[i].metric && k < c->n_variants; k++)
			lone_column(rv, c, &v, &v.tables[i], k);
		if (v.tables[i].shown == shown)
			take_spread(rv, c, &v, &v.tables[i]);
	}
	for (i = 0; i < c->n_tests; i++)
		for (n = 0; n < c->tests[i].n_rows; n++)
			for (k = 1; k < c->n_variants; k++) {
				const struct cmp_row *r = &c->tests[i].rows[n];

				take_mark(rv, c, &v, &c->tests[i], r, &r->cells[k]);
				take_run(rv, c, &v, &c->tests[i], r, &r->cells[k]);
			}
	if (rv->runs.n > runs)
		rv->tests = view_tests_text(c, rv->a);
	rv->marks.unfounded = rv->marks.marked && !rv->marks.tested;
}

void review_release(struct review *rv)
{
	ARRAY_FREE(&rv->lones);
	ARRAY_FREE(&rv->spreads);
	ARRAY_FREE(&rv->runs);
}
