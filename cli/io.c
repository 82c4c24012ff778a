// SPDX-License-Identifier: GPL-2.0-or-later
/* What commands share: their options' values, the database, stdout and stderr. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "net/net.h"
#include "runner/pager.h"

bool cli_has(const struct cli *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_given; i++)
		if (!strcmp(c->given[i].name, name))
			return true;
	return false;
}

const char *cli_value(const struct cli *c, const char *name)
{
	size_t i;

	for (i = c->n_given; i-- > 0;)
		if (!strcmp(c->given[i].name, name))
			return c->given[i].value;
	return NULL;
}

const char *cli_value_at(const struct cli *c, const char *name, size_t at)
{
	size_t i;

	for (i = 0; i < c->n_given; i++)
		if (!strcmp(c->given[i].name, name) && !at--)
			return c->given[i].value;
	return NULL;
}

int cli_usage(struct cli *c, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	err_add(c->e, -EINVAL, "%s", strbuf_str(&sb));
	err_hint(c->e, "see `kdelta help%s%s`", c->command ? " " : "",
		 c->command ? c->command->name : "");
	return -EINVAL;
}

int cli_int(struct cli *c, const char *name, long min, long max, long *out)
{
	const char *s = cli_value(c, name);
	int64_t v;

	if (!s)
		return 0;
	if (!num_parse_int(span_of(s), &v) || v < min || v > max)
		return cli_usage(c, "--%s takes a whole number from %ld to %ld, not '%s'", name,
				 min, max, s);
	*out = (long)v;
	return 0;
}

int cli_fraction(struct cli *c, const char *name, double *out)
{
	const char *s = cli_value(c, name);
	struct span text;
	bool percent;
	double v;

	if (!s)
		return 0;
	text = span_of(s);
	percent = str_ends(s, "%");
	text.len -= percent;
	if (!num_parse(text, &v) || v < 0 || v > (percent ? 1e4 : 100))
		return cli_usage(c, "--%s takes a share such as 3%% or 0.03, not '%s'", name, s);
	*out = percent ? v / 100 : v;
	return 0;
}

int cli_list(struct cli *c, const char *name, const char *const **out)
{
	const char *list = cli_value(c, name), **items;
	size_t n = 0;

	if (!list)
		return 0;
	items = arena_alloc_array(c->a, strlen(list) + 2, sizeof(*items));
	for (;;) {
		size_t len = strcspn(list, ",");
		struct span item = span_trim((struct span){list, len});

		if (!item.len)
			return cli_usage(c, "--%s takes names with commas between them", name);
		items[n++] = arena_strndup(c->a, item.s, item.len);
		if (!list[len])
			break;
		list += len + 1;
	}
	*out = items;
	return 0;
}

int cli_failure(int r)
{
	return r == -EINVAL ? -EBADMSG : r;
}

bool cli_suggest(struct cli *c, const char *word, const char *const *words)
{
	const char *near = str_suggest(word, words);

	if (near)
		err_hint(c->e, "did you mean '%s'?", near);
	return near != NULL;
}

int cli_seconds(struct cli *c, const char *name, double *out)
{
	const char *s = cli_value(c, name);
	double v;

	if (!s)
		return 0;
	if (!num_parse_duration(s, &v) || !(v > 0))
		return cli_usage(c, "--%s takes a time such as 30s or 5m, not '%s'", name, s);
	*out = v;
	return 0;
}

int cli_net_options(struct cli *c, struct net_options *net)
{
	struct stat st;

	net->cacert = cli_value(c, "cacert");
	net->netrc = cli_value(c, "netrc");
	if (cli_seconds(c, "timeout", &net->timeout))
		return -EINVAL;
	if (!net->netrc)
		return 0;
	if (access(net->netrc, R_OK) || stat(net->netrc, &st))
		return err_add_errno(c->e, "cannot read %s", net->netrc);
	if (st.st_mode & 077)
		cli_warn(c, "%s can be read by other users: chmod 600 it", net->netrc);
	return 0;
}

int cli_http_options(struct cli *c, struct net_options *net)
{
	int r = cli_net_options(c, net);

	if (!r && !net->netrc)
		net->netrc = "";
	net->tries = 3;
	return r;
}

const char *cli_config_dir(const struct cli *c)
{
	if (c->config)
		return path_folder(c->a, c->config);
	return file_exists("kdelta.yaml") ? "." : NULL;
}

int cli_open_db(struct cli *c, enum db_mode mode, struct db **db)
{
	char *path = db_path(c->a, c->db);
	int r = db_open(path, mode, db, c->e);

	if (!r && mode == DB_WRITE)
		cli_note(c, "database %s", path);
	return r;
}

void cli_print(const struct strbuf *text)
{
	fwrite(strbuf_str(text), 1, text->len, stdout);
}

/* Whether so many lines are more than the terminal shows at once. */
static bool is_long(const struct strbuf *text)
{
	struct winsize ws;
	size_t i, lines = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row)
		return false;
	for (i = 0; i < text->len; i++)
		lines += strbuf_str(text)[i] == '\n';
	return lines >= ws.ws_row;
}

