// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop: what is new, measured, checked once more where suspect, told. */
#include "hunt/nightly.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "hunt/named.h"
#include "hunt/nightly_news.h"
#include "kernels/cache.h"
#include "runner/run.h"

enum { SHORT_HASH = 12 };

static void tell(const struct nightly *n, const char *text)
{
	if (n->note)
		n->note(text);
}

int nightly_open(struct nightly *n, const char *path)
{
	int r = catalog_load(n->a, path_folder(n->a, path), &n->cat, n->e);

	if (!r)
		r = campaign_read(n->a, path, n->cat, &n->config, n->e);
	if (!r)
		r = nightly_read_options(n);
	if (r)
		return r;
	n->git = (struct git){n->a, n->opt.repo, n->e};
	n->config->flip = false;
	return git_check(&n->git);
}

/* One at a time; returns the descriptor that holds the lock. */
static int lock(struct nightly *n)
{
	_cleanup_strbuf_ struct strbuf holder = STRBUF_INIT;
	const char *path = path_data(n->a, arena_printf(n->a, "%s.nightly.lock", n->config->name));
	int r = file_make_dirs(path_folder(n->a, path), n->e), fd;

	if (r)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_add_errno(n->e, "cannot open the lock %s", path);
	if (!run_take_lock(fd, path, &holder))
		return fd;
	close(fd);
	err_add(n->e, -EBUSY, "the nightly %s runs already (pid %s)", n->config->name,
		strbuf_str(&holder));
	err_hint(n->e, "it measures all that is new; the next call has what comes later");
	return -EBUSY;
}

/* ---- what is new ---- */

/* A repository without a remote is updated by others; one that cannot be reached, tomorrow. */
static void update(struct nightly *n)
{
	static const char *const remotes[] = {"remote", NULL};
	static const char *const fetch[] = {"fetch", "--quiet", "--tags", "--all", NULL};
	const char *out = "";

	if (!git_run(&n->git, remotes, true, &out) && *out && git_run(&n->git, fetch, true, NULL))
		tell(n, "git fetch failed: going on with what is there");
}

static bool is_measured(const struct nightly *n, struct span hash)
{
	for (size_t i = 0; i < n->n_nights; i++)
		if (span_starts(hash, arena_strndup(n->a,
						    n->nights[i].campaign->name +
							    strlen(nightly_prefix(n, "night")),
						    SHORT_HASH)))
			return true;
	return false;
}

/* Commits of the branch that are newer than the newest night, or tags of it; oldest first. */
static int list_new(struct nightly *n, const char *head, const char **out)
{
	const char *newest = n->n_nights ? n->nights[n->n_nights - 1].commit : "";
	const char *const commits[] = {"rev-list", "--reverse", "--first-parent", head,
				       arena_printf(n->a, "^%s", newest), NULL};
	const char *const tags[] = {"for-each-ref", "--sort=creatordate", "--merged", head,
				    "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)"
				    "%(objectname)%(end)", "refs/tags", NULL};

	*out = head;
	if (n->opt.every == EVERY_TAG)
		return git_run(&n->git, tags, false, out);
	if (n->opt.every == EVERY_COMMIT && *newest && !git_run(&n->git, commits, true, out))
		return 0;
	*out = head; /* of a branch that was rewritten the head */
	return 0;
}

/* The next commit to measure; NULL: there is none. Of tags without any night the newest. */
static int choose(struct nightly *n, const char **hash)
{
	const char *head, *list;
	struct span rest, line;
	int r = git_commit(&n->git, n->opt.branch, &head);

	*hash = NULL;
	if (!r)
		r = list_new(n, head, &list);
	if (r)
		return r;
	rest = span_of(list);
	while (span_next_line(&rest, &line, NULL)) {
		if (!line.len || is_measured(n, line))
			continue;
		*hash = arena_strndup(n->a, line.s, line.len);
		if (n->n_nights || n->opt.every != EVERY_TAG)
			break;
	}
	return 0;
}

