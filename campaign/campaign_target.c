// SPDX-License-Identifier: GPL-2.0-or-later
/* The key `target` of a campaign file. */
#include <string.h>

#include "campaign/campaign_reader.h"

#define BOOT_DEADLINE 300.0
#define STATE_FOLDER  "/var/lib/kdelta"

static const char *const target_keys[] = {
	"host",	   "user",    "port",  "known_hosts",	"identity",	"method", "state",
	"cmdline", "console", "reset", "boot_deadline", "keep_kernels", NULL,
};
/* of this machine, which nobody connects to or resets */
static const char *const boot_keys[] = {
	"method", "state", "cmdline", "boot_deadline", "keep_kernels", NULL,
};
static const char *const methods[] = {"kexec", "grub-reboot", "bootctl", "efibootmgr", NULL};

static void read_connection(struct reader *r, struct yaml_node *map, struct target_config *t)
{
	int64_t port = 0;

	yaml_get_string(map, "host", &t->host, r->e);
	yaml_get_string(map, "user", &t->user, r->e);
	yaml_get_string(map, "known_hosts", &t->known_hosts, r->e);
	yaml_get_string(map, "identity", &t->identity, r->e);
	if (yaml_get(map, "port"))
		yaml_get_int(map, "port", 1, 65535, &port, r->e);
	t->port = (int)port;
	if (t->known_hosts)
		t->known_hosts = reader_path(r, t->known_hosts);
	if (t->identity)
		t->identity = reader_path(r, t->identity);
	/* ssh would take a leading '-' for an option */
	if (t->host && (!*t->host || *t->host == '-' || !reader_is_word(t->host, ".-_:")))
		yaml_error(yaml_get(map, "host"), r->e, "'%s' is no name of a host", t->host);
	if (t->user && (!*t->user || *t->user == '-' || !reader_is_word(t->user, ".-_")))
		yaml_error(yaml_get(map, "user"), r->e, "'%s' is no name of a user", t->user);
}

static void read_boot(struct reader *r, struct yaml_node *map, struct target_config *t)
{
	const char **reset = NULL;
	size_t n;

	t->method = methods[yaml_get_word(map, "method", methods, 0, r->e)];
	yaml_get_string(map, "state", &t->state, r->e);
	if (*t->state != '/' || !reader_is_word(t->state, "/._-"))
		yaml_error(yaml_get(map, "state"), r->e, "'state' takes the full path of a folder");
	yaml_get_string(map, "cmdline", &t->cmdline, r->e);
	yaml_get_string(map, "console", &t->console, r->e);
	if (t->console)
		t->console = reader_path(r, t->console);
	if (yaml_get(map, "reset") && !yaml_get_list(r->a, map, "reset", &reset, &n, r->e))
		t->reset = reset;
	if (yaml_get(map, "boot_deadline"))
		yaml_get_duration(map, "boot_deadline", &t->boot_deadline, r->e);
	yaml_get_bool(map, "keep_kernels", &t->keep_kernels, r->e);
}

void reader_read_target(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *map = yaml_get(root, "target");
	struct target_config *t = &r->c->target;

	*t = (struct target_config){
		.method = "kexec", .state = STATE_FOLDER, .boot_deadline = BOOT_DEADLINE};
	if (!map && r->target) {
		yaml_error(root, r->e, "backend ssh lacks its 'target'");
		err_hint(r->e, "target: {host: NAME, user: root, method: kexec}");
		return;
	}
	if (!map)
		return;
	if (!r->target && !r->reboots) {
		yaml_error(map, r->e, "'target' is for the backends ssh and host-reboot");
		return;
	}
	if (map->kind != YAML_MAPPING) {
		yaml_error(map, r->e, "'target' takes a mapping such as {host: NAME, user: root}");
		return;
	}
	yaml_check_keys(map, r->reboots ? boot_keys : target_keys, r->e);
	read_connection(r, map, t);
	read_boot(r, map, t);
	if (!t->host && r->target)
		yaml_error(map, r->e, "'target' lacks its host");
}
