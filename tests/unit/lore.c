// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses of messages: what is fetched for what people paste. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/mem.h"
#include "core/str.h"
#include "exchange/import_write.h"
#include "net/lore.h"

#define L "https://lore.kernel.org/"

static const struct {
	const char *operand, *address, *id;
} cases[] = {
	{"<1-2@host>", "https://lore.kernel.org/all/1-2@host/raw", "1-2@host"},
	{"<a/b#c@host>", "https://lore.kernel.org/all/a%2Fb%23c@host/raw", "a/b#c@host"},
	{L "r/1-2@host", L "all/1-2@host/raw", "1-2@host"},
	{L "r/1-2@host/", L "all/1-2@host/raw", "1-2@host"},
	{L "lkml/1-2@host", L "lkml/1-2@host/raw", "1-2@host"},
	{L "lkml/1-2@host/", L "lkml/1-2@host/raw", "1-2@host"},
	{L "lkml/1-2%40host/#r", L "lkml/1-2@host/raw", "1-2@host"},
	{L "lkml/a%2Fb@host/", L "lkml/a%2Fb@host/raw", "a/b@host"},
	{L "lkml/1-2@host/T/#u", L "lkml/1-2@host/raw", "1-2@host"},
	{L "lkml/1-2@host/t/", L "lkml/1-2@host/raw", "1-2@host"},
	/* these name a file already */
	{L "lkml/1-2@host/raw", L "lkml/1-2@host/raw", "1-2@host"},
	{L "lkml/1-2@host/t.mbox.gz", L "lkml/1-2@host/t.mbox.gz", "1-2@host"},
	/* no message */
	{L "lkml/?q=a@b", L "lkml/?q=a@b", NULL},
	{L, L, NULL},
	{"http://127.0.0.1:8080/table.txt", "http://127.0.0.1:8080/table.txt", NULL},
	{"ftp://host/file", "ftp://host/file", NULL},
	{"1-2@host", NULL, "1-2@host"}, /* as an operand a file, as an ID an ID */
	{"<1-2@host", NULL, NULL},
	{"<@host>", NULL, NULL},
	{"<a b@host>", NULL, NULL},
	{"<a@b@c>", NULL, NULL},
	{"mail.txt", NULL, NULL},
	{"", NULL, NULL},
};

static void same(const char *got, const char *want, const char *of)
{
	if (!str_equal(got, want))
		fail_msg("%s: %s, expected %s", of, got ? got : "NULL", want ? want : "NULL");
}

static void test_addresses(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		same(lore_raw_address(a, cases[i].operand, LORE_BASE), cases[i].address,
		     cases[i].operand);
		same(lore_message_id(a, cases[i].operand), cases[i].id, cases[i].operand);
	}
	same(lore_raw_address(a, "<1@h>", "http://other/list"), "http://other/list/1@h/raw",
	     "another base");
}

static void test_names(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();

	(void)state;
	same(import_name(a, L "all/2022.1-me@host/raw"), "2022.1-me", "a message");
	same(import_name(a, "http://host/dir/02%20table.txt"), "02-20table", "a file");
	same(import_name(a, L "lkml/"), "import", "a folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
