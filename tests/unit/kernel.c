// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernels: headers of images; packages through an apt of our own, unpacked and kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/proc.h"
#include "kernels/kernel.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";

static const char *in_folder(const char *name)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

static const char *write_file(const char *name, const void *data, size_t len)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const char *path = in_folder(name);

	assert_int_equal(file_write_atomic(path, data, len, &e), 0);
	return path;
}

static void shell(const char *script)
{
	const char *const argv[] = {"sh", "-ec", script, NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_result r;

	assert_int_equal(proc_run(&(struct proc_spec){.argv = argv, .dir = folder}, &r, &e), 0);
	if (r.exit_status)
		fail_msg("%s: %s", script, strbuf_str(&r.err));
	proc_result_release(&r);
}

/* A bzImage of 4 KiB as far as its header goes; text at 0x400. */
static void make_bzimage(char image[4096], const char *version)
{
	memset(image, 0, 4096);
	memcpy(image + 0x1fe, "\x55\xaa", 2);
	memcpy(image + 0x202, "HdrS", 4);
	image[0x20f] = 0x02; /* 0x200 + 0x200 */
	memcpy(image + 0x400, version, strlen(version));
}

static void assert_version(const char *path, const char *expected)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const char *version;
	int r = kernel_read_version(arena, path, &version, &e);

	if (!expected) {
		assert_int_equal(r, -EINVAL);
		assert_non_null(strstr(err_text(&e), "is not a kernel"));
		return;
	}
	assert_int_equal(r, 0);
	assert_string_equal(version, expected);
}

static void test_bzimage(void **state)
{
	static const char version[] = "6.1.0-1-test (someone@host) #1 SMP";
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k = {0};
	char image[4096];

	(void)state;
	make_bzimage(image, version);
	assert_version(write_file("i", image, 4096), version);
	assert_int_equal(kernel_find_image(arena, in_folder("i"), &k, &e), 0);
	assert_string_equal(k.release, "6.1.0-1-test");
	assert_int_equal(strlen(k.image_sha256), 64);
	assert_string_equal(k.source, in_folder("i"));
	assert_version(write_file("i", image, 0x400), NULL); /* text beyond the end */
	assert_version(write_file("i", image, 0x20f), NULL);
	memset(image + 0x400, 'x', 4096 - 0x400); /* text without an end */
	assert_version(write_file("i", image, 4096), NULL);
	memset(image + 0x20e, 0xff, 2);
	assert_version(write_file("i", image, 4096), NULL);
	memset(image + 0x20e, 0, 2); /* a kernel may leave it out */
	assert_version(write_file("i", image, 4096), NULL);
}

static void test_vmlinux(void **state)
{
	static const char elf[64] = "\x7f"
				    "ELF";
	static const char text[] = "Linux version %s (%s)\0Linux version 6.1.192-k (a@b) #1\n";
	char image[64 + sizeof(text)];

	(void)state;
	memcpy(image, elf, 64);
	memcpy(image + 64, text, sizeof(text));
	assert_version(write_file("i", image, sizeof(image)), "6.1.192-k (a@b) #1\n");
	assert_version(write_file("i", image, 64), NULL);
	image[0] = 'x';
	assert_version(write_file("i", image, sizeof(image)), NULL);
}

static void test_no_image(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;

	(void)state;
	assert_version(write_file("i", "", 0), NULL);
	assert_version(write_file("i", "text\n", 5), NULL);
	assert_version(folder, NULL);
	assert_int_equal(kernel_find_image(arena, in_folder("absent"), &k, &e), -ENOENT);
}

/*
 * An apt of our own, first in PATH. It knows meta -> linux-image-1 (a version given), old-meta ->
 * linux-image-1 (none given); `apt-get download` takes NAME.deb from the folder and keeps a log.
 */
