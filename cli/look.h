/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between runner/, which measures, and reports/, which judges: neither knows the other. */
#ifndef CLI_LOOK_H
#define CLI_LOOK_H

#include "runner/run.h"

/* The callback `judge` of struct run_options; data is not used. */
int look_judge(void *data, struct db *db, const char *campaign, bool looks, struct run_row *rows,
	       size_t n, struct err *e);

#endif
