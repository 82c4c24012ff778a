// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of -o lkp, under the headings of their topics. The numbers are those of the comparison;
 * which way is better stands on each line, as lines are quoted alone:
 *
 *	  128529  1  +17.9%   151594  0 more better  aim7.jobs-per-min
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/monitor.h"
#include "reports/lkp.h"

/* Texts of a row, as wide as the widest of its test case. */
enum { C_A, C_SD_A, C_CHANGE, C_B, C_SD_B, C_WANT, C_READS, N_COLUMNS };

struct line {
	const struct cmp_row *row;
	const struct cmp_cell *base, *cell;
	const char *text[N_COLUMNS], *metric, *topic;
};

/* ---- figures ---- */

/* Five digits, so that the change follows from the printed figures; never 0 for what is not. */
static const char *value_text(struct arena *a, const struct cmp_cell *cell)
{
	double v = fabs(cell->mean);

	if (!cell->has_mean)
		return "-";
	if (cell->mean_text)
		return text_ascii(a, cell->mean_text);
	if (cell->mean == 0)
		return "0";
	if (v >= 1e8 || v < 1)
		return arena_printf(a, "%.5g", cell->mean);
	return arena_printf(a, "%.*f",
			    v >= 1e4   ? 0
			    : v >= 1e3 ? 1
			    : v >= 100 ? 2
			    : v >= 10  ? 3
				       : 4,
			    cell->mean);
}

static const char *sd_text(const struct lkp *k, const struct cmp_cell *cell)
{
	if (isnan(cell->cv))
		return cell->cv_hidden ? "<=2" : "-";
	return arena_printf(k->a, k->whole_sd || cell->cv >= 9.995 ? "%.0f" : "%.1f",
			    100 * cell->cv);
}

const char *lkp_change(struct lkp *k, const struct cmp_cell *base, const struct cmp_cell *cell)
{
	double percent = 100 * cell->change;

	if (!base->has_mean != !cell->has_mean && !cell->has_change) {
		k->gone = true;
		return base->has_mean ? "gone" : "new";
	}
	if (!isnan(cell->points)) {
		k->points = true;
		if (cell->published && k->n_published++ < 4)
			k->published = arena_printf(k->a, "%s%s%+.1f%%",
						    k->published ? k->published : "",
						    k->published ? ", " : "", percent);
		return arena_printf(k->a, "%+.2fp", cell->points);
	}
	if (cell->has_change && fabs(percent) < 0.05)
		return "0.0%";
	if (cell->has_change)
		return percent < 999.5 ? arena_printf(k->a, "%+.1f%%", percent)
				       : arena_printf(k->a, "x%.4g", 1 + cell->change);
	if (isnan(cell->difference))
		return "-";
	if (cell->mean == 0 && base->mean != 0) {
		k->gone = true;
		return "gone";
	}
	if (base->mean == 0) {
		k->gone |= cell->mean != 0;
		return cell->mean == 0 ? "0.0%" : "new";
	}
	k->difference = true;
	return arena_printf(k->a, "%+.4gd", cell->difference);
}

/* The direction that is better, in words that survive the quoting of one line. */
static const char *want_text(const struct cmp_row *row, const struct cmp_cell *cell)
{
	static const char *const words[] = {
		[DIR_HIGHER] = "more", [DIR_LOWER] = "less", [DIR_NEUTRAL] = "any",
		[DIR_DEPENDS] = "dep", [DIR_UNKNOWN] = "?",
	};

	return cell->follows_work ? "dep" : words[row->direction];
}

const char *lkp_reads(struct lkp *k, const struct cmp_cell *cell)
{
	bool small = cell->small && (cell->reads == VERDICT_BETTER || cell->reads == VERDICT_WORSE);

	k->small |= small;
	return arena_printf(k->a, "%s%s", verdict_name(cell->reads), small ? " s" : "");
}

/* Figures of monitors that are not named as the monitor is. */
static bool is_of_monitor(struct arena *a, const char *name)
{
	const char *first = arena_strndup(a, name, strcspn(name, "."));

	return monitor_find(first) || !strcmp(first, "numa-numastat") || !strcmp(first, "monitors");
}

/* What monitors counted stands under LKP's names: "softirqs.SCHED" of "hackbench.softirqs.SCHED". */
const char *lkp_metric(struct arena *a, const struct cmp_row *row)
{
	const char *name = comparison_metric_name(row);

	return text_ascii(a, !row->headline && is_of_monitor(a, name) ? name : row->metric);
}

