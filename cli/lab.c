// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta lab: what Slurm needs for backend slurm. */
#include <string.h>

#include "cli/cli.h"
#include "core/file.h"
#include "targets/lab_setup.h"

static const struct cli_option lab_options[] = {
	{"output", 'o', "DIR", "setup: the folder, by a full path that all nodes know"},
	CLI_OPTIONS_END,
};

static int read_lab(struct cli *c, struct campaign_config **config)
{
	const char *path = c->n_operands > 1 ? c->operands[1] : c->config;
	struct catalog *cat;
	int r;

	path = path ? path : "kdelta.yaml";
	r = catalog_load(c->a, path_folder(c->a, path), &cat, c->e);
	if (!r)
		r = campaign_read(c->a, path, cat, config, c->e);
	if (!r && strcmp((*config)->backend, "slurm"))
		r = cli_usage(c, "%s is not for backend slurm", path);
	return r;
}

static int check(struct cli *c, const struct campaign_config *config)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct lab_finding *list;
	bool bad = false;
	size_t n, i;
	int r = lab_check(c->a, config, &list, &n, c->e);

	for (i = 0; i < n; i++) {
		strbuf_addf(&out, "%-20s %s%s%s\n", list[i].what, list[i].value,
			    list[i].trouble ? "   ! " : "", list[i].trouble ? list[i].trouble : "");
		bad |= list[i].trouble != NULL;
	}
	cli_print(&out);
	return r ? cli_failure(r) : bad ? EXIT_BLOCKER : EXIT_DONE;
}

static int run_lab(struct cli *c)
{
	_cleanup_strbuf_ struct strbuf done = STRBUF_INIT;
	const char *folder = cli_value(c, "output");
	const char *what = c->n_operands ? c->operands[0] : "";
	bool setup = !strcmp(what, "setup");
	struct campaign_config *config;
	int r;

	if ((!setup && strcmp(what, "check")) || c->n_operands > 2)
		return cli_usage(c, "lab takes setup or check, and a campaign file");
	if (setup && (!folder || *folder != '/' || strpbrk(folder, " \t\"'$")))
		return cli_usage(c, "where to? -o DIR, a full path without blanks");
	r = read_lab(c, &config);
	if (r || !setup)
		return r ? r : check(c, config);
	r = lab_setup(c->a, config, folder, &done, c->e);
	cli_print(&done);
	return r;
}

static const struct command lab_command = {
	.name = "lab",
	.usage = "setup|check [CONFIG]",
	.group = "measure",
	.summary = "prepare a Slurm cluster for `backend: slurm`",
	.help = "setup writes to a folder what boots nodes by their features: a helper and a reboot\n"
		"program (kexec; edit it for another boot loader), and lines for slurm.conf and\n"
		"helpers.conf. /etc is left alone. check tells what stands in the way (exit 5).\n",
	.examples = "kdelta lab setup lab.yaml -o /shared/kdelta/slurm\n"
		    "kdelta lab check lab.yaml\n",
	.options = lab_options,
	.run = run_lab,
};
REGISTER(command, lab_command);
