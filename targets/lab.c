// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "core/random.h"
#include "exchange/bundle.h"
#include "runner/run.h"
#include "targets/slurm.h"

struct lab_cell {
	struct plan_cell plan;
	int jobs;	    /* that were to run it and stored nothing */
	int attempts;	    /* runs that are stored */
	bool flying;	    /* part of the array in the queue */
	bool closed;	    /* nothing is to be done for it */
	const char *failed; /* why, where the node's campaign does not say it */
};

struct lab_node {
	const char *name, *campaign, *bundle, *job;
	const char *id; /* of its campaign in the database, NULL: nothing came yet */
	uint64_t seed;
	struct lab_cell *cells;
	bool flying, over;
	bool stuck;	/* the last jobs stored nothing: the node is rebooted whatever it says */
	int wrong;	/* arrays in a row that met another kernel */
	double trouble; /* since when it is down or takes no job, 0: it is fine */
	const char *why;
};

struct lab {
	struct db *db;
	struct arena *a;
	struct campaign_config *c;
	const struct lab_options *opt;
	struct err *e;
	const char *folder, **jobs;
	struct lab_node *nodes;
	size_t n_nodes, n_cells; /* cells of each node */
};

static void note(const struct lab *l, const char *text)
{
	if (l->opt->note)
		l->opt->note(text);
}

static const char *cell_file(struct lab *l, const struct lab_node *node, size_t cell,
			     const char *what)
{
	return arena_printf(l->a, "%s/%s.%zu.%s", l->folder, node->name, cell + 1, what);
}

/* ---- what came back ---- */

/* The state of the cells in the database; returns whether any has moved. */
static int read_cells(struct lab *l, struct lab_node *node, bool *moved)
{
	struct db_cell *list;
	size_t n, i;
	int ret = db_get_cells(l->db, l->a, node->id, &list, &n, l->e);

	for (i = 0; !ret && i < n; i++) {
		struct lab_cell *cell = &node->cells[list[i].seq - 1];

		if (list[i].seq < 1 || (size_t)list[i].seq > l->n_cells)
			return err_add(l->e, -EINVAL, "%s is of another plan than %s", node->bundle,
				       l->c->file);
		*moved |= list[i].attempts > cell->attempts;
		cell->attempts = list[i].attempts;
		if (!cell->closed && strcmp(list[i].state, "planned"))
			cell->closed = *moved = true;
	}
	return ret;
}

/* Takes over the node's bundle as it is now. */
static int collect(struct lab *l, struct lab_node *node, bool *moved)
{
	_cleanup_arena_ struct arena *scratch = arena_new();
	bundle_results results = {NULL, 0, 0};
	int ret;

	*moved = false;
	if (!file_exists(node->bundle))
		return 0;
	ret = bundle_merge(l->db, scratch, node->bundle, &results, l->e);
	if (!ret && (results.n != 1 || results.items[0].merged == DB_MERGED_CONFLICT))
		ret = err_add(l->e, -EINVAL, "%s is not the campaign that was collected before",
			      node->bundle);
	if (!ret)
		node->id = arena_strdup(l->a, results.items[0].campaign);
	ARRAY_FREE(&results);
	return ret ? ret : read_cells(l, node, moved);
}

/* How the last job of a cell ended, -1: it did not. */
static int exit_of(struct lab *l, const struct lab_node *node, size_t cell)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int64_t status;

	if (file_read_line(cell_file(l, node, cell, "exit"), &text) ||
	    !num_parse_int(span_of(strbuf_str(&text)), &status))
		return -1;
	return (int)status;
}

/* The last line of its log, without what the warning of `run --one` begins with. */
static const char *last_words(struct lab *l, const struct lab_node *node, size_t cell)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	static const char said[] = "kdelta: warning: " LAB_REFUSED;
	struct span rest, line, last = span_of("it left no word");

	if (file_read(cell_file(l, node, cell, "log"), 1 << 20, &log, &ignored))
		return "no job of it began";
	rest = (struct span){strbuf_str(&log), log.len};
	while (span_next_line(&rest, &line, NULL))
		if (span_trim(line).len)
			last = span_trim(line);
	if (span_starts(last, said))
		span_skip(&last, strlen(said));
	return arena_strndup(l->a, last.s, MIN(last.len, 300));
}

