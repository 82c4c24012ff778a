// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guests through the backend interface: one good boot, and every way a boot of a Debian cloud
 * kernel goes wrong, provoked for real. With the argument "slow": those that take minutes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/num.h"
#include "jobs/job.h"
#include "kernels/kernel.h"
#include "runner/backend.h"
#include "runner/initramfs.h"

#define PACKAGE	      "linux-image-cloud-amd64"
#define OTHER_PACKAGE "linux-image-6.12-cloud-amd64"

static struct arena *arena;
static struct kernel_found kernel; /* of PACKAGE */
static char folder[] = "/tmp/kdelta-test.XXXXXX";

/* A campaign of one variant, opened. */
struct fixture {
	struct campaign_config config;
	struct variant_config variant;
	struct bench_def bench, other_bench;
	struct test_case tests[2];
	struct backend backend;
	struct visit visit;
	const char *known; /* build-id */
	struct err err;
};

static const char *known_build_id(void *data, const char *image_sha256)
{
	const struct fixture *f = data;

	return image_sha256 ? f->known : NULL;
}

static void fixture_open(struct fixture *f, struct variant_config variant)
{
	*f = (struct fixture){.variant = variant};
	f->variant.name = "tested";
	if (!f->variant.image && !f->variant.deb)
		f->variant.image = kernel.image;
	f->bench = (struct bench_def){.name = "tbench", .program = "tbench"};
	f->other_bench = (struct bench_def){.name = "other", .program = "chrt"};
	f->tests[0] = (struct test_case){.bench = &f->bench, .program = "tbench"};
	f->tests[1] = (struct test_case){.bench = &f->other_bench, .program = "/usr/bin/chrt"};
	f->config = (struct campaign_config){.name = "test",
					     .file = "test.yaml",
					     .variants = &f->variant,
					     .n_variants = 1,
					     .cases = f->tests,
					     .n_cases = 2,
					     .memory = "256M",
					     .cpus = 1};
	f->backend = (struct backend){.ops = backend_find("qemu"),
				      .a = arena,
				      .config = &f->config,
				      .known_build_id = known_build_id,
				      .data = f};
	assert_non_null(f->backend.ops);
	assert_int_equal(f->backend.ops->prepare(&f->backend, &f->err), 0);
}

static void fixture_enter(struct fixture *f)
{
	assert_int_equal(f->backend.ops->boot(&f->backend, &f->visit, &f->err), 0);
	assert_int_equal(f->err.list.n, 0);
}

static struct job_result fixture_run(struct fixture *f, struct job job)
{
	struct job_result r;

	assert_null(f->visit.error);
	assert_int_equal(f->backend.ops->run(&f->backend, &f->visit, &job, &r, &f->err), 0);
	assert_int_equal(f->err.list.n, 0);
	return r;
}

static struct job_result fixture_shell(struct fixture *f, const char *script, double deadline)
{
	const char *const argv[] = {"/some/where/sh", "-c", script, NULL};

	return fixture_run(f, (struct job){.argv = argv, .deadline = deadline});
}

static void fixture_close(struct fixture *f)
{
	assert_int_equal(f->backend.ops->collect(&f->backend, &f->visit, &f->err), 0);
	f->backend.ops->release(&f->backend);
	strbuf_release(&f->visit.console);
	ARRAY_FREE(&f->visit.facts);
	err_release(&f->err);
}

static struct span span_of_buf(const struct strbuf *sb)
{
	return (struct span){strbuf_str(sb), sb->len};
}

static bool console_has(const struct fixture *f, const char *text)
{
	return span_find(span_of_buf(&f->visit.console), text);
}

static const char *fact(const struct fixture *f, const char *key)
{
	const struct fact *p;

	array_for_each (p, &f->visit.facts) {
		if (!strcmp(p->key, key))
			return p->value;
	}
	return NULL;
}

