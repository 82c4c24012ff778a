// SPDX-License-Identifier: GPL-2.0-or-later
#include "targets/lab_setup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "kernels/kernel.h"
#include "targets/lab.h"
#include "targets/slurm.h"

/* It tells the kernel that runs, and not the one that was asked for: a boot may lead elsewhere. */
static const char helper[] =
	"#!/bin/sh\n"
	"# Slurm's helper for node features: without an argument the feature of the running kernel,\n"
	"# with one the feature that the next boot is for.\n"
	"next=/var/lib/kdelta/next-feature\n"
	"if [ $# -gt 0 ]; then\n"
	"\tmkdir -p \"${next%/*}\" && echo \"$1\" >\"$next\"\n"
	"\texit\n"
	"fi\n"
	"while read -r feature release; do\n"
	"\t[ \"$release\" != \"$(uname -r)\" ] || echo \"$feature\"\n"
	"done <\"${0%/*}/kernels\"\n";

static const char reboot[] =
	"#!/bin/sh\n"
	"# Slurm's RebootProgram: into the kernel of the feature that was asked for, else the running\n"
	"# one anew. By kexec, for this boot only: a kernel that panics ends in the default one. Put\n"
	"# another boot method here where kexec does not work.\n"
	"next=/var/lib/kdelta/next-feature\n"
	"release=$(uname -r)\n"
	"if [ -s \"$next\" ]; then\n"
	"\twanted=$(cat \"$next\")\n"
	"\twhile read -r feature kernel; do\n"
	"\t\t[ \"$feature\" != \"$wanted\" ] || release=$kernel\n"
	"\tdone <\"${0%/*}/kernels\"\n"
	"\trm -f \"$next\"\n"
	"fi\n"
	"kexec -l \"/boot/vmlinuz-$release\" --initrd=\"/boot/initrd.img-$release\" --reuse-cmdline &&\n"
	"\tsystemctl kexec\n";

/* What `uname -r` says under the kernel of a variant. */
static int find_release(struct arena *a, const struct variant_config *v, const char **release,
			struct err *e)
{
	const char *version;
	int ret;

	*release = v->release;
	if (*release)
		return 0;
	if (!v->image) {
		err_add(e, -EINVAL, "the kernel of '%s' has no name that nodes know", v->name);
		err_hint(e, "install it there and write kernel: {release: what `uname -r` says}");
		return -EINVAL;
	}
	ret = kernel_read_version(a, v->image, &version, e);
	if (!ret)
		*release = arena_strndup(a, version, strcspn(version, " "));
	return ret;
}

/* Whether an earlier variant has the feature, too. */
static bool is_known(const struct campaign_config *c, size_t variant)
{
	size_t i = 0;

	while (strcmp(c->slurm.features[i], c->slurm.features[variant]))
		i++;
	return i < variant;
}

/* The features with commas between them; kernels and helpers: the lines of each. */
static int add_features(struct arena *a, const struct campaign_config *c, const char *folder,
			struct strbuf *all, struct strbuf *kernels, struct strbuf *helpers,
			struct err *e)
{
	const char *release;
	size_t i;
	int ret;

	for (i = 0; i < c->n_variants; i++) {
		const char *feature = c->slurm.features[i];

		ret = find_release(a, &c->variants[i], &release, e);
		if (ret)
			return ret;
		if (is_known(c, i))
			continue;
		strbuf_addf(all, "%s%s", all->len ? "," : "", feature);
		strbuf_addf(kernels, "%s %s\n", feature, release);
		strbuf_addf(helpers, "Feature=%s Helper=%s/helper\n", feature, folder);
	}
	return 0;
}

static int write_one(struct arena *a, const char *folder, const char *name, const char *text,
		     mode_t mode, struct err *e)
{
	const char *path = arena_printf(a, "%s/%s", folder, name);
	int ret = file_write_atomic(path, text, strlen(text), e);

	if (!ret && chmod(path, mode))
		ret = err_add_errno(e, "cannot make %s a program", path);
	return ret;
}

int lab_setup(struct arena *a, const struct campaign_config *c, const char *folder,
	      struct strbuf *done, struct err *e)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT, kernels = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf helpers = STRBUF_INIT;
	const char *nodes, *conf;
	int ret = add_features(a, c, folder, &all, &kernels, &helpers, e);

	if (ret)
		return ret;
	nodes = slurm_join(a, c->slurm.nodes);
	strbuf_addf(&helpers, "MutuallyExclusive=%s\nBootTime=%.0f\nExecTime=30\n", strbuf_str(&all),
		    c->slurm.boot_deadline);
	conf = arena_printf(a,
			    "NodeFeaturesPlugins=node_features/helpers\n"
			    "RebootProgram=%s/reboot\n"
			    "ResumeTimeout=%.0f\n"
			    "ReturnToService=2\n"
			    "# optional: Slurm itself tries again, after two minutes\n"
			    "# RequeueExit=%d\n"
			    "# and in the lines of the nodes %s:\n"
			    "#   NodeName=... Feature=%s\n",
			    folder, c->slurm.boot_deadline, LAB_EXIT_REQUEUE, nodes,
			    strbuf_str(&all));
	ret = file_make_dirs(folder, e);
	if (!ret)
		ret = write_one(a, folder, "helper", helper, 0755, e);
	if (!ret)
		ret = write_one(a, folder, "reboot", reboot, 0755, e);
	if (!ret)
		ret = write_one(a, folder, "kernels", strbuf_str(&kernels), 0644, e);
	if (!ret)
		ret = write_one(a, folder, "helpers.conf", strbuf_str(&helpers), 0644, e);
	if (!ret)
		ret = write_one(a, folder, "slurm.conf", conf, 0644, e);
	if (!ret)
		strbuf_addf(done,
			    "%s: helper, reboot, kernels, helpers.conf, slurm.conf\n"
			    "add the lines of the last two to those of /etc/slurm on all nodes, restart "
			    "slurmctld and slurmd, then: kdelta lab check\n",
			    folder);
	return ret;
}

