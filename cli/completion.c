// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completion for bash, zsh and fish, made from the tables of the commands: options from theirs, words
 * such as "start" from usage lines, where they stand in small letters.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* "[runs|kernels] [CAMPAIGN]" -> "runs kernels": the words of a usage or an argument as they are typed. */
static void add_words(struct strbuf *sb, const char *usage)
{
	size_t start = sb->len;

	while (*usage) {
		size_t n = strcspn(usage, " |[]"), small = strspn(usage, "abcdefghijklmnopqrstuvwxyz-");

		if (n && n == small && *usage != '-')
			strbuf_addf(sb, "%s%.*s", sb->len > start ? " " : "", (int)n, usage);
		usage += n + (usage[n] != 0);
	}
}

static void add_commands(struct strbuf *sb)
{
	const struct command *const *p;
	const char *blank = "";

	registry_for_each (command, p) {
		if ((*p)->hidden)
			continue;
		strbuf_addf(sb, "%s%s", blank, (*p)->name);
		blank = " ";
	}
}

/* The words that may follow a command: of help all commands. */
static void add_operands(struct strbuf *sb, const struct command *cmd)
{
	if (!strcmp(cmd->usage, "[COMMAND]"))
		add_commands(sb);
	else
		add_words(sb, cmd->usage);
}

static bool takes_file(const char *arg)
{
	return strstr(arg, "FILE") || strstr(arg, "DIR") || strstr(arg, "PATH");
}

/* Inside single quotes; special: what takes a backslash besides (zsh: in brackets). */
static void add_quoted(struct strbuf *sb, const char *s, const char *quote, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'') {
			strbuf_adds(sb, quote);
			continue;
		}
		if (strchr(special, *s))
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *s);
	}
}

/* Of an option's argument: the words to choose from; false if it names none. */
static bool option_words(struct strbuf *words, const struct cli_option *o)
{
	if (o->arg)
		add_words(words, o->arg);
	return words->len > 0;
}

/* "--db|--config|--color": the global options that take a value, with glue between them. */
static void add_global_takers(struct strbuf *sb, const char *glue)
{
	const struct cli_option *o;
	const char *between = "";

	for (o = cli_global_options; o->name; o++) {
		if (!o->arg)
			continue;
		strbuf_addf(sb, "%s--%s", between, o->name);
		between = glue;
	}
}

/* ---- bash ---- */

static void bash_options(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++)
		strbuf_addf(sb, " --%s", o->name);
}

/* Words after an option go before those after the command. */
static void bash_values(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

		if (!option_words(&words, o))
			continue;
		strbuf_addf(sb, "\n\t\t[[ $prev != --%s", o->name);
		if (o->letter)
			strbuf_addf(sb, " && $prev != -%c", o->letter);
		strbuf_addf(sb, " ]] || words='%s'", strbuf_str(&words));
	}
}

static void bash_command(struct strbuf *sb, const struct command *cmd)
{
	strbuf_addf(sb, "\t%s)\n\t\toptions='", cmd->name);
	bash_options(sb, cmd->options);
	strbuf_adds(sb, "'\n\t\t[[ $prev != \"$command\" ]] || words='");
	add_operands(sb, cmd);
	strbuf_addc(sb, '\'');
	bash_values(sb, cmd->options);
	strbuf_adds(sb, " ;;\n");
}

static void complete_bash(struct strbuf *sb)
{
	const struct command *const *p;

	strbuf_adds(sb, "_kdelta() {\n"
			"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
			"\tlocal i command= options= words=\n"
			"\t[[ $cur != = ]] || cur=\n"
			"\t[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
			"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			"\t\tcase ${COMP_WORDS[i]} in\n\t\t");
	add_global_takers(sb, "|");
	strbuf_adds(sb, ") ((i += 1)); [[ ${COMP_WORDS[i]} != = ]] || ((i += 1)) ;;\n"
			"\t\t-*) ;;\n"
			"\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
			"\t\tesac\n"
			"\tdone\n"
			"\tcase $command in\n"
			"\t'') words='");
	add_commands(sb);
	strbuf_adds(sb, "' ;;\n");
	registry_for_each (command, p) {
		if (!(*p)->hidden)
			bash_command(sb, *p);
	}
	strbuf_adds(sb, "\tesac");
	bash_values(sb, cli_global_options);
	strbuf_adds(sb, "\n\t[[ $cur != -* ]] || words=\"$options");
	bash_options(sb, cli_global_options);
	strbuf_adds(sb, "\"\n"
			"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			"}\n"
			"complete -o bashdefault -o default -F _kdelta kdelta\n");
}

/* ---- zsh ---- */

static void zsh_option(struct strbuf *sb, const struct cli_option *o, const char *dashes,
		       const char *name, const char *glue)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	strbuf_addf(sb, " \\\n\t\t'*%s%s%s[", dashes, name, o->arg ? glue : "");
	add_quoted(sb, o->help, "'\\''", "[]\\");
	strbuf_addc(sb, ']');
	if (o->arg) {
		strbuf_addf(sb, "%s:%s:", *o->arg == '[' ? ":" : "", o->arg);
		if (option_words(&words, o))
			strbuf_addf(sb, "(%s)", strbuf_str(&words));
		else
			strbuf_adds(sb, takes_file(o->arg) ? "_files" : " ");
	}
	strbuf_addc(sb, '\'');
}

