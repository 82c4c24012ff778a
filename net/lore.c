// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What public-inbox serves (its documentation, public-inbox-httpd and PublicInbox::WWW):
 *
 *	https://lore.kernel.org/lkml/ID/       a message as a page; also ID/T/, ID/t/ (the thread)
 *	https://lore.kernel.org/lkml/ID/raw    the message itself
 *	https://lore.kernel.org/r/ID           a redirect to /all/ID/
 *
 * A "/" in an ID is written %2F.
 */
#include "net/lore.h"

#include <ctype.h>
#include <string.h>

#include "core/str.h"

/* "id@host": printable, one @ inside, no bracket. */
static bool is_message_id(struct span s)
{
	size_t i, at = 0, n = 0;

	for (i = 0; i < s.len; i++) {
		if (!isgraph((unsigned char)s.s[i]) || strchr("<>,", s.s[i]))
			return false;
		if (s.s[i] == '@') {
			at = i;
			n++;
		}
	}
	return n == 1 && at && at + 1 < s.len;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *p = strchr(digits, tolower((unsigned char)c));

	return c && p ? (int)(p - digits) : -1;
}

static char *percent_decode(struct arena *a, struct span s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t i, n = 0;

	for (i = 0; i < s.len; i++) {
		int high = s.s[i] == '%' && i + 2 < s.len ? hex_digit(s.s[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s.s[i + 2]) : -1;

		if (low < 0) {
			out[n++] = s.s[i];
			continue;
		}
		out[n++] = (char)(high << 4 | low);
		i += 2;
	}
	return out;
}

static char *percent_encode(struct arena *a, const char *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("@-._~+=!$&'()*,;:", *s))
			strbuf_addc(&sb, *s);
		else
			strbuf_addf(&sb, "%%%02X", (unsigned char)*s);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/*
 * An address of a message: *folder is what stands before the ID ("https://host/lkml/"), *raw
 * whether it names the raw form (or another file of the message) already.
 */
static char *id_of_address(struct arena *a, const char *url, struct span *folder, bool *raw)
{
	const char *start = strstr(url, "://"), *s;
	char *id;

	start = start ? strchr(start + 3, '/') : NULL;
	for (s = start; s && *s == '/'; s += 1 + strcspn(s + 1, "/?#")) {
		struct span part = {s + 1, strcspn(s + 1, "/?#")};

		id = percent_decode(a, part);
		if (!is_message_id(span_of(id)))
			continue;
		*folder = (struct span){url, (size_t)(part.s - url)};
		s = part.s + part.len;
		*raw = *s == '/' && !strchr("/?#tT", s[1]);
		if (*s == '/' && (s[1] == 't' || s[1] == 'T') && s[2] && !strchr("/?#", s[2]))
			*raw = true; /* t.mbox.gz */
		return id;
	}
	return NULL;
}

char *lore_message_id(struct arena *a, const char *text)
{
	struct span s = span_trim(span_of(text)), folder;
	bool raw;

	if (strstr(text, "://"))
		return id_of_address(a, text, &folder, &raw);
	if (s.len > 2 && s.s[0] == '<' && s.s[s.len - 1] == '>')
		s = (struct span){s.s + 1, s.len - 2};
	return is_message_id(s) ? arena_strndup(a, s.s, s.len) : NULL;
}

char *lore_raw_address(struct arena *a, const char *operand, const char *base)
{
	struct span folder;
	bool raw = false;
	char *id;

	if (*operand == '<') {
		id = lore_message_id(a, operand);
		return id ? arena_printf(a, "%s%s%s/raw", base, str_ends(base, "/") ? "" : "/",
					 percent_encode(a, id))
			  : NULL;
	}
	if (!strstr(operand, "://"))
		return NULL;
	id = id_of_address(a, operand, &folder, &raw);
	if (!id || raw)
		return arena_strdup(a, operand);
	/* the short form /r/ID only redirects to /all/ID/ */
	if (folder.len > 3 && !memcmp(folder.s + folder.len - 3, "/r/", 3))
		return arena_printf(a, "%.*s/all/%s/raw", (int)(folder.len - 3), folder.s,
				    percent_encode(a, id));
	return arena_printf(a, "%.*s%s/raw", (int)folder.len, folder.s, percent_encode(a, id));
}
