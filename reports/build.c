// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: its campaigns, and the order of the variants. */
#include "reports/build.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static void builder_release(struct builder *b)
{
	struct floor *f;

	array_for_each (f, &b->floors)
		ARRAY_FREE(&f->pairs);
	ARRAY_FREE(&b->floors);
	grounds_release(b);
	ARRAY_FREE(&b->run_facts);
	ARRAY_FREE(&b->boot_facts);
	ARRAY_FREE(&b->variants);
	ARRAY_FREE(&b->cases);
	ARRAY_FREE(&b->items);
	ARRAY_FREE(&b->counts);
	ARRAY_FREE(&b->executions);
	ARRAY_FREE(&b->facts);
	ARRAY_FREE(&b->warnings);
	ARRAY_FREE(&b->missing);
	ARRAY_FREE(&b->boots);
}

/* ---- reading ---- */

static int read_units(struct builder *b, const struct db_campaign *camp, int number)
{
	struct db_unit *units;
	size_t n, i;
	int r = db_get_units(b->db, b->a, camp->id, &units, &n, b->e);

	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->items) = (struct item){
			units[i].case_id,    units[i].metric_id,
			units[i].variant_id, units[i].block + join_offset(b, number),
			units[i].value,	     NULL,
		};
	return r;
}

static int read_summaries(struct builder *b, const struct db_campaign *camp)
{
	struct db_summary *list;
	size_t n, i;
	int r = db_get_summaries(b->db, b->a, camp->id, &list, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		if (list[i].idx) {
			b->repeated++;
			continue;
		}
		*ARRAY_PUSH(&b->items) = (struct item){
			list[i].case_id, list[i].metric_id, list[i].variant_id, 0, NAN, &list[i],
		};
	}
	return r;
}

static int read_plan(struct builder *b, const struct db_campaign *camp)
{
	struct db_cell *cells;
	size_t n, i;
	int r = db_get_cells(b->db, b->a, camp->id, &cells, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		b->c->planned++;
		b->c->done += strcmp(cells[i].state, "planned") != 0;
	}
	return r;
}

static void add_variants(struct builder *b, const struct db_variant *list, size_t n)
{
	struct db_variant *v;
	size_t i;

	for (i = 0; i < n; i++) {
		bool known = false;

		array_for_each (v, &b->variants)
			known |= v->id == list[i].id;
		if (!known)
			*ARRAY_PUSH(&b->variants) = list[i];
	}
}

static void add_cases(struct builder *b, const struct db_case *list, size_t n)
{
	struct db_case *k;
	size_t i;

	for (i = 0; i < n; i++) {
		bool known = false;

		array_for_each (k, &b->cases)
			known |= k->id == list[i].id;
		if (!known)
			*ARRAY_PUSH(&b->cases) = list[i];
	}
}

/* Boots in which the pairs of a campaign were measured. */
static int read_boots(struct builder *b, const struct db_campaign *camp)
{
	struct db_boot *boots;
	const char **known;
	size_t n, i;
	int r = db_get_boots(b->db, b->a, camp->id, &boots, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		if (!*boots[i].boot_id)
			continue;
		array_for_each (known, &b->boots)
			if (!strcmp(*known, boots[i].boot_id))
				break;
		if (known == b->boots.items + b->boots.n)
			*ARRAY_PUSH(&b->boots) = boots[i].boot_id;
	}
	b->c->boots = (int)b->boots.n;
	return r;
}

/* Pairs and blocks are two things: number counts the campaigns read before. */
static int take_order(struct builder *b, const struct db_campaign *camp, const struct db_fact *facts,
		      size_t n, int number)
{
	bool flip = false;
	size_t i;

	for (i = 0; i < n; i++)
		flip |= !strcmp(facts[i].key, "order") && !strcmp(facts[i].value, "flip");
	if (number && flip != b->c->paired) {
		err_add(b->e, -EINVAL,
			"%s and %s cannot be joined: one is of pairs (order: flip), the other of "
			"blocks",
			b->campaigns[0].id, camp->id);
		err_hint(b->e, "compare them one at a time (--campaign %s)", camp->id);
		return -EINVAL;
	}
	b->c->paired = flip;
	return flip ? read_boots(b, camp) : 0;
}

/* What is shown cannot be read anew. */
static int read_pruned(struct builder *b, const char *campaign)
{
	int64_t runs = 0;
	int r = db_count_pruned(b->db, campaign, &runs, b->e);

	if (!r && runs)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%s: the raw outputs of %" PRId64 " %s are gone (`kdelta db prune`): "
			"their values stay", campaign, runs, runs == 1 ? "run" : "runs");
	return r;
}

