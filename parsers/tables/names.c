// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of a table's columns. Mailed headers are wrapped, squeezed, glued and cut; a legend and the
 * number of cells in the rows say how to read them:
 *
 *	rc1 + patchX: vanilla + the overload patch
 *	...
 *	5.17-rc1 rc1 + patchX
 *	rc1+patchX+cls rc1+patchX+cls-pingpong rc1+cls
 *	Hmean 1 320.01 ( 0.00%) 318.03 * -0.62%*
 */
#include "parsers/tables/tables.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

enum {
	MAX_COLUMNS = 64,
	MAX_HEADER = 8,	 /* lines: two of them, wrapped up to four times */
	MAX_LEGEND = 40, /* entries considered for one table */
	MAX_NAME = 48,
	MAX_SQUEEZED = 1000,
	WRAPPED = 50, /* a line shorter than this was not wrapped by a mailer */
};

bool table_is_separator(struct span line)
{
	size_t i;

	line = span_trim(line);
	for (i = 0; i < line.len; i++)
		if (!strchr("-=*_~ ", line.s[i]))
			return false;
	return line.len >= 3;
}

bool table_is_parenthesis(struct span line)
{
	struct span rest, word;
	size_t words = 0;

	rest = line = span_trim(line);
	while (span_next_word(&rest, &word))
		words++;
	/* more words are a remark */
	return line.len > 2 && line.len <= 40 && words <= 5 && line.s[0] == '(' &&
	       line.s[line.len - 1] == ')' &&
	       memchr(line.s, ')', line.len) == line.s + line.len - 1;
}

/* ---- splitting ---- */

struct pieces {
	struct span at[MAX_COLUMNS + 1];
	size_t n; /* MAX_COLUMNS + 1: too many */
};

/* Pieces between gaps of two blanks and more (wide), or words; blanks in parentheses do not count.
 */
static void split(struct span s, bool wide, struct pieces *p)
{
	size_t i, start = 0;
	int depth = 0;
	bool in = false;

	p->n = 0;
	for (i = 0; i <= s.len; i++) {
		char c = i < s.len ? s.s[i] : ' ';
		bool blank =
			c == ' ' && (i + 1 >= s.len || s.s[i + 1] == ' ' || (!wide && depth <= 0));

		depth += (c == '(') - (c == ')');
		if (!blank && c != ' ' && !in) {
			if (p->n == MAX_COLUMNS) {
				p->n++;
				return;
			}
			start = i;
			in = true;
		} else if (blank && in) {
			p->at[p->n++] = (struct span){s.s + start, i - start};
			in = false;
			depth = 0;
		}
	}
}

static void add_squeezed(struct strbuf *sb, struct span s)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (s.s[i] != ' ')
			strbuf_addc(sb, s.s[i]);
}

static bool same_squeezed(struct span x, struct span y)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < x.len && x.s[i] == ' ')
			i++;
		while (k < y.len && y.s[k] == ' ')
			k++;
		if (i == x.len || k == y.len)
			return i == x.len && k == y.len;
		if (x.s[i++] != y.s[k++])
			return false;
	}
}

/* ---- legend ---- */

static bool legend_line(struct span line, struct span *name, struct span *text)
{
	const char *colon = span_find(line, ": ");
	struct span rest, word;
	size_t words = 0;

	if (!colon)
		return false;
	*name = span_trim((struct span){line.s, (size_t)(colon - line.s)});
	*text = span_trim((struct span){colon + 1, line.len - (size_t)(colon + 1 - line.s)});
	for (rest = *name; span_next_word(&rest, &word); words++)
		;
	return name->len && name->len <= MAX_NAME && words <= 5 && text->len;
}

void table_legend_read(struct arena *a, const struct table_text *text, struct table_legend *legend)
{
	struct table_legend_entry *entry;
	struct span name, description, line;
	size_t i;

	for (i = 0; i < text->n; i++) {
		if (!legend_line(text->lines[i].text, &name, &description))
			continue;
		entry = ARRAY_PUSH(&legend->entries);
		*entry = (struct table_legend_entry){span_join_words(a, name),
						     span_join_words(a, description), i, i};
		while (i + 1 < text->n && text->lines[i].text.len >= WRAPPED) {
			struct span unused_name, unused_text;

			line = text->lines[i + 1].text;
			if (!line.len || line.s[line.len - 1] == ':' ||
			    legend_line(line, &unused_name, &unused_text))
				break;
			entry->text =
				arena_printf(a, "%s %s", entry->text, span_join_words(a, line));
			entry->last = ++i;
			if (i - entry->first >= 4)
				break;
		}
	}
}

