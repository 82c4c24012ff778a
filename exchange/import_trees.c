// SPDX-License-Identifier: GPL-2.0-or-later
/* Result trees of other tools -> one campaign: what mmtests and LKP trees have in common. */
#include "exchange/import_trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "runner/input.h"

enum {
	TREE_DEPTH = 16,	      /* folders below the root; deeper ones are not looked at */
	TREE_NAMES = 3,		      /* file names that a note gives as examples */
	TREE_MAX_NOTES = 16,	      /* besides one for each run */
};

static const struct tree_kind *const kinds[] = {&tree_mmtests, &tree_lkp};

/* ---- what is there ---- */

static const char *const *split_path(struct arena *a, const char *rel, size_t *n)
{
	const char **parts = arena_alloc_array(a, TREE_DEPTH + 2, sizeof(*parts));

	for (*n = 0; *rel && *n <= TREE_DEPTH; (*n)++) {
		size_t len = strcspn(rel, "/");

		parts[*n] = arena_strndup(a, rel, len);
		rel += len + (rel[len] == '/');
	}
	return parts;
}

static int list_entries(struct arena *a, struct tree *t, const char *dir, const char *rel,
			int depth, struct err *e)
{
	char **names;
	size_t n, i;
	int r = file_list(a, dir, NULL, &names, &n, e);

	for (i = 0; !r && i < n; i++) {
		struct tree_entry *en;
		struct stat st;
		char *path = arena_printf(a, "%s/%s", dir, names[i]);

		if (names[i][0] == '.' || lstat(path, &st))
			continue;
		if (S_ISLNK(st.st_mode))
			t->links++;
		if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
			continue;
		en = ARRAY_PUSH(&t->entries);
		en->path = path;
		en->rel = *rel ? arena_printf(a, "%s/%s", rel, names[i]) : names[i];
		en->folder = S_ISDIR(st.st_mode);
		en->parts = split_path(a, en->rel, &en->n);
		if (en->folder && depth < TREE_DEPTH)
			r = list_entries(a, t, path, arena_strdup(a, en->rel), depth + 1, e);
	}
	return r;
}

static int compare_entries(const void *x, const void *y)
{
	const struct tree_entry *v = x, *w = y;
	size_t i;
	int r = 0;

	/* part by part, so that "5.17/" comes before "5.17-patched/" */
	for (i = 0; !r && i < v->n && i < w->n; i++)
		r = strverscmp(v->parts[i], w->parts[i]);
	return r ? r : (v->n > w->n) - (v->n < w->n);
}

/* The names of a tree and which kind it is, NULL: neither. */
static int look(struct arena *a, struct tree *t, const char *dir, const struct tree_kind **kind,
		struct err *e)
{
	_cleanup_free_ char *real = realpath(dir, NULL);
	size_t i;
	int r = list_entries(a, t, dir, "", 0, e);

	*kind = NULL;
	t->root = dir;
	t->real = arena_strdup(a, real);
	if (t->entries.n)
		qsort(t->entries.items, t->entries.n, sizeof(*t->entries.items), compare_entries);
	for (i = 0; !r && i < ARRAY_SIZE(kinds) && !*kind; i++)
		if (kinds[i]->is(t))
			*kind = kinds[i];
	return r;
}

static void tree_release(struct tree *t)
{
	ARRAY_FREE(&t->entries);
	ARRAY_FREE(&t->unread);
	ARRAY_FREE(&t->notes);
	strbuf_release(&t->hashes);
}

const char *import_tree_kind(struct arena *a, const char *dir)
{
	_cleanup_(tree_release) struct tree t = {0};
	_cleanup_err_ struct err e = ERR_INIT;
	const struct tree_kind *kind;

	return !look(a, &t, dir, &kind, &e) && kind ? kind->name : NULL;
}

/* ---- files ---- */

bool tree_is_named(const struct tree_entry *en, const char *plain)
{
	const char *name = en->parts[en->n - 1];

	return !en->folder && strlen(plain) == input_plain_len(name) &&
	       str_starts(name, plain);
}

int tree_read(struct tree *t, const struct tree_entry *en, struct strbuf *out)
{
	char hex[65];
	int r = input_read(en->path, out, t->im->e);

	if (r)
		return r;
	data_sha256(strbuf_str(out), out->len, hex);
	strbuf_addf(&t->hashes, "%s %s\n", hex, en->rel);
	return 0;
}

