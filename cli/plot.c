// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta plot: pictures of a comparison, by gnuplot. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/select.h"
#include "core/file.h"
#include "core/num.h"
#include "reports/plot.h"
#include "runner/gnuplot.h"

enum { LARGEST = 10000, PIPE_COLUMNS = 79, PIPE_LINES = 30, PICTURE_WIDTH = 960 };

struct plotting {
	struct cli *c;
	struct selection what;
	struct plot_options opt;
	const struct plot_kind *kind; /* NULL: what suits */
	const char *file;	      /* NULL: text on stdout; "-": svg on stdout */
	bool script;		      /* FILE.gp, -n */
};

static int read_output(struct plotting *k)
{
	const char *file = cli_value(k->c, "output");

	k->opt.format = PLOT_SVG;
	k->file = file;
	k->script = k->c->dry_run;
	if (!file)
		k->opt.format = PLOT_TEXT;
	else if (str_ends(file, ".png"))
		k->opt.format = PLOT_PNG;
	else if (str_ends(file, ".gp"))
		k->script = true;
	else if (strcmp(file, "-") && !str_ends(file, ".svg"))
		return cli_usage(k->c, "-o takes FILE.svg, FILE.png, FILE.gp or -, not '%s'", file);
	return 0;
}

static int read_size(struct plotting *k)
{
	const char *size = cli_value(k->c, "size"), *x = size ? strchr(size, 'x') : NULL;
	bool text = k->opt.format == PLOT_TEXT;
	int64_t w, h, least = text ? 40 : 200;

	k->opt.color = text && cli_colors(k->c);
	k->opt.width = text ? cli_columns() ? cli_columns() - 1 : PIPE_COLUMNS : PICTURE_WIDTH;
	k->opt.width = text ? MAX(k->opt.width, (int)least) : k->opt.width;
	k->opt.height = text ? cli_lines() ? cli_lines() : PIPE_LINES : 0;
	if (!size)
		return 0;
	if (!x || !num_parse_int((struct span){size, (size_t)(x - size)}, &w) ||
	    !num_parse_int(span_of(x + 1), &h) || w < least || w > LARGEST || h < least / 4 ||
	    h > LARGEST)
		return cli_usage(k->c, "--size takes WIDTHxHEIGHT in %s, from %dx%d to %dx%d",
				 text ? "characters" : "pixels", (int)least, (int)least / 4,
				 LARGEST, LARGEST);
	k->opt.width = (int)w;
	k->opt.height = (int)h;
	return 0;
}

static int read_options(struct plotting *k)
{
	struct cli *c = k->c;
	long run = 0;
	int r;

	if (c->n_operands)
		k->kind = plot_kind_find(c->operands[0]);
	if (k->kind) {
		c->operands++;
		c->n_operands--;
		c->dashes -= c->dashes > 0;
	}
	k->opt.only = cli_value(c, "only");
	r = cli_int(c, "run", 1, 1L << 62, &run);
	k->opt.run = run;
	if (!r && run && !k->kind)
		k->kind = plot_kind_find("series");
	if (!r)
		r = read_output(k);
	return r ? r : read_size(k);
}

/* Lines without what is invisible at their ends, and no empty ones in a row. */
static void add_trimmed(struct strbuf *out, const struct strbuf *text)
{
	struct span rest = {strbuf_str(text), text->len}, line;
	bool blank = true;

	while (span_next_line(&rest, &line, NULL)) {
		/* a form feed stands between two panels */
		while (line.len && strchr(" \f", line.s[line.len - 1]))
			line.len--;
		if (span_starts(line, "\f"))
			line = (struct span){line.s + 1, line.len - 1};
		if (line.len || !blank) {
			strbuf_add(out, line.s, line.len);
			strbuf_addc(out, '\n');
		}
		blank = !line.len;
	}
}

