/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control group that this program runs in. */
#ifndef MACHINE_CGROUP_H
#define MACHINE_CGROUP_H

#include <stdbool.h>

#include "core/mem.h"

/*
 * Its folder below the root, "/sys/fs/cgroup/user.slice", from /proc/self/cgroup: of a controller of
 * version 1 ("cpu", in the line "4:cpu,cpuacct:/user.slice"), or "" of version 2
 * ("0::/user.slice"). In a container the folder may not exist while its parents do. NULL: there is
 * no such group.
 */
char *cgroup_folder(struct arena *a, const char *root, const char *controller);
/* Cuts the last part off a folder; false: that was the uppermost one. */
bool cgroup_up(char *folder, const char *controller);

#endif
