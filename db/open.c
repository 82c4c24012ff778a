// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening, settings, migration and transactions. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "db/sql.h"

/* "kdel"; the schema sets the same */
#define DB_APPLICATION_ID 0x6b64656c
/* milliseconds a writer waits for another one */
#define DB_BUSY_TIMEOUT 30000

char *db_path(struct arena *a, const char *given)
{
	const char *env = getenv("KDELTA_DB");

	if (given)
		return arena_strdup(a, given);
	if (env && *env)
		return arena_strdup(a, env);
	if (file_exists("kdelta.db"))
		return arena_strdup(a, "kdelta.db");
	return path_data(a, "kdelta.db");
}

/* The part of path up to its last '/', "." without one. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return slash == path ? mem_strdup("/") : mem_strndup(path, (size_t)(slash - path));
}

/* Only the folder of our own data is created; a mistyped --db is told. */
static int make_data_folder(const char *path, const char *folder, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();

	if (strcmp(path, path_data(a, "kdelta.db")))
		return 0;
	return file_make_dirs(folder, e);
}

static int check_place(const char *path, enum db_mode mode, struct err *e)
{
	_cleanup_free_ char *folder = folder_of(path);
	int r;

	if (file_is_dir(path))
		return err_add(e, -EISDIR, "%s is a folder, not a database", path);
	if (mode == DB_READ && eaccess(path, R_OK)) {
		r = err_add_errno(e, "cannot open the database %s", path);
		if (r == -ENOENT)
			err_hint(e, "`kdelta run`, `record` and `import` create one; --db FILE or "
				    "$KDELTA_DB names another");
		return r;
	}
	if (mode != DB_WRITE)
		return 0;
	r = make_data_folder(path, folder, e);
	if (r)
		return r;
	if (!file_is_dir(folder))
		return err_add(e, -ENOENT, "there is no folder %s for the database %s", folder,
			       path);
	if (eaccess(folder, W_OK) || (file_exists(path) && eaccess(path, W_OK))) {
		r = err_add_errno(e, "cannot write the database %s", path);
		err_hint(e, "it and its folder must be writable; --db FILE names another");
		return r;
	}
	return 0;
}

/*
 * SQLite wants to create PATH-shm even to read a WAL database. Where the folder forbids that and
 * no other process has left a log, nobody can be writing: the file may be read as it lies.
 */
static char *immutable_uri(const char *path)
{
	_cleanup_free_ char *folder = folder_of(path);
	_cleanup_free_ char *wal = mem_printf("%s-wal", path);
	struct strbuf uri = STRBUF_INIT;
	struct stat st;

	if (!eaccess(folder, W_OK) || (!stat(wal, &st) && st.st_size))
		return NULL;
	strbuf_adds(&uri, "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			strbuf_addf(&uri, "%%%02x", (unsigned char)*path);
		else
			strbuf_addc(&uri, *path);
	}
	strbuf_adds(&uri, "?immutable=1");
	return strbuf_take(&uri);
}

static bool is_memory(enum db_mode mode)
{
	return mode == DB_MEMORY || mode == DB_SCRATCH;
}

static int open_handle(struct db *db, enum db_mode mode, struct err *e)
{
	_cleanup_free_ char *uri = mode == DB_READ ? immutable_uri(db->path) : NULL;
	const char *name = is_memory(mode) ? ":memory:" : uri ? uri : db->path;
	int flags =
		mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

	if (uri)
		flags |= SQLITE_OPEN_URI;
	if (sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL))
		return sql_error(db, e);
	sqlite3_busy_timeout(db->handle, DB_BUSY_TIMEOUT);
	/* the file may come from anybody: its views may call what only computes */
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return 0;
}

static int execute(struct db *db, const char *sql, struct err *e)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) ? sql_error(db, e) : 0;
}

/*
 * Two processes that create one file together both want the exclusive lock of the change to WAL;
 * SQLite breaks that tie with SQLITE_BUSY at once, without waiting.
 */
static int set_wal(struct db *db, struct err *e)
{
	double end = num_monotonic() + DB_BUSY_TIMEOUT / 1000.0;
	int code;

	do
		code = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	while (code == SQLITE_BUSY && num_monotonic() < end && sqlite3_sleep(5));
	return code ? sql_error(db, e) : 0;
}

/* Ours has none; that of a file from somebody else would run with everything that is stored. */
static int check_triggers(struct db *db, struct err *e)
{
	int64_t triggers = 0;
	int r = sql_value(db, e, &triggers,
			  "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", "");

	if (r < 0 || !triggers)
		return MIN(r, 0);
	err_add(e, -EBADMSG, "%s has triggers, which are not kdelta's", db->path);
	err_hint(e, "look at them with `sqlite3 FILE .schema`, and DROP TRIGGER what nobody needs");
	return -EBADMSG;
}

/* A file of another program must not be taken over. */
static int check_owner(struct db *db, struct err *e)
{
	int64_t id = 0, tables = 0;
	/* tables first: another process that makes them sets the id in the same transaction */
	int r = sql_value(db, e, &tables, "SELECT count(*) FROM sqlite_schema", "");

	if (r >= 0)
		r = sql_value(db, e, &id, "PRAGMA application_id", "");
	if (r < 0 || (!id && !tables))
		return MIN(r, 0);
	if (id == DB_APPLICATION_ID)
		return check_triggers(db, e);
	return err_add(e, -EBADMSG, "%s is a database of another program", db->path);
}

