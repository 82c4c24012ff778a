/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests of the backend qemu for others than its visits. */
#ifndef RUNNER_QEMU_H
#define RUNNER_QEMU_H

#include "runner/backend.h"
#include "runner/guest.h"

/*
 * The guest of a variant, whose kernel was found; b is prepared. counts: its instructions are its
 * clock (the seed is for the caller to set). Strings live in b's arena; *spec needs no release.
 */
int qemu_guest_spec(struct backend *b, int variant, bool counts, struct guest_spec *spec,
		    struct err *e);
/*
 * The variant's modules, and what the guest does by itself (frames; may be NULL), into its initial
 * file system: spec->initrd_fd, if there is anything, for the caller to close.
 */
int qemu_add_files(struct backend *b, int variant, const struct strbuf *orders,
		   struct guest_spec *spec, struct err *e);

#endif
