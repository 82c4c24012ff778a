// SPDX-License-Identifier: GPL-2.0-or-later
/* The way into a kernel: every step against every event and every look at the target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "targets/boot_state.h"

static struct arena *arena;

/* What a target may run when it is looked at. */
enum view { OLD_BOOT, WANTED, WANTED_ALONE, OTHER_BUILD, OTHER_OURS, SAFE, THIRD, VIEWS };
static const struct boot_sight views[] = {
	[OLD_BOOT] = {"boot-1", "6.0-safe", "#1 SMP safe", "5afe", ""},
	[WANTED] = {"boot-2", "6.1-new", "#1 SMP new", "abcd", "token-1"},
	/* the right kernel, but not booted by us: nothing is known of its command line */
	[WANTED_ALONE] = {"boot-2", "6.1-new", "#1 SMP new", "abcd", ""},
	[OTHER_BUILD] = {"boot-2", "6.1-new", "#2 SMP new", "ffff", "token-1"},
	[OTHER_OURS] = {"boot-2", "6.2-other", "#1 SMP other", "eeee", "token-1"},
	[SAFE] = {"boot-2", "6.0-safe", "#1 SMP safe", "5afe", ""},
	[THIRD] = {"boot-2", "5.0-third", "#1 SMP third", "3333", ""},
};

static struct boot_state at(enum boot_step step, int attempt)
{
	return (struct boot_state){
		.step = step,
		.attempt = attempt,
		.token = "token-1",
		.release = "6.1-new",
		.version = "6.1-new (somebody) #1 SMP new",
		.build_id = "abcd",
		.safe = "6.0-safe",
		.boot_id = step == BOOT_PLANNED ? "" : step >= BOOT_VERIFIED ? "boot-2" : "boot-1",
		.reason = "",
		.message = "",
	};
}

struct row {
	enum boot_step step, then;
	enum boot_action action;
	const char *reason; /* "": none */
};

static void check(enum boot_step step, int attempt, enum boot_event event,
		  const struct boot_sight *sight, struct row want)
{
	struct boot_state s = at(step, attempt);
	enum boot_action action = boot_state_step(&s, arena, event, sight);

	if (action != want.action || s.step != want.then || strcmp(s.reason, want.reason))
		fail_msg("%s, event %d, sight %s/%s: action %d, %s (%s), expected %d, %s (%s)",
			 boot_step_name(step), (int)event, sight ? sight->boot_id : "-",
			 sight ? sight->release : "-", (int)action, boot_step_name(s.step), s.reason,
			 (int)want.action, boot_step_name(want.then), want.reason);
	if (s.step == BOOT_FAILED && step != BOOT_FAILED)
		assert_true(*s.message && !str_ends(s.message, "."));
}

static void test_seen(void **state)
{
	int v;

	(void)state;
	for (v = 0; v < VIEWS; v++) {
		/* planned: whatever runs now, it is armed, and its boot id is kept */
		check(BOOT_PLANNED, 0, BOOT_SEEN, &views[v],
		      (struct row){BOOT_PLANNED, BOOT_ARMED, BOOT_DO_ARM, ""});
		check(BOOT_COLLECTED, 1, BOOT_SEEN, &views[v],
		      (struct row){BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""});
		check(BOOT_FAILED, 1, BOOT_SEEN, &views[v],
		      (struct row){BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""});
	}
	/* the old boot: not restarted yet */
	check(BOOT_ARMED, 1, BOOT_SEEN, &views[OLD_BOOT],
	      (struct row){BOOT_ARMED, BOOT_ARMED, BOOT_DO_ARM, ""});
	check(BOOT_BOOTING, 1, BOOT_SEEN, &views[OLD_BOOT],
	      (struct row){BOOT_BOOTING, BOOT_BOOTING, BOOT_DO_WAIT, ""});
	for (v = BOOT_ARMED; v <= BOOT_BOOTING; v++) {
		enum boot_step step = (enum boot_step)v;

		check(step, 1, BOOT_SEEN, &views[WANTED],
		      (struct row){step, BOOT_VERIFIED, BOOT_DO_WAIT, ""});
		check(step, 1, BOOT_SEEN, &views[OTHER_BUILD],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "wrong_kernel"});
		check(step, 1, BOOT_SEEN, &views[OTHER_OURS],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "wrong_kernel"});
		check(step, 1, BOOT_SEEN, &views[THIRD],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "wrong_kernel"});
		check(step, 1, BOOT_SEEN, &views[WANTED_ALONE],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "wrong_kernel"});
		/* fell back: once more, then not */
		check(step, 1, BOOT_SEEN, &views[SAFE],
		      (struct row){step, BOOT_PLANNED, BOOT_DO_WAIT, ""});
		check(step, BOOT_ATTEMPTS, BOOT_SEEN, &views[SAFE],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "no_boot"});
	}
	for (v = BOOT_VERIFIED; v <= BOOT_RUNNING; v++) {
		enum boot_step step = (enum boot_step)v;
		int i;

		check(step, 1, BOOT_SEEN, &views[OLD_BOOT],
		      (struct row){step, BOOT_FAILED, BOOT_DO_LEAVE, "lost"});
		for (i = WANTED; i < VIEWS; i++) /* the boot that was verified */
			check(step, 1, BOOT_SEEN, &views[i],
			      (struct row){step, step, BOOT_DO_MEASURE, ""});
	}
}

