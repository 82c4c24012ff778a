// SPDX-License-Identifier: GPL-2.0-or-later
/* Monitors on trees: what they read, what they make of it, what does not stop them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "core/num.h"
#include "core/proc.h"
#include "machine/facts.h"
#include "machine/monitor.h"
#include "parsers/monitor_log.h"

struct tree {
	struct arena *a;
	char *root;
};

static void make(struct tree *t, const char *kind, const char *step)
{
	const char *const argv[] = {"python3", "tests/trees/make.py", kind, step ? step : t->root,
				    step ? t->root : NULL, NULL};
	_cleanup_err_ struct err e = ERR_INIT;
	struct proc_result p;

	assert_int_equal(proc_run(&(struct proc_spec){.argv = argv}, &p, &e), 0);
	assert_int_equal(p.exit_status, 0);
	proc_result_release(&p);
}

static void setup(struct tree *t, const char *kind)
{
	t->a = arena_new();
	t->root = arena_strdup(t->a, "/tmp/kdelta-tree.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	make(t, kind, NULL);
}

static void teardown(struct tree *t)
{
	_cleanup_err_ struct err e = ERR_INIT;

	assert_int_equal(file_remove_tree(t->root, &e), 0);
	arena_free(t->a);
}

static struct monitors *open_some(struct tree *t, const char *const *names, bool per_cpu)
{
	const struct monitor_options opt = {
		.root = t->root, .names = names, .interval = 3600, .per_cpu = per_cpu};
	_cleanup_err_ struct err e = ERR_INIT;
	struct monitors *m;

	assert_int_equal(monitors_open(&opt, &m, &e), 0);
	return m;
}

static struct monitors *open_all(struct tree *t, bool per_cpu)
{
	return open_some(t, monitor_names(t->a), per_cpu);
}

/* A tree of a kind, watched by all monitors from now on. */
static struct monitors *begin(struct tree *t, const char *kind, bool per_cpu)
{
	struct monitors *m;

	setup(t, kind);
	m = open_all(t, per_cpu);
	monitors_begin(m);
	return m;
}

/* Ends, closes, and reads the log. */
static struct parse_run end(struct tree *t, struct monitors *m, const struct rusage *usage)
{
	struct strbuf log = STRBUF_INIT;
	struct parse_run run;

	monitors_end(m, usage, 0, &log);
	monitors_close(m);
	monitor_log_parse(t->a, (struct span){arena_strndup(t->a, log.buf, log.len), log.len},
			  &run);
	strbuf_release(&log);
	assert_int_equal(run.outcome, OUTCOME_OK);
	return run;
}

/* The value of a metric; NAN: it has none. */
static double value(const struct parse_run *run, const char *metric)
{
	const struct parse_value *v;
	double found = NAN;

	array_for_each (v, &run->values) {
		if (strcmp(v->metric, metric))
			continue;
		assert_true(isnan(found)); /* nothing stands twice */
		found = v->value;
	}
	return found;
}

#define assert_value(run, metric, want) assert_float_equal(value(run, metric), want, 1e-9)

