// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What mail did to a text, undone: MIME, quoted-printable, base64, charsets, HTML, format=flowed,
 * quote marks. Every line that comes out is clean UTF-8 and has the number of a line that went in.
 */
#include "tests/fuzz/fuzz.h"

#include "core/mem.h"
#include "parsers/tables/tables.h"

static void check_line(const struct table_line *line, int lines)
{
	struct span rest = line->text;
	unsigned int cp;
	size_t n;

	CHECK(line->line >= 1 && line->line <= lines && line->depth >= 0);
	while (rest.len) {
		n = span_utf8(rest, &cp);
		CHECK(n && cp >= ' ' && (cp < 0x7f || cp >= 0xa0));
		span_skip(&rest, n);
	}
}

static void fuzz_mail(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct table_set set = {0};
	struct table_text text;
	int lines = 1;
	size_t i;

	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	tables_undo(a, "fuzz", (struct span){(const char *)data, size}, &text, &set);
	for (i = 0; i < text.n; i++)
		check_line(&text.lines[i], lines);
	ARRAY_FREE(&set.facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin();
	fuzz_mail(data, size);
	fuzz_end();
	return 0;
}
