// SPDX-License-Identifier: GPL-2.0-or-later
/* One row of a comparison: the test, then the two questions "is it real?" and "is it large?". */
#include "stats/stats.h"

#include <math.h>
#include <strings.h>

#include "core/mem.h"
#include "stats/internal.h"

static const char *const direction_names[] = {
	[DIR_HIGHER] = "higher",   [DIR_LOWER] = "lower",     [DIR_NEUTRAL] = "neutral",
	[DIR_DEPENDS] = "depends", [DIR_UNKNOWN] = "unknown",
};

static const char *const verdict_names[] = {
	[VERDICT_BETTER] = "better",
	[VERDICT_WORSE] = "worse",
	[VERDICT_SAME] = "same",
	[VERDICT_UNSURE] = "unsure",
	[VERDICT_CHANGED] = "changed",
	[VERDICT_MISSING] = "missing",
	[VERDICT_FAILED] = "failed",
	[VERDICT_MIXED] = "mixed",
	[VERDICT_INCOMPLETE] = "incomplete",
};

const char *direction_name(enum direction d)
{
	return direction_names[d];
}

bool direction_parse(const char *name, enum direction *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(direction_names); i++) {
		if (strcasecmp(name, direction_names[i]) == 0) {
			*d = i;
			return true;
		}
	}
	return false;
}

const char *verdict_name(enum verdict v)
{
	return verdict_names[v];
}

/* The logs of n values in to; false, with to undefined, if one of them has none. */
static bool take_logs(const double *x, size_t n, double *to)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return false;
		to[i] = log(x[i]);
	}
	return true;
}

struct test_result stats_test(enum mean_kind kind, const double *x, size_t nx, const double *y,
			      size_t ny, double level)
{
	_cleanup_free_ double *logs = mem_realloc_array(NULL, nx + ny, sizeof(*logs));
	double base = stats_mean(kind, x, nx), new = stats_mean(kind, y, ny);
	struct test_result t = {.test = "none", .level = level, .low = NAN, .high = NAN, .p = NAN};
	struct interval shift;

	t.pooled_sd = stats_pooled_log_sd(x, nx, y, ny);
	t.on_log = take_logs(x, nx, logs) && take_logs(y, ny, logs + nx);
	t.change = t.on_log ? new / base - 1 : new - base;
	t.scale = t.on_log ? 1 : fabs(stats_amean(x, nx));
	if (t.on_log) {
		x = logs;
		y = logs + nx;
	}
	shift = stats_hodges_lehmann(x, nx, y, ny, level);
	t.shift = shift.estimate;
	t.welch_p = stats_welch(x, nx, y, ny);
	if (MIN(nx, ny) >= STATS_TEST_MIN) {
		t.p = stats_mann_whitney(x, nx, y, ny);
		t.low = shift.low;
		t.high = shift.high;
	}
	if (t.on_log) {
		t.shift = expm1(t.shift);
		t.low = expm1(t.low);
		t.high = expm1(t.high);
	}
	if (!isnan(t.p))
		t.test = "mw";
	t.p_adjusted = t.p;
	return t;
}

double stats_deciding_change(const struct test_result *t)
{
	/* The mean is not defined for the harmonic mean of a zero. */
	bool outside = isnan(t->change) || t->change < t->low || t->change > t->high;

	return outside ? t->shift : t->change;
}

static enum verdict verdict_word(enum direction dir, double change)
{
	if (dir == DIR_HIGHER)
		return change > 0 ? VERDICT_BETTER : VERDICT_WORSE;
	if (dir == DIR_LOWER)
		return change < 0 ? VERDICT_BETTER : VERDICT_WORSE;
	return VERDICT_CHANGED;
}

enum verdict stats_verdict(const struct test_result *t, enum direction dir, double threshold,
			   double q, bool *small)
{
	double limit = threshold * t->scale, change = stats_deciding_change(t);

	*small = false;
	if (t->p_adjusted <= q && fabs(change) > 0) {
		*small = fabs(change) < limit;
		return verdict_word(dir, change);
	}
	if (t->low >= -limit && t->high <= limit)
		return VERDICT_SAME;
	return VERDICT_UNSURE;
}
