// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta doctor: is this machine fit to measure, and what would make it fitter. */
#include <errno.h>
#include <string.h>

#include "cli/doctor.h"
#include "core/file.h"
#include "core/json.h"
#include "core/num.h"
#include "machine/doctor.h"
#include "reports/text.h"
#include "runner/noise.h"
#include "runner/run.h"

/* HEAVY: weight from which a warning stands in the line before a campaign. */
enum { WIDTH = 80, LEAST_WIDTH = 40, INDENT = 6, SHOWN = 8, HEAVY = 5, NAMED = 4 };

/* A look at the machine, and what was done about it. */
struct visit {
	struct cli *c;
	const char *root;
	bool fixes, restores;
	double seconds; /* of --noise; 0: none is measured */
	struct doctor_result *results;
	size_t n, counts[DOCTOR_STATES];
	struct journal journal;
	struct doctor_change *changes;
	size_t n_changes;
	struct noise *noise;
	size_t n_noise;
};

static void wait_for_nothing(void *data)
{
	(void)data;
}

static void ask_host(const struct cli *c, struct doctor_host *host)
{
	const char *const folders[] = {path_folder(c->a, db_path(c->a, c->db)),
				       path_cache(c->a, ""), NULL};

	doctor_ask_host(c->a, folders, host);
}

static void look(struct visit *v)
{
	struct cli *c = v->c;
	struct doctor_options opt = {.root = v->root};
	struct doctor_host host;
	size_t i;

	if (!*v->root) {
		ask_host(c, &host);
		opt.host = &host;
	} else {
		opt.wait = wait_for_nothing; /* nothing moves in a copy */
	}
	v->results = doctor_look(c->a, &opt, &v->n);
	memset(v->counts, 0, sizeof(v->counts));
	for (i = 0; i < v->n; i++) {
		v->results[i].value = cli_clean(c->a, v->results[i].value);
		v->counts[v->results[i].state]++;
	}
}

/* ---- text ---- */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "warn  swap in use: 0.31 of 2.00 GiB", and below it why that matters and what to do. */
static void add_result(struct text *t, const struct doctor_result *r, bool whole)
{
	static const char *const colors[DOCTOR_STATES] = {"31", "33", "0", "32", "0"};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct text part = {t->a, &sb, t->width, false};
	const char *state = doctor_state_names[r->state];
	size_t len = strlen(state);

	text_wrap(&part, state, INDENT, arena_printf(t->a, "%s: %s", r->check->title, r->value));
	if (t->color)
		strbuf_addf(t->out, "\033[%sm%s\033[0m%s", colors[r->state], state, sb.buf + len);
	else
		strbuf_adds(t->out, sb.buf);
	if (!whole)
		return;
	text_wrap(t, "", INDENT, r->check->why);
	if (r->check->fix)
		text_wrap(t, "", INDENT, arena_printf(t->a, "fix: %s", r->check->fix));
}

static void add_counts(struct visit *v, struct text *t, size_t hidden)
{
	const size_t *n = v->counts;

	text_wrap(t, "", 0,
		  arena_printf(t->a,
			       "%zu checks: %zu FAIL, %zu warn%s, %zu info, %zu ok, %zu not "
			       "exposed%s",
			       v->n, n[DOCTOR_FAIL], n[DOCTOR_WARN],
			       hidden ? arena_printf(t->a, " (%zu not shown)", hidden) : "",
			       n[DOCTOR_INFO], n[DOCTOR_OK], n[DOCTOR_ABSENT],
			       v->c->verbose ? "" : "; -v shows all"));
}

/* What --fix would do, by name. */
static void add_offer(struct visit *v, struct text *t)
{
	_cleanup_strbuf_ struct strbuf safe = STRBUF_INIT, named = STRBUF_INIT;
	const struct journal_line *l;
	size_t i, set = 0;

	for (i = 0; i < v->n; i++) {
		const struct doctor_check *c = v->results[i].check;
		struct strbuf *sb = c->safe ? &safe : &named;

		if (c->set && v->results[i].state <= DOCTOR_WARN)
			strbuf_addf(sb, "%s%s", sb->len ? ", " : "", c->name);
	}
	if (safe.len)
		text_wrap(t, "", 0, arena_printf(t->a, "--fix sets: %s", safe.buf));
	if (named.len)
		text_wrap(t, "", 0,
			  arena_printf(t->a, "only when named (--fix=NAME): %s", named.buf));
	array_for_each (l, &v->journal.lines)
		set += !strcmp(l->boot_id, v->journal.boot_id);
	if (set)
		text_wrap(t, "", 0,
			  arena_printf(t->a,
				       "%zu setting%s changed by --fix: kdelta doctor --restore "
				       "puts back what was found",
				       set, plural(set)));
}

