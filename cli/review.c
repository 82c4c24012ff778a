// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta review: a posted table read as a maintainer would, in sentences to quote. */
#include "cli/cli.h"

#include <errno.h>

#include "exchange/import.h"
#include "reports/review.h"
#include "runner/input.h"

#define WIDTH 72

/* Tables of different columns are campaigns of their own; the first is the oldest. */
static int review_campaigns(struct cli *c, struct db *db, struct review *rv)
{
	const struct comparison_options opt = {.threshold = 0.01, .counters = true, .alone = true};
	struct db_campaign *list;
	struct comparison *cmp;
	size_t n, i;
	int r = db_get_campaigns(db, c->a, &list, &n, c->e);

	for (i = n; !r && i > 0; i--) {
		const char *id = list[i - 1].id;

		r = comparison_build(db, c->a, &id, 1, &opt, &cmp, c->e);
		if (!r)
			review_add(rv, cmp);
	}
	return r;
}

static int review_text(struct cli *c, const struct catalog *cat, const char *file,
		       struct span text, struct review *rv)
{
	_cleanup_db_ struct db *db = NULL;
	struct import_options opt = {.tables.baseline = cli_value(c, "base")};
	struct import_report report = {0};
	int r = cli_list(c, "names", &opt.tables.names);

	if (r) /* of usage, all others are failures of the text */
		return r;
	r = db_open(NULL, DB_MEMORY, &db, c->e);
	if (!r)
		r = import_text(db, c->a, cat, file, text, &opt, &report, c->e);
	if (r)
		return cli_failure(r);
	if (!report.set) {
		err_add(c->e, -ENOENT, "%s: no table to review: %s", file,
			report.exported ? "it is a report of kdelta" : "it is raw output");
		err_hint(c->e, "`kdelta compare FILE` reads it");
		return -ENOENT;
	}
	review_init(rv, c->a, file, report.set);
	return review_campaigns(c, db, rv);
}

static int run_review(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
	_cleanup_review_ struct review rv = {0};
	struct text t = {c->a, &out, WIDTH, false};
	struct catalog *cat;
	int r;

	if (c->n_operands != 1)
		return cli_usage(c, "review takes one file, or - for standard input");
	r = catalog_load(c->a, cli_config_dir(c), &cat, c->e);
	if (!r)
		r = cli_failure(input_read(c->operands[0], &text, c->e));
	if (!r)
		r = review_text(c, cat, c->operands[0], (struct span){strbuf_str(&text), text.len},
				&rv);
	if (r)
		return r;
	if (c->json)
		review_add_json(&rv, &out);
	else
		review_print(&rv, &t);
	cli_print(&out);
	return EXIT_DONE;
}

static const struct cli_option options[] = {
	{"base", 'b', "NAME", "the baseline (else 0.00 %, then a name such as w/o or vanilla)"},
	{"names", 0, "A,B,...", "names of the columns, where the text has none"},
	CLI_OPTIONS_END,
};

static const struct command review = {
	.name = "review",
	.usage = "FILE|-",
	.group = "keep",
	.summary = "reads a posted table as a maintainer would: sentences for a reply",
	.help = "Which of six facts are missing (direction, runs, deviation, base, machine, command),\n"
		"whether the printed changes follow from the printed values, which cells stand apart,\n"
		"what spread the claims need, what the marks are worth, what single runs show. Takes\n"
		"what import takes: a paste, a mail, an mbox. No database is read or written.\n"
		"Exit status 1: no table was found, or none that can be understood.",
	.examples = "  kdelta review mail.txt\n"
		    "  kdelta review --json - < mail.eml",
	.options = options,
	.run = run_review,
};
REGISTER(command, review);
