// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comma-separated values, one row per measurement (the variant is a column) or one per key (the
 * variants are columns):
 *
 *	kernel,benchmark,iters,total_ns,per_iter_ns		clients,base,patched
 *	kevlar,getpid,1000000,200000000,200			1,320.5,318.0
 *	linux,getpid,1000000,338000000,338			2,650.1,655.2
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

enum { MAX_FIELDS = 32 };

struct record {
	struct span field[MAX_FIELDS];
	size_t n;
	int line;
};

struct csv {
	struct arena *a;
	const struct table_text *text;
	struct table_set *set;
	struct record header;
	ARRAY_OF(struct record) records;
	bool numeric[MAX_FIELDS];
	int variant; /* column of the variants, -1: they are columns */
};

/* Fields of a line; a quoted one may hold commas. */
static bool split(struct span line, int number, struct record *r)
{
	size_t i = 0, start;

	*r = (struct record){.line = number};
	line = span_trim(line);
	if (!line.len)
		return false;
	for (;;) {
		if (r->n == MAX_FIELDS)
			return false;
		while (i < line.len && line.s[i] == ' ')
			i++;
		if (i < line.len && line.s[i] == '"') {
			start = ++i;
			while (i < line.len && line.s[i] != '"')
				i++;
			r->field[r->n++] = (struct span){line.s + start, i - start};
			i += i < line.len;
		} else {
			start = i;
			while (i < line.len && line.s[i] != ',')
				i++;
			r->field[r->n++] = span_trim((struct span){line.s + start, i - start});
		}
		while (i < line.len && line.s[i] == ' ')
			i++;
		if (i == line.len)
			return true;
		if (line.s[i++] != ',')
			return false;
	}
}

static bool is_number(struct span s)
{
	double value;
	int decimals;

	return s.len && !memchr(s.s, ',', s.len) && block_number(s, &value, &decimals);
}

/* Three short words and more between commas, none of them a number. */
static bool is_header(const struct record *r)
{
	size_t i, k, blanks;

	if (r->n < 3)
		return false;
	for (i = 0; i < r->n; i++) {
		struct span s = r->field[i];

		if (!s.len || s.len > 48 || is_number(s) || !isgraph((unsigned char)s.s[0]))
			return false;
		for (k = blanks = 0; k < s.len; k++)
			blanks += s.s[k] == ' ';
		if (blanks > 2)
			return false;
	}
	return true;
}

static bool field_is(struct span s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.s, word, s.len);
}

/* The text column that names the variant. */
static int variant_column(const struct csv *c)
{
	static const char *const words[] = {"kernel", "variant", "version", "config", "build",
					    "branch", "commit",	 "label",   "patch",  "sched"};
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(words); k++)
		for (i = 0; i < c->header.n; i++)
			if (!c->numeric[i] && field_is(c->header.field[i], words[k]))
				return (int)i;
	return -1;
}

/* "total_ns" -> "ns" */
static const char *unit_of(struct arena *a, struct span name)
{
	static const char *const units[] = {"ns",  "us",   "usec", "ms",   "msec", "s",
					    "sec", "secs", "pct",  "MBps", "KBps", "rps"};
	const char *tail = memrchr(name.s, '_', name.len);
	struct span unit;
	size_t i;

	if (!tail)
		tail = memrchr(name.s, '(', name.len);
	if (!tail)
		return NULL;
	unit = (struct span){tail + 1, name.len - (size_t)(tail + 1 - name.s)};
	if (unit.len && unit.s[unit.len - 1] == ')')
		unit.len--;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (span_is(unit, units[i]))
			return arena_strdup(a, units[i]);
	return NULL;
}

/* The text columns of a record other than the variant's; a key is never empty. */
static const char *key_of(const struct csv *c, const struct record *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (c->numeric[i] || (int)i == c->variant || !r->field[i].len)
			continue;
		strbuf_addf(&sb, "%s%.*s", sb.len ? " " : "", (int)r->field[i].len, r->field[i].s);
	}
	return arena_strndup(c->a, strbuf_str(&sb), sb.len);
}

static void add_cell(struct csv *c, struct grid *g, const struct record *r, size_t i,
		     const char *variant, const char *key, struct span metric)
{
	struct block_heading h = {variant, NULL, NULL};
	struct table_row row = {.line = r->line};
	struct table_cell cell;
	double value;
	int decimals;

	if (!block_number(r->field[i], &value, &decimals))
		return; /* empty: not measured */
	cell = block_value(c->a, r->field[i], value, r->line);
	row.key = metric.len ? arena_printf(c->a, "%s%s%.*s", key, *key ? " " : "", (int)metric.len,
					    metric.s)
			     : key;
	row.axis = *key ? key : NULL;
	row.unit = metric.len ? unit_of(c->a, metric) : NULL;
	row.statistic = metric.len ? arena_strndup(c->a, metric.s, metric.len) : NULL;
	grid_add(g, NULL, &h, &row, &cell);
}

