// SPDX-License-Identifier: GPL-2.0-or-later
/* The variants of a campaign file. */
#include <string.h>

#include "campaign/campaign_reader.h"
#include "core/proc.h"

static const char *const variant_keys[] = {
	"name",	  "description",    "kernel", "cmdline", "memory",
	"sysctl", "sched_features", "knobs",  "env",	 "policy",
	"nice",	  "same_as",	    "source", NULL,
};
/* of a second arm of another variant */
static const char *const arm_keys[] = {"name", "description", "same_as", NULL};

/* Names are printed in tables and given on command lines, as campaign/variant too. */
static bool is_variant_name(const char *s)
{
	const char *p;

	for (p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '/')
			return false;
	return *s && *s != '-' && *s != ' ' && s[strlen(s) - 1] != ' ' && strlen(s) <= 60;
}

static struct setting *read_settings(struct reader *r, struct yaml_node *map, const char *key,
				     size_t *n)
{
	struct yaml_node *node = yaml_get(map, key);
	struct setting *list;
	size_t i;

	*n = 0;
	if (!node)
		return NULL;
	if (node->kind != YAML_MAPPING) {
		yaml_error(node, r->e, "'%s' takes a mapping of names to values", key);
		return NULL;
	}
	list = arena_alloc_array(r->a, node->n + 1, sizeof(*list));
	for (i = 0; i < node->n; i++) {
		const struct yaml_node *value = node->pairs[i].value;

		if (value->kind != YAML_SCALAR || strchr(value->text, '\n')) {
			yaml_error(value, r->e, "'%s' takes one value on one line",
				   node->pairs[i].key);
			continue;
		}
		list[(*n)++] = (struct setting){node->pairs[i].key, value->text};
	}
	return list;
}

static void check_sysctl_names(struct reader *r, struct yaml_node *map,
			       const struct variant_config *v)
{
	struct yaml_node *node = yaml_get(map, "sysctl");
	size_t i;

	for (i = 0; i < v->n_sysctls; i++) {
		if (reader_is_word(v->sysctls[i].name, "._-/") && !strstr(v->sysctls[i].name, ".."))
			continue;
		yaml_error(node, r->e, "'%s' is no name of a sysctl", v->sysctls[i].name);
		err_hint(r->e, "write it as sysctl does, e.g. kernel.sched_autogroup_enabled");
	}
}

/* Files that say what they are set to; what else lies there cannot be put back. */
static void check_knobs(struct reader *r, struct yaml_node *map, const struct variant_config *v)
{
	struct yaml_node *node = yaml_get(map, "knobs");
	size_t i;

	for (i = 0; i < v->n_knobs; i++) {
		const char *path = v->knobs[i].name;

		if ((str_starts(path, "/sys/") || str_starts(path, "/proc/sys/")) &&
		    !strstr(path, "/../") && !strpbrk(path, " \t\n") && !str_ends(path, "/"))
			continue;
		yaml_error(node, r->e, "'%s' is no file below /sys or /proc/sys", path);
		err_hint(r->e, "write its whole path, e.g. /sys/kernel/debug/sched/base_slice_ns");
	}
}

static void read_policy(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	int64_t nice = 0;
	int policy, priority;

	yaml_get_string(map, "policy", &v->policy, r->e);
	if (v->policy && !proc_policy_parse(v->policy, &policy, &priority))
		yaml_error(yaml_get(map, "policy"), r->e,
			   "'%s' is no policy: other, batch, idle, fifo:PRIO or rr:PRIO (1 to 99)",
			   v->policy);
	yaml_get_int(map, "nice", -20, 19, &nice, r->e);
	v->nice = (int)nice;
}

static void read_features(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	const char **list;
	size_t n, i;

	yaml_get_list(r->a, map, "sched_features", &list, &n, r->e);
	v->features = list;
	for (i = 0; list && i < n; i++)
		if (!*list[i] || !reader_is_word(list[i], "_"))
			yaml_error(yaml_get(map, "sched_features"), r->e,
				   "'%s' is no scheduler feature", list[i]);
}

/* In flip mode variants share the kernel, which the first one names. */
static void take_kernel(const struct variant_config *first, struct variant_config *v)
{
	v->deb = first->deb;
	v->image = first->image;
	v->modules = first->modules;
	v->initrd = first->initrd;
	v->release = first->release;
	v->recipe = first->recipe;
	v->running = first->running;
	v->kernel_text = first->kernel_text;
	v->kernel_line = first->kernel_line;
	v->kernel_column = first->kernel_column;
	v->commit = first->commit;
	v->cmdline = v->cmdline ? v->cmdline : first->cmdline;
	v->memory = v->memory ? v->memory : first->memory;
}

