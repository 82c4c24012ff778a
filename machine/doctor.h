/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a machine unfit or noisy to measure on, read below a root (machine/rooted.h): a table
 * of checks (doctor_checks.c), and an engine that reads, judges, changes what is safe to change and
 * puts it back.
 */
#ifndef MACHINE_DOCTOR_H
#define MACHINE_DOCTOR_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"
#include "machine/journal.h"

enum doctor_state {
	DOCTOR_FAIL, /* nothing measured here says anything */
	DOCTOR_WARN,
	DOCTOR_INFO, /* worth knowing, neither good nor bad */
	DOCTOR_OK,
	DOCTOR_ABSENT, /* not exposed */
	DOCTOR_STATES
};
/* "FAIL", "warn", "info", "ok", "n/a" */
extern const char *const doctor_state_names[DOCTOR_STATES];

struct doctor;
struct doctor_check;

/*
 * The value of a check that takes more than a file; NULL: it is not exposed. *state is DOCTOR_OK
 * before, and set where it is not.
 */
typedef const char *doctor_look_fn(struct doctor *d, const struct doctor_check *c,
				   enum doctor_state *state);

struct doctor_check {
	const char *name;  /* "cpufreq.governor" */
	const char *title; /* "frequency governor" */
	int weight;	   /* 1 to 10: how much noise it makes where it is bad */
	/*
	 * The file, or a pattern of glob(7); several separated by blanks: the first that is there.
	 * What each file says is judged by its present choice ("always [madvise] never").
	 */
	const char *path;
	/*
	 * Values that are good, that are blockers: words separated by blanks, with '*' for any text,
	 * "<=N" or ">=N". All others are `bad`; where some are named poor, only those, and what
	 * nobody knows is told. good NULL: nothing to judge. Of checks with a function `look`: what
	 * it is to look for.
	 */
	const char *good, *poor, *blocker;
	enum doctor_state bad;
	const char *empty; /* value of a file that says nothing */
	const char *why;   /* one line: what it does to measurements */
	const char *fix;   /* command that changes it, or what to do; NULL: nothing can be done */
	const char *absent; /* why it may not be there, NULL: this kernel has no such file */
	/* What --fix writes into each file; NULL: nothing. safe: also where it is not named. */
	const char *set;
	bool safe;
	bool hardware; /* hidden from a virtual machine */
	bool slow;     /* takes longer than a few files */
	doctor_look_fn *look;
};
extern const struct doctor_check doctor_checks[];
extern const size_t n_doctor_checks;

struct doctor_result {
	const struct doctor_check *check;
	enum doctor_state state;
	const char *value; /* one line; of DOCTOR_ABSENT why there is none */
};

/* What no file says, asked by the caller. */
struct doctor_host {
	const char *folder;	 /* of those that are written to, the one with least space; NULL */
	double free_bytes;	 /* there */
	bool has_clock;		 /* the next is known */
	double clock_correction; /* seconds that the clock is still to be moved by */
};

struct doctor_options {
	const char *root;
	bool quick;		       /* without the checks that take longer */
	const struct doctor_host *host; /* NULL: not known */
	/* Waits between two looks at what runs; NULL: half a second. */
	void (*wait)(void *data);
	void *data;
};

/* Every check (without slow ones if quick), sorted: by state, then weight, then the table. */
struct doctor_result *doctor_look(struct arena *a, const struct doctor_options *opt, size_t *n);

/* Free space of folders (NULL-terminated; those that do not exist yet by the one above), clock. */
void doctor_ask_host(struct arena *a, const char *const *folders, struct doctor_host *h);

/* Where the settings that doctor_fix() found are kept, below the root. */
char *doctor_journal_path(struct arena *a, const char *root);

struct doctor_fix {
	const char *const *names; /* checks, NULL-terminated; NULL: all that are safe */
	bool dry_run;
	void (*before_write)(void *data, const char *path); /* for tests; NULL */
	void *data;
};
/* One file that was, or would be, changed. */
struct doctor_change {
	const struct doctor_check *check;
	const char *path, *old, *value;
	bool done;
};
/*
 * Sets what the results (of doctor_look()) call bad. All that is to be changed stands in the
 * journal, durably, before the first write; a value that stands in it already stays. Tries every
 * file and returns the first error; *changes: what was to be changed, n of it.
 */
int doctor_fix(const struct doctor_fix *fix, const struct doctor_result *results, size_t n,
	       struct journal *j, struct doctor_change **changes, size_t *n_changes,
	       struct err *e);
/*
 * Puts back what the journal names (journal_put_back()); lines that were left alone or failed stay
 * in it, the others are removed from the file but not from *j.
 */
int doctor_restore(struct journal *j, bool force, struct err *e);

#endif
