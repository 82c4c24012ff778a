/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's pager, for texts longer than the terminal. */
#ifndef RUNNER_PAGER_H
#define RUNNER_PAGER_H

#include "core/str.h"

/*
 * Shows text in $KDELTA_PAGER, $PAGER or less (with LESS=FRX unless set) and waits for its end; the
 * reader may leave early. -ENOENT: no pager is wanted (empty, or cat) or there is none; the text is
 * still to be printed.
 */
int pager_show(struct span text);

#endif
