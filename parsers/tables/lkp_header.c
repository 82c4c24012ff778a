// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stands above the rows of an LKP table: axes, commits, names of the columns.
 *
 *	compiler/kconfig/tbox_group/test/testcase:
 *	  gcc-9/x86_64-rhel-8.3/lkp-csl-2sp9/sync_disk_rw/aim7
 *	commit:
 *	  94b7e5bf09 ("mm: memcg: put memcg1-specific members under CONFIG_MEMCG_V1")
 *	  7b3274adca <---- your "_pad2_" patch
 *
 *	94b7e5bf09b08aa4 7b3274adcaac12369e13ac32e46
 *	---------------- ---------------------------
 *
 * The names above the dashes are cut to 16 and 27 characters; the list of commits has them in full.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "parsers/tables/lkp.h"

enum { MAX_COMMITS = 64, MAX_AXES = 24, MAX_HEADER_LINES = 6, HASH_SHOWN = 12 };

bool lkp_is_hash(struct span s)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (!isxdigit((unsigned char)s.s[i]) || isupper((unsigned char)s.s[i]))
			return false;
	return s.len >= 7 && s.len <= 40;
}

static struct span line_of(const struct lkp_reader *rd, size_t i)
{
	return i < rd->src->text->n ? span_trim(rd->src->text->lines[i].text)
				    : (struct span){"", 0};
}

static bool is_last(struct span s, char c)
{
	return s.len && s.s[s.len - 1] == c;
}

static size_t count_of(struct span s, char c)
{
	size_t n = 0, i;

	for (i = 0; i < s.len; i++)
		n += s.s[i] == c;
	return n;
}

static void end_block(struct lkp_reader *rd, int *r)
{
	if (!*r)
		*r = lkp_finish(rd);
	lkp_drop_rows(&rd->block);
	rd->block.percents = false;
	rd->block.context.has_rows = false;
}

static void new_context(struct lkp_reader *rd, int *r)
{
	end_block(rd, r);
	ARRAY_FREE(&rd->block.context.commits);
	rd->block.context = (struct lkp_context){0};
}

/* ---- axes ---- */

static bool is_one_word(struct span s)
{
	return s.len && !memchr(s.s, ' ', s.len);
}

/* Where and with what it ran; the rest says what was done. */
static bool is_plumbing(const char *axis)
{
	static const char *const names[] = {
		"compiler", "cpufreq_governor", "kconfig", "rootfs", "tbox_group", "testbox",
		"testcase", "testtime",		"runtime", "ucode",  "class",	   "debug-setup"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(axis, names[i]))
			return true;
	return false;
}

static struct span take_part(struct span *s)
{
	const char *slash = memchr(s->s, '/', s->len);
	struct span part = {s->s, slash ? (size_t)(slash - s->s) : s->len};

	s->len -= part.len + (slash != NULL);
	s->s += part.len + (slash != NULL);
	return part;
}

static void set_axes(struct lkp_reader *rd, struct span names, struct span values)
{
	struct lkp_context *c = &rd->block.context;
	struct span name, value;

	c->section = arena_strndup(rd->src->a, values.s, values.len);
	c->nameless = count_of(names, '/') != count_of(values, '/');
	if (c->nameless)
		return;
	c->axes = arena_alloc_array(rd->src->a, MAX_AXES, sizeof(*c->axes));
	while (names.len && c->n_axes < MAX_AXES) {
		struct table_param p;

		name = take_part(&names);
		value = take_part(&values);
		p = (struct table_param){arena_strndup(rd->src->a, name.s, name.len),
					 arena_strndup(rd->src->a, value.s, value.len), false};
		p.shown = !is_plumbing(p.name);
		if (!strcmp(p.name, "testcase"))
			c->benchmark = p.value;
		else
			c->axes[c->n_axes++] = p;
	}
}

static bool are_axes(struct span s)
{
	return is_one_word(s) && is_last(s, ':') && memchr(s.s, '/', s.len) &&
	       (span_find(s, "testcase") || span_find(s, "tbox_group") || span_find(s, "testbox") ||
		count_of(s, '/') >= 4) &&
	       !span_find(s, "://");
}

static size_t next_text(const struct lkp_reader *rd, size_t i)
{
	for (i++; i < rd->src->text->n && !line_of(rd, i).len;)
		i++;
	return i;
}

static bool is_commit_line(struct span s)
{
	return span_is(s, "commit:") || span_is(s, "commits:") || span_is(s, "commit :");
}

