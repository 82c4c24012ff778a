// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs/beside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/num.h"
#include "machine/monitor.h"

#define OUTPUT_MAX    (1u << 20) /* bytes kept */
#define START_SECONDS 3.0	 /* until a watcher rests */
#define ASK_SECONDS   5.0	 /* until it has printed its figures */
#define POLL_US	      20000

int beside_start(const struct proc_spec *spec, struct beside *b, struct err *e)
{
	_cleanup_free_ char *path = NULL;

	*b = (struct beside)BESIDE_INIT;
	/* in memory: nothing is left where this program is killed */
	b->output = memfd_create("beside", MFD_CLOEXEC);
	if (b->output < 0)
		return err_add_errno(e, "cannot make a file in memory");
	path = mem_printf("/proc/self/fd/%d", b->output);
	return proc_start(spec, path, path, &b->child, e);
}

void beside_stop(struct beside *b, double grace, struct strbuf *output)
{
	char buf[4096];
	ssize_t n;

	proc_stop(&b->child, grace, NULL);
	if (b->output < 0)
		return;
	while (output->len < OUTPUT_MAX && (n = read(b->output, buf, sizeof(buf))) > 0)
		strbuf_add(output, buf, (size_t)n);
	close(b->output);
	b->output = -1;
}

/* CPU time of a process, seconds; 0: not known. */
static double cpu_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until it took no CPU time for three polls in a row, or ended. */
static void wait_for_rest(struct proc_child *child)
{
	double until = num_monotonic() + START_SECONDS, last = 0, now;
	int still = 0;

	while (still < 3 && num_monotonic() < until && !proc_poll(child, NULL)) {
		usleep(POLL_US);
		now = cpu_of(child->pid);
		still = now > 0 && now <= last ? still + 1 : 0;
		last = now;
	}
}

static void watcher_start(struct watchers *w, const struct monitor *m)
{
	struct watcher *one = &w->list[w->n++];
	_cleanup_err_ struct err e = ERR_INIT;
	int r;

	one->monitor = m;
	r = beside_start(&(struct proc_spec){.argv = m->program}, &one->program, &e);
	if (r == -ENOENT)
		strbuf_addf(&w->notes, "note %s: %s is not installed here (%s)\n", m->name,
			    m->program[0], m->package);
	else if (r)
		strbuf_addf(&w->notes, "note %s: %s\n", m->name, err_text(&e));
}

void watchers_start(const char *const *names, struct watchers *w)
{
	_cleanup_arena_ struct arena *a = arena_new();
	const struct monitor *const *m = monitor_programs(a, names);
	size_t i;

	*w = (struct watchers){.notes = STRBUF_INIT};
	for (; *m && w->n < ARRAY_SIZE(w->list); m++)
		watcher_start(w, *m);
	for (i = 0; i < w->n; i++)
		wait_for_rest(&w->list[i].program.child);
}

void watchers_ask(struct watchers *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (w->list[i].program.child.pid)
			kill(-w->list[i].program.child.pid, SIGINT);
}

static void watcher_stop(struct watcher *one, double until, struct strbuf *log)
{
	_cleanup_strbuf_ struct strbuf output = STRBUF_INIT;
	struct beside *b = &one->program;
	const struct rusage *u = &b->child.usage;
	bool started = b->child.pid != 0;

	while (!proc_poll(&b->child, NULL) && num_monotonic() < until)
		usleep(POLL_US);
	beside_stop(b, 0, &output);
	if (!started)
		return;
	strbuf_addf(log, "output %s %zu ", one->monitor->name, output.len);
	num_add_exact(log, proc_seconds(u->ru_utime) + proc_seconds(u->ru_stime));
	strbuf_addc(log, '\n');
	strbuf_add(log, strbuf_str(&output), output.len);
	strbuf_addc(log, '\n');
}

void watchers_stop(struct watchers *w, struct strbuf *log)
{
	double until = num_monotonic() + ASK_SECONDS;
	size_t i;

	strbuf_adds(log, strbuf_str(&w->notes));
	for (i = 0; i < w->n; i++)
		watcher_stop(&w->list[i], until, log);
	strbuf_release(&w->notes);
}
