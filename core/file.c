// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_fd_ _cleanup_(close_fd)

enum { PIPE_WAIT = 5000 }; /* ms for the first byte of a named pipe */

/* Reads fd to its end; *full is set when there was more than limit bytes. */
static int read_all(int fd, size_t limit, struct strbuf *out, bool *full)
{
	char buf[65536];
	ssize_t n;

	*full = false;
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (limit && out->len + (size_t)n > limit) {
			*full = true;
			return 0;
		}
		strbuf_add(out, buf, (size_t)n);
	}
	return 0;
}

static int too_large(const char *path, size_t limit, struct err *e)
{
	bool whole = limit >= 1 << 20 && !(limit & ((1 << 20) - 1));

	return err_add(e, -EFBIG, "%s is larger than %zu %s", path, whole ? limit >> 20 : limit,
		       whole ? "MB" : "bytes");
}

/* Opening a pipe that has no writer would wait for one. */
static int open_file(const char *path)
{
	struct pollfd p = {.events = POLLIN};
	struct stat st;

	p.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p.fd < 0 || fstat(p.fd, &st) || fcntl(p.fd, F_SETFL, 0) || !S_ISFIFO(st.st_mode) ||
	    poll(&p, 1, PIPE_WAIT) > 0)
		return p.fd;
	close(p.fd);
	errno = ETIMEDOUT;
	return -1;
}

int file_read(const char *path, size_t limit, struct strbuf *out, struct err *e)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;
	bool full;
	int r;

	fd = strcmp(path, "-") ? open_file(path) : dup(0);
	if (fd < 0 && errno == ETIMEDOUT)
		return err_add(e, -ETIMEDOUT, "nothing is written to the pipe %s", path);
	if (fd < 0)
		return err_add_errno(e, "cannot open %s", path);
	if (limit && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > (off_t)limit)
		return too_large(path, limit, e);
	r = read_all(fd, limit, out, &full);
	if (r < 0) {
		errno = -r;
		return err_add_errno(e, "cannot read %s", path);
	}
	return full ? too_large(path, limit, e) : 0;
}

int file_read_line(const char *path, struct strbuf *out)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool full;
	int r;

	if (fd < 0)
		return -errno;
	r = read_all(fd, 1 << 20, out, &full);
	strbuf_rtrim(out);
	return r;
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int sync_folder_of(const char *path)
{
	_cleanup_free_ char *dir = mem_strdup(path);
	char *slash = strrchr(dir, '/');
	_cleanup_fd_ int fd = -1;

	if (slash)
		*(slash == dir ? slash + 1 : slash) = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) ? -errno : 0;
}

/* A device, a pipe or a terminal cannot be replaced, only written to. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_special(const char *path, const void *data, size_t len)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, data, len);
}

/*
 * The new content takes shape under a name of its own, always the same, so that what a killed
 * writer left is taken over by the next one; the lock keeps two of them apart. In a folder for all,
 * a file that somebody else laid there is not written to.
 */
