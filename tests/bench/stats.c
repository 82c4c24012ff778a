// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated comparisons, fixed seed: how often unchanged kernels are marked, how often a change is
 * found, and what testing costs. Prints every figure with its limit; exits 1 if one is missed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "core/mem.h"
#include "stats/stats.h"
#include "tests/random.h"

enum {
	TRIALS = 4000,
	REPORTS = 2000,
	ROWS = 200,
	CHANGED = 10,
	N_MAX = 30,
	OLD = 20,
	OLD_GROUP = 5
};

enum noise { NORMAL, LOG_NORMAL, BIMODAL, OUTLIERS, N_NOISES };
static const char *const noise_names[] = {"normal", "log-normal", "bimodal", "5% outliers"};

/* Where the prior comes from. */
enum source { NO_PRIOR, HISTORY, FAMILY };
static const char *const source_names[] = {"no prior", "history", "family"};

static int missed;

/* One run of a benchmark that gives about 1000; shift in units of its standard deviation, sd. */
static double run(enum noise noise, double sd, double shift)
{
	double z = normal();

	switch (noise) {
	case LOG_NORMAL: /* as skewed as run times get */
		return 1000 * exp(20 * sd * (z + shift));
	case BIMODAL:
		z = uniform() < 0.3 ? z + 5 : z;
		break;
	case OUTLIERS:
		z = uniform() < 0.05 ? 10 * z : z;
		break;
	default:
		break;
	}
	return 1000 * (1 + sd * (z + shift));
}

static void fill(double *x, size_t n, enum noise noise, double sd, double shift)
{
	for (size_t i = 0; i < n; i++)
		x[i] = run(noise, sd, shift);
}

/* Twenty old runs: four campaigns of five, each at a level of its own. */
static struct stats_prior history(enum noise noise, double sd)
{
	struct stats_group groups[OLD / OLD_GROUP];
	double x[OLD];

	fill(x, OLD, noise, sd, 0);
	for (int i = 0; i < OLD; i++)
		x[i] *= 1 + 0.1 * (i / OLD_GROUP);
	for (int i = 0; i < OLD / OLD_GROUP; i++)
		groups[i] = (struct stats_group){x + i * OLD_GROUP, OLD_GROUP};
	return (struct stats_prior){
		.log = stats_prior_of_history(groups, ARRAY_SIZE(groups), true)};
}

static struct test_result test(const double *x, const double *y, size_t n,
			       const struct stats_prior *prior)
{
	return stats_test(MEAN_AMEAN, x, n, y, n, prior, 0.95, NULL);
}

/* limit NULL: a figure without one. */
static void report(const char *what, double percent, const char *limit, bool ok)
{
	printf("%-66s %6.2f %%", what, percent);
	if (limit)
		printf("  (%s)%s", limit, ok ? "" : "  MISSED");
	printf("\n");
	missed += limit && !ok;
}

/* ---- one row ---- */

static double false_alarms(enum noise noise, size_t n, bool with_prior)
{
	int marked = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct stats_prior prior = history(noise, 0.01);
		double x[N_MAX], y[N_MAX];

		fill(x, n, noise, 0.01, 0);
		fill(y, n, noise, 0.01, 0);
		marked += test(x, y, n, with_prior ? &prior : NULL).p <= 0.05;
	}
	return 100.0 * marked / TRIALS;
}

static void bench_false_alarms(void)
{
	static const size_t sizes[] = {3, 5, 10, 20};

	for (enum noise noise = 0; noise < N_NOISES; noise++) {
		for (int prior = 0; prior < 2; prior++) {
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
				double percent = false_alarms(noise, sizes[i], prior);
				char what[80];

				snprintf(what, sizeof(what), "false alarms, %s, n = %zu, %s",
					 noise_names[noise], sizes[i], source_names[prior]);
				report(what, percent, "at most 6", percent <= 6);
			}
		}
	}
}

/* One more run a side in every row of the loop: what n + 1 finds is compared on the same runs. */
static void find_changes(int found[2][N_MAX + 1])
{
	for (int i = 0; i < TRIALS; i++) {
		struct stats_prior prior = history(NORMAL, 0.01);
		double x[N_MAX], y[N_MAX];

		fill(x, N_MAX, NORMAL, 0.01, 0);
		fill(y, N_MAX, NORMAL, 0.01, 2);
		for (size_t n = 3; n <= N_MAX; n++) {
			bool without = test(x, y, n, NULL).p <= 0.05;

			found[0][n] += without;
			found[1][n] +=
				n < STATS_PRIOR_BELOW ? test(x, y, n, &prior).p <= 0.05 : without;
		}
	}
}

