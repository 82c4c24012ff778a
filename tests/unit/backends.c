// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What every backend promises (runner/backend.h), asked of each that is registered in the same
 * words. A fixture brings what a backend needs: a kernel for qemu, a target played by
 * tests/fakes/ssh for ssh and host-reboot.
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

#include "core/file.h"
#include "core/num.h"
#include "jobs/job.h"
#include "kernels/kernel.h"
#include "runner/backend.h"
#include "tests/target.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";
static const char *libexec; /* as it was before a fixture changed it */

struct fixture {
	struct campaign_config config;
	struct variant_config variant;
	struct bench_def bench;
	struct test_case test;
	struct backend backend;
	struct visit visit;
	struct err err;
};

/* Brings what a backend needs; NULL, or why it cannot be had here. */
struct place {
	const char *name;
	const char *(*open)(struct fixture *f);
};

static const char *open_nothing(struct fixture *f)
{
	(void)f;
	return NULL;
}

static const char *open_manual(struct fixture *f)
{
	_cleanup_strbuf_ struct strbuf release = STRBUF_INIT;

	assert_int_equal(file_read_line("/proc/sys/kernel/osrelease", &release), 0);
	f->variant.release = arena_strdup(arena, release.buf);
	return NULL;
}

static const char *open_qemu(struct fixture *f)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;

	if (!path_program(arena, "qemu-system-x86_64"))
		return "qemu-system-x86_64 is not installed";
	if (kernel_find_deb(arena, "linux-image-cloud-amd64", &(struct kernel_options){0}, &k, &e))
		return arena_strdup(arena, err_text(&e));
	f->variant.image = k.image;
	return NULL;
}

static const char *open_ssh(struct fixture *f)
{
	const char *missing = fake_target_open(arena, folder, &f->config.target);

	f->variant.image = missing ? NULL : fake_target_image(arena, folder, "6.1.0-fake");
	return missing;
}

/* The fake target's machine is this one, without ssh. */
static const char *open_host_reboot(struct fixture *f)
{
	const char *missing = open_ssh(f);

	setenv("KDELTA_FAKE_AGENT", path_libexec(arena, "kdelta-agent"), 1);
	setenv("KDELTA_LIBEXEC", "tests/fakes", 1);
	setenv("KDELTA_RESUME", arena_printf(arena, "%s/resume", folder), 1);
	return missing;
}

static const struct place places[] = {
	{"host", open_nothing},
	{"host-reboot", open_host_reboot},
	{"manual", open_manual},
	{"qemu", open_qemu},
	{"slurm", open_manual},
	{"ssh", open_ssh},
};

static const struct place *place_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strcmp(places[i].name, name))
			return &places[i];
	fail_msg("the backend %s has no fixture here", name);
	return NULL;
}

/* Returns whether it could be opened; e gets what prepare says. */
static int fixture_open(struct fixture *f, const char *name, struct setting *sysctls)
{
	const char *missing;

	*f = (struct fixture){.variant.name = "tested"};
	f->variant.sysctls = sysctls;
	f->variant.n_sysctls = sysctls ? 1 : 0;
	f->bench = (struct bench_def){.name = "chrt", .program = "chrt"};
	f->test = (struct test_case){.bench = &f->bench, .program = "/usr/bin/chrt"};
	f->config = (struct campaign_config){.name = "test",
					     .file = "test.yaml",
					     .backend = name,
					     .variants = &f->variant,
					     .n_variants = 1,
					     .cases = &f->test,
					     .n_cases = 1,
					     .memory = "256M",
					     .cpus = 1};
	setenv("KDELTA_LIBEXEC", libexec, 1);
	missing = place_of(name)->open(f);
	if (missing) {
		print_message("%s: %s\n", name, missing);
		return -ENOENT;
	}
	f->backend = (struct backend){
		.ops = backend_find(name), .a = arena, .config = &f->config, .accelerator = "",
		.may_restart = true};
	return f->backend.ops->prepare(&f->backend, &f->err);
}

