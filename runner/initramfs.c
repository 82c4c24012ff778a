// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/initramfs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"

#define LOAD_FILE "/usr/share/dbench/client.txt"

static const char *const bundled[] = {"hackbench", "tbench",   "tbench_srv",
				      "wakebench", "schbench", "pipepong",
				      "kdelta-count", NULL};
/* Besides the folders that files lie in. */
static const char *const folders[] = {"dev", "proc", "root", "sys", "tmp", NULL};

struct item {
	const char *path;   /* without a leading '/' */
	mode_t mode;	    /* with the type */
	const char *target; /* of a link */
	struct span data;
};

struct image {
	struct arena *a;
	ARRAY_OF(struct item) items;
};

static bool image_has(const struct image *im, const char *path)
{
	const struct item *it;

	array_for_each (it, &im->items) {
		if (!strcmp(it->path, path))
			return true;
	}
	return false;
}

/* What is there already stays: a program stands before the applet of its name. */
static void image_add(struct image *im, struct item item)
{
	const char *slash = strrchr(item.path, '/');
	char *parent;

	if (image_has(im, item.path))
		return;
	if (slash) {
		parent = arena_strndup(im->a, item.path, (size_t)(slash - item.path));
		image_add(im, (struct item){.path = parent, .mode = S_IFDIR | 0755});
	}
	*ARRAY_PUSH(&im->items) = item;
}

static int image_add_file(struct image *im, const char *path, const char *source, mode_t mode,
			  struct err *e)
{
	struct strbuf sb = STRBUF_INIT;
	struct item item = {.path = path, .mode = S_IFREG | mode};
	int r = file_read(source, 0, &sb, e);

	if (!r) {
		item.data.len = sb.len;
		item.data.s = arena_alloc(im->a, sb.len + 1);
		if (sb.len)
			memcpy((char *)(uintptr_t)item.data.s, sb.buf, sb.len);
		image_add(im, item);
	}
	strbuf_release(&sb);
	return r;
}

/*
 * The shared libraries of a program as ldd prints them; none for a static program or a script.
 *	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03124e3000)
 *	/lib64/ld-linux-x86-64.so.2 (0x00007f03126e6000)
 */
static int image_add_libraries(struct image *im, const char *program, struct err *e)
{
	const char *const argv[] = {"ldd", program, NULL};
	struct proc_result p;
	struct span rest, row, word;
	int r = proc_run(&(struct proc_spec){.argv = argv, .deadline = 60}, &p, e);

	rest = (struct span){strbuf_str(&p.out), p.out.len};
	while (!r && p.exit_status == 0 && span_next_line(&rest, &row, NULL)) {
		while (span_next_word(&row, &word) && *word.s != '/')
			;
		if (word.len && *word.s == '/') {
			const char *path = arena_strndup(im->a, word.s, word.len);

			if (!image_has(im, path + 1))
				r = image_add_file(im, path + 1, path, 0755, e);
		}
	}
	proc_result_release(&p);
	return r;
}

static int image_add_program(struct image *im, const char *dest, const char *source, struct err *e)
{
	int r = image_has(im, dest) ? 0 : image_add_file(im, dest, source, 0755, e);

	return r ? r : image_add_libraries(im, source, e);
}

/* In PATH, else among our helpers; one that is nowhere is left out: its runs will say so. */
static int image_add_named(struct image *im, const char *name, struct err *e)
{
	const char *slash = strrchr(name, '/');
	char *source = path_program(im->a, name);

	if (!source && !slash)
		source = path_program(im->a, path_libexec(im->a, name));
	if (!source)
		return 0;
	return image_add_program(im, arena_printf(im->a, "bin/%s", slash ? slash + 1 : name),
				 source, e);
}

static int image_add_busybox(struct image *im, struct err *e)
{
	char *source = path_program(im->a, "busybox");
	const char *const argv[] = {source, "--list", NULL};
	struct proc_result p;
	struct span rest, row;
	int r;

	if (!source) {
		err_add(e, -ENOENT, "busybox is not installed; guests need it");
		err_hint(e, "apt-get install busybox-static");
		return -ENOENT;
	}
	r = image_add_program(im, "bin/busybox", source, e);
	if (r)
		return r;
	r = proc_run(&(struct proc_spec){.argv = argv, .deadline = 60}, &p, e);
	rest = (struct span){strbuf_str(&p.out), p.out.len};
	while (!r && span_next_line(&rest, &row, NULL)) {
		image_add(im, (struct item){
				      .path = arena_printf(im->a, "bin/%.*s", (int)row.len, row.s),
				      .mode = S_IFLNK | 0777,
				      .target = "busybox"});
	}
	proc_result_release(&p);
	return r;
}

static int image_add_agent(struct image *im, struct err *e)
{
	const char *path = path_libexec(im->a, "kdelta-agent");

	if (file_exists(path))
		return image_add_file(im, "init", path, 0755, e);
	err_add(e, -ENOENT, "%s is missing; it is the init of guests", path);
	err_hint(e, "`make` builds it");
	return -ENOENT;
}

