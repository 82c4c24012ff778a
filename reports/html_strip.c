// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The picture of all changes: for each shown row and each other variant a line with its interval
 * and a mark. Places are percentages, so that it fits every width without being distorted;
 * verdicts differ by shape, colour and word.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html.h"

/* ---- shapes ---- */

/* Around 0,0; classes give colours: filled by `fill`, hollow by `stroke`. */
static const struct {
	const char *id, *words, *drawing;
} shapes[] = {
	{"better", "better", "<path class=\"f\" d=\"M0-6 6 5H-6z\"/>"},
	{"worse", "worse", "<path class=\"f\" d=\"M0 6 6-5H-6z\"/>"},
	{"small-better", "better, but small", "<path class=\"h\" d=\"M0-4 4 3H-4z\"/>"},
	{"small-worse", "worse, but small", "<path class=\"h\" d=\"M0 4 4-3H-4z\"/>"},
	{"changed", "changed, neither better nor worse",
	 "<path class=\"f\" d=\"M0-6 6 0 0 6-6 0z\"/>"},
	{"same", "same", "<path class=\"h\" d=\"M-5-2H5M-5 2H5\"/>"},
	{"unsure", "unsure", "<circle class=\"h\" r=\"4\"/>"},
	{"untested", "not tested", "<path class=\"h\" d=\"M-3-3H3V3H-3z\"/>"},
	{"failed", "failed or missing", "<path class=\"h\" d=\"M-4-4 4 4M4-4-4 4\"/>"},
};

static const char *const dots[HTML_DOTS] = {
	"M-4 0a4 4 0 1 1 8 0a4 4 0 1 1-8 0z",
	"M-4-4H4V4H-4z",
	"M0-5 5 4H-5z",
	"M0-5 5 0 0 5-5 0z",
};

void html_shapes(struct html *h)
{
	size_t i;

	strbuf_adds(h->out, "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\">"
			    "<defs>\n");
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		html_addf(h, "<g id=\"%s\">%s</g>\n", shapes[i].id, shapes[i].drawing);
	for (i = 0; i < HTML_DOTS; i++)
		html_addf(h, "<path id=\"dot%zu\" class=\"v%zu\" d=\"%s\"/>\n", i, i, dots[i]);
	strbuf_adds(h->out, "<path id=\"beyond\" class=\"h\" d=\"M-3-5 3 0-3 5\"/>\n"
			    "<path id=\"before\" class=\"h\" d=\"M3-5-3 0 3 5\"/>\n"
			    "</defs></svg>\n");
}

void html_shape(struct html *h, const char *shape)
{
	html_addf(h,
		  "<svg class=\"%s\" width=\"16\" height=\"16\" viewBox=\"-8 -8 16 16\" "
		  "aria-hidden=\"true\"><use href=\"#%s\"/></svg>",
		  shape, shape);
}

struct html_look html_look(const struct html *h, const struct cmp_cell *cell)
{
	const char *m = cell->multiplicity ? " (m)" : "";
	const char *word = arena_printf(h->a, "%s%s%s", cell->small ? "small " : "",
					verdict_name(cell->verdict), m);

	switch (cell->verdict) {
	case VERDICT_BETTER:
		return (struct html_look){cell->small ? "small-better" : "better", word};
	case VERDICT_WORSE:
		return (struct html_look){cell->small ? "small-worse" : "worse", word};
	case VERDICT_SAME:
		return (struct html_look){"same", word};
	case VERDICT_CHANGED:
		return (struct html_look){"changed", word};
	case VERDICT_MISSING:
		return (struct html_look){"failed", word};
	case VERDICT_FAILED:
		return (struct html_look){
			"failed",
			cell->error ? arena_printf(h->a, "failed: %s", cell->error) : word};
	default:
		if (!strcmp(cell->test.test, "none"))
			return (struct html_look){"untested", "not tested"};
		return (struct html_look){"unsure", word};
	}
}

/* ---- intervals ---- */

bool html_interval(const struct cmp_cell *cell, double *low, double *high)
{
	*low = cell->test.low;
	*high = cell->test.high;
	return isfinite(*low) && isfinite(*high) && !comparison_is_difference(cell);
}

const char *html_interval_text(const struct html *h, const struct cmp_row *row,
			       const struct cmp_cell *cell)
{
	double low, high;

	if (!html_interval(cell, &low, &high))
		return isfinite(low) && isfinite(high)
			       ? arena_printf(h->a, "[%+.4g, %+.4g] %s", low, high,
					      view_unit(row->unit))
			       : "";
	return arena_printf(h->a, "[%s, %s]%%", text_percent(h->a, low, ""),
			    text_percent(h->a, high, ""));
}

