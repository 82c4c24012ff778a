// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -o mail: the report as the body of a plain text mail. At most 72 columns of ASCII without tabs,
 * and no line that git, a mailer or a mail reader takes for something else.
 */
#include <ctype.h>
#include <string.h>

#include "reports/layout.h"

/* Starts that mean something: signatures and patches, quotes, headers in a body, comments. */
static const char *const mail_starts[] = {
	"---",	 "diff ", "Index:",   "+++",   "@@",  "#",     ">",
	"From ", "From:", "Subject:", "Date:", "-- ", "[PATCH"};

static bool line_is_taken(struct span line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mail_starts); i++)
		if (span_starts(line, mail_starts[i]))
			return true;
	return false;
}

/* "Fixes: text": a trailer, if it ends the mail. */
static bool line_is_trailer(struct span line)
{
	size_t i = 0;

	while (i < line.len && (isalnum((unsigned char)line.s[i]) || line.s[i] == '-'))
		i++;
	return i && i < line.len && line.s[i] == ':';
}

void mail_guard(const char *report, struct strbuf *out)
{
	struct span rest = span_of(report), line;

	while (span_next_line(&rest, &line, NULL)) {
		if (line_is_taken(line) || (!rest.len && line_is_trailer(line)))
			strbuf_addc(out, ' ');
		strbuf_add(out, line.s, line.len);
		strbuf_addc(out, '\n');
	}
}

static int mail_render(const struct comparison *c, const struct report_options *opt,
		       struct strbuf *out, struct err *e)
{
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;
	/* one column is kept for the guard */
	struct text t = {c->arena, &report, (opt->width ? opt->width : MAIL_WIDTH) - 1, false};

	(void)e;
	layout_render(c, opt, &t);
	mail_guard(strbuf_str(&report), out);
	return 0;
}

static const struct report_format mail = {
	.name = "mail",
	.summary = "text for a mail: 72 columns, ASCII",
	.blocks = true,
	.render = mail_render,
};
REGISTER(report_format, mail);
