// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "runner/run.h"
#include "targets/target_known.h"

#define CONNECT_SECONDS 30.0
#define FIRST_SECONDS	120.0 /* for a target that is not there when a campaign begins */
#define ASK_SECONDS	60.0
#define LOCK_MARGIN	300.0 /* a lock outlives its connection by the boot deadline and this */
#define CLOCK_APART	60
#define FINISH_SECONDS	20.0

void target_fail(struct target *t, struct visit *v, const char *error, const char *fmt, ...)
{
	va_list ap;

	if (v->error)
		return;
	va_start(ap, fmt);
	visit_vfail(t->b, v, error, fmt, ap);
	va_end(ap);
	/* booting was tried again already */
	v->permanent |= !strcmp(error, "no_boot");
}

/* ---- reaching the agent ---- */

int target_agent_path(struct arena *a, const struct target_config *c, const char **path,
		      struct err *e)
{
	const char *file = path_libexec(a, "kdelta-agent");
	char hex[65];
	int ret = file_sha256(file, hex, e);

	*path = ret ? NULL : arena_printf(a, "%s/kdelta-agent-%.12s", c->state, hex);
	return ret;
}

const char *target_kernel_folder(struct arena *a, const struct target_config *c)
{
	/* A boot loader reads /boot; kexec reads any file. */
	return strcmp(c->method, "kexec") ? "/boot" : arena_printf(a, "%s/kernels", c->state);
}

