/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one error object. Functions return 0 or a negative errno and add to it what went wrong,
 * where in the *user's* file, and what to do. Several errors of one config are kept together.
 * Only cli/ prints it.
 */
#ifndef CORE_ERR_H
#define CORE_ERR_H

#include "core/mem.h"

struct err_item {
	char *message;
	char *hint; /* what to do, or NULL */
	char *file; /* NULL: no position */
	int line, column; /* 1-based, 0: unknown */
};

struct err {
	ARRAY_OF(struct err_item) list;
};
#define ERR_INIT { { NULL, 0, 0 } }
#define _cleanup_err_ _cleanup_(err_release)

/* Adds a message and returns code (a negative errno), so that callers can `return err_add(...)`. */
int err_add(struct err *e, int code, const char *fmt, ...) _printf_(3, 4);
/* The same with ": strerror(errno)" appended; returns -errno. */
int err_add_errno(struct err *e, const char *fmt, ...) _printf_(2, 3);
/* Amend the message added last. */
void err_hint(struct err *e, const char *fmt, ...) _printf_(2, 3);
void err_at(struct err *e, const char *file, int line, int column);
/* The text of the first message, "" if none. */
const char *err_text(const struct err *e);
void err_release(struct err *e);

#endif
