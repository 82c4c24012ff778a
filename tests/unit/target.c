// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What goes wrong between a controller and its target, played by tests/fakes/ssh: each ends as the
 * man page says, and nothing is measured under another kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/num.h"
#include "jobs/job.h"
#include "targets/target_setup.h"
#include "tests/target.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";

struct fixture {
	struct campaign_config config;
	struct variant_config variant;
	struct backend backend;
	struct visit visit;
	struct kernel_found kernel;
	struct err err;
	const char *kept; /* the state, as the database would have it */
};

static int keep(void *data, const char *text, struct err *e)
{
	struct fixture *f = data;

	(void)e;
	f->kept = arena_strdup(arena, text);
	return 0;
}

static const char *kept(void *data)
{
	return ((struct fixture *)data)->kept;
}

static void target_says(const char *name, const char *text)
{
	if (text)
		fake_write(arena, folder, name, text);
	else
		unlink(arena_printf(arena, "%s/%s", folder, name));
}

static const char *restarts(void)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;

	file_read(arena_printf(arena, "%s/restarts", folder), 0, &sb, &ignored);
	return arena_strdup(arena, strbuf_str(&sb));
}

/* A target in its safe kernel, and a campaign of one variant on it; what prepare says. */
static int fixture_open(struct fixture *f)
{
	static const char *const state[] = {"mode", "next", "restarts", "loaded", "boot_id",
					    "release", "version", "build_id", "cmdline", NULL};
	const char *missing;
	size_t i;
	int r;

	*f = (struct fixture){.variant.name = "tested"};
	for (i = 0; state[i]; i++)
		target_says(state[i], NULL);
	unlink(arena_printf(arena, "%s/state/lock", folder));
	missing = fake_target_open(arena, folder, &f->config.target);
	if (missing) {
		print_message("%s\n", missing);
		skip();
	}
	f->variant.image = fake_target_image(arena, folder, "6.1.0-fake");
	f->config.name = "test";
	f->config.file = "test.yaml";
	f->config.variants = &f->variant;
	f->config.n_variants = 1;
	f->backend = (struct backend){.ops = backend_find("ssh"),
				      .a = arena,
				      .config = &f->config,
				      .accelerator = "",
				      .keep = keep,
				      .kept = kept,
				      .data = f};
	r = f->backend.ops->prepare(&f->backend, &f->err);
	if (!r)
		assert_int_equal(f->backend.ops->find_kernel(&f->backend, 0, &f->kernel, &f->err), 0);
	return r;
}

static void fixture_enter(struct fixture *f)
{
	assert_int_equal(f->backend.ops->boot(&f->backend, &f->visit, &f->err), 0);
	assert_int_equal(f->err.list.n, 0);
}

static void fixture_close(struct fixture *f)
{
	f->backend.ops->collect(&f->backend, &f->visit, &f->err);
	f->backend.ops->release(&f->backend);
	strbuf_release(&f->visit.console);
	ARRAY_FREE(&f->visit.facts);
	err_release(&f->err);
}

static void assert_failed(const struct fixture *f, const char *error, const char *said)
{
	assert_non_null(f->visit.error);
	assert_string_equal(f->visit.error, error);
	if (!strstr(f->visit.message, said))
		fail_msg("\"%s\" lacks \"%s\"", f->visit.message, said);
	assert_null(f->kept); /* there is nothing to go on with */
}

/* Falls back to the safe kernel: tried twice, then never again. */
static void test_no_boot(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	target_says("next", "panic");
	fixture_enter(&f);
	assert_failed(&f, "no_boot", "6.1.0-fake did not boot: the target fell back to");
	assert_true(f.visit.permanent);
	assert_string_equal(strstr(strstr(restarts(), "kexec") + 1, "kexec"), "kexec\n");
	f.visit = (struct visit){.block = 2};
	fixture_enter(&f);
	assert_failed(&f, "no_boot", "not tried again");
	fixture_close(&f);
}

static void test_wrong_kernel(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	target_says("next", "other");
	fixture_enter(&f);
	assert_failed(&f, "wrong_kernel", "runs 9.9.9-other, asked for was 6.1.0-fake");
	assert_true(f.visit.permanent);
	fixture_close(&f);
}

