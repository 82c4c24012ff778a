/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a night's news are called, for people and machines. */
#ifndef HUNT_NIGHTLY_NEWS_H
#define HUNT_NIGHTLY_NEWS_H

#include "hunt/nightly.h"

/* The night in which what is open in `night`, or was fixed by it, was found. */
size_t nightly_opened(const struct nightly_row *row, size_t night);
/* "WORSE", "FIXED", ... of news. */
const char *nightly_word(const struct nightly_row *row, size_t night);
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
/* Finds the commits that made things worse in nights that were told, and tells them. */
int nightly_bisect(struct nightly *n, bool *interrupted);
/* The last night before `since` that gave the row a value; since itself where there is none. */
size_t nightly_before(const struct nightly_row *row, size_t since);
/* The news of a night to the webhook, if there is one; a failure is a note. */
void nightly_post(struct nightly *n, size_t night);
/* The files that the options name, of the last night. */
int nightly_write_files(struct nightly *n);

#endif