/* The entries above a line: at most MAX_LEGEND, the nearest. */
static size_t legend_above(const struct table_legend *legend, size_t line, size_t *from)
{
	size_t lo = 0, hi = legend->entries.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (legend->entries.items[mid].first < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	*from = lo > MAX_LEGEND ? lo - MAX_LEGEND : 0;
	return lo;
}

/* ---- header ---- */

struct header {
	const struct table_text *text;
	struct span line[MAX_HEADER]; /* nearest the rows first */
	size_t index[MAX_HEADER];
	size_t n;
};

/* Lines that belong together directly above the rows; sections in parentheses stand between. */
static void collect_header(const struct table_text *text, size_t first_row, size_t lowest,
			   struct header *h)
{
	size_t i = first_row;

	h->text = text;
	h->n = 0;
	while (i > lowest) {
		struct span line = text->lines[i - 1].text;

		if (line.len && !table_is_separator(line) && !table_is_parenthesis(line))
			break;
		i--;
	}
	while (i > lowest && h->n < MAX_HEADER) {
		struct span line = text->lines[i - 1].text;

		if (!line.len || line.len > MAX_SQUEEZED || table_is_separator(line) ||
		    line.s[line.len - 1] == ':')
			return;
		h->index[h->n] = --i;
		h->line[h->n++] = line;
	}
}

/* The names of the legend, one after the other, that make up s without a rest. */
static bool segment(const struct table_legend *legend, size_t from, size_t to, const char *s,
		    size_t n, size_t *order)
{
	size_t len = strlen(s), pos, k, used;
	int step[MAX_SQUEEZED + 1]; /* entry + 1 that leads from here to the end; 0: none does */
	char *names[MAX_LEGEND];
	bool ok;

	if (!len || len > MAX_SQUEEZED)
		return false;
	for (k = from; k < to; k++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

		add_squeezed(&sb, span_of(legend->entries.items[k].name));
		names[k - from] = strbuf_take(&sb);
	}
	memset(step, 0, sizeof(step));
	for (pos = len; pos-- > 0;) {
		size_t best = 0;

		for (k = 0; k < to - from; k++) {
			size_t part = strlen(names[k]);

			if (part <= best || part > len - pos || memcmp(s + pos, names[k], part))
				continue;
			if (pos + part != len && !step[pos + part])
				continue;
			best = part;
			step[pos] = (int)k + 1;
		}
	}
	for (pos = 0, used = 0; pos < len && step[pos] && used < n; used++) {
		order[used] = from + (size_t)step[pos] - 1;
		pos += strlen(names[step[pos] - 1]);
	}
	ok = pos == len && used == n;
	for (k = 0; k < to - from; k++)
		mem_free_ptr(&names[k]);
	return ok;
}

/* State of one search. */
struct search {
	struct arena *a;
	const struct table_legend *legend;
	size_t from, to; /* entries of the legend above the rows */
	size_t n;
	const struct header *h;
	struct table_names *out;
};

/*
 * A kernel's or series' name rather than a word of prose: "5.17-rc1", "w/", "rc1+cls", or a
 * word that says which side it is.
 */
static bool is_name(struct span s)
{
	static const char *const words[] = {"patched", "patch", "after", "new", "old",
					    "with",    "fixed", "good",	 "bad", "before"};
	char buf[MAX_NAME + 1];
	const char *name = buf;
	size_t i;

	if (s.len > MAX_NAME)
		return false;
	memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
	if (table_baseline_by_name(&name, 1) == 0 || strpbrk(buf, "0123456789-+_/("))
		return true;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(buf, words[i]))
			return true;
	return false;
}

static bool all_names(const struct pieces *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!is_name(p->at[i]))
			return false;
	return true;
}

/*
 * Pieces of what stands above the names ("5.7.0 5.7.0"), wrapped over some lines from `from` up,
 * if that is a header line too: as many, and between single blanks all names, all the same word,
 * or too many to be a title.
 */
static bool split_above(const struct search *s, size_t from, size_t lines, bool wide,
			struct pieces *above)
{
	struct pieces p;
	size_t i, same = 0;

