/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames (jobs/frame.h) as the agent reads and writes them: one descriptor, one at a time. */
#ifndef GUEST_FRAMES_H
#define GUEST_FRAMES_H

#include "core/str.h"

struct inbox {
	int fd;
	struct strbuf buf;
	size_t taken; /* bytes of buf that the last frame used */
};

/*
 * Waits for the next frame: 1 with type and body, valid until the next call; 0 at the end of the
 * line; -EBADMSG if what came is damaged.
 */
int frames_next(struct inbox *in, struct span *type, struct span *body);

void frames_send(int fd, const char *type, const struct strbuf *body);
/* All of it, as far as the other end takes it. */
void frames_write(int fd, const char *p, size_t len);

#endif