static int open_part(const char *part)
{
	struct stat held, named;

	for (;;) {
		int fd = open(part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			return -1;
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
		if (!fstat(fd, &held) && !stat(part, &named) && held.st_ino == named.st_ino &&
		    held.st_dev == named.st_dev) {
			if (S_ISREG(held.st_mode) && held.st_uid == geteuid() && held.st_nlink == 1)
				return fd;
			close(fd);
			errno = EEXIST;
			return -1;
		}
		close(fd); /* another writer has renamed it meanwhile */
	}
}

static int replace(const char *part, int fd, const char *path, const void *data, size_t len)
{
	int r = write_all(fd, data, len);

	if (!r && (ftruncate(fd, (off_t)len) || fchmod(fd, 0644) || fsync(fd) || rename(part, path)))
		r = -errno;
	if (r)
		unlink(part);
	else
		sync_folder_of(path);
	return r;
}

int file_write_atomic(const char *path, const void *data, size_t len, struct err *e)
{
	_cleanup_free_ char *part = mem_printf("%s.new~", path);
	bool special = is_special(path);
	_cleanup_fd_ int fd = special ? -1 : open_part(part);
	int r;

	if (!special && fd < 0)
		return err_add_errno(e, "cannot create a file beside %s", path);
	r = special ? write_special(path, data, len) : replace(part, fd, path, data, len);
	if (!r)
		return 0;
	errno = -r;
	return err_add_errno(e, "cannot write %s", path);
}

/* How much of ending a file ends in already. */
static int tail_of(int fd, const char *ending, size_t *have)
{
	char tail[16];
	size_t most = strlen(ending);
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n;

	if (size < 0)
		return -errno;
	*have = most;
	if (!size)
		return 0;
	n = pread(fd, tail, MIN(most, sizeof(tail)), MAX((off_t)0, size - (off_t)most));
	if (n < 0)
		return -errno;
	for (*have = MIN(most, (size_t)n); *have; --*have)
		if (!memcmp(tail + n - *have, ending, *have))
			break;
	return 0;
}

int file_append(const char *path, const char *ending, const void *data, size_t len, struct err *e)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	_cleanup_fd_ int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	size_t have = 0;
	int r;

	if (fd < 0)
		return err_add_errno(e, "cannot open %s", path);
	r = fcntl(fd, F_OFD_SETLKW, &lock) ? -errno : tail_of(fd, ending, &have);
	if (!r) {
		strbuf_adds(&all, ending + have);
		strbuf_add(&all, data, len);
		r = write_all(fd, strbuf_str(&all), all.len);
	}
	if (!r && fsync(fd) && errno != EINVAL)
		r = -errno;
	if (!r)
		return 0;
	errno = -r;
	return err_add_errno(e, "cannot write %s", path);
}

int file_write_existing(const char *path, const char *text, struct err *e)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	_cleanup_free_ char *line = mem_printf("%s\n", text);
	int r;

	if (fd < 0)
		return err_add_errno(e, "cannot open %s", path);
	r = write_all(fd, line, strlen(line));
	if (r) {
		errno = -r;
		return err_add_errno(e, "cannot write \"%s\" to %s", text, path);
	}
	return 0;
}

int file_make_dirs(const char *path, struct err *e)
{
	_cleanup_free_ char *p = mem_strdup(path);
	char *s;

	for (s = p + 1; *p; s++) {
		char c = *s;

		if (c && c != '/')
			continue;
		*s = '\0';
		if (mkdir(p, 0755) && errno != EEXIST)
			return err_add_errno(e, "cannot create the folder %s", p);
		*s = c;
		if (!c)
			break;
	}
	if (!file_is_dir(path))
		return err_add(e, -ENOTDIR, "%s is not a folder", path);
	return 0;
}

bool file_exists(const char *path)
{
	return !access(path, F_OK);
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool file_starts_with(const char *path, const char *start)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[64];
	size_t n = MIN(strlen(start), sizeof(head));

	return fd >= 0 && read(fd, head, n) == (ssize_t)n && !memcmp(head, start, n);
}

