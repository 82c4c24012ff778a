// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "jobs/frame.h"

void frames_write(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

void frames_send(int fd, const char *type, const struct strbuf *body)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	frame_encode(type, strbuf_str(body), body->len, &sb);
	frames_write(fd, sb.buf, sb.len);
}

int frames_next(struct inbox *in, struct span *type, struct span *body)
{
	char buf[65536];

	for (;;) {
		ssize_t n;
		int r;

		if (in->taken) {
			in->buf.len -= in->taken;
			memmove(in->buf.buf, in->buf.buf + in->taken, in->buf.len);
			in->taken = 0;
		}
		r = frame_decode((struct span){strbuf_str(&in->buf), in->buf.len}, type, body,
				 &in->taken);
		if (r)
			return r;
		if (in->taken)
			continue;
		n = read(in->fd, buf, sizeof(buf));
		if (n > 0)
			strbuf_add(&in->buf, buf, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return 0;
	}
}
