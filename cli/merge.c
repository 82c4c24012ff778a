// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta merge: campaigns of other machines into this database. */
#include "cli/page.h"
#include "core/file.h"
#include "exchange/bundle.h"
#include "net/net.h"

#define MERGE_SIZE ((size_t)1 << 30) /* bytes of a bundle that is fetched */

static const char *const words[] = {
	[DB_MERGED_NEW] = "new",	   [DB_MERGED_SAME] = "there already",
	[DB_MERGED_GROWN] = "more of it",  [DB_MERGED_OLDER] = "less than there is",
	[DB_MERGED_CONFLICT] = "CONFLICT",
};

/* Returns whether two sides disagree on a campaign. */
static bool print_results(struct cli *c, const bundle_results *results)
{
	static const char *const columns[] = {"campaign", "merged", "from", NULL};
	struct page *p = page_new(c->a, "kdelta.merge/1");
	struct page_table *t = page_table(p, "campaigns", columns);
	const struct bundle_result *result;
	bool conflict = false;

	array_for_each(result, results) {
		page_cell(t, result->campaign);
		page_cell(t, words[result->merged]);
		page_cell(t, result->from);
		if (result->merged != DB_MERGED_CONFLICT)
			continue;
		conflict = true;
		cli_warn(c, "%s: its runs are not those of %s: it was left as it is (read anew on one "
			    "side? merge into a database of its own with --db)",
			 result->campaign, result->from);
	}
	if (results->n)
		page_print(c, p);
	return conflict;
}

static int merge_url(struct cli *c, struct db *db, const char *url, bundle_results *results)
{
	struct net_options net = {.limit = MERGE_SIZE};
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	int r = cli_http_options(c, &net);

	if (r)
		return r;
	r = net_get(url, &net, &file, NULL, c->e);
	return r ? cli_failure(r)
		 : bundle_merge_text(db, c->a, url, (struct span){strbuf_str(&file), file.len},
				     results, c->e);
}

static int merge_one(struct cli *c, struct db *db, const char *what, bundle_results *results)
{
	bool url = str_starts(what, "https://") || str_starts(what, "http://");

	return url && !file_exists(what) ? merge_url(c, db, what, results)
					 : bundle_merge(db, c->a, what, results, c->e);
}

static int merge_run(struct cli *c)
{
	bundle_results results = {NULL, 0, 0};
	_cleanup_db_ struct db *db = NULL;
	bool conflict;
	int r;

	if (!c->n_operands)
		return cli_usage(c, "merge takes bundles of `kdelta export`, or databases");
	r = cli_open_db(c, DB_WRITE, &db);
	for (size_t i = 0; !r && i < c->n_operands; i++)
		r = merge_one(c, db, c->operands[i], &results);
	conflict = print_results(c, &results);
	ARRAY_FREE(&results);
	return r ? cli_failure(r) : conflict ? EXIT_FAILED : EXIT_DONE;
}

static const struct cli_option options[] = {
	{"netrc", 0, "FILE", "user and password of servers (default ~/.netrc)"},
	{"cacert", 0, "FILE", "trust these authorities only (PEM)"},
	{"timeout", 0, "TIME", "of a whole transfer (300s)"},
	CLI_OPTIONS_END,
};

static const struct command merge = {
	.name = "merge",
	.usage = "FILE|URL...",
	.group = "keep",
	.summary = "campaigns of other machines, from bundles or databases",
	.help = "In whatever order and however often: a campaign that is there is left, one that "
		"has\n"
		"grown takes the place of its older self, and one whose runs differ is named and "
		"left\n"
		"(exit 1). Machines stay apart in every comparison. A campaign whose name another\n"
		"machine has used is called NAME@MACHINE here. A bundle may lie on a web server;\n"
		"it is fetched whole before anything is merged.",
	.options = options,
	.examples = "kdelta merge n1.tar.zst n2.tar.zst\n"
		    "kdelta merge https://lab.example.org/bundles/n1.tar.zst\n"
		    "kdelta merge --db all.db /mnt/*/kdelta.db",
	.run = merge_run,
};
REGISTER(command, merge);
