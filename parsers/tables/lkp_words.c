// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the words around LKP tables state: the test, the machine, the commit, and changes, which
 * are often the other half of a verdict.
 *
 *	Subject: [sched] 143e1e28cb4: +17.9% aim7.jobs-per-min, -9.7% hackbench.throughput
 *	kernel test robot noticed a -5.0% regression of aim9.brk_test.ops_per_sec on:
 *	| testcase: change | will-it-scale: will-it-scale.per_process_ops -4.9% regression |
 *
 * and which way is better, where somebody wrote so between the rows: "+ is better".
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/num.h"
#include "parsers/tables/lkp.h"

enum { MAX_CLAIMS = 32, MAX_WORDS = 64 };

/* ---- remarks ---- */

static bool has_any(struct span s, const char *const *words, size_t n)
{
	struct span word;
	size_t i;

	while (span_next_word(&s, &word))
		for (i = 0; i < n; i++)
			if (word.len == strlen(words[i]) &&
			    !strncasecmp(word.s, words[i], word.len))
				return true;
	return false;
}

static enum row_better better_of(struct span s)
{
	static const char *const up[] = {"+", "more", "higher", "larger", "bigger", "greater"};
	static const char *const down[] = {"-", "less", "fewer", "lower", "smaller", "shorter"};
	bool higher, lower;

	if (!span_find(s, "better") || span_find(s, "might"))
		return BETTER_UNKNOWN;
	higher = has_any(s, up, ARRAY_SIZE(up));
	lower = has_any(s, down, ARRAY_SIZE(down));
	return higher == lower ? BETTER_UNKNOWN : higher ? BETTER_HIGHER : BETTER_LOWER;
}

void lkp_apply_remark(struct lkp_block *b, struct span text)
{
	enum row_better better = better_of(text);
	struct span rest = text, word;
	const char *suite;
	size_t words = 0, i, len;

	while (words < 3 && span_next_word(&rest, &word))
		words++;
	if (words < 3 || !b->rows.n)
		return;
	suite = b->rows.items[b->rows.n - 1].name;
	len = strcspn(suite, ".");
	for (i = b->rows.n; better && i > b->remarked; i--) {
		struct lkp_row *row = &b->rows.items[i - 1];

		if (strncmp(row->name, suite, len + 1))
			break;
		row->better = better;
	}
	b->remarked = b->rows.n;
}

/* ---- claims ---- */

const struct lkp_claim *lkp_claim_find(const struct lkp_reader *rd, const char *metric)
{
	const struct lkp_claim *c;

	array_for_each (c, &rd->claims)
		if (!strcmp(c->metric, metric))
			return c;
	return NULL;
}

bool lkp_claims_of(const struct lkp_reader *rd, struct span suite)
{
	const struct lkp_claim *c;

	array_for_each (c, &rd->claims)
		if (!strncmp(c->metric, suite.s, suite.len) && c->metric[suite.len] == '.')
			return true;
	return false;
}

static struct span strip(struct span s)
{
	while (s.len && strchr(".,;:!?)]\"'", s.s[s.len - 1]))
		s.len--;
	while (s.len && strchr("([\"'", s.s[0]))
		s.s++, s.len--;
	return s;
}

static bool begins(struct span s, const char *word)
{
	return s.len >= strlen(word) && !strncasecmp(s.s, word, strlen(word));
}

/* "+17.9%"; "5.0%" only before what it is: "5.0% regression". */
static bool is_change(const struct span *words, size_t n, size_t at, struct lkp_claim *c)
{
	struct span s = words[at], next = at + 1 < n ? words[at + 1] : (struct span){"", 0};

	*c = (struct lkp_claim){.sign = s.len && strchr("+-", s.s[0])};
	if (begins(next, "regression"))
		c->result = BETTER_LOWER;
	else if (begins(next, "improvement"))
		c->result = BETTER_HIGHER;
	if (s.len < 3 || s.s[s.len - 1] != '%' || (!c->sign && !c->result) ||
	    !num_parse((struct span){s.s + c->sign, s.len - 1 - c->sign}, &c->change))
		return false;
	if (s.s[0] == '-')
		c->change = -c->change;
	return true;
}

static bool is_metric(struct span s)
{
	return lkp_is_name(s) && memchr(s.s, '.', s.len) && isalpha((unsigned char)s.s[0]) &&
	       !memchr(s.s, '@', s.len);
}

/* The metric a change at words[at] is of: behind "regression of", beside it, as the line has it. */
static const struct span *metric_near(const struct span *words, size_t n, size_t at, bool before)
{
	size_t i;

	for (i = at + 1; i + 1 < n && i < at + 4; i++)
		if (span_is(words[i], "of") && is_metric(words[i + 1]))
			return &words[i + 1];
	if (before)
		return at && is_metric(words[at - 1]) ? &words[at - 1] : NULL;
	return at + 1 < n && is_metric(words[at + 1]) ? &words[at + 1] : NULL;
}

static void add_claim(struct lkp_reader *rd, const struct span *words, size_t at,
		      const struct span *metric, struct lkp_claim *c)
{
	struct span what = words[at];

	c->metric = arena_strndup(rd->src->a, metric->s, metric->len);
	if (lkp_claim_find(rd, c->metric))
		return;
	c->text = arena_strndup(rd->src->a, what.s, what.len);
	if (!c->sign)
		c->text = arena_printf(rd->src->a, "%s %s", c->text,
				       c->result == BETTER_LOWER ? "regression" : "improvement");
	*ARRAY_PUSH(&rd->claims) = *c;
}

