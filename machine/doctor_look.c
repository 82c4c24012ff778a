// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/doctor_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/num.h"
#include "machine/cgroup.h"
#include "machine/doctor_usage.h"
#include "machine/kconfig.h"
#include "machine/rooted.h"

#define CPU "/sys/devices/system/cpu/"

enum { MAX_PATHS = 8192, DEEP_IDLE = 20, PERCENT = 100 };

static char **glob_paths(struct doctor *d, const char *pattern, size_t *n)
{
	return rooted_glob(d->a, d->root, pattern, MAX_PATHS, n);
}

/* The file "name" beside "path". */
static const char *line_beside(struct doctor *d, const char *path, const char *name)
{
	int folder = (int)(strrchr(path, '/') - path);

	return rooted_line(d->a, d->root, arena_printf(d->a, "%.*s/%s", folder, path, name));
}

static bool number_beside(struct doctor *d, const char *path, const char *name, double *v)
{
	const char *line = line_beside(d, path, name);

	return line && num_parse(span_of(line), v);
}

/* The first word of a file's first line. */
static bool first_number(struct doctor *d, const char *path, double *v)
{
	const char *line = rooted_line(d->a, d->root, path);
	struct span rest = span_of(line ? line : ""), word;

	return span_next_word(&rest, &word) && num_parse(word, v);
}

/* MemTotal:      498372 kB */
static bool meminfo_gib(struct doctor *d, const char *key, double *gib)
{
	const char *line = rooted_value(d->a, d->meminfo, key);
	struct span rest = span_of(line ? line : ""), word;
	double kib;

	if (!span_next_word(&rest, &word) || !num_parse(word, &kib))
		return false;
	*gib = kib / (1 << 20);
	return true;
}

static void add_word(struct strbuf *sb, const char *word)
{
	strbuf_addf(sb, "%s%s", sb->len ? ", " : "", word);
}

/* Bad where anything is in the list. */
static void tell_list(struct doctor *d, struct doctor_result *r, const struct strbuf *list)
{
	doctor_tell(d, r, list->len > 0, "%s", list->len ? list->buf : "none");
}

/* ---- CPUs ---- */

void look_limits(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t n, i, limited = 0, known = 0;
	char **paths = glob_paths(d, CPU "cpu[0-9]*/cpufreq/scaling_max_freq", &n);
	double limit, most, lowest = INFINITY;

	(void)c;
	for (i = 0; i < n; i++) {
		if (!rooted_number(d->root, paths[i], &limit) ||
		    !number_beside(d, paths[i], "cpuinfo_max_freq", &most))
			continue;
		known++;
		limited += limit < most;
		lowest = fmin(lowest, limit);
	}
	if (!known)
		doctor_absent(r, NULL);
	else if (limited)
		doctor_tell(d, r, true, "%zu CPUs below their maximum, down to %.0f MHz", limited,
			    lowest / 1000);
	else
		doctor_tell(d, r, false, "none");
}

void look_idle(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t n, i;
	char **paths = glob_paths(d, CPU "cpu0/cpuidle/state*/latency", &n);
	double latency, off, deepest = -1;
	const char *name = NULL;

	(void)c;
	for (i = 0; i < n; i++) {
		if (!rooted_number(d->root, paths[i], &latency) || latency <= deepest ||
		    (number_beside(d, paths[i], "disable", &off) && off != 0))
			continue;
		deepest = latency;
		name = line_beside(d, paths[i], "name");
	}
	if (deepest < 0)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, deepest > DEEP_IDLE, "%s, %.0f us to wake up", name ? name : "?",
			    deepest);
}

/* x86 has a PMU for each kind of core; arm64 and newer x86 tell the capacity of each CPU. */
void look_hybrid(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	const char *core = rooted_line(d->a, d->root, "/sys/devices/cpu_core/cpus");
	const char *atom = rooted_line(d->a, d->root, "/sys/devices/cpu_atom/cpus");
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n, i;
	struct rooted_count *list;

	(void)c;
	if (core && atom) {
		doctor_tell(d, r, true, "performance %s, efficiency %s", core, atom);
		return;
	}
	list = rooted_lines(d->a, d->root, CPU "cpu[0-9]*/cpu_capacity", &n);
	for (i = 0; i < n; i++)
		add_word(&sb, arena_printf(d->a, "%zu of capacity %s", list[i].files,
					   list[i].line));
	doctor_tell(d, r, n > 1, "%s", n > 1 ? sb.buf : "one");
}

