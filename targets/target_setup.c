// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/target_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "targets/target.h"
#include "targets/target_known.h"

#define SSH_SECONDS  120.0
#define CHECK_SECONDS 30.0
#define FREE_BYTES   (64ll << 20) /* for two kernels with their initrds */
#define UNIT	     "/etc/systemd/system/kdelta-target.service"

/* Runs a line of shell there; file (may be NULL) becomes its stdin. Its output goes to out. */
static int run_there(struct arena *a, const struct target_config *c, const char *line,
		     const char *file, struct strbuf *out, struct err *e)
{
	const char *quoted = arena_printf(a, "'%s'", line); /* our lines hold no quotes */
	const char *const *ssh = target_ssh_argv(a, c, (const char *[]){"sh", "-c", quoted, NULL});
	ARRAY_OF(const char *) argv = {NULL, 0, 0};
	struct proc_spec spec = {.deadline = SSH_SECONDS};
	struct proc_result p;
	int ret;

	*ARRAY_PUSH(&argv) = "sh";
	*ARRAY_PUSH(&argv) = "-c";
	*ARRAY_PUSH(&argv) = "exec \"$@\" <\"$0\"";
	*ARRAY_PUSH(&argv) = file ? file : "/dev/null";
	for (; *ssh; ssh++)
		*ARRAY_PUSH(&argv) = *ssh;
	*ARRAY_PUSH(&argv) = NULL;
	spec.argv = argv.items;
	ret = proc_run(&spec, &p, e);
	if (!ret && p.exit_status) {
		struct span said = span_trim((struct span){strbuf_str(&p.err), p.err.len});

		ret = err_add(e, -ENOTCONN, "%s: %.*s", c->host, (int)MIN(said.len, 700), said.s);
		target_explain(e, c, &ret);
	}
	if (!ret && out)
		strbuf_add(out, strbuf_str(&p.out), p.out.len);
	proc_result_release(&p);
	ARRAY_FREE(&argv);
	return ret;
}

static int copy_agent(struct arena *a, const struct target_config *c, const char *agent,
		      struct strbuf *done, struct err *e)
{
	const char *file = path_libexec(a, "kdelta-agent");
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT;
	int ret = run_there(a, c,
			    arena_printf(a, "uname -m; mkdir -p %s; test -x %s && echo there; true",
					 c->state, agent),
			    NULL, &said, e);

	if (ret)
		return ret;
	if (!str_starts(strbuf_str(&said), "x86_64"))
		return err_add(e, -ENOTSUP, "%s is a %.*s: the agent is for x86_64", c->host,
			       (int)strcspn(strbuf_str(&said), "\n"), strbuf_str(&said));
	if (strstr(strbuf_str(&said), "\nthere")) {
		strbuf_addf(done, "the agent is there: %s\n", agent);
		return 0;
	}
	ret = run_there(a, c,
			arena_printf(a, "cat >%s.new && chmod 755 %s.new && mv %s.new %s", agent,
				     agent, agent, agent),
			file, NULL, e);
	if (!ret)
		strbuf_addf(done, "copied the agent to %s\n", agent);
	return ret;
}

/*
 * A kernel that comes up without its network would stay unreachable: the agent's guard restarts
 * into the safe one. It does nothing under kernels that kdelta did not boot.
 */
static int install_unit(struct arena *a, const struct target_config *c, const char *agent,
			struct strbuf *done, struct err *e)
{
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT;
	const char *line = arena_printf(
		a,
		"touch %s/prepared; if test -d /run/systemd/system; then printf \"%%s\\n\" "
		"\"[Unit]\" \"Description=back to the safe kernel when no kdelta comes\" "
		"\"[Service]\" \"Type=simple\" \"ExecStart=%s guard %s %.0f\" \"[Install]\" "
		"\"WantedBy=multi-user.target\" >" UNIT
		" && systemctl daemon-reload && systemctl -q enable kdelta-target.service && "
		"echo unit; fi",
		c->state, agent, c->state, c->boot_deadline);
	int ret = run_there(a, c, line, NULL, &said, e);

	if (ret)
		return ret;
	if (strstr(strbuf_str(&said), "unit"))
		strbuf_adds(done, "installed " UNIT "\n");
	else
		strbuf_adds(done, "no systemd there: no unit installed\n");
	strbuf_addf(done, "marked %s as a machine that may be rebooted\n", c->host);
	return 0;
}

int target_setup(struct arena *a, const struct target_config *c, struct strbuf *done, struct err *e)
{
	const char *agent;
	int ret = target_agent_path(a, c, &agent, e);

	proc_init();
	if (!ret)
		ret = copy_agent(a, c, agent, done, e);
	if (!ret)
		ret = install_unit(a, c, agent, done, e);
	if (!ret)
		target_known_keep(a, c, (struct target_known){.state = "free"});
	return ret;
}

