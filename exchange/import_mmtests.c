// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The result tree of mmtests, as run-mmtests.sh leaves it and compare-mmtests.pl reads it. Today:
 *
 *	work/log/5.17-vanilla/iter-0/tests-timestamp
 *	work/log/5.17-vanilla/iter-0/hackbench-process-pipes/logs/hackbench-4
 *	work/log/5.17-vanilla/iter-0/tbench4/logs/tbench-16.log.gz
 *
 * before (of the years up to 2018, one folder for test and kernel):
 *
 *	work/log/tests-timestamp-5.17-vanilla
 *	work/log/hackbench-process-pipes-5.17-vanilla/noprofile/hackbench-4-1
 *	work/log/kernbench-5.17-vanilla/noprofile/kernbench-8-2.time
 *
 * The first number of a log's name is what mmtests scales, the second its iteration. Runs under a
 * profiler (fine-profile-timer) are no results. A tests-timestamp has lines
 *
 *	start :: 1645000000
 *	test begin :: tbench4 1645000012
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "exchange/import_trees.h"
#include "runner/input.h"

static const struct {
	const char *prefix, *param; /* of the file's name; which parameter of ours the number is */
} logs[] = {
	{"tbench", "clients"},	 {"dbench", "clients"}, {"hackbench", "groups"},
	{"schbench", "workers"}, {"kernbench", "jobs"},
};

/* A folder with tests-timestamp (name "") or tests-timestamp-NAME. */
struct stamp {
	const char *folder; /* rel, "" for the root */
	const char *name;
};

struct mm_log {
	const struct tree_entry *en;
	size_t variant;
	struct import_case given;
	struct strbuf text;
	struct import_content content;
};

struct mm_kernel {
	const char *name, *release; /* release: "" unknown, NULL: they differ */
};

struct mmtests {
	ARRAY_OF(struct stamp) stamps;
	ARRAY_OF(struct mm_kernel) kernels;
	ARRAY_OF(struct mm_log) logs;
	const char *processor; /* of the lscpu files; NULL: none, "": they differ */
};

/* ---- where a file belongs ---- */

static bool is_iteration(const char *part)
{
	const char *digits = part + strlen("iter-");

	return str_starts(part, "iter-") && *digits && !digits[strspn(digits, "0123456789")];
}

static bool is_stamp(const struct tree_entry *en)
{
	const char *name = en->parts[en->n - 1];

	return !en->folder && str_starts(name, "tests-timestamp") &&
	       (!name[strlen("tests-timestamp")] || name[strlen("tests-timestamp")] == '-');
}

static bool is_mmtests(const struct tree *t)
{
	const struct tree_entry *en;

	array_for_each (en, &t->entries)
		if (is_stamp(en) || (en->folder && is_iteration(en->parts[en->n - 1])))
			return true;
	return false;
}

/* Name of the folder that parts[0..n) end in; of the root its own. */
static const char *folder_name(const struct tree *t, const struct tree_entry *en, size_t n)
{
	if (n)
		return en->parts[n - 1];
	return t->real ? strrchr(t->real, '/') + 1 : t->root;
}

struct place {
	const char *kernel, *test;
	size_t inside; /* parts from here on are below the test's folder */
};

/* KERNEL/iter-N/TEST/..., or KERNEL/TEST/... beside a tests-timestamp. */
static bool find_new_place(const struct tree *t, const struct mmtests *mm,
			   const struct tree_entry *en, struct place *p)
{
	const struct stamp *s;
	size_t i, n;

	for (i = 0; i + 2 < en->n; i++)
		if (is_iteration(en->parts[i])) {
			*p = (struct place){folder_name(t, en, i), en->parts[i + 1], i + 2};
			return true;
		}
	array_for_each (s, &mm->stamps) {
		size_t len = strlen(s->folder);

		if (*s->name || strncmp(en->rel, s->folder, len) || (len && en->rel[len] != '/'))
			continue;
		for (n = 0, i = 0; i < len; i++)
			n += s->folder[i] == '/';
		n += len > 0;
		if (n + 1 >= en->n)
			continue;
		*p = (struct place){folder_name(t, en, n), en->parts[n], n + 1};
		return true;
	}
	return false;
}

/* TEST-KERNEL/... where tests-timestamp-KERNEL lies beside it; the longest such name. */
static bool find_old_place(const struct tree *t, const struct mmtests *mm,
			   const struct tree_entry *en, struct place *p)
{
	const struct stamp *s;
	size_t i, best = 0;

	array_for_each (s, &mm->stamps) {
		size_t name = strlen(s->name), at = 0;

		if (!name || name <= best)
			continue;
		for (i = 0; i + 1 < en->n; at += strlen(en->parts[i++]) + 1) {
			const char *part = en->parts[i];
			size_t len = strlen(part);

			if (strncmp(s->folder, en->rel, at ? at - 1 : 0) ||
			    strlen(s->folder) != (at ? at - 1 : 0) || len < name + 2 ||
			    !str_ends(part, s->name) || part[len - name - 1] != '-')
				continue;
			*p = (struct place){s->name,
					    arena_strndup(t->im->a, part, len - name - 1), i + 1};
			best = name;
		}
	}
	return best > 0;
}

