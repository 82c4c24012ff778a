// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "runner/knob.h"

static char *journal_path(struct arena *a)
{
	return path_data(a, "restore.journal");
}

/* kernel.sched_latency_ns -> /proc/sys/kernel/sched_latency_ns; a '/' in a name is a dot there. */
static char *sysctl_path(struct arena *a, const char *name)
{
	char *path = arena_printf(a, "/proc/sys/%s", name), *s;

	for (s = path + strlen("/proc/sys/"); *s; s++)
		*s = *s == '.' ? '/' : *s == '/' ? '.' : *s;
	return path;
}

/* The file of the scheduler's features: under debugfs, in its place since 5.13 or the older one. */
static const char *features_path(void)
{
	static const char *const places[] = {"/sys/kernel/debug/sched/features",
					     "/sys/kernel/debug/sched_features"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (file_exists(places[i]))
			return places[i];
	return NULL;
}

static char *read_value(struct arena *a, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	return file_read_line(path, &sb) ? NULL : arena_strdup(a, strbuf_str(&sb));
}

/* The value that brings back what the file says now. */
static char *read_knob(struct arena *a, const char *path)
{
	const char *text = read_value(a, path);
	struct span value;

	if (!text)
		return NULL;
	value = knob_value(span_of(text));
	return arena_strndup(a, value.s, value.len);
}

static bool same_value(const char *x, const char *y)
{
	return knob_equal(span_of(x), span_of(y));
}

/* Whether the journal has this whole line. */
static bool journal_has(const char *journal, const char *line, size_t len)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct span rest, one;

	if (file_read_line(journal, &text))
		return false;
	rest = (struct span){strbuf_str(&text), text.len};
	while (span_next_line(&rest, &one, NULL))
		if (one.len == len && !memcmp(one.s, line, len))
			return true;
	return false;
}

/* Appends one line to the journal, if it is not there, and waits until it is on disk. */
static int journal_add(struct arena *a, const char *path, const char *value, struct err *e)
{
	char *journal = journal_path(a), *slash = strrchr(journal, '/'), *line;
	char *boot = read_value(a, "/proc/sys/kernel/random/boot_id");
	json_t *j = json_pack("{s:s, s:s, s:s}", "boot_id", boot ? boot : "", "path", path, "value",
			      value);
	int fd, ret = file_make_dirs(arena_strndup(a, journal, (size_t)(slash - journal)), e);
	size_t len;

	line = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	len = strlen(line);
	if (journal_has(journal, line, len)) {
		free(line);
		return ret;
	}
	line[len++] = '\n'; /* takes the place of the NUL */
	fd = ret ? -1 : open(journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (!ret && (fd < 0 || write(fd, line, len) != (ssize_t)len || fsync(fd)))
		ret = err_add_errno(e, "cannot write %s", journal);
	if (fd >= 0)
		close(fd);
	free(line);
	return ret;
}

static int explain_write(struct err *e, int code, const char *what)
{
	if (code == -EACCES || code == -EPERM)
		err_hint(e, "changing %s needs root: run kdelta with sudo", what);
	return code;
}

static int set_value(struct arena *a, const char *path, const char *what, const char *value,
		     struct err *e)
{
	const char *old = read_knob(a, path), *now;
	int ret;

	if (!old && file_exists(path))
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
	ret = journal_add(a, path, old, e);
	if (!ret)
		ret = file_write_existing(path, value, e);
	if (ret)
		return explain_write(e, ret, what);
	now = read_knob(a, path);
	if (now && !same_value(now, value))
		return err_add(e, -EINVAL, "%s was set to %s, but the kernel keeps %s", what, value,
			       now);
	return 0;
}

/* Whether the list of features ("GENTLE_FAIR_SLEEPERS NO_HRTICK ...") holds this word. */
static bool has_feature(const char *list, const char *feature)
{
	struct span rest = span_of(list), word;

	while (span_next_word(&rest, &word))
		if (span_is(word, feature))
			return true;
	return false;
}

/* The word that undoes a feature: NO_HRTICK for HRTICK and the other way round. */
static const char *opposite(struct arena *a, const char *feature)
{
	return str_starts(feature, "NO_") ? feature + 3 : arena_printf(a, "NO_%s", feature);
}

static int set_feature(struct arena *a, const char *feature, struct err *e)
{
	const char *path = features_path(), *list = path ? read_value(a, path) : NULL;
	const char *back = opposite(a, feature);
	int ret;

	if (!list) {
		err_add(e, -EINVAL, "the scheduler's features cannot be read");
		err_hint(e, "as root: mount -t debugfs none /sys/kernel/debug");
		return -EINVAL;
	}
	if (has_feature(list, feature))
		return 0;
	if (!has_feature(list, back))
		return err_add(e, -EINVAL, "this kernel has no scheduler feature %s", feature);
	ret = journal_add(a, path, back, e);
	if (!ret)
		ret = file_write_existing(path, feature, e);
	return ret ? explain_write(e, ret, "scheduler features") : 0;
}

static int apply(struct arena *a, const struct variant_config *v, struct err *e)
{
	const char *const *f;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < v->n_sysctls; i++)
		ret = set_value(a, sysctl_path(a, v->sysctls[i].name), v->sysctls[i].name,
				v->sysctls[i].value, e);
	for (f = v->features; !ret && f && *f; f++)
		ret = set_feature(a, *f, e);
	for (i = 0; !ret && i < v->n_knobs; i++)
		ret = set_value(a, v->knobs[i].name, v->knobs[i].name, v->knobs[i].value, e);
	return ret;
}

