// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of a value and its percentage in parentheses, as AMD's kernel people post them:
 *
 *	Test:			tip			sis-short
 *	 1-groups:	   4.63 (0.00 pct)	   4.47 (3.45 pct)
 *
 * or with a coefficient of variation between the two: 18348.00 [0.04] (1.42 pct). Mostly positive
 *is better; tables of power have new / old - 1.
 */
#include "parsers/tables/amd_rows.h"

#include <string.h>
#include <strings.h>

static enum amd_scan scan_pct(struct arena *a, struct span *rest, struct block_cell *out)
{
	struct span s = *rest, number;
	enum amd_scan scan;
	int decimals;
	char c;

	scan = amd_scan_value(&s, out, &number, &c);
	if (scan != AMD_CELL)
		return scan;
	if (c == '[') {
		scan = amd_scan_number(&s, &out->c.deviation, &decimals);
		if (scan != AMD_CELL)
			return scan;
		if (out->c.deviation < 0)
			return AMD_NONE;
		out->c.has_deviation = true;
		c = span_next_char(&s);
		if (c == '%')
			c = span_next_char(&s);
		if (c != ']')
			return c ? AMD_NONE : AMD_CUT;
		c = span_next_char(&s);
	}
	if (c != '(')
		return c ? AMD_NONE : AMD_CUT;
	scan = amd_scan_number(&s, &out->c.change, &out->change_decimals);
	if (scan != AMD_CELL)
		return scan;
	span_skip_blanks(&s);
	if (s.len < 3 || strncasecmp(s.s, "pct", 3))
		return s.len && strncasecmp(s.s, "pct", s.len) ? AMD_NONE : AMD_CUT;
	span_skip(&s, 3);
	c = span_next_char(&s);
	if (c != ')')
		return c ? AMD_NONE : AMD_CUT;
	out->c.has_value = out->c.has_change = true;
	out->c.value_text = block_value_text(a, number);
	*rest = s;
	return AMD_CELL;
}

/* The lines lowest to first alone, with the label of the rows taken off the header. */
static struct table_text without_labels(struct arena *a, const struct table_text *text,
					size_t first, size_t lowest)
{
	struct table_text copy = *text;
	size_t i, from;

	copy.n = first - lowest + 1;
	copy.lines = arena_copy(a, text->lines + lowest, copy.n, sizeof(*copy.lines));
	from = copy.n > 7 ? copy.n - 7 : 0;
	for (i = copy.n - 1; i-- > from && copy.lines[i].text.len;) {
		struct span line = copy.lines[i].text, rest = amd_drop_label(line);
		char *s;

		if (rest.s == line.s || !span_trim(rest).len)
			continue;
		/* what is left keeps its columns */
		s = arena_strndup(a, line.s, line.len);
		memset(s, ' ', (size_t)(rest.s - line.s));
		copy.lines[i].text = (struct span){s, line.len};
	}
	return copy;
}

static bool pct_names(struct arena *a, const struct table_text *text, size_t first, size_t lowest,
		      size_t n, const struct table_legend *legend, const struct table_options *opt,
		      struct table_names *out)
{
	struct table_text copy;
	bool found;

	/* lines far above the rows are no header */
	if (first > lowest + 16)
		lowest = first - 16;
	copy = without_labels(a, text, first, lowest);
	first -= lowest;
	found = (!(opt && opt->names) && table_names_stacked(a, &copy, first, 0, n, out)) ||
		table_names_find(a, &copy, first, 0, n, legend, NULL, opt, out) ||
		(!(opt && opt->names) && table_names_words(a, &copy, first, 0, n, out));
	if (found)
		out->top += lowest;
	return found;
}

static void pct_finish(struct arena *a, struct table_set *set, struct table *t,
		       const struct block_context *c)
{
	const struct table_row *row;
	double largest = 0;
	size_t i;

	array_for_each (row, &t->rows) {
		for (i = 0; i < t->n_variants; i++) {
			if (!row->cells[i].has_deviation)
				continue;
			t->deviation = DEV_CV;
			largest = MAX(largest, row->cells[i].deviation);
		}
	}
	/* without a percent sign it is what it is defined as, unless that cannot be */
	if (t->deviation == DEV_CV && largest < 1)
		t->deviation = DEV_FRACTION;
	block_name_rows(a, set, t, c);
}

static int amd_pct_read(const struct table_source *src)
{
	static const struct amd_style style = {
		.family = "amd-pct", .scan = scan_pct, .names = pct_names, .finish = pct_finish};

	return amd_read(&style, src);
}

static const struct table_family amd_pct = {
	.name = "amd-pct",
	.read = amd_pct_read,
};
REGISTER(table_family, amd_pct);
