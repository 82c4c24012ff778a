// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Undoing what mail did to a text. Every line keeps the number it has in the user's file, also
 * when it was decoded from base64 or joined from soft breaks:
 *
 *	> > Hmean     64     15952.50 (   0.00%)    10608.36 * -3=
 *	3.50%*
 */
#include "parsers/tables/layout.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum encoding { ENC_PLAIN, ENC_QP, ENC_BASE64 };

/* What the headers of a message or part say about its body. */
struct entity {
	enum encoding encoding;
	bool is_text, is_html, is_message, latin1, flowed, delsp;
	struct span boundary; /* of a multipart, len 0 otherwise */
};

struct undo {
	struct arena *a;
	struct table_set *set;
	line_array in; /* the text as it is */
	line_array out;
	bool html; /* only a message without plain text is read as HTML */
};

#define MAX_NESTING 8

/* ---- headers ---- */

/* "Content-Type: text/plain" -> length of the field's name, 0 if the line is no header field. */
static size_t field_name(struct span line)
{
	size_t i = 0;

	while (i < line.len && (isalnum((unsigned char)line.s[i]) || line.s[i] == '-'))
		i++;
	return i && i < line.len && line.s[i] == ':' ? i : 0;
}

static bool field_is(struct span line, const char *name)
{
	return field_name(line) == strlen(name) && !strncasecmp(line.s, name, strlen(name));
}

static bool is_continuation(struct span line)
{
	return line.len && (line.s[0] == ' ' || line.s[0] == '\t') && span_trim(line).len;
}

/* Whether lines from `at` on are a message's header block, closed by an empty line. */
static bool is_header_block(const line_array *in, size_t at)
{
	static const char *const known[] = {
		"From",		"To",
		"Date",		"Subject",
		"Message-ID",	"Received",
		"Return-Path",	"MIME-Version",
		"Content-Type", "Content-Transfer-Encoding",
		"Delivered-To", "In-Reply-To",
		"References",	"Cc",
	};
	size_t i, k, fields = 0, hits = 0;

	for (i = at; i < in->n && in->items[i].text.len; i++) {
		struct span line = in->items[i].text;

		if (fields && is_continuation(line))
			continue;
		if (!field_name(line))
			return false;
		fields++;
		for (k = 0; k < ARRAY_SIZE(known); k++)
			hits += field_is(line, known[k]);
	}
	return i < in->n && (hits >= 2 || (hits && hits == fields));
}

/* "; charset=ISO-8859-1" -> the value of a parameter, without quotes; len 0 if absent. */
static struct span header_param(const char *value, const char *name)
{
	const char *p = strcasestr(value, name);
	struct span v = {NULL, 0};

	if (!p)
		return v;
	p += strlen(name);
	if (*p == '"') {
		v.s = ++p;
		v.len = strcspn(p, "\"");
	} else {
		v.s = p;
		v.len = strcspn(p, "; \t");
	}
	return v;
}

static void entity_field(struct entity *t, const char *field)
{
	const char *value = strchr(field, ':') + 1;
	struct span charset;

	value += strspn(value, " \t");
	if (!strncasecmp(field, "Content-Type:", 13)) {
		t->is_text = !strncasecmp(value, "text/plain", 10);
		t->is_html = !strncasecmp(value, "text/html", 9);
		t->flowed = t->is_text && strcasestr(value, "format=flowed");
		t->delsp = strcasestr(value, "delsp=yes") != NULL;
		t->is_message = !strncasecmp(value, "message/rfc822", 14);
		if (!strncasecmp(value, "multipart/", 10))
			t->boundary = header_param(value, "boundary=");
		charset = header_param(value, "charset=");
		t->latin1 = charset.len && (!strncasecmp(charset.s, "iso-8859", 8) ||
					    !strncasecmp(charset.s, "windows-125", 11));
	} else if (!strncasecmp(field, "Content-Transfer-Encoding:", 26)) {
		if (!strncasecmp(value, "quoted-printable", 16))
			t->encoding = ENC_QP;
		else if (!strncasecmp(value, "base64", 6))
			t->encoding = ENC_BASE64;
	}
}