static void make_apt(void)
{
	static const char cache[] =
		"#!/bin/sh\n"
		"case \"$*\" in\n"
		"*pkgnames*) cat names 2>/dev/null; exit 0 ;;\n"
		"*' linux-image-meta') v=' (= 1.0~test-1)' ;;\n"
		"*' linux-image-old-meta') v= ;;\n"
		"*madison*linux-image-1)\n"
		"	echo ' linux-image-1 | 1.0~test-1 | somewhere'; exit 0 ;;\n"
		"*madison*) exit 0 ;;\n"
		"*' linux-image-1=1.0~test-1' | *' linux-image-1')\n"
		"	printf 'Package: linux-image-1\\nVersion: 1.0~test-1\\nDepends: "
		"kmod\\n\\n'; exit 0 ;;\n"
		"*' linux-image-loop')\n"
		"	printf 'Package: l\\nVersion: 1\\nDepends: linux-image-loop\\n\\n'; exit 0 "
		";;\n"
		"*) echo 'E: No packages found' >&2; exit 100 ;;\n"
		"esac\n"
		"printf 'Package: m\\nVersion: 9\\nDepends: kmod, linux-image-1%s\\n\\n' \"$v\"\n";
	static const char get[] = "#!/bin/sh\n"
				  "for a; do :; done\n"
				  "echo \"$a\" >>\"$KD_TEST/log\"\n"
				  "cp \"$KD_TEST/good.deb\" ./k.deb || exit 100\n";

	shell("mkdir bin");
	write_file("bin/apt-cache", cache, strlen(cache));
	write_file("bin/apt-get", get, strlen(get));
	write_file("names", "", 0);
	shell("sed -i \"s,cat names,cat $PWD/names,\" bin/apt-cache; chmod +x bin/*");
	setenv("KD_TEST", folder, 1);
	setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
	setenv("PATH", arena_printf(arena, "%s/bin:%s", folder, getenv("PATH")), 1);
}

/* good.deb with an image of that version; compression as dpkg-deb names it. */
static void make_deb(const char *version, const char *compression)
{
	char image[4096];

	shell("rm -rf tree good.deb; mkdir -p tree/DEBIAN tree/boot tree/lib/modules/1; "
	      "printf 'Package: linux-image-1\\nVersion: 1.0~test-1\\nArchitecture: all\\n"
	      "Maintainer: a <a@b>\\nDescription: x\\n' >tree/DEBIAN/control; "
	      "echo CONFIG_X=y >tree/boot/config-1; echo map >tree/boot/System.map-1; "
	      "echo fake >tree/lib/modules/1/vmlinuz-no");
	if (version) {
		make_bzimage(image, version);
		write_file("tree/boot/vmlinuz-1", image, 4096);
	}
	shell(arena_printf(arena, "dpkg-deb -Z%s -b tree good.deb", compression));
}

static size_t downloads(void)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	struct span rest, line;
	size_t n = 0;

	if (file_read_line(in_folder("log"), &log))
		return 0;
	rest = span_of(strbuf_str(&log));
	while (span_next_line(&rest, &line, NULL)) {
		assert_true(span_is(line, "linux-image-1=1.0~test-1"));
		n++;
	}
	return n;
}

static int find(const char *package, struct kernel_found *k, struct err *e)
{
	*k = (struct kernel_found){0};
	return kernel_find_deb(arena, package, &(struct kernel_options){0}, k, e);
}

static void clear_cache(void)
{
	shell("rm -rf cache log");
}

/* Nothing but finished folders. */
static void assert_cache_holds(size_t expected)
{
	_cleanup_err_ struct err e = ERR_INIT;
	char **names;
	size_t n;

	assert_int_equal(file_list(arena, in_folder("cache/kdelta/kernels"), NULL, &names, &n, &e),
			 0);
	assert_int_equal(n, expected);
}

static void test_package(void **state)
{
	static const char *const names[] = {"linux-image-meta", "linux-image-old-meta",
					    "linux-image-1"};
	static const char *const compressions[] = {"xz", "gzip", "zstd", "none"};
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(compressions); i++) {
		clear_cache();
		make_deb("1.0-test (a@b)", compressions[i]);
		assert_int_equal(find("linux-image-1", &k, &e), 0);
		assert_string_equal(k.release, "1.0-test");
	}
	/* Every name leads to the same package, which is there already. */
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(find(names[i], &k, &e), 0);
		assert_string_equal(k.source, "deb linux-image-1 1.0~test-1");
		assert_true(file_exists(k.image));
	}
	assert_int_equal(downloads(), 1);
	assert_cache_holds(1);
}

