/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parsers share: reading a text line by line, matching a line against its printf format,
 * figures with their limits, the reasons a text names for a failure, and command lines. All of it
 * takes time linear in the text and returns memory of the arena.
 */
#ifndef PARSERS_SCAN_H
#define PARSERS_SCAN_H

#include <jansson.h>
#include <stdint.h>

#include "parsers/parser.h"

/* An ARRAY_OF that lives in an arena (the old items stay there until it ends). */
#define SCAN_PUSH(a, array)                                                                        \
	((array)->items = scan_grow(a, (array)->items, (array)->n, &(array)->alloc,                \
				    sizeof(*(array)->items)),                                      \
	 &(array)->items[(array)->n++])
void *scan_grow(struct arena *a, void *items, size_t n, size_t *alloc, size_t size);

/*
 * A line that names a failure, in order of weight: the first of a table that a run matches wins.
 * text is a part of the line, or its start after '^', or the whole line after '='; also (may be
 * NULL) must be in it as well.
 */
struct scan_reason {
	const char *text, *also, *error;
};

/* Last lines of every table but kernbench's: a build may print them and succeed. */
#define SCAN_REASONS_END                                                                           \
	{": command not found", NULL, "command_not_found"},                                        \
		{"failed to run command", "No such file", "command_not_found"},                    \
	{                                                                                          \
		NULL, NULL, NULL                                                                   \
	}

/* An option of a program that takes an argument. */
struct scan_option {
	char letter;	  /* 0: none */
	const char *name; /* without "--", or NULL */
};

enum { SCAN_OPTIONS = 8, SCAN_OPERANDS = 4 };

/* What a command line asked of a program; what it left out has a NULL text. */
struct scan_asked {
	struct span option[SCAN_OPTIONS]; /* in the order of the table */
	struct span operand[SCAN_OPERANDS];
};

struct scan {
	struct arena *a;
	const struct parse_input *in;
	struct parse_result *result;
	const struct scan_reason *reasons; /* ends with a NULL text */
	uint32_t named; /* reasons that stand before named_end, by their place in the table */
	const char *named_end; /* how far the text was searched for them */
	struct scan_asked asked; /* by scan_ask() */
	struct span rest, line;
	bool cut; /* the line is the last one and has no end */
	/* The run being read; NULL before the first and between two. */
	struct parse_run *run;
	const struct scan_reason *reason; /* the weightiest one named so far, and its line */
	struct span reason_line;
	const char *error; /* class of a figure that cannot be used, and the message for people */
	const char *error_message;
	const char *partial, *doubt; /* why the run is no more than partial, or suspect */
	bool figure;		     /* the result is there */
	bool blocks;		     /* figures outlive the reasons of the text (schbench) */
	unsigned broken_json;	     /* objects that were not whole */
};

/* Takes the next line. */
bool scan_line(struct scan *s);
/*
 * Takes the JSON object that begins where the next line does; NULL, and nothing taken, if it is not
 * whole. The caller drops the reference. After some objects that are not whole no more are tried:
 * a text of opening braces would be read over and over.
 */
json_t *scan_json(struct scan *s);
/* The run in progress; begins one if there is none. */
struct parse_run *scan_run(struct scan *s);
/*
 * Ends the run in progress (nothing to do if there is none): its outcome from the fields above. A
 * run with neither figure nor reason is left as OUTCOME_ERROR without class, for parser_run().
 */
void scan_end_run(struct scan *s);
/* The weightiest reason that the line names, or NULL. */
const struct scan_reason *scan_names_reason(struct scan *s);
/* Keeps the reason of the line, if it names one; begins a run if none is in progress. */
bool scan_find_reason(struct scan *s);
/* Keeps the first error of the run's figures; the message quotes the line. A cut figure is none. */
void scan_error(struct scan *s, const char *error);
void scan_error_of(struct scan *s, const char *error, struct span line);

void scan_value(struct scan *s, enum value_role role, const char *unit, double v, const char *fmt,
		...) _printf_(5, 6);
/* A number if it reads as one, else a word. */
void scan_param(struct scan *s, struct span text, const char *fmt, ...) _printf_(3, 4);
/* The parameter of the run as a number; false if it has none of that name. */
bool scan_param_number(const struct scan *s, const char *name, double *v);
struct parse_series *scan_series(struct scan *s, const char *metric, const char *unit, size_t n,
				 const double *t, const double *v);

/*
 * Whether the line (trailing blanks ignored) was printed by this format: ' ' is one or more
 * blanks (none or more at the start), %w a word without blanks that ends where the next character
 * of the format stands, %* whatever follows (also nothing), %% a percent sign. The first two take
 * a struct span *.
 *	scan_match(line, "Time: %w%*", &figure, &more)
 */
bool scan_match(struct span line, const char *format, ...);

/*
 * A figure of the current line. decimals: how many the program always prints; fewer at the end of a
 * cut line mean that the figure is cut, too. ANY_DECIMALS: there it is always taken for cut.
 * Returns NULL and sets *v, or the class "bad_number", "out_of_range", "truncated".
 */
enum { ANY_DECIMALS = -1 };
const char *scan_figure(const struct scan *s, struct span word, const char *unit, int decimals,
			double *v);
/*
 * Adds such a figure to the run as a result, or keeps its error and returns false. Without `zero`
 * a 0 is one: "zero_result".
 */
bool scan_result(struct scan *s, struct span word, const char *metric, const char *unit,
		 int decimals, bool zero);
/* What stands where a figure should, good or bad: "1.5", "-3", "nan", "1,5". */
bool scan_is_figure(struct span w);
/* Takes all up to a label, and the label, off *rest; false, and nothing taken: it is not in it. */
bool scan_after(struct span *rest, const char *label);
/* Two figures where one should stand are none. */
bool scan_has_digit(struct span text);
/* "3m18.5s", "0m 1.02s", "75m3.141s", "16.21", "2.5s", "1:02:03", "0:13.28": seconds. */
const char *scan_duration(const struct scan *s, struct span word, int decimals, double *v);

/* Splits like a shell: quotes are removed; an operator (; & | newline) is a word with s NULL. */
struct span *scan_split(struct arena *a, const char *command, size_t *n);
/*
 * Reads into s->asked what the command line asks of the program, up to the next operator. options
 * ends with { 0, NULL }. until_operand: the rest belongs to another program, as with time(1).
 * Nothing is set if the program is not called, or more than once: that says nothing of one run.
 */
void scan_ask(struct scan *s, const char *program, const struct scan_option *options,
	      bool until_operand);
/* Makes the run suspect if asked is a whole number times `times` other than the parameter. */
void scan_expect(struct scan *s, struct span asked, int times, const char *param);

/* For recognisers: whether a line starts (after blanks) with the prefix. */
bool scan_has_line(struct span text, const char *prefix);

#endif
