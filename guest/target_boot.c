// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/target_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/file.h"
#include "core/proc.h"
#include "machine/host.h"

#define PROGRAM_DEADLINE 120.0
#define SPARE_BYTES	 (4u << 20) /* of a disk that are left alone */

int boot_run(struct target *t, const char *const *argv, char **out, struct err *e)
{
	/* what a boot loader keeps is not left half written, and is taken back after a SIGTERM */
	struct proc_spec spec = {.argv = argv, .deadline = PROGRAM_DEADLINE, .to_the_end = true};
	_cleanup_strbuf_ struct strbuf how = STRBUF_INIT;
	struct proc_result p;
	int ret = proc_run(&spec, &p, e);

	if (!ret && !p.started) {
		ret = err_add(e, -ENOENT, "%s is not installed", argv[0]);
	} else if (!ret && p.exit_status) {
		struct span said = span_trim((struct span){strbuf_str(&p.err), p.err.len});

		proc_describe(&p, &how);
		ret = err_add(e, -EIO, "%s: %s%s%.*s", argv[0], how.buf, said.len ? ": " : "",
			      (int)MIN(said.len, 500), said.s);
	}
	if (!ret && out) {
		strbuf_rtrim(&p.out);
		*out = arena_strdup(t->a, strbuf_str(&p.out));
	}
	proc_result_release(&p);
	return ret;
}

int boot_copy(const char *from, const char *to, struct err *e)
{
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	int ret = file_read(from, 0, &data, e);

	return ret ? ret : file_write_atomic(to, strbuf_str(&data), data.len, e);
}

/* ---- kernels ---- */

const char *target_put(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	struct span head;
	struct statvfs v;
	const char *name, *path;
	uint64_t left;

	(void)out;
	if (!span_next_line(&body, &head, NULL) || !(name = target_name(t, head, e)))
		return NULL;
	path = arena_printf(t->a, "%s/%s", t->kernels, name);
	if (statvfs(t->kernels, &v)) {
		err_add_errno(e, "cannot look at %s", t->kernels);
		return NULL;
	}
	left = (uint64_t)v.f_bavail * v.f_frsize;
	if (left < body.len + SPARE_BYTES) {
		err_add(e, -ENOSPC, "the disk is full: %s needs %zu MiB in %s, %llu MiB are free",
			name, (body.len + SPARE_BYTES) >> 20, t->kernels,
			(unsigned long long)left >> 20);
		return NULL;
	}
	return file_write_atomic(path, body.s, body.len, e) ? NULL : "ok";
}

const char *target_list(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	char **names;
	size_t n, i;

	(void)body;
	if (file_list(t->a, t->kernels, "kdelta-*", &names, &n, e))
		return NULL;
	for (i = 0; i < n; i++) {
		struct stat st;

		if (!stat(arena_printf(t->a, "%s/%s", t->kernels, names[i]), &st))
			strbuf_addf(out, "%s %lld\n", names[i], (long long)st.st_size);
	}
	return "ok";
}

const char *target_remove(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	const char *name = target_name(t, body, e);

	(void)out;
	if (!name)
		return NULL;
	if (!str_starts(name, "kdelta-")) {
		err_add(e, -EPERM, "%s was not put here by kdelta", name);
		return NULL;
	}
	if (unlink(arena_printf(t->a, "%s/%s", t->kernels, name)) && errno != ENOENT) {
		err_add_errno(e, "cannot remove %s/%s", t->kernels, name);
		return NULL;
	}
	return "ok";
}

/* The first of these files that exists, or "". */
static const char *first_file(struct target *t, const char *const *patterns, const char *release)
{
	for (; *patterns; patterns++) {
		char *path = arena_printf(t->a, "/boot/%s%s%s", *patterns, release,
					  str_starts(*patterns, "initramfs") ? ".img" : "");

		if (file_exists(path))
			return path;
	}
	return "";
}