static void fixture_enter(struct fixture *f)
{
	f->visit = (struct visit){.block = f->visit.block + 1};
	assert_int_equal(f->backend.ops->boot(&f->backend, &f->visit, &f->err), 0);
	if (f->err.list.n)
		fail_msg("%s", err_text(&f->err));
}

static void fixture_leave(struct fixture *f)
{
	assert_int_equal(f->backend.ops->collect(&f->backend, &f->visit, &f->err), 0);
	strbuf_release(&f->visit.console);
	ARRAY_FREE(&f->visit.facts);
}

static void fixture_close(struct fixture *f)
{
	f->backend.ops->release(&f->backend);
	err_release(&f->err);
}

static struct job_result run(struct fixture *f, struct job job)
{
	struct job_result r;

	assert_int_equal(f->backend.ops->run(&f->backend, &f->visit, &job, &r, &f->err), 0);
	assert_int_equal(f->err.list.n, 0);
	return r;
}

static struct job_result run_shell(struct fixture *f, const char *script, double deadline)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	return run(f, (struct job){.argv = argv, .deadline = deadline});
}

/* One line without an end, no full stop, a class that is documented. */
static void check_words(const char *error, const char *message)
{
	static const char *const classes[] = {"config_error", "no_boot",   "panic",  "hang",
					      "truncated",    "wrong_kernel", "lost", NULL};
	size_t i;

	for (i = 0; classes[i] && strcmp(classes[i], error); i++)
		;
	assert_non_null(classes[i]);
	assert_true(message && *message);
	if (str_ends(message, ".") || str_ends(message, "\n") || str_ends(message, " "))
		fail_msg("\"%s\" ends badly", message);
}

static void check_visit(struct fixture *f)
{
	static const char *const env[] = {"A=b c", NULL};
	static const char *const show[] = {"sh", "-c", "echo $A $LC_ALL; echo oops >&2; exit 3",
					   NULL};
	struct job_result r;
	size_t i;

	fixture_enter(f);
	if (f->visit.error)
		fail_msg("%s: %s", f->visit.error, f->visit.message);
	assert_int_equal(strlen(f->visit.boot_id), 36);
	assert_true(*f->visit.release && *f->visit.version && *f->visit.clocksource);
	assert_non_null(f->visit.cmdline);

	r = run(f, (struct job){.argv = show, .env = env, .deadline = 60});
	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 3);
	assert_string_equal(r.proc.out.buf, "b c C\n");
	assert_string_equal(r.proc.err.buf, "oops\n");
	job_result_release(&r);

	r = run(f, (struct job){.argv = (const char *[]){"no-such-program", NULL}});
	assert_string_equal(r.error, "not_found");
	assert_true(r.message && *r.message);
	assert_null(f->visit.error);
	job_result_release(&r);

	r = run_shell(f, "echo before; sleep 1000", 1);
	assert_true(r.proc.timed_out);
	assert_string_equal(r.proc.out.buf, "before\n");
	assert_null(f->visit.error);
	job_result_release(&r);

	/* every byte arrives as it was written */
	r = run_shell(f, "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %o $i)\"; "
			 "i=$((i + 1)); done; kill -9 $$", 60);
	assert_int_equal(r.proc.signal, SIGKILL);
	assert_int_equal(r.proc.out.len, 256);
	for (i = 0; i < 256; i++)
		assert_int_equal((unsigned char)r.proc.out.buf[i], i);
	job_result_release(&r);
	assert_null(f->visit.error);
	fixture_leave(f);
	assert_null(f->visit.error);
}

