// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `perf stat -r` prints, for several variants: one block after the other, or marked line by
 *line:
 *
 *	base:					 # -Before/+After:
 *	 ... for 'system wide' (10 runs):	 -    71,938,508,607      cycles   ( +-  0.17% )
 *	 52.67 Joules power/energy-cores/  ( +-  1.24% )
 *	 34.922801 +- 0.000736 seconds time elapsed ( +-  0.00% )
 *
 * "( +- p% )" is the standard error of the mean in percent, not the spread of one run. The text is
 * read word by word, so that wraps and lost line ends do not matter.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

struct word {
	struct span text;
	size_t line; /* as an index */
	bool starts; /* the first of its line */
};

struct entry {
	struct span number, unit, name, event; /* event: as metric */
	double value, error, percent;
	bool has_error, has_percent, is_time;
	int error_decimals, percent_decimals;
	char prefix; /* '-' or '+' glued to the number or before it */
};

struct reader {
	const struct table_source *src;
	ARRAY_OF(struct word) words;
	struct block_series series;
	struct grid grid;
	int runs;		   /* stated for the block, 0: not */
	const char *minus, *plus;  /* names of the prefixes */
	struct block_heading head; /* of the block being read */
	bool has_head;
};

static bool word_is(const struct reader *rd, size_t i, const char *text)
{
	return i < rd->words.n && span_is(rd->words.items[i].text, text);
}

static bool is_plus_minus(const struct reader *rd, size_t i)
{
	return word_is(rd, i, "+-") || word_is(rd, i, "+/-") || word_is(rd, i, "\xc2\xb1");
}

/* "cycles:u", "power/energy-pkg/", "duration_time" */
static bool is_event(struct span s)
{
	size_t i;

	if (s.len < 2 || !isalpha((unsigned char)s.s[0]))
		return false;
	for (i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.s[i]) && !strchr("_:/.,=-@*", s.s[i]))
			return false;
	return !strchr(":.,", s.s[s.len - 1]);
}

