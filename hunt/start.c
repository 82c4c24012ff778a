// SPDX-License-Identifier: GPL-2.0-or-later
/* Beginning a bisection, and reading one back: options, range, the config made for it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "hunt/bisect.h"
#include "hunt/named.h"

static void tell(struct bisect *b, const char *text)
{
	if (b->note)
		b->note(text);
}

/* ---- the campaign file ---- */

static int choose_case(struct bisect *b, struct bisect_options *opt)
{
	struct campaign_config *c = b->config;
	const char **names = arena_alloc_array(b->a, c->n_cases + 1, sizeof(*names));
	const char *near;
	size_t i;

	for (i = 0; i < c->n_cases; i++)
		names[i] = c->cases[i].name;
	for (i = 0; i < c->n_cases; i++) {
		if (opt->test_case ? strcmp(names[i], opt->test_case) : c->n_cases > 1)
			continue;
		opt->test_case = names[i];
		c->cases = &c->cases[i];
		c->n_cases = 1;
		return 0;
	}
	if (!opt->test_case) {
		err_add(b->e, -EINVAL, "%s has %zu test cases: --case says which", c->file, i);
		err_hint(b->e, "the first is --case %s", names[0]);
		return -EINVAL;
	}
	err_add(b->e, -EINVAL, "%s has no test case '%s'", c->file, opt->test_case);
	near = str_suggest(opt->test_case, names);
	err_hint(b->e, "did you mean --case %s?", near ? near : names[0]);
	return -EINVAL;
}

/* What the benchmark's description, or metrics.yaml, knows. */
static bool is_metric(struct bisect *b, const struct bench_def *bench, const char *name)
{
	const size_t n = strlen(bench->name);
	size_t i;

	if (b->direction != DIR_UNKNOWN || !strcmp(bench->parser, "clock"))
		return true;
	for (i = 0; i < bench->n_metrics; i++)
		if (str_starts(name, bench->name) && name[n] == '.' &&
		    str_glob(bench->metrics[i].name, name + n + 1))
			return true;
	return false;
}

/* The benchmark's first headline, unless told. */
static int choose_metric(struct bisect *b, struct bisect_options *opt)
{
	const struct bench_def *bench = b->config->cases->bench;
	struct db_metric m;
	size_t i;

	if (!opt->metric && b->config->counting)
		opt->metric = arena_printf(b->a, "%s.kinsn", bench->name);
	for (i = 0; i < bench->n_metrics && !opt->metric; i++)
		if (str_equal(bench->metrics[i].role, "headline"))
			opt->metric =
				arena_printf(b->a, "%s.%s", bench->name, bench->metrics[i].name);
	if (!opt->metric)
		return err_add(b->e, -EINVAL, "%s has no headline: --metric says what to follow",
			       bench->name);
	catalog_describe_metric(b->cat, opt->metric, &m);
	b->direction = m.direction;
	if (is_metric(b, bench, opt->metric))
		return 0;
	err_add(b->e, -EINVAL, "%s has no metric %s", bench->name, opt->metric);
	err_hint(b->e, "kdelta explain %s lists them", bench->name);
	return -EINVAL;
}

static int read_config(struct bisect *b, struct bisect_options *opt)
{
	int r = catalog_load(b->a, path_folder(b->a, opt->config), &b->cat, b->e);

	if (!r)
		r = campaign_read(b->a, opt->config, b->cat, &b->config, b->e);
	if (!r && !strcmp(b->config->backend, "manual")) {
		err_add(b->e, r = -EINVAL, "a bisection boots by itself: backend manual cannot");
		err_hint(b->e, "use host, qemu or ssh, or `kdelta bisect step` under git bisect");
	}
	if (!r)
		r = choose_case(b, opt);
	if (!r)
		r = choose_metric(b, opt);
	if (r)
		return r;
	b->config->flip = false;
	b->config->runs = 1;
	b->config->name = arena_printf(b->a, "%s-bisect", b->config->name);
	return 0;
}

/* ---- candidates ---- */

static int expand_template(struct bisect *b)
{
	struct campaign_config *c = b->config;
	const struct variant_config *t = c->variants;
	int r = template_check(c, b->opt.repo, b->e);
	size_t i;

	if (r)
		return r;
	c->variants = arena_alloc_array(b->a, b->range.n, sizeof(*c->variants));
	c->n_variants = b->range.n;
	for (i = 0; i < b->range.n; i++) {
		const struct candidate *to = &b->range.items[i];
		const struct template_at at = {b->opt.repo, to->id, to->name, to->subject,
					       b->opt.fixup};

		c->variants[i] = template_variant(b->a, t, &at);
	}
	return 0;
}

/* Variants from the good to the bad one. */
static int line_of_variants(struct bisect *b, struct bisect_options *opt)
{
	struct campaign_config *c = b->config;
	const char **names = arena_alloc_array(b->a, c->n_variants, sizeof(*names));
	const char **texts = arena_alloc_array(b->a, c->n_variants, sizeof(*texts));
	long good, bad;
	size_t i;

	for (i = 0; i < c->n_variants; i++) {
		names[i] = c->variants[i].name;
		texts[i] = c->variants[i].description;
	}
	range_line(b->a, names, texts, c->n_variants, &b->range);
	opt->good = opt->good ? opt->good : names[0];
	opt->bad = opt->bad ? opt->bad : names[c->n_variants - 1];
	good = range_find(&b->range, opt->good);
	bad = range_find(&b->range, opt->bad);
	if (good < 0 || bad < 0)
		return err_add(b->e, -EINVAL, "%s has no variant '%s'", c->file,
			       good < 0 ? opt->good : opt->bad);
	if (bad <= good) {
		err_add(b->e, -EINVAL, "'%s' must stand before '%s' in %s", opt->good, opt->bad,
			c->file);
		err_hint(b->e, "swap them: --good %s --bad %s", opt->bad, opt->good);
		return -EINVAL;
	}
	c->variants += good;
	c->n_variants = (size_t)(bad - good + 1);
	range_line(b->a, names + good, texts + good, c->n_variants, &b->range);
	return 0;
}

