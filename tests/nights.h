/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated year of one metric, five runs a night and two arms of a baseline. */
#ifndef TESTS_NIGHTS_H
#define TESTS_NIGHTS_H

#include "stats/nights.h"
#include "tests/random.h"

enum { YEAR = 365, NIGHT_RUNS = 5, YEAR_DELAYS = 32 };
#define YEAR_SIGMA 0.01

struct year {
	double outliers; /* share of runs that are five sigma too high */
	double night;	 /* deviation of what a night has in common, in sigmas */
	double step;	 /* sigmas, alternately up and down, every 60 nights; 0: none */
};

struct year_result {
	int alerts, extras; /* told where nothing changed; extra runs made */
	int steps, in_time, delays[YEAR_DELAYS];
};

static inline struct night_arm draw_arm(const struct year *y, double level, size_t n)
{
	double x[2 * NIGHT_RUNS];

	for (size_t i = 0; i < n; i++)
		x[i] = YEAR_SIGMA * (level + normal() + (uniform() < y->outliers ? 5 : 0));
	return night_arm_of(x, n);
}

static inline bool is_alert(const struct night_state *s)
{
	return s->event >= NIGHT_CHANGED;
}

static inline bool is_step(const struct year *y, int i)
{
	return y->step > 0 && i % 60 == 30;
}

static inline void count_night(int i, int *step_at, bool alert, struct year_result *out)
{
	if (!alert)
		return;
	if (*step_at < 0) {
		out->alerts++;
		return;
	}
	out->in_time += i - *step_at < 3;
	out->delays[i - *step_at < YEAR_DELAYS ? i - *step_at : YEAR_DELAYS - 1]++;
	*step_at = -1;
}

/* Every night has its extra run here: it is asked for only where there is a suspicion. */
static inline void simulate_year(const struct year *y, struct year_result *out)
{
	const struct nights_options opt = {DIR_LOWER, 0.005, true};
	static struct night nights[YEAR];
	static struct night_state states[YEAR];
	double level[YEAR];
	int step_at = -1, i;

	for (i = 0; i < YEAR; i++) {
		double common = y->night * normal();
		int base = i > NIGHTS_LAG ? i - NIGHTS_LAG : 0;

		level[i] = !i ? 0 : !is_step(y, i) ? level[i - 1] : level[i - 1] > 0 ? 0 : y->step;
		nights[i] = (struct night){
			.kernel = draw_arm(y, level[i] + common, NIGHT_RUNS),
			.base = draw_arm(y, level[base] + common, 2 * NIGHT_RUNS),
			.extra = draw_arm(y, level[i] + common, NIGHTS_EXTRA * NIGHT_RUNS),
			.base_night = base - !i,
		};
	}
	stats_nights(nights, YEAR, &opt, states);
	for (i = 0; i < YEAR; i++) {
		out->extras += states[i].event >= NIGHT_DISMISSED;
		if (is_step(y, i)) {
			out->steps++;
			step_at = i;
		}
		count_night(i, &step_at, is_alert(&states[i]), out);
	}
}

static inline int median_delay(const struct year_result *r)
{
	int found = 0, all = 0, i;

	for (i = 0; i < YEAR_DELAYS; i++)
		all += r->delays[i];
	for (i = 0; i < YEAR_DELAYS && 2 * (found += r->delays[i]) < all; i++)
		;
	return i;
}

#endif
