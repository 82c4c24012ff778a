// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/journal.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "machine/knob.h"
#include "machine/rooted.h"

enum { JOURNAL_LIMIT = 4 << 20, VALUE_LIMIT = 4096 };

const char *const journal_fate_names[] = {"changed", "put back", "same", "over", "foreign",
					  "failed"};

static void read_line(struct journal *j, struct span text)
{
	json_t *o = json_loadb(text.s, text.len, 0, NULL);
	const char *boot_id, *path, *value, *set = "";

	if (o && !json_unpack(o, "{s:s, s:s, s:s, s?s}", "boot_id", &boot_id, "path", &path,
			      "value", &value, "set", &set))
		*ARRAY_PUSH(&j->lines) = (struct journal_line){
			.boot_id = arena_strdup(j->a, boot_id),
			.path = arena_strdup(j->a, path),
			.value = arena_strdup(j->a, value),
			.set = arena_strdup(j->a, set),
		};
	json_decref(o);
}

/* Without it nobody knew which boot a setting belongs to, and nothing would be put back. */
static int read_boot(struct journal *j, struct err *e)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int ret = rooted_read(j->root, path, VALUE_LIMIT, &sb);
	struct span boot = span_trim((struct span){strbuf_str(&sb), sb.len});

	j->boot_id = arena_strndup(j->a, boot.s, ret ? 0 : boot.len);
	return ret && ret != -ENOENT
		       ? err_add(e, -EIO, "cannot read %s%s (%s), so that no setting could be put back",
				 j->root, path, strerror(-ret))
		       : 0;
}

int journal_open(struct journal *j, struct arena *a, const char *file, const char *root,
		 struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span rest, line;
	int ret;

	*j = (struct journal){.a = a, .file = file, .root = root};
	ret = read_boot(j, e);
	if (ret)
		return ret;
	if (!file_exists(file))
		return 0;
	ret = file_read(file, JOURNAL_LIMIT, &text, e);
	rest = (struct span){strbuf_str(&text), text.len};
	while (!ret && span_next_line(&rest, &line, NULL))
		read_line(j, line);
	return ret;
}

void journal_release(struct journal *j)
{
	ARRAY_FREE(&j->lines);
}

char *journal_current(struct arena *a, const char *root, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span value;

	if (rooted_read(root, path, VALUE_LIMIT, &sb))
		return NULL;
	value = knob_value((struct span){strbuf_str(&sb), strlen(strbuf_str(&sb))});
	return arena_strndup(a, value.s, value.len);
}

bool journal_has(const struct journal *j, const char *path, const char *value)
{
	const struct journal_line *l;

	array_for_each (l, &j->lines)
		if (!strcmp(l->boot_id, j->boot_id) && !strcmp(l->path, path) &&
		    (!value || !strcmp(l->value, value)))
			return true;
	return false;
}

void journal_note(struct journal *j, const char *path, const char *value, const char *set)
{
	*ARRAY_PUSH(&j->lines) = (struct journal_line){
		.boot_id = j->boot_id, .path = path, .value = value, .set = set};
}

int journal_save(struct journal *j, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct journal_line *l;
	int ret;

	if (!j->lines.n) {
		unlink(arena_printf(j->a, "%s.new~", j->file)); /* of a killed writer */
		return unlink(j->file) && errno != ENOENT
			       ? err_add_errno(e, "cannot remove %s", j->file)
			       : 0;
	}
	array_for_each (l, &j->lines) {
		json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "boot_id", l->boot_id, "path",
				      l->path, "value", l->value, "set", l->set);
		char *line = json_dumps(o, JSON_COMPACT);

		if (line)
			strbuf_addf(&text, "%s\n", line);
		free(line);
		json_decref(o);
		if (!line)
			return err_add(e, -EINVAL, "%s holds no text: nothing could put it back",
				       l->path);
	}
	ret = file_make_dirs(path_folder(j->a, j->file), e);
	return ret ? ret : file_write_atomic(j->file, text.buf, text.len, e);
}

static const char *full_path(struct journal *j, const char *path)
{
	return arena_printf(j->a, "%s%s", j->root, path);
}

int journal_explain(struct err *e, int code, const char *what)
{
	if (code == -EACCES || code == -EPERM)
		err_hint(e, "changing %s needs root: run kdelta with sudo", what);
	return code;
}

static bool same_value(const char *x, const char *y)
{
	return knob_equal(span_of(x), span_of(y));
}

int journal_write(struct journal *j, const char *path, const char *what, const char *old,
		  const char *new, struct err *e)
{
	int ret;

	if (!journal_has(j, path, old)) {
		journal_note(j, path, old, new);
		ret = journal_explain(e, journal_save(j, e), what);
		if (ret)
			return -ECANCELED;
	}
	ret = file_write_existing(full_path(j, path), new, e);
	return journal_explain(e, ret, what);
}

int journal_set(struct journal *j, const char *path, const char *what, const char *value,
		struct err *e)
{
	const char *old = journal_current(j->a, j->root, path), *now;
	int ret;

	if (!old && file_exists(full_path(j, path)))
		return err_add(e, -EINVAL, "%s cannot be read, so that nothing could put it back",
			       what);
	if (!old)
		return err_add(e, -EINVAL, "this kernel has no %s%s%s%s", what,
			       strcmp(what, path) ? " (" : "", strcmp(what, path) ? path : "",
			       strcmp(what, path) ? ")" : "");
	if (strchr(old, '\n'))
		return err_add(e, -EINVAL, "%s holds several lines, which is no setting", what);
	if (same_value(old, value))
		return 0;
	ret = journal_write(j, path, what, old, value, e);
	if (ret)
		return ret;
	now = journal_current(j->a, j->root, path);
	if (now && !same_value(now, value))
		return err_add(e, -EINVAL, "%s was set to %s, but the kernel keeps %s", what, value,
			       now);
	return 0;
}

static int put_back(struct journal *j, struct journal_line *l, bool force, struct err *e)
{
	int ret;

	if (strcmp(l->boot_id, j->boot_id)) {
		l->fate = JOURNAL_OVER;
		return 0;
	}
	l->now = journal_current(j->a, j->root, l->path);
	if (l->now && same_value(l->now, l->value)) {
		l->fate = JOURNAL_SAME;
		return 0;
	}
	if (l->now && !force && !same_value(l->now, l->set)) {
		l->fate = JOURNAL_FOREIGN;
		return 0;
	}
	ret = file_write_existing(full_path(j, l->path), l->value, e);
	l->fate = ret ? JOURNAL_FAILED : JOURNAL_PUT_BACK;
	return journal_explain(e, ret, l->path);
}

int journal_put_back(struct journal *j, bool force, struct err *e)
{
	size_t i = j->lines.n;
	int ret = 0, one;

	while (i) {
		one = put_back(j, &j->lines.items[--i], force, e);
		if (!ret)
			ret = one;
	}
	return ret;
}
