/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files of /sys and debugfs print of a setting, and how that compares with what is written
 * into them. Shared by the host and the agent in guests.
 */
#ifndef MACHINE_KNOB_H
#define MACHINE_KNOB_H

#include <stdbool.h>

#include "core/str.h"

/*
 * The value that brings back what a file says, without the blanks around it. A file that lists its
 * choices marks the present one: "[none] mq-deadline kyber", "none voluntary (full)".
 */
struct span knob_value(struct span text);

/*
 * Whether two values are one setting: the same words, the same number ("0x10", 16), or the same
 * truth (Y and 1).
 */
bool knob_equal(struct span x, struct span y);

#endif