static void add_report(struct visit *v, struct text *t)
{
	size_t i, shown = 0, hidden = 0;

	for (i = 0; i < v->n; i++) {
		const struct doctor_result *r = &v->results[i];
		bool bad = r->state <= DOCTOR_WARN;

		if (v->c->verbose || r->state == DOCTOR_FAIL || (bad && shown < SHOWN)) {
			add_result(t, r, bad);
			shown++;
		} else {
			hidden += bad;
		}
	}
	add_counts(v, t, hidden);
	add_offer(v, t);
}

/* "CPU       cv 0.31% of 98 runs of 0.20 s, slowest +1.2%; 0.55%, 0.39%, 0.28%" */
static void add_noise(struct visit *v, struct text *t)
{
	size_t i;

	if (v->n_noise)
		text_wrap(t, "", 0,
			  "noise of short works, and the smallest change that 5, 10 and 20 runs a "
			  "side of each show (80% power):");
	for (i = 0; i < v->n_noise; i++) {
		const struct noise *k = &v->noise[i];

		text_wrap(t, k->work, 10,
			  arena_printf(t->a,
				       "cv %s of %zu runs of %.2f s, slowest %s; %s, %s, %s",
				       text_share(t->a, k->cv), k->runs, k->mean,
				       text_percent(t->a, k->slowest, "%"),
				       text_share(t->a, k->detectable[0]),
				       text_share(t->a, k->detectable[1]),
				       text_share(t->a, k->detectable[2])));
	}
}

/* ---- JSON ---- */

static json_t *results_json(struct visit *v)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct doctor_result *r = &v->results[i];
		const struct doctor_check *k = r->check;
		bool absent = r->state == DOCTOR_ABSENT;

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:i, s:s?, s:s?, s:s, s:s?, s:s?, s:b}", "name",
				  k->name, "title", k->title, "state",
				  doctor_state_names[r->state], "weight", k->weight, "value",
				  absent ? NULL : r->value, "reason", absent ? r->value : NULL,
				  "why", k->why, "command", k->fix, "sets", k->set, "safe",
				  k->safe));
	}
	return list;
}

static json_t *changes_json(struct visit *v)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < v->n_changes; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name",
						      v->changes[i].check->name, "path",
						      cli_clean(v->c->a, v->changes[i].path), "old",
						      cli_clean(v->c->a, v->changes[i].old),
						      "new", v->changes[i].value));
	return list;
}

static void print_restored(struct visit *v)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	json_t *list = json_array();
	const struct journal_line *l;

	array_for_each (l, &v->journal.lines)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "path",
						      cli_clean(v->c->a, l->path), "value",
						      cli_clean(v->c->a, l->value), "fate",
						      journal_fate_names[l->fate]));
	json_add_lines(&out, json_pack("{s:s, s:o}", "schema", "kdelta.doctor/1", "restored", list),
		       17);
	cli_print(&out);
}

static json_t *noise_json(struct visit *v)
{
	json_t *list = json_array(), *detectable;
	size_t i, k;

	for (i = 0; i < v->n_noise; i++) {
		const struct noise *one = &v->noise[i];

		detectable = json_object();
		for (k = 0; k < NOISE_SIDES; k++)
			json_object_set_new(detectable,
					    arena_printf(v->c->a, "%zu", noise_sides[k]),
					    json_number_or_null(one->detectable[k]));
		json_array_append_new(
			list, json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "work", one->work, "runs",
					(int)one->runs, "mean", json_number_or_null(one->mean),
					"cv", json_number_or_null(one->cv), "slowest",
					json_number_or_null(one->slowest), "detectable",
					detectable));
	}
	return list;
}

static void print_json(struct visit *v)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	json_t *root = json_pack("{s:s, s:{}, s:o}", "schema", "kdelta.doctor/1", "counts",
				 "checks", results_json(v));
	json_t *counts = json_object_get(root, "counts");
	size_t i;

	for (i = 0; i < DOCTOR_STATES; i++)
		json_object_set_new(counts, doctor_state_names[i],
				    json_integer((json_int_t)v->counts[i]));
	if (v->changes)
		json_object_set_new(root, "changes", changes_json(v));
	if (v->n_noise)
		json_object_set_new(root, "noise", noise_json(v));
	json_add_lines(&out, root, 17);
	cli_print(&out);
}

static void print_report(struct visit *v)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int columns = cli_columns();
	struct text t = {v->c->a, &out, columns ? MIN(MAX(columns, (int)LEAST_WIDTH), (int)WIDTH) : WIDTH,
			 cli_colors(v->c)};

	if (v->c->json) {
		print_json(v);
		return;
	}
	add_report(v, &t);
	add_noise(v, &t);
	cli_page(v->c, &out);
}

/* ---- --fix and --restore ---- */