static int read_range(struct bisect *b)
{
	const struct range_options opt = {b->opt.good, b->opt.bad, b->opt.path,
					  b->opt.first_parent};
	int r = range_read(&b->git, &opt, &b->range);

	return r ? r : expand_template(b);
}

/* ---- starting ---- */

/* Hashes of both ends, with good before bad. */
static int resolve_ends(struct bisect *b, struct bisect_options *opt)
{
	const char *good, *bad, *base;
	int r = git_commit(&b->git, opt->good, &good);

	if (!r)
		r = git_commit(&b->git, opt->bad, &bad);
	if (!r)
		r = git_merge_base(&b->git, good, bad, &base);
	if (r)
		return r;
	if (!strcmp(good, bad))
		return err_add(b->e, -EINVAL, "good and bad are the same commit %.12s", good);
	if (!strcmp(base, bad)) {
		struct bisect_options swapped = *opt;

		swapped.good = opt->bad;
		swapped.bad = opt->good;
		err_add(b->e, -EINVAL, "bad (%s) is an ancestor of good (%s): they are swapped",
			opt->bad, opt->good);
		err_hint(b->e, "%s", bisect_command(b, &swapped));
		return -EINVAL;
	}
	if (strcmp(base, good))
		tell(b, arena_printf(b->a,
				     "bad (%.12s) does not descend from good (%.12s): their merge "
				     "base %.12s stands for good",
				     bad, good, base));
	opt->good = base;
	opt->bad = bad;
	return 0;
}

static int start_commits(struct bisect *b, struct bisect_options *opt)
{
	_cleanup_free_ char *full = realpath(opt->repo, NULL);
	_cleanup_free_ char *fixup = opt->fixup ? realpath(opt->fixup, NULL) : NULL;
	int r;

	if (!opt->good || !opt->bad)
		return err_add(b->e, -EINVAL, "--good and --bad say where to look");
	if (opt->fixup && !fixup)
		return err_add_errno(b->e, "cannot read the fix-up %s", opt->fixup);
	if (full)
		opt->repo = arena_strdup(b->a, full);
	if (fixup)
		opt->fixup = arena_strdup(b->a, fixup);
	b->git = (struct git){b->a, opt->repo, b->e};
	r = git_check(&b->git);
	if (!r)
		r = resolve_ends(b, opt);
	b->opt = *opt;
	return r ? r : read_range(b);
}

int bisect_start(struct bisect *b, const char *name, struct bisect_options *opt)
{
	_cleanup_free_ char *full = realpath(opt->config, NULL);
	int r;

	if (!full)
		return err_add_errno(b->e, "cannot read the campaign file %s", opt->config);
	opt->config = arena_strdup(b->a, full);
	b->row = (struct db_bisection){.name = name, .created = time(NULL)};
	r = read_config(b, opt);
	if (!r)
		r = opt->repo ? start_commits(b, opt) : line_of_variants(b, opt);
	if (r)
		return r;
	b->opt = *opt;
	b->row.options = bisect_options_text(b->a, opt);
	r = db_add_bisection(b->db, &b->row, b->e);
	if (r == -EEXIST)
		err_hint(b->e, "go on with `kdelta bisect run`, end it with `kdelta bisect reset`, or "
			       "give this one a --name");
	return r;
}

int bisect_open(struct bisect *b, const char *name)
{
	int r = db_find_bisection(b->db, b->a, name, &b->row, b->e);

	if (r == -ENOENT)
		err_hint(b->e, "kdelta bisect start --repo DIR --good REV --bad REV");
	if (!r)
		r = bisect_options_read(b->a, b->row.options, &b->opt, b->e);
	if (!r)
		r = read_config(b, &b->opt);
	if (r)
		return r;
	if (!b->opt.repo)
		return line_of_variants(b, &b->opt);
	b->git = (struct git){b->a, b->opt.repo, b->e};
	r = git_check(&b->git);
	return r ? r : read_range(b);
}

int bisect_skip(struct bisect *b, const char *id)
{
	const char *hash = id;
	long i;
	int r = b->opt.repo ? git_commit(&b->git, id, &hash) : 0;

	if (r)
		return r;
	i = range_find(&b->range, hash);
	if (i <= 0 || (size_t)i == b->range.n - 1)
		return err_add(b->e, -ENOENT, "'%s' is %s", id,
			       i < 0 ? "not in the range" : "an end of the range");
	b->row.decisions = arena_printf(b->a, "%sskip %s\n", b->row.decisions, hash);
	return db_set_bisection(b->db, &b->row, b->e);
}

int bisect_reset(struct bisect *b)
{
	b->row.ended = time(NULL);
	return db_set_bisection(b->db, &b->row, b->e);
}
