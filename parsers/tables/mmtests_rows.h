/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of mmtests tables as they stand in the text, joined over wrapped lines; not yet checked. */
#ifndef PARSERS_TABLES_MMTESTS_ROWS_H
#define PARSERS_TABLES_MMTESTS_ROWS_H

#include "parsers/tables/tables.h"

struct statistic {
	const char *word; /* first of the row; a trailing '*' matches any end */
	enum row_kind kind;
	enum row_change change; /* unknown: as that of the values of the table */
	bool plain;		/* values without percentages are a row too */
};

struct cell {
	struct table_cell c;
	int value_decimals, change_decimals;
};

struct row {
	const struct statistic *statistic;
	bool known;	 /* statistic is one of the list */
	bool plain;	 /* values without percentages */
	const char *cut; /* what is left over after the last cell; NULL: nothing */
	const char *key; /* "Hmean 64", one blank between words */
	int line;
	ARRAY_OF(struct cell) cells;
};

typedef ARRAY_OF(struct row) row_array;

/*
 * Reads the row that starts at line i, if one does, into a fresh *row (free row->cells);
 * *end: the line after its last. Strings live in the arena.
 */
bool mmtests_read_row(struct arena *a, const struct table_text *text, size_t i, struct row *row,
		      size_t *end);

#endif
