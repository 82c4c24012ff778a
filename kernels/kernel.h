/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel of a variant, wherever it comes from: a file, a Debian package, a source that is
 * built, the running one. One file per kind of source registers a struct kernel_source.
 */
#ifndef KERNELS_KERNEL_H
#define KERNELS_KERNEL_H

#include "campaign/campaign.h"
#include "core/registry.h"

/* The kernel of a variant as found before the first boot. */
struct kernel_found {
	const char *identity, *release, *version, *image_sha256, *source, *image, *build_id;
	const char *commit;    /* of a git tree, else what the user states; may be NULL */
	const char *config;    /* file with the configuration it was built with, or NULL */
	const char *build_log; /* of a kernel that was built here, or NULL */
	const char *modules;   /* folder with all of a package's, if they were wanted, or NULL */
	const char *folder;    /* of a program's source, built; NULL: the variant has none */
	const char *unit;      /* of the cache, locked until the program ends; or NULL */
	const char *error;     /* NULL, or no_kernel, no_source: this variant cannot be measured */
	const char *message;   /* why */
};

struct kernel_options {
	/* A line for people while something slow goes on; may be NULL. */
	void (*note)(const char *text);
	bool boots_vmlinux;  /* the backend boots an uncompressed vmlinux by its PVH note */
	bool installed_only; /* a name (uname -r) is enough: somebody else boots it */
	bool modules; /* of a package are wanted too */
	bool peeks; /* nothing is built: what is not in the cache is "no_kernel" */
};

/*
 * Finds, fetches or builds the kernel of a variant: the only entry for backends. v without a kernel
 * of its own is the running one. What a variant alone suffers from - a download that broke, a patch
 * that does not apply, a build that failed - is no error of the campaign: the call returns 0 with
 * k->error "no_kernel", k->message (with the path of the log) and an identity that a later,
 * luckier call has too. -EINVAL and -ENOENT are for what the campaign file says wrongly (with the
 * position of the variant), -EINTR for a signal. What was found stays in the cache until the
 * program ends, whatever others build.
 */
int kernel_find(struct arena *a, const struct campaign_config *c, const struct variant_config *v,
		const struct kernel_options *opt, struct kernel_found *k, struct err *e);

/*
 * Looks for mistakes of all variants before the first slow step: files, patches, refs of local
 * repositories. Nothing is fetched or built. Several errors are reported together.
 */
int kernel_check(struct arena *a, const struct campaign_config *c, struct err *e);

/*
 * One phrase for a plan: "git v6.12-rc3 (1f2a...) of /src/linux + 2 patches, tinyconfig + 1
 * fragment: to be built". Looks into the cache, but fetches nothing.
 */
char *kernel_describe(struct arena *a, const struct variant_config *v,
		      const struct kernel_options *opt);

/* ---- for the kinds of source ---- */

struct kernel_request {
	struct arena *a;
	const struct variant_config *v;
	const struct kernel_options *opt;
	struct err *e;
};

struct kernel_source {
	const char *name; /* of the key in `kernel:` */
	/* Whether the variant names this kind. */
	bool (*is_named)(const struct variant_config *v);
	int (*find)(const struct kernel_request *r, struct kernel_found *k);
	/* May be NULL: nothing to check before. */
	int (*check)(const struct kernel_request *r);
	char *(*describe)(const struct kernel_request *r);
};

REGISTRY(kernel_source);

/* Identity of a kernel of which only the words in the campaign file are known. */
char *kernel_pending_identity(struct arena *a, const struct variant_config *v);
/*
 * Whether an error is one of the campaign, as opposed to bad luck with a variant; then it becomes
 * one of e, with its place in the file.
 */
bool kernel_pass_on(const struct campaign_config *c, const struct variant_config *v, int ret,
		    const struct err *why, struct err *e);
/* All that went wrong, hints included, as one text. */
char *kernel_error_text(struct arena *a, const struct err *why);
void kernel_note(const struct kernel_request *r, const char *fmt, ...) _printf_(2, 3);

/*
 * A package, or a meta package that is followed through its linux-image-* dependency; "NAME" or
 * "NAME=VERSION". Nothing is installed; what is in the cache is neither downloaded nor unpacked
 * again. k->source becomes "deb linux-image-6.1.0-57-cloud-amd64 6.1.192-3".
 * -ENOENT: no such package; the hint names the nearest or says how to get the package lists.
 */
int kernel_find_deb(struct arena *a, const char *package, const struct kernel_options *opt,
		    struct kernel_found *k, struct err *e);

/* A bzImage or a vmlinux; anything else is -EINVAL. */
int kernel_find_image(struct arena *a, const char *path, struct kernel_found *k, struct err *e);

/*
 * "6.1.0-57-cloud-amd64 (debian-kernel@...) #1 SMP ...": of a bzImage the text that the field
 * kernel_version of its header points to (Documentation/arch/x86/boot.rst of the kernel), of a
 * vmlinux its banner. The first word is what `uname -r` has to say.
 */
int kernel_read_version(struct arena *a, const char *path, const char **version, struct err *e);

#endif
