// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/knob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct span knob_value(struct span text)
{
	static const char marks[][2] = {{'[', ']'}, {'(', ')'}};
	struct span rest, word;
	size_t i;

	text = span_trim(text);
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		rest = text;
		while (span_next_word(&rest, &word))
			if (word.len > 2 && word.s[0] == marks[i][0] &&
			    word.s[word.len - 1] == marks[i][1])
				return (struct span){word.s + 1, word.len - 2};
	}
	return text;
}

/* "0x1f", "017", "-1": as the kernel reads numbers; false: none. */
static bool number(struct span s, long long *v)
{
	char buf[32], *end;

	if (!s.len || s.len >= sizeof(buf))
		return false;
	memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
	errno = 0;
	*v = strtoll(buf, &end, 0);
	if (*end == '\0')
		return !errno;
	*v = span_is(s, "Y") || span_is(s, "y");
	return *v || span_is(s, "N") || span_is(s, "n");
}

static bool word_equal(struct span x, struct span y)
{
	long long a, b;

	if (x.len == y.len && !memcmp(x.s, y.s, x.len))
		return true;
	return number(x, &a) && number(y, &b) && a == b;
}

bool knob_equal(struct span x, struct span y)
{
	struct span a, b;

	x = span_trim(x);
	y = span_trim(y);
	while (span_next_word(&x, &a))
		if (!span_next_word(&y, &b) || !word_equal(a, b))
			return false;
	return !span_next_word(&y, &b);
}