static void counters_are_differences(void **state)
{
	const struct rusage usage = {.ru_utime = {3, 0}, .ru_stime = {1, 0}, .ru_nvcsw = 7};
	struct parse_run run;
	struct monitors *m;
	struct tree t;

	(void)state;
	m = begin(&t, "server", false);
	make(&t, "step", "10");
	monitors_sample(m);
	make(&t, "step", "20");
	run = end(&t, m, &usage);
	assert_value(&run, "softirqs.HI", 256 * 20);
	assert_value(&run, "softirqs.RCU", 256 * 20 * 10);
	assert_value(&run, "interrupts.LOC:Local_timer_interrupts", 256 * 3 * 20);
	assert_value(&run, "interrupts.41:IR-PCI-MSIX-0000:3b:00.0.1-edge.eth0-TxRx-1", 0);
	/* 60 + 20 + 15 + 5 ticks a step */
	assert_value(&run, "vmstat.cpu.us", 60);
	assert_value(&run, "vmstat.cpu.sy", 20);
	assert_value(&run, "vmstat.cpu.id", 15);
	assert_value(&run, "vmstat.cpu.st", 5);
	assert_value(&run, "vmstat.procs.r", 3);
	assert_value(&run, "proc-vmstat.pgfault", 140);
	assert_value(&run, "proc-vmstat.nr_free_pages", 5742210 - 10);
	assert_value(&run, "schedstat.sched_count", 256 * 20);
	assert_value(&run, "schedstat.run_delay", 256 * 20.0);
	assert_value(&run, "schedstat.domain3.ttwu_move_affine", 256 * 20);
	assert_value(&run, "schedstat.domain0.ttwu_wake_remote", 0);
	assert_value(&run, "loadavg.1min", 10.2); /* of 0.2, 10.2 and 20.2 */
	assert_value(&run, "cpuidle.C1E.time", 0);
	assert_value(&run, "meminfo.MemFree", 512000000);
	assert_value(&run, "cpufreq.avg_MHz", 2100 + 127.5);
	assert_value(&run, "thermal.x86_pkg_temp.celsius", 48);
	assert_value(&run, "thermal.core_throttle_count", 0);
	assert_value(&run, "powercap.package-1.joules", 0);
	assert_value(&run, "numa-numastat.node1.numa_hit", 0);
	assert_value(&run, "psi.cpu.some", 0);
	assert_value(&run, "net.lo.bytes", 0);
	assert_value(&run, "time.user_time", 3);
	assert_value(&run, "time.voluntary_context_switches", 7);
	assert_true(value(&run, "monitors.cpu") > 0);
	assert_true(isnan(value(&run, "dmesg.WARNING")));
	/* no slabinfo and no debugfs in this tree */
	assert_non_null(strstr(run.message, "slabinfo: /proc/slabinfo is not there"));
	teardown(&t);
}

static void every_cpu_on_request(void **state)
{
	struct parse_run run;
	struct monitors *m;
	struct tree t;

	(void)state;
	m = begin(&t, "server", true);
	make(&t, "step", "5");
	run = end(&t, m, NULL);
	assert_value(&run, "softirqs.CPU255.SCHED", 5 * 8);
	assert_value(&run, "interrupts.CPU7.CAL:Function_call_interrupts", 15);
	assert_true(isnan(value(&run, "time.user_time")));
	teardown(&t);
}

static void append(struct tree *t, const char *name, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	assert_int_equal(file_append(arena_printf(t->a, "%s%s", t->root, name), "", text,
				     strlen(text), &e),
			 0);
}

static void kernel_messages_of_the_run_only(void **state)
{
	struct parse_run run;
	struct monitors *m;
	struct tree t;

	(void)state;
	setup(&t, "server");
	append(&t, "/dev/kmsg", "4,2,1,-;WARNING: CPU: 1 PID: 3 at before.c:1\n");
	m = open_all(&t, false);
	monitors_begin(m);
	append(&t, "/dev/kmsg",
	       "3,3,2,-;watchdog: BUG: soft lockup - CPU#0 stuck for 22s!\n SUBSYSTEM=BUG: no\n"
	       "4,4,3,-;WARNING: CPU: 1 PID: 3 at run.c:1\n4,5,3,-;WARNING: CPU: 0 PID: 4\n"
	       "6,6,4,-;all is well\n");
	run = end(&t, m, NULL);
	assert_value(&run, "dmesg.soft_lockup", 1);
	assert_value(&run, "dmesg.WARNING", 2);
	assert_true(isnan(value(&run, "dmesg.BUG")));
	teardown(&t);
}

