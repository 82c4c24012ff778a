// SPDX-License-Identifier: GPL-2.0-or-later
/* A campaign from its text, beside or in the place of what is there of it. */
#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "db/bundle.h"
#include "db/bundle_rows.h"

/* A kind of row, as far as it was made ready. */
struct insert {
	const struct bundle_kind *kind;
	struct bundle_column columns[BUNDLE_COLUMNS];
	size_t n;
	char *sql;
};

struct load {
	struct db *db;
	struct arena *a;
	const char *file;
	int line;
	const char *id; /* of the campaign, here; NULL: not read yet */
	const char *origin; /* where it was made */
	db_raw_source raw;
	void *data;
	struct bundle_places places;
	struct insert *inserts; /* by place in bundle_kinds */
	struct err *e;
};

static int complain(struct load *l, int code, const char *what)
{
	err_add(l->e, code, "%s", what);
	err_at(l->e, l->file, l->line, 0);
	return code;
}

/* ---- statements ---- */

static void add_join(struct strbuf *sql, const struct insert *in)
{
	const char *comma = "";

	if (!in->kind->key)
		return;
	strbuf_addf(sql, " ON CONFLICT(%s) DO UPDATE SET ", in->kind->key);
	if (in->kind->join) {
		strbuf_adds(sql, in->kind->join);
		return;
	}
	for (size_t i = 0; i < in->n; i++) {
		int len = (int)in->columns[i].name.len;
		const char *name = in->columns[i].name.s;

		strbuf_addf(sql, "%s%.*s = coalesce(max(%.*s, excluded.%.*s), %.*s, excluded.%.*s)",
			    comma, len, name, len, name, len, name, len, name, len, name);
		comma = ", ";
	}
}

static void make_ready(struct insert *in, struct arena *a)
{
	_cleanup_strbuf_ struct strbuf sql = STRBUF_INIT, values = STRBUF_INIT;
	const char *table, *key;

	in->n = bundle_read_columns(in->kind, in->columns);
	strbuf_addf(&sql, "INSERT INTO %s(", in->kind->table);
	for (size_t i = 0; i < in->n; i++) {
		const struct bundle_column *c = &in->columns[i];

		if (bundle_is_own_id(c->how))
			continue;
		strbuf_addf(&sql, "%s\"%.*s\"", values.len ? ", " : "", (int)c->name.len, c->name.s);
		strbuf_adds(&values, values.len ? ", " : "");
		if (bundle_dictionary(c->how, &table, &key))
			strbuf_addf(&values, "(SELECT id FROM %s WHERE %s = ?)", table, key);
		else
			strbuf_addc(&values, '?');
	}
	strbuf_addf(&sql, ") VALUES (%s)", strbuf_str(&values));
	add_join(&sql, in);
	in->sql = arena_strdup(a, strbuf_str(&sql));
}

/* NULL: there is no such kind of row. */
static struct insert *find_insert(struct load *l, const char *name)
{
	size_t i;

	for (i = 0; i < bundle_n_kinds && !str_equal(bundle_kinds[i].name, name); i++)
		;
	if (i == bundle_n_kinds)
		return NULL;
	if (!l->inserts[i].sql) {
		l->inserts[i].kind = &bundle_kinds[i];
		make_ready(&l->inserts[i], l->a);
	}
	return &l->inserts[i];
}

/* ---- rows ---- */

static bool bind_text(sqlite3_stmt *stmt, int at, const char *s, size_t len)
{
	return !sqlite3_bind_text64(stmt, at, s, len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool bind_hex(sqlite3_stmt *stmt, int at, const char *hex)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	for (; hex && *hex; hex += 2) {
		if (hex_digit(hex[0]) < 0 || hex_digit(hex[1]) < 0)
			return false;
		strbuf_addc(&out, (char)(hex_digit(hex[0]) << 4 | hex_digit(hex[1])));
	}
	return hex && bind_text(stmt, at, strbuf_str(&out), out.len);
}

static bool bind_value(sqlite3_stmt *stmt, int at, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_INTEGER:
		return !sqlite3_bind_int64(stmt, at, json_integer_value(v));
	case JSON_REAL:
		return !sqlite3_bind_double(stmt, at, json_real_value(v));
	case JSON_STRING:
		return bind_text(stmt, at, json_string_value(v), json_string_length(v));
	case JSON_OBJECT:
		return bind_hex(stmt, at, json_string_value(json_object_get(v, "hex")));
	case JSON_NULL:
		return !sqlite3_bind_null(stmt, at);
	default:
		return false;
	}
}

