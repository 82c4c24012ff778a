// SPDX-License-Identifier: GPL-2.0-or-later
/* History -> text and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "reports/history.h"

enum { PLOT_LINES = 8, PLOT_LEAST = 10 };

/* ---- the picture ---- */

struct range {
	double low, high;
	int decimals;
};

static struct range range_of(const struct history_line *l)
{
	struct range r = {INFINITY, -INFINITY, 0};

	for (size_t i = 0; i < l->n; i++) {
		r.low = fmin(r.low, l->points[i].mean);
		r.high = fmax(r.high, l->points[i].mean);
	}
	/* a step of the axis shows in its last digit */
	while (r.decimals < 9 && (r.high - r.low) * pow(10, r.decimals) < 10 * PLOT_LINES &&
	       r.high > r.low)
		r.decimals++;
	return r;
}

static size_t column_of(const struct history_line *l, size_t point, size_t columns)
{
	return l->n <= columns ? point : point * columns / l->n;
}

static int row_of(const struct range *r, double v)
{
	if (!(r->high > r->low))
		return PLOT_LINES / 2;
	return (int)lround((r->high - v) / (r->high - r->low) * (PLOT_LINES - 1));
}

/* Points 'o' by night, '|' where a level begins; a column may hold several nights. */
static void draw(struct text *t, const struct history_line *l)
{
	struct range r = range_of(l);
	int margin = snprintf(NULL, 0, "%.*f", r.decimals, r.high);
	size_t room = (size_t)MAX(t->width - margin - 2, PLOT_LEAST), columns = MIN(l->n, room);
	char *cells = arena_alloc(t->a, PLOT_LINES * columns);

	margin = MAX(margin, snprintf(NULL, 0, "%.*f", r.decimals, r.low));
	memset(cells, ' ', PLOT_LINES * columns);
	for (size_t i = 0; i < l->n_steps; i++)
		for (int line = 0; line < PLOT_LINES; line++)
			cells[(size_t)line * columns + column_of(l, l->steps[i].at, columns)] = '|';
	for (size_t i = 0; i < l->n; i++)
		cells[(size_t)row_of(&r, l->points[i].mean) * columns + column_of(l, i, columns)] = 'o';
	for (int line = 0; line < PLOT_LINES; line++) {
		size_t from = t->out->len;
		double v = r.high - (r.high - r.low) * line / (PLOT_LINES - 1);

		if (line % 2 == 1)
			strbuf_pad(t->out, from + (size_t)margin + 1);
		else
			strbuf_addf(t->out, "%*.*f ", margin, r.decimals, v);
		strbuf_add(t->out, cells + (size_t)line * columns, columns);
		strbuf_rtrim(t->out);
		strbuf_addc(t->out, '\n');
	}
}

/* ---- words ---- */

/* "6.12.0-rc3 (1f2a3b4c5d6e), nightly-20261130-1" */
static const char *point_words(struct arena *a, const struct history_point *p)
{
	return text_ascii(a, arena_printf(a, "%s, %s", history_kernel(a, p), p->campaign));
}

static void tell_steps(struct text *t, const struct history *h, const struct history_line *l)
{
	for (size_t i = 0; i < l->n_steps; i++) {
		const struct history_step *s = &l->steps[i];
		const struct history_point *p = &l->points[s->at];

		text_block(t, i ? "" : "steps", "%s %s %s: %s; before it %s%s", history_day(t->a, p->when),
			   history_change(t->a, h, l, s->change), history_word(h, s->change),
			   point_words(t->a, p), point_words(t->a, &l->points[s->at - 1]),
			   s->exact ? "" : " (the exact segmentation has none there)");
	}
	if (!l->n_steps)
		text_block(t, "steps", "%s",
			   l->n < 2 * STEPS_SEGMENT
				   ? arena_printf(t->a, "too few points to tell: %zu, and it takes %d",
						  l->n, 2 * STEPS_SEGMENT)
				   : "none");
}

