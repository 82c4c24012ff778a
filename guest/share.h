/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's files in a guest (runner/share.h): both ends of it that need root's rights. */
#ifndef GUEST_SHARE_H
#define GUEST_SHARE_H

#include "core/str.h"

/*
 * In the guest: JOB_HOST_ROOT becomes the host's root folder, shared as kind ("virtiofs"
 * or "9p"), with what is written kept in memory, anew: as if nothing had been written before. What
 * failed is a line in failures.
 */
void share_mount(struct span kind, struct strbuf *failures);

/*
 * On the host: becomes virtiofsd, accepting at the socket of that number, whatever is mounted read
 * only: a guest's kernel may be one that is wrong. Returns only after an error, printed: 1.
 */
int share_serve(const char *fd, const char *program);

#endif
