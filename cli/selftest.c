// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta selftest: false alarms measured on the user's own database. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#include "reports/selftest.h"

#define WIDTH 72

/* What was too little, and how much is enough. */
static int too_little(struct cli *c, const struct selftest *s)
{
	if (!s->most_units)
		err_add(c->e, -ENOENT, "too little data: no campaign holds single runs");
	else
		err_add(c->e, -ENOENT,
			"too little data: at most %d %s of one kernel and test case",
			s->most_units, s->most_units == 1 ? "run" : "runs");
	err_hint(c->e,
		 "halves are tested from %d a side (%d runs or boots of one kernel), from 2 (4 "
		 "runs) where older campaigns of the machine have %d runs beyond their means, or "
		 "the table has %d rows",
		 STATS_TEST_MIN, 2 * STATS_TEST_MIN, STATS_PRIOR_MIN, STATS_PRIOR_MIN);
	return -ENOENT;
}

static bool is_sound(const struct selftest *s)
{
	return s->all.random.verdict != SELFTEST_MORE && s->all.arms.verdict != SELFTEST_MORE;
}

static int selftest_stats(struct cli *c, const struct selftest_options *opt)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int columns = cli_columns();
	struct text t = {c->a, &out, columns && columns < WIDTH ? columns : WIDTH, cli_colors(c)};
	_cleanup_db_ struct db *db = NULL;
	struct selftest *s;
	int r = cli_open_db(c, DB_READ, &db);

	if (!r)
		r = selftest_measure(db, c->a, opt, &s, c->e);
	if (r)
		return r;
	if (c->json)
		selftest_add_json(s, &out);
	else if (selftest_has_rate(s))
		selftest_print(s, &t);
	cli_print(&out);
	if (!selftest_has_rate(s))
		return too_little(c, s);
	return is_sound(s) ? EXIT_DONE : EXIT_FAILED;
}

static int run_selftest(struct cli *c)
{
	struct selftest_options opt = {.counters = cli_has(c, "counters")};
	long splits = 200, seed = 1;

	if (c->n_operands != 1 || strcmp(c->operands[0], "stats"))
		return cli_usage(c, "selftest takes what to test: stats");
	if (cli_int(c, "splits", 1, 100000, &splits) || cli_int(c, "seed", 0, INT32_MAX, &seed))
		return -EINVAL;
	opt.splits = (int)splits;
	opt.seed = (uint64_t)seed;
	return selftest_stats(c, &opt);
}

static const struct cli_option options[] = {
	{"splits", 0, "N", "random splits of each variant of each campaign (default 200)"},
	{"seed", 0, "N", "of the splits (default 1)"},
	{"counters", 0, NULL, "all metrics, not the headlines alone"},
	CLI_OPTIONS_END,
};

static const struct command selftest = {
	.name = "selftest",
	.usage = "stats",
	.group = "keep",
	.summary = "how often the statistics give a false alarm on your own runs",
	.help = "Splits the runs of every kernel in the database into two halves, many times, and\n"
		"compares the halves as two kernels would be: every mark is a false alarm. Beside "
		"it\n"
		"the halves in order, which show a drift, and the second arms of campaigns "
		"(same_as).\n"
		"Exit status 1: more false alarms than promised, or too little data.",
	.examples = "  kdelta selftest stats\n"
		    "  kdelta selftest stats --counters --splits 1000 --json",
	.options = options,
	.run = run_selftest,
};
REGISTER(command, selftest);
