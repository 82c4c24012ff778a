// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/host.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/num.h"
#include "machine/rooted.h"

/* In tests the files of another machine lie below $KDELTA_MACHINE. */
static const char *at_root(struct arena *a, const char *path)
{
	const char *root = getenv("KDELTA_MACHINE");

	return root && *root ? arena_printf(a, "%s%s", root, path) : path;
}

/* First line of a file of /proc or /sys, "" where it cannot be read. */
static char *read_line(struct arena *a, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (file_read_line(at_root(a, path), &sb))
		return arena_strdup(a, "");
	return arena_strdup(a, strbuf_str(&sb));
}

/*
 * Build-id of an ELF notes file: records of name size, description size, type (32 bits each), then
 * name and description padded to 4 bytes; the one with name "GNU" and type NT_GNU_BUILD_ID.
 */
static char *notes_build_id(struct arena *a, const char *path)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT, hex = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	size_t at = 0;

	if (file_read(path, 1 << 20, &notes, &ignored))
		return arena_strdup(a, "");
	while (at + sizeof(Elf64_Nhdr) <= notes.len) {
		size_t name = at + sizeof(Elf64_Nhdr), description, i;
		Elf64_Nhdr h;

		memcpy(&h, notes.buf + at, sizeof(h));
		description = name + ((size_t)h.n_namesz + 3) / 4 * 4;
		at = description + ((size_t)h.n_descsz + 3) / 4 * 4;
		if (at > notes.len)
			break;
		if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 ||
		    memcmp(notes.buf + name, "GNU", 4))
			continue;
		for (i = 0; i < h.n_descsz; i++)
			strbuf_addf(&hex, "%02x", (unsigned char)notes.buf[description + i]);
		break;
	}
	return arena_strdup(a, strbuf_str(&hex));
}

void machine_read_kernel(struct arena *a, struct running_kernel *k)
{
	*k = (struct running_kernel){
		.release = read_line(a, "/proc/sys/kernel/osrelease"),
		.version = read_line(a, "/proc/sys/kernel/version"),
		.build_id = notes_build_id(a, at_root(a, "/sys/kernel/notes")),
		.boot_id = read_line(a, "/proc/sys/kernel/random/boot_id"),
		.clocksource = read_line(
			a, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		.cmdline = read_line(a, "/proc/cmdline"),
	};
}

/* The value of the first line "key<blanks>: value", as in /proc/cpuinfo and /proc/meminfo. */
static char *proc_value(struct arena *a, const char *path, const char *key)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_err_ struct err ignored = ERR_INIT;
	char *value;

	if (file_read(path, 1 << 24, &text, &ignored))
		return arena_strdup(a, "");
	value = rooted_value(a, (struct span){strbuf_str(&text), text.len}, key);
	return value ? value : arena_strdup(a, "");
}

int cpulist_count(const char *list, int *highest)
{
	struct span rest = span_trim(span_of(list));
	int64_t first, last;
	int count = 0;

	*highest = -1;
	while (rest.len) {
		if (!num_next_range(&rest, &first, &last, NULL) || last > 65535)
			return -1;
		count += (int)(last - first) + 1;
		*highest = MAX(*highest, (int)last);
	}
	return count ? count : -1;
}

int machine_cpus(void)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int highest, n = -1;

	if (!file_read_line("/sys/devices/system/cpu/online", &sb))
		n = cpulist_count(strbuf_str(&sb), &highest);
	return n > 0 ? n : (int)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
}

char *machine_node_cpus(struct arena *a, int node)
{
	char *list = read_line(a, arena_printf(a, "/sys/devices/system/node/node%d/cpulist", node));

	return *list ? list : NULL;
}

static int machine_nodes(void)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int highest, n = -1;

	if (!file_read_line("/sys/devices/system/node/online", &sb))
		n = cpulist_count(strbuf_str(&sb), &highest);
	return MAX(n, 1);
}

/* Memory in GiB, rounded: what a kernel keeps for itself differs a little between kernels. */
static int machine_memory(struct arena *a)
{
	struct span kib = span_of(proc_value(a, "/proc/meminfo", "MemTotal")), number;
	double v;

	if (!span_next_word(&kib, &number) || !num_parse(number, &v))
		return 0;
	return (int)(v / (1 << 20) + 0.75);
}

void machine_read(struct arena *a, struct db_machine *m)
{
	char *model = proc_value(a, "/proc/cpuinfo", "model name"), *text;
	char *product = read_line(a, "/sys/class/dmi/id/product_name");
	char *host = read_line(a, "/proc/sys/kernel/hostname");
	int cpus = machine_cpus(), nodes = machine_nodes(), memory = machine_memory(a);
	char hex[65];

	if (!*model)
		model = arena_strdup(a, "unknown processor");
	text = arena_printf(a, "%s\n%d\n%d\n%d\n%s\n%s\n", model, cpus, nodes, memory, product,
			    host);
	data_sha256(text, strlen(text), hex);
	*m = (struct db_machine){
		.fingerprint = arena_strndup(a, hex, 16),
		.name = host,
		.description =
			arena_printf(a, "%d CPU%s, %s, %d GiB%s", cpus, cpus == 1 ? "" : "s", model,
				     memory, nodes > 1 ? arena_printf(a, ", %d nodes", nodes) : ""),
	};
}
