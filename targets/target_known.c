// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/target_known.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "runner/link.h"

static char *name_of(struct arena *a, const struct target_config *c)
{
	return arena_printf(a, "%s%s%s%s", c->user ? c->user : "", c->user ? "@" : "", c->host,
			    c->port ? arena_printf(a, ":%d", c->port) : "");
}

/* Hosts may be named as no file can be. */
static char *file_of(struct arena *a, const struct target_config *c)
{
	const char *name = name_of(a, c);
	char hex[65];

	data_sha256(name, strlen(name), hex);
	return path_data(a, arena_printf(a, "targets/%.16s", hex));
}

static int64_t time_of(struct arena *a, struct span text, const char *key)
{
	int64_t v;

	return num_parse_int(span_of(link_value(a, text, key)), &v) ? v : 0;
}

static bool read_known(struct arena *a, const char *path, struct target_known *k)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span text;

	if (file_read(path, 1 << 16, &sb, &ignored))
		return false;
	text = (struct span){strbuf_str(&sb), sb.len};
	*k = (struct target_known){
		.target = link_value(a, text, "target"),
		.state = link_value(a, text, "state"),
		.kernel = link_value(a, text, "kernel"),
		.owner = link_value(a, text, "owner"),
		.reason = link_value(a, text, "reason"),
		.contact = time_of(a, text, "contact"),
		.tried = time_of(a, text, "tried"),
	};
	return *k->target && *k->state;
}

/* One line of it: a reason may have several. */
static char *one_line(struct arena *a, const char *text)
{
	char *line = arena_strdup(a, text ? text : ""), *p;

	for (p = line; *p; p++)
		*p = *p == '\n' || *p == '\r' ? ' ' : *p;
	return line;
}

void target_known_keep(struct arena *a, const struct target_config *c, struct target_known seen)
{
	struct target_known before = {.kernel = "", .contact = 0};
	_cleanup_err_ struct err ignored = ERR_INIT;
	const char *path = file_of(a, c), *text;
	long long now = (long long)time(NULL);

	read_known(a, path, &before);
	text = arena_printf(
		a, "target %s\nstate %s\nkernel %s\nowner %s\nreason %s\ncontact %lld\ntried %lld\n",
		name_of(a, c), seen.state, seen.kernel ? seen.kernel : before.kernel,
		one_line(a, seen.owner), one_line(a, seen.reason),
		strcmp(seen.state, "unreachable") ? now : (long long)before.contact, now);
	if (!file_make_dirs(path_data(a, "targets"), &ignored))
		file_write_atomic(path, text, strlen(text), &ignored);
}

void target_known_forget(struct arena *a, const struct target_config *c)
{
	unlink(file_of(a, c));
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct target_known *)x)->target,
		      ((const struct target_known *)y)->target);
}

int target_known_list(struct arena *a, struct target_known **list, size_t *n, struct err *e)
{
	const char *dir = path_data(a, "targets");
	ARRAY_OF(struct target_known) found = {NULL, 0, 0};
	struct target_known k;
	char **names;
	size_t files = 0, i;
	int r = file_is_dir(dir) ? file_list(a, dir, NULL, &names, &files, e) : 0;

	for (i = 0; !r && i < files; i++)
		if (read_known(a, arena_printf(a, "%s/%s", dir, names[i]), &k))
			*ARRAY_PUSH(&found) = k;
	if (found.n)
		qsort(found.items, found.n, sizeof(*found.items), by_name);
	*list = arena_copy(a, found.items, found.n, sizeof(*found.items));
	*n = found.n;
	ARRAY_FREE(&found);
	return r;
}
