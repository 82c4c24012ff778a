// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Result roots of LKP (lib/result.rb): today SUITE first, before TBOX first,
 *
 *	SUITE/PARAMS/TBOX/ROOTFS/KCONFIG/COMPILER/COMMIT/N/stats.json
 *	TBOX/SUITE/PARAMS/ROOTFS/KCONFIG/COMPILER/COMMIT/N/stats.json
 *
 * Which of the two a path is, its metrics say, "hackbench.throughput" those of a suite hackbench,
 * or `testcase: fio-basic` of the job.yaml beside them. A run's stats.json has a number for each
 * metric:
 *
 *	{"hackbench.throughput": 30006.5, "vmstat.system.cs": 123456, ...}
 *
 * A commit's matrix.json lists the runs, oldest first, and is read where their stats.json are gone:
 *
 *	{"hackbench.throughput": [30006.5, 30011.2], ..., "stats_source": ["/result/...", ...]}
 *
 * There LKP writes the integer 0 also for a metric that a run did not have (lib/matrix.rb), so that
 * a metric with such zeros among its values is left out. The matrix.json of a run is its series.
 *
 * What a run may have or not (dmesg.*, last_state.*, *.fail: metrics counted in runs) is a key only
 * where it happened; all other runs of the test are without it, a sample of 0.
 */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "exchange/import_trees.h"

enum axis { SUITE, PARAMS, TBOX, ROOTFS, KCONFIG, COMPILER, COMMIT, N_AXES };

/* All runs of one commit folder. */
struct lkp_commit {
	const char *folder; /* rel of COMMIT, "" for the root */
	const char *axes[N_AXES];
	bool known;   /* axes are set */
	bool samples; /* a run of it has stats.json */
	json_t *events; /* names of all that happened in a test, in its first commit; NULL: none */
	size_t variant;
};

struct lkp_file {
	const struct tree_entry *en; /* of stats.json, matrix.json, or of a run's folder */
	size_t commit;
	json_t *root; /* NULL: a run without stats.json */
	struct strbuf text;
	bool matrix;
	size_t columns; /* runs of a matrix */
};

struct lkp {
	ARRAY_OF(struct lkp_commit) commits;
	ARRAY_OF(struct lkp_file) files;
	ARRAY_OF(const char *) variants; /* commits, in the order they were met */
	bool varies[N_AXES];
	json_t *metrics; /* name -> id in the database */
	json_t *counted; /* name -> whether it is counted in runs */
	size_t skipped, doubtful, without;
};

/* ---- what a file is ---- */

/* The folder of a run; a commit may happen to be digits only. */
static bool is_number(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && n < 7 && !s[n];
}

static bool is_lkp(const struct tree *t)
{
	const struct tree_entry *en;

	array_for_each (en, &t->entries)
		if (tree_is_named(en, "stats.json") || tree_is_named(en, "matrix.json"))
			return true;
	return false;
}

/* The folder of the whole path, from the end: up = 1 is the last. NULL: the path is shorter. */
static const char *part_from_end(struct tree *t, const char *folder, int up)
{
	char *path = arena_printf(t->im->a, "%s/%s", t->real ? t->real : "", folder);
	char *end = path + strlen(path);

	while (end > path && end[-1] == '/')
		*--end = '\0';
	for (;; up--) {
		char *slash = strrchr(path, '/');

		if (!slash || !slash[1])
			return NULL;
		if (up == 1)
			return slash + 1;
		*slash = '\0';
	}
}

static size_t commit_index(struct lkp *lkp, const char *folder)
{
	struct lkp_commit *c;

	array_for_each (c, &lkp->commits)
		if (!strcmp(c->folder, folder))
			return (size_t)(c - lkp->commits.items);
	c = ARRAY_PUSH(&lkp->commits);
	c->folder = folder;
	return lkp->commits.n - 1;
}

/* rel without its last `drop` components. */
static char *folder_above(struct arena *a, const struct tree_entry *en, size_t drop)
{
	size_t i, len = 0;

	for (i = 0; i + drop < en->n; i++)
		len += strlen(en->parts[i]) + (i > 0);
	return arena_strndup(a, en->rel, len);
}

/* "hackbench" of "hackbench.throughput" for a folder of that name. */
static bool has_metrics_of(const json_t *root, const char *suite)
{
	const char *key;
	const json_t *value;

	json_object_foreach((json_t *)root, key, value)
		if (str_starts(key, suite) && key[strlen(suite)] == '.')
			return true;
	return false;
}

