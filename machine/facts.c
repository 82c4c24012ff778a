// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/facts.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "core/str.h"
#include "machine/cgroup.h"
#include "machine/kconfig.h"
#include "machine/rooted.h"

enum { TEXT_LIMIT = 1 << 20, VALUE_LIMIT = 400, MAX_PATHS = 8192 };

enum kind {
	LINE,	/* the first line of the file */
	CHOICE, /* the word in brackets of "always [madvise] never" */
	EACH,	/* of all files that match: their lines, equal ones once, with CPUs or names */
	NAMED,	/* a fact for each file that matches, its name behind the key */
	LISTS,	/* of all files that match: the different lists in them, "0-63 64-127" */
};

struct source {
	const char *key, *title;
	enum kind kind;
	const char *path; /* several, separated by blanks: the first that is there */
};

#define CPU "/sys/devices/system/cpu/"
#define SCHED "/sys/kernel/debug/sched/"

static const struct source sources[] = {
	{"cpu.online", "CPUs online", LINE, CPU "online"},
	{"cpu.isolated", "isolated CPUs", LINE, CPU "isolated"},
	{"cpu.nohz_full", "CPUs without a tick", LINE, CPU "nohz_full"},
	{"cpu.smt", "SMT", LINE, CPU "smt/control"},
	{"cpu.threads", "CPUs that share a core", LISTS,
	 CPU "cpu[0-9]*/topology/thread_siblings_list"},
	{"cpu.cluster", "CPUs that share a cluster", LISTS,
	 CPU "cpu[0-9]*/topology/cluster_cpus_list"},
	{"cpu.l2", "CPUs that share an L2 cache", LISTS,
	 CPU "cpu[0-9]*/cache/index2/shared_cpu_list"},
	{"cpu.llc", "CPUs that share the last cache", LISTS,
	 CPU "cpu[0-9]*/cache/index3/shared_cpu_list"},
	{"cpu.package", "CPUs of a package", LISTS, CPU "cpu[0-9]*/topology/package_cpus_list"},
	{"vulnerability", "mitigation", NAMED, CPU "vulnerabilities/*"},
	{"cpufreq.driver", "frequency driver", EACH, CPU "cpu[0-9]*/cpufreq/scaling_driver"},
	{"cpufreq.governor", "frequency governor", EACH, CPU "cpu[0-9]*/cpufreq/scaling_governor"},
	{"cpufreq.min", "least frequency, kHz", EACH, CPU "cpu[0-9]*/cpufreq/scaling_min_freq"},
	{"cpufreq.max", "largest frequency, kHz", EACH, CPU "cpu[0-9]*/cpufreq/scaling_max_freq"},
	{"cpufreq.preference", "energy preference", EACH,
	 CPU "cpu[0-9]*/cpufreq/energy_performance_preference"},
	{"cpufreq.no_turbo", "turbo off", LINE, CPU "intel_pstate/no_turbo"},
	{"cpufreq.boost", "boost", LINE, CPU "cpufreq/boost"},
	{"cpufreq.pstate", "P-state driver", LINE,
	 CPU "intel_pstate/status " CPU "amd_pstate/status"},
	{"cpuidle.driver", "idle driver", LINE, CPU "cpuidle/current_driver"},
	{"cpuidle.governor", "idle governor", LINE,
	 CPU "cpuidle/current_governor " CPU "cpuidle/current_governor_ro"},
	{"cpuidle.state", "idle state", NAMED, CPU "cpu0/cpuidle/state*/name"},
	{"cpuidle.disabled", "idle state off", NAMED, CPU "cpu0/cpuidle/state*/disable"},
	{"numa.nodes", "NUMA nodes", LINE, "/sys/devices/system/node/online"},
	{"numa.cpus", "CPUs of node", NAMED, "/sys/devices/system/node/node[0-9]*/cpulist"},
	{"numa.distance", "distances of node", NAMED,
	 "/sys/devices/system/node/node[0-9]*/distance"},
	{"numa.balancing", "NUMA balancing", LINE, "/proc/sys/kernel/numa_balancing"},
	{"sched.domain", "scheduler domain", NAMED, SCHED "domains/cpu0/domain*/name"},
	{"sched.flags", "flags of domain", NAMED, SCHED "domains/cpu0/domain*/flags"},
	{"sched.min_interval", "least interval of domain", NAMED,
	 SCHED "domains/cpu0/domain*/min_interval"},
	{"sched.max_interval", "largest interval of domain", NAMED,
	 SCHED "domains/cpu0/domain*/max_interval"},
	{"sched.features", "scheduler features", LINE,
	 SCHED "features /sys/kernel/debug/sched_features"},
	{"sched.preempt", "preemption", CHOICE, SCHED "preempt"},
	{"sched.knob", "scheduler knob", NAMED, SCHED "*_ns"},
	{"sched.nr_migrate", "scheduler knob nr_migrate", LINE, SCHED "nr_migrate"},
	{"sched.tunable_scaling", "scheduler knob tunable_scaling", LINE,
	 SCHED "tunable_scaling"},
	{"sched.sysctl", "sysctl", NAMED, "/proc/sys/kernel/sched_*"},
	{"memory.thp", "transparent huge pages", CHOICE,
	 "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"memory.thp_defrag", "defragmentation for huge pages", CHOICE,
	 "/sys/kernel/mm/transparent_hugepage/defrag"},
	{"memory.ksm", "merging of equal pages", LINE, "/sys/kernel/mm/ksm/run"},
	{"memory.swappiness", "swappiness", LINE, "/proc/sys/vm/swappiness"},
	{"memory.zone_reclaim", "zone reclaim", LINE, "/proc/sys/vm/zone_reclaim_mode"},
	{"memory.overcommit", "overcommitting", LINE, "/proc/sys/vm/overcommit_memory"},
	{"kernel.aslr", "address randomisation", LINE, "/proc/sys/kernel/randomize_va_space"},
	{"kernel.watchdog", "watchdog", LINE, "/proc/sys/kernel/watchdog"},
	{"kernel.nmi_watchdog", "NMI watchdog", LINE, "/proc/sys/kernel/nmi_watchdog"},
	{"kernel.timer_migration", "timer migration", LINE, "/proc/sys/kernel/timer_migration"},
	{"kernel.lsm", "security modules", LINE, "/sys/kernel/security/lsm"},
	{"kernel.tainted", "taint", LINE, "/proc/sys/kernel/tainted"},
	{"kernel.lockdown", "lockdown", CHOICE, "/sys/kernel/security/lockdown"},
	{"clocksource.available", "clock sources", LINE,
	 "/sys/devices/system/clocksource/clocksource0/available_clocksource"},
	{"machine.product", "product", LINE, "/sys/class/dmi/id/product_name"},
	{"machine.bios", "firmware", LINE, "/sys/class/dmi/id/bios_version"},
};

