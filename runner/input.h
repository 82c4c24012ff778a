/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts as users have them: a file or standard input, packed or not. Only this file unpacks texts.
 */
#ifndef RUNNER_INPUT_H
#define RUNNER_INPUT_H

#include <stddef.h>

#include "core/err.h"
#include "core/str.h"

enum { INPUT_MAX_MB = 256 }; /* of a text, unpacked */

/*
 * Reads a text ("-": standard input), unpacked if it begins like gzip, xz, zstd or bzip2, whatever
 * its name. -EFBIG above INPUT_MAX_MB, before memory for more is taken; -EBADMSG: packed, but
 * broken; others as of open(2) and read(2).
 */
int input_read(const char *path, struct strbuf *out, struct err *e);
/* The same for a text that is there already. */
int input_unpack(const char *name, struct strbuf *text, struct err *e);

/* "stats.json" for "stats.json" and "stats.json.gz": length of the name without its packing. */
size_t input_plain_len(const char *name);

#endif
