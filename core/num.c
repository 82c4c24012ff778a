// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/num.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Digits, at most one point, an optional exponent; strtod alone would take "0x1p3" and "inf". */
static bool num_has_shape(struct span s)
{
	size_t i = 0, digits = 0;

	if (i < s.len && (s.s[i] == '-' || s.s[i] == '+'))
		i++;
	for (; i < s.len && isdigit((unsigned char)s.s[i]); i++)
		digits++;
	if (i < s.len && s.s[i] == '.')
		for (i++; i < s.len && isdigit((unsigned char)s.s[i]); i++)
			digits++;
	if (!digits)
		return false;
	if (i < s.len && (s.s[i] == 'e' || s.s[i] == 'E')) {
		i++;
		if (i < s.len && (s.s[i] == '-' || s.s[i] == '+'))
			i++;
		if (i == s.len || !isdigit((unsigned char)s.s[i]))
			return false;
		while (i < s.len && isdigit((unsigned char)s.s[i]))
			i++;
	}
	return i == s.len;
}

/*
 * Plain decimals of at most 15 digits, "1234", "-0.25": both the digits and the power of ten are
 * exact as doubles, so one division rounds as strtod() does. False: something else.
 */
static bool num_parse_plain(struct span s, double *out)
{
	static const double tens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,	1e6,  1e7,
				      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	const char *p = s.s, *end = s.s + s.len, *point = NULL;
	bool minus = p < end && *p == '-';
	size_t digits;
	uint64_t n = 0;
	double v;

	p += minus;
	if (end - p > 16)
		return false;
	digits = (size_t)(end - p);
	for (; p < end; p++) {
		if (*p >= '0' && *p <= '9') {
			n = n * 10 + (uint64_t)(*p - '0');
		} else if (*p == '.' && !point) {
			point = p;
			digits--;
		} else {
			return false;
		}
	}
	if (!digits || digits > 15)
		return false;
	v = point ? (double)n / tens[end - point - 1] : (double)n;
	*out = minus ? -v : v;
	return true;
}

bool num_parse(struct span s, double *out)
{
	char buf[512];
	double v;

	if (num_parse_plain(s, out))
		return true;
	if (s.len >= sizeof(buf) || !num_has_shape(s))
		return false;
	memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
	v = strtod(buf, NULL);
	if (!isfinite(v))
		return false;
	*out = v;
	return true;
}

bool num_parse_int(struct span s, int64_t *out)
{
	char buf[32], *end;
	long long v;

	if (!s.len || s.len >= sizeof(buf) || !(isdigit((unsigned char)*s.s) || *s.s == '-'))
		return false;
	memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
	errno = 0;
	v = strtoll(buf, &end, 10);
	if (errno || *end || end == buf)
		return false;
	*out = v;
	return true;
}

bool num_next_range(struct span *list, int64_t *first, int64_t *last, bool *more)
{
	const char *comma = memchr(list->s, ',', list->len);
	struct span part = {list->s, comma ? (size_t)(comma - list->s) : list->len};
	const char *dash = memchr(part.s, '-', part.len);
	size_t n = dash ? (size_t)(dash - part.s) : part.len;

	if (!num_parse_int((struct span){part.s, n}, first))
		return false;
	*last = *first;
	if (dash && !num_parse_int((struct span){dash + 1, part.len - n - 1}, last))
		return false;
	if (*first < 0 || *last < *first)
		return false;
	span_skip(list, part.len + (comma != NULL));
	if (more)
		*more = comma != NULL;
	return true;
}

static bool num_parse_unit(const char *s, double *v, const char **unit)
{
	size_t n = strspn(s, "0123456789.");

	*unit = s + n;
	return n && num_parse((struct span){s, n}, v);
}

bool num_parse_duration(const char *s, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1},	  {"s", 1},    {"ms", 1e-3}, {"us", 1e-6}, {"m", 60},
		     {"min", 60}, {"h", 3600}, {"d", 86400}, {"sec", 1},   {"day", 86400},
		     {"days", 86400}};
	const char *unit;
	double v;
	size_t i;

	if (!num_parse_unit(s, &v, &unit))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(unit, units[i].unit)) {
			*seconds = v * units[i].seconds;
			return true;
		}
	}
	return false;
}

bool num_parse_size(const char *s, int64_t *bytes)
{
	static const char letters[] = "kMGT";
	const char *unit, *p;
	double v, scale = 1;

	if (!num_parse_unit(s, &v, &unit))
		return false;
	if (*unit) {
		p = strchr(letters, *unit == 'K' ? 'k' : *unit);
		if (!p)
			return strcmp(unit, "B") ? false : (*bytes = (int64_t)v, true);
		scale = pow(1024, (double)(p - letters + 1));
		unit++;
		if (*unit && strcmp(unit, "B") && strcmp(unit, "iB"))
			return false;
	}
	if (v * scale > 9e18)
		return false;
	*bytes = (int64_t)(v * scale);
	return true;
}

void num_add_duration(struct strbuf *sb, double seconds)
{
	long s = lround(seconds);

	if (seconds < 9.95)
		strbuf_addf(sb, "%.1fs", seconds);
	else if (s < 60)
		strbuf_addf(sb, "%lds", s);
	else if (s < 3600)
		strbuf_addf(sb, "%ldm %02lds", s / 60, s % 60);
	else
		strbuf_addf(sb, "%ldh %02ldm", s / 3600, s % 3600 / 60);
}

char *num_duration(struct arena *a, double seconds)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	num_add_duration(&sb, seconds);
	return arena_strdup(a, strbuf_str(&sb));
}

void num_add_exact(struct strbuf *sb, double v)
{
	char buf[40];
	int prec;

	for (prec = 6; prec <= 17; prec++) {
		snprintf(buf, sizeof(buf), "%.*g", prec, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	strbuf_adds(sb, buf);
}

char *num_iso_time(struct arena *a, int64_t unix_seconds)
{
	time_t t = unix_seconds;
	struct tm tm;
	char buf[32];

	gmtime_r(&t, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return arena_strdup(a, buf);
}

double num_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}
