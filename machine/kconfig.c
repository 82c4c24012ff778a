// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/kconfig.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "machine/rooted.h"

enum { PACKED_LIMIT = 1 << 20, TEXT_LIMIT = 4 << 20, GZIP_ONLY = 16 };

/* Never more than TEXT_LIMIT, however little is packed. */
static int unpack(struct strbuf *packed, struct strbuf *out)
{
	z_stream z = {.next_in = (unsigned char *)packed->buf, .avail_in = (unsigned int)packed->len};
	size_t start = out->len;
	char buf[16384];
	int r = inflateInit2(&z, GZIP_ONLY + MAX_WBITS);

	while (r == Z_OK && out->len - start < TEXT_LIMIT) {
		z.next_out = (unsigned char *)buf;
		z.avail_out = sizeof(buf);
		r = inflate(&z, Z_NO_FLUSH);
		strbuf_add(out, buf, sizeof(buf) - z.avail_out);
	}
	inflateEnd(&z);
	return r == Z_STREAM_END ? 0 : r == Z_OK ? -EFBIG : -EBADMSG;
}

int kconfig_read(struct arena *a, const char *root, struct strbuf *out, const char **path)
{
	static const char *const places[] = {"/boot/config-", "/lib/modules/"};
	const char *release = rooted_line(a, root, "/proc/sys/kernel/osrelease"), *where;
	_cleanup_strbuf_ struct strbuf packed = STRBUF_INIT;
	int r = rooted_read(root, "/proc/config.gz", PACKED_LIMIT, &packed);
	size_t i;

	if (path)
		*path = "/proc/config.gz";
	if (r != -ENOENT)
		return r ? r : unpack(&packed, out);
	for (i = 0; i < ARRAY_SIZE(places) && release && !strchr(release, '/'); i++) {
		where = arena_printf(a, "%s%s%s", places[i], release, i ? "/config" : "");
		if (path)
			*path = where;
		r = rooted_read(root, where, TEXT_LIMIT, out);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}

bool kconfig_has(struct span text, const char *option)
{
	size_t len = strlen(option);
	struct span line;

	while (span_next_line(&text, &line, NULL))
		if (span_starts(line, option) && line.len > len && line.s[len] == '=')
			return true;
	return false;
}
