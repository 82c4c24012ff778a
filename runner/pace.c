// SPDX-License-Identifier: GPL-2.0-or-later
/* How far a campaign has come: estimates so far, the time left, where the time went. */
#include <math.h>
#include <string.h>

#include "core/num.h"
#include "runner/session.h"

/* Mean over the units of a variant so far; *n 0: none. */
static double mean_so_far(struct arena *a, const struct db_unit *units, size_t n_units,
			  const struct db_metric *m, int64_t case_id, int64_t variant, int *n)
{
	double *values = arena_alloc_array(a, n_units + 1, sizeof(*values));
	size_t i, k = 0;

	for (i = 0; i < n_units; i++)
		if (units[i].case_id == case_id && units[i].metric_id == m->id &&
		    units[i].variant_id == variant)
			values[k++] = units[i].value;
	*n = (int)k;
	return stats_mean(m->mean_kind, values, k);
}

/* The first headline metric of the benchmark that has values. */
static void estimate(struct session *s, struct arena *a, const struct db_cell *cell,
		     struct run_progress *p)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	const char *bench = s->c->cases[session_case_index(s, cell)].bench->name;
	struct db_metric *metrics;
	struct db_unit *units;
	size_t n_metrics, n_units, i;

	if (db_get_metrics(s->db, a, &metrics, &n_metrics, &ignored) ||
	    db_get_units(s->db, a, s->row.id, &units, &n_units, &ignored))
		return;
	for (i = 0; i < n_metrics && !p->metric; i++) {
		const struct db_metric *m = &metrics[i];
		int base_n;
		double base;

		if (strcmp(m->role, "headline") || !str_starts(m->name, bench) ||
		    m->name[strlen(bench)] != '.')
			continue;
		p->mean = mean_so_far(a, units, n_units, m, cell->case_id, cell->variant_id, &p->n);
		base = mean_so_far(a, units, n_units, m, cell->case_id, s->variants[0].id, &base_n);
		if (!p->n)
			continue;
		p->metric = m->name + strlen(bench) + 1;
		p->unit = m->unit;
		if (base_n && cell->variant_id != s->variants[0].id)
			p->change = p->mean / base - 1;
	}
}

/* Expected of each run, corrected by the pace so far, and the visits still to come. */
double session_estimate(const struct session *s, int block)
{
	double left = 0, pace = s->expected_done > 0 ? s->measured / s->expected_done : 1;
	double visit = s->visits ? s->entering / s->visits : s->slow ? SLOW_VISIT_SECONDS : 0;
	int visits = 0, last_block = 0;
	int64_t last_variant = 0;
	size_t i;

	for (i = 0; i < s->n_cells; i++) {
		const struct db_cell *cell = &s->cells[i];
		size_t test = session_case_index(s, cell);

		if (strcmp(cell->state, "planned") || s->cases[test].cut ||
		    (block && cell->block != block))
			continue;
		left += s->c->cases[test].expected;
		if (s->c->flip)
			visits = 1;
		else if (cell->block != last_block || cell->variant_id != last_variant)
			visits++;
		last_block = cell->block;
		last_variant = cell->variant_id;
	}
	return left * pace + visits * visit;
}

void session_tell(struct session *s, const struct db_cell *cell, const char *failed, bool retried)
{
	struct run_progress p = {
		.runs = (int)s->n_cells,
		.run = 1,
		.test = s->c->cases[session_case_index(s, cell)].name,
		.variant = s->c->variants[session_variant_index(s, cell)].name,
		.failed = failed,
		.retried = retried,
		.change = NAN,
		.eta = session_estimate(s, 0),
	};
	_cleanup_arena_ struct arena *scratch = arena_new();
	size_t i;

	if (!s->opt->progress)
		return;
	for (i = 0; i < s->n_cells; i++)
		p.run += strcmp(s->cells[i].state, "planned") != 0;
	p.run -= failed && !retried; /* it counts as run already */
	if (!failed)
		estimate(s, scratch, cell, &p);
	s->opt->progress(s->opt->data, &p);
}

static int set_seconds(struct session *s, const char *what, double seconds)
{
	return db_set_fact(s->db, "campaign", s->row.id, arena_printf(s->a, "time_split.%s", what),
			   arena_printf(s->a, "%.3f", seconds), s->e);
}

static void update_rest(struct session *s)
{
	double here = s->entering + s->measured;

	s->report->rest_seconds = s->earlier_rest + num_monotonic() - s->began - here;
}

double session_seconds(struct session *s)
{
	update_rest(s);
	return s->report->boot_seconds + s->report->run_seconds + s->report->rest_seconds;
}

int session_set_times(struct session *s)
{
	int ret;

	update_rest(s);
	ret = set_seconds(s, "boot", s->report->boot_seconds);
	if (!ret)
		ret = set_seconds(s, "run", s->report->run_seconds);
	return ret ? ret : set_seconds(s, "rest", s->report->rest_seconds);
}

/* Seconds that earlier parts of the campaign took. */
int session_read_times(struct session *s)
{
	struct db_fact *facts;
	size_t n, i;
	int ret = db_get_facts(s->db, s->a, "campaign", s->row.id, &facts, &n, s->e);

	for (i = 0; !ret && i < n; i++) {
		struct span value = span_of(facts[i].value);

		if (!strcmp(facts[i].key, "time_split.boot"))
			num_parse(value, &s->report->boot_seconds);
		else if (!strcmp(facts[i].key, "time_split.run"))
			num_parse(value, &s->report->run_seconds);
		else if (!strcmp(facts[i].key, "time_split.rest"))
			num_parse(value, &s->earlier_rest);
	}
	return ret;
}