static void read_claims(struct lkp_reader *rd, struct span line, int number)
{
	struct span words[MAX_WORDS];
	const struct span *metric;
	struct lkp_claim c;
	size_t n = 0, i;
	bool before = false, seen = false;

	while (n < MAX_WORDS && span_next_word(&line, &words[n])) {
		words[n] = strip(words[n]);
		n++;
	}
	for (i = 0; i < n && rd->claims.n < MAX_CLAIMS; i++) {
		if (!is_change(words, n, i, &c))
			continue;
		if (!seen)
			before = i && is_metric(words[i - 1]);
		seen = true;
		metric = metric_near(words, n, i, before);
		c.line = number;
		if (metric)
			add_claim(rd, words, i, metric, &c);
	}
}

static void read_reported(struct lkp_reader *rd, struct span word, struct span subject)
{
	word = strip(word);
	if (rd->reported || !lkp_is_hash(word))
		return;
	rd->reported = arena_strndup(rd->src->a, word.s, MIN(word.len, (size_t)12));
	subject = strip(span_trim(subject));
	if (subject.len)
		rd->reported_subject = arena_strndup(rd->src->a, subject.s, subject.len);
}

static void read_subject(struct lkp_reader *rd, struct span s, int number)
{
	struct span rest = s, word;

	read_claims(rd, s, number);
	while (span_next_word(&rest, &word))
		if (word.s[word.len - 1] == ':')
			read_reported(rd, word, (struct span){"", 0});
}

void lkp_read_subject(struct lkp_reader *rd)
{
	const struct table_fact *f;

	array_for_each (f, &rd->src->set->facts)
		if (!strcmp(f->key, "subject"))
			read_subject(rd, span_of(f->value), 1);
}

/* ---- facts ---- */

/* Text behind "key" at the start of a line, or len 0. */
static struct span after(struct span line, const char *key)
{
	size_t n = strlen(key);

	if (line.len <= n || strncasecmp(line.s, key, n))
		return (struct span){"", 0};
	return span_trim((struct span){line.s + n, line.len - n});
}

static void read_facts(struct lkp_reader *rd, struct span s)
{
	static const char *const machines[] = {"test machine:", "on test machine:"};
	static const char *const tests[] = {"testcase:", "in testcase:"};
	struct span value, word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++)
		tables_fact(rd->src->a, rd->src->set, "machine", after(s, machines[i]));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		value = after(s, tests[i]);
		if (value.len && !rd->testcase && span_next_word(&value, &word) && !value.len)
			rd->testcase = arena_strndup(rd->src->a, word.s, word.len);
	}
	value = after(s, "commit:");
	if (!value.len)
		value = after(s, "commit");
	if (value.len && span_next_word(&value, &word))
		read_reported(rd, word, value);
}

void lkp_read_words(struct lkp_reader *rd, size_t i)
{
	struct span s = span_trim(rd->src->text->lines[i].text), subject = after(s, "Subject:");

	if (subject.len)
		read_subject(rd, subject, rd->src->text->lines[i].line);
	else if (span_find(s, "regression") || span_find(s, "improvement"))
		read_claims(rd, s, rd->src->text->lines[i].line);
	read_facts(rd, s);
}

/* ---- claims against tables ---- */

/* "regression" says which way is better, where the change in the table says which way it went. */
static enum row_better better_by(const struct lkp_claim *c, double change)
{
	if (!c->result || change == 0)
		return BETTER_UNKNOWN;
	return (c->result == BETTER_HIGHER) == (change > 0) ? BETTER_HIGHER : BETTER_LOWER;
}

static void check_row(struct lkp_reader *rd, const struct table *t, struct table_row *row,
		      struct lkp_claim *c)
{
	bool agrees = false;
	size_t i;

	if (!row->full_metric || strcmp(row->full_metric, c->metric))
		return;
	c->found = true;
	for (i = 1; !agrees && i < t->n_variants; i++) {
		const struct table_cell *cell = &row->cells[i];
		double change = c->sign ? cell->change : fabs(cell->change);

		agrees = !cell->has_change || fabs(change - c->change) < 0.06;
		if (agrees && !row->better)
			row->better = better_by(c, cell->change);
	}
	if (!agrees)
		tables_warn(rd->src->a, rd->src->set, row->line,
			    "the words state %s for %s, the table %+g%%", c->text, c->metric,
			    row->cells[1].change);
}

void lkp_check_claims(struct lkp_reader *rd)
{
	const struct table *t;
	struct table_row *row;
	struct lkp_claim *c;

	array_for_each (c, &rd->claims) {
		tables_fact(rd->src->a, rd->src->set,
			    arena_printf(rd->src->a, "stated.%s", c->metric), span_of(c->text));
		array_for_each (t, &rd->src->set->tables) {
			if (strncmp(t->family, "lkp-", 4))
				continue;
			array_for_each (row, &t->rows)
				check_row(rd, t, row, c);
		}
		if (!c->found)
			tables_warn(rd->src->a, rd->src->set, c->line,
				    "%s for %s is stated too; no table here shows it", c->text,
				    c->metric);
	}
}
