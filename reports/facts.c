// SPDX-License-Identifier: GPL-2.0-or-later
/* What a reader needs before the numbers: metrics, sign, marks, kernels, machine, command, gaps. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "reports/layout.h"

/* Longest name that gets a column of its own in the legend. */
#define LEGEND_NAME 26
/* Warnings printed; the rest is counted. */
#define MAX_NOTES 8

/* What a plus sign means, beside the rule of the change; NULL where that differs. */
static const char *const signs[] = {
	[DIR_HIGHER] = "+ is better", [DIR_LOWER] = "- is better", [DIR_NEUTRAL] = NULL,
	[DIR_DEPENDS] = NULL,	      [DIR_UNKNOWN] = NULL,
};

/* "Hmean of 5 boots a side" */
static const char *mean_words(const struct view *v, enum mean_kind kind)
{
	const char *units = view_units_text(v->c, v->a);

	return arena_printf(v->a, *units ? "%s, n = %s" : "%s per row", mean_kind_name(kind),
			    units);
}

static bool row_alike(const struct cmp_row *x, const struct cmp_row *y)
{
	return !strcmp(x->unit, y->unit) && x->direction == y->direction &&
	       x->mean_kind == y->mean_kind;
}

struct metric_line {
	const char *benchmark;
	const struct cmp_row *row;
	struct strbuf names;
};

static bool line_has(const struct metric_line *l, const char *name)
{
	const char *at = strstr(strbuf_str(&l->names), name);

	return at != NULL && (at[strlen(name)] == ',' || !at[strlen(name)]);
}

void facts_metrics(struct text *t, const struct view *v, bool headlines)
{
	ARRAY_OF(struct metric_line) lines = {NULL, 0, 0};
	struct metric_line *l;
	size_t i, r;

	for (i = 0; i < v->c->n_tests; i++) {
		const struct cmp_test *test = &v->c->tests[i];

		for (r = 0; r < test->n_rows; r++) {
			const struct cmp_row *row = &test->rows[r];
			const char *name = text_ascii(v->a, comparison_metric_name(row));

			if (headlines ? !row->headline : !row->shown)
				continue;
			array_for_each (l, &lines)
				if (!strcmp(l->benchmark, test->benchmark) &&
				    row_alike(l->row, row))
					break;
			if (l == lines.items + lines.n) {
				l = ARRAY_PUSH(&lines);
				l->benchmark = test->benchmark;
				l->row = row;
			}
			if (!line_has(l, name))
				strbuf_addf(&l->names, "%s%s", l->names.len ? ", " : "", name);
		}
	}
	array_for_each (l, &lines) {
		text_block(t, l == lines.items ? "metric" : "", "%s %s, %s, %s; %s",
			   text_ascii(v->a, l->benchmark), strbuf_str(&l->names),
			   *l->row->unit ? text_ascii(v->a, view_unit(l->row->unit)) : "no unit",
			   view_direction(l->row->direction), mean_words(v, l->row->mean_kind));
		strbuf_release(&l->names);
	}
	ARRAY_FREE(&lines);
}

/* The direction of all headline rows, DIR_UNKNOWN if they differ. */
static enum direction common_direction(const struct comparison *c)
{
	bool any = false;
	enum direction d = DIR_UNKNOWN;
	size_t i, r;

	for (i = 0; i < c->n_tests; i++) {
		for (r = 0; r < c->tests[i].n_rows; r++) {
			const struct cmp_row *row = &c->tests[i].rows[r];

			if (!row->shown)
				continue;
			if (any && row->direction != d)
				return DIR_UNKNOWN;
			d = row->direction;
			any = true;
		}
	}
	return d;
}

