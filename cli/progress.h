/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress of run and record on stderr: one line that is written over on a terminal, plain lines
 * elsewhere. Failures stand on lines of their own.
 *
 *	run 12/60 tbench/clients=2 [6.12] throughput 337.5 MB/s (n 2), +1.3 % so far, 4m 10s left
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "runner/run.h"

/* For struct run_options and struct record_options; data is the struct cli. */
void progress_show(void *data, const struct run_progress *p);
void progress_note(const char *text);
void progress_note_quiet(const char *text);
/* Ends the line that is written over. */
void progress_end(void);

#endif
