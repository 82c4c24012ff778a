// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the monitors cost on a tree of 256 CPUs, and what shell loops take for the same work
 * (monitors.sh). Prints every figure with its limit; exits 1 if one is missed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/num.h"
#include "core/proc.h"
#include "machine/monitor.h"

enum { WHOLE = 50, TICKS = 10000, SHELL_SAMPLES = 3 };

static int missed;

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return proc_seconds(u.ru_utime) + proc_seconds(u.ru_stime);
}

static long max_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void print(const char *what, double value, const char *unit, const char *limit, bool ok)
{
	printf("monitors, 256 CPUs: %-44s %9.3f %-4s limit %s%s\n", what, value, unit, limit,
	       ok ? "" : "  MISSED");
	missed |= !ok;
}

static struct monitors *open_monitors(const char *root)
{
	const struct monitor_options opt = {.root = root, .interval = 3600};
	_cleanup_err_ struct err e = ERR_INIT;
	struct monitors *m;

	if (!monitors_open(&opt, &m, &e))
		return m;
	fprintf(stderr, "%s\n", err_text(&e));
	exit(2);
}

/* CPU seconds of a snapshot of everything, as before and after a run: what the log says of itself. */
static double whole_sample(const char *root)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	struct monitors *m = open_monitors(root);
	struct span rest, line;
	double self;
	int i;

	for (i = 0; i < WHOLE; i++) {
		strbuf_reset(&log);
		monitors_begin(m);
		monitors_end(m, NULL, 0, &log);
	}
	monitors_close(m);
	rest = span_of(strstr(strbuf_str(&log), "\nself ") + strlen("\nself "));
	if (!span_next_line(&rest, &line, NULL) || !num_parse(line, &self))
		exit(2);
	return self / (2 * WHOLE);
}

/* CPU seconds of what is sampled at every tick; how far memory grew over all of them, KiB. */
static double tick(const char *root, long *grown)
{
	struct monitors *m = open_monitors(root);
	double begin;
	long before;
	int i;

	monitors_begin(m);
	monitors_sample(m);
	before = max_kib();
	begin = cpu_seconds();
	for (i = 0; i < TICKS; i++)
		monitors_sample(m);
	begin = cpu_seconds() - begin;
	*grown = max_kib() - before;
	monitors_close(m);
	return begin / TICKS;
}

static double shell_sample(const char *root)
{
	_cleanup_free_ char *samples = mem_printf("%d", SHELL_SAMPLES);
	const char *const argv[] = {"sh", "tests/bench/monitors.sh", root, samples, NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_result p;
	double took;

	if (proc_run(&(struct proc_spec){.argv = argv}, &p, &e) || p.exit_status) {
		fprintf(stderr, "monitors.sh failed\n");
		exit(2);
	}
	took = (proc_seconds(p.usage.ru_utime) + proc_seconds(p.usage.ru_stime)) / SHELL_SAMPLES;
	proc_result_release(&p);
	return took;
}

int main(int argc, char **argv)
{
	double whole, each, shell;
	long grown;

	if (argc != 2)
		return 2;
	proc_init();
	whole = whole_sample(argv[1]);
	each = tick(argv[1], &grown);
	shell = shell_sample(argv[1]);
	print("a sample of everything, CPU time", 1e3 * whole, "ms", "10", whole < 0.01);
	print("at 1 Hz, of one CPU", 100 * each, "%", "1", each < 0.01);
	print("memory grown over 10,000 samples", (double)grown, "KiB", "256", grown < 256);
	print("shell loops, the same sample, CPU time", 1e3 * shell, "ms", "-", true);
	print("shell loops take", shell / whole, "x", "50", shell / whole >= 50);
	return missed;
}
