// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/resume_unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "core/str.h"

#define UNIT		"kdelta-resume.service"
#define REQUEST		"/var/lib/kdelta/resume"
#define SYSTEMD_SECONDS 30.0

static const char *request_path(void)
{
	const char *given = getenv("KDELTA_RESUME");

	return given && *given ? given : REQUEST;
}

int resume_unit_check(struct err *e)
{
	const char *const argv[] = {"systemctl", "is-enabled", UNIT, NULL};
	struct proc_spec spec = {.argv = argv, .deadline = SYSTEMD_SECONDS};
	struct proc_result p;
	int ret = proc_run(&spec, &p, e);

	if (!ret && (!p.started || p.exit_status)) {
		ret = err_add(e, -ENOENT, "nobody would go on after a restart: " UNIT " is not %s",
			      p.started ? "enabled" : "there, nor is systemctl");
		err_hint(e, "make install, then systemctl enable " UNIT);
	}
	proc_result_release(&p);
	return ret;
}

/* KEY="value": a value of several lines is left out. */
static void add_variable(struct strbuf *sb, const char *key, const char *value)
{
	if (!value || strchr(value, '\n'))
		return;
	strbuf_addf(sb, "%s=\"", key);
	for (; *value; value++) {
		if (strchr("\"\\$`", *value))
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *value);
	}
	strbuf_adds(sb, "\"\n");
}

int resume_unit_arm(struct arena *a, const char *campaign, const char *db_path, struct err *e)
{
	static const char *const kept[] = {
		"HOME",		   "PATH",	     "KDELTA_SHARE",  "KDELTA_LIBEXEC", "KDELTA_LOCK",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	};
	_cleanup_free_ char *program = realpath("/proc/self/exe", NULL),
			    *db = realpath(db_path, NULL);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;
	int ret = file_make_dirs(path_folder(a, request_path()), e);

	if (ret)
		return ret;
	if (!program || !db)
		return err_add_errno(e, "cannot find %s", program ? db_path : "/proc/self/exe");
	strbuf_adds(&sb, "# for " UNIT "; without this file nothing is resumed\n");
	add_variable(&sb, "KDELTA_PROGRAM", program);
	add_variable(&sb, "KDELTA_CAMPAIGN", campaign);
	add_variable(&sb, "KDELTA_DB", db);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		add_variable(&sb, kept[i], getenv(kept[i]));
	return file_write_atomic(request_path(), sb.buf, sb.len, e);
}

void resume_unit_disarm(void)
{
	unlink(request_path());
}
