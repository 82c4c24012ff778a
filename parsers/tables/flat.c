// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Quoted mail whose lines were all joined to one, as some archives and clipboards leave it. The
 * quote marks are all that is left of the line ends; soft breaks of quoted-printable became "= ":
 *
 *	> 54543 =B111% -37.2% 34252 =B116% TOTAL cpuidle.C1-IVT.usage > 19542 =B1 9% -38.3%
 *	12057 =B1 4% TOTAL cpuidle.C1E-IVT.usa= ge > 4529818 =B1 1% -8.8% ...   (one line)
 */
#include "parsers/tables/tables.h"

#include <ctype.h>
#include <string.h>

enum { LEAST_LENGTH = 200, LEAST_MARKS = 4 };

/* A blank, marks, and then text; not the redirection of "echo 3 > /proc/...". */
static bool is_line_start(struct span s, size_t i)
{
	if (!i || s.s[i] != '>' || s.s[i - 1] != ' ')
		return false;
	while (i < s.len && s.s[i] == '>')
		i++;
	if (i == s.len || s.s[i] == '=')
		return true;
	return s.s[i] == ' ' && i + 1 < s.len && s.s[i + 1] != '/' && s.s[i + 1] != '$';
}

bool table_is_flattened(struct span s)
{
	size_t marks = 0, i;

	if (s.len < LEAST_LENGTH || s.s[0] != '>')
		return false;
	for (i = 1; i < s.len; i++)
		marks += is_line_start(s, i);
	return marks >= LEAST_MARKS;
}

/* "usa= ge" -> "usage", where the text has escapes like "=B1" too. */
static struct span join_soft_breaks(struct arena *a, struct span s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < s.len; i++) {
		if (s.s[i] == '=' && i && isalnum((unsigned char)s.s[i - 1]) && i + 2 < s.len &&
		    s.s[i + 1] == ' ' && (isalnum((unsigned char)s.s[i + 2]) || s.s[i + 2] == '_'))
			i++;
		else
			strbuf_addc(&sb, s.s[i]);
	}
	return (struct span){arena_strndup(a, strbuf_str(&sb), sb.len), sb.len};
}

static bool has_escapes(struct span s)
{
	size_t i;

	for (i = 0; i + 2 < s.len; i++)
		if (s.s[i] == '=' && isxdigit((unsigned char)s.s[i + 1]) &&
		    isxdigit((unsigned char)s.s[i + 2]))
			return true;
	return false;
}

size_t table_unflatten(struct arena *a, struct span line, struct span **parts)
{
	size_t n = 0, from = 0, i;
	bool encoded;

	if (!table_is_flattened(line))
		return 0;
	encoded = has_escapes(line);
	for (i = 1; i < line.len; i++)
		n += is_line_start(line, i);
	*parts = arena_alloc_array(a, n + 1, sizeof(**parts));
	n = 0;
	for (i = 1; i <= line.len; i++) {
		struct span part = {line.s + from, i - from};

		if (i < line.len && !is_line_start(line, i))
			continue;
		part = span_trim(part);
		if (part.len)
			(*parts)[n++] = encoded ? join_soft_breaks(a, part) : part;
		from = i;
	}
	return n;
}
