// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernels/kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/file.h"
#include "kernels/cache.h"
#include "kernels/program.h"

char *kernel_pending_identity(struct arena *a, const struct variant_config *v)
{
	const char *text = v->kernel_text ? v->kernel_text : "running";
	char hex[65];

	data_sha256(text, strlen(text), hex);
	return arena_strndup(a, hex, 16);
}

void kernel_note(const struct kernel_request *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->opt->note)
		return;
	va_start(ap, fmt);
	r->opt->note(arena_vprintf(r->a, fmt, ap));
	va_end(ap);
}

static const struct kernel_source *source_of(const struct variant_config *v)
{
	const struct kernel_source *const *p;

	registry_for_each (kernel_source, p)
		if ((*p)->is_named(v))
			return *p;
	return NULL;
}

char *kernel_error_text(struct arena *a, const struct err *why)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct err_item *item;

	array_for_each (item, &why->list)
		strbuf_addf(&sb, "%s%s%s%s", sb.len ? "; " : "", item->message,
			    item->hint ? ": " : "", item->hint ? item->hint : "");
	return arena_strdup(a, strbuf_str(&sb));
}

/* Errors of one variant become those of the campaign, with their place in its file. */
static void pass_on(const struct campaign_config *c, const struct variant_config *v,
		    const struct err *why, struct err *e)
{
	const struct err_item *item;

	array_for_each (item, &why->list) {
		err_add(e, 0, "%s", item->message);
		if (item->hint)
			err_hint(e, "%s", item->hint);
		err_at(e, c->file, v->kernel_line ? v->kernel_line : v->line,
		       v->kernel_line ? v->kernel_column : v->column);
	}
}

bool kernel_pass_on(const struct campaign_config *c, const struct variant_config *v, int ret,
		    const struct err *why, struct err *e)
{
	if (ret != -EINVAL && ret != -ENOENT && ret != -EINTR)
		return false;
	pass_on(c, v, why, e);
	return true;
}

int kernel_find(struct arena *a, const struct campaign_config *c, const struct variant_config *v,
		const struct kernel_options *opt, struct kernel_found *k, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;
	const struct kernel_request r = {.a = a, .v = v, .opt = opt, .e = &why};
	const struct kernel_source *source = source_of(v);
	int ret;

	*k = (struct kernel_found){.commit = v->commit};
	if (!source)
		return err_add(e, -EINVAL, "the variant '%s' names no kernel", v->name);
	ret = source->find(&r, k);
	if (!ret)
		return 0;
	if (kernel_pass_on(c, v, ret, &why, e))
		return ret;
	k->error = "no_kernel";
	k->message = kernel_error_text(a, &why);
	if (!k->identity)
		k->identity = kernel_pending_identity(a, v);
	return 0;
}

/* Without a build every mistake shows at once anyway. */
static bool takes_long(const struct campaign_config *c)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		if (c->variants[i].recipe || c->variants[i].source)
			return true;
	return false;
}

int kernel_check(struct arena *a, const struct campaign_config *c, struct err *e)
{
	static const struct kernel_options none;
	int64_t limit;
	size_t i;
	int ret;

	if (!takes_long(c))
		return 0;
	ret = cache_limit(&limit, e);
	for (i = 0; i < c->n_variants; i++) {
		const struct variant_config *v = &c->variants[i];
		_cleanup_err_ struct err why = ERR_INIT;
		const struct kernel_request r = {.a = a, .v = v, .opt = &none, .e = &why};
		const struct kernel_source *source = v->same_as ? NULL : source_of(v);
		int one = source && source->check ? source->check(&r) : 0;

		if (!one && v->source && !v->same_as)
			one = program_check(&r);
		if (one == -EINTR)
			return one;
		if (!one)
			continue;
		pass_on(c, v, &why, e);
		ret = ret ? ret : one;
	}
	return ret;
}

char *kernel_describe(struct arena *a, const struct variant_config *v,
		      const struct kernel_options *opt)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	const struct kernel_request r = {.a = a, .v = v, .opt = opt, .e = &ignored};
	const struct kernel_source *source = source_of(v);

	return source ? source->describe(&r) : arena_strdup(a, "the running kernel");
}