const char *html_change(const struct html *h, const struct cmp_row *row,
			const struct cmp_cell *cell)
{
	return cell->has_change || comparison_is_difference(cell)
		       ? view_change(h->a, row, cell, "%")
		       : "";
}

/* ---- the scale ---- */

static int double_compare(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Next round number, no more than half as large again. */
static double round_up(double v)
{
	static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
	double ten = pow(10, floor(log10(v)));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (v <= steps[i] * ten * (1 + 1e-9))
			return steps[i] * ten;
	return 10 * ten;
}

/* Wide enough for nine of ten changes; what goes beyond is marked at the edge. */
static double strip_scale(const struct html *h)
{
	const struct comparison *c = h->c;
	size_t t, r, i, n = 0, all = 0;
	double *sizes, wanted;

	for (t = 0; t < c->n_tests; t++)
		all += c->tests[t].n_rows * c->n_variants;
	sizes = arena_alloc_array(h->a, all + 1, sizeof(*sizes));
	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 1; c->tests[t].rows[r].shown && i < c->n_variants; i++)
				if (c->tests[t].rows[r].cells[i].has_change)
					sizes[n++] = fabs(c->tests[t].rows[r].cells[i].change);
	if (!n)
		return 4 * c->threshold;
	qsort(sizes, n, sizeof(*sizes), double_compare);
	wanted = n < 10 ? sizes[n - 1] : sizes[n * 9 / 10];
	return round_up(fmax(1.25 * wanted, fmax(4 * c->threshold, 1e-4)));
}

/* Place of a change in percent of the width; the edges keep room for a mark. */
static double place(double change, double scale)
{
	return 50 + 44 * fmax(-1, fmin(1, change / scale));
}

static void add_line(struct html *h, const char *class, double from, double to)
{
	html_addf(h, "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"11\" y2=\"11\"/>", class,
		  from, to);
}

static void add_bar(struct html *h, const struct cmp_cell *cell, double scale)
{
	const struct html_look look = html_look(h, cell);
	double low, high;

	html_addf(h,
		  "<svg class=\"bar %s\" height=\"22\" aria-hidden=\"true\">"
		  "<rect class=\"band\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"22\"/>"
		  "<line class=\"zero\" x1=\"50%%\" x2=\"50%%\" y1=\"0\" y2=\"22\"/>",
		  look.shape, place(-h->c->threshold, scale),
		  place(h->c->threshold, scale) - place(-h->c->threshold, scale));
	if (html_interval(cell, &low, &high))
		add_line(h, "ci", place(low, scale), place(high, scale));
	if (!cell->has_change) /* it has no place on the scale */
		html_addf(h, "<use href=\"#%s\" x=\"2%%\" y=\"11\"/>", look.shape);
	else if (fabs(cell->change) > scale)
		html_addf(h,
			  "<use href=\"#%s\" x=\"%d%%\" y=\"11\"/>"
			  "<use href=\"#%s\" x=\"%d%%\" y=\"11\"/>",
			  look.shape, cell->change > 0 ? 94 : 6,
			  cell->change > 0 ? "beyond" : "before", cell->change > 0 ? 98 : 2);
	else
		html_addf(h, "<use href=\"#%s\" x=\"%.2f%%\" y=\"11\"/>", look.shape,
			  place(cell->change, scale));
	strbuf_adds(h->out, "</svg>");
}

/* ---- the table around it ---- */

static void strip_axis(struct html *h, double scale)
{
	static const double ticks[] = {-1, -0.5, 0, 0.5, 1};
	size_t i;

	strbuf_adds(h->out, "<svg class=\"bar axis\" height=\"16\" role=\"img\" "
			    "aria-label=\"scale of the changes\">");
	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		html_addf(h, "<text x=\"%.0f%%\" y=\"12\">%s%g%%</text>", place(ticks[i], 1),
			  ticks[i] > 0 ? "+" : "", 100 * ticks[i] * scale);
	strbuf_adds(h->out, "</svg>");
}