static size_t kernel_index(struct mmtests *mm, const char *name)
{
	struct mm_kernel *k;

	array_for_each (k, &mm->kernels)
		if (!strcmp(k->name, name))
			return (size_t)(k - mm->kernels.items);
	k = ARRAY_PUSH(&mm->kernels);
	*k = (struct mm_kernel){name, ""};
	return mm->kernels.n - 1;
}

/* ---- logs ---- */

/* "hackbench-4-1", "tbench-16.log", "kernbench-8-2.time": its place in logs[] and the number. */
static bool split_name(struct arena *a, const struct tree_entry *en, size_t *which,
		       const char **number)
{
	const char *name = en->parts[en->n - 1];
	size_t len = input_plain_len(name), i, n;
	char *plain = arena_strndup(a, name, len), *end;

	for (i = 0; i < ARRAY_SIZE(logs); i++) {
		n = strlen(logs[i].prefix);
		if (strncmp(plain, logs[i].prefix, n) || plain[n] != '-')
			continue;
		end = plain + n + 1;
		n = strspn(end, "0123456789");
		if (!n)
			return false;
		*which = i;
		*number = arena_strndup(a, end, n);
		end += n;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			end += 1 + strspn(end + 1, "0123456789");
		return !*end || !strcmp(end, ".log") || !strcmp(end, ".time");
	}
	return false;
}

/* "process-pipes" of the test hackbench-process-pipes; "" of tbench4. */
static const char *test_section(const char *test, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(test, prefix, n))
		return test;
	test += n + strspn(test + n, "0123456789");
	return test + (*test == '-');
}

/* The hackbench of newer mmtests is perf bench; the log says so. */
static const struct bench_def *def_of(const struct tree *t, const char *prefix, struct span text)
{
	const struct parser *parser = parser_recognise(text);

	if (!strcmp(prefix, "hackbench") && parser && !strcmp(parser->name, "perf-bench"))
		return catalog_find(t->im->cat, parser->name);
	return catalog_find(t->im->cat, prefix);
}

static int read_log(struct tree *t, struct mmtests *mm, const struct tree_entry *en,
		    const struct place *p, size_t which, const char *number)
{
	struct mm_log *log = ARRAY_PUSH(&mm->logs);
	struct parse_input in = {.exit_status = -1};
	int r = tree_read(t, en, &log->text);

	log->en = en;
	log->variant = kernel_index(mm, p->kernel);
	if (r)
		return r;
	in.text = (struct span){strbuf_str(&log->text), log->text.len};
	log->content.def = def_of(t, logs[which].prefix, in.text);
	if (!log->content.def) {
		tree_unread(t, en);
		strbuf_release(&log->text);
		mm->logs.n--;
		return 0;
	}
	r = catalog_parse(t->im->a, log->content.def, &in, &log->content.raw, t->im->e);
	if (r)
		return r;
	log->given.benchmark = log->content.def->name;
	import_param(&log->given, logs[which].param, number);
	import_section(&log->given, test_section(p->test, logs[which].prefix));
	t->runs += log->content.raw->runs.n;
	return 0;
}

/* ---- what a tree says of kernel and machine ---- */

/* "Model name:   Intel(R) ..." of lscpu; "" where the files disagree. */
static int read_lscpu(struct tree *t, struct mmtests *mm, const struct tree_entry *en)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span rest, line;
	int r = tree_read(t, en, &text);

	rest = (struct span){strbuf_str(&text), text.len};
	while (!r && span_next_line(&rest, &line, NULL)) {
		struct span value = span_trim(line);

		if (!span_starts(value, "Model name:"))
			continue;
		value.s += strlen("Model name:");
		value.len -= strlen("Model name:");
		value = span_trim(value);
		if (mm->processor && !span_is(value, mm->processor))
			mm->processor = "";
		else
			mm->processor = arena_strndup(t->im->a, value.s, value.len);
		break;
	}
	return r;
}

/* kconfig-5.17.0-rc1.txt.gz lies beside the tests: its name is that of the running kernel. */
static void take_release(struct tree *t, struct mmtests *mm, const struct tree_entry *en)
{
	const char *name = en->parts[en->n - 1];
	char *release = arena_strndup(t->im->a, name + strlen("kconfig-"),
				      input_plain_len(name) - strlen("kconfig-"));
	struct mm_kernel *k;
	size_t at = en->n - 1;

	if (str_ends(release, ".txt"))
		release[strlen(release) - strlen(".txt")] = '\0';
	if (at && is_iteration(en->parts[at - 1]))
		at--;
	k = &mm->kernels.items[kernel_index(mm, folder_name(t, en, at))];
	if (k->release && !*k->release)
		k->release = release;
	else if (!str_equal(k->release, release))
		k->release = NULL;
}