static void facts_change(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *sign = signs[common_direction(c)];
	size_t i;

	if (v->style == STYLE_NORM)
		text_block(t, "norm",
			   "A is 1.00 in each row, above 1.00 is better: kernel / A, where lower is "
			   "better A / kernel; %%std = stddev / mean");
	if (v->style == STYLE_BLOCK)
		text_block(t, "block",
			   "kernel / A of each row; pct imp is + where the kernel is better, whatever "
			   "the metric; CV = stddev / mean, %%");
	if (v->style != STYLE_TABLE)
		return;

	strbuf_addf(&sb, "%s / A - 1 %s", c->n_variants == 2 ? "B" : "kernel",
		    c->has_published ? "as published" : "of the means");
	if (sign)
		strbuf_addf(&sb, "%s %s", c->has_published ? "," : ";", sign);
	for (i = 0; i < c->n_contrasts; i++)
		strbuf_addf(&sb, "; %s is %s / %s - 1",
			    view_column_name(c, v->a, c->n_variants + i),
			    c->variants[c->contrasts[i].top].id,
			    c->variants[c->contrasts[i].bottom].id);
	if (c->has_spread)
		strbuf_addf(&sb, "; cv = stddev / mean%s",
			    layout_is_pair(c) ? "" : ", the row's largest");
	text_block(t, "change", "%s", strbuf_str(&sb));
}

static int tested_rows(const struct comparison *c)
{
	size_t i, r, k;
	int n = 0;

	for (i = 0; i < c->n_tests; i++)
		for (r = 0; r < c->tests[i].n_rows; r++)
			for (k = 1; c->tests[i].rows[r].shown && k < c->n_variants; k++)
				n += c->tests[i].rows[r].cells[k].family > 0;
	return n;
}

static bool any_multiplicity(const struct comparison *c)
{
	size_t i, r, k;

	for (i = 0; i < c->n_tests; i++)
		for (r = 0; r < c->tests[i].n_rows; r++)
			for (k = 1; k < c->n_variants; k++)
				if (c->tests[i].rows[r].cells[k].multiplicity)
					return true;
	return false;
}

static void facts_verdicts(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	double percent = 100 * c->threshold;
	const char *floor = c->has_floor ? " (or the noted noise floor)" : "";
	int n = tested_rows(c);

	if (!n) {
		text_block(t, "range", "smallest and largest difference of one seed");
		text_block(
			t, "verdict",
			"better or worse: the seeds agree, and change %g%% or more (less is marked "
			"small); same: range inside +-%g%%; unsure: neither",
			percent, percent);
		return;
	}
	text_block(t, "range", "%g%% interval of the change (%s)", 100 * c->level,
		   view_tests_text(c, t->a));
	text_block(t, "verdict",
		   "better or worse: range without 0%s and change %g%% or more%s (less is marked "
		   "small); same: range inside +-%g%%; unsure: neither%s. If nothing had changed, "
		   "any mark at all appears in at most 5%% of such tables%s",
		   n > 1 ? arena_printf(t->a, ", also corrected for %d rows,", n) : "", percent,
		   floor, percent,
		   any_multiplicity(c) ? " ((m): range without 0, but not among all rows)" : "",
		   c->looks ? arena_printf(t->a, " (%s, each judged at %g%%)", c->looks, 100 * c->q)
			    : "");
}

static const struct {
	char mark;
	const char *words;
} mark_words[] = {
	{'*', "better by %g%% or more"},
	{'!', "worse by %g%% or more"},
	{'s', "real but under %g%%"},
	{'c', "changed"},
	{'=', "same (interval inside +-%g%%)"},
	{'?', "unsure"},
	{'.', "no result"},
};

static bool mark_is_used(const struct view *v, char mark)
{
	size_t i, k, column;

	for (i = 0; i < v->n; i++)
		for (k = 0; k < v->tables[i].n; k++)
			for (column = 1; column < view_columns(v->c); column++)
				if (layout_mark(view_cell(v->c, &v->tables[i].rows[k], column)) ==
				    mark)
					return true;
	return false;
}

