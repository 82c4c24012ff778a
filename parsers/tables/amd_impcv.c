// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of a value, its improvement in percent and its coefficient of variation, under a block
 *that says what was measured:
 *
 *	Test          : hackbench
 *	Units         : Normalized time in seconds
 *	Interpretation: Lower is better
 *	Statistic     : AMean
 *	Case:         tip[pct imp](CV)    patched[pct imp](CV)
 *	 1-groups     1.00 [ -0.00]( 2.08)     0.98 [  2.29]( 3.19)
 *
 * Positive is better; percentages are computed before the values are rounded.
 */
#include "parsers/tables/amd_rows.h"

#include <string.h>

/* A number and its closing mark off *s; false: *scan says why not. */
static bool scan_closed(struct span *s, char close, double *value, int *decimals,
			enum amd_scan *scan)
{
	size_t len;
	char c;

	span_skip_blanks(s);
	len = table_scan_number(*s, value, decimals);
	*scan = s->len && !(s->len == 1 && strchr("+-", s->s[0])) ? AMD_NONE : AMD_CUT;
	if (!len)
		return false;
	span_skip(s, len);
	c = span_next_char(s);
	if (c == '%')
		c = span_next_char(s);
	*scan = c ? AMD_NONE : AMD_CUT;
	return c == close;
}

static enum amd_scan scan_impcv(struct arena *a, struct span *rest, struct block_cell *out)
{
	struct span s = *rest, number, more;
	enum amd_scan scan;
	int decimals;
	char c;

	scan = amd_scan_value(&s, out, &number, &c);
	if (scan != AMD_CELL)
		return scan;
	if (c != '[')
		return c ? AMD_NONE : AMD_CUT;
	if (!scan_closed(&s, ']', &out->c.change, &out->change_decimals, &scan))
		return scan;
	more = s;
	c = span_next_char(&more);
	if (!c)
		return AMD_CUT; /* the deviation was wrapped, or there is none and the row is bad */
	if (c != '(')
		return AMD_NONE;
	if (!scan_closed(&more, ')', &out->c.deviation, &decimals, &scan))
		return scan;
	if (out->c.deviation < 0)
		return AMD_NONE;
	out->c.has_value = out->c.has_change = out->c.has_deviation = true;
	out->c.value_text = block_value_text(a, number);
	*rest = more;
	return AMD_CELL;
}

static const char marker[] = "[pctimp]";

/* "tip[pct imp](CV)" n times over, however it was wrapped: what stands before each marker. */
static bool split_header(struct arena *a, struct span header, size_t n, const char **names)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = amd_drop_label(header), name;
	const char *p, *end;
	size_t i, k;

	/* blanks inside the marker go, so that it is one word */
	for (i = 0; i < rest.len; i++) {
		bool inside = false;

		for (k = sb.len; k > 0 && sb.len - k < 10 && !inside && sb.buf[k - 1] != ']'; k--)
			inside = sb.buf[k - 1] == '[';
		if (!inside || rest.s[i] != ' ')
			strbuf_addc(&sb, rest.s[i]);
	}
	rest = (struct span){strbuf_str(&sb), sb.len};
	for (i = 0;; i++) {
		p = span_find(rest, marker);
		if (!p)
			return i == n;
		if (i == n)
			return false;
		name = span_trim((struct span){rest.s, (size_t)(p - rest.s)});
		if (!name.len || name.len > 64)
			return false;
		names[i] = span_join_words(a, name);
		for (k = 0; k < i; k++)
			if (!strcmp(names[k], names[i]))
				return false;
		end = p + strlen(marker);
		rest.len -= (size_t)(end - rest.s);
		rest.s = end;
		span_skip_blanks(&rest);
		if (span_starts(rest, "(CV)")) {
			span_skip(&rest, 4);
		}
	}
}

static bool impcv_names(struct arena *a, const struct table_text *text, size_t first, size_t lowest,
			size_t n, const struct table_legend *legend,
			const struct table_options *opt, struct table_names *out)
{
	const char *joined = "";
	size_t i, k;

	if (opt && opt->names)
		return table_names_find(a, text, first, lowest, n, legend, NULL, opt, out);
	out->names = arena_alloc_array(a, n + 1, sizeof(*out->names));
	out->descriptions = arena_alloc_array(a, n + 1, sizeof(*out->descriptions));
	for (i = first; i > lowest && first - i < 12;) {
		struct span line = text->lines[--i].text;

		if (!line.len && !*joined)
			continue;
		if (!line.len || line.len > 500 || table_is_separator(line))
			return false;
		joined = arena_printf(a, "%.*s %s", (int)line.len, line.s, joined);
		if (!split_header(a, span_of(joined), n, out->names))
			continue;
		out->top = i;
		for (k = 0; k < legend->entries.n && k < 200; k++) {
			const struct table_legend_entry *e = &legend->entries.items[k];
			size_t v;

			for (v = 0; v < n; v++)
				if (e->first < first && !strcmp(e->name, out->names[v]))
					out->descriptions[v] = e->text;
		}
		return true;
	}
	return false;
}

static enum row_change impcv_wanted(const struct block_context *c)
{
	if (c->better == BETTER_UNKNOWN)
		return CHANGE_UNKNOWN;
	return c->better == BETTER_LOWER ? CHANGE_INVERTED : CHANGE_RAW;
}

static void impcv_finish(struct arena *a, struct table_set *set, struct table *t,
			 const struct block_context *c)
{
	t->deviation = DEV_CV;
	block_name_rows(a, set, t, c);
}

static int amd_impcv_read(const struct table_source *src)
{
	static const struct amd_style style = {
		.family = "amd-impcv",
		.scan = scan_impcv,
		.names = impcv_names,
		.finish = impcv_finish,
		.wanted = impcv_wanted,
	};

	return amd_read(&style, src);
}

static const struct table_family amd_impcv = {
	.name = "amd-impcv",
	.read = amd_impcv_read,
};
REGISTER(table_family, amd_impcv);
