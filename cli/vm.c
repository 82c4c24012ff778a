// SPDX-License-Identifier: GPL-2.0-or-later
/* kdelta vm: a look into the guest of a variant. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "core/file.h"
#include "runner/vm.h"

static const struct cli_option vm_options_table[] = {
	{"variant", 0, "NAME", "whose guest (default: the first)"},
	CLI_OPTIONS_END,
};

/* Index of the variant of that name, the first for NULL. */
static int find_variant(struct cli *c, const struct campaign_config *config, const char *name,
			int *variant)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	size_t i;

	for (i = 0; i < config->n_variants; i++) {
		*variant = (int)i;
		if (!name || !strcmp(config->variants[i].name, name))
			return 0;
		strbuf_addf(&names, "%s%s", i ? ", " : "", config->variants[i].name);
	}
	err_add(c->e, -ENOENT, "%s has no variant '%s'", config->file, name);
	err_hint(c->e, "its variants are %s", strbuf_str(&names));
	return -ENOENT;
}

static int run_vm(struct cli *c)
{
	struct campaign_config *config;
	struct catalog *cat;
	const char *path;
	int r, variant = 0;

	if (!c->n_operands || c->n_operands > 2 || strcmp(c->operands[0], "shell"))
		return cli_usage(c, "vm takes the word shell and a campaign file");
	path = c->n_operands > 1 ? c->operands[1] : c->config ? c->config : "kdelta.yaml";
	r = catalog_load(c->a, path_folder(c->a, path), &cat, c->e);
	if (!r)
		r = campaign_read(c->a, path, cat, &config, c->e);
	if (r)
		return r;
	r = find_variant(c, config, cli_value(c, "variant"), &variant);
	if (!r)
		r = vm_shell(c->a, config, variant,
			     c->quiet ? progress_note_quiet : progress_note, c->e);
	return cli_failure(r);
}

static const struct command vm_command_entry = {
	.name = "vm",
	.usage = "shell [CONFIG]",
	.group = "measure",
	.summary = "a shell in the guest of a variant, for a person who wants to look",
	.help = "Boots the guest that `kdelta run` would measure in: the variant's kernel, command "
		"line,\n"
		"sysctls, features and environment, the benchmarks and busybox. Its serial console "
		"is\n"
		"this terminal. `exit` or Ctrl-D switches it off, Ctrl-A X ends it where nothing "
		"else\n"
		"does. Nothing is stored; nothing that is changed in it lasts.\n",
	.examples = "kdelta vm shell configs/quickstart.yaml\n"
		    "kdelta vm shell --variant new campaign.yaml\n",
	.options = vm_options_table,
	.run = run_vm,
};
REGISTER(command, vm_command_entry);
