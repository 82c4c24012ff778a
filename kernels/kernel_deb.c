// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel images from Debian packages, downloaded and unpacked into the cache. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "kernels/kernel.h"

#define APT_DEADLINE	  120.0 /* seconds for a question to apt's lists */
#define DOWNLOAD_DEADLINE 900.0
#define META_DEPTH	  4 /* linux-image-amd64 -> linux-image-6.1.0-57-amd64 */

/* ---- what apt knows ---- */

static int run_apt(const char *const *argv, const char *dir, double deadline, struct proc_result *p,
		   struct err *e)
{
	struct proc_spec spec = {.argv = argv, .dir = dir, .deadline = deadline};
	int r = proc_run(&spec, p, e);

	if (r)
		return r;
	if (p->interrupted)
		return err_add(e, -EINTR, "interrupted");
	if (p->started)
		return 0;
	err_add(e, -ENOENT, "cannot run %s: %s", argv[0], strerror(p->start_errno));
	err_hint(e, "kernels from packages need apt; name the file with image: PATH instead");
	return -ENOENT;
}

/* Value of a field "Version: 6.1.192-3" of a package's record, or NULL. */
static char *record_field(struct arena *a, const struct strbuf *record, const char *key)
{
	struct span rest = {strbuf_str(record), record->len}, row;
	size_t n = strlen(key);

	while (span_next_line(&rest, &row, NULL) && row.len) {
		if (row.len > n && !memcmp(row.s, key, n) && row.s[n] == ':') {
			row = span_trim((struct span){row.s + n + 1, row.len - n - 1});
			return arena_strndup(a, row.s, row.len);
		}
	}
	return NULL;
}

struct package {
	const char *name, *version; /* version NULL: not known yet */
};

/*
 * The first kernel image that a package depends on; false if there is none. Debian's meta packages
 * name its exact version, which saves asking again: apt without a cache of its own takes seconds.
 *	Depends: kmod, linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)
 */
static bool image_dependency(struct arena *a, const char *depends, struct package *out)
{
	const char *p = depends;
	size_t n;

	for (; p && *p; p = strpbrk(p, ",|")) {
		p += strspn(p, ",| ");
		if (!str_starts(p, "linux-image-"))
			continue;
		n = strcspn(p, " ,|(:");
		out->name = arena_strndup(a, p, n);
		out->version = NULL;
		p += n;
		if (str_starts(p, " (= "))
			out->version = arena_strndup(a, p + 4, strcspn(p + 4, ")"));
		return true;
	}
	return false;
}

/* Not the debug symbols and not the unsigned twin of a signed image. */
static bool is_bootable_name(const char *name)
{
	return !str_ends(name, "-dbg") && !str_ends(name, "-unsigned") && !strstr(name, "-dbg-");
}

static int package_missing(struct arena *a, const char *package, struct err *e)
{
	static const char *const argv[] = {"apt-cache", "pkgnames", "linux-image-", NULL};
	ARRAY_OF(const char *) names = {NULL, 0, 0};
	struct proc_result p;
	struct span rest, row;
	const char *near;
	int r = run_apt(argv, NULL, APT_DEADLINE, &p, e);

	rest = (struct span){strbuf_str(&p.out), p.out.len};
	while (!r && span_next_line(&rest, &row, NULL)) {
		const char *name = arena_strndup(a, row.s, row.len);

		if (is_bootable_name(name))
			*ARRAY_PUSH(&names) = name;
	}
	proc_result_release(&p);
	if (r)
		return r;
	err_add(e, -ENOENT, "there is no package %s", package);
	if (!names.n) {
		err_hint(e, "the package lists are absent: run `apt-get update`%s",
			 geteuid() ? " as root" : "");
		return -ENOENT;
	}
	*ARRAY_PUSH(&names) = NULL;
	near = str_suggest(package, names.items);
	if (!near && strstr(package, "cloud"))
		near = "linux-image-cloud-amd64";
	err_hint(e, "%s%s%s`apt-cache pkgnames linux-image` lists them all",
		 near ? "did you mean " : "", near ? near : "", near ? "? " : "");
	ARRAY_FREE(&names);
	return -ENOENT;
}

/* Words that apt could take for options or patterns are no package names. */
static bool is_package_name(const char *s)
{
	return *s && *s != '-' && *s != '.' && *s != '+' &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.")];
}

