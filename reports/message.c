// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/message.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define LINE_MOST    998 /* RFC 5322, 2.1.1, without the line end */
#define FOLD	     78
#define ENCODED_MOST 76 /* of a line with encoded words, RFC 2047, 2 */

/* ---- checks ---- */

int message_check_line(const char *what, const char *text, struct err *e)
{
	struct span rest = span_of(text);

	while (rest.len) {
		uint32_t c;
		size_t len = span_utf8(rest, &c);

		if (!len)
			return err_add(e, -EINVAL, "%s is not UTF-8: '%s'", what, text);
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return err_add(e, -EINVAL, "%s holds a control character or a line end",
				       what);
		rest.s += len;
		rest.len -= len;
	}
	if (strlen(text) > LINE_MOST / 4)
		return err_add(e, -EINVAL, "%s is longer than %d bytes", what, LINE_MOST / 4);
	return 0;
}

static int refuse_byte(const char *file, int line, int column, unsigned char c, struct err *e)
{
	if (c == '\033')
		err_add(e, -EINVAL, "colours of a terminal (ESC), which no mail carries");
	else if (c >= 0x80)
		err_add(e, -EINVAL, "a character outside ASCII (byte 0x%02x)", c);
	else
		err_add(e, -EINVAL, "a control character (byte 0x%02x)", c);
	err_at(e, file, line, column);
	err_hint(e, "a report that fits a mail comes from kdelta compare -o mail");
	return -EINVAL;
}

static int check_body_line(const char *file, int number, struct span line, struct err *e)
{
	size_t i;

	for (i = 0; i < line.len; i++) {
		unsigned char c = (unsigned char)line.s[i];

		if (c >= 0x7f || (c < 0x20 && c != '\t' && c != '\f'))
			return refuse_byte(file, number, (int)i + 1, c, e);
	}
	if (line.len <= LINE_MOST)
		return 0;
	err_add(e, -EINVAL, "%zu bytes in a line; mail takes %d", line.len, LINE_MOST);
	err_at(e, file, number, 0);
	return -EINVAL;
}

int message_check_body(const char *file, struct span body, struct err *e)
{
	struct span rest = body, line;
	int number = 0, r = 0;
	bool blank = true;

	while (!r && span_next_line(&rest, &line, NULL)) {
		r = check_body_line(file, ++number, line, e);
		blank &= !span_trim(line).len;
	}
	if (!r && blank)
		return err_add(e, -EINVAL, "%s is empty", file);
	return r;
}

/* ---- addresses ---- */

/* "a@b" of RFC 5322 without quoted parts, comments and domain literals. */
static bool is_mail(struct span s)
{
	const char *at = memchr(s.s, '@', s.len);
	size_t i;

	for (i = 0; i < s.len; i++)
		if (!isgraph((unsigned char)s.s[i]) || strchr("<>()[],;:\\\"", s.s[i]))
			return false;
	return at && at != s.s && at + 1 < s.s + s.len &&
	       !memchr(at + 1, '@', s.len - (size_t)(at + 1 - s.s));
}

/* The name before "<": quotes and their backslashes are taken off. */
static char *unquote(struct arena *a, struct span s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t i, n = 0;

	s = span_trim(s);
	if (s.len < 2 || s.s[0] != '"' || s.s[s.len - 1] != '"')
		return arena_strndup(a, s.s, s.len);
	for (i = 1; i + 1 < s.len; i++) {
		if (s.s[i] == '\\' && i + 2 < s.len)
			i++;
		out[n++] = s.s[i];
	}
	return out;
}

static int add_address(struct arena *a, const char *what, struct span s,
		       struct message_addresses *list, struct err *e)
{
	struct message_address *to;
	struct span mail = s, name = {s.s, 0};
	const char *open;

	if (s.len && s.s[s.len - 1] == '>' && (open = memrchr(s.s, '<', s.len))) {
		name.len = (size_t)(open - s.s);
		mail = (struct span){open + 1, s.len - name.len - 2};
	}
	if (!is_mail(mail)) {
		err_add(e, -EINVAL, "%s: '%.*s' is no address", what, (int)s.len, s.s);
		err_hint(e, "addresses are a@b.org or Name <a@b.org>, with commas between them");
		return -EINVAL;
	}
	to = ARRAY_PUSH(list);
	to->name = unquote(a, name);
	to->mail = arena_strndup(a, mail.s, mail.len);
	return message_check_line(what, to->name, e);
}

int message_add_addresses(struct arena *a, const char *what, const char *text,
			  struct message_addresses *list, struct err *e)
{
	const char *start = text, *s = text;
	bool quoted = false;
	int r = 0;

	for (; !r; s++) {
		if (*s == '\\' && quoted && s[1]) {
			s++;
		} else if (*s == '"') {
			quoted = !quoted;
		} else if (!*s || (*s == ',' && !quoted)) {
			r = add_address(a, what,
					span_trim((struct span){start, (size_t)(s - start)}), list,
					e);
			start = s + 1;
			if (!*s)
				break;
		}
	}
	return r;
}

/* ---- header lines ---- */

static bool is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x80)
			return false;
	return true;
}

/* Columns of the line being written. */
static size_t column(const struct strbuf *out)
{
	const char *end = out->len ? memrchr(out->buf, '\n', out->len) : NULL;

	return end ? (size_t)(out->buf + out->len - end - 1) : out->len;
}

/* Adds a word after a blank, or after a fold where it would pass the right edge; never right after
 * the name of the line. */
static void add_word(struct strbuf *out, const char *word, size_t len)
{
	if (column(out) + 1 + len > FOLD && out->buf[out->len - 1] != ':')
		strbuf_addc(out, '\n');
	strbuf_addc(out, ' ');
	strbuf_add(out, word, len);
}

