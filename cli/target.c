// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta target: prepare, check and release the machines of the ssh backend. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "core/num.h"
#include "targets/target_known.h"
#include "targets/target_setup.h"

static const struct cli_option target_options_table[] = {
	{"port", 0, "N", "port of the target's sshd (default: ssh's own)"},
	{"identity", 0, "FILE", "key to log in with (default: ssh's own)"},
	{"known-hosts", 0, "FILE", "file with the target's host key (default: ssh's own)"},
	{"method", 0, "WORD", "kexec (default), grub-reboot, bootctl or efibootmgr"},
	{"state", 0, "DIR", "folder on the target (default /var/lib/kdelta)"},
	CLI_OPTIONS_END,
};

/* [USER@]HOST, as ssh takes it. */
static int read_target(struct cli *c, struct target_config *t)
{
	const char *given = c->operands[1], *at = strrchr(given, '@'), *method, *state;
	long port = 0;
	int r = cli_int(c, "port", 1, 65535, &port);

	method = cli_value(c, "method");
	state = cli_value(c, "state");
	*t = (struct target_config){
		.host = at ? at + 1 : given,
		.user = at ? arena_strndup(c->a, given, (size_t)(at - given)) : NULL,
		.port = (int)port,
		.identity = cli_value(c, "identity"),
		.known_hosts = cli_value(c, "known-hosts"),
		.method = method ? method : "kexec",
		.state = state ? state : "/var/lib/kdelta",
		.boot_deadline = 300,
	};
	if (!r && (!*t->host || *t->host == '-' || (t->user && (!*t->user || *t->user == '-'))))
		r = cli_usage(c, "'%s' is no [USER@]HOST", given);
	if (!r && (*t->state != '/' ||
		   strspn(t->state, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-") != strlen(t->state)))
		r = cli_usage(c, "--state takes the full path of a folder, not '%s'", t->state);
	return r;
}

static int check(struct cli *c, const struct target_config *t)
{
	static const char *const programs[] = {"tbench", "hackbench", "schbench", NULL};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct target_finding *list;
	bool bad = false;
	size_t n, i;
	int r = target_check(c->a, t, programs, &list, &n, c->e);

	if (r)
		return cli_failure(r);
	for (i = 0; i < n; i++) {
		strbuf_addf(&out, "%-12s %s%s%s\n", list[i].what, list[i].value,
			    list[i].trouble ? "   ! " : "", list[i].trouble ? list[i].trouble : "");
		bad |= list[i].trouble != NULL;
	}
	cli_print(&out);
	return bad ? EXIT_BLOCKER : EXIT_DONE;
}

static char *time_text(struct cli *c, int64_t t)
{
	return t ? num_iso_time(c->a, t) : NULL;
}

static int list(struct cli *c)
{
	static const char *const columns[] = {"target", "state", "kernel", "contact",
					      "tried",	"owner", "reason", NULL};
	struct page *page = page_new(c->a, "kdelta.target.list/1");
	struct page_table *t = page_table(page, "targets", columns);
	struct target_known *known;
	size_t n, i;
	int r = target_known_list(c->a, &known, &n, c->e);

	for (i = 0; !r && i < n; i++) {
		page_cell(t, known[i].target);
		page_cell(t, known[i].state);
		page_cell(t, known[i].kernel);
		page_cell(t, time_text(c, known[i].contact));
		page_cell(t, time_text(c, known[i].tried));
		page_cell(t, known[i].owner);
		page_cell(t, known[i].reason);
	}
	return r ? r : page_print(c, page);
}

static int run_target(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf done = STRBUF_INIT;
	struct target_config t;
	int r;

	if (c->n_operands == 1 && !strcmp(c->operands[0], "list"))
		return list(c);
	if (c->n_operands != 2)
		return cli_usage(c, "target takes list, or setup, check or remove and [USER@]HOST");
	r = read_target(c, &t);
	if (r)
		return r;
	if (!strcmp(c->operands[0], "check"))
		return check(c, &t);
	if (!strcmp(c->operands[0], "setup"))
		r = target_setup(c->a, &t, &done, c->e);
	else if (!strcmp(c->operands[0], "remove"))
		r = target_remove(c->a, &t, &done, c->e);
	else
		return cli_usage(c, "target takes setup, check or remove, not '%s'",
				 c->operands[0]);
	cli_print(&done);
	return cli_failure(r);
}

static const struct command target_command_entry = {
	.name = "target",
	.usage = "list | setup|check|remove [USER@]HOST",
	.group = "measure",
	.summary = "prepare a machine that `backend: ssh` boots and measures",
	.help = "setup copies a static helper to the machine (under a name with its hash, so that\n"
		"several versions of kdelta can share it), marks the machine as one that may be\n"
		"rebooted, and installs a unit where systemd runs: a kernel that kdelta booted and "
		"that\n"
		"nobody reaches within five minutes restarts into the safe one. It prints what it "
		"did\n"
		"and can be repeated. remove undoes it. check tells what stands in the way: rights,\n"
		"kexec, disk, clock, programs (exit 5 if anything does). list shows the targets that\n"
		"were set up or measured on, as they were seen last: it asks none of them.\n"
		"\n"
		"ssh runs without questions: the host key must be known and a key must let you in.\n",
	.examples = "kdelta target setup root@lab1\n"
		    "kdelta target check root@lab1 --method grub-reboot\n"
		    "kdelta target remove root@lab1\n"
		    "kdelta target list --json\n",
	.options = target_options_table,
	.run = run_target,
};
REGISTER(command, target_command_entry);
