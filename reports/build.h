/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the builder: build.c reads the database into cells, judge.c fills in the statistics. */
#ifndef REPORTS_BUILD_H
#define REPORTS_BUILD_H

#include "reports/comparison.h"

/*
 * Expects tests, rows and cells with values, n, published figures and failures. Fills means,
 * changes, tests, verdicts (STATISTICS.md sections 3 to 6), overall verdicts and the flags
 * tested, has_n, has_spread, has_published.
 */
void comparison_judge(struct comparison *c);

#endif
