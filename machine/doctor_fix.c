// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/doctor.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include "core/file.h"
#include "machine/knob.h"
#include "machine/rooted.h"

enum { MAX_PATHS = 8192 };

static bool is_wanted(const struct doctor_fix *fix, const struct doctor_check *c)
{
	const char *const *name;

	if (!c->set)
		return false;
	for (name = fix->names; name && *name; name++)
		if (!strcmp(*name, c->name))
			return true;
	return !fix->names && c->safe;
}

/* The files of a check that hold something else than what is to be set. */
static size_t find_changes(struct arena *a, const char *root, const struct doctor_check *c,
			   struct doctor_change **changes)
{
	size_t n, i, found = 0;
	char **paths = rooted_glob(a, root, c->path, MAX_PATHS, &n);

	*changes = arena_alloc_array(a, n + 1, sizeof(**changes));
	for (i = 0; i < n; i++) {
		const char *old = journal_current(a, root, paths[i]);

		if (old && !knob_equal(span_of(old), span_of(c->set)))
			(*changes)[found++] = (struct doctor_change){
				.check = c, .path = paths[i], .old = old, .value = c->set};
	}
	return found;
}

static int write_changes(const struct doctor_fix *fix, struct journal *j,
			 struct doctor_change *list, size_t n, struct err *e)
{
	int ret, one;
	size_t i;

	for (i = 0; i < n; i++)
		if (!journal_has(j, list[i].path, NULL))
			journal_note(j, list[i].path, list[i].old, list[i].value);
	ret = journal_explain(e, journal_save(j, e), "settings");
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		if (fix->before_write)
			fix->before_write(fix->data, list[i].path);
		one = file_write_existing(arena_printf(j->a, "%s%s", j->root, list[i].path),
					  list[i].value, e);
		journal_explain(e, one, list[i].check->title);
		list[i].done = !one;
		ret = ret ? ret : one;
	}
	return ret;
}

int doctor_fix(const struct doctor_fix *fix, const struct doctor_result *results, size_t n,
	       struct journal *j, struct doctor_change **changes, size_t *n_changes, struct err *e)
{
	ARRAY_OF(struct doctor_change) list = {NULL, 0, 0};
	struct doctor_change *found;
	size_t i, k, some;

	for (i = 0; i < n; i++) {
		const struct doctor_result *r = &results[i];

		if (r->state == DOCTOR_OK || !is_wanted(fix, r->check))
			continue;
		some = find_changes(j->a, j->root, r->check, &found);
		for (k = 0; k < some; k++)
			*ARRAY_PUSH(&list) = found[k];
	}
	*changes = arena_copy(j->a, list.items, list.n, sizeof(**changes));
	*n_changes = list.n;
	ARRAY_FREE(&list);
	if (fix->dry_run || !*n_changes)
		return 0;
	return write_changes(fix, j, *changes, *n_changes, e);
}

int doctor_restore(struct journal *j, bool force, struct err *e)
{
	_cleanup_journal_ struct journal left = {.a = j->a, .file = j->file};
	const struct journal_line *l;
	int ret = journal_put_back(j, force, e), saved;

	array_for_each (l, &j->lines)
		if (l->fate == JOURNAL_FOREIGN || l->fate == JOURNAL_FAILED)
			*ARRAY_PUSH(&left.lines) = *l;
	saved = journal_save(&left, e);
	return ret ? ret : saved;
}

char *doctor_journal_path(struct arena *a, const char *root)
{
	return *root ? arena_printf(a, "%s/var/lib/kdelta/doctor.journal", root)
		     : path_state(a, "doctor.journal");
}

/* ---- what no file says ---- */

/* Free space for us in a folder that may not exist yet; false: nobody knows. */
static bool read_space(struct arena *a, const char *folder, double *bytes)
{
	struct statvfs v;

	while (statvfs(folder, &v)) {
		if (errno != ENOENT || !strcmp(folder, "/") || !strcmp(folder, "."))
			return false;
		folder = path_folder(a, folder);
	}
	*bytes = (double)v.f_bavail * (double)v.f_frsize;
	return v.f_blocks > 0;
}

void doctor_ask_host(struct arena *a, const char *const *folders, struct doctor_host *h)
{
	struct timex t = {.modes = 0};
	double bytes;

	*h = (struct doctor_host){0};
	for (; *folders; folders++) {
		if (!read_space(a, *folders, &bytes) || (h->folder && bytes >= h->free_bytes))
			continue;
		h->folder = *folders;
		h->free_bytes = bytes;
	}
	h->has_clock = adjtimex(&t) >= 0;
	h->clock_correction = (double)t.offset / (t.status & STA_NANO ? 1e9 : 1e6);
}
