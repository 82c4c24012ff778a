// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cache layout, under $XDG_CACHE_HOME/kdelta/source:
 *
 *	NAME/tree/       the source; for git the user's own tree is used, never changed
 *	NAME/build-HASH/ objects of one configuration target
 *	NAME/version     "6.1.192-3": written last, so that a cut unpacking is done again
 */
#include "runner/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/proc.h"

enum { STEP_SECONDS = 3600 }; /* for downloading, unpacking, configuring */

struct source {
	struct arena *a;
	struct err *e;
	void (*note)(const char *text);
	char *dir; /* of the cache */
};

static void source_note(const struct source *s, const char *text)
{
	if (s->note)
		s->note(text);
}

/* Runs a step of the preparation; its stdout, trimmed, goes to *out (may be NULL). */
static int source_run(const struct source *s, const char *dir, const char *const *argv, char **out)
{
	static const char *const env[] = {"MAKEFLAGS=", "MAKELEVEL=", "KBUILD_OUTPUT=", NULL};
	const struct proc_spec spec = {
		.argv = argv, .dir = dir, .env = env, .deadline = STEP_SECONDS};
	struct proc_result result;
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	int ret = proc_run(&spec, &result, s->e);

	if (ret)
		return ret;
	if (result.interrupted) {
		ret = -EINTR;
	} else if (!result.started) {
		ret = err_add(s->e, -ENOENT, "%s is not installed", argv[0]);
	} else if (result.exit_status || result.signal || result.timed_out) {
		struct span text =
			span_trim((struct span){strbuf_str(&result.err), result.err.len});
		size_t tail = MIN(text.len, (size_t)300);

		proc_describe(&result, &how);
		ret = err_add(s->e, -EIO, "%s %s failed (%s): %.*s", argv[0], argv[1],
			      strbuf_str(&how), (int)tail, text.s + text.len - tail);
	} else if (out) {
		struct span text =
			span_trim((struct span){strbuf_str(&result.out), result.out.len});

		*out = arena_strndup(s->a, text.s, text.len);
	}
	proc_result_release(&result);
	return ret;
}

static char *only_file(const struct source *s, const char *dir, const char *pattern)
{
	char **names;
	size_t n;

	if (file_list(s->a, dir, pattern, &names, &n, s->e))
		return NULL;
	return n ? arena_printf(s->a, "%s/%s", dir, names[n - 1]) : NULL;
}

/* The folder that holds the kernel's Makefile: the tree itself or the only folder in it. */
static char *tree_root(const struct source *s, char *tree)
{
	char **names;
	size_t n, i;

	if (file_exists(arena_printf(s->a, "%s/Kbuild", tree)))
		return tree;
	if (!file_is_dir(tree) || file_list(s->a, tree, NULL, &names, &n, s->e))
		return NULL;
	for (i = 0; i < n; i++) {
		char *inner = arena_printf(s->a, "%s/%s", tree, names[i]);

		if (file_exists(arena_printf(s->a, "%s/Kbuild", inner)))
			return inner;
	}
	return NULL;
}

static int unpack(const struct source *s, const char *tarball, const char *tree)
{
	const char *const argv[] = {"tar", "-xf", tarball, "-C", tree, NULL};
	int ret = file_remove_tree(tree, s->e);

	if (!ret)
		ret = file_make_dirs(tree, s->e);
	if (ret)
		return ret;
	source_note(s, arena_printf(s->a, "unpacking %s", tarball));
	return source_run(s, NULL, argv, NULL);
}

/* linux-source-6.1: downloads the package, takes the tarball out of it and unpacks that. */
static int fetch_deb(const struct source *s, const char *package, const char *tree, char **version)
{
	const char *work = arena_printf(s->a, "%s/download", s->dir);
	const char *const download[] = {"apt-get", "-q", "download", package, NULL};
	const char *extract[] = {"dpkg-deb", "-x", NULL, work, NULL};
	const char *field[] = {"dpkg-deb", "-f", NULL, "Version", NULL};
	char *deb, *tarball;
	int ret = file_remove_tree(work, s->e);

	if (!ret)
		ret = file_make_dirs(work, s->e);
	source_note(s, arena_printf(s->a, "downloading %s", package));
	if (!ret)
		ret = source_run(s, work, download, NULL);
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
	ret = source_run(s, NULL, field, version);
	if (!ret)
		ret = source_run(s, NULL, extract, NULL);
	if (ret)
		return ret;
	tarball = only_file(s, arena_printf(s->a, "%s/usr/src", work), "*.tar.*");
	if (!tarball)
		return err_add(s->e, -EIO, "%s holds no source tarball", package);
	ret = unpack(s, tarball, tree);
	return ret ? ret : file_remove_tree(work, s->e);
}

