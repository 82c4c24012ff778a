// SPDX-License-Identifier: GPL-2.0-or-later
/* The boot methods. Only kexec was run on real kernels; the others against their programs' manuals. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "guest/target_boot.h"

static int arm_kexec(struct target *t, const struct boot_entry *entry, struct err *e)
{
	(void)t;
	return boot_kexec_load(entry, e);
}

const struct boot_method boot_kexec = {"kexec", "kexec", arm_kexec};

/* ---- GRUB: an entry in custom.cfg, which 41_custom of every grub.cfg reads ---- */

#define GRUB_BEGIN "# begin of kdelta's entry, written anew for every boot\n"
#define GRUB_END   "# end of kdelta's entry\n"

/* "grub-reboot", or "grub2-reboot" as Fedora and SUSE name it. */
static const char *grub_program(struct target *t, const char *what)
{
	const char *two = arena_printf(t->a, "grub2-%s", what);

	return path_program(t->a, two) ? two : arena_printf(t->a, "grub-%s", what);
}

static int grub_ask(struct target *t, const char *const *words, char **out, struct err *e)
{
	const char *argv[5] = {grub_program(t, words[0])};
	size_t i;

	for (i = 1; words[i]; i++)
		argv[i] = words[i];
	return boot_run(t, argv, out, e);
}

/* The file without the entry of an earlier boot. */
static void add_others(struct strbuf *out, struct span text)
{
	const char *begin = span_find(text, GRUB_BEGIN), *end = span_find(text, GRUB_END);

	if (!begin || !end || end < begin) {
		strbuf_add(out, text.s, text.len);
		return;
	}
	strbuf_add(out, text.s, (size_t)(begin - text.s));
	end += strlen(GRUB_END);
	strbuf_add(out, end, text.len - (size_t)(end - text.s));
}

static int write_grub_entry(struct target *t, const struct boot_entry *entry, struct err *e)
{
	_cleanup_strbuf_ struct strbuf old = STRBUF_INIT, text = STRBUF_INIT;
	const char *dir = getenv("KDELTA_GRUB"), *path;
	char *uuid, *image, *initrd = NULL;
	int ret;

	if (!dir)
		dir = file_is_dir("/boot/grub2") ? "/boot/grub2" : "/boot/grub";
	path = arena_printf(t->a, "%s/custom.cfg", dir);
	ret = grub_ask(t, (const char *[]){"probe", "--target=fs_uuid", entry->image, NULL}, &uuid,
		       e);
	if (!ret)
		ret = grub_ask(t, (const char *[]){"mkrelpath", entry->image, NULL}, &image, e);
	if (!ret && *entry->initrd)
		ret = grub_ask(t, (const char *[]){"mkrelpath", entry->initrd, NULL}, &initrd, e);
	if (!ret && file_exists(path))
		ret = file_read(path, 1 << 20, &old, e);
	if (ret)
		return ret;
	add_others(&text, (struct span){strbuf_str(&old), old.len});
	strbuf_addf(&text,
		    GRUB_BEGIN "menuentry 'kdelta' --id kdelta {\n"
			       "\tsearch --no-floppy --fs-uuid --set=root %s\n"
			       "\tlinux %s %s\n",
		    uuid, image, entry->cmdline);
	if (initrd)
		strbuf_addf(&text, "\tinitrd %s\n", initrd);
	strbuf_adds(&text, "}\n" GRUB_END);
	return file_write_atomic(path, text.buf, text.len, e);
}

static int arm_grub(struct target *t, const struct boot_entry *entry, struct err *e)
{
	int ret = write_grub_entry(t, entry, e);
	char *list;

	if (!ret)
		ret = grub_ask(t, (const char *[]){"reboot", "kdelta", NULL}, NULL, e);
	if (!ret)
		ret = grub_ask(t, (const char *[]){"editenv", "list", NULL}, &list, e);
	if (ret || strstr(list, "next_entry=kdelta"))
		return ret;
	err_add(e, -EROFS, "grub-reboot left no trace in grubenv: the choice would be lost");
	err_hint(e, "GRUB cannot write it on btrfs, LVM or RAID; and GRUB_DEFAULT=saved is needed");
	return -EROFS;
}

const struct boot_method boot_grub = {"grub-reboot", "reboot", arm_grub};

/* ---- systemd-boot: a loader entry beside those of the system ---- */

