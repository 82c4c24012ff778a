/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of a kernel that is built: a base, fragments on top, olddefconfig. */
#ifndef KERNELS_KERNEL_CONFIG_H
#define KERNELS_KERNEL_CONFIG_H

#include "kernels/kernel_build.h"

struct build_config {
	const char *hash;      /* 16 digits: of all that is asked for */
	const char *base;      /* text of a file or of the running kernel's; NULL: a make target */
	const char *fragments; /* text of them all, the last word on an option wins */
};

/* Reads what the recipe names. -ENOENT: the running kernel's is nowhere to be found. */
int kernel_config_read(struct build *b, struct build_config *config);

/*
 * Makes OUT/.config and tells which options of the fragments did not survive. The file keeps its
 * time where it is the same as before; it is not made again for a commit that has the same Kconfig
 * files, Makefiles and scripts.
 */
int kernel_config_make(struct build *b, const struct build_config *config, const char *out);

/* Whether OUT/.config has a line. */
bool kernel_config_has(struct arena *a, const char *out, const char *line);

/* "tinyconfig + 2 fragments" */
char *kernel_config_describe(const struct build *b);

/* make TARGET of b->tree with objects in OUT; kernel_build.c has it. */
int kernel_make(struct build *b, const char *out, const char *target);

#endif
