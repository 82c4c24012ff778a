// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests' initramfs and the frames their agent speaks. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/proc.h"
#include "jobs/frame.h"
#include "runner/initramfs.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";

static const char *build(const char *cache, const char *const *programs)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const char *path = NULL;

	setenv("XDG_CACHE_HOME", arena_printf(arena, "%s/%s", folder, cache), 1);
	if (initramfs_build(arena, programs, &path, &e))
		fail_msg("%s", err_text(&e));
	return path;
}

/* Mode of an entry of an image and, in *target, where it points to; 0: no such entry. */
static mode_t entry_mode(const char *image, const char *path, const char **target)
{
	struct archive *ar = archive_read_new();
	struct archive_entry *entry;
	mode_t mode = 0;

	archive_read_support_filter_gzip(ar);
	archive_read_support_format_cpio(ar);
	assert_int_equal(archive_read_open_filename(ar, image, 65536), ARCHIVE_OK);
	while (!mode && archive_read_next_header(ar, &entry) == ARCHIVE_OK) {
		assert_int_equal(archive_entry_uid(entry), 0);
		assert_int_equal(archive_entry_mtime(entry), 0);
		if (strcmp(archive_entry_pathname(entry), path))
			continue;
		mode = archive_entry_mode(entry);
		*target = arena_strdup(arena, archive_entry_symlink(entry));
	}
	archive_read_free(ar);
	return mode;
}

static void test_contents(void **state)
{
	static const char *const programs[] = {"/usr/bin/env", "no-such-program", "env", NULL};
	const char *image = build("a", programs), *target = NULL;

	(void)state;
	assert_int_equal(entry_mode(image, "init", &target), S_IFREG | 0755);
	assert_int_equal(entry_mode(image, "dev", &target), S_IFDIR | 0755);
	assert_int_equal(entry_mode(image, "bin/sh", &target) & S_IFMT, S_IFLNK);
	assert_string_equal(target, "busybox");
	/* A program stands before the applet of its name, and brings its libraries. */
	assert_int_equal(entry_mode(image, "bin/env", &target), S_IFREG | 0755);
	assert_int_equal(entry_mode(image, "lib64/ld-linux-x86-64.so.2", &target), S_IFREG | 0755);
	assert_int_equal(entry_mode(image, "bin/no-such-program", &target), 0);
}

static void test_reproducible(void **state)
{
	_cleanup_strbuf_ struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	const char *a = build("a", NULL), *b = build("b", NULL);
	static const char *const programs[] = {"/usr/bin/env", NULL};
	struct stat before, after;

	(void)state;
	assert_int_equal(file_read(a, 0, &one, &e), 0);
	assert_int_equal(file_read(b, 0, &two, &e), 0);
	assert_int_equal(one.len, two.len);
	assert_memory_equal(one.buf, two.buf, one.len);
	/* The second time it is only found; other contents have another name. */
	assert_int_equal(stat(b, &before), 0);
	assert_string_equal(build("b", NULL), b);
	assert_int_equal(stat(b, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_string_not_equal(build("b", programs), b);
}

static void test_no_agent(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	char *libexec = arena_strdup(arena, getenv("KDELTA_LIBEXEC"));
	const char *path;

	(void)state;
	setenv("KDELTA_LIBEXEC", folder, 1);
	assert_int_equal(initramfs_build(arena, NULL, &path, &e), -ENOENT);
	assert_non_null(strstr(err_text(&e), "kdelta-agent is missing"));
	if (libexec)
		setenv("KDELTA_LIBEXEC", libexec, 1);
	else
		unsetenv("KDELTA_LIBEXEC");
}

static void test_load(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct span rest, line;
	size_t n = 0;
	char sha256[65];
	int r = initramfs_load(&text, sha256, &e);

	(void)state;
	if (r == -ENOENT)
		skip();
	assert_int_equal(r, 0);
	rest = (struct span){text.buf, text.len};
	while (span_next_line(&rest, &line, NULL))
		n++;
	assert_int_equal(n, INITRAMFS_LOAD_LINES);
	assert_int_equal(strlen(sha256), 64);
}

static struct span span_of_buf(const struct strbuf *sb)
{
	return (struct span){strbuf_str(sb), sb->len};
}

static void test_frames(void **state)
{
	static const char body[] = "one\0KDF x 3 0\n";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span type, got;
	size_t used, i, first;

	(void)state;
	strbuf_adds(&sb, "\x1b[2J noise\nKD");
	frame_encode("result", body, sizeof(body), &sb);
	first = sb.len;
	frame_encode("end", "", 0, &sb);
	for (i = 0; i < first; i++) {
		assert_int_equal(frame_decode((struct span){sb.buf, i}, &type, &got, &used), 0);
		assert_true(used <= strlen("\x1b[2J noise\nKD"));
	}
	assert_int_equal(frame_decode(span_of_buf(&sb), &type, &got, &used), 1);
	assert_true(span_is(type, "result"));
	assert_int_equal(got.len, sizeof(body));
	assert_memory_equal(got.s, body, sizeof(body));
	assert_int_equal(used, first);
	assert_int_equal(
		frame_decode((struct span){sb.buf + used, sb.len - used}, &type, &got, &used), 1);
	assert_true(span_is(type, "end"));
	assert_int_equal(got.len, 0);
}

static void test_damaged_frames(void **state)
{
	static const char *const texts[] = {
		"KDF result 3\nabc\n",
		"KDF result -3 0000000000000000\nabc\n",
		"KDF result 99999999999 0000000000000000\nabc\n",
		"KDF result 3 0000000000000000\nabc\n",
		"KDF\n",
		"KDF \n",
	};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span type, body;
	size_t used, i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(frame_decode(span_of(texts[i]), &type, &body, &used), -EBADMSG);
	assert_int_equal(frame_decode(span_of(texts[4]), &type, &body, &used), 0);
	assert_int_equal(frame_decode(span_of(texts[5]), &type, &body, &used), -EBADMSG);
	strbuf_adds(&sb, "KDF ");
	strbuf_pad(&sb, 200);
	assert_int_equal(frame_decode(span_of_buf(&sb), &type, &body, &used), -EBADMSG);
	/* Any changed byte behind the mark is noticed, or the rest is still awaited. */
	strbuf_reset(&sb);
	frame_encode("result", "body", 4, &sb);
	for (i = 4; i < sb.len; i++) {
		sb.buf[i] ^= 1;
		if (frame_decode(span_of_buf(&sb), &type, &body, &used) == 1)
			assert_false(span_is(type, "result"));
		sb.buf[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	 cmocka_unit_test(test_damaged_frames),
		cmocka_unit_test(test_contents), cmocka_unit_test(test_reproducible),
		cmocka_unit_test(test_no_agent), cmocka_unit_test(test_load),
	};
	_cleanup_err_ struct err e = ERR_INIT;
	int failed;

	proc_init();
	arena = arena_new();
	if (!path_program(arena, "busybox")) {
		puts("busybox is not installed");
		return 77;
	}
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &e);
	arena_free(arena);
	return failed;
}