void cli_page(const struct cli *c, const struct strbuf *text)
{
	struct span all = {strbuf_str(text), text->len};

	if (c->no_pager || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || !is_long(text) ||
	    pager_show(all))
		cli_print(text);
}

char *cli_clean(struct arena *a, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(text);
	uint32_t cp;
	size_t n;

	while (rest.len) {
		n = span_utf8(rest, &cp);
		if (n && ((cp >= ' ' && cp < 0x7f) || cp >= 0xa0 || cp == '\n' || cp == '\t'))
			strbuf_add(&sb, rest.s, n);
		else
			strbuf_addc(&sb, '?');
		span_skip(&rest, MAX(n, (size_t)1));
	}
	return arena_strdup(a, strbuf_str(&sb));
}

/* To stderr: names of files and words of texts are in it. */
static void say(const char *text)
{
	_cleanup_arena_ struct arena *a = arena_new();

	fputs(cli_clean(a, text), stderr);
}

static void cli_say(const char *prefix, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "kdelta: %s", prefix);
	strbuf_vaddf(&sb, fmt, ap);
	strbuf_addc(&sb, '\n');
	say(strbuf_str(&sb));
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	cli_say("", fmt, ap);
	va_end(ap);
}

void cli_warn(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	cli_say("warning: ", fmt, ap);
	va_end(ap);
}

void cli_print_errors(struct err *e)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct err_item *it;

	array_for_each (it, &e->list) {
		strbuf_addf(&sb, "%s", it->file ? it->file : "kdelta");
		if (it->file && it->line)
			strbuf_addf(&sb, ":%d", it->line);
		if (it->file && it->line && it->column)
			strbuf_addf(&sb, ":%d", it->column);
		strbuf_addf(&sb, ": %s\n", it->message);
		if (it->hint)
			strbuf_addf(&sb, "  %s\n", it->hint);
	}
	say(strbuf_str(&sb));
	err_release(e);
}

/* From the environment, else from the terminal; 0 where stdout is none. */
static int window_size(const char *variable, bool lines, int standard)
{
	struct winsize ws;
	const char *given = getenv(variable);
	int64_t n;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (given && num_parse_int(span_of(given), &n) && n > 0 && n < 10000)
		return (int)n;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && (lines ? ws.ws_row : ws.ws_col))
		return lines ? ws.ws_row : ws.ws_col;
	return standard;
}

int cli_columns(void)
{
	return window_size("COLUMNS", false, 80);
}

int cli_lines(void)
{
	return window_size("LINES", true, 24);
}

bool cli_colors(const struct cli *c)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (c->color && !strcmp(c->color, "always"))
		return true;
	if ((c->color && !strcmp(c->color, "never")) || (no && *no))
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}
