// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HTML and format=flowed -> lines.
 *
 *	<tr><td>Hmean 64</td><td>15952.50&nbsp;(&nbsp;0.00%)</td></tr>
 */
#include "parsers/tables/layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/num.h"

/* ---- HTML ---- */

struct html {
	struct arena *a;
	line_array *out;
	struct strbuf text; /* of the line being written */
	int line;	    /* of its first character, 0: none yet */
	int pre;	    /* depth of <pre> */
	const char *skip;   /* the element whose text is none ("style"), or NULL */
	bool blank;	    /* a blank is due before the next character */
};

static void end_line(struct html *h, int line, bool empty_too)
{
	struct table_line *out;

	h->blank = false;
	if (!h->text.len && !empty_too)
		return;
	out = ARRAY_PUSH(h->out);
	*out = (struct table_line){.line = h->line ? h->line : line, .has_end = true};
	out->text = (struct span){arena_strndup(h->a, strbuf_str(&h->text), h->text.len),
				  h->text.len};
	strbuf_reset(&h->text);
	h->line = 0;
}

static void add_text(struct html *h, const char *s, size_t len, int line)
{
	if (h->blank && h->text.len && h->text.buf[h->text.len - 1] != ' ')
		strbuf_addc(&h->text, ' ');
	h->blank = false;
	if (!h->line)
		h->line = line;
	strbuf_add(&h->text, s, len);
}

/* "&nbsp;", "&#177;" at the start of s: bytes taken, 0 if it is no entity. */
static size_t take_entity(struct html *h, struct span s, int line)
{
	static const struct {
		const char *name, *text;
	} names[] = {{"nbsp", " "},  {"lt", "<"},	{"gt", ">"},	  {"amp", "&"},
		     {"quot", "\""}, {"apos", "'"},	{"plusmn", "\xc2\xb1"},
		     {"minus", "-"}, {"ndash", "-"},	{"mdash", "-"}};
	const char *end = memchr(s.s, ';', MIN(s.len, (size_t)12));
	struct span name;
	size_t i;
	double code;

	if (!end)
		return 0;
	name = (struct span){s.s + 1, (size_t)(end - s.s) - 1};
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!span_is(name, names[i].name))
			continue;
		add_text(h, names[i].text, strlen(names[i].text), line);
		return name.len + 2;
	}
	if (name.len < 2 || name.s[0] != '#' ||
	    !num_parse((struct span){name.s + 1, name.len - 1}, &code))
		return 0;
	if (code == 160)
		add_text(h, " ", 1, line);
	else if (code >= 32 && code < 127)
		add_text(h, (char[]){(char)code}, 1, line);
	else if (code > 160 && code < 256)
		add_text(h,
			 (char[]){(char)(0xc0 | (int)code >> 6), (char)(0x80 | ((int)code & 0x3f))},
			 2, line);
	return name.len + 2;
}

static bool tag_is(struct span tag, const char *name)
{
	size_t n = strlen(name);

	return tag.len >= n && !strncasecmp(tag.s, name, n) &&
	       (tag.len == n || !isalnum((unsigned char)tag.s[n]));
}

static void take_tag(struct html *h, struct span tag, int line)
{
	static const char *const breaks[] = {"p",  "div", "tr", "table", "li", "ul", "ol", "h1",
					     "h2", "h3",  "h4", "pre",	 "blockquote", "hr"};
	static const char *const silent[] = {"style", "script", "head", "title"};
	bool closing = tag.len && tag.s[0] == '/';
	size_t i;

	if (closing) {
		tag.s++;
		tag.len--;
	}
	if (h->skip) {
		if (closing && tag_is(tag, h->skip))
			h->skip = NULL;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(silent); i++)
		if (!closing && tag_is(tag, silent[i]))
			h->skip = silent[i];
	if (tag_is(tag, "br"))
		end_line(h, line, true);
	if ((tag_is(tag, "td") || tag_is(tag, "th")) && h->text.len && !closing) {
		h->blank = false;
		strbuf_adds(&h->text, "  ");
	}
	for (i = 0; i < ARRAY_SIZE(breaks); i++)
		if (tag_is(tag, breaks[i]))
			end_line(h, line, closing && tag_is(tag, "p"));
	if (tag_is(tag, "pre"))
		h->pre = closing ? MAX(h->pre - 1, 0) : h->pre + 1;
}

