// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/num.h"

enum { LINE_LIMIT = 4096, MAX_PATHS = 8192 };

int rooted_open(const char *root, const char *path, bool devices)
{
	_cleanup_free_ char *full = mem_printf("%s%s", root, path);
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (S_ISREG(st.st_mode) || (devices && S_ISCHR(st.st_mode))))
		return fd;
	close(fd);
	return -EINVAL;
}

int rooted_read(const char *root, const char *path, size_t limit, struct strbuf *out)
{
	int fd = rooted_open(root, path, false), r = 0;
	size_t start = out->len;
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r = -errno;
			break;
		}
		strbuf_add(out, buf, MIN((size_t)n, limit - (out->len - start)));
		if (out->len - start == limit) {
			r = -EFBIG;
			break;
		}
	}
	close(fd);
	return r;
}

char *rooted_line(struct arena *a, const char *root, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int r = rooted_read(root, path, LINE_LIMIT, &sb);
	struct span rest = {strbuf_str(&sb), sb.len}, line;

	if ((r && r != -EFBIG) || !span_next_line(&rest, &line, NULL))
		return NULL;
	line = span_trim(line);
	return line.len && !memchr(line.s, '\0', line.len) ? arena_strndup(a, line.s, line.len)
							    : NULL;
}

bool rooted_number(const char *root, const char *path, double *v)
{
	_cleanup_arena_ struct arena *a = arena_new();
	const char *line = rooted_line(a, root, path);

	return line && num_parse(span_of(line), v);
}

char *rooted_value(struct arena *a, struct span text, const char *key)
{
	struct span line;

	while (span_next_line(&text, &line, NULL)) {
		const char *colon = memchr(line.s, ':', line.len);
		struct span name = {line.s, colon ? (size_t)(colon - line.s) : 0};

		if (!colon || !span_is(span_trim(name), key))
			continue;
		span_skip(&line, name.len + 1);
		line = span_trim(line);
		return arena_strndup(a, line.s, line.len);
	}
	return NULL;
}

/* The root is no pattern, whatever its name is. */
static char *quote_pattern(struct arena *a, const char *root)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (; *root; root++) {
		if (strchr("*?[]\\", *root))
			strbuf_addc(&sb, '\\');
		strbuf_addc(&sb, *root);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

char **rooted_glob(struct arena *a, const char *root, const char *pattern, size_t limit, size_t *n)
{
	const char *full = arena_printf(a, "%s%s", quote_pattern(a, root), pattern);
	char **paths = NULL;
	glob_t g = {0};

	*n = 0;
	if (!glob(full, 0, NULL, &g)) {
		paths = arena_alloc_array(a, g.gl_pathc + 1, sizeof(*paths));
		for (; *n < g.gl_pathc && *n < limit; (*n)++)
			paths[*n] = arena_strdup(a, g.gl_pathv[*n] + strlen(root));
	}
	globfree(&g);
	return paths;
}

struct rooted_count *rooted_lines(struct arena *a, const char *root, const char *pattern, size_t *n)
{
	size_t files, i, k;
	char **paths = rooted_glob(a, root, pattern, MAX_PATHS, &files);
	struct rooted_count *list = arena_alloc_array(a, files + 1, sizeof(*list));

	*n = 0;
	for (i = 0; i < files; i++) {
		const char *line = rooted_line(a, root, paths[i]);

		for (k = 0; line && k < *n && strcmp(list[k].line, line); k++)
			;
		if (!line)
			continue;
		list[k].line = line;
		list[k].files++;
		*n += k == *n;
	}
	return list;
}