/* All open cells that are asked about; variant -1, cell n_cells: of any. */
static void give_up(struct lab *l, struct lab_node *node, int variant, size_t cell, const char *why)
{
	size_t i, n = 0;

	for (i = 0; i < l->n_cells; i++) {
		struct lab_cell *it = &node->cells[i];

		if (it->closed || (variant >= 0 && it->plan.variant != variant) ||
		    (cell < l->n_cells && i != cell))
			continue;
		it->closed = true;
		it->failed = why;
		n++;
	}
	note(l, arena_printf(l->a, "%s: %zu cell%s given up: %s", node->name, n, n == 1 ? "" : "s",
			     why));
}

static void give_up_node(struct lab *l, struct lab_node *node)
{
	give_up(l, node, -1, l->n_cells, arena_printf(l->a, "lost: %s", node->why));
}

/* A job that stored nothing; under another kernel its array counts as one. */
static void count_job(struct lab *l, struct lab_node *node, size_t cell)
{
	int jobs = ++node->cells[cell].jobs;

	if (jobs >= l->c->slurm.attempts)
		give_up(l, node, -1, cell,
			arena_printf(l->a, "lost: %d jobs stored nothing: %s", jobs,
				     last_words(l, node, cell)));
}

/* The array has left the queue. */
static int land(struct lab *l, struct lab_node *node)
{
	size_t i, wrong = l->n_cells;
	bool moved;
	int ret = collect(l, node, &moved);

	node->flying = false;
	for (i = 0; !ret && i < l->n_cells; i++) {
		struct lab_cell *cell = &node->cells[i];

		if (!cell->flying)
			continue;
		cell->flying = false;
		if (exit_of(l, node, i) == LAB_EXIT_REQUEUE)
			wrong = i;
		else if (!moved && !cell->closed)
			count_job(l, node, i);
	}
	node->stuck = !moved;
	node->wrong = !moved && wrong < l->n_cells ? node->wrong + 1 : 0;
	if (node->wrong < l->c->slurm.attempts)
		return ret;
	/* a kernel that the node does not get to run is not asked for any more */
	give_up(l, node, node->cells[wrong].plan.variant, l->n_cells,
		arena_printf(l->a, "wrong_kernel: %s", last_words(l, node, wrong)));
	node->wrong = 0;
	return ret;
}

/* ---- what goes out ---- */

static bool is_same_visit(const struct plan_cell *x, const struct plan_cell *y)
{
	return x->block == y->block && x->variant == y->variant;
}

/*
 * Whether Slurm must be told to reboot although the node may have the feature: the last visit was
 * of the same kernel, and a boot serves one block only; or it says that it has it and has not.
 */
static bool needs_reboot(const struct lab *l, const struct lab_node *node, size_t next)
{
	const char **features = l->c->slurm.features;
	const struct plan_cell *last = NULL, *cell = &node->cells[next].plan;
	size_t i;

	for (i = 0; i < l->n_cells; i++)
		if (node->cells[i].attempts)
			last = &node->cells[i].plan;
	return node->stuck || (last && !is_same_visit(last, cell) &&
			       !strcmp(features[last->variant], features[cell->variant]));
}

/* What the kernel of a variant had for a build-id: as the file says, else as a node saw it. */
static int build_id_of(struct lab *l, int variant, const char **build_id)
{
	struct db_variant *list;
	size_t i, n;
	int ret = 0;

	*build_id = l->c->slurm.build_ids[variant];
	for (i = 0; !ret && !*build_id && i < l->n_nodes; i++) {
		if (!l->nodes[i].id)
			continue;
		ret = db_get_variants(l->db, l->a, l->nodes[i].id, &list, &n, l->e);
		if (!ret && (size_t)variant < n && *list[variant].kernel.build_id)
			*build_id = list[variant].kernel.build_id;
	}
	return ret;
}

