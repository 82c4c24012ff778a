// SPDX-License-Identifier: GPL-2.0-or-later
/* Every check of doctor in both outcomes on a small tree; --fix killed anywhere, and --restore. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <zlib.h>

#include "core/file.h"
#include "core/num.h"
#include "machine/doctor.h"
#include "machine/doctor_look.h"
#include "machine/facts.h"

#define CPU  "/sys/devices/system/cpu/"
#define PROC "/proc/sys/kernel/"
#define CG   "/sys/fs/cgroup"

struct tree {
	struct arena *a;
	char *root;
};

/* text NULL: the file is removed. */
static void put(struct tree *t, const char *path, const char *text)
{
	char *full = arena_printf(t->a, "%s%s", t->root, path);
	_cleanup_err_ struct err e = ERR_INIT;
	FILE *f;

	if (!text) {
		unlink(full);
		return;
	}
	assert_int_equal(file_make_dirs(path_folder(t->a, full), &e), 0);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static const char *get(struct tree *t, const char *path)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	assert_int_equal(file_read(arena_printf(t->a, "%s%s", t->root, path), 0, &sb, &e), 0);
	return arena_strdup(t->a, strbuf_str(&sb));
}

static void setup(struct tree *t)
{
	static const char *const base[][2] = {
		{PROC "random/boot_id", "11111111-2222\n"},
		{CPU "online", "0-3\n"},
		{PROC "osrelease", "6.1.0-test\n"},
		{CPU "cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"},
		{CPU "cpu0/cpuidle/state1/name", "C6\n"},
		{CPU "cpu0/cpu_capacity", "1024\n"},
		{"/sys/devices/cpu_core/cpus", "0-1\n"},
		{"/proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0\n"},
		{"/proc/1/stat", "1 (init) S 0 1 1 0 -1 0 0 0 0 0 3 4 0 0\n"},
		{"/proc/812/stat", "812 (a b) c) R 0 1 1 0 -1 0 0 0 0 0 3 4 0 0\n"},
		{"/proc/812/comm", "a b) c\n"},
		{"/proc/self/cgroup", "4:cpu,cpuacct:/jobs/one\n3:memory:/\n0::/user.slice/x\n"},
		{CG "/cpu/jobs/cpu.cfs_period_us", "100000\n"},
		{"/sys/devices/system/node/node0/cpulist", "0-1\n"},
		{"/sys/devices/system/node/node1/cpulist", "2-3\n"},
	};
	size_t i;

	t->a = arena_new();
	t->root = arena_strdup(t->a, "/tmp/kdelta-doctor.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	for (i = 0; i < ARRAY_SIZE(base); i++)
		put(t, base[i][0], base[i][1]);
}

static void teardown(struct tree *t)
{
	_cleanup_err_ struct err e = ERR_INIT;

	assert_int_equal(file_remove_tree(t->root, &e), 0);
	arena_free(t->a);
}

/* ---- both outcomes ---- */

static const struct row {
	/* path "+/proc/stat": it changes while the doctor waits; "free", "clock": of the host */
	const char *check, *path;
	const char *ok, *bad;	  /* what the file says; NULL: there is none */
	enum doctor_state state;  /* where it is bad; DOCTOR_INFO alone: ok is told, too */
} rows[] = {
	{"cpufreq.governor", CPU "cpu2/cpufreq/scaling_governor", "performance\n", "powersave\n",
	 DOCTOR_WARN},
	{"cpufreq.no_turbo", CPU "intel_pstate/no_turbo", "1\n", "0\n", DOCTOR_WARN},
	{"cpufreq.boost", CPU "cpufreq/boost", "0\n", "1\n", DOCTOR_WARN},
	{"cpufreq.limits", CPU "cpu0/cpufreq/scaling_max_freq", "3000000\n", "1200000\n",
	 DOCTOR_WARN},
	{"cpufreq.driver", CPU "cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n", "intel_pstate\n",
	 DOCTOR_INFO},
	{"cpufreq.preference", CPU "cpu0/cpufreq/energy_performance_preference", "performance\n",
	 "balance_power\n", DOCTOR_WARN},
	{"cpu.energy_bias", CPU "cpu1/power/energy_perf_bias", "6\n", "15\n", DOCTOR_WARN},
	{"cpu.idle", CPU "cpu0/cpuidle/state1/latency", "2\n", "133\n", DOCTOR_WARN},
	{"cpu.throttled", CPU "cpu3/thermal_throttle/core_throttle_count", "0\n", "4\n",
	 DOCTOR_WARN},
	{"power.battery", "/sys/class/power_supply/BAT1/status", "Full\n", "Discharging\n",
	 DOCTOR_FAIL},
	{"power.profile", "/sys/firmware/acpi/platform_profile", "performance\n", "low-power\n",
	 DOCTOR_WARN},
	{"power.battery", "/sys/class/power_supply/BAT0/status", "Charging\n", "Discharging\n",
	 DOCTOR_FAIL},
	{"power.daemon", "/proc/700/comm", "bash\n", "power-profiles-\n", DOCTOR_WARN},
	{"cpu.smt", CPU "smt/active", "0\n", "1\n", DOCTOR_INFO},
	{"cpu.hybrid", "/sys/devices/cpu_atom/cpus", NULL, "2-3\n", DOCTOR_WARN},
	{"cpu.hybrid", CPU "cpu1/cpu_capacity", "1024\n", "446\n", DOCTOR_WARN},
	{"cpu.offline", CPU "offline", "\n", "4-7\n", DOCTOR_WARN},
	{"cpu.allowed", "/proc/self/status", "Cpus_allowed_list:\t0-3\n",
	 "Cpus_allowed_list:\t0,2\n", DOCTOR_WARN},
	{"cpu.isolated", CPU "isolated", "\n", "2-3\n", DOCTOR_INFO},
	{"cpu.nohz_full", CPU "nohz_full", "(null)\n", "2-3\n", DOCTOR_INFO},
	{"cpu.rcu_nocbs", "/proc/cmdline", "quiet\n", "rcu_nocbs=2-3\n", DOCTOR_INFO},
	{"cpu.microcode", "/proc/cpuinfo", "microcode : 0x1\n\nmicrocode : 0x1\n",
	 "microcode : 0x1\n\nmicrocode : 0x2\n", DOCTOR_WARN},
	{"cpu.mitigations", CPU "vulnerabilities/meltdown", "Not affected\n", "Mitigation: PTI\n",
	 DOCTOR_INFO},
	/* ticks of 400 on 4 CPUs */
	{"busy.cpus", "+/proc/stat", "cpu  102 0 0 1298\n", "cpu  130 0 0 1270\n", DOCTOR_WARN},
	{"busy.cpus", "+/proc/stat", "cpu  102 0 0 1298\n", "cpu  400 0 0 1000\n", DOCTOR_FAIL},
	{"busy.top", "+/proc/812/stat", "812 (a b) c) R 0 1 1 0 -1 0 0 0 0 0 4 4 0 0\n",
	 "812 (a b) c) R 0 1 1 0 -1 0 0 0 0 0 43 4 0 0\n", DOCTOR_WARN},
	{"busy.load", "/proc/loadavg", "0.40 0.1 0.1 1/80 11\n", "2.00 0.1 0.1 1/80 11\n",
	 DOCTOR_WARN},
	{"busy.uptime", "/proc/uptime", "121.5 400\n", "20.01 30\n", DOCTOR_WARN},
	{"busy.services", "/proc/700/comm", "apt\n", "unattended-upgr\n", DOCTOR_WARN},
	{"busy.irqbalance", "/proc/700/comm", "irqbalanced\n", "irqbalance\n", DOCTOR_WARN},
	{"busy.pressure_io", "/proc/pressure/io", "some avg10=0.20 avg60=9\n",
	 "some avg10=30.00 avg60=0\n", DOCTOR_WARN},
	{"busy.pressure_memory", "/proc/pressure/memory", "some avg10=0.00 avg60=9\n",
	 "some avg10=2.00 avg60=0\n", DOCTOR_WARN},
	{"wall.quota", CG "/user.slice/cpu.max", "max 100000\n", "50000 100000\n", DOCTOR_FAIL},
	{"wall.quota", CG "/cpu/jobs/cpu.cfs_quota_us", "-1\n", "150000\n", DOCTOR_FAIL},
	{"wall.memory", CG "/user.slice/x/memory.max", "max\n", "1073741824\n", DOCTOR_WARN},
	{"wall.memory", CG "/memory/memory.limit_in_bytes", "9223372036854771712\n",
	 "1073741824\n", DOCTOR_WARN},
	{"wall.virtual", "/proc/cpuinfo", "flags : fpu vme\n", "flags : fpu hypervisor vme\n",
	 DOCTOR_WARN},
	{"wall.virtual", "/sys/hypervisor/type", NULL, "xen\n", DOCTOR_WARN},
	{"wall.container", "/run/systemd/container", NULL, "podman\n", DOCTOR_INFO},
	{"wall.steal", "/proc/stat", "cpu  100 0 0 900 0 0 0 1\n", "cpu  100 0 0 900 0 0 0 50\n",
	 DOCTOR_WARN},
	{"memory.free", "/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB\n",
	 "MemTotal: 1000 kB\nMemAvailable: 100 kB\n", DOCTOR_WARN},
	{"memory.free", "/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB\n",
	 "MemTotal: 1000 kB\nMemAvailable: 40 kB\n", DOCTOR_FAIL},
	{"memory.swap", "/proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n",
	 "SwapTotal: 90000 kB\nSwapFree: 70000 kB\n", DOCTOR_WARN},
	{"memory.dirty", "/proc/meminfo", "Dirty: 9000 kB\nWriteback: 0 kB\n",
	 "Dirty: 9000 kB\nWriteback: 900000 kB\n", DOCTOR_WARN},
	{"memory.swappiness", "/proc/sys/vm/swappiness", "60\n", "10\n", DOCTOR_INFO},
	{"memory.thp", "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n",
	 "[always] madvise never\n", DOCTOR_WARN},
	{"memory.thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag",
	 "always [defer+madvise] never\n", "[always] never\n", DOCTOR_WARN},
	{"memory.ksm", "/sys/kernel/mm/ksm/run", "0\n", "1\n", DOCTOR_WARN},
	{"memory.numa_balancing", PROC "numa_balancing", "0\n", "1\n", DOCTOR_WARN},
	{"memory.zone_reclaim", "/proc/sys/vm/zone_reclaim_mode", "0\n", "1\n", DOCTOR_WARN},
	{"disk.space", "free", "9e9", "1e9", DOCTOR_WARN},
	{"disk.space", "free", "9e9", "1e6", DOCTOR_FAIL},
	{"kernel.debug", "/boot/config-6.1.0-test", "# CONFIG_KASAN is not set\n",
	 "CONFIG_KASAN=y\n", DOCTOR_FAIL},
	{"kernel.slow_options", "/lib/modules/6.1.0-test/config", "CONFIG_DEBUG_PREEMPTION=y\n",
	 "CONFIG_DEBUG_PREEMPT=y\n", DOCTOR_WARN},
	{"kernel.cmdline", "/proc/cmdline", "quiet -- maxcpus=1\n", "quiet maxcpus=1 --\n",
	 DOCTOR_WARN},
	{"kernel.broken", PROC "tainted", "512\n", "128\n", DOCTOR_FAIL},
	{"kernel.warned", PROC "tainted", "4096\n", "4608\n", DOCTOR_WARN},
	{"kernel.clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	 "tsc\n", "hpet\n", DOCTOR_WARN},
	{"kernel.clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	 "arch_sys_counter\n", "jiffies\n", DOCTOR_FAIL},
	{"kernel.clock_steps", "clock", "0.001", "-0.4", DOCTOR_WARN},
	{"kernel.nmi_watchdog", PROC "nmi_watchdog", "0\n", "1\n", DOCTOR_WARN},
	{"kernel.timer_migration", PROC "timer_migration", "0\n", "1\n", DOCTOR_INFO},
	{"kernel.aslr", PROC "randomize_va_space", "2\n", "0\n", DOCTOR_INFO},
	{"kernel.autogroup", PROC "sched_autogroup_enabled", "0\n", "1\n", DOCTOR_INFO},
	{"kernel.sched_features", "/sys/kernel/debug/sched_features", "NO_HRTICK\n", "HRTICK\n",
	 DOCTOR_INFO},
	{"kernel.sched_ext", "/sys/kernel/sched_ext/state", "disabled\n", "enabled\n",
	 DOCTOR_WARN},
	{"kernel.schedstats", PROC "sched_schedstats", "0\n", "1\n", DOCTOR_INFO},
	{"kernel.perf", PROC "perf_event_paranoid", "-1\n", "3\n", DOCTOR_INFO},
	{"kernel.bpf_stats", PROC "bpf_stats_enabled", "0\n", "1\n", DOCTOR_WARN},
	{"kernel.tracer", "/sys/kernel/debug/tracing/current_tracer", "nop\n", "function\n",
	 DOCTOR_WARN},
	{"kernel.trace_events", "/sys/kernel/tracing/events/enable", "0\n", "X\n", DOCTOR_WARN},
	{"kernel.audit", "/proc/700/comm", "kauditd\n", "auditd\n", DOCTOR_WARN},
	{"kernel.core_pattern", PROC "core_pattern", "core\n", "|/bin/cat\n", DOCTOR_INFO},
};

struct later {
	struct tree *t;
	const char *path, *text;
};

static void change_while_waiting(void *data)
{
	struct later *l = data;

	if (*l->path != '+')
		return;
	put(l->t, "/proc/stat", "cpu  100 0 0 1300\n");
	put(l->t, l->path + 1, l->text);
}

static struct doctor_result *look_at(struct tree *t, const struct doctor_options *more, size_t *n)
{
	struct doctor_options opt = *more;
	struct doctor_result *list;

	opt.root = t->root;
	list = doctor_look(t->a, &opt, n);
	assert_int_equal(*n, n_doctor_checks);
	return list;
}

static struct doctor_result look(struct tree *t, const struct row *row, const char *text)
{
	struct later later = {t, row->path, text};
	struct doctor_host host = {.folder = "/"};
	struct doctor_options opt = {.host = &host, .wait = change_while_waiting, .data = &later};
	struct doctor_result *list;
	double v = 0;
	size_t n, i;

	if (*row->path == '/') {
		put(t, row->path, text);
	} else if (*row->path != '+') {
		assert_true(num_parse(span_of(text), &v));
		host.free_bytes = host.clock_correction = v;
		host.has_clock = true;
	}
	list = look_at(t, &opt, &n);
	for (i = 0; i < n && strcmp(list[i].check->name, row->check); i++)
		;
	assert_true(i < n && *list[i].value);
	return list[i];
}

static void check_outcome(const struct row *row, const char *text, enum doctor_state want)
{
	struct doctor_result r;
	struct tree t;

	setup(&t);
	r = look(&t, row, text);
	if (r.state != want)
		fail_msg("%s: %s is %s, not %s", row->check, r.value, doctor_state_names[r.state],
			 doctor_state_names[want]);
	teardown(&t);
}

static void every_check_has_both_outcomes(void **state)
{
	const struct row *row;
	size_t i;

	(void)state;
	for (i = 0; i < n_doctor_checks; i++) {
		const struct doctor_check *c = &doctor_checks[i];
		bool tested = false;

		for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
			if (strcmp(row->check, c->name))
				continue;
			tested = true;
			check_outcome(row, row->ok,
				      c->good || c->look ? DOCTOR_OK : DOCTOR_INFO);
			check_outcome(row, row->bad, row->state);
		}
		if (!tested)
			fail_msg("%s: no outcome of it is tested", c->name);
		assert_true(c->weight >= 1 && c->weight <= 10);
		assert_true(!c->set || !strchr(c->path, ' '));
		assert_true(!c->set || doctor_matches(c->good ? c->good : c->set, c->set));
	}
}

static void without_files_nothing_is_judged(void **state)
{
	const struct doctor_options opt = {.quick = false};
	struct doctor_result *list;
	struct tree t;
	size_t n, i;

	(void)state;
	t.a = arena_new();
	t.root = arena_strdup(t.a, "/tmp/kdelta-doctor.XXXXXX");
	assert_non_null(mkdtemp(t.root));
	list = look_at(&t, &opt, &n);
	for (i = 0; i < n; i++)
		if (list[i].state == DOCTOR_FAIL || list[i].state == DOCTOR_WARN)
			fail_msg("%s: %s", list[i].check->name, list[i].value);
	teardown(&t);
}

/* ---- --fix and --restore ---- */

static const char *const settings[][2] = {
	{CPU "cpu0/cpufreq/scaling_governor", "powersave\n"},
	{CPU "cpu1/cpufreq/scaling_governor", "schedutil\n"},
	{CPU "cpu2/cpufreq/scaling_governor", "performance\n"},
	{CPU "intel_pstate/no_turbo", "0\n"},
	{PROC "nmi_watchdog", "1\n"},
	{"/sys/kernel/mm/ksm/run", "1\n"},
	{PROC "numa_balancing", "1\n"}, /* policy: not safe */
};
enum { TO_WRITE = 5 };

static void setup_settings(struct tree *t)
{
	size_t i;

	setup(t);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		put(t, settings[i][0], settings[i][1]);
}

static void check_settings(struct tree *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		assert_string_equal(get(t, settings[i][0]), settings[i][1]);
	assert_false(file_exists(doctor_journal_path(t->a, t->root)));
}

static void open_journal(struct tree *t, struct journal *j)
{
	_cleanup_err_ struct err e = ERR_INIT;

	assert_int_equal(
		journal_open(j, t->a, doctor_journal_path(t->a, t->root), t->root, &e), 0);
}

/* How many files are changed; fix->names NULL: what is safe. */
static size_t fix(struct tree *t, const struct doctor_fix *fix)
{
	const struct doctor_options opt = {.root = t->root, .quick = true};
	_cleanup_journal_ struct journal j = {0};
	_cleanup_err_ struct err e = ERR_INIT;
	struct doctor_change *changes;
	struct doctor_result *list;
	size_t n, n_changes;

	open_journal(t, &j);
	list = doctor_look(t->a, &opt, &n);
	assert_int_equal(doctor_fix(fix, list, n, &j, &changes, &n_changes, &e), 0);
	return n_changes;
}

/* How many lines of the journal have this fate. */
static size_t restore(struct tree *t, bool force, enum journal_fate fate)
{
	_cleanup_journal_ struct journal j = {0};
	_cleanup_err_ struct err e = ERR_INIT;
	const struct journal_line *l;
	size_t n = 0;

	open_journal(t, &j);
	doctor_restore(&j, force, &e);
	array_for_each (l, &j.lines)
		n += l->fate == fate;
	return n;
}

static void die_before(void *data, const char *path)
{
	int *left = data;

	(void)path;
	if (!(*left)--)
		raise(SIGKILL);
}

static void killed_anywhere_all_is_put_back(void **state)
{
	struct tree t;
	int k, status;

	(void)state;
	setup_settings(&t);
	for (k = 0; k <= TO_WRITE; k++) {
		int left = k;
		const struct doctor_fix dying = {.before_write = die_before, .data = &left};
		pid_t pid = fork();

		if (!pid) {
			fix(&t, &dying);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(k < TO_WRITE ? WIFSIGNALED(status) : WIFEXITED(status));
		assert_int_equal(restore(&t, false, JOURNAL_PUT_BACK), k);
		check_settings(&t);
	}
	teardown(&t);
}

static void twice_keeps_what_was_found_first(void **state)
{
	const char *const named[] = {"memory.numa_balancing", NULL};
	const struct doctor_fix safe = {0}, one = {.names = named}, dry = {.dry_run = true};
	struct tree t;

	(void)state;
	setup_settings(&t);
	assert_int_equal(fix(&t, &dry), TO_WRITE);
	check_settings(&t);
	assert_int_equal(fix(&t, &safe), TO_WRITE);
	assert_string_equal(get(&t, CPU "cpu1/cpufreq/scaling_governor"), "performance\n");
	assert_string_equal(get(&t, PROC "numa_balancing"), "1\n");
	assert_int_equal(fix(&t, &safe), 0);
	put(&t, PROC "nmi_watchdog", "1\n");
	put(&t, CPU "cpu1/cpufreq/scaling_governor", "ondemand\n");
	assert_int_equal(fix(&t, &safe), 2);
	assert_int_equal(fix(&t, &one), 1);
	assert_string_equal(get(&t, PROC "numa_balancing"), "0\n");
	assert_int_equal(restore(&t, false, JOURNAL_PUT_BACK), TO_WRITE + 1);
	check_settings(&t);
	teardown(&t);
}

static void what_others_changed_is_left_alone(void **state)
{
	const struct doctor_fix safe = {0};
	struct tree t;

	(void)state;
	setup_settings(&t);
	fix(&t, &safe);
	put(&t, CPU "cpu0/cpufreq/scaling_governor", "ondemand\n");
	assert_int_equal(restore(&t, false, JOURNAL_FOREIGN), 1);
	assert_string_equal(get(&t, CPU "cpu0/cpufreq/scaling_governor"), "ondemand\n");
	assert_string_equal(get(&t, PROC "nmi_watchdog"), "1\n");
	assert_int_equal(restore(&t, true, JOURNAL_PUT_BACK), 1);
	check_settings(&t);
	teardown(&t);
}

static void a_restart_ends_it(void **state)
{
	const struct doctor_fix safe = {0};
	struct tree t;

	(void)state;
	setup_settings(&t);
	fix(&t, &safe);
	put(&t, PROC "random/boot_id", "33333333-4444\n");
	assert_int_equal(restore(&t, false, JOURNAL_OVER), TO_WRITE);
	/* in this tree nothing set it back, and so shows that nobody wrote */
	assert_string_equal(get(&t, PROC "nmi_watchdog"), "0\n");
	assert_false(file_exists(doctor_journal_path(t.a, t.root)));
	teardown(&t);
}

/* A journal cut in the middle of a line: what it says whole is done. */
static void damaged_journals_are_borne(void **state)
{
	const struct doctor_fix safe = {0};
	const char *text;
	struct tree t;

	(void)state;
	setup_settings(&t);
	fix(&t, &safe);
	text = get(&t, "/var/lib/kdelta/doctor.journal");
	put(&t, "/var/lib/kdelta/doctor.journal",
	    arena_printf(t.a, "\xff\n[]\n{\"path\": 5}\n%s{\"boot_id\": \"1111", text));
	assert_int_equal(restore(&t, false, JOURNAL_PUT_BACK), TO_WRITE);
	check_settings(&t);
	teardown(&t);
}

/* Without the boot's name nothing is changed, since nothing could be put back. */
static void test_journal_without_boot(void **state)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct journal j;
	struct tree t;

	(void)state;
	setup_settings(&t);
	assert_int_equal(unlink(arena_printf(t.a, "%s" PROC "random/boot_id", t.root)), 0);
	assert_int_equal(mkdir(arena_printf(t.a, "%s" PROC "random/boot_id", t.root), 0700), 0);
	assert_int_equal(journal_open(&j, t.a, doctor_journal_path(t.a, t.root), t.root, &e), -EIO);
	journal_release(&j);
	teardown(&t);
}

/* A writer that was killed left a part, and no journal. */
static void test_journal_part(void **state)
{
	struct tree t;
	const char *part;

	(void)state;
	setup_settings(&t);
	put(&t, "/var/lib/kdelta/doctor.journal.new~", "{\"boot");
	part = arena_printf(t.a, "%s.new~", doctor_journal_path(t.a, t.root));
	assert_true(file_exists(part));
	restore(&t, false, JOURNAL_PUT_BACK);
	assert_false(file_exists(part));
	teardown(&t);
}

/* ---- facts of the kernel ---- */

static const char *fact(struct tree *t, const char *key)
{
	struct machine_fact *list;
	size_t n, i;

	list = machine_read_facts(t->a, t->root, NULL, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].key, key))
			return list[i].value;
	return NULL;
}

