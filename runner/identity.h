/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who the user is to other people: the author that git would write into a commit. */
#ifndef RUNNER_IDENTITY_H
#define RUNNER_IDENTITY_H

#include "core/mem.h"

/*
 * "Name <a@b>" of GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, git's user.name and user.email, else $EMAIL.
 * Never guessed from the host's name; NULL if nobody said.
 */
char *identity_sender(struct arena *a);

#endif
