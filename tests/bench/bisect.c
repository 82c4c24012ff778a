// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated bisections over 1024 commits, fixed seed: runs until one commit holds 95 %, how often
 * that is the culprit, and what choosing the next commit costs. Every figure with its limit; exits
 * 1 if one is missed by more than two standard errors. BISECT_TRIALS=n: n trials a figure, not
 * 2000; a fifth of them at d = 0.5.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "stats/posterior.h"
#include "tests/random.h"

enum { N = 1024, STORED = 30, RUNS_MAX = 2000, PROCESSES = 2, STEPS = 10 };

static const double sigma = 0.02, effects[] = { 0.5, 1, 2, 4 };

/* What the engine is told, and what the machine does; spreads and effects in units of sigma. */
struct world {
	const char *name;
	enum { GAUSSIAN, ROBUST, UNKNOWN, SHIPPED } engine;
	double outliers, boot, drift; /* drift: a run */
	double skipped;		      /* share of commits that cannot be built */
	double build;		      /* what one costs, in runs */
	bool stored, merges, no_culprit;
	double limits[4]; /* of runs, for each effect; 0: none */
};

static const struct world figures[] = {
	{ "levels known, Gaussian", GAUSSIAN, .limits = { 250, 67, 22, 11.6 } },
	{ "levels known, robust", ROBUST, .limits = { 258, 70, 23, 12 } },
	{ "same, 5 % outliers", ROBUST, .outliers = 0.05, .limits = { 285, 75, 25, 13 } },
	/* where a build costs ten runs, 82 runs and 11 builds at d = 1 are known to do */
	{ "builds of ten runs", GAUSSIAN, .build = 10, .limits = { 0, 82 } },
	{ "nothing known, with ends", UNKNOWN, .limits = { 570, 148, 43, 17.5 } },
	{ "30 stored runs a side", UNKNOWN, .stored = true, .limits = { 490, 95, 25, 12.5 } },
	/* 1.35 times what is asked for with nothing known */
	{ "as shipped, ideal noise", SHIPPED, .limits = { 769.5, 199.8, 58.05, 23.625 } },
};

static const struct world cells[] = {
	{ "5 % outliers", SHIPPED, .outliers = 0.05 },
	{ "boot effect 0.5 sigma", SHIPPED, .boot = 0.5 },
	{ "boot effect 1 sigma", SHIPPED, .boot = 1 },
	{ "10 % unbuildable", SHIPPED, .skipped = 0.1 },
	{ "30 % unbuildable", SHIPPED, .skipped = 0.3 },
	{ "drift, 1 sigma in 50 runs", SHIPPED, .drift = 0.02 },
	{ "merges everywhere", SHIPPED, .merges = true },
	{ "no culprit", SHIPPED, .no_culprit = true },
};

/* Sums over trials. */
struct tally {
	double trials, runs, squares, builds;
	double right, wrong, open; /* open: nothing held 95 % in RUNS_MAX */
};

/* A graph of which nearly every second commit is a merge; the last has all others in it. */
struct graph {
	size_t first[N + 1], parents[2 * N];
	unsigned char has[N]; /* who has the culprit */
};

static size_t below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

static void make_graph(struct graph *g)
{
	size_t heads[16], n = 0, links = 0, i, k;

	for (i = 0; i < N; i++) {
		bool closing = n >= N - i;

		g->first[i] = links;
		if (n >= 2 && (closing || n == ARRAY_SIZE(heads) || uniform() < 0.45)) {
			for (int side = 0; side < 2; side++) {
				k = below(n);
				g->parents[links++] = heads[k];
				heads[k] = heads[--n];
			}
		} else if (n) {
			k = below(n);
			g->parents[links++] = heads[k];
			if (closing || uniform() < 0.15)
				heads[k] = heads[--n];
		}
		heads[n++] = i;
	}
	g->first[N] = links;
}

static void mark_bad(struct graph *g, size_t culprit)
{
	for (size_t i = 0; i < N; i++) {
		g->has[i] = i == culprit;
		for (size_t k = g->first[i]; k < g->first[i + 1]; k++)
			g->has[i] |= g->has[g->parents[k]];
	}
}

static void tell_engine(const struct world *w, double d, struct posterior_options *o)
{
	*o = (struct posterior_options){ POSTERIOR_DEFAULTS, .n = N };
	if (w->engine == SHIPPED) {
		/* who is told that nothing changed has said what would be a change */
		o->threshold = w->no_culprit ? d * sigma : 0;
		return;
	}
	o->none = 0;
	o->drift = false;
	if (w->engine == UNKNOWN)
		return;
	o->known = true;
	o->bad = d * sigma;
	o->sigma = sigma;
	o->outliers = w->engine == GAUSSIAN ? 0 : o->outliers;
}

/* One run or, for skipped commits, the attempt. */
static void run(const struct world *w, struct posterior *p, size_t commit, double level, int at)
{
	double z = normal() * (uniform() < w->outliers ? 10 : 1) + w->boot * normal();

	posterior_add(p, commit, sigma * (level + z + w->drift * at), 0, at < 0 ? NAN : at);
}

