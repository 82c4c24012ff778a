// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"

/* ---- columns ---- */

size_t view_columns(const struct comparison *c)
{
	return c->n_variants + c->n_contrasts;
}

const struct cmp_cell *view_cell(const struct comparison *c, const struct view_row *r,
				 size_t column)
{
	return column < c->n_variants ? &r->row->cells[column]
				      : &r->row->contrasts[column - c->n_variants];
}

const char *view_column_name(const struct comparison *c, struct arena *a, size_t column)
{
	const struct cmp_contrast *k;

	if (column < c->n_variants)
		return c->variants[column].id;
	k = &c->contrasts[column - c->n_variants];
	return arena_printf(a, "%s/%s", c->variants[k->top].id, c->variants[k->bottom].id);
}

/* ---- rows and tables ---- */

static bool is_number(const char *s, double *v)
{
	return num_parse(span_of(s), v);
}

static const char *param_of(const struct cmp_test *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_swept; i++)
		if (!strcmp(t->swept[i].name, name))
			return t->swept[i].value;
	return NULL;
}

/* "numa 0&1" speaks for itself, "bind=node0" and "mode=process" need their name. */
static const char *param_text(struct arena *a, const struct cmp_param *p)
{
	if (strchr(p->value, ' '))
		return text_ascii(a, p->value);
	return text_ascii(a, arena_printf(a, "%s=%s", p->name, p->value));
}

/* Number of different values of a swept parameter, 0 if a test lacks it or it is no number. */
static size_t param_values(const struct comparison *c, const char *benchmark, const char *name,
			   bool numeric)
{
	const char **seen = arena_alloc_array(c->arena, c->n_tests, sizeof(*seen));
	size_t i, k, n = 0;
	double v;

	for (i = 0; i < c->n_tests; i++) {
		const char *value;

		if (strcmp(c->tests[i].benchmark, benchmark))
			continue;
		value = param_of(&c->tests[i], name);
		if (!value || (numeric && !is_number(value, &v)))
			return 0;
		for (k = 0; k < n && strcmp(seen[k], value); k++)
			;
		if (k == n)
			seen[n++] = value;
	}
	return n;
}

/* The swept parameter that runs down the table: numeric with most values, else the one with most.
 */
static const char *axis_of(const struct comparison *c, const struct cmp_test *first)
{
	const char *best = NULL;
	size_t i, n, most = 1;
	int numeric;

	for (numeric = 1; numeric >= 0 && !best; numeric--) {
		for (i = 0; i < first->n_swept; i++) {
			n = param_values(c, first->benchmark, first->swept[i].name, numeric);
			if (n > most) {
				most = n;
				best = first->swept[i].name;
			}
		}
	}
	return best;
}

