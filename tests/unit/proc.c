// SPDX-License-Identifier: GPL-2.0-or-later
/* Running programs: nothing lost, nothing left behind. With the argument "victim" it is a program
 * that is killed in the middle of a run. */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"

#define PATIENCE 60.0 /* seconds; only a broken program comes near */

static struct proc_result run(const struct proc_spec *spec)
{
	struct err e = ERR_INIT;
	struct proc_result r;

	assert_int_equal(proc_run(spec, &r, &e), 0);
	assert_int_equal(e.list.n, 0);
	return r;
}

/* `sh -c script` under the other settings of spec. */
static struct proc_result run_shell(const char *script, struct proc_spec spec)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	spec.argv = argv;
	return run(&spec);
}

/* State letter of /proc/PID/stat; 0 when there is no such process. */
static char process_state(int64_t pid)
{
	_cleanup_free_ char *path = mem_printf("/proc/%lld/stat", (long long)pid);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *p;

	if (file_read_line(path, &sb))
		return 0;
	p = strrchr(sb.buf, ')');
	assert_non_null(p);
	return p[2];
}

static void assert_dead(struct span pids, size_t expected)
{
	struct span line;
	size_t n = 0;
	int64_t pid;

	while (span_next_line(&pids, &line, NULL)) {
		assert_true(num_parse_int(line, &pid));
		assert_int_equal(process_state(pid), 0);
		n++;
	}
	assert_int_equal(n, expected);
}

static struct span span_of_buf(const struct strbuf *sb)
{
	return (struct span){strbuf_str(sb), sb->len};
}

static void test_streams(void **state)
{
	struct proc_result r = run_shell("echo out; echo err >&2; exit 3", (struct proc_spec){0});

	(void)state;
	assert_true(r.started);
	assert_int_equal(r.exit_status, 3);
	assert_int_equal(r.signal, 0);
	assert_int_equal(r.leftovers, 0);
	assert_string_equal(r.out.buf, "out\n");
	assert_string_equal(r.err.buf, "err\n");
	assert_true(r.elapsed > 0);
	assert_true(r.usage.ru_maxrss > 0);
	proc_result_release(&r);
}

static void test_environment(void **state)
{
	const char *const env[] = {"KD_A=1 2", "LC_ALL=xx", NULL};
	struct proc_result r;

	(void)state;
	r = run_shell("echo \"$KD_A|$LC_ALL\"; pwd; cat",
		      (struct proc_spec){.env = env, .dir = "/usr", .input = "typed\n"});
	assert_string_equal(r.out.buf, "1 2|C\n/usr\ntyped\n");
	proc_result_release(&r);
	r = run_shell("cat; echo end", (struct proc_spec){0});
	assert_string_equal(r.out.buf, "end\n");
	proc_result_release(&r);
}

static void test_not_found(void **state)
{
	const char *const argv[] = {"kdelta-no-such-program", NULL};
	const char *const dir[] = {"/", NULL};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct proc_result r = run(&(struct proc_spec){.argv = argv});

	(void)state;
	assert_false(r.started);
	assert_int_equal(r.start_errno, ENOENT);
	assert_int_equal(r.exit_status, -1);
	proc_describe(&r, &sb);
	assert_string_equal(sb.buf, "not started: No such file or directory");
	r = run(&(struct proc_spec){.argv = dir});
	assert_false(r.started);
	assert_int_equal(r.start_errno, EACCES);
}

static void test_bad_settings(void **state)
{
	static const struct {
		const char *dir, *cpus;
		int code;
		const char *message;
	} cases[] = {
		{"/no/such/dir", NULL, -ENOENT,
		 "cannot enter the folder of true: No such file or directory"},
		{NULL, "0-", -EINVAL, "\"0-\" is not a CPU list"},
		{NULL, "3-1", -EINVAL, "\"3-1\" is not a CPU list"},
		{NULL, "0,,1", -EINVAL, "\"0,,1\" is not a CPU list"},
		{NULL, "0 1", -EINVAL, "\"0 1\" is not a CPU list"},
		{NULL, "65535", -EINVAL, "cannot bind to the CPUs of true: Invalid argument"},
		{NULL, "65536", -EINVAL, "\"65536\" is not a CPU list"},
	};
	const char *const argv[] = {"true", NULL};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct proc_spec spec = {.argv = argv, .dir = cases[i].dir, .cpus = cases[i].cpus};
		_cleanup_err_ struct err e = ERR_INIT;
		struct proc_result r;

		assert_int_equal(proc_run(&spec, &r, &e), cases[i].code);
		assert_string_equal(err_text(&e), cases[i].message);
	}
}