/* ---- looking ---- */

typedef ARRAY_OF(struct lab_finding) findings_t;

static void add(findings_t *list, const char *what, const char *value, const char *trouble)
{
	*ARRAY_PUSH(list) = (struct lab_finding){what, value, trouble};
}

/* "RebootProgram           = /lab/reboot" of `scontrol show config`; "(null)" and "" are none. */
static const char *setting(struct arena *a, struct span config, const char *key)
{
	struct span line, word;

	while (span_next_line(&config, &line, NULL)) {
		if (!span_next_word(&line, &word) || !span_is(word, key) ||
		    span_next_char(&line) != '=')
			continue;
		line = span_trim(line);
		return span_is(line, "(null)") ? "" : arena_strndup(a, line.s, line.len);
	}
	return "";
}

static int check_config(struct arena *a, findings_t *list, struct err *e)
{
	static const struct {
		const char *key, *has, *trouble;
	} wanted[] = {
		{"NodeFeaturesPlugins", "helpers",
		 "nodes cannot be booted by feature: see `kdelta lab setup`"},
		{"RebootProgram", "/", "nodes are not rebooted: see `kdelta lab setup`"},
		{"RequeueExit", "75", NULL}, /* without it the driver submits again */
	};
	const char *const argv[] = {"scontrol", "show", "config", NULL};
	const char *out;
	size_t i;
	int ret = slurm_ask(a, argv, &out, e);

	for (i = 0; !ret && i < ARRAY_SIZE(wanted); i++) {
		const char *value = setting(a, span_of(out), wanted[i].key);

		add(list, wanted[i].key, *value ? value : "not set",
		    strstr(value, wanted[i].has) ? NULL : wanted[i].trouble);
	}
	return ret;
}

/* "n1|idle|k61,k612" */
static int check_nodes(struct arena *a, const struct campaign_config *c, findings_t *list,
		       struct err *e)
{
	const char *const argv[] = {"sinfo", "-h", "-N", "-o", "%N|%T|%f", "-n",
				    slurm_join(a, c->slurm.nodes), NULL};
	struct slurm_sight *sight;
	const char *out;
	size_t i, k, n = 0;
	int ret = slurm_ask(a, argv, &out, e);

	while (c->slurm.nodes[n])
		n++;
	sight = arena_alloc_array(a, n, sizeof(*sight));
	if (!ret)
		ret = slurm_look(a, &c->slurm, c->slurm.nodes, sight, e);
	for (i = 0; !ret && i < n; i++) {
		const char *start = arena_printf(a, "%s|", c->slurm.nodes[i]), *trouble = NULL;
		struct span rest = span_of(out), line = {"", 0};

		while (!span_starts(line, start))
			if (!span_next_line(&rest, &line, NULL))
				break;
		if (!span_starts(line, start))
			trouble = "Slurm does not know this node";
		for (k = 0; !trouble && k < c->n_variants; k++)
			if (!span_find(line, c->slurm.features[k]))
				trouble = arena_printf(a, "it lacks the feature %s",
						       c->slurm.features[k]);
		if (!trouble && sight[i].down)
			trouble = "it takes no jobs: see scontrol show node";
		add(list, c->slurm.nodes[i],
		    trouble && !line.len ? "" : arena_strndup(a, line.s, line.len), trouble);
	}
	return ret;
}

int lab_check(struct arena *a, const struct campaign_config *c, struct lab_finding **list,
	      size_t *n, struct err *e)
{
	static const char *const programs[] = {"sbatch", "squeue", "sinfo", "scancel", "scontrol"};
	findings_t found = {NULL, 0, 0};
	bool missing = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		const char *path = path_program(a, programs[i]);

		missing |= !path;
		add(&found, programs[i], path ? path : "not there",
		    path ? NULL : "apt-get install slurm-client");
	}
	add(&found, "folder", c->slurm.folder,
	    access(c->slurm.folder, W_OK) ? "it is not there, or not ours to write" : NULL);
	if (!missing)
		ret = check_config(a, &found, e);
	if (!missing && !ret)
		ret = check_nodes(a, c, &found, e);
	*list = arena_copy(a, found.items, found.n, sizeof(*found.items));
	*n = found.n;
	ARRAY_FREE(&found);
	return ret;
}