static const char *where_of(struct arena *a, const struct cmp_test *t, const char *axis)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < t->n_swept; i++) {
		if (axis && !strcmp(t->swept[i].name, axis))
			continue;
		strbuf_addf(&sb, "%s%s", sb.len ? ", " : "", param_text(a, &t->swept[i]));
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/* What tells a case from its siblings where no parameter does: its name without the benchmark. */
static const char *case_label(const struct cmp_test *t)
{
	const char *slash = strchr(t->name, '/');

	return slash && slash[1] ? slash + 1 : t->name;
}

struct view_shape {
	const char *benchmark;
	const char *axis;		 /* NULL: none */
	size_t cases, metrics, counters; /* most of a case: shown without --counters, others */
	bool by_metric; /* no metric stands in two cases: the metrics are the rows */
};

static const struct view_shape *view_find_shape(const struct view *v, const char *benchmark)
{
	const struct view_shape *s = v->shapes;

	while (strcmp(s->benchmark, benchmark))
		s++;
	return s;
}

/* Whether every shown metric of a benchmark stands in one case only. */
static bool metrics_stand_alone(const struct comparison *c, const char *benchmark)
{
	size_t i, k, r, s;

	for (i = 0; i < c->n_tests; i++) {
		for (k = i + 1; k < c->n_tests && !strcmp(c->tests[i].benchmark, benchmark); k++) {
			if (strcmp(c->tests[k].benchmark, benchmark))
				continue;
			for (r = 0; r < c->tests[i].n_rows; r++)
				for (s = 0; s < c->tests[k].n_rows; s++)
					if (c->tests[i].rows[r].shown &&
					    c->tests[k].rows[s].shown &&
					    !strcmp(c->tests[i].rows[r].metric,
						    c->tests[k].rows[s].metric))
						return false;
		}
	}
	return true;
}

static void view_add_shape(struct view *v, const struct cmp_test *t)
{
	struct view_shape *s = v->shapes;
	size_t r, n = 0;

	for (; s < v->shapes + v->n_shapes && strcmp(s->benchmark, t->benchmark); s++)
		;
	if (s == v->shapes + v->n_shapes) {
		*s = (struct view_shape){t->benchmark, axis_of(v->c, t), 0, 0, 0, false};
		v->n_shapes++;
	}
	for (r = 0; r < t->n_rows; r++)
		n += t->rows[r].shown;
	s->cases++;
	s->metrics = MAX(s->metrics, n);
	s->counters = MAX(s->counters, t->n_rows - n);
	s->by_metric = s->metrics > 1 && metrics_stand_alone(v->c, t->benchmark);
}

static struct view_table *table_find(struct view *v, const struct view_table *like)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		struct view_table *t = &v->tables[i];

		if (!strcmp(t->benchmark, like->benchmark) && !strcmp(t->where, like->where) &&
		    t->shown == like->shown && !t->metric == !like->metric &&
		    (!t->metric || !strcmp(t->metric->metric, like->metric->metric)))
			return t;
	}
	v->tables[v->n] = *like;
	return &v->tables[v->n++];
}

static void table_add(struct view *v, const struct view_table *like, const struct cmp_test *test,
		      const struct cmp_row *row, const char *label)
{
	struct view_table *t = table_find(v, like);
	struct view_row *r;

	if (!t->rows) {
		t->rows = arena_alloc_array(v->a, v->c->n_tests + test->n_rows, sizeof(*t->rows));
		t->unit = row->unit;
	}
	if (t->unit && strcmp(t->unit, row->unit))
		t->unit = NULL;
	r = &t->rows[t->n++];
	*r = (struct view_row){test, row, text_ascii(v->a, label), NAN};
	is_number(label, &r->axis);
}

/*
 * One test case, or many counters: the metrics are the rows. Several cases: one table per metric
 * and combination of the parameters that are not the axis.
 */
static void view_add_row(struct view *v, const struct cmp_test *test, const struct cmp_row *row)
{
	const struct view_shape *s = view_find_shape(v, test->benchmark);
	bool by_metric = row->shown ? s->by_metric : s->counters > s->cases;
	struct view_table like = {
		.benchmark = text_ascii(v->a, test->benchmark),
		.shown = row->shown,
		.metric = by_metric ? NULL : row,
		.axis = "",
	};
	const char *value = s->axis ? param_of(test, s->axis) : NULL;

	if (by_metric) {
		like.where = where_of(v->a, test, NULL);
		table_add(v, &like, test, row, comparison_metric_name(row));
	} else if (value) {
		like.where = where_of(v->a, test, s->axis);
		like.axis = text_ascii(v->a, s->axis);
		table_add(v, &like, test, row, value);
	} else {
		like.where = s->cases == 1 ? where_of(v->a, test, NULL) : "";
		table_add(v, &like, test, row,
			  s->cases == 1 ? comparison_metric_name(row) : case_label(test));
	}
}

static int row_compare(const void *x, const void *y)
{
	const struct view_row *a = x, *b = y;

	return (a->axis > b->axis) - (a->axis < b->axis);
}

static void table_sort(struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (isnan(t->rows[i].axis))
			return;
	qsort(t->rows, t->n, sizeof(*t->rows), row_compare);
}

/*
 * High load begins where doubling the axis gives less than 5/3 of the baseline's throughput: the
 * machine is no longer idle enough to scale.
 */
