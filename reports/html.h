/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of -o html: html.c makes the page and what surrounds the numbers, html_strip.c the
 * picture of all changes, html_table.c the tables, html_fold.c what a row holds when it is opened.
 */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "reports/layout.h"

struct html {
	const struct comparison *c;
	struct arena *a;
	struct strbuf *out;
	struct view v;
	/* the runs of one test by variant, block and order, kept from row to row */
	const struct cmp_test *sorted_test;
	const struct cmp_run **sorted;
};

/*
 * Text of users: markup escaped, also in quoted attributes; what is no UTF-8, control characters
 * and marks that turn the direction of writing become visible escapes. Newlines and tabs stay.
 */
void html_text(struct html *h, const char *s);
/* The same in an element of its own, so that right-to-left text leaves its neighbours alone. */
void html_name(struct html *h, const char *s);
/* Markup. */
void html_addf(struct html *h, const char *fmt, ...) _printf_(2, 3);

/*
 * The page up to its body: title, style (css: more of it, or NULL), shapes. script: it will have
 * one (else none may run).
 */
void html_open(struct html *h, const char *title, const char *css, bool script);

/* How a cell looks: its shape (an id of html_shapes) is its class too; the word says the same. */
struct html_look {
	const char *shape, *word;
};
struct html_look html_look(const struct html *h, const struct cmp_cell *cell);
/* Shapes #dot0 and so on tell kernels apart. */
enum { HTML_DOTS = 4 };
/* The shapes, to be used by reference; once per page. */
void html_shapes(struct html *h);
void html_shape(struct html *h, const char *shape);

/* Interval of the change as fractions; false where there is none, or it is of a difference. */
bool html_interval(const struct cmp_cell *cell, double *low, double *high);
/* "[-3.70, +1.32]%", of a difference "[-3, +1] MB/s", or "" */
const char *html_interval_text(const struct html *h, const struct cmp_row *row,
			       const struct cmp_cell *cell);
/* "+1.32%", of a difference "+3 MB/s", or "" */
const char *html_change(const struct html *h, const struct cmp_row *row,
			const struct cmp_cell *cell);

/* All shown rows, one line for each and each other variant. */
void html_strip(struct html *h);
/* All tables. */
void html_tables(struct html *h);
/* A table being written. */
struct html_part {
	const struct view_table *table;
	size_t columns;
	int means, values; /* decimals of them; of the row at hand where units differ */
};
/* The inside of an opened row. */
void html_fold(struct html *h, const struct html_part *p, const struct view_row *r);

#endif
