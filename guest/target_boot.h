/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to boot a kernel once: after it, whatever comes up next is the machine's own default again.
 * One object each; kexec loads the kernel itself, the others write an entry of their own beside
 * those of the system and arm it by the boot loader's program.
 */
#ifndef GUEST_TARGET_BOOT_H
#define GUEST_TARGET_BOOT_H

#include "guest/target.h"

struct boot_entry {
	const char *image, *initrd; /* initrd "": none */
	const char *cmdline;
};

struct boot_method {
	const char *name; /* as in the campaign file */
	const char *restart; /* "kexec" or "reboot" */
	int (*arm)(struct target *t, const struct boot_entry *entry, struct err *e);
	/* What arm did is taken back; nothing where somebody else's choice stands there now. */
	int (*disarm)(struct target *t, struct err *e);
};

extern const struct boot_method boot_kexec, boot_grub, boot_bootctl, boot_efi;

/*
 * Runs a program of the system (NULL-terminated) and takes what it printed, without the blanks at
 * its end; -ENOENT with what to install, -EIO with its last words.
 */
int boot_run(struct target *t, const char *const *argv, char **out, struct err *e);
/* Copies a file beside the boot loader's, synced. */
int boot_copy(const char *from, const char *to, struct err *e);

/*
 * The end of this boot: does not return where it works. The program in $KDELTA_REBOOT takes the
 * place of the system calls in tests, with "load IMAGE INITRD CMDLINE", "unload", "kexec" or
 * "reboot".
 */
int boot_kexec_load(const struct boot_entry *entry, struct err *e);
int boot_kexec_unload(struct err *e);
int boot_restart(struct target *t, const char *how, struct err *e);

#endif
