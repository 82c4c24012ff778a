/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli/cli.h"
#include "runner/run.h"

/* Prints the plan of a campaign as these options would make it; writes nothing. */
int plan_show(struct cli *c, struct campaign_config *config, const struct run_options *opt);

#endif