static bool is_package_version(const char *s)
{
	return *s >= '0' && *s <= '9' &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    ".+-:~")];
}

/*
 * The versions that apt knows of a package, newest first, from lines such as
 *	linux-image-6.1.0-57-amd64 | 6.1.192-3 | http://... bookworm/main amd64 Packages
 */
static int version_missing(struct arena *a, const struct package *p, struct err *e)
{
	const char *const argv[] = {"apt-cache", "madison", p->name, NULL};
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	struct proc_result result;
	struct span rest, row;
	int r = run_apt(argv, NULL, APT_DEADLINE, &result, e);

	rest = (struct span){strbuf_str(&result.out), result.out.len};
	while (!r && span_next_line(&rest, &row, NULL)) {
		const char *bar = memchr(row.s, '|', row.len), *end;

		end = bar ? memchr(bar + 1, '|', (size_t)(row.s + row.len - bar - 1)) : NULL;
		if (!end)
			continue;
		row = span_trim((struct span){bar + 1, (size_t)(end - bar - 1)});
		if (!strstr(strbuf_str(&list), arena_strndup(a, row.s, row.len)))
			strbuf_addf(&list, "%s%.*s", list.len ? ", " : "", (int)row.len, row.s);
	}
	proc_result_release(&result);
	if (r)
		return r;
	if (!list.len)
		return package_missing(a, p->name, e);
	err_add(e, -ENOENT, "apt knows no version %s of %s", p->version, p->name);
	err_hint(e, "it knows %s", list.buf);
	return -ENOENT;
}

static int package_show(struct arena *a, const struct package *p, struct strbuf *record,
			struct err *e)
{
	const char *what = p->version ? arena_printf(a, "%s=%s", p->name, p->version) : p->name;
	const char *const argv[] = {"apt-cache", "show", "--no-all-versions", what, NULL};
	struct proc_result result;
	int r = run_apt(argv, NULL, APT_DEADLINE, &result, e);

	if (!r)
		strbuf_add(record, strbuf_str(&result.out), result.out.len);
	proc_result_release(&result);
	if (!r && !record->len)
		r = p->version ? version_missing(a, p, e) : package_missing(a, p->name, e);
	return r;
}

/* The package that holds the image: the one asked for, or what it depends on. */
static int package_resolve(struct arena *a, const char *text, struct package *out, struct err *e)
{
	const char *equal = strchr(text, '=');
	int depth, r;

	*out = (struct package){text, NULL};
	if (equal)
		*out = (struct package){arena_strndup(a, text, (size_t)(equal - text)), equal + 1};
	if (!is_package_name(out->name) || (equal && !is_package_version(out->version)))
		return err_add(e, -EINVAL, "\"%s\" is not the name of a package", text);
	for (depth = 0; depth < META_DEPTH; depth++) {
		_cleanup_strbuf_ struct strbuf record = STRBUF_INIT;

		r = package_show(a, out, &record, e);
		if (r)
			return r;
		if (!image_dependency(a, record_field(a, &record, "Depends"), out))
			out->version = record_field(a, &record, "Version");
		/* An image itself, or one whose exact version its meta package names. */
		if (out->version)
			return 0;
	}
	return err_add(e, -ENOENT, "apt knows no version of %s", text);
}

/* ---- the .deb ---- */

struct nested {
	struct archive *outer;
	char buf[65536];
};

static la_ssize_t nested_read(struct archive *inner, void *data, const void **buf)
{
	struct nested *n = data;

	(void)inner;
	*buf = n->buf;
	return archive_read_data(n->outer, n->buf, sizeof(n->buf));
}

static struct archive *archive_open_tools(void)
{
	struct archive *ar = archive_read_new();

	archive_read_support_filter_all(ar);
	archive_read_support_format_tar(ar);
	archive_read_support_format_ar(ar);
	return ar;
}

/* libarchive says nothing where the file just ends. */
static const char *archive_why(struct archive *ar)
{
	const char *why = archive_error_string(ar);

	return why ? why : "damaged or cut short";
}

static int unpack_file(struct archive *ar, const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return err_add_errno(e, "cannot create %s", path);
	r = archive_read_data_into_fd(ar, fd);
	if (close(fd) || r != ARCHIVE_OK)
		return err_add(e, -EIO, "cannot unpack %s: %s", path,
			       r != ARCHIVE_OK ? archive_why(ar) : strerror(errno));
	return 0;
}

