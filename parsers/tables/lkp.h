/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the LKP reader: what stands around the rows, names, and what the words state. */
#ifndef PARSERS_TABLES_LKP_H
#define PARSERS_TABLES_LKP_H

#include "parsers/tables/lkp_rows.h"

struct lkp_commit {
	const char *name;	 /* as listed, a full hash cut to 12 digits */
	const char *hash;	 /* NULL: it is none */
	const char *description; /* subject or remark, or NULL */
};

/* What headers said of the rows below them. */
struct lkp_context {
	const char *section;   /* values of the axes, "host/suite/test", or NULL */
	const char *benchmark; /* value of the axis testcase, or NULL */
	bool nameless;	       /* section is values of axes that nothing names */
	struct table_param *axes;
	size_t n_axes;
	ARRAY_OF(struct lkp_commit) commits;
	size_t columns;	    /* dashes below the names; 0: no such line */
	size_t dashes, top; /* line of the first dashes; of the first line of names above them */
	bool strict;	    /* there is a header of LKP's */
	size_t units;	    /* line of the first "%stddev" or the like, + 1; 0: none */
	bool has_rows;
};

/* Rows under one context. */
struct lkp_block {
	struct lkp_context context;
	ARRAY_OF(struct lkp_row) rows;
	size_t first;	 /* line of the first row, as an index */
	size_t lowest;	 /* first line after the table above */
	size_t remarked; /* rows before this one have had their remark */
	bool percents;	 /* "%stddev" stands above */
	bool detailed;	 /* rows of single tests and their sum */
	const struct table_param *params;
	size_t n_params;
};

/* "+17.9% aim7.jobs-per-min", "5.0% regression of aim9.brk_test.ops_per_sec". */
struct lkp_claim {
	const char *metric, *text; /* "+17.9%", "5.0% regression" */
	double change;		   /* without its sign where none is printed */
	bool sign;
	enum row_better result; /* BETTER_HIGHER: improvement, BETTER_LOWER: regression */
	int line;
	bool found; /* a table has it */
};

struct lkp_reader {
	const struct table_source *src;
	struct lkp_block block; /* being collected */
	size_t gap;		/* first line after the last rows */
	const char *testcase;	/* "in testcase: aim9", or NULL */
	const char *reported;	/* hash of the commit the mail is about, or NULL */
	const char *reported_subject;
	ARRAY_OF(struct lkp_claim) claims;
};

/* Names, descriptions and commits of the columns of the block; t->n_variants is known. */
int lkp_names(struct lkp_reader *rd, struct table *t);
/* Ends the block: its rows become a table, or are refused. */
int lkp_finish(struct lkp_reader *rd);
void lkp_drop_rows(struct lkp_block *b);

/* A header's line taken at *i (moved to its last line): true, and the context has changed. */
bool lkp_read_header(struct lkp_reader *rd, size_t *i, int *r);
/* Git's hash, 7 to 40 digits */
bool lkp_is_hash(struct span s);

/* Reads claims and facts of a line that is neither row nor header. */
void lkp_read_words(struct lkp_reader *rd, size_t i);
/* Reads the subject of the mail. */
void lkp_read_subject(struct lkp_reader *rd);
/* What a remark between rows or behind one says of the rows before it: which way is better. */
void lkp_apply_remark(struct lkp_block *b, struct span text);
const struct lkp_claim *lkp_claim_find(const struct lkp_reader *rd, const char *metric);
/* Whether the words claim something of a suite. */
bool lkp_claims_of(const struct lkp_reader *rd, struct span suite);
/* Facts from the claims, and warnings where the tables say something else or nothing. */
void lkp_check_claims(struct lkp_reader *rd);

#endif
