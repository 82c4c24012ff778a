/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kind of picture is made of: panels with axes, blocks of numbers and the elements that
 * draw them. Foreign text goes through plot_text() alone.
 */
#ifndef REPORTS_PANEL_H
#define REPORTS_PANEL_H

#include "reports/plot.h"
#include "reports/view.h"

struct panel {
	const char *title; /* foreign text is welcome in these three; NULL: none */
	const char *xlabel, *ylabel;
	int rows;	    /* a list of so many rows: its height follows; 0: a graph */
	struct strbuf set;  /* "set ..." lines */
	struct strbuf data; /* blocks */
	struct strbuf draw; /* elements of the plot command */
};

struct plot {
	struct arena *a;
	const struct comparison *c;
	const struct plot_options *opt;
	void *data; /* what the kind has read */
	struct view view;
	ARRAY_OF(const char *) texts;
	ARRAY_OF(struct panel *) panels;
	int columns;		      /* of panels; 0: as many as suit */
	int blocks;		      /* so far */
	int left_out;		      /* panels or rows that found no room */
	const char *title;	      /* of the picture */
	ARRAY_OF(const char *) notes; /* how to read it */
	bool *keyed;		      /* columns (of view_columns) that the key has to name */
	bool others;		      /* and grey points: kernels that are not compared here */
};

bool plot_is_text(const struct plot *p);
/* "$text[7]": the only way a name gets into a script. Printable ASCII, cut at 80 characters. */
const char *plot_text(struct plot *p, const char *s);
const char *plot_text_within(struct plot *p, const char *s, int limit);
/* The same for marks at an axis, which gnuplot takes for formats. */
const char *plot_tic(struct plot *p, const char *s);

/* Rows to draw: shown ones, or those that --only names; false also for those of --counters. */
bool plot_wants(const struct plot *p, const struct cmp_test *t, const struct cmp_row *r);
/* The same for a table: any of its rows. */
bool plot_wants_table(const struct plot *p, const struct view_table *t);
/* "tbench throughput, numa 0&1"; row: whose metric it is, NULL: of several. */
const char *plot_title(struct plot *p, const struct view_table *t, const struct cmp_row *row);

/* A further panel, or NULL where there is no more room (counted as left out). */
struct panel *panel_new(struct plot *p, const char *title);
/* Takes the newest panel away again if it has nothing to draw, and says so. */
bool panel_drop_empty(struct plot *p);
void panel_free(struct panel *n);
void panel_set(struct panel *n, const char *fmt, ...) _printf_(2, 3);
/*
 * One element: "$d3 using 1:2 with points", followed by `style`; lines holds its numbers, one
 * point a line, and comes back empty. No numbers: no element.
 */
void panel_draw(struct plot *p, struct panel *n, struct strbuf *lines, const char *how,
		const char *style);
/* Words of ours at a place in gnuplot's terms, such as "first 0.5, graph 0.1 center". */
void panel_label(struct plot *p, struct panel *n, const char *text, const char *place);
/* Marks 1 to n at the axis 'x' or 'y', where they fit. */
void panel_tics(struct plot *p, struct panel *n, char axis, const char *const *labels,
		size_t n_labels);
/* A line at 0 and a band of +-limit along the other axis. */
void panel_zero(struct plot *p, struct panel *n, char axis, double limit);
/* A log axis where the values span more than a factor of 8, else one from 0. */
void panel_scale(struct panel *n, double low, double high);

/* Whether an axis of percentages has a place for the change, and for its interval. */
bool plot_has_change(const struct cmp_cell *cell);
bool plot_has_interval(const struct cmp_cell *cell);

/* Numbers of a line, a blank before each but the first; ends the line with '\n' at the caller's. */
void plot_number(struct strbuf *sb, double v);

/* Point and colour of a column; real: the filled point (in text the capital letter). */
const char *plot_style(struct plot *p, size_t column, bool real);
const char *plot_color(size_t column);
/* How points in an order are drawn: text has no lines between them. */
const char *plot_curve(const struct plot *p);
/* " font ... textcolor ..." of so many pixels. */
const char *plot_font(struct plot *p, int pixels, const char *color);
/* Takes a column into the key. */
void plot_key(struct plot *p, size_t column);
void plot_note(struct plot *p, const char *fmt, ...) _printf_(2, 3);

/* "MB/s; higher is better", "better: ?" */
const char *plot_axis_words(struct plot *p, const char *unit, enum direction d);

#endif
