// SPDX-License-Identifier: GPL-2.0-or-later
/* Benchmark descriptions, campaign files with their errors, test cases, the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "campaign/campaign.h"
#include "core/file.h"
#include "jobs/job.h"
#include "machine/host.h"
#include "machine/knob.h"
#include "runner/guest.h"

struct fixture {
	struct arena *a;
	struct catalog *cat;
};

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	_cleanup_err_ struct err e = ERR_INIT;

	f->a = arena_new();
	*state = f;
	return catalog_load(f->a, NULL, &f->cat, &e);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	free(f);
	return 0;
}

/* All errors as lines "line:column: message (hint)". */
static char *errors_text(struct arena *a, const struct err *e)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct err_item *it;

	array_for_each (it, &e->list) {
		strbuf_addf(&sb, "%d:%d: %s", it->line, it->column, it->message);
		if (it->hint)
			strbuf_addf(&sb, " (%s)", it->hint);
		strbuf_addc(&sb, '\n');
	}
	return arena_strdup(a, strbuf_str(&sb));
}

static struct campaign_config *parse(struct fixture *f, const char *text)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct campaign_config *c = NULL;
	int ret = campaign_parse(f->a, "dir/test.yaml", text, strlen(text), f->cat, &c, &e);

	if (ret)
		fail_msg("%s", errors_text(f->a, &e));
	return c;
}

static void expect_errors(struct fixture *f, const char *text, const char *errors)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct campaign_config *c = NULL;

	assert_int_equal(campaign_parse(f->a, "dir/test.yaml", text, strlen(text), f->cat, &c, &e),
			 -EINVAL);
	assert_string_equal(errors_text(f->a, &e), errors);
}

static const struct test_case *find_case(const struct campaign_config *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_cases; i++)
		if (!strcmp(c->cases[i].name, name))
			return &c->cases[i];
	fail_msg("there is no test case %s", name);
	return NULL;
}

#define TWO "variants: [{name: a}, {name: b, env: {X: 1}}]\n"

