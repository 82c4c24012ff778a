// SPDX-License-Identifier: GPL-2.0-or-later
/* Database -> nights -> what they say. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "hunt/nightly_read.h"
#include "hunt/named.h"

#define ENV_FACTS "env."

enum arm { ARM_KERNEL, ARM_BASE, ARM_EXTRA, N_ARMS };

struct values {
	double *items;
	size_t n;
};

struct reading {
	struct nightly *n;
	struct db_metric *metrics;
	size_t n_metrics;
	struct db_case *cases; /* of the campaign being read */
	size_t n_cases;
	ARRAY_OF(struct nightly_row) rows;
	ARRAY_OF(struct values *) values; /* of each row: N_ARMS of each night */
};

char *nightly_prefix(const struct nightly *n, const char *what)
{
	return arena_printf(n->a, "%s-%s-", n->config->name, what);
}

/* ---- campaigns ---- */

static int read_commits(struct nightly *n, struct nightly_night *night)
{
	struct db_variant *list;
	size_t count, i;
	int r = db_get_variants(n->db, n->a, night->campaign->id, &list, &count, n->e);

	night->commit = night->base = "";
	for (i = 0; !r && i < count; i++) {
		const char *commit = list[i].kernel.commit ? list[i].kernel.commit : "";

		if (!strcmp(list[i].name, "night")) {
			night->commit = commit;
			night->variant = list[i].id;
		} else if (!strcmp(list[i].name, "base")) {
			night->base = commit;
		}
	}
	return r;
}

static int read_told(struct nightly *n, struct nightly_night *night)
{
	struct db_fact *list;
	size_t count, i;
	int r = db_get_facts(n->db, n->a, "campaign", night->campaign->id, &list, &count, n->e);

	for (i = 0; !r && i < count; i++) {
		night->told |= !strcmp(list[i].key, "nightly.told");
		night->bisected |= !strcmp(list[i].key, "nightly.bisected");
	}
	return r;
}

/* The night of an extra run, which is nearly always the newest one; NULL: it is gone. */
static struct nightly_night *find_night(struct nightly_night *nights, size_t n, const char *prefix,
					const char *hash)
{
	while (n-- > 0)
		if (!strcmp(nights[n].campaign->name + strlen(prefix), hash))
			return &nights[n];
	return NULL;
}

/* The night that measured a commit, usually one of the newest; -1: none did. */
static long night_of(const struct nightly_night *nights, size_t n, const char *commit)
{
	while (*commit && n-- > 0)
		if (!strcmp(nights[n].commit, commit))
			return (long)n;
	return -1;
}

static int read_nights(struct nightly *n)
{
	ARRAY_OF(struct nightly_night) nights = {NULL, 0, 0};
	const char *prefix = nightly_prefix(n, "night"), *again = nightly_prefix(n, "again");
	struct nightly_night *night;
	struct db_campaign *list;
	size_t count, i;
	int r = db_get_campaigns(n->db, n->a, &list, &count, n->e);

	for (i = r ? 0 : count; !r && i-- > 0;) {
		if (!list[i].ended)
			continue;
		if (str_starts(list[i].name, again)) {
			night = find_night(nights.items, nights.n, prefix,
					   list[i].name + strlen(again));
			if (night)
				night->again = &list[i];
		}
		if (!str_starts(list[i].name, prefix))
			continue;
		night = ARRAY_PUSH(&nights);
		night->campaign = &list[i];
		r = read_commits(n, night);
		if (!r)
			r = read_told(n, night);
		night->base_night = night_of(nights.items, nights.n - 1, night->base);
	}
	n->nights = arena_copy(n->a, nights.items, nights.n, sizeof(*nights.items));
	n->n_nights = nights.n;
	ARRAY_FREE(&nights);
	return r;
}

/* ---- values ---- */

static const struct db_metric *metric_of(const struct reading *r, int64_t id)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (r->metrics[i].id == id)
			return &r->metrics[i];
	return NULL;
}

static const char *case_of(const struct reading *r, int64_t id)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].id == id)
			return r->cases[i].name;
	return "";
}

/* NULL: a metric that is gone. */
static struct values *values_of(struct reading *r, const struct db_unit *u)
{
	const struct db_metric *m = metric_of(r, u->metric_id);
	struct nightly_row *row;
	size_t i;

	if (!m)
		return NULL;
	for (i = 0; i < r->rows.n; i++)
		if (r->rows.items[i].case_id == u->case_id &&
		    r->rows.items[i].metric.id == u->metric_id)
			return r->values.items[i];
	row = ARRAY_PUSH(&r->rows);
	row->case_id = u->case_id;
	row->test_case = case_of(r, u->case_id);
	row->metric = *m;
	row->on_log = true;
	*ARRAY_PUSH(&r->values) =
		arena_alloc_array(r->n->a, N_ARMS * r->n->n_nights, sizeof(struct values));
	return r->values.items[i];
}

/* Grows at powers of two: a row has a handful in a night, a database of ten years millions. */
static void add_value(struct arena *a, struct values *v, double x)
{
	if (!(v->n & (v->n - 1))) {
		double *more = arena_alloc_array(a, v->n ? 2 * v->n : 1, sizeof(*more));

		if (v->n)
			memcpy(more, v->items, v->n * sizeof(*more));
		v->items = more;
	}
	v->items[v->n++] = x;
}

static enum arm arm_of(const struct db_variant *list, size_t count, int64_t id, bool again)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].id == id)
			return strcmp(list[i].name, "night") ? ARM_BASE
			       : again			     ? ARM_EXTRA
							     : ARM_KERNEL;
	return ARM_BASE;
}

