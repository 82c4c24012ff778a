// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta compare: which variants, from where, in which formats. */
#include <errno.h>

#include "cli/output.h"

static const struct cli_option compare_options[] = {
	{"output", 'o', "FORMAT[=FILE]",
	 "mail, term, lkp, html, mmtests, csv or json; repeatable (default: term, on a pipe mail)"},
	SELECT_OPTIONS,
	{"check", 0, NULL, "exit 3 on a regression, 4 where it cannot be told"},
	{"strict", 0, NULL, "refuse where more than kernel and settings differs"},
	CLI_OPTIONS_END,
};

struct compare {
	struct cli *c;
	struct outputs outputs;
	struct selection what;
};

static int check_code(const struct comparison *cmp)
{
	switch (comparison_check(cmp)) {
	case VERDICT_WORSE:
		return EXIT_REGRESSION;
	case VERDICT_UNSURE:
		return EXIT_CANNOT_TELL;
	default:
		return EXIT_DONE;
	}
}

/* Refuses where an effect could be of something else than the kernel. */
static int refuse_differences(struct cli *c, const struct comparison *cmp)
{
	for (; cmp; cmp = cmp->next) {
		if (!cmp->n_differences)
			continue;
		err_add(c->e, -EINVAL, "more than the kernel differs: %s (%s %s, %s %s)%s",
			cmp->differences[0].title, cmp->variants[0].name,
			cmp->differences[0].values[0], cmp->variants[1].name,
			cmp->differences[0].values[1],
			cmp->n_differences > 1 ? arena_printf(cmp->arena, " and %zu more",
							      cmp->n_differences - 1)
					       : "");
		err_hint(c->e, "without --strict the report lists them");
		return -EINVAL;
	}
	return 0;
}

static int compare(struct compare *k)
{
	struct comparison *cmp;
	int r = outputs_read(k->c, &k->outputs, cli_columns() ? "term" : "mail");

	if (!r)
		r = selection_compare(&k->what, &cmp);
	if (!r && cli_has(k->c, "strict"))
		r = refuse_differences(k->c, cmp);
	if (!r)
		r = outputs_write(&k->outputs, &k->what, cmp);
	if (r)
		return r;
	return cli_has(k->c, "check") ? check_code(cmp) : EXIT_DONE;
}

static int compare_run(struct cli *c)
{
	struct compare k = {.c = c, .what = {.c = c, .machines = true}};
	int r = compare(&k);

	selection_release(&k.what);
	outputs_release(&k.outputs);
	return r;
}

static const struct command command_compare = {
	.name = "compare",
	.usage = "[BASE] [OTHER...] | FILES... -- FILES...",
	.group = "compare",
	.summary = "headline metrics of two or more variants, with verdicts",
	.help = "Operands are variants of the newest campaign (or of --campaign), "
		"campaign/variant, or\n"
		"campaigns of one machine. Without any: the newest campaign, its first variant as "
		"the\n"
		"baseline. Files and folders of raw output need no database: those before -- are "
		"the\n"
		"baseline; options stand before them. Works half-way through a campaign.",
	.examples = "kdelta compare\n"
		    "kdelta compare 6.1 6.12 -o mail\n"
		    "kdelta compare old/*.log -- new/*.log\n"
		    "kdelta compare --contrast D/E --values -o json=result.json -o mail\n",
	.first_page = true,
	.options = compare_options,
	.run = compare_run,
};
REGISTER(command, command_compare);
