// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernels/step.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/file.h"
#include "core/proc.h"

#define STEP_SECONDS 3600.0
enum { SAID = 400 }; /* bytes of a program's last words */

void step_note(const struct step *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->note)
		return;
	va_start(ap, fmt);
	s->note(arena_vprintf(s->a, fmt, ap));
	va_end(ap);
}

static const char *tail_of(struct arena *a, struct span text)
{
	size_t n;

	text = span_trim(text);
	n = MIN(text.len, (size_t)SAID);
	return arena_strndup(a, text.s + text.len - n, n);
}

/* A program whose output goes to a file, where it can be read while it grows. */
static const char *const *logged(struct step *s, const char *const *argv)
{
	static const char script[] = "exec \"$@\" >>\"$0\" 2>&1";
	const char **list;
	size_t n = 0;

	while (argv[n])
		n++;
	list = arena_alloc_array(s->a, n + 5, sizeof(*list));
	list[0] = "sh";
	list[1] = "-c";
	list[2] = script;
	list[3] = s->log;
	memcpy(list + 4, argv, n * sizeof(*argv));
	return list;
}

static const char *const *joined_env(struct step *s)
{
	static const char *const own[] = {"MAKEFLAGS=", "MAKELEVEL=", "KBUILD_OUTPUT="};
	const char **list;
	size_t n = 0;

	while (s->env && s->env[n])
		n++;
	list = arena_alloc_array(s->a, n + ARRAY_SIZE(own) + 1, sizeof(*list));
	memcpy(list, own, sizeof(own));
	if (n)
		memcpy(list + ARRAY_SIZE(own), s->env, n * sizeof(*list));
	return list;
}

static void keep_words(struct step *s, const struct proc_result *p)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span text = {strbuf_str(&p->err), p->err.len};

	if (s->log && !file_read(s->log, 0, &log, &ignored))
		text = (struct span){strbuf_str(&log), log.len};
	s->said = tail_of(s->a, text);
	text = span_trim((struct span){strbuf_str(&p->out), p->out.len});
	s->out = arena_strndup(s->a, text.s, text.len);
}

int step_run(struct step *s, const char *dir, const char *const *argv)
{
	const struct proc_spec spec = {
		.argv = s->log ? logged(s, argv) : argv,
		.dir = dir,
		.input = s->input,
		.env = joined_env(s),
		.deadline = s->deadline > 0 ? s->deadline : STEP_SECONDS,
	};
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct proc_result result;
	int ret;

	if (!path_program(s->a, argv[0]))
		return err_add(s->e, -ENOENT, "%s is not installed", argv[0]);
	ret = proc_run(&spec, &result, s->e);
	if (ret)
		return ret;
	keep_words(s, &result);
	if (result.interrupted) {
		ret = -EINTR;
	} else if (!result.started) {
		ret = err_add(s->e, -EIO, "cannot start %s: %s", argv[0],
			      strerror(result.start_errno));
	} else if (result.exit_status || result.signal || result.timed_out) {
		proc_describe(&result, &how);
		ret = err_add(s->e, -EIO, "%s %s failed (%s): %s", argv[0], argv[1],
			      strbuf_str(&how), s->said);
	}
	proc_result_release(&result);
	return ret;
}
