// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta bisect: the commit that changed a metric. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "core/file.h"
#include "hunt/search.h"
#include "hunt/text.h"

enum { STEP_FAILED = 128 }; /* git bisect run stops */

static const struct cli_option bisect_options_table[] = {
	{"repo", 0, "DIR", "start: git repository of the commits"},
	{"good", 0, "REV", "start: the older end, without the change (of --variants a name)"},
	{"bad", 0, "REV", "start: the newer end, with it"},
	{"metric", 0, "NAME", "start: what changed, e.g. tbench.throughput (default: the headline)"},
	{"case", 0, "NAME", "start: test case of the campaign file (default: its only one)"},
	{"threshold", 0, "SHARE", "start: least change of the ends worth a search (default 3%)"},
	{"confidence", 0, "SHARE", "start: probability at which a commit is named (default 95%)"},
	{"end-runs", 0, "N", "start: runs of each end, to see whether they differ (default 20)"},
	{"path", 0, "PATH", "start: only commits that touch it"},
	{"first-parent", 0, NULL, "start: follow the first parent of merges only"},
	{"fixup", 0, "FILE", "start: patch for commits that cannot be built without"},
	{"variants", 0, NULL, "start: candidates are the variants of the file, in their order"},
	{"name", 0, "NAME", "of this bisection, where several go on (default bisect)"},
	{"max-runs", 0, "N", "run: stop after N runs"},
	{"max-time", 0, "TIME", "run: stop after 90m or 2h"},
	{"alignment", 0, NULL, "run: measure the culprit with 64-byte aligned functions too"},
	{"output", 'o', "FORMAT[=FILE]", "report: mail (default) or html"},
	CLI_OPTIONS_END,
};

struct call {
	struct cli *c;
	struct bisect b;
	const char *name; /* of the bisection */
};

static int print_text(struct call *k, const struct answer *ans,
		      void (*add)(const struct bisect *b, const struct answer *ans, struct text *t))
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int width = cli_columns();
	struct text t = {k->c->a, &out, width > 40 ? MIN(width - 1, 100) : 79, false};

	add(&k->b, ans, &t);
	cli_print(&out);
	return 0;
}

/* ---- start ---- */

static int read_options(struct cli *c, struct bisect_options *opt)
{
	long end_runs = BISECT_END_RUNS;
	int r;

	*opt = (struct bisect_options){
		.repo = cli_value(c, "repo"),
		.good = cli_value(c, "good"),
		.bad = cli_value(c, "bad"),
		.config = c->config ? c->config : "kdelta.yaml",
		.metric = cli_value(c, "metric"),
		.test_case = cli_value(c, "case"),
		.path = cli_value(c, "path"),
		.fixup = cli_value(c, "fixup"),
		.first_parent = cli_has(c, "first-parent"),
		.threshold = 0.03,
		.confidence = 0.95,
	};
	r = cli_int(c, "end-runs", BISECT_END_RUNS, 1000, &end_runs);
	opt->end_runs = (int)end_runs;
	if (!r)
		r = cli_fraction(c, "threshold", &opt->threshold);
	if (!r)
		r = cli_fraction(c, "confidence", &opt->confidence);
	if (r)
		return r;
	if (opt->threshold <= 0 || opt->confidence <= 0.5 || opt->confidence >= 1)
		return cli_usage(c, "--threshold is above 0%%, --confidence between 50%% and 100%%");
	if (!opt->repo == !cli_has(c, "variants"))
		return cli_usage(c, "bisect start takes either --repo or --variants");
	return 0;
}

static int start(struct call *k)
{
	struct bisect_options opt;
	int r = read_options(k->c, &opt);

	if (!r)
		r = bisect_start(&k->b, k->name, &opt);
	if (r)
		return r;
	cli_note(k->c, "%zu candidates between %s and %s; now: kdelta bisect run",
		 k->b.range.n - 1, k->b.range.items->name,
		 k->b.range.items[k->b.range.n - 1].name);
	return EXIT_DONE;
}

/* ---- what goes on ---- */

