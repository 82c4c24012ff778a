// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/panel.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { PANELS = 12, TEXT_LIMIT = 80, TIC_LIMIT = 40 };

/* Okabe and Ito: told apart with any colour vision; the baseline is dark grey. */
static const char *const plot_colors[] = {"#4d4d4d", "#0072b2", "#d55e00", "#009e73",
					  "#cc79a7", "#e69f00", "#56b4e9"};
/* Circle, square, triangle, diamond, ...: filled and open. */
static const int plot_points[][2] = {{7, 6}, {5, 4}, {9, 8}, {13, 12}, {11, 10}, {15, 14}};

bool plot_is_text(const struct plot *p)
{
	return p->opt->format == PLOT_TEXT;
}

static const char *text_add(struct plot *p, const char *s)
{
	size_t i;

	for (i = 0; i < p->texts.n && strcmp(p->texts.items[i], s); i++)
		;
	if (i == p->texts.n)
		*ARRAY_PUSH(&p->texts) = s;
	return arena_printf(p->a, "$text[%zu]", i + 1);
}

static const char *text_cut(struct plot *p, const char *s, size_t limit)
{
	s = text_ascii(p->a, s);
	return strlen(s) > limit ? arena_printf(p->a, "%.*s...", (int)limit - 3, s) : s;
}

const char *plot_text_within(struct plot *p, const char *s, int limit)
{
	return text_add(p, text_cut(p, s, (size_t)MAX(limit, 8)));
}

const char *plot_text(struct plot *p, const char *s)
{
	return plot_text_within(p, s, TEXT_LIMIT);
}

const char *plot_tic(struct plot *p, const char *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (s = text_cut(p, s, TIC_LIMIT); *s; s++)
		strbuf_adds(&sb, *s == '%' ? "%%" : (char[]){*s, '\0'});
	return text_add(p, arena_strdup(p->a, strbuf_str(&sb)));
}

bool plot_wants(const struct plot *p, const struct cmp_test *t, const struct cmp_row *r)
{
	return p->opt->only ? comparison_explains(t, r, p->opt->only) : r->shown;
}

bool plot_wants_table(const struct plot *p, const struct view_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (plot_wants(p, t->rows[i].test, t->rows[i].row))
			return true;
	return false;
}

const char *plot_title(struct plot *p, const struct view_table *t, const struct cmp_row *row)
{
	return arena_printf(p->a, "%s%s%s%s%s", t->benchmark, row ? " " : "",
			    row ? comparison_metric_name(row) : "", *t->where ? ", " : "",
			    t->where);
}

struct panel *panel_new(struct plot *p, const char *title)
{
	struct panel *n;

	if (p->panels.n == PANELS) {
		p->left_out++;
		return NULL;
	}
	n = arena_alloc(p->a, sizeof(*n));
	n->title = title;
	*ARRAY_PUSH(&p->panels) = n;
	return n;
}

void panel_free(struct panel *n)
{
	strbuf_release(&n->set);
	strbuf_release(&n->data);
	strbuf_release(&n->draw);
}

bool panel_drop_empty(struct plot *p)
{
	struct panel *n = p->panels.items[p->panels.n - 1];

	if (n->data.len)
		return false;
	panel_free(n);
	p->panels.n--;
	return true;
}

void panel_set(struct panel *n, const char *fmt, ...)
{
	va_list ap;

	strbuf_adds(&n->set, "set ");
	va_start(ap, fmt);
	strbuf_vaddf(&n->set, fmt, ap);
	va_end(ap);
	strbuf_addc(&n->set, '\n');
}

void panel_draw(struct plot *p, struct panel *n, struct strbuf *lines, const char *how,
		const char *style)
{
	if (!lines->len)
		return;
	strbuf_addf(&n->data, "$d%d << END\n%sEND\n", ++p->blocks, strbuf_str(lines));
	strbuf_addf(&n->draw, "%s$d%d %s %s", n->draw.len ? ", \\\n     " : "", p->blocks, how,
		    style);
	strbuf_reset(lines);
}

void panel_label(struct plot *p, struct panel *n, const char *text, const char *place)
{
	panel_set(n, "label %s at %s front", plot_text(p, text), place);
}