/* The value of `testcase:` in the job.yaml beside a stats.json, NULL: there is none. */
static char *job_testcase(struct tree *t, const struct tree_entry *en)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span rest, line;
	char *folder = path_folder(t->im->a, en->path);

	if (file_read(arena_printf(t->im->a, "%s/job.yaml", folder), 1 << 20, &text, &ignored))
		return NULL;
	rest = (struct span){strbuf_str(&text), text.len};
	while (span_next_line(&rest, &line, NULL)) {
		if (!span_starts(line, "testcase:"))
			continue;
		line.s += strlen("testcase:");
		line.len -= strlen("testcase:");
		line = span_trim(line);
		return arena_strndup(t->im->a, line.s, line.len);
	}
	return NULL;
}

/* Gives the components of a commit's path their names, where the metrics or a job tell which. */
static void name_axes(struct tree *t, struct lkp_commit *c, const struct lkp_file *f)
{
	static const enum axis today[] = {COMMIT, COMPILER, KCONFIG, ROOTFS, TBOX, PARAMS, SUITE};
	static const enum axis before[] = {COMMIT, COMPILER, KCONFIG, ROOTFS, PARAMS, SUITE, TBOX};
	const char *first = part_from_end(t, c->folder, N_AXES);
	const char *second = part_from_end(t, c->folder, N_AXES - 1);
	const char *job = f->matrix ? NULL : job_testcase(t, f->en);
	const enum axis *order = NULL;
	int i;

	if (!first || c->known)
		return;
	if (job)
		order = !strcmp(job, first) ? today : !strcmp(job, second) ? before : NULL;
	else if (has_metrics_of(f->root, first) != has_metrics_of(f->root, second))
		order = has_metrics_of(f->root, first) ? today : before;
	for (i = 0; order && i < N_AXES; i++)
		c->axes[order[i]] = part_from_end(t, c->folder, i + 1);
	c->known = order != NULL;
}

/* ---- reading ---- */

/* Runs of a matrix: entries of stats_source, or of the longest list. */
static size_t matrix_columns(const json_t *root)
{
	const json_t *source = json_object_get(root, "stats_source"), *value;
	const char *key;
	size_t n = json_array_size(source);

	if (n)
		return n;
	json_object_foreach((json_t *)root, key, value)
		n = MAX(n, json_array_size(value));
	return n;
}

static int read_json(struct tree *t, struct lkp *lkp, const struct tree_entry *en, size_t commit,
		     bool matrix)
{
	struct lkp_file *f = ARRAY_PUSH(&lkp->files);
	json_error_t error;
	int r = tree_read(t, en, &f->text);

	f->en = en;
	f->commit = commit;
	f->matrix = matrix;
	if (r)
		return r;
	/* a counter may be larger than 64 bits; only a matrix needs to tell 0 from 0.0 */
	f->root = json_loadb(strbuf_str(&f->text), f->text.len,
			     matrix ? 0 : JSON_DECODE_INT_AS_REAL, &error);
	if (!f->root || !json_is_object(f->root)) {
		err_add(t->im->e, -EBADMSG, "broken JSON: %s",
			f->root ? "an object of metrics is expected" : error.text);
		err_at(t->im->e, en->path, f->root ? 0 : error.line, f->root ? 0 : error.column);
		err_hint(t->im->e, "nothing was imported; remove the run's folder to import the "
				   "others");
		return -EBADMSG;
	}
	f->columns = matrix ? matrix_columns(f->root) : 1;
	name_axes(t, &lkp->commits.items[commit], f);
	return 0;
}

/* Whether any file in a folder was read; what is in it follows it in the list. */
static bool has_read(const struct tree *t, const struct tree_entry *folder, const bool *read)
{
	const struct tree_entry *en = folder + 1, *end = t->entries.items + t->entries.n;

	for (; en < end && en->n > folder->n; en++)
		if (read[en - t->entries.items])
			return true;
	return false;
}

