/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: one table of options feeds parsing, help, completion and suggestions. One file
 * per command, registered with REGISTER(command, NAME). Only this room prints errors and exits.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/registry.h"
#include "core/str.h"
#include "db/db.h"

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REGRESSION = 3,
	EXIT_CANNOT_TELL = 4,
	EXIT_BLOCKER = 5,
	EXIT_INTERRUPTED = 130,
};

struct cli_option {
	const char *name; /* long name, without "--" */
	char letter; /* 0: none */
	const char *arg; /* "N", "FILE"; NULL: a flag; "[ID]" in brackets: --name or --name=ID */
	const char *help;
};
#define CLI_OPTIONS_END { NULL, 0, NULL, NULL }

struct command;

struct cli {
	struct arena *a;
	struct err *e;
	const struct command *command;
	/* global options */
	const char *db; /* --db */
	const char *config; /* --config */
	const char *color; /* auto, always, never */
	bool verbose, quiet, dry_run, json, no_input, no_pager;
	/* operands; dashes: how many stood before "--" (n_operands if there was none) */
	const char **operands;
	size_t n_operands, dashes;
	bool has_dashes;
	struct cli_given *given; /* options of the command as given */
	size_t n_given;
};

struct cli_given {
	const char *name, *value; /* value NULL for a flag */
};

struct command {
	const char *name; /* "compare" */
	const char *usage; /* "[BASE] [OTHER...]" */
	const char *group; /* measure, compare, hunt, keep */
	const char *summary; /* one line */
	const char *help; /* paragraphs after the options, or NULL */
	void (*help_list)(struct strbuf *sb); /* lines after help made from a registry, or NULL */
	const char *examples; /* lines, or NULL */
	bool first_page; /* shown by the short --help */
	bool hidden;
	bool raw_operands; /* everything after the first operand belongs to the operands (record) */
	const struct cli_option *options; /* ends with CLI_OPTIONS_END; NULL: none */
	/* Returns an exit code, or a negative errno with c->e filled (printed by main, exit 1; -EINVAL
	 * becomes exit 2). */
	int (*run)(struct cli *c);
};

REGISTRY(command);

extern const struct cli_option cli_global_options[];
/* NULL with an error that suggests the nearest name. */
const struct command *cli_find_command(struct cli *c, const char *name);
void cli_help_main(struct strbuf *sb, bool all);
void cli_help_command(struct strbuf *sb, const struct command *cmd);

bool cli_has(const struct cli *c, const char *name);
/* Last value given, or NULL. */
const char *cli_value(const struct cli *c, const char *name);
/* i-th value of a repeatable option, or NULL. */
const char *cli_value_at(const struct cli *c, const char *name, size_t i);
/* Parse an integer or fraction ("3%", "0.03") option; absent leaves *out alone. */
int cli_int(struct cli *c, const char *name, long min, long max, long *out);
int cli_fraction(struct cli *c, const char *name, double *out);
/* "A,B,C" -> a NULL-terminated list in the arena; absent leaves *out alone. */
int cli_list(struct cli *c, const char *name, const char *const **out);
struct net_options;
/* --cacert, --timeout and --netrc; a file that others can read is warned of. */
int cli_net_options(struct cli *c, struct net_options *net);
/* The same for a web server: ~/.netrc where none is named, and three tries. */
int cli_http_options(struct cli *c, struct net_options *net);
/* A duration above zero ("30s", "5m") in seconds. */
int cli_seconds(struct cli *c, const char *name, double *out);
/* Adds a usage error with a pointer to --help and returns -EINVAL. */
int cli_usage(struct cli *c, const char *fmt, ...) _printf_(2, 3);
/* Of what was read: wrong text is a failure, not a usage error as -EINVAL would say. */
int cli_failure(int r);
/* Adds "did you mean 'WORD'?" of a NULL-terminated list as a hint; false if nothing is near. */
bool cli_suggest(struct cli *c, const char *word, const char *const *words);

/* Opens the database by the global rule; DB_WRITE prints its path to stderr once unless quiet. */
int cli_open_db(struct cli *c, enum db_mode mode, struct db **db);

/* Folder of the campaign file (--config, else ./kdelta.yaml); NULL: there is none. */
const char *cli_config_dir(const struct cli *c);

/* Writes a whole result to stdout; errors of stdout surface at exit. */
void cli_print(const struct strbuf *text);
/* The same for people: through their pager where a terminal is too small for it. */
void cli_page(const struct cli *c, const struct strbuf *text);
/* A line for people on stderr, unless --quiet: "kdelta: ..." */
void cli_note(const struct cli *c, const char *fmt, ...) _printf_(2, 3);
void cli_warn(const struct cli *c, const char *fmt, ...) _printf_(2, 3);
/* A text for a terminal: control characters and what is no UTF-8 are question marks. */
char *cli_clean(struct arena *a, const char *text);
/* Prints and empties the error list. */
void cli_print_errors(struct err *e);
/* Columns of the terminal on stdout; 0 if it is none. */
int cli_columns(void);
/* Its lines; 0 if it is none. */
int cli_lines(void);
/* Whether stdout takes colours (--color, NO_COLOR, TERM, tty). */
bool cli_colors(const struct cli *c);

#endif
