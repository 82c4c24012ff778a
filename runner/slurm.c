// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/slurm.h"

#include <errno.h>
#include <string.h>

#include "core/proc.h"

#define SLURM_SECONDS 120.0

/* As slurm_ask(); input and out may be NULL. */
static int call(const char *const *argv, const char *input, struct strbuf *out, struct err *e)
{
	const struct proc_spec spec = {.argv = argv, .input = input, .deadline = SLURM_SECONDS};
	struct proc_result p;
	int ret = proc_run(&spec, &p, e);
	struct span said;

	if (ret)
		return ret;
	said = span_trim((struct span){strbuf_str(&p.err), p.err.len});
	if (!p.started)
		ret = err_add(e, -ENOENT, "cannot start %s: %s", argv[0], strerror(p.start_errno));
	else if (p.interrupted)
		ret = -EINTR;
	else if (p.exit_status)
		ret = err_add(e, -EIO, "%s: %.*s", argv[0], (int)MIN(said.len, 500), said.s);
	else if (out)
		strbuf_add(out, strbuf_str(&p.out), p.out.len);
	proc_result_release(&p);
	return ret;
}

int slurm_ask(const char *const *argv, struct strbuf *out, struct err *e)
{
	return call(argv, NULL, out, e);
}

int slurm_submit(struct arena *a, const struct slurm_config *c, const struct slurm_job *job,
		 struct err *e)
{
	const char *argv[16];
	size_t n = 0;

	argv[n++] = "sbatch";
	argv[n++] = "--exclusive";
	argv[n++] = "--nodes=1";
	argv[n++] = arena_printf(a, "--nodelist=%s", job->node);
	argv[n++] = arena_printf(a, "--constraint=%s", job->feature);
	argv[n++] = arena_printf(a, "--job-name=%s", job->name);
	argv[n++] = arena_printf(a, "--array=%s%%1", job->cells);
	argv[n++] = arena_printf(a, "--output=%s", job->log);
	if (c->partition)
		argv[n++] = arena_printf(a, "--partition=%s", c->partition);
	if (job->reboot)
		argv[n++] = "--reboot";
	argv[n] = NULL;
	return call(argv, job->script, NULL, e);
}

/* The index of a word in a list, or -1. */
static int index_of(const char *const *list, struct span word)
{
	int i;

	for (i = 0; list[i]; i++)
		if (span_is(word, list[i]))
			return i;
	return -1;
}

/* "idle", "allocated#", "down*" (does not answer), "drained", "draining", "fail": see sinfo(1) */
static bool is_down(struct span state)
{
	return span_starts(state, "down") || span_starts(state, "drain") ||
	       span_starts(state, "fail") || (state.len && state.s[state.len - 1] == '*');
}

/* Text up to '|'. */
static struct span next_field(struct span *line)
{
	const char *bar = memchr(line->s, '|', line->len);
	struct span field = {line->s, bar ? (size_t)(bar - line->s) : line->len};

	span_skip(line, field.len + (bar != NULL));
	return span_trim(field);
}

char *slurm_join(struct arena *a, const char *const *words)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (; *words; words++)
		strbuf_addf(&sb, "%s%s", sb.len ? "," : "", *words);
	return arena_strdup(a, strbuf_str(&sb));
}

int slurm_look(struct arena *a, const struct slurm_config *c, const char *const *jobs,
	       struct slurm_sight *sight, struct err *e)
{
	/* "kdelta-lab-7-n1|(JobHeldUser)": name and why it waits */
	const char *const queue[] = {"squeue", "-h", "-r", "-o", "%j|%r", "--name", slurm_join(a, jobs),
				     NULL};
	/* "n1|down*" */
	const char *const nodes[] = {"sinfo", "-h", "-N", "-o", "%N|%T", "-n", slurm_join(a, c->nodes),
				     NULL};
	_cleanup_strbuf_ struct strbuf jobs_out = STRBUF_INIT, nodes_out = STRBUF_INIT;
	struct span rest, line;
	int i, ret = call(queue, NULL, &jobs_out, e);

	if (!ret)
		ret = call(nodes, NULL, &nodes_out, e);
	if (ret)
		return ret;
	for (i = 0; c->nodes[i]; i++)
		sight[i] = (struct slurm_sight){0};
	rest = (struct span){strbuf_str(&jobs_out), jobs_out.len};
	while (span_next_line(&rest, &line, NULL)) {
		i = index_of(jobs, next_field(&line));
		if (i < 0)
			continue;
		sight[i].queued = true;
		sight[i].held |= span_find(line, "eld") != NULL; /* JobHeldAdmin, "... held" */
	}
	rest = (struct span){strbuf_str(&nodes_out), nodes_out.len};
	while (span_next_line(&rest, &line, NULL)) {
		i = index_of(c->nodes, next_field(&line));
		if (i >= 0)
			sight[i].down |= is_down(span_trim(line));
	}
	return 0;
}

int slurm_cancel(struct arena *a, const char *name, struct err *e)
{
	const char *const argv[] = {"scancel", arena_printf(a, "--name=%s", name), NULL};

	return call(argv, NULL, NULL, e);
}