static void test_events(void **state)
{
	static const struct {
		enum boot_event event;
		int attempt;
		struct row rows[7];
	} table[] = {
		{BOOT_REFUSED,
		 1,
		 {{BOOT_PLANNED, BOOT_PLANNED, BOOT_DO_WAIT, ""},
		  {BOOT_ARMED, BOOT_FAILED, BOOT_DO_LEAVE, "config_error"},
		  {BOOT_BOOTING, BOOT_PLANNED, BOOT_DO_WAIT, ""},
		  {BOOT_VERIFIED, BOOT_VERIFIED, BOOT_DO_WAIT, ""},
		  {BOOT_RUNNING, BOOT_RUNNING, BOOT_DO_WAIT, ""},
		  {BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""}}},
		{BOOT_READY,
		 1,
		 {{BOOT_PLANNED, BOOT_PLANNED, BOOT_DO_WAIT, ""},
		  {BOOT_ARMED, BOOT_BOOTING, BOOT_DO_RESTART, ""},
		  {BOOT_BOOTING, BOOT_BOOTING, BOOT_DO_WAIT, ""},
		  {BOOT_VERIFIED, BOOT_RUNNING, BOOT_DO_MEASURE, ""},
		  {BOOT_RUNNING, BOOT_RUNNING, BOOT_DO_WAIT, ""},
		  {BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""}}},
		{BOOT_DEADLINE,
		 1,
		 {{BOOT_PLANNED, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_ARMED, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_BOOTING, BOOT_FAILED, BOOT_DO_LEAVE, "hang"},
		  {BOOT_VERIFIED, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_RUNNING, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""}}},
		{BOOT_BROKEN,
		 1,
		 {{BOOT_PLANNED, BOOT_PLANNED, BOOT_DO_WAIT, ""},
		  {BOOT_ARMED, BOOT_ARMED, BOOT_DO_WAIT, ""},
		  {BOOT_BOOTING, BOOT_BOOTING, BOOT_DO_WAIT, ""},
		  {BOOT_VERIFIED, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_RUNNING, BOOT_FAILED, BOOT_DO_LEAVE, "lost"},
		  {BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""}}},
		{BOOT_END,
		 1,
		 {{BOOT_PLANNED, BOOT_PLANNED, BOOT_DO_WAIT, ""},
		  {BOOT_ARMED, BOOT_ARMED, BOOT_DO_WAIT, ""},
		  {BOOT_BOOTING, BOOT_BOOTING, BOOT_DO_WAIT, ""},
		  {BOOT_VERIFIED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_RUNNING, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_COLLECTED, BOOT_COLLECTED, BOOT_DO_LEAVE, ""},
		  {BOOT_FAILED, BOOT_FAILED, BOOT_DO_LEAVE, ""}}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		for (k = 0; k < ARRAY_SIZE(table[i].rows); k++)
			check(table[i].rows[k].step, table[i].attempt, table[i].event, NULL,
			      table[i].rows[k]);
	check(BOOT_BOOTING, BOOT_ATTEMPTS, BOOT_REFUSED, NULL,
	      (struct row){BOOT_BOOTING, BOOT_FAILED, BOOT_DO_LEAVE, "no_boot"});
}

/* Without build-id, version or safe kernel less can be told, but the release always counts. */
static void test_unknown(void **state)
{
	struct boot_state s = at(BOOT_BOOTING, 1);

	(void)state;
	s.build_id = s.version = s.safe = "";
	assert_int_equal(boot_state_step(&s, arena, BOOT_SEEN, &views[OTHER_BUILD]), BOOT_DO_WAIT);
	assert_int_equal(s.step, BOOT_VERIFIED);
	s = at(BOOT_BOOTING, 1);
	s.build_id = s.version = s.safe = "";
	boot_state_step(&s, arena, BOOT_SEEN, &views[THIRD]);
	assert_int_equal(s.step, BOOT_PLANNED); /* it may be the safe one */
	s = at(BOOT_BOOTING, 1);
	s.build_id = s.version = s.safe = "";
	boot_state_step(&s, arena, BOOT_SEEN, &views[OTHER_OURS]);
	assert_string_equal(s.reason, "wrong_kernel");
}

/* The stored text says the same after it is read. */
static void test_text(void **state)
{
	struct boot_state s, back;
	int step;

	(void)state;
	for (step = BOOT_PLANNED; step <= BOOT_FAILED; step++) {
		s = at((enum boot_step)step, 2);
		s.reason = "no_boot";
		s.message = "6.1-new did not boot: the target fell back to 6.0-safe";
		assert_true(boot_state_read(arena, boot_state_text(arena, &s), &back));
		assert_string_equal(boot_state_text(arena, &back), boot_state_text(arena, &s));
		assert_int_equal(back.step, step);
		assert_int_equal(back.attempt, 2);
	}
	assert_false(boot_state_read(arena, "", &back));
	assert_false(boot_state_read(arena, "step nonsense\nattempt x\n", &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_text),
	};
	int failed;

	arena = arena_new();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(arena);
	return failed;
}