static void read_variant(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	v->line = map->line;
	v->column = map->column;
	v->name = "";
	if (map->kind != YAML_MAPPING) {
		yaml_error(map, r->e, "a variant is a mapping with a name");
		return;
	}
	yaml_get_string(map, "same_as", &v->same_as, r->e);
	yaml_check_keys(map, v->same_as ? arm_keys : variant_keys, r->e);
	yaml_get_string(map, "name", &v->name, r->e);
	if (!yaml_get(map, "name")) {
		yaml_error(map, r->e, "the variant lacks its name");
	} else if (!is_variant_name(v->name)) {
		yaml_error(yaml_get(map, "name"), r->e,
			   "a variant's name has 1 to 60 characters, no '/' and no leading '-'");
	}
	v->description = "";
	yaml_get_string(map, "description", &v->description, r->e);
	if (v->same_as)
		return;
	yaml_get_string(map, "cmdline", &v->cmdline, r->e);
	yaml_get_string(map, "memory", &v->memory, r->e);
	v->sysctls = read_settings(r, map, "sysctl", &v->n_sysctls);
	check_sysctl_names(r, map, v);
	v->env = read_settings(r, map, "env", &v->n_env);
	read_features(r, map, v);
	v->knobs = read_settings(r, map, "knobs", &v->n_knobs);
	check_knobs(r, map, v);
	read_policy(r, map, v);
	if (r->c->flip && v > r->c->variants && !yaml_get(map, "kernel"))
		take_kernel(r->c->variants, v);
	else
		reader_read_kernel(r, map, v);
	reader_read_source(r, map, v);
	if (v->cmdline && !r->guest && !r->target && !r->reboots) {
		yaml_error(yaml_get(map, "cmdline"), r->e,
			   "'cmdline' needs a backend that boots: qemu, ssh or host-reboot");
		err_hint(r->e, "set it in the boot loader of this machine");
	}
}

/* What can be told of a variant before its kernel is looked up. */
static char *written_identity(struct reader *r, const struct variant_config *v)
{
	return variant_identity(r->a, v, v->kernel_text ? v->kernel_text : "running");
}

/* What only another boot changes keeps two variants from being switched. */
static void check_flip(struct reader *r, const struct yaml_node *at, const struct variant_config *v)
{
	const struct variant_config *first = r->c->variants;
	const struct {
		const char *what, *mine, *base;
	} parts[] = {
		{"kernel", v->kernel_text, first->kernel_text},
		{"cmdline", v->cmdline, first->cmdline},
		{"memory", v->memory, first->memory},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (str_equal(parts[i].mine, parts[i].base))
			continue;
		yaml_error(at, r->e, "with order: flip '%s' must have the %s of '%s'", v->name,
			   parts[i].what, first->name);
		err_hint(r->e, "it cannot be switched inside a boot: leave 'order: flip' out");
		return;
	}
}

static void check_twins(struct reader *r, const struct yaml_node *at,
			const struct variant_config *v)
{
	const struct variant_config *w;

	for (w = r->c->variants; w < v; w++) {
		if (*v->name && !strcmp(w->name, v->name)) {
			yaml_error(at, r->e, "two variants are named '%s'", v->name);
		} else if (!strcmp(written_identity(r, w), written_identity(r, v))) {
			yaml_error(at, r->e, "'%s' is the same as '%s': nothing differs", v->name,
				   w->name);
			err_hint(r->e,
				 "to compare a variant with itself write it as "
				 "{name: %s, same_as: %s}",
				 v->name, w->name);
		}
	}
}

/* A second arm takes everything but name and description from the variant it names. */
static void take_original(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	const struct campaign_config *c = r->c;
	const char **names = arena_alloc_array(r->a, c->n_variants + 1, sizeof(*names));
	const struct variant_config own = *v, *original = NULL;
	size_t i, n = 0;

	for (i = 0; i < c->n_variants; i++) {
		if (c->variants[i].same_as)
			continue;
		names[n++] = c->variants[i].name;
		if (!strcmp(c->variants[i].name, v->same_as))
			original = &c->variants[i];
	}
	if (!original) {
		yaml_error(yaml_get(map, "same_as"), r->e,
			   "'same_as' names no other variant with a kernel or settings: '%s'",
			   v->same_as);
		reader_suggest(r->e, v->same_as, names);
		return;
	}
	*v = *original;
	v->name = own.name;
	v->description = own.description;
	v->same_as = own.same_as;
	v->line = own.line;
	v->column = own.column;
}

void reader_read_variants(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(root, "variants");
	struct campaign_config *c = r->c;
	size_t i, before;

	if (!list || list->kind != YAML_SEQUENCE || !list->n) {
		yaml_error(list ? list : root, r->e, "'variants' takes a list of variants");
		err_hint(r->e, "e.g. variants: [{name: base}, {name: new, sysctl: {...}}]");
		return;
	}
	c->variants = arena_alloc_array(r->a, list->n, sizeof(*c->variants));
	c->n_variants = list->n;
	before = r->e->list.n;
	for (i = 0; i < list->n; i++)
		read_variant(r, list->items[i], &c->variants[i]);
	for (i = 1; i < list->n && c->flip && r->e->list.n == before; i++)
		if (!c->variants[i].same_as)
			check_flip(r, list->items[i], &c->variants[i]);
	for (i = 0; i < list->n && r->e->list.n == before; i++)
		if (c->variants[i].same_as)
			take_original(r, list->items[i], &c->variants[i]);
	for (i = 0; i < list->n && r->e->list.n == before; i++)
		check_twins(r, list->items[i], &c->variants[i]);
}