static int arm_bootctl(struct target *t, const struct boot_entry *entry, struct err *e)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *root, *dir, *path;
	int ret = boot_run(t, (const char *[]){"bootctl", "--print-boot-path", NULL}, &root, e);

	if (ret)
		return ret;
	dir = arena_printf(t->a, "%s/kdelta", root);
	path = arena_printf(t->a, "%s/loader/entries/kdelta.conf", root);
	ret = file_make_dirs(dir, e);
	if (!ret)
		ret = file_make_dirs(path_folder(t->a, path), e);
	if (!ret)
		ret = boot_copy(entry->image, arena_printf(t->a, "%s/vmlinuz", dir), e);
	strbuf_adds(&text, "title kdelta\nlinux /kdelta/vmlinuz\n");
	if (!ret && *entry->initrd) {
		ret = boot_copy(entry->initrd, arena_printf(t->a, "%s/initrd", dir), e);
		strbuf_adds(&text, "initrd /kdelta/initrd\n");
	}
	strbuf_addf(&text, "options %s\n", entry->cmdline);
	if (!ret)
		ret = file_write_atomic(path, text.buf, text.len, e);
	return ret ? ret
		   : boot_run(t, (const char *[]){"bootctl", "set-oneshot", "kdelta.conf", NULL},
			      NULL, e);
}

const struct boot_method boot_bootctl = {"bootctl", "reboot", arm_bootctl};

/* ---- EFI: an entry of the firmware for the kernel's own EFI stub ---- */

/* Number of the entry labelled kdelta: "Boot0005* kdelta\tHD(...)" -> "0005"; NULL: none. */
static char *efi_entry(struct target *t, const char *list)
{
	struct span rest = span_of(list), row, number, label;

	while (span_next_line(&rest, &row, NULL)) {
		if (span_next_word(&row, &number) && span_starts(number, "Boot") &&
		    number.len >= 8 && span_next_word(&row, &label) && span_is(label, "kdelta"))
			return arena_strndup(t->a, number.s + 4, 4);
	}
	return NULL;
}

/* An entry names its files, so that of an earlier boot is deleted. */
static int efi_forget(struct target *t, struct err *e)
{
	char *list, *number;
	int ret = boot_run(t, (const char *[]){"efibootmgr", NULL}, &list, e);

	number = ret ? NULL : efi_entry(t, list);
	return number ? boot_run(t,
				 (const char *[]){"efibootmgr", "--quiet", "--bootnum", number,
						  "--delete-bootnum", NULL},
				 NULL, e)
		      : ret;
}

/* Disk and partition that the firmware reads: "/dev/nvme0n1" and "1". */
static int efi_partition(struct target *t, const char *root, char **disk, char **part,
			 struct err *e)
{
	char *source, *names, *end;
	int ret = boot_run(t, (const char *[]){"findmnt", "-no", "SOURCE", root, NULL}, &source, e);

	if (!ret)
		ret = boot_run(t, (const char *[]){"lsblk", "-no", "PKNAME,PARTN", source, NULL},
			       &names, e);
	if (ret)
		return ret;
	end = names + strcspn(names, " ");
	*disk = arena_printf(t->a, "/dev/%.*s", (int)(end - names), names);
	*part = end + strspn(end, " ");
	return **part ? 0 : err_add(e, -ENODEV, "lsblk does not tell the partition of %s", root);
}

static int arm_efi(struct target *t, const struct boot_entry *entry, struct err *e)
{
	const char *root = getenv("KDELTA_ESP");
	char *disk, *part, *dir, *list, *words, *number;
	int ret;

	root = root ? root : "/boot/efi";
	dir = arena_printf(t->a, "%s/EFI/kdelta", root);
	words = arena_printf(t->a, "%s%s", *entry->initrd ? "initrd=\\EFI\\kdelta\\initrd " : "",
			     entry->cmdline);
	ret = efi_partition(t, root, &disk, &part, e);
	if (!ret)
		ret = efi_forget(t, e);
	if (!ret)
		ret = file_make_dirs(dir, e);
	if (!ret)
		ret = boot_copy(entry->image, arena_printf(t->a, "%s/vmlinuz", dir), e);
	if (!ret && *entry->initrd)
		ret = boot_copy(entry->initrd, arena_printf(t->a, "%s/initrd", dir), e);
	if (!ret)
		ret = boot_run(t,
			       (const char *[]){"efibootmgr", "--create-only", "--disk", disk,
						"--part", part, "--label", "kdelta", "--loader",
						"\\EFI\\kdelta\\vmlinuz", "--unicode", words, NULL},
			       &list, e);
	if (ret)
		return ret;
	number = efi_entry(t, list);
	if (!number)
		return err_add(e, -EIO, "efibootmgr made no entry");
	return boot_run(t, (const char *[]){"efibootmgr", "--quiet", "--bootnext", number, NULL},
			NULL, e);
}

const struct boot_method boot_efi = {"efibootmgr", "reboot", arm_efi};
