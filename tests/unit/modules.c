// SPDX-License-Identifier: GPL-2.0-or-later
/* The modules a guest loads: found below a folder, with what they depend on, in order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "runner/modules.h"

static struct arena *arena;
static char folder[] = "/tmp/kdelta-test.XXXXXX";

/* As much of a module as is read of it. */
static void put(const char *path, const char *depends)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const char *file = arena_printf(arena, "%s/%s", folder, path);
	char data[200] = "ELF\0license=GPL";
	size_t at = sizeof("ELF") + sizeof("license=GPL");

	at += (size_t)snprintf(data + at, sizeof(data) - at, "depends=%s", depends) + 1;
	assert_int_equal(file_make_dirs(path_folder(arena, file), &e), 0);
	assert_int_equal(file_write_atomic(file, data, at + 20, &e), 0);
}

static const char *order(const char *const *names, struct err *e)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct initramfs_file *files;
	size_t n, i;

	if (modules_find(arena, folder, names, &files, &n, e))
		return NULL;
	for (i = 0; i < n; i++)
		strbuf_addf(&sb, "%s%s", i ? " " : "", files[i].name);
	return arena_strdup(arena, strbuf_str(&sb));
}

#define ORDER(...) order((const char *const[]){__VA_ARGS__, NULL}, &e)

static void dependencies_come_first(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;

	(void)state;
	assert_string_equal(ORDER("9p"), "modules/000-netfs.ko modules/001-9pnet.ko modules/002-9p.ko");
	/* each once, whatever asks for it, by either spelling */
	assert_string_equal(ORDER("9pnet-virtio", "9p", "9pnet_virtio"),
			    "modules/000-netfs.ko modules/001-9pnet.ko "
			    "modules/002-9pnet_virtio.ko modules/003-9p.ko");
	/* built in, alone or as a dependency */
	assert_string_equal(ORDER("virtio_ring"), "");
	/* two that depend on each other end, too */
	assert_string_equal(ORDER("one"), "modules/000-two.ko modules/001-one.ko");
}

static void what_is_not_there_is_told(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT, none = ERR_INIT;
	struct initramfs_file *files;
	size_t n;

	(void)state;
	assert_null(ORDER("9pnet_virtoi"));
	assert_string_equal(err_text(&e),
			    arena_printf(arena, "there is no module 9pnet_virtoi in %s", folder));
	assert_string_equal(e.list.items[0].hint, "did you mean 9pnet_virtio?");
	assert_int_equal(modules_find(arena, "/nowhere", NULL, &files, &n, &none), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_come_first),
		cmocka_unit_test(what_is_not_there_is_told),
	};
	static const char builtin[] = "kernel/drivers/virtio/virtio.ko\n"
				      "kernel/drivers/virtio/virtio_ring.ko\n";
	struct err ignored = ERR_INIT;
	int failed;

	arena = arena_new();
	if (!mkdtemp(folder))
		return 1;
	put("kernel/net/9p/9pnet.ko", "netfs");
	put("kernel/net/9p/9pnet_virtio.ko", "9pnet,virtio,virtio_ring");
	put("kernel/fs/9p/9p.ko", "netfs,9pnet");
	put("kernel/fs/netfs/netfs.ko", "");
	put("kernel/one.ko", "two");
	put("kernel/two.ko", "one");
	file_write_atomic(arena_printf(arena, "%s/modules.builtin", folder), builtin,
			  strlen(builtin), &ignored);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(folder, &ignored);
	arena_free(arena);
	return failed;
}