static int read_campaign(struct builder *b, const struct db_campaign *camp, int number)
{
	struct db_variant *variants;
	struct db_case *cases;
	struct db_count *counts;
	struct db_fact *facts;
	struct db_run_fact *series;
	size_t n, i;
	int r;

	r = db_get_variants(b->db, b->a, camp->id, &variants, &n, b->e);
	if (r)
		return r;
	add_variants(b, variants, n);
	r = db_get_cases(b->db, b->a, camp->id, &cases, &n, b->e);
	if (r)
		return r;
	add_cases(b, cases, n);
	r = db_get_counts(b->db, b->a, camp->id, &counts, &n, b->e);
	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->counts) = counts[i];
	if (!r)
		r = db_get_facts(b->db, b->a, "campaign", camp->id, &facts, &n, b->e);
	if (!r)
		r = take_order(b, camp, facts, n, number);
	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->facts) = facts[i];
	if (!r)
		r = db_get_run_facts(b->db, b->a, camp->id, "series.", &series, &n, b->e);
	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->run_facts) = series[i];
	if (!r)
		r = environment_read(b, camp->id);
	if (!r)
		r = read_pruned(b, camp->id);
	if (!r)
		r = executions_read(b, camp, number);
	if (!r)
		r = read_units(b, camp, number);
	if (!r)
		r = read_summaries(b, camp);
	return r ? r : read_plan(b, camp);
}

static bool campaign_is_named(const struct builder *b, size_t n, const char *id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_equal(b->campaigns[i].id, id))
			return true;
	return false;
}

/* Of the oldest of the campaigns, so that none is its own history. */
static int read_history(struct builder *b)
{
	const struct db_campaign *oldest = &b->campaigns[0];
	size_t i;

	for (i = 1; i < b->c->n_campaigns; i++)
		if (b->campaigns[i].created < oldest->created)
			oldest = &b->campaigns[i];
	return db_get_history(b->db, b->a, oldest->id, &b->history, &b->n_history, b->e);
}

static int read_campaigns(struct builder *b, const char *const *names, size_t n_names)
{
	struct comparison *c = b->c;
	const char *why;
	size_t i, n = MAX(n_names, (size_t)1);
	int r;

	b->campaigns = arena_alloc_array(b->a, n, sizeof(*b->campaigns));
	c->campaigns = arena_alloc_array(b->a, n, sizeof(*c->campaigns));
	for (i = 0; i < n; i++) {
		struct db_campaign *camp = &b->campaigns[c->n_campaigns];

		r = db_find_campaign(b->db, b->a, n_names ? names[i] : NULL, camp, b->e);
		if (r)
			return r;
		if (campaign_is_named(b, c->n_campaigns, camp->id))
			continue;
		r = join_refusal(b, camp, &why);
		if (r)
			return r;
		if (why) {
			err_add(b->e, -EINVAL, "%s and %s cannot be joined: %s", b->campaigns[0].id,
				camp->id, why);
			err_hint(b->e, "compare them one at a time (--campaign %s)", camp->id);
			return -EINVAL;
		}
		r = read_campaign(b, camp, (int)c->n_campaigns);
		if (r)
			return r;
		c->campaigns[c->n_campaigns++] = camp->id;
	}
	grounds_read(b);
	r = read_history(b);
	if (!r)
		r = build_floors(b);
	return r ? r : db_get_metrics(b->db, b->a, &b->metrics, &b->n_metrics, b->e);
}

/* ---- variants ---- */

/* A, B, ..., Z, AA, AB, ... */
static char *variant_letters(struct arena *a, size_t i)
{
	char buf[16], *p = buf + sizeof(buf);

	*--p = '\0';
	for (i++; i; i = (i - 1) / 26)
		*--p = (char)('A' + (i - 1) % 26);
	return arena_strdup(a, p);
}

static void settings_add(struct strbuf *sb, const char *key, const json_t *value)
{
	const char *name;
	const json_t *v;
	size_t i;

	if (json_is_string(value) && *json_string_value(value)) {
		strbuf_addf(sb, "%s%s %s", sb->len ? "; " : "", key, json_string_value(value));
	} else if (json_is_array(value) && json_array_size(value)) {
		strbuf_addf(sb, "%s%s", sb->len ? "; " : "", key);
		json_array_foreach(value, i, v)
			strbuf_addf(sb, " %s", json_is_string(v) ? json_string_value(v) : "?");
	} else if (json_is_object(value) && json_object_size(value)) {
		strbuf_addf(sb, "%s%s", sb->len ? "; " : "", key);
		json_object_foreach((json_t *)value, name, v) strbuf_addf(
			sb, " %s=%s", name, json_is_string(v) ? json_string_value(v) : "?");
	}
}

