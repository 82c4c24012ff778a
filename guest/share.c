// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/share.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/job.h"
#include "runner/guest.h"

#define LOWER  "/share"
#define WRITES "/writes"

void share_mount(struct span kind, struct strbuf *failures)
{
	const bool is_9p = span_is(kind, "9p");
	const struct {
		const char *type, *target, *data;
		unsigned long flags;
	} mounts[] = {
		{is_9p ? "9p" : "virtiofs", LOWER,
		 is_9p ? "trans=virtio,version=9p2000.L,msize=524288,cache=loose" : NULL, MS_RDONLY},
		{"tmpfs", WRITES, NULL, 0},
		{NULL, WRITES "/files", NULL, 0},
		{NULL, WRITES "/work", NULL, 0},
		{"overlay", JOB_HOST_ROOT,
		 "lowerdir=" LOWER ",upperdir=" WRITES "/files,workdir=" WRITES "/work", 0},
		{"/proc", JOB_HOST_ROOT "/proc", NULL, MS_BIND | MS_REC},
		{"/sys", JOB_HOST_ROOT "/sys", NULL, MS_BIND | MS_REC},
		{"/dev", JOB_HOST_ROOT "/dev", NULL, MS_BIND | MS_REC},
	};
	size_t i;

	umount2(JOB_HOST_ROOT, MNT_DETACH);
	umount2(WRITES, MNT_DETACH);
	umount2(LOWER, MNT_DETACH);
	for (i = 0; i < ARRAY_SIZE(mounts) && !failures->len; i++) {
		const char *type = mounts[i].type;
		const char *source = mounts[i].flags & MS_BIND ? type : GUEST_SHARE;

		mkdir(mounts[i].target, 0755);
		if (type && mount(source, mounts[i].target, type, mounts[i].flags, mounts[i].data))
			strbuf_addf(failures, "mount %s: %s\n", type, strerror(errno));
	}
}

int share_serve(const char *fd, const char *program)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	_cleanup_free_ char *fd_option = mem_printf("--fd=%s", fd);

	if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)))
		/* each file that a guest knows of takes a descriptor: not whole folders at once */
		execl(program, program, fd_option, "-f", "-o",
		      "source=/,cache=always,sandbox=chroot,no_readdirplus", (char *)NULL);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	return 1;
}