static void add_word(struct strbuf *sb, const char *option, const char *value)
{
	strbuf_addf(sb, " %s ", option);
	str_quote_shell(sb, value);
}

/*
 * The job. Where the site has RequeueExit=75 (lab_setup.h) Slurm starts it again, and reboots the
 * node again if the job asked for it; twice, then it is ours.
 */
static char *make_script(struct lab *l, const struct lab_node *node, const char *build_id)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "#!/bin/sh\n");
	str_quote_shell(&sb, l->c->slurm.program);
	add_word(&sb, "run", l->opt->config);
	strbuf_adds(&sb, " --one=$SLURM_ARRAY_TASK_ID");
	add_word(&sb, "--seed", arena_printf(l->a, "%llu", (unsigned long long)node->seed));
	add_word(&sb, "--campaign", node->campaign);
	add_word(&sb, "--bundle", node->bundle);
	if (build_id)
		add_word(&sb, "--build-id", build_id);
	strbuf_adds(&sb, " </dev/null\nr=$?\necho $r >");
	str_quote_shell(&sb, arena_printf(l->a, "%s/%s.", l->folder, node->name));
	strbuf_addf(&sb,
		    "$SLURM_ARRAY_TASK_ID.exit\n"
		    "[ $r -ne %d ] || [ ${SLURM_RESTART_COUNT:-0} -lt 2 ] || r=1\nexit $r\n",
		    LAB_EXIT_REQUEUE);
	return arena_strdup(l->a, strbuf_str(&sb));
}

/* The open cells of the visit of cell `next`; of a visit that needs a reboot the first alone. */
static int submit(struct lab *l, struct lab_node *node, size_t next)
{
	const struct plan_cell *first = &node->cells[next].plan;
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	struct slurm_job job = {.name = node->job, .node = node->name};
	const char *build_id;
	size_t i;
	int ret = build_id_of(l, first->variant, &build_id);

	if (ret)
		return ret;
	job.feature = l->c->slurm.features[first->variant];
	job.reboot = needs_reboot(l, node, next);
	job.log = arena_printf(l->a, "%s/%s.%%a.log", l->folder, node->name);
	job.script = make_script(l, node, build_id);
	for (i = next; i < l->n_cells && (i == next || !job.reboot); i++) {
		struct lab_cell *cell = &node->cells[i];

		if (cell->closed || !is_same_visit(&cell->plan, first))
			continue;
		cell->flying = true;
		unlink(cell_file(l, node, i, "exit"));
		strbuf_addf(&list, "%s%zu", list.len ? "," : "", i + 1);
	}
	job.cells = strbuf_str(&list);
	ret = slurm_submit(l->a, &l->c->slurm, &job, l->e);
	if (!ret)
		note(l, arena_printf(l->a, "%s: block %d, %s: cells %s%s", node->name, first->block,
				     l->c->variants[first->variant].name, job.cells,
				     job.reboot ? ", after a reboot" : ""));
	return ret;
}

/* The end of a node: its campaign in the database says of every cell what became of it. */
static int settle(struct lab *l, struct lab_node *node)
{
	struct db_campaign row;
	struct db_cell *list;
	size_t n, i;
	int ret;

	node->over = true;
	if (!node->id)
		return 0;
	ret = db_get_cells(l->db, l->a, node->id, &list, &n, l->e);
	for (i = 0; !ret && i < n; i++)
		if (!strcmp(list[i].state, "planned"))
			ret = db_set_cell(l->db, list[i].id, "failed", list[i].attempts,
					  node->cells[list[i].seq - 1].failed, l->e);
	if (!ret)
		ret = db_find_campaign(l->db, l->a, node->id, &row, l->e);
	if (ret || row.ended)
		return ret;
	row.ended = time(NULL);
	return db_set_campaign(l->db, &row, l->e);
}