/* A folder N with files but without stats.json is a run that gave no result. */
static void add_failed_runs(struct tree *t, struct lkp *lkp)
{
	bool *read = arena_alloc_array(t->im->a, t->entries.n, sizeof(*read));
	const struct tree_entry *en;
	struct lkp_file *f;

	array_for_each (f, &lkp->files)
		read[f->en - t->entries.items] = true;
	array_for_each (en, &t->entries) {
		const char *above;
		struct lkp_commit *c;

		if (!en->folder || !is_number(en->parts[en->n - 1]))
			continue;
		above = folder_above(t->im->a, en, 1);
		array_for_each (c, &lkp->commits)
			if (!strcmp(c->folder, above) && c->samples)
				break;
		if (!lkp->commits.n || c == lkp->commits.items + lkp->commits.n)
			continue;
		if (has_read(t, en, read))
			continue;
		f = ARRAY_PUSH(&lkp->files);
		f->en = en;
		f->commit = (size_t)(c - lkp->commits.items);
		f->columns = 1;
		lkp->without++;
	}
}

static int read_stats(struct tree *t, struct lkp *lkp)
{
	const struct tree_entry *en;
	size_t commit;
	int r = 0;

	array_for_each (en, &t->entries) {
		if (r || !tree_is_named(en, "stats.json"))
			continue;
		if (en->n < 2 || !is_number(en->parts[en->n - 2])) {
			tree_unread(t, en);
			continue;
		}
		commit = commit_index(lkp, folder_above(t->im->a, en, 2));
		lkp->commits.items[commit].samples = true;
		r = read_json(t, lkp, en, commit, false);
	}
	return r;
}

/* Those of commits without a stats.json; those of runs are series, above commits they are sums. */
static int read_matrices(struct tree *t, struct lkp *lkp)
{
	const struct tree_entry *en;
	int r = 0;

	array_for_each (en, &t->entries) {
		const char *folder;
		const struct lkp_commit *c;
		bool above = false;

		if (r || !tree_is_named(en, "matrix.json") ||
		    (en->n > 1 && is_number(en->parts[en->n - 2])))
			continue;
		folder = folder_above(t->im->a, en, 1);
		array_for_each (c, &lkp->commits)
			above |= c->samples && (!*folder || (str_starts(c->folder, folder) &&
						 strchr("/", c->folder[strlen(folder)])));
		if (!above)
			r = read_json(t, lkp, en, commit_index(lkp, folder), true);
	}
	return r;
}

/* Files of commits whose path says nothing are given back; an axis with two values is swept. */
static void settle(struct tree *t, struct lkp *lkp)
{
	struct lkp_commit *c, *first = NULL;
	struct lkp_file *f;
	const char **v;
	int i;

	array_for_each (f, &lkp->files) {
		if (!lkp->commits.items[f->commit].known)
			tree_unread(t, f->en);
		else
			t->runs += f->columns;
	}
	array_for_each (c, &lkp->commits) {
		if (!c->known)
			continue;
		first = first ? first : c;
		for (i = 0; i < N_AXES; i++)
			lkp->varies[i] |= strcmp(first->axes[i], c->axes[i]) != 0;
		array_for_each (v, &lkp->variants)
			if (!strcmp(*v, c->axes[COMMIT]))
				break;
		c->variant = (size_t)(v - lkp->variants.items);
		if (c->variant == lkp->variants.n)
			*ARRAY_PUSH(&lkp->variants) = c->axes[COMMIT];
	}
}

static int lkp_read(struct tree *t, void **data)
{
	struct lkp *lkp = arena_alloc(t->im->a, sizeof(*lkp));
	int r;

	*data = lkp;
	lkp->metrics = json_object();
	lkp->counted = json_object();
	r = read_stats(t, lkp);
	if (!r)
		r = read_matrices(t, lkp);
	if (r)
		return r;
	add_failed_runs(t, lkp);
	settle(t, lkp);
	if (t->runs)
		return 0;
	err_add(t->im->e, -ENOENT, "%s: no path tells which test a stats.json is of", t->root);
	err_hint(t->im->e, "give the folder as LKP lays it out: .../SUITE/PARAMS/TBOX/ROOTFS/"
			   "KCONFIG/COMPILER/COMMIT/N/stats.json");
	return -ENOENT;
}

/* ---- writing ---- */

/* The id of a metric, described by our tables; headlines are those of the suite itself. */
static int metric_id(struct tree *t, struct lkp *lkp, const char *suite, const char *name,
		     int64_t *id)
{
	const json_t *known = json_object_get(lkp->metrics, name);
	struct db_metric m;
	int r;

	if (known) {
		*id = json_integer_value(known);
		return 0;
	}
	catalog_describe_metric(t->im->cat, arena_strdup(t->im->a, name), &m);
	if (table_lkp_headline(suite, name))
		import_headline(&m);
	r = db_put_metric(t->im->db, &m, id, t->im->e);
	if (!r)
		json_object_set_new(lkp->metrics, name, json_integer(*id));
	return r;
}

