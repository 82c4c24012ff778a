// SPDX-License-Identifier: GPL-2.0-or-later
/* Another machine, reached by the system's ssh: every visit boots the variant's kernel there. */
#include "targets/target.h"

static int ssh_prepare(struct backend *b, struct err *e)
{
	struct target *t = arena_alloc(b->a, sizeof(*t));
	const char *agent;
	int ret;

	t->b = b;
	t->c = &b->config->target;
	ret = target_agent_path(b->a, t->c, &agent, e);
	if (ret)
		return ret;
	t->argv = target_ssh_argv(b->a, t->c,
				  (const char *[]){agent, "target", t->c->state,
						   target_kernel_folder(b->a, t->c), NULL});
	return target_prepare(t, e);
}

static const struct backend_ops ssh_backend = {
	.name = "ssh",
	.unit = "boot",
	.prepare = ssh_prepare,
	.has_program = target_has_program,
	.find_kernel = target_find_kernel,
	.goes_on = target_goes_on,
	.boot = target_boot,
	.flip = target_flip,
	.run = target_run,
	.collect = target_collect,
	.release = target_release,
};
REGISTER(backend_ops, ssh_backend);