/* Appends the units of a campaign to night i. */
static int take_units(struct reading *r, size_t i, const char *campaign, bool again)
{
	struct nightly *n = r->n;
	struct db_variant *variants;
	size_t n_variants, count, k;
	struct db_unit *units;
	int ret = db_get_variants(n->db, n->a, campaign, &variants, &n_variants, n->e);

	if (!ret)
		ret = db_get_cases(n->db, n->a, campaign, &r->cases, &r->n_cases, n->e);
	if (!ret)
		ret = db_get_headline_units(n->db, n->a, campaign, &units, &count, n->e);
	for (k = 0; !ret && k < count; k++) {
		enum arm arm = arm_of(variants, n_variants, units[k].variant_id, again);
		struct values *v = values_of(r, &units[k]);

		if (v)
			add_value(n->a, v + N_ARMS * i + arm, units[k].value);
	}
	return ret;
}

static const char *facts_of(struct nightly *n, const char *campaign)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct db_boot_fact *list;
	size_t count, i;

	if (db_get_boot_facts(n->db, n->a, campaign, ENV_FACTS, &list, &count, &ignored))
		return "";
	for (i = 0; i < count; i++)
		if (!i || strcmp(list[i].key, list[i - 1].key) ||
		    strcmp(list[i].value, list[i - 1].value))
			strbuf_addf(&sb, "%s=%s\n", list[i].key, list[i].value);
	return arena_strdup(n->a, strbuf_str(&sb));
}

static int read_values(struct reading *r)
{
	struct nightly *n = r->n;
	const char *before = NULL;
	size_t from = n->n_nights > NIGHTLY_MEMORY ? n->n_nights - NIGHTLY_MEMORY : 0;
	int ret = db_get_metrics(n->db, n->a, &r->metrics, &r->n_metrics, n->e);

	for (size_t i = from; !ret && i < n->n_nights; i++) {
		struct nightly_night *night = &n->nights[i];
		const char *facts = facts_of(n, night->campaign->id);

		night->environment = before && *before && *facts && strcmp(before, facts);
		before = facts;
		ret = take_units(r, i, night->campaign->id, false);
		if (!ret && night->again)
			ret = take_units(r, i, night->again->id, true);
	}
	return ret;
}

/* ---- judging ---- */

static struct night_arm to_arm(const struct nightly_row *row, struct values *v)
{
	for (size_t i = 0; row->on_log && i < v->n; i++)
		v->items[i] = log(v->items[i]);
	return night_arm_of(v->items, v->n);
}

static void judge_row(struct nightly *n, struct nightly_row *row, struct values *v)
{
	struct nights_options opt = {.direction = row->metric.direction,
				     .threshold = n->opt.threshold};
	size_t i, k;

	for (i = 0; i < N_ARMS * n->n_nights; i++)
		for (k = 0; k < v[i].n; k++)
			row->on_log &= v[i].items[k] > 0;
	row->nights = arena_alloc_array(n->a, n->n_nights, sizeof(*row->nights));
	row->states = arena_alloc_array(n->a, n->n_nights, sizeof(*row->states));
	for (i = 0; i < n->n_nights; i++, v += N_ARMS)
		row->nights[i] = (struct night){to_arm(row, &v[ARM_KERNEL]),
						to_arm(row, &v[ARM_BASE]),
						to_arm(row, &v[ARM_EXTRA]),
						n->nights[i].base_night,
						n->nights[i].environment};
	opt.on_log = row->on_log;
	for (i = 0; i + 1 < n->n_nights && !row->nights[i].kernel.n; i++)
		;
	if (!row->on_log)
		opt.threshold *= fabs(row->nights[i].kernel.middle);
	stats_nights(row->nights, n->n_nights, &opt, row->states);
}

static int read_ignores(struct nightly *n)
{
	struct db_ignore *list;
	size_t count, i, k;
	int r = db_get_ignores(n->db, n->a, &list, &count, n->e);

	for (i = 0; !r && i < n->n_rows; i++)
		for (k = 0; k < count; k++)
			if (list[k].until >= time(NULL) &&
			    !strcmp(list[k].metric, n->rows[i].metric.name) &&
			    (!*list[k].test_case ||
			     !strcmp(list[k].test_case, n->rows[i].test_case)))
				n->rows[i].ignored = list[k].reason;
	return r;
}

int nightly_judge(struct nightly *n)
{
	struct reading r = {.n = n};
	int ret = read_nights(n);

	if (!ret)
		ret = read_values(&r);
	for (size_t i = 0; !ret && i < r.rows.n; i++)
		judge_row(n, &r.rows.items[i], r.values.items[i]);
	n->rows = arena_copy(n->a, r.rows.items, r.rows.n, sizeof(*r.rows.items));
	n->n_rows = r.rows.n;
	ARRAY_FREE(&r.rows);
	ARRAY_FREE(&r.values);
	return ret ? ret : read_ignores(n);
}

double nightly_value(const struct nightly_row *row, double x)
{
	return row->on_log ? exp(x) : x;
}

double nightly_change(const struct nightly_row *row, const struct night_state *s)
{
	return row->on_log ? expm1(s->after - s->before) : s->after - s->before;
}

size_t nightly_before(const struct nightly_row *row, size_t since)
{
	for (size_t i = since; i-- > 0;)
		if (row->nights[i].kernel.n)
			return i;
	return since;
}

size_t nightly_opened(const struct nightly_row *row, size_t night)
{
	while (night && !(row->states[night].open && !row->states[night - 1].open))
		night--;
	return night;
}

const char *nightly_word(const struct nightly_row *row, size_t night)
{
	const struct night_state *s = &row->states[night];

	return s->event == NIGHT_FIXED	       ? "FIXED"
	       : s->event == NIGHT_ENVIRONMENT ? "ENVIRONMENT"
	       : s->worse		       ? "WORSE"
	       : s->better		       ? "better"
					       : "changed";
}