int initramfs_load(struct strbuf *text, char sha256[65], struct err *e)
{
	FILE *f = fopen(LOAD_FILE, "re");
	char *row = NULL;
	size_t alloc = 0;
	ssize_t n;
	int i;

	if (!f)
		return err_add_errno(e, "cannot open %s", LOAD_FILE);
	for (i = 0; i < INITRAMFS_LOAD_LINES && (n = getline(&row, &alloc, f)) > 0; i++)
		strbuf_add(text, row, (size_t)n);
	free(row);
	fclose(f);
	data_sha256(strbuf_str(text), text->len, sha256);
	return 0;
}

static void image_add_load(struct image *im)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char sha256[65];

	if (initramfs_load(&text, sha256, &ignored))
		return;
	image_add(im, (struct item){.path = LOAD_FILE + 1,
				    .mode = S_IFREG | 0644,
				    .data = {arena_strndup(im->a, text.buf, text.len), text.len}});
}

static int compare_items(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

static int image_fill(struct image *im, const char *const *programs, struct err *e)
{
	const char *const *p;
	int r = image_add_agent(im, e);

	for (p = bundled; !r && *p; p++)
		r = image_add_named(im, *p, e);
	for (p = programs; !r && p && *p; p++)
		r = image_add_named(im, *p, e);
	if (!r)
		r = image_add_busybox(im, e);
	if (r)
		return r;
	for (p = folders; *p; p++)
		image_add(im, (struct item){.path = *p, .mode = S_IFDIR | 0755});
	image_add_load(im);
	qsort(im->items.items, im->items.n, sizeof(*im->items.items), compare_items);
	return 0;
}

static void image_hash(const struct image *im, char sha256[65])
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct item *it;
	char hex[65];

	array_for_each (it, &im->items) {
		data_sha256(it->data.s ? it->data.s : "", it->data.len, hex);
		strbuf_addf(&sb, "%s %o %s %s\n", it->path, (unsigned int)it->mode,
			    it->target ? it->target : "-", hex);
	}
	data_sha256(sb.buf, sb.len, sha256);
}

static int write_item(struct archive *w, struct archive_entry *entry, const struct item *it,
		      int64_t ino)
{
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, it->path);
	archive_entry_set_mode(entry, it->mode);
	archive_entry_set_ino64(entry, ino);
	archive_entry_set_nlink(entry, 1);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, (int64_t)it->data.len);
	if (it->target)
		archive_entry_set_symlink(entry, it->target);
	if (archive_write_header(w, entry) != ARCHIVE_OK)
		return -EIO;
	return archive_write_data(w, it->data.s, it->data.len) == (la_ssize_t)it->data.len ? 0
											   : -EIO;
}

/* path NULL: to fd, at its position. */
static int image_write(const struct image *im, const char *path, int fd, struct err *e)
{
	struct archive *w = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t i;
	int r = 0;

	archive_write_set_format_cpio_newc(w);
	archive_write_add_filter_gzip(w);
	archive_write_set_filter_option(w, "gzip", "timestamp", NULL);
	archive_write_set_bytes_in_last_block(w, 1);
	if ((path ? archive_write_open_filename(w, path) : archive_write_open_fd(w, fd)) !=
	    ARCHIVE_OK)
		r = -EIO;
	for (i = 0; !r && i < im->items.n; i++)
		r = write_item(w, entry, &im->items.items[i], (int64_t)i + 1);
	if (!r && archive_write_close(w) != ARCHIVE_OK)
		r = -EIO;
	if (r)
		err_add(e, r, "cannot write %s: %s", path ? path : "the guest's files",
			archive_error_string(w));
	archive_entry_free(entry);
	archive_write_free(w);
	return r;
}

int initramfs_build(struct arena *a, const char *const *programs, const char **path, struct err *e)
{
	struct image im = {.a = arena_new()};
	const char *work;
	char hex[65];
	int r = image_fill(&im, programs, e);

	if (r)
		goto out;
	image_hash(&im, hex);
	*path = path_cache(a, arena_printf(a, "initramfs/%.16s.cpio.gz", hex));
	if (file_exists(*path))
		goto out;
	r = file_make_dirs(path_cache(a, "initramfs"), e);
	if (r)
		goto out;
	work = arena_printf(a, "%s.%d", *path, (int)getpid());
	r = image_write(&im, work, -1, e);
	if (!r && rename(work, *path))
		r = err_add_errno(e, "cannot move %s to %s", work, *path);
	if (r)
		unlink(work);
out:
	ARRAY_FREE(&im.items);
	arena_free(im.a);
	return r;
}

int initramfs_with(const char *base, const struct initramfs_file *files, size_t n, int *fd,
		   struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct image im = {.a = arena_new()};
	size_t i;
	int r = file_read(base, 0, &text, e);

	*fd = -1;
	if (!r && (*fd = memfd_create("initramfs", MFD_CLOEXEC)) < 0)
		r = err_add_errno(e, "cannot make a file in memory");
	if (!r && write(*fd, text.buf, text.len) != (ssize_t)text.len)
		r = err_add_errno(e, "cannot copy %s", base);
	for (i = 0; i < n; i++)
		image_add(&im, (struct item){.path = files[i].name,
					     .mode = S_IFREG | 0600,
					     .data = files[i].data});
	if (!r)
		r = image_write(&im, NULL, *fd, e);
	if (r && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	ARRAY_FREE(&im.items);
	arena_free(im.a);
	return r;
}
