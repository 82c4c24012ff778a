/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of import_export: the report's campaign, cells and metrics, and (_runs) its runs. */
#ifndef EXCHANGE_IMPORT_EXPORT_H
#define EXCHANGE_IMPORT_EXPORT_H

#include <jansson.h>

#include "exchange/import_write.h"

/* A run to be written, found again by its test case, variant, block and place among those. */
struct planned_run {
	size_t cell; /* test * variants + variant */
	int block, nth;
	int order;	    /* in the campaign; 0: not said */
	const json_t *said; /* what the report says of it; NULL: only its values */
	const char *outcome, *error;
	int64_t id;
};

struct restore {
	struct import *im;
	const char *file;
	const json_t *root, *tests;
	const char **ids;	   /* of variants, as in the report */
	int64_t *variants, *cases; /* db ids */
	size_t n_variants, n_tests;
	ARRAY_OF(struct planned_run) runs; /* sorted by place once all are there */
	ARRAY_OF(struct planned_run) said; /* good runs as the report lists them */
	json_t *grounds;
};

/* -EINVAL: what is wrong, and with which name of the report ("" if it has none). */
int export_complain(struct restore *r, const char *what, const char *where);
/* "" and NAN and 0 where there is no such field. */
const char *export_text(const json_t *o, const char *key);
double export_number(const json_t *o, const char *key);
int export_integer(const json_t *o, const char *key);
/* Index of the variant of a cell or run, or -1. */
int export_variant(const struct restore *r, const json_t *o);

/* Every cell of the report with its place; stops at the first that returns a value. */
typedef int (*export_cell_fn)(struct restore *r, size_t test, size_t variant, const json_t *row,
			      const json_t *cell, void *data);

int export_each_cell(struct restore *r, size_t test, const json_t *row, export_cell_fn fn,
		     void *data);

/*
 * Block of the k-th value of a cell, and its place among the values of the block; called for all
 * of them in their order with the results of the one before.
 */
void export_place(const json_t *cell, size_t k, int *block, int *nth);
/* Plans the runs of a test case; -EINVAL where values are none. */
int export_plan_runs(struct restore *r, size_t test, const json_t *o);
/* Writes all runs that were planned, in their order. */
int export_put_runs(struct restore *r);
/* The run of a value by cell, block and nth of place. */
int64_t export_run_at(const struct restore *r, const struct planned_run *place);

#endif