/* ---- what happens in some runs ---- */

static bool is_event(const struct tree *t, struct lkp *lkp, const char *name)
{
	const json_t *known = json_object_get(lkp->counted, name);
	struct db_metric m;

	if (!known) {
		catalog_describe_metric(t->im->cat, arena_strdup(t->im->a, name), &m);
		json_object_set_new(lkp->counted, name, json_boolean(!strcmp(m.unit, "runs")));
		known = json_object_get(lkp->counted, name);
	}
	return json_is_true(known);
}

/* The first commit of the same test on the same machine. */
static struct lkp_commit *first_of_test(struct lkp *lkp, const struct lkp_commit *c)
{
	struct lkp_commit *first;
	int i;

	array_for_each (first, &lkp->commits) {
		for (i = 0; first->known && i < COMMIT; i++)
			if (strcmp(first->axes[i], c->axes[i]))
				break;
		if (first->known && i == COMMIT)
			break;
	}
	return first;
}

static void find_events(const struct tree *t, struct lkp *lkp)
{
	const struct lkp_file *f;
	struct lkp_commit *c;
	const char *key;
	json_t *value;

	array_for_each (f, &lkp->files) {
		if (!f->root || !lkp->commits.items[f->commit].known)
			continue;
		c = first_of_test(lkp, &lkp->commits.items[f->commit]);
		json_object_foreach(f->root, key, value) {
			if (!is_event(t, lkp, key))
				continue;
			c->events = c->events ? c->events : json_object();
			json_object_set_new(c->events, key, json_true());
		}
	}
}

/* Whether zeros of a list may stand for "this run did not have the metric". */
static bool is_doubtful(const json_t *list)
{
	const json_t *v;
	size_t i, zeros = 0;

	json_array_foreach(list, i, v)
		zeros += json_is_integer(v) && !json_integer_value(v);
	return zeros > 0 && zeros < json_array_size(list);
}

static bool is_list_of_numbers(const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!json_is_number(v))
			return false;
	return json_array_size(list) > 0;
}

/* The value of a metric in a run (a column of a matrix); NULL: it has none. Counts what is not. */
static const json_t *value_of(const struct tree *t, struct lkp *lkp, const struct lkp_file *f,
			      const char *key, const json_t *value, size_t column)
{
	if (!f->matrix) {
		lkp->skipped += !json_is_number(value);
		return json_is_number(value) ? value : NULL;
	}
	if (!is_list_of_numbers(value)) {
		lkp->skipped += !column && strcmp(key, "stats_source");
		return NULL;
	}
	if (is_doubtful(value) && !is_event(t, lkp, key)) {
		lkp->doubtful += !column;
		return NULL;
	}
	return json_array_get(value, column);
}

/* A sample of 0 for each of what happened in other runs of the test. */
static int put_absent(struct tree *t, struct lkp *lkp, const struct lkp_file *f, int64_t run)
{
	const struct lkp_commit *c = &lkp->commits.items[f->commit];
	const char *key;
	json_t *value;
	int64_t metric;
	int r = 0;

	json_object_foreach(first_of_test(lkp, c)->events, key, value) {
		if (json_object_get(f->root, key))
			continue;
		r = metric_id(t, lkp, c->axes[SUITE], key, &metric);
		if (!r)
			r = db_add_sample(t->im->db, run, metric, 0, t->im->e);
		if (r)
			break;
	}
	return r;
}

static int put_samples(struct tree *t, struct lkp *lkp, const struct lkp_file *f, size_t column,
		       int64_t run)
{
	const char *suite = lkp->commits.items[f->commit].axes[SUITE], *key;
	json_t *value;
	int64_t metric;
	int r = 0;

	json_object_foreach(f->root, key, value) {
		const json_t *v = value_of(t, lkp, f, key, value, column);

		if (!v || !isfinite(json_number_value(v)))
			continue;
		r = metric_id(t, lkp, suite, key, &metric);
		if (!r)
			r = db_add_sample(t->im->db, run, metric, json_number_value(v), t->im->e);
		if (r)
			break;
	}
	return r;
}

