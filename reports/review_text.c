// SPDX-License-Identifier: GPL-2.0-or-later
/* A review in sentences to quote, and as JSON. */
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "reports/review.h"

/* Rows, tables and runs told one by one; the JSON has them all. */
#define TOLD 5
/* Longest fact that is repeated in full. */
#define FACT_MOST 100

static const struct {
	const char *key, *name, *request;
} fact_words[REVIEW_FACTS] = {
	[REVIEW_DIRECTION] = {"direction", "direction", "which direction is better"},
	[REVIEW_RUNS] = {"runs", "runs a cell", "how many runs a cell stands for"},
	[REVIEW_DEVIATION] = {"deviation", "deviation", "how much single runs deviate"},
	[REVIEW_BASE] = {"base", "base", "the base commit"},
	[REVIEW_MACHINE] = {"machine", "machine", "the machine"},
	[REVIEW_COMMAND] = {"command", "command", "the exact command"},
};

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "4.1%", "0.062%": two digits of what may be small */
static const char *share(struct arena *a, double v)
{
	double p = 100 * v;

	if (p == 0)
		return "0%";
	return arena_printf(a, "%.*f%%", p >= 10 ? 0 : p >= 1 ? 1 : p >= 0.1 ? 2 : 3, p);
}

static const char *percent(struct arena *a, double v)
{
	return text_percent(a, v, "%");
}

/* ---- facts ---- */

/* What of the noise nobody states, or NULL. */
static const char *unknown_noise(const struct review *rv)
{
	bool runs = rv->facts[REVIEW_RUNS].state == REVIEW_MISSING;
	bool deviation = rv->facts[REVIEW_DEVIATION].state == REVIEW_MISSING;

	return runs && deviation ? "runs and deviation"
	       : runs		 ? "the number of runs"
	       : deviation	 ? "the deviation"
				 : NULL;
}

static void print_facts(const struct review *rv, struct text *t)
{
	_cleanup_strbuf_ struct strbuf have = STRBUF_INIT, lack = STRBUF_INIT;
	const char *parts[REVIEW_FACTS], *unknown;
	size_t i, n = 0;

	for (i = 0; i < REVIEW_FACTS; i++) {
		const struct review_fact *f = &rv->facts[i];
		size_t len = strlen(f->text);

		if (f->state == REVIEW_MISSING) {
			parts[n++] = *f->text ? arena_printf(t->a, "%s (%s)", fact_words[i].request,
							     f->text)
					      : fact_words[i].request;
			continue;
		}
		strbuf_addf(&have, "%s%s", have.len ? "; " : "", fact_words[i].name);
		if (*f->text)
			strbuf_addf(&have, ": %.*s%s", FACT_MOST, f->text,
				    len > FACT_MOST ? "..." : "");
		if (f->state == REVIEW_KNOWN)
			strbuf_adds(&have, i == REVIEW_BASE ? " (by its name)"
							    : " (not in the text, but known of "
							      "every metric here)");
	}
	for (i = 0; i < n; i++)
		strbuf_addf(&lack, "%s%s", !i ? "" : i + 1 < n ? ", " : " and ", parts[i]);
	text_block(t, "stated", "%s.", have.len ? strbuf_str(&have) : "none of the facts asked for");
	unknown = unknown_noise(rv);
	if (n)
		text_block(t, "missing", "could you add %s?%s%s%s", strbuf_str(&lack),
			   unknown ? " Without " : "", unknown ? unknown : "",
			   unknown ? " a change cannot be told from noise." : "");
}

/* ---- arithmetic ---- */

static void print_sums(const struct review *rv, struct text *t)
{
	const struct review_arithmetic *s = &rv->sums;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (s->checked) {
		strbuf_addf(&sb, "%d printed change%s follow%s from the printed values", s->checked,
			    plural((size_t)s->checked), s->checked == 1 ? "s" : "");
		strbuf_addf(&sb, "; the largest difference is %.2g points (line %d)", s->largest,
			    s->largest_line);
		if (s->slack > 0.1)
			strbuf_addf(&sb,
				    ", but with so few digits printed that they fix a change to "
				    "+-%.2g points only",
				    s->slack);
		strbuf_adds(&sb, ". ");
	}
	if (s->unchecked)
		strbuf_addf(&sb,
			    "%d printed change%s cannot be checked: the values they come from are "
			    "not printed. ",
			    s->unchecked, plural((size_t)s->unchecked));
	if (!s->checked && !s->unchecked && !s->n_refused && s->on_reading)
		strbuf_adds(&sb, "The changes printed beside values follow from them; those below are "
				 "of the values.");
	else if (!s->checked && !s->unchecked && !s->n_refused)
		strbuf_adds(&sb, "No change is printed, so there is none to check; the changes below "
				 "are those of the printed values.");
	if (s->n_refused)
		strbuf_addf(&sb, "%zu row%s could not be trusted and %s left out of all below:",
			    s->n_refused, plural(s->n_refused), s->n_refused == 1 ? "is" : "are");
	text_block(t, "sums", "%s", strbuf_str(&sb));
	for (i = 0; i < s->n_refused && i < TOLD; i++)
		text_block(t, "", "line %d: %s", s->refused[i].line,
			   text_ascii(t->a, s->refused[i].text));
	if (s->n_refused > TOLD)
		text_block(t, "", "and %zu more.", s->n_refused - TOLD);
}

