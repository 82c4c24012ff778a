// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Patches of a kernel that is built. Mailboxes and mails are taken apart by git itself (mailsplit,
 * mailinfo), which knows their encodings; messages of an archive are fetched once:
 *
 *	patches/HASH.mbox       a message, by its address
 *	patches/HASH-0001.diff  a part of a mailbox, by the hash of the whole
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "kernels/kernel_build.h"
#include "net/net.h"

static char *hash_path(struct arena *a, const void *data, size_t len, const char *end)
{
	char hex[65];

	data_sha256(data, len, hex);
	return path_cache(a, arena_printf(a, "patches/%.20s%s", hex, end));
}

/* "From 1f2a... Mon Sep 17 00:00:00 2001", "From: A B <a@b>", "Message-ID: ..." */
static bool is_mail(struct span text)
{
	struct span line;
	size_t i = 0;

	if (span_starts(text, "From "))
		return true;
	if (!span_next_line(&text, &line, NULL) || span_starts(line, "Index:"))
		return false;
	while (i < line.len && (isalpha((unsigned char)line.s[i]) || line.s[i] == '-'))
		i++;
	return i && i + 1 < line.len && line.s[i] == ':' && line.s[i + 1] == ' ';
}

static bool has_diff(struct span text)
{
	struct span line;

	while (span_next_line(&text, &line, NULL))
		if (span_starts(line, "diff --git ") || span_starts(line, "+++ "))
			return true;
	return false;
}

static int add_patch(struct build *b, const struct kernel_patch *p, const char *name,
		     const char *file, bool *added)
{
	_cleanup_strbuf_ struct strbuf diff = STRBUF_INIT;
	struct build_patch *patch;
	char hex[65];
	int ret = file_read(file, 0, &diff, b->step.e);

	*added = !ret && has_diff((struct span){strbuf_str(&diff), diff.len});
	if (ret || !*added)
		return ret;
	data_sha256(diff.buf, diff.len, hex);
	patch = ARRAY_PUSH(&b->patches);
	*patch = (struct build_patch){name, file, arena_strdup(b->r->a, hex), p->reverse};
	return 0;
}

/* The subject as mailinfo tells it: "Subject: sched: do less". */
static const char *subject_of(struct build *b, const char *info)
{
	struct span rest = span_of(info), line;

	while (span_next_line(&rest, &line, NULL))
		if (span_starts(line, "Subject: "))
			return arena_strndup(b->r->a, line.s + 9, line.len - 9);
	return "no subject";
}

static int add_mails(struct build *b, const struct kernel_patch *p, const char *file,
		     struct span text, size_t *n_added)
{
	static const char script[] = "exec git mailinfo \"$1\" \"$2\" <\"$3\"";
	struct arena *a = b->r->a;
	char *dir = hash_path(a, text.s, text.len, ".split");
	const char *const split[] = {"git", "mailsplit", "-b", arena_printf(a, "-o%s", dir), "--",
				     file, NULL};
	char **names;
	size_t n = 0, i;
	bool added;
	int ret = file_remove_tree(dir, b->step.e);

	if (!ret)
		ret = file_make_dirs(dir, b->step.e);
	if (!ret)
		ret = step_run(&b->step, NULL, split);
	if (!ret)
		ret = file_list(a, dir, NULL, &names, &n, b->step.e);
	for (i = 0; !ret && i < n; i++) {
		char *mail = arena_printf(a, "%s/%s", dir, names[i]);
		char *end = arena_printf(a, "-%s.diff", names[i]);
		char *diff = hash_path(a, text.s, text.len, end);
		const char *const info[] = {"sh", "-c", script,	 "sh", arena_printf(a, "%s.m", mail),
					    diff, mail, NULL};

		ret = step_run(&b->step, NULL, info);
		if (!ret)
			ret = add_patch(b, p,
					arena_printf(a, "%s, \"%s\"", path_name(a, p->text),
						     subject_of(b, b->step.out)),
					diff, &added);
		*n_added += !ret && added;
	}
	return ret ? ret : file_remove_tree(dir, b->step.e);
}

/* A message never changes, so one that was fetched once is as good. */
static int fetch_message(struct build *b, const char *url, bool fetch, const char **file)
{
	static const struct net_options options;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool html = false;
	int ret;

	*file = hash_path(b->r->a, url, strlen(url), ".mbox");
	if (file_exists(*file))
		return 0;
	if (!fetch)
		return -EAGAIN;
	step_note(&b->step, "fetching %s", url);
	ret = net_get(url, &options, &text, &html, b->step.e);
	if (ret)
		return ret == -EINVAL ? ret : -EIO;
	if (html)
		return err_add(b->step.e, -EIO, "%s is a web page and no message", url);
	return file_write_atomic(*file, strbuf_str(&text), text.len, b->step.e);
}

static int read_patch(struct build *b, const struct kernel_patch *p, bool fetch)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *file = p->text;
	bool message = strstr(file, "://") != NULL;
	size_t n_added = 0;
	struct span text;
	bool added = false;
	int ret = message ? fetch_message(b, p->text, fetch, &file) : 0;

	if (!ret)
		ret = file_read(file, 0, &sb, b->step.e);
	if (ret)
		return ret;
	text = (struct span){strbuf_str(&sb), sb.len};
	if (is_mail(text))
		ret = add_mails(b, p, file, text, &n_added);
	else
		ret = add_patch(b, p, path_name(b->r->a, p->text), file, &added);
	if (ret || n_added || added)
		return ret;
	err_add(b->step.e, -EINVAL, "%s holds no diff", p->text);
	err_hint(b->step.e, message ? "a cover letter has none: name the patches of the series, or "
				      "save them as an mbox"
				    : "it takes what `git diff` or `git format-patch` writes");
	return -EINVAL;
}

int kernel_patches_read(struct build *b, bool fetch)
{
	size_t i;
	int ret = 0;

	if (b->recipe->n_patches)
		ret = file_make_dirs(path_cache(b->r->a, "patches"), b->step.e);
	for (i = 0; !ret && i < b->recipe->n_patches; i++) {
		size_t from = b->patches.n, k;

		ret = read_patch(b, &b->recipe->patches[i], fetch);
		/* What a series does is undone from its end. */
		for (k = b->patches.n; b->recipe->patches[i].reverse && k > from + 1; k--, from++) {
			struct build_patch last = b->patches.items[k - 1];

			b->patches.items[k - 1] = b->patches.items[from];
			b->patches.items[from] = last;
		}
	}
	return ret;
}