	above->n = 0;
	if (s->h->n < from + lines)
		return false;
	for (i = from + lines; i-- > from;) {
		split(s->h->line[i], wide, &p);
		if (above->n + p.n > s->n)
			return false;
		memcpy(above->at + above->n, p.at, p.n * sizeof(p.at[0]));
		above->n += p.n;
	}
	if (above->n != s->n)
		return false;
	for (i = 0; i < s->n; i++)
		same += same_squeezed(above->at[i], above->at[0]);
	return (wide && lines == 1) || same == s->n || s->n >= 4 || all_names(above);
}

/* What stands above the names says something of each, unless it repeats them or the benchmark. */
static void take_above(struct search *s, const struct span *above)
{
	size_t i;

	for (i = 0; above && i < s->n; i++)
		if (strncmp(s->out->names[i], above[i].s, above[i].len) &&
		    !table_benchmark_in(above[i], NULL))
			s->out->descriptions[i] = span_join_words(s->a, above[i]);
}

/* Takes `lines` header lines, the names and what stands above them (may be NULL). */
static bool take(struct search *s, size_t lines, const struct span *names, const struct span *above)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		s->out->names[i] = span_join_words(s->a, names[i]);
	take_above(s, above);
	if (lines)
		s->out->top = s->h->index[lines - 1];
	return true;
}

/* The other header line, wrapped as the k lines of the names were or less. */
static void take_wrapped_above(struct search *s, size_t k)
{
	struct pieces above;
	size_t lines;

	for (lines = 1; lines <= k; lines++) {
		if (!split_above(s, k, lines, true, &above) &&
		    !split_above(s, k, lines, false, &above))
			continue;
		take_above(s, above.at);
		s->out->top = s->h->index[k + lines - 1];
		return;
	}
}

static bool from_legend(struct search *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t order[MAX_COLUMNS], k, i;

	for (k = 1; k <= s->h->n; k++) {
		strbuf_reset(&sb);
		for (i = k; i-- > 0;)
			add_squeezed(&sb, s->h->line[i]);
		if (!segment(s->legend, s->from, s->to, strbuf_str(&sb), s->n, order))
			continue;
		for (i = 0; i < s->n; i++)
			s->out->names[i] = s->legend->entries.items[order[i]].name;
		s->out->top = s->h->index[k - 1];
		take_wrapped_above(s, k);
		return true;
	}
	return false;
}

/* "7)": a number or mark of the poster's at the margin, before the names. */
static bool drop_label(struct pieces *p, size_t n, bool wide)
{
	struct span label = p->at[0];

	if (p->n != n + 1 || (!wide && (label.len > 3 || !strchr("):.", label.s[label.len - 1]))))
		return false;
	memmove(p->at, p->at + 1, n * sizeof(p->at[0]));
	p->n = n;
	return true;
}

/* The line next to the rows, and the one above it where it has as many pieces. */
static bool from_nearest(struct search *s, bool wide)
{
	struct pieces names, above;

	if (!s->h->n)
		return false;
	split(s->h->line[0], wide, &names);
	if (names.n != s->n && !drop_label(&names, s->n, wide))
		return false;
	if (!wide && (!all_names(&names) || table_benchmark_in(s->h->line[0], NULL)))
		return false;
	if (!split_above(s, 1, 1, wide, &above))
		return take(s, 1, names.at, NULL);
	return take(s, 2, names.at, above.at);
}

/*
 * "w/o patch w/ patch" with its wide gaps lost: n groups of as many words, all of which begin or
 * all of which end with the same word.
 */
static bool from_groups(struct search *s)
{
	struct pieces p, above;
	struct span names[MAX_COLUMNS], word;
	size_t per, i, first = 1, last = 1;

	if (!s->h->n)
		return false;
	split(s->h->line[0], false, &p);
	per = p.n / s->n;
	if (per < 2 || p.n > MAX_COLUMNS || p.n != per * s->n ||
	    table_benchmark_in(s->h->line[0], NULL))
		return false;
	for (i = 0; i < s->n; i++) {
		word = p.at[i * per + per - 1];
		names[i].s = p.at[i * per].s;
		names[i].len = (size_t)(word.s + word.len - names[i].s);
		first += i && same_squeezed(p.at[i * per], p.at[0]);
		last += i && same_squeezed(word, p.at[per - 1]);
	}
	if (first != s->n && last != s->n)
		return false;
	if (!split_above(s, 1, 1, false, &above))
		return take(s, 1, names, NULL);
	return take(s, 2, names, above.at);
}