static void names_carry_what_is_swept(void **state)
{
	struct campaign_config *c =
		parse(*state, TWO "benchmarks:\n"
				  "- tbench: {clients: [1, 2], time: 5s}\n"
				  "- hackbench: {groups: [1, 4], mode: [process, thread], "
				  "ipc: [pipe], loops: 100}\n"
				  "- wakebench: {workers: 2}\n");
	const char *const names[] = {
		"tbench/clients=1",
		"tbench/clients=2",
		"hackbench/groups=1/mode=process/ipc=pipe",
		"hackbench/groups=1/mode=thread/ipc=pipe",
		"hackbench/groups=4/mode=process/ipc=pipe",
		"hackbench/groups=4/mode=thread/ipc=pipe",
		"wakebench",
	};
	size_t i;

	assert_string_equal(c->name, "test");
	assert_int_equal(c->repeat, 5);
	assert_int_equal(c->n_cases, ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(c->cases[i].name, names[i]);
}

static void commands_are_built_from_the_description(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c =
		parse(f, TWO "benchmarks:\n"
			     "- tbench: {clients: 2, time: 1m, bind: cpus 0}\n"
			     "- hackbench: {mode: thread, ipc: pipe, loops: 7}\n"
			     "- perf-bench: {bench: [messaging, pipe], groups: [1, 2], loops: 9}\n"
			     "- kernbench: {source: {git: ../linux}, target: mm/ lib/, jobs: 3}\n");

	assert_string_equal(case_command(f->a, &c->cases[0]),
			    "tbench_srv & taskset -c 0 tbench -t 60 2 127.0.0.1");
	assert_string_equal(case_command(f->a, &c->cases[1]),
			    "hackbench -g 1 -T -p -l 7 -f 20 -s 100");
	assert_string_equal(case_command(f->a, find_case(c, "perf-bench/bench=messaging/groups=2")),
			    "perf bench sched messaging -g 2 -l 9");
	/* groups belong to messaging only, so the pipe is one case */
	assert_string_equal(case_command(f->a, find_case(c, "perf-bench/bench=pipe")),
			    "perf bench sched pipe -l 9");
	assert_int_equal(c->n_cases, 6);
	assert_string_equal(case_command(f->a, &c->cases[5]), "make -s -j3 mm/ lib/");
	assert_string_equal(c->cases[5].source_git, "dir/../linux");
}

static void jobs_know_limits_and_deadlines(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c = parse(f, TWO "benchmarks:\n"
						 "- tbench: {clients: 1, time: 10s}\n"
						 "- hackbench: {groups: 16, fds: 20, loops: 10}\n"
						 "- wakebench: {runtime: 5s, deadline: 9s}\n");
	struct job job;

	case_job(f->a, &c->cases[0], false, false, &job);
	assert_string_equal(job.argv[0], "tbench");
	assert_string_equal(job.server[0], "tbench_srv");
	assert_int_equal(job.port, 7003);
	assert_float_equal(c->cases[0].expected, 14, 1e-9);
	assert_float_equal(job.deadline, 3 * 14 + 30, 1e-9);
	case_job(f->a, &c->cases[0], false, true, &job);
	assert_float_equal(job.deadline, 6 * 14 + 90, 1e-9);
	case_job(f->a, &c->cases[1], false, false, &job);
	assert_int_equal(job.nofile, 16 * 20 * 2 + 200);
	case_job(f->a, &c->cases[2], false, false, &job);
	assert_float_equal(job.deadline, 9, 1e-9);
}

static void a_build_puts_no_text_into_the_shell(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c = parse(f, TWO "benchmarks:\n"
						 "- kernbench: {source: {deb: linux-source-6.1}, "
						 "target: \"a;reboot $(x)\", jobs: 1}\n");
	struct test_case built = c->cases[0];
	struct job job;

	built.source_dir = "/src";
	built.build_dir = "/out";
	case_job(f->a, &built, false, false, &job);
	/* in a guest: this machine's tools */
	assert_string_equal(job.argv[0], "chroot");
	assert_string_equal(job.argv[2], "bash");
	assert_string_equal(job.argv[4], "time \"$@\"");
	assert_string_equal(job.argv[6], "make");
	assert_string_equal(job.argv[10], "O=/out");
	assert_string_equal(job.argv[12], "a;reboot");
	assert_string_equal(job.argv[13], "$(x)");
	assert_null(job.argv[14]);
	assert_null(job.prepare);
	case_job(f->a, &built, true, false, &job);
	assert_string_equal(job.argv[0], "bash");
	assert_string_equal(job.prepare[4], "O=/out");
	assert_string_equal(job.prepare[5], "-j1");
	assert_string_equal(job.prepare[6], "clean");
}

static void shares_count_the_cpus_of_the_binding(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c = parse(f, TWO "benchmarks:\n"
						 "- tbench: {clients: [100%, 300%]}\n"
						 "- wakebench: {workers: 200%, bind: [cpus 0]}\n");
	int cpus = machine_cpus();

	assert_string_equal(case_param(&c->cases[0], "clients"), arena_printf(f->a, "%d", cpus));
	assert_string_equal(case_param(&c->cases[1], "clients"),
			    arena_printf(f->a, "%d", 3 * cpus));
	assert_string_equal(c->cases[2].name, "wakebench/bind=cpus0");
	assert_string_equal(case_param(&c->cases[2], "workers"), "2");
	assert_string_equal(c->cases[2].cpus, "0");
}

static void identity_is_all_parameters(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *x = parse(f, TWO "benchmarks: [tbench: {clients: 1, time: 60s}]\n");
	struct campaign_config *y =
		parse(f, TWO "benchmarks: [tbench: {clients: [1], time: 1m}]\n");
	struct campaign_config *z = parse(f, TWO "benchmarks: [tbench: {clients: 1, time: 61s}]\n");

	assert_string_equal(x->cases[0].identity, y->cases[0].identity);
	assert_string_not_equal(x->cases[0].name, y->cases[0].name);
	assert_string_not_equal(x->cases[0].identity, z->cases[0].identity);
	assert_string_equal(case_params_json(f->a, &y->cases[0]),
			    "{\"clients\":\"1\",\"time\":\"60s\"}");
	assert_string_equal(case_swept_json(f->a, &y->cases[0]), "[\"clients\"]");
}

static void equal_names_take_in_what_differs(void **state)
{
	struct campaign_config *c = parse(*state, TWO "benchmarks:\n"
						      "- tbench: {clients: 1, time: 10s}\n"
						      "- tbench: {clients: 1, time: 20s}\n");

	assert_string_equal(c->cases[0].name, "tbench/time=10s");
	assert_string_equal(c->cases[1].name, "tbench/time=20s");
}

/* A/A pairs are found by `same_as` in the settings of a variant of the same kernel. */
static void a_second_arm_is_a_variant_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c =
		parse(f, "variants: [{name: a, env: {X: 1}}, {name: b, env: {X: 2}}, "
			 "{name: a2, same_as: a}, {name: a3, same_as: a}]\n"
			 "benchmarks: [tbench: {clients: 1}]\n");
	char *a = variant_identity(f->a, &c->variants[0], "k");
	char *arm = variant_identity(f->a, &c->variants[2], "k");

	assert_string_equal(c->variants[2].name, "a2");
	assert_string_equal(c->variants[2].env[0].value, "1");
	assert_null(variant_original_identity(f->a, &c->variants[0], "k"));
	assert_string_equal(variant_original_identity(f->a, &c->variants[2], "k"), a);
	assert_string_not_equal(arm, a);
	assert_string_not_equal(arm, variant_identity(f->a, &c->variants[3], "k"));
	assert_string_equal(variant_settings_json(f->a, &c->variants[2], a),
			    arena_printf(f->a,
					 "{\"cmdline\":\"\",\"memory\":\"\",\"sysctl\":{},"
					 "\"sched_features\":[],\"env\":{\"X\":\"1\"},"
					 "\"same_as\":\"%s\"}",
					 a));
	expect_errors(f,
		      "variants: [{name: a}, {name: b, same_as: aa}, {name: c, same_as: b}]\n"
		      "benchmarks: [tbench]\n",
		      "1:42: 'same_as' names no other variant with a kernel or settings: 'aa' (did "
		      "you mean 'a'?)\n");
	expect_errors(f,
		      "variants: [{name: a}, {name: b, same_as: a, env: {X: 1}}]\n"
		      "benchmarks: [tbench]\n",
		      "1:45: unknown key 'env'\n");
	expect_errors(f, "variants: [{name: a}, {name: b}]\nbenchmarks: [tbench]\n",
		      "1:23: 'b' is the same as 'a': nothing differs (to compare a variant with "
		      "itself write it as {name: b, same_as: a})\n");
}

