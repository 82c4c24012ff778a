// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of what bash's `time` prints, one run after the other or variants side by side, as people
 * mail them - with the lines of a run joined, since that is what became of most:
 *
 *	While running clean kernel / 3 tries):
 *	real 2m38.574s user 46m18.387s sys 6m8.724s
 *
 *	w/ patch: w/o patch:
 *	real 1m17.644s real 1m19.510s user 32m12.074s user 32m14.133s sys 4m35.827s sys 4m38.198s
 *
 * Every value is a single run: rows "run 1 real", "run 1 user", ... in the order listed, in
 *seconds.
 */
#include "parsers/tables/block.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/num.h"

static const char *const metrics[] = {"real", "user", "sys"};
enum { METRICS = ARRAY_SIZE(metrics), MAX_SIDES = 16, CONTEXT = 12 };

struct pair {
	int metric, form, line;
	double seconds;
	const char *text; /* "2m38.574s" */
};

/* A run as listed: one value per metric, text NULL where it is missing. */
struct run {
	struct pair of[METRICS];
};

struct variant {
	const char *name;
	ARRAY_OF(struct run) runs;
};

struct listing {
	ARRAY_OF(struct variant) variants;
	const char *command, *benchmark;
	bool side_by_side;
	int line;
};

struct reader {
	const struct table_source *src;
	struct listing list; /* being collected */
	size_t gap;	     /* first line after the last block */
	const char **sessions;
};

typedef ARRAY_OF(struct pair) pair_array;

/* ---- words ---- */

static int metric_of(struct span word)
{
	size_t i;

	if (word.len && word.s[word.len - 1] == ':')
		word.len--;
	for (i = 0; i < METRICS; i++)
		if (word.len == strlen(metrics[i]) && !strncasecmp(word.s, metrics[i], word.len))
			return (int)i;
	return -1;
}

enum { FORM_MINUTES = 1, FORM_SECONDS = 2 };

/*
 * "2m38.574s", "2m38,574s", "158.574s", and "158.57" as `time -p` prints it. *form is how it is
 * written: a listing does not mix forms, so a time that was cut off ("2") is not taken for another.
 */
static bool time_of(struct span word, double *seconds, int *form)
{
	char digits[32];
	double minutes = 0;
	const char *m = memchr(word.s, 'm', word.len);
	size_t i;

	*form = (m ? FORM_MINUTES : 0) | (word.s[word.len - 1] == 's' ? FORM_SECONDS : 0);
	if (m) {
		if (!num_parse((struct span){word.s, (size_t)(m - word.s)}, &minutes) ||
		    minutes < 0 || word.s[word.len - 1] != 's')
			return false;
		word.len -= (size_t)(m + 1 - word.s);
		word.s = m + 1;
	}
	if (word.len && word.s[word.len - 1] == 's')
		word.len--;
	if (!word.len || word.len >= sizeof(digits) || !isdigit((unsigned char)word.s[0]))
		return false;
	for (i = 0; i < word.len; i++)
		digits[i] = word.s[i] == ',' ? '.' : word.s[i];
	if (!num_parse((struct span){digits, word.len}, seconds))
		return false;
	*seconds += 60 * minutes;
	return true;
}

/* "1:", "#2", "3)", "run": what may stand before a run. */
static bool is_enumerator(struct span word)
{
	size_t i;

	if (span_is(word, "run") || span_is(word, "Run"))
		return true;
	for (i = 0; i < word.len; i++)
		if (!isdigit((unsigned char)word.s[i]) && !strchr("#:).", word.s[i]))
			return false;
	return word.len && word.len <= 4;
}

enum line_kind { LINE_OTHER, LINE_TIMES, LINE_DAMAGED };

/*
 * Times of a line, added to pairs; *metric is the label in force and survives a wrap. A line that
 * begins as times and ends otherwise is damaged.
 */
