// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/modules.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

#include "core/file.h"
#include "runner/input.h"

struct module {
	const char *name, *path; /* name as the kernel has it: with '_' */
	bool wanted;		 /* it is among the files */
};

struct search {
	struct arena *a;
	const char *dir;
	ARRAY_OF(struct module) there;
	ARRAY_OF(struct initramfs_file) files;
	struct strbuf builtin;
	struct err *e;
};

/* As the kernel names it: "virtio-net" -> "virtio_net". */
static char *kernel_name(struct arena *a, const char *text, size_t len)
{
	char *name = arena_strndup(a, text, len), *p;

	for (p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return name;
}

/* "virtio-net.ko.xz" -> "virtio_net"; NULL: not a module's file. */
static char *name_of_file(struct arena *a, const char *file)
{
	size_t plain = input_plain_len(file);

	return plain > 3 && !memcmp(file + plain - 3, ".ko", 3) ? kernel_name(a, file, plain - 3)
								 : NULL;
}

static int find_files(struct search *s)
{
	char *const roots[] = {(char *)(uintptr_t)s->dir, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *f;

	if (!tree)
		return err_add_errno(s->e, "cannot look into %s", s->dir);
	while ((f = fts_read(tree))) {
		char *name = f->fts_info == FTS_F ? name_of_file(s->a, f->fts_name) : NULL;

		if (name)
			*ARRAY_PUSH(&s->there) = (struct module){
				.name = name, .path = arena_strdup(s->a, f->fts_path)};
	}
	fts_close(tree);
	return s->there.n ? 0 : err_add(s->e, -ENOENT, "there are no modules in %s", s->dir);
}

/* "kernel/fs/netfs/netfs.ko" a line */
static bool is_builtin(struct search *s, const char *name)
{
	struct span rest = {strbuf_str(&s->builtin), s->builtin.len}, row;

	while (span_next_line(&rest, &row, NULL)) {
		const char *path = arena_strndup(s->a, row.s, row.len);
		char *its = name_of_file(s->a, path_name(s->a, path));

		if (its && !strcmp(its, name))
			return true;
	}
	return false;
}

static struct module *find_module(struct search *s, const char *name)
{
	struct module *m;

	array_for_each (m, &s->there)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static int no_module(struct search *s, const char *name)
{
	const char **names = arena_alloc_array(s->a, s->there.n + 1, sizeof(*names)), *near;
	size_t i;

	for (i = 0; i < s->there.n; i++)
		names[i] = s->there.items[i].name;
	near = str_suggest(name, names);
	err_add(s->e, -ENOENT, "there is no module %s in %s", name, s->dir);
	if (near)
		err_hint(s->e, "did you mean %s?", near);
	return -ENOENT;
}

/* The string behind "depends=" of .modinfo, whose strings end with NUL: "netfs,9pnet". */
static char *read_depends(struct search *s, const struct strbuf *ko)
{
	static const char mark[] = "\0depends=";
	const char *p = memmem(strbuf_str(ko), ko->len, mark, sizeof(mark) - 1), *end;

	if (!p)
		return arena_strdup(s->a, "");
	p += sizeof(mark) - 1;
	end = memchr(p, 0, (size_t)(ko->buf + ko->len - p));
	return arena_strndup(s->a, p, end ? (size_t)(end - p) : 0);
}

static int add_module(struct search *s, const char *name)
{
	_cleanup_strbuf_ struct strbuf ko = STRBUF_INIT;
	struct module *m = find_module(s, name);
	char *word, *rest;
	size_t number;
	int ret;

	if (!m)
		return is_builtin(s, name) ? 0 : no_module(s, name);
	if (m->wanted)
		return 0;
	m->wanted = true;
	ret = input_read(m->path, &ko, s->e);
	rest = ret ? NULL : read_depends(s, &ko);
	while (!ret && (word = strsep(&rest, ",")))
		if (*word)
			ret = add_module(s, kernel_name(s->a, word, strlen(word)));
	if (ret)
		return ret;
	number = s->files.n;
	*ARRAY_PUSH(&s->files) = (struct initramfs_file){
		.name = arena_printf(s->a, "modules/%03zu-%s.ko", number, name),
		.data = {arena_copy(s->a, ko.buf, ko.len, 1), ko.len},
	};
	return 0;
}

int modules_find(struct arena *a, const char *dir, const char *const *names,
		 struct initramfs_file **files, size_t *n, struct err *e)
{
	struct search s = {.a = a, .dir = dir, .builtin = STRBUF_INIT, .e = e};
	_cleanup_err_ struct err ignored = ERR_INIT;
	int ret = find_files(&s);

	file_read(arena_printf(a, "%s/modules.builtin", dir), 16 << 20, &s.builtin, &ignored);
	for (; !ret && names && *names; names++)
		ret = add_module(&s, kernel_name(a, *names, strlen(*names)));
	*n = ret ? 0 : s.files.n;
	*files = arena_copy(a, s.files.items, *n, sizeof(**files));
	ARRAY_FREE(&s.there);
	ARRAY_FREE(&s.files);
	strbuf_release(&s.builtin);
	return ret;
}
