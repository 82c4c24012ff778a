/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of the host backend that are built from a git repository: `source` of a variant. */
#ifndef KERNELS_PROGRAM_H
#define KERNELS_PROGRAM_H

#include "kernels/kernel.h"

/*
 * Builds what v->source says and adds it to k, the running kernel: identity, source, commit,
 * folder. Benchmarks find the folder as $KDELTA_SOURCE. As for kernel_find() what fails is no error
 * of the campaign: k->error is "no_source" then.
 */
int program_find(struct arena *a, const struct campaign_config *c, const struct variant_config *v,
		 const struct kernel_options *opt, struct kernel_found *k, struct err *e);
/* Whether repository, ref and patches are there; nothing is built. */
int program_check(const struct kernel_request *r);

#endif
