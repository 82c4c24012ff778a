// SPDX-License-Identifier: GPL-2.0-or-later
/* This machine, this kernel: variants differ by sysctls, scheduler features and environment. */
#include "runner/host.h"

#include <errno.h>

#include "kernels/kernel.h"
#include "kernels/program.h"
#include "machine/host.h"
#include "runner/settings.h"

static int host_prepare(struct backend *b, struct err *e)
{
	size_t i;
	int ret = 0, one;

	for (i = 0; i < b->config->n_variants; i++) {
		one = settings_check(b->a, &b->config->variants[i], e);
		ret = one ? one : ret;
	}
	return ret;
}

static int host_find_kernel(struct backend *b, int variant, struct kernel_found *found,
			    struct err *e)
{
	const struct kernel_options options = {.installed_only = true, .note = b->note, .peeks = b->peeks};
	struct variant_config running = b->config->variants[variant];
	int ret;

	running.running = true;
	ret = kernel_find(b->a, b->config, &running, &options, found, e);
	return ret || !running.source
		       ? ret
		       : program_find(b->a, b->config, &running, &options, found, e);
}

/* A full disk is no fault of the variant: the campaign stops, and can be resumed. */
static int take_failure(struct backend *b, struct visit *v, int failure, const struct err *why,
			struct err *e)
{
	if (failure == -ECANCELED)
		return err_add(e, failure, "%s", err_text(why));
	if (failure) {
		v->error = "config_error";
		v->message = arena_strdup(b->a, err_text(why));
		v->permanent = true;
	}
	return 0;
}

int host_boot(struct backend *b, struct visit *v, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct running_kernel k;
	size_t i;
	int ret = 0;

	machine_read_kernel(b->a, &k);
	v->boot_id = k.boot_id;
	v->release = k.release;
	v->version = k.version;
	v->build_id = k.build_id;
	v->clocksource = k.clocksource;
	v->cmdline = k.cmdline;
	/* As found: what the variant sets is said in its own place. */
	visit_add_environment(b, v, "");
	/* all that will be switched is journalled now, so that switching itself writes no disk */
	for (i = 0; !ret && b->config->flip && i < b->config->n_variants; i++)
		ret = settings_switch(b->a, &b->config->variants[i], &why);
	if (!ret)
		ret = settings_switch(b->a, &b->config->variants[v->variant], &why);
	return take_failure(b, v, ret, &why, e);
}

int host_flip(struct backend *b, struct visit *v, struct err *e)
{
	_cleanup_arena_ struct arena *scratch = arena_new();
	_cleanup_err_ struct err why = ERR_INIT;

	return take_failure(b, v,
			    settings_switch(scratch, &b->config->variants[v->variant], &why), &why,
			    e);
}

int host_run(struct backend *b, struct visit *v, const struct job *job, struct job_result *result,
	     struct err *e)
{
	(void)b, (void)v;
	return job_run(job, result, e);
}

int host_collect(struct backend *b, struct visit *v, struct err *e)
{
	int n;

	(void)v;
	return settings_restore(b->a, &n, e);
}

static void host_release(struct backend *b)
{
	(void)b;
}

static const struct backend_ops host_backend = {
	.name = "host",
	.unit = "run",
	.local = true,
	.prepare = host_prepare,
	.find_kernel = host_find_kernel,
	.boot = host_boot,
	.flip = host_flip,
	.run = host_run,
	.collect = host_collect,
	.release = host_release,
};
REGISTER(backend_ops, host_backend);