static void add_fact(struct undo *u, const char *key, const char *value)
{
	struct table_fact *f;

	array_for_each (f, &u->set->facts)
		if (!strcmp(f->key, key))
			return;
	if (*value)
		*ARRAY_PUSH(&u->set->facts) = (struct table_fact){key, value};
}

static void message_fact(struct undo *u, const char *field)
{
	static const struct {
		const char *field, *fact;
	} facts[] = {{"Date:", "date"}, {"Message-ID:", "posting"}, {"Subject:", "subject"}};
	const char *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		if (strncasecmp(field, facts[i].field, strlen(facts[i].field)))
			continue;
		value = field + strlen(facts[i].field);
		add_fact(u, facts[i].fact, arena_strdup(u->a, value + strspn(value, " \t")));
	}
}

/* Reads the header block at `at`, unfolding; returns the first line of the body. */
static size_t read_headers(struct undo *u, size_t at, size_t end, bool of_message, struct entity *t)
{
	_cleanup_strbuf_ struct strbuf field = STRBUF_INIT;
	const char *kept; /* the boundary points into it */
	size_t i = at;

	*t = (struct entity){.is_text = true};
	while (i < end && u->in.items[i].text.len) {
		strbuf_reset(&field);
		strbuf_add(&field, u->in.items[i].text.s, u->in.items[i].text.len);
		for (i++; i < end && is_continuation(u->in.items[i].text); i++)
			strbuf_add(&field, u->in.items[i].text.s, u->in.items[i].text.len);
		kept = arena_strdup(u->a, field.buf);
		if (!strchr(kept, ':'))
			continue;
		entity_field(t, kept);
		if (of_message)
			message_fact(u, kept);
	}
	return i < end ? i + 1 : i;
}

/* ---- transfer encodings ---- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Byte written as "=B1" at s[0], or -1. */
static int qp_escape(struct span s)
{
	int high, low;

	if (s.len < 3 || s.s[0] != '=')
		return -1;
	high = hex_value(s.s[1]);
	low = hex_value(s.s[2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static struct span trim_end(struct span s)
{
	while (s.len && isspace((unsigned char)s.s[s.len - 1]))
		s.len--;
	return s;
}

/* Decodes one line into sb; true if it ends in a soft break. */
static bool qp_decode_line(struct span s, struct strbuf *sb)
{
	size_t i;
	int c;

	s = trim_end(s);
	for (i = 0; i < s.len; i++) {
		if (s.s[i] == '=' && i + 1 == s.len)
			return true;
		c = qp_escape((struct span){s.s + i, s.len - i});
		if (c < 0) {
			strbuf_addc(sb, s.s[i]);
			continue;
		}
		strbuf_addc(sb, (char)c);
		i += 2;
	}
	return false;
}

static void push_line(struct undo *u, line_array *to, const struct strbuf *sb,
		      const struct table_line *from)
{
	struct table_line *line = ARRAY_PUSH(to);

	*line = *from;
	line->text = (struct span){arena_strndup(u->a, strbuf_str(sb), sb->len), sb->len};
}

/* A joined line has the number and depth of its first part. */
static void qp_decode(struct undo *u, const struct table_line *in, size_t n, line_array *out)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct table_line *first = in;
	size_t i;

	for (i = 0; i < n; i++) {
		if (qp_decode_line(in[i].text, &sb) && i + 1 < n)
			continue;
		push_line(u, out, &sb, first);
		out->items[out->n - 1].has_end = in[i].has_end;
		strbuf_reset(&sb);
		first = &in[i + 1];
	}
}

/*
 * A paste without headers is quoted-printable when every '=' in it is an escape or a soft break
 * and at least one of them is beyond doubt: =3D, =C2, =20 at the end, a soft break in a long line.
 */
static bool qp_is_likely(const line_array *in)
{
	const struct table_line *line;
	bool sure = false;

	array_for_each (line, in) {
		struct span s = trim_end(line->text);
		size_t i;

		for (i = 0; i < s.len; i++) {
			int c = qp_escape((struct span){s.s + i, s.len - i});

			if (s.s[i] != '=')
				continue;
			if (i + 1 == s.len)
				sure |= s.len >= 60;
			else if (c < 0)
				return false;
			sure |= c == '=' || c >= 0x80 || (c == ' ' && i + 3 == s.len);
		}
	}
	return sure;
}

static int base64_value(char c)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(alphabet, c) : NULL;

	return p ? (int)(p - alphabet) : -1;
}

/* A decoded line has the number of the encoded line that its first byte stands in. */
static void base64_decode(struct undo *u, const struct table_line *in, size_t n, line_array *out)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct table_line from = {.has_end = true};
	unsigned int bits = 0, have = 0;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < in[i].text.len; k++) {
			int v = base64_value(in[i].text.s[k]);
			char c;

			if (v < 0)
				continue;
			bits = (bits << 6 | (unsigned int)v) & 0xffffff;
			have += 6;
			if (have < 8)
				continue;
			have -= 8;
			c = (char)(bits >> have & 0xff);
			if (!sb.len)
				from.line = in[i].line;
			if (c != '\n') {
				strbuf_addc(&sb, c);
				continue;
			}
			push_line(u, out, &sb, &from);
			strbuf_reset(&sb);
		}
	}
	from.has_end = false;
	if (sb.len)
		push_line(u, out, &sb, &from);
}

