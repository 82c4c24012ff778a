// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/settings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "machine/journal.h"

static int open_journal(struct journal *j, struct arena *a, struct err *e)
{
	return journal_open(j, a, path_data(a, "restore.journal"), "", e);
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

static int set_feature(struct journal *j, const char *feature, struct err *e)
{
	const char *path = features_path(), *list = path ? read_value(j->a, path) : NULL;
	const char *back = opposite(j->a, feature);

	if (!list) {
		err_add(e, -EINVAL, "the scheduler's features cannot be read");
		err_hint(e, "as root: mount -t debugfs none /sys/kernel/debug");
		return -EINVAL;
	}
	if (has_feature(list, feature))
		return 0;
	if (!has_feature(list, back))
		return err_add(e, -EINVAL, "this kernel has no scheduler feature %s", feature);
	return journal_write(j, path, "scheduler features", back, feature, e);
}

static int apply(struct journal *j, const struct variant_config *v, struct err *e)
{
	const char *const *f;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < v->n_sysctls; i++)
		ret = journal_set(j, sysctl_path(j->a, v->sysctls[i].name), v->sysctls[i].name,
				  v->sysctls[i].value, e);
	for (f = v->features; !ret && f && *f; f++)
		ret = set_feature(j, *f, e);
	for (i = 0; !ret && i < v->n_knobs; i++)
		ret = journal_set(j, v->knobs[i].name, v->knobs[i].name, v->knobs[i].value, e);
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
	return journal_explain(e, -EACCES, name);
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

int settings_switch(struct arena *a, const struct variant_config *v, struct err *e)
{
	_cleanup_journal_ struct journal j = {0};
	int ret = open_journal(&j, a, e);

	if (!ret)
		ret = journal_put_back(&j, true, e);
	return ret ? ret : apply(&j, v, e);
}

int settings_restore(struct arena *a, int *n, struct err *e)
{
	_cleanup_journal_ struct journal j = {0};
	const struct journal_line *l;
	int ret = open_journal(&j, a, e);

	*n = 0;
	if (!ret)
		ret = journal_put_back(&j, true, e);
	array_for_each (l, &j.lines)
		*n += l->fate == JOURNAL_PUT_BACK;
	if (ret)
		return ret;
	j.lines.n = 0;
	return journal_save(&j, e);
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
