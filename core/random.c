// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/random.h"

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Draws that would favour small results are thrown away. */
uint64_t random_below(uint64_t *state, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do
		v = random_next(state);
	while (v >= limit);
	return v % n;
}

void random_shuffle(uint64_t *state, int *list, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t k = random_below(state, i);
		int swap = list[i - 1];

		list[i - 1] = list[k];
		list[k] = swap;
	}
}
