// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernels/kernel_config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "kernels/source.h"
#include "machine/kconfig.h"

#define CONFIG_LIMIT ((size_t)4 << 20)
enum { TOLD = 8 }; /* options that did not survive, named in a note */

static int read_running(struct build *b, struct strbuf *out)
{
	const char *path;
	int ret = kconfig_read(b->r->a, "", out, &path);

	if (ret == -ENOENT) {
		err_add(b->step.e, ret, "the running kernel's configuration is nowhere: neither "
					"/proc/config.gz nor %s",
			path);
		err_hint(b->step.e, "name another with config: {file: PATH} or {target: defconfig}");
	} else if (ret) {
		err_add(b->step.e, ret, "cannot read %s: %s", path, strerror(-ret));
	}
	return ret;
}

/* Comments and blank lines say nothing, but for "# CONFIG_X is not set". */
static void add_lines(struct strbuf *out, struct span text)
{
	struct span line;

	while (span_next_line(&text, &line, NULL)) {
		line = span_trim(line);
		if (!line.len || (*line.s == '#' && !span_starts(line, "# CONFIG_")))
			continue;
		strbuf_addf(out, "%.*s\n", (int)line.len, line.s);
	}
}

int kernel_config_read(struct build *b, struct build_config *config)
{
	const struct kernel_recipe *r = b->recipe;
	_cleanup_strbuf_ struct strbuf base = STRBUF_INIT, lines = STRBUF_INIT, all = STRBUF_INIT;
	const char *const *f;
	char hex[65];
	int ret = 0;

	*config = (struct build_config){NULL, NULL, NULL};
	if (r->config_file)
		ret = file_read(r->config_file, CONFIG_LIMIT, &base, b->step.e);
	else if (r->config_running)
		ret = read_running(b, &base);
	if (!r->config_target)
		config->base = arena_strdup(b->r->a, strbuf_str(&base));
	for (f = r->fragments; !ret && f && *f; f++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		ret = file_read(*f, CONFIG_LIMIT, &text, b->step.e);
		add_lines(&lines, (struct span){strbuf_str(&text), text.len});
	}
	config->fragments = arena_strdup(b->r->a, strbuf_str(&lines));
	if (r->config_target)
		strbuf_addf(&all, "make %s\n", r->config_target);
	add_lines(&all, span_of(strbuf_str(&base)));
	strbuf_addf(&all, "fragments\n%s", config->fragments);
	data_sha256(all.buf, all.len, hex);
	config->hash = arena_strndup(b->r->a, hex, 16);
	return ret;
}

/* "CONFIG_X" of "CONFIG_X=y" and of "# CONFIG_X is not set" */
static struct span option_name(struct span line)
{
	if (span_starts(line, "# "))
		span_skip(&line, 2);
	line.len = strcspn(line.s, "= \n") < line.len ? strcspn(line.s, "= \n") : line.len;
	return line;
}

static bool is_off(struct span line)
{
	return *line.s == '#' || (line.len > 2 && span_is((struct span){line.s + line.len - 2, 2},
							  "=n"));
}

/* Whether the final configuration has it as a line of a fragment asks. */
static bool survived(struct arena *a, const char *final, struct span line)
{
	struct span name = option_name(line);
	const char *set = arena_printf(a, "\n%.*s=", (int)name.len, name.s);

	if (is_off(line))
		return !strstr(final, set);
	return strstr(final, arena_printf(a, "\n%.*s\n", (int)line.len, line.s)) != NULL;
}

/* A later line of the fragments speaks of the same option. */
static bool is_overruled(struct arena *a, struct span rest, struct span line)
{
	struct span name = option_name(line), later;

	(void)a;
	while (span_next_line(&rest, &later, NULL)) {
		later = option_name(later);
		if (later.len == name.len && !memcmp(later.s, name.s, name.len))
			return true;
	}
	return false;
}

/* Options that depend on what is off vanish without a word from make: so we say it. */
static void tell_lost(struct build *b, const struct build_config *config, const char *text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf lost = STRBUF_INIT;
	const char *final = arena_printf(a, "\n%s", text);
	struct span rest = span_of(config->fragments), line;
	int n = 0;

	while (span_next_line(&rest, &line, NULL)) {
		if (is_overruled(a, rest, line) || survived(a, final, line))
			continue;
		if (n++ < TOLD)
			strbuf_addf(&lost, "%s%.*s", n > 1 ? ", " : "", (int)line.len, line.s);
	}
	if (n > TOLD)
		strbuf_addf(&lost, " and %d more", n - TOLD);
	if (n)
		step_note(&b->step, "the configuration has not as asked: %s", lost.buf);
}

