// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta export: campaigns as a bundle for another machine. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/file.h"
#include "exchange/bundle.h"

typedef ARRAY_OF(const char *) ids_t;

/* The campaigns of the operands, all without any. */
static int choose(struct cli *c, struct db *db, ids_t *ids)
{
	struct db_campaign *list, one;
	size_t n = 0, i;
	int r = 0;

	for (i = 0; !r && i < c->n_operands; i++) {
		r = db_find_campaign(db, c->a, c->operands[i], &one, c->e);
		if (!r)
			*ARRAY_PUSH(ids) = one.id;
	}
	if (!r && !c->n_operands)
		r = db_get_campaigns(db, c->a, &list, &n, c->e);
	for (i = 0; !r && i < n; i++)
		*ARRAY_PUSH(ids) = list[i].id;
	return r;
}

static int write_bundle(struct cli *c, const char *path, const struct strbuf *file, size_t n)
{
	int r;

	if (!strcmp(path, "-")) {
		cli_print(file);
		return EXIT_DONE;
	}
	r = file_write_atomic(path, file->buf, file->len, c->e);
	if (r)
		return r;
	cli_note(c, "%s: %zu campaign%s, %zu bytes", path, n, n == 1 ? "" : "s", file->len);
	return EXIT_DONE;
}

static int export_run(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char *path = cli_value(c, "output");
	ids_t ids = {NULL, 0, 0};
	int r;

	if (!path)
		return cli_usage(c, "where to? -o FILE.tar.zst, or -o - for standard output");
	if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
		return cli_usage(c, "a bundle is no text for a terminal: -o FILE.tar.zst");
	r = cli_open_db(c, DB_READ, &db);
	if (!r)
		r = choose(c, db, &ids);
	if (!r)
		r = bundle_pack(db, ids.items, ids.n, &file, c->e);
	if (!r)
		r = write_bundle(c, path, &file, ids.n);
	ARRAY_FREE(&ids);
	return r;
}

static const struct cli_option options[] = {
	{"output", 'o', "FILE", "where the bundle goes; - is standard output"},
	CLI_OPTIONS_END,
};

static const struct command export_command = {
	.name = "export",
	.usage = "[CAMPAIGN...] -o FILE.tar.zst",
	.group = "keep",
	.summary = "campaigns as a bundle, for `kdelta merge` on another machine",
	.help = "All campaigns without an operand. A tar packed by zstd: the raw outputs as they "
		"were\n"
		"printed, and of every campaign a file with one row a line, in JSON. The same\n"
		"campaigns give the same bytes, whichever databases they went through.",
	.examples = "kdelta export -o $(hostname).tar.zst\n"
		    "kdelta export nightly -o - | ssh lab 'cat > nightly.tar.zst'",
	.options = options,
	.run = export_run,
};
REGISTER(command, export_command);