bool file_is_same(const char *x, const char *y)
{
	struct stat a, b;

	return !stat(x, &a) && !stat(y, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

int file_remove_tree(const char *path, struct err *e)
{
	if (nftw(path, remove_entry, 64, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) && errno != ENOENT)
		return err_add_errno(e, "cannot remove %s", path);
	return 0;
}

int file_sha256(const char *path, char hex[65], struct err *e)
{
	if (!SHA256File(path, hex))
		return err_add_errno(e, "cannot read %s", path);
	return 0;
}

void data_sha256(const void *data, size_t len, char hex[65])
{
	SHA256Data(data, len, hex);
}

int file_list(struct arena *a, const char *dir, const char *pattern, char ***names, size_t *n,
	      struct err *e)
{
	ARRAY_OF(char *) list = {NULL, 0, 0};
	struct dirent *de;
	DIR *d = opendir(dir);

	*names = NULL;
	*n = 0;
	if (!d)
		return err_add_errno(e, "cannot read the folder %s", dir);
	while ((de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (pattern && fnmatch(pattern, de->d_name, 0))
			continue;
		*ARRAY_PUSH(&list) = arena_strdup(a, de->d_name);
	}
	closedir(d);
	if (list.n)
		qsort(list.items, list.n, sizeof(*list.items), str_compare);
	*names = arena_copy(a, list.items, list.n, sizeof(*list.items));
	*n = list.n;
	ARRAY_FREE(&list);
	return 0;
}

static char *path_xdg(struct arena *a, const char *variable, const char *under_home,
		      const char *name)
{
	const char *dir = getenv(variable), *home = getenv("HOME");

	if (dir && *dir == '/')
		return arena_printf(a, "%s/kdelta/%s", dir, name);
	return arena_printf(a, "%s/%s/kdelta/%s", home && *home ? home : "/root", under_home, name);
}

char *path_cache(struct arena *a, const char *name)
{
	return path_xdg(a, "XDG_CACHE_HOME", ".cache", name);
}

char *path_data(struct arena *a, const char *name)
{
	return path_xdg(a, "XDG_DATA_HOME", ".local/share", name);
}

char *path_state(struct arena *a, const char *name)
{
	const char *dir = getenv("XDG_STATE_HOME");

	return arena_printf(a, "%s/kdelta/%s", dir && *dir == '/' ? dir : "/var/lib", name);
}

char *path_config(struct arena *a, const char *name)
{
	return path_xdg(a, "XDG_CONFIG_HOME", ".config", name);
}

/* The folder the program lies in. */
static char *path_self(struct arena *a)
{
	char buf[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", buf, sizeof(buf) - 1);
	char *slash;

	if (n <= 0)
		return arena_strdup(a, ".");
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
	return arena_strdup(a, buf);
}

/* First of: the environment's folder, beside the program, the installed place. */
static char *path_shipped(struct arena *a, const char *variable, const char *beside,
			  const char *installed, const char *name)
{
	const char *dir = getenv(variable);
	char *self, *p;

	if (dir && *dir)
		return arena_printf(a, "%s/%s", dir, name);
	self = path_self(a);
	p = arena_printf(a, "%s/%s%s", self, beside, name);
	if (file_exists(p))
		return p;
	p = arena_printf(a, "%s/../%s/%s", self, installed, name);
	if (file_exists(p))
		return p;
	return arena_printf(a, "%s/%s/%s", KDELTA_PREFIX, installed, name);
}

char *path_share(struct arena *a, const char *name)
{
	return path_shipped(a, "KDELTA_SHARE", "", "share/kdelta", name);
}

char *path_libexec(struct arena *a, const char *name)
{
	return path_shipped(a, "KDELTA_LIBEXEC", "build/", "libexec/kdelta", name);
}

char *path_folder(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strndup(a, path, MAX((size_t)(slash - path), (size_t)1))
		     : arena_strdup(a, ".");
}

char *path_name(struct arena *a, const char *path)
{
	size_t n = strlen(path), start;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (start = n; start && path[start - 1] != '/'; start--)
		;
	return start < n ? arena_strndup(a, path + start, n - start) : arena_strndup(a, path, n);
}

char *path_program(struct arena *a, const char *name)
{
	const char *path = getenv("PATH");
	struct span rest = span_of(path && *path ? path : "/usr/local/bin:/usr/bin:/bin");

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : arena_strdup(a, name);
	while (rest.len) {
		const char *end = memchr(rest.s, ':', rest.len);
		size_t n = end ? (size_t)(end - rest.s) : rest.len;
		char *p = arena_printf(a, "%.*s/%s", (int)n, rest.s, name);

		if (n && !access(p, X_OK) && !file_is_dir(p))
			return p;
		rest.s += n + (end ? 1 : 0);
		rest.len -= n + (end ? 1 : 0);
	}
	return NULL;
}