static int write_base(struct build *b, const struct build_config *config, const char *out,
		      const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int ret = 0;

	if (!config->base) {
		ret = kernel_make(b, out, b->recipe->config_target);
		if (!ret)
			ret = file_read(path, CONFIG_LIMIT, &text, b->step.e);
	} else {
		strbuf_adds(&text, config->base);
		strbuf_addc(&text, '\n');
	}
	if (ret || (config->base == NULL && !*config->fragments))
		return ret;
	strbuf_adds(&text, config->fragments);
	return file_write_atomic(path, text.buf, text.len, b->step.e);
}

/*
 * Hash of all that a configuration follows from: what is asked for, the compiler, patches, and the
 * files of the commit that have a say. NULL where that is not known, of sources without a commit.
 */
static const char *inputs_of(struct build *b, const struct build_config *config)
{
	struct arena *a = b->r->a;
	const char *const env[] = {arena_printf(a, "GIT_INDEX_FILE=%s/index", b->dir), NULL};
	const char *const argv[] = {"git", arena_printf(a, "--git-dir=%s/repo.git", b->dir),
				    arena_printf(a, "--work-tree=%s", b->tree), "ls-files", "-s",
				    "--", "*Kconfig*", "*config", "*Makefile", "scripts", NULL};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct step s = {.a = a, .e = &ignored, .env = env};
	char hex[65];

	if (!b->commit || step_run(&s, NULL, argv))
		return NULL;
	strbuf_addf(&text, "%s\n%s\n%s\n", config->hash, source_compiler(a), s.out);
	build_add_patches(b, &text);
	data_sha256(text.buf, text.len, hex);
	return arena_strdup(a, hex);
}

/* Whether the configuration that lies there is the one: made of the same, and untouched since. */
static bool is_made(struct build *b, const char *stamp, const char *inputs, const char *path)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65];

	return inputs && !file_read_line(stamp, &line) && !file_sha256(path, hex, &ignored) &&
	       !strcmp(strbuf_str(&line), arena_printf(b->r->a, "%s %s", inputs, hex));
}

static void write_stamp(struct build *b, const char *stamp, const char *inputs, const char *path)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	char hex[65], *line;

	if (!inputs || file_sha256(path, hex, &ignored))
		return;
	line = arena_printf(b->r->a, "%s %s\n", inputs, hex);
	file_write_atomic(stamp, line, strlen(line), &ignored);
}

int kernel_config_make(struct build *b, const struct build_config *config, const char *out)
{
	const char *path = arena_printf(b->r->a, "%s/.config", out);
	const char *stamp = arena_printf(b->r->a, "%s/.kdelta-config", out);
	const char *inputs = inputs_of(b, config);
	_cleanup_strbuf_ struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct stat st;
	bool was = !stat(path, &st) && !file_read(path, CONFIG_LIMIT, &before, &ignored);
	int ret = file_make_dirs(out, b->step.e);

	if (was && is_made(b, stamp, inputs, path))
		return 0;
	step_note(&b->step, "configuring %s", kernel_config_describe(b));
	if (!ret)
		ret = write_base(b, config, out, path);
	if (!ret)
		ret = kernel_make(b, out, "olddefconfig");
	if (!ret)
		ret = file_read(path, CONFIG_LIMIT, &after, b->step.e);
	if (ret)
		return ret;
	if (was && before.len == after.len && !memcmp(before.buf, after.buf, after.len))
		utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0);
	write_stamp(b, stamp, inputs, path);
	tell_lost(b, config, strbuf_str(&after));
	return 0;
}

bool kernel_config_has(struct arena *a, const char *out, const char *line)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct span rest, row;

	file_read(arena_printf(a, "%s/.config", out), CONFIG_LIMIT, &text, &ignored);
	rest = (struct span){strbuf_str(&text), text.len};
	while (span_next_line(&rest, &row, NULL))
		if (span_is(row, line))
			return true;
	return false;
}

char *kernel_config_describe(const struct build *b)
{
	const struct kernel_recipe *r = b->recipe;
	size_t n = 0;

	while (r->fragments && r->fragments[n])
		n++;
	return arena_printf(b->r->a, "%s%s",
			    r->config_target ? r->config_target
			    : r->config_file ? path_name(b->r->a, r->config_file)
					     : "the running kernel's configuration",
			    n ? arena_printf(b->r->a, " + %zu fragment%s", n, n == 1 ? "" : "s")
			      : "");
}