struct facts {
	struct arena *a;
	const char *root;
	ARRAY_OF(struct machine_fact) list;
};

static void add(struct facts *f, const char *key, const char *value)
{
	struct machine_fact *fact;
	char *text;
	size_t len;

	if (!value || !*value)
		return;
	len = strlen(value);
	text = arena_printf(f->a, "%.*s%s", VALUE_LIMIT, value, len > VALUE_LIMIT ? "..." : "");
	str_mask_controls(text, strlen(text), ' ');
	fact = ARRAY_PUSH(&f->list);
	*fact = (struct machine_fact){key, text};
}

static const char *chosen(struct arena *a, const char *line)
{
	const char *open = line ? strchr(line, '[') : NULL;
	const char *close = open ? strchr(open, ']') : NULL;

	return close ? arena_strndup(a, open + 1, (size_t)(close - open - 1)) : line;
}

/* What '*' or "[0-9]*" stood for in the last part of a path that has one: "spectre_v2", "node1". */
static const char *matched_name(struct arena *a, const char *pattern, const char *path)
{
	struct span in = span_of(path);
	const char *star = strrchr(pattern, '*');
	size_t depth = 0, i;
	const char *p;

	for (p = pattern; p < star; p++)
		depth += *p == '/';
	for (i = 0; i < in.len && depth; i++)
		depth -= in.s[i] == '/';
	return arena_strndup(a, in.s + i, strcspn(in.s + i, "/"));
}

