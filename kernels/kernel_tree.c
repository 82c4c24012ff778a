// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source of a kernel as it is built. One folder for each source, whatever its commits, patches
 * and configurations, so that the next kernel compiles only what changed:
 *
 *	build/NAME/tree/      the source; files that stay the same keep their time
 *	build/NAME/state      what the tree is: its source, then a line for each patch
 *	build/NAME/repo.git/  of git: a bare repository of our own that borrows or fetches objects
 *	build/NAME/index      of git: the index of tree/
 *	build/NAME/touched    else: files that patches changed, to be taken from the package again
 *
 * The user's own repository is only read.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "kernels/cache.h"
#include "kernels/kernel_build.h"

static char *in_dir(const struct build *b, const char *name)
{
	return arena_printf(b->r->a, "%s/%s", b->dir, name);
}

static void set_place(struct build *b, const char *kind, const char *what)
{
	struct arena *a = b->r->a;
	char hex[65];

	data_sha256(what, strlen(what), hex);
	b->unit = arena_printf(a, "build/%s-%.12s", kind, hex);
	b->dir = path_cache(a, b->unit);
	b->tree = in_dir(b, "tree");
}

static bool is_commit(const char *s)
{
	return strlen(s) == 40 && !s[strspn(s, "0123456789abcdef")];
}

/* ---- git ---- */

/* Our own repository and index; nothing of the user's configuration may change the files. */
static void use_repository(struct build *b)
{
	struct arena *a = b->r->a;
	const char **env = arena_alloc_array(a, 8, sizeof(*env));
	size_t n = 0;

	env[n++] = arena_printf(a, "GIT_DIR=%s", in_dir(b, "repo.git"));
	env[n++] = arena_printf(a, "GIT_WORK_TREE=%s", b->tree);
	env[n++] = arena_printf(a, "GIT_INDEX_FILE=%s", in_dir(b, "index"));
	env[n++] = "GIT_TERMINAL_PROMPT=0";
	env[n++] = "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh";
	env[n++] = "GIT_CONFIG_NOSYSTEM=1";
	b->step.env = env;
}

static int git(struct build *b, const char *const *argv)
{
	int ret = file_make_dirs(b->tree, b->step.e);

	return ret ? ret : step_run(&b->step, b->tree, argv);
}

static int init_repository(struct build *b)
{
	const char *repo = in_dir(b, "repo.git");
	const char *const argv[] = {"git", "init", "-q", "--bare", "--template=", repo, NULL};

	if (file_exists(in_dir(b, "repo.git/HEAD")))
		return 0;
	b->step.env = NULL;
	return step_run(&b->step, NULL, argv);
}

/* The commit of a ref in the user's repository, without its shell of errors. */
static int local_commit(struct build *b)
{
	const struct kernel_recipe *r = b->recipe;
	struct arena *a = b->r->a;
	const char *const argv[] = {
		"git", "-C", r->repo, "rev-parse", "--verify", "--quiet", "--end-of-options",
		arena_printf(a, "%s^{commit}", r->ref), NULL};
	const char *const is_repo[] = {"git", "-C", r->repo, "rev-parse", "--git-dir", NULL};
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	int ret;

	b->step.env = NULL;
	if (!file_is_dir(r->repo))
		return err_add(e, -ENOENT, "there is no folder %s", r->repo);
	b->step.e = &why;
	ret = step_run(&b->step, NULL, is_repo);
	if (!ret)
		ret = step_run(&b->step, NULL, argv);
	else if (ret != -EINTR)
		err_add(e, ret = -EINVAL, "%s is no git repository (%s)", r->repo, b->step.said);
	b->step.e = e;
	if (ret == -EIO) {
		err_add(e, ret = -ENOENT, "%s has no branch, tag or commit %s", r->repo, r->ref);
		err_hint(e, "see `git -C %s tag`; what is not there yet has to be fetched",
			 r->repo);
	} else if (ret == -ENOENT) {
		err_add(e, ret, "%s", err_text(&why));
	}
	b->commit = b->step.out;
	return ret;
}

/* Borrows the objects of the user's repository. */
static int link_objects(struct build *b)
{
	const char *const argv[] = {"git",	 "-C",			   b->recipe->repo,
				    "rev-parse", "--path-format=absolute", "--git-path",
				    "objects",	 NULL};
	const char *info = in_dir(b, "repo.git/objects/info"), *line;
	int ret;

	b->step.env = NULL;
	ret = step_run(&b->step, NULL, argv);
	line = arena_printf(b->r->a, "%s\n", b->step.out);
	if (!ret)
		ret = init_repository(b);
	if (!ret)
		ret = file_make_dirs(info, b->step.e);
	return ret ? ret
		   : file_write_atomic(arena_printf(b->r->a, "%s/alternates", info), line,
				       strlen(line), b->step.e);
}

