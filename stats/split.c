// SPDX-License-Identifier: GPL-2.0-or-later
/* How to spend time on boots and on runs within them. */
#include "stats/stats.h"

#include <math.h>

#include "core/mem.h"

struct stats_components stats_variance_components(const struct stats_group *g, size_t n)
{
	double within = 0, between = 0, sum = 0, total = 0, squares = 0, each;
	size_t i, k, groups = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < g[i].n; k++)
			sum += g[i].x[k];
		total += (double)g[i].n;
		squares += (double)(g[i].n * g[i].n);
		groups += g[i].n > 0;
	}
	if (groups < 2 || total <= (double)groups)
		return (struct stats_components){NAN, NAN, 0, 0};
	for (i = 0; i < n; i++) {
		double mean = stats_amean(g[i].x, g[i].n), d = mean - sum / total;

		for (k = 0; k < g[i].n; k++)
			within += (g[i].x[k] - mean) * (g[i].x[k] - mean);
		if (g[i].n)
			between += (double)g[i].n * d * d;
	}
	within /= total - (double)groups;
	between /= (double)groups - 1;
	each = (total - squares / total) / ((double)groups - 1);
	return (struct stats_components){within, (between - within) / each, total - (double)groups,
					 (double)groups - 1};
}

int stats_runs_per_boot(double boot_cost, double run_cost, double run_variance,
			double boot_variance)
{
	double runs;

	if (!(boot_cost >= 0) || !(run_cost > 0) || !(run_variance >= 0) || !(boot_variance >= 0))
		return 0;
	if (boot_cost == 0 || run_variance == 0)
		return 1;
	runs = ceil(sqrt(boot_cost / run_cost * (run_variance / boot_variance)) - 1e-9);
	return runs < STATS_RUNS_MAX ? MAX((int)runs, 1) : STATS_RUNS_MAX;
}
