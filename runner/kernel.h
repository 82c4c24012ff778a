/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel images: from Debian packages, downloaded and unpacked into the cache, or from a path. */
#ifndef RUNNER_KERNEL_H
#define RUNNER_KERNEL_H

#include "runner/backend.h"

/*
 * A package, or a meta package that is followed through its linux-image-* dependency. Nothing is
 * installed; what is in the cache is neither downloaded nor unpacked again. k->source becomes
 * "deb linux-image-6.1.0-57-cloud-amd64 6.1.192-3". note may be NULL.
 * -ENOENT: no such package; the hint names the nearest or says how to get the package lists.
 */
int kernel_find_deb(struct arena *a, const char *package, void (*note)(const char *text),
		    struct kernel_found *k, struct err *e);

/* A bzImage or a vmlinux; anything else is -EINVAL. */
int kernel_find_image(struct arena *a, const char *path, struct kernel_found *k, struct err *e);

/*
 * "6.1.0-57-cloud-amd64 (debian-kernel@...) #1 SMP ...": of a bzImage the text that the field
 * kernel_version of its header points to (Documentation/arch/x86/boot.rst of the kernel), of a
 * vmlinux its banner. The first word is what `uname -r` has to say.
 */
int kernel_read_version(struct arena *a, const char *path, const char **version, struct err *e);

#endif
