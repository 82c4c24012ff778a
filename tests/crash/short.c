// SPDX-License-Identifier: GPL-2.0-or-later
/* Preloaded: every write to a file takes half of what it is given, as at the end of a disk. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t half(int fd, size_t n)
{
	struct stat st;

	return n > 1 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? n / 2 : n;
}

ssize_t write(int fd, const void *data, size_t n)
{
	return syscall(SYS_write, fd, data, half(fd, n));
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	return syscall(SYS_pwrite64, fd, data, half(fd, n), at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at)
{
	return pwrite(fd, data, n, at);
}
