// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/doctor_usage.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/num.h"
#include "machine/doctor_look.h"
#include "machine/rooted.h"

enum { MAX_PROCESSES = 8192 };

/* user nice system idle iowait irq softirq steal guest guest_nice; guests are part of the first. */
bool doctor_read_ticks(struct doctor *d, struct doctor_ticks *t)
{
	const char *line = rooted_line(d->a, d->root, "/proc/stat");
	struct span rest = span_of(line ? line : ""), word;
	double v;
	size_t i;

	*t = (struct doctor_ticks){0};
	if (!span_next_word(&rest, &word) || !span_is(word, "cpu"))
		return false;
	for (i = 0; i < 8 && span_next_word(&rest, &word) && num_parse(word, &v); i++) {
		t->total += v;
		t->idle += i == 3 || i == 4 ? v : 0;
		t->steal += i == 7 ? v : 0;
	}
	return t->total > 0;
}

/* utime and stime, words 14 and 15: "812 (cc1) R 1 ..."; a name may hold anything. */
static bool read_process(struct doctor *d, const char *path, double *ticks)
{
	const char *line = rooted_line(d->a, d->root, path), *end = line ? strrchr(line, ')') : NULL;
	struct span rest = span_of(end ? end + 1 : ""), word;
	double v;
	int i;

	*ticks = 0;
	for (i = 3; i <= 15; i++) {
		if (!span_next_word(&rest, &word))
			return false;
		if (i >= 14 && !num_parse(word, &v))
			return false;
		*ticks += i >= 14 ? v : 0;
	}
	return true;
}

static void wait_a_moment(struct doctor *d)
{
	const struct timespec half = {0, 500000000};

	if (d->opt->wait)
		d->opt->wait(d->opt->data);
	else
		nanosleep(&half, NULL);
}

/* "cc1 (pid 812)" of "/proc/812/stat". */
static const char *describe(struct doctor *d, const char *path)
{
	const char *pid = path + strlen("/proc/");
	size_t len = strcspn(pid, "/");
	const char *comm = rooted_line(
		d->a, d->root, arena_printf(d->a, "/proc/%.*s/comm", (int)len, pid));

	return arena_printf(d->a, "%s (pid %.*s)", comm ? comm : "?", (int)len, pid);
}

const struct doctor_usage *doctor_watch(struct doctor *d)
{
	struct doctor_usage *u = arena_alloc(d->a, sizeof(*u));
	const char *own = arena_printf(d->a, "/proc/%d/stat", (int)getpid());
	struct doctor_ticks before, after;
	double *ticks, now, most = 0;
	size_t n, i, top = 0;
	char **paths;

	if (!doctor_read_ticks(d, &before))
		return NULL;
	paths = rooted_glob(d->a, d->root, "/proc/[0-9]*/stat", MAX_PROCESSES, &n);
	ticks = arena_alloc_array(d->a, n + 1, sizeof(*ticks));
	for (i = 0; i < n; i++)
		if (!read_process(d, paths[i], &ticks[i]))
			ticks[i] = -1;
	wait_a_moment(d);
	if (!doctor_read_ticks(d, &after) || after.total <= before.total)
		return NULL;
	for (i = 0; i < n; i++) {
		if (ticks[i] < 0 || !read_process(d, paths[i], &now) || now - ticks[i] <= most ||
		    !strcmp(paths[i], own))
			continue;
		most = now - ticks[i];
		top = i;
	}
	/* time that a CPU waited for a disk may go back a little */
	u->busy = d->cpus *
		  fmax(0, 1 - (after.idle - before.idle) / (after.total - before.total));
	u->top = d->cpus * most / (after.total - before.total);
	u->who = most > 0 ? describe(d, paths[top]) : NULL;
	return u;
}