static bool read_axes(struct lkp_reader *rd, size_t *i, int *r)
{
	struct span s = line_of(rd, *i), names = s, values;
	const char *colon = span_find(s, ": ");
	size_t next = *i;

	if (colon) {
		names.len = (size_t)(colon + 1 - s.s);
		values = span_trim((struct span){colon + 1, s.len - names.len});
	} else {
		next = *i + 1 < rd->src->text->n && line_of(rd, *i + 1).len ? *i + 1
									    : next_text(rd, *i);
		values = line_of(rd, next);
	}
	if (are_axes(names) && is_one_word(values) && memchr(values.s, '/', values.len)) {
		new_context(rd, r);
		names.len--;
		set_axes(rd, names, values);
	} else if (is_one_word(s) && count_of(s, '/') >= 3 && s.s[0] != '/' &&
		   !span_find(s, "://") && !is_last(s, ':') &&
		   is_commit_line(line_of(rd, next_text(rd, *i)))) {
		new_context(rd, r);
		next = *i;
		set_axes(rd, (struct span){"", 0}, s);
	} else {
		return false;
	}
	for (; *i < next; ++*i)
		rd->src->used[*i] = true;
	rd->src->used[*i] = true;
	return true;
}

/* ---- commits ---- */

static bool is_closed(struct span s)
{
	return count_of(s, '(') <= count_of(s, ')');
}

/* `("mm: guard members")`, `(the test patch)`, `<---- your "_pad2_" patch` -> the words */
static const char *remark_of(struct arena *a, struct span s)
{
	bool inside;

	s = span_trim(s);
	inside = s.len >= 2 && s.s[0] == '(' && is_last(s, ')');
	if (inside)
		s = (struct span){s.s + 1, s.len - 2};
	if (inside && s.len >= 2 && s.s[0] == '"' && is_last(s, '"'))
		s = (struct span){s.s + 1, s.len - 2};
	while (s.len && strchr("<-= ", s.s[0]))
		s.s++, s.len--;
	return s.len ? arena_strndup(a, s.s, s.len) : NULL;
}

static struct lkp_commit commit_of(struct arena *a, struct span s)
{
	struct lkp_commit c = {0};
	struct span word = {"", 0};

	span_next_word(&s, &word);
	c.name = arena_strndup(
		a, word.s,
		MIN(word.len, lkp_is_hash(word) && word.len == 40 ? (size_t)HASH_SHOWN : word.len));
	if (lkp_is_hash(word))
		c.hash = arena_strndup(a, word.s, word.len);
	c.description = remark_of(a, s);
	return c;
}

/* Whether a line is names above dashes, or the dashes, rather than one commit. */
static bool ends_list(const struct lkp_reader *rd, size_t i)
{
	struct span s = line_of(rd, i), rest = s, word, second;

	if (!s.len || table_is_separator(s))
		return true;
	if (!span_next_word(&rest, &word) || !span_next_word(&rest, &second))
		return false;
	return second.s[0] != '(' && second.s[0] != '<' && second.s[0] != '-' && second.s[0] != '#';
}

static bool read_commits(struct lkp_reader *rd, size_t *i, int *r)
{
	struct lkp_context *c = &rd->block.context;
	size_t at = *i + 1;

	if (!is_commit_line(line_of(rd, *i)))
		return false;
	if (at < rd->src->text->n && !line_of(rd, at).len)
		at++;
	if (ends_list(rd, at))
		return false;
	if (c->has_rows)
		new_context(rd, r);
	ARRAY_FREE(&c->commits);
	rd->src->used[*i] = true;
	while (!ends_list(rd, at) && c->commits.n < MAX_COMMITS) {
		struct span s = line_of(rd, at);
		size_t last = at;

		while (!is_closed(s) && last < at + 3 && line_of(rd, last + 1).len &&
		       !table_is_separator(line_of(rd, last + 1))) {
			last++;
			s = span_of(arena_printf(rd->src->a, "%.*s %.*s", (int)s.len, s.s,
						 (int)line_of(rd, last).len, line_of(rd, last).s));
		}
		*ARRAY_PUSH(&c->commits) = commit_of(rd->src->a, s);
		for (; at <= last; at++)
			rd->src->used[at] = true;
	}
	*i = at - 1;
	return true;
}

/* ---- dashes and the line of units ---- */