static void test_cpus(void **state)
{
	_cleanup_free_ char *list = NULL, *expected = NULL;
	struct proc_result r;
	cpu_set_t set;
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	list = mem_printf("%d-%d", cpu, cpu);
	expected = mem_printf("Cpus_allowed_list:\t%d\n", cpu);
	r = run_shell("grep Cpus_allowed_list /proc/self/status", (struct proc_spec){.cpus = list});
	assert_string_equal(r.out.buf, expected);
	proc_result_release(&r);
}

static void test_nofile(void **state)
{
	struct rlimit before, low;
	struct proc_result r;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	r = run_shell("ulimit -n", (struct proc_spec){.nofile = 300});
	assert_string_equal(r.out.buf, "300\n");
	proc_result_release(&r);
	r = run_shell("ulimit -n", (struct proc_spec){.nofile = 3});
	assert_string_equal(r.out.buf, "200\n");
	proc_result_release(&r);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_deadline(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct proc_result r =
		run_shell("echo before; sleep 1000", (struct proc_spec){.deadline = 0.3});

	(void)state;
	assert_true(r.timed_out);
	assert_int_equal(r.signal, SIGTERM);
	assert_int_equal(r.exit_status, -1);
	assert_true(r.elapsed >= 0.3);
	assert_int_equal(r.leftovers, 0);
	assert_string_equal(r.out.buf, "before\n");
	proc_describe(&r, &sb);
	assert_string_equal(sb.buf, "deadline");
	proc_result_release(&r);
}

static void test_deadline_deaf(void **state)
{
	struct proc_result r = run_shell("trap '' TERM; echo $$; sleep 1000 & echo $!; "
					 "while :; do wait; done",
					 (struct proc_spec){.deadline = 0.2});

	(void)state;
	assert_true(r.timed_out);
	assert_int_equal(r.signal, SIGKILL);
	assert_true(r.elapsed >= 2.2); /* the grace between TERM and KILL */
	assert_dead(span_of_buf(&r.out), 2);
	proc_result_release(&r);
}

static void test_leftovers(void **state)
{
	struct proc_result r;

	(void)state;
	r = run_shell("sleep 1000 & echo $!; sleep 1000 & echo $!; exit 0", (struct proc_spec){0});
	assert_int_equal(r.exit_status, 0);
	assert_int_equal(r.leftovers, 2);
	assert_dead(span_of_buf(&r.out), 2);
	proc_result_release(&r);

	/* One that left the session is still our orphan. */
	r = run_shell("setsid sh -c 'echo $$; exec sleep 1000' & "
		      "until grep -qs sleep /proc/$!/comm; do sleep 0.05; done; exit 0",
		      (struct proc_spec){0});
	assert_int_equal(r.leftovers, 1);
	assert_dead(span_of_buf(&r.out), 1);
	proc_result_release(&r);
}

static void test_killed_leader(void **state)
{
	struct proc_result r = run_shell("sleep 1000 & echo $!; sleep 1000 & echo $!; kill -9 $$",
					 (struct proc_spec){0});
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	assert_int_equal(r.signal, SIGKILL);
	assert_int_equal(r.leftovers, 2);
	assert_dead(span_of_buf(&r.out), 2);
	proc_describe(&r, &sb);
	assert_string_equal(sb.buf, "killed by SIGKILL");
	proc_result_release(&r);
}

static void test_grandchildren(void **state)
{
	struct proc_result r = run_shell("i=0; while [ $i -lt 200 ]; do "
					 "(sleep 1000 & echo $!); i=$((i + 1)); done",
					 (struct proc_spec){0});
	siginfo_t si = {.si_pid = 0};

	(void)state;
	assert_int_equal(r.leftovers, 200);
	assert_dead(span_of_buf(&r.out), 200);
	/* The guard lives; nothing else of ours, dead or alive. */
	assert_int_equal(waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(si.si_pid, 0);
	proc_result_release(&r);
}

/* A process that is dead but not reaped is no leftover. */
static void test_zombies(void **state)
{
	struct proc_result r = run_shell("true & true & exec sleep 0.2", (struct proc_spec){0});

	(void)state;
	assert_int_equal(r.exit_status, 0);
	assert_int_equal(r.leftovers, 0);
	proc_result_release(&r);
}

static void test_output(void **state)
{
	struct proc_result r;
	size_t i;

	(void)state;
	r = run_shell("head -c 10000000 /dev/zero; head -c 9000000 /dev/zero >&2",
		      (struct proc_spec){0});
	assert_int_equal(r.exit_status, 0);
	assert_int_equal(r.out.len, 10000000);
	assert_int_equal(r.err.len, 9000000);
	for (i = 0; i < r.out.len; i++)
		assert_int_equal(r.out.buf[i], 0);
	proc_result_release(&r);

	r = run_shell("yes", (struct proc_spec){.max_output = 100001});
	assert_true(r.output_full);
	assert_int_equal(r.out.len, 100001);
	proc_result_release(&r);
}

static void test_closed_streams(void **state)
{
	struct proc_result r = run_shell("exec >&- 2>&-; sleep 0.3; exit 4", (struct proc_spec){0});
	int in = dup(0), out = dup(1);

	(void)state;
	assert_int_equal(r.exit_status, 4);
	proc_result_release(&r);

	/* We ourselves without stdin and stdout. */
	close(0);
	close(1);
	r = run_shell("echo fine; cat", (struct proc_spec){.input = "in\n"});
	dup2(in, 0);
	dup2(out, 1);
	close(in);
	close(out);
	assert_string_equal(r.out.buf, "fine\nin\n");
	proc_result_release(&r);
}

static bool watch_for_ready(void *data, const struct strbuf *out, const struct strbuf *err)
{
	int *calls = data;

	++*calls;
	return span_find(span_of_buf(out), "ready") && !err->len;
}

static void test_watch(void **state)
{
	int calls = 0;
	struct proc_result r =
		run_shell("sleep 0.3; echo ready; sleep 1000",
			  (struct proc_spec){.watch = watch_for_ready, .watch_data = &calls});

	(void)state;
	assert_int_equal(r.signal, SIGTERM);
	assert_false(r.timed_out);
	assert_true(calls >= 2);
	proc_result_release(&r);
}

static void test_usage(void **state)
{
	struct proc_result r = run_shell(
		"sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'", (struct proc_spec){0});

	(void)state;
	assert_true(r.usage.ru_utime.tv_sec * 1000000 + r.usage.ru_utime.tv_usec > 1000);
	proc_result_release(&r);
}

static void wait_for(bool (*done)(const void *), const void *data)
{
	double until = num_monotonic() + PATIENCE;

	while (!done(data)) {
		assert_true(num_monotonic() < until);
		usleep(10000);
	}
}

static bool child_is_ended(const void *data)
{
	return proc_poll((struct proc_child *)(uintptr_t)data, NULL);
}

static void test_child(void **state)
{
	const char *const server[] = {"sh", "-c", "trap '' TERM; sleep 1000 & wait", NULL};
	const char *const quick[] = {"sh", "-c", "echo said; exit 5", NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_child child;
	char buf[16];
	int status = 0;

	(void)state;
	assert_int_equal(proc_start(&(struct proc_spec){.argv = server}, "/dev/null", "/dev/null",
				    &child, &e),
			 0);
	assert_false(proc_poll(&child, &status));
	proc_stop(&child, 0.2, &status);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(child.pid, 0);

	assert_int_equal(
		proc_start(&(struct proc_spec){.argv = quick}, NULL, "/dev/null", &child, &e), 0);
	wait_for(child_is_ended, &child);
	assert_true(proc_poll(&child, &status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_equal(read(child.out_fd, buf, sizeof(buf)), 5);
	status = 0;
	assert_int_equal(proc_stop(&child, 1, &status), 0);
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_true(child.usage.ru_maxrss > 0);
	assert_int_equal(child.out_fd, -1);
	assert_int_equal(proc_stop(&child, 1, &status), 0);
}

static void test_child_not_found(void **state)
{
	const char *const argv[] = {"kdelta-no-such-program", NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_child child;

	(void)state;
	assert_int_equal(proc_start(&(struct proc_spec){.argv = argv}, NULL, NULL, &child, &e),
			 -ENOENT);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.out_fd, -1);
}

/* A run beside a server counts and kills its own processes only. */
static void test_beside_child(void **state)
{
	const char *const server[] = {"sh", "-c", "sleep 1000 & sleep 1000", NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_child child;
	struct proc_result r;

	(void)state;
	assert_int_equal(proc_start(&(struct proc_spec){.argv = server}, "/dev/null", "/dev/null",
				    &child, &e),
			 0);
	r = run_shell("sleep 1000 & echo $!", (struct proc_spec){0});
	assert_int_equal(r.leftovers, 1);
	assert_false(proc_poll(&child, NULL));
	proc_stop(&child, 2, NULL);
	proc_result_release(&r);
}

static void test_port(void **state)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	assert_false(proc_port_open(ntohs(addr.sin_port)));
	assert_int_equal(listen(fd, 1), 0);
	assert_true(proc_port_open(ntohs(addr.sin_port)));
	close(fd);
	assert_false(proc_port_open(ntohs(addr.sin_port)));
}

static bool victim_print(void *data, const struct strbuf *out, const struct strbuf *err)
{
	bool *printed = data;

	(void)err;
	if (!*printed && out->len && write(1, out->buf, out->len) == (ssize_t)out->len)
		*printed = true;
	return false;
}

static int victim(void)
{
	bool printed = false;
	struct proc_result r;

	proc_init();
	r = run_shell("trap '' TERM; sleep 1000 & a=$!; sleep 1000 & echo $$ $a $!; wait",
		      (struct proc_spec){.watch = victim_print, .watch_data = &printed});
	return r.exit_status;
}

static bool process_is_dead(const void *data)
{
	char c = process_state(*(const int64_t *)data);

	return !c || c == 'Z';
}

static void test_killed_ourselves(void **state)
{
	const char *const argv[] = {"/proc/self/exe", "victim", NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct proc_child child;
	struct span rest, word;
	double until = num_monotonic() + PATIENCE;
	int64_t pid;
	int n = 0;

	(void)state;
	assert_int_equal(
		proc_start(&(struct proc_spec){.argv = argv}, NULL, "/dev/null", &child, &e), 0);
	while (!memchr(strbuf_str(&out), '\n', out.len)) {
		char buf[256];
		ssize_t got = read(child.out_fd, buf, sizeof(buf));

		if (got > 0)
			strbuf_add(&out, buf, (size_t)got);
		assert_true(num_monotonic() < until);
		usleep(10000);
	}
	kill(child.pid, SIGKILL);
	strbuf_rtrim(&out);
	rest = span_of_buf(&out);
	while (span_next_word(&rest, &word)) {
		assert_true(num_parse_int(word, &pid));
		wait_for(process_is_dead, &pid);
		n++;
	}
	assert_int_equal(n, 3);
	proc_stop(&child, 1, NULL);
}

static bool watch_interrupt(void *data, const struct strbuf *out, const struct strbuf *err)
{
	(void)data, (void)out, (void)err;
	raise(SIGINT);
	return false;
}

/* The last one: the flag stays set. */
static void test_interrupted(void **state)
{
	struct proc_result r;

	(void)state;
	assert_int_equal(proc_interrupted(), 0);
	r = run_shell("sleep 1000", (struct proc_spec){.watch = watch_interrupt});
	assert_true(r.interrupted);
	assert_false(r.timed_out);
	assert_int_equal(r.signal, SIGTERM);
	assert_int_equal(proc_interrupted(), SIGINT);
	proc_result_release(&r);
	r = run_shell("echo never", (struct proc_spec){0});
	assert_true(r.interrupted);
	assert_false(r.started);
	assert_int_equal(r.out.len, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_bad_settings),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_nofile),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_deadline_deaf),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_killed_leader),
		cmocka_unit_test(test_grandchildren),
		cmocka_unit_test(test_zombies),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_closed_streams),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_child_not_found),
		cmocka_unit_test(test_beside_child),
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_killed_ourselves),
		cmocka_unit_test(test_interrupted),
	};

	if (argc == 2 && !strcmp(argv[1], "victim"))
		return victim();
	proc_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
