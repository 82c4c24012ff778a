// SPDX-License-Identifier: GPL-2.0-or-later
/* tbench 4.00 is dbench with sockets; the format stands in dbench.c. */
#include "parsers/dbench.h"

/* dbench 5 has no tbench any more */
static int tbench_recognise(struct span text)
{
	return dbench_recognise(text, "4.");
}

static const struct parser tbench = {
	.name = "tbench",
	.summary = "tbench (dbench 4 over sockets)",
	.recognise = tbench_recognise,
	.parse = dbench_parse,
};
REGISTER(parser, tbench);
