// SPDX-License-Identifier: GPL-2.0-or-later
/* The boot methods. Only kexec was run on real kernels; the others against their programs' manuals. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "guest/target_boot.h"

/* Files of the system, below $KDELTA_ROOT in tests. */
static char *system_path(struct target *t, const char *path)
{
	const char *root = getenv("KDELTA_ROOT");

	return arena_printf(t->a, "%s%s", root ? root : "", path);
}

static int arm_kexec(struct target *t, const struct boot_entry *entry, struct err *e)
{
	(void)t;
	return boot_kexec_load(entry, e);
}

static int disarm_kexec(struct target *t, struct err *e)
{
	(void)t;
	return boot_kexec_unload(e);
}

const struct boot_method boot_kexec = {"kexec", "kexec", arm_kexec, disarm_kexec};

/* ---- GRUB: an entry in custom.cfg, which 41_custom of every grub.cfg reads ---- */

#define GRUB_BEGIN "# begin of kdelta's entry, written anew for every boot\n"
#define GRUB_END   "# end of kdelta's entry\n"

/* "grub-reboot", or "grub2-reboot" as Fedora and SUSE name it. */
static const char *grub_program(struct target *t, const char *what)
{
	const char *two = arena_printf(t->a, "grub2-%s", what);

	return path_program(t->a, two) ? two : arena_printf(t->a, "grub-%s", what);
}

/* Runs grub-WORDS[0] with the words behind it. */
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

static char *grub_folder(struct target *t)
{
	char *two = system_path(t, "/boot/grub2");

	return file_is_dir(two) ? two : system_path(t, "/boot/grub");
}

/*
 * What GRUB itself cannot write it cannot take back: the choice for one boot would be that of
 * every boot, also of the one after a panic.
 */
static int check_grubenv(struct target *t, const char *dir, struct err *e)
{
	char *fs, *layers;
	int ret = grub_ask(t, (const char *[]){"probe", "--target=fs", dir, NULL}, &fs, e);

	if (!ret)
		ret = grub_ask(t, (const char *[]){"probe", "--target=abstraction", dir, NULL},
			       &layers, e);
	if (ret || (!*layers && strcmp(fs, "btrfs") && strcmp(fs, "zfs")))
		return ret;
	err_add(e, -EROFS, "GRUB cannot write %s, which lies on %s: its choice would not be for one "
		"boot only", dir, *layers ? layers : fs);
	err_hint(e, "use method: kexec, or put /boot on a plain partition");
	return -EROFS;
}

/* `linux` of GRUB's shell: "memmap=64G$4G" would lose half of its words. */
static void add_grub_words(struct strbuf *sb, const char *words)
{
	for (; *words; words++) {
		if (strchr("$;&|<>{}", *words))
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *words);
	}
}

static int write_grub_entry(struct target *t, const char *dir, const struct boot_entry *entry,
			    struct err *e)
{
	_cleanup_strbuf_ struct strbuf old = STRBUF_INIT, text = STRBUF_INIT;
	const char *path = arena_printf(t->a, "%s/custom.cfg", dir);
	char *uuid, *image, *initrd = NULL;
	int ret;

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
			       "\tlinux %s ",
		    uuid, image);
	add_grub_words(&text, entry->cmdline);
	if (initrd)
		strbuf_addf(&text, "\n\tinitrd %s", initrd);
	strbuf_adds(&text, "\n}\n" GRUB_END);
	return file_write_atomic(path, text.buf, text.len, e);
}

static int arm_grub(struct target *t, const struct boot_entry *entry, struct err *e)
{
	const char *dir = grub_folder(t);
	int ret = check_grubenv(t, dir, e);
	char *list;

	if (!ret)
		ret = write_grub_entry(t, dir, entry, e);
	if (!ret)
		ret = grub_ask(t, (const char *[]){"reboot", "kdelta", NULL}, NULL, e);
	if (!ret)
		ret = grub_ask(t, (const char *[]){"editenv", "list", NULL}, &list, e);
	if (ret || strstr(list, "next_entry=kdelta"))
		return ret;
	return err_add(e, -EROFS,
		       "grub-reboot left no trace in grubenv: the choice would be lost");
}

static int disarm_grub(struct target *t, struct err *e)
{
	char *list;
	int ret = grub_ask(t, (const char *[]){"editenv", "list", NULL}, &list, e);

	if (ret || !strstr(list, "next_entry=kdelta"))
		return ret;
	return grub_ask(t, (const char *[]){"editenv", "-", "unset", "next_entry", NULL}, NULL, e);
}

