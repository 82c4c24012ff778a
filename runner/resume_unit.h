/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes on with a campaign after this machine was restarted: kdelta-resume.service
 * (systemd/ in the source tree) starts what the request says, once the machine is up. The request is
 * a file of environment variables (systemd.exec(5), EnvironmentFile) in $KDELTA_RESUME, else
 * /var/lib/kdelta/resume; without it the unit does nothing.
 */
#ifndef RUNNER_RESUME_UNIT_H
#define RUNNER_RESUME_UNIT_H

#include "core/err.h"
#include "core/mem.h"

/* -ENOENT, with what to do: the unit is not there or not enabled. */
int resume_unit_check(struct err *e);
/* Writes the request, synced: this program, the campaign's id, the database, folders. */
int resume_unit_arm(struct arena *a, const char *campaign, const char *db_path, struct err *e);
/* Nobody goes on. */
void resume_unit_disarm(void);

#endif