static bool bind_place(struct load *l, sqlite3_stmt *stmt, int at, char how, const json_t *v)
{
	const bundle_ids *ids = bundle_places_of(&l->places, how);

	if (json_is_null(v))
		return !sqlite3_bind_null(stmt, at);
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (size_t)json_integer_value(v) >= ids->n)
		return false;
	return !sqlite3_bind_int64(stmt, at, ids->items[json_integer_value(v)]);
}

/* The raw output of a row, which names its size and hash last. */
static int bind_raw(struct load *l, sqlite3_stmt *stmt, int at, const json_t *line)
{
	size_t n = json_array_size(line);
	const char *want = json_string_value(json_array_get(line, n - 1));
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char hash[65];
	int r;

	if (!want)
		return complain(l, -EINVAL, "this raw output has no hash");
	r = l->raw(l->data, want, &text, l->e);
	if (r)
		return r > 0 ? raw_bind_pruned(l->db, stmt, at, l->e) : r;
	data_sha256(strbuf_str(&text), text.len, hash);
	if (strcmp(hash, want) ||
	    json_integer_value(json_array_get(line, n - 2)) != (json_int_t)text.len)
		return complain(l, -EBADMSG, "the raw output is not the one that is named here");
	return raw_bind(l->db, stmt, at, (struct span){strbuf_str(&text), text.len}, l->e);
}

static int bind_row(struct load *l, const struct insert *in, sqlite3_stmt *stmt, const json_t *line)
{
	size_t next = 1;
	int at = 0, r;

	for (size_t i = 0; i < in->n; i++) {
		const struct bundle_column *c = &in->columns[i];
		const json_t *v = bundle_is_written(in->kind, c->how) ? json_array_get(line, next++) : NULL;
		bool ok;

		if (bundle_is_own_id(c->how))
			continue;
		at++;
		if (c->how == 'D') {
			r = bind_raw(l, stmt, at, line);
			if (r)
				return r;
			continue;
		}
		if (c->how == 'I')
			ok = bind_text(stmt, at, l->id, strlen(l->id));
		else if (bundle_is_place(c->how))
			ok = v && bind_place(l, stmt, at, c->how, v);
		else
			ok = v && bind_value(stmt, at, v);
		if (!ok)
			return complain(l, -EINVAL, "this row does not fit its kind");
	}
	return next == json_array_size(line) ? 0
					     : complain(l, -EINVAL, "this row has another length");
}

/* A metric means the same everywhere, or the numbers of one side would be read wrongly. */
static int check_metric(struct load *l, const json_t *line)
{
	const char *name = json_string_value(json_array_get(line, 1));
	const char *unit = json_string_value(json_array_get(line, 2));
	const char *direction = json_string_value(json_array_get(line, 3));
	_cleanup_stmt_ sqlite3_stmt *stmt =
		sql_start(l->db, l->e,
			  "SELECT unit, direction FROM metrics WHERE name = ?1 AND"
			  " ((unit != '' AND ?2 != '' AND unit != ?2) OR (direction != 'unknown' AND"
			  " ?3 != 'unknown' AND direction != ?3))",
			  "sss", name, unit, direction);
	int r = stmt ? sql_step(l->db, stmt, l->e) : l->db->error;

	if (r <= 0)
		return r;
	err_add(l->e, -EINVAL, "%s is in '%s' with direction '%s', but in '%s' with '%s' in %s", name,
		unit, direction, (const char *)sqlite3_column_text(stmt, 0),
		(const char *)sqlite3_column_text(stmt, 1), l->db->path);
	err_at(l->e, l->file, l->line, 0);
	err_hint(l->e, "a metric means one thing: merge into a database of its own with --db");
	return -EINVAL;
}

static int load_row(struct load *l, struct insert *in, const json_t *line)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	int r = 0;

	if (!in->kind->key && !l->id)
		return complain(l, -EINVAL, "there is no campaign that this row is of");
	if (str_equal(in->kind->name, "metric"))
		r = check_metric(l, line);
	if (r)
		return r;
	stmt = sql_start(l->db, l->e, in->sql, "");
	if (!stmt)
		return l->db->error;
	r = bind_row(l, in, stmt, line);
	if (r)
		return r;
	r = sql_step(l->db, stmt, l->e);
	if (r < 0)
		err_at(l->e, l->file, l->line, 0);
	for (size_t i = 0; i < in->n && !r; i++)
		if (bundle_is_own_id(in->columns[i].how))
			*ARRAY_PUSH(bundle_places_of(&l->places, in->columns[i].how)) =
				sqlite3_last_insert_rowid(l->db->handle);
	return r;
}