const char *target_kernel(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	static const char *const images[] = {"vmlinuz-", "vmlinux-", NULL};
	static const char *const initrds[] = {"initrd.img-", "initramfs-", "initrd-", NULL};
	const char *release = target_name(t, body, e), *image;
	char hex[65];

	if (!release)
		return NULL;
	image = first_file(t, images, release);
	if (!*image) {
		err_add(e, -ENOENT, "the target has no /boot/vmlinuz-%s", release);
		return NULL;
	}
	if (file_sha256(image, hex, e))
		return NULL;
	strbuf_addf(out, "image %s\nsha256 %s\ninitrd %s\n", image, hex,
		    first_file(t, initrds, release));
	return "ok";
}

/* ---- arming and restarting ---- */

static const struct boot_method *const methods[] = {&boot_kexec, &boot_grub, &boot_bootctl,
						    &boot_efi};

static const struct boot_method *find_method(const char *name, struct err *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods); i++)
		if (!strcmp(methods[i]->name, name))
			return methods[i];
	err_add(e, -EINVAL, "this agent knows no boot method '%s'", name);
	return NULL;
}

/* Before anything is armed, so that it can be taken back whatever dies: "kexec BOOT-ID". */
static int keep_armed(struct target *t, const struct boot_method *m, struct err *e)
{
	struct running_kernel k;
	const char *text;

	machine_read_kernel(t->a, &k);
	text = arena_printf(t->a, "%s %s", m->name, k.boot_id);
	return file_write_atomic(target_path(t, "armed", ""), text, strlen(text), e);
}

/* The method by which the next restart of this boot was chosen, NULL: none. */
static const struct boot_method *armed_method(struct target *t)
{
	_cleanup_err_ struct err ignored = ERR_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct running_kernel k;
	struct span rest, name;

	if (file_read_line(target_path(t, "armed", ""), &text))
		return NULL;
	machine_read_kernel(t->a, &k);
	rest = span_of(strbuf_str(&text));
	if (!span_next_word(&rest, &name) || !span_is(span_trim(rest), k.boot_id))
		return NULL;
	return find_method(arena_strndup(t->a, name.s, name.len), &ignored);
}

int target_take_back(struct target *t, struct err *e)
{
	const struct boot_method *m = armed_method(t);
	int ret = m ? m->disarm(t, e) : 0;

	if (!ret)
		unlink(target_path(t, "armed", ""));
	return ret;
}

const char *target_arm(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	const struct boot_method *m = find_method(target_value(t, body, "method"), e);
	const struct boot_entry entry = {
		.image = target_value(t, body, "image"),
		.initrd = target_value(t, body, "initrd"),
		.cmdline = target_value(t, body, "cmdline"),
	};

	if (!m || keep_armed(t, m, e))
		return NULL;
	if (m->arm(t, &entry, e)) {
		unlink(target_path(t, "armed", ""));
		return NULL;
	}
	strbuf_addf(out, "restart %s\n", m->restart);
	return "ok";
}

const char *target_disarm(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	(void)body, (void)out;
	return target_take_back(t, e) ? NULL : "ok";
}

