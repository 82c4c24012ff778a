// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta export: campaigns as a bundle for another machine. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/file.h"
#include "exchange/bundle.h"
#include "net/net.h"

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

/* In a folder the name is made of what is in it: the same campaigns are the same file. */
static const char *file_url(struct cli *c, const char *url, const struct strbuf *file)
{
	char hash[65];

	if (!str_ends(url, "/"))
		return url;
	data_sha256(file->buf, file->len, hash);
	return arena_printf(c->a, "%skdelta-%.16s.tar.zst", url, hash);
}

static int upload(struct cli *c, const char *to, const struct strbuf *file, size_t n)
{
	struct net_options net = {0};
	const char *url = file_url(c, to, file);
	int r = cli_http_options(c, &net);

	if (!r)
		r = net_put(url, (struct span){file->buf, file->len}, &net, c->e);
	if (r)
		return r;
	cli_note(c, "%s: %zu campaign%s, %zu bytes", url, n, n == 1 ? "" : "s", file->len);
	return EXIT_DONE;
}

static int export_run(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	_cleanup_db_ struct db *db = NULL;
	const char *path = cli_value(c, "output"), *to = cli_value(c, "to");
	ids_t ids = {NULL, 0, 0};
	int r;

	if (!path == !to)
		return cli_usage(c, "where to? -o FILE.tar.zst, -o - for standard output, or --to "
				    "URL");
	if (path && !strcmp(path, "-") && isatty(STDOUT_FILENO))
		return cli_usage(c, "a bundle is no text for a terminal: -o FILE.tar.zst");
	r = cli_open_db(c, DB_READ, &db);
	if (!r)
		r = choose(c, db, &ids);
	if (!r)
		r = bundle_pack(db, ids.items, ids.n, &file, c->e);
	if (!r)
		r = to ? upload(c, to, &file, ids.n) : write_bundle(c, path, &file, ids.n);
	ARRAY_FREE(&ids);
	return r;
}

static const struct cli_option options[] = {
	{"output", 'o', "FILE", "where the bundle goes; - is standard output"},
	{"to", 0, "URL", "a file or folder (FOLDER/) of a WebDAV server"},
	{"netrc", 0, "FILE", "user and password of the server (default ~/.netrc)"},
	{"cacert", 0, "FILE", "trust these authorities only (PEM)"},
	{"timeout", 0, "TIME", "of a whole transfer (300s)"},
	CLI_OPTIONS_END,
};

static const struct command export_command = {
	.name = "export",
	.usage = "[CAMPAIGN...] -o FILE.tar.zst | --to URL",
	.group = "keep",
	.summary = "campaigns as a bundle, for `kdelta merge` on another machine",
	.help = "All campaigns without an operand. A tar packed by zstd: the raw outputs as they "
		"were\n"
		"printed, and of every campaign a file with one row a line, in JSON. The same\n"
		"campaigns give the same bytes, whichever databases they went through.\n"
		"--to stores it under another name first (PUT) and renames it there (MOVE): the\n"
		"server needs WebDAV. In a folder its name is made of its content, so exporting\n"
		"again adds nothing.",
	.examples = "kdelta export -o $(hostname).tar.zst\n"
		    "kdelta export nightly --to https://lab.example.org/bundles/\n"
		    "kdelta export nightly -o - | ssh lab 'cat > nightly.tar.zst'",
	.options = options,
	.run = export_run,
};
REGISTER(command, export_command);
