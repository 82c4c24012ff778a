// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Curves through the percentiles of a latency: schbench.wakeup.p50, .p90, .p99, .p99.9. The axis
 * gives every nine the same room. A bar spans the smallest and the largest unit.
 */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "reports/panel.h"

/* "wakeup.p99.9" -> 99.9, and the length of "wakeup"; false where it is no percentile below 100 */
static bool percentile_of(const char *metric, double *value, size_t *prefix)
{
	const char *at;

	for (at = strstr(metric, ".p"); at; at = strstr(at + 1, ".p")) {
		if (!num_parse(span_of(at + 2), value) || *value < 0 || *value >= 100)
			continue;
		*prefix = (size_t)(at - metric);
		return true;
	}
	return false;
}

static bool same_curve(const struct cmp_row *x, const struct cmp_row *y)
{
	double v;
	size_t nx, ny;

	return percentile_of(x->metric, &v, &nx) && percentile_of(y->metric, &v, &ny) && nx == ny &&
	       !strncmp(x->metric, y->metric, nx) && !strcmp(x->unit, y->unit);
}

/* Whether row i is the first of its curve, and how many points that has. */
static size_t curve_points(const struct cmp_test *t, size_t i)
{
	size_t k, n = 0;

	for (k = 0; k < t->n_rows; k++) {
		if (!same_curve(&t->rows[i], &t->rows[k]))
			continue;
		if (k < i)
			return 0;
		n++;
	}
	return n;
}

static double nines(double percentile)
{
	return -log10(1 - percentile / 100);
}

struct curve {
	const struct cmp_row **rows; /* by percentile */
	double *at;
	size_t n;
};

static struct curve curve_take(struct plot *p, const struct cmp_test *t, size_t first)
{
	struct curve c = {arena_alloc_array(p->a, t->n_rows, sizeof(*c.rows)),
			  arena_alloc_array(p->a, t->n_rows, sizeof(*c.at)), 0};
	size_t i, k, prefix;

	for (i = first; i < t->n_rows; i++) {
		double v;

		if (!same_curve(&t->rows[first], &t->rows[i]) ||
		    !percentile_of(t->rows[i].metric, &v, &prefix))
			continue;
		for (k = c.n++; k && c.at[k - 1] > v; k--) {
			c.at[k] = c.at[k - 1];
			c.rows[k] = c.rows[k - 1];
		}
		c.at[k] = v;
		c.rows[k] = &t->rows[i];
	}
	return c;
}

static void add_range(const struct cmp_cell *cell, double x, struct strbuf *lines)
{
	double low = INFINITY, high = -INFINITY;
	int i;

	for (i = 0; cell->values && i < cell->n; i++) {
		low = fmin(low, cell->values[i]);
		high = fmax(high, cell->values[i]);
	}
	if (low > high || !cell->has_mean)
		return;
	plot_number(lines, x);
	plot_number(lines, cell->mean);
	plot_number(lines, low);
	plot_number(lines, high);
	strbuf_addc(lines, '\n');
}

static void draw_variant(struct plot *p, struct panel *n, const struct curve *c, size_t variant)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT, ranges = STRBUF_INIT;
	double shift = 0.03 * ((double)variant - ((double)p->c->n_variants - 1) / 2);
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct cmp_cell *cell = &c->rows[i]->cells[variant];
		double x = nines(c->at[i]) + (plot_is_text(p) ? 0 : shift);

		if (!cell->has_mean)
			continue;
		plot_number(&lines, x);
		plot_number(&lines, cell->mean);
		strbuf_addc(&lines, '\n');
		add_range(cell, x, &ranges);
	}
	if (!plot_is_text(p))
		panel_draw(p, n, &ranges, "using 1:2:3:4 with yerrorbars",
			   arena_printf(p->a, "pt 0 lc rgb '%s'", plot_color(variant)));
	panel_draw(p, n, &lines, plot_curve(p), plot_style(p, variant, true));
	plot_key(p, variant);
}

static void draw_axes(struct plot *p, struct panel *n, const struct curve *c)
{
	_cleanup_strbuf_ struct strbuf tics = STRBUF_INIT;
	double low = INFINITY, high = -INFINITY;
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		strbuf_addf(&tics, "%s'%g' %.6g", i ? ", " : "", c->at[i], nines(c->at[i]));
		for (k = 0; k < p->c->n_variants; k++) {
			if (!c->rows[i]->cells[k].has_mean)
				continue;
			low = fmin(low, c->rows[i]->cells[k].mean);
			high = fmax(high, c->rows[i]->cells[k].mean);
		}
	}
	panel_set(n, "xtics (%s)", strbuf_str(&tics));
	panel_set(n, "xrange [%.4g:%.4g]", nines(c->at[0]) - 0.2, nines(c->at[c->n - 1]) + 0.2);
	panel_scale(n, low, high);
	n->xlabel = "percentile";
	n->ylabel = plot_axis_words(p, c->rows[0]->unit, c->rows[0]->direction);
}

static void draw_curve(struct plot *p, const struct cmp_test *t, size_t first)
{
	struct curve c = curve_take(p, t, first);
	size_t k, prefix;
	double v;
	const char *metric = comparison_metric_name(&t->rows[first]);
	struct panel *n;

	percentile_of(metric, &v, &prefix);
	n = panel_new(p, arena_printf(p->a, "%s %s", t->name, arena_strndup(p->a, metric, prefix)));
	if (!n)
		return;
	draw_axes(p, n, &c);
	for (k = 0; k < p->c->n_variants; k++)
		draw_variant(p, n, &c, k);
	panel_drop_empty(p);
}

static bool curve_wanted(const struct plot *p, const struct cmp_test *t, size_t first)
{
	size_t k;

	for (k = first; k < t->n_rows; k++)
		if (same_curve(&t->rows[first], &t->rows[k]) &&
		    (!p->opt->only || plot_wants(p, t, &t->rows[k])))
			return true;
	return false;
}

static void percentiles_draw(struct plot *p)
{
	size_t t, i;

	for (t = 0; t < p->c->n_tests; t++)
		for (i = 0; i < p->c->tests[t].n_rows; i++)
			if (curve_points(&p->c->tests[t], i) > 1 &&
			    curve_wanted(p, &p->c->tests[t], i))
				draw_curve(p, &p->c->tests[t], i);
	plot_note(p, "Points: each metric's mean or median over the %s%s.",
		  view_unit_word(p->c, true),
		  plot_is_text(p) ? "" : "; bars span the smallest and the largest");
}

/* Where every headline is a percentile of a curve with three points at least. */
static bool percentiles_fits(const struct comparison *c)
{
	bool any = false;
	size_t t, i, prefix;
	double v;

	for (t = 0; t < c->n_tests; t++) {
		for (i = 0; i < c->tests[t].n_rows; i++) {
			const struct cmp_row *row = &c->tests[t].rows[i];

			if (row->headline && strcmp(row->unit, "req/s") &&
			    !percentile_of(row->metric, &v, &prefix))
				return false;
			any |= curve_points(&c->tests[t], i) > 2;
		}
	}
	return any;
}

static const struct plot_kind percentiles = {
	.name = "percentiles",
	.summary = "curves through p50, p90, p99, p99.9 of latencies",
	.rank = 3,
	.fits = percentiles_fits,
	.draw = percentiles_draw,
	.nothing = "no test case has several percentiles (NAME.p50, NAME.p99) of one latency",
};
REGISTER(plot_kind, percentiles);