/* ---- which rows ---- */

/* A counter that one kernel has not got, and that stood still under the other. */
static bool is_new_zero(const struct cmp_cell *base, const struct cmp_cell *cell)
{
	return base->has_mean != cell->has_mean && (base->has_mean ? base : cell)->mean == 0;
}

/* Rows that did not change are counted only; what is not judged either way too. */
static bool row_is_shown(const struct lkp *k, const struct cmp_row *row,
			 const struct cmp_cell *cell)
{
	if (row->events)
		return false;
	if (row->headline || k->opt->all)
		return true;
	if (row->direction == DIR_NEUTRAL || is_new_zero(&row->cells[0], cell))
		return false;
	return cell->reads != VERDICT_SAME && cell->reads != VERDICT_UNSURE && !cell->small;
}

/* A row that nobody ever measured on either side (all runs failed) has its failure line. */
static bool row_is_measured(const struct cmp_cell *base, const struct cmp_cell *cell)
{
	return base->has_mean || cell->has_mean || cell->has_change;
}

/* The rows of a test case, with the number of runs that most of them have. */
struct line_array {
	struct line *items;
	size_t n, alloc;
	int n_base, n_other;
};

static void add_line(struct lkp *k, struct line_array *lines, const struct cmp_row *row)
{
	const struct cmp_cell *base = &row->cells[0], *cell = &row->cells[k->variant];
	struct line *l;

	if (!row_is_shown(k, row, cell) || !row_is_measured(base, cell))
		return;
	l = ARRAY_PUSH(lines);
	l->row = row;
	l->base = base;
	l->cell = cell;
	l->metric = lkp_metric(k->a, row);
	/* whatever else a headline is about: it is what decides */
	l->topic = row->headline ? "Headline" : row->topic;
	l->text[C_A] = value_text(k->a, base);
	l->text[C_SD_A] = sd_text(k, base);
	l->text[C_CHANGE] = lkp_change(k, base, cell);
	l->text[C_B] = value_text(k->a, cell);
	l->text[C_SD_B] = sd_text(k, cell);
	l->text[C_WANT] = want_text(row, cell);
	l->text[C_READS] = lkp_reads(k, cell);
}

/* ---- tables ---- */

static const int least_width[N_COLUMNS] = {8, 2, 7, 8, 2, 4, 7};

static void find_widths(const struct line_array *lines, int width[N_COLUMNS])
{
	const struct line *l;
	int i;

	memcpy(width, least_width, sizeof(least_width));
	array_for_each (l, lines)
		for (i = 0; i < N_COLUMNS; i++)
			width[i] = MAX(width[i], (int)strlen(l->text[i]));
}

/* A name on lines of its own, broken at its dots where one does not hold it. */
static void print_long(const struct lkp *k, const char *metric)
{
	enum { INDENT = 8 };
	size_t room = LKP_WIDTH - INDENT, n;

	for (; *metric; metric += n) {
		n = strlen(metric);
		if (n > room)
			for (n = room; n > 1 && metric[n - 1] != '.'; n--)
				;
		if (n <= 1)
			n = MIN(strlen(metric), room);
		strbuf_addf(k->t->out, "%*s%.*s\n", INDENT, "", (int)n, metric);
	}
}

/* Ends a line that began at `start` with a name; a long one gets a line of its own. */
static void add_name(const struct lkp *k, size_t start, const char *name)
{
	struct strbuf *out = k->t->out;

	if (out->len - start + 1 + strlen(name) <= LKP_WIDTH) {
		strbuf_addf(out, " %s\n", name);
		return;
	}
	strbuf_rtrim(out);
	text_blank(k->t);
	print_long(k, name);
}

/* Words to the left, figures to the right. */
static void print_row(const struct lkp *k, const char *const *text, const char *metric,
		      const int *width)
{
	struct strbuf *out = k->t->out;
	size_t start = out->len;
	int i;

	for (i = 0; i < N_COLUMNS; i++)
		strbuf_addf(out, i >= C_WANT ? "%s%-*s" : "%s%*s", i ? " " : "", width[i], text[i]);
	add_name(k, start, metric);
}

