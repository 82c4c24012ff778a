// SPDX-License-Identifier: GPL-2.0-or-later
/* The last night for machines: JUnit, OpenMetrics, KCIDB, a webhook. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "core/num.h"
#include "hunt/nightly_news.h"
#include "net/net.h"

/* A hook that does not answer costs a minute at most, and no more than a note. */
enum { WEBHOOK_TRIES = 3, WEBHOOK_SECONDS = 15 };

/* XML attributes and OpenMetrics labels alike: names of cases and metrics, nothing to execute. */
static const char *plain(struct nightly *n, const char *s)
{
	char *copy = arena_strdup(n->a, s);

	for (char *p = copy; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '<' || *p == '&' || *p == '\\')
			*p = '?';
	return copy;
}

static void add_junit(struct nightly *n, size_t last, struct strbuf *out)
{
	int failures = 0;
	size_t k;

	for (k = 0; k < n->n_rows; k++)
		failures += n->rows[k].states[last].open && !n->rows[k].ignored;
	strbuf_addf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		    "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%d\">\n",
		    plain(n, n->config->name), n->n_rows, failures);
	for (k = 0; k < n->n_rows; k++) {
		const struct nightly_row *row = &n->rows[k];

		strbuf_addf(out, "    <testcase classname=\"%s\" name=\"%s\"",
			    plain(n, row->test_case), plain(n, row->metric.name));
		if (row->ignored)
			strbuf_adds(out, "><skipped message=\"ignored\"/></testcase>\n");
		else if (row->states[last].open)
			strbuf_addf(out, "><failure message=\"worse since %.12s\"/></testcase>\n",
				    n->nights[row->states[last].open_since].commit);
		else
			strbuf_adds(out, "/>\n");
	}
	strbuf_adds(out, "  </testsuite>\n</testsuites>\n");
}

static void add_openmetrics(struct nightly *n, size_t last, struct strbuf *out)
{
	static const char *const families[] = {"kdelta_value", "kdelta_regression_open"};

	for (int f = 0; f < 2; f++) {
		strbuf_addf(out, "# TYPE %s gauge\n", families[f]);
		for (size_t k = 0; k < n->n_rows; k++) {
			const struct nightly_row *row = &n->rows[k];
			const struct night_arm *arm = &row->nights[last].kernel;

			if (!arm->n)
				continue;
			strbuf_addf(out, "%s{nightly=\"%s\",case=\"%s\",metric=\"%s\"} ",
				    families[f], plain(n, n->config->name),
				    plain(n, row->test_case), plain(n, row->metric.name));
			num_add_exact(out, f ? row->states[last].open
					     : nightly_value(row, arm->middle));
			strbuf_addc(out, '\n');
		}
	}
	strbuf_adds(out, "# EOF\n");
}

/* Why the commit of a night could not be built; NULL: it was. */
static const char *build_failure(struct nightly *n, const struct nightly_night *night)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct db_cell *cells;
	size_t count;

	if (db_get_cells(n->db, n->a, night->campaign->id, &cells, &count, &ignored))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (cells[i].variant_id == night->variant && !strcmp(cells[i].state, "failed") &&
		    (str_starts(cells[i].reason, "no_kernel") ||
		     str_starts(cells[i].reason, "no_source")))
			return plain(n, cells[i].reason);
	return NULL;
}

static json_t *kcidb_build(const char *id, const char *checkout, const char *failure)
{
	json_t *build = json_pack("{s:s,s:s,s:s,s:s}", "id", id, "checkout_id", checkout, "origin",
				  "kdelta", "status", failure ? "FAIL" : "PASS");

	if (failure)
		json_object_set_new(build, "comment", json_string(failure));
	return build;
}

/*
 * KCIDB I/O schema 5.3: "origin:id", statuses PASS, FAIL and ERROR. Of a commit that could not be
 * built there is the build, and no test.
 */