static int put_lkp_case(struct tree *t, const struct lkp *lkp, const struct lkp_commit *c,
			int64_t *id)
{
	/* named as in the tables of LKP's mails */
	static const struct {
		enum axis axis;
		const char *name;
	} fixed[] = {
		{TBOX, "machine"}, {ROOTFS, "rootfs"}, {KCONFIG, "kconfig"}, {COMPILER, "compiler"},
	};
	struct import_case row = {.benchmark = c->axes[SUITE], .command = "", .description = ""};
	size_t i;

	import_param(&row, "test", c->axes[PARAMS]);
	for (i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (lkp->varies[fixed[i].axis])
			import_param(&row, fixed[i].name, c->axes[fixed[i].axis]);
		else
			import_fixed_param(&row, fixed[i].name, c->axes[fixed[i].axis]);
	}
	return import_case(t->im, &row, id);
}

static int put_runs(struct tree *t, struct lkp *lkp, const struct lkp_file *f,
		    const int64_t *variants)
{
	const struct lkp_commit *c = &lkp->commits.items[f->commit];
	struct db_run run = import_run(t->im, variants[c->variant], "");
	size_t i;
	int r = put_lkp_case(t, lkp, c, &run.case_id);

	if (!f->root) {
		run.outcome = "error";
		run.error = "no_result";
		run.message = "the run has no stats.json";
	}
	if (!r && f->root)
		r = db_add_raw(t->im->db, 0, "source", f->en->path,
			       (struct span){strbuf_str(&f->text), f->text.len}, NULL, t->im->e);
	for (i = 0; !r && i < f->columns; i++) {
		run.block = import_seen(t->im, run.case_id, -2, run.variant_id) + 1;
		r = db_add_run(t->im->db, &run, &run.id, t->im->e);
		if (!r && f->root)
			r = put_samples(t, lkp, f, i, run.id);
		if (!r && f->root)
			r = put_absent(t, lkp, f, run.id);
		t->im->report->runs++;
		t->im->report->refused += !f->root;
	}
	return r;
}

static void note_count(struct tree *t, size_t n, const char *what)
{
	if (n)
		*ARRAY_PUSH(&t->notes) = arena_printf(t->im->a, "%s: %zu %s", t->root, n, what);
}

static int put_lkp_variants(struct tree *t, const struct lkp *lkp, int64_t *ids)
{
	struct import_variant_words *w =
		arena_alloc_array(t->im->a, lkp->variants.n, sizeof(*w));
	size_t i;

	for (i = 0; i < lkp->variants.n; i++) {
		const char *name = lkp->variants.items[i];
		bool hash = strspn(name, "0123456789abcdef") == 40 && !name[40];

		w[i] = import_words(hash ? arena_strndup(t->im->a, name, 12) : name);
		if (hash)
			w[i].commit = name;
	}
	return tree_variants(t, w, lkp->variants.n, ids);
}

static int lkp_write(struct tree *t, void *data)
{
	struct lkp *lkp = data;
	int64_t *ids = arena_alloc_array(t->im->a, lkp->variants.n, sizeof(*ids));
	const struct lkp_file *f;
	const struct lkp_commit *c;
	int r = put_lkp_variants(t, lkp, ids);

	find_events(t, lkp);
	array_for_each (c, &lkp->commits)
		if (!r && c->known && !lkp->varies[TBOX])
			r = db_set_fact(t->im->db, "campaign", t->im->campaign.id, "machine",
					c->axes[TBOX], t->im->e);
	array_for_each (f, &lkp->files)
		if (!r && lkp->commits.items[f->commit].known)
			r = put_runs(t, lkp, f, ids);
	note_count(t, lkp->without, "run(s) without stats.json: counted as failed");
	note_count(t, lkp->skipped, "value(s) that are no numbers left out");
	note_count(t, lkp->doubtful,
		   "metric(s) of matrix.json left out: LKP writes 0 also for a run that did not "
		   "have the metric; the stats.json of its runs would tell");
	return r;
}

static void lkp_release(void *data)
{
	struct lkp *lkp = data;
	struct lkp_commit *c;
	struct lkp_file *f;

	if (!lkp)
		return;
	array_for_each (c, &lkp->commits)
		json_decref(c->events);
	array_for_each (f, &lkp->files) {
		json_decref(f->root);
		strbuf_release(&f->text);
	}
	json_decref(lkp->metrics);
	json_decref(lkp->counted);
	ARRAY_FREE(&lkp->commits);
	ARRAY_FREE(&lkp->files);
	ARRAY_FREE(&lkp->variants);
}

const struct tree_kind tree_lkp = {
	.name = "LKP result root",
	.is = is_lkp,
	.read = lkp_read,
	.write = lkp_write,
	.release = lkp_release,
};
