/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures of a comparison: one kind per file plot_KIND.c. A kind reads what the comparison does
 * not hold (values inside runs, older campaigns), then draws panels; the result is a script for
 * gnuplot with its data in it. Drawing is pure: runner/gnuplot.h starts the program.
 *
 * Whatever stands in the script was written by us, but for the lines of one block of text,
 * $text, which are taken as data: "set title $text[3]". With noenhanced terminals no character of
 * a name means anything.
 */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "reports/comparison.h"

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_TEXT };

struct plot_options {
	enum plot_format format;
	int width, height; /* pixels, of text columns and lines; height 0: as it needs */
	bool color;	   /* of text */
	const char *only;  /* rows as comparison_explains() takes them; NULL: all */
	int64_t run;	   /* of values inside runs: this one; 0: all */
};

struct plot_result {
	struct strbuf script;
	struct strbuf head, tail; /* of text: what stands above and below gnuplot's output */
	int panels, left_out;	  /* drawn; too many for one picture */
};
void plot_result_release(struct plot_result *r);
#define _cleanup_plot_ _cleanup_(plot_result_release)

struct plot; /* a picture in the making: panel.h */

struct plot_kind {
	const char *name;    /* "strip" */
	const char *summary; /* for --help */
	int rank;	     /* the fitting kind of the highest one is the default; 0: never */
	bool (*fits)(const struct comparison *c);
	/* Database -> *data in the comparison's arena; NULL: the comparison has it all. */
	int (*read)(struct db *db, const struct comparison *c, const struct plot_options *opt,
		    void **data, struct err *e);
	/* Adds panels; none is an error of the caller's. */
	void (*draw)(struct plot *p);
	const char *nothing; /* what there is none of: "no test case has a number to run along" */
};

REGISTRY(plot_kind);
const struct plot_kind *plot_kind_find(const char *name);
/* What suits the comparison, never NULL. */
const struct plot_kind *plot_kind_choose(const struct comparison *c);

/* -ENOENT where there is nothing to draw. */
int plot_render(const struct plot_kind *kind, const struct comparison *c, void *data,
		const struct plot_options *opt, struct plot_result *result, struct err *e);

#endif
