/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Campaigns that hunts make: their names follow from what they are for, so that after a kill the
 * same call finds what there is and goes on. And what they measure: a template at a commit.
 */
#ifndef HUNT_NAMED_H
#define HUNT_NAMED_H

#include "runner/run.h"

/* The newest campaign of that name; *found NULL: none. */
int named_find(struct db *db, struct arena *a, const char *name, const struct db_campaign **found,
	       struct err *e);
/*
 * Runs the campaign of config->name, or what is left of it; nothing where it has ended.
 * *interrupted: by a signal.
 */
int named_run(struct db *db, struct arena *a, const struct catalog *cat,
	      struct campaign_config *config, void (*note)(const char *text), bool *interrupted,
	      struct err *e);

/* A campaign's only variant at other commits of its repository. */
struct template_at {
	const char *repo, *hash, *name, *subject;
	const char *fixup; /* patch, or NULL */
};
/* The recipe of the one variant of c; -EINVAL with what to write: it has none. */
int template_check(const struct campaign_config *c, const char *repo, struct err *e);
struct variant_config template_variant(struct arena *a, const struct variant_config *template,
				       const struct template_at *at);

#endif
