/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sysctls, scheduler features and knobs of a variant on this machine, and putting them back. Before
 * anything is changed the old value stands in a journal (machine/journal.h), so that the next start
 * restores what a crash or kill -9 left changed.
 */
#ifndef RUNNER_SETTINGS_H
#define RUNNER_SETTINGS_H

#include "campaign/campaign.h"
#include "core/err.h"
#include "core/mem.h"
#include "core/str.h"

/*
 * Applies the settings of a variant in the place of those applied before: what the journal names is
 * put back first, and the journal stays. A setting that does not exist or cannot be written is
 * -EINVAL or -EACCES with the reason, -ECANCELED where it is the journal that cannot be written; what
 * was changed before it stays until settings_restore().
 */
int settings_switch(struct arena *a, const struct variant_config *v, struct err *e);

/* Whether the settings exist here and may be changed; tells all that do not. */
int settings_check(struct arena *a, const struct variant_config *v, struct err *e);

/*
 * Puts back everything the journal names, newest first, and removes it. Values of an earlier boot
 * are gone with that boot and are only forgotten. *n: settings put back.
 */
int settings_restore(struct arena *a, int *n, struct err *e);

/* As text for an agent, a line each: "sysctl NAME VALUE", "feature NAME" or "knob PATH VALUE". */
void settings_encode(const struct variant_config *v, struct strbuf *out);
/* Back, into the settings of *v; lines of other kinds are left out. */
void settings_decode(struct arena *a, struct span text, struct variant_config *v);

#endif