/* Words of dashes, or 0 where there is anything else. */
static size_t dash_words(struct span s)
{
	struct span word;
	size_t n = 0;

	while (span_next_word(&s, &word)) {
		if (word.len < 6 || count_of(word, '-') != word.len)
			return 0;
		n++;
	}
	return n;
}

static bool read_dashes(struct lkp_reader *rd, size_t *i, int *r)
{
	struct lkp_context *c = &rd->block.context;
	size_t words = dash_words(line_of(rd, *i)), next = *i + 1, more;

	if (!words)
		return false;
	while ((more = dash_words(line_of(rd, next)))) {
		words += more;
		next++;
	}
	if (words < 2)
		return false;
	end_block(rd, r);
	c->columns = words;
	c->units = 0;
	c->dashes = c->top = *i;
	c->strict = true;
	while (c->top > rd->gap && c->dashes - c->top < MAX_HEADER_LINES &&
	       line_of(rd, c->top - 1).len && !rd->src->used[c->top - 1] &&
	       !table_is_separator(line_of(rd, c->top - 1)))
		c->top--;
	for (*i = c->top; *i < next; ++*i)
		rd->src->used[*i] = true;
	--*i;
	return true;
}

static bool read_units(struct lkp_reader *rd, size_t i)
{
	static const char *const words[] = {"%stddev", "%change", "fail:runs", "%reproduction",
					    "%stdev",  "|",	  "\\"};
	struct span s = line_of(rd, i), word;
	bool percents = false, any = false;
	size_t k;

	while (span_next_word(&s, &word)) {
		for (k = 0; k < ARRAY_SIZE(words) && !span_is(word, words[k]); k++)
			;
		if (k == ARRAY_SIZE(words))
			return false;
		percents |= word.len > 4 && word.s[1] == 's';
		any = true;
	}
	if (!any)
		return false;
	rd->block.context.strict = true;
	if (!rd->block.context.units)
		rd->block.context.units = i + 1;
	rd->block.percents |= percents;
	rd->src->used[i] = true;
	return true;
}

/* "test case: brickland1/aim7/6000-page_test" */
static bool read_test_case(struct lkp_reader *rd, size_t i, int *r)
{
	static const char key[] = "test case:";
	struct span s = line_of(rd, i), word;

	if (s.len < sizeof(key) || strncasecmp(s.s, key, sizeof(key) - 1))
		return false;
	span_skip(&s, sizeof(key) - 1);
	if (!span_next_word(&s, &word) || !lkp_is_name(word))
		return false;
	new_context(rd, r);
	rd->block.context.section = arena_strndup(rd->src->a, word.s, word.len);
	rd->src->used[i] = true;
	return true;
}

/* A rule of its own between tables. */
static bool read_rule(struct lkp_reader *rd, size_t i, int *r)
{
	struct span s = line_of(rd, i);

	if (s.len < 40 || count_of(s, '=') != s.len)
		return false;
	new_context(rd, r);
	rd->src->used[i] = true;
	return true;
}

bool lkp_read_header(struct lkp_reader *rd, size_t *i, int *r)
{
	return read_rule(rd, *i, r) || read_axes(rd, i, r) || read_commits(rd, i, r) ||
	       read_dashes(rd, i, r) || read_units(rd, *i) || read_test_case(rd, *i, r);
}

/* ---- names ---- */

/* One is the beginning of the other. */
static bool is_cut_of(struct span x, const char *y)
{
	size_t n = MIN(x.len, strlen(y));

	return n >= 4 && !memcmp(x.s, y, n);
}

static bool fits(const struct lkp_commit *c, struct span word)
{
	return is_cut_of(word, c->name) || (c->hash && is_cut_of(word, c->hash));
}

/* The words above the dashes, n of them; false: another number. */
static bool header_words(const struct lkp_reader *rd, size_t n, struct span *words)
{
	const struct lkp_context *c = &rd->block.context;
	struct span s, word;
	size_t i, found = 0;

	for (i = c->columns ? c->top : c->dashes; i < c->dashes; i++) {
		s = rd->src->text->lines[i].text;
		while (span_next_word(&s, &word)) {
			if (found == n)
				return false;
			words[found++] = word;
		}
	}
	return found == n;
}

static void name_column(struct table *t, size_t i, const struct lkp_commit *c)
{
	t->variants[i] = c->name;
	t->descriptions[i] = c->description;
	t->commits[i] = c->hash;
}

