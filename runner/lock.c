// SPDX-License-Identifier: GPL-2.0-or-later
/* One measuring campaign at a time, and what a crashed one left behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/file.h"
#include "runner/run.h"
#include "runner/settings.h"

static int lock_open(const char **path)
{
	static const char *const places[] = {"/run/lock/kdelta.lock", "/tmp/kdelta.lock"};
	const char *given = getenv("KDELTA_LOCK");
	int fd = -1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places) && fd < 0; i++) {
		*path = given && *given ? given : places[i];
		fd = open(*path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0 && errno == EACCES) /* another user's */
			fd = open(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd;
}

/* "412 on host: kdelta run c.yaml" of this process; one line without control characters. */
static void describe_self(struct strbuf *sb)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	file_read_line("/proc/self/cmdline", &line);
	str_mask_controls(line.buf, line.len, ' ');
	strbuf_addf(sb, "%d on %s: ", (int)getpid(), host);
	strbuf_add(sb, strbuf_str(&line), MIN(line.len, (size_t)200));
	strbuf_rtrim(sb);
}

int run_take_lock(int fd, const char *path, struct strbuf *holder)
{
	_cleanup_strbuf_ struct strbuf self = STRBUF_INIT;

	if (flock(fd, LOCK_EX | LOCK_NB)) {
		file_read_line(path, holder);
		return -EBUSY;
	}
	describe_self(&self);
	if (!ftruncate(fd, 0))
		dprintf(fd, "%s\n", strbuf_str(&self));
	return 0;
}

int run_lock(struct arena *a, void (*note)(const char *text), struct err *e)
{
	_cleanup_strbuf_ struct strbuf holder = STRBUF_INIT;
	const char *path;
	int fd = lock_open(&path), n, ret;

	if (fd < 0)
		return err_add_errno(e, "cannot open the lock %s", path);
	if (run_take_lock(fd, path, &holder)) {
		close(fd);
		err_add(e, -EBUSY, "another kdelta is measuring on this machine (pid %s)",
			strbuf_str(&holder));
		err_hint(e, "two at a time would disturb each other: wait for it, or stop it");
		return -EBUSY;
	}
	ret = settings_restore(a, &n, e);
	if (ret) {
		close(fd);
		return ret;
	}
	if (n && note)
		note(arena_printf(a, "put back %d setting%s that a run left behind when it ended",
				  n, n == 1 ? "" : "s"));
	return fd;
}