static void zsh_options(struct strbuf *sb, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		const char letter[] = {o->letter, 0};

		if (o->letter)
			zsh_option(sb, o, "-", letter, "+");
		/* of "[ID]" the value is no word of its own */
		zsh_option(sb, o, "--", o->name, o->arg && *o->arg == '[' ? "=-" : "=");
	}
}

static void complete_zsh(struct strbuf *sb)
{
	const struct command *const *p;

	strbuf_adds(sb, "_kdelta() {\n"
			"\tlocal curcontext=$curcontext context state state_descr line\n"
			"\tlocal -a commands globals\n"
			"\ttypeset -A opt_args\n"
			"\tglobals=(");
	zsh_options(sb, cli_global_options);
	strbuf_adds(sb, ")\n\tcommands=(\n");
	registry_for_each (command, p) {
		if ((*p)->hidden)
			continue;
		strbuf_addf(sb, "\t\t'%s:", (*p)->name);
		add_quoted(sb, (*p)->summary, "'\\''", "\\");
		strbuf_adds(sb, "'\n");
	}
	strbuf_adds(sb, "\t)\n\t_arguments -C -s $globals '1:command:->command' '*::operand:->operands'"
			" && return\n"
			"\tif [[ $state == command ]]; then\n"
			"\t\t_describe -t commands command commands\n\t\treturn\n\tfi\n"
			"\t[[ $state == operands ]] || return 1\n"
			"\tcase $words[1] in\n");
	registry_for_each (command, p) {
		if ((*p)->hidden)
			continue;
		strbuf_addf(sb, "\t%s) _arguments -s $globals", (*p)->name);
		zsh_options(sb, (*p)->options);
		strbuf_adds(sb, " \\\n\t\t'1:operand:{ compadd -- ");
		add_operands(sb, *p);
		strbuf_adds(sb, "; _files }' '*:operand:_files' ;;\n");
	}
	strbuf_adds(sb, "\tesac\n}\n"
			"[[ $funcstack[1] != _kdelta ]] || _kdelta \"$@\"\n");
}

/* ---- fish ---- */

static void fish_options(struct strbuf *sb, const struct cli_option *o, const char *condition)
{
	for (; o && o->name; o++) {
		_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

		strbuf_addf(sb, "complete -c kdelta%s -l %s", condition, o->name);
		if (o->letter)
			strbuf_addf(sb, " -s %c", o->letter);
		if (o->arg && *o->arg != '[')
			strbuf_adds(sb, takes_file(o->arg) ? " -rF" : " -x");
		if (option_words(&words, o))
			strbuf_addf(sb, " -a '%s'", strbuf_str(&words));
		strbuf_adds(sb, " -d '");
		add_quoted(sb, o->help, "\\'", "\\");
		strbuf_adds(sb, "'\n");
	}
}

static void complete_fish(struct strbuf *sb)
{
	const struct command *const *p;

	strbuf_adds(sb, "function __kdelta_command\n"
			"\tset -l words (commandline -opc)[2..]\n"
			"\twhile set -q words[1]\n"
			"\t\tif contains -- $words[1] ");
	add_global_takers(sb, " ");
	strbuf_adds(sb, "\n\t\t\tset -e words[1]\n"
			"\t\telse if not string match -q -- '-*' $words[1]\n"
			"\t\t\techo $words[1]\n\t\t\treturn\n"
			"\t\tend\n\t\tset -e words[1]\n\tend\n\treturn 1\nend\n");
	fish_options(sb, cli_global_options, "");
	registry_for_each (command, p) {
		_cleanup_strbuf_ struct strbuf condition = STRBUF_INIT, words = STRBUF_INIT;

		if ((*p)->hidden)
			continue;
		strbuf_addf(sb, "complete -c kdelta -n 'not __kdelta_command' -f -a %s -d '", (*p)->name);
		add_quoted(sb, (*p)->summary, "\\'", "\\");
		strbuf_adds(sb, "'\n");
		strbuf_addf(&condition, " -n 'contains %s (__kdelta_command)'", (*p)->name);
		fish_options(sb, (*p)->options, strbuf_str(&condition));
		add_operands(&words, *p);
		if (words.len)
			strbuf_addf(sb, "complete -c kdelta%s -a '%s'\n", strbuf_str(&condition),
				    strbuf_str(&words));
	}
}

/* ---- the command ---- */

static const struct {
	const char *name, *head;
	void (*complete)(struct strbuf *sb);
} shells[] = {
	{"bash", "", complete_bash},
	{"fish", "", complete_fish},
	{"zsh", "#compdef kdelta\n", complete_zsh},
};

static int run_completion(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t i;

	if (c->n_operands != 1)
		return cli_usage(c, "completion takes one of bash, fish, zsh");
	for (i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, c->operands[0]))
			continue;
		strbuf_addf(&sb, "%s# made by `kdelta completion %s`\n", shells[i].head,
			    shells[i].name);
		shells[i].complete(&sb);
		cli_print(&sb);
		return EXIT_DONE;
	}
	return cli_usage(c, "completion is for bash, fish or zsh, not '%s'", c->operands[0]);
}

static const struct command completion_cmd = {
	.name = "completion",
	.usage = "bash|fish|zsh",
	.group = "keep",
	.summary = "completion of a shell, on stdout",
	.examples = "  source <(kdelta completion bash)        # make install puts all three in their places",
	.run = run_completion,
};
REGISTER(command, completion_cmd);
