/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What list, show and their like print: fields and tables, described once and rendered as text
 * (tables by libsmartcols) or as JSON. Everything lives in the arena given to page_new; texts
 * must outlive the page.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdint.h>

#include "cli/cli.h"

struct page;
struct page_table;

/* schema: "kdelta.show.run/1" */
struct page *page_new(struct arena *a, const char *schema);

/* name: the key in JSON; '_' is shown as a blank. NULL and "": null in JSON, left out of text. */
void page_text(struct page *p, const char *name, const char *value);
/* NAN: as NULL above. */
void page_number(struct page *p, const char *name, double value);
/* A text of several lines, shown below all else. */
void page_block(struct page *p, const char *name, const char *value);

/*
 * Columns of numbers are named "#name", of flags "?name"; the list ends with NULL. Cells are added
 * row by row.
 */
struct page_table *page_table(struct page *p, const char *name, const char *const *columns);
void page_cell(struct page_table *t, const char *value);
void page_cell_flag(struct page_table *t, bool value);
void page_cell_number(struct page_table *t, double value);

/* To stdout, as JSON with --json. */
int page_print(struct cli *c, const struct page *p);

#endif
