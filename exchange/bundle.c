// SPDX-License-Identifier: GPL-2.0-or-later
#include "exchange/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/file.h"

#define BUNDLE_SCHEMA "kdelta.bundle/1"
#define BUNDLE_LEVEL  9
/* Bytes of all members that are read of a bundle: a small file may unpack to anything. */
#define BUNDLE_LIMIT ((size_t)4 << 30)
/* Of one member, which is held in memory: of an output what import takes, of a campaign more. */
#define RAW_LIMIT      ((size_t)256 << 20)
#define CAMPAIGN_LIMIT ((size_t)1 << 30)

/* ---- writing ---- */

/*
 * One member of a tar (POSIX.1-1988 ustar, with nothing that differs between machines). Written
 * here because the tar writers of a static libarchive drag in libxml2, for another format.
 */
static void add_member(struct strbuf *tar, const char *name, struct span text)
{
	static const char zeros[512];
	char head[512] = {0};
	unsigned int sum = 0;

	snprintf(head, 100, "%s", name);
	snprintf(head + 100, 8, "%07o", 0644);
	snprintf(head + 108, 8, "%07o", 0);
	snprintf(head + 116, 8, "%07o", 0);
	snprintf(head + 124, 12, "%011llo", (unsigned long long)text.len);
	snprintf(head + 136, 12, "%011o", 0);
	memcpy(head + 148, "        0", 9); /* the sum counts as blanks; a file */
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(head); i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	strbuf_add(tar, head, sizeof(head));
	strbuf_add(tar, text.s, text.len);
	strbuf_add(tar, zeros, -text.len % sizeof(zeros));
}

/* A campaign as it goes into the bundle. */
struct packed {
	char uid[65];
	struct strbuf text;
};
typedef ARRAY_OF(struct packed) packed_t;
typedef ARRAY_OF(char *) names_t;

static int by_uid(const void *x, const void *y)
{
	return strcmp(((const struct packed *)x)->uid, ((const struct packed *)y)->uid);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The hashes of raw outputs: the last value of lines that begin so. */
static void find_raws(struct arena *a, struct span text, names_t *raws)
{
	struct span line;

	while (span_next_line(&text, &line, NULL))
		if ((span_starts(line, "[\"text\",") || span_starts(line, "[\"output\",")) &&
		    line.len > 66)
			*ARRAY_PUSH(raws) = arena_strndup(a, line.s + line.len - 66, 64);
	if (raws->n)
		qsort(raws->items, raws->n, sizeof(*raws->items), by_name);
}

static int add_raws(struct strbuf *tar, struct db *db, struct arena *a, const packed_t *campaigns,
		    struct err *e)
{
	names_t raws = {NULL, 0, 0};
	const struct packed *p;
	int r = 0;

	array_for_each(p, campaigns)
		find_raws(a, (struct span){strbuf_str(&p->text), p->text.len}, &raws);
	for (size_t i = 0; i < raws.n && r >= 0; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (i && !strcmp(raws.items[i], raws.items[i - 1]))
			continue;
		r = db_raw_of_database(db, raws.items[i], &text, e);
		if (r >= 0)
			add_member(tar, arena_printf(a, "%s/%s", r ? "pruned" : "raw", raws.items[i]),
				   (struct span){strbuf_str(&text), text.len});
	}
	ARRAY_FREE(&raws);
	return MIN(r, 0);
}

static int write_tar(struct strbuf *tar, struct db *db, const packed_t *campaigns, struct err *e)
{
	_cleanup_arena_ struct arena *a = arena_new();
	static const char end[1024];
	const struct packed *p;
	int r;

	add_member(tar, "kdelta.bundle", span_of(BUNDLE_SCHEMA "\n"));
	array_for_each(p, campaigns)
		add_member(tar, arena_printf(a, "campaigns/%s.jsonl", p->uid),
			   (struct span){strbuf_str(&p->text), p->text.len});
	r = add_raws(tar, db, a, campaigns, e);
	strbuf_add(tar, end, sizeof(end));
	return r;
}

static int pack(const struct strbuf *tar, struct strbuf *file, struct err *e)
{
	size_t room = ZSTD_compressBound(tar->len), n;
	_cleanup_free_ char *packed = mem_alloc(room);

	n = ZSTD_compress(packed, room, tar->buf, tar->len, BUNDLE_LEVEL);
	if (ZSTD_isError(n))
		return err_add(e, -EIO, "cannot compress the bundle: %s", ZSTD_getErrorName(n));
	strbuf_add(file, packed, n);
	return 0;
}

int bundle_pack(struct db *db, const char *const *ids, size_t n, struct strbuf *file,
		struct err *e)
{
	_cleanup_strbuf_ struct strbuf tar = STRBUF_INIT;
	packed_t campaigns = {NULL, 0, 0};
	struct packed *p;
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		p = ARRAY_PUSH(&campaigns);
		r = db_dump_campaign(db, ids[i], &p->text, p->uid, e);
	}
	if (campaigns.n)
		qsort(campaigns.items, campaigns.n, sizeof(*campaigns.items), by_uid);
	if (!r)
		r = write_tar(&tar, db, &campaigns, e);
	if (!r)
		r = pack(&tar, file, e);
	array_for_each(p, &campaigns)
		strbuf_release(&p->text);
	ARRAY_FREE(&campaigns);
	return r;
}