/* Cpus_allowed_list: of this program, which taskset, cpusets and containers narrow. */
void look_allowed(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *list;
	struct span rest;
	int64_t first, last;
	double n = 0;

	(void)c;
	rooted_read(d->root, "/proc/self/status", 1 << 16, &sb);
	list = rooted_value(d->a, (struct span){strbuf_str(&sb), sb.len}, "Cpus_allowed_list");
	rest = span_of(list ? list : "");
	while (num_next_range(&rest, &first, &last, NULL))
		n += (double)(last - first) + 1;
	if (!n)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, n < d->cpus, "%.0f of %.0f", fmin(n, d->cpus), d->cpus);
}

void look_microcode(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = d->cpuinfo, line;
	const char *first = NULL, *level;
	bool differ = false;

	(void)c;
	while (span_next_line(&rest, &line, NULL)) {
		level = span_starts(line, "microcode") ? rooted_value(d->a, line, "microcode")
						       : NULL;
		if (level && (!first || (strcmp(level, first) && !differ))) {
			differ = first != NULL;
			first = first ? first : level;
			add_word(&sb, level);
		}
	}
	if (!first)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, differ, "%s", sb.buf);
}

void look_mitigations(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t n, i, on = 0, open = 0;
	struct rooted_count *list = rooted_lines(d->a, d->root, CPU "vulnerabilities/*", &n);

	(void)c;
	for (i = 0; i < n; i++) {
		on += str_starts(list[i].line, "Mitigation") ? list[i].files : 0;
		open += str_starts(list[i].line, "Vulnerable") ? list[i].files : 0;
	}
	if (!n)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, on + open > 0, "%zu on, %zu holes left open", on, open);
}

void look_throttled(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t n, i;
	char **paths = glob_paths(d, CPU "cpu[0-9]*/thermal_throttle/core_throttle_count", &n);
	double v, sum = 0;

	(void)c;
	for (i = 0; i < n; i++)
		sum += rooted_number(d->root, paths[i], &v) ? v : 0;
	if (!n)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, sum > 0, "%.0f times since boot", sum);
}

/* The batteries of mice and the like have the scope "Device". */
void look_battery(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t n, i, ours = 0;
	char **paths = glob_paths(d, "/sys/class/power_supply/*/status", &n);
	bool drains = false;

	(void)c;
	for (i = 0; i < n; i++) {
		if (str_equal(line_beside(d, paths[i], "scope"), "Device"))
			continue;
		ours++;
		drains |= str_equal(rooted_line(d->a, d->root, paths[i]), "Discharging");
	}
	if (!ours)
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, drains, "%s", drains ? "battery" : "mains");
}

/* ---- who else runs ---- */

/* The kernel cuts names after 15 characters: "power-profiles-". */
static bool is_named(const char *comm, struct span name)
{
	return strlen(comm) == MIN(name.len, (size_t)15) && span_starts(name, comm);
}

void look_running(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(c->good), name;
	size_t i;

	while (span_next_word(&rest, &name)) {
		for (i = 0; i < d->n_comms && !is_named(d->comms[i], name); i++)
			;
		if (i < d->n_comms)
			add_word(&sb, arena_strndup(d->a, name.s, name.len));
	}
	tell_list(d, r, &sb);
}

void look_busy(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	(void)c;
	if (!d->usage) {
		doctor_absent(r, "no time passed between two looks");
		return;
	}
	doctor_tell(d, r, d->usage->busy > 0.1 + 0.02 * d->cpus, "%.1f of %.0f", d->usage->busy,
		    d->cpus);
	if (d->usage->busy > 0.5 * d->cpus)
		r->state = DOCTOR_FAIL;
}

void look_top(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	(void)c;
	if (!d->usage)
		doctor_absent(r, "no time passed between two looks");
	else if (d->usage->who)
		doctor_tell(d, r, d->usage->top > 0.05, "%.0f%% of a CPU: %s",
			    d->usage->top * PERCENT, d->usage->who);
	else
		doctor_tell(d, r, false, "none");
}

void look_load(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	double load;

	(void)c;
	if (first_number(d, "/proc/loadavg", &load))
		doctor_tell(d, r, load > 0.3 + 0.05 * d->cpus, "%.2f on %.0f CPUs", load, d->cpus);
	else
		doctor_absent(r, NULL);
}

