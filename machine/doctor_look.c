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
static const char *tell_list(struct doctor *d, const struct doctor_check *c,
			     const struct strbuf *list, enum doctor_state *state)
{
	if (!list->len)
		return "none";
	*state = c->bad;
	return arena_strdup(d->a, list->buf);
}

static const char *yes_or_no(const struct doctor_check *c, bool bad, const char *yes, const char *no,
			     enum doctor_state *state)
{
	*state = bad ? c->bad : DOCTOR_OK;
	return bad ? yes : no;
}

/* ---- CPUs ---- */

const char *look_limits(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t n, i, limited = 0, known = 0;
	char **paths = glob_paths(d, CPU "cpu[0-9]*/cpufreq/scaling_max_freq", &n);
	double limit, most, lowest = INFINITY;

	for (i = 0; i < n; i++) {
		if (!rooted_number(d->root, paths[i], &limit) ||
		    !number_beside(d, paths[i], "cpuinfo_max_freq", &most))
			continue;
		known++;
		limited += limit < most;
		lowest = fmin(lowest, limit);
	}
	if (!limited)
		return known ? "none" : NULL;
	*state = c->bad;
	return arena_printf(d->a, "%zu CPUs below their maximum, down to %.0f MHz", limited,
			    lowest / 1000);
}

const char *look_idle(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t n, i;
	char **paths = glob_paths(d, CPU "cpu0/cpuidle/state*/latency", &n);
	double latency, off, deepest = -1;
	const char *name = NULL;

	for (i = 0; i < n; i++) {
		if (!rooted_number(d->root, paths[i], &latency) || latency <= deepest ||
		    (number_beside(d, paths[i], "disable", &off) && off != 0))
			continue;
		deepest = latency;
		name = line_beside(d, paths[i], "name");
	}
	if (deepest > DEEP_IDLE)
		*state = c->bad;
	return deepest < 0 ? NULL
			   : arena_printf(d->a, "%s, %.0f us to wake up", name ? name : "?",
					  deepest);
}

/* x86 has a PMU for each kind of core; arm64 and newer x86 tell the capacity of each CPU. */
const char *look_hybrid(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	const char *core = rooted_line(d->a, d->root, "/sys/devices/cpu_core/cpus");
	const char *atom = rooted_line(d->a, d->root, "/sys/devices/cpu_atom/cpus");
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n, i;
	struct rooted_count *list = rooted_lines(d->a, d->root, CPU "cpu[0-9]*/cpu_capacity", &n);

	if (core && atom)
		strbuf_addf(&sb, "performance %s, efficiency %s", core, atom);
	for (i = 0; i < n && n > 1; i++)
		add_word(&sb, arena_printf(d->a, "%zu of capacity %s", list[i].files,
					   list[i].line));
	return yes_or_no(c, sb.len > 0, arena_strdup(d->a, strbuf_str(&sb)), "one", state);
}

/* Cpus_allowed_list: of this program, which taskset, cpusets and containers narrow. */
const char *look_allowed(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *list;
	struct span rest;
	int64_t first, last;
	double n = 0;

	rooted_read(d->root, "/proc/self/status", 1 << 16, &sb);
	list = rooted_value(d->a, (struct span){strbuf_str(&sb), sb.len}, "Cpus_allowed_list");
	rest = span_of(list ? list : "");
	while (num_next_range(&rest, &first, &last, NULL))
		n += (double)(last - first) + 1;
	if (n < d->cpus)
		*state = c->bad;
	return n ? arena_printf(d->a, "%.0f of %.0f", fmin(n, d->cpus), d->cpus) : NULL;
}

const char *look_microcode(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = d->cpuinfo, line;
	const char *first = NULL, *level;

	while (span_next_line(&rest, &line, NULL) && *state == DOCTOR_OK) {
		level = span_starts(line, "microcode") ? rooted_value(d->a, line, "microcode")
						       : NULL;
		if (!level || (first && !strcmp(level, first)))
			continue;
		if (first)
			*state = c->bad;
		first = first ? first : level;
		add_word(&sb, level);
	}
	return first ? arena_strdup(d->a, sb.buf) : NULL;
}

const char *look_mitigations(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t n, i, on = 0, open = 0;
	struct rooted_count *list = rooted_lines(d->a, d->root, CPU "vulnerabilities/*", &n);

	for (i = 0; i < n; i++) {
		on += str_starts(list[i].line, "Mitigation") ? list[i].files : 0;
		open += str_starts(list[i].line, "Vulnerable") ? list[i].files : 0;
	}
	if (on + open)
		*state = c->bad;
	return n ? arena_printf(d->a, "%zu on, %zu holes left open", on, open) : NULL;
}

