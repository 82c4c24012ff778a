// SPDX-License-Identifier: GPL-2.0-or-later
/* `run --one`: one cell of the plan, in a job on a machine that others boot. */
#include <errno.h>
#include <string.h>

#include "machine/host.h"
#include "runner/session.h"

int session_check_one(struct session *s)
{
	struct running_kernel now;
	struct plan_cell *plan;
	const char *name;
	size_t n, variant;

	if (!s->backend.ops->is_running)
		return err_add(s->e, -EINVAL, "--one is for the backends slurm and manual");
	plan = plan_make(s->a, s->c, &n);
	if (s->opt->one > (int)n)
		return err_add(s->e, -EINVAL, "there is no cell %d: the plan has %zu", s->opt->one,
			       n);
	variant = (size_t)plan[s->opt->one - 1].variant;
	name = s->c->variants[variant].name;
	machine_read_kernel(s->a, &now);
	if (!s->backend.ops->is_running(&s->backend, (int)variant))
		s->report->refused =
			arena_printf(s->a, "the running kernel %s (%s) is not that of '%s'",
				     now.release, now.version, name);
	else if (s->opt->build_id && strcmp(s->opt->build_id, now.build_id))
		s->report->refused = arena_printf(
			s->a, "the running kernel %s has the build-id %s, that of '%s' is %s",
			now.release, *now.build_id ? now.build_id : "(none)", name,
			s->opt->build_id);
	return 0;
}

static int run_in_visit(struct session *s, size_t variant, struct db_cell *cell)
{
	struct open_visit o;
	int ret = session_open(s, cell->block, variant, NULL, &o);

	if (ret)
		return ret;
	/* its build-id is another one than that of earlier boots */
	if (str_equal(o.v.error, "wrong_kernel"))
		s->report->refused = o.v.message;
	else
		ret = session_run_cell(s, &o, cell);
	return session_close(s, &o, ret);
}

int session_run_one(struct session *s)
{
	struct db_cell *cell = NULL;
	size_t i, variant;
	bool may;
	int ret;

	s->report->campaign = s->row.id;
	for (i = 0; i < s->n_cells && !cell; i++)
		if (s->cells[i].seq == s->opt->one)
			cell = &s->cells[i];
	if (!cell)
		return err_add(s->e, -ENOENT, "%s has no cell %d", s->row.id, s->opt->one);
	if (strcmp(cell->state, "planned"))
		return 0;
	variant = session_variant_index(s, cell);
	ret = session_may_visit(s, cell->block, variant, &may);
	if (ret)
		return ret;
	if (may)
		return run_in_visit(s, variant, cell);
	s->report->refused = "this boot has measured for another block: the cell needs a new one";
	return 0;
}
