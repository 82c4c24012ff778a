// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs: their text form, and what keeps one from being a run. With the arguments "server PORT" it
 * is a server that accepts connections until one of them sends a byte. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/num.h"
#include "jobs/job.h"

static struct span span_of_buf(const struct strbuf *sb)
{
	return (struct span){strbuf_str(sb), sb->len};
}

static void assert_same_list(const char *const *a, const char *const *b)
{
	if (!a || !b) {
		assert_ptr_equal(a, b);
		return;
	}
	for (; *a && *b; a++, b++)
		assert_string_equal(*a, *b);
	assert_ptr_equal(*a, *b);
}

static const char *const words[] = {"hackbench", "-g", "", "a b\n'\"\\", "\xc3\xa4\xff", NULL};
static const char *const env[] = {"A=1", "B=x y", NULL};
static const char *const server[] = {"tbench_srv", NULL};
static const char *const prepare[] = {"make", "clean", NULL};
static const struct job full_job = {
	.argv = words,
	.env = env,
	.dir = "/tmp/some folder",
	.cpus = "0-3,8",
	.policy = "fifo:7",
	.nice = -5,
	.server = server,
	.port = 7003,
	.prepare = prepare,
	.drop_caches = true,
	.deadline = 12.345678901234567,
	.nofile = 1048576,
};

static void test_job_round_trip(void **state)
{
	static const char *const just_true[] = {"true", NULL};
	static const struct job small_job = {.argv = just_true};
	const struct job *jobs[] = {&full_job, &small_job};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		_cleanup_arena_ struct arena *a = arena_new();
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		_cleanup_err_ struct err e = ERR_INIT;
		struct job out;

		job_encode(jobs[i], &text);
		assert_int_equal(job_decode(a, span_of_buf(&text), &out, &e), 0);
		assert_same_list(jobs[i]->argv, out.argv);
		assert_same_list(jobs[i]->env, out.env);
		assert_same_list(jobs[i]->server, out.server);
		assert_same_list(jobs[i]->prepare, out.prepare);
		assert_true(str_equal(jobs[i]->dir, out.dir));
		assert_true(str_equal(jobs[i]->cpus, out.cpus));
		assert_true(str_equal(jobs[i]->policy, out.policy));
		assert_int_equal(jobs[i]->nice, out.nice);
		assert_int_equal(jobs[i]->port, out.port);
		assert_int_equal(jobs[i]->drop_caches, out.drop_caches);
		assert_true(jobs[i]->deadline == out.deadline);
		assert_int_equal(jobs[i]->nofile, out.nofile);
	}
}

static void test_long_list(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	const char *list[4098] = {NULL};
	struct job job = {.argv = list}, out;
	size_t i;

	(void)state;
	for (i = 0; i < 4096; i++)
		list[i] = "word";
	job_encode(&job, &text);
	assert_int_equal(job_decode(a, span_of_buf(&text), &out, &e), 0);
	assert_same_list(list, out.argv);
	list[i] = "one too many";
	strbuf_reset(&text);
	job_encode(&job, &text);
	assert_int_equal(job_decode(a, span_of_buf(&text), &out, &e), -EBADMSG);
}

static void make_result(struct job_result *r)
{
	*r = (struct job_result){.error = "server_lost", .message = mem_strdup("it ended")};
	r->proc = (struct proc_result){.started = true,
				       .start_errno = 2,
				       .exit_status = -1,
				       .signal = 15,
				       .timed_out = true,
				       .output_full = true,
				       .leftovers = 160,
				       .elapsed = 0.1};
	r->proc.usage.ru_utime = (struct timeval){3, 999999};
	r->proc.usage.ru_stime = (struct timeval){0, 1};
	r->proc.usage.ru_maxrss = 123456789012;
	r->proc.usage.ru_nvcsw = 7;
	r->proc.usage.ru_nivcsw = 8;
	strbuf_add(&r->proc.out, "a\0b\nend 0\n\n", 11);
	strbuf_adds(&r->server_output, "listening");
}

