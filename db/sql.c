// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/sql.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

static const struct {
	int code, error;
	const char *text, *hint;
} sql_errors[] = {
	{SQLITE_FULL, ENOSPC, "no space left for the database",
	 "free some space or choose another place with --db; what was stored before is safe"},
	{SQLITE_READONLY, EROFS, "the database is read-only",
	 "give it and its folder write permission, or choose another place with --db"},
	{SQLITE_BUSY, EBUSY, "another process has kept the database locked for 30 seconds", NULL},
	{SQLITE_CORRUPT, EBADMSG, "the database is damaged",
	 "`kdelta db check` lists what is; restore it from a copy made by `kdelta db backup`"},
	{SQLITE_NOTADB, EBADMSG, "this file is not a database of kdelta", NULL},
	{SQLITE_CANTOPEN, EACCES, "cannot open the database", NULL},
	{SQLITE_CONSTRAINT, EINVAL, "the database refuses this", NULL},
};

int sql_error(struct db *db, struct err *e)
{
	int code = sqlite3_extended_errcode(db->handle) & 0xff;
	int io_error = sqlite3_system_errno(db->handle);
	const char *detail = sqlite3_errmsg(db->handle);
	size_t i;

	db->doomed = db->depth > 0;
	db->error = -EIO;
	if (code == SQLITE_IOERR && io_error == ENOSPC)
		code = SQLITE_FULL;
	if (code == SQLITE_CANTOPEN && io_error)
		detail = strerror(io_error);
	for (i = 0; i < ARRAY_SIZE(sql_errors); i++) {
		if (sql_errors[i].code != code)
			continue;
		err_add(e, 0, "%s: %s (%s)", db->path, sql_errors[i].text, detail);
		if (sql_errors[i].hint)
			err_hint(e, "%s", sql_errors[i].hint);
		return db->error = -sql_errors[i].error;
	}
	return err_add(e, -EIO, "%s: database error: %s", db->path, detail);
}

static sqlite3_stmt *sql_prepare(struct db *db, const char *text, struct err *e)
{
	struct sql_cached *c;
	sqlite3_stmt *stmt;

	array_for_each (c, &db->cache)
		if (!strcmp(c->text, text))
			return c->stmt;
	if (sqlite3_prepare_v3(db->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL)) {
		sql_error(db, e);
		return NULL;
	}
	c = ARRAY_PUSH(&db->cache);
	c->stmt = stmt;
	c->text = sqlite3_sql(stmt);
	return stmt;
}

