// SPDX-License-Identifier: GPL-2.0-or-later
/* A mailed text -> tables: undoes the mail, asks every family, applies the rule for the baseline.
 */
#include "parsers/tables/tables.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/num.h"

/* ---- helpers of the families ---- */

static void add_warning(struct arena *a, struct table_warning *w, int line, const char *fmt,
			va_list ap)
{
	*w = (struct table_warning){line, arena_vprintf(a, fmt, ap)};
}

void tables_warn(struct arena *a, struct table_set *set, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_warning(a, ARRAY_PUSH(&set->warnings), line, fmt, ap);
	va_end(ap);
}

void tables_refuse(struct arena *a, struct table_set *set, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_warning(a, ARRAY_PUSH(&set->refused), line, fmt, ap);
	va_end(ap);
}

static int key_order(const void *x, const void *y)
{
	const struct table_row *v = *(struct table_row *const *)x,
			       *w = *(struct table_row *const *)y;
	int r = strcmp(v->key, w->key);

	return r ? r : (v > w) - (v < w);
}

void table_index_repeats(struct table *t)
{
	struct table_row **sorted = mem_realloc_array(NULL, t->rows.n + 1, sizeof(*sorted));
	size_t i;

	for (i = 0; i < t->rows.n; i++)
		sorted[i] = &t->rows.items[i];
	qsort(sorted, t->rows.n, sizeof(*sorted), key_order);
	for (i = 1; i < t->rows.n; i++)
		if (!strcmp(sorted[i]->key, sorted[i - 1]->key))
			sorted[i]->index = sorted[i - 1]->index + 1;
	free(sorted);
}

/* Whether a word stands in the name, bounded by anything but letters and digits. */
static bool has_word(const char *name, const char *word)
{
	size_t len = strlen(word);
	const char *p;

	for (p = name; (p = strcasestr(p, word)); p++)
		if ((p == name || !isalnum((unsigned char)p[-1])) &&
		    !isalnum((unsigned char)p[len]))
			return true;
	return false;
}

int table_baseline_by_name(const char *const *names, size_t n)
{
	static const char *const words[] = {"w/o",	 "without", "base", "baseline", "vanilla",
					    "unpatched", "before",  "tip",  "mainline", "clean"};
	int contained = -1;
	size_t i, k;

	/* "tip" is the baseline of "tip+fix" and "tip", whatever their order */
	for (i = 0; i < n; i++) {
		for (k = 0; k < ARRAY_SIZE(words); k++) {
			if (!strcasecmp(names[i], words[k]))
				return (int)i;
			if (contained < 0 && has_word(names[i], words[k]))
				contained = (int)i;
		}
	}
	return contained;
}

size_t table_scan_number(struct span s, double *value, int *decimals)
{
	char digits[40];
	size_t i = 0, n = 0;
	int places = -1;

	if (i < s.len && (s.s[i] == '-' || s.s[i] == '+')) {
		if (s.s[i] == '-')
			digits[n++] = '-';
		i++;
	}
	for (; i < s.len && n < sizeof(digits); i++) {
		char c = s.s[i];

		if (c == ',' && places < 0 && n && i + 3 < s.len &&
		    isdigit((unsigned char)s.s[i + 1]) && isdigit((unsigned char)s.s[i + 2]) &&
		    isdigit((unsigned char)s.s[i + 3]))
			continue; /* 1,234 */
		if (c == '.' && places < 0 && i + 1 < s.len && isdigit((unsigned char)s.s[i + 1]))
			places = 0;
		else if (isdigit((unsigned char)c))
			places += places >= 0;
		else
			break;
		digits[n++] = c;
	}
	if (n == sizeof(digits) || !num_parse((struct span){digits, n}, value))
		return 0;
	*decimals = MAX(places, 0);
	return i;
}

static const char *benchmark_at(struct span rest)
{
	static const char *const names[] = {
		"tbench",  "hackbench", "schbench", "kernbench",       "dbench",  "stream",
		"netperf", "coremark",	"pgbench",  "unixbench",       "specjbb", "sysbench",
		"ebizzy",  "stress-ng", "uperf",    "sched-messaging",
	};
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		len = strlen(names[i]);
		if (rest.len >= len && !strncasecmp(rest.s, names[i], len) &&
		    (rest.len == len || !isalpha((unsigned char)rest.s[len])))
			return names[i];
	}
	return NULL;
}