/* ---- lone cells ---- */

static void print_lones(const struct review *rv, struct text *t)
{
	const struct review_lone *l;

	array_for_each (l, &rv->lones) {
		bool first = l == rv->lones.items;

		if (l->row)
			text_block(t, first ? "alone" : "",
				   "%s, %s: %s%s%s%s, where the other columns lie between %.6g and "
				   "%.6g; elsewhere its own column shows nothing like it.",
				   l->variant, l->where, l->mean, isnan(l->change) ? "" : " (",
				   isnan(l->change) ? "" : percent(t->a, l->change),
				   isnan(l->change) ? "" : ")", l->low, l->high);
		else
			text_block(t, first ? "alone" : "",
				   "%s, %s: %s, where the rest of that column lies between %s and "
				   "%s.",
				   l->variant, l->where, percent(t->a, l->change),
				   percent(t->a, l->low), percent(t->a, l->high));
	}
	if (rv->lones.n)
		text_block(t, "",
			   "One bad run and a real change look alike: could %s be run again?",
			   rv->lones.n == 1 ? "that cell" : "these cells");
	else if (rv->wide)
		text_block(t, "alone", "No cell stands apart from its row and its column.");
}

/* ---- spread ---- */

static const char *limit(struct arena *a, double cv)
{
	return cv < 1 ? share(a, cv) : "100%";
}

static const char *limits(struct arena *a, const double *cv)
{
	return arena_printf(a, "%s with 3 runs a side, %s with 5, %s with 10", limit(a, cv[0]),
			    limit(a, cv[1]), limit(a, cv[2]));
}

static void print_spread(const struct review_spread *s, struct text *t, const char *key)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *size = share(t->a, s->typical);
	const char *typical =
		s->changes == 1 ? arena_printf(t->a, "change (%s)", size)
				: arena_printf(t->a, "typical change (%s, median of %d)", size,
					       s->changes);

	strbuf_addf(&sb, "%s: ", s->name);
	if (s->typical > 0)
		strbuf_addf(&sb,
			    "to see the %s with 80%% power, single runs may deviate by at most %s. ",
			    typical, limits(t->a, s->typical_cv));
	else
		strbuf_addf(&sb, "the %s leaves nothing to see. ", typical);
	if (s->marked && s->smallest > 0)
		strbuf_addf(&sb, "For the smallest marked one (%s) it is %s. ",
			    share(t->a, s->smallest), limits(t->a, s->smallest_cv));
	if (s->with_cv)
		strbuf_addf(&sb,
			    "The deviations are %s to %s, median %s", share(t->a, s->cv_low),
			    share(t->a, s->cv_high), share(t->a, s->cv_median));
	if (s->with_cv && !s->tested)
		strbuf_addf(&sb, ": of %d change%s %d would be seen with 3 runs a side, %d with 5, "
				 "%d with 10",
			    s->with_cv, plural((size_t)s->with_cv), s->seen[0], s->seen[1],
			    s->seen[2]);
	if (s->with_cv)
		strbuf_addc(&sb, '.');
	text_block(t, key, "%s", strbuf_str(&sb));
}

static void print_spreads(const struct review *rv, struct text *t)
{
	size_t i;

	for (i = 0; i < rv->spreads.n && i < TOLD; i++)
		print_spread(&rv->spreads.items[i], t, i ? "" : "spread");
	if (rv->spreads.n > TOLD)
		text_block(t, "", "and %zu more tables (--json).", rv->spreads.n - TOLD);
}

/* ---- marks ---- */