const char *look_throttled(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t n, i;
	char **paths = glob_paths(d, CPU "cpu[0-9]*/thermal_throttle/core_throttle_count", &n);
	double v, sum = 0;

	for (i = 0; i < n; i++)
		sum += rooted_number(d->root, paths[i], &v) ? v : 0;
	if (sum > 0)
		*state = c->bad;
	return n ? arena_printf(d->a, "%.0f times since boot", sum) : NULL;
}

/* The batteries of mice and the like have the scope "Device". */
const char *look_battery(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t n, i, ours = 0;
	char **paths = glob_paths(d, "/sys/class/power_supply/*/status", &n);
	bool drains = false;

	for (i = 0; i < n; i++) {
		if (str_equal(line_beside(d, paths[i], "scope"), "Device"))
			continue;
		ours++;
		drains |= str_equal(rooted_line(d->a, d->root, paths[i]), "Discharging");
	}
	return ours ? yes_or_no(c, drains, "battery", "mains", state) : NULL;
}

/* ---- who else runs ---- */

/* The kernel cuts names after 15 characters: "power-profiles-". */
static bool is_named(const char *comm, struct span name)
{
	return strlen(comm) == MIN(name.len, (size_t)15) && span_starts(name, comm);
}

const char *look_running(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
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
	return tell_list(d, c, &sb, state);
}

const char *look_busy(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	if (!d->usage)
		return NULL;
	if (d->usage->busy > 0.1 + 0.02 * d->cpus)
		*state = d->usage->busy > 0.5 * d->cpus ? DOCTOR_FAIL : c->bad;
	return arena_printf(d->a, "%.1f of %.0f", d->usage->busy, d->cpus);
}

const char *look_top(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	const struct doctor_usage *u = d->usage;

	if (!u || !u->who)
		return u ? "none" : NULL;
	if (u->top > 0.05)
		*state = c->bad;
	return arena_printf(d->a, "%.0f%% of a CPU: %s", u->top * PERCENT, u->who);
}

const char *look_load(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	double load;

	if (!first_number(d, "/proc/loadavg", &load))
		return NULL;
	if (load > 0.3 + 0.05 * d->cpus)
		*state = c->bad;
	return arena_printf(d->a, "%.2f on %.0f CPUs", load, d->cpus);
}

const char *look_uptime(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	double seconds;

	if (!first_number(d, "/proc/uptime", &seconds))
		return NULL;
	if (seconds < 120)
		*state = c->bad;
	return num_duration(d->a, seconds);
}

/* some avg10=1.24 avg60=0.80 avg300=0.31 total=8123: per cent of the last ten seconds */
const char *look_pressure(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	const char *line = rooted_line(d->a, d->root, c->path);
	const char *p = line ? strstr(line, "avg10=") : NULL;
	struct span rest = span_of(p ? p + strlen("avg10=") : ""), word;
	double v;

	if (!span_next_word(&rest, &word) || !num_parse(word, &v))
		return NULL;
	if (v > 1)
		*state = c->bad;
	return arena_printf(d->a, "%.1f%% of the last 10 s", v);
}

const char *look_steal(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	struct doctor_ticks t;

	if (!doctor_read_ticks(d, &t))
		return NULL;
	if (t.steal > 0.005 * t.total)
		*state = c->bad;
	return arena_printf(d->a, "%.2f%%", PERCENT * t.steal / t.total);
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

const char *look_quota(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	static const char *const controllers[] = {"", "cpu"};
	double least = INFINITY, quota;
	bool known = false;
	char *folder;
	size_t i;

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
	if (!isfinite(least))
		return known ? "none" : NULL;
	*state = c->bad;
	return arena_printf(d->a, "%.2f of %.0f CPUs", least, d->cpus);
}

const char *look_memory_limit(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	static const char *const controllers[] = {"", "memory"};
	static const char *const files[] = {"memory.max", "memory.limit_in_bytes"};
	double least = INFINITY, total = INFINITY, v;
	bool known = false;
	char *folder;
	size_t i;

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
	if (least >= total)
		return known ? "none" : NULL;
	*state = c->bad;
	return arena_printf(d->a, "%.2f GiB", least);
}

const char *look_virtual(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	return yes_or_no(c, d->hypervisor != NULL, d->hypervisor, "no", state);
}

const char *look_container(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
					    "/run/systemd/container"};
	size_t i, n, found = 0;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		glob_paths(d, marks[i], &n);
		found += n;
	}
	return yes_or_no(c, found > 0, "yes", "no", state);
}

