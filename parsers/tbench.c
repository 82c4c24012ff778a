// SPDX-License-Identifier: GPL-2.0-or-later
/* tbench 4.00 is dbench with sockets; the format stands in dbench.c. */
#include "parsers/dbench.h"

/* dbench 5 has no tbench any more; where nothing tells the two apart, it is rather tbench. */
static int tbench_recognise(struct span text)
{
	int certainty = dbench_recognise(text, "4.");

	return certainty ? certainty + 1 : 0;
}

static const struct parser tbench = {
	.name = "tbench",
	.summary = "tbench (dbench 4 over sockets)",
	.recognise = tbench_recognise,
	.parse = dbench_parse,
};
REGISTER(parser, tbench);