/* The n that most rows of a side have; 0: nobody said. */
static int common_n(const struct line_array *lines, bool base)
{
	enum { MOST = 1000 };
	int count[MOST + 1] = {0}, best = 0;
	const struct line *l;

	array_for_each (l, lines) {
		int n = MIN(base ? l->base->n : l->cell->n, (int)MOST);

		count[n]++;
		if (n && (!best || count[n] > count[best]))
			best = n;
	}
	return best;
}

static void print_heads(const struct lkp *k, const struct line_array *lines, const int *width)
{
	static const char *const heads[N_COLUMNS] = {"value", "sd",   "change", "value",
						     "sd",    "want", "reads"};
	int na = lines->n_base, nb = lines->n_other;
	const char *a = k->c->variants[0].id, *b = k->c->variants[k->variant].id;

	strbuf_addf(k->t->out, "%*s%*s", width[C_A], na ? arena_printf(k->a, "%s, n=%d", a, na) : a,
		    width[C_SD_A] + width[C_CHANGE] + width[C_B] + 3,
		    nb ? arena_printf(k->a, "%s, n=%d", b, nb) : b);
	text_blank(k->t);
	print_row(k, heads, "metric", width);
}

/* A row of other numbers of runs says so; one that a side lacks altogether shows it. */
static void print_n(const struct lkp *k, const struct line *l, const struct line_array *lines)
{
	if ((l->base->has_mean && l->base->n != lines->n_base) ||
	    (l->cell->has_mean && l->cell->n != lines->n_other))
		text_wrap(k->t, "", (size_t)least_width[C_A] + 1,
			  arena_printf(k->a, "(n = %d of %s, %d of %s)", l->base->n,
				       k->c->variants[0].id, l->cell->n,
				       k->c->variants[k->variant].id));
}

static const struct cmp_topic *topic_of(const struct lkp *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->c->n_topics; i++)
		if (!strcmp(k->c->topics[i].name, name))
			return &k->c->topics[i];
	return NULL;
}

static void print_topic(const struct lkp *k, const char *name, const struct cmp_work *w)
{
	const struct cmp_topic *topic = topic_of(k, name);
	const char *remark = topic ? topic->remark : "";

	if (topic && *topic->otherwise && !w->same)
		remark = !isnan(w->change)
				 ? topic->otherwise
				 : arena_printf(k->a, "%s, if the work was the same", remark);
	text_wrap(k->t, "", 0,
		  arena_printf(k->a, "%s%s%s", text_ascii(k->a, *name ? name : "Other metrics"),
			       *remark ? ": " : "", text_ascii(k->a, remark)));
}

/* "-48%" */
static const char *rough(struct arena *a, double fraction)
{
	return arena_printf(a, "%+.0f%%", fabs(fraction) < 0.005 ? 0.0 : 100 * fraction);
}

/* "SCHED" of "softirqs.SCHED", "C1-IVT.time" of "cpuidle.C1-IVT.time". */
static const char *short_name(const struct line *l)
{
	const char *dot = strchr(l->metric, '.');

	return dot && dot[1] ? dot + 1 : l->metric;
}

/* What changes of counters come to once the length of the run, or the work, is divided out. */
static void print_rates(const struct lkp *k, const struct line_array *lines, const char *topic,
			const struct cmp_work *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool per_second = fabs(w->longer) >= k->c->threshold;
	bool per_work = !per_second && fabs(w->change) >= k->c->threshold;
	const struct line *l;

	array_for_each (l, lines) {
		double rate = per_second ? l->cell->per_second : per_work ? l->cell->per_work : NAN;

		if (strcmp(l->topic, topic) || isnan(rate))
			continue;
		strbuf_addf(&sb, "%s%s %s%s", sb.len ? ", " : "", short_name(l), rough(k->a, rate),
			    fabs(rate) >= k->c->threshold ? ""
			    : per_work			  ? " (only the work)"
			    : w->longer < 0		  ? " (only the shorter run)"
							  : " (only the longer run)");
	}
	if (sb.len)
		text_wrap(k->t, "", 3,
			  arena_printf(k->a, "%s: %s",
				       per_second ? "per second of run" : "per piece of work",
				       strbuf_str(&sb)));
}

