// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One controller per target. The file `lock` names its owner; while that is connected, its agent
 * also holds `lock.live`, a lock of the kernel that vanishes with the agent. A controller that
 * lost its connection, or reboots the target, keeps the target for its lease.
 *
 *	owner ada@desk
 *	pid 4711
 *	nonce 3b1f...
 *	agent 812
 *	boot_id 5bd2...
 *	until 1764500000
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "guest/target_boot.h"
#include "machine/host.h"
#include "runner/settings.h"

#define AGENT_PATIENCE 5.0 /* seconds for the agent of a lost connection to end */

static int64_t number_of(const char *text)
{
	int64_t v;

	return num_parse_int(span_of(text), &v) ? v : 0;
}

static int write_lock(struct target *t, struct span owner, struct err *e)
{
	struct running_kernel k;
	const char *text;

	machine_read_kernel(t->a, &k);
	text = arena_printf(t->a, "owner %s\npid %s\nnonce %s\nagent %d\nboot_id %s\nuntil %lld\n",
			    target_value(t, owner, "owner"), target_value(t, owner, "pid"),
			    t->nonce, (int)getpid(), k.boot_id, (long long)time(NULL) + t->lease);
	return file_write_atomic(target_path(t, "lock", ""), text, strlen(text), e);
}

/* The lock of the kernel, or -1: an agent that lives holds it. */
static int take_live(struct target *t)
{
	int fd = open(target_path(t, "lock.live", ""), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The agent of the same controller's lost connection may not have noticed yet. */
static int end_other_agent(struct target *t, struct span lock)
{
	double until = num_monotonic() + AGENT_PATIENCE;
	int64_t pid = number_of(target_value(t, lock, "agent"));
	int fd;

	if (pid > 1 && pid != getpid())
		kill((pid_t)pid, SIGKILL);
	while ((fd = take_live(t)) < 0 && num_monotonic() < until)
		usleep(20000);
	return fd;
}

static const char *say_busy(struct target *t, struct span lock, bool live, struct strbuf *out)
{
	int64_t rest = number_of(target_value(t, lock, "until")) - (int64_t)time(NULL);

	strbuf_addf(out, "owner %s\npid %s\nboot_id %s\nlive %d\nseconds %lld\n",
		    target_value(t, lock, "owner"), target_value(t, lock, "pid"),
		    target_value(t, lock, "boot_id"), live, (long long)rest);
	return "busy";
}

/* What a restart in the middle of writing the lock left beside it; the lock is ours. */
static void remove_unfinished(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char **names;
	size_t n, i;

	if (file_list(t->a, t->state, "lock.*", &names, &n, &ignored))
		return;
	for (i = 0; i < n; i++)
		if (strcmp(names[i], "lock.live"))
			unlink(target_path(t, names[i], ""));
}

const char *target_lock(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *path = target_path(t, "lock", "");
	bool force = number_of(target_value(t, body, "force"));
	struct span lock;
	int fd = take_live(t), n;

	free(t->nonce);
	t->nonce = mem_strdup(target_value(t, body, "nonce"));
	t->lease = number_of(target_value(t, body, "lease"));
	if (file_exists(path) && file_read(path, 1 << 16, &text, e))
		return NULL;
	lock = (struct span){strbuf_str(&text), text.len};
	if (lock.len && strcmp(target_value(t, lock, "nonce"), t->nonce)) {
		int64_t rest = number_of(target_value(t, lock, "until")) - (int64_t)time(NULL);

		if (!force && (fd < 0 || rest > 0)) {
			if (fd >= 0)
				close(fd);
			return say_busy(t, lock, fd < 0, out);
		}
		strbuf_addf(out, "took over the lock that %s (pid %s) left behind",
			    target_value(t, lock, "owner"), target_value(t, lock, "pid"));
	}
	if (fd < 0)
		fd = end_other_agent(t, lock);
	if (fd < 0) {
		err_add(e, -EBUSY, "another agent holds %s.live", path);
		return NULL;
	}
	t->lock_fd = fd;
	remove_unfinished(t);
	if (write_lock(t, body, e)) {
		close(fd);
		t->lock_fd = -1;
		return NULL;
	}
	/* What an earlier controller left changed or running does not last into our visits. */
	if (!lock.len || strcmp(target_value(t, lock, "nonce"), t->nonce)) {
		target_clear_jobs(t);
		target_take_back(t, &ignored);
		settings_restore(t->a, &n, &ignored);
	}
	return "ok";
}

/* Writes the lock anew with a lease from now. */
void target_extend(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span lock;

	if (t->lock_fd < 0 || file_read(target_path(t, "lock", ""), 1 << 16, &text, &ignored))
		return;
	lock = (struct span){strbuf_str(&text), text.len};
	if (!strcmp(target_value(t, lock, "nonce"), t->nonce))
		write_lock(t, lock, &ignored);
}

void target_hang_up(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;

	target_extend(t);
	if (t->lock_fd < 0)
		return;
	target_take_back(t, &ignored);
	close(t->lock_fd);
	t->lock_fd = -1;
}

const char *target_unlock(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	int n;

	(void)body, (void)out;
	if (target_take_back(t, e) || settings_restore(t->a, &n, e))
		return NULL;
	unlink(target_path(t, "lock", ""));
	close(t->lock_fd);
	t->lock_fd = -1;
	return "ok";
}

int target_guard(const char *state, const char *seconds)
{
	struct target t = {.a = arena_new(), .state = state, .lock_fd = -1};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct running_kernel k;
	double until, patience = 300;
	int fd;

	num_parse(span_of(seconds), &patience);
	machine_read_kernel(t.a, &k);
	until = num_monotonic() + patience;
	while (strstr(k.cmdline, TARGET_TOKEN) && (fd = take_live(&t)) >= 0) {
		close(fd);
		if (num_monotonic() > until)
			return boot_restart(&t, "reboot", &ignored) ? 1 : 0;
		sleep(1);
	}
	arena_free(t.a);
	return 0;
}