/* ---- reading ---- */

struct merge {
	struct db *db, *raws; /* raws: where raw outputs are found by their hash */
	struct arena *a;
	const char *path;
	struct span file; /* s NULL: path is read */
	bundle_results *results;
	struct err *e;
};

static int merge_text(struct merge *m, const char *name, const struct strbuf *text)
{
	struct bundle_result result = {.from = m->path};
	int r = db_load_campaign(m->db, m->a, name,
				 (struct span){strbuf_str(text), text->len}, db_raw_of_database,
				 m->raws, &result.merged, &result.campaign, m->e);

	if (!r)
		*ARRAY_PUSH(m->results) = result;
	return r;
}

static int merge_database(struct merge *m)
{
	_cleanup_db_ struct db *from = NULL;
	struct db_campaign *list;
	size_t n, i;
	int r = db_open(m->path, DB_READ, &from, m->e);

	if (!r)
		r = db_get_campaigns(from, m->a, &list, &n, m->e);
	m->raws = from;
	for (i = 0; !r && i < n; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		char uid[65];

		r = db_dump_campaign(from, list[i].id, &text, uid, m->e);
		if (!r)
			r = merge_text(m, arena_printf(m->a, "%s: %s", m->path, list[i].id), &text);
	}
	return r;
}

/* A member of a bundle: which it is says its whole name; other names are not looked at. */
enum member { MEMBER_OTHER, MEMBER_MARK, MEMBER_CAMPAIGN, MEMBER_RAW, MEMBER_PRUNED };

static bool is_hash(const char *s, const char *tail)
{
	return strspn(s, "0123456789abcdef") == 64 && !strcmp(s + 64, tail);
}

static enum member member_of(const char *name)
{
	if (!strcmp(name, "kdelta.bundle"))
		return MEMBER_MARK;
	if (str_starts(name, "campaigns/") && is_hash(name + 10, ".jsonl"))
		return MEMBER_CAMPAIGN;
	if (str_starts(name, "raw/") && is_hash(name + 4, ""))
		return MEMBER_RAW;
	return str_starts(name, "pruned/") && is_hash(name + 7, "") ? MEMBER_PRUNED : MEMBER_OTHER;
}

struct member_text {
	char *name;
	struct strbuf text;
};

struct reader {
	struct merge *m;
	struct archive *ar;
	ARRAY_OF(struct member_text) campaigns;
	bool marked;
	size_t left; /* bytes that may still come */
};

static int reader_fails(struct reader *in)
{
	const char *why = archive_error_string(in->ar);

	err_add(in->m->e, -EBADMSG, "cannot read the bundle %s: %s", in->m->path,
		why ? why : "it is cut off");
	err_hint(in->m->e, "fetch it again: nothing of it was merged");
	return -EBADMSG;
}