static void check_backend(const char *name)
{
	struct kernel_found k;
	struct fixture f;
	int r = fixture_open(&f, name, NULL);

	if (r == -ENOENT)
		return;
	if (r)
		fail_msg("%s: %s", name, err_text(&f.err));
	assert_int_equal(f.backend.ops->find_kernel(&f.backend, 0, &k, &f.err), 0);
	assert_true(k.identity && *k.identity && k.release && *k.release && k.source);
	assert_true(!strcmp(f.backend.ops->unit, "boot") || !strcmp(f.backend.ops->unit, "run"));
	if (f.backend.ops->has_program) {
		assert_true(f.backend.ops->has_program(&f.backend, "sh"));
		assert_false(f.backend.ops->has_program(&f.backend, "no-such-program"));
	}
	check_visit(&f);
	if (strcmp(name, "qemu")) /* a boot is slow there */
		check_visit(&f);
	fixture_close(&f);
}

/* A setting that does not exist: said before the first boot, or a visit that is broken for good. */
static void check_bad_setting(const char *name)
{
	static struct setting sysctls[] = {{"kernel.no_such_thing", "1"}};
	struct kernel_found k;
	struct job_result r;
	struct fixture f;
	int code = fixture_open(&f, name, sysctls);

	if (code == -ENOENT)
		return;
	if (code) {
		assert_non_null(strstr(err_text(&f.err), "kernel.no_such_thing"));
		fixture_close(&f);
		return;
	}
	assert_int_equal(f.backend.ops->find_kernel(&f.backend, 0, &k, &f.err), 0);
	fixture_enter(&f);
	assert_non_null(f.visit.error);
	assert_string_equal(f.visit.error, "config_error");
	assert_true(f.visit.permanent);
	assert_non_null(strstr(f.visit.message, "kernel.no_such_thing"));
	check_words(f.visit.error, f.visit.message);
	if (!f.backend.ops->local) { /* visit.c asks no other one for runs of a broken visit */
		r = run_shell(&f, "echo", 10);
		assert_string_equal(r.error, f.visit.error);
		assert_string_equal(r.message, f.visit.message);
		job_result_release(&r);
	}
	fixture_leave(&f);
	fixture_close(&f);
}

/* Ctrl-C in the middle of a run; in a process of its own, since it stays interrupted. */
static void check_interruption(const char *name)
{
	struct kernel_found k;
	struct job_result r;
	struct fixture f;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int code = fixture_open(&f, name, NULL);

		fake_target_init();
		if (code)
			_exit(code == -ENOENT ? 0 : 2);
		if (f.backend.ops->find_kernel(&f.backend, 0, &k, &f.err) ||
		    f.backend.ops->boot(&f.backend, &f.visit, &f.err) || f.visit.error)
			_exit(3);
		signal(SIGALRM, SIG_DFL);
		if (!fork()) {
			sleep(2);
			kill(getppid(), SIGINT);
			_exit(0);
		}
		r = run_shell(&f, "exec sleep 1234", 100);
		if (!r.proc.interrupted || f.visit.error || f.err.list.n)
			_exit(4);
		if (f.backend.ops->collect(&f.backend, &f.visit, &f.err) || f.visit.error)
			_exit(5);
		f.backend.ops->release(&f.backend);
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_contract(void **state)
{
	const char *const *name;

	(void)state;
	for (name = backend_names(arena); *name; name++)
		check_backend(*name);
}

static void test_bad_setting(void **state)
{
	const char *const *name;

	(void)state;
	for (name = backend_names(arena); *name; name++)
		check_bad_setting(*name);
}

static void test_interruption(void **state)
{
	const char *const *name;

	(void)state;
	for (name = backend_names(arena); *name; name++)
		check_interruption(*name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contract),
		cmocka_unit_test(test_bad_setting),
		cmocka_unit_test(test_interruption),
	};
	struct err ignored = ERR_INIT;
	int failed;

	arena = arena_new();
	libexec = getenv("KDELTA_LIBEXEC") ? arena_strdup(arena, getenv("KDELTA_LIBEXEC")) : "build";
	if (!mkdtemp(folder))
		return 1;
	setenv("XDG_DATA_HOME", folder, 1);
	fake_target_init();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &ignored);
	arena_free(arena);
	return failed;
}
