// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/num.h"

#define FRAME_MARK "KDF "
#define HEAD_MAX   80 /* bytes of a head line */
#define SUM_FORMAT "%016llx"

uint64_t frame_sum(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3;
	return h;
}

void frame_encode(const char *type, const void *data, size_t len, struct strbuf *out)
{
	strbuf_addf(out, FRAME_MARK "%s %zu " SUM_FORMAT "\n", type, len,
		    (unsigned long long)frame_sum(data, len));
	strbuf_add(out, data, len);
	strbuf_addc(out, '\n');
}

int frame_decode(struct span buf, struct span *type, struct span *body, size_t *used)
{
	const char *mark = span_find(buf, FRAME_MARK);
	struct span rest, line, word, sum;
	char expected[17];
	bool complete;
	int64_t len;

	if (!mark) { /* its first bytes may be there */
		*used = buf.len - MIN(buf.len, strlen(FRAME_MARK) - 1);
		return 0;
	}
	*used = (size_t)(mark - buf.s);
	rest = (struct span){mark, buf.len - *used};
	span_next_line(&rest, &line, &complete);
	if (!complete)
		return line.len > HEAD_MAX ? -EBADMSG : 0;
	span_next_word(&line, &word);
	if (!span_next_word(&line, type) || !span_next_word(&line, &word) ||
	    !num_parse_int(word, &len) || len < 0 || len > FRAME_BODY_MAX ||
	    !span_next_word(&line, &sum))
		return -EBADMSG;
	if (rest.len < (size_t)len + 1)
		return 0;
	*body = (struct span){rest.s, (size_t)len};
	snprintf(expected, sizeof(expected), SUM_FORMAT,
		 (unsigned long long)frame_sum(body->s, body->len));
	if (rest.s[len] != '\n' || !span_is(sum, expected))
		return -EBADMSG;
	*used = (size_t)(rest.s - buf.s) + (size_t)len + 1;
	return 1;
}
