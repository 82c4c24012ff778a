// SPDX-License-Identifier: GPL-2.0-or-later
/* The key `slurm` of a campaign file. */
#include <string.h>

#include "campaign/campaign_reader.h"

#define ATTEMPTS      3
#define BOOT_DEADLINE 600.0
#define POLL	      5.0

static const char *const slurm_keys[] = {
	"folder",   "partition", "program",	  "nodes", "features",
	"build_ids", "attempts",  "boot_deadline", "poll",  NULL,
};
/* what goes into a command of Slurm, where ',' and '&' have a meaning */
#define WORD "._-"

/* {VARIANT: WORD}, by variant; fallback: the variant's name where it is not said, else NULL. */
static const char **read_by_variant(struct reader *r, struct yaml_node *map, const char *key,
				    bool fallback)
{
	const struct campaign_config *c = r->c;
	struct yaml_node *given = yaml_get(map, key);
	const char **words = arena_alloc_array(r->a, c->n_variants + 1, sizeof(*words));
	const char **names = arena_alloc_array(r->a, c->n_variants + 1, sizeof(*names));
	size_t i;

	for (i = 0; i < c->n_variants; i++) {
		names[i] = c->variants[i].name;
		words[i] = fallback ? names[i] : NULL;
	}
	if (given && given->kind != YAML_MAPPING)
		yaml_error(given, r->e, "'%s' takes a mapping from variants", key);
	else if (given)
		yaml_check_keys(given, names, r->e);
	for (i = 0; given && given->kind == YAML_MAPPING && i < c->n_variants; i++)
		yaml_get_string(given, names[i], &words[i], r->e);
	for (i = 0; i < c->n_variants; i++)
		if (words[i] && (!*words[i] || !reader_is_word(words[i], WORD)))
			yaml_error(map, r->e, "'%s' of '%s' is no word: %s", key, names[i],
				   words[i]);
	return words;
}

static void read_nodes(struct reader *r, struct yaml_node *map, struct slurm_config *s)
{
	const char **nodes = NULL;
	size_t n = 0, i;

	if (yaml_get(map, "nodes"))
		yaml_get_list(r->a, map, "nodes", &nodes, &n, r->e);
	s->nodes = nodes;
	if (!n)
		yaml_error(map, r->e, "'slurm' lacks its nodes: [NAME, NAME]");
	for (i = 0; i < n; i++)
		if (!*nodes[i] || *nodes[i] == '-' || !reader_is_word(nodes[i], WORD))
			yaml_error(yaml_get(map, "nodes"), r->e, "'%s' is no name of a node",
				   nodes[i]);
}

/* What needs one machine from beginning to end, or more than a job knows. */
static void refuse_designs(struct reader *r, const struct yaml_node *map)
{
	if (r->c->flip)
		yaml_error(map, r->e, "order: flip needs one boot: it is not for backend slurm");
	if (r->c->auto_repeat || r->c->auto_runs)
		yaml_error(map, r->e, "backend slurm needs a number for 'repeat', not auto");
}

void reader_read_slurm(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *map = yaml_get(root, "slurm");
	struct slurm_config *s = &r->c->slurm;
	bool wanted = str_equal(r->c->backend, "slurm");
	int64_t attempts = ATTEMPTS;

	if (!map && !wanted)
		return;
	if (!wanted || !map || map->kind != YAML_MAPPING) {
		yaml_error(map ? map : root, r->e, "%s",
			   wanted ? "backend slurm needs its 'slurm'" : "'slurm' is for backend slurm");
		err_hint(r->e, "slurm: {nodes: [n1, n2], folder: /shared/kdelta}");
		return;
	}
	*s = (struct slurm_config){.boot_deadline = BOOT_DEADLINE, .poll = POLL};
	yaml_check_keys(map, slurm_keys, r->e);
	yaml_get_string(map, "folder", &s->folder, r->e);
	yaml_get_string(map, "partition", &s->partition, r->e);
	yaml_get_string(map, "program", &s->program, r->e);
	yaml_get_int(map, "attempts", 1, 100, &attempts, r->e);
	yaml_get_duration(map, "boot_deadline", &s->boot_deadline, r->e);
	yaml_get_duration(map, "poll", &s->poll, r->e);
	s->attempts = (int)attempts;
	if (!s->folder || *s->folder != '/' || strchr(s->folder, '%'))
		yaml_error(map, r->e, "'folder' takes the full path of a folder that all nodes see");
	if (s->partition && !reader_is_word(s->partition, WORD))
		yaml_error(map, r->e, "'%s' is no name of a partition", s->partition);
	read_nodes(r, map, s);
	s->features = read_by_variant(r, map, "features", true);
	s->build_ids = read_by_variant(r, map, "build_ids", false);
	refuse_designs(r, map);
}
