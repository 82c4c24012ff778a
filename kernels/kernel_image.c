// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernels that are there already: a file, a name that somebody boots, the running one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/kernel.h"
#include "machine/host.h"

/* The NUL-terminated text at pos, or NULL. */
static const char *text_at(struct arena *a, const char *data, size_t size, size_t pos)
{
	const char *end = pos < size ? memchr(data + pos, '\0', MIN(size - pos, 512)) : NULL;

	return end && end > data + pos ? arena_strdup(a, data + pos) : NULL;
}

static const char *bzimage_version(struct arena *a, const char *data, size_t size)
{
	uint16_t offset;

	if (size < 0x210 || memcmp(data + 0x1fe, "\x55\xaa", 2) || memcmp(data + 0x202, "HdrS", 4))
		return NULL;
	memcpy(&offset, data + 0x20e, sizeof(offset));
	return offset ? text_at(a, data, size, (size_t)offset + 0x200) : NULL;
}

/* "Linux version 6.1.192-kdelta (user@host) (gcc ...) #1 SMP ..." */
static const char *vmlinux_version(struct arena *a, const char *data, size_t size)
{
	static const char banner[] = "Linux version ";
	const char *p = data;

	if (size < 64 || memcmp(data,
				"\x7f"
				"ELF",
				4))
		return NULL;
	while ((p = memmem(p, size - (size_t)(p - data), banner, strlen(banner)))) {
		p += strlen(banner);
		if (p < data + size && *p >= '0' && *p <= '9')
			return text_at(a, data, size, (size_t)(p - data));
	}
	return NULL;
}

int kernel_read_version(struct arena *a, const char *path, const char **version, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	*version = NULL;
	if (fd < 0)
		return err_add_errno(e, "cannot open the kernel %s", path);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			*version = bzimage_version(a, data, (size_t)st.st_size);
			if (!*version)
				*version = vmlinux_version(a, data, (size_t)st.st_size);
			munmap(data, (size_t)st.st_size);
		}
	}
	close(fd);
	if (*version)
		return 0;
	err_add(e, -EINVAL, "%s is not a kernel: neither a bzImage nor a vmlinux", path);
	err_hint(e, "give an x86 image such as /boot/vmlinuz-VERSION");
	return -EINVAL;
}

int kernel_find_image(struct arena *a, const char *path, struct kernel_found *k, struct err *e)
{
	char hex[65];
	int r = kernel_read_version(a, path, &k->version, e);

	if (!r)
		r = file_sha256(path, hex, e);
	if (r)
		return r;
	k->image = arena_strdup(a, path);
	k->source = k->image;
	k->image_sha256 = arena_strdup(a, hex);
	k->identity = arena_strndup(a, hex, 16);
	k->release = arena_strndup(a, k->version, strcspn(k->version, " "));
	return 0;
}

static bool names_image(const struct variant_config *v)
{
	return v->image;
}

static int find_image(const struct kernel_request *r, struct kernel_found *k)
{
	return kernel_find_image(r->a, r->v->image, k, r->e);
}

static int check_image(const struct kernel_request *r)
{
	const char *version;

	return kernel_read_version(r->a, r->v->image, &version, r->e);
}

static char *describe_image(const struct kernel_request *r)
{
	return arena_printf(r->a, "image %s", r->v->image);
}

static const struct kernel_source image_source = {
	.name = "image",
	.is_named = names_image,
	.find = find_image,
	.check = check_image,
	.describe = describe_image,
};
REGISTER(kernel_source, image_source);

/* ---- an installed kernel that is known by its name only ---- */

static bool names_release(const struct variant_config *v)
{
	return v->release;
}

/* What it really is shows when it runs. */
static int find_release(const struct kernel_request *r, struct kernel_found *k)
{
	char *text = arena_printf(r->a, "release %s", r->v->release), hex[65];

	data_sha256(text, strlen(text), hex);
	k->identity = arena_strndup(r->a, hex, 16);
	k->release = r->v->release;
	k->source = text;
	return 0;
}

static char *describe_release(const struct kernel_request *r)
{
	return arena_printf(r->a, "release %s", r->v->release);
}

static const struct kernel_source release_source = {
	.name = "release",
	.is_named = names_release,
	.find = find_release,
	.describe = describe_release,
};
REGISTER(kernel_source, release_source);

/* ---- the running kernel ---- */

static bool names_running(const struct variant_config *v)
{
	return v->running;
}

static char *running_image(const struct kernel_request *r)
{
	struct running_kernel now;

	machine_read_kernel(r->a, &now);
	return arena_printf(r->a, "/boot/vmlinuz-%s", now.release);
}

/* As it runs; or its image, for those who boot it elsewhere. */
static int find_running(const struct kernel_request *r, struct kernel_found *k)
{
	struct running_kernel now;
	char *text, hex[65], *image = running_image(r);
	int ret;

	if (!r->opt->installed_only) {
		ret = kernel_find_image(r->a, image, k, r->e);
		if (ret)
			err_hint(r->e, "a guest boots the image of the running kernel; name a copy "
				       "that is there and readable with image: PATH");
		return ret;
	}
	machine_read_kernel(r->a, &now);
	text = arena_printf(r->a, "%s\n%s\n%s\n", now.build_id, now.release, now.version);
	data_sha256(text, strlen(text), hex);
	k->identity = arena_strndup(r->a, hex, 16);
	k->release = now.release;
	k->version = now.version;
	k->build_id = now.build_id;
	k->source = "running";
	return 0;
}

static char *describe_running(const struct kernel_request *r)
{
	return arena_strdup(r->a, "the running kernel");
}

static const struct kernel_source running_source = {
	.name = "running",
	.is_named = names_running,
	.find = find_running,
	.describe = describe_running,
};
REGISTER(kernel_source, running_source);