static enum line_kind read_line(struct reader *rd, const struct table_line *line, int *metric,
				pair_array *pairs)
{
	struct span rest = line->text, word;
	size_t before = pairs->n;
	bool labelled = *metric >= 0, first = true;
	int now = *metric, form;
	double seconds;

	while (span_next_word(&rest, &word)) {
		int found = metric_of(word);

		if (found >= 0) {
			now = found;
			labelled = true;
		} else if (labelled && time_of(word, &seconds, &form) &&
			   (!pairs->n || pairs->items[0].form == form)) {
			*ARRAY_PUSH(pairs) =
				(struct pair){now, form, line->line, seconds,
					      arena_strndup(rd->src->a, word.s, word.len)};
		} else if (!first || !is_enumerator(word)) {
			bool damaged = pairs->n > before;

			pairs->n = before;
			return damaged ? LINE_DAMAGED : LINE_OTHER;
		}
		first = false;
	}
	if (pairs->n == before && now == *metric)
		return LINE_OTHER;
	*metric = now;
	return LINE_TIMES;
}

/* ---- what stands above a block ---- */

/* "w/ patch: w/o patch:" -> the parts before the colons */
static bool names_by_colon(struct arena *a, struct span line, size_t n, const char **names)
{
	const char *colon;
	struct span part;
	size_t i;

	for (i = 0; i < n; i++) {
		colon = memchr(line.s, ':', line.len);
		if (!colon)
			return false;
		part = span_trim((struct span){line.s, (size_t)(colon - line.s)});
		if (!part.len)
			return false;
		names[i] = arena_strndup(a, part.s, part.len);
		line.len -= (size_t)(colon + 1 - line.s);
		line.s = colon + 1;
	}
	return !span_trim(line).len;
}

/* "While running clean kernel / 3 tries):" -> "clean"; a short line is the name itself. */
static const char *heading_name(struct arena *a, struct span line)
{
	struct span rest = line, word, before = {NULL, 0};
	size_t words = 0;

	while (span_next_word(&rest, &word)) {
		if (word.len >= 6 && !strncasecmp(word.s, "kernel", 6) && before.len > 2 &&
		    !span_is(before, "the"))
			return arena_strndup(a, before.s, before.len);
		before = word;
		words++;
	}
	line = span_trim(line);
	while (line.len && strchr(":-= ", line.s[line.len - 1]))
		line.len--;
	if (words > 4 || !line.len || line.len > 48 || !isalnum((unsigned char)line.s[0]))
		return NULL;
	return arena_strndup(a, line.s, line.len);
}

static bool is_command_word(struct span word)
{
	static const char *const words[] = {"make", "echo", "time",    "sync",	 "perf",
					    "cd",   "sudo", "numactl", "taskset"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (span_is(word, words[i]))
			return true;
	return false;
}

/* Commands that were lines once: "make clean echo 3 > F make -j8" -> "make clean; echo 3 > F; ..."
 */
static void add_commands(struct strbuf *sb, struct span line)
{
	struct span word, before = {NULL, 0};

	while (span_next_word(&line, &word)) {
		bool starts = (span_is(word, "make") || span_is(word, "echo")) &&
			      !is_command_word(before) && before.len &&
			      before.s[before.len - 1] != ';' && !span_is(before, "&&");

		if (sb->len)
			strbuf_adds(sb, starts || !before.len ? "; " : " ");
		strbuf_add(sb, word.s, word.len);
		before = word;
	}
}

/* From a command to the end of its sentence, which may have been wrapped to the next line. */
static void add_sentence(const struct table_text *text, size_t i, size_t to, const char *start,
			 struct strbuf *sb)
{
	struct span line = text->lines[i].text, next;
	const char *end;

	line.len -= (size_t)(start - line.s);
	line.s = start;
	strbuf_add(sb, line.s, line.len);
	if (i + 1 < to && !strchr(".:;,", line.s[line.len - 1])) {
		next = span_trim(text->lines[i + 1].text);
		end = memchr(next.s, '.', next.len);
		if (end)
			strbuf_addf(sb, " %.*s", (int)(end - next.s), next.s);
	}
	while (sb->len && strchr(".:;, ", sb->buf[sb->len - 1]))
		sb->buf[--sb->len] = '\0';
}

/* Command lines stand alone, or a sentence names one ("... with make -j64 after make clean."). */
static const char *command_in(struct reader *rd, size_t from, size_t to)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span line, word, rest;
	const char *make;
	size_t i;

	for (i = from; i < to; i++) {
		line = span_trim(rd->src->text->lines[i].text);
		while (line.len > 2 && strchr("$#", line.s[0]) && line.s[1] == ' ') {
			span_skip(&line, 2);
		}
		rest = line;
		if (span_next_word(&rest, &word) && is_command_word(word)) {
			add_commands(&sb, line);
			rd->src->used[i] = true;
		}
	}
	for (i = from; !sb.len && i < to; i++) {
		line = span_trim(rd->src->text->lines[i].text);
		make = span_find(line, "make -");
		if (!make)
			continue;
		add_sentence(rd->src->text, i, to, make, &sb);
	}
	return sb.len ? arena_strndup(rd->src->a, sb.buf, sb.len) : NULL;
}

