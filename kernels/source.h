/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel sources for build benchmarks: fetched and unpacked once into the cache, configured. */
#ifndef KERNELS_SOURCE_H
#define KERNELS_SOURCE_H

#include "campaign/campaign.h"
#include "core/err.h"

/*
 * Makes source tree and build folder of a build case ready: sets c->source_dir and c->build_dir,
 * and adds the parameter source_version ("6.1.192-3", a commit, a hash of the tarball), so that
 * builds of two sources never meet. A second call with the same source only looks. note may be
 * NULL.
 */
int source_prepare(struct arena *a, struct test_case *c, void (*note)(const char *text),
		   struct err *e);

/* First line of `gcc --version`: a build's time depends on its compiler; "" where there is none. */
char *source_compiler(struct arena *a);

#endif