/* ---- what is there of it ---- */

/* What counts as a result: a campaign is a part of another one that has all of these lines. */
static bool is_result(struct span line)
{
	static const char *const kinds[] = {"[\"run\",", "[\"output\",", "[\"sample\",",
					    "[\"series\",", "[\"summary\","};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_starts(line, kinds[i]))
			return true;
	return false;
}

typedef ARRAY_OF(struct span) lines_t;

static int compare_lines(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	int order = memcmp(a->s, b->s, MIN(a->len, b->len));

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static void take_results(struct span text, lines_t *lines)
{
	struct span line;

	while (span_next_line(&text, &line, NULL))
		if (is_result(line))
			*ARRAY_PUSH(lines) = line;
	if (lines->n)
		qsort(lines->items, lines->n, sizeof(*lines->items), compare_lines);
}

/* Whether all of a, which is sorted, is in b, which is too. */
static bool is_part(const lines_t *a, const lines_t *b)
{
	size_t i, k = 0;

	for (i = 0; i < a->n; i++, k++) {
		while (k < b->n && compare_lines(&a->items[i], &b->items[k]) > 0)
			k++;
		if (k == b->n || compare_lines(&a->items[i], &b->items[k]))
			return false;
	}
	return true;
}

/* From the line of the campaign itself on: what stands before is shared with others. */
static struct span own_part(struct span text)
{
	struct span rest = text, line;

	while (span_next_line(&rest, &line, NULL))
		if (span_starts(line, "[\"campaign\","))
			return (struct span){line.s, (size_t)(text.s + text.len - line.s)};
	return (struct span){"", 0};
}

static enum db_merged judge(struct span here, struct span comes)
{
	lines_t old = {NULL, 0, 0}, new = {NULL, 0, 0};
	enum db_merged merged;
	bool grown, older;

	here = own_part(here);
	comes = own_part(comes);
	if (!compare_lines(&here, &comes))
		return DB_MERGED_SAME;
	take_results(here, &old);
	take_results(comes, &new);
	grown = is_part(&old, &new);
	older = is_part(&new, &old);
	/* the same results, and only the state of the campaign differs: one of them, always the same */
	if (grown && older)
		merged = compare_lines(&here, &comes) < 0 ? DB_MERGED_GROWN : DB_MERGED_OLDER;
	else
		merged = grown ? DB_MERGED_GROWN : older ? DB_MERGED_OLDER : DB_MERGED_CONFLICT;
	ARRAY_FREE(&old);
	ARRAY_FREE(&new);
	return merged;
}

/* ---- the campaign ---- */

static const char *text_at(const json_t *line, size_t i)
{
	const char *s = json_string_value(json_array_get(line, i));

	return s ? s : "";
}

/* As BUNDLE_BIRTH, of a line. */
static char *birth_of(struct load *l, const json_t *line)
{
	return arena_printf(l->a, "%s\n%lld\n%lld\n%s\n%s", text_at(line, 1),
			    (long long)json_integer_value(json_array_get(line, 4)),
			    (long long)json_integer_value(json_array_get(line, 10)),
			    text_at(line, 14), text_at(line, 13));
}

static int find_text(struct load *l, const char **found, const char *query, const char *what)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = sql_start(l->db, l->e, query, "s", what);
	int r = stmt ? sql_step(l->db, stmt, l->e) : l->db->error;

	*found = r > 0 ? arena_strdup(l->a, (const char *)sqlite3_column_text(stmt, 0)) : NULL;
	return MIN(r, 0);
}

/* An id that no campaign has: the one it had, else with its machine, and a number. */
static int choose_id(struct load *l, const json_t *line, const char **id)
{
	const char *taken, *machine = NULL;
	int r = find_text(l, &machine, "SELECT name FROM machines WHERE fingerprint = ?",
			  text_at(line, 13));

	for (int i = 0; !r; i++) {
		*id = i == 0   ? l->origin
		      : i == 1 ? arena_printf(l->a, "%s@%s", l->origin, machine ? machine : "")
			       : arena_printf(l->a, "%s@%s-%d", l->origin,
					      machine ? machine : "", i);
		r = find_text(l, &taken, "SELECT id FROM campaigns WHERE id = ?", *id);
		if (!taken)
			break;
	}
	return r;
}