/* The body of a message pasted as it travelled: nothing but full lines of base64. */
static bool base64_is_likely(const line_array *in)
{
	const struct table_line *line;
	size_t total = 0, n = 0, i;

	array_for_each (line, in) {
		struct span s = span_trim(line->text);

		if (!s.len)
			continue;
		for (i = 0; i < s.len; i++)
			if (base64_value(s.s[i]) < 0 && s.s[i] != '=')
				return false;
		n++;
		total += s.len;
	}
	return n && total >= 60 && total % 4 == 0 && total / n >= 40;
}

/* ---- characters ---- */

static void add_utf8(struct strbuf *sb, unsigned int cp)
{
	if (cp < 0x80) {
		strbuf_addc(sb, (char)cp);
	} else if (cp < 0x800) {
		strbuf_addc(sb, (char)(0xc0 | cp >> 6));
		strbuf_addc(sb, (char)(0x80 | (cp & 0x3f)));
	} else if (cp < 0x10000) {
		strbuf_addc(sb, (char)(0xe0 | cp >> 12));
		strbuf_addc(sb, (char)(0x80 | (cp >> 6 & 0x3f)));
		strbuf_addc(sb, (char)(0x80 | (cp & 0x3f)));
	} else {
		strbuf_addc(sb, (char)(0xf0 | cp >> 18));
		strbuf_addc(sb, (char)(0x80 | (cp >> 12 & 0x3f)));
		strbuf_addc(sb, (char)(0x80 | (cp >> 6 & 0x3f)));
		strbuf_addc(sb, (char)(0x80 | (cp & 0x3f)));
	}
}

/* A character as a table needs it: one kind of blank, dash and quote; tabs stay for later. */
static void add_char(struct strbuf *sb, unsigned int cp)
{
	if (cp == '\t')
		strbuf_addc(sb, '\t');
	else if (cp == 0 || cp == 0xa0 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x202f ||
		 cp == 0x205f || cp == 0x3000)
		strbuf_addc(sb, ' ');
	else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x200b || cp == 0xfeff)
		return;
	else if ((cp >= 0x2010 && cp <= 0x2015) || cp == 0x2212)
		strbuf_addc(sb, '-');
	else if (cp == 0x2018 || cp == 0x2019)
		strbuf_addc(sb, '\'');
	else if (cp == 0x201c || cp == 0x201d)
		strbuf_addc(sb, '"');
	else
		add_utf8(sb, cp);
}

/* The bytes of one line in either charset; UTF-8 read as Latin-1 once ("\u00c2\u00a0") is undone.
 */
