// SPDX-License-Identifier: GPL-2.0-or-later
/* The subject of a report that is sent: the first words of the report itself, cut to one line. */
#include <ctype.h>
#include <string.h>

#include "reports/layout.h"

#define SUBJECT_MOST 100 /* columns; list archives show about so many */
#define NAME_MOST    32
#define LETTERS	     " against A: B " /* the names of the two say as much */

/* The sentence of one benchmark without its full stop. */
static const char *sentence(const struct view *v, const char *benchmark)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct text t = {v->a, &sb, 10000, false};
	const char *letters;

	words_sentence(&t, v, benchmark);
	strbuf_rtrim(&sb);
	if (str_ends(strbuf_str(&sb), "."))
		sb.buf[--sb.len] = '\0';
	letters = v->c->n_variants == 2 ? strstr(strbuf_str(&sb), LETTERS) : NULL;
	if (!letters)
		return arena_strdup(v->a, strbuf_str(&sb));
	return arena_printf(v->a, "%.*s: %s", (int)(letters - sb.buf), sb.buf,
			    letters + strlen(LETTERS));
}

/* "tbench: BETTER" of "tbench: BETTER. 1 client +1.2%, ..."; figures in parentheses go too. */
static const char *shortened(struct arena *a, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *end = strstr(text, ". "), *s;
	int depth = 0;

	for (s = text; *s && s != end; s++) {
		depth += *s == '(';
		if (!depth)
			strbuf_addc(&sb, *s);
		if (*s == ')' && depth && !--depth && sb.len && sb.buf[sb.len - 1] == ' ')
			sb.buf[--sb.len] = '\0';
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/* Sentences of all benchmarks, in the order of the report. */
static const char *sentences(const struct view *v, bool brief)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct comparison *c = v->c;
	size_t i;

	for (i = 0; i < c->n_overall; i++) {
		const char *text;

		if (i && !strcmp(c->overall[i].benchmark, c->overall[i - 1].benchmark))
			continue;
		text = sentence(v, c->overall[i].benchmark);
		strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", brief ? shortened(v->a, text) : text);
	}
	return arena_strdup(v->a, strbuf_str(&sb));
}

/* "6.12 against 6.1: " where there are two; more have their letters in the sentence. */
static const char *names(const struct view *v)
{
	const struct comparison *c = v->c;
	const char *base, *other;

	if (c->n_variants != 2)
		return "";
	base = text_ascii(v->a, c->variants[0].name);
	other = text_ascii(v->a, c->variants[1].name);
	if (strlen(base) > NAME_MOST || strlen(other) > NAME_MOST)
		return "";
	return arena_printf(v->a, "%s against %s: ", other, base);
}

static char *cut(struct arena *a, const char *text)
{
	size_t len = strlen(text);

	if (len <= SUBJECT_MOST)
		return arena_strdup(a, text);
	len = SUBJECT_MOST - 4;
	while (len > SUBJECT_MOST / 2 && text[len] != ' ')
		len--;
	return arena_printf(a, "%.*s ...", (int)len, text);
}

char *report_subject(const struct comparison *c, struct arena *a)
{
	const char *head, *tail = c->tested ? "" : "; not tested", *full;
	struct view v;

	view_init(&v, c, a, 0);
	head = arena_printf(a, "[kdelta] %s%s", c->done < c->planned ? "UNFINISHED, " : "",
			    names(&v));
	full = arena_printf(a, "%s%s%s", head, sentences(&v, false), tail);
	if (strlen(full) > SUBJECT_MOST)
		full = arena_printf(a, "%s%s%s", head, sentences(&v, true), tail);
	return cut(a, full);
}

/* The first sentence of a report that was written before. */
char *report_subject_of_text(struct span report, struct arena *a)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span line, word;
	const char *end;

	strbuf_adds(&sb, "[kdelta]");
	while (span_next_line(&report, &line, NULL)) {
		if (!span_trim(line).len) {
			if (sb.len > strlen("[kdelta]"))
				break;
			continue;
		}
		while (span_next_word(&line, &word)) {
			strbuf_addc(&sb, ' ');
			strbuf_add(&sb, word.s, word.len);
		}
		if (sb.len > 2 * SUBJECT_MOST)
			break;
	}
	end = sb.len > SUBJECT_MOST ? strstr(strbuf_str(&sb), ". ") : NULL;
	if (str_ends(strbuf_str(&sb), "."))
		end = sb.buf + sb.len - 1;
	return cut(a, end ? arena_strndup(a, sb.buf, (size_t)(end - sb.buf)) : strbuf_str(&sb));
}