static void add_named(struct facts *f, const struct source *s)
{
	size_t n, i;
	char **paths = rooted_glob(f->a, f->root, s->path, MAX_PATHS, &n);

	for (i = 0; i < n; i++)
		add(f, arena_printf(f->a, "%s.%s", s->key, matched_name(f->a, s->path, paths[i])),
		    rooted_line(f->a, f->root, paths[i]));
}

static void add_different(struct facts *f, const struct source *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t kinds, k;
	struct rooted_count *list = rooted_lines(f->a, f->root, s->path, &kinds);

	for (k = 0; k < kinds && sb.len < VALUE_LIMIT; k++) {
		strbuf_addf(&sb, "%s%s", k ? " " : "", list[k].line);
		if (s->kind == EACH && kinds > 1)
			strbuf_addf(&sb, " (%zu CPUs)", list[k].files);
	}
	add(f, s->key, strbuf_str(&sb));
}

static void add_source(struct facts *f, const struct source *s)
{
	struct span rest = span_of(s->path), word;
	const char *line = NULL;

	if (s->kind == NAMED) {
		add_named(f, s);
		return;
	}
	if (s->kind == EACH || s->kind == LISTS) {
		add_different(f, s);
		return;
	}
	while (!line && span_next_word(&rest, &word))
		line = rooted_line(f->a, f->root, arena_strndup(f->a, word.s, word.len));
	add(f, s->key, s->kind == CHOICE ? chosen(f->a, line) : line);
}

/* ---- what takes more than a file's first line ---- */

static void add_cpuinfo(struct facts *f)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *model, *flags;
	struct span text;

	rooted_read(f->root, "/proc/cpuinfo", TEXT_LIMIT, &sb);
	text = (struct span){strbuf_str(&sb), sb.len};
	model = rooted_value(f->a, text, "model name");
	if (!model) /* arm64 has numbers only */
		model = rooted_value(f->a, text, "CPU part");
	flags = rooted_value(f->a, text, "flags");
	add(f, "cpu.model", model);
	add(f, "cpu.microcode", rooted_value(f->a, text, "microcode"));
	add(f, "machine.virtual",
	    flags && strstr(flags, " hypervisor") ? "a hypervisor is below" : NULL);
}

/* Linux version 6.1.0 (user@host) (gcc (GCC) 15.3.0, GNU ld (GNU Binutils) 2.46) #1 SMP ... */
static void add_compiler(struct facts *f)
{
	const char *line = rooted_line(f->a, f->root, "/proc/version");
	const char *open = line ? strstr(line, ") (") : NULL, *end = open ? strstr(open, ") #") : NULL;

	if (end && end > open + 3)
		add(f, "kernel.compiler",
		    arena_strndup(f->a, open + 3, (size_t)(end - open - 3)));
}

/* The command line without what boot loaders and we add: which image it is, and which boot. */
static void add_boot_options(struct facts *f)
{
	static const char *const own[] = {"BOOT_IMAGE=", "initrd=", "kdelta.boot="};
	const char *line = rooted_line(f->a, f->root, "/proc/cmdline");
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(line ? line : ""), word;
	size_t i;

	while (span_next_word(&rest, &word)) {
		for (i = 0; i < ARRAY_SIZE(own) && !span_starts(word, own[i]); i++)
			;
		if (i == ARRAY_SIZE(own))
			strbuf_addf(&sb, "%s%.*s", sb.len ? " " : "", (int)word.len, word.s);
	}
	add(f, "kernel.options", line && !sb.len ? "none" : arena_strdup(f->a, strbuf_str(&sb)));
}

/*
 * Two releases always differ here, which is the kernels' own difference; the release is part of the
 * key, so that only builds of one are compared.
 */
static void add_config(struct facts *f)
{
	const char *release = rooted_line(f->a, f->root, "/proc/sys/kernel/osrelease");
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char hex[65];

	if (!release || kconfig_read(f->a, f->root, &text, NULL))
		return;
	data_sha256(strbuf_str(&text), text.len, hex);
	add(f, arena_printf(f->a, "kernel.config.%.64s", release), arena_strndup(f->a, hex, 12));
}