static int run(struct call *k)
{
	struct search_options opt = {.alignment = cli_has(k->c, "alignment")};
	struct search_report report;
	struct answer ans = {0};
	long runs = 0;
	int r = cli_int(k->c, "max-runs", 1, 1000000, &runs);

	opt.runs = (int)runs;
	if (!r)
		r = cli_seconds(k->c, "max-time", &opt.seconds);
	if (!r)
		r = search_run(&k->b, &opt, &report, &ans);
	if (r) {
		if (ans.a)
			answer_release(&ans);
		return r == -EINVAL ? cli_failure(r) : r;
	}
	if (report.interrupted) {
		cli_note(k->c, "interrupted; kdelta bisect run goes on");
		r = EXIT_INTERRUPTED;
	} else {
		print_text(k, &ans, bisect_status);
		if (report.spent)
			cli_note(k->c, "the budget is used up (%d runs); kdelta bisect run goes on",
				 report.runs);
		r = ans.state == ANSWER_FOUND ? EXIT_DONE
		    : report.spent	      ? EXIT_CANNOT_TELL
					      : EXIT_FAILED;
	}
	answer_release(&ans);
	return r;
}

static int step(struct call *k)
{
	enum step_answer answer;
	int r = search_step(&k->b, &answer);

	if (!r)
		return (int)answer;
	cli_print_errors(k->c->e);
	return r == -EINTR ? EXIT_INTERRUPTED : STEP_FAILED;
}

static int status(struct call *k)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct answer ans;
	int r = answer_read(&k->b, &ans);

	if (!r && k->c->json) {
		bisect_json(&k->b, &ans, &out);
		cli_print(&out);
	} else if (!r) {
		print_text(k, &ans, bisect_status);
	}
	answer_release(&ans);
	return r;
}

static int print_log(struct call *k)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct answer ans;
	int r = answer_read(&k->b, &ans);

	if (!r)
		r = bisect_log(&k->b, &ans, &out);
	if (!r)
		cli_print(&out);
	answer_release(&ans);
	return r;
}

static int write_report(struct call *k, const char *format, const char *file)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct answer ans;
	int r = answer_read(&k->b, &ans);

	if (!r)
		r = !strcmp(format, "html") ? bisect_html(&k->b, &ans, &out)
					    : bisect_mail(&k->b, &ans, &out);
	if (!r && file)
		r = file_write_atomic(file, strbuf_str(&out), out.len, k->c->e);
	else if (!r)
		cli_print(&out);
	answer_release(&ans);
	return r;
}

static int report(struct call *k)
{
	static const char *const formats[] = {"mail", "html", NULL};
	const char *given = cli_value(k->c, "output"), *file;
	char *format = arena_strdup(k->c->a, given ? given : "mail");
	char *equals = strchr(format, '=');

	file = equals ? equals + 1 : NULL;
	if (equals)
		*equals = '\0';
	if (strcmp(format, "mail") && strcmp(format, "html")) {
		cli_usage(k->c, "bisect report writes mail or html, not '%s'", format);
		cli_suggest(k->c, format, formats);
		return -EINVAL;
	}
	return write_report(k, format, file);
}

static int skip(struct call *k)
{
	size_t i;
	int r = k->c->n_operands < 2 ? cli_usage(k->c, "bisect skip takes commits") : 0;

	for (i = 1; !r && i < k->c->n_operands; i++)
		r = bisect_skip(&k->b, k->c->operands[i]);
	return r;
}

static int reset(struct call *k)
{
	int r = bisect_reset(&k->b);

	if (!r && k->b.row.campaign)
		cli_note(k->c, "ended; what was measured stays: kdelta show %s",
			 k->b.row.campaign);
	return r;
}

/* ---- replay ---- */

/* "start NAME {...}", "skip HASH", comments. */
static int replay_line(struct call *k, struct span line, bool *started)
{
	struct bisect_options opt;
	struct span word;
	int r;

	if (!span_next_word(&line, &word) || *word.s == '#')
		return 0;
	if (span_is(word, "skip") && *started)
		return span_next_word(&line, &word)
			       ? bisect_skip(&k->b, arena_strndup(k->c->a, word.s, word.len))
			       : -EINVAL;
	if (!span_is(word, "start") || *started || !span_next_word(&line, &word))
		return -EINVAL;
	if (!cli_has(k->c, "name"))
		k->name = arena_strndup(k->c->a, word.s, word.len);
	line = span_trim(line);
	r = bisect_options_read(k->c->a, arena_strndup(k->c->a, line.s, line.len), &opt, k->c->e);
	if (!r)
		r = bisect_start(&k->b, k->name, &opt);
	*started = !r;
	return r;
}