static void print_energy(const struct lkp *k, const struct line_array *lines, const char *topic,
			 const struct cmp_work *w)
{
	const struct line *l;

	array_for_each (l, lines) {
		if (strcmp(l->topic, topic) || isnan(l->base->energy) || isnan(l->cell->energy) ||
		    !(l->base->energy > 0))
			continue;
		text_wrap(k->t, "", 3,
			  arena_printf(k->a, "%s as energy%s, W x s: %.0f -> %.0f J, %s",
				       short_name(l), w->same ? " for the same work" : "",
				       l->base->energy, l->cell->energy,
				       rough(k->a, l->cell->energy / l->base->energy - 1)));
	}
}

/* Seconds first: they are what the other costs are seen against. */
static bool line_is_seconds(const struct line *l)
{
	return !strcmp(l->row->unit, "s");
}

static void print_group(const struct lkp *k, const struct line_array *lines, const char *topic,
			const struct cmp_work *w, const int *width)
{
	bool seconds = true, any = false;
	const struct line *l;

	do {
		array_for_each (l, lines) {
			if (strcmp(l->topic, topic) || line_is_seconds(l) != seconds)
				continue;
			if (!any)
				print_topic(k, topic, w);
			any = true;
			print_row(k, l->text, l->metric, width);
			print_n(k, l, lines);
		}
		seconds = !seconds;
	} while (!seconds);
	print_rates(k, lines, topic, w);
	print_energy(k, lines, topic, w);
}

/* Topics in their order, then those that have none, in the order of the rows. */
static void print_groups(const struct lkp *k, const struct line_array *lines,
			 const struct cmp_work *w, const int *width)
{
	const struct line *l, *m;
	size_t i;

	for (i = 0; i < k->c->n_topics; i++)
		print_group(k, lines, k->c->topics[i].name, w, width);
	array_for_each (l, lines) {
		for (m = lines->items; m < l; m++)
			if (!strcmp(m->topic, l->topic))
				break;
		if (m == l && !topic_of(k, l->topic))
			print_group(k, lines, l->topic, w, width);
	}
}

/* ---- failures ---- */

static void print_events(const struct lkp *k, const char *name, int x, int nx, int y, int ny,
			 double p, int more)
{
	const char *base = nx ? arena_printf(k->a, "%d:%d", x, nx) : "-";
	const char *other = ny ? arena_printf(k->a, "%d:%d", y, ny) : "-";
	size_t start = k->t->out->len;

	strbuf_addf(k->t->out, "%8s %*s %6s  %-6s ", base, least_width[C_B], other,
		    isnan(p) ? "-" : text_p(k->a, p),
		    more > 0   ? "worse"
		    : more < 0 ? "better"
			       : "unsure");
	add_name(k, start, name);
}

static void print_failures(const struct lkp *k, const struct cmp_test *test)
{
	const struct cmp_work *w = &test->works[k->variant];
	const struct cmp_cell *base, *cell;
	bool any = false;
	size_t r;

	for (r = 0; r < test->n_rows; r++) {
		const struct cmp_row *row = &test->rows[r];

		base = &row->cells[0];
		cell = &row->cells[k->variant];
		if ((r || (!base->failed && !cell->failed)) &&
		    (!row->events || (!base->events && !cell->events && !k->opt->all)))
			continue;
		if (!any)
			strbuf_addf(k->t->out, "%8s %*s %6s  %-6s  %s\n", "A fail:n",
				    least_width[C_B],
				    arena_printf(k->a, "%s fail:n", k->c->variants[k->variant].id),
				    "p", "reads", "what failed (p: Fisher's exact test)");
		any = true;
		if (!r && (base->failed || cell->failed))
			print_events(k,
				     arena_printf(k->a, "runs of %s%s%s",
						  text_ascii(k->a, test->benchmark),
						  cell->error || base->error ? ": " : "",
						  cell->error	? cell->error
						  : base->error ? base->error
								: ""),
				     base->failed, base->runs, cell->failed, cell->runs, w->fail_p,
				     w->failed_more);
		if (row->events)
			print_events(k, lkp_metric(k->a, row), base->events, base->event_runs,
				     cell->events, cell->event_runs, cell->event_p,
				     cell->events_more);
	}
}

/* ---- a test case ---- */

static void print_rest(const struct lkp *k, const struct cmp_test *test)
{
	int same = 0, unsure = 0, neutral = 0, small = 0;
	size_t r;

	for (r = 0; r < test->n_rows; r++) {
		const struct cmp_row *row = &test->rows[r];
		const struct cmp_cell *cell = &row->cells[k->variant];

		if (row->events || row_is_shown(k, row, cell))
			continue;
		if (row->direction == DIR_NEUTRAL)
			neutral++;
		else if (cell->small)
			small++;
		else if (cell->reads == VERDICT_SAME)
			same++;
		else
			unsure++;
	}
	if (same + unsure + neutral + small)
		text_block(k->t, NULL,
			   "not shown (--all): %d same, %d unsure, %d real but under %g%%, %d "
			   "without a better direction",
			   same, unsure, small, 100 * k->c->threshold, neutral);
}