/* One configuration is one fact, packed or not; of other releases it is another one. */
static void compiler_and_configuration(void **state)
{
	const char *const key = "kernel.config.6.1.0-test", *plain;
	struct tree t;
	gzFile gz;

	(void)state;
	setup(&t);
	put(&t, "/proc/version", "Linux version 6.1.0-test (a@b) (gcc-12 (Debian 12.2.0-14) 12.2.0, "
				 "GNU ld (GNU Binutils for Debian) 2.40) #1 SMP Debian\n");
	assert_string_equal(fact(&t, "kernel.compiler"),
			    "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) "
			    "2.40");
	assert_null(fact(&t, key));
	put(&t, "/boot/config-6.1.0-test", "CONFIG_SMP=y\n");
	plain = fact(&t, key);
	assert_non_null(plain);
	put(&t, "/boot/config-6.1.0-test", "CONFIG_SMP=y\nCONFIG_NUMA=y\n");
	assert_string_not_equal(fact(&t, key), plain);
	put(&t, "/proc/config.gz", "");
	assert_null(fact(&t, key)); /* damaged */
	gz = gzopen(arena_printf(t.a, "%s/proc/config.gz", t.root), "w");
	gzputs(gz, "CONFIG_SMP=y\n");
	gzclose(gz);
	assert_string_equal(fact(&t, key), plain);
	assert_string_equal(machine_fact_title(t.a, key), "configuration of 6.1.0-test");
	put(&t, "/proc/version", "Linux version 6.1.0\n");
	assert_null(fact(&t, "kernel.compiler"));
	teardown(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_check_has_both_outcomes),
		cmocka_unit_test(test_journal_without_boot),
		cmocka_unit_test(test_journal_part),
		cmocka_unit_test(without_files_nothing_is_judged),
		cmocka_unit_test(killed_anywhere_all_is_put_back),
		cmocka_unit_test(twice_keeps_what_was_found_first),
		cmocka_unit_test(what_others_changed_is_left_alone),
		cmocka_unit_test(a_restart_ends_it),
		cmocka_unit_test(damaged_journals_are_borne),
		cmocka_unit_test(compiler_and_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
