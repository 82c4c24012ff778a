/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A target played by tests/fakes/ssh: its folder, its agent, images with a header and no kernel. */
#ifndef TESTS_TARGET_H
#define TESTS_TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/campaign.h"
#include "core/file.h"
#include "targets/target.h"

static inline void fake_write(struct arena *a, const char *folder, const char *name,
			      const char *text)
{
	FILE *f = fopen(arena_printf(a, "%s/%s", folder, name), "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/*
 * proc_init() for a test: what detaches itself on a target of this machine is no orphan of ours to
 * be swept up, any more than it is on another one.
 */
static inline void fake_target_init(void)
{
	proc_init();
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* NULL, or why there can be no such target here. */
static inline const char *fake_target_open(struct arena *a, const char *folder,
					   struct target_config *c)
{
	char *fakes = realpath("tests/fakes", NULL), *state = arena_printf(a, "%s/state", folder);
	const char *agent, *path = getenv("PATH");
	struct err e = ERR_INIT;
	struct strbuf data = STRBUF_INIT;
	char *libexec = realpath(getenv("O") ? getenv("O") : "build", NULL);

	*c = (struct target_config){.host = "target",
				    .user = "root",
				    .method = "kexec",
				    .state = state,
				    .boot_deadline = 20};
	if (!fakes || !libexec || !path_program(a, "python3"))
		return "python3 or tests/fakes is missing";
	if (geteuid())
		return "the fake target needs root";
	setenv("KDELTA_LIBEXEC", libexec, 1);
	setenv("KDELTA_FAKE", folder, 1);
	/* whatever goes wrong, this machine is not restarted */
	setenv("KDELTA_REBOOT", arena_printf(a, "%s/restart", fakes), 1);
	if (!str_starts(path, fakes))
		setenv("PATH", arena_printf(a, "%s:%s", fakes, path), 1);
	if (target_agent_path(a, c, &agent, &e) || file_make_dirs(state, &e) ||
	    file_read(path_libexec(a, "kdelta-agent"), 0, &data, &e) ||
	    file_write_atomic(agent, data.buf, data.len, &e))
		return err_text(&e);
	chmod(agent, 0755);
	strbuf_release(&data);
	fake_write(a, state, "prepared", "by a test\n");
	free(fakes);
	free(libexec);
	return NULL;
}

/* A bzImage as far as its header goes (Documentation/arch/x86/boot.rst). */
static inline const char *fake_target_image(struct arena *a, const char *folder,
					    const char *release)
{
	const char *path = arena_printf(a, "%s/vmlinuz-%s", folder, release);
	char data[0x1000] = "";
	struct err e = ERR_INIT;

	memcpy(data + 0x1fe, "\x55\xaa", 2);
	memcpy(data + 0x202, "HdrS", 4);
	memcpy(data + 0x20e, "\x00\x04", 2);
	snprintf(data + 0x600, 200, "%s (a test) #1 SMP fake", release);
	return file_write_atomic(path, data, sizeof(data), &e) ? NULL : path;
}

#endif