void look_uptime(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	double seconds;

	(void)c;
	if (first_number(d, "/proc/uptime", &seconds))
		doctor_tell(d, r, seconds < 120, "%s", num_duration(d->a, seconds));
	else
		doctor_absent(r, NULL);
}

/* some avg10=1.24 avg60=0.80 avg300=0.31 total=8123: per cent of the last ten seconds */
void look_pressure(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	const char *line = rooted_line(d->a, d->root, c->path);
	const char *p = line ? strstr(line, "avg10=") : NULL;
	struct span rest = span_of(p ? p + strlen("avg10=") : ""), word;
	double v;

	if (span_next_word(&rest, &word) && num_parse(word, &v))
		doctor_tell(d, r, v > 1, "%.1f%% of the last 10 s", v);
	else
		doctor_absent(r, NULL);
}

void look_steal(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	struct doctor_ticks t;

	(void)c;
	if (doctor_read_ticks(d, &t))
		doctor_tell(d, r, t.steal > 0.005 * t.total, "%.2f%%", PERCENT * t.steal / t.total);
	else
		doctor_absent(r, NULL);
}

/* ---- walls ---- */

/* A file of our group or of one above it; NULL: none of them has it. */
static const char *group_line(struct doctor *d, char *folder, const char *file)
{
	return rooted_line(d->a, d->root, arena_printf(d->a, "%s/%s", folder, file));
}

/* CPUs that a group may use: "50000 100000" of version 2, two files of version 1; < 0: no limit. */
static double group_quota(struct doctor *d, char *folder, bool first_version, bool *known)
{
	const char *line, *period;
	struct span rest, quota;
	double q, p;

	if (first_version) {
		line = group_line(d, folder, "cpu.cfs_quota_us");
		period = group_line(d, folder, "cpu.cfs_period_us");
		rest = span_of(period ? period : "");
		quota = span_of(line ? line : "");
	} else {
		line = group_line(d, folder, "cpu.max");
		rest = span_of(line ? line : "");
		if (!span_next_word(&rest, &quota))
			return -1;
		rest = span_trim(rest);
	}
	*known |= line != NULL;
	if (!num_parse(quota, &q) || q < 0 || !num_parse(rest, &p) || p <= 0)
		return -1;
	return q / p;
}

void look_quota(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	static const char *const controllers[] = {"", "cpu"};
	double least = INFINITY, quota;
	bool known = false;
	char *folder;
	size_t i;

	(void)c;
	for (i = 0; i < ARRAY_SIZE(controllers); i++) {
		folder = cgroup_folder(d->a, d->root, controllers[i]);
		if (!folder)
			continue;
		known |= i == 0; /* the root group has no file, and no limit */
		do {
			quota = group_quota(d, folder, i == 1, &known);
			if (quota >= 0)
				least = fmin(least, quota);
		} while (cgroup_up(folder, controllers[i]));
	}
	if (!known)
		doctor_absent(r, NULL);
	else if (isfinite(least))
		doctor_tell(d, r, true, "%.2f of %.0f CPUs", least, d->cpus);
	else
		doctor_tell(d, r, false, "none");
}

void look_memory_limit(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	static const char *const controllers[] = {"", "memory"};
	static const char *const files[] = {"memory.max", "memory.limit_in_bytes"};
	double least = INFINITY, total = INFINITY, v;
	bool known = false;
	char *folder;
	size_t i;

	(void)c;
	for (i = 0; i < ARRAY_SIZE(controllers); i++) {
		folder = cgroup_folder(d->a, d->root, controllers[i]);
		known |= folder != NULL;
		while (folder) {
			const char *line = group_line(d, folder, files[i]);

			/* without a limit version 1 says 2^63 less a page */
			if (line && num_parse(span_of(line), &v) && v < 0x1p60)
				least = fmin(least, v / (1 << 30));
			if (!cgroup_up(folder, controllers[i]))
				break;
		}
	}
	meminfo_gib(d, "MemTotal", &total);
	if (!known)
		doctor_absent(r, NULL);
	else if (least < total)
		doctor_tell(d, r, true, "%.2f GiB", least);
	else
		doctor_tell(d, r, false, "none");
}

void look_virtual(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	(void)c;
	doctor_tell(d, r, d->hypervisor != NULL, "%s", d->hypervisor ? d->hypervisor : "no");
}

