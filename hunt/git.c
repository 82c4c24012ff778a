// SPDX-License-Identifier: GPL-2.0-or-later
#include "hunt/git.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "kernels/step.h"

int git_run(const struct git *g, const char *const *argv, bool quiet, const char **out)
{
	static const char *const env[] = {"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
					  "GIT_CONFIG_NOSYSTEM=1", NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct step step = {.a = g->a, .e = quiet ? &ignored : g->e, .env = env};
	const char *full[24] = {"git", "-C", g->repo};
	size_t n = 3;
	int ret;

	for (; *argv && n + 1 < ARRAY_SIZE(full); argv++)
		full[n++] = *argv;
	ret = step_run(&step, NULL, full);
	if (out)
		*out = step.out;
	return ret;
}

int git_check(const struct git *g)
{
	static const char *const is_repo[] = {"rev-parse", "--git-dir", NULL};
	static const char *const is_shallow[] = {"rev-parse", "--is-shallow-repository", NULL};
	const char *out;
	int ret = 0;

	if (!file_is_dir(g->repo))
		return err_add(g->e, -EINVAL, "there is no folder %s", g->repo);
	ret = git_run(g, is_repo, true, NULL);
	if (ret == -EIO)
		return err_add(g->e, -EINVAL, "%s is no git repository", g->repo);
	if (!ret)
		ret = git_run(g, is_shallow, false, &out);
	if (ret || strcmp(out, "true"))
		return ret;
	err_add(g->e, -EINVAL, "%s is a shallow clone: commits of the range may be missing",
		g->repo);
	err_hint(g->e, "git -C %s fetch --unshallow", g->repo);
	return -EINVAL;
}

int git_commit(const struct git *g, const char *ref, const char **hash)
{
	const char *const argv[] = {"rev-parse", "--verify", "--quiet", "--end-of-options",
				    arena_printf(g->a, "%s^{commit}", ref), NULL};
	int ret = git_run(g, argv, true, hash);

	if (ret != -EIO)
		return ret;
	err_add(g->e, -ENOENT, "%s has no branch, tag or commit '%s'", g->repo, ref);
	err_hint(g->e, "`git -C %s tag` lists tags; what is not there yet has to be fetched",
		 g->repo);
	return -ENOENT;
}

int git_merge_base(const struct git *g, const char *x, const char *y, const char **hash)
{
	const char *const argv[] = {"merge-base", x, y, NULL};
	int ret = git_run(g, argv, true, hash);

	return ret == -EIO ? err_add(g->e, -EINVAL, "%.12s and %.12s have no common history", x, y)
			   : ret;
}

char *git_text(struct arena *a, struct span text)
{
	char *copy = arena_strndup(a, text.s, text.len), *p;

	for (p = copy; *p; p++) {
		bool c1 = (unsigned char)*p == 0xc2 && ((unsigned char)p[1] & 0xe0) == 0x80;

		if (c1)
			*p++ = '?';
		if (c1 || (unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return copy;
}

int git_field(const struct git *g, const char *hash, const char *format, const char **value)
{
	const char *const argv[] = {"log", "-1", "--no-show-signature",
				    arena_printf(g->a, "--format=%s", format), hash, NULL};
	int ret = git_run(g, argv, false, value);

	if (!ret)
		*value = git_text(g->a, span_of(*value));
	return ret;
}

/*
 * `git merge-tree` would do without a work tree, but only newer ones can revert: so the diff is
 * tried on an index of its own.
 */
int git_revert(const struct git *g, const char *hash, const char *tree, const char *file)
{
	static const char script[] =
		"set -e; git diff --binary \"$1\" \"$1^\" >\"$3\"; test -s \"$3\"\n"
		"GIT_INDEX_FILE=$3.index; export GIT_INDEX_FILE; trap 'rm -f \"$3.index\"' EXIT\n"
		"git read-tree \"$2\"; git apply --cached \"$3\"";
	const char *const argv[] = {"sh", "-c", script, "sh", hash, tree, file, NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct step step = {.a = g->a, .e = &ignored};

	return step_run(&step, g->repo, argv);
}
