// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta init: a commented campaign file for this machine. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/file.h"
#include "core/num.h"
#include "machine/host.h"

/* A name as a YAML text in double quotes. */
static void add_quoted(struct strbuf *sb, const char *s)
{
	strbuf_addc(sb, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *s);
	}
	strbuf_addc(sb, '"');
}

/*
 * Two kernels of /boot are compared by booting each by hand; with fewer the running one is
 * compared with itself under another setting.
 */
static void add_variants(struct strbuf *sb, char *const *kernels, size_t n)
{
	size_t i;

	if (n < 2) {
		strbuf_adds(sb,
			    "backend: host                   # host: this kernel; manual: you boot "
			    "each kernel; qemu: guests\n\n"
			    "# The first variant is the baseline.\n"
			    "variants:\n"
			    "  - name: base\n"
			    "  - name: noautogroup\n"
			    "    sysctl: {kernel.sched_autogroup_enabled: 0}\n"
			    "    # sched_features: [NO_HRTICK]   # needs debugfs\n"
			    "    # env: {MALLOC_ARENA_MAX: 1}\n"
			    "  # With backend: qemu, a kernel that is built from a commit and patches:\n"
			    "  # - name: patched\n"
			    "  #   kernel:\n"
			    "  #     git: {repo: ../linux, ref: v6.12}\n"
			    "  #     patches: [series.mbox]\n"
			    "  #     config: {target: defconfig, fragments: [my.config]}\n");
		return;
	}
	strbuf_adds(sb,
		    "backend: manual                 # you boot each kernel and type the same line "
		    "again\n\n"
		    "# The first variant is the baseline. The kernels found in /boot:\n"
		    "variants:\n");
	for (i = 0; i < n; i++) {
		const char *release = kernels[i] + strlen("vmlinuz-");

		strbuf_adds(sb, i < 2 ? "  - name: " : "  # - name: ");
		add_quoted(sb, release);
		strbuf_adds(sb, i < 2 ? "\n    kernel: {release: " : "\n  #   kernel: {release: ");
		add_quoted(sb, release);
		strbuf_adds(sb, "}\n");
	}
}

static void add_nodes(struct strbuf *sb, struct arena *a)
{
	char *cpus;
	int node;

	strbuf_adds(sb, "# NUMA nodes:");
	for (node = 0; (cpus = machine_node_cpus(a, node)); node++)
		strbuf_addf(sb, " node%d = CPUs %s;", node, cpus);
	strbuf_adds(sb, node ? " bind: node0 (or cpus 0-3) keeps a benchmark there.\n"
			     : " none told; bind: cpus 0-3 keeps a benchmark on those CPUs.\n");
}

/* 1, 2, 4 ... up to the number of CPUs. */
static void add_counts(struct strbuf *sb, int cpus)
{
	int n;

	strbuf_addc(sb, '[');
	for (n = 1; n < cpus; n *= 4)
		strbuf_addf(sb, "%d, ", n);
	strbuf_addf(sb, "%d]", cpus);
}

static int write_config(struct cli *c, struct strbuf *sb)
{
	struct db_machine machine;
	char **kernels = NULL;
	size_t n = 0;
	int cpus = machine_cpus(), r = 0;

	machine_read(c->a, &machine);
	if (file_is_dir("/boot"))
		r = file_list(c->a, "/boot", "vmlinuz-*", &kernels, &n, c->e);
	if (r)
		return r;
	strbuf_addf(sb, "# A campaign for %s: %s.\n", *machine.name ? machine.name : "this machine",
		    machine.description);
	strbuf_adds(sb, "# `kdelta run -n` shows the plan, `kdelta run` measures, `kdelta compare` "
			"shows what differs.\n");
	add_nodes(sb, c->a);
	strbuf_adds(
		sb,
		"\ncampaign: first\n"
		"repeat: 5                       # runs (or boots) of each; 10 for a claim on a "
		"list\n");
	add_variants(sb, kernels, n);
	strbuf_adds(
		sb,
		"  # A second arm measures a variant once more under another name: it shows how\n"
		"  # often nothing looks like a change.\n"
		"  # - {name: again, same_as: NAME}\n");
	strbuf_adds(sb, "\n# A list is an axis; the product of all axes is the set of test cases.\n"
			"# Counts may be a share of the CPUs: clients: 100%\n"
			"benchmarks:\n"
			"  - hackbench:\n"
			"      groups: ");
	add_counts(sb, cpus);
	strbuf_adds(sb, "\n      mode: [process, thread]\n"
			"      ipc: pipe\n"
			"      loops: auto               # so that a run lasts about 4 s\n"
			"  - tbench:\n"
			"      clients: ");
	add_counts(sb, cpus);
	strbuf_adds(
		sb,
		"\n      time: 30s\n"
		"  - schbench:                   # wakebench takes its place where it is absent\n"
		"      message_threads: 1\n"
		"      workers: 100%\n"
		"      runtime: 30s\n"
		"  # - kernbench:\n"
		"  #     source: {deb: linux-source-6.1}   # or git: PATH, tarball: PATH\n"
		"  #     config: tinyconfig\n"
		"  #     target: kernel/sched/\n");
	return 0;
}

static int run_init(struct cli *c)
{
	const char *path = c->config ? c->config : c->n_operands ? c->operands[0] : "kdelta.yaml";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	int r;

	if (c->n_operands > 1)
		return cli_usage(c, "init takes one file");
	if (!c->dry_run && file_exists(path)) {
		err_add(c->e, -EEXIST, "%s exists already", path);
		err_hint(c->e, "name another file, or remove it first");
		return -EEXIST;
	}
	r = write_config(c, &sb);
	if (r)
		return r;
	if (c->dry_run) {
		cli_print(&sb);
		return EXIT_DONE;
	}
	r = file_write_atomic(path, strbuf_str(&sb), sb.len, c->e);
	if (!r)
		cli_note(c, "wrote %s; now: kdelta run %s -n", path,
			 strcmp(path, "kdelta.yaml") ? path : "");
	return r ? r : EXIT_DONE;
}

static const struct command init_command_entry = {
	.name = "init",
	.usage = "[FILE]",
	.group = "measure",
	.summary = "write a commented campaign file for this machine",
	.help = "Writes kdelta.yaml (or FILE) with the CPUs, NUMA nodes and kernels of this "
		"machine.\n"
		"Nothing is overwritten; -n prints it.\n",
	.examples = "kdelta init\nkdelta run -n\n",
	.run = run_init,
};
REGISTER(command, init_command_entry);