/* The two for root, which are read on request. */
static void slabs_and_queues(void **state)
{
	const char *const names[] = {"slabinfo", "sched_debug", NULL};
	struct parse_run run;
	struct monitors *m;
	struct tree t;

	(void)state;
	setup(&t, "server");
	append(&t, "/proc/slabinfo",
	       "slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize> ...\n"
	       "kmalloc-64   4992   5120   64   64    1 : tunables    0    0    0 : slabdata     80     "
	       "81      0\n");
	append(&t, "/proc/sched_debug",
	       "cpu#0, 2100.000 MHz\n  .nr_running                    : 2\n\n"
	       "cfs_rq[0]:/user.slice\n  .nr_running                    : 90\n"
	       "cfs_rq[0]:/\n  .nr_running                    : 3\n"
	       "cpu#1, 2100.000 MHz\n  .nr_running                    : 4\n");
	m = open_some(&t, names, false);
	monitors_begin(m);
	run = end(&t, m, NULL);
	assert_value(&run, "slabinfo.kmalloc-64.active_objs", 4992);
	assert_value(&run, "slabinfo.kmalloc-64.num_slabs", 81);
	assert_value(&run, "sched_debug.cpu.nr_running.avg", 3);
	assert_value(&run, "sched_debug.cpu.nr_running.max", 4);
	assert_value(&run, "sched_debug.cfs_rq:/.nr_running.avg", 3);
	teardown(&t);
}

static void assert_fact(struct tree *t, const char *key, const char *want, const char *title)
{
	struct machine_fact *list;
	size_t n, i = 0;

	list = machine_read_facts(t->a, t->root, NULL, &n);
	while (i < n && strcmp(list[i].key, key))
		i++;
	assert_true(i < n);
	assert_string_equal(list[i].value, want);
	assert_string_equal(machine_fact_title(t->a, key), title);
}

/* A governor, a microcode level and boot options, of which each may explain a difference. */
static void settings_are_facts(void **state)
{
	struct tree t;

	(void)state;
	setup(&t, "server");
	append(&t, "/proc/cpuinfo", "model name\t: Xeon\nmicrocode\t: 0x2c\n");
	append(&t, "/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1 root=/dev/sda1 nosmt initrd=x quiet\n");
	assert_fact(&t, "cpufreq.governor", "performance (255 CPUs) schedutil (1 CPUs)",
		    "frequency governor");
	assert_fact(&t, "cpu.microcode", "0x2c", "CPU microcode");
	assert_fact(&t, "kernel.options", "root=/dev/sda1 nosmt quiet", "boot options");
	teardown(&t);
}

/* A CPU that goes away takes its counters along: no figure, rather than a wrong one. */
static void what_vanishes_is_missing(void **state)
{
	struct parse_run run;
	struct monitors *m;
	struct tree t;

	(void)state;
	m = begin(&t, "server", false);
	assert_int_equal(truncate(arena_printf(t.a, "%s/proc/schedstat", t.root), 0), 0);
	run = end(&t, m, NULL);
	assert_true(isnan(value(&run, "schedstat.sched_count")));
	assert_value(&run, "softirqs.HI", 0);
	teardown(&t);
}

static void hostile_trees_are_borne(void **state)
{
	const struct parse_value *v;
	struct parse_run run;
	struct monitors *m;
	struct tree t;
	const char *p;

	(void)state;
	m = begin(&t, "hostile", true);
	monitors_sample(m);
	run = end(&t, m, NULL);
	array_for_each (v, &run.values) {
		assert_true(isfinite(v->value) && v->value >= 0);
		for (p = v->metric; *p; p++)
			assert_true(*p > ' ' && *p < 0x7f);
	}
	assert_non_null(strstr(run.message, "more than"));
	assert_non_null(strstr(run.message, "/proc/stat: not a file"));
	teardown(&t);
}

/* Whatever is sampled, memory does not grow. */
static void memory_is_flat(void **state)
{
	const char *const names[] = {"loadavg", "meminfo", NULL};
	struct monitors *m;
	struct rusage before, after;
	struct tree t;
	int i;

	(void)state;
	setup(&t, "server");
	m = open_some(&t, names, false);
	monitors_begin(m);
	for (i = 0; i < 20; i++)
		monitors_sample(m);
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < 10000; i++)
		monitors_sample(m);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 256); /* KiB */
	monitors_close(m);
	teardown(&t);
}