const char *const *target_ssh_argv(struct arena *a, const struct target_config *c,
				   const char *const *command)
{
	ARRAY_OF(const char *) list = {NULL, 0, 0};
	const char *const *all;
	static const char *const fixed[] = {
		"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes",
		"-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
		"-o", "ServerAliveCountMax=3",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		*ARRAY_PUSH(&list) = fixed[i];
	if (c->known_hosts) {
		*ARRAY_PUSH(&list) = "-o";
		*ARRAY_PUSH(&list) = arena_printf(a, "UserKnownHostsFile=%s", c->known_hosts);
	}
	if (c->identity) {
		*ARRAY_PUSH(&list) = "-i";
		*ARRAY_PUSH(&list) = c->identity;
	}
	if (c->port) {
		*ARRAY_PUSH(&list) = "-p";
		*ARRAY_PUSH(&list) = arena_printf(a, "%d", c->port);
	}
	if (c->user) {
		*ARRAY_PUSH(&list) = "-l";
		*ARRAY_PUSH(&list) = c->user;
	}
	*ARRAY_PUSH(&list) = c->host;
	*ARRAY_PUSH(&list) = "--";
	/* All but root need sudo; `-n`: never a question nobody can answer. */
	if (c->user && strcmp(c->user, "root")) {
		*ARRAY_PUSH(&list) = "sudo";
		*ARRAY_PUSH(&list) = "-n";
	}
	for (; *command; command++)
		*ARRAY_PUSH(&list) = *command;
	*ARRAY_PUSH(&list) = NULL;
	all = arena_copy(a, list.items, list.n, sizeof(*list.items));
	ARRAY_FREE(&list);
	return all;
}

static const struct {
	const char *text; /* of ssh, or of the shell over there */
	int code;
	const char *hint;
} explanations[] = {
	{"has changed and you have requested strict checking", -EKEYREJECTED,
	 "the target answers with another host key than the one you accepted: if it was "
	 "installed anew, forget the old key (ssh-keygen -R) and connect once by hand with ssh"},
	{"Host key verification failed", -EKEYREJECTED,
	 "the target's host key is not known: compare it and accept it once by hand with ssh"},
	{"Permission denied", -EACCES,
	 "ssh must get in without a password: put your key into the target's authorized_keys, or "
	 "name it with target: {identity: FILE}"},
	{"a password is required", -EACCES,
	 "the user needs `sudo -n` on the target, or set target: {user: root}"},
	{"No such file or directory", -ENOENT, "prepare the machine: kdelta target setup"},
	{"not found", -ENOENT, "prepare the machine: kdelta target setup"},
	{"Could not resolve hostname", -EHOSTUNREACH, "check target: {host: ...}"},
};

void target_explain(struct err *e, const struct target_config *c, int *code)
{
	struct err_item *last = e->list.n ? &e->list.items[e->list.n - 1] : NULL;
	size_t i;

	if (*code != -ENOTCONN || !last)
		return;
	for (i = 0; i < ARRAY_SIZE(explanations); i++) {
		if (!strstr(last->message, explanations[i].text))
			continue;
		*code = explanations[i].code;
		err_hint(e, "%s%s%s", explanations[i].hint, *code == -ENOENT ? " " : "",
			 *code == -ENOENT ? c->host : "");
		return;
	}
}

static char *our_name(struct arena *a)
{
	char host[256] = "";
	const char *user = getenv("USER");

	gethostname(host, sizeof(host) - 1);
	return arena_printf(a, "%s@%s", user && *user ? user : "root", host);
}

/* A lock of a kdelta on this machine that is gone can be taken at once. */
static bool owner_is_gone(struct target *t, struct span holder)
{
	struct arena *a = t->b->a;
	int64_t pid;

	if (strcmp(link_value(a, holder, "owner"), our_name(a)))
		return false;
	if (t->local && strcmp(link_value(a, holder, "boot_id"), link_fact(a, &t->link, "boot_id")))
		return true;
	return num_parse_int(span_of(link_value(a, holder, "pid")), &pid) && pid > 0 &&
	       !file_exists(arena_printf(a, "/proc/%lld", (long long)pid));
}

/* For `kdelta target list`; this machine needs no list. */
static void keep_known(struct target *t, const char *state, const char *owner, const char *reason)
{
	if (!t->local)
		target_known_keep(t->b->a, t->c,
				  (struct target_known){
					  .state = state,
					  .kernel = t->link.open
							    ? link_fact(t->b->a, &t->link, "release")
							    : NULL,
					  .owner = owner,
					  .reason = reason,
				  });
}

static int lock(struct target *t, bool force, struct err *e)
{
	struct arena *a = t->b->a;
	const char *text = arena_printf(
		a, "owner %s\npid %d\nnonce %s\nlease %.0f\nforce %d\n", our_name(a), (int)getpid(),
		t->nonce, t->c->boot_deadline + LOCK_MARGIN, force);
	struct span type, body;
	int ret = link_ask(&t->link, "lock", span_of(text), ASK_SECONDS, &type, &body, e);

	if (ret)
		return ret;
	if (span_is(type, "ok")) {
		/* of this machine it is our own, from before a restart */
		keep_known(t, "measuring",
			   arena_printf(a, "%s, pid %d", our_name(a), (int)getpid()), NULL);
		if (body.len && t->b->note && !t->local)
			t->b->note(arena_printf(a, "%.*s", (int)body.len, body.s));
		return 0;
	}
	if (!force && owner_is_gone(t, body))
		return lock(t, true, e);
	keep_known(t, "busy", arena_printf(a, "%s, pid %s", link_value(a, body, "owner"),
					   link_value(a, body, "pid")), NULL);
	err_add(e, -EBUSY, "another kdelta measures on this target: %s, pid %s, %s",
		link_value(a, body, "owner"), link_value(a, body, "pid"),
		*link_value(a, body, "live") == '1' ? "connected now" : "not connected");
	err_hint(e, "wait for it, or stop it; without its owner the target is free in %s s",
		 link_value(a, body, "seconds"));
	return -EBUSY;
}

int target_connect(struct target *t, double seconds, struct err *e)
{
	int ret;

	if (t->link.open)
		return 0;
	ret = link_open(&t->link, t->argv, seconds, e);
	target_explain(e, t->c, &ret);
	if (ret && ret != -EINTR)
		keep_known(t, "unreachable", NULL, err_text(e));
	if (!ret)
		ret = lock(t, false, e);
	if (ret && t->link.open)
		link_close(&t->link);
	return ret;
}

struct boot_sight target_sight(struct target *t)
{
	static const char mark[] = "kdelta.boot=";
	struct arena *a = t->b->a;
	const char *cmdline = link_fact(a, &t->link, "cmdline"), *p = strstr(cmdline, mark);

	return (struct boot_sight){
		.boot_id = link_fact(a, &t->link, "boot_id"),
		.release = link_fact(a, &t->link, "release"),
		.version = link_fact(a, &t->link, "version"),
		.build_id = link_fact(a, &t->link, "build_id"),
		.token = p ? arena_strndup(a, p + strlen(mark), strcspn(p + strlen(mark), " "))
			   : "",
	};
}

/* ---- before the first boot ---- */

static void read_machine(struct target *t)
{
	struct backend *b = t->b;
	struct db_machine *m = arena_alloc(b->a, sizeof(*m));

	*m = (struct db_machine){
		.fingerprint = link_fact(b->a, &t->link, "machine_fingerprint"),
		.name = link_fact(b->a, &t->link, "machine_name"),
		.description = link_fact(b->a, &t->link, "machine_description"),
	};
	b->machine = m;
}

static int check_machine(struct target *t, struct err *e)
{
	struct arena *a = t->b->a;
	bool kexec = !strcmp(t->c->method, "kexec");
	size_t before = e->list.n;
	int64_t there;

	if (strcmp(link_fact(a, &t->link, "uid"), "0"))
		err_add(e, -EPERM, "the agent is not root on the target");
	if (strcmp(link_fact(a, &t->link, "prepared"), "1")) {
		err_add(e, -EINVAL, "the target was not prepared for being rebooted by kdelta");
		err_hint(e, "kdelta target setup %s", t->c->host);
	}
	if (kexec && !strcmp(link_fact(a, &t->link, "kexec_disabled"), "1"))
		err_add(e, -EPERM, "the target forbids kexec: kernel.kexec_load_disabled is 1");
	if (kexec && strchr(link_fact(a, &t->link, "lockdown"), '[') &&
	    !strstr(link_fact(a, &t->link, "lockdown"), "[none]")) {
		err_add(e, -EPERM, "the target forbids kexec: its kernel is locked down (%s)",
			link_fact(a, &t->link, "lockdown"));
		err_hint(e, "Secure Boot does that; use method: grub-reboot");
	}
	if (num_parse_int(span_of(link_fact(a, &t->link, "time")), &there) && t->b->note &&
	    llabs((long long)there - (long long)time(NULL)) > CLOCK_APART)
		t->b->note(arena_printf(a, "the target's clock is %lld s apart from this one",
					(long long)there - (long long)time(NULL)));
	return e->list.n > before ? -EINVAL : 0;
}

int target_reach(struct target *t, double seconds, struct err *e)
{
	double until = num_monotonic() + MIN(t->c->boot_deadline, seconds);
	bool told = false;

	for (;;) {
		_cleanup_err_ struct err why = ERR_INIT;
		int ret = target_connect(t, CONNECT_SECONDS, &why);

		if (!ret)
			return 0;
		if ((ret != -ENOTCONN && ret != -ETIMEDOUT) || num_monotonic() > until ||
		    proc_interrupted()) {
			err_add(e, ret, "%s", err_text(&why));
			if (why.list.items[0].hint)
				err_hint(e, "%s", why.list.items[0].hint);
			return ret;
		}
		if (!told && t->b->note)
			t->b->note(arena_printf(t->b->a, "waiting for the target: %s",
						err_text(&why)));
		told = true;
		usleep(1000000);
	}
}

int target_prepare(struct target *t, struct err *e)
{
	struct arena *a = t->b->a;
	int ret;

	t->b->priv = t;
	t->link = (struct link)LINK_INIT;
	t->nonce = arena_printf(a, "%llx%x", (unsigned long long)run_draw_seed(),
				(unsigned int)getpid());
	t->kernels = arena_alloc_array(a, t->b->config->n_variants, sizeof(*t->kernels));
	/* the end of an earlier campaign may have sent it back into its safe kernel just now */
	ret = target_reach(t, FIRST_SECONDS, e);
	if (!ret)
		ret = check_machine(t, e);
	if (!ret)
		read_machine(t);
	return ret;
}

bool target_has_program(struct backend *b, const char *program)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct target *t = b->priv;
	struct span type, body;

	if (target_connect(t, CONNECT_SECONDS, &ignored))
		return true; /* it will be told when it is missing */
	return link_ask(&t->link, "programs", span_of(program), ASK_SECONDS, &type, &body,
			&ignored) ||
	       !body.len;
}