static size_t split_auto(const struct view_table *t)
{
	size_t i;

	if (t->n < 6 || !t->metric || t->metric->direction != DIR_HIGHER)
		return 0;
	for (i = 1; i < t->n; i++) {
		const struct cmp_cell *now = &t->rows[i].row->cells[0];
		const struct cmp_cell *before = &t->rows[i - 1].row->cells[0];
		double steps = log2(t->rows[i].axis / t->rows[i - 1].axis);

		if (!now->has_mean || !before->has_mean || !(steps > 0) || before->mean <= 0)
			return 0;
		if (now->mean / before->mean < pow(5.0 / 3, steps))
			return i >= 2 && t->n - i >= 2 ? i : 0;
	}
	return 0;
}

static size_t split_at(const struct view_table *t, double value)
{
	size_t i;

	for (i = 1; i < t->n; i++)
		if (t->rows[i].axis >= value)
			return t->rows[i - 1].axis < value ? i : 0;
	return 0;
}

static void view_split(struct view *v, double asked)
{
	double value = asked;
	const char *last = "";
	size_t i;

	for (i = 0; i < v->n; i++) {
		struct view_table *t = &v->tables[i];

		if (!t->n || isnan(t->rows[0].axis))
			continue;
		if (asked <= 0 && strcmp(last, t->benchmark)) {
			size_t at = split_auto(t);

			last = t->benchmark;
			value = at ? t->rows[at].axis : 0;
		}
		t->split = value > 0 ? split_at(t, value) : 0;
	}
}

void view_init(struct view *v, const struct comparison *c, struct arena *a, double split)
{
	size_t i, r, rows = 0;
	int shown;

	for (i = 0; i < c->n_tests; i++)
		rows += c->tests[i].n_rows;
	*v = (struct view){.c = c, .a = a};
	v->tables = arena_alloc_array(a, rows, sizeof(*v->tables));
	v->shapes = arena_alloc_array(a, c->n_tests, sizeof(*v->shapes));
	for (i = 0; i < c->n_tests; i++)
		view_add_shape(v, &c->tests[i]);
	for (shown = 1; shown >= 0; shown--)
		for (i = 0; i < c->n_tests; i++)
			for (r = 0; r < c->tests[i].n_rows; r++)
				if (c->tests[i].rows[r].shown == shown)
					view_add_row(v, &c->tests[i], &c->tests[i].rows[r]);
	for (i = 0; i < v->n; i++)
		table_sort(&v->tables[i]);
	view_split(v, split);
}

/* "64 clients", "1 client", "mode=process", "numa 0&1" */
static const char *param_phrase(struct arena *a, const struct cmp_param *p)
{
	size_t len = strlen(p->name);
	double v;

	if (!is_number(p->value, &v) || !len || p->name[len - 1] != 's')
		return param_text(a, p);
	return text_ascii(
		a, arena_printf(a, "%s %.*s", p->value, (int)(v == 1 ? len - 1 : len), p->name));
}

bool view_is_one_of_many(const struct view *v, const struct view_table *t)
{
	size_t i;

	for (i = 0; t->metric && i < v->n; i++)
		if (v->tables[i].metric && !strcmp(v->tables[i].benchmark, t->benchmark) &&
		    strcmp(v->tables[i].metric->metric, t->metric->metric))
			return true;
	return false;
}

const char *view_phrase(const struct view *v, const struct cmp_test *t, const struct cmp_row *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct view_shape *s = view_find_shape(v, t->benchmark);
	size_t i;

	if (s->metrics > 1 || !r->shown)
		strbuf_adds(&sb, text_ascii(v->a, comparison_metric_name(r)));
	for (i = 0; i < t->n_swept; i++)
		if (param_values(v->c, t->benchmark, t->swept[i].name, false) != 1)
			strbuf_addf(&sb, "%s%s", sb.len ? ", " : "",
				    param_phrase(v->a, &t->swept[i]));
	if (!sb.len && s->cases > 1)
		strbuf_adds(&sb, text_ascii(v->a, case_label(t)));
	if (!sb.len)
		strbuf_adds(&sb, text_ascii(v->a, comparison_metric_name(r)));
	return arena_strdup(v->a, strbuf_str(&sb));
}

/* ---- figures over rows ---- */

