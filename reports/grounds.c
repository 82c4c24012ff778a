// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A campaign read back from a report: what its verdicts rested on besides the values (spreads of
 * older campaigns, noise floors, levels) is the fact "grounds" of the import, as JSON:
 *
 *	{"q":0.05,"level":0.95,"rows":{"CASE":{"METRIC":{"prior_log":{"value":1e-5,"df":12}}}}}
 */
#include <jansson.h>
#include <math.h>

#include "reports/build.h"

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

void grounds_read(struct builder *b)
{
	const struct db_fact *f;

	array_for_each (f, &b->facts)
		if (!b->grounds && str_equal(f->key, "grounds") && f->value)
			b->grounds = json_loads(f->value, 0, NULL);
}

void grounds_release(struct builder *b)
{
	json_decref(b->grounds);
}

void grounds_take_level(const struct builder *b)
{
	double q = number_of(b->grounds, "q"), level = number_of(b->grounds, "level");

	if (q > 0 && q < 1 && !(b->opt->q > 0))
		b->c->q = q;
	if (level > 0 && level < 1 && !(b->opt->level > 0))
		b->c->level = level;
}

static void take_variance(const json_t *row, const char *key, struct stats_variance *v)
{
	const json_t *o = json_object_get(row, key);
	double value = number_of(o, "value"), df = number_of(o, "df");

	if (value >= 0 && df > 0 && !(v->df > 0))
		*v = (struct stats_variance){value, df};
}

void grounds_take(const struct builder *b, const struct cmp_test *t, struct cmp_row *row)
{
	const json_t *rows = json_object_get(b->grounds, "rows");
	const json_t *o = json_object_get(json_object_get(rows, t->name), row->metric);
	double floor = number_of(o, "floor"), seed_floor = number_of(o, "seed_floor");

	take_variance(o, "prior_log", &row->history.log);
	take_variance(o, "prior_raw", &row->history.raw);
	if (floor >= 0 && isnan(row->floor))
		row->floor = floor;
	if (seed_floor >= 0)
		row->seed_floor = seed_floor;
}
