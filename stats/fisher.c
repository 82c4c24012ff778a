// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates: Fisher's exact test of two counts, as R's fisher.test() of a 2 x 2 table. */
#include "stats/stats.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/* Tables as likely as the one at hand belong to the tail: rounding must not leave them out. */
#define RELATIVE (1 + 1e-7)

double stats_fisher(int x, int nx, int y, int ny)
{
	int all = x + y, low, high, k;
	double at, p, sum = 0;

	if (nx <= 0 || ny <= 0 || x < 0 || y < 0 || x > nx || y > ny)
		return NAN;
	low = all > ny ? all - ny : 0;
	high = all < nx ? all : nx;
	/* of `all` events among nx + ny runs, how likely are k among the nx? */
	at = dhyper(x, all, nx + ny - all, nx, 0);
	for (k = low; k <= high; k++) {
		p = dhyper(k, all, nx + ny - all, nx, 0);
		if (p <= at * RELATIVE)
			sum += p;
	}
	return sum < 1 ? sum : 1;
}
