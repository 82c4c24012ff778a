// SPDX-License-Identifier: GPL-2.0-or-later
/* What else differed: facts of the boots (machine/facts.h) of one variant against another's. */
#include <stdlib.h>
#include <string.h>

#include "machine/facts.h"
#include "reports/build.h"

/* A value of more words is a list, of which only the differences are told. */
enum { LIST_WORDS = 6 };

int environment_read(struct builder *b, const char *campaign)
{
	struct db_boot_fact *list;
	size_t n, i;
	int r = db_get_boot_facts(b->db, b->a, campaign, MACHINE_FACT_PREFIX, &list, &n, b->e);

	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(&b->boot_facts) = list[i];
	return r;
}

/* Of several campaigns the rows of one key are brought together. */
static int compare_facts(const void *x, const void *y)
{
	const struct db_boot_fact *f = x, *g = y;
	int d = strcmp(f->key, g->key);

	if (!d)
		d = (f->variant_id > g->variant_id) - (f->variant_id < g->variant_id);
	return d ? d : strcmp(f->value, g->value);
}

/* What the boots of a variant said among the facts of one key; NULL: nothing. */
static const char *value_of(struct builder *b, const struct db_boot_fact *facts, size_t n,
			    int64_t variant)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int all = 0, values = 0, boots;
	size_t i, k;

	for (i = 0; i < n; i++)
		all += facts[i].variant_id == variant ? facts[i].boots : 0;
	for (i = 0; i < n; i = k) {
		boots = 0;
		for (k = i; k < n && facts[k].variant_id == facts[i].variant_id &&
			    !strcmp(facts[k].value, facts[i].value);
		     k++)
			boots += facts[k].boots;
		if (facts[i].variant_id != variant)
			continue;
		strbuf_addf(&sb, "%s%s", values++ ? ", " : "", facts[i].value);
		if (boots < all)
			strbuf_addf(&sb, " (%d of %d boots)", boots, all);
	}
	return values ? arena_strdup(b->a, strbuf_str(&sb)) : NULL;
}

static bool has_word(const char *list, struct span word)
{
	struct span rest = span_of(list), other;

	while (span_next_word(&rest, &other))
		if (other.len == word.len && !memcmp(other.s, word.s, word.len))
			return true;
	return false;
}

static bool is_long_list(const char *value)
{
	struct span rest = span_of(value), word;
	int words = 0;

	while (span_next_word(&rest, &word))
		words++;
	return words > LIST_WORDS;
}

/* Of long lists only what is not in all of them. */
static const char *told_value(struct builder *b, const struct cmp_difference *d, size_t variant)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(d->values[variant]), word;
	size_t i, n = b->c->n_variants;

	for (i = 0; i < n; i++)
		if (!is_long_list(d->values[i]))
			return d->values[variant];
	while (span_next_word(&rest, &word)) {
		for (i = 0; i < n && has_word(d->values[i], word); i++)
			;
		if (i < n)
			strbuf_addf(&sb, "%s%.*s", sb.len ? " " : "", (int)word.len, word.s);
	}
	return sb.len ? arena_strdup(b->a, strbuf_str(&sb)) : "none of these";
}

/*
 * Only what every variant has can differ: another kernel may not know a knob at all, which is the
 * kernel's difference.
 */
static bool compare_key(struct builder *b, const struct db_boot_fact *facts, size_t n,
			struct cmp_difference *d)
{
	const struct comparison *c = b->c;
	const char *key = facts->key + strlen(MACHINE_FACT_PREFIX);
	bool differs = false;
	size_t i;

	d->values = arena_alloc_array(b->a, c->n_variants, sizeof(*d->values));
	for (i = 0; i < c->n_variants; i++) {
		d->values[i] = value_of(b, facts, n, c->variants[i].db_id);
		if (!d->values[i])
			return false;
		differs |= strcmp(d->values[i], d->values[0]) != 0;
	}
	d->key = key;
	d->title = machine_fact_title(b->a, key);
	d->told = arena_alloc_array(b->a, c->n_variants, sizeof(*d->told));
	for (i = 0; differs && i < c->n_variants; i++)
		d->told[i] = told_value(b, d, i);
	return differs;
}

void environment_compare(struct builder *b)
{
	struct comparison *c = b->c;
	size_t i, k;

	if (!b->boot_facts.n)
		return;
	qsort(b->boot_facts.items, b->boot_facts.n, sizeof(*b->boot_facts.items), compare_facts);
	c->differences =
		arena_alloc_array(b->a, b->boot_facts.n, sizeof(*c->differences));
	for (i = 0; i < b->boot_facts.n; i = k) {
		const struct db_boot_fact *facts = &b->boot_facts.items[i];

		for (k = i; k < b->boot_facts.n; k++)
			if (strcmp(b->boot_facts.items[k].key, facts->key))
				break;
		c->n_differences +=
			compare_key(b, facts, k - i, &c->differences[c->n_differences]);
	}
}
