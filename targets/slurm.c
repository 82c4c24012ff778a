// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/slurm.h"

#include <string.h>

#include "kernels/step.h"

#define SLURM_SECONDS 120.0

static int call(struct arena *a, const char *const *argv, const char *input, const char **out,
		struct err *e)
{
	struct step step = {.a = a, .e = e, .input = input, .deadline = SLURM_SECONDS};
	int ret = step_run(&step, NULL, argv);

	if (out)
		*out = ret ? "" : step.out;
	return ret;
}

int slurm_ask(struct arena *a, const char *const *argv, const char **out, struct err *e)
{
	return call(a, argv, NULL, out, e);
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
	return call(a, argv, job->script, NULL, e);
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
	const char *jobs_out, *nodes_out;
	struct span rest, line;
	int i, ret = slurm_ask(a, queue, &jobs_out, e);

	if (!ret)
		ret = slurm_ask(a, nodes, &nodes_out, e);
	if (ret)
		return ret;
	for (i = 0; c->nodes[i]; i++)
		sight[i] = (struct slurm_sight){0};
	rest = span_of(jobs_out);
	while (span_next_line(&rest, &line, NULL)) {
		i = index_of(jobs, next_field(&line));
		if (i < 0)
			continue;
		sight[i].queued = true;
		sight[i].held |= span_find(line, "eld") != NULL; /* JobHeldAdmin, "... held" */
	}
	rest = span_of(nodes_out);
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

	return slurm_ask(a, argv, NULL, e);
}
