/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one initramfs that fits every kernel: programs and what they need. Modules of one kernel, and
 * orders, go behind it (initramfs_with).
 */
#ifndef RUNNER_INITRAMFS_H
#define RUNNER_INITRAMFS_H

#include "core/err.h"
#include "core/str.h"

/* Lines of tbench's load file that guests get: the whole file is most of an image's size. */
#define INITRAMFS_LOAD_LINES 50000

/* Frames that the agent does before it listens: a guest whose clock counts must not wait for us. */
#define INITRAMFS_ORDERS "orders"

/*
 * kdelta-agent as /init, busybox with a link for each of its applets, hackbench, tbench,
 * tbench_srv, schbench and our own programs where they are installed, the further programs (names
 * or paths, NULL-terminated, or NULL), their shared libraries, and tbench's load file. Programs lie
 * in /bin under their last name. The image is reproducible and kept in the cache under the hash of
 * its contents; *path is its file. -ENOENT: busybox or the agent is missing.
 */
int initramfs_build(struct arena *a, const char *const *programs, const char **path, struct err *e);

struct initramfs_file {
	const char *name; /* as in the image, without a leading '/' */
	struct span data;
};

/* A file in memory (*fd, for the caller to close): the image `base` and further files behind it. */
int initramfs_with(const char *base, const struct initramfs_file *files, size_t n, int *fd,
		   struct err *e);

/*
 * tbench's load file as guests get it. A figure measured with it is comparable with those of the
 * same load only, so its hash is a parameter of the test case. -ENOENT: dbench is not installed.
 */
int initramfs_load(struct strbuf *text, char sha256[65], struct err *e);

#endif