/* Nodes of a guest share its CPUs. */
static void nodes_need_cpus(void **state)
{
	static const char rest[] = "variants: [{name: a, kernel: {deb: linux-image-x}}]\n"
				   "benchmarks: [tbench]\n";
	struct fixture *f = *state;

	assert_int_equal(parse(f, arena_printf(f->a, "backend: qemu\ncpus: 4\nnuma: 2\n%s", rest))->numa,
			 2);
	assert_string_equal(
		parse(f, "backend: qemu\ncpus: 5\nnuma: 2\n"
			 "variants: [{name: a, kernel: {deb: linux-image-x}}]\n"
			 "benchmarks: [tbench: {clients: 100%, bind: node1}]\n")->cases[0].cpus, "2-4");
	expect_errors(f,
		      "backend: qemu\ncpus: 2\nnuma: 2\n"
		      "variants: [{name: a, kernel: {deb: linux-image-x}}]\n"
		      "benchmarks: [tbench: {bind: node2}]\n",
		      "5:29: 'node2' names no CPUs of this guest (write node0, node0-1 or cpus 0-3)\n");
	expect_errors(f, arena_printf(f->a, "backend: qemu\nnuma: 2\n%s", rest),
		      "2:7: 2 nodes need as many CPUs: 'cpus' is 1 (write cpus: 4)\n");
	expect_errors(f, "numa: 2\nvariants: [{name: a}]\nbenchmarks: [tbench]\n",
		      "1:7: 'numa' splits guests: it is for the backend qemu\n");
}

