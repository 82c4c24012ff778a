// SPDX-License-Identifier: GPL-2.0-or-later
/* A campaign to text. */
#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>

#include "core/file.h"
#include "db/bundle.h"
#include "db/bundle_rows.h"

static void add_column(struct strbuf *sql, const struct bundle_column *c)
{
	const char *table, *key;

	if (c->how == 'D')
		strbuf_adds(sql, "NULL");
	else if (c->how == 'I')
		strbuf_adds(sql, "ifnull((SELECT value FROM facts WHERE scope = 'campaign'"
				 " AND scope_id = ?1 AND key = 'origin.id'), ?1)");
	else if (bundle_dictionary(c->how, &table, &key))
		strbuf_addf(sql, "(SELECT %s FROM %s d WHERE d.id = x.%.*s)", key, table,
			    (int)c->name.len, c->name.s);
	else
		strbuf_addf(sql, "x.\"%.*s\"", (int)c->name.len, c->name.s);
}

/* A text that is no UTF-8 as {"hex": "..."}: nothing may change on the way. */
static json_t *text_value(const char *s, size_t len)
{
	json_t *v = json_stringn(s, len);
	struct strbuf hex = STRBUF_INIT;

	if (v)
		return v;
	for (size_t i = 0; i < len; i++)
		strbuf_addf(&hex, "%02x", (unsigned char)s[i]);
	v = json_pack("{ss}", "hex", strbuf_str(&hex));
	strbuf_release(&hex);
	return v;
}

static json_t *place_value(struct bundle_places *p, char how, int64_t id)
{
	const bundle_ids *ids = bundle_places_of(p, how);
	size_t low = 0, high = ids->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ids->items[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ids->n && ids->items[low] == id ? json_integer((json_int_t)low) : json_null();
}

static json_t *column_value(sqlite3_stmt *stmt, int i)
{
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(stmt, i));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(stmt, i));
	case SQLITE_TEXT:
		return text_value((const char *)sqlite3_column_text(stmt, i),
				  (size_t)sqlite3_column_bytes(stmt, i));
	default:
		return json_null();
	}
}

static int append_text(const char *text, size_t len, void *out)
{
	strbuf_add(out, text, len);
	return 0;
}

static void dump_row(const struct bundle_kind *k, const struct bundle_column *c, size_t n, sqlite3_stmt *stmt,
		     struct bundle_places *p, struct strbuf *out)
{
	json_t *line = json_array();

	json_array_append_new(line, json_string(k->name));
	for (size_t i = 0; i < n; i++) {
		if (bundle_is_own_id(c[i].how))
			*ARRAY_PUSH(bundle_places_of(p, c[i].how)) = sqlite3_column_int64(stmt, (int)i);
		else if (bundle_is_place(c[i].how))
			json_array_append_new(line, place_value(p, c[i].how,
								sqlite3_column_int64(stmt, (int)i)));
		else if (bundle_is_written(k, c[i].how))
			json_array_append_new(line, column_value(stmt, (int)i));
	}
	json_dump_callback(line, append_text, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(line);
	strbuf_addc(out, '\n');
}

static int dump_kind(struct db *db, const char *campaign, const struct bundle_kind *k,
		     struct bundle_places *p, struct strbuf *out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct bundle_column c[BUNDLE_COLUMNS];
	size_t n = bundle_read_columns(k, c);
	int r;

	for (size_t i = 0; i < n; i++) {
		strbuf_adds(&sql, i ? ", " : "SELECT ");
		add_column(&sql, &c[i]);
	}
	strbuf_addf(&sql, " FROM %s x WHERE ifnull(?1, '') != '' AND %s", k->table, k->rows);
	stmt = sql_start(db, e, strbuf_str(&sql), "s", campaign);
	if (!stmt)
		return db->error;
	while ((r = sql_step(db, stmt, e)) > 0)
		dump_row(k, c, n, stmt, p, out);
	return r;
}

static int read_uid(struct db *db, const char *campaign, char uid[65], struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *stmt =
		sql_start(db, e, "SELECT " BUNDLE_BIRTH " FROM campaigns c WHERE id = ?", "s", campaign);
	int r = stmt ? sql_step(db, stmt, e) : db->error;

	if (!r)
		return err_add(e, -ENOENT, "there is no campaign '%s'", campaign);
	if (r < 0)
		return r;
	data_sha256(sqlite3_column_text(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0), uid);
	return 0;
}

int db_dump_campaign(struct db *db, const char *campaign, struct strbuf *text, char uid[65],
		     struct err *e)
{
	_cleanup_places_ struct bundle_places p = {0};
	int r = read_uid(db, campaign, uid, e);

	for (size_t i = 0; i < bundle_n_kinds && !r; i++)
		r = dump_kind(db, campaign, &bundle_kinds[i], &p, text, e);
	return r;
}