/* Files beside the tests' folders; false: not known. */
static bool is_of_machine(const struct tree_entry *en, const char *prefix)
{
	const char *name = en->parts[en->n - 1];

	return str_starts(name, prefix) && en->n >= 2 && is_iteration(en->parts[en->n - 2]);
}

static int read_entry(struct tree *t, struct mmtests *mm, const struct tree_entry *en)
{
	struct place p;
	const char *number;
	size_t which;

	if (is_stamp(en))
		return 0;
	if (is_of_machine(en, "kconfig-")) {
		take_release(t, mm, en);
		return 0;
	}
	if (is_of_machine(en, "lscpu"))
		return read_lscpu(t, mm, en);
	if ((find_new_place(t, mm, en, &p) || find_old_place(t, mm, en, &p)) &&
	    split_name(t->im->a, en, &which, &number) &&
	    (p.inside + 1 == en->n ||
	     (p.inside + 2 == en->n && (!strcmp(en->parts[p.inside], "logs") ||
					!strcmp(en->parts[p.inside], "noprofile")))))
		return read_log(t, mm, en, &p, which, number);
	tree_unread(t, en);
	return 0;
}

static void add_stamp(struct tree *t, struct mmtests *mm, const struct tree_entry *en)
{
	const char *name = en->parts[en->n - 1] + strlen("tests-timestamp");
	size_t len = strlen(en->rel) - strlen(en->parts[en->n - 1]);

	*ARRAY_PUSH(&mm->stamps) = (struct stamp){
		arena_strndup(t->im->a, en->rel, len ? len - 1 : 0), name + (*name == '-')};
}

static int mmtests_read(struct tree *t, void **data)
{
	struct mmtests *mm = arena_alloc(t->im->a, sizeof(*mm));
	const struct tree_entry *en;
	int r = 0;

	*data = mm;
	array_for_each (en, &t->entries)
		if (is_stamp(en))
			add_stamp(t, mm, en);
	array_for_each (en, &t->entries)
		if (!r && !en->folder)
			r = read_entry(t, mm, en);
	return r;
}

/* ---- writing ---- */

static bool same_given(const struct mm_log *x, const struct mm_log *y)
{
	size_t i;

	if (x->content.def != y->content.def || x->given.n != y->given.n)
		return false;
	for (i = 0; i < x->given.n; i++)
		if (strcmp(x->given.params[i].value, y->given.params[i].value))
			return false;
	return true;
}

/*
 * A log that ends before it names its parameters belongs to the test case of the logs with the same
 * test and number, where it counts as failed.
 */
static void lend_params(struct mmtests *mm, struct mm_log *log)
{
	struct parse_run *run = log->content.raw->runs.items;
	const struct mm_log *other;

	if (log->content.raw->runs.n != 1 || run->outcome != OUTCOME_ERROR || run->params.n)
		return;
	array_for_each (other, &mm->logs) {
		const struct parse_run *first = other->content.raw->runs.items;

		if (first->params.n && same_given(log, other)) {
			memcpy(&run->params, &first->params, sizeof(run->params));
			return;
		}
	}
}

static int mmtests_write(struct tree *t, void *data)
{
	struct mmtests *mm = data;
	size_t n = mm->kernels.n, i;
	struct import_variant_words *w = arena_alloc_array(t->im->a, n, sizeof(*w));
	int64_t *ids = arena_alloc_array(t->im->a, n, sizeof(*ids));
	struct mm_log *log;
	int r;

	for (i = 0; i < n; i++) {
		w[i] = import_words(mm->kernels.items[i].name);
		if (mm->kernels.items[i].release)
			w[i].release = mm->kernels.items[i].release;
	}
	r = tree_variants(t, w, n, ids);
	if (!r && mm->processor && *mm->processor)
		r = db_set_fact(t->im->db, "campaign", t->im->campaign.id, "machine",
				mm->processor, t->im->e);
	array_for_each (log, &mm->logs)
		lend_params(mm, log);
	array_for_each (log, &mm->logs)
		if (!r)
			r = import_raw(t->im, log->en->path,
				       (struct span){strbuf_str(&log->text), log->text.len},
				       &log->content, ids[log->variant], &log->given);
	return r;
}

static void mmtests_release(void *data)
{
	struct mmtests *mm = data;
	struct mm_log *log;

	if (!mm)
		return;
	array_for_each (log, &mm->logs)
		strbuf_release(&log->text);
	ARRAY_FREE(&mm->stamps);
	ARRAY_FREE(&mm->kernels);
	ARRAY_FREE(&mm->logs);
}

const struct tree_kind tree_mmtests = {
	.name = "mmtests tree",
	.is = is_mmtests,
	.read = mmtests_read,
	.write = mmtests_write,
	.release = mmtests_release,
};