/* ---- measuring ---- */

static bool is_quiet(const struct nightly *n, size_t night)
{
	bool any = false;

	for (size_t k = 0; k < n->n_rows; k++) {
		if (n->rows[k].states[night].event != NIGHT_QUIET)
			return false;
		any |= n->rows[k].nights[night].kernel.n > 0;
	}
	return any && *n->nights[night].commit;
}

/* The newest quiet commit that is NIGHTS_LAG nights old, else the oldest one; NULL: none yet. */
static int choose_base(struct nightly *n, const char *hash, const char **base)
{
	size_t i;

	*base = NULL;
	if (n->opt.baseline)
		return git_commit(&n->git, n->opt.baseline, base);
	for (i = n->n_nights; i-- > 0;)
		if (is_quiet(n, i) && strcmp(n->nights[i].commit, hash)) {
			*base = n->nights[i].commit;
			if (i + NIGHTS_LAG <= n->n_nights)
				break;
		}
	return 0;
}

static int variant_at(struct nightly *n, const char *hash, const char *name,
		      struct variant_config *v)
{
	struct template_at at = {.repo = n->opt.repo, .hash = hash, .name = name};
	int r = git_field(&n->git, hash, "%s", &at.subject);

	if (!r)
		*v = template_variant(n->a, n->config->variants, &at);
	return r;
}

static char *campaign_name(const struct nightly *n, const char *what, const char *hash)
{
	return arena_printf(n->a, "%s%.*s", nightly_prefix(n, what), SHORT_HASH, hash);
}

/* Baseline, its second arm, the commit; in the first night the commit and its second arm. */
static int measure_night(struct nightly *n, const char *hash, struct nightly_report *report)
{
	struct campaign_config c = *n->config;
	struct variant_config v[3];
	const char *base;
	int r = choose_base(n, hash, &base);

	c.name = campaign_name(n, "night", hash);
	c.variants = v;
	c.n_variants = 0;
	if (!r && base)
		r = variant_at(n, base, "base", &v[c.n_variants++]);
	if (!r)
		r = variant_at(n, hash, "night", &v[c.n_variants++]);
	if (r)
		return r;
	v[c.n_variants] = v[0];
	v[c.n_variants].same_as = v[0].name;
	v[c.n_variants++].name = "arm";
	tell(n, arena_printf(n->a, "night %zu: %.12s %s", n->n_nights + 1, hash,
			     v[base ? 1 : 0].description));
	return named_run(n->db, n->a, n->cat, &c, n->note, &report->interrupted, n->e);
}

static bool is_case_suspect(const struct nightly *n, const char *test_case, size_t night)
{
	for (size_t k = 0; k < n->n_rows; k++)
		if (nightly_is_suspect(&n->rows[k], night) &&
		    !strcmp(n->rows[k].test_case, test_case))
			return true;
	return false;
}

/* The last night's commit once more, in the test cases that are suspect. *any: there are some. */
static int measure_again(struct nightly *n, struct nightly_report *report, bool *any)
{
	const struct nightly_night *last = &n->nights[n->n_nights - 1];
	struct campaign_config c = *n->config;
	struct variant_config v;
	size_t i;
	int r;

	c.cases = arena_alloc_array(n->a, c.n_cases, sizeof(*c.cases));
	for (i = c.n_cases = 0; i < n->config->n_cases; i++)
		if (is_case_suspect(n, n->config->cases[i].name, n->n_nights - 1))
			c.cases[c.n_cases++] = n->config->cases[i];
	*any = c.n_cases && !last->again && *last->commit;
	if (!*any)
		return 0;
	r = variant_at(n, last->commit, "night", &v);
	if (r)
		return r;
	c.name = campaign_name(n, "again", last->commit);
	c.variants = &v;
	c.n_variants = 1;
	c.repeat *= NIGHTS_EXTRA;
	tell(n, arena_printf(n->a, "%.12s is suspect: one more run", last->commit));
	return named_run(n->db, n->a, n->cat, &c, n->note, &report->interrupted, n->e);
}