static int has_commit(struct build *b, const char *commit, bool *has)
{
	const char *const argv[] = {"git", "cat-file", "-e",
				    arena_printf(b->r->a, "%s^{commit}", commit), NULL};
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct err *e = b->step.e;
	int ret;

	*has = false;
	if (!file_exists(in_dir(b, "repo.git/HEAD")))
		return 0;
	b->step.e = &ignored;
	ret = git(b, argv);
	b->step.e = e;
	*has = !ret;
	return ret == -EINTR ? ret : 0;
}

/* One commit without its history; what is there already is not sent again. */
static int fetch_commit(struct build *b)
{
	const struct kernel_recipe *r = b->recipe;
	const char *const fetch[] = {"git",	"fetch",     "-q",    "--no-tags", "--depth=1",
				     "--force", "--",	     r->repo,
				     arena_printf(b->r->a, "%s:refs/kdelta/fetched", r->ref), NULL};
	const char *const parse[] = {"git", "rev-parse", "refs/kdelta/fetched^{commit}", NULL};
	int ret = init_repository(b);

	if (ret)
		return ret;
	step_note(&b->step, "fetching %s of %s", r->ref, r->repo);
	use_repository(b);
	ret = git(b, fetch);
	if (ret == -EIO)
		err_hint(b->step.e, "`git ls-remote %s` lists what can be fetched", r->repo);
	if (!ret)
		ret = git(b, parse);
	b->commit = b->step.out;
	return ret;
}

static int resolve_git(struct build *b, bool fetch)
{
	const struct kernel_recipe *r = b->recipe;
	char real[PATH_MAX];
	bool has = false;
	int ret = 0;

	set_place(b, "git", !r->remote && realpath(r->repo, real) ? real : r->repo);
	if (!r->remote) {
		ret = local_commit(b);
	} else if (is_commit(r->ref)) {
		use_repository(b);
		ret = has_commit(b, r->ref, &has);
		b->commit = r->ref;
	}
	if (!ret && r->remote && !has && !fetch)
		return -EAGAIN;
	if (!ret && r->remote && !has) {
		ret = cache_lock(b->r->a, b->unit, b->step.note, b->step.e);
		if (!ret)
			ret = file_make_dirs(b->dir, b->step.e);
		if (!ret)
			ret = fetch_commit(b);
	}
	if (ret)
		return ret;
	b->source = arena_printf(b->r->a, "git %s", b->commit);
	b->label = arena_printf(b->r->a, "git %s%s of %s",
				is_commit(r->ref) ? "" : arena_printf(b->r->a, "%s ", r->ref),
				arena_printf(b->r->a, is_commit(r->ref) ? "%.12s" : "(%.12s)",
					     b->commit),
				r->repo);
	return 0;
}

