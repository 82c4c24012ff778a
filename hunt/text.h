/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisection in words: status for who waits, report for who has to act. */
#ifndef HUNT_TEXT_H
#define HUNT_TEXT_H

#include "hunt/answer.h"
#include "reports/text.h"

/* Where it stands: ends, probabilities over the range, runs so far and to go. */
void bisect_status(const struct bisect *b, const struct answer *ans, struct text *t);
/* The same as kdelta.bisect/1. */
void bisect_json(const struct bisect *b, const struct answer *ans, struct strbuf *out);
/* Commands and decisions that lead here, with comments for the runs; `replay` reads it. */
int bisect_log(struct bisect *b, const struct answer *ans, struct strbuf *out);

/*
 * The body of a mail: what changed, by how much, how sure; its runners-up, the culprit against its
 * parent, how to reproduce it, trailers as suggestions.
 */
int bisect_mail(struct bisect *b, const struct answer *ans, struct strbuf *out);
/* One page with the same and the tables of the pairs. */
int bisect_html(struct bisect *b, const struct answer *ans, struct strbuf *out);

/* One line: "hackbench.time +9.8%: 1f2a3b4c5d6e sched: ..." or what keeps it from that. */
char *bisect_subject(const struct bisect *b, const struct answer *ans);
/* Probabilities over the range as a bar of width characters. */
void bisect_bar(const struct bisect *b, const struct answer *ans, int width, struct strbuf *out);

#endif
