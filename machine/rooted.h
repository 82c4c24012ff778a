/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of /proc and /sys below a root: "" on a machine, a folder with a recorded tree in tests.
 * Nothing here blocks, follows a device, or reads without a limit: a tree may be damaged or hostile.
 * Paths begin with "/" and are those of a machine; the root is put before them here.
 */
#ifndef MACHINE_ROOTED_H
#define MACHINE_ROOTED_H

#include <stdbool.h>

#include "core/mem.h"
#include "core/str.h"

/* A descriptor to read from, or -errno; -EINVAL: no regular file. devices: a device will do. */
int rooted_open(const char *root, const char *path, bool devices);

/* Appends the whole file; 0 or -errno, -EFBIG: it has more than limit bytes (the first are there). */
int rooted_read(const char *root, const char *path, size_t limit, struct strbuf *out);

/* First line without blanks at its ends, NULL where there is none. At most 4096 bytes. */
char *rooted_line(struct arena *a, const char *root, const char *path);
/* That line as a whole number; false where it is none. */
bool rooted_number(const char *root, const char *path, double *v);

/* The value of the first line "key<blanks>: value", as in /proc/cpuinfo; NULL: there is none. */
char *rooted_value(struct arena *a, struct span text, const char *key);

/* Paths (without the root) that match a pattern of glob(7), at most limit, in order of names. */
char **rooted_glob(struct arena *a, const char *root, const char *pattern, size_t limit, size_t *n);

/* A line that files have in common, and how many of them have it. */
struct rooted_count {
	const char *line;
	size_t files;
};
/* Different first lines of the files (at most 8192) that match a pattern, in order of their names. */
struct rooted_count *rooted_lines(struct arena *a, const char *root, const char *pattern,
				  size_t *n);

#endif