static int reset_git(struct build *b, bool dirty)
{
	const char *const reset[] = {
		"git", "-c", "core.autocrlf=false", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=/dev/null", "read-tree", "--reset", "-u", b->commit, NULL};
	const char *const clean[] = {"git", "clean", "-qfdx", NULL};
	int ret = 0;

	if (!b->recipe->remote)
		ret = link_objects(b);
	if (!ret)
		ret = file_make_dirs(b->tree, b->step.e);
	if (ret)
		return ret;
	unlink(in_dir(b, "index.lock")); /* ours is the lock of the unit */
	use_repository(b);
	step_note(&b->step, "checking out %s", b->label);
	ret = git(b, reset);
	return ret || !dirty ? ret : git(b, clean);
}

/* ---- packages and tarballs ---- */

static int fetch_tree(struct build *b, struct source_tree *t)
{
	const struct kernel_recipe *r = b->recipe;
	const struct source_tarball tarball = {r->urls, r->sha256, r->size, r->stall};

	return r->deb ? source_tree_deb(&b->step, r->deb, t)
		      : source_tree_tarball(&b->step, &tarball, t);
}

static int resolve_tree(struct build *b, bool fetch)
{
	const struct kernel_recipe *r = b->recipe;
	struct arena *a = b->r->a;
	struct source_tree t;
	const char *sha256 = r->sha256;
	char hex[65];
	int ret = 0;

	if (!r->deb && !sha256) {
		ret = file_sha256(*r->urls, hex, b->step.e);
		sha256 = hex;
	}
	if (!ret && fetch)
		ret = fetch_tree(b, &t);
	else if (!ret && !source_tree_is_there(a, r->deb, sha256, &t))
		ret = -EAGAIN;
	if (ret && !(ret == -EAGAIN && !r->deb))
		return ret;
	if (ret)
		t = (struct source_tree){NULL, NULL, arena_printf(a, "sha256 %s", sha256)};
	b->pristine = t.dir;
	b->source = t.identity;
	b->label = r->deb ? t.identity : arena_printf(a, "tarball %s", path_name(a, *r->urls));
	set_place(b, r->deb ? "deb" : "tarball", b->source);
	return 0;
}

/* Links to the files of the package; git apply writes new files, so that those stay as they are. */
static int copy_tree(struct build *b)
{
	const char *const argv[] = {"cp", "-al", b->pristine, b->tree, NULL};
	char **names;
	size_t n, i;
	int ret = file_remove_tree(b->tree, b->step.e);

	/* Objects may be of patched files, newer than what lies there now. */
	if (!ret)
		ret = file_list(b->r->a, b->dir, "out-*", &names, &n, b->step.e);
	for (i = 0; !ret && i < n; i++)
		ret = file_remove_tree(in_dir(b, names[i]), b->step.e);
	return ret ? ret : step_run(&b->step, NULL, argv);
}

/* Files that patches touched come back with a new time: objects of the patched ones are older. */
static int reset_tree(struct build *b, bool dirty)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	struct arena *a = b->r->a;
	struct span rest, line;
	int ret = 0;

	b->step.env = NULL;
	if (dirty || !file_is_dir(b->tree))
		ret = copy_tree(b);
	else
		file_read(in_dir(b, "touched"), 0, &list, &ignored);
	rest = (struct span){strbuf_str(&list), list.len};
	while (!ret && span_next_line(&rest, &line, NULL)) {
		char *to = arena_printf(a, "%s/%.*s", b->tree, (int)line.len, line.s);
		char *from = arena_printf(a, "%s/%.*s", b->pristine, (int)line.len, line.s);
		const char *const argv[] = {"cp", "--remove-destination", "--preserve=mode",
					    from, to, NULL};

		if (file_exists(from))
			ret = step_run(&b->step, NULL, argv);
		else
			unlink(to);
	}
	unlink(in_dir(b, "touched"));
	return ret;
}

/* Names of files as they are before (-R) and after a patch: lines "3\t1\tkernel/fork.c". */
static int add_touched(struct build *b, const struct build_patch *p, const char *direction,
		       struct strbuf *list)
{
	const char *const argv[] = {"git", "apply", "--numstat", p->file, direction, NULL};
	struct span rest, line;
	int ret = step_run(&b->step, b->tree, argv);

	rest = span_of(ret ? "" : b->step.out);
	while (span_next_line(&rest, &line, NULL)) {
		const char *tab = memrchr(line.s, '\t', line.len);

		if (tab)
			strbuf_addf(list, "%.*s\n", (int)(line.s + line.len - tab - 1), tab + 1);
	}
	return ret;
}

static int note_touched(struct build *b, const struct build_patch *p)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	int ret;

	file_read(in_dir(b, "touched"), 0, &list, &ignored);
	ret = add_touched(b, p, NULL, &list);
	if (!ret)
		ret = add_touched(b, p, "-R", &list);
	return ret ? ret
		   : file_write_atomic(in_dir(b, "touched"), strbuf_str(&list), list.len,
				       b->step.e);
}

/* ---- patches ---- */

/* A tree that is no repository may lie in one: git must not find it. */
static void use_plain_tree(struct build *b)
{
	const char **env = arena_alloc_array(b->r->a, 3, sizeof(*env));

	env[0] = arena_printf(b->r->a, "GIT_CEILING_DIRECTORIES=%s", b->dir);
	env[1] = "GIT_CONFIG_NOSYSTEM=1";
	b->step.env = env;
}

/* The number of the hunk "@@ -LINE" of a file in a diff, 0: there is none. */
static int hunk_number(struct build *b, const struct build_patch *p, struct span file, long line)
{
	_cleanup_strbuf_ struct strbuf diff = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	char *start = arena_printf(b->r->a, "@@ %c%ld", p->reverse ? '+' : '-', line);
	char *name = arena_printf(b->r->a, "/%.*s", (int)file.len, file.s);
	struct span rest, row;
	bool inside = false;
	int n = 0;

	file_read(p->file, 0, &diff, &ignored);
	rest = (struct span){strbuf_str(&diff), diff.len};
	while (span_next_line(&rest, &row, NULL)) {
		if (span_starts(row, "+++ ") || span_starts(row, "--- ")) {
			inside = span_find(row, name) != NULL;
			n = inside ? n : 0;
		}
		if (!inside || !span_starts(row, "@@ "))
			continue;
		n++;
		if (span_find(row, start + (p->reverse ? 3 : 0)))
			return n;
	}
	return 0;
}