static bool is_unit(struct span s)
{
	static const char *const units[] = {"ns", "msec", "Joules", "MiB", "us", "usec", "sec"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (span_is(s, units[i]))
			return true;
	return false;
}

/* "( +-  0.17% )" from word i on, glued or not: words taken, 0 if it is something else. */
static size_t take_percent(struct reader *rd, size_t i, struct entry *en)
{
	char buf[40];
	struct span s;
	size_t n = 0, k, len;

	for (k = i; k < rd->words.n && k < i + 5; k++) {
		struct span w = rd->words.items[k].text;

		if (n + w.len >= sizeof(buf))
			return 0;
		memcpy(buf + n, w.s, w.len);
		n += w.len;
		if (memchr(w.s, ')', w.len))
			break;
	}
	s = (struct span){buf, n};
	if (span_starts(s, "(+-"))
		len = 3;
	else if (span_starts(s, "(+/-") || span_starts(s, "(\xc2\xb1"))
		len = s.s[1] == '+' ? 4 : 3;
	else
		return 0;
	span_skip(&s, len);
	len = table_scan_number(s, &en->percent, &en->percent_decimals);
	if (!len || len + 2 != s.len || s.s[len] != '%' || s.s[len + 1] != ')' || en->percent < 0)
		return 0;
	en->has_percent = true;
	return k + 1 - i;
}

/* The entry that begins at word i: words taken, 0 if none does. */
static size_t take_entry(struct reader *rd, size_t i, struct entry *en)
{
	const struct word *w = rd->words.items;
	size_t n = rd->words.n, k = i, taken, line;
	int decimals;

	*en = (struct entry){.prefix = '\0'};
	en->number = w[k].text;
	if (en->number.len > 1 && strchr("+-", en->number.s[0]) && w[k].starts) {
		en->prefix = en->number.s[0];
		en->number.s++;
		en->number.len--;
	}
	if (!isdigit((unsigned char)en->number.s[0]) ||
	    !block_number(en->number, &en->value, &decimals))
		return 0;
	if (++k >= n)
		return 0;
	if (is_plus_minus(rd, k) && k + 1 < n &&
	    block_number(w[k + 1].text, &en->error, &en->error_decimals) && en->error >= 0) {
		en->has_error = true;
		k += 2;
	}
	if (k < n && is_unit(w[k].text))
		en->unit = w[k++].text;
	if (k >= n)
		return 0;
	en->event = en->name = w[k].text;
	line = w[k].line;
	if (word_is(rd, k, "seconds") && word_is(rd, k + 1, "time") &&
	    word_is(rd, k + 2, "elapsed")) {
		en->event = span_of("elapsed");
		en->name = span_of("seconds time elapsed");
		k += 3;
		en->is_time = true;
	} else if (word_is(rd, k, "seconds") &&
		   (word_is(rd, k + 1, "user") || word_is(rd, k + 1, "sys"))) {
		en->event = w[k + 1].text;
		en->name = span_of(word_is(rd, k + 1, "user") ? "seconds user" : "seconds sys");
		k += 2;
		en->is_time = true;
	} else if (is_event(w[k].text)) {
		k++;
	} else {
		return 0;
	}
	line = w[k - 1].line;
	/* "# 1.48 insn per cycle", wrapped or not: up to the error, or to the end of the line */
	if (word_is(rd, k, "#")) {
		size_t at = k;

		while (at < n && at < k + 12 && !take_percent(rd, at, en) &&
		       !(at > k + 1 && w[at].starts && isdigit((unsigned char)w[at].text.s[0])))
			at++;
		if (en->has_percent)
			k = at;
		while (!en->has_percent && k < n && w[k].line == line)
			k++;
	}
	taken = k < n ? take_percent(rd, k, en) : 0;
	k += taken;
	if (k < n && w[k].line == w[k - 1].line && w[k].text.s[0] == '(' && w[k].text.len > 2 &&
	    w[k].text.s[w[k].text.len - 2] == '%')
		k++; /* "(83.33%)" of the time */
	if (en->has_percent || (en->has_error && en->is_time))
		return k - i;
	/* no "+-": a line of its own, within an output */
	if ((k < n && w[k].line == line) || !w[i].starts)
		return 0;
	return en->is_time || rd->has_head ? k - i : 0;
}

/* The relative and the absolute error of a time say the same. */
static bool errors_agree(const struct entry *en)
{
	double half, low, high, slack;

	if (!en->has_error || !en->has_percent || en->value <= 0)
		return true;
	half = 0.5 * pow(10, -en->error_decimals);
	slack = pow(10, -en->percent_decimals);
	low = 100 * (en->error - half) / en->value - slack;
	high = 100 * (en->error + half) / en->value + slack;
	return en->percent >= low && en->percent <= high;
}

static void add_entry(struct reader *rd, const struct entry *en, const struct block_heading *h,
		      const char *label, int line)
{
	struct table_row row = {.line = line};
	struct table_cell cell = block_value(rd->src->a, en->number, en->value, line);
	const char *name = span_join_words(rd->src->a, en->name);
	const char *event = arena_strndup(rd->src->a, en->event.s, en->event.len);

	if (!errors_agree(en)) {
		tables_refuse(rd->src->a, rd->src->set, line,
			      "row \"%s\" refused: the error of %s is %.*f, which is %.2f%%, but "
			      "%.*f%% is printed",
			      label ? label : name, cell.value_text, en->error_decimals, en->error,
			      100 * en->error / en->value, en->percent_decimals, en->percent);
		return;
	}
	row.key = !label ? name
		  : en->is_time && !strcmp(event, "elapsed")
			  ? label
			  : arena_printf(rd->src->a, "%s %s", label, name);
	row.axis = label;
	row.full_metric = arena_printf(rd->src->a, "perf-stat.%s", event);
	row.unit = en->is_time	? "s"
		   : en->unit.s ? arena_strndup(rd->src->a, en->unit.s, en->unit.len)
				: NULL;
	row.headline = en->is_time && !strcmp(event, "elapsed");
	row.better = en->is_time || strstr(event, "energy-") || !strcmp(event, "duration_time")
			     ? BETTER_LOWER
			     : BETTER_UNKNOWN;
	cell.has_deviation = en->has_percent;
	cell.deviation = en->percent;
	cell.has_n = rd->runs > 0;
	cell.n = rd->runs;
	grid_add(&rd->grid, NULL, h, &row, &cell);
}

/* "(5 runs):", "-r10", "--repeat 5" among words [from, to) */
static void find_runs(struct reader *rd, size_t from, size_t to)
{
	const struct word *w = rd->words.items;
	double value;
	int decimals;
	size_t i;

	for (i = from; i < to; i++) {
		struct span s = w[i].text;

		if (i + 1 < rd->words.n && span_starts(w[i + 1].text, "run") && s.s[0] == '(') {
			s.s++;
			s.len--;
		} else if (span_starts(s, "-r") && s.len > 2) {
			span_skip(&s, 2);
		} else if (i + 1 < to && (span_is(s, "-r") || span_is(s, "--repeat"))) {
			s = w[i + 1].text;
		} else {
			continue;
		}
		if (block_number(s, &value, &decimals) && !decimals && value >= 1 && value < 1e6)
			rd->runs = (int)value;
	}
}

/* "# -Before/+After:" */
static void find_prefix_names(struct reader *rd, struct span word)
{
	const char *slash = span_find(word, "/+");
	size_t n;

	if (word.len < 5 || word.s[0] != '-' || !slash || rd->minus)
		return;
	n = word.len - (word.s[word.len - 1] == ':');
	rd->minus = arena_strndup(rd->src->a, word.s + 1, (size_t)(slash - word.s) - 1);
	rd->plus = arena_strndup(rd->src->a, slash + 2, (size_t)(word.s + n - slash) - 2);
}

/*
 * What stands before an entry: "40:" labels the row, "vanilla:" names the variant; words [from, to)
 * are those since the last entry, the label is the last of them or what begins its line.
 */
static struct span label_before(const struct reader *rd, size_t from, size_t to)
{
	const struct word *w = rd->words.items;
	struct span none = {NULL, 0}, s;
	size_t i = to;

	if (to == from || w[to].starts || w[to - 1].text.s[w[to - 1].text.len - 1] != ':')
		return none;
	while (i > from + 1 && !w[i - 1].starts)
		i--;
	s = (struct span){w[i - 1].text.s, (size_t)(w[to - 1].text.s - w[i - 1].text.s)};
	if (!w[i - 1].starts || to - i > 3 || span_find(s, "$") || span_find(s, "perf stat") ||
	    s.s[0] == '-')
		i = to;
	s.s = w[i - 1].text.s;
	s.len = (size_t)(w[to - 1].text.s + w[to - 1].text.len - s.s) - 1;
	return s;
}

/* A block of entries ends where other words stand; what they say goes for the next one. */
static void begin_block(struct reader *rd, size_t from, size_t to, struct span label, bool prefixed)
{
	const struct word *w = rd->words.items;
	struct block_heading command;

	find_runs(rd, from, to);
	rd->has_head = false;
	if (prefixed || label.len) {
		/* the names are here; only the command may stand above */
		block_heading(rd->src->a, rd->src->text, rd->src->used, rd->series.gap, w[to].line,
			      NULL, &command);
		rd->head = (struct block_heading){NULL, NULL, command.command};
		rd->has_head = true;
		return;
	}
	rd->has_head = block_series_next(&rd->series, w[to].line, &rd->head);
}

static bool is_numeric(struct span s)
{
	double value;
	int decimals;

	return block_number(s, &value, &decimals);
}

/* Named by the text, or by --names in the order of appearance. */
static const char *given_name(struct reader *rd, const char *name)
{
	struct block_series *s = &rd->series;
	size_t i, given = 0;

	while (s->opt && s->opt->names && s->opt->names[given])
		given++;
	for (i = 0; i < s->n && strcmp(s->seen[i].name, name); i++)
		;
	if (i == s->n && s->n < ARRAY_SIZE(s->seen))
		s->seen[s->n++] = (struct block_heading){name, NULL, NULL};
	return i < given ? s->opt->names[i] : name;
}

static void collect_words(struct reader *rd)
{
	size_t i;

	for (i = 0; i < rd->src->text->n; i++) {
		struct span rest = rd->src->text->lines[i].text, word;
		bool starts = true;

		while (span_next_word(&rest, &word)) {
			*ARRAY_PUSH(&rd->words) = (struct word){word, i, starts};
			starts = false;
		}
	}
}

static bool is_prefix(struct span s)
{
	return span_is(s, "-") || span_is(s, "+");
}

static void read_words(struct reader *rd)
{
	size_t i = 0, from = 0, n = rd->words.n, taken;
	struct entry en;
	bool inside = false;

	while (i < n) {
		const struct word *w = rd->words.items;
		struct block_heading h;
		struct span label;
		size_t at = i;
		bool numeric, prefixed;

		find_prefix_names(rd, w[i].text);
		prefixed = w[i].starts && is_prefix(w[i].text) && i + 1 < n;
		if (prefixed)
			at = i + 1;
		/* a label of the next line's entry belongs to that block */
		taken = take_entry(rd, at, &en);
		if (!taken) {
			i++;
			continue;
		}
		if (prefixed)
			en.prefix = w[i].text.s[0];
		label = label_before(rd, from, i);
		numeric = label.len && is_numeric(label);
		/* words between the entries, other than the label of this one */
		if (!inside || i - from > (numeric ? 1u : 0u))
			begin_block(rd, from, i, numeric ? (struct span){NULL, 0} : label,
				    en.prefix != '\0');
		inside = true;
		h = rd->head;
		if (en.prefix)
			h.name = given_name(rd, en.prefix == '-' ? rd->minus ? rd->minus : "-"
						: rd->plus	 ? rd->plus
								 : "+");
		else if (label.len && !numeric)
			h.name = given_name(rd, span_join_words(rd->src->a, label));
		if (!h.name && rd->head.name)
			h.name = rd->head.name;
		if (rd->has_head && h.name) {
			rd->head.name = en.prefix ? NULL : h.name;
			add_entry(rd, &en, &h, numeric ? span_join_words(rd->src->a, label) : NULL,
				  rd->src->text->lines[w[at].line].line);
		}
		i = at + taken;
		memset(rd->src->used + w[at].line, true, w[i - 1].line + 1 - w[at].line);
		rd->series.gap = w[i - 1].line + 1;
		from = i;
	}
}

static bool has_perf(const struct table_text *text)
{
	size_t i;

	for (i = 0; i < text->n; i++)
		if (span_find(text->lines[i].text, "elapsed") ||
		    span_find(text->lines[i].text, "+-") ||
		    span_find(text->lines[i].text, "\xc2\xb1"))
			return true;
	return false;
}

static int perf_stat_read(const struct table_source *src)
{
	struct reader rd = {.src = src};
	const struct table common = {.family = "perf-stat",
				     .deviation = DEV_STDERR_PERCENT,
				     .sign = SIGN_NONE,
				     .baseline = -1};
	int r = 0;

	if (!has_perf(src->text))
		return 0;
	rd.grid.a = src->a;
	rd.series = (struct block_series){.a = src->a,
					  .text = src->text,
					  .used = src->used,
					  .opt = src->opt,
					  .sessions = block_sessions(src->a, src->text)};
	collect_words(&rd);
	read_words(&rd);
	if (rd.series.nameless_line && rd.series.blocks > 1)
		r = block_nameless(src->text, rd.series.nameless_line, rd.series.blocks, src->opt,
				   src->e);
	grid_finish(&rd.grid, src->set, 2, false, &common);
	ARRAY_FREE(&rd.words);
	return r;
}

static const struct table_family perf_stat = {
	.name = "perf-stat",
	.read = perf_stat_read,
};
REGISTER(table_family, perf_stat);