static int bind_text(sqlite3_stmt *stmt, int i, const char *s)
{
	return s ? sqlite3_bind_text(stmt, i, s, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(stmt, i);
}

static int bind_int(sqlite3_stmt *stmt, int i, int64_t v, bool is_null)
{
	return is_null ? sqlite3_bind_null(stmt, i) : sqlite3_bind_int64(stmt, i, v);
}

/* "Hmean" -> "hmean" */
static int bind_mean_kind(sqlite3_stmt *stmt, int i, enum mean_kind kind)
{
	char word[16];
	const char *s = mean_kind_name(kind);
	size_t n;

	for (n = 0; s[n] && n < sizeof(word) - 1; n++)
		word[n] = (char)tolower((unsigned char)s[n]);
	word[n] = '\0';
	return bind_text(stmt, i, word);
}

static int sql_bind(sqlite3_stmt *stmt, int i, char letter, const void *p)
{
	const char *s;
	double d;

	switch (letter) {
	case 'i':
		return bind_int(stmt, i, *(const int *)p, false);
	case 'o':
		return bind_int(stmt, i, *(const int *)p, !*(const int *)p);
	case 'm':
		return bind_int(stmt, i, *(const int *)p, *(const int *)p == -1);
	case 'b':
		return bind_int(stmt, i, *(const bool *)p, false);
	case 'l':
		return bind_int(stmt, i, *(const int64_t *)p, false);
	case 'k':
	case 'K':
		return bind_int(stmt, i, *(const int64_t *)p, !*(const int64_t *)p);
	case 'M':
		return bind_int(stmt, i, *(const int64_t *)p, *(const int64_t *)p == -1);
	case 'd':
	case 'n': /* SQLite itself binds NAN as NULL */
		return sqlite3_bind_double(stmt, i, *(const double *)p);
	case 'p':
		d = *(const double *)p;
		return sqlite3_bind_double(stmt, i, d > 0 ? d : NAN);
	case 't':
		s = *(const char *const *)p;
		return bind_text(stmt, i, s ? s : "");
	case 'D':
		return bind_text(stmt, i, direction_name(*(const enum direction *)p));
	case 'A':
		return bind_mean_kind(stmt, i, *(const enum mean_kind *)p);
	default:
		return bind_text(stmt, i, *(const char *const *)p);
	}
}

static void sql_read(sqlite3_stmt *stmt, int i, char letter, struct arena *a, void *p)
{
	bool is_null = sqlite3_column_type(stmt, i) == SQLITE_NULL;
	const char *text;

	switch (letter) {
	case 'i':
	case 'o':
		*(int *)p = sqlite3_column_int(stmt, i);
		return;
	case 'm':
		*(int *)p = is_null ? -1 : sqlite3_column_int(stmt, i);
		return;
	case 'b':
		*(bool *)p = sqlite3_column_int(stmt, i) != 0;
		return;
	case 'l':
	case 'k':
	case 'K':
		*(int64_t *)p = sqlite3_column_int64(stmt, i);
		return;
	case 'M':
		*(int64_t *)p = is_null ? -1 : sqlite3_column_int64(stmt, i);
		return;
	case 'd':
	case 'n':
	case 'p':
		*(double *)p = is_null ? NAN : sqlite3_column_double(stmt, i);
		return;
	}
	text = is_null ? NULL : (const char *)sqlite3_column_text(stmt, i);
	switch (letter) {
	case 'D':
		if (!text || !direction_parse(text, p))
			*(enum direction *)p = DIR_UNKNOWN;
		return;
	case 'A':
		if (!text || !mean_kind_parse(text, p))
			*(enum mean_kind *)p = MEAN_AMEAN;
		return;
	case 't':
		*(const char **)p = text ? arena_strdup(a, text) : "";
		return;
	default:
		*(const char **)p = arena_strdup(a, text);
	}
}

static int sql_bind_args(sqlite3_stmt *stmt, const char *letters, va_list ap)
{
	int i, r = SQLITE_OK;

	for (i = 1; *letters && !r; letters++, i++) {
		if (strchr("iomDA", *letters)) {
			int v = va_arg(ap, int);

			r = sql_bind(stmt, i, *letters, &v);
		} else if (*letters == 'b') {
			bool v = va_arg(ap, int);

			r = sql_bind(stmt, i, *letters, &v);
		} else if (strchr("lkKM", *letters)) {
			int64_t v = va_arg(ap, int64_t);

			r = sql_bind(stmt, i, *letters, &v);
		} else if (strchr("dnp", *letters)) {
			double v = va_arg(ap, double);

			r = sql_bind(stmt, i, *letters, &v);
		} else {
			const char *v = va_arg(ap, const char *);

			r = sql_bind(stmt, i, *letters, &v);
		}
	}
	return r;
}

static sqlite3_stmt *sql_vstart(struct db *db, struct err *e, const char *text, const char *letters,
				va_list ap)
{
	sqlite3_stmt *stmt = sql_prepare(db, text, e);

	if (stmt && sql_bind_args(stmt, letters, ap)) {
		sql_error(db, e);
		return NULL;
	}
	return stmt;
}

sqlite3_stmt *sql_start(struct db *db, struct err *e, const char *text, const char *letters, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, letters);
	stmt = sql_vstart(db, e, text, letters, ap);
	va_end(ap);
	return stmt;
}

int sql_step(struct db *db, sqlite3_stmt *stmt, struct err *e)
{
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return sql_error(db, e);
	}
}

/* A statement left unfinished would hold its snapshot and keep this connection from writing. */
void sql_done(sqlite3_stmt *stmt)
{
	if (!stmt)
		return;
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
}

void sql_done_ptr(sqlite3_stmt **stmt)
{
	sql_done(*stmt);
}

static int sql_finish(struct db *db, sqlite3_stmt *stmt, struct err *e)
{
	int r;

	do
		r = sql_step(db, stmt, e);
	while (r > 0);
	return r;
}

int sql_run(struct db *db, struct err *e, const char *text, const char *letters, ...)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	va_list ap;

	va_start(ap, letters);
	stmt = sql_vstart(db, e, text, letters, ap);
	va_end(ap);
	return stmt ? sql_finish(db, stmt, e) : db->error;
}

int sql_value(struct db *db, struct err *e, int64_t *value, const char *text, const char *letters,
	      ...)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	va_list ap;
	int r;

	va_start(ap, letters);
	stmt = sql_vstart(db, e, text, letters, ap);
	va_end(ap);
	r = stmt ? sql_step(db, stmt, e) : db->error;
	if (r <= 0)
		return r;
	*value = sqlite3_column_int64(stmt, 0);
	/* INSERT ... RETURNING has done its work only when stepped to the end */
	r = sql_finish(db, stmt, e);
	return r ? r : 1;
}