/* Enters a variant that cannot be entered. */
static void assert_enter_fails(struct variant_config variant, const char *error, const char *said,
			       bool permanent)
{
	struct fixture f;
	struct job_result r;

	fixture_open(&f, variant);
	fixture_enter(&f);
	assert_non_null(f.visit.error);
	assert_string_equal(f.visit.error, error);
	assert_int_equal(f.visit.permanent, permanent);
	if (!strstr(f.visit.message, said))
		fail_msg("\"%s\" lacks \"%s\"", f.visit.message, said);
	/* A run in a broken visit fails in the same way. */
	assert_int_equal(f.backend.ops->run(&f.backend, &f.visit, &(struct job){0}, &r, &f.err), 0);
	assert_string_equal(r.error, error);
	assert_string_equal(r.message, f.visit.message);
	job_result_release(&r);
	fixture_close(&f);
}

/* Runs a script that breaks the guest. */
static void assert_run_breaks(const char *script, double deadline, const char *error,
			      const char *said)
{
	struct fixture f;
	struct job_result r;

	fixture_open(&f, (struct variant_config){0});
	fixture_enter(&f);
	r = fixture_shell(&f, script, deadline);
	assert_non_null(r.error);
	assert_string_equal(r.error, error);
	assert_ptr_equal(f.visit.error, r.error);
	assert_false(f.visit.permanent);
	if (!strstr(r.message, said))
		fail_msg("\"%s\" lacks \"%s\"", r.message, said);
	assert_int_equal(r.proc.out.len, 0);
	job_result_release(&r);
	fixture_close(&f);
}

static void check_facts(struct fixture *f)
{
	double cpu;

	assert_string_equal(f->visit.release, kernel.release);
	assert_int_equal(strlen(f->visit.boot_id), 36);
	assert_int_equal(strlen(f->visit.build_id), 40);
	assert_non_null(strstr(f->visit.version, "SMP"));
	assert_non_null(strstr(f->visit.cmdline, "panic=-1 quiet kd.extra=1"));
	assert_true(*f->visit.clocksource);
	assert_true(f->visit.seconds > 0);
	assert_string_equal(fact(f, "guest_cpus"), "1");
	assert_string_equal(fact(f, "memory"), "256M");
	assert_string_equal(fact(f, "accelerator"), f->backend.accelerator);
	assert_non_null(strstr(fact(f, "qemu"), "QEMU"));
	assert_true(num_parse(span_of(fact(f, "host_cpu_seconds")), &cpu) && cpu > 0);
}

static void check_jobs(struct fixture *f)
{
	static const char *const env[] = {"A=b c", NULL};
	static const char *const show[] = {"sh", "-c", "echo $A $LC_ALL; echo oops >&2; exit 3",
					   NULL};
	struct job_result r = fixture_run(f, (struct job){.argv = show, .env = env});
	size_t i;

	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 3);
	assert_string_equal(r.proc.out.buf, "b c C\n");
	assert_string_equal(r.proc.err.buf, "oops\n");
	job_result_release(&r);

	/* What would break a line that is not transparent: every byte, and much of it. */
	r = fixture_shell(
		f,
		"i=0; while [ $i -lt 256 ]; do printf \"\\\\x$(printf %x $i)\"; "
		"i=$((i + 1)); done >/tmp/all; for i in $(seq 1000); do cat /tmp/all; done",
		120);
	assert_int_equal(r.proc.out.len, 256000);
	for (i = 0; i < r.proc.out.len; i++)
		assert_int_equal((unsigned char)r.proc.out.buf[i], i % 256);
	job_result_release(&r);

	/* User space that hangs, and what it leaves behind. */
	r = fixture_shell(f, "echo before; sleep 1000", 1);
	assert_true(r.proc.timed_out);
	assert_int_equal(r.proc.signal, SIGTERM);
	assert_string_equal(r.proc.out.buf, "before\n");
	job_result_release(&r);
	r = fixture_shell(f, "sleep 1000 & sleep 1000 & setsid sleep 1000 & exit 0", 20);
	assert_int_equal(r.proc.leftovers, 3);
	job_result_release(&r);
	r = fixture_shell(f, "ps -o stat,comm | grep -c sleep", 20);
	assert_string_equal(r.proc.out.buf, "0\n");
	job_result_release(&r);
	r = fixture_run(f, (struct job){.argv = (const char *[]){"no-such-program", NULL}});
	assert_string_equal(r.error, "not_found");
	assert_null(f->visit.error);
	job_result_release(&r);
}

