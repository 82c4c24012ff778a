// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is built of a source: found in the cache, or made under the locks of source and product.
 *
 *	kernels/built-KEY/{stamp, build.log, what was built}
 *	build/NAME/product/    while it is made
 *	logs/build-KEY.log     of a build that failed
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/cache.h"
#include "kernels/kernel_build.h"

struct build build_begin(const struct kernel_request *r, const struct kernel_recipe *recipe)
{
	return (struct build){
		.r = r,
		.recipe = recipe,
		.step = {.a = r->a, .e = r->e, .note = r->opt->note},
	};
}

void build_add_patches(const struct build *b, struct strbuf *sb)
{
	const struct build_patch *p;

	array_for_each (p, &b->patches)
		strbuf_addf(sb, "patch %s%s\n", p->reverse ? "-R " : "", p->sha256);
}

static const char *unit_of(const struct build *b, const char *key)
{
	return arena_printf(b->r->a, "kernels/built-%s", key);
}

const char *build_product(const struct build *b, const char *key)
{
	return path_cache(b->r->a, unit_of(b, key));
}

/* ---- making ---- */

int build_open_product(struct build *b, const char *key, const char **work)
{
	struct arena *a = b->r->a;
	int ret;

	*work = arena_printf(a, "%s/product", b->dir);
	ret = file_remove_tree(*work, b->step.e);
	if (!ret)
		ret = file_make_dirs(*work, b->step.e);
	if (!ret)
		ret = file_make_dirs(path_cache(a, "kernels"), b->step.e);
	if (!ret)
		ret = file_make_dirs(path_cache(a, "logs"), b->step.e);
	b->step.log = path_cache(a, arena_printf(a, "logs/build-%s.log", key));
	unlink(b->step.log);
	return ret;
}

static int move(struct build *b, const char *from, const char *to)
{
	return rename(from, to) ? err_add_errno(b->step.e, "cannot move %s to %s", from, to) : 0;
}

int build_keep_product(struct build *b, const char *key, const char *work, const char *stamp)
{
	struct arena *a = b->r->a;
	const char *dir = build_product(b, key);
	int ret = 0;

	if (file_exists(b->step.log))
		ret = move(b, b->step.log, arena_printf(a, "%s/build.log", work));
	if (!ret)
		ret = file_write_atomic(arena_printf(a, "%s/stamp", work), stamp, strlen(stamp),
					b->step.e);
	if (!ret)
		ret = file_remove_tree(dir, b->step.e);
	return ret ? ret : move(b, work, dir);
}

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

int build_explain(struct build *b, int ret, const struct err *why, struct err *e)
{
	b->step.e = e;
	if (ret == -EIO)
		return err_add(e, ret, "the build failed: %s; its log: %s",
			       first_error(b, b->step.log), b->step.log);
	return ret && ret != -EINTR ? err_add(e, ret, "%s", err_text(why)) : ret;
}

/* ---- finding ---- */

/*
 * Under the locks of the source's folder and, in this order, of the product: who waits for the
 * folder holds no product. One that is there is only shared, as others keep theirs to their end.
 */
static int make(struct build *b, const struct build_ops *ops, const char *key,
		struct kernel_found *k)
{
	int ret = cache_lock(b->r->a, b->unit, b->step.note, b->step.e);

	if (!ret)
		ret = cache_share(b->r->a, k->unit, b->step.note, b->step.e);
	if (ret || ops->is_there(b, key, k)) /* another was faster */
		goto out;
	ret = cache_lock(b->r->a, k->unit, b->step.note, b->step.e);
	if (!ret)
		ret = file_make_dirs(b->dir, b->step.e);
	if (!ret)
		ret = kernel_tree_prepare(b);
	if (!ret)
		ret = ops->make(b, key);
	if (!ret && !ops->is_there(b, key, k))
		ret = err_add(b->step.e, -EIO, "what was built in %s is damaged", b->dir);
out:
	cache_unlock(b->unit);
	if (ret)
		cache_unlock(k->unit);
	else
		ret = cache_share(b->r->a, k->unit, b->step.note, b->step.e);
	return ret ? ret : cache_trim(b->r->a, b->step.note, b->step.e);
}

/* With the patches of a recipe; -EAGAIN: it is not in the cache, and not to be made. */
static int find_with(struct build *b, const struct build_ops *ops, const struct kernel_recipe *recipe,
		     bool makes, struct kernel_found *k)
{
	const char *key;
	int ret;

	b->recipe = recipe;
	b->patches.n = 0;
	ret = kernel_patches_read(b, true);
	if (!ret)
		ret = ops->set_key(b, &key);
	if (ret)
		return ret;
	k->identity = key;
	k->unit = unit_of(b, key);
	k->source = arena_printf(b->r->a, "%s%s", b->source,
				 b->patches.n ? arena_printf(b->r->a, " + %zu patch%s",
							     b->patches.n,
							     b->patches.n == 1 ? "" : "es")
					      : "");
	ret = cache_share(b->r->a, k->unit, b->step.note, b->step.e);
	if (!ret && ops->is_there(b, key, k)) {
		step_note(&b->step, "'%s' is in the cache: %s", b->r->v->name, b->label);
	} else if (!ret) {
		cache_unlock(k->unit);
		ret = makes ? make(b, ops, key, k) : -EAGAIN;
	}
	k->identity = key;
	return ret;
}

/* A tree that once needed its fixup is found with it at once. */
static int find_fixed(struct build *b, const struct build_ops *ops, struct kernel_found *k)
{
	const struct kernel_recipe *plain = b->recipe;
	struct kernel_recipe *fixed = arena_copy(b->r->a, plain, 1, sizeof(*fixed));
	struct kernel_patch *patches =
		arena_alloc_array(b->r->a, plain->n_patches + 1, sizeof(*patches));
	int ret;

	if (plain->n_patches)
		memcpy(patches, plain->patches, plain->n_patches * sizeof(*patches));
	patches[plain->n_patches].text = plain->fixup;
	fixed->patches = patches;
	fixed->n_patches++;
	ret = find_with(b, ops, plain, false, k);
	if (ret == -EAGAIN)
		ret = find_with(b, ops, fixed, false, k);
	if (ret == -EAGAIN)
		ret = find_with(b, ops, plain, !b->r->opt->peeks, k);
	if (ret != -EIO)
		return ret;
	step_note(&b->step, "'%s' cannot be built as it is: trying with %s", b->r->v->name,
		  plain->fixup);
	return find_with(b, ops, fixed, true, k);
}

int build_find(struct build *b, const struct build_ops *ops, struct kernel_found *k)
{
	int ret = kernel_source_resolve(b, true);
	const char *commit = b->commit;

	if (!ret)
		ret = b->recipe->fixup ? find_fixed(b, ops, k)
				       : find_with(b, ops, b->recipe, !b->r->opt->peeks, k);
	k->commit = commit ? commit : k->commit;
	if (b->unit)
		cache_unlock(b->unit);
	ARRAY_FREE(&b->patches);
	return ret;
}
