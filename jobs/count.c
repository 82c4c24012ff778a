// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs/count.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/num.h"

#define COUNT_PROGRAM "kdelta-count"
#define COUNT_HEAD    "kdelta-count 1"

const char *const *count_wrap(struct arena *a, const char *const *argv, const char **file)
{
	const char *dir = getenv("TMPDIR"), **wrapped;
	char *name = arena_printf(a, "%s/kdelta-count.XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(name, O_CLOEXEC);
	size_t n = 0;

	if (fd >= 0)
		close(fd);
	while (argv[n])
		n++;
	*file = name;
	wrapped = arena_alloc_array(a, n + 3, sizeof(*wrapped));
	wrapped[0] = COUNT_PROGRAM;
	wrapped[1] = *file;
	memcpy(wrapped + 2, argv, n * sizeof(*argv));
	return wrapped;
}

bool count_take(const char *file, struct strbuf *text)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char buf[1024];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(text, buf, (size_t)n);
	if (fd >= 0)
		close(fd);
	unlink(file);
	return text->len > 0;
}

int count_parse(struct span text, struct count *c, struct err *e)
{
	int64_t busy = -1;
	const struct {
		const char *key;
		int64_t *value;
	} fields[] = {
		{"tsc", &c->tsc},
		{"ns", &c->ns},
		{"voluntary", &c->voluntary},
		{"involuntary", &c->involuntary},
		{"busy_ns", &busy},
	};
	struct span rest = text, row, key, value;
	size_t i;

	*c = (struct count){.tsc = -1, .ns = -1, .voluntary = -1, .involuntary = -1, .idle = NAN};
	if (!span_next_line(&rest, &row, NULL) || !span_is(row, COUNT_HEAD))
		return err_add(e, -EBADMSG, "the report of %s is damaged", COUNT_PROGRAM);
	while (span_next_line(&rest, &row, NULL)) {
		if (!span_next_word(&row, &key) || !span_next_word(&row, &value))
			continue;
		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (span_is(key, fields[i].key) && !num_parse_int(value, fields[i].value))
				return err_add(e, -EBADMSG, "the report of %s says %s %.*s",
					       COUNT_PROGRAM, fields[i].key, (int)value.len, value.s);
	}
	if (c->tsc <= 0 || c->ns <= 0 || c->voluntary < 0 || c->involuntary < 0)
		return err_add(e, -EBADMSG, "the report of %s is cut short", COUNT_PROGRAM);
	if (busy >= 0)
		c->idle = fmin(1, fmax(0, 1 - (double)busy / (double)c->ns));
	return 0;
}
