// SPDX-License-Identifier: GPL-2.0-or-later
/* Help and man pages, made from the tables of the commands. */
#include "cli/cli.h"
#include "cli/keys.h"

#include <errno.h>
#include <string.h>

const struct cli_option cli_global_options[] = {
	{"help", 'h', NULL, "show help (`kdelta help COMMAND` for one command)"},
	{"version", 'V', NULL, "show the version"},
	{"verbose", 'v', NULL, "say more on stderr"},
	{"quiet", 'q', NULL, "say nothing on stderr but errors"},
	{"db", 0, "FILE", "database (else $KDELTA_DB, ./kdelta.db, or the data folder)"},
	{"config", 0, "FILE", "campaign file (default ./kdelta.yaml)"},
	{"color", 0, "auto|always|never", "colours; NO_COLOR is honoured"},
	{"no-pager", 0, NULL, "never start a pager"},
	{"no-input", 0, NULL, "never ask"},
	{"dry-run", 'n', NULL, "show what would be done"},
	{"json", 0, NULL, "results as JSON"},
	CLI_OPTIONS_END,
};

const struct command *cli_find_command(struct cli *c, const char *name)
{
	const struct command *const *p;
	size_t n = (size_t)(__stop_reg_command - __start_reg_command), i = 0;
	const char **names = arena_alloc_array(c->a, n + 1, sizeof(*names));
	const char *near;

	registry_for_each (command, p) {
		if (!strcmp((*p)->name, name))
			return *p;
		names[i++] = (*p)->name;
	}
	err_add(c->e, -EINVAL, "unknown command '%s'", name);
	near = str_suggest(name, names);
	if (near)
		err_hint(c->e, "did you mean 'kdelta %s'?", near);
	else
		err_hint(c->e, "see `kdelta help -a`");
	return NULL;
}

static const struct {
	const char *name, *title;
} groups[] = {
	{"measure", "Measure"},
	{"compare", "Compare"},
	{"hunt", "Hunt"},
	{"keep", "Keep"},
};

static void help_options(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		size_t start = sb->len;

		if (o->letter)
			strbuf_addf(sb, "  -%c, --%s", o->letter, o->name);
		else
			strbuf_addf(sb, "      --%s", o->name);
		if (o->arg)
			strbuf_addf(sb, "%s%s", *o->arg == '[' ? "" : " ", o->arg);
		strbuf_pad(sb, start + 26);
		strbuf_addf(sb, " %s\n", o->help);
	}
}

static void help_commands(struct strbuf *sb, bool all)
{
	const struct command *const *p;
	size_t g;

	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		bool titled = false;

		registry_for_each (command, p) {
			const struct command *cmd = *p;

			if (cmd->hidden || strcmp(cmd->group, groups[g].name) ||
			    (!all && !cmd->first_page))
				continue;
			if (all && !titled)
				strbuf_addf(sb, "%s\n", groups[g].title);
			titled = true;
			strbuf_addf(sb, "  %-10s %s\n", cmd->name, cmd->summary);
		}
	}
}

void cli_help_main(struct strbuf *sb, bool all)
{
	strbuf_adds(sb, "kdelta: did this kernel get faster or slower, by how much, how sure?\n\n"
			"usage: kdelta [global options] COMMAND [options] [operands]\n\n");
	help_commands(sb, all);
	strbuf_adds(sb, "\nGlobal options\n");
	help_options(sb, cli_global_options);
	strbuf_adds(sb, all ? "\n`kdelta help COMMAND` explains one, man kdelta-COMMAND tells all.\n"
			    : "\n`kdelta help -a` lists all commands. First steps:\n"
			      "  kdelta demo                       a comparison in one second\n"
			      "  kdelta init && kdelta run         measure what kdelta.yaml says\n"
			      "  kdelta compare                    the newest campaign\n");
}

void cli_help_command(struct strbuf *sb, const struct command *cmd)
{
	strbuf_addf(sb, "kdelta %s: %s\n\nusage: kdelta %s%s%s%s\n", cmd->name, cmd->summary,
		    cmd->name, cmd->options ? " [options]" : "", *cmd->usage ? " " : "",
		    cmd->usage);
	if (cmd->options) {
		strbuf_adds(sb, "\nOptions\n");
		help_options(sb, cmd->options);
	}
	if (cmd->help)
		strbuf_addf(sb, "\n%s\n", cmd->help);
	if (cmd->help_list)
		cmd->help_list(sb);
	if (cmd->examples)
		strbuf_addf(sb, "\nExamples\n%s\n", cmd->examples);
	strbuf_adds(sb, "\nGlobal options: see `kdelta help`.\n");
}

/* ---- man pages ---- */

/* Text as roff: backslashes and dashes escaped, a leading dot or quote kept from being a request.
 */
