// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/cgroup.h"

#include <string.h>

#include "machine/rooted.h"

#define TOP "/sys/fs/cgroup"

enum { TEXT_LIMIT = 1 << 16 };

/* Takes "cpu,cpuacct" off "cpu,cpuacct:/path", and so on; without the end. */
static struct span next_part(struct span *rest, char end)
{
	const char *p = memchr(rest->s, end, rest->len);
	struct span part = {rest->s, p ? (size_t)(p - rest->s) : rest->len};

	span_skip(rest, part.len + (p != NULL));
	return part;
}

static bool has_word(struct span list, const char *word)
{
	while (list.len)
		if (span_is(next_part(&list, ','), word))
			return true;
	return false;
}

char *cgroup_folder(struct arena *a, const char *root, const char *controller)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, line, list;
	char *path;

	rooted_read(root, "/proc/self/cgroup", TEXT_LIMIT, &sb);
	rest = (struct span){strbuf_str(&sb), sb.len};
	while (span_next_line(&rest, &line, NULL)) {
		next_part(&line, ':');
		list = next_part(&line, ':');
		if (!line.len || (*controller ? !has_word(list, controller) : list.len > 0))
			continue;
		path = arena_strndup(a, line.s, line.len);
		if (*path != '/' || strstr(path, ".."))
			continue;
		return arena_printf(a, TOP "%s%s%s", *controller ? "/" : "", controller,
				    path[1] ? path : "");
	}
	return NULL;
}

bool cgroup_up(char *folder, const char *controller)
{
	size_t top = strlen(TOP) + (*controller ? 1 + strlen(controller) : 0);
	char *slash = strrchr(folder, '/');

	if (strlen(folder) <= top)
		return false;
	*slash = '\0';
	return true;
}
