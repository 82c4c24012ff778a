// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta ignore: what nightlies keep quiet about. */
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "core/num.h"

static int list(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	struct db_ignore *items;
	size_t n, i;
	int r = cli_open_db(c, DB_READ, &db);

	if (!r)
		r = db_get_ignores(db, c->a, &items, &n, c->e);
	for (i = 0; !r && i < n; i++)
		strbuf_addf(&out, "%s%s%s until %.10s%s: %s\n", items[i].metric,
			    *items[i].test_case ? " in " : "", items[i].test_case,
			    num_iso_time(c->a, items[i].until),
			    items[i].until < time(NULL) ? " (over)" : "", items[i].reason);
	if (!r)
		cli_print(&out);
	return r;
}

/* "2027-01-31": that day is the last one, in UTC. */
static int read_until(struct cli *c, int64_t *until)
{
	const char *text = cli_value(c, "until");
	struct tm tm = {.tm_hour = 23, .tm_min = 59, .tm_sec = 59};
	const char *end = text ? strptime(text, "%Y-%m-%d", &tm) : NULL;

	if (!end || *end)
		return cli_usage(c, "--until takes a day such as 2027-01-31%s%s",
				 text ? ", not " : "", text ? text : "");
	*until = timegm(&tm);
	return *until >= time(NULL) ? 0 : cli_usage(c, "--until %s is over", text);
}

static int put(struct cli *c)
{
	struct db_ignore i = {.metric = c->operands[0],
			      .test_case = cli_value(c, "case"),
			      .reason = cli_value(c, "reason")};
	_cleanup_db_ struct db *db = NULL;
	int r = read_until(c, &i.until);

	if (!r && (!i.reason || !*i.reason))
		r = cli_usage(c, "--reason says why, to those who wonder later");
	if (!r)
		r = cli_open_db(c, DB_WRITE, &db);
	return r ? r : db_put_ignore(db, &i, c->e);
}

static int ignore_run(struct cli *c)
{
	_cleanup_db_ struct db *db = NULL;
	int r;

	if (cli_has(c, "list"))
		return c->n_operands ? cli_usage(c, "--list takes no operand") : list(c);
	if (c->n_operands != 1)
		return cli_usage(c, "ignore takes one metric, such as tbench.throughput");
	if (!cli_has(c, "remove"))
		return put(c);
	r = cli_open_db(c, DB_WRITE, &db);
	return r ? r : db_remove_ignore(db, c->operands[0], cli_value(c, "case"), c->e);
}

static const struct cli_option options[] = {
	{"case", 0, "CASE", "in this test case only"},
	{"until", 0, "DATE", "the last day, such as 2027-01-31 (UTC)"},
	{"reason", 0, "TEXT", "why; kept, and shown by --list"},
	{"list", 0, NULL, "what is ignored"},
	{"remove", 0, NULL, "tell of it again"},
	CLI_OPTIONS_END,
};

static const struct command command_ignore = {
	.name = "ignore",
	.usage = "METRIC | --list",
	.group = "hunt",
	.summary = "keep nightlies quiet about a metric until a day",
	.help = "The metric is measured and judged as before; it is not told, and trips no exit code.\n",
	.examples = "kdelta ignore hackbench.time --until 2027-01-31 --reason 'known, patch queued'\n"
		    "kdelta ignore --list",
	.options = options,
	.run = ignore_run,
};
REGISTER(command, command_ignore);