static void the_thread_samples(void **state)
{
	const char *const names[] = {"loadavg", NULL};
	struct monitor_options opt = {.names = names, .interval = 0.02};
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct monitors *m;
	struct span rest, word;
	struct tree t;
	double n = 0;
	const char *p;

	(void)state;
	setup(&t, "server");
	opt.root = t.root;
	assert_int_equal(monitors_open(&opt, &m, &e), 0);
	monitors_begin(m);
	usleep(500000);
	monitors_end(m, NULL, 0, &log);
	monitors_close(m);
	p = strstr(log.buf, "gauge loadavg.1min ");
	assert_non_null(p);
	rest = span_of(p + strlen("gauge loadavg.1min "));
	assert_true(span_next_word(&rest, &word) && num_parse(word, &n));
	assert_true(n >= 3); /* also of a machine that is busy */
	teardown(&t);
}

static void unknown_names_are_refused(void **state)
{
	const char *const names[] = {"softirq", NULL};
	const struct monitor_options opt = {.root = "", .names = names};
	_cleanup_err_ struct err e = ERR_INIT;
	struct monitors *m;

	(void)state;
	assert_int_equal(monitors_open(&opt, &m, &e), -EINVAL);
	assert_non_null(strstr(err_text(&e), "there is no monitor 'softirq'"));
}

static void logs_are_judged(void **state)
{
	_cleanup_arena_ struct arena *a = arena_new();
	struct parse_run run;

	(void)state;
	monitor_log_parse(a, span_of(""), &run);
	assert_int_equal(run.outcome, OUTCOME_ERROR);
	monitor_log_parse(a, span_of("kdelta-monitors 2\n"), &run);
	assert_int_equal(run.outcome, OUTCOME_ERROR);
	monitor_log_parse(a,
			  span_of("kdelta-monitors 1\nelapsed 2\nrate a 10 30\nstall b 0 1000000\n"
				  "counter c 5 4\ncounter d 1\ngauge e 3 7 1 9\nshare f.x 0 0\n"
				  "strange g 1 2\ncounter h 1 2"),
			  &run);
	assert_int_equal(run.outcome, OUTCOME_PARTIAL);
	assert_value(&run, "a", 10);
	assert_value(&run, "b", 50);
	assert_value(&run, "e", 7);
	assert_int_equal(run.values.n, 3);
}

#define HEAD "kdelta-monitors 1\nelapsed 2\n"

/* Each reason that makes a run suspect, just below and above its limit. */
static void reasons_for_doubt(void **state)
{
	static const struct {
		const char *lines, *doubt;
	} cases[] = {
		{"counter softirqs.SCHED 1 900", NULL},
		{"share vmstat.cpu.st 0 2\nshare vmstat.cpu.id 0 98", NULL},
		{"share vmstat.cpu.st 0 3\nshare vmstat.cpu.id 0 97",
		 "taken by the hypervisor (vmstat.cpu.st): 3 % of CPU time"},
		{"counter proc-vmstat.pswpin 7 7", NULL},
		{"counter proc-vmstat.pswpin 7 9", "swapped in during the run (proc-vmstat.pswpin): 2 pages"},
		{"counter proc-vmstat.pswpout 0 5",
		 "swapped out during the run (proc-vmstat.pswpout): 5 pages"},
		{"counter thermal.core_throttle_count 4 5",
		 "clocks throttled by heat (thermal.core_throttle_count): 1 times"},
		{"event time.clock_step 3600.5",
		 "the clock was set during the run (time.clock_step): 3600 s"},
		{"event dmesg.clocksource_unstable 1",
		 "the kernel gave up its clock source (dmesg.clocksource_unstable): 1 messages"},
		{"event dmesg.soft_lockup 2",
		 "the kernel reported trouble (dmesg.soft_lockup): 2 messages"},
	};
	_cleanup_arena_ struct arena *a = arena_new();
	const char *doubt;
	struct parse_run run;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		monitor_log_parse(a, span_of(arena_printf(a, HEAD "%s\n", cases[i].lines)), &run);
		doubt = monitor_log_doubt(a, &run);
		if (cases[i].doubt)
			assert_string_equal(doubt, cases[i].doubt);
		else
			assert_null(doubt);
	}
}

