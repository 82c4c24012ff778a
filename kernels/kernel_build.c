// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernels built from source. What was built is kept under the hash of all that goes into it:
 * source, patches, configuration, compiler and target:
 *
 *	kernels/built-KEY/{vmlinux or bzImage, config, build.log, stamp}
 *	build/NAME/out-HASH/   objects of one configuration of one source, see kernel_tree.c
 *	logs/build-KEY.log     of a build that failed
 *
 * The same source gives the same bytes: who built it, where and when is fixed.
 */
#include "kernels/kernel_build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/cache.h"
#include "kernels/kernel_config.h"
#include "kernels/source.h"

#define BUILD_SECONDS (6 * 3600.0)

static bool names_recipe(const struct variant_config *v)
{
	return v->recipe;
}

/* ---- what it will be ---- */

static const char *wanted_target(const struct build *b)
{
	return b->recipe->target	  ? b->recipe->target
	       : b->r->opt->boots_vmlinux ? "vmlinux with PVH, else bzImage"
					  : "bzImage";
}

/* Hash of everything that goes into the kernel. */
static int set_key(struct build *b, const char **key)
{
	struct build_config *config = arena_alloc(b->r->a, sizeof(*config));
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char hex[65];
	int ret = kernel_config_read(b, config);

	if (ret)
		return ret;
	b->config = config;
	strbuf_addf(&sb, "kernel 1\n%s\n", b->source);
	build_add_patches(b, &sb);
	if (b->recipe->cflags)
		strbuf_addf(&sb, "cflags %s\n", b->recipe->cflags);
	strbuf_addf(&sb, "config %s\ncompiler %s\ntarget %s\n", config->hash,
		    source_compiler(b->r->a), wanted_target(b));
	data_sha256(sb.buf, sb.len, hex);
	*key = arena_strndup(b->r->a, hex, 16);
	return 0;
}

/*
 * stamp: "image vmlinux\nsha256 0123...\n", written last.
 */
static bool find_product(struct build *b, const char *key, struct kernel_found *k)
{
	_cleanup_strbuf_ struct strbuf stamp = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct arena *a = b->r->a;
	const char *dir = build_product(b, key);
	char name[32], sha256[65];

	if (file_read(arena_printf(a, "%s/stamp", dir), 4096, &stamp, &ignored) ||
	    sscanf(stamp.buf, "image %31s\nsha256 %64s", name, sha256) != 2 || strchr(name, '/') ||
	    kernel_find_image(a, arena_printf(a, "%s/%s", dir, name), k, &ignored))
		return false;
	k->config = arena_printf(a, "%s/config", dir);
	k->build_log = arena_printf(a, "%s/build.log", dir);
	return !strcmp(sha256, k->image_sha256);
}

/* ---- building ---- */

static const char *const *build_env(struct build *b, const char *out)
{
	struct arena *a = b->r->a;
	const char **env = arena_alloc_array(a, 12, sizeof(*env));
	size_t n = 0;

	env[n++] = "KBUILD_BUILD_TIMESTAMP=2024-01-01 00:00:00 UTC";
	env[n++] = "KBUILD_BUILD_VERSION=1";
	env[n++] = "KBUILD_BUILD_USER=kdelta";
	env[n++] = "KBUILD_BUILD_HOST=kdelta";
	env[n++] = arena_printf(a, "GIT_CEILING_DIRECTORIES=%s", b->dir);
	/* ccache: the same object wherever the folders lie */
	env[n++] = arena_printf(a, "CCACHE_BASEDIR=%s", path_folder(a, out));
	env[n++] = "CCACHE_NOHASHDIR=1";
	return env;
}

int kernel_make(struct build *b, const char *out, const char *target)
{
	struct arena *a = b->r->a;
	const char *map = arena_printf(a, "-ffile-prefix-map=%s=. -ffile-prefix-map=%s=.%s%s",
				       b->tree, out, b->recipe->cflags ? " " : "",
				       b->recipe->cflags ? b->recipe->cflags : "");
	const char *const argv[] = {
		"make",
		arena_printf(a, "-j%ld", MAX(1, sysconf(_SC_NPROCESSORS_ONLN))),
		"-C",
		b->tree,
		arena_printf(a, "O=%s", out),
		"LOCALVERSION=",
		path_program(a, "ccache") ? "CC=ccache gcc" : "CC=gcc",
		arena_printf(a, "KCFLAGS=%s", map),
		arena_printf(a, "KAFLAGS=%s", map),
		target,
		NULL,
	};

	b->step.env = build_env(b, out);
	b->step.deadline = b->recipe->deadline > 0 ? b->recipe->deadline : BUILD_SECONDS;
	return step_run(&b->step, NULL, argv);
}

static int strip_image(struct build *b, const char *from, const char *to)
{
	const char *const argv[] = {"strip", "-o", to, from, NULL};

	return step_run(&b->step, NULL, argv);
}

static int copy_file(struct build *b, const char *from, const char *to)
{
	const char *const argv[] = {"cp", from, to, NULL};

	return step_run(&b->step, NULL, argv);
}