static bool has(const size_t *set, size_t n, size_t commit)
{
	for (size_t i = 0; i < n; i++)
		if (set[i] == commit)
			return true;
	return false;
}

static void bisect(const struct world *w, double d, struct tally *t)
{
	/* for the sake of time: a commit is run more than once before the next, which costs runs */
	int every = w->engine < UNKNOWN || d > 1 ? 1 : d < 1 ? 5 : w->engine == SHIPPED ? 2 : 1;
	int runs = 0;
	size_t culprit = w->no_culprit ? SIZE_MAX : below(N), commit, set[N], n;
	static struct graph g;
	static unsigned char skipped[N];
	static double setup[N];
	struct posterior_options o;
	struct posterior *p;

	tell_engine(w, d, &o);
	if (w->merges) {
		make_graph(&g);
		mark_bad(&g, culprit);
		o.first = g.first;
		o.parents = g.parents;
	}
	for (size_t i = 0; i < N; i++) {
		skipped[i] = i < N - 1 && uniform() < w->skipped;
		setup[i] = w->build;
	}
	p = posterior_new(&o);
	for (int i = 0; i < STORED && w->stored; i++) {
		run(w, p, POSTERIOR_GOOD, 0, -1);
		run(w, p, N - 1, d, -1);
	}
	t->trials++;
	while (runs < RUNS_MAX && posterior_next(p, setup, 1, &commit)) {
		bool bad = commit != POSTERIOR_GOOD &&
			   (w->merges ? g.has[commit] : commit >= culprit);

		if (commit != POSTERIOR_GOOD && skipped[commit]) {
			posterior_skip(p, commit);
			continue;
		}
		if (commit != POSTERIOR_GOOD && setup[commit] > 0) {
			setup[commit] = 0;
			t->builds++;
		}
		for (int i = 0; i < every; i++)
			run(w, p, commit, bad ? d : 0, ++runs);
		if (posterior_none(p) >= 0.95) {
			*(w->no_culprit ? &t->right : &t->wrong) += 1;
			break;
		}
		if (posterior_set(p, 0, set, &n) >= 0.95) {
			*(has(set, n, culprit) ? &t->right : &t->wrong) += 1;
			break;
		}
	}
	posterior_free(&p);
	t->runs += runs;
	t->squares += (double)runs * runs;
	t->open = t->trials - t->right - t->wrong;
}

static int trials_of(double d)
{
	const char *told = getenv("BISECT_TRIALS");
	int most = told ? (int)strtol(told, NULL, 10) : 2000;

	return d < 1 ? MAX(most / 5, 1) : most;
}

static int missed;

static void judge(bool ok)
{
	printf("%s\n", ok ? "" : "  MISSED");
	fflush(stdout);
	missed += !ok;
}

/* Each process has its share of the trials of every figure and writes its sums to a pipe. */
static struct tally trial_sums(const struct world *w, size_t figure, size_t effect, int process)
{
	struct tally t = { 0 };

	for (int i = process; i < trials_of(effects[effect]); i += PROCESSES) {
		rng = (figure * 4 + effect + 1) * 1000003ull + (uint64_t)i * 0x9E3779B97F4A7C15ull;
		for (int k = 0; k < 8; k++)
			uniform();
		bisect(w, effects[effect], &t);
	}
	return t;
}