static int check_file(const struct variant_config *v, const char *kind, const char *name,
		      const char *path, struct err *e)
{
	if (!file_exists(path))
		return err_add(e, -EINVAL, "%s: this kernel has no %s %s", v->name, kind, name);
	if (!access(path, W_OK))
		return 0;
	err_add(e, -EACCES, "%s: the %s %s cannot be written", v->name, kind, name);
	return explain_write(e, -EACCES, name);
}

/* Only root may make a benchmark more urgent than others. */
static int check_policy(const struct variant_config *v, struct err *e)
{
	int policy = 0, priority = 0;

	if (v->policy)
		proc_policy_parse(v->policy, &policy, &priority);
	if (!geteuid() || (!priority && v->nice >= 0))
		return 0;
	err_add(e, -EACCES, "%s: %s %s needs root", v->name, priority ? "the policy" : "a nice of",
		priority ? v->policy : "less than 0");
	err_hint(e, "run kdelta with sudo");
	return -EACCES;
}

int settings_check(struct arena *a, const struct variant_config *v, struct err *e)
{
	size_t i, before = e->list.n;
	int ret = -EINVAL;

	for (i = 0; i < v->n_sysctls; i++)
		if (check_file(v, "sysctl", v->sysctls[i].name, sysctl_path(a, v->sysctls[i].name),
			       e) == -EACCES)
			ret = -EACCES;
	for (i = 0; i < v->n_knobs; i++)
		if (check_file(v, "file", v->knobs[i].name, v->knobs[i].name, e) == -EACCES)
			ret = -EACCES;
	if (check_policy(v, e))
		ret = -EACCES;
	if (v->features && *v->features && !features_path()) {
		err_add(e, -EINVAL, "%s: there are no scheduler features", v->name);
		err_hint(e, "as root: mount -t debugfs none /sys/kernel/debug");
	}
	return e->list.n > before ? ret : 0;
}

/* One line of the journal; a line cut by a crash was never acted upon and is skipped. */
static int restore_line(struct span line, const char *boot, int *n, struct err *e)
{
	json_t *j = json_loadb(line.s, line.len, 0, NULL);
	const char *boot_id, *path, *value;
	int ret = 0;

	if (j &&
	    !json_unpack(j, "{s:s, s:s, s:s}", "boot_id", &boot_id, "path", &path, "value",
			 &value) &&
	    str_equal(boot, boot_id)) {
		ret = file_write_existing(path, *value ? value : "\n", e);
		if (!ret)
			++*n;
		else
			explain_write(e, ret, path);
	}
	json_decref(j);
	return ret;
}

/* Puts back what the journal names, newest first, and leaves it. */
static int put_back(struct arena *a, int *n, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *journal = journal_path(a), *boot = read_value(a, "/proc/sys/kernel/random/boot_id");
	ARRAY_OF(struct span) lines = {NULL, 0, 0};
	struct span rest, line;
	int ret, one;

	*n = 0;
	if (!file_exists(journal))
		return 0;
	ret = file_read(journal, 1 << 20, &text, e);
	rest = (struct span){strbuf_str(&text), text.len};
	while (!ret && span_next_line(&rest, &line, NULL))
		*ARRAY_PUSH(&lines) = line;
	while (lines.n) {
		one = restore_line(lines.items[--lines.n], boot, n, e);
		if (one)
			ret = one;
	}
	ARRAY_FREE(&lines);
	return ret;
}

int settings_switch(struct arena *a, const struct variant_config *v, struct err *e)
{
	int n, ret = put_back(a, &n, e);

	return ret ? ret : apply(a, v, e);
}

int settings_restore(struct arena *a, int *n, struct err *e)
{
	char *journal = journal_path(a);
	int ret = put_back(a, n, e);

	if (!ret && unlink(journal) && errno != ENOENT)
		ret = err_add_errno(e, "cannot remove %s", journal);
	return ret;
}

/* ---- text ---- */

void settings_encode(const struct variant_config *v, struct strbuf *out)
{
	const char *const *f;
	size_t i;

	for (i = 0; i < v->n_sysctls; i++)
		strbuf_addf(out, "sysctl %s %s\n", v->sysctls[i].name, v->sysctls[i].value);
	for (f = v->features; f && *f; f++)
		strbuf_addf(out, "feature %s\n", *f);
	for (i = 0; i < v->n_knobs; i++)
		strbuf_addf(out, "knob %s %s\n", v->knobs[i].name, v->knobs[i].value);
}

void settings_decode(struct arena *a, struct span text, struct variant_config *v)
{
	struct span rest = text, row, kind, name;
	size_t n = 0, n_features = 0;
	const char **features;

	while (span_next_line(&rest, &row, NULL))
		n++;
	v->sysctls = arena_alloc_array(a, n + 1, sizeof(*v->sysctls));
	v->knobs = arena_alloc_array(a, n + 1, sizeof(*v->knobs));
	features = arena_alloc_array(a, n + 1, sizeof(*features));
	v->features = features;
	v->n_sysctls = v->n_knobs = 0;
	while (span_next_line(&text, &row, NULL)) {
		struct setting s;

		if (!span_next_word(&row, &kind) || !span_next_word(&row, &name))
			continue;
		row = span_trim(row);
		s.name = arena_strndup(a, name.s, name.len);
		s.value = arena_strndup(a, row.s, row.len);
		if (span_is(kind, "sysctl"))
			v->sysctls[v->n_sysctls++] = s;
		else if (span_is(kind, "knob"))
			v->knobs[v->n_knobs++] = s;
		else if (span_is(kind, "feature"))
			features[n_features++] = s.name;
	}
}