/* The words of the kernel's command line, and that it is taken back at the end. */
static void test_command_line(void **state)
{
	struct fixture f;
	const char *load;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	f.config.target.cmdline = "root=/dev/vda BOOT_IMAGE=/old kdelta.boot=old -- init words";
	f.variant.cmdline = "nosmt";
	fixture_enter(&f);
	assert_null(f.visit.error);
	load = strstr(restarts(), "  root=");
	assert_non_null(load);
	assert_true(str_starts(load, "  root=/dev/vda panic=10 nosmt kdelta.boot="));
	assert_non_null(strstr(load, " -- init words\nkexec\n"));
	assert_string_equal(f.visit.cmdline, "root=/dev/vda panic=10 nosmt -- init words");
	fixture_close(&f);
	usleep(600000); /* the restart begins after its answer */
	assert_true(str_ends(restarts(), "reboot\n"));
	assert_false(file_exists(arena_printf(arena, "%s/state/lock", folder)));
}

/* A connection that breaks in the middle of a run: the result comes over the next one. */
static void test_drop(void **state)
{
	static const char *const argv[] = {"sh", "-c", "sleep 1; echo done; exit 7", NULL};
	struct job job = {.argv = argv, .deadline = 60};
	struct job_result r;
	struct fixture f;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	target_says("mode", "drop");
	fixture_enter(&f);
	assert_int_equal(f.backend.ops->run(&f.backend, &f.visit, &job, &r, &f.err), 0);
	assert_false(file_exists(arena_printf(arena, "%s/mode", folder))); /* it did break */
	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 7);
	assert_string_equal(r.proc.out.buf, "done\n");
	job_result_release(&r);
	fixture_close(&f);
}

/* One line of this machine's kernel, which plays the target's. */
static const char *kernel_line(const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	assert_int_equal(file_read_line(path, &sb), 0);
	return arena_strdup(arena, strbuf_str(&sb));
}

/* Variants are switched inside one boot; whatever was set is put back at its end. */
static void test_flip(void **state)
{
	static const char path[] = "/proc/sys/kernel/core_uses_pid";
	static struct setting set[] = {{"kernel.core_uses_pid", NULL}};
	struct variant_config variants[2] = {{.name = "plain"}, {.name = "other"}};
	const char *before = kernel_line(path), *restarts_before;
	struct fixture f;
	size_t i;

	(void)state;
	set[0].value = strcmp(before, "1") ? "1" : "0";
	variants[1].sysctls = set;
	variants[1].n_sysctls = 1;
	assert_int_equal(fixture_open(&f), 0);
	variants[0].image = variants[1].image = f.variant.image;
	f.config.flip = true;
	f.config.variants = variants;
	fixture_enter(&f);
	restarts_before = restarts();
	for (i = 1; i < 6; i++) {
		f.visit.variant = i % 2;
		if (i == 3) /* also over a line that broke */
			link_close(&((struct target *)f.backend.priv)->link);
		assert_int_equal(f.backend.ops->flip(&f.backend, &f.visit, &f.err), 0);
		assert_null(f.visit.error);
		assert_string_equal(kernel_line(path), i % 2 ? set[0].value : before);
	}
	assert_string_equal(restarts(), restarts_before);
	fixture_close(&f);
	assert_string_equal(kernel_line(path), before);
}

/* The target restarts in the middle of a run: neither measured nor waited for. */
static void test_restart(void **state)
{
	static const char *const argv[] = {"sh", "-c", "sleep 1000", NULL};
	struct job job = {.argv = argv, .deadline = 60};
	struct job_result r;
	struct fixture f;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	target_says("mode", "drop");
	fixture_enter(&f);
	target_says("boot_id", "00000000-0000-0000-0000-00000000beef");
	assert_int_equal(f.backend.ops->run(&f.backend, &f.visit, &job, &r, &f.err), 0);
	assert_string_equal(r.error, "lost");
	assert_failed(&f, "lost", "restarted in the middle of its work");
	assert_false(f.visit.permanent);
	job_result_release(&r);
	fixture_close(&f);
}

/* What a killed kdelta left: gone on with where that can be told, else begun anew. */
static void test_resume(void **state)
{
	struct fixture f;
	const char *text;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	fixture_enter(&f);
	assert_null(f.visit.error);
	assert_non_null(strstr(f.kept, "step running"));
	/* as if killed after the restart was asked for: verified without another restart */
	text = strstr(f.kept, "token");
	f.kept = arena_printf(arena, "variant 0\nblock 0\nstep booting\nattempt 1\n%.*sboot_id before\n",
			      (int)(strstr(text, "boot_id") - text), text);
	text = restarts();
	f.visit = (struct visit){0};
	fixture_enter(&f);
	assert_null(f.visit.error);
	assert_string_equal(restarts(), text);
	/* killed while it ran, and the target went down with it */
	f.kept = arena_printf(arena, "variant 0\nblock 0\nstep running\nattempt 1\nboot_id gone\n");
	f.visit = (struct visit){0};
	fixture_enter(&f);
	assert_failed(&f, "lost", "restarted in the middle");
	/* of another block: nothing to go on with */
	f.kept = arena_printf(arena, "variant 0\nblock 7\nstep running\nattempt 1\nboot_id gone\n");
	f.visit = (struct visit){0};
	fixture_enter(&f);
	assert_null(f.visit.error);
	fixture_close(&f);
}