static void strip_line(struct html *h, const struct view_table *t, const struct view_row *r,
		       size_t column, double scale)
{
	const struct cmp_cell *cell = view_cell(h->c, r, column);
	const struct html_look look = html_look(h, cell);

	html_addf(h, "<tr class=\"%s\"><th scope=\"row\">", look.shape);
	if (*t->axis)
		html_text(h, arena_printf(h->a, "%s ", t->axis));
	html_text(h, r->label);
	if (h->c->n_variants > 2)
		html_addf(h, " <b>%s</b>", view_column_name(h->c, h->a, column));
	strbuf_adds(h->out, "</th><td class=\"picture\">");
	add_bar(h, cell, scale);
	strbuf_adds(h->out, "</td><td class=\"num\">");
	html_text(h, html_change(h, r->row, cell));
	strbuf_adds(h->out, "</td><td class=\"word\">");
	html_text(h, look.word);
	strbuf_adds(h->out, " <small>");
	html_text(h, html_interval_text(h, r->row, cell));
	strbuf_adds(h->out, "</small></td></tr>\n");
}

static void strip_table(struct html *h, const struct view_table *t, double scale)
{
	size_t i, k;

	strbuf_adds(h->out, "<tbody>\n<tr class=\"group\"><th colspan=\"4\" scope=\"rowgroup\">");
	html_text(h, layout_title(&h->v, t, ""));
	if (t->metric)
		html_addf(h, " <small>%s</small>", view_direction(t->metric->direction));
	strbuf_adds(h->out, "</th></tr>\n");
	for (i = 0; i < t->n; i++)
		for (k = 1; k < h->c->n_variants; k++)
			strip_line(h, t, &t->rows[i], k, scale);
	strbuf_adds(h->out, "</tbody>\n");
}

static void find_used(const struct html *h, bool used[ARRAY_SIZE(shapes)])
{
	const struct comparison *c = h->c;
	size_t t, r, i, k;

	for (t = 0; t < c->n_tests; t++)
		for (r = 0; r < c->tests[t].n_rows; r++)
			for (i = 1; i < c->n_variants; i++) {
				const char *shape =
					html_look(h, &c->tests[t].rows[r].cells[i]).shape;

				for (k = 0; k < ARRAY_SIZE(shapes); k++)
					used[k] |= !strcmp(shapes[k].id, shape);
			}
}

static void strip_legend(struct html *h)
{
	bool used[ARRAY_SIZE(shapes)] = {false};
	size_t i;

	find_used(h, used);
	strbuf_adds(h->out, "<p class=\"legend\">");
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (!used[i])
			continue;
		strbuf_adds(h->out, "<span>");
		html_shape(h, shapes[i].id);
		html_addf(h, " %s</span> ", shapes[i].words);
	}
	html_addf(h, "<span>line: %g%% interval</span> <span>band: &plusmn;%g%%</span></p>\n",
		  100 * h->c->level, 100 * h->c->threshold);
}

/* Without script: the table after the buttons knows which one is chosen. */
static void strip_filter(struct html *h)
{
	static const struct {
		const char *id, *words;
	} choices[] = {{"all", "all rows"},
		       {"worse", "worse"},
		       {"better", "better"},
		       {"open", "unsure, failed, missing"}};
	size_t i;

	strbuf_adds(h->out, "<fieldset class=\"filter\"><legend>Show</legend>");
	for (i = 0; i < ARRAY_SIZE(choices); i++)
		html_addf(h,
			  "<label><input type=\"radio\" name=\"show\" id=\"show-%s\"%s> "
			  "%s</label>\n",
			  choices[i].id, i ? "" : " checked", choices[i].words);
	strbuf_adds(h->out, "</fieldset>\n");
}

/* Fewer lines are seen at once. */
#define FILTER_FROM 16

void html_strip(struct html *h)
{
	double scale = strip_scale(h);
	size_t i, lines = 0;

	for (i = 0; i < h->v.n; i++)
		lines += h->v.tables[i].shown ? h->v.tables[i].n * (h->c->n_variants - 1) : 0;
	if (!lines) {
		strbuf_adds(h->out, "<p>There is no row with a headline metric.</p>\n");
		return;
	}
	strip_legend(h);
	if (lines >= FILTER_FROM)
		strip_filter(h);
	strbuf_adds(h->out, "<table class=\"strip\">\n<thead><tr><th scope=\"col\">row</th>"
			    "<th scope=\"col\" class=\"picture\">");
	strip_axis(h, scale);
	strbuf_adds(h->out,
		    "</th><th scope=\"col\" class=\"num\">change</th>"
		    "<th scope=\"col\">verdict <small>interval</small></th></tr></thead>\n");
	for (i = 0; i < h->v.n; i++)
		if (h->v.tables[i].shown)
			strip_table(h, &h->v.tables[i], scale);
	strbuf_adds(h->out, "</table>\n");
}