static int fetch_tarball(const struct source *s, const char *path, const char *tree, char **version)
{
	char hex[65];
	int ret = file_sha256(path, hex, s->e);

	*version = arena_strndup(s->a, hex, 16);
	return ret ? ret : unpack(s, path, tree);
}

/* A name for the cache that is a plain word: the package, or the hash of a path. */
static char *cache_name(struct arena *a, const struct test_case *c)
{
	const char *path = c->source_git ? c->source_git : c->source_tarball;
	char hex[65];

	if (c->source_deb)
		return arena_strdup(a, c->source_deb);
	data_sha256(path, strlen(path), hex);
	return arena_printf(a, "%s-%.12s", c->source_git ? "git" : "tarball", hex);
}

/* The user's tree, at the commit it stands at; changes that are not committed are named too. */
static int use_git(const struct source *s, const char *path, char **tree, char **version)
{
	const char *const describe[] = {"git",	    "-C",	   path,
					"describe", "--always",	   "--abbrev=12",
					"--dirty",  "--exclude=*", NULL};
	char real[PATH_MAX];

	if (!realpath(path, real))
		return err_add_errno(s->e, "cannot use the source tree %s", path);
	*tree = arena_strdup(s->a, real);
	return source_run(s, NULL, describe, version);
}

/* A tree that was unpacked completely by an earlier call. */
static bool is_fetched(const struct source *s, char *unpacked, char **tree, char **version)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (file_read_line(arena_printf(s->a, "%s/version", s->dir), &sb) || !sb.len)
		return false;
	*version = arena_strdup(s->a, strbuf_str(&sb));
	*tree = tree_root(s, unpacked);
	return *tree != NULL;
}

static int fetch(const struct source *s, const struct test_case *c, char **tree, char **version)
{
	char *unpacked = arena_printf(s->a, "%s/tree", s->dir);
	int ret;

	if (c->source_git)
		return use_git(s, c->source_git, tree, version);
	if (is_fetched(s, unpacked, tree, version))
		return 0;
	if (c->source_deb)
		ret = fetch_deb(s, c->source_deb, unpacked, version);
	else
		ret = fetch_tarball(s, c->source_tarball, unpacked, version);
	if (ret)
		return ret;
	*tree = tree_root(s, unpacked);
	if (!*tree)
		return err_add(s->e, -EINVAL, "%s holds no kernel source",
			       c->source_deb ? c->source_deb : c->source_tarball);
	return file_write_atomic(arena_printf(s->a, "%s/version", s->dir), *version,
				 strlen(*version), s->e);
}

/* Configures once; what one test case built is cleaned before each run anyway. */
static int configure(const struct source *s, const struct test_case *c)
{
	const char *out = arena_printf(s->a, "O=%s", c->build_dir);
	const char *const argv[] = {"make", "-s", "-C", c->source_dir, out, c->config, NULL};
	const char *done = arena_printf(s->a, "%s/.kdelta-configured", c->build_dir);
	int ret;

	if (file_exists(done))
		return 0;
	source_note(s, arena_printf(s->a, "configuring %s", c->config));
	ret = file_remove_tree(c->build_dir, s->e);
	if (!ret)
		ret = file_make_dirs(c->build_dir, s->e);
	if (!ret)
		ret = source_run(s, NULL, argv, NULL);
	return ret ? ret : file_write_atomic(done, "", 0, s->e);
}

int source_prepare(struct arena *a, struct test_case *c, void (*note)(const char *text),
		   struct err *e)
{
	char *name = cache_name(a, c), *tree = NULL, *version = NULL, *key, hex[65];
	struct source s = {.a = a,
			   .e = e,
			   .note = note,
			   .dir = path_cache(a, arena_printf(a, "source/%s", name))};
	int ret = file_make_dirs(s.dir, e);

	if (!ret)
		ret = fetch(&s, c, &tree, &version);
	if (ret)
		return ret;
	key = arena_printf(a, "%s\n%s", version, c->config);
	data_sha256(key, strlen(key), hex);
	c->source_dir = tree;
	c->build_dir = arena_printf(a, "%s/build-%.12s", s.dir, hex);
	case_set_param(a, c, "source_version", version);
	return configure(&s, c);
}

char *source_compiler(struct arena *a)
{
	static const char *const argv[] = {"gcc", "--version", NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	const struct source s = {.a = a, .e = &ignored};
	char *text = NULL;

	if (source_run(&s, NULL, argv, &text) || !text)
		return arena_strdup(a, "");
	text[strcspn(text, "\n")] = '\0';
	return text;
}