/* The version asked for, which shares the cache with the name alone. */
static void test_version(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT, none = ERR_INIT;
	struct kernel_found k;

	(void)state;
	clear_cache();
	make_deb("1.0-test (a@b)", "gzip");
	assert_int_equal(find("linux-image-1=1.0~test-1", &k, &e), 0);
	assert_string_equal(k.source, "deb linux-image-1 1.0~test-1");
	assert_non_null(strstr(k.config, "/config-1"));
	assert_int_equal(find("linux-image-1", &k, &e), 0);
	assert_int_equal(downloads(), 1);
	assert_int_equal(find("linux-image-1=2.0", &k, &e), -ENOENT);
	assert_string_equal(err_text(&e), "apt knows no version 2.0 of linux-image-1");
	assert_string_equal(e.list.items[0].hint, "it knows 1.0~test-1");
	assert_int_equal(find("linux-image-1=", &k, &none), -EINVAL);
	assert_int_equal(find("linux-image-1=-o", &k, &none), -EINVAL);
}

static void test_damaged_cache(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;

	(void)state;
	clear_cache();
	make_deb("1.0-test (a@b)", "gzip");
	assert_int_equal(find("linux-image-meta", &k, &e), 0);
	shell("for f in cache/kdelta/kernels/*/vmlinuz-1; do printf x >>\"$f\"; done");
	assert_int_equal(find("linux-image-meta", &k, &e), 0);
	assert_int_equal(downloads(), 2);
	shell("rm cache/kdelta/kernels/*/stamp");
	assert_int_equal(find("linux-image-meta", &k, &e), 0);
	assert_int_equal(downloads(), 3);
	assert_cache_holds(1);
}

static void assert_find_fails(const char *package, const char *said)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct kernel_found k;

	assert_true(find(package, &k, &e) < 0);
	if (!strstr(err_text(&e), said))
		fail_msg("\"%s\" lacks \"%s\"", err_text(&e), said);
}

static void test_bad_package(void **state)
{
	(void)state;
	clear_cache();
	make_deb(NULL, "gzip");
	assert_find_fails("linux-image-meta", "holds no kernel image");
	make_deb("", "gzip");
	assert_find_fails("linux-image-meta", "is damaged");
	write_file("good.deb", "!<arch>\n", 8);
	assert_find_fails("linux-image-meta", "holds no data.tar");
	make_deb("1.0-test (a@b)", "xz");
	shell("head -c -200 good.deb >cut; mv cut good.deb");
	assert_find_fails("linux-image-meta", "damaged or cut short");
	shell("rm good.deb");
	assert_find_fails("linux-image-meta",
			  "cannot download linux-image-1=1.0~test-1 (exit 100)");
	assert_find_fails("linux-image-loop", "knows no version");
	assert_find_fails("--config", "not the name of a package");
	assert_find_fails("Linux", "not the name of a package");
	assert_find_fails("", "not the name of a package");
	shell("rm -rf cache/kdelta/kernels/linux-image-1*");
	assert_cache_holds(0);
}

static void test_missing_package(void **state)
{
	static const char names[] = "linux-image-6.1.0-57-cloud-amd64\n"
				    "linux-image-6.1.0-58-cloud-amd64-dbg\n"
				    "linux-image-6.1.0-58-cloud-amd64-unsigned\n"
				    "linux-image-rt\n";
	_cleanup_err_ struct err e = ERR_INIT, lists = ERR_INIT;
	struct kernel_found k;

	(void)state;
	assert_int_equal(find("linux-image-6.1.0-58-cloud-amd64", &k, &lists), -ENOENT);
	assert_string_equal(err_text(&lists),
			    "there is no package linux-image-6.1.0-58-cloud-amd64");
	assert_non_null(strstr(lists.list.items[0].hint, "apt-get update"));
	write_file("names", names, strlen(names));
	assert_int_equal(find("linux-image-6.1.0-58-cloud-amd64", &k, &e), -ENOENT);
	assert_non_null(
		strstr(e.list.items[0].hint, "did you mean linux-image-6.1.0-57-cloud-amd64?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bzimage),		cmocka_unit_test(test_vmlinux),
		cmocka_unit_test(test_no_image),	cmocka_unit_test(test_package),
		cmocka_unit_test(test_damaged_cache),	cmocka_unit_test(test_bad_package),
		cmocka_unit_test(test_missing_package),
		cmocka_unit_test(test_version),
	};
	_cleanup_err_ struct err e = ERR_INIT;
	int failed;

	proc_init();
	arena = arena_new();
	if (!path_program(arena, "dpkg-deb")) {
		puts("dpkg-deb is not installed");
		return 77;
	}
	if (!mkdtemp(folder))
		return 1;
	make_apt();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &e);
	arena_free(arena);
	return failed;
}