void look_container(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
					    "/run/systemd/container"};
	size_t i, n, found = 0;

	(void)c;
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		glob_paths(d, marks[i], &n);
		found += n;
	}
	doctor_tell(d, r, found > 0, "%s", found ? "yes" : "no");
}

/* ---- memory, disk ---- */

void look_memory(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	double total, left;

	(void)c;
	if (!meminfo_gib(d, "MemTotal", &total) || !meminfo_gib(d, "MemAvailable", &left)) {
		doctor_absent(r, NULL);
		return;
	}
	doctor_tell(d, r, left < 0.2 * total, "%.1f of %.1f GiB", left, total);
	if (left < 0.05 * total)
		r->state = DOCTOR_FAIL;
}

void look_swap(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	double total, left;

	(void)c;
	if (meminfo_gib(d, "SwapTotal", &total) && meminfo_gib(d, "SwapFree", &left))
		doctor_tell(d, r, total - left > 0.01, "%.2f of %.2f GiB", total - left, total);
	else
		doctor_absent(r, NULL);
}

void look_dirty(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	double dirty, writeback = 0;

	(void)c;
	if (!meminfo_gib(d, "Dirty", &dirty)) {
		doctor_absent(r, NULL);
		return;
	}
	meminfo_gib(d, "Writeback", &writeback);
	dirty += writeback;
	doctor_tell(d, r, dirty > 0.25, "%.0f MiB", dirty * 1024);
}

/* With one node there is nothing to balance. */
void look_balancing(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	size_t nodes;
	double on;

	glob_paths(d, "/sys/devices/system/node/node[0-9]*", &nodes);
	if (!rooted_number(d->root, c->path, &on))
		doctor_absent(r, NULL);
	else
		doctor_tell(d, r, on != 0 && nodes > 1, "%s, %zu node%s", on != 0 ? "on" : "off",
			    MAX(nodes, (size_t)1), nodes > 1 ? "s" : "");
}

void look_space(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	const struct doctor_host *h = d->opt->host;
	double gib;

	(void)c;
	if (!h || !h->folder) {
		doctor_absent(r, NULL);
		return;
	}
	gib = h->free_bytes / (1 << 30);
	doctor_tell(d, r, gib < 2, "%.1f GiB free at %s", gib, h->folder);
	if (gib < 0.1)
		r->state = DOCTOR_FAIL;
}

/* ---- the kernel ---- */

void look_clock(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	const struct doctor_host *h = d->opt->host;

	(void)c;
	if (h && h->has_clock)
		doctor_tell(d, r, fabs(h->clock_correction) > 0.01, "%.0f ms to go",
			    1000 * h->clock_correction);
	else
		doctor_absent(r, NULL);
}

void look_config(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, found = STRBUF_INIT;
	struct span rest = span_of(c->good), option;

	if (kconfig_read(d->a, d->root, &text, NULL)) {
		doctor_absent(r, NULL);
		return;
	}
	while (span_next_word(&rest, &option)) {
		const char *name = arena_strndup(d->a, option.s, option.len);

		if (kconfig_has((struct span){strbuf_str(&text), text.len}, name))
			add_word(&found, name + strlen("CONFIG_"));
	}
	tell_list(d, r, &found);
}

void look_cmdline(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(d->cmdline ? d->cmdline : ""), word;

	while (span_next_word(&rest, &word)) {
		const char *option = arena_strndup(d->a, word.s, word.len);

		if (!strcmp(option, "--"))
			break; /* the rest is for init */
		if (doctor_matches(c->good, option))
			add_word(&sb, option);
	}
	if (!d->cmdline)
		doctor_absent(r, NULL);
	else
		tell_list(d, r, &sb);
}

/* Bits of Documentation/admin-guide/tainted-kernels.rst, "7:oops 14:soft-lockup". */
void look_taint(struct doctor *d, const struct doctor_check *c, struct doctor_result *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(c->good), word;
	double taint, bit;

	if (!rooted_number(d->root, c->path, &taint) || taint < 0 || taint > 0x1p40) {
		doctor_absent(r, NULL);
		return;
	}
	while (span_next_word(&rest, &word)) {
		size_t len = (size_t)((const char *)memchr(word.s, ':', word.len) - word.s);

		if (num_parse((struct span){word.s, len}, &bit) &&
		    ((int64_t)taint >> (int)bit) & 1)
			add_word(&sb, arena_strndup(d->a, word.s + len + 1, word.len - len - 1));
	}
	tell_list(d, r, &sb);
}