/* The header repeats that of the table above, however it was glued. */
static bool from_table_above(struct search *s, const struct table *above)
{
	const struct search whole = *s;
	struct table_legend names = {{NULL, 0, 0}};
	size_t i;
	bool ok;

	if (!above || above->n_variants != s->n)
		return false;
	for (i = 0; i < above->n_variants; i++)
		*ARRAY_PUSH(&names.entries) =
			(struct table_legend_entry){above->variants[i], "", 0, 0};
	s->legend = &names;
	s->from = 0;
	s->to = s->n;
	ok = s->n <= MAX_LEGEND && from_legend(s);
	*s = whole;
	for (i = 0; ok && i < s->n; i++)
		if (!s->out->descriptions[i])
			s->out->descriptions[i] = above->descriptions[i];
	ARRAY_FREE(&names.entries);
	return ok;
}

/*
 * Two lines of single blanks only, of as many words as there are columns, under an indent that was
 * kept: their wide gaps were lost, and neither is one long name.
 *
 *	              6.1.0-rc2 6.1.0-rc2
 *	              vanilla idle-mask-v1
 *	Hmean 1 445.02 ( 0.00%) 451.36 * 1.42%*
 *
 * But "w/o patch" over "w/ patch" are two names, one a line: they share a word of a column.
 */
static bool from_stacked(struct search *s)
{
	struct pieces names, above, whole;
	size_t i, same = 0, first = 0, cut = 0;

	if (s->n < 2 || s->h->n < 2)
		return false;
	for (i = 0; i < 2; i++) {
		split(s->h->line[i], true, &whole);
		split(s->h->line[i], false, i ? &above : &names);
		if (whole.n != 1 || (i ? &above : &names)->n != s->n)
			return false;
	}
	if (!all_names(&names) || table_benchmark_in(s->h->line[0], NULL) ||
	    table_benchmark_in(s->h->line[1], NULL))
		return false;
	for (i = 0; i < s->n; i++) {
		same += same_squeezed(above.at[i], names.at[i]);
		first += same_squeezed(above.at[i], above.at[0]);
		cut += above.at[i].len < names.at[i].len &&
		       !memcmp(above.at[i].s, names.at[i].s, above.at[i].len);
	}
	/* a kernel under which all were run, the names cut short, or a kernel of each */
	if (first != s->n && cut != s->n && (same || !all_names(&above)))
		return false;
	return take(s, 2, names.at, above.at);
}

/* "vanillaresetpcpu-v1r1" under two right-aligned kernels: cut where those end. */
static bool from_columns(struct search *s)
{
	struct pieces above;
	struct span names[MAX_COLUMNS] = {{NULL, 0}};
	size_t i, start = 0, end;

	/* the last name may be wider than its column */
	if (!split_above(s, 1, 1, true, &above) || s->h->line[0].len + 1 < s->h->line[1].len ||
	    s->h->line[0].len > s->h->line[1].len + 16)
		return false;
	for (i = 0; i < s->n; i++) {
		end = (size_t)(above.at[i].s - s->h->line[1].s) + above.at[i].len;
		if (i + 1 == s->n)
			end = s->h->line[0].len;
		names[i] = span_trim((struct span){s->h->line[0].s + start, end - start});
		if (!names[i].len)
			return false;
		start = end;
	}
	return take(s, 2, names, above.at);
}

/* One or two header lines of n names each, wrapped over k lines of the mail. */
static bool from_wrapped(struct search *s, bool wide)
{
	struct span all[2 * MAX_COLUMNS + 1]; /* filled from the end, as lines are read upwards */
	struct span *first = all + ARRAY_SIZE(all);
	struct pieces p;
	size_t k, total = 0, lines = 0;

	for (k = 0; k < s->h->n && total < 2 * s->n; k++) {
		struct span line = s->h->line[k];

		split(line, wide, &p);
		if (total + p.n > 2 * s->n || table_benchmark_in(line, NULL) ||
		    (!wide && !all_names(&p)))
			break;
		total += p.n;
		first -= p.n;
		memcpy(first, p.at, p.n * sizeof(*first));
		/* what was wrapped began far from the margin, a title does not */
		if (k && total % s->n == 0 && (!wide || span_starts(line, "    ")))
			lines = k + 1;
		if (lines == k + 1 && total == 2 * s->n)
			return take(s, lines, first + s->n, first);
	}
	return lines && take(s, lines, all + ARRAY_SIZE(all) - s->n, NULL);
}

