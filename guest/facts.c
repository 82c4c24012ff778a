// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/facts.h"

#include <string.h>

#include "core/file.h"
#include "machine/facts.h"
#include "runner/settings.h"

char *facts_memory(struct arena *a)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct span rest, word;

	/* "MemTotal:      498372 kB" stands first */
	if (file_read_line("/proc/meminfo", &sb))
		return arena_strdup(a, "");
	rest = span_of(strbuf_str(&sb));
	if (!span_next_word(&rest, &word) || !span_is(word, "MemTotal:") ||
	    !span_next_word(&rest, &word))
		return arena_strdup(a, "");
	return arena_strndup(a, word.s, word.len);
}

void facts_add(struct arena *a, const struct running_kernel *k, struct strbuf *text)
{
	size_t n, i;
	struct machine_fact *list = machine_read_facts(a, "", NULL, &n);

	strbuf_addf(text,
		    "release %s\nversion %s\nbuild_id %s\nboot_id %s\nclocksource %s\n"
		    "cmdline %s\ncpus %d\nmemory_kb %s\n",
		    k->release, k->version, k->build_id, k->boot_id, k->clocksource, k->cmdline,
		    machine_cpus(), facts_memory(a));
	for (i = 0; i < n; i++)
		strbuf_addf(text, "env %s %s\n", list[i].key, list[i].value);
}

void apply_text(struct arena *a, struct span text, struct strbuf *failures)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct variant_config v = {.name = ""};

	settings_decode(a, text, &v);
	if (settings_switch(a, &v, &e))
		strbuf_addf(failures, "%s\n", err_text(&e));
}
