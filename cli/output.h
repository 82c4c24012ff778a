/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -o FORMAT[=FILE], for the commands that render a comparison. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/select.h"

struct output {
	const struct report_format *format;
	const char *file; /* NULL: stdout */
};

struct outputs {
	ARRAY_OF(struct output) list;
};

/* Reads the repeatable --output; json with --json, else `standard` where none is given. */
int outputs_read(struct cli *c, struct outputs *o, const char *standard);
/* Renders every one of them. Verdicts of a finished campaign are kept in the database. */
int outputs_write(const struct outputs *o, struct selection *what, const struct comparison *cmp);
void outputs_release(struct outputs *o);
/* Prints the comparison of a campaign (NULL: of the newest) in the format for where stdout goes. */
int output_show(struct cli *c, struct db *db, const char *campaign);

#endif