/*
 * error: patch failed: kernel/sched/core.c:4090
 * error: kernel/sched/core.c: patch does not apply
 */
static int explain_failure(struct build *b, const struct build_patch *p, struct err *e)
{
	static const char mark[] = "error: patch failed: ";
	const char *at = strstr(b->step.said, mark);
	struct span text, file;
	const char *colon;
	int64_t line = 0;
	int hunk;

	if (!at)
		return err_add(e, -EIO, "the patch %s does not apply: %s", p->name, b->step.said);
	text = (struct span){at + strlen(mark), strcspn(at + strlen(mark), "\n")};
	colon = memrchr(text.s, ':', text.len);
	file = (struct span){text.s, colon ? (size_t)(colon - text.s) : text.len};
	if (colon)
		num_parse_int((struct span){colon + 1, (size_t)(text.s + text.len - colon - 1)},
			      &line);
	hunk = hunk_number(b, p, file, (long)line);
	err_add(e, -EIO, "the patch %s does not apply%s: %.*s, %sat line %lld", p->name,
		p->reverse ? " in reverse" : "", (int)file.len, file.s,
		hunk ? arena_printf(b->r->a, "hunk %d, ", hunk) : "", (long long)line);
	err_hint(e, "the source is %s%s", b->label,
		 p > b->patches.items ? " with the patches before it" : "");
	return -EIO;
}

static int apply(struct build *b, const struct build_patch *p)
{
	const char *argv[8] = {"git", "apply", "--whitespace=nowarn"};
	_cleanup_err_ struct err why = ERR_INIT;
	struct err *e = b->step.e;
	size_t n = 3;
	int ret = 0;

	if (b->commit) {
		use_repository(b);
		argv[n++] = "--index";
	} else {
		use_plain_tree(b);
		ret = note_touched(b, p);
	}
	if (p->reverse)
		argv[n++] = "-R";
	argv[n++] = p->file;
	b->step.e = &why;
	if (!ret)
		ret = step_run(&b->step, b->tree, argv);
	b->step.e = e;
	return ret == -EIO ? explain_failure(b, p, e) : ret;
}

/* ---- the tree ---- */

static char *patch_line(struct build *b, const struct build_patch *p)
{
	return arena_printf(b->r->a, "%s%s\n", p->reverse ? "-R " : "", p->sha256);
}

/* How many of the patches the tree has already; -1: it has to be reset. */
static int patches_there(struct build *b, bool *dirty)
{
	_cleanup_strbuf_ struct strbuf state = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	const char *rest, *first = arena_printf(b->r->a, "%s\n", b->source);
	const struct build_patch *p;
	int n = 0;

	*dirty = file_read(in_dir(b, "state"), 0, &state, &ignored) || !state.len;
	rest = strbuf_str(&state);
	if (*dirty || !str_starts(rest, first))
		return -1;
	rest += strlen(first);
	array_for_each (p, &b->patches) {
		const char *line = patch_line(b, p);

		if (!str_starts(rest, line))
			break;
		rest += strlen(line);
		n++;
	}
	return *rest ? -1 : n;
}

static int set_state(struct build *b, int n)
{
	_cleanup_strbuf_ struct strbuf state = STRBUF_INIT;
	int i;

	if (n >= 0)
		strbuf_addf(&state, "%s\n", b->source);
	for (i = 0; i < n; i++)
		strbuf_adds(&state, patch_line(b, &b->patches.items[i]));
	return file_write_atomic(in_dir(b, "state"), strbuf_str(&state), state.len, b->step.e);
}

int kernel_tree_prepare(struct build *b)
{
	bool dirty;
	int n = patches_there(b, &dirty), ret = 0;

	if (n < 0) {
		ret = set_state(b, -1);
		if (!ret)
			ret = b->commit ? reset_git(b, dirty) : reset_tree(b, dirty);
		n = 0;
		if (!ret)
			ret = set_state(b, n);
	}
	for (; !ret && n < (int)b->patches.n; n++) {
		const struct build_patch *p = &b->patches.items[n];

		step_note(&b->step, "applying %s%s", p->name, p->reverse ? " in reverse" : "");
		ret = set_state(b, -1);
		if (!ret)
			ret = apply(b, p);
		if (ret == -EIO) /* it changed nothing */
			set_state(b, n);
		else if (!ret)
			ret = set_state(b, n + 1);
	}
	return ret;
}

int kernel_source_resolve(struct build *b, bool fetch)
{
	return b->recipe->repo ? resolve_git(b, fetch) : resolve_tree(b, fetch);
}
