// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values inside runs over time, one panel per test case and metric, one line per run: warm-up,
 * drift, stalls. For diagnosis only, they are never tested as if independent.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/panel.h"

struct line {
	const struct cmp_test *test;
	const struct cmp_run *run;
	const char *metric, *unit;
	enum direction direction;
	const struct db_value *points; /* by time */
	size_t n;
};

struct lines {
	struct line *items; /* by test case, metric, run */
	size_t n, alloc;
	int runs; /* looked at */
};

/* ---- database -> lines ---- */

static const struct db_metric *metric_of(const struct db_metric *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static bool metric_wanted(const struct plot_options *opt, const struct cmp_test *t,
			  const char *metric)
{
	const struct cmp_row named = {.metric = metric, .headline = true};

	return opt->run || !opt->only || comparison_explains(t, &named, opt->only);
}

static int read_run(struct db *db, struct arena *a, const struct cmp_test *t,
		    const struct cmp_run *run, const struct plot_options *opt,
		    const struct db_metric *metrics, size_t n_metrics, struct lines *lines,
		    struct err *e)
{
	struct db_value *v;
	size_t n, i, to;
	int r = db_get_series(db, a, run->id, &v, &n, e);

	for (i = 0; !r && i < n; i = to) {
		const struct db_metric *m = metric_of(metrics, n_metrics, v[i].metric);

		for (to = i; to < n && !strcmp(v[to].metric, v[i].metric); to++)
			;
		if (metric_wanted(opt, t, v[i].metric))
			*ARRAY_PUSH(lines) = (struct line){t,
							   run,
							   v[i].metric,
							   v[i].unit,
							   m ? m->direction : DIR_UNKNOWN,
							   &v[i],
							   to - i};
	}
	return r;
}

static int series_read(struct db *db, const struct comparison *c, const struct plot_options *opt,
		       void **data, struct err *e)
{
	struct lines lines = {NULL, 0, 0, 0}, *kept;
	struct db_metric *metrics;
	size_t n, t, i;
	int r = db_get_metrics(db, c->arena, &metrics, &n, e);

	for (t = 0; !r && t < c->n_tests; t++) {
		const struct cmp_test *test = &c->tests[t];

		for (i = 0; !r && i < test->n_runs; i++) {
			const struct cmp_run *run = &test->runs[i];

			/* of all runs only those whose values count; a run asked for in any case */
			if (opt->run ? run->id != opt->run : strcmp(run->outcome, "ok") != 0)
				continue;
			lines.runs++;
			r = read_run(db, c->arena, test, run, opt, metrics, n, &lines, e);
		}
	}
	if (!r && opt->run && !lines.runs) {
		r = err_add(e, -ENOENT, "run %" PRId64 " is none of this comparison", opt->run);
		err_hint(e, "-c CAMPAIGN takes its campaign; `kdelta show CAMPAIGN` lists runs");
	}
	kept = arena_copy(c->arena, &lines, 1, sizeof(lines));
	kept->items = arena_copy(c->arena, lines.items, lines.n, sizeof(*lines.items));
	ARRAY_FREE(&lines);
	*data = kept;
	return r;
}

/* ---- lines -> panels ---- */

static bool same_panel(const struct line *x, const struct line *y)
{
	return x->test == y->test && !strcmp(x->metric, y->metric);
}

/* So many points at most are drawn as such. */
enum { FEW_POINTS = 100 };

static void draw_line(struct plot *p, struct panel *n, const struct line *l, double *low)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	size_t i, variant = (size_t)l->run->variant;

	for (i = 0; i < l->n; i++) {
		*low = fmin(*low, l->points[i].value);
		plot_number(&lines, l->points[i].t);
		plot_number(&lines, l->points[i].value);
		strbuf_addc(&lines, '\n');
	}
	if (plot_is_text(p))
		panel_draw(p, n, &lines, "using 1:2 with points", plot_style(p, variant, true));
	else
		panel_draw(
			p, n, &lines,
			l->n > FEW_POINTS ? "using 1:2 with lines" : "using 1:2 with linespoints",
			l->n > FEW_POINTS ? arena_printf(p->a, "lc rgb '%s'", plot_color(variant))
					  : plot_style(p, variant, true));
	plot_key(p, variant);
}

static void draw_panel(struct plot *p, const struct lines *lines, size_t first)
{
	const struct line *l = &lines->items[first];
	const struct cmp_row named = {.metric = l->metric};
	struct panel *n = panel_new(
		p, arena_printf(p->a, "%s %s", l->test->name, comparison_metric_name(&named)));
	double low = INFINITY;
	size_t i;

	if (!n)
		return;
	n->xlabel = "seconds since the start of the run";
	n->ylabel = plot_axis_words(p, l->unit, l->direction);
	for (i = first; i < lines->n; i++)
		if (same_panel(l, &lines->items[i]))
			draw_line(p, n, &lines->items[i], &low);
	if (low >= 0)
		panel_set(n, "yrange [0:*]");
}

static void series_draw(struct plot *p)
{
	const struct lines *lines = p->data;
	size_t i, k;

	for (i = 0; i < lines->n; i++) {
		for (k = 0; k < i && !same_panel(&lines->items[k], &lines->items[i]); k++)
			;
		if (k == i)
			draw_panel(p, lines, i);
	}
	if (p->opt->run && lines->n)
		p->title = arena_printf(p->a, "run %" PRId64 ": %s, %s", p->opt->run,
					lines->items[0].test->name,
					p->c->variants[lines->items[0].run->variant].name);
	plot_note(p, "%s is one run; values inside a run are for diagnosis and are never tested.",
		  plot_is_text(p) ? "Each curve" : "Each line");
}

static const struct plot_kind series = {
	.name = "series",
	.summary = "values inside runs over time (--run ID, or all runs; --only picks)",
	.read = series_read,
	.draw = series_draw,
	.nothing = "none of these runs has values inside it",
};
REGISTER(plot_kind, series);