static void test_result_round_trip(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, again = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result r, out;

	(void)state;
	make_result(&r);
	job_result_encode(&r, &text);
	assert_int_equal(job_result_decode(span_of_buf(&text), &out, &e), 0);
	assert_string_equal(out.error, "server_lost");
	assert_string_equal(out.message, "it ended");
	assert_int_equal(out.proc.exit_status, -1);
	assert_int_equal(out.proc.leftovers, 160);
	assert_true(out.proc.elapsed == 0.1);
	assert_int_equal(out.proc.usage.ru_utime.tv_usec, 999999);
	assert_int_equal(out.proc.out.len, 11);
	assert_memory_equal(out.proc.out.buf, "a\0b\nend 0\n\n", 11);
	/* Whatever else there is in it: the text of the copy is the same. */
	job_result_encode(&out, &again);
	assert_int_equal(text.len, again.len);
	assert_memory_equal(text.buf, again.buf, text.len);
	job_result_release(&r);
	job_result_release(&out);
}

/* A message cut anywhere is refused; one with a changed byte is refused or still a message. */
static void test_damaged(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, job_text = STRBUF_INIT;
	struct job_result r, out;
	size_t i;

	(void)state;
	make_result(&r);
	job_result_encode(&r, &text);
	job_encode(&full_job, &job_text);
	for (i = 0; i < text.len; i++) {
		_cleanup_err_ struct err e = ERR_INIT;
		char kept = text.buf[i];

		assert_int_equal(job_result_decode((struct span){text.buf, i}, &out, &e), -EBADMSG);
		assert_null(out.message);
		text.buf[i] ^= 0x15;
		if (!job_result_decode(span_of_buf(&text), &out, &e))
			job_result_release(&out);
		text.buf[i] = kept;
	}
	for (i = 0; i < job_text.len; i++) {
		_cleanup_arena_ struct arena *a = arena_new();
		_cleanup_err_ struct err e = ERR_INIT;
		struct job job;

		assert_int_equal(job_decode(a, (struct span){job_text.buf, i}, &job, &e), -EBADMSG);
	}
	job_result_release(&r);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"end 0\n\n", /* no command */
		"argv 4\ntrue\n",
		"argv 4\ntrue\nend 0\n\nx",
		"argv 4\ntrue\nend 1\nx\n",
		"argv 5\ntrue\nend 0\n\n",
		"argv -1\n\nend 0\n\n",
		"argv 99999999999999999999\ntrue\nend 0\n\n",
		"argv\ntrue\nend 0\n\n",
		"nonsense 1\n1\nargv 4\ntrue\nend 0\n\n",
		"argv 4\ntrue\nport 1\nx\nend 0\n\n",
		"argv 4\ntrue\nport 11\n99999999999\nend 0\n\n",
		"argv 4\ntrue\ndeadline 2\n-1\nend 0\n\n",
		"argv 4\ntrue\ndeadline 3\nnan\nend 0\n\n",
		"argv 4\ntrue\nnofile 2\n-1\nend 0\n\n",
		"argv 4\ntrue\ndrop_caches 1\n2\nend 0\n\n",
	};
	static const char with_nul[] = "argv 4\ntr\0e\nend 0\n\n";
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf big = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result r;
	struct job job;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(job_decode(a, span_of(texts[i]), &job, &e), -EBADMSG);
	assert_int_equal(job_decode(a, (struct span){with_nul, sizeof(with_nul) - 1}, &job, &e),
			 -EBADMSG);
	assert_int_equal(job_result_decode(span_of("error 5\nother\nend 0\n\n"), &r, &e), -EBADMSG);
	strbuf_pad(&big, (1 << 20) + 1);
	assert_int_equal(job_decode(a, span_of_buf(&big), &job, &e), -E2BIG);
}

static struct job_result run(const struct job *job)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result r;

	assert_int_equal(job_run(job, &r, &e), 0);
	assert_int_equal(e.list.n, 0);
	return r;
}

