/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for people in fixed-width text, rendered by mail and term: verdict in words, facts,
 * tables. Three or more variants, or published figures: one column per variant (wide). Two
 * measured variants: means side by side with their range (pair).
 */
#ifndef REPORTS_LAYOUT_H
#define REPORTS_LAYOUT_H

#include "reports/text.h"
#include "reports/view.h"

/* The whole report into t->out. */
void layout_render(const struct comparison *c, const struct report_options *opt, struct text *t);

/*
 * A report as the body of a mail: one blank in front of a line takes it out of every reader's
 * grammar. Reports leave one column of MAIL_WIDTH for it.
 */
#define MAIL_WIDTH 72
void mail_guard(const char *report, struct strbuf *out);

bool layout_is_pair(const struct comparison *c);

/* Its parts. */
void words_print(struct text *t, const struct view *v);
/* The verdict of one benchmark. */
void words_sentence(struct text *t, const struct view *v, const char *benchmark);
void facts_print(struct text *t, const struct view *v);
/*
 * Unit, direction, mean and number of runs of the metrics that stand in the tables, or only of the
 * headlines; metrics of one benchmark that share everything but their name share a line.
 */
void facts_metrics(struct text *t, const struct view *v, bool headlines);
/* Some of the facts: who is compared, on what, with which command, what is missing. */
void facts_sides(struct text *t, const struct view *v);
/* Where the figures are from, and what to beware of. */
void facts_origin(struct text *t, const struct view *v);
void wide_print(struct text *t, const struct view *v, const struct report_options *opt);
void pair_print(struct text *t, const struct view *v, const struct report_options *opt);
/* The tables of --style norm and block. */
void style_print(struct text *t, const struct view *v);
/* The means of every variant: the block of --values. */
void values_print(struct text *t, const struct view *v);
/* How verdicts were made: the block of --why. */
void why_print(struct text *t, const struct view *v, const char *what);
/* Every single value: the block of --runs. */
void runs_print(struct text *t, const struct view *v);

/* "tbench throughput, MB/s, numa 0&1": heading of a table. */
const char *layout_title(const struct view *v, const struct view_table *t, const char *after);

/*
 * Puts the label of a row into its first cell. Labels longer than view.label take lines of their
 * own above the row, whose cells are returned.
 */
struct grid_cell *layout_label(const struct view *v, struct grid *g, struct grid_cell *cells,
			       const char *label, bool left);
/* Name of the axis, cut at view.label. */
const char *layout_axis(const struct view *v, const struct view_table *t);

/* One character for a tested cell: * better, ! worse, s small, = same, ? unsure, c changed. */
char layout_mark(const struct cmp_cell *cell);

#endif