/* Trouble that lasts longer than a boot may is the end of the node. */
static bool is_lost(struct lab *l, struct lab_node *node, bool trouble, const char *why)
{
	if (!trouble) {
		node->trouble = 0;
		return false;
	}
	node->why = why;
	if (!node->trouble)
		node->trouble = num_monotonic();
	return num_monotonic() - node->trouble >= l->c->slurm.boot_deadline;
}

static size_t first_open(const struct lab *l, const struct lab_node *node)
{
	size_t i = 0;

	while (i < l->n_cells && node->cells[i].closed)
		i++;
	return i;
}

/* sbatch may fail for a while, as where slurmctld restarts. */
static int try_submit(struct lab *l, struct lab_node *node)
{
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *outer = l->e;
	int ret;

	l->e = &why;
	ret = submit(l, node, first_open(l, node));
	l->e = outer;
	node->flying = !ret;
	if (ret == -EINTR)
		return 0;
	if (is_lost(l, node, ret != 0, arena_strdup(l->a, err_text(&why))))
		give_up_node(l, node);
	return 0;
}

/* One node, as Slurm sees it now. */
static int step(struct lab *l, struct lab_node *node, const struct slurm_sight *sight)
{
	int ret = 0;

	if (sight->down && is_lost(l, node, true, "the node is down")) {
		slurm_cancel(l->a, node->job, l->e);
		ret = land(l, node);
		give_up_node(l, node);
		return ret ? ret : settle(l, node);
	}
	if (sight->held)
		return slurm_cancel(l->a, node->job, l->e);
	if (sight->queued) {
		node->flying = true;
		node->trouble = sight->down ? node->trouble : 0;
		return 0;
	}
	if (node->flying)
		ret = land(l, node);
	if (ret)
		return ret;
	if (first_open(l, node) == l->n_cells)
		return settle(l, node);
	return sight->down ? 0 : try_submit(l, node);
}

static bool is_over(const struct lab *l)
{
	size_t i;

	for (i = 0; i < l->n_nodes; i++)
		if (!l->nodes[i].over)
			return false;
	return true;
}

static int look(struct lab *l, struct slurm_sight *sight, double *silent)
{
	_cleanup_arena_ struct arena *scratch = arena_new();
	_cleanup_err_ struct err why = ERR_INIT;
	int ret = slurm_look(scratch, &l->c->slurm, l->jobs, sight, &why);

	if (!ret) {
		*silent = 0;
		return 0;
	}
	if (!*silent)
		*silent = num_monotonic();
	if (num_monotonic() - *silent < l->c->slurm.boot_deadline)
		return -EAGAIN;
	return err_add(l->e, ret, "%s", err_text(&why));
}

static int drive(struct lab *l)
{
	struct slurm_sight *sight = arena_alloc_array(l->a, l->n_nodes, sizeof(*sight));
	double silent = 0;
	size_t i;
	int ret = 0;

	while (!ret && !is_over(l) && !proc_interrupted()) {
		ret = look(l, sight, &silent);
		for (i = 0; !ret && i < l->n_nodes && !proc_interrupted(); i++)
			if (!l->nodes[i].over)
				ret = step(l, &l->nodes[i], &sight[i]);
		if (ret == -EAGAIN)
			ret = 0;
		if (!ret && !is_over(l) && !proc_interrupted())
			usleep((useconds_t)(l->c->slurm.poll * 1e6));
	}
	return ret;
}

/* ---- the beginning and the end ---- */