/* ---- memory, disk ---- */

const char *look_memory(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	double total, left;

	if (!meminfo_gib(d, "MemTotal", &total) || !meminfo_gib(d, "MemAvailable", &left))
		return NULL;
	if (left < 0.2 * total)
		*state = left < 0.05 * total ? DOCTOR_FAIL : c->bad;
	return arena_printf(d->a, "%.1f of %.1f GiB", left, total);
}

const char *look_swap(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	double total, left;

	if (!meminfo_gib(d, "SwapTotal", &total) || !meminfo_gib(d, "SwapFree", &left))
		return NULL;
	if (total - left > 0.01)
		*state = c->bad;
	return arena_printf(d->a, "%.2f of %.2f GiB", total - left, total);
}

const char *look_dirty(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	double dirty, writeback = 0;

	if (!meminfo_gib(d, "Dirty", &dirty))
		return NULL;
	meminfo_gib(d, "Writeback", &writeback);
	dirty += writeback;
	if (dirty > 0.25)
		*state = c->bad;
	return arena_printf(d->a, "%.0f MiB", dirty * 1024);
}

/* With one node there is nothing to balance. */
const char *look_balancing(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	size_t nodes;
	double on;

	glob_paths(d, "/sys/devices/system/node/node[0-9]*", &nodes);
	if (!rooted_number(d->root, c->path, &on))
		return NULL;
	if (on != 0 && nodes > 1)
		*state = c->bad;
	return arena_printf(d->a, "%s, %zu node%s", on != 0 ? "on" : "off", MAX(nodes, (size_t)1),
			    nodes > 1 ? "s" : "");
}

const char *look_space(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	const struct doctor_host *h = d->opt->host;
	double gib;

	if (!h || !h->folder)
		return NULL;
	gib = h->free_bytes / (1 << 30);
	if (gib < 2)
		*state = gib < 0.1 ? DOCTOR_FAIL : c->bad;
	return arena_printf(d->a, "%.1f GiB free at %s", gib, h->folder);
}

/* ---- the kernel ---- */

const char *look_clock(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	const struct doctor_host *h = d->opt->host;

	if (!h || !h->has_clock)
		return NULL;
	if (fabs(h->clock_correction) > 0.01)
		*state = c->bad;
	return arena_printf(d->a, "%.0f ms to go", 1000 * h->clock_correction);
}

const char *look_config(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, found = STRBUF_INIT;
	struct span rest = span_of(c->good), option;

	if (kconfig_read(d->a, d->root, &text, NULL))
		return NULL;
	while (span_next_word(&rest, &option)) {
		const char *name = arena_strndup(d->a, option.s, option.len);

		if (kconfig_has((struct span){strbuf_str(&text), text.len}, name))
			add_word(&found, name + strlen("CONFIG_"));
	}
	return tell_list(d, c, &found, state);
}

const char *look_cmdline(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *line = rooted_line(d->a, d->root, "/proc/cmdline");
	struct span rest = span_of(line ? line : ""), word;

	/* what stands behind "--" is for init */
	while (span_next_word(&rest, &word) && !span_is(word, "--")) {
		const char *option = arena_strndup(d->a, word.s, word.len);

		if (doctor_matches(c->good, option))
			add_word(&sb, option);
	}
	return line ? tell_list(d, c, &sb, state) : NULL;
}

/* Bits of Documentation/admin-guide/tainted-kernels.rst, "7:oops 14:soft-lockup". */
const char *look_taint(struct doctor *d, const struct doctor_check *c, enum doctor_state *state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest = span_of(c->good), word;
	double taint, bit;

	if (!rooted_number(d->root, c->path, &taint) || taint < 0 || taint > 0x1p40)
		return NULL;
	while (span_next_word(&rest, &word)) {
		size_t len = (size_t)((const char *)memchr(word.s, ':', word.len) - word.s);

		if (num_parse((struct span){word.s, len}, &bit) &&
		    ((int64_t)taint >> (int)bit) & 1)
			add_word(&sb, arena_strndup(d->a, word.s + len + 1, word.len - len - 1));
	}
	return tell_list(d, c, &sb, state);
}