static void check_benchmarks(struct fixture *f)
{
	static const char *const server[] = {"tbench_srv", NULL};
	static const char *const tbench[] = {"tbench", "-t", "2", "1", "127.0.0.1", NULL};
	static const char *const hackbench[] = {"hackbench", "-g", "1", "-l", "20", NULL};
	struct job_result r;

	if (path_program(arena, "tbench")) {
		assert_string_equal(f->tests[0].params[0].name, "load");
		assert_true(str_starts(f->tests[0].params[0].value, "50000-"));
		r = fixture_run(f, (struct job){.argv = tbench,
						.server = server,
						.port = 7003,
						.deadline = 100});
		assert_null(r.error);
		assert_int_equal(r.proc.exit_status, 0);
		assert_non_null(span_find(span_of_buf(&r.proc.out), "\nThroughput "));
		job_result_release(&r);
	}
	if (path_program(arena, "hackbench")) {
		r = fixture_run(f,
				(struct job){.argv = hackbench, .deadline = 100, .nofile = 4096});
		assert_non_null(span_find(span_of_buf(&r.proc.out), "\nTime: "));
		assert_int_equal(r.proc.leftovers, 0);
		job_result_release(&r);
	}
}

static void test_good(void **state)
{
	static struct setting sysctls[] = {{"kernel.panic", "7"}, {"vm.swappiness", "11"}};
	static const char *const features[] = {"NO_WAKEUP_PREEMPTION", NULL};
	struct fixture f;
	struct job_result r;

	(void)state;
	fixture_open(&f, (struct variant_config){.cmdline = "kd.extra=1",
						 .sysctls = sysctls,
						 .n_sysctls = 2,
						 .features = features});
	fixture_enter(&f);
	assert_null(f.visit.error);
	r = fixture_shell(&f,
			  "cat /proc/sys/kernel/panic /proc/sys/vm/swappiness; "
			  "grep -o NO_WAKEUP_PREEMPTION /sys/kernel/debug/sched/features",
			  20);
	assert_string_equal(r.proc.out.buf, "7\n11\nNO_WAKEUP_PREEMPTION\n");
	job_result_release(&r);
	check_jobs(&f);
	check_benchmarks(&f);
	f.backend.ops->collect(&f.backend, &f.visit, &f.err);
	assert_null(f.visit.error);
	assert_true(console_has(&f, "KD begin release="));
	assert_true(console_has(&f, "KD run 1 start sh"));
	assert_true(console_has(&f, "KD end runs="));
	check_facts(&f);
	fixture_close(&f);
}

static void test_bad_setting(void **state)
{
	static struct setting sysctls[] = {{"kernel.no_such_thing", "1"}};

	(void)state;
	assert_enter_fails((struct variant_config){.sysctls = sysctls, .n_sysctls = 1},
			   "config_error",
			   "this kernel has no kernel.no_such_thing", true);
}

static void test_panic(void **state)
{
	(void)state;
	assert_run_breaks("echo c >/proc/sysrq-trigger", 60, "panic", "sysrq triggered crash");
}

static void test_panic_that_stays(void **state)
{
	(void)state;
	assert_enter_fails((struct variant_config){.cmdline = "panic=0 rdinit=/bin/true"}, "panic",
			   "Attempted to kill init!", false);
}

static void test_no_init(void **state)
{
	(void)state;
	assert_enter_fails((struct variant_config){.cmdline = "rdinit=/bin/true"}, "panic",
			   "Attempted to kill init!", false);
}

static void test_little_memory(void **state)
{
	(void)state;
	assert_enter_fails((struct variant_config){.memory = "64M"}, "no_boot", "too little?",
			   false);
}