static const char *benchmark_in(struct reader *rd, size_t from, size_t to)
{
	const char *found = NULL;

	while (!found && to-- > from)
		found = table_benchmark_in(rd->src->text->lines[to].text, NULL);
	return found;
}

/* ---- variants ---- */

static struct variant *find_variant(struct listing *list, const char *name)
{
	struct variant *v;

	array_for_each (v, &list->variants)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

static struct variant *get_variant(struct listing *list, const char *name)
{
	struct variant *v = find_variant(list, name);

	if (v)
		return v;
	v = ARRAY_PUSH(&list->variants);
	v->name = name;
	return v;
}

static void add_rows(struct reader *rd, struct table *t, const struct listing *list, size_t at,
		     size_t most)
{
	size_t m, i;

	for (m = 0; m < METRICS; m++) {
		struct table_row row = {.metric = metrics[m], .unit = "s", .run = (int)at + 1};

		row.cells = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*row.cells));
		for (i = 0; i < t->n_variants; i++) {
			const struct variant *v = &list->variants.items[i];
			const struct pair *p = at < v->runs.n ? &v->runs.items[at].of[m] : NULL;

			if (!p || !p->text)
				continue;
			row.cells[i] = (struct table_cell){.has_value = true,
							   .value = p->seconds,
							   .value_text = p->text,
							   .line = p->line};
			row.line = row.line ? row.line : p->line;
		}
		if (!row.line)
			continue;
		row.key = most > 1 ? arena_printf(rd->src->a, "run %zu %s", at + 1, metrics[m])
				   : metrics[m];
		*ARRAY_PUSH(&t->rows) = row;
	}
}

/* Ends the table being collected. */
static void flush(struct reader *rd)
{
	struct listing *list = &rd->list;
	struct table t = {.family = "bash-time", .unit = "s", .baseline = -1};
	size_t most = 0, i;

	t.n_variants = list->variants.n;
	t.variants = arena_alloc_array(rd->src->a, t.n_variants + 1, sizeof(*t.variants));
	t.descriptions = arena_alloc_array(rd->src->a, t.n_variants + 1, sizeof(*t.descriptions));
	for (i = 0; i < t.n_variants; i++) {
		t.variants[i] = list->variants.items[i].name;
		most = MAX(most, list->variants.items[i].runs.n);
	}
	t.command = list->command;
	t.benchmark = list->benchmark;
	t.line = list->line;
	for (i = 0; i < most; i++)
		add_rows(rd, &t, list, i, most);
	if (t.rows.n)
		*ARRAY_PUSH(&rd->src->set->tables) = t;
	for (i = 0; i < list->variants.n; i++)
		ARRAY_FREE(&list->variants.items[i].runs);
	ARRAY_FREE(&list->variants);
	*list = (struct listing){0};
}

/* ---- blocks ---- */

static int nameless(struct reader *rd, int line, size_t n)
{
	if (n > 1)
		err_add(rd->src->e, -EINVAL, "nothing names the %zu columns of the times", n);
	else
		err_add(rd->src->e, -EINVAL, "nothing names the variant of these times");
	err_at(rd->src->e, rd->src->text->file, line, 0);
	err_hint(rd->src->e, "name the variants in the order of the text: --names A,B");
	return -EINVAL;
}

static bool line_is_blank(const struct table_text *text, size_t i)
{
	return !text->lines[i].text.len || table_is_separator(text->lines[i].text);
}