/* What a variant sets at run time is part of what it is. */
static void knobs_and_policy_make_a_variant(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c = parse(
		f, "variants: [{name: a, knobs: {/sys/kernel/x: 1}, policy: fifo:5, nice: -3}, "
		   "{name: b, knobs: {/sys/kernel/x: 2}, policy: fifo:5, nice: -3}, "
		   "{name: c, knobs: {/sys/kernel/x: 1}, policy: batch, nice: -3}, "
		   "{name: d, knobs: {/sys/kernel/x: 1}, policy: fifo:5}]\n"
		   "benchmarks: [tbench: {clients: 1}]\n");
	size_t i, k;

	for (i = 0; i < c->n_variants; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(variant_identity(f->a, &c->variants[i], "k"),
						variant_identity(f->a, &c->variants[k], "k"));
	assert_string_equal(variant_settings_json(f->a, &c->variants[0], NULL),
			    "{\"cmdline\":\"\",\"memory\":\"\",\"sysctl\":{},\"sched_features\":[],"
			    "\"env\":{},\"knobs\":{\"/sys/kernel/x\":\"1\"},\"policy\":\"fifo:5\","
			    "\"nice\":\"-3\"}");
	expect_errors(f,
		      "variants:\n"
		      "  - {name: a, knobs: {/etc/passwd: 1, /sys/../etc/x: 1}}\n"
		      "  - {name: b, policy: fifo}\n"
		      "  - {name: c, policy: batch:1}\n"
		      "  - {name: d, policy: rr:100}\n"
		      "benchmarks: [tbench]\n",
		      "2:22: '/etc/passwd' is no file below /sys or /proc/sys (write its whole "
		      "path, e.g. /sys/kernel/debug/sched/base_slice_ns)\n"
		      "2:22: '/sys/../etc/x' is no file below /sys or /proc/sys (write its whole "
		      "path, e.g. /sys/kernel/debug/sched/base_slice_ns)\n"
		      "3:23: 'fifo' is no policy: other, batch, idle, fifo:PRIO or rr:PRIO (1 to "
		      "99)\n"
		      "4:23: 'batch:1' is no policy: other, batch, idle, fifo:PRIO or rr:PRIO (1 "
		      "to 99)\n"
		      "5:23: 'rr:100' is no policy: other, batch, idle, fifo:PRIO or rr:PRIO (1 to "
		      "99)\n");
}

static void a_knob_says_what_it_is_set_to(void **state)
{
	static const struct {
		const char *text, *value;
	} files[] = {
		{"[none] mq-deadline kyber bfq \n", "none"},
		{"none voluntary (full)\n", "full"},
		{"always [madvise] never", "madvise"},
		{" 2800000\n", "2800000"},
		{"0\t60999", "0\t60999"},
		{"[]", "[]"},
		{"", ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++)
		assert_true(span_is(knob_value(span_of(files[i].text)), files[i].value));
	assert_true(knob_equal(span_of("Y"), span_of("1")));
	assert_true(knob_equal(span_of("N"), span_of("0")));
	assert_true(knob_equal(span_of("0x10"), span_of("16")));
	assert_true(knob_equal(span_of("0 60999"), span_of("0\t60999\n")));
	assert_false(knob_equal(span_of("Y"), span_of("0")));
	assert_false(knob_equal(span_of("1"), span_of("1 2")));
	assert_false(knob_equal(span_of("none"), span_of("full")));
}

static void all_errors_come_at_once(void **state)
{
	expect_errors(*state,
		      "campaign: a/b\n"
		      "repet: 3\n"
		      "backend: hots\n"
		      "variants:\n"
		      "  - name: a/b\n"
		      "  - {name: c, sysctls: {x: 1}}\n"
		      "benchmarks:\n"
		      "  - tbnech: {clients: 1}\n"
		      "  - hackbench: {mode: proces, groups: 0}\n"
		      "  - tbench: {time: 1s}\n",
		      "2:1: unknown key 'repet' (did you mean 'repeat'?)\n"
		      "1:11: a campaign's name has letters, digits, '.', '_', '+' and '-' only\n"
		      "3:10: unknown backend 'hots' (did you mean 'host'?)\n"
		      "5:11: a variant's name has 1 to 60 characters, no '/' and no leading '-'\n"
		      "6:15: unknown key 'sysctls' (did you mean 'sysctl'?)\n"
		      "8:5: unknown benchmark 'tbnech' (did you mean 'tbench'?)\n"
		      "9:39: 'groups' takes a whole number from 1, or a share of the CPUs such as "
		      "100%\n"
		      "9:23: 'mode' cannot be 'proces' (did you mean 'process'?)\n"
		      "10:20: 'time' takes a time such as 5s or 2m (at least 2s)\n");
}

static void wrong_values_are_placed(void **state)
{
	expect_errors(*state, TWO "benchmarks: [tbench: {clients: [1, two, -3]}]\n",
		      "2:36: 'clients' takes a whole number from 1, or a share of the CPUs such as "
		      "100%\n"
		      "2:41: 'clients' takes a whole number from 1, or a share of the CPUs such as "
		      "100%\n");
	expect_errors(*state, TWO "benchmarks: [kernbench: {target: x, source: {rpm: y}}]\n",
		      "2:45: 'source' takes {deb: PACKAGE}, {git: PATH} or {tarball: PATH}\n");
	expect_errors(*state, TWO "benchmarks: [kernbench: {}]\n",
		      "2:14: kernbench lacks 'source': where the kernel source comes from\n");
	expect_errors(*state, "variants: [{name: a}]\nbenchmarks: [tbench: {bind: node9}]\n",
		      "2:29: 'node9' names no CPUs of this machine (write node0, node0-1 or cpus "
		      "0-3)\n");
	expect_errors(
		*state, "variants: [{name: a, kernel: {deb: x}}]\nbenchmarks: [tbench]\n",
		"1:30: the host backend measures the running kernel only (use backend: manual "
		"or qemu for variants with other kernels)\n");
	expect_errors(*state, "variants: [{name: a, sysctl: {../x: 1}}]\nbenchmarks: [tbench]\n",
		      "1:30: '../x' is no name of a sysctl (write it as sysctl does, e.g. "
		      "kernel.sched_autogroup_enabled)\n");
	expect_errors(*state, TWO "benchmarks: [tbench: {clients: 1}, tbench: {clients: [1]}]\n",
		      "2:36: the test case tbench/clients=1 stands twice\n");
	expect_errors(
		*state, "{}\n",
		"1:1: 'variants' takes a list of variants (e.g. variants: [{name: base}, {name: "
		"new, sysctl: {...}}])\n"
		"1:1: 'benchmarks' takes a list of benchmarks (e.g. benchmarks: [tbench: "
		"{clients: [1, 2], time: 60s}])\n");
	expect_errors(*state, "- a\n", "1:1: a campaign file is a mapping\n");
}

/* How often each variant stands at each place of the blocks. */
#define MANUAL(kernel)                                                                             \
	"backend: manual\nvariants:\n- name: a\n  kernel: " kernel "\nbenchmarks: [tbench]\n"

static void kernels_come_from_sources(void **state)
{
	struct fixture *f = *state;
	const struct variant_config *v;

	v = parse(f, MANUAL("{git: {repo: ../linux, ref: v6.12-rc3}, patches: [/dev/null, "
			    "-R /dev/null, <1.2@host>], config: {target: tinyconfig, "
			    "fragments: /dev/null}, target: vmlinux}"))
		    ->variants;
	assert_string_equal(v->recipe->repo, "dir/../linux");
	assert_string_equal(v->recipe->ref, "v6.12-rc3");
	assert_false(v->recipe->remote);
	assert_int_equal(v->recipe->n_patches, 3);
	assert_false(v->recipe->patches[0].reverse);
	assert_true(v->recipe->patches[1].reverse);
	assert_string_equal(v->recipe->patches[1].text, "/dev/null");
	assert_string_equal(v->recipe->patches[2].text,
			    "https://lore.kernel.org/all/1.2@host/raw");
	assert_string_equal(v->recipe->config_target, "tinyconfig");
	assert_string_equal(v->recipe->target, "vmlinux");
	v = parse(f, MANUAL("{git: {repo: git@host:linux.git, ref: x}, config: running}"))->variants;
	assert_true(v->recipe->remote);
	assert_true(v->recipe->config_running);
	v = parse(f, MANUAL("{tarball: l.tar.gz}"))->variants;
	assert_string_equal(v->recipe->urls[0], "dir/l.tar.gz");
	assert_string_equal(v->recipe->config_target, "defconfig");
	assert_null(v->recipe->target);
	v = parse(f, MANUAL("{source: {deb: linux-source-6.1=6.1.192-3}}"))->variants;
	assert_string_equal(v->recipe->deb, "linux-source-6.1=6.1.192-3");
	assert_true(parse(f, MANUAL("running"))->variants->running);
	assert_true(parse(f, MANUAL("{running: yes}"))->variants->running);
}

static void wrong_kernels_are_placed(void **state)
{
	struct fixture *f = *state;

	expect_errors(f, MANUAL("{git: {repo: x}, deb: y}"),
		      "4:11: 'kernel' needs exactly one of image, deb, git, tarball, source, "
		      "release and running\n"
		      "4:17: 'git' needs ref: a branch, tag or commit\n");
	expect_errors(f, MANUAL("{git: {repo: x, ref: -v, brnch: y}}"),
		      "4:36: unknown key 'brnch'\n"
		      "4:17: 'git' needs ref: a branch, tag or commit\n");
	expect_errors(f, MANUAL("{deb: x, patches: [/dev/null], config: running}"),
		      "4:29: 'patches' is for kernels that are built: git, tarball or source\n"
		      "4:50: 'config' is for kernels that are built: git, tarball or source\n");
	expect_errors(f,
		      MANUAL("{tarball: x, patches: [nowhere, -x], config: {target: vmlinux, "
			     "fragments: nowhere}, target: bzimage}"),
		      "4:34: there is no patch dir/nowhere\n"
		      "4:43: a patch is a file, -R FILE or a <Message-ID>\n"
		      "4:65: 'vmlinux' is no make target such as defconfig or tinyconfig\n"
		      "4:85: there is no fragment dir/nowhere\n"
		      "4:103: 'target' takes one of: bzImage, vmlinux\n");
	expect_errors(f, MANUAL("{tarball: x, config: {target: defconfig, file: /dev/null}}"),
		      "4:32: 'config' needs exactly one of file, target and running: yes\n");
	expect_errors(f, MANUAL("{source: linux-source-6.1}"),
		      "4:20: 'source' takes a mapping such as {deb: linux-source-6.1}\n");
}

static void count_places(struct fixture *f, struct campaign_config *c, int *places)
{
	size_t n, i;
	struct plan_cell *plan = plan_make(f->a, c, &n);

	assert_int_equal(n, (size_t)c->repeat * c->n_variants * c->n_cases);
	for (i = 0; i < n; i++) {
		size_t visit = i / c->n_cases;

		assert_int_equal(plan[i].block, visit / c->n_variants + 1);
		assert_int_equal(plan[i].test, i % c->n_cases);
		assert_int_equal(plan[i].variant, plan[visit * c->n_cases].variant);
		if (i % c->n_cases == 0)
			places[(size_t)plan[i].variant * c->n_variants + visit % c->n_variants]++;
	}
}

static void two_variants_are_balanced(void **state)
{
	struct campaign_config *c = parse(*state, TWO "benchmarks: [tbench: {clients: [1, 2]}]\n");

	for (c->repeat = 1; c->repeat <= 20; c->repeat++) {
		for (c->seed = 1; c->seed <= 20; c->seed++) {
			int places[4] = {0};

			count_places(*state, c, places);
			assert_int_equal(places[0] + places[1], c->repeat);
			assert_in_range(places[0], c->repeat / 2, (c->repeat + 1) / 2);
			assert_int_equal(places[0], places[3]);
		}
	}
}

static void every_block_visits_each_variant_once(void **state)
{
	struct campaign_config *c = parse(
		*state, "variants: [{name: a}, {name: b, env: {X: 1}}, {name: c, env: {X: 2}}]\n"
			"benchmarks: [tbench: {clients: [1, 2]}]\n");
	int places[9] = {0}, v, p;

	c->repeat = 300;
	c->seed = 4;
	count_places(*state, c, places);
	for (v = 0; v < 3; v++) {
		assert_int_equal(places[3 * v] + places[3 * v + 1] + places[3 * v + 2], 300);
		for (p = 0; p < 3; p++) /* 100 expected, standard deviation 8 */
			assert_in_range(places[3 * v + p], 60, 140);
	}
}

/* Flip mode: a block has a tuple of each test case, each in an order of its own. */
static void tuples_hold_every_variant_once(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c =
		parse(f, "order: flip\nrepeat: 30\nseed: 3\n" TWO
			 "benchmarks: [tbench: {clients: [1, 2]}]\n");
	int first[2] = {0}, apart = 0, lead[] = {1, -1};
	size_t n, i;
	struct plan_cell *plan = plan_make(f->a, c, &n);

	assert_true(c->flip);
	assert_int_equal(n, 120);
	for (i = 0; i < n; i += 2) {
		assert_int_equal(plan[i].block, i / 4 + 1);
		assert_int_equal(plan[i + 1].block, plan[i].block);
		assert_int_equal(plan[i].test, i / 2 % 2);
		assert_int_equal(plan[i + 1].test, plan[i].test);
		assert_int_equal(plan[i].variant + plan[i + 1].variant, 1);
		first[plan[i].test] += plan[i].variant == 0;
		apart += i % 4 && plan[i].variant != plan[i - 2].variant;
	}
	assert_int_equal(first[0], 15);
	assert_int_equal(first[1], 15);
	/* the orders of two test cases are drawn apart */
	assert_in_range(apart, 5, 25);
	/* an odd number of further ones makes up for a lead */
	plan = plan_add(f->a, c, 31, 1, lead, &n);
	assert_int_equal(n, 4);
	assert_int_equal(plan[0].variant, 1);
	assert_int_equal(plan[2].variant, 0);
	assert_int_equal(plan[0].block, 31);
	c = parse(f, "order: flip\n" TWO "benchmarks: [tbench: {clients: 1}]\n");
	assert_int_equal(c->repeat, 20);
}

static void what_needs_a_boot_cannot_be_flipped(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c = parse(
		f, "order: flip\nbackend: qemu\nrepeat: 8\nruns_per_boot: 4\nvariants:\n"
		   "  - {name: a, kernel: {deb: x}, cmdline: nosmt}\n"
		   "  - {name: b, sysctl: {vm.swappiness: 1}}\n"
		   "  - {name: a2, same_as: a}\n"
		   "benchmarks: [hackbench]\n");

	assert_int_equal(c->tuples, 4);
	assert_int_equal(c->runs, 1);
	assert_string_equal(c->variants[1].deb, "x");
	assert_string_equal(c->variants[1].cmdline, "nosmt");
	assert_string_equal(c->variants[2].deb, "x");
	expect_errors(f,
		      "order: flip\nbackend: qemu\nvariants:\n"
		      "  - {name: a, kernel: {deb: x}}\n"
		      "  - {name: b, kernel: {deb: y}}\n"
		      "benchmarks: [hackbench]\n",
		      "5:5: with order: flip 'b' must have the kernel of 'a' (it cannot be switched "
		      "inside a boot: leave 'order: flip' out)\n");
	expect_errors(f,
		      "order: flip\nbackend: qemu\nvariants:\n"
		      "  - {name: a, kernel: {deb: x}}\n"
		      "  - {name: b, kernel: {deb: x}, memory: 1G}\n"
		      "benchmarks: [hackbench]\n",
		      "5:5: with order: flip 'b' must have the memory of 'a' (it cannot be switched "
		      "inside a boot: leave 'order: flip' out)\n");
	expect_errors(f, "order: flop\n" TWO "benchmarks: [hackbench]\n",
		      "1:8: 'order' takes one of: blocks, flip\n");
	expect_errors(f, "order: flip\nrepeat: auto\n" TWO "benchmarks: [hackbench]\n",
		      "2:9: with order: flip 'repeat' is a number (it counts the pairs; "
		      "--until-sure stops when they are enough)\n");
}

/* The order of a seed is a promise to those who stored it. */
static void a_seed_gives_one_order(void **state)
{
	struct fixture *f = *state;
	struct campaign_config *c =
		parse(f, "repeat: 4\nseed: 7\n"
			 "variants: [{name: a}, {name: b, env: {X: 1}}, {name: c, env: {X: 2}}]\n"
			 "benchmarks: [tbench: {clients: 1}]\n");
	_cleanup_strbuf_ struct strbuf order = STRBUF_INIT, other = STRBUF_INIT;
	size_t n, i;
	struct plan_cell *plan = plan_make(f->a, c, &n);

	for (i = 0; i < n; i++)
		strbuf_addf(&order, "%d", plan[i].variant);
	assert_string_equal(strbuf_str(&order), "120021012201");
	c->seed = 8;
	plan = plan_make(f->a, c, &n);
	for (i = 0; i < n; i++)
		strbuf_addf(&other, "%d", plan[i].variant);
	assert_string_not_equal(strbuf_str(&other), strbuf_str(&order));
}

static bool lookup(const void *data, struct span name, double *value)
{
	(void)data;
	*value = 5;
	return span_is(name, "time");
}

static void expressions_are_sums_of_products(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {{"3", 3}, {"time", 5}, {"time*1.2+2", 8}, {" 2 * time * time + 1 + 0.5", 51.5}};
	static const char *const bad[] = {"", "tim", "time+", "time**2", "time-1", "2time"};
	size_t i;
	double v;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(catalog_evaluate(good[i].text, lookup, NULL, &v));
		assert_float_equal(v, good[i].value, 1e-12);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(catalog_evaluate(bad[i], lookup, NULL, &v));
}

static void metrics_have_meaning(void **state)
{
	struct fixture *f = *state;
	struct db_metric m;

	catalog_metric(f->cat, "tbench", "throughput", NULL, &m);
	assert_string_equal(m.name, "tbench.throughput");
	assert_string_equal(m.unit, "MB/s");
	assert_int_equal(m.direction, DIR_HIGHER);
	assert_int_equal(m.mean_kind, MEAN_HMEAN);
	assert_string_equal(m.role, "headline");
	catalog_metric(f->cat, "schbench", "wakeup.p50", "us", &m);
	assert_int_equal(m.direction, DIR_LOWER);
	assert_int_equal(m.mean_kind, MEAN_MEDIAN);
	assert_string_equal(m.role, "counter");
	catalog_metric(f->cat, "nothing", "known", "apples", &m);
	assert_int_equal(m.direction, DIR_UNKNOWN);
	assert_string_equal(m.unit, "apples");
	assert_string_equal(m.role, "counter");
}

static const struct bench_def *write_and_load(struct fixture *f, const char *text, char **errors)
{
	char dir[] = "/tmp/kdelta-catalog.XXXXXX";
	_cleanup_err_ struct err e = ERR_INIT;
	struct catalog *cat = NULL;
	char *sub, *file;

	assert_non_null(mkdtemp(dir));
	sub = arena_printf(f->a, "%s/benchmarks", dir);
	file = arena_printf(f->a, "%s/mine.yaml", sub);
	assert_int_equal(file_make_dirs(sub, &e), 0);
	assert_int_equal(file_write_atomic(file, text, strlen(text), &e), 0);
	catalog_load(f->a, dir, &cat, &e);
	*errors = errors_text(f->a, &e);
	file_remove_tree(dir, &e);
	return catalog_find(cat, "mine");
}

static const char mine[] =
	"benchmark: mine\n"
	"program: ./mine.sh\n"
	"complete: ^end$\n"
	"metrics:\n"
	"  score: {unit: points, direction: higher, pattern: \"^score ([0-9.e+]+)$\"}\n"
	"  time: {unit: s, direction: lower, pattern: \"took ([0-9.]+)\"}\n";

static void patterns_read_regular_output(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text;
		int exit_status, signal;
		const char *error; /* NULL: ok */
	} cases[] = {
		{"score 5\nscore 7.5\ntook 1.25 s\nend\n", 0, 0, NULL},
		{"score 5\ntook 1 s\n", 0, 0, "truncated"},
		{"score x\ntook 1 s\nend\n", 0, 0, "no_result"},
		{"score 1e+999\ntook 1 s\nend\n", 0, 0, "bad_number"},
		{"score 5\ntook 1 s\nend\n", 3, 0, "command_failed"},
		{"score 5\ntook 1 s\nend\n", 124, 0, "hang"},
		{"score 5\ntook 1 s\nend\n", -1, 15, "interrupted"},
		{"score 5\ntook 1 s\nend\n", -1, 9, "killed"},
		{"score 5\ntook 1 s\nend\n", -1, 11, "crashed"},
		{" \n", 0, 0, "empty"},
	};
	_cleanup_err_ struct err e = ERR_INIT;
	char *errors;
	const struct bench_def *def = write_and_load(f, mine, &errors);
	struct parse_result *r;
	size_t i;

	assert_string_equal(errors, "");
	assert_non_null(def);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct parse_input in = {span_of(cases[i].text), cases[i].exit_status,
					       cases[i].signal, NULL};

		assert_int_equal(catalog_parse(f->a, def, &in, &r, &e), 0);
		if (cases[i].error) {
			assert_int_equal(r->outcome, OUTCOME_ERROR);
			assert_string_equal(r->error, cases[i].error);
			assert_int_equal(r->runs.items[0].values.n, 0);
			continue;
		}
		assert_int_equal(r->outcome, OUTCOME_OK);
		assert_int_equal(r->runs.items[0].values.n, 2);
		assert_string_equal(r->runs.items[0].values.items[0].metric, "score");
		assert_float_equal(r->runs.items[0].values.items[0].value, 7.5, 0);
		assert_float_equal(r->runs.items[0].values.items[1].value, 1.25, 0);
	}
}