static void test_power_off(void **state)
{
	(void)state;
	assert_run_breaks("echo lost; poweroff -f; sleep 1000", 60, "truncated", "went off");
}

static void test_boot_hang(void **state)
{
	(void)state;
	assert_enter_fails((struct variant_config){.cmdline = "rdinit=/bin/sleep -- 100000"},
			   "hang", "neither said nor did anything", false);
}

static char *copy_image(struct strbuf *image)
{
	_cleanup_err_ struct err e = ERR_INIT;
	char *path = arena_printf(arena, "%s/vmlinuz", folder);

	assert_int_equal(file_write_atomic(path, image->buf, image->len, &e), 0);
	return path;
}

static void test_not_a_kernel(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;
	struct fixture f;
	const char *path;

	(void)state;
	strbuf_adds(&text, "vmlinuz-6.1.0-57\n");
	path = copy_image(&text);
	fixture_open(&f, (struct variant_config){.image = path, .line = 7, .column = 3});
	assert_int_equal(f.backend.ops->find_kernel(&f.backend, 0, &k, &f.err), -EINVAL);
	assert_non_null(strstr(err_text(&f.err), "is not a kernel"));
	assert_string_equal(f.err.list.items[0].file, "test.yaml");
	assert_int_equal(f.err.list.items[0].line, 7);
	fixture_close(&f);
	assert_enter_fails((struct variant_config){.image = path}, "config_error",
			   "is not a kernel", true);

	/* A header alone passes for a kernel until QEMU sees the rest. */
	strbuf_reset(&text);
	assert_int_equal(file_read(kernel.image, 0, &text, &e), 0);
	memset(text.buf + 0x206, 0, 2); /* boot protocol version */
	text.len = 32768;
	assert_enter_fails((struct variant_config){.image = copy_image(&text)}, "config_error",
			   "QEMU cannot start this kernel", true);
}

static void test_unreadable_initrd(void **state)
{
	(void)state;
	assert_enter_fails((struct variant_config){.initrd = "/nonexistent/initrd"}, "config_error",
			   "/nonexistent/initrd", true);
}

static void test_wrong_version(void **state)
{
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	uint16_t offset;

	(void)state;
	assert_int_equal(file_read(kernel.image, 0, &image, &e), 0);
	memcpy(&offset, image.buf + 0x20e, sizeof(offset));
	assert_memory_equal(image.buf + offset + 0x200, kernel.release, strlen(kernel.release));
	image.buf[offset + 0x200] = '7';
	assert_enter_fails((struct variant_config){.image = copy_image(&image)}, "wrong_kernel",
			   "its image says 7.", true);
}

static void test_wrong_build_id(void **state)
{
	static const char other[] = "0123456789abcdef0123456789abcdef01234567";
	struct fixture f;
	struct kernel_found k;

	(void)state;
	fixture_open(&f, (struct variant_config){0});
	f.known = other;
	assert_int_equal(f.backend.ops->find_kernel(&f.backend, 0, &k, &f.err), 0);
	assert_string_equal(k.build_id, other);
	fixture_enter(&f);
	assert_string_equal(f.visit.error, "wrong_kernel");
	assert_true(f.visit.permanent);
	assert_non_null(strstr(f.visit.message, other));
	fixture_close(&f);
}

/* Our child of that name; /proc/PID/task/PID/children: "17 18 ". */
static pid_t child_named(const char *name)
{
	const char *children = arena_printf(arena, "/proc/%d/task/%d/children", getpid(), getpid());
	_cleanup_strbuf_ struct strbuf pids = STRBUF_INIT;
	struct span rest, word;
	int64_t pid;

	assert_int_equal(file_read_line(children, &pids), 0);
	rest = span_of(strbuf_str(&pids));
	while (span_next_word(&rest, &word)) {
		_cleanup_strbuf_ struct strbuf comm = STRBUF_INIT;

		assert_true(num_parse_int(word, &pid));
		file_read_line(arena_printf(arena, "/proc/%d/comm", (int)pid), &comm);
		if (str_starts(strbuf_str(&comm), name))
			return (pid_t)pid;
	}
	fail_msg("no child %s", name);
	return 0;
}

