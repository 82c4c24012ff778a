// SPDX-License-Identifier: GPL-2.0-or-later
/* The commit behind a change for the worse that came with several. */
#include <errno.h>
#include <string.h>

#include "hunt/nightly_news.h"
#include "hunt/search.h"
#include "hunt/text.h"

/* The worst of a night speaks for what changed with it. */
static const struct nightly_row *find_worst(const struct nightly *n, size_t night)
{
	const struct nightly_row *row, *worst = NULL;

	for (row = n->rows; row < n->rows + n->n_rows; row++)
		if (nightly_is_news(row, night) && row->states[night].worse &&
		    row->states[night].event == NIGHT_CHANGED &&
		    (!worst || row->states[night].p < worst->states[night].p))
			worst = row;
	return worst;
}

static bool is_range(struct nightly *n, const char *good, const char *bad)
{
	const char *const argv[] = {"rev-list", "--count", bad, arena_printf(n->a, "^%s", good),
				    NULL};
	const char *count = "";

	return *good && *bad && strcmp(good, bad) && !git_run(&n->git, argv, true, &count) &&
	       strcmp(count, "1") && strcmp(count, "0");
}

/* The bisection of a night, begun or gone on with. */
static int open_bisection(struct nightly *n, const struct nightly_row *row, size_t night,
			  struct bisect *b)
{
	const char *name = arena_printf(n->a, "%s-%.12s", n->config->name,
					n->nights[night].commit);
	_cleanup_err_ struct err none = ERR_INIT;
	size_t since = row->states[night].since;
	struct bisect_options opt = {.repo = n->opt.repo,
				     .good = n->nights[nightly_before(row, since)].commit,
				     .bad = n->nights[since].commit,
				     .config = n->config->file,
				     .metric = row->metric.name,
				     .test_case = row->test_case,
				     .threshold = n->opt.threshold,
				     .end_runs = BISECT_END_RUNS,
				     .confidence = 0.95};
	int r;

	*b = (struct bisect){.db = n->db, .a = n->a, .e = &none, .note = n->note};
	r = bisect_open(b, name);
	b->e = n->e;
	if (r == -ENOENT)
		r = bisect_start(b, name, &opt);
	return r ? r : bisect_open(b, name);
}

static int tell(struct nightly *n, struct bisect *b, const struct answer *ans, size_t night)
{
	_cleanup_strbuf_ struct strbuf body = STRBUF_INIT;
	struct nightly_mail mail = {.subject = bisect_subject(b, ans),
				    .what = "bisected",
				    .night = night,
				    .answers = "changed",
				    .answers_night = night};
	int r = bisect_mail(b, ans, &body);

	mail.body = (struct span){strbuf_str(&body), body.len};
	return r ? r : nightly_send(n, &mail);
}

static int bisect_night(struct nightly *n, const struct nightly_row *row, size_t night,
			bool *interrupted)
{
	const struct search_options opt = {.seconds = n->opt.budget};
	struct search_report report = {0};
	struct answer ans = {0};
	struct bisect b;
	int r = open_bisection(n, row, night, &b);

	if (!r)
		r = search_run(&b, &opt, &report, &ans);
	*interrupted = report.interrupted;
	/* what the budget cut goes on with the next call */
	if (!r && !report.interrupted && !report.spent) {
		r = tell(n, &b, &ans, night);
		if (!r)
			r = db_set_fact(n->db, "campaign", n->nights[night].campaign->id,
					"nightly.bisected", "1", n->e);
		if (!r)
			r = bisect_reset(&b);
	}
	answer_release(&ans);
	return r;
}

int nightly_bisect(struct nightly *n, bool *interrupted)
{
	int r = 0;

	for (size_t i = 0; !r && !*interrupted && i < n->n_nights; i++) {
		const struct nightly_row *row = find_worst(n, i);
		size_t since = row ? row->states[i].since : 0;

		if (row && n->nights[i].told && !n->nights[i].bisected &&
		    is_range(n, n->nights[nightly_before(row, since)].commit,
			     n->nights[since].commit))
			r = bisect_night(n, row, i, interrupted);
	}
	return r;
}