/* The seed of the campaign, kept in its folder; the folder is locked until we end. */
static int open_folder(struct lab *l)
{
	const char *path = arena_printf(l->a, "%s/seed", l->folder), *text;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int64_t seed = (int64_t)run_seed(l->c);
	int ret, fd;

	if (!file_exists(path) && l->opt->resume)
		return err_add(l->e, -ENOENT, "no campaign waits in %s: leave --resume out",
			       l->folder);
	if (file_exists(path) && !l->opt->resume) {
		err_add(l->e, -EEXIST, "%s is of a campaign that has begun", l->folder);
		err_hint(l->e, "go on with --resume; or remove the folder, or name this one anew "
			       "with --campaign");
		return -EEXIST;
	}
	ret = file_make_dirs(l->folder, l->e);
	text = arena_printf(l->a, "%lld\n", (long long)seed);
	if (!ret && !file_exists(path))
		ret = file_write_atomic(path, text, strlen(text), l->e);
	if (ret)
		return ret;
	if (file_read_line(path, &sb) || !num_parse_int(span_of(strbuf_str(&sb)), &seed))
		return err_add(l->e, -EINVAL, "%s holds no seed", path);
	l->c->seed = (uint64_t)seed;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return err_add_errno(l->e, "cannot lock %s (another kdelta?)", path);
	return 0;
}

static int open_node(struct lab *l, size_t i)
{
	struct lab_node *node = &l->nodes[i];
	uint64_t state = l->c->seed + i * 0x9e3779b97f4a7c15u;
	struct campaign_config own = *l->c;
	struct plan_cell *plan;
	bool moved;
	size_t k;

	node->name = l->c->slurm.nodes[i];
	node->seed = own.seed = random_next(&state) % 999999999 + 1;
	node->campaign = arena_printf(l->a, "%s-%s", l->c->name, node->name);
	node->bundle = arena_printf(l->a, "%s/%s.tar.zst", l->folder, node->name);
	node->job = l->jobs[i] = arena_printf(l->a, "kdelta-%s-%llu-%s", l->c->name,
					      (unsigned long long)l->c->seed, node->name);
	plan = plan_make(l->a, &own, &l->n_cells);
	node->cells = arena_alloc_array(l->a, l->n_cells, sizeof(*node->cells));
	for (k = 0; k < l->n_cells; k++)
		node->cells[k].plan = plan[k];
	return collect(l, node, &moved);
}

static void count(const struct lab *l, struct lab_report *report)
{
	struct db_cell *list;
	size_t i, k, n;

	for (i = 0; i < l->n_nodes; i++) {
		report->runs += (int)l->n_cells;
		if (!l->nodes[i].id)
			continue;
		*ARRAY_PUSH(&report->campaigns) = l->nodes[i].campaign;
		if (db_get_cells(l->db, l->a, l->nodes[i].id, &list, &n, l->e))
			continue;
		for (k = 0; k < n; k++)
			report->done += !strcmp(list[k].state, "done");
	}
	report->interrupted = proc_interrupted() != 0;
	report->failed = report->interrupted ? 0 : report->runs - report->done;
}

int lab_run(struct db *db, struct arena *a, struct campaign_config *c,
	    const struct lab_options *opt, struct lab_report *report, struct err *e)
{
	struct lab l = {.db = db, .a = a, .c = c, .opt = opt, .e = e};
	size_t i;
	int ret;

	proc_init();
	l.folder = arena_printf(a, "%s/%s", c->slurm.folder, c->name);
	ret = open_folder(&l);
	while (c->slurm.nodes[l.n_nodes])
		l.n_nodes++;
	l.nodes = arena_alloc_array(a, l.n_nodes, sizeof(*l.nodes));
	l.jobs = arena_alloc_array(a, l.n_nodes + 1, sizeof(*l.jobs));
	for (i = 0; !ret && i < l.n_nodes; i++)
		ret = open_node(&l, i);
	if (!ret)
		ret = drive(&l);
	if (ret)
		return ret;
	count(&l, report);
	/* the next one of the name begins anew; logs and bundles stay */
	if (is_over(&l) && rename(l.folder, arena_printf(a, "%s-%llu", l.folder,
							 (unsigned long long)c->seed)))
		return err_add_errno(e, "cannot rename %s", l.folder);
	return 0;
}
