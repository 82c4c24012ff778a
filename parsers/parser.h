/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw benchmark output -> values. Parsers are pure: no I/O, no state; everything they return
 * lives in the caller's arena. One file per benchmark, registered with REGISTER(parser, name).
 * Metric names, units, outcomes and error classes are those of the corpus index; the grammar of
 * each format stands as a real sample at the top of its file.
 */
#ifndef PARSERS_PARSER_H
#define PARSERS_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/mem.h"
#include "core/registry.h"
#include "core/str.h"

enum outcome { OUTCOME_OK, OUTCOME_PARTIAL, OUTCOME_SUSPECT, OUTCOME_ERROR };
/* "ok", "partial", "suspect", "error" */
const char *outcome_name(enum outcome o);

/* What the runner knew about the run besides its text. */
struct parse_input {
	struct span text;    /* stdout and stderr joined, or one of them */
	int exit_status;     /* -1: unknown or ended by a signal */
	int signal;	     /* 0: none or unknown */
	const char *command; /* command line, NULL: unknown */
};

enum value_role { ROLE_RESULT, ROLE_DIAGNOSTIC };

struct parse_value {
	const char *metric; /* without the benchmark's name: "throughput", "wakeup.p99" */
	double value;
	bool is_null; /* named in the text without a value (<not supported>) */
	const char *unit;
	enum value_role role;
};

struct parse_param {
	const char *name; /* "clients" */
	const char *text; /* "2", "process" */
	bool is_number;
};

/* Values inside a run, for diagnosis only: per-second rates with the running average undone, ... */
struct parse_series {
	const char *metric;
	const char *unit;
	const double *t; /* seconds since the start of the measured part, n of them */
	const double *v;
	size_t n;
};

struct parse_run {
	enum outcome outcome;
	const char *error;   /* class such as "interrupted", NULL unless outcome is OUTCOME_ERROR */
	const char *message; /* one sentence for people, NULL when ok */
	ARRAY_OF(struct parse_param) params;
	ARRAY_OF(struct parse_value) values; /* empty if the outcome is OUTCOME_ERROR */
	ARRAY_OF(struct parse_series) series;
};

struct parse_result {
	const char *benchmark;
	enum outcome outcome; /* ok if all runs are ok, partial if some are, error if none is */
	const char *error;
	const char *message;
	ARRAY_OF(struct parse_run) runs; /* at least one */
};

struct parser {
	const char *name;    /* of the benchmark */
	const char *summary; /* one line for `kdelta parse --help` */
	/* Certainty 0..100 that the text is this benchmark's output; cheap, looks at lines. */
	int (*recognise)(struct span text);
	/* Complete blocks are values of a part of the run, whatever ended it (schbench). */
	bool keeps_blocks;
	/*
	 * Fills result->runs from a clean text (see parser_run(), which does the rest). A run that
	 * is OUTCOME_ERROR without a class has neither a result nor a reason in its text.
	 */
	void (*parse)(struct arena *a, const struct parse_input *in, struct parse_result *result);
};

REGISTRY(parser);

const struct parser *parser_find(const char *name);
/* The parser most certain of the text (at least 50), or NULL. */
const struct parser *parser_recognise(struct span text);

/*
 * Runs a parser over one text with all that is common: empty and binary input, colour codes,
 * CRLF, NUL bytes (see the corpus index for the rules), and the joined outcome of several runs.
 * The ARRAYs of the result are allocated in the arena (do not free them).
 */
struct parse_result *parser_run(struct arena *a, const struct parser *p,
				const struct parse_input *in);

/* Removes mail quote marks at any depth from the start of every line. */
struct span parser_unquote(struct arena *a, struct span text);

#endif