/* What the program in $KDELTA_REBOOT says and does in place of the kernel; false: there is none. */
static bool stand_in(const char *const *words, int *ret, struct err *e)
{
	const char *program = getenv("KDELTA_REBOOT");
	const char *argv[6] = {program};
	struct target t = {.a = NULL};
	size_t i;

	if (!program || !*program)
		return false;
	for (i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	*ret = boot_run(&t, argv, NULL, e);
	return true;
}

int boot_kexec_load(const struct boot_entry *entry, struct err *e)
{
	const char *const words[] = {"load", entry->image, entry->initrd, entry->cmdline, NULL};
	int image, initrd = -1, ret = 0;
	unsigned long flags = 0;

	if (stand_in(words, &ret, e))
		return ret;
	image = open(entry->image, O_RDONLY | O_CLOEXEC);
	if (image < 0)
		return err_add_errno(e, "cannot open %s", entry->image);
	if (*entry->initrd)
		initrd = open(entry->initrd, O_RDONLY | O_CLOEXEC);
	else
		flags = 4; /* KEXEC_FILE_NO_INITRAMFS */
	if (*entry->initrd && initrd < 0)
		ret = err_add_errno(e, "cannot open %s", entry->initrd);
	else if (syscall(SYS_kexec_file_load, image, initrd, strlen(entry->cmdline) + 1,
			 entry->cmdline, flags)) {
		ret = err_add_errno(e, "kexec refuses %s", entry->image);
		if (ret == -EPERM)
			err_hint(e, "kernel.kexec_load_disabled, lockdown or a lack of rights");
		else if (ret == -ENOEXEC)
			err_hint(e, "the kernel must be relocatable (CONFIG_RELOCATABLE)");
	}
	close(image);
	if (initrd >= 0)
		close(initrd);
	return ret;
}

int boot_kexec_unload(struct err *e)
{
	int ret = 0;

	if (!stand_in((const char *[]){"unload", NULL}, &ret, e) &&
	    syscall(SYS_kexec_file_load, -1, -1, 0UL, NULL, 1 /* KEXEC_FILE_UNLOAD */))
		ret = err_add_errno(e, "cannot unload the kernel that kexec has");
	return ret;
}

static void sysrq(const char *key)
{
	_cleanup_err_ struct err ignored = ERR_INIT;

	file_write_existing("/proc/sysrq-trigger", key, &ignored);
}

/* An orderly end by systemd, else file systems are at least synced and read-only. */
int boot_restart(struct target *t, const char *how, struct err *e)
{
	const char *const words[] = {how, NULL};
	const char *const argv[] = {"systemctl", how, NULL};
	bool kexec = !strcmp(how, "kexec");
	int ret = 0;

	if (stand_in(words, &ret, e))
		return ret;
	if (!file_exists(target_path(t, "prepared", "")))
		return err_add(e, -EPERM, "this machine was not prepared by `kdelta target setup`");
	/* systemd needs the program of kexec-tools to jump. */
	if (file_is_dir("/run/systemd/system") && (!kexec || path_program(t->a, "kexec")))
		return boot_run(t, argv, NULL, e);
	sync();
	sysrq("s");
	sysrq("u");
	sleep(1);
	if (kexec)
		syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
			LINUX_REBOOT_CMD_KEXEC, NULL);
	else
		reboot(RB_AUTOBOOT);
	return err_add_errno(e, "cannot restart");
}

/* Answered before it happens: afterwards nobody is there to answer. */
const char *target_restart(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	struct span s = span_trim(body);
	const char *how = span_is(s, "kexec") ? "kexec" : "reboot";
	const struct boot_method *armed = armed_method(t);
	_cleanup_err_ struct err ignored = ERR_INIT;
	pid_t pid;

	(void)out;
	target_extend(t);
	unlink(target_path(t, "armed", "")); /* from here on it is what is wanted */
	pid = fork();
	if (!pid) {
		setsid();
		usleep(300000);
		if (!boot_restart(t, how, &ignored))
			_exit(0);
		if (armed)
			armed->disarm(t, &ignored);
		_exit(1);
	}
	if (pid < 0) {
		err_add_errno(e, "cannot restart");
		return NULL;
	}
	return "ok";
}

/* ---- what kernels left behind ---- */

const char *target_pstore(struct target *t, struct span body, struct strbuf *out, struct err *e)
{
	const char *dir = "/sys/fs/pstore";
	char **names;
	size_t n, i;

	(void)body;
	if (!file_is_dir(dir))
		return "ok";
	if (file_list(t->a, dir, NULL, &names, &n, e))
		return NULL;
	if (!n && !mount("pstore", dir, "pstore", 0, NULL) &&
	    file_list(t->a, dir, NULL, &names, &n, e))
		return NULL;
	for (i = 0; i < n; i++) {
		const char *path = arena_printf(t->a, "%s/%s", dir, names[i]);
		_cleanup_err_ struct err ignored = ERR_INIT;

		strbuf_addf(out, "== pstore %s\n", names[i]);
		if (!file_read(path, 1 << 20, out, &ignored))
			unlink(path);
		strbuf_addc(out, '\n');
	}
	return "ok";
}