/* Of the means where there are, so that rounded percentages do not add up. */
static double view_ratio(const struct comparison *c, const struct view_row *r, size_t column)
{
	const struct cmp_cell *cell = view_cell(c, r, column);
	size_t bottom =
		column < c->n_variants ? 0 : (size_t)c->contrasts[column - c->n_variants].bottom;
	const struct cmp_cell *base = &r->row->cells[bottom];

	if (cell->has_mean && base->has_mean && base->mean > 0)
		return cell->mean / base->mean;
	return 1 + cell->change;
}

double view_gmean(const struct comparison *c, const struct view_table *t, size_t column,
		  size_t from, size_t to)
{
	double *ratio = arena_alloc_array(c->arena, t->n, sizeof(*ratio));
	size_t i, n = 0;

	for (i = from; i < to; i++) {
		const struct cmp_cell *cell = view_cell(c, &t->rows[i], column);

		if (cell->has_change)
			ratio[n++] = view_ratio(c, &t->rows[i], column);
	}
	return stats_gmean(ratio, n) - 1;
}

int view_worst(const struct comparison *c, const struct view_table *t, size_t column)
{
	double worst = INFINITY;
	int at = -1;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct cmp_cell *cell = view_cell(c, &t->rows[i], column);
		double o = cell->has_change
				   ? comparison_orient(t->rows[i].row->direction, cell->change)
				   : NAN;

		if (o < worst) {
			worst = o;
			at = (int)i;
		}
	}
	return at;
}

const char *view_range(struct arena *a, const struct view_table *t, size_t from, size_t to)
{
	if (to - from < 2)
		return t->rows[from].label;
	return arena_printf(a, "%s-%s", t->rows[from].label, t->rows[to - 1].label);
}

/* Distance of a cell from the middle of its row, as a log ratio. */
static double row_deviation(const struct comparison *c, const struct view_row *r, size_t variant)
{
	double *x = arena_alloc_array(c->arena, c->n_variants, sizeof(*x));
	size_t i, n = 0;

	for (i = 0; i < c->n_variants; i++)
		if (r->row->cells[i].has_mean && r->row->cells[i].mean > 0)
			x[n++] = r->row->cells[i].mean;
	if (n < 4 || !r->row->cells[variant].has_mean || r->row->cells[variant].mean <= 0)
		return NAN;
	return log(r->row->cells[variant].mean / stats_median(x, n));
}

static double column_deviation(const struct comparison *c, const struct view_table *t,
			       size_t variant)
{
	double *x = arena_alloc_array(c->arena, t->n, sizeof(*x));
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		double d = row_deviation(c, &t->rows[i], variant);

		if (!isnan(d))
			x[n++] = d;
	}
	return n >= 4 ? stats_median(x, n) : NAN;
}

/* Nearer to its own column than this is no reason to look. */
#define LONE_LEAST 0.10

static bool lone_check(const struct comparison *c, const struct view_table *t, size_t row,
		       size_t variant, struct view_lone *lone)
{
	const struct cmp_cell *cells = t->rows[row].row->cells;
	double mean = cells[variant].mean, gap;
	size_t i;

	*lone = (struct view_lone){t, row, (int)variant, INFINITY, -INFINITY, 0};
	for (i = 0; i < c->n_variants; i++) {
		if (i == variant || !cells[i].has_mean)
			continue;
		lone->low = fmin(lone->low, cells[i].mean);
		lone->high = fmax(lone->high, cells[i].mean);
	}
	gap = mean < lone->low ? lone->low - mean : mean - lone->high;
	return gap > lone->high - lone->low;
}

bool view_next_lone(const struct view *v, double below, struct view_lone *lone)
{
	double most = LONE_LEAST;
	bool found = false;
	size_t k, i, var;

	for (k = 0; k < v->n; k++) {
		const struct view_table *t = &v->tables[k];

		for (var = 0; var < v->c->n_variants; var++) {
			double middle = column_deviation(v->c, t, var);

			for (i = 0; i < t->n; i++) {
				double d = fabs(row_deviation(v->c, &t->rows[i], var) - middle);
				struct view_lone l;

				if (!(d > most && d < below) || !lone_check(v->c, t, i, var, &l))
					continue;
				most = l.distance = d;
				*lone = l;
				found = true;
			}
		}
	}
	return found;
}