/* Words with at most one %g, which takes the threshold; "%%" is a percent sign. */
static void add_words(struct strbuf *sb, const char *words, double percent)
{
	for (; *words; words++) {
		if (*words != '%') {
			strbuf_addc(sb, *words);
			continue;
		}
		if (*++words == '%')
			strbuf_addc(sb, '%');
		else
			strbuf_addf(sb, "%g", percent);
	}
}

static void facts_marks(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char *tests = arena_strdup(t->a, view_tests_text(c, t->a));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mark_words); i++) {
		if (!mark_is_used(v, mark_words[i].mark))
			continue;
		strbuf_addf(&sb, "%s%c ", sb.len ? ", " : "", mark_words[i].mark);
		add_words(&sb, mark_words[i].words, 100 * c->threshold);
	}
	if (!tested_rows(c)) {
		text_block(t, "marks",
			   "%s. Compared seed by seed: real where the seeds agree and the change is "
			   "beyond what one kernel shows between its seeds",
			   strbuf_str(&sb));
		return;
	}
	tests[0] = (char)toupper((unsigned char)tests[0]);
	text_block(t, "marks",
		   "%s%s. %s, corrected for %d cells: if nothing had changed, any * ! s "
		   "at all appears in at most 5%% of such tables%s",
		   strbuf_str(&sb), c->has_floor ? ", or the noted noise floor" : "", tests,
		   tested_rows(c), c->n_contrasts ? " (the contrasts count apart)" : "");
}

static void facts_no_marks(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	size_t i, r, k;
	int starred = 0, cells = 0;

	for (i = 0; i < c->n_tests; i++) {
		for (r = 0; r < c->tests[i].n_rows; r++) {
			for (k = 1; k < c->n_variants; k++) {
				const struct cmp_cell *cell = &c->tests[i].rows[r].cells[k];

				cells += cell->has_change;
				starred += cell->source_mark;
			}
		}
	}
	if (starred)
		text_block(t, "marks", "none, nothing was tested (the source stars %d of %d cells)",
			   starred, cells);
	else
		text_block(t, "marks", "none, nothing was tested");
}

/* ---- legend ---- */

static void add_fact(struct strbuf *sb, const char *label, const char *value)
{
	if (*value)
		strbuf_addf(sb, "%s%s%s", sb->len ? ", " : "", label, value);
}

/* Everything known of a variant besides its name. */
static const char *legend_text(const struct view *v, size_t i)
{
	const struct cmp_variant *var = &v->c->variants[i];
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	add_fact(&sb, "", var->description);
	if (!strstr(var->name, var->release))
		add_fact(&sb, "", var->release);
	if (strcmp(var->source, "running"))
		add_fact(&sb, "", var->source);
	add_fact(&sb, "commit ", var->commit);
	add_fact(&sb, "build-id ", arena_printf(v->a, "%.12s", var->build_id));
	add_fact(&sb, "", var->settings);
	if (!i)
		add_fact(&sb, "", "the baseline");
	return text_ascii(v->a, strbuf_str(&sb));
}

/* A name with blanks stands in quotes, so that it ends where blanks were lost. */
static const char *legend_name(const struct view *v, const struct cmp_variant *var)
{
	const char *name = text_ascii(v->a, var->name), *p;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (!strchr(name, ' ') && *name != '"')
		return name;
	strbuf_addc(&sb, '"');
	for (p = name; *p; p++)
		strbuf_addf(&sb, *p == '"' ? "\"\"" : "%c", *p);
	strbuf_addc(&sb, '"');
	return arena_strdup(v->a, strbuf_str(&sb));
}

