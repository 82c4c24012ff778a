// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Signs that posted names and units hold, as a kernel list writes them. */
static const struct {
	uint32_t code;
	const char *ascii;
} text_signs[] = {
	{0xa0, " "},	  {0xb0, "deg"}, {0xb1, "+-"},	 {0xb5, "u"},	 {0xd7, "x"},
	{0xdf, "ss"},	  {0x2010, "-"}, {0x2011, "-"},	 {0x2013, "-"},	 {0x2014, "-"},
	{0x2018, "'"},	  {0x2019, "'"}, {0x201c, "\""}, {0x201d, "\""}, {0x2026, "..."},
	{0x2192, "->"},	  {0x2212, "-"}, {0x2264, "<="}, {0x2265, ">="}, {0x3bc, "u"},
	{0x394, "delta"},
};

/* Takes one UTF-8 character off *s; a byte that is none comes back as itself with *bad set. */
static uint32_t text_take(struct span *s, bool *bad)
{
	unsigned char first = (unsigned char)s->s[0];
	uint32_t c;
	size_t len = span_utf8(*s, &c);

	*bad = !len;
	s->s += len + *bad;
	s->len -= len + *bad;
	return *bad ? first : c;
}

static void text_add_char(struct strbuf *sb, uint32_t c, bool bad)
{
	size_t i;

	for (i = 0; !bad && i < ARRAY_SIZE(text_signs); i++) {
		if (text_signs[i].code == c) {
			strbuf_adds(sb, text_signs[i].ascii);
			return;
		}
	}
	if (bad)
		strbuf_addf(sb, "\\x%02x", (unsigned int)c);
	else if (c > 0x20 && c < 0x7f)
		strbuf_addc(sb, (char)c);
	else if (c <= 0x20 || (c >= 0x7f && c < 0xa0))
		strbuf_addc(sb, ' ');
	else
		strbuf_addf(sb, "\\u{%x}", (unsigned int)c);
}

const char *text_ascii(struct arena *a, const char *s)
{
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT, sb = STRBUF_INIT;
	struct span all = span_of(s), rest, word;

	while (all.len) {
		bool bad;
		uint32_t c = text_take(&all, &bad);

		text_add_char(&raw, c, bad);
	}
	rest = (struct span){strbuf_str(&raw), raw.len};
	while (span_next_word(&rest, &word)) {
		if (sb.len)
			strbuf_addc(&sb, ' ');
		strbuf_add(&sb, word.s, word.len);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

void text_blank(struct text *t)
{
	strbuf_addc(t->out, '\n');
}

void text_wrap(struct text *t, const char *head, size_t indent, const char *s)
{
	size_t start = t->out->len, width = (size_t)t->width, room = width - indent;
	struct span rest = span_of(s), word;
	bool fresh = true;

	if (!*head && !*s)
		return;
	strbuf_adds(t->out, head);
	if (t->out->len - start + 1 > indent && indent) {
		strbuf_addc(t->out, '\n');
		start = t->out->len;
	}
	strbuf_pad(t->out, start + indent);
	while (span_next_word(&rest, &word)) {
		while (word.len) {
			size_t used = t->out->len - start;
			size_t take = MIN(word.len, room);

			if (!fresh && used + 1 + take > width) {
				strbuf_addc(t->out, '\n');
				start = t->out->len;
				strbuf_pad(t->out, start + indent);
				fresh = true;
			}
			if (!fresh)
				strbuf_addc(t->out, ' ');
			strbuf_add(t->out, word.s, take);
			word.s += take;
			word.len -= take;
			fresh = false;
		}
	}
	strbuf_rtrim(t->out);
	strbuf_addc(t->out, '\n');
}

void text_block(struct text *t, const char *key, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	text_wrap(t, key ? key : "", key ? TEXT_KEY : 0, strbuf_str(&sb));
}

const char *text_percent(struct arena *a, double fraction, const char *suffix)
{
	char buf[64];

	if (!isfinite(fraction))
		return "-";
	/* no "-0.00%" */
	if (fabs(fraction) < 0.00005)
		fraction = 0;
	snprintf(buf, sizeof(buf), fabs(fraction) < 1e5 ? "%+.2f" : "%+.2e", 100 * fraction);
	return arena_printf(a, "%s%s", buf, suffix);
}

const char *text_share(struct arena *a, double fraction)
{
	if (!isfinite(fraction))
		return "";
	return arena_printf(a, fraction < 0.9995 ? "%.1f%%" : "%.0f%%", 100 * fraction);
}

const char *text_p(struct arena *a, double p)
{
	if (isnan(p))
		return "none";
	return arena_printf(a, p < 0.0005 ? "%.1e" : p < 0.1 ? "%.3f" : "%.2f", p);
}

const char *text_number(struct arena *a, double v, int decimals)
{
	return arena_printf(a, fabs(v) < 1e15 ? "%.*f" : "%.*e", decimals, v);
}

/* ---- grids ---- */

void grid_init(struct grid *g, struct arena *a, size_t columns)
{
	size_t i;

	*g = (struct grid){.a = a, .columns = columns};
	g->gap = arena_alloc_array(a, columns, sizeof(*g->gap));
	g->least = arena_alloc_array(a, columns, sizeof(*g->least));
	for (i = 1; i < columns; i++)
		g->gap[i] = 2;
}

void grid_release(struct grid *g)
{
	ARRAY_FREE(&g->rows);
}

struct grid_cell *grid_row(struct grid *g)
{
	struct grid_cell *cells = arena_alloc_array(g->a, g->columns, sizeof(*cells));

	*ARRAY_PUSH(&g->rows) = cells;
	return cells;
}

void grid_set(struct grid_cell *cell, const char *text, enum text_color color)
{
	cell->text = text;
	cell->color = color;
}

static size_t grid_column_width(const struct grid *g, size_t column)
{
	size_t i, width = (size_t)g->least[column];

	for (i = 0; i < g->rows.n; i++) {
		const struct grid_cell *cell = &g->rows.items[i][column];

		if (cell->text && !cell->over)
			width = MAX(width, strlen(cell->text));
	}
	return width;
}

int grid_width(const struct grid *g)
{
	size_t i, width = 0;

	for (i = 0; i < g->columns; i++)
		width += grid_column_width(g, i) + (size_t)g->gap[i];
	return (int)width;
}

static void grid_add_cell(struct text *t, const struct grid_cell *cell, size_t *at, size_t start,
			  size_t width)
{
	static const char *const codes[] = {"", "32", "31", "33", "35", "1"};
	size_t len = strlen(cell->text);
	size_t from = cell->left || len > width ? start : start + width - len;

	for (; *at < from; ++*at)
		strbuf_addc(t->out, ' ');
	if (t->color && cell->color)
		strbuf_addf(t->out, "\033[%sm%s\033[0m", codes[cell->color], cell->text);
	else
		strbuf_adds(t->out, cell->text);
	*at += len;
}

void grid_print(const struct grid *g, struct text *t)
{
	size_t *width = arena_alloc_array(g->a, g->columns, sizeof(*width));
	size_t i, k;

	for (i = 0; i < g->columns; i++)
		width[i] = grid_column_width(g, i);
	for (k = 0; k < g->rows.n; k++) {
		size_t at = 0, start = 0;

		for (i = 0; i < g->columns; i++) {
			start += (size_t)g->gap[i];
			if (g->rows.items[k][i].text && *g->rows.items[k][i].text)
				grid_add_cell(t, &g->rows.items[k][i], &at, start, width[i]);
			start += width[i];
		}
		text_blank(t);
	}
}
