// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "guest/facts.h"
#include "guest/frames.h"
#include "runner/settings.h"

char *target_value(struct target *t, struct span text, const char *key)
{
	struct span row, word;

	while (span_next_line(&text, &row, NULL)) {
		if (span_next_word(&row, &word) && span_is(word, key)) {
			row = span_trim(row);
			return arena_strndup(t->a, row.s, row.len);
		}
	}
	return arena_strdup(t->a, "");
}

char *target_name(struct target *t, struct span text, struct err *e)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-~";
	struct span s = span_trim(text);
	char *name = arena_strndup(t->a, s.s, s.len);

	if (*name && *name != '.' && *name != '-' && !name[strspn(name, plain)])
		return name;
	err_add(e, -EINVAL, "'%s' is no name of a file", name);
	return NULL;
}

char *target_path(struct target *t, const char *name, const char *ending)
{
	return arena_printf(t->a, "%s/%s%s", t->state, name, ending);
}

/* ---- hello ---- */

/*
 * A kernel that kdelta did not boot is the one a plain reboot leads to: kept, with its command
 * line, on which those of the variants are based.
 */
static void keep_safe(struct target *t, const struct running_kernel *k)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf old = STRBUF_INIT;
	const char *path = target_path(t, "safe", "");
	char *text = arena_printf(t->a, "release %s\nversion %s\nbuild_id %s\ncmdline %s\n",
				  k->release, k->version, k->build_id, k->cmdline);

	if (strstr(k->cmdline, TARGET_TOKEN) ||
	    (!file_read(path, 1 << 16, &old, &ignored) && !strcmp(strbuf_str(&old), text)))
		return;
	file_write_atomic(path, text, strlen(text), &ignored);
}

static void add_safe(struct target *t, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span rest, row;

	if (file_read(target_path(t, "safe", ""), 1 << 16, &text, &ignored))
		return;
	rest = (struct span){strbuf_str(&text), text.len};
	while (span_next_line(&rest, &row, NULL))
		strbuf_addf(out, "safe_%.*s\n", (int)row.len, row.s);
}

static void add_free(const char *key, const char *folder, struct strbuf *out)
{
	struct statvfs v;

	if (!statvfs(folder, &v))
		strbuf_addf(out, "%s %llu\n", key,
			    (unsigned long long)v.f_bavail * v.f_frsize);
}

static void say_hello(struct target *t)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, disabled = STRBUF_INIT;
	struct running_kernel k;
	struct db_machine m;

	machine_read_kernel(t->a, &k);
	keep_safe(t, &k);
	facts_add(t->a, &k, &text);
	machine_read(t->a, &m);
	strbuf_addf(&text, "machine_fingerprint %s\nmachine_name %s\nmachine_description %s\n",
		    m.fingerprint, m.name, m.description);
	add_safe(t, &text);
	add_free("state_free", t->state, &text);
	add_free("kernels_free", t->kernels, &text);
	if (!file_read_line("/proc/sys/kernel/kexec_load_disabled", &disabled))
		strbuf_addf(&text, "kexec_disabled %s\n", strbuf_str(&disabled));
	strbuf_reset(&disabled);
	if (!file_read_line("/sys/kernel/security/lockdown", &disabled))
		strbuf_addf(&text, "lockdown %s\n", strbuf_str(&disabled));
	strbuf_addf(&text, "uid %d\ntime %lld\nprepared %d\nsystemd %d\n", (int)geteuid(),
		    (long long)time(NULL), file_exists(target_path(t, "prepared", "")),
		    file_is_dir("/run/systemd/system"));
	frames_send(STDOUT_FILENO, "hello", &text);
}

/* ---- requests ---- */

static const char *target_programs(struct target *t, struct span body, struct strbuf *out,
				   struct err *e)
{
	struct span row;

	(void)e;
	while (span_next_line(&body, &row, NULL))
		if (row.len && !path_program(t->a, arena_strndup(t->a, row.s, row.len)))
			strbuf_addf(out, "%.*s\n", (int)row.len, row.s);
	return "ok";
}

static const char *target_set(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	(void)e;
	apply_text(t->a, body, out);
	return "ok";
}

static const char *target_restore(struct target *t, struct span body, struct strbuf *out,
				  struct err *e)
{
	int n;

	(void)body, (void)out;
	return settings_restore(t->a, &n, e) ? NULL : "ok";
}

static const struct {
	const char *name;
	bool free; /* works without the lock */
	target_fn fn;
} requests[] = {
	{"lock", true, target_lock},	       {"unlock", false, target_unlock},
	{"put", false, target_put},	       {"list", true, target_list},
	{"remove", false, target_remove},      {"kernel", true, target_kernel},
	{"programs", true, target_programs},   {"arm", false, target_arm},
	{"disarm", false, target_disarm},
	{"restart", false, target_restart},    {"set", false, target_set},
	{"restore", false, target_restore},    {"job", false, target_job},
	{"wait", false, target_wait},	       {"forget", false, target_forget},
	{"stop", false, target_stop},	       {"pstore", true, target_pstore},
};

static void handle(struct target *t, struct span type, struct span body)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	const char *reply = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests) && !span_is(type, requests[i].name); i++)
		;
	if (i == ARRAY_SIZE(requests))
		err_add(&e, -EINVAL, "unknown request '%.*s': this agent is of another version",
			(int)type.len, type.s);
	else if (!requests[i].free && t->lock_fd < 0)
		err_add(&e, -EPERM, "'%s' needs the lock of this target", requests[i].name);
	else
		reply = requests[i].fn(t, body, &out, &e);
	if (!reply) {
		reply = "failed";
		strbuf_reset(&out);
		strbuf_adds(&out, err_text(&e));
		if (e.list.items[0].hint)
			strbuf_addf(&out, " (%s)", e.list.items[0].hint);
	}
	frames_send(STDOUT_FILENO, reply, &out);
}

static int make_folders(struct target *t, struct err *e)
{
	int ret = file_make_dirs(target_path(t, "jobs", ""), e);

	if (!ret)
		ret = file_make_dirs(t->kernels, e);
	return ret;
}

int target_serve(const char *state, const char *kernels)
{
	struct target t = {.a = arena_new(), .state = state, .kernels = kernels, .lock_fd = -1};
	struct inbox inbox = {.fd = STDIN_FILENO};
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct span type, body;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	umask(022);
	/* a shell without a login has little in it */
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	setenv("XDG_DATA_HOME", state, 1); /* of the journal of settings */
	proc_init();
	if (make_folders(&t, &e)) {
		strbuf_adds(&why, err_text(&e));
		frames_send(STDOUT_FILENO, "failed", &why);
		return 1;
	}
	say_hello(&t);
	while (!proc_interrupted() && frames_next(&inbox, &type, &body) > 0) {
		handle(&t, type, body);
		arena_free(t.a);
		t.a = arena_new();
	}
	target_hang_up(&t);
	strbuf_release(&inbox.buf);
	free(t.nonce);
	arena_free(t.a);
	return 0;
}