static bool span_has(struct span s, const char *text)
{
	return span_find(s, text) != NULL;
}

const char *table_benchmark_in(struct span line, struct span *word)
{
	const char *found = NULL, *name;
	struct span rest = line, w;
	size_t i;

	if (word)
		*word = (struct span){NULL, 0};
	while (span_next_word(&rest, &w)) {
		for (i = 0; i < w.len; i++) {
			if (i && isalnum((unsigned char)w.s[i - 1]))
				continue;
			name = benchmark_at((struct span){w.s + i, w.len - i});
			if (!name || name == found)
				continue;
			if (found)
				return NULL;
			found = name;
			if (word)
				*word = w;
		}
	}
	if (found)
		return found;
	if (span_has(line, "make -j") || span_has(line, "make Image") ||
	    span_has(line, "make bzImage") || span_has(line, "make vmlinux") ||
	    span_has(line, "kernel build") ||
	    (span_has(line, "kernel") && (span_has(line, "building") || span_has(line, "compil"))))
		return "kernbench";
	return NULL;
}

/* ---- facts ---- */

static bool has_fact(const struct table_set *set, const char *key)
{
	const struct table_fact *f;

	array_for_each (f, &set->facts)
		if (!strcmp(f->key, key))
			return true;
	return false;
}

void tables_fact(struct arena *a, struct table_set *set, const char *key, struct span value)
{
	value = span_trim(value);
	if (value.len && !has_fact(set, key))
		*ARRAY_PUSH(&set->facts) =
			(struct table_fact){key, arena_strndup(a, value.s, value.len)};
}

static bool is_machine(struct span s)
{
	static const char *const words[] = {"node", "socket", "core",  "Core", "cpu",	 "CPU",
					    "Xeon", "EPYC",   "Intel", "AMD",  "Kunpeng"};
	bool digit = false;
	size_t i;

	for (i = 0; i < s.len; i++)
		digit |= isdigit((unsigned char)s.s[i]) != 0;
	for (i = 0; digit && i < ARRAY_SIZE(words); i++)
		if (span_has(s, words[i]))
			return true;
	return false;
}

static struct span until(struct span s, const char *ends)
{
	size_t i;

	for (i = 0; i < s.len && !strchr(ends, s.s[i]); i++)
		;
	return (struct span){s.s, i};
}

/* "benchmark on the same 8-node Sun Fire X4600-M2, on top of" -> "8-node Sun Fire X4600-M2" */
static struct span machine_in(struct span line)
{
	static const char *const articles[] = {"the", "a", "an", "my", "our", "same", "this"};
	struct span rest = line, word, phrase;
	const char *quote = memchr(line.s, '"', line.len);
	size_t i;

	if (quote) {
		phrase.s = quote + 1;
		phrase.len = line.len - (size_t)(phrase.s - line.s);
		phrase = until(phrase, "\"");
		if (is_machine(phrase))
			return phrase;
	}
	while (span_next_word(&rest, &word)) {
		if (!span_is(word, "on"))
			continue;
		do {
			phrase = span_trim(rest);
			if (!span_next_word(&rest, &word))
				break;
			for (i = 0; i < ARRAY_SIZE(articles) && !span_is(word, articles[i]); i++)
				;
		} while (i < ARRAY_SIZE(articles));
		phrase = until(phrase, ",;.()=");
		if (phrase.len <= 80 && is_machine(phrase))
			return phrase;
	}
	return (struct span){NULL, 0};
}

static struct span trim_punctuation(struct span s)
{
	while (s.len && strchr(".,;:)('\"", s.s[s.len - 1]))
		s.len--;
	while (s.len && strchr("('\"", s.s[0]))
		s.s++, s.len--;
	return s;
}

static bool is_hex(struct span s)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (!isxdigit((unsigned char)s.s[i]) || isupper((unsigned char)s.s[i]))
			return false;
	return s.len >= 7 && s.len <= 40;
}

