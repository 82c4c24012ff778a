/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and units, independent of the locale: the program never calls setlocale(LC_NUMERIC),
 * and everything that reads or prints a number goes through here or printf.
 */
#ifndef CORE_NUM_H
#define CORE_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

/*
 * The whole span as a finite decimal number ("12", "-3.5", "1.2e+06"); no blanks, no hex, no
 * inf/nan, no decimal comma. Returns false and leaves *out alone otherwise.
 */
bool num_parse(struct span s, double *out);
bool num_parse_int(struct span s, int64_t *out);
/*
 * Takes "0-3," or "8" off a list such as "0-3,8": first to last of it, neither negative nor the wrong
 * way round. more (may be NULL): a comma stood behind it. Returns false where there is no range.
 */
bool num_next_range(struct span *list, int64_t *first, int64_t *last, bool *more);

/* Seconds from "5", "5s", "250ms", "2m", "1h", "90days"; false if it is none of these. */
bool num_parse_duration(const char *s, double *seconds);
/* Bytes from "512M", "64k", "2GiB" (powers of 1024); false if it is none of these. */
bool num_parse_size(const char *s, int64_t *bytes);

/* "4m 32s", "1h 05m", "12s", "0.4s" for people. */
void num_add_duration(struct strbuf *sb, double seconds);
char *num_duration(struct arena *a, double seconds);
/* Shortest decimal text that reads back as the same double ("nan" never: callers check). */
void num_add_exact(struct strbuf *sb, double v);
/* Current time as ISO 8601 UTC, "2026-11-30T10:31:46Z", into the arena. */
char *num_iso_time(struct arena *a, int64_t unix_seconds);
/* Monotonic clock in seconds. */
double num_monotonic(void);

#endif