/* "Run 3:" separates runs of one variant. */
static bool is_run_title(struct span line)
{
	struct span word;

	while (span_next_word(&line, &word))
		if (!is_enumerator(word))
			return false;
	return true;
}

/* Names of n columns, or of the one variant of this block, from --names or the line above. */
static int name_block(struct reader *rd, size_t first, size_t n, const char **names)
{
	struct table_names found;
	struct block_heading heading;
	size_t i = first, given;

	while (i > rd->gap && (line_is_blank(rd->src->text, i - 1) ||
			       is_run_title(rd->src->text->lines[i - 1].text)))
		i--;
	if (n == 1 && rd->src->opt && rd->src->opt->names) {
		for (given = 0; rd->src->opt->names[given]; given++)
			if (given == rd->list.variants.n) {
				names[0] = rd->src->opt->names[given];
				return 0;
			}
	} else if (n == 1 && rd->sessions && first && rd->sessions[first - 1]) {
		names[0] = rd->sessions[first - 1];
		return 0;
	} else if (n == 1 && i > rd->gap) {
		names[0] = heading_name(rd->src->a, rd->src->text->lines[i - 1].text);
		if (names[0]) {
			rd->src->used[i - 1] = true;
			return 0;
		}
	} else if (n == 1 && rd->list.variants.n) {
		/* nothing but "Run 3:" since the last block */
		names[0] = rd->list.variants.items[rd->list.variants.n - 1].name;
		return 0;
	} else if (n > 1) {
		if (!(rd->src->opt && rd->src->opt->names) && i > rd->gap &&
		    names_by_colon(rd->src->a, rd->src->text->lines[i - 1].text, n, names)) {
			rd->src->used[i - 1] = true;
			return 0;
		}
		if (table_names_find(rd->src->a, rd->src->text, first, rd->gap, n, rd->src->legend,
				     NULL, rd->src->opt, &found)) {
			memcpy(names, found.names, n * sizeof(*names));
			return 0;
		}
	}
	if (n == 1 && !(rd->src->opt && rd->src->opt->names)) {
		block_heading(rd->src->a, rd->src->text, rd->src->used, rd->gap, first, NULL,
			      &heading);
		names[0] = heading.name;
		if (names[0])
			return 0;
	}
	return nameless(rd, rd->src->text->lines[first].line, n);
}

/* Whether the lines above a block say that what was timed did not run to its end. */
static const char *stopped_by(struct reader *rd, size_t first)
{
	static const char *const words[] = {"^C", "Terminated", "Killed", "Aborted", "timed out"};
	size_t i, k, seen = 0;

	for (i = first; i > rd->gap && seen < 3;) {
		struct span line = span_trim(rd->src->text->lines[--i].text);

		seen += line.len != 0;
		for (k = 0; k < ARRAY_SIZE(words); k++)
			if (line.len < 40 && span_find(line, words[k]))
				return words[k];
	}
	return NULL;
}

/*
 * One round: n values of each metric, in columns. A round that lacks one is refused, since nothing
 * says whose value is missing.
 */
static void add_round(struct reader *rd, struct variant **variants, size_t n,
		      const struct pair *pairs, size_t n_pairs, int wanted)
{
	struct run runs[MAX_SIDES] = {0};
	size_t seen[METRICS] = {0}, i, m;
	int have = 0;

	for (i = 0; i < n_pairs; i++) {
		m = (size_t)pairs[i].metric;
		if (seen[m] < n)
			runs[seen[m]].of[m] = pairs[i];
		seen[m]++;
		have |= 1 << m;
	}
	for (m = 0; m < METRICS; m++) {
		if (seen[m] == n || (!seen[m] && have == wanted))
			continue;
		tables_refuse(rd->src->a, rd->src->set, pairs[0].line,
			      "run refused: %zu of %zu values of %s", seen[m], n, metrics[m]);
		return;
	}
	for (i = 0; i < n; i++)
		*ARRAY_PUSH(&variants[i]->runs) = runs[i];
}