static int replay(struct call *k)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span rest, line;
	bool started = false;
	int number = 0, r;

	if (k->c->n_operands != 2)
		return cli_usage(k->c, "bisect replay takes the file of a log");
	r = file_read(k->c->operands[1], 0, &text, k->c->e);
	rest = (struct span){strbuf_str(&text), text.len};
	while (!r && span_next_line(&rest, &line, NULL)) {
		number++;
		r = replay_line(k, line, &started);
		if (r == -EINVAL && !k->c->e->list.n)
			err_add(k->c->e, r, "'%.*s' is no line of a log", (int)line.len, line.s);
		if (r)
			err_at(k->c->e, k->c->operands[1], number, 1);
	}
	return r ? cli_failure(r)
	       : started ? 0
			 : err_add(k->c->e, -ENODATA, "%s starts no bisection", k->c->operands[1]);
}

static const struct {
	const char *name;
	bool opens; /* works on one that goes on */
	int (*run)(struct call *k);
} verbs[] = {
	{"start", false, start}, {"run", true, run},	   {"status", true, status},
	{"step", true, step},	 {"skip", true, skip},	   {"log", true, print_log},
	{"report", true, report}, {"replay", false, replay}, {"reset", true, reset},
};

static int run_bisect(struct cli *c)
{
	struct call k = {.c = c, .name = cli_value(c, "name")};
	const char *words[ARRAY_SIZE(verbs) + 1] = {NULL};
	const char *verb = c->n_operands ? c->operands[0] : "";
	_cleanup_db_ struct db *db = NULL;
	size_t i;
	int r;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		words[i] = verbs[i].name;
	for (i = 0; i < ARRAY_SIZE(verbs) && strcmp(verbs[i].name, verb); i++)
		;
	if (i == ARRAY_SIZE(verbs)) {
		cli_usage(c, *verb ? "bisect cannot '%s'" : "bisect takes a word such as start%s",
			  verb);
		cli_suggest(c, verb, words);
		return -EINVAL;
	}
	k.name = k.name ? k.name : BISECT_NAME;
	r = cli_open_db(c, DB_WRITE, &db);
	k.b = (struct bisect){.db = db,
			      .a = c->a,
			      .e = c->e,
			      .note = c->quiet ? progress_note_quiet : progress_note};
	if (!r && verbs[i].opens)
		r = bisect_open(&k.b, k.name);
	if (r && !strcmp(verb, "step")) {
		cli_print_errors(c->e);
		return STEP_FAILED;
	}
	return r ? r : verbs[i].run(&k);
}

static const struct command bisect_command_entry = {
	.name = "bisect",
	.usage = "start|run|status|step|skip|log|report|replay|reset [REV...|FILE]",
	.group = "hunt",
	.summary = "find the commit that changed a metric, from noisy runs",
	.help = "start says where to look: a repository, a good and a bad end, and a campaign file\n"
		"(--config) with one variant whose kernel (or source, for programs) is git: each\n"
		"commit takes the place of its ref. run measures: first both ends, and refuses where\n"
		"they do not differ by the threshold; then the commit whose run tells most for its\n"
		"price. Every run counts, none decides alone: a commit is named once it has the\n"
		"confidence, and five fresh boots of it and its parent show the change. If its revert\n"
		"applies to the bad end, that is measured too. What the ends differ by beyond it is\n"
		"searched for further causes. Runs of other campaigns on this machine count.\n"
		"\n"
		"Every run is stored before the next is chosen: after Ctrl-C, a crash or a budget the\n"
		"same `run` goes on. Commits that cannot be built or booted are skipped, skip names\n"
		"more. status shows how probable each commit is; log and replay keep what was asked;\n"
		"report writes a mail. step is for `git bisect run`: exit 0 good, 1 bad, 125 cannot\n"
		"tell, 128 it failed itself.\n"
		"\n"
		"run exits 0 with an answer, 4 when its budget is used up, 1 without one.\n",
	.examples = "kdelta bisect start --config bisect.yaml --repo ~/linux --good v6.11 --bad v6.12\n"
		    "kdelta bisect run --max-time 8h\n"
		    "kdelta bisect status\n"
		    "kdelta bisect report -o html=culprit.html\n",
	.first_page = true,
	.options = bisect_options_table,
	.run = run_bisect,
};
REGISTER(command, bisect_command_entry);
