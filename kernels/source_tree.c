// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cache layout, under $XDG_CACHE_HOME/kdelta:
 *
 *	source/NAME/tree/     the source
 *	source/NAME/version   "6.1.192-3": written last, so that a cut unpacking is done again
 *	download/NAME         a tarball on its way; .part while it is not whole
 */
#include "kernels/source_tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/cache.h"
#include "net/net.h"

static char *only_file(struct step *s, const char *dir, const char *pattern)
{
	char **names;
	size_t n;

	if (file_list(s->a, dir, pattern, &names, &n, s->e))
		return NULL;
	return n ? arena_printf(s->a, "%s/%s", dir, names[n - 1]) : NULL;
}

/* The folder that holds the kernel's Makefile: the tree itself or the only folder in it. */
static char *tree_root(struct arena *a, char *tree)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char **names;
	size_t n, i;

	if (file_exists(arena_printf(a, "%s/Kbuild", tree)))
		return tree;
	if (!file_is_dir(tree) || file_list(a, tree, NULL, &names, &n, &ignored))
		return NULL;
	for (i = 0; i < n; i++) {
		char *inner = arena_printf(a, "%s/%s", tree, names[i]);

		if (file_exists(arena_printf(a, "%s/Kbuild", inner)))
			return inner;
	}
	return NULL;
}

static int unpack(struct step *s, const char *tarball, const char *tree)
{
	const char *const argv[] = {"tar", "-xf", tarball, "-C", tree, NULL};
	int ret = file_remove_tree(tree, s->e);

	if (!ret)
		ret = file_make_dirs(tree, s->e);
	if (ret)
		return ret;
	step_note(s, "unpacking %s", tarball);
	return step_run(s, NULL, argv);
}

/* Downloads the package, takes the tarball out of it and unpacks that. */
static int fetch_deb(struct step *s, const char *package, const char *dir, const char **version)
{
	const char *work = arena_printf(s->a, "%s/download", dir);
	const char *const download[] = {"apt-get", "-q", "download", package, NULL};
	const char *extract[] = {"dpkg-deb", "-x", NULL, work, NULL};
	const char *field[] = {"dpkg-deb", "-f", NULL, "Version", NULL};
	char *deb, *tarball;
	int ret = file_remove_tree(work, s->e);

	if (!ret)
		ret = file_make_dirs(work, s->e);
	step_note(s, "downloading %s", package);
	if (!ret)
		ret = step_run(s, work, download);
	if (ret) {
		if (ret != -EINTR)
			err_hint(s->e,
				 "see `apt-cache search linux-source`, or `apt-get update` first");
		return ret;
	}
	deb = only_file(s, work, "*.deb");
	if (!deb)
		return err_add(s->e, -EIO, "apt-get downloaded nothing for %s", package);
	extract[2] = field[2] = deb;
	ret = step_run(s, NULL, field);
	*version = s->out;
	if (!ret)
		ret = step_run(s, NULL, extract);
	if (ret)
		return ret;
	tarball = only_file(s, arena_printf(s->a, "%s/usr/src", work), "*.tar.*");
	if (!tarball)
		return err_add(s->e, -EIO, "%s holds no source tarball", package);
	ret = unpack(s, tarball, arena_printf(s->a, "%s/tree", dir));
	return ret ? ret : file_remove_tree(work, s->e);
}

/* ---- tarballs ---- */

static bool is_address(const char *s)
{
	return strstr(s, "://") != NULL;
}

/* A file that is on this machine is unpacked where it lies. */
static int check_file(struct step *s, const char *path, const struct source_tarball *t)
{
	struct stat st;
	char hex[65];
	int ret;

	if (stat(path, &st))
		return err_add_errno(s->e, "cannot read the tarball %s", path);
	if (t->size && st.st_size != t->size)
		return err_add(s->e, -EBADMSG, "%s has %lld bytes, not %lld", path,
			       (long long)st.st_size, (long long)t->size);
	ret = file_sha256(path, hex, s->e);
	if (!ret && t->sha256 && strcmp(hex, t->sha256))
		ret = err_add(s->e, -EBADMSG, "%s has the checksum %s, not %s", path, hex,
			      t->sha256);
	return ret;
}

/* net.c knows how far it is; people want to know it now and then. */
static void tell_progress(void *data, int64_t got, int64_t total)
{
	struct step *s = data;

	if (total > 0)
		step_note(s, "downloading: %.0f of %.0f MB", (double)got / 1e6,
			  (double)total / 1e6);
	else
		step_note(s, "downloading: %.0f MB", (double)got / 1e6);
}

static int try_url(struct step *s, const char *url, const struct source_tarball *t,
		   const char *path, const char **file)
{
	const struct net_file wanted = {.path = path,
					.sha256 = t->sha256,
					.size = t->size,
					.stall = t->stall,
					.progress = tell_progress,
					.data = s};

	*file = is_address(url) ? path : url;
	if (!is_address(url))
		return check_file(s, url, t);
	step_note(s, "downloading %s", url);
	return net_get_file(url, &wanted, s->e);
}