static void descriptions_are_checked(void **state)
{
	struct fixture *f = *state;
	char *errors;

	write_and_load(f,
		       "benchmark: mine\n"
		       "paser: pattern\n"
		       "expected: tim+1\n"
		       "args: [\"{n}\", \"{m}\"]\n"
		       "params:\n"
		       "  n: {type: number, args: [-n, \"{}\"]}\n"
		       "metrics:\n"
		       "  a: {direction: up, pattern: x}\n"
		       "  b: {pattern: \"([0-9]\"}\n"
		       "  c: {unit: s}\n",
		       &errors);
	assert_string_equal(
		errors,
		"2:1: unknown key 'paser' (did you mean 'parser'?)\n"
		"6:13: 'type' takes one of: count, duration, word, text\n"
		"8:18: 'direction' takes one of: higher, lower, neutral, depends, unknown\n"
		"8:31: 'pattern' needs a group around the number: ([0-9.]+)\n"
		"9:16: not a POSIX extended regular expression: Unmatched ( or \\(\n"
		"9:6: the metric 'b' lacks its pattern\n"
		"10:6: the metric 'c' lacks its pattern\n"
		"3:11: 'expected' takes a sum of products of numbers and parameters such as "
		"time*1.2+2\n"
		"4:7: {m} names no parameter\n");
	write_and_load(f, "benchmark: tbench\nmetrics: {}\n", &errors);
	assert_non_null(strstr(errors, "1:1: the benchmark 'tbench' exists already"));
}

