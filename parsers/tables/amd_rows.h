/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows "key: cell cell ..." whose cells hold a value and its percentage, joined over wraps. */
#ifndef PARSERS_TABLES_AMD_ROWS_H
#define PARSERS_TABLES_AMD_ROWS_H

#include "parsers/tables/block.h"

/* CUT: the text ends within what could be a cell. */
enum amd_scan { AMD_CELL, AMD_CUT, AMD_NONE };

struct amd_style {
	const char *family;
	/* Takes one cell off *rest. */
	enum amd_scan (*scan)(struct arena *a, struct span *rest, struct block_cell *out);
	/* Names of the n columns above line `first`; *top: the first line of the header. */
	bool (*names)(struct arena *a, const struct table_text *text, size_t first, size_t lowest,
		      size_t n, const struct table_legend *legend, const struct table_options *opt,
		      struct table_names *out);
	/* Completes a table from what stands around it. */
	void (*finish)(struct arena *a, struct table_set *set, struct table *t,
		       const struct block_context *c);
	/* Which way the percentages run, where the text says so. */
	enum row_change (*wanted)(const struct block_context *c);
};

int amd_read(const struct amd_style *style, const struct table_source *src);

/* The value that a cell begins with, its text, and what follows it; *out is cleared. */
enum amd_scan amd_scan_value(struct span *s, struct block_cell *out, struct span *text, char *next);

/* A number after blanks off *s. */
enum amd_scan amd_scan_number(struct span *s, double *value, int *decimals);
/* Header line without its label: "Test:   tip   patched" -> "tip   patched". */
struct span amd_drop_label(struct span line);

#endif
