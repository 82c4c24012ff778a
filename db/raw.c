// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw outputs: zstd-compressed, with the SHA-256 of what was printed. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <zstd.h>

#include "core/file.h"
#include "db/sql.h"

static const struct sql_shape raw_shape = {
	.size = sizeof(struct db_raw),
	.fields =
		{
			SQL_FIELD(struct db_raw, id, "id", 'K'),
			SQL_FIELD(struct db_raw, run_id, "run_id", 'k'),
			SQL_FIELD(struct db_raw, size, "size", 'l'),
			SQL_FIELD(struct db_raw, stream, "stream", 't'),
			SQL_FIELD(struct db_raw, name, "name", 't'),
			SQL_FIELD(struct db_raw, sha256, "sha256", 't'),
			SQL_FIELD(struct db_raw, pruned, RAW_IS_PRUNED(""), 'b'),
		},
};

int raw_bind(struct db *db, sqlite3_stmt *stmt, int at, struct span data, struct err *e)
{
	size_t room = ZSTD_compressBound(data.len), n;
	_cleanup_free_ char *packed = mem_alloc(room);

	n = ZSTD_compress(packed, room, data.s ? data.s : "", data.len, ZSTD_CLEVEL_DEFAULT);
	if (ZSTD_isError(n))
		return err_add(e, -EIO, "cannot compress a raw output: %s", ZSTD_getErrorName(n));
	return sqlite3_bind_blob64(stmt, at, packed, n, SQLITE_TRANSIENT) ? sql_error(db, e) : 0;
}

int raw_bind_pruned(struct db *db, sqlite3_stmt *stmt, int at, struct err *e)
{
	return sqlite3_bind_blob(stmt, at, "pruned", 6, SQLITE_STATIC) ? sql_error(db, e) : 0;
}

int db_add_raw(struct db *db, int64_t run, const char *stream, const char *name, struct span data,
	       int64_t *id, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	char hash[65];
	int r;

	if (db->scratch)
		return 0;
	data_sha256(data.s ? data.s : "", data.len, hash);
	stmt = sql_start(db, e,
			 "INSERT INTO raws(run_id, stream, name, size, sha256, data)"
			 " VALUES (?, ?, ?, ?, ?, ?)",
			 "kttlt", run, stream, name, (int64_t)data.len, hash);
	if (!stmt)
		return db->error;
	r = raw_bind(db, stmt, 6, data, e);
	if (!r)
		r = sql_step(db, stmt, e);
	if (!r && id)
		*id = sqlite3_last_insert_rowid(db->handle);
	return r;
}

int db_get_raws(struct db *db, struct arena *a, int64_t run, struct db_raw **raws, size_t *n,
		struct err *e)
{
	return sql_list(db, a, &raw_shape, raws, n, e, "FROM raws WHERE run_id = ? ORDER BY id",
			"l", run);
}

int db_find_raw(struct db *db, const char *sha256, int64_t *id, struct err *e)
{
	/* without ORDER BY: thousands of runs may have printed the same, and the first will do */
	int r = sql_value(db, e, id,
			  "SELECT id FROM raws WHERE sha256 = ? AND NOT " RAW_IS_PRUNED("") " LIMIT 1",
			  "s", sha256);

	if (!r)
		r = sql_value(db, e, id, "SELECT id FROM raws WHERE sha256 = ? LIMIT 1", "s", sha256);
	if (!r)
		return err_add(e, -ENOENT, "%s: there is no raw output with SHA-256 %s", db->path,
			       sha256);
	return MIN(r, 0);
}

static int raw_damaged(const struct db *db, const struct db_raw *raw, const char *what,
		       struct err *e)
{
	err_add(e, 0, "%s: raw output %" PRId64 " (%s of run %" PRId64 ") is damaged: %s", db->path,
		raw->id, raw->stream, raw->run_id, what);
	err_hint(e, "`kdelta db check` lists all damage; a copy made by `kdelta db backup` has it "
		    "whole");
	return -EBADMSG;
}

static int raw_unpack(const struct db *db, const struct db_raw *raw, struct span packed,
		      struct strbuf *out, struct err *e)
{
	_cleanup_free_ char *data = NULL;
	char hash[65];
	size_t n;

	/* a damaged frame may claim any size: never allocate what the row does not say too */
	if (ZSTD_getFrameContentSize(packed.s, packed.len) != (unsigned long long)raw->size)
		return raw_damaged(db, raw, "its size is not the stored one", e);
	data = mem_alloc((size_t)raw->size + 1);
	n = ZSTD_decompress(data, (size_t)raw->size, packed.s, packed.len);
	if (ZSTD_isError(n) || n != (size_t)raw->size)
		return raw_damaged(db, raw, ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short",
				   e);
	data_sha256(data, n, hash);
	if (strcmp(hash, raw->sha256))
		return raw_damaged(db, raw, "its SHA-256 is not the stored one", e);
	strbuf_add(out, data, n);
	return 0;
}

int db_read_raw(struct db *db, int64_t id, struct strbuf *out, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct db_raw raw;
	struct span packed;
	int r = sql_get(db, a, &raw_shape, &raw, e, "FROM raws WHERE id = ?", "l", id);

	if (!r)
		return err_add(e, -ENOENT, "%s: there is no raw output %" PRId64, db->path, id);
	if (r < 0)
		return r;
	if (raw.pruned)
		return err_add(e, -ENODATA,
			       "raw output %" PRId64 " (%s of run %" PRId64 ") was given up by "
			       "`kdelta db prune`: only its size and SHA-256 are kept",
			       id, raw.stream, raw.run_id);
	stmt = sql_start(db, e, "SELECT data FROM raws WHERE id = ?", "l", id);
	r = stmt ? sql_step(db, stmt, e) : db->error;
	if (r <= 0)
		return r;
	packed.s = sqlite3_column_blob(stmt, 0);
	packed.len = (size_t)sqlite3_column_bytes(stmt, 0);
	return raw_unpack(db, &raw, packed, out, e);
}
