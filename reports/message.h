/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report as a message: RFC 5322 text, text/plain in us-ascii and 7bit, so that nothing on its way
 * has a reason to change it, and no format=flowed, which would wrap tables. Pure text, no I/O.
 */
#ifndef REPORTS_MESSAGE_H
#define REPORTS_MESSAGE_H

#include <time.h>

#include "core/err.h"
#include "core/mem.h"
#include "core/str.h"

struct message_address {
	const char *name; /* UTF-8, without quotes; "" if none */
	const char *mail; /* "a@b" */
};

struct message_addresses {
	struct message_address *items;
	size_t n, alloc;
};

struct message {
	struct message_address from;
	struct message_addresses to, cc;
	const char *subject;	 /* UTF-8, one line */
	const char *id;		 /* "x@y", without brackets */
	const char *in_reply_to; /* the same, or NULL */
	time_t date;
	struct span body; /* as message_check takes it */
};

/*
 * Adds the addresses of a list such as `Doe, Jr. "J. Doe" <j@d>, a@b` to list, whose strings live
 * in the arena; free list->items with ARRAY_FREE. what: for the error, "--to". -EINVAL.
 */
int message_add_addresses(struct arena *a, const char *what, const char *text,
			  struct message_addresses *list, struct err *e);

/* A line of a header: UTF-8 without control characters. -EINVAL names what. */
int message_check_line(const char *what, const char *text, struct err *e);

/*
 * What 7bit and SMTP carry unchanged: ASCII without control characters but tab and form feed, lines
 * of at most 998 bytes. -EINVAL with file and line; not empty.
 */
int message_check_body(const char *file, struct span body, struct err *e);

/* The whole message, lines ended by "\n", the last one too. */
void message_write(const struct message *m, struct strbuf *out);

/* As one entry of an mbox (mboxrd: ">*From " lines get one more ">"), ended by an empty line. */
void message_write_mbox(const struct message *m, struct strbuf *out);

#endif