/* "9 of the 10 marks hold, 1 does not (tbench, 4 clients); no unmarked change would." */
static void add_tested_marks(const struct review_marks *m, struct strbuf *sb)
{
	int marks = m->held + m->lost, unmarked = m->tested - marks;

	if (marks == 1)
		strbuf_addf(sb, "the mark %s", m->held ? "holds" : "does not hold");
	else if (!m->lost)
		strbuf_addf(sb, "all %d marks hold", marks);
	else if (!m->held)
		strbuf_addf(sb, "none of the %d marks holds", marks);
	else
		strbuf_addf(sb, "%d of the %d marks hold, %d do%s not", m->held, marks, m->lost,
			    m->lost == 1 ? "es" : "");
	if (m->lost)
		strbuf_addf(sb, " (%s%s)", m->lost > 1 ? "first: " : "", m->lost_where);
	if (m->more && unmarked == 1)
		strbuf_addf(sb, "; the unmarked change would (%s)", m->more_where);
	else if (m->more)
		strbuf_addf(sb, "; %d of %d unmarked changes would (%s%s)", m->more, unmarked,
			    m->more > 1 ? "first: " : "", m->more_where);
	else if (unmarked)
		strbuf_adds(sb, "; no unmarked change would");
	strbuf_addc(sb, '.');
}

static void print_marks(const struct review *rv, struct text *t)
{
	const struct review_marks *m = &rv->marks;
	const char *unknown = unknown_noise(rv);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (m->marked)
		strbuf_addf(&sb, "%d of %d changes %s marked, the smallest at %s (%s). ", m->marked,
			    m->changes, m->marked == 1 ? "is" : "are", share(t->a, m->smallest), m->where);
	if (m->unfounded)
		strbuf_addf(&sb, "Without %s these marks cannot be checked%s.",
			    unknown ? unknown : "runs and deviation of both sides",
			    m->changes >= 10 && m->marked >= 0.9 * m->changes
				    ? ", and where nearly every cell has one they tell no cell "
				      "from another"
				    : "");
	if (m->tested)
		strbuf_addf(&sb,
			    "%d change%s can be tested from mean, deviation and n (Welch's t-test, "
			    "Benjamini-Hochberg over all at %g%%): ",
			    m->tested, plural((size_t)m->tested), 100 * rv->q);
	if (m->tested && m->held + m->lost)
		add_tested_marks(m, &sb);
	else if (m->tested)
		strbuf_addf(&sb, "%d real, %d not.", m->more, m->tested - m->more);
	if (sb.len)
		text_block(t, "marks", "%s", strbuf_str(&sb));
}

/* ---- single runs ---- */

static void print_run(const struct review_run *r, struct text *t, const char *key)
{
	const struct cmp_cell *cell = r->cell;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s: %d run%s of %s against %d of %s", r->where, r->n,
		    plural((size_t)r->n), r->variant, r->n_base, r->base);
	if (cell->has_change)
		strbuf_addf(&sb, ", %s", percent(t->a, cell->change));
	if (strcmp(cell->test.test, "none") != 0) {
		if (isfinite(cell->test.low) && isfinite(cell->test.high) && cell->test.on_log)
			strbuf_addf(&sb, ", %g%% interval %s to %s", 100 * cell->test.level,
				    percent(t->a, cell->test.low), percent(t->a, cell->test.high));
		strbuf_addf(&sb, ", p = %s: %s%s", text_p(t->a, cell->p_adjusted),
			    verdict_name(cell->verdict), cell->small ? " (small)" : "");
	} else if (cell->has_prediction) {
		double one = cell->n < r->n_base ? cell->mean : NAN;
		bool inside = one >= cell->prediction.low && one <= cell->prediction.high;

		strbuf_adds(&sb, ": too few to test");
		if (cell->n == 1 && r->n_base > 1)
			strbuf_addf(&sb, "; that run lies %s the range of a further run of %s",
				    inside ? "within" : "outside", r->base);
	} else {
		strbuf_adds(&sb, ": too few to test");
	}
	if (cell->runs_needed > 50)
		strbuf_adds(&sb, "; more than 50 runs a side would be needed to settle it");
	else if (cell->runs_needed)
		strbuf_addf(&sb, "; about %d runs a side would settle it", cell->runs_needed);
	strbuf_addc(&sb, '.');
	text_block(t, key, "%s", strbuf_str(&sb));
}

static void print_runs(const struct review *rv, struct text *t)
{
	size_t i;

	for (i = 0; i < rv->runs.n && i < TOLD; i++)
		print_run(&rv->runs.items[i], t, i ? "" : "runs");
	if (rv->runs.n > TOLD)
		text_block(t, "", "and %zu more rows (--json).", rv->runs.n - TOLD);
	if (rv->runs.n && *rv->tests)
		text_block(t, "", "(%s, p corrected over all rows)", rv->tests);
}

void review_print(const struct review *rv, struct text *t)
{
	text_block(t, "read", "%s: %d table%s, %d row%s%s%s%s", text_ascii(t->a, rv->file),
		   rv->tables, plural((size_t)rv->tables), rv->rows, plural((size_t)rv->rows),
		   rv->names ? ", " : "", rv->names ? rv->names : "",
		   rv->benchmarks > 6 ? ", ..." : "");
	print_facts(rv, t);
	print_sums(rv, t);
	print_lones(rv, t);
	print_spreads(rv, t);
	print_marks(rv, t);
	print_runs(rv, t);
}

