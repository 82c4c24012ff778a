// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakebench, our own program (guest/wakebench.c), begins with
 *
 *	wakebench version 1 message_threads=1 workers=2 runtime=5 operations=5 footprint=256
 *
 * and goes on with the blocks and the closing line of schbench of 2023 (schbench.c). Its numbers
 * are never mixed with those of schbench.
 */
#include "parsers/scan.h"
#include "parsers/schbench.h"

static int wakebench_recognise(struct span text)
{
	return scan_has_line(text, WAKEBENCH_LINE) ? 95 : 0;
}

static const struct parser wakebench = {
	.name = "wakebench",
	.summary = "wakebench, kdelta's own wakeup workload",
	.recognise = wakebench_recognise,
	.keeps_blocks = true,
	.parse = wakebench_parse,
};
REGISTER(parser, wakebench);