static void roff_text(struct strbuf *sb, const char *s)
{
	bool line_start = true;

	for (; *s; s++) {
		if (line_start && (*s == '.' || *s == '\''))
			strbuf_adds(sb, "\\&");
		line_start = *s == '\n';
		if (*s == '\\')
			strbuf_adds(sb, "\\e");
		else if (*s == '-')
			strbuf_adds(sb, "\\-");
		else
			strbuf_addc(sb, *s);
	}
}

static void roff_options(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		strbuf_adds(sb, ".TP\n.B ");
		if (o->letter)
			strbuf_addf(sb, "\\-%c, ", o->letter);
		strbuf_adds(sb, "\\-\\-");
		roff_text(sb, o->name);
		if (o->arg)
			strbuf_addf(sb, "%s%s", *o->arg == '[' ? "" : " ", o->arg);
		strbuf_addc(sb, '\n');
		roff_text(sb, o->help);
		strbuf_addc(sb, '\n');
	}
}

static void roff_command(struct strbuf *sb, const struct command *cmd)
{
	strbuf_addf(sb, ".TH KDELTA-%s 1 \"\" \"kdelta %s\" \"kdelta\"\n", cmd->name,
		    KDELTA_VERSION);
	strbuf_addf(sb, ".SH NAME\nkdelta\\-%s \\- ", cmd->name);
	roff_text(sb, cmd->summary);
	strbuf_addf(sb, "\n.SH SYNOPSIS\n.B kdelta %s\n%s", cmd->name,
		    cmd->options ? "[options] " : "");
	roff_text(sb, cmd->usage);
	strbuf_adds(sb, "\n");
	if (cmd->help) {
		strbuf_adds(sb, ".SH DESCRIPTION\n.nf\n");
		roff_text(sb, cmd->help);
		strbuf_adds(sb, "\n.fi\n");
	}
	if (cmd->options) {
		strbuf_adds(sb, ".SH OPTIONS\n");
		roff_options(sb, cmd->options);
	}
	if (cmd->examples) {
		strbuf_adds(sb, ".SH EXAMPLES\n.nf\n");
		roff_text(sb, cmd->examples);
		strbuf_adds(sb, "\n.fi\n");
	}
	strbuf_adds(sb, ".SH SEE ALSO\n.BR kdelta (1)\n");
}

/* The commands, for kdelta(1). */
static void roff_commands(struct strbuf *sb)
{
	const struct command *const *p;

	registry_for_each (command, p) {
		if ((*p)->hidden)
			continue;
		strbuf_addf(sb, ".TP\n.BR kdelta\\-%s (1)\n", (*p)->name);
		roff_text(sb, (*p)->summary);
		strbuf_addc(sb, '\n');
	}
}

/* The keys of a campaign file, for kdelta-campaign(5). */
static void roff_keys(struct strbuf *sb)
{
	const struct config_key *k;

	for (k = config_keys; k < config_keys + n_config_keys; k++) {
		strbuf_adds(sb, ".TP\n.B ");
		roff_text(sb, k->path);
		strbuf_addc(sb, '\n');
		roff_text(sb, k->text);
		strbuf_adds(sb, ".\n.br\nTakes: ");
		roff_text(sb, k->type);
		strbuf_adds(sb, ". Default: ");
		roff_text(sb, k->fallback);
		strbuf_adds(sb, ".\n");
	}
}

/* ---- words for scripts ---- */

static void words_options(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++)
		strbuf_addf(sb, "--%s\n", o->name);
}

static void words_commands(struct strbuf *sb)
{
	const struct command *const *p;

	registry_for_each (command, p) {
		if (!(*p)->hidden)
			strbuf_addf(sb, "%s\n", (*p)->name);
	}
}

static int run_help(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *format = cli_value(c, "output");
	const struct command *cmd = NULL;

	if (c->n_operands) {
		cmd = cli_find_command(c, c->operands[0]);
		if (!cmd)
			return -EINVAL;
	}
	if (!format) {
		if (cmd)
			cli_help_command(&sb, cmd);
		else
			cli_help_main(&sb, cli_has(c, "all"));
	} else if (!strcmp(format, "man")) {
		if (cmd)
			roff_command(&sb, cmd);
		else
			roff_commands(&sb);
	} else if (!strcmp(format, "keys")) {
		roff_keys(&sb);
	} else if (!strcmp(format, "words")) {
		if (cmd)
			words_options(&sb, cmd->options);
		else
			words_commands(&sb);
		words_options(&sb, cli_global_options);
	} else {
		return cli_usage(c, "unknown format '%s': man, keys or words", format);
	}
	cli_print(&sb);
	return EXIT_DONE;
}

static const struct cli_option help_options_of_help[] = {
	{"all", 'a', NULL, "list every command"},
	{"output", 'o', "FORMAT", "man: a man page, or all commands; keys: of campaign files; words: names"},
	CLI_OPTIONS_END,
};

static const struct command help_cmd = {
	.name = "help",
	.usage = "[COMMAND]",
	.group = "keep",
	.summary = "explain kdelta or one command",
	.options = help_options_of_help,
	.run = run_help,
};
REGISTER(command, help_cmd);