/* Also those that an earlier part of the campaign copied. */
static void remove_kernels(struct target *t)
{
	size_t i, k;

	for (i = 0; i < t->b->config->n_variants; i++) {
		const char *const names[] = {t->kernels[i].image_name, t->kernels[i].initrd_name};

		for (k = 0; k < ARRAY_SIZE(names); k++)
			if (names[k])
				guest_send(&t->link.line, "remove", names[k], strlen(names[k]));
	}
}

/*
 * Leaves the target as it was found: kernels removed, its default kernel on its way up, unlocked.
 * Answers are not waited for: this also happens after Ctrl-C. What was armed is taken back; a kernel
 * that is on its way up stays, and so does the boot of this machine that somebody interrupted, or is
 * about to end.
 */
void target_release(struct backend *b)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct target *t = b->priv;
	bool stay;

	if (!t)
		return;
	stay = t->local && proc_interrupted();
	if (!t->link.open && !stay)
		target_connect(t, CONNECT_SECONDS, &ignored);
	if (t->link.open) {
		if (t->state.step != BOOT_BOOTING)
			guest_send(&t->link.line, "disarm", "", 0);
		if (!t->c->keep_kernels && t->state.step != BOOT_BOOTING)
			remove_kernels(t);
		if (*target_sight(t).token && !stay)
			guest_send(&t->link.line, "restart", "reboot", strlen("reboot"));
		guest_send(&t->link.line, "unlock", "", 0);
		keep_known(t, "free", NULL, NULL);
	}
	link_finish(&t->link, FINISH_SECONDS);
	link_release(&t->link);
	b->priv = NULL;
}