static void tell_line(struct text *t, const struct history *h, const struct history_line *l)
{
	size_t units = 0;

	for (size_t i = 0; i < l->n; i++)
		units += l->points[i].n;
	text_block(t, NULL, "%s%s%s", text_ascii(t->a, l->test_case), *l->machine ? " on " : "",
		   text_ascii(t->a, l->machine));
	text_block(t, NULL, "%zu kernel%s from %s to %s, %zu values", l->n, l->n == 1 ? "" : "s",
		   history_day(t->a, l->points[0].when), history_day(t->a, l->points[l->n - 1].when), units);
	text_blank(t);
	draw(t, l);
	text_blank(t);
	tell_steps(t, h, l);
	text_block(t, "level", "%.6g %s since %s (%zu kernel%s)", l->level, h->unit,
		   history_day(t->a, l->points[l->since].when), l->n - l->since,
		   l->n - l->since == 1 ? "" : "s");
	for (size_t i = 0; i < l->n_trends; i++)
		text_block(t, i ? "" : "trends", "%s to %s %s (p = %s): %s",
			   history_day(t->a, l->points[l->trends[i].from].when),
			   history_day(t->a, l->points[l->trends[i].to].when),
			   history_change(t->a, h, l, l->trends[i].change),
			   text_p(t->a, l->trends[i].p), history_word(h, l->trends[i].change));
}

void history_text(const struct history *h, struct arena *a, int width, bool color,
		  struct strbuf *out)
{
	struct text t = {a, out, width, color};

	text_block(&t, NULL, "%s, %s%s", h->metric, h->unit,
		   h->direction == DIR_HIGHER  ? ", higher is better"
		   : h->direction == DIR_LOWER ? ", lower is better"
					       : ", neither direction is better by itself");
	for (size_t i = 0; i < h->n_lines; i++) {
		text_blank(&t);
		tell_line(&t, h, &h->lines[i]);
	}
}

/* ---- JSON ---- */

static json_t *json_point(const struct history_point *p)
{
	json_t *values = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(values, json_number_or_null(p->values[i]));
	return json_pack("{ss,ss,ss,ss,sI,so,so}", "campaign", p->campaign, "variant", p->variant,
			 "release", p->release, "commit", p->commit, "time", (json_int_t)p->when,
			 "mean", json_number_or_null(p->mean), "values", values);
}

static json_t *json_line(const struct history *h, const struct history_line *l)
{
	json_t *points = json_array(), *steps = json_array(), *trends = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(points, json_point(&l->points[i]));
	for (size_t i = 0; i < l->n_steps; i++) {
		const struct history_step *s = &l->steps[i];

		json_array_append_new(
			steps,
			json_pack("{sI,sf,sf,sf,sf,ss,sb}", "at", (json_int_t)s->at, "before",
				  s->before, "after", s->after, "change", s->change, "p", s->p,
				  "verdict", history_word(h, s->change), "exact", (int)s->exact));
	}
	for (size_t i = 0; i < l->n_trends; i++) {
		const struct history_trend *trend = &l->trends[i];

		json_array_append_new(trends,
				      json_pack("{sI,sI,sf,sf,ss}", "from",
						(json_int_t)trend->from, "to",
						(json_int_t)trend->to, "change", trend->change, "p",
						trend->p, "verdict", history_word(h, trend->change)));
	}
	return json_pack("{ss,ss,so,so,sI,so,so,ss}", "case", l->test_case, "machine", l->machine,
			 "points", points, "steps", steps, "since", (json_int_t)l->since, "level",
			 json_number_or_null(l->level), "trends", trends, "scale",
			 l->on_log ? "ratio" : "difference");
}

void history_json(const struct history *h, struct strbuf *out)
{
	json_t *lines = json_array(), *root;

	for (size_t i = 0; i < h->n_lines; i++)
		json_array_append_new(lines, json_line(h, &h->lines[i]));
	root = json_pack("{ss,ss,ss,ss,so}", "schema", "kdelta.history/1", "metric", h->metric,
			 "unit", h->unit, "direction", direction_name(h->direction), "lines",
			 lines);
	json_add_lines(out, root, 12);
}
