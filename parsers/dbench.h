/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tbench and dbench are one program under two names: their output differs in nothing. */
#ifndef PARSERS_DBENCH_H
#define PARSERS_DBENCH_H

#include "parsers/parser.h"

void dbench_parse(struct arena *a, const struct parse_input *in, struct parse_result *result);
/* 95: the version is that of the text ("4." or "5."), 80: another one, 0: not this program. */
int dbench_recognise(struct span text, const char *version);

#endif
