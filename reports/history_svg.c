// SPDX-License-Identifier: GPL-2.0-or-later
/* History -> SVG. Coordinates are pixels of a fixed view that the page scales. */
#include <math.h>

#include "core/num.h"
#include "reports/history.h"

enum { CHART_WIDTH = 900, CHART_HEIGHT = 260, CHART_LEFT = 80, CHART_BOTTOM = 30, CHART_TOP = 16 };
enum { SPARK_WIDTH = 140, SPARK_HEIGHT = 26 };
enum { CHART_TICKS = 4 };

struct frame {
	const struct history_line *l;
	double left, top, width, height; /* of the plot itself */
	double low, high;		 /* values at bottom and top */
};

static void find_range(struct frame *f, bool units)
{
	f->low = INFINITY;
	f->high = -INFINITY;
	for (size_t i = 0; i < f->l->n; i++) {
		const struct history_point *p = &f->l->points[i];

		f->low = fmin(f->low, p->mean);
		f->high = fmax(f->high, p->mean);
		for (size_t k = 0; units && k < p->n; k++) {
			f->low = fmin(f->low, p->values[k]);
			f->high = fmax(f->high, p->values[k]);
		}
	}
	if (!(f->high > f->low)) {
		f->low -= fabs(f->low) * 0.01 + 1e-9;
		f->high += fabs(f->high) * 0.01 + 1e-9;
	}
}

static double place_x(const struct frame *f, double point)
{
	return f->left + (f->l->n > 1 ? point / (double)(f->l->n - 1) : 0.5) * f->width;
}

static double place_y(const struct frame *f, double v)
{
	return f->top + (f->high - v) / (f->high - f->low) * f->height;
}

static size_t level_end(const struct history_line *l, size_t level)
{
	return level < l->n_steps ? l->steps[level].at : l->n;
}

/* The level of each stretch between steps; a step is a rule before its first point. */
static void draw_levels(const struct frame *f, struct strbuf *out)
{
	size_t from = 0;

	for (size_t i = 0; i <= f->l->n_steps; i++) {
		size_t to = level_end(f->l, i);
		double mean = i < f->l->n_steps ? f->l->steps[i].before : f->l->level;

		strbuf_addf(out, "<path class=\"level\" d=\"M%.1f %.1fH%.1f\"/>", place_x(f, from),
			    place_y(f, mean), place_x(f, to ? to - 1 : 0));
		if (i < f->l->n_steps)
			strbuf_addf(out, "<path class=\"step\" d=\"M%.1f %.1fv%.1f\"/>",
				    place_x(f, (double)to - 0.5), f->top, f->height);
		from = to;
	}
}

void history_spark(const struct history_line *l, struct strbuf *out)
{
	struct frame f = {l, 2, 2, SPARK_WIDTH - 4, SPARK_HEIGHT - 4, 0, 0};

	find_range(&f, false);
	strbuf_addf(out,
		    "<svg class=\"spark\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		    "aria-hidden=\"true\"><path class=\"line\" d=\"",
		    SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT);
	for (size_t i = 0; i < l->n; i++)
		strbuf_addf(out, "%c%.1f %.1f", i ? 'L' : 'M', place_x(&f, (double)i),
			    place_y(&f, l->points[i].mean));
	if (l->n == 1)
		strbuf_adds(out, "h.1");
	strbuf_adds(out, "\"/>");
	draw_levels(&f, out);
	strbuf_adds(out, "</svg>");
}

/* ---- the chart ---- */

static void draw_axes(const struct frame *f, struct arena *a, struct strbuf *out)
{
	const struct history_line *l = f->l;
	int decimals = 0;

	while (decimals < 9 && (f->high - f->low) * pow(10, decimals) < 10 * CHART_TICKS)
		decimals++;
	for (int i = 0; i <= CHART_TICKS; i++) {
		double v = f->low + (f->high - f->low) * i / CHART_TICKS, y = place_y(f, v);

		strbuf_addf(out,
			    "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>"
			    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
			    f->left, y, f->width, f->left - 6, y + 4, decimals, v);
	}
	strbuf_addf(out, "<text x=\"%.1f\" y=\"%d\">%.10s</text>", f->left, CHART_HEIGHT - 8,
		    num_iso_time(a, l->points[0].when));
	if (l->n > 1)
		strbuf_addf(out,
			    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\">%.10s</text>\n",
			    f->left + f->width, CHART_HEIGHT - 8,
			    num_iso_time(a, l->points[l->n - 1].when));
}

/* The mean of each kernel, and a rule from its least to its largest unit. */
static void draw_points(const struct frame *f, struct strbuf *out)
{
	strbuf_adds(out, "<path class=\"units\" d=\"");
	for (size_t i = 0; i < f->l->n; i++) {
		const struct history_point *p = &f->l->points[i];
		double low = p->mean, high = p->mean;

		for (size_t k = 0; k < p->n; k++) {
			low = fmin(low, p->values[k]);
			high = fmax(high, p->values[k]);
		}
		strbuf_addf(out, "M%.1f %.1fV%.1f", place_x(f, (double)i), place_y(f, low),
			    place_y(f, high));
	}
	strbuf_adds(out, "\"/>\n<path class=\"mean\" d=\"");
	for (size_t i = 0; i < f->l->n; i++)
		strbuf_addf(out, "M%.1f %.1fh.1", place_x(f, (double)i),
			    place_y(f, f->l->points[i].mean));
	strbuf_adds(out, "\"/>\n");
}

void history_chart(const struct history *h, const struct history_line *l, struct arena *a,
		   struct strbuf *out)
{
	struct frame f = {l,
			  CHART_LEFT,
			  CHART_TOP,
			  CHART_WIDTH - CHART_LEFT - 10,
			  CHART_HEIGHT - CHART_TOP - CHART_BOTTOM,
			  0,
			  0};

	find_range(&f, true);
	strbuf_addf(out,
		    "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
		    "aria-label=\"%zu kernels, %zu steps%s\">\n",
		    CHART_WIDTH, CHART_HEIGHT, l->n, l->n_steps,
		    h->direction == DIR_HIGHER	? ", higher is better"
		    : h->direction == DIR_LOWER ? ", lower is better"
						: "");
	draw_axes(&f, a, out);
	draw_points(&f, out);
	draw_levels(&f, out);
	strbuf_adds(out, "\n</svg>\n");
}