/* Keys below the legend: a line that began with one would be read as one where blanks were lost. */
static bool is_key(const struct view *v, struct span word)
{
	static const char *const keys[] = {"differs", "machine", "command", "missing", "marks",
					   "columns", "noise",   "source",  "stopped", "note"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (span_is(word, keys[i]))
			return true;
	for (i = 0; i < v->c->n_variants; i++)
		if (span_is(word, v->c->variants[i].id))
			return true;
	return false;
}

#define NO_BREAK '\001'

/* text_wrap() without a line that begins with a key. */
static void wrap_words(struct text *t, const struct view *v, const char *head, size_t indent,
		       const char *words)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(words), word;
	size_t i, start = t->out->len;

	while (span_next_word(&rest, &word)) {
		if (sb.len)
			strbuf_addc(&sb, is_key(v, word) ? NO_BREAK : ' ');
		else if (!*head && is_key(v, word))
			strbuf_addf(&sb, "-%c", NO_BREAK);
		strbuf_add(&sb, word.s, word.len);
	}
	text_wrap(t, head, indent, strbuf_str(&sb));
	for (i = start; i < t->out->len; i++)
		if (t->out->buf[i] == NO_BREAK)
			t->out->buf[i] = ' ';
}

static void facts_legend(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	size_t i, width = 0, indent;

	for (i = 0; i < c->n_variants; i++) {
		size_t len = strlen(legend_name(v, &c->variants[i]));

		width = MAX(width, MIN(len, (size_t)LEGEND_NAME));
	}
	indent = TEXT_KEY + width + 2;
	for (i = 0; i < c->n_variants; i++) {
		const char *name = legend_name(v, &c->variants[i]);
		const char *words = legend_text(v, i);

		if (strlen(name) > width) {
			wrap_words(t, v, c->variants[i].id, TEXT_KEY, name);
			wrap_words(t, v, "", indent, words);
		} else {
			wrap_words(t, v,
				   arena_printf(v->a, "%-*s%s", TEXT_KEY, c->variants[i].id, name),
				   indent, words);
		}
	}
}

/* ---- what else differs ---- */

#define MAX_DIFFERENCES 12 /* told; the rest is counted */

/* " A, B, C 0; D, E 1": each value once, with all that have it. */
static void add_values(struct strbuf *sb, const struct comparison *c, const char **values)
{
	const char *sep = "";

	for (size_t i = 0; i < c->n_variants; i++) {
		size_t k = 0;

		while (strcmp(values[k], values[i]))
			k++;
		if (k < i)
			continue;
		strbuf_adds(sb, sep);
		for (; k < c->n_variants; k++)
			if (!strcmp(values[k], values[i]))
				strbuf_addf(sb, "%s %s", k > i ? "," : "", c->variants[k].id);
		strbuf_addf(sb, " %s", values[i]);
		sep = ";";
	}
}

static void facts_differences(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	size_t i, shown = MIN(c->n_differences, (size_t)MAX_DIFFERENCES);

	for (i = 0; i < shown; i++) {
		const struct cmp_difference *d = &c->differences[i];
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "%s:", d->title);
		add_values(&sb, c, d->told);
		wrap_words(t, v, i ? "" : "differs", TEXT_KEY,
			   text_ascii(v->a, strbuf_str(&sb)));
	}
	if (c->n_differences > shown)
		wrap_words(t, v, "", TEXT_KEY,
			   arena_printf(v->a, "and %zu more besides the kernel (--json has them)",
					c->n_differences - shown));
}

/* ---- machine, command, gaps ---- */

static void facts_machine(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	const char *how = strcmp(c->backend, "qemu")	  ? ""
			  : c->counting			  ? "one emulated CPU under QEMU on "
			  : strcmp(c->accelerator, "kvm") ? "guests of QEMU without KVM on "
							  : "guests of QEMU with KVM on ";

	if (*c->machine || *how)
		wrap_words(t, v, "machine", TEXT_KEY,
			   arena_printf(v->a, "%s%s", how,
					*c->machine ? text_ascii(v->a, c->machine)
						    : "a machine not described"));
	if (c->counting)
		wrap_words(t, v, "counted", TEXT_KEY,
			   arena_printf(v->a, "by %s; the machine does not matter",
					text_ascii(v->a, c->counting)));
}

