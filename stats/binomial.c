// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/stats.h"

#include <math.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

struct interval stats_binomial(double k, double n, double level)
{
	struct interval r = {NAN, NAN, level, NAN, NAN};

	if (!(n > 0) || !isfinite(n) || !(k >= 0 && k <= n) || !(level > 0 && level < 1))
		return r;
	r.estimate = k / n;
	r.low = k > 0 ? qbeta((1 - level) / 2, k, n - k + 1, 1, 0) : 0;
	r.high = k < n ? qbeta((1 + level) / 2, k + 1, n - k, 1, 0) : 1;
	r.achieved = level;
	return r;
}
