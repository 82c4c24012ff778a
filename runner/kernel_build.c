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
#include "runner/kernel_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "runner/cache.h"
#include "runner/kernel_config.h"
#include "runner/source.h"

#define BUILD_SECONDS (6 * 3600.0)

static bool names_recipe(const struct variant_config *v)
{
	return v->recipe;
}

static struct build begin(const struct kernel_request *r)
{
	return (struct build){
		.r = r,
		.recipe = r->v->recipe,
		.step = {.a = r->a, .e = r->e, .note = r->opt->note},
	};
}

/* ---- what it will be ---- */

static const char *wanted_target(const struct build *b)
{
	return b->recipe->target	  ? b->recipe->target
	       : b->r->opt->boots_vmlinux ? "vmlinux with PVH, else bzImage"
					  : "bzImage";
}

/* Hash of everything that goes into the kernel. */
static int set_key(struct build *b, struct build_config *config, const char **key)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct build_patch *p;
	char hex[65];
	int ret = kernel_config_read(b, config);

	if (ret)
		return ret;
	strbuf_addf(&sb, "kernel 1\n%s\n", b->source);
	array_for_each (p, &b->patches)
		strbuf_addf(&sb, "patch %s%s\n", p->reverse ? "-R " : "", p->sha256);
	strbuf_addf(&sb, "config %s\ncompiler %s\ntarget %s\n", config->hash,
		    source_compiler(b->r->a), wanted_target(b));
	data_sha256(sb.buf, sb.len, hex);
	*key = arena_strndup(b->r->a, hex, 16);
	return 0;
}

static const char *product_dir(const struct build *b, const char *key)
{
	return path_cache(b->r->a, arena_printf(b->r->a, "kernels/built-%s", key));
}

/*
 * stamp: "image vmlinux\nsha256 0123...\n", written last.
 */
static bool find_product(struct build *b, const char *key, struct kernel_found *k)
{
	_cleanup_strbuf_ struct strbuf stamp = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct arena *a = b->r->a;
	const char *dir = product_dir(b, key);
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

/* Makes the log's first error the message: people want that line, not the last. */
static const char *first_error(struct build *b, const char *log)
{
	static const char *const marks[] = {": error: ", "fatal error", "undefined reference",
					    "*** ", "Error "};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span rest, line;
	size_t i;

	file_read(log, 0, &text, &ignored);
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		rest = (struct span){strbuf_str(&text), text.len};
		while (span_next_line(&rest, &line, NULL))
			if (span_find(line, marks[i]))
				return arena_strndup(b->r->a, line.s, MIN(line.len, (size_t)300));
	}
	return b->step.said;
}

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
	const char *map = arena_printf(a, "-ffile-prefix-map=%s=. -ffile-prefix-map=%s=.", b->tree,
				       out);
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
	b->step.deadline = BUILD_SECONDS;
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

static int store_product(struct build *b, const char *out, const char *work, const char *image,
			 const char *dir)
{
	struct arena *a = b->r->a;
	const char *version, *stamp, *path = arena_printf(a, "%s/%s", work, image);
	char hex[65];
	int ret = kernel_read_version(a, path, &version, b->step.e);

	if (ret)
		return -EIO; /* what make made is not the campaign's mistake */
	ret = file_sha256(path, hex, b->step.e);
	if (!ret)
		ret = copy_file(b, arena_printf(a, "%s/.config", out),
				arena_printf(a, "%s/config", work));
	if (!ret && rename(b->step.log, arena_printf(a, "%s/build.log", work)))
		ret = err_add_errno(b->step.e, "cannot move %s", b->step.log);
	stamp = arena_printf(a, "image %s\nsha256 %s\n", image, hex);
	if (!ret)
		ret = file_write_atomic(arena_printf(a, "%s/stamp", work), stamp, strlen(stamp),
					b->step.e);
	if (!ret)
		ret = file_remove_tree(dir, b->step.e);
	if (!ret && rename(work, dir))
		ret = err_add_errno(b->step.e, "cannot move %s to %s", work, dir);
	return ret;
}

