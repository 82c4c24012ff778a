/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration that the running kernel was built with. */
#ifndef MACHINE_KCONFIG_H
#define MACHINE_KCONFIG_H

#include <stdbool.h>

#include "core/str.h"

/*
 * Appends it from /proc/config.gz, else from /boot/config-RELEASE or /lib/modules/RELEASE/config,
 * below the root. -ENOENT: it is in none of them; -EBADMSG or -EFBIG: what is there is no
 * configuration. path (may be NULL): where it was.
 */
int kconfig_read(struct arena *a, const char *root, struct strbuf *out, const char **path);

/* Whether a line sets it: "CONFIG_KASAN=y" for "CONFIG_KASAN". */
bool kconfig_has(struct span text, const char *option);

#endif