/* A log whose only line is the output of a program, cut behind so many bytes of it. */
static struct parse_run read_output(struct arena *a, const char *program, const char *text,
				    size_t cut)
{
	const char *log = arena_printf(a, HEAD "output %s %zu 0.05\n%s\n", program, strlen(text),
				       text);
	struct parse_run run;

	monitor_log_parse(a, (struct span){log, strlen(log) - cut}, &run);
	return run;
}

static void turbostat_is_read(void **state)
{
	static const char text[] =
		"turbostat: PCI is ignored\n"
		"Avg_MHz\tBusy%\tBzy_MHz\tIPC\tC6\tC6%\tCPU%c1\tPkgTmp\tPkgWatt\n"
		"812\t29.10\t2790\t1.12\t40120\t66.02\t5.12\t-\t121.40\n";
	_cleanup_arena_ struct arena *a = arena_new();
	struct parse_run run = read_output(a, "turbostat", text, 0);

	(void)state;
	assert_int_equal(run.outcome, OUTCOME_OK);
	assert_null(run.message);
	assert_value(&run, "turbostat.Busy%", 29.1);
	assert_value(&run, "turbostat.C6", 40120);
	assert_value(&run, "turbostat.PkgWatt", 121.4);
	assert_true(isnan(value(&run, "turbostat.PkgTmp"))); /* not a figure, not a zero */
	assert_value(&run, "monitors.cpu.turbostat", 2.5);
	run = read_output(a, "turbostat", text, 20);
	assert_int_equal(run.outcome, OUTCOME_PARTIAL);
	assert_int_equal(run.values.n, 0);
	run = read_output(a, "turbostat", "turbostat: no /dev/cpu/0/msr\n", 0);
	assert_string_equal(run.message, "turbostat: turbostat: no /dev/cpu/0/msr");
	assert_int_equal(run.values.n, 1);
	run = read_output(a, "turbostat", "", 0);
	assert_string_equal(run.message, "turbostat: it printed nothing");
}

static void perf_stat_is_read(void **state)
{
	static const char text[] =
		"\n Performance counter stats for 'system wide':\n\n"
		"     4,000,000,000      cpu-cycles\n"
		"     2,000,000,000      instructions              #    0.50  insn per cycle\n"
		"         1,000,000      cache-misses              #   10.00% of all cache refs\n"
		"   <not supported>      cache-references\n"
		"             3,000      context-switches\n\n"
		"       2.000000000 seconds time elapsed\n\n";
	_cleanup_arena_ struct arena *a = arena_new();
	struct parse_run run = read_output(a, "perf-stat", text, 0);

	(void)state;
	assert_int_equal(run.outcome, OUTCOME_OK);
	assert_value(&run, "perf-stat.ps.cpu-cycles", 2e9);
	assert_value(&run, "perf-stat.ps.context-switches", 1500);
	assert_value(&run, "perf-stat.overall.ipc", 0.5);
	assert_value(&run, "perf-stat.overall.MPKI", 0.5);
	assert_true(isnan(value(&run, "perf-stat.overall.cache-miss-rate%")));
	assert_true(isnan(value(&run, "perf-stat.ps.elapsed")));
	assert_string_equal(run.message, "perf-stat: not counted here: cache-references");
	run = read_output(a, "perf-stat", "Error:\nAccess is limited.\n", 0);
	assert_string_equal(run.message, "perf-stat: Error: Access is limited.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_differences),
		cmocka_unit_test(every_cpu_on_request),
		cmocka_unit_test(kernel_messages_of_the_run_only),
		cmocka_unit_test(slabs_and_queues),
		cmocka_unit_test(settings_are_facts),
		cmocka_unit_test(what_vanishes_is_missing),
		cmocka_unit_test(hostile_trees_are_borne),
		cmocka_unit_test(memory_is_flat),
		cmocka_unit_test(the_thread_samples),
		cmocka_unit_test(unknown_names_are_refused),
		cmocka_unit_test(logs_are_judged),
		cmocka_unit_test(reasons_for_doubt),
		cmocka_unit_test(turbostat_is_read),
		cmocka_unit_test(perf_stat_is_read),
	};

	proc_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
