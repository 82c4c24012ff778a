// SPDX-License-Identifier: GPL-2.0-or-later
/* Which measurements may stand in one table: what several campaigns, and what clocks have to share. */
#include <errno.h>

#include "reports/build.h"

/* The accelerator of campaigns that count (jobs/count.h). */
#define COUNTING "icount"

/* Why two campaigns cannot be joined, or NULL. */
static const char *refusal(const struct db_campaign *x, const struct db_campaign *y)
{
	if (!x->machine_id || !y->machine_id)
		return "the machine of one is not known";
	if (x->machine_id != y->machine_id)
		return "they were measured on different machines, or the machine changed";
	if (!str_equal(x->unit, y->unit))
		return "one counts boots, the other runs";
	if (!str_equal(x->accelerator, y->accelerator) &&
	    (str_equal(x->accelerator, COUNTING) || str_equal(y->accelerator, COUNTING)))
		return "one counts instructions on one emulated CPU, the other measures times";
	if (!str_equal(x->backend, y->backend) || !str_equal(x->accelerator, y->accelerator))
		return "they were measured on different backends";
	return NULL;
}

/* What the counts of a campaign depend on besides kernel, command and seed; "": it does not count. */
static int counted_by(struct builder *b, const char *campaign, const char **text)
{
	struct db_fact *facts;
	size_t n, i;
	int r = db_get_facts(b->db, b->a, "campaign", campaign, &facts, &n, b->e);

	*text = "";
	for (i = 0; !r && i < n; i++)
		if (!strcmp(facts[i].key, "counting"))
			*text = facts[i].value;
	return r;
}

/* Another QEMU, other options or other programs in the guest give other counts. */
static int counts_refusal(struct builder *b, const struct db_campaign *x,
			  const struct db_campaign *y, const char **why)
{
	const char *one, *other = NULL;
	int r;

	if (!str_equal(x->accelerator, COUNTING))
		return 0;
	r = counted_by(b, x->id, &one);
	if (!r)
		r = counted_by(b, y->id, &other);
	if (!r && strcmp(one, other))
		*why = arena_printf(b->a, "they were counted differently, by %s and by %s", one,
				    other);
	return r;
}

int join_refusal(struct builder *b, const struct db_campaign *y, const char **why)
{
	*why = b->c->n_campaigns ? refusal(&b->campaigns[0], y) : NULL;
	return b->c->n_campaigns && !*why ? counts_refusal(b, &b->campaigns[0], y, why) : 0;
}

int join_offset(const struct builder *b, int number)
{
	const struct db_campaign *x = &b->campaigns[0], *y = &b->campaigns[number];

	/* blocks of the same number have the same seed there, whatever the campaign */
	if (str_equal(y->accelerator, COUNTING) && x->seed == y->seed)
		return 0;
	return number * CMP_BLOCK_STRIDE;
}

/* A clock that is read through an exit costs every benchmark that reads it. */
static int clocks_differ(struct builder *b, size_t i, const char *one, size_t k, const char *other)
{
	const struct cmp_variant *v = b->c->variants;

	if (i == k)
		err_add(b->e, -EINVAL, "%s ran on the clock source %s and on %s: its values are not "
			"comparable", v[i].name, one, other);
	else
		err_add(b->e, -EINVAL,
			"%s ran on the clock source %s and %s on %s: their values are not comparable",
			v[i].name, one, v[k].name, other);
	err_hint(b->e, "boot both with the same one (cmdline: clocksource=tsc), or name variants that "
		       "share one: kdelta compare A B");
	return -EINVAL;
}

/* tsc-early is what the tsc is called until the kernel has calibrated it. */
static const char *clock_name(const char *clocksource)
{
	return strcmp(clocksource, "tsc-early") ? clocksource : "tsc";
}

int join_check_clocks(struct builder *b)
{
	const struct comparison *c = b->c;
	const char *seen = NULL;
	struct db_boot *boots;
	size_t n, i, k, from = 0;
	int r = 0, v;

	for (i = 0; !r && i < c->n_campaigns; i++) {
		r = db_get_boots(b->db, b->a, c->campaigns[i], &boots, &n, b->e);
		for (k = 0; !r && k < n; k++) {
			v = comparison_variant_of(c, boots[k].variant_id);
			if (v < 0 || strcmp(boots[k].outcome, "ok") || !*boots[k].clocksource)
				continue;
			if (!seen) {
				seen = clock_name(boots[k].clocksource);
				from = (size_t)v;
			} else if (strcmp(seen, clock_name(boots[k].clocksource))) {
				r = clocks_differ(b, from, seen, (size_t)v, boots[k].clocksource);
			}
		}
	}
	return r;
}