/* ---- JSON ---- */

static json_t *text_or_null(struct arena *a, const char *s)
{
	return s && *s ? json_string(text_ascii(a, s)) : json_null();
}

static json_t *numbers_by_side(const double *v)
{
	json_t *o = json_object();
	size_t k;

	for (k = 0; k < REVIEW_SIDES; k++) {
		char key[12];

		snprintf(key, sizeof(key), "%d", review_sides[k]);
		json_object_set_new(o, key, json_number_or_null(v[k]));
	}
	return o;
}

static json_t *json_facts(const struct review *rv)
{
	static const char *const states[] = {"missing", "known", "stated"};
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < REVIEW_FACTS; i++)
		json_object_set_new(o, fact_words[i].key,
				    json_pack("{s:s, s:o}", "state", states[rv->facts[i].state],
					      "text", text_or_null(rv->a, rv->facts[i].text)));
	return o;
}

static json_t *json_sums(const struct review *rv)
{
	const struct review_arithmetic *s = &rv->sums;
	json_t *refused = json_array();
	size_t i;

	for (i = 0; i < s->n_refused; i++)
		json_array_append_new(refused,
				      json_pack("{s:i, s:o}", "line", s->refused[i].line, "text",
						text_or_null(rv->a, s->refused[i].text)));
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o}", "checked", s->checked, "unchecked",
			 s->unchecked, "largest_difference", json_number_or_null(s->largest),
			 "line", s->checked ? json_integer(s->largest_line) : json_null(), "slack",
			 json_number_or_null(s->slack), "refused", refused);
}

static json_t *json_lones(const struct review *rv)
{
	json_t *list = json_array();
	const struct review_lone *l;

	array_for_each (l, &rv->lones)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "against",
						      l->row ? "row" : "column", "where", l->where,
						      "variant", l->variant, "change",
						      json_number_or_null(l->change), "low",
						      json_number_or_null(l->low), "high",
						      json_number_or_null(l->high)));
	return list;
}

static json_t *json_spreads(const struct review *rv)
{
	json_t *list = json_array();
	const struct review_spread *s;
	double seen[REVIEW_SIDES];
	size_t k;

	array_for_each (s, &rv->spreads) {
		for (k = 0; k < REVIEW_SIDES; k++)
			seen[k] = s->with_cv ? s->seen[k] : NAN;
		json_array_append_new(
			list, json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o}",
					"table", s->name, "changes", s->changes, "marked",
					s->marked, "typical", json_number_or_null(s->typical),
					"smallest_marked", json_number_or_null(s->smallest),
					"typical_cv", numbers_by_side(s->typical_cv), "smallest_cv",
					numbers_by_side(s->smallest_cv), "cv_median",
					json_number_or_null(s->cv_median), "with_cv", s->with_cv,
					"seen", numbers_by_side(seen)));
	}
	return list;
}

static json_t *json_runs(const struct review *rv)
{
	json_t *list = json_array();
	const struct review_run *r;

	array_for_each (r, &rv->runs) {
		const struct cmp_cell *cell = r->cell;

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:s, s:s, s:o}", "where",
				  r->where, "variant", r->variant, "n", r->n, "n_base", r->n_base,
				  "change",
				  json_number_or_null(cell->has_change ? cell->change : NAN), "p",
				  json_number_or_null(cell->test.p), "p_adj",
				  json_number_or_null(cell->p_adjusted), "test", cell->test.test,
				  "verdict", verdict_name(cell->verdict), "runs_needed",
				  cell->runs_needed ? json_integer(cell->runs_needed)
						    : json_null()));
	}
	return list;
}

void review_add_json(const struct review *rv, struct strbuf *out)
{
	const struct review_marks *m = &rv->marks;
	json_t *marks = json_pack("{s:i, s:i, s:o, s:o, s:i, s:i, s:i, s:i}", "changes", m->changes,
				  "marked", m->marked, "smallest", json_number_or_null(m->smallest),
				  "where", text_or_null(rv->a, m->where), "tested", m->tested,
				  "held", m->held, "lost", m->lost, "unmarked_held", m->more);
	json_t *root = json_pack("{s:s, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
				 "kdelta.review/1", "file", text_or_null(rv->a, rv->file), "tables",
				 rv->tables, "rows", rv->rows, "facts", json_facts(rv),
				 "arithmetic", json_sums(rv), "alone", json_lones(rv), "spread",
				 json_spreads(rv), "marks", marks, "runs", json_runs(rv));

	json_add_lines(out, root, 15);
}