static void assert_refused(struct fixture *f, int code, const char *said, const char *hint)
{
	assert_int_equal(fixture_open(f), code);
	if (!strstr(err_text(&f->err), said))
		fail_msg("\"%s\" lacks \"%s\"", err_text(&f->err), said);
	assert_non_null(f->err.list.items[0].hint);
	assert_non_null(strstr(f->err.list.items[0].hint, hint));
	f->backend.ops->release(&f->backend);
	err_release(&f->err);
}

static void open_in_mode(struct fixture *f, const char *mode, int code, const char *said,
			 const char *hint)
{
	setenv("KDELTA_FAKE_MODE", mode, 1);
	assert_refused(f, code, said, hint);
	unsetenv("KDELTA_FAKE_MODE");
}

static void test_ssh_refuses(void **state)
{
	struct fixture f;

	(void)state;
	open_in_mode(&f, "changed", -EKEYREJECTED, "has changed", "ssh-keygen -R");
	open_in_mode(&f, "unknown", -EKEYREJECTED, "host key", "accept it once by hand");
	open_in_mode(&f, "denied", -EACCES, "Permission denied", "authorized_keys");
}

static void test_options(void **state)
{
	_cleanup_strbuf_ struct strbuf calls = STRBUF_INIT;
	struct fixture f;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	assert_int_equal(file_read(arena_printf(arena, "%s/calls", folder), 0, &calls, &f.err), 0);
	assert_non_null(strstr(calls.buf, "BatchMode=yes"));
	assert_non_null(strstr(calls.buf, "StrictHostKeyChecking=yes"));
	assert_null(strstr(calls.buf, "StrictHostKeyChecking=no"));
	fixture_close(&f);
}

/* One controller: refused while the other is there, taken over once it is gone. */
static void test_lock(void **state)
{
	struct fixture f, second;
	const char *lock;

	(void)state;
	assert_int_equal(fixture_open(&f), 0);
	second = (struct fixture){.config = f.config, .variant = f.variant};
	second.config.variants = &second.variant;
	second.backend = (struct backend){
		.ops = f.backend.ops, .a = arena, .config = &second.config, .accelerator = ""};
	assert_int_equal(second.backend.ops->prepare(&second.backend, &second.err), -EBUSY);
	assert_non_null(strstr(err_text(&second.err), "another kdelta measures on this target: "));
	assert_non_null(strstr(err_text(&second.err), "connected now"));
	second.backend.ops->release(&second.backend);
	err_release(&second.err);
	fixture_close(&f);

	/* its lease has not ended, but a process of this machine is known to be gone */
	assert_int_equal(fixture_open(&f), 0);
	fixture_close(&f);
	lock = arena_printf(arena, "%s/state", folder);
	fake_write(arena, lock, "lock",
		   "owner elsewhere@desk\npid 4711\nnonce other\nagent 0\nboot_id x\n"
		   "until 99999999999\n");
	second.backend.priv = NULL;
	assert_int_equal(second.backend.ops->prepare(&second.backend, &second.err), -EBUSY);
	assert_non_null(strstr(err_text(&second.err), "elsewhere@desk, pid 4711, not connected"));
	second.backend.ops->release(&second.backend);
	err_release(&second.err);
	fake_write(arena, lock, "lock",
		   "owner elsewhere@desk\npid 4711\nnonce other\nagent 0\nboot_id x\nuntil 1\n");
	second.backend.priv = NULL;
	assert_int_equal(second.backend.ops->prepare(&second.backend, &second.err), 0);
	second.backend.ops->release(&second.backend);
	err_release(&second.err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_boot),	    cmocka_unit_test(test_wrong_kernel),
		cmocka_unit_test(test_command_line), cmocka_unit_test(test_drop),
		cmocka_unit_test(test_restart),	    cmocka_unit_test(test_resume),
		cmocka_unit_test(test_ssh_refuses), cmocka_unit_test(test_options),
		cmocka_unit_test(test_lock),	    cmocka_unit_test(test_flip),
	};
	struct err ignored = ERR_INIT;
	int failed;

	arena = arena_new();
	if (!mkdtemp(folder))
		return 1;
	fake_target_init();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &ignored);
	arena_free(arena);
	return failed;
}