void tree_unread(struct tree *t, const struct tree_entry *en)
{
	*ARRAY_PUSH(&t->unread) = en->rel;
}

/* ---- variants ---- */

static int find_baseline(struct tree *t, const struct import_variant_words *w, size_t n)
{
	const char **names = arena_alloc_array(t->im->a, n, sizeof(*names));
	const char *base = t->im->opt->tables.baseline;
	size_t i;
	int at;

	for (i = 0; i < n; i++)
		names[i] = w[i].name;
	for (i = 0; base && i < n; i++)
		if (!strcmp(names[i], base) || (*w[i].commit && str_starts(w[i].commit, base)))
			return (int)i;
	if (base)
		return err_add(t->im->e, -ENOENT, "--base %s: no such kernel in %s", base, t->root);
	at = table_baseline_by_name(names, n);
	if (at < 0 && n > 1)
		*ARRAY_PUSH(&t->notes) =
			arena_printf(t->im->a, "no name says which kernel is the baseline: %s is "
					       "taken, --base NAME names another", names[0]);
	return MAX(at, 0);
}

int tree_variants(struct tree *t, struct import_variant_words *w, size_t n, int64_t *ids)
{
	int base = find_baseline(t, w, n), r = MIN(base, 0);
	size_t i;

	if (r)
		return r;
	w[base].baseline = true;
	r = import_variant(t->im, &w[base], &ids[base]);
	for (i = 0; !r && i < n; i++)
		if ((int)i != base)
			r = import_variant(t->im, &w[i], &ids[i]);
	return r;
}

/* ---- the entry ---- */

/* One line for all files that were left alone, whatever their number. */
static void note_unread(struct tree *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i, n = t->unread.n;

	if (n) {
		strbuf_addf(&sb, "%s: %zu file%s not read, no parser is known for %s: ", t->root, n,
			    n == 1 ? "" : "s", n == 1 ? "it" : "them");
		for (i = 0; i < n && i < TREE_NAMES; i++)
			strbuf_addf(&sb, "%s%s", i ? ", " : "", t->unread.items[i]);
		strbuf_adds(&sb, n > TREE_NAMES ? " ..." : "");
	}
	if (t->links)
		strbuf_addf(&sb, "%s%zu link%s not followed", n ? "; " : "", t->links,
			    t->links == 1 ? "" : "s");
	if (sb.len)
		*ARRAY_PUSH(&t->notes) = arena_strdup(t->im->a, strbuf_str(&sb));
}

static int write_tree(struct tree *t, const struct tree_kind *kind, void *data,
		      const char *sha256)
{
	struct import *im = t->im;
	const char **note;
	int r;

	im->report->notes = arena_alloc_array(im->a, t->runs + TREE_MAX_NOTES,
					      sizeof(*im->report->notes));
	r = import_campaign(im, t->root, sha256, 0);
	if (!r)
		r = kind->write(t, data);
	if (r)
		return r;
	note_unread(t);
	array_for_each (note, &t->notes)
		im->report->notes[im->report->n_notes++] = *note;
	return 0;
}

int import_tree(struct db *db, struct arena *a, const struct catalog *cat, const char *dir,
		const struct import_options *opt, struct import_report *report, struct err *e)
{
	struct import_options o = *opt;
	struct import im = import_start(db, a, cat, &o, report, e);
	_cleanup_(tree_release) struct tree t = {.im = &im};
	const struct tree_kind *kind;
	char sha256[65];
	void *data = NULL;
	int r = look(a, &t, dir, &kind, e);

	if (!r && !kind)
		r = err_add(e, -EINVAL, "%s is no result tree of mmtests or LKP", dir);
	if (r)
		return r;
	report->tree = kind->name;
	if (!o.campaign && t.real)
		o.campaign = strrchr(t.real, '/') + 1;
	r = kind->read(&t, &data);
	if (!r && !t.runs)
		r = err_add(e, -ENOENT, "%s looks like an %s, but there is no run in it", dir,
			    kind->name);
	if (!r) {
		data_sha256(strbuf_str(&t.hashes), t.hashes.len, sha256);
		r = import_begin(&im, sha256);
	}
	if (!r && !report->known)
		r = import_finish(&im, write_tree(&t, kind, data, sha256));
	report->variants = im.n_variants;
	report->cases = im.n_cases;
	kind->release(data);
	return r;
}