static void start(int pipes[PROCESSES])
{
	size_t n = ARRAY_SIZE(figures) + ARRAY_SIZE(cells);

	for (int k = 0; k < PROCESSES; k++) {
		int ends[2];

		if (pipe(ends))
			exit(2);
		pipes[k] = ends[0];
		if (fork()) {
			close(ends[1]);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			for (size_t e = 0; e < ARRAY_SIZE(effects); e++) {
				const struct world *w = i < ARRAY_SIZE(figures) ?
								&figures[i] :
								&cells[i - ARRAY_SIZE(figures)];
				struct tally t = trial_sums(w, i, e, k);

				if (write(ends[1], &t, sizeof(t)) != sizeof(t))
					_exit(2);
			}
		_exit(0);
	}
}

static struct tally collect(const int pipes[PROCESSES])
{
	struct tally sum = { 0 }, t;

	for (int k = 0; k < PROCESSES; k++) {
		if (read(pipes[k], &t, sizeof(t)) != sizeof(t))
			exit(2);
		sum.trials += t.trials;
		sum.runs += t.runs;
		sum.squares += t.squares;
		sum.builds += t.builds;
		sum.right += t.right;
		sum.wrong += t.wrong;
		sum.open += t.open;
	}
	return sum;
}

static void print_figure(const struct world *w, size_t e, const struct tally *t)
{
	double mean = t->runs / t->trials, answers = t->right + t->wrong;
	double se = sqrt((t->squares / t->trials - mean * mean) / t->trials);
	double share = t->right / fmax(1, answers), share_se = sqrt(0.95 * 0.05 / fmax(1, answers));

	printf("%-26s %4g %8.1f +-%-5.1f", w->name, effects[e], mean, se);
	if (w->limits[e] > 0)
		printf(" %7.1f %6.3f", w->limits[e], mean / w->limits[e]);
	else
		printf(" %14s", "");
	printf("  %5.1f%% +-%-4.1f %5.0f", 100 * share, 100 * share_se, t->open);
	if (w->build > 0)
		printf(" %5.1f builds", t->builds / t->trials);
	judge((!(w->limits[e] > 0) || mean <= w->limits[e] + 2 * se) &&
	      (!answers || share >= 0.94 - 2 * share_se));
}

static double phi(double x)
{
	return erfc(-x / M_SQRT2) / 2;
}

/* Runs that no method can do without: Fano's bound over the capacity of one run. */
static double fano(double d)
{
	double bits = 0.95 * log2(N) - (-0.95 * log2(0.95) - 0.05 * log2(0.05)), capacity = 1;
	double step = 0.01;

	for (double y = -8; y < d + 8; y += step)
		capacity -= step * exp(-y * y / 2) / sqrt(2 * M_PI) *
			    log2(1 + exp(d * y - d * d / 2));
	return bits / capacity;
}

/* How often all steps are right, r runs each, against a middle known from m runs of each end. */
static double all_right(double d, double r, double m)
{
	double sum = 0, total = 0;

	for (double t = -5; t <= 5; t += 0.05) {
		double off = m > 0 ? t / sqrt(2 * m) : 0, w = exp(-t * t / 2);

		total += w;
		sum += w * pow(phi((d / 2 - off) * sqrt(r)) * phi((d / 2 + off) * sqrt(r)),
			       STEPS / 2.0);
	}
	return sum / total;
}

/* git bisect with its best fixed number of runs a step; the ends are run too if not known. */
static double git_bisect(double d, bool levels_known)
{
	double best = INFINITY, r, m, step;

	for (r = 1; r * STEPS < best; r++) {
		if (all_right(d, r, levels_known ? 0 : 1e6) < 0.95)
			continue;
		/* the fewest runs of an end, by halving */
		for (m = step = levels_known ? 0 : 4096; step >= 1; step /= 2)
			if (m - step >= 1 && all_right(d, r, m - step) >= 0.95)
				m -= step;
		best = fmin(best, r * STEPS + 2 * m);
	}
	return best;
}

static void print_bounds(void)
{
	for (size_t e = 0; e < ARRAY_SIZE(effects); e++)
		printf("%-26s %4g %8.1f\n", "Fano's bound", effects[e], fano(effects[e]));
	for (int known = 1; known >= 0; known--)
		for (size_t e = 0; e < ARRAY_SIZE(effects); e++)
			printf("%-26s %4g %8.1f\n",
			       known ? "git bisect, levels known" : "git bisect, ends run",
			       effects[e], git_bisect(effects[e], known));
}

/* CPU time until the next commit is known after a run, in ms, of 40 runs from the 60th on. */
static void time_choice(const char *name, size_t n, bool merges, double limit)
{
	struct posterior_options o = { POSTERIOR_DEFAULTS, .n = n };
	_cleanup_free_ size_t *first = mem_realloc_array(NULL, n + 1, sizeof(*first));
	_cleanup_free_ size_t *parents = mem_realloc_array(NULL, 2 * n, sizeof(*parents));
	_cleanup_posterior_ struct posterior *p = NULL;
	size_t links = 0, commit = POSTERIOR_GOOD;
	clock_t begin = 0;

	rng = 7;
	for (size_t i = 0; i < n; i++) {
		first[i] = links;
		if (i)
			parents[links++] = i - 1 - below(MIN(i, 4));
		if (i > 9 && uniform() < 0.4)
			parents[links++] = i - 1 - below(9);
	}
	first[n] = links;
	o.first = merges ? first : NULL;
	o.parents = merges ? parents : NULL;
	p = posterior_new(&o);
	for (int i = 0; i < 100; i++) {
		bool bad = commit != POSTERIOR_GOOD && commit >= n / 3;

		if (i == 60)
			begin = clock();
		posterior_add(p, commit, sigma * (normal() + bad), 0, i);
		posterior_next(p, NULL, 1, &commit);
	}
	printf("%-26s %14.2f ms", name, (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC / 40);
	printf(" %7.0f ms", limit);
	judge((double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC / 40 < limit);
}

int main(void)
{
	int pipes[PROCESSES], status;

	start(pipes);
	printf("%d commits: runs until one holds 95 %%, limit, ratio; right; undecided\n", N);
	print_bounds();
	for (size_t i = 0; i < ARRAY_SIZE(figures) + ARRAY_SIZE(cells); i++)
		for (size_t e = 0; e < ARRAY_SIZE(effects); e++) {
			struct tally t = collect(pipes);

			print_figure(i < ARRAY_SIZE(figures) ? &figures[i] :
							       &cells[i - ARRAY_SIZE(figures)],
				     e, &t);
		}
	while (wait(&status) > 0)
		;
	time_choice("next of 1,024 in a line", 1024, false, 1);
	time_choice("next of 1,024 with merges", 1024, true, 50);
	time_choice("next of 20,000", 20000, true, 1000);
	return missed > 0;
}