/* A listening socket and its port; with fd NULL only a port that nobody listens on. */
static int make_port(int *fd)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(s, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&addr, &len), 0);
	if (fd) {
		assert_int_equal(listen(s, 4), 0);
		*fd = s;
	} else {
		close(s);
	}
	return ntohs(addr.sin_port);
}

static int serve(int port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1, s = socket(AF_INET, SOCK_STREAM, 0), c;
	char byte;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (struct sockaddr *)&addr, sizeof(addr)) || listen(s, 16))
		return 1;
	puts("serving");
	fflush(stdout);
	while ((c = accept(s, NULL, NULL)) >= 0) {
		if (read(c, &byte, 1) == 1)
			return 0;
		close(c);
	}
	return 1;
}

static void test_plain(void **state)
{
	static const char *const argv[] = {"sh", "-c", "echo $A; exit 2", NULL};
	static const char *const missing[] = {"kdelta-no-such-program", NULL};
	struct job_result r = run(&(struct job){.argv = argv, .env = env});

	(void)state;
	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 2);
	assert_string_equal(r.proc.out.buf, "1\n");
	job_result_release(&r);
	r = run(&(struct job){.argv = missing});
	assert_string_equal(r.error, "not_found");
	assert_string_equal(r.message, "kdelta-no-such-program: no such program");
	job_result_release(&r);
}

static void test_prepare(void **state)
{
	static const char *const argv[] = {"cat", "prepared", NULL};
	static const char *const good[] = {"sh", "-c", "echo yes >prepared", NULL};
	static const char *const bad[] = {"sh", "-c", "echo no rule >&2; exit 2", NULL};
	char dir[] = "/tmp/kdelta-test.XXXXXX";
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result r;

	(void)state;
	assert_non_null(mkdtemp(dir));
	r = run(&(struct job){.argv = argv, .prepare = good, .dir = dir});
	assert_null(r.error);
	assert_string_equal(r.proc.out.buf, "yes\n");
	job_result_release(&r);
	r = run(&(struct job){.argv = argv, .prepare = bad, .dir = dir});
	assert_string_equal(r.error, "prepare_failed");
	assert_string_equal(r.message, "sh: exit 2: no rule");
	assert_false(r.proc.started);
	job_result_release(&r);
	assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void test_drop_caches(void **state)
{
	static const char *const argv[] = {"true", NULL};
	bool allowed = !access("/proc/sys/vm/drop_caches", W_OK);
	struct job_result r = run(&(struct job){.argv = argv, .drop_caches = true});

	(void)state;
	if (allowed) {
		assert_null(r.error);
		assert_int_equal(r.proc.exit_status, 0);
	} else {
		assert_string_equal(r.error, "prepare_failed");
		assert_non_null(strstr(r.message, "cannot drop the page cache"));
	}
	job_result_release(&r);
}

static void test_port_in_use(void **state)
{
	static const char *const argv[] = {"true", NULL};
	_cleanup_free_ char *who = mem_printf("(pid %d)", getpid());
	int fd, port = make_port(&fd);
	struct job_result r = run(&(struct job){.argv = argv, .server = server, .port = port});

	(void)state;
	assert_string_equal(r.error, "port_in_use");
	assert_non_null(strstr(r.message, who));
	assert_false(r.proc.started);
	job_result_release(&r);
	close(fd);
}

static void test_server(void **state)
{
	static const char *const argv[] = {"true", NULL};
	static const char *const dies[] = {"sh", "-c", "echo listen failed >&2; exit 1", NULL};
	static const char *const missing[] = {"kdelta-no-such-program", NULL};
	_cleanup_free_ char *text = NULL, *kill_it = NULL;
	const char *own[] = {"/proc/self/exe", "server", NULL, NULL};
	const char *killer[] = {"bash", "-c", NULL, NULL};
	int port = make_port(NULL);
	struct job_result r;

	(void)state;
	r = run(&(struct job){.argv = argv, .server = dies, .port = port});
	assert_string_equal(r.error, "server_failed");
	assert_string_equal(r.message, "sh ended at once");
	assert_string_equal(r.server_output.buf, "listen failed\n");
	job_result_release(&r);

	r = run(&(struct job){.argv = argv, .server = missing, .port = port});
	assert_string_equal(r.error, "server_failed");
	job_result_release(&r);

	own[2] = text = mem_printf("%d", port);
	r = run(&(struct job){.argv = argv, .server = own, .port = port});
	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 0);
	assert_string_equal(r.server_output.buf, "serving\n");
	assert_false(proc_port_open(port));
	job_result_release(&r);

	killer[2] = kill_it = mem_printf("echo >/dev/tcp/127.0.0.1/%d; sleep 1000", port);
	r = run(&(struct job){.argv = killer, .server = own, .port = port});
	assert_string_equal(r.error, "server_lost");
	assert_string_equal(r.message, "/proc/self/exe ended during the run");
	job_result_release(&r);
}

