/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both roles of the agent tell about the running kernel, and the settings they change. */
#ifndef GUEST_FACTS_H
#define GUEST_FACTS_H

#include "core/str.h"
#include "machine/host.h"

/*
 * "key value" a line: release, version, build_id, boot_id, clocksource, cmdline, cpus, memory_kb;
 * and "env KEY VALUE" for each fact of machine/facts.h.
 */
void facts_add(struct arena *a, const struct running_kernel *k, struct strbuf *text);
/* MemTotal in KiB, "" if unknown. */
char *facts_memory(struct arena *a);

/*
 * Puts back what was set before and applies settings (their text: runner/settings.h); adds to
 * failures why one could not be.
 */
void apply_text(struct arena *a, struct span text, struct strbuf *failures);

#endif
