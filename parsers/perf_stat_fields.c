// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines of perf stat -x and -j: see perf_stat.c for samples. */
#include "parsers/perf_stat.h"

#include <ctype.h>
#include <string.h>

#include "core/num.h"

/* Lines of perf that are counters also where the header is missing. */
static const char *const known_events[] = {
	"task-clock",	   "cpu-clock",	   "context-switches", "cpu-migrations", "page-faults",
	"minor-faults",	   "major-faults", "cycles",	       "instructions",	 "branches",
	"branch-misses",   "cache-misses", "cache-references", "ref-cycles",	 "cs",
	"L1-dcache-loads", "LLC-loads",	   "duration_time",    "cpu-cycles",	 NULL,
};

bool perf_is_time(struct span w)
{
	const char *dot = memchr(w.s, '.', w.len);
	double v;

	w = span_trim(w);
	return dot && w.s + w.len - dot == 10 && num_parse(w, &v) && v >= 0;
}

bool perf_is_label(struct span w)
{
	size_t i = span_starts(w, "CPU") ? 3 : 1;

	w = span_trim(w);
	if (w.len <= i || (i == 1 && !memchr("SNDC", *w.s, 4)) || !isdigit((unsigned char)w.s[i]))
		return false;
	for (; i < w.len; i++)
		if (!isalnum((unsigned char)w.s[i]) && w.s[i] != '-')
			return false;
	return true;
}

bool perf_is_event(struct span w)
{
	size_t i;

	if (w.len < 2 || !(isalpha((unsigned char)*w.s) || *w.s == '{'))
		return false;
	for (i = 0; i < w.len; i++)
		if (!isalnum((unsigned char)w.s[i]) && !strchr("-_:/.,=@{}+#?*", w.s[i]))
			return false;
	return true;
}

bool perf_is_known(struct span event)
{
	size_t i, n;

	for (i = 0; known_events[i]; i++) {
		n = strlen(known_events[i]);
		if (span_starts(event, known_events[i]) && (event.len == n || event.s[n] == ':'))
			return true;
	}
	return false;
}

/* The string or number of a key of the line's object. */
static bool json_field(struct span line, const char *key, struct span *value)
{
	const char *at = span_find(line, key), *end = line.s + line.len, *stop;

	if (!at)
		return false;
	at += strlen(key);
	while (at < end && (isspace((unsigned char)*at) || *at == ':'))
		at++;
	if (at < end && *at == '"') {
		at++;
		stop = memchr(at, '"', (size_t)(end - at));
	} else {
		for (stop = at; stop < end && *stop != ',' && *stop != '}' && *stop != ' '; stop++)
			;
	}
	*value = (struct span){at, stop ? (size_t)(stop - at) : 0};
	return stop && stop < end && stop > at;
}

enum perf_line perf_read_json(struct span line, bool cut, struct perf_reading *r)
{
	*r = (struct perf_reading){.exact = true};
	line = span_trim(line);
	if (!line.len || *line.s != '{' || !json_field(line, "\"counter-value\"", &r->value))
		return PERF_NO_COUNTER;
	if (!json_field(line, "\"event\"", &r->event))
		return cut ? PERF_CUT : PERF_NO_COUNTER;
	json_field(line, "\"interval\"", &r->time);
	json_field(line, "\"unit\"", &r->unit);
	r->none = *r->value.s == '<';
	return PERF_COUNTER;
}

/* Splits at the separator; returns how many fields there are, at most max. */
static size_t split(struct span line, char separator, struct span *fields, size_t max)
{
	size_t n = 0;

	while (n < max) {
		const char *end = memchr(line.s, separator, line.len);

		fields[n++] =
			span_trim((struct span){line.s, end ? (size_t)(end - line.s) : line.len});
		if (!end)
			break;
		line.len -= (size_t)(end + 1 - line.s);
		line.s = end + 1;
	}
	return n;
}

static bool is_missing(struct span w)
{
	return span_is(w, "<not counted>") || span_is(w, "<not supported>");
}

/* "8.32%" or "384189895", in some locales "100,00": what stands behind the event */
static bool is_csv_number(struct span w)
{
	size_t i;

	if (w.len && w.s[w.len - 1] == '%')
		w.len--;
	for (i = 0; i < w.len; i++)
		if (!isdigit((unsigned char)w.s[i]) && w.s[i] != '.' && w.s[i] != ',')
			return false;
	return w.len;
}

/*
 * The fields of a counter: value, unit, event, run time, percentage. In front of them may stand the
 * time, a label and a number of CPUs. A decimal comma tears them apart: that is bad_number.
 */
static enum perf_line read_fields(const struct span *f, size_t n, struct perf_reading *r)
{
	size_t at = 0;
	double v;

	*r = (struct perf_reading){.exact = true};
	if (n > 5 && perf_is_time(f[0]))
		r->time = f[at++];
	if (at + 5 < n && perf_is_label(f[at])) {
		at++;
		/* "S0,2,5103,,context-switches" */
		if (at + 5 < n && num_parse(f[at], &v) &&
		    (is_missing(f[at + 1]) || scan_is_figure(f[at + 1])) &&
		    perf_is_event(f[at + 3]))
			at++;
	}
	if (at + 6 < n && scan_is_figure(f[at]) && scan_is_figure(f[at + 1]) &&
	    perf_is_event(f[at + 3]) && is_csv_number(f[at + 4]))
		return PERF_BAD_NUMBER;
	if (at + 4 >= n || !(is_missing(f[at]) || scan_is_figure(f[at])) ||
	    (f[at + 1].len && scan_is_figure(f[at + 1])) || !perf_is_event(f[at + 2]) ||
	    !is_csv_number(f[at + 3]) || !is_csv_number(f[at + 4]))
		return PERF_NO_COUNTER;
	r->value = f[at];
	r->none = is_missing(f[at]);
	r->unit = f[at + 1];
	r->event = f[at + 2];
	return PERF_COUNTER;
}

enum perf_line perf_read_csv(struct span line, bool cut, char *separator, struct perf_reading *r)
{
	static const char separators[] = ",;\t|:";
	enum perf_line found, all = PERF_NO_COUNTER;
	struct span fields[12];
	const char *sep;
	size_t n;

	for (sep = separators; *sep; sep++) {
		if (*separator && *sep != *separator)
			continue;
		n = split(line, *sep, fields, ARRAY_SIZE(fields));
		found = n < 5 ? PERF_NO_COUNTER : read_fields(fields, n, r);
		if (found == PERF_COUNTER) {
			*separator = *sep;
			return found;
		}
		all = MAX(all, found);
	}
	if (all == PERF_NO_COUNTER && cut && *separator && memchr(line.s, *separator, line.len))
		return PERF_CUT;
	return all;
}

/* Whether a line holds a known event of -x, at most three fields behind its beginning. */
bool perf_is_csv(struct span line)
{
	struct span f[8];
	char separator = memchr(line.s, ';', line.len) ? ';' : ',';
	size_t n = split(line, separator, f, ARRAY_SIZE(f)), at;

	for (at = 0; at + 4 < n; at++)
		if ((is_missing(f[at]) || scan_is_figure(f[at])) && perf_is_known(f[at + 2]) &&
		    is_csv_number(f[at + 3]) && is_csv_number(f[at + 4]))
			return true;
	return false;
}
