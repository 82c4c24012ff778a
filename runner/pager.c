// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL_FOUND_NOTHING 127

static const char *pager_command(void)
{
	const char *command = getenv("KDELTA_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void child_run(const char *command, const int pipe_ends[2])
{
	dup2(pipe_ends[0], STDIN_FILENO);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(SHELL_FOUND_NOTHING);
}

/* All of it, unless the reader has seen enough. */
static void feed(int fd, struct span text)
{
	while (text.len) {
		ssize_t n = write(fd, text.s, text.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		text.s += n;
		text.len -= (size_t)n;
	}
}

int pager_show(struct span text)
{
	const char *command = pager_command();
	int pipe_ends[2], status = 0;
	void (*old_pipe)(int), (*old_int)(int);
	pid_t pid;

	if (!command || pipe2(pipe_ends, O_CLOEXEC))
		return -ENOENT;
	old_pipe = signal(SIGPIPE, SIG_IGN);
	/* an interrupt is the pager's to handle, as in git */
	old_int = signal(SIGINT, SIG_IGN);
	pid = fork();
	if (!pid)
		child_run(command, pipe_ends);
	close(pipe_ends[0]);
	if (pid > 0)
		feed(pipe_ends[1], text);
	close(pipe_ends[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, old_pipe);
	signal(SIGINT, old_int);
	return pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == SHELL_FOUND_NOTHING)
		       ? -ENOENT
		       : 0;
}
