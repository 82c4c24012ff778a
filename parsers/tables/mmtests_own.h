/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What our own `-o mmtests` says around a table, and mmtests does not: the direction and unit of
 * each metric, benchmark, metric and parameters in the title, and names cut in two at their first
 * '-', with '_' for blanks, that the legend has in full:
 *
 *	wakebench.average_rps is in req/s, higher is better.
 *
 *	6.12-rc3: vanilla
 *	rc1 + overload: the set
 *
 *	wakebench average_rps running on threads=1:
 *	                            6.12         rc1_+_overload
 *	                             rc3
 *	Hmean     1      105.61 (   0.00%)      115.05 *   8.94%*
 */
#ifndef PARSERS_TABLES_MMTESTS_OWN_H
#define PARSERS_TABLES_MMTESTS_OWN_H

#include "parsers/tables/tables.h"

struct mmtests_metric {
	const char *benchmark, *metric;
	const char *unit; /* NULL: not stated */
	enum row_better better;
	enum row_change change; /* what its percentages are, from the direction */
};

struct mmtests_own {
	struct arena *a;
	const struct table_text *text;
	ARRAY_OF(struct mmtests_metric) metrics; /* none: the text is not ours */
};

struct mmtests_title {
	const char *benchmark;
	const char *metric; /* NULL: the benchmark's only one, or rows are metrics */
	const char *where;  /* NULL: nowhere in particular */
	size_t line;	    /* of the text */
	size_t header;	    /* first line after it */
};

/* Strings live in the arena; free own->metrics. */
void mmtests_own_read(struct arena *a, const struct table_text *text, struct mmtests_own *own);

/* The title above the rows that start at a line, looking up to `lowest`; false: none of ours. */
bool mmtests_own_title(const struct mmtests_own *own, size_t first_row, size_t lowest,
		       struct mmtests_title *out);

/* Names of n columns under a title; false: the header does not tell, e.g. with its gaps lost. */
bool mmtests_own_names(const struct mmtests_own *own, const struct mmtests_title *title,
		       size_t first_row, size_t n, const struct table_legend *legend,
		       struct table_names *out);

/* The metric of a row ("64" or "wakeup.p99") under a title; NULL: not stated. */
const struct mmtests_metric *mmtests_own_metric(const struct mmtests_own *own,
						const struct mmtests_title *title,
						const char *axis);

/*
 * Parameters of a row's test case: those of the title, and the axis unless that is the metric;
 * the name of a number's parameter is not printed, axis_name may be NULL.
 */
void mmtests_own_params(const struct mmtests_own *own, const struct mmtests_title *title,
			const struct mmtests_metric *m, const char *axis_name, const char *axis,
			const struct table_param **params, size_t *n);

#endif