/* "CONFIG" of a mount point as the mount table writes it: blanks are \040. */
static bool is_below(const char *dir, struct span mount)
{
	size_t len = mount.len;

	if (len == 1 && *mount.s == '/')
		return true;
	return !strncmp(dir, mount.s, len) && (!dir[len] || dir[len] == '/');
}

/* /dev/vda / ext4 rw,relatime 0 0: the longest mount point that the folder is below. */
static void add_file_system(struct facts *f, const char *dir)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, line, word[4];
	size_t best = 0, n;
	const char *value = NULL;

	rooted_read(f->root, "/proc/self/mounts", TEXT_LIMIT, &sb);
	rest = (struct span){strbuf_str(&sb), sb.len};
	while (dir && span_next_line(&rest, &line, NULL)) {
		for (n = 0; n < ARRAY_SIZE(word) && span_next_word(&line, &word[n]); n++)
			;
		if (n < ARRAY_SIZE(word) || word[1].len < best || !is_below(dir, word[1]))
			continue;
		best = word[1].len;
		value = arena_printf(f->a, "%.*s %.*s", (int)word[2].len, word[2].s,
				     (int)word[3].len, word[3].s);
	}
	add(f, "machine.filesystem", value);
}

static void add_cgroup(struct facts *f)
{
	static const struct {
		const char *key, *controller, *file;
	} limits[] = {
		{"cgroup.cpu.max", "", "cpu.max"},
		{"cgroup.cpu.weight", "", "cpu.weight"},
		{"cgroup.cpuset", "", "cpuset.cpus.effective"},
		{"cgroup.memory.max", "", "memory.max"},
		{"cgroup.cpu.quota", "cpu", "cpu.cfs_quota_us"},
		{"cgroup.cpu.shares", "cpu", "cpu.shares"},
		{"cgroup.cpuset", "cpuset", "cpuset.effective_cpus"},
		{"cgroup.memory.limit", "memory", "memory.limit_in_bytes"},
	};
	const char *folder;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		folder = cgroup_folder(f->a, f->root, limits[i].controller);
		if (folder)
			add(f, limits[i].key,
			    rooted_line(f->a, f->root,
					arena_printf(f->a, "%s/%s", folder, limits[i].file)));
	}
}

struct machine_fact *machine_read_facts(struct arena *a, const char *root, const char *dir,
					size_t *n)
{
	struct facts f = {.a = a, .root = root};
	struct machine_fact *list;
	size_t i;

	add_cpuinfo(&f);
	add_compiler(&f);
	add_config(&f);
	add_boot_options(&f);
	for (i = 0; i < ARRAY_SIZE(sources); i++)
		add_source(&f, &sources[i]);
	add_cgroup(&f);
	add_file_system(&f, dir);
	*n = f.list.n;
	list = arena_copy(a, f.list.items, f.list.n, sizeof(*list));
	ARRAY_FREE(&f.list);
	return list;
}

/* "mitigation meltdown" of the key "vulnerability.meltdown", whose source is "vulnerability". */
const char *machine_fact_title(struct arena *a, const char *key)
{
	static const struct {
		const char *key, *title;
	} others[] = {
		{"cpu.model", "CPU model"},
		{"cpu.microcode", "CPU microcode"},
		{"kernel.compiler", "compiler of the kernel"},
		{"kernel.options", "boot options"},
		{"machine.virtual", "virtual machine"},
		{"libc", "C library"},
		{"machine.filesystem", "file system of the work folder"},
		{"cgroup.cpu.max", "CPU limit of the control group"},
		{"cgroup.cpuset", "CPUs of the control group"},
		{"cgroup.memory.max", "memory limit of the control group"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		size_t len = strlen(sources[i].key);

		if (!strcmp(sources[i].key, key))
			return sources[i].title;
		if (sources[i].kind == NAMED && str_starts(key, sources[i].key) && key[len] == '.')
			return arena_printf(a, "%s %s", sources[i].title, key + len + 1);
	}
	if (str_starts(key, "program."))
		return arena_printf(a, "build of %s", key + strlen("program."));
	if (str_starts(key, "kernel.config."))
		return arena_printf(a, "configuration of %s", key + strlen("kernel.config."));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].key, key))
			return others[i].title;
	return key;
}
