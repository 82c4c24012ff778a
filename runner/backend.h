/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A place where variants are measured. Three calls a visit: boot (the variant's kernel, or only its
 * settings applied), run (once per test case), collect (shut down or put everything back).
 */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "core/registry.h"
#include "db/db.h"
#include "runner/campaign.h"
#include "runner/job.h"

struct fact {
	const char *key, *value;
};

/* What a visit saw: the boot row of the database. Strings live in the arena of the backend. */
struct visit {
	int variant, block;
	/* The job of the first run: a guest that counts has it before it boots. NULL: none. */
	const struct job *first;
	/* NULL: fine. Else config_error, no_boot, panic, hang, truncated, wrong_kernel, lost */
	const char *error;
	const char *message; /* for people, with what to do */
	bool permanent;	     /* a retry makes no sense (not a kernel, package missing) */
	const char *boot_id, *release, *version, *build_id, *clocksource, *cmdline;
	double seconds;	       /* until the first command could run */
	struct strbuf console; /* of the whole visit, complete after collect */
	ARRAY_OF(struct fact) facts;
};

/* The kernel of a variant as found before the first boot; see runner/kernel.h. */
struct kernel_found {
	const char *identity, *release, *version, *image_sha256, *source, *image, *build_id;
	const char *commit;    /* of a git tree, else what the user states; may be NULL */
	const char *config;    /* file with the configuration it was built with, or NULL */
	const char *build_log; /* of a kernel that was built here, or NULL */
	const char *modules;   /* folder with all of a package's, if they were wanted, or NULL */
	const char *folder;    /* of a program's source, built; NULL: the variant has none */
	const char *unit;      /* of the cache, locked until the program ends; or NULL */
	const char *error;     /* NULL, or no_kernel, no_source: this variant cannot be measured */
	const char *message;   /* why */
};

struct backend;

struct backend_ops {
	const char *name; /* "qemu" */
	const char *unit; /* "boot" or "run": what statistics count */
	bool local;	  /* runs happen on this machine, with its programs and paths */
	bool reboots;	  /* this machine is restarted: only with b->may_restart */
	/* Checks needs and prepares (download, unpack, initramfs). known_build_id: what the
	 * database has for a kernel, by image hash (may return NULL). */
	int (*prepare)(struct backend *b, struct err *e);
	/* NULL: programs lie on this machine. Whether the machine measured has this one in PATH. */
	bool (*has_program)(struct backend *b, const char *program);
	/* Finds the kernel of a variant; permanent errors name an alternative. */
	int (*find_kernel)(struct backend *b, int variant, struct kernel_found *k, struct err *e);
	/*
	 * NULL, or whether the variant can be booted into now without a reboot by hand (manual). One
	 * boot then gives one block only.
	 */
	bool (*is_running)(struct backend *b, int variant);
	/*
	 * NULL, or whether an earlier kdelta ended while the machine was on its way into this visit,
	 * which boot() goes on with.
	 */
	bool (*goes_on)(struct backend *b, int variant, int block);
	/* Returns 0 with v->error set when the variant could not be booted. */
	int (*boot)(struct backend *b, struct visit *v, struct err *e);
	/*
	 * Flip mode, in a visit that goes on: the settings of v->variant in the place of those
	 * before. Returns 0 with v->error set when they cannot be. NULL: it cannot.
	 */
	int (*flip)(struct backend *b, struct visit *v, struct err *e);
	/* Returns 0 with result->error set when the visit broke; then v->error is set too. */
	int (*run)(struct backend *b, struct visit *v, const struct job *job,
		   struct job_result *result, struct err *e);
	int (*collect)(struct backend *b, struct visit *v, struct err *e);
	void (*release)(struct backend *b);
};

REGISTRY(backend_ops);

struct backend {
	const struct backend_ops *ops;
	struct arena *a;
	const struct campaign_config *config;
	bool may_restart;	 /* somebody said that this machine may be restarted */
	const char *accelerator; /* set by prepare: "kvm", "tcg", COUNT_ACCELERATOR, "" */
	/* Set by prepare: all that two counts must have in common to be compared; NULL: no counts. */
	const char *counting;
	/* Set by prepare where another machine is measured; NULL: this one. */
	const struct db_machine *machine;
	/* build-id stored for the image of this hash, or NULL */
	const char *(*known_build_id)(void *data, const char *image_sha256);
	/*
	 * Where a backend keeps how far it is, durable before it goes on (boot_state.h): one text a
	 * campaign, NULL: none. May be NULL.
	 */
	int (*keep)(void *data, const char *text, struct err *e);
	const char *(*kept)(void *data);
	void *data; /* of these */
	/* A line for people while something slow goes on ("downloading ..."); may be NULL. */
	void (*note)(const char *text);
	bool peeks; /* find_kernel: the identity alone is wanted, nothing is built */
	void *priv;
};

/*
 * The visit broke; the first reason stays. A wrong configuration and a wrong kernel are permanent.
 */
void visit_fail(struct backend *b, struct visit *v, const char *error, const char *fmt, ...)
	_printf_(4, 5);
void visit_vfail(struct backend *b, struct visit *v, const char *error, const char *fmt,
		 va_list ap) _printf_(4, 0);
/* Copies value. */
void visit_add_fact(struct backend *b, struct visit *v, const char *key, const char *value);
/* Adds the lines "env cpufreq.governor performance" of an agent's hello. */
void visit_take_environment(struct backend *b, struct visit *v, struct span hello);
/*
 * What of this machine runs: the C library, and of each program the first 16 digits of its hash,
 * since another build is another benchmark.
 */
struct machine_fact *program_facts(struct arena *a, const struct test_case *cases, size_t n_cases,
				   size_t *n);
/* Adds these, of the campaign's test cases. */
void visit_add_programs(struct backend *b, struct visit *v);
/* Adds these and what the machine that runs the visit is set to (machine/facts.h). */
void visit_add_environment(struct backend *b, struct visit *v, const char *root);

const struct backend_ops *backend_find(const char *name);
/* The machine that is measured, once the backend is prepared. */
void backend_read_machine(const struct backend *b, struct db_machine *m);
/* Sorted, NULL-terminated. */
const char *const *backend_names(struct arena *a);

#endif