/* Name of the variant that this one is measured again as. */
static const char *name_of_identity(const struct builder *b, const char *identity)
{
	const struct db_variant *v;

	array_for_each (v, &b->variants)
		if (str_equal(v->identity, identity))
			return v->name;
	return "another";
}

/* {"cmdline":"nosmt","sysctl":{"kernel.x":"1"}} -> "cmdline nosmt; sysctl kernel.x=1" */
static const char *settings_text(const struct builder *b, const char *json)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	json_t *root = json && *json ? json_loads(json, 0, NULL) : NULL;
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value)
	{
		if (!strcmp(key, "same_as"))
			strbuf_addf(&sb, "%sthe same as %s", sb.len ? "; " : "",
				    name_of_identity(b, json_string_value(value)));
		else
			settings_add(&sb, key, value);
	}
	json_decref(root);
	return arena_strdup(b->a, strbuf_str(&sb));
}

static int variant_find(const struct builder *b, const char *what)
{
	size_t i, len = strlen(what);

	for (i = 0; i < b->variants.n; i++)
		if (!strcmp(b->variants.items[i].name, what))
			return (int)i;
	for (i = 0; i < b->c->n_variants; i++)
		if (!strcmp(b->c->variants[i].name, what) || !strcmp(b->c->variants[i].id, what))
			return (int)i;
	for (i = 0; i < b->variants.n; i++)
		if (len >= 4 && !strncmp(b->variants.items[i].identity, what, len))
			return (int)i;
	return -1;
}

static int variant_unknown(struct builder *b, const char *what)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	const char **names = arena_alloc_array(b->a, b->variants.n + 1, sizeof(*names));
	const char *near;
	size_t i;

	for (i = 0; i < b->variants.n; i++) {
		names[i] = b->variants.items[i].name;
		strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	err_add(b->e, -EINVAL, "no variant '%s' in campaign %s", what, b->c->campaigns[0]);
	near = str_suggest(what, names);
	if (near)
		err_hint(b->e, "did you mean '%s'?", near);
	else
		err_hint(b->e, "it has: %s", strbuf_str(&list));
	return -EINVAL;
}

static const char *variant_name(struct builder *b, const struct db_variant *v)
{
	const struct db_variant *other;

	array_for_each (other, &b->variants)
		if (other->id != v->id && !strcmp(other->name, v->name))
			return arena_printf(b->a, "%s@%.8s", v->name, v->identity);
	return v->name;
}

static void variant_fill(struct builder *b, struct cmp_variant *out, const struct db_variant *v)
{
	out->name = variant_name(b, v);
	out->description = v->description ? v->description : "";
	out->release = v->kernel.release ? v->kernel.release : "";
	out->build_id = v->kernel.build_id ? v->kernel.build_id : "";
	out->commit = v->kernel.commit ? v->kernel.commit : "";
	out->source = v->kernel.source ? v->kernel.source : "";
	out->settings = settings_text(b, v->settings);
	out->db_id = v->id;
}

static void order_push(int *order, size_t *n, int v)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (order[i] == v)
			return;
	order[(*n)++] = v;
}

/* Order of the columns: the baseline, then those asked for or all in the order of the campaign. */
static int variants_order(struct builder *b, int *order, size_t *n)
{
	const struct db_variant *v;
	int own = 0, base, i;

	array_for_each (v, &b->variants) {
		if (v->baseline) {
			own = (int)(v - b->variants.items);
			break;
		}
	}
	base = b->opt->baseline ? variant_find(b, b->opt->baseline) : own;
	if (base < 0)
		return variant_unknown(b, b->opt->baseline);
	b->c->own_baseline = base == own;
	order_push(order, n, base);
	for (i = 0; i < (int)b->opt->n_others; i++) {
		int at = variant_find(b, b->opt->others[i]);

		if (at < 0)
			return variant_unknown(b, b->opt->others[i]);
		order_push(order, n, at);
	}
	for (i = 0; !b->opt->n_others && i < (int)b->variants.n; i++)
		order_push(order, n, i);
	return 0;
}