int target_remove(struct arena *a, const struct target_config *c, struct strbuf *done,
		  struct err *e)
{
	const char *line = arena_printf(
		a,
		"if test -e " UNIT "; then systemctl -q disable kdelta-target.service; rm -f " UNIT
		"; systemctl daemon-reload; fi; rm -f /boot/kdelta-*; cd %s 2>/dev/null || exit 0; "
		"rm -rf jobs kernels kdelta lock lock.* safe armed prepared kdelta-agent-*; cd /; "
		"rmdir %s 2>/dev/null; true",
		c->state, c->state);
	int ret;

	proc_init();
	ret = run_there(a, c, line, NULL, NULL, e);
	if (!ret)
		target_known_forget(a, c);
	if (!ret)
		strbuf_addf(done, "removed kdelta from %s\n", c->host);
	return ret;
}

/* ---- check ---- */

struct findings {
	struct arena *a;
	const struct link *link;
	ARRAY_OF(struct target_finding) list;
};

static const char *fact(struct findings *f, const char *key)
{
	return link_fact(f->a, f->link, key);
}

static void add(struct findings *f, const char *what, const char *value, bool bad,
		const char *trouble)
{
	struct target_finding *t = ARRAY_PUSH(&f->list);

	*t = (struct target_finding){what, value, bad ? trouble : NULL};
}

static void check_facts(struct findings *f, const struct target_config *c)
{
	const char *lockdown = fact(f, "lockdown"), *disabled = fact(f, "kexec_disabled");
	bool kexec = !strcmp(c->method, "kexec"), locked;
	int64_t there = 0, left = 0;

	locked = strchr(lockdown, '[') && !strstr(lockdown, "[none]");
	add(f, "machine", fact(f, "machine_description"), false, NULL);
	add(f, "kernel", fact(f, "release"), strstr(fact(f, "cmdline"), "kdelta.boot=") != NULL,
	    "one of kdelta's; a plain reboot leads to the safe one");
	add(f, "safe kernel", fact(f, "safe_release"), !*fact(f, "safe_release"),
	    "not seen yet: reboot the target once");
	add(f, "root", fact(f, "uid"), strcmp(fact(f, "uid"), "0"),
	    "log in as root, or give the user `sudo -n`");
	add(f, "prepared", fact(f, "prepared"), strcmp(fact(f, "prepared"), "1"),
	    "run kdelta target setup");
	add(f, "kexec", *disabled == '1' ? "disabled" : locked ? lockdown : "allowed",
	    kexec && (*disabled == '1' || locked), "use method: grub-reboot");
	num_parse_int(span_of(fact(f, "kernels_free")), &left);
	add(f, "disk", arena_printf(f->a, "%lld MiB free", (long long)left >> 20),
	    left < FREE_BYTES, "kernels and initrds may not find room");
	num_parse_int(span_of(fact(f, "time")), &there);
	there -= (int64_t)time(NULL);
	add(f, "clock", arena_printf(f->a, "%+lld s", (long long)there), llabs(there) > 60,
	    "set the target's clock: times in the database are this machine's");
}

static void check_programs(struct findings *f, struct link *l, const char *const *programs,
			   struct err *e)
{
	for (; *programs; programs++) {
		struct span type, body;

		if (link_ask(l, "programs", span_of(*programs), CHECK_SECONDS, &type, &body, e))
			return;
		add(f, *programs, body.len ? "missing" : "there", body.len,
		    "install it on the target, or leave the benchmark out");
	}
}

int target_check(struct arena *a, const struct target_config *c, const char *const *programs,
		 struct target_finding **list, size_t *n, struct err *e)
{
	struct link l = LINK_INIT;
	struct findings f = {.a = a, .link = &l};
	const char *agent;
	int ret = target_agent_path(a, c, &agent, e);

	proc_init();
	if (!ret)
		ret = link_open(&l,
				target_ssh_argv(a, c,
						(const char *[]){agent, "target", c->state,
								 target_kernel_folder(a, c), NULL}),
				CHECK_SECONDS, e);
	target_explain(e, c, &ret);
	if (!ret) {
		check_facts(&f, c);
		check_programs(&f, &l, programs, e);
	}
	*list = arena_copy(a, f.list.items, f.list.n, sizeof(*f.list.items));
	*n = f.list.n;
	ARRAY_FREE(&f.list);
	link_finish(&l, 5);
	link_release(&l);
	return ret;
}