static void cpu_lists(void **state)
{
	int highest;

	(void)state;
	assert_int_equal(cpulist_count("0-3,8", &highest), 5);
	assert_int_equal(highest, 8);
	assert_int_equal(cpulist_count("", &highest), -1);
	assert_int_equal(cpulist_count("3-1", &highest), -1);
	assert_int_equal(cpulist_count("1-", &highest), -1);
	assert_int_equal(cpulist_count("a", &highest), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_carry_what_is_swept),
		cmocka_unit_test(commands_are_built_from_the_description),
		cmocka_unit_test(jobs_know_limits_and_deadlines),
		cmocka_unit_test(a_build_puts_no_text_into_the_shell),
		cmocka_unit_test(shares_count_the_cpus_of_the_binding),
		cmocka_unit_test(identity_is_all_parameters),
		cmocka_unit_test(equal_names_take_in_what_differs),
		cmocka_unit_test(a_second_arm_is_a_variant_of_its_own),
		cmocka_unit_test(knobs_and_policy_make_a_variant),
		cmocka_unit_test(nodes_need_cpus),
		cmocka_unit_test(a_knob_says_what_it_is_set_to),
		cmocka_unit_test(all_errors_come_at_once),
		cmocka_unit_test(wrong_values_are_placed),
		cmocka_unit_test(kernels_come_from_sources),
		cmocka_unit_test(wrong_kernels_are_placed),
		cmocka_unit_test(two_variants_are_balanced),
		cmocka_unit_test(every_block_visits_each_variant_once),
		cmocka_unit_test(tuples_hold_every_variant_once),
		cmocka_unit_test(what_needs_a_boot_cannot_be_flipped),
		cmocka_unit_test(a_seed_gives_one_order),
		cmocka_unit_test(expressions_are_sums_of_products),
		cmocka_unit_test(metrics_have_meaning),
		cmocka_unit_test(patterns_read_regular_output),
		cmocka_unit_test(descriptions_are_checked),
		cmocka_unit_test(cpu_lists),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