static void clean_line(struct undo *u, struct table_line *line, bool latin1)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = line->text;
	unsigned int cp, next;
	size_t len, more;

	while (rest.len) {
		len = latin1 ? 0 : span_utf8(rest, &cp);
		if (!len) {
			cp = (unsigned char)rest.s[0];
			len = 1;
		}
		if (cp == 0xc2 && rest.len > len) {
			more = span_utf8((struct span){rest.s + len, rest.len - len}, &next);
			if (more && next >= 0x80 && next <= 0xbf) {
				cp = next;
				len += more;
			}
		}
		add_char(&sb, cp);
		span_skip(&rest, len);
	}
	strbuf_rtrim(&sb);
	sb.len = layout_percents(sb.buf, sb.len);
	line->text = (struct span){arena_strndup(u->a, strbuf_str(&sb), sb.len), sb.len};
}

/*
 * Takes quote marks off the start of a line ("> ", ">> ", "> > > "), with at most two blanks
 * before each; a '>' inside the text, as in a header `6.9 (with ">")`, stays.
 */
static void unquote_line(struct table_line *line)
{
	struct span s = line->text;
	size_t blanks;

	for (;;) {
		for (blanks = 0; blanks < s.len && blanks < 2 && s.s[blanks] == ' ';)
			blanks++;
		if (blanks >= s.len || s.s[blanks] != '>')
			break;
		span_skip(&s, blanks + 1);
		line->depth++;
	}
	if (line->depth && s.len && s.s[0] == ' ') {
		s.s++;
		s.len--;
	}
	line->text = s;
}

/* Tabs of the text as it was before it was quoted; each is a wide gap, two blanks or more. */
static void expand_tabs(struct arena *a, struct table_line *line)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (!line->text.len || !memchr(line->text.s, '\t', line->text.len))
		return;
	for (i = 0; i < line->text.len; i++) {
		if (line->text.s[i] == '\t')
			strbuf_pad(&sb, MAX(sb.len + 2, (sb.len / 8 + 1) * 8));
		else
			strbuf_addc(&sb, line->text.s[i]);
	}
	line->text = (struct span){arena_strndup(a, strbuf_str(&sb), sb.len), sb.len};
}

/* ---- messages and parts ---- */

/* Lines from `first` on are HTML: the text takes their place. */
static void undo_html(struct undo *u, size_t first)
{
	line_array text = {NULL, 0, 0};
	struct table_line *line;

	layout_html(u->a, u->out.items + first, u->out.n - first, &text);
	u->out.n = first;
	array_for_each (line, &text)
		*ARRAY_PUSH(&u->out) = *line;
	ARRAY_FREE(&text);
}

static void add_body(struct undo *u, size_t from, size_t to, const struct entity *t)
{
	size_t i, first = u->out.n;

	if (from >= to)
		return;
	if (t->encoding == ENC_QP)
		qp_decode(u, &u->in.items[from], to - from, &u->out);
	else if (t->encoding == ENC_BASE64)
		base64_decode(u, &u->in.items[from], to - from, &u->out);
	else
		for (i = from; i < to; i++)
			*ARRAY_PUSH(&u->out) = u->in.items[i];
	if (t->flowed)
		layout_flowed(u->a, t->delsp, &u->out, first);
	if (t->is_html)
		undo_html(u, first);
	for (i = first; i < u->out.n; i++)
		clean_line(u, &u->out.items[i], t->latin1);
}

static bool is_boundary(struct span line, struct span boundary)
{
	return line.len >= boundary.len + 2 && line.s[0] == '-' && line.s[1] == '-' &&
	       !memcmp(line.s + 2, boundary.s, boundary.len);
}

/* A message or part whose headers start at `from`: its text parts go to u->out. */
static void read_entity(struct undo *u, size_t from, size_t to, int nesting)
{
	struct entity t;
	size_t i, start = 0;
	bool inside = false;

	from = read_headers(u, from, to, nesting == 0, &t);
	if (t.is_message && nesting < MAX_NESTING) {
		read_entity(u, from, to, nesting + 1);
		return;
	}
	if (!t.boundary.len || nesting >= MAX_NESTING) {
		if (u->html ? t.is_html : t.is_text)
			add_body(u, from, to, &t);
		return;
	}
	for (i = from; i <= to; i++) {
		if (i < to && !is_boundary(u->in.items[i].text, t.boundary))
			continue;
		if (inside)
			read_entity(u, start, i, nesting + 1);
		inside = true;
		start = i + 1;
	}
}

