// SPDX-License-Identifier: GPL-2.0-or-later
/* Simulated years of nights: false alerts, and how soon steps are found. Argument: years. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/num.h"
#include "tests/nights.h"

static int check(const char *what, double value, double low, double high)
{
	bool ok = value >= low && value <= high;

	printf("%-58s %8.3f  (%g to %g)%s\n", what, value, low, high, ok ? "" : "  WRONG");
	return !ok;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		double outliers, night;
	} noises[] = {{"normal", 0, 0}, {"2 % outliers of 5 sigma", 0.02, 0},
		      {"nights differ by a quarter sigma", 0, 0.25}};
	int64_t years = 4;
	int bad = 0;

	if (argc > 1 && !num_parse_int(span_of(argv[1]), &years))
		return 2;
	rng = 42;
	for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
		struct year y = {.outliers = noises[i].outliers, .night = noises[i].night};
		struct year_result quiet = {0}, steps = {0};

		for (int k = 0; k < 100 * years; k++)
			simulate_year(&y, &quiet);
		y.step = 2;
		for (int k = 0; k < 50 * years; k++)
			simulate_year(&y, &steps);
		printf("%s:\n", noises[i].what);
		bad |= check("  false alerts a year, 100 metrics that do not change",
			     (double)quiet.alerts / (double)years, 0, 2);
		printf("%-58s %8.3f\n", "  extra runs a night for all of them",
		       (double)quiet.extras / 365 / (double)years);
		bad |= check("  steps of 2 sigma confirmed within 3 nights",
			     (double)steps.in_time / steps.steps, noises[i].night > 0 ? 0.85 : 0.9, 1);
		printf("%-58s %8d\n", "  median delay, nights after the first", median_delay(&steps));
	}
	return bad;
}