/* What a file of the package is to us: where it goes below our folder, NULL: nowhere. */
static char *place_of(struct arena *a, const char *path, bool modules)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	path += path && str_starts(path, "./") ? 2 : 0;
	if (!name)
		return NULL;
	if (str_starts(path, "boot/") &&
	    (str_starts(name, "/vmlinuz-") || str_starts(name, "/config-")))
		return arena_strdup(a, name);
	/* no two modules of a kernel have one name */
	if (modules && (str_starts(path, "lib/modules/") || str_starts(path, "usr/lib/modules/")) &&
	    (strstr(name, ".ko") || !strcmp(name, "/modules.builtin")))
		return arena_printf(a, "/modules%s", name);
	return NULL;
}

/*
 * From data.tar: ./boot/vmlinuz-* and ./boot/config-*. They stand at its beginning; the modules
 * behind them are not even decompressed, unless they are wanted.
 */
static int unpack_data(struct arena *a, struct archive *data, const char *dir, bool modules,
		       struct err *e)
{
	struct archive_entry *entry;
	int found = 0, r = ARCHIVE_OK;

	while ((modules || found < 2) && (r = archive_read_next_header(data, &entry)) == ARCHIVE_OK) {
		char *place = place_of(a, archive_entry_pathname(entry), modules);

		if (!place || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		found += !str_starts(place, "/modules");
		r = unpack_file(data, arena_printf(a, "%s%s", dir, place), e);
		if (r)
			return r;
	}
	return r == ARCHIVE_OK || r == ARCHIVE_EOF
		       ? 0
		       : err_add(e, -EIO, "cannot unpack the package: %s", archive_why(data));
}

static int unpack_deb(struct arena *a, const char *deb, const char *dir, bool modules, struct err *e)
{
	struct archive *outer = archive_open_tools(), *inner = archive_open_tools();
	struct nested *nested = mem_zalloc(sizeof(*nested));
	struct archive_entry *entry;
	int r = -ENOENT;

	nested->outer = outer;
	if (archive_read_open_filename(outer, deb, 65536) != ARCHIVE_OK) {
		r = err_add(e, -EIO, "cannot read %s: %s", deb, archive_why(outer));
		goto out;
	}
	while (r == -ENOENT && archive_read_next_header(outer, &entry) == ARCHIVE_OK) {
		if (!str_starts(archive_entry_pathname(entry), "data.tar"))
			continue;
		r = archive_read_open(inner, nested, NULL, nested_read, NULL) == ARCHIVE_OK
			    ? unpack_data(a, inner, dir, modules, e)
			    : err_add(e, -EIO, "cannot read %s: %s", deb, archive_why(inner));
	}
	if (r == -ENOENT)
		err_add(e, r, "%s holds no data.tar: not a Debian package", deb);
out:
	archive_read_free(inner);
	archive_read_free(outer);
	free(nested);
	return r;
}

/* ---- the cache ---- */

/* The only file of that pattern in dir, or NULL. */
static char *only_file(struct arena *a, const char *dir, const char *pattern, struct err *e)
{
	char **names;
	size_t n;

	if (file_list(a, dir, pattern, &names, &n, e) || n != 1)
		return NULL;
	return arena_printf(a, "%s/%s", dir, names[0]);
}

static char *stamp_text(struct arena *a, const struct package *p, const char *sha256)
{
	return arena_printf(a, "package %s\nversion %s\nsha256 %s\n", p->name, p->version, sha256);
}

static int download(struct arena *a, const struct package *p, const char *dir, char **deb,
		    struct err *e)
{
	const char *what = arena_printf(a, "%s=%s", p->name, p->version);
	/* The sandbox user of root's apt cannot enter our private folder. */
	const char *const argv[] = {"apt-get",	"-qq", "-o", "APT::Sandbox::User=root",
				    "download", what,  NULL};
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct proc_result r;
	int code = run_apt(argv, dir, DOWNLOAD_DEADLINE, &r, e);

