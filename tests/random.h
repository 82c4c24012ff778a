/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers of simulations: small, the same everywhere, begun by setting rng (not to 0). */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>
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

#endif