/* Exactly n lines of legend that stand together, no header: their order is that of the columns. */
static bool from_legend_alone(struct search *s)
{
	const struct table_legend_entry *e = s->legend->entries.items;
	size_t first = s->to, i;

	while (first > s->from && (first == s->to || e[first - 1].last + 1 == e[first].first))
		first--;
	if (s->to - first != s->n)
		return false;
	for (i = 0; i < s->n; i++)
		s->out->names[i] = e[first + i].name;
	return true;
}

/* Full names for cut ones ("baselin") and what the legend says about each. */
static void apply_legend(struct search *s)
{
	const struct table_legend_entry *e;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		const struct table_legend_entry *full = NULL, *same = NULL;
		size_t len = strlen(s->out->names[i]), longer = 0;

		for (k = s->from; k < s->to; k++) {
			e = &s->legend->entries.items[k];
			if (same_squeezed(span_of(e->name), span_of(s->out->names[i]))) {
				same = e;
			} else if (len >= 5 && !strncmp(e->name, s->out->names[i], len)) {
				full = e;
				longer++;
			}
		}
		if (!same && longer == 1 && isalnum((unsigned char)full->name[len])) {
			s->out->names[i] = full->name;
			same = full;
		}
		if (same)
			s->out->descriptions[i] = same->text;
	}
}

/* Two kernels with one variant name: the header line above tells them apart. */
static bool make_distinct(struct search *s)
{
	const char **names = s->out->names;
	bool twice = false;
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < i; k++)
			twice |= !strcmp(names[i], names[k]);
	if (!twice)
		return true;
	for (i = 0; i < s->n; i++) {
		if (!s->out->descriptions[i])
			return false;
		names[i] = arena_printf(s->a, "%s %s", s->out->descriptions[i], names[i]);
	}
	for (i = 0; i < s->n; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return false;
	return true;
}

static bool from_options(struct search *s, const struct table_options *opt)
{
	struct pieces p;
	size_t i;

	for (i = 0; opt->names[i]; i++)
		;
	if (i != s->n)
		return false;
	for (i = 0; i < s->n; i++)
		s->out->names[i] = opt->names[i];
	if (!s->h->n)
		return true;
	split(s->h->line[0], true, &p);
	if (p.n == s->n)
		s->out->top = s->h->index[0];
	return true;
}

bool table_names_find(struct arena *a, const struct table_text *text, size_t first_row,
		      size_t lowest, size_t n, const struct table_legend *legend,
		      const struct table *above, const struct table_options *opt,
		      struct table_names *out)
{
	struct header h;
	struct search s = {a, legend, 0, 0, n, &h, out};

	out->names = arena_alloc_array(a, n + 1, sizeof(*out->names));
	out->descriptions = arena_alloc_array(a, n + 1, sizeof(*out->descriptions));
	out->top = first_row;
	if (!n || n > MAX_COLUMNS)
		return false;
	s.to = legend_above(legend, first_row, &s.from);
	collect_header(text, first_row, lowest, &h);
	if (opt && opt->names)
		return from_options(&s, opt);
	if (!from_legend(&s) && !from_table_above(&s, above) && !from_nearest(&s, true) &&
	    !from_columns(&s) && !from_stacked(&s) && !from_wrapped(&s, true) &&
	    !from_nearest(&s, false) && !from_wrapped(&s, false) && !from_groups(&s) &&
	    !from_legend_alone(&s))
		return false;
	apply_legend(&s);
	return make_distinct(&s);
}

int table_names_missing(const char *file, const struct table *t, const struct table_options *opt,
			struct err *e)
{
	size_t given = 0, n = t->n_variants;

	while (opt && opt->names && opt->names[given])
		given++;
	if (given)
		err_add(e, -EINVAL, "--names gives %zu names, the rows of the table have %zu cells",
			given, n);
	else
		err_add(e, -EINVAL, "nothing names the %zu columns of the table", n);
	err_at(e, file, t->line, 0);
	err_hint(e,
		 "name them in order: --names A,B%s (a header of %zu names, or a legend of "
		 "lines `name: text` above the table, would do)",
		 n > 2 ? ",..." : "", n);
	return -EINVAL;
}
