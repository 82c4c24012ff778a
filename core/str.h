/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing strings, lines of a text, and suggestions for misspelt words. */
#ifndef CORE_STR_H
#define CORE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"

/* buf is always NUL-terminated after the first add; it may hold NULs itself. */
struct strbuf {
	char *buf;
	size_t len, alloc;
};
#define STRBUF_INIT                                                                                \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}
#define _cleanup_strbuf_ _cleanup_(strbuf_release)

void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) _printf_(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap) _printf_(2, 0);
/* Pads with blanks until the buffer is at least len bytes long. */
void strbuf_pad(struct strbuf *sb, size_t len);
void strbuf_rtrim(struct strbuf *sb);
void strbuf_reset(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);
/* Hands the buffer to the caller (never NULL), leaving sb empty. */
char *strbuf_take(struct strbuf *sb);
/* The text, "" when nothing was added. */
const char *strbuf_str(const struct strbuf *sb);

/* A part of a larger text, not NUL-terminated. */
struct span {
	const char *s;
	size_t len;
};

/*
 * Takes the next line off *rest, without its end ("\n" or "\r\n").
 * complete (may be NULL): whether the line had an end. Returns false at the end of the text.
 */
bool span_next_line(struct span *rest, struct span *line, bool *complete);
/* Takes the next word (blanks and tabs separate) off *rest. */
bool span_next_word(struct span *rest, struct span *word);
struct span span_of(const char *s);
struct span span_trim(struct span s);
/* Without characters of a set at both ends. */
struct span span_strip(struct span s, const char *ends);
/* Takes n bytes, of which there are as many, or the blanks at its start off *s. */
void span_skip(struct span *s, size_t n);
void span_skip_blanks(struct span *s);
/* Takes one character after blanks off *s; '\0' at the end. */
char span_next_char(struct span *s);
/* Words with one blank between them. */
char *span_join_words(struct arena *a, struct span s);
bool span_is(struct span s, const char *text);
bool span_starts(struct span s, const char *prefix);
/* First place of text in s, or NULL. */
const char *span_find(struct span s, const char *text);

/* One character of UTF-8 at s, which is not empty: its length, 0 if the bytes are no UTF-8. */
size_t span_utf8(struct span s, uint32_t *cp);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Equality that takes NULL; two NULLs are equal. */
bool str_equal(const char *a, const char *b);
/* Shell-like pattern with '*' only, whole string. */
bool str_glob(const char *pattern, const char *s);

/*
 * The word of a NULL-terminated list nearest to a misspelt one (Damerau-Levenshtein distance of
 * at most a third of its length), or NULL.
 */
const char *str_suggest(const char *word, const char *const *words);

/* Quotes an argument for display in a shell command line; appends to sb. */
void str_quote_shell(struct strbuf *sb, const char *arg);

/* For qsort and bsearch of texts, char *: bytewise. */
int str_compare(const void *a, const void *b);
/* ASCII control characters of len bytes (NUL too) become `by`. */
void str_mask_controls(char *s, size_t len, char by);

#endif
