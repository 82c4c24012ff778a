/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wakebench prints the blocks of schbench below a line of its own. */
#ifndef PARSERS_SCHBENCH_H
#define PARSERS_SCHBENCH_H

#include "parsers/parser.h"

/* The line that begins each run of wakebench and none of schbench. */
#define WAKEBENCH_LINE "wakebench version "

void schbench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result);
void wakebench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result);

#endif
