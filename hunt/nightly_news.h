/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with a night's news: each part in the file of its name. */
#ifndef HUNT_NIGHTLY_NEWS_H
#define HUNT_NIGHTLY_NEWS_H

#include "hunt/nightly_read.h"

/* ---- nightly_tell.c ---- */

/* Mail and webhook for nights that were not told yet; files. */
int nightly_tell(struct nightly *n);
/*
 * A mail of a night, where mail is configured: what ("changed") makes its Message-ID; answers: that
 * of another one, or NULL.
 */
struct nightly_mail {
	const char *subject;
	struct span body;
	const char *what;
	size_t night;
	const char *answers;
	size_t answers_night;
};
int nightly_send(struct nightly *n, const struct nightly_mail *mail);

/* ---- nightly_bisect.c ---- */

/* Finds the commits that made things worse in nights that were told, and tells them. */
int nightly_bisect(struct nightly *n, bool *interrupted);

/* ---- nightly_files.c ---- */

/* The news of a night to the webhook, if there is one; a failure is a note. */
void nightly_post(struct nightly *n, size_t night);
/* The files that the options name, of the last night. */
int nightly_write_files(struct nightly *n);

#endif