/* "From address date" between the messages of an mbox. */
static bool is_mbox_start(const line_array *in, size_t i)
{
	return span_starts(in->items[i].text, "From ") && (!i || !in->items[i - 1].text.len) &&
	       is_header_block(in, i + 1);
}

static bool read_messages(struct undo *u)
{
	size_t i = 0, next, first;

	while (i < u->in.n && !u->in.items[i].text.len)
		i++;
	if (i == u->in.n)
		return false;
	if (is_mbox_start(&u->in, i))
		i++;
	else if (!is_header_block(&u->in, i))
		return false;
	while (i < u->in.n) {
		for (next = i + 1; next < u->in.n && !is_mbox_start(&u->in, next);)
			next++;
		first = u->out.n;
		u->html = false;
		read_entity(u, i, next, 0);
		u->html = true;
		if (u->out.n == first)
			read_entity(u, i, next, 0);
		i = next + 1;
	}
	return true;
}

static void split_lines(struct undo *u, struct span text)
{
	struct span line;
	bool complete;
	int number = 0;

	while (span_next_line(&text, &line, &complete))
		*ARRAY_PUSH(&u->in) = (struct table_line){line, ++number, 0, complete};
}

static void unquote(line_array *lines)
{
	struct table_line *line;

	array_for_each (line, lines)
		unquote_line(line);
	layout_unbar(lines, unquote_line);
}

static void unflatten(struct undo *u)
{
	line_array in = u->out;
	const struct table_line *line;
	struct span *parts;
	size_t n, i;
	bool any = false;

	array_for_each (line, &in)
		any |= table_is_flattened(line->text);
	if (!any)
		return;
	u->out = (line_array){NULL, 0, 0};
	array_for_each (line, &in) {
		n = table_unflatten(u->a, line->text, &parts);
		for (i = 0; i < n; i++)
			*ARRAY_PUSH(&u->out) = (struct table_line){parts[i], line->line, 0, true};
		if (!n)
			*ARRAY_PUSH(&u->out) = *line;
	}
	ARRAY_FREE(&in);
}

/* A paste: what it was encoded in has to be seen from the text itself. */
static void read_paste(struct undo *u)
{
	struct entity plain = {.is_text = true}, base64 = {.encoding = ENC_BASE64};
	line_array encoded;
	struct table_line *line;

	layout_straighten(&u->in);
	plain.is_html = layout_is_html(&u->in);
	add_body(u, 0, u->in.n, base64_is_likely(&u->in) ? &base64 : &plain);
	ARRAY_FREE(&u->in); /* a text of short lines is many times its size in lines */
	unflatten(u);
	unquote(&u->out);
	if (qp_is_likely(&u->out)) {
		encoded = u->out;
		u->out = (line_array){NULL, 0, 0};
		qp_decode(u, encoded.items, encoded.n, &u->out);
		ARRAY_FREE(&encoded);
	}
	array_for_each (line, &u->out) {
		/* a lone "=20" in a reply to an encoded mail */
		if (line->text.len >= 3 && !memcmp(line->text.s + line->text.len - 3, "=20", 3))
			line->text.len -= 3;
		clean_line(u, line, false);
	}
}

void tables_undo(struct arena *a, const char *file, struct span text, struct table_text *out,
		 struct table_set *set)
{
	struct undo u = {.a = a, .set = set};
	struct table_line *line;

	split_lines(&u, text);
	if (read_messages(&u))
		unquote(&u.out);
	else
		read_paste(&u);
	ARRAY_FREE(&u.in);
	array_for_each (line, &u.out)
		expand_tabs(a, line);
	out->file = file;
	out->n = u.out.n;
	out->lines = arena_copy(a, u.out.items, u.out.n, sizeof(*u.out.items));
	ARRAY_FREE(&u.out);
}
