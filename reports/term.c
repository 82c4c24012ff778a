// SPDX-License-Identifier: GPL-2.0-or-later
/* -o term: the report as wide as the terminal, coloured by verdict and not by sign. */
#include "reports/layout.h"

#define TERM_WIDTH 80
/* Narrower terminals wrap lines by themselves. */
#define TERM_LEAST 40

static int term_render(const struct comparison *c, const struct report_options *opt,
		       struct strbuf *out, struct err *e)
{
	int width = opt->width ? MAX(opt->width, TERM_LEAST) : TERM_WIDTH;
	struct text t = {c->arena, out, width, opt->color};

	(void)e;
	layout_render(c, opt, &t);
	return 0;
}

static const struct report_format term = {
	.name = "term",
	.summary = "text as wide as the terminal, with colours",
	.blocks = true,
	.render = term_render,
};
REGISTER(report_format, term);
