/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A place where variants are measured. Three calls a visit: boot (the variant's kernel, or only its
 * settings applied), run (once per test case), collect (shut down or put everything back).
 */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "campaign/backends.h"
#include "campaign/campaign.h"
#include "db/db.h"
#include "jobs/job.h"
#include "kernels/kernel.h"

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

/* The machine that is measured, once the backend is prepared. */
void backend_read_machine(const struct backend *b, struct db_machine *m);

#endif
