/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What imports of tables and of raw outputs share: writing campaigns, variants and test cases. */
#ifndef EXCHANGE_IMPORT_WRITE_H
#define EXCHANGE_IMPORT_WRITE_H

#include "campaign/campaign.h"
#include "exchange/import.h"

/* One import being written. */
struct import {
	struct db *db;
	struct arena *a;
	const struct catalog *cat;
	const struct import_options *opt;
	struct import_report *report;
	struct err *e;
	int64_t now;
	void *seen; /* tree of struct key */
	struct db_campaign campaign;
	int n_cases, n_variants;
	size_t notes_room; /* of report->notes, where import_groups() makes it */
};

struct import import_start(struct db *db, struct arena *a, const struct catalog *cat,
			   const struct import_options *opt, struct import_report *report,
			   struct err *e);
/*
 * Begins the transaction. A source of this hash (NULL: none is known) that is there already:
 * report->known is set, the transaction is over.
 */
int import_begin(struct import *im, const char *sha256);
/* Commits, or rolls back where r is not 0; returns r or what the commit said. */
int import_finish(struct import *im, int r);

/* How often these three were asked for before in this campaign. */
int import_seen(struct import *im, int64_t case_id, int64_t metric_id, int64_t variant_id);
/* Frees the memory of import_seen; a new campaign does so too. */
void import_forget(struct import *im);

/*
 * "dir/02 table.txt" -> "02-table": a campaign's or variant's name without blanks. The address of a
 * message gives the left half of its Message-ID.
 */
char *import_name(struct arena *a, const char *path);
/* Starts a campaign named after the file, with the hash of the text as a fact (NULL: later). */
int import_campaign(struct import *im, const char *file, const char *sha256, int repeat);

struct import_variant_words {
	const char *name, *description;
	const char *release, *commit; /* "" where the text names none */
	bool baseline;
	const char *build_id, *source; /* NULL: not stated */
	const char *settings;	       /* JSON, NULL: none */
};
/* A variant of which nothing is stated but its name. */
struct import_variant_words import_words(const char *name);
/*
 * Adds a variant to the campaign, once. The identity is that of the words, so that one table from
 * two mails has the same variants.
 */
int import_variant(struct import *im, const struct import_variant_words *w, int64_t *id);

enum { IMPORT_MAX_PARAMS = 24 };

struct import_case {
	const char *benchmark, *command, *description;
	const char *name; /* NULL: made from benchmark and swept parameters */
	struct param_value params[IMPORT_MAX_PARAMS]; /* value as stored */
	size_t n;
};
/* Adds a swept parameter; strings must outlive c. More than IMPORT_MAX_PARAMS are left out. */
void import_param(struct import_case *c, const char *name, const char *value);
/* One that is no part of the case's name: a compiler, a machine. */
void import_fixed_param(struct import_case *c, const char *name, const char *value);
/* Adds a test case to the campaign, once; its identity is benchmark, parameters and command. */
int import_case(struct import *im, const struct import_case *c, int64_t *id);

/* A good run of the campaign by a parser ("" none), of which nothing else is known. */
struct db_run import_run(const struct import *im, int64_t variant, const char *parser);

/* Parameters that a part of an mmtests name stands for ("process-pipes" of hackbench). */
void import_section(struct import_case *c, const char *section);
/* Marks what a benchmark is about, unless it is for diagnosis only or neither good nor bad. */
void import_headline(struct db_metric *m);

/*
 * The runs of one raw output (content->def is set). given: parameters known beforehand, or NULL;
 * they precede those that the output names, and a single run that names others is suspect. Needs
 * room for a note of each run in report->notes.
 */
int import_raw(struct import *im, const char *file, struct span text,
	       const struct import_content *content, int64_t variant,
	       const struct import_case *given);

/* A report that holds its numbers (exchange/export.h) as a campaign. */
int import_export(struct import *im, const char *file, const char *sha256,
		  const struct json_t *root);

/* All tables of a text, one campaign for each set of variants. */
int import_tables(struct import *im, const char *file, const char *sha256,
		  const struct table_set *set);

#endif
