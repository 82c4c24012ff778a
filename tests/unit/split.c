// SPDX-License-Identifier: GPL-2.0-or-later
/* `repeat: auto` from a history made by hand; the order of further blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "machine/host.h"
#include "runner/run.h"

struct world {
	struct arena *a;
	struct db *db;
	struct err e;
	struct db_campaign row;
	int64_t variant, test, metric;
};

#define ok(call) assert_int_equal(call, 0)

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct db_machine machine;

	w->a = arena_new();
	w->row = (struct db_campaign){.name = "h",
				      .kind = "run",
				      .unit = "boot",
				      .backend = "qemu",
				      .accelerator = "kvm",
				      .created = 1000};
	ok(db_open(NULL, DB_MEMORY, &w->db, &w->e));
	machine_read(w->a, &machine);
	ok(db_put_machine(w->db, &machine, &w->row.machine_id, &w->e));
	ok(db_add_campaign(w->db, w->a, &w->row, &w->e));
	ok(db_put_variant(w->db, "v", 0, NULL, &w->variant, &w->e));
	ok(db_put_case(w->db, &(struct db_case){.identity = "t", .benchmark = "b", .name = "t"},
		       &w->test, &w->e));
	ok(db_put_metric(w->db,
			 &(struct db_metric){.name = "b.x",
					     .role = "headline",
					     .direction = DIR_LOWER,
					     .mean_kind = MEAN_AMEAN},
			 &w->metric, &w->e));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	db_close(w->db);
	err_release(&w->e);
	arena_free(w->a);
	free(w);
	return 0;
}

static void add_boot(struct world *w, const double *logs, size_t n)
{
	struct db_boot boot = {.campaign = w->row.id, .variant_id = w->variant, .started = 1};
	struct db_run run = {.campaign = w->row.id,
			     .variant_id = w->variant,
			     .case_id = w->test,
			     .outcome = "ok",
			     .started = 1};
	size_t i;

	ok(db_add_boot(w->db, &boot, &run.boot_id, &w->e));
	for (i = 0; i < n; i++) {
		ok(db_add_run(w->db, &run, &run.id, &w->e));
		ok(db_add_sample(w->db, run.id, w->metric, exp(logs[i]), &w->e));
	}
}

static struct campaign_config config(void)
{
	return (struct campaign_config){.backend = "qemu",
					.auto_repeat = true,
					.auto_runs = true,
					.n_cases = 2,
					.n_variants = 2,
					.repeat = 1,
					.runs = 1};
}

/*
 * Within boots variance 2, between them 7 (see test_components); a boot costs 70 s, two test cases
 * of 1 s each 2 s: sqrt(70 / 2 * 2 / 7) = sqrt(10) runs.
 */
static void the_history_decides(void **state)
{
	struct world *w = *state;
	struct campaign_config c = config();
	const char *why;

	ok(run_split(w->db, w->a, &c, "kvm", &why, &w->e));
	assert_int_equal(c.repeat, 5);
	assert_int_equal(c.runs, 1);
	assert_non_null(strstr(why, "no campaign of this machine"));
	add_boot(w, (const double[]){1, 3}, 2);
	add_boot(w, (const double[]){5, 7}, 2);
	ok(db_set_fact(w->db, "campaign", w->row.id, "time_split.boot", "140", &w->e));
	ok(db_set_fact(w->db, "campaign", w->row.id, "time_split.run", "4", &w->e));
	ok(run_split(w->db, w->a, &c, "kvm", &why, &w->e));
	assert_int_equal(c.runs, 4);
	assert_non_null(strstr(why, "a boot costs 1m 10s, one run of each test case 2.0s"));
	assert_non_null(strstr(why, w->row.id));
	/* emulated guests are other guests; a stated number stays */
	c = config();
	ok(run_split(w->db, w->a, &c, "tcg", &why, &w->e));
	assert_int_equal(c.runs, 1);
	c.auto_runs = false;
	c.runs = 3;
	ok(run_split(w->db, w->a, &c, "kvm", &why, &w->e));
	assert_int_equal(c.runs, 3);
	c.auto_repeat = false;
	ok(run_split(w->db, w->a, &c, "kvm", &why, &w->e));
	assert_null(why);
}

/* Blocks added to two variants make up for the lead of the earlier ones. */
static void further_blocks_stay_balanced(void **state)
{
	struct world *w = *state;
	struct campaign_config c = config();
	int lead, begins, i;
	size_t n;

	c.n_cases = 1;
	for (c.seed = 1; c.seed <= 20; c.seed++) {
		for (lead = -1; lead <= 1; lead++) {
			struct plan_cell *plan = plan_add(w->a, &c, 6, 5, &lead, &n);

			assert_int_equal(n, 10);
			for (i = begins = 0; i < 5; i++) {
				assert_int_equal(plan[2 * i].block, 6 + i);
				begins += plan[2 * i].variant ? -1 : 1;
			}
			assert_in_range(lead + begins + 1, 0, 2);
			assert_true(!lead || lead + begins == 0);
		}
	}
}

static void runs_of_a_boot_stand_together(void **state)
{
	static const int tests[] = {0, 1, 0, 1, 0, 1};
	struct world *w = *state;
	struct campaign_config c = config();
	struct plan_cell *plan;
	size_t n, i;

	c.runs = 3;
	plan = plan_make(w->a, &c, &n);
	assert_int_equal(n, 12);
	for (i = 0; i < 6; i++) {
		assert_int_equal(plan[i].test, tests[i]);
		assert_int_equal(plan[i].variant, plan[0].variant);
		assert_int_equal(plan[i + 6].variant, !plan[0].variant);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_history_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(further_blocks_stay_balanced, setup, teardown),
		cmocka_unit_test_setup_teardown(runs_of_a_boot_stand_together, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
