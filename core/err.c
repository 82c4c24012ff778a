// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/str.h"

static void err_push(struct err *e, const char *fmt, va_list ap, const char *reason)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_vaddf(&sb, fmt, ap);
	if (reason)
		strbuf_addf(&sb, ": %s", reason);
	ARRAY_PUSH(&e->list)->message = strbuf_take(&sb);
}

int err_add(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_push(e, fmt, ap, NULL);
	va_end(ap);
	return code;
}

int err_add_errno(struct err *e, const char *fmt, ...)
{
	int code = errno;
	va_list ap;

	va_start(ap, fmt);
	err_push(e, fmt, ap, strerror(code));
	va_end(ap);
	return code ? -code : -EIO;
}

static struct err_item *err_last(struct err *e)
{
	return e->list.n ? &e->list.items[e->list.n - 1] : NULL;
}

void err_hint(struct err *e, const char *fmt, ...)
{
	struct err_item *it = err_last(e);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	if (!it)
		return;
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	free(it->hint);
	it->hint = strbuf_take(&sb);
}

void err_at(struct err *e, const char *file, int line, int column)
{
	struct err_item *it = err_last(e);

	if (!it)
		return;
	free(it->file);
	it->file = mem_strdup(file);
	it->line = line;
	it->column = column;
}

const char *err_text(const struct err *e)
{
	return e->list.n ? e->list.items[0].message : "";
}

void err_release(struct err *e)
{
	struct err_item *it;

	array_for_each (it, &e->list) {
		free(it->message);
		free(it->hint);
		free(it->file);
	}
	ARRAY_FREE(&e->list);
}
