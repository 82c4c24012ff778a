/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of stats/ share; nobody else includes it. */
#ifndef STATS_INTERNAL_H
#define STATS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* False if any of the n values is NAN or infinite. */
bool stats_all_finite(const double *x, size_t n);

/*
 * Ascending copy of n finite values, to be freed by the caller. Shell's sort: the samples are
 * small and the calls many, and qsort() costs six times as much through its callback.
 */
double *stats_sorted(const double *x, size_t n);
/* The same in place. */
void stats_sort(double *v, size_t n);

/* Median of n ascending values, n > 0. */
double stats_median_sorted(const double *v, size_t n);

/* Sum of squared deviations from the mean; 0 for n = 0. */
long double stats_square_sum(const double *x, size_t n);

#endif
