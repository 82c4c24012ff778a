/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of a benchmark as the place it runs in sees it: commands, server, limits. The same code
 * runs it on this host and, as kdelta-agent, inside a guest; there it travels as text.
 */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include "core/err.h"
#include "core/proc.h"

/* Where a guest has the files of its host, read only (guest/share.h). */
#define JOB_HOST_ROOT "/host"

struct job {
	const char *const *argv; /* NULL-terminated */
	const char *const *env; /* NULL or NULL-terminated */
	const char *dir;
	const char *cpus; /* CPU list; server included */
	const char *const *server; /* argv of a server started before and stopped after, or NULL */
	int port; /* probed before, waited for after the server's start; 0: none */
	const char *const *prepare; /* argv run before, untimed (make clean), or NULL */
	bool drop_caches;
	const char *policy; /* of argv and server, as in struct proc_spec; NULL: as ours */
	int nice;
	bool count; /* argv runs below kdelta-count (jobs/count.h) */
	double deadline; /* seconds */
	uint64_t nofile;
	const char *const *monitors; /* names (machine/monitor.h), NULL-terminated; NULL: none */
	double monitor_interval; /* seconds between samples; 0: its default */
	bool monitor_per_cpu;
};

struct job_result {
	struct proc_result proc; /* of argv */
	/* NULL, or what kept argv from being a run: "port_in_use", "not_found", "prepare_failed",
	 * "server_failed", "server_lost", "no_count" */
	const char *error; /* static text */
	char *message; /* for people, owned */
	struct strbuf server_output;
	struct strbuf monitors; /* their log; empty: there were none */
	struct strbuf count; /* report of kdelta-count */
};

/* The static text of an error above, NULL: it is none. */
const char *job_error_find(struct span word);

/* The same job where programs are looked up in PATH: every command under its last name. */
struct job job_without_paths(struct arena *a, const struct job *job);

int job_run(const struct job *job, struct job_result *result, struct err *e);
void job_result_release(struct job_result *r);

/* Text form for the agent: "key length\nbytes\n" records, ended by "end 0\n\n". */
void job_encode(const struct job *job, struct strbuf *out);
int job_decode(struct arena *a, struct span text, struct job *job, struct err *e);
void job_result_encode(const struct job_result *r, struct strbuf *out);
int job_result_decode(struct span text, struct job_result *r, struct err *e);

#endif