const struct boot_method boot_grub = {"grub-reboot", "reboot", arm_grub, disarm_grub};

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

/* An empty name removes the choice. */
static int disarm_bootctl(struct target *t, struct err *e)
{
	return boot_run(t, (const char *[]){"bootctl", "set-oneshot", "", NULL}, NULL, e);
}

const struct boot_method boot_bootctl = {"bootctl", "reboot", arm_bootctl, disarm_bootctl};

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

/* Entries name their files, so those of earlier boots are deleted. */
static int efi_forget(struct target *t, struct err *e)
{
	char *list, *number, *last = NULL;
	int ret = boot_run(t, (const char *[]){"efibootmgr", NULL}, &list, e);

	while (!ret && (number = efi_entry(t, list))) {
		if (last && !strcmp(last, number))
			return err_add(e, -EROFS, "the firmware did not delete Boot%s", number);
		last = number;
		ret = boot_run(t,
			       (const char *[]){"efibootmgr", "--bootnum", number,
						"--delete-bootnum", NULL},
			       &list, e);
	}
	return ret;
}

/*
 * Disk and partition that the firmware reads: "/dev/nvme0n1" and "1". The folder of a partition in
 * /sys lies in that of its disk.
 */
static int efi_partition(struct target *t, const char *root, char **disk, char **part,
			 struct err *e)
{
	_cleanup_strbuf_ struct strbuf number = STRBUF_INIT;
	_cleanup_free_ char *folder = NULL;
	char *source, *name;
	int ret = boot_run(t, (const char *[]){"findmnt", "-no", "SOURCE", root, NULL}, &source, e);

	if (ret) {
		err_hint(e, "the EFI system partition must be mounted at %s", root);
		return ret;
	}
	name = system_path(t, arena_printf(t->a, "/sys/class/block/%s", path_name(t->a, source)));
	folder = realpath(name, NULL);
	if (!folder || file_read_line(arena_printf(t->a, "%s/partition", name), &number))
		return err_add(e, -ENODEV, "%s, where %s lies, is no partition of a disk", source,
			       root);
	*disk = arena_printf(t->a, "/dev/%s", path_name(t->a, path_folder(t->a, folder)));
	*part = arena_strdup(t->a, strbuf_str(&number));
	return 0;
}

static int copy_to_esp(struct target *t, const char *root, const struct boot_entry *entry,
		       struct err *e)
{
	const char *dir = arena_printf(t->a, "%s/EFI/kdelta", root);
	int ret = file_make_dirs(dir, e);

	if (!ret)
		ret = boot_copy(entry->image, arena_printf(t->a, "%s/vmlinuz", dir), e);
	if (!ret && *entry->initrd)
		ret = boot_copy(entry->initrd, arena_printf(t->a, "%s/initrd", dir), e);
	return ret;
}

static int arm_efi(struct target *t, const struct boot_entry *entry, struct err *e)
{
	const char *root = system_path(t, "/boot/efi");
	char *disk = NULL, *part = NULL, *list, *words, *number;
	int ret;

	words = arena_printf(t->a, "%s%s", *entry->initrd ? "initrd=\\EFI\\kdelta\\initrd " : "",
			     entry->cmdline);
	ret = efi_partition(t, root, &disk, &part, e);
	if (!ret)
		ret = efi_forget(t, e);
	if (!ret)
		ret = copy_to_esp(t, root, entry, e);
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
	ret = boot_run(t, (const char *[]){"efibootmgr", "--bootnext", number, NULL}, &list, e);
	if (ret || strstr(list, arena_printf(t->a, "BootNext: %s", number)))
		return ret;
	return err_add(e, -EROFS, "the firmware did not keep what efibootmgr --bootnext set");
}

static int disarm_efi(struct target *t, struct err *e)
{
	char *list, *number;
	int ret = boot_run(t, (const char *[]){"efibootmgr", NULL}, &list, e);

	number = ret ? NULL : efi_entry(t, list);
	if (!number || !strstr(list, arena_printf(t->a, "BootNext: %s", number)))
		return ret;
	return boot_run(t, (const char *[]){"efibootmgr", "--delete-bootnext", NULL}, NULL, e);
}

const struct boot_method boot_efi = {"efibootmgr", "reboot", arm_efi, disarm_efi};
