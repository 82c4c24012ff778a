/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of things that can be fetched or built again. Its units are the entries of kernels/,
 * build/, source/, download/ and ranges/, named "kernels/NAME". Each has a lock in locks/, by which programs
 * wait for each other and keep what they use; its time is when the unit was used last.
 */
#ifndef KERNELS_CACHE_H
#define KERNELS_CACHE_H

#include <stdint.h>

#include "core/err.h"

/*
 * Takes the lock of a unit, for this program alone or shared; waits for others (after a note) until
 * a signal comes (-EINTR). A lock that this program has already is converted. Held until
 * cache_unlock or the end of the program: what is shared is never removed.
 */
int cache_lock(struct arena *a, const char *unit, void (*note)(const char *text), struct err *e);
int cache_share(struct arena *a, const char *unit, void (*note)(const char *text), struct err *e);
void cache_unlock(const char *unit);

/* $KDELTA_CACHE_SIZE ("20G" where it is unset), in bytes; -EINVAL: it is no size. */
int cache_limit(int64_t *bytes, struct err *e);

/*
 * Removes units until all together fit into the limit, those used longest ago first and none that
 * any program has locked.
 */
int cache_trim(struct arena *a, void (*note)(const char *text), struct err *e);
/* The same to a limit in bytes; *left: bytes that are there then. */
int cache_trim_to(struct arena *a, int64_t limit, int64_t *left, void (*note)(const char *text),
		  struct err *e);

#endif
