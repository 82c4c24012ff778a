/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `kdelta doctor` says in one line before a campaign. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/cli.h"

/* Names on stderr what the checks that cost nothing found here; nothing where all is well. */
void doctor_note(const struct cli *c);

#endif