/* Everything that takes a compiler; its output goes to the log. */
static int make_product(struct build *b, const struct build_config *config, const char *key)
{
	struct arena *a = b->r->a;
	const char *out = arena_printf(a, "%s/out-%.12s", b->dir, config->hash);
	const char *work = arena_printf(a, "%s/product", b->dir), *image = NULL;
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	int ret = file_remove_tree(work, e);

	if (!ret)
		ret = file_make_dirs(work, e);
	if (!ret)
		ret = file_make_dirs(path_cache(a, "kernels"), e);
	if (!ret)
		ret = file_make_dirs(path_cache(a, "logs"), e);
	if (ret)
		return ret;
	b->step.log = path_cache(a, arena_printf(a, "logs/build-%s.log", key));
	unlink(b->step.log);
	b->step.e = &why;
	ret = kernel_config_make(b, config, out);
	if (!ret)
		ret = compile(b, out, work, &image);
	if (!ret)
		ret = store_product(b, out, work, image, product_dir(b, key));
	b->step.e = e;
	if (ret == -EIO)
		err_add(e, ret, "the build failed: %s; its log: %s", first_error(b, b->step.log),
			b->step.log);
	else if (ret && ret != -EINTR)
		err_add(e, ret, "%s", err_text(&why));
	return ret;
}

/* Under the locks of the source's folder and of the product. */
static int build(struct build *b, const struct build_config *config, const char *key,
		 struct kernel_found *k)
{
	const char *unit = arena_printf(b->r->a, "kernels/built-%s", key);
	int ret = cache_lock(b->r->a, b->unit, b->step.note, b->step.e);

	if (!ret)
		ret = cache_lock(b->r->a, unit, b->step.note, b->step.e);
	if (ret || find_product(b, key, k)) /* another was faster */
		goto out;
	ret = file_make_dirs(b->dir, b->step.e);
	if (!ret)
		ret = kernel_tree_prepare(b);
	if (!ret)
		ret = make_product(b, config, key);
	if (!ret && !find_product(b, key, k))
		ret = err_add(b->step.e, -EIO, "the kernel built in %s is damaged", b->dir);
out:
	cache_unlock(b->unit);
	if (ret)
		cache_unlock(unit);
	else
		ret = cache_share(b->r->a, unit, b->step.note, b->step.e);
	return ret ? ret : cache_trim(b->r->a, b->step.note, b->step.e);
}

static int find_locked(struct build *b, struct kernel_found *k)
{
	struct arena *a = b->r->a;
	struct build_config config;
	const char *key, *unit, *commit;
	int ret = kernel_source_resolve(b, true);

	if (!ret)
		ret = kernel_patches_read(b, true);
	if (!ret)
		ret = set_key(b, &config, &key);
	if (ret)
		return ret;
	commit = b->commit;
	unit = arena_printf(a, "kernels/built-%s", key);
	ret = cache_share(a, unit, b->step.note, b->step.e);
	if (!ret && find_product(b, key, k)) {
		step_note(&b->step, "'%s' is in the cache: %s", b->r->v->name, b->label);
	} else if (!ret) {
		k->identity = key;
		ret = build(b, &config, key, k);
	}
	k->identity = key;
	k->source = arena_printf(a, "%s%s", b->source,
				 b->patches.n ? arena_printf(a, " + %zu patch%s", b->patches.n,
							     b->patches.n == 1 ? "" : "es")
					      : "");
	k->commit = commit ? commit : k->commit;
	return ret;
}

static int find_recipe(const struct kernel_request *r, struct kernel_found *k)
{
	struct build b = begin(r);
	int ret = find_locked(&b, k);

	if (b.unit)
		cache_unlock(b.unit);
	ARRAY_FREE(&b.patches);
	return ret;
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
	struct build b = begin(r);
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
	struct build b = begin(r);
	struct build_config config;
	struct kernel_found k;
	const char *key, *state = "to be fetched and built";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int ret = kernel_source_resolve(&b, false);

	if (!ret) {
		state = "to be built";
		ret = kernel_patches_read(&b, false);
		if (!ret)
			ret = set_key(&b, &config, &key);
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