static int write_result(struct plotting *k, const struct strbuf *out)
{
	if (!k->file || !strcmp(k->file, "-") || k->c->dry_run) {
		cli_print(out);
		return 0;
	}
	return file_write_atomic(k->file, strbuf_str(out), out->len, k->c->e);
}

static int picture(struct plotting *k, const struct plot_result *result)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, text = STRBUF_INIT;
	int r;

	if (k->script)
		return write_result(k, &result->script);
	r = gnuplot_run(strbuf_str(&result->script), &out, k->c->e);
	if (r)
		return r;
	if (k->opt.format != PLOT_TEXT)
		return write_result(k, &out);
	strbuf_adds(&text, strbuf_str(&result->head));
	strbuf_addc(&text, '\n');
	add_trimmed(&text, &out);
	strbuf_adds(&text, strbuf_str(&result->tail));
	return write_result(k, &text);
}

static int plot(struct plotting *k)
{
	_cleanup_plot_ struct plot_result result = {STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, 0, 0};
	struct comparison *cmp;
	void *data = NULL;
	int r = read_options(k);

	k->what.build.counters = k->what.build.alone = k->what.series = true;
	if (!r)
		r = selection_compare(&k->what, &cmp);
	if (!r)
		r = selection_check_row(k->c, cmp, "only", k->opt.only, "");
	if (r)
		return r;
	if (cli_has(k->c, "counters") && !k->opt.only)
		k->opt.only = "";
	if (!k->kind) {
		k->kind = plot_kind_choose(cmp);
		cli_note(k->c, "plot %s: %s", k->kind->name, k->kind->summary);
	}
	if (k->kind->read)
		r = k->kind->read(k->what.db, cmp, &k->opt, &data, k->c->e);
	if (!r)
		r = plot_render(k->kind, cmp, data, &k->opt, &result, k->c->e);
	if (!r && result.left_out)
		cli_warn(k->c, "%d further panels are left out: --only TEXT picks rows",
			 result.left_out);
	return r ? r : picture(k, &result);
}

static int plot_run(struct cli *c)
{
	struct plotting k = {.c = c, .what.c = c};
	int r = plot(&k);

	selection_release(&k.what);
	return r;
}

static void plot_help(struct strbuf *sb)
{
	const struct plot_kind *const *k;

	strbuf_adds(sb, "\nKinds (default: what suits the data):\n");
	registry_for_each (plot_kind, k)
		strbuf_addf(sb, "  %-12s %s\n", (*k)->name, (*k)->summary);
}

static const struct cli_option plot_options[] = {
	{"output", 'o', "FILE",
	 "FILE.svg, FILE.png, FILE.gp (the script), - (svg on stdout; default: text)"},
	{"size", 0, "WxH", "pixels, of text characters (default: what it needs, the window)"},
	{"only", 0, "TEXT", "rows with this part of a case or metric, as compare --why takes it"},
	{"run", 0, "ID", "of series: this run"},
	SELECT_WHAT,
	{"counters", 0, NULL, "all metrics, not the headlines alone"},
	CLI_OPTIONS_END,
};

static const struct command command_plot = {
	.name = "plot",
	.usage = "[KIND] [BASE] [OTHER...] | [KIND] FILES... -- FILES...",
	.group = "compare",
	.summary = "pictures of a comparison: svg, png, or text in the terminal",
	.help = "Operands and options are those of compare, after the kind of picture. The "
		"pictures are\n"
		"made by gnuplot (gnuplot-nox). -n prints the script and starts nothing.",
	.help_list = plot_help,
	.examples = "kdelta plot\n"
		    "kdelta plot strip -o change.svg\n"
		    "kdelta plot runs --only hackbench 6.1 6.12 -o runs.png\n"
		    "kdelta plot series --run 17\n"
		    "kdelta plot load old/*.log -- new/*.log\n",
	.options = plot_options,
	.run = plot_run,
};
REGISTER(command, command_plot);
