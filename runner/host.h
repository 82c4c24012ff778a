/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring on this machine under the running kernel: shared by the host and manual backends. */
#ifndef RUNNER_HOST_H
#define RUNNER_HOST_H

#include "runner/backend.h"

/* Applies the variant's settings; a setting that cannot be applied is a permanent v->error. */
int host_boot(struct backend *b, struct visit *v, struct err *e);
/* Settings of v->variant in the place of those before. */
int host_flip(struct backend *b, struct visit *v, struct err *e);
int host_run(struct backend *b, struct visit *v, const struct job *job, struct job_result *result,
	     struct err *e);
/* Puts every setting back. */
int host_collect(struct backend *b, struct visit *v, struct err *e);

#endif
