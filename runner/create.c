// SPDX-License-Identifier: GPL-2.0-or-later
/* A new campaign's rows: variants, test cases, the plan, and facts that explain its numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jobs/count.h"
#include "kernels/source.h"
#include "machine/host.h"
#include "runner/session.h"

int session_put_kernel(struct session *s, size_t i)
{
	const struct variant_config *config = &s->c->variants[i];
	struct session_variant *v = &s->variants[i];
	const struct kernel_found *k = &v->kernel;
	const struct db_kernel kernel = {
		.identity = or_empty(k->identity),
		.release = or_empty(k->release),
		.version = or_empty(k->version),
		.build_id = or_empty(k->build_id),
		.image_sha256 = or_empty(k->image_sha256),
		.source = or_empty(k->source),
		.commit = or_empty(k->commit ? k->commit : config->commit),
	};

	return db_put_kernel(s->db, &kernel, &v->kernel_id, s->e);
}

/* Two names of one kernel: a package and what it leads to, an image and its copy. */
static int check_twins(struct session *s, size_t i)
{
	const struct variant_config *list = s->c->variants;
	size_t k = 0;

	/* of a campaign that grows some are not known yet */
	while (k < i && (!s->variants[k].identity ||
			 strcmp(s->variants[k].identity, s->variants[i].identity)))
		k++;
	if (k == i)
		return 0;
	err_add(s->e, -EINVAL, "'%s' is the same as '%s': one kernel (%s) and the same settings",
		list[i].name, list[k].name, or_empty(s->variants[i].kernel.release));
	err_hint(s->e, "to compare a variant with itself write it as {name: %s, same_as: %s}",
		 list[i].name, list[k].name);
	err_at(s->e, s->c->file, list[i].line, list[i].column);
	return -EINVAL;
}

int session_add_variant(struct session *s, size_t i)
{
	const struct variant_config *config = &s->c->variants[i];
	struct session_variant *v = &s->variants[i];
	int ret = check_twins(s, i);

	if (!ret)
		ret = session_put_kernel(s, i);
	if (!ret)
		ret = db_put_variant(s->db, v->identity, v->kernel_id, session_settings(s, i),
				     &v->id, s->e);
	if (!ret)
		ret = db_add_campaign_variant(s->db, s->row.id, v->id, (int)i, config->name,
					      or_empty(config->description), i == 0, s->e);
	return ret;
}

static int add_case(struct session *s, size_t i)
{
	const struct test_case *c = &s->c->cases[i];
	const struct db_case row = {
		.identity = c->identity,
		.benchmark = c->bench->name,
		.name = c->name,
		.params = case_params_json(s->a, c),
		.swept = case_swept_json(s->a, c),
		.description = case_describe(s->a, c),
		.command = case_command(s->a, c),
		.expected = c->expected,
	};
	int ret = db_put_case(s->db, &row, &s->cases[i].id, s->e);

	return ret ? ret
		   : db_add_campaign_case(s->db, s->row.id, s->cases[i].id, (int)i, c->expected,
					  s->e);
}

/*
 * Of two variants: how many more blocks began with the first one than with the second; in flip
 * mode of each test case.
 */
static int *order_lead(const struct session *s)
{
	int *lead = arena_alloc_array(s->a, s->c->n_cases, sizeof(*lead));
	int *block = arena_alloc_array(s->a, s->c->n_cases, sizeof(*block));
	size_t i, t;

	for (i = 0; i < s->n_cells; i++) {
		t = s->c->flip ? session_case_index(s, &s->cells[i]) : 0;
		if (s->cells[i].block == block[t])
			continue;
		block[t] = s->cells[i].block;
		lead[t] += session_variant_index(s, &s->cells[i]) ? -1 : 1;
	}
	return lead;
}

int session_add_blocks(struct session *s, int blocks, session_want_fn wanted)
{
	int seq = s->n_cells ? s->cells[s->n_cells - 1].seq : 0, ret = 0;
	struct plan_cell *plan;
	size_t n, i;

	plan = plan_add(s->a, s->c, s->row.repeat + 1, blocks, order_lead(s), &n);
	for (i = 0; !ret && i < n; i++) {
		const struct db_cell cell = {
			.seq = seq + 1,
			.block = plan[i].block,
			.variant_id = s->variants[plan[i].variant].id,
			.case_id = s->cases[plan[i].test].id,
			.state = "planned",
			.reason = "",
		};

		if (wanted && !wanted(s, (size_t)plan[i].variant, (size_t)plan[i].test))
			continue;
		ret = db_add_cell(s->db, s->row.id, &cell, s->e);
		seq++;
	}
	s->row.repeat += blocks;
	return ret ? ret : db_set_campaign(s->db, &s->row, s->e);
}

static int add_facts(struct session *s)
{
	const struct db_fact *calibrated;
	size_t i;
	int ret = 0;

	array_for_each (calibrated, &s->calibrated)
		if (!ret)
			ret = db_set_fact(s->db, "campaign", s->row.id, calibrated->key,
					  calibrated->value, s->e);
	if (s->opt->until_sure) {
		s->until_sure = true;
		s->design = "until-sure";
		if (!ret)
			ret = session_set_fact(s, "design", s->design);
	}
	if (!ret && s->c->flip)
		ret = session_set_fact(s, "order", ORDER_FLIP);
	if (!ret && s->c->runs > 1)
		ret = session_set_fact(s, "runs_per_boot", arena_printf(s->a, "%d", s->c->runs));
	if (!ret && s->backend.counting)
		ret = session_set_fact(s, COUNT_FACT, s->backend.counting);
	for (i = 0; !ret && i < s->c->n_cases; i++)
		if (s->c->cases[i].build_dir)
			ret = db_set_fact(s->db, "campaign", s->row.id, "compiler",
					  source_compiler(s->a), s->e);
	return ret;
}

/* The whole campaign with its plan appears in the database at once, or not at all. */
static int create_rows(struct session *s, int unused)
{
	_cleanup_free_ char *path = realpath(s->c->file, NULL);
	struct db_machine machine;
	size_t i;
	int ret;

	(void)unused;
	s->c->seed = run_seed(s->c);
	if (s->opt->until_sure)
		s->c->repeat = run_look_units(1);
	s->row = (struct db_campaign){
		.name = s->c->name,
		.kind = s->grows ? "bisect" : "run",
		.unit = s->c->flip ? "run" : s->backend.ops->unit,
		.backend = s->backend.ops->name,
		.accelerator = or_empty(s->backend.accelerator),
		.config = s->c->text,
		.config_path = path ? arena_strdup(s->a, path) : s->c->file,
		.source = "",
		.created = time(NULL),
		.seed = (int64_t)s->c->seed,
	};
	backend_read_machine(&s->backend, &machine);
	ret = db_put_machine(s->db, &machine, &s->row.machine_id, s->e);
	if (!ret)
		ret = db_add_campaign(s->db, s->a, &s->row, s->e);
	for (i = 0; !ret && i < s->c->n_variants && !s->grows; i++)
		ret = session_add_variant(s, i);
	for (i = 0; !ret && i < s->c->n_cases; i++)
		ret = add_case(s, i);
	if (!ret && !s->grows)
		ret = session_add_blocks(s, s->c->repeat, NULL);
	return ret ? ret : add_facts(s);
}

int session_create(struct session *s)
{
	int ret = session_check_budget(s);

	if (!ret)
		ret = session_calibrate(s);
	return ret ? ret : session_in_transaction(s, create_rows, 0);
}