/* Monitors that are programs: asked by SIGINT after the run, missing ones named. */
static void test_watchers(void **state)
{
	static const char *const argv[] = {"true", NULL};
	static const char *const names[] = {"turbostat", "perf-stat", NULL};
	static const char script[] = "#!/bin/sh\n"
				     "trap 'echo \"$1\"; echo Busy%; echo 12.5; exit' INT\n"
				     "while :; do sleep 0.05; done\n";
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_err_ struct err e = ERR_INIT;
	const char *path = getenv("PATH");
	char dir[] = "/tmp/kdelta-test.XXXXXX", *file;
	struct job_result r;

	(void)state;
	assert_non_null(mkdtemp(dir));
	file = arena_printf(a, "%s/turbostat", dir);
	assert_int_equal(file_append(file, "", script, strlen(script), &e), 0);
	assert_int_equal(chmod(file, 0755), 0);
	/* no perf here, whatever is installed */
	assert_int_equal(symlink(path_program(a, "sleep"), arena_printf(a, "%s/sleep", dir)), 0);
	assert_int_equal(symlink(path_program(a, "true"), arena_printf(a, "%s/true", dir)), 0);
	setenv("PATH", dir, 1);
	r = run(&(struct job){.argv = argv, .monitors = names});
	setenv("PATH", path, 1);
	assert_null(r.error);
	assert_non_null(strstr(strbuf_str(&r.monitors), "\nself "));
	assert_non_null(strstr(r.monitors.buf, "\noutput turbostat 19 "));
	assert_non_null(strstr(r.monitors.buf, "\n--quiet\nBusy%\n12.5\n"));
	assert_non_null(strstr(r.monitors.buf,
			       "\nnote perf-stat: perf is not installed here (linux-perf)\n"));
	job_result_release(&r);
	assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void test_tbench(void **state)
{
	static const char *const argv[] = {"tbench", "-t", "2", "1", "127.0.0.1", NULL};
	_cleanup_arena_ struct arena *a = arena_new();
	struct job_result r;

	(void)state;
	if (!path_program(a, "tbench") || !path_program(a, "tbench_srv") || proc_port_open(7003))
		skip();
	r = run(&(struct job){.argv = argv, .server = server, .port = 7003, .deadline = 60});
	assert_null(r.error);
	assert_int_equal(r.proc.exit_status, 0);
	assert_int_equal(r.proc.leftovers, 0);
	assert_non_null(span_find(span_of_buf(&r.proc.out), "\nThroughput "));
	assert_false(proc_port_open(7003));
	job_result_release(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_round_trip),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_result_round_trip),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_prepare),
		cmocka_unit_test(test_drop_caches),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_watchers),
		cmocka_unit_test(test_tbench),
	};
	int64_t port;

	if (argc == 3 && num_parse_int(span_of(argv[2]), &port))
		return serve((int)port);
	proc_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