static int get_version(struct db *db, int64_t *version, struct err *e)
{
	return MIN(sql_value(db, e, version, "PRAGMA user_version", ""), 0);
}

static int run_steps(struct db *db, const char *const *steps, int n, struct err *e)
{
	int64_t version = 0;
	/* read again: another process may have migrated while this one waited for the lock */
	int r = get_version(db, &version, e);

	for (; !r && version < n; version++) {
		_cleanup_free_ char *set =
			mem_printf("PRAGMA user_version = %" PRId64, version + 1);

		r = execute(db, steps[version], e);
		if (!r)
			r = execute(db, set, e);
	}
	return r;
}

int db_migrate(struct db *db, const char *const *steps, int n, struct err *e)
{
	int64_t version = 0;
	int r = get_version(db, &version, e);

	if (r || version == n)
		return r;
	if (version > n) {
		err_add(e, 0,
			"%s has format %" PRId64 ", this kdelta " KDELTA_VERSION " knows up to %d",
			db->path, version, n);
		err_hint(e, "use the newer kdelta that wrote it, or another database with --db");
		return -EPROTO;
	}
	r = db_begin(db, e);
	if (r)
		return r;
	r = run_steps(db, steps, n, e);
	if (!r)
		return db_commit(db, e);
	db_rollback(db);
	return r;
}

static int open_settings(struct db *db, enum db_mode mode, struct err *e)
{
	int r = check_owner(db, e);

	if (!r && mode == DB_WRITE)
		r = set_wal(db, e);
	if (!r)
		r = execute(db,
			    "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
			    "PRAGMA temp_store = MEMORY",
			    e);
	return r;
}

/* A reader cannot migrate: a writer is opened for it and closed again. */
static int migrate_for_reader(const char *path, struct err *e)
{
	struct db *db;
	int r = db_open(path, DB_WRITE, &db, e);

	if (!r)
		db_close(db);
	return r;
}

static int open_once(const char *path, enum db_mode mode, struct db **out, int64_t *version,
		     struct err *e)
{
	_cleanup_db_ struct db *db = mem_zalloc(sizeof(*db));
	int r;

	db->path = mem_strdup(is_memory(mode) ? "memory" : path);
	db->scratch = mode == DB_SCRATCH;
	r = open_handle(db, mode, e);
	if (!r)
		r = open_settings(db, mode, e);
	if (!r)
		r = get_version(db, version, e);
	if (!r && (mode != DB_READ || *version > db_n_steps))
		r = db_migrate(db, db_steps, db_n_steps, e);
	if (r)
		return r;
	/* from here on nothing can damage the file itself (migration may write the schema) */
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	*out = db;
	db = NULL;
	return 0;
}

int db_open(const char *path, enum db_mode mode, struct db **db, struct err *e)
{
	int64_t version = 0;
	int r = is_memory(mode) ? 0 : check_place(path, mode, e);

	*db = NULL;
	if (!r)
		r = open_once(path, mode, db, &version, e);
	if (r || mode != DB_READ || version >= db_n_steps)
		return r;
	db_close_ptr(db);
	r = migrate_for_reader(path, e);
	return r ? r : open_once(path, mode, db, &version, e);
}

bool db_is_scratch(const struct db *db)
{
	return db->scratch;
}

void db_close(struct db *db)
{
	struct sql_cached *c;

	if (!db)
		return;
	array_for_each (c, &db->cache)
		sqlite3_finalize(c->stmt);
	ARRAY_FREE(&db->cache);
	sqlite3_close(db->handle);
	free(db->path);
	free(db);
}

void db_close_ptr(struct db **db)
{
	db_close(*db);
	*db = NULL;
}

/* IMMEDIATE: a writer waits here, for another one's end, and never fails half-way. */
int db_begin(struct db *db, struct err *e)
{
	int r;

	if (db->depth) {
		db->depth++;
		return 0;
	}
	r = sql_run(db, e, "BEGIN IMMEDIATE", "");
	if (!r) {
		db->depth = 1;
		db->doomed = false;
	}
	return r;
}

/* Only with a log: else it would keep others from writing. */
int db_begin_read(struct db *db, bool *begun, struct err *e)
{
	int64_t wal = 0;
	int r;

	*begun = false;
	if (!sqlite3_get_autocommit(db->handle))
		return 0;
	r = sql_value(db, e, &wal, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", "");
	if (r < 0 || !wal)
		return MIN(r, 0);
	r = sql_run(db, e, "BEGIN", "");
	*begun = !r;
	return r;
}

void db_end_read(struct db *db, bool begun)
{
	if (begun)
		sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL);
}

int db_commit(struct db *db, struct err *e)
{
	int r;

	if (db->depth > 1) {
		db->depth--;
		return 0;
	}
	if (db->doomed) {
		db_rollback(db);
		return err_add(e, -ECANCELED, "%s: nothing was stored because of an earlier error",
			       db->path);
	}
	r = sql_run(db, e, "COMMIT", "");
	if (r)
		db_rollback(db);
	db->depth = 0;
	return r;
}

void db_rollback(struct db *db)
{
	db->doomed = true;
	if (!db->depth || --db->depth)
		return;
	/* some errors (a full disk) have rolled back already */
	if (!sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
	db->doomed = false;
}