/* "5.11.0-rc7-00002-ge0756cfc7d7c", as git describe writes it */
static bool is_described(struct span s)
{
	const char *g = span_find(s, "-g");
	struct span hash;

	if (!g || !isdigit((unsigned char)(s.s[0] == 'v' && s.len > 1 ? s.s[1] : s.s[0])))
		return false;
	hash.s = g + 2;
	hash.len = s.len - (size_t)(hash.s - s.s);
	return is_hex(hash);
}

static struct span commit_in(struct span line)
{
	struct span word, before = {NULL, 0};

	while (span_next_word(&line, &word)) {
		word = trim_punctuation(word);
		if (word.len && is_described(word))
			return word;
		if (is_hex(word) && (span_is(before, "commit") || span_is(before, "tip") ||
				     span_is(before, "base")))
			return word;
		before = word;
	}
	return (struct span){NULL, 0};
}

void tables_facts(struct arena *a, const struct table_text *text, const bool *used,
		  struct table_set *set)
{
	const struct table *t;
	size_t i;

	for (i = 0; i < text->n; i++) {
		if (used[i] || !text->lines[i].text.len)
			continue;
		tables_fact(a, set, "machine", machine_in(text->lines[i].text));
		tables_fact(a, set, "commit", commit_in(text->lines[i].text));
	}
	array_for_each (t, &set->tables)
		if (t->command)
			tables_fact(a, set, "command", span_of(t->command));
}

/* ---- the whole ---- */

bool table_same_words(const char *x, const char *y)
{
	for (;; x++, y++) {
		while (*x == ' ')
			x++;
		while (*y == ' ')
			y++;
		if (tolower((unsigned char)*x) != tolower((unsigned char)*y))
			return false;
		if (!*x)
			return true;
	}
}

static int unknown_baseline(struct arena *a, const char *file, const struct table *t,
			    const char *base, struct err *e)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	const char **names = arena_alloc_array(a, t->n_variants + 1, sizeof(*names));
	const char *near;
	size_t i;

	for (i = 0; i < t->n_variants; i++) {
		names[i] = t->variants[i];
		strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	near = str_suggest(base, names);
	err_add(e, -EINVAL, "no variant '%s' in the table", base);
	err_at(e, file, t->line, 0);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	else
		err_hint(e, "it has: %s", strbuf_str(&list));
	return -EINVAL;
}

/* Published percentages and stars belong to the column they were computed against. */
static void drop_changes(struct table *t)
{
	struct table_row *row;
	size_t i;

	array_for_each (row, &t->rows) {
		for (i = 0; i < t->n_variants; i++)
			row->cells[i].has_change = row->cells[i].mark = false;
	}
	t->sign = SIGN_NONE;
}

/* A family leaves -1 where no column stands at 0.00 % or 1.00. */
static int settle_baseline(struct arena *a, const char *file, struct table *t,
			   const struct table_options *opt, struct table_set *set, struct err *e)
{
	size_t i;

	if (t->delta_only)
		return 0;
	if (opt && opt->baseline) {
		for (i = 0; i < t->n_variants && !table_same_words(t->variants[i], opt->baseline);
		     i++)
			;
		if (i == t->n_variants)
			return unknown_baseline(a, file, t, opt->baseline, e);
		if (t->baseline >= 0 && t->baseline != (int)i)
			drop_changes(t);
		t->baseline = (int)i;
		return 0;
	}
	if (t->baseline < 0)
		t->baseline = table_baseline_by_name(t->variants, t->n_variants);
	if (t->baseline >= 0)
		return 0;
	t->baseline = 0;
	t->baseline_guessed = t->n_variants > 1;
	if (t->baseline_guessed)
		tables_warn(a, set, t->line,
			    "no column is known to be the baseline: the first, %s, was taken "
			    "(--base NAME)",
			    t->variants[0]);
	return 0;
}

static int by_line(const void *x, const void *y)
{
	const struct table_warning *v = x, *w = y;

	return (v->line > w->line) - (v->line < w->line);
}

static int table_by_line(const void *x, const void *y)
{
	const struct table *v = x, *w = y;

	return (v->line > w->line) - (v->line < w->line);
}