static int read_member(struct reader *in, const char *name, size_t limit, struct strbuf *text)
{
	char buf[65536];
	ssize_t n;

	while ((n = archive_read_data(in->ar, buf, sizeof(buf))) > 0) {
		if ((size_t)n > in->left)
			return err_add(in->m->e, -EFBIG, "%s is more than %zu GB unpacked",
				       in->m->path, BUNDLE_LIMIT >> 30);
		if (text->len + (size_t)n > limit)
			return err_add(in->m->e, -EFBIG, "%s: %s is more than %zu MB unpacked",
				       in->m->path, name, limit >> 20);
		in->left -= (size_t)n;
		strbuf_add(text, buf, (size_t)n);
	}
	return n < 0 ? reader_fails(in) : 0;
}

static int take_member(struct reader *in, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	enum member which = member_of(name);
	struct member_text *t;
	size_t limit = which == MEMBER_CAMPAIGN ? CAMPAIGN_LIMIT : RAW_LIMIT;
	int r = which == MEMBER_OTHER ? 0 : read_member(in, name, limit, &text);

	if (r)
		return r;
	if (which == MEMBER_MARK) {
		in->marked = str_equal(strbuf_str(&text), BUNDLE_SCHEMA "\n");
	} else if (which == MEMBER_RAW) {
		return db_add_raw(in->m->raws, 0, "raw", "",
				  (struct span){strbuf_str(&text), text.len}, NULL, in->m->e);
	} else if (which == MEMBER_PRUNED) {
		return db_add_pruned_raw(in->m->raws, name + strlen("pruned/"), in->m->e);
	} else if (which == MEMBER_CAMPAIGN) {
		t = ARRAY_PUSH(&in->campaigns);
		t->name = mem_printf("%s: %s", in->m->path, name);
		t->text = text;
		text = (struct strbuf)STRBUF_INIT;
	}
	return 0;
}

static bool open_bundle(const struct reader *in)
{
	const struct merge *m = in->m;
	int code = m->file.s ? archive_read_open_memory(in->ar, m->file.s, m->file.len)
			     : archive_read_open_filename(in->ar, m->path, 65536);

	return code == ARCHIVE_OK;
}

static int read_members(struct reader *in)
{
	struct archive_entry *entry;
	int r = 0, code = ARCHIVE_OK;

	archive_read_support_filter_zstd(in->ar);
	archive_read_support_format_tar(in->ar);
	if (!open_bundle(in))
		return reader_fails(in);
	while (!r && (code = archive_read_next_header(in->ar, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);

		if (name && archive_entry_filetype(entry) == AE_IFREG)
			r = take_member(in, name);
	}
	if (!r && code != ARCHIVE_EOF)
		r = reader_fails(in);
	if (!r && !in->marked)
		r = err_add(in->m->e, -EBADMSG, "%s is no bundle of " BUNDLE_SCHEMA, in->m->path);
	return r;
}

/* All of it is read before anything is merged: a bundle that is cut off changes nothing. */
static int merge_bundle(struct merge *m)
{
	struct reader in = {.m = m, .ar = archive_read_new(), .left = BUNDLE_LIMIT};
	_cleanup_db_ struct db *raws = NULL;
	struct member_text *t;
	int r = db_open("", DB_MEMORY, &raws, m->e);

	m->raws = raws;
	if (!r)
		r = db_begin(raws, m->e);
	if (!r)
		r = read_members(&in);
	for (size_t i = 0; i < in.campaigns.n && !r; i++)
		r = merge_text(m, in.campaigns.items[i].name, &in.campaigns.items[i].text);
	array_for_each(t, &in.campaigns) {
		free(t->name);
		strbuf_release(&t->text);
	}
	ARRAY_FREE(&in.campaigns);
	archive_read_free(in.ar);
	return r;
}

int bundle_merge(struct db *db, struct arena *a, const char *path, bundle_results *results,
		 struct err *e)
{
	struct merge m = {.db = db, .a = a, .path = path, .results = results, .e = e};

	return file_starts_with(path, "SQLite format 3") ? merge_database(&m) : merge_bundle(&m);
}

int bundle_merge_text(struct db *db, struct arena *a, const char *name, struct span file,
		      bundle_results *results, struct err *e)
{
	struct merge m = {.db = db, .a = a, .path = name, .file = file, .results = results, .e = e};

	return merge_bundle(&m);
}
