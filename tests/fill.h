/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Databases of nights as `kdelta nightly` leaves them, without measuring anything. */
#ifndef TESTS_FILL_H
#define TESTS_FILL_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"

enum fill_arm { FILL_BASE, FILL_KERNEL, FILL_ARM, FILL_EXTRA };
enum { FILL_RUNS = 5, FILL_DAY = 86400, FILL_BEGIN = 1480000000 };

struct fill {
	struct db *db;
	struct arena *a;
	const char *name;	       /* of the nightly: "linux" */
	size_t n_cases, n_metrics;     /* metrics of each case, the first n_headlines are headlines */
	size_t n_headlines;
	const char *raw;	       /* output of every run; NULL: none */
	/* A value of a run of an arm; commit: the night whose kernel it ran. */
	double (*value)(void *data, size_t night, size_t commit, enum fill_arm arm, size_t metric);
	const char *(*environment)(void *data, size_t night); /* NULL: none */
	void *data;
	/* of fill_open */
	int64_t machine, *cases, *metrics;
	struct err e;
};

static inline void fill_check(struct fill *f, int r)
{
	if (!r)
		return;
	fprintf(stderr, "filling the database: %s\n", err_text(&f->e));
	exit(1);
}

static inline void fill_open(struct fill *f)
{
	const struct db_machine machine = {f->name, f->name, "2 CPUs"};

	f->cases = arena_alloc_array(f->a, f->n_cases, sizeof(*f->cases));
	f->metrics = arena_alloc_array(f->a, f->n_metrics, sizeof(*f->metrics));
	fill_check(f, db_put_machine(f->db, &machine, &f->machine, &f->e));
	for (size_t i = 0; i < f->n_cases; i++) {
		char *name = arena_printf(f->a, "bench/groups=%zu", i + 1);
		const struct db_case c = {.identity = name, .benchmark = "bench", .name = name,
					  .params = "{}", .swept = "[]"};

		fill_check(f, db_put_case(f->db, &c, &f->cases[i], &f->e));
	}
	for (size_t i = 0; i < f->n_metrics; i++) {
		const struct db_metric m = {
			.name = arena_printf(f->a, "bench.m%03zu", i), .unit = "s",
			.direction = DIR_LOWER, .mean_kind = MEAN_AMEAN,
			.role = i < f->n_headlines ? "headline" : "counter"};

		fill_check(f, db_put_metric(f->db, &m, &f->metrics[i], &f->e));
	}
}

static inline int64_t fill_variant(struct fill *f, size_t commit, bool again, const char *name,
				   const char *campaign, int position)
{
	char *hash = arena_printf(f->a, "%040zx", commit + 1);
	char *identity = arena_printf(f->a, "%s%s-%s", again ? "again-" : "", f->name, hash);
	const struct db_kernel k = {.identity = identity, .release = "6.1.0", .commit = hash};
	int64_t kernel, variant;

	fill_check(f, db_put_kernel(f->db, &k, &kernel, &f->e));
	fill_check(f, db_put_variant(f->db, identity, kernel,
				     again ? arena_printf(f->a, "{\"same_as\":\"%s-%s\"}", f->name, hash)
					   : "{}", &variant, &f->e));
	fill_check(f, db_add_campaign_variant(f->db, campaign, variant, position, name, "",
					      position == 0, &f->e));
	return variant;
}

/* The runs of one variant: one boot, `runs` blocks of all cases. */
static inline void fill_arm(struct fill *f, const struct db_campaign *c, int64_t variant,
			    enum fill_arm arm, size_t night, size_t commit, int runs, int *seq)
{
	struct db_boot boot = {.campaign = c->id, .variant_id = variant, .machine_id = f->machine,
			       .started = c->created, .outcome = "ok"};
	size_t first = (size_t)*seq, n_cells;
	struct db_cell *cells;
	int64_t id, raw;