/* Moves a growing array into the arena. */
static void *keep(struct arena *a, void *items, size_t n, size_t size)
{
	void *kept = arena_copy(a, items, n, size);

	free(items);
	return kept;
}
#define KEEP(a, array)                                                                             \
	((array)->items = keep(a, (array)->items, (array)->n, sizeof(*(array)->items)),            \
	 (array)->alloc = (array)->n)

static void settle(struct arena *a, struct table_set *set)
{
	struct table *t;

	array_for_each (t, &set->tables)
		KEEP(a, &t->rows);
	KEEP(a, &set->tables);
	KEEP(a, &set->warnings);
	KEEP(a, &set->refused);
	KEEP(a, &set->facts);
	if (set->tables.n)
		qsort(set->tables.items, set->tables.n, sizeof(*set->tables.items), table_by_line);
	if (set->warnings.n)
		qsort(set->warnings.items, set->warnings.n, sizeof(*set->warnings.items), by_line);
	if (set->refused.n)
		qsort(set->refused.items, set->refused.n, sizeof(*set->refused.items), by_line);
}

/* The text with the lines that the first families took as empty ones. */
static struct table_text without_used(struct arena *a, const struct table_text *text,
				      const bool *used)
{
	struct table_text left = *text;
	size_t i;

	left.lines = arena_copy(a, text->lines, text->n, sizeof(*text->lines));
	for (i = 0; i < text->n; i++)
		if (used[i])
			left.lines[i].text = (struct span){"", 0};
	return left;
}

static int pass_of(const struct table_family *f)
{
	return f->first ? 0 : f->last ? 2 : 1;
}

static bool is_asked(const struct table_family *f, const struct table_options *opt)
{
	return !opt || !opt->family || !strcmp(opt->family, f->name);
}

static int read_families(struct arena *a, const struct table_text *text,
			 const struct table_options *opt, struct table_set *set, struct err *e)
{
	bool *used = arena_alloc_array(a, text->n + 1, sizeof(*used));
	const struct table_family *const *f;
	struct table_text left = *text;
	struct table_legend legend = {{NULL, 0, 0}};
	const struct table_source src = {.a = a,
					 .text = &left,
					 .used = used,
					 .opt = opt,
					 .set = set,
					 .e = e,
					 .legend = &legend};
	struct table *t;
	int r = 0, pass;

	for (pass = 0; !r && pass < 3; pass++) {
		registry_for_each (table_family, f)
			if (!r && pass_of(*f) == pass && is_asked(*f, opt))
				r = (*f)->read(&src);
		if (pass || r)
			continue;
		left = without_used(a, text, used);
		table_legend_read(a, &left, &legend);
	}
	ARRAY_FREE(&legend.entries);
	if (r)
		return r;
	array_for_each (t, &set->tables) {
		r = settle_baseline(a, text->file, t, opt, set, e);
		if (r)
			return r;
	}
	tables_facts(a, text, used, set);
	return 0;
}

static int nothing_found(const char *file, const struct table_set *set, struct err *e)
{
	const struct table_warning *w;

	if (!set->refused.n) {
		err_add(e, -ENOENT, "no table found");
		err_at(e, file, 0, 0);
		err_hint(e,
			 "tables understood: those of kdelta's own mails, mmtests, LKP, AMD (pct), "
			 "schbench, perf stat, "
			 "unixbench, ministat, csv, bash times, and columns named like a baseline");
		return -ENOENT;
	}
	array_for_each (w, &set->refused) {
		err_add(e, -EINVAL, "%s", w->text);
		err_at(e, file, w->line, 0);
	}
	return -EINVAL;
}

int tables_read(struct arena *a, const char *file, struct span text,
		const struct table_options *opt, struct table_set *set, struct err *e)
{
	struct table_text undone;
	int r;

	*set = (struct table_set){0};
	if (!span_trim(text).len) {
		err_add(e, -ENOENT, "the file is empty");
		err_at(e, file, 0, 0);
		return -ENOENT;
	}
	tables_undo(a, file, text, &undone, set);
	r = read_families(a, &undone, opt, set, e);
	settle(a, set);
	return !r && !set->tables.n ? nothing_found(file, set, e) : r;
}
