// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernels/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"

#define DEFAULT_LIMIT "20G"
#define POLL_NS	      200000000L

static const char *const kinds[] = {"kernels", "build", "source", "download", "ranges"};

/* ---- locks ---- */

struct held {
	char *unit;
	int fd;
};
static ARRAY_OF(struct held) held;

static struct held *find_held(const char *unit)
{
	struct held *h;

	array_for_each (h, &held)
		if (!strcmp(h->unit, unit))
			return h;
	return NULL;
}

/* "kernels/built-12ab" -> ".../locks/kernels.built-12ab" */
static char *lock_path(struct arena *a, const char *unit)
{
	char *name = arena_strdup(a, unit), *p;

	for (p = name; *p; p++)
		if (*p == '/')
			*p = '.';
	return path_cache(a, arena_printf(a, "locks/%s", name));
}

static int lock_open(struct arena *a, const char *unit, struct err *e)
{
	const char *path = lock_path(a, unit);
	int fd, ret = file_make_dirs(path_cache(a, "locks"), e);

	if (ret)
		return ret;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? err_add_errno(e, "cannot open the lock %s", path) : fd;
}

static int wait_for(struct arena *a, int fd, int how, const char *unit,
		    void (*note)(const char *text), struct err *e)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	bool told = false;

	while (flock(fd, how | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_add_errno(e, "cannot lock %s", unit);
		if (proc_interrupted())
			return -EINTR;
		if (note && !told)
			note(arena_printf(a, "waiting for another kdelta that works on %s", unit));
		told = true;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int take(struct arena *a, const char *unit, int how, void (*note)(const char *text),
		struct err *e)
{
	struct held *h = find_held(unit);
	int fd = h ? h->fd : lock_open(a, unit, e), ret;

	if (fd < 0)
		return fd;
	if (!h) {
		h = ARRAY_PUSH(&held);
		*h = (struct held){mem_strdup(unit), fd};
	}
	ret = wait_for(a, fd, how, unit, note, e);
	if (ret)
		cache_unlock(unit);
	else
		futimens(fd, NULL);
	return ret;
}

int cache_lock(struct arena *a, const char *unit, void (*note)(const char *text), struct err *e)
{
	return take(a, unit, LOCK_EX, note, e);
}

int cache_share(struct arena *a, const char *unit, void (*note)(const char *text), struct err *e)
{
	return take(a, unit, LOCK_SH, note, e);
}

void cache_unlock(const char *unit)
{
	struct held *h = find_held(unit);

	if (!h)
		return;
	close(h->fd);
	free(h->unit);
	*h = held.items[--held.n];
	if (!held.n)
		ARRAY_FREE(&held);
}

/* ---- the limit ---- */

int cache_limit(int64_t *bytes, struct err *e)
{
	const char *text = getenv("KDELTA_CACHE_SIZE");

	if (!text || !*text)
		text = DEFAULT_LIMIT;
	if (num_parse_size(text, bytes) && *bytes > 0)
		return 0;
	err_add(e, -EINVAL, "KDELTA_CACHE_SIZE is \"%s\", which is no size", text);
	err_hint(e, "e.g. KDELTA_CACHE_SIZE=20G");
	return -EINVAL;
}

struct unit {
	const char *name;
	int64_t size;
	struct timespec used;
};

/* nftw has no argument for its caller. */
static int64_t walked;

/* A file of several names counts in parts. */
static int add_size(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path, (void)type, (void)ftw;
	walked += st->st_blocks * 512 / (S_ISDIR(st->st_mode) ? 1 : MAX(1, (int64_t)st->st_nlink));
	return 0;
}

static void measure(struct arena *a, struct unit *u)
{
	const char *path = path_cache(a, u->name);
	struct stat st;

	walked = 0;
	nftw(path, add_size, 32, FTW_PHYS);
	u->size = walked;
	if (!stat(lock_path(a, u->name), &st) || !stat(path, &st))
		u->used = st.st_mtim;
}

static int by_use(const void *x, const void *y)
{
	const struct timespec *p = &((const struct unit *)x)->used,
			      *q = &((const struct unit *)y)->used;

	if (p->tv_sec != q->tv_sec)
		return p->tv_sec < q->tv_sec ? -1 : 1;
	return p->tv_nsec < q->tv_nsec ? -1 : p->tv_nsec > q->tv_nsec;
}

/* False: somebody uses it. */
static int remove_unit(struct arena *a, const struct unit *u, bool *removed, struct err *e)
{
	const char *lock = lock_path(a, u->name);
	int fd, ret = 0;

	*removed = false;
	if (find_held(u->name))
		return 0;
	fd = lock_open(a, u->name, e);
	if (fd < 0)
		return fd;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		ret = file_remove_tree(path_cache(a, u->name), e);
		*removed = !ret;
		if (!ret)
			unlink(lock);
	}
	close(fd);
	return ret;
}

int cache_trim_to(struct arena *a, int64_t limit, int64_t *left, void (*note)(const char *text),
		  struct err *e)
{
	ARRAY_OF(struct unit) units = {NULL, 0, 0};
	int64_t total = 0;
	struct unit *u;
	size_t i, k, n;
	char **names;
	bool removed;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(kinds); i++) {
		const char *dir = path_cache(a, kinds[i]);

		if (!file_is_dir(dir))
			continue;
		ret = file_list(a, dir, NULL, &names, &n, e);
		for (k = 0; !ret && k < n; k++) {
			u = ARRAY_PUSH(&units);
			u->name = arena_printf(a, "%s/%s", kinds[i], names[k]);
			measure(a, u);
			total += u->size;
		}
	}
	if (units.n)
		qsort(units.items, units.n, sizeof(*units.items), by_use);
	array_for_each (u, &units) {
		if (ret || total <= limit)
			break;
		ret = remove_unit(a, u, &removed, e);
		if (!removed)
			continue;
		total -= u->size;
		if (note)
			note(arena_printf(a, "removed %s (%.0f MB) from the cache, which is to "
					     "stay below %.0f MB",
					  u->name, (double)u->size / 1e6, (double)limit / 1e6));
	}
	ARRAY_FREE(&units);
	*left = total;
	return ret;
}

int cache_trim(struct arena *a, void (*note)(const char *text), struct err *e)
{
	int64_t limit, left;
	int ret = cache_limit(&limit, e);

	return ret ? ret : cache_trim_to(a, limit, &left, note, e);
}