/* " (machine brickland1)": parameters that are no part of the name, where there are few. */
static const char *fixed_text(const struct lkp *k, const struct cmp_test *test)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	for (i = 0; i < test->n_fixed; i++)
		strbuf_addf(&sb, "%s%s %s", i ? ", " : " (", text_ascii(k->a, test->fixed[i].name),
			    text_ascii(k->a, test->fixed[i].value));
	if (sb.len)
		strbuf_addc(&sb, ')');
	return arena_strdup(k->a, strbuf_str(&sb));
}

const char *lkp_test(const struct lkp *k, const struct cmp_test *test)
{
	return arena_printf(k->a, "%s%s%s%s", text_ascii(k->a, test->name), fixed_text(k, test),
			    *test->description ? ": " : "", text_ascii(k->a, test->description));
}

/* The axes of a test case as the robot's reports have them. */
static void print_axes(const struct lkp *k, const struct cmp_test *test)
{
	size_t i;

	text_blank(k->t);
	for (i = 0; i < LKP_WIDTH; i++)
		strbuf_addc(k->t->out, '=');
	text_blank(k->t);
	if (test->n_swept) {
		_cleanup_strbuf_ struct strbuf names = STRBUF_INIT, values = STRBUF_INIT;

		for (i = 0; i < test->n_swept; i++) {
			strbuf_addf(&names, "%s/", text_ascii(k->a, test->swept[i].name));
			strbuf_addf(&values, "%s/", text_ascii(k->a, test->swept[i].value));
		}
		text_wrap(k->t, "", 0, arena_printf(k->a, "%stestcase:", strbuf_str(&names)));
		text_wrap(k->t, "", 2,
			  arena_printf(k->a, "%s%s", strbuf_str(&values),
				       text_ascii(k->a, test->benchmark)));
	} else {
		text_wrap(k->t, "", 0, text_ascii(k->a, test->name));
	}
	text_block(k->t, "test", "%s", lkp_test(k, test));
}

void lkp_print_checked(const struct lkp *k, const struct cmp_test *test)
{
	const struct cmp_work *w = &test->works[k->variant];
	const char *unit = w->unit;

	if (!w->counters)
		return;
	if (w->by_design && isnan(w->change)) {
		text_block(k->t, "checked",
			   "%s is the time of a fixed piece of work, so totals are the cost of the "
			   "same work",
			   text_ascii(k->a, w->elapsed->metric));
		return;
	}
	if (isnan(w->change)) {
		text_block(k->t, "checked",
			   "nothing shows whether both sides did the same work (that takes "
			   "a rate and the elapsed time): read totals with that in mind");
		return;
	}
	text_block(k->t, "checked", "%s/%s x %s: %.*f and %.*f %s, %s%%: %s", unit, w->time_unit,
		   strcmp(w->time_unit, "min") ? "seconds" : "minutes", w->base < 1000 ? 2 : 0,
		   w->base, w->base < 1000 ? 2 : 0, w->other, unit,
		   arena_printf(k->a, "%+.1f", 100 * w->change),
		   w->same ? "same work, so the totals below are the cost of the same work"
			   : "not the same work, so totals follow it and less is not better by "
			     "itself");
}

void lkp_print_test(struct lkp *k, const struct cmp_test *test)
{
	struct line_array lines = {.n = 0};
	int width[N_COLUMNS];
	size_t r;

	if (k->c->n_tests > 1) {
		print_axes(k, test);
		lkp_print_checked(k, test);
	}
	text_blank(k->t);
	print_failures(k, test);
	for (r = 0; r < test->n_rows; r++)
		add_line(k, &lines, &test->rows[r]);
	if (lines.n) {
		lines.n_base = common_n(&lines, true);
		lines.n_other = common_n(&lines, false);
		find_widths(&lines, width);
		print_heads(k, &lines, width);
		print_groups(k, &lines, &test->works[k->variant], width);
	}
	print_rest(k, test);
	ARRAY_FREE(&lines);
}
