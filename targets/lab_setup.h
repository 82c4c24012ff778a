/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Slurm must be told to boot nodes for backend slurm: written to a folder, and looked at. */
#ifndef TARGETS_LAB_SETUP_H
#define TARGETS_LAB_SETUP_H

#include "campaign/campaign.h"

/*
 * Writes into `folder`, whose scripts the nodes will run by its full path (nothing in /etc is
 * touched; done: lines for people, with what to do by hand):
 *
 *	helper		node_features/helpers: says the feature of the running kernel, or keeps the
 *			one that the next boot is for
 *	reboot		RebootProgram: arms the boot loader for that feature's kernel, restarts
 *	kernels		"FEATURE RELEASE" of the campaign's variants, read by both
 *	helpers.conf	lines of /etc/slurm/helpers.conf
 *	slurm.conf	lines of /etc/slurm/slurm.conf
 */
int lab_setup(struct arena *a, const struct campaign_config *c, const char *folder,
	      struct strbuf *done, struct err *e);

struct lab_finding {
	const char *what, *value;
	const char *trouble; /* NULL: fine; else what is wrong and what to do */
};
/* What stands in the way of a campaign, as far as it shows here: commands, settings, nodes, folder. */
int lab_check(struct arena *a, const struct campaign_config *c, struct lab_finding **list,
	      size_t *n, struct err *e);

#endif
