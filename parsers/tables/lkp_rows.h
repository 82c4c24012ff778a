/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of LKP tables as they stand in the text, joined over wrapped lines; not yet checked. */
#ifndef PARSERS_TABLES_LKP_ROWS_H
#define PARSERS_TABLES_LKP_ROWS_H

#include "parsers/tables/tables.h"

struct lkp_cell {
	struct table_cell c; /* of "3:5" value 3, n 5 */
	double low, high;    /* what the printed value may stand for; rounded or cut */
	double change_half;  /* half a unit of the change's last digit */
	bool points;	     /* a change without '%' */
	bool fails;	     /* "3:5" */
};

struct lkp_row {
	ARRAY_OF(struct lkp_cell) cells;
	const char *name;   /* "aim7.jobs-per-min", "lkp-ib03/micro/ebizzy/400%-5-30" */
	const char *rest;   /* what stands behind the name, "" if nothing */
	const char *damage; /* why it is no row although it looks like one, or NULL */
	bool total;	    /* "TOTAL name" */
	bool tilde;	    /* deviations as of 2013: "~ 1%" */
	bool plain;	    /* neither a deviation nor a percentage: a row only under a header */
	enum row_better better;
	int line;
};

/*
 * Reads the row that starts at line i, if one does, into a fresh *row (free row->cells).
 * strict: below a header of LKP's, where less is needed to call a line a row, or a damaged one.
 * *end: the line after its last. Strings live in the arena.
 */
bool lkp_read_row(struct arena *a, const struct table_text *text, size_t i, bool strict,
		  struct lkp_row *row, size_t *end);

/* "aim7.jobs-per-min", "host/suite/test": letters with a '.' or '/' between. */
bool lkp_is_name(struct span word);

/*
 * Why the printed change of a cell does not follow from the printed values, or NULL. *checked is
 * set where the values could say anything (a base of zero or below cannot).
 */
const char *lkp_check_cell(struct arena *a, const struct lkp_cell *base,
			   const struct lkp_cell *cell, bool *checked);

#endif
