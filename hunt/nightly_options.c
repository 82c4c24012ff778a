// SPDX-License-Identifier: GPL-2.0-or-later
/* `nightly:` of a campaign file, which the reader of campaigns leaves to us. */
#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/num.h"
#include "core/yaml.h"
#include "hunt/named.h"
#include "hunt/nightly_read.h"

static const char *const keys[] = {"repo",	"branch", "every", "baseline", "budget", "threshold",
				   "mail",	"junit",  "openmetrics", "kcidb", "webhook", "bisect",
				   "keep",	"disk",	  NULL};
static const char *const mail_keys[] = {"to", "from", "smtp", "eml", NULL};

/* Relative to the folder of the file. */
static void get_path(struct nightly *n, struct yaml_node *map, const char *key, const char **out)
{
	const char *folder = path_folder(n->a, n->config->file);

	yaml_get_string(map, key, out, n->e);
	if (*out && **out != '/')
		*out = arena_printf(n->a, "%s/%s", folder, *out);
}

static void read_mail(struct nightly *n, struct yaml_node *map)
{
	struct nightly_options *o = &n->opt;

	if (!map)
		return;
	if (map->kind != YAML_MAPPING) {
		yaml_error(map, n->e, "'mail' takes a mapping: to, from, smtp, eml");
		return;
	}
	yaml_check_keys(map, mail_keys, n->e);
	yaml_get_list(n->a, map, "to", &o->to, &o->n_to, n->e);
	yaml_get_string(map, "from", &o->from, n->e);
	yaml_get_string(map, "smtp", &o->smtp, n->e);
	get_path(n, map, "eml", &o->eml);
	if (!o->n_to || !o->from)
		yaml_error(map, n->e, "'mail' needs to: and from:");
	else if (!o->smtp && !o->eml)
		yaml_error(map, n->e, "'mail' needs smtp: (a server) or eml: (a folder)");
}

static void read_threshold(struct nightly *n, struct yaml_node *map)
{
	struct yaml_node *node = yaml_get(map, "threshold");
	const char *text = NULL;
	double v;

	n->opt.threshold = 0.01;
	if (!node || yaml_get_string(map, "threshold", &text, n->e))
		return;
	if (!str_ends(text, "%") ||
	    !num_parse((struct span){text, strlen(text) - 1}, &v) || v < 0 || v >= 100)
		yaml_error(node, n->e, "'threshold' takes a share such as 2%%, not '%s'", text);
	else
		n->opt.threshold = v / 100;
}

/* "raw 90 days", "raw for ever", "samples for ever" */
static bool read_keep_part(struct nightly *n, struct span part)
{
	char text[32], *end = text;
	struct span word;

	if (part.len >= sizeof(text))
		return false;
	while (span_next_word(&part, &word))
		end = mempcpy(end, word.s, word.len);
	*end = '\0';
	if (!strcmp(text, "samplesforever") || !strcmp(text, "rawforever"))
		return true;
	/* less than a day is a forgotten unit: "raw 90" */
	return str_starts(text, "raw") && num_parse_duration(text + 3, &n->opt.keep_raw) &&
	       n->opt.keep_raw >= 86400;
}

static void read_keep(struct nightly *n, struct yaml_node *map)
{
	struct yaml_node *node = yaml_get(map, "keep");
	const char *text = NULL;

	if (!node || yaml_get_string(map, "keep", &text, n->e))
		return;
	for (;;) {
		size_t len = strcspn(text, ",");

		if (!read_keep_part(n, (struct span){text, len})) {
			yaml_error(node, n->e, "'keep' takes raw TIME, samples for ever: 'raw 90 days, "
					       "samples for ever'");
			return;
		}
		if (!text[len])
			return;
		text += len + 1;
	}
}

static void read_disk(struct nightly *n, struct yaml_node *map)
{
	struct yaml_node *node = yaml_get(map, "disk");
	const char *text = NULL;

	if (node && !yaml_get_string(map, "disk", &text, n->e) &&
	    !(num_parse_size(text, &n->opt.disk) && n->opt.disk > 0))
		yaml_error(node, n->e, "'disk' takes a size such as 50G, not '%s'", text);
}

int nightly_read_options(struct nightly *n)
{
	static const char *const every[] = {"commit", "tag", "day", NULL};
	struct nightly_options *o = &n->opt;
	size_t before = n->e->list.n;
	struct yaml_node *root = yaml_parse(n->a, n->config->file, n->config->text,
					    strlen(n->config->text), n->e);
	struct yaml_node *map = root ? yaml_get(root, "nightly") : NULL;

	if (!map || map->kind != YAML_MAPPING) {
		err_add(n->e, -EINVAL, "%s has no mapping 'nightly:'", n->config->file);
		err_hint(n->e, "e.g. nightly: {repo: ../linux, branch: master, mail: {to: a@b.org, "
			       "from: ci@b.org, smtp: smtp://localhost}}");
		return -EINVAL;
	}
	yaml_check_keys(map, keys, n->e);
	o->branch = "HEAD";
	get_path(n, map, "repo", &o->repo);
	yaml_get_string(map, "branch", &o->branch, n->e);
	yaml_get_string(map, "baseline", &o->baseline, n->e);
	yaml_get_string(map, "webhook", &o->webhook, n->e);
	yaml_get_bool(map, "bisect", &o->bisect, n->e);
	yaml_get_duration(map, "budget", &o->budget, n->e);
	o->every = (enum nightly_every)yaml_get_word(map, "every", every, EVERY_DAY, n->e);
	get_path(n, map, "junit", &o->junit);
	get_path(n, map, "openmetrics", &o->openmetrics);
	get_path(n, map, "kcidb", &o->kcidb);
	read_threshold(n, map);
	read_keep(n, map);
	read_disk(n, map);
	read_mail(n, yaml_get(map, "mail"));
	if (!o->repo)
		yaml_error(map, n->e, "'nightly' needs repo: the folder of a git repository");
	return n->e->list.n > before ? -EINVAL : template_check(n->config, o->repo, n->e);
}
