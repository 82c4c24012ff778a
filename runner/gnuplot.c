// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/gnuplot.h"

#include <errno.h>

#include "core/proc.h"

enum { GNUPLOT_SECONDS = 60 };

/*
 *	plot $d1 using 1:2 with pints
 *	                        ^
 *	         line 9: unrecognized plot type
 */
static int complaint(const struct proc_result *p, struct err *e)
{
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct span rest = {strbuf_str(&p->err), p->err.len}, line, last = {"", 0};

	while (span_next_line(&rest, &line, NULL))
		if (span_trim(line).len)
			last = span_trim(line);
	proc_describe(p, &how);
	err_add(e, -EIO, "gnuplot failed (%s)%s%.*s", strbuf_str(&how), last.len ? ": " : "",
		(int)last.len, last.s);
	err_hint(e, "-o FILE.gp writes the script it was given");
	return -EIO;
}

int gnuplot_run(const char *script, struct strbuf *out, struct err *e)
{
	static const char *const argv[] = {"gnuplot", "-d", NULL};
	static const char *const env[] = {"GNUTERM=dumb", "SOURCE_DATE_EPOCH=0", NULL};
	const struct proc_spec spec = {
		.argv = argv, .env = env, .deadline = GNUPLOT_SECONDS, .input = script};
	struct proc_result p;
	int r = proc_run(&spec, &p, e);

	if (r)
		return r;
	if (!p.started && p.start_errno == ENOENT) {
		r = err_add(e, -ENOENT, "there is no gnuplot here");
		err_hint(e, "apt-get install gnuplot-nox; -o FILE.gp writes the script for it");
	} else if (!p.started || p.timed_out || p.signal || p.exit_status || p.output_full ||
		   !p.out.len) {
		r = complaint(&p, e);
	} else {
		strbuf_add(out, p.out.buf, p.out.len);
	}
	proc_result_release(&p);
	return r;
}
