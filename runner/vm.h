/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A person's shell in the guest of a variant. */
#ifndef RUNNER_VM_H
#define RUNNER_VM_H

#include "campaign/campaign.h"

/*
 * Boots the variant as a campaign of guests would, its settings applied, with a shell on this
 * terminal in the place of benchmarks; returns once the guest is off. -EINVAL: not a campaign of
 * guests. note: lines for people while something slow goes on; may be NULL.
 */
int vm_shell(struct arena *a, const struct campaign_config *c, int variant,
	     void (*note)(const char *text), struct err *e);

#endif
