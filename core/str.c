// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void strbuf_room(struct strbuf *sb, size_t extra)
{
	if (sb->len + extra + 1 <= sb->alloc)
		return;
	sb->alloc = MAX(sb->alloc * 2, sb->len + extra + 64);
	sb->buf = mem_realloc_array(sb->buf, sb->alloc, 1);
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	strbuf_room(sb, len);
	if (len)
		memcpy(sb->buf + sb->len, data, len);
	sb->len += len;
	sb->buf[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	strbuf_room(sb, (size_t)n);
	vsnprintf(sb->buf + sb->len, (size_t)n + 1, fmt, ap);
	sb->len += (size_t)n;
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_pad(struct strbuf *sb, size_t len)
{
	while (sb->len < len)
		strbuf_addc(sb, ' ');
}

void strbuf_rtrim(struct strbuf *sb)
{
	while (sb->len && isspace((unsigned char)sb->buf[sb->len - 1]))
		sb->buf[--sb->len] = '\0';
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->buf)
		sb->buf[0] = '\0';
}

void strbuf_release(struct strbuf *sb)
{
	free(sb->buf);
	*sb = (struct strbuf)STRBUF_INIT;
}

char *strbuf_take(struct strbuf *sb)
{
	char *s;

	strbuf_room(sb, 0);
	sb->buf[sb->len] = '\0';
	s = sb->buf;
	*sb = (struct strbuf)STRBUF_INIT;
	return s;
}

const char *strbuf_str(const struct strbuf *sb)
{
	return sb->buf ? sb->buf : "";
}

bool span_next_line(struct span *rest, struct span *line, bool *complete)
{
	const char *end;

	if (!rest->len)
		return false;
	end = memchr(rest->s, '\n', rest->len);
	line->s = rest->s;
	line->len = end ? (size_t)(end - rest->s) : rest->len;
	if (complete)
		*complete = end != NULL;
	rest->s += line->len + (end ? 1 : 0);
	rest->len -= line->len + (end ? 1 : 0);
	if (line->len && line->s[line->len - 1] == '\r')
		line->len--;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool span_next_word(struct span *rest, struct span *word)
{
	while (rest->len && is_blank(*rest->s))
		rest->s++, rest->len--;
	word->s = rest->s;
	word->len = 0;
	while (rest->len && !is_blank(*rest->s))
		rest->s++, rest->len--, word->len++;
	return word->len > 0;
}

struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

struct span span_trim(struct span s)
{
	while (s.len && isspace((unsigned char)*s.s))
		s.s++, s.len--;
	while (s.len && isspace((unsigned char)s.s[s.len - 1]))
		s.len--;
	return s;
}

struct span span_strip(struct span s, const char *ends)
{
	while (s.len && strchr(ends, s.s[0]))
		span_skip(&s, 1);
	while (s.len && strchr(ends, s.s[s.len - 1]))
		s.len--;
	return s;
}

void span_skip(struct span *s, size_t n)
{
	s->s += n;
	s->len -= n;
}

void span_skip_blanks(struct span *s)
{
	while (s->len && s->s[0] == ' ')
		span_skip(s, 1);
}

char span_next_char(struct span *s)
{
	span_skip_blanks(s);
	if (!s->len)
		return '\0';
	s->len--;
	return *s->s++;
}

char *span_join_words(struct arena *a, struct span s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span word;

	while (span_next_word(&s, &word)) {
		if (sb.len)
			strbuf_addc(&sb, ' ');
		strbuf_add(&sb, word.s, word.len);
	}
	return arena_strndup(a, strbuf_str(&sb), sb.len);
}

bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.s, text, s.len);
}

bool span_starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && !memcmp(s.s, prefix, n);
}

const char *span_find(struct span s, const char *text)
{
	return s.len ? memmem(s.s, s.len, text, strlen(text)) : NULL;
}

size_t span_utf8(struct span s, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)s.s[0];
	size_t len = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
	size_t i;

	if (c >= 0xf8 || !len || len > s.len)
		return 0;
	*cp = len == 1 ? c : c & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if (((unsigned char)s.s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | ((unsigned char)s.s[i] & 0x3f);
	}
	if (*cp < least[len] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return len;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

bool str_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool str_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *mark = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = pattern++;
			mark = s;
		} else if (*pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star + 1;
			s = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Optimal string alignment distance; words longer than the table are never near. */
static size_t str_distance(const char *a, const char *b)
{
	enum { LONGEST = 40 };
	size_t n = strlen(a), m = strlen(b), i, j;
	size_t d[LONGEST + 1][LONGEST + 1];

	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, d[i - 1][j] + 1);
			best = MIN(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[n][m];
}

const char *str_suggest(const char *word, const char *const *words)
{
	const char *best = NULL;
	size_t least = MAX(strlen(word), (size_t)3) / 3 + 1;

	for (; *words; words++) {
		size_t d = str_distance(word, *words);

		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}

void str_quote_shell(struct strbuf *sb, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./=:,+@%^";

	if (*arg && strspn(arg, plain) == strlen(arg)) {
		strbuf_adds(sb, arg);
		return;
	}
	strbuf_addc(sb, '\'');
	for (; *arg; arg++) {
		if (*arg == '\'')
			strbuf_adds(sb, "'\\''");
		else
			strbuf_addc(sb, *arg);
	}
	strbuf_addc(sb, '\'');
}

int str_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void str_mask_controls(char *s, size_t len, char by)
{
	for (; len; s++, len--)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = by;
}
