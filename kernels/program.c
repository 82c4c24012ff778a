// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cache: kernels/built-KEY/tree/ is the folder as the build left it; builds go on from each other
 * in build/NAME/tree/, so that the next commit compiles only what changed.
 */
#include "kernels/program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/kernel_build.h"
#include "kernels/source.h"

static int set_key(struct build *b, const char **key)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char hex[65];

	strbuf_addf(&sb, "program 1\n%s\n", b->source);
	build_add_patches(b, &sb);
	strbuf_addf(&sb, "command %s\ncompiler %s\n", b->recipe->command ? b->recipe->command : "",
		    source_compiler(b->r->a));
	data_sha256(sb.buf, sb.len, hex);
	*key = arena_strndup(b->r->a, hex, 16);
	return 0;
}

static bool is_there(struct build *b, const char *key, struct kernel_found *k)
{
	const char *dir = build_product(b, key);

	k->folder = arena_printf(b->r->a, "%s/tree", dir);
	return file_exists(arena_printf(b->r->a, "%s/stamp", dir)) && file_is_dir(k->folder);
}

static int compile(struct build *b)
{
	const char *const argv[] = {"sh", "-c", b->recipe->command, NULL};
	const char *const env[] = {
		arena_printf(b->r->a, "GIT_CEILING_DIRECTORIES=%s", b->dir), NULL};
	int ret;

	if (!b->recipe->command)
		return 0;
	step_note(&b->step, "building '%s' (log: %s)", b->r->v->name, b->step.log);
	b->step.env = env;
	b->step.deadline = b->recipe->deadline;
	ret = step_run(&b->step, b->tree, argv);
	b->step.env = NULL;
	b->step.deadline = 0;
	/* what a broken build left must not look like a finished one to the next */
	if (ret)
		unlink(arena_printf(b->r->a, "%s/state", b->dir));
	return ret;
}

static int make(struct build *b, const char *key)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	const char *work;
	int ret = build_open_product(b, key, &work);

	if (ret)
		return ret;
	b->step.e = &why;
	ret = compile(b);
	if (!ret) {
		const char *const copy[] = {"cp", "-a", "--reflink=auto", b->tree,
					    arena_printf(b->r->a, "%s/tree", work), NULL};

		ret = step_run(&b->step, NULL, copy);
	}
	if (!ret)
		ret = build_keep_product(b, key, work, "program\n");
	return build_explain(b, ret, &why, e);
}

static const struct build_ops program_ops = {
	.set_key = set_key,
	.is_there = is_there,
	.make = make,
};

int program_find(struct arena *a, const struct campaign_config *c, const struct variant_config *v,
		 const struct kernel_options *opt, struct kernel_found *k, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	const struct kernel_request r = {.a = a, .v = v, .opt = opt, .e = &why};
	struct build b = build_begin(&r, v->source);
	struct kernel_found program = {NULL};
	int ret = build_find(&b, &program_ops, &program);

	if (ret && kernel_pass_on(c, v, ret, &why, e))
		return ret;
	if (ret) {
		k->error = "no_source";
		k->message = kernel_error_text(a, &why);
	}
	k->identity = arena_printf(a, "%s %s", k->identity ? k->identity : "",
				   program.identity ? program.identity
						    : kernel_pending_identity(a, v));
	k->source = program.source ? program.source : k->source;
	k->commit = program.commit ? program.commit : k->commit;
	k->folder = program.folder;
	k->unit = program.unit;
	return 0;
}

int program_check(const struct kernel_request *r)
{
	struct build b = build_begin(r, r->v->source);
	int ret = 0;

	if (!b.recipe->remote)
		ret = kernel_source_resolve(&b, false);
	if (!ret)
		ret = kernel_patches_read(&b, false);
	ARRAY_FREE(&b.patches);
	return ret == -EAGAIN ? 0 : ret;
}