static void bench_power(void)
{
	static const struct {
		size_t n;
		double least;
	} limits[] = {{3, 60}, {5, 80}, {10, 95}};
	int found[2][N_MAX + 1] = {0};
	char what[80], limit[32];

	find_changes(found);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		double percent = 100.0 * found[1][limits[i].n] / TRIALS;

		snprintf(what, sizeof(what), "2 sigma found, n = %zu, history", limits[i].n);
		snprintf(limit, sizeof(limit), "at least %g", limits[i].least);
		report(what, percent, limit, percent >= limits[i].least);
	}
	for (int prior = 0; prior < 2; prior++) {
		double fall = 0;

		for (size_t n = 3; n < N_MAX; n++)
			fall = fmax(fall, 100.0 * (found[prior][n] - found[prior][n + 1]) / TRIALS);
		snprintf(what, sizeof(what), "largest fall of power from n to n + 1, 3 to 30, %s",
			 source_names[prior]);
		report(what, fall, "at most 1", fall <= 1);
	}
}

/* ---- a report of many rows ---- */

struct table {
	double x[ROWS][N_MAX], y[ROWS][N_MAX], sd[ROWS];
	struct stats_prior prior[ROWS];
	double p[ROWS];
};

/* A table that is simulated. */
struct scene {
	enum noise noise;
	size_t n;
	enum source source;
	double spread; /* the noisiest metric has so many times the noise of the quietest */
	int changed;   /* the first rows, by three sigma */
};

static void table_measure(struct table *t, const struct scene *s)
{
	for (int i = 0; i < ROWS; i++) {
		t->sd[i] = 0.002 * pow(s->spread, uniform());
		fill(t->x[i], s->n, s->noise, t->sd[i], 0);
		fill(t->y[i], s->n, s->noise, t->sd[i], i < s->changed ? 3 : 0);
	}
}

static void table_learn(struct table *t, const struct scene *s)
{
	struct stats_variance rows[ROWS], family;

	for (int i = 0; i < ROWS; i++) {
		const struct stats_group groups[] = {{t->x[i], s->n}, {t->y[i], s->n}};

		t->prior[i] = (struct stats_prior){0};
		rows[i] = stats_pooled_variance(groups, 2, true);
		if (s->source == HISTORY)
			t->prior[i] = history(s->noise, t->sd[i]);
	}
	family = stats_prior_of_family(rows, ROWS);
	for (int i = 0; s->source == FAMILY && i < ROWS; i++)
		t->prior[i].log = family;
}

/* Rows found by the corrected p, of the changed and of all. */
static void table_test(struct table *t, const struct scene *s, int *right, int *all)
{
	*right = *all = 0;
	for (int i = 0; i < ROWS; i++)
		t->p[i] = test(t->x[i], t->y[i], s->n, &t->prior[i]).p;
	stats_benjamini_hochberg(t->p, ROWS, t->p);
	for (int i = 0; i < ROWS; i++) {
		*all += t->p[i] <= 0.05;
		*right += i < s->changed && t->p[i] <= 0.05;
	}
}

/* 3 sigma among metrics of one kind must be found; among very different ones it is a figure. */
static void report_found(const struct scene *s, const char *where, int found, int all)
{
	double percent = 100.0 * found / REPORTS / s->changed;
	bool promised = s->source == HISTORY || s->spread <= 2;
	char what[100];

	snprintf(what, sizeof(what), "10 of 200 changed by 3 sigma, found: %s", where);
	report(what, percent, promised ? "at least 85" : NULL, percent >= 85);
	report("  share of false marks", 100.0 * (all - found) / all, NULL, true);
}

static void bench_table(const struct scene *s)
{
	static struct table t;
	int tables = 0, found = 0, marks = 0, right, all;
	char where[60], what[100];

	for (int i = 0; i < REPORTS; i++) {
		table_measure(&t, s);
		table_learn(&t, s);
		table_test(&t, s, &right, &all);
		found += right;
		marks += all;
		tables += all > 0;
	}
	snprintf(where, sizeof(where), "%s, n = %zu, %s, noise x%g", noise_names[s->noise], s->n,
		 source_names[s->source], s->spread);
	if (s->changed) {
		report_found(s, where, found, marks);
		return;
	}
	snprintf(what, sizeof(what), "any mark in 200 unchanged: %s", where);
	report(what, 100.0 * tables / REPORTS, "at most 6.5", tables <= 0.065 * REPORTS);
}

