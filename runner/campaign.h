/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign as its YAML file says, checked; and the plan made from it. */
#ifndef RUNNER_CAMPAIGN_H
#define RUNNER_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/mem.h"
#include "runner/catalog.h"

struct setting {
	const char *name, *value;
};

struct variant_config {
	const char *name, *description;
	/* kernel: exactly one of deb, image, running (none given) */
	const char *deb; /* package name, meta packages are followed */
	const char *image, *modules, *initrd;
	const char *commit; /* stated by the user, or NULL */
	const char *cmdline; /* words added to the kernel's command line */
	const char *memory; /* "512M" of a guest, NULL: the campaign's */
	struct setting *sysctls;
	size_t n_sysctls;
	const char *const *features; /* sched_features, e.g. "NO_GENTLE_FAIR_SLEEPERS" */
	struct setting *env;
	size_t n_env;
	int line, column; /* in the file */
};

struct param_value {
	const char *name, *value;
	bool swept;
};

struct test_case {
	const struct bench_def *bench;
	const char *name; /* "tbench/clients=64/bind=node0" */
	const char *identity; /* hash of benchmark and all parameters */
	struct param_value *params; /* in the order of the benchmark's file, then bind */
	size_t n_params;
	const char *bind; /* "node0-1", "cpus 0-3", NULL */
	double expected; /* seconds on this backend */
	/* kernbench */
	const char *source_deb, *source_git, *source_tarball, *config, *target;
	bool drop_caches;
};

struct campaign_config {
	const char *name, *file, *text;
	const char *backend; /* host, manual, qemu */
	int repeat;
	uint64_t seed;
	const char *memory; /* of guests, default 512M */
	int cpus; /* of guests, default 1 */
	struct variant_config *variants;
	size_t n_variants;
	struct test_case *cases;
	size_t n_cases;
};

/*
 * Reads and checks a campaign file; all errors are reported together with file:line:column and a
 * suggestion. cpus: what "100%" counts (0: of this machine or of the guest).
 */
int campaign_read(struct arena *a, const char *path, const struct catalog *cat,
		  struct campaign_config **out, struct err *e);

/* One planned run, in order of execution. */
struct plan_cell {
	int block, variant, test; /* block from 1; indexes */
};
/*
 * Randomised complete blocks: every block visits each variant once, in an order drawn from the
 * seed; two variants: AB and BA balanced as far as the number of blocks allows. Within a visit
 * every test case runs once, in a fixed order.
 */
struct plan_cell *plan_make(struct arena *a, const struct campaign_config *c, size_t *n);

#endif