/* Rounds begin where the first metric comes back after others. */
static void add_rounds(struct reader *rd, struct variant **variants, size_t n,
		       const pair_array *pairs)
{
	int first = pairs->items[0].metric, wanted = 0;
	size_t start = 0, i;

	for (i = 0; i < pairs->n; i++)
		wanted |= 1 << pairs->items[i].metric;
	for (i = 1; i <= pairs->n; i++) {
		if (i < pairs->n &&
		    (pairs->items[i].metric != first || pairs->items[i - 1].metric == first))
			continue;
		add_round(rd, variants, n, pairs->items + start, i - start, wanted);
		start = i;
	}
}

static size_t count_sides(const pair_array *pairs)
{
	size_t n = 1;

	while (n < pairs->n && pairs->items[n].metric == pairs->items[0].metric)
		n++;
	return n;
}

static int add_block(struct reader *rd, size_t first, const pair_array *pairs)
{
	const char *names[MAX_SIDES], *command, *benchmark, *stopped;
	struct variant *variants[MAX_SIDES];
	size_t n = count_sides(pairs), from, i;
	int r;

	from = first > rd->gap + CONTEXT ? first - CONTEXT : rd->gap;
	command = command_in(rd, from, first);
	benchmark = benchmark_in(rd, from, first);
	if (n > MAX_SIDES)
		return nameless(rd, pairs->items[0].line, n);
	if (rd->list.variants.n &&
	    (n > 1 || rd->list.side_by_side || (command && !str_equal(command, rd->list.command))))
		flush(rd);
	r = name_block(rd, first, n, names);
	if (r)
		return r;
	if (!rd->list.variants.n) {
		rd->list.line = pairs->items[0].line;
		rd->list.side_by_side = n > 1;
	}
	if (command)
		rd->list.command = command;
	if (benchmark)
		rd->list.benchmark = benchmark;
	for (i = 0; i < n; i++)
		get_variant(&rd->list, names[i]);
	if (rd->list.variants.n < n)
		return nameless(rd, rd->src->text->lines[first].line, n); /* two of one name */
	for (i = 0; i < n; i++)
		variants[i] = find_variant(&rd->list, names[i]);
	stopped = n == 1 ? stopped_by(rd, first) : NULL;
	if (stopped)
		tables_warn(rd->src->a, rd->src->set, pairs->items[0].line,
			    "run of %s refused: it was stopped (%s)", names[0], stopped);
	else
		add_rounds(rd, variants, n, pairs);
	return 0;
}

/* Lines of times from line i on, blank ones between them; *end: the line after the last. */
static void read_block(struct reader *rd, size_t i, pair_array *pairs, size_t *end)
{
	int metric = -1;

	for (*end = i; i < rd->src->text->n; i++) {
		if (line_is_blank(rd->src->text, i) && pairs->n)
			continue;
		switch (read_line(rd, &rd->src->text->lines[i], &metric, pairs)) {
		case LINE_OTHER:
			return;
		case LINE_DAMAGED:
			tables_refuse(rd->src->a, rd->src->set, rd->src->text->lines[i].line,
				      "run refused: the line begins with times and ends otherwise");
			/* fall through */
		case LINE_TIMES:
			*end = i + 1;
		}
	}
}

/* Times of a program have at least two of the three; "real 5" alone is prose. */
static bool is_listing(const pair_array *pairs)
{
	const struct pair *p;
	int have = 0;

	array_for_each (p, pairs)
		have |= 1 << p->metric;
	return (have & 1) && have != 1;
}

static int bash_time_read(const struct table_source *src)
{
	struct reader rd = {
		.src = src,
	};
	size_t i = 0, end;
	int r = 0;

	rd.sessions = block_sessions(src->a, src->text);
	while (!r && i < src->text->n) {
		pair_array pairs = {NULL, 0, 0};
		size_t refused = src->set->refused.n;

		read_block(&rd, i, &pairs, &end);
		if (is_listing(&pairs)) {
			r = add_block(&rd, i, &pairs);
			memset(src->used + i, true, end - i);
			rd.gap = end;
		} else {
			src->set->refused.n = refused;
		}
		i = MAX(end, i + 1);
		ARRAY_FREE(&pairs);
	}
	flush(&rd);
	return r;
}

static const struct table_family bash_time = {
	.name = "bash-time",
	.read = bash_time_read,
};
REGISTER(table_family, bash_time);
