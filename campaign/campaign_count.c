// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Campaigns that count instructions. The clock of their guests is the count itself, so nothing can
 * be calibrated by it, and what runs for a set time has the same count under every kernel.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "campaign/campaign_reader.h"
#include "core/file.h"
#include "core/num.h"

#define SUITE "configs/icount.yaml"

static int refuse(const struct campaign_config *c, struct err *e)
{
	if (strcmp(c->backend, "qemu")) {
		err_add(e, -EINVAL, "%s: instructions are counted in guests, and its backend is %s",
			c->file, c->backend);
		err_hint(e, "write backend: qemu; `perf stat` counts those of a real machine");
		return -EINVAL;
	}
	if (c->cpus > 1) {
		err_add(e, -EINVAL, "%s: instructions are counted on one CPU, not on %d", c->file,
			c->cpus);
		err_hint(e, "leave cpus: out; QEMU's instruction clock does not work with more");
		return -EINVAL;
	}
	return 0;
}

const char *campaign_uncounted(const struct bench_def *bench)
{
	return bench->build	    ? "needs files of this machine, which come when they come"
	       : !bench->fixed_work ? "runs for a set time, which fixes its count"
				    : NULL;
}

/* The work that stands for `auto`, shared over the parameter that the product is constant with. */
static int settle_auto(struct arena *a, struct test_case *c, struct err *e)
{
	const struct bench_def *bench = c->bench;
	double share, work;
	const char *text;
	size_t i;

	for (i = 0; i < bench->n_params; i++) {
		const struct bench_param *p = &bench->params[i];

		if (!str_equal(case_param(c, p->name), "auto"))
			continue;
		if (p->counting <= 0) {
			err_add(e, -EINVAL,
				"%s: %s: auto is found with a clock, which counts instructions here",
				bench->name, p->name);
			err_hint(e, "write a number, or auto: {counting: N} into %s", bench->file);
			return -EINVAL;
		}
		text = p->constant_with ? case_param(c, p->constant_with) : NULL;
		if (!text || !num_parse(span_of(text), &share) || share < 1)
			share = 1;
		work = fmax(1, round(p->counting / share));
		case_set_param(a, c, p->name, arena_printf(a, "%.0f", work));
	}
	return 0;
}

int campaign_take_suite(struct arena *a, struct campaign_config *c, const struct catalog *cat,
			struct err *e)
{
	struct campaign_config *suite;
	int r = campaign_read(a, path_share(a, SUITE), cat, &suite, e);

	if (!r) {
		c->cases = suite->cases;
		c->n_cases = suite->n_cases;
	}
	return r;
}

int campaign_count(struct arena *a, struct campaign_config *c, const struct catalog *cat,
		   void (*note)(const char *text), struct err *e)
{
	size_t i, n = 0;
	int r = refuse(c, e);

	if (r)
		return r;
	c->counting = true;
	c->runs = 1;
	c->auto_runs = false;
	for (i = 0; i < c->n_cases; i++) {
		const char *why = campaign_uncounted(c->cases[i].bench);

		if (!why)
			c->cases[n++] = c->cases[i];
		else if (note)
			note(arena_printf(a, "%s is left out: it %s", c->cases[i].name, why));
	}
	c->n_cases = n;
	if (!n)
		r = campaign_take_suite(a, c, cat, e);
	for (i = 0; !r && i < c->n_cases; i++)
		r = settle_auto(a, &c->cases[i], e);
	return r;
}
