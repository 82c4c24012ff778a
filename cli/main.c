// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta: finds the command, parses its options from its table, prints errors, checks stdout. */
#include "cli/cli.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct cli_parse {
	struct cli *c;
	int argc;
	char **argv;
	int at;
	ARRAY_OF(struct cli_given) given;
	ARRAY_OF(const char *) operands;
	bool want_help, want_version;
};

static const struct cli_option *option_by_name(const struct cli_option *o, struct span name)
{
	for (; o && o->name; o++)
		if (span_is(name, o->name))
			return o;
	return NULL;
}

static const struct cli_option *option_by_letter(const struct cli_option *o, char letter)
{
	for (; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int parse_global(struct cli_parse *p, const struct cli_option *o, const char *value)
{
	struct cli *c = p->c;

	switch (o->letter) {
	case 'h':
		p->want_help = true;
		return 0;
	case 'V':
		p->want_version = true;
		return 0;
	case 'v':
		c->verbose = true;
		return 0;
	case 'q':
		c->quiet = true;
		return 0;
	case 'n':
		c->dry_run = true;
		return 0;
	}
	if (!strcmp(o->name, "db"))
		c->db = value;
	else if (!strcmp(o->name, "config"))
		c->config = value;
	else if (!strcmp(o->name, "no-pager"))
		c->no_pager = true;
	else if (!strcmp(o->name, "no-input"))
		c->no_input = true;
	else if (!strcmp(o->name, "json"))
		c->json = true;
	else if (strcmp(value, "auto") && strcmp(value, "always") && strcmp(value, "never"))
		return cli_usage(c, "--color takes auto, always or never, not '%s'", value);
	else
		c->color = value;
	return 0;
}

static int parse_take(struct cli_parse *p, const struct cli_option *o, bool global,
		      const char *value)
{
	struct cli_given *g;

	if (global)
		return parse_global(p, o, value);
	g = ARRAY_PUSH(&p->given);
	g->name = o->name;
	g->value = value;
	return 0;
}

static int parse_unknown(struct cli_parse *p, const char *text, struct span name)
{
	const struct cli_option *tables[] = {p->c->command ? p->c->command->options : NULL,
					     cli_global_options};
	ARRAY_OF(const char *) names = {NULL, 0, 0};
	const char *near;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct cli_option *o;

		for (o = tables[i]; o && o->name; o++)
			*ARRAY_PUSH(&names) = o->name;
	}
	*ARRAY_PUSH(&names) = NULL;
	near = str_suggest(arena_strndup(p->c->a, name.s, name.len), names.items);
	ARRAY_FREE(&names);
	cli_usage(p->c, "unknown option '%s'", text);
	if (near)
		err_hint(p->c->e, "did you mean '--%s'?", near);
	return -EINVAL;
}

static int parse_long(struct cli_parse *p, const char *arg)
{
	const char *eq = strchr(arg + 2, '=');
	struct span name = {arg + 2, eq ? (size_t)(eq - arg - 2) : strlen(arg + 2)};
	const struct cli_option *o = NULL;
	const char *value = eq ? eq + 1 : NULL;
	bool global = false;

	if (p->c->command)
		o = option_by_name(p->c->command->options, name);
	if (!o) {
		o = option_by_name(cli_global_options, name);
		global = true;
	}
	if (!o)
		return parse_unknown(p, arg, name);
	if (!o->arg && value)
		return cli_usage(p->c, "--%s takes no value", o->name);
	if (o->arg && *o->arg != '[' && !value) {
		if (p->at >= p->argc)
			return cli_usage(p->c, "--%s needs a value: %s", o->name, o->arg);
		value = p->argv[p->at++];
	}
	return parse_take(p, o, global, value);
}

static int parse_short(struct cli_parse *p, const char *arg)
{
	const char *s;

	for (s = arg + 1; *s; s++) {
		const struct cli_option *o = NULL;
		const char *value = NULL;
		bool global = false;
		int r;

		if (p->c->command)
			o = option_by_letter(p->c->command->options, *s);
		if (!o) {
			o = option_by_letter(cli_global_options, *s);
			global = true;
		}
		if (!o)
			return parse_unknown(p, arg, (struct span){s, 1});
		if (o->arg && *o->arg != '[') {
			if (s[1])
				value = s + 1;
			else if (p->at < p->argc)
				value = p->argv[p->at++];
			else
				return cli_usage(p->c, "-%c needs a value: %s", *s, o->arg);
		}
		r = parse_take(p, o, global, value);
		if (r)
			return r;
		if (value)
			break;
	}
	return 0;
}

static int parse_all(struct cli_parse *p)
{
	struct cli *c = p->c;
	int r = 0;

	while (!r && p->at < p->argc) {
		const char *arg = p->argv[p->at++];

		if (c->has_dashes || arg[0] != '-' || !arg[1] ||
		    (c->command && c->command->raw_operands && p->operands.n > 1)) {
			if (!c->command) {
				c->command = cli_find_command(c, arg);
				r = c->command ? 0 : -EINVAL;
				continue;
			}
			*ARRAY_PUSH(&p->operands) = arg;
		} else if (!strcmp(arg, "--")) {
			c->has_dashes = true;
			c->dashes = p->operands.n;
		} else {
			r = arg[1] == '-' ? parse_long(p, arg) : parse_short(p, arg);
		}
	}
	if (!c->has_dashes)
		c->dashes = p->operands.n;
	c->given = arena_copy(c->a, p->given.items, p->given.n, sizeof(*p->given.items));
	c->n_given = p->given.n;
	c->operands =
		arena_copy(c->a, p->operands.items, p->operands.n, sizeof(*p->operands.items));
	c->n_operands = p->operands.n;
	ARRAY_FREE(&p->given);
	ARRAY_FREE(&p->operands);
	return r;
}

static int run_command(struct cli *c, int argc, char **argv)
{
	struct cli_parse p = {.c = c, .argc = argc, .argv = argv, .at = 1};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int r = parse_all(&p);

	if (r)
		return r;
	if (p.want_version) {
		strbuf_adds(&sb, "kdelta " KDELTA_VERSION "\n");
	} else if (p.want_help && c->command) {
		cli_help_command(&sb, c->command);
	} else if (p.want_help) {
		cli_help_main(&sb, false);
	} else if (!c->command) {
		cli_help_main(&sb, false);
		fputs(strbuf_str(&sb), stderr);
		return EXIT_USAGE;
	} else {
		return c->command->run(c);
	}
	cli_print(&sb);
	return EXIT_DONE;
}

/* A full or closed stdout is an error, never a short report with exit 0. */
static int check_stdout(int code)
{
	bool failed = ferror(stdout) != 0;

	if ((fclose(stdout) || failed) && code == EXIT_DONE) {
		if (errno == EPIPE)
			return EXIT_FAILED;
		fprintf(stderr, "kdelta: cannot write to stdout: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	return code;
}

/*
 * The heap that a comparison needs, mapped in one call: touched page by page it was a third of the
 * time of a command, and several times that in virtual machines, where a page fault is dear.
 */
static void prepare_heap(void)
{
	enum { HEAP = 640 << 10 };
	char *top;

	mallopt(M_TOP_PAD, HEAP);
	free(mem_alloc(1));
	top = sbrk(0);
	if (top != (void *)-1)
		madvise(top - HEAP, HEAP, MADV_POPULATE_WRITE);
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct cli c = {.e = &e};
	int r;

	prepare_heap();
	c.a = arena_new();
	/* A reader that went away is an error of write, not a signal in mid-database. */
	signal(SIGPIPE, SIG_IGN);
	r = run_command(&c, argc, argv);
	cli_print_errors(&e);
	if (r < 0)
		r = r == -EINVAL ? EXIT_USAGE : r == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
	r = check_stdout(r);
	arena_free(c.a);
	return r;
}
