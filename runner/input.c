// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/input.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "core/file.h"

static const struct {
	const char *suffix, *magic; /* the first bytes of all such files */
} packings[] = {
	{".gz", "\x1f\x8b"},
	{".xz", "\xfd" "7zXZ"},
	{".zst", "\x28\xb5\x2f\xfd"},
	{".bz2", "BZh"},
};

size_t input_plain_len(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(packings); i++)
		if (str_ends(name, packings[i].suffix))
			return strlen(name) - strlen(packings[i].suffix);
	return strlen(name);
}

static bool is_packed(const struct strbuf *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(packings); i++)
		if (str_starts(strbuf_str(text), packings[i].magic))
			return true;
	return false;
}

static void free_archive(struct archive **ar)
{
	archive_read_free(*ar);
}

/* libarchive itself would also take what is uuencoded, or an RPM: mails may look like that. */
static int unpack(const char *path, const struct strbuf *packed, struct strbuf *out, struct err *e)
{
	_cleanup_(free_archive) struct archive *ar = archive_read_new();
	struct archive_entry *entry;
	char buf[65536];
	ssize_t n = -1;

	archive_read_support_filter_gzip(ar);
	archive_read_support_filter_xz(ar);
	archive_read_support_filter_zstd(ar);
	archive_read_support_filter_bzip2(ar);
	archive_read_support_format_raw(ar);
	archive_read_support_format_empty(ar);
	if (archive_read_open_memory(ar, packed->buf, packed->len) == ARCHIVE_OK)
		n = archive_read_next_header(ar, &entry) == ARCHIVE_FATAL ? -1 : 0;
	while (!n && (n = archive_read_data(ar, buf, sizeof(buf))) > 0) {
		if (out->len + (size_t)n > (size_t)INPUT_MAX_MB << 20)
			return err_add(e, -EFBIG, "%s is more than %d MB unpacked", path,
				       INPUT_MAX_MB);
		strbuf_add(out, buf, (size_t)n);
		n = 0;
	}
	if (n < 0)
		return err_add(e, -EBADMSG, "cannot unpack %s: %s", path,
			       archive_error_string(ar) ? archive_error_string(ar) : "broken");
	return 0;
}

int input_unpack(const char *name, struct strbuf *text, struct err *e)
{
	_cleanup_strbuf_ struct strbuf packed = STRBUF_INIT;

	if (!is_packed(text))
		return 0;
	packed = *text;
	*text = (struct strbuf)STRBUF_INIT;
	return unpack(name, &packed, text, e);
}

int input_read(const char *path, struct strbuf *out, struct err *e)
{
	int r = file_read(path, (size_t)INPUT_MAX_MB << 20, out, e);

	return r ? r : input_unpack(strcmp(path, "-") ? path : "standard input", out, e);
}