/* The swept parameters of a benchmark, "clients and bind". */
static const char *swept_names(const struct view *v, const struct cmp_test *t)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < t->n_swept; i++)
		strbuf_addf(&sb, "%s%s", i ? " and " : "", text_ascii(v->a, t->swept[i].name));
	return sb.len ? arena_strdup(v->a, strbuf_str(&sb)) : "parameters";
}

static void facts_command(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	size_t i, k;

	for (i = 0; i < c->n_tests; i++) {
		const struct cmp_test *test = &c->tests[i];
		bool others = false;

		if (!*test->command)
			continue;
		for (k = 0; k < i && strcmp(c->tests[k].benchmark, test->benchmark); k++)
			;
		if (k < i)
			continue;
		for (k = i + 1; k < c->n_tests; k++)
			others |= !strcmp(c->tests[k].benchmark, test->benchmark) &&
				  strcmp(c->tests[k].command, test->command);
		wrap_words(t, v, "command", TEXT_KEY,
			   arena_printf(v->a, "%s%s%s%s", text_ascii(v->a, test->command),
					others ? " (and the same with the other " : "",
					others ? swept_names(v, test) : "", others ? ")" : ""));
	}
}

static void facts_missing(struct text *t, const struct view *v)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < v->c->n_missing; i++)
		strbuf_addf(&sb, "%s%s", i ? ", " : "", v->c->missing[i]);
	if (sb.len)
		text_block(t, "missing", "%s", strbuf_str(&sb));
}

/* Of one imported file its last name: folders of a private machine say nothing to a reader. */
static const char *source_name(const char *source)
{
	const char *slash = strrchr(source, '/');

	return slash && !strchr(source, ' ') ? slash + 1 : source;
}

static void facts_source(struct text *t, const struct view *v)
{
	const struct comparison *c = v->c;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (!strcmp(c->kind, "import")) {
		if (*c->source)
			text_block(t, "source", "%s", text_ascii(v->a, source_name(c->source)));
		return;
	}
	for (i = 0; i < c->n_campaigns; i++)
		strbuf_addf(&sb, "%s%s", i ? " and " : "", text_ascii(v->a, c->campaigns[i]));
	strbuf_addf(&sb, " of %.10s", c->created);
	if (c->paired)
		strbuf_addf(&sb, ", %d %s planned, each in random order", c->repeat,
			    comparison_pairs_text(c, v->a));
	else if (!strcmp(c->kind, "run"))
		strbuf_addf(&sb, ", %d %s a side planned, in random blocks", c->repeat,
			    view_unit_word(c, c->repeat != 1));
	text_block(t, "source", "campaign %s", strbuf_str(&sb));
	if (c->stop)
		text_block(t, "stopped", "%s", text_ascii(v->a, c->stop));
}

static void facts_notes(struct text *t, const struct view *v)
{
	size_t i, n = MIN(v->c->n_warnings, (size_t)MAX_NOTES);

	for (i = 0; i < n; i++)
		text_block(t, i ? "" : "note", "%s", text_ascii(v->a, v->c->warnings[i]));
	if (v->c->n_warnings > n)
		text_block(t, "", "and %zu more, see -o json", v->c->n_warnings - n);
}

void facts_sides(struct text *t, const struct view *v)
{
	facts_legend(t, v);
	facts_differences(t, v);
	facts_machine(t, v);
	facts_command(t, v);
	facts_missing(t, v);
}

void facts_origin(struct text *t, const struct view *v)
{
	facts_source(t, v);
	facts_notes(t, v);
}

void facts_print(struct text *t, const struct view *v)
{
	facts_metrics(t, v, false);
	facts_change(t, v);
	if (v->c->tested && (v->words || layout_is_pair(v->c)) && v->style == STYLE_TABLE)
		facts_verdicts(t, v);
	else if (v->c->tested)
		facts_marks(t, v);
	facts_sides(t, v);
	if (!v->c->tested && !layout_is_pair(v->c))
		facts_no_marks(t, v);
	facts_origin(t, v);
}
