/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers of simulations: small, the same everywhere, begun by setting rng (not to 0). */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static uint64_t rng;

/* xorshift64*, uniform in (0, 1) */
static double uniform(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return ((double)((rng * 0x2545F4914F6CDD1Dull) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));

	return radius * cos(2 * M_PI * uniform());
}

/*
 * Values of a machine whose level drifts by `drift` deviations over n pairs and wanders (a sum that
 * forgets 2 % a run): base in x, new, `shift` deviations more, in y; in random order within pairs.
 */
static inline void drifting_pairs(double *x, double *y, size_t n, double drift, double shift)
{
	double wander = 0;

	for (size_t run = 0; run < 2 * n; run++) {
		static bool new_first;
		bool new = run % 2 ? !new_first : (new_first = uniform() < 0.5);
		double level = drift * (double)run / (double)(2 * n);

		wander = 0.98 * wander + 0.6 * normal();
		(new ? y : x)[run / 2] =
			1000 * exp(0.01 * (level + wander + normal() + (new ? shift : 0)));
	}
}

#endif
