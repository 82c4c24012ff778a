// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is watched beside the runs:
 *
 *	monitors: none | standard | all
 *	monitors: [softirqs, cpuidle]
 *	monitors: [standard, turbostat]
 *	monitors: {names: [softirqs], interval: 2s, per_cpu: true}
 */
#include <errno.h>
#include <string.h>

#include "campaign/backends.h"
#include "campaign/campaign_reader.h"
#include "machine/monitor.h"

static const char *const set_names[] = {"none", "standard", "all", NULL};
static const char *const monitor_keys[] = {
	"names",
	"interval",
	"per_cpu",
	NULL,
};

static void read_set(struct reader *r, struct yaml_node *n)
{
	if (!strcmp(n->text, "standard")) {
		r->c->monitors = monitor_standard(r->a);
	} else if (!strcmp(n->text, "all")) {
		r->c->monitors = monitor_names(r->a);
	} else if (!strcmp(n->text, "none")) {
		r->c->monitors = NULL;
	} else {
		yaml_error(n, r->e, "'monitors' is none, standard, all or a list of names");
		reader_suggest(r->e, n->text, set_names);
	}
}

struct names {
	const char **items;
	size_t n, alloc;
};

/* Once only: what is read twice would count twice. */
static void add_name(struct names *list, const char *name)
{
	const char **known;

	array_for_each (known, list)
		if (!strcmp(*known, name))
			return;
	*ARRAY_PUSH(list) = name;
}

static void read_names(struct reader *r, struct yaml_node *n)
{
	struct names list = {NULL, 0, 0};
	const char *const *standard;
	size_t i;

	for (i = 0; i < n->n; i++) {
		const struct yaml_node *item = n->items[i];
		const char *name = item->kind == YAML_SCALAR ? item->text : "";

		if (!strcmp(name, "standard")) {
			for (standard = monitor_standard(r->a); *standard; standard++)
				add_name(&list, *standard);
			continue;
		}
		add_name(&list, name);
		if (monitor_find(name))
			continue;
		yaml_error(item, r->e, "there is no monitor '%s'", name);
		reader_suggest(r->e, name, monitor_names(r->a));
	}
	*ARRAY_PUSH(&list) = NULL;
	r->c->monitors = n->n ? arena_copy(r->a, list.items, list.n, sizeof(*list.items)) : NULL;
	ARRAY_FREE(&list);
}

static void read_any(struct reader *r, struct yaml_node *n)
{
	if (n->kind == YAML_SEQUENCE)
		read_names(r, n);
	else if (n->kind == YAML_SCALAR)
		read_set(r, n);
	else
		yaml_error(n, r->e, "'names' is none, standard, all or a list of names");
}

void reader_read_monitors(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *n = yaml_get(root, "monitors"), *names;

	r->c->monitors = monitor_standard(r->a);
	if (!n)
		return;
	if (n->kind != YAML_MAPPING) {
		read_any(r, n);
		return;
	}
	yaml_check_keys(n, monitor_keys, r->e);
	names = yaml_get(n, "names");
	if (names)
		read_any(r, names);
	yaml_get_duration(n, "interval", &r->c->monitor_interval, r->e);
	if (yaml_get(n, "interval") && r->c->monitor_interval < 0.1)
		yaml_error(yaml_get(n, "interval"), r->e,
			   "samples are taken every 0.1 s at the most");
	yaml_get_bool(n, "per_cpu", &r->c->monitor_per_cpu, r->e);
}

int campaign_observe(struct arena *a, struct campaign_config *c, struct err *e)
{
	struct variant_config *arms = arena_alloc_array(a, 2, sizeof(*arms));

	if (!c->monitors || c->counting) {
		err_add(e, -EINVAL, "%s: there are no monitors whose cost could be measured", c->file);
		err_hint(e, c->counting ? "campaigns that count instructions have none"
					: "write monitors: standard");
		return -EINVAL;
	}
	arms[0] = arms[1] = c->variants[0];
	arms[0].name = "unwatched";
	arms[0].unwatched = true;
	arms[1].name = "watched";
	c->variants = arms;
	c->n_variants = 2;
	c->name = arena_printf(a, "%s-observe", c->name);
	if (c->flip || !backend_find(c->backend)->flip)
		return 0;
	c->flip = true;
	c->repeat = FLIP_REPEAT;
	c->runs = 1;
	c->tuples = 0;
	c->auto_repeat = c->auto_runs = false;
	return 0;
}
