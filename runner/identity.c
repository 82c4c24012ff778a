// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/identity.h"

#include <stdlib.h>
#include <string.h>

#include "core/proc.h"
#include "core/str.h"

/* "Name <a@b> 1764509769 +0000" -> "\"Name\" <a@b>", as names may hold commas. */
static char *quoted(struct arena *a, struct span ident)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *open = memrchr(ident.s, '<', ident.len);
	const char *end = memrchr(ident.s, '>', ident.len), *s;

	if (!open || !end || end < open)
		return NULL;
	strbuf_addc(&sb, '"');
	for (s = ident.s; s < open - 1; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(&sb, '\\');
		strbuf_addc(&sb, *s);
	}
	strbuf_addf(&sb, "\" %.*s", (int)(end + 1 - open), open);
	return arena_strdup(a, strbuf_str(&sb));
}

char *identity_sender(struct arena *a)
{
	/* useConfigOnly keeps git from guessing */
	static const char *const argv[] = {
		"git", "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT", NULL};
	const struct proc_spec spec = {.argv = argv, .deadline = 10};
	_cleanup_err_ struct err ignored = ERR_INIT;
	const char *mail = getenv("EMAIL");
	struct proc_result result;
	char *sender = NULL;

	if (!proc_run(&spec, &result, &ignored)) {
		if (result.started && !result.exit_status && !result.signal)
			sender = quoted(a, (struct span){strbuf_str(&result.out), result.out.len});
		proc_result_release(&result);
	}
	return sender ? sender : mail && *mail ? arena_strdup(a, mail) : NULL;
}
