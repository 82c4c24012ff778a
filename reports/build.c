// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> comparison: which variants, cases and metrics there are, and the values of each cell.
 */
#include "reports/build.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"

/* One value or one published summary of a cell. */
struct item {
	int64_t test, metric, variant; /* db ids */
	int block;		       /* unique over joined campaigns */
	double value;
	const struct db_summary *summary; /* NULL: a value */
};

struct builder {
	struct db *db;
	struct arena *a;
	const struct comparison_options *opt;
	struct err *e;
	struct comparison *c;
	struct db_campaign *campaigns;
	ARRAY_OF(struct db_variant) variants;
	ARRAY_OF(struct db_case) cases;
	struct db_metric *metrics;
	size_t n_metrics;
	ARRAY_OF(struct item) items;
	struct db_unit *history; /* sorted by case, metric, campaign, variant */
	size_t n_history;
	ARRAY_OF(struct db_count) counts;
	ARRAY_OF(struct db_fact) facts;
	ARRAY_OF(const char *) warnings;
	ARRAY_OF(const char *) missing;
	int repeated; /* cells the source states more than once */
};

static void builder_release(struct builder *b)
{
	ARRAY_FREE(&b->variants);
	ARRAY_FREE(&b->cases);
	ARRAY_FREE(&b->items);
	ARRAY_FREE(&b->counts);
	ARRAY_FREE(&b->facts);
	ARRAY_FREE(&b->warnings);
	ARRAY_FREE(&b->missing);
}

/* ---- reading ---- */

/* Blocks of one campaign stay below this, so that joined ones do not meet. */
#define BLOCK_STRIDE 1000000

static int read_units(struct builder *b, const struct db_campaign *camp, int number)
{
	struct db_unit *units;
	size_t n, i;
	int r = db_get_units(b->db, b->a, camp->id, &units, &n, b->e);

	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->items) = (struct item){
			units[i].case_id,    units[i].metric_id,
			units[i].variant_id, units[i].block + number * BLOCK_STRIDE,
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

static int read_campaign(struct builder *b, const struct db_campaign *camp, int number)
{
	struct db_variant *variants;
	struct db_case *cases;
	struct db_count *counts;
	struct db_fact *facts;
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
	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->facts) = facts[i];
	if (!r)
		r = read_units(b, camp, number);
	if (!r)
		r = read_summaries(b, camp);
	return r ? r : read_plan(b, camp);
}

/* Why two campaigns cannot be joined, or NULL. */
static const char *join_refusal(const struct db_campaign *x, const struct db_campaign *y)
{
	if (!x->machine_id || !y->machine_id)
		return "the machine of one is not known";
	if (x->machine_id != y->machine_id)
		return "they were measured on different machines, or the machine changed";
	if (!str_equal(x->unit, y->unit))
		return "one counts boots, the other runs";
	if (!str_equal(x->backend, y->backend) || !str_equal(x->accelerator, y->accelerator))
		return "they were measured on different backends";
	return NULL;
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
		why = c->n_campaigns ? join_refusal(&b->campaigns[0], camp) : NULL;
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
	r = read_history(b);
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

/* {"cmdline":"nosmt","sysctl":{"kernel.x":"1"}} -> "cmdline nosmt; sysctl kernel.x=1" */
static const char *settings_text(struct arena *a, const char *json)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	json_t *root = json && *json ? json_loads(json, 0, NULL) : NULL;
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value) settings_add(&sb, key, value);
	json_decref(root);
	return arena_strdup(a, strbuf_str(&sb));
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
	out->settings = settings_text(b->a, v->settings);
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
	if (n > 1)
		return 0;
	err_add(b->e, -ENOENT, "nothing to compare: campaign %s has %s%s", c->campaigns[0],
		n ? "only the variant " : "no variant", n ? sorted[0].name : "");
	err_hint(b->e, "measure another variant, or name two campaigns of this machine");
	return -ENOENT;
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

/* ---- cells ---- */

static int item_compare(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->test != b->test)
		return a->test < b->test ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->variant != b->variant)
		return a->variant < b->variant ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* First item at or after a key; items are sorted. */
