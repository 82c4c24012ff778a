/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts of reports/plot.h -> pictures. */
#ifndef RUNNER_GNUPLOT_H
#define RUNNER_GNUPLOT_H

#include "core/err.h"
#include "core/str.h"

/*
 * Runs gnuplot on a script, without the user's own start-up file, and appends what it printed to
 * out. -ENOENT with what to install where there is no gnuplot; what it complains of is our error.
 */
int gnuplot_run(const char *script, struct strbuf *out, struct err *e);

#endif
