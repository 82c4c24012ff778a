// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/num.h"

#define COSTS_FACT "bisect.costs"
enum {
	MOST_FAILED = 2,  /* runs that failed, after which a candidate is given up */
	MOST_SUSPECT = 3, /* runs without a value, the same */
};

/* Candidates by variant: those of the campaign, whose positions are indexes. */
struct places {
	struct db_variant *list;
	size_t n;
};

static long place_of(const struct places *p, int64_t variant)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->list[i].id == variant)
			return p->list[i].position;
	return -1;
}

static int read_runs(struct bisect *b, const struct places *p, struct evidence *ev)
{
	struct db_evidence *list;
	size_t n, i;
	int r = db_get_evidence(b->db, b->a, b->row.campaign, b->opt.metric, &list, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		size_t candidate = (size_t)place_of(p, list[i].variant_id);

		if (!(list[i].value > 0)) {
			err_add(b->e, r = -EDOM, "%s is %g in run %lld: what has no ratios cannot "
				"be bisected", b->opt.metric, list[i].value,
				(long long)list[i].run);
			break;
		}
		ev->n[candidate]++;
		*ARRAY_PUSH(&ev->runs) = (struct evidence_run){
			.candidate = candidate,
			.id = list[i].run,
			.boot = list[i].boot_id,
			.started = list[i].started,
			.own = list[i].own,
			.value = list[i].value,
			.log = log(list[i].value),
		};
	}
	return r;
}

static int read_cells(struct bisect *b, const struct places *p, struct evidence *ev)
{
	struct db_cell *cells;
	size_t n, i;
	int *odd = arena_alloc_array(b->a, b->range.n, sizeof(*odd));
	const struct evidence_run *run;
	int r = db_get_cells(b->db, b->a, b->row.campaign, &cells, &n, b->e);

	for (i = 0; !r && i < n; i++) {
		size_t candidate = (size_t)place_of(p, cells[i].variant_id);

		ev->planned += strcmp(cells[i].state, "skipped") != 0;
		odd[candidate] += !strcmp(cells[i].state, "done");
		if (strcmp(cells[i].state, "failed"))
			continue;
		ev->failed[candidate]++;
		/* no build is better the second time */
		if (str_starts(cells[i].reason, "no_") || ev->failed[candidate] >= MOST_FAILED)
			ev->skipped[candidate] = cells[i].reason;
	}
	array_for_each (run, &ev->runs)
		odd[run->candidate] -= run->own;
	for (i = 0; i < b->range.n; i++)
		if (odd[i] >= MOST_SUSPECT)
			ev->skipped[i] = "its runs give no clean value (kdelta show)";
	return r;
}

static void read_decisions(struct bisect *b, struct evidence *ev)
{
	struct span rest = span_of(b->row.decisions), line;
	long i;

	while (span_next_line(&rest, &line, NULL)) {
		if (!span_starts(line, "skip "))
			continue;
		i = range_find(&b->range, arena_strndup(b->a, line.s + 5, line.len - 5));
		if (i > 0)
			ev->skipped[i] = "skipped by hand";
	}
}

/* "2 builds 61.5 s, 14 runs 98.2 s" */
struct costs {
	int builds, runs;
	double build_seconds, run_seconds;
};

static int read_costs(struct bisect *b, struct costs *costs)
{
	struct db_fact *facts;
	size_t n, i;
	int r = db_get_facts(b->db, b->a, "campaign", b->row.campaign, &facts, &n, b->e);

	*costs = (struct costs){0};
	for (i = 0; !r && i < n; i++)
		if (!strcmp(facts[i].key, COSTS_FACT) &&
		    sscanf(facts[i].value, "%d builds %lf s, %d runs %lf s", &costs->builds,
			   &costs->build_seconds, &costs->runs, &costs->run_seconds) != 4)
			*costs = (struct costs){0};
	return r;
}

int evidence_add_costs(struct bisect *b, double build_seconds, double run_seconds)
{
	struct costs c;
	int r = read_costs(b, &c);

	if (r)
		return r;
	if (build_seconds > 0)
		c.builds++;
	c.build_seconds += build_seconds;
	c.runs++;
	c.run_seconds += run_seconds;
	return db_set_fact(b->db, "campaign", b->row.campaign, COSTS_FACT,
			   arena_printf(b->a, "%d builds %.3f s, %d runs %.3f s", c.builds,
					c.build_seconds, c.runs, c.run_seconds),
			   b->e);
}

int evidence_read(struct bisect *b, struct evidence *ev)
{
	struct places p = {NULL, 0};
	struct costs costs;
	size_t i;
	int r;

	*ev = (struct evidence){
		.n = arena_alloc_array(b->a, b->range.n, sizeof(*ev->n)),
		.failed = arena_alloc_array(b->a, b->range.n, sizeof(*ev->failed)),
		.entered = arena_alloc_array(b->a, b->range.n, sizeof(*ev->entered)),
		.skipped = arena_alloc_array(b->a, b->range.n, sizeof(*ev->skipped)),
		.build_seconds = NAN,
		.run_seconds = NAN,
	};
	read_decisions(b, ev);
	if (!b->row.campaign)
		return 0;
	r = db_get_variants(b->db, b->a, b->row.campaign, &p.list, &p.n, b->e);
	for (i = 0; !r && i < p.n; i++)
		ev->entered[p.list[i].position] = true;
	if (!r)
		r = read_runs(b, &p, ev);
	if (!r)
		r = read_cells(b, &p, ev);
	if (!r)
		r = read_costs(b, &costs);
	if (r)
		return r;
	if (costs.builds)
		ev->build_seconds = costs.build_seconds / costs.builds;
	if (costs.runs)
		ev->run_seconds = costs.run_seconds / costs.runs;
	return 0;
}

void evidence_release(struct evidence *ev)
{
	ARRAY_FREE(&ev->runs);
}

size_t evidence_values(const struct evidence *ev, size_t candidate, double *values, size_t most)
{
	const struct evidence_run *run;
	size_t n = 0;

	array_for_each (run, &ev->runs)
		if (run->candidate == candidate && n < most)
			values[n++] = run->value;
	return n;
}

enum ends_state evidence_ends(const struct bisect *b, const struct evidence *ev, size_t *next,
			      struct test_result *test)
{
	size_t most = (size_t)b->opt.end_runs, last = b->range.n - 1, i;
	const size_t looks[] = {most / 4, most / 2, most};
	double *good = arena_alloc_array(b->a, 2 * most, sizeof(*good)), *bad = good + most;
	size_t n = evidence_values(ev, 0, good, most), m = evidence_values(ev, last, bad, most);

	*test = stats_untested(STATS_LOOKS_LEVEL);
	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		if (n < looks[i] || m < looks[i]) {
			/* g b b g g b b g: neither end is always the later one */
			*next = n > m + 1 || (m <= n + 1 && (n + m + 1) / 2 % 2) ? last : 0;
			return ENDS_OPEN;
		}
		*test = stats_test(MEAN_AMEAN, good, looks[i], bad, looks[i], NULL,
				   STATS_LOOKS_LEVEL, NULL);
		if (test->p <= STATS_LOOKS_Q && fabs(test->change) >= b->opt.threshold)
			return ENDS_DIFFER;
		if (fmax(fabs(test->low), fabs(test->high)) < b->opt.threshold)
			return ENDS_SAME;
	}
	return ENDS_SAME;
}
