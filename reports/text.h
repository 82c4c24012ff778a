/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text layout shared by the reports for people: ASCII only, wrapped blocks, grids, percentages. */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

#include <stdbool.h>

#include "core/mem.h"
#include "core/str.h"

enum text_color { COLOR_NONE, COLOR_GREEN, COLOR_RED, COLOR_YELLOW, COLOR_MAGENTA, COLOR_BOLD };

struct text {
	struct arena *a;
	struct strbuf *out;
	int width;  /* columns */
	bool color; /* ANSI colours */
};

/*
 * Printable ASCII: known signs are written out (a micro sign as u), other characters as \u{e9},
 * control characters and runs of blanks as one blank, so that no name can break a line.
 */
const char *text_ascii(struct arena *a, const char *s);

/*
 * One paragraph: `key` in its column of TEXT_KEY, the words of s beside it, wrapped. Words longer
 * than the room are broken. key "" continues the column; NULL: no column at all.
 */
#define TEXT_KEY 9
void text_block(struct text *t, const char *key, const char *fmt, ...) _printf_(3, 4);
/* The same with the words starting at column `indent`, after `head` on the first line. */
void text_wrap(struct text *t, const char *head, size_t indent, const char *s);
void text_blank(struct text *t);

/* "+1.04%" of 0.0104 with the sign always there; suffix "%" or a mark or "". */
const char *text_percent(struct arena *a, double fraction, const char *suffix);
/* "1.4%" of 0.014; "" for NAN */
const char *text_share(struct arena *a, double fraction);
/* "0.032" of a p-value; "none" for NAN */
const char *text_p(struct arena *a, double p);
/* Number with so many decimals. */
const char *text_number(struct arena *a, double v, int decimals);

/* A table whose columns are as wide as their widest cell. */
struct grid_cell {
	const char *text; /* NULL: empty */
	bool left;	  /* else aligned to the right */
	bool over;	  /* runs over the empty cells to its right, and widens nothing */
	enum text_color color;
};
struct grid {
	struct arena *a;
	size_t columns;
	int *gap;   /* blanks before each column, default 2; 0 for the first */
	int *least; /* least width of each column, default 0 */
	ARRAY_OF(struct grid_cell *) rows;
};

void grid_init(struct grid *g, struct arena *a, size_t columns);
void grid_release(struct grid *g);
#define _cleanup_grid_ _cleanup_(grid_release)
/* Adds an empty row and returns its cells. */
struct grid_cell *grid_row(struct grid *g);
void grid_set(struct grid_cell *cell, const char *text, enum text_color color);
int grid_width(const struct grid *g);
void grid_print(const struct grid *g, struct text *t);

#endif
