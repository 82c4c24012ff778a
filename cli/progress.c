// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/num.h"

static bool line_open; /* the terminal's line holds progress */

void progress_end(void)
{
	if (line_open)
		fputs("\r\033[K", stderr);
	line_open = false;
}

void progress_note(const char *text)
{
	progress_end();
	fprintf(stderr, "kdelta: %s\n", text);
}

void progress_note_quiet(const char *text)
{
	(void)text;
}

static void add_estimate(struct strbuf *sb, const struct run_progress *p)
{
	if (!p->metric)
		return;
	strbuf_addf(sb, " %s %.4g %s (n %d)", p->metric, p->mean, p->unit, p->n);
	if (isfinite(p->change))
		strbuf_addf(sb, ", %+.1f %% so far", 100 * p->change);
}

void progress_show(void *data, const struct run_progress *p)
{
	const struct cli *c = data;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool terminal = isatty(STDERR_FILENO);

	if (c->quiet && !p->failed)
		return;
	strbuf_addf(&sb, "run %d/%d %s [%s]", p->run, p->runs, p->test, p->variant);
	if (p->failed) {
		strbuf_addf(&sb, " failed: %s%s", p->failed,
			    p->retried ? "; tried once more at the end of its block" : "");
		progress_note(strbuf_str(&sb));
		return;
	}
	add_estimate(&sb, p);
	if (isfinite(p->eta)) {
		strbuf_adds(&sb, ", ");
		num_add_duration(&sb, p->eta);
		strbuf_adds(&sb, " left");
	}
	if (terminal)
		fprintf(stderr, "\r\033[K%s", strbuf_str(&sb));
	else
		fprintf(stderr, "kdelta: %s\n", strbuf_str(&sb));
	line_open = terminal;
	fflush(stderr);
}
