// SPDX-License-Identifier: GPL-2.0-or-later
/* The key `bind` of a test case: CPUs, by number or by node. */
#include <string.h>

#include "campaign/campaign_reader.h"
#include "core/num.h"
#include "machine/host.h"

void campaign_node_cpus(int cpus, int nodes, int node, int *first, int *last)
{
	int each = cpus / MAX(nodes, 1);

	*first = node * each;
	*last = node == MAX(nodes, 1) - 1 ? cpus - 1 : *first + each - 1;
}

/* CPUs of a node of this machine, or of the guest that memory and CPUs are split over. */
static char *one_node(struct reader *r, int node)
{
	int first, last;

	if (!r->guest)
		return machine_node_cpus(r->a, node);
	if (node >= MAX(r->c->numa, 1))
		return NULL;
	campaign_node_cpus(r->c->cpus, r->c->numa, node, &first, &last);
	return arena_printf(r->a, "%d-%d", first, last);
}

/* "node0-1", "node2": CPU list of nodes. */
static char *node_cpus(struct reader *r, const char *bind)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *range = bind + strlen("node"), *dash = strchr(range, '-');
	struct span first = {range, dash ? (size_t)(dash - range) : strlen(range)};
	int64_t from, to, node;

	if (!num_parse_int(first, &from) || from < 0)
		return NULL;
	to = from;
	if (dash && (!num_parse_int(span_of(dash + 1), &to) || to < from || to > 4096))
		return NULL;
	for (node = from; node <= to; node++) {
		char *cpus = one_node(r, (int)node);

		if (!cpus)
			return NULL;
		strbuf_addf(&sb, "%s%s", sb.len ? "," : "", cpus);
	}
	return arena_strdup(r->a, strbuf_str(&sb));
}

const char *reader_bind_cpus(struct reader *r, const struct yaml_node *n, const char *bind)
{
	const char *cpus = NULL;
	int highest;

	if (str_starts(bind, "node") && !r->target)
		cpus = node_cpus(r, bind);
	else if (str_starts(bind, "cpus"))
		cpus = arena_printf(r->a, "%s", bind + strlen("cpus"));
	if (!cpus || cpulist_count(cpus, &highest) < 0) {
		yaml_error(n, r->e, "'%s' names no CPUs of this %s", bind,
			   r->guest ? "guest" : "machine");
		err_hint(r->e, "%s",
			 r->target ? "write cpus 0-3" : "write node0, node0-1 or cpus 0-3");
		return NULL;
	}
	if (highest >= r->cpus) {
		yaml_error(n, r->e, "'%s': there is no CPU %d", bind, highest);
		err_hint(r->e, r->cpus > 1 ? "the CPUs are 0 to %d" : "the only CPU is %d",
			 r->cpus - 1);
		return NULL;
	}
	return cpus;
}
