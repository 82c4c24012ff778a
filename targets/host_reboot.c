// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This machine, restarted into every variant's kernel. It is its own target: the agent is a process
 * here instead of one behind ssh, and each restart ends this program, too; the campaign goes on by
 * the state that was stored before (boot_state.h), when kdelta-resume.service starts us again.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "runner/resume_unit.h"
#include "targets/target.h"

static const char prepared[] = "by kdelta run --reboot\n";

static int check(const struct backend *b, struct err *e)
{
	if (!b->may_restart)
		return err_add(e, -EPERM, "this machine is restarted with --reboot only");
	if (geteuid())
		return err_add(e, -EPERM, "the backend host-reboot needs root");
	return resume_unit_check(e);
}

static int host_reboot_prepare(struct backend *b, struct err *e)
{
	struct target *t = arena_alloc(b->a, sizeof(*t));
	const char *state = b->config->target.state;
	int ret = check(b, e);

	if (!ret)
		ret = file_make_dirs(state, e);
	if (!ret)
		ret = file_write_atomic(arena_printf(b->a, "%s/prepared", state), prepared,
					strlen(prepared), e);
	if (ret)
		return ret;
	/* what restarts this machine must outlive us, and so may the job of an agent */
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	*t = (struct target){.b = b, .c = &b->config->target, .local = true};
	t->argv = arena_copy(b->a,
			     (const char *[]){path_libexec(b->a, "kdelta-agent"), "target", state,
					      target_kernel_folder(b->a, t->c), NULL},
			     5, sizeof(char *));
	return target_prepare(t, e);
}

/* SIGTERM comes with a shutdown: then the next boot goes on. Otherwise the campaign ends here. */
static void host_reboot_release(struct backend *b)
{
	if (proc_interrupted() != SIGTERM)
		resume_unit_disarm();
	target_release(b);
}

static const struct backend_ops host_reboot_backend = {
	.name = "host-reboot",
	.unit = "boot",
	.local = true,
	.reboots = true,
	.prepare = host_reboot_prepare,
	.find_kernel = target_find_kernel,
	.goes_on = target_goes_on,
	.boot = target_boot,
	.flip = target_flip,
	.run = target_run,
	.collect = target_collect,
	.release = host_reboot_release,
};
REGISTER(backend_ops, host_reboot_backend);