bool view_find_lone(const struct view *v, struct view_lone *lone)
{
	return view_next_lone(v, INFINITY, lone);
}

/* ---- cells ---- */

static double rounded(double v, int decimals)
{
	double scale = pow(10, decimals);

	return round(v * scale) / scale;
}

static bool decimals_agree(const struct view *v, const struct view_table *t, int decimals)
{
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		double base = rounded(t->rows[i].row->cells[0].mean, decimals);

		for (k = 1; k < v->c->n_variants; k++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];

			if (!cell->has_change || cell->published)
				continue;
			if (strcmp(text_percent(v->a, rounded(cell->mean, decimals) / base - 1, ""),
				   text_percent(v->a, cell->change, "")))
				return false;
		}
	}
	return true;
}

int view_decimals(const struct view *v, const struct view_table *t)
{
	double least = INFINITY, most = 0;
	int decimals;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < v->c->n_variants; k++) {
			double mean = fabs(t->rows[i].row->cells[k].mean);

			if (!t->rows[i].row->cells[k].has_mean || !(mean > 0))
				continue;
			least = fmin(least, mean);
			most = fmax(most, mean);
		}
	}
	if (!isfinite(least))
		return 2;
	/* as the values were measured, but not more than seven digits of the largest */
	decimals = MIN(view_value_decimals(v, t), 6 - (int)floor(log10(most)));
	decimals = MAX(MAX(0, decimals), 4 - (int)floor(log10(least)));
	while (decimals < 12 && !decimals_agree(v, t, decimals))
		decimals++;
	return MIN(decimals, 15);
}

static int value_decimals(double v)
{
	int d;

	for (d = 0; d < 6 && fabs(rounded(v, d) - v) > 1e-9 * fmax(1, fabs(v)); d++)
		;
	return d;
}

int view_value_decimals(const struct view *v, const struct view_table *t)
{
	int decimals = 0, j;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < v->c->n_variants; k++) {
			const struct cmp_cell *cell = &t->rows[i].row->cells[k];

			for (j = 0; cell->values && j < cell->n; j++)
				decimals = MAX(decimals, value_decimals(cell->values[j]));
		}
	}
	return decimals;
}

int view_row_decimals(const struct view *v, const struct cmp_row *row)
{
	size_t i, k;

	for (i = 0; i < v->n; i++)
		for (k = 0; k < v->tables[i].n; k++)
			if (v->tables[i].rows[k].row == row)
				return view_decimals(v, &v->tables[i]);
	return 3;
}

const char *view_mean(struct arena *a, const struct cmp_cell *cell, int decimals)
{
	if (!cell->has_mean)
		return NULL;
	return cell->mean_text ? text_ascii(a, cell->mean_text)
			       : text_number(a, cell->mean, decimals);
}

const char *view_difference(struct arena *a, const struct cmp_row *row, double v)
{
	const char *unit = text_ascii(a, row->unit);

	return arena_printf(a, "%+.4g%s%s", v, *unit ? " " : "", unit);
}

const char *view_change(struct arena *a, const struct cmp_row *row, const struct cmp_cell *cell,
			const char *suffix)
{
	if (cell->has_change)
		return text_percent(a, cell->change, suffix);
	return comparison_is_difference(cell) ? view_difference(a, row, cell->test.change) : "-";
}

const char *view_interval(struct arena *a, const struct cmp_cell *cell)
{
	const struct test_result *t = &cell->test;

	if (!isfinite(t->low) || !isfinite(t->high))
		return "";
	if (comparison_is_difference(cell))
		return arena_printf(a, "%+.4g, %+.4g", t->low, t->high);
	return arena_printf(a, "%s, %s", text_percent(a, t->low, ""), text_percent(a, t->high, ""));
}

enum text_color view_color(const struct cmp_cell *cell)
{
	switch (cell->verdict) {
	case VERDICT_BETTER:
		return COLOR_GREEN;
	case VERDICT_WORSE:
		return COLOR_RED;
	case VERDICT_UNSURE:
		return COLOR_YELLOW;
	case VERDICT_FAILED:
	case VERDICT_MISSING:
		return COLOR_MAGENTA;
	default:
		return COLOR_NONE;
	}
}