static const struct item *items_from(const struct builder *b, int64_t test, int64_t metric,
				     int64_t variant)
{
	struct item key = {.test = test, .metric = metric, .variant = variant, .block = -1};
	size_t low = 0, high = b->items.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (item_compare(&b->items.items[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return b->items.items + low;
}

/*
 * The published percentage as new/old - 1 where the direction tells how it was signed; `better`
 * always keeps it with + for better.
 */
static void cell_take_change(struct cmp_cell *cell, const struct db_summary *s, enum direction d)
{
	double p = s->change / 100;
	bool raw = str_equal(s->change_sign, "raw");

	if (d != DIR_HIGHER && d != DIR_LOWER)
		return;
	cell->source_better = raw && d == DIR_LOWER ? -p : p;
	/* a better-positive percentage of times is -(new/old - 1): ours comes from the values */
	if (!raw && d == DIR_LOWER && s->has_mean)
		return;
	cell->change = !raw && d == DIR_LOWER ? -p : p;
	cell->has_change = cell->published = true;
}

static void cell_take_summary(struct builder *b, struct cmp_cell *cell, struct cmp_row *row,
			      const struct db_summary *s)
{
	cell->n = s->n;
	cell->has_mean = s->has_mean;
	cell->mean = s->mean;
	cell->mean_text = s->mean_text && *s->mean_text ? s->mean_text : NULL;
	cell->source_mark = s->mark;
	if (s->mean_kind && *s->mean_kind)
		mean_kind_parse(s->mean_kind, &row->mean_kind);
	if (s->has_deviation && str_equal(s->deviation_kind, "stddev"))
		cell->stddev = s->deviation;
	else if (s->has_deviation &&
		 (str_equal(s->deviation_kind, "percent") || str_equal(s->deviation_kind, "cv")))
		cell->stddev = s->has_mean ? s->deviation / 100 * s->mean : NAN;
	if (s->has_mean && s->mean > 0)
		cell->cv = cell->stddev / s->mean;
	if (s->has_change && b->c->own_baseline && cell->variant > 0)
		cell_take_change(cell, s, row->direction);
}

static void cell_take_values(struct builder *b, struct cmp_cell *cell, const struct item *it,
			     size_t n)
{
	double *values = arena_alloc_array(b->a, n, sizeof(*values));
	int *blocks = arena_alloc_array(b->a, n, sizeof(*blocks));
	size_t i;

	for (i = 0; i < n; i++) {
		values[i] = it[i].value;
		blocks[i] = it[i].block;
	}
	cell->values = values;
	cell->blocks = blocks;
	cell->n = (int)n;
}

static void cell_take_counts(struct builder *b, struct cmp_cell *cell, int64_t test,
			     int64_t variant)
{
	const struct db_count *k;

	array_for_each (k, &b->counts) {
		if (k->case_id != test || k->variant_id != variant)
			continue;
		cell->failed += k->failed;
		cell->suspect += k->suspect;
		if (k->last_error)
			cell->error = k->last_error;
	}
}

static void build_cell(struct builder *b, struct cmp_cell *cell, struct cmp_row *row, int64_t test,
		       int64_t metric)
{
	int64_t variant = b->c->variants[cell->variant].db_id;
	const struct item *it = items_from(b, test, metric, variant);
	const struct item *end = items_from(b, test, metric, variant + 1);

	cell->stddev = cell->cv = cell->source_better = NAN;
	if (it < end && it->summary)
		cell_take_summary(b, cell, row, it->summary);
	else if (it < end)
		cell_take_values(b, cell, it, (size_t)(end - it));
	cell_take_counts(b, cell, test, variant);
}

static void build_cells(struct builder *b, struct cmp_row *row, int64_t test, int64_t metric)
{
	size_t i;

	row->cells = arena_alloc_array(b->a, b->c->n_variants, sizeof(*row->cells));
	row->contrasts = arena_alloc_array(b->a, b->c->n_contrasts, sizeof(*row->contrasts));
	for (i = 0; i < b->c->n_variants; i++) {
		row->cells[i].variant = (int)i;
		build_cell(b, &row->cells[i], row, test, metric);
	}
}

static bool row_is_empty(const struct builder *b, const struct cmp_row *row)
{
	size_t i;

	for (i = 0; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->n || cell->has_mean || cell->has_change || cell->failed)
			return false;
	}
	return true;
}

/* ---- history ---- */

static int unit_compare(const struct db_unit *u, int64_t test, int64_t metric)
{
	if (u->case_id != test)
		return u->case_id < test ? -1 : 1;
	return (u->metric_id > metric) - (u->metric_id < metric);
}

/* First old value at or after a case and metric. */
static size_t history_from(const struct builder *b, int64_t test, int64_t metric)
{
	size_t low = 0, high = b->n_history;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (unit_compare(&b->history[mid], test, metric) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The old values of a row, one group per campaign and variant. */
static void build_history(struct builder *b, struct cmp_row *row, int64_t test, int64_t metric)
{
	size_t start = history_from(b, test, metric), n = history_from(b, test, metric + 1) - start;
	struct stats_group *groups = arena_alloc_array(b->a, n, sizeof(*groups));
	double *values = arena_alloc_array(b->a, n, sizeof(*values));
	const struct db_unit *u = b->history + start;
	size_t n_groups = 0, i;

	for (i = 0; i < n; i++) {
		values[i] = u[i].value;
		if (!i || u[i].campaign != u[i - 1].campaign ||
		    u[i].variant_id != u[i - 1].variant_id)
			groups[n_groups++] = (struct stats_group){&values[i], 0};
		groups[n_groups - 1].n++;
	}
	row->history.log = stats_prior_of_history(groups, n_groups, true);
	row->history.raw = stats_prior_of_history(groups, n_groups, false);
}

/* ---- tests ---- */

static const char *params_value(struct arena *a, const json_t *params, const char *name)
{
	const json_t *v = json_object_get(params, name);

	if (json_is_string(v))
		return arena_strdup(a, json_string_value(v));
	if (json_is_integer(v))
		return arena_printf(a, "%lld", (long long)json_integer_value(v));
	return json_is_real(v) ? arena_printf(a, "%g", json_real_value(v)) : "";
}

static void build_params(struct builder *b, struct cmp_test *t, const struct db_case *k)
{
	json_t *params = json_loads(k->params, 0, NULL), *swept = json_loads(k->swept, 0, NULL);
	const json_t *name;
	size_t i;

	t->swept = arena_alloc_array(b->a, json_array_size(swept), sizeof(*t->swept));
	json_array_foreach(swept, i, name)
	{
		struct cmp_param *p;

		if (!json_is_string(name))
			continue;
		p = &t->swept[t->n_swept++];
		p->name = arena_strdup(b->a, json_string_value(name));
		p->value = params_value(b->a, params, p->name);
	}
	json_decref(params);
	json_decref(swept);
}

static const struct db_metric *metric_by_id(const struct builder *b, int64_t id)
{
	size_t i;

	for (i = 0; i < b->n_metrics; i++)
		if (b->metrics[i].id == id)
			return &b->metrics[i];
	return NULL;
}

/* Counters that a benchmark's headline cannot be read without. */
static bool row_is_shown(const struct db_metric *m)
{
	static const char *const beside[] = {"kernbench.user", "kernbench.sys"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(beside); i++)
		if (!strcmp(m->name, beside[i]))
			return true;
	return str_equal(m->role, "headline");
}

enum { PASS_HEADLINES, PASS_BESIDE, PASS_COUNTERS, N_PASSES };

static size_t row_pass(const struct db_metric *m)
{
	if (str_equal(m->role, "headline"))
		return PASS_HEADLINES;
	return row_is_shown(m) ? PASS_BESIDE : PASS_COUNTERS;
}

static void add_row(struct builder *b, struct cmp_test *t, const struct db_metric *m)
{
	struct cmp_row *row = &t->rows[t->n_rows];

	*row = (struct cmp_row){
		.metric = m->name,
		.unit = m->unit ? m->unit : "",
		.description = m->description ? m->description : "",
		.direction = m->direction,
		.mean_kind = m->mean_kind,
		.headline = str_equal(m->role, "headline"),
		.shown = row_is_shown(m),
		.db_id = m->id,
	};
	build_cells(b, row, t->db_id, m->id);
	if (row_is_empty(b, row))
		return;
	build_history(b, row, t->db_id, m->id);
	t->n_rows++;
}

/*
 * Metrics of a case, in the order they were stored. A case where every run failed has none: it
 * takes the headlines of its benchmark, so that the failure is a row and not a silence.
 */
static size_t case_metrics(const struct builder *b, const struct cmp_test *t,
			   const struct db_metric **list)
{
	const struct item *it = items_from(b, t->db_id, INT64_MIN, INT64_MIN);
	const struct item *end = items_from(b, t->db_id + 1, INT64_MIN, INT64_MIN);
	size_t n = 0, i, len = strlen(t->benchmark);

	for (; it < end; it = items_from(b, t->db_id, it->metric + 1, INT64_MIN))
		if ((list[n] = metric_by_id(b, it->metric)))
			n++;
	for (i = 0; !n && i < b->n_metrics; i++)
		if (!strncmp(b->metrics[i].name, t->benchmark, len) &&
		    b->metrics[i].name[len] == '.' && str_equal(b->metrics[i].role, "headline"))
			list[n++] = &b->metrics[i];
	return n;
}

static void build_rows(struct builder *b, struct cmp_test *t)
{
	const struct db_metric **list;
	struct db_metric nothing = {
		.name = t->benchmark, .direction = DIR_UNKNOWN, .role = "headline"};
	size_t n, i, pass;

	list = arena_alloc_array(b->a, b->n_metrics + 1, sizeof(struct db_metric *));
	n = case_metrics(b, t, list);
	t->rows = arena_alloc_array(b->a, n + 1, sizeof(*t->rows));
	for (pass = 0; pass < (b->opt->counters ? N_PASSES : PASS_COUNTERS); pass++)
		for (i = 0; i < n; i++)
			if (row_pass(list[i]) == pass)
				add_row(b, t, list[i]);
	/* a posted table of metrics that nobody described: what is there is what is meant */
	if (!t->n_rows) {
		for (i = 0; i < n; i++)
			add_row(b, t, list[i]);
		for (i = 0; i < t->n_rows; i++)
			t->rows[i].shown = true;
	}
	/* failed before any metric of this benchmark was ever stored */
	if (!n)
		add_row(b, t, arena_copy(b->a, &nothing, 1, sizeof(nothing)));
}

static void build_tests(struct builder *b)
{
	struct comparison *c = b->c;
	const struct db_case *k;

	if (b->items.n)
		qsort(b->items.items, b->items.n, sizeof(*b->items.items), item_compare);
	c->tests = arena_alloc_array(b->a, b->cases.n, sizeof(*c->tests));
	array_for_each (k, &b->cases) {
		struct cmp_test *t = &c->tests[c->n_tests];

		*t = (struct cmp_test){
			.benchmark = k->benchmark,
			.name = k->name,
			.description = k->description ? k->description : "",
			.command = k->command ? k->command : "",
			.db_id = k->id,
		};
		build_params(b, t, k);
		build_rows(b, t);
		if (t->n_rows)
			c->n_tests++;
	}
}

/* ---- facts ---- */

static const char *fact_value(const struct builder *b, const char *key)
{
	const struct db_fact *f;

	array_for_each (f, &b->facts)
		if (str_equal(f->key, key) && f->value && *f->value)
			return f->value;
	return NULL;
}

static int build_facts(struct builder *b)
{
	struct comparison *c = b->c;
	const struct db_campaign *camp = &b->campaigns[0];
	const char *machine = fact_value(b, "machine"), *date = fact_value(b, "date");
	const char *posting = fact_value(b, "posting");
	struct db_machine m = {NULL, NULL, NULL};
	int r = 0;

	if (camp->machine_id)
		r = db_get_machine(b->db, b->a, camp->machine_id, &m, b->e);
	if (r)
		return r;
	c->stored = fact_value(b, "verdicts");
	c->kind = camp->kind;
	c->backend = camp->backend ? camp->backend : "";
	c->accelerator = camp->accelerator ? camp->accelerator : "";
	c->unit = camp->unit;
	c->repeat = camp->repeat;
	c->created = num_iso_time(b->a, camp->created);
	c->machine = machine ? machine : "";
	if (m.description && *m.description)
		c->machine = m.description;
	else if (m.name && *m.name && !machine)
		c->machine = m.name;
	c->source = camp->source ? camp->source : "";
	if (date)
		c->source = arena_printf(b->a, "%s, mail of %s", c->source, date);
	if (posting)
		c->source = arena_printf(b->a, "%s, %s", c->source, posting);
	return 0;
}

static void note_missing(struct builder *b)
{
	const struct comparison *c = b->c;
	bool commit = true, command = false, values = false;
	size_t i;

	for (i = 0; i < c->n_variants; i++)
		commit &= *c->variants[i].commit || *c->variants[i].build_id ||
			  *c->variants[i].release;
	for (i = 0; i < c->n_tests; i++) {
		command |= *c->tests[i].command != '\0';
		values |= c->tests[i].rows[0].cells[0].values != NULL;
	}
	if (!c->has_n)
		*ARRAY_PUSH(&b->missing) = "runs";
	if (!c->has_spread)
		*ARRAY_PUSH(&b->missing) = "spread";
	if (!commit)
		*ARRAY_PUSH(&b->missing) = "commit";
	if (!*c->machine)
		*ARRAY_PUSH(&b->missing) = "machine";
	if (!command)
		*ARRAY_PUSH(&b->missing) = "command";
	if (values && str_equal(c->kind, "import"))
		*ARRAY_PUSH(&b->missing) = "order of the runs (a drift would not show)";
	b->c->missing = arena_copy(b->a, b->missing.items, b->missing.n, sizeof(char *));
	b->c->n_missing = b->missing.n;
}

static void warn_cell(struct builder *b, const struct cmp_test *t, const struct cmp_cell *cell)
{
	const char *id = b->c->variants[cell->variant].id;

	if (cell->suspect)
		*ARRAY_PUSH(&b->warnings) =
			arena_printf(b->a, "%s: %d suspect %s of %s left out", t->name,
				     cell->suspect, cell->suspect == 1 ? "run" : "runs", id);
	if (cell->failed)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%s: %d %s of %s failed%s%s, %d good", t->name, cell->failed,
			cell->failed == 1 ? "run" : "runs", id, cell->error ? ": " : "",
			cell->error ? cell->error : "", cell->n);
}

static void warn_means(struct builder *b, const struct cmp_row *row)
{
	size_t i;
	int k;

	for (i = 0; row->mean_kind != MEAN_AMEAN && i < b->c->n_variants; i++) {
		for (k = 0; row->cells[i].values && k < row->cells[i].n; k++) {
			if (row->cells[i].values[k] > 0)
				continue;
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a, "%s of %s has a value of %g: its mean is arithmetic",
				row->metric, b->c->variants[i].id, row->cells[i].values[k]);
			break;
		}
	}
}

/* An outlier that moved the mean out of its range. */
static void warn_outside(struct builder *b, const struct cmp_test *t, const struct cmp_row *row)
{
	size_t i;

	for (i = 1; i < b->c->n_variants; i++) {
		const struct cmp_cell *cell = &row->cells[i];

		if (cell->outside)
			*ARRAY_PUSH(&b->warnings) = arena_printf(
				b->a,
				"%s %s of %s: outliers moved the mean to %+.2f%%; by the ranks "
				"the shift is %+.2f%%",
				t->name, comparison_metric_name(row), b->c->variants[i].id,
				100 * cell->change, 100 * cell->test.shift);
	}
}

static void note_warnings(struct builder *b)
{
	struct comparison *c = b->c;
	size_t t, r, i;

	for (t = 0; t < c->n_tests; t++) {
		for (i = 0; i < c->n_variants; i++)
			warn_cell(b, &c->tests[t], &c->tests[t].rows[0].cells[i]);
		for (r = 0; r < c->tests[t].n_rows; r++) {
			warn_means(b, &c->tests[t].rows[r]);
			warn_outside(b, &c->tests[t], &c->tests[t].rows[r]);
		}
	}
	if (c->n_campaigns > 1)
		*ARRAY_PUSH(&b->warnings) = "joined campaigns: their runs were not interleaved, "
					    "so a drift between them looks like a change";
	if (b->repeated)
		*ARRAY_PUSH(&b->warnings) = arena_printf(
			b->a, "%d repeated cells of the source are not shown", b->repeated);
	c->warnings = arena_copy(b->a, b->warnings.items, b->warnings.n, sizeof(char *));
	c->n_warnings = b->warnings.n;
}

static int build_all(struct builder *b, const char *const *campaigns, size_t n_campaigns)
{
	struct comparison *c = b->c;
	int r = read_campaigns(b, campaigns, n_campaigns);

	if (!r)
		r = build_variants(b);
	if (!r)
		r = build_contrasts(b);
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
	comparison_judge(c);
	r = build_facts(b);
	if (r)
		return r;
	note_missing(b);
	note_warnings(b);
	return 0;
}

int comparison_build(struct db *db, struct arena *a, const char *const *campaigns,
		     size_t n_campaigns, const struct comparison_options *opt,
		     struct comparison **out, struct err *e)
{
	struct builder b = {.db = db, .a = a, .opt = opt, .e = e};
	int r;

	b.c = arena_alloc(a, sizeof(*b.c));
	b.c->arena = a;
	b.c->threshold = opt->threshold;
	b.c->q = opt->q > 0 ? opt->q : 0.05;
	b.c->level = opt->level > 0 ? opt->level : 0.95;
	r = build_all(&b, campaigns, n_campaigns);
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
