/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the host and the agent of a guest, over a serial line without any protocol of
 * its own: a head line, the bytes, an end of line.
 *	KDF result 1234 0a1b2c3d4e5f6071
 */
#ifndef JOBS_FRAME_H
#define JOBS_FRAME_H

#include <stdint.h>

#include "core/str.h"

#define FRAME_BODY_MAX (256u << 20)

/* FNV-1a, 64 bits: finds damage on the line, not malice. */
uint64_t frame_sum(const void *data, size_t len);

/* type: one word. */
void frame_encode(const char *type, const void *data, size_t len, struct strbuf *out);

/*
 * The first frame in buf: 1 with type and body (pointing into buf) and the bytes to drop from its
 * front in *used; 0 if more bytes are needed (*used: noise that can be dropped already);
 * -EBADMSG if it is damaged. Whatever stands before the head is skipped.
 */
int frame_decode(struct span buf, struct span *type, struct span *body, size_t *used);

#endif