/* The first that gives the right file; what was wrong with the others is told only if none does. */
static int fetch_any(struct step *s, const struct source_tarball *t, const char *path,
		     const char **file)
{
	_cleanup_err_ struct err tried = ERR_INIT;
	struct err *all = s->e;
	const struct err_item *item;
	const char *const *url;
	int ret = -ENOENT;

	for (url = t->urls; *url && ret && ret != -EINTR; url++) {
		s->e = &tried;
		ret = try_url(s, *url, t, path, file);
		s->e = all;
		if (ret && ret != -EINTR && url[1])
			step_note(s, "%s; trying the next",
				  tried.list.items[tried.list.n - 1].message);
	}
	if (!ret)
		return 0;
	array_for_each (item, &tried.list) {
		err_add(all, ret, "%s", item->message);
		if (item->hint)
			err_hint(all, "%s", item->hint);
	}
	return ret == -ENOENT && t->urls[1] ? -EIO : ret;
}

static int fetch_tarball(struct step *s, const struct source_tarball *t, const char *name,
			 const char *dir)
{
	const char *unit = arena_printf(s->a, "download/%s", name);
	const char *path = path_cache(s->a, unit), *file = NULL;
	int ret = file_make_dirs(path_cache(s->a, "download"), s->e);

	if (!ret)
		ret = cache_lock(s->a, unit, s->note, s->e);
	if (ret)
		return ret;
	ret = fetch_any(s, t, path, &file);
	if (!ret)
		ret = unpack(s, file, arena_printf(s->a, "%s/tree", dir));
	if (!ret)
		unlink(path);
	cache_unlock(unit);
	return ret;
}

/* ---- what both share ---- */

static bool is_whole(struct arena *a, const char *unit, struct source_tree *t)
{
	const char *dir = path_cache(a, unit);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (file_read_line(arena_printf(a, "%s/version", dir), &sb) || !sb.len)
		return false;
	t->version = arena_strdup(a, strbuf_str(&sb));
	t->dir = tree_root(a, arena_printf(a, "%s/tree", dir));
	return t->dir != NULL;
}

static int finish(struct step *s, const char *unit, const char *what, const char *version,
		  struct source_tree *t)
{
	const char *dir = path_cache(s->a, unit);
	int ret;

	if (!tree_root(s->a, arena_printf(s->a, "%s/tree", dir)))
		return err_add(s->e, -EINVAL, "%s holds no kernel source", what);
	ret = file_write_atomic(arena_printf(s->a, "%s/version", dir), version, strlen(version),
				s->e);
	if (!ret && !is_whole(s->a, unit, t))
		ret = err_add(s->e, -EIO, "%s cannot be read", dir);
	return ret ? ret : cache_trim(s->a, s->note, s->e);
}

/* Shared if it is whole, else for us alone. *whole: nothing is left to do. */
static int begin(struct step *s, const char *unit, struct source_tree *t, bool *whole)
{
	int ret = cache_share(s->a, unit, s->note, s->e);

	*whole = !ret && is_whole(s->a, unit, t);
	if (ret || *whole)
		return ret;
	ret = cache_lock(s->a, unit, s->note, s->e);
	*whole = !ret && is_whole(s->a, unit, t); /* another was faster */
	return ret || *whole ? ret : file_make_dirs(path_cache(s->a, unit), s->e);
}

static void name_deb(struct arena *a, const char *package, struct source_tree *t)
{
	t->identity = arena_printf(a, "deb %.*s %s", (int)strcspn(package, "="), package,
				   t->version);
}

int source_tree_deb(struct step *s, const char *package, struct source_tree *t)
{
	const char *unit = arena_printf(s->a, "source/%s", package), *version = "";
	bool whole;
	int ret = begin(s, unit, t, &whole);

	if (!ret && !whole) {
		ret = fetch_deb(s, package, path_cache(s->a, unit), &version);
		if (!ret)
			ret = finish(s, unit, package, version, t);
	}
	if (!ret)
		ret = cache_share(s->a, unit, s->note, s->e);
	if (!ret)
		name_deb(s->a, package, t);
	return ret;
}

int source_tree_tarball(struct step *s, const struct source_tarball *tarball,
			struct source_tree *t)
{
	const char *sha256 = tarball->sha256, *name, *unit;
	char hex[65];
	bool whole;
	int ret = 0;

	if (!sha256) {
		ret = file_sha256(tarball->urls[0], hex, s->e);
		sha256 = hex;
	}
	if (ret)
		return ret;
	name = arena_printf(s->a, "tarball-%.12s", sha256);
	unit = arena_printf(s->a, "source/%s", name);
	ret = begin(s, unit, t, &whole);
	if (!ret && !whole) {
		ret = fetch_tarball(s, tarball, name, path_cache(s->a, unit));
		if (!ret)
			ret = finish(s, unit, tarball->urls[0],
				     arena_strndup(s->a, sha256, 16), t);
	}
	if (!ret)
		ret = cache_share(s->a, unit, s->note, s->e);
	if (!ret)
		t->identity = arena_printf(s->a, "sha256 %s", sha256);
	return ret;
}

bool source_tree_is_there(struct arena *a, const char *package, const char *sha256,
			  struct source_tree *t)
{
	if (package && is_whole(a, arena_printf(a, "source/%s", package), t)) {
		name_deb(a, package, t);
		return true;
	}
	if (!sha256 || !is_whole(a, arena_printf(a, "source/tarball-%.12s", sha256), t))
		return false;
	t->identity = arena_printf(a, "sha256 %s", sha256);
	return true;
}
