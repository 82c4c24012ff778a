/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers that a stored seed repeats everywhere and for ever: splitmix64 (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The state starts as the
 * seed.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint64_t random_next(uint64_t *state);
/* Uniform below n > 0. */
uint64_t random_below(uint64_t *state, uint64_t n);
/* Puts a list into an order of which each is as likely. */
void random_shuffle(uint64_t *state, int *list, size_t n);

#endif