	if (!code && (*deb = only_file(a, dir, "*.deb", e)) == NULL) {
		struct span said = span_trim((struct span){strbuf_str(&r.err), r.err.len});

		proc_describe(&r, &how);
		code = err_add(e, -EIO, "cannot download %s (%s): %.*s", what, how.buf,
			       (int)MIN(said.len, 600), said.s);
		err_hint(e, "check the network; `apt-get update` refreshes the package lists");
	}
	proc_result_release(&r);
	return code;
}

/*
 * Downloads and unpacks into a folder of its own, then moves it into place; where a kernel is there
 * without its modules, only these.
 */
static int fetch(struct arena *a, const struct package *p, const char *dir, bool modules,
		 struct err *e)
{
	char *work = path_cache(a, "kernels/download.XXXXXX"), *deb = NULL, *image, *stamp;
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65];
	int r;

	if (!mkdtemp(work))
		return err_add_errno(e, "cannot create the folder %s", work);
	r = download(a, p, work, &deb, e);
	if (!r && modules)
		r = file_make_dirs(arena_printf(a, "%s/modules", work), e);
	if (!r)
		r = unpack_deb(a, deb, work, modules, e);
	if (r)
		goto out;
	unlink(deb);
	image = only_file(a, work, "vmlinuz-*", e);
	if (!image) {
		r = err_add(e, -ENOENT, "the package %s holds no kernel image", p->name);
		goto out;
	}
	r = file_sha256(image, hex, e);
	stamp = stamp_text(a, p, hex);
	if (!r)
		r = file_write_atomic(arena_printf(a, "%s/stamp", work), stamp, strlen(stamp), e);
	/* Somebody else may have been faster: theirs is as good. */
	if (!r && rename(work, dir) && errno != ENOTEMPTY && errno != EEXIST)
		r = err_add_errno(e, "cannot move %s to %s", work, dir);
	if (!r && modules)
		rename(arena_printf(a, "%s/modules", work), arena_printf(a, "%s/modules", dir));
out:
	file_remove_tree(work, &ignored);
	return r;
}

/* The image in a folder of the cache, if it is whole; then *k is filled. */
static bool find_cached(struct arena *a, const struct package *p, const char *dir,
			struct kernel_found *k)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf stamp = STRBUF_INIT;
	const char *image;

	if (file_read(arena_printf(a, "%s/stamp", dir), 4096, &stamp, &ignored))
		return false;
	image = only_file(a, dir, "vmlinuz-*", &ignored);
	if (!image || kernel_find_image(a, image, k, &ignored))
		return false;
	return !strcmp(stamp.buf, stamp_text(a, p, k->image_sha256));
}

int kernel_find_deb(struct arena *a, const char *package, const struct kernel_options *opt,
		    struct kernel_found *k, struct err *e)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct package p;
	char *dir, *modules;
	bool cached;
	int r = package_resolve(a, package, &p, e);

	if (r)
		return r;
	dir = path_cache(a, arena_printf(a, "kernels/%s_%s", p.name, p.version));
	modules = arena_printf(a, "%s/modules", dir);
	cached = find_cached(a, &p, dir, k);
	if (!cached || (opt->modules && !file_is_dir(modules))) {
		if (opt->note)
			opt->note(arena_printf(a, "downloading %s %s", p.name, p.version));
		r = file_make_dirs(path_cache(a, "kernels"), e);
		if (!r && !cached)
			r = file_remove_tree(dir, e); /* damaged */
		if (!r)
			r = fetch(a, &p, dir, opt->modules, e);
		if (r)
			return r;
		if (!find_cached(a, &p, dir, k))
			return err_add(e, -EIO, "the kernel unpacked from %s is damaged", p.name);
	}
	k->source = arena_printf(a, "deb %s %s", p.name, p.version);
	k->config = only_file(a, dir, "config-*", &ignored);
	k->modules = opt->modules ? modules : NULL;
	return 0;
}

static bool names_deb(const struct variant_config *v)
{
	return v->deb;
}

static int find_deb(const struct kernel_request *r, struct kernel_found *k)
{
	return kernel_find_deb(r->a, r->v->deb, r->opt, k, r->e);
}

static int check_deb(const struct kernel_request *r)
{
	struct package p;

	return package_resolve(r->a, r->v->deb, &p, r->e);
}

static char *describe_deb(const struct kernel_request *r)
{
	return arena_printf(r->a, "package %s", r->v->deb);
}

static const struct kernel_source deb_source = {
	.name = "deb",
	.is_named = names_deb,
	.find = find_deb,
	.check = check_deb,
	.describe = describe_deb,
};
REGISTER(kernel_source, deb_source);
