// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kdelta-count FILE COMMAND [ARGUMENT...]: runs a command and writes to FILE what it took, a line
 * each (jobs/count.h reads them):
 *
 *	kdelta-count 1
 *	tsc 27877099
 *	ns 27877010
 *	voluntary 1522
 *	involuntary 13
 *	busy_ns 27863120
 *
 * In a guest whose clock is the number of its instructions (QEMU -icount shift=0) tsc and ns both
 * count instructions, and the time nobody ran is skipped into them. busy_ns is how long tasks were
 * on the CPU by /proc/schedstat; the line is absent where the kernel has no such file. The exit
 * status is that of the command; a signal that ended it ends this process too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { NOT_FOUND = 127, BROKEN = 126 };

/*
 * Seconds of the guest's clock before the count begins: what the kernel still does in the background
 * after it booted (deferred initialisation, self-tests) would be counted on the only CPU. Where
 * nothing runs the clock is skipped, so waiting costs nothing.
 */
enum { SETTLE = 10 };

struct moment {
	unsigned long long tsc, busy;
	long long ns;
	int has_busy;
};

/*
 * Nanoseconds that tasks ran on all CPUs: the seventh number of each line
 *	cpu0 0 0 0 0 0 0 5423811522 41286371 9824
 */
static int read_busy(unsigned long long *sum)
{
	FILE *f = fopen("/proc/schedstat", "re");
	unsigned long long v;
	char line[512];
	int found = 0;

	*sum = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "cpu", 3) ||
		    sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %llu", &v) != 1)
			continue;
		*sum += v;
		found = 1;
	}
	if (f)
		fclose(f);
	return found;
}

static void take_clock(struct moment *m)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	m->ns = (long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
	m->tsc = __rdtsc();
}

static int write_report(const char *path, const struct moment *from, const struct moment *to,
			const struct rusage *usage)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fprintf(f, "kdelta-count 1\ntsc %llu\nns %lld\nvoluntary %ld\ninvoluntary %ld\n",
		to->tsc - from->tsc, to->ns - from->ns, usage->ru_nvcsw, usage->ru_nivcsw);
	if (from->has_busy && to->has_busy)
		fprintf(f, "busy_ns %llu\n", to->busy - from->busy);
	return fclose(f);
}

int main(int argc, char **argv)
{
	struct moment from, to;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: kdelta-count FILE COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	sleep(SETTLE);
	from.has_busy = read_busy(&from.busy);
	take_clock(&from);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(errno == ENOENT ? NOT_FOUND : BROKEN);
	}
	if (pid < 0)
		return BROKEN;
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return BROKEN;
	}
	take_clock(&to);
	to.has_busy = read_busy(&to.busy);
	if (write_report(argv[1], &from, &to, &usage)) {
		fprintf(stderr, "kdelta-count: cannot write %s: %s\n", argv[1], strerror(errno));
		return BROKEN;
	}
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}