void layout_html(struct arena *a, const struct table_line *in, size_t n, line_array *out)
{
	struct html h = {.a = a, .out = out};
	_cleanup_strbuf_ struct strbuf tag = STRBUF_INIT;
	bool inside = false;
	size_t i, k, taken;

	for (i = 0; i < n; i++) {
		struct span s = in[i].text;

		for (k = 0; k < s.len; k++) {
			char c = s.s[k];

			if (inside) {
				if (c != '>') {
					strbuf_addc(&tag, c);
					continue;
				}
				inside = false;
				take_tag(&h, (struct span){strbuf_str(&tag), tag.len}, in[i].line);
				strbuf_reset(&tag);
			} else if (c == '<' && k + 1 < s.len &&
				   (isalpha((unsigned char)s.s[k + 1]) ||
				    strchr("/!", s.s[k + 1]))) {
				inside = true;
			} else if (h.skip) {
				continue;
			} else if (c == '&' &&
				   (taken = take_entity(&h, (struct span){s.s + k, s.len - k},
							in[i].line))) {
				k += taken - 1;
			} else if (!h.pre && isspace((unsigned char)c)) {
				h.blank = true;
			} else {
				add_text(&h, &c, 1, in[i].line);
			}
		}
		if (inside)
			strbuf_addc(&tag, ' ');
		else if (h.pre)
			end_line(&h, in[i].line, true);
		else
			h.blank = true;
	}
	end_line(&h, n ? in[n - 1].line : 1, false);
	strbuf_release(&h.text);
}

bool layout_is_html(const line_array *in)
{
	const struct table_line *line;
	bool first = true, table = false, row = false;

	array_for_each (line, in) {
		struct span s = span_trim(line->text);

		if (!s.len)
			continue;
		if (first && (!strncasecmp(s.s, "<html", 5) || !strncasecmp(s.s, "<!doctype", 9)))
			return true;
		first = false;
		table |= span_find(s, "<table") || span_find(s, "<TABLE");
		row |= span_find(s, "<tr") || span_find(s, "<TR");
	}
	return table && row;
}

/* ---- format=flowed ---- */

enum { FLOWED = 66 }; /* RFC 3676: lines of 66 characters and a word that no longer fitted */

static size_t quote_marks(struct span s)
{
	size_t n = 0;

	while (n < s.len && s.s[n] == '>')
		n++;
	return n;
}

/* A joined line that is whole moves into the arena: once, not with each part of it. */
static void keep_joined(struct arena *a, struct strbuf *joined, struct table_line *line)
{
	if (joined->len)
		line->text.s = arena_strndup(a, joined->buf, joined->len);
	strbuf_reset(joined);
}

void layout_flowed(struct arena *a, bool delsp, line_array *lines, size_t from)
{
	_cleanup_strbuf_ struct strbuf joined = STRBUF_INIT; /* the last line kept, of several */
	size_t i, kept = from;
	bool open = false;

	for (i = from; i < lines->n; i++) {
		struct table_line *line = &lines->items[i], *last;
		size_t marks = quote_marks(line->text), word;
		struct span s = {line->text.s + marks, line->text.len - marks};

		if (s.len && s.s[0] == ' ') {
			s.s++, s.len--; /* stuffed */
			if (!marks)
				line->text = s;
		}
		last = kept > from ? &lines->items[kept - 1] : NULL;
		for (word = 0; word < s.len && s.s[word] != ' ';)
			word++;
		if (open && last && quote_marks(last->text) == marks && s.len &&
		    last->text.len + word > FLOWED && !span_is(s, "-- ")) {
			if (!joined.len)
				strbuf_add(&joined, last->text.s, last->text.len);
			joined.len -= delsp;
			strbuf_add(&joined, s.s, s.len);
			last->text = (struct span){joined.buf, joined.len};
			last->has_end = line->has_end;
		} else {
			keep_joined(a, &joined, last);
			lines->items[kept++] = *line;
		}
		open = line->text.len && line->text.s[line->text.len - 1] == ' ' &&
		       !span_is(s, "-- ");
		/* how much of a joined line stands in its last part decides whether that was full */
		if (open && line->text.len < FLOWED - 20)
			open = false;
	}
	if (kept > from)
		keep_joined(a, &joined, &lines->items[kept - 1]);
	lines->n = kept;
}

