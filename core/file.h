/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and the folders the program lives in. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/str.h"

/*
 * Reads a whole file ("-" is stdin), at most limit bytes (0: no limit): -EFBIG, without reading what
 * says that it is larger. A named pipe that nobody begins to write to is -ETIMEDOUT, not a hang.
 */
int file_read(const char *path, size_t limit, struct strbuf *out, struct err *e);
/* The same without an error object, for /proc and /sys: returns 0 or -errno. Trailing blanks cut. */
int file_read_line(const char *path, struct strbuf *out);
/*
 * Writes "PATH.new~", syncs it, renames it; what a killed writer left there goes with the next one.
 * A device or a pipe is written to as it is.
 */
int file_write_atomic(const char *path, const void *data, size_t len, struct err *e);
/*
 * Appends in one write, under a lock that mail readers honour; creates the file. A file that holds
 * something gets `ending` first, as far as it does not end in it already ("\n\n" of an mbox).
 */
int file_append(const char *path, const char *ending, const void *data, size_t len, struct err *e);
/* Writes a line into an existing file such as those of /proc/sys and /sys, as echo does. */
int file_write_existing(const char *path, const char *text, struct err *e);
int file_make_dirs(const char *path, struct err *e);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
/* Whether a file can be read and begins so. */
bool file_starts_with(const char *path, const char *start);
/* Whether two paths lead to the same file or folder; false where one does not exist. */
bool file_is_same(const char *x, const char *y);
/* Removes a folder and everything in it, without following links. */
int file_remove_tree(const char *path, struct err *e);
/* Lower-case hex SHA-256. */
int file_sha256(const char *path, char hex[65], struct err *e);
void data_sha256(const void *data, size_t len, char hex[65]);

/* Names in a folder, sorted, without "." and ".."; pattern (shell glob, NULL: all). */
int file_list(struct arena *a, const char *dir, const char *pattern, char ***names, size_t *n,
	      struct err *e);

/*
 * Where things are. $XDG_CACHE_HOME/kdelta (or ~/.cache/kdelta), $XDG_DATA_HOME/kdelta,
 * $XDG_CONFIG_HOME/kdelta; $XDG_STATE_HOME/kdelta, else /var/lib/kdelta, for what is the machine's
 * and not a user's; the shipped configs ($KDELTA_SHARE, beside the program in a source
 * tree, or PREFIX/share/kdelta); helper programs such as kdelta-agent and wakebench
 * ($KDELTA_LIBEXEC, build/ beside the program, or PREFIX/libexec/kdelta).
 */
char *path_cache(struct arena *a, const char *name);
char *path_data(struct arena *a, const char *name);
char *path_state(struct arena *a, const char *name);
char *path_config(struct arena *a, const char *name);
char *path_share(struct arena *a, const char *name);
char *path_libexec(struct arena *a, const char *name);
/* "a" of "a/b.yaml"; "." where there is no slash. */
char *path_folder(struct arena *a, const char *path);
/* "b.yaml" of "a/b.yaml", "b" of "a/b/"; "/" of itself. */
char *path_name(struct arena *a, const char *path);
/* A program as execvp would find it, or NULL. */
char *path_program(struct arena *a, const char *name);

#endif