static void add_kcidb(struct nightly *n, size_t last, struct strbuf *out)
{
	const struct nightly_night *night = &n->nights[last];
	const char *checkout = arena_printf(n->a, "kdelta:%s", night->commit);
	const char *build = arena_printf(n->a, "kdelta:%s", night->campaign->id);
	const char *when = num_iso_time(n->a, night->campaign->created);
	const char *failure = build_failure(n, night);
	json_t *tests = json_array();

	for (size_t k = 0; k < n->n_rows && !failure; k++) {
		const struct nightly_row *row = &n->rows[k];
		const struct night_arm *arm = &row->nights[last].kernel;
		json_t *test = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "id",
					 arena_printf(n->a, "%s-%zu", build, k), "origin", "kdelta",
					 "build_id", build, "path",
					 arena_printf(n->a, "kdelta.%s", row->metric.name),
					 "start_time", when, "status",
					 !arm->n		? "ERROR"
					 : row->states[last].open ? "FAIL"
								: "PASS");

		if (arm->n)
			json_object_set_new(test, "number",
					    json_pack("{s:f}", "value",
						      nightly_value(row, arm->middle)));
		json_object_set_new(test, "misc",
				    json_pack("{s:s,s:b}", "case", row->test_case, "ignored",
					      row->ignored != NULL));
		json_array_append_new(tests, test);
	}
	json_add_lines(out,
		       json_pack("{s:{s:i,s:i},s:[{s:s,s:s,s:s,s:s,s:s}],s:[o],s:o}",
				 "version", "major", 5, "minor", 3, "checkouts", "id", checkout,
				 "origin", "kdelta", "git_commit_hash", night->commit,
				 "git_repository_branch", n->opt.branch, "start_time", when,
				 "builds", kcidb_build(build, checkout, failure), "tests", tests),
		       12);
}

/* "kdelta.nightly/1": what changed in a night; NULL: nothing. */
static json_t *list_news(struct nightly *n, size_t night)
{
	json_t *news = json_array();

	for (size_t k = 0; k < n->n_rows; k++) {
		const struct nightly_row *row = &n->rows[k];
		const struct night_state *s = &row->states[night];

		if (!nightly_is_news(row, night))
			continue;
		json_array_append_new(
			news, json_pack("{s:s,s:s,s:s,s:f,s:f,s:s,s:s}", "case", row->test_case,
					"metric", row->metric.name, "event",
					nightly_word(row, night), "before",
					nightly_value(row, s->before), "after",
					nightly_value(row, s->after), "unit", row->metric.unit,
					"since", n->nights[s->since].commit));
	}
	if (json_array_size(news))
		return json_pack("{s:s,s:s,s:s,s:s,s:o}", "schema", "kdelta.nightly/1", "nightly",
				 n->config->name, "commit", n->nights[night].commit, "campaign",
				 n->nights[night].campaign->id, "news", news);
	json_decref(news);
	return NULL;
}

void nightly_post(struct nightly *n, size_t night)
{
	const struct net_options net = {.timeout = WEBHOOK_SECONDS};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	json_t *root = n->opt.webhook ? list_news(n, night) : NULL;

	if (!root)
		return;
	json_add_lines(&text, root, 12);
	for (unsigned int i = 0; i < WEBHOOK_TRIES; i++) {
		_cleanup_err_ struct err why = ERR_INIT;

		if (!net_post(n->opt.webhook, (struct span){strbuf_str(&text), text.len}, &net,
			      &why))
			return;
		if (n->note)
			n->note(arena_printf(n->a, "webhook: %s", err_text(&why)));
		if (i + 1 < WEBHOOK_TRIES)
			sleep(1U << i);
	}
}

int nightly_write_files(struct nightly *n)
{
	const struct {
		const char *file;
		void (*add)(struct nightly *n, size_t last, struct strbuf *out);
	} files[] = {{n->opt.junit, add_junit},
		     {n->opt.openmetrics, add_openmetrics},
		     {n->opt.kcidb, add_kcidb}};
	int r = 0;

	for (size_t i = 0; !r && n->n_nights && i < ARRAY_SIZE(files); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		if (!files[i].file)
			continue;
		files[i].add(n, n->n_nights - 1, &out);
		r = file_write_atomic(files[i].file, strbuf_str(&out), out.len, n->e);
	}
	return r;
}
