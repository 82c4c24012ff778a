/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is compared: the operands and options that compare, send and every other command that
 * renders a comparison share.
 */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "cli/cli.h"
#include "reports/comparison.h"

/* For the option table of a command, before its own options or after: what is compared, ... */
#define SELECT_WHAT                                                                                \
	{"campaign", 'c', "ID", "campaign: id, unique prefix, or name (newest); repeatable"},      \
		{"base", 'b', "NAME",                                                              \
		 "variant to compare with (default: the campaign's baseline)"},                    \
		{"threshold", 't', "SHARE", "least change that counts as large (default 1%)"},     \
	{                                                                                          \
		"contrast", 0, "D/E",                                                              \
			"one more column: D against E, by letter or name; repeatable"              \
	}
/* ... and how a report says it. */
#define SELECT_OPTIONS                                                                             \
	SELECT_WHAT, {"values", 0, NULL, "print the means of every variant too"},                  \
		{"runs", 0, NULL, "print every single value too"},                                 \
		{"why", 0, "ROW",                                                                  \
		 "how verdicts were made: part of a case or metric, or all (mail, term)"},         \
		{"split", 0, "N",                                                                  \
		 "summarise rows below N and from N on (default: found from the load)"},           \
		{"style", 0, "NAME", "tables of a mail: table (default), norm, block"},            \
	{                                                                                          \
		"counters", 0, NULL, "all metrics, not the headlines alone"                        \
	}

struct selection {
	struct cli *c; /* set by the caller, all else zero */
	bool machines; /* set by the caller: campaigns of several machines are welcome */
	bool series;   /* set by the caller: series of runs are read from db */
	bool memory;   /* the operands were files */
	struct db *db; /* released with the selection */
	ARRAY_OF(const char *) campaigns;
	ARRAY_OF(const char *) variants; /* names or identities, the baseline first */
	ARRAY_OF(const char *) contrasts;
	struct comparison_options build;
	struct report_options report; /* what the options say; width and color are the caller's */
};

/*
 * Reads the command's options and operands: variants, campaigns, campaign/variant, or files and
 * folders of raw output. The comparison lives in c->a.
 */
int selection_compare(struct selection *k, struct comparison **cmp);
/*
 * -EINVAL where `--option what` means no row (what NULL: nothing was asked); more: the end of the
 * hint.
 */
int selection_check_row(struct cli *c, const struct comparison *cmp, const char *option,
			const char *what, const char *more);
void selection_release(struct selection *k);
#define _cleanup_selection_ _cleanup_(selection_release)

#endif