static int build_variants(struct builder *b)
{
	struct comparison *c = b->c;
	struct cmp_variant *sorted;
	int *order;
	size_t i, n = 0;
	int r;

	/* letters of the plain order first, so that the options may use them */
	c->variants = arena_alloc_array(b->a, b->variants.n, sizeof(*c->variants));
	for (i = 0; i < b->variants.n; i++) {
		variant_fill(b, &c->variants[i], &b->variants.items[i]);
		c->variants[i].id = variant_letters(b->a, i);
	}
	c->n_variants = b->variants.n;
	order = arena_alloc_array(b->a, b->variants.n + 1, sizeof(*order));
	r = b->variants.n ? variants_order(b, order, &n) : 0;
	if (r)
		return r;
	sorted = arena_alloc_array(b->a, n, sizeof(*sorted));
	for (i = 0; i < n; i++) {
		sorted[i] = c->variants[order[i]];
		sorted[i].id = variant_letters(b->a, i);
	}
	c->variants = sorted;
	c->n_variants = n;
	if (n > 1 || (n && b->opt->alone))
		return 0;
	err_add(b->e, -ENOENT, "nothing to compare: campaign %s has %s%s", c->campaigns[0],
		n ? "only the variant " : "no variant", n ? sorted[0].name : "");
	err_hint(b->e, "measure another variant, or name two campaigns of this machine");
	return -ENOENT;
}

const char *comparison_pairs_text(const struct comparison *c, struct arena *a)
{
	if (!c->paired)
		return "";
	if (c->boots > 1)
		return arena_printf(a, "pairs within %d boots (flip)", c->boots);
	return "pairs within one boot (flip)";
}

int comparison_variant_of(const struct comparison *c, int64_t db_id)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		if (c->variants[i].db_id == db_id)
			return (int)i;
	return -1;
}

static int contrast_side(const struct comparison *c, const char *what)
{
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		if (!strcmp(c->variants[i].id, what) || !strcmp(c->variants[i].name, what))
			return (int)i;
	return -1;
}

/* "D/E" by the letters of this report or by names, which may hold a '/' themselves. */
static int build_contrast(struct builder *b, const char *text)
{
	struct comparison *c = b->c;
	const char *slash;

	for (slash = strchr(text, '/'); slash; slash = strchr(slash + 1, '/')) {
		int top = contrast_side(c, arena_strndup(b->a, text, (size_t)(slash - text)));
		int bottom = contrast_side(c, slash + 1);

		if (top < 0 || bottom < 0 || top == bottom)
			continue;
		c->contrasts[c->n_contrasts++] = (struct cmp_contrast){top, bottom};
		return 0;
	}
	err_add(b->e, -EINVAL, "--contrast %s: no two variants of this comparison", text);
	err_hint(b->e, "write two letters or names, as in --contrast %s/%s", c->variants[1].id,
		 c->variants[0].id);
	return -EINVAL;
}

static int build_contrasts(struct builder *b)
{
	size_t i;
	int r = 0;

	b->c->contrasts = arena_alloc_array(b->a, b->opt->n_contrasts, sizeof(*b->c->contrasts));
	for (i = 0; !r && i < b->opt->n_contrasts; i++)
		r = build_contrast(b, b->opt->contrasts[i]);
	return r;
}

static int build_all(struct builder *b, const char *const *campaigns, size_t n_campaigns)
{
	struct comparison *c = b->c;
	int r = read_campaigns(b, campaigns, n_campaigns);

	if (!r)
		r = build_variants(b);
	if (!r)
		r = build_contrasts(b);
	if (!r)
		r = join_check_clocks(b);
	if (r)
		return r;
	build_tests(b);
	if (!c->n_tests) {
		err_add(b->e, -ENOENT, "nothing to compare: campaign %s has no result%s",
			c->campaigns[0], c->planned ? " yet" : "");
		if (c->planned)
			err_hint(b->e, "%d of %d runs done; `kdelta run --resume %s` goes on",
				 c->done, c->planned, c->campaigns[0]);
		return -ENOENT;
	}
	r = build_facts(b);
	if (r)
		return r;
	environment_compare(b);
	comparison_judge(c);
	build_rates(b);
	note_missing(b);
	note_warnings(b);
	return 0;
}

int comparison_build(struct db *db, struct arena *a, const char *const *campaigns,
		     size_t n_campaigns, const struct comparison_options *opt,
		     struct comparison **out, struct err *e)
{
	struct builder b = {.db = db, .a = a, .opt = opt, .e = e};
	bool begun;
	int r = db_begin_read(db, &begun, e);

	if (r)
		return r;
	b.c = arena_alloc(a, sizeof(*b.c));
	b.c->arena = a;
	b.c->threshold = opt->threshold;
	b.c->explained = opt->explain;
	r = build_all(&b, campaigns, n_campaigns);
	db_end_read(db, begun);
	builder_release(&b);
	if (!r)
		*out = b.c;
	return r;
}

const struct report_format *report_format_find(const char *name)
{
	const struct report_format *const *p;

	registry_for_each (report_format, p)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}