	fill_check(f, db_add_boot(f->db, &boot, &boot.id, &f->e));
	if (f->environment)
		fill_check(f, db_set_fact(f->db, "boot", arena_printf(f->a, "%lld", (long long)boot.id),
					  "env.microcode", f->environment(f->data, night), &f->e));
	for (int i = 0; i < runs * (int)f->n_cases; i++) {
		const struct db_cell planned = {.seq = ++*seq, .block = i / (int)f->n_cases + 1,
						.variant_id = variant, .state = "done", .attempts = 1,
						.case_id = f->cases[(size_t)i % f->n_cases]};

		fill_check(f, db_add_cell(f->db, c->id, &planned, &f->e));
	}
	fill_check(f, db_get_cells(f->db, f->a, c->id, &cells, &n_cells, &f->e));
	for (size_t i = first; i < n_cells; i++) {
		struct db_run run = {.campaign = c->id, .variant_id = variant,
				     .case_id = cells[i].case_id, .cell_id = cells[i].id,
				     .boot_id = boot.id, .machine_id = f->machine,
				     .block = cells[i].block, .attempt = 1, .started = c->created,
				     .outcome = "ok", .elapsed = 10, .user_time = NAN,
				     .sys_time = NAN, .max_rss = -1, .voluntary = -1,
				     .involuntary = -1};

		fill_check(f, db_add_run(f->db, &run, &id, &f->e));
		if (f->raw)
			fill_check(f, db_add_raw(f->db, id, "stdout", NULL, span_of(f->raw), &raw,
						 &f->e));
		for (size_t m = 0; m < f->n_metrics; m++)
			fill_check(f, db_add_sample(f->db, id, f->metrics[m],
						    f->value(f->data, night, commit, arm, m), &f->e));
	}
}

static inline struct db_campaign fill_campaign(struct fill *f, const char *what, size_t night)
{
	struct db_campaign c = {
		.name = arena_printf(f->a, "%s-%s-%.12s", f->name, what,
				     arena_printf(f->a, "%040zx", night + 1) + 28),
		.kind = "run", .unit = "run", .backend = "host", .machine_id = f->machine,
		.created = FILL_BEGIN + FILL_DAY * (int64_t)night + (*what == 'a' ? 3600 : 0),
		.repeat = FILL_RUNS};

	fill_check(f, db_add_campaign(f->db, f->a, &c, &f->e));
	for (size_t i = 0; i < f->n_cases; i++)
		fill_check(f, db_add_campaign_case(f->db, c.id, f->cases[i], (int)i, 10, &f->e));
	return c;
}

static inline void fill_end(struct fill *f, struct db_campaign *c)
{
	c->ended = c->created + 3600;
	fill_check(f, db_set_campaign(f->db, c, &f->e));
	fill_check(f, db_set_fact(f->db, "campaign", c->id, "nightly.told", "1", &f->e));
}

/*
 * A night of the kernel of that night beside the kernel of night `base` (its own: the first night,
 * which has a second arm only); in one transaction.
 */
static inline void fill_night(struct fill *f, size_t night, size_t base)
{
	struct db_campaign c;
	bool first = base == night;
	int64_t v[3] = {0};
	int seq = 0;

	fill_check(f, db_begin(f->db, &f->e));
	c = fill_campaign(f, "night", night);
	if (!first)
		v[0] = fill_variant(f, base, false, "base", c.id, 0);
	v[1] = fill_variant(f, night, false, "night", c.id, !first);
	v[2] = fill_variant(f, base, true, "arm", c.id, 1 + !first);
	if (!first)
		fill_arm(f, &c, v[0], FILL_BASE, night, base, FILL_RUNS, &seq);
	fill_arm(f, &c, v[1], FILL_KERNEL, night, night, FILL_RUNS, &seq);
	fill_arm(f, &c, v[2], FILL_ARM, night, base, FILL_RUNS, &seq);
	fill_end(f, &c);
	fill_check(f, db_commit(f->db, &f->e));
}

/* The extra run of a night. */
static inline void fill_again(struct fill *f, size_t night, int runs)
{
	struct db_campaign c;
	int seq = 0;

	fill_check(f, db_begin(f->db, &f->e));
	c = fill_campaign(f, "again", night);
	fill_arm(f, &c, fill_variant(f, night, false, "night", c.id, 0), FILL_EXTRA, night, night,
		 runs, &seq);
	fill_end(f, &c);
	fill_check(f, db_commit(f->db, &f->e));
}

#endif