void panel_tics(struct plot *p, struct panel *n, char axis, const char *const *labels,
		size_t n_labels)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i, longest = 1, room, every = 1;

	for (i = 0; i < n_labels; i++)
		longest = MAX(longest, MIN(strlen(labels[i]), (size_t)TIC_LIMIT));
	room = plot_is_text(p) ? (size_t)p->opt->width - 16 : 110;
	if (axis == 'x' && plot_is_text(p))
		every = MAX((size_t)1, (n_labels * (longest + 2) + room - 1) / room);
	for (i = 0; i < n_labels; i += every)
		strbuf_addf(&sb, "%s%s %zu", i ? ", " : "", plot_tic(p, labels[i]), i + 1);
	panel_set(n, "%ctics (%s)%s", axis, strbuf_str(&sb),
		  axis == 'x' && !plot_is_text(p) && n_labels * (longest + 2) > room / 2
			  ? " rotate by -35"
			  : "");
}

void panel_zero(struct plot *p, struct panel *n, char axis, double limit)
{
	bool x = axis == 'x';

	if (!plot_is_text(p) && limit > 0)
		panel_set(n,
			  x ? "object rectangle from first %g, graph 0 to first %g, graph 1 "
			      "behind fc rgb '#ececec' fs solid noborder"
			    : "object rectangle from graph 0, first %g to graph 1, first %g "
			      "behind fc rgb '#ececec' fs solid noborder",
			  -limit, limit);
	if (plot_is_text(p) && !x)
		strbuf_adds(&n->draw, "'+' using 1:(0) with points pt '-'");
	else
		panel_set(n,
			  x ? "arrow from first 0, graph 0 to first 0, graph 1 nohead %s"
			    : "arrow from graph 0, first 0 to graph 1, first 0 nohead %s",
			  plot_is_text(p) ? "back" : "back lc rgb '#333333' lw 1");
	if (limit > 0)
		panel_set(n, "%crange [*<%g:%g<*]", axis, -1.2 * limit, 1.2 * limit);
}

void panel_scale(struct panel *n, double low, double high)
{
	if (low > 0 && high / low > 8)
		panel_set(n, "logscale y");
	else if (low >= 0)
		panel_set(n, "yrange [0:*]");
}

/* A ratio may be too large for a number. */
bool plot_has_change(const struct cmp_cell *cell)
{
	return cell->has_change && isfinite(100 * cell->change);
}

bool plot_has_interval(const struct cmp_cell *cell)
{
	return isfinite(100 * cell->test.low) && isfinite(100 * cell->test.high) &&
	       cell->test.on_log;
}

void plot_number(struct strbuf *sb, double v)
{
	bool first = !sb->len || sb->buf[sb->len - 1] == '\n';

	strbuf_addf(sb, "%s%.8g", first ? "" : " ", v);
}

const char *plot_color(size_t column)
{
	return plot_colors[column ? 1 + (column - 1) % (ARRAY_SIZE(plot_colors) - 1) : 0];
}

const char *plot_style(struct plot *p, size_t column, bool real)
{
	/* colours come round after six columns: their points are others then */
	const int *pt = plot_points[(column + column / 6) % ARRAY_SIZE(plot_points)];
	char letter = view_column_name(p->c, p->a, column)[0];

	if (plot_is_text(p))
		return arena_printf(p->a, "pt '%c' lc rgb '%s'", real ? letter : letter - 'A' + 'a',
				    plot_color(column));
	return arena_printf(p->a, "pt %d ps 0.8 lc rgb '%s'", pt[!real], plot_color(column));
}

const char *plot_curve(const struct plot *p)
{
	return plot_is_text(p) ? "using 1:2 with points" : "using 1:2 with linespoints";
}

const char *plot_font(struct plot *p, int pixels, const char *color)
{
	/* cairo counts points, svg pixels */
	return arena_printf(p->a, " font '%s,%g' textcolor rgb '%s'", pixels > 16 ? ":Bold" : "",
			    p->opt->format == PLOT_PNG ? pixels * 0.75 : pixels, color);
}

void plot_key(struct plot *p, size_t column)
{
	p->keyed[column] = true;
}

void plot_note(struct plot *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*ARRAY_PUSH(&p->notes) = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
}

const char *plot_axis_words(struct plot *p, const char *unit, enum direction d)
{
	static const char *const words[] = {
		[DIR_HIGHER] = "higher is better",   [DIR_LOWER] = "lower is better",
		[DIR_NEUTRAL] = "neither is better", [DIR_DEPENDS] = "better: depends",
		[DIR_UNKNOWN] = "better: ?",
	};
	const char *of = unit && *unit ? view_unit(unit) : "";

	return arena_printf(p->a, "%s%s%s", of, *of ? "; " : "", words[d]);
}
