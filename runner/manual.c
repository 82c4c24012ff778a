// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bare metal, rebooted by hand: only the variant whose kernel is running is measured, told by
 * release, version string and, once seen, build-id. The same command line goes on after each boot.
 */
#include "runner/host.h"

#include <string.h>

#include "kernels/kernel.h"
#include "machine/host.h"
#include "runner/settings.h"

struct manual {
	struct kernel_found *kernels; /* of the variants */
};

static int manual_prepare(struct backend *b, struct err *e)
{
	struct manual *m = arena_alloc(b->a, sizeof(*m));

	(void)e;
	m->kernels = arena_alloc_array(b->a, b->config->n_variants, sizeof(*m->kernels));
	b->priv = m;
	return 0;
}

static int manual_find_kernel(struct backend *b, int variant, struct kernel_found *k, struct err *e)
{
	const struct kernel_options options = {.note = b->note, .installed_only = true};
	struct manual *m = b->priv;
	int ret = kernel_find(b->a, b->config, &b->config->variants[variant], &options, k, e);

	if (!ret && k->image_sha256 && b->known_build_id)
		k->build_id = b->known_build_id(b->data, k->image_sha256);
	m->kernels[variant] = *k;
	return ret;
}

/* The header's version string ends with what `uname -v` says: "6.1.0-57-amd64 (...) #1 SMP ...". */
static bool is_kernel(const struct running_kernel *now, const struct kernel_found *k)
{
	if (k->error)
		return false;
	if (strcmp(now->release, k->release) || (k->version && !str_ends(k->version, now->version)))
		return false;
	return !k->build_id || !*k->build_id || !strcmp(k->build_id, now->build_id);
}

static bool manual_is_running(struct backend *b, int variant)
{
	struct manual *m = b->priv;
	struct running_kernel now;

	machine_read_kernel(b->a, &now);
	return is_kernel(&now, &m->kernels[variant]);
}

static int manual_boot(struct backend *b, struct visit *v, struct err *e)
{
	if (manual_is_running(b, v->variant))
		return host_boot(b, v, e);
	v->error = "wrong_kernel";
	v->message = "the running kernel is not the variant's";
	v->permanent = true;
	return 0;
}

static void manual_release(struct backend *b)
{
	b->priv = NULL;
}

#define BOOTED_BY_OTHERS                                                                           \
	.unit = "boot", .local = true, .prepare = manual_prepare,                                  \
	.find_kernel = manual_find_kernel, .is_running = manual_is_running, .boot = manual_boot,   \
	.run = host_run, .collect = host_collect, .release = manual_release

static const struct backend_ops manual_backend = {
	.name = "manual", BOOTED_BY_OTHERS, .flip = host_flip};
REGISTER(backend_ops, manual_backend);

/* A node in a job (`run --one`), booted by Slurm; lab.c submits the jobs. */
static const struct backend_ops slurm_backend = {.name = "slurm", BOOTED_BY_OTHERS};
REGISTER(backend_ops, slurm_backend);