/* Compiles, and takes the image to a folder of its own that then gets its name at once. */
static int compile(struct build *b, const char *out, const char *work, const char **image)
{
	struct arena *a = b->r->a;
	bool pvh = b->r->opt->boots_vmlinux && kernel_config_has(a, out, "CONFIG_PVH=y");
	const char *target = b->recipe->target ? b->recipe->target : pvh ? "vmlinux" : "bzImage";
	int ret;

	step_note(&b->step, "building %s for '%s' (log: %s)", target, b->r->v->name, b->step.log);
	ret = kernel_make(b, out, target);
	*image = target;
	if (ret)
		return ret;
	return !strcmp(target, "vmlinux")
		       ? strip_image(b, arena_printf(a, "%s/vmlinux", out),
				     arena_printf(a, "%s/vmlinux", work))
		       : copy_file(b, arena_printf(a, "%s/arch/x86/boot/bzImage", out),
				   arena_printf(a, "%s/bzImage", work));
}

static int store_product(struct build *b, const char *key, const char *out, const char *work,
			 const char *image)
{
	struct arena *a = b->r->a;
	const char *version, *path = arena_printf(a, "%s/%s", work, image);
	char hex[65];
	int ret = kernel_read_version(a, path, &version, b->step.e);

	if (ret)
		return -EIO; /* what make made is not the campaign's mistake */
	ret = file_sha256(path, hex, b->step.e);
	if (!ret)
		ret = copy_file(b, arena_printf(a, "%s/.config", out),
				arena_printf(a, "%s/config", work));
	return ret ? ret
		   : build_keep_product(b, key, work,
					arena_printf(a, "image %s\nsha256 %s\n", image, hex));
}

/* Everything that takes a compiler; its output goes to the log. */
static int make_product(struct build *b, const char *key)
{
	const char *out = arena_printf(b->r->a, "%s/out-%.12s", b->dir, b->config->hash);
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	const char *work, *image = NULL;
	int ret = build_open_product(b, key, &work);

	if (ret)
		return ret;
	b->step.e = &why;
	ret = kernel_config_make(b, b->config, out);
	if (!ret)
		ret = compile(b, out, work, &image);
	if (!ret)
		ret = store_product(b, key, out, work, image);
	return build_explain(b, ret, &why, e);
}

static const struct build_ops kernel_ops = {
	.set_key = set_key,
	.is_there = find_product,
	.make = make_product,
};

static int find_recipe(const struct kernel_request *r, struct kernel_found *k)
{
	struct build b = build_begin(r, r->v->recipe);

	return build_find(&b, &kernel_ops, k);
}

/* ---- before ---- */

/* A package that apt does not know; one that is here needs no apt. */
static int check_package(struct build *b)
{
	const char *package = b->recipe->deb;
	const char *const argv[] = {"apt-cache", "show", "--no-all-versions", package, NULL};
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	struct source_tree t;
	int ret;

	if (source_tree_is_there(b->r->a, package, NULL, &t))
		return 0;
	b->step.e = &why;
	ret = step_run(&b->step, NULL, argv);
	b->step.e = e;
	if (ret != -EIO)
		return ret ? err_add(e, ret, "%s", err_text(&why)) : 0;
	err_add(e, -ENOENT, "there is no package %s", package);
	err_hint(e, "see `apt-cache search linux-source`, or `apt-get update` first");
	return -ENOENT;
}

static int check_recipe(const struct kernel_request *r)
{
	struct build b = build_begin(r, r->v->recipe);
	struct build_config config;
	const char *const *url = r->v->recipe->urls;
	int ret = 0;

	if (url && !strstr(*url, "://") && !url[1] && !file_exists(*url))
		ret = err_add(r->e, -ENOENT, "there is no tarball %s", *url);
	else if (r->v->recipe->deb)
		ret = check_package(&b);
	else if (r->v->recipe->repo && !r->v->recipe->remote)
		ret = kernel_source_resolve(&b, false);
	if (!ret)
		ret = kernel_patches_read(&b, false);
	if (!ret)
		ret = kernel_config_read(&b, &config);
	ARRAY_FREE(&b.patches);
	return ret == -EAGAIN ? 0 : ret;
}

static char *describe_recipe(const struct kernel_request *r)
{
	const struct kernel_recipe *recipe = r->v->recipe;
	struct arena *a = r->a;
	struct build b = build_begin(r, r->v->recipe);
	struct kernel_found k;
	const char *key, *state = "to be fetched and built";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int ret = kernel_source_resolve(&b, false);

	if (!ret) {
		state = "to be built";
		ret = kernel_patches_read(&b, false);
		if (!ret)
			ret = set_key(&b, &key);
		if (!ret && find_product(&b, key, &k))
			state = "built before";
	}
	strbuf_adds(&sb, b.label	 ? b.label
			 : recipe->repo ? arena_printf(a, "git %s of %s", recipe->ref, recipe->repo)
			 : recipe->deb	 ? arena_printf(a, "source package %s", recipe->deb)
					 : arena_printf(a, "tarball %s", *recipe->urls));
	if (recipe->n_patches)
		strbuf_addf(&sb, " + %zu patch%s", recipe->n_patches,
			    recipe->n_patches == 1 ? "" : "es");
	strbuf_addf(&sb, ", %s: %s", kernel_config_describe(&b), state);
	ARRAY_FREE(&b.patches);
	return arena_strdup(a, sb.buf);
}

static const struct kernel_source recipe_source = {
	.name = "build",
	.is_named = names_recipe,
	.find = find_recipe,
	.check = check_recipe,
	.describe = describe_recipe,
};
REGISTER(kernel_source, recipe_source);