/* In the order of the header, where it names commits of the list in another one. */
static void from_header(struct lkp_reader *rd, struct table *t, const struct span *words)
{
	const struct lkp_context *c = &rd->block.context;
	const struct lkp_commit *k;
	size_t i;

	for (i = 0; i < t->n_variants; i++) {
		struct lkp_commit found = commit_of(rd->src->a, words[i]);

		if (lkp_is_hash(words[i]))
			found.name = arena_strndup(rd->src->a, words[i].s, words[i].len);
		array_for_each (k, &c->commits)
			if (fits(k, words[i]))
				found = *k;
		name_column(t, i, &found);
	}
}

static bool list_fits(const struct lkp_context *c, const struct span *words)
{
	size_t i;

	for (i = 0; i < c->commits.n; i++)
		if (!fits(&c->commits.items[i], words[i]))
			return false;
	return true;
}

static bool are_distinct(const struct table *t)
{
	size_t i, k;

	for (i = 0; i < t->n_variants; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(t->variants[i], t->variants[k]))
				return false;
	return true;
}

/* Two columns of one kernel, or of names cut alike. */
static void make_distinct(struct lkp_reader *rd, struct table *t)
{
	size_t i;

	if (are_distinct(t))
		return;
	for (i = 0; i < t->n_variants; i++)
		t->variants[i] = arena_printf(rd->src->a, "%s #%zu", t->variants[i], i + 1);
	tables_warn(rd->src->a, rd->src->set, t->line,
		    "two columns have the same name: they were numbered (--names)");
}

static int from_options(struct lkp_reader *rd, struct table *t)
{
	size_t n = 0;

	while (rd->src->opt->names[n])
		n++;
	if (n != t->n_variants)
		return table_names_missing(rd->src->text->file, t, rd->src->opt, rd->src->e);
	memcpy(t->variants, rd->src->opt->names, n * sizeof(*t->variants));
	return 0;
}

static void invent(struct lkp_reader *rd, struct table *t)
{
	size_t i;

	for (i = 0; i < t->n_variants; i++)
		t->variants[i] = arena_printf(rd->src->a, "#%zu", i + 1);
	if (rd->reported && t->n_variants == 2) {
		struct lkp_commit c = {rd->reported, rd->reported, rd->reported_subject};

		name_column(t, 1, &c);
	}
	tables_warn(rd->src->a, rd->src->set, t->line,
		    "nothing names the %zu columns: they are called %s to %s (--names)",
		    t->n_variants, t->variants[0], t->variants[t->n_variants - 1]);
}

/* The line below the names. */
static size_t below_names(const struct lkp_reader *rd)
{
	const struct lkp_context *c = &rd->block.context;

	if (c->columns)
		return c->dashes;
	return c->units ? c->units - 1 : rd->block.first;
}

int lkp_names(struct lkp_reader *rd, struct table *t)
{
	const struct lkp_context *c = &rd->block.context;
	struct span *words = arena_alloc_array(rd->src->a, t->n_variants, sizeof(*words));
	struct table_legend none = {{NULL, 0, 0}};
	struct table_names names;
	size_t n = t->n_variants;
	bool headed = header_words(rd, n, words);

	t->variants = arena_alloc_array(rd->src->a, n + 1, sizeof(*t->variants));
	t->descriptions = arena_alloc_array(rd->src->a, n + 1, sizeof(*t->descriptions));
	t->commits = arena_alloc_array(rd->src->a, n + 1, sizeof(*t->commits));
	if (rd->src->opt && rd->src->opt->names)
		return from_options(rd, t);
	if (c->commits.n == n && (!headed || list_fits(c, words))) {
		for (size_t i = 0; i < n; i++)
			name_column(t, i, &c->commits.items[i]);
	} else if (headed) {
		from_header(rd, t, words);
	} else if (c->commits.n) {
		return table_names_missing(rd->src->text->file, t, rd->src->opt, rd->src->e);
	} else if (table_names_find(rd->src->a, rd->src->text, below_names(rd), rd->block.lowest, n,
				    &none, NULL, rd->src->opt, &names)) {
		t->variants = names.names;
		t->descriptions = names.descriptions;
		for (; names.top < rd->block.first; names.top++)
			rd->src->used[names.top] = true;
	} else {
		invent(rd, t);
	}
	make_distinct(rd, t);
	if (t->commits[0])
		tables_fact(rd->src->a, rd->src->set, "commit", span_of(t->commits[0]));
	return 0;
}