/* Every name must be one that can be set. */
static int check_names(struct cli *c, const char *const *names)
{
	const char **known = arena_alloc_array(c->a, n_doctor_checks + 1, sizeof(*known));
	size_t i, n = 0;

	for (i = 0; i < n_doctor_checks; i++)
		if (doctor_checks[i].set)
			known[n++] = doctor_checks[i].name;
	for (; names && *names; names++) {
		for (i = 0; i < n && strcmp(known[i], *names); i++)
			;
		if (i < n)
			continue;
		cli_usage(c, "--fix has nothing to set for '%s'", *names);
		cli_suggest(c, *names, known);
		return -EINVAL;
	}
	return 0;
}

static void tell_changes(struct visit *v)
{
	size_t i, k, done = 0;

	for (i = 0; i < v->n_changes; i = k) {
		const struct doctor_change *one = &v->changes[i];

		for (k = i; k < v->n_changes && v->changes[k].check == one->check &&
			    v->changes[k].done == one->done &&
			    !strcmp(v->changes[k].old, one->old);
		     k++)
			done += v->changes[k].done;
		if (!one->done && !v->c->dry_run)
			continue;
		cli_note(v->c, "%s%s: %s -> %s%s", v->c->dry_run ? "would set " : "",
			 one->check->title, cli_clean(v->c->a, one->old), one->value,
			 k - i > 1 ? arena_printf(v->c->a, " (%zu files)", k - i) : "");
	}
	if (!v->n_changes)
		cli_note(v->c, "nothing to set");
	else if (done)
		cli_note(v->c, "what was found stands in %s: kdelta doctor --restore",
			 v->journal.file);
}

static int fix(struct visit *v)
{
	struct doctor_fix fix = {.dry_run = v->c->dry_run};
	int r = cli_list(v->c, "fix", &fix.names);

	if (!r)
		r = check_names(v->c, fix.names);
	if (r)
		return r;
	look(v);
	r = doctor_fix(&fix, v->results, v->n, &v->journal, &v->changes, &v->n_changes, v->c->e);
	tell_changes(v);
	if (!r && !v->c->dry_run)
		look(v);
	return cli_failure(r);
}

static void tell_restored(struct visit *v, const size_t *counts)
{
	size_t done = counts[JOURNAL_PUT_BACK], same = counts[JOURNAL_SAME];

	if (!v->journal.lines.n)
		cli_note(v->c, "nothing to put back: --fix changed nothing here");
	if (done || same)
		cli_note(v->c, "put back %zu setting%s%s", done, plural(done),
			 same ? arena_printf(v->c->a, "; %zu had its old value already", same) : "");
	if (counts[JOURNAL_OVER])
		cli_note(v->c, "%zu setting%s ended with an earlier boot: nothing to put back",
			 counts[JOURNAL_OVER], plural(counts[JOURNAL_OVER]));
}

static int restore(struct visit *v)
{
	size_t counts[JOURNAL_FAILED + 1] = {0};
	int r = doctor_restore(&v->journal, cli_has(v->c, "force"), v->c->e);
	const struct journal_line *l;

	array_for_each (l, &v->journal.lines) {
		counts[l->fate]++;
		if (l->fate == JOURNAL_FOREIGN)
			cli_warn(v->c, "%s: somebody set it to %s meanwhile; left alone (found: %s)",
				 cli_clean(v->c->a, l->path), cli_clean(v->c->a, l->now),
				 cli_clean(v->c->a, l->value));
	}
	tell_restored(v, counts);
	if (v->c->json)
		print_restored(v);
	if (!r && counts[JOURNAL_FOREIGN]) {
		err_add(v->c->e, -EBUSY, "%zu setting%s left alone", counts[JOURNAL_FOREIGN],
			plural(counts[JOURNAL_FOREIGN]));
		err_hint(v->c->e, "kdelta doctor --restore --force puts them back all the same");
		r = -EBUSY;
	}
	return cli_failure(r);
}

static void note(const char *text)
{
	fprintf(stderr, "kdelta: %s\n", text);
}

/* Nothing is changed while a campaign runs; the lock ends with the program. */
static int lock(struct visit *v)
{
	return *v->root ? 0 : MIN(run_lock(v->c->a, note, v->c->e), 0);
}

static int measure(struct visit *v)
{
	cli_note(v->c, "measuring noise for %s; do nothing else here",
		 num_duration(v->c->a, v->seconds));
	return cli_failure(
		noise_measure(v->c->a, v->seconds, &v->noise, &v->n_noise, v->c->e));
}

