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

#endif
