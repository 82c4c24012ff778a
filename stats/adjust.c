// SPDX-License-Identifier: GPL-2.0-or-later
/* Corrections for many rows. Benjamini and Hochberg 1995, as R's p.adjust(method = "BH"). */
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

struct ranked {
	double p;
	size_t index;
};

static int by_p_descending(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p < y->p) - (x->p > y->p);
}

void stats_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
	_cleanup_free_ struct ranked *family = mem_realloc_array(NULL, n, sizeof(*family));
	size_t m = 0;
	double least = 1;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			adjusted[i] = NAN;
		else
			family[m++] = (struct ranked){p[i], i};
	}
	qsort(family, m, sizeof(*family), by_p_descending);
	for (size_t i = 0; i < m; i++) {
		least = fmin(least, (double)m / (m - i) * family[i].p);
		adjusted[family[i].index] = least;
	}
}
