/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside db/ only: statements prepared once and kept by their text, values bound and read by
 * letters, rows described by tables so that a query function is one call.
 *
 * Letters, of the variable arguments of a statement and of the fields of a row:
 *	i	int
 *	b	bool
 *	l	int64_t
 *	k	int64_t, 0 is NULL (a reference, a time)
 *	K	the same, the row's own id: given by the database when inserted
 *	o	int, 0 is NULL
 *	m	int, -1 is NULL
 *	M	int64_t, -1 is NULL
 *	d	double
 *	n	double, NAN is NULL
 *	p	double, NULL unless positive; NULL reads as NAN
 *	s	text, a NULL pointer is NULL
 *	t	text, a NULL pointer is stored as "" and NULL reads as ""
 *	D, A	enum direction, enum mean_kind; stored as lower-case words
 */
#ifndef DB_SQL_H
#define DB_SQL_H

#include "db/db.h"

/* Of sqlite3.h, which only the .c files of this room include. */
struct sqlite3;
struct sqlite3_stmt;

struct sql_cached {
	const char *text; /* of the statement itself */
	struct sqlite3_stmt *stmt;
};

struct db {
	struct sqlite3 *handle;
	char *path;
	int depth;   /* of nested transactions */
	int error;   /* code of the last failure, for those who got NULL */
	bool scratch; /* DB_SCRATCH */
	bool doomed; /* something failed in this transaction: it can only be rolled back */
	ARRAY_OF(struct sql_cached) cache;
};

struct sql_field {
	const char *column; /* a name, or an expression in a row that is only read */
	char letter;
	size_t offset;
};
/* A row struct; the first field is the key of sql_update. Ends with a field without column. */
struct sql_shape {
	const char *table;
	size_t size;
	struct sql_field fields[26];
};
#define SQL_FIELD(type, member, col, ch)                                                           \
	{                                                                                          \
		.column = (col), .letter = (ch), .offset = offsetof(type, member)                  \
	}

/* Schema steps: step i brings user_version i to i + 1. */
extern const char *const db_steps[];
extern const int db_n_steps;
/* Brings the database to version n, each step whole or not at all; newer than n: -EPROTO. */
int db_migrate(struct db *db, const char *const *steps, int n, struct err *e);

/* Turns the connection's last error into a message; returns a negative errno. */
int sql_error(struct db *db, struct err *e);
/* A statement ready to step, bound; NULL on error. Give it back with sql_done. */
struct sqlite3_stmt *sql_start(struct db *db, struct err *e, const char *text, const char *letters,
			       ...);
/* 1: a row, 0: the end, or an error. */
int sql_step(struct db *db, struct sqlite3_stmt *stmt, struct err *e);
void sql_done(struct sqlite3_stmt *stmt);
#define _cleanup_stmt_ _cleanup_(sql_done_ptr)
void sql_done_ptr(struct sqlite3_stmt **stmt);

/* "SELECT fields " + tail, to be read row by row: 1 and a row, 0 at the end, or an error. */
struct sqlite3_stmt *sql_select(struct db *db, const struct sql_shape *shape, struct err *e,
				const char *tail, const char *letters, ...);
int sql_row(struct db *db, struct sqlite3_stmt *stmt, const struct sql_shape *shape,
	    struct arena *a, void *row, struct err *e);

/* Runs a statement to its end. */
int sql_run(struct db *db, struct err *e, const char *text, const char *letters, ...);
/* The first column of the first row: 1 and *value set, 0 without a row, or an error. */
int sql_value(struct db *db, struct err *e, int64_t *value, const char *text, const char *letters,
	      ...);
int sql_insert(struct db *db, const struct sql_shape *shape, const void *row, int64_t *id,
	       struct err *e);
int sql_update(struct db *db, const struct sql_shape *shape, const void *row, struct err *e);
/*
 * All rows of "SELECT fields " + tail, into the arena; list points to a pointer to the rows.
 * sql_get: the first row only: 1, 0 without one, or an error.
 */
int sql_list(struct db *db, struct arena *a, const struct sql_shape *shape, void *list, size_t *n,
	     struct err *e, const char *tail, const char *letters, ...);
int sql_get(struct db *db, struct arena *a, const struct sql_shape *shape, void *row, struct err *e,
	    const char *tail, const char *letters, ...);

/*
 * What stands in raws.data where the text is gone: "pruned", shorter than any packed text (nine
 * bytes). Its length tells it, which SQLite knows without reading a text.
 */
#define RAW_PRUNED	   "x'7072756e6564'"
#define RAW_IS_PRUNED(raw) "length(" raw "data) = 6"

/* Binds a raw output, packed, to parameter `at`. */
int raw_bind(struct db *db, struct sqlite3_stmt *stmt, int at, struct span data, struct err *e);
/* The same for one without its text. */
int raw_bind_pruned(struct db *db, struct sqlite3_stmt *stmt, int at, struct err *e);

#endif
