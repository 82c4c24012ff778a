// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/file.h"

void share_choose(struct arena *a, struct share *s)
{
	static const char *const by_daemon[] = {"virtio_pci", "virtiofs", "overlay", NULL};
	static const char *const by_qemu[] = {"virtio_pci", "9p", "9pnet_virtio", "overlay", NULL};
	/* Debian 12, later ones, and where distributions without libexec have it */
	static const char *const places[] = {"/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd",
					     "/usr/lib/virtiofsd", NULL};
	const char *const *p = places;

	while (*p && geteuid() == 0 && !path_program(a, *p))
		p++;
	*s = (struct share){.child = {.out_fd = -1, .err_fd = -1}};
	s->daemon = geteuid() == 0 ? *p : NULL;
	s->kind = s->daemon ? "virtiofs" : "9p";
	s->modules = s->daemon ? by_daemon : by_qemu;
}

/* A socket in a folder that only this user enters, for virtiofsd to accept QEMU at. */
static int listen_at(const char *path, struct err *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, 1))
		return fd;
	err_add_errno(e, "cannot listen at %s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

int share_start(struct arena *a, struct share *s, struct guest_spec *spec, struct err *e)
{
	const char *fd_word;
	int fd, r;

	spec->share = "";
	if (!s->daemon)
		return 0;
	s->dir = arena_strdup(a, "/tmp/kdelta-share.XXXXXX");
	if (!mkdtemp(s->dir)) {
		s->dir = NULL;
		return err_add_errno(e, "cannot create a folder in /tmp");
	}
	spec->share = arena_printf(a, "%s/socket", s->dir);
	fd = listen_at(spec->share, e);
	if (fd < 0)
		return -EIO;
	fd_word = arena_printf(a, "%d", fd);
	r = proc_start(&(struct proc_spec){.argv =
						   (const char *const[]){
							   path_libexec(a, "kdelta-agent"),
							   "share", fd_word, s->daemon, NULL}},
		       "/dev/null", "/dev/null", &s->child, e);
	close(fd);
	return r;
}

void share_stop(struct share *s)
{
	_cleanup_free_ char *path = NULL;

	if (!s->dir)
		return;
	path = mem_printf("%s/socket", s->dir);
	proc_stop(&s->child, 0, NULL);
	unlink(path);
	rmdir(s->dir);
	s->dir = NULL;
}
