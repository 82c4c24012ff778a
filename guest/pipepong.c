// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pipepong: two tasks send one byte to and fro through two pipes. Each round trip is two wake-ups
 * and two context switches, and on one CPU nothing else: the workload where a change of the wake-up
 * path shows first. Prints
 *
 *	pipepong version 1 rounds=20000 mode=process
 *	time: 0.123456789 s
 *	round trip: 6.173 us
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rounds = 20000;
static int there[2], back[2];

static void die(const char *what)
{
	fprintf(stderr, "pipepong: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Whether the other end was there for every round. */
static int answer(void)
{
	char byte;
	long i;

	for (i = 0; i < rounds; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			return 0;
	return 1;
}

static void *answer_thread(void *unused)
{
	(void)unused;
	return answer() ? &rounds : NULL;
}

static void ask(void)
{
	char byte = 'k';
	long i;

	for (i = 0; i < rounds; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("a round was lost");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double run_processes(void)
{
	double begin = now();
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(answer() ? 0 : 1);
	ask();
	if (waitpid(pid, &status, 0) != pid || status)
		die("the other process");
	return now() - begin;
}

static double run_threads(void)
{
	double begin = now();
	pthread_t thread;
	void *done;

	if (pthread_create(&thread, NULL, answer_thread, NULL))
		die("pthread_create");
	ask();
	pthread_join(thread, &done);
	if (!done)
		die("the other thread");
	return now() - begin;
}

static void usage(FILE *to)
{
	fputs("usage: pipepong [-n ROUNDS] [-T]\n"
	      "Times round trips of one byte between two tasks through pipes.\n"
	      "  -n N  round trips (20000)\n"
	      "  -T    the tasks are threads, not processes\n",
	      to);
}

int main(int argc, char **argv)
{
	int o, threads = 0;
	double seconds;
	char *end;

	while ((o = getopt(argc, argv, "n:Th")) != -1) {
		switch (o) {
		case 'n':
			errno = 0;
			rounds = strtol(optarg, &end, 10);
			if (errno || *end || rounds < 1 || rounds > 1000000000) {
				fprintf(stderr, "pipepong: -n takes a whole number from 1, not '%s'\n",
					optarg);
				return 2;
			}
			break;
		case 'T':
			threads = 1;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "pipepong: unexpected '%s'\n", argv[optind]);
		return 2;
	}
	printf("pipepong version 1 rounds=%ld mode=%s\n", rounds, threads ? "thread" : "process");
	fflush(stdout);
	if (pipe(there) || pipe(back))
		die("pipe");
	seconds = threads ? run_threads() : run_processes();
	printf("time: %.9f s\nround trip: %.3f us\n", seconds, seconds * 1e6 / (double)rounds);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the result");
	return 0;
}