static void bench_tables(void)
{
	static const struct scene scenes[] = {
		{NORMAL, 3, HISTORY, 25, 0},	   {NORMAL, 5, HISTORY, 25, 0},
		{NORMAL, 5, FAMILY, 2, 0},	   {NORMAL, 5, FAMILY, 25, 0},
		{OUTLIERS, 5, FAMILY, 25, 0},	   {NORMAL, 10, NO_PRIOR, 25, 0},
		{NORMAL, 5, HISTORY, 25, CHANGED}, {NORMAL, 5, FAMILY, 2, CHANGED},
		{NORMAL, 5, FAMILY, 25, CHANGED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		bench_table(&scenes[i]);
}

/* ---- pairs ---- */

/* Flip mode on a machine that drifts: what pairs find, and what the same values do without. */
static void bench_pairs(void)
{
	static const size_t sizes[] = {10, 20, 30};
	double x[N_MAX], y[N_MAX];
	char what[80];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t n = sizes[i];
		int marked = 0, found = 0, apart = 0;
		double percent;

		for (int k = 0; k < TRIALS; k++) {
			drifting_pairs(x, y, n, 10, 0);
			marked += stats_test_paired(MEAN_AMEAN, x, y, n, NULL, 0.95).p <= 0.05;
			drifting_pairs(x, y, n, 10, 1.5);
			found += stats_test_paired(MEAN_AMEAN, x, y, n, NULL, 0.95).p <= 0.05;
			apart += test(x, y, n, &(struct stats_prior){0}).p <= 0.05;
		}
		percent = 100.0 * marked / TRIALS;
		snprintf(what, sizeof(what), "false alarms, %zu pairs under drift", n);
		report(what, percent, "at most 6", percent <= 6);
		snprintf(what, sizeof(what), "1.5 sigma found under drift, %zu pairs", n);
		report(what, 100.0 * found / TRIALS, NULL, true);
		report("  the same values without their pairing", 100.0 * apart / TRIALS, NULL, true);
	}
}

/* ---- speed ---- */

/*
 * Rows of two variants tested as a comparison does; digits: every value is a multiple of 5, so that
 * most are tied. Large samples are few, and the time is that of 20,000 rows.
 */
static double speed(int metrics, size_t n, bool digits, enum source source)
{
	double *x = mem_realloc_array(NULL, metrics * 2 * n, sizeof(*x));
	double *p = mem_realloc_array(NULL, metrics, sizeof(*p));
	struct stats_variance *rows = mem_realloc_array(NULL, metrics, sizeof(*rows));
	_cleanup_nulls_ struct stats_nulls *nulls = stats_nulls_new();
	struct stats_prior prior = {0};
	double seconds;
	clock_t start;

	fill(x, metrics * 2 * n, NORMAL, 0.01, 0);
	for (size_t i = 0; digits && i < metrics * 2 * n; i++)
		x[i] = 5 * round(x[i] / 5);
	start = clock();
	for (int i = 0; source == FAMILY && i < metrics; i++) {
		const struct stats_group g[] = {{x + 2 * n * i, n}, {x + 2 * n * i + n, n}};

		rows[i] = stats_pooled_variance(g, 2, true);
	}
	if (source == FAMILY)
		prior.log = stats_prior_of_family(rows, metrics);
	for (int i = 0; i < metrics; i++)
		p[i] = stats_test(MEAN_AMEAN, x + 2 * n * i, n, x + 2 * n * i + n, n, &prior, 0.95,
				  nulls)
			       .p;
	stats_benjamini_hochberg(p, metrics, p);
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	mem_free_ptr(&x);
	mem_free_ptr(&p);
	mem_free_ptr(&rows);
	return seconds;
}

static void bench_speed(void)
{
	enum { METRICS = 20000 };
	static const struct {
		int metrics;
		size_t n;
		bool digits;
		enum source source;
		double most; /* seconds; 0: a figure without a limit */
	} cases[] = {
		{METRICS, 5, false, FAMILY, 0.2}, {METRICS, 5, false, NO_PRIOR, 0.2},
		{METRICS, 5, true, FAMILY, 0.2},  {METRICS, 5, true, NO_PRIOR, 0.2},
		{METRICS, 10, false, NO_PRIOR, 0.2}, {METRICS, 10, true, NO_PRIOR, 0},
		{METRICS / 20, 50, false, NO_PRIOR, 0}, {METRICS / 400, 50, true, NO_PRIOR, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double seconds = METRICS / cases[i].metrics *
				 speed(cases[i].metrics, cases[i].n, cases[i].digits, cases[i].source);
		bool ok = !cases[i].most || seconds < cases[i].most;

		printf("20,000 metrics x 2 x %-2zu, %s, %-8s %8.3f s of CPU", cases[i].n,
		       cases[i].digits ? "tied  " : "untied", source_names[cases[i].source], seconds);
		if (cases[i].most)
			printf("  (at most %g)%s", cases[i].most, ok ? "" : "  MISSED");
		printf("\n");
		missed += !ok;
	}
}

int main(void)
{
	rng = 20260217;
	bench_speed();
	bench_false_alarms();
	bench_power();
	bench_pairs();
	bench_tables();
	return missed > 0;
}
