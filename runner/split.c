// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `repeat: auto`: how many runs of each test case one boot is worth (STATISTICS.md section 7), from
 * the newest campaigns of this machine and backend that made several in a boot.
 */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "machine/host.h"
#include "runner/run.h"

enum { DEFAULT_BOOTS = 5 };

/* Sums over campaigns; squares are of log values. */
struct sums {
	struct arena *a;
	double boot_seconds, run_seconds;
	int boots, runs;
	double within, within_df, between, between_df;
	const char *newest; /* campaign */
	int campaigns;
};

/* One value of a run, with what makes its group. */
struct value {
	int64_t variant, test, boot;
	const char *metric;
	double log;
	bool done; /* its row is added */
};
typedef ARRAY_OF(struct value) values_t;

static int read_values(struct db *db, struct sums *s, const struct db_run *runs, size_t n,
		       values_t *values, struct err *e)
{
	struct db_value *samples;
	size_t n_samples, i, k;
	int ret;

	for (i = 0; i < n; i++) {
		if (strcmp(runs[i].outcome, "ok") || !runs[i].boot_id)
			continue;
		ret = db_get_samples(db, s->a, runs[i].id, &samples, &n_samples, e);
		if (ret)
			return ret;
		for (k = 0; k < n_samples; k++)
			if (!strcmp(samples[k].role, "headline") && samples[k].value > 0)
				*ARRAY_PUSH(values) = (struct value){
					runs[i].variant_id, runs[i].case_id, runs[i].boot_id,
					samples[k].metric, log(samples[k].value), false};
	}
	return 0;
}

static bool is_same_row(const struct value *x, const struct value *y)
{
	return x->variant == y->variant && x->test == y->test && !strcmp(x->metric, y->metric);
}

/* Adds the components of the row of values[at]; x and groups have room for all values. */
static void add_row(struct sums *s, const values_t *values, size_t at, double *x,
		    struct stats_group *groups)
{
	const struct value *first = &values->items[at];
	struct stats_components c;
	size_t i, n = 0, used = 0;
	int64_t boot = 0;

	/* the runs of a boot stand together */
	for (i = at; i < values->n; i++) {
		struct value *v = &values->items[i];

		if (v->done || !is_same_row(v, first))
			continue;
		v->done = true;
		if (!n || v->boot != boot)
			groups[n++] = (struct stats_group){&x[used], 0};
		boot = v->boot;
		x[used++] = v->log;
		groups[n - 1].n++;
	}
	c = stats_variance_components(groups, n);
	if (isnan(c.within))
		return;
	s->within += c.within * c.within_df;
	s->within_df += c.within_df;
	s->between += c.between * c.between_df;
	s->between_df += c.between_df;
}

static void add_rows(struct sums *s, const values_t *values)
{
	double *x = arena_alloc_array(s->a, values->n, sizeof(*x));
	struct stats_group *groups = arena_alloc_array(s->a, values->n, sizeof(*groups));
	size_t i;

	for (i = 0; i < values->n; i++)
		if (!values->items[i].done)
			add_row(s, values, i, x, groups);
}

static int add_costs(struct db *db, struct sums *s, const char *campaign, size_t runs,
		     struct err *e)
{
	struct db_fact *facts;
	struct db_boot *boots;
	double seconds;
	size_t n, i;
	int ret = db_get_facts(db, s->a, "campaign", campaign, &facts, &n, e);

	for (i = 0; !ret && i < n; i++) {
		if (!num_parse(span_of(facts[i].value), &seconds))
			continue;
		if (!strcmp(facts[i].key, "time_split.boot"))
			s->boot_seconds += seconds;
		else if (!strcmp(facts[i].key, "time_split.run"))
			s->run_seconds += seconds;
	}
	if (!ret)
		ret = db_get_boots(db, s->a, campaign, &boots, &n, e);
	if (ret)
		return ret;
	s->boots += (int)n;
	s->runs += (int)runs;
	return 0;
}

static int add_campaign(struct db *db, struct sums *s, const struct db_campaign *row, struct err *e)
{
	values_t values = {NULL, 0, 0};
	struct db_run *runs;
	double before = s->within_df;
	size_t n;
	int ret = db_get_runs(db, s->a, row->id, &runs, &n, e);

	if (!ret)
		ret = read_values(db, s, runs, n, &values, e);
	if (!ret)
		add_rows(s, &values);
	ARRAY_FREE(&values);
	if (ret || s->within_df <= before)
		return ret;
	s->newest = s->newest ? s->newest : row->id;
	s->campaigns++;
	return add_costs(db, s, row->id, n, e);
}

/* The newest DB_HISTORY campaigns that tell runs of a boot from boots. */
static int add_history(struct db *db, struct sums *s, const struct campaign_config *c,
		       const char *accelerator, struct err *e)
{
	struct db_machine now, then;
	struct db_campaign *list;
	size_t n, i;
	int ret = db_get_campaigns(db, s->a, &list, &n, e);

	machine_read(s->a, &now);
	for (i = 0; !ret && i < n && s->campaigns < DB_HISTORY; i++) {
		if (strcmp(list[i].kind, "run") || strcmp(list[i].unit, "boot") ||
		    strcmp(list[i].backend, c->backend) || !list[i].machine_id ||
		    (accelerator && strcmp(list[i].accelerator, accelerator)))
			continue;
		ret = db_get_machine(db, s->a, list[i].machine_id, &then, e);
		if (ret || strcmp(now.fingerprint, then.fingerprint))
			continue;
		/* one kind of guest only: an emulated boot costs something else */
		accelerator = list[i].accelerator;
		ret = add_campaign(db, s, &list[i], e);
	}
	return ret;
}

static const char *set_runs(struct sums *s, struct campaign_config *c)
{
	double boot = s->boot_seconds / s->boots, run = s->run_seconds / s->runs;
	double within = s->within / s->within_df, between = fmax(0, s->between / s->between_df);
	/* one run more of a boot is one more of every test case */
	int runs = stats_runs_per_boot(boot, run * (double)c->n_cases, within, between);

	if (!runs)
		return NULL;
	c->runs = runs;
	return arena_printf(
		s->a,
		"a boot costs %s, one run of each test case %s; deviation %.2g %% within a boot, "
		"%.2g %% between boots (%s%s)",
		num_duration(s->a, boot), num_duration(s->a, run * (double)c->n_cases),
		100 * sqrt(within), 100 * sqrt(between), s->newest,
		s->campaigns > 1 ? arena_printf(s->a, " and %d more", s->campaigns - 1) : "");
}

int run_split(struct db *db, struct arena *a, struct campaign_config *c, const char *accelerator,
	      const char **why, struct err *e)
{
	struct sums s = {.a = a};
	int ret = 0;

	*why = NULL;
	if (!c->auto_repeat)
		return 0;
	c->repeat = DEFAULT_BOOTS;
	if (!c->auto_runs) {
		*why = "runs_per_boot is stated";
		return 0;
	}
	c->runs = 1;
	if (!strcmp(c->backend, "host")) {
		*why = "without boots every run is a unit";
		return 0;
	}
	if (db)
		ret = add_history(db, &s, c, accelerator, e);
	if (!ret && s.campaigns)
		*why = set_runs(&s, c);
	if (!ret && !*why)
		*why = "no campaign of this machine and backend has several runs of a boot yet";
	return ret;
}
