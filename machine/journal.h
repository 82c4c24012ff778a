/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a machine that were changed, and what they were before: a file of JSON lines that is
 * on disk before the first of them is changed, so that whatever dies (this program, the machine),
 * the next one can put them back:
 *
 *	{"boot_id": "5bd2...", "path": "/proc/sys/vm/swappiness", "value": "60", "set": "10"}
 *
 * Values of /proc and /sys end with their boot: lines of an earlier one are only forgotten.
 */
#ifndef MACHINE_JOURNAL_H
#define MACHINE_JOURNAL_H

#include <stdbool.h>

#include "core/err.h"
#include "core/mem.h"

enum journal_fate {
	JOURNAL_CHANGED,  /* not looked at yet */
	JOURNAL_PUT_BACK, /* the old value was written */
	JOURNAL_SAME,	  /* it had its old value already */
	JOURNAL_OVER,	  /* of an earlier boot */
	JOURNAL_FOREIGN,  /* somebody else changed it meanwhile; left alone */
	JOURNAL_FAILED,	  /* it is not there, or cannot be written; told in the error */
};

/* "changed", "put back", "same", ... in the order of the enumeration. */
extern const char *const journal_fate_names[];

struct journal_line {
	const char *boot_id;
	const char *path;      /* without the root */
	const char *value;     /* before */
	const char *set;       /* what was written, "" where an older version wrote the line */
	enum journal_fate fate;
	const char *now; /* of JOURNAL_FOREIGN: what it is */
};

struct journal {
	struct arena *a;
	const char *file, *root;
	const char *boot_id; /* of the machine below the root, "" where it does not say */
	ARRAY_OF(struct journal_line) lines;
};
#define _cleanup_journal_ _cleanup_(journal_release)

/*
 * Reads it; no file: no lines. A line cut by a crash was never acted upon and is left out. -EIO: it is
 * not known which boot this is, so nothing may be changed.
 */
int journal_open(struct journal *j, struct arena *a, const char *file, const char *root,
		 struct err *e);
void journal_release(struct journal *j);

/* What brings back the setting that a file below the root holds now; NULL: it cannot be read. */
char *journal_current(struct arena *a, const char *root, const char *path);

/* Whether this boot's value of a path, any or this one (NULL: any), stands in it already. */
bool journal_has(const struct journal *j, const char *path, const char *value);
/* A line to be saved; strings stay the caller's. */
void journal_note(struct journal *j, const char *path, const char *value, const char *set);
/* Writes all lines durably; makes the folder. The file goes where no line is left. */
int journal_save(struct journal *j, struct err *e);

/*
 * Makes a file below the root hold a value: nothing to do where it does; else journal and write.
 * what: its name for people. -EINVAL: there is no such setting, or the kernel keeps another value;
 * -ECANCELED: the journal cannot be written (a full disk), so nothing was changed.
 */
int journal_set(struct journal *j, const char *path, const char *what, const char *value,
		struct err *e);
/* The same without looking at what the file holds, for one that takes words: old undoes new. */
int journal_write(struct journal *j, const char *path, const char *what, const char *old,
		  const char *new, struct err *e);

/*
 * Puts back every line, newest first, and tells its fate. force: also what somebody else changed
 * meanwhile (it holds neither the value set nor the one before). Lines stay as they are. Returns the
 * first error, after having tried all.
 */
int journal_put_back(struct journal *j, bool force, struct err *e);

/* Adds the hint that changing `what` needs root where the code says so; returns the code. */
int journal_explain(struct err *e, int code, const char *what);

#endif