/* A run in a guest whose QEMU got a signal after it was entered. */
static void assert_signal_breaks(int sig, double deadline, const char *error, const char *said)
{
	struct fixture f;
	struct job_result r;

	fixture_open(&f, (struct variant_config){0});
	fixture_enter(&f);
	kill(child_named("qemu-system-x86"), sig);
	r = fixture_shell(&f, "sleep 1000", deadline);
	assert_string_equal(r.error, error);
	assert_non_null(strstr(r.message, said));
	job_result_release(&r);
	fixture_close(&f);
}

static void test_lost(void **state)
{
	(void)state;
	assert_signal_breaks(SIGKILL, 60, "lost", "killed by signal 9");
}

/* ---- slow ones ---- */

static void test_stopped(void **state)
{
	(void)state;
	assert_signal_breaks(SIGSTOP, 1, "hang", "did not answer in time");
}

/* The agent itself starves: only the host's deadline is left. */
static void test_starved_agent(void **state)
{
	(void)state;
	assert_run_breaks("echo -1 >/proc/sys/kernel/sched_rt_runtime_us; "
			  "chrt -f 99 sh -c 'while :; do :; done'",
			  1, "hang", "did not answer in time");
}

static void test_other_kernel(void **state)
{
	struct fixture f;
	struct job_result r;

	(void)state;
	fixture_open(&f, (struct variant_config){.deb = OTHER_PACKAGE});
	fixture_enter(&f);
	assert_null(f.visit.error);
	assert_true(str_starts(f.visit.release, "6.12"));
	r = fixture_shell(&f, "uname -r", 60);
	assert_true(str_starts(r.proc.out.buf, "6.12"));
	job_result_release(&r);
	fixture_close(&f);
}

static void test_two_cpus(void **state)
{
	struct fixture f;
	struct job_result r;

	(void)state;
	fixture_open(&f, (struct variant_config){0});
	f.config.cpus = 2;
	fixture_enter(&f);
	r = fixture_run(&f, (struct job){.argv = (const char *[]){"nproc", NULL}, .cpus = "1"});
	assert_string_equal(r.proc.out.buf, "1\n");
	job_result_release(&r);
	assert_string_equal(fact(&f, "guest_cpus"), "2");
	fixture_close(&f);
}

static int skip_all(const char *why)
{
	puts(why);
	return 77;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	      cmocka_unit_test(test_bad_setting),
		cmocka_unit_test(test_panic),	      cmocka_unit_test(test_panic_that_stays),
		cmocka_unit_test(test_no_init),	      cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_power_off),     cmocka_unit_test(test_boot_hang),
		cmocka_unit_test(test_not_a_kernel),  cmocka_unit_test(test_unreadable_initrd),
		cmocka_unit_test(test_wrong_version), cmocka_unit_test(test_wrong_build_id),
		cmocka_unit_test(test_lost),
	};
	const struct CMUnitTest slow_tests[] = {
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_starved_agent),
		cmocka_unit_test(test_other_kernel),
		cmocka_unit_test(test_two_cpus),
	};
	_cleanup_err_ struct err e = ERR_INIT;
	int failed;

	proc_init();
	arena = arena_new();
	if (!path_program(arena, "qemu-system-x86_64") || !path_program(arena, "busybox"))
		return skip_all("qemu-system-x86 or busybox is not installed");
	if (kernel_find_deb(arena, PACKAGE, &(struct kernel_options){0}, &kernel, &e))
		return skip_all(err_text(&e));
	if (!mkdtemp(folder))
		return 1;
	failed = argc > 1 && !strcmp(argv[1], "slow")
			 ? cmocka_run_group_tests(slow_tests, NULL, NULL)
			 : cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &e);
	arena_free(arena);
	return failed;
}
