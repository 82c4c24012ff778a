/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel modules that a guest loads before its benchmarks. */
#ifndef RUNNER_MODULES_H
#define RUNNER_MODULES_H

#include "core/err.h"
#include "core/mem.h"
#include "runner/initramfs.h"

/*
 * The modules of those names and what they depend on (depends= of their .modinfo), unpacked, as files
 * of an image whose order is that of loading: "modules/000-netfs.ko", "modules/001-9p.ko". dir: a
 * lib/modules/RELEASE. What is built in (modules.builtin) needs none. -ENOENT: there is no such
 * module; the hint names the nearest.
 */
int modules_find(struct arena *a, const char *dir, const char *const *names,
		 struct initramfs_file **files, size_t *n, struct err *e);

#endif