static int read_options(struct visit *v)
{
	struct cli *c = v->c;

	v->fixes = cli_has(c, "fix");
	v->restores = cli_has(c, "restore");
	if (c->n_operands)
		return cli_usage(c, "doctor takes no operands");
	if (v->fixes && v->restores)
		return cli_usage(c, "--fix and --restore are two things");
	if (cli_has(c, "force") && !v->restores)
		return cli_usage(c, "--force belongs to --restore");
	if (!cli_has(c, "noise"))
		return 0;
	v->seconds = 60;
	if (v->restores || *v->root)
		return cli_usage(c, "--noise is of this machine, and goes with neither --root nor "
				    "--restore");
	if (cli_seconds(c, "noise", &v->seconds))
		return -EINVAL;
	return v->seconds > 86400 ? cli_usage(c, "--noise takes at most a day") : 0;
}

static int act(struct visit *v)
{
	int r = v->fixes || v->restores || v->seconds > 0 ? lock(v) : 0;

	if (!r)
		r = journal_open(&v->journal, v->c->a, doctor_journal_path(v->c->a, v->root),
				 v->root, v->c->e);
	if (r || v->restores)
		return r ? cli_failure(r) : restore(v);
	if (v->fixes)
		r = fix(v);
	else
		look(v);
	if (!r && v->seconds > 0)
		r = measure(v);
	if (r)
		return r;
	print_report(v);
	return v->counts[DOCTOR_FAIL] ? EXIT_BLOCKER : EXIT_DONE;
}

static int run_doctor(struct cli *c)
{
	const char *root = cli_value(c, "root");
	struct visit v = {.c = c, .root = root ? root : ""};
	int r;

	r = read_options(&v);
	if (r)
		return r;
	r = act(&v);
	journal_release(&v.journal);
	return r;
}

void doctor_note(const struct cli *c)
{
	struct doctor_host host;
	const struct doctor_options opt = {.root = "", .quick = true, .host = &host};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n, i, found = 0, fails = 0;
	struct doctor_result *list;

	if (c->quiet)
		return;
	ask_host(c, &host);
	list = doctor_look(c->a, &opt, &n);
	for (i = 0; i < n && list[i].state <= DOCTOR_WARN; i++) {
		bool fail = list[i].state == DOCTOR_FAIL;

		if (!fail && list[i].check->weight < HEAVY)
			continue;
		fails += fail;
		if (found++ < NAMED)
			strbuf_addf(&sb, "%s%s%s (%s)", sb.len ? ", " : "", fail ? "FAIL " : "",
				    list[i].check->title, cli_clean(c->a, list[i].value));
	}
	if (found > NAMED)
		strbuf_addf(&sb, " and %zu more", found - NAMED);
	if (found)
		cli_note(c, "this machine: %s%s: see kdelta doctor", strbuf_str(&sb),
			 fails ? "; nothing measured so says anything" : "");
}

static const struct cli_option options[] = {
	{"fix", 0, "[NAMES]", "set what is safe to set, or the checks named (A,B)"},
	{"restore", 0, NULL, "put back what --fix found, also after a crash"},
	{"force", 0, NULL, "with --restore: also what somebody else changed meanwhile"},
	{"noise", 0, "[SECONDS]", "measure this machine's own noise (60 s)"},
	{"root", 0, "DIR", "a copy of another machine's /proc and /sys below this folder"},
	CLI_OPTIONS_END,
};

static const struct command doctor = {
	.name = "doctor",
	.usage = "",
	.group = "measure",
	.summary = "is this machine fit to measure, and what would make it fitter",
	.help = "Checks sources of noise and prints those that matter here, the worst first: the "
		"value,\n"
		"what it does to measurements, and the command that changes it. -v shows all "
		"checks.\n"
		"\n"
		"--fix sets the clock of the CPUs (governor, turbo), the NMI watchdog, KSM and BPF\n"
		"statistics. Huge pages, NUMA balancing and others are policy of the kernel under "
		"test:\n"
		"they are set only when named. What was found is on disk first; --restore puts it "
		"back\n"
		"exactly, also after a crash. A restart undoes all of it by itself.\n"
		"\n"
		"--noise runs short pieces of work (CPU, memory, wake-ups) in turns and tells how "
		"much\n"
		"their times differ, and which change so many runs a side would show. A longer "
		"benchmark\n"
		"averages fast noise away, and meets slow drifts instead.\n"
		"\n"
		"Exit status 5: a blocker was found (FAIL).",
	.examples = "  kdelta doctor\n"
		    "  sudo kdelta doctor --fix && kdelta run; sudo kdelta doctor --restore\n"
		    "  kdelta doctor --noise=20\n"
		    "  sudo kdelta doctor --fix=memory.thp,memory.numa_balancing\n"
		    "  kdelta doctor --json | jq '.checks[] | select(.state == \"FAIL\")'",
	.first_page = true,
	.options = options,
	.run = run_doctor,
};
REGISTER(command, doctor);