static int start_campaign(struct load *l, const json_t *line, struct span text,
			  enum db_merged *merged)
{
	_cleanup_strbuf_ struct strbuf here = STRBUF_INIT;
	char uid[65];
	int r;

	l->origin = arena_strdup(l->a, text_at(line, 1));
	r = find_text(l, &l->id, "SELECT id FROM campaigns c WHERE " BUNDLE_BIRTH " = ?",
			  birth_of(l, line));

	*merged = DB_MERGED_NEW;
	if (r || !l->id)
		return r ? r : choose_id(l, line, &l->id);
	r = db_dump_campaign(l->db, l->id, &here, uid, l->e);
	if (r)
		return r;
	*merged = judge((struct span){strbuf_str(&here), here.len}, text);
	return *merged == DB_MERGED_GROWN ? db_remove_campaign(l->db, l->id, l->e) : 0;
}

static bool is_kept(enum db_merged merged)
{
	return merged != DB_MERGED_NEW && merged != DB_MERGED_GROWN;
}

/* One line; *merged is set by that of the campaign. */
static int load_line(struct load *l, struct span line, struct span text, enum db_merged *merged)
{
	json_error_t bad;
	json_t *row = json_loadb(line.s, line.len, 0, &bad);
	const char *name = json_string_value(json_array_get(row, 0));
	struct insert *in = name ? find_insert(l, name) : NULL;
	int r = 0;

	if (!in)
		r = complain(l, -EINVAL, row ? "there is no such kind of row" : bad.text);
	else if (str_equal(name, "campaign"))
		r = l->id ? complain(l, -EINVAL, "a second campaign in one text")
			  : start_campaign(l, row, text, merged);
	if (!r && !(l->id && is_kept(*merged)))
		r = load_row(l, in, row);
	json_decref(row);
	return r;
}

static int load_lines(struct load *l, struct span text, enum db_merged *merged)
{
	struct span rest = text, line;
	bool complete;
	int r = 0;

	while (!r && !(l->id && is_kept(*merged)) && span_next_line(&rest, &line, &complete)) {
		l->line++;
		r = complete ? load_line(l, line, text, merged)
			     : complain(l, -EINVAL, "the text ends within a line");
	}
	if (!r && !l->id)
		r = complain(l, -EINVAL, "there is no campaign in it");
	if (r || is_kept(*merged))
		return r;
	/* under another name than where it was made: it keeps what tells it again */
	return sql_run(l->db, l->e,
		       "INSERT INTO facts(scope, scope_id, key, value)"
		       " SELECT 'campaign', ?1, 'origin.id', ?2 WHERE ?1 != ?2",
		       "ss", l->id, l->origin);
}

int db_load_campaign(struct db *db, struct arena *a, const char *file, struct span text,
		     db_raw_source raw, void *data, enum db_merged *merged, const char **id,
		     struct err *e)
{
	struct load l = {.db = db, .a = a, .file = file, .raw = raw, .data = data, .e = e};
	int r = db_begin(db, e);

	if (r)
		return r;
	*merged = DB_MERGED_NEW;
	l.inserts = arena_alloc_array(a, bundle_n_kinds, sizeof(*l.inserts));
	r = load_lines(&l, text, merged);
	bundle_places_release(&l.places);
	if (r || *merged == DB_MERGED_CONFLICT)
		db_rollback(db);
	else
		r = db_commit(db, e);
	*id = l.id;
	return r;
}

int db_add_pruned_raw(struct db *db, const char *sha256, struct err *e)
{
	return sql_run(db, e,
		       "INSERT INTO raws(stream, size, sha256, data) VALUES ('raw', 0, ?, " RAW_PRUNED
		       ")", "s", sha256);
}

int db_raw_of_database(void *data, const char *sha256, struct strbuf *out, struct err *e)
{
	int64_t id;
	int64_t pruned = 0;
	int r = db_find_raw(data, sha256, &id, e);

	if (!r)
		r = MIN(sql_value(data, e, &pruned,
				  "SELECT " RAW_IS_PRUNED("") " FROM raws WHERE id = ?", "l", id), 0);
	return r ? r : pruned ? 1 : db_read_raw(data, id, out, e);
}
