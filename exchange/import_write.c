// SPDX-License-Identifier: GPL-2.0-or-later
#include "exchange/import_write.h"

#include <ctype.h>
#include <jansson.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "net/lore.h"
#include "runner/input.h"

/* ---- what was met before in this campaign ---- */

struct key {
	int64_t case_id, metric_id, variant_id;
	int count;
};

static int key_compare(const void *x, const void *y)
{
	const struct key *v = x, *w = y;

	if (v->case_id != w->case_id)
		return v->case_id < w->case_id ? -1 : 1;
	if (v->metric_id != w->metric_id)
		return v->metric_id < w->metric_id ? -1 : 1;
	return (v->variant_id > w->variant_id) - (v->variant_id < w->variant_id);
}

int import_seen(struct import *im, int64_t case_id, int64_t metric_id, int64_t variant_id)
{
	struct key *key = arena_alloc(im->a, sizeof(*key)), **node;

	*key = (struct key){case_id, metric_id, variant_id, 0};
	node = tsearch(key, &im->seen, key_compare);
	if (!node)
		abort();
	return (*node)->count++;
}

static void keep_key(void *key)
{
	(void)key; /* it lives in the arena */
}

void import_forget(struct import *im)
{
	tdestroy(im->seen, keep_key);
	im->seen = NULL;
}

/* ---- campaigns ---- */

char *import_name(struct arena *a, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = input_plain_len(base);
	const char *dot = memrchr(base, '.', len);
	char *name, *p;
	char *id = strstr(path, "://") ? lore_message_id(a, path) : NULL;

	if (!strcmp(path, "-"))
		return arena_strdup(a, "stdin");
	if (id)
		name = arena_strndup(a, id, strcspn(id, "@"));
	else
		name = arena_strndup(a, base, dot && dot > base ? (size_t)(dot - base) : len);
	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			*p = '-';
	return *name ? name : arena_strdup(a, "import");
}

int import_campaign(struct import *im, const char *file, const char *sha256, int repeat)
{
	int r;

	import_forget(im);
	im->n_cases = im->n_variants = 0;
	im->campaign = (struct db_campaign){
		.name = im->opt->campaign ? im->opt->campaign : import_name(im->a, file),
		.kind = "import",
		.unit = "run",
		.source = strcmp(file, "-") ? file : "standard input",
		.created = im->now,
		.ended = im->now,
		.repeat = repeat,
	};
	r = db_add_campaign(im->db, im->a, &im->campaign, im->e);
	if (r)
		return r;
	if (!im->report->campaigns++)
		im->report->campaign = im->campaign.id;
	return sha256 ? db_set_fact(im->db, "campaign", im->campaign.id, "source_sha256", sha256,
				    im->e)
		      : 0;
}

/* ---- variants and test cases ---- */

static char *hash_words(struct arena *a, const char *kind, const char *name, const char *detail)
{
	char *text = arena_printf(a, "%s\n%s\n%s\n", kind, name, detail), hex[65];

	data_sha256(text, strlen(text), hex);
	return arena_strndup(a, hex, 16);
}

struct import_variant_words import_words(const char *name)
{
	return (struct import_variant_words){
		.name = name, .description = "", .release = "", .commit = ""};
}

int import_variant(struct import *im, const struct import_variant_words *w, int64_t *id)
{
	struct db_kernel kernel = {
		.release = w->release,
		.version = "",
		.build_id = w->build_id ? w->build_id : "",
		.image_sha256 = "",
		.source = w->source ? w->source : "",
		.commit = w->commit,
	};
	const char *more = arena_printf(im->a, "%s%s", kernel.build_id, kernel.source);
	const char *settings = w->settings ? w->settings : "{}";
	const char *detail = *w->release ? w->release : w->commit;
	int64_t kernel_id = 0;
	int r = 0;

	/* of what only reports of our own state, so that other identities stay what they were */
	if (*more || strcmp(settings, "{}"))
		detail = arena_printf(im->a, "%s\n%s\n%s", detail, more, settings);
	if (*w->release || *w->commit || *more) {
		kernel.identity = hash_words(im->a, "import kernel", w->release,
					     arena_printf(im->a, "%s%s", w->commit, more));
		r = db_put_kernel(im->db, &kernel, &kernel_id, im->e);
	}
	if (!r)
		r = db_put_variant(im->db, hash_words(im->a, "import", w->name, detail), kernel_id,
				   settings, id, im->e);
	if (r || import_seen(im, -1, -1, *id))
		return r;
	return db_add_campaign_variant(im->db, im->campaign.id, *id, im->n_variants++, w->name,
				       w->description, w->baseline, im->e);
}

void import_param(struct import_case *c, const char *name, const char *value)
{
	if (c->n < IMPORT_MAX_PARAMS)
		c->params[c->n++] = (struct param_value){name, value, true};
}

void import_fixed_param(struct import_case *c, const char *name, const char *value)
{
	if (c->n < IMPORT_MAX_PARAMS)
		c->params[c->n++] = (struct param_value){name, value, false};
}

/* A value as part of a name: "numa 0&1" -> "numa0&1", "SNC on" -> "SNC-on". */
static void add_name_value(struct strbuf *sb, const struct param_value *p)
{
	const char *s;

	for (s = p->value; *s; s++) {
		if (*s == ' ' && strcmp(p->name, "bind"))
			strbuf_addc(sb, '-');
		else if (*s != ' ')
			strbuf_addc(sb, *s == '/' ? '_' : *s);
	}
}

int import_case(struct import *im, const struct import_case *c, int64_t *id)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct param_value identity[IMPORT_MAX_PARAMS + 1];
	json_t *params = json_object(), *swept = json_array();
	_cleanup_free_ char *params_text = NULL, *swept_text = NULL;
	struct db_case row = {.benchmark = c->benchmark, .description = c->description};
	size_t i;
	int r;

	strbuf_adds(&name, c->benchmark);
	for (i = 0; i < c->n; i++) {
		const struct param_value *p = &c->params[i];

		json_object_set_new(params, p->name, json_string(p->value));
		identity[i] = *p;
		if (!p->swept)
			continue;
		json_array_append_new(swept, json_string(p->name));
		strbuf_addf(&name, "/%s=", p->name);
		add_name_value(&name, p);
	}
	identity[i] = (struct param_value){"command", c->command, false};
	params_text = json_dumps(params, JSON_COMPACT);
	swept_text = json_dumps(swept, JSON_COMPACT);
	json_decref(params);
	json_decref(swept);
	row.identity = case_identity(im->a, c->benchmark, identity, c->n + (*c->command != '\0'));
	row.name = c->name ? c->name : strbuf_str(&name);
	if (!*c->description)
		row.description = catalog_describe(im->cat, c->benchmark, row.name);
	row.params = params_text;
	row.swept = swept_text;
	row.command = c->command;
	r = db_put_case(im->db, &row, id, im->e);
	if (r || import_seen(im, *id, -1, -1))
		return r;
	return db_add_campaign_case(im->db, im->campaign.id, *id, im->n_cases++, 0, im->e);
}

struct db_run import_run(const struct import *im, int64_t variant, const char *parser)
{
	return (struct db_run){
		.variant_id = variant,
		.campaign = im->campaign.id,
		.started = im->now,
		.outcome = "ok",
		.command = "",
		.parser = parser,
		.attempt = 1,
		.exit_status = -1,
	};
}