const char *view_unit(const char *unit)
{
	return strcmp(unit, "s") ? unit : "seconds";
}

const char *view_direction(enum direction d)
{
	static const char *const words[] = {
		[DIR_HIGHER] = "higher is better",
		[DIR_LOWER] = "lower is better",
		[DIR_NEUTRAL] = "neither direction is better",
		[DIR_DEPENDS] = "which direction is better depends on the load",
		[DIR_UNKNOWN] = "which direction is better is not known",
	};

	return words[d];
}

const char *view_names(const struct comparison *c, struct arena *a, const bool *set)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i, n = 0, k = 0;

	for (i = 0; i < c->n_variants; i++)
		n += set[i];
	for (i = 0; i < c->n_variants; i++) {
		if (!set[i])
			continue;
		strbuf_addf(&sb, "%s%s", !k ? "" : k + 1 == n ? " and " : ", ", c->variants[i].id);
		k++;
	}
	return arena_strdup(a, strbuf_str(&sb));
}

const char *view_unit_word(const struct comparison *c, bool plural)
{
	if (c->paired)
		return plural ? "pairs" : "pair";
	if (!strcmp(c->unit, "boot"))
		return plural ? "boots" : "boot";
	return plural ? "runs" : "run";
}

const char *view_a_side(const struct comparison *c)
{
	return c->paired ? "" : " a side";
}

/* n of a variant where all its cells have the same, else 0; events count runs of their own. */
static int variant_units(const struct comparison *c, size_t variant)
{
	int n = -1;
	size_t t, r;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++) {
			const struct cmp_row *row = &c->tests[t].rows[r];

			if (row->events)
				continue;
			if (n >= 0 && row->cells[variant].n != n)
				return 0;
			n = row->cells[variant].n;
		}
	return MAX(n, 0);
}

const char *view_units_text(const struct comparison *c, struct arena *a)
{
	int low, high, na = variant_units(c, 0), nb = variant_units(c, 1);

	view_units_range(c, &low, &high);
	if (!high)
		return "";
	if (low == high)
		return arena_printf(a, "%d %s", low, view_unit_word(c, low != 1));
	if (c->n_variants == 2 && na && nb)
		return arena_printf(a, "%d %s of A and %d of B", na, view_unit_word(c, na != 1),
				    nb);
	return arena_printf(a, "%d to %d %s", low, high, view_unit_word(c, true));
}

void view_units_range(const struct comparison *c, int *low, int *high)
{
	size_t t, r, i;

	*low = *high = 0;
	for (t = 0; t < c->n_tests; t++) {
		for (r = 0; r < c->tests[t].n_rows; r++) {
			for (i = 0; i < c->n_variants; i++) {
				const struct cmp_row *row = &c->tests[t].rows[r];
				int n = row->cells[i].n;

				if (!n || row->events)
					continue;
				*low = *low ? MIN(*low, n) : n;
				*high = MAX(*high, n);
			}
		}
	}
}

const char *view_tests_text(const struct comparison *c, struct arena *a)
{
	const struct {
		const char *test, *words;
	} tests[] = {
		{"mw", "exact rank test"},
		{"sr", "exact signed-rank test of pairs"},
		{"modt", c->paired ? "moderated t-test of pairs" : "moderated t-test"},
		{"welch", "Welch's t-test"},
		{"det", "differences by seed"},
	};
	const char *text = "";
	size_t k, t, r, i;

	for (k = 0; k < ARRAY_SIZE(tests); k++) {
		bool used = false;

		for (t = 0; t < c->n_tests; t++)
			for (r = 0; r < c->tests[t].n_rows; r++)
				for (i = 1; c->tests[t].rows[r].shown && i < c->n_variants; i++)
					used |= str_equal(c->tests[t].rows[r].cells[i].test.test,
							  tests[k].test);
		if (used)
			text = arena_printf(a, "%s%s%s", text, *text ? " or " : "", tests[k].words);
	}
	return text;
}