/* ---- pastes ---- */

static size_t leading_blanks(struct span s)
{
	size_t n = 0;

	while (n < s.len && s.s[n] == ' ')
		n++;
	return n;
}

/* "```", "~~~ text": the fence around a block of Markdown */
static bool is_fence(struct span line)
{
	struct span s = span_trim(line);

	return s.len < 16 && (span_starts(s, "```") || span_starts(s, "~~~")) && s.s[0] == s.s[1];
}

void layout_straighten(line_array *lines)
{
	size_t indent = SIZE_MAX, filled = 0, followed = 0, pairs = 0, kept = 0, i;
	struct table_line *line;

	array_for_each (line, lines) {
		struct span s = span_trim(line->text);

		if (is_fence(line->text))
			line->text.len = 0;
		else if (s.len)
			indent = MIN(indent, leading_blanks(line->text));
	}
	for (i = 0; i < lines->n; i++) {
		struct span *s = &lines->items[i].text;
		bool empty = !span_trim(*s).len;

		if (!empty)
			span_skip(s, MIN(indent, s->len));
		filled += !empty;
		if (i + 1 < lines->n && !empty) {
			followed += !span_trim(lines->items[i + 1].text).len;
			pairs++;
		}
	}
	/* every line is followed by an empty one: one of them is the double spacing */
	if (filled < 4 || followed < pairs)
		return;
	for (i = 0; i < lines->n; i++) {
		bool empty = !span_trim(lines->items[i].text).len;

		if (empty && filled)
			filled = 0;
		else
			lines->items[kept++] = lines->items[i], filled = !empty;
	}
	lines->n = kept;
}

/* "| text" or "|": as some mail programs quote */
static bool is_barred(struct span s)
{
	return s.len && s.s[0] == '|' && (s.len == 1 || strchr(" \t", s.s[1]));
}

/* Whether bars in lines [from, to), between empty ones, are quote marks rather than drawn. */
static bool bars_quote(const line_array *lines, size_t from, size_t to)
{
	size_t barred = 0, i;

	for (i = from; i < to; i++) {
		struct span s = lines->items[i].text;
		bool is = is_barred(s);

		span_skip(&s, is);
		if (memchr(s.s, '|', s.len))
			return false;
		barred += is;
	}
	/* others are what was wrapped, and who wrote it */
	return barred >= 3 && barred * 4 >= to - from;
}

void layout_unbar(line_array *lines, void (*unquote)(struct table_line *line))
{
	size_t from, to, i;

	for (from = 0; from < lines->n; from = to + 1) {
		for (to = from; to < lines->n && span_trim(lines->items[to].text).len;)
			to++;
		if (!bars_quote(lines, from, to))
			continue;
		for (i = from; i < to; i++) {
			struct table_line *line = &lines->items[i];

			if (!is_barred(line->text))
				continue;
			span_skip(&line->text, 1);
			line->depth++;
			unquote(line);
		}
	}
}

size_t layout_percents(char *s, size_t len)
{
	size_t i, kept = 0;

	for (i = 0; i < len; i++) {
		bool after = i + 2 >= len || !(isalnum((unsigned char)s[i + 2]) ||
					       strchr("_%", s[i + 2]));

		if (s[i] == ' ' && kept && isdigit((unsigned char)s[kept - 1]) && i + 1 < len &&
		    s[i + 1] == '%' && after)
			continue;
		s[kept++] = s[i];
	}
	return kept;
}