/* ---- what is kept ---- */

/* What `keep:` lets go of this nightly's campaigns; others' are not ours to prune. */
static int prune(struct nightly *n)
{
	static const char *const what[] = {"night", "again"};
	struct db_pruned done;
	int r = 0;

	for (size_t i = 0; !r && n->opt.keep_raw > 0 && i < ARRAY_SIZE(what); i++) {
		r = db_prune(n->db, (int64_t)time(NULL) - (int64_t)n->opt.keep_raw,
			     nightly_prefix(n, what[i]), false, &done, n->e);
		if (!r && done.texts)
			tell(n, arena_printf(n->a, "%" PRId64 " raw outputs (%.1f MB) were kept long "
					     "enough", done.texts, (double)done.bytes / 1e6));
	}
	return r;
}

/* The cache makes room first: what is in it can be made again. */
static int check_disk(struct nightly *n)
{
	struct db_size size;
	int64_t used, cache;
	int r = n->opt.disk ? db_get_size(n->db, &size, n->e) : 0;

	if (r || !n->opt.disk)
		return r;
	used = size.bytes - size.free;
	r = cache_trim_to(n->a, MAX(n->opt.disk - used, 0), &cache, n->note, n->e);
	if (r || used + cache <= n->opt.disk)
		return r;
	err_add(n->e, -ENOSPC, "the nightly's disk budget is used up: the database has %.1f MB, the "
			       "cache %.1f MB, and `disk:` is %.1f MB",
		(double)used / 1e6, (double)cache / 1e6, (double)n->opt.disk / 1e6);
	err_hint(n->e, "`keep: raw 90 days` in the nightly or `kdelta db prune` give up old raw "
		       "outputs; or name a larger disk:");
	return -ENOSPC;
}

/* ---- the loop ---- */

static void count_last(const struct nightly *n, struct nightly_report *report)
{
	size_t last = n->n_nights - 1, k;
	bool any = false;

	for (k = 0; k < n->n_rows; k++) {
		report->worse += nightly_is_news(&n->rows[k], last) && n->rows[k].states[last].worse;
		report->undecided += nightly_is_suspect(&n->rows[k], last);
		any |= n->rows[k].nights[last].kernel.n > 0;
	}
	report->undecided += !any;
	report->measured++;
}

/* Whatever a kill left: the extra run of the last night, its telling. */
static int finish_last(struct nightly *n, struct nightly_report *report)
{
	bool any = false, again = n->n_nights && !n->nights[n->n_nights - 1].told;
	int r = 0;

	if (!again)
		return 0;
	r = measure_again(n, report, &any);
	if (!r && any && !report->interrupted)
		r = nightly_judge(n);
	if (r || report->interrupted)
		return r;
	count_last(n, report);
	return nightly_tell(n);
}

static int one_night(struct nightly *n, struct nightly_report *report, bool *done)
{
	const char *hash;
	int r = choose(n, &hash);

	*done = !r && !hash;
	if (r || *done)
		return r;
	r = check_disk(n);
	if (!r)
		r = measure_night(n, hash, report);
	if (!r && !report->interrupted)
		r = nightly_judge(n);
	return r || report->interrupted ? r : finish_last(n, report);
}

int nightly_run(struct nightly *n, struct nightly_report *report)
{
	double began = num_monotonic();
	bool done = false;
	int fd = lock(n), r = fd < 0 ? fd : 0;

	*report = (struct nightly_report){0};
	if (r)
		return r;
	update(n);
	r = nightly_judge(n);
	if (!r)
		r = finish_last(n, report);
	if (!r)
		r = prune(n);
	while (!r && !done && !report->interrupted && !report->spent) {
		r = one_night(n, report, &done);
		report->spent = n->opt.budget > 0 && num_monotonic() - began >= n->opt.budget;
	}
	if (!r && n->opt.bisect && !report->interrupted)
		r = nightly_bisect(n, &report->interrupted);
	close(fd);
	return r;
}