static int sql_bind_row(struct db *db, sqlite3_stmt *stmt, const struct sql_shape *shape,
			const void *row, struct err *e)
{
	const struct sql_field *f;
	int i = 1, r = SQLITE_OK;

	for (f = shape->fields; f->column && !r; f++, i++)
		r = sql_bind(stmt, i, f->letter, (const char *)row + f->offset);
	return r ? sql_error(db, e) : 0;
}

static int sql_write(struct db *db, const struct sql_shape *shape, const void *row, bool insert,
		     const char *text, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_prepare(db, text, e);
	int r = stmt ? sql_bind_row(db, stmt, shape, row, e) : db->error;

	if (r)
		return r;
	if (insert && shape->fields[0].letter == 'K')
		sqlite3_bind_null(stmt, 1);
	return sql_finish(db, stmt, e);
}

int sql_insert(struct db *db, const struct sql_shape *shape, const void *row, int64_t *id,
	       struct err *e)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct sql_field *f;
	int r;

	strbuf_addf(&sb, "INSERT INTO %s(", shape->table);
	for (f = shape->fields; f->column; f++)
		strbuf_addf(&sb, "%s%s", f == shape->fields ? "" : ", ", f->column);
	strbuf_adds(&sb, ") VALUES (");
	for (f = shape->fields; f->column; f++)
		strbuf_adds(&sb, f == shape->fields ? "?" : ", ?");
	strbuf_addc(&sb, ')');
	r = sql_write(db, shape, row, true, strbuf_str(&sb), e);
	if (!r && id)
		*id = sqlite3_last_insert_rowid(db->handle);
	return r;
}

int sql_update(struct db *db, const struct sql_shape *shape, const void *row, struct err *e)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct sql_field *f;
	int i = 2, r;

	strbuf_addf(&sb, "UPDATE %s SET ", shape->table);
	for (f = shape->fields + 1; f->column; f++, i++)
		strbuf_addf(&sb, "%s%s = ?%d", i == 2 ? "" : ", ", f->column, i);
	strbuf_addf(&sb, " WHERE %s = ?1", shape->fields[0].column);
	r = sql_write(db, shape, row, false, strbuf_str(&sb), e);
	if (!r && !sqlite3_changes(db->handle))
		return err_add(e, -ENOENT, "%s: no such row in %s", db->path, shape->table);
	return r;
}

static sqlite3_stmt *sql_vselect(struct db *db, const struct sql_shape *shape, struct err *e,
				 const char *tail, const char *letters, va_list ap)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct sql_field *f;

	for (f = shape->fields; f->column; f++)
		strbuf_addf(&sb, "%s%s", f == shape->fields ? "SELECT " : ", ", f->column);
	strbuf_addf(&sb, " %s", tail);
	return sql_vstart(db, e, strbuf_str(&sb), letters, ap);
}

sqlite3_stmt *sql_select(struct db *db, const struct sql_shape *shape, struct err *e,
			 const char *tail, const char *letters, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, letters);
	stmt = sql_vselect(db, shape, e, tail, letters, ap);
	va_end(ap);
	return stmt;
}

int sql_row(struct db *db, sqlite3_stmt *stmt, const struct sql_shape *shape, struct arena *a,
	    void *row, struct err *e)
{
	const struct sql_field *f;
	int i = 0, r = sql_step(db, stmt, e);

	for (f = shape->fields; r > 0 && f->column; f++, i++)
		sql_read(stmt, i, f->letter, a, (char *)row + f->offset);
	return r;
}

int sql_list(struct db *db, struct arena *a, const struct sql_shape *shape, void *list, size_t *n,
	     struct err *e, const char *tail, const char *letters, ...)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	_cleanup_free_ char *rows = NULL;
	size_t alloc = 0;
	void *copy;
	va_list ap;
	int r;

	*n = 0;
	va_start(ap, letters);
	stmt = sql_vselect(db, shape, e, tail, letters, ap);
	va_end(ap);
	if (!stmt)
		return db->error;
	do {
		rows = mem_array_grow(rows, *n, &alloc, shape->size);
		r = sql_row(db, stmt, shape, a, rows + *n * shape->size, e);
	} while (r > 0 && ++*n);
	copy = arena_copy(a, rows, *n, shape->size);
	/* list is a `struct db_... **`: written as bytes, since it is no `void **` */
	memcpy(list, &copy, sizeof(copy));
	return r;
}

int sql_get(struct db *db, struct arena *a, const struct sql_shape *shape, void *row, struct err *e,
	    const char *tail, const char *letters, ...)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	va_list ap;

	va_start(ap, letters);
	stmt = sql_vselect(db, shape, e, tail, letters, ap);
	va_end(ap);
	return stmt ? sql_row(db, stmt, shape, a, row, e) : db->error;
}