/* RFC 2047: "=?UTF-8?Q?J=C3=B6rg?=", one word or several, never cut inside a character. */
static void add_encoded(struct strbuf *out, const char *text)
{
	static const char head[] = "=?UTF-8?Q?";
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
	struct span rest = span_of(text);
	size_t used = column(out);

	/* a few characters beside the head, or better on the next line */
	if (used > ENCODED_MOST / 2) {
		strbuf_addc(out, '\n');
		used = 0;
	}
	strbuf_adds(&word, head);
	while (rest.len) {
		uint32_t c;
		size_t len = span_utf8(rest, &c), i;
		bool plain = c < 0x80 && isalnum((int)c);

		if (used + 1 + word.len + (plain || c == ' ' ? 1 : 3 * len) + 2 > ENCODED_MOST) {
			strbuf_adds(&word, "?=");
			add_word(out, strbuf_str(&word), word.len);
			strbuf_reset(&word);
			strbuf_adds(&word, head);
			used = 0;
		}
		for (i = 0; i < len; i++) {
			if (plain)
				strbuf_addc(&word, rest.s[i]);
			else if (c == ' ')
				strbuf_addc(&word, '_');
			else
				strbuf_addf(&word, "=%02X", (unsigned char)rest.s[i]);
		}
		rest.s += len;
		rest.len -= len;
	}
	strbuf_adds(&word, "?=");
	add_word(out, strbuf_str(&word), word.len);
}

static void add_words(struct strbuf *out, const char *text)
{
	struct span rest = span_of(text), word;

	if (!is_ascii(text) || strstr(text, "=?")) {
		add_encoded(out, text);
		return;
	}
	while (span_next_word(&rest, &word))
		add_word(out, word.s, word.len);
}

/* A name with other signs than those of an atom is quoted; RFC 5322, 3.2.3 and 3.2.4. */
static void add_name(struct strbuf *out, const char *name)
{
	_cleanup_strbuf_ struct strbuf quoted = STRBUF_INIT;
	const char *s;
	bool atom = true;

	strbuf_addc(&quoted, '"');
	for (s = name; *s; s++) {
		atom &= isalnum((unsigned char)*s) || strchr(" !#$%&'*+-/=?^_`{|}~", *s);
		if (*s == '"' || *s == '\\')
			strbuf_addc(&quoted, '\\');
		strbuf_addc(&quoted, *s);
	}
	if (atom || !is_ascii(name)) {
		add_words(out, name);
		return;
	}
	strbuf_addc(&quoted, '"');
	add_word(out, strbuf_str(&quoted), quoted.len);
}

static void add_address_line(struct strbuf *out, const char *head,
			     const struct message_address *list, size_t n)
{
	_cleanup_strbuf_ struct strbuf mail = STRBUF_INIT;
	size_t i;

	if (!n)
		return;
	strbuf_addf(out, "%s:", head);
	for (i = 0; i < n; i++) {
		const char *end = i + 1 < n ? "," : "";

		strbuf_reset(&mail);
		if (*list[i].name)
			add_name(out, list[i].name);
		strbuf_addf(&mail, *list[i].name ? "<%s>%s" : "%s%s", list[i].mail, end);
		add_word(out, strbuf_str(&mail), mail.len);
	}
	strbuf_addc(out, '\n');
}

/* "Mon, 30 Nov 2026 13:36:09 +0000" in local time; the program never leaves the C locale. */
static void add_date(struct strbuf *out, time_t when)
{
	struct tm tm;
	char text[64];

	localtime_r(&when, &tm);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S %z", &tm);
	strbuf_addf(out, "Date: %s\n", text);
}

static void add_headers(const struct message *m, struct strbuf *out)
{
	add_address_line(out, "From", &m->from, 1);
	add_address_line(out, "To", m->to.items, m->to.n);
	add_address_line(out, "Cc", m->cc.items, m->cc.n);
	strbuf_adds(out, "Subject:");
	add_words(out, m->subject);
	strbuf_addc(out, '\n');
	add_date(out, m->date);
	strbuf_addf(out, "Message-ID: <%s>\n", m->id);
	if (m->in_reply_to)
		strbuf_addf(out, "In-Reply-To: <%s>\nReferences: <%s>\n", m->in_reply_to,
			    m->in_reply_to);
	strbuf_adds(out, "User-Agent: kdelta/" KDELTA_VERSION "\n"
			 "MIME-Version: 1.0\n"
			 "Content-Type: text/plain; charset=us-ascii\n"
			 "Content-Transfer-Encoding: 7bit\n\n");
}

void message_write(const struct message *m, struct strbuf *out)
{
	add_headers(m, out);
	strbuf_add(out, m->body.s, m->body.len);
	if (out->buf[out->len - 1] != '\n')
		strbuf_addc(out, '\n');
}

void message_write_mbox(const struct message *m, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;
	struct span rest, line;
	struct tm tm;
	char when[32];

	gmtime_r(&m->date, &tm);
	strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
	strbuf_addf(out, "From %s %s\n", m->from.mail, when);
	message_write(m, &plain);
	rest = (struct span){strbuf_str(&plain), plain.len};
	while (rest.len) {
		const char *end = memchr(rest.s, '\n', rest.len);
		size_t marks = 0;

		line = (struct span){rest.s, (size_t)(end + 1 - rest.s)};
		while (marks < line.len && line.s[marks] == '>')
			marks++;
		if (span_starts((struct span){line.s + marks, line.len - marks}, "From "))
			strbuf_addc(out, '>');
		strbuf_add(out, line.s, line.len);
		rest.s += line.len;
		rest.len -= line.len;
	}
	strbuf_addc(out, '\n');
}
