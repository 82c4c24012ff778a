/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the reader of kdelta's own reports (-o mail, -o lkp): facts, blocks of numbers, and the
 * rows that several blocks of one report tell of.
 */
#ifndef PARSERS_TABLES_OWN_H
#define PARSERS_TABLES_OWN_H

#include "parsers/tables/tables.h"

enum own_style { OWN_TABLE, OWN_NORM, OWN_BLOCK, OWN_LKP };

/* "tbench throughput, MB/s, higher is better; Hmean, n = 5 boots" */
struct own_metric {
	const char *benchmark, *name, *unit, *mean;
	enum row_better better;
	int n[2]; /* of the baseline and the others; 0: not stated, or it differs */
};

/* What stands above the numbers. */
struct own_facts {
	ARRAY_OF(struct own_metric) metrics;
	ARRAY_OF(const char *) benchmarks, commands;
	const char **ids, **names, **descriptions,
		**commits; /* entries of the last two may be NULL */
	size_t n;	   /* variants; ids[0] is "A" */
	bool has_commits;
	bool published; /* changes are those of a source, not of the means */
	enum own_style style;
	/* of -o lkp */
	const char *test; /* "aim7/test=page_test (machine box1): text" of the only case, or NULL */
	bool tested;	  /* what a row reads is a verdict */
	bool hidden;	  /* deviations of 2 % or less were not printed by the source */
};

/*
 * The facts whose "metric" line is line i, into a fresh *f (release with own_facts_release);
 * machine goes to the set. *end: the line after them. False: it is not a report of ours.
 */
bool own_facts_read(struct arena *a, const struct table_text *text, size_t i, struct own_facts *f,
		    struct table_set *set, size_t *end);
/* Whether the lines from i to the next empty one are facts of -o lkp. */
bool own_lkp_starts(const struct table_text *text, size_t i);
/* The same of -o lkp, which begins with any of its keys. */
bool own_facts_read_lkp(struct arena *a, const struct table_text *text, size_t i,
			struct own_facts *f, struct table_set *set, size_t *end);
void own_facts_release(struct own_facts *f);

/* The metric of that name, or the only one of the benchmark where name is ""; NULL: none. */
const struct own_metric *own_metric_find(const struct own_facts *f, const char *benchmark,
					 const char *name);
/* Index of the variant whose letters the word is, -1 if it is none. */
int own_id(const struct own_facts *f, struct span word);
/* Unit of a metric as reports print it ("seconds") -> as stored ("s"). */
const char *own_unit(struct arena *a, struct span printed);

/* One row of a table; blocks below it add to it. */
struct own_row {
	const char *label;
	struct table_cell *cells;	 /* one per variant */
	ARRAY_OF(const char *) * values; /* single values as printed, per variant; NULL: none */
	int line;
	const char *bad; /* why it cannot be trusted, or NULL */
};

struct own_table {
	const char *benchmark, *metric, *unit, *where,
		*axis; /* "" where there is none; unit NULL */
	bool counters;
	bool spread; /* cells have a coefficient of variation */
	ARRAY_OF(struct own_row) rows;
	size_t at; /* where the next row is likely to be */
	int line;
};

struct own_report {
	struct arena *a;
	const struct table_text *text;
	struct own_facts facts;
	ARRAY_OF(struct own_table) tables;
	size_t at; /* the table of the last block */
};

/* Reads one block of lines [from, to) into the report; false: it is prose. */
bool own_block_read(struct own_report *rp, size_t from, size_t to);
/* Makes tables of what was read. */
void own_emit(struct own_report *rp, const struct table_options *opt, struct table_set *set);
void own_report_release(struct own_report *rp);

/* ---- lines of numbers (own_lines.c) ---- */

enum { OWN_MAX_WORDS = 128, OWN_MAX_COLUMNS = 64 };

struct own_words {
	struct span w[OWN_MAX_WORDS];
	size_t n;
};

/* False: the line is empty, or has too many words for one of ours. */
bool own_split(struct span line, struct own_words *out);
/* Words [from, to) with one blank between them. */
char *own_words_join(struct arena *a, const struct own_words *w, size_t from, size_t to);

enum own_head_kind { OWN_HEAD_WIDE, OWN_HEAD_PAIR, OWN_HEAD_NORM, OWN_HEAD_BLOCK };

struct own_head {
	enum own_head_kind kind;
	const char *axis, *unit;      /* unit NULL: not there */
	int columns[OWN_MAX_COLUMNS]; /* variant of each, -1: a contrast */
	size_t n;
	bool cv, range, other; /* which columns there are */
};

/* The header that line i is; of a pair, the lower line. */
bool own_head_read(struct own_report *rp, size_t i, struct own_head *h);
/* Columns of words [i, n) behind those that *h has: letters in their order, contrasts, "cv". */
bool own_columns_read(const struct own_report *rp, const struct own_words *w, size_t i,
		      struct own_head *h);

/* A line read: `label` words are left in front of the cells. */
struct own_line {
	struct table_cell *cells; /* per variant */
	size_t label;
};
/* x: of columns of a style, the ratio or the improvement; NAN where there is none. */
bool own_line_read(struct own_report *rp, const struct own_head *h, const struct own_words *w,
		   int line, struct own_line *r, double *x);

/* Does nothing where the word is no number. */
void own_set_value(struct own_report *rp, struct table_cell *c, struct span s, int line);
void own_set_change(struct table_cell *c, double percent, int line);

/* The command of a benchmark, where it is clear which one is meant, or NULL. */
const char *own_command(const struct own_facts *f, const char *benchmark);
/* The names of the variants, or those of --names where they are as many. */
const char **own_variants(struct arena *a, const struct own_facts *f,
			  const struct table_options *opt);
/* "mode=process", "machine box1" */
struct own_params {
	struct arena *a;
	ARRAY_OF(struct table_param) list;
};
void own_param_add(struct own_params *p, const char *name, const char *value, bool shown);
/* "mode=process/ipc=pipe", "numa 0&1, mode=process": what reports print of parameters. */
void own_params_words(struct own_params *p, const char *s, const char *separator);
/* Moves them to the arena; *out is never NULL. */
void own_params_take(struct own_params *p, const struct table_param **out, size_t *n);

/* ---- -o lkp (own_lkp.c) ---- */

/* A report whose facts start at line i: its tables go to the set, *end is the line after it. */
bool own_lkp_read(const struct table_source *src, size_t i, size_t *end);

/* Words of the lines [from, to) with one blank between them. */
char *own_join(struct arena *a, const struct table_text *text, size_t from, size_t to);

#endif
