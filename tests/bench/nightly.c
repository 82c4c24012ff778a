// SPDX-License-Identifier: GPL-2.0-or-later
/* Simulated years through the database: what a nightly tells of them. Argument: years. */
#include "tests/year.h"

static int check(const char *what, double value, double low, double high)
{
	bool ok = value >= low && value <= high;

	printf("%-58s %8.3f  (%g to %g)%s\n", what, value, low, high, ok ? "" : "  WRONG");
	return !ok;
}

int main(int argc, char **argv)
{
	static struct year y = {.nights = 365, .quiet = 100, .steps = 30, .trends = 10, .step = 2,
				.slope = 0.05, .moves = 200, .missed = 0.05, .outliers = 0.02};
	static struct year_found found;
	int64_t years = 2;
	int bad;

	if (argc > 1 && !num_parse_int(span_of(argv[1]), &years))
		return 2;
	rng = 42;
	for (int64_t i = 0; i < years; i++)
		year_run(&y, &found);
	printf("a year in the database, one microcode update, 5 %% of nights missed, 2 %% outliers:\n");
	bad = check("  false alerts a year, 100 metrics that do not change",
		    (double)found.alerts / (double)years, 0, 2);
	bad |= check("  steps of 2 sigma confirmed within 3 nights",
		     (double)found.in_time / found.steps, 0.9, 1);
	printf("%-58s %8d\n", "  median delay, nights after the first", year_median_delay(&found));
	bad |= check("  metrics whose update is told as the machine's, of all",
		     (double)found.moved / (double)(140 * years), 0.95, 1);
	bad |= check("  and as a change of the kernel", (double)found.moved_steps / (double)(140 * years),
		     0, 0.01);
	printf("%-58s %8d\n", "  trends (10 a year) told as such, times", found.drifts);
	bad |= check("  and as a step, of all that is told of them",
		     (double)found.drift_steps / fmax(1, found.drifts + found.drift_steps), 0, 0.1);
	return bad;
}