static void add_long(struct csv *c, struct grid *g)
{
	const struct record *r;
	size_t i;

	array_for_each (r, &c->records) {
		struct span v = r->field[c->variant];
		const char *variant = arena_strndup(c->a, v.s, v.len), *key = key_of(c, r);

		for (i = 0; v.len && i < r->n; i++)
			if (c->numeric[i])
				add_cell(c, g, r, i, variant, key, c->header.field[i]);
	}
}

static int add_wide(struct csv *c, struct grid *g, const struct table_options *opt, struct err *e)
{
	struct span none = {NULL, 0};
	const struct record *r;
	size_t i, first = 1, given = 0;

	/* the key is the text columns, or the first one */
	while (first < c->header.n && !c->numeric[first])
		first++;
	while (opt && opt->names && opt->names[given])
		given++;
	if (given && given != c->header.n - first)
		return block_nameless(c->text, c->header.line, c->header.n - first, opt, e);
	array_for_each (r, &c->records) {
		struct span k = {r->field[0].s, (size_t)(r->field[first - 1].s +
							 r->field[first - 1].len - r->field[0].s)};
		const char *key = span_join_words(c->a, k);

		for (i = first; *key && i < r->n; i++)
			add_cell(c, g, r, i,
				 given ? opt->names[i - first]
				       : arena_strndup(c->a, c->header.field[i].s,
						       c->header.field[i].len),
				 key, none);
	}
	return 0;
}

/* Columns after the first that could be variants: one of them is called like a baseline. */
static bool names_variants(const struct csv *c, const struct table_options *opt)
{
	const char *names[MAX_FIELDS];
	size_t i, n = 0;

	for (i = 1; i < c->header.n; i++)
		if (c->numeric[i])
			names[n++] =
				arena_strndup(c->a, c->header.field[i].s, c->header.field[i].len);
	return n > 1 &&
	       ((opt && (opt->names || opt->baseline)) || table_baseline_by_name(names, n) >= 0);
}

static bool has_numeric(const struct csv *c)
{
	return memchr(c->numeric, true, c->header.n);
}

/* Records below the header at line i; *end: the line after the last. */
static void read_records(struct csv *c, size_t i, size_t *end)
{
	struct record r;
	size_t k;

	c->records.n = 0;
	for (k = 0; k < c->header.n; k++)
		c->numeric[k] = true;
	for (*end = ++i; i < c->text->n; i++) {
		const struct table_line *line = &c->text->lines[i];

		if (!split(line->text, line->line, &r) || r.n == 1)
			break;
		*end = i + 1;
		if (r.n != c->header.n) {
			tables_refuse(c->a, c->set, line->line,
				      "record refused: %zu fields, the header has %zu", r.n,
				      c->header.n);
			continue;
		}
		*ARRAY_PUSH(&c->records) = r;
		for (k = 0; k < r.n; k++)
			c->numeric[k] &= !r.field[k].len || is_number(r.field[k]);
		if (!has_numeric(c))
			return; /* no table; what follows is read from its own header on */
	}
}

static int csv_read(const struct table_source *src)
{
	static const struct table common = {.family = "csv", .sign = SIGN_NONE, .baseline = -1};
	struct csv c = {.a = src->a, .text = src->text, .set = src->set};
	size_t i, end, refused, tables;
	int r = 0;

	for (i = 0; !r && i + 2 < src->text->n + 1; i++) {
		struct grid g = {.a = src->a};

		if (src->used[i] || !src->text->lines[i].text.len ||
		    !memchr(src->text->lines[i].text.s, ',', src->text->lines[i].text.len) ||
		    !split(src->text->lines[i].text, src->text->lines[i].line, &c.header) ||
		    !is_header(&c.header))
			continue;
		refused = src->set->refused.n;
		tables = src->set->tables.n;
		read_records(&c, i, &end);
		c.variant = variant_column(&c);
		if (!c.records.n || !has_numeric(&c)) {
			src->set->refused.n = refused;
			continue;
		}
		if (c.variant >= 0)
			add_long(&c, &g);
		else if (names_variants(&c, src->opt))
			r = add_wide(&c, &g, src->opt, src->e);
		grid_finish(&g, src->set, 2, false, &common);
		if (src->set->tables.n == tables) {
			src->set->refused.n = refused;
			continue;
		}
		memset(src->used + i, true, end - i);
		i = end - 1;
	}
	ARRAY_FREE(&c.records);
	return r;
}

static const struct table_family csv = {
	.name = "csv",
	.read = csv_read,
};
REGISTER(table_family, csv);
