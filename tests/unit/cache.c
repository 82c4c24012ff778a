// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache: what is removed when it grows too large, and what never is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "kernels/cache.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";

static const char *in_cache(const char *name)
{
	return arena_printf(arena, "%s/kdelta/%s", folder, name);
}

/* A unit of 1 MB that was used `age` seconds ago. */
static void make_unit(const char *name, int age)
{
	static char data[1 << 20];
	_cleanup_err_ struct err e = ERR_INIT;
	const char *path = in_cache(name);
	struct timespec times[2] = {{.tv_sec = 2000000000 - age}, {.tv_sec = 2000000000 - age}};

	memset(data, 'x', sizeof(data));
	assert_int_equal(file_make_dirs(path, &e), 0);
	assert_int_equal(file_write_atomic(arena_printf(arena, "%s/data", path), data,
					   sizeof(data), &e),
			 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void set_used(const char *lock, int age)
{
	struct timespec times[2] = {{.tv_sec = 2000000000 - age}, {.tv_sec = 2000000000 - age}};

	assert_int_equal(utimensat(AT_FDCWD, in_cache(lock), times, 0), 0);
}

static bool is_there(const char *name)
{
	return file_exists(in_cache(name));
}

static void trim(const char *limit)
{
	_cleanup_err_ struct err e = ERR_INIT;

	setenv("KDELTA_CACHE_SIZE", limit, 1);
	assert_int_equal(cache_trim(arena, NULL, &e), 0);
}

static void test_oldest_go_first(void **state)
{
	(void)state;
	make_unit("kernels/a", 40);
	make_unit("build/b", 30);
	make_unit("source/c", 20);
	make_unit("download/d", 10);
	trim("20M");
	assert_true(is_there("kernels/a"));
	trim("2500K");
	assert_false(is_there("kernels/a"));
	assert_false(is_there("build/b"));
	assert_true(is_there("source/c"));
	assert_true(is_there("download/d"));
}

static void test_use_counts(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;

	(void)state;
	make_unit("kernels/a", 100);
	make_unit("kernels/b", 50);
	/* used now, and let go of */
	assert_int_equal(cache_share(arena, "kernels/a", NULL, &e), 0);
	cache_unlock("kernels/a");
	set_used("locks/kernels.a", 5);
	trim("3500K");
	assert_true(is_there("kernels/a"));
	assert_false(is_there("kernels/b"));
}

static void test_held_stays(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	int status;
	pid_t pid;

	(void)state;
	make_unit("kernels/mine", 1000);
	make_unit("kernels/theirs", 900);
	assert_int_equal(cache_share(arena, "kernels/mine", NULL, &e), 0);
	assert_int_equal(cache_share(arena, "kernels/theirs", NULL, &e), 0);
	pid = fork();
	if (!pid) { /* holds it, too, through what it inherited */
		pause();
		_exit(0);
	}
	cache_unlock("kernels/theirs");
	trim("1");
	assert_true(is_there("kernels/mine"));
	assert_true(is_there("kernels/theirs"));
	assert_false(is_there("source/c"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	trim("1");
	assert_true(is_there("kernels/mine"));
	assert_false(is_there("kernels/theirs"));
	cache_unlock("kernels/mine");
}

/* What is there for one alone is waited for; a lock of our own is converted. */
static void test_lock(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const char *path = in_cache("locks/build.x");
	int fd;

	(void)state;
	assert_int_equal(cache_share(arena, "build/x", NULL, &e), 0);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(cache_lock(arena, "build/x", NULL, &e), 0);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), -1);
	assert_int_equal(cache_share(arena, "build/x", NULL, &e), 0);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	close(fd);
	cache_unlock("build/x");
}

static void test_bad_limit(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	int64_t bytes;

	(void)state;
	setenv("KDELTA_CACHE_SIZE", "much", 1);
	assert_int_equal(cache_limit(&bytes, &e), -EINVAL);
	assert_string_equal(err_text(&e), "KDELTA_CACHE_SIZE is \"much\", which is no size");
	setenv("KDELTA_CACHE_SIZE", "", 1);
	assert_int_equal(cache_limit(&bytes, &e), 0);
	assert_true(bytes == (int64_t)20 << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_go_first), cmocka_unit_test(test_use_counts),
		cmocka_unit_test(test_held_stays),	cmocka_unit_test(test_lock),
		cmocka_unit_test(test_bad_limit),
	};
	_cleanup_err_ struct err e = ERR_INIT;
	int failed;

	arena = arena_new();
	if (!mkdtemp(folder))
		return 1;
	setenv("XDG_CACHE_HOME", folder, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &e);
	arena_free(arena);
	return failed;
}
