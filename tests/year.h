/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated year through the database and the decision of nightlies: rows are inserted as runs
 * store them, nightly_judge reads them back. Every night has its extra run: the decision looks at it
 * only where it would have asked for one.
 */
#ifndef TESTS_YEAR_H
#define TESTS_YEAR_H

#include <string.h>

#include "core/num.h"
#include "hunt/nightly_read.h"
#include "tests/fill.h"
#include "tests/random.h"

enum { YEAR_IN_TIME = 3, YEAR_MOVING = 7, YEAR_STEPS = 60, YEAR_MOST = 1000 };
#define YEAR_SIGMA 0.01

/* Metrics: first those that do not change, then those with steps, then those with a trend. */
struct year {
	size_t nights, quiet, steps, trends;
	double step;	     /* of a kernel, in sigmas, alternately up and down every 60 nights */
	double slope;	     /* of a trend, in sigmas a night */
	double between;	     /* deviation of what a night has in common, in sigmas */
	size_t moves;	     /* night from which another microcode makes all slower by 3 sigma */
	double missed, outliers; /* shares of nights, of runs (5 sigma too slow) */
	/* of year_run */
	size_t measured[YEAR_MOST], n; /* the k-th night that was not missed */
	double common[YEAR_MOST];
};

struct year_found {
	int alerts;			       /* of metrics that did not change */
	int steps, in_time, delays[YEAR_MOST]; /* nights after the first, of those that were found */
	int drifts, drift_steps;	       /* trends that were told as such, as a step */
	int moved, moved_steps; /* metrics whose move was told as the machine's, as the kernel's */
};

static inline bool year_steps_at(const struct year *y, size_t metric, size_t night)
{
	return metric >= y->quiet && metric < y->quiet + y->steps && night > 30 &&
	       (night + 7 * metric) % YEAR_STEPS == 0;
}

static inline double year_level(const struct year *y, size_t metric, size_t commit)
{
	double level = 0;

	if (metric >= y->quiet + y->steps)
		return y->slope * (double)commit;
	for (size_t i = 0; i <= commit; i++)
		if (year_steps_at(y, metric, i))
			level = level > 0 ? 0 : y->step;
	return level;
}

static inline double year_value(void *data, size_t night, size_t commit, enum fill_arm arm,
				size_t metric)
{
	const struct year *y = data;
	double x = year_level(y, metric, commit) + (night >= y->moves ? 3 : 0) +
		   y->between * y->common[night] + normal();

	(void)arm;
	return 10 * exp(YEAR_SIGMA * (x + (uniform() < y->outliers ? 5 : 0)));
}

static inline const char *year_environment(void *data, size_t night)
{
	return night >= ((const struct year *)data)->moves ? "0x21" : "0x20";
}

static inline void year_fill(struct year *y, struct db *db)
{
	struct fill f = {.db = db, .a = arena_new(), .name = "year", .n_cases = 1,
			 .n_metrics = y->quiet + y->steps + y->trends,
			 .n_headlines = y->quiet + y->steps + y->trends,
			 .value = year_value, .environment = year_environment, .data = y};

	fill_open(&f);
	for (size_t night = y->n = 0; night < y->nights; night++) {
		y->common[night] = normal();
		if (night && uniform() < y->missed)
			continue;
		y->measured[y->n++] = night;
		fill_night(&f, night, y->measured[y->n > NIGHTS_LAG ? y->n - 1 - NIGHTS_LAG : 0]);
		fill_again(&f, night, NIGHTS_EXTRA * FILL_RUNS);
	}
	arena_free(f.a);
}

static inline bool year_is_step(enum night_event ev)
{
	return ev == NIGHT_CHANGED || ev == NIGHT_FIXED;
}

/* Whether the machine has just moved: so many nights, in which that may be told. */
static inline bool year_has_moved(const struct year *y, size_t night)
{
	return night >= y->moves && night < y->moves + YEAR_MOVING;
}

static inline void year_count_step(size_t delay, struct year_found *out)
{
	out->in_time += delay < YEAR_IN_TIME;
	out->delays[delay]++;
}

/* One metric's nights. */
static inline void year_count(const struct year *y, const struct nightly_row *row, size_t metric,
			      struct year_found *out)
{
	long waiting = -1; /* measured night of a step that was not found yet */
	bool moved = false;

	for (size_t k = 0, night = 0; k < y->n; k++) {
		enum night_event ev = row->states[k].event;

		for (; night <= y->measured[k]; night++)
			if (year_steps_at(y, metric, night)) {
				out->steps++;
				waiting = (long)k;
			}
		if (year_has_moved(y, y->measured[k])) {
			out->moved_steps += year_is_step(ev) && waiting < 0;
			if (ev == NIGHT_ENVIRONMENT && !moved) {
				out->moved++;
				moved = true;
				continue;
			}
		}
		out->drifts += ev == NIGHT_DRIFTED && metric >= y->quiet + y->steps;
		out->drift_steps += year_is_step(ev) && metric >= y->quiet + y->steps;
		out->alerts += ev >= NIGHT_CHANGED && metric < y->quiet;
		if (waiting < 0 || !(year_is_step(ev) || ev == NIGHT_DRIFTED))
			continue;
		year_count_step(k - (size_t)waiting, out);
		waiting = -1;
	}
}

/* A year into a database of its own, and what the nightly finds in it, added to out. */
static inline void year_run(struct year *y, struct year_found *out)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct campaign_config config = {.name = "year"};
	struct nightly n = {.a = a, .e = &e, .config = &config, .opt = {.threshold = 0.005}};
	int64_t metric;

	if (!db_open("", DB_MEMORY, &n.db, &e)) {
		year_fill(y, n.db);
		nightly_judge(&n);
	}
	if (err_text(&e)[0] || n.n_nights != y->n) {
		fprintf(stderr, "%zu nights of %zu: %s\n", n.n_nights, y->n, err_text(&e));
		exit(1);
	}
	for (size_t i = 0; i < n.n_rows; i++)
		if (num_parse_int(span_of(n.rows[i].metric.name + strlen("bench.m")), &metric))
			year_count(y, &n.rows[i], (size_t)metric, out);
	db_close(n.db);
}

static inline int year_median_delay(const struct year_found *f)
{
	int found = 0, all = 0, i;

	for (i = 0; i < YEAR_MOST; i++)
		all += f->delays[i];
	for (i = 0; i < YEAR_MOST && 2 * (found += f->delays[i]) < all; i++)
		;
	return i;
}

#endif
