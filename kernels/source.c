// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cache layout, under $XDG_CACHE_HOME/kdelta/source, beside the trees of source_tree.c:
 *
 *	NAME/build-HASH/ objects of one configuration target
 *
 * For git the user's own tree is used, never changed.
 */
#include "kernels/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "kernels/source_tree.h"
#include "kernels/step.h"

/* The user's tree, at the commit it stands at; changes that are not committed are named too. */
static int use_git(struct step *s, const char *path, struct source_tree *t)
{
	const char *const describe[] = {"git",	    "-C",	   path,
					"describe", "--always",	   "--abbrev=12",
					"--dirty",  "--exclude=*", NULL};
	char real[PATH_MAX];
	int ret;

	if (!realpath(path, real))
		return err_add_errno(s->e, "cannot use the source tree %s", path);
	t->dir = arena_strdup(s->a, real);
	ret = step_run(s, NULL, describe);
	t->version = s->out;
	return ret;
}

static int fetch(struct step *s, const struct test_case *c, struct source_tree *t)
{
	const char *const urls[] = {c->source_tarball, NULL};
	const struct source_tarball tarball = {.urls = urls};

	return c->source_git   ? use_git(s, c->source_git, t)
	       : c->source_deb ? source_tree_deb(s, c->source_deb, t)
			       : source_tree_tarball(s, &tarball, t);
}

/* Where objects go: a plain word. Of guests, whose objects go nowhere, it is only configured. */
static char *build_place(struct arena *a, const struct test_case *c, const struct source_tree *t)
{
	char hex[65], *name;
	char *key = arena_printf(a, "%s\n%s%s", t->version, c->config,
				 case_param(c, "share") ? "\nguest" : "");

	data_sha256(t->dir, strlen(t->dir), hex);
	name = c->source_deb   ? arena_strdup(a, c->source_deb)
	       : c->source_git ? arena_printf(a, "git-%.12s", hex)
			       : arena_printf(a, "tarball-%.12s", t->version);
	data_sha256(key, strlen(key), hex);
	return path_cache(a, arena_printf(a, "source/%s/build-%.12s", name, hex));
}

/* Configures once; what one test case built is cleaned before each run anyway. */
static int configure(struct step *s, const struct test_case *c)
{
	const char *out = arena_printf(s->a, "O=%s", c->build_dir);
	const char *const argv[] = {"make", "-s", "-C", c->source_dir, out, c->config, NULL};
	const char *done = arena_printf(s->a, "%s/.kdelta-configured", c->build_dir);
	int ret;

	if (file_exists(done))
		return 0;
	step_note(s, "configuring %s", c->config);
	ret = file_remove_tree(c->build_dir, s->e);
	if (!ret)
		ret = file_make_dirs(c->build_dir, s->e);
	if (!ret)
		ret = step_run(s, NULL, argv);
	return ret ? ret : file_write_atomic(done, "", 0, s->e);
}

int source_prepare(struct arena *a, struct test_case *c, void (*note)(const char *text),
		   struct err *e)
{
	struct step s = {.a = a, .e = e, .note = note};
	struct source_tree t = {NULL, NULL, NULL};
	int ret = fetch(&s, c, &t);

	if (ret)
		return ret;
	c->source_dir = t.dir;
	c->build_dir = build_place(a, c, &t);
	case_set_param(a, c, "source_version", t.version);
	return configure(&s, c);
}

char *source_compiler(struct arena *a)
{
	static const char *const argv[] = {"gcc", "--version", NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct step s = {.a = a, .e = &ignored};

	if (step_run(&s, NULL, argv))
		return arena_strdup(a, "");
	return arena_strndup(a, s.out, strcspn(s.out, "\n"));
}
